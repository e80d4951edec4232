//! The code that all vector arithmetic instructions share. It reads sources with their modifiers, applies a
//! function to 64 lanes, and writes the results of the active lanes.
//!
//! The function is applied to inactive lanes, too; only the write depends on EXEC. So the loops over lanes
//! have no branches, and the compiler can vectorise them for the host.

use super::rules::Denormals;
use super::{Cx, Flow, Scratch, dpp, sdwa};
use crate::op::{NONE, Op, Src, VGPR0};
use crate::soft::Round;
pub(crate) use crate::wave::collect as collect_mask;
use crate::wave::{Lanes, Wave, expand};
use isa::Lane;
use std::marker::PhantomData;
use std::ops::Index;

/// Formats of values. Only formats that modifiers treat differently are distinguished, so all integers are
/// one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Int,
    F16,
    F32,
    F64,
}

/// A value of one lane, which takes one or two dwords.
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

/// A 32-bit value that `v_cndmask_b32` copies without computing with it. Only the negation modifiers may
/// change it: they change its sign bit as in an f32.
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

/// The low and the high dwords of a source, for all lanes. The two are a pair of references and not an array,
/// because a function can return such a pair in host registers.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a>(pub(crate) &'a Lanes, pub(crate) &'a Lanes);

impl Index<usize> for Source<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn index(&self, word: usize) -> &Lanes {
        if word == 0 { self.0 } else { self.1 }
    }
}

/// Returns the bits that a source has in a lane.
#[inline(always)]
pub(crate) fn lane_bits(source: Source<'_>, lane: usize, words: usize) -> u64 {
    match words {
        2 => u64::from(source[0][lane]) | u64::from(source[1][lane]) << 32,
        _ => u64::from(source[0][lane]),
    }
}

/// Returns the rounding mode that MODE selects for results of a format. The formats f16 and f64 share one
/// field of MODE.
#[inline(always)]
pub(crate) fn rounding(wave: &Wave, format: Format) -> Round {
    match format {
        Format::F32 => Round::of_bits(wave.mode()),
        Format::F16 => Round { saturate: wave.fp16_overflow, ..Round::of_bits(wave.mode() >> 2) },
        Format::F64 | Format::Int => Round::of_bits(wave.mode() >> 2),
    }
}

/// Returns whether MODE asks to flush denormals of a format to zero: first for sources, then for results.
#[inline(always)]
pub(crate) fn flushes(wave: &Wave, format: Format) -> (bool, bool) {
    match format {
        Format::Int => (false, false),
        Format::F32 => wave.flush32,
        Format::F16 | Format::F64 => wave.flush64,
    }
}

/// Returns whether an instruction flushes denormals of a format to zero: first in its sources, then in its
/// result. For most instructions MODE decides this; some always flush and some never do.
#[inline(always)]
fn flushes_of(wave: &Wave, op: &Op, format: Format) -> (bool, bool) {
    match (format, op.rules.denormals) {
        (Format::Int, _) | (_, Denormals::Keep) => (false, false),
        (_, Denormals::Mode) => flushes(wave, format),
        (_, Denormals::Flush) => (true, true),
    }
}

/// Reads a source without applying modifiers.
#[inline(always)]
pub(crate) fn plain<'a>(wave: &'a Wave, src: Src, words: usize, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    match src {
        Src::V(at) => {
            let at = usize::from(at);
            Source(&wave.vgpr[at], &wave.vgpr[at + words - 1])
        }
        _ => scalar(wave, src, words, temp),
    }
}

/// Reads a source that has the same value in all lanes. This function is not inlined, because its use of host
/// registers would slow down the more frequent path for VGPRs.
#[inline(never)]
fn scalar<'a>(wave: &Wave, src: Src, words: usize, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    let value = if words == 2 { wave.scalar64(src) } else { u64::from(wave.scalar(src)) };
    spread(wave.arch, value as u32, &mut temp[0]);
    if words == 2 {
        spread(wave.arch, (value >> 32) as u32, &mut temp[1]);
    }
    Source(&temp[0], &temp[1])
}

