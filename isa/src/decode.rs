//! Words to machine instructions: the mirror of `encode`, driven by the same slots and fields.
//!
//! Bits that mean nothing in an instruction must be clear. That is not checked bit by bit: what was read is encoded
//! again, and the words must be the same.

use crate::encode::{address_width, assemble, is_inline};
use crate::graphics;
use crate::inst::{Form, Lane, MachInst, ModFlags, Mods, SdwaSel};
use crate::layout::*;
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::table::{Caps, Family, Flags, Kind, OpSpec, Opcode, Row, opcodes};
use crate::target::{PROCESSORS, Target};
use std::fmt;
use std::sync::OnceLock;

/// Words that are no instruction of the processor, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There is no such opcode, or no such processor.
    Unknown,
    /// The instruction goes on beyond the words given.
    Truncated,
    /// A field has a value without a meaning.
    Reserved,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecodeError::Unknown => "unknown opcode",
            DecodeError::Truncated => "truncated instruction",
            DecodeError::Reserved => "reserved bits are set",
        })
    }
}

impl std::error::Error for DecodeError {}

/// Decodes the instruction at the beginning of `words`; says how many words it takes.
pub fn decode(target: &Target, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
    Decoder::new(target).ok_or(DecodeError::Unknown)?.decode(words)
}

/// A processor and its opcode maps, for decoding many instructions.
#[derive(Clone, Copy)]
pub struct Decoder {
    target: &'static Target,
    maps: &'static Maps,
}

/// Opcode number to instruction, family by family; `None` where there is none.
struct Maps {
    families: [Vec<Option<Opcode>>; FAMILIES],
}

const FAMILIES: usize = Family::COUNT;
static MAPS: [OnceLock<Maps>; PROCESSORS.len()] = [const { OnceLock::new() }; PROCESSORS.len()];

impl Maps {
    fn build(target: &Target) -> Maps {
        let mut maps = Maps { families: std::array::from_fn(|_| Vec::new()) };
        for op in opcodes() {
            let row = op.row();
            let Some(code) = row.code(target) else { continue };
            if row.flags.contains(Flags::ALIAS) || graphics::handles(row.family) {
                continue;
            }
            maps.enter(row.family, u32::from(code), op);
            let promoted = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
            if promoted && !row.flags.contains(Flags::NO_E64) {
                maps.enter(Family::Vop3, u32::from(code) + vop3_base(row.family), op);
            }
        }
        maps
    }

    fn enter(&mut self, family: Family, code: u32, op: Opcode) {
        let map = &mut self.families[family as usize];
        let index = code as usize;
        if map.len() <= index {
            map.resize(index + 1, None);
        }
        map[index] = Some(op);
    }

    fn get(&self, family: Family, word: u32) -> Result<Opcode, DecodeError> {
        let code = family_pattern(family).1.get(u64::from(word));
        self.families[family as usize].get(code as usize).copied().flatten().ok_or(DecodeError::Unknown)
    }
}

/// The family whose encoding a first dword has.
fn family_of(word: u32) -> Option<Family> {
    Some(match word >> 26 {
        0b00_0000..=0b01_1111 => match word >> 25 {
            0b011_1111 => Family::Vop1,
            0b011_1110 => Family::Vopc,
            _ => Family::Vop2,
        },
        0b10_0000..=0b10_1111 => match word >> 23 {
            0b1_0111_1101 => Family::Sop1,
            0b1_0111_1110 => Family::Sopc,
            0b1_0111_1111 => Family::Sopp,
            _ if word >> 28 == 0b1011 => Family::Sopk,
            _ => Family::Sop2,
        },
        0b11_0000 => Family::Smem,
        0b11_0100 if word >> 23 == 0b1_1010_0111 => Family::Vop3p,
        0b11_0100 => Family::Vop3,
        0b11_0110 => Family::Ds,
        0b11_0111 => match FLAT_SEG.get(u64::from(word)) {
            0 => Family::Flat,
            1 => Family::Scratch,
            2 => Family::Global,
            _ => return None,
        },
        0b11_1000 => Family::Mubuf,
        _ => return None,
    })
}

