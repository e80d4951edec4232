//! Sums, products, shifts, minima and maxima of integers.

use super::super::interval::{bound, type_max};
use super::super::rewrite::Rewriter;
use crate::entity::Value;
use crate::op::{BinOp, TernOp, UnOp};
use crate::types::Type;

pub(super) fn binary(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    match op {
        BinOp::Add => add(r, a, b, ty),
        BinOp::Sub => sub(r, a, b, ty),
        BinOp::Mul => mul(r, a, b, ty),
        BinOp::UMulHi => match r.k(b)? {
            0 | 1 => Some(r.konst(ty, 0)),
            k if k.is_power_of_two() => Some(shift(r, BinOp::LShr, a, ty.bits() - k.trailing_zeros())),
            _ => None,
        },
        BinOp::Shl | BinOp::LShr | BinOp::AShr => shifts(r, op, a, b, ty),
        BinOp::UMin | BinOp::UMax | BinOp::SMin | BinOp::SMax => min_max(r, op, a, b, ty),
        BinOp::Ldexp => (r.k(b) == Some(0)).then_some(a),
        _ => None,
    }
}

/// Emits the shift `a op n`. Shift counts are `i32`, whatever the type of the shifted value.
pub(super) fn shift(r: &mut Rewriter<'_>, op: BinOp, a: Value, n: u32) -> Value {
    let n = r.konst(Type::I32, n.into());
    r.bin(op, a, n)
}

fn add(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    if let Some(k) = r.k(b) {
        if k == 0 {
            return Some(a);
        }
        if let Some((x, inner)) = r.is_bin_k(a, BinOp::Add) {
            return Some(r.bin_k(BinOp::Add, x, inner.wrapping_add(k)));
        }
        if let Some((x, y)) = r.is_bin(a, BinOp::Sub)
            && let Some(inner) = r.k(x)
        {
            let sum = r.konst(ty, inner.wrapping_add(k));
            return Some(r.bin(BinOp::Sub, sum, y));
        }
        return None;
    }
    if a == b {
        return Some(shift(r, BinOp::Shl, a, 1));
    }
    for (x, y) in [(a, b), (b, a)] {
        if let Some(z) = r.is_un(y, UnOp::Neg) {
            return Some(r.bin(BinOp::Sub, x, z));
        }
        if let Some((z, w)) = r.is_bin(y, BinOp::Sub)
            && w == x
        {
            return Some(z);
        }
        // (p + k) + y becomes (p + y) + k. The constant moves outwards, where the offset of an address can
        // absorb it.
        if let Some((p, k)) = r.is_bin_k(x, BinOp::Add)
            && r.may_lose_constant(x)
        {
            let sum = r.bin(BinOp::Add, p, y);
            return Some(r.bin_k(BinOp::Add, sum, k));
        }
    }
    rotate(r, a, b, ty)
}

fn sub(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    if let Some(k) = r.k(b) {
        return Some(r.bin_k(BinOp::Add, a, k.wrapping_neg()));
    }
    if a == b {
        return Some(r.konst(ty, 0));
    }
    if let Some(k) = r.k(a) {
        if k == 0 {
            return Some(r.un(UnOp::Neg, b));
        }
        if let Some((x, inner)) = r.is_bin_k(b, BinOp::Add) {
            let rest = r.konst(ty, k.wrapping_sub(inner));
            return Some(r.bin(BinOp::Sub, rest, x));
        }
        return None;
    }
    if let Some(x) = r.is_un(b, UnOp::Neg) {
        return Some(r.bin(BinOp::Add, a, x));
    }
    if let Some((x, y)) = r.is_bin(a, BinOp::Add) {
        if y == b {
            return Some(x);
        }
        if x == b {
            return Some(y);
        }
        if let Some(k) = r.k(y)
            && r.may_lose_constant(a)
        {
            let rest = r.bin(BinOp::Sub, x, b);
            return Some(r.bin_k(BinOp::Add, rest, k));
        }
    }
    if let Some((x, k)) = r.is_bin_k(b, BinOp::Add)
        && (r.may_lose_constant(b) || x == a)
    {
        let rest = r.bin(BinOp::Sub, a, x);
        return Some(r.bin_k(BinOp::Add, rest, k.wrapping_neg()));
    }
    None
}