/// Copies a scalar to all lanes. The stores must be as wide as the loads that read the lanes afterwards: a
/// load of the host that covers two narrower stores would have to wait until both stores reach the cache. The
/// function is not inlined, because LLVM would otherwise merge the stores for one dword and for two dwords
/// into a slower sequence with computed addresses.
#[inline(never)]
fn spread(arch: pulp::Arch, value: u32, lanes: &mut Lanes) {
    arch.dispatch(|| *lanes = [value; 64]);
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

/// Reads source `at` of an instruction. `shape` describes the type of the source's values. The function is
/// neither generic nor inlined, so that the hundreds of handlers share one copy of its code.
#[inline(never)]
fn source<'a>(wave: &'a Wave, op: &Op, at: usize, shape: &Shape, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    if shape.plain || op.src_plain && !wave.flushes {
        return plain(wave, op.src[at], shape.words, temp);
    }
    let flush = flushes_of(wave, op, shape.format).0;
    if !op.src_modified && !flush {
        return plain(wave, op.src[at], shape.words, temp);
    }
    modified(wave, op, at, shape, flush, temp)
}

/// Properties of a value type that the modifiers need.
pub(crate) struct Shape {
    words: usize,
    bytes: usize,
    format: Format,
    /// Whether modifiers never apply to sources of this type, even if the instruction has modifiers.
    plain: bool,
}

/// A value type with the properties that the modifiers need.
pub(crate) trait Shaped {
    const SHAPE: Shape;
    const PLAIN: Shape = Shape { plain: true, ..Self::SHAPE };
}

impl<T: Value> Shaped for T {
    const SHAPE: Shape =
        Shape { words: T::WORDS, bytes: std::mem::size_of::<T>(), format: T::FORMAT, plain: false };
}

/// Reads a source and applies all its modifiers: the permutation of lanes (DPP), the selection of a part of
/// the register (SDWA), and the sign.
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
    temp[0] = source[0];
    if shape.words == 2 {
        temp[1] = source[1];
    }
    match op.lane {
        Lane::Dpp { .. } | Lane::Dpp8 { .. } if at == 0 => {
            for word in 0..shape.words {
                dpp::gather(wave, op, &source[word], &mut temp[word]);
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
    Source(&temp[0], &temp[1])
}

/// Replaces denormals by zeros of the same sign.
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

/// Applies the output modifier (a factor of 2, 4 or 1/2) and the clamp to a float result. The output modifier
/// is ignored in IEEE mode and while denormal results are enabled; otherwise it also changes -0 to +0 (Vega
/// ISA, "Output modifiers").
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
    // The manual says: "If output denormals are disabled, the output modifier is applied and denormals are
    // flushed". So denormals are flushed here also for instructions that otherwise keep denormals whatever
    // MODE says.
    if flush || omod != 0 {
        flush_denormals(result, format);
    }
}

/// Clamps a value to 0.0..=1.0. A NaN becomes zero if the DX10_CLAMP bit of MODE is set, and stays a NaN
/// otherwise.
#[inline(always)]
pub(crate) fn clamp(value: f64, dx10_clamp: bool) -> f64 {
    match value {
        value if value.is_nan() && !dx10_clamp => value,
        value if value > 0.0 => value.min(1.0),
        _ => 0.0,
    }
}

/// Moves a result to the part of the destination register that SDWA or `op_sel` selects, and sets the other
/// bits as the instruction and the processor require.
fn insert_results(op: &Op, bytes: usize, old: &Lanes, result: &mut Lanes) {
    if let Lane::Sdwa { dst, unused, .. } = op.lane {
        sdwa::insert_results(dst, unused, old, result);
    } else if bytes == 2 && op.op_sel & 8 != 0 {
        result.iter_mut().zip(old).for_each(|(value, old)| *value = *value << 16 | old & 0xffff);
    } else if bytes == 2 && op.rules.keep_high {
        result.iter_mut().zip(old).for_each(|(value, old)| *value = *value & 0xffff | old & 0xffff_0000);
    }
}

/// Writes the values of the lanes in `mask` to a VGPR.
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
    wave.arch.dispatch(|| {
        let mask = expand(mask);
        for lane in 0..64 {
            lanes[lane] = values[lane] & mask[lane] | lanes[lane] & !mask[lane];
        }
    });
}

/// Writes a lane mask to a pair of SGPRs. In a wave of 32 lanes, writes it to one SGPR.
pub(crate) fn write_mask(wave: &mut Wave, code: u16, mask: u64) {
    if code != NONE {
        wave.set_mask(usize::from(code), mask);
    }
}

