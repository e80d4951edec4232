//! What is wrong with metadata, each mistake with its place.

use crate::error::{Error, error};

/// Mistakes so far, in the order of the text.
pub(super) struct Mistakes {
    /// Where the metadata begins in the text that is being read.
    start: usize,
    pub list: Vec<Error>,
}

impl Mistakes {
    pub fn new(start: usize) -> Mistakes {
        Mistakes { start, list: Vec::new() }
    }

    /// Notes a mistake about a key, which stands at that byte of the metadata.
    pub fn add(&mut self, (key, at): (&str, usize), message: String, note: Option<String>) {
        let place = self.start + at;
        let mistake = error(place..place + key.len().max(1), message).label("in the metadata");
        self.list.push(match note {
            Some(note) => mistake.note(note),
            None => mistake,
        });
    }
}

/// `a`, `b` or `c`.
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
