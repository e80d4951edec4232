//! What a weak run consists of at one moment: waves, what they have under way, caches and request queues.

use super::cache::Cache;
use super::registers::Registers;
use crate::watch::MemAccess;
use crate::wave::Wave;
use check::counters::Class;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

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
    /// What loads to LDS bring into LDS: in order among one another, and not ordered with LDS operations.
    Transfer { actor: u32 },
    /// Scalar memory: in any order.
    Scalar { actor: u32, serial: u32 },
    /// A write-back of L2.
    L2 { actor: u32, serial: u32 },
}

/// A part of an instruction that waits to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) actor: u32,
    pub(super) serial: u32,
}

/// What a load to LDS or a store from LDS has yet to do in LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Transfer {
    /// Nothing, or it is requested.
    #[default]
    None,
    /// Write there what it has loaded.
    Load,
    /// Read there what it will store.
    Store,
}

/// A memory instruction that has been issued and has not returned.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) serial: u32,
    pub(super) range: u32,
    pub(super) pc: u32,
    pub(super) exec: u64,
    /// Counted as this until it returns.
    pub(super) class: Option<Class>,
    /// Counted as this too, until all before it in the class are performed: flat instructions on GFX10.
    pub(super) other: Option<Class>,
    pub(super) returned: bool,
    /// Registers as they were at issue.
    pub(super) sources: Registers,
    pub(super) slots: Vec<Slot>,
    /// Requests that are not performed yet.
    pub(super) left: u32,
    pub(super) transfer: Transfer,
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
    /// L2 of each agent, if there are several and memory that they may keep.
    pub(super) l2: Vec<Cache>,
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
                (pending.returned, pending.other.is_some(), pending.transfer).hash(hasher);
                (&pending.sources, &pending.results, &pending.kept).hash(hasher);
                pending.slots.iter().for_each(|slot| slot.value.hash(hasher));
            }
        }
        self.lds.hash(hasher);
        (&self.near, &self.middle, &self.scalar, &self.l2).hash(hasher);
        for (key, queue) in &self.queues {
            match *key {
                Key::Scalar { actor, serial } | Key::L2 { actor, serial } => {
                    (
                        matches!(key, Key::L2 { .. }),
                        actor,
                        serial.wrapping_sub(self.actors[actor as usize].serial),
                    )
                        .hash(hasher);
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
