//! Vector arithmetic on floats: f16, f32 and f64.
//!
//! Each operation has two implementations. The first uses the host's float arithmetic, and runs on all lanes
//! at once. Its result is right if MODE asks for rounding to nearest even and the result is not a NaN. The
//! second is the exact implementation in [`crate::soft`]. Its result is always right, but it runs on one lane
//! at a time; so it is used only if the first result may be wrong.

use super::valu::{
    self, Done, EachLane, Format, Shaped, Source, Value, fetch, finish, flushes, lane_bits, value, write_mask,
};
use super::{Cx, Flow, Handler};
use crate::float::{self, Ieee};
use crate::op::Op;
use crate::soft::{self, Round};
use crate::wave::ActiveLanes;
use half::f16;
use std::marker::PhantomData;

/// A float type that vector instructions compute with.
pub(crate) trait Real: Value + Ieee {
    type Soft: soft::Format;
    fn widen(self) -> f64;
    fn narrow(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn fused(self, b: Self, c: Self) -> Self;
    /// Replaces a denormal by a zero of the same sign.
    fn flushed(self) -> Self;
}

macro_rules! native {
    ($ty:ident, $soft:ident) => {
        impl Real for $ty {
            type Soft = soft::$soft;
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn narrow(value: f64) -> $ty {
                value as $ty
            }
            #[inline(always)]
            fn plus(self, other: $ty) -> $ty {
                self + other
            }
            #[inline(always)]
            fn times(self, other: $ty) -> $ty {
                self * other
            }
            #[inline(always)]
            fn fused(self, b: $ty, c: $ty) -> $ty {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn flushed(self) -> $ty {
                if self.abs() < $ty::MIN_POSITIVE { (0.0 as $ty).copysign(self) } else { self }
            }
        }
    };
}
native!(f32, Single);
native!(f64, Double);

/// Arithmetic on f16. Sums and products of two f16 are computed in f32. An f32 has more than twice as many
/// bits, so rounding the f32 result to f16 gives the same as rounding once. A fused multiply-add is computed
/// in f64. The exact sum may need more bits than an f64 has, because the product and the addend can be far
/// apart in size. The sum is therefore rounded to odd, so that the second rounding to f16 gives the right
/// result.
impl Real for f16 {
    type Soft = soft::Half;
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(float::half_to_single(self))
    }
    #[inline(always)]
    fn narrow(value: f64) -> f16 {
        float::double_to_half(value)
    }
    #[inline(always)]
    fn plus(self, other: f16) -> f16 {
        float::single_to_half(float::half_to_single(self) + float::half_to_single(other))
    }
    #[inline(always)]
    fn times(self, other: f16) -> f16 {
        float::single_to_half(float::half_to_single(self) * float::half_to_single(other))
    }
    #[inline(always)]
    fn fused(self, b: f16, c: f16) -> f16 {
        float::double_to_half(float::sum_to_odd(self.widen() * b.widen(), c.widen()))
    }
    #[inline(always)]
    fn flushed(self) -> f16 {
        let bits = self.to_bits();
        f16::from_bits(if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits })
    }
}

/// The exact implementation of an operation in one lane. Its arguments are the rounding mode and the bits of
/// the sources; it returns the bits of the result.
pub(crate) type Exact = fn(Round, [u64; 3]) -> u64;

/// Returns whether MODE asks for rounding as the host's arithmetic does it: to nearest even, with overflow to
/// infinity.
#[inline(always)]
pub(crate) fn nearest(cx: &Cx<'_>, format: Format) -> bool {
    const FP16_OVFL: u32 = 1 << 23;
    let field = match format {
        Format::F32 => 3,
        Format::F16 => 12 | FP16_OVFL,
        Format::F64 | Format::Int => 12,
    };
    cx.wave.mode() & field == 0
}

