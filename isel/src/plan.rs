//! Control flow of a wave: which branches are jumps, where lanes wait for others, how `exec` comes back.
//!
//! # Model
//! Blocks are laid out in the loop-contiguous reverse postorder (`position` below), the return last. At any
//! time the lanes of the wave are *active* (their bit of `exec` is set) or *parked* at a block further down.
//! When the program counter reaches a block, the lanes parked there become active. A branch whose lanes go
//! both ways continues with the nearer target and parks the rest at the other one; nobody may jump over a
//! block at which lanes may be parked. When no lane is active, execution resumes at the first such block.
//!
//! What a block does on entry ([`Entry`]):
//! * `Restore`: if the block post-dominates its closest dominator `d` of the same loop, every lane that left
//!   `d` arrives, so `exec` is what it was at the end of `d`. Nothing need be recorded where lanes are parked.
//! * `Other`: the far side of a branch that no other way leads to: the lanes at the branch but for those that
//!   went the near way.
//! * `Pending`: in all other cases a mask variable collects the lanes parked here; it is in SSA form over the
//!   linear graph ([`crate::pending`]). The lanes join those that come with the program counter, if any may.
//! * `Sink`: the block only ends the program; no lane need be woken.
//!
//! A block that would run with `exec` = 0 is harmless if it only computes. Blocks that are not ([`Cost`]) get
//! an `s_cbranch_execz` in front: at the branch, or in a *gate*, a block of its own for the entry code.
//!
//! # Leaving a loop
//! What an edge out of a divergent loop passes to a block with other ways in is moved in a block on that edge. It
//! is laid out where it is left, inside the span of the loop: lanes pass it in the iteration in which they leave,
//! and park at the one block behind the loop. Had it its place behind the loop, each such edge would want a mask
//! of its own through the whole loop. Where a loop has many exits, the same is done with short blocks behind them.

use crate::leaving::{Leaving, end_op};
use crate::mask::{LaneMask, Masks};
use crate::parked::{Set, Sets};
use crate::pending::Pending;
use crate::tables::Rows;
use ir::analysis::Analyses;
use ir::{Block, Function, Op};
use isa::MachFunc;

/// Position in the layout.
pub(crate) type Pos = u32;
/// No position.
pub(crate) const NOWHERE: Pos = u32::MAX;
/// Added to a position: the gate of that block.
pub(crate) const GATE: Pos = 1 << 31;

/// How lanes leave a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// `s_endpgm`.
    End,
    /// A real jump.
    Jump(Pos),
    /// All lanes are parked at a block; execution goes on at `Node::resume`.
    Park(Pos),
    /// Lanes stay together; a scalar branch.
    Uniform { then: Pos, otherwise: Pos },
    /// Lanes part. `near` continues (`NOWHERE`: both are parked).
    Split { then: Pos, otherwise: Pos, near: Pos },
}

/// What a block does to `exec` on entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nothing: lanes come with the program counter.
    Plain,
    /// Nothing: the program ends here.
    Sink,
    /// `exec` as saved at the end of the node.
    Restore(Pos),
    /// Lanes that left the node and did not go to its `near` side.
    Other(Pos),
    /// `exec |= mask`; `None` is no lane.
    Pending(Option<LaneMask>),
}

/// Lanes that a block parks: all, or those that its branch sends there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parking {
    /// Where they wait.
    pub target: Pos,
    /// The mask of those who wait there, after and before.
    pub new: LaneMask,
    pub old: Option<LaneMask>,
}

