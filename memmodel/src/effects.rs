//! Which hardware registers an instruction touches, and sets of them.

pub use isa::RegSet;
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