/// Writes the result in `scratch.result` to the destination.
#[inline(always)]
pub(crate) fn finish<T: Value>(wave: &mut Wave, scratch: &mut Scratch, op: &Op) -> Flow {
    conclude(wave, scratch, op, &T::SHAPE)
}

/// Writes the result in `scratch.result` to the destination, with all modifiers. `shape` describes the type
/// of the result. This function is not generic, so that all handlers share one copy of its code.
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

/// Writes the result in `scratch.result` to the active lanes of the destination, without modifiers.
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
        insert_results(op, shape.bytes, old, &mut scratch.result[0]);
    }
    dpp::write_mask(op, wave.exec())
}

/// How far the execution of an instruction has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The result was written to its register.
    Landed,
    /// The result is in `scratch.result`.
    Evaluated,
    /// The result is in `scratch.result`. In at least one lane, active or not, it may be wrong, so the caller
    /// must check it.
    Doubtful,
}

/// Applies a function to all lanes. In the most common case, the result has no modifiers and all lanes are
/// active. The function then writes the result directly to its register. In all other cases, it leaves the
/// result in `scratch.result` for [`finish`].
#[inline(always)]
pub(crate) fn land<R: Value>(
    wave: &mut Wave,
    scratch: &mut Scratch,
    op: &Op,
    flush: bool,
    doubtful: bool,
    words: [&Lanes; 2],
) -> Done {
    let at = usize::from(op.dst.wrapping_sub(VGPR0));
    if !(op.dst_modified | doubtful | flush)
        && wave.exec() == u64::MAX
        && let Some(places) = wave.vgpr.get_mut(at..at + R::WORDS)
    {
        places.iter_mut().zip(words).for_each(|(place, word)| *place = *word);
        return Done::Landed;
    }
    scratch.result[0] = *words[0];
    if R::WORDS == 2 {
        scratch.result[1] = *words[1];
    }
    if doubtful { Done::Doubtful } else { Done::Evaluated }
}

/// A function of `N` sources that is applied to each lane. It implements a trait and is not a closure,
/// because `#[inline(always)]` works only on named functions. The function must be inlined into the loop over
/// the lanes, which is compiled with the host's vector extensions.
pub(crate) trait EachLane<const N: usize> {
    type Result: Value;
    /// Returns the result in one lane, and whether this result is doubtful: a doubtful result has to be
    /// checked.
    fn lane(&self, read: &[Source<'_>; N], lane: usize) -> (Self::Result, bool);
}

/// The application of an [`EachLane`] function to all lanes.
struct Lanewise<'a, const N: usize, F> {
    wave: &'a mut Wave,
    scratch: &'a mut Scratch,
    op: &'a Op,
    shapes: [&'static Shape; N],
    f: F,
}

impl<const N: usize, F: EachLane<N>> pulp::WithSimd for Lanewise<'_, N, F> {
    type Output = Done;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Done {
        let Lanewise { wave, scratch, op, shapes, f } = self;
        // The loop writes to local arrays. The compiler knows that local arrays do not overlap the sources,
        // so it can vectorise the loop.
        let (mut low, mut high, mut doubts) = ([0; 64], [0; 64], 0);
        if let Some(temps) = scratch.sources.first_chunk_mut::<N>() {
            let mut read = [Source(&NOTHING, &NOTHING); N];
            for (at, temp) in temps.iter_mut().enumerate() {
                read[at] = source(wave, op, at, shapes[at], temp);
            }
            for lane in 0..64 {
                let (value, doubtful) = f.lane(&read, lane);
                doubts |= u32::from(doubtful);
                let words = value.words();
                low[lane] = words.0;
                if F::Result::WORDS == 2 {
                    high[lane] = words.1;
                }
            }
        }
        let flush = !shapes[0].plain && flushes_of(wave, op, F::Result::FORMAT).1;
        land::<F::Result>(wave, scratch, op, flush, doubts != 0, [&low, &high])
    }
}

static NOTHING: Lanes = [0; 64];

/// Two of the sources in [`Scratch`] and its result, borrowed separately so that all three can be used at the
/// same time.
pub(crate) struct Scratch2<'a> {
    pub(crate) a: &'a mut [Lanes; 2],
    pub(crate) b: &'a mut [Lanes; 2],
    pub(crate) result: &'a mut [Lanes; 2],
}

