//! Runs the groups of a dispatch on host threads.
//!
//! A dispatch that fails does so with the same message on any number of threads. Among several faults the one of the
//! turn that comes first counts, in an order of turns that no clock decides; groups which could still fail before it run on until
//! that is known. What a run of strict mode on several threads finds is found again on one thread: which of two
//! accesses of a race came second depends on the threads. So is a run in which groups wait for one another, or hand something on: what
//! they do depends on who was first.

use crate::deadlock;
use crate::exec::Scratch;
use crate::fault::{Fault, Location};
use crate::group::{Group, Standing, Turn};
use crate::launch::Launch;
use crate::memory::Saved;
use crate::stats::RunStats;
use crate::strict::{FaultClass, Mode, Report};
use crate::turns::{Choice, Next, Turns};
use std::collections::VecDeque;
use std::sync::Mutex;

/// Groups that may have started and not ended: 120 compute units with 40 waves, as the largest of these processors have.
pub(crate) const MAX_RESIDENT: u64 = 4800;
/// Host memory for their registers.
const RESIDENT_BYTES: u64 = 1 << 30;

/// How a dispatch ended, what strict mode has found, and the first debug trap.
pub(crate) struct Outcome {
    pub(crate) result: Result<RunStats, Fault>,
    pub(crate) reports: Vec<Report>,
    pub(crate) debug_trap: Option<Location>,
}

/// A dispatch in strict mode. A schedule by chance has one thread, so that its seed is all that it depends on.
pub(crate) fn run_strict(launch: &mut Launch<'_>, mode: Mode, limit: u64, threads: usize) -> Outcome {
    if threads == 1 || launch.schedule != 0 {
        return Scheduler::new(launch, limit, 1).run();
    }
    let saved = Saved::of(launch.memory);
    if let Some(shared) = &mut launch.strict {
        shared.several_threads = true;
    }
    let outcome = Scheduler::new(launch, limit, threads).run();
    // A budget that is used up is not used up twice.
    let may_have_missed = launch.strict.as_ref().is_some_and(|shared| shared.may_have_missed());
    let is_clean = outcome.result.is_ok() && outcome.reports.is_empty() && !may_have_missed;
    let is_used_up = matches!(outcome.result, Err(Fault::Stuck { .. })) && !may_have_missed;
    if is_clean || is_used_up {
        return outcome;
    }
    saved.restore(launch.memory);
    launch.strict = launch.shadow(mode);
    let again = Scheduler::new(launch, limit, 1).run();
    // A race that shows on several threads only is told as it showed.
    let is_again = !again.reports.is_empty() || again.result.is_err();
    if is_again || may_have_missed && outcome.reports.is_empty() { again } else { outcome }
}

/// Hands groups to host threads. Groups that do not end within a turn go to the back of a queue, and new ones are
/// started in between, so that a group can wait for any other one.
pub(crate) struct Scheduler<'a> {
    launch: &'a Launch<'a>,
    limit: u64,
    threads: usize,
    total: u64,
    max_resident: u64,
    state: Mutex<State>,
}

struct State {
    /// The next group to be started.
    next: u64,
    /// Groups that have used up their last turn, and groups whose waves all wait.
    running: VecDeque<Group>,
    waiting: VecDeque<Group>,
    turns: Turns,
    /// Turns since the last one in which a group did more than wait.
    idle: usize,
    /// With how many of them, and with how many instructions, the groups are looked at: see [`Scheduler::look`].
    patience: usize,
    look_at: u64,
    /// Groups started and not ended.
    resident: u64,
    executed: u64,
    stats: RunStats,
    first: Option<First>,
    reports: Vec<Report>,
    /// The first debug trap, and the number of its group.
    debug_trap: Option<(u64, Location)>,
}

/// The fault that the dispatch ends with, and when it happened.
struct First {
    when: When,
    fault: Fault,
}

/// A turn of a group in the order that says which of several faults is the first one: about the order in which one
/// thread runs them. It depends on no clock and on no number of threads.
type When = (u64, u64);

fn when(group: &Group) -> When {
    (group.number * START_EVERY + group.turns, group.number)
}

impl State {
    fn new(turns: Turns) -> State {
        State {
            next: 0,
            running: VecDeque::new(),
            waiting: VecDeque::new(),
            turns,
            idle: 0,
            patience: 0,
            look_at: LOOK_FIRST,
            resident: 0,
            executed: 0,
            stats: RunStats::default(),
            first: None,
            reports: Vec::new(),
            debug_trap: None,
        }
    }

    /// The group at a place of a queue; the order of the others is kept where it is the first.
    fn take(queue: &mut VecDeque<Group>, at: usize) -> Option<Group> {
        if at == 0 { queue.pop_front() } else { queue.swap_remove_back(at) }
    }

    /// Keeps the first of the faults.
    fn fail(&mut self, when: When, fault: Fault) {
        if self.is_wanted(when) {
            self.first = Some(First { when, fault });
        }
    }

    /// Ends the dispatch: nothing comes before this, no group goes on. A fault that is known is the one that counts.
    fn stop(&mut self, fault: Fault) {
        let fault = self.first.take().map_or(fault, |first| first.fault);
        self.first = Some(First { when: (0, 0), fault });
    }

