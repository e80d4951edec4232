//! A machine instruction, with virtual or hardware registers.

use crate::operand::Operand;
use crate::table::Opcode;

/// Maximum number of explicit operands of an instruction.
pub const MAX_OPERANDS: usize = 6;

/// Form of an instruction: which of several encodings it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// The encoding of the instruction's own family, such as scalar, memory or VOP3. For VOP1, VOP2 and VOPC
    /// instructions, which also have shorter encodings, this is the 64-bit VOP3 encoding.
    #[default]
    Full,
    /// The 32-bit encoding of VOP1, VOP2 and VOPC instructions (`_e32`).
    E32,
    /// The encoding for sub-dword addressing (`_sdwa`).
    Sdwa,
    /// The encoding for data-parallel primitives (`_dpp`).
    Dpp,
}

macro_rules! optional_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No value.
            pub const NONE: $name = $name(u32::MAX);

            /// Returns the index. Returns `None` for the value `NONE`.
            pub fn index(self) -> Option<usize> {
                (self != Self::NONE).then_some(self.0 as usize)
            }
        }
    };
}
optional_id!(
    /// Index into `mir::MachFunc::notes`.
    NoteId
);
optional_id!(
    /// Index into `mir::MachFunc::mems`.
    MemId
);

bitflags::bitflags! {
    /// Modifiers of one bit, as a set.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ModFlags: u32 {
        /// `glc`: globally coherent. An atomic with it returns the old value.
        const GLC = 1;
        /// `slc`: system-level coherent.
        const SLC = 1 << 1;
        /// `dlc`: device-level coherent (GFX10).
        const DLC = 1 << 2;
        /// `clamp`: the result is clamped.
        const CLAMP = 1 << 3;
        /// `offen` of MUBUF: the address has a VGPR with an offset.
        const OFFEN = 1 << 4;
        /// `idxen` of MUBUF: the address has a VGPR with an index.
        const IDXEN = 1 << 5;
        /// `gds` of DS: the instruction accesses the global data share.
        const GDS = 1 << 6;
        /// `lds` of MUBUF and FLAT: the loaded data goes to LDS.
        const LDS = 1 << 7;
        /// `tfe`: texture fail enable.
        const TFE = 1 << 8;
        /// `bound_ctrl:0` of DPP: lanes without a source lane read zero.
        const BOUND_CTRL = 1 << 10;
        /// `addr64` of MUBUF on GFX6 and GFX7: VGPRs hold 64-bit addresses.
        const ADDR64 = 1 << 11;
        /// `scc` of gfx90a, which is a scope bit of memory instructions.
        const SCC = 1 << 12;
        /// `fi:1` of DPP (GFX10): inactive lanes are read as well.
        const FETCH_INACTIVE = 1 << 13;
        /// `unorm` of MIMG: coordinates are not normalised.
        const UNORM = 1 << 14;
        /// `da` of MIMG: the resource is an array of images.
        const DA = 1 << 15;
        /// `r128` of MIMG: the resource takes 128 bits.
        const R128 = 1 << 16;
        /// `a16` of MIMG: addresses have 16 bits.
        const A16 = 1 << 17;
        /// `d16` of MIMG and MTBUF: data has 16 bits.
        const D16 = 1 << 18;
        /// `lwe` of MIMG: LOD warning enable.
        const LWE = 1 << 19;
        /// `done` of EXP: this is the last export.
        const DONE = 1 << 20;
        /// `vm` of EXP: the valid mask is exported as well.
        const VM = 1 << 21;
        /// `compr` of EXP: each register has two 16-bit values.
        const COMPR = 1 << 22;
        /// `high` of VINTRP on 16 bits: the high half of the attribute is used.
        const HIGH = 1 << 23;
    }
}

/// Part of a dword that an SDWA operand selects. The discriminants are the codes of the hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum SdwaSel {
    Byte0 = 0,
    Byte1 = 1,
    Byte2 = 2,
    Byte3 = 3,
    Word0 = 4,
    Word1 = 5,
    #[default]
    Dword = 6,
}

impl SdwaSel {
    /// Returns the SDWA selection of `width` bits from bit `offset` on. Returns `None` if SDWA cannot select
    /// this part of a dword.
    pub const fn of_field(offset: u32, width: u32) -> Option<SdwaSel> {
        match (width, offset) {
            (8, 0 | 8 | 16 | 24) => SdwaSel::from_code((offset / 8) as u8),
            (16, 0) => Some(SdwaSel::Word0),
            (16, 16) => Some(SdwaSel::Word1),
            (32, 0) => Some(SdwaSel::Dword),
            _ => None,
        }
    }

