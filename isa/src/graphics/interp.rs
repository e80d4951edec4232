//! Instructions that interpolate attributes. Some have the VINTRP encoding. Others have the VOP3 encoding
//! with an attribute as their first source.

use super::operands::*;
use super::{Encoding, prefix_bits};
use crate::decode::DecodeError;
use crate::encode::Problem;
use crate::inst::{Form, Lane, MachInst, ModFlags, Mods};
use crate::layout::{Field, Layout};
use crate::operand::Operand;
use crate::table::{Caps, Flags, Kind, Opcode, Row};
use crate::target::Target;

const SHORT_OP: Field = Field::new(16, 2);
const SHORT_SRC: Field = Field::new(0, 8);
const SHORT_ATTRIBUTE: Field = Field::new(8, 8);
const SHORT_DST: Field = Field::new(18, 8);

const OP: Field = Field::new(16, 10);
const DST: Field = Field::new(0, 8);
/// Field for the number of the attribute. The next field is the component of the attribute.
const ATTRIBUTE: Field = Field::new(32, 6);
const COMPONENT: Field = Field::new(38, 2);
/// Field for the code of a source. The code of a VGPR is 256 plus its number.
const SRC1: Field = Field::new(41, 9);
const SRC2: Field = Field::new(50, 9);
/// The bits `abs` of the second and third source. The first source is the attribute and has no such bit.
const ABS: Field = Field::new(9, 2);
const NEG: Field = Field::new(62, 2);
const OMOD: Field = Field::new(59, 2);
const CLAMP: (ModFlags, Field) = (ModFlags::CLAMP, Field::new(15, 1));
/// Bit of half-precision instructions that selects the high half of the attribute. If it is clear, the low
/// half is used.
const HIGH: (ModFlags, Field) = (ModFlags::HIGH, Field::new(40, 1));

/// Returns the flags that an interpolation instruction has in the VOP3 encoding.
fn flags(row: &Row) -> &'static [(ModFlags, Field)] {
    if row.flags.contains(Flags::NO_E32) { &[CLAMP, HIGH] } else { &[CLAMP] }
}

/// Converts an opcode number of the interpolation instruction `row` to the number in the opcode field of the
/// VOP3 encoding.
pub(super) fn vop3_code(target: &Target, row: &Row, code: u32) -> u32 {
    match Layout::for_target(target).graphics.interp_in_vop3 {
        Some(base) if !row.flags.contains(Flags::NO_E32) => base + code,
        _ => code,
    }
}

/// Returns the opcode number of a VINTRP instruction.
pub(super) fn opcode(word: u32) -> u32 {
    SHORT_OP.get(word.into())
}

/// Returns the opcode number of a VOP3 instruction.
pub(super) fn opcode_vop3(bits: u64) -> u32 {
    OP.get(bits)
}

/// Returns the value of the field for a vertex attribute, which is four times the number of the attribute
/// plus its component (see [`Kind::Attribute`]).
fn attribute(operand: Operand, index: u8) -> Result<u32, Problem> {
    number(operand, 256, index)
}

/// Returns the field value of the first source, which is the number of a VGPR or of a parameter.
fn first_source(target: &Target, row: &Row, inst: &MachInst) -> Result<u32, Problem> {
    match row.ops[1].kind {
        Kind::Parameter => number(inst.ops[1], 256, 1),
        _ => vgprs(target, inst.ops[1], 1, 1),
    }
}

/// Returns the word of a VINTRP instruction.
pub(super) fn encode_short(target: &Target, row: &Row, code: u32, inst: &MachInst) -> Result<u32, Problem> {
    if inst.mods != Mods::default() {
        return Err(Problem::Modifier("modifiers in this form"));
    }
    let bits = prefix_bits(target, Encoding::Interp)
        | SHORT_OP.put(code)
        | SHORT_DST.put(vgprs(target, inst.ops[0], 1, 0)?)
        | SHORT_SRC.put(first_source(target, row, inst)?)
        | SHORT_ATTRIBUTE.put(attribute(inst.ops[2], 2)?);
    Ok(bits as u32)
}

