//! Where fields lie in an instruction word, for encoder and decoder alike.
//!
//! An instruction is one or two dwords, seen here as one 64-bit number with the first dword low, and perhaps a literal
//! after it. [`Slots`] walks the operands of a row and says which field each one occupies.

use crate::inst::Form;
use crate::table::{Family, Flags, Kind, Num, OpSpec, Role, Row};

/// A bit field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    lo: u8,
    bits: u8,
}

impl Field {
    pub const fn new(lo: u8, bits: u8) -> Field {
        Field { lo, bits }
    }

    /// The field with that value; excess bits are cut.
    pub const fn put(self, value: u32) -> u64 {
        (value as u64 & self.mask()) << self.lo
    }

    /// The field's value.
    pub const fn get(self, word: u64) -> u32 {
        ((word >> self.lo) & self.mask()) as u32
    }

    /// Whether the number fits without sign.
    pub const fn fits(self, value: u32) -> bool {
        value as u64 <= self.mask()
    }

    /// The field's value, sign-extended.
    pub const fn get_signed(self, word: u64) -> i32 {
        let shift = 32 - self.bits as u32;
        (self.get(word) << shift) as i32 >> shift
    }

    /// Whether the number fits in two's complement.
    pub const fn fits_signed(self, value: i32) -> bool {
        let limit = 1i64 << (self.bits - 1);
        (value as i64) >= -limit && (value as i64) < limit
    }

    const fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident $lo:literal $bits:literal;)*) => {
        $($(#[$doc])* pub(crate) const $name: Field = Field::new($lo, $bits);)*
    };
}

fields! {
    SDST 16 7;
    SSRC0 0 8;
    SSRC1 8 8;
    SIMM16 0 16;

    SMEM_SBASE 0 6;
    SMEM_SDATA 6 7;
    SMEM_SOE 14 1;
    SMEM_NV 15 1;
    SMEM_GLC 16 1;
    SMEM_IMM 17 1;
    SMEM_OFFSET 32 21;
    /// The offset SGPR when there is no immediate.
    SMEM_OFFSET_REG 32 7;
    SMEM_SOFFSET 57 7;

    VDST 17 8;
    SRC0 0 9;
    VSRC1 9 8;

    /// The first source of SDWA and DPP.
    LANE_SRC0 32 8;
    SDWA_DST_SEL 40 3;
    SDWA_DST_UNUSED 43 2;
    SDWA_CLAMP 45 1;
    SDWA_OMOD 46 2;
    SDWA_SRC0_SEL 48 3;
    SDWA_SEXT0 51 1;
    /// VOPC: destination, and whether it is given.
    SDWA_SDST 40 7;
    SDWA_SD 47 1;
    /// `neg` then `abs`.
    SDWA_NEG0 52 1;
    SDWA_ABS0 53 1;
    SDWA_S0 55 1;
    SDWA_SRC1_SEL 56 3;
    SDWA_SEXT1 59 1;
    SDWA_NEG1 60 1;
    SDWA_ABS1 61 1;
    SDWA_S1 63 1;

    DPP_CTRL 40 9;
    DPP_BOUND_CTRL 51 1;
    DPP_NEG0 52 1;
    DPP_ABS0 53 1;
    DPP_NEG1 54 1;
    DPP_ABS1 55 1;
    DPP_BANK_MASK 56 4;
    DPP_ROW_MASK 60 4;

    VOP3_DST 0 8;
    VOP3_SDST 8 7;
    VOP3_ABS 8 3;
    VOP3_OP_SEL 11 4;
    VOP3_CLAMP 15 1;
    VOP3_SRC0 32 9;
    VOP3_SRC1 41 9;
    VOP3_SRC2 50 9;
    VOP3_OMOD 59 2;
    VOP3_NEG 61 3;
    VOP3P_OP_SEL 11 3;
    VOP3P_OP_SEL_HI2 14 1;
    VOP3P_OP_SEL_HI 59 2;

    DS_OFFSET 0 16;
    DS_GDS 16 1;
    DS_ADDR 32 8;
    DS_DATA0 40 8;
    DS_DATA1 48 8;
    DS_VDST 56 8;

    MUBUF_OFFSET 0 12;
    MUBUF_OFFEN 12 1;
    MUBUF_IDXEN 13 1;
    MUBUF_GLC 14 1;
    MUBUF_LDS 16 1;
    MUBUF_SLC 17 1;
    MUBUF_VADDR 32 8;
    MUBUF_VDATA 40 8;
    MUBUF_SRSRC 48 5;
    MUBUF_TFE 55 1;
    MUBUF_SOFFSET 56 8;

    FLAT_OFFSET 0 13;
    FLAT_SEG 14 2;
    FLAT_GLC 16 1;
    FLAT_SLC 17 1;
    FLAT_ADDR 32 8;
    FLAT_DATA 40 8;
    FLAT_SADDR 48 7;
    FLAT_NV 55 1;
    FLAT_VDST 56 8;
}

/// `saddr` of a GLOBAL or SCRATCH instruction without one.
pub(crate) const SADDR_OFF: u32 = 0x7f;
/// `src0` that announces an SDWA word.
pub(crate) const SRC_SDWA: u32 = 249;
/// `src0` that announces a DPP word.
pub(crate) const SRC_DPP: u32 = 250;
/// Source code of a literal.
pub(crate) const SRC_LITERAL: u32 = 255;

/// The encodings, as opposed to the families: a VOP2 instruction may be in `Vop2`, `Vop3`, `Sdwa` or `Dpp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Encoding {
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    /// VOP1, VOP2 and VOPC in one dword.
    Vop32,
    Sdwa,
    Dpp,
    Vop3,
    Vop3p,
    Ds,
    Mubuf,
    Flat,
}