/// A block and how it is entered and left.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub block: Block,
    pub exit: Exit,
    pub entry: Entry,
    /// Some lane may be parked here.
    pub parked: bool,
    /// Where execution resumes when no lane is active at the end.
    pub resume: Pos,
    /// The branch tests `exec` and skips to `resume`.
    pub skip: bool,
    /// The entry code is a block of its own that skips to `gate`.
    pub gate: Pos,
    /// `exec` at the end of the block is kept here.
    pub save: Option<LaneMask>,
    /// `exec` may be zero in the body.
    pub may_be_empty: bool,
    /// Lanes may come with the program counter; where none can, `exec` on entry means nothing.
    pub accompanied: bool,
    /// Successors of the program counter.
    pub linear: [Pos; 2],
    /// Number of linear edges that lead here, and the earliest block they come from.
    pub joins: u32,
    pub earliest: Pos,
    /// What is noted of lanes that are parked, for targets that are [`Entry::Pending`].
    pub parks: [Option<Parking>; 2],
    /// A zero mask some successor's parameter wants, made in the body or in the gate.
    pub zero: Option<LaneMask>,
    pub gate_zero: Option<LaneMask>,
    /// Where lanes may be parked when the block begins.
    pub waiting: Set,
    /// The block is laid out where a loop is left, although it is not of the loop: it runs once for each iteration in
    /// which lanes leave here, each time with other lanes.
    repeats: bool,
    cost: Cost,
}

impl Node {
    fn new(block: Block, cost: Cost) -> Node {
        Node {
            block,
            exit: Exit::End,
            entry: Entry::Plain,
            parked: false,
            resume: NOWHERE,
            skip: false,
            gate: NOWHERE,
            save: None,
            may_be_empty: false,
            accompanied: false,
            linear: [NOWHERE; 2],
            joins: 0,
            earliest: NOWHERE,
            parks: [None; 2],
            zero: None,
            gate_zero: None,
            waiting: Set::default(),
            repeats: false,
            cost,
        }
    }

    /// Where lanes are parked at the end.
    pub fn parked_at(&self) -> impl Iterator<Item = Pos> + use<> {
        let pair = match self.exit {
            Exit::Park(to) => [to, NOWHERE],
            Exit::Split { then, otherwise, near } => {
                [then, otherwise].map(|to| if to == near { NOWHERE } else { to })
            }
            _ => [NOWHERE; 2],
        };
        pair.into_iter().filter(|&to| to != NOWHERE)
    }
}

/// Whether a block is worth or in need of being skipped when no lane is active.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Roughly its instructions.
    insts: u32,
    /// Not to be run without lanes: loops might not end, scalar loads might fault.
    fragile: bool,
}

/// Above this many instructions a skip pays.
const SKIP_INSTS: u32 = 8;

/// The plan of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub nodes: Vec<Node>,
    pub sets: Sets,
    /// The masks of [`Entry::Pending`] blocks in SSA form.
    pub pending: Pending,
    /// Jump tables.
    pub rows: Rows,
    position: Vec<Pos>,
    leaving: Leaving,
    /// Sums of the costs of the nodes before each.
    sums: Vec<(u32, u32)>,
}

impl Plan {
    /// Plans `func`, which is prepared.
    pub fn compute(&mut self, func: &Function, an: &Analyses, masks: Masks, out: &mut MachFunc) {
        self.order(func, an);
        self.sets.clear();
        let mut at = 0;
        while (at as usize) < self.nodes.len() {
            at = self.settle(func, an, at);
        }
        self.edges();
        self.entries(func, an, masks, out);
        self.skips();
        let mut pending = std::mem::take(&mut self.pending);
        pending.compute(self, an, masks, out);
        self.pending = pending;
    }

    /// Position of a block.
    pub fn at(&self, block: Block) -> Pos {
        self.position[block.as_u32() as usize]
    }

