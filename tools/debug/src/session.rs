//! A debugged dispatch: decides where waves stop, and carries out the action that the front end chooses at
//! each stop.
//!
//! The instructions of all waves are numbered together in the order of their execution, from 1. The number of
//! an instruction is its *ordinal*. Runs of the same dispatch execute the same instructions in the same
//! order, so an ordinal identifies a point of the execution.

use crate::breakpoints::{Breakpoint, Breakpoints, Watchpoint};
use crate::instruction::Instruction;
use crate::program::{Line, Program};
use crate::stop::{Reason, Stop, watched};
use crate::waves::{Wave, WaveId};
use rustc_hash::FxHashMap;
use sim::{Debugger, Fault, Go, Report, Stopped, Write};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limit on the number of choices of the schedule (in weak mode) that are kept for the front end. Older
/// choices are dropped.
const CHOICES: usize = 64;

/// Length of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One instruction of the wave.
    Instruction,
    /// Step to another line. The step enters functions that are called.
    Line,
    /// Step to another line. If the line calls a function, the function runs to its return as part of the
    /// step.
    Over,
    /// Step to a later line of this function, or to its caller. The step does not stop in loops that go back
    /// to earlier lines or in called functions.
    Past,
    /// Run until the function returns.
    Out,
}

/// What the front end wants the dispatch to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run to the next breakpoint.
    Continue,
    /// Step the wave, or the lane that was chosen.
    Step(Step),
    /// Run until the schedule of weak mode makes its next choice.
    Choice,
    /// Execute one instruction of another wave of the same group. The field is the number of this wave.
    StepWave(u32),
    /// Run until one of these addresses is reached or the current function returns.
    Until(Vec<u64>),
    /// Step backwards: by an instruction, by a line, or by a line without entering called functions.
    Back(Step),
    /// Go back to the last stop at a breakpoint or watchpoint before this one, or to the beginning.
    BackToBreakpoint,
    /// Go to the instruction with this ordinal.
    To(u64),
    /// Continue what a stop has interrupted. After a stop for [`Reason::Asked`], the step or run before that
    /// stop continues. After any other stop, the dispatch runs to the next breakpoint.
    Resume,
    /// Carry out these writes to registers and memory, which [`Stop::set`] returned, without executing an
    /// instruction. The front end is then called again with [`Reason::Set`].
    Set(Vec<Write>),
    /// Run to the end of the dispatch without stopping again.
    Detach,
    /// End the session without running further.
    Quit,
}

/// The debugger's user interface.
pub trait FrontEnd: Send {
    /// Called when a wave has stopped. Returns how the dispatch continues.
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action;

    /// Returns whether the front end wants the dispatch to stop, for example because the user has asked for a
    /// stop. The session calls this method before each instruction, so it has to be cheap.
    fn is_waiting(&mut self) -> bool {
        false
    }

    /// Called with the message of a breakpoint that logs a message instead of stopping the wave.
    fn logged(&mut self, _text: &str) {}

    /// Called when the dispatch has ended for a reason other than [`Action::Quit`]. Returns whether the front
    /// end wants a stop at the last instruction, for [`Reason::Ended`].
    fn wants_final_stop(&mut self) -> bool {
        false
    }

    /// Called when the session and the dispatch have ended. The argument says whether the dispatch ended
    /// without an error.
    fn ended(&mut self, _is_well: bool) {}
}

/// What the session waits for, in addition to breakpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Want {
    /// The first instruction of the dispatch.
    Begin,
    /// Nothing: only breakpoints and watchpoints stop a wave.
    Nothing,
    Instruction(WaveId),
    Line {
        who: WaveId,
        from: Option<Line>,
        depth: usize,
        /// Number of inlined functions that contain the address where the step began.
        inlined: usize,
        step: Step,
    },
    Out {
        who: WaveId,
        depth: usize,
    },
    Address {
        who: WaveId,
        addresses: Vec<u64>,
        depth: usize,
    },
    /// The next choice of the schedule of weak mode.
    Choice,
    /// The instruction with this ordinal.
    Ordinal(u64),
    /// Stop at the last instruction of the dispatch, which has ended once and is run again for this purpose.
    /// The field is the ordinal of this instruction, its number in the order of execution.
    Last(u64),
    /// Go back to the last stop at a breakpoint before the instruction with the ordinal `limit`. The dispatch
    /// is run again up to there to find this stop. `found` is the ordinal of the latest stop that has been
    /// found so far.
    LastBefore {
        limit: u64,
        found: Option<u64>,
    },
    /// The end of the dispatch: no wave stops.
    End,
}