impl Scratch2<'_> {
    pub(crate) fn from_scratch(scratch: &mut Scratch) -> Scratch2<'_> {
        let Scratch { sources: [a, b, ..], result } = scratch;
        Scratch2 { a, b, result }
    }
}

/// Returns a lane mask that is a source operand.
pub(crate) fn mask_of(wave: &Wave, src: Src) -> u64 {
    wave.mask(src)
}

/// Returns one lane of a source as a value.
#[inline(always)]
pub(crate) fn value<T: Value>(source: &Source<'_>, lane: usize) -> T {
    T::from_words(source[0][lane], source[1][lane])
}

/// Converts a function of values to an [`EachLane`].
struct Map<F, T>(F, PhantomData<T>);

impl<A: Value, R: Value, F: Fn(A) -> R> EachLane<1> for Map<F, (A, R)> {
    type Result = R;
    #[inline(always)]
    fn lane(&self, [a]: &[Source<'_>; 1], lane: usize) -> (R, bool) {
        ((self.0)(value(a, lane)), false)
    }
}

impl<A: Value, B: Value, R: Value, F: Fn(A, B) -> R> EachLane<2> for Map<F, (A, B, R)> {
    type Result = R;
    #[inline(always)]
    fn lane(&self, [a, b]: &[Source<'_>; 2], lane: usize) -> (R, bool) {
        ((self.0)(value(a, lane), value(b, lane)), false)
    }
}

impl<A: Value, B: Value, C: Value, R: Value, F: Fn(A, B, C) -> R> EachLane<3> for Map<F, (A, B, C, R)> {
    type Result = R;
    #[inline(always)]
    fn lane(&self, [a, b, c]: &[Source<'_>; 3], lane: usize) -> (R, bool) {
        ((self.0)(value(a, lane), value(b, lane), value(c, lane)), false)
    }
}

impl Cx<'_> {
    /// Applies a function to each lane of `N` sources.
    #[inline(always)]
    pub(crate) fn lanewise<const N: usize>(
        &mut self,
        op: &Op,
        shapes: [&'static Shape; N],
        f: impl EachLane<N>,
    ) -> Done {
        let (wave, scratch) = (&mut *self.wave, &mut *self.scratch);
        wave.arch.dispatch(Lanewise { wave, scratch, op, shapes, f })
    }

    #[inline(always)]
    fn map<const N: usize, F: EachLane<N>>(&mut self, op: &Op, shapes: [&'static Shape; N], f: F) -> Flow {
        match self.lanewise(op, shapes, f) {
            Done::Landed => Flow::Next,
            _ => finish::<F::Result>(self.wave, self.scratch, op),
        }
    }

    /// Runs a function of one source over all lanes.
    #[inline(always)]
    pub(crate) fn map1<A: Value, R: Value>(&mut self, op: &Op, f: impl Fn(A) -> R) -> Flow {
        self.map(op, [&A::SHAPE], Map(f, PhantomData))
    }

    /// Runs a function of two sources over all lanes.
    #[inline(always)]
    pub(crate) fn map2<A: Value, B: Value, R: Value>(&mut self, op: &Op, f: impl Fn(A, B) -> R) -> Flow {
        self.map(op, [&A::SHAPE, &B::SHAPE], Map(f, PhantomData))
    }

    /// Runs a function of three sources over all lanes.
    #[inline(always)]
    pub(crate) fn map3<A: Value, B: Value, C: Value, R: Value>(
        &mut self,
        op: &Op,
        f: impl Fn(A, B, C) -> R,
    ) -> Flow {
        self.map(op, [&A::SHAPE, &B::SHAPE, &C::SHAPE], Map(f, PhantomData))
    }

    /// Returns how results of a format are rounded.
    #[inline(always)]
    pub(crate) fn round<T: Value>(&self) -> Round {
        rounding(self.wave, T::FORMAT)
    }
}

/// Makes a handler from an expression that computes the result of one lane from the values of its sources.
/// The macro makes the expression a function and not a closure, because `#[inline(always)]` works only on
/// functions. The function must be inlined into the loop over the lanes, which is compiled with the host's
/// vector extensions.
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

/// Conversion of an exact integer result to the type of the destination. A result that does not fit is either
/// truncated or clamped to the range of the type.
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

/// Makes a handler from an integer expression that is evaluated exactly. If the result does not fit its type,
/// the handler clamps it if the instruction has CLAMP, and truncates it otherwise.
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
