//! Machine instructions to words. Generic over the table: what an instruction looks like is in its row, where the fields
//! lie is in `layout`.

use crate::graphics;
use crate::inst::{Form, Lane, MachInst, ModFlags, Mods, SdwaSel};
use crate::layout::*;
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::table::{Caps, Family, Flags, Kind, OpSpec, Opcode, Role, Row};
use crate::target::Target;
use std::fmt;

/// An instruction that has no encoding, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The instruction.
    pub op: Opcode,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The processor does not have the instruction.
    Unavailable,
    /// The instruction does not have the form.
    Form,
    /// Too few or too many operands.
    Count,
    /// The operand of that index is of a kind that cannot stand there.
    Operand(u8),
    /// The register operand of that index has the wrong size, is misaligned or does not exist.
    Register(u8),
    /// A literal where there is no room for one, or a second one.
    Literal(u8),
    /// A virtual register or block that should have been replaced.
    Unresolved(u8),
    /// A number that does not fit its field.
    Range(u8),
    /// The memory offset does not fit.
    Offset,
    /// A modifier that the instruction or form does not take.
    Modifier(&'static str),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: ", self.op)?;
        match self.problem {
            Problem::Unavailable => write!(f, "the processor has no such instruction"),
            Problem::Form => write!(f, "there is no such form"),
            Problem::Count => write!(f, "wrong number of operands"),
            Problem::Operand(n) => write!(f, "operand {n} is of the wrong kind"),
            Problem::Register(n) => write!(f, "operand {n} is no register group of that size"),
            Problem::Literal(n) => write!(f, "operand {n}: no room for a literal"),
            Problem::Unresolved(n) => write!(f, "operand {n} is still virtual"),
            Problem::Range(n) => write!(f, "operand {n} does not fit its field"),
            Problem::Offset => write!(f, "the offset does not fit its field"),
            Problem::Modifier(name) => write!(f, "does not take {name}"),
        }
    }
}

impl std::error::Error for EncodeError {}

/// Appends the words of an instruction. Registers must be hardware registers and branch targets `Operand::Imm` in dwords
/// from the end of the instruction; `Operand::Reloc` becomes a literal of 0 for the caller to patch.
pub fn encode(target: &Target, inst: &MachInst, out: &mut Vec<u32>) -> Result<(), EncodeError> {
    let error = |problem| EncodeError { op: inst.op, problem };
    if graphics::handles(inst.op.family()) {
        out.extend_from_slice(graphics::assemble(target, inst).map_err(error)?.words());
        return Ok(());
    }
    let words = assemble(target, inst).map_err(error)?;
    out.push(words.bits as u32);
    if words.len > 1 {
        out.push((words.bits >> 32) as u32);
    }
    out.extend(words.literal);
    Ok(())
}

/// Number of dwords of an instruction; 0 for a pseudo.
pub fn size_in_words(_target: &Target, inst: &MachInst) -> usize {
    if graphics::handles(inst.op.family()) {
        return graphics::size_in_words(inst);
    }
    let Some(encoding) = Encoding::of(inst.op.row(), inst.form) else { return 0 };
    let literal = |operand: &Operand| matches!(operand, Operand::Literal(_) | Operand::Reloc(_));
    encoding.words() + usize::from(inst.operands().iter().any(literal))
}

/// An encoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// First dword low.
    pub bits: u64,
    /// Dwords in `bits`.
    pub len: usize,
    /// The dword after them.
    pub literal: Option<u32>,
}

/// Sources seen so far: how many, and which of them are floats.
#[derive(Clone, Copy, Default)]
struct Sources {
    count: u8,
    floats: u8,
}

