//! What a program can ask about the processor that it is compiled for: `#[cfg(…)]` and `has(…)`.

use crate::diag::Diagnostic;
use crate::lexer::Span;
use isa::spelling::nearest;
use std::fmt::Debug;

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// `processor = "gfx906"`: whether it is this one.
    Processor,
    /// `generation = "gfx9"`: whether it is of this generation.
    Generation,
    /// `has(dpp)`: whether it has a feature.
    Feature,
}

impl Question {
    /// What the names that it knows are called in messages.
    fn what(self) -> &'static str {
        match self {
            Question::Processor => "processor",
            Question::Generation => "generation",
            Question::Feature => "feature of processors",
        }
    }
}

/// The processor that is compiled for.
pub trait Processor: Debug + Sync {
    /// The answer to a question; nothing if the name means nothing.
    fn answer(&self, question: Question, name: &str) -> Option<bool>;

    /// Names that mean something.
    fn names(&self, question: Question) -> Vec<String>;
}

/// The answer for `name`, which stands at `span`. Where no processor is known, the answer to everything is no.
pub(crate) fn ask(
    processor: Option<&dyn Processor>,
    question: Question,
    name: &str,
    span: Span,
) -> Result<bool, Diagnostic> {
    let Some(processor) = processor else { return Ok(false) };
    processor.answer(question, name).ok_or_else(|| {
        let names = processor.names(question);
        let help = match nearest(name, names.iter().map(String::as_str)) {
            Some(found) => format!("a similar name exists: `{found}`"),
            None => format!("names are {}", names.join(", ")),
        };
        Diagnostic::error("E0094", format!("there is no {} `{name}`", question.what()))
            .label(span, "unknown name")
            .help(help)
    })
}
