//! Encodes machine instructions as words. Tables drive the encoder. The row of an instruction in the
//! instruction table describes its operands and modifiers, and the module `layout` has the positions of the
//! fields in the words.

use crate::graphics;
use crate::inst::{Form, Lane, MachInst, ModFlags};
use crate::layout::*;
use crate::modifiers::{self, Sources};
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::slots::{Slot, Slots};
use crate::special::is_status;
use crate::table::{Family, Flags, Implicit, Kind, OpSpec, Opcode, Role, Row, op};
use crate::target::{Feature, Target};
use std::fmt;

/// An instruction that cannot be encoded, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The instruction that cannot be encoded.
    pub op: Opcode,
    /// The reason.
    pub problem: Problem,
}

/// Why an instruction cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The processor does not have the instruction.
    Unavailable,
    /// The instruction does not exist in this form (encoding).
    Form,
    /// The instruction has too few or too many operands.
    Count,
    /// The instruction does not accept an operand of this kind in this position. The number is the index of
    /// the operand.
    Operand(u8),
    /// The register operand has the wrong size, is misaligned or does not exist. The number is the index of
    /// the operand.
    Register(u8),
    /// The operand is a literal that does not fit: the encoding has no room for a literal, or another operand
    /// has a literal with a different value. The number is the index of the operand.
    Literal(u8),
    /// A virtual register or a block that should have been replaced before. The number is the index of the
    /// operand.
    Unresolved(u8),
    /// A number does not fit in its field. The number here is the index of the operand.
    Range(u8),
    /// The memory offset does not fit in its field.
    Offset,
    /// The instruction or its form does not accept this modifier.
    Modifier(&'static str),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.op, self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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

/// Appends the words of an instruction. Registers must be hardware registers, and branch targets must be
/// `Operand::Imm` in dwords from the end of the instruction. An `Operand::Reloc` becomes a literal of 0,
/// which the caller must patch.
///
/// # Errors
/// Fails if the processor does not have the instruction, or if the encoding cannot express an operand.
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

/// Returns why an instruction cannot be encoded, if it cannot.
pub fn problem(target: &Target, inst: &MachInst) -> Option<Problem> {
    match graphics::handles(inst.op.family()) {
        true => graphics::assemble(target, inst).err(),
        false => assemble(target, inst).err(),
    }
}

/// Returns the number of dwords of an instruction when it is encoded. Returns 0 for a pseudo-instruction,
/// which is not encoded.
pub fn size_in_words(target: &Target, inst: &MachInst) -> usize {
    if graphics::handles(inst.op.family()) {
        return graphics::size_in_words(inst);
    }
    let Some(encoding) = Encoding::for_row(target, inst.op.row(), inst.form, inst.mods.lane) else {
        return 0;
    };
    let literal = |operand: &Operand| match operand {
        Operand::Literal(_) => true,
        // The distance of a call is in a field of the instruction, and not in a literal.
        Operand::Reloc(_) => inst.op != op::S_CALL_B64,
        // On GFX7, the offset of a scalar load may be too large for the offset field. It is then encoded as a
        // literal.
        Operand::Imm(value) => encoding == Encoding::Smem && is_long_smrd_offset(target, *value),
        _ => false,
    };
    encoding.words(Layout::for_target(target)) + usize::from(inst.operands().iter().any(literal))
}

fn is_long_smrd_offset(target: &Target, offset: i32) -> bool {
    matches!(Layout::for_target(target).scalar_offsets, ScalarOffsets::DwordsOrLiteral)
        && !SMRD_OFFSET.fits(offset as u32)
}

/// An encoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// The first two dwords as one number, with the first dword in the low half.
    pub bits: u64,
    /// Number of dwords in `bits`.
    pub len: usize,
    /// The literal that follows these dwords, if there is one.
    pub literal: Option<u32>,
}

