//! What all vector instructions share: reading sources with their modifiers, running a function over 64 lanes, and
//! writing the result under EXEC.
//!
//! The function runs for inactive lanes too; only the write looks at EXEC. That keeps the loops free of branches, so
//! that the host's vector unit executes them.

use super::{Cx, Flow, Scratch};
use crate::op::{NONE, Op, Src, VGPR0};
pub(crate) use crate::wave::collect as collect_mask;
use crate::wave::{Lanes, Wave, expand};
use isa::{Lane, ModFlags, SdwaSel};

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

/// Reads a source as it stands, without modifiers.
#[inline(always)]
pub(crate) fn plain<'a>(wave: &'a Wave, src: Src, words: usize, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    match src {
        Src::V(at) => {
            let at = usize::from(at);
            [&wave.vgpr[at], &wave.vgpr[at + words - 1]]
        }
        _ => {
            let value = if words == 2 { wave.scalar64(src) } else { u64::from(wave.scalar(src)) };
            temp[0] = [value as u32; 64];
            if words == 2 {
                temp[1] = [(value >> 32) as u32; 64];
            }
            [&temp[0], &temp[1]]
        }
    }
}

/// Reads source `at` as values of type `T`.
#[inline(always)]
pub(crate) fn fetch<'a, T: Value>(
    wave: &'a Wave,
    op: &Op,
    at: usize,
    temp: &'a mut [Lanes; 2],
) -> Source<'a> {
    let flush = match T::FORMAT {
        Format::Int => false,
        Format::F32 => wave.flush32.0,
        Format::F16 | Format::F64 => wave.flush64.0,
    };
    if !op.src_modified && !flush {
        return plain(wave, op.src[at], T::WORDS, temp);
    }
    let shape = Shape { words: T::WORDS, bytes: std::mem::size_of::<T>(), format: T::FORMAT, flush };
    modified(wave, op, at, shape, temp)
}

/// What has to be known about a value to modify it.
#[derive(Clone, Copy)]
struct Shape {
    words: usize,
    bytes: usize,
    format: Format,
    flush: bool,
}

/// Reads a source with everything that can happen on the way: another lane, a part of the dword, a changed sign.
#[cold]
#[inline(never)]
fn modified<'a>(wave: &Wave, op: &Op, at: usize, shape: Shape, temp: &'a mut [Lanes; 2]) -> Source<'a> {
    let mut spare = [[0; 64]; 2];
    let source = plain(wave, op.src[at], shape.words, &mut spare);
    temp[0] = *source[0];
    temp[1] = *source[1];
    match op.lane {
        Lane::Dpp { ctrl, .. } if at == 0 => {
            for (lane, value) in temp[0].iter_mut().enumerate() {
                let from = dpp_source(ctrl, lane).filter(|&from| wave.exec() >> from & 1 != 0);
                *value = from.map_or(0, |from| source[0][from]);
            }
        }
        Lane::Sdwa { src0, src1, sext, .. } if at < 2 => {
            let select = if at == 0 { src0 } else { src1 };
            temp[0].iter_mut().for_each(|value| *value = sdwa_extract(*value, select, sext >> at & 1 != 0));
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
    if shape.flush {
        flush_denormals(temp, shape.format);
    }
    [&temp[0], &temp[1]]
}

/// Denormals become zeros of their sign.
fn flush_denormals(values: &mut [Lanes; 2], format: Format) {
    let [low, high] = values;
    match format {
        Format::F32 => low.iter_mut().filter(|v| **v & 0x7f80_0000 == 0).for_each(|v| *v &= 0x8000_0000),
        Format::F16 => low.iter_mut().filter(|v| **v & 0x7c00 == 0).for_each(|v| *v &= !0x3ff),
        Format::F64 => {
            for (low, high) in low.iter_mut().zip(high) {
                if *high & 0x7ff0_0000 == 0 {
                    (*low, *high) = (0, *high & 0x8000_0000);
                }
            }
        }
        Format::Int => {}
    }
}

/// The lane from which a DPP control word reads, if there is one (Vega ISA, "Data Parallel Processing").
pub(crate) fn dpp_source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let in_row = |at: Option<usize>| at.filter(|&at| at < 16).map(|at| row + at);
    let count = usize::from(ctrl & 15);
    match ctrl {
        0..=0xff => Some(lane & !3 | usize::from(ctrl >> (2 * (lane & 3)) & 3)),
        0x101..=0x10f => in_row(Some(at + count)),
        0x111..=0x11f => in_row(at.checked_sub(count)),
        0x121..=0x12f => Some(row + (at + 16 - count) % 16),
        0x130 => Some(lane + 1).filter(|&from| from < 64),
        0x134 => Some((lane + 1) % 64),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) % 64),
        0x140 => Some(row + 15 - at),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        0x142 => row.checked_sub(1),
        0x143 => Some(31).filter(|_| lane >= 32),
        _ => None,
    }
}

