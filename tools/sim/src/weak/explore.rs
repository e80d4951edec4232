//! Explores all schedules of a small program.
//!
//! The search is depth-first over the choices of the emulated machine, such as which memory request is
//! performed next. Two reductions keep the number of states small, and lose no outcome:
//!
//! * Steps that other waves can neither observe nor prevent are no choices; they are taken at once. These
//!   steps are arithmetic, waits that are satisfied, the issue of LDS and scalar operations, and the issue of
//!   vector memory operations by a wave that is alone on its compute unit and hits no cached line. To issue a
//!   request early loses no behaviour, because the request can stay in its queue as long as the instruction
//!   could have been delayed. Requests for lines that only one wave uses, and for data that never changes,
//!   are also performed at once. Other waves cannot see when this happens. Their own wave cannot distinguish
//!   a late request from a wait that takes long.
//! * A state that has been visited is not visited again. States are compared by a 64-bit hash.
//!
//! With `keep_lines` no cache line is evicted. The search then reports whether there is a state from which no
//! end can be reached, because a wave may read a stale line for ever.

use super::machine::{Machine, Next};
use super::state::{Key, State};
use crate::fault::Trap;
use crate::wave::WaveState;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

/// Maximum number of steps of a wave between two choices.
const MAX_LOCAL: u32 = 100_000;

/// One choice that a schedule can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A wave issues a vector memory instruction. If `evicted` is set, the line that the instruction could
    /// have hit in the first-level cache is evicted before, so that the instruction misses.
    Issue { at: usize, evicted: bool },
    /// The first request in a queue is performed. If `evicted` is set, the line that the request could have
    /// hit in GL1 is evicted before, so that the request misses.
    Perform { key: Key, evicted: bool },
    /// A line is evicted from an agent's L2.
    Leave { agent: u32, line: u64 },
}

impl Action {
    fn evicts(self) -> bool {
        matches!(
            self,
            Action::Issue { evicted: true, .. }
                | Action::Perform { evicted: true, .. }
                | Action::Leave { .. }
        )
    }
}

/// Words of memory that differ from their values at the start.
type Words = Vec<(u64, u32)>;

struct Frame {
    /// Hash that identifies the state.
    number: u64,
    state: State,
    words: Words,
    actions: Vec<Action>,
    next: usize,
}

