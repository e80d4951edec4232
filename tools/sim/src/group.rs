//! A work-group: its waves and LDS. The groups run in turns: a group runs for a limited number of
//! instructions, and then another group continues. A group that waits therefore does not block the other
//! groups.

use crate::debug::{Debugging, Others};
use crate::exec::{Cx, Flow, Scratch};
use crate::fault::{Fault, Location, NOWHERE, Trap};
use crate::hidden;
use crate::launch::Launch;
use crate::observe::Observing;
use crate::op::{AGPR0, Class, Code, Op, Src, VGPR0};
use crate::stack;
use crate::stalled::{self, LoopNotes, LoopWatch, PolledLocation};
use crate::stats::Counts;
use crate::strict::{GroupShadow, Report, Watcher};
use crate::time_slices::TimeSlices;
use crate::trap;
use crate::watch::Watch;
use crate::wave::{Wave, WaveState, reg};
use isa::Reg;

/// How a turn of a group ended.
pub(crate) enum SliceEnd {
    Done,
    /// The group has used up the instructions of its turn.
    Yield,
    /// No wave of the group can do anything now. Each wave is at a barrier, or waits for another wave, or is
    /// assumed to wait.
    Waits,
    /// The group can never continue. Each wave is at a barrier or repeats a loop without progress, and these
    /// loops read only memory that other groups cannot change.
    Stalled(Vec<StalledWave>),
    Fault(Fault),
}

/// Number of turns after which the emulator checks for the first time whether the waves of the group block
/// one another. Only turns at whose end all waves of the group waited are counted.
const SOME_WAITS: u64 = 16;

/// Why a wave stopped executing instructions.
enum Stop {
    Slice,
    Barrier,
    End,
    Sleep,
    /// The wave seems to wait for another wave: a load or an atomic in a loop has given the same result
    /// again.
    Poll,
    Trap(Trap),
}

/// When a wave is next checked for progress. The function [`standing`] makes such checks.
#[derive(Clone, Copy)]
pub(crate) struct ProgressChecks {
    /// Whether the last check found no progress.
    is_stalled: bool,
    /// Number of instructions that the wave has executed since its last check. The next field is the number
    /// after which the next check takes place.
    since: u64,
    every: u64,
}

impl ProgressChecks {
    const NONE: ProgressChecks = ProgressChecks { is_stalled: false, since: 0, every: 4096 };
    /// Number of instructions until the next check, after a check that found no progress. It is small, so
    /// that the wave is soon checked again.
    const SOON: u64 = 256;
}

/// A wave that makes no progress, and the locations that its loop reads.
pub(crate) struct StalledWave {
    pub(crate) wave: usize,
    pub(crate) polled: Vec<PolledLocation>,
    /// Whether the loop reads memory that other groups or the host may change, so that the wave may still
    /// continue.
    pub(crate) reads_memory: bool,
    /// Mask of the lanes that read memory in the loop.
    pub(crate) lanes: u64,
}

pub(crate) struct Group {
    pub(crate) id: [u32; 3],
    /// Position of the group in the order in which groups start.
    pub(crate) number: u64,
    /// Number of turns that the group has had.
    pub(crate) turns: u64,
    pub(crate) waves: Vec<Wave>,
    /// Number of turns of the group at whose end all waves waited.
    pub(crate) waits: u64,
    /// State of the progress checks, for each wave.
    pub(crate) progress_checks: Vec<ProgressChecks>,
    /// Index of the wave that runs first in the next turn.
    pub(crate) next: usize,
    /// Strict mode's shadow of the group.
    pub(crate) shadow: Option<Box<GroupShadow>>,
    pub(crate) lds: Vec<u32>,
    pub(crate) lds_bytes: u32,
    pub(crate) counts: Counts,
    pub(crate) executed: u64,
}

