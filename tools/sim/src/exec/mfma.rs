//! Matrix instructions (MFMA): compute `D = A * B + C` for small matrices whose elements are spread over the
//! lanes of a wave.
//!
//! AMD's matrix instruction calculator shows in which lane and register each element is. EXEC and MODE have
//! no effect (CDNA ISA, "Matrix Arithmetic Instructions"). Each element of D is computed by a chain of fused
//! multiply-adds in ascending order of `k`. The order and the rounding of additions in the hardware are not
//! documented, so its results may differ in the last bits.

use super::lane::following;
use super::valu::{plain, write};
use super::{Cx, Flow, Handler};
use crate::float;
use crate::op::Op;
use crate::wave::{Lanes, Wave};
use half::{bf16, f16};

/// Types of the elements of matrices.
trait Element {
    type Factor: Copy;
    type Sum: Copy;
    /// Number of elements of a factor (A or B) that the registers of one lane hold.
    const PER_LANE: usize;
    /// Number of dwords of one element of the sum.
    const WORDS: usize = 1;
    fn factor(bits: u64, at: usize) -> Self::Factor;
    fn sum(bits: u64) -> Self::Sum;
    fn bits(sum: Self::Sum) -> u64;
    fn step(sum: Self::Sum, a: Self::Factor, b: Self::Factor) -> Self::Sum;
}

macro_rules! single_sums {
    ($($name:ident $per_lane:literal, |$bits:ident, $at:ident| $factor:expr;)*) => { $(
        struct $name;
        impl Element for $name {
            type Factor = f32;
            type Sum = f32;
            const PER_LANE: usize = $per_lane;
            fn factor($bits: u64, $at: usize) -> f32 {
                $factor
            }
            fn sum(bits: u64) -> f32 {
                f32::from_bits(bits as u32)
            }
            fn bits(sum: f32) -> u64 {
                sum.to_bits().into()
            }
            fn step(sum: f32, a: f32, b: f32) -> f32 {
                a.mul_add(b, sum)
            }
        }
    )* };
}

single_sums! {
    Single 1, |bits, _at| f32::from_bits(bits as u32);
    Half 4, |bits, at| float::half_to_single(f16::from_bits((bits >> (16 * at)) as u16));
    Bfloat 2, |bits, at| bf16::from_bits((bits >> (16 * at)) as u16).to_f32();
    Bfloat4 4, |bits, at| bf16::from_bits((bits >> (16 * at)) as u16).to_f32();
}

struct Byte;
impl Element for Byte {
    type Factor = i32;
    type Sum = i32;
    const PER_LANE: usize = 4;
    fn factor(bits: u64, at: usize) -> i32 {
        i32::from((bits >> (8 * at)) as i8)
    }
    fn sum(bits: u64) -> i32 {
        bits as i32
    }
    fn bits(sum: i32) -> u64 {
        u64::from(sum as u32)
    }
    fn step(sum: i32, a: i32, b: i32) -> i32 {
        sum.wrapping_add(a * b)
    }
}

struct Double;
impl Element for Double {
    type Factor = f64;
    type Sum = f64;
    const PER_LANE: usize = 1;
    const WORDS: usize = 2;
    fn factor(bits: u64, _at: usize) -> f64 {
        f64::from_bits(bits)
    }
    fn sum(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn bits(sum: f64) -> u64 {
        sum.to_bits()
    }
    fn step(sum: f64, a: f64, b: f64) -> f64 {
        a.mul_add(b, sum)
    }
}

/// Makes the handler of a matrix instruction. Its parameters are the number of rows and columns, the number
/// of products in each sum, and the number of independent blocks.
macro_rules! matrix {
    ($element:ident $size:literal $k:literal $blocks:literal) => {
        |cx, op| multiply::<$element>(cx, op, &Shape { size: $size, k: $k, blocks: $blocks })
    };
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name.strip_prefix("v_mfma_")? {
        "f32_32x32x1f32" => matrix!(Single 32 1 2),
        "f32_16x16x1f32" => matrix!(Single 16 1 4),
        "f32_4x4x1f32" => matrix!(Single 4 1 16),
        "f32_32x32x2f32" => matrix!(Single 32 2 1),
        "f32_16x16x4f32" => matrix!(Single 16 4 1),
        "f32_32x32x4f16" => matrix!(Half 32 4 2),
        "f32_16x16x4f16" => matrix!(Half 16 4 4),
        "f32_4x4x4f16" => matrix!(Half 4 4 16),
        "f32_32x32x8f16" => matrix!(Half 32 8 1),
        "f32_16x16x16f16" => matrix!(Half 16 16 1),
        "i32_32x32x4i8" => matrix!(Byte 32 4 2),
        "i32_16x16x4i8" => matrix!(Byte 16 4 4),
        "i32_4x4x4i8" => matrix!(Byte 4 4 16),
        "i32_32x32x8i8" => matrix!(Byte 32 8 1),
        "i32_16x16x16i8" => matrix!(Byte 16 16 1),
        "f32_32x32x4bf16_1k" => matrix!(Bfloat4 32 4 2),
        "f32_16x16x4bf16_1k" => matrix!(Bfloat4 16 4 4),
        "f32_4x4x4bf16_1k" => matrix!(Bfloat4 4 4 16),
        "f32_32x32x8bf16_1k" => matrix!(Bfloat4 32 8 1),
        "f32_16x16x16bf16_1k" => matrix!(Bfloat4 16 16 1),
        "f32_32x32x2bf16" => matrix!(Bfloat 32 2 2),
        "f32_16x16x2bf16" => matrix!(Bfloat 16 2 4),
        "f32_4x4x2bf16" => matrix!(Bfloat 4 2 16),
        "f32_32x32x4bf16" => matrix!(Bfloat 32 4 1),
        "f32_16x16x8bf16" => matrix!(Bfloat 16 8 1),
        "f64_16x16x4f64" => matrix!(Double 16 4 1),
        "f64_4x4x4f64" => matrix!(Double 4 4 4),
        _ => return None,
    })
}

