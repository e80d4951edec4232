//! The state of a run in weak mode: the waves and their outstanding instructions, the caches, and the queues
//! of requests.

use super::cache::Cache;
use super::registers::Registers;
use crate::watch::MemAccess;
use crate::wave::Wave;
use check::counters::Class;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

/// One access that an outstanding instruction makes.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) access: MemAccess,
    /// The value to store, or the value that was loaded.
    pub(super) value: u32,
}

/// Name of a queue of requests. Requests in one queue are performed in order. Requests in different queues
/// may be performed in any order relative to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// Requests of a compute unit for one cache line, which the first-level cache does not serve. On
    /// hardware, each cache has a queue for each channel of the next cache (LLVM's AMDGPU guide, seed 000,
    /// lines 3087, 3108). Requests for different lines of one channel may therefore stay in order there, but
    /// programs cannot rely on this order.
    Line { unit: u32, line: u64 },
    /// LDS operations of a wave, which are performed in order (LLVM's AMDGPU guide, seed 000, line 3080).
    Lds { actor: u32 },
    /// Writes to LDS by the wave's loads to LDS. These writes are performed in the order of the loads, but in
    /// any order relative to LDS instructions.
    Transfer { actor: u32 },
    /// A scalar memory operation. Each scalar operation has its own queue, because scalar operations complete
    /// in any order.
    Scalar { actor: u32, serial: u32 },
    /// A write-back of L2 (`buffer_wbl2`).
    L2 { actor: u32, serial: u32 },
}

/// A part of an instruction that is waiting to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) actor: u32,
    pub(super) serial: u32,
}

/// What a load to LDS or a store from LDS has still to do in LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Transfer {
    /// Nothing, or the request for the access to LDS is already in a queue.
    #[default]
    None,
    /// The loaded data must be written to LDS.
    Load,
    /// The data that will be stored must be read from LDS.
    Store,
}

/// An outstanding memory instruction, which has been issued and has not returned yet.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) serial: u32,
    pub(super) range: u32,
    pub(super) pc: u32,
    pub(super) exec: u64,
    /// Class of the wait counter that counts the instruction until it returns.
    pub(super) class: Option<Class>,
    /// Second counter class of a flat instruction on GFX10. It counts the instruction until all older
    /// instructions of this class have returned.
    pub(super) other: Option<Class>,
    pub(super) returned: bool,
    /// Source registers as they were at issue.
    pub(super) sources: Registers,
    pub(super) slots: Vec<Slot>,
    /// Number of requests that are not performed yet.
    pub(super) left: u32,
    pub(super) transfer: Transfer,
    /// Registers that the instruction writes when it returns, with their new values. As long as the
    /// instruction is not fully performed, the values are only those of the lanes that are performed. The
    /// next field, `kept`, is a mask of the bits of these registers that keep their old values.
    pub(super) results: Registers,
    pub(super) kept: Registers,
    /// Whether `results` is already complete. If it is not, the handler runs when the instruction returns,
    /// with the loaded values in `slots`.
    pub(super) ready: bool,
}

/// A wave and its outstanding instructions, oldest first.
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

/// The part of a run that choices change, without memory.
#[derive(Clone)]
pub(super) struct State {
    pub(super) actors: Vec<Actor>,
    /// LDS contents of each group.
    pub(super) lds: Vec<Vec<u32>>,
    /// First-level vector caches: L1 of GFX6 to GFX9, L0 of GFX10.
    pub(super) near: Vec<Cache>,
    /// GL1 caches of GFX10.
    pub(super) middle: Vec<Cache>,
    pub(super) scalar: Vec<Cache>,
    /// The L2 cache of each agent. The list is empty if the data in L2 can never differ from memory.
    pub(super) l2: Vec<Cache>,
    pub(super) queues: BTreeMap<Key, VecDeque<Request>>,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for actor in &self.actors {
            let wave = &actor.wave;
            (wave.range, wave.pc, wave.scc, wave.state as u8).hash(hasher);
            // The elements between the two ranges are left out of the hash, because no operand can read them.
            (&wave.sgpr[..128], &wave.sgpr[192..], wave.mode()).hash(hasher);
            let lanes = wave.lanes.min(64) as usize;
            wave.vgpr.iter().for_each(|register| register[..lanes].hash(hasher));
            wave.scratch.hash(hasher);
            actor.pending.len().hash(hasher);
            for pending in &actor.pending {
                // The hash uses the distance between a serial number and the wave's next serial number. Two
                // states are then equal even if the wave has issued different numbers of instructions before.
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
