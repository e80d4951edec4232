//! Conversions between number formats. A conversion from float to integer saturates, and converts NaN to 0.
//! Rust's `as` does the same.

use super::real::{Real, nearest};
use super::valu::{Format, Value, flushes, lanes, rounding};
use super::{Cx, Flow, Handler};
use crate::float::{self, Ieee};
use crate::op::Op;
use crate::soft::{self, Round};
use half::f16;
use isa::Target;

pub(super) fn handler(target: &Target, name: &str) -> Option<Handler> {
    to_int(name)
        .or_else(|| to_float(name))
        .or_else(|| normalised(name))
        .or_else(|| packing(name))
        .or_else(|| exponents(target, name))
}

fn to_int(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_i32_f32" => lanes!((a: f32) -> i32 => a as i32),
        "v_cvt_u32_f32" => lanes!((a: f32) -> u32 => a as u32),
        "v_cvt_i32_f64" => lanes!((a: f64) -> i32 => a as i32),
        "v_cvt_u32_f64" => lanes!((a: f64) -> u32 => a as u32),
        "v_cvt_rpi_i32_f32" => lanes!((a: f32) -> i32 => bounded(a, (f64::from(a) + 0.5).floor())),
        "v_cvt_flr_i32_f32" => lanes!((a: f32) -> i32 => bounded(a, f64::from(a).floor())),
        "v_cvt_u16_f16" => lanes!((a: f16) -> u16 => float::half_to_single(a) as u16),
        "v_cvt_i16_f16" => lanes!((a: f16) -> i16 => float::half_to_single(a) as i16),
        _ => return None,
    })
}

/// Converts a float to an integer, for instructions that convert a NaN as if it were an infinity. The
/// documentation of CLRX ("GcnInstrsVop1") found this by experiments.
#[inline(always)]
fn bounded(source: f32, value: f64) -> i32 {
    match source.is_nan() {
        true if source.is_sign_negative() => i32::MIN,
        true => i32::MAX,
        false => value as i32,
    }
}

/// Converts an integer to a float, which may need rounding.
#[inline(always)]
fn from_int<A: Value + Into<i64>, T: Real>(cx: &mut Cx<'_>, op: &Op, host: impl Fn(A) -> T) -> Flow {
    if nearest(cx, T::FORMAT) {
        return cx.map1(op, host);
    }
    let round = cx.round::<T>();
    cx.map1(op, |a: A| T::of_bits(soft::from_int::<T::Soft>(round, i128::from(a.into()))))
}

fn to_float(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_f32_i32" => |cx, op| from_int(cx, op, |a: i32| a as f32),
        "v_cvt_f32_u32" => |cx, op| from_int(cx, op, |a: u32| a as f32),
        "v_cvt_f16_u16" => |cx, op| from_int(cx, op, |a: u16| float::single_to_half(f32::from(a))),
        "v_cvt_f16_i16" => |cx, op| from_int(cx, op, |a: i16| float::single_to_half(f32::from(a))),
        "v_cvt_f64_i32" => lanes!((a: i32) -> f64 => f64::from(a)),
        "v_cvt_f64_u32" => lanes!((a: u32) -> f64 => f64::from(a)),
        "v_cvt_f64_f32" => lanes!((a: f32) -> f64 => if a.nan() { wide_nan(a) } else { f64::from(a) }),
        "v_cvt_f32_f64" => |cx, op| {
            let (round, fast) = (cx.round::<f32>(), nearest(cx, Format::F32));
            cx.map1(op, |a: f64| match fast && !a.nan() {
                true => a as f32,
                false => f32::of_bits(soft::convert::<soft::Double, soft::Single>(round, a.bits())),
            })
        },
        "v_cvt_f32_f16" => lanes!((a: f16) -> f32 => float::half_to_single(a)),
        "v_cvt_f16_f32" => |cx, op| {
            if nearest(cx, Format::F16) {
                return cx.map1(op, |a: f32| float::single_to_half(a));
            }
            let round = cx.round::<f16>();
            cx.map1(op, |a: f32| to_half(round, a))
        },
        "v_cvt_f32_ubyte0" => lanes!((a: u32) -> f32 => (a & 255) as f32),
        "v_cvt_f32_ubyte1" => lanes!((a: u32) -> f32 => (a >> 8 & 255) as f32),
        "v_cvt_f32_ubyte2" => lanes!((a: u32) -> f32 => (a >> 16 & 255) as f32),
        "v_cvt_f32_ubyte3" => lanes!((a: u32) -> f32 => (a >> 24) as f32),
        "v_cvt_off_f32_i4" => lanes!((a: u32) -> f32 => ((a << 28) as i32 >> 28) as f32 / 16.0),
        _ => return None,
    })
}

fn wide_nan(value: f32) -> f64 {
    f64::of_bits(soft::convert::<soft::Single, soft::Double>(Round::NEAREST, value.bits()))
}

/// Rounds a number to a half, according to the mode.
pub(super) fn to_half(round: Round, value: f32) -> f16 {
    f16::of_bits(soft::convert::<soft::Single, soft::Half>(round, value.bits()))
}

