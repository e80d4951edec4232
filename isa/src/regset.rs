//! Sets of hardware registers.

use crate::operand::RegRange;
use crate::reg::Reg;

const WORDS: usize = 12;

/// A set of hardware registers, stored as bits. It has two words for scalar registers, four words each for
/// VGPRs and accumulation VGPRs, and two words for registers with codes from 1024 on. The latter do not exist
/// in hardware; passes use them for state of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegSet([u64; WORDS]);

impl RegSet {
    /// The empty set.
    pub const EMPTY: RegSet = RegSet([0; WORDS]);

    #[inline]
    fn bit(reg: u16) -> Option<usize> {
        match reg {
            0..128 => Some(usize::from(reg)),
            256..768 => Some(usize::from(reg) - 128),
            1024..1152 => Some(usize::from(reg) - 384),
            _ => None, // SCC and similar registers: no memory operation writes them
        }
    }

    /// Adds a range of registers.
    #[inline]
    pub fn insert(&mut self, range: RegRange) {
        for reg in range.first.0..range.first.0 + u16::from(range.len) {
            if let Some(bit) = Self::bit(reg) {
                self.0[bit / 64] |= 1 << (bit % 64);
            }
        }
    }

    /// Returns whether any register of the range is in the set.
    #[inline]
    pub fn hits(&self, range: RegRange) -> bool {
        (range.first.0..range.first.0 + u16::from(range.len))
            .any(|reg| Self::bit(reg).is_some_and(|bit| self.0[bit / 64] >> (bit % 64) & 1 != 0))
    }

    /// Adds all registers of `other`.
    pub fn union(&mut self, other: &RegSet) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    /// Removes a range of registers.
    pub fn remove(&mut self, range: RegRange) {
        for reg in range.first.0..range.first.0 + u16::from(range.len) {
            if let Some(bit) = Self::bit(reg) {
                self.0[bit / 64] &= !(1 << (bit % 64));
            }
        }
    }

    /// Returns whether the register is in the set.
    pub fn contains(&self, reg: Reg) -> bool {
        self.hits(RegRange { first: reg, len: 1 })
    }

    /// Returns the registers in ascending order. Registers with codes from 1024 on, which do not exist in
    /// hardware, are left out.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        let codes = (0..128).chain(256..768);
        codes.map(Reg).filter(|&reg| self.contains(reg))
    }

    /// Returns the registers as ranges. A range has consecutive registers of one register file.
    pub fn ranges(&self) -> impl Iterator<Item = RegRange> + '_ {
        let mut rest = self.iter().peekable();
        std::iter::from_fn(move || {
            let first = rest.next()?;
            let mut len = 1;
            let follows = |reg: &Reg, len: u8| {
                reg.0 == first.0 + u16::from(len) && !reg.0.is_multiple_of(256) && len < u8::MAX
            };
            while rest.next_if(|reg| follows(reg, len)).is_some() {
                len += 1;
            }
            Some(RegRange { first, len })
        })
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }
}
