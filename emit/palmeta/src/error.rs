//! Errors: a place and a rule.

use std::fmt;

/// Where an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Offset in bytes in the contents of a note.
    Byte(usize),
    /// Line of a text, counted from 1.
    Line(usize),
    /// Field of the line of a text: line and column in characters, both counted from 1.
    Column(usize, usize),
}

/// Why metadata cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Where the metadata breaks the rule.
    pub place: Place,
    /// The rule.
    pub rule: String,
}

impl Error {
    pub(crate) fn at_byte(at: usize, rule: impl Into<String>) -> Error {
        Error { place: Place::Byte(at), rule: rule.into() }
    }

    /// Returns an error at a byte offset in a text.
    pub(crate) fn in_text(text: &str, at: usize, rule: impl Into<String>) -> Error {
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error { place: Place::Line(line), rule: rule.into() }
    }

    /// Returns an error at a byte offset in a text of one line.
    pub(crate) fn in_line(text: &str, at: usize, rule: impl Into<String>) -> Error {
        let column = 1 + text.char_indices().take_while(|&(start, _)| start < at).count();
        Error { place: Place::Column(1, column), rule: rule.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Byte(at) => write!(f, "byte {at}: {}", self.rule),
            Place::Line(line) => write!(f, "line {line}: {}", self.rule),
            Place::Column(line, column) => write!(f, "line {line}, column {column}: {}", self.rule),
        }
    }
}

impl std::error::Error for Error {}
