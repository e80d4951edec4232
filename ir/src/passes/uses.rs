//! Use counts of values, kept up to date while a sweep replaces values and creates instructions.
//!
//! An instruction without side effects counts as a user of its arguments only while its own result is used.
//! An instruction that a rule has made superfluous, or that a rule created in vain, is therefore not counted.
//! Edges of removed branches still count until the end of the sweep.

use crate::analysis::Cfg;
use crate::entity::{Inst, Value};
use crate::func::Function;
use cranelift_entity::EntityRef;

/// The use counts, and reusable memory for updating them.
#[derive(Debug, Default)]
pub(super) struct Uses {
    counts: Vec<u32>,
    /// Number of values in the function when the sweep started. Values with higher numbers were created by
    /// the sweep.
    old: usize,
    /// Instructions whose result has just got its first use or lost its last one. The uses of their arguments
    /// must now be counted, or no longer be counted.
    work: Vec<Inst>,
}

impl Uses {
    /// Counts the uses in all reachable blocks.
    pub fn compute(&mut self, func: &Function, cfg: &Cfg) {
        self.counts.clear();
        self.counts.resize(func.values.len(), 0);
        self.old = func.values.len();
        // The blocks are visited in reverse order, so that usually the uses of a value are counted before its
        // definition is visited. This does not hold for block parameters: branches that use them may be
        // visited later.
        for &block in cfg.rpo().iter().rev() {
            for &inst in func.blocks[block].insts().iter().rev() {
                let data = &func.insts[inst];
                if !data.op.is_pure() || self.counts[data.first.index()] > 0 {
                    func.args(inst).iter().for_each(|arg| self.counts[arg.index()] += 1);
                }
            }
        }
    }

    /// Returns whether a value has at most one use.
    pub fn is_single(&self, value: Value) -> bool {
        self.counts.get(value.index()).is_none_or(|&count| count <= 1)
    }

    /// Returns whether the sweep created the value.
    pub fn is_new(&self, value: Value) -> bool {
        value.index() >= self.old
    }

    /// Notes an additional use of a value.
    pub fn add(&mut self, func: &Function, value: Value) {
        self.add_many(func, value, 1);
    }

    /// Notes that a use of a value is gone.
    pub fn remove(&mut self, func: &Function, value: Value) {
        self.lose(func, value);
        while let Some(inst) = self.work.pop() {
            func.args(inst).iter().for_each(|&arg| self.lose(func, arg));
        }
    }

    /// Notes that `new` replaces `old` in all its uses.
    pub fn replace(&mut self, func: &Function, old: Value, new: Value) {
        let Some(count) = self.counts.get_mut(old.index()).map(std::mem::take).filter(|&count| count > 0)
        else {
            return;
        };
        self.add_many(func, new, count);
        if let Some(inst) = pure_def(func, old) {
            func.args(inst).iter().for_each(|&arg| self.remove(func, arg));
        }
    }

    fn add_many(&mut self, func: &Function, value: Value, count: u32) {
        self.gain(func, value, count);
        while let Some(inst) = self.work.pop() {
            func.args(inst).iter().for_each(|&arg| self.gain(func, arg, 1));
        }
    }

    fn gain(&mut self, func: &Function, value: Value, more: u32) {
        if self.counts.len() <= value.index() {
            self.counts.resize(func.values.len(), 0);
        }
        let count = &mut self.counts[value.index()];
        if *count == 0 {
            self.work.extend(pure_def(func, value));
        }
        *count += more;
    }

    fn lose(&mut self, func: &Function, value: Value) {
        let Some(count) = self.counts.get_mut(value.index()).filter(|count| **count > 0) else { return };
        *count -= 1;
        if *count == 0 {
            self.work.extend(pure_def(func, value));
        }
    }
}

/// Returns the instruction that computes a value, if it has no side effects; otherwise `None`.
fn pure_def(func: &Function, value: Value) -> Option<Inst> {
    func.def_inst(value).filter(|&inst| func.insts[inst].op.is_pure())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{parse, store_of};

    /// Returns whether the results of additions, given by their numbers, have at most one use.
    fn singles(func: &Function, uses: &Uses, values: [u32; 3]) -> [bool; 3] {
        values.map(|n| uses.is_single(named(func, n)))
    }

    /// Returns the result of addition number `n`.
    fn named(func: &Function, n: u32) -> Value {
        let is_add =
            |inst: &&Inst| matches!(func.insts[**inst].op, crate::op::Op::Bin(crate::op::BinOp::Add));
        let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
        let inst = insts.filter(is_add).nth(n as usize).expect("there are as many");
        func.insts[*inst].first
    }

    #[test]
    fn counts_follow_replacements() {
        // Addition 1 uses the result of addition 0, addition 2 uses the result of addition 1 twice, and
        // addition 3 uses the result of addition 0 twice but is itself unused.
        let text =
            store_of("v4 = add.i32 v0, v1\nv5 = add.i32 v4, v1\nv9 = add.i32 v5, v5\nv6 = add.i32 v4, v4");
        let module = parse(&text);
        let func = module.funcs.values().next().expect("a kernel");
        let mut uses = Uses::default();
        uses.compute(func, &Cfg::new(func));
        assert_eq!(singles(func, &uses, [0, 1, 2]), [true, false, true]);
        let [a, b, c] = [0, 1, 2].map(|n| named(func, n));
        // The uses of result 1 become uses of result 0, and the use of result 0 by addition 1 is gone.
        uses.replace(func, b, a);
        assert_eq!(singles(func, &uses, [0, 1, 2]), [false, true, true]);
        // The last use of result 2 is gone, and with it the uses by addition 2.
        uses.add(func, b);
        uses.remove(func, c);
        assert_eq!(singles(func, &uses, [0, 1, 2]), [false, true, true]);
        // Result 2 is used again, so both uses by addition 2 count again.
        uses.add(func, c);
        assert_eq!(singles(func, &uses, [0, 1, 2]), [false, false, true]);
    }
}
