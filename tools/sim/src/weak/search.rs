//! Exhaustive search over all schedules of the threads of a small program. The result is the set of outcomes
//! that are possible.

use super::cache::Cache;
use super::explore::{Action, Visitor, explore};
use super::l2::{Range, Ranges};
use super::machine::{Machine, Site};
use super::state::{Actor, Key, State};
use crate::device::DevicePtr;
use crate::exec::Scratch;
use crate::fault::{Fault, Trap};
use crate::launch::Launch;
use crate::wave::WaveState;
use std::collections::BTreeMap;

/// Where a thread runs. Two threads share a resource, such as a cache, if they have the same number in its
/// field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Agent number. Agents share only memory.
    pub agent: u32,
    /// Shader array of the agent. On GFX10, the compute units of an array share a GL1 cache.
    pub array: u32,
    /// Compute unit of the array, which has one first-level vector cache. Units `2n` and `2n + 1` share a
    /// scalar cache.
    pub unit: u32,
    /// Work-group of the thread. The threads of a group share LDS and barriers.
    pub group: u32,
}

/// A thread of the program: one wave.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Name of the kernel whose code the thread runs.
    pub kernel: String,
    /// Where the thread runs.
    pub place: Place,
    /// The explicit arguments, as bytes in the layout that the metadata describes.
    pub kernarg: Vec<u8>,
}

/// A register that is part of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// Number of the thread.
    pub thread: usize,
    /// Number of the VGPR.
    pub vgpr: u16,
    /// Lane.
    pub lane: u32,
}

/// The program to search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The threads.
    pub threads: Vec<Thread>,
    /// Bytes of LDS that each group has in addition to the LDS of its kernels.
    pub dynamic_lds: u32,
    /// Addresses whose cache lines are in all vector caches when the program starts. An earlier kernel may
    /// have left them there.
    pub warm: Vec<DevicePtr>,
    /// Dwords of memory that are part of the outcome.
    pub memory: Vec<DevicePtr>,
    /// Addresses of dwords of memory in addition to `memory` whose final values are part of the outcome. Only
    /// one thread may use the cache line of each of these dwords.
    pub results: Vec<DevicePtr>,
    /// Memory ranges whose writes other agents do not see at once.
    pub ranges: Vec<Range>,
    /// Whether the data that scalar loads read never changes. Compilers guarantee this (LLVM's AMDGPU guide,
    /// seed 000, line 3127).
    pub constants: bool,
    /// Registers that are part of the outcome.
    pub registers: Vec<Register>,
    /// Dwords of LDS that are part of the outcome. Each is given by a group and a byte offset.
    pub lds: Vec<(u32, u32)>,
    /// Number of lanes of each wave.
    pub lanes: u32,
    /// Maximum number of states to visit; 0 for no limit.
    pub max_states: u64,
    /// Whether a cache line stays in its cache until an instruction invalidates it. Otherwise, lines may be
    /// evicted at any time.
    pub keep_lines: bool,
}

/// How a schedule ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// All threads have ended.
    Done,
    /// Some thread can never continue.
    Stuck,
    /// An instruction failed.
    Fault,
}

/// The final values of all registers and dwords that a search observes, at the end of one schedule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// How the schedule ended.
    pub end: End,
    /// Values of [`Search::registers`].
    pub registers: Vec<u32>,
    /// Values of [`Search::memory`].
    pub memory: Vec<u32>,
    /// Values of [`Search::results`].
    pub results: Vec<u32>,
    /// Values of [`Search::lds`].
    pub lds: Vec<u32>,
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct Exploration {
    /// The outcomes that the search has found. As an example for each outcome, there are the choices of one
    /// schedule that leads to it.
    pub outcomes: BTreeMap<Outcome, Vec<String>>,
    /// Number of visited states.
    pub states: u64,
    /// Number of choices that were tried.
    pub transitions: u64,
    /// Whether the search ended early at a limit, so that there may be further outcomes.
    pub bounded: bool,
    /// Whether there is a state from which no end can be reached, so that the program may run for ever.
    /// Computed only with [`Search::keep_lines`].
    pub endless: bool,
}

struct Collector<'a> {
    request: &'a Search,
    groups: Vec<u32>,
    found: Exploration,
}

/// Returns the number of a value, where distinct values are numbered in the order in which they first appear.
/// If the value is new, adds it to `seen`.
fn number<T: PartialEq>(seen: &mut Vec<T>, value: T) -> u32 {
    let found = seen.iter().position(|other| *other == value);
    found.unwrap_or_else(|| {
        seen.push(value);
        seen.len() - 1
    }) as u32
}

