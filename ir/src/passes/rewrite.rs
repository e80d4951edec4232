//! The sweep that `simplify` and `gvn` (global value numbering) share. It visits blocks in reverse postorder.
//! For each instruction, the sweep first replaces arguments for which a substitute is known, then simplifies
//! the instruction, and then looks for an equal computation.
//!
//! An instruction that stays unchanged costs no allocation. Rules that need new instructions call
//! [`Rewriter::emit`], which simplifies and looks up the instruction before creating it. The results of a
//! rule are therefore simplified without another sweep. Operations without arguments (constants, positions,
//! addresses of variables) are kept once, at the start of the entry block, where they dominate everything.
//!
//! Branches on constants become jumps during the sweep. A block to which no visited branch leads is skipped,
//! and its edges do not count as incoming edges. Constants that are found because a branch was decided are
//! therefore still constants after the next join.

use super::constants::{self, Wanted};
use super::forward::Memory;
use super::simplify;
use super::uses::Uses;
use super::{Limits, table::Table};
use crate::analysis::{CallEffects, Cfg, DomTree};
use crate::constraints::{EQUAL, FORWARD};
use crate::edit::Subst;
use crate::entity::{Block, Global, Inst, Value};
use crate::func::{Function, GlobalData, SrcLoc};
use crate::op::{BinOp, CastOp, IntCc, Op, TernOp, UnOp};
use crate::types::Type;
use cranelift_entity::{EntityRef, PrimaryMap};
use smallvec::SmallVec;

/// Maximum nesting depth of rules: a rule creates instructions, and further rules apply to these
/// instructions.
const MAX_NESTING: u32 = 24;

/// Storage of the sweep, kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) subst: Subst,
    table: Table,
    out: Vec<Inst>,
    leaves: Vec<Inst>,
    uses: Uses,
    wanted: Wanted,
    reached: Vec<bool>,
    pub(super) memory: Memory,
    incoming: Vec<Value>,
    /// Blocks from which instructions were moved out.
    hoisted_from: Vec<Block>,
}

/// Maximum number of steps up the dominator tree when a block is searched to which an instruction can move.
const MAX_CLIMB: usize = 32;

/// A pure operation with one result, and its arguments. The elements of `args` that the operation does not
/// have are arbitrary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Def {
    pub op: Op,
    pub args: [Value; 3],
}

/// The state of one sweep over a function.
pub(super) struct Rewriter<'a> {
    pub func: &'a mut Function,
    pub limits: &'a Limits,
    s: &'a mut Scratch,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    calls: &'a CallEffects,
    globals: &'a PrimaryMap<Global, GlobalData>,
    cse: bool,
    block: Block,
    loc: SrcLoc,
    nesting: u32,
}

/// Runs the sweep. With `cse`, equal computations are merged and memory reads are forwarded.
pub(super) fn run(
    func: &mut Function,
    (cfg, dom, calls, globals): (&Cfg, &DomTree, &CallEffects, &PrimaryMap<Global, GlobalData>),
    limits: &Limits,
    cse: bool,
    s: &mut Scratch,
) {
    s.subst.reset(func);
    s.leaves.clear();
    s.reached.clear();
    s.reached.resize(func.blocks.len(), false);
    s.memory.begin(func, calls);
    s.hoisted_from.clear();
    s.uses.compute(func, cfg);
    s.wanted.compute(func, cfg, globals);
    s.table.reset(func.inst_count());
    let entry = func.entry();
    s.reached[entry.index()] = true;
    let mut r =
        Rewriter { func, limits, s, cfg, dom, calls, globals, cse, block: entry, loc: SrcLoc(0), nesting: 0 };
    let mut previous = None;
    for &block in cfg.rpo() {
        if r.s.reached[block.index()] {
            r.block(block, previous);
            previous = Some(block);
        }
    }
    let Rewriter { func, s, .. } = r;
    func.replace_tracked(&s.subst);
    func.layout.retain(|b| s.reached[b.index()]);
    func.prepend(entry, s.leaves.drain(..));
    s.hoisted_from.sort_unstable();
    s.hoisted_from.dedup();
    for &from in &s.hoisted_from {
        func.retain_insts(from, |_, data| data.block == from);
    }
}

