//! Value ranges along the control flow, and the simplifications that they permit.
//!
//! Every integer value has an unsigned interval at its definition. Branch conditions and `assume`
//! instructions add narrower intervals that hold in the blocks they dominate. A loop counter is bounded by
//! the test that guards the back edge. The ranges permit these simplifications:
//! - A 64-bit byte offset that provably fits in 32 bits becomes a 32-bit offset (`ptr_add` -> `ptr_add_z`),
//!   which addressing modes with a uniform base accept directly.
//! - A constant is split off a zero-extended offset if the sum cannot have wrapped. The constant can then
//!   become part of the memory access.
//! - Sign extension, signed division and arithmetic shift of non-negative values become unsigned operations.
//! - Comparisons with a known result become constants.

use super::interval::{Interval, transfer, type_max};
use super::loopform::edge_args;
use super::simplify::{decide, invert_cc, swap_cc};
use crate::analysis::{Cfg, DomTree, Loop, LoopForest};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::{BinOp, CastOp, IntCc, Op, UnOp};
use crate::types::Type;
use cranelift_entity::EntityRef;

/// Maximum depth to which the operands of a condition are analysed, and those of an offset are rebuilt.
const MAX_DEPTH: u32 = 6;
/// The constants that may be split off an address offset. Instructions for global memory can contain offsets
/// in this range.
const OFFSETS: std::ops::RangeInclusive<i64> = -4096..=4095;
const NONE: u32 = u32::MAX;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Interval of each value at its definition.
    base: Vec<Interval>,
    /// Facts that hold in the current block, oldest first.
    facts: Vec<Fact>,
    /// For each value, the index of the newest fact about it.
    newest: Vec<u32>,
    /// The blocks in preorder of the dominator tree, so that a block comes after its parent in the tree.
    order: Vec<Block>,
    /// `incoming` has, for each block parameter, the union of the intervals passed so far. `arrived` has, for
    /// each block, the number of edges over which values have been passed.
    incoming: Vec<Interval>,
    arrived: Vec<u32>,
    out: Vec<Inst>,
}

/// A fact about a value: in the blocks that `block` dominates, the value is in `interval`. The interval
/// already takes account of older facts about the same value.
#[derive(Clone, Copy, Debug)]
struct Fact {
    block: Block,
    value: Value,
    interval: Interval,
    older: u32,
}

/// Runs the pass. Returns whether it changed anything. The pass learns from `assume` instructions and keeps
/// them; [`drop_assumes`] removes them.
pub fn run(func: &mut Function, cfg: &Cfg, dom: &DomTree, loops: &LoopForest, s: &mut Scratch) -> bool {
    s.base.clear();
    s.base.extend(func.values.values().map(|v| Interval::full(v.ty)));
    s.facts.clear();
    s.newest.clear();
    s.newest.resize(func.values.len(), NONE);
    s.incoming.clear();
    s.incoming.extend_from_slice(&s.base);
    s.arrived.clear();
    s.arrived.resize(func.blocks.len(), 0);
    // Blocks are visited in the preorder of the dominator tree. The facts learned in a block can then be
    // dropped after the last block that it dominates. In this order, the predecessors of a block precede it,
    // except over back edges.
    s.order.clear();
    s.order.resize(cfg.rpo().len(), func.entry());
    cfg.rpo().iter().for_each(|&block| s.order[dom.preorder(block) as usize] = block);
    let entry = func.entry();
    let mut walker = Walker { func, cfg, dom, loops, s, block: entry, changed: false };
    for at in 0..walker.s.order.len() {
        walker.block(walker.s.order[at]);
    }
    walker.changed
}

/// Removes the `assume` instructions. Called when no later pass uses them.
pub fn drop_assumes(func: &mut Function) -> bool {
    let mut changed = false;
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        let before = func.blocks[block].insts().len();
        func.retain_insts(block, |_, data| data.op != Op::Assume);
        changed |= func.blocks[block].insts().len() != before;
    }
    changed
}

struct Walker<'a> {
    func: &'a mut Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    loops: &'a LoopForest,
    s: &'a mut Scratch,
    block: Block,
    changed: bool,
}