impl Group {
    /// Runs one turn of the group. The turn ends when all waves have ended or wait, or when the waves have
    /// executed their share of `budget` instructions.
    pub(crate) fn run_slice(
        &mut self,
        launch: &Launch<'_>,
        scratch: &mut Scratch,
        turns: &mut TimeSlices,
        budget: u64,
    ) -> SliceEnd {
        let count = self.waves.len();
        let share = turns.share(self.turns, count);
        let stop_at = self.executed + budget.min(share.group);
        self.progress_checks.resize(count, ProgressChecks::NONE);
        loop {
            let (mut ran, mut waited) = (0, 0);
            let first = turns.first_wave(count, self.next);
            for at in (first..count).chain(0..first) {
                if self.executed >= stop_at {
                    self.next = at;
                    break;
                }
                if self.waves[at].state != WaveState::Ready {
                    continue;
                }
                ran += 1;
                let slice = turns.wave(share).min(stop_at - self.executed);
                let stop = self.run_one_slice(at, launch, scratch, slice);
                waited += usize::from(matches!(stop, Stop::Sleep | Stop::Poll));
                if let Err(trap) = self.enter(at, stop, launch) {
                    return SliceEnd::Fault(self.fault(at, launch, trap));
                }
            }
            if self.waves.iter().all(|wave| wave.state == WaveState::Done) {
                return SliceEnd::Done;
            }
            self.open_barrier(launch);
            if ran == waited && self.executed < stop_at {
                return self.wait(launch, scratch);
            }
            if self.executed >= stop_at {
                return SliceEnd::Yield;
            }
        }
    }

    /// Ends a turn in which all waves waited. In fast mode, checks from time to time whether the waves of the
    /// group wait only for one another. In strict mode, the scheduler makes this check for all groups
    /// together, because it can then report more.
    fn wait(&mut self, launch: &Launch<'_>, scratch: &mut Scratch) -> SliceEnd {
        self.waits += 1;
        let looks = self.waits >= SOME_WAITS && self.waits.is_power_of_two() && launch.strict.is_none();
        if !looks {
            return SliceEnd::Waits;
        }
        match self.standing(launch, scratch) {
            Ok(Some(standing)) if !standing.is_empty() && standing.iter().all(|one| !one.reads_memory) => {
                SliceEnd::Stalled(standing)
            }
            Ok(_) => SliceEnd::Waits,
            Err(fault) => SliceEnd::Fault(fault),
        }
    }

    /// Runs a wave for one slice of instructions. If the last check of the wave found no progress, checks the
    /// wave again before the slice.
    fn run_one_slice(&mut self, at: usize, launch: &Launch<'_>, scratch: &mut Scratch, slice: u64) -> Stop {
        if self.progress_checks[at].is_stalled {
            match self.check_progress(at, launch, scratch) {
                Stop::Slice => {}
                stop => return stop,
            }
        }
        let stop = self.run_wave(at, launch, scratch, None, slice);
        let looks = &mut self.progress_checks[at];
        looks.since += slice;
        if matches!(stop, Stop::Slice) && looks.since >= looks.every {
            self.check_progress(at, launch, scratch)
        } else {
            stop
        }
    }

    /// Checks whether a wave makes progress. If it makes none, returns [`Stop::Poll`], which means that the
    /// wave waits. Otherwise returns why the wave stopped after the check.
    fn check_progress(&mut self, at: usize, launch: &Launch<'_>, scratch: &mut Scratch) -> Stop {
        let looked = self.run_loop_once(at, launch, scratch);
        let looks = &mut self.progress_checks[at];
        looks.since = 0;
        looks.is_stalled = looked.is_ok();
        match looked {
            Ok(_) => {
                looks.every = ProgressChecks::SOON;
                Stop::Poll
            }
            Err(stop) => {
                // A check takes time. If the wave makes progress, the interval until the next check is
                // therefore doubled.
                looks.every *= 2;
                stop
            }
        }
    }

