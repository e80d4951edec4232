//! Tail merging. Blocks are merged into one block if they perform the same operations, perhaps on different
//! values, and then continue at the same block. The merged block receives the values that differ as
//! parameters.
//!
//! The typical case is a sequence of early exits, `if (a == 1) { out[i] = x; return; } … if (a == 2) { out[j]
//! = y; return; }`. Lanes that took different exits then execute the common block together, and a loop with a
//! hundred such exits has a single exit block.

use crate::analysis::{Cfg, LoopForest};
use crate::constraints::SHARE;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, ValueDef, Values};
use crate::op::{BinOp, Op};
use crate::types::Type;
use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Minimum number of blocks to merge. Two blocks are left to if-conversion.
const MIN_BLOCKS: usize = 3;
/// Maximum number of instructions of a block that is considered; in a long block the cost of the branch
/// matters little.
const MAX_INSTS: usize = 24;
/// Maximum number of values in which merged blocks may differ.
const MAX_PARAMS: usize = 6;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Hash of a block's operations -> index of the first group of blocks with this hash.
    by_hash: FxHashMap<u64, u32>,
    groups: Vec<Group>,
    /// For each block, the next block in its group.
    next: SecondaryMap<Block, Option<Block>>,
    group: Vec<Block>,
    operands: [Vec<Operand>; 2],
}

/// Blocks that perform the same operations.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Block,
    last: Block,
    len: usize,
    /// The next group with the same hash.
    other: Option<u32>,
}

/// Source of an instruction's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operand {
    /// Result of an instruction in the block.
    Local(u32, u16),
    /// Parameter of the block.
    Param(u16, Type),
    /// A value that must be the same in all blocks.
    Same(Value),
    /// A value that is a parameter of the block or is defined outside of it. It may differ between the blocks
    /// that are merged.
    Outside(Type),
}

/// Runs the pass; `cfg` and `loops` are stale afterwards if the result is true.
pub fn run(func: &mut Function, cfg: &Cfg, loops: &LoopForest, s: &mut Scratch) -> bool {
    s.by_hash.clear();
    s.groups.clear();
    s.next.clear();
    for &block in &cfg.rpo()[1..] {
        if mergeable(func, cfg, block) {
            sort_in(func, loops, block, s);
        }
    }
    if !s.groups.is_empty() {
        func.tidy_track();
    }
    let mut changed = false;
    for group in s.groups.iter().filter(|group| group.len >= MIN_BLOCKS) {
        s.group.clear();
        s.group.extend(std::iter::successors(Some(group.first), |&block| s.next[block]));
        changed |= merge(func, cfg, &s.group);
    }
    if changed {
        // Blocks that were merged into others have no edges to them any more.
        let entry = func.entry();
        let mut used = vec![false; func.blocks.len()];
        for &block in &func.layout {
            func.succs(block).for_each(|to| used[to.index()] = true);
        }
        func.layout.retain(|&b| b == entry || used[b.index()]);
    }
    changed
}

/// Returns whether the block may be merged with others. Lanes that came from different branches then execute
/// it at the same time, which must be allowed.
fn mergeable(func: &Function, cfg: &Cfg, block: Block) -> bool {
    // A branch must not get two edges to the same block.
    let sole_side = |&pred: &Block| cfg.succs(pred).filter(|&to| to != block).all(|to| !ends(func, cfg, to));
    if !cfg.preds(block).iter().all(sole_side) {
        return false;
    }
    let last = func.terminator(block);
    ends(func, cfg, block)
        && !cfg.is_loop_header(block)
        && func.blocks[block].insts().len() <= MAX_INSTS
        && func.blocks[block].insts().iter().all(|&inst| match func.insts[inst].op {
            Op::Load { mem, .. } | Op::Store { mem, .. } => SHARE.takes(&mem),
            op => op.is_pure() || Some(inst) == last,
        })
}

/// Returns whether the block ends with a return, or with a jump to a block that is not a loop header.
fn ends(func: &Function, cfg: &Cfg, block: Block) -> bool {
    func.terminator(block).is_some_and(|last| match func.insts[last].op {
        Op::Jump(to) => !cfg.is_loop_header(to),
        Op::Ret => true,
        _ => false,
    })
}

/// Adds the block to the group of equal blocks, or starts a new group.
#[inline(never)]
fn sort_in(func: &Function, loops: &LoopForest, block: Block, s: &mut Scratch) {
    let mut hasher = FxHasher::default();
    let [own, other] = &mut s.operands;
    operands(func, block, own);
    own.hash(&mut hasher);
    loops.innermost(block).hash(&mut hasher);
    for &inst in func.blocks[block].insts() {
        func.insts[inst].op.hash(&mut hasher);
    }
    let hash = hasher.finish();
    let own_number = s.groups.len() as u32;
    let mut number = *s.by_hash.entry(hash).or_insert(own_number);
    while let Some(group) = s.groups.get_mut(number as usize) {
        operands(func, group.first, other);
        if own == other && are_mergeable(func, loops, block, group.first) {
            s.next[group.last] = Some(block);
            (group.last, group.len) = (block, group.len + 1);
            return;
        }
        number = *group.other.get_or_insert(own_number);
    }
    s.groups.push(Group { first: block, last: block, len: 1, other: None });
}

fn are_mergeable(func: &Function, loops: &LoopForest, a: Block, b: Block) -> bool {
    let (x, y) = (func.blocks[a].insts(), func.blocks[b].insts());
    loops.innermost(a) == loops.innermost(b)
        && x.len() == y.len()
        && x.iter().zip(y).all(|(&i, &j)| {
            let result = |inst: Inst| func.results_of(inst).next().map(|v| func.ty(v));
            func.insts[i].op == func.insts[j].op && result(i) == result(j)
        })
}

