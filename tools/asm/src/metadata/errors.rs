//! Errors in metadata, with their positions.

use crate::error::{Error, error};

/// Errors so far, in the order of the text.
pub(super) struct Mistakes {
    /// Position in the source text at which the metadata begins.
    start: usize,
    pub list: Vec<Error>,
}

impl Mistakes {
    pub fn new(start: usize) -> Mistakes {
        Mistakes { start, list: Vec::new() }
    }

    /// Adds an error about a key at byte `at` of the metadata.
    pub fn add(&mut self, (key, at): (&str, usize), message: String, note: Option<String>) {
        let place = self.start + at;
        let mistake = error(place..place + key.len().max(1), message).label("in the metadata");
        self.list.push(match note {
            Some(note) => mistake.note(note),
            None => mistake,
        });
    }
}

/// Returns a list of alternatives, such as `a`, `b` or `c`.
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