pub(crate) fn assemble(target: &Target, inst: &MachInst) -> Result<Words, Problem> {
    let row = inst.op.row();
    let encoding = Encoding::of(row, inst.form).ok_or(Problem::Form)?;
    let code = row.code(target).ok_or(Problem::Unavailable)?;
    // `s_endpgm` and its like may leave out their number, which is 0 then.
    let implied = inst.len == 0 && row.ops.len() == 1 && row.ops[0].kind == Kind::Imm;
    if usize::from(inst.len) != row.ops.len() && !implied {
        return Err(Problem::Count);
    }
    let mut words = Words {
        bits: opcode_bits(row.family, encoding, u32::from(code)),
        len: encoding.words(),
        literal: None,
    };
    let mut slots = Slots::new(row, encoding);
    let mut sources = Sources::default();
    for (index, (spec, &operand)) in row.ops.iter().zip(inst.operands()).enumerate() {
        let before = slots.last_source();
        let slot = slots.next(spec);
        if let Some(n) = slots.last_source().filter(|_| slots.last_source() != before) {
            sources.count = n + 1;
            sources.floats |= u8::from(spec.num.is_float()) << n;
        }
        place(&mut words, inst, slot, spec, index as u8, operand)?;
    }
    words.bits |= modifier_bits(target, row, encoding, inst, sources)?;
    Ok(words)
}

fn opcode_bits(family: Family, encoding: Encoding, code: u32) -> u64 {
    match encoding {
        Encoding::Vop3 => family_pattern(Family::Vop3).0 | VOP3_OP.put(code + vop3_base(family)),
        Encoding::Sdwa | Encoding::Dpp => {
            let (pattern, field) = family_pattern(family);
            let announce = if encoding == Encoding::Sdwa { SRC_SDWA } else { SRC_DPP };
            pattern | field.put(code) | SRC0.put(announce)
        }
        _ => {
            let (pattern, field) = family_pattern(family);
            pattern | field.put(code)
        }
    }
}

/// Puts one operand into its slot.
fn place(
    words: &mut Words,
    inst: &MachInst,
    slot: Slot,
    spec: &OpSpec,
    index: u8,
    operand: Operand,
) -> Result<(), Problem> {
    if matches!(operand, Operand::Virt(_) | Operand::Block(_)) {
        return Err(Problem::Unresolved(index));
    }
    if let Operand::Reg(range) = operand
        && is_forbidden(slot, spec, range)
    {
        return Err(Problem::Register(index));
    }
    words.bits |= match slot {
        Slot::Scalar(field) => field.put(scalar(operand, spec.width, spec.role != Role::Use, index)?),
        Slot::Vector(field) => field.put(vector(operand, spec.width, index)?),
        Slot::Source(field) => source(words, inst, field, spec, index, operand)?,
        Slot::SdwaSource(field, is_scalar) => match operand {
            Operand::Reg(range) if !range.first.is_vgpr() => {
                field.put(scalar(operand, spec.width, false, index)?) | is_scalar.put(1)
            }
            _ => field.put(vector(operand, spec.width, index)?),
        },
        Slot::SdwaMask if operand == Operand::VCC => 0,
        Slot::SdwaMask => SDWA_SDST.put(scalar(operand, spec.width, true, index)?) | SDWA_SD.put(1),
        Slot::Scaled(field, unit) => field.put(scalar(operand, spec.width, false, index)? / u32::from(unit)),
        Slot::Unsigned(field) => {
            let value = immediate(operand, index)? as u32;
            field.put(field.fits(value).then_some(value).ok_or(Problem::Range(index))?)
        }
        Slot::Simm16 | Slot::Uimm16 => simm16(operand, index)?,
        Slot::Branch => {
            let value = immediate(operand, index)?;
            SIMM16.put(SIMM16.fits_signed(value).then_some(value as u32).ok_or(Problem::Range(index))?)
        }
        Slot::SmemOffset => smem_offset(inst, operand, index)?,
        Slot::Address(field) => address(inst, field, spec, index, operand)?,
        Slot::Base if operand == Operand::None => FLAT_SADDR.put(SADDR_OFF),
        Slot::Base => FLAT_SADDR.put(scalar(operand, spec.width, false, index)?),
        Slot::Vcc if operand == Operand::VCC => 0,
        Slot::Vcc => return Err(Problem::Operand(index)),
        Slot::Literal => {
            words.literal = Some(literal(operand).ok_or(Problem::Operand(index))?);
            0
        }
        Slot::Nowhere => return Err(Problem::Count),
    };
    Ok(())
}

