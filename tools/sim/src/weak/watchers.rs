//! Watchers for weak mode. A watcher leads the accesses of an instruction's handler to the model of caches
//! and queues, instead of to memory.

use super::cache::Cache;
use super::state::Slot;
use crate::exec::Cx;
use crate::fault::{Access, Trap};
use crate::memory::Memory;
use crate::watch::{CacheOp, MemAccess, Space, Watch};

/// Watcher for a trial run, which finds out what an instruction will access. Only accesses to scratch may
/// really happen in the trial run, because other waves do not see scratch.
#[derive(Default)]
pub(super) struct Probe {
    pub(super) slots: Vec<Slot>,
    pub(super) caches: Vec<CacheOp>,
    /// Whether an atomic was stopped before it was performed.
    pub(super) stopped: bool,
}

impl Watch for Probe {
    fn read(&mut self, _: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        if access.space == Space::Scratch {
            return Ok(None);
        }
        self.slots.push(Slot { access: *access, value: 0 });
        Ok(Some(0))
    }

    fn write(&mut self, _: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap> {
        if access.space == Space::Scratch {
            return Ok(false);
        }
        self.slots.push(Slot { access: *access, value });
        Ok(true)
    }

    fn atomic(&mut self, _: &Memory, access: &MemAccess) -> Result<(), Trap> {
        if access.space == Space::Scratch {
            return Ok(());
        }
        self.slots.push(Slot { access: *access, value: 0 });
        self.stopped = true;
        Err(Trap::Unsupported)
    }

    fn cache(&mut self, _: &Memory, operation: CacheOp) -> Result<(), Trap> {
        self.caches.push(operation);
        Ok(())
    }
}

/// Watcher for the moment when an instruction returns. It gives the handler the values that the instruction's
/// requests have loaded before.
pub(super) struct Serve<'a> {
    pub(super) slots: std::slice::Iter<'a, Slot>,
}

impl Watch for Serve<'_> {
    fn read(&mut self, _: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        if access.space == Space::Scratch {
            return Ok(None);
        }
        let next = self.slots.find(|slot| slot.access.kind == Access::Read);
        Ok(Some(next.map_or(0, |slot| slot.value)))
    }

    fn write(&mut self, _: &Memory, access: &MemAccess, _: u32) -> Result<bool, Trap> {
        // A store to memory was performed before, so it is kept from memory here. An access to LDS writes the
        // loaded data of a load to LDS, so it still has to be done.
        Ok(access.space == Space::Global)
    }

    fn atomic(&mut self, _: &Memory, _: &MemAccess) -> Result<(), Trap> {
        Ok(())
    }

    fn cache(&mut self, _: &Memory, _: CacheOp) -> Result<(), Trap> {
        Ok(())
    }
}

/// Watcher that performs all accesses directly in memory.
pub(super) struct Direct;

impl Watch for Direct {
    fn read(&mut self, _: &Memory, _: &MemAccess) -> Result<Option<u32>, Trap> {
        Ok(None)
    }

    fn write(&mut self, _: &Memory, _: &MemAccess, _: u32) -> Result<bool, Trap> {
        Ok(false)
    }

    fn atomic(&mut self, _: &Memory, _: &MemAccess) -> Result<(), Trap> {
        Ok(())
    }

    fn cache(&mut self, _: &Memory, _: CacheOp) -> Result<(), Trap> {
        Ok(())
    }
}

/// Watcher for accesses through the scalar cache. A load may hit a stale line there. The data of a store
/// stays in the cache until the cache is written back.
pub(super) struct ScalarAccess<'a> {
    pub(super) cache: &'a mut Cache,
    pub(super) line_bytes: u64,
    /// Dwords that are being written back to memory.
    pub(super) written: Vec<(u64, u32)>,
    /// Dwords that atomics change, with their old values.
    pub(super) changed: Vec<(u64, u32)>,
}

impl Watch for ScalarAccess<'_> {
    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        let line = access.address / self.line_bytes;
        if !self.cache.has(line) {
            self.cache.fill(memory, line, self.line_bytes);
        }
        Ok(self.cache.load(access.address, access.bytes, self.line_bytes))
    }

    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap> {
        let line = access.address / self.line_bytes;
        if !self.cache.has(line) {
            self.cache.fill(memory, line, self.line_bytes);
        }
        self.cache.keep(access.address, value, self.line_bytes);
        Ok(true)
    }

    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap> {
        // Scalar atomics are performed in L2.
        for address in (0..u64::from(access.bytes / 4)).map(|word| access.address + word * 4) {
            let held = memory.find(address, 4).map_or(0, |(buffer, offset)| buffer.load(offset, 4));
            self.changed.push((address, held));
        }
        self.cache.drop_line(access.address / self.line_bytes);
        Ok(())
    }

    fn cache(&mut self, _: &Memory, operation: CacheOp) -> Result<(), Trap> {
        match operation {
            CacheOp::InvalidateScalar { .. } => self.cache.invalidate(),
            CacheOp::WriteBackScalar { .. } => {
                self.written = self.cache.take_dirty(0..u64::MAX, self.line_bytes)
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the trap of a context whose handler has failed.
pub(super) fn trap_of(cx: &mut Cx<'_>) -> Trap {
    cx.trap.take().unwrap_or(Trap::Unsupported)
}
