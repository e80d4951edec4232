//! Dot products of two dwords, each of which is a vector of 2, 4 or 8 small numbers.

use super::valu::{Value, finish, plain};
use super::{Cx, Flow, Handler};
use crate::float;
use crate::op::Op;
use half::f16;

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "v_dot2_i32_i16" => |cx, op| words(cx, op, |a, b, c| dot::<16, true>(a, b, c, op.clamp())),
        "v_dot2_u32_u16" => |cx, op| words(cx, op, |a, b, c| dot::<16, false>(a, b, c, op.clamp())),
        "v_dot4_i32_i8" => |cx, op| words(cx, op, |a, b, c| dot::<8, true>(a, b, c, op.clamp())),
        "v_dot4_u32_u8" => |cx, op| words(cx, op, |a, b, c| dot::<8, false>(a, b, c, op.clamp())),
        "v_dot8_i32_i4" => |cx, op| words(cx, op, |a, b, c| dot::<4, true>(a, b, c, op.clamp())),
        "v_dot8_u32_u4" => |cx, op| words(cx, op, |a, b, c| dot::<4, false>(a, b, c, op.clamp())),
        "v_dot2c_i32_i16" => |cx, op| cx.map3(op, |a, b, c| dot::<16, true>(a, b, c, op.clamp())),
        "v_dot4c_i32_i8" => |cx, op| cx.map3(op, |a, b, c| dot::<8, true>(a, b, c, op.clamp())),
        "v_dot8c_i32_i4" => |cx, op| cx.map3(op, |a, b, c| dot::<4, true>(a, b, c, op.clamp())),
        "v_dot2c_f32_f16" => |cx, op| cx.map3(op, |a: u32, b: u32, c: f32| halves(a, b, c)),
        "v_dot2_f32_f16" => |cx, op| {
            words(cx, op, |a, b, c: f32| {
                let negate = f32::from_bits(c.to_bits() ^ u32::from(op.neg >> 2 & 1) << 31);
                halves(a, b, negate)
            })
        },
        _ => return None,
    })
}

/// Returns the dot product of two dwords plus `c`, where each dword is a vector of small integers. The sum is
/// computed exactly. It is then saturated if `clamp` is set, and truncated otherwise.
#[inline(always)]
fn dot<const BITS: u32, const SIGNED: bool>(a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    let part = |value: u32, at: u32| {
        let top = value << (32 - BITS - at);
        if SIGNED { i64::from(top as i32 >> (32 - BITS)) } else { i64::from(top >> (32 - BITS)) }
    };
    let start = if SIGNED { i64::from(c as i32) } else { i64::from(c) };
    let sum = (0..32 / BITS).fold(start, |sum, at| sum + part(a, at * BITS) * part(b, at * BITS));
    match (clamp, SIGNED) {
        (false, _) => sum as u32,
        (true, true) => sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
        (true, false) => sum.clamp(0, u32::MAX.into()) as u32,
    }
}

/// Returns the dot product of two pairs of f16 plus `c`, rounded to the nearest f32. The sum is computed in
/// f64, in which each product is exact. The sum is exact as well, unless the products differ very much in
/// size.
#[inline(always)]
fn halves(a: u32, b: u32, c: f32) -> f32 {
    let value = |bits: u32| f64::from(float::half_to_single(f16::from_bits(bits as u16)));
    (value(a) * value(b) + value(a >> 16) * value(b >> 16) + f64::from(c)) as f32
}

/// Returns the two halves that a source supplies, as one dword. The modifiers `op_sel` and `op_sel_hi` select
/// the halves of `word`, and the negation modifiers may change their signs.
fn selected(op: &Op, at: usize, word: u32) -> u32 {
    let half = |select: u8, negate: u8| {
        let sign = if op.rules.packed_float { u32::from(negate >> at & 1) << 15 } else { 0 };
        (word >> (16 * (select >> at & 1)) & 0xffff) ^ sign
    };
    half(op.op_sel, op.neg) | half(op.op_sel_hi, op.abs) << 16
}

/// Runs an instruction in the VOP3P encoding that computes a dot product.
fn words<T: Value>(cx: &mut Cx<'_>, op: &Op, f: impl Fn(u32, u32, T) -> T) -> Flow {
    let pairs = op.rules.packed_halves;
    let [a, b, c, _] = &mut cx.scratch.sources;
    let a = plain(cx.wave, op.src[0], 1, a)[0];
    let b = plain(cx.wave, op.src[1], 1, b)[0];
    let c = plain(cx.wave, op.src[2], 1, c)[0];
    for lane in 0..64 {
        let (x, y) = match pairs {
            true => (selected(op, 0, a[lane]), selected(op, 1, b[lane])),
            false => (a[lane], b[lane]),
        };
        cx.scratch.result[0][lane] = f(x, y, T::from_words(c[lane], 0)).words().0;
    }
    finish::<T>(cx.wave, cx.scratch, op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_products() {
        assert_eq!(dot::<8, false>(0x0102_0304, 0x0101_0101, 5, false), 15);
        assert_eq!(dot::<8, true>(0xff02_0304, 0x0101_0101, 0, false), 8);
        assert_eq!(dot::<16, true>(0xffff_0002, 0x0003_0004, 0, false), 5);
        assert_eq!(dot::<4, true>(0xf000_0001, 0x2000_0003, 0, false), 1);
        assert_eq!(dot::<16, false>(0xffff_ffff, 0xffff_ffff, 7, true), u32::MAX);
        assert_eq!(dot::<16, true>(0x8000_8000, 0x7fff_7fff, i32::MIN as u32, true), i32::MIN as u32);
        assert_eq!(halves(0x3c00_4000, 0x4000_4200, 0.5), 8.5);
    }
}
