//! Functions that change an existing function in place, and the only functions that change which
//! instructions a block has.
//!
//! A pass inserts, removes, moves, splits and splices instructions through the methods of [`Function`] here.
//! All of these methods take time linear in the number of instructions that they touch; [`set_insts`] and
//! [`take_insts`] serve passes that go through all instructions of a block.
//!
//! Debug facts are attached to the instruction that follows them. They stay at their place: if their
//! instruction is removed or moved to another block, they go to the next instruction of the block
//! (`track::place`). If a block is split or spliced, they remain at their instructions.
//!
//! [`set_insts`]: Function::set_insts
//! [`take_insts`]: Function::take_insts
//!
//! No use lists are kept. A pass that replaces values records `old -> new` in a [`Subst`] and rewrites
//! arguments during the sweep that it performs anyway.

use crate::entity::{Block, Inst, Value};
use crate::func::{Function, InstData, SrcLoc, ValueDef, ValueList, Values};
use crate::op::Op;
use crate::types::Type;
use cranelift_entity::EntityRef;
use smallvec::SmallVec;

/// The instructions of a block. Most blocks are short, and then the list needs no heap memory.
pub(crate) type InstList = SmallVec<[Inst; 12]>;

/// Parameters and instructions of a block; the last instruction is its terminator.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Block parameters.
    pub params: ValueList,
    insts: InstList,
}

impl BlockData {
    /// Returns the instructions in order.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }

    /// Returns an empty block that uses the memory of an empty list.
    pub(crate) fn with_memory(insts: InstList) -> BlockData {
        BlockData { params: ValueList::new(), insts }
    }

    /// Removes all instructions and returns the memory of the list.
    pub(crate) fn take_memory(&mut self) -> InstList {
        self.insts.clear();
        std::mem::take(&mut self.insts)
    }
}

impl Function {
    /// Returns the arguments of an instruction for modification.
    pub fn args_mut(&mut self, inst: Inst) -> &mut [Value] {
        self.insts[inst].args.as_mut_slice(&mut self.pool)
    }

    /// Replaces all arguments of an instruction.
    pub fn set_args(&mut self, inst: Inst, args: &[Value]) {
        let list = &mut self.insts[inst].args;
        if list.len(&self.pool) == args.len() {
            list.as_mut_slice(&mut self.pool).copy_from_slice(args);
        } else {
            list.clear(&mut self.pool);
            list.extend(args.iter().copied(), &mut self.pool);
        }
    }

    /// Changes the operation and the arguments of an instruction; the results stay the same.
    pub fn replace(&mut self, inst: Inst, op: Op, args: &[Value]) {
        self.insts[inst].op = op;
        self.set_args(inst, args);
    }

    /// Appends an instruction that is in no block to `block`, and sets its block.
    #[inline]
    pub fn append(&mut self, block: Block, inst: Inst) {
        let from = std::mem::replace(&mut self.insts[inst].block, block);
        self.blocks[block].insts.push(inst);
        if let Some(track) = &mut self.track {
            track.appended(&self.insts, block, from, inst);
        }
    }

    /// Inserts instructions that are in no block at the beginning of `block`, and sets their block.
    pub fn prepend(&mut self, block: Block, insts: impl ExactSizeIterator<Item = Inst>) {
        let count = insts.len();
        self.blocks[block].insts.insert_many(0, insts);
        for &inst in &self.blocks[block].insts[..count] {
            self.insts[inst].block = block;
            if let Some(track) = &mut self.track {
                track.arrived(block, inst);
            }
        }
    }

    /// Inserts an instruction before the terminator of `block`, and sets its block. The instruction may still
    /// be in the list of another block, from which the caller then removes it.
    pub fn insert_at_end(&mut self, block: Block, inst: Inst) {
        self.insts[inst].block = block;
        let insts = &mut self.blocks[block].insts;
        insts.insert(insts.len().saturating_sub(1), inst);
        if let Some(track) = &mut self.track {
            track.arrived(block, inst);
        }
    }

    /// Inserts a new instruction with one result of type `ty` before the terminator of `block`.
    pub fn insert1(&mut self, block: Block, op: Op, args: &[Value], ty: Type, loc: SrcLoc) -> Value {
        let inst = self.make_inst(block, op, args, ty, 1, loc);
        self.insert_at_end(block, inst);
        self.insts[inst].first
    }

    /// Inserts a new instruction without results before the terminator of `block`.
    pub fn insert0(&mut self, block: Block, op: Op, args: &[Value], loc: SrcLoc) {
        let inst = self.make_inst(block, op, args, Type::Bool, 0, loc);
        self.insert_at_end(block, inst);
    }

