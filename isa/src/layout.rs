//! Positions of the fields in instruction words, used by both the encoder and the decoder.
//!
//! An instruction has one or two dwords, and possibly a literal after these. The one or two dwords are
//! treated here as one 64-bit number with the first dword in the low half. The module `slots` determines
//! which fields hold which operand.

use crate::inst::{Form, Lane, ModFlags};
use crate::table::{Family, Flags, Kind, Role, Row};
use crate::target::{Feature, Generation, Target};
use Generation::{Gfx6, Gfx7, Gfx8, Gfx9, Gfx10};
use std::ops::RangeInclusive;

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

    /// Returns the value, shifted to the position of the field. Bits that do not fit in the field are
    /// dropped.
    pub const fn put(self, value: u32) -> u64 {
        (value as u64 & self.mask()) << self.lo
    }

    /// Returns the field's value.
    pub const fn get(self, word: u64) -> u32 {
        ((word >> self.lo) & self.mask()) as u32
    }

    /// Returns a mask of the field's bits in place.
    pub const fn bits(self) -> u64 {
        self.mask() << self.lo
    }

    /// Returns whether the fields have a common bit.
    pub const fn overlaps(self, other: Field) -> bool {
        self.bits() & other.bits() != 0
    }

    /// Returns whether the unsigned number fits in the field.
    pub const fn fits(self, value: u32) -> bool {
        value as u64 <= self.mask()
    }

    /// Returns the field's value, sign-extended.
    pub const fn get_signed(self, word: u64) -> i32 {
        if self.bits == 0 {
            return 0;
        }
        let shift = 32 - self.bits as u32;
        (self.get(word) << shift) as i32 >> shift
    }

    /// Returns whether a signed number fits in the field in two's complement representation.
    pub const fn fits_signed(self, value: i32) -> bool {
        if self.bits == 0 {
            return value == 0;
        }
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

    /// SMRD of GFX6 and GFX7: one dword, with offsets in dwords.
    SMRD_OFFSET 0 8;
    SMRD_IMM 8 1;
    SMRD_SBASE 9 6;
    SMRD_SDATA 15 7;

    SMEM_SBASE 0 6;
    SMEM_SDATA 6 7;
    /// GFX9: set if the offset is the sum of an SGPR and the immediate.
    SMEM_SOE 14 1;
    SMEM_IMM 17 1;
    /// The field of GFX8 is one bit shorter and unsigned.
    SMEM_OFFSET 32 21;
    SMEM_OFFSET_GFX8 32 20;
    /// The offset SGPR if there is no immediate (GFX8, GFX9).
    SMEM_OFFSET_REG 32 7;
    /// The offset SGPR. GFX9 uses this field only if there is also an immediate offset, GFX10 always.
    SMEM_SOFFSET 57 7;

    VDST 17 8;
    SRC0 0 9;
    VSRC1 9 8;

    /// First source of SDWA and DPP.
    LANE_SRC0 32 8;
    SDWA_DST_SEL 40 3;
    SDWA_DST_UNUSED 43 2;
    SDWA_CLAMP 45 1;
    SDWA_OMOD 46 2;
    SDWA_SRC0_SEL 48 3;
    SDWA_SEXT0 51 1;
    /// VOPC: destination, and whether it is explicit.
    SDWA_SDST 40 7;
    SDWA_SD 47 1;
    /// Bit for `neg`, followed by the bit for `abs`.
    SDWA_NEG0 52 1;
    SDWA_ABS0 53 1;
    SDWA_S0 55 1;
    SDWA_SRC1_SEL 56 3;
    SDWA_SEXT1 59 1;
    SDWA_NEG1 60 1;
    SDWA_ABS1 61 1;
    SDWA_S1 63 1;

    DPP_CTRL 40 9;
    /// `dpp8`: eight lane numbers.
    DPP8_LANES 40 24;
    DPP8_INACTIVE 0 2;
    DPP_NEG0 52 1;
    DPP_ABS0 53 1;
    DPP_NEG1 54 1;
    DPP_ABS1 55 1;
    DPP_BANK_MASK 56 4;
    DPP_ROW_MASK 60 4;

    VOP3_DST 0 8;
    VOP3_SDST 8 7;
    VOP3_ABS 8 3;
    VOP3_SRC0 32 9;
    VOP3_SRC1 41 9;
    VOP3_SRC2 50 9;
    VOP3_OMOD 59 2;
    VOP3_NEG 61 3;
    VOP3P_OP_SEL 11 3;
    VOP3P_OP_SEL_HI2 14 1;
    VOP3P_OP_SEL_HI 59 2;

    /// Matrix instructions: set if the addend and the result are in accumulation VGPRs; the next two fields
    /// say the same for the two factors.
    MFMA_ACC_SUM 15 1;
    MFMA_ACC_A 59 1;
    MFMA_ACC_B 60 1;
    MFMA_CBSZ 8 3;
    MFMA_ABID 11 4;
    MFMA_BLGP 61 3;

    /// gfx90a: set if the data of a memory instruction is in accumulation VGPRs (fields for DS, MUBUF and
    /// FLAT).
    DS_ACC 25 1;
    MUBUF_ACC 55 1;
    FLAT_ACC 55 1;

    DS_OFFSET 0 16;
    DS_ADDR 32 8;
    DS_DATA0 40 8;
    DS_DATA1 48 8;
    DS_VDST 56 8;

    MUBUF_OFFSET 0 12;
    MUBUF_VADDR 32 8;
    MUBUF_VDATA 40 8;
    MUBUF_SRSRC 48 5;
    MUBUF_SOFFSET 56 8;

    FLAT_SEG 14 2;
    FLAT_ADDR 32 8;
    FLAT_DATA 40 8;
    FLAT_SADDR 48 7;
    FLAT_VDST 56 8;
}