pub(crate) fn assemble(target: &Target, inst: &MachInst) -> Result<Words, Problem> {
    let row = inst.op.row();
    let code = row.code(target).ok_or(Problem::Unavailable)?;
    let encoding = Encoding::for_row(target, row, inst.form, inst.mods.lane).ok_or(Problem::Form)?;
    // `s_endpgm` and similar instructions have a number as their only operand. If an instruction is created
    // without the operand, the number is 0.
    let implied = inst.len == 0 && row.ops.len() == 1 && row.ops[0].kind == Kind::Imm;
    if usize::from(inst.len) != row.ops.len() && !implied {
        return Err(Problem::Count);
    }
    let bits = opcode_bits(Layout::for_target(target), row.family, encoding, u32::from(code));
    let words = Words {
        bits: bits | fixed_bits(target, row, encoding),
        len: encoding.words(Layout::for_target(target)),
        literal: None,
    };
    let mut writer = Writer { target, inst, encoding, words, file: None };
    let mut slots = Slots::new(target, row, encoding);
    let mut sources = Sources::default();
    for (index, (spec, &operand)) in row.ops.iter().zip(inst.operands()).enumerate() {
        let slot = slots.next(spec);
        sources.note(&slots, spec);
        let bits = writer.operand_bits(slot, spec, index as u8, operand)?;
        writer.words.bits |= bits;
    }
    let words = writer.words;
    let modifiers = modifiers::bits(target, row, encoding, inst, sources)?;
    Ok(Words { bits: words.bits | modifiers, ..words })
}

/// Returns the fixed bits of an instruction: the constant bits of the encoding and the opcode. For SDWA and
/// DPP, they also include the code in the first source field that announces the second dword.
#[inline]
pub(crate) fn opcode_bits(layout: &Layout, family: Family, encoding: Encoding, code: u32) -> u64 {
    if encoding == Encoding::Vop3 {
        let pattern = layout.patterns.of(Family::Vop3);
        return pattern.bits | pattern.opcode.put(code + layout.vop3_base(family));
    }
    let pattern = layout.patterns.of(family);
    let announced = match encoding {
        Encoding::Sdwa => SRC_SDWA,
        Encoding::Dpp => SRC_DPP,
        Encoding::Dpp8 => SRC_DPP8,
        _ => 0,
    };
    pattern.bits | pattern.opcode.put(code) | SRC0.put(announced)
}

/// Puts the operands of one instruction into their slots.
struct Writer<'a> {
    target: &'a Target,
    inst: &'a MachInst,
    encoding: Encoding,
    words: Words,
    /// The bit of the encoding that says whether an operand is in VGPRs or in accumulation VGPRs, and the
    /// value that the last such operand has given it. Several operands may share the bit; they must then be
    /// in the same register file.
    file: Option<(Field, bool)>,
}

