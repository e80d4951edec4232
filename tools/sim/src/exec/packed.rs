//! Packed arithmetic of VOP3P instructions. Each instruction operates on the two 16-bit halves of registers
//! at once. On gfx90a, some instructions operate on two f32 at once.

use super::real::{Exact, Real, nearest};
use super::valu::{self, Format, Narrow, Source, flushes, plain, rounding, write};
use super::{Cx, Flow, Handler, dpp};
use crate::float;
use crate::op::{Op, Src};
use crate::soft::{self, Half, Round, Single};
use crate::wave::{Lanes, Wave};
use half::f16;

pub(super) fn handler(name: &str) -> Option<Handler> {
    ints(name).or_else(|| floats(name)).or_else(|| singles(name))
}

/// Makes a handler from an integer expression. The expression is evaluated exactly for each half of the
/// registers. The type `$T` says whether a half is a signed or an unsigned number.
macro_rules! packed {
    ($T:ty, |$a:ident, $b:ident, $c:ident| $body:expr) => {
        |cx, op| {
            let clamp = op.clamp();
            halves(cx, op, Select::from_op(op), |[a, b, c]| {
                let ($a, $b, $c) = (a as $T, b as $T, c as $T);
                let _ = $c;
                let value = $body;
                (if clamp { <$T>::clamped(value) } else { <$T>::wrapped(value) }) as u16
            })
        }
    };
}

fn ints(name: &str) -> Option<Handler> {
    Some(match name {
        "v_pk_mad_i16" => packed!(i16, |a, b, c| i64::from(a) * i64::from(b) + i64::from(c)),
        "v_pk_mad_u16" => packed!(u16, |a, b, c| i64::from(a) * i64::from(b) + i64::from(c)),
        "v_pk_mul_lo_u16" => packed!(u16, |a, b, c| i64::from(a) * i64::from(b)),
        "v_pk_add_i16" => packed!(i16, |a, b, c| i64::from(a) + i64::from(b)),
        "v_pk_add_u16" => packed!(u16, |a, b, c| i64::from(a) + i64::from(b)),
        "v_pk_sub_i16" => packed!(i16, |a, b, c| i64::from(a) - i64::from(b)),
        "v_pk_sub_u16" => packed!(u16, |a, b, c| i64::from(a) - i64::from(b)),
        "v_pk_lshlrev_b16" => packed!(u16, |a, b, c| i64::from(b.wrapping_shl(a.into()))),
        "v_pk_lshrrev_b16" => packed!(u16, |a, b, c| i64::from(b.wrapping_shr(a.into()))),
        "v_pk_ashrrev_i16" => packed!(i16, |a, b, c| i64::from(b.wrapping_shr(a as u32))),
        "v_pk_max_i16" => packed!(i16, |a, b, c| i64::from(a.max(b))),
        "v_pk_min_i16" => packed!(i16, |a, b, c| i64::from(a.min(b))),
        "v_pk_max_u16" => packed!(u16, |a, b, c| i64::from(a.max(b))),
        "v_pk_min_u16" => packed!(u16, |a, b, c| i64::from(a.min(b))),
        _ => return None,
    })
}

fn floats(name: &str) -> Option<Handler> {
    Some(match name {
        "v_pk_fma_f16" => |cx, op| {
            let exact: Exact = |r, [a, b, c]| soft::fma::<Half>(r, a, b, c);
            real_halves(cx, op, Select::from_op(op), |[a, b, c]| a.fused(b, c), exact)
        },
        "v_pk_fmac_f16" => |cx, op| {
            let exact: Exact = |r, [a, b, c]| soft::fma::<Half>(r, a, b, c);
            real_halves(cx, op, Select::EACH, |[a, b, c]| a.fused(b, c), exact)
        },
        "v_pk_add_f16" => |cx, op| {
            let exact: Exact = |r, [a, b, _]| soft::add::<Half>(r, a, b);
            real_halves(cx, op, Select::from_op(op), |[a, b, _]| a.plus(b), exact)
        },
        "v_pk_mul_f16" => |cx, op| {
            let exact: Exact = |r, [a, b, _]| soft::mul::<Half>(r, a, b);
            real_halves(cx, op, Select::from_op(op), |[a, b, _]| a.times(b), exact)
        },
        "v_pk_min_f16" => |cx, op| match cx.wave.ieee {
            true => extremum(cx, op, float::min::<f16, true>),
            false => extremum(cx, op, float::min::<f16, false>),
        },
        "v_pk_max_f16" => |cx, op| match cx.wave.ieee {
            true => extremum(cx, op, float::max::<f16, true>),
            false => extremum(cx, op, float::max::<f16, false>),
        },
        _ => return None,
    })
}

