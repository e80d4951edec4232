//! Branches over exactly 63 dwords, which gfx101x takes wrongly: an `s_nop` behind such a branch makes the distance another.
//!
//! The nop stands at the head of the next block; behind the table, if the branch is an entry of a jump table, whose entries must
//! stay next to each other.
//!
//! # Source
//! LLVM's `FeatureOffset3fBug` of gfx1010 to gfx1013; `check` has the rule as `offset-3f-branch`.
//! # Requires
//! Final code, branch islands included. What is added is one wait state: what waits and hazards established holds.
//! # Guarantees
//! No branch over 63 dwords. Distances only grow, each by as many dwords as nops were added on its way: a target may be out of reach
//! then.
//! # Time
//! Linear: from the last block to the first. What is behind a branch is settled when its turn comes; a nop behind it moves only what
//! is ahead of it. A table is laid out again for each nop that its entries want.

use crate::islands::target_of;
use cranelift_entity::{EntityRef, SecondaryMap};
use isa::{Feature, MBlock, MachFunc, MachInst, Note, Operand, Subtarget, op};
use std::ops::Range;

/// The distance, in dwords from the end of the branch.
const WRONG: u32 = 63;
const WHY: &str = "else a branch would be over 63 dwords, which this processor takes wrongly";

/// Mends a function; the number of nops that this took.
pub fn run(func: &mut MachFunc, target: &Subtarget) -> usize {
    if !target.has(Feature::BRANCH_63_BUG) {
        return 0;
    }
    let mut note = None;
    let mut nops = 0;
    // Dwords from where a block begins to the end of the code.
    let mut to_end = SecondaryMap::with_capacity(func.blocks.len());
    let count = func.blocks.len();
    let mut end = count;
    while end > 0 {
        let first = first_of_table(func, end - 1);
        // Nothing is behind the last block to branch to.
        while is_wrong(func, target, first..end, &mut to_end) && end < count {
            let note = *note.get_or_insert_with(|| func.note(Note::Text(WHY)));
            let behind = &mut func.blocks[MBlock::new(end)].insts;
            let loc = behind.first().map_or(0, |inst| inst.loc);
            behind.insert(0, MachInst { loc, note, ..MachInst::new(op::S_NOP, &[Operand::Imm(0)]) });
            to_end[MBlock::new(end)] += 1;
            nops += 1;
        }
        end = first;
    }
    nops
}

/// The first block of the jump table that ends with a block; the block itself, if none does.
fn first_of_table(func: &MachFunc, last: usize) -> usize {
    let goes_on = |at: &usize| func.blocks[MBlock::new(*at)].next_entry().is_some();
    (0..last).rev().take_while(goes_on).last().unwrap_or(last)
}

/// Lays out some blocks in front of those that are laid out; whether one of their branches has the wrong distance.
fn is_wrong(
    func: &MachFunc,
    target: &Subtarget,
    blocks: Range<usize>,
    to_end: &mut SecondaryMap<MBlock, u32>,
) -> bool {
    let mut at = func.blocks.get(MBlock::new(blocks.end)).map_or(0, |_| to_end[MBlock::new(blocks.end)]);
    let mut wrong = false;
    for id in blocks.rev().map(MBlock::new) {
        for inst in func.blocks[id].insts.iter().rev() {
            // Only forwards: backwards the number is negative.
            let ahead = target_of(inst).filter(|&to| to > id);
            wrong |= ahead.is_some_and(|to| at == to_end[to] + WRONG);
            at += isa::size_in_words(target, inst) as u32;
        }
        to_end[id] = at;
    }
    wrong
}
