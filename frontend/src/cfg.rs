//! Questions about the target processor that a program can ask with `#[cfg(…)]` and `has(…)`.

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
    /// Returns the word that messages use for the names that this question takes, for example "processor".
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
    /// Returns the answer to a question about the target processor. Depending on the question, `name` is the
    /// name of a processor, of a generation or of a feature, and the answer says whether the target is,
    /// belongs to or has it. Returns `None` for an unknown name.
    fn answer(&self, question: Question, name: &str) -> Option<bool>;

    /// Returns all names that the question knows, such as all processors, for spelling suggestions.
    fn names(&self, question: Question) -> Vec<String>;
}

/// Returns the answer to a question about the target processor, such as whether it has the feature `name`.
/// The answer is `false` if no target processor is given. An unknown name is an error at `span`, the position
/// of the name in the source.
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
            _ if question == Question::Feature && name.starts_with("gfx") => {
                "a feature is something that processors can do; `#[cfg(processor = \"...\")]` and `#[cfg(generation = \"...\")]` ask for names".to_owned()
            }
            Some(found) => format!("a similar name exists: `{found}`"),
            None => format!("names are {}", names.join(", ")),
        };
        Diagnostic::error("E0094", format!("there is no {} `{name}`", question.what()))
            .label(span, "unknown name")
            .help(help)
    })
}
