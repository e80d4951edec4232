//! Assumptions about other functions, at the instructions where control goes to another function or comes
//! from one.
//!
//! Waits: the calling convention defines which side of a call waits for what (`callconv::Waits`).
//!
//! Hazards: the calling convention says nothing about them. Here, code that passes control to another
//! function makes sure that no hazard is left. It takes account of the instructions that are certain to come
//! before the next instruction that could matter: the call or return itself, and after a call the waits with
//! which every function begins.

use crate::counters::{Counter, Wait};
use callconv::{Convention, Waits, column};
use isa::{MachInst, Operand, Reg, RegRange, Subtarget, op};
use mir::{FuncRole, TAIL_TARGET};

/// Registers of the return address.
pub(crate) const RETURN: RegRange = RegRange { first: Reg(callconv::RETURN_ADDRESS), len: 2 };

/// Kind of control transfer to another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlTransfer {
    /// Control goes to another function by a call. The called function returns here; after a tail call, it
    /// returns to the caller of this function instead.
    Call,
    /// A return to the caller.
    Return,
}

impl ControlTransfer {
    /// Returns the control transfer that an instruction performs. `None` if it performs none. A jump through
    /// a jump table may be mistaken for a control transfer, which costs at most a wait.
    pub fn from_inst(role: FuncRole, inst: &MachInst) -> Option<ControlTransfer> {
        match inst.op {
            _ if inst.is_call() => Some(ControlTransfer::Call),
            op::S_SETPC_B64 if role == FuncRole::Callee && inst.ops[0] == Operand::Reg(RETURN) => {
                Some(ControlTransfer::Return)
            }
            op::S_SETPC_B64 if role == FuncRole::Callee && inst.ops[0] == Operand::Reg(TAIL_TARGET) => {
                Some(ControlTransfer::Call)
            }
            _ => None,
        }
    }

    /// Returns whether the function that gets control may read a scalar register before it writes the
    /// register. It may read two kinds of registers: those in which functions receive something, and those
    /// that are preserved for a caller. The return address is an exception: the function that has provided it
    /// does not read it.
    pub fn may_read(self, range: RegRange) -> bool {
        let read: &[(u16, u16)] = match self {
            ControlTransfer::Call => &[(0, 29), (32, 34), (Reg::M0.0, Reg::EXEC.0 + 1)],
            ControlTransfer::Return => &[(0, 3), (32, 105), (Reg::M0.0, Reg::EXEC.0 + 1)],
        };
        let overlaps = |&(from, to): &(u16, u16)| {
            range.overlaps(RegRange { first: Reg(from), len: (to - from + 1) as u8 })
        };
        read.iter().any(overlaps)
    }

    /// Returns how many wait states, at least, pass between a control transfer and the first instruction of
    /// the other function that could complete a hazard.
    pub fn states(self) -> u8 {
        match self {
            ControlTransfer::Call => 2,
            ControlTransfer::Return => 1,
        }
    }
}

/// Returns a wait for all operations of some counters.
#[cold]
pub(crate) fn wait_for(counters: &'static [Counter], target: &Subtarget) -> Wait {
    let mut wait = Wait::NONE;
    for counter in Waits::present_counters(counters, target) {
        wait.demand(counter, 0);
    }
    wait
}

/// Returns the waits of a convention.
pub(crate) fn waits(convention: Convention) -> &'static Waits {
    &column(convention).waits
}