    /// Updates the wave's state after the wave has stopped for the reason `stop`. If the reason is a trap,
    /// returns the trap.
    fn enter(&mut self, at: usize, stop: Stop, launch: &Launch<'_>) -> Result<(), Trap> {
        match stop {
            Stop::Slice => {}
            Stop::Sleep | Stop::Poll => launch.serve_host()?,
            Stop::Barrier => self.waves[at].state = WaveState::AtBarrier,
            Stop::End => self.waves[at].state = WaveState::Done,
            Stop::Trap(trap) => return Err(trap),
        }
        Ok(())
    }

    /// Lets the waves continue after a barrier, if each wave of the group has arrived at the barrier or has
    /// ended.
    fn open_barrier(&mut self, launch: &Launch<'_>) {
        if self.waves.iter().any(|wave| wave.state == WaveState::Ready) {
            return;
        }
        let waiting = self.waves.iter_mut().filter(|wave| wave.state == WaveState::AtBarrier);
        waiting.for_each(|wave| wave.state = WaveState::Ready);
        if let (Some(shadow), Some(shared)) = (&mut self.shadow, &launch.strict) {
            Watcher::new(shared, shadow).pass_barrier();
        }
    }

    /// Runs a wave until it comes back to its current instruction, to find out whether it makes progress. The
    /// wave makes no progress if it comes back in the same state and has changed nothing. Returns the
    /// locations that such a wave has read. For any other wave, returns why it stopped.
    fn run_loop_once(
        &mut self,
        at: usize,
        launch: &Launch<'_>,
        scratch: &mut Scratch,
    ) -> Result<LoopNotes, Stop> {
        let begin = self.waves[at].clone();
        let mut notes = LoopNotes::default();
        for _ in 0..stalled::LONGEST {
            let stop = self.run_wave(at, launch, scratch, Some(&mut notes), 1);
            let goes_on = matches!(stop, Stop::Slice | Stop::Poll | Stop::Sleep);
            if !goes_on || notes.has_changed {
                return Err(stop);
            }
            let wave = &self.waves[at];
            if (wave.range, wave.pc) == (begin.range, begin.pc) {
                // A loop that reads no memory does not wait for anything.
                let waits = !notes.polled.is_empty() && wave.is_as(&begin);
                return if waits { Ok(notes) } else { Err(stop) };
            }
        }
        Err(Stop::Slice)
    }

