//! Runs the work-groups of a dispatch on host threads. A group runs in turns: it executes a limited number of
//! instructions, and then other groups run.
//!
//! A dispatch that fails reports the same fault on any number of threads. To this end, all turns have an
//! order that does not depend on timing. If several turns fail, the fault of the first one in this order
//! counts. After a fault, groups that could still fail in an earlier turn therefore run on, until it is
//! certain which fault is the first. A run of strict mode on several threads can only prove that there is
//! nothing to report. On several threads, chance decides which group is first. If such a run finds an error,
//! or if its groups wait for one another or use the same memory, the run is therefore repeated on one thread.
//! The repeated run decides what is reported.

use crate::deadlock;
use crate::exec::Scratch;
use crate::fault::{Fault, Location};
use crate::group::{Group, SliceEnd, StalledWave};
use crate::launch::Launch;
use crate::memory::Saved;
use crate::stats::RunStats;
use crate::strict::{FaultClass, Mode, Report};
use crate::time_slices::{Choice, Next, TimeSlices};
use std::collections::VecDeque;
use std::sync::Mutex;

/// Maximum number of groups that have started and not ended. A group has at least one wave, so this is the
/// number of waves that the largest of the supported processors can hold: 120 compute units with 40 waves
/// each.
pub(crate) const MAX_RESIDENT: u64 = 4800;
/// Maximum number of bytes of host memory that the registers of all groups may take that have started and not
/// ended.
const RESIDENT_BYTES: u64 = 1 << 30;

/// Result of a dispatch: how the dispatch ended, what strict mode has found, and where the first debug trap
/// was.
pub(crate) struct Outcome {
    pub(crate) result: Result<RunStats, Fault>,
    pub(crate) reports: Vec<Report>,
    pub(crate) debug_trap: Option<Location>,
}

/// Runs a dispatch in strict mode. If the order of waves and groups is random, uses a single thread, so that
/// the run depends only on the seed.
pub(crate) fn run_strict(launch: &mut Launch<'_>, mode: Mode, limit: u64, threads: usize) -> Outcome {
    if threads == 1 || launch.schedule != 0 {
        return Scheduler::new(launch, limit, 1).run();
    }
    let saved = Saved::from_memory(launch.memory);
    if let Some(shared) = &mut launch.strict {
        shared.use_several_threads(launch.memory);
    }
    let outcome = Scheduler::new(launch, limit, threads).run();
    let depends_on_timing = launch.strict.as_ref().is_some_and(|shared| shared.depends_on_timing());
    // The result of this run can be kept if the run has no findings and has succeeded. It can also be kept if
    // the run has used up its instruction budget, because another run on one thread would use up the budget
    // as well.
    let is_final = matches!(outcome.result, Ok(_) | Err(Fault::Stuck { .. })) && outcome.reports.is_empty();
    if is_final && !depends_on_timing {
        return outcome;
    }
    saved.restore(launch.memory);
    launch.strict = launch.shadow(mode);
    Scheduler::new(launch, limit, 1).run()
}

/// Gives groups to host threads. A group that has not ended after its turn goes to the back of a queue, and
/// new groups are started in between. Each group can therefore wait for any other group.
pub(crate) struct Scheduler<'a> {
    launch: &'a Launch<'a>,
    limit: u64,
    threads: usize,
    total: u64,
    max_resident: u64,
    state: Mutex<State>,
}

struct State {
    /// Number of the next group that will be started.
    next: u64,
    /// Groups that were still executing instructions at the end of their last turn. The groups in the next
    /// field only wait: each of their waves waits for something.
    running: VecDeque<Group>,
    waiting: VecDeque<Group>,
    turns: TimeSlices,
    /// Number of consecutive turns in which groups have only waited.
    idle: usize,
    /// Number of consecutive turns without progress after which the scheduler looks for a deadlock. The next
    /// field is the number of executed instructions after which it looks in any case. See
    /// [`Scheduler::check_for_deadlock`].
    patience: usize,
    look_at: u64,
    /// Number of groups that have started and not ended.
    resident: u64,
    executed: u64,
    stats: RunStats,
    first: Option<First>,
    reports: Vec<Report>,
    /// The first debug trap, and the number of its group.
    debug_trap: Option<(u64, Location)>,
}