struct Shape {
    size: usize,
    k: usize,
    blocks: usize,
}

impl Shape {
    /// Returns where an element of the factor A or B is stored: the lane, and the index among the elements of
    /// that lane. The element is the one with index `k` in row `at` of A, or in column `at` of B.
    fn factor(&self, per_lane: usize, at: usize, k: usize, block: usize) -> (usize, usize) {
        ((at + self.size * (block + self.blocks * (k / per_lane))) & 63, k % per_lane)
    }

    /// Returns where an element of C and D is stored: the lane, and the index of the register. An element
    /// takes two registers if `doubles` is set.
    fn sum(&self, doubles: bool, row: usize, column: usize, block: usize) -> (usize, usize) {
        match (self.size, doubles) {
            (32, _) => (column + 32 * (row / 4 % 2), row / 8 * 4 + row % 4 + 16 * block),
            (16, false) => (column + 16 * (row / 4), row % 4 + 4 * block),
            (16, true) => (column + 16 * (row % 4), row / 4 * 2),
            (_, false) => (column + 4 * block, row),
            (_, true) => (column + 4 * block + 16 * row, 0),
        }
    }
}

/// Maximum number of registers that the sums of a lane take.
const MOST: usize = 32;

fn multiply<E: Element>(cx: &mut Cx<'_>, op: &Op, shape: &Shape) -> Flow {
    let doubles = E::WORDS == 2;
    let registers = shape.size * shape.size * shape.blocks * E::WORDS / 64;
    // In f64 instructions, the field `blgp` holds negation bits instead of a permutation.
    let signs = if doubles { op.neg } else { 0 };
    let a = factors(cx.wave, op, 0, signs & 1 != 0);
    let b = factors(cx.wave, op, 1, signs & 2 != 0);
    let mut sums: [Lanes; MOST] = [[0; 64]; MOST];
    for (at, sum) in sums[..registers].iter_mut().enumerate() {
        let src = following(
            op.src[2],
            if matches!(op.src[2], crate::op::Src::K(_)) { at % E::WORDS } else { at } as u16,
        );
        sum.copy_from_slice(plain(cx.wave, src, 1, &mut [[0; 64]; 2]).0);
        if signs & 4 != 0 && at % 2 == 1 {
            sum.iter_mut().for_each(|word| *word ^= 1 << 31);
        }
    }
    let source_block = |block: usize| (block >> op.abs << op.abs) + usize::from(op.op_sel);
    for block in 0..shape.blocks {
        for row in 0..shape.size {
            for column in 0..shape.size {
                let (lane, register) = shape.sum(doubles, row, column, block);
                let high = if doubles { u64::from(sums[register + 1][lane]) << 32 } else { 0 };
                let mut sum = E::sum(u64::from(sums[register][lane]) | high);
                for k in 0..shape.k {
                    let (lane_a, at) = shape.factor(E::PER_LANE, row, k, source_block(block));
                    let (lane_b, _) = shape.factor(E::PER_LANE, column, k, block);
                    let lane_b = if doubles { lane_b } else { permuted(lane_b, op.neg) };
                    sum = E::step(sum, E::factor(a[lane_a], at), E::factor(b[lane_b], at));
                }
                let bits = E::bits(sum);
                sums[register][lane] = bits as u32;
                if doubles {
                    sums[register + 1][lane] = (bits >> 32) as u32;
                }
            }
        }
    }
    for (at, sum) in sums[..registers].iter().enumerate() {
        write(cx.wave, op.dst + at as u16, sum, !0);
    }
    Flow::Next
}

/// Returns the one or two registers of a factor for each lane.
fn factors(wave: &Wave, op: &Op, at: usize, negate: bool) -> [u64; 64] {
    let words = if op.rules.wide_factors { 2 } else { 1 };
    let mut temp = [[0; 64]; 2];
    let source = plain(wave, op.src[at], words, &mut temp);
    let sign = u64::from(negate) << 63;
    std::array::from_fn(|lane| super::valu::lane_bits(source, lane, words) ^ sign)
}

/// Returns the lane whose elements of B are used in place of those of `lane`. The modifier `blgp` selects one
/// of several permutations of the lanes.
fn permuted(lane: usize, blgp: u8) -> usize {
    match blgp {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        4..=7 => lane % 16 + 16 * usize::from(blgp - 4),
        _ => lane,
    }
}
