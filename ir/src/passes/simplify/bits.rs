//! Bitwise logic on integers and `bool`, and the three-operand bit operations.

use super::super::interval::{all_ones, bound, type_max};
use super::super::rewrite::{Def, Rewriter};
use super::int::{extract, rotate, shift};
use crate::entity::Value;
use crate::op::{BinOp, CastOp, Op, TernOp, UnOp};
use crate::types::Type;

pub(super) fn binary(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    let ones = type_max(ty);
    if a == b {
        return Some(if op == BinOp::Xor { r.konst(ty, 0) } else { a });
    }
    match (op, r.k(b)) {
        (BinOp::And, Some(0)) => return Some(b),
        (BinOp::And, Some(k)) if k == ones => return Some(a),
        (BinOp::Or | BinOp::Xor, Some(0)) => return Some(a),
        (BinOp::Or, Some(k)) if k == ones => return Some(b),
        (BinOp::Xor, Some(k)) if k == ones => return Some(r.un(UnOp::Not, a)),
        (_, Some(k)) => {
            if let Some((x, inner)) = r.is_bin_k(a, op) {
                let both = match op {
                    BinOp::And => inner & k,
                    BinOp::Or => inner | k,
                    _ => inner ^ k,
                };
                return Some(r.bin_k(op, x, both));
            }
        }
        _ => {}
    }
    if complements(r, a, b) {
        let all = if op == BinOp::And { 0 } else { ones };
        return Some(r.konst(ty, all));
    }
    match op {
        BinOp::And => and(r, a, b, ty),
        BinOp::Or => or(r, a, b, ty),
        _ => xor(r, a, b, ty),
    }
}

fn complements(r: &Rewriter<'_>, a: Value, b: Value) -> bool {
    r.is_un(a, UnOp::Not) == Some(b) || r.is_un(b, UnOp::Not) == Some(a)
}

fn and(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    for (x, y) in [(a, b), (b, a)] {
        // Absorption: x & (x | z) = x.
        if let Some((p, q)) = r.is_bin(y, BinOp::Or)
            && (p == x || q == x)
        {
            return Some(x);
        }
        if let Some((p, q)) = r.is_bin(y, BinOp::And)
            && (p == x || q == x)
        {
            return Some(y);
        }
    }
    let mask = r.k(b).filter(|_| ty.is_int())?;
    let low_ones = (mask.wrapping_add(1)).is_power_of_two();
    if mask == type_max(ty) || (low_ones && bound(r.func, a, 3).hi <= mask) {
        return Some(a);
    }
    if let Some((x, k)) = r.is_bin_k(a, BinOp::Add) {
        // The mask and the addition can be exchanged in two cases: the constant changes only bits that the
        // mask removes, or only bits that the mask keeps.
        if low_ones && k & mask == 0 {
            return Some(r.bin_k(BinOp::And, x, mask));
        }
        let high_ones = (mask ^ type_max(ty)).wrapping_add(1).is_power_of_two();
        if high_ones && k & mask == k && r.single_use(a) {
            let kept = r.bin_k(BinOp::And, x, mask);
            return Some(r.bin_k(BinOp::Add, kept, k));
        }
    }
    if ty != Type::I32 {
        return None;
    }
    // Bits that are zero in the value may be set in the mask. The mask can then become one of the inline
    // constants -16 to -1, which take no space in the code.
    let possible = all_ones(bound(r.func, a, 2).hi);
    let wider = (mask | !possible) as u32;
    if u64::from(wider) != mask && (-16..0).contains(&wider.cast_signed()) {
        return Some(r.bin_k(BinOp::And, a, wider.into()));
    }
    if low_ones {
        return low_mask(r, a, mask, mask.trailing_ones());
    }
    None
}

/// Simplifies `a & (2^size - 1)`.
fn low_mask(r: &mut Rewriter<'_>, a: Value, mask: u64, size: u32) -> Option<Value> {
    if let Some((x, n)) = r.is_bin_k(a, BinOp::LShr)
        && r.single_use(a)
        && (1..32).contains(&n)
    {
        let n = n as u32;
        // If the extracted field ends at the highest bit, a shift alone extracts it. The mask has then been
        // removed already, because `bound` shows that it changes nothing.
        return (n + size < 32).then(|| extract(r, TernOp::Ubfe, x, n, size));
    }
    if let Some(Def { op: Op::Tern(TernOp::Ubfe), args: [x, low, width] }) = r.def(a)
        && let (Some(low), Some(width)) = (r.k(low), r.k(width))
        && r.single_use(a)
        && (1..=31).contains(&width)
        && low < 32
    {
        return Some(extract(r, TernOp::Ubfe, x, low as u32, size.min(width as u32)));
    }
    // A sign extension only changes bits that the mask clears.
    for (op, kept) in [(CastOp::Sext8, 0xff), (CastOp::Sext16, 0xffff)] {
        if let Some(x) = r.is_cast(a, op)
            && mask <= kept
        {
            return Some(r.bin_k(BinOp::And, x, mask));
        }
    }
    None
}

