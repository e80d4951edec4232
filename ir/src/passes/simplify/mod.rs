//! Algebraic simplification: finds a simpler value that equals the result of an operation.
//!
//! A rule examines an operation and the operations that compute its arguments. It returns a value that is
//! equal for every input, created with [`Rewriter::emit`]. Rules cannot loop, because each rule either
//! shortens the expression or moves a constant outwards, to where addresses and comparisons can absorb it.

mod address;
mod bits;
mod cast;
mod compare;
mod div;
mod float;
mod int;

pub(super) use address::address;
pub(super) use compare::decide;

use super::rewrite::{Def, Rewriter};
use crate::entity::{Inst, Value};
use crate::func::{Function, Values};
use crate::op::{BinOp, IntCc, Op, TernOp, UnOp};
use crate::semantics;
use crate::types::Type;

/// Returns a simpler value that equals the operation, or `None` if no rule applies. The arguments must have
/// been ordered by [`canonicalize`].
pub(super) fn simplify(r: &mut Rewriter<'_>, op: Op, args: &[Value], ty: Type) -> Option<Value> {
    if let Some(bits) = fold(r.func, op, args, ty) {
        return Some(r.konst(ty, bits));
    }
    match op {
        Op::Un(op) => unary(r, op, args[0], ty),
        Op::Bin(op) if ty.is_float() => float::binary(r, op, args[0], args[1], ty),
        Op::Bin(op) => match op {
            BinOp::And | BinOp::Or | BinOp::Xor => bits::binary(r, op, args[0], args[1], ty),
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => div::binary(r, op, args[0], args[1], ty),
            _ => int::binary(r, op, args[0], args[1], ty),
        },
        Op::Tern(op) => bits::ternary(r, op, args, ty),
        Op::Icmp(cc) => compare::icmp(r, cc, args[0], args[1]),
        Op::Select => compare::select(r, args[0], args[1], args[2], ty),
        Op::Cast(op) => cast::cast(r, op, args[0], ty),
        Op::PtrAdd => address::ptr_add(r, args[0], args[1], ty),
        Op::PtrAddZ => address::ptr_add_z(r, args[0], args[1], ty),
        _ => None,
    }
}

/// Returns the constant result of an operation on constants.
pub(super) fn fold(func: &Function, op: Op, args: &[Value], ty: Type) -> Option<u64> {
    let arg_ty = func.ty(*args.first()?);
    semantics::evaluate(op, arg_ty, ty, |n| func.const_bits(args[n]))
}

/// Moves constants to the right operand, and orders the arguments of commutative operations by where they are
/// defined. Returns whether it changed anything.
pub(super) fn canonicalize(func: &Function, def: &mut Def) -> bool {
    let [a, b, _] = def.args;
    let rank = |v: Value| (func.const_bits(v).is_some(), v);
    let swapped = match def.op {
        Op::Bin(op) if is_commutative(op) => rank(a) > rank(b),
        Op::Icmp(_) => rank(a) > rank(b),
        Op::Tern(TernOp::Fma) => rank(a) > rank(b),
        _ => false,
    };
    if swapped {
        def.args.swap(0, 1);
        if let Op::Icmp(cc) = def.op {
            def.op = Op::Icmp(swap_cc(cc));
        }
    }
    swapped
}

fn is_commutative(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Add
            | BinOp::Mul
            | BinOp::UMulHi
            | BinOp::SMulHi
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::UMin
            | BinOp::UMax
            | BinOp::SMin
            | BinOp::SMax
            | BinOp::FAdd
            | BinOp::FMul
            | BinOp::UMul24
            | BinOp::SMul24
    )
}

/// Returns the comparison that gives the same result with exchanged operands, such as `>` for `<`.
pub(super) fn swap_cc(cc: IntCc) -> IntCc {
    match cc {
        IntCc::Eq | IntCc::Ne => cc,
        IntCc::Ult => IntCc::Ugt,
        IntCc::Ule => IntCc::Uge,
        IntCc::Ugt => IntCc::Ult,
        IntCc::Uge => IntCc::Ule,
        IntCc::Slt => IntCc::Sgt,
        IntCc::Sle => IntCc::Sge,
        IntCc::Sgt => IntCc::Slt,
        IntCc::Sge => IntCc::Sle,
    }
}

/// Returns the negated comparison, such as `>=` for `<`.
pub(super) fn invert_cc(cc: IntCc) -> IntCc {
    match cc {
        IntCc::Eq => IntCc::Ne,
        IntCc::Ne => IntCc::Eq,
        IntCc::Ult => IntCc::Uge,
        IntCc::Ule => IntCc::Ugt,
        IntCc::Ugt => IntCc::Ule,
        IntCc::Uge => IntCc::Ult,
        IntCc::Slt => IntCc::Sge,
        IntCc::Sle => IntCc::Sgt,
        IntCc::Sgt => IntCc::Sle,
        IntCc::Sge => IntCc::Slt,
    }
}

fn unary(r: &mut Rewriter<'_>, op: UnOp, a: Value, ty: Type) -> Option<Value> {
    match op {
        UnOp::Not => {
            if let Some(x) = r.is_un(a, UnOp::Not) {
                return Some(x);
            }
            if ty == Type::Bool { compare::not(r, a) } else { None }
        }
        UnOp::Neg => {
            if let Some(x) = r.is_un(a, UnOp::Neg) {
                return Some(x);
            }
            if let Some((x, y)) = r.is_bin(a, BinOp::Sub) {
                return Some(r.bin(BinOp::Sub, y, x));
            }
            None
        }
        UnOp::FNeg => r.is_un(a, UnOp::FNeg),
        UnOp::FAbs => {
            let x = r.is_un(a, UnOp::FNeg).or(r.is_un(a, UnOp::FAbs))?;
            Some(r.un(UnOp::FAbs, x))
        }
        UnOp::ReverseBits => r.is_un(a, UnOp::ReverseBits),
        UnOp::FFloor | UnOp::FCeil | UnOp::FTrunc | UnOp::FRound => {
            // Rounding a value that is already an integer changes nothing.
            let rounded = [UnOp::FFloor, UnOp::FCeil, UnOp::FTrunc, UnOp::FRound];
            rounded.iter().any(|&op| r.is_un(a, op).is_some()).then_some(a)
        }
        _ => None,
    }
}