/// Value of the field `saddr` that means "no SGPR base" for GLOBAL and SCRATCH instructions before GFX10. On
/// GFX10, it means for a SCRATCH instruction that there is no address register at all.
pub(crate) const SADDR_OFF: u32 = 0x7f;
/// Code of the register `null`. In the field of an SGPR, GFX10 uses it for "no SGPR".
pub(crate) const NULL: u32 = 0x7d;
/// Value of `src0` that announces an SDWA dword.
pub(crate) const SRC_SDWA: u32 = 249;
/// Value of `src0` that announces a DPP dword.
pub(crate) const SRC_DPP: u32 = 250;
/// Value of the field `src0` that says that the second dword is a DPP8 dword. The value is without its low
/// two bits, which are 1, or 2 if inactive lanes are also read.
pub(crate) const SRC_DPP8: u32 = 232;
/// Source code of a literal.
pub(crate) const SRC_LITERAL: u32 = 255;

/// Encodings of instruction words. An instruction of one family may have several encodings: a VOP2
/// instruction, for example, `Vop32`, `Vop3`, `Sdwa` or `Dpp`.
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
    Dpp8,
    Vop3,
    Vop3p,
    Ds,
    Mubuf,
    Flat,
}

impl Encoding {
    /// Returns the encoding for an instruction in a form. `None` if the instruction has no such form, or if
    /// the module `graphics` encodes it. `lane` tells DPP and DPP8 apart.
    #[inline]
    pub fn of(target: &Target, row: &Row, form: Form, lane: Lane) -> Option<Encoding> {
        Some(match row.family {
            Family::Pseudo | Family::Mtbuf | Family::Mimg | Family::Exp | Family::Vintrp => return None,
            Family::Sop1 => Encoding::Sop1,
            Family::Sop2 => Encoding::Sop2,
            Family::Sopk => Encoding::Sopk,
            Family::Sopc => Encoding::Sopc,
            Family::Sopp => Encoding::Sopp,
            Family::Smem => Encoding::Smem,
            Family::Vop1 | Family::Vop2 | Family::Vopc => return Encoding::of_vop(target, row, form, lane),
            Family::Vop3 => Encoding::Vop3,
            Family::Vop3p => Encoding::Vop3p,
            Family::Ds => Encoding::Ds,
            Family::Mubuf => Encoding::Mubuf,
            Family::Flat | Family::Global | Family::Scratch => Encoding::Flat,
        })
    }

