//! Detects waves that make no progress. A wave makes no progress if it repeats a loop: it comes back to the
//! same instruction in the same state, and has changed nothing that other waves can see. It then repeats the
//! loop for ever, unless another wave changes memory that the loop reads.

use crate::exec::{Cx, Flow};
use crate::fault::{Access, Trap};
use crate::memory::Memory;
use crate::op::Op;
use crate::watch::{CacheOp, MemAccess, Space, Watch};
use isa::ModFlags;

/// Maximum length of a loop that is examined, in executed instructions. Waves in longer loops count as making
/// progress.
pub(crate) const LONGEST: u64 = 1024;
/// Maximum number of memory locations that are recorded for one loop.
const MOST_POLLED: usize = 64;

/// A memory location that a loop reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PolledLocation {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// Code range and index of the instruction that reads.
    pub(crate) at: (u32, u32),
    /// Whether the instruction is an atomic, or a load with `glc`, which like an atomic bypasses the
    /// first-level cache.
    pub(crate) is_atomic: bool,
}

/// What a wave has done during one pass through a loop.
#[derive(Default)]
pub(crate) struct LoopNotes {
    /// Code range and index of the current instruction.
    at: (u32, u32),
    /// Whether the wave makes progress for certain, because it has changed something that other waves can
    /// see, or has read a clock.
    pub(crate) has_changed: bool,
    pub(crate) polled: Vec<PolledLocation>,
    /// Whether the wave has read memory that waves of other groups or the host may change.
    pub(crate) reads_memory: bool,
    /// Mask of the lanes that have read memory.
    pub(crate) lanes: u64,
    /// How often atomics of the wave had changed memory when the current instruction began.
    changes: u32,
}

/// A watcher for one pass through a loop, which records what the wave reads and changes. It passes all events
/// on to the inner watcher (strict mode or a debugger), if there is one.
pub(crate) struct LoopWatch<'a> {
    pub(crate) notes: &'a mut LoopNotes,
    pub(crate) inner: Option<&'a mut dyn Watch>,
}

impl LoopNotes {
    fn read(&mut self, access: &MemAccess) {
        let &MemAccess { space, address, bytes, kind, flags, lane, .. } = access;
        let is_atomic = kind == Access::Atomic || flags.contains(ModFlags::GLC);
        self.lanes |= 1u64.checked_shl(lane).unwrap_or(0);
        self.reads_memory |= space == Space::Global;
        let polled = PolledLocation { space, address, bytes, at: self.at, is_atomic };
        if space != Space::Scratch && self.polled.len() < MOST_POLLED && !self.polled.contains(&polled) {
            self.polled.push(polled);
        }
    }
}

/// Returns the contents of up to 8 bytes of memory as a number. The bytes are the low bytes of the result.
pub(crate) fn memory_contents(memory: &Memory, address: u64, bytes: u32) -> u64 {
    let mut data = [0; 8];
    memory.read(address, &mut data[..bytes.min(8) as usize]);
    u64::from_le_bytes(data)
}

impl Watch for LoopWatch<'_> {
    fn before(&mut self, cx: &mut Cx<'_>, op: &Op) -> Result<(), Trap> {
        self.notes.at = (cx.wave.range, cx.wave.last);
        self.notes.has_changed |= op.reads_clock;
        self.notes.changes = cx.wave.changes;
        self.inner.as_mut().map_or(Ok(()), |inner| inner.before(cx, op))
    }

    fn after(&mut self, cx: &mut Cx<'_>, op: &Op, flow: Flow) -> Result<(), Trap> {
        self.notes.has_changed |= cx.wave.changes != self.notes.changes;
        self.inner.as_mut().map_or(Ok(()), |inner| inner.after(cx, op, flow))
    }

    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        self.notes.read(access);
        self.inner.as_mut().map_or(Ok(None), |inner| inner.read(memory, access))
    }

    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap> {
        // A store of the value that memory already holds changes nothing.
        let mask = (u64::MAX >> (64 - 8 * access.bytes.clamp(1, 4))) as u32;
        self.notes.has_changed |= match access.space {
            Space::Global => {
                memory_contents(memory, access.address, access.bytes) as u32 != value & mask || access.scalar
            }
            Space::Lds => true,
            Space::Scratch => false,
        };
        self.inner.as_mut().map_or(Ok(false), |inner| inner.write(memory, access, value))
    }

    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap> {
        self.notes.read(access);
        self.inner.as_mut().map_or(Ok(()), |inner| inner.atomic(memory, access))
    }

    fn limited(&mut self, access: &MemAccess) -> Result<(), Trap> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.limited(access))
    }

    fn cache(&mut self, memory: &Memory, operation: CacheOp) -> Result<(), Trap> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.cache(memory, operation))
    }
}