/// Searches all schedules of a program. `launches` has one launch for each thread.
pub(crate) fn search(launches: &[Launch<'_>], request: &Search) -> Result<Exploration, Fault> {
    let Some(launch) = launches.first() else { return Err(Fault::Dispatch("no threads".into())) };
    let (mut units, mut arrays, mut scalars, mut groups) = (vec![], vec![], vec![], vec![]);
    let mut agents = Vec::new();
    let mut sites = Vec::new();
    for Thread { place, .. } in &request.threads {
        sites.push(Site {
            unit: number(&mut units, (place.agent, place.array, place.unit)),
            array: number(&mut arrays, (place.agent, place.array)),
            scalar: number(&mut scalars, (place.agent, place.array, place.unit / 2)),
            group: number(&mut groups, place.group),
            agent: number(&mut agents, place.agent),
        });
    }
    let line_bytes = launch.target.arch.emulation.caches.line_bytes;
    let mut warm = Cache::default();
    for address in &request.warm {
        warm.fill(launch.memory, address / line_bytes, line_bytes);
    }
    // The number of the agent that owns a memory range becomes the index of this agent's L2 cache. An agent
    // that runs no thread has no L2 here, so its memory is treated like memory of the host.
    let home = |home: u32| agents.iter().position(|agent| *agent == home).map(|at| at as u32);
    let range = |range: &Range| Range { home: range.home.and_then(home), ..*range };
    let ranges = Ranges::new(launch.target.target, &request.ranges.iter().map(range).collect::<Vec<_>>());
    let mut late = Cache::default();
    for address in &request.warm {
        let line = address / line_bytes;
        if ranges.keeps(line * line_bytes) {
            late.fill(launch.memory, line, line_bytes);
        }
    }
    let waves = launches.iter().filter_map(|launch| launch.group(0, None).waves.into_iter().next());
    let lds_bytes = launches.iter().map(|launch| launch.lds_bytes).max().unwrap_or(0);
    let state = State {
        actors: waves.map(Actor::new).collect(),
        // LDS is zero at the start, because litmus tests expect their variables to be zero. To read
        // uninitialised LDS is not an error here; strict mode reports such reads.
        lds: groups.iter().map(|_| vec![0; lds_bytes.div_ceil(4) as usize]).collect(),
        near: vec![warm.clone(); units.len()],
        middle: vec![warm; arrays.len()],
        scalar: vec![Cache::default(); scalars.len()],
        l2: if ranges.any() { vec![late; agents.len()] } else { Vec::new() },
        queues: BTreeMap::new(),
    };
    let mut machine = Machine {
        launches: launches.iter().collect(),
        sites,
        program: Default::default(),
        scratch: Scratch::new(),
        line_bytes,
        lds_bytes,
        ranges,
        own: request.results.iter().map(|address| address / line_bytes).collect(),
        constants: request.constants,
        journal: None,
        clock: 0,
    };
    let limit = if request.max_states == 0 { u64::MAX } else { request.max_states };
    let mut collector = Collector { request, groups, found: Exploration::default() };
    let searched = explore(&mut machine, state, limit, request.keep_lines, &mut collector);
    let mut found = collector.found;
    (found.states, found.transitions) = (searched.states, searched.transitions);
    (found.bounded, found.endless) = (searched.bounded, searched.endless);
    Ok(found)
}

impl Collector<'_> {
    fn add(&mut self, end: End, machine: &Machine<'_>, state: &State, path: &[Action], last: Option<String>) {
        let register = |register: &Register| {
            let wave = state.actors.get(register.thread).map(|actor| &actor.wave);
            let lanes = wave.and_then(|wave| wave.vgpr.get(usize::from(register.vgpr)));
            lanes.and_then(|lanes| lanes.get(register.lane as usize)).copied().unwrap_or(0)
        };
        let word = |&address: &u64| {
            machine.launches[0].memory.find(address, 4).map_or(0, |(buffer, offset)| buffer.load(offset, 4))
        };
        let local = |&(group, offset): &(u32, u32)| {
            let at = self.groups.iter().position(|other| *other == group);
            at.and_then(|at| state.lds[at].get(offset as usize / 4)).copied().unwrap_or(0)
        };
        let outcome = Outcome {
            end,
            registers: self.request.registers.iter().map(register).collect(),
            memory: self.request.memory.iter().map(word).collect(),
            results: self.request.results.iter().map(word).collect(),
            lds: self.request.lds.iter().map(local).collect(),
        };
        self.found.outcomes.entry(outcome).or_insert_with(|| {
            let mut schedule: Vec<String> = path.iter().map(|action| text(machine, *action)).collect();
            schedule.extend(last);
            schedule
        });
    }
}

/// Returns a choice of the schedule as text.
fn text(machine: &Machine<'_>, action: Action) -> String {
    match action {
        Action::Issue { at, evicted } => {
            format!("thread {at} issues{}", if evicted { ", after an eviction" } else { "" })
        }
        Action::Perform { key: Key::Line { unit, line }, evicted } => {
            let address = line * machine.line_bytes;
            let from = if evicted { " past GL1" } else { "" };
            format!("unit {unit} performs its next request at {address:#x}{from}")
        }
        Action::Perform { key: Key::Lds { actor }, .. } => format!("LDS performs for thread {actor}"),
        Action::Perform { key: Key::Transfer { actor }, .. } => {
            format!("what thread {actor} loads to LDS arrives")
        }
        Action::Perform { key: Key::Scalar { actor, .. }, .. } => {
            format!("scalar memory performs for thread {actor}")
        }
        Action::Perform { key: Key::L2 { actor, .. }, .. } => {
            format!("L2 is written back for thread {actor}")
        }
        Action::Leave { agent, line } => {
            format!("the line at {:#x} leaves the L2 of agent {agent}", line * machine.line_bytes)
        }
    }
}

impl Visitor for Collector<'_> {
    fn end(&mut self, machine: &Machine<'_>, state: &State, path: &[Action]) {
        self.add(End::Done, machine, state, path, None);
    }

    fn stuck(&mut self, machine: &Machine<'_>, state: &State, path: &[Action]) {
        let waits = |(at, actor): (usize, &Actor)| {
            (actor.wave.state != WaveState::Done).then(|| format!("thread {at} can never go on"))
        };
        let last = state.actors.iter().enumerate().find_map(waits);
        self.add(End::Stuck, machine, state, path, last);
    }

    fn trap(&mut self, machine: &Machine<'_>, state: &State, at: usize, trap: Trap, path: &[Action]) {
        let wave = &state.actors[at].wave;
        let launch = machine.launch(at);
        let fault = crate::group::fault(trap, launch, wave, |lane| {
            Box::new(launch.location(wave.range, wave.last, [0; 3], at as u32, lane))
        });
        self.add(End::Fault, machine, state, path, Some(fault.to_string()));
    }
}