impl Walker<'_> {
    /// Returns the interval of a value in the current block. The newest fact about the value is enough
    /// because it includes the older facts.
    fn range(&self, value: Value) -> Interval {
        let Some(&base) = self.s.base.get(value.index()) else { return Interval::full(self.func.ty(value)) };
        let newest = self.s.newest.get(value.index()).and_then(|&newest| self.s.facts.get(newest as usize));
        newest.map_or(base, |fact| fact.interval)
    }

    fn block(&mut self, block: Block) {
        self.block = block;
        while let Some(fact) = self.s.facts.pop_if(|fact| !self.dom.dominates(fact.block, block)) {
            self.s.newest[fact.value.index()] = fact.older;
        }
        if let Some(l) = self.loops.innermost(block).filter(|&l| self.loops.header(l) == block) {
            self.counters(l);
        } else {
            self.params(block);
        }
        if let [pred] = *self.cfg.preds(block)
            && let Some(last) = self.func.terminator(pred)
            && let Op::Br { then, .. } = self.func.insts[last].op
        {
            let cond = self.func.args(last)[0];
            self.learn(cond, then == block, MAX_DEPTH);
        }
        self.s.out.clear();
        for n in 0..self.func.blocks[block].insts().len() {
            self.visit(self.func.blocks[block].insts()[n]);
        }
        self.func.set_insts(block, &self.s.out);
        self.leave(block);
    }

    /// Passes the intervals of the block's branch arguments on to the parameters of its successors.
    fn leave(&mut self, block: Block) {
        let Some(last) = self.func.terminator(block) else { return };
        for which in 0..self.func.branch_count(last) {
            let Some(to) = self.func.branch_target(last, which) else { continue };
            let first = self.s.arrived[to.index()] == 0;
            self.s.arrived[to.index()] += 1;
            for (&param, &arg) in self.func.params(to).iter().zip(self.func.branch_args(last, which)) {
                let came = self.range(arg);
                let all = &mut self.s.incoming[param.index()];
                *all = if first { came } else { all.union(came) };
            }
        }
    }

    /// Sets the interval of each parameter of a join block to the union of the intervals that the
    /// predecessors pass. Does so only if all predecessors have been processed.
    fn params(&mut self, block: Block) {
        if self.s.arrived[block.index()] as usize != self.cfg.preds(block).len() {
            return;
        }
        for &param in self.func.params(block) {
            if self.func.ty(param).is_int() {
                self.s.base[param.index()] = self.s.incoming[param.index()];
            }
        }
    }

    /// Bounds the counters of a loop. A counter `p` starts in a known interval, and each iteration passes
    /// back `p + step` or a value that is not greater than `p`. In the case `p + step`, the counter is
    /// bounded if every back edge comes after a test that bounds it.
    fn counters(&mut self, l: Loop) {
        let header = self.loops.header(l);
        let (Some(_), [latch]) = (self.loops.preheader(l), self.loops.latches(l)) else { return };
        for index in 0..self.func.params(header).len() {
            let param = self.func.params(header)[index];
            let Some(next) = edge_args(self.func, *latch, header) else { return };
            let next = next[index];
            if !self.func.ty(param).is_int() {
                continue;
            }
            // So far only the edge from the preheader has passed a value.
            let first = self.s.incoming[param.index()];
            if let Some(hi) = self.counter_end(l, *latch, param, next, first) {
                self.s.base[param.index()] = Interval { lo: first.lo, hi: hi.max(first.hi) };
            } else if self.never_grows(param, next) {
                self.s.base[param.index()] = Interval::up_to(first.hi);
            }
        }
    }

    fn never_grows(&self, param: Value, next: Value) -> bool {
        self.func.def_inst(next).is_some_and(|inst| {
            let args = self.func.args(inst);
            let shrinks = matches!(self.func.insts[inst].op, Op::Bin(BinOp::LShr | BinOp::UDiv | BinOp::And));
            next == param || (shrinks && args[0] == param && self.func.const_bits(args[1]) != Some(0))
        })
    }

    /// Returns the largest value that the back edge passes to the header. Returns `None` if no test before
    /// the back edge bounds this value.
    fn counter_end(&self, l: Loop, latch: Block, param: Value, next: Value, first: Interval) -> Option<u64> {
        let add = self.func.def_inst(next).filter(|&i| self.func.insts[i].op == Op::Bin(BinOp::Add))?;
        let [from, step] = *self.func.args(add) else { return None };
        let step = self.func.const_bits(step).filter(|_| from == param)?;
        // Visits the edges that lie on every path to the back edge. These are the back edge itself, and the
        // edges into blocks that dominate the latch, which is the source of the back edge.
        let header = self.loops.header(l);
        let (mut at, mut edge) = (latch, Some((latch, header)));
        loop {
            if let Some((from, to)) = edge
                && let Some(last) = self.func.terminator(from)
                && let Op::Br { then, otherwise, .. } = self.func.insts[last].op
                && then != otherwise
            {
                let cond = self.func.args(last)[0];
                let end = self.test_bounds(cond, then == to, param, next, step, first, MAX_DEPTH);
                if end.is_some() {
                    return end;
                }
            }
            if at == header {
                return None;
            }
            edge = match *self.cfg.preds(at) {
                [pred] => Some((pred, at)),
                _ => None,
            };
            at = self.dom.idom(at)?;
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn test_bounds(
        &self,
        cond: Value,
        holds: bool,
        param: Value,
        next: Value,
        step: u64,
        first: Interval,
        depth: u32,
    ) -> Option<u64> {
        let inst = self.func.def_inst(cond).filter(|_| depth > 0)?;
        let args = self.func.args(inst);
        match (self.func.insts[inst].op, holds) {
            (Op::Un(UnOp::Not), _) => self.test_bounds(args[0], !holds, param, next, step, first, depth - 1),
            (Op::Bin(BinOp::And), true) | (Op::Bin(BinOp::Or), false) => {
                args.iter().find_map(|&arg| self.test_bounds(arg, holds, param, next, step, first, depth - 1))
            }
            (Op::Icmp(cc), _) => {
                let mut cc = if holds { cc } else { invert_cc(cc) };
                let (mut tested, mut limit) = (args[0], args[1]);
                if tested != param && tested != next {
                    (tested, limit) = (limit, tested);
                    cc = swap_cc(cc);
                }
                if tested != param && tested != next {
                    return None;
                }
                let ty = self.func.ty(param);
                let signed_max = type_max(ty) >> 1;
                let bound = self.range(limit).hi;
                let below = match cc {
                    IntCc::Ult => bound.checked_sub(1)?,
                    IntCc::Ule => bound,
                    IntCc::Slt if first.non_negative(ty) => bound.min(signed_max).checked_sub(1)?,
                    IntCc::Sle if first.non_negative(ty) => bound.min(signed_max),
                    _ => return None,
                };
                let most = if matches!(cc, IntCc::Slt | IntCc::Sle) { signed_max } else { type_max(ty) };
                // The sum `p + step` must not wrap, because a wrapped sum would be small and pass the test
                // again.
                let before_step = if tested == next { below.max(first.hi) } else { below };
                let last = before_step.checked_add(step).filter(|&end| end <= most)?;
                Some(if tested == next { below } else { last })
            }
            _ => None,
        }
    }

    /// Adds the facts that a condition implies about the values it compares.
    fn learn(&mut self, cond: Value, holds: bool, depth: u32) {
        let Some(inst) = self.func.def_inst(cond).filter(|_| depth > 0) else { return };
        let args = self.func.args(inst);
        let Some(&a) = args.first() else { return };
        let b = args.get(1).copied().unwrap_or(a);
        match (self.func.insts[inst].op, holds) {
            (Op::Un(UnOp::Not), _) => self.learn(a, !holds, depth - 1),
            (Op::Bin(BinOp::And), true) | (Op::Bin(BinOp::Or), false) => {
                self.learn(a, holds, depth - 1);
                self.learn(b, holds, depth - 1);
            }
            (Op::Icmp(cc), _) if self.func.ty(a).is_int() => {
                let cc = if holds { cc } else { invert_cc(cc) };
                let (x, y) = (self.range(a), self.range(b));
                let ty = self.func.ty(a);
                if let Some(fact) = side_of(cc, x, y, ty) {
                    self.note(a, fact, depth);
                }
                if let Some(fact) = side_of(swap_cc(cc), y, x, ty) {
                    self.note(b, fact, depth);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, value: Value, interval: Interval, depth: u32) {
        let narrower = self.range(value).meet(interval);
        if narrower == self.range(value) || depth == 0 {
            return;
        }
        let newest = self.s.facts.len() as u32;
        let older = std::mem::replace(&mut self.s.newest[value.index()], newest);
        self.s.facts.push(Fact { block: self.block, value, interval: narrower, older });
        let Some(inst) = self.func.def_inst(value) else { return };
        let args = self.func.args(inst);
        match self.func.insts[inst].op {
            // A zero extension does not change the number, so its operand has the same interval.
            Op::Cast(CastOp::Zext) if self.func.ty(args[0]).is_int() => {
                self.note(args[0], interval, depth - 1)
            }
            // The interval is that of the sum `x + k`. If no sum in the interval has wrapped, or all of them
            // have, the other summand `x` has the interval shifted down by the constant.
            Op::Bin(BinOp::Add) => {
                let (inner, Some(k)) = (args[0], self.func.const_bits(args[1])) else { return };
                let max = type_max(self.func.ty(value));
                let Interval { lo, hi } = interval;
                let (below, above) = (hi < k, lo >= k);
                if below || above {
                    let shifted = |x: u64| x.wrapping_sub(k) & max;
                    self.note(inner, Interval { lo: shifted(lo), hi: shifted(hi) }, depth - 1);
                }
            }
            _ => {}
        }
    }

    fn visit(&mut self, inst: Inst) {
        let op = self.func.insts[inst].op;
        match op {
            Op::Assume => {
                let cond = self.func.args(inst)[0];
                self.learn(cond, true, MAX_DEPTH);
            }
            Op::PtrAdd | Op::PtrAddZ => self.offset(inst),
            Op::Icmp(cc) => self.compare(inst, cc),
            Op::Bin(op) => self.make_unsigned(inst, op),
            Op::Cast(CastOp::Sext | CastOp::SToF) => self.extension(inst),
            _ => {}
        }
        self.s.out.push(inst);
        self.note_result(inst);
    }

    fn note_result(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        if data.results == 0 {
            return;
        }
        let (op, value) = (data.op, data.first);
        let ty = self.func.ty(value);
        let interval = if ty.is_int() || ty == Type::Bool {
            transfer(self.func, op, self.func.args(inst), ty, |v| self.range(v))
        } else {
            Interval::full(ty)
        };
        let is_call = op.is_call();
        for value in self.func.results_of(inst) {
            // Values created by this pass have higher numbers than the values it started with. Appending to
            // the tables therefore keeps them indexed by value.
            while self.s.base.len() <= value.index() {
                let ty = self.func.ty(Value::new(self.s.base.len()));
                self.s.base.push(Interval::full(ty));
                self.s.newest.push(NONE);
            }
            // The results of a call can have different types.
            self.s.base[value.index()] = if is_call { Interval::full(self.func.ty(value)) } else { interval };
        }
    }

    fn push(&mut self, op: Op, args: &[Value], ty: Type, loc: SrcLoc) -> Value {
        let inst = self.func.make_inst(self.block, op, args, ty, 1, loc);
        self.s.out.push(inst);
        self.note_result(inst);
        self.func.insts[inst].first
    }

    fn compare(&mut self, inst: Inst, cc: IntCc) {
        let [a, b] = *self.func.args(inst) else { return };
        let ty = self.func.ty(a);
        if !ty.is_int() {
            return;
        }
        if let Some(holds) = decide(cc, ty, self.range(a), self.range(b)) {
            self.func.replace(inst, Op::Const(holds.into()), &[]);
            self.changed = true;
        }
    }

    fn make_unsigned(&mut self, inst: Inst, op: BinOp) {
        let unsigned = match op {
            BinOp::SDiv => BinOp::UDiv,
            BinOp::SRem => BinOp::URem,
            BinOp::AShr => BinOp::LShr,
            _ => return,
        };
        let [a, b] = *self.func.args(inst) else { return };
        let non_negative = |v: Value| self.range(v).non_negative(self.func.ty(v));
        if non_negative(a) && (op == BinOp::AShr || non_negative(b)) {
            self.func.insts[inst].op = Op::Bin(unsigned);
            self.changed = true;
        }
    }

    fn extension(&mut self, inst: Inst) {
        let a = self.func.args(inst)[0];
        let ty = self.func.ty(a);
        if ty.is_int() && self.range(a).non_negative(ty) {
            let data = &mut self.func.insts[inst];
            data.op = Op::Cast(if data.op == Op::Cast(CastOp::SToF) { CastOp::UToF } else { CastOp::Zext });
            self.changed = true;
        }
    }

    /// Narrows the 64-bit offset `x` of `p + x` to 32 bits if its value fits, and splits off a constant.
    fn offset(&mut self, inst: Inst) {
        let [p, x] = *self.func.args(inst) else { return };
        let loc = self.func.insts[inst].loc;
        let ty = self.func.ty(p);
        if ty.bits() != 64 || self.func.const_bits(x).is_some() {
            return;
        }
        let narrow = match self.func.insts[inst].op {
            Op::PtrAddZ => x,
            _ if self.range(x).hi <= u64::from(u32::MAX) && self.is_worth_narrowing(x) => {
                self.narrow(x, loc, MAX_DEPTH)
            }
            _ => return,
        };
        match self.split(narrow, loc, MAX_DEPTH) {
            Some((rest, k)) if k != 0 && OFFSETS.contains(&k) => {
                let base = self.push(Op::PtrAddZ, &[p, rest], ty, loc);
                let k = self.push(Op::Const(k as u64), &[], Type::I64, loc);
                self.func.replace(inst, Op::PtrAdd, &[base, k]);
                self.changed = true;
            }
            _ if self.func.insts[inst].op == Op::PtrAdd => {
                self.func.replace(inst, Op::PtrAddZ, &[p, narrow]);
                self.changed = true;
            }
            _ => {}
        }
    }

    /// Returns whether the low half of a 64-bit value can be computed without cost, or more cheaply than the
    /// whole value.
    fn is_worth_narrowing(&self, x: Value) -> bool {
        matches!(
            self.func.def_op(x),
            Some(
                Op::Cast(CastOp::Zext | CastOp::Sext)
                    | Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl | BinOp::And | BinOp::Or)
            )
        )
    }

    /// Returns the low 32 bits of a 64-bit value, computed from the low halves of its operands where
    /// possible.
    fn narrow(&mut self, x: Value, loc: SrcLoc, depth: u32) -> Value {
        if let Some(k) = self.func.const_bits(x) {
            return self.push(Op::Const(k & 0xffff_ffff), &[], Type::I32, loc);
        }
        if let Some(inst) = self.func.def_inst(x).filter(|_| depth > 0) {
            let args = self.func.args(inst);
            let (a, b) = (args.first().copied(), args.get(1).copied());
            match (self.func.insts[inst].op, a, b) {
                (Op::Cast(CastOp::Zext | CastOp::Sext), Some(a), _) if self.func.ty(a) == Type::I32 => {
                    return a;
                }
                (Op::Bin(BinOp::Shl), Some(a), Some(b)) => {
                    if let Some(n @ 0..=31) = self.func.const_bits(b) {
                        let low = self.narrow(a, loc, depth - 1);
                        let n = self.push(Op::Const(n), &[], Type::I32, loc);
                        return self.push(Op::Bin(BinOp::Shl), &[low, n], Type::I32, loc);
                    }
                }
                (
                    Op::Bin(
                        op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor),
                    ),
                    Some(a),
                    Some(b),
                ) => {
                    let (a, b) = (self.narrow(a, loc, depth - 1), self.narrow(b, loc, depth - 1));
                    return self.push(Op::Bin(op), &[a, b], Type::I32, loc);
                }
                _ => {}
            }
        }
        self.push(Op::Cast(CastOp::Trunc), &[x], Type::I32, loc)
    }

    /// Splits a 32-bit offset `x` into `rest + k` so that `zext(x) = zext(rest) + k`. Neither the sum nor its
    /// scaled value may wrap; otherwise returns `None`.
    fn split(&mut self, x: Value, loc: SrcLoc, depth: u32) -> Option<(Value, i64)> {
        let inst = self.func.def_inst(x).filter(|_| depth > 0)?;
        let args = self.func.args(inst);
        let (a, k) = (*args.first()?, self.func.const_bits(*args.get(1)?)?);
        let scale = match self.func.insts[inst].op {
            Op::Bin(BinOp::Add) => {
                let k = i64::from(k as u32 as i32);
                let range = self.range(a);
                let fits = |at: u64| (0..=i64::from(u32::MAX)).contains(&(at as i64 + k));
                return (fits(range.lo) && fits(range.hi)).then_some((a, k));
            }
            Op::Bin(BinOp::Shl) if k < 32 => 1u64 << k,
            Op::Bin(BinOp::Mul) => k,
            _ => return None,
        };
        // The scaled offset must not wrap, neither with the constant nor without it.
        let scaled = |hi: u64| hi.checked_mul(scale).is_some_and(|hi| hi <= u64::from(u32::MAX));
        if !scaled(self.range(a).hi) {
            return None;
        }
        let (rest, k) = self.split(a, loc, depth - 1)?;
        if !scaled(self.range(rest).hi) {
            return None;
        }
        let factor = self.push(Op::Const(scale), &[], Type::I32, loc);
        let rest = self.push(Op::Bin(BinOp::Mul), &[rest, factor], Type::I32, loc);
        Some((rest, k.checked_mul(scale as i64)?))
    }
}

/// Returns the interval that the left operand of the comparison `cc` has if the comparison is true. `x` is
/// the interval of the left operand that is known already, `y` the interval of the right operand.
fn side_of(cc: IntCc, x: Interval, y: Interval, ty: Type) -> Option<Interval> {
    let max = type_max(ty);
    let signed_max = max >> 1;
    match cc {
        IntCc::Eq => Some(y),
        IntCc::Ne if y.lo == y.hi && x.lo == y.lo && x.lo < x.hi => Some(Interval { lo: x.lo + 1, hi: x.hi }),
        IntCc::Ne if y.lo == y.hi && x.hi == y.lo && x.lo < x.hi => Some(Interval { lo: x.lo, hi: x.hi - 1 }),
        IntCc::Ult => Some(Interval::up_to(y.hi.checked_sub(1)?)),
        IntCc::Ule => Some(Interval::up_to(y.hi)),
        IntCc::Ugt => Some(Interval { lo: y.lo.checked_add(1).filter(|&lo| lo <= max)?, hi: max }),
        IntCc::Uge => Some(Interval { lo: y.lo, hi: max }),
        // Signed comparisons. A non-negative lower bound can be used as it is. An upper bound can be used
        // only if the left operand is known to be non-negative.
        IntCc::Sgt if y.non_negative(ty) => {
            Some(Interval { lo: y.lo.checked_add(1).filter(|&lo| lo <= signed_max)?, hi: signed_max })
        }
        IntCc::Sge if y.non_negative(ty) => Some(Interval { lo: y.lo, hi: signed_max }),
        // -1 < a means that a is not negative.
        IntCc::Sgt if y.lo == max => Some(Interval::up_to(signed_max)),
        IntCc::Slt if x.non_negative(ty) => Some(Interval::up_to(y.hi.min(signed_max).checked_sub(1)?)),
        IntCc::Sle if x.non_negative(ty) => Some(Interval::up_to(y.hi.min(signed_max))),
        _ => None,
    }
}
