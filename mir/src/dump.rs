//! Formats the reasons of instructions as text.

use crate::text::{Options, write_function};
use crate::{MachFunc, Note};
use isa::print::write_reg;
use isa::{NoteId, PROCESSORS, RegRange, Target};
use std::fmt;

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Wait { counter, producer, reg: Some(reg), consumer } => {
                let mut name = String::new();
                // The processor is not known here. The names of registers are the same on all processors that
                // `kernc` compiles for, so the first processor of the table serves.
                write_reg(&PROCESSORS[0], RegRange { first: *reg, len: 1 }, &mut name)?;
                write!(f, "{counter}: {consumer} needs {name} of {producer}")
            }
            Note::Wait { counter, producer, reg: None, consumer } => {
                write!(f, "{counter}: {consumer} waits for {producer}")
            }
            Note::Hazard { rule, states: 0 } => write!(f, "hazard: {rule}"),
            Note::Hazard { rule, states } => write!(f, "hazard: {rule}, {states} wait states"),
            Note::Coherence(row) => write!(f, "memory model: {row}"),
            Note::Alloc(what) => write!(f, "allocation: {what}"),
            Note::Text(text) => f.write_str(text),
            Note::Read(text) => f.write_str(text),
        }
    }
}

impl MachFunc {
    /// Returns the reason with the given id.
    pub fn note_of(&self, id: NoteId) -> Option<&Note> {
        self.notes.get(id.index()?)
    }

    /// Returns the whole function as text without source locations. [`crate::text`] describes the format.
    pub fn dump(&self, target: &Target) -> String {
        let mut out = String::new();
        write_function(self, target, &Options::default(), &mut out);
        out
    }
}
