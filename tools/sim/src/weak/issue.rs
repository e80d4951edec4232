//! Issue of memory instructions, which is the first of their three stages. At its issue, an instruction reads
//! its registers. This module finds out which memory the instruction will access, and puts requests for these
//! accesses into queues.

use super::info::{Info, Kind};
use super::machine::Machine;
use super::registers::{Registers, copy_registers, differing, filled, put_registers};
use super::state::{Key, Pending, Request, Slot, State, Transfer};
use super::watchers::{Direct, Probe};
use crate::fault::{Access, Trap};
use crate::watch::{CacheOp, Space};
use crate::wave::Wave;
use check::counters::Class;
use isa::ModFlags;

/// What a trial run has found out about an instruction that is about to be issued: its accesses, cache
/// operations and results.
pub(super) struct Probed {
    slots: Vec<Slot>,
    caches: Vec<CacheOp>,
    results: Registers,
    kept: Registers,
}

impl Machine<'_> {
    /// Issues an LDS or scalar memory instruction as a single request, which is performed later.
    pub(super) fn defer(&mut self, state: &mut State, at: usize, (range, pc): (u32, u32), kind: Kind) {
        let Some(info) = self.program.info(range, pc) else { return };
        let actor = &mut state.actors[at];
        let serial = actor.serial;
        let key = match kind {
            Kind::Lds => Key::Lds { actor: at as u32 },
            _ => Key::Scalar { actor: at as u32, serial },
        };
        actor.pending.push(Pending {
            serial,
            range,
            pc,
            exec: actor.wave.exec(),
            class: info.class,
            other: None,
            returned: false,
            sources: copy_registers(&actor.wave, &info.sources),
            slots: Vec::new(),
            left: 1,
            transfer: Transfer::None,
            results: Vec::new(),
            kept: Vec::new(),
            ready: true,
        });
        actor.serial = serial.wrapping_add(1);
        state.queues.entry(key).or_default().push_back(Request { actor: at as u32, serial });
    }

    /// Finds out, by a trial run, what a vector memory instruction is about to access.
    pub(super) fn probe(&mut self, state: &mut State, at: usize) -> Result<Probed, Trap> {
        self.make_room(state, at)?;
        self.fetch(state, at)?;
        let group = self.sites[at].group as usize;
        let State { actors, lds, .. } = state;
        let wave = &mut actors[at].wave;
        let place = (wave.range, wave.pc);
        wave.last = wave.pc;
        let Some(info) = self.program.info(place.0, place.1).cloned() else { return Err(Trap::Fetch(0)) };
        let saved = copy_registers(wave, &info.results);
        let exec = wave.exec();
        let mut probe = Probe::default();
        let mut results = Vec::new();
        let mut kept = Vec::new();
        let outcome = if info.atomic {
            self.probe_atomic(wave, &mut lds[group], at, &mut probe)
        } else {
            // For the trial run, the result registers that keep some of their old bits are set to zero. Other
            // result registers keep their values, because they may also hold the address.
            if info.tied {
                put_registers(wave, &filled(&saved, 0), exec);
            }
            let first = self.run_handler(wave, &mut lds[group], at, place, Some(&mut probe));
            if first.is_ok() && probe.slots.is_empty() {
                results = copy_registers(wave, &info.results);
                kept = self.kept_bits(wave, &mut lds[group], at, place, &info, &results);
            }
            first.map(|_| ())
        };
        wave.set_exec(exec);
        put_registers(wave, &saved, u64::MAX);
        outcome?;
        Ok(Probed { slots: probe.slots, caches: probe.caches, results, kept })
    }

    /// Finds out what an atomic is about to access, lane by lane, without performing the atomic.
    fn probe_atomic(
        &mut self,
        wave: &mut Wave,
        lds: &mut [u32],
        at: usize,
        probe: &mut Probe,
    ) -> Result<(), Trap> {
        let place = (wave.range, wave.pc);
        for lane in crate::wave::ActiveLanes(wave.exec()) {
            wave.set_exec(1 << lane);
            probe.stopped = false;
            if let (Err(trap), false) =
                (self.run_handler(wave, lds, at, place, Some(&mut *probe)), probe.stopped)
            {
                return Err(trap);
            }
        }
        Ok(())
    }

    /// Returns which bits of its result registers an instruction leaves unchanged; a `d16` load, for example,
    /// leaves half of the register unchanged. The handler runs once with zeros and once with ones in the
    /// registers. The bits that differ between the two results are unchanged.
    fn kept_bits(
        &mut self,
        wave: &mut Wave,
        lds: &mut [u32],
        at: usize,
        place: (u32, u32),
        info: &Info,
        results: &Registers,
    ) -> Registers {
        if !info.tied {
            return Vec::new();
        }
        let exec = wave.exec();
        put_registers(wave, &filled(results, u32::MAX), exec);
        let _ = self.run_handler(wave, lds, at, place, Some(&mut Direct));
        let second = copy_registers(wave, &info.results);
        results.iter().zip(&second).map(|(first, second)| (first.0, differing(&first.1, &second.1))).collect()
    }

    /// Returns whether a load, whose trial run was `probed`, could find one of its lines in the first-level
    /// cache.
    pub(super) fn could_hit(&self, state: &State, at: usize, probed: &Probed) -> bool {
        probed.slots.iter().any(|slot| self.hits(state, at, slot))
    }

    /// Returns whether an instruction affects no other wave. Its trial run `probed` says what it accesses.
    pub(super) fn is_own(&self, probed: &Probed) -> bool {
        let own = |slot: &Slot| {
            slot.access.space == Space::Global && self.own.contains(&(slot.access.address / self.line_bytes))
        };
        !probed.slots.is_empty() && probed.slots.iter().all(own)
    }

    pub(super) fn key(&self, at: usize, slot: &Slot) -> Key {
        match slot.access.space {
            Space::Lds => Key::Lds { actor: at as u32 },
            _ => Key::Line { unit: self.sites[at].unit, line: slot.access.address / self.line_bytes },
        }
    }

    /// Returns the queues that still contain a request of an outstanding instruction.
    pub(super) fn keys(&self, state: &State, at: usize, pending: &Pending) -> Vec<Key> {
        let actor = at as u32;
        let mut keys: Vec<Key> = pending.slots.iter().map(|slot| self.key(at, slot)).collect();
        if keys.is_empty() {
            let serial = pending.serial;
            keys.extend([Key::Lds { actor }, Key::Scalar { actor, serial }]);
        }
        keys.push(Key::Transfer { actor });
        keys.dedup();
        let mine = Request { actor, serial: pending.serial };
        keys.retain(|key| state.queues.get(key).is_some_and(|queue| queue.contains(&mine)));
        keys
    }

    /// Returns whether a load hits the first-level cache. Two conditions must hold: the line is in the cache,
    /// and no request for the line is queued, because the load must not overtake this request.
    pub(super) fn hits(&self, state: &State, at: usize, slot: &Slot) -> bool {
        let access = &slot.access;
        let last = access.address + u64::from(access.bytes) - 1;
        access.kind == Access::Read
            && access.space == Space::Global
            && !access.flags.contains(ModFlags::GLC)
            && access.address / self.line_bytes == last / self.line_bytes
            && state.near[self.sites[at].unit as usize].has(access.address / self.line_bytes)
            && !state.queues.contains_key(&self.key(at, slot))
    }

    /// Issues a vector memory instruction. `may_hit` says whether it may hit lines in the first-level cache.
    /// If not, the lines count as evicted.
    pub(super) fn issue(
        &mut self,
        state: &mut State,
        at: usize,
        mut probed: Probed,
        may_hit: bool,
    ) -> Result<(), Trap> {
        let length = self.fetch(state, at)?;
        let site = self.sites[at];
        for operation in &probed.caches {
            match operation {
                CacheOp::InvalidateL1 { .. } | CacheOp::InvalidateGl0 => {
                    state.near[site.unit as usize].invalidate();
                }
                CacheOp::InvalidateGl1 => state.middle[site.array as usize].invalidate(),
                CacheOp::InvalidateL2 => self.invalidate_l2(state, site.agent),
                // `buffer_wbl2` takes effect later, as a request that is queued below.
                _ => {}
            }
        }
        let wave = &mut state.actors[at].wave;
        let (range, pc) = (wave.range, wave.pc);
        wave.pc += length;
        let Some(info) = self.program.info(range, pc) else { return Err(Trap::Fetch(0)) };
        // A store to private memory has no requests, because the trial run has already performed it. It is
        // still outstanding if a wait counter counts it.
        if probed.slots.is_empty() && info.class.is_none() {
            return Ok(());
        }
        let (exec, serial) = (wave.exec(), state.actors[at].serial);
        let sources = if probed.slots.is_empty() {
            Vec::new()
        } else {
            copy_registers(&state.actors[at].wave, &info.sources)
        };
        let (class, other) = self.classes(info, &probed.slots);
        let transfer = if probed.slots.is_empty() { Transfer::None } else { info.transfer };
        let mut left = self.enqueue(state, at, &mut probed.slots, serial, may_hit, transfer);
        left += u32::from(transfer == Transfer::Load);
        if self.ranges.any() && probed.caches.contains(&CacheOp::WriteBackL2) {
            let actor = at as u32;
            state.queues.entry(Key::L2 { actor, serial }).or_default().push_back(Request { actor, serial });
            left += 1;
        }
        let ready = probed.slots.is_empty();
        let Probed { slots, results, kept, .. } = probed;
        let actor = &mut state.actors[at];
        actor.serial = serial.wrapping_add(1);
        actor.pending.push(Pending {
            serial,
            range,
            pc,
            exec,
            class,
            other,
            returned: false,
            sources,
            slots,
            left,
            transfer,
            results,
            kept,
            ready,
        });
        self.request_transfers(state, at);
        self.forget_others(state, at);
        Ok(())
    }

    /// Returns the classes of wait counters that count an instruction. For a FLAT instruction, the first
    /// class depends on the kind of memory that it accesses. GFX10 also counts a FLAT instruction in a second
    /// class, because there both counters complete in order.
    fn classes(&self, info: &Info, slots: &[Slot]) -> (Option<Class>, Option<Class>) {
        if info.other.is_none() || slots.is_empty() {
            return (info.class, None);
        }
        match (slots.iter().any(|slot| slot.access.space == Space::Lds), self.has_middle()) {
            (true, true) => (info.other, info.class),
            (false, true) => (info.class, info.other),
            (true, false) => (Some(Class::FlatLds), None),
            (false, false) => (Some(Class::Vector), None),
        }
    }

    /// Performs those accesses of an instruction that hit the first-level cache, and queues requests for its
    /// other accesses. Returns the number of requests.
    fn enqueue(
        &self,
        state: &mut State,
        at: usize,
        slots: &mut [Slot],
        serial: u32,
        may_hit: bool,
        transfer: Transfer,
    ) -> u32 {
        let near = &state.near[self.sites[at].unit as usize];
        let mut keys: Vec<Key> = Vec::new();
        for slot in slots {
            if may_hit && self.hits(state, at, slot) {
                let access = &slot.access;
                slot.value = near.load(access.address, access.bytes, self.line_bytes).unwrap_or(0);
                continue;
            }
            let key = self.key(at, slot);
            let is_later = transfer != Transfer::None && slot.access.space == Space::Lds;
            if !is_later && !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in &keys {
            state.queues.entry(*key).or_default().push_back(Request { actor: at as u32, serial });
        }
        keys.len() as u32
    }
}