fn normalised(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_norm_i16_f16" => lanes!((a: f16) -> i16 => norm_i16(float::half_to_single(a)) as i16),
        "v_cvt_norm_u16_f16" => lanes!((a: f16) -> u16 => norm_u16(float::half_to_single(a)) as u16),
        "v_cvt_pknorm_i16_f32" => lanes!((a: f32, b: f32) -> u32 => pack(norm_i16(a), norm_i16(b))),
        "v_cvt_pknorm_u16_f32" => lanes!((a: f32, b: f32) -> u32 => pack(norm_u16(a), norm_u16(b))),
        "v_cvt_pknorm_i16_f16" => lanes!((a: f16, b: f16) -> u32 => {
            pack(norm_i16(float::half_to_single(a)), norm_i16(float::half_to_single(b)))
        }),
        "v_cvt_pknorm_u16_f16" => lanes!((a: f16, b: f16) -> u32 => {
            pack(norm_u16(float::half_to_single(a)), norm_u16(float::half_to_single(b)))
        }),
        _ => return None,
    })
}

fn packing(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_pkrtz_f16_f32" => |cx, op| {
            let flush = flushes(cx.wave, Format::F16).1;
            let (clamp, dx10) = (op.clamp(), cx.wave.dx10_clamp);
            cx.map2(op, |a: f32, b: f32| {
                let half = |value: f32| {
                    let half = to_half(Round::TOWARD_ZERO, value);
                    let half =
                        if clamp { f16::from_f64(super::valu::clamp(half.to_f64(), dx10)) } else { half };
                    u32::from(if flush { half.flushed() } else { half }.to_bits())
                };
                pack(half(a), half(b))
            })
        },
        "v_cvt_pk_u16_u32" => lanes!((a: u32, b: u32) -> u32 => pack(a.min(0xffff), b.min(0xffff))),
        "v_cvt_pk_i16_i32" => lanes!((a: i32, b: i32) -> u32 => {
            pack(a.clamp(-0x8000, 0x7fff) as u32, b.clamp(-0x8000, 0x7fff) as u32)
        }),
        // The instruction replaces one byte of an old dword by its result. For `v_cvt_pk_u8_f32` the old
        // dword is the third source, and for `v_cvt_pkaccum_u8_f32` it is the destination.
        "v_cvt_pk_u8_f32" | "v_cvt_pkaccum_u8_f32" => |cx, op| {
            let round = rounding(cx.wave, Format::F32);
            cx.map3(op, |a: f32, b: u32, c: u32| {
                let at = 8 * (b & 3);
                let byte = soft::to_int::<soft::Single>(round, a.bits()).unwrap_or(0).clamp(0, 255);
                c & !(255 << at) | (byte as u32) << at
            })
        },
        "v_pack_b32_f16" => lanes!((a: f16, b: f16) -> u32 => pack(a.to_bits().into(), b.to_bits().into())),
        "v_sat_pk_u8_i16" => lanes!((a: u32) -> u32 => {
            let saturate = |half: u32| (half as i16).clamp(0, 255) as u32;
            saturate(a) | saturate(a >> 16) << 8
        }),
        _ => return None,
    })
}

/// Returns the handler of an instruction that extracts the exponent of a float, as C's `frexp` does. For
/// infinities and NaNs, the result depends on the family: -1 or 0.
fn exponents(target: &Target, name: &str) -> Option<Handler> {
    let minus_one = target.arch.emulation.frexp_exp_of_special == -1;
    Some(match name {
        "v_frexp_exp_i32_f32" if minus_one => lanes!((a: f32) -> i32 => float::exponent(a).unwrap_or(-1)),
        "v_frexp_exp_i32_f64" if minus_one => lanes!((a: f64) -> i32 => float::exponent(a).unwrap_or(-1)),
        "v_frexp_exp_i32_f32" => lanes!((a: f32) -> i32 => float::exponent(a).unwrap_or(0)),
        "v_frexp_exp_i32_f64" => lanes!((a: f64) -> i32 => float::exponent(a).unwrap_or(0)),
        "v_frexp_exp_i16_f16" => lanes!((a: f16) -> i16 => float::exponent(a).unwrap_or(0) as i16),
        _ => return None,
    })
}

#[inline(always)]
fn pack(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

/// Converts a number from -1.0 to 1.0 to a signed normalised 16-bit integer (1.0 becomes 32767).
fn norm_i16(value: f32) -> u32 {
    (value.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i32 as u32
}

/// Converts a number from 0.0 to 1.0 to an unsigned normalised 16-bit integer (1.0 becomes 65535).
fn norm_u16(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toward_zero() {
        let half = |value| to_half(Round::TOWARD_ZERO, value).to_bits();
        assert_eq!(half(1.0), 0x3c00);
        assert_eq!(half(1.000_9), 0x3c00);
        assert_eq!(half(-1.000_9), 0xbc00);
        assert_eq!(half(1e9), 0x7bff);
        assert_eq!(half(f32::INFINITY), 0x7c00);
        assert_eq!(half(1e-9), 0);
    }

    #[test]
    fn floors_of_nans() {
        assert_eq!(bounded(f32::NAN, f64::NAN), i32::MAX);
        assert_eq!(bounded(-f32::NAN, f64::NAN), i32::MIN);
        assert_eq!(bounded(-2.5, -3.0), -3);
    }
}