/// Lists the arguments of the block's instructions in order.
fn operands(func: &Function, block: Block, list: &mut Vec<Operand>) {
    list.clear();
    let insts = func.blocks[block].insts();
    let local = |inst: Inst| insts.iter().position(|&i| i == inst).unwrap_or(insts.len()) as u32;
    for &inst in insts {
        for (n, &arg) in func.args(inst).iter().enumerate() {
            list.push(match func.values[arg].def {
                ValueDef::Result(def, index) if func.insts[def].block == block => {
                    Operand::Local(local(def), index)
                }
                ValueDef::Param(home, index) if home == block && !may_differ(func.insts[inst].op, n) => {
                    Operand::Param(index, func.ty(arg))
                }
                _ if may_differ(func.insts[inst].op, n) => Operand::Outside(func.ty(arg)),
                _ => Operand::Same(arg),
            });
        }
    }
}

/// Returns whether argument `n` of the operation may become a variable where it is a different constant in
/// each of the merged blocks. This must not make the operation more expensive.
fn may_differ(op: Op, n: usize) -> bool {
    match op {
        Op::Bin(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or | BinOp::Xor) => true,
        Op::Bin(BinOp::FAdd | BinOp::FSub | BinOp::FMul) | Op::Cast(_) | Op::Select | Op::Jump(_) => true,
        Op::PtrAdd | Op::PtrAddZ => n == 1,
        Op::Store { .. } => n > 0,
        _ => false,
    }
}

/// An argument in which the blocks of a group differ.
struct Column {
    /// Index of the instruction in the block, and of the argument.
    place: (usize, usize),
    /// The argument in each block.
    values: Vec<Value>,
}

fn columns(func: &Function, group: &[Block]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (at, &inst) in func.blocks[group[0]].insts().iter().enumerate() {
        let argument = |block: Block, n: usize| func.args(func.blocks[block].insts()[at])[n];
        for (n, &first) in func.args(inst).iter().enumerate() {
            let local = func.def_inst(first).is_some_and(|def| func.insts[def].block == group[0]);
            if !local && group.iter().any(|&block| argument(block, n) != first) {
                let values = group.iter().map(|&block| argument(block, n)).collect();
                columns.push(Column { place: (at, n), values });
            }
        }
    }
    columns
}

/// Merges the blocks of a group if that saves instructions. Returns whether it did.
#[inline(never)]
fn merge(func: &mut Function, cfg: &Cfg, group: &[Block]) -> bool {
    let saved: u32 = func.blocks[group[0]].insts().iter().map(|&inst| price(func, inst)).sum();
    let columns = columns(func, group);
    let mut distinct: Vec<&[Value]> = Vec::new();
    for column in &columns {
        if !distinct.contains(&&column.values[..]) {
            distinct.push(&column.values);
        }
        if distinct.len() > MAX_PARAMS {
            return false;
        }
    }
    let types: Vec<Type> = distinct.iter().map(|values| func.ty(values[0])).collect();
    // If the values are parameters of all merged blocks already, the merged block needs no additional
    // parameter for them.
    let passed =
        |values: &[Value]| group.iter().zip(values).all(|(&block, &v)| own_param(func, block, v).is_some());
    let cost = types.iter().zip(&distinct).map(|(ty, values)| if passed(values) { 0 } else { ty.dwords() });
    if saved <= cost.sum() {
        return false;
    }
    // The merged block belongs to several source locations, so statements and variables cannot be shown
    // there.
    if let Some(track) = &mut func.track {
        track.forget(func.blocks[group[0]].insts());
    }
    func.blocks[group[0]].params.clear(&mut func.pool);
    let params: Vec<Value> = types.into_iter().map(|ty| func.add_param(group[0], ty)).collect();
    for Column { place: (at, n), values } in &columns {
        let inst = func.blocks[group[0]].insts()[*at];
        if let Some(same) = distinct.iter().position(|known| known == values) {
            func.set_arg(inst, *n, params[same]);
        }
    }
    for (member, &block) in group.iter().enumerate() {
        let values: Values = distinct.iter().map(|values| values[member]).collect();
        redirect(func, cfg, block, group[0], &values);
    }
    true
}

/// Returns the position of the value among the block's parameters; `None` if it is not a parameter of the
/// block.
fn own_param(func: &Function, block: Block, value: Value) -> Option<usize> {
    match func.values[value].def {
        ValueDef::Param(home, index) if home == block => Some(usize::from(index)),
        _ => None,
    }
}

/// Redirects the edges that lead to `from`: they then lead to `to` and pass `values`. If one of the values is
/// a parameter of `from`, an edge passes in its place the argument that it passed for the parameter before.
fn redirect(func: &mut Function, cfg: &Cfg, from: Block, to: Block, values: &[Value]) {
    let preds = cfg.preds(from);
    for (n, &pred) in preds.iter().enumerate() {
        let Some(last) = func.terminator(pred).filter(|_| !preds[..n].contains(&pred)) else { continue };
        for which in 0..func.branch_count(last) {
            if func.branch_target(last, which) == Some(from) {
                let old = func.branch_args(last, which).to_vec();
                func.clear_branch_args(last, which);
                for &value in values {
                    let value = own_param(func, from, value).map_or(value, |index| old[index]);
                    func.push_branch_arg(last, which, value);
                }
                func.set_target(last, which, to);
            }
        }
    }
}

/// Returns how many machine instructions are saved by merging two copies of the instruction.
fn price(func: &Function, inst: Inst) -> u32 {
    match func.insts[inst].op {
        Op::Const(_) | Op::Jump(_) | Op::Ret | Op::Cast(_) | Op::Pos(_) => 0,
        _ => 1,
    }
}
