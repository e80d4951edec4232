//! An error on its way from a parsing function to the list of diagnostics.

use std::ops::Range;

/// Boxed, so that results of the hot path stay small.
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

/// An error at a place of the text that is being read.
#[cold]
pub(crate) fn error(span: Range<usize>, message: impl Into<String>) -> Error {
    Error(Box::new(Parts { span, message: message.into(), label: String::new(), notes: Vec::new() }))
}

impl Error {
    /// Text below the caret.
    pub fn label(mut self, label: impl Into<String>) -> Error {
        self.0.label = label.into();
        self
    }

    /// A line of background.
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(note.into());
        self
    }

    pub fn into_parts(self) -> Parts {
        *self.0
    }
}
