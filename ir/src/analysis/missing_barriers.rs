//! Finds missing barriers. A barrier is missing if a work-item loads from work-group memory what a work-item
//! of another wave stores, without a barrier between the store and the load. The load may then come before
//! the store.
//!
//! Like [`PartialExecution`], this analysis reports only errors that are certain, so it looks only at some
//! stores and loads. All work-items of a group of known size must execute the store, and they must not all
//! store to one address. The load must not be in a region that only a part of the work-items reaches.
//!
//! # Method
//! From each store of this kind, all paths are followed up to the next instruction that orders memory. The
//! addresses of the store and of each load on these paths are evaluated for every work-item. The pair of
//! store and load is reported if a work-item reads bytes that a work-item of another wave writes. If the
//! address of a load is unknown but the same for all work-items, the pair is reported if the store of all
//! work-items together covers the whole variable.

use super::{DomTree, PartialExecution};
use crate::constraints::{Class, ordering_constraint};
use crate::entity::{Block, Global, Inst, Value};
use crate::func::{Function, GlobalData};
use crate::op::{Mem, Op, Pos};
use crate::semantics::evaluate;
use crate::types::Space;
use cranelift_entity::{PrimaryMap, SecondaryMap};

/// Number of lanes of the largest waves. Work-items of the same wave exchange data in the order of their
/// instructions, so they need no barrier.
const LANES: u32 = 64;
/// Number of work-items of the largest groups.
const MAX_ITEMS: u32 = 1024;
/// Maximum length of chains of operations that are evaluated.
const MAX_DEPTH: u32 = 24;
/// Maximum number of pairs of a store and a load that are evaluated per function.
const MAX_PAIRS: u32 = 32;

/// Reusable memory of the search, and its results.
#[derive(Clone, Debug, Default)]
pub struct MissingBarriers {
    dom: DomTree,
    seen: SecondaryMap<Block, u32>,
    stack: Vec<Block>,
    met: Vec<Inst>,
    found: Vec<(Inst, Inst)>,
}

/// Bytes that one work-item accesses: start, end, work-item.
type Bytes = (u64, u64, u32);

impl MissingBarriers {
    /// Returns the loads that read what a work-item of another wave stores, without a barrier between the
    /// store and the load. Each load comes with its store. The pairs are in program order.
    pub fn find(
        &mut self,
        func: &Function,
        globals: &PrimaryMap<Global, GlobalData>,
        parting: &mut PartialExecution,
    ) -> &[(Inst, Inst)] {
        self.found.clear();
        let Some(size) = func.kernel.as_ref().and_then(|kernel| kernel.reqd_workgroup_size) else {
            return &self.found;
        };
        let items = size.iter().fold(1u32, |all, &n| all.saturating_mul(n));
        let is_shared = |inst: &Inst| shared(&func.insts[*inst].op).is_some();
        let accesses = || {
            func.layout.iter().flat_map(|&block| func.blocks[block].insts()).filter(|inst| is_shared(inst))
        };
        if items <= LANES || items > MAX_ITEMS || accesses().next().is_none() {
            return &self.found;
        }
        parting.compute(func);
        self.dom.compute(parting.cfg());
        self.seen.clear();
        let all = Items { func, globals, size, items };
        let (mut turn, mut pairs) = (0, 0);
        for n in 0..parting.cfg().rpo().len() {
            let block = parting.cfg().rpo()[n];
            let by_all = parting.comes_to_all(func.entry(), block);
            for at in 0..func.blocks[block].insts().len() {
                let store = func.blocks[block].insts()[at];
                if !by_all || !matches!(func.insts[store].op, Op::Store { .. }) || !is_shared(&store) {
                    continue;
                }
                turn += 1;
                self.follow(func, parting, (block, at), turn);
                for load in std::mem::take(&mut self.met) {
                    pairs += 1;
                    let known = self.found.iter().any(|&(old, _)| old == load);
                    if pairs <= MAX_PAIRS && !known && all.hand_over(&self.dom, store, load) {
                        self.found.push((load, store));
                    }
                }
            }
        }
        &self.found
    }

