//! Errors of a compilation and their rendering.

use crate::limits::Resource;
use frontend::{Diagnostic, Diagnostics, Severity, SourceText};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Reason why a compilation produced no code object.
///
/// `Display` shows the complete message with its source lines, for people; [`Error::to_json`] is for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The source has mistakes.
    Source(Diagnostics),
    /// The program is correct, but it needs something that the compiler does not support for this processor.
    Unsupported {
        /// The unsupported feature.
        what: String,
        /// The processor with its modes.
        target: String,
        /// Position, if the program was compiled from source text.
        place: Option<Place>,
    },
    /// The program exceeds a limit of [`crate::Limits`].
    Limit {
        /// The resource whose limit is exceeded.
        resource: Resource,
        /// The limit that was exceeded, in the unit of [`crate::Limits`] (milliseconds for the time).
        allowed: u64,
    },
    /// The module is not valid IR.
    Ir {
        /// Errors that the verifier found.
        errors: Vec<String>,
    },
    /// An error in kernc itself.
    Internal {
        /// Description of the error.
        message: String,
    },
}

/// A position in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Source text.
    pub source: Arc<SourceText>,
    /// Byte range in the text.
    pub range: Range<usize>,
}

impl Place {
    /// Returns the line and the column of the first message in the source. Both count from 1, and columns
    /// count bytes.
    pub fn position(&self) -> (usize, usize) {
        self.source.position(self.range.start)
    }
}

impl Error {
    #[cold]
    pub(crate) fn internal(message: impl fmt::Display) -> Error {
        Error::Internal { message: message.to_string() }
    }

    /// Returns the error for a module that the verifier rejects.
    #[cold]
    pub(crate) fn invalid(errors: Vec<ir::verify::VerifyError>) -> Error {
        Error::Ir { errors: errors.iter().map(ToString::to_string).collect() }
    }

    /// Returns the code of the first message, such as `E0012`; [`crate::explain`] returns its explanation.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Source(diagnostics) => diagnostics.list.first().map_or("E0900", |first| first.code),
            Error::Unsupported { .. } => "E0111",
            Error::Limit { .. } => "E0112",
            Error::Ir { .. } => "E0113",
            Error::Internal { .. } => "E0900",
        }
    }

    /// Returns the messages. Every error except [`Error::Source`] has exactly one.
    pub fn diagnostics(&self) -> Cow<'_, Diagnostics> {
        let mut one = Diagnostic {
            code: self.code(),
            severity: Severity::Error,
            message: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        };
        let mut source = Arc::default();
        match self {
            Error::Source(diagnostics) => return Cow::Borrowed(diagnostics),
            Error::Unsupported { what, target, place } => {
                one.message = format!("{what} is not compiled for {target}");
                if let Some(place) = place {
                    one.labels.push((place.range.clone(), "asked for here".to_owned()));
                    source = place.source.clone();
                }
            }
            Error::Limit { resource, allowed } => {
                one.message = format!("more than {allowed} {resource}, which is the limit here");
            }
            Error::Ir { errors } => {
                one.message = "the module is not valid".to_owned();
                one.notes.clone_from(errors);
            }
            Error::Internal { message } => {
                one.message.clone_from(message);
                one.notes.push("this is a fault of kernc, not of the source".to_owned());
            }
        }
        Cow::Owned(Diagnostics { list: vec![one], source })
    }

    /// Returns the messages as text for people: source lines with carets, in the style of `rustc`.
    pub fn render(&self, color: bool) -> String {
        self.diagnostics().render(color)
    }

    /// Returns the messages as text for tools: a JSON array with one object per message.
    pub fn to_json(&self) -> String {
        self.diagnostics().to_json()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics().fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Error {
        Error::Source(diagnostics)
    }
}
