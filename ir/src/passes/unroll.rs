//! Loop unrolling: completely if the trip count is a small known number, by a factor if the source requests
//! it.
//!
//! Iterations are copied one after the other, each with the values that the previous iteration passes back.
//! While copying, operations on constants are folded and decided branches are followed. Code that a constant
//! counter makes unreachable is therefore never copied, and copying ends when the back edge becomes
//! unreachable.

use super::loopform::{OutsideUses, close, edge_args};
use super::simplify::fold;
use super::tripcount::{TripCount, trip_count};
use crate::analysis::{Cfg, DomTree, Loop, LoopForest};
use crate::entity::{Block, Inst, Switch, Value};
use crate::func::{Function, SrcLoc, UnrollHint, Values};
use crate::op::Op;
use crate::track;
use crate::types::Type;
use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// Maximum number of instructions that one unrolled loop may have.
const MAX_LOOP: usize = 20_000;
/// If this many instructions have been created in a function, its loops are not unrolled any further.
const MAX_MADE: usize = 200_000;
/// Maximum number of iterations that `#[unroll]` unrolls.
const MAX_ASKED: u32 = 4096;
/// Limit for counting iterations when a message must explain why a loop was not unrolled.
const MAX_COUNTED: u32 = 1 << 16;
/// Maximum number of iterations of a loop that is unrolled completely without an attribute in the source.
const MAX_UNASKED: u32 = 64;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For each value and block of the loop, its copy in the iteration that is being copied.
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
    /// Values whose entries in `values` must be reset.
    renamed: Vec<Value>,
    consts: FxHashMap<(Type, u64), Value>,
    args: Vec<Value>,
    next: Vec<Value>,
    tried: Vec<bool>,
    /// Headers of loops that were not unrolled because their trip count was unknown. They are examined again
    /// after other loops have been unrolled.
    unknown: Vec<Block>,
    /// For each loop, whether an inner loop has not been examined yet.
    waiting: Vec<bool>,
    /// The loops to unroll at this level, in order.
    chosen: Vec<(Loop, Plan)>,
    /// For each block, whether copies have replaced it.
    gone: Vec<bool>,
    uses: OutsideUses,
    /// Loops that were not unrolled although the source requests it.
    refused: Vec<Refused>,
    /// Copies debug records along with the code.
    records: track::Copier,
}

/// A loop that is not unrolled although the source requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Source location of the loop.
    pub at: SrcLoc,
    /// Reason.
    pub why: Refusal,
}

/// Why a loop is not unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The trip count is not known.
    UnknownCount,
    /// The loop has too many iterations: their number, and the maximum.
    TooOften(u32, u32),
    /// The copies would have too many instructions: their number, and the maximum.
    TooLarge(usize, usize),
    /// The function already has too many instructions: more than this number.
    FunctionTooLarge(usize),
}

/// What to do with a loop.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Leave,
    /// Leave the loop unless its trip count becomes known.
    Wait,
    /// Replace the loop by at most this many copies.
    Full(u32),
    /// Partial unrolling: each iteration of the new loop has this number of copies of the body. If a block is
    /// given, it ends with a test that leaves the loop, and only the first copy needs the test.
    By(u32, Option<Block>),
}