/// The fault with which the dispatch ends, and the turn in which it occurred.
struct First {
    when: When,
    fault: Fault,
}

/// Position of a turn in the order of all turns. This order decides which of several faults is the first. It
/// is roughly the order in which a single thread runs the turns, but depends neither on timing nor on the
/// number of threads.
type When = (u64, u64);

fn start_order(group: &Group) -> When {
    (group.number * START_EVERY + group.turns, group.number)
}

impl State {
    fn new(turns: TimeSlices) -> State {
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

    /// Removes the group at position `at` from a queue. The last group takes its place, unless `at` is 0; in
    /// this case, the other groups keep their order.
    fn take(queue: &mut VecDeque<Group>, at: usize) -> Option<Group> {
        if at == 0 { queue.pop_front() } else { queue.swap_remove_back(at) }
    }

    /// Records the fault of a turn, unless a fault of an earlier turn is already recorded.
    fn fail(&mut self, when: When, fault: Fault) {
        if self.is_wanted(when) {
            self.first = Some(First { when, fault });
        }
    }

    /// Ends the dispatch, so that no group continues. A fault that is already recorded takes precedence over
    /// `fault`.
    fn stop(&mut self, fault: Fault) {
        let fault = self.first.take().map_or(fault, |first| first.fault);
        self.first = Some(First { when: (0, 0), fault });
    }

    /// Returns whether a fault in the turn `when` would count. It would if no fault of an earlier turn is
    /// known.
    fn is_wanted(&self, when: When) -> bool {
        self.first.as_ref().is_none_or(|first| when < first.when)
    }
}

/// What a host thread does next: it starts a new group, given by its number, or it continues a group that has
/// already begun.
enum Picked {
    New(u64),
    Begun(Box<Group>),
}

/// Maximum number of waves that a report names when the instruction budget is used up.
const MAX_STUCK: usize = 16;
/// Number of executed instructions after which the scheduler looks for a deadlock for the first time.
const LOOK_FIRST: u64 = 1 << 18;
/// Number of turns that a group gets, approximately, before the group after it is started.
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

    /// Runs turns of groups on one host thread until no group is left to run.
    fn work(&self) {
        let mut scratch = Scratch::new();
        let mut turns = turns(self.launch, !self.launch.schedule);
        let mut spare = None;
        while let Some(mut group) = self.pick(&mut spare) {
            let before = group.executed;
            let turn = group.run_slice(self.launch, &mut scratch, &mut turns, self.limit);
            let executed = group.executed - before;
            spare = self.locked(|state| self.put_back(state, group, turn, executed)).or(spare);
            self.check_for_deadlock(&mut scratch);
        }
    }

