//! What a program can ask about the target processor: `#[cfg(…)]` and `has(…)`.

use crate::diag::Diagnostic;
use crate::lexer::Span;
use isa::spelling::nearest;
use std::fmt::Debug;

/// Kind of a question about the target processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// `processor = "gfx906"`: whether the target is this processor.
    Processor,
    /// `generation = "gfx9"`: whether the target belongs to this generation.
    Generation,
    /// `has(dpp)`: whether the target has this feature.
    Feature,
}

impl Question {
    /// Returns how messages call the names that this question asks about, for example a processor or a
    /// feature.
    fn what(self) -> &'static str {
        match self {
            Question::Processor => "processor",
            Question::Generation => "generation",
            Question::Feature => "feature of processors",
        }
    }
}

/// The target processor of the compilation.
pub trait Processor: Debug + Sync {
    /// Returns whether the name applies to the target processor; `None` if the name is unknown.
    fn answer(&self, question: Question, name: &str) -> Option<bool>;

    /// Returns all names that are valid in such a question.
    fn names(&self, question: Question) -> Vec<String>;
}

/// Returns whether the target processor has the property `name`, which is at `span` in the source. Returns
/// `false` if there is no target processor, and an error if the name is unknown.
pub(crate) fn evaluate_question(
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