/// Decodes a VINTRP instruction.
pub(super) fn decode_short(op: Opcode, word: u32) -> Result<MachInst, DecodeError> {
    let bits = u64::from(word);
    let source = match op.row().ops[1].kind {
        Kind::Parameter => Operand::Imm(SHORT_SRC.get(bits) as i32),
        _ => vgprs_at(SHORT_SRC.get(bits), 1)?,
    };
    let attribute = Operand::Imm(SHORT_ATTRIBUTE.get(bits) as i32);
    let mut inst = MachInst::new(op, &[vgprs_at(SHORT_DST.get(bits), 1)?, source, attribute]);
    inst.form = Form::E32;
    Ok(inst)
}

/// Returns the words of an interpolation instruction in the VOP3 encoding.
pub(super) fn encode_vop3(target: &Target, row: &Row, code: u32, inst: &MachInst) -> Result<u64, Problem> {
    if Layout::for_target(target).graphics.interp_in_vop3.is_none() {
        return Err(Problem::Form);
    }
    check_modifiers(row, &inst.mods)?;
    let mods = &inst.mods;
    let attribute = attribute(inst.ops[2], 2)?;
    let is_vgpr = if row.ops[1].kind == Kind::Parameter { 0 } else { 256 };
    let mut bits = prefix_bits(target, Encoding::Vop3)
        | OP.put(vop3_code(target, row, code))
        | flag_bits(mods, flags(row))?
        | DST.put(vgprs(target, inst.ops[0], 1, 0)?)
        | ATTRIBUTE.put(attribute >> 2)
        | COMPONENT.put(attribute & 3)
        | SRC1.put(is_vgpr + first_source(target, row, inst)?)
        | NEG.put(mods.neg.into())
        | ABS.put(mods.abs.into())
        | OMOD.put(mods.omod.into());
    if row.ops.len() > 3 {
        bits |= SRC2.put(256 + vgprs(target, inst.ops[3], 1, 3)?);
    }
    Ok(bits)
}

/// Fails if the instruction cannot have these modifiers. It can have `neg` and `abs` on its sources in VGPRs,
/// because all of these are floats.
fn check_modifiers(row: &Row, mods: &Mods) -> Result<(), Problem> {
    let sources = row.ops[1..].iter().filter(|spec| spec.kind == Kind::Vgpr).count();
    let all = (1u8 << sources) - 1;
    if (mods.neg | mods.abs) & !all != 0 {
        return Err(Problem::Modifier("neg or abs"));
    }
    if mods.omod > 3 || mods.omod != 0 && !row.caps.contains(Caps::OMOD) {
        return Err(Problem::Modifier("an output multiplier"));
    }
    if mods.lane != Lane::None || mods.offset != 0 || (mods.op_sel | mods.op_sel_hi) != 0 {
        return Err(Problem::Modifier("this modifier"));
    }
    Ok(())
}

/// Decodes an interpolation instruction in the VOP3 encoding.
pub(super) fn decode_vop3(op: Opcode, bits: u64) -> Result<MachInst, DecodeError> {
    let row = op.row();
    let vgpr = |field: Field| match field.get(bits) {
        code @ 256.. => vgprs_at(code - 256, 1),
        _ => Err(DecodeError::Reserved),
    };
    let source = match row.ops[1].kind {
        Kind::Parameter => Operand::Imm(SRC1.get(bits) as i32),
        _ => vgpr(SRC1)?,
    };
    let attribute = Operand::Imm((ATTRIBUTE.get(bits) << 2 | COMPONENT.get(bits)) as i32);
    let mut inst = MachInst::new(op, &[vgprs_at(DST.get(bits), 1)?, source, attribute]);
    if row.ops.len() > 3 {
        inst.ops[3] = vgpr(SRC2)?;
        inst.len = 4;
    }
    inst.mods.flags = flags_at(bits, flags(row));
    inst.mods.neg = NEG.get(bits) as u8;
    inst.mods.abs = ABS.get(bits) as u8;
    inst.mods.omod = OMOD.get(bits) as u8;
    Ok(inst)
}
