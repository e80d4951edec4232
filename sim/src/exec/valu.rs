//! What all vector instructions share: reading sources with their modifiers, running a function over 64 lanes, and
//! writing the result under EXEC.
//!
//! The function runs for inactive lanes too; only the write looks at EXEC. That keeps the loops free of branches, so
//! that the host's vector unit executes them.

use super::rules::Denormals;
use super::{Cx, Flow, Scratch, dpp, sdwa};
use crate::op::{NONE, Op, Src, VGPR0};
use crate::soft::Round;
pub(crate) use crate::wave::collect as collect_mask;
use crate::wave::{Lanes, Wave, expand};
use isa::Lane;

/// Format of a value, as far as modifiers care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Int,
    F16,
    F32,
    F64,
}

/// A value of a lane.
pub(crate) trait Value: Copy {
    const WORDS: usize = 1;
    const FORMAT: Format = Format::Int;
    fn from_words(low: u32, high: u32) -> Self;
    fn words(self) -> (u32, u32);
}

macro_rules! value {
    ($($ty:ty, $words:literal, $format:ident, |$low:ident, $high:ident| $from:expr, |$value:ident| $to:expr;)*) => { $(
        impl Value for $ty {
            const WORDS: usize = $words;
            const FORMAT: Format = Format::$format;
            #[inline(always)]
            fn from_words($low: u32, $high: u32) -> Self { $from }
            #[inline(always)]
            fn words(self) -> (u32, u32) { let $value = self; $to }
        }
    )* };
}

/// 32 bits whose sign may be changed as an f32's, but which are otherwise left alone (`v_cndmask_b32`).
#[derive(Clone, Copy)]
pub(crate) struct Bits(pub(crate) u32);

value! {
    u32, 1, Int, |low, _high| low, |v| (v, 0);
    i32, 1, Int, |low, _high| low as i32, |v| (v as u32, 0);
    u16, 1, Int, |low, _high| low as u16, |v| (u32::from(v), 0);
    i16, 1, Int, |low, _high| low as i16, |v| (u32::from(v as u16), 0);
    u64, 2, Int, |low, high| u64::from(low) | u64::from(high) << 32, |v| (v as u32, (v >> 32) as u32);
    i64, 2, Int, |low, high| (u64::from(low) | u64::from(high) << 32) as i64, |v| (v as u32, (v >> 32) as u32);
    f32, 1, F32, |low, _high| f32::from_bits(low), |v| (v.to_bits(), 0);
    f64, 2, F64, |low, high| f64::from_bits(u64::from(low) | u64::from(high) << 32),
        |v| (v.to_bits() as u32, (v.to_bits() >> 32) as u32);
    half::f16, 1, F16, |low, _high| half::f16::from_bits(low as u16), |v| (u32::from(v.to_bits()), 0);
    Bits, 1, Int, |low, _high| Bits(low), |v| (v.0, 0);
}

/// Words of a source.
pub(crate) type Source<'a> = [&'a Lanes; 2];

/// The bits of a lane of a source.
#[inline(always)]
pub(crate) fn lane_bits(source: Source<'_>, lane: usize, words: usize) -> u64 {
    match words {
        2 => u64::from(source[0][lane]) | u64::from(source[1][lane]) << 32,
        _ => u64::from(source[0][lane]),
    }
}

/// How MODE rounds results of a format; f16 and f64 share a field.
#[inline(always)]
pub(crate) fn rounding(wave: &Wave, format: Format) -> Round {
    match format {
        Format::F32 => Round::of_bits(wave.mode()),
        Format::F16 => Round { saturate: wave.fp16_overflow, ..Round::of_bits(wave.mode() >> 2) },
        Format::F64 | Format::Int => Round::of_bits(wave.mode() >> 2),
    }
}

/// Whether MODE flushes sources and results of a format.
#[inline(always)]
pub(crate) fn flushes(wave: &Wave, format: Format) -> (bool, bool) {
    match format {
        Format::Int => (false, false),
        Format::F32 => wave.flush32,
        Format::F16 | Format::F64 => wave.flush64,
    }
}

