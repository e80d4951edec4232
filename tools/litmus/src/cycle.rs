//! Explains why the memory model forbids an outcome: by a cycle in each candidate execution.
//!
//! The memory model is that of C++20 and LLVM. An execution agrees with the model if four sorts of cycles do
//! not occur. Each sort is a path through the states of a small automaton, whose table is [`STEPS`]. Edges of
//! the execution's graph lead from state to state. A cycle is therefore a path in a product graph, whose
//! nodes are pairs of an event and a state. The crate petgraph finds the shortest path.

use crate::candidate::Candidate;
use crate::events::{Event, Program};
use crate::relations::{Edge, Execution, GLOBAL, LOCAL, Relation, memories};
use crate::shape::{Condition, Order, Shape};
use petgraph::Direction::{Incoming, Outgoing};
use petgraph::algo::spfa;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use std::cmp::Reverse;
use std::fmt;

/// A state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// The path so far is happens-before.
    Before,
    /// The path so far is happens-before, then coherence order.
    After,
    /// The event is sequentially consistent, and later in the total order than the first event of the path.
    Total,
    /// Happens-before that began with program order.
    Strong,
    /// Happens-before after a sequentially consistent fence.
    Lead,
    /// Coherence order after a sequentially consistent event or after `Lead`.
    Coherent,
    /// Happens-before after `Coherent`.
    Tail,
}

/// Number of states.
const STATES: usize = 7;

/// A condition on an event.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Any event.
    Any,
    /// A sequentially consistent access or fence.
    SeqCst,
    /// A sequentially consistent access.
    Access,
    /// A sequentially consistent fence.
    Fence,
}

impl Kind {
    fn includes(self, event: &Event<'_>) -> bool {
        let seq_cst = event.order == Order::SeqCst;
        match self {
            Kind::Any => true,
            Kind::SeqCst => seq_cst,
            Kind::Access => seq_cst && !event.is_fence(),
            Kind::Fence => seq_cst && event.is_fence(),
        }
    }
}

/// A condition on an edge.
#[derive(Clone, Copy, Debug)]
enum Class {
    /// Program order.
    Po,
    /// Synchronises-with.
    Sw,
    /// Happens-before: one of the two.
    Hb,
    /// Coherence order: reads-from, modification order or from-read.
    Co,
}

/// The steps of the automaton: a state, a condition on the first event, a condition on the edge, a condition
/// on the second event, and the next state.
///
/// `Total` has the rules of C++20 for the total order of sequentially consistent operations: the order
/// contains strongly happens-before, and coherence order between two sequentially consistent accesses. A
/// sequentially consistent fence stands for the accesses that happen before or after the fence.
#[rustfmt::skip]
const STEPS: &[(State, Kind, Class, Kind, State)] = &[
    (State::Before,   Kind::Any,    Class::Hb, Kind::Any,    State::Before),
    (State::Before,   Kind::Any,    Class::Co, Kind::Any,    State::After),
    (State::After,    Kind::Any,    Class::Co, Kind::Any,    State::After),
    (State::Total,    Kind::SeqCst, Class::Po, Kind::SeqCst, State::Total),
    (State::Total,    Kind::Access, Class::Sw, Kind::Access, State::Total),
    (State::Total,    Kind::SeqCst, Class::Po, Kind::Any,    State::Strong),
    (State::Strong,   Kind::Any,    Class::Hb, Kind::Any,    State::Strong),
    (State::Strong,   Kind::Any,    Class::Po, Kind::SeqCst, State::Total),
    (State::Total,    Kind::Fence,  Class::Hb, Kind::Any,    State::Lead),
    (State::Lead,     Kind::Any,    Class::Hb, Kind::Any,    State::Lead),
    (State::Lead,     Kind::Any,    Class::Co, Kind::Any,    State::Coherent),
    (State::Lead,     Kind::Any,    Class::Co, Kind::Access, State::Total),
    (State::Total,    Kind::Access, Class::Co, Kind::Any,    State::Coherent),
    (State::Total,    Kind::Access, Class::Co, Kind::Access, State::Total),
    (State::Coherent, Kind::Any,    Class::Co, Kind::Any,    State::Coherent),
    (State::Coherent, Kind::Any,    Class::Co, Kind::Access, State::Total),
    (State::Coherent, Kind::Any,    Class::Hb, Kind::Any,    State::Tail),
    (State::Coherent, Kind::Any,    Class::Hb, Kind::Fence,  State::Total),
    (State::Tail,     Kind::Any,    Class::Hb, Kind::Any,    State::Tail),
    (State::Tail,     Kind::Any,    Class::Hb, Kind::Fence,  State::Total),
];

