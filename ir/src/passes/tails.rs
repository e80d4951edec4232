//! Tail merging: blocks that do the same with different values and then go on to the same place become one block,
//! which takes the values in which they differ as parameters.
//!
//! The typical case is a row of early exits, `if (a == 1) { out[i] = x; return; } … if (a == 2) { out[j] = y; return; }`.
//! Lanes that took different exits then run the common block together, and a loop with a hundred such exits has one
//! place that lanes leave it for.

use crate::analysis::{Cfg, LoopForest};
use crate::constraints::SHARE;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, ValueDef, Values};
use crate::op::{BinOp, Op};
use crate::types::Type;
use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Fewer blocks are left as they are: two are what if-conversion is for.
const MIN_BLOCKS: usize = 3;
/// Instructions of a block that is looked at; in long blocks the branch matters little.
const MAX_INSTS: usize = 24;
/// Most values in which merged blocks may differ.
const MAX_PARAMS: usize = 6;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The first group of each hash of what blocks do.
    by_hash: FxHashMap<u64, u32>,
    groups: Vec<Group>,
    /// The block after each in its group.
    next: SecondaryMap<Block, Option<Block>>,
    group: Vec<Block>,
    operands: [Vec<Operand>; 2],
}

/// Blocks that are alike.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Block,
    last: Block,
    len: usize,
    /// The next group of the same hash.
    other: Option<u32>,
}

/// What an instruction takes an argument from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operand {
    /// Result of an instruction of the block.
    Local(u32, u16),
    /// Parameter of the block.
    Param(u16, Type),
    /// A value that must be the same in all blocks.
    Same(Value),
    /// A value from outside, or a parameter, that may differ.
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
        func.settle();
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

/// Whether lanes from elsewhere may take part in what the block does.
fn mergeable(func: &Function, cfg: &Cfg, block: Block) -> bool {
    // A branch has not two edges to one block.
    let sole_side = |&pred: &Block| cfg.succs(pred).filter(|&to| to != block).all(|to| !ends(func, cfg, to));
    if !cfg.preds(block).iter().all(sole_side) {
        return false;
    }
    let last = func.terminator(block);
    ends(func, cfg, block)
        && !cfg.is_loop_header(block)
        && func.blocks[block].insts.len() <= MAX_INSTS
        && func.blocks[block].insts.iter().all(|&inst| match func.insts[inst].op {
            Op::Load { mem, .. } | Op::Store { mem, .. } => SHARE.takes(&mem),
            op => op.is_pure() || Some(inst) == last,
        })
}

/// Whether nothing but the end or one block follows, and not as the next turn of a loop.
fn ends(func: &Function, cfg: &Cfg, block: Block) -> bool {
    func.terminator(block).is_some_and(|last| match func.insts[last].op {
        Op::Jump(to) => !cfg.is_loop_header(to),
        Op::Ret => true,
        _ => false,
    })
}

/// Puts the block into the group of those like it.
#[inline(never)]
fn sort_in(func: &Function, loops: &LoopForest, block: Block, s: &mut Scratch) {
    let mut hasher = FxHasher::default();
    let [own, other] = &mut s.operands;
    operands(func, block, own);
    own.hash(&mut hasher);
    loops.innermost(block).hash(&mut hasher);
    for &inst in &func.blocks[block].insts {
        func.insts[inst].op.hash(&mut hasher);
    }
    let hash = hasher.finish();
    let own_number = s.groups.len() as u32;
    let mut number = *s.by_hash.entry(hash).or_insert(own_number);
    while let Some(group) = s.groups.get_mut(number as usize) {
        operands(func, group.first, other);
        if own == other && like(func, loops, block, group.first) {
            s.next[group.last] = Some(block);
            (group.last, group.len) = (block, group.len + 1);
            return;
        }
        number = *group.other.get_or_insert(own_number);
    }
    s.groups.push(Group { first: block, last: block, len: 1, other: None });
}

fn like(func: &Function, loops: &LoopForest, a: Block, b: Block) -> bool {
    let (x, y) = (&func.blocks[a].insts, &func.blocks[b].insts);
    loops.innermost(a) == loops.innermost(b)
        && x.len() == y.len()
        && x.iter().zip(y).all(|(&i, &j)| {
            let result = |inst: Inst| func.results_of(inst).next().map(|v| func.ty(v));
            func.insts[i].op == func.insts[j].op && result(i) == result(j)
        })
}

/// The arguments of the block's instructions in order.
fn operands(func: &Function, block: Block, list: &mut Vec<Operand>) {
    list.clear();
    let insts = &func.blocks[block].insts;
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

/// Whether argument `n` of the operation costs no more as a variable than as a constant.
fn may_differ(op: Op, n: usize) -> bool {
    match op {
        Op::Bin(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or | BinOp::Xor) => true,
        Op::Bin(BinOp::FAdd | BinOp::FSub | BinOp::FMul) | Op::Cast(_) | Op::Select | Op::Jump(_) => true,
        Op::PtrAdd | Op::PtrAddZ => n == 1,
        Op::Store { .. } => n > 0,
        _ => false,
    }
}

/// An argument in which blocks of a group differ.
struct Column {
    /// Which argument of which instruction.
    place: (usize, usize),
    /// Its value in each block.
    values: Vec<Value>,
}

fn columns(func: &Function, group: &[Block]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (at, &inst) in func.blocks[group[0]].insts.iter().enumerate() {
        let argument = |block: Block, n: usize| func.args(func.blocks[block].insts[at])[n];
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

/// Makes the blocks of a group one, if that pays.
#[inline(never)]
fn merge(func: &mut Function, cfg: &Cfg, group: &[Block]) -> bool {
    let saved: u32 = func.blocks[group[0]].insts.iter().map(|&inst| price(func, inst)).sum();
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
    // What all take as a parameter now costs no more than it does.
    let passed =
        |values: &[Value]| group.iter().zip(values).all(|(&block, &v)| own_param(func, block, v).is_some());
    let cost = types.iter().zip(&distinct).map(|(ty, values)| if passed(values) { 0 } else { ty.dwords() });
    if saved <= cost.sum() {
        return false;
    }
    // Statements and variables of several places are none.
    if let Some(track) = &mut func.track {
        track.records.retain(|record| record.block != group[0]);
    }
    func.blocks[group[0]].params.clear(&mut func.pool);
    let params: Vec<Value> = types.into_iter().map(|ty| func.add_param(group[0], ty)).collect();
    for Column { place: (at, n), values } in &columns {
        let inst = func.blocks[group[0]].insts[*at];
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

/// The number of the value among the block's parameters.
fn own_param(func: &Function, block: Block, value: Value) -> Option<usize> {
    match func.values[value].def {
        ValueDef::Param(home, index) if home == block => Some(usize::from(index)),
        _ => None,
    }
}

/// Sends the edges to `from` to `to`, where they pass `values`; parameters of `from` are what they passed before.
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

/// Instructions that running the block once less saves.
fn price(func: &Function, inst: Inst) -> u32 {
    match func.insts[inst].op {
        Op::Const(_) | Op::Jump(_) | Op::Ret | Op::Cast(_) | Op::Pos(_) => 0,
        _ => 1,
    }
}