fn extremum(cx: &mut Cx<'_>, op: &Op, f: fn(f16, f16) -> f16) -> Flow {
    let finish = FloatHalves::for_op(cx.wave, op);
    halves(cx, op, Select::from_op(op), |values| {
        let [a, b, _] = values.map(|bits| finish.source(bits));
        finish.result(f(a, b))
    })
}

/// Which parts of the sources each half of the result uses. Both fields have two masks: the first is for the
/// low half of the result, the second for the high half. A mask has a bit for each source. In `halves`, the
/// bit says that the upper half of the source is used; in `negate`, that the source is negated.
#[derive(Clone, Copy)]
struct Select {
    halves: [u8; 2],
    negate: [u8; 2],
}

impl Select {
    /// The usual selection: the low half of the result uses the low halves of all sources, and the high half
    /// uses the high halves. No source is negated.
    const EACH: Select = Select { halves: [0, 7], negate: [0, 0] };

    fn from_op(op: &Op) -> Select {
        Select { halves: [op.op_sel, op.op_sel_hi], negate: [op.neg, op.abs] }
    }
}

/// Returns the dwords of the three sources.
fn words<'a>(wave: &'a Wave, op: &Op, temps: &'a mut [[Lanes; 2]; 4]) -> [&'a Lanes; 3] {
    let [a, b, c, _] = temps;
    [plain(wave, op.src[0], 1, a).0, plain(wave, op.src[1], 1, b).0, plain(wave, op.src[2], 1, c).0]
}

/// Applies `f` to both halves in each lane. Negation inverts the sign bit of a half, so the negation bits in
/// `select` have an effect only in float instructions.
fn halves(cx: &mut Cx<'_>, op: &Op, select: Select, f: impl Fn([u16; 3]) -> u16) -> Flow {
    let sources = words(cx.wave, op, &mut cx.scratch.sources);
    let floats = op.rules.packed_float;
    let result = &mut cx.scratch.result[0];
    for (lane, result) in result.iter_mut().enumerate() {
        let mut value = 0;
        for half in 0..2 {
            let part = |at: usize| {
                let bits = (sources[at][lane] >> (16 * (select.halves[half] >> at & 1))) as u16;
                let negate = floats && select.negate[half] >> at & 1 != 0;
                bits ^ if negate { 0x8000 } else { 0 }
            };
            value |= u32::from(f([part(0), part(1), part(2)])) << (16 * half);
        }
        *result = value;
    }
    let mask = dpp::write_mask(op, cx.wave.exec());
    write(cx.wave, op.dst, &cx.scratch.result[0], mask);
    Flow::Next
}

/// How MODE and CLAMP affect the results of operations on halves.
#[derive(Clone, Copy)]
struct FloatHalves {
    flush: (bool, bool),
    clamp: bool,
    dx10_clamp: bool,
}

impl FloatHalves {
    fn for_op(wave: &Wave, op: &Op) -> FloatHalves {
        FloatHalves { flush: flushes(wave, Format::F16), clamp: op.clamp(), dx10_clamp: wave.dx10_clamp }
    }

    fn source(self, bits: u16) -> f16 {
        let value = f16::from_bits(bits);
        if self.flush.0 { value.flushed() } else { value }
    }

    fn result(self, value: f16) -> u16 {
        let value = match self.clamp {
            true => f16::from_f64(valu::clamp(value.to_f64(), self.dx10_clamp)),
            false => value,
        };
        if self.flush.1 { value.flushed() } else { value }.to_bits()
    }
}

