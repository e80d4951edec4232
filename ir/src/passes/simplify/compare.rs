//! Comparisons, logical not, and selection.

use super::super::interval::{Interval, bound, type_max};
use super::super::rewrite::{Def, Rewriter};
use super::invert_cc;
use crate::entity::Value;
use crate::op::{BinOp, CastOp, FloatCc, IntCc, Op, UnOp};
use crate::semantics::eval_icmp;
use crate::types::Type;

/// Simplifies the negation of a `bool` by inverting the comparison that computes it.
pub(super) fn not(r: &mut Rewriter<'_>, a: Value) -> Option<Value> {
    if !r.single_use(a) {
        return None;
    }
    let Def { op, args: [x, y, _] } = r.def(a)?;
    match op {
        Op::Icmp(cc) => Some(r.icmp(invert_cc(cc), x, y)),
        Op::Fcmp(cc) => Some(r.emit(Op::Fcmp(invert_float(cc)), &[x, y], Type::Bool)),
        Op::Bin(op @ (BinOp::And | BinOp::Or)) => {
            // De Morgan's law pays off only if negating the two operands needs no additional instruction.
            let invertible =
                |v| matches!(r.def(v), Some(Def { op: Op::Icmp(_) | Op::Fcmp(_) | Op::Un(UnOp::Not), .. }));
            if !(invertible(x) && invertible(y) && r.single_use(x) && r.single_use(y)) {
                return None;
            }
            let (p, q) = (r.un(UnOp::Not, x), r.un(UnOp::Not, y));
            Some(r.bin(if op == BinOp::And { BinOp::Or } else { BinOp::And }, p, q))
        }
        _ => None,
    }
}

fn invert_float(cc: FloatCc) -> FloatCc {
    match cc {
        FloatCc::Oeq => FloatCc::Une,
        FloatCc::One => FloatCc::Ueq,
        FloatCc::Olt => FloatCc::Uge,
        FloatCc::Ole => FloatCc::Ugt,
        FloatCc::Ogt => FloatCc::Ule,
        FloatCc::Oge => FloatCc::Ult,
        FloatCc::Ord => FloatCc::Uno,
        FloatCc::Ueq => FloatCc::One,
        FloatCc::Une => FloatCc::Oeq,
        FloatCc::Ult => FloatCc::Oge,
        FloatCc::Ule => FloatCc::Ogt,
        FloatCc::Ugt => FloatCc::Ole,
        FloatCc::Uge => FloatCc::Olt,
        FloatCc::Uno => FloatCc::Ord,
    }
}

/// Returns the result of a comparison of two values of which the intervals are known. `None` if the
/// comparison can be true for some values in the intervals and false for others.
pub(in crate::passes) fn decide(cc: IntCc, ty: Type, a: Interval, b: Interval) -> Option<bool> {
    let never_equal = a.hi < b.lo || b.hi < a.lo;
    let both_positive = a.non_negative(ty) && b.non_negative(ty);
    let cc = match cc {
        IntCc::Slt if both_positive => IntCc::Ult,
        IntCc::Sle if both_positive => IntCc::Ule,
        IntCc::Sgt if both_positive => IntCc::Ugt,
        IntCc::Sge if both_positive => IntCc::Uge,
        cc => cc,
    };
    match cc {
        IntCc::Eq if never_equal => Some(false),
        IntCc::Ne if never_equal => Some(true),
        IntCc::Ult | IntCc::Uge if a.hi < b.lo => Some(cc == IntCc::Ult),
        IntCc::Ult | IntCc::Uge if a.lo >= b.hi => Some(cc == IntCc::Uge),
        IntCc::Ule | IntCc::Ugt if a.hi <= b.lo => Some(cc == IntCc::Ule),
        IntCc::Ule | IntCc::Ugt if a.lo > b.hi => Some(cc == IntCc::Ugt),
        _ => None,
    }
}

/// Simplifies an integer comparison. If an argument is a constant, it must be on the right.
pub(super) fn icmp(r: &mut Rewriter<'_>, cc: IntCc, a: Value, b: Value) -> Option<Value> {
    let ty = r.func.ty(a);
    if a == b {
        let holds = matches!(cc, IntCc::Eq | IntCc::Ule | IntCc::Uge | IntCc::Sle | IntCc::Sge);
        return Some(r.konst(Type::Bool, holds.into()));
    }
    if ty == Type::Bool && matches!(cc, IntCc::Eq | IntCc::Ne) {
        let differ = r.bin(BinOp::Xor, a, b);
        return Some(if cc == IntCc::Ne { differ } else { r.un(UnOp::Not, differ) });
    }
    if !ty.is_int() {
        return None;
    }
    if let Some(holds) = decide(cc, ty, bound(r.func, a, 4), bound(r.func, b, 4)) {
        return Some(r.konst(Type::Bool, holds.into()));
    }
    if let Some(k) = r.k(b) {
        return with_constant(r, cc, a, k, ty);
    }
    extended(r, cc, a, b)
}