fn mul(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    let k = r.k(b)?;
    if k == 0 {
        return Some(b);
    }
    if k == type_max(ty) {
        return Some(r.un(UnOp::Neg, a));
    }
    if k.is_power_of_two() {
        return Some(shift(r, BinOp::Shl, a, k.trailing_zeros()));
    }
    if let Some((x, inner)) = r.is_bin_k(a, BinOp::Mul) {
        return Some(r.bin_k(BinOp::Mul, x, inner.wrapping_mul(k)));
    }
    if let Some((x, n)) = r.is_bin_k(a, BinOp::Shl) {
        return Some(r.bin_k(BinOp::Mul, x, k.wrapping_shl(n as u32 & (ty.bits() - 1))));
    }
    if let Some((x, inner)) = r.is_bin_k(a, BinOp::Add)
        && r.may_lose_constant(a)
    {
        let product = r.bin_k(BinOp::Mul, x, k);
        return Some(r.bin_k(BinOp::Add, product, inner.wrapping_mul(k)));
    }
    None
}

fn shifts(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    let width = ty.bits();
    if let Some((x, mask)) = r.is_bin_k(b, BinOp::And)
        && mask & u64::from(width - 1) == u64::from(width - 1)
    {
        return Some(r.bin(op, a, x)); // the count is taken modulo the width anyway
    }
    if r.k(a) == Some(0) {
        return Some(a);
    }
    let count = r.k(b)?;
    let n = count as u32 & (width - 1);
    if n == 0 {
        return Some(a);
    }
    if u64::from(n) != count || r.func.ty(b) != Type::I32 {
        return Some(shift(r, op, a, n));
    }
    if op == BinOp::AShr && bound(r.func, a, 3).non_negative(ty) {
        return Some(shift(r, BinOp::LShr, a, n));
    }
    if op == BinOp::LShr && bound(r.func, a, 3).hi >> n == 0 {
        return Some(r.konst(ty, 0));
    }
    // Merges two shifts of the same kind.
    if let Some((x, inner)) = r.is_bin_k(a, op) {
        let total = n + (inner as u32 & (width - 1));
        return Some(match op {
            _ if total < width => shift(r, op, x, total),
            BinOp::AShr => shift(r, op, x, width - 1),
            _ => r.konst(ty, 0),
        });
    }
    match op {
        BinOp::Shl => shl(r, a, n, ty),
        BinOp::LShr => lshr(r, a, n, ty),
        _ => ashr(r, a, n, ty),
    }
}

fn shl(r: &mut Rewriter<'_>, a: Value, n: u32, ty: Type) -> Option<Value> {
    if let Some((x, k)) = r.is_bin_k(a, BinOp::Add)
        && r.may_lose_constant(a)
    {
        let high = shift(r, BinOp::Shl, x, n);
        return Some(r.bin_k(BinOp::Add, high, k << n));
    }
    // (x >> n) << n clears the low bits. With different counts, a mask and one shift suffice.
    if let Some((x, inner)) = r.is_bin_k(a, BinOp::LShr)
        && r.single_use(a)
    {
        let inner = inner as u32 & (ty.bits() - 1);
        let mask = (type_max(ty) >> inner << n) & type_max(ty);
        let moved = match inner.cmp(&n) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Less => shift(r, BinOp::Shl, x, n - inner),
            std::cmp::Ordering::Greater => shift(r, BinOp::LShr, x, inner - n),
        };
        return Some(r.bin_k(BinOp::And, moved, mask));
    }
    if let Some((x, k)) = r.is_bin_k(a, BinOp::Mul)
        && r.single_use(a)
    {
        return Some(r.bin_k(BinOp::Mul, x, k << n));
    }
    None
}