/// Functions that the search calls when a schedule ends. An implementor of the trait decides what to record.
pub(super) trait Visitor {
    /// Called when all waves have ended and all requests have been performed. `path` has the choices that
    /// lead to this state.
    fn end(&mut self, machine: &Machine<'_>, state: &State, path: &[Action]);
    /// Called when the search is in a state without choices, but not all waves have ended. These waves can
    /// never continue.
    fn stuck(&mut self, machine: &Machine<'_>, state: &State, path: &[Action]);
    /// Called when an instruction has failed. The schedule ends with this failure.
    fn trap(&mut self, machine: &Machine<'_>, state: &State, at: usize, trap: Trap, path: &[Action]);
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Searched {
    pub(super) states: u64,
    pub(super) transitions: u64,
    /// Whether a limit was reached, so that some states were not visited.
    pub(super) bounded: bool,
    /// Whether there is a state from which no end can be reached.
    pub(super) endless: bool,
}

/// The graph of the visited states: edges from states to their successors, and the end states.
#[derive(Default)]
struct Graph {
    /// Pairs of a later state and the state before it.
    edges: BTreeSet<(u64, u64)>,
    states: BTreeSet<u64>,
    ends: Vec<u64>,
}

impl Graph {
    /// Returns whether the graph has a state from which no end state can be reached, so that the program may
    /// run for ever.
    fn has_no_end_somewhere(mut self) -> bool {
        let mut reaching: BTreeSet<u64> = self.ends.iter().copied().collect();
        while let Some(state) = self.ends.pop() {
            for &(_, earlier) in self.edges.range((state, 0)..=(state, u64::MAX)) {
                if reaching.insert(earlier) {
                    self.ends.push(earlier);
                }
            }
        }
        !self.states.is_subset(&reaching)
    }
}

/// A hasher with the mixing step of FxHash for 64-bit words. It is used because it is fast and states are
/// large.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        let z = (self.0 ^ self.0 >> 32).wrapping_mul(0x9fb2_1c65_1e98_df25);
        z ^ z >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(u64::from_le_bytes(chunk.try_into().unwrap_or([0; 8])));
        }
        for &byte in chunks.remainder() {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// Visits all end states that a program can reach.
pub(super) fn explore(
    machine: &mut Machine<'_>,
    mut start: State,
    max_states: u64,
    keep_lines: bool,
    visitor: &mut dyn Visitor,
) -> Searched {
    let mut searched = Searched::default();
    let mut graph = Graph::default();
    let mut path: Vec<Action> = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    machine.journal = Some(Default::default());
    if let Some(actions) = arrive(machine, &mut start, keep_lines, visitor, &path, &mut searched) {
        let words = changed(machine);
        let number = number(&start, &words);
        graph.states.insert(number);
        stack.push(Frame { number, words, state: start, actions, next: 0 });
    }
    while let Some(frame) = stack.last_mut() {
        let Some(&action) = frame.actions.get(frame.next) else {
            stack.pop();
            path.pop();
            continue;
        };
        frame.next += 1;
        restore(machine, &frame.words);
        let mut state = frame.state.clone();
        searched.transitions += 1;
        path.push(action);
        let done = act(machine, &mut state, action)
            .and_then(|()| run_to_next_choice(machine, &mut state, &mut searched));
        if let Err((at, trap)) = done {
            visitor.trap(machine, &state, at, trap, &path);
            path.pop();
            continue;
        }
        let words = changed(machine);
        let number = number(&state, &words);
        if keep_lines {
            graph.edges.insert((number, frame.number));
        }
        if !graph.states.insert(number) {
            path.pop();
        } else if let Some(actions) = arrive(machine, &mut state, keep_lines, visitor, &path, &mut searched) {
            if searched.states >= max_states {
                searched.bounded = true;
                break;
            }
            stack.push(Frame { number, words, state, actions, next: 0 });
        } else {
            graph.ends.push(number);
            path.pop();
        }
    }
    restore(machine, &[]);
    machine.journal = None;
    searched.endless = keep_lines && graph.has_no_end_somewhere();
    searched
}

/// Returns the number that identifies a state: a hash of the state and of the changed words of memory.
fn number(state: &State, words: &Words) -> u64 {
    let mut hasher = Mix::default();
    state.hash(&mut hasher);
    words.hash(&mut hasher);
    hasher.finish()
}

/// Takes all steps that are not choices, and returns the actions to choose from in the state that is then
/// reached. Returns `None` if this state is an end state, or if a step has failed.
fn arrive(
    machine: &mut Machine<'_>,
    state: &mut State,
    keep_lines: bool,
    visitor: &mut dyn Visitor,
    path: &[Action],
    searched: &mut Searched,
) -> Option<Vec<Action>> {
    if let Err((at, trap)) = run_to_next_choice(machine, state, searched) {
        visitor.trap(machine, state, at, trap, path);
        return None;
    }
    searched.states += 1;
    let mut actions = choices(machine, state);
    if keep_lines {
        actions.retain(|action| !action.evicts());
    }
    if !actions.is_empty() {
        return Some(actions);
    }
    if state.actors.iter().any(|actor| actor.wave.state != WaveState::Done) {
        visitor.stuck(machine, state, path);
        return None;
    }
    for at in 0..state.actors.len() {
        if let Err(trap) = machine.return_all(state, at) {
            visitor.trap(machine, state, at, trap, path);
            return None;
        }
    }
    // A kernel ends with a release to system scope, so each L2 now writes its data back to memory.
    (0..state.l2.len() as u32).for_each(|agent| machine.write_back_l2(state, agent));
    visitor.end(machine, state, path);
    None
}

/// Runs all waves until each of them has a choice or cannot continue.
fn run_to_next_choice(
    machine: &mut Machine<'_>,
    state: &mut State,
    searched: &mut Searched,
) -> Result<(), (usize, Trap)> {
    let mut steps = 0;
    loop {
        let mut moved = false;
        for at in 0..state.actors.len() {
            while steps < MAX_LOCAL {
                let here = |trap| (at, trap);
                match machine.next(state, at) {
                    Next::Free => machine.step(state, at).map_err(here)?,
                    Next::Vector => {
                        let probed = machine.probe(state, at).map_err(here)?;
                        let quiet = machine.is_own(&probed)
                            || alone(machine, at) && !machine.could_hit(state, at, &probed);
                        if !quiet {
                            break;
                        }
                        machine.issue(state, at, probed, true).map_err(here)?;
                    }
                    _ => break,
                }
                moved = true;
                steps += 1;
            }
        }
        if steps >= MAX_LOCAL {
            searched.bounded = true;
            return Ok(());
        }
        while let Some(key) = state.queues.keys().copied().find(|key| machine.is_own_key(key)) {
            let at = front(state, key);
            machine.perform(state, key, true).map_err(|trap| (at, trap))?;
            moved = true;
        }
        let waiting = |state: &State| {
            state.actors.iter().filter(|actor| actor.wave.state == WaveState::AtBarrier).count()
        };
        let before = waiting(state);
        for group in 0..state.lds.len() {
            machine.open_barrier(state, group as u32);
        }
        if !moved && waiting(state) == before {
            return Ok(());
        }
    }
}

/// Returns whether no other wave uses the first-level cache of the wave.
fn alone(machine: &Machine<'_>, at: usize) -> bool {
    let unit = machine.sites[at].unit;
    machine.sites.iter().filter(|site| site.unit == unit).count() == 1
}

fn choices(machine: &mut Machine<'_>, state: &mut State) -> Vec<Action> {
    let mut actions = Vec::new();
    for at in 0..state.actors.len() {
        if machine.next(state, at) != Next::Vector {
            continue;
        }
        actions.push(Action::Issue { at, evicted: false });
        // If the trial run fails, its error is ignored here. The error occurs again when the choice is taken,
        // and is reported then.
        if let Ok(probed) = machine.probe(state, at)
            && machine.could_hit(state, at, &probed)
        {
            actions.push(Action::Issue { at, evicted: true });
        }
    }
    for &key in state.queues.keys().filter(|key| machine.is_due(state, **key)) {
        actions.push(Action::Perform { key, evicted: false });
        if machine.could_hit_middle(state, key) {
            actions.push(Action::Perform { key, evicted: true });
        }
    }
    for agent in 0..state.l2.len() as u32 {
        actions.extend(machine.leaving(state, agent).map(|line| Action::Leave { agent, line }));
    }
    actions
}

/// Returns the wave whose request is the first in a queue.
fn front(state: &State, key: Key) -> usize {
    state.queues.get(&key).and_then(|queue| queue.front()).map_or(0, |request| request.actor as usize)
}

/// Performs an action that the schedule has chosen.
pub(super) fn act(machine: &mut Machine<'_>, state: &mut State, action: Action) -> Result<(), (usize, Trap)> {
    match action {
        Action::Issue { at, evicted } => {
            let probed = machine.probe(state, at).map_err(|trap| (at, trap))?;
            machine.issue(state, at, probed, !evicted).map_err(|trap| (at, trap))
        }
        Action::Perform { key, evicted } => {
            let at = front(state, key);
            machine.perform(state, key, !evicted).map_err(|trap| (at, trap))
        }
        Action::Leave { agent, line } => {
            machine.evict_l2(state, agent, line);
            Ok(())
        }
    }
}

/// Returns the words of memory that differ from their values at the start.
fn changed(machine: &Machine<'_>) -> Words {
    let memory = machine.launches[0].memory;
    let Some(journal) = &machine.journal else { return Vec::new() };
    let now = |address: u64| {
        memory.find(address, 1).map_or(0, |(buffer, offset)| buffer.load_word(offset as usize / 4))
    };
    journal
        .iter()
        .map(|(&address, &first)| (address, first, now(address)))
        .filter(|(_, first, now)| first != now)
        .map(|(address, _, now)| (address, now))
        .collect()
}

fn restore(machine: &Machine<'_>, words: &[(u64, u32)]) {
    let memory = machine.launches[0].memory;
    let Some(journal) = &machine.journal else { return };
    for (&address, first) in journal {
        memory.write(address, &first.to_le_bytes());
    }
    for (address, value) in words {
        memory.write(*address, &value.to_le_bytes());
    }
}