fn real_halves(
    cx: &mut Cx<'_>,
    op: &Op,
    select: Select,
    host: impl Fn([f16; 3]) -> f16,
    exact: Exact,
) -> Flow {
    let (fast, round) = (nearest(cx, Format::F16), rounding(cx.wave, Format::F16));
    let finish = FloatHalves::for_op(cx.wave, op);
    halves(cx, op, select, |bits| {
        let values = bits.map(|bits| finish.source(bits));
        finish.result(either(fast, round, values, &host, exact))
    })
}

/// Returns the result of the host's float arithmetic if this result is certainly right. Otherwise returns the
/// result of the exact implementation.
#[inline(always)]
fn either<T: Real, const N: usize>(
    fast: bool,
    round: Round,
    values: [T; N],
    host: &impl Fn([T; N]) -> T,
    exact: Exact,
) -> T {
    let value = host(values);
    if fast && !value.nan() {
        return value;
    }
    let bits = std::array::from_fn(|at| values.get(at).map_or(0, |value| value.bits()));
    T::of_bits(exact(round, bits))
}

fn singles(name: &str) -> Option<Handler> {
    Some(match name {
        "v_pk_fma_f32" => |cx, op| {
            pairs(cx, op, |[a, b, c]| a.mul_add(b, c), |r, [a, b, c]| soft::fma::<Single>(r, a, b, c))
        },
        "v_pk_mul_f32" => {
            |cx, op| pairs(cx, op, |[a, b, _]| a * b, |r, [a, b, _]| soft::mul::<Single>(r, a, b))
        }
        "v_pk_add_f32" => {
            |cx, op| pairs(cx, op, |[a, b, _]| a + b, |r, [a, b, _]| soft::add::<Single>(r, a, b))
        }
        "v_pk_mov_b32" => |cx, op| {
            let (mut low, mut high) = ([0; 64], [0; 64]);
            let [a, b, ..] = &mut cx.scratch.sources;
            low.copy_from_slice(&pair(cx.wave, op.src[0], a)[usize::from(op.op_sel & 1)]);
            high.copy_from_slice(&pair(cx.wave, op.src[1], b)[usize::from(op.op_sel >> 1 & 1)]);
            let exec = cx.wave.exec();
            write(cx.wave, op.dst, &low, exec);
            write(cx.wave, op.dst + 1, &high, exec);
            Flow::Next
        },
        _ => return None,
    })
}

/// Returns a source of two dwords. If the source is a constant, each of the two dwords has its value.
fn pair<'a>(wave: &'a Wave, src: Src, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    if let Src::K(value) = src {
        *temp = [[value as u32; 64]; 2];
        return Source(&temp[0], &temp[1]);
    }
    plain(wave, src, 2, temp)
}

/// Applies an operation to two f32 in each lane. `op_sel` selects which dwords of the sources are used.
fn pairs(cx: &mut Cx<'_>, op: &Op, host: impl Fn([f32; 3]) -> f32, exact: Exact) -> Flow {
    let (fast, round) = (nearest(cx, Format::F32), rounding(cx.wave, Format::F32));
    let (flush, dx10) = (flushes(cx.wave, Format::F32), cx.wave.dx10_clamp);
    let select = Select::from_op(op);
    let [a, b, c, _] = &mut cx.scratch.sources;
    let sources = [pair(cx.wave, op.src[0], a), pair(cx.wave, op.src[1], b), pair(cx.wave, op.src[2], c)];
    for half in 0..2 {
        for (lane, result) in cx.scratch.result[half].iter_mut().enumerate() {
            let values = std::array::from_fn(|at| {
                let word = sources[at][usize::from(select.halves[half] >> at & 1)][lane];
                let sign = u32::from(select.negate[half] >> at & 1) << 31;
                let value = f32::from_bits(word ^ sign);
                if flush.0 { value.flushed() } else { value }
            });
            let value = either(fast, round, values, &host, exact);
            let value = if op.clamp() { valu::clamp(value.into(), dx10) as f32 } else { value };
            let value = if flush.1 { value.flushed() } else { value };
            *result = value.to_bits();
        }
    }
    valu::store::<f64>(cx.wave, cx.scratch, op);
    Flow::Next
}
