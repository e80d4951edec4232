//! Branch islands: hops for branches whose target is out of reach.
//!
//! A branch holds its distance in 16 bits, in dwords: about 128 KiB to either side. Where the target lies further away,
//! the branch goes to an island on the way, an `s_branch` that goes on to the target or to the next island. Branches to one
//! target share its islands. Islands stand together in a station, where control does not come by if such a place is near, else
//! behind an `s_branch` over them.
//!
//! # Why islands
//! The other way, `s_getpc_b64`, `s_add_u32`, `s_addc_u32`, `s_setpc_b64`, wants a free pair of SGPRs and a dead SCC at each branch,
//! thus a reserve in allocation that most code never needs, and inverted conditions. An island takes a dword, writes
//! nothing, serves conditional branches as they are, and costs one taken branch per 128 KiB of distance.
//! # Requires
//! Final code. An island is met by branches alone, and there was a branch before. Where control came by without one, the `s_branch`
//! over islands is new: it waits for nothing, touches no register, and is one more wait state, so what waits and hazards
//! established holds, but for the hazards of gfx101x between memory instructions with a branch between them. For those the
//! caller gives an instruction that is put in front of it. A clause is not cut.
//! # Guarantees
//! Every branch reaches its target. Code in which all did is left as it is.
//! # Time
//! Linear: one walk over the instructions. A queue holds the promises in the order in which they run out; an entry enters once a
//! station, and stations lie a branch's reach apart.

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use isa::table::Flags;
use isa::{
    ArgRange, Edge, Edges, MBlock, MachBlock, MachFunc, MachInst, Note, NoteId, Operand, Subtarget, op,
};
use std::collections::VecDeque;

/// Dwords that a branch reaches for certain, to either side.
const REACH: usize = 0x7fff;
/// More than the dwords of any run of instructions that is not cut in two: the branches at a block's end, an address that is
/// computed from the program counter, a jump table, which has some thousand entries at most (`ir::passes::switch`).
const MARGIN: usize = 2048;
/// Dwords by which islands may lengthen a distance before the guess "it will be reached" is wrong; then a station is built for it.
const SLACK: usize = 1024;
/// Most dwords of an instruction.
const LONGEST_INST: usize = 5;
/// So long before a promise runs out, a place where control does not come by is good enough for a station.
const EARLY: usize = REACH / 4;

/// What a branch goes to: bound to a new block when that is known. Until the end, operands and edges hold labels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Label(u32);
entity_impl!(Label);

impl Label {
    /// The label in the place of a block.
    fn operand(self) -> MBlock {
        MBlock::from_u32(self.as_u32())
    }
}

#[derive(Clone, Copy, Default)]
struct Binding {
    block: Option<MBlock>,
    /// A branch ahead of it waits in the queue.
    awaited: bool,
}

/// A block of the old code, as a target of branches.
#[derive(Clone, Copy, Default)]
struct Goal {
    /// Old dword at which it begins.
    start: usize,
    /// Old dword of the last branch to it.
    last_use: usize,
    /// Branches to it that were not walked over yet.
    uses: u32,
    /// What a branch to it, here, takes for it: itself or an island.
    label: Option<Label>,
}

/// Someone who counts on an island if the goal does not come into reach.
#[derive(Clone, Copy)]
struct Promise {
    goal: MBlock,
    label: Label,
    /// The branch is ahead of its goal; else the goal, or an island of it, is ahead of branches to come.
    forward: bool,
    /// New dword it counts from.
    from: usize,
    /// Place in the source.
    loc: u32,
}

/// What the walk knows, and the new code so far.
struct Walk<'a> {
    target: &'a Subtarget,
    goals: SecondaryMap<MBlock, Goal>,
    labels: PrimaryMap<Label, Binding>,
    blocks: PrimaryMap<MBlock, MachBlock>,
    /// Instructions of the old block.
    insts: Vec<MachInst>,
    /// To be bound to the next block.
    next: Option<Label>,
    promises: VecDeque<Promise>,
    /// Promises that still matter.
    live: usize,
    /// Next dword of the new code.
    at: usize,
    /// Next dword of the old code.
    old_at: usize,
    /// Reason of an island.
    island: NoteId,
    /// Reason of a branch over islands.
    skip: NoteId,
    /// What has to stand in front of such a branch.
    guard: Option<MachInst>,
}

/// Makes every branch reach its target. Returns the number of blocks that this took.
///
/// `guard` is asked, if there will be islands, for what has to stand in front of a branch where there was none.
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
        // Label `n` is old block `n` itself, whatever branches to it take for it.
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

/// Whether every branch would have its target in reach if all instructions were as long as can be.
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

