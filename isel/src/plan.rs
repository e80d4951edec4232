//! Plans the control flow of a wave: which branches are jumps, at which blocks lanes wait for others (are
//! *parked*), and how the lane mask `exec` is restored.
//!
//! # Model
//! Blocks are laid out in the loop-contiguous reverse postorder (`position` below), with the return last. At
//! any time each lane of the wave is either *active* (its bit in `exec` is set), or *parked* at a block
//! further down in the layout, where it will continue. When the program counter reaches a block, the lanes
//! parked there become active. A branch whose lanes go both ways continues with the nearer target and parks
//! the other lanes at the farther target. No jump may skip a block at which lanes may be parked. When no lane
//! is active, execution resumes at the first block at which lanes may be parked.
//!
//! [`Entry`] says what a block does on entry:
//! * `Restore`: the block post-dominates `d`, its closest dominator in the same loop. Every lane that left
//!   `d` arrives here, so `exec` gets the value that it had at the end of `d`. The lanes parked here need not
//!   be recorded.
//! * `Other`: the block is the far side of a branch and has no other predecessor. Its lanes are the lanes
//!   that were active at the branch, except the lanes that went to the near side.
//! * `Pending`: in all other cases, a mask variable collects the lanes that are parked here. The variable is
//!   in SSA form over the linear graph ([`crate::pending`]). The parked lanes join the lanes that arrive with
//!   the program counter, if any can arrive with it.
//! * `Sink`: the block only ends the program, so no parked lane needs to be made active.
//!
//! Running a block with `exec` = 0 is harmless if the block only computes. A block for which it is not
//! harmless, or not cheap ([`Cost`]), is preceded by an `s_cbranch_execz`: at the branch, or in a *gate*,
//! which is a separate block for the entry code.
//!
//! # Leaving a loop
//! An edge that leaves a divergent loop may pass arguments to a block that has other predecessors. The moves
//! for these arguments are in a block on that edge. This block is laid out inside the loop, where the loop is
//! left: lanes execute it in the iteration in which they leave, and are then parked at the one block after
//! the loop. If the block were laid out after the loop, each such edge would need its own mask throughout the
//! loop. In a loop with many exits, short blocks after the exits are laid out the same way.

use crate::exits_in_loop::{ExitsInLoop, end_op};
use crate::mask::{LaneMask, Masks};
use crate::parked_sets::{ParkedSet, ParkedSets};
use crate::pending::Pending;
use crate::tables::Rows;
use ir::analysis::Analyses;
use ir::{Block, Function, Op};
use mir::MachFunc;

/// Position of a block in the layout.
pub(crate) type Pos = u32;
/// Stands for "no position".
pub(crate) const NOWHERE: Pos = u32::MAX;
/// Flag that is added to the position of a block to denote the gate of that block. A gate is a separate block
/// in front of a block, for the code that sets `exec` on entry.
pub(crate) const GATE: Pos = 1 << 31;

/// How the lanes leave a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// `s_endpgm`.
    End,
    /// A real jump: all lanes go to that block.
    Jump(Pos),
    /// All active lanes are parked at that block, where they wait inactive. Execution continues at
    /// `Node::resume`.
    Park(Pos),
    /// A scalar branch: all lanes go to the same target.
    Uniform { then: Pos, otherwise: Pos },
    /// Lanes go both ways. Execution continues at `near`, the nearer target, with the lanes that go there;
    /// the other lanes are parked. If `near` is `NOWHERE`, all lanes are parked, each at its own target.
    Split { then: Pos, otherwise: Pos, near: Pos },
}

/// What a block does to `exec` on entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nothing: lanes arrive with the program counter.
    Plain,
    /// Nothing: the program ends here.
    Sink,
    /// `exec` gets the value saved at the end of that node.
    Restore(Pos),
    /// The block is the other side of a branch at this position. `exec` gets the lanes that were active at
    /// the branch, except those that went to the branch's `near` side.
    Other(Pos),
    /// `exec |= mask`; `None` is an empty mask.
    Pending(Option<LaneMask>),
}

/// Lanes that a block parks at one target block: all its active lanes, or the lanes that its branch sends to
/// this target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parking {
    /// Block at which the lanes are parked.
    pub target: Pos,
    /// The mask of the lanes that are parked at the target: `new` after this block has added its lanes, and
    /// `old` before.
    pub new: LaneMask,
    pub old: Option<LaneMask>,
}

