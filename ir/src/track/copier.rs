//! Records go along with copies of code.

use super::{Record, Track, What};
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use cranelift_entity::packed_option::PackedOption;

/// Copies records along with code: call [`Copier::enter`] for each block of the original, [`Copier::pass`] for each of its instructions before the copy
/// of that is made, and [`Copier::made`] after.
#[derive(Debug, Default)]
pub struct Copier {
    waiting: Vec<What>,
    /// Where the records of the next instruction begin, if it has any.
    next: usize,
    /// What that instruction is.
    before: PackedOption<Inst>,
}

impl Copier {
    /// A block is copied from its beginning on, or once more.
    pub fn enter(&mut self, func: &Function, block: Block) {
        self.before = None.into();
        if let (Some(track), Some(&first)) = (&func.track, func.blocks[block].insts.first()) {
            self.next = track.before(first).start;
            self.look(track);
        }
    }

    /// Whether there are records in front of the instruction that comes next.
    #[inline]
    pub fn are_before(&self, inst: Inst) -> bool {
        self.before == inst.into()
    }

    fn look(&mut self, track: &Track) {
        self.before = track.settled().get(self.next).map(|record| record.before).into();
    }

    /// The original's records in front of an instruction wait for the next instruction of the copy.
    pub fn pass(&mut self, func: &Function, inst: Inst, mut rename: impl FnMut(Value) -> Value) {
        let Some(track) = &func.track else { return };
        let settled = track.settled();
        while let Some(record) = settled.get(self.next).filter(|record| record.before == inst) {
            self.next += 1;
            self.waiting.push(match record.what {
                // What it would be computed of is the original's.
                What::Value(leaf, value) if !track.has(func, value) => What::Lost(leaf),
                what => what.map(&mut rename),
            });
        }
        self.look(track);
    }

    /// An instruction of the copy has been put at the end of a block.
    pub fn made(&mut self, track: &mut Track, block: Block, inst: Inst) {
        if !self.waiting.is_empty() {
            track.records.reserve(self.waiting.len());
            for what in self.waiting.drain(..) {
                track.records.push(Record { block, before: inst, what });
            }
        }
    }
}