    fn order(&mut self, func: &Function, an: &Analyses) {
        self.leaving.compute(func, an);
        self.position.clear();
        self.position.resize(func.blocks.len(), NOWHERE);
        self.nodes.clear();
        let is_end = |&block: &Block| matches!(end_op(func, block), Op::Ret);
        let rpo = an.cfg.rpo();
        let ends = rpo.iter().copied().filter(is_end);
        for block in rpo.iter().copied().filter(|b| !is_end(b)).chain(ends) {
            if self.leaving.leaves_loop(func, an, block) {
                continue;
            }
            // The entries of a jump table are one behind the other, whatever is behind them.
            let (entries, behind) = self.rows.entries(block);
            if behind {
                continue;
            }
            let first = self.nodes.len();
            self.nodes.extend(entries.map(|entry| Node::new(entry, cost(func, an, entry))));
            if self.nodes.len() == first {
                self.nodes.push(Node::new(block, cost(func, an, block)));
            }
            for at in first..self.nodes.len() {
                for succ in an.cfg.succs(self.nodes[at].block) {
                    if !self.leaving.leaves_loop(func, an, succ) {
                        continue;
                    }
                    self.nodes.push(Node { repeats: true, ..Node::new(succ, cost(func, an, succ)) });
                }
            }
        }
        self.place_detours(func, an);
        for (at, node) in self.nodes.iter().enumerate() {
            self.position[node.block.as_u32() as usize] = at as Pos;
        }
    }

    /// A block that waves take instead of a loop (`if n == 0`) goes before the loop, not between it and what
    /// follows: then the end of the loop is one branch. (Not what follows a block that repeats: that would take it into
    /// the loop that lanes leave there.)
    fn place_detours(&mut self, func: &Function, an: &Analyses) {
        for at in 2..self.nodes.len().saturating_sub(1) {
            let block = self.nodes[at].block;
            let [pred] = *an.cfg.preds(block) else { continue };
            let joins = matches!(end_op(func, block), Op::Jump(to) if to == self.nodes[at + 1].block);
            let behind_loop = an.loops.depth(self.nodes[at - 1].block) > an.loops.depth(block);
            let same_loop = an.loops.innermost(pred) == an.loops.innermost(block);
            let apart = self.rows.goes_on(pred) || an.uniformity.is_branch_divergent(pred);
            if !joins || !behind_loop || !same_loop || apart {
                continue;
            }
            if let Some(p) = self.nodes[..at].iter().position(|node| node.block == pred)
                && p + 1 < at
                && !self.nodes[p].repeats
            {
                self.nodes[p + 1..=at].rotate_right(1);
            }
        }
    }

    /// Settles how the block at a position is left and tells its successors who is parked. Both only grow (an
    /// exit from a jump to a split or park). Returns the position to go on with: back at the header of a loop
    /// if more lanes may be parked when it begins again.
    fn settle(&mut self, func: &Function, an: &Analyses, at: Pos) -> Pos {
        let before = self.sets.without(self.nodes[at as usize].waiting, at);
        let block = self.nodes[at as usize].block;
        let (exit, linear, set) = self.exit(func, an, at, before);
        let node = &mut self.nodes[at as usize];
        node.exit = exit;
        node.resume = self.sets.first(set);
        node.linear = linear;
        for to in self.nodes[at as usize].parked_at() {
            self.nodes[to as usize].parked = true;
        }
        // A gate in front of the block, if it gets one, leads on to the nearest of those who wait.
        let on = self.sets.first(before);
        if self.nodes[at as usize].parked && on != NOWHERE {
            let old = self.nodes[on as usize].waiting;
            self.nodes[on as usize].waiting = self.sets.union(old, before);
        }
        let mut next = at + 1;
        for to in linear.into_iter().filter(|&to| to != NOWHERE) {
            debug_assert!(to > at || an.cfg.is_back_edge(block, self.nodes[to as usize].block));
            let old = self.nodes[to as usize].waiting;
            let new = self.sets.union(old, set);
            self.nodes[to as usize].waiting = new;
            if to <= at && new != old {
                next = to;
            }
        }
        next
    }

