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
//! * `Other`: the far side of a branch whose join is restored: the lanes at the branch but for those that
//!   went the near way.
//! * `Pending`: in all other cases a mask variable collects the lanes parked here; it is in SSA form over the
//!   linear graph (`pending`).
//! * `Sink`: the block only ends the program; no lane need be woken.
//!
//! A block that would run with `exec` = 0 is harmless if it only computes. Blocks that are not ([`Cost`]) get
//! an `s_cbranch_execz` in front: at the branch, or in a *gate*, a block of its own for the entry code.

use ir::analysis::Analyses;
use ir::{Block, Function, Op};
use isa::{MachFunc, RegClass, VReg};

/// Position in the layout.
pub(crate) type Pos = u32;
/// No position.
pub(crate) const NOWHERE: Pos = u32::MAX;
/// Added to a position: the gate of that block.
pub(crate) const GATE: Pos = 1 << 31;
/// Two SGPRs that hold a lane mask.
pub(crate) type Pair = [VReg; 2];

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
    /// `exec |= mask`.
    Pending(Option<Pair>),
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
    pub save: Option<Pair>,
    /// `exec` may be zero in the body.
    pub may_be_empty: bool,
    /// Successors of the program counter.
    pub linear: [Pos; 2],
    /// Parks: target, new mask, mask before.
    pub parks: Vec<(Pos, Pair, Option<Pair>)>,
    /// Mask parameters.
    pub params: Vec<Pair>,
    /// A zero mask some successor's parameter wants, made in the body or in the gate.
    pub zero: Option<Pair>,
    pub gate_zero: Option<Pair>,
    cost: Cost,
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
    /// Arguments of mask parameters: predecessor ([`GATE`] added if it is a gate), successor, mask; in the
    /// order of the parameters.
    pub mask_args: Vec<(Pos, Pos, Pair)>,
    /// Sets of blocks at which lanes may be parked when a block begins: rows of bits.
    parked: Vec<u64>,
    words: usize,
    position: Vec<Pos>,
}

impl Plan {
    /// Plans `func`, which is prepared.
    pub fn compute(&mut self, func: &Function, an: &Analyses, out: &mut MachFunc) {
        self.order(func, an);
        let count = self.nodes.len();
        self.words = count.div_ceil(64);
        self.parked.clear();
        self.parked.resize(self.words * count, 0);
        self.mask_args.clear();
        while self.sweep(func, an) {}
        self.entries(func, an, out);
        self.skips();
        self.pending(an, out);
    }

    /// Position of a block.
    pub fn at(&self, block: Block) -> Pos {
        self.position[block.as_u32() as usize]
    }

    fn order(&mut self, func: &Function, an: &Analyses) {
        self.position.clear();
        self.position.resize(func.blocks.len(), NOWHERE);
        self.nodes.clear();
        let is_end = |&block: &Block| matches!(end_op(func, block), Op::Ret);
        let rpo = an.cfg.rpo();
        let ends = rpo.iter().copied().filter(is_end);
        for block in rpo.iter().copied().filter(|b| !is_end(b)).chain(ends) {
            self.nodes.push(Node {
                block,
                exit: Exit::End,
                entry: Entry::Plain,
                parked: false,
                resume: NOWHERE,
                skip: false,
                gate: NOWHERE,
                save: None,
                may_be_empty: false,
                linear: [NOWHERE; 2],
                parks: Vec::new(),
                params: Vec::new(),
                zero: None,
                gate_zero: None,
                cost: cost(func, an, block),
            });
        }
        self.place_detours(func, an);
        for (at, node) in self.nodes.iter().enumerate() {
            self.position[node.block.as_u32() as usize] = at as Pos;
        }
    }