impl Decoder {
    /// The decoder of a processor; `None` if it is not one of [`TARGETS`].
    pub fn new(target: &Target) -> Option<Decoder> {
        let target = target.with_wave_size(target.wave_size)?;
        let maps = &MAPS[usize::from(target.number)];
        Some(Decoder { target, maps: maps.get_or_init(|| Maps::build(target)) })
    }

    /// The processor.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// See [`decode`].
    pub fn decode(&self, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
        match self.decode_compute(words) {
            Err(DecodeError::Unknown) => graphics::decode(self.target, words),
            result => result,
        }
    }

    /// Instructions of all families but those of `graphics`.
    fn decode_compute(&self, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
        let &first = words.first().ok_or(DecodeError::Truncated)?;
        let family = family_of(first).ok_or(DecodeError::Unknown)?;
        let op = self.maps.get(family, first)?;
        let row = op.row();
        let form = form_of(family, row, first);
        let encoding = Encoding::of(row, form).ok_or(DecodeError::Unknown)?;
        let mut len = encoding.words();
        if words.len() < len {
            return Err(DecodeError::Truncated);
        }
        let second = if len == 2 { words[1] } else { 0 };
        let bits = u64::from(first) | u64::from(second) << 32;
        let literal = words.get(len).copied();
        let mut inst = MachInst::new(op, &[]);
        inst.form = form;
        inst.len = row.ops.len() as u8;
        inst.mods.flags = read_flags(encoding, row, bits);
        let reader = Reader { row, bits, literal, flags: inst.mods.flags };
        let mut slots = Slots::new(row, encoding);
        let mut uses_literal = false;
        for (operand, spec) in inst.ops.iter_mut().zip(row.ops) {
            *operand = reader.operand(slots.next(spec), spec)?;
            uses_literal |= matches!(operand, Operand::Literal(_));
        }
        len += usize::from(uses_literal);
        read_modifiers(&mut inst.mods, encoding, row, bits, &slots)?;
        let again = assemble(self.target, &inst).map_err(|_| DecodeError::Reserved)?;
        if (again.bits ^ bits) & !ignored(encoding, row) != 0 {
            return Err(DecodeError::Reserved);
        }
        Ok((inst, len))
    }
}

/// Bits that may have any value: `op_sel_hi` of a packed instruction's absent third source.
fn ignored(encoding: Encoding, row: &Row) -> u64 {
    if encoding == Encoding::Vop3p && row.ops.len() < 4 { VOP3P_OP_SEL_HI2.put(1) } else { 0 }
}

fn form_of(family: Family, row: &Row, word: u32) -> Form {
    match (family, SRC0.get(u64::from(word))) {
        (Family::Vop1 | Family::Vop2 | Family::Vopc, SRC_SDWA) => Form::Sdwa,
        (Family::Vop1 | Family::Vop2, SRC_DPP) => Form::Dpp,
        (Family::Vop1 | Family::Vop2 | Family::Vopc, _) if row.flags.contains(Flags::NO_E64) => Form::Full,
        (Family::Vop1 | Family::Vop2 | Family::Vopc, _) => Form::E32,
        _ => Form::Full,
    }
}

/// Reads operands of one instruction.
struct Reader {
    row: &'static Row,
    bits: u64,
    literal: Option<u32>,
    flags: ModFlags,
}