fn or(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    for (x, y) in [(a, b), (b, a)] {
        if let Some((p, q)) = r.is_bin(y, BinOp::And)
            && (p == x || q == x)
        {
            return Some(x);
        }
        if let Some((p, q)) = r.is_bin(y, BinOp::Or)
            && (p == x || q == x)
        {
            return Some(y);
        }
    }
    if ty == Type::Bool {
        return None;
    }
    if let Some(v) = rotate(r, a, b, ty).or_else(|| rotate_by_variable(r, a, b, ty)) {
        return Some(v);
    }
    bit_select(r, a, b, ty).or_else(|| majority(r, BinOp::Or, a, b, ty))
}

fn xor(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    for (x, y) in [(a, b), (b, a)] {
        if let Some((p, q)) = r.is_bin(y, BinOp::Xor) {
            if p == x {
                return Some(q);
            }
            if q == x {
                return Some(p);
            }
        }
        if let Some(p) = r.is_un(x, UnOp::Not)
            && (ty == Type::Bool || r.single_use(x))
        {
            let even = r.bin(BinOp::Xor, p, y);
            return Some(r.un(UnOp::Not, even));
        }
    }
    if ty == Type::Bool {
        return None;
    }
    if let Some(v) = rotate(r, a, b, ty).or_else(|| bit_select(r, a, b, ty)) {
        return Some(v);
    }
    if let Some(v) = majority(r, BinOp::Xor, a, b, ty) {
        return Some(v);
    }
    // c ^ (m & (b ^ c)) is another common way to write "b where m is set, otherwise c".
    for (c, masked) in [(a, b), (b, a)] {
        let Some((p, q)) = r.is_bin(masked, BinOp::And).filter(|_| ty == Type::I32 && r.single_use(masked))
        else {
            continue;
        };
        for (m, diff) in [(p, q), (q, p)] {
            if let Some((x, y)) = r.is_bin(diff, BinOp::Xor) {
                if y == c {
                    return Some(r.tern(TernOp::Bfi, m, x, c));
                }
                if x == c {
                    return Some(r.tern(TernOp::Bfi, m, y, c));
                }
            }
        }
    }
    None
}

/// Recognises `(x << n) | (x >> (32 - n))` and `(x >> n) | (x << (32 - n))` for variable `n`. Counts are
/// taken modulo 32, so a count of 0 gives `x | x`.
fn rotate_by_variable(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    if ty != Type::I32 {
        return None;
    }
    for (left, right) in [(a, b), (b, a)] {
        let (Some((x, n)), Some((y, m))) = (r.is_bin(left, BinOp::Shl), r.is_bin(right, BinOp::LShr)) else {
            continue;
        };
        if x != y {
            continue;
        }
        if is_rest_of_word(r, n, m) {
            return Some(r.tern(TernOp::Fshr, x, x, m));
        }
        if is_rest_of_word(r, m, n) {
            let right_count = r.un(UnOp::Neg, n);
            return Some(r.tern(TernOp::Fshr, x, x, right_count));
        }
    }
    None
}

/// Returns whether `a = 32 - b` modulo 32.
fn is_rest_of_word(r: &Rewriter<'_>, a: Value, b: Value) -> bool {
    if r.is_un(a, UnOp::Neg) == Some(b) {
        return true;
    }
    r.is_bin(a, BinOp::Sub).is_some_and(|(k, x)| x == b && r.k(k).is_some_and(|k| k.is_multiple_of(32)))
}

/// Recognises `(m & b) | (!m & c)`. `^` instead of `|` is recognised too, because the two sides have no
/// common bit.
fn bit_select(r: &mut Rewriter<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    if ty != Type::I32 {
        return None;
    }
    let (p, q) = r.is_bin(a, BinOp::And)?;
    let (s, t) = r.is_bin(b, BinOp::And)?;
    for (m, x) in [(p, q), (q, p)] {
        for (n, y) in [(s, t), (t, s)] {
            if r.is_un(n, UnOp::Not) == Some(m) {
                return Some(r.tern(TernOp::Bfi, m, x, y));
            }
            if r.is_un(m, UnOp::Not) == Some(n) {
                return Some(r.tern(TernOp::Bfi, n, y, x));
            }
            if let (Some(j), Some(k)) = (r.k(m), r.k(n))
                && j ^ k == type_max(ty)
            {
                return Some(r.tern(TernOp::Bfi, m, x, y));
            }
        }
    }
    None
}

