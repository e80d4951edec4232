//! Packed 16-bit arithmetic, mixed precision, dot products: VOP3P.

use super::valu::{finish, plain};
use super::{Cx, Flow, Handler};
use crate::float;
use crate::op::Op;
use half::f16;

pub(super) fn handler(name: &str) -> Option<Handler> {
    ints(name).or_else(|| floats(name)).or_else(|| mixed(name)).or_else(|| dots(name))
}

macro_rules! packed {
    ($negates:literal, |$a:ident, $b:ident, $c:ident| $body:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            if op.clamp() && !$negates {
                return super::unsupported(cx, op);
            }
            halves(cx, op, $negates, |$a: u16, $b: u16, $c: u16| -> u16 {
                let _ = $c;
                $body
            })
        }
        run as Handler
    }};
}

fn ints(name: &str) -> Option<Handler> {
    Some(match name {
        "v_pk_mad_i16" | "v_pk_mad_u16" => packed!(false, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        "v_pk_mul_lo_u16" => packed!(false, |a, b, _c| a.wrapping_mul(b)),
        "v_pk_add_i16" | "v_pk_add_u16" => packed!(false, |a, b, _c| a.wrapping_add(b)),
        "v_pk_sub_i16" | "v_pk_sub_u16" => packed!(false, |a, b, _c| a.wrapping_sub(b)),
        "v_pk_lshlrev_b16" => packed!(false, |a, b, _c| b.wrapping_shl(a.into())),
        "v_pk_lshrrev_b16" => packed!(false, |a, b, _c| b.wrapping_shr(a.into())),
        "v_pk_ashrrev_i16" => packed!(false, |a, b, _c| (b as i16).wrapping_shr(a.into()) as u16),
        "v_pk_max_i16" => packed!(false, |a, b, _c| (a as i16).max(b as i16) as u16),
        "v_pk_min_i16" => packed!(false, |a, b, _c| (a as i16).min(b as i16) as u16),
        "v_pk_max_u16" => packed!(false, |a, b, _c| a.max(b)),
        "v_pk_min_u16" => packed!(false, |a, b, _c| a.min(b)),
        _ => return None,
    })
}

fn floats(name: &str) -> Option<Handler> {
    Some(match name {
        "v_pk_fma_f16" => packed!(true, |a, b, c| {
            f16::from_f64(f64::from(single(a)) * f64::from(single(b)) + f64::from(single(c))).to_bits()
        }),
        "v_pk_add_f16" => packed!(true, |a, b, _c| f16::from_f32(single(a) + single(b)).to_bits()),
        "v_pk_mul_f16" => packed!(true, |a, b, _c| f16::from_f32(single(a) * single(b)).to_bits()),
        "v_pk_min_f16" => {
            packed!(true, |a, b, _c| f16::from_f32(float::min::<f32, true>(single(a), single(b))).to_bits())
        }
        "v_pk_max_f16" => {
            packed!(true, |a, b, _c| f16::from_f32(float::max::<f32, true>(single(a), single(b))).to_bits())
        }
        _ => return None,
    })
}

fn mixed(name: &str) -> Option<Handler> {
    Some(match name {
        "v_fma_mix_f32" => |cx, op| mix(cx, op, |a, b, c, _| a.mul_add(b, c).to_bits()),
        "v_fma_mixlo_f16" => {
            |cx, op| mix(cx, op, |a, b, c, old| old & 0xffff_0000 | half_bits(a.mul_add(b, c)))
        }
        "v_fma_mixhi_f16" => {
            |cx, op| mix(cx, op, |a, b, c, old| old & 0xffff | half_bits(a.mul_add(b, c)) << 16)
        }
        "v_mad_mix_f32" => |cx, op| mix(cx, op, |a, b, c, _| (a * b + c).to_bits()),
        "v_mad_mixlo_f16" => |cx, op| mix(cx, op, |a, b, c, old| old & 0xffff_0000 | half_bits(a * b + c)),
        "v_mad_mixhi_f16" => |cx, op| mix(cx, op, |a, b, c, old| old & 0xffff | half_bits(a * b + c) << 16),
        _ => return None,
    })
}

fn dots(name: &str) -> Option<Handler> {
    Some(match name {
        "v_dot2_f32_f16" => |cx, op| {
            words(cx, op, |a, b, c| {
                let product =
                    |at: u32| f64::from(single((a >> at) as u16)) * f64::from(single((b >> at) as u16));
                ((product(0) + product(16) + f64::from(f32::from_bits(c))) as f32).to_bits()
            })
        },
        "v_dot2_i32_i16" => |cx, op| words(cx, op, |a, b, c| dot(a, b, c, 16, true)),
        "v_dot2_u32_u16" => |cx, op| words(cx, op, |a, b, c| dot(a, b, c, 16, false)),
        "v_dot4_i32_i8" => |cx, op| words(cx, op, |a, b, c| dot(a, b, c, 8, true)),
        "v_dot4_u32_u8" => |cx, op| words(cx, op, |a, b, c| dot(a, b, c, 8, false)),
        "v_dot8_i32_i4" => |cx, op| words(cx, op, |a, b, c| dot(a, b, c, 4, true)),
        "v_dot8_u32_u4" => |cx, op| words(cx, op, |a, b, c| dot(a, b, c, 4, false)),
        _ => return None,
    })
}

fn single(bits: u16) -> f32 {
    f32::from(f16::from_bits(bits))
}

fn half_bits(value: f32) -> u32 {
    u32::from(f16::from_f32(value).to_bits())
}

/// The sum of products of the parts of two dwords.
fn dot(a: u32, b: u32, c: u32, bits: u32, signed: bool) -> u32 {
    let part = |value: u32, at: u32| {
        let top = value << (32 - bits - at);
        if signed { (top as i32 >> (32 - bits)) as u32 } else { top >> (32 - bits) }
    };
    (0..32 / bits).fold(c, |sum, at| sum.wrapping_add(part(a, at * bits).wrapping_mul(part(b, at * bits))))
}

/// Runs a function over both halves of each lane; `op_sel` says which halves of the sources make which.
fn halves(cx: &mut Cx<'_>, op: &Op, negates: bool, f: impl Fn(u16, u16, u16) -> u16) -> Flow {
    let [a, b, c, _] = &mut cx.scratch.sources;
    let sources = [
        plain(cx.wave, op.src[0], 1, a)[0],
        plain(cx.wave, op.src[1], 1, b)[0],
        plain(cx.wave, op.src[2], 1, c)[0],
    ];
    let result = &mut cx.scratch.result;
    for lane in 0..64 {
        let mut value = 0;
        for (half, select, negate) in [(0, op.op_sel, op.neg), (16, op.op_sel_hi, op.abs)] {
            let part = |at: usize| {
                let bits = (sources[at][lane] >> (16 * (select >> at & 1))) as u16;
                if negates && negate >> at & 1 != 0 { bits ^ 0x8000 } else { bits }
            };
            let mut part = f(part(0), part(1), part(2));
            if negates && op.clamp() {
                part = f16::from_f32(single(part).clamp(0.0, 1.0)).to_bits();
            }
            value |= u32::from(part) << half;
        }
        result[0][lane] = value;
    }
    super::valu::write(cx.wave, op.dst, &cx.scratch.result[0], cx.wave.exec());
    Flow::Next
}

/// Mixed precision: a source is an f32, or the half of it that `op_sel` names where `op_sel_hi` is set.
fn mix(cx: &mut Cx<'_>, op: &Op, f: fn(f32, f32, f32, u32) -> u32) -> Flow {
    let [a, b, c, d] = &mut cx.scratch.sources;
    let sources = [
        plain(cx.wave, op.src[0], 1, a)[0],
        plain(cx.wave, op.src[1], 1, b)[0],
        plain(cx.wave, op.src[2], 1, c)[0],
    ];
    let old = plain(cx.wave, op.src[3], 1, d)[0];
    let result = &mut cx.scratch.result;
    for lane in 0..64 {
        let value = |at: usize| {
            let bits = sources[at][lane];
            let value = match (op.op_sel_hi >> at & 1, op.op_sel >> at & 1) {
                (0, _) => f32::from_bits(bits),
                (_, half) => single((bits >> (16 * half)) as u16),
            };
            let value = if op.abs >> at & 1 != 0 { value.abs() } else { value };
            if op.neg >> at & 1 != 0 { -value } else { value }
        };
        result[0][lane] = f(value(0), value(1), value(2), old[lane]);
    }
    if op.clamp() {
        return super::unsupported(cx, op);
    }
    super::valu::write(cx.wave, op.dst, &cx.scratch.result[0], cx.wave.exec());
    Flow::Next
}

fn words(cx: &mut Cx<'_>, op: &Op, f: fn(u32, u32, u32) -> u32) -> Flow {
    if op.clamp() || op.neg != 0 || op.abs != 0 {
        return super::unsupported(cx, op);
    }
    let [a, b, c, _] = &mut cx.scratch.sources;
    let a = plain(cx.wave, op.src[0], 1, a)[0];
    let b = plain(cx.wave, op.src[1], 1, b)[0];
    let c = plain(cx.wave, op.src[2], 1, c)[0];
    for lane in 0..64 {
        cx.scratch.result[0][lane] = f(a[lane], b[lane], c[lane]);
    }
    finish::<u32>(cx.wave, cx.scratch, op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_products() {
        assert_eq!(dot(0x0102_0304, 0x0101_0101, 5, 8, false), 15);
        assert_eq!(dot(0xff02_0304, 0x0101_0101, 0, 8, true), 8);
        assert_eq!(dot(0xffff_0002, 0x0003_0004, 0, 16, true), 5);
        assert_eq!(dot(0xf000_0001, 0x2000_0003, 0, 4, true), 1);
    }
}
