//! Finds the values that are the same in all active lanes of a wave, and the branches that all lanes take in
//! the same direction.
//!
//! A value is divergent if lanes may hold different bits. The reason can be:
//! - its origin: lane and work-item numbers, results of atomic operations, loads from private memory; also
//!   arguments and results of calls, unless [`UniformCalls`] shows that they are uniform;
//! - its operands: some operand is divergent;
//! - a join: a block parameter where paths meet that started at a divergent branch, so that lanes arrive over
//!   different edges, unless all edges pass the same value;
//! - a loop: if lanes leave a loop in different iterations, a value of the loop can be uniform inside the
//!   loop, but outside of the loop the lanes hold the values of different iterations.
//!   [`Uniformity::is_divergent_at_use`] reports such a use; [`super::lcssa_divergent_exits`] replaces the
//!   value there by a block parameter.
//!
//! # Method
//! The analysis sweeps over the reverse postorder until nothing changes; without loops, one sweep suffices.
//!
//! To find joins, each divergent branch sends a different label along each of its edges, once. A block that
//! two labels reach is a join and passes on a label of its own. Lanes leave a loop in different iterations if
//! one label leaves the loop and another returns to its header. The loop as a whole then acts like a branch
//! with one edge for each exit.
//!
//! Because the order keeps loops contiguous, a walk in this order visits every block after all labels that
//! reach it have arrived. All blocks that a labelled block dominates get the same label, so the walk need not
//! visit them. It continues directly at the dominance frontier of the block ([`Frontiers`]), where other
//! labels may arrive. In this way, a long chain of tests is not walked to its end from each test.
//!
//! # Requires
//! The control-flow graph must be reducible, and `InstData::block` must be correct.

