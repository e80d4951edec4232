//! Positions of the fields in instruction words, used by both the encoder and the decoder.
//!
//! An instruction has one or two dwords, and possibly a literal after these. This module treats the one or
//! two dwords as one 64-bit number, with the first dword in the low half. The module `slots` determines which
//! fields hold which operand.

use crate::inst::{Form, Lane, ModFlags};
use crate::table::{Family, Flags, Kind, Role, Row};
use crate::target::{Feature, Target};
use std::ops::RangeInclusive;

/// A field of bits in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    lo: u8,
    bits: u8,
}

impl Field {
    pub const fn new(lo: u8, bits: u8) -> Field {
        Field { lo, bits }
    }

    /// Returns the value, shifted to the position of the field. Bits of the value that do not fit in the
    /// field are dropped.
    pub const fn put(self, value: u32) -> u64 {
        (value as u64 & self.mask()) << self.lo
    }

    /// Returns the number of bits of the field.
    pub const fn width(self) -> u32 {
        self.bits as u32
    }

    /// Returns the value of the field in a word.
    pub const fn get(self, word: u64) -> u32 {
        ((word >> self.lo) & self.mask()) as u32
    }

    /// Returns a mask of the field's bits at their position in the word.
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

    /// Returns the value of the field in a word, extended with its sign.
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

    /// Offset field of SMRD on GFX6 and GFX7, in dwords. The instruction has one dword.
    SMRD_OFFSET 0 8;
    SMRD_IMM 8 1;
    SMRD_SBASE 9 6;
    SMRD_SDATA 15 7;

    SMEM_SBASE 0 6;
    SMEM_SDATA 6 7;
    /// Bit on GFX9 that is set if the offset is the sum of an SGPR and the immediate.
    SMEM_SOE 14 1;
    SMEM_IMM 17 1;
    /// Offset field of SMEM. The next field is the one of GFX8, which is one bit shorter and unsigned.
    SMEM_OFFSET 32 21;
    SMEM_OFFSET_GFX8 32 20;
    /// Field for the SGPR of the offset, if there is no immediate (GFX8, GFX9).
    SMEM_OFFSET_REG 32 7;
    /// Field for the SGPR of the offset. GFX9 uses this field only if there is also an immediate offset.
    /// GFX10 always uses it.
    SMEM_SOFFSET 57 7;

    VDST 17 8;
    SRC0 0 9;
    VSRC1 9 8;

    /// Field for the first source in SDWA and DPP.
    LANE_SRC0 32 8;
    SDWA_DST_SEL 40 3;
    SDWA_DST_UNUSED 43 2;
    SDWA_CLAMP 45 1;
    SDWA_OMOD 46 2;
    SDWA_SRC0_SEL 48 3;
    SDWA_SEXT0 51 1;
    /// Field for the destination of a VOPC instruction in SDWA. The next field says whether this destination
    /// is explicit.
    SDWA_SDST 40 7;
    SDWA_SD 47 1;
    /// Bit for `neg` of a source. The bit for `abs` follows.
    SDWA_NEG0 52 1;
    SDWA_ABS0 53 1;
    SDWA_S0 55 1;
    SDWA_SRC1_SEL 56 3;
    SDWA_SEXT1 59 1;
    SDWA_NEG1 60 1;
    SDWA_ABS1 61 1;
    SDWA_S1 63 1;

    DPP_CTRL 40 9;
    /// Field for the eight lane numbers of `dpp8`.
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

    /// Bit of matrix instructions that is set if the addend and the result are in accumulation VGPRs. The
    /// next two fields say the same about the two factors.
    MFMA_ACC_SUM 15 1;
    MFMA_ACC_A 59 1;
    MFMA_ACC_B 60 1;
    MFMA_CBSZ 8 3;
    MFMA_ABID 11 4;
    MFMA_BLGP 61 3;