    /// Checks whether the waves of the group make progress, except for waves at a barrier. Returns the
    /// checked waves if none of them makes progress, and `None` otherwise.
    pub(crate) fn standing(
        &mut self,
        launch: &Launch<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<StalledWave>>, Fault> {
        let mut standing = Vec::new();
        for wave in 0..self.waves.len() {
            if self.waves[wave].state != WaveState::Ready {
                continue;
            }
            match self.run_loop_once(wave, launch, scratch) {
                Ok(LoopNotes { polled, reads_memory, lanes, .. }) => {
                    standing.push(StalledWave { wave, polled, reads_memory, lanes });
                }
                Err(stop) => {
                    let entered = self.enter(wave, stop, launch);
                    return entered.map(|()| None).map_err(|trap| self.fault(wave, launch, trap));
                }
            }
        }
        Ok(Some(standing))
    }

    /// Runs a wave for at most `slice` instructions. If `notes` is given, records in it which memory the wave
    /// reads and whether the wave changes anything.
    fn run_wave(
        &mut self,
        at: usize,
        launch: &Launch<'_>,
        scratch: &mut Scratch,
        notes: Option<&mut LoopNotes>,
        slice: u64,
    ) -> Stop {
        let mut watcher = match (&mut self.shadow, &launch.strict) {
            (Some(shadow), Some(shared)) => Some(Watcher::new(shared, shadow)),
            _ => None,
        };
        let mut observing =
            launch.observer.as_ref().map(|observer| Observing::new(observer, self.id, self.waves[at].id));
        let (before, behind) = self.waves.split_at_mut(at);
        let [wave, behind @ ..] = behind else { return Stop::End };
        let others = Others { before, behind };
        let mut cx = Cx {
            wave,
            lds: &mut self.lds,
            lds_bytes: self.lds_bytes,
            memory: launch.memory,
            code: launch.code,
            scratch,
            target: launch.target.target,
            trap: None,
            clock: self.executed * 4,
            locked64: launch.locked64,
            watch: None,
        };
        let watch = match (&mut watcher, &mut observing) {
            (Some(watcher), _) => Some(watcher as &mut dyn Watch),
            (None, Some(observing)) => Some(observing as &mut dyn Watch),
            (None, None) => None,
        };
        let mut round = None;
        let watch = match notes {
            Some(notes) => Some(round.insert(LoopWatch { notes, inner: watch }) as &mut dyn Watch),
            None => watch,
        };
        let mut debugging = None;
        cx.watch = match launch.debugger {
            Some(debugger) => {
                let group = self.id;
                Some(debugging.insert(Debugging { debugger, group, launch, others, inner: watch }))
            }
            None => watch,
        };
        let (stop, executed) = match cx.watch {
            Some(_) => run_watched(&mut cx, &mut self.counts, slice),
            None => run(&mut cx, &mut self.counts, slice),
        };
        self.executed += executed;
        stop
    }

    /// Returns the location of a wave for reports.
    pub(crate) fn location(&self, at: usize, launch: &Launch<'_>, lane: Option<u32>) -> Location {
        let wave = &self.waves[at];
        let location = launch.location(wave.range, wave.last, self.id, wave.id, lane);
        match &self.shadow {
            Some(shadow) => launch.with_calls(location, &shadow.calls(at)),
            None => location,
        }
    }

    /// Returns the location of the first `s_trap 3` (debug trap) that a wave of the group has executed.
    pub(crate) fn debug_trap(&self, launch: &Launch<'_>) -> Option<Location> {
        let wave = self.waves.iter().find(|wave| wave.debug_traps > 0)?;
        let (range, pc) = wave.debug_trap;
        Some(launch.location(range, pc, self.id, wave.id, None))
    }

    /// Returns the location of a wave that has not ended, for the message that the maximum number of
    /// instructions is used up.
    pub(crate) fn running_location(&self, launch: &Launch<'_>) -> Location {
        let running = self.waves.iter().position(|wave| wave.state != WaveState::Done);
        self.location(running.unwrap_or(0), launch, None)
    }

    /// Returns the number of waves that have not ended.
    pub(crate) fn running(&self) -> usize {
        self.waves.iter().filter(|wave| wave.state != WaveState::Done).count()
    }

    /// Returns the locations of the waves that have not ended.
    pub(crate) fn running_locations<'a>(
        &'a self,
        launch: &'a Launch<'_>,
    ) -> impl Iterator<Item = Location> + 'a {
        let running = (0..self.waves.len()).filter(|&at| self.waves[at].state != WaveState::Done);
        running.map(|at| self.location(at, launch, None))
    }

    /// Takes the findings of strict mode since the last call.
    pub(crate) fn take_reports(&mut self, launch: &Launch<'_>) -> Vec<Report> {
        match (&mut self.shadow, &launch.strict) {
            (Some(shadow), Some(shared)) => shadow.take_reports(launch, shared),
            _ => Vec::new(),
        }
    }

    fn fault(&self, at: usize, launch: &Launch<'_>, trap: Trap) -> Fault {
        if let Some(fault) = stack::fault(self, at, launch, trap) {
            return fault;
        }
        let refusal = match trap {
            Trap::Unsupported => {
                let wave = &self.waves[at];
                let code = launch.code.get(wave.range as usize);
                code.and_then(|code| code.refusal(launch.target.target, wave.last))
            }
            _ => None,
        };
        match fault(trap, launch, &self.waves[at], |lane| Box::new(self.location(at, launch, lane))) {
            Fault::Unsupported { address, text } => {
                let why = refusal.map_or(String::new(), |why| format!(" ({why})"));
                Fault::Unsupported { address, text: format!("{text}{why}") }
            }
            fault => fault,
        }
    }
}

