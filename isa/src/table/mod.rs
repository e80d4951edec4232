//! The instruction table: one row per instruction, one file per encoding family.
//!
//! All code that handles instructions uses these rows: encoder, decoder, printer, allocator, wait insertion,
//! hazard mitigation and emulator.

use crate::inst::ModFlags;
use crate::target::{Feature, Target};

mod address;
mod codes;
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
pub use codes::Codes;
pub use lookup::{available, by_name, by_name_anywhere, processors_with};

/// Families of instructions that share an encoding. An [`Opcode`] consists of the number of a family in this
/// list and the index of a row in the family's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Family {
    /// Pseudo-instructions, which do not exist in hardware: see [`pseudo`].
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
    /// The FLAT encoding has three segments, each with instructions of its own: FLAT, GLOBAL and SCRATCH.
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
    /// Number of families.
    pub const COUNT: usize = Family::Vintrp as usize + 1;

    /// All families, in order.
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

    /// Returns the opcode as a number below [`Opcode::LIMIT`], for use as an index into lists with one
    /// element per opcode.
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// One more than the highest [`Opcode::number`].
    pub const LIMIT: usize = Family::COUNT << Self::INDEX_BITS;

    /// Returns the instruction's row.
    #[inline]
    pub fn row(self) -> &'static Row {
        &TABLES[usize::from(self.0 >> Self::INDEX_BITS)][usize::from(self.0 & ((1 << Self::INDEX_BITS) - 1))]
    }

    /// Returns the instruction's family.
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
    /// Read and written, such as the destination of `v_fmac_f32`, `v_writelane_b32` or an SDWA instruction
    /// that preserves bits.
    DefUse,
}

/// Kind of values that an operand accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// SGPRs or special scalar registers only.
    Sgpr,
    /// An SGPR, special register, inline constant or literal, as the sources of scalar instructions accept.
    Ssrc,
    /// VGPRs only. On gfx90a, the data of a memory access may be in accumulation VGPRs instead; then all its
    /// registers must be.
    Vgpr,
    /// A VGPR, SGPR or inline constant. If the encoding has room for a literal, also a literal. The first
    /// source of VOP instructions and all sources of VOP3 instructions are of this kind.
    Vsrc,
    /// A lane mask in SGPRs: a carry, the result of a compare, or the condition of a selection. In 32-bit
    /// forms, it is VCC.
    Mask,
    /// `Operand::Imm`.
    Imm,
    /// `Operand::Block` (or `Imm` in dwords when decoded).
    Label,
    /// A literal only (`Operand::Literal`), as in `v_madmk_f32` and `s_setreg_imm32_b32`.
    Lit,
    /// Offset of a scalar memory access: a number of bytes (`Operand::Imm`), or an SGPR. On GFX9,
    /// `mods.offset` is added to the SGPR.
    SmemOffset,
    /// VGPRs of an address, or `Operand::None` (`off`). An address of FLAT has two VGPRs, and one of SCRATCH
    /// has one. GLOBAL has two, or one if there is also an SGPR base. MUBUF has as many as its modifiers
    /// `offen` and `idxen` require.
    Vaddr,
    /// SGPR base of an address, or `Operand::None` (`off`). The base has two SGPRs for GLOBAL and one for
    /// SCRATCH.
    Saddr,
    /// Accumulation VGPRs only.
    Agpr,
    /// A factor of a matrix instruction, in VGPRs or in accumulation VGPRs.
    Avgpr,
    /// Addend or result of a matrix instruction, in accumulation VGPRs. On gfx90a, both may be in VGPRs
    /// instead. The addend may also be an inline constant.
    Acc,
    /// Target of an export, given by its number: `Operand::Imm`.
    ExportTarget,
    /// Source of an export: a VGPR, or `Operand::None` (`off`).
    Channel,
    /// A vertex attribute. The operand is an `Operand::Imm` with four times the attribute's number plus its
    /// component.
    Attribute,
    /// One of an attribute's three parameters. The operand is an `Operand::Imm` with 0 for `p10`, 1 for
    /// `p20`, and 2 for `p0`.
    Parameter,
    /// VGPRs with texel components of an image instruction. If the operand has no width, the number of VGPRs
    /// is the number of bits in `dmask`. `d16` halves it, and `tfe` adds one. If the operand has a width,
    /// this is the number of VGPRs; for atomics ([`Flags::ATOMIC`]), twice this number is accepted as well.
    /// Operands of type [`Num::B32`] do not accept `d16`.
    Texels,
    /// VGPRs of an image address, whose number [`ImageAddress::len`] gives. They are consecutive. On GFX10,
    /// they may also be any VGPRs ([`Operand::Scattered`](crate::Operand::Scattered)).
    ImageAddress(ImageAddress),
}