use super::cfg::Cfg;
use super::dominance::DomTree;
use super::loops::{Loop, LoopForest};
use super::uniform_calls::UniformCalls;
use crate::entity::{Block, FuncId, Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::{MemFlags, Op, Order, Pos, WaveOp};
use crate::types::Space;
use cranelift_entity::SecondaryMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The uniformity of the values, branches and loops of a function.
#[derive(Clone, Debug, Default)]
pub struct Uniformity {
    divergent: SecondaryMap<Value, bool>,
    branches: SecondaryMap<Block, bool>,
    joins: SecondaryMap<Block, Joins>,
    loops: SecondaryMap<Loop, bool>,
    any_loop: bool,
    changed: bool,
    labels: Labels,
    frontiers: Frontiers,
    known: Option<(Arc<UniformCalls>, Option<FuncId>)>,
}

/// For each block, its dominance frontier: the targets of the edges that leave the region which the block
/// dominates. A frontier with many targets is not stored.
#[derive(Clone, Debug, Default)]
struct Frontiers {
    /// The frontiers by position in the order; empty until needed.
    of: Vec<Frontier>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Frontier {
    to: [Option<Block>; Frontier::MOST],
    /// Whether walks cannot use the frontier and must continue at the block's successors instead. There are
    /// two reasons: the frontier has too many targets, or the program may end or loop forever in the region
    /// that the block dominates.
    open: bool,
}

impl Frontier {
    /// Maximum number of targets of a stored frontier. Blocks in deeply nested loops with many exits have
    /// more targets.
    const MOST: usize = 4;

    fn add(&mut self, block: Block) {
        match self.to.iter_mut().find(|slot| slot.is_none_or(|known| known == block)) {
            Some(slot) => *slot = Some(block),
            None => self.open = true,
        }
    }
}

impl Frontiers {
    /// Computes the frontiers. The frontier of a block is computed from the frontiers of the blocks whose
    /// immediate dominator it is.
    fn compute(&mut self, cfg: &Cfg, dom: &DomTree) {
        self.of.clear();
        self.of.resize(cfg.rpo().len(), Frontier::default());
        for (at, &block) in cfg.rpo().iter().enumerate().rev() {
            self.of[at].open |= cfg.succs(block).next().is_none();
            for succ in cfg.succs(block).filter(|&succ| dom.idom(succ) != Some(block)) {
                self.of[at].add(succ);
            }
            // This block is in an endless loop.
            self.of[at].open |= self.of[at].to.iter().all(|to| to.is_none_or(|to| to == block));
            let Some(up) = dom.idom(block) else { continue };
            let Frontier { to, open } = self.of[at];
            let above = &mut self.of[cfg.position(up) as usize];
            above.open |= open;
            to.into_iter().flatten().filter(|&to| dom.idom(to) != Some(up)).for_each(|to| above.add(to));
        }
    }
}

/// The control flow of a function.
#[derive(Clone, Copy)]
struct Graph<'a> {
    cfg: &'a Cfg,
    dom: &'a DomTree,
    loops: &'a LoopForest,
}

/// Whether lanes that took different directions at a branch may arrive at a block over different edges. Back
/// edges are recorded apart from all other edges.
#[derive(Clone, Copy, Debug, Default)]
struct Joins {
    forward: bool,
    back: bool,
}

/// State of one walk of labels; empty between walks.
#[derive(Clone, Debug, Default)]
struct Labels {
    /// Label of the block at each position of the reverse postorder; 0 means no label. The paths from a
    /// branch carry different labels. A block where two different labels meet is a join.
    at: Vec<u32>,
    /// For each position of a loop header, the label that has arrived there over a back edge; 0 means no
    /// label.
    back: Vec<u32>,
    touched: Vec<u32>,
    /// Positions of blocks that have a label and have not been visited yet.
    pending: BinaryHeap<Reverse<u32>>,
    /// Loops around the start of the walk, innermost first.
    around: Vec<Ends>,
    /// Position in the reverse postorder from which on the walk may stop when only one label is left. Before
    /// this position, a later exit or back edge of a loop could still show that lanes leave the loop in
    /// different iterations.
    settled_end: u32,
    /// Loops whose exits must send labels next.
    parted: Vec<Loop>,
}

/// What a walk of labels finds out about a loop around the branch at which the walk started: which labels
/// arrive at the loop header over back edges, and which labels leave the loop.
#[derive(Clone, Copy, Debug)]
struct Ends {
    which: Loop,
    first: u32,
    end: u32,
    to_header: Seen,
    outside: Seen,
}

impl Ends {
    /// Returns whether lanes leave the loop in different iterations. This is so if one label returns to the
    /// header and a different label leaves the loop.
    fn lanes_part(&self) -> bool {
        match (self.to_header, self.outside) {
            (Seen::None, _) | (_, Seen::None) => false,
            (Seen::One(a), Seen::One(b)) => a != b,
            _ => true,
        }
    }
}

/// The labels seen: none, one, or several different labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    None,
    One(u32),
    Many,
}

impl Seen {
    fn add(&mut self, label: u32) {
        *self = match *self {
            Seen::None => Seen::One(label),
            Seen::One(old) if old == label => return,
            _ => Seen::Many,
        };
    }
}

impl Uniformity {
    /// Computes the uniformity of a function.
    pub fn new(func: &Function, cfg: &Cfg, dom: &DomTree, loops: &LoopForest) -> Self {
        let mut result = Uniformity::default();
        result.compute(func, cfg, dom, loops);
        result
    }

    /// Sets what the analysis knows about calls: which parameters and results of functions are uniform. Also
    /// sets which function will be analysed next, so that the analysis can look up this function's
    /// parameters.
    pub fn know(&mut self, known: Option<(Arc<UniformCalls>, Option<FuncId>)>) {
        self.known = known;
    }