    /// Bits on gfx90a that are set if the data of a memory instruction is in accumulation VGPRs. This field
    /// is for DS; the next fields are for MUBUF and FLAT.
    DS_ACC 25 1;
    MUBUF_ACC 55 1;
    FLAT_ACC 55 1;
    /// gfx940: set if the address of a SCRATCH instruction has a VGPR.
    SCRATCH_VADDR 13 1;

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

/// Value of the field `saddr` that means "no SGPR base". It applies to GLOBAL and SCRATCH instructions before
/// GFX10. In a SCRATCH instruction of GFX10, it means that there is no address register at all.
pub(crate) const SADDR_OFF: u32 = 0x7f;
/// Code of the register `null`. GFX10 uses it in the field of an SGPR for "no SGPR".
pub(crate) const NULL: u32 = 0x7d;
/// Value of the field `src0` that says that the second dword is an SDWA dword.
pub(crate) const SRC_SDWA: u32 = 249;
/// Value of the field `src0` that says that the second dword is a DPP dword.
pub(crate) const SRC_DPP: u32 = 250;
/// Value of the field `src0` that says that the second dword is a DPP8 dword, without its low two bits. These
/// bits are 1, or 2 if inactive lanes are also read.
pub(crate) const SRC_DPP8: u32 = 232;
/// Code of a source that is a literal.
pub(crate) const SRC_LITERAL: u32 = 255;

/// Encodings of instruction words. An instruction of one family may have several encodings. For example, a
/// VOP2 instruction may have `Vop32`, `Vop3`, `Sdwa` or `Dpp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Encoding {
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    /// Encoding of VOP1, VOP2 and VOPC instructions in one dword.
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
    /// Returns the encoding of an instruction in a given form. Returns `None` if the instruction has no such
    /// form, or if the module `graphics` encodes it. `lane` says whether the form is DPP or DPP8.
    #[inline]
    pub fn for_row(target: &Target, row: &Row, form: Form, lane: Lane) -> Option<Encoding> {
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
            Form::Dpp if row.flags.contains(Flags::DPP64) && !target.has(Feature::DPP64) => return None,
            Form::Dpp if matches!(lane, Lane::Dpp8 { .. }) => match Layout::for_target(target).dpp8 {
                true => (Encoding::Dpp8, Flags::NO_DPP),
                false => return None,
            },
            Form::Dpp => (Encoding::Dpp, Flags::NO_DPP),
            Form::Sdwa => return None,
        };
        (!row.flags.intersects(unless)).then_some(encoding)
    }

    /// Returns the number of dwords of the encoding, without a literal.
    pub const fn words(self, layout: &Layout) -> usize {
        match self {
            Encoding::Sop1
            | Encoding::Sop2
            | Encoding::Sopk
            | Encoding::Sopc
            | Encoding::Sopp
            | Encoding::Vop32 => 1,
            Encoding::Smem if layout.scalar_offsets.in_dwords() => 1,
            _ => 2,
        }
    }

    /// Returns whether a literal can follow an instruction in this encoding.
    pub const fn has_literals(self, layout: &Layout) -> bool {
        match self {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk | Encoding::Vop32 => true,
            Encoding::Vop3 | Encoding::Vop3p => layout.vop3_literals,
            _ => false,
        }
    }
}

/// Bits by which an instruction of a family is recognised: the constant bits of the encoding, and the field
/// of the opcode. If the family has a 32-bit and a 64-bit encoding, this is the pattern of the 32-bit
/// encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    pub bits: u64,
    /// How many top bits of the first dword distinguish this family from all others. It is 0 if no processor
    /// of the architecture has the encoding, or if the module `graphics` encodes it.
    pub prefix: u8,
    pub opcode: Field,
}

/// The patterns of all families of instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patterns([Pattern; Family::COUNT]);

impl Patterns {
    /// The patterns that are the same on all processors.
    pub const COMMON: Patterns = {
        let absent = Pattern { bits: 0, prefix: 0, opcode: ABSENT };
        Patterns([absent; Family::COUNT])
            .with(Family::Sop2, 0b10, 2, Field::new(23, 7))
            .with(Family::Sopk, 0b1011, 4, Field::new(23, 5))
            .with(Family::Sop1, 0b1_0111_1101, 9, Field::new(8, 8))
            .with(Family::Sopc, 0b1_0111_1110, 9, Field::new(16, 7))
            .with(Family::Sopp, 0b1_0111_1111, 9, Field::new(16, 7))
            .with(Family::Vop2, 0, 1, Field::new(25, 6))
            .with(Family::Vop1, 0b011_1111, 7, Field::new(9, 8))
            .with(Family::Vopc, 0b011_1110, 7, Field::new(17, 8))
    };

    /// Returns the patterns with a new pattern for one family. In the new pattern, the top `prefix` bits of
    /// the first dword are `top`, and the opcode is in the field `opcode`.
    pub const fn with(mut self, family: Family, top: u64, prefix: u8, opcode: Field) -> Patterns {
        self.0[family as usize] = Pattern { bits: top << (32 - prefix), prefix, opcode };
        self
    }

    /// Returns the patterns with more constant bits in the pattern of one family.
    pub const fn and(mut self, family: Family, bits: u64) -> Patterns {
        self.0[family as usize].bits |= bits;
        self
    }

