//! Hash table of computations that are already in the code. It uses open addressing. An entry has a hash and
//! an instruction number; keys are not stored, because they are compared in the instructions themselves.

use crate::entity::{Block, Inst};
use crate::func::Function;
use cranelift_entity::EntityRef;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    hash: u32,
    /// Instruction number plus one; 0 marks a free entry.
    inst: u32,
}

/// Maps an operation with its arguments and result type to an instruction that computes it.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    used: usize,
}

impl Table {
    /// Empties the table and chooses its size for `count` instructions. A small table has fewer cache misses.
    pub fn reset(&mut self, count: usize) {
        self.entries.clear();
        self.entries.resize((count * 4 / 3 + 1).next_power_of_two().max(64), Entry::default());
        self.used = 0;
    }

    /// Returns an instruction that computes the same as `inst`. The closure `usable` says whether this
    /// instruction, in its block, can be used in place of `inst`. If there is no usable one, stores `inst` in
    /// the table, in place of an equal instruction that is not usable.
    pub fn find_or_insert(
        &mut self,
        func: &Function,
        inst: Inst,
        mut usable: impl FnMut(Inst, Block) -> bool,
    ) -> Option<Inst> {
        if self.used * 4 > self.entries.len() * 3 {
            self.grow();
        }
        let hash = hash(func, inst);
        let mask = self.entries.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.entries[at];
            if entry.inst == 0 {
                self.used += 1;
                break;
            }
            let found = Inst::new(entry.inst as usize - 1);
            if entry.hash == hash && equal(func, found, inst) {
                if found != inst && usable(found, func.insts[found].block) {
                    return Some(found);
                }
                break;
            }
            at = (at + 1) & mask;
        }
        self.entries[at] = Entry { hash, inst: inst.as_u32() + 1 };
        None
    }

    fn grow(&mut self) {
        let bigger = vec![Entry::default(); self.entries.len() * 2];
        let mask = bigger.len() - 1;
        for entry in std::mem::replace(&mut self.entries, bigger) {
            if entry.inst != 0 {
                let mut at = entry.hash as usize & mask;
                while self.entries[at].inst != 0 {
                    at = (at + 1) & mask;
                }
                self.entries[at] = entry;
            }
        }
    }
}

fn hash(func: &Function, inst: Inst) -> u32 {
    let mut hasher = FxHasher::default();
    let data = &func.insts[inst];
    data.op.hash(&mut hasher);
    for arg in func.args(inst) {
        hasher.write_u32(arg.as_u32());
    }
    let bits = hasher.finish();
    (bits >> 32) as u32 ^ bits as u32
}

fn equal(func: &Function, a: Inst, b: Inst) -> bool {
    let (x, y) = (&func.insts[a], &func.insts[b]);
    x.op == y.op
        && x.results == y.results
        && func.args(a) == func.args(b)
        && (x.results == 0 || func.ty(x.first) == func.ty(y.first))
}