pub(crate) struct State {
    pub ordinal: u64,
    pub waves: FxHashMap<WaveId, Wave>,
    pub lane: Option<u32>,
    /// Number of the wave of the group that the user looks at. `None` if that is the wave that has stopped.
    pub wave: Option<u32>,
    /// Lane for which the wave has stopped.
    pub focus: Option<u32>,
    /// Log messages of breakpoints that have not been passed to the front end yet.
    logs: Vec<String>,
    /// Identifiers of the breakpoints that stop the wave here.
    hit: Vec<u32>,
    pub breakpoints: Vec<Breakpoint>,
    pub watchpoints: Vec<Watchpoint>,
    /// Choices that the schedule has made since the last stop, oldest first.
    pub choices: VecDeque<String>,
    ids: u32,
    want: Want,
    /// The properties of each instruction that a wave has reached, by the instruction's address.
    instructions: FxHashMap<u64, Instruction>,
    /// Writes by which the user has changed variables or registers. Each element has the ordinal of the
    /// instruction before which the user made the writes, and the elements are in the order of these
    /// ordinals. When the dispatch is run again, the session makes the same writes again.
    set: Vec<(u64, Vec<Write>)>,
    /// `due` has the writes to carry out before the current instruction. `is_setting` says whether the front
    /// end is called after them.
    due: Vec<Write>,
    is_setting: bool,
    /// Wave and address of the last instruction.
    last: Option<(WaveId, u64)>,
    again: bool,
    quit: bool,
    /// Ordinal of the instruction at which the dispatch has failed. Set after the front end has been called
    /// for the failure.
    failed: Option<u64>,
    /// Whether the dispatch has ended and a wave is stopped at its last instruction.
    is_at_end: bool,
    /// Whether the front end was called for the end of the dispatch and did not ask to go back.
    has_left: bool,
}

impl State {
    pub(crate) fn next_id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    /// Counts the instruction that a wave is about to execute, and updates the wave's state.
    fn arrive(&mut self, at: &Stopped<'_>, program: &Program) {
        self.ordinal += 1;
        let known = self.instructions.entry(at.address());
        let instruction = known.or_insert_with(|| Instruction::new(at, program));
        self.waves.entry(WaveId::from_stop(at)).or_default().advance(at, instruction, self.ordinal);
    }

    /// Returns the reason for a stop if the last instruction has changed a watched value. Reads the memory of
    /// all watchpoints even if the first has changed, so that each watchpoint remembers its new value.
    fn changed(&mut self, at: &Stopped<'_>, program: &Program) -> Option<Reason> {
        let by = self.last;
        let mut first = None;
        for watch in &mut self.watchpoints {
            if let Some((old, new)) = watch.take_change(at)
                && watch.arrival_filter.is_enabled
                && watch.arrival_filter.stops(self.ordinal)
                && first.is_none()
            {
                let (old, new) = (watched(program, at, watch, old), watched(program, at, watch, new));
                first = Some(Reason::Changed { id: watch.id, old, new, by });
            }
        }
        first
    }

    /// Returns the reason for a stop if the wave has reached a breakpoint. Visits all breakpoints even if the
    /// first stops the wave, so that each breakpoint counts the arrival.
    fn hit(&mut self, at: &Stopped<'_>, program: &Program) -> Option<Reason> {
        let (chosen, ordinal) = (self.lane, self.ordinal);
        let presence = self.waves.get(&WaveId::from_stop(at))?.presence;
        let mut first = None;
        for breakpoint in self.breakpoints.iter_mut().filter(|one| one.arrival_filter.is_enabled) {
            let Some(lanes) = breakpoint.reached(at, &presence, chosen) else { continue };
            let Some(hit) = breakpoint.hit(at, program, lanes, presence.entered) else { continue };
            if !breakpoint.arrival_filter.stops(ordinal) {
                continue;
            }
            match &breakpoint.log {
                Some(log) if hit.problem.is_none() => {
                    self.logs.push(crate::log::text(log, at, program, hit.lane.or(chosen)));
                }
                _ => {
                    self.hit.push(breakpoint.id);
                    if first.is_none() {
                        self.focus = hit.lane;
                        first = Some(match hit.problem {
                            Some(why) => Reason::Condition { id: breakpoint.id, why },
                            None => Reason::Breakpoint(breakpoint.id),
                        });
                    }
                }
            }
        }
        first
    }