    #[inline]
    fn of_vop(target: &Target, row: &Row, form: Form, lane: Lane) -> Option<Encoding> {
        let (encoding, unless) = match form {
            // An instruction with only one form needs no explicit form.
            Form::Full if row.flags.contains(Flags::NO_E64) => (Encoding::Vop32, Flags::empty()),
            Form::Full => (Encoding::Vop3, Flags::NO_E64),
            Form::E32 => (Encoding::Vop32, Flags::NO_E32),
            Form::Sdwa if target.has(Feature::SDWA) => (Encoding::Sdwa, Flags::NO_SDWA),
            Form::Dpp if row.family == Family::Vopc || !target.has(Feature::DPP) => return None,
            // 64-bit instructions have DPP only on gfx90a, where it is limited to `row_newbcast`.
            Form::Dpp if row.flags.contains(Flags::DPP64) && !target.has(Feature::GFX90A) => return None,
            Form::Dpp if matches!(lane, Lane::Dpp8 { .. }) => match target.generation {
                Generation::Gfx10 => (Encoding::Dpp8, Flags::NO_DPP),
                _ => return None,
            },
            Form::Dpp => (Encoding::Dpp, Flags::NO_DPP),
            Form::Sdwa => return None,
        };
        (!row.flags.intersects(unless)).then_some(encoding)
    }

    /// Returns the number of dwords without a literal.
    pub const fn words(self, generation: Generation) -> usize {
        match self {
            Encoding::Sop1
            | Encoding::Sop2
            | Encoding::Sopk
            | Encoding::Sopc
            | Encoding::Sopp
            | Encoding::Vop32 => 1,
            Encoding::Smem if matches!(generation, Generation::Gfx6 | Generation::Gfx7) => 1,
            _ => 2,
        }
    }

    /// Returns whether a literal can follow an instruction in this encoding.
    pub const fn has_literals(self, generation: Generation) -> bool {
        match self {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk | Encoding::Vop32 => true,
            Encoding::Vop3 | Encoding::Vop3p => matches!(generation, Generation::Gfx10),
            _ => false,
        }
    }
}

/// Returns the constant bits of a family's own encoding, and the field of its opcode. For a family with a
/// 32-bit and a 64-bit encoding, this is the 32-bit one.
#[inline]
pub(crate) fn family_pattern(generation: Generation, family: Family) -> (u64, Field) {
    PATTERNS[generation as usize][family as usize]
}

/// Results of [`pattern`] for all generations and families. They are precomputed because each instruction
/// that is encoded or decoded needs one.
static PATTERNS: [[(u64, Field); Family::COUNT]; Generation::COUNT] = {
    let mut all = [[(0, ABSENT); Family::COUNT]; Generation::COUNT];
    let mut generation = 0;
    while generation < Generation::COUNT {
        let mut family = 0;
        while family < Family::COUNT {
            all[generation][family] = pattern(Generation::ALL[generation], Family::ALL[family]);
            family += 1;
        }
        generation += 1;
    }
    all
};

const fn pattern(generation: Generation, family: Family) -> (u64, Field) {
    match (family, generation) {
        (Family::Sop2, _) => (0b10 << 30, Field::new(23, 7)),
        (Family::Sopk, _) => (0b1011 << 28, Field::new(23, 5)),
        (Family::Sop1, _) => (0b1_0111_1101 << 23, Field::new(8, 8)),
        (Family::Sopc, _) => (0b1_0111_1110 << 23, Field::new(16, 7)),
        (Family::Sopp, _) => (0b1_0111_1111 << 23, Field::new(16, 7)),
        (Family::Smem, Gfx6 | Gfx7) => (0b1_1000 << 27, Field::new(22, 5)),
        (Family::Smem, Gfx8 | Gfx9) => (0b11_0000 << 26, Field::new(18, 8)),
        (Family::Smem, Gfx10) => (0b11_1101 << 26, Field::new(18, 8)),
        (Family::Vop2, _) => (0, Field::new(25, 6)),
        (Family::Vop1, _) => (0b011_1111 << 25, Field::new(9, 8)),
        (Family::Vopc, _) => (0b011_1110 << 25, Field::new(17, 8)),
        (Family::Vop3, Gfx6 | Gfx7) => (0b11_0100 << 26, Field::new(17, 9)),
        (Family::Vop3, Gfx8 | Gfx9) => (0b11_0100 << 26, Field::new(16, 10)),
        (Family::Vop3, Gfx10) => (0b11_0101 << 26, Field::new(16, 10)),
        (Family::Vop3p, Gfx6 | Gfx7 | Gfx8 | Gfx9) => (0b1_1010_0111 << 23, Field::new(16, 7)),
        (Family::Vop3p, Gfx10) => (0b1_1001_1000 << 23, Field::new(16, 7)),
        (Family::Ds, Gfx6 | Gfx7 | Gfx10) => (0b11_0110 << 26, Field::new(18, 8)),
        (Family::Ds, Gfx8 | Gfx9) => (0b11_0110 << 26, Field::new(17, 8)),
        (Family::Mubuf, Gfx6 | Gfx7 | Gfx8 | Gfx9) => (0b11_1000 << 26, Field::new(18, 7)),
        (Family::Mubuf, Gfx10) => (0b11_1000 << 26, Field::new(18, 8)),
        (Family::Flat, _) => (0b11_0111 << 26, Field::new(18, 7)),
        (Family::Scratch, _) => (0b11_0111 << 26 | 1 << 14, Field::new(18, 7)),
        (Family::Global, _) => (0b11_0111 << 26 | 2 << 14, Field::new(18, 7)),
        // These families are not encoded here.
        (Family::Pseudo | Family::Mtbuf | Family::Mimg | Family::Exp | Family::Vintrp, _) => (0, ABSENT),
    }
}

