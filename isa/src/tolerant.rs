//! Determines the bits of an instruction that LLVM's disassembler ignores, even if they differ from what an
//! assembler sets.
//!
//! These bits were found by decoding random words with LLVM 19 (`isa/tests/random_words.rs`). The list of
//! them is in `docs/isa-errata.md`.

use crate::inst::ModFlags;
use crate::layout::*;
use crate::operand::RegRange;
use crate::reg::Reg;
use crate::special::trap_registers;
use crate::table::{Caps, Family, Flags, Kind, Role, Row};
use crate::target::{Feature, Target};

/// Returns a mask of the bits that LLVM ignores in an instruction with this encoding. `bits` are the words of
/// the instruction.
pub(crate) fn ignored(target: &Target, row: &Row, encoding: Encoding, flags: ModFlags, bits: u64) -> u64 {
    let spare = &Layout::for_target(target).spare;
    match encoding {
        Encoding::Sop1 => {
            let source = if row.ops.iter().any(|spec| spec.role == Role::Use) { 0 } else { SSRC0.bits() };
            source | if has_result(row) { 0 } else { SDST.bits() }
        }
        Encoding::Sop2 | Encoding::Sopk if !has_result(row) => SDST.bits(),
        Encoding::Smem => smem(row) | spare.smem,
        // In a write-back instruction, LLVM ignores the cache bits that a store would have.
        Encoding::Mubuf if row.flags.contains(Flags::VM) && row.ops.is_empty() => spare.mubuf_bare | 3 << 14,
        Encoding::Mubuf if row.ops.is_empty() => spare.mubuf_bare,
        Encoding::Mubuf if flags.contains(ModFlags::LDS) => {
            MUBUF_VADDR.bits() | MUBUF_VDATA.bits() | spare.mubuf
        }
        Encoding::Mubuf => MUBUF_VADDR.bits() | spare.mubuf,
        Encoding::Ds => {
            let has_none = !target.has(Feature::GDS) && !row.flags.contains(Flags::NO_GDS);
            spare.ds | if has_none { 1 << 16 } else { 0 }
        }
        Encoding::Vop3 if row.family == Family::Vop3 && sources(row).0 == 0b11 => {
            vop3(target, row) | spare.vop3_two_sources
        }
        Encoding::Vop3 => vop3(target, row),
        Encoding::Vop3p if row.caps.contains(Caps::MFMA) && !target.has(Feature::UNIFIED_VGPRS) => {
            MFMA_ACC_SUM.bits()
        }
        // Moves between VGPRs and accumulation VGPRs do not select halves.
        Encoding::Vop3p if row.has_kind(Kind::Agpr) && row.ops.len() == 2 => 1 << 14 | 3 << 59,
        Encoding::Vop32 if row.ops.is_empty() && row.family == Family::Vop1 => SRC0.bits(),
        Encoding::Sdwa if row.family == Family::Vopc => {
            let is_vcc = Layout::for_target(target).sdwa_scalars && SDWA_SD.get(bits) == 0;
            spare.sdwa | spare.sdwa_compare | if is_vcc { SDWA_SDST.bits() } else { 0 }
        }
        Encoding::Sdwa => spare.sdwa,
        Encoding::Dpp if extends(row) => spare.dpp | DPP_NEG1.bits(),
        Encoding::Dpp => spare.dpp,
        Encoding::Flat => flat(row, flags) | spare.flat & !fixed_flat(target, row, flags),
        _ => 0,
    }
}

fn has_result(row: &Row) -> bool {
    row.ops.iter().any(|spec| spec.role != Role::Use || spec.kind == Kind::Sgpr && row.family == Family::Sopk)
}

/// Returns a mask of the VOP3 bits that LLVM ignores. They are `op_sel` in instructions that do not use it,
/// and the destination of GFX10's `v_cmpx`, which always writes EXEC.
fn vop3(target: &Target, row: &Row) -> u64 {
    const OP_SEL: u64 = 0xf << 11;
    let selects = row.caps.intersects(Caps::OP_SEL | Caps::PERMLANE);
    match row.family {
        Family::Vopc if row.ops[0].role == Role::Use => OP_SEL | VOP3_DST.bits(),
        _ if row.has_mask_out() || selects && Layout::for_target(target).vop3_op_sel != ABSENT => 0,
        _ if extends(row) => OP_SEL | VOP3_NEG.bits(),
        _ => OP_SEL,
    }
}

/// Returns two masks with a bit for each source of a vector instruction. A source is in the first mask if it
/// can have `neg` and `abs`, and also in the second mask if it is an integer.
fn sources(row: &Row) -> (u32, u32) {
    let sources = row.ops.iter().filter(|spec| spec.role == Role::Use && spec.kind != Kind::Mask);
    sources.enumerate().fold((0, 0), |(all, integers), (n, spec)| {
        (all | 1 << n, integers | u32::from(!spec.num.is_float()) << n)
    })
}

