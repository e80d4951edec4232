//! The names of the families, which family each one starts from, and sets of families.

/// Identifies a family of processors.
///
/// There is deliberately no order and no equality: what differs between families is a fact of
/// [`Arch`](super::Arch), or a processor's [`Feature`](super::Feature).
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum ArchId {
    /// Southern Islands.
    Gfx6,
    /// Sea Islands.
    Gfx7,
    /// Volcanic Islands.
    Gfx8,
    /// Vega and gfx908.
    Gfx9,
    /// CDNA 2.
    Gfx90a,
    /// CDNA 3.
    Gfx940,
    /// RDNA 1.
    Gfx10,
    /// RDNA 2.
    Gfx10_3,
    /// No family: see [`Arch::UNDEFINED`](super::Arch::UNDEFINED).
    Undefined,
}

use ArchId::{Gfx6, Gfx7, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx90a, Gfx940, Undefined};

impl ArchId {
    /// Number of identifiers.
    pub const COUNT: usize = Undefined as usize + 1;

    /// All families, in order.
    pub const ALL: [ArchId; ArchId::COUNT] =
        [Gfx6, Gfx7, Gfx8, Gfx9, Gfx90a, Gfx940, Gfx10, Gfx10_3, Undefined];

    /// Returns the family whose facts and instructions this family inherits, unless it says otherwise.
    pub const fn base(self) -> Option<ArchId> {
        match self {
            Gfx6 | Undefined => None,
            Gfx7 => Some(Gfx6),
            Gfx8 => Some(Gfx7),
            Gfx9 => Some(Gfx8),
            Gfx90a => Some(Gfx9),
            Gfx940 => Some(Gfx90a),
            Gfx10 => Some(Gfx9),
            Gfx10_3 => Some(Gfx10),
        }
    }

    /// Returns whether the family is `ancestor` or inherits from it, directly or through other families.
    pub(crate) const fn inherits(self, ancestor: ArchId) -> bool {
        let mut family = self;
        loop {
            if family as u8 == ancestor as u8 {
                return true;
            }
            family = match family.base() {
                Some(base) => base,
                None => return false,
            };
        }
    }
}

/// A set of families. It consists of a family and all families that inherit from it, perhaps without some of
/// them. A new family belongs to the set if the family from which it inherits does.
#[derive(Clone, Copy, Debug)]
pub struct ArchSet(u16);

const _: () = assert!(ArchId::COUNT <= u16::BITS as usize);

impl ArchSet {
    /// All families.
    pub(crate) const ALL: ArchSet = ArchSet::since(Gfx6);

    /// Returns the set of `first` and all families that inherit from it.
    pub(crate) const fn since(first: ArchId) -> ArchSet {
        let (mut set, mut n) = (0, 0);
        while n < ArchId::COUNT {
            if ArchId::ALL[n].inherits(first) {
                set |= 1 << n;
            }
            n += 1;
        }
        ArchSet(set)
    }

    /// Returns the set without `first` and the families that inherit from it.
    pub(crate) const fn until(self, first: ArchId) -> ArchSet {
        ArchSet(self.0 & !ArchSet::since(first).0)
    }

    /// Returns whether the set contains a family.
    #[inline]
    pub const fn contains(self, family: ArchId) -> bool {
        self.0 >> family as u8 & 1 != 0
    }
}