/// The axioms: the states at the two ends of a cycle that breaks the axiom, and what the cycle shows. Of two
/// axioms that one cycle breaks, the first one counts.
const AXIOMS: [(State, State, &str); 4] = [
    (State::Before, State::Before, "happens-before has a cycle"),
    (State::After, State::After, "a read-modify-write is not atomic"),
    (State::Before, State::After, "coherence contradicts happens-before"),
    (State::Total, State::Total, "the seq_cst operations have no total order"),
];

/// A step of a cycle: an event, and the relation of this event and the event of the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Text of the statement.
    pub statement: String,
    /// Thread of the event.
    pub thread: usize,
    /// The value that the event reads.
    pub read: Option<u32>,
    /// Name of the relation.
    pub relation: String,
}

/// A cycle that breaks an axiom of the memory model. The last step leads back to the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// What the cycle shows.
    pub axiom: &'static str,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Whether the memory model forbids an outcome, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Each candidate execution has a cycle.
    Forbidden {
        /// Number of candidate executions.
        candidates: usize,
        /// The shortest cycle of the candidate that is hardest to refute: its shortest cycle is the longest.
        /// `None` if no execution has the outcome.
        cycle: Option<Cycle>,
    },
    /// Some candidate executions have no cycle.
    Allowed {
        /// Number of candidate executions.
        candidates: usize,
        /// Number of candidates without a cycle.
        consistent: usize,
    },
    /// The reason why the outcome cannot be judged.
    NotShown(String),
}

/// Explains whether the memory model forbids the outcomes that meet a condition.
pub fn explain(shape: &Shape, condition: &Condition) -> Explanation {
    let program = match Program::new(shape) {
        Ok(program) => program,
        Err(reason) => return Explanation::NotShown(reason),
    };
    let memories = memories(shape);
    let (mut candidates, mut consistent) = (0, 0);
    let mut hardest: Option<Found> = None;
    let mut cycle = None;
    let visited = program.for_each_candidate(condition, |candidate: &Candidate| {
        for &memories in &memories {
            let execution = Execution::new(&program, candidate, memories);
            if !execution.races_are_real() {
                continue;
            }
            candidates += 1;
            match shortest_cycle(&execution) {
                None => consistent += 1,
                Some(found) if hardest.as_ref().is_none_or(|hardest| hardest.is_easier_than(&found)) => {
                    cycle = Some(execution.cycle(&found));
                    hardest = Some(found);
                }
                Some(_) => {}
            }
        }
    });
    match visited {
        Err(reason) => Explanation::NotShown(reason),
        Ok(()) if consistent > 0 => Explanation::Allowed { candidates, consistent },
        Ok(()) => Explanation::Forbidden { candidates, cycle },
    }
}

/// The shortest cycle of a candidate.
struct Found {
    axiom: &'static str,
    edges: Vec<EdgeIndex>,
    /// Number of pairs of an axiom and an event for which there is a cycle.
    breaches: usize,
}

impl Found {
    /// Returns whether another candidate is harder to refute: its shortest cycle is longer, or its cycles are
    /// fewer.
    fn is_easier_than(&self, other: &Found) -> bool {
        let hardness = |found: &Found| (found.edges.len(), Reverse(found.breaches));
        hardness(self) < hardness(other)
    }
}

/// Returns the shortest cycle that breaks an axiom.
fn shortest_cycle(execution: &Execution<'_>) -> Option<Found> {
    let variables = execution.program.shape.variables.len();
    let used = |space: &u8| (0..variables).any(|variable| execution.space(variable) == *space);
    let mut shortest: Option<Found> = None;
    let mut breaches = 0;
    for space in [GLOBAL, LOCAL].into_iter().filter(used) {
        let product = product_graph(execution, space);
        for (from, to, axiom) in AXIOMS {
            for event in execution.graph.node_indices() {
                let Some(edges) = shortest_path(&product, node(event, from), node(event, to)) else {
                    continue;
                };
                breaches += 1;
                if shortest.as_ref().is_none_or(|shortest| edges.len() < shortest.edges.len()) {
                    shortest = Some(Found { axiom, edges, breaches: 0 });
                }
            }
        }
    }
    shortest.map(|found| Found { breaches, ..found })
}

/// Returns the node of the product graph for an event and a state.
fn node(event: NodeIndex, state: State) -> NodeIndex {
    NodeIndex::new(event.index() * STATES + state as usize)
}