impl Cx<'_> {
    /// Runs an operation with `N` sources whose result is rounded. The function `host` always gets three
    /// values, and must ignore those after the first `N`.
    #[inline(always)]
    pub(crate) fn real<T: Real, const N: usize>(
        &mut self,
        op: &Op,
        host: impl Fn([T; 3]) -> T,
        exact: Exact,
    ) -> Flow {
        if !nearest(self, T::FORMAT) {
            return exactly::<T>(self, op, N, exact);
        }
        // The most common case has a fast path: an f32 operation without modifiers, while MODE flushes
        // denormals of sources and results.
        let mode = T::FORMAT == Format::F32 && op.rules.denormals == super::rules::Denormals::Mode;
        if mode && flushes(self.wave, T::FORMAT) == (true, true) && !op.src_modified && !op.dst_modified {
            return match self.lanewise(op, [&T::PLAIN; N], Host::<T, _, true>(host, PhantomData)) {
                Done::Landed => Flow::Next,
                Done::Doubtful if active_nan::<T>(self) => exactly::<T>(self, op, N, exact),
                _ => {
                    valu::store::<T>(self.wave, self.scratch, op);
                    Flow::Next
                }
            };
        }
        match self.lanewise(op, [&T::SHAPE; N], Host::<T, _, false>(host, PhantomData)) {
            Done::Landed => Flow::Next,
            Done::Doubtful if active_nan::<T>(self) => exactly::<T>(self, op, N, exact),
            _ => finish::<T>(self.wave, self.scratch, op),
        }
    }
}

/// An operation in the host's arithmetic. A result that is a NaN is marked as doubtful; the exact
/// implementation then computes it again. If `FLUSH` is set, denormals in sources and results are flushed to
/// zero.
struct Host<T, F, const FLUSH: bool>(F, PhantomData<T>);

impl<T: Real, F: Fn([T; 3]) -> T, const N: usize, const FLUSH: bool> EachLane<N> for Host<T, F, FLUSH> {
    type Result = T;