/// Where blocks begin and are branched to from; nothing if every branch has its target in reach.
fn measure(func: &MachFunc, target: &Subtarget) -> Option<SecondaryMap<MBlock, Goal>> {
    let mut goals = SecondaryMap::<MBlock, Goal>::with_capacity(func.blocks.len());
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

/// Number of instructions after an `s_getpc_b64` up to the last that adds a distance to it: the distances count dwords.
fn address_length(after: &[MachInst]) -> usize {
    let refers = |inst: &MachInst| inst.operands().iter().any(|operand| matches!(operand, Operand::Reloc(_)));
    let end = after.iter().position(|inst| inst.op == op::S_GETPC_B64).unwrap_or(after.len());
    after[..end].iter().rposition(refers).map_or(0, |last| last + 1)
}

/// Number of instructions of the clause that an `s_clause` begins, which must stand next to each other.
fn clause_length(inst: &MachInst) -> usize {
    match inst.ops[0] {
        Operand::Imm(less_one) => usize::try_from(less_one).map_or(0, |less_one| less_one + 1),
        _ => 0,
    }
}

impl Walk<'_> {
    /// Walks over a block, which is cut in two where a station must stand within it.
    fn block(&mut self, id: MBlock, mut data: MachBlock) {
        let in_table = data.next_entry().is_some();
        self.begin(id);
        // The instructions, and a promise for each.
        if self.is_urgent_after(data.insts.len() * (LONGEST_INST + 1)) {
            self.pieces(&mut data, in_table);
        } else {
            data.insts.iter_mut().for_each(|inst| self.inst(inst));
        }
        self.end(id, data, in_table);
    }

    /// Moves the instructions of a block one by one, and cuts in between; in the end `data` is the last piece.
    fn pieces(&mut self, data: &mut MachBlock, in_table: bool) {
        let insts = std::mem::replace(&mut data.insts, std::mem::take(&mut self.insts));
        data.insts.clear();
        let is_branch = |inst: &MachInst| inst.op.row().flags.contains(Flags::BRANCH);
        let tail = insts.iter().position(is_branch).unwrap_or(insts.len());
        // A cut may stand before instructions of these indices.
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

    /// Ends the block; a station may follow, but not in a jump table.
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
        let station = !in_table && (self.is_urgent_after(0) || (through.is_none() && self.is_early()));
        if let Some(next) = through.filter(|_| station) {
            self.skip(&mut data, next, 0);
        }
        self.blocks.push(data);
        if station {
            self.station();
        }
    }

    /// A block begins: branches to it are known from here on.
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

    /// Ends a piece of a block with a station behind it, and begins the next.
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
        self.station();
        self.next = None;
        self.bind(next);
    }

    /// The next instruction of the new code: a branch goes to a label.
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
                // The promise of a goal behind has nobody left to keep it for.
                self.live -= usize::from(self.goals[goal].uses == 0);
            } else if !std::mem::replace(&mut binding.awaited, true) {
                self.promise(Promise { goal, label, forward: true, from: self.at, loc: inst.loc });
            }
        }
        let size = isa::size_in_words(self.target, inst);
        self.at += size;
        self.old_at += size;
    }

    /// Ends a block with a branch over islands. Behind another branch it is nothing new.
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

    /// An `s_branch` that the old code does not have.
    fn branch(&mut self, to: Label, note: NoteId, loc: u32) -> MachInst {
        self.at += 1;
        MachInst { note, loc, ..MachInst::new(op::S_BRANCH, &[Operand::Block(to.operand())]) }
    }

    fn promise(&mut self, promise: Promise) {
        self.live += 1;
        self.promises.push_back(promise);
    }

    /// What a branch to an old block goes to from here.
    fn label_of(&mut self, goal: MBlock) -> Label {
        *self.goals[goal].label.get_or_insert_with(|| self.labels.push(Binding::default()))
    }

    /// The label of the next block.
    fn next_label(&mut self) -> Label {
        *self.next.get_or_insert_with(|| self.labels.push(Binding::default()))
    }

    /// Binds a label to the next block of the new code.
    fn bind(&mut self, label: Label) {
        let binding = &mut self.labels[label];
        self.live -= usize::from(std::mem::take(&mut binding.awaited));
        binding.block = Some(self.blocks.next_key());
    }

    /// Whether somebody still counts on it.
    fn matters(&self, promise: &Promise) -> bool {
        let goal = &self.goals[promise.goal];
        match promise.forward {
            true => self.labels[promise.label].block.is_none(),
            false => goal.uses > 0 && goal.label == Some(promise.label),
        }
    }

    /// The oldest promise that matters; those that no longer do leave the queue.
    fn oldest(&mut self) -> Option<Promise> {
        while let Some(&promise) = self.promises.front() {
            if self.matters(&promise) {
                return Some(promise);
            }
            self.promises.pop_front();
        }
        None
    }

    /// Whether goal or last branch will presumably not be reached from where the promise counts.
    fn is_far(&self, promise: &Promise) -> bool {
        let goal = &self.goals[promise.goal];
        let end = if promise.forward { goal.start } else { goal.last_use };
        self.at + (end - self.old_at) + SLACK > promise.from + REACH
    }

    /// Whether a station further on than so many dwords, which are still to come, could be too far for somebody.
    fn is_urgent_after(&mut self, dwords: usize) -> bool {
        let last_island = self.at + dwords + self.live + MARGIN;
        self.oldest().is_some_and(|oldest| last_island > oldest.from + REACH)
    }

    /// Whether one will have to stand near.
    fn is_early(&mut self) -> bool {
        let soon = self.at + self.live + MARGIN + EARLY;
        self.oldest().is_some_and(|oldest| soon > oldest.from + REACH && self.is_far(&oldest))
    }

    /// Builds islands for everybody who needs one before their promise runs out.
    fn station(&mut self) {
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

    /// An island: branches so far go to it if the goal is ahead, branches to come if the goal is behind.
    fn island(&mut self, promise: Promise) {
        let Promise { goal, label, forward, loc, .. } = promise;
        let other = self.labels.push(Binding::default());
        let (own, to) = if forward { (label, other) } else { (other, label) };
        self.goals[goal].label = Some(other);
        self.bind(own);
        // Of a goal ahead, `bind` has seen the end of the old promise.
        self.live -= usize::from(!forward);
        self.labels[other].awaited = forward;
        self.promise(Promise { label: other, from: self.at, ..promise });
        let insts = vec![self.branch(to, self.island, loc)];
        self.blocks.push(MachBlock { insts, linear: edge(to), logical: edge(to), ..MachBlock::default() });
    }

    /// The new code, its labels resolved.
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