    /// Returns the reason for a stop if the step is complete.
    fn arrived(&self, at: &Stopped<'_>) -> Option<Reason> {
        let (who, address) = (WaveId::from_stop(at), at.address());
        let wave = self.waves.get(&who)?;
        let (depth, presence) = (wave.calls.len(), &wave.presence);
        // Only the lanes that execute the instruction have made a step. If the user has chosen a lane, the
        // step is complete only when this lane executes an instruction of another line, because parked lanes
        // have not moved.
        let counts = |lanes: u64| self.lane.map_or(lanes != 0, |lane| lanes >> lane & 1 != 0);
        match &self.want {
            Want::Begin => Some(Reason::Begin),
            Want::Instruction(of) => (*of == who).then_some(Reason::Step),
            Want::Line { who: of, from, depth: before, inlined, step } => {
                let instruction = self.instructions.get(&address)?;
                let line = instruction.line;
                // A step into a function stops after the function's prologue.
                let begins = instruction.begins && !(instruction.is_prologue && depth > *before);
                let begins = counts(presence.beginning(begins, address));
                let is_other = match step {
                    Step::Past => is_past((*from, *inlined), (line, instruction.inlined)),
                    _ => line != *from,
                };
                let is_new = begins && is_other || depth < *before && counts(presence.active);
                let is_here = *of == who && (*step == Step::Line || depth <= *before);
                (is_here && line.is_some() && is_new).then_some(Reason::Step)
            }
            Want::Out { who: of, depth: before } => {
                (*of == who && depth < *before && counts(presence.active)).then_some(Reason::Finished)
            }
            Want::Address { who: of, addresses, depth: before } => {
                let is_there = counts(presence.arriving(addresses, address));
                let is_out = depth < *before && counts(presence.active);
                (*of == who && (is_there || is_out)).then_some(Reason::Step)
            }
            Want::Ordinal(number) => (self.ordinal >= *number).then_some(Reason::Arrived),
            Want::Last(number) => (self.ordinal >= *number).then_some(Reason::Ended),
            Want::Nothing | Want::Choice | Want::LastBefore { .. } | Want::End => None,
        }
    }

    /// Returns the reason for which the wave stops before this instruction, or `None` if it does not stop.
    fn reason(&mut self, at: &Stopped<'_>, program: &Program) -> Option<Reason> {
        self.hit.clear();
        let changed = self.changed(at, program);
        match &self.want {
            Want::End => None,
            Want::Ordinal(_) | Want::Last(_) => {
                // While the dispatch is run again to reach an earlier instruction, breakpoints count their
                // arrivals but do not stop.
                self.hit(at, program);
                (self.focus, self.logs) = (None, Vec::new());
                self.arrived(at)
            }
            Want::LastBefore { limit, .. } => {
                let limit = *limit;
                if self.ordinal >= limit {
                    return None;
                }
                let hit = changed.or(self.hit(at, program));
                self.logs.clear();
                if let (Some(_), Want::LastBefore { found, .. }) = (hit, &mut self.want) {
                    *found = Some(self.ordinal);
                }
                None
            }
            _ => {
                let hit = self.hit(at, program);
                let once = |one: &Breakpoint| one.arrival_filter.is_temporary && self.hit.contains(&one.id);
                self.breakpoints.retain(|one| !once(one));
                changed.or(hit).or_else(|| self.arrived(at))
            }
        }
    }

    /// Goes to the instruction with number `ordinal` in the order of execution. A later instruction is
    /// reached by running on, an earlier one by running the dispatch again from its beginning.
    fn go_to(&mut self, ordinal: u64) -> Go {
        self.again = ordinal <= self.ordinal;
        self.want = Want::Ordinal(ordinal.max(1));
        if self.again { Go::End } else { Go::On }
    }