impl Reader {
    fn operand(&self, slot: Slot, spec: &OpSpec) -> Result<Operand, DecodeError> {
        let bits = self.bits;
        Ok(match slot {
            Slot::Scalar(field) => scalar(field.get(bits), spec.width)?,
            Slot::Vector(field) => vector(field.get(bits), spec.width)?,
            Slot::Source(field) => self.source(field.get(bits), spec.width)?,
            Slot::SdwaSource(field, is_scalar) => match is_scalar.get(bits) {
                0 => vector(field.get(bits), spec.width)?,
                _ => scalar(field.get(bits), spec.width)?,
            },
            Slot::SdwaMask if SDWA_SD.get(bits) == 0 => Operand::VCC,
            Slot::SdwaMask => scalar(SDWA_SDST.get(bits), spec.width)?,
            Slot::Scaled(field, unit) => scalar(field.get(bits) * u32::from(unit), spec.width)?,
            Slot::Unsigned(field) => Operand::Imm(field.get(bits) as i32),
            Slot::Uimm16 => Operand::Imm(SIMM16.get(bits) as i32),
            Slot::Simm16 | Slot::Branch => Operand::Imm(SIMM16.get_signed(bits)),
            Slot::SmemOffset => self.smem_offset()?,
            Slot::Address(field) => {
                let based = self.row.ops.last().is_some_and(|spec| spec.kind == Kind::Saddr)
                    && FLAT_SADDR.get(bits) != SADDR_OFF;
                match address_width(self.row, field, spec, self.flags, based) {
                    0 => Operand::None,
                    width => vector(field.get(bits), width)?,
                }
            }
            Slot::Base if FLAT_SADDR.get(bits) == SADDR_OFF => Operand::None,
            Slot::Base => scalar(FLAT_SADDR.get(bits), spec.width)?,
            Slot::Vcc => Operand::VCC,
            Slot::Literal => Operand::Literal(self.literal.ok_or(DecodeError::Truncated)?),
            Slot::Nowhere => return Err(DecodeError::Unknown),
        })
    }

    fn source(&self, code: u32, width: u8) -> Result<Operand, DecodeError> {
        match code {
            256.. => vector(code - 256, width),
            SRC_LITERAL => Ok(Operand::Literal(self.literal.ok_or(DecodeError::Truncated)?)),
            _ if is_inline(code as u16) => Ok(Operand::Inline(code as u16)),
            _ => scalar(code, width),
        }
    }

    fn smem_offset(&self) -> Result<Operand, DecodeError> {
        let bits = self.bits;
        match (SMEM_IMM.get(bits), SMEM_SOE.get(bits)) {
            (1, 0) => Ok(Operand::Imm(SMEM_OFFSET.get_signed(bits))),
            (0, 0) => scalar(SMEM_OFFSET_REG.get(bits), 1),
            (_, _) => scalar(SMEM_SOFFSET.get(bits), 1),
        }
    }
}

fn vector(number: u32, width: u8) -> Result<Operand, DecodeError> {
    group(Reg(256 + number as u16), width)
}

fn scalar(code: u32, width: u8) -> Result<Operand, DecodeError> {
    group(Reg(code as u16), width)
}

fn group(first: Reg, len: u8) -> Result<Operand, DecodeError> {
    let range = RegRange { first, len };
    if range.exists() { Ok(Operand::Reg(range)) } else { Err(DecodeError::Reserved) }
}

fn read_flags(encoding: Encoding, row: &Row, bits: u64) -> ModFlags {
    let fields: &[(Field, ModFlags)] = match encoding {
        Encoding::Smem => &[(SMEM_GLC, ModFlags::GLC), (SMEM_NV, ModFlags::NV)],
        Encoding::Sdwa if row.family != Family::Vopc => &[(SDWA_CLAMP, ModFlags::CLAMP)],
        Encoding::Dpp => &[(DPP_BOUND_CTRL, ModFlags::BOUND_CTRL)],
        Encoding::Vop3 | Encoding::Vop3p => &[(VOP3_CLAMP, ModFlags::CLAMP)],
        Encoding::Ds => &[(DS_GDS, ModFlags::GDS)],
        Encoding::Mubuf => &[
            (MUBUF_GLC, ModFlags::GLC),
            (MUBUF_SLC, ModFlags::SLC),
            (MUBUF_OFFEN, ModFlags::OFFEN),
            (MUBUF_IDXEN, ModFlags::IDXEN),
            (MUBUF_LDS, ModFlags::LDS),
            (MUBUF_TFE, ModFlags::TFE),
        ],
        Encoding::Flat => &[(FLAT_GLC, ModFlags::GLC), (FLAT_SLC, ModFlags::SLC), (FLAT_NV, ModFlags::NV)],
        _ => &[],
    };
    fields.iter().filter(|(field, _)| field.get(bits) != 0).map(|&(_, flag)| flag).collect()
}