/// Converts a trap to a fault, given the location of the trap.
pub(crate) fn fault(
    trap: Trap,
    launch: &Launch<'_>,
    wave: &Wave,
    here: impl Fn(Option<u32>) -> Box<Location>,
) -> Fault {
    match trap {
        Trap::Memory { address, bytes, access, reason, lane } => {
            let hidden = if reason == NOWHERE { hidden::reason(address, launch.kernel) } else { None };
            let reason = hidden.unwrap_or(reason);
            let at = here(Some(lane).filter(|&lane| lane < 64));
            let element = launch.names.describe(address, bytes);
            Fault::Memory { address, bytes, access, reason, element, at }
        }
        Trap::Unsupported => {
            let at = here(None);
            Fault::Unsupported { address: at.offset, text: at.text }
        }
        Trap::Refused(why) => {
            let at = here(None);
            Fault::Unsupported { address: at.offset, text: format!("{} ({why})", at.text) }
        }
        Trap::Fetch(address) => Fault::Fetch { address, at: here(None) },
        Trap::Register(code) => Fault::Register { register: format!("{:?}", Reg(code)), at: here(None) },
        Trap::Watched => Fault::Dispatch("stopped by its watcher".into()),
        Trap::Raised(id) => {
            let lanes = wave.exec();
            let first = (lanes != 0).then(|| lanes.trailing_zeros());
            Fault::Trap { id, lanes, note: trap::note(id, launch, wave), at: here(first) }
        }
        Trap::Hostcall(reason) => Fault::Hostcall { reason, at: here(None) },
    }
}

/// Runs a wave for at most `slice` instructions. Returns why the wave stopped, and the number of instructions
/// that it executed.
fn run(cx: &mut Cx<'_>, counts: &mut Counts, slice: u64) -> (Stop, u64) {
    let all_code = cx.code;
    let (vgprs, agprs, sgprs) = (cx.wave.vgprs, cx.wave.agprs, cx.wave.sgprs);
    let mut executed = 0;
    while executed < slice {
        let range = cx.wave.range;
        let Some(code) = all_code.get(range as usize) else { return (Stop::Trap(Trap::Fetch(0)), executed) };
        while executed < slice {
            let pc = cx.wave.pc;
            let Some(op) = code.ops.get(pc as usize) else {
                let address = code.base.wrapping_add(u64::from(pc) * 4);
                return (Stop::Trap(Trap::Fetch(address)), executed);
            };
            cx.wave.last = pc;
            cx.wave.pc = pc + u32::from(op.len);
            // The operators `|` do not short-circuit, so that the compiler makes only one branch for the
            // whole condition.
            if (op.vgprs > vgprs) | (op.agprs > agprs) | (op.sgprs > sgprs) {
                return (Stop::Trap(missing_register(op, cx.wave)), executed);
            }
            executed += 1;
            counts[op.class as usize] += 1;
            let flow = execute(cx, op);
            match flow {
                Flow::Next => {}
                Flow::Barrier => return (Stop::Barrier, executed),
                Flow::End => return (Stop::End, executed),
                Flow::Sleep => return (Stop::Sleep, executed),
                Flow::Poll => return (Stop::Poll, executed),
                Flow::Trap => return (Stop::Trap(cx.trap.take().unwrap_or(Trap::Unsupported)), executed),
            }
            if cx.wave.range != range {
                break;
            }
        }
    }
    (Stop::Slice, executed)
}

/// Returns the trap for an instruction that uses a register which the wave does not have.
#[cold]
pub(crate) fn missing_register(op: &Op, wave: &Wave) -> Trap {
    Trap::Register(if op.vgprs > wave.vgprs {
        VGPR0 + op.vgprs - 1
    } else if op.agprs > wave.agprs {
        AGPR0 + op.agprs - 1
    } else {
        op.sgprs - 1
    })
}