    /// Recomputes the uniformity.
    pub fn compute(&mut self, func: &Function, cfg: &Cfg, dom: &DomTree, loops: &LoopForest) {
        let graph = Graph { cfg, dom, loops };
        self.frontiers.of.clear();
        self.divergent.clear();
        self.divergent.resize(func.values.len());
        self.branches.clear();
        self.branches.resize(cfg.block_count());
        self.joins.clear();
        self.joins.resize(cfg.block_count());
        self.loops.clear();
        self.loops.resize(loops.len());
        self.any_loop = false;
        self.labels.at.clear();
        self.labels.at.resize(cfg.rpo().len(), 0);
        self.labels.back.clear();
        self.labels.back.resize(cfg.rpo().len(), 0);
        if func.kernel.is_none() && !func.layout.is_empty() {
            let known = self.known.as_ref();
            for (n, &param) in func.params(func.entry()).iter().enumerate() {
                let is_uniform =
                    known.is_some_and(|(calls, id)| id.is_some_and(|id| calls.is_param_uniform(id, n)));
                self.divergent[param] = !is_uniform;
            }
        }
        loop {
            self.changed = false;
            for &block in cfg.rpo() {
                self.visit(func, graph, block);
            }
            if !self.changed || loops.is_empty() {
                break;
            }
        }
    }

    fn visit(&mut self, func: &Function, graph: Graph, block: Block) {
        let Graph { cfg, loops, .. } = graph;
        for (n, &param) in func.params(block).iter().enumerate() {
            if !self.divergent[param] && self.param_diverges(func, cfg, loops, block, n) {
                self.divergent[param] = true;
                self.changed = true;
            }
        }
        for &inst in func.blocks[block].insts() {
            let data = &func.insts[inst];
            if let Some(cond) = func.branch_operand(inst) {
                if !self.branches[block] && self.is_divergent_at_use(func, loops, cond, block) {
                    self.branches[block] = true;
                    self.changed = true;
                    self.spread_branch(graph, block);
                }
            } else if let Op::Call(callee) = data.op {
                self.call_results(func, inst, callee);
            } else if data.results > 0
                && !self.divergent[data.first]
                && self.inst_diverges(func, loops, block, inst)
            {
                self.changed = true;
                for value in func.results_of(inst) {
                    self.divergent[value] = true;
                }
            }
        }
    }

    fn call_results(&mut self, func: &Function, inst: Inst, callee: FuncId) {
        for (n, value) in func.results_of(inst).enumerate() {
            let known = self.known.as_ref();
            let is_uniform = known.is_some_and(|(calls, _)| calls.is_result_uniform(callee, n));
            if !is_uniform && !std::mem::replace(&mut self.divergent[value], true) {
                self.changed = true;
            }
        }
    }

    fn inst_diverges(&self, func: &Function, loops: &LoopForest, block: Block, inst: Inst) -> bool {
        match origin(func, func.insts[inst].op) {
            Origin::Uniform => false,
            Origin::Divergent => true,
            Origin::Operands => {
                func.args(inst).iter().any(|&arg| self.is_divergent_at_use(func, loops, arg, block))
            }
        }
    }

    /// Returns whether parameter number `n` of `block` is divergent.
    fn param_diverges(&self, func: &Function, cfg: &Cfg, loops: &LoopForest, block: Block, n: usize) -> bool {
        // The edges that enter a loop count as one join at its header, and the back edges as another one.
        // Each of the two has its own value.
        let mut only: [Option<Value>; 2] = [None; 2];
        let mut differ = [false; 2];
        for &pred in cfg.preds(block) {
            let Some(branch) = func.terminator(pred) else { continue };
            let kind = usize::from(cfg.is_back_edge(pred, block));
            for (which, succ) in func.succs(pred).enumerate() {
                if succ != block {
                    continue;
                }
                let Some(&arg) = func.branch_args(branch, which).get(n) else { continue };
                if self.is_divergent_at_use(func, loops, arg, block) {
                    return true;
                }
                differ[kind] |= only[kind].is_some_and(|seen| seen != arg);
                only[kind] = Some(arg);
            }
        }
        let Joins { forward, back } = self.joins[block];
        forward && differ[0] || back && differ[1]
    }

    /// Sends labels from a divergent branch.
    fn spread_branch(&mut self, graph: Graph, block: Block) {
        let Graph { cfg, loops, .. } = graph;
        let at = cfg.position(block);
        self.labels.begin(cfg, loops, loops.innermost(block));
        for (n, succ) in cfg.succs(block).enumerate() {
            self.arrive(cfg, at, at, succ, n as u32 + 1);
        }
        self.walk(graph, at);
    }

