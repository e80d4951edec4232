//! Moves waits from loops to the code before them.
//!
//! If code before a loop starts an operation whose result the loop uses, the wait is at the first use, inside
//! the loop. There the operation has age 0 in the first iteration. The wait therefore requires, in every
//! iteration, that all operations issued by the loop itself are complete as well. Prefetched loads could then
//! never stay in flight. If no instruction in the loop starts the operation again, a wait in the block before
//! the loop makes the wait in the loop unnecessary.
//!
//! The extent of a loop is guessed from the layout: from the target of a backward branch to that branch. A
//! wrong guess costs only speed, because the pass inserts nothing but waits.

use super::{State, transfer};
use crate::Model;
use crate::counters::{CLASSES, Tells, Wait};
use crate::effects::{self, RegSet};
use callconv::Convention;
use isa::table::Flags;
use isa::{MBlock, MachInst, RegRange};
use mir::flow::Heads;
use mir::{MachFunc, Note};

/// Reusable memory of the search.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The predecessors of a block are `preds[starts[block]..starts[block + 1]]`, in layout order.
    starts: Vec<u32>,
    preds: Vec<MBlock>,
    /// By block, the registers that its instructions name.
    named: Vec<RegSet>,
    /// Registers for which a wait before the loop is worthwhile.
    wanted: Vec<RegRange>,
    /// State at the end of a block.
    exit: State,
}

/// A loop, as the layout shows it.
#[derive(Clone, Copy)]
struct Loop {
    head: usize,
    last: usize,
}

impl Loop {
    fn has(self, block: MBlock) -> bool {
        (self.head..=self.last).contains(&(block.as_u32() as usize))
    }
}

/// Inserts waits before loops. Returns whether it inserted any. The states at the heads of blocks are then
/// out of date.
pub(super) fn run(
    func: &mut MachFunc,
    (model, convention): (&Model, Convention),
    scratch: &mut super::Scratch,
) -> bool {
    let backward = |(block, data): (MBlock, &mir::MachBlock)| {
        data.linear.iter().flatten().any(|edge| edge.to.as_u32() <= block.as_u32())
    };
    if !func.blocks.iter().any(backward) {
        return false;
    }
    let super::Scratch { heads, hoist, .. } = scratch;
    hoist.read(func);
    let mut inserted = false;
    for head in 0..func.blocks.len() {
        if heads.get(MBlock::from_u32(head as u32)).is_none_or(|state| state.ops.is_empty()) {
            continue;
        }
        let last = hoist.preds_of(head).last().map_or(0, |block| block.as_u32() as usize);
        if last < head || hoist.preds_of(head).is_empty() {
            continue;
        }
        let within = Loop { head, last };
        let states = Entries { heads, convention };
        hoist.want(func, model, &states, within);
        if !hoist.wanted.is_empty() {
            inserted |= hoist.insert(func, model, &states, within);
        }
    }
    inserted
}

/// The states at block heads.
struct Entries<'a> {
    heads: &'a Heads<State>,
    convention: Convention,
}

impl Entries<'_> {
    /// Computes the state at the end of a block.
    fn exit(&self, func: &MachFunc, model: &Model, block: MBlock, state: &mut State) {
        state.begin(self.heads.get(block));
        transfer(func, (model, self.convention), &func.blocks[block].insts, state);
    }
}

impl Scratch {
    /// Collects the predecessors and the registers of all blocks.
    fn read(&mut self, func: &MachFunc) {
        let count = func.blocks.len();
        self.starts.clear();
        self.starts.resize(count + 2, 0);
        // The predecessors of block `b` are first counted at index `b + 2`. After summation, index `b + 1`
        // has the start of the list of block `b`. Filling the list moves this number to the end of the list,
        // which is the start of the list of block `b + 1`.
        for edge in func.blocks.values().flat_map(|data| data.linear.iter().flatten()) {
            self.starts[edge.to.as_u32() as usize + 2] += 1;
        }
        (2..count + 2).for_each(|index| self.starts[index] += self.starts[index - 1]);
        self.preds.clear();
        self.preds.resize(self.starts[count + 1] as usize, MBlock::from_u32(0));
        self.named.clear();
        for (block, data) in func.blocks.iter() {
            for edge in data.linear.iter().flatten() {
                let place = &mut self.starts[edge.to.as_u32() as usize + 1];
                self.preds[*place as usize] = block;
                *place += 1;
            }
            let mut named = RegSet::EMPTY;
            data.insts.iter().for_each(|inst| effects::explicit(inst, |access| named.insert(access.range)));
            self.named.push(named);
        }
    }

