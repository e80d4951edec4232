//! Branch islands: intermediate `s_branch` instructions for branches whose target is out of range.
//!
//! A branch stores its distance in a signed 16-bit field, counted in dwords, so it reaches about 128 KiB in
//! either direction. If the target is further away, the branch jumps to an island instead: an `s_branch`
//! between the branch and the target, which jumps on to the target or to the next island. All branches to one
//! target share the islands of that target. Islands are placed in groups. A group is placed after an
//! instruction that never falls through if there is such a place nearby; otherwise an extra `s_branch` jumps
//! over the group.
//!
//! # Why islands
//! The alternative, the sequence `s_getpc_b64`, `s_add_u32`, `s_addc_u32`, `s_setpc_b64`, needs a free pair
//! of SGPRs and a dead SCC at every branch. Register allocation would have to reserve the pair although most
//! code never needs it, and conditional branches would have to be inverted. An island is one dword long,
//! writes no register, serves conditional branches unchanged, and costs one taken branch per 128 KiB of
//! distance.
//! # Requires
//! The code is final. An island is reached only by branches, so it changes only the number of branches on a
//! path that already has a branch. The `s_branch` over a group is different, because it may be on a path that
//! had no branch: it waits for nothing, touches no register, and adds one wait state, so existing waits and
//! hazard mitigations stay valid. The exception are the gfx101x hazards between memory instructions with a
//! branch between them. For these hazards the caller supplies an instruction (`guard`), which is inserted
//! before the new `s_branch`. The instructions of a clause are never separated.
//! # Guarantees
//! Every branch reaches its target. Code in which every branch already reaches its target is left unchanged.
//! # Time
//! Linear: one walk over the instructions. For each branch whose target is not known to be in range, a queue
//! holds a `Promise` to build an island for it in time, in the order of the last places where this is
//! possible. A promise enters the queue once for each group of islands, and groups are about one branch range
//! apart.

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use isa::table::Flags;
use isa::{MBlock, MachInst, NoteId, Operand, Subtarget, op};
use mir::{ArgRange, Edge, Edges, MachBlock, MachFunc, Note};
use std::collections::VecDeque;

/// Number of dwords that a branch is guaranteed to reach in either direction.
const REACH: usize = 0x7fff;
/// Upper bound on the length, in dwords, of a sequence of instructions that islands must not split. There are
/// three kinds of such sequences: the branches at the end of a block, the computation of an address from the
/// program counter, and a jump table, which has at most a few thousand entries (`ir::passes::switch`).
const MARGIN: usize = 2048;
/// Allowance, in dwords, for islands that are still to be inserted before a target. A target counts as in
/// range if it is in range even with this additional distance. If more islands are inserted, the prediction
/// was wrong, and islands are built for the target later.
const SLACK: usize = 1024;
/// Length of the longest instruction, in dwords.
const LONGEST_INST: usize = 5;
/// How many dwords before the last possible place islands may already be placed. Within this distance,
/// islands are placed at the first point that control cannot reach by falling through, because no extra
/// branch over the islands is needed there.
const EARLY: usize = REACH / 4;

/// A name for the target of a branch while the new code is being built. Labels are needed because the numbers
/// of new blocks are not known yet. As soon as the block of a label has a number, the label is *bound* to the
/// block. In the end, `Walk::finish` replaces the labels in operands and edges by the numbers of their
/// blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Label(u32);
entity_impl!(Label);

impl Label {
    /// Returns the label as a block number, so that operands and edges can hold it until `Walk::finish`
    /// replaces it.
    fn operand(self) -> MBlock {
        MBlock::from_u32(self.as_u32())
    }
}

#[derive(Clone, Copy, Default)]
struct Binding {
    block: Option<MBlock>,
    /// Whether some branch uses this label although the label is not bound to a block yet. The queue then
    /// contains a promise to build an island for the branch.
    awaited: bool,
}

/// Block of the old code, as a target of branches.
#[derive(Clone, Copy, Default)]
struct BranchTarget {
    /// Dword offset in the old code at which the block begins.
    start: usize,
    /// Dword offset in the old code of the last branch that has this block as its target.
    last_use: usize,
    /// Number of branches to the block that the walk has not reached yet.
    uses: u32,
    /// Label that branches to this block must use at the current point of the walk: the label of the block
    /// itself, or the label of one of its islands. `None` if no branch has used a label of the block yet.
    label: Option<Label>,
}

