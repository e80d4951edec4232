//! A debugged dispatch: when to stop, and what was decided there.

use crate::breakpoints::{Breakpoint, Breakpoints, Watchpoint};
use crate::instruction::Instruction;
use crate::program::{Line, Program};
use crate::stop::{Reason, Stop, watched};
use crate::waves::{Wave, Who};
use rustc_hash::FxHashMap;
use sim::{Debugger, Fault, Go, Report, Stopped, Write};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Things that the schedule has done which are kept.
const CHOICES: usize = 64;

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One instruction of the wave.
    Instruction,
    /// To another line, into functions that are called.
    Line,
    /// To another line, functions that are called at once.
    Over,
    /// To a later line of this function, or to its caller; loops and functions that are called at once.
    Past,
    /// Until the function returns.
    Out,
}

/// How a front end wants to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// To the next breakpoint.
    Continue,
    /// A step of the wave, or of the lane that was chosen.
    Step(Step),
    /// To what the schedule of weak mode does next.
    Choice,
    /// One instruction of another wave of the group.
    StepWave(u32),
    /// To an address or to where the function returns, once.
    Until(Vec<u64>),
    /// A step back: an instruction, a line, or a line without functions that were called.
    Back(Step),
    /// To the last stop at a breakpoint or watchpoint before this, or to the beginning.
    BackToBreakpoint,
    /// To the instruction of a number.
    To(u64),
    /// As before the front end was heard, for which [`Reason::Asked`] was the reason; else to the next breakpoint.
    Resume,
    /// Nowhere, but what [`Stop::set`] has is written; then the front end is heard again, for [`Reason::Set`].
    Set(Vec<Write>),
    /// To the end of the dispatch, whatever comes.
    Detach,
    /// Nowhere: the session ends.
    Quit,
}

/// Who talks to the user.
pub trait FrontEnd: Send {
    /// A wave has stopped.
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action;

    /// Whether it wants to be heard while the dispatch runs; asked before each instruction, so that it has to be cheap.
    fn is_waiting(&mut self) -> bool {
        false
    }

    /// A wave has come to a breakpoint that says something instead of stopping.
    fn logged(&mut self, _text: &str) {}

    /// The dispatch has ended by itself. Returns whether the front end is to be heard at its last instruction, for [`Reason::Ended`].
    fn stays(&mut self) -> bool {
        false
    }

    /// The session ends with the dispatch; whether that has ended as it should.
    fn ended(&mut self, _is_well: bool) {}
}

/// What the session waits for, beside breakpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Want {
    /// The first instruction.
    Begin,
    /// Nothing.
    Nothing,
    Instruction(Who),
    Line {
        who: Who,
        from: Option<Line>,
        depth: usize,
        /// Functions that are inlined around the place where the step began.
        inlined: usize,
        step: Step,
    },
    Out {
        who: Who,
        depth: usize,
    },
    Address {
        who: Who,
        addresses: Vec<u64>,
        depth: usize,
    },
    /// Something that the schedule does.
    Choice,
    /// An instruction by its number.
    Ordinal(u64),
    /// The last instruction of a dispatch that has ended, by its number.
    Last(u64),
    /// The last stop at a breakpoint before an instruction; the one found so far.
    LastBefore {
        limit: u64,
        found: Option<u64>,
    },
    /// The end.
    End,
}

pub(crate) struct State {
    pub ordinal: u64,
    pub waves: FxHashMap<Who, Wave>,
    pub lane: Option<u32>,
    /// The wave of the group that is looked at, if that is not the one that has stopped.
    pub wave: Option<u32>,
    /// The lane for which the wave has stopped.
    pub focus: Option<u32>,
    /// What breakpoints have said.
    logs: Vec<String>,
    /// Breakpoints that stop the wave here.
    hit: Vec<u32>,
    pub breakpoints: Vec<Breakpoint>,
    pub watchpoints: Vec<Watchpoint>,
    /// What the schedule has done since the last stop.
    pub choices: VecDeque<String>,
    ids: u32,
    want: Want,
    /// What is known of instructions that waves have come to.
    instructions: FxHashMap<u64, Instruction>,
    /// What was set in front of which instruction, in their order: it is set again on the way to another place.
    set: Vec<(u64, Vec<Write>)>,
    /// What is to be written now, and whether the front end is heard then.
    due: Vec<Write>,
    is_setting: bool,
    /// The wave and address of the last instruction.
    last: Option<(Who, u64)>,
    again: bool,
    quit: bool,
    /// The number of the instruction at which the dispatch has failed, after the front end was heard there.
    failed: Option<u64>,
    /// The dispatch has ended, and the wave stands at its last instruction.
    is_at_end: bool,
    /// The front end was heard at the end, and leaves.
    has_left: bool,
}