    /// Returns the patterns with those of the FLAT encoding added, for its three segments.
    pub const fn with_flat(self) -> Patterns {
        let opcode = Field::new(18, 7);
        self.with(Family::Flat, 0b11_0111, 6, opcode)
            .with(Family::Scratch, 0b11_0111, 6, opcode)
            .and(Family::Scratch, 1 << 14)
            .with(Family::Global, 0b11_0111, 6, opcode)
            .and(Family::Global, 2 << 14)
    }

    /// Returns the pattern of a family of instructions.
    #[inline]
    pub const fn of(&self, family: Family) -> &Pattern {
        &self.0[family as usize]
    }

    /// Returns the family of instructions to which a first dword belongs, given its top nine bits. This is
    /// the family with the longest matching prefix. The FLAT encoding counts as [`Family::Flat`] for every
    /// segment.
    pub fn family(&self, top: u32) -> Option<Family> {
        let matches = |pattern: &Pattern| {
            let shift = 32 - u32::from(pattern.prefix);
            pattern.prefix > 0 && u64::from(top << 23 >> shift) == pattern.bits >> shift
        };
        let found = Family::ALL.into_iter().filter(|&family| {
            !matches!(family, Family::Global | Family::Scratch) && matches(self.of(family))
        });
        found.max_by_key(|&family| self.of(family).prefix)
    }
}

/// How a scalar memory access encodes its offset.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScalarOffsets {
    /// The offset is a number of dwords, or an SGPR. The instruction has one dword.
    Dwords,
    /// The offset is as for [`ScalarOffsets::Dwords`], or a literal.
    DwordsOrLiteral,
    /// The offset is an unsigned number of bytes, or an SGPR.
    Unsigned,
    /// The offset is a signed number of bytes, an SGPR, or the sum of both.
    Signed,
    /// The offset is the sum of an SGPR, which may be `null`, and a signed offset in bytes.
    Sum,
}

impl ScalarOffsets {
    /// Returns whether the offset is in dwords.
    pub const fn in_dwords(self) -> bool {
        matches!(self, ScalarOffsets::Dwords | ScalarOffsets::DwordsOrLiteral)
    }

    /// Returns whether the offset may be negative.
    pub const fn is_signed(self) -> bool {
        matches!(self, ScalarOffsets::Signed | ScalarOffsets::Sum)
    }
}

/// A modifier of one bit and the position of the bit.
pub(crate) type FlagBit = (Field, ModFlags);

pub(crate) const fn flag(bit: u8, flag: ModFlags) -> FlagBit {
    (Field::new(bit, 1), flag)
}

/// Positions of the fields that differ between architectures, and other facts about encodings. A field that
/// an architecture does not have has a width of 0 bits.
#[derive(Clone, Copy)]
pub struct Layout {
    pub(crate) patterns: Patterns,
    /// Number that is added to a VOP1 opcode to get the opcode of the same instruction in the VOP3 encoding.
    pub(crate) vop1_in_vop3: u32,
    /// How scalar memory accesses encode their offsets.
    pub(crate) scalar_offsets: ScalarOffsets,
    /// Whether a literal can follow VOP3 and VOP3P instructions.
    pub(crate) vop3_literals: bool,
    /// How many different values a vector instruction may take over the constant bus. For some vector
    /// instructions the number is smaller.
    pub(crate) constant_bus: usize,
    /// Whether DPP8 exists.
    pub(crate) dpp8: bool,
    /// Value of the field `saddr` that means "no SGPR base".
    pub(crate) no_base: u32,
    /// Value of the field `saddr` in FLAT instructions. FLAT instructions have no SGPR base, so the field
    /// always has the same value.
    pub(crate) flat_base: u32,
    /// Whether `v_writelane_b32` can read its value directly from LDS.
    pub(crate) writes_lane_from_lds: bool,
    /// Whether LLVM's disassembler writes `v_pk_fmac_f16` with the suffix `_e32`.
    pub(crate) pk_fmac_has_suffix: bool,
    /// Whether LLVM's assembler lets all short forms omit their lane masks: all masks of an instruction or
    /// none. If not, only comparisons, selections and some additions may omit a mask.
    pub(crate) omits_masks_together: bool,
    pub(crate) graphics: Graphics,
    pub(crate) vop3_clamp: [FlagBit; 1],
    pub(crate) vop3_op_sel: Field,
    /// Field of the output modifier of SDWA. It is absent on GFX8, where SDWA has no output modifier. SDWA
    /// has no scalar sources there either; see `sdwa_scalars`.
    pub(crate) sdwa_omod: Field,
    pub(crate) sdwa_scalars: bool,
    /// Ranges of the valid control words of DPP.
    pub(crate) dpp_ctrl: &'static [RangeInclusive<u16>],
    pub(crate) smem: &'static [FlagBit],
    pub(crate) dpp: &'static [FlagBit],
    pub(crate) ds: &'static [FlagBit],
    pub(crate) mubuf: &'static [FlagBit],
    pub(crate) flat: &'static [FlagBit],
    pub(crate) spare: Spare,
}