    #[inline(always)]
    fn lane(&self, read: &[Source<'_>; N], lane: usize) -> (T, bool) {
        let mut values = [value::<T>(&read[0], lane); 3];
        for at in 1..N {
            values[at] = value(&read[at], lane);
        }
        if FLUSH {
            values = [values[0].flushed(), values[1].flushed(), values[2].flushed()];
        }
        let result = (self.0)(values);
        let result = if FLUSH { result.flushed() } else { result };
        (result, result.nan())
    }
}

/// Returns whether an active lane has a NaN as its result.
#[cold]
#[inline(never)]
fn active_nan<T: Real>(cx: &Cx<'_>) -> bool {
    let result = &cx.scratch.result;
    ActiveLanes(cx.wave.exec()).any(|lane| T::from_words(result[0][lane], result[1][lane]).nan())
}

/// Computes the results of all active lanes with the exact implementation of the operation.
#[cold]
#[inline(never)]
pub(crate) fn exactly<T: Value>(cx: &mut Cx<'_>, op: &Op, count: usize, f: Exact) -> Flow {
    let round = cx.round::<T>();
    let active = cx.wave.exec();
    let mut values = [[0; 3]; 64];
    for (at, temp) in cx.scratch.sources.iter_mut().enumerate().take(count) {
        let source = fetch::<T>(cx.wave, op, at, temp);
        let used = if T::FORMAT == Format::F16 { 0xffff } else { u64::MAX };
        for lane in ActiveLanes(active) {
            values[lane][at] = lane_bits(source, lane, T::WORDS) & used;
        }
    }
    for lane in ActiveLanes(active) {
        let value = f(round, values[lane]);
        cx.scratch.result[0][lane] = value as u32;
        cx.scratch.result[1][lane] = (value >> 32) as u32;
    }
    finish::<T>(cx.wave, cx.scratch, op)
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    let (base, format) = name.rsplit_once('_')?;
    match format {
        "f16" => of_format::<f16>(base),
        "f32" => of_format::<f32>(base).or_else(|| legacy(base)),
        "f64" => of_format::<f64>(base),
        _ => None,
    }
}

fn of_format<T: Real>(base: &str) -> Option<Handler> {
    arithmetic::<T>(base)
        .or_else(|| extrema::<T>(base))
        .or_else(|| integral::<T>(base))
        .or_else(|| division::<T>(base))
}

fn arithmetic<T: Real>(base: &str) -> Option<Handler> {
    Some(match base {
        "v_add" => {
            |cx, op| cx.real::<T, 2>(op, |[a, b, _]| a.plus(b), |r, [a, b, _]| soft::add::<T::Soft>(r, a, b))
        }
        "v_sub" => |cx, op| {
            cx.real::<T, 2>(op, |[a, b, _]| a.plus(b.negated()), |r, [a, b, _]| soft::sub::<T::Soft>(r, a, b))
        },
        "v_subrev" => {
            |cx, op| cx.real::<T, 2>(op, |[a, b, _]| b.plus(a.negated()), |r, [a, b, _]| subrev::<T>(r, a, b))
        }
        "v_mul" => {
            |cx, op| cx.real::<T, 2>(op, |[a, b, _]| a.times(b), |r, [a, b, _]| soft::mul::<T::Soft>(r, a, b))
        }
        "v_fma" | "v_fmac" | "v_fmaak" | "v_fma_legacy"
            if base != "v_fma_legacy" || T::FORMAT == Format::F16 =>
        {
            |cx, op| {
                cx.real::<T, 3>(
                    op,
                    |[a, b, c]| a.fused(b, c),
                    |r, [a, b, c]| soft::fma::<T::Soft>(r, a, b, c),
                )
            }
        }
        "v_fmamk" => |cx, op| {
            cx.real::<T, 3>(op, |[a, k, b]| a.fused(k, b), |r, [a, k, b]| soft::fma::<T::Soft>(r, a, k, b))
        },
        // These multiply-adds are not fused: they round the product, and then the sum. They always flush
        // denormals.
        "v_mad" | "v_mac" | "v_madak" | "v_madmk" => |cx, op| {
            cx.real::<T, 3>(op, |[a, b, c]| multiply_add(a, b, c), |r, [a, b, c]| exact_mad::<T>(r, a, b, c))
        },
        "v_mad_legacy" if T::FORMAT == Format::F16 => |cx, op| {
            cx.real::<T, 3>(op, |[a, b, c]| multiply_add(a, b, c), |r, [a, b, c]| exact_mad::<T>(r, a, b, c))
        },
        _ => return None,
    })
}

/// Computes `b - a`. If both operands are NaNs, the result is the NaN in `a`, which is the first source of
/// the instruction. A plain subtraction would return the NaN in `b`, its own first operand.
fn subrev<T: Real>(round: Round, a: u64, b: u64) -> u64 {
    soft::nan_of::<T::Soft>(&[a, b]).unwrap_or_else(|| soft::sub::<T::Soft>(round, b, a))
}

#[inline(always)]
fn multiply_add<T: Real>(a: T, b: T, c: T) -> T {
    a.flushed().times(b.flushed()).flushed().plus(c.flushed()).flushed()
}

fn flushed<T: Real>(bits: u64) -> u64 {
    T::of_bits(bits).flushed().bits()
}

fn exact_mad<T: Real>(round: Round, a: u64, b: u64, c: u64) -> u64 {
    soft::nan_of::<T::Soft>(&[a, b, c]).unwrap_or_else(|| {
        let product = flushed::<T>(soft::mul::<T::Soft>(round, flushed::<T>(a), flushed::<T>(b)));
        flushed::<T>(soft::add::<T::Soft>(round, product, flushed::<T>(c)))
    })
}

/// Returns the handler of an f32 instruction that follows the rules of DirectX 9. By these rules, zero times
/// anything is zero, even if the other factor is infinite or a NaN.
fn legacy(base: &str) -> Option<Handler> {
    Some(match base {
        "v_mul_legacy" => |cx, op| {
            cx.real::<f32, 2>(op, |[a, b, _]| legacy_product(a, b), |r, [a, b, _]| exact_legacy(r, a, b))
        },
        "v_mad_legacy" | "v_mac_legacy" => |cx, op| {
            cx.real::<f32, 3>(
                op,
                |[a, b, c]| (legacy_product(a.flushed(), b.flushed()).flushed() + c.flushed()).flushed(),
                |r, [a, b, c]| {
                    let product = flushed::<f32>(exact_legacy(r, flushed::<f32>(a), flushed::<f32>(b)));
                    flushed::<f32>(soft::add::<soft::Single>(r, product, flushed::<f32>(c)))
                },
            )
        },
        "v_fma_legacy" | "v_fmac_legacy" => |cx, op| {
            cx.real::<f32, 3>(
                op,
                |[a, b, c]| if a == 0.0 || b == 0.0 { 0.0 + c } else { a.mul_add(b, c) },
                |r, [a, b, c]| match is_zero(a) || is_zero(b) {
                    // The product is +0 here, so the sum with -0 is +0.
                    true => soft::add::<soft::Single>(r, 0, c),
                    false => soft::fma::<soft::Single>(r, a, b, c),
                },
            )
        },
        // The condition on source `b` is that of MUL_LIT in AMD's IL specification. The condition on source
        // `c` is not documented; it was found by experiments.
        "v_mullit" => |cx, op| {
            cx.real::<f32, 3>(
                op,
                |[a, b, c]| if lit(b, c) { legacy_product(a, b) } else { -f32::MAX },
                |r, [a, b, c]| match lit(f32::of_bits(b), f32::of_bits(c)) {
                    true => exact_legacy(r, a, b),
                    false => (-f32::MAX).bits(),
                },
            )
        },
        "v_min_legacy" => |cx, op| cx.map2(op, |a: f32, b: f32| if a < b { a } else { b }),
        "v_max_legacy" => |cx, op| cx.map2(op, |a: f32, b: f32| if a >= b { a } else { b }),
        "v_cubeid" => |cx, op| cx.map3(op, float::cube_face),
        "v_cubema" => |cx, op| cx.map3(op, float::cube_major),
        "v_cubesc" => |cx, op| cx.map3(op, float::cube_s),
        "v_cubetc" => |cx, op| cx.map3(op, float::cube_t),
        _ => return None,
    })
}

#[inline(always)]
fn lit(b: f32, c: f32) -> bool {
    b > -f32::MAX && c > 0.0
}

fn is_zero(bits: u64) -> bool {
    bits & 0x7fff_ffff == 0
}

#[inline(always)]
fn legacy_product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn exact_legacy(round: Round, a: u64, b: u64) -> u64 {
    if is_zero(a) || is_zero(b) { 0 } else { soft::mul::<soft::Single>(round, a, b) }
}

/// Makes a handler that exists in two versions, one for IEEE mode and one without IEEE mode. The expression
/// sees the mode as `$ieee`, which is a constant in each version, so that the compiler can optimise both.
macro_rules! by_mode {
    ($cx:ident, $ieee:ident => $body:expr) => {
        if $cx.wave.ieee {
            const $ieee: bool = true;
            $body
        } else {
            const $ieee: bool = false;
            $body
        }
    };
}

fn extrema<T: Real>(base: &str) -> Option<Handler> {
    Some(match base {
        "v_min" => |cx, op| by_mode!(cx, IEEE => cx.map2(op, float::min::<T, IEEE>)),
        "v_max" => |cx, op| by_mode!(cx, IEEE => cx.map2(op, float::max::<T, IEEE>)),
        "v_min3" => {
            |cx, op| by_mode!(cx, IEEE => cx.map3(op, |a: T, b, c| float::min::<T, IEEE>(float::min::<T, IEEE>(a, b), c)))
        }
        "v_max3" => {
            |cx, op| by_mode!(cx, IEEE => cx.map3(op, |a: T, b, c| float::max::<T, IEEE>(float::max::<T, IEEE>(a, b), c)))
        }
        "v_med3" => |cx, op| by_mode!(cx, IEEE => cx.map3(op, float::median::<T, IEEE>)),
        _ => return None,
    })
}

/// Makes the handler of an operation with one source whose result needs no rounding. If the source is a NaN,
/// the result is the same NaN, made quiet. For all other values, the host computes the result.
macro_rules! exact1 {
    ($T:ident, $f:expr) => {
        |cx, op| {
            cx.real::<$T, 1>(
                op,
                |[a, _, _]| $T::narrow($f(a.widen())),
                |_, [a, ..]| {
                    let value = || $T::narrow($f($T::of_bits(a).widen())).bits();
                    soft::nan_of::<$T::Soft>(&[a]).unwrap_or_else(value)
                },
            )
        }
    };
}

fn integral<T: Real>(base: &str) -> Option<Handler> {
    if let ("f32", Some(fast)) = (T::NAME, integral32(base)) {
        return Some(fast);
    }
    Some(match base {
        "v_trunc" => exact1!(T, f64::trunc),
        "v_ceil" => exact1!(T, f64::ceil),
        "v_floor" => exact1!(T, f64::floor),
        "v_rndne" => exact1!(T, f64::round_ties_even),
        "v_fract" => |cx, op| {
            cx.real::<T, 1>(
                op,
                |[a, _, _]| T::narrow(fract(a.widen(), T::BELOW_ONE.widen())),
                |r, [a, ..]| exact_fract::<T>(r, a),
            )
        },
        "v_frexp_mant" => |cx, op| {
            cx.real::<T, 1>(
                op,
                |[a, _, _]| T::of_bits(float::mantissa(a)),
                |_, [a, ..]| soft::nan_of::<T::Soft>(&[a]).unwrap_or_else(|| float::mantissa(T::of_bits(a))),
            )
        },
        "v_ldexp" => |cx, op| {
            let round = cx.round::<T>();
            match T::FORMAT {
                Format::F16 => cx.map2(op, |a: T, b: i16| scaled(round, a, b.into())),
                _ => cx.map2(op, |a: T, b: i32| scaled(round, a, b)),
            }
        },
        _ => return None,
    })
}

/// Returns the handler of an instruction that rounds f32 values to integers. The handlers stay in f32 instead
/// of converting to f64, so that the Rust compiler can vectorise their loops.
fn integral32(base: &str) -> Option<Handler> {
    macro_rules! single {
        ($f:expr) => {
            |cx, op| {
                cx.real::<f32, 1>(
                    op,
                    |[a, _, _]| $f(a),
                    |_, [a, ..]| {
                        soft::nan_of::<soft::Single>(&[a]).unwrap_or_else(|| $f(f32::of_bits(a)).bits())
                    },
                )
            }
        };
    }
    Some(match base {
        "v_trunc" => single!(f32::trunc),
        "v_ceil" => single!(f32::ceil),
        "v_floor" => single!(f32::floor),
        "v_rndne" => single!(f32::round_ties_even),
        "v_fract" => |cx, op| {
            cx.real::<f32, 1>(
                op,
                |[a, _, _]| {
                    let part = a - a.floor();
                    if part > f32::BELOW_ONE { f32::BELOW_ONE } else { part }
                },
                |r, [a, ..]| exact_fract::<f32>(r, a),
            )
        },
        _ => return None,
    })
}

#[inline(always)]
fn scaled<T: Real>(round: Round, a: T, power: i32) -> T {
    T::of_bits(soft::scale::<T::Soft>(round, a.bits(), power))
}

/// Returns the fraction of a value, which is the difference between the value and the next lower integer. The
/// difference is exact, except for small negative values, whose difference may be rounded up to one. The
/// result is then `below_one`, the largest number below one.
#[inline(always)]
fn fract(a: f64, below_one: f64) -> f64 {
    let part = a - a.floor();
    if part > below_one { below_one } else { part }
}

/// Returns the fraction of a value in the exact implementation. If the value is infinite, returns a NaN with
/// its sign. If it is a NaN, returns this NaN.
fn exact_fract<T: Real>(round: Round, a: u64) -> u64 {
    let value = T::of_bits(a);
    if value.infinite() || value.nan() {
        let sign = a & T::sign_bit();
        return soft::nan_of::<T::Soft>(&[a]).unwrap_or(sign | T::infinity() | T::quiet_bit());
    }
    let floor = T::narrow(value.widen().floor()).bits();
    // If MODE rounds down, a difference of zero is -0. A fraction is never negative, so its sign is cleared.
    let part = soft::sub::<T::Soft>(round, a, floor) & !T::sign_bit();
    part.min(T::BELOW_ONE.bits())
}

fn division<T: Real>(base: &str) -> Option<Handler> {
    Some(match base {
        "v_div_scale" => div_scale::<T>,
        "v_div_fmas" => div_fmas::<T>,
        "v_div_fixup" | "v_div_fixup_legacy" => |cx, op| cx.map3(op, float::div_fixup::<T>),
        _ => return None,
    })
}

fn div_scale<T: Real>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let round = cx.round::<T>();
    let mut flags = 0u64;
    let [a, b, c, _] = &mut cx.scratch.sources;
    let sources =
        [fetch::<T>(cx.wave, op, 0, a), fetch::<T>(cx.wave, op, 1, b), fetch::<T>(cx.wave, op, 2, c)];
    let result = &mut cx.scratch.result;
    for lane in ActiveLanes(exec) {
        let [value, d, n] = sources.map(|source| T::from_words(source[0][lane], source[1][lane]));
        let (power, flag) = float::div_scale(value, d, n);
        let scaled = match power {
            Some(0) => value,
            Some(power) => scaled(round, value, power),
            None => T::of_bits(T::infinity() | T::quiet_bit()),
        };
        (result[0][lane], result[1][lane]) = scaled.words();
        flags |= u64::from(flag) << lane;
    }
    let flow = finish::<T>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, flags & exec);
    flow
}

