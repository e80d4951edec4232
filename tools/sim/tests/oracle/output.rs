//! How results are compared, and what output modifiers do to them.

use super::Mode;
use super::native::Expected;
use isa::table::{Kind, Num, Role, Row};

/// How the destination's dwords are understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// There is none.
    Nothing,
    /// So many dwords.
    Bits(usize),
    /// f16 in the low half.
    Half,
    /// Two f16.
    Halves,
    /// So many f32.
    Singles(usize),
    /// f64.
    Double,
}

impl Shape {
    /// Whether it is made of floats.
    pub fn is_float(self) -> bool {
        matches!(self, Shape::Half | Shape::Halves | Shape::Singles(_) | Shape::Double)
    }
}

/// The shape of what a row writes.
pub fn shape(row: &Row) -> Shape {
    let Some(spec) = row.ops.iter().find(|spec| spec.role != Role::Use && spec.kind != Kind::Mask) else {
        return Shape::Nothing;
    };
    let names =
        ["v_pack_b32_f16", "v_fma_mixlo_f16", "v_fma_mixhi_f16", "v_mad_mixlo_f16", "v_mad_mixhi_f16"];
    let packed_halves = names.contains(&row.name) || row.name.starts_with("v_cvt_pkrtz");
    match spec.num {
        _ if packed_halves || row.name.starts_with("v_pk_") && row.name.ends_with("_f16") => Shape::Halves,
        _ if row.name.starts_with("v_pk_") && row.name.ends_with("_f32") => Shape::Singles(2),
        Num::F16 => Shape::Half,
        Num::V2F16 => Shape::Halves,
        Num::F32 => Shape::Singles(1),
        Num::F64 => Shape::Double,
        _ => Shape::Bits(usize::from(spec.width)),
    }
}

/// A floating-point format: bits, of them mantissa.
#[derive(Clone, Copy)]
struct Format(u32, u32);

const HALF: Format = Format(16, 10);
const SINGLE: Format = Format(32, 23);
const DOUBLE: Format = Format(64, 52);

impl Format {
    fn sign(self) -> u64 {
        1 << (self.0 - 1)
    }

    fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.1 << self.1
    }

    fn is_nan(self, value: u64) -> bool {
        value & (self.sign() - 1) > self.infinity()
    }

    fn value(self, bits: u64) -> f64 {
        match self.0 {
            16 => half::f16::from_bits(bits as u16).to_f64(),
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    fn bits(self, value: f64) -> u64 {
        match self.0 {
            16 => u64::from(half::f16::from_f64(value).to_bits()),
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }
    }
}

/// Where the numbers of a result are: format, shift in the lowest 64 bits.
fn numbers(shape: Shape) -> &'static [(Format, u32)] {
    match shape {
        Shape::Nothing | Shape::Bits(_) => &[],
        Shape::Half => &[(HALF, 0)],
        Shape::Halves => &[(HALF, 0), (HALF, 16)],
        Shape::Singles(1) => &[(SINGLE, 0)],
        Shape::Singles(_) => &[(SINGLE, 0), (SINGLE, 32)],
        Shape::Double => &[(DOUBLE, 0)],
    }
}

fn wide(words: &[u32; 4]) -> u64 {
    u64::from(words[1]) << 32 | u64::from(words[0])
}

fn field(words: &[u32; 4], (format, shift): (Format, u32)) -> u64 {
    wide(words) >> shift & (u64::MAX >> (64 - format.0))
}

/// Equal, both NaN, or close enough.
fn close(found: u64, wanted: u64, format: Format, expected: &Expected) -> bool {
    let sign = format.sign();
    if found == wanted || format.is_nan(found) && format.is_nan(wanted) {
        return true;
    }
    if format.is_nan(found) || format.is_nan(wanted) {
        return false;
    }
    let ordered = |value: u64| if value & sign != 0 { -((value & (sign - 1)) as i64) } else { value as i64 };
    if expected.ulp != 0 && found & sign == wanted & sign {
        return ordered(found).abs_diff(ordered(wanted)) <= u64::from(expected.ulp);
    }
    let value = |bits| format.value(bits);
    expected.near != 0.0 && (value(found) - value(wanted)).abs() <= f64::from(expected.near)
}

/// Whether a result is what was expected.
pub fn same_result(shape: Shape, found: &[u32; 4], expected: &Expected) -> bool {
    let wanted = &expected.words;
    match shape {
        Shape::Nothing => true,
        Shape::Bits(count) => found[..count] == wanted[..count],
        _ => {
            let numbers = numbers(shape);
            let rest = shape != Shape::Half || found[0] >> 16 == wanted[0] >> 16;
            rest && numbers.iter().all(|&at| close(field(found, at), field(wanted, at), at.0, expected))
        }
    }
}

/// Whether a result is not to be compared bit by bit: a NaN, or an approximation.
pub fn is_inexact(shape: Shape, expected: &Expected) -> bool {
    let approximate = expected.ulp != 0 || expected.near != 0.0;
    approximate || numbers(shape).iter().any(|&at| at.0.is_nan(field(&expected.words, at)))
}

/// What `omod` and a float's `clamp` make of a result. "Output modifiers are ignored if the IEEE mode bit is set" and "if
/// output denormals are enabled"; "-0 is flushed to +0" (Vega ISA, "Output modifiers"); "integer and packed float 16 results
/// ignore the omod setting" (RDNA3 ISA, "Output operand modifiers").
pub fn modify(row: &Row, shape: Shape, mode: Mode, omod: u8, clamp: bool, expected: &mut Expected) {
    for &(format, shift) in numbers(shape) {
        // Mixed instructions write one half.
        let other_half = if row.name.contains("mixlo") { 16 } else { 0 };
        if row.name.contains("_mix") && row.name.ends_with("f16") && shift == other_half {
            continue;
        }
        let keeps = mode.keeps_output_denormals(format.0);
        let ignored = mode.ieee || keeps || shape == Shape::Halves;
        let scale = if ignored { 1.0 } else { [1.0, 2.0, 4.0, 0.5][usize::from(omod)] };
        let before = format.value(field(&expected.words, (format, shift)));
        let mut value = before;
        if scale != 1.0 {
            value = value * scale + 0.0;
            let tiny = format.value(1 << format.1);
            // Flushed before or after it is scaled; and which way it overflows.
            let lost = before == 0.0 && scale > 1.0;
            let rounded = format.value(format.bits(value));
            expected.any |= lost || before.is_finite() && rounded.is_infinite() && mode.float & 15 != 0;
            expected.near *= scale as f32;
            if value.abs() < tiny {
                // Halved, the numbers above the smallest normal one are denormals only before they are rounded.
                expected.any |= rounded.abs() >= tiny;
                value = 0.0;
                // Which zero.
                expected.near = expected.near.max(1e-45);
            }
        }
        if clamp {
            value = match value {
                value if value.is_nan() && !mode.dx10 => value,
                value if value > 0.0 => value.min(1.0),
                _ => 0.0,
            };
            // The sign of a zero.
            expected.near = expected.near.max(1e-45);
        }
        if scale != 1.0 || clamp {
            let mask = u64::MAX >> (64 - format.0) << shift;
            let all = wide(&expected.words) & !mask | format.bits(value) << shift & mask;
            (expected.words[0], expected.words[1]) = (all as u32, (all >> 32) as u32);
        }
    }
}