    fn preds_of(&self, block: usize) -> &[MBlock] {
        &self.preds[self.starts[block] as usize..self.starts[block + 1] as usize]
    }

    /// Finds the registers for which a wait should move in front of the loop. Three conditions must hold: the
    /// register is in flight when the loop is entered, the loop uses it, and no memory operation of the loop
    /// writes it again.
    fn want(&mut self, func: &MachFunc, model: &Model, states: &Entries<'_>, within: Loop) {
        let mut around = RegSet::EMPTY;
        let mut exit = std::mem::take(&mut self.exit);
        for &block in self.preds_of(within.head).iter().filter(|block| within.has(**block)) {
            states.exit(func, model, block, &mut exit);
            around.union(&exit.regs);
        }
        self.exit = exit;
        self.wanted.clear();
        let head = states.heads.get(MBlock::from_u32(within.head as u32));
        let results = head.into_iter().flat_map(|state| &state.ops);
        let results = results.filter(|pending| CLASSES[usize::from(pending.class)].tells == Tells::Done);
        self.wanted.extend(results.map(|pending| pending.range).filter(|range| !around.hits(*range)));
        if !self.wanted.is_empty() {
            let mut named = RegSet::EMPTY;
            self.named[within.head..=within.last].iter().for_each(|block| named.union(block));
            self.wanted.retain(|range| named.hits(*range));
        }
    }

    /// Inserts waits at the ends of the blocks from which the loop is entered, if none of these blocks has
    /// another successor.
    fn insert(&mut self, func: &mut MachFunc, model: &Model, states: &Entries<'_>, within: Loop) -> bool {
        let range = self.starts[within.head] as usize..self.starts[within.head + 1] as usize;
        let outside = |preds: &[MBlock], index: usize| Some(preds[index]).filter(|block| !within.has(*block));
        let leads_nowhere_else = |block: MBlock| func.blocks[block].linear.iter().flatten().count() == 1;
        if !range.clone().filter_map(|index| outside(&self.preds, index)).all(leads_nowhere_else) {
            return false;
        }
        let mut inserted = false;
        for block in range.filter_map(|index| outside(&self.preds, index)) {
            states.exit(func, model, block, &mut self.exit);
            let mut wait = Wait::NONE;
            for pending in &self.exit.ops {
                if self.wanted.contains(&pending.range) {
                    wait.demand(
                        CLASSES[usize::from(pending.class)].counter,
                        self.exit.age_of(model, pending),
                    );
                }
            }
            if !wait.is_none() {
                append(func, model, block, wait);
                inserted = true;
            }
        }
        inserted
    }
}

/// Inserts waits before the branch of a block, or at its end.
fn append(func: &mut MachFunc, model: &Model, block: MBlock, wait: Wait) {
    let note = func.note(Note::Text("a use in the loop that follows"));
    let data = &mut func.blocks[block];
    let branches = data.insts.last().is_some_and(|inst| inst.op.row().flags.contains(Flags::BRANCH));
    let loc = data.insts.last().map_or(0, |inst| inst.loc);
    let mut left = wait;
    for wait in model.subtarget().wait_instructions() {
        let Some(inst) = wait.inst(model.subtarget(), left) else { continue };
        wait.counters.iter().for_each(|&counter| left.0[counter as usize] = Wait::ANY);
        let at = data.insts.len() - usize::from(branches);
        data.insts.insert(at, MachInst { note, loc, ..inst });
        data.term += u32::from(data.term as usize > at);
    }
}