/// A promise to build an island for branches to `goal`, a block of the old code. The island must be at most
/// one branch range after the offset `from`. The promise is dropped if no island turns out to be needed.
/// There are two cases. If the branches come before `goal`, no island is needed if the walk reaches `goal` in
/// time. If `goal` comes first, no island is needed if the walk reaches the last branch to `goal` in time.
#[derive(Clone, Copy)]
struct Promise {
    goal: MBlock,
    label: Label,
    /// Whether the branch comes before its target in the code. Otherwise the target, or an island for it,
    /// comes first, and the branches that jump back to it follow.
    forward: bool,
    /// Dword offset in the new code from which the branch range counts. If `forward` is set, it is the offset
    /// of the branch. Otherwise it is the offset of the target, or of the last island for the target.
    from: usize,
    /// Source location of the branch, given to the island.
    loc: u32,
}

/// State of the walk, with the new code so far.
struct Walk<'a> {
    target: &'a Subtarget,
    goals: SecondaryMap<MBlock, BranchTarget>,
    labels: PrimaryMap<Label, Binding>,
    blocks: PrimaryMap<MBlock, MachBlock>,
    /// Spare buffer for the instructions of the old block.
    insts: Vec<MachInst>,
    /// Label to be bound to the next block.
    next: Option<Label>,
    promises: VecDeque<Promise>,
    /// Number of promises that still matter (see `Walk::matters`).
    live: usize,
    /// Dword offset of the next instruction in the new code.
    at: usize,
    /// Dword offset of the next instruction in the old code.
    old_at: usize,
    /// Note that is attached to islands.
    island: NoteId,
    /// Note that is attached to branches over islands.
    skip: NoteId,
    /// Instruction that must precede each branch over a group of islands, because of a gfx101x hazard. `None`
    /// if no instruction is needed.
    guard: Option<MachInst>,
}

/// Inserts islands so that every branch reaches its target. Returns the number of blocks that were added.
///
/// `guard` is called only if islands are needed. It returns the instruction that must precede a branch at a
/// place that had no branch before, because of a gfx101x hazard. It returns `None` if no instruction is
/// needed.
pub fn run(
    func: &mut MachFunc,
    target: &Subtarget,
    guard: impl FnOnce(&mut MachFunc) -> Option<MachInst>,
) -> usize {
    if is_near(func) {
        return 0;
    }
    let Some(goals) = measure(func, target) else { return 0 };
    let guard = guard(func);
    let old = std::mem::take(&mut func.blocks);
    let count = old.len();
    let mut walk = Walk {
        target,
        goals,
        // Label number `n` always stands for old block number `n`. Branches to that block may use another
        // label, that of an island.
        labels: (0..count).map(|_| Binding::default()).collect(),
        blocks: PrimaryMap::with_capacity(count + 16),
        insts: Vec::new(),
        next: None,
        promises: VecDeque::new(),
        live: 0,
        at: 0,
        old_at: 0,
        island: func.note(Note::Text("branch island: its target is out of reach")),
        skip: func.note(Note::Text("over branch islands")),
        guard,
    };
    for (id, data) in old {
        walk.block(id, data);
    }
    func.blocks = walk.finish();
    func.blocks.len() - count
}

pub(crate) fn target_of(inst: &MachInst) -> Option<MBlock> {
    inst.operands().iter().find_map(|operand| match operand {
        Operand::Block(block) => Some(*block),
        _ => None,
    })
}

fn edge(to: Label) -> Edges {
    [Some(Edge { to: to.operand(), args: ArgRange::default() }), None]
}

/// Returns whether every branch would reach its target even if every instruction had the maximum length.
fn is_near(func: &MachFunc) -> bool {
    const MOST: usize = REACH / LONGEST_INST;
    let insts: usize = func.blocks.values().map(|block| block.insts.len()).sum();
    if insts <= MOST {
        return true;
    }
    let mut starts = SecondaryMap::<MBlock, usize>::with_capacity(func.blocks.len());
    let mut at = 0;
    for (id, block) in func.blocks.iter() {
        starts[id] = at;
        at += block.insts.len();
    }
    func.blocks.iter().all(|(id, block)| {
        let [first, last] = [starts[id], starts[id] + block.insts.len()];
        let is_near =
            |edge: &Edge| starts[edge.to].abs_diff(first).max(starts[edge.to].abs_diff(last)) <= MOST;
        block.linear.iter().flatten().all(is_near)
    })
}