/// If both operands are extended from 32 bits, compares the 32-bit values instead.
fn extended(r: &mut Rewriter<'_>, cc: IntCc, a: Value, b: Value) -> Option<Value> {
    if let (Some(x), Some(y)) = (r.is_cast(a, CastOp::Zext), r.is_cast(b, CastOp::Zext))
        && r.func.ty(x) == Type::I32
        && r.func.ty(y) == Type::I32
    {
        return Some(r.icmp(to_unsigned(cc), x, y));
    }
    if let (Some(x), Some(y)) = (r.is_cast(a, CastOp::Sext), r.is_cast(b, CastOp::Sext))
        && r.func.ty(x) == Type::I32
        && r.func.ty(y) == Type::I32
    {
        return Some(r.icmp(cc, x, y));
    }
    None
}

fn to_unsigned(cc: IntCc) -> IntCc {
    match cc {
        IntCc::Slt => IntCc::Ult,
        IntCc::Sle => IntCc::Ule,
        IntCc::Sgt => IntCc::Ugt,
        IntCc::Sge => IntCc::Uge,
        cc => cc,
    }
}

fn with_constant(r: &mut Rewriter<'_>, cc: IntCc, a: Value, k: u64, ty: Type) -> Option<Value> {
    let max = type_max(ty);
    let smallest_signed = (max >> 1) + 1;
    // The canonical form of a comparison is strict (`<` or `>`). A comparison that only one value satisfies,
    // or that only one value does not satisfy, becomes an equality.
    let strict = match cc {
        IntCc::Ule if k != max => Some((IntCc::Ult, k + 1)),
        IntCc::Uge if k != 0 => Some((IntCc::Ugt, k - 1)),
        IntCc::Sle if k != max >> 1 => Some((IntCc::Slt, k.wrapping_add(1) & max)),
        IntCc::Sge if k != smallest_signed => Some((IntCc::Sgt, k.wrapping_sub(1) & max)),
        IntCc::Ult if k == 1 => Some((IntCc::Eq, 0)),
        IntCc::Ugt if k == 0 => Some((IntCc::Ne, 0)),
        IntCc::Ult if k == max => Some((IntCc::Ne, max)),
        IntCc::Ugt if k == max - 1 => Some((IntCc::Eq, max)),
        _ => None,
    };
    if let Some((cc, k)) = strict {
        let k = r.konst(ty, k);
        return Some(r.icmp(cc, a, k));
    }
    let Def { op, args: [x, y, z] } = r.def(a)?;
    let equality = matches!(cc, IntCc::Eq | IntCc::Ne);
    match op {
        Op::Bin(BinOp::Add) if equality => {
            let rest = k.wrapping_sub(r.k(y)?);
            let rest = r.konst(ty, rest);
            Some(r.icmp(cc, x, rest))
        }
        Op::Bin(BinOp::Xor) if equality => {
            let rest = match r.k(y) {
                Some(inner) => r.konst(ty, inner ^ k),
                None if k == 0 => y,
                None => return None,
            };
            Some(r.icmp(cc, x, rest))
        }
        Op::Bin(BinOp::Sub) if equality && k == 0 => Some(r.icmp(cc, x, y)),
        Op::Un(UnOp::Neg) if equality && k == 0 => {
            let zero = r.konst(ty, 0);
            Some(r.icmp(cc, x, zero))
        }
        Op::Cast(op @ (CastOp::Zext | CastOp::Sext)) => narrow_constant(r, cc, x, op, k, ty),
        Op::Select => {
            // A selection between two constants is compared with a constant, so the condition of the
            // selection decides the comparison.
            let (p, q) = (r.k(y)?, r.k(z)?);
            match (eval_icmp(cc, ty, p, k), eval_icmp(cc, ty, q, k)) {
                (true, false) => Some(x),
                (false, true) => Some(r.un(UnOp::Not, x)),
                (both, _) => Some(r.konst(Type::Bool, both.into())),
            }
        }
        _ => None,
    }
}