    /// Sends a different label from each exit of a divergent loop, because lanes leave such a loop in
    /// different iterations.
    fn spread_loop(&mut self, graph: Graph, l: Loop) {
        let Graph { cfg, loops, .. } = graph;
        let at = cfg.position(loops.header(l));
        self.labels.begin(cfg, loops, loops.parent(l));
        for (n, &(_, to)) in loops.exits(l).iter().enumerate() {
            self.arrive(cfg, at, at, to, n as u32 + 1);
        }
        self.walk(graph, at);
    }

    /// Records that `label` arrives at `block` over an edge from position `from`. The walk of labels started
    /// at position `start`.
    fn arrive(&mut self, cfg: &Cfg, start: u32, from: u32, block: Block, label: u32) {
        let to = cfg.position(block);
        let labels = &mut self.labels;
        for ends in labels.around.iter_mut().filter(|ends| from < ends.end) {
            if to == ends.first && to <= start {
                ends.to_header.add(label);
                labels.settled_end = labels.settled_end.max(ends.end);
            } else if to < ends.first || to >= ends.end {
                ends.outside.add(label);
            }
        }
        let old = if to <= start { &mut labels.back[to as usize] } else { &mut labels.at[to as usize] };
        if *old == 0 {
            *old = label;
            labels.touched.push(to);
            if to > start {
                labels.pending.push(Reverse(to));
            }
        } else if *old != label {
            let joins = &mut self.joins[block];
            let mark = if to > start { &mut joins.forward } else { &mut joins.back };
            self.changed |= !*mark;
            *mark = true;
            if to > start {
                *old = JOIN + to;
            }
        }
    }

    /// Passes labels on until all lanes have met again.
    fn walk(&mut self, graph: Graph, start: u32) {
        let cfg = graph.cfg;
        let order = cfg.rpo();
        if self.frontiers.of.is_empty() {
            self.frontiers.compute(cfg, graph.dom);
        }
        while let Some(Reverse(at)) = self.labels.pending.pop() {
            if self.labels.pending.is_empty() && at >= self.labels.settled_end {
                break;
            }
            let label = self.labels.at[at as usize];
            // Back edges of inner loops are skipped, because such an edge only carries the label that the
            // loop header already has.
            let counts = |&to: &Block| cfg.position(to) <= start || cfg.position(to) > at;
            let Frontier { to, open } = self.frontiers.of[at as usize];
            if open {
                let succs = cfg.succs(order[at as usize]).filter(counts);
                succs.for_each(|to| self.arrive(cfg, start, at, to, label));
            } else {
                let beyond = to.into_iter().flatten().filter(counts);
                beyond.for_each(|to| self.arrive(cfg, start, at, to, label));
            }
        }
        self.labels.end();
        let mut parted = std::mem::take(&mut self.labels.parted);
        for ends in &self.labels.around {
            if ends.lanes_part() && !self.loops[ends.which] {
                self.loops[ends.which] = true;
                parted.push(ends.which);
            }
        }
        for l in parted.drain(..) {
            self.any_loop = true;
            self.changed = true;
            self.spread_loop(graph, l);
        }
        self.labels.parted = parted;
    }

    /// Returns whether lanes of a wave may hold different bits where the value is defined, or anywhere in the
    /// loop that defines it.
    pub fn is_divergent(&self, value: Value) -> bool {
        self.divergent[value]
    }

    /// Returns the opposite of [`Uniformity::is_divergent`].
    pub fn is_uniform(&self, value: Value) -> bool {
        !self.divergent[value]
    }

    /// Returns whether lanes of a wave may hold different bits when the value is used in `block`. An argument
    /// of a branch counts as used in the target of the branch. If the edge to the target leaves the loop that
    /// defines the value, lanes arrive with the values of different iterations.
    pub fn is_divergent_at_use(
        &self,
        func: &Function,
        loops: &LoopForest,
        value: Value,
        block: Block,
    ) -> bool {
        self.divergent[value] || self.any_loop && self.leaves_divergent_loop(func, loops, value, block)
    }