impl Writer<'_> {
    /// Returns the bits of one operand.
    #[inline(always)]
    fn operand_bits(
        &mut self,
        slot: Slot,
        spec: &OpSpec,
        index: u8,
        operand: Operand,
    ) -> Result<u64, Problem> {
        let target = self.target;
        if let Operand::Reg(range) = operand
            && (is_odd_gws(target, self.inst.op.row(), range)
                || is_refused_sgpr(target, self.inst.op.row(), range))
        {
            return Err(Problem::Register(index));
        }
        match operand {
            Operand::Virt(_) | Operand::Block(_) => return Err(Problem::Unresolved(index)),
            Operand::Reg(range) if is_forbidden(target, self.inst.op.row(), slot, spec, range) => {
                return Err(Problem::Register(index));
            }
            _ => {}
        }
        let width = spec.dwords(target);
        let is_vcc = || operand == Operand::regs(Reg::VCC, target.mask_dwords());
        let scalar = |written| scalar(target, operand, width, written, index);
        Ok(match slot {
            Slot::Scalar(field) => field.put(scalar(spec.role != Role::Use)?),
            Slot::Vector(field) => field.put(vector(target, operand, width, index)?),
            Slot::Source(field) => field.put(self.source(spec, index, operand)?),
            Slot::Source8(field) => match self.source(spec, index, operand)? {
                code @ 0..256 => field.put(code),
                _ => return Err(Problem::Operand(index)),
            },
            Slot::Acc(field) => field.put(self.acc(operand, width, index)?),
            Slot::AccSource(field) => field.put(self.acc(operand, width, index)? + 256),
            Slot::Either(field, bit) => self.either(field, bit, operand, width, index, 0)?,
            Slot::EitherSource(field, bit) => self.either(field, bit, operand, width, index, 256)?,
            Slot::Sum(field) => match operand {
                Operand::Inline(_) if !target.has(Feature::MATRIX_CONSTANTS) => {
                    return Err(Problem::Operand(index));
                }
                Operand::Inline(code) if is_inline(target, code) => field.put(u32::from(code)),
                Operand::Reg(range) if is_status(range.first.0) && range.len == 1 => {
                    field.put(u32::from(range.first.0))
                }
                _ if target.has(Feature::UNIFIED_VGPRS) => {
                    self.either(field, MFMA_ACC_SUM, operand, width, index, 256)?
                }
                _ => field.put(self.acc(operand, width, index)? + 256),
            },
            Slot::SdwaSource(field, is_scalar) => match operand {
                Operand::Inline(code) if is_inline(target, code) => {
                    field.put(u32::from(code)) | is_scalar.put(1)
                }
                Operand::Reg(range) if !range.first.is_vgpr() && spec.kind == Kind::Vsrc => {
                    field.put(scalar(false)?) | is_scalar.put(1)
                }
                _ => field.put(vector(target, operand, width, index)?),
            },
            Slot::SdwaMask if is_vcc() => 0,
            Slot::SdwaMask => SDWA_SDST.put(scalar(true)?) | SDWA_SD.put(1),
            Slot::Scaled(field, unit) => field.put(scalar(false)? / u32::from(unit)),
            Slot::Unsigned(field) => {
                let value = immediate(operand, index)? as u32;
                let fits = field.fits(value) && !(is_index_mode(self.inst.op) && value > 15);
                field.put(fits.then_some(value).ok_or(Problem::Range(index))?)
            }
            Slot::Simm16 | Slot::Uimm16 => simm16(operand, index)?,
            Slot::Branch => {
                let value = immediate(operand, index)?;
                SIMM16.put(SIMM16.fits_signed(value).then_some(value as u32).ok_or(Problem::Range(index))?)
            }
            Slot::SmemOffset => self.smem_offset(operand, index)?,
            Slot::Address(field) => self.address(field, spec, index, operand)?,
            Slot::Base if operand == Operand::None => FLAT_SADDR.put(self.no_base()),
            Slot::Base => FLAT_SADDR.put(scalar(false)?),
            Slot::Vcc if is_vcc() => 0,
            Slot::Vcc => return Err(Problem::Operand(index)),
            Slot::Literal => {
                let value = literal(operand).ok_or(Problem::Operand(index))?;
                self.literal(value, index)?;
                0
            }
            Slot::Nowhere => return Err(Problem::Count),
        })
    }

    /// Returns the number of the first accumulation VGPR of an operand.
    fn acc(&self, operand: Operand, width: u8, index: u8) -> Result<u32, Problem> {
        match operand {
            Operand::Reg(range) if !range.first.is_agpr() => Err(Problem::Operand(index)),
            Operand::Reg(range) if range.len != width || !range.exists(self.target) => {
                Err(Problem::Register(index))
            }
            Operand::Reg(range) => Ok(u32::from(range.first.number())),
            _ => Err(Problem::Operand(index)),
        }
    }

    /// Returns the bits of an operand that may be in VGPRs or in accumulation VGPRs. The field `bit` says in
    /// which. Fails if another operand that shares `bit` is in the other register file.
    fn either(
        &mut self,
        field: Field,
        bit: Field,
        operand: Operand,
        width: u8,
        index: u8,
        base: u32,
    ) -> Result<u64, Problem> {
        let is_acc = matches!(operand, Operand::Reg(range) if range.first.is_agpr());
        match self.file.replace((bit, is_acc)) {
            Some((other, before)) if other == bit && before != is_acc => {
                return Err(Problem::Register(index));
            }
            _ => {}
        }
        let number =
            if is_acc { self.acc(operand, width, index) } else { vector(self.target, operand, width, index) };
        Ok(field.put(number? + base) | bit.put(u32::from(is_acc)))
    }

    /// Records the literal that follows the instruction. Fails if another operand has already recorded a
    /// literal with a different value.
    fn literal(&mut self, value: u32, index: u8) -> Result<(), Problem> {
        match self.words.literal.replace(value) {
            Some(other) if other != value => Err(Problem::Literal(index)),
            _ => Ok(()),
        }
    }

    /// Returns the 9-bit code of a source.
    fn source(&mut self, spec: &OpSpec, index: u8, operand: Operand) -> Result<u32, Problem> {
        let width = spec.dwords(self.target);
        let takes_constants = matches!(spec.kind, Kind::Vsrc | Kind::Ssrc);
        match operand {
            Operand::Reg(range) if range.first.is_vgpr() => {
                if !matches!(spec.kind, Kind::Vsrc | Kind::Vgpr) && spec.role == Role::Use {
                    return Err(Problem::Operand(index));
                }
                Ok(vector(self.target, operand, width, index)? + 256)
            }
            Operand::Reg(range) if spec.kind == Kind::Vgpr && range.first != Reg::LDS_DIRECT => {
                Err(Problem::Operand(index))
            }
            Operand::Reg(_) => scalar(self.target, operand, width, false, index),
            Operand::Inline(code) if takes_constants && is_inline(self.target, code) => Ok(u32::from(code)),
            Operand::Literal(_) | Operand::Reloc(_) => {
                let room = takes_constants && takes_literals(self.target, self.inst.op.row(), self.encoding);
                let value = literal(operand).filter(|_| room).ok_or(Problem::Literal(index))?;
                self.literal(value, index)?;
                Ok(SRC_LITERAL)
            }
            _ => Err(Problem::Operand(index)),
        }
    }

    fn smem_offset(&mut self, operand: Operand, index: u8) -> Result<u64, Problem> {
        match operand {
            Operand::Imm(value) => self.smem_immediate(value).ok_or(Problem::Range(index)),
            _ => {
                let reg = scalar(self.target, operand, 1, false, index)?;
                self.smem_register(reg, self.inst.mods.offset).ok_or(Problem::Offset)
            }
        }
    }

    fn smem_immediate(&mut self, value: i32) -> Option<u64> {
        let unsigned = value as u32;
        if !takes_offset(self.target, self.inst.op.row(), value) {
            return None;
        }
        match Layout::for_target(self.target).scalar_offsets {
            ScalarOffsets::DwordsOrLiteral if is_long_smrd_offset(self.target, value) => {
                self.words.literal = Some(unsigned);
                Some(SMRD_OFFSET.put(SRC_LITERAL))
            }
            ScalarOffsets::Dwords | ScalarOffsets::DwordsOrLiteral => {
                SMRD_OFFSET.fits(unsigned).then(|| SMRD_IMM.put(1) | SMRD_OFFSET.put(unsigned))
            }
            ScalarOffsets::Unsigned => {
                SMEM_OFFSET_GFX8.fits(unsigned).then(|| SMEM_IMM.put(1) | SMEM_OFFSET_GFX8.put(unsigned))
            }
            ScalarOffsets::Signed => {
                SMEM_OFFSET.fits_signed(value).then(|| SMEM_IMM.put(1) | SMEM_OFFSET.put(unsigned))
            }
            ScalarOffsets::Sum => {
                SMEM_OFFSET.fits_signed(value).then(|| SMEM_SOFFSET.put(NULL) | SMEM_OFFSET.put(unsigned))
            }
        }
    }

    /// Returns the bits for the offset of a scalar memory instruction that is an SGPR plus the immediate
    /// `offset`. GFX9 and GFX10 can encode such sums. On earlier processors, the immediate must be 0. Returns
    /// `None` if the sum cannot be encoded.
    fn smem_register(&self, reg: u32, offset: i32) -> Option<u64> {
        if !SMEM_OFFSET.fits_signed(offset) || !takes_offset(self.target, self.inst.op.row(), offset) {
            return None;
        }
        let both = offset != 0 || self.inst.mods.flags.contains(ModFlags::OFFEN);
        let immediate = SMEM_OFFSET.put(offset as u32);
        match Layout::for_target(self.target).scalar_offsets {
            ScalarOffsets::Sum => Some(SMEM_SOFFSET.put(reg) | immediate),
            ScalarOffsets::Signed if both => {
                Some(SMEM_IMM.put(1) | SMEM_SOE.put(1) | SMEM_SOFFSET.put(reg) | immediate)
            }
            _ if both => None,
            ScalarOffsets::Dwords | ScalarOffsets::DwordsOrLiteral => Some(SMRD_OFFSET.put(reg)),
            ScalarOffsets::Unsigned | ScalarOffsets::Signed => Some(SMEM_OFFSET_REG.put(reg)),
        }
    }

    fn address(&mut self, field: Field, spec: &OpSpec, index: u8, operand: Operand) -> Result<u64, Problem> {
        let row = self.inst.op.row();
        let last = self.inst.operands().last();
        let based =
            row.ops.last().is_some_and(|spec| spec.kind == Kind::Saddr) && last != Some(&Operand::None);
        if field == FLAT_ADDR && has_scratch_vaddr(self.target, row) {
            return match operand {
                Operand::None => Ok(0),
                _ => Ok(SCRATCH_VADDR.put(1) | field.put(vector(self.target, operand, 1, index)?)),
            };
        }
        match address_width(row, field, spec, self.inst.mods.flags, based) {
            0 if operand == Operand::None => Ok(0),
            1 if operand == Operand::None && self.has_no_address() => Ok(0),
            0 => Err(Problem::Operand(index)),
            width => match data_file(self.target, row.family, field) {
                Some(bit) => self.either(field, bit, operand, width, index, 0),
                None => Ok(field.put(vector(self.target, operand, width, index)?)),
            },
        }
    }

    /// Returns whether the instruction is a scratch access without any address register. Its address is the
    /// immediate offset. Only gfx103x has such accesses.
    fn has_no_address(&self) -> bool {
        let row = self.inst.op.row();
        let is_off = |(spec, operand): (&OpSpec, &Operand)| {
            !matches!(spec.kind, Kind::Vaddr | Kind::Saddr) || *operand == Operand::None
        };
        row.family == Family::Scratch
            && self.target.has(Feature::SCRATCH_NO_ADDRESS)
            && row.ops.iter().zip(self.inst.operands()).all(is_off)
    }

    /// Returns the code that means "no SGPR base".
    fn no_base(&self) -> u32 {
        if self.has_no_address() { SADDR_OFF } else { Layout::for_target(self.target).no_base }
    }
}

