//! Vector arithmetic on f16. Sums, products, quotients and roots are exact in f32 or f64 as far as f16 can tell, so
//! that rounding twice is rounding once.

use super::valu::lanes;
use super::{Cx, Flow, Handler};
use crate::float;
use crate::op::{Op, VGPR0};
use half::f16;

pub(super) fn handler(name: &str) -> Option<Handler> {
    arithmetic(name).or_else(|| functions(name)).or_else(|| keeping_high(name))
}

fn arithmetic(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_f16" => lanes!((a: f16, b: f16) -> f16 => via(f32::from(a) + f32::from(b))),
        "v_sub_f16" => lanes!((a: f16, b: f16) -> f16 => via(f32::from(a) - f32::from(b))),
        "v_subrev_f16" => lanes!((a: f16, b: f16) -> f16 => via(f32::from(b) - f32::from(a))),
        "v_mul_f16" => lanes!((a: f16, b: f16) -> f16 => via(f32::from(a) * f32::from(b))),
        "v_min_f16" => lanes!((a: f16, b: f16) -> f16 => via(float::min::<f32, true>(a.into(), b.into()))),
        "v_max_f16" => lanes!((a: f16, b: f16) -> f16 => via(float::max::<f32, true>(a.into(), b.into()))),
        "v_mac_f16" | "v_mad_legacy_f16" | "v_madak_f16" => {
            lanes!((a: f16, b: f16, c: f16) -> f16 => multiply_add(a, b, c))
        }
        "v_madmk_f16" => lanes!((a: f16, k: f16, b: f16) -> f16 => multiply_add(a, k, b)),
        "v_fma_legacy_f16" => lanes!((a: f16, b: f16, c: f16) -> f16 => fused(a, b, c)),
        "v_div_fixup_legacy_f16" => lanes!((a: f16, b: f16, c: f16) -> f16 => fixup(a, b, c)),
        _ => return None,
    })
}

fn functions(name: &str) -> Option<Handler> {
    Some(match name {
        "v_rcp_f16" => lanes!((a: f16) -> f16 => f16::from_f64(1.0 / f64::from(a))),
        "v_sqrt_f16" => lanes!((a: f16) -> f16 => f16::from_f64(f64::from(a).sqrt())),
        "v_rsq_f16" => lanes!((a: f16) -> f16 => f16::from_f64(1.0 / f64::from(a).sqrt())),
        "v_log_f16" => lanes!((a: f16) -> f16 => f16::from_f64(libm::log2(f64::from(a)))),
        "v_exp_f16" => lanes!((a: f16) -> f16 => f16::from_f64(libm::exp2(f64::from(a)))),
        "v_sin_f16" => lanes!((a: f16) -> f16 => f16::from_f64(float::sin_turns(f64::from(a)))),
        "v_cos_f16" => lanes!((a: f16) -> f16 => f16::from_f64(float::cos_turns(f64::from(a)))),
        "v_floor_f16" => lanes!((a: f16) -> f16 => via(f32::from(a).floor())),
        "v_ceil_f16" => lanes!((a: f16) -> f16 => via(f32::from(a).ceil())),
        "v_trunc_f16" => lanes!((a: f16) -> f16 => via(f32::from(a).trunc())),
        "v_rndne_f16" => lanes!((a: f16) -> f16 => via(f32::from(a).round_ties_even())),
        "v_fract_f16" => lanes!((a: f16) -> f16 => {
            via(float::min::<f32, false>(f32::from(a) - f32::from(a).floor(), f32::from(f16::from_bits(0x3bff))))
        }),
        "v_ldexp_f16" => {
            lanes!((a: f16, b: i16) -> f16 => f16::from_f64(libm::ldexp(f64::from(a), b.into())))
        }
        "v_frexp_mant_f16" => lanes!((a: f16) -> f16 => {
            if a.is_finite() { f16::from_f64(libm::frexp(f64::from(a)).0) } else { a }
        }),
        "v_frexp_exp_i16_f16" => lanes!((a: f16) -> i16 => {
            if a.is_finite() { libm::frexp(f64::from(a)).1 as i16 } else { 0 }
        }),
        _ => return None,
    })
}

/// A three-source 16-bit operation that leaves the other half of its destination alone: those GFX9 introduced.
macro_rules! keeping {
    (($a:ident, $b:ident, $c:ident: $T:ty) $body:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            keep_other_half(cx, op, |$a: $T, $b: $T, $c: $T| -> $T { $body })
        }
        run as Handler
    }};
}

fn keeping_high(name: &str) -> Option<Handler> {
    Some(match name {
        "v_fma_f16" => keeping!((a, b, c: f16) fused(a, b, c)),
        "v_mad_f16" => keeping!((a, b, c: f16) multiply_add(a, b, c)),
        "v_div_fixup_f16" => keeping!((a, b, c: f16) fixup(a, b, c)),
        "v_min3_f16" => keeping!((a, b, c: f16) {
            via(float::min::<f32, true>(float::min::<f32, true>(a.into(), b.into()), c.into()))
        }),
        "v_max3_f16" => keeping!((a, b, c: f16) {
            via(float::max::<f32, true>(float::max::<f32, true>(a.into(), b.into()), c.into()))
        }),
        "v_med3_f16" => {
            keeping!((a, b, c: f16) via(float::median::<f32, true>(a.into(), b.into(), c.into())))
        }
        "v_mad_u16" | "v_mad_i16" => keeping!((a, b, c: u16) a.wrapping_mul(b).wrapping_add(c)),
        "v_min3_i16" => keeping!((a, b, c: i16) a.min(b).min(c)),
        "v_max3_i16" => keeping!((a, b, c: i16) a.max(b).max(c)),
        "v_med3_i16" => keeping!((a, b, c: i16) a.max(b).min(a.min(b).max(c))),
        "v_min3_u16" => keeping!((a, b, c: u16) a.min(b).min(c)),
        "v_max3_u16" => keeping!((a, b, c: u16) a.max(b).max(c)),
        "v_med3_u16" => keeping!((a, b, c: u16) a.max(b).min(a.min(b).max(c))),
        _ => return None,
    })
}

fn keep_other_half<T: super::valu::Value>(cx: &mut Cx<'_>, op: &Op, f: impl Fn(T, T, T) -> T) -> Flow {
    let at = usize::from(op.dst.wrapping_sub(VGPR0));
    let old = cx.wave.vgpr.get(at).copied();
    let flow = cx.map3(op, f);
    // The upper half of the destination (`op_sel`) already keeps the lower one.
    if let (Some(old), false, Some(new)) = (old, op.op_sel & 8 != 0, cx.wave.vgpr.get_mut(at)) {
        new.iter_mut().zip(old).for_each(|(new, old)| *new = *new & 0xffff | old & 0xffff_0000);
    }
    flow
}

#[inline(always)]
fn via(value: f32) -> f16 {
    f16::from_f32(value)
}

#[inline(always)]
fn fused(a: f16, b: f16, c: f16) -> f16 {
    f16::from_f64(f64::from(a) * f64::from(b) + f64::from(c))
}

#[inline(always)]
fn multiply_add(a: f16, b: f16, c: f16) -> f16 {
    via(f32::from(via(f32::from(a) * f32::from(b))) + f32::from(c))
}

/// As `v_div_fixup_f32`; f16 operands have no exponents that under- or overflow there, so that only the special
/// values differ from the quotient.
fn fixup(quotient: f16, denominator: f16, numerator: f16) -> f16 {
    via(float::div_fixup(quotient.into(), denominator.into(), numerator.into()))
}