/// Position and width in bits of an SDWA selection.
fn sdwa_bits(select: SdwaSel) -> (u32, u32) {
    match select {
        SdwaSel::Dword => (0, 32),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        byte => (byte as u32 * 8, 8),
    }
}

fn sdwa_extract(value: u32, select: SdwaSel, sext: bool) -> u32 {
    let (at, bits) = sdwa_bits(select);
    let top = value << (32 - bits - at);
    if sext { (top as i32 >> (32 - bits)) as u32 } else { top >> (32 - bits) }
}

/// Lanes that an instruction with DPP writes.
fn dpp_mask(op: &Op, exec: u64) -> u64 {
    let Lane::Dpp { ctrl, row_mask, bank_mask } = op.lane else { return exec };
    let zero_fill = op.flags.contains(ModFlags::BOUND_CTRL);
    let mut mask = 0;
    for lane in 0..64 {
        let enabled = row_mask >> (lane / 16) & 1 != 0 && bank_mask >> (lane % 16 / 4) & 1 != 0;
        let valid = zero_fill || dpp_source(ctrl, lane).is_some_and(|from| exec >> from & 1 != 0);
        mask |= u64::from(enabled && valid) << lane;
    }
    mask & exec
}

/// Output modifiers and clamp of a float.
fn modify_result(op: &Op, shape: Shape, dx10_clamp: bool, result: &mut [Lanes; 2]) {
    let scale = [1.0, 2.0, 4.0, 0.5][usize::from(op.omod & 3)];
    let clamp = |value: f64| match value {
        value if value.is_nan() && !dx10_clamp => value,
        value if value > 0.0 => value.min(1.0),
        _ => 0.0,
    };
    if op.omod != 0 || op.clamp() {
        let change = |value: f64| if op.clamp() { clamp(value * scale) } else { value * scale };
        let [low, high] = &mut *result;
        for (low, high) in low.iter_mut().zip(high) {
            (*low, *high) = match shape.format {
                Format::F32 => (change(f64::from(f32::from_bits(*low))) as f32).words(),
                Format::F16 => {
                    half::f16::from_f64(change(f64::from(half::f16::from_bits(*low as u16)))).words()
                }
                Format::F64 => change(f64::from_words(*low, *high)).words(),
                Format::Int => (*low, *high),
            };
        }
    }
    if shape.flush {
        flush_denormals(result, shape.format);
    }
}