/// Returns the graph whose nodes are events with states. Each edge is a step of the automaton along an edge
/// of the execution. Accesses to one address space must be coherent with what happens before in this space.
fn product_graph(execution: &Execution<'_>, space: u8) -> DiGraph<(), EdgeIndex> {
    let program = execution.program;
    let seq_cst: Vec<usize> = program.events_where(|event| event.order == Order::SeqCst).collect();
    // If two scopes do not contain each other, there is no total order of all sequentially consistent
    // operations.
    let total = seq_cst.iter().all(|&first| seq_cst.iter().all(|&second| program.inclusive(first, second)));
    let mut product = DiGraph::with_capacity(program.events.len() * STATES, 0);
    (0..program.events.len() * STATES).for_each(|_| {
        product.add_node(());
    });
    for edge in execution.graph.edge_references() {
        let [first, second] = [edge.source(), edge.target()].map(|node| &program.events[node.index()]);
        for &(from, source, class, target, to) in STEPS {
            let spaces = if from >= State::Total { GLOBAL | LOCAL } else { space };
            if (total || from < State::Total)
                && source.includes(first)
                && target.includes(second)
                && class.includes(edge.weight(), spaces)
            {
                product.add_edge(node(edge.source(), from), node(edge.target(), to), edge.id());
            }
        }
    }
    product
}

impl Class {
    fn includes(self, edge: &Edge, spaces: u8) -> bool {
        let program_order = edge.relation == Relation::ProgramOrder;
        match self {
            Class::Po => program_order,
            Class::Sw => edge.orders(spaces) && !program_order,
            Class::Hb => edge.orders(spaces),
            Class::Co => !edge.orders(0) && edge.spaces & spaces != 0,
        }
    }
}

/// Returns the edges of a shortest path of at least one edge.
fn shortest_path(product: &DiGraph<(), EdgeIndex>, from: NodeIndex, to: NodeIndex) -> Option<Vec<EdgeIndex>> {
    product.first_edge(from, Outgoing)?;
    product.first_edge(to, Incoming)?;
    let paths = spfa(product, from, |_| 1u32).ok()?;
    let distance = |node: NodeIndex| paths.distances[node.index()];
    let last = product.neighbors_directed(to, Incoming).min_by_key(|&node| distance(node))?;
    if distance(last) == u32::MAX {
        return None;
    }
    let mut nodes = vec![to, last];
    while nodes[nodes.len() - 1] != from {
        nodes.push(paths.predecessors[nodes[nodes.len() - 1].index()]?);
    }
    nodes.reverse();
    let edges = nodes.windows(2).map(|pair| Some(product[product.find_edge(pair[0], pair[1])?]));
    edges.collect()
}

impl Execution<'_> {
    /// Writes a cycle of this execution as text.
    fn cycle(&self, found: &Found) -> Cycle {
        let text = |event: usize| self.program.shape.statement_text(self.program.events[event].statement);
        let step = |&edge: &EdgeIndex| {
            let from = self.graph.edge_endpoints(edge).map_or(0, |(from, _)| from.index());
            let relation = match self.graph[edge].relation {
                Relation::ProgramOrder => "program order".into(),
                Relation::Synchronises { through: None } => "synchronises with (barrier)".into(),
                Relation::Synchronises { through: Some(read) } => match self.candidate.read[read] {
                    Some(value) => format!("synchronises with ({} reads {value})", text(read)),
                    None => format!("synchronises with ({})", text(read)),
                },
                Relation::ReadsFrom => "reads-from".into(),
                Relation::ModificationOrder => "modification order".into(),
                Relation::FromRead => "from-read".into(),
            };
            let event = &self.program.events[from];
            let read = self.candidate.read[from].filter(|_| event.reads());
            Step { statement: text(from), thread: event.thread, read, relation }
        };
        Cycle { axiom: found.axiom, steps: found.edges.iter().map(step).collect() }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let executions = |count: usize| match count {
            1 => "1 candidate execution".to_owned(),
            _ => format!("{count} candidate executions"),
        };
        match self {
            Explanation::Forbidden { cycle: None, .. } => write!(f, "no execution has these values"),
            Explanation::Forbidden { candidates, cycle: Some(cycle) } => {
                write!(f, "{}, {}\n{cycle}", executions(*candidates), cycle.axiom)
            }
            Explanation::Allowed { candidates, consistent } => {
                write!(f, "{}, {consistent} without a cycle", executions(*candidates))
            }
            Explanation::NotShown(reason) => write!(f, "not shown: {reason}"),
        }
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.iter().map(|step| step.statement.len()).max().unwrap_or(0);
        for (index, step) in self.steps.iter().chain(self.steps.first()).enumerate() {
            let read = step.read.map_or(String::new(), |value| format!(", reads {value}"));
            let Step { statement, thread, .. } = step;
            write!(f, "    {statement:width$}  thread {thread}{read}")?;
            if index < self.steps.len() {
                writeln!(f, "\n      {}", step.relation)?;
            }
        }
        Ok(())
    }
}
