//! Determines the slot of an operand, which is the field of the encoding that holds the operand. The encoder,
//! the decoder and the printer use this module.

use crate::layout::*;
use crate::table::{Flags, Kind, Num, OpSpec, Role, Row};
use crate::target::{Feature, Target};

/// Where the encoding holds an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Scalar register, given by its code.
    Scalar(Field),
    /// VGPR, given by its number.
    Vector(Field),
    /// Source operand, given by its code. A field of 8 bits can name scalar registers and constants. A field
    /// of 9 bits can also name VGPRs.
    Source(Field),
    /// Source operand, given by its code of 8 bits, in a field that holds a VGPR number in other
    /// instructions. It can be a scalar register or a constant.
    Source8(Field),
    /// Accumulation VGPR, given by its number.
    Acc(Field),
    /// Accumulation VGPR, given by its code as a source.
    AccSource(Field),
    /// VGPR or accumulation VGPR, given by its number. The second field has one bit, which is set for an
    /// accumulation VGPR.
    Either(Field, Field),
    /// VGPR or accumulation VGPR, given by its code as a source. The second field has one bit, which is set
    /// for an accumulation VGPR.
    EitherSource(Field, Field),
    /// Addend of a matrix instruction. It is a constant, or in registers of the same file as the result.
    Sum(Field),
    /// Source of SDWA. The first field is the number of a VGPR, or the code of an SGPR if the bit in the
    /// second field is set.
    SdwaSource(Field, Field),
    /// Lane mask that an SDWA compare writes.
    SdwaMask,
    /// Scalar registers, whose code is divided by the number of registers of the group: two for the base of
    /// SMEM, four for the resource of MUBUF.
    Scaled(Field, u8),
    /// Number without sign.
    Unsigned(Field),
    /// 16-bit number that the hardware extends with its sign. 0xffff is accepted for -1.
    Simm16,
    /// Unsigned 16-bit number. -1 is accepted for 0xffff.
    Uimm16,
    /// Distance of a branch in dwords.
    Branch,
    /// Offset of a scalar memory access.
    SmemOffset,
    /// VGPRs of an address. The operand may be absent.
    Address(Field),
    /// SGPR that is the base of an address. The operand may be absent.
    Base,
    /// The register `vcc`, which the encoding implies.
    Vcc,
    /// The literal that follows the instruction.
    Literal,
    /// The encoding does not hold the operand.
    Nowhere,
}

/// An iterator over the operands of a table row, which returns the slot of each operand, one after another.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    encoding: Encoding,
    layout: &'static Layout,
    /// Whether the processor lets memory data and the addends of matrix instructions be in accumulation VGPRs
    /// as well as in VGPRs (gfx90a).
    both_files: bool,
    flags: Flags,
    index: u8,
    sources: u8,
}

impl Slots {
    pub fn new(target: &Target, row: &Row, encoding: Encoding) -> Slots {
        let sources = u8::from(row.flags.contains(Flags::NO_ADDR));
        let both_files = target.has(Feature::UNIFIED_VGPRS);
        Slots {
            encoding,
            layout: Layout::for_target(target),
            both_files,
            flags: row.flags,
            index: 0,
            sources,
        }
    }