    /// Removes the instructions of `block` from number `first` on.
    pub fn remove_from(&mut self, block: Block, first: usize) {
        let insts = &mut self.blocks[block].insts;
        if let Some(track) = &mut self.track {
            let (rest, gone) = insts.split_at(first);
            track.removed(block, rest, gone);
        }
        insts.truncate(first);
    }

    /// Removes the terminator of `block`.
    pub fn remove_terminator(&mut self, block: Block) {
        let last = self.blocks[block].insts.len().saturating_sub(1);
        self.remove_from(block, last);
    }

    /// Keeps the instructions of `block` for which `keep` returns true and removes the others.
    pub fn retain_insts(&mut self, block: Block, mut keep: impl FnMut(Inst, &InstData) -> bool) {
        let Function { blocks, insts, track, .. } = self;
        let list = &mut blocks[block].insts;
        let Some(track) = track else { return list.retain(|inst| keep(*inst, &insts[*inst])) };
        let old = list.clone();
        list.retain(|inst| keep(*inst, &insts[*inst]));
        track.changed(insts, block, &old, list);
    }

    /// Replaces the instructions of `block` by a list of instructions that belong to `block`. The
    /// instructions that remain must keep their order.
    pub fn set_insts(&mut self, block: Block, new: &[Inst]) {
        let insts = &mut self.blocks[block].insts;
        if let Some(track) = &mut self.track {
            track.changed(&self.insts, block, insts, new);
        }
        insts.clear();
        insts.extend_from_slice(new);
    }

    /// Takes the instructions out of `block` for a pass that appends each of the instructions again. If the
    /// pass goes on with another block after one of the instructions, it splits the block.
    pub fn take_insts(&mut self, block: Block, taken: &mut Vec<Inst>) {
        taken.clear();
        taken.extend(self.blocks[block].insts.drain(..));
    }

    /// Removes an instruction that [`Function::take_insts`] has taken, and that is not appended again.
    pub fn discard(&mut self, inst: Inst) {
        if let Some(track) = &mut self.track {
            track.discarded(inst);
        }
    }

    /// Moves the instructions of `block` from number `first` on to the end of block `rest`.
    pub fn split_block(&mut self, block: Block, first: usize, rest: Block) {
        let mut moved: InstList = self.blocks[block].insts.drain(first..).collect();
        for &inst in &moved {
            self.insts[inst].block = rest;
        }
        if let Some(track) = &mut self.track {
            track.mix(block, rest);
            track.mix(rest, block);
        }
        self.blocks[rest].insts.append(&mut moved);
    }

    /// Moves the instructions of block `from`, except its terminator, to `to`, before the terminator there.
    /// Debug facts in `from` are forgotten, because they do not hold on all paths through `to`.
    pub fn splice_body(&mut self, from: Block, to: Block) {
        let mut moved = std::mem::take(&mut self.blocks[from].insts);
        if let Some(track) = &mut self.track {
            track.forget(&moved);
            moved.iter().for_each(|&inst| track.arrived(to, inst));
        }
        let last = moved.pop();
        for &inst in &moved {
            self.insts[inst].block = to;
        }
        let terminator = self.blocks[to].insts.pop();
        self.blocks[to].insts.append(&mut moved);
        self.blocks[to].insts.extend(terminator);
        // Puts the empty list back into its block so that its memory is reused.
        moved.extend(last);
        self.blocks[from].insts = moved;
    }

    /// Replaces the terminator of `to` by the instructions of block `from`.
    pub fn splice_block(&mut self, from: Block, to: Block) {
        let terminator = self.blocks[to].insts.pop();
        let mut moved = std::mem::take(&mut self.blocks[from].insts);
        for &inst in &moved {
            self.insts[inst].block = to;
        }
        if let Some(track) = &mut self.track {
            track.continued(&self.insts, terminator, &moved);
            track.mix(from, to);
        }
        self.blocks[to].insts.append(&mut moved);
        // Puts the empty list back into its block so that its memory is reused.
        self.blocks[from].insts = moved;
    }

    /// Returns the range of the arguments for successor number `which` in the terminator's argument list.
    pub fn branch_arg_range(&self, terminator: Inst, which: usize) -> std::ops::Range<usize> {
        let total = self.insts[terminator].args.len(&self.pool);
        match self.insts[terminator].op {
            Op::Jump(_) => 0..total,
            Op::Br { then_args, .. } if which == 0 => 1..1 + usize::from(then_args),
            Op::Br { then_args, .. } => 1 + usize::from(then_args)..total,
            Op::Switch(switch) => {
                let end = |which: usize| self.switches[switch].edges[which].args_end as usize;
                which.checked_sub(1).map_or(1, end)..end(which)
            }
            _ => 0..0,
        }
    }

    /// Returns the number of successors of a terminator.
    pub fn branch_count(&self, terminator: Inst) -> usize {
        match self.insts[terminator].op {
            Op::Jump(_) => 1,
            Op::Br { .. } => 2,
            Op::Switch(switch) => self.switches[switch].edges.len(),
            _ => 0,
        }
    }