    /// Collects the loads that are reachable from a store.
    fn follow(
        &mut self,
        func: &Function,
        parting: &PartialExecution,
        (block, at): (Block, usize),
        turn: u32,
    ) {
        self.met.clear();
        if !self.walk(func, parting, (block, at + 1), block) {
            return;
        }
        self.stack.extend(func.succs(block));
        while let Some(next) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[next], turn) == turn || next == block {
                continue;
            }
            if self.walk(func, parting, (next, 0), block) {
                self.stack.extend(func.succs(next));
            }
        }
    }

    /// Collects the loads of a block from instruction number `from` on, up to the first instruction that
    /// orders memory. Returns true if there is no such instruction. The search must then continue in the
    /// successors of the block.
    fn walk(
        &mut self,
        func: &Function,
        parting: &PartialExecution,
        (block, from): (Block, usize),
        store: Block,
    ) -> bool {
        let counts = parting.branch_of(block).is_none() && self.dom.dominates(store, block);
        for &inst in &func.blocks[block].insts()[from..] {
            let op = func.insts[inst].op;
            let atomic = op.mem().is_some_and(|mem| Class::for_access(mem) == Class::ATOMIC);
            if atomic || !ordering_constraint(&op).is_empty() || matches!(op, Op::Wave(_)) {
                return false;
            }
            if counts && matches!(op, Op::Load { .. }) && shared(&op).is_some() {
                self.met.push(inst);
            }
        }
        true
    }
}

/// Returns the memory operand and the size in bytes of an access to work-group memory that is neither atomic
/// nor volatile.
fn shared(op: &Op) -> Option<(Mem, u64)> {
    let (Op::Load { mem, count } | Op::Store { mem, count }) = *op else { return None };
    let plain = mem.space == Space::Shared && Class::for_access(&mem) == Class::PLAIN;
    plain.then(|| (mem, u64::from(mem.ty.bytes()) * u64::from(count)))
}

/// The work-items of a group.
struct Items<'f> {
    func: &'f Function,
    globals: &'f PrimaryMap<Global, GlobalData>,
    size: [u32; 3],
    items: u32,
}