/// A block, and how lanes enter and leave it.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub block: Block,
    pub exit: Exit,
    pub entry: Entry,
    /// Whether lanes may be parked here.
    pub parked: bool,
    /// Position of the block at which execution continues after this block if no lane is active any more.
    pub resume: Pos,
    /// Whether the branch at the end of the block also tests `exec`, and jumps to `resume` if no lane is
    /// active.
    pub skip: bool,
    /// Whether the block has a gate, that is, a separate block with the code that sets `exec` on entry. If
    /// so, `gate` is the position to which the gate jumps if no lane is active. If not, `gate` is `NOWHERE`.
    pub gate: Pos,
    /// Mask in which `exec` is saved at the end of the block.
    pub save: Option<LaneMask>,
    /// Whether `exec` may be zero in the body.
    pub may_be_empty: bool,
    /// Whether lanes may arrive together with the program counter, from the end of another block. Otherwise
    /// only lanes that are parked here become active, and what `exec` contains on entry has no meaning.
    pub accompanied: bool,
    /// Positions of the block's successors in the linear graph, which has the paths of the program counter.
    pub linear: [Pos; 2],
    /// `joins` is the number of edges of the linear graph that lead to this block. `earliest` is the position
    /// of the earliest block from which one of these edges comes.
    pub joins: u32,
    pub earliest: Pos,
    /// The lanes that the block parks at blocks with a mask of parked lanes ([`Entry::Pending`]). Each entry
    /// has the mask to which the lanes are added.
    pub parks: [Option<Parking>; 2],
    /// Empty masks that the block must create, because a successor has a parameter for the mask of parked
    /// lanes, and no lanes are parked yet. `zero` is set to 0 in the body, and `gate_zero` in the gate.
    pub zero: Option<LaneMask>,
    pub gate_zero: Option<LaneMask>,
    /// Blocks at which lanes may be parked when this block begins.
    pub waiting: ParkedSet,
    /// Whether the block is laid out inside a loop although it does not belong to the loop in the
    /// control-flow graph. Such a block runs once for each iteration in which lanes leave the loop through
    /// it, each time with other lanes.
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
            waiting: ParkedSet::default(),
            repeats: false,
            cost,
        }
    }

    /// Returns the targets at which the block parks lanes.
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

/// Says whether it is worthwhile or necessary to jump over a block when no lane is active.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Approximate number of instructions.
    insts: u32,
    /// Whether the block must not run without active lanes. The reason is a loop in the block that might not
    /// end, or a scalar load that might fault.
    fragile: bool,
}

/// Skipping is worthwhile above this number of instructions.
const SKIP_INSTS: u32 = 8;

/// Control-flow plan of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub nodes: Vec<Node>,
    pub sets: ParkedSets,
    /// The masks of [`Entry::Pending`] blocks in SSA form.
    pub pending: Pending,
    /// Jump tables.
    pub rows: Rows,
    position: Vec<Pos>,
    leaving: ExitsInLoop,
    /// For each position, the sums over all blocks before it: number of instructions, and number of blocks
    /// that must not run without active lanes. The cost of a range of blocks is a difference of two sums.
    sums: Vec<(u32, u32)>,
}

impl Plan {
    /// Computes the control-flow plan of `func`, which [`crate::prepare`] has processed.
    pub fn compute(&mut self, func: &Function, an: &Analyses, masks: Masks, out: &mut MachFunc) {
        self.order(func, an);
        self.sets.clear();
        let mut at = 0;
        while (at as usize) < self.nodes.len() {
            at = self.decide_exit(func, an, at);
        }
        self.edges();
        self.entries(func, an, masks, out);
        self.skips();
        let mut pending = std::mem::take(&mut self.pending);
        pending.compute(self, an, masks, out);
        self.pending = pending;
    }