/// The same for an instruction that may have its own mind.
#[inline(always)]
fn flushes_of(wave: &Wave, op: &Op, format: Format) -> (bool, bool) {
    match (format, op.rules.denormals) {
        (Format::Int, _) | (_, Denormals::Keep) => (false, false),
        (_, Denormals::Mode) => flushes(wave, format),
        (_, Denormals::Flush) => (true, true),
    }
}

/// Reads a source as it stands, without modifiers.
#[inline(always)]
pub(crate) fn plain<'a>(wave: &'a Wave, src: Src, words: usize, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    match src {
        Src::V(at) => {
            let at = usize::from(at);
            [&wave.vgpr[at], &wave.vgpr[at + words - 1]]
        }
        _ => scalar(wave, src, words, temp),
    }
}

/// The same of what all lanes share. Not inlined, so that VGPRs need none of the registers that this saves.
#[inline(never)]
fn scalar<'a>(wave: &Wave, src: Src, words: usize, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    let value = if words == 2 { wave.scalar64(src) } else { u64::from(wave.scalar(src)) };
    spread(value as u32, &mut temp[0]);
    if words == 2 {
        spread((value >> 32) as u32, &mut temp[1]);
    }
    [&temp[0], &temp[1]]
}

/// A scalar for all lanes. Not inlined: where LLVM sees the stores of one word and of two it makes them one sequence of stores,
/// each to an address that it has chosen before.
#[inline(never)]
fn spread(value: u32, lanes: &mut Lanes) {
    *lanes = [value; 64];
}

/// Reads source `at` as values of type `T`.
#[inline(always)]
pub(crate) fn fetch<'a, T: Value>(
    wave: &'a Wave,
    op: &Op,
    at: usize,
    temp: &'a mut [Lanes; 2],
) -> Source<'a> {
    source(wave, op, at, &T::SHAPE, temp)
}

/// The one copy of it: hundreds of handlers would hold theirs.
#[inline(never)]
fn source<'a>(wave: &'a Wave, op: &Op, at: usize, shape: &Shape, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    let flush = flushes_of(wave, op, shape.format).0;
    if !op.src_modified && !flush {
        return plain(wave, op.src[at], shape.words, temp);
    }
    modified(wave, op, at, shape, flush, temp)
}

/// What has to be known about a value to modify it.
struct Shape {
    words: usize,
    bytes: usize,
    format: Format,
}

/// A type that has a shape.
trait Shaped {
    const SHAPE: Shape;
}

impl<T: Value> Shaped for T {
    const SHAPE: Shape = Shape { words: T::WORDS, bytes: std::mem::size_of::<T>(), format: T::FORMAT };
}

/// Reads a source with everything that can happen on the way: another lane, a part of the dword, a changed sign.
#[cold]
#[inline(never)]
fn modified<'a>(
    wave: &Wave,
    op: &Op,
    at: usize,
    shape: &Shape,
    flush: bool,
    temp: &'a mut [Lanes; 2],
) -> Source<'a> {
    let mut spare = [[0; 64]; 2];
    let source = plain(wave, op.src[at], shape.words, &mut spare);
    temp[0] = *source[0];
    if shape.words == 2 {
        temp[1] = *source[1];
    }
    match op.lane {
        Lane::Dpp { .. } | Lane::Dpp8 { .. } if at == 0 => {
            for word in 0..shape.words {
                dpp::gather(wave, op, source[word], &mut temp[word]);
            }
        }
        Lane::Sdwa { src0, src1, sext, .. } if at < 2 => {
            let select = if at == 0 { src0 } else { src1 };
            temp[0].iter_mut().for_each(|value| *value = sdwa::extract(*value, select, sext >> at & 1 != 0));
        }
        _ => {}
    }
    if shape.bytes == 2 && op.op_sel >> at & 1 != 0 {
        temp[0].iter_mut().for_each(|value| *value >>= 16);
    }
    let sign = if shape.bytes == 2 { 1 << 15 } else { 1 << 31 };
    let top = &mut temp[shape.words - 1];
    if op.abs >> at & 1 != 0 {
        top.iter_mut().for_each(|value| *value &= !sign);
    }
    if op.neg >> at & 1 != 0 {
        top.iter_mut().for_each(|value| *value ^= sign);
    }
    if flush {
        flush_denormals(temp, shape.format);
    }
    [&temp[0], &temp[1]]
}

