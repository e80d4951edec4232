//! Typed buffer instructions (family MTBUF). They are like MUBUF instructions, but contain the data format.
//!
//! The modifier `tfe` is not supported here: LLVM 14 accepts it for these instructions, but LLVM 19 neither
//! assembles nor disassembles it.

use super::operands::*;
use super::{Encoding, prefix_bits};
use crate::decode::DecodeError;
use crate::encode::{Problem, is_inline};
use crate::inst::{Lane, MachInst, ModFlags};
use crate::layout::{Field, Layout};
use crate::operand::Operand;
use crate::reg::Reg;
use crate::table::{Opcode, Row};
use crate::target::Target;

const OFFSET: Field = Field::new(0, 12);
const FORMAT: Field = Field::new(19, 7);
const VADDR: Field = Field::new(32, 8);
const VDATA: Field = Field::new(40, 8);
const SRSRC: Field = Field::new(48, 5);
/// Bit on gfx90a that says that the data is in accumulation VGPRs.
const ACC: Field = Field::new(55, 1);
const SOFFSET: Field = Field::new(56, 8);
/// Code of the source `src_lds_direct`. These instructions refuse it, because only vector ALU instructions
/// can read it.
const LDS_DIRECT: u32 = Reg::LDS_DIRECT.0 as u32;
/// Flags with their fields. The first flags exist on all generations. The later ones exist only on some
/// generations, or have different positions on them.
pub(crate) const OFFEN: (ModFlags, Field) = (ModFlags::OFFEN, Field::new(12, 1));
pub(crate) const IDXEN: (ModFlags, Field) = (ModFlags::IDXEN, Field::new(13, 1));
pub(crate) const GLC: (ModFlags, Field) = (ModFlags::GLC, Field::new(14, 1));
pub(crate) const SLC: (ModFlags, Field) = (ModFlags::SLC, Field::new(54, 1));
pub(crate) const ADDR64: (ModFlags, Field) = (ModFlags::ADDR64, Field::new(15, 1));
pub(crate) const DLC: (ModFlags, Field) = (ModFlags::DLC, Field::new(15, 1));
pub(crate) const SCC: (ModFlags, Field) = (ModFlags::SCC, Field::new(53, 1));

/// Returns the positions of the flags of typed buffer instructions.
fn flags(target: &Target) -> &'static [(ModFlags, Field)] {
    Layout::for_target(target).graphics.typed_flags
}

/// The format that an instruction has if its text names none: 8 bits, UNORM.
pub(crate) const DEFAULT_FORMAT: u8 = 1;

/// Returns the number of VGPRs of the address. Index and offset have one VGPR each, if they are present. A
/// 64-bit address has two.
fn address_width(flags: ModFlags) -> Result<u8, Problem> {
    let parts = u8::from(flags.contains(ModFlags::OFFEN)) + u8::from(flags.contains(ModFlags::IDXEN));
    match (flags.contains(ModFlags::ADDR64), parts) {
        (true, 0) => Ok(2),
        (true, _) => Err(Problem::Modifier("idxen or offen beside addr64")),
        (false, parts) => Ok(parts),
    }
}

/// Returns the opcode number of a typed buffer instruction.
pub(super) fn opcode(target: &Target, bits: u64) -> u32 {
    let (low, high) = Layout::for_target(target).graphics.typed_opcode;
    low.get(bits) | high.get(bits) << low.width()
}

fn opcode_bits(target: &Target, code: u32) -> u64 {
    let (low, high) = Layout::for_target(target).graphics.typed_opcode;
    low.put(code) | high.put(code >> low.width())
}

/// Returns the words of a typed buffer instruction.
pub(super) fn encode(target: &Target, row: &Row, code: u32, inst: &MachInst) -> Result<u64, Problem> {
    let mods = &inst.mods;
    no_source_mods(mods)?;
    let format = match mods.lane {
        Lane::None => DEFAULT_FORMAT,
        Lane::Format(format) if FORMAT.fits(format.into()) => format,
        _ => return Err(Problem::Modifier("this format")),
    };
    let offset =
        u32::try_from(mods.offset).ok().filter(|&offset| OFFSET.fits(offset)).ok_or(Problem::Offset)?;
    let address = match (address_width(mods.flags)?, inst.ops[1]) {
        (0, Operand::None) => 0,
        (0, _) => return Err(Problem::Operand(1)),
        (width, operand) => vgprs(target, operand, width, 1)?,
    };
    let scalar_offset = match inst.ops[3] {
        Operand::Inline(code) if is_inline(target, code) => code.into(),
        Operand::Reg(range) if u32::from(range.first.0) == LDS_DIRECT => return Err(Problem::Register(3)),
        operand => sgprs(target, operand, 1, 1, 3)?,
    };
    let (data, acc) = data(target, inst.ops[0], row.ops[0].width, ACC, 0)?;
    Ok(prefix_bits(target, Encoding::Mtbuf)
        | acc
        | opcode_bits(target, code)
        | flag_bits(mods, flags(target))?
        | OFFSET.put(offset)
        | FORMAT.put(format.into())
        | VADDR.put(address)
        | VDATA.put(data)
        | SRSRC.put(sgprs(target, inst.ops[2], 4, 4, 2)?)
        | SOFFSET.put(scalar_offset))
}

/// Decodes a typed buffer instruction.
pub(super) fn decode(target: &Target, op: Opcode, bits: u64) -> Result<MachInst, DecodeError> {
    let flags = flags_at(bits, flags(target));
    let address = match address_width(flags).map_err(|_| DecodeError::Reserved)? {
        0 => Operand::None,
        width => vgprs_at(VADDR.get(bits), width)?,
    };
    let scalar_offset = match SOFFSET.get(bits) {
        code if is_inline(target, code as u16) => Operand::Inline(code as u16),
        LDS_DIRECT => return Err(DecodeError::Reserved),
        code => sgprs_at(target, code, 1)?,
    };
    let data = data_at(target, VDATA.get(bits), op.row().ops[0].width, ACC.get(bits))?;
    let mut inst =
        MachInst::new(op, &[data, address, sgprs_at(target, SRSRC.get(bits) * 4, 4)?, scalar_offset]);
    inst.mods.flags = flags;
    inst.mods.offset = OFFSET.get(bits) as i32;
    inst.mods.lane = Lane::Format(FORMAT.get(bits) as u8);
    Ok(inst)
}
