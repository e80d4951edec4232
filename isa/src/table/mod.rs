//! The instruction table: one row per instruction, one file per encoding family.
//!
//! Everything that handles instructions reads the row: encoder, decoder, printer, allocator, waits, hazards, emulator.

use crate::target::{Feature, Generation, Target};

mod address;
pub mod ds;
pub mod exp;
pub mod flat;
mod lookup;
pub mod mimg;
pub mod mtbuf;
pub mod mubuf;
pub mod pseudo;
pub mod smem;
pub mod sop;
mod spec;
pub mod vintrp;
pub mod vop1;
pub mod vop2;
pub mod vop3;
pub mod vop3p;
pub mod vopc;

pub use address::{AddressParts, DIMS, Dim, FIRST_MSAA_DIM, ImageAddress};
pub use lookup::{available, by_name, by_name_anywhere, processors_with};

/// Encoding families. The order is the table's: an [`Opcode`] is family and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Family {
    /// Not an instruction of the machine: see [`pseudo`].
    Pseudo,
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    /// VOP3-only instructions.
    Vop3,
    Vop3p,
    Ds,
    Mubuf,
    /// FLAT, GLOBAL and SCRATCH segments; the row says which.
    Flat,
    Global,
    Scratch,
    Mtbuf,
    Mimg,
    Exp,
    /// Interpolation, in its own encoding and in VOP3.
    Vintrp,
}

impl Family {
    /// How many there are.
    pub const COUNT: usize = Family::Vintrp as usize + 1;

    /// Each, in order.
    #[rustfmt::skip]
    pub const ALL: [Family; Family::COUNT] = [
        Family::Pseudo, Family::Sop1, Family::Sop2, Family::Sopk, Family::Sopc, Family::Sopp, Family::Smem,
        Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3, Family::Vop3p, Family::Ds, Family::Mubuf,
        Family::Flat, Family::Global, Family::Scratch, Family::Mtbuf, Family::Mimg, Family::Exp, Family::Vintrp,
    ];
}

/// An instruction of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opcode(u16);

impl Opcode {
    const INDEX_BITS: u32 = 11;

    pub(crate) const fn new(family: Family, index: u16) -> Opcode {
        Opcode((family as u16) << Self::INDEX_BITS | index)
    }

    /// A dense number below [`Opcode::LIMIT`], for side tables.
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// One more than the highest [`Opcode::number`].
    pub const LIMIT: usize = Family::COUNT << Self::INDEX_BITS;

    /// Its row.
    #[inline]
    pub fn row(self) -> &'static Row {
        &TABLES[usize::from(self.0 >> Self::INDEX_BITS)][usize::from(self.0 & ((1 << Self::INDEX_BITS) - 1))]
    }

    /// Its family.
    pub fn family(self) -> Family {
        self.row().family
    }
}

impl std::fmt::Debug for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().name)
    }
}

/// Whether an operand is read, written, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Role {
    Def,
    Use,
    /// Read and written: a tied destination (`v_fmac_f32`, `v_writelane_b32`, SDWA preserve).
    DefUse,
}

