//! Runs a dispatch in weak mode. A random generator with a given seed chooses the schedule.

use super::cache::Cache;
use super::machine::{Machine, Next, Site};
use super::returns::complete;
use super::state::{Actor, Key, State, Transfer};
use crate::exec::Scratch;
use crate::fault::{Fault, Location, Trap};
use crate::group::fault;
use crate::launch::Launch;
use crate::op::Class;
use crate::random::Random;
use crate::schedule::{MAX_RESIDENT, Outcome};
use crate::stats::{Counts, RunStats};
use crate::wave::WaveState;
use std::collections::BTreeMap;

/// Limit on the bytes of host memory for the registers, scratch and LDS of the groups that run at the same
/// time.
const RESIDENT_BYTES: u64 = 1 << 28;
/// Number of compute units over which the groups are spread.
const UNITS: u32 = 8;
/// Number of compute units of a shader array.
const ARRAY: u32 = 4;
/// Number of compute units that share a scalar cache.
const SCALAR: u32 = 2;
/// Maximum number of instructions that a wave executes before another wave may run.
const SLICE: usize = 64;

pub(super) struct Run<'a> {
    pub(super) machine: Machine<'a>,
    pub(super) launch: &'a Launch<'a>,
    pub(super) state: State,
    random: Random,
    /// Number of the group that runs in each group slot. A slot holds one group at a time. `None` means that
    /// the slot is empty.
    pub(super) groups: Vec<Option<u64>>,
    pub(super) waves: usize,
    next_group: u64,
    total: u64,
    executed: u64,
    counts: Counts,
    stats: RunStats,
    /// The first debug trap, and the number of its group.
    debug_trap: Option<(u64, Location)>,
}

/// Runs a dispatch with the schedule that `seed` gives. The same seed gives the same run on every host.
pub(crate) fn run(launch: &Launch<'_>, limit: u64, seed: u64) -> Outcome {
    let total: u64 = launch.groups().iter().product();
    let room = RESIDENT_BYTES / launch.group_bytes().max(1);
    let room = launch.max_groups().map_or(room, |most| room.min(most));
    let places = total.min(room).clamp(1, MAX_RESIDENT) as usize;
    let items: u32 = launch.group.iter().product();
    let waves = items.div_ceil(launch.target.wave_size) as usize;
    let units = UNITS as usize;
    let caches = |count: usize| vec![Cache::default(); count];
    let mut run = Run {
        machine: Machine {
            launches: vec![launch],
            sites: Vec::new(),
            program: Default::default(),
            scratch: Scratch::new(),
            line_bytes: launch.target.arch.emulation.caches.line_bytes,
            lds_bytes: launch.lds_bytes,
            ranges: Default::default(),
            own: Vec::new(),
            constants: false,
            journal: None,
            clock: 0,
        },
        launch,
        state: State {
            actors: Vec::new(),
            lds: vec![Vec::new(); places],
            near: caches(units),
            middle: caches(units / ARRAY as usize),
            scalar: caches(units / SCALAR as usize),
            l2: Vec::new(),
            queues: BTreeMap::new(),
        },
        random: Random::new(seed),
        groups: vec![None; places],
        waves,
        next_group: 0,
        total,
        executed: 0,
        counts: [0; 6],
        stats: RunStats::default(),
        debug_trap: None,
    };
    for place in 0..places {
        run.start(place);
    }
    let result = run.go(limit).map_err(|error| match error {
        Error::Trap(at, trap) => {
            let is_watched = matches!(trap, Trap::Watched);
            let why = run.fault(at, trap);
            if !is_watched {
                run.tell_trap(at, &why);
            }
            why
        }
        Error::Budget => Fault::Budget { limit, at: Box::new(run.location(run.running(), None)) },
    });
    (0..places).for_each(|place| run.note_traps(place));
    run.stats.add(&run.counts, 0);
    // `add` also counts one ended group at each call, but here no group has ended.
    run.stats.groups -= 1;
    let debug_trap = run.debug_trap.map(|(_, location)| location);
    Outcome { result: result.map(|()| run.stats), reports: Vec::new(), debug_trap }
}

pub(super) enum Error {
    Trap(usize, Trap),
    Budget,
}

