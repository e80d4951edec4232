//! Instructions whose results are approximations on the hardware: reciprocals, roots, exponentials,
//! logarithms and sines.
//!
//! The emulator computes these functions in double precision and rounds the result once to nearest. The
//! rounding mode in MODE has no influence. The error of the hardware's results is within the bounds that
//! [`crate::fidelity`] states.

use super::real::Real;
use super::valu::Format;
use super::{Cx, Flow, Handler};
use crate::float::{self, Ieee};
use crate::op::Op;
use crate::soft;
use half::f16;

pub(super) fn handler(name: &str) -> Option<Handler> {
    let (base, format) = name.rsplit_once('_')?;
    match format {
        "f16" => of_format::<f16>(base),
        "f32" => of_format::<f32>(base).or_else(|| single(base)),
        "f64" => of_format::<f64>(base).or_else(|| double(base)),
        _ => None,
    }
}

/// Computes an approximated function of one argument. If the argument is a NaN, the result is this NaN, made
/// quiet. If the function is not defined for the argument, the result is a negative NaN; the documentation of
/// CLRX ("GcnInstrsVop1") found this by experiments.
#[inline(always)]
fn approximate<T: Real>(cx: &mut Cx<'_>, op: &Op, f: impl Fn(f64) -> f64) -> Flow {
    let saturate = T::FORMAT == Format::F16 && cx.round::<T>().saturate;
    cx.map1(op, |a: T| {
        if a.nan() {
            return a.quieted();
        }
        let value = f(a.widen());
        if value.is_nan() {
            return T::of_bits(T::sign_bit() | T::infinity() | T::quiet_bit());
        }
        if saturate {
            let round = soft::Round { saturate, ..soft::Round::NEAREST };
            return T::of_bits(soft::convert::<soft::Double, T::Soft>(round, value.to_bits()));
        }
        T::narrow(value)
    })
}

fn of_format<T: Real>(base: &str) -> Option<Handler> {
    Some(match base {
        "v_rcp" => |cx, op| approximate::<T>(cx, op, |a| 1.0 / a),
        "v_rsq" => |cx, op| approximate::<T>(cx, op, |a| 1.0 / a.sqrt()),
        "v_sqrt" => |cx, op| approximate::<T>(cx, op, f64::sqrt),
        "v_exp" => |cx, op| approximate::<T>(cx, op, libm::exp2),
        "v_log" => |cx, op| approximate::<T>(cx, op, libm::log2),
        "v_sin" => |cx, op| approximate::<T>(cx, op, float::sin_turns),
        "v_cos" => |cx, op| approximate::<T>(cx, op, float::cos_turns),
        _ => return None,
    })
}

fn single(base: &str) -> Option<Handler> {
    Some(match base {
        "v_rcp_iflag" => of_format::<f32>("v_rcp")?,
        "v_exp_legacy" => of_format::<f32>("v_exp")?,
        "v_log_legacy" => of_format::<f32>("v_log")?,
        "v_rcp_clamp" => |cx, op| approximate::<f32>(cx, op, |a| finite32(1.0 / a)),
        "v_rsq_clamp" => |cx, op| approximate::<f32>(cx, op, |a| finite32(1.0 / a.sqrt())),
        "v_log_clamp" => |cx, op| approximate::<f32>(cx, op, |a| finite32(libm::log2(a))),
        "v_rcp_legacy" => |cx, op| approximate::<f32>(cx, op, |a| zero_for_infinity(1.0 / a)),
        "v_rsq_legacy" => |cx, op| approximate::<f32>(cx, op, |a| zero_for_infinity(1.0 / a.sqrt()).abs()),
        _ => return None,
    })
}

