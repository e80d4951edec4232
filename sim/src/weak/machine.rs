//! What instructions and requests do: issue, perform, return.
//!
//! A vector memory instruction enters the compute unit's first cache when it is issued, in program order: loads may hit a
//! line there, old as it may be. What does not hit waits in the queue of its line until it is *performed* at L2 (or finds
//! GL1's line on the way). The instruction *returns*, which is when its destination registers change, in the order of its
//! counter's class and as late as a wait allows.

use super::cache::{Cache, byte_mask};
use super::info::{Info, Kind, Program};
use super::state::*;
use crate::exec::{Cx, Flow, Scratch};
use crate::fault::{Access, Trap};
use crate::launch::Launch;
use crate::watch::{CacheOp, Space, Watch};
use crate::wave::{Wave, WaveState};
use check::Counter;
use check::counters::Class;
use check::effects::Waits;
use isa::ModFlags;
use isa::target::Generation;
use std::collections::BTreeMap;

/// Where a wave runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Which first vector cache.
    pub(super) unit: u32,
    /// Which GL1.
    pub(super) array: u32,
    /// Which scalar cache.
    pub(super) scalar: u32,
    /// Which group, that is: which LDS.
    pub(super) group: u32,
}

/// Lines of a first vector cache: 16 KiB.
const NEAR_BYTES: u64 = 16 << 10;

/// Memory instructions that a wave can have under way: as many as `vmcnt` can count. With more, real waves stall.
const MAX_PENDING: usize = 63;

/// What an instruction is about to do.
pub(super) struct Probed {
    slots: Vec<Slot>,
    caches: Vec<CacheOp>,
    results: Registers,
    kept: Registers,
}

/// What a wave can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: it has ended, or is at a barrier.
    Idle,
    /// It waits for its own memory operations.
    Waits,
    /// A vector memory instruction.
    Vector,
    /// Anything else.
    Free,
}

/// The part of a weak run that choices do not change, and memory.
pub(super) struct Machine<'a> {
    /// A dispatch for each wave: they share memory and code.
    pub(super) launches: Vec<&'a Launch<'a>>,
    pub(super) sites: Vec<Site>,
    pub(super) program: Program,
    pub(super) scratch: Box<Scratch>,
    /// Bytes of a line of vector caches.
    pub(super) line_bytes: u64,
    pub(super) lds_bytes: u32,
    /// Dwords of memory that have changed, and what they were before; if anyone wants to know.
    pub(super) journal: Option<BTreeMap<u64, u32>>,
    pub(super) clock: u64,
}

/// Bytes of a line of the scalar cache.
const SCALAR_LINE: u64 = 64;

impl<'a> Machine<'a> {
    /// 64 bytes of GFX6 to GFX9's L1; 128 of GFX10's.
    pub(super) fn line_bytes(generation: Generation) -> u64 {
        if generation == Generation::Gfx10 { 128 } else { 64 }
    }

    fn launch(&self, at: usize) -> &'a Launch<'a> {
        self.launches[at % self.launches.len()]
    }

    fn has_middle(&self) -> bool {
        self.launches[0].target.generation == Generation::Gfx10
    }

    /// Runs a handler with a wave's context.
    fn run_handler(
        &mut self,
        wave: &mut Wave,
        lds: &mut [u32],
        at: usize,
        (range, pc): (u32, u32),
        watch: Option<&mut dyn Watch>,
    ) -> Result<Flow, Trap> {
        let launch = self.launch(at);
        let op = launch.code.get(range as usize).and_then(|code| code.ops.get(pc as usize));
        let Some(op) = op else { return Err(Trap::Fetch(0)) };
        let mut cx = Cx {
            wave,
            lds,
            lds_bytes: self.lds_bytes,
            memory: launch.memory,
            code: launch.code,
            scratch: &mut self.scratch,
            target: launch.target,
            arch: launch.arch,
            trap: None,
            clock: self.clock,
            locked64: launch.locked64,
            watch: watch.map(|watch| watch as &mut dyn Watch),
        };
        match crate::group::execute(&mut cx, op) {
            Flow::Trap => Err(trap_of(&mut cx)),
            flow => Ok(flow),
        }
    }