    /// Returns the next group to run. A new group reuses the memory of the group in `spare`, which has ended.
    fn pick(&self, spare: &mut Option<Group>) -> Option<Group> {
        let picked = self.locked(|state| {
            if self.launch.strict.as_ref().is_some_and(|shared| shared.depends_on_timing()) {
                // No further group is started here: the result of this run does not matter, because the
                // dispatch will be repeated on one thread.
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

    /// After a fault, drops the groups whose next turn comes after the turn of the fault. These groups can no
    /// longer change which fault is the first.
    fn drop_unwanted(&self, state: &mut State) {
        let Some(First { when: first, .. }) = &state.first else { return };
        let all = state.running.len() + state.waiting.len();
        state.running.retain(|group| start_order(group) < *first);
        state.waiting.retain(|group| start_order(group) < *first);
        state.resident -= (all - state.running.len() - state.waiting.len()) as u64;
    }

    /// Returns the fault for a dispatch that has used up its instruction budget. In strict mode, the fault
    /// lists the locations of the waves that have not ended.
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

    /// Ends a dispatch of strict mode if it is certain that none of its waves can make progress. It is
    /// certain if all groups have begun and each wave is blocked.
    ///
    /// The scheduler makes this check when groups have only waited for some turns, and otherwise at growing
    /// intervals. The waves execute instructions during the check; these count like the instructions of a
    /// turn.
    fn check_for_deadlock(&self, scratch: &mut Scratch) {
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
        let mut known: Vec<(Group, Vec<StalledWave>)> = Vec::new();
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
                Ok(None) => SliceEnd::Yield,
                Err(fault) => SliceEnd::Fault(fault),
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

    /// Records the result of a turn. Returns the group if it has ended, so that its memory can be reused.
    fn put_back(&self, state: &mut State, mut group: Group, turn: SliceEnd, executed: u64) -> Option<Group> {
        state.executed += executed;
        state.idle = if matches!(turn, SliceEnd::Waits) { state.idle + 1 } else { 0 };
        let when = start_order(&group);
        group.turns += 1;
        let found = group.take_reports(self.launch);
        if let (Some(cause), false) = (cause(&found), self.launch.keeps_going()) {
            state.fail(when, Fault::Found(Box::new(cause.clone())));
        }
        state.reports.extend(found);
        if let Some(progress) = self.launch.progress {
            progress.set(state.executed, state.stats.groups, self.total);
        }
        if !matches!(turn, SliceEnd::Yield | SliceEnd::Waits) {
            let is_first = state.debug_trap.as_ref().is_none_or(|(number, _)| group.number < *number);
            let found = is_first.then(|| group.debug_trap(self.launch)).flatten();
            state.debug_trap = found.map(|at| (group.number, at)).or(state.debug_trap.take());
        }
        match turn {
            SliceEnd::Done => {
                state.resident -= 1;
                state.stats.add(&group.counts, group.waves.len() as u64);
                state.stats.debug_traps += group.waves.iter().map(|wave| wave.debug_traps).sum::<u64>();
                // A grid with many short groups can use up the budget although each group ends within its
                // turn.
                if state.executed >= self.limit && state.next < self.total {
                    let at = Box::new(group.running_location(self.launch));
                    state.stop(Fault::Budget { limit: self.limit, at });
                }
                return Some(group);
            }
            SliceEnd::Yield | SliceEnd::Waits if state.executed >= self.limit => {
                state.resident -= 1;
                let fault = self.budget(state, &group);
                state.stop(fault);
            }
            SliceEnd::Yield => state.running.push_back(group),
            SliceEnd::Waits => {
                if let Some(shared) =
                    self.launch.strict.as_ref().filter(|shared| shared.uses_several_threads())
                {
                    // On several threads, timing may decide whether this group has to wait. The run must
                    // therefore be repeated on one thread.
                    shared.cross();
                }
                state.waiting.push_back(group);
            }
            SliceEnd::Stalled(standing) => {
                state.resident -= 1;
                let fault = deadlock::of_group(self.launch, self.limit, (group, standing));
                state.fail(when, fault);
            }
            SliceEnd::Fault(fault) => {
                state.resident -= 1;
                state.fail(when, fault);
            }
        }
        None
    }
}

/// Returns a generator that decides the order and length of turns. A dispatch needs two different generators:
/// one gets the seed of the dispatch's schedule, and the other gets the complement of this seed. If the
/// schedule has seed 0, the turns are in order.
fn turns(launch: &Launch<'_>, seed: u64) -> TimeSlices {
    match launch.strict {
        Some(_) if launch.schedule == 0 => TimeSlices::strict(0),
        Some(_) => TimeSlices::strict(seed),
        None => TimeSlices::fast(),
    }
}

/// Returns the finding that is reported first for a turn. If a barrier is missing, a wave may read a value
/// before another wave writes it. Strict mode then finds two errors: first the read of an uninitialised
/// value, and later, at the write, a race. The race is returned, because it explains the error better.
fn cause(found: &[Report]) -> Option<&Report> {
    let first = found.first()?;
    let race = found.iter().find(|report| report.class == FaultClass::Race);
    race.filter(|_| first.class == FaultClass::Uninitialised).or(Some(first))
}
