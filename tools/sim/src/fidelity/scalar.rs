//! Says how faithfully scalar instructions and instructions of control flow are emulated.

use super::Fidelity;
use isa::table::{Family, Row};

/// Names of the scalar instructions that behave differently than on hardware or that the emulator refuses,
/// each with an explanation.
const SCALAR: &[(&str, &str)] = &[
    (
        "s_getreg_b32",
        "the counters in IB_STS are always zero, and HW_ID describes a device of fixed size on which a work-group's number \
         determines its place; the floating-point exceptions in TRAPSTS, POPS_PACKER and unnamed registers are refused",
    ),
    ("s_setreg_b32", WRITES),
    ("s_setreg_imm32_b32", WRITES),
    ("s_sendmsg", "the interrupt has no receiver, so it does nothing; all other messages are refused"),
    ("s_sethalt", "halting the wave is refused, because nothing would let the wave continue"),
    ("s_sleep", "the other waves run first, whatever time the instruction asks for"),
    ("s_cbranch_cdbgsys", NO_DEBUGGER),
    ("s_cbranch_cdbguser", NO_DEBUGGER),
    ("s_cbranch_cdbgsys_or_user", NO_DEBUGGER),
    ("s_cbranch_cdbgsys_and_user", NO_DEBUGGER),
];
const WRITES: &str = "writes of MODE, TRAPSTS, FLAT_SCRATCH and XNACK_MASK are emulated; registers that only the trap \
                      handler may write, and enabling traps for floating-point exceptions, are refused";
const NO_DEBUGGER: &str = "the branch is never taken, because no debugger is attached";

/// Returns how faithfully the emulator executes a scalar instruction. Returns `None` for all other
/// instructions.
pub(super) fn fidelity(row: &Row) -> Option<Fidelity> {
    if !row.is_salu() && row.family != Family::Sopp {
        return None;
    }
    Some(match crate::exec::refusal(row, isa::ModFlags::empty()) {
        Some(why) => Fidelity::Refused(why),
        None => {
            let found = SCALAR.iter().find(|(name, _)| *name == row.name);
            found.map_or(Fidelity::Exact, |&(_, how)| Fidelity::Approximate(how))
        }
    })
}