    /// What a wave can do; its next instruction becomes known.
    pub(super) fn next(&mut self, state: &State, at: usize) -> Next {
        let actor = &state.actors[at];
        if actor.wave.state != WaveState::Ready {
            return Next::Idle;
        }
        let launch = self.launch(at);
        let (range, pc) = (actor.wave.range, actor.wave.pc);
        self.program.learn(launch.target, launch.code, range, pc);
        match self.program.info(range, pc) {
            Some(info) if info.kind == Kind::Wait && !satisfied(&actor.pending, &info.waits) => Next::Waits,
            Some(info) if info.kind.is_memory() && is_full(&actor.pending) => Next::Waits,
            Some(info) if info.kind == Kind::Vector => Next::Vector,
            _ => Next::Free,
        }
    }

    /// One instruction that is neither vector memory nor a wait to be waited for.
    pub(super) fn step(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        let (range, pc) = (state.actors[at].wave.range, state.actors[at].wave.pc);
        let op = self.fetch(state, at)?;
        let Some(info) = self.program.info(range, pc) else { return Err(Trap::Fetch(0)) };
        let (kind, waits) = (info.kind, info.waits);
        match kind {
            Kind::Lds | Kind::Scalar => {
                self.make_room(state, at)?;
                state.actors[at].wave.pc += op;
                self.defer(state, at, (range, pc), kind);
                return Ok(());
            }
            Kind::Wait => self.return_for(state, at, &waits)?,
            _ => {}
        }
        let group = self.sites[at].group as usize;
        let State { actors, lds, .. } = state;
        let wave = &mut actors[at].wave;
        wave.last = pc;
        wave.pc = pc + op;
        match self.run_handler(wave, &mut lds[group], at, (range, pc), None)? {
            Flow::Barrier => wave.state = WaveState::AtBarrier,
            Flow::End => wave.state = WaveState::Done,
            _ => {}
        }
        Ok(())
    }

    /// Length of the next instruction, whose registers the wave must have.
    fn fetch(&self, state: &State, at: usize) -> Result<u32, Trap> {
        let launch = self.launch(at);
        let wave = &state.actors[at].wave;
        let Some(code) = launch.code.get(wave.range as usize) else { return Err(Trap::Fetch(0)) };
        let Some(op) = code.ops.get(wave.pc as usize) else {
            return Err(Trap::Fetch(code.base.wrapping_add(u64::from(wave.pc) * 4)));
        };
        match op.vgprs > wave.vgprs || op.agprs > wave.agprs || op.sgprs > wave.sgprs {
            true => Err(crate::group::missing_register(op, wave)),
            false => Ok(u32::from(op.len)),
        }
    }