/// Returns the place of each block in the old code and the branches to it. Returns `None` if every branch
/// already reaches its target, so that no islands are needed.
fn measure(func: &MachFunc, target: &Subtarget) -> Option<SecondaryMap<MBlock, BranchTarget>> {
    let mut goals = SecondaryMap::<MBlock, BranchTarget>::with_capacity(func.blocks.len());
    let mut branches = Vec::new();
    let mut at = 0;
    for (id, block) in func.blocks.iter() {
        goals[id].start = at;
        for inst in &block.insts {
            if let Some(to) = target_of(inst) {
                goals[to].uses += 1;
                goals[to].last_use = at;
                branches.push((at, to));
            }
            at += isa::size_in_words(target, inst);
        }
    }
    let is_far = |&(at, to): &(usize, MBlock)| goals[to].start.abs_diff(at + 1) > REACH;
    branches.iter().any(is_far).then_some(goals)
}

/// Returns how many of the instructions after an `s_getpc_b64` belong to the computation of an address. The
/// last of them adds a distance to the program counter, which counts the dwords between the two. So no island
/// may be inserted among these instructions.
fn address_length(after: &[MachInst]) -> usize {
    let refers = |inst: &MachInst| inst.operands().iter().any(|operand| matches!(operand, Operand::Reloc(_)));
    let end = after.iter().position(|inst| inst.op == op::S_GETPC_B64).unwrap_or(after.len());
    after[..end].iter().rposition(refers).map_or(0, |last| last + 1)
}

/// Returns the number of instructions in the clause that `inst` begins, if `inst` is an `s_clause`; otherwise
/// 0. Nothing may be inserted between the instructions of a clause.
fn clause_length(inst: &MachInst) -> usize {
    match inst.ops[0] {
        Operand::Imm(less_one) => usize::try_from(less_one).map_or(0, |less_one| less_one + 1),
        _ => 0,
    }
}