/// Registers that a slot has the bits for but that may not stand there.
fn is_forbidden(slot: Slot, spec: &OpSpec, range: RegRange) -> bool {
    let exec = range.first.0 & !1 == Reg::EXEC.0;
    match slot {
        // Scalar memory accesses do not reach EXEC and M0.
        Slot::Scalar(SMEM_SDATA) => exec || range.first == Reg::M0,
        // A mask that is read.
        Slot::Source(_) => exec && spec.kind == Kind::Mask,
        // The code of `exec_hi` means "off".
        Slot::Base => u32::from(range.first.0) == SADDR_OFF,
        _ => false,
    }
}

fn literal(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Literal(value) => Some(value),
        Operand::Reloc(_) => Some(0),
        _ => None,
    }
}

fn immediate(operand: Operand, index: u8) -> Result<i32, Problem> {
    match operand {
        Operand::Imm(value) => Ok(value),
        _ => Err(Problem::Operand(index)),
    }
}

/// 16-bit fields take both readings: -1 and 0xffff are the same.
fn simm16(operand: Operand, index: u8) -> Result<u64, Problem> {
    let value = immediate(operand, index)?;
    let fits = SIMM16.fits_signed(value) || u16::try_from(value).is_ok();
    if fits { Ok(SIMM16.put(value as u32)) } else { Err(Problem::Range(index)) }
}

fn vector(operand: Operand, width: u8, index: u8) -> Result<u32, Problem> {
    match operand {
        Operand::Reg(range) if !range.first.is_vgpr() => Err(Problem::Operand(index)),
        Operand::Reg(range) if range.len != width || !range.exists() => Err(Problem::Register(index)),
        Operand::Reg(range) => Ok(u32::from(range.first.number())),
        _ => Err(Problem::Operand(index)),
    }
}

fn scalar(operand: Operand, width: u8, written: bool, index: u8) -> Result<u32, Problem> {
    match operand {
        Operand::Reg(range) if range.first.is_vgpr() => Err(Problem::Operand(index)),
        Operand::Reg(range) if range.len != width || !range.exists() => Err(Problem::Register(index)),
        // Beyond EXEC come constants and status bits.
        Operand::Reg(range) if written && range.first.0 > Reg::EXEC.0 + 1 => Err(Problem::Register(index)),
        Operand::Reg(range) => Ok(u32::from(range.first.0)),
        _ => Err(Problem::Operand(index)),
    }
}

fn source(
    words: &mut Words,
    inst: &MachInst,
    field: Field,
    spec: &OpSpec,
    index: u8,
    operand: Operand,
) -> Result<u64, Problem> {
    let code = match operand {
        Operand::Reg(range) if range.first.is_vgpr() => {
            if !matches!(spec.kind, Kind::Vsrc | Kind::Vgpr) && spec.role == Role::Use {
                return Err(Problem::Operand(index));
            }
            vector(operand, spec.width, index)? + 256
        }
        Operand::Reg(_) if spec.kind == Kind::Vgpr => return Err(Problem::Operand(index)),
        Operand::Reg(_) => scalar(operand, spec.width, false, index)?,
        Operand::Inline(code) if matches!(spec.kind, Kind::Vsrc | Kind::Ssrc) && is_inline(code) => {
            u32::from(code)
        }
        Operand::Literal(_) | Operand::Reloc(_) => {
            let room = words.len == 1 && matches!(spec.kind, Kind::Vsrc | Kind::Ssrc);
            let value = literal(operand).filter(|_| room).ok_or(Problem::Literal(index))?;
            // One literal serves several operands only if it is the same.
            if words.literal.is_some_and(|other| other != value) || inst.op.family() == Family::Pseudo {
                return Err(Problem::Literal(index));
            }
            words.literal = Some(value);
            SRC_LITERAL
        }
        _ => return Err(Problem::Operand(index)),
    };
    Ok(field.put(code))
}