    /// Issues an LDS or scalar memory instruction: all of it is performed later.
    fn defer(&mut self, state: &mut State, at: usize, (range, pc): (u32, u32), kind: Kind) {
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
            sources: copy_registers(&actor.wave, &info.sources),
            slots: Vec::new(),
            left: 1,
            results: Vec::new(),
            kept: Vec::new(),
            ready: true,
        });
        actor.serial = serial.wrapping_add(1);
        state.queues.entry(key).or_default().push_back(Request { actor: at as u32, serial });
    }

    /// Finds out what a vector memory instruction is about to do.
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
            // An address in the register that is loaded must stay.
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

    /// The same of an atomic, which must not be performed yet: lane by lane.
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

    /// Bits of the results that an instruction does not write (`d16`): those that differ when the registers held ones
    /// instead of zeros before.
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

    /// Whether a load that has been probed could find a line in the first cache.
    pub(super) fn could_hit(&self, state: &State, at: usize, probed: &Probed) -> bool {
        probed.slots.iter().any(|slot| self.hits(state, at, slot))
    }

    fn key(&self, at: usize, slot: &Slot) -> Key {
        match slot.access.space {
            Space::Lds => Key::Lds { actor: at as u32 },
            _ => Key::Line { unit: self.sites[at].unit, line: slot.access.address / self.line_bytes },
        }
    }

    /// Queues in which an instruction may still have a request.
    pub(super) fn keys(&self, state: &State, at: usize, pending: &Pending) -> Vec<Key> {
        let actor = at as u32;
        let mut keys: Vec<Key> = pending.slots.iter().map(|slot| self.key(at, slot)).collect();
        if keys.is_empty() {
            keys.extend([Key::Lds { actor }, Key::Scalar { actor, serial: pending.serial }]);
        }
        keys.dedup();
        let mine = Request { actor, serial: pending.serial };
        keys.retain(|key| state.queues.get(key).is_some_and(|queue| queue.contains(&mine)));
        keys
    }

    /// A load hits if the line is there and nothing for it is under way: what is would have to be overtaken.
    fn hits(&self, state: &State, at: usize, slot: &Slot) -> bool {
        let access = &slot.access;
        let last = access.address + u64::from(access.bytes) - 1;
        access.kind == Access::Read
            && access.space == Space::Global
            && !access.flags.contains(ModFlags::GLC)
            && access.address / self.line_bytes == last / self.line_bytes
            && state.near[self.sites[at].unit as usize].has(access.address / self.line_bytes)
            && !state.queues.contains_key(&self.key(at, slot))
    }

    /// Issues a vector memory instruction. `may_hit`: whether lines are still in the first cache.
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
                // L2 is the place where all agents meet.
                _ => {}
            }
        }
        let wave = &mut state.actors[at].wave;
        let (range, pc) = (wave.range, wave.pc);
        wave.pc += length;
        let Some(info) = self.program.info(range, pc) else { return Err(Trap::Fetch(0)) };
        // A store to private memory is done; it is counted nevertheless.
        if probed.slots.is_empty() && info.class.is_none() {
            return Ok(());
        }
        let (exec, serial) = (wave.exec(), state.actors[at].serial);
        let sources = if probed.slots.is_empty() {
            Vec::new()
        } else {
            copy_registers(&state.actors[at].wave, &info.sources)
        };
        let class = self.class(info, &probed.slots);
        let left = self.enqueue(state, at, &mut probed.slots, serial, may_hit);
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
            sources,
            slots,
            left,
            results,
            kept,
            ready,
        });
        Ok(())
    }

    /// Which class an instruction counts in: of a flat one, by where it went.
    fn class(&self, info: &Info, slots: &[Slot]) -> Option<Class> {
        let gfx10 = self.has_middle();
        match slots.iter().any(|slot| slot.access.space == Space::Lds) {
            _ if !info.flat => info.class,
            true if gfx10 => Some(Class::Lds),
            true => Some(Class::FlatLds),
            false if gfx10 => info.class,
            false => Some(Class::Vector),
        }
    }

    /// Takes what hits, and puts the rest in queues; gives the number of requests.
    fn enqueue(&self, state: &mut State, at: usize, slots: &mut [Slot], serial: u32, may_hit: bool) -> u32 {
        let near = &state.near[self.sites[at].unit as usize];
        let mut keys: Vec<Key> = Vec::new();
        for slot in slots {
            if may_hit && self.hits(state, at, slot) {
                let access = &slot.access;
                slot.value = near.load(access.address, access.bytes, self.line_bytes).unwrap_or(0);
                continue;
            }
            let to_lds =
                slot.access.space == Space::Lds && keys.iter().any(|key| !matches!(key, Key::Lds { .. }));
            let key = self.key(at, slot);
            if !to_lds && !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in &keys {
            state.queues.entry(*key).or_default().push_back(Request { actor: at as u32, serial });
        }
        keys.len() as u32
    }

    /// Whether the next request of a queue could find its line in GL1.
    pub(super) fn could_hit_middle(&self, state: &State, key: Key) -> bool {
        let Key::Line { line, .. } = key else { return false };
        let Some(request) = state.queues.get(&key).and_then(|queue| queue.front()) else { return false };
        let actor = &state.actors[request.actor as usize];
        let Some(found) = actor.find(request.serial) else { return false };
        let pending = &actor.pending[found];
        let site = self.sites[request.actor as usize];
        let loads = pending
            .slots
            .iter()
            .all(|slot| slot.access.kind == Access::Read && !slot.access.flags.contains(ModFlags::DLC));
        self.has_middle() && loads && state.middle[site.array as usize].has(line)
    }

    /// Performs the next request of a queue. `may_hit`: whether its line is still in GL1.
    pub(super) fn perform(&mut self, state: &mut State, key: Key, may_hit: bool) -> Result<(), Trap> {
        let hit = may_hit && self.could_hit_middle(state, key);
        let Some(queue) = state.queues.get_mut(&key) else { return Ok(()) };
        let front = queue.pop_front();
        if queue.is_empty() {
            state.queues.remove(&key);
        }
        let Some(request) = front else { return Ok(()) };
        let at = request.actor as usize;
        let Some(found) = state.actors[at].find(request.serial) else { return Ok(()) };
        // Taken out for as long as it is worked on.
        let mut pending = state.actors[at].pending.remove(found);
        let done = match key {
            Key::Line { line, .. } => self.perform_line(state, at, &mut pending, line, hit),
            Key::Lds { .. } if pending.slots.is_empty() => self.perform_lds(state, at, &mut pending),
            Key::Lds { .. } => self.perform_flat_lds(state, at, &mut pending),
            Key::Scalar { .. } => self.perform_scalar(state, at, &mut pending),
        };
        pending.left -= 1;
        state.actors[at].pending.insert(found, pending);
        done
    }

    fn perform_line(
        &mut self,
        state: &mut State,
        at: usize,
        pending: &mut Pending,
        line: u64,
        hit: bool,
    ) -> Result<(), Trap> {
        let site = self.sites[at];
        let line_bytes = self.line_bytes;
        let here =
            move |slot: &Slot| slot.access.space == Space::Global && slot.access.address / line_bytes == line;
        let Some(first) = pending.slots.iter().find(|slot| here(slot)).map(|slot| slot.access) else {
            return Ok(());
        };
        let middle = self.has_middle();
        match first.kind {
            Access::Read => {
                self.load_line(state, site, pending, line, hit, first.flags);
                return Ok(());
            }
            Access::Write => {
                let memory = self.launches[0].memory;
                for slot in pending.slots.iter().filter(|slot| here(slot)) {
                    let access = &slot.access;
                    self.note(access.address, access.bytes);
                    memory.write(access.address, &slot.value.to_le_bytes()[..access.bytes as usize & 7]);
                }
            }
            Access::Atomic => {
                let mut lanes = 0;
                for slot in pending.slots.iter().filter(|slot| here(slot)) {
                    lanes |= 1u64 << (slot.access.lane & 63);
                    self.note(slot.access.address, slot.access.bytes);
                }
                let results = self.run_copied(state, at, pending, lanes, &mut Direct)?;
                merge(&mut pending.results, results, lanes);
                pending.ready = true;
            }
        }
        state.near[site.unit as usize].drop_line(line);
        if middle {
            state.middle[site.array as usize].drop_line(line);
        }
        Ok(())
    }

    fn load_line(
        &self,
        state: &mut State,
        site: Site,
        pending: &mut Pending,
        line: u64,
        hit: bool,
        flags: ModFlags,
    ) {
        let memory = self.launches[0].memory;
        let line_bytes = self.line_bytes;
        let near = &mut state.near[site.unit as usize];
        // `glc` misses the first cache, `dlc` GL1, and what they held is given up.
        let mut fresh = Cache::default();
        match self.has_middle().then(|| &mut state.middle[site.array as usize]) {
            Some(middle) if hit => fresh.copy(middle, line),
            Some(middle) => {
                fresh.fill(memory, line, line_bytes);
                match flags.contains(ModFlags::DLC) {
                    true => middle.drop_line(line),
                    false => middle.copy(&fresh, line),
                }
            }
            None => fresh.fill(memory, line, line_bytes),
        }
        match flags.contains(ModFlags::GLC) {
            true => near.drop_line(line),
            false => {
                if near.len() as u64 >= NEAR_BYTES / line_bytes {
                    near.evict(line.wrapping_mul(0x9e37_79b9));
                }
                near.copy(&fresh, line);
            }
        }
        for slot in &mut pending.slots {
            let access = &slot.access;
            if access.space == Space::Global && access.address / line_bytes == line {
                let across = access.address % line_bytes + u64::from(access.bytes) > line_bytes;
                let cached = fresh.load(access.address, access.bytes, line_bytes).filter(|_| !across);
                slot.value = cached.unwrap_or_else(|| {
                    let found = memory.find(access.address, u64::from(access.bytes));
                    found.map_or(0, |(buffer, offset)| buffer.load(offset, access.bytes))
                });
            }
        }
    }

    /// An LDS instruction, all at once.
    fn perform_lds(&mut self, state: &mut State, at: usize, pending: &mut Pending) -> Result<(), Trap> {
        let exec = pending.exec;
        let info = self.program.info(pending.range, pending.pc).cloned();
        pending.results = self.run_copied(state, at, pending, exec, &mut Direct)?;
        if let Some(info) = info.filter(|info| info.tied) {
            // Once more over ones shows which bits stay.
            let ones = filled(&pending.results, u32::MAX);
            let saved = copy_registers(&state.actors[at].wave, &info.results);
            put_registers(&mut state.actors[at].wave, &ones, exec);
            let second = self.run_copied(state, at, pending, exec, &mut Direct)?;
            let zeros = filled(&pending.results, 0);
            put_registers(&mut state.actors[at].wave, &zeros, exec);
            pending.results = self.run_copied(state, at, pending, exec, &mut Direct)?;
            put_registers(&mut state.actors[at].wave, &saved, u64::MAX);
            let pairs = pending.results.iter().zip(&second);
            pending.kept = pairs.map(|(one, two)| (one.0, differing(&one.1, &two.1))).collect();
        }
        Ok(())
    }

    /// The lanes of a flat instruction that go to LDS.
    fn perform_flat_lds(&mut self, state: &mut State, at: usize, pending: &mut Pending) -> Result<(), Trap> {
        let group = self.sites[at].group as usize;
        let lds = &mut state.lds[group];
        let mut lanes = 0;
        for slot in pending.slots.iter_mut().filter(|slot| slot.access.space == Space::Lds) {
            let access = &slot.access;
            let (word, shift) = ((access.address / 4) as usize, access.address % 4 * 8);
            let low = lds.get(word).copied().unwrap_or(0);
            let high = lds.get(word + 1).copied().unwrap_or(0);
            let pair = u64::from(low) | u64::from(high) << 32;
            match access.kind {
                Access::Read => slot.value = (pair >> shift) as u32 & byte_mask(access.bytes),
                Access::Write => {
                    let mask = u64::from(byte_mask(access.bytes)) << shift;
                    let new = pair & !mask | u64::from(slot.value) << shift & mask;
                    for (place, value) in lds.iter_mut().skip(word).zip([new as u32, (new >> 32) as u32]) {
                        *place = value;
                    }
                }
                Access::Atomic => lanes |= 1u64 << (access.lane & 63),
            }
        }
        if lanes != 0 {
            let results = self.run_copied(state, at, pending, lanes, &mut Direct)?;
            merge(&mut pending.results, results, lanes);
            pending.ready = true;
        }
        Ok(())
    }

    fn perform_scalar(&mut self, state: &mut State, at: usize, pending: &mut Pending) -> Result<(), Trap> {
        let site = self.sites[at];
        let mut cache = std::mem::take(&mut state.scalar[site.scalar as usize]);
        let mut access = ScalarAccess {
            cache: &mut cache,
            line_bytes: SCALAR_LINE,
            written: Vec::new(),
            changed: Vec::new(),
        };
        let results = self.run_copied(state, at, pending, pending.exec, &mut access);
        let (written, changed) = (access.written, access.changed);
        state.scalar[site.scalar as usize] = cache;
        for (address, value) in written {
            self.note(address, 4);
            self.launches[0].memory.write(address, &value.to_le_bytes());
        }
        if let Some(journal) = &mut self.journal {
            for (address, held) in changed {
                journal.entry(address).or_insert(held);
            }
        }
        pending.results = results?;
        Ok(())
    }

    /// Runs the handler of an instruction under way on the registers of its issue; gives what it wrote and leaves the
    /// wave as it was.
    fn run_copied(
        &mut self,
        state: &mut State,
        at: usize,
        pending: &Pending,
        lanes: u64,
        watch: &mut dyn Watch,
    ) -> Result<Registers, Trap> {
        let Some(info) = self.program.info(pending.range, pending.pc).cloned() else {
            return Err(Trap::Fetch(0));
        };
        let group = self.sites[at].group as usize;
        let State { actors, lds, .. } = state;
        let wave = &mut actors[at].wave;
        let saved = copy_registers(wave, &info.touched);
        let (exec, range, pc, last) = (wave.exec(), wave.range, wave.pc, wave.last);
        put_registers(wave, &pending.sources, u64::MAX);
        wave.set_exec(lanes);
        (wave.range, wave.pc, wave.last) = (pending.range, pending.pc, pending.pc);
        let flow = self.run_handler(wave, &mut lds[group], at, (pending.range, pending.pc), Some(watch));
        let results = copy_registers(wave, &info.results);
        put_registers(wave, &saved, u64::MAX);
        wave.set_exec(exec);
        (wave.range, wave.pc) = (range, pc);
        if flow.is_ok() {
            wave.last = last;
        }
        flow.map(|_| results)
    }

    /// Notes what memory holds before it changes.
    fn note(&mut self, address: u64, bytes: u32) {
        let memory = self.launches[0].memory;
        let Some(journal) = &mut self.journal else { return };
        for word in address / 4..(address + u64::from(bytes)).div_ceil(4) {
            let address = word * 4;
            let held =
                memory.find(address, 1).map_or(0, |(buffer, offset)| buffer.load_word(offset as usize / 4));
            journal.entry(address).or_insert(held);
        }
    }

    /// Lets an instruction return: its destination registers change.
    pub(super) fn return_one(&mut self, state: &mut State, at: usize, index: usize) -> Result<(), Trap> {
        let pending = state.actors[at].pending.remove(index);
        let loads = pending.slots.iter().any(|slot| slot.access.kind == Access::Read);
        let mut results = if pending.ready || !loads {
            // A store has done what it does.
            pending.results.clone()
        } else {
            let mut serve = Serve { slots: pending.slots.iter() };
            self.run_copied(state, at, &pending, pending.exec, &mut serve)?
        };
        let wave = &mut state.actors[at].wave;
        if !pending.kept.is_empty() {
            let codes: Vec<u16> = results.iter().map(|(code, _)| *code).collect();
            let now = copy_registers(wave, &codes);
            for ((result, kept), now) in results.iter_mut().zip(&pending.kept).zip(&now) {
                if let (Value::Vector(result), Value::Vector(kept), Value::Vector(now)) =
                    (&mut result.1, &kept.1, &now.1)
                {
                    for lane in 0..64 {
                        result[lane] = result[lane] & !kept[lane] | now[lane] & kept[lane];
                    }
                }
            }
        }
        put_registers(wave, &results, pending.exec);
        Ok(())
    }

    /// Lets return what a wait demands, and no more: the oldest first.
    fn return_for(&mut self, state: &mut State, at: usize, waits: &Waits) -> Result<(), Trap> {
        for counter in Counter::ALL {
            let Some(most) = demand(waits, counter) else { continue };
            loop {
                let pending = &state.actors[at].pending;
                let there = pending.iter().filter(|pending| on(pending, counter)).count();
                let next = complete(pending).find(|&index| on(&pending[index], counter));
                match next {
                    Some(index) if there > most => self.return_one(state, at, index)?,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Lets the oldest that is performed return if no more can be under way.
    fn make_room(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        let pending = &state.actors[at].pending;
        let index = if pending.len() < MAX_PENDING { None } else { complete(pending).next() };
        index.map_or(Ok(()), |index| self.return_one(state, at, index))
    }

    /// Lets everything return that is performed.
    pub(super) fn return_all(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        while let Some(index) = { complete(&state.actors[at].pending).next() } {
            self.return_one(state, at, index)?;
        }
        Ok(())
    }

    /// Opens the barrier of a group if all of its waves are there; those that have ended do not hold it up.
    pub(super) fn open_barrier(&self, state: &mut State, group: u32) {
        let members = |at: &usize| self.sites[*at].group == group;
        let at_barrier = |wave: &Wave| wave.state == WaveState::AtBarrier;
        let mut all = (0..state.actors.len()).filter(members);
        if all.all(|at| state.actors[at].wave.state != WaveState::Ready) {
            for at in (0..state.actors.len()).filter(members) {
                let wave = &mut state.actors[at].wave;
                if at_barrier(wave) {
                    wave.state = WaveState::Ready;
                }
            }
        }
    }
}

/// Registers of the same codes with the same bits everywhere.
fn filled(registers: &Registers, bits: u32) -> Registers {
    let fill = |value: &Value| match value {
        Value::Scalar(_) => Value::Scalar(bits),
        Value::Vector(_) => Value::Vector(Box::new([bits; 64])),
    };
    registers.iter().map(|(code, value)| (*code, fill(value))).collect()
}

/// Bits in which two contents differ.
fn differing(one: &Value, two: &Value) -> Value {
    match (one, two) {
        (Value::Vector(one), Value::Vector(two)) => {
            Value::Vector(Box::new(std::array::from_fn(|lane| one[lane] ^ two[lane])))
        }
        (Value::Scalar(one), Value::Scalar(two)) => Value::Scalar(one ^ two),
        _ => Value::Scalar(0),
    }
}

/// Adds the results of some lanes.
fn merge(all: &mut Registers, some: Registers, lanes: u64) {
    if all.is_empty() {
        *all = some;
        return;
    }
    for (all, some) in all.iter_mut().zip(some) {
        if let (Value::Vector(all), Value::Vector(some)) = (&mut all.1, &some.1) {
            crate::wave::ActiveLanes(lanes).for_each(|lane| all[lane] = some[lane]);
        }
    }
}

fn on(pending: &Pending, counter: Counter) -> bool {
    pending.class.is_some_and(|class| class.info().counter == counter)
}

/// What a wait demands of a counter. `expcnt` is about sources, which are copied at issue.
fn demand(waits: &Waits, counter: Counter) -> Option<usize> {
    let most = waits.0[counter as usize];
    (counter != Counter::Exp && most != Waits::ANY).then_some(usize::from(most))
}

/// What could return now, oldest first: it is performed, and so is what must return before.
pub(super) fn complete(pending: &[Pending]) -> impl Iterator<Item = usize> + '_ {
    (0..pending.len()).filter(move |&index| {
        let class = pending[index].class;
        let ordered = class.is_some_and(|class| class.info().in_order);
        pending[index].left == 0
            && (!ordered || pending[..index].iter().all(|older| older.class != class || older.left == 0))
    })
}

/// Whether no more instructions fit, and none of them can return.
fn is_full(pending: &[Pending]) -> bool {
    pending.len() >= MAX_PENDING && complete(pending).next().is_none()
}

/// Whether a wave may go on after a wait.
pub(super) fn satisfied(pending: &[Pending], waits: &Waits) -> bool {
    Counter::ALL.into_iter().all(|counter| {
        let Some(most) = demand(waits, counter) else { return true };
        let there = pending.iter().filter(|pending| on(pending, counter)).count();
        let done = complete(pending).filter(|&index| on(&pending[index], counter)).count();
        there - done <= most
    })
}
