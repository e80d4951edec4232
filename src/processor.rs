//! Answers the questions of programs about the target processor ([`frontend::Processor`]) from the tables of
//! the crate `isa`.

use frontend::Question;
use isa::{Feature, Generation, PROCESSORS, Subtarget, Target};

/// The target processor, as programs see it.
#[derive(Debug)]
pub(crate) struct Facts<'a>(pub &'a Subtarget);

/// Returns the name of a generation, such as `gfx9`.
fn generation_name(generation: Generation) -> String {
    format!("{generation:?}").to_lowercase()
}

impl frontend::Processor for Facts<'_> {
    fn answer(&self, question: Question, name: &str) -> Option<bool> {
        match question {
            Question::Processor => Target::by_name(name).map(|target| target.number == self.0.number),
            Question::Generation => {
                let mut all = Generation::ALL.into_iter();
                all.find(|&one| generation_name(one) == name).map(|one| one == self.0.generation)
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
            Question::Generation => Generation::ALL.into_iter().map(generation_name).collect(),
            Question::Feature => Feature::all().iter_names().map(|(name, _)| name.to_lowercase()).collect(),
        }
    }
}