fn double(base: &str) -> Option<Handler> {
    Some(match base {
        "v_rcp_clamp" => |cx, op| approximate::<f64>(cx, op, |a| (1.0 / a).clamp(-f64::MAX, f64::MAX)),
        "v_rsq_clamp" => |cx, op| approximate::<f64>(cx, op, |a| (1.0 / a.sqrt()).clamp(-f64::MAX, f64::MAX)),
        "v_trig_preop" => |cx, op| cx.map2(op, |a: f64, b: u32| trig_preop(a, b)),
        _ => return None,
    })
}

/// Clamps a value to the finite range of f32.
fn finite32(value: f64) -> f64 {
    value.clamp(-f64::from(f32::MAX), f64::from(f32::MAX))
}

/// Replaces a value that would be infinite in f32 by zero.
fn zero_for_infinity(value: f64) -> f64 {
    if (value as f32).is_infinite() { 0.0f64.copysign(value) } else { value }
}

/// The first 1216 bits of 2/pi after the binary point.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];
/// Number of bits in the hardware's table.
const TABLE_BITS: u32 = 1201;

/// Returns 53 bits of 2/pi as a float. Programs multiply an angle by such parts of 2/pi in order to reduce
/// the angle to less than a turn. `segment` is the number of the part. For a very large angle, the parts
/// begin further right in 2/pi, because the bits before would only add whole turns (Vega ISA,
/// V_TRIG_PREOP_F64).
fn trig_preop(angle: f64, segment: u32) -> f64 {
    let exponent = Ieee::exponent(angle);
    let skipped = if exponent > 1077 { (exponent - 1077) as u32 } else { 0 };
    let shift = (segment & 31) * 53 + skipped;
    let bits = (0..53).fold(0u64, |bits, at| bits << 1 | table_bit(shift + at));
    let scale = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    libm::ldexp(bits as f64, scale)
}

fn table_bit(at: u32) -> u64 {
    if at >= TABLE_BITS { 0 } else { TWO_OVER_PI[at as usize / 64] >> (63 - at % 64) & 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that consecutive segments hold consecutive bits of 2/pi.
    #[test]
    fn segments_of_two_over_pi() {
        let first = trig_preop(1.0, 0);
        assert!((first - std::f64::consts::FRAC_2_PI).abs() <= 2f64.powi(-53));
        assert!(first <= std::f64::consts::FRAC_2_PI);
        let second = trig_preop(1.0, 1);
        assert!(second < 2f64.powi(-53) && second > 0.0);
        // 2/pi * pi/2 = 1 to 106 bits, with pi/2 in two parts (from fdlibm).
        let (high, low) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
        let product = first * high;
        let error = first.mul_add(high, -product);
        let rest = (product - 1.0) + (error + (second * high + first * low));
        assert!(rest.abs() < 1e-31, "{rest:e}");
        assert_eq!(
            trig_preop(2f64.powi(1077 - 1023 + 8), 0).to_bits(),
            trig_preop(2f64.powi(62), 0).to_bits()
        );
        assert_eq!(trig_preop(1.0, 31), 0.0);
    }

    /// Compares the sine of large angles, reduced with the table, with the C library's own reduction.
    #[test]
    fn reduces_large_angles() {
        for angle in [1e5f64, 1e10, 12_345_678_901_234.5, 1e22, 3.7e50, 1e100, 1e300] {
            let exponent = Ieee::exponent(angle);
            let unscale = if exponent >= 1968 { -128 } else { 0 };
            // Multiples of four quarter turns cancel; the products are exact enough in pieces of 26 bits.
            let mut turns = 0.0f64;
            let small = libm::ldexp(angle, unscale);
            for segment in 0..3 {
                let part = trig_preop(angle, segment);
                let product = part * small;
                let error = part.mul_add(small, -product);
                turns += product % 4.0;
                turns = turns % 4.0 + error;
            }
            let sine = (turns * std::f64::consts::FRAC_PI_2).sin();
            assert!((sine - libm::sin(angle)).abs() < 1e-12, "{angle:e}: {sine} is not {}", libm::sin(angle));
        }
    }
}