/// Returns the number that is added to an opcode of the family to get the VOP3 opcode of the same
/// instruction.
pub(crate) const fn vop3_base(generation: Generation, family: Family) -> u32 {
    match (family, generation) {
        (Family::Vop2, _) => 0x100,
        (Family::Vop1, Gfx8 | Gfx9) => 0x140,
        (Family::Vop1, _) => 0x180,
        _ => 0,
    }
}

/// A single-bit modifier and its position.
pub(crate) type FlagBit = (Field, ModFlags);

const fn flag(bit: u8, flag: ModFlags) -> FlagBit {
    (Field::new(bit, 1), flag)
}

/// Positions of fields that differ between generations; opcode fields are in [`pattern`]. A field that a
/// generation does not have has a width of 0 bits.
pub(crate) struct Layout {
    pub vop3_clamp: [FlagBit; 1],
    pub vop3_op_sel: Field,
    /// Output modifier of SDWA. Absent on GFX8, where SDWA has no output modifier. Scalar sources, see
    /// `sdwa_scalars`, are absent there too.
    pub sdwa_omod: Field,
    pub sdwa_scalars: bool,
    /// Valid control words of DPP.
    pub dpp_ctrl: &'static [RangeInclusive<u16>],
    smem: &'static [FlagBit],
    dpp: &'static [FlagBit],
    ds: &'static [FlagBit],
    mubuf: &'static [FlagBit],
    flat: &'static [FlagBit],
    pub spare: Spare,
}

/// For each encoding, the bits outside of all fields that LLVM's disassembler ignores. They were determined
/// for GFX8 to GFX10.
pub(crate) struct Spare {
    pub smem: u64,
    pub ds: u64,
    pub mubuf: u64,
    /// Bits that LLVM's disassembler ignores in an MUBUF instruction without operands, such as a cache
    /// invalidation: the offset, registers and cache flags.
    pub mubuf_bare: u64,
    pub flat: u64,
    pub sdwa: u64,
    /// Additional ignored bits of an SDWA compare.
    pub sdwa_compare: u64,
    pub dpp: u64,
}

/// MUBUF bits that are ignored in an instruction without operands: the fields of offset and registers, and
/// the bits between them.
const MUBUF_BARE: u64 = 0xff7f_ffff_0202_0fff;

/// DPP control words of GFX8 and GFX9: `quad_perm`; `row_shl`, `row_shr` and `row_ror` by 1 to 15;
/// `wave_shl`, `wave_rol`, `wave_shr` and `wave_ror` by 1; `row_mirror`, `row_half_mirror`; `row_bcast` of 15
/// and 31.
const DPP_CTRL_GFX8: [RangeInclusive<u16>; 9] = [
    0..=0xff,
    0x101..=0x10f,
    0x111..=0x11f,
    0x121..=0x12f,
    0x130..=0x130,
    0x134..=0x134,
    0x138..=0x138,
    0x13c..=0x13c,
    0x140..=0x143,
];
/// gfx90a: additionally `row_newbcast`.
const DPP_CTRL_GFX90A: [RangeInclusive<u16>; 10] = {
    let [a, b, c, d, e, f, g, h, i] = DPP_CTRL_GFX8;
    [a, b, c, d, e, f, g, h, i, 0x150..=0x15f]
};
/// DPP control words of GFX10. The words that move data across rows are missing; `row_share` and `row_xmask`
/// are new.
const DPP_CTRL_GFX10: [RangeInclusive<u16>; 6] =
    [0..=0xff, 0x101..=0x10f, 0x111..=0x11f, 0x121..=0x12f, 0x140..=0x141, 0x150..=0x16f];