/// Returns whether LLVM takes the `neg` bit of an integer source as sign extension. It does so in
/// instructions that also have float sources.
fn extends(row: &Row) -> bool {
    let (all, integers) = sources(row);
    !matches!(row.family, Family::Vopc | Family::Vop1)
        && integers != 0
        && integers & 1 == 0
        && integers != all
        && row.caps.intersects(Caps::CLAMP | Caps::INT_CLAMP)
        && !row.has_mask_out()
}

/// Returns the bits of an instruction, with some bits cleared that LLVM ignores: `neg` and `abs` of many
/// integer sources, and the value 3 of SDWA's `dst_unused`, which LLVM treats as 0 (zeros).
pub(crate) fn cleared(target: &Target, row: &Row, encoding: Encoding, bits: u64) -> u64 {
    match encoding {
        Encoding::Sdwa if row.family != Family::Vopc && SDWA_DST_UNUSED.get(bits) == 3 => {
            bits & !SDWA_DST_UNUSED.bits()
        }
        Encoding::Vop3 if row.caps.contains(Caps::PERMLANE) => {
            bits & !(VOP3_ABS.bits() | VOP3_NEG.bits() | 3 << 13)
        }
        Encoding::Vop3
            if row.caps.contains(Caps::LANES)
                || row.caps.contains(Caps::OP_SEL) && Layout::for_target(target).vop3_op_sel != ABSENT =>
        {
            let (_, integers) = sources(row);
            bits & !(VOP3_ABS.put(integers) | VOP3_NEG.put(integers))
        }
        Encoding::Vop3 if extends(row) => bits & !VOP3_ABS.put(sources(row).1),
        Encoding::Dpp if row.caps.contains(Caps::LANES) => {
            bits & !(DPP_ABS0.bits() | DPP_ABS1.bits() | DPP_NEG0.bits() | DPP_NEG1.bits())
        }
        Encoding::Dpp if extends(row) => bits & !DPP_ABS1.bits(),
        _ => bits,
    }
}

/// Returns the scalar registers that LLVM's disassembler shows for a group that starts at a misaligned
/// register. It shows the aligned group that contains this register.
pub(crate) fn align(target: &Target, range: RegRange) -> RegRange {
    if target.arch.registers.null == Some(range.first) {
        return RegRange { first: range.first, len: 1 };
    }
    let unit = match range.len {
        // VCC, EXEC and similar registers are not part of wider groups.
        _ if range.first.0 >= 124
            || (target.numbered_sgprs()..trap_registers(target).0.0).contains(&range.first.0) =>
        {
            1
        }
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    };
    RegRange { first: Reg(range.first.0 / unit * unit), len: range.len }
}

/// Returns a mask of the bits that LLVM ignores in a scalar memory instruction. They are the fields of
/// registers that the instruction does not have, and cache flags.
fn smem(row: &Row) -> u64 {
    let registers = match row.ops.len() {
        0 => SMEM_SBASE.bits() | SMEM_SDATA.bits(),
        1 => SMEM_SBASE.bits(),
        _ if row.flags.contains(Flags::NO_DATA) => SMEM_SDATA.bits(),
        _ => 0,
    };
    let address = if row.ops.len() < 2 { 0xffff_ffff << 32 } else { 0 };
    let coherence =
        if row.flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC) { 0 } else { 1 << 16 | 1 << 14 };
    registers | address | coherence
}

/// Returns a mask of the bits that LLVM ignores in a FLAT instruction. They are the fields of operands that
/// the instruction does not have.
fn flat(row: &Row, flags: ModFlags) -> u64 {
    let has = |role: Role| row.ops.iter().any(|spec| spec.role == role && spec.kind == Kind::Vgpr);
    let data = if has(Role::Use) { 0 } else { FLAT_DATA.bits() };
    let returns = !row.flags.contains(Flags::ATOMIC) || flags.contains(ModFlags::GLC);
    let result =
        if has(Role::Def) && returns && !flags.contains(ModFlags::LDS) { 0 } else { FLAT_VDST.bits() };
    let addressed = row.ops.iter().any(|spec| spec.kind == Kind::Vaddr);
    let address = if row.family == Family::Scratch || !addressed { FLAT_ADDR.bits() } else { 0 };
    data | result | address
}

/// Returns a mask of bits outside of all fields that must be correct in this FLAT instruction. In other FLAT
/// instructions, LLVM ignores them.
fn fixed_flat(target: &Target, row: &Row, flags: ModFlags) -> u64 {
    let volatile = if flags.contains(ModFlags::LDS) { 1 << 55 } else { 0 };
    volatile | if row.has_no_scope(target) { 1 << 25 } else { 0 }
}