/// Facts about graphics instructions.
#[derive(Clone, Copy)]
pub(crate) struct Graphics {
    /// Top six bits of the first dword in the encoding of exports. The next two fields are the same for the
    /// encoding of interpolation (`interp`), and for VOP3 (`vop3`).
    pub export: u32,
    pub interp: u32,
    pub vop3: u32,
    /// Number that is added to the opcode of an interpolation instruction to get the opcode of the same
    /// instruction in the VOP3 encoding. `None` if there is no VOP3 form.
    pub interp_in_vop3: Option<u32>,
    /// The fields with the low and the high bits of an MTBUF opcode.
    pub typed_opcode: (Field, Field),
    /// Bits that LLVM's disassembler ignores in MTBUF instructions. The next field has those of MIMG
    /// instructions.
    pub typed_spare: u64,
    pub image_spare: u64,
    pub typed_flags: &'static [(ModFlags, Field)],
    pub image_flags: &'static [(ModFlags, Field)],
    /// Whether image instructions contain the dimension of the image.
    pub image_dims: bool,
    /// Whether a buffer format is one number. Otherwise it is a pair of a data format and a numeric format.
    pub unified_formats: bool,
    /// Whether numeric format 6 has the name `SNORM_OGL`.
    pub snorm_ogl: bool,
    /// Whether there are the export targets `pos4` and `prim`.
    pub more_export_targets: bool,
}

/// For each encoding, a mask of the bits outside of all fields that LLVM's disassembler ignores. They were
/// determined for GFX8 to GFX10.
#[derive(Clone, Copy)]
pub(crate) struct Spare {
    pub smem: u64,
    pub ds: u64,
    pub mubuf: u64,
    /// Bits that LLVM's disassembler ignores in a MUBUF instruction without operands, such as a cache
    /// invalidation. They are the offset, the registers and the cache flags.
    pub mubuf_bare: u64,
    pub flat: u64,
    pub sdwa: u64,
    /// Bits that LLVM's disassembler ignores in a compare with SDWA, in addition to those in `sdwa`.
    pub sdwa_compare: u64,
    pub dpp: u64,
    /// Bits that hardware ignores in an instruction that exists only in the VOP3 encoding and has two sources.
    /// LLVM has no disassembler for GFX6 and GFX7. AMD's compilers for GFX6 wrote the constant 0 there, in the
    /// field of the third source.
    pub vop3_two_sources: u64,
}

/// Bits that LLVM's disassembler ignores in a MUBUF instruction without operands: the fields of the offset
/// and of registers, and the bits between them.
pub(crate) const MUBUF_BARE: u64 = 0xff7f_ffff_0202_0fff;