/// Unrolls loops of one level of the loop nest: loops whose inner loops have all been examined since
/// [`begin`]. If that changes nothing, continues with the next outer level. All loops must have preheaders
/// and single latches. Returns whether anything changed; the analyses are stale then, and there may be more
/// loops to unroll.
pub fn level(
    func: &mut Function,
    cfg: &Cfg,
    dom: &DomTree,
    loops: &LoopForest,
    level: u8,
    s: &mut Scratch,
) -> bool {
    s.tried.resize(func.blocks.len().max(s.tried.len()), false);
    // Unrolling other loops may have made these trip counts known, so these loops are examined again.
    s.unknown.drain(..).for_each(|header| s.tried[header.index()] = false);
    // Loops with one iteration are chosen first, and outer loops before inner ones. The loop is then removed
    // before its inner loops are unrolled, so that less code is copied.
    s.chosen.clear();
    let mut behind = 0;
    for l in loops.loops() {
        let header = loops.header(l);
        let first = cfg.position(header);
        if first >= behind && !s.tried[header.index()] && runs_once(func, dom, loops, l) {
            s.tried[header.index()] = true;
            behind = first + loops.blocks(l).len() as u32;
            s.chosen.push((l, Plan::Full(2)));
        }
    }
    if !s.chosen.is_empty() && unroll(func, cfg, loops, s) {
        return true;
    }
    loop {
        s.waiting.clear();
        s.waiting.resize(loops.len(), false);
        for l in loops.loops().filter(|&l| !s.tried[loops.header(l).index()]) {
            if let Some(parent) = loops.parent(l) {
                s.waiting[parent.index()] = true;
            }
        }
        let mut found = false;
        for l in loops.loops() {
            let header = loops.header(l).index();
            if !s.waiting[l.index()] && !std::mem::replace(&mut s.tried[header], true) {
                found = true;
                match plan(func, dom, loops, l, level) {
                    Plan::Leave => {}
                    Plan::Wait => s.unknown.push(loops.header(l)),
                    plan => s.chosen.push((l, plan)),
                }
            }
        }
        if !s.chosen.is_empty() && unroll(func, cfg, loops, s) {
            return true;
        }
        if !found {
            return false;
        }
    }
}

/// Carries out the plans for the chosen loops, which are not nested in each other. Returns whether anything
/// changed.
fn unroll(func: &mut Function, cfg: &Cfg, loops: &LoopForest, s: &mut Scratch) -> bool {
    let chosen = std::mem::take(&mut s.chosen);
    func.tidy_track();
    s.uses.find(func, cfg, loops, |l| chosen.binary_search_by_key(&l, |&(l, _)| l).is_ok());
    let mut changed = false;
    // Loops are unrolled in block order, because values of a loop are used after it, in code that has not
    // been copied yet.
    for &(l, plan) in &chosen {
        if func.insts.len() > MAX_MADE {
            break;
        }
        if let Some(mut copier) = Copier::new(func, cfg, loops, l, s) {
            changed |= match plan {
                Plan::Leave | Plan::Wait => false,
                Plan::Full(most) => copier.full(most),
                Plan::By(factor, test) => copier.partial(factor, test),
            };
        }
    }
    let Scratch { gone, .. } = s;
    if !gone.is_empty() {
        func.layout.retain(|&block| !gone.get(block.index()).copied().unwrap_or(false));
        gone.clear();
    }
    s.chosen = chosen;
    s.chosen.clear();
    changed
}

/// Forgets which loops have been examined. Must be called before the first [`level`] on a function.
pub fn begin(s: &mut Scratch) {
    s.tried.clear();
    s.unknown.clear();
    s.values.clear();
    s.renamed.clear();
}

/// Forgets the loops of previous functions that were not unrolled.
pub fn forget(s: &mut Scratch) {
    s.refused.clear();
}

/// Returns the loops that were not unrolled since [`forget`].
pub fn refused(s: &Scratch) -> &[Refused] {
    &s.refused
}

/// Collects the loops of a function that are still not unrolled although the source requests it. Must be
/// called after the last [`level`].
pub fn end(func: &Function, dom: &DomTree, loops: &LoopForest, s: &mut Scratch) {
    for l in loops.loops() {
        let header = loops.header(l);
        if let Some(why) = refusal(func, dom, loops, l) {
            s.refused.push(Refused { at: func.unroll_at[header], why });
        }
    }
}

