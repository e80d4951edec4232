//! Decodes words to machine instructions. Decoding is the inverse of `encode` and uses the same slots (places
//! for operands) and fields.
//!
//! A word that no assembler produces is refused: bits that have no meaning in an instruction must have the
//! value that an assembler gives them. Every part of the decoder reports which bits it has interpreted. All
//! other bits must equal the constant bits of the opcode.

use crate::encode::{
    address_width, data_file, has_scratch_vaddr, is_forbidden, is_index_mode, is_inline, is_odd_gws,
    is_refused_sgpr, opcode_bits, takes_literals, takes_offset,
};
use crate::graphics;
use crate::inst::{Form, Lane, MachInst, ModFlags};
use crate::layout::*;
use crate::legal::{constant_bus_ok, sum_overlaps};
use crate::modifiers::{self, Sources};
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::slots::{Slot, Slots};
use crate::special::is_status;
use crate::table::{Family, Flags, Kind, OpSpec, Opcode, Role, Row, op, opcodes};
use crate::target::{Feature, PROCESSORS, Target};
use crate::tolerant;
use std::fmt;
use std::sync::OnceLock;

/// Why words are not an instruction of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There is no such opcode or no such processor.
    Unknown,
    /// The instruction is longer than the given words.
    Truncated,
    /// A field has a value that has no meaning in this instruction.
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

/// How the decoder treats bits that have no meaning in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaningless {
    /// Such bits must be as an assembler sets them.
    Refused,
    /// Such bits may have any value.
    Ignored,
}

/// Decodes the instruction at the beginning of `words`. Returns the instruction and its length in words
/// (dwords).
///
/// # Errors
/// Fails if the words are not an instruction of the processor, or if too few words are given.
pub fn decode(target: &Target, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
    Decoder::new(target).ok_or(DecodeError::Unknown)?.decode(words)
}

/// A decoder for one processor, with tables of the processor's opcodes. A program that decodes many
/// instructions should create it once.
#[derive(Clone, Copy)]
pub struct Decoder {
    target: &'static Target,
    maps: &'static Maps,
}

/// Maps opcode numbers to instructions, for each family.
struct Maps {
    families: [Vec<Option<Opcode>>; FAMILIES],
    /// The family of instructions to which a first dword belongs, by the top nine bits of the dword.
    prefixes: [Option<Family>; 512],
}

const FAMILIES: usize = Family::COUNT;
static MAPS: [OnceLock<Maps>; PROCESSORS.len()] = [const { OnceLock::new() }; PROCESSORS.len()];

