//! Checks call frame information: compares the values that it computes for a caller's registers with the
//! values that the registers had at the call, which the emulator has recorded.

use crate::machine::Frame;
use crate::program::Program;
use dwarf::{Bank, Caller, Machine, Reason, Register, ReturnAddress, Rule};
use sim::Stopped;

/// Checks the call frame information for one call, and returns a description of each register for which it
/// gives a wrong value. Registers that the information does not describe are not checked. `callee` is the
/// wave at the current instruction of the called function. `caller` is the same wave with the registers that
/// it had at the call. `back` is the address in the object file to which the called function returns.
pub(crate) fn misled(
    program: &Program,
    callee: &Stopped<'_>,
    caller: &Stopped<'_>,
    (lane, back): (u32, u64),
) -> Vec<String> {
    let Some(frames) = &program.frames else { return Vec::new() };
    let row = match frames.row(callee.address()) {
        Ok(Some(row)) => row,
        Ok(None) => return Vec::new(),
        Err(why) => return vec![why.to_string()],
    };
    let Some(common) = frames.around(callee.address()).map(|frame| frames.common_of(frame)) else {
        return Vec::new();
    };
    let (now, then) = (Frame::registers_of(callee, lane), Frame::registers_of(caller, lane));
    let unwound = match Caller::new(&now, &row, common) {
        Ok(unwound) => unwound,
        Err(why) => return vec![format!("where the frame is: {why}")],
    };
    let mut wrong = Vec::new();
    match unwound.return_address() {
        Ok(ReturnAddress::At(address)) if address != back.wrapping_add(caller.base()) => {
            wrong.push(format!(
                "it returns to {address:#x}, and not to {:#x}",
                back.wrapping_add(caller.base())
            ));
        }
        Ok(_) => {}
        Err(why) => wrong.push(format!("where it returns to: {why}")),
    }
    let said = row
        .rules
        .iter()
        .filter(|(register, rule)| **rule != Rule::Undefined && **register != common.return_address);
    wrong.extend(said.filter_map(|(register, _)| differs(&unwound, &then, *register, caller.exec())));
    wrong
}

/// Returns how the unwound value of a register differs from its value at the call. In a vector register, only
/// the lanes in the mask `exec`, which were active at the call, are compared.
fn differs(unwound: &dyn Machine, then: &dyn Machine, register: Register, exec: u64) -> Option<String> {
    let (bank, _, bits) = register.facts()?;
    let (mut is, mut was) = (vec![0; bits as usize / 8], vec![0; bits as usize / 8]);
    // A register that the wave does not have needs no comparison.
    then.register(register, &mut was).ok()?;
    match unwound.register(register, &mut is) {
        Ok(()) => {}
        // The call frame information says that the register's value is lost, perhaps only in some lanes.
        // There is then nothing to compare.
        Err(Reason::Undefined) => return None,
        Err(why) => return Some(format!("{register}: {why}")),
    }
    let is_vector = matches!(bank, Bank::Vgpr | Bank::Agpr);
    let mut dwords = is.chunks(4).zip(was.chunks(4)).enumerate();
    let (lane, (is, was)) =
        dwords.find(|(lane, (is, was))| is != was && (!is_vector || exec >> lane & 1 != 0))?;
    let of = if is_vector { format!(" of lane {lane}") } else { String::new() };
    Some(format!("{register}{of} is {}, and was {}", crate::write::plain(is), crate::write::plain(was)))
}