    /// Returns the writes that the user has made at the stop directly before instruction number `ordinal` (in
    /// the order of execution), in their order.
    fn set_before(&self, ordinal: u64) -> Vec<Write> {
        let own = self.set.iter().filter(|(other, _)| *other == ordinal);
        own.flat_map(|(_, writes)| writes.iter().cloned()).collect()
    }

    /// Returns whether a wave may stop here. No wave may stop while the session is on its way to a certain
    /// instruction.
    fn may_stop(&self) -> bool {
        !matches!(self.want, Want::End | Want::Ordinal(_) | Want::Last(_) | Want::LastBefore { .. })
    }

    /// Carries out an action of the front end.
    fn carry_out(&mut self, action: Action, at: &Stopped<'_>, program: &Program) -> Go {
        // The action applies to the wave that the user looks at.
        let chosen = self.wave.take().and_then(|wave| at.wave_of_group(wave));
        let at = chosen.as_ref().unwrap_or(at);
        let who = WaveId::from_stop(at);
        // If the user looks at another wave of the group, this wave may not have executed any instruction
        // yet. There is no state for it then.
        let wave = self.waves.get(&who);
        let (depth, now) = (wave.map_or(0, |wave| wave.calls.len()), self.ordinal);
        // At the end of the dispatch the wave has executed its last instruction, so only actions that go back
        // make sense.
        let is_at_end = std::mem::take(&mut self.is_at_end);
        let goes_back = matches!(action, Action::Back(_) | Action::BackToBreakpoint | Action::To(_));
        if is_at_end && !goes_back {
            self.has_left = true;
            return Go::End;
        }
        match action {
            Action::Continue | Action::Resume => self.want = Want::Nothing,
            Action::Choice => self.want = Want::Choice,
            Action::Detach => self.want = Want::End,
            Action::StepWave(wave) => self.want = Want::Instruction(WaveId { wave, ..who }),
            Action::Step(Step::Instruction) => self.want = Want::Instruction(who),
            Action::Step(step @ (Step::Line | Step::Over | Step::Past)) => {
                // A lane that is parked waits at a later block and is not in the wave's current line. A step
                // of such a lane therefore has no line to start from.
                let here = wave.map_or_else(|| at.exec(), |wave| wave.presence.participating_lanes());
                let is_here = self.lane.is_none_or(|lane| here >> lane & 1 != 0);
                let from = program.line_at(at.address()).filter(|_| is_here);
                let inlined = program.inlined_at(at.address());
                self.want = Want::Line { who, from, depth, inlined, step };
            }
            Action::Step(Step::Out) => self.want = Want::Out { who, depth },
            Action::Until(addresses) => self.want = Want::Address { who, addresses, depth },
            Action::Back(Step::Instruction) if is_at_end => return self.go_to(now),
            Action::Back(Step::Instruction) => {
                let to = wave.and_then(|wave| wave.before);
                return self.go_to(to.unwrap_or(1));
            }
            Action::Back(step) => {
                let to = wave.and_then(|wave| wave.turn_before(step != Step::Line, self.lane, is_at_end));
                return self.go_to(to.unwrap_or(1));
            }
            Action::BackToBreakpoint => {
                self.want = Want::LastBefore { limit: now + u64::from(is_at_end), found: None };
                self.again = true;
                return Go::End;
            }
            Action::To(ordinal) => return self.go_to(ordinal),
            Action::Set(writes) => {
                // Writes that the user made before later instructions are dropped, because the execution will
                // be different from here on.
                self.set.retain(|(ordinal, _)| *ordinal <= now);
                self.set.push((now, writes.clone()));
                (self.due, self.is_setting) = (writes, true);
                return Go::Write;
            }
            Action::Quit => {
                self.quit = true;
                return Go::End;
            }
        }
        Go::On
    }

    /// Prepares the state for a run from the beginning of the dispatch: forgets the waves and resets all
    /// counts.
    fn begin(&mut self) {
        self.ordinal = 0;
        self.waves.clear();
        self.last = None;
        self.choices.clear();
        for breakpoint in &mut self.breakpoints {
            (breakpoint.hits, breakpoint.last) = (0, None);
            breakpoint.arrival_filter.begin();
        }
        for watch in &mut self.watchpoints {
            watch.old = None;
            watch.arrival_filter.begin();
        }
        self.again = false;
        self.failed = None;
        self.is_at_end = false;
    }
}

