//! Why a compilation fails, and how that is told.

use crate::limits::Resource;
use frontend::{Diagnostic, Diagnostics, Severity, SourceText};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Why there is no code object.
///
/// `Display` shows the whole message with its lines of the source, for people; [`Error::to_json`] is for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The source has mistakes.
    Source(Diagnostics),
    /// The program is right, and asks for what is not compiled for this processor.
    Unsupported {
        /// What it asks for.
        what: String,
        /// The processor and its modes.
        target: String,
        /// Where, if the program came as source text.
        place: Option<Place>,
    },
    /// The program needs more than [`crate::Limits`] allow.
    Limit {
        /// More of what.
        resource: Resource,
        /// What is allowed, in the unit of [`crate::Limits`] (milliseconds for the time).
        allowed: u64,
    },
    /// A module that is no valid IR.
    Ir {
        /// What the verifier found.
        errors: Vec<String>,
    },
    /// A fault of kernc itself.
    Internal {
        /// What went wrong.
        message: String,
    },
}

/// A place in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The source.
    pub source: Arc<SourceText>,
    /// Bytes of it.
    pub range: Range<usize>,
}

impl Place {
    /// Line and column (in bytes), both from 1.
    pub fn position(&self) -> (usize, usize) {
        self.source.position(self.range.start)
    }
}

impl Error {
    #[cold]
    pub(crate) fn internal(message: impl fmt::Display) -> Error {
        Error::Internal { message: message.to_string() }
    }

    /// A module that the verifier does not accept.
    #[cold]
    pub(crate) fn invalid(errors: Vec<ir::verify::VerifyError>) -> Error {
        Error::Ir { errors: errors.iter().map(ToString::to_string).collect() }
    }

    /// Code of the first message, `E0012`; [`crate::explain`] says more.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Source(diagnostics) => diagnostics.list.first().map_or("E0900", |first| first.code),
            Error::Unsupported { .. } => "E0111",
            Error::Limit { .. } => "E0112",
            Error::Ir { .. } => "E0113",
            Error::Internal { .. } => "E0900",
        }
    }

    /// The messages: for all but [`Error::Source`] it is one.
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

    /// The text for people: source lines with carets, as `rustc` prints them.
    pub fn render(&self, color: bool) -> String {
        self.diagnostics().render(color)
    }

    /// The text for tools: a JSON array, one object a message.
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
