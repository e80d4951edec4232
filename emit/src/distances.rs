//! Avoids branches over exactly 63 dwords, which gfx101x executes wrongly: an `s_nop` after such a branch
//! changes its distance.
//!
//! The nop is placed at the beginning of the next block. If the branch is an entry of a jump table, the nop
//! is placed after the table, because the entries of a table must be contiguous.
//!
//! # Source
//! LLVM's `FeatureOffset3fBug` of gfx1010 to gfx1013; `check` has the rule as `offset-3f-branch`.
//! # Requires
//! Final code, including branch islands. The pass only adds wait states, so existing waits and hazard
//! mitigations stay valid.
//! # Guarantees
//! No branch over 63 dwords. Distances only grow, each by the number of nops between branch and target. So a
//! target may be out of range afterwards.
//! # Time
//! Linear: the pass goes from the last block to the first. When it reaches a branch, the code after the
//! branch is final, and a nop inserted there moves only earlier code. A jump table is laid out again for each
//! nop that its entries need.

use crate::islands::target_of;
use cranelift_entity::{EntityRef, SecondaryMap};
use isa::{Feature, MBlock, MachInst, Operand, Subtarget, op};
use mir::{MachFunc, Note};
use std::ops::Range;

/// Harmful distance, in dwords from the end of the branch.
const WRONG: u32 = 63;
const WHY: &str = "else a branch would be over 63 dwords, which this processor takes wrongly";

/// Inserts nops into a function. Returns the number of nops.
pub fn run(func: &mut MachFunc, target: &Subtarget) -> usize {
    if !target.has(Feature::BRANCH_63_BUG) {
        return 0;
    }
    let mut note = None;
    let mut nops = 0;
    // For each block that the pass has finished, the number of dwords from the beginning of the block to the
    // end of the code.
    let mut to_end = SecondaryMap::with_capacity(func.blocks.len());
    let count = func.blocks.len();
    let mut end = count;
    while end > 0 {
        let first = first_of_table(func, end - 1);
        // No branch goes forward from the last block.
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

/// Returns the first block of a jump table if block `last` is the last entry of the table. Otherwise returns
/// `last`.
fn first_of_table(func: &MachFunc, last: usize) -> usize {
    let goes_on = |at: &usize| func.blocks[MBlock::new(*at)].next_entry().is_some();
    (0..last).rev().take_while(goes_on).last().unwrap_or(last)
}

/// Computes `to_end` (the number of dwords to the end of the code) for the blocks in `blocks`; the blocks
/// after them are finished already. Returns whether a branch in `blocks` goes over exactly 63 dwords, which
/// the hardware executes wrongly.
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
            // Only forward branches can be affected: the distance of a backward branch is negative, so it is
            // never 63 dwords.
            let ahead = target_of(inst).filter(|&to| to > id);
            wrong |= ahead.is_some_and(|to| at == to_end[to] + WRONG);
            at += isa::size_in_words(target, inst) as u32;
        }
        to_end[id] = at;
    }
    wrong
}
