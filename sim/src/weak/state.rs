//! What a weak run consists of at one moment: waves, what they have under way, caches and request queues.

use super::cache::Cache;
use crate::exec::Cx;
use crate::fault::{Access, Trap};
use crate::memory::Memory;
use crate::watch::{CacheOp, MemAccess, Space, Watch};
use crate::wave::{ActiveLanes, Lanes, Wave};
use check::counters::Class;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

/// Contents of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Scalar(u32),
    Vector(Box<Lanes>),
}

/// Registers by their codes.
pub(super) type Registers = Vec<(u16, Value)>;

/// The contents of registers; those that the wave does not have are left out.
pub(super) fn copy_registers(wave: &Wave, codes: &[u16]) -> Registers {
    let value = |&code: &u16| match code {
        0..128 => Some((code, Value::Scalar(wave.sgpr[usize::from(code)]))),
        _ => wave.vgpr.get(usize::from(code) - 256).map(|lanes| (code, Value::Vector(Box::new(*lanes)))),
    };
    codes.iter().filter_map(value).collect()
}

/// Puts contents into registers, of VGPRs only some lanes.
pub(super) fn put_registers(wave: &mut Wave, registers: &Registers, lanes: u64) {
    for (code, value) in registers {
        match value {
            Value::Scalar(value) => wave.sgpr[usize::from(*code & 127)] = *value,
            Value::Vector(values) => {
                if let Some(place) = wave.vgpr.get_mut(usize::from(*code).wrapping_sub(256)) {
                    ActiveLanes(lanes).for_each(|lane| place[lane] = values[lane]);
                }
            }
        }
    }
}

/// One access of an instruction under way.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) access: MemAccess,
    /// What is stored, or what was loaded.
    pub(super) value: u32,
}

/// Where requests wait in line: each queue is in order, queues are not ordered among one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// Requests of a compute unit for one line beyond its first cache. Each cache has a queue for each channel of the next
    /// one (seed 000, lines 3087, 3108); lines of one channel could be kept in order, but no program can rely on that.
    Line { unit: u32, line: u64 },
    /// LDS operations of a wave are performed in order (seed 000, line 3080).
    Lds { actor: u32 },
    /// Scalar memory: in any order.
    Scalar { actor: u32, serial: u32 },
}

/// A part of an instruction that waits to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) actor: u32,
    pub(super) serial: u32,
}

/// A memory instruction that has been issued and has not returned.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) serial: u32,
    pub(super) range: u32,
    pub(super) pc: u32,
    pub(super) exec: u64,
    pub(super) class: Option<Class>,
    /// Registers as they were at issue.
    pub(super) sources: Registers,
    pub(super) slots: Vec<Slot>,
    /// Requests that are not performed yet.
    pub(super) left: u32,
    /// What it writes when it returns, with bits that stay as they are; until it is performed, of the lanes that are.
    pub(super) results: Registers,
    pub(super) kept: Registers,
    /// Whether `results` are all there is: otherwise the handler runs on `slots`.
    pub(super) ready: bool,
}

/// A wave and what it has under way, oldest first.
#[derive(Clone)]
pub(super) struct Actor {
    pub(super) wave: Wave,
    pub(super) pending: Vec<Pending>,
    pub(super) serial: u32,
}

impl Actor {
    pub(super) fn new(wave: Wave) -> Actor {
        Actor { wave, pending: Vec::new(), serial: 0 }
    }

    pub(super) fn find(&self, serial: u32) -> Option<usize> {
        self.pending.iter().position(|pending| pending.serial == serial)
    }
}

/// Everything that choices change, memory apart.
#[derive(Clone)]
pub(super) struct State {
    pub(super) actors: Vec<Actor>,
    /// LDS of each group.
    pub(super) lds: Vec<Vec<u32>>,
    /// First vector caches: L1 of GFX6 to GFX9, L0 of GFX10.
    pub(super) near: Vec<Cache>,
    /// GL1 of GFX10.
    pub(super) middle: Vec<Cache>,
    pub(super) scalar: Vec<Cache>,
    pub(super) queues: BTreeMap<Key, VecDeque<Request>>,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for actor in &self.actors {
            let wave = &actor.wave;
            (wave.range, wave.pc, wave.scc, wave.state as u8).hash(hasher);
            // Between them is what nobody reads.
            (&wave.sgpr[..128], &wave.sgpr[192..], wave.mode()).hash(hasher);
            let lanes = wave.lanes.min(64) as usize;
            wave.vgpr.iter().for_each(|register| register[..lanes].hash(hasher));
            wave.scratch.hash(hasher);
            actor.pending.len().hash(hasher);
            for pending in &actor.pending {
                // Serial numbers count from the oldest: how many there were before makes no difference.
                let age = pending.serial.wrapping_sub(actor.serial);
                (age, pending.range, pending.pc, pending.exec, pending.left, pending.ready).hash(hasher);
                (&pending.sources, &pending.results, &pending.kept).hash(hasher);
                pending.slots.iter().for_each(|slot| slot.value.hash(hasher));
            }
        }
        self.lds.hash(hasher);
        (&self.near, &self.middle, &self.scalar).hash(hasher);
        for (key, queue) in &self.queues {
            match *key {
                Key::Scalar { actor, serial } => {
                    (actor, serial.wrapping_sub(self.actors[actor as usize].serial)).hash(hasher);
                }
                _ => key.hash(hasher),
            }
            for request in queue {
                let age = request.serial.wrapping_sub(self.actors[request.actor as usize].serial);
                (request.actor, age).hash(hasher);
            }
        }
    }
}

/// Finds out what an instruction will access; nothing but scratch, which no other wave sees, is touched.
#[derive(Default)]
pub(super) struct Probe {
    pub(super) slots: Vec<Slot>,
    pub(super) caches: Vec<CacheOp>,
    /// An atomic was met and not performed.
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

/// Gives an instruction that returns what its parts have loaded.
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
        // A load to LDS brings its data when it returns; other stores have been performed.
        Ok(access.space == Space::Global)
    }

    fn atomic(&mut self, _: &Memory, _: &MemAccess) -> Result<(), Trap> {
        Ok(())
    }

    fn cache(&mut self, _: &Memory, _: CacheOp) -> Result<(), Trap> {
        Ok(())
    }
}

/// Performs what is asked for.
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

/// The scalar cache at work: loads may hit old lines, stores stay until they are written back.
pub(super) struct ScalarAccess<'a> {
    pub(super) cache: &'a mut Cache,
    pub(super) line_bytes: u64,
    /// Dwords that memory gets now.
    pub(super) written: Vec<(u64, u32)>,
    /// Dwords that atomics change, and what they held.
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
            CacheOp::WriteBackScalar { .. } => self.written = self.cache.take_dirty(self.line_bytes),
            _ => {}
        }
        Ok(())
    }
}

/// A context's trap after its handler has failed.
pub(super) fn trap_of(cx: &mut Cx<'_>) -> Trap {
    cx.trap.take().unwrap_or(Trap::Unsupported)
}