impl Items<'_> {
    fn hand_over(&self, dom: &DomTree, store: Inst, load: Inst) -> bool {
        let Some((variable, mut written)) = self.bytes_of_all(store) else { return false };
        written.sort_by_key(|one| one.0);
        // A store of all work-items to one address is not checked, because it sets a flag or is an error of
        // another kind.
        if written.first().map(|one| one.0) == written.last().map(|one| one.0) {
            return false;
        }
        if let Some((read_from, read)) = self.bytes_of_all(load) {
            return read_from == variable && read.iter().any(|one| is_written_elsewhere(&written, *one));
        }
        let ptr = self.func.args(load)[0];
        self.root(ptr) == Some(variable)
            && self.is_same_for_all(dom, ptr, 0)
            && covers(&written, u64::from(self.globals[variable].size))
    }

    /// Returns, for an access, its variable and the range of bytes that each work-item accesses. `None` if
    /// these cannot be computed.
    fn bytes_of_all(&self, inst: Inst) -> Option<(Global, Vec<Bytes>)> {
        let (mem, bytes) = shared(&self.func.insts[inst].op)?;
        let ptr = self.func.args(inst)[0];
        let variable = self.root(ptr).filter(|&variable| !self.globals[variable].dynamic)?;
        let at = |item: u32| {
            let start = self.evaluate(ptr, item, 0)?.wrapping_add(mem.offset as i64 as u64) & 0xffff_ffff;
            Some((start, start + bytes, item))
        };
        Some((variable, (0..self.items).map(at).collect::<Option<_>>()?))
    }

    /// Returns the variable into which a pointer points.
    fn root(&self, mut ptr: Value) -> Option<Global> {
        for _ in 0..MAX_DEPTH {
            let inst = self.func.def_inst(ptr)?;
            match self.func.insts[inst].op {
                Op::GlobalAddr(variable) => return Some(variable),
                Op::PtrAdd | Op::PtrAddZ => ptr = self.func.args(inst)[0],
                _ => return None,
            }
        }
        None
    }

    /// Evaluates a value for a work-item. Pointers are offsets from the beginning of their variable.
    fn evaluate(&self, value: Value, item: u32, depth: u32) -> Option<u64> {
        if depth > MAX_DEPTH {
            return None;
        }
        let inst = self.func.def_inst(value)?;
        let args = self.func.args(inst);
        let arg = |n: usize| self.evaluate(*args.get(n)?, item, depth + 1);
        let [x, y, _] = self.size;
        match self.func.insts[inst].op {
            Op::Const(bits) => Some(bits),
            Op::GlobalAddr(_) => Some(0),
            Op::PtrAdd | Op::PtrAddZ => Some(arg(0)?.wrapping_add(arg(1)?) & 0xffff_ffff),
            Op::Pos(Pos::LocalId(0)) => Some((item % x).into()),
            Op::Pos(Pos::LocalId(1)) => Some((item / x % y).into()),
            Op::Pos(Pos::LocalId(_)) => Some((item / x / y).into()),
            op if op.is_pure() && !args.is_empty() => {
                evaluate(op, self.func.ty(args[0]), self.func.ty(value), arg)
            }
            _ => None,
        }
    }

    /// Returns whether a pointer is the same for all work-items in each iteration of the surrounding loops.
    fn is_same_for_all(&self, dom: &DomTree, value: Value, depth: u32) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let func = self.func;
        let Some(inst) = func.def_inst(value) else {
            // The value can be a loop counter.
            let block = func.block_of(value);
            let Some(which) = func.params(block).iter().position(|&param| param == value) else {
                return false;
            };
            let is_head =
                func.layout.iter().any(|&from| from_to(func, from, block) && dom.dominates(block, from));
            return is_head
                && func.layout.iter().filter(|&&from| from_to(func, from, block)).all(|&from| {
                    let back = dom.dominates(block, from);
                    incoming(func, from, block).all(|args| {
                        args.get(which).is_some_and(|&arg| match back {
                            true => self.steps(arg, value),
                            false => self.is_same_for_all(dom, arg, depth + 1),
                        })
                    })
                });
        };
        match func.insts[inst].op {
            Op::Const(_) | Op::GlobalAddr(_) | Op::Pos(Pos::GroupId(_)) => true,
            Op::Pos(_) | Op::Wave(_) => false,
            op if op.is_pure() => {
                let args = func.args(inst);
                !args.is_empty() && args.iter().all(|&arg| self.is_same_for_all(dom, arg, depth + 1))
            }
            _ => false,
        }
    }

    /// Returns whether `value` is computed from `from` by one operation with constants. A loop counter is
    /// computed from its previous value in this way.
    fn steps(&self, value: Value, from: Value) -> bool {
        value == from
            || self.func.def_inst(value).is_some_and(|inst| {
                let args = self.func.args(inst);
                matches!(self.func.insts[inst].op, Op::Bin(_) | Op::PtrAdd | Op::PtrAddZ)
                    && args.len() == 2
                    && args.contains(&from)
                    && args.iter().all(|&arg| arg == from || self.func.const_bits(arg).is_some())
            })
    }
}

fn from_to(func: &Function, from: Block, to: Block) -> bool {
    func.succs(from).any(|next| next == to)
}

/// Returns the lists of arguments that the edges from one block to another pass, one list for each edge.
fn incoming(func: &Function, from: Block, to: Block) -> impl Iterator<Item = &[Value]> {
    let last = func.terminator(from);
    func.succs(from)
        .enumerate()
        .filter(move |(_, next)| *next == to)
        .filter_map(move |(which, _)| last.map(|last| func.branch_args(last, which)))
}

/// Returns whether a work-item reads bytes that a work-item of another wave writes. Returns false if the
/// work-item itself writes some of the bytes that it reads.
fn is_written_elsewhere(written: &[Bytes], (from, to, by): Bytes) -> bool {
    let overlapping = written.iter().filter(|one| one.0 < to && from < one.1);
    let mut by_others = false;
    for &(.., writer) in overlapping {
        // A work-item may read what it has written itself.
        if writer == by {
            return false;
        }
        by_others |= writer / LANES != by / LANES;
    }
    by_others
}

/// Returns whether the byte ranges, which must be sorted, together cover a variable of `size` bytes.
fn covers(written: &[Bytes], size: u64) -> bool {
    let end = written.iter().try_fold(0, |end, one| (one.0 <= end).then(|| end.max(one.1)));
    end.is_some_and(|end| end >= size)
}