impl Maps {
    fn build(target: &Target) -> Maps {
        let layout = Layout::for_target(target);
        let mut maps = Maps {
            families: std::array::from_fn(|_| Vec::new()),
            prefixes: std::array::from_fn(|top| layout.patterns.family(top as u32)),
        };
        for op in opcodes() {
            let row = op.row();
            let Some(code) = row.code(target) else { continue };
            if row.flags.contains(Flags::ALIAS) || graphics::handles(row.family) {
                continue;
            }
            maps.enter(row.family, u32::from(code), op);
            let promoted = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
            if promoted && !row.flags.contains(Flags::NO_E64) {
                maps.enter(Family::Vop3, u32::from(code) + layout.vop3_base(row.family), op);
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

    /// Finds the instruction that the first dword `word` encodes. Returns the instruction, and the opcode
    /// number that it has in its own family. An instruction in the VOP3 encoding has another number in
    /// `word`.
    fn get(&self, layout: &Layout, family: Family, word: u32) -> Result<(Opcode, u32), DecodeError> {
        let code = layout.patterns.of(family).opcode.get(u64::from(word));
        let op = self.families[family as usize].get(code as usize).copied().flatten();
        let op = op.ok_or(DecodeError::Unknown)?;
        let promoted = family == Family::Vop3;
        Ok((op, code - if promoted { layout.vop3_base(op.family()) } else { 0 }))
    }

    /// Returns the family to whose encoding a first dword belongs.
    fn family_of(&self, word: u32) -> Option<Family> {
        match self.prefixes[(word >> 23) as usize]? {
            Family::Flat => match FLAT_SEG.get(u64::from(word)) {
                0 => Some(Family::Flat),
                1 => Some(Family::Scratch),
                2 => Some(Family::Global),
                _ => None,
            },
            family => Some(family),
        }
    }
}

impl Decoder {
    /// Returns the decoder of a processor. Returns `None` if the processor is not one of [`PROCESSORS`], or
    /// if the encodings of its architecture are not completely known.
    pub fn new(target: &Target) -> Option<Decoder> {
        target.arch.layout.get(target).ok()?;
        let target = target.with_wave_size(target.wave_size)?;
        let maps = &MAPS[usize::from(target.number)];
        Some(Decoder { target, maps: maps.get_or_init(|| Maps::build(target)) })
    }

    /// Returns the processor.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// Like [`decode`], for this processor.
    ///
    /// # Errors
    /// The errors of [`decode`].
    pub fn decode(&self, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
        self.decode_as(words, Meaningless::Refused)
    }

    /// Decodes as tolerantly as hardware and LLVM's disassembler do: bits that have no meaning in the
    /// instruction may have any value. If the result is encoded again, the words may therefore be different.
    ///
    /// # Errors
    /// The errors of [`decode`].
    pub fn decode_tolerant(&self, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
        self.decode_as(words, Meaningless::Ignored)
    }

    fn decode_as(&self, words: &[u32], rest: Meaningless) -> Result<(MachInst, usize), DecodeError> {
        match self.decode_compute(words, rest) {
            Err(DecodeError::Unknown) => graphics::decode(self.target, words, rest),
            result => result,
        }
    }

    /// Decodes an instruction of a family that the module `graphics` does not handle.
    fn decode_compute(&self, words: &[u32], rest: Meaningless) -> Result<(MachInst, usize), DecodeError> {
        let &first = words.first().ok_or(DecodeError::Truncated)?;
        let (target, layout) = (self.target, Layout::for_target(self.target));
        let family = self.maps.family_of(first).ok_or(DecodeError::Unknown)?;
        let (op, code) = self.maps.get(layout, family, first)?;
        let row = op.row();
        let (form, lane) = form_of(target, family, row, first);
        let encoding = Encoding::for_row(target, row, form, lane).ok_or(DecodeError::Unknown)?;
        let len = encoding.words(layout);
        if words.len() < len {
            return Err(DecodeError::Truncated);
        }
        let second = if len == 2 { words[1] } else { 0 };
        let bits = u64::from(first) | u64::from(second) << 32;
        let bits =
            if rest == Meaningless::Ignored { tolerant::cleared(target, row, encoding, bits) } else { bits };
        let (flags, known) = modifiers::read_flags(target, row, encoding, bits);
        let mut inst = MachInst::new(op, &[]);
        inst.form = form;
        inst.len = row.ops.len() as u8;
        inst.mods.flags = flags;
        let literal = words.get(len).copied();
        let mut reader = Reader {
            target,
            row,
            encoding,
            bits,
            known,
            flags,
            literal,
            uses_literal: false,
            offset: 0,
            rest,
        };
        let mut slots = Slots::new(target, row, encoding);
        let mut sources = Sources::default();
        for (operand, spec) in inst.ops.iter_mut().zip(row.ops) {
            let slot = slots.next(spec);
            sources.note(&slots, spec);
            *operand = reader.operand(slot, spec)?;
        }
        inst.mods.offset = reader.offset;
        inst.mods.flags = reader.flags;
        let known = reader.known | modifiers::read(target, &mut inst.mods, row, encoding, bits, sources)?;
        let fixed = opcode_bits(layout, row.family, encoding, code) | fixed_bits(target, row, encoding);
        let ignored = match rest {
            Meaningless::Refused => 0,
            Meaningless::Ignored => tolerant::ignored(target, row, encoding, flags, bits),
        };
        if (bits ^ fixed) & !(known | ignored) != 0 || !modifiers::flags_agree(row, flags) {
            return Err(DecodeError::Reserved);
        }
        let is_whole = modifiers::selects_as_assembled(row, encoding, bits, sources);
        if rest == Meaningless::Refused && !(is_whole && is_sound(target, row, &inst)) {
            return Err(DecodeError::Reserved);
        }
        Ok((inst, len + usize::from(reader.uses_literal)))
    }
}

/// Returns whether an assembler would accept this combination of operands in one instruction.
fn is_sound(target: &Target, row: &Row, inst: &MachInst) -> bool {
    if is_index_mode(inst.op) {
        return matches!(inst.ops[1], Operand::Imm(0..16));
    }
    if inst.op == op::S_WAITCNT
        && let Operand::Imm(mask) = inst.ops[0]
    {
        // Bits that belong to no wait counter must not be set.
        let wait = target.unpack_waitcnt(mask as u16);
        return target.waitcnt(wait.vm, wait.exp, wait.lgkm) == mask as u16;
    }
    !row.is_valu() || constant_bus_ok(target, inst, None) && !sum_overlaps(row, inst)
}

/// Returns the form (encoding) of the instruction, which the first dword specifies. If it is a DPP form, also
/// returns which kind of DPP.
fn form_of(target: &Target, family: Family, row: &Row, word: u32) -> (Form, Lane) {
    if !matches!(family, Family::Vop1 | Family::Vop2 | Family::Vopc) {
        return (Form::Full, Lane::None);
    }
    const DPP8: u32 = SRC_DPP8 + 1;
    const DPP8_INACTIVE: u32 = SRC_DPP8 + 2;
    let dpp = family != Family::Vopc && target.has(Feature::DPP);
    match SRC0.get(u64::from(word)) {
        SRC_SDWA if target.has(Feature::SDWA) => (Form::Sdwa, Lane::None),
        SRC_DPP if dpp => (Form::Dpp, Lane::None),
        DPP8 | DPP8_INACTIVE if dpp && Layout::for_target(target).dpp8 => {
            (Form::Dpp, Lane::Dpp8 { lanes: 0 })
        }
        _ if row.flags.contains(Flags::NO_E64) => (Form::Full, Lane::None),
        _ => (Form::E32, Lane::None),
    }
}

/// Reads the operands of one instruction.
struct Reader {
    target: &'static Target,
    row: &'static Row,
    encoding: Encoding,
    bits: u64,
    /// Mask of the bits that have been interpreted.
    known: u64,
    flags: ModFlags,
    literal: Option<u32>,
    uses_literal: bool,
    /// Offset of a scalar memory access in addition to an SGPR.
    offset: i32,
    /// How bits without meaning are treated.
    rest: Meaningless,
}

impl Reader {
    /// Returns the value of a field. Also records that the bits of the field have been interpreted.
    fn get(&mut self, field: Field) -> u32 {
        self.known |= field.bits();
        field.get(self.bits)
    }

    fn operand(&mut self, slot: Slot, spec: &OpSpec) -> Result<Operand, DecodeError> {
        let operand = self.slot(slot, spec)?;
        match operand {
            Operand::Reg(range) if self.is_refused(slot, spec, range) => Err(DecodeError::Reserved),
            operand => Ok(operand),
        }
    }

    /// Reads the operand that a slot holds, without checking whether the instruction accepts it. The function
    /// is long because it has one arm for each kind of slot.
    #[inline]
    fn slot(&mut self, slot: Slot, spec: &OpSpec) -> Result<Operand, DecodeError> {
        let target = self.target;
        let width = spec.dwords(target);
        Ok(match slot {
            Slot::Scalar(field) => self.scalar(field, width)?,
            Slot::Vector(field) => self.vector(field, width)?,
            Slot::Source(field) => self.source(field, spec)?,
            Slot::Source8(field) => self.source(field, spec)?,
            Slot::Acc(field) => {
                let number = self.get(field);
                self.group(Reg(512 + number as u16), width)?
            }
            Slot::AccSource(field) => self.vgpr_source(field, None, width)?,
            Slot::Either(field, bit) => self.either(field, bit, width)?,
            Slot::EitherSource(field, bit) => self.vgpr_source(field, Some(bit), width)?,
            Slot::Sum(field) if field.get(self.bits) < 256 => match self.get(field) as u16 {
                code if is_inline(target, code) && self.takes_constant_sums() => Operand::Inline(code),
                code if is_status(code) => self.group(Reg(code), 1)?,
                _ => return Err(DecodeError::Reserved),
            },
            Slot::Sum(field) => {
                let bit = target.has(Feature::UNIFIED_VGPRS).then_some(MFMA_ACC_SUM);
                self.vgpr_source(field, bit, width)?
            }
            Slot::SdwaSource(field, is_scalar) => match self.get(is_scalar) {
                0 => self.vector(field, width)?,
                _ => match self.get(field) as u16 {
                    _ if spec.kind == Kind::Vgpr => return Err(DecodeError::Reserved),
                    code if is_inline(target, code) => Operand::Inline(code),
                    code => self.group(Reg(code), width)?,
                },
            },
            Slot::SdwaMask => match self.get(SDWA_SD) {
                0 => Operand::regs(Reg::VCC, width),
                _ => match self.scalar(SDWA_SDST, width)? {
                    // Here the words name VCC as the mask in a field. An assembler would choose the encoding
                    // that implies VCC instead, so it never produces these words, and they are refused.
                    vcc if vcc == Operand::regs(Reg::VCC, width) && self.rest == Meaningless::Refused => {
                        return Err(DecodeError::Reserved);
                    }
                    mask => mask,
                },
            },
            Slot::Scaled(field, unit) => {
                let code = self.get(field) * u32::from(unit);
                self.group(Reg(code as u16), width)?
            }
            Slot::Unsigned(field) => Operand::Imm(self.get(field) as i32),
            Slot::Uimm16 => Operand::Imm(self.get(SIMM16) as i32),
            Slot::Simm16 | Slot::Branch => {
                self.known |= SIMM16.bits();
                Operand::Imm(SIMM16.get_signed(self.bits))
            }
            Slot::SmemOffset => {
                let operand = self.smem_offset()?;
                let offset = if let Operand::Imm(offset) = operand { offset } else { self.offset };
                if self.rest == Meaningless::Refused && !takes_offset(target, self.row, offset) {
                    return Err(DecodeError::Reserved);
                }
                operand
            }
            Slot::Address(field) => {
                let based =
                    self.row.ops.last().is_some_and(|spec| spec.kind == Kind::Saddr) && self.has_base();
                if field == FLAT_ADDR && has_scratch_vaddr(target, self.row) {
                    return Ok(match self.get(SCRATCH_VADDR) {
                        0 => Operand::None,
                        _ => self.vector(field, 1)?,
                    });
                }
                match address_width(self.row, field, spec, self.flags, based) {
                    0 => Operand::None,
                    _ if field == FLAT_ADDR && self.has_no_address() => Operand::None,
                    width => match data_file(target, self.row.family, field) {
                        Some(bit) => self.either(field, bit, width)?,
                        None => self.vector(field, width)?,
                    },
                }
            }
            Slot::Base if !self.has_base() => {
                self.known |= FLAT_SADDR.bits();
                Operand::None
            }
            Slot::Base => self.scalar(FLAT_SADDR, width)?,
            Slot::Vcc => Operand::regs(Reg::VCC, width),
            Slot::Literal => {
                let value = self.literal()?;
                // A 16-bit operand uses only the low half of the literal, so an assembler never produces a
                // literal with a high half. Such words are refused.
                if self.rest == Meaningless::Refused && spec.num.is_half() && value > 0xffff {
                    return Err(DecodeError::Reserved);
                }
                Operand::Literal(value)
            }
            Slot::Nowhere => return Err(DecodeError::Unknown),
        })
    }

    /// Returns whether the instruction does not accept the registers in this slot (place for an operand),
    /// although the field of the slot can encode them.
    fn is_refused(&self, slot: Slot, spec: &OpSpec, range: RegRange) -> bool {
        let strict = self.rest == Meaningless::Refused;
        if range.first.0 >= 256 {
            return is_odd_gws(self.target, self.row, range);
        }
        // The codes of sources after EXEC are constants and status bits, which an instruction cannot write.
        // LLVM's disassembler nevertheless accepts status bits as destinations.
        let constant = range.first.0 < 256 && range.first.0 > Reg::EXEC.0 + 1;
        is_forbidden(self.target, self.row, slot, spec, range)
            || strict && is_refused_sgpr(self.target, self.row, range)
            || spec.role != Role::Use && constant && (strict || !is_status(range.first.0))
    }

    /// Returns whether the addend of a matrix instruction may be a constant. On gfx908 it may not, because of
    /// a hardware defect.
    fn takes_constant_sums(&self) -> bool {
        self.target.has(Feature::MATRIX_CONSTANTS) || self.rest == Meaningless::Ignored
    }

    /// Reads VGPRs. If the field `bit` is set, they are accumulation VGPRs.
    fn either(&mut self, field: Field, bit: Field, width: u8) -> Result<Operand, DecodeError> {
        let first = 256 + self.get(field) + 256 * self.get(bit);
        self.group(Reg(first as u16), width)
    }

    /// Reads a source that consists of VGPRs or of accumulation VGPRs. They are accumulation VGPRs if the
    /// field `bit` is set, or if `bit` is `None`.
    fn vgpr_source(&mut self, field: Field, bit: Option<Field>, width: u8) -> Result<Operand, DecodeError> {
        let code = self.get(field);
        let is_acc = bit.is_none_or(|bit| self.get(bit) != 0);
        match code {
            256.. => self.group(Reg(code as u16 + if is_acc { 256 } else { 0 }), width),
            _ => Err(DecodeError::Reserved),
        }
    }

    fn literal(&mut self) -> Result<u32, DecodeError> {
        self.uses_literal = true;
        self.literal.ok_or(DecodeError::Truncated)
    }

    fn takes_literals(&self) -> bool {
        let any =
            self.rest == Meaningless::Ignored && self.encoding.has_literals(Layout::for_target(self.target));
        any || takes_literals(self.target, self.row, self.encoding)
    }

    fn source(&mut self, field: Field, spec: &OpSpec) -> Result<Operand, DecodeError> {
        let code = self.get(field);
        let width = spec.dwords(self.target);
        let constant = matches!(spec.kind, Kind::Vsrc | Kind::Ssrc);
        match code {
            256..
                if constant && spec.kind == Kind::Ssrc
                    || spec.kind == Kind::Mask
                    || spec.kind == Kind::Sgpr =>
            {
                Err(DecodeError::Reserved)
            }
            256.. => self.group(Reg(code as u16), width),
            _ if spec.kind == Kind::Vgpr && code != u32::from(Reg::LDS_DIRECT.0) => {
                Err(DecodeError::Reserved)
            }
            SRC_LITERAL if constant && self.takes_literals() => Ok(Operand::Literal(self.literal()?)),
            _ if is_inline(self.target, code as u16) && constant => Ok(Operand::Inline(code as u16)),
            _ => self.group(Reg(code as u16), width),
        }
    }

    fn smem_offset(&mut self) -> Result<Operand, DecodeError> {
        let offsets = Layout::for_target(self.target).scalar_offsets;
        match offsets {
            ScalarOffsets::Dwords | ScalarOffsets::DwordsOrLiteral => {
                match (self.get(SMRD_IMM), self.get(SMRD_OFFSET)) {
                    (0, SRC_LITERAL) if matches!(offsets, ScalarOffsets::DwordsOrLiteral) => {
                        let value = self.literal()?;
                        // An assembler encodes an offset as a literal only if it does not fit in the
                        // instruction. A literal that would fit is therefore refused.
                        if SMRD_OFFSET.fits(value) {
                            Err(DecodeError::Reserved)
                        } else {
                            Ok(Operand::Imm(value as i32))
                        }
                    }
                    (0, code) => self.group(Reg(code as u16), 1),
                    (_, offset) => Ok(Operand::Imm(offset as i32)),
                }
            }
            ScalarOffsets::Unsigned => match self.get(SMEM_IMM) {
                0 => self.scalar(SMEM_OFFSET_REG, 1),
                _ => Ok(Operand::Imm(self.get(SMEM_OFFSET_GFX8) as i32)),
            },
            ScalarOffsets::Signed => match (self.get(SMEM_IMM), self.get(SMEM_SOE)) {
                (1, 0) => {
                    self.known |= SMEM_OFFSET.bits();
                    Ok(Operand::Imm(SMEM_OFFSET.get_signed(self.bits)))
                }
                (0, 0) => self.scalar(SMEM_OFFSET_REG, 1),
                (0, _) if self.rest == Meaningless::Ignored => self.scalar(SMEM_SOFFSET, 1),
                (0, _) => Err(DecodeError::Reserved),
                _ => {
                    self.known |= SMEM_OFFSET.bits();
                    self.offset = SMEM_OFFSET.get_signed(self.bits);
                    self.flags.set(ModFlags::OFFEN, self.offset == 0);
                    self.scalar(SMEM_SOFFSET, 1)
                }
            },
            ScalarOffsets::Sum => {
                self.known |= SMEM_OFFSET.bits() | SMEM_SOFFSET.bits();
                let offset = SMEM_OFFSET.get_signed(self.bits);
                if SMEM_SOFFSET.get(self.bits) == NULL {
                    return Ok(Operand::Imm(offset));
                }
                self.offset = offset;
                self.scalar(SMEM_SOFFSET, 1)
            }
        }
    }

    fn has_base(&self) -> bool {
        let code = FLAT_SADDR.get(self.bits);
        code != Layout::for_target(self.target).no_base && !(code == SADDR_OFF && self.has_no_address())
    }

    /// Returns whether the instruction is a scratch access without any address register. Its address is the
    /// immediate offset. Only gfx103x has such accesses.
    fn has_no_address(&self) -> bool {
        self.row.family == Family::Scratch
            && self.target.has(Feature::SCRATCH_NO_ADDRESS)
            && FLAT_SADDR.get(self.bits) == SADDR_OFF
    }

    fn vector(&mut self, field: Field, width: u8) -> Result<Operand, DecodeError> {
        let number = self.get(field);
        self.group(Reg(256 + number as u16), width)
    }

    fn scalar(&mut self, field: Field, width: u8) -> Result<Operand, DecodeError> {
        let code = self.get(field);
        self.group(Reg(code as u16), width)
    }

    fn group(&self, first: Reg, len: u8) -> Result<Operand, DecodeError> {
        let mut range = RegRange { first, len };
        if self.rest == Meaningless::Ignored {
            range = tolerant::align(self.target, range);
        }
        if range.exists(self.target) { Ok(Operand::Reg(range)) } else { Err(DecodeError::Reserved) }
    }
}
