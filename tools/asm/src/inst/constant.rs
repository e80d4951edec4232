//! Numbers as operands. The type of the operand determines how a number is converted to bits.

use isa::table::Num;
use isa::{Operand, inline_half};

/// A number in the source, without the signs and absolute-value bars around it; [`Constant::modified`]
/// applies these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Int(i64),
    Float(f64),
}

/// Reason why a number is not allowed as an operand.
pub(super) type Refusal = &'static str;

const TOO_WIDE: Refusal = "the number does not fit the operand";
const OVERFLOW: Refusal = "the number is too large or too small for the operand's float type";

/// Returns the operand for a number. It is the inline constant with the number's bits if there is one, and
/// otherwise a literal. `inv_2pi` says whether the processor has an inline constant for 1/(2*pi).
pub(super) fn operand(value: Constant, num: Num, packed: bool, inv_2pi: bool) -> Result<Operand, Refusal> {
    let operand = match value {
        Constant::Int(value) => int(value, num, packed)?,
        Constant::Float(value) => float(value, num)?,
    };
    let is_bits = matches!(value, Constant::Int(_));
    match operand {
        // The number equals an inline constant that the processor does not have. A literal is not possible
        // either: it has only 32 bits, but here all 64 bits of the number matter.
        Operand::Inline(248) if !inv_2pi && num.is_wide() && (is_bits || num != Num::F64) => Err(TOO_WIDE),
        Operand::Inline(248) if !inv_2pi => Ok(Operand::Literal(match num {
            Num::F16 => 0x3118,
            Num::F64 => 0x3fc4_5f30,
            _ => 0x3e22_f983,
        })),
        operand => Ok(operand),
    }
}

fn int(value: i64, num: Num, packed: bool) -> Result<Operand, Refusal> {
    if let Some(operand) = Operand::int64(value) {
        return Ok(operand);
    }
    if num.is_wide() {
        if let Some(operand @ Operand::Inline(_)) = Operand::f64(value as u64) {
            return Ok(operand);
        }
        return Ok(Operand::Literal(word(value)?));
    }
    if packed && num.is_half() {
        // The same 32-bit value applies to both halves.
        let bits = word(value)?;
        return Ok(match (num, u16::try_from(bits)) {
            _ if matches!(bits as i32, -16..=64) => Operand::int(bits as i32),
            (Num::F16, Ok(half)) => {
                inline_half(half).filter(|&code| code >= 240).map_or(Operand::Literal(bits), Operand::Inline)
            }
            (Num::F16, _) => Operand::Literal(bits),
            _ => Operand::int(bits as i32),
        });
    }
    if num.is_half() {
        let bits = value as u16;
        if i64::from(bits) != value && i64::from(bits as i16) != value {
            return Err(TOO_WIDE);
        }
        if num == Num::F16
            && let Some(code) = inline_half(bits)
        {
            return Ok(Operand::Inline(code));
        }
        return Ok(Operand::Literal(u32::from(bits)));
    }
    Ok(Operand::int(word(value)? as i32))
}

fn float(value: f64, num: Num) -> Result<Operand, Refusal> {
    match num {
        Num::F64 => {
            let bits = value.to_bits();
            // A literal provides only the high half.
            Ok(Operand::f64(bits).unwrap_or(Operand::Literal((bits >> 32) as u32)))
        }
        _ if num.is_wide() => match Operand::f64(value.to_bits()) {
            Some(operand @ Operand::Inline(_)) => Ok(operand),
            _ => Err("a 64-bit integer operand takes no float but the inline ones"),
        },
        Num::F16 => {
            let half = half_bits(value)?;
            Ok(inline_half(half).map_or(Operand::Literal(u32::from(half)), Operand::Inline))
        }
        // All operands of other types get a 32-bit float, even operands that are 16-bit integers.
        _ => Ok(Operand::f32(single_bits(value)?)),
    }
}

/// Returns the bits of a number for an instruction that always has a literal, such as `v_madmk_f32`.
pub(super) fn literal(value: Constant, num: Num) -> Result<u32, Refusal> {
    match value {
        Constant::Int(value) if num.is_half() => {
            match i16::try_from(value).is_ok() || u16::try_from(value).is_ok() {
                true => Ok(u32::from(value as u16)),
                false => Err(TOO_WIDE),
            }
        }
        Constant::Int(value) => word(value),
        Constant::Float(value) if num == Num::F16 => half_bits(value).map(u32::from),
        Constant::Float(value) => single_bits(value),
    }
}

impl Constant {
    /// Applies the modifiers `neg` and `abs` to a number. They change the sign bit that the number has in the
    /// operand's type.
    pub fn modified(self, neg: bool, abs: bool, num: Num) -> Constant {
        if !neg && !abs {
            return self;
        }
        match self {
            Constant::Float(value) => {
                let value = if abs { value.abs() } else { value };
                Constant::Float(if neg { -value } else { value })
            }
            Constant::Int(value) => {
                let sign = match num {
                    _ if num.is_wide() => 1u64 << 63,
                    _ if num.is_half() => 1 << 15,
                    _ => 1 << 31,
                };
                let bits = value as u64 & (sign << 1).wrapping_sub(1);
                let bits = if abs { bits & !sign } else { bits };
                let bits = if neg { bits ^ sign } else { bits };
                Constant::Int(bits as i64)
            }
        }
    }
}

fn word(value: i64) -> Result<u32, Refusal> {
    match i32::try_from(value).is_ok() || u32::try_from(value).is_ok() {
        true => Ok(value as u32),
        false => Err(TOO_WIDE),
    }
}

/// The number may lose precision when it is rounded, but it must not overflow or become zero.
fn single_bits(value: f64) -> Result<u32, Refusal> {
    let single = value as f32;
    if single.is_infinite() && value.is_finite() || single == 0.0 && value != 0.0 {
        return Err(OVERFLOW);
    }
    Ok(single.to_bits())
}

fn half_bits(value: f64) -> Result<u16, Refusal> {
    let half = half::f16::from_f64(value);
    if half.is_infinite() && value.is_finite() || half.to_f64() == 0.0 && value != 0.0 {
        return Err(OVERFLOW);
    }
    Ok(half.to_bits())
}