fn lshr(r: &mut Rewriter<'_>, a: Value, n: u32, ty: Type) -> Option<Value> {
    let width = ty.bits();
    if let Some((x, k)) = r.is_bin_k(a, BinOp::Add)
        && k.trailing_zeros() >= n
        && k.checked_add(bound(r.func, x, 4).hi).is_some_and(|most| most <= type_max(ty))
    {
        let high = shift(r, BinOp::LShr, x, n);
        return Some(r.bin_k(BinOp::Add, high, k >> n));
    }
    if let Some((x, inner)) = r.is_bin_k(a, BinOp::Shl) {
        let inner = inner as u32 & (width - 1);
        // If the left shift loses no bits of the value, the two shifts combine into one.
        let lossless = bound(r.func, x, 3).hi <= type_max(ty) >> inner;
        if lossless && inner >= n {
            return Some(if inner == n { x } else { shift(r, BinOp::Shl, x, inner - n) });
        }
        if lossless {
            return Some(shift(r, BinOp::LShr, x, n - inner));
        }
        if inner == n {
            return Some(r.bin_k(BinOp::And, x, type_max(ty) >> n));
        }
        if ty == Type::I32 && n > inner && r.single_use(a) {
            return Some(extract(r, TernOp::Ubfe, x, n - inner, width - n));
        }
    }
    if let Some((x, mask)) = r.is_bin_k(a, BinOp::And)
        && r.single_use(a)
    {
        let rest = mask >> n;
        if ty == Type::I32 && (rest + 1).is_power_of_two() && rest != 0 {
            let size = rest.trailing_ones();
            return Some(if n + size == width {
                shift(r, BinOp::LShr, x, n)
            } else {
                extract(r, TernOp::Ubfe, x, n, size)
            });
        }
        if rest == 0 {
            return Some(r.konst(ty, 0));
        }
    }
    None
}

fn ashr(r: &mut Rewriter<'_>, a: Value, n: u32, ty: Type) -> Option<Value> {
    let (x, inner) = r.is_bin_k(a, BinOp::Shl)?;
    let inner = inner as u32 & (ty.bits() - 1);
    (ty == Type::I32 && n >= inner && r.single_use(a))
        .then(|| extract(r, TernOp::Sbfe, x, n - inner, ty.bits() - n))
}

/// Emits the extraction of bits `low .. low + size` of a 32-bit value.
pub(super) fn extract(r: &mut Rewriter<'_>, op: TernOp, x: Value, low: u32, size: u32) -> Value {
    let low = r.konst(Type::I32, low.into());
    let size = r.konst(Type::I32, size.into());
    r.emit(crate::op::Op::Tern(op), &[x, low, size], Type::I32)
}

/// Recognises the funnel shift `(x << n) + (y >> (32 - n))`, also with `|` and `^` instead of `+`, because
/// the two halves have no common bit. Only constant counts are recognised here. A variable count could be 0.
/// Both counts are then 0, because counts are taken modulo 32, and the expression is a funnel shift only with
/// `|` and equal `x` and `y`.
pub(super) fn rotate(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    if ty != Type::I32 {
        return None;
    }
    for (left, right) in [(a, b), (b, a)] {
        let (Some((x, n)), Some((y, m))) = (r.is_bin(left, BinOp::Shl), r.is_bin(right, BinOp::LShr)) else {
            continue;
        };
        if let (Some(n), Some(m)) = (r.k(n), r.k(m))
            && n + m == 32
            && m < 32
        {
            return Some(funnel(r, x, y, m));
        }
    }
    None
}

fn funnel(r: &mut Rewriter<'_>, high: Value, low: Value, n: u64) -> Value {
    let n = r.konst(Type::I32, n);
    r.tern(TernOp::Fshr, high, low, n)
}

fn min_max(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    if a == b {
        return Some(a);
    }
    if let (Some(k), Some((x, inner))) = (r.k(b), r.is_bin_k(a, op)) {
        let k = crate::semantics::eval_bin(op, ty, inner, k);
        return Some(r.bin_k(op, x, k));
    }
    if ty.is_float() {
        return None;
    }
    let (x, y) = (bound(r.func, a, 2), bound(r.func, b, 2));
    match op {
        BinOp::UMin if x.hi <= y.lo => Some(a),
        BinOp::UMin if y.hi <= x.lo => Some(b),
        BinOp::UMax if x.hi <= y.lo => Some(b),
        BinOp::UMax if y.hi <= x.lo => Some(a),
        _ => None,
    }
}
