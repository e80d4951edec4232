//! Vector arithmetic on f32 and f64.
//!
//! Reciprocals, roots, exponentials and the like are computed in double precision and rounded once; the hardware is
//! within 1 ulp of that (f64 reciprocals and roots are less exact there: programs refine them).

use super::valu::{Value, collect_mask, expand_vcc, fetch, finish, lanes, write_mask};
use super::{Cx, Flow, Handler};
use crate::float::{self, Ieee};
use crate::op::Op;
use crate::wave::Lanes;

pub(super) fn handler(name: &str) -> Option<Handler> {
    basic(name)
        .or_else(|| fused(name))
        .or_else(|| extrema(name))
        .or_else(|| rounding(name))
        .or_else(|| exponents(name))
        .or_else(|| transcendental(name))
        .or_else(|| division(name))
}

fn basic(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_f32" => lanes!((a: f32, b: f32) -> f32 => a + b),
        "v_sub_f32" => lanes!((a: f32, b: f32) -> f32 => a - b),
        "v_subrev_f32" => lanes!((a: f32, b: f32) -> f32 => b - a),
        "v_mul_f32" => lanes!((a: f32, b: f32) -> f32 => a * b),
        "v_mul_legacy_f32" => lanes!((a: f32, b: f32) -> f32 => legacy_product(a, b)),
        "v_add_f64" => lanes!((a: f64, b: f64) -> f64 => a + b),
        "v_mul_f64" => lanes!((a: f64, b: f64) -> f64 => a * b),
        _ => return None,
    })
}

fn fused(name: &str) -> Option<Handler> {
    Some(match name {
        "v_fma_f32" | "v_fmac_f32" => lanes!((a: f32, b: f32, c: f32) -> f32 => a.mul_add(b, c)),
        "v_fma_f64" => lanes!((a: f64, b: f64, c: f64) -> f64 => a.mul_add(b, c)),
        // Two roundings, and never denormals (Vega ISA: V_MAD_F32, V_MAC_F32).
        "v_mad_f32" | "v_mac_f32" | "v_madak_f32" => {
            lanes!((a: f32, b: f32, c: f32) -> f32 => multiply_add(a, b, c))
        }
        "v_madmk_f32" => lanes!((a: f32, k: f32, b: f32) -> f32 => multiply_add(a, k, b)),
        "v_mad_legacy_f32" => lanes!((a: f32, b: f32, c: f32) -> f32 => {
            float::flush(legacy_product(float::flush(a), float::flush(b))) + float::flush(c)
        }),
        _ => return None,
    })
}

fn extrema(name: &str) -> Option<Handler> {
    Some(match name {
        "v_min_f32" => |cx, op| match cx.wave.ieee {
            true => cx.map2(op, |a: f32, b: f32| float::min::<f32, true>(a, b)),
            false => cx.map2(op, |a: f32, b: f32| float::min::<f32, false>(a, b)),
        },
        "v_max_f32" => |cx, op| match cx.wave.ieee {
            true => cx.map2(op, |a: f32, b: f32| float::max::<f32, true>(a, b)),
            false => cx.map2(op, |a: f32, b: f32| float::max::<f32, false>(a, b)),
        },
        "v_min_f64" => |cx, op| match cx.wave.ieee {
            true => cx.map2(op, |a: f64, b: f64| float::min::<f64, true>(a, b)),
            false => cx.map2(op, |a: f64, b: f64| float::min::<f64, false>(a, b)),
        },
        "v_max_f64" => |cx, op| match cx.wave.ieee {
            true => cx.map2(op, |a: f64, b: f64| float::max::<f64, true>(a, b)),
            false => cx.map2(op, |a: f64, b: f64| float::max::<f64, false>(a, b)),
        },
        "v_min3_f32" => |cx, op| match cx.wave.ieee {
            true => cx.map3(op, |a: f32, b, c| float::min::<f32, true>(float::min::<f32, true>(a, b), c)),
            false => cx.map3(op, |a: f32, b, c| float::min::<f32, false>(float::min::<f32, false>(a, b), c)),
        },
        "v_max3_f32" => |cx, op| match cx.wave.ieee {
            true => cx.map3(op, |a: f32, b, c| float::max::<f32, true>(float::max::<f32, true>(a, b), c)),
            false => cx.map3(op, |a: f32, b, c| float::max::<f32, false>(float::max::<f32, false>(a, b), c)),
        },
        "v_med3_f32" => |cx, op| match cx.wave.ieee {
            true => cx.map3(op, float::median::<f32, true>),
            false => cx.map3(op, float::median::<f32, false>),
        },
        _ => return None,
    })
}

fn rounding(name: &str) -> Option<Handler> {
    Some(match name {
        "v_trunc_f32" => lanes!((a: f32) -> f32 => a.trunc()),
        "v_ceil_f32" => lanes!((a: f32) -> f32 => a.ceil()),
        "v_floor_f32" => lanes!((a: f32) -> f32 => a.floor()),
        "v_rndne_f32" => lanes!((a: f32) -> f32 => a.round_ties_even()),
        "v_fract_f32" => {
            lanes!((a: f32) -> f32 => float::min::<f32, false>(a - a.floor(), f32::from_bits(0x3f7f_ffff)))
        }
        "v_trunc_f64" => lanes!((a: f64) -> f64 => a.trunc()),
        "v_ceil_f64" => lanes!((a: f64) -> f64 => a.ceil()),
        "v_floor_f64" => lanes!((a: f64) -> f64 => a.floor()),
        "v_rndne_f64" => lanes!((a: f64) -> f64 => a.round_ties_even()),
        "v_fract_f64" => lanes!((a: f64) -> f64 => fract64(a)),
        _ => return None,
    })
}