pub(crate) const ABSENT: Field = Field::new(0, 0);
const GLC: ModFlags = ModFlags::GLC;
const SLC: ModFlags = ModFlags::SLC;
const DLC: ModFlags = ModFlags::DLC;
const LDS: ModFlags = ModFlags::LDS;
const TFE: ModFlags = ModFlags::TFE;
const OFFEN: FlagBit = flag(12, ModFlags::OFFEN);
const IDXEN: FlagBit = flag(13, ModFlags::IDXEN);
const BOUND_CTRL: FlagBit = flag(51, ModFlags::BOUND_CTRL);

static GFX6_LAYOUT: Layout = Layout {
    vop3_clamp: [flag(11, ModFlags::CLAMP)],
    vop3_op_sel: ABSENT,
    sdwa_omod: ABSENT,
    sdwa_scalars: false,
    dpp_ctrl: &[],
    smem: &[],
    dpp: &[],
    ds: &[flag(17, ModFlags::GDS)],
    mubuf: &[
        flag(14, GLC),
        flag(54, SLC),
        OFFEN,
        IDXEN,
        flag(15, ModFlags::ADDR64),
        flag(16, LDS),
        flag(55, TFE),
    ],
    flat: &[flag(16, GLC), flag(17, SLC)],
    spare: Spare { smem: 0, ds: 0, mubuf: 0, mubuf_bare: 0, flat: 0, sdwa: 0, sdwa_compare: 0, dpp: 0 },
};
static GFX8_LAYOUT: Layout = Layout {
    vop3_clamp: [flag(15, ModFlags::CLAMP)],
    vop3_op_sel: ABSENT,
    sdwa_omod: ABSENT,
    sdwa_scalars: false,
    dpp_ctrl: &DPP_CTRL_GFX8,
    smem: &[flag(16, GLC)],
    dpp: &[BOUND_CTRL],
    ds: &[flag(16, ModFlags::GDS)],
    mubuf: &[flag(14, GLC), flag(17, SLC), OFFEN, IDXEN, flag(16, LDS), flag(55, TFE)],
    flat: &[flag(16, GLC), flag(17, SLC)],
    spare: Spare {
        smem: 7 << 13 | 0xffff_ffff << 32,
        ds: 1 << 25,
        mubuf: 3 << 53 | 1 << 25 | 1 << 15,
        mubuf_bare: MUBUF_BARE,
        flat: 1 << 55 | 1 << 25,
        sdwa: 3 << 62 | 3 << 54 | 3 << 46,
        // The whole destination field except `clamp`.
        sdwa_compare: 0x1f << 40,
        dpp: 3 << 49,
    },
};
static GFX9_LAYOUT: Layout = Layout {
    vop3_clamp: [flag(15, ModFlags::CLAMP)],
    vop3_op_sel: Field::new(11, 4),
    sdwa_omod: SDWA_OMOD,
    sdwa_scalars: true,
    dpp_ctrl: &DPP_CTRL_GFX8,
    smem: &[flag(16, GLC)],
    dpp: &[BOUND_CTRL],
    ds: &[flag(16, ModFlags::GDS)],
    mubuf: &[flag(14, GLC), flag(17, SLC), OFFEN, IDXEN, flag(16, LDS), flag(55, TFE)],
    flat: &[flag(16, GLC), flag(17, SLC), flag(13, LDS)],
    spare: Spare {
        smem: 7 << 13 | 0xffff_ffff << 32,
        ds: 1 << 25,
        mubuf: 3 << 53 | 1 << 25 | 1 << 15,
        mubuf_bare: MUBUF_BARE,
        flat: 1 << 55 | 1 << 25,
        sdwa: 1 << 62 | 1 << 54,
        sdwa_compare: 0,
        dpp: 3 << 49,
    },
};
/// gfx90a differs from GFX9: it has an additional scope bit (`scc`), and no bits for `tfe` and `nv`, because
/// these positions say that data is in accumulation registers.
static GFX90A_LAYOUT: Layout = Layout {
    vop3_clamp: [flag(15, ModFlags::CLAMP)],
    vop3_op_sel: Field::new(11, 4),
    sdwa_omod: SDWA_OMOD,
    sdwa_scalars: true,
    dpp_ctrl: &DPP_CTRL_GFX90A,
    smem: &[flag(16, GLC)],
    dpp: &[BOUND_CTRL],
    ds: &[flag(16, ModFlags::GDS)],
    mubuf: &[flag(14, GLC), flag(17, SLC), OFFEN, IDXEN, flag(16, LDS), flag(15, ModFlags::SCC)],
    flat: &[flag(16, GLC), flag(17, SLC), flag(13, LDS), flag(25, ModFlags::SCC)],
    spare: Spare {
        smem: 7 << 13 | 0xffff_ffff << 32,
        ds: 1 << 25,
        mubuf: 3 << 53 | 1 << 25,
        mubuf_bare: MUBUF_BARE,
        flat: 1 << 55,
        sdwa: 1 << 62 | 1 << 54,
        sdwa_compare: 0,
        dpp: 3 << 49,
    },
};
static GFX10_LAYOUT: Layout = Layout {
    vop3_clamp: [flag(15, ModFlags::CLAMP)],
    vop3_op_sel: Field::new(11, 4),
    sdwa_omod: SDWA_OMOD,
    sdwa_scalars: true,
    dpp_ctrl: &DPP_CTRL_GFX10,
    smem: &[flag(16, GLC), flag(14, DLC)],
    dpp: &[BOUND_CTRL, flag(50, ModFlags::FETCH_INACTIVE)],
    ds: &[flag(17, ModFlags::GDS)],
    mubuf: &[flag(14, GLC), flag(54, SLC), flag(15, DLC), OFFEN, IDXEN, flag(16, LDS), flag(55, TFE)],
    flat: &[flag(16, GLC), flag(17, SLC), flag(12, DLC), flag(13, LDS)],
    spare: Spare {
        smem: 0xf << 53 | 1 << 17 | 1 << 15 | 1 << 13,
        ds: 1 << 16,
        mubuf: 1 << 53 | 1 << 25 | 1 << 17,
        mubuf_bare: MUBUF_BARE,
        flat: 1 << 25,
        sdwa: 1 << 62 | 1 << 54,
        sdwa_compare: 0,
        dpp: 1 << 49,
    },
};