/// DPP control words of GFX8 and GFX9. They are `quad_perm`; `row_shl`, `row_shr` and `row_ror` by 1 to 15;
/// `wave_shl`, `wave_rol`, `wave_shr` and `wave_ror` by 1; `row_mirror` and `row_half_mirror`; `row_bcast` of
/// 15 and 31.
pub(crate) const DPP_CTRL_GFX8: [RangeInclusive<u16>; 9] = [
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
/// DPP control words of gfx90a, which also has `row_newbcast`.
pub(crate) const DPP_CTRL_GFX90A: [RangeInclusive<u16>; 10] = {
    let [a, b, c, d, e, f, g, h, i] = DPP_CTRL_GFX8;
    [a, b, c, d, e, f, g, h, i, 0x150..=0x15f]
};
/// DPP control words of GFX10. Those words of GFX9 are missing that move data across rows; `row_share` and
/// `row_xmask` are new.
pub(crate) const DPP_CTRL_GFX10: [RangeInclusive<u16>; 6] =
    [0..=0xff, 0x101..=0x10f, 0x111..=0x11f, 0x121..=0x12f, 0x140..=0x141, 0x150..=0x16f];

pub(crate) const ABSENT: Field = Field::new(0, 0);
pub(crate) const GLC: ModFlags = ModFlags::GLC;
pub(crate) const SLC: ModFlags = ModFlags::SLC;
pub(crate) const DLC: ModFlags = ModFlags::DLC;
pub(crate) const LDS: ModFlags = ModFlags::LDS;
pub(crate) const TFE: ModFlags = ModFlags::TFE;
pub(crate) const OFFEN: FlagBit = flag(12, ModFlags::OFFEN);
pub(crate) const IDXEN: FlagBit = flag(13, ModFlags::IDXEN);
pub(crate) const BOUND_CTRL: FlagBit = flag(51, ModFlags::BOUND_CTRL);

impl Layout {
    /// Returns the layout of a processor.
    #[inline]
    pub(crate) fn for_target(target: &Target) -> &'static Layout {
        target.arch.layout.known()
    }

    /// Returns the number that is added to an opcode of the family to get the opcode of the same instruction
    /// in the VOP3 encoding.
    pub(crate) const fn vop3_base(&self, family: Family) -> u32 {
        match family {
            Family::Vop2 => 0x100,
            Family::Vop1 => self.vop1_in_vop3,
            _ => 0,
        }
    }

    /// Returns whether memory instructions of some encoding have a single-bit modifier, such as `dlc`.
    pub fn has_flag(&self, flag: ModFlags) -> bool {
        let bits = self.smem.iter().chain(self.ds).chain(self.mubuf).chain(self.flat).map(|bit| bit.1);
        let graphics = self.graphics.typed_flags.iter().chain(self.graphics.image_flags).map(|bit| bit.0);
        bits.chain(graphics).any(|known| known == flag)
    }

    /// Returns whether a word is a control word of DPP.
    pub fn has_dpp_ctrl(&self, ctrl: u16) -> bool {
        self.dpp_ctrl.iter().any(|range| range.contains(&ctrl))
    }

    /// Returns whether a buffer format is one number, not a pair of a data format and a numeric format.
    pub const fn has_unified_formats(&self) -> bool {
        self.graphics.unified_formats
    }

    /// Returns whether numeric format 6 is defined: numbers from -1 to 1, converted as OpenGL does
    /// (`SNORM_OGL`).
    pub const fn has_ogl_formats(&self) -> bool {
        self.graphics.snorm_ogl
    }

    /// Returns whether image instructions contain the dimension of the image.
    pub const fn has_image_dims(&self) -> bool {
        self.graphics.image_dims
    }

    /// Returns whether LLVM's assembler lets every short form omit its lane masks. An instruction with two
    /// masks then omits both or none. Otherwise only comparisons, selections and some additions may omit a
    /// mask.
    pub const fn omits_masks_together(&self) -> bool {
        self.omits_masks_together
    }

    /// Returns whether VOP3 instructions have the field `op_sel`.
    pub const fn has_op_sel(&self) -> bool {
        self.vop3_op_sel.width() > 0
    }

    /// Returns whether the immediate offset of a scalar memory instruction may be negative.
    pub const fn has_signed_scalar_offsets(&self) -> bool {
        self.scalar_offsets.is_signed()
    }

    /// Returns whether a bit of a scalar memory instruction says that its offset is the sum of an SGPR and an
    /// immediate.
    pub const fn marks_sums_of_scalar_offsets(&self) -> bool {
        matches!(self.scalar_offsets, ScalarOffsets::Signed)
    }

    /// Returns the modifiers of one bit that exist in an encoding, with the positions of their bits.
    pub(crate) fn flags(&'static self, encoding: Encoding) -> &'static [FlagBit] {
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

/// Returns the bits that are set in every encoded instruction of this table row and encoding, for all
/// operands and modifiers.
#[inline]
pub(crate) fn fixed_bits(target: &Target, row: &Row, encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Flat if row.family == Family::Flat => FLAT_SADDR.put(Layout::for_target(target).flat_base),
        // This `v_cmpx` writes only EXEC, so its destination field has the code of EXEC.
        Encoding::Vop3 if row.family == Family::Vopc && row.ops[0].role == Role::Use => VOP3_DST.put(126),
        // An instruction that moves data from or to accumulation VGPRs is a VOP3P instruction without
        // `op_sel`. Its `op_sel_hi` bits must nevertheless be set as in a packed instruction.
        Encoding::Vop3p if row.has_kind(Kind::Agpr) => VOP3P_OP_SEL_HI.put(3) | VOP3P_OP_SEL_HI2.put(1),
        _ => 0,
    }
}
