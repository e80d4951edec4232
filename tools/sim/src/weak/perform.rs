//! Performing of requests, which is the second stage of memory instructions. When a request is performed, it
//! changes caches and memory, and determines the values that its instruction will later write to registers.

use super::cache::{Cache, byte_mask};
use super::machine::{Machine, Site};
use super::registers::{Registers, copy_registers, differing, filled, merge, put_registers};
use super::state::{Key, Pending, Request, Slot, State, Transfer};
use super::watchers::{Direct, ScalarAccess, Serve};
use crate::fault::{Access, Trap};
use crate::watch::{Space, Watch};
use isa::ModFlags;

/// Size of a first-level vector cache in bytes.
const NEAR_BYTES: u64 = 16 << 10;

/// Size of a line of the scalar cache in bytes.
const SCALAR_LINE: u64 = 64;

impl Machine<'_> {
    /// Returns whether the first request in a queue could find its cache line in GL1.
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

    /// Performs the first request in a queue. `may_hit` says whether the request may find its line in GL1. If
    /// not, the line counts as evicted.
    pub(super) fn perform(&mut self, state: &mut State, key: Key, may_hit: bool) -> Result<(), Trap> {
        for older in self.stores_before(state, key) {
            self.perform(state, older, may_hit)?;
        }
        let hit = may_hit && self.could_hit_middle(state, key);
        let Some(queue) = state.queues.get_mut(&key) else { return Ok(()) };
        let front = queue.pop_front();
        if queue.is_empty() {
            state.queues.remove(&key);
        }
        let Some(request) = front else { return Ok(()) };
        let at = request.actor as usize;
        let Some(found) = state.actors[at].find(request.serial) else { return Ok(()) };
        // The instruction is taken out of the list while its request is performed, so that the functions
        // below can change the rest of the state.
        let mut pending = state.actors[at].pending.remove(found);
        let done = match key {
            Key::Line { line, .. } => {
                self.read_for_store(state, at, &mut pending);
                self.perform_line(state, at, &mut pending, line, hit)
            }
            Key::Transfer { .. } => self.perform_transfer(state, at, &mut pending),
            Key::Lds { .. } if pending.slots.is_empty() => self.perform_lds(state, at, &mut pending),
            Key::Lds { .. } => self.perform_flat_lds(state, at, &mut pending),
            Key::Scalar { .. } => self.perform_scalar(state, at, &mut pending),
            Key::L2 { .. } => {
                self.write_back_l2(state, self.sites[at].agent);
                Ok(())
            }
        };
        pending.left -= 1;
        state.actors[at].pending.insert(found, pending);
        self.request_transfers(state, at);
        self.forget_others(state, at);
        done
    }

    /// Returns the stores that must be performed before the first request in the queue. Only a write-back of
    /// the scalar cache has such stores: the older scalar stores of the wave. The model performs them first,
    /// because compilers put no wait between scalar stores and the write-back.
    fn stores_before(&self, state: &State, key: Key) -> Vec<Key> {
        let Key::Scalar { actor, serial } = key else { return Vec::new() };
        let wave = &state.actors[actor as usize];
        let info = |pending: &Pending| self.program.info(pending.range, pending.pc);
        let Some(at) = wave.find(serial) else { return Vec::new() };
        if !info(&wave.pending[at]).is_some_and(|info| info.writes_back) {
            return Vec::new();
        }
        let older = wave.pending[..at].iter().filter(|pending| pending.left > 0);
        let stores = older.filter(|pending| info(pending).is_some_and(|info| info.scalar_store));
        stores.map(|pending| Key::Scalar { actor, serial: pending.serial }).collect()
    }

    /// Queues the LDS writes of the loads to LDS whose data has arrived from memory. They stay in the order
    /// in which the loads were issued, and come after the LDS reads of older stores from LDS.
    pub(super) fn request_transfers(&self, state: &mut State, at: usize) {
        let State { actors, queues, .. } = state;
        for pending in &mut actors[at].pending {
            match pending.transfer {
                Transfer::None => {}
                Transfer::Load if pending.left == 1 => {
                    let actor = at as u32;
                    let request = Request { actor, serial: pending.serial };
                    queues.entry(Key::Transfer { actor }).or_default().push_back(request);
                    pending.transfer = Transfer::None;
                }
                Transfer::Load | Transfer::Store => break,
            }
        }
    }

    /// Performs the last step of a load to LDS: writes the loaded data to LDS.
    fn perform_transfer(&mut self, state: &mut State, at: usize, pending: &mut Pending) -> Result<(), Trap> {
        let mut serve = Serve { slots: pending.slots.iter() };
        pending.results = self.run_copied(state, at, pending, pending.exec, &mut serve)?;
        pending.ready = true;
        Ok(())
    }

    /// Reads from LDS the data that a store from LDS will write to memory, unless it has already been read.
    fn read_for_store(&self, state: &State, at: usize, pending: &mut Pending) {
        if pending.transfer != Transfer::Store {
            return;
        }
        (pending.transfer, pending.ready) = (Transfer::None, true);
        let lds = &state.lds[self.sites[at].group as usize];
        let mut value = 0;
        for slot in &mut pending.slots {
            match slot.access.kind {
                Access::Read => value = lds.get((slot.access.address / 4) as usize).copied().unwrap_or(0),
                _ => slot.value = value,
            }
        }
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
                for slot in pending.slots.iter().filter(|slot| here(slot)) {
                    let access = &slot.access;
                    self.write_l2(state, site.agent, access.address, slot.value, access.bytes);
                }
            }
            Access::Atomic => {
                let mut lanes = 0;
                self.evict_l2(state, site.agent, line);
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
        // A load with the bit `glc` bypasses the first-level cache, and a load with the bit `dlc` bypasses
        // GL1. The bypassed cache drops the line.
        let mut fresh = Cache::default();
        if !hit {
            self.read_l2(state, site.agent, line, &mut fresh);
        }
        match self.has_middle().then(|| &mut state.middle[site.array as usize]) {
            Some(middle) if hit => fresh.copy(middle, line),
            Some(middle) if flags.contains(ModFlags::DLC) => middle.drop_line(line),
            Some(middle) => middle.copy(&fresh, line),
            None => {}
        }
        let near = &mut state.near[site.unit as usize];
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

    /// Performs an LDS instruction with all its lanes at once.
    fn perform_lds(&mut self, state: &mut State, at: usize, pending: &mut Pending) -> Result<(), Trap> {
        let exec = pending.exec;
        let info = self.program.info(pending.range, pending.pc).cloned();
        pending.results = self.run_copied(state, at, pending, exec, &mut Direct)?;
        if let Some(info) = info.filter(|info| info.tied) {
            // Some bits of the result registers keep their old values. To find them, the handler runs with
            // ones and with zeros in these registers: the bits that differ between the two results are old.
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

    /// Performs the accesses of a flat instruction for the lanes that access LDS.
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

    /// Runs the handler of an outstanding instruction with the values that its source registers had at its
    /// issue. Returns the registers that the handler wrote, and restores the wave's own registers.
    pub(super) fn run_copied(
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

    /// Records the contents of memory before they change, so that the search can restore them.
    pub(super) fn note(&mut self, address: u64, bytes: u32) {
        let memory = self.launches[0].memory;
        let Some(journal) = &mut self.journal else { return };
        for word in address / 4..(address + u64::from(bytes)).div_ceil(4) {
            let address = word * 4;
            let held =
                memory.find(address, 1).map_or(0, |(buffer, offset)| buffer.load_word(offset as usize / 4));
            journal.entry(address).or_insert(held);
        }
    }
}