/// Type of the value in an operand. It determines, for example, which bits an inline constant such as 1.0
/// has.
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
    /// Two half-precision values in one register, in an instruction that is not VOP3P.
    V2F16,
    /// Wider than 64 bits, or not a number.
    Raw,
}

impl Num {
    /// Returns whether `neg` and `abs` have a meaning.
    pub const fn is_float(self) -> bool {
        matches!(self, Num::F16 | Num::F32 | Num::F64 | Num::V2F16)
    }

    /// Returns whether the type has 64 bits.
    pub const fn is_wide(self) -> bool {
        matches!(self, Num::B64 | Num::I64 | Num::U64 | Num::F64)
    }

    /// Returns whether the type has 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, Num::B16 | Num::I16 | Num::U16 | Num::F16)
    }
}

/// An explicit operand of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpSpec {
    /// Whether it is read or written.
    pub role: Role,
    /// Kind of values that it accepts.
    pub kind: Kind,
    /// Width in dwords. For a lane mask, this is the width in waves of 64 lanes; [`OpSpec::dwords`] returns
    /// the width on a processor.
    pub width: u8,
    /// Interpretation of the bits.
    pub num: Num,
}

bitflags::bitflags! {
    /// Registers that an instruction uses without naming them as operands. Each flag stands for one register
    /// that is read, or for one that is written. The first nine flags must have the order of the table
    /// `IMPLICIT` in the module `effects`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Implicit: u16 {
        /// Reads SCC.
        const READ_SCC = 1;
        /// Reads VCC without naming it (`v_div_fmas`, `s_cbranch_vccz`). In 32-bit forms whose lane mask is
        /// VCC, VCC is an operand, so they do not have this flag.
        const READ_VCC = 1 << 1;
        /// Reads EXEC: all vector instructions, and branches on EXEC.
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
        /// Writes M0 without naming it (`s_set_gpr_idx_*`). An instruction whose destination operand is `m0`
        /// does not have this flag.
        const WRITE_M0 = 1 << 8;
        /// Reads the MODE register (rounding, denormals).
        const READ_MODE = 1 << 9;
        /// Writes the MODE register (`s_setreg`, `s_set_gpr_idx_*`).
        const WRITE_MODE = 1 << 10;
    }

    /// Properties of an instruction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Flags: u32 {
        /// Ends or may end a block.
        const BRANCH = 1;
        /// Execution never continues at the next instruction.
        const NO_FALLTHROUGH = 1 << 1;
        /// Reads memory.
        const LOAD = 1 << 2;
        /// Writes memory.
        const STORE = 1 << 3;
        /// Reads and writes memory atomically.
        const ATOMIC = 1 << 4;
        /// Commutative in its first two sources.
        const COMMUTES = 1 << 5;
        /// Increments `vmcnt`. On GFX10, instructions with this flag that write memory and return nothing
        /// increment `vscnt` instead.
        const VM = 1 << 6;
        /// Increments `lgkmcnt`.
        const LGKM = 1 << 7;
        /// Increments `expcnt`. These are GDS instructions and exports on GFX6 to GFX9, and stores on GFX6.
        const EXP = 1 << 8;
        /// A vector instruction that is executed even if EXEC is zero. `v_readlane` and `v_writelane` do not
        /// use EXEC. `v_readfirstlane` reads EXEC to find its lane, but is executed even if there is no
        /// active lane.
        const NO_EXEC = 1 << 9;
        /// A VALU instruction that runs at a quarter of the usual rate or slower: transcendental functions,
        /// 64-bit operations, 32-bit multiplications.
        const SLOW = 1 << 10;
        /// Has two offsets (`ds_read2`, `ds_write2`).
        const OFFSET2 = 1 << 11;
        /// The compiler must not move the instruction, because it synchronises, sleeps or has another effect
        /// that is not visible in its operands.
        const ORDERED = 1 << 12;
        /// A VOP1, VOP2 or VOPC instruction without a 32-bit form.
        const NO_E32 = 1 << 13;
        /// A VOP1, VOP2 or VOPC instruction without a 64-bit (VOP3) form.
        const NO_E64 = 1 << 14;
        /// A VOP1, VOP2 or VOPC instruction without an SDWA form.
        const NO_SDWA = 1 << 15;
        /// A VOP1 or VOP2 instruction without a DPP form.
        const NO_DPP = 1 << 16;
        /// Works on GDS only.
        const GDS_ONLY = 1 << 17;
        /// A buffer load that can load to LDS instead of VGPRs. It then has no data operand and reads M0.
        const CAN_LDS = 1 << 18;
        /// An instruction without an address operand. For DS instructions, the data is then the first
        /// operand. For GLOBAL instructions, the address is computed from the lane number (`*_addtid`).
        const NO_ADDR = 1 << 19;
        /// SMEM: no data operand, so the base comes first.
        const NO_DATA = 1 << 20;
        /// DS: has no effect in GDS (`ds_permute_b32`, `ds_nop`).
        const NO_GDS = 1 << 21;
        /// An additional name that assemblers accept for the opcode of another row, such as `v_mul_lo_i32` on
        /// GFX8. The decoder never returns it.
        const ALIAS = 1 << 22;
        /// Works on 64-bit values. The instruction has a DPP form only on gfx90a, which accepts only
        /// `row_newbcast`.
        const DPP64 = 1 << 23;
        /// A MUBUF instruction whose data comes from LDS. It always has the modifier `lds`, and neither a
        /// data nor an address operand.
        const LDS_ONLY = 1 << 24;
        /// Can use only one scalar value over the constant bus, also on GFX10, where other instructions can
        /// use two. These are 64-bit shifts.
        const BUS1 = 1 << 25;
        /// Accepts SGPRs on gfx90a only (`v_accvgpr_write_b32`).
        const NO_SGPR = 1 << 26;
        /// A floating-point atomic of gfx90a that must not have a scope wider than the device.
        const NO_SCOPE = 1 << 27;
        /// FLAT: loads to LDS and has no result. [`ModFlags::LDS`] is always set, but has no bit and no text.
        const TO_LDS = 1 << 28;
        /// MUBUF: a cache operation whose scope `sc0` and `sc1` give, on processors with
        /// [`Feature::SCOPES`].
        const SCOPED = 1 << 29;
    }

    /// Modifiers that the VOP3/VOP3P encoding of an instruction accepts, in addition to `neg` and `abs` of
    /// its float sources.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Caps: u8 {
        /// `clamp`.
        const CLAMP = 1;
        /// `mul:2`, `mul:4`, `div:2`.
        const OMOD = 1 << 1;
        /// `op_sel` of a VOP3 instruction on 16-bit values.
        const OP_SEL = 1 << 2;
        /// A VOP3P instruction of mixed precision. `op_sel_hi` says for each source whether it is an f16 or
        /// an f32, and `neg_hi` means `abs`.
        const MIX = 1 << 3;
        /// `clamp` of an integer or a lane mask. GFX6 and GFX7 do not have it; see [`Row::clamps`].
        const INT_CLAMP = 1 << 4;
        /// `op_sel` of `v_permlane16_b32` and similar instructions. Its two bits mean "read from inactive
        /// lanes" and `bound_ctrl`.
        const PERMLANE = 1 << 5;
        /// A matrix instruction. Its fields for `abs`, `op_sel` and `neg` hold the modifiers `cbsz`, `abid`
        /// and `blgp`.
        const MFMA = 1 << 6;
        /// The sources are vectors of small integers. LLVM's disassembler ignores the bits of `neg` and `abs`
        /// for such instructions.
        const LANES = 1 << 7;
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
    /// Features that a processor must all have to have the instruction. In addition, its family must have an
    /// opcode number for the instruction.
    pub requires: Feature,
    /// Features of which the processor must have none.
    pub lacks: Feature,
    /// Explicit operands in the assembler's order.
    pub ops: &'static [OpSpec],
    /// Mask of the operands that the instruction may write. The operands of a pseudo-instruction are not
    /// described; its mask always contains the first operand.
    pub(crate) written: u8,
    /// Implicit registers.
    pub implicit: Implicit,
    /// Properties.
    pub flags: Flags,
    /// Modifiers.
    pub caps: Caps,
}

