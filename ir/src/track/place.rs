//! Keeps debug facts at the right place while passes change the instructions of blocks.
//!
//! Facts stay at their place in the block: if their instruction is removed or moved to another block, the
//! facts go to the next instruction that can take over facts. An instruction that was created or moved since
//! the last [`Track::tidy`] takes over no facts, because it may belong to another statement.

use super::notes::List;
use super::{Track, latest};
use crate::entity::{Block, Inst};
use crate::func::{Function, InstData};
use crate::op::Op;
use cranelift_entity::{EntityRef, PrimaryMap};

/// All instructions of a function.
type Insts = PrimaryMap<Inst, InstData>;

impl Track {
    /// Brings the facts into the form that passes read: computes which instructions are in the code, replaces
    /// replaced values, and removes superseded facts.
    pub(super) fn tidy(&mut self, func: &Function) {
        let Track { notes, replaced, is_stale, .. } = self;
        if std::mem::take(is_stale) {
            notes.change_all(|what| what.map_value(|value| latest(replaced, value)));
        }
        self.number_insts(func);
        let Track { notes, changed, original, .. } = self;
        for &block in &func.layout {
            let insts = || func.blocks[block].insts().iter().copied();
            let is_raw = insts().any(|inst| notes.is_raw(inst));
            if (changed[block] || is_raw) && original[block] {
                original[block] = false;
                insts().for_each(|inst| notes.set_raw(inst, true));
            }
            insts().for_each(|inst| notes.prune(inst));
        }
        changed.clear();
    }

    /// Numbers the instructions in the code, and moves facts from instructions that cannot have facts to the
    /// next instruction that can.
    pub(super) fn number_insts(&mut self, func: &Function) {
        let Track { notes, places, moved, .. } = self;
        moved.clear();
        places.clear();
        places.resize(func.insts.len(), 0);
        let mut place = 0;
        for &block in &func.layout {
            let mut waiting = List::default();
            for &inst in func.blocks[block].insts() {
                place += 1;
                places[inst.index()] = place;
                if is_anchor(func.insts[inst].op) {
                    notes.put_first(inst, std::mem::take(&mut waiting));
                } else {
                    waiting = notes.take_all(waiting, &[inst]);
                }
            }
        }
    }

    /// Returns the 1-based position of an instruction in the code; 0 if the instruction was not in the code
    /// when the facts were last tidied.
    pub(super) fn place_of(&self, inst: Inst) -> u32 {
        self.places.get(inst.index()).copied().unwrap_or(0)
    }

    /// Returns whether the instruction has been created since the facts were last tidied.
    pub(super) fn is_new(&self, inst: Inst) -> bool {
        self.places.len() <= inst.index()
    }

    fn can_take_over(&self, insts: &Insts, inst: Inst) -> bool {
        !self.is_new(inst) && !self.moved[inst] && is_anchor(insts[inst].op)
    }

    /// Attaches facts to the first of the new instructions at the end of a block, or to its last instruction
    /// if that is not new.
    fn put_at_end(&mut self, list: List, insts: &[Inst]) {
        let new = insts.iter().rev().take_while(|&&inst| self.is_new(inst)).count();
        if let Some(&heir) = insts.len().checked_sub(new.max(1)).and_then(|at| insts.get(at)) {
            self.notes.put_first(heir, list);
        }
    }

    /// The list of a block changes from `old` to `new`. Instructions in both lists have the same order.
    pub(crate) fn changed(&mut self, insts: &Insts, block: Block, old: &[Inst], new: &[Inst]) {
        self.changed[block] |= old != new;
        if !old.iter().any(|&inst| self.notes.are_before(inst)) {
            return;
        }
        // The instructions that the lists have in common at their beginning keep their facts.
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        self.changes += 1;
        new[same..].iter().for_each(|&inst| self.stays[inst] = self.changes);
        let mut waiting = List::default();
        for &inst in &old[same..] {
            if self.stays[inst] != self.changes {
                waiting = self.notes.take_all(waiting, &[inst]);
            } else if self.can_take_over(insts, inst) {
                self.notes.put_first(inst, std::mem::take(&mut waiting));
            }
        }
        self.put_at_end(waiting, new);
    }

    /// The instructions `gone` at the end of `block` are removed, and `rest` remain. Their facts go to the
    /// first of the new instructions at the end, or wait for the next instruction that is appended.
    pub(crate) fn removed(&mut self, block: Block, rest: &[Inst], gone: &[Inst]) {
        self.changed[block] = true;
        let list = self.notes.take_all(List::default(), gone);
        match rest.iter().rev().take_while(|&&inst| self.is_new(inst)).last() {
            Some(&first) => self.notes.put_first(first, list),
            None => self.waiting = (list, block.into()),
        }
    }

    /// The instruction, which was taken out of a block, is removed. Its facts wait for the next instruction
    /// that is appended and can take over facts.
    pub(crate) fn discarded(&mut self, inst: Inst) {
        self.orphans = self.notes.take_all(self.orphans, &[inst]);
    }

    /// An instruction of block `from` is appended to `block`.
    pub(crate) fn appended(&mut self, insts: &Insts, block: Block, from: Block, inst: Inst) {
        if self.can_take_over(insts, inst) {
            self.notes.put_first(inst, std::mem::take(&mut self.orphans));
        }
        if from != block || self.is_new(inst) {
            self.mix(from, block);
        }
        if self.waiting.1 == block.into() {
            self.notes.put_first(inst, std::mem::take(&mut self.waiting.0));
        }
    }

    /// The instruction arrives in a list to which it did not belong.
    pub(crate) fn arrived(&mut self, block: Block, inst: Inst) {
        self.changed[block] = true;
        if !self.is_new(inst) {
            self.moved[inst] = true;
        }
    }

    /// Instructions of block `from` become instructions of `block`.
    pub(crate) fn mix(&mut self, from: Block, block: Block) {
        self.changed[block] = true;
        self.original[block] |= self.original[from];
    }

    /// The instruction `end` is replaced by the instructions `rest`, which end a block.
    pub(crate) fn continued(&mut self, insts: &Insts, end: Option<Inst>, rest: &[Inst]) {
        let list = end.map_or_else(List::default, |end| self.notes.take(end));
        match rest.iter().find(|&&inst| self.can_take_over(insts, inst)) {
            Some(&heir) => self.notes.put_first(heir, list),
            None => self.put_at_end(list, rest),
        }
    }

    /// Forgets the facts before the instructions.
    pub(crate) fn forget(&mut self, insts: &[Inst]) {
        self.notes.take_all(List::default(), insts);
    }

    /// Moves the facts before the instructions `from` to `to`, before the facts that are already there.
    pub(crate) fn hand_to(&mut self, from: &[Inst], to: Inst) {
        let list = self.notes.take_all(List::default(), from);
        self.notes.put_first(to, list);
    }
}

/// Returns whether passes leave instructions with this operation in place as long as the instructions exist.
/// Constants and addresses are moved to their uses, so facts are not attached to them.
pub(super) fn is_anchor(op: Op) -> bool {
    !matches!(op, Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) | Op::Pos(_))
}