fn read_modifiers(
    mods: &mut Mods,
    encoding: Encoding,
    row: &Row,
    bits: u64,
    slots: &Slots,
) -> Result<(), DecodeError> {
    let sources = slots.last_source().map_or(0, |n| n + 1);
    let byte = |field: Field| field.get(bits) as u8;
    match encoding {
        Encoding::Smem if SMEM_SOE.get(bits) != 0 => mods.offset = SMEM_OFFSET.get_signed(bits),
        Encoding::Sdwa => read_sdwa(mods, row, bits, sources)?,
        Encoding::Dpp => {
            mods.neg = byte(DPP_NEG0) | byte(DPP_NEG1) << 1;
            mods.abs = byte(DPP_ABS0) | byte(DPP_ABS1) << 1;
            let (row_mask, bank_mask) = (byte(DPP_ROW_MASK), byte(DPP_BANK_MASK));
            mods.lane = Lane::Dpp { ctrl: DPP_CTRL.get(bits) as u16, row_mask, bank_mask };
        }
        Encoding::Vop3 => {
            mods.neg = byte(VOP3_NEG);
            mods.omod = byte(VOP3_OMOD);
            if !row.has_mask_out() {
                mods.abs = byte(VOP3_ABS);
                mods.op_sel = if row.caps.contains(Caps::OP_SEL) { byte(VOP3_OP_SEL) } else { 0 };
            }
        }
        Encoding::Vop3p => {
            mods.neg = byte(VOP3_NEG);
            mods.abs = byte(VOP3_ABS);
            mods.op_sel = byte(VOP3P_OP_SEL);
            let hi = byte(VOP3P_OP_SEL_HI) | byte(VOP3P_OP_SEL_HI2) << 2;
            mods.op_sel_hi = hi & ((1 << sources) - 1);
        }
        Encoding::Ds => mods.offset = DS_OFFSET.get(bits) as i32,
        Encoding::Mubuf => mods.offset = MUBUF_OFFSET.get(bits) as i32,
        Encoding::Flat => mods.offset = FLAT_OFFSET.get_signed(bits),
        _ => {}
    }
    Ok(())
}

fn read_sdwa(mods: &mut Mods, row: &Row, bits: u64, sources: u8) -> Result<(), DecodeError> {
    let byte = |field: Field| field.get(bits) as u8;
    let sel = |field: Field| SdwaSel::from_code(byte(field)).ok_or(DecodeError::Reserved);
    let src0 = sel(SDWA_SRC0_SEL)?;
    let (mut src1, mut dst, mut unused) = (SdwaSel::Dword, SdwaSel::Dword, 0);
    let mut sext = byte(SDWA_SEXT0);
    mods.neg = byte(SDWA_NEG0);
    mods.abs = byte(SDWA_ABS0);
    if sources > 1 {
        src1 = sel(SDWA_SRC1_SEL)?;
        sext |= byte(SDWA_SEXT1) << 1;
        mods.neg |= byte(SDWA_NEG1) << 1;
        mods.abs |= byte(SDWA_ABS1) << 1;
    }
    if row.family != Family::Vopc {
        dst = sel(SDWA_DST_SEL)?;
        unused = byte(SDWA_DST_UNUSED);
        mods.omod = byte(SDWA_OMOD);
    }
    mods.lane = Lane::Sdwa { dst, unused, src0, src1, sext };
    Ok(())
}