    /// A block that waves take instead of a loop (`if n == 0`) goes before the loop, not between it and what
    /// follows: then the end of the loop is one branch.
    fn place_detours(&mut self, func: &Function, an: &Analyses) {
        for at in 2..self.nodes.len().saturating_sub(1) {
            let block = self.nodes[at].block;
            let [pred] = *an.cfg.preds(block) else { continue };
            let joins = matches!(end_op(func, block), Op::Jump(to) if to == self.nodes[at + 1].block);
            let behind_loop = an.loops.depth(self.nodes[at - 1].block) > an.loops.depth(block);
            let same_loop = an.loops.innermost(pred) == an.loops.innermost(block);
            if !joins || !behind_loop || !same_loop || an.uniformity.is_branch_divergent(pred) {
                continue;
            }
            if let Some(p) = self.nodes[..at].iter().position(|node| node.block == pred)
                && p + 1 < at
            {
                self.nodes[p + 1..=at].rotate_right(1);
            }
        }
    }

    /// One pass over the layout that settles exits and propagates the sets of parked lanes. Both only grow
    /// (an exit from a jump to a split or park), so it ends. Returns whether another pass is needed.
    fn sweep(&mut self, func: &Function, an: &Analyses) -> bool {
        let mut again = false;
        let mut set = vec![0u64; self.words];
        for at in 0..self.nodes.len() as Pos {
            set.copy_from_slice(self.row(at));
            remove(&mut set, at);
            let block = self.nodes[at as usize].block;
            let (exit, linear) = self.exit(func, an, at, &mut set);
            let resume = first(&set, at);
            let mut parked_at = [NOWHERE; 2];
            match exit {
                Exit::Park(to) => parked_at[0] = to,
                Exit::Split { then, otherwise, near } => {
                    parked_at = [then, otherwise].map(|to| if to == near { NOWHERE } else { to });
                }
                _ => {}
            }
            for to in parked_at.into_iter().filter(|&to| to != NOWHERE) {
                self.nodes[to as usize].parked = true;
            }
            let node = &mut self.nodes[at as usize];
            node.exit = exit;
            node.resume = resume;
            node.linear = linear;
            for to in linear.into_iter().filter(|&to| to != NOWHERE) {
                let back = to <= at;
                debug_assert!(!back || an.cfg.is_back_edge(block, self.nodes[to as usize].block));
                let row = &mut self.parked[to as usize * self.words..][..self.words];
                for (have, &more) in row.iter_mut().zip(&set) {
                    again |= back && *have | more != *have;
                    *have |= more;
                }
            }
        }
        again
    }

    /// How a block is left given the lanes parked below; adds those it parks to `set`.
    fn exit(&self, func: &Function, an: &Analyses, at: Pos, set: &mut [u64]) -> (Exit, [Pos; 2]) {
        let block = self.nodes[at as usize].block;
        let wall = first(set, at);
        // No lane may be waiting on the way.
        let open = |to: Pos| to <= at || wall == NOWHERE || to <= wall;
        match end_op(func, block) {
            Op::Jump(to) => {
                let to = self.at(to);
                if open(to) {
                    return (Exit::Jump(to), [to, NOWHERE]);
                }
                add(set, to);
                (Exit::Park(to), [wall, NOWHERE])
            }
            Op::Br { then, otherwise, .. } => {
                let (then, otherwise) = (self.at(then), self.at(otherwise));
                if then == otherwise && open(then) {
                    return (Exit::Jump(then), [then, NOWHERE]);
                }
                let together = !an.uniformity.is_branch_divergent(block);
                if together && open(then) && open(otherwise) {
                    return (Exit::Uniform { then, otherwise }, [then, otherwise]);
                }
                let (near, far) = (then.min(otherwise), then.max(otherwise));
                debug_assert!(near > at, "latches end in jumps");
                add(set, far);
                if open(near) {
                    let resume = first(set, at);
                    let skip = if resume == near { NOWHERE } else { resume };
                    return (Exit::Split { then, otherwise, near }, [near, skip]);
                }
                add(set, near);
                (Exit::Split { then, otherwise, near: NOWHERE }, [wall, NOWHERE])
            }
            _ => (Exit::End, [NOWHERE; 2]),
        }
    }

    fn row(&self, at: Pos) -> &[u64] {
        &self.parked[at as usize * self.words..][..self.words]
    }

