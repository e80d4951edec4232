//! Copies debug facts along with copies of code.

use super::{Track, What};
use crate::entity::{Inst, Value};
use crate::func::Function;

/// Copies facts along with code. For each instruction of the original, call [`Copier::pass`] before the copy
/// of the instruction is created and [`Copier::made`] after.
#[derive(Debug, Default)]
pub struct Copier {
    waiting: Vec<What>,
}

impl Copier {
    /// Queues the original's facts before `inst`, with renamed values, for the next instruction of the copy.
    pub fn pass(&mut self, func: &Function, inst: Inst, mut rename: impl FnMut(Value) -> Value) {
        let Some(track) = &func.track else { return };
        self.waiting.extend(track.notes.before(inst).map(|what| match what {
            // A value that is no longer in the code would be recomputed from values of the original, not of
            // the copy.
            What::Value(fragment, value) if !track.has(func, value) => What::Lost(fragment),
            what => what.map(&mut rename),
        }));
    }

    /// Attaches the queued facts to an instruction of the copy.
    pub fn made(&mut self, track: &mut Track, inst: Inst) {
        if !self.waiting.is_empty() {
            track.notes.add(inst, self.waiting.drain(..));
        }
    }
}
