//! Opcode numbers of an instruction, written as changes from family to family.

use crate::target::ArchId;

/// Opcode numbers by family; [`NO`] if the family does not have the instruction.
///
/// The rows of the table say only what changes: in `op(0x0c).from(Gfx8, 0x14).from(Gfx10, 0x0c)`, the number
/// is 0x0c in the first family, 0x14 from GFX8 on, and 0x0c again from GFX10 on. Each change also applies to
/// all families that inherit from the named one, so that a new family starts with the instructions of its
/// base. The changes are resolved at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes([u16; ArchId::COUNT]);

/// Marks that the family does not have the instruction.
const NO: u16 = 0xffff;

/// Opcode numbers of a pseudo-instruction, which no family has.
pub(crate) const NOWHERE: Codes = Codes([NO; ArchId::COUNT]);

/// Returns the opcode numbers of an instruction that has this number in all families.
pub(crate) const fn op(code: u16) -> Codes {
    since(ArchId::Gfx6, code)
}

/// Returns the opcode numbers of an instruction that the family `first` and those that inherit from it have,
/// with this number.
pub(crate) const fn since(first: ArchId, code: u16) -> Codes {
    NOWHERE.from(first, code)
}

impl Codes {
    /// Changes the instruction's number in a family and in those that inherit from it.
    pub(crate) const fn from(mut self, first: ArchId, code: u16) -> Codes {
        let mut n = 0;
        while n < ArchId::COUNT {
            if ArchId::ALL[n].inherits(first) {
                self.0[n] = code;
            }
            n += 1;
        }
        self
    }

    /// Removes the instruction from a family and from those that inherit from it.
    pub(crate) const fn until(self, first: ArchId) -> Codes {
        self.from(first, NO)
    }

    /// Returns the number in the opcode field of the instruction's encoding; `None` if the family does not
    /// have the instruction.
    #[inline]
    pub const fn get(&self, family: ArchId) -> Option<u16> {
        match self.0[family as usize] {
            NO => None,
            code => Some(code),
        }
    }
}
