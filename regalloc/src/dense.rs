//! Which registers are live where blocks meet, as sets of bits: one word says it of 64 registers at once.
//!
//! Used where sets for all blocks are not larger than the code. Where one block follows the other, nearly the same
//! registers are live, so whoever walks the code looks at the difference.

use crate::stream::edges;
use isa::MachFunc;

/// Not live across blocks.
const NONE: u32 = u32::MAX;

/// Sets of registers.
#[derive(Default)]
pub(crate) struct Dense {
    /// Words of a set; 0 if there are none.
    words: usize,
    /// Registers by number, and numbers by register.
    registers: Vec<u32>,
    number: Vec<u32>,
    live_in: Vec<u64>,
    live_out: Vec<u64>,
    written: Vec<u64>,
}

/// The members of a set.
pub(crate) fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let bits = |word: u64| std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
    set.iter().enumerate().flat_map(move |(at, &word)| {
        bits(word).take_while(|&rest| rest != 0).map(move |rest| 64 * at + rest.trailing_zeros() as usize)
    })
}

impl Dense {
    /// There are no sets.
    pub fn clear(&mut self) {
        self.words = 0;
    }

    /// Words of a set.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Whether there are sets.
    pub fn is_used(&self) -> bool {
        self.words > 0
    }

    /// Empty sets of some of the registers, for each block.
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

    /// A block reads a register before it writes it.
    pub fn read(&mut self, number: usize, block: u32) {
        self.live_in[self.words * block as usize + number / 64] |= 1 << (number % 64);
    }

    /// A block writes a register.
    pub fn write(&mut self, number: usize, block: u32) {
        self.written[self.words * block as usize + number / 64] |= 1 << (number % 64);
    }

    /// Completes the sets. Blocks are in an order in which few edges lead back.
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

    /// Number of a register that lives across blocks.
    pub fn number(&self, reg: u32) -> Option<usize> {
        let number = *self.number.get(reg as usize).filter(|_| self.words > 0)?;
        (number != NONE).then_some(number as usize)
    }

    /// The register of a number.
    pub fn register(&self, number: usize) -> u32 {
        self.registers[number]
    }

    /// Live at a block's end, by number.
    pub fn out_set(&self, block: usize) -> &[u64] {
        &self.live_out[block * self.words..][..self.words]
    }

    /// Live at a block's beginning, by number.
    pub fn in_set(&self, block: usize) -> &[u64] {
        &self.live_in[block * self.words..][..self.words]
    }

    /// Members of the sets at the beginnings of all blocks.
    pub fn size(&self) -> usize {
        self.live_in.iter().map(|word| word.count_ones() as usize).sum()
    }
}
