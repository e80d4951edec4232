//! Traps, as ROCm's trap handler treats them (LLVM's AMDGPU guide, seed 000, line 4041).
//!
//! For `s_trap 2`, the handler ends the dispatch and puts the queue into the error state. To find the queue,
//! the handler needs help up to code object V3: the code that traps passes the queue's address in s[0:1].
//! From V4 on, the handler finds the queue by the number of its doorbell, which it reads from the hardware.
//! GFX6 to GFX8 do not support this, so there the code still passes the address. LLVM 14 and 19 agree: for V4
//! and V5 they set s[0:1] only up to GFX8, and for V2 and V3 always.

use crate::launch::Launch;
use crate::wave::Wave;
use isa::names::messages;

/// Trap number of `llvm.trap`, which ends the dispatch.
pub(crate) const TRAP: u32 = 2;
/// Trap number of `llvm.debugtrap`, which calls a debugger.
pub(crate) const DEBUG_TRAP: u32 = 3;

/// The first code object version whose trap handler finds the queue by the doorbell's number, which it reads
/// from the hardware.
const BY_DOORBELL: u8 = 4;

/// Returns a note for the report of a trap if the trap handler of a real device would not find the queue,
/// because s[0:1] do not hold the queue's address.
pub(crate) fn note(id: u32, launch: &Launch<'_>, wave: &Wave) -> Option<String> {
    let version = launch.version.filter(|_| id == TRAP)?;
    let has_doorbell = messages(launch.target.target).any(|message| message.name == "MSG_GET_DOORBELL");
    if version >= BY_DOORBELL && has_doorbell {
        return None;
    }
    let given = u64::from(wave.sgpr[1]) << 32 | u64::from(wave.sgpr[0]);
    let queue = launch.segments.queue;
    (given != queue).then(|| {
        format!("s[0:1] hold {given:#x}, not the queue at {queue:#x}: the trap handler would not find whose dispatch ends")
    })
}
