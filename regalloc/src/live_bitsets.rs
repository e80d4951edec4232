//! Sets of the registers that are live at block boundaries, as bit sets: one word covers 64 registers.
//!
//! These sets are used if the sets of all blocks together are not larger than the code. In adjacent blocks
//! nearly the same registers are live, so passes that walk the code only need to process the differences
//! between two sets.

use crate::stream::edges;
use mir::MachFunc;

/// Number of a register that is not live across blocks.
const NONE: u32 = u32::MAX;

/// Bit sets of registers at block entries and ends.
#[derive(Default)]
pub(crate) struct Dense {
    /// Number of words per set; 0 if there are no sets.
    words: usize,
    /// In the bit sets, each register has a number, which is the position of its bit. `registers` has the
    /// register with each number, and `number` the number of each register.
    registers: Vec<u32>,
    number: Vec<u32>,
    live_in: Vec<u64>,
    live_out: Vec<u64>,
    written: Vec<u64>,
}

/// Returns the members of a set.
pub(crate) fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let bits = |word: u64| std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
    set.iter().enumerate().flat_map(move |(at, &word)| {
        bits(word).take_while(|&rest| rest != 0).map(move |rest| 64 * at + rest.trailing_zeros() as usize)
    })
}

impl Dense {
    /// Removes all sets.
    pub fn clear(&mut self) {
        self.words = 0;
    }

    /// Returns the number of words per set.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns whether there are sets.
    pub fn is_used(&self) -> bool {
        self.words > 0
    }

    /// Creates empty sets of the chosen registers for each block.
    pub fn reset(&mut self, chosen: &[u32], registers: usize, blocks: usize) {
        self.words = chosen.len().div_ceil(64);
        self.registers.clear();
        self.registers.extend_from_slice(chosen);
        self.number.clear();
        self.number.resize(registers, NONE);
        (0..).zip(chosen).for_each(|(number, &reg)| self.number[reg as usize] = number);
        for sets in [&mut self.live_in, &mut self.live_out, &mut self.written] {
            sets.clear();
            sets.resize(self.words * blocks, 0);
        }
    }

    /// Records that a block reads a register before writing it.
    pub fn read(&mut self, number: usize, block: u32) {
        self.live_in[self.words * block as usize + number / 64] |= 1 << (number % 64);
    }

    /// Records that a block writes a register.
    pub fn write(&mut self, number: usize, block: u32) {
        self.written[self.words * block as usize + number / 64] |= 1 << (number % 64);
    }

    /// Computes the live sets of all blocks, by iteration to a fixpoint. If few edges go backwards in the
    /// order of blocks, few iterations are needed.
    pub fn solve(&mut self, func: &MachFunc, class: usize) {
        let words = self.words;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (block, data) in func.blocks.iter().rev() {
                let own = block.as_u32() as usize * words;
                for edge in edges(data, class).iter().flatten() {
                    let to = edge.to.as_u32() as usize * words;
                    for word in 0..words {
                        self.live_out[own + word] |= self.live_in[to + word];
                    }
                }
                for at in own..own + words {
                    let before = self.live_out[at] & !self.written[at];
                    changed |= before & !self.live_in[at] != 0;
                    self.live_in[at] |= before;
                }
            }
        }
    }

    /// Returns the number of a register, if it is in the sets.
    pub fn number(&self, reg: u32) -> Option<usize> {
        let number = *self.number.get(reg as usize).filter(|_| self.words > 0)?;
        (number != NONE).then_some(number as usize)
    }

    /// Returns the register with a number.
    pub fn register(&self, number: usize) -> u32 {
        self.registers[number]
    }

    /// Returns the set of registers that are live at a block's end. Bit `n` stands for the register that has
    /// the number `n` in these sets.
    pub fn out_set(&self, block: usize) -> &[u64] {
        &self.live_out[block * self.words..][..self.words]
    }

    /// Returns the set of registers that are live at a block's beginning. Bit `n` stands for the register
    /// that has the number `n` in these sets.
    pub fn in_set(&self, block: usize) -> &[u64] {
        &self.live_in[block * self.words..][..self.words]
    }

    /// Returns the sum, over all blocks, of the number of registers in the set at the block's beginning.
    pub fn size(&self) -> usize {
        self.live_in.iter().map(|word| word.count_ones() as usize).sum()
    }
}
