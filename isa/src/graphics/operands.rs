//! Encodes and decodes the operands of graphics instructions in their fields.

use crate::decode::DecodeError;
use crate::encode::Problem;
use crate::inst::{ModFlags, Mods};
use crate::layout::Field;
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::target::{Feature, Target};

/// Returns the number of the first VGPR of an operand that is a group of VGPRs.
pub(super) fn vgprs(target: &Target, operand: Operand, width: u8, index: u8) -> Result<u32, Problem> {
    match operand {
        Operand::Reg(range) if range.first.is_agpr() => Err(Problem::Operand(index)),
        _ => vector_registers(target, operand, width, index),
    }
}

/// Returns the number of the first data register, and the value of the bit `acc`. The bit is 1 if the data is
/// in accumulation VGPRs, which is possible on gfx90a.
pub(super) fn data(
    target: &Target,
    operand: Operand,
    width: u8,
    acc: Field,
    index: u8,
) -> Result<(u32, u64), Problem> {
    match operand {
        Operand::Reg(range) if range.first.is_agpr() && target.has(Feature::UNIFIED_VGPRS) => {
            Ok((vector_registers(target, operand, width, index)?, acc.put(1)))
        }
        _ => Ok((vgprs(target, operand, width, index)?, 0)),
    }
}

/// Returns the number of the first VGPR of an operand with `width` dwords. On gfx90a, this number must be
/// even if the operand has several registers.
fn vector_registers(target: &Target, operand: Operand, width: u8, index: u8) -> Result<u32, Problem> {
    let range = match operand {
        Operand::Reg(range) if range.first.is_vgpr() || range.first.is_agpr() => range,
        Operand::Virt(_) => return Err(Problem::Unresolved(index)),
        _ => return Err(Problem::Operand(index)),
    };
    let number = u32::from(range.first.number());
    let odd = target.has(Feature::EVEN_VGPRS) && width > 1 && number % 2 != 0;
    if range.len != width || number + u32::from(width) > 256 || odd {
        return Err(Problem::Register(index));
    }
    Ok(number)
}

/// Returns the operand for the group of VGPRs that starts at a number.
pub(super) fn vgprs_at(number: u32, width: u8) -> Result<Operand, DecodeError> {
    registers_at(Reg::vgpr(number as u16 & 0xff), width)
}

/// Returns the operand for data in `width` registers from `number` on. The registers are accumulation VGPRs
/// if `acc` is 1 on gfx90a, and VGPRs otherwise.
pub(super) fn data_at(target: &Target, number: u32, width: u8, acc: u32) -> Result<Operand, DecodeError> {
    let number = number as u16 & 0xff;
    let first =
        if target.has(Feature::UNIFIED_VGPRS) && acc != 0 { Reg::agpr(number) } else { Reg::vgpr(number) };
    registers_at(first, width)
}

fn registers_at(first: Reg, len: u8) -> Result<Operand, DecodeError> {
    match first.number() + u16::from(len) <= 256 {
        true => Ok(Operand::Reg(RegRange { first, len })),
        false => Err(DecodeError::Reserved),
    }
}

/// Returns the field value for a group of SGPRs, which is the code of the first SGPR divided by `unit`.
pub(super) fn sgprs(
    target: &Target,
    operand: Operand,
    width: u8,
    unit: u32,
    index: u8,
) -> Result<u32, Problem> {
    match operand {
        // Only vector ALU instructions can read directly from LDS.
        Operand::Reg(range) if range.first.0 >= 256 || range.first == Reg::LDS_DIRECT => {
            Err(Problem::Operand(index))
        }
        Operand::Reg(range) if range.len != width || !range.exists(target) => Err(Problem::Register(index)),
        Operand::Reg(range) => Ok(u32::from(range.first.0) / unit),
        Operand::Virt(_) => Err(Problem::Unresolved(index)),
        _ => Err(Problem::Operand(index)),
    }
}

/// Returns the operand for a group of `width` SGPRs, given the code of the first SGPR.
pub(super) fn sgprs_at(target: &Target, code: u32, width: u8) -> Result<Operand, DecodeError> {
    group(target, RegRange { first: Reg(code as u16), len: width })
}

fn group(target: &Target, range: RegRange) -> Result<Operand, DecodeError> {
    if range.exists(target) { Ok(Operand::Reg(range)) } else { Err(DecodeError::Reserved) }
}

/// Returns the number in an operand. It must be less than `limit`.
pub(super) fn number(operand: Operand, limit: u32, index: u8) -> Result<u32, Problem> {
    match operand {
        Operand::Imm(value) => {
            u32::try_from(value).ok().filter(|&value| value < limit).ok_or(Problem::Range(index))
        }
        _ => Err(Problem::Operand(index)),
    }
}

/// Returns the bits of the flags that the instruction has. `fields` lists the positions of flags. Fails if
/// the instruction has a flag that is not listed.
pub(super) fn flag_bits(mods: &Mods, fields: &[(ModFlags, Field)]) -> Result<u64, Problem> {
    let mut left = mods.flags;
    let mut bits = 0;
    for &(flag, field) in fields {
        bits |= field.put(u32::from(left.contains(flag)));
        left.remove(flag);
    }
    if left.is_empty() { Ok(bits) } else { Err(Problem::Modifier("a flag")) }
}

/// Returns the flags whose bits are set in `bits`.
pub(super) fn flags_at(bits: u64, fields: &[(ModFlags, Field)]) -> ModFlags {
    fields.iter().filter(|(_, field)| field.get(bits) != 0).map(|&(flag, _)| flag).collect()
}

/// Fails if the instruction has a modifier that is neither a flag nor an offset nor a lane control, such as
/// `neg` or `clamp`.
pub(super) fn no_source_mods(mods: &Mods) -> Result<(), Problem> {
    match (mods.neg | mods.abs, mods.omod, mods.op_sel | mods.op_sel_hi) {
        (0, 0, 0) => Ok(()),
        (0, 0, _) => Err(Problem::Modifier("op_sel")),
        (0, ..) => Err(Problem::Modifier("an output multiplier")),
        _ => Err(Problem::Modifier("neg or abs")),
    }
}