/// Runs `v_div_fmas`, which is a fused multiply-add near the end of a division. In the lanes whose VCC bit
/// `v_div_scale` has set, the instruction also undoes the scaling by `v_div_scale`. A large quotient means
/// that the denominator was scaled, so the quotient is multiplied by a power of two. A small quotient means
/// that the numerator was scaled, so the quotient is divided by it.
fn div_fmas<T: Real>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (exec, vcc) = (cx.wave.exec(), cx.wave.vcc());
    if vcc & exec == 0 {
        return cx.real::<T, 3>(
            op,
            |[a, b, c]| a.fused(b, c),
            |r, [a, b, c]| soft::fma::<T::Soft>(r, a, b, c),
        );
    }
    let round = cx.round::<T>();
    let [a, b, c, _] = &mut cx.scratch.sources;
    let sources =
        [fetch::<T>(cx.wave, op, 0, a), fetch::<T>(cx.wave, op, 1, b), fetch::<T>(cx.wave, op, 2, c)];
    let result = &mut cx.scratch.result;
    for lane in ActiveLanes(exec) {
        let [a, b, c] = sources.map(|source| lane_bits(source, lane, T::WORDS));
        let power = match vcc >> lane & 1 {
            0 => 0,
            _ if T::of_bits(c).exponent() > T::EXPONENT_MAX / 2 => T::BACK,
            _ => -T::BACK,
        };
        let value = T::of_bits(soft::fma_scaled::<T::Soft>(round, a, b, c, power));
        (result[0][lane], result[1][lane]) = value.words();
    }
    finish::<T>(cx.wave, cx.scratch, op)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that host arithmetic for halves, which uses wider formats, gives the same results as rounding
    /// once.
    #[test]
    fn halves_are_rounded_once() {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Random bits cover all cases: products of small exponents underflow, and close values cancel.
            [state as u16, (state >> 16) as u16, (state >> 32) as u16]
        };
        let same = |what: &str, host: f16, exact: u64, of: [u16; 3]| {
            let both_nan = host.is_nan() && soft::nan_of::<soft::Half>(&[exact]).is_some();
            assert!(
                both_nan || u64::from(host.to_bits()) == exact,
                "{what} of {of:x?}: {host:?}, {exact:#x}"
            );
        };
        for _ in 0..200_000 {
            let bits = next();
            let [a, b, c] = bits.map(f16::from_bits);
            let [x, y, z] = bits.map(u64::from);
            same("sum", a.plus(b), soft::add::<soft::Half>(Round::NEAREST, x, y), bits);
            same("product", a.times(b), soft::mul::<soft::Half>(Round::NEAREST, x, y), bits);
            same("fma", a.fused(b, c), soft::fma::<soft::Half>(Round::NEAREST, x, y, z), bits);
        }
    }
}