impl Run<'_> {
    /// Starts the next group in a group slot.
    fn start(&mut self, place: usize) {
        self.groups[place] = None;
        if self.next_group == self.total {
            return;
        }
        let number = self.next_group;
        self.next_group += 1;
        let group = self.launch.group(number, None);
        self.groups[place] = Some(number);
        self.state.lds[place] = group.lds;
        let unit = self.random.below(UNITS as usize) as u32;
        // In WGP mode, the waves of a group are spread over two compute units.
        let split = !self.launch.target.cumode;
        for number in 0..self.waves {
            let unit = if split { unit & !1 | number as u32 & 1 } else { unit };
            let site =
                Site { unit, array: unit / ARRAY, scalar: unit / SCALAR, group: place as u32, agent: 0 };
            let mut wave = match group.waves.get(number) {
                Some(wave) => wave.clone(),
                None => group.waves[0].clone(),
            };
            if number >= group.waves.len() {
                // The last group of a grid may have fewer waves, so the other waves of its slot do not run.
                wave.state = WaveState::Done;
            }
            let at = place * self.waves + number;
            match self.state.actors.get_mut(at) {
                Some(actor) => {
                    *actor = Actor::new(wave);
                    self.machine.sites[at] = site;
                }
                None => {
                    self.state.actors.push(Actor::new(wave));
                    self.machine.sites.push(site);
                }
            }
        }
        self.stats.groups += 1;
        self.stats.waves += group.waves.len() as u64;
    }

    fn go(&mut self, limit: u64) -> Result<(), Error> {
        while self.groups.iter().any(Option::is_some) {
            if self.executed >= limit {
                return Err(Error::Budget);
            }
            let place = self.random.below(self.groups.len());
            if self.groups[place].is_none() {
                continue;
            }
            let at = place * self.waves + self.random.below(self.waves);
            match self.random.below(4) {
                0 => self.perform(at)?,
                1 if self.random.one_in(4) => self.upset(at)?,
                _ => self.step(place, at)?,
            }
        }
        Ok(())
    }

    /// Executes a random number of instructions of a wave.
    fn step(&mut self, place: usize, at: usize) -> Result<(), Error> {
        for _ in 0..=self.random.below(SLICE) {
            let here = |trap| Error::Trap(at, trap);
            let wave = &self.state.actors[at].wave;
            let class =
                self.launch.code.get(wave.range as usize).and_then(|code| code.ops.get(wave.pc as usize));
            let class = class.map_or(Class::Flow, |op| op.class);
            self.machine.clock = self.executed * 4;
            match self.machine.next(&self.state, at) {
                Next::Idle => break,
                Next::Waits => {
                    self.perform(at)?;
                    continue;
                }
                Next::Vector => {
                    self.call_debugger(at)?;
                    let probed = self.machine.probe(&mut self.state, at).map_err(here)?;
                    let kept = !self.random.one_in(8);
                    self.machine.issue(&mut self.state, at, probed, kept).map_err(here)?;
                }
                Next::Free => {
                    self.call_debugger(at)?;
                    self.machine.step(&mut self.state, at).map_err(here)?;
                }
            }
            self.executed += 1;
            self.counts[class as usize] += 1;
        }
        self.launch.serve_host().map_err(|trap| Error::Trap(at, trap))?;
        self.machine.open_barrier(&mut self.state, place as u32);
        self.retire(place)
    }

    /// Performs one request of the wave. If requests of other instructions are before it in its queue,
    /// performs the first of these instead.
    fn perform(&mut self, at: usize) -> Result<(), Error> {
        let actor = &self.state.actors[at];
        let open: usize = actor.pending.iter().filter(|pending| pending.left > 0).count();
        if open == 0 {
            return Ok(());
        }
        let chosen = self.random.below(open);
        let Some(pending) = actor.pending.iter().filter(|pending| pending.left > 0).nth(chosen) else {
            return Ok(());
        };
        let keys = self.machine.keys(&self.state, at, pending);
        if keys.is_empty() {
            return Ok(());
        }
        let key = keys[self.random.below(keys.len())];
        let (serial, loads_to_lds) = (pending.serial, pending.transfer == Transfer::Load);
        self.perform_key(at, key)?;
        if loads_to_lds && self.random.one_in(2) {
            self.finish_load(at, serial)?;
        }
        Ok(())
    }

    fn perform_key(&mut self, at: usize, key: Key) -> Result<(), Error> {
        let kept = !self.random.one_in(8);
        let request = self.launch.debugger.and_then(|_| self.request(key));
        self.machine.perform(&mut self.state, key, kept).map_err(|trap| Error::Trap(at, trap))?;
        match request {
            Some((at, text)) => self.tell(at, || text),
            None => Ok(()),
        }
    }

    /// Performs the remaining requests of a load to LDS. If they were left to chance, a load with many lines
    /// would hardly ever complete before a younger LDS instruction.
    fn finish_load(&mut self, at: usize, serial: u32) -> Result<(), Error> {
        loop {
            let actor = &self.state.actors[at];
            let Some(pending) = actor.find(serial).map(|found| &actor.pending[found]) else { return Ok(()) };
            let key = self.machine.keys(&self.state, at, pending).first().copied();
            let (Some(key), true) = (key, pending.left > 0) else { return Ok(()) };
            self.perform_key(at, key)?;
        }
    }

    /// Takes a random step that no instruction requires, so that runs show more of the allowed behaviours.
    /// The step evicts a cache line, or lets an instruction return early.
    fn upset(&mut self, at: usize) -> Result<(), Error> {
        let site = self.machine.sites[at];
        match self.random.below(4) {
            0 => {
                let cache = &mut self.state.near[site.unit as usize];
                let line = cache.line_from(self.random.next());
                cache.evict(line);
                self.tell(at, || "a line of the first vector cache is given up".to_owned())?;
            }
            1 => {
                let cache = &mut self.state.scalar[site.scalar as usize];
                let line = cache.line_from(self.random.next());
                cache.evict(line);
                self.tell(at, || "a line of the scalar cache is given up".to_owned())?;
            }
            _ => {
                let ready: Vec<usize> = complete(&self.state.actors[at].pending).collect();
                if let Some(&index) = ready.first() {
                    let actor = &self.state.actors[at];
                    let text =
                        self.launch.debugger.and(actor.pending.get(index)).map(|pending| self.text(pending));
                    let done = self.machine.return_one(&mut self.state, at, index);
                    done.map_err(|trap| Error::Trap(at, trap))?;
                    if let Some(text) = text {
                        self.tell(at, || format!("returned: {text}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes a group from its slot, if the group has ended and has no outstanding requests. Starts the next
    /// group in the slot.
    fn retire(&mut self, place: usize) -> Result<(), Error> {
        let members = place * self.waves..(place + 1) * self.waves;
        if self.state.actors[members.clone()].iter().any(|actor| actor.wave.state != WaveState::Done) {
            return Ok(());
        }
        for at in members.clone() {
            while self.state.actors[at].pending.iter().any(|pending| pending.left > 0) {
                // The requests of the group are performed one at a time, so that other waves may run in
                // between.
                self.perform(at)?;
                if self.random.one_in(4) {
                    return Ok(());
                }
            }
        }
        if members.clone().all(|at| self.state.actors[at].pending.iter().all(|pending| pending.left == 0)) {
            self.note_traps(place);
            self.start(place);
        }
        Ok(())
    }

    /// Records the debug traps of the waves of a group. Called when the group has ended or cannot continue.
    fn note_traps(&mut self, place: usize) {
        let Some(number) = self.groups[place] else { return };
        for at in place * self.waves..(place + 1) * self.waves {
            let wave = &self.state.actors[at].wave;
            self.stats.debug_traps += wave.debug_traps;
            if wave.debug_traps > 0 && self.debug_trap.as_ref().is_none_or(|(first, _)| number < *first) {
                let (range, pc) = wave.debug_trap;
                let at = self.launch.location(range, pc, self.launch.group_id(number), wave.id, None);
                self.debug_trap = Some((number, at));
            }
        }
    }

    /// Returns a wave that has not ended.
    fn running(&self) -> usize {
        let actors = &self.state.actors;
        actors.iter().position(|actor| actor.wave.state != WaveState::Done).unwrap_or(0)
    }

    fn location(&self, at: usize, lane: Option<u32>) -> crate::fault::Location {
        let wave = &self.state.actors[at].wave;
        let group = self.launch.group_id(self.groups[at / self.waves].unwrap_or(0));
        self.launch.location(wave.range, wave.last, group, wave.id, lane)
    }

    fn fault(&self, at: usize, trap: Trap) -> Fault {
        fault(trap, self.launch, &self.state.actors[at].wave, |lane| Box::new(self.location(at, lane)))
    }
}