impl State {
    pub(crate) fn next_id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    /// The wave that is about to execute an instruction, brought up to date.
    fn arrive(&mut self, at: &Stopped<'_>, program: &Program) {
        self.ordinal += 1;
        let known = self.instructions.entry(at.address());
        let instruction = known.or_insert_with(|| Instruction::new(at, program));
        self.waves.entry(Who::of(at)).or_default().comes_to(at, instruction, self.ordinal);
    }

    /// A watched place that the last instruction has changed. All are looked at, so that each is known anew.
    fn changed(&mut self, at: &Stopped<'_>, program: &Program) -> Option<Reason> {
        let by = self.last;
        let mut first = None;
        for watch in &mut self.watchpoints {
            if let Some((old, new)) = watch.look(at)
                && watch.gate.is_enabled
                && watch.gate.stops(self.ordinal)
                && first.is_none()
            {
                let (old, new) = (watched(program, at, watch, old), watched(program, at, watch, new));
                first = Some(Reason::Changed { id: watch.id, old, new, by });
            }
        }
        first
    }

    /// The breakpoint that the wave has come to. All are looked at, so that each counts.
    fn hit(&mut self, at: &Stopped<'_>, program: &Program) -> Option<Reason> {
        let (chosen, ordinal) = (self.lane, self.ordinal);
        let presence = self.waves.get(&Who::of(at))?.presence;
        let mut first = None;
        for breakpoint in self.breakpoints.iter_mut().filter(|one| one.gate.is_enabled) {
            let Some(lanes) = breakpoint.reached(at, &presence, chosen) else { continue };
            let Some(hit) = breakpoint.hit(at, program, lanes, presence.entered) else { continue };
            if !breakpoint.gate.stops(ordinal) {
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

    /// Whether a step is done.
    fn arrived(&self, at: &Stopped<'_>) -> Option<Reason> {
        let (who, address) = (Who::of(at), at.address());
        let wave = self.waves.get(&who)?;
        let (depth, presence) = (wave.calls.len(), &wave.presence);
        // A lane that waits for others has not moved.
        let counts = |lanes: u64| self.lane.map_or(lanes != 0, |lane| lanes >> lane & 1 != 0);
        match &self.want {
            Want::Begin => Some(Reason::Begin),
            Want::Instruction(of) => (*of == who).then_some(Reason::Step),
            Want::Line { who: of, from, depth: before, inlined, step } => {
                let instruction = self.instructions.get(&address)?;
                let line = instruction.line;
                // A function that is stepped into begins after its prologue.
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

    /// Whether the wave stops here.
    fn reason(&mut self, at: &Stopped<'_>, program: &Program) -> Option<Reason> {
        self.hit.clear();
        let changed = self.changed(at, program);
        match &self.want {
            Want::End => None,
            Want::Ordinal(_) | Want::Last(_) => {
                // On the way to another place breakpoints only count.
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
                let once = |one: &Breakpoint| one.gate.is_temporary && self.hit.contains(&one.id);
                self.breakpoints.retain(|one| !once(one));
                changed.or(hit).or_else(|| self.arrived(at))
            }
        }
    }

    /// Goes to an instruction: on to it, or from the beginning.
    fn go_to(&mut self, ordinal: u64) -> Go {
        self.again = ordinal <= self.ordinal;
        self.want = Want::Ordinal(ordinal.max(1));
        if self.again { Go::End } else { Go::On }
    }

    /// What was set in front of an instruction, in this order.
    fn set_before(&self, ordinal: u64) -> Vec<Write> {
        let own = self.set.iter().filter(|(other, _)| *other == ordinal);
        own.flat_map(|(_, writes)| writes.iter().cloned()).collect()
    }

    /// Whether it is not on the way to another place.
    fn may_stop(&self) -> bool {
        !matches!(self.want, Want::End | Want::Ordinal(_) | Want::Last(_) | Want::LastBefore { .. })
    }

    /// What was decided.
    fn go(&mut self, action: Action, at: &Stopped<'_>, program: &Program) -> Go {
        // What moves on is the wave that is looked at.
        let chosen = self.wave.take().and_then(|wave| at.wave_of_group(wave));
        let at = chosen.as_ref().unwrap_or(at);
        let who = Who::of(at);
        // Another wave of the group may not have begun.
        let wave = self.waves.get(&who);
        let (depth, now) = (wave.map_or(0, |wave| wave.calls.len()), self.ordinal);
        // The end is behind the last instruction.
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
            Action::StepWave(wave) => self.want = Want::Instruction(Who { wave, ..who }),
            Action::Step(Step::Instruction) => self.want = Want::Instruction(who),
            Action::Step(step @ (Step::Line | Step::Over | Step::Past)) => {
                // A lane that waits stands nowhere in this line.
                let here = wave.map_or_else(|| at.exec(), |wave| wave.presence.here());
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
                // What was set later belongs to a way that the dispatch does not go any more.
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

    /// For the dispatch from its beginning: what is known of waves is not known yet.
    fn begin(&mut self) {
        self.ordinal = 0;
        self.waves.clear();
        self.last = None;
        self.choices.clear();
        for breakpoint in &mut self.breakpoints {
            (breakpoint.hits, breakpoint.last) = (0, None);
            breakpoint.gate.begin();
        }
        for watch in &mut self.watchpoints {
            watch.old = None;
            watch.gate.begin();
        }
        self.again = false;
        self.failed = None;
        self.is_at_end = false;
    }
}

/// Whether a place is past another in the same function, or in what that was inlined into. Each place is a line and the number of
/// functions that are inlined around it.
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
    /// One that stops at the first instruction.
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

    /// Does not stop at the first instruction, but goes on to the next breakpoint; or, `to_the_end`, whatever comes.
    pub fn run_on(&self, to_the_end: bool) {
        self.inner().state.want = if to_the_end { Want::End } else { Want::Nothing };
    }

    /// Changes breakpoints before the dispatch.
    pub fn with_breakpoints<T>(&self, change: impl FnOnce(Breakpoints<'_>) -> T) -> T {
        change(Breakpoints { program: &self.program, state: &mut self.inner().state, here: None })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the dispatch is to be run again, from its beginning and with the same arguments; to be asked when it has ended. What the
    /// session knows of its waves is forgotten.
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

    /// Whether the front end may be heard where the dispatch has ended by itself: not if it has let it run whatever comes, nor if it was
    /// heard where the dispatch has failed.
    pub fn may_stay(&self) -> bool {
        let state = &self.inner().state;
        let has_been_heard = state.failed == Some(state.ordinal) || matches!(state.want, Want::Last(_));
        state.ordinal > 0 && state.want != Want::End && !has_been_heard
    }

    /// To be asked when the dispatch has ended by itself, if [`Session::may_stay`]. Whether the front end wants to be heard there: then the
    /// dispatch is to be run again, as for [`Session::wants_again`], and stops at its last instruction.
    pub fn stays(&self) -> bool {
        let Inner { state, front_end } = &mut *self.inner();
        let stays = front_end.stays();
        if stays {
            state.want = Want::Last(state.ordinal);
            state.begin();
        }
        stays
    }

    /// The dispatch has ended and is not run again; whether as it should.
    pub fn ended(&self, is_well: bool) {
        self.inner().front_end.ended(is_well);
    }

    /// Whether the user has ended it before the dispatch has.
    pub fn has_quit(&self) -> bool {
        self.inner().state.quit
    }

    /// Whether the user was heard at the end of the dispatch, and has left it there.
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
        self.look(at, state, &mut **front_end)
    }

    fn writes(&self) -> Vec<Write> {
        std::mem::take(&mut self.inner().state.due)
    }

    fn written(&self, at: &Stopped<'_>) -> Go {
        let Inner { state, front_end } = &mut *self.inner();
        if !std::mem::take(&mut state.is_setting) {
            return self.look(at, state, &mut **front_end);
        }
        // Nobody but the user has changed what is watched.
        state.watchpoints.iter_mut().for_each(|watch| drop(watch.look(at)));
        self.stop(at, Reason::Set, state, &mut **front_end)
    }

    fn found(&self, at: &Stopped<'_>, what: &Report) -> Go {
        self.wrong(at, Reason::Found(Box::new(what.clone())))
    }

    fn trapped(&self, at: &Stopped<'_>, why: &Fault) {
        // There is no way on, but one back.
        self.wrong(at, Reason::Trapped(Box::new(why.clone())));
    }

    fn chosen(&self, at: &Stopped<'_>, what: &str) -> Go {
        let Inner { state, front_end } = &mut *self.inner();
        if state.choices.len() == CHOICES {
            state.choices.pop_front();
        }
        let who = Who::of(at);
        state.choices.push_back(format!("{who}: {what}"));
        if state.want != Want::Choice || !state.waves.contains_key(&who) {
            return Go::On;
        }
        state.focus = None;
        self.stop(at, Reason::Chosen(what.to_owned()), state, &mut **front_end)
    }
}

impl Session {
    /// Whether the wave stops in front of its instruction, and how it goes on.
    fn look(&self, at: &Stopped<'_>, state: &mut State, front_end: &mut dyn FrontEnd) -> Go {
        state.focus = None;
        let reason = state.reason(at, &self.program);
        state.logs.drain(..).for_each(|log| front_end.logged(&log));
        let reason = reason.or_else(|| front_end.is_waiting().then_some(Reason::Asked));
        let go = reason.map_or(Go::On, |reason| self.stop(at, reason, state, front_end));
        state.last = Some((Who::of(at), at.address()));
        go
    }

    /// A wave has stopped: the front end says how to go on.
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
        state.go(action, at, &self.program)
    }

    /// An instruction is wrong. Nobody is told on the way to another place.
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

/// The lane that something is wrong with.
fn lane_of(reason: &Reason) -> Option<u32> {
    match reason {
        Reason::Found(report) => report.at.lane,
        Reason::Trapped(fault) => fault.places().first()?.lane,
        _ => None,
    }
}