impl Row {
    /// Returns the opcode number on a processor, or `None` if the processor does not have the instruction.
    pub const fn code(&self, target: &Target) -> Option<u16> {
        match target.has(self.requires) && !target.features.intersects(self.lacks) {
            true => self.codes.get(target.arch.id),
            false => None,
        }
    }

    /// Returns whether the VOP3 form accepts `clamp`.
    pub const fn clamps(&self, target: &Target) -> bool {
        let integers = target.has(Feature::INT_CLAMP);
        self.caps.contains(Caps::CLAMP) || self.caps.contains(Caps::INT_CLAMP) && integers
    }

    /// Returns whether the instruction has an operand of this kind.
    pub fn has_kind(&self, kind: Kind) -> bool {
        self.ops.iter().any(|spec| spec.kind == kind)
    }

    /// Returns whether the instruction is a floating-point atomic that cannot have a scope wider than the
    /// device on the processor.
    pub fn has_no_scope(&self, target: &Target) -> bool {
        self.flags.contains(Flags::NO_SCOPE) && !target.has(Feature::SCOPES)
    }

    /// Returns the cache modifiers that the instruction may have, with their names, in the order in which
    /// LLVM prints the modifiers.
    pub fn cache_modifiers(&self, target: &Target) -> &'static [(ModFlags, &'static str)] {
        match target.has(Feature::SCOPES) && self.is_vmem() {
            true => &[(ModFlags::GLC, "sc0"), (ModFlags::SLC, "nt"), (ModFlags::SCC, "sc1")],
            false => &[
                (ModFlags::GLC, "glc"),
                (ModFlags::SLC, "slc"),
                (ModFlags::DLC, "dlc"),
                (ModFlags::SCC, "scc"),
            ],
        }
    }

    /// Returns whether the instruction has its sources in reverse order (`v_subrev_f32`, `v_lshlrev_b32`).
    /// The first source of such an instruction cannot be read directly from LDS.
    pub fn is_reversed(&self) -> bool {
        ["subrev_", "subbrev_", "shlrev_", "shrrev_", "ashrrev_"].iter().any(|part| self.name.contains(part))
    }

    /// Returns whether it is a vector ALU instruction.
    pub fn is_valu(&self) -> bool {
        matches!(self.family, Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p)
    }

    /// Returns whether the instruction is a scalar ALU instruction. Instructions of program flow (SOPP) do
    /// not count as such.
    pub fn is_salu(&self) -> bool {
        matches!(self.family, Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc)
    }

    /// Returns whether the instruction writes a lane mask in addition to its destination (`v_add_co_u32`,
    /// `v_div_scale_f32`). The VOP3 encoding of such an instruction has no room for `abs` and `op_sel`.
    pub fn has_mask_out(&self) -> bool {
        self.ops.get(1).is_some_and(|spec| spec.kind == Kind::Mask && spec.role == Role::Def)
    }

    /// Returns whether the instruction is a vector memory instruction (buffer, typed buffer, image, flat,
    /// global, scratch).
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

/// Returns all opcodes, family by family in table order.
pub fn opcodes() -> impl Iterator<Item = Opcode> {
    TABLES.iter().enumerate().flat_map(|(family, rows)| {
        (0..rows.len()).map(move |index| Opcode((family << Opcode::INDEX_BITS | index) as u16))
    })
}

/// Returns a bit mask of the operands that are not only read.
const fn written(ops: &[OpSpec]) -> u8 {
    // The operands of pseudo-instructions are not described in the table. If they have a destination, it is
    // their first operand.
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