/// Returns whether the operation is an integer multiplication, which takes four times as long as other vector
/// arithmetic.
fn is_slow(op: Op) -> bool {
    matches!(op, Op::Bin(BinOp::Mul | BinOp::UMulHi | BinOp::SMulHi))
}

fn is_leaf(op: Op) -> bool {
    match op {
        Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) => true,
        Op::Pos(_) => op.is_pure(),
        _ => false,
    }
}

impl Rewriter<'_> {
    fn block(&mut self, block: Block, previous: Option<Block>) {
        self.block = block;
        // If the block that was visited before is the only predecessor of this one, the contents of memory
        // that were known at its end are still known here.
        let preds = self.cfg.preds(block);
        if preds.len() != 1 || Some(preds[0]) != previous {
            self.s.memory.clear();
        }
        if block != self.func.entry() {
            self.params(block);
        }
        self.s.out.clear();
        for n in 0..self.func.blocks[block].insts().len() {
            self.visit(self.func.blocks[block].insts()[n]);
        }
        self.func.set_insts(block, &self.s.out);
        if let Some(&last) = self.s.out.last() {
            for which in 0..self.func.branch_count(last) {
                if let Some(to) = self.func.branch_target(last, which) {
                    self.s.reached[to.index()] = true;
                }
            }
        }
    }

    /// Replaces block parameters for which all branches to the block pass the same value.
    fn params(&mut self, block: Block) {
        for index in 0..self.func.params(block).len() {
            let param = self.func.params(block)[index];
            if let Some((value, edges)) = self.only_incoming(block, index, param) {
                self.replace(param, value);
                // The edges no longer pass the value.
                (0..edges).for_each(|_| self.s.uses.remove(self.func, value));
            }
        }
    }

    /// Returns the value that the edges to a block pass for a parameter, and the number of these edges.
    /// `None` if the edges pass different values; an edge that passes the parameter itself does not matter.
    fn only_incoming(&self, block: Block, index: usize, param: Value) -> Option<(Value, u32)> {
        let position = self.cfg.position(block);
        let (mut only, mut edges) = (None, 0);
        // A predecessor with several edges to this block occurs in the list once for each edge, at
        // consecutive positions.
        for same in self.cfg.preds(block).chunk_by(|a, b| a == b) {
            if self.cfg.position(same[0]) < position && !self.s.reached[same[0].index()] {
                continue;
            }
            let last = self.func.terminator(same[0])?;
            for which in 0..self.func.branch_count(last) {
                if self.func.branch_target(last, which) != Some(block) {
                    continue;
                }
                edges += 1;
                let value = self.s.subst.get(self.func.branch_args(last, which)[index]);
                if value == param || only == Some(value) {
                    continue;
                }
                if only.is_some() {
                    return None;
                }
                only = Some(value);
            }
        }
        only.map(|value| (value, edges))
    }

    /// Replaces a value by another value in all instructions that the sweep visits later.
    fn replace(&mut self, old: Value, new: Value) {
        self.s.uses.replace(self.func, old, new);
        self.s.subst.set(old, new);
    }

    fn visit(&mut self, inst: Inst) {
        if !self.s.subst.is_empty() {
            self.s.subst.apply_to(self.func, inst);
        }
        let op = self.func.insts[inst].op;
        self.loc = self.func.insts[inst].loc;
        if op.is_pure() {
            self.pure(inst, op);
            return;
        }
        match op {
            Op::Load { .. } => self.load(inst),
            Op::Store { .. } => {
                self.address(inst);
                self.keep(inst);
                self.s.memory.store(self.func, inst);
            }
            Op::AtomicRmw { .. } | Op::AtomicCas { .. } => {
                self.address(inst);
                self.keep(inst);
                self.s.memory.clobber(self.func, inst, self.calls);
            }
            Op::Br { .. } | Op::Switch(_) => {
                self.branch(inst);
                self.keep(inst);
            }
            Op::Assume if self.func.const_bits(self.func.args(inst)[0]) == Some(1) => {
                self.s.uses.remove(self.func, self.func.args(inst)[0]);
            }
            Op::Wave(_) => self.keep(inst),
            _ => {
                self.keep(inst);
                self.s.memory.clobber(self.func, inst, self.calls);
            }
        }
    }

    fn address(&mut self, inst: Inst) {
        let before = self.func.args(inst)[0];
        simplify::address(self, inst);
        self.exchange(before, self.func.args(inst)[0]);
    }

    fn branch(&mut self, inst: Inst) {
        let before = self.func.args(inst)[0];
        simplify::branch(self.func, inst);
        match self.func.branch_operand(inst) {
            Some(after) => self.exchange(before, after),
            None => self.s.uses.remove(self.func, before),
        }
    }

    /// Notes that an instruction uses `after` instead of `before`.
    fn exchange(&mut self, before: Value, after: Value) {
        if before != after {
            self.s.uses.add(self.func, after);
            self.s.uses.remove(self.func, before);
        }
    }

    fn pure(&mut self, inst: Inst, op: Op) {
        let value = self.func.insts[inst].first;
        let ty = self.func.ty(value);
        let Def { op, args } = self.canonical(inst, op);
        let count = self.func.args(inst).len();
        if let Some(new) = simplify::simplify(self, op, &args[..count], ty) {
            self.replace(value, new);
            return;
        }
        if let Some(found) = self.find_equal(inst) {
            let found = self.func.insts[found].first;
            self.replace(value, found);
            return;
        }
        self.keep(inst);
    }

    /// Puts the arguments of a commutative operation into canonical order, both in the returned definition
    /// and in the instruction.
    fn canonical(&mut self, inst: Inst, op: Op) -> Def {
        let mut def = Def { op, args: copy_args(self.func.args(inst)) };
        if simplify::canonicalize(self.func, &mut def) {
            self.func.insts[inst].op = def.op;
            self.func.args_mut(inst)[..2].copy_from_slice(&def.args[..2]);
        }
        def
    }

    fn load(&mut self, inst: Inst) {
        self.address(inst);
        let Op::Load { mem, .. } = self.func.insts[inst].op else { return self.keep(inst) };
        if !FORWARD.takes(&mem) {
            self.keep(inst);
            self.s.memory.clobber(self.func, inst, self.calls);
            return;
        }
        if self.constants(inst) {
            return;
        }
        if self.cse {
            if EQUAL.takes(&mem) {
                if let Some(found) = self.find(inst) {
                    self.replace_results(inst, self.func.results_of(found));
                    return;
                }
            } else if self.forward(inst) {
                return;
            }
        }
        self.keep(inst);
        if self.cse {
            self.s.memory.load(self.func, inst);
        }
    }

    /// Replaces the results of a load.
    fn replace_results(&mut self, inst: Inst, values: impl Iterator<Item = Value>) {
        for (old, new) in self.func.results_of(inst).zip(values) {
            self.replace(old, new);
        }
        self.s.uses.remove(self.func, self.func.args(inst)[0]);
    }

    /// Replaces a load of constants. Returns whether it did.
    fn constants(&mut self, inst: Inst) -> bool {
        let mut bits: SmallVec<[u64; 4]> = SmallVec::new();
        let is_known = constants::read(self.func, self.globals, inst, &mut bits);
        let folds = is_known && self.s.wanted.folds(self.func, inst, &bits);
        if folds {
            let ty = self.func.ty(self.func.insts[inst].first);
            let mut values = std::mem::take(&mut self.s.incoming);
            values.clear();
            values.extend(bits.iter().map(|&bits| self.konst(ty, bits)));
            self.replace_results(inst, values.iter().copied());
            self.s.incoming = values;
        }
        folds
    }

    /// Replaces a load if the values in its memory are known. Returns whether it did.
    fn forward(&mut self, inst: Inst) -> bool {
        let mut known = std::mem::take(&mut self.s.incoming);
        known.clear();
        let found = self.s.memory.lookup(self.func, inst, &mut known);
        if found {
            let to = self.func.ty(self.func.insts[inst].first);
            for value in &mut known {
                if self.func.ty(*value) != to {
                    *value = self.cast(CastOp::Bitcast, *value, to);
                }
            }
            self.replace_results(inst, known.iter().copied());
        }
        self.s.incoming = known;
        found
    }

    fn find_equal(&mut self, inst: Inst) -> Option<Inst> {
        if self.cse || is_leaf(self.func.insts[inst].op) { self.find(inst) } else { None }
    }

    /// Returns an instruction that computes the same value and dominates the current position. If there is
    /// none, remembers `inst` for later lookups.
    fn find(&mut self, inst: Inst) -> Option<Inst> {
        let (dom, block) = (self.dom, self.block);
        let entry = self.func.entry();
        let op = self.func.insts[inst].op;
        let home = if is_leaf(op) { entry } else { block };
        self.func.insts[inst].block = home;
        let mut elsewhere = None;
        let usable = |found: Inst, found_in: Block| {
            elsewhere = Some(found);
            dom.dominates(found_in, home)
        };
        let found = self.s.table.find_or_insert(self.func, inst, usable);
        if found.is_none()
            && is_slow(op)
            && let Some(twin) = elsewhere
            && self.hoist(twin)
        {
            self.s.table.find_or_insert(self.func, twin, |_, _| false);
            return Some(twin);
        }
        found
    }

    /// Moves the instruction `twin` to a block that dominates both its own block and the current block.
    /// `twin` computes the same value as an instruction in the current block but does not dominate it.
    /// Returns whether `twin` moved. Only slow operations move, because the moved instruction is also
    /// executed on paths that reach neither block.
    fn hoist(&mut self, twin: Inst) -> bool {
        let from = self.func.insts[twin].block;
        let up = std::iter::successors(Some(self.block), |&block| self.dom.idom(block)).take(MAX_CLIMB);
        let Some(to) = up.into_iter().find(|&block| self.dom.dominates(block, from)) else { return false };
        let args_reach = self.func.args(twin).iter().all(|&v| self.dom.dominates(self.func.block_of(v), to));
        if to == from || to == self.block || !args_reach || !self.in_loop_of(self.block, to) {
            return false;
        }
        // The moved instruction is still in the list of its old block. The end of the sweep removes it from
        // that list.
        self.s.hoisted_from.push(from);
        self.func.insert_at_end(to, twin);
        true
    }

    /// Returns whether `block` is in the innermost loop that contains the block `outer`. True if no loop
    /// contains `outer`.
    fn in_loop_of(&self, block: Block, outer: Block) -> bool {
        let header = |b: Block| if self.cfg.is_loop_header(b) { Some(b) } else { self.cfg.loop_around(b) };
        let Some(wanted) = header(outer) else { return true };
        let mut at = header(block);
        while let Some(found) = at {
            if found == wanted {
                return true;
            }
            at = self.cfg.loop_around(found);
        }
        false
    }

    fn keep(&mut self, inst: Inst) {
        if is_leaf(self.func.insts[inst].op) {
            self.s.leaves.push(inst);
        } else {
            self.func.insts[inst].block = self.block;
            self.s.out.push(inst);
        }
    }

    /// Returns a value that equals the result of the operation: a simpler value, the result of an equal
    /// earlier instruction, or the result of a new instruction. The arguments must already have been replaced
    /// by their substitutes.
    pub fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let mut def = Def { op, args: copy_args(args) };
        simplify::canonicalize(self.func, &mut def);
        let args = &def.args[..args.len()];
        if self.nesting < MAX_NESTING {
            self.nesting += 1;
            let simpler = simplify::simplify(self, def.op, args, ty);
            self.nesting -= 1;
            if let Some(value) = simpler {
                return value;
            }
        }
        let inst = self.func.make_inst(self.block, def.op, args, ty, 1, self.loc);
        if let Some(found) = self.find_equal(inst) {
            return self.func.insts[found].first;
        }
        self.keep(inst);
        self.func.insts[inst].first
    }

    /// Returns a constant.
    pub fn konst(&mut self, ty: Type, bits: u64) -> Value {
        self.emit(Op::Const(bits & super::interval::type_max(ty)), &[], ty)
    }

    /// Emits `op a`.
    pub fn un(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.func.ty(a);
        self.emit(Op::Un(op), &[a], ty)
    }

    /// Emits `a op b`.
    pub fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.emit(Op::Bin(op), &[a, b], ty)
    }

    /// Emits `a op constant`.
    pub fn bin_k(&mut self, op: BinOp, a: Value, b: u64) -> Value {
        let ty = self.func.ty(a);
        let b = self.konst(ty, b);
        self.emit(Op::Bin(op), &[a, b], ty)
    }

    /// Emits a three-operand operation on 32-bit integers.
    pub fn tern(&mut self, op: TernOp, a: Value, b: Value, c: Value) -> Value {
        let ty = self.func.ty(b);
        self.emit(Op::Tern(op), &[a, b, c], ty)
    }

    /// Emits a conversion.
    pub fn cast(&mut self, op: CastOp, a: Value, to: Type) -> Value {
        self.emit(Op::Cast(op), &[a], to)
    }

    /// Emits an integer comparison.
    pub fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.emit(Op::Icmp(cc), &[a, b], Type::Bool)
    }

    /// Returns the bits of a value that is a constant; `None` for other values.
    pub fn k(&self, value: Value) -> Option<u64> {
        self.func.const_bits(value)
    }

    /// Returns the pure operation that computes a value, if there is one.
    pub fn def(&self, value: Value) -> Option<Def> {
        let inst = self.func.def_inst(value)?;
        let op = self.func.insts[inst].op;
        op.is_pure().then(|| Def { op, args: copy_args(self.func.args(inst)) })
    }

    /// Returns the arguments of the instruction that computes a value; `None` if its operation is not `op`.
    fn args_if(&self, value: Value, op: Op) -> Option<&[Value]> {
        let inst = self.func.def_inst(value)?;
        (self.func.insts[inst].op == op).then(|| self.func.args(inst))
    }

    /// Returns both arguments if the value is computed by the two-operand operation `op`; otherwise `None`.
    pub fn is_bin(&self, value: Value, op: BinOp) -> Option<(Value, Value)> {
        self.args_if(value, Op::Bin(op)).map(|args| (args[0], args[1]))
    }

    /// Returns the first argument and the bits of the second if the value is computed by the two-operand
    /// operation `op` and its second argument is a constant; otherwise `None`.
    pub fn is_bin_k(&self, value: Value, op: BinOp) -> Option<(Value, u64)> {
        let (a, b) = self.is_bin(value, op)?;
        Some((a, self.k(b)?))
    }

    /// Returns the argument if the value is computed by the one-operand operation `op`; otherwise `None`.
    pub fn is_un(&self, value: Value, op: UnOp) -> Option<Value> {
        self.args_if(value, Op::Un(op)).map(|args| args[0])
    }

    /// Returns the argument if the value is computed by the conversion `op`; otherwise `None`.
    pub fn is_cast(&self, value: Value, op: CastOp) -> Option<Value> {
        self.args_if(value, Op::Cast(op)).map(|args| args[0])
    }

    /// Returns whether a rule may take the constant out of a sum `x + k`. Other users of the sum would then
    /// still need the sum itself. The result is therefore true only if there are no other users, or if this
    /// sweep created the sum. Most of the sums that the sweep creates are parts of several addresses in
    /// unrolled copies of a loop. These addresses differ only in their constants and share the rest of the
    /// computation.
    pub fn may_lose_constant(&self, sum: Value) -> bool {
        self.single_use(sum) || self.s.uses.is_new(sum)
    }

    /// Returns whether a value has at most one use.
    pub fn single_use(&self, value: Value) -> bool {
        self.s.uses.is_single(value)
    }
}

fn copy_args(args: &[Value]) -> [Value; 3] {
    let mut copy = [Value::new(0); 3];
    for (to, &from) in copy.iter_mut().zip(args) {
        *to = from;
    }
    copy
}