pub(crate) fn is_inline(code: u16) -> bool {
    matches!(code, 128..=208 | 240..=248)
}

fn smem_offset(inst: &MachInst, operand: Operand, index: u8) -> Result<u64, Problem> {
    match operand {
        Operand::Imm(value) if !SMEM_OFFSET.fits_signed(value) => Err(Problem::Range(index)),
        Operand::Imm(value) => Ok(SMEM_IMM.put(1) | SMEM_OFFSET.put(value as u32)),
        _ if inst.mods.offset == 0 => Ok(SMEM_OFFSET_REG.put(scalar(operand, 1, false, index)?)),
        _ if !SMEM_OFFSET.fits_signed(inst.mods.offset) => Err(Problem::Offset),
        _ => {
            let both = SMEM_IMM.put(1) | SMEM_SOE.put(1) | SMEM_OFFSET.put(inst.mods.offset as u32);
            Ok(both | SMEM_SOFFSET.put(scalar(operand, 1, false, index)?))
        }
    }
}

/// Dwords of the VGPR group in a slot of `Slot::Address`; 0 means that it must be absent.
pub(crate) fn address_width(row: &Row, field: Field, spec: &OpSpec, flags: ModFlags, based: bool) -> u8 {
    match (row.family, field) {
        // Fields of different families may be equal, so the family goes first.
        (Family::Mubuf, MUBUF_VADDR) => {
            u8::from(flags.contains(ModFlags::OFFEN)) + u8::from(flags.contains(ModFlags::IDXEN))
        }
        (Family::Mubuf, MUBUF_VDATA) if flags.contains(ModFlags::LDS) => 0,
        (Family::Mubuf, _) => spec.width + u8::from(flags.contains(ModFlags::TFE)),
        (_, FLAT_VDST) if row.flags.contains(Flags::ATOMIC) && !flags.contains(ModFlags::GLC) => 0,
        (_, FLAT_VDST) => spec.width,
        (Family::Scratch, _) => u8::from(!based),
        (Family::Global, _) if based => 1,
        _ => 2,
    }
}

fn address(
    inst: &MachInst,
    field: Field,
    spec: &OpSpec,
    index: u8,
    operand: Operand,
) -> Result<u64, Problem> {
    let row = inst.op.row();
    let last = inst.operands().last();
    let based = row.ops.last().is_some_and(|spec| spec.kind == Kind::Saddr) && last != Some(&Operand::None);
    match address_width(row, field, spec, inst.mods.flags, based) {
        0 if operand == Operand::None => Ok(0),
        0 => Err(Problem::Operand(index)),
        width => Ok(field.put(vector(operand, width, index)?)),
    }
}

impl RegRange {
    /// Whether the registers exist on GFX9 and may be addressed as one group: SGPR pairs are even-aligned, wider groups
    /// aligned to four, and no group crosses from one kind of register to another.
    pub fn exists(self) -> bool {
        let (first, len) = (self.first.0, u16::from(self.len));
        let aligned = first.is_multiple_of(match len {
            0 | 1 => 1,
            2 => 2,
            _ => 4,
        });
        match first {
            _ if len == 0 => false,
            0..=101 => aligned && first + len <= 102,
            // FLAT_SCRATCH, XNACK_MASK, VCC, EXEC.
            102..=107 | 126..=127 => aligned && len <= 2,
            // Trap temporaries.
            108..=123 => aligned && first + len <= 124,
            124 => len == 1,
            // Apertures are 64-bit values with one code; status bits.
            235..=239 | 251..=253 => len <= 2,
            256..=511 => first + len <= 512,
            512..=767 => first + len <= 768,
            _ => false,
        }
    }
}

