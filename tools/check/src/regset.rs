//! Sets of hardware registers.

use isa::{Reg, RegRange};

const WORDS: usize = 11;

/// A set of hardware registers. It can contain scalar registers and status bits, VGPRs, and accumulation
/// VGPRs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegSet([u64; WORDS]);

/// Returns the number of the bit for a register code. The scalar codes 0..=127 are their own bit numbers. The
/// next bits are for the codes 192..=255: status bits, which are read like constants. The last bits are for
/// VGPRs and accumulation VGPRs (codes 256..=767). The codes 128..=191 are constants and have no bits.
const fn bit(code: u16) -> Option<usize> {
    match code {
        0..=127 => Some(code as usize),
        192..=767 => Some(code as usize - 64),
        _ => None,
    }
}

/// Returns the register code of a bit. This is the inverse of [`bit`].
const fn code(bit: usize) -> u16 {
    if bit < 128 { bit as u16 } else { bit as u16 + 64 }
}

impl RegSet {
    /// The empty set.
    pub const EMPTY: RegSet = RegSet([0; WORDS]);
    /// All VGPRs and accumulation VGPRs.
    pub const VECTOR: RegSet = RegSet([0, 0, 0, !0, !0, !0, !0, !0, !0, !0, !0]);
    /// All VGPRs.
    pub const VGPR: RegSet = RegSet([0, 0, 0, !0, !0, !0, !0, 0, 0, 0, 0]);
    /// All scalar registers, including VCC, EXEC and M0, but without the status bits.
    pub const SCALAR: RegSet = RegSet([!0, !0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

    /// Returns the set of the registers in a range.
    pub fn from_range(range: RegRange) -> RegSet {
        let mut set = RegSet::EMPTY;
        set.insert(range);
        set
    }

    /// Adds the registers of a range.
    pub fn insert(&mut self, range: RegRange) {
        for reg in range.first.0..range.first.0.saturating_add(u16::from(range.len)) {
            if let Some(bit) = bit(reg) {
                self.0[bit / 64] |= 1 << (bit % 64);
            }
        }
    }

    /// Returns whether a register is in the set.
    pub fn contains(&self, reg: Reg) -> bool {
        bit(reg.0).is_some_and(|bit| self.0[bit / 64] >> (bit % 64) & 1 != 0)
    }

    /// Returns whether the sets have a common register.
    #[inline(always)]
    pub fn intersects(&self, other: &RegSet) -> bool {
        let mut any = 0;
        for word in 0..WORDS {
            any |= self.0[word] & other.0[word];
        }
        any != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |any, word| any | word) == 0
    }

    /// Returns the intersection.
    pub fn and(&self, other: &RegSet) -> RegSet {
        RegSet(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Returns the union.
    pub fn or(&self, other: &RegSet) -> RegSet {
        RegSet(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Returns the registers that are not in `other`.
    pub fn without(&self, other: &RegSet) -> RegSet {
        RegSet(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Adds all registers of `other`.
    #[inline(always)]
    pub fn add(&mut self, other: &RegSet) {
        for word in 0..WORDS {
            self.0[word] |= other.0[word];
        }
    }

    /// Returns the registers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| Reg(code(word * 64 + bit)))
        })
    }

    /// Returns the registers of the set as ranges of consecutive registers, in ascending order.
    pub fn groups(&self) -> impl Iterator<Item = RegRange> {
        let mut rest = *self;
        std::iter::from_fn(move || {
            let group = rest.first_group()?;
            rest = rest.without(&RegSet::from_range(group));
            Some(group)
        })
    }

    /// Returns the first range of consecutive registers.
    pub fn first_group(&self) -> Option<RegRange> {
        let word = self.0.iter().position(|word| *word != 0)?;
        let first = Reg(code(word * 64 + self.0[word].trailing_zeros() as usize));
        let mut len = 1;
        while len < u8::MAX && self.contains(first.offset(u16::from(len))) {
            len += 1;
        }
        Some(RegRange { first, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_has_its_own_bit() {
        for reg in (0..=127).chain(235..=254).chain(256..=767) {
            let set = RegSet::from_range(RegRange { first: Reg(reg), len: 1 });
            assert_eq!(set.iter().collect::<Vec<_>>(), [Reg(reg)]);
            assert_eq!(set.intersects(&RegSet::VECTOR), reg >= 256);
            assert_eq!(set.intersects(&RegSet::SCALAR), reg < 128);
        }
        assert!(RegSet::from_range(RegRange { first: Reg(128), len: 64 }).is_empty());
    }

    #[test]
    fn groups() {
        let set = RegSet::from_range(RegRange { first: Reg::vgpr(4), len: 3 });
        assert_eq!(set.first_group(), Some(RegRange { first: Reg::vgpr(4), len: 3 }));
        assert_eq!(RegSet::EMPTY.first_group(), None);
        let two = set.or(&RegSet::from_range(RegRange { first: Reg(106), len: 2 }));
        let groups = [RegRange { first: Reg(106), len: 2 }, RegRange { first: Reg::vgpr(4), len: 3 }];
        assert_eq!(two.groups().collect::<Vec<_>>(), groups);
    }
}