    /// Returns the position of a block.
    pub fn position_of(&self, block: Block) -> Pos {
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
            // The entries of a jump table follow each other in the layout, wherever their branches lead.
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

    /// Moves a block that is executed instead of a loop to the position before the loop. If it stayed between
    /// the loop and the block that follows, the loop would need a second jump at its end. A block whose
    /// predecessor is laid out inside a loop is not moved, because the move would put the block inside that
    /// loop, too.
    fn place_detours(&mut self, func: &Function, an: &Analyses) {
        for at in 2..self.nodes.len().saturating_sub(1) {
            let block = self.nodes[at].block;
            let [pred] = *an.cfg.preds(block) else { continue };
            let joins = matches!(end_op(func, block), Op::Jump(to) if to == self.nodes[at + 1].block);
            let behind_loop = an.loops.depth(self.nodes[at - 1].block) > an.loops.depth(block);
            let same_loop = an.loops.innermost(pred) == an.loops.innermost(block);
            let apart = self.rows.needs_next_entry(pred) || an.uniformity.is_branch_divergent(pred);
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

    /// Determines how lanes leave the block at position `at`, and adds the blocks at which lanes are then
    /// parked to the sets of its successors. Returns the position to continue with. Usually this is the next
    /// position. If the set of a loop header before the block has grown, it is the position of that header.
    ///
    /// So planning repeats until nothing changes. It ends because both results change in one direction only:
    /// sets grow, and an exit changes only from a jump to a split or a park.
    fn decide_exit(&mut self, func: &Function, an: &Analyses, at: Pos) -> Pos {
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
        // If the block gets a gate (a block in front of it) and no lane is active, the gate jumps to the
        // nearest block at which lanes are parked. Other lanes may still be parked at other blocks then.
        // These blocks are therefore added to the set of the nearest block.
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

    /// Returns how lanes leave a block, the block's successors in the linear graph, and the set of blocks at
    /// which lanes are parked afterwards. `set` is the set of blocks at which lanes are parked when the block
    /// begins.
    fn exit(
        &mut self,
        func: &Function,
        an: &Analyses,
        at: Pos,
        set: ParkedSet,
    ) -> (Exit, [Pos; 2], ParkedSet) {
        let block = self.nodes[at as usize].block;
        let wall = self.sets.first(set);
        // A jump must not skip a block at which lanes may be parked.
        let open = |to: Pos| to <= at || to <= wall;
        match end_op(func, block) {
            Op::Jump(to) => {
                let to = self.position_of(to);
                if open(to) {
                    return (Exit::Jump(to), [to, NOWHERE], set);
                }
                (Exit::Park(to), [wall, NOWHERE], self.sets.with(set, to))
            }
            Op::Br { then, otherwise, .. } => {
                let (then, otherwise) = (self.position_of(then), self.position_of(otherwise));
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

    /// Returns whether lanes may be parked at the block `target` when the block `at` begins. Such lanes wait
    /// until the program counter reaches `target`.
    pub fn waits(&self, target: Pos, at: Pos) -> bool {
        self.sets.contains(self.nodes[at as usize].waiting, target)
    }

    /// Fills in two facts about each block: whether active lanes arrive with the program counter, and what
    /// the earliest block is from which the program counter comes.
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

    /// Decides how the lanes parked at each block become active again.
    fn entries(&mut self, func: &Function, an: &Analyses, masks: Masks, out: &mut MachFunc) {
        for at in 0..self.nodes.len() as Pos {
            let block = self.nodes[at as usize].block;
            if !self.nodes[at as usize].parked {
                continue;
            }
            let ends = func.blocks[block].insts().len() == 1 && matches!(end_op(func, block), Op::Ret);
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

    /// Returns a dominator of `block` in the same loop, if all lanes that leave this dominator arrive in
    /// `block`. On entry to `block`, `exec` can then get the value that it had at the end of the dominator.
    /// The closest dominator is returned that is not laid out inside an inner loop.
    fn reunited(&self, an: &Analyses, block: Block) -> Option<Pos> {
        let home = an.loops.innermost(block);
        let mut d = an.dom.idom(block)?;
        // A block that is laid out inside a loop does not serve as the dominator. Lanes leave such a block in
        // different iterations, but arrive here together.
        while an.loops.innermost(d) != home || self.nodes[self.position_of(d) as usize].repeats {
            d = an.dom.idom(d)?;
        }
        an.postdom.post_dominates(block, d).then(|| self.position_of(self.rows.head_of(d)))
    }

    /// If the block at `at` is the far side of a branch, returns the position of the branch. The values that
    /// `exec` and the condition had at the branch must still be available at `at`, because the block computes
    /// its lanes from these values.
    fn other_side(&self, an: &Analyses, at: Pos) -> Option<Pos> {
        let node = &self.nodes[at as usize];
        let [pred] = *an.cfg.preds(node.block) else { return None };
        if node.entry != Entry::Pending(None) || an.loops.innermost(pred) != an.loops.innermost(node.block) {
            return None;
        }
        let branch = self.position_of(pred);
        let Exit::Split { near, .. } = self.nodes[branch as usize].exit else { return None };
        (near != NOWHERE && near != at && self.enclosed(branch, at)).then_some(branch)
    }

    /// Returns whether every path of the program counter to `end` comes from `begin`. This holds if no edge
    /// from outside leads into the range of blocks between them, and no lane was parked in the range before.
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
    for &inst in func.blocks[block].insts() {
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