/// Returns whether a scalar memory access can have this offset. The offset may be negative if the base is an
/// address, but not if the base is a buffer descriptor.
#[inline]
pub(crate) fn takes_offset(target: &Target, row: &Row, offset: i32) -> bool {
    let from_buffer = || row.ops.iter().rev().nth(1).is_some_and(|base| base.width == 4);
    offset >= 0 || !Layout::for_target(target).scalar_offsets.is_signed() || !from_buffer()
}

/// Returns whether a register must be refused because its number is odd. This concerns the operand of global
/// wave sync (GWS) instructions on gfx90a, which must be an even VGPR.
#[inline]
pub(crate) fn is_odd_gws(target: &Target, row: &Row, range: RegRange) -> bool {
    row.flags.contains(Flags::GDS_ONLY) && target.has(Feature::EVEN_VGPRS) && !range.first.0.is_multiple_of(2)
}

/// Returns whether a register must be refused because it is an SGPR. This concerns writes of accumulation
/// VGPRs on gfx908, whose source must be a VGPR or an inline constant.
#[inline]
pub(crate) fn is_refused_sgpr(target: &Target, row: &Row, range: RegRange) -> bool {
    row.flags.contains(Flags::NO_SGPR) && !target.has(Feature::ACC_FROM_SGPR) && range.first.0 < 256
}