    /// Returns whether lanes leave the value's loop in different iterations before they reach `block`:
    /// whether the value is defined in a divergent loop that does not contain `block`. Constants and other
    /// values that are the same in every iteration do not count.
    pub fn leaves_divergent_loop(
        &self,
        func: &Function,
        loops: &LoopForest,
        value: Value,
        block: Block,
    ) -> bool {
        let home = match func.values[value].def {
            ValueDef::Param(home, _) => home,
            ValueDef::Result(inst, _) => {
                if is_fixed(func.insts[inst].op) {
                    return false;
                }
                func.insts[inst].block
            }
        };
        let mut up = loops.innermost(home);
        while let Some(l) = up {
            if loops.contains(l, block) {
                return false;
            }
            if self.loops[l] {
                return true;
            }
            up = loops.parent(l);
        }
        false
    }

    /// Returns whether the block ends in a branch that lanes may take in different directions.
    pub fn is_branch_divergent(&self, block: Block) -> bool {
        self.branches[block]
    }

    /// Returns whether lanes may leave the loop in different iterations.
    pub fn is_loop_divergent(&self, l: Loop) -> bool {
        self.loops[l]
    }

    /// Returns whether there is a loop that lanes may leave in different iterations.
    pub fn has_divergent_loop(&self) -> bool {
        self.any_loop
    }

    /// Returns whether lanes that parted at a divergent branch may arrive at the block over different edges.
    pub fn is_join(&self, block: Block) -> bool {
        let Joins { forward, back } = self.joins[block];
        forward || back
    }
}

/// Labels of joins are greater than labels of edges.
const JOIN: u32 = 1 << 31;

impl Labels {
    fn begin(&mut self, cfg: &Cfg, loops: &LoopForest, innermost: Option<Loop>) {
        self.pending.clear();
        self.settled_end = 0;
        self.around.clear();
        let mut up = innermost;
        while let Some(which) = up {
            let first = cfg.position(loops.header(which));
            let end = first + loops.blocks(which).len() as u32;
            self.around.push(Ends { which, first, end, to_header: Seen::None, outside: Seen::None });
            up = loops.parent(which);
        }
    }

    fn end(&mut self) {
        for to in self.touched.drain(..) {
            self.at[to as usize] = 0;
            self.back[to as usize] = 0;
        }
    }
}

enum Origin {
    Uniform,
    Divergent,
    Operands,
}

fn origin(func: &Function, op: Op) -> Origin {
    match op {
        Op::Pos(Pos::LocalId(d) | Pos::GlobalId(d)) => {
            let size = func.kernel.as_ref().and_then(|k| k.reqd_workgroup_size);
            match size.and_then(|size| size.get(usize::from(d)).copied()) {
                Some(1) => Origin::Uniform,
                _ => Origin::Divergent,
            }
        }
        Op::Pos(Pos::LaneId) => Origin::Divergent,
        Op::Load { mem, .. } => {
            // A generic pointer may point to private memory. There, the same address is a different location
            // in each lane.
            let per_lane = matches!(mem.space, Space::Private | Space::Generic);
            if per_lane || mem.order != Order::NotAtomic || mem.flags.contains(MemFlags::VOLATILE) {
                Origin::Divergent
            } else {
                Origin::Operands
            }
        }
        Op::AtomicRmw { .. } | Op::AtomicCas { .. } | Op::Call(_) | Op::CallIndirect(_) => Origin::Divergent,
        Op::Wave(WaveOp::Ballot | WaveOp::ReadFirstLane | WaveOp::ReadLane) => Origin::Uniform,
        Op::Wave(WaveOp::Shuffle | WaveOp::Permute | WaveOp::Mbcnt) => Origin::Divergent,
        Op::Pos(_) | Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) => Origin::Uniform,
        _ => Origin::Operands,
    }
}

/// Returns whether the operation gives the same bits each time that it is executed, as a constant does. The
/// result then does not depend on the iteration of a loop.
fn is_fixed(op: Op) -> bool {
    match op {
        Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) => true,
        Op::Pos(pos) => !matches!(pos, Pos::Clock | Pos::Realtime),
        _ => false,
    }
}
