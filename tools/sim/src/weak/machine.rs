//! Determines what a wave can do next, and executes one step of a wave.
//!
//! Vector memory instructions are *issued* in program order (module `issue`). At its issue, an instruction
//! accesses the first-level cache of the compute unit. Its loads may hit a line there, even a stale line.
//! Accesses that do not hit wait in the queue of their line until they are *performed* (module `perform`):
//! GL1 serves them if they hit a line there, and L2 otherwise. When the instruction *returns* (module
//! `returns`), its destination registers change. Instructions of a counter class that completes in order
//! return in order. All instructions return as late as waits allow.

use super::info::{Kind, Program};
use super::l2::Ranges;
use super::returns::{is_full, satisfied};
use super::state::{Key, State};
use super::watchers::trap_of;
use crate::exec::{Cx, Flow, Scratch};
use crate::fault::Trap;
use crate::launch::Launch;
use crate::watch::Watch;
use crate::wave::{Wave, WaveState};
use std::collections::BTreeMap;

/// The caches and other resources that a wave uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Index of the first-level vector cache of the wave's compute unit.
    pub(super) unit: u32,
    /// Index of the GL1 cache that the wave uses.
    pub(super) array: u32,
    /// Index of the scalar cache that the wave uses.
    pub(super) scalar: u32,
    /// Index of the wave's group, and therefore of its LDS.
    pub(super) group: u32,
    /// Index of the L2 cache of the wave's agent.
    pub(super) agent: u32,
}

/// What a wave can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing, because the wave has ended or is at a barrier.
    Idle,
    /// The wave waits for its own memory operations.
    Waits,
    /// The wave can issue a vector memory instruction.
    Vector,
    /// The wave can execute an instruction of another kind.
    Free,
}

/// The memory, and everything else in a run of weak mode that does not depend on the choices of the schedule.
pub(super) struct Machine<'a> {
    /// A launch for each wave; the launches share memory and code.
    pub(super) launches: Vec<&'a Launch<'a>>,
    pub(super) sites: Vec<Site>,
    pub(super) program: Program,
    pub(super) scratch: Box<Scratch>,
    /// Size of a line of the vector caches in bytes.
    pub(super) line_bytes: u64,
    pub(super) lds_bytes: u32,
    /// Ranges of memory that L2 caches may keep.
    pub(super) ranges: Ranges,
    /// Numbers of the cache lines that only one wave uses. The next field, `constants`, says whether the data
    /// that scalar loads read never changes.
    pub(super) own: Vec<u64>,
    pub(super) constants: bool,
    /// The dwords of memory that have changed, with their original values, by address. The search restores
    /// memory from this. `None` if changes are not recorded.
    pub(super) journal: Option<BTreeMap<u64, u32>>,
    pub(super) clock: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn launch(&self, at: usize) -> &'a Launch<'a> {
        self.launches[at % self.launches.len()]
    }

    pub(super) fn has_middle(&self) -> bool {
        self.launches[0].target.arch.emulation.caches.gl1
    }

    /// Runs the handler of an instruction in the context of a wave.
    pub(super) fn run_handler(
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
            target: launch.target.target,
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

    /// Returns what a wave can do next. Computes the facts about the wave's next instruction if they are not
    /// known yet.
    pub(super) fn next(&mut self, state: &State, at: usize) -> Next {
        let actor = &state.actors[at];
        if actor.wave.state != WaveState::Ready {
            return Next::Idle;
        }
        let launch = self.launch(at);
        let (range, pc) = (actor.wave.range, actor.wave.pc);
        self.program.learn(launch.target.target, launch.code, range, pc);
        match self.program.info(range, pc) {
            Some(info) if info.kind == Kind::Wait && !satisfied(&actor.pending, &info.waits) => Next::Waits,
            Some(info) if info.kind.is_memory() && is_full(&actor.pending) => Next::Waits,
            Some(info) if info.kind == Kind::Vector => Next::Vector,
            _ => Next::Free,
        }
    }

    /// Executes one instruction. It must be neither a vector memory instruction nor a wait that is not
    /// satisfied.
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

    /// Returns the length of the next instruction in dwords. Fails if the instruction uses registers that the
    /// wave does not have.
    pub(super) fn fetch(&self, state: &State, at: usize) -> Result<u32, Trap> {
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

    /// Returns whether the requests of a queue can be performed without an effect on other waves.
    pub(super) fn is_own_key(&self, key: &Key) -> bool {
        match key {
            Key::Line { line, .. } => self.own.contains(line),
            Key::Scalar { .. } => self.constants,
            Key::Lds { .. } | Key::Transfer { .. } | Key::L2 { .. } => false,
        }
    }

    /// Opens the barrier of a group if all of its waves that have not ended have arrived at the barrier.
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
