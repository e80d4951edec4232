//! Waves that stand: they come round a loop to the same place in the same state and have changed nothing, so that they go round
//! for ever unless another wave changes what they read.

use crate::exec::{Cx, Flow};
use crate::fault::{Access, Trap};
use crate::memory::Memory;
use crate::op::Op;
use crate::watch::{CacheOp, MemAccess, Space, Watch};
use isa::ModFlags;

/// Instructions of a loop that is looked at.
pub(crate) const LONGEST: u64 = 1024;
/// Places of memory that are kept of a loop.
const MOST_POLLED: usize = 64;

/// A place that a loop reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Polled {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// Range and index of the instruction.
    pub(crate) at: (u32, u32),
    /// Whether the instruction is an atomic, or a load that acts at L2.
    pub(crate) is_atomic: bool,
}

/// What a wave has done since it began to be looked at.
#[derive(Default)]
pub(crate) struct Notes {
    /// Range and index of the instruction at work.
    at: (u32, u32),
    /// Something has changed that other waves can see, or the wave has looked at a clock.
    pub(crate) has_changed: bool,
    pub(crate) polled: Vec<Polled>,
    /// It has read memory that waves of other groups or the host may change.
    pub(crate) reads_memory: bool,
    /// The lanes that have read it.
    pub(crate) lanes: u64,
    /// How often an atomic of the wave had changed something before the instruction at work.
    changes: u32,
}

/// Notes what a wave does, and lets another watcher see it, too.
pub(crate) struct Round<'a> {
    pub(crate) notes: &'a mut Notes,
    pub(crate) inner: Option<&'a mut dyn Watch>,
}

impl Notes {
    fn read(&mut self, access: &MemAccess) {
        let &MemAccess { space, address, bytes, kind, flags, lane, .. } = access;
        let is_atomic = kind == Access::Atomic || flags.contains(ModFlags::GLC);
        self.lanes |= 1u64.checked_shl(lane).unwrap_or(0);
        self.reads_memory |= space == Space::Global;
        let polled = Polled { space, address, bytes, at: self.at, is_atomic };
        if space != Space::Scratch && self.polled.len() < MOST_POLLED && !self.polled.contains(&polled) {
            self.polled.push(polled);
        }
    }
}

/// The low bytes of what memory holds.
pub(crate) fn held_in_memory(memory: &Memory, address: u64, bytes: u32) -> u64 {
    let mut data = [0; 8];
    memory.read(address, &mut data[..bytes.min(8) as usize]);
    u64::from_le_bytes(data)
}

impl Watch for Round<'_> {
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
        // A store of what is there already changes nothing.
        let mask = (u64::MAX >> (64 - 8 * access.bytes.clamp(1, 4))) as u32;
        self.notes.has_changed |= match access.space {
            Space::Global => {
                held_in_memory(memory, access.address, access.bytes) as u32 != value & mask || access.scalar
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
