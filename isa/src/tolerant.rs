//! Bits that LLVM's disassembler does not look at although they are not those of an assembler.
//!
//! Found by reading random words beside LLVM 19 (`isa/tests/random_words.rs`); `docs/isa-errata.md` has the list.

use crate::inst::ModFlags;
use crate::layout::*;
use crate::operand::RegRange;
use crate::reg::Reg;
use crate::special::{numbered_sgprs, trap_registers};
use crate::table::{Caps, Family, Flags, Kind, Role, Row};
use crate::target::{Feature, Generation, Target};

/// Such bits of an instruction in an encoding.
pub(crate) fn ignored(target: &Target, row: &Row, encoding: Encoding, flags: ModFlags) -> u64 {
    match encoding {
        Encoding::Sop1 => {
            let source = if row.ops.iter().any(|spec| spec.role == Role::Use) { 0 } else { SSRC0.bits() };
            source | if has_result(row) { 0 } else { SDST.bits() }
        }
        Encoding::Sop2 | Encoding::Sopk if !has_result(row) => SDST.bits(),
        Encoding::Smem => smem(target.generation, row),
        Encoding::Mubuf if row.ops.is_empty() => MUBUF_SPARE,
        Encoding::Mubuf => mubuf(target, flags),
        Encoding::Ds => {
            let has_none = target.has(Feature::GFX90A) && !row.flags.contains(Flags::NO_GDS);
            let no_gds = if has_none { 1 << 16 } else { 0 };
            no_gds | if target.generation == Generation::Gfx10 { 1 << 16 } else { 1 << 25 }
        }
        // `op_sel` where there is none, and the EXEC of GFX10's `v_cmpx`.
        Encoding::Vop3 if row.family == Family::Vopc && row.ops[0].role == Role::Use => {
            0xf << 11 | VOP3_DST.bits()
        }
        Encoding::Vop3 if !row.has_mask_out() => 0xf << 11,
        Encoding::Vop32 if row.ops.is_empty() && row.family == Family::Vop1 => SRC0.bits(),
        Encoding::Sdwa if target.generation == Generation::Gfx8 => 3 << 46 | 3 << 54 | 3 << 62,
        Encoding::Dpp if target.generation == Generation::Gfx10 => 1 << 49,
        Encoding::Dpp => 3 << 49,
        Encoding::Flat => flat(target.generation, row, flags),
        _ => 0,
    }
}

/// Offset, registers and what lies between, for instructions without operands.
const MUBUF_SPARE: u64 = 0xff7f_ffff_0200_8fff;

fn has_result(row: &Row) -> bool {
    row.ops.iter().any(|spec| spec.role != Role::Use || spec.kind == Kind::Sgpr && row.family == Family::Sopk)
}

/// The bits without those that LLVM takes for others: the fourth `dst_unused` of SDWA is padding, and integers with
/// `op_sel` have no absolute value.
pub(crate) fn cleared(target: &Target, row: &Row, encoding: Encoding, bits: u64) -> u64 {
    match encoding {
        Encoding::Sdwa if row.family != Family::Vopc && SDWA_DST_UNUSED.get(bits) == 3 => {
            bits & !SDWA_DST_UNUSED.bits()
        }
        Encoding::Vop3
            if row.caps.contains(Caps::OP_SEL)
                && !row.ops[0].num.is_float()
                && target.generation > Generation::Gfx8 =>
        {
            bits & !VOP3_ABS.bits()
        }
        _ => bits,
    }
}

/// Scalar registers as LLVM reads a misaligned group: from the place where it would have to begin.
pub(crate) fn align(target: &Target, range: RegRange) -> RegRange {
    let unit = match range.len {
        // VCC, EXEC and the like are pairs or nothing.
        _ if range.first.0 >= 124
            || (numbered_sgprs(target)..trap_registers(target).0.0).contains(&range.first.0) =>
        {
            1
        }
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    };
    RegRange { first: Reg(range.first.0 / unit * unit), len: range.len }
}

fn mubuf(target: &Target, flags: ModFlags) -> u64 {
    let data = if flags.contains(ModFlags::LDS) { MUBUF_VDATA.bits() } else { 0 };
    let spare = match target.generation {
        Generation::Gfx10 => 1 << 53 | 1 << 25 | 1 << 17,
        // Bit 15 is `scc`.
        _ if target.has(Feature::GFX90A) => 3 << 53 | 1 << 25,
        _ => 3 << 53 | 1 << 25 | 1 << 15,
    };
    MUBUF_VADDR.bits() | data | spare
}

/// Everything behind the opcode that the kind of offset leaves unused.
fn smem(generation: Generation, row: &Row) -> u64 {
    let registers = match row.ops.len() {
        0 => SMEM_SBASE.bits() | SMEM_SDATA.bits(),
        1 => SMEM_SBASE.bits(),
        _ if row.flags.contains(Flags::NO_DATA) => SMEM_SDATA.bits(),
        _ => 0,
    };
    let address = if row.ops.len() < 2 { 0xffff_ffff << 32 } else { 0 };
    let coherence =
        if row.flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC) { 0 } else { 1 << 16 | 1 << 14 };
    let spare = match generation {
        Generation::Gfx10 => 1 << 13 | 1 << 15 | 1 << 17 | 0xf << 53,
        Generation::Gfx9 => 3 << 13 | 1 << 15 | 0xffff_ffff << 32,
        Generation::Gfx8 => 7 << 13 | 0xffff_ffff << 32,
        _ => 0,
    };
    registers | address | coherence | spare
}

/// The operands that an instruction of the kind does not have, and what lies between the fields.
fn flat(generation: Generation, row: &Row, flags: ModFlags) -> u64 {
    let has = |role: Role| row.ops.iter().any(|spec| spec.role == role && spec.kind == Kind::Vgpr);
    let data = if has(Role::Use) { 0 } else { FLAT_DATA.bits() };
    let returns = !row.flags.contains(Flags::ATOMIC) || flags.contains(ModFlags::GLC);
    let result =
        if has(Role::Def) && returns && !flags.contains(ModFlags::LDS) { 0 } else { FLAT_VDST.bits() };
    let addressed = row.ops.iter().any(|spec| spec.kind == Kind::Vaddr);
    let address = if row.family == Family::Scratch || !addressed { FLAT_ADDR.bits() } else { 0 };
    let volatile = generation != Generation::Gfx10 && !flags.contains(ModFlags::LDS);
    let spare = 1 << 25 | if volatile { 1 << 55 } else { 0 };
    data | result | address | spare
}
