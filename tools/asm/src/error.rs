//! Error that a parsing function returns, before it becomes a diagnostic.

use std::ops::Range;

/// The contents of an error, in a box so that the results of frequently called functions stay small.
#[derive(Debug)]
pub(crate) struct Error(Box<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub span: Range<usize>,
    pub message: String,
    pub label: String,
    pub notes: Vec<String>,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Returns an error at a span of the current text.
#[cold]
pub(crate) fn error(span: Range<usize>, message: impl Into<String>) -> Error {
    Error(Box::new(Parts { span, message: message.into(), label: String::new(), notes: Vec::new() }))
}

impl Error {
    /// Adds the text below the caret.
    pub fn label(mut self, label: impl Into<String>) -> Error {
        self.0.label = label.into();
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(note.into());
        self
    }

    pub fn into_parts(self) -> Parts {
        *self.0
    }
}
