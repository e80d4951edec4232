//! The hardware registers that an instruction accesses, and sets of such registers.

pub use isa::RegSet;
use isa::table::Role;
use isa::{MachInst, Operand, Reg, RegRange, Target};

/// An access of an instruction to registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The registers that are accessed.
    pub range: RegRange,
    /// Whether the registers are read.
    pub read: bool,
    /// Whether the registers are written.
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

/// Calls `f` for every register operand, explicit or implicit.
#[inline]
pub fn all(target: &Target, inst: &MachInst, mut f: impl FnMut(Access)) {
    inst.for_each_hw_reg(target, |role, range| f(Access::new(role, range)));
}

/// Returns the first register that is in both ranges. The ranges must overlap.
pub fn first_common(a: RegRange, b: RegRange) -> Reg {
    a.first.max(b.first)
}
