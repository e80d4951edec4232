//! The verifier: rules that a text can break although it can be read.

mod arguments;
mod block;
mod data;
mod program;

use crate::model::{Item, Metadata};
use crate::read::is_no_il;
use crate::rules::{Problem, Rule};

/// Returns which rules a text breaks, in the order of its lines.
///
/// A line is that of the text as it is written. A text that was read has the same lines.
pub fn verify(metadata: &Metadata) -> Vec<Problem> {
    let mut found = Found::default();
    let mut line = 1;
    for item in &metadata.items {
        match item {
            Item::Block(block) => {
                block::check(&mut found, block, line);
                arguments::check(&mut found, block, line);
            }
            Item::Data(segment) => data::check(&mut found, segment, line),
            Item::Debug(lines) => {
                for (at, debug) in lines.iter().enumerate() {
                    if debug.as_str() == ";DEBUGEND" {
                        found.add(line + 1 + at, Rule::DebugLine, "the line ends the debug lines");
                    }
                }
            }
            Item::Il(il) if is_no_il(il.as_str()) => {
                found.add(line, Rule::IlLine, format!("`{}` does not read as IL", il.as_str()));
            }
            Item::CallMarker | Item::OldArgument(_) | Item::Il(_) => {}
        }
        line += item.lines();
    }
    program::check(&mut found, metadata);
    found.problems.sort_by_key(|problem| problem.line);
    found.problems
}

/// The problems that were found.
#[derive(Default)]
struct Found {
    problems: Vec<Problem>,
}

/// Returns what a message says about further places that break the same rule in the same line.
///
/// A line gives one problem for each rule, so that problems need no more memory than a multiple of the text.
fn and_more(places: usize) -> String {
    if places > 1 { format!(", and {} more", places - 1) } else { String::new() }
}

impl Found {
    /// Adds a problem.
    fn add(&mut self, line: usize, rule: Rule, message: impl Into<String>) {
        self.problems.push(Problem { line, rule, message: message.into() });
    }
}