/// Returns why a loop that the source requests to unroll still exists.
fn refusal(func: &Function, dom: &DomTree, loops: &LoopForest, l: Loop) -> Option<Refusal> {
    let count = |most| trip_count(func, dom, loops, l, most).map(|count| count.back_edges);
    match func.unroll[loops.header(l)] {
        UnrollHint::None | UnrollHint::Never | UnrollHint::By(0 | 1) => None,
        _ if func.insts.len() > MAX_MADE => Some(Refusal::FunctionTooLarge(MAX_MADE)),
        UnrollHint::By(_) => None,
        UnrollHint::Full => Some(match count(MAX_ASKED) {
            Some(back_edges) => {
                let copies = size(func, loops, l) * (back_edges as usize + 1);
                Refusal::TooLarge(copies, MAX_LOOP)
            }
            None => {
                count(MAX_COUNTED).map_or(Refusal::UnknownCount, |count| Refusal::TooOften(count, MAX_ASKED))
            }
        }),
    }
}

/// Returns whether the body of a loop is executed once.
fn runs_once(func: &Function, dom: &DomTree, loops: &LoopForest, l: Loop) -> bool {
    let asked_not_to = func.unroll[loops.header(l)] == UnrollHint::Never;
    !asked_not_to
        && trip_count(func, dom, loops, l, 1)
            .is_some_and(|t| t.back_edges == 0 || (t.back_edges == 1 && t.exit == loops.header(l)))
}

fn plan(func: &Function, dom: &DomTree, loops: &LoopForest, l: Loop, level: u8) -> Plan {
    let hint = func.unroll[loops.header(l)];
    let count = |max| trip_count(func, dom, loops, l, max);
    let size = size(func, loops, l);
    match hint {
        UnrollHint::Never => Plan::Leave,
        UnrollHint::Full => match count(MAX_ASKED) {
            Some(t) if size * (t.back_edges as usize + 1) <= MAX_LOOP => Plan::Full(t.back_edges + 1),
            Some(_) => Plan::Leave,
            None => Plan::Wait,
        },
        UnrollHint::By(factor) if factor > 1 => plan_for_factor(loops, l, count(MAX_ASKED), factor.into()),
        UnrollHint::By(_) => Plan::Leave,
        UnrollHint::None => match count(MAX_UNASKED) {
            Some(t) if worth_it(func, loops, l, size, t.back_edges, level) => Plan::Full(t.back_edges + 1),
            Some(_) => Plan::Leave,
            None => Plan::Wait,
        },
    }
}

fn plan_for_factor(loops: &LoopForest, l: Loop, count: Option<TripCount>, factor: u32) -> Plan {
    let Some(t) = count else { return Plan::By(factor, None) };
    // If a loop exits at its end, it executes the test once for each iteration. If it exits at its header, it
    // executes the test once more.
    let at_head = t.exit == loops.header(l);
    let trips = t.back_edges + u32::from(!at_head);
    if trips <= factor {
        return Plan::Full(t.back_edges + 1);
    }
    Plan::By(factor, (at_head && trips.is_multiple_of(factor)).then_some(t.exit))
}

fn worth_it(func: &Function, loops: &LoopForest, l: Loop, size: usize, back_edges: u32, level: u8) -> bool {
    if back_edges == 0 {
        return true;
    }
    let total = size * back_edges as usize;
    // A private array can be kept in registers only if each index is a constant, which complete unrolling
    // achieves.
    if indexes_slot(func, loops, l) {
        return total <= 8192;
    }
    let limit = match level {
        0 | 1 => 0,
        2 => 400,
        _ => 800,
    };
    total <= limit
}

/// Returns the number of instructions of an iteration that are likely to remain: all except control flow,
/// addresses and constants.
fn size(func: &Function, loops: &LoopForest, l: Loop) -> usize {
    let insts = loops.blocks(l).iter().flat_map(|&b| func.blocks[b].insts());
    insts
        .filter(|&&i| {
            !matches!(
                func.insts[i].op,
                Op::Const(_)
                    | Op::Jump(_)
                    | Op::Br { .. }
                    | Op::Switch(_)
                    | Op::PtrAdd
                    | Op::PtrAddZ
                    | Op::Assume
                    | Op::SlotAddr(_)
            )
        })
        .count()
}

