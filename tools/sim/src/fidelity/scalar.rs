//! How faithfully scalar instructions and program flow instructions are emulated.

use super::Fidelity;
use isa::table::{Family, Row};

/// Scalar instructions that differ from the hardware or are refused, with the difference.
const SCALAR: &[(&str, &str)] = &[
    (
        "s_getreg_b32",
        "counters of IB_STS are always zero, HW_ID places groups over a device of fixed size by their number; the floating-point exceptions of \
         TRAPSTS, POPS_PACKER and unnamed registers are refused",
    ),
    ("s_setreg_b32", WRITES),
    ("s_setreg_imm32_b32", WRITES),
    ("s_sendmsg", "the interrupt is sent to nobody; all other messages are refused"),
    ("s_sethalt", "halting is refused: nobody would make the wave go on"),
    ("s_sleep", "gives way to the other waves, however long it is to take"),
    ("s_cbranch_cdbgsys", NO_DEBUGGER),
    ("s_cbranch_cdbguser", NO_DEBUGGER),
    ("s_cbranch_cdbgsys_or_user", NO_DEBUGGER),
    ("s_cbranch_cdbgsys_and_user", NO_DEBUGGER),
];
const WRITES: &str = "MODE, TRAPSTS, FLAT_SCRATCH and XNACK_MASK; what only the trap handler may write, and traps of \
                      floating-point exceptions, are refused";
const NO_DEBUGGER: &str = "never branches: no debugger is attached";

/// Returns the fidelity of an instruction; `None` for families that are not scalar.
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
