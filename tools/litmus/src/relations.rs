//! Builds the graph of a candidate execution: its nodes are events, and its edges are the relations of the
//! memory model.

use crate::candidate::{Candidate, Source};
use crate::events::Program;
use crate::matrix::{Layout, Space};
use crate::shape::{Order, Shape, Statement};
use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeFiltered;

/// A relation of the memory model between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The first event is earlier in the same thread.
    ProgramOrder,
    /// The first event releases, and the second one acquires. `through` is the atomic read that takes its
    /// value from the release sequence; `None` for a barrier.
    Synchronises {
        /// The atomic read.
        through: Option<usize>,
    },
    /// The second event reads what the first event writes.
    ReadsFrom,
    /// The second event writes after the first one.
    ModificationOrder,
    /// The first event reads a value older than the value that the second event writes.
    FromRead,
}

/// An edge of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The relation of the two events.
    pub relation: Relation,
    /// Address spaces for which the edge counts, as bits.
    pub spaces: u8,
}

impl Edge {
    /// Returns whether the edge is a part of happens-before in some address spaces.
    pub fn orders(&self, spaces: u8) -> bool {
        matches!(self.relation, Relation::ProgramOrder | Relation::Synchronises { .. })
            && self.spaces & spaces == spaces
    }
}

/// The two memories: whether the first variable is in LDS, and whether the other variables are.
pub(crate) type Memories = [bool; 2];