/// Returns whether the loop computes a variable address within a private variable.
fn indexes_slot(func: &Function, loops: &LoopForest, l: Loop) -> bool {
    let is_slot = |v: Value| matches!(func.def_op(v), Some(Op::SlotAddr(_)));
    loops.blocks(l).iter().flat_map(|&b| func.blocks[b].insts()).any(|&i| {
        func.insts[i].op == Op::PtrAdd && {
            let args = func.args(i);
            is_slot(args[0]) && func.const_bits(args[1]).is_none()
        }
    })
}

struct Copier<'a> {
    func: &'a mut Function,
    loops: &'a LoopForest,
    l: Loop,
    s: &'a mut Scratch,
    header: Block,
    preheader: Block,
    latch: Block,
    /// A block whose conditional branch certainly stays in the loop in the copy that is being made. The copy
    /// omits its test.
    stays: Option<Block>,
}

impl<'a> Copier<'a> {
    fn new(
        func: &'a mut Function,
        cfg: &Cfg,
        loops: &'a LoopForest,
        l: Loop,
        s: &'a mut Scratch,
    ) -> Option<Self> {
        let header = loops.header(l);
        let preheader = loops.preheader(l)?;
        let [latch] = *loops.latches(l) else { return None };
        edge_args(func, latch, header)?;
        close(func, cfg, loops, l, &mut s.uses);
        for value in s.renamed.drain(..) {
            s.values[value.index()] = None;
        }
        s.values.resize(func.values.len().max(s.values.len()), None);
        s.blocks.resize(func.blocks.len().max(s.blocks.len()), None);
        s.consts.clear();
        Some(Copier { func, loops, l, s, header, preheader, latch, stays: None })
    }

    /// Replaces the loop by copies of its iterations. The original loop goes if the back edge folds away
    /// after at most `most` copies. Otherwise the last copy leads to the original loop, which stays.
    fn full(&mut self, most: u32) -> bool {
        let first = self.func.make_block();
        let mut incoming: Values = edge_args(self.func, self.preheader, self.header).unwrap_or(&[]).into();
        let Some(enter) = self.func.terminator(self.preheader) else { return false };
        let mut copy = Some(first);
        let insts =
            self.loops.blocks(self.l).iter().map(|&b| self.func.blocks[b].insts().len()).sum::<usize>();
        let expected = (insts * most as usize).min(MAX_LOOP);
        self.func.insts.reserve(expected);
        self.func.values.reserve(expected);
        for _ in 0..most {
            let Some(head) = copy else { break };
            copy = self.iteration(head, &incoming);
            incoming.clear();
            incoming.extend_from_slice(&self.s.next);
        }
        self.func.replace(enter, Op::Jump(first), &[]);
        if let Some(head) = copy {
            let loc = self.func.insts[enter].loc;
            self.func.layout.push(head);
            self.func.push(head, Op::Jump(self.header), &incoming, loc);
            self.func.unroll[self.header] = UnrollHint::Never;
            return true;
        }
        self.s.gone.resize(self.func.blocks.len().max(self.s.gone.len()), false);
        self.loops.blocks(self.l).iter().for_each(|block| self.s.gone[block.index()] = true);
        true
    }