    /// How a block is left given the lanes parked below; the set has those it parks too.
    fn exit(&mut self, func: &Function, an: &Analyses, at: Pos, set: Set) -> (Exit, [Pos; 2], Set) {
        let block = self.nodes[at as usize].block;
        let wall = self.sets.first(set);
        // No lane may be waiting on the way.
        let open = |to: Pos| to <= at || to <= wall;
        match end_op(func, block) {
            Op::Jump(to) => {
                let to = self.at(to);
                if open(to) {
                    return (Exit::Jump(to), [to, NOWHERE], set);
                }
                (Exit::Park(to), [wall, NOWHERE], self.sets.with(set, to))
            }
            Op::Br { then, otherwise, .. } => {
                let (then, otherwise) = (self.at(then), self.at(otherwise));
                if then == otherwise && open(then) {
                    return (Exit::Jump(then), [then, NOWHERE], set);
                }
                let together = !an.uniformity.is_branch_divergent(block);
                if together && open(then) && open(otherwise) {
                    return (Exit::Uniform { then, otherwise }, [then, otherwise], set);
                }
                let (near, far) = (then.min(otherwise), then.max(otherwise));
                debug_assert!(near > at, "latches end in jumps");
                let mut set = self.sets.with(set, far);
                if open(near) {
                    let resume = self.sets.first(set);
                    let skip = if resume == near { NOWHERE } else { resume };
                    return (Exit::Split { then, otherwise, near }, [near, skip], set);
                }
                set = self.sets.with(set, near);
                (Exit::Split { then, otherwise, near: NOWHERE }, [wall, NOWHERE], set)
            }
            _ => (Exit::End, [NOWHERE; 2], set),
        }
    }

    /// Whether lanes may be parked at `target` when block `at` begins.
    pub fn waits(&self, target: Pos, at: Pos) -> bool {
        self.sets.contains(self.nodes[at as usize].waiting, target)
    }

    /// Says of each node how the program counter comes to it.
    fn edges(&mut self) {
        for at in 0..self.nodes.len() {
            let Node { exit, linear, .. } = self.nodes[at];
            for to in linear.into_iter().filter(|&to| to != NOWHERE) {
                let with_lanes = match exit {
                    Exit::Jump(_) | Exit::Uniform { .. } => true,
                    Exit::Split { near, .. } => near == to,
                    Exit::Park(_) | Exit::End => false,
                };
                let target = &mut self.nodes[to as usize];
                target.accompanied |= with_lanes;
                target.earliest = target.earliest.min(at as Pos);
            }
        }
    }

    /// Decides how parked lanes come back.
    fn entries(&mut self, func: &Function, an: &Analyses, masks: Masks, out: &mut MachFunc) {
        for at in 0..self.nodes.len() as Pos {
            let block = self.nodes[at as usize].block;
            if !self.nodes[at as usize].parked {
                continue;
            }
            let ends = func.blocks[block].insts.len() == 1 && matches!(end_op(func, block), Op::Ret);
            let entry = if ends && func.kernel.is_some() {
                Entry::Sink
            } else if let Some(d) = self.reunited(an, block) {
                Entry::Restore(d)
            } else {
                Entry::Pending(None)
            };
            self.nodes[at as usize].entry = entry;
            if let Entry::Restore(d) = entry {
                self.save(d, masks, out);
            }
        }
        for at in 0..self.nodes.len() as Pos {
            if let Some(branch) = self.other_side(an, at) {
                self.nodes[at as usize].entry = Entry::Other(branch);
                self.save(branch, masks, out);
            }
        }
    }

    /// The dominator of `block` whose lanes all arrive in it together.
    fn reunited(&self, an: &Analyses, block: Block) -> Option<Pos> {
        let home = an.loops.innermost(block);
        let mut d = an.dom.idom(block)?;
        // Not all who arrive left a block that repeats at the same time.
        while an.loops.innermost(d) != home || self.nodes[self.at(d) as usize].repeats {
            d = an.dom.idom(d)?;
        }
        an.postdom.post_dominates(block, d).then(|| self.at(self.rows.head_of(d)))
    }