/// Returns the memories in which a shape can have its variables. The memories are all the same if no
/// operation of the shape is limited to an address space.
pub(crate) fn memories(shape: &Shape) -> Vec<Memories> {
    let limited = |statement: &Statement| matches!(statement, Statement::Fence { space: Some(_), .. });
    if !shape.one_as && !shape.threads.iter().flatten().any(limited) {
        return vec![[false; 2]];
    }
    let named = |layout: &Layout| shape.layouts.is_empty() || shape.layouts.contains(&layout.name());
    // Shapes with groups have no cases with LDS.
    let grouped = !shape.groups.is_empty();
    let mut all: Vec<Memories> = Layout::all()
        .filter(named)
        .map(|layout| [layout.is_local(0), layout.is_local(1)])
        .filter(|memories| !(grouped && memories.contains(&true)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A candidate execution with its relations.
pub(crate) struct Execution<'a> {
    /// The events of the shape.
    pub program: &'a Program<'a>,
    /// Sources and modification orders.
    pub candidate: &'a Candidate,
    /// The relations. Node numbers are numbers of events.
    pub graph: DiGraph<(), Edge>,
    memories: Memories,
}

impl<'a> Execution<'a> {
    /// Builds the graph of a candidate.
    pub fn new(program: &'a Program<'a>, candidate: &'a Candidate, memories: Memories) -> Execution<'a> {
        let count = program.events.len();
        let mut execution =
            Execution { program, candidate, graph: DiGraph::with_capacity(count, 4 * count), memories };
        (0..count).for_each(|_| {
            execution.graph.add_node(());
        });
        execution.add_program_order();
        execution.add_coherence();
        for read in 0..count {
            execution.add_synchronisation(read);
        }
        execution.add_barriers();
        execution
    }

    fn add(&mut self, from: usize, to: usize, relation: Relation, spaces: u8) {
        self.graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), Edge { relation, spaces });
    }

    fn add_program_order(&mut self) {
        let events = &self.program.events;
        for from in 0..events.len() {
            for to in from + 1..events.len() {
                if events[from].thread == events[to].thread {
                    self.add(from, to, Relation::ProgramOrder, ALL_SPACES);
                }
            }
        }
    }

    /// Adds reads-from, the modification orders and from-read.
    fn add_coherence(&mut self) {
        let candidate = self.candidate;
        for (variable, order) in candidate.orders.iter().enumerate() {
            let space = self.space(variable);
            for (index, &write) in order.iter().enumerate() {
                for &later in &order[index + 1..] {
                    self.add(write, later, Relation::ModificationOrder, space);
                }
            }
            for read in self.program.events_where(|event| event.variable() == Some(variable)) {
                let newer = match candidate.sources[read] {
                    Some(Source::Initial) => 0,
                    Some(Source::Write(write)) => {
                        self.add(write, read, Relation::ReadsFrom, space);
                        order.iter().take_while(|&&other| other != write).count() + 1
                    }
                    Some(Source::Race) | None => continue,
                };
                for &write in order[newer..].iter().filter(|&&write| write != read) {
                    self.add(read, write, Relation::FromRead, space);
                }
            }
        }
    }

    /// Adds what an atomic read synchronises with: the write from which it reads, and the writes whose
    /// release sequence contains this write. Fences before the write and after the read take part.
    fn add_synchronisation(&mut self, read: usize) {
        let program = self.program;
        for write in self.release_sequences(read) {
            if program.conflict(write, read) || program.events[write].thread == program.events[read].thread {
                continue;
            }
            let before = |event: usize| event < write && self.same_thread(event, write);
            let after = |event: usize| event > read && self.same_thread(event, read);
            let fences = || program.events_where(|event| event.is_fence());
            let releases: Vec<usize> = fences().filter(|&fence| before(fence)).chain([write]).collect();
            let acquires: Vec<usize> = [read].into_iter().chain(fences().filter(|&f| after(f))).collect();
            self.add_pairs(&releases, &acquires, Some(read));
        }
    }

    /// Returns the atomic writes whose release sequence contains the write from which an event reads. A
    /// release sequence goes on with read-modify-writes of any thread.
    fn release_sequences(&self, read: usize) -> Vec<usize> {
        let mut heads = Vec::new();
        let mut at = read;
        while let Some(Source::Write(write)) = self.candidate.sources[at] {
            if heads.contains(&write) || self.program.conflict(write, at) {
                break;
            }
            heads.push(write);
            at = write;
        }
        heads
    }

    /// Adds the fences that barriers synchronise. The barriers of a group meet in their order.
    fn add_barriers(&mut self) {
        let program = self.program;
        for first in program.events_where(|event| matches!(event.statement, Statement::Barrier)) {
            let thread = program.events[first].thread;
            let number = program.barriers(thread).position(|barrier| barrier == first);
            let others = (0..program.shape.threads.len())
                .filter(|&other| other != thread && program.group(other) == program.group(thread));
            for second in others.filter_map(|other| program.barriers(other).nth(number?)) {
                let fences = || program.events_where(|event| event.is_fence());
                let before = |fence: &usize| *fence < first && self.same_thread(*fence, first);
                let after = |fence: &usize| *fence > second && self.same_thread(*fence, second);
                let releases: Vec<usize> = fences().filter(before).collect();
                let acquires: Vec<usize> = fences().filter(after).collect();
                self.add_pairs(&releases, &acquires, None);
            }
        }
    }

    /// Adds that events which release synchronise with events which acquire.
    fn add_pairs(&mut self, releases: &[usize], acquires: &[usize], through: Option<usize>) {
        let program = self.program;
        for &release in releases.iter().filter(|&&event| program.events[event].releases()) {
            for &acquire in acquires.iter().filter(|&&event| program.events[event].acquires()) {
                let spaces = self.ordered_spaces(release) & self.ordered_spaces(acquire);
                if spaces != 0 && program.inclusive(release, acquire) {
                    self.add(release, acquire, Relation::Synchronises { through }, spaces);
                }
            }
        }
    }

    fn same_thread(&self, first: usize, second: usize) -> bool {
        self.program.events[first].thread == self.program.events[second].thread
    }

    /// Returns the bit of the address space of a variable.
    pub fn space(&self, variable: usize) -> u8 {
        if self.memories[variable.min(1)] { LOCAL } else { GLOBAL }
    }

    /// Returns the address spaces whose accesses an atomic or a fence orders.
    fn ordered_spaces(&self, event: usize) -> u8 {
        let event = &self.program.events[event];
        match (event.statement, event.variable()) {
            (Statement::Fence { space: Some(Space::Global), .. }, _) => GLOBAL,
            (Statement::Fence { space: Some(Space::Local), .. }, _) => LOCAL,
            (_, Some(variable)) if self.program.shape.one_as && event.order != Order::SeqCst => {
                self.space(variable)
            }
            _ => ALL_SPACES,
        }
    }

    /// Returns whether each value that comes from a data race in this candidate really has a race.
    pub fn races_are_real(&self) -> bool {
        let mut reads = (0..self.program.events.len())
            .filter(|&event| self.candidate.sources[event] == Some(Source::Race));
        reads.all(|read| self.program.events[read].variable().is_some_and(|v| self.races(v, Some(read))))
            && self.candidate.racing_ends.iter().all(|&variable| self.races(variable, None))
    }

    /// Returns whether a read sees several writes, of which one may be in a data race. Without a read, looks
    /// at the end of the execution.
    fn races(&self, variable: usize, read: Option<usize>) -> bool {
        let space = self.space(variable);
        let ordered = EdgeFiltered::from_fn(&self.graph, |edge: petgraph::graph::EdgeReference<'_, Edge>| {
            edge.weight().orders(space)
        });
        let before = |first: usize, second: usize| {
            let (first, second) = (NodeIndex::new(first), NodeIndex::new(second));
            first != second && has_path_connecting(&ordered, first, second, None)
        };
        let writes = || self.candidate.orders[variable].iter().copied().filter(|&write| Some(write) != read);
        let earlier = |write: usize| read.is_none_or(|read| before(write, read));
        let hidden = |write: usize| writes().any(|other| before(write, other) && earlier(other));
        let later = |write: usize| read.is_some_and(|read| before(read, write));
        let visible: Vec<usize> = writes().filter(|&write| !later(write) && !hidden(write)).collect();
        // The initial value is hidden by any write that comes before the read.
        let initial = !writes().any(earlier);
        let conflicts = |write: usize| match read {
            Some(read) => self.program.conflict(read, write),
            None => visible.iter().any(|&other| self.program.conflict(other, write)),
        };
        visible.len() + usize::from(initial) > 1 && visible.iter().any(|&write| conflicts(write))
    }
}

/// Bit of global memory.
pub(crate) const GLOBAL: u8 = 1;
/// Bit of LDS.
pub(crate) const LOCAL: u8 = 2;
/// Bits of all address spaces.
const ALL_SPACES: u8 = GLOBAL | LOCAL;