/// Denormals become zeros of their sign.
fn flush_denormals(values: &mut [Lanes; 2], format: Format) {
    let [low, high] = values;
    let keep = |number: bool, sign: u32| if number { u32::MAX } else { sign };
    match format {
        Format::F32 => low.iter_mut().for_each(|v| *v &= keep(*v & 0x7f80_0000 != 0, 0x8000_0000)),
        Format::F16 => low.iter_mut().for_each(|v| *v &= keep(*v & 0x7c00 != 0, 0xffff_8000)),
        Format::F64 => {
            for (low, high) in low.iter_mut().zip(high) {
                let number = *high & 0x7ff0_0000 != 0;
                (*low, *high) = (*low & keep(number, 0), *high & keep(number, 0x8000_0000));
            }
        }
        Format::Int => {}
    }
}

/// Output modifiers and clamp of a float. "Output modifiers are ignored" in IEEE mode and while output denormals are
/// enabled; "-0 is flushed to +0" (Vega ISA, "Output modifiers").
fn modify_result(wave: &Wave, op: &Op, format: Format, flush: bool, result: &mut [Lanes; 2]) {
    let omod = if wave.ieee || !flushes(wave, format).1 { 0 } else { op.omod & 3 };
    if omod != 0 || op.clamp() {
        let scale = [1.0, 2.0, 4.0, 0.5][usize::from(omod)];
        let change = |value: f64| {
            let value = if omod != 0 { value * scale + 0.0 } else { value };
            if op.clamp() { clamp(value, wave.dx10_clamp) } else { value }
        };
        let [low, high] = &mut *result;
        for (low, high) in low.iter_mut().zip(high) {
            (*low, *high) = match format {
                Format::F32 => (change(f64::from(f32::from_bits(*low))) as f32).words(),
                Format::F16 => {
                    half::f16::from_f64(change(f64::from(half::f16::from_bits(*low as u16)))).words()
                }
                Format::F64 => change(f64::from_words(*low, *high)).words(),
                Format::Int => (*low, *high),
            };
        }
    }
    // "If output denormals are disabled, the output modifier is applied and denormals are flushed": also by instructions that
    // flush no denormals of their own, or always.
    if flush || omod != 0 {
        flush_denormals(result, format);
    }
}

/// To 0.0..=1.0; NaN becomes zero where DX10_CLAMP is set.
#[inline(always)]
pub(crate) fn clamp(value: f64, dx10_clamp: bool) -> f64 {
    match value {
        value if value.is_nan() && !dx10_clamp => value,
        value if value > 0.0 => value.min(1.0),
        _ => 0.0,
    }
}

/// Puts the result into the part of the destination that SDWA, `op_sel` or the processor selects.
fn place(op: &Op, bytes: usize, old: &Lanes, result: &mut Lanes) {
    if let Lane::Sdwa { dst, unused, .. } = op.lane {
        sdwa::place(dst, unused, old, result);
    } else if bytes == 2 && op.op_sel & 8 != 0 {
        result.iter_mut().zip(old).for_each(|(value, old)| *value = *value << 16 | old & 0xffff);
    } else if bytes == 2 && op.rules.keep_high {
        result.iter_mut().zip(old).for_each(|(value, old)| *value = *value & 0xffff | old & 0xffff_0000);
    }
}

/// Writes the lanes of `mask`.
#[inline(never)]
pub(crate) fn write(wave: &mut Wave, at: u16, values: &Lanes, mask: u64) {
    write_here(wave, at, values, mask);
}

#[inline(always)]
fn write_here(wave: &mut Wave, at: u16, values: &Lanes, mask: u64) {
    let Some(lanes) = wave.vgpr.get_mut(usize::from(at.wrapping_sub(VGPR0))) else { return };
    if mask == !0 {
        *lanes = *values;
        return;
    }
    let mask = expand(mask);
    for lane in 0..64 {
        lanes[lane] = values[lane] & mask[lane] | lanes[lane] & !mask[lane];
    }
}