fn exponents(name: &str) -> Option<Handler> {
    Some(match name {
        "v_ldexp_f32" => {
            lanes!((a: f32, b: i32) -> f32 => libm::ldexp(f64::from(a), b.clamp(-400, 400)) as f32)
        }
        "v_ldexp_f64" => lanes!((a: f64, b: i32) -> f64 => libm::ldexp(a, b)),
        "v_frexp_exp_i32_f32" => {
            lanes!((a: f32) -> i32 => if a.is_finite() { libm::frexp(f64::from(a)).1 } else { 0 })
        }
        "v_frexp_exp_i32_f64" => lanes!((a: f64) -> i32 => if a.is_finite() { libm::frexp(a).1 } else { 0 }),
        "v_frexp_mant_f32" => {
            lanes!((a: f32) -> f32 => if a.is_finite() { libm::frexp(f64::from(a)).0 as f32 } else { a })
        }
        "v_frexp_mant_f64" => lanes!((a: f64) -> f64 => if a.is_finite() { libm::frexp(a).0 } else { a }),
        _ => return None,
    })
}

fn transcendental(name: &str) -> Option<Handler> {
    Some(match name {
        "v_rcp_f32" | "v_rcp_iflag_f32" => lanes!((a: f32) -> f32 => (1.0 / f64::from(a)) as f32),
        "v_rsq_f32" => lanes!((a: f32) -> f32 => (1.0 / f64::from(a).sqrt()) as f32),
        "v_sqrt_f32" => lanes!((a: f32) -> f32 => a.sqrt()),
        "v_exp_f32" | "v_exp_legacy_f32" => lanes!((a: f32) -> f32 => libm::exp2(f64::from(a)) as f32),
        "v_log_f32" | "v_log_legacy_f32" => lanes!((a: f32) -> f32 => libm::log2(f64::from(a)) as f32),
        "v_sin_f32" => lanes!((a: f32) -> f32 => float::sin_turns(f64::from(a)) as f32),
        "v_cos_f32" => lanes!((a: f32) -> f32 => float::cos_turns(f64::from(a)) as f32),
        "v_rcp_f64" => lanes!((a: f64) -> f64 => 1.0 / a),
        "v_rsq_f64" => lanes!((a: f64) -> f64 => 1.0 / a.sqrt()),
        "v_sqrt_f64" => lanes!((a: f64) -> f64 => a.sqrt()),
        _ => return None,
    })
}

fn division(name: &str) -> Option<Handler> {
    Some(match name {
        "v_div_scale_f32" => div_scale::<f32>,
        "v_div_scale_f64" => div_scale::<f64>,
        "v_div_fmas_f32" => |cx, op| div_fmas(cx, op, float::div_fmas32),
        "v_div_fmas_f64" => |cx, op| div_fmas(cx, op, float::div_fmas64),
        "v_div_fixup_f32" => lanes!((q: f32, d: f32, n: f32) -> f32 => float::div_fixup(q, d, n)),
        "v_div_fixup_f64" => lanes!((q: f64, d: f64, n: f64) -> f64 => float::div_fixup(q, d, n)),
        _ => return None,
    })
}

/// DX9 rules: anything times zero is zero.
#[inline(always)]
fn legacy_product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

#[inline(always)]
fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    float::flush(float::flush(float::flush(a) * float::flush(b)) + float::flush(c))
}

fn fract64(a: f64) -> f64 {
    let part = a - a.floor();
    if part >= 1.0 { f64::from_bits(0x3fef_ffff_ffff_ffff) } else { part }
}

fn div_scale<T: Value + Ieee>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let mut flags: Lanes = [0; 64];
    let [a, b, c, _] = &mut cx.scratch.sources;
    let a = fetch::<T>(cx.wave, op, 0, a);
    let b = fetch::<T>(cx.wave, op, 1, b);
    let c = fetch::<T>(cx.wave, op, 2, c);
    let result = &mut cx.scratch.result;
    for lane in 0..64 {
        let value = |source: super::valu::Source<'_>| T::from_words(source[0][lane], source[1][lane]);
        let (scaled, flag) = float::div_scale(value(a), value(b), value(c));
        (result[0][lane], result[1][lane]) = scaled.words();
        flags[lane] = u32::from(flag);
    }
    let flow = finish::<T>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, collect_mask(&flags) & exec);
    flow
}

#[inline(always)]
fn div_fmas<T: Value>(cx: &mut Cx<'_>, op: &Op, f: impl Fn(T, T, T, bool) -> T) -> Flow {
    let vcc = expand_vcc(cx.wave);
    let [a, b, c, _] = &mut cx.scratch.sources;
    let a = fetch::<T>(cx.wave, op, 0, a);
    let b = fetch::<T>(cx.wave, op, 1, b);
    let c = fetch::<T>(cx.wave, op, 2, c);
    let result = &mut cx.scratch.result;
    cx.arch.dispatch(|| {
        for lane in 0..64 {
            let value = |source: super::valu::Source<'_>| T::from_words(source[0][lane], source[1][lane]);
            let words = f(value(a), value(b), value(c), vcc[lane] != 0).words();
            result[0][lane] = words.0;
            if T::WORDS == 2 {
                result[1][lane] = words.1;
            }
        }
    });
    finish::<T>(cx.wave, cx.scratch, op)
}
