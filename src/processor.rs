//! Answers the questions of programs about the target processor ([`frontend::Processor`]) from the tables of
//! the crate `isa`.

use crate::error::Error;
use frontend::Question;
use isa::{Feature, PROCESSORS, Subtarget, Target, UnknownFact};

/// The target processor, as programs see it.
#[derive(Debug)]
pub(crate) struct Facts<'a>(pub &'a Subtarget);

/// Checks that the description of the processor's family has all facts about the hardware that the passes
/// read, so that no pass fails for lack of a fact.
///
/// # Errors
/// The description lacks a fact, which the error names.
pub(crate) fn check_facts(target: &Subtarget) -> Result<(), Error> {
    target.needs(&FACTS).map_err(|open| open_fact(&open, target))
}

/// The facts that the compiler reads.
const FACTS: [&str; 7] =
    ["layout", "registers", "waits", "addressing", "memory_model", "hazards", "descriptor"];

/// Returns the error for a fact about the hardware that the description of the processor's family lacks.
#[cold]
pub(crate) fn open_fact(open: &UnknownFact, target: &Subtarget) -> Error {
    let what = format!("anything that depends on the fact `{}`", open.fact);
    Error::Unsupported { what, target: target.to_string(), place: None }
}

/// Returns the name of a processor's generation, such as `gfx9`.
fn generation_name(target: &Target) -> String {
    format!("gfx{}", target.version.0)
}

/// Returns the names of all generations, in order.
fn generations() -> Vec<String> {
    let mut names: Vec<String> = PROCESSORS.iter().map(generation_name).collect();
    names.dedup();
    names
}

impl frontend::Processor for Facts<'_> {
    fn answer(&self, question: Question, name: &str) -> Option<bool> {
        match question {
            Question::Processor => Target::by_name(name).map(|target| target.number == self.0.number),
            Question::Generation => {
                let is_there = PROCESSORS.iter().any(|one| generation_name(one) == name);
                is_there.then(|| generation_name(self.0) == name)
            }
            Question::Feature => {
                let named = |(text, _): &(&str, Feature)| {
                    text.eq_ignore_ascii_case(name) && name == name.to_lowercase()
                };
                Feature::all().iter_names().find(named).map(|(_, feature)| self.0.has(feature))
            }
        }
    }

    fn names(&self, question: Question) -> Vec<String> {
        match question {
            Question::Processor => PROCESSORS.iter().map(|target| target.name.to_owned()).collect(),
            Question::Generation => generations(),
            Question::Feature => Feature::all().iter_names().map(|(name, _)| name.to_lowercase()).collect(),
        }
    }
}