    /// Appends copies of the iteration to the loop, so that each trip executes `factor` iterations.
    fn partial(&mut self, factor: u32, test: Option<Block>) -> bool {
        self.stays = test;
        let mut incoming: Values = edge_args(self.func, self.latch, self.header).unwrap_or(&[]).into();
        let Some(back) = self.func.terminator(self.latch) else { return false };
        let first = self.func.make_block();
        let which = usize::from(self.func.branch_target(back, 0) != Some(self.header));
        let mut copy = Some(first);
        for _ in 1..factor {
            let Some(head) = copy else { break };
            copy = self.iteration(head, &incoming);
            incoming.clear();
            incoming.extend_from_slice(&self.s.next);
        }
        // The back edge of the last copy, if it has one, leads to the original header.
        if let Some(head) = copy {
            let loc = self.func.insts[back].loc;
            self.func.layout.push(head);
            self.func.push(head, Op::Jump(self.header), &incoming, loc);
        }
        self.func.set_branch_args(back, which, &[]);
        self.func.set_target(back, which, first);
        self.func.unroll[self.header] = UnrollHint::Never;
        true
    }

    /// Copies one iteration. The block `head` becomes the copy of the header. If the copy has a back edge,
    /// returns its target block; the values that it passes are in `s.next`.
    fn iteration(&mut self, head: Block, incoming: &[Value]) -> Option<Block> {
        let (loops, l) = (self.loops, self.l);
        loops.blocks(l).iter().for_each(|block| self.s.blocks[block.index()] = None);
        self.s.blocks[self.header.index()] = Some(head);
        for (n, &value) in incoming.iter().enumerate() {
            let param = self.func.params(self.header)[n];
            self.rename(param, value);
        }
        let mut back = None;
        for &old in loops.blocks(l) {
            // Copies only blocks that a copied branch reaches.
            let Some(new) = self.s.blocks[old.index()] else { continue };
            self.func.layout.push(new);
            for n in 0..self.func.blocks[old].insts().len() {
                let inst = self.func.blocks[old].insts()[n];
                self.track_before(inst);
                let count = self.func.blocks[new].insts().len();
                match self.func.insts[inst].op {
                    Op::Jump(_) | Op::Br { .. } => self.branch(old, new, inst, &mut back),
                    Op::Switch(switch) => self.switch(new, inst, switch, &mut back),
                    _ => self.copy(new, inst),
                }
                if self.func.blocks[new].insts().len() > count {
                    self.track_made(new);
                }
            }
        }
        back
    }

    /// Queues the debug records before an instruction for its copy.
    fn track_before(&mut self, inst: Inst) {
        if self.func.track.as_ref().is_some_and(|track| track.notes.are_before(inst)) {
            let mut records = std::mem::take(&mut self.s.records);
            records.pass(self.func, inst, |value| self.value(value));
            self.s.records = records;
        }
    }

    fn track_made(&mut self, block: Block) {
        if let (Some(track), Some(&last)) = (&mut self.func.track, self.func.blocks[block].insts().last()) {
            self.s.records.made(track, last);
        }
    }

    fn rename(&mut self, old: Value, new: Value) {
        if self.s.values[old.index()].replace(new).is_none() {
            self.s.renamed.push(old);
        }
    }

    fn value(&self, old: Value) -> Value {
        self.s.values.get(old.index()).copied().flatten().unwrap_or(old)
    }

    fn copy(&mut self, block: Block, inst: Inst) {
        let op = self.func.insts[inst].op;
        if matches!(op, Op::Const(_)) {
            let first = self.func.insts[inst].first;
            let ty = self.func.ty(first);
            if let Some(bits) = self.func.const_bits(first) {
                let copy = self.konst(ty, bits);
                self.rename(first, copy);
            }
            return;
        }
        let mut args = std::mem::take(&mut self.s.args);
        args.clear();
        args.extend(self.func.args(inst).iter().map(|&v| self.value(v)));
        let results = self.func.insts[inst].results;
        let old = self.func.insts[inst].first;
        let ty = if results > 0 { self.func.ty(old) } else { Type::Bool };
        let folded = if op.is_pure() && !args.is_empty() { fold(self.func, op, &args, ty) } else { None };
        if let Some(bits) = folded {
            let copy = self.konst(ty, bits);
            self.rename(old, copy);
        } else {
            let loc = self.func.insts[inst].loc;
            let new = self.func.push_n(block, op, &args, ty, results, loc);
            for n in 0..results {
                let (old, new) = (self.func.result(inst, n), self.func.result(new, n));
                // A call can have results of different types.
                self.func.values[new].ty = self.func.ty(old);
                self.rename(old, new);
            }
        }
        self.s.args = args;
    }

