//! Expands atomic floating-point operations that the processor has no instruction for into a loop around a
//! compare-and-swap, which all processors have.
//!
//! ```text
//! old = load          again: new = old op value; seen = cas(old, new); again with `seen` until seen == old
//! ```
//!
//! The compare-and-swap has the memory order of the original operation. Nothing needs to be ordered before it
//! succeeds, so the load and a failed compare-and-swap are relaxed. The comparison uses bits rather than
//! floating-point values, so that a NaN in memory does not keep the loop running. The loop terminates: in
//! every iteration one of the lanes that contend for the same address succeeds.

use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::{BinOp, CastOp, IntCc, Mem, Op, Order, RmwOp, Scope};
use crate::types::{Space, Type};
use cranelift_entity::EntityRef;

/// The atomic floating-point operations that the processor has instructions for; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Native(u32);

/// A kind of place for an atomic operation: the memory that it works on, and for device memory whether its
/// old value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// LDS.
    Shared,
    /// Device memory; the old value is used.
    Global,
    /// Device memory; the old value is not used.
    GlobalUnreturned,
}

impl Native {
    fn bit(place: Place, op: RmwOp, ty: Type) -> u32 {
        let operation = match op {
            RmwOp::FMin => 1,
            RmwOp::FMax => 2,
            RmwOp::PkFAdd => 3,
            _ => 0,
        };
        1 << ((place as u32 * 4 + operation) * 2 + u32::from(ty == Type::F64))
    }

    /// Notes that there is an instruction for the operation.
    pub fn insert(&mut self, place: Place, op: RmwOp, ty: Type) {
        self.0 |= Native::bit(place, op, ty);
    }

    /// Returns whether there is an instruction for the operation.
    pub fn contains(self, place: Place, op: RmwOp, ty: Type) -> bool {
        self.0 & Native::bit(place, op, ty) != 0
    }

    /// Returns whether an instruction can do the operation. The instructions for device memory work only on
    /// the processor's own memory. An operation with system scope may refer to other memory, so it cannot use
    /// them.
    fn does(self, op: RmwOp, ty: Type, mem: &Mem, used: bool) -> bool {
        let place = match mem.space {
            Space::Shared => Place::Shared,
            Space::Global if mem.scope == Scope::System => return false,
            Space::Global if used => Place::Global,
            Space::Global => Place::GlobalUnreturned,
            _ => return false,
        };
        self.contains(place, op, ty)
    }
}

/// Expands every atomic floating-point operation that `native` lacks. Returns whether there was one.
pub fn run(func: &mut Function, native: Native) -> bool {
    let is_one = |func: &Function, inst: Inst| matches!(func.insts[inst].op, Op::AtomicRmw { op, .. } if op.is_float());
    let has_one = |block: &Block| func.blocks[*block].insts().iter().any(|&inst| is_one(func, inst));
    if !func.layout.iter().any(has_one) {
        return false;
    }
    func.tidy_track();
    let used = used(func);
    let stays = |func: &Function, inst: Inst, op, mem: &Mem| {
        let result = func.insts[inst].first;
        native.does(op, func.ty(result), mem, used[result.index()])
    };
    let mut found = false;
    let mut insts = Vec::new();
    for block in std::mem::take(&mut func.layout) {
        func.layout.push(block);
        let mut at = block;
        func.take_insts(block, &mut insts);
        for &inst in &insts {
            match func.insts[inst].op {
                Op::AtomicRmw { op, mem } if op.is_float() && !stays(func, inst, op, &mem) => {
                    at = expand(func, at, inst, op, mem);
                    found = true;
                }
                _ => func.append(at, inst),
            }
        }
    }
    func.tidy_track();
    found
}

/// Returns, for each value, whether it is an argument of an instruction.
fn used(func: &Function) -> Vec<bool> {
    let mut used = vec![false; func.values.len()];
    let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
    insts.flat_map(|&inst| func.args(inst)).for_each(|value| used[value.index()] = true);
    used
}

/// Returns the floating-point operation that an atomic operation performs.
fn arithmetic(op: RmwOp) -> BinOp {
    match op {
        RmwOp::FMin => BinOp::FMin,
        RmwOp::FMax => BinOp::FMax,
        _ => BinOp::FAdd,
    }
}

/// Appends the expansion of `inst` to a block. Returns the block in which the code after `inst` continues.
/// `inst` itself becomes the last instruction of the expansion, so its result is still the same value.
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
    // When the loop ends, the value found in memory is the value that was expected.
    func.push(again, Op::Br { then: again, otherwise: rest, then_args: 1 }, &[failed, seen, seen], loc);

    let found = func.add_param(rest, bits);
    // Turns the instruction itself into the final cast.
    func.replace(inst, Op::Cast(CastOp::Bitcast), &[found]);
    func.append(rest, inst);
    rest
}

/// Returns the bits of `old op value`.
fn changed(func: &mut Function, block: Block, (old, value): (Value, Value), op: RmwOp, loc: SrcLoc) -> Value {
    if op == RmwOp::PkFAdd {
        return sum_of_halves(func, block, [old, value], loc);
    }
    let (ty, bits) = (func.ty(value), func.ty(old));
    let float = func.push1(block, Op::Cast(CastOp::Bitcast), &[old], ty, loc);
    let new = func.push1(block, Op::Bin(arithmetic(op)), &[float, value], ty, loc);
    func.push1(block, Op::Cast(CastOp::Bitcast), &[new], bits, loc)
}

/// Returns the sums of the low halves and the high halves, computed separately. Instruction selection
/// combines the two additions where the processor has a packed addition.
fn sum_of_halves(func: &mut Function, block: Block, words: [Value; 2], loc: SrcLoc) -> Value {
    let mut push = |op: Op, args: &[Value], ty: Type| func.push1(block, op, args, ty, loc);
    let sixteen = push(Op::Const(16), &[], Type::I32);
    let high = words.map(|word| push(Op::Bin(BinOp::LShr), &[word, sixteen], Type::I32));
    let [low, high] = [words, high].map(|words| {
        let [a, b] = words.map(|word| push(Op::Cast(CastOp::BitsHalf), &[word], Type::F16));
        let sum = push(Op::Bin(BinOp::FAdd), &[a, b], Type::F16);
        push(Op::Cast(CastOp::HalfBits), &[sum], Type::I32)
    });
    let high = push(Op::Bin(BinOp::Shl), &[high, sixteen], Type::I32);
    push(Op::Bin(BinOp::Or), &[low, high], Type::I32)
}
