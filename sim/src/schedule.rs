//! Runs the groups of a dispatch on host threads.
//!
//! A dispatch that fails does so with the same message on any number of threads. Among several faults the one of the
//! turn that comes first counts, in an order of turns that no clock decides; groups which could still fail before it run on until
//! that is known. What a run of strict mode on several threads finds is found again on one thread: which of two
//! accesses of a race came second depends on the threads.

use crate::exec::Scratch;
use crate::fault::{Fault, Location};
use crate::group::{Group, Turn};
use crate::launch::Launch;
use crate::memory::Saved;
use crate::stats::RunStats;
use crate::strict::{FaultClass, Mode, Report};
use std::collections::VecDeque;
use std::sync::Mutex;

/// Groups that may have started and not ended.
const MAX_RESIDENT: u64 = 1024;
/// Host memory for their registers.
const RESIDENT_BYTES: u64 = 1 << 30;

/// How a dispatch ended, what strict mode has found, and the first debug trap.
pub(crate) struct Outcome {
    pub(crate) result: Result<RunStats, Fault>,
    pub(crate) reports: Vec<Report>,
    pub(crate) debug_trap: Option<Location>,
}

/// A dispatch in strict mode.
pub(crate) fn run_strict(launch: &mut Launch<'_>, mode: Mode, limit: u64, threads: usize) -> Outcome {
    if threads == 1 {
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
    if is_clean || matches!(outcome.result, Err(Fault::Stuck { .. })) {
        return outcome;
    }
    saved.restore(launch.memory);
    launch.strict = launch.shadow(mode);
    let again = Scheduler::new(launch, limit, 1).run();
    // A race that shows on several threads only is told as it showed.
    if again.result.is_ok() && again.reports.is_empty() { outcome } else { again }
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

#[derive(Default)]
struct State {
    /// The next group to be started.
    next: u64,
    waiting: VecDeque<Group>,
    /// Groups started and not ended.
    resident: u64,
    picks: u64,
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

/// What a worker goes on with: a group to be started, by its number, or one that has waited.
enum Picked {
    New(u64),
    Waiting(Box<Group>),
}

/// Waves that are named when the budget is used up.
const MAX_STUCK: usize = 16;
/// One pick in this many starts a new group although others wait.
const START_EVERY: u64 = 4;

impl<'a> Scheduler<'a> {
    pub(crate) fn new(launch: &'a Launch<'a>, limit: u64, threads: usize) -> Scheduler<'a> {
        let total = launch.groups().iter().product();
        let threads = threads.min(MAX_RESIDENT as usize);
        let room = (RESIDENT_BYTES / launch.group_bytes().max(1)).clamp(threads as u64, MAX_RESIDENT);
        let max_resident = launch.max_groups().map_or(room, |most| room.min(most));
        Scheduler { launch, limit, threads, total, max_resident, state: Mutex::default() }
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
        let mut spare = None;
        while let Some(mut group) = self.pick(&mut spare) {
            let before = group.executed;
            let turn = group.turn(self.launch, &mut scratch, self.limit);
            let executed = group.executed - before;
            spare = self.locked(|state| self.put_back(state, group, turn, executed)).or(spare);
        }
    }

    /// The next group to run; a new one takes the memory of the spare one.
    fn pick(&self, spare: &mut Option<Group>) -> Option<Group> {
        let picked = self.locked(|state| {
            state.picks += 1;
            self.drop_unwanted(state);
            let starts = state.next < self.total && state.is_wanted((state.next * START_EVERY, state.next));
            let may_start = starts && state.resident < self.max_resident;
            if may_start && (state.waiting.is_empty() || state.picks % START_EVERY == 0) {
                state.next += 1;
                state.resident += 1;
                return Some(Picked::New(state.next - 1));
            }
            state.waiting.pop_front().map(|group| Picked::Waiting(Box::new(group)))
        });
        Some(match picked? {
            Picked::New(number) => self.launch.group(number, spare.take()),
            Picked::Waiting(group) => *group,
        })
    }

    /// After a fault only groups that could have failed before it go on.
    fn drop_unwanted(&self, state: &mut State) {
        let Some(First { when: first, .. }) = &state.first else { return };
        let waiting = state.waiting.len();
        state.waiting.retain(|group| when(group) < *first);
        state.resident -= (waiting - state.waiting.len()) as u64;
    }

    /// The fault of a budget that is used up. Strict mode says where every wave is.
    fn budget(&self, state: &State, group: &Group) -> Fault {
        if self.launch.strict.is_none() {
            return Fault::Budget { limit: self.limit, at: Box::new(group.running_location(self.launch)) };
        }
        let groups = || std::iter::once(group).chain(&state.waiting);
        let count = groups().map(Group::running).sum();
        let waves = groups().flat_map(|group| group.running_locations(self.launch)).take(MAX_STUCK).collect();
        Fault::Stuck { limit: self.limit, deadlock: groups().all(Group::spins), waves, count }
    }

    /// Enters what a turn has done. A group that is done comes back.
    fn put_back(&self, state: &mut State, mut group: Group, turn: Turn, executed: u64) -> Option<Group> {
        state.executed += executed;
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
        if !matches!(turn, Turn::Yield) {
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
            Turn::Yield if state.executed >= self.limit => {
                state.resident -= 1;
                let fault = self.budget(state, &group);
                state.stop(fault);
            }
            Turn::Yield => state.waiting.push_back(group),
            Turn::Fault(fault) => {
                state.resident -= 1;
                state.fail(when, fault);
            }
        }
        None
    }
}

/// The finding to tell first: what is read too early, for want of a barrier, shows as undefined first and as a race when the
/// other wave writes it.
fn cause(found: &[Report]) -> Option<&Report> {
    let first = found.first()?;
    let race = found.iter().find(|report| report.class == FaultClass::Race);
    race.filter(|_| first.class == FaultClass::Uninitialised).or(Some(first))
}