    /// Whether lanes may be parked at `target` when block `at` begins.
    fn waits(&self, target: Pos, at: Pos) -> bool {
        self.row(at)[target as usize / 64] >> (target % 64) & 1 != 0
    }

    /// Decides how parked lanes come back.
    fn entries(&mut self, func: &Function, an: &Analyses, out: &mut MachFunc) {
        for at in 0..self.nodes.len() as Pos {
            let block = self.nodes[at as usize].block;
            if !self.nodes[at as usize].parked {
                continue;
            }
            let entry = if func.blocks[block].insts.len() == 1 && matches!(end_op(func, block), Op::Ret) {
                Entry::Sink
            } else if let Some(d) = self.reunited(an, block) {
                Entry::Restore(d)
            } else {
                Entry::Pending(None)
            };
            self.nodes[at as usize].entry = entry;
            if let Entry::Restore(d) = entry {
                self.save(d, out);
            }
        }
        for at in 0..self.nodes.len() as Pos {
            if let Some(branch) = self.other_side(an, at) {
                self.nodes[at as usize].entry = Entry::Other(branch);
            }
        }
    }

    /// The dominator of `block` whose lanes all arrive in it together.
    fn reunited(&self, an: &Analyses, block: Block) -> Option<Pos> {
        let home = an.loops.innermost(block);
        let mut d = an.dom.idom(block)?;
        while an.loops.innermost(d) != home {
            d = an.dom.idom(d)?;
        }
        an.postdom.post_dominates(block, d).then(|| self.at(d))
    }

    /// The branch of which `at` is the far side, if `exec` of that branch is kept anyway.
    fn other_side(&self, an: &Analyses, at: Pos) -> Option<Pos> {
        let node = &self.nodes[at as usize];
        let [pred] = *an.cfg.preds(node.block) else { return None };
        if node.entry != Entry::Pending(None) || !an.uniformity.is_branch_divergent(pred) {
            return None;
        }
        let branch = self.at(pred);
        // Inside the span from the branch to the block that restores, all paths come from the branch.
        let restores = |n: Pos| n > at && self.nodes[n as usize].entry == Entry::Restore(branch);
        let join = an.postdom.ipdom(pred).map(|b| self.at(b))?;
        let near = match self.nodes[branch as usize].exit {
            Exit::Split { near, .. } => near,
            _ => NOWHERE,
        };
        let same_loop = an.loops.innermost(pred) == an.loops.innermost(node.block);
        (near != NOWHERE && near != at && same_loop && restores(join)).then_some(branch)
    }

    fn save(&mut self, at: Pos, out: &mut MachFunc) {
        if self.nodes[at as usize].save.is_none() {
            self.nodes[at as usize].save = Some(pair(out));
        }
    }

    /// Decides where `exec` is tested.
    fn skips(&mut self) {
        let count = self.nodes.len();
        let mut sums = vec![(0u32, 0u32); count + 1];
        for (n, node) in self.nodes.iter().enumerate() {
            let (insts, fragile) = sums[n];
            sums[n + 1] = (insts + node.cost.insts, fragile + u32::from(node.cost.fragile));
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
                let mut set = self.row(at).to_vec();
                remove(&mut set, at);
                let target = first(&set, at);
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
    }
}

/// A new pair of SGPRs.
pub(crate) fn pair(out: &mut MachFunc) -> Pair {
    [out.new_vreg(RegClass::Sgpr), out.new_vreg(RegClass::Sgpr)]
}

fn end_op(func: &Function, block: Block) -> Op {
    func.terminator(block).map_or(Op::Unreachable, |inst| func.insts[inst].op)
}

fn add(set: &mut [u64], at: Pos) {
    set[at as usize / 64] |= 1 << (at % 64);
}

fn remove(set: &mut [u64], at: Pos) {
    set[at as usize / 64] &= !(1 << (at % 64));
}

/// The first member after `at`.
fn first(set: &[u64], at: Pos) -> Pos {
    let start = at as usize + 1;
    for (word, &bits) in set.iter().enumerate().skip(start / 64) {
        let mut bits = bits;
        if word == start / 64 {
            bits &= !0 << (start % 64);
        }
        if bits != 0 {
            return (word * 64) as Pos + bits.trailing_zeros();
        }
    }
    NOWHERE
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
            Op::Barrier { .. } | Op::WaveBarrier | Op::Call(_) | Op::Fence { .. } => true,
            Op::Load { .. } => an.uniformity.is_uniform(data.first),
            _ => false,
        };
    }
    if let Some(l) = an.loops.innermost(block) {
        cost.fragile |= an.loops.header(l) == block || an.loops.latches(l).contains(&block);
    }
    cost
}

