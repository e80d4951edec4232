//! Copies debug records along with copies of code.

use super::{Record, Track, What};
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use cranelift_entity::packed_option::PackedOption;

/// Copies records along with code. For each block of the original, call [`Copier::enter`]; for each
/// instruction of the block, call [`Copier::pass`] before the copy of the instruction is created and
/// [`Copier::made`] after.
#[derive(Debug, Default)]
pub struct Copier {
    waiting: Vec<What>,
    /// Index of the first debug record that belongs to the instruction in `before`.
    next: usize,
    /// Next instruction of the original block that has debug records, and whose records start at `next`.
    before: PackedOption<Inst>,
}

impl Copier {
    /// Starts copying a block from its beginning. The same block may be copied several times.
    pub fn enter(&mut self, func: &Function, block: Block) {
        self.before = None.into();
        if let (Some(track), Some(&first)) = (&func.track, func.blocks[block].insts().first()) {
            self.next = track.before(first).start;
            self.look(track);
        }
    }

    /// Returns whether the instruction, which comes next in the original, has records before it.
    #[inline]
    pub fn are_before(&self, inst: Inst) -> bool {
        self.before == inst.into()
    }

    fn look(&mut self, track: &Track) {
        self.before = track.reconciled_records().get(self.next).map(|record| record.before).into();
    }

    /// Queues the original's records before `inst`, with renamed values, for the next instruction of the
    /// copy.
    pub fn pass(&mut self, func: &Function, inst: Inst, mut rename: impl FnMut(Value) -> Value) {
        let Some(track) = &func.track else { return };
        let reconciled = track.reconciled_records();
        while let Some(record) = reconciled.get(self.next).filter(|record| record.before == inst) {
            self.next += 1;
            self.waiting.push(match record.what {
                // A value that is no longer in the code would be recomputed from values of the original, not
                // of the copy.
                What::Value(fragment, value) if !track.has(func, value) => What::Lost(fragment),
                what => what.map(&mut rename),
            });
        }
        self.look(track);
    }

    /// Attaches the queued records to an instruction of the copy that has been appended to `block`.
    pub fn made(&mut self, track: &mut Track, block: Block, inst: Inst) {
        if !self.waiting.is_empty() {
            track.records.reserve(self.waiting.len());
            for what in self.waiting.drain(..) {
                track.records.push(Record { block, before: inst, what });
            }
        }
    }
}