/// Simplifies a terminator. A branch or switch on a constant becomes a jump, and so does a branch with two
/// equal edges. In a branch on a negated condition, the two targets are exchanged.
pub(super) fn branch(func: &mut Function, inst: Inst) {
    if let Op::Switch(switch) = func.insts[inst].op
        && let Some(value) = func.const_bits(func.args(inst)[0])
    {
        let edge = func.switches[switch].edge_of(value);
        let args = func.branch_args(inst, edge).to_vec();
        if let Some(to) = func.branch_target(inst, edge) {
            func.replace(inst, Op::Jump(to), &args);
        }
        return;
    }
    let Op::Br { then, otherwise, then_args } = func.insts[inst].op else { return };
    let cond = func.args(inst)[0];
    let then_args_end = 1 + usize::from(then_args);
    let args = func.args(inst);
    let same = then == otherwise && args[1..then_args_end] == args[then_args_end..];
    if let Some(way) = func.const_bits(cond).or(same.then_some(1)) {
        let taken = usize::from(way == 0);
        let args = Values::from_slice(func.branch_args(inst, taken));
        func.replace(inst, Op::Jump(if way == 0 { otherwise } else { then }), &args);
        return;
    }
    if let Some(def) = func.def_inst(cond)
        && func.insts[def].op == Op::Un(UnOp::Not)
    {
        let mut args = Values::from_slice(&[func.args(def)[0]]);
        args.extend_from_slice(func.branch_args(inst, 1));
        args.extend_from_slice(func.branch_args(inst, 0));
        let then_args = func.branch_args(inst, 1).len() as u16;
        func.replace(inst, Op::Br { then: otherwise, otherwise: then, then_args }, &args);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, optimized, store_of};

    /// Returns the operations that are left of a body that computes `v9`, without the load and store around
    /// it.
    fn left(body: &str) -> Vec<String> {
        let mut ops = ops(&optimized(&store_of(body), 1));
        ops.retain(|op| op != "load" && op != "store");
        ops
    }

    #[test]
    fn rotates_are_funnel_shifts() {
        let body = "v4 = const.i32 7\nv5 = const.i32 25\nv6 = lshr.i32 v1, v4\nv7 = shl.i32 v1, v5\nv9 = or.i32 v6, v7";
        assert_eq!(left(body), ["fshr"]);
        let body = "v4 = const.i32 32\nv5 = sub.i32 v4, v1\nv6 = lshr.i32 v0, v1\nv7 = shl.i32 v0, v5\nv9 = or.i32 v6, v7";
        assert_eq!(left(body), ["fshr"]);
    }

    #[test]
    fn choice_and_majority_are_bit_selects() {
        let ch = "v4 = lane_id.i32\nv5 = and.i32 v0, v1\nv6 = not.i32 v0\nv7 = and.i32 v6, v4\nv9 = xor.i32 v5, v7";
        assert_eq!(left(ch), ["lane_id", "bfi"]);
        let maj = "v4 = lane_id.i32\nv5 = and.i32 v0, v1\nv6 = and.i32 v0, v4\nv7 = and.i32 v1, v4\n\
                   v8 = xor.i32 v5, v6\nv9 = xor.i32 v8, v7";
        assert_eq!(left(maj), ["lane_id", "xor", "bfi"]);
        // With `^` around an `|` the expression is not a majority: at x = y = z = 1 its result is 0.
        let other = "v4 = lane_id.i32\nv5 = or.i32 v1, v4\nv6 = and.i32 v0, v5\nv7 = and.i32 v1, v4\nv9 = xor.i32 v6, v7";
        assert!(!left(other).contains(&"bfi".to_string()));
    }

    #[test]
    fn division_by_constants_has_no_division() {
        for d in [3, 5, 7, 10, 641, 0x7fff_ffff, -1, -7] {
            for op in ["udiv", "sdiv", "urem", "srem"] {
                let ops = left(&format!("v4 = const.i32 {d}\nv9 = {op}.i32 v1, v4"));
                assert!(!ops.contains(&op.to_string()), "{op} {d}: {ops:?}");
            }
        }
    }

    #[test]
    fn small_values_need_no_sign_cases() {
        // A work-item's position is below 1024, so signed division is unsigned and needs no correction.
        assert_eq!(left("v4 = const.i32 16\nv9 = srem.i32 v0, v4"), ["and"]);
        assert_eq!(left("v4 = const.i32 10\nv9 = sdiv.i32 v0, v4"), ["umulhi"]);
        assert_eq!(left("v4 = const.i32 1024\nv9 = urem.i32 v0, v4"), [""; 0]);
    }

    #[test]
    fn constants_gather() {
        let body = "v4 = const.i32 5\nv5 = add.i32 v0, v4\nv6 = add.i32 v5, v1\nv7 = const.i32 -5\nv9 = add.i32 v6, v7";
        assert_eq!(left(body), ["add"]);
        let field = "v4 = const.i32 8\nv5 = lshr.i32 v1, v4\nv6 = const.i32 255\nv9 = and.i32 v5, v6";
        assert_eq!(left(field), ["ubfe"]);
    }
}