/// Recognises the majority function, in which each bit is the one that at least two of the three operands
/// have. It may be written as `(x & y) op (x & z) op (y & z)` or as `(x & (y | z)) | (y & z)`. Where x and y
/// differ, the majority is z; otherwise it is y.
fn majority(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    if ty != Type::I32 {
        return None;
    }
    for (pair, last) in [(a, b), (b, a)] {
        let Some((u, v)) = r.is_bin(last, BinOp::And) else { continue };
        let agreed = match r.is_bin(pair, op) {
            Some((s, t)) => {
                let (Some(s), Some(t)) = (r.is_bin(s, BinOp::And), r.is_bin(t, BinOp::And)) else { continue };
                shared(s, t).filter(|&(_, y, z)| (y, z) == (u, v) || (y, z) == (v, u))
            }
            None => r.is_bin(pair, BinOp::And).and_then(|(s, t)| {
                [(s, t), (t, s)].into_iter().find_map(|(x, either)| {
                    // With `^` as the outer operation, the form with `y | z` is not the majority: the two
                    // sides would cancel where all three bits are set.
                    let either_or = r.is_bin(either, BinOp::Or).filter(|_| op == BinOp::Or);
                    let combined = either_or.or(r.is_bin(either, BinOp::Xor))?;
                    (combined == (u, v) || combined == (v, u)).then_some((x, u, v))
                })
            }),
        };
        if let Some((x, y, z)) = agreed {
            let differ = r.bin(BinOp::Xor, x, y);
            return Some(r.tern(TernOp::Bfi, differ, z, y));
        }
    }
    None
}

/// Returns the value that is in both pairs, and the other value of each pair. `None` if the pairs have no
/// common value.
fn shared((a, b): (Value, Value), (c, d): (Value, Value)) -> Option<(Value, Value, Value)> {
    match () {
        () if a == c => Some((a, b, d)),
        () if a == d => Some((a, b, c)),
        () if b == c => Some((b, a, d)),
        () if b == d => Some((b, a, c)),
        () => None,
    }
}

pub(super) fn ternary(r: &mut Rewriter<'_>, op: TernOp, args: &[Value], ty: Type) -> Option<Value> {
    let [a, b, c] = *args else { return None };
    match op {
        TernOp::Fshr => match r.k(c)? & 31 {
            0 => Some(b),
            n if r.k(c) != Some(n) => {
                let n = r.konst(Type::I32, n);
                Some(r.tern(op, a, b, n))
            }
            n if r.k(a) == Some(0) => Some(shift(r, BinOp::LShr, b, n as u32)),
            n if r.k(b) == Some(0) => Some(shift(r, BinOp::Shl, a, 32 - n as u32)),
            _ => None,
        },
        TernOp::Bfi => {
            if b == c {
                return Some(b);
            }
            if let Some(m) = r.is_un(a, UnOp::Not) {
                return Some(r.tern(op, m, c, b));
            }
            match r.k(a) {
                Some(0) => Some(c),
                Some(k) if k == type_max(ty) => Some(b),
                _ => None,
            }
        }
        TernOp::Ubfe => bit_field(r, a, b, c, ty),
        TernOp::Sbfe => match (r.k(b)?, r.k(c)?) {
            (0, 8) => Some(r.cast(CastOp::Sext8, a, ty)),
            (0, 16) => Some(r.cast(CastOp::Sext16, a, ty)),
            (low @ 1..32, size) if low + size == 32 => Some(shift(r, BinOp::AShr, a, low as u32)),
            _ => None,
        },
        TernOp::Fma => {
            // x * 1 + z is rounded once in both forms.
            let one = match ty {
                Type::F16 => 0x3c00,
                Type::F32 => 1f32.to_bits().into(),
                _ => 1f64.to_bits(),
            };
            (r.k(b) == Some(one)).then(|| r.bin(BinOp::FAdd, a, c))
        }
        _ => None,
    }
}

fn bit_field(r: &mut Rewriter<'_>, a: Value, low: Value, size: Value, ty: Type) -> Option<Value> {
    let (low, size) = (r.k(low)?, r.k(size)?);
    if !(1..32).contains(&size) || low >= 32 {
        return None;
    }
    if low == 0 {
        return Some(r.bin_k(BinOp::And, a, (1 << size) - 1));
    }
    if low + size >= 32 {
        return Some(shift(r, BinOp::LShr, a, low as u32));
    }
    if bound(r.func, a, 3).hi >> (low + size) == 0 {
        return Some(shift(r, BinOp::LShr, a, low as u32));
    }
    let (x, n) = r.is_bin_k(a, BinOp::LShr)?;
    (ty == Type::I32 && n + low < 32).then(|| extract(r, TernOp::Ubfe, x, (n + low) as u32, size as u32))
}