/// What may stand in an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// SGPRs or special scalar registers only.
    Sgpr,
    /// SGPR, special register, inline constant or literal (SOP sources).
    Ssrc,
    /// VGPRs only; data of a memory access on gfx90a may be in accumulation VGPRs instead, all of it.
    Vgpr,
    /// VGPR, SGPR, inline constant; a literal where the encoding has room (VOP src0, VOP3 sources).
    Vsrc,
    /// Lane mask in SGPRs (VCC in 32-bit forms): carry, compare result, select condition.
    Mask,
    /// `Operand::Imm`.
    Imm,
    /// `Operand::Block` (or `Imm` in dwords when decoded).
    Label,
    /// A literal and nothing else (`v_madmk_f32`, `s_setreg_imm32_b32`): `Operand::Literal`.
    Lit,
    /// Offset of a scalar memory access: `Operand::Imm` in bytes, or an SGPR (then `mods.offset` is added on GFX9).
    SmemOffset,
    /// VGPRs of an address, or `Operand::None` (`off`). FLAT: 2 dwords; GLOBAL: 2, or 1 beside an SGPR base;
    /// SCRATCH: 1; MUBUF: as many as `OFFEN` and `IDXEN` ask for.
    Vaddr,
    /// SGPR base of a GLOBAL (2 dwords) or SCRATCH (1) address, or `Operand::None` (`off`).
    Saddr,
    /// Accumulation VGPRs only.
    Agpr,
    /// VGPRs or accumulation VGPRs: a factor of a matrix instruction.
    Avgpr,
    /// Sum of a matrix instruction: accumulation VGPRs; on gfx90a both sums may be VGPRs instead; as a source an inline
    /// constant too.
    Acc,
    /// What an export goes to, by its number: `Operand::Imm`.
    ExportTarget,
    /// What an export takes from: a VGPR, or `Operand::None` (`off`).
    Channel,
    /// A vertex attribute: `Operand::Imm`, four times its number plus its component.
    Attribute,
    /// Which of an attribute's three values: `Operand::Imm` of 0 `p10`, 1 `p20`, 2 `p0`.
    Parameter,
    /// VGPRs of texels: as many as `dmask` has bits, halved by `d16`, one more with `tfe`; if the operand has a width, that
    /// many ([`Flags::ATOMIC`]: or twice as many). [`Num::B32`] does not take `d16`.
    Texels,
    /// VGPRs of an image address: as many as [`ImageAddress::len`] says, in a row or, on GFX10, anywhere
    /// ([`Operand::Scattered`](crate::Operand::Scattered)).
    ImageAddress(ImageAddress),
}

/// How the bits of a source are understood; decides what inline float constants mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Num {
    B16,
    B32,
    B64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    /// Two halves in one register of an instruction that is not VOP3P.
    V2F16,
    /// Wider than 64 bits, or not a number.
    Raw,
}

impl Num {
    /// Whether `neg` and `abs` mean something.
    pub const fn is_float(self) -> bool {
        matches!(self, Num::F16 | Num::F32 | Num::F64 | Num::V2F16)
    }

    /// Whether it has 64 bits.
    pub const fn is_wide(self) -> bool {
        matches!(self, Num::B64 | Num::I64 | Num::U64 | Num::F64)
    }

    /// Whether it has 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, Num::B16 | Num::I16 | Num::U16 | Num::F16)
    }
}

/// One explicit operand of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpSpec {
    /// Read or written.
    pub role: Role,
    /// What may stand here.
    pub kind: Kind,
    /// Dwords; of a lane mask, those for 64 lanes: [`OpSpec::dwords`].
    pub width: u8,
    /// Meaning of the bits.
    pub num: Num,
}

