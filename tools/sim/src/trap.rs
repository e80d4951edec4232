//! Traps as ROCm's trap handler takes them (seed 000, line 4041). It ends the dispatch of an `s_trap 2` and puts its queue into
//! error. Which queue that is, it is told in s[0:1]; since code object V4 it asks the hardware for the doorbell's number where
//! that can tell it, from GFX9 on. So do LLVM 14 and 19: for V4 and V5 they set s[0:1] up to GFX8 only, for V2 and V3 always.

use crate::launch::Launch;
use crate::wave::Wave;
use isa::Generation;

/// `llvm.trap`.
pub(crate) const TRAP: u32 = 2;
/// `llvm.debugtrap`.
pub(crate) const DEBUG_TRAP: u32 = 3;

/// The first version whose trap handler asks for the doorbell.
const BY_DOORBELL: u8 = 4;

/// What is wrong with what a trap hands over to the handler.
pub(crate) fn note(id: u32, launch: &Launch<'_>, wave: &Wave) -> Option<String> {
    let version = launch.version.filter(|_| id == TRAP)?;
    if version >= BY_DOORBELL && launch.target.target.generation >= Generation::Gfx9 {
        return None;
    }
    let given = u64::from(wave.sgpr[1]) << 32 | u64::from(wave.sgpr[0]);
    let queue = launch.segments.queue;
    (given != queue).then(|| {
        format!("s[0:1] hold {given:#x}, not the queue at {queue:#x}: the trap handler would not find whose dispatch ends")
    })
}
