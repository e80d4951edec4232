//! Atomic arithmetic on floats, written out as a loop around a compare-and-swap, which every processor has.
//!
//! ```text
//! old = load          again: new = old op value; seen = cas(old, new); again with `seen` until seen == old
//! ```
//!
//! The exchange has the order of the operation, and nothing is ordered before it succeeds: the load and an exchange that fails are
//! relaxed. They compare bits, so that a NaN in memory does not keep the loop going. It ends: of the lanes that contend for one
//! place one succeeds in every turn.

use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::{BinOp, CastOp, IntCc, Mem, Op, Order, RmwOp};
use crate::types::Type;

/// Replaces every such operation. Returns whether there was one.
pub fn run(func: &mut Function) -> bool {
    let is_one = |func: &Function, inst: Inst| matches!(func.insts[inst].op, Op::AtomicRmw { op, .. } if op.is_float());
    let has_one = |block: &Block| func.blocks[*block].insts.iter().any(|&inst| is_one(func, inst));
    if !func.layout.iter().any(has_one) {
        return false;
    }
    for block in std::mem::take(&mut func.layout) {
        func.layout.push(block);
        let mut at = block;
        for inst in std::mem::take(&mut func.blocks[block].insts) {
            match func.insts[inst].op {
                Op::AtomicRmw { op, mem } if op.is_float() => at = expand(func, at, inst, op, mem),
                _ => func.append(at, inst),
            }
        }
    }
    true
}

/// The operation on two floats.
fn arithmetic(op: RmwOp) -> BinOp {
    match op {
        RmwOp::FMin => BinOp::FMin,
        RmwOp::FMax => BinOp::FMax,
        _ => BinOp::FAdd,
    }
}

/// Writes `inst` out at the end of a block and returns the block that goes on behind it; its result keeps its name.
fn expand(func: &mut Function, block: Block, inst: Inst, op: RmwOp, mem: Mem) -> Block {
    let loc = func.insts[inst].loc;
    let [pointer, value] = [func.args(inst)[0], func.args(inst)[1]];
    let result = func.insts[inst].first;
    let bits = if func.ty(result) == Type::F64 { Type::I64 } else { Type::I32 };
    let [again, rest] = [(); 2].map(|()| func.add_block());

    let load = Op::Load { mem: Mem { order: Order::Relaxed, ..mem }, count: 1 };
    let first = func.push1(block, load, &[pointer], bits, loc);
    func.push(block, Op::Jump(again), &[first], loc);

    let old = func.add_param(again, bits);
    let new = changed(func, again, (old, value), op, loc);
    let cas = Op::AtomicCas { mem, fail: Order::Relaxed };
    let seen = func.push1(again, cas, &[pointer, old, new], bits, loc);
    let failed = func.push1(again, Op::Icmp(IntCc::Ne), &[seen, old], Type::Bool, loc);
    // What is found is what was expected once the loop ends.
    func.push(again, Op::Br { then: again, otherwise: rest, then_args: 1 }, &[failed, seen, seen], loc);

    let found = func.add_param(rest, bits);
    // The instruction itself becomes the last step.
    func.replace(inst, Op::Cast(CastOp::Bitcast), &[found]);
    func.append(rest, inst);
    rest
}

/// The bits of `old op value`.
fn changed(func: &mut Function, block: Block, (old, value): (Value, Value), op: RmwOp, loc: SrcLoc) -> Value {
    let (ty, bits) = (func.ty(value), func.ty(old));
    let float = func.push1(block, Op::Cast(CastOp::Bitcast), &[old], ty, loc);
    let new = func.push1(block, Op::Bin(arithmetic(op)), &[float, value], ty, loc);
    func.push1(block, Op::Cast(CastOp::Bitcast), &[new], bits, loc)
}