impl Encoding {
    /// The encoding of a row in a form; `None` if there is none, or it is one of `graphics`.
    pub fn of(row: &Row, form: Form) -> Option<Encoding> {
        Some(match row.family {
            Family::Pseudo | Family::Mtbuf | Family::Exp | Family::Vintrp => return None,
            Family::Sop1 => Encoding::Sop1,
            Family::Sop2 => Encoding::Sop2,
            Family::Sopk => Encoding::Sopk,
            Family::Sopc => Encoding::Sopc,
            Family::Sopp => Encoding::Sopp,
            Family::Smem => Encoding::Smem,
            Family::Vop1 | Family::Vop2 | Family::Vopc => return Encoding::of_vop(row, form),
            Family::Vop3 => Encoding::Vop3,
            Family::Vop3p => Encoding::Vop3p,
            Family::Ds => Encoding::Ds,
            Family::Mubuf => Encoding::Mubuf,
            Family::Flat | Family::Global | Family::Scratch => Encoding::Flat,
        })
    }

    fn of_vop(row: &Row, form: Form) -> Option<Encoding> {
        let (encoding, unless) = match form {
            // What has one form only needs no form named.
            Form::Full if row.flags.contains(Flags::NO_E64) => (Encoding::Vop32, Flags::empty()),
            Form::Full => (Encoding::Vop3, Flags::NO_E64),
            Form::E32 => (Encoding::Vop32, Flags::NO_E32),
            Form::Sdwa => (Encoding::Sdwa, Flags::NO_SDWA),
            Form::Dpp if row.family == Family::Vopc => return None,
            Form::Dpp => (Encoding::Dpp, Flags::NO_DPP.union(Flags::DPP64)),
        };
        (!row.flags.intersects(unless)).then_some(encoding)
    }

    /// Dwords without a literal.
    pub const fn words(self) -> usize {
        match self {
            Encoding::Sop1
            | Encoding::Sop2
            | Encoding::Sopk
            | Encoding::Sopc
            | Encoding::Sopp
            | Encoding::Vop32 => 1,
            _ => 2,
        }
    }
}

/// The constant bits of a family's own (32-bit, if it has one) encoding and the place of its opcode.
pub(crate) const fn family_pattern(family: Family) -> (u64, Field) {
    match family {
        Family::Sop2 => (0b10 << 30, Field::new(23, 7)),
        Family::Sopk => (0b1011 << 28, Field::new(23, 5)),
        Family::Sop1 => (0b1_0111_1101 << 23, Field::new(8, 8)),
        Family::Sopc => (0b1_0111_1110 << 23, Field::new(16, 7)),
        Family::Sopp => (0b1_0111_1111 << 23, Field::new(16, 7)),
        Family::Smem => (0b11_0000 << 26, Field::new(18, 8)),
        Family::Vop2 => (0, Field::new(25, 6)),
        Family::Vop1 => (0b011_1111 << 25, Field::new(9, 8)),
        Family::Vopc => (0b011_1110 << 25, Field::new(17, 8)),
        Family::Vop3 | Family::Pseudo | Family::Mtbuf | Family::Exp | Family::Vintrp => {
            (0b11_0100 << 26, VOP3_OP)
        }
        Family::Vop3p => (0b1_1010_0111 << 23, Field::new(16, 7)),
        Family::Ds => (0b11_0110 << 26, Field::new(17, 8)),
        Family::Mubuf => (0b11_1000 << 26, Field::new(18, 7)),
        Family::Flat => (0b11_0111 << 26, Field::new(18, 7)),
        Family::Scratch => (0b11_0111 << 26 | 1 << 14, Field::new(18, 7)),
        Family::Global => (0b11_0111 << 26 | 2 << 14, Field::new(18, 7)),
    }
}

/// Opcode field of VOP3.
pub(crate) const VOP3_OP: Field = Field::new(16, 10);

/// What is added to a family's opcode in the VOP3 encoding.
pub(crate) const fn vop3_base(family: Family) -> u32 {
    match family {
        Family::Vop2 => 0x100,
        Family::Vop1 => 0x140,
        _ => 0,
    }
}