/// Returns whether a step has reached a position past the position at which it began. The first argument is
/// the position at the beginning, and the second the position that the step has reached. The second is past
/// the first if it is at a later line of the same function, or in a function into which this function is
/// inlined. A position consists of a line and the number of inlined functions around it.
fn is_past((from, inlined): (Option<Line>, usize), (line, around): (Option<Line>, usize)) -> bool {
    match (from, line) {
        (Some(from), Some(line)) if around == inlined => line.file == from.file && line.line > from.line,
        _ => around <= inlined && line != from,
    }
}

struct Inner {
    state: State,
    front_end: Box<dyn FrontEnd>,
}

/// A debugged dispatch.
pub struct Session {
    program: Program,
    inner: Mutex<Inner>,
}

impl Session {
    /// Creates a session that stops at the first instruction.
    pub fn new(program: Program, front_end: Box<dyn FrontEnd>) -> Session {
        let state = State {
            ordinal: 0,
            waves: FxHashMap::default(),
            lane: None,
            wave: None,
            focus: None,
            logs: Vec::new(),
            hit: Vec::new(),
            breakpoints: Vec::new(),
            watchpoints: Vec::new(),
            choices: VecDeque::new(),
            ids: 0,
            want: Want::Begin,
            instructions: FxHashMap::default(),
            set: Vec::new(),
            due: Vec::new(),
            is_setting: false,
            last: None,
            again: false,
            quit: false,
            failed: None,
            is_at_end: false,
            has_left: false,
        };
        Session { program, inner: Mutex::new(Inner { state, front_end }) }
    }

    /// The object.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Makes the dispatch run to the next breakpoint instead of stopping at the first instruction. With
    /// `to_the_end`, the dispatch does not stop at all.
    pub fn run_on(&self, to_the_end: bool) {
        self.inner().state.want = if to_the_end { Want::End } else { Want::Nothing };
    }