/// Puts the result into the part of the destination that SDWA or `op_sel` selects.
fn place(op: &Op, bytes: usize, old: &Lanes, result: &mut Lanes) {
    if let Lane::Sdwa { dst, unused, .. } = op.lane {
        let (at, bits) = sdwa_bits(dst);
        let mask = (u64::MAX >> (64 - bits)) as u32;
        for (value, old) in result.iter_mut().zip(old) {
            let placed = (*value & mask) << at;
            *value = match unused {
                // The sign goes into the bits above; those below are zero.
                1 => {
                    ((*value << (32 - bits)) as i32 >> (32 - bits - at)) as u32 & !(((1u64 << at) - 1) as u32)
                }
                2 => placed | old & !(mask << at),
                _ => placed,
            };
        }
    } else if bytes == 2 && op.op_sel & 8 != 0 {
        result.iter_mut().zip(old).for_each(|(value, old)| *value = *value << 16 | old & 0xffff);
    }
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub(crate) fn write(wave: &mut Wave, at: u16, values: &Lanes, mask: u64) {
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
    let flush = match T::FORMAT {
        Format::Int => false,
        Format::F32 => wave.flush32.1,
        Format::F16 | Format::F64 => wave.flush64.1,
    };
    let mut mask = wave.exec();
    if op.dst_modified || flush {
        let shape = Shape { words: T::WORDS, bytes: std::mem::size_of::<T>(), format: T::FORMAT, flush };
        mask = finish_slowly(wave, scratch, op, shape);
    }
    write(wave, op.dst, &scratch.result[0], mask);
    if T::WORDS == 2 {
        write(wave, op.dst + 1, &scratch.result[1], mask);
    }
    Flow::Next
}

#[cold]
#[inline(never)]
fn finish_slowly(wave: &Wave, scratch: &mut Scratch, op: &Op, shape: Shape) -> u64 {
    modify_result(op, shape, wave.dx10_clamp, &mut scratch.result);
    if let Some(old) = wave.vgpr.get(usize::from(op.dst.wrapping_sub(VGPR0))) {
        place(op, shape.bytes, old, &mut scratch.result[0]);
    }
    dpp_mask(op, wave.exec())
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

/// VCC, a dword for each lane.
pub(crate) fn expand_vcc(wave: &Wave) -> Lanes {
    expand(wave.vcc())
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
}

/// A handler from an expression over the sources' values.
macro_rules! lanes {
    (($a:ident: $A:ty) -> $R:ty => $body:expr) => {{
        fn run(cx: &mut $crate::exec::Cx<'_>, op: &$crate::op::Op) -> $crate::exec::Flow {
            cx.map1(op, |$a: $A| -> $R { $body })
        }
        run as $crate::exec::Handler
    }};
    (($a:ident: $A:ty, $b:ident: $B:ty) -> $R:ty => $body:expr) => {{
        fn run(cx: &mut $crate::exec::Cx<'_>, op: &$crate::op::Op) -> $crate::exec::Flow {
            cx.map2(op, |$a: $A, $b: $B| -> $R { $body })
        }
        run as $crate::exec::Handler
    }};
    (($a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty) -> $R:ty => $body:expr) => {{
        fn run(cx: &mut $crate::exec::Cx<'_>, op: &$crate::op::Op) -> $crate::exec::Flow {
            cx.map3(op, |$a: $A, $b: $B, $c: $C| -> $R { $body })
        }
        run as $crate::exec::Handler
    }};
}
pub(crate) use lanes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpp_reads_the_lanes_of_the_manual() {
        assert_eq!(dpp_source(0xb1, 4), Some(5)); // quad_perm:[1,0,3,2]
        assert_eq!(dpp_source(0x101, 15), None); // row_shl:1
        assert_eq!(dpp_source(0x101, 14), Some(15));
        assert_eq!(dpp_source(0x111, 16), None); // row_shr:1
        assert_eq!(dpp_source(0x111, 17), Some(16));
        assert_eq!(dpp_source(0x121, 16), Some(31)); // row_ror:1
        assert_eq!(dpp_source(0x142, 5), None); // row_bcast:15
        assert_eq!(dpp_source(0x142, 20), Some(15));
        assert_eq!(dpp_source(0x143, 33), Some(31)); // row_bcast:31
        assert_eq!(dpp_source(0x143, 31), None);
    }

    #[test]
    fn sdwa_extracts() {
        assert_eq!(sdwa_extract(0x80ff_7f01, SdwaSel::Byte3, true), 0xffff_ff80);
        assert_eq!(sdwa_extract(0x80ff_7f01, SdwaSel::Byte1, true), 0x7f);
        assert_eq!(sdwa_extract(0x80ff_7f01, SdwaSel::Word1, false), 0x80ff);
    }
}