fn allowed_flags(target: &Target, row: &Row, encoding: Encoding) -> ModFlags {
    let memory = ModFlags::GLC | ModFlags::SLC;
    match encoding {
        Encoding::Smem if row.flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC) => {
            ModFlags::GLC | ModFlags::NV
        }
        Encoding::Sdwa if row.family != Family::Vopc => ModFlags::CLAMP,
        Encoding::Dpp => ModFlags::BOUND_CTRL,
        Encoding::Vop3 | Encoding::Vop3p if row.clamps(target.generation) => ModFlags::CLAMP,
        Encoding::Ds if row.flags.contains(Flags::NO_GDS) => ModFlags::empty(),
        Encoding::Ds => ModFlags::GDS,
        Encoding::Mubuf if row.ops.is_empty() => ModFlags::empty(),
        Encoding::Mubuf if row.flags.contains(Flags::LDS_ONLY) => memory | ModFlags::LDS,
        Encoding::Mubuf => {
            let lds = if row.flags.contains(Flags::CAN_LDS) { ModFlags::LDS } else { ModFlags::empty() };
            let tfe = if row.flags.contains(Flags::ATOMIC) { ModFlags::empty() } else { ModFlags::TFE };
            memory | ModFlags::OFFEN | ModFlags::IDXEN | tfe | lds
        }
        Encoding::Flat => memory | ModFlags::NV,
        _ => ModFlags::empty(),
    }
}

fn modifier_bits(
    target: &Target,
    row: &Row,
    encoding: Encoding,
    inst: &MachInst,
    sources: Sources,
) -> Result<u64, Problem> {
    let mods = &inst.mods;
    if !allowed_flags(target, row, encoding).contains(mods.flags) {
        return Err(Problem::Modifier("a flag"));
    }
    check_source_mods(row, encoding, mods, sources)?;
    let lane_fits = match mods.lane {
        Lane::None => !matches!(encoding, Encoding::Sdwa | Encoding::Dpp),
        Lane::Sdwa { .. } => encoding == Encoding::Sdwa,
        Lane::Dpp { .. } => encoding == Encoding::Dpp,
        Lane::Format(_) => false,
    };
    if !lane_fits {
        return Err(Problem::Modifier("this SDWA or DPP control"));
    }
    let flag = |field: Field, flag: ModFlags| field.put(u32::from(mods.flags.contains(flag)));
    let bits = match encoding {
        Encoding::Smem => flag(SMEM_GLC, ModFlags::GLC) | flag(SMEM_NV, ModFlags::NV),
        Encoding::Sdwa => sdwa_bits(row, mods, sources)?,
        Encoding::Dpp => dpp_bits(mods)?,
        Encoding::Vop3 => vop3_bits(row, mods),
        Encoding::Vop3p => vop3p_bits(mods, sources),
        Encoding::Ds => {
            if row.flags.contains(Flags::GDS_ONLY) && !mods.flags.contains(ModFlags::GDS) {
                return Err(Problem::Modifier("LDS"));
            }
            flag(DS_GDS, ModFlags::GDS)
        }
        Encoding::Mubuf => {
            if row.flags.contains(Flags::LDS_ONLY) && !mods.flags.contains(ModFlags::LDS) {
                return Err(Problem::Modifier("VGPRs"));
            }
            flag(MUBUF_GLC, ModFlags::GLC)
                | flag(MUBUF_SLC, ModFlags::SLC)
                | flag(MUBUF_OFFEN, ModFlags::OFFEN)
                | flag(MUBUF_IDXEN, ModFlags::IDXEN)
                | flag(MUBUF_LDS, ModFlags::LDS)
                | flag(MUBUF_TFE, ModFlags::TFE)
        }
        Encoding::Flat => {
            flag(FLAT_GLC, ModFlags::GLC) | flag(FLAT_SLC, ModFlags::SLC) | flag(FLAT_NV, ModFlags::NV)
        }
        _ => 0,
    };
    Ok(bits | offset_bits(row, encoding, inst)?)
}