    /// Returns the SDWA selection with the given code.
    pub const fn from_code(code: u8) -> Option<SdwaSel> {
        Some(match code {
            0 => SdwaSel::Byte0,
            1 => SdwaSel::Byte1,
            2 => SdwaSel::Byte2,
            3 => SdwaSel::Byte3,
            4 => SdwaSel::Word0,
            5 => SdwaSel::Word1,
            6 => SdwaSel::Dword,
            _ => return None,
        })
    }
}

/// Modifiers that belong to one encoding: SDWA, DPP, MTBUF or MIMG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Lane {
    /// The encoding has no modifiers of its own.
    #[default]
    None,
    /// SDWA: the selected parts of the destination and of the sources. `unused` says what the other bits of
    /// the destination become: 0 for zeros, 1 for copies of the sign, 2 for their old values. `sext` has a
    /// bit for each source that is sign-extended.
    Sdwa { dst: SdwaSel, unused: u8, src0: SdwaSel, src1: SdwaSel, sext: u8 },
    /// DPP: the control word, the row mask and the bank mask.
    Dpp { ctrl: u16, row_mask: u8, bank_mask: u8 },
    /// MTBUF: the format of the data. Before GFX10, this is the data format plus 16 times the numeric format.
    /// On GFX10, it is one number.
    Format(u8),
    /// DPP8 (GFX10): for each of eight lanes, the number of the lane from which it reads. Each number has
    /// three bits; that of lane 0 is in the lowest bits.
    Dpp8 { lanes: u32 },
    /// MIMG: a mask with one bit for each enabled component of a texel. On GFX10, also the dimension of the
    /// image.
    Image { dmask: u8, dim: u8 },
}

/// Modifiers of an instruction, in addition to its operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods {
    /// Modifiers of one bit.
    pub flags: ModFlags,
    /// Mask of the sources that are negated: bit n for source n. For VOP3P, this is `neg_lo`.
    pub neg: u8,
    /// Mask of the sources of which the absolute value is taken: bit n for source n. For VOP3P, this is
    /// `neg_hi`.
    pub abs: u8,
    /// Output modifier: 0 for none, 1 to multiply by 2, 2 to multiply by 4, 3 to divide by 2.
    pub omod: u8,
    /// The field `op_sel`, which selects halves of registers.
    pub op_sel: u8,
    /// The field `op_sel_hi` of VOP3P, with one bit for each source. In packed instructions, a set bit (the
    /// normal case) means that the second result uses the high half of the source; if the bit is clear, both
    /// results use the low half. In `v_fma_mix_*`, a clear bit means that the source is an f32.
    pub op_sel_hi: u8,
    /// Offset of a memory access in bytes. DS instructions with two offsets have `offset0 | offset1 << 8`
    /// here, and each offset counts in units of the element size.
    pub offset: i32,
    /// Modifiers of one encoding, such as SDWA or DPP.
    pub lane: Lane,
}

/// A machine instruction. Its explicit operands are in the order of the assembler, destinations first. An
/// instruction has the same operands in all forms. For example, a carry-out is an explicit operand even in a
/// form that implies `vcc` for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachInst {
    /// Opcode, which is the number of a row of the instruction table.
    pub op: Opcode,
    /// Encoding.
    pub form: Form,
    /// Number of operands in use.
    pub len: u8,
    /// Operands.
    pub ops: [Operand; MAX_OPERANDS],
    /// Modifiers.
    pub mods: Mods,
    /// Source location, as in `ir::SrcLoc`: the byte offset into the source text plus one, or 0 if there is
    /// none.
    pub loc: u32,
    /// Why the instruction is there, if a pass inserted it.
    pub note: NoteId,
    /// Memory attributes of a memory instruction.
    pub mem: MemId,
}

const _: () = assert!(size_of::<MachInst>() == 88);

impl MachInst {
    /// Returns an instruction with the given operands and no modifiers.
    pub fn new(op: Opcode, operands: &[Operand]) -> MachInst {
        let mut ops = [Operand::None; MAX_OPERANDS];
        ops[..operands.len()].copy_from_slice(operands);
        MachInst {
            op,
            form: Form::Full,
            len: operands.len() as u8,
            ops,
            mods: Mods::default(),
            loc: 0,
            note: NoteId::NONE,
            mem: MemId::NONE,
        }
    }

    /// Returns the explicit operands.
    pub fn operands(&self) -> &[Operand] {
        &self.ops[..usize::from(self.len)]
    }

    /// Returns the explicit operands for modification.
    pub fn operands_mut(&mut self) -> &mut [Operand] {
        &mut self.ops[..usize::from(self.len)]
    }
}
