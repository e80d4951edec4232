//! Division and remainder by constants, computed with shifts, masks, and multiplication by a reciprocal.
//!
//! The reciprocals are those of T. Granlund, P. Montgomery, "Division by Invariant Integers using
//! Multiplication" (PLDI 1994): with `l = ceil(log2 d)`, `m = ceil(2^(N+l) / d)` fits in N+1 bits, and
//! `floor(m * n / 2^(N+l))` is the quotient for every N-bit `n`.

use super::super::interval::{bound, type_max};
use super::super::rewrite::Rewriter;
use super::int::shift;
use crate::entity::Value;
use crate::op::{BinOp, UnOp};
use crate::types::Type;

pub(super) fn binary(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    let unsigned = match op {
        BinOp::SDiv => BinOp::UDiv,
        BinOp::SRem => BinOp::URem,
        op => op,
    };
    let a_range = bound(r.func, a, 4);
    if unsigned != op && a_range.non_negative(ty) && bound(r.func, b, 4).non_negative(ty) {
        return Some(r.bin(unsigned, a, b));
    }
    if unsigned == op && a_range.hi < bound(r.func, b, 4).lo {
        return Some(if op == BinOp::UDiv { r.konst(ty, 0) } else { a });
    }
    let d = r.k(b)?;
    match op {
        _ if d == 0 => None,
        BinOp::UDiv => udiv(r, a, d, ty),
        BinOp::URem if d.is_power_of_two() => Some(r.bin_k(BinOp::And, a, d - 1)),
        BinOp::SDiv => sdiv(r, a, d, ty),
        _ => {
            let div = if op == BinOp::URem { BinOp::UDiv } else { BinOp::SDiv };
            let signed_power = op == BinOp::SRem && magnitude(d, ty).is_power_of_two();
            (ty == Type::I32 || signed_power).then(|| {
                let quotient = r.bin(div, a, b);
                let product = r.bin(BinOp::Mul, quotient, b);
                r.bin(BinOp::Sub, a, product)
            })
        }
    }
}

/// Returns the absolute value of a constant.
fn magnitude(d: u64, ty: Type) -> u64 {
    if d > type_max(ty) >> 1 { d.wrapping_neg() & type_max(ty) } else { d }
}

fn udiv(r: &mut Rewriter<'_>, a: Value, d: u64, ty: Type) -> Option<Value> {
    if d == 1 {
        return Some(a);
    }
    if d.is_power_of_two() {
        return Some(shift(r, BinOp::LShr, a, d.trailing_zeros()));
    }
    if ty != Type::I32 {
        return None;
    }
    let log = 64 - (d - 1).leading_zeros();
    let reciprocal = |s: u32| (1u128 << (32 + s)).div_ceil(d.into());
    // The reciprocal often fits in 32 bits with a smaller shift. It always does if `a` is known not to use
    // all bits of its type.
    let most = bound(r.func, a, 4).hi;
    for s in 0..log {
        let m = reciprocal(s);
        let error = m * u128::from(d) - (1 << (32 + s)); // correct as long as error * n < 2^(32 + s)
        if m < 1 << 32 && error * u128::from(most) < 1 << (32 + s) {
            let high = r.bin_k(BinOp::UMulHi, a, m as u64);
            return Some(shift(r, BinOp::LShr, high, s));
        }
    }
    // Divides dividend and divisor by the largest power of two that is a factor of the divisor. The dividend
    // then has fewer bits.
    if d.is_multiple_of(2) {
        let n = d.trailing_zeros();
        let rest = shift(r, BinOp::LShr, a, n);
        return Some(r.bin_k(BinOp::UDiv, rest, d >> n));
    }
    // The reciprocal is m = 2^32 + m', so the quotient needs the sum `a + high`. This sum could overflow, but
    // half of it cannot, so the code computes half of the sum.
    let high = r.bin_k(BinOp::UMulHi, a, reciprocal(log) as u64 & type_max(ty));
    let rest = r.bin(BinOp::Sub, a, high);
    let half = shift(r, BinOp::LShr, rest, 1);
    let sum = r.bin(BinOp::Add, half, high);
    Some(shift(r, BinOp::LShr, sum, log - 1))
}

fn sdiv(r: &mut Rewriter<'_>, a: Value, d: u64, ty: Type) -> Option<Value> {
    let width = ty.bits();
    let size = magnitude(d, ty);
    let negative = d > type_max(ty) >> 1;
    let quotient = if size == 1 {
        a
    } else if size.is_power_of_two() {
        // A shift rounds down, but division rounds towards zero. The code therefore adds 2^n - 1 to negative
        // dividends first.
        let n = size.trailing_zeros();
        let sign = shift(r, BinOp::AShr, a, width - 1);
        let bias = shift(r, BinOp::LShr, sign, width - n);
        let biased = r.bin(BinOp::Add, a, bias);
        shift(r, BinOp::AShr, biased, n)
    } else if ty == Type::I32 {
        sdiv_by_reciprocal(r, a, size)
    } else {
        return None;
    };
    Some(if negative { r.un(UnOp::Neg, quotient) } else { quotient })
}

/// Emits a signed division by multiplication with a reciprocal. `m = floor(2^(31+l) / d) + 1`, with `2^(l-1)
/// < d < 2^l`, is at least `2^31`. As a signed factor it is `m - 2^32`, so `a` must be added to the high half
/// of the product. Negative quotients are rounded down, so 1 is added to them.
fn sdiv_by_reciprocal(r: &mut Rewriter<'_>, a: Value, d: u64) -> Value {
    let log = 64 - d.leading_zeros();
    let m = (1u64 << (31 + log)) / d + 1;
    let high = r.bin_k(BinOp::SMulHi, a, m);
    let sum = r.bin(BinOp::Add, high, a);
    let down = shift(r, BinOp::AShr, sum, log - 1);
    let sign = shift(r, BinOp::LShr, a, 31);
    r.bin(BinOp::Add, down, sign)
}