fn check_source_mods(row: &Row, encoding: Encoding, mods: &Mods, sources: Sources) -> Result<(), Problem> {
    let all = (1u8 << sources.count) - 1;
    let (neg, abs) = match encoding {
        Encoding::Vop3p => (all, all),
        Encoding::Vop3 if row.has_mask_out() => (sources.floats, 0),
        Encoding::Vop3 | Encoding::Sdwa | Encoding::Dpp => (sources.floats, sources.floats),
        _ => (0, 0),
    };
    if mods.neg & !neg != 0 {
        return Err(Problem::Modifier("neg"));
    }
    if mods.abs & !abs != 0 {
        return Err(Problem::Modifier("abs"));
    }
    let omod = match encoding {
        Encoding::Vop3 => row.caps.contains(Caps::OMOD),
        Encoding::Sdwa => {
            row.family != Family::Vopc && row.ops.first().is_some_and(|spec| spec.num.is_float())
        }
        _ => false,
    };
    if mods.omod > 3 || mods.omod != 0 && !omod {
        return Err(Problem::Modifier("an output multiplier"));
    }
    let op_sel = match encoding {
        Encoding::Vop3p => all,
        Encoding::Vop3 if row.caps.contains(Caps::OP_SEL) => all | 8,
        _ => 0,
    };
    if mods.op_sel & !op_sel != 0 || mods.op_sel_hi != 0 && encoding != Encoding::Vop3p {
        return Err(Problem::Modifier("op_sel"));
    }
    Ok(())
}

fn vop3_bits(row: &Row, mods: &Mods) -> u64 {
    let clamp = VOP3_CLAMP.put(u32::from(mods.flags.contains(ModFlags::CLAMP)));
    let common = clamp | VOP3_OMOD.put(u32::from(mods.omod)) | VOP3_NEG.put(u32::from(mods.neg));
    if row.has_mask_out() {
        return common;
    }
    common | VOP3_ABS.put(u32::from(mods.abs)) | VOP3_OP_SEL.put(u32::from(mods.op_sel))
}

fn vop3p_bits(mods: &Mods, sources: Sources) -> u64 {
    let hi = u32::from(mods.op_sel_hi);
    // The bit of an absent third source is set, as assemblers do.
    let hi2 = if sources.count < 3 { 1 } else { hi >> 2 };
    VOP3_CLAMP.put(u32::from(mods.flags.contains(ModFlags::CLAMP)))
        | VOP3_NEG.put(u32::from(mods.neg))
        | VOP3_ABS.put(u32::from(mods.abs))
        | VOP3P_OP_SEL.put(u32::from(mods.op_sel))
        | VOP3P_OP_SEL_HI.put(hi)
        | VOP3P_OP_SEL_HI2.put(hi2)
}

fn sdwa_bits(row: &Row, mods: &Mods, sources: Sources) -> Result<u64, Problem> {
    let Lane::Sdwa { dst, unused, src0, src1, sext } = mods.lane else { return Ok(0) };
    let ints = ((1u8 << sources.count) - 1) & !sources.floats;
    if sext & !ints != 0 || unused > 2 {
        return Err(Problem::Modifier("sext"));
    }
    let sel = |sel: SdwaSel| sel as u32;
    let bit = |mask: u8, n: u8| u32::from(mask >> n & 1);
    let mut bits = SDWA_SRC0_SEL.put(sel(src0))
        | SDWA_SEXT0.put(bit(sext, 0))
        | SDWA_NEG0.put(bit(mods.neg, 0))
        | SDWA_ABS0.put(bit(mods.abs, 0));
    if sources.count > 1 {
        bits |= SDWA_SRC1_SEL.put(sel(src1))
            | SDWA_SEXT1.put(bit(sext, 1))
            | SDWA_NEG1.put(bit(mods.neg, 1))
            | SDWA_ABS1.put(bit(mods.abs, 1));
    }
    if row.family != Family::Vopc {
        bits |= SDWA_DST_SEL.put(sel(dst))
            | SDWA_DST_UNUSED.put(u32::from(unused))
            | SDWA_CLAMP.put(u32::from(mods.flags.contains(ModFlags::CLAMP)))
            | SDWA_OMOD.put(u32::from(mods.omod));
    }
    Ok(bits)
}