    /// The branch of which `at` is the far side, if what `exec` and the condition were there is known here.
    fn other_side(&self, an: &Analyses, at: Pos) -> Option<Pos> {
        let node = &self.nodes[at as usize];
        let [pred] = *an.cfg.preds(node.block) else { return None };
        if node.entry != Entry::Pending(None) || an.loops.innermost(pred) != an.loops.innermost(node.block) {
            return None;
        }
        let branch = self.at(pred);
        let Exit::Split { near, .. } = self.nodes[branch as usize].exit else { return None };
        (near != NOWHERE && near != at && self.enclosed(branch, at)).then_some(branch)
    }

    /// Whether every way of the program counter to the end of a span comes from its beginning: neither does an
    /// edge lead into it, nor does anyone wait there.
    fn enclosed(&self, begin: Pos, end: Pos) -> bool {
        let waiting = self.sets.without(self.nodes[begin as usize].waiting, begin);
        self.sets.first(waiting) > end
            && (begin + 1..=end).rev().all(|at| self.nodes[at as usize].earliest >= begin)
    }

    fn save(&mut self, at: Pos, masks: Masks, out: &mut MachFunc) {
        let save = &mut self.nodes[at as usize].save;
        if save.is_none() {
            *save = Some(masks.registers(out));
        }
    }

    /// Decides where `exec` is tested.
    fn skips(&mut self) {
        let count = self.nodes.len();
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear();
        sums.push((0, 0));
        for node in &self.nodes {
            let (insts, fragile) = sums[sums.len() - 1];
            sums.push((insts + node.cost.insts, fragile + u32::from(node.cost.fragile)));
        }
        let worth = |from: Pos, to: Pos| {
            let (a, b) = (sums[from as usize], sums[to as usize]);
            b.0 - a.0 > SKIP_INSTS || b.1 > a.1
        };
        for at in 0..count as Pos {
            let mut empty = self.nodes[at as usize].may_be_empty;
            match self.nodes[at as usize].entry {
                Entry::Plain | Entry::Sink => {}
                Entry::Restore(d) => empty = self.nodes[d as usize].may_be_empty,
                Entry::Other(_) | Entry::Pending(_) => empty = true,
            }
            if empty && self.nodes[at as usize].parked {
                let target = self.sets.first(self.sets.without(self.nodes[at as usize].waiting, at));
                if target != NOWHERE && worth(at, target) {
                    self.nodes[at as usize].gate = target;
                    empty = false;
                }
            }
            let node = &mut self.nodes[at as usize];
            node.may_be_empty = empty;
            let (exit, resume, linear) = (node.exit, node.resume, node.linear);
            if let Exit::Split { near, .. } = exit
                && near != NOWHERE
            {
                let skip = linear[1] != NOWHERE && worth(near, resume);
                let node = &mut self.nodes[at as usize];
                node.skip = skip;
                if !skip {
                    node.linear[1] = NOWHERE;
                }
                self.nodes[near as usize].may_be_empty |= !skip;
            } else {
                for to in linear.into_iter().filter(|&to| to != NOWHERE && to > at) {
                    self.nodes[to as usize].may_be_empty |= empty;
                }
            }
        }
        self.sums = sums;
    }
}

fn cost(func: &Function, an: &Analyses, block: Block) -> Cost {
    let mut cost = Cost::default();
    for &inst in &func.blocks[block].insts {
        let data = &func.insts[inst];
        cost.insts += match data.op {
            Op::Const(_) | Op::Jump(_) | Op::Ret | Op::Br { .. } | Op::Assume => 0,
            Op::Load { .. } | Op::Store { .. } | Op::AtomicRmw { .. } | Op::AtomicCas { .. } => {
                SKIP_INSTS + 1
            }
            _ => 1,
        };
        cost.fragile |= match data.op {
            Op::Barrier { .. } | Op::WaveBarrier | Op::Trap { .. } | Op::Fence { .. } => true,
            Op::Sleep | Op::Interrupt => true,
            op if op.is_call() => true,
            Op::Load { .. } => an.uniformity.is_uniform(data.first),
            _ => false,
        };
    }
    if let Some(l) = an.loops.innermost(block) {
        cost.fragile |= an.loops.header(l) == block || an.loops.latches(l).contains(&block);
    }
    cost
}
