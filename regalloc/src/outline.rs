//! Outlines, which are live ranges without holes. They are computed in linear time, for functions in which
//! most registers must be spilled anyway.
//!
//! Computing an exact range takes time for each block through which the register is live. If thousands of
//! registers are live through thousands of blocks, this takes quadratic time, although most registers must be
//! spilled whatever holes their ranges have.
//!
//! The outline of a register extends from the first program point that mentions the register to the last one.
//! It is extended to the end of each loop that mentions the register but does not contain its first mention.
//! It therefore covers the exact range.

use crate::live::Interval;
use crate::stream::{Streams, edges};
use cranelift_entity::EntityRef;
use isa::table::Role;
use mir::MachFunc;

const NONE: u32 = u32::MAX;

/// A loop: the blocks from its header to its last back edge.
#[derive(Clone, Copy)]
struct Loop {
    first: u32,
    last: u32,
    parent: u32,
}

/// Outlines, and scratch memory for computing them.
#[derive(Default)]
pub(crate) struct Outline {
    /// Outline (live range without holes) of each register. It is empty if no instruction mentions the
    /// register.
    pub range: Vec<Interval>,
    loops: Vec<Loop>,
    /// Innermost loop of each block.
    innermost: Vec<u32>,
    /// For each block, the last block with a back edge to it.
    back: Vec<u32>,
    /// For each register, the block that mentions it first in layout order.
    home: Vec<u32>,
}

impl Outline {
    /// Computes the outlines (live ranges without holes) of a class.
    pub fn run(&mut self, func: &MachFunc, streams: &Streams, class: usize) {
        self.find_loops(func, class);
        let registers = streams.phys_base as usize + 2;
        self.range.clear();
        self.range.resize(registers, (0, 0));
        self.home.clear();
        self.home.resize(registers, NONE);
        let stream = &streams.class[class];
        let end = streams.block_pos.last().map_or(0, |&(_, end)| end);
        for event in &stream.events {
            for op in stream.ops_of(event) {
                for &reg in stream.regs_of(op) {
                    // The first mention of the register in layout order is a use. The value therefore comes
                    // over an edge that goes backwards in the layout, and the register may be live anywhere
                    // in the function.
                    if self.home[reg as usize] == NONE && op.role != Role::Def {
                        (self.home[reg as usize], self.range[reg as usize]) = (0, (0, end));
                    }
                    self.mention(reg as usize, event.pos, event.block, streams);
                }
            }
        }
        stream.whole.iter().for_each(|&reg| self.range[reg as usize] = (0, end));
    }

    fn mention(&mut self, reg: usize, pos: u32, block: u32, streams: &Streams) {
        if self.home[reg] == NONE {
            self.home[reg] = block;
            self.range[reg] = (pos, pos + 4);
        }
        let mut end = pos + 4;
        let mut around = self.innermost[block as usize];
        while let Some(Loop { first, last, parent }) = self.loops.get(around as usize).copied()
            && first > self.home[reg]
        {
            end = streams.block_pos[last as usize].1;
            around = parent;
        }
        self.range[reg].1 = self.range[reg].1.max(end);
    }

    /// Finds loops by their back edges. If two loops overlap and neither contains the other, one is treated
    /// as nested in the other.
    fn find_loops(&mut self, func: &MachFunc, class: usize) {
        self.back.clear();
        self.back.resize(func.blocks.len(), NONE);
        for (from, block) in func.blocks.iter() {
            for edge in edges(block, class).iter().flatten().filter(|edge| edge.to <= from) {
                self.back[edge.to.index()] = from.as_u32();
            }
        }
        self.loops.clear();
        self.innermost.clear();
        let mut open = NONE;
        for block in 0..func.blocks.len() as u32 {
            while let Some(&Loop { last, parent, .. }) = self.loops.get(open as usize)
                && last < block
            {
                open = parent;
            }
            let last = self.back[block as usize];
            if last != NONE {
                let mut around = open;
                while let Some(outer) = self.loops.get_mut(around as usize) {
                    outer.last = outer.last.max(last);
                    around = outer.parent;
                }
                self.loops.push(Loop { first: block, last, parent: open });
                open = self.loops.len() as u32 - 1;
            }
            self.innermost.push(open);
        }
    }
}