fn dpp_bits(mods: &Mods) -> Result<u64, Problem> {
    let Lane::Dpp { ctrl, row_mask, bank_mask } = mods.lane else { return Ok(0) };
    if !is_dpp_ctrl(ctrl) || row_mask > 15 || bank_mask > 15 {
        return Err(Problem::Modifier("this DPP control"));
    }
    let bit = |mask: u8, n: u8| u32::from(mask >> n & 1);
    Ok(DPP_CTRL.put(u32::from(ctrl))
        | DPP_ROW_MASK.put(u32::from(row_mask))
        | DPP_BANK_MASK.put(u32::from(bank_mask))
        | DPP_BOUND_CTRL.put(u32::from(mods.flags.contains(ModFlags::BOUND_CTRL)))
        | DPP_NEG0.put(bit(mods.neg, 0))
        | DPP_ABS0.put(bit(mods.abs, 0))
        | DPP_NEG1.put(bit(mods.neg, 1))
        | DPP_ABS1.put(bit(mods.abs, 1)))
}

/// Whether it is a DPP control word of GFX8 and GFX9: `quad_perm`, `row_shl` 1-15, `row_shr`, `row_ror`, `wave_*`,
/// `row_mirror`, `row_half_mirror`, `row_bcast`.
pub(crate) fn is_dpp_ctrl(ctrl: u16) -> bool {
    matches!(ctrl, 0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x130 | 0x134 | 0x138 | 0x13c
        | 0x140..=0x143)
}

fn offset_bits(row: &Row, encoding: Encoding, inst: &MachInst) -> Result<u64, Problem> {
    let offset = inst.mods.offset;
    let unsigned = |field: Field| match u32::try_from(offset) {
        Ok(value) if field.fits(value) => Ok(field.put(value)),
        _ => Err(Problem::Offset),
    };
    match encoding {
        Encoding::Ds if !row.ops.is_empty() || row.flags.contains(Flags::GDS_ONLY) => unsigned(DS_OFFSET),
        Encoding::Mubuf if !row.ops.is_empty() => unsigned(MUBUF_OFFSET),
        // The sign bit of a FLAT offset must be clear.
        Encoding::Flat if row.family == Family::Flat => match offset {
            0..=0xfff => unsigned(FLAT_OFFSET),
            _ => Err(Problem::Offset),
        },
        Encoding::Flat if FLAT_OFFSET.fits_signed(offset) => Ok(FLAT_OFFSET.put(offset as u32)),
        Encoding::Flat => Err(Problem::Offset),
        // Beside an SGPR the offset was placed with it.
        Encoding::Smem if has_offset_register(row, inst) => Ok(0),
        _ if offset == 0 => Ok(0),
        _ => Err(Problem::Offset),
    }
}

fn has_offset_register(row: &Row, inst: &MachInst) -> bool {
    let is_offset = row.ops.last().is_some_and(|spec| spec.kind == Kind::SmemOffset);
    is_offset && matches!(inst.operands().last(), Some(Operand::Reg(_)))
}

/// Whether the form can be encoded at all, whatever the operands.
pub fn has_form(op: Opcode, form: Form) -> bool {
    if graphics::handles(op.family()) {
        graphics::has_form(op, form)
    } else {
        Encoding::of(op.row(), form).is_some()
    }
}
