//! Which hardware registers an instruction touches, and sets of them.

use isa::table::Role;
use isa::{MachInst, Operand, Reg, RegRange, Target};

/// How an instruction touches a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The registers.
    pub range: RegRange,
    /// Whether they are read.
    pub read: bool,
    /// Whether they are written.
    pub write: bool,
}

impl Access {
    fn new(role: Role, range: RegRange) -> Access {
        Access { range, read: role != Role::Def, write: role != Role::Use }
    }
}

/// Calls `f` for every explicit register operand.
#[inline]
pub fn explicit(inst: &MachInst, mut f: impl FnMut(Access)) {
    inst.for_each_reg(|role, operand| {
        if let Operand::Reg(range) = operand {
            f(Access::new(role, range));
        }
    });
}

/// Calls `f` for every register operand, explicit or not.
#[inline]
pub fn all(target: &Target, inst: &MachInst, mut f: impl FnMut(Access)) {
    inst.for_each_hw_reg(target, |role, range| f(Access::new(role, range)));
}

/// The first register of `a` that is in `b` too; the ranges overlap.
pub fn first_common(a: RegRange, b: RegRange) -> Reg {
    a.first.max(b.first)
}

const WORDS: usize = 12;

/// A set of hardware registers: the scalar ones in two words, VGPRs and accumulation VGPRs in four each, the
/// pretended ones of [`crate::rules`] in two.
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
            _ => None, // SCC and kin: no memory operation writes them
        }
    }

    /// Adds a range.
    #[inline]
    pub fn insert(&mut self, range: RegRange) {
        for reg in range.first.0..range.first.0 + u16::from(range.len) {
            if let Some(bit) = Self::bit(reg) {
                self.0[bit / 64] |= 1 << (bit % 64);
            }
        }
    }

    /// Whether any register of the range is in the set.
    #[inline]
    pub fn hits(&self, range: RegRange) -> bool {
        (range.first.0..range.first.0 + u16::from(range.len))
            .any(|reg| Self::bit(reg).is_some_and(|bit| self.0[bit / 64] >> (bit % 64) & 1 != 0))
    }

    /// Adds all of `other`.
    pub fn union(&mut self, other: &RegSet) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    /// Whether it has no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }
}