impl Layout {
    /// Returns the layout of a processor.
    pub fn of(target: &Target) -> &'static Layout {
        match target.generation {
            Gfx6 | Gfx7 => &GFX6_LAYOUT,
            Gfx8 => &GFX8_LAYOUT,
            Gfx9 if target.has(Feature::GFX90A) => &GFX90A_LAYOUT,
            Gfx9 => &GFX9_LAYOUT,
            Gfx10 => &GFX10_LAYOUT,
        }
    }

    /// Returns the single-bit modifiers that exist in an encoding, with their positions.
    pub fn flags(&'static self, encoding: Encoding) -> &'static [FlagBit] {
        match encoding {
            Encoding::Smem => self.smem,
            Encoding::Sdwa => &const { [(SDWA_CLAMP, ModFlags::CLAMP)] },
            Encoding::Dpp => self.dpp,
            Encoding::Vop3 | Encoding::Vop3p => &self.vop3_clamp,
            Encoding::Ds => self.ds,
            Encoding::Mubuf => self.mubuf,
            Encoding::Flat => self.flat,
            _ => &[],
        }
    }
}

/// Returns the bits that are set in each encoded instruction of this row and encoding, whatever its operands
/// and modifiers.
#[inline]
pub(crate) fn fixed_bits(target: &Target, row: &Row, encoding: Encoding) -> u64 {
    match (target.generation, encoding) {
        (Gfx10, Encoding::Flat) if row.family == Family::Flat => FLAT_SADDR.put(NULL),
        // This `v_cmpx` writes EXEC and nothing else.
        (Gfx10, Encoding::Vop3) if row.family == Family::Vopc && row.ops[0].role == Role::Use => {
            VOP3_DST.put(126)
        }
        // Moves from and to accumulation VGPRs are VOP3P instructions without `op_sel`, but the `op_sel_hi`
        // bits must be set as in a packed instruction.
        (_, Encoding::Vop3p) if row.has_kind(Kind::Agpr) => VOP3P_OP_SEL_HI.put(3) | VOP3P_OP_SEL_HI2.put(1),
        _ => 0,
    }
}