    /// Returns the slot of the next operand.
    #[inline(always)]
    pub fn next(&mut self, spec: &OpSpec) -> Slot {
        let index = self.index;
        self.index += 1;
        match spec.kind {
            Kind::Lit => return Slot::Literal,
            Kind::Label => return Slot::Branch,
            Kind::SmemOffset => return Slot::SmemOffset,
            _ => {}
        }
        match self.encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => self.salu(spec),
            Encoding::Sopk if spec.kind == Kind::Imm && spec.num == Num::I32 => Slot::Simm16,
            Encoding::Sopk | Encoding::Sopp if spec.kind == Kind::Imm => Slot::Uimm16,
            Encoding::Sopk => Slot::Scalar(SDST),
            Encoding::Sopp => Slot::Nowhere,
            Encoding::Smem => self.smem(spec, index),
            Encoding::Vop32 | Encoding::Sdwa | Encoding::Dpp | Encoding::Dpp8 => self.vop(spec, index),
            Encoding::Vop3 | Encoding::Vop3p => self.vop3(spec, index),
            Encoding::Ds => self.ds(spec),
            Encoding::Mubuf => mubuf(spec, index),
            Encoding::Flat => flat(spec, self.both_files),
        }
    }

    /// Returns the slot of the operand with the given index.
    pub fn nth(mut self, row: &Row, index: usize) -> Option<Slot> {
        row.ops.iter().map(|spec| self.next(spec)).nth(index)
    }

    /// Returns the position of the next operand among the sources of the instruction, where the first source
    /// has position 0. Returns `None` if the operand is not a source.
    pub fn source_of(&mut self, spec: &OpSpec) -> Option<u8> {
        let before = self.sources;
        self.next(spec);
        self.last_source().filter(|_| self.sources != before)
    }

    /// Returns the position, counted among the sources, of the operand whose slot was returned last. The
    /// result has a meaning only if this operand is a source.
    pub fn last_source(&self) -> Option<u8> {
        self.sources.checked_sub(1)
    }

    fn source(&mut self) -> u8 {
        self.sources += 1;
        self.sources - 1
    }

    #[inline]
    fn salu(&mut self, spec: &OpSpec) -> Slot {
        if spec.role != Role::Use {
            return Slot::Scalar(SDST);
        }
        let field = [SSRC0, SSRC1, SSRC1][usize::from(self.source().min(2))];
        match spec.kind {
            Kind::Imm => Slot::Unsigned(field),
            Kind::Sgpr => Slot::Scalar(field),
            _ => Slot::Source(field),
        }
    }

    #[inline]
    fn vop(&mut self, spec: &OpSpec, index: u8) -> Slot {
        // On GFX8, a compare with SDWA always writes VCC.
        let sdwa_scalars = self.encoding == Encoding::Sdwa && self.layout.sdwa_scalars;
        match (spec.kind, spec.role, index) {
            (Kind::Mask, _, 0) if sdwa_scalars => return Slot::SdwaMask,
            (Kind::Mask, _, _) => return Slot::Vcc,
            (Kind::Sgpr, Role::Def, 0) => return Slot::Scalar(VDST),
            (Kind::Agpr, Role::Def, 0) => return Slot::Acc(VDST),
            (Kind::Agpr, _, _) => return Slot::AccSource(SRC0),
            (_, Role::Def | Role::DefUse, 0) => return Slot::Vector(VDST),
            _ => {}
        }
        match (self.encoding, self.source()) {
            (Encoding::Vop32, 0) => Slot::Source(SRC0),
            (Encoding::Sdwa, 0) if sdwa_scalars => Slot::SdwaSource(LANE_SRC0, SDWA_S0),
            (Encoding::Sdwa, 1) if sdwa_scalars => Slot::SdwaSource(VSRC1, SDWA_S1),
            (_, 0) => Slot::Vector(LANE_SRC0),
            // On GFX6 and GFX7, `v_readlane_b32` and `v_writelane_b32` are VOP2 instructions, and their
            // second source is scalar.
            (_, 1) if spec.kind != Kind::Vgpr && spec.kind != Kind::Vsrc => Slot::Source8(VSRC1),
            (_, 1) => Slot::Vector(VSRC1),
            _ => Slot::Nowhere,
        }
    }

    #[inline]
    fn vop3(&mut self, spec: &OpSpec, index: u8) -> Slot {
        match (spec.kind, spec.role, index) {
            (Kind::Mask | Kind::Sgpr, Role::Def, 0) => return Slot::Scalar(VOP3_DST),
            (Kind::Mask, Role::Def, _) => return Slot::Scalar(VOP3_SDST),
            (Kind::Acc, Role::Def, _) if self.both_files => return Slot::Either(VOP3_DST, MFMA_ACC_SUM),
            (Kind::Agpr | Kind::Acc, Role::Def, _) => return Slot::Acc(VOP3_DST),
            (_, Role::Def | Role::DefUse, 0) => return Slot::Vector(VOP3_DST),
            _ => {}
        }
        match (spec.kind, self.source()) {
            (Kind::Agpr, 0) => return Slot::AccSource(VOP3_SRC0),
            (Kind::Avgpr, 0) => return Slot::EitherSource(VOP3_SRC0, MFMA_ACC_A),
            (Kind::Avgpr, 1) => return Slot::EitherSource(VOP3_SRC1, MFMA_ACC_B),
            (Kind::Acc, 2) => return Slot::Sum(VOP3_SRC2),
            _ => {}
        }
        match self.sources - 1 {
            0 => Slot::Source(VOP3_SRC0),
            1 => Slot::Source(VOP3_SRC1),
            2 => Slot::Source(VOP3_SRC2),
            _ => Slot::Nowhere,
        }
    }

    fn smem(&self, spec: &OpSpec, index: u8) -> Slot {
        let (data, base) = match self.layout.scalar_offsets.in_dwords() {
            true => (SMRD_SDATA, SMRD_SBASE),
            false => (SMEM_SDATA, SMEM_SBASE),
        };
        // `s_dcache_discard` and similar instructions have no data operand. Their address base is therefore
        // the first operand.
        match index + u8::from(self.flags.contains(Flags::NO_DATA)) {
            0 if spec.kind == Kind::Imm => Slot::Unsigned(data),
            0 => Slot::Scalar(data),
            1 => Slot::Scaled(base, 2),
            _ => Slot::Nowhere,
        }
    }

    fn ds(&mut self, spec: &OpSpec) -> Slot {
        let data = |field| if self.both_files { Slot::Either(field, DS_ACC) } else { Slot::Vector(field) };
        if spec.role != Role::Use {
            return data(DS_VDST);
        }
        let first = if self.flags.contains(Flags::GDS_ONLY) && self.index == 1 {
            data(DS_ADDR)
        } else {
            Slot::Vector(DS_ADDR)
        };
        let slots = [first, data(DS_DATA0), data(DS_DATA1)];
        slots.get(usize::from(self.source())).copied().unwrap_or(Slot::Nowhere)
    }
}

fn mubuf(spec: &OpSpec, index: u8) -> Slot {
    match (spec.kind, index) {
        (Kind::Vaddr, _) => Slot::Address(MUBUF_VADDR),
        (Kind::Sgpr, _) => Slot::Scaled(MUBUF_SRSRC, 4),
        (_, 0) => Slot::Address(MUBUF_VDATA),
        _ => Slot::Source(MUBUF_SOFFSET),
    }
}

fn flat(spec: &OpSpec, both_files: bool) -> Slot {
    match (spec.kind, spec.role) {
        (Kind::Vaddr, _) => Slot::Address(FLAT_ADDR),
        (Kind::Saddr, _) => Slot::Base,
        (_, Role::Use) if both_files => Slot::Either(FLAT_DATA, FLAT_ACC),
        (_, Role::Use) => Slot::Vector(FLAT_DATA),
        _ => Slot::Address(FLAT_VDST),
    }
}