/// Returns whether the instruction does not accept the registers in this slot (place for an operand),
/// although the field of the slot could encode them.
#[inline]
pub(crate) fn is_forbidden(target: &Target, row: &Row, slot: Slot, spec: &OpSpec, range: RegRange) -> bool {
    let exec = range.first.0 & !1 == Reg::EXEC.0;
    match slot {
        // Only a vector ALU instruction accepts `src_lds_direct`, and only as its whole first source.
        Slot::Source(SRC0 | VOP3_SRC0) if range.first == Reg::LDS_DIRECT => {
            let writes_lane = row.ops[0].kind == Kind::Vgpr && row.flags.contains(Flags::NO_EXEC);
            spec.kind != Kind::Vsrc && !row.flags.contains(Flags::NO_EXEC)
                || writes_lane && !Layout::for_target(target).writes_lane_from_lds
                || row.is_reversed()
        }
        _ if range.first == Reg::LDS_DIRECT => true,
        // The data of a scalar memory access cannot be in EXEC or M0.
        Slot::Scalar(SMEM_SDATA | SMRD_SDATA) => exec || range.first == Reg::M0,
        // Only vector instructions read LDS directly.
        Slot::Source(MUBUF_SOFFSET) => range.first == Reg(254),
        // EXEC cannot be the lane mask that an instruction reads as an operand.
        Slot::Source(_) => exec && spec.kind == Kind::Mask,
        // The code of an SGPR base must differ from the code that means "no base". That code is the one of
        // `exec_hi` and, on GFX10, of `null`, so neither of them can be a base.
        Slot::Base => {
            let code = u32::from(range.first.0);
            code == SADDR_OFF || target.arch.registers.null == Some(range.first)
        }
        _ => false,
    }
}