/// Runs a wave like [`run`], and also calls the watcher before and after each instruction.
fn run_watched(cx: &mut Cx<'_>, counts: &mut Counts, slice: u64) -> (Stop, u64) {
    let mut executed = 0;
    while executed < slice {
        let (range, pc) = (cx.wave.range, cx.wave.pc);
        let Some(code) = cx.code.get(range as usize) else { return (Stop::Trap(Trap::Fetch(0)), executed) };
        let Some(op) = code.ops.get(pc as usize) else {
            let address = code.base.wrapping_add(u64::from(pc) * 4);
            return (Stop::Trap(Trap::Fetch(address)), executed);
        };
        cx.wave.last = pc;
        cx.wave.pc = pc + u32::from(op.len);
        if op.vgprs > cx.wave.vgprs || op.agprs > cx.wave.agprs || op.sgprs > cx.wave.sgprs {
            return (Stop::Trap(missing_register(op, cx.wave)), executed);
        }
        executed += 1;
        counts[op.class as usize] += 1;
        if let Err(trap) = watching(cx, |watch, cx| watch.before(cx, op)) {
            return (Stop::Trap(trap), executed);
        }
        let flow = execute(cx, op);
        if let Err(trap) = watching(cx, |watch, cx| watch.after(cx, op, flow)) {
            return (Stop::Trap(trap), executed);
        }
        match flow {
            Flow::Next => {}
            Flow::Barrier => return (Stop::Barrier, executed),
            Flow::End => return (Stop::End, executed),
            Flow::Sleep => return (Stop::Sleep, executed),
            Flow::Poll => return (Stop::Poll, executed),
            Flow::Trap => return (Stop::Trap(cx.trap.take().unwrap_or(Trap::Unsupported)), executed),
        }
    }
    (Stop::Slice, executed)
}

/// Calls the watcher, which gets the context as an argument. The watcher is itself a part of the context, so
/// it is taken out of the context during the call.
#[inline]
fn watching(
    cx: &mut Cx<'_>,
    call: impl FnOnce(&mut dyn Watch, &mut Cx<'_>) -> Result<(), Trap>,
) -> Result<(), Trap> {
    let Some(watch) = cx.watch.take() else { return Ok(()) };
    let done = call(watch, cx);
    cx.watch = Some(watch);
    done
}

/// Runs an instruction, with regard to two modes of the wave. In VSKIP mode, vector instructions are skipped.
/// In VGPR indexing mode, M0 is added to the register numbers of vector arithmetic instructions.
#[inline(always)]
pub(crate) fn execute(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if cx.wave.unusual && matches!(op.class, Class::Valu | Class::Vmem | Class::Lds) {
        run_unusually(cx, op)
    } else {
        (op.run)(cx, op)
    }
}

#[cold]
fn run_unusually(cx: &mut Cx<'_>, op: &Op) -> Flow {
    match op.class {
        _ if cx.wave.vskip => Flow::Next,
        Class::Valu => run_indexed(cx, op),
        _ => (op.run)(cx, op),
    }
}

/// Runs a vector instruction with M0 added to its VGPR numbers (Vega ISA, "VGPR Indexing").
fn run_indexed(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let m0 = cx.wave.sgpr[reg::M0];
    let (index, enable) = (m0 & 0xff, m0 >> 12 & 15);
    let mut indexed = op.clone();
    let mut highest = u32::from(op.vgprs);
    for (at, src) in indexed.src.iter_mut().take(3).enumerate() {
        if let (Src::V(number @ 0..256), true) = (&mut *src, enable >> at & 1 != 0) {
            highest = highest.max(u32::from(*number) + index + u32::from(op.widest));
            *number += index as u16;
        }
    }
    if enable & 8 != 0 && (VGPR0..AGPR0).contains(&indexed.dst) {
        indexed.dst += index as u16;
        highest = highest.max(u32::from(indexed.dst - VGPR0) + u32::from(op.widest));
    }
    if highest > u32::from(cx.wave.vgprs) {
        return cx.fail(Trap::Register(VGPR0 + (highest - 1) as u16));
    }
    (op.run)(cx, &indexed)
}

/// Returns whether the code contains 64-bit atomics.
pub(crate) fn has_atomic64(code: &[Code]) -> bool {
    code.iter().any(|code| code.atomic64)
}