    /// Calls `change` with access to the breakpoints, before the dispatch begins.
    pub fn with_breakpoints<T>(&self, change: impl FnOnce(Breakpoints<'_>) -> T) -> T {
        change(Breakpoints { program: &self.program, state: &mut self.inner().state, here: None })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the caller must run the dispatch again from its beginning with the same arguments. The
    /// caller asks when the dispatch has ended. If the result is true, the session has forgotten the state of
    /// the waves.
    pub fn wants_again(&self) -> bool {
        let state = &mut self.inner().state;
        if let Want::LastBefore { found, .. } = state.want
            && !state.again
        {
            state.want = Want::Ordinal(found.unwrap_or(1));
            state.again = true;
        }
        let again = state.again;
        if again {
            state.begin();
        }
        again
    }

    /// Returns whether the front end may be called at the end of a dispatch, after at least one instruction.
    /// It is not called if the dispatch was to run to its end without stopping, as after [`Action::Detach`].
    /// Nor is it called if it was already called at the last instruction, for example because the dispatch
    /// failed there.
    pub fn may_stay(&self) -> bool {
        let state = &self.inner().state;
        let has_been_heard = state.failed == Some(state.ordinal) || matches!(state.want, Want::Last(_));
        state.ordinal > 0 && state.want != Want::End && !has_been_heard
    }

    /// Asks the front end whether it wants a stop at the end of the dispatch, and returns the answer. The
    /// caller asks when the dispatch has ended and [`Session::may_stay`] is true. If the answer is yes, the
    /// caller must run the dispatch again, as for [`Session::wants_again`]; the dispatch then stops at its
    /// last instruction.
    pub fn wants_final_stop(&self) -> bool {
        let Inner { state, front_end } = &mut *self.inner();
        let stays = front_end.wants_final_stop();
        if stays {
            state.want = Want::Last(state.ordinal);
            state.begin();
        }
        stays
    }

    /// Tells the front end that the dispatch has ended and will not be run again; `is_well` says whether it
    /// ended without an error.
    pub fn ended(&self, is_well: bool) {
        self.inner().front_end.ended(is_well);
    }

    /// Returns whether the user has ended the session before the end of the dispatch.
    pub fn has_quit(&self) -> bool {
        self.inner().state.quit
    }

    /// Returns whether the front end was called for the end of the dispatch and did not ask to go back.
    pub fn has_left(&self) -> bool {
        self.inner().state.has_left
    }
}

impl Debugger for Session {
    fn before(&self, at: &Stopped<'_>) -> Go {
        let Inner { state, front_end } = &mut *self.inner();
        state.arrive(at, &self.program);
        if matches!(state.want, Want::LastBefore { limit, .. } if state.ordinal >= limit) {
            return Go::End;
        }
        state.due = state.set_before(state.ordinal);
        if !state.due.is_empty() {
            return Go::Write;
        }
        self.stop_if_due(at, state, &mut **front_end)
    }

    fn writes(&self) -> Vec<Write> {
        std::mem::take(&mut self.inner().state.due)
    }

    fn written(&self, at: &Stopped<'_>) -> Go {
        let Inner { state, front_end } = &mut *self.inner();
        if !std::mem::take(&mut state.is_setting) {
            return self.stop_if_due(at, state, &mut **front_end);
        }
        // The watchpoints now remember the values that the user has just set, so that these writes do not
        // stop the wave.
        state.watchpoints.iter_mut().for_each(|watch| drop(watch.take_change(at)));
        self.stop(at, Reason::Set, state, &mut **front_end)
    }

    fn found(&self, at: &Stopped<'_>, what: &Report) -> Go {
        self.wrong(at, Reason::Found(Box::new(what.clone())))
    }

    fn trapped(&self, at: &Stopped<'_>, why: &Fault) {
        // The dispatch cannot continue after a fault, but the user can go back to an earlier instruction.
        self.wrong(at, Reason::Trapped(Box::new(why.clone())));
    }

    fn chosen(&self, at: &Stopped<'_>, what: &str) -> Go {
        let Inner { state, front_end } = &mut *self.inner();
        if state.choices.len() == CHOICES {
            state.choices.pop_front();
        }
        let who = WaveId::from_stop(at);
        state.choices.push_back(format!("{who}: {what}"));
        if state.want != Want::Choice || !state.waves.contains_key(&who) {
            return Go::On;
        }
        state.focus = None;
        self.stop(at, Reason::Chosen(what.to_owned()), state, &mut **front_end)
    }
}

impl Session {
    /// Stops the wave before its instruction if there is a reason. Returns how the dispatch continues.
    fn stop_if_due(&self, at: &Stopped<'_>, state: &mut State, front_end: &mut dyn FrontEnd) -> Go {
        state.focus = None;
        let reason = state.reason(at, &self.program);
        state.logs.drain(..).for_each(|log| front_end.logged(&log));
        let reason = reason.or_else(|| front_end.is_waiting().then_some(Reason::Asked));
        let go = reason.map_or(Go::On, |reason| self.stop(at, reason, state, front_end));
        state.last = Some((WaveId::from_stop(at), at.address()));
        go
    }

    /// Stops a wave: calls the front end and carries out the action that it returns.
    fn stop(&self, at: &Stopped<'_>, reason: Reason, state: &mut State, front_end: &mut dyn FrontEnd) -> Go {
        let is_asked = reason == Reason::Asked;
        state.is_at_end = reason == Reason::Ended;
        let want = std::mem::replace(&mut state.want, Want::Nothing);
        state.wave = None;
        let action = front_end.stopped(&mut Stop::new(reason, at, &self.program, state));
        if is_asked && action == Action::Resume {
            state.want = want;
            return Go::On;
        }
        state.choices.clear();
        state.carry_out(action, at, &self.program)
    }

    /// Stops the wave at an instruction that causes an error. While the session is on its way to a certain
    /// instruction, an error does not stop the wave.
    fn wrong(&self, at: &Stopped<'_>, reason: Reason) -> Go {
        let Inner { state, front_end } = &mut *self.inner();
        if !state.may_stop() {
            return Go::On;
        }
        state.focus = lane_of(&reason);
        state.failed = matches!(reason, Reason::Trapped(_)).then_some(state.ordinal);
        self.stop(at, reason, state, &mut **front_end)
    }
}

/// Returns the lane in which the error occurred.
fn lane_of(reason: &Reason) -> Option<u32> {
    match reason {
        Reason::Found(report) => report.at.lane,
        Reason::Trapped(fault) => fault.places().first()?.lane,
        _ => None,
    }
}