/// Simplifies `extend(x) cc k`.
fn narrow_constant(r: &mut Rewriter<'_>, cc: IntCc, x: Value, op: CastOp, k: u64, ty: Type) -> Option<Value> {
    if r.func.ty(x) == Type::Bool {
        let one = if op == CastOp::Zext { 1 } else { type_max(ty) };
        return match (eval_icmp(cc, ty, one, k), eval_icmp(cc, ty, 0, k)) {
            (true, false) => Some(x),
            (false, true) => Some(r.un(UnOp::Not, x)),
            (both, _) => Some(r.konst(Type::Bool, both.into())),
        };
    }
    let from = r.func.ty(x);
    if !from.is_int() {
        return None;
    }
    let narrow = k & type_max(from);
    let back = crate::semantics::eval_cast(op, from, ty, narrow)?;
    if back != k {
        return None; // k is outside of the range of x; `decide` has already handled what is known
    }
    let cc = if op == CastOp::Zext { to_unsigned(cc) } else { cc };
    let narrow = r.konst(from, narrow);
    Some(r.icmp(cc, x, narrow))
}

/// Simplifies `cond ? a : b`.
pub(super) fn select(r: &mut Rewriter<'_>, cond: Value, a: Value, b: Value, ty: Type) -> Option<Value> {
    if a == b {
        return Some(a);
    }
    if let Some(k) = r.k(cond) {
        return Some(if k != 0 { a } else { b });
    }
    if let Some(inverse) = r.is_un(cond, UnOp::Not) {
        return Some(r.emit(Op::Select, &[inverse, b, a], ty));
    }
    // An operand may itself be a selection by the same condition. Of this inner selection, always the same
    // operand is chosen, which therefore replaces it.
    if let Some(Def { op: Op::Select, args: [c, x, _] }) = r.def(a)
        && c == cond
    {
        return Some(r.emit(Op::Select, &[cond, x, b], ty));
    }
    if let Some(Def { op: Op::Select, args: [c, _, y] }) = r.def(b)
        && c == cond
    {
        return Some(r.emit(Op::Select, &[cond, a, y], ty));
    }
    if ty == Type::Bool {
        return select_bool(r, cond, a, b);
    }
    if let Some(v) = select_twice(r, cond, a, b, ty) {
        return Some(v);
    }
    if ty.is_int() {
        return select_min_max(r, cond, a, b);
    }
    None
}

/// Merges two nested selections that have a value in common into one selection by a combination of both
/// conditions. This is cheaper because the combination is computed with scalar instructions.
fn select_twice(r: &mut Rewriter<'_>, cond: Value, a: Value, b: Value, ty: Type) -> Option<Value> {
    if r.single_use(a)
        && let Some(Def { op: Op::Select, args: [inner, x, y] }) = r.def(a)
    {
        let both = match () {
            () if y == b => inner,
            () if x == b => r.un(UnOp::Not, inner),
            () => return None,
        };
        let both = r.bin(BinOp::And, cond, both);
        return Some(r.emit(Op::Select, &[both, if y == b { x } else { y }, b], ty));
    }
    if r.single_use(b)
        && let Some(Def { op: Op::Select, args: [inner, x, y] }) = r.def(b)
    {
        let either = match () {
            () if x == a => inner,
            () if y == a => r.un(UnOp::Not, inner),
            () => return None,
        };
        let either = r.bin(BinOp::Or, cond, either);
        return Some(r.emit(Op::Select, &[either, a, if x == a { y } else { x }], ty));
    }
    None
}

fn select_bool(r: &mut Rewriter<'_>, cond: Value, a: Value, b: Value) -> Option<Value> {
    match (r.k(a), r.k(b)) {
        (Some(1), Some(0)) => Some(cond),
        (Some(0), Some(1)) => Some(r.un(UnOp::Not, cond)),
        (None, Some(0)) => Some(r.bin(BinOp::And, cond, a)),
        (Some(1), None) => Some(r.bin(BinOp::Or, cond, b)),
        (Some(0), None) => {
            let inverse = r.un(UnOp::Not, cond);
            Some(r.bin(BinOp::And, inverse, b))
        }
        (None, Some(1)) => {
            let inverse = r.un(UnOp::Not, cond);
            Some(r.bin(BinOp::Or, inverse, a))
        }
        _ => None,
    }
}

fn select_min_max(r: &mut Rewriter<'_>, cond: Value, a: Value, b: Value) -> Option<Value> {
    let Def { op: Op::Icmp(cc), args: [x, y, _] } = r.def(cond)? else { return None };
    let exchanged = match () {
        () if (x, y) == (a, b) => false,
        () if (x, y) == (b, a) => true,
        () => return None,
    };
    let (smaller, larger) = match cc {
        IntCc::Ult | IntCc::Ule => (BinOp::UMin, BinOp::UMax),
        IntCc::Slt | IntCc::Sle => (BinOp::SMin, BinOp::SMax),
        IntCc::Ugt | IntCc::Uge => (BinOp::UMax, BinOp::UMin),
        IntCc::Sgt | IntCc::Sge => (BinOp::SMax, BinOp::SMin),
        IntCc::Eq => return Some(b),
        IntCc::Ne => return Some(a),
    };
    Some(r.bin(if exchanged { larger } else { smaller }, x, y))
}