bitflags::bitflags! {
    /// Registers read and written beside the explicit operands. The first nine are rows of a table in `effects`, which
    /// has them in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Implicit: u16 {
        /// Reads SCC.
        const READ_SCC = 1;
        /// Reads VCC (`v_div_fmas`, `s_cbranch_vccz`); explicit masks of 32-bit forms are not counted here.
        const READ_VCC = 1 << 1;
        /// Reads EXEC: every vector instruction, and the branches on it.
        const READ_EXEC = 1 << 2;
        /// Reads M0.
        const READ_M0 = 1 << 3;
        /// Reads FLAT_SCRATCH.
        const READ_FLAT_SCRATCH = 1 << 4;
        /// Writes SCC.
        const WRITE_SCC = 1 << 5;
        /// Writes VCC.
        const WRITE_VCC = 1 << 6;
        /// Writes EXEC (`s_*_saveexec`, `v_cmpx_*`).
        const WRITE_EXEC = 1 << 7;
        /// Writes M0 (`s_set_gpr_idx_*`; an explicit destination `m0` is not counted here).
        const WRITE_M0 = 1 << 8;
        /// Reads the MODE register (rounding, denormals).
        const READ_MODE = 1 << 9;
        /// Writes the MODE register (`s_setreg`, `s_set_gpr_idx_*`).
        const WRITE_MODE = 1 << 10;
    }

    /// What kind of instruction it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Flags: u32 {
        /// Ends or may end a block.
        const BRANCH = 1;
        /// Control never goes to the next instruction.
        const NO_FALLTHROUGH = 1 << 1;
        /// Reads memory.
        const LOAD = 1 << 2;
        /// Writes memory.
        const STORE = 1 << 3;
        /// Reads and writes memory in one step.
        const ATOMIC = 1 << 4;
        /// Commutative in its first two sources.
        const COMMUTES = 1 << 5;
        /// Raises `vmcnt`; on GFX10 what writes memory and returns nothing raises `vscnt` instead.
        const VM = 1 << 6;
        /// Raises `lgkmcnt`.
        const LGKM = 1 << 7;
        /// Raises `expcnt` (GFX6-GFX9 do so for GDS and exports; stores of GFX6 too).
        const EXP = 1 << 8;
        /// Acts whatever EXEC is although a vector instruction (`v_readlane`, `v_writelane`; `v_readfirstlane`,
        /// which reads EXEC to find its lane but acts when there is none).
        const NO_EXEC = 1 << 9;
        /// A quarter-rate or slower VALU instruction (transcendental, 64-bit, 32-bit multiply).
        const SLOW = 1 << 10;
        /// Two offsets (`ds_read2`, `ds_write2`).
        const OFFSET2 = 1 << 11;
        /// Synchronises, sleeps, or otherwise must stay where it is.
        const ORDERED = 1 << 12;
        /// Has no 32-bit form although VOP1/VOP2/VOPC.
        const NO_E32 = 1 << 13;
        /// Has no 64-bit (VOP3) form although VOP1/VOP2/VOPC.
        const NO_E64 = 1 << 14;
        /// Has no SDWA form although VOP1/VOP2/VOPC.
        const NO_SDWA = 1 << 15;
        /// Has no DPP form although VOP1/VOP2.
        const NO_DPP = 1 << 16;
        /// Works on GDS only.
        const GDS_ONLY = 1 << 17;
        /// Buffer load that may go to LDS instead of VGPRs (then it has no data operand and reads M0).
        const CAN_LDS = 1 << 18;
        /// DS: no address operand, the data comes first. GLOBAL: the address is the lane's number (`*_addtid`).
        const NO_ADDR = 1 << 19;
        /// SMEM: no data operand, the base comes first.
        const NO_DATA = 1 << 20;
        /// DS: does nothing in GDS (`ds_permute_b32`, `ds_nop`).
        const NO_GDS = 1 << 21;
        /// A further name that assemblers take for another row's opcode (`v_mul_lo_i32` on GFX8). Never decoded.
        const ALIAS = 1 << 22;
        /// Works on 64-bit values: there is a DPP form on gfx90a only, which takes `row_newbcast` and nothing else.
        const DPP64 = 1 << 23;
        /// MUBUF: the data comes from LDS; `lds` is always set and there is neither data nor address operand.
        const LDS_ONLY = 1 << 24;
        /// Takes one value over the constant bus on GFX10 too (64-bit shifts).
        const BUS1 = 1 << 25;
        /// Takes SGPRs on gfx90a only (`v_accvgpr_write_b32`).
        const NO_SGPR = 1 << 26;
    }

    /// Modifiers that the VOP3/VOP3P encoding of an instruction accepts, beside `neg` and `abs` of its float sources.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Caps: u8 {
        /// `clamp`.
        const CLAMP = 1;
        /// `mul:2`, `mul:4`, `div:2`.
        const OMOD = 1 << 1;
        /// `op_sel` of a VOP3 instruction on 16-bit values.
        const OP_SEL = 1 << 2;
        /// VOP3P whose `op_sel_hi` selects f16 or f32 per source and whose `neg_hi` is `abs`.
        const MIX = 1 << 3;
        /// `clamp` of an integer or a mask, which GFX6 and GFX7 do not have: see [`Row::clamps`].
        const INT_CLAMP = 1 << 4;
        /// `op_sel` of two bits that stand for "fetch from inactive lanes" and `bound_ctrl` (`v_permlane16_b32`).
        const PERMLANE = 1 << 5;
        /// Matrix instruction: the fields of `abs`, `op_sel` and `neg` hold `cbsz`, `abid` and `blgp`.
        const MFMA = 1 << 6;
        /// Sources of several integers: LLVM's disassembler ignores the bits of `neg` and `abs`.
        const LANES = 1 << 7;
    }
}