/// Writes a lane mask: to a pair of SGPRs, or to one where waves have 32 lanes.
pub(crate) fn write_mask(wave: &mut Wave, code: u16, mask: u64) {
    if code != NONE {
        wave.set_mask(usize::from(code), mask);
    }
}

/// Writes `scratch.result` to the destination.
#[inline(always)]
pub(crate) fn finish<T: Value>(wave: &mut Wave, scratch: &mut Scratch, op: &Op) -> Flow {
    conclude(wave, scratch, op, &T::SHAPE)
}

/// The one copy of it.
#[inline(never)]
fn conclude(wave: &mut Wave, scratch: &mut Scratch, op: &Op, shape: &Shape) -> Flow {
    let flush = flushes_of(wave, op, shape.format).1;
    let mut mask = wave.exec();
    if op.dst_modified || flush {
        mask = finish_slowly(wave, scratch, op, shape, flush);
    }
    put(wave, scratch, op, shape.words, mask);
    Flow::Next
}

/// Writes `scratch.result` as it is.
pub(crate) fn store<T: Value>(wave: &mut Wave, scratch: &Scratch, op: &Op) {
    let exec = wave.exec();
    put(wave, scratch, op, T::WORDS, exec);
}

#[inline(always)]
fn put(wave: &mut Wave, scratch: &Scratch, op: &Op, words: usize, mask: u64) {
    write_here(wave, op.dst, &scratch.result[0], mask);
    if words == 2 {
        write(wave, op.dst + 1, &scratch.result[1], mask);
    }
}

#[cold]
#[inline(never)]
fn finish_slowly(wave: &Wave, scratch: &mut Scratch, op: &Op, shape: &Shape, flush: bool) -> u64 {
    modify_result(wave, op, shape.format, flush, &mut scratch.result);
    if let Some(old) = wave.vgpr.get(usize::from(op.dst.wrapping_sub(VGPR0))) {
        place(op, shape.bytes, old, &mut scratch.result[0]);
    }
    dpp::write_mask(op, wave.exec())
}

/// Evaluates a function of up to three sources into `scratch.result`.
macro_rules! evaluate {
    ($cx:ident, $op:ident, $R:ident, $f:ident, $($source:ident $at:literal $T:ident),*) => {{
        let Scratch { sources: [$($source),*, ..], result } = &mut *$cx.scratch;
        $(let $source = fetch::<$T>($cx.wave, $op, $at, $source);)*
        // Locals cannot overlap the sources, which lets the loop be vectorised.
        $cx.arch.dispatch(|| {
            let (mut low, mut high) = ([0; 64], [0; 64]);
            for lane in 0..64 {
                let words = $f($($T::from_words($source[0][lane], $source[1][lane])),*).words();
                low[lane] = words.0;
                if $R::WORDS == 2 {
                    high[lane] = words.1;
                }
            }
            result[0] = low;
            if $R::WORDS == 2 {
                result[1] = high;
            }
        });
    }};
}

/// Two sources and the result, borrowed apart.
pub(crate) struct Scratch2<'a> {
    pub(crate) a: &'a mut [Lanes; 2],
    pub(crate) b: &'a mut [Lanes; 2],
    pub(crate) result: &'a mut [Lanes; 2],
}

impl Scratch2<'_> {
    pub(crate) fn of(scratch: &mut Scratch) -> Scratch2<'_> {
        let Scratch { sources: [a, b, ..], result } = scratch;
        Scratch2 { a, b, result }
    }
}

/// A lane mask that is read as a source.
pub(crate) fn mask_of(wave: &Wave, src: Src) -> u64 {
    wave.mask(src)
}