impl Walk<'_> {
    /// Copies an old block to the new code. Splits the block if islands must be placed inside it.
    fn block(&mut self, id: MBlock, mut data: MachBlock) {
        let in_table = data.next_entry().is_some();
        self.begin(id);
        // A quick test whether the whole block can be copied without islands inside it. It assumes the worst
        // case: every instruction has the greatest length and, in addition, is a branch that needs an island
        // of one dword.
        if self.is_urgent_after(data.insts.len() * (LONGEST_INST + 1)) {
            self.pieces(&mut data, in_table);
        } else {
            data.insts.iter_mut().for_each(|inst| self.inst(inst));
        }
        self.end(id, data, in_table);
    }

    /// Moves the instructions of a block one by one, and splits the block wherever islands must be placed
    /// now. Afterwards `data` is the last piece of the block.
    fn pieces(&mut self, data: &mut MachBlock, in_table: bool) {
        let insts = std::mem::replace(&mut data.insts, std::mem::take(&mut self.insts));
        data.insts.clear();
        let is_branch = |inst: &MachInst| inst.op.row().flags.contains(Flags::BRANCH);
        let tail = insts.iter().position(is_branch).unwrap_or(insts.len());
        // Numbers of the instructions before which the block may be split to place islands.
        let mut cuts = 1..=tail;
        for (index, inst) in insts.iter().enumerate() {
            if cuts.contains(&index) && self.is_urgent_after(0) {
                self.cut(data);
            }
            if inst.op == op::S_CLAUSE {
                cuts = index + 1 + clause_length(inst)..=tail;
            } else if inst.op == op::S_GETPC_B64 && in_table {
                cuts = tail + 1..=tail;
            } else if inst.op == op::S_GETPC_B64 {
                cuts = index + 1 + address_length(&insts[index + 1..])..=tail;
            }
            let mut inst = *inst;
            self.inst(&mut inst);
            data.insts.push(inst);
        }
        self.insts = insts;
    }

    /// Ends the copy of an old block. Places islands after the block in two cases: they must be placed now,
    /// or they will be needed soon and control does not go from this block to the next. Between the entries
    /// of a jump table, this function places no islands.
    fn end(&mut self, id: MBlock, mut data: MachBlock, in_table: bool) {
        let next = MBlock::from_u32(id.as_u32() + 1);
        let leaves = |last: &MachInst| last.op.row().flags.contains(Flags::NO_FALLTHROUGH);
        let through = match data.insts.last().is_some_and(leaves) {
            true => None,
            false => Some(self.next_label()),
        };
        for edge in data.linear.iter_mut().flatten() {
            let label = through.filter(|_| edge.to == next).unwrap_or_else(|| self.label_of(edge.to));
            edge.to = label.operand();
        }
        let builds_islands = !in_table && (self.is_urgent_after(0) || (through.is_none() && self.is_early()));
        if let Some(next) = through.filter(|_| builds_islands) {
            self.skip(&mut data, next, 0);
        }
        self.blocks.push(data);
        if builds_islands {
            self.island_group();
        }
    }

    /// Begins the copy of an old block: binds the labels that stand for this block to the new block.
    fn begin(&mut self, id: MBlock) {
        let label = self.label_of(id);
        let next = self.next.take();
        for label in [Some(Label(id.as_u32())), Some(label), next].into_iter().flatten() {
            self.bind(label);
        }
        if self.goals[id].uses > 0 {
            self.promise(Promise { goal: id, label, forward: false, from: self.at, loc: 0 });
        }
    }

    /// Splits the block that is being copied: ends the current piece, places a group of islands, and begins
    /// the next piece.
    fn cut(&mut self, data: &mut MachBlock) {
        let count = data.insts.len() as u32;
        let next = self.next_label();
        let mut piece = MachBlock {
            insts: std::mem::take(&mut data.insts),
            prologue: data.prologue.min(count),
            term: data.term.min(count),
            sgpr_params: std::mem::take(&mut data.sgpr_params),
            vgpr_params: std::mem::take(&mut data.vgpr_params),
            linear: edge(next),
            logical: edge(next),
            depth: data.depth,
            is_foreign: data.is_foreign,
        };
        data.prologue -= piece.prologue;
        data.term -= piece.term;
        let loc = piece.insts.last().map_or(0, |last| last.loc);
        self.skip(&mut piece, next, loc);
        self.blocks.push(piece);
        self.island_group();
        self.next = None;
        self.bind(next);
    }

    /// Appends the next instruction to the new code. If it is a branch, replaces its target with a label.
    fn inst(&mut self, inst: &mut MachInst) {
        if let Some(goal) = target_of(inst) {
            let label = self.label_of(goal);
            for operand in inst.operands_mut() {
                if let Operand::Block(to) = operand {
                    *to = label.operand();
                }
            }
            self.goals[goal].uses -= 1;
            let binding = &mut self.labels[label];
            if binding.block.is_some() {
                // If this was the last branch back to the block, the promise to build islands for it does not
                // matter any more.
                self.live -= usize::from(self.goals[goal].uses == 0);
            } else if !std::mem::replace(&mut binding.awaited, true) {
                self.promise(Promise { goal, label, forward: true, from: self.at, loc: inst.loc });
            }
        }
        let size = isa::size_in_words(self.target, inst);
        self.at += size;
        self.old_at += size;
    }

    /// Ends a block with an `s_branch` over the islands that follow. If the block's last instruction is not a
    /// branch, the path gets a branch where it had none, so the guard instruction is inserted first.
    fn skip(&mut self, block: &mut MachBlock, to: Label, loc: u32) {
        let is_branch = |inst: &MachInst| inst.op.row().flags.contains(Flags::BRANCH);
        if let Some(guard) = self.guard
            && !block.insts.last().is_some_and(is_branch)
        {
            self.at += isa::size_in_words(self.target, &guard);
            block.insts.push(MachInst { loc, ..guard });
        }
        let branch = self.branch(to, self.skip, loc);
        block.insts.push(branch);
    }

    /// Creates an `s_branch` that the old code does not contain, and advances the offset in the new code by
    /// its dword.
    fn branch(&mut self, to: Label, note: NoteId, loc: u32) -> MachInst {
        self.at += 1;
        MachInst { note, loc, ..MachInst::new(op::S_BRANCH, &[Operand::Block(to.operand())]) }
    }

    fn promise(&mut self, promise: Promise) {
        self.live += 1;
        self.promises.push_back(promise);
    }

    /// Returns the label that a branch to the old block `goal` must use at the current point of the walk: the
    /// label of the block itself, or that of its latest island.
    fn label_of(&mut self, goal: MBlock) -> Label {
        *self.goals[goal].label.get_or_insert_with(|| self.labels.push(Binding::default()))
    }

    /// Returns the label of the next block.
    fn next_label(&mut self) -> Label {
        *self.next.get_or_insert_with(|| self.labels.push(Binding::default()))
    }

    /// Binds a label to the next block of the new code.
    fn bind(&mut self, label: Label) {
        let binding = &mut self.labels[label];
        self.live -= usize::from(std::mem::take(&mut binding.awaited));
        binding.block = Some(self.blocks.next_key());
    }

    /// Returns whether some branch still depends on the promise.
    fn matters(&self, promise: &Promise) -> bool {
        let goal = &self.goals[promise.goal];
        match promise.forward {
            true => self.labels[promise.label].block.is_none(),
            false => goal.uses > 0 && goal.label == Some(promise.label),
        }
    }

    /// Returns the oldest promise in the queue for which an island may still have to be built. Removes older
    /// promises, which do not need an island any more.
    fn oldest(&mut self) -> Option<Promise> {
        while let Some(&promise) = self.promises.front() {
            if self.matters(&promise) {
                return Some(promise);
            }
            self.promises.pop_front();
        }
        None
    }

    /// Returns whether a promise will probably need its island. If the branch comes first, this is so if the
    /// target will be out of range of the branch. If the target comes first, it is so if the last branch to
    /// the target will be out of range of the target.
    fn is_far(&self, promise: &Promise) -> bool {
        let goal = &self.goals[promise.goal];
        let end = if promise.forward { goal.start } else { goal.last_use };
        self.at + (end - self.old_at) + SLACK > promise.from + REACH
    }

    /// Returns whether some branch could get out of range if the next islands were placed more than `dwords`
    /// after this point.
    fn is_urgent_after(&mut self, dwords: usize) -> bool {
        let last_island = self.at + dwords + self.live + MARGIN;
        self.oldest().is_some_and(|oldest| last_island > oldest.from + REACH)
    }

    /// Returns whether islands will be needed soon, so that the walk should place them here if no branch over
    /// them is needed.
    fn is_early(&mut self) -> bool {
        let soon = self.at + self.live + MARGIN + EARLY;
        self.oldest().is_some_and(|oldest| soon > oldest.from + REACH && self.is_far(&oldest))
    }

    /// Builds a group of islands at this point of the code. There are two reasons to build the island of a
    /// promise: the target of the branch will be out of range, or the last possible place for the island is
    /// near.
    fn island_group(&mut self) {
        let soon = self.at + self.live + MARGIN + SLACK;
        let mut renewed = Vec::new();
        let mut promises = std::mem::take(&mut self.promises);
        promises.retain(|promise| {
            let matters = self.matters(promise);
            let renew = matters && (self.is_far(promise) || soon > promise.from + REACH);
            if renew {
                renewed.push(*promise);
            }
            matters && !renew
        });
        self.promises = promises;
        for promise in renewed {
            self.island(promise);
        }
    }

    /// Builds the island that a promise asks for. If the branches come before their target, the island serves
    /// the branches that the walk has copied so far. If the target comes first, the island serves the
    /// branches that the walk has not reached yet.
    fn island(&mut self, promise: Promise) {
        let Promise { goal, label, forward, loc, .. } = promise;
        let other = self.labels.push(Binding::default());
        let (own, to) = if forward { (label, other) } else { (other, label) };
        self.goals[goal].label = Some(other);
        self.bind(own);
        // The old promise does not matter any more, so it no longer counts in `live`. If the promise is a
        // forward one, `bind` has already subtracted it.
        self.live -= usize::from(!forward);
        self.labels[other].awaited = forward;
        self.promise(Promise { label: other, from: self.at, ..promise });
        let insts = vec![self.branch(to, self.island, loc)];
        self.blocks.push(MachBlock { insts, linear: edge(to), logical: edge(to), ..MachBlock::default() });
    }

    /// Returns the new code, with all labels replaced with blocks.
    fn finish(mut self) -> PrimaryMap<MBlock, MachBlock> {
        let block = |label: MBlock| self.labels[Label(label.as_u32())].block.unwrap_or(label);
        for data in self.blocks.values_mut() {
            for operand in data.insts.iter_mut().flat_map(|inst| inst.operands_mut()) {
                if let Operand::Block(label) = operand {
                    *label = block(*label);
                }
            }
            for edge in data.linear.iter_mut().chain(&mut data.logical).flatten() {
                edge.to = block(edge.to);
            }
        }
        self.blocks
    }
}
