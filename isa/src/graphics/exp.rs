//! EXP instructions, which export up to four VGPRs to a render target, a position or a parameter.
//!
//! A source operand that is absent (`off`) is not exported. With `compr`, the instruction has two source
//! registers with two 16-bit values each. It still has four source operands, one for each value. The first
//! two operands name the first register, and the other two name the second register.

use super::operands::*;
use super::{Encoding, prefix_bits};
use crate::decode::DecodeError;
use crate::encode::Problem;
use crate::inst::{Lane, MachInst, ModFlags};
use crate::layout::Field;
use crate::operand::Operand;
use crate::table::{available, op};
use crate::target::Target;

const ENABLE: Field = Field::new(0, 4);
const EXPORT_TO: Field = Field::new(4, 6);
const SOURCES: [Field; 4] = [Field::new(32, 8), Field::new(40, 8), Field::new(48, 8), Field::new(56, 8)];
const FLAGS: &[(ModFlags, Field)] = &[
    (ModFlags::COMPR, Field::new(10, 1)),
    (ModFlags::DONE, Field::new(11, 1)),
    (ModFlags::VM, Field::new(12, 1)),
];

/// Returns the number of the register field that holds source operand `n`. Both numbers start from 0. With
/// `compr`, two operands share a field.
const fn source_of(n: usize, compressed: bool) -> usize {
    if compressed { n / 2 } else { n }
}

/// Returns the words of an export instruction.
pub(super) fn encode(target: &Target, inst: &MachInst) -> Result<u64, Problem> {
    let mods = &inst.mods;
    no_source_mods(mods)?;
    if mods.lane != Lane::None || mods.offset != 0 {
        return Err(Problem::Modifier("this modifier"));
    }
    let compressed = mods.flags.contains(ModFlags::COMPR);
    let mut bits = prefix_bits(target, Encoding::Exp) | flag_bits(mods, FLAGS)?;
    bits |= EXPORT_TO.put(number(inst.ops[0], 64, 0)?);
    let mut placed = [None; 4];
    for (n, &operand) in inst.ops[1..5].iter().enumerate() {
        if operand == Operand::None {
            continue;
        }
        let source = source_of(n, compressed);
        let register = vgprs(target, operand, 1, n as u8 + 1)?;
        // With `compr`, the two operands for the two halves of a register must name the same register.
        if placed[source].replace(register).is_some_and(|other| other != register) {
            return Err(Problem::Register(n as u8 + 1));
        }
        bits |= ENABLE.put(1 << n) | SOURCES[source].put(register);
    }
    Ok(bits)
}

/// Decodes an export instruction.
pub(super) fn decode(target: &Target, bits: u64) -> Result<MachInst, DecodeError> {
    if !available(op::EXP_TARGET, target) {
        return Err(DecodeError::Unknown);
    }
    let mut inst = MachInst::new(op::EXP_TARGET, &[Operand::Imm(EXPORT_TO.get(bits) as i32)]);
    inst.mods.flags = flags_at(bits, FLAGS);
    inst.len = 5;
    let compressed = inst.mods.flags.contains(ModFlags::COMPR);
    for n in 0..4 {
        if ENABLE.get(bits) >> n & 1 != 0 {
            inst.ops[n + 1] = vgprs_at(SOURCES[source_of(n, compressed)].get(bits), 1)?;
        }
    }
    Ok(inst)
}