impl Cx<'_> {
    /// Runs a function of one source over all lanes.
    #[inline(always)]
    pub(crate) fn map1<A: Value, R: Value>(&mut self, op: &Op, f: impl Fn(A) -> R) -> Flow {
        evaluate!(self, op, R, f, x 0 A);
        finish::<R>(self.wave, self.scratch, op)
    }

    /// Runs a function of two sources over all lanes.
    #[inline(always)]
    pub(crate) fn map2<A: Value, B: Value, R: Value>(&mut self, op: &Op, f: impl Fn(A, B) -> R) -> Flow {
        evaluate!(self, op, R, f, x 0 A, y 1 B);
        finish::<R>(self.wave, self.scratch, op)
    }

    /// Runs a function of three sources over all lanes.
    #[inline(always)]
    pub(crate) fn map3<A: Value, B: Value, C: Value, R: Value>(
        &mut self,
        op: &Op,
        f: impl Fn(A, B, C) -> R,
    ) -> Flow {
        evaluate!(self, op, R, f, x 0 A, y 1 B, z 2 C);
        finish::<R>(self.wave, self.scratch, op)
    }

    /// How results of a format are rounded.
    #[inline(always)]
    pub(crate) fn round<T: Value>(&self) -> Round {
        rounding(self.wave, T::FORMAT)
    }
}

/// A handler from an expression over the sources' values. The expression is a function and no closure, because only a
/// function can insist on being inlined: into the loop, which is compiled for the host's vector unit.
macro_rules! lanes {
    (@ $map:ident ($($a:ident: $A:ty),*) -> $R:ty => $body:expr) => {{
        #[inline(always)]
        fn lane($($a: $A),*) -> $R {
            $body
        }
        fn run(cx: &mut $crate::exec::Cx<'_>, op: &$crate::op::Op) -> $crate::exec::Flow {
            cx.$map(op, lane)
        }
        run as $crate::exec::Handler
    }};
    (($a:ident: $A:ty) -> $R:ty => $body:expr) => {
        $crate::exec::valu::lanes!(@ map1 ($a: $A) -> $R => $body)
    };
    (($a:ident: $A:ty, $b:ident: $B:ty) -> $R:ty => $body:expr) => {
        $crate::exec::valu::lanes!(@ map2 ($a: $A, $b: $B) -> $R => $body)
    };
    (($a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty) -> $R:ty => $body:expr) => {
        $crate::exec::valu::lanes!(@ map3 ($a: $A, $b: $B, $c: $C) -> $R => $body)
    };
}
pub(crate) use lanes;

/// What a result becomes in its register, clamped or not.
pub(crate) trait Narrow: Value {
    fn wrapped(value: i64) -> Self;
    fn clamped(value: i64) -> Self;
}

macro_rules! narrow {
    ($($ty:ty)*) => { $(
        impl Narrow for $ty {
            #[inline(always)]
            fn wrapped(value: i64) -> $ty {
                value as $ty
            }
            #[inline(always)]
            fn clamped(value: i64) -> $ty {
                value.clamp(i64::from(<$ty>::MIN), i64::from(<$ty>::MAX)) as $ty
            }
        }
    )* };
}
narrow!(u16 i16 u32 i32);

/// A handler from an exact integer expression: what does not fit is cut off, or saturated where CLAMP asks for it.
macro_rules! clamped {
    (@ $map:ident ($($a:ident: $A:ty),*) -> $R:ty => $body:expr) => {{
        use $crate::exec::valu::Narrow;
        #[inline(always)]
        fn clamped($($a: $A),*) -> $R {
            <$R>::clamped($body)
        }
        #[inline(always)]
        fn wrapped($($a: $A),*) -> $R {
            <$R>::wrapped($body)
        }
        fn run(cx: &mut $crate::exec::Cx<'_>, op: &$crate::op::Op) -> $crate::exec::Flow {
            if op.clamp() { cx.$map(op, clamped) } else { cx.$map(op, wrapped) }
        }
        run as $crate::exec::Handler
    }};
    (($a:ident: $A:ty, $b:ident: $B:ty) -> $R:ty => $body:expr) => {
        $crate::exec::valu::clamped!(@ map2 ($a: $A, $b: $B) -> $R => $body)
    };
    (($a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty) -> $R:ty => $body:expr) => {
        $crate::exec::valu::clamped!(@ map3 ($a: $A, $b: $B, $c: $C) -> $R => $body)
    };
}
pub(crate) use clamped;