    /// Whether a turn could still change how the dispatch ends.
    fn is_wanted(&self, when: When) -> bool {
        self.first.as_ref().is_none_or(|first| when < first.when)
    }
}

/// What a worker goes on with: a group to be started, by its number, or one that has begun.
enum Picked {
    New(u64),
    Begun(Box<Group>),
}

/// Waves that are named when the budget is used up.
const MAX_STUCK: usize = 16;
/// Instructions after which it is looked at for the first time whether anything goes on.
const LOOK_FIRST: u64 = 1 << 18;
/// Turns that groups have had, about, when the next one is started.
const START_EVERY: u64 = 4;

impl<'a> Scheduler<'a> {
    pub(crate) fn new(launch: &'a Launch<'a>, limit: u64, threads: usize) -> Scheduler<'a> {
        let total = launch.groups().iter().product();
        let threads = threads.min(MAX_RESIDENT as usize);
        let room = (RESIDENT_BYTES / launch.group_bytes().max(1)).clamp(threads as u64, MAX_RESIDENT);
        let max_resident = launch.max_groups().map_or(room, |most| room.min(most));
        let state = Mutex::new(State::new(turns(launch, launch.schedule)));
        Scheduler { launch, limit, threads, total, max_resident, state }
    }

    pub(crate) fn run(self) -> Outcome {
        let workers = self.threads.min(usize::try_from(self.total).unwrap_or(usize::MAX));
        if workers == 1 {
            self.work();
        } else {
            rayon::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|_| self.work());
                }
            });
        }
        let mut state = self.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let late = self.launch.strict.as_ref().map(|shared| shared.late_reports(self.launch));
        let late = late.unwrap_or_default();
        let hangs = state.first.as_ref().is_none_or(|first| matches!(first.fault, Fault::Stuck { .. }));
        if let (Some(report), true, false) = (late.first(), hangs, self.launch.keeps_going()) {
            state.first = Some(First { when: (0, 0), fault: Fault::Found(Box::new(report.clone())) });
        }
        state.reports.extend(late);
        Outcome {
            result: state.first.map_or(Ok(state.stats), |first| Err(first.fault)),
            reports: state.reports,
            debug_trap: state.debug_trap.map(|(_, at)| at),
        }
    }

    fn locked<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// A worker: runs turns until there is nothing left to pick.
    fn work(&self) {
        let mut scratch = Scratch::new();
        let mut turns = turns(self.launch, !self.launch.schedule);
        let mut spare = None;
        while let Some(mut group) = self.pick(&mut spare) {
            let before = group.executed;
            let turn = group.turn(self.launch, &mut scratch, &mut turns, self.limit);
            let executed = group.executed - before;
            spare = self.locked(|state| self.put_back(state, group, turn, executed)).or(spare);
            self.look(&mut scratch);
        }
    }

    /// The next group to run; a new one takes the memory of the spare one.
    fn pick(&self, spare: &mut Option<Group>) -> Option<Group> {
        let picked = self.locked(|state| {
            if self.launch.strict.as_ref().is_some_and(|shared| shared.may_have_missed()) {
                // It is run again on one thread.
                return None;
            }
            self.drop_unwanted(state);
            let starts = state.next < self.total && state.is_wanted((state.next * START_EVERY, state.next));
            let choice = Choice {
                may_begin: starts && state.resident < self.max_resident,
                running: state.running.len(),
                waiting: state.waiting.len(),
            };
            let group = match state.turns.next(choice)? {
                Next::New => {
                    state.next += 1;
                    state.resident += 1;
                    return Some(Picked::New(state.next - 1));
                }
                Next::Running(at) => State::take(&mut state.running, at),
                Next::Waiting(at) => State::take(&mut state.waiting, at),
            };
            group.map(|group| Picked::Begun(Box::new(group)))
        });
        Some(match picked? {
            Picked::New(number) => self.launch.group(number, spare.take()),
            Picked::Begun(group) => *group,
        })
    }

    /// After a fault only groups that could have failed before it go on.
    fn drop_unwanted(&self, state: &mut State) {
        let Some(First { when: first, .. }) = &state.first else { return };
        let all = state.running.len() + state.waiting.len();
        state.running.retain(|group| when(group) < *first);
        state.waiting.retain(|group| when(group) < *first);
        state.resident -= (all - state.running.len() - state.waiting.len()) as u64;
    }

    /// The fault of a budget that is used up. Strict mode says where every wave is.
    fn budget(&self, state: &State, group: &Group) -> Fault {
        if self.launch.strict.is_none() {
            return Fault::Budget { limit: self.limit, at: Box::new(group.running_location(self.launch)) };
        }
        let groups = || std::iter::once(group).chain(&state.running).chain(&state.waiting);
        let count = groups().map(Group::running).sum();
        let waves = groups().flat_map(|group| group.running_locations(self.launch)).take(MAX_STUCK).collect();
        let (limit, waits) = (self.limit, Vec::new());
        Fault::Stuck { limit, deadlock: false, of_group: false, own_lane: false, waves, waits, count }
    }

    /// Ends a dispatch of strict mode if it is certain that none of its waves goes on: all groups have begun, and each wave stands.
    /// That is looked at when groups have done nothing but wait for a while, and more and more rarely in any case. What waves do
    /// meanwhile counts as any other turn.
    fn look(&self, scratch: &mut Scratch) {
        if self.threads > 1 || self.launch.strict.is_none() || self.launch.hostcall.is_some() {
            return;
        }
        let groups = self.locked(|state| {
            let idle = state.running.is_empty() && state.idle > state.patience + 2 * state.waiting.len();
            let looks = idle || state.executed >= state.look_at;
            (looks && state.next == self.total && state.first.is_none()).then(|| {
                state.look_at = state.executed * 2;
                let running = std::mem::take(&mut state.running);
                running.into_iter().chain(std::mem::take(&mut state.waiting)).collect::<Vec<_>>()
            })
        });
        let Some(groups) = groups else { return };
        let mut known: Vec<(Group, Vec<Standing>)> = Vec::new();
        let mut groups = groups.into_iter();
        for mut group in groups.by_ref() {
            let before = group.executed;
            let standing = group.standing(self.launch, scratch);
            self.locked(|state| state.executed += group.executed - before);
            let turn = match standing {
                Ok(Some(standing)) => {
                    known.push((group, standing));
                    continue;
                }
                Ok(None) => Turn::Yield,
                Err(fault) => Turn::Fault(fault),
            };
            self.locked(|state| self.put_back(state, group, turn, 0));
            break;
        }
        let rest = groups.collect::<Vec<_>>();
        self.locked(|state| {
            let all_stand = rest.is_empty() && state.running.is_empty() && state.first.is_none();
            if all_stand && known.iter().any(|(_, standing)| !standing.is_empty()) {
                state.resident -= known.len() as u64;
                return state.stop(deadlock::fault(self.launch, self.limit, &known));
            }
            let known = known.into_iter().map(|(group, _)| group);
            state.waiting.extend(known.chain(rest));
            state.patience = state.patience.max(1) * 2;
            state.idle = 0;
        });
    }

    /// Enters what a turn has done. A group that is done comes back.
    fn put_back(&self, state: &mut State, mut group: Group, turn: Turn, executed: u64) -> Option<Group> {
        state.executed += executed;
        state.idle = if matches!(turn, Turn::Waits) { state.idle + 1 } else { 0 };
        let when = when(&group);
        group.turns += 1;
        let found = group.take_reports(self.launch);
        if let (Some(cause), false) = (cause(&found), self.launch.keeps_going()) {
            state.fail(when, Fault::Found(Box::new(cause.clone())));
        }
        state.reports.extend(found);
        if let Some(progress) = self.launch.progress {
            progress.set(state.executed, state.stats.groups, self.total);
        }
        if !matches!(turn, Turn::Yield | Turn::Waits) {
            let is_first = state.debug_trap.as_ref().is_none_or(|(number, _)| group.number < *number);
            let found = is_first.then(|| group.debug_trap(self.launch)).flatten();
            state.debug_trap = found.map(|at| (group.number, at)).or(state.debug_trap.take());
        }
        match turn {
            Turn::Done => {
                state.resident -= 1;
                state.stats.add(&group.counts, group.waves.len() as u64);
                state.stats.debug_traps += group.waves.iter().map(|wave| wave.debug_traps).sum::<u64>();
                // A large grid of short groups uses up the budget, too.
                if state.executed >= self.limit && state.next < self.total {
                    let at = Box::new(group.running_location(self.launch));
                    state.stop(Fault::Budget { limit: self.limit, at });
                }
                return Some(group);
            }
            Turn::Yield | Turn::Waits if state.executed >= self.limit => {
                state.resident -= 1;
                let fault = self.budget(state, &group);
                state.stop(fault);
            }
            Turn::Yield => state.running.push_back(group),
            Turn::Waits => {
                if let Some(shared) = self.launch.strict.as_ref().filter(|shared| shared.several_threads) {
                    // Whether it waits may depend on the threads.
                    shared.cross();
                }
                state.waiting.push_back(group);
            }
            Turn::Stands(standing) => {
                state.resident -= 1;
                let fault = deadlock::of_group(self.launch, self.limit, (group, standing));
                state.fail(when, fault);
            }
            Turn::Fault(fault) => {
                state.resident -= 1;
                state.fail(when, fault);
            }
        }
        None
    }
}

/// The turns of a dispatch; a seed of 0 or its complement stands for turns in order.
fn turns(launch: &Launch<'_>, seed: u64) -> Turns {
    match launch.strict {
        Some(_) if launch.schedule == 0 => Turns::strict(0),
        Some(_) => Turns::strict(seed),
        None => Turns::fast(),
    }
}

/// The finding to tell first: what is read too early, for want of a barrier, shows as undefined first and as a race when the
/// other wave writes it.
fn cause(found: &[Report]) -> Option<&Report> {
    let first = found.first()?;
    let race = found.iter().find(|report| report.class == FaultClass::Race);
    race.filter(|_| first.class == FaultClass::Uninitialised).or(Some(first))
}