/// Returns whether the instruction is `s_set_gpr_idx_on`. The immediate of this instruction says which
/// operands are indexed, and uses only four bits of its eight-bit field.
pub(crate) fn is_index_mode(op: Opcode) -> bool {
    op == op::S_SET_GPR_IDX_ON
}

/// Returns whether a source of an instruction may be a literal. This depends on the encoding. The lane mask
/// of a fork (`s_cbranch_g_fork`) may never be a literal.
pub(crate) fn takes_literals(target: &Target, row: &Row, encoding: Encoding) -> bool {
    let forks = row.flags.contains(Flags::BRANCH) && row.implicit.contains(Implicit::WRITE_EXEC);
    encoding.has_literals(Layout::for_target(target)) && !forks
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

/// Returns the bits of a 16-bit immediate. Both signed and unsigned values are accepted: -1 and 0xffff have
/// the same bits.
fn simm16(operand: Operand, index: u8) -> Result<u64, Problem> {
    let value = immediate(operand, index)?;
    let fits = SIMM16.fits_signed(value) || u16::try_from(value).is_ok();
    if fits { Ok(SIMM16.put(value as u32)) } else { Err(Problem::Range(index)) }
}

#[inline]
fn vector(target: &Target, operand: Operand, width: u8, index: u8) -> Result<u32, Problem> {
    match operand {
        Operand::Reg(range) if !range.first.is_vgpr() => Err(Problem::Operand(index)),
        Operand::Reg(range) if range.len != width || !range.exists(target) => Err(Problem::Register(index)),
        Operand::Reg(range) => Ok(u32::from(range.first.number())),
        _ => Err(Problem::Operand(index)),
    }
}

#[inline]
fn scalar(target: &Target, operand: Operand, width: u8, written: bool, index: u8) -> Result<u32, Problem> {
    match operand {
        Operand::Reg(range) if range.first.is_vgpr() => Err(Problem::Operand(index)),
        Operand::Reg(range) if range.len != width || !range.exists(target) => Err(Problem::Register(index)),
        // The codes after EXEC are constants and status bits, which cannot be written.
        Operand::Reg(range) if written && range.first.0 > Reg::EXEC.0 + 1 => Err(Problem::Register(index)),
        Operand::Reg(range) => Ok(u32::from(range.first.0)),
        _ => Err(Problem::Operand(index)),
    }
}

pub(crate) fn is_inline(target: &Target, code: u16) -> bool {
    matches!(code, 128..=208 | 240..=247) || code == 248 && target.has(Feature::INV_2PI)
}

/// Returns the field of one bit that says whether the data of a memory instruction is in accumulation VGPRs.
/// Returns `None` if the processor has no such bit, or if `field` is not a data field.
pub(crate) fn data_file(target: &Target, family: Family, field: Field) -> Option<Field> {
    match (family, field) {
        _ if !target.has(Feature::UNIFIED_VGPRS) => None,
        (Family::Mubuf, MUBUF_VDATA) => Some(MUBUF_ACC),
        (Family::Flat | Family::Global | Family::Scratch, FLAT_VDST) => Some(FLAT_ACC),
        _ => None,
    }
}

/// Returns whether the instruction is a scratch access that has a bit for the VGPR of its address.
pub(crate) fn has_scratch_vaddr(target: &Target, row: &Row) -> bool {
    row.family == Family::Scratch && target.has(Feature::SCRATCH_VADDR)
}

/// Returns the number of VGPRs that the operand in a slot of kind `Slot::Address` must have. Returns 0 if the
/// operand must be absent. `based` says whether the address also has an SGPR base.
pub(crate) fn address_width(row: &Row, field: Field, spec: &OpSpec, flags: ModFlags, based: bool) -> u8 {
    match (row.family, field) {
        // The family is compared first, because fields of different families may be at the same position, and
        // two fields at the same position are equal.
        (Family::Mubuf, MUBUF_VADDR) if flags.contains(ModFlags::ADDR64) => 2,
        (Family::Mubuf, MUBUF_VADDR) => {
            u8::from(flags.contains(ModFlags::OFFEN)) + u8::from(flags.contains(ModFlags::IDXEN))
        }
        (Family::Mubuf, MUBUF_VDATA) if flags.contains(ModFlags::LDS) => 0,
        (Family::Mubuf, _) => spec.width + u8::from(flags.contains(ModFlags::TFE)),
        (_, FLAT_VDST) if flags.contains(ModFlags::LDS) => 0,
        (_, FLAT_VDST) if row.flags.contains(Flags::ATOMIC) && !flags.contains(ModFlags::GLC) => 0,
        (_, FLAT_VDST) => spec.width,
        (Family::Scratch, _) => u8::from(!based),
        (Family::Global, _) if based => 1,
        _ => 2,
    }
}

/// Returns whether the processor has an encoding for the instruction in this form. The operands are not
/// considered.
pub fn has_form(target: &Target, op: Opcode, form: Form) -> bool {
    if graphics::handles(op.family()) {
        return op.row().code(target).is_some() && graphics::has_form(op, form);
    }
    let exists = |lane| Encoding::for_row(target, op.row(), form, lane).is_some();
    op.row().code(target).is_some() && (exists(Lane::None) || exists(Lane::Dpp8 { lanes: 0 }))
}