    fn konst(&mut self, ty: Type, bits: u64) -> Value {
        if let Some(&known) = self.s.consts.get(&(ty, bits)) {
            return known;
        }
        // The constant is created in the preheader, before its jump, because the preheader dominates all
        // copies.
        let value = self.func.insert1(self.preheader, Op::Const(bits), &[], ty, SrcLoc(0));
        self.s.consts.insert((ty, bits), value);
        value
    }

    fn branch(&mut self, old: Block, new: Block, inst: Inst, back: &mut Option<Block>) {
        let loc = self.func.insts[inst].loc;
        let way = match self.func.insts[inst].op {
            Op::Br { then, otherwise, .. } => {
                let cond = self.value(self.func.args(inst)[0]);
                let inside = |b| self.loops.contains(self.l, b);
                match self.func.const_bits(cond) {
                    Some(bits) => Some(usize::from(bits == 0)),
                    None if self.stays == Some(old) && inside(then) != inside(otherwise) => {
                        Some(usize::from(!inside(then)))
                    }
                    None => None,
                }
            }
            _ => Some(0),
        };
        if let Some(way) = way {
            let mut args = Values::new();
            let to = self.edge(inst, way, back, &mut args);
            self.func.push(new, Op::Jump(to), &args, loc);
            return;
        }
        let mut args: Values = smallvec![self.value(self.func.args(inst)[0])];
        let then = self.edge(inst, 0, back, &mut args);
        let then_args = (args.len() - 1) as u16;
        let otherwise = self.edge(inst, 1, back, &mut args);
        self.func.push(new, Op::Br { then, otherwise, then_args }, &args, loc);
    }

    fn switch(&mut self, new: Block, inst: Inst, switch: Switch, back: &mut Option<Block>) {
        let mut data = self.func.switches[switch].clone();
        let mut args: Values = smallvec![self.value(self.func.args(inst)[0])];
        for (which, edge) in data.edges.iter_mut().enumerate() {
            edge.to = self.edge(inst, which, back, &mut args);
            edge.args_end = args.len() as u32;
        }
        let op = Op::Switch(self.func.switches.push(data));
        let loc = self.func.insts[inst].loc;
        self.func.push(new, op, &args, loc);
    }

    /// Returns the copy of an edge's target block and appends the arguments that the edge passes to `args`. A
    /// back edge is recorded in `back`.
    fn edge(&mut self, inst: Inst, which: usize, back: &mut Option<Block>, args: &mut Values) -> Block {
        let Some(to) = self.func.branch_target(inst, which) else { return self.header };
        let passed = self.func.branch_args(inst, which).iter().map(|&v| self.value(v));
        if to == self.header {
            let mut next = std::mem::take(&mut self.s.next);
            next.clear();
            next.extend(self.func.branch_args(inst, which).iter().map(|&v| self.value(v)));
            self.s.next = next;
            let next = self.func.make_block();
            *back = Some(next);
            return next;
        }
        args.extend(passed);
        if !self.loops.contains(self.l, to) {
            return to;
        }
        if let Some(known) = self.s.blocks[to.index()] {
            return known;
        }
        let copy = self.func.make_block();
        self.s.blocks[to.index()] = Some(copy);
        self.func.unroll[copy] = self.func.unroll[to];
        if self.func.unroll[to] != UnrollHint::None {
            self.func.unroll_at[copy] = self.func.unroll_at[to];
        }
        for n in 0..self.func.params(to).len() {
            let old = self.func.params(to)[n];
            let new = self.func.add_param(copy, self.func.ty(old));
            self.rename(old, new);
        }
        copy
    }
}