/// Where an operand goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Code of a scalar register.
    Scalar(Field),
    /// Number of a VGPR.
    Vector(Field),
    /// Code of a source: of 8 bits scalars and constants, of 9 bits VGPRs too.
    Source(Field),
    /// SDWA source: number of a VGPR, or code of an SGPR when the bit is set.
    SdwaSource(Field, Field),
    /// Destination mask of an SDWA compare.
    SdwaMask,
    /// Scalar register in units of two (SMEM base) or four (MUBUF resource).
    Scaled(Field, u8),
    /// Number without sign.
    Unsigned(Field),
    /// 16-bit number that is sign-extended; 0xffff is taken for -1.
    Simm16,
    /// 16-bit number without sign; -1 is taken for 0xffff.
    Uimm16,
    /// Branch distance in dwords.
    Branch,
    /// Offset of a scalar memory access.
    SmemOffset,
    /// VGPR address or nothing.
    Address(Field),
    /// SGPR base or nothing.
    Base,
    /// `vcc`, not written down.
    Vcc,
    /// The literal word.
    Literal,
    /// There is no place.
    Nowhere,
}

/// Hands out the slots of a row's operands, in order.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    encoding: Encoding,
    flags: Flags,
    index: u8,
    sources: u8,
}

impl Slots {
    pub fn new(row: &Row, encoding: Encoding) -> Slots {
        let sources = u8::from(row.flags.contains(Flags::NO_ADDR));
        Slots { encoding, flags: row.flags, index: 0, sources }
    }

    /// The slot of the next operand.
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
            Encoding::Smem => smem(spec, index, self.flags),
            Encoding::Vop32 | Encoding::Sdwa | Encoding::Dpp => self.vop(spec, index),
            Encoding::Vop3 | Encoding::Vop3p => self.vop3(spec, index),
            Encoding::Ds => self.ds(spec),
            Encoding::Mubuf => mubuf(spec, index),
            Encoding::Flat => flat(spec),
        }
    }

    /// Whether the operand just placed was a source, and which.
    pub fn last_source(&self) -> Option<u8> {
        self.sources.checked_sub(1)
    }

    fn source(&mut self) -> u8 {
        self.sources += 1;
        self.sources - 1
    }

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

    fn vop(&mut self, spec: &OpSpec, index: u8) -> Slot {
        match (spec.kind, index) {
            (Kind::Mask, 0) if self.encoding == Encoding::Sdwa => return Slot::SdwaMask,
            (Kind::Mask, _) => return Slot::Vcc,
            (Kind::Sgpr, 0) => return Slot::Scalar(VDST),
            (_, 0) => return Slot::Vector(VDST),
            _ => {}
        }
        match (self.encoding, self.source()) {
            (Encoding::Vop32, 0) => Slot::Source(SRC0),
            (Encoding::Sdwa, 0) => Slot::SdwaSource(LANE_SRC0, SDWA_S0),
            (Encoding::Sdwa, 1) => Slot::SdwaSource(VSRC1, SDWA_S1),
            (Encoding::Dpp, 0) => Slot::Vector(LANE_SRC0),
            (_, 1) => Slot::Vector(VSRC1),
            _ => Slot::Nowhere,
        }
    }

    fn vop3(&mut self, spec: &OpSpec, index: u8) -> Slot {
        match (spec.kind, spec.role, index) {
            (Kind::Mask | Kind::Sgpr, Role::Def, 0) => return Slot::Scalar(VOP3_DST),
            (Kind::Mask, Role::Def, _) => return Slot::Scalar(VOP3_SDST),
            (_, _, 0) => return Slot::Vector(VOP3_DST),
            _ => {}
        }
        match self.source() {
            0 => Slot::Source(VOP3_SRC0),
            1 => Slot::Source(VOP3_SRC1),
            2 => Slot::Source(VOP3_SRC2),
            _ => Slot::Nowhere,
        }
    }

    fn ds(&mut self, spec: &OpSpec) -> Slot {
        if spec.role != Role::Use {
            return Slot::Vector(DS_VDST);
        }
        match self.source() {
            0 => Slot::Vector(DS_ADDR),
            1 => Slot::Vector(DS_DATA0),
            2 => Slot::Vector(DS_DATA1),
            _ => Slot::Nowhere,
        }
    }
}

fn smem(spec: &OpSpec, index: u8, flags: Flags) -> Slot {
    // Without data the first operand is the base (`s_dcache_discard`).
    match index + u8::from(flags.contains(Flags::NO_DATA)) {
        0 if spec.kind == Kind::Imm => Slot::Unsigned(SMEM_SDATA),
        0 => Slot::Scalar(SMEM_SDATA),
        1 => Slot::Scaled(SMEM_SBASE, 2),
        _ => Slot::Nowhere,
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

fn flat(spec: &OpSpec) -> Slot {
    match (spec.kind, spec.role) {
        (Kind::Vaddr, _) => Slot::Address(FLAT_ADDR),
        (Kind::Saddr, _) => Slot::Base,
        (_, Role::Use) => Slot::Vector(FLAT_DATA),
        _ => Slot::Address(FLAT_VDST),
    }
}
