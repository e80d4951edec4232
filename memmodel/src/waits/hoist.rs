//! Waits before loops.
//!
//! An operation that code before a loop started and the loop uses is waited for at its first use, in the loop. Seen from
//! there the operation has age 0 on the first turn, so the wait asks on every turn for all that the loop itself issued:
//! prefetched loads never get to fly. If nothing in the loop starts the operation again, a wait in the block that leads
//! into the loop makes the other one vanish.
//!
//! Where a loop lies is guessed from layout: from the target of a backward branch to that branch. A wrong guess costs
//! speed only, because what is inserted here is a wait.

use super::{Scratch, State, transfer};
use crate::counters::{CLASSES, Wait};
use crate::effects::{self, RegSet};
use isa::table::Flags;
use isa::{MBlock, MachFunc, MachInst, Note, Operand, RegRange, Subtarget, op};
use smallvec::SmallVec;

/// Inserts waits before loops. Returns whether there were any; the states at block heads are then out of date.
pub(super) fn run(func: &mut MachFunc, target: &Subtarget, scratch: &Scratch) -> bool {
    let mut inserted = false;
    for head in 0..func.blocks.len() {
        let Some(entry) = scratch.entry[head].as_ref().filter(|entry| !entry.ops.is_empty()) else {
            continue;
        };
        let Some(last) = last_back_edge(func, head) else { continue };
        let wanted = wanted(func, target, scratch, entry, head, last);
        if !wanted.is_empty() {
            inserted |= insert(func, target, scratch, head, last, &wanted);
        }
    }
    inserted
}

/// The last block from which a branch goes back to `head`.
fn last_back_edge(func: &MachFunc, head: usize) -> Option<usize> {
    let to = MBlock::from_u32(head as u32);
    (head..func.blocks.len()).rev().find(|&block| {
        let data = &func.blocks[MBlock::from_u32(block as u32)];
        data.linear.iter().flatten().any(|edge| edge.to == to)
    })
}

/// What is in flight at the head, used in the loop, and not in flight when the loop comes around.
fn wanted(
    func: &MachFunc,
    target: &Subtarget,
    scratch: &Scratch,
    entry: &State,
    head: usize,
    last: usize,
) -> SmallVec<[RegRange; 8]> {
    let to = MBlock::from_u32(head as u32);
    let blocks = || (head..=last).map(|block| MBlock::from_u32(block as u32));
    let mut around = RegSet::EMPTY;
    for block in
        blocks().filter(|block| func.blocks[*block].linear.iter().flatten().any(|edge| edge.to == to))
    {
        around.union(&exit(func, target, scratch, block).regs);
    }
    let used = |range| blocks().any(|block| func.blocks[block].insts.iter().any(|inst| touches(inst, range)));
    let outside = entry.ops.iter().filter(|pending| !around.hits(pending.range));
    let results = outside.filter(|pending| !CLASSES[usize::from(pending.class)].reads_sources);
    results.map(|pending| pending.range).filter(|range| used(*range)).collect()
}

/// The state at the end of a block.
fn exit(func: &MachFunc, target: &Subtarget, scratch: &Scratch, block: MBlock) -> State {
    let mut state = scratch.entry[block.as_u32() as usize].clone().unwrap_or_default();
    transfer(func, target, &func.blocks[block].insts, &mut state);
    state
}

fn touches(inst: &MachInst, range: RegRange) -> bool {
    let mut found = false;
    effects::explicit(inst, |access| found |= access.range.overlaps(range));
    found
}

/// Puts waits at the ends of the blocks that lead into the loop, if each leads nowhere else.
fn insert(
    func: &mut MachFunc,
    target: &Subtarget,
    scratch: &Scratch,
    head: usize,
    last: usize,
    wanted: &[RegRange],
) -> bool {
    let to = MBlock::from_u32(head as u32);
    let outside: SmallVec<[MBlock; 4]> = func
        .blocks
        .iter()
        .filter(|(block, _)| !(head..=last).contains(&(block.as_u32() as usize)))
        .filter(|(_, data)| data.linear.iter().flatten().any(|edge| edge.to == to))
        .map(|(block, _)| block)
        .collect();
    if outside.iter().any(|block| func.blocks[*block].linear.iter().flatten().count() != 1) {
        return false;
    }
    let mut inserted = false;
    for block in outside {
        let mut wait = Wait::NONE;
        for pending in exit(func, target, scratch, block).ops {
            if wanted.contains(&pending.range) {
                wait.demand(CLASSES[usize::from(pending.class)].counter, pending.age);
            }
        }
        if !wait.is_none() {
            append(func, target, block, wait);
            inserted = true;
        }
    }
    inserted
}

/// Puts a wait before the branch of a block, or at its end.
fn append(func: &mut MachFunc, target: &Subtarget, block: MBlock, wait: Wait) {
    let note = func.note(Note::Text("a use in the loop that follows"));
    let data = &mut func.blocks[block];
    let branches = data.insts.last().is_some_and(|inst| inst.op.row().flags.contains(Flags::BRANCH));
    let at = data.insts.len() - usize::from(branches);
    let imm = Operand::Imm(wait.pack(target));
    let loc = data.insts.last().map_or(0, |inst| inst.loc);
    data.insts.insert(at, MachInst { note, loc, ..MachInst::new(op::S_WAITCNT, &[imm]) });
    data.term += u32::from(data.term as usize > at);
}