    /// Returns successor number `which` of a terminator. Number 0 is the jump target, the `then` target or
    /// the default.
    pub fn branch_target(&self, terminator: Inst, which: usize) -> Option<Block> {
        match self.insts[terminator].op {
            Op::Jump(to) if which == 0 => Some(to),
            Op::Br { then, .. } if which == 0 => Some(then),
            Op::Br { otherwise, .. } if which == 1 => Some(otherwise),
            Op::Switch(switch) => self.switches[switch].edges.get(which).map(|edge| edge.to),
            _ => None,
        }
    }

    /// Changes the target of successor number `which`; the arguments stay the same.
    pub fn set_target(&mut self, terminator: Inst, which: usize, to: Block) {
        match &mut self.insts[terminator].op {
            Op::Jump(target) => *target = to,
            Op::Br { then, otherwise, .. } => *(if which == 0 { then } else { otherwise }) = to,
            Op::Switch(switch) => self.switches[*switch].edges[which].to = to,
            _ => {}
        }
    }

    /// Replaces the arguments for successor number `which`.
    pub fn set_branch_args(&mut self, terminator: Inst, which: usize, args: &[Value]) {
        let range = self.branch_arg_range(terminator, which);
        if range.len() == args.len() {
            self.args_mut(terminator)[range].copy_from_slice(args);
            return;
        }
        let more = args.len() as isize - range.len() as isize;
        let old = self.args(terminator);
        let mut all = Values::from_slice(&old[..range.start]);
        all.extend_from_slice(args);
        all.extend_from_slice(&old[range.end..]);
        self.set_args(terminator, &all);
        self.move_arg_ends(terminator, which, more);
    }

    /// Returns the operand that decides which successor a terminator takes, if there is one.
    pub fn branch_operand(&self, terminator: Inst) -> Option<Value> {
        match self.insts[terminator].op {
            Op::Br { .. } | Op::Switch(_) => self.args(terminator).first().copied(),
            _ => None,
        }
    }

    /// Keeps the parameters of `block` for which `keep` returns true and removes the others. The caller must
    /// adapt the branches to the block.
    pub fn retain_params(&mut self, block: Block, mut keep: impl FnMut(usize, Value) -> bool) {
        let mut kept = 0;
        let mut list = self.blocks[block].params.take();
        for index in 0..list.len(&self.pool) {
            let Some(value) = list.get(index, &self.pool) else { break };
            if keep(index, value) {
                self.values[value].def = ValueDef::Param(block, kept as u16);
                list.as_mut_slice(&mut self.pool)[kept] = value;
                kept += 1;
            }
        }
        list.truncate(kept, &mut self.pool);
        self.blocks[block].params = list;
    }

    /// Returns the number of instructions in the blocks of the layout.
    pub fn inst_count(&self) -> usize {
        self.layout.iter().map(|&b| self.blocks[b].insts.len()).sum()
    }
}

/// A substitution of values, as a flat table.
#[derive(Debug, Default)]
pub struct Subst {
    map: Vec<Value>,
    /// The replaced values.
    old: Vec<Value>,
}

impl Subst {
    /// Forgets everything and makes room for the function's values.
    pub fn reset(&mut self, func: &Function) {
        self.map.clear();
        self.map.extend(func.values.keys());
        self.old.clear();
    }

    /// Returns whether nothing has been replaced.
    pub fn is_empty(&self) -> bool {
        self.old.is_empty()
    }

    /// Notes that `new` replaces `old`.
    pub fn set(&mut self, old: Value, new: Value) {
        while self.map.len() <= old.index() {
            self.map.push(Value::new(self.map.len()));
        }
        self.map[old.index()] = new;
        self.old.push(old);
    }

    /// Returns the value that finally replaces a value.
    pub fn get(&self, mut value: Value) -> Value {
        while let Some(&next) = self.map.get(value.index())
            && next != value
        {
            value = next;
        }
        value
    }

    /// Returns the replaced values, each with its replacement.
    pub fn replaced(&self) -> impl Iterator<Item = (Value, Value)> {
        self.old.iter().map(|&old| (old, self.map[old.index()]))
    }

    /// Rewrites the arguments of one instruction.
    pub fn apply_to(&self, func: &mut Function, inst: Inst) {
        for arg in func.args_mut(inst) {
            *arg = self.get(*arg);
        }
    }

    /// Rewrites the arguments of every instruction of the layout.
    pub fn apply(&self, func: &mut Function) {
        if self.is_empty() {
            return;
        }
        for at in 0..func.layout.len() {
            let block = func.layout[at];
            for n in 0..func.blocks[block].insts.len() {
                let inst = func.blocks[block].insts[n];
                self.apply_to(func, inst);
            }
        }
    }
}
