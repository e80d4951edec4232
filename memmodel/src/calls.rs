//! What is known where control goes to code of another function, or comes from there.
//!
//! Waits: the convention says who waits for what (`callconv::Waits`). Hazards: the convention does not say. Here whoever gives control away
//! sees to it that nothing is dangerous any more, given what comes at least before the next instruction that could matter: the call or
//! return itself, and behind a call the waits with which every function begins.

use crate::counters::{Counter, Wait};
use callconv::{Convention, Waits, column};
use isa::{FuncRole, MachInst, Operand, Reg, RegRange, Subtarget, TAIL_TARGET, op};

/// The return address.
pub(crate) const RETURN: RegRange = RegRange { first: Reg(callconv::RETURN_ADDRESS), len: 2 };

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Away {
    /// To a function that comes back, or to one that returns in place of this one.
    Call,
    /// Back to the caller.
    Return,
}

impl Away {
    /// Where an instruction gives control to. A jump into a table may be taken for either, which costs a wait at most.
    pub fn of(role: FuncRole, inst: &MachInst) -> Option<Away> {
        match inst.op {
            _ if inst.is_call() => Some(Away::Call),
            op::S_SETPC_B64 if role == FuncRole::Callee && inst.ops[0] == Operand::Reg(RETURN) => {
                Some(Away::Return)
            }
            op::S_SETPC_B64 if role == FuncRole::Callee && inst.ops[0] == Operand::Reg(TAIL_TARGET) => {
                Some(Away::Call)
            }
            _ => None,
        }
    }

    /// Whether the other side may read a scalar register that it has not written: what functions are given, and what is kept for
    /// a caller. The return address is no use to who gave it.
    pub fn may_read(self, range: RegRange) -> bool {
        let read: &[(u16, u16)] = match self {
            Away::Call => &[(0, 29), (32, 34), (Reg::M0.0, Reg::EXEC.0 + 1)],
            Away::Return => &[(0, 3), (32, 105), (Reg::M0.0, Reg::EXEC.0 + 1)],
        };
        let overlaps = |&(from, to): &(u16, u16)| {
            range.overlaps(RegRange { first: Reg(from), len: (to - from + 1) as u8 })
        };
        read.iter().any(overlaps)
    }

    /// Wait states that pass at least before an instruction of the other side could be the second of a pair.
    pub fn states(self) -> u8 {
        match self {
            Away::Call => 2,
            Away::Return => 1,
        }
    }
}

/// A wait for all of some counters.
#[cold]
pub(crate) fn wait_for(counters: &'static [Counter], target: &Subtarget) -> Wait {
    let mut wait = Wait::NONE;
    for counter in Waits::of(counters, target) {
        wait.demand(counter, 0);
    }
    wait
}

/// The waits of a convention.
pub(crate) fn waits(convention: Convention) -> &'static Waits {
    &column(convention).waits
}