/// Opcode numbers, a column per generation from GFX6 to GFX10; [`NO`] where the instruction is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes(pub(crate) [u16; Generation::COUNT]);

/// The generation does not have the instruction.
pub(crate) const NO: u16 = 0xffff;

/// Opcode numbers of GFX6, GFX7, GFX8, GFX9, GFX10.
pub(crate) const fn c(gfx6: u16, gfx7: u16, gfx8: u16, gfx9: u16, gfx10: u16) -> Codes {
    Codes([gfx6, gfx7, gfx8, gfx9, gfx10])
}

/// An instruction of no machine.
pub(crate) const NOWHERE: Codes = Codes([NO; Generation::COUNT]);

impl Codes {
    /// The number in the family's opcode field.
    pub const fn get(&self, generation: Generation) -> Option<u16> {
        match self.0[generation as usize] {
            NO => None,
            code => Some(code),
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Mnemonic without suffix.
    pub name: &'static str,
    /// Encoding family.
    pub family: Family,
    /// Opcode numbers.
    pub codes: Codes,
    /// Features the processor must have, all of them, beside the generation.
    pub requires: Feature,
    /// Features the processor must not have, none of them.
    pub lacks: Feature,
    /// Explicit operands in the assembler's order.
    pub ops: &'static [OpSpec],
    /// Which of them may be written, and the first of a pseudo's: bits.
    pub(crate) written: u8,
    /// Implicit registers.
    pub implicit: Implicit,
    /// Kind.
    pub flags: Flags,
    /// Modifiers.
    pub caps: Caps,
}

impl Row {
    /// The opcode number on a processor; `None` if it does not have the instruction.
    pub const fn code(&self, target: &Target) -> Option<u16> {
        match target.has(self.requires) && !target.features.intersects(self.lacks) {
            true => self.codes.get(target.generation),
            false => None,
        }
    }

    /// Whether the VOP3 form takes `clamp`.
    pub const fn clamps(&self, generation: Generation) -> bool {
        let integers = generation as u8 >= Generation::Gfx8 as u8;
        self.caps.contains(Caps::CLAMP) || self.caps.contains(Caps::INT_CLAMP) && integers
    }

    /// Whether an operand is of that kind.
    pub fn has_kind(&self, kind: Kind) -> bool {
        self.ops.iter().any(|spec| spec.kind == kind)
    }

    /// An atomic operation on floats: it has no scope beyond the device.
    pub fn has_no_scope(&self) -> bool {
        self.flags.contains(Flags::ATOMIC)
            && self.requires.intersects(Feature::ATOMIC_FADD.union(Feature::GFX90A))
    }

    /// The second source comes before the first (`v_subrev_f32`, `v_lshlrev_b32`): the first reads no LDS.
    pub fn is_reversed(&self) -> bool {
        ["subrev_", "subbrev_", "shlrev_", "shrrev_", "ashrrev_"].iter().any(|part| self.name.contains(part))
    }

    /// A vector ALU instruction.
    pub fn is_valu(&self) -> bool {
        matches!(self.family, Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p)
    }

    /// A scalar ALU instruction (not a program-flow one).
    pub fn is_salu(&self) -> bool {
        matches!(self.family, Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc)
    }

    /// Whether it writes a lane mask beside its destination (`v_add_co_u32`, `v_div_scale_f32`): VOP3 then has no room
    /// for `abs` and `op_sel`.
    pub fn has_mask_out(&self) -> bool {
        self.ops.get(1).is_some_and(|spec| spec.kind == Kind::Mask && spec.role == Role::Def)
    }

    /// A vector memory instruction (buffer, typed buffer, image, flat, global, scratch).
    pub fn is_vmem(&self) -> bool {
        matches!(
            self.family,
            Family::Mubuf | Family::Mtbuf | Family::Mimg | Family::Flat | Family::Global | Family::Scratch
        )
    }
}

/// Rows by family, in the order of [`Family`].
static TABLES: [&[Row]; Family::COUNT] = [
    pseudo::ROWS,
    sop::SOP1,
    sop::SOP2,
    sop::SOPK,
    sop::SOPC,
    sop::SOPP,
    smem::SMEM,
    vop1::VOP1,
    vop2::VOP2,
    vopc::VOPC,
    vop3::VOP3,
    vop3p::VOP3P,
    ds::DS,
    mubuf::MUBUF,
    flat::FLAT,
    flat::GLOBAL,
    flat::SCRATCH,
    mtbuf::MTBUF,
    mimg::MIMG,
    exp::EXP,
    vintrp::VINTRP,
];

/// All opcodes, family by family in table order.
pub fn opcodes() -> impl Iterator<Item = Opcode> {
    TABLES.iter().enumerate().flat_map(|(family, rows)| {
        (0..rows.len()).map(move |index| Opcode((family << Opcode::INDEX_BITS | index) as u16))
    })
}

/// Bits of the operands that are not only read.
const fn written(ops: &[OpSpec]) -> u8 {
    // Operands of pseudos: destination first.
    let mut written = if ops.is_empty() { 1 } else { 0 };
    let mut n = 0;
    while n < ops.len() {
        if !matches!(ops[n].role, Role::Use) {
            written |= 1 << n;
        }
        n += 1;
    }
    written
}

/// Declares the rows of a family and a constant of type [`Opcode`] for each.
macro_rules! rows {
    ($static:ident, $family:ident; $(
        $id:ident $name:literal $codes:expr, [$($ops:expr),*]
        $(, implicit $($imp:ident)+)? $(, flags $($flag:ident)+)? $(, caps $($cap:ident)+)? $(, requires $($req:ident)+)? $(, lacks $($lack:ident)+)?;
    )*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Index { $($id),* }
        $(#[doc = concat!("`", $name, "`")] pub const $id: $crate::table::Opcode =
            $crate::table::Opcode::new($crate::table::Family::$family, Index::$id as u16);)*
        pub(crate) static $static: &[$crate::table::Row] = &[$($crate::table::Row {
            name: $name,
            family: $crate::table::Family::$family,
            codes: $codes,
            requires: $crate::target::Feature::empty() $($(.union($crate::target::Feature::$req))+)?,
            lacks: $crate::target::Feature::empty() $($(.union($crate::target::Feature::$lack))+)?,
            ops: &[$($ops),*],
            written: $crate::table::written(&[$($ops),*]),
            implicit: $crate::table::Implicit::empty() $($(.union($imp))+)?,
            flags: $crate::table::Flags::empty() $($(.union($crate::table::Flags::$flag))+)?,
            caps: $crate::table::Caps::empty() $($(.union($crate::table::Caps::$cap))+)?,
        }),*];
    };
}
pub(crate) use rows;

/// All opcodes by name.
pub mod op {
    pub use super::ds::*;
    pub use super::exp::*;
    pub use super::flat::{any::*, global::*, scratch::*};
    pub use super::mimg::*;
    pub use super::mtbuf::*;
    pub use super::mubuf::*;
    pub use super::pseudo::*;
    pub use super::smem::*;
    pub use super::sop::{sop1::*, sop2::*, sopc::*, sopk::*, sopp::*};
    pub use super::vintrp::*;
    pub use super::vop1::*;
    pub use super::vop2::*;
    pub use super::vop3::*;
    pub use super::vop3p::*;
    pub use super::vopc::*;
}