impl Plan {
    /// Puts the masks of `Pending` blocks into SSA form over the linear graph.
    fn pending(&mut self, an: &Analyses, out: &mut MachFunc) {
        let targets: Vec<Pos> = (0..self.nodes.len() as Pos)
            .filter(|&at| self.nodes[at as usize].entry == Entry::Pending(None))
            .collect();
        if targets.is_empty() {
            return;
        }
        let preds = self.linear_preds();
        let mut values: Vec<[Option<Pair>; 2]> = Vec::new();
        for target in targets {
            values.clear();
            values.resize(self.nodes.len(), [None; 2]);
            self.pending_mask(an, out, target, &preds, &mut values);
        }
    }

    fn linear_preds(&self) -> Vec<Vec<Pos>> {
        let mut preds = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            let at = at as Pos;
            for to in node.linear.into_iter().filter(|&to| to != NOWHERE) {
                preds[to as usize].push(at);
            }
            // The gate in front of the block is another way on.
            if node.gate != NOWHERE {
                preds[node.gate as usize].push(at | GATE);
            }
        }
        for list in &mut preds {
            list.dedup();
        }
        preds
    }

    /// One mask. `values` has it at the beginning and the end of each block; `None` is zero.
    fn pending_mask(
        &mut self,
        an: &Analyses,
        out: &mut MachFunc,
        target: Pos,
        preds: &[Vec<Pos>],
        values: &mut [[Option<Pair>; 2]],
    ) {
        let index = |pred: Pos| (pred & !GATE) as usize;
        let leaving =
            |values: &[[Option<Pair>; 2]], pred: Pos| values[index(pred)][usize::from(pred & GATE == 0)];
        let parks = |node: &Node| match node.exit {
            Exit::Park(to) => to == target,
            Exit::Split { then, otherwise, near } => {
                near != target && (then == target || otherwise == target)
            }
            _ => false,
        };
        let mut params: Vec<(Pos, Pair)> = Vec::new();
        for at in 0..=target {
            let block = self.nodes[at as usize].block;
            let mut value = None;
            if self.waits(target, at) {
                let carried =
                    an.loops.innermost(block).filter(|&l| an.loops.header(l) == block).is_some_and(|l| {
                        let end = at as usize + an.loops.blocks(l).len();
                        self.nodes[at as usize..end].iter().any(parks)
                    });
                let first = preds[at as usize].first().and_then(|&p| leaving(values, p));
                let same = preds[at as usize]
                    .iter()
                    .all(|&p| index(p) >= at as usize || leaving(values, p) == first);
                value = first;
                if carried || !same {
                    let param = pair(out);
                    params.push((at, param));
                    value = Some(param);
                }
            }
            values[at as usize][0] = value;
            if at == target {
                self.nodes[at as usize].entry = Entry::Pending(value);
            } else if parks(&self.nodes[at as usize]) {
                let new = pair(out);
                self.nodes[at as usize].parks.push((target, new, value));
                value = Some(new);
            }
            values[at as usize][1] = value;
        }
        for (at, param) in params {
            self.nodes[at as usize].params.push(param);
            for &pred in &preds[at as usize] {
                let node = &mut self.nodes[index(pred)];
                let zero = if pred & GATE == 0 { &mut node.zero } else { &mut node.gate_zero };
                let arg = match leaving(values, pred) {
                    Some(arg) => arg,
                    None => *zero.get_or_insert_with(|| pair(out)),
                };
                self.mask_args.push((pred, at, arg));
            }
        }
    }
}
