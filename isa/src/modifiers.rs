//! Encodes and decodes the modifiers of instructions (`neg`, `abs`, `clamp`, `offset` and so on). For each
//! encoding, the code that writes a modifier is next to the code that reads it.
//!
//! The row of an instruction in the instruction table says which modifiers it accepts. The [`Layout`] of the
//! architecture says which bits for modifiers exist, and where.

use crate::decode::DecodeError;
use crate::encode::Problem;
use crate::inst::{Lane, MachInst, ModFlags, Mods, SdwaSel};
use crate::layout::*;
use crate::operand::Operand;
use crate::slots::Slots;
use crate::table::{Caps, Family, Flags, Kind, OpSpec, Row};
use crate::target::{Feature, Target};

/// Counts the source operands of an instruction while its operands are visited one after another. Also
/// records which sources are floats.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sources {
    count: u8,
    floats: u8,
}

impl Sources {
    /// Counts an operand if it is a source. Called for each operand after `slots` has returned the slot of
    /// the operand.
    pub fn note(&mut self, slots: &Slots, spec: &OpSpec) {
        let count = slots.last_source().map_or(0, |n| n + 1);
        if count > self.count {
            self.floats |= u8::from(spec.num.is_float()) << (count - 1);
            self.count = count;
        }
    }

    /// Returns a mask with a bit for each source that was counted.
    const fn all(self) -> u8 {
        (1 << self.count) - 1
    }
}

/// Returns two masks with a bit for each source. The first has the sources that may have `neg`, the second
/// those that may have `abs`.
fn signs(row: &Row, encoding: Encoding, sources: Sources) -> (u8, u8) {
    match encoding {
        // In matrix instructions, these fields hold `blgp` and `cbsz`.
        Encoding::Vop3p if row.caps.contains(Caps::MFMA) => (7, 7),
        Encoding::Vop3p if row.has_kind(Kind::Agpr) => (0, 0),
        Encoding::Vop3p => (sources.all(), sources.all()),
        Encoding::Vop3 if row.has_mask_out() => (sources.floats, 0),
        Encoding::Vop3 | Encoding::Sdwa | Encoding::Dpp => (sources.floats, sources.floats),
        _ => (0, 0),
    }
}

fn takes_omod(row: &Row, encoding: Encoding) -> bool {
    match encoding {
        Encoding::Vop3 => row.caps.contains(Caps::OMOD),
        Encoding::Sdwa => {
            row.family != Family::Vopc && row.ops.first().is_some_and(|spec| spec.num.is_float())
        }
        _ => false,
    }
}

/// Returns a mask of the bits of `op_sel` that the instruction has.
fn op_sel(row: &Row, encoding: Encoding, sources: Sources) -> u8 {
    match encoding {
        // In matrix instructions, this field holds `abid`.
        Encoding::Vop3p if row.caps.contains(Caps::MFMA) => 15,
        Encoding::Vop3p if row.has_kind(Kind::Agpr) => 0,
        Encoding::Vop3p => sources.all(),
        Encoding::Vop3 if row.caps.contains(Caps::PERMLANE) => 3,
        Encoding::Vop3 if row.caps.contains(Caps::OP_SEL) => sources.all() | 8,
        _ => 0,
    }
}

/// Returns the modifiers of one bit that the instruction accepts in this encoding on the processor.
fn allowed_flags(target: &Target, row: &Row, encoding: Encoding) -> ModFlags {
    let mut hints = ModFlags::GLC | ModFlags::SLC | ModFlags::DLC | ModFlags::SCC;
    if row.requires.contains(Feature::ATOMIC_FADD) && !target.has(Feature::FLOAT_ATOMIC_RESULTS) {
        // Float atomics of gfx908 return nothing, so they have no `glc`.
        hints -= ModFlags::GLC;
    }
    if row.has_no_scope(target) {
        hints -= ModFlags::SCC;
    }
    let lds =
        if row.flags.intersects(Flags::CAN_LDS | Flags::TO_LDS) { ModFlags::LDS } else { ModFlags::empty() };
    match encoding {
        Encoding::Smem if row.flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC) => {
            ModFlags::GLC | ModFlags::DLC | ModFlags::OFFEN
        }
        Encoding::Smem => ModFlags::OFFEN,
        Encoding::Sdwa => ModFlags::CLAMP,
        Encoding::Dpp => ModFlags::BOUND_CTRL | ModFlags::FETCH_INACTIVE,
        Encoding::Dpp8 => ModFlags::FETCH_INACTIVE,
        Encoding::Vop3 | Encoding::Vop3p if row.clamps(target) => ModFlags::CLAMP,
        Encoding::Ds if row.flags.contains(Flags::NO_GDS) => ModFlags::empty(),
        // Processors without memory in the global data share accept `gds` only in instructions that always
        // have it. These are the global wave sync instructions of gfx90a, which use the unit of the global
        // data share to synchronise waves.
        Encoding::Ds if !target.has(Feature::GDS) && !row.flags.contains(Flags::GDS_ONLY) => {
            ModFlags::empty()
        }
        Encoding::Ds => ModFlags::GDS,
        Encoding::Mubuf if row.flags.contains(Flags::SCOPED) && target.has(Feature::SCOPES) => {
            ModFlags::GLC | ModFlags::SCC
        }
        Encoding::Mubuf if row.ops.is_empty() => ModFlags::empty(),
        Encoding::Mubuf if row.flags.contains(Flags::LDS_ONLY) => hints | ModFlags::LDS,
        Encoding::Mubuf => {
            let tfe = if row.flags.contains(Flags::ATOMIC) { ModFlags::empty() } else { ModFlags::TFE };
            // MUBUF atomics of GFX10 have no `dlc`.
            let hints = if row.flags.contains(Flags::ATOMIC) { hints - ModFlags::DLC } else { hints };
            hints | ModFlags::OFFEN | ModFlags::IDXEN | ModFlags::ADDR64 | tfe | lds
        }
        Encoding::Flat => hints | lds,
        _ => ModFlags::empty(),
    }
}

/// Returns whether the instruction can have these modifiers together, and whether all modifiers that it needs
/// are among them.
pub(crate) fn flags_agree(row: &Row, flags: ModFlags) -> bool {
    (!flags.contains(ModFlags::ADDR64) || !flags.intersects(ModFlags::OFFEN | ModFlags::IDXEN))
        && !flags.contains(ModFlags::LDS | ModFlags::TFE)
        && (!row.flags.contains(Flags::GDS_ONLY) || flags.contains(ModFlags::GDS))
        && (!row.flags.intersects(Flags::LDS_ONLY | Flags::TO_LDS) || flags.contains(ModFlags::LDS))
}

/// Returns the positions of an instruction's modifiers of one bit in this encoding on the processor.
fn flag_bits(layout: &'static Layout, row: &Row, encoding: Encoding) -> &'static [FlagBit] {
    match encoding {
        // On GFX6 and GFX7, the field of a destination that is a lane mask includes the position of `clamp`.
        // So an instruction with such a destination has no `clamp`.
        Encoding::Vop3 if row.has_mask_out() && layout.vop3_clamp[0].0.overlaps(VOP3_SDST) => &[],
        // Only GFX8 has `clamp` on compares.
        Encoding::Sdwa if row.family == Family::Vopc && layout.sdwa_scalars => &[],
        _ => layout.flags(encoding),
    }
}

/// Returns the bits that encode an instruction's modifiers.
pub(crate) fn bits(
    target: &Target,
    row: &Row,
    encoding: Encoding,
    inst: &MachInst,
    sources: Sources,
) -> Result<u64, Problem> {
    let (mods, layout) = (&inst.mods, Layout::for_target(target));
    if is_plain(mods) && needs_no_modifiers(row, encoding) {
        return Ok(0);
    }
    if !allowed_flags(target, row, encoding).contains(mods.flags) || !flags_agree(row, mods.flags) {
        return Err(Problem::Modifier("a flag"));
    }
    check_source_mods(row, encoding, mods, sources)?;
    let mut bits = lane_bits(target, row, encoding, mods, sources)?;
    let mut rest = mods.flags;
    match encoding {
        Encoding::Dpp8 => rest -= ModFlags::FETCH_INACTIVE,
        // This flag is encoded together with the offset.
        Encoding::Smem => rest -= ModFlags::OFFEN,
        // The opcode says that the load goes to LDS.
        Encoding::Flat if row.flags.contains(Flags::TO_LDS) => rest -= ModFlags::LDS,
        _ => {}
    }
    for &(field, flag) in flag_bits(layout, row, encoding) {
        bits |= field.put(u32::from(rest.contains(flag)));
        rest -= flag;
    }
    if !rest.is_empty() {
        return Err(Problem::Modifier("a flag of other processors"));
    }
    bits |= match encoding {
        Encoding::Vop3 => vop3_bits(layout, row, mods)?,
        Encoding::Vop3p if is_packed(row) => vop3p_bits(mods, sources),
        Encoding::Vop3p => mfma_bits(mods),
        _ => 0,
    };
    Ok(bits | offset_bits(target, row, encoding, inst)?)
}

/// Returns whether the instruction has no modifiers, as is the case for most instructions. Encoding is then
/// faster.
fn is_plain(mods: &Mods) -> bool {
    let bits = mods.neg | mods.abs | mods.omod | mods.op_sel | mods.op_sel_hi;
    bits == 0 && mods.offset == 0 && mods.flags.is_empty() && mods.lane == Lane::None
}

/// Returns whether the instruction can be encoded with all bits for modifiers clear.
fn needs_no_modifiers(row: &Row, encoding: Encoding) -> bool {
    !matches!(encoding, Encoding::Sdwa | Encoding::Dpp | Encoding::Dpp8 | Encoding::Vop3p)
        && !row.flags.intersects(Flags::GDS_ONLY | Flags::LDS_ONLY | Flags::TO_LDS)
}

fn check_source_mods(row: &Row, encoding: Encoding, mods: &Mods, sources: Sources) -> Result<(), Problem> {
    let (neg, abs) = signs(row, encoding, sources);
    if mods.neg & !neg != 0 {
        return Err(Problem::Modifier("neg"));
    }
    if mods.abs & !abs != 0 {
        return Err(Problem::Modifier("abs"));
    }
    if mods.omod > 3 || mods.omod != 0 && !takes_omod(row, encoding) {
        return Err(Problem::Modifier("an output multiplier"));
    }
    let op_sel = op_sel(row, encoding, sources);
    let packed = encoding == Encoding::Vop3p && is_packed(row);
    if mods.op_sel & !op_sel != 0 || mods.op_sel_hi != 0 && !packed {
        return Err(Problem::Modifier("op_sel"));
    }
    Ok(())
}

fn lane_bits(
    target: &Target,
    row: &Row,
    encoding: Encoding,
    mods: &Mods,
    sources: Sources,
) -> Result<u64, Problem> {
    match (encoding, mods.lane) {
        (Encoding::Sdwa, Lane::Sdwa { dst, unused, src0, src1, sext }) => {
            sdwa_bits(Layout::for_target(target), row, mods, sources, [dst, src0, src1], unused, sext)
        }
        (Encoding::Dpp, Lane::Dpp { ctrl, row_mask, bank_mask }) => {
            if !is_dpp_ctrl(target, row, ctrl) || row_mask > 15 || bank_mask > 15 {
                return Err(Problem::Modifier("this DPP control"));
            }
            Ok(DPP_CTRL.put(u32::from(ctrl))
                | DPP_ROW_MASK.put(u32::from(row_mask))
                | DPP_BANK_MASK.put(u32::from(bank_mask))
                | DPP_NEG0.put(bit(mods.neg, 0))
                | DPP_ABS0.put(bit(mods.abs, 0))
                | DPP_NEG1.put(bit(mods.neg, 1))
                | DPP_ABS1.put(bit(mods.abs, 1)))
        }
        (Encoding::Dpp8, Lane::Dpp8 { lanes }) => {
            let inactive = u32::from(mods.flags.contains(ModFlags::FETCH_INACTIVE));
            Ok(DPP8_LANES.put(lanes) | DPP8_INACTIVE.put(1 + inactive))
        }
        (Encoding::Sdwa | Encoding::Dpp | Encoding::Dpp8, _) => {
            Err(Problem::Modifier("this SDWA or DPP control"))
        }
        (_, Lane::None) => Ok(0),
        _ => Err(Problem::Modifier("SDWA or DPP controls")),
    }
}

const fn bit(mask: u8, n: u8) -> u32 {
    (mask >> n & 1) as u32
}

fn sdwa_bits(
    layout: &Layout,
    row: &Row,
    mods: &Mods,
    sources: Sources,
    [dst, src0, src1]: [SdwaSel; 3],
    unused: u8,
    sext: u8,
) -> Result<u64, Problem> {
    if sext & !(sources.all() & !sources.floats) != 0 || unused > 2 {
        return Err(Problem::Modifier("sext"));
    }
    if !layout.sdwa_omod.fits(u32::from(mods.omod)) {
        return Err(Problem::Modifier("an output multiplier"));
    }
    let mut bits = SDWA_SRC0_SEL.put(src0 as u32)
        | SDWA_SEXT0.put(bit(sext, 0))
        | SDWA_NEG0.put(bit(mods.neg, 0))
        | SDWA_ABS0.put(bit(mods.abs, 0));
    if sources.count > 1 {
        bits |= SDWA_SRC1_SEL.put(src1 as u32)
            | SDWA_SEXT1.put(bit(sext, 1))
            | SDWA_NEG1.put(bit(mods.neg, 1))
            | SDWA_ABS1.put(bit(mods.abs, 1));
    }
    if row.family != Family::Vopc {
        bits |= SDWA_DST_SEL.put(dst as u32)
            | SDWA_DST_UNUSED.put(u32::from(unused))
            | layout.sdwa_omod.put(u32::from(mods.omod));
    }
    Ok(bits)
}

fn vop3_bits(layout: &Layout, row: &Row, mods: &Mods) -> Result<u64, Problem> {
    let common = VOP3_OMOD.put(u32::from(mods.omod)) | VOP3_NEG.put(u32::from(mods.neg));
    if row.has_mask_out() {
        return Ok(common);
    }
    if !layout.vop3_op_sel.fits(u32::from(mods.op_sel)) {
        return Err(Problem::Modifier("op_sel"));
    }
    Ok(common | VOP3_ABS.put(u32::from(mods.abs)) | layout.vop3_op_sel.put(u32::from(mods.op_sel)))
}

/// Returns whether a VOP3P instruction selects halves of its sources with `op_sel`. Matrix instructions, and
/// moves from and to accumulation VGPRs, do not.
fn is_packed(row: &Row) -> bool {
    !row.caps.contains(Caps::MFMA) && !row.has_kind(Kind::Agpr)
}

/// Returns the bits for the modifiers `cbsz`, `abid` and `blgp` of a matrix instruction.
fn mfma_bits(mods: &Mods) -> u64 {
    MFMA_CBSZ.put(u32::from(mods.abs))
        | MFMA_ABID.put(u32::from(mods.op_sel))
        | MFMA_BLGP.put(u32::from(mods.neg))
}

fn vop3p_bits(mods: &Mods, sources: Sources) -> u64 {
    let hi = u32::from(mods.op_sel_hi);
    // The bit of an absent third source is set, as assemblers do.
    let hi2 = if sources.count < 3 { 1 } else { hi >> 2 };
    VOP3_NEG.put(u32::from(mods.neg))
        | VOP3_ABS.put(u32::from(mods.abs))
        | VOP3P_OP_SEL.put(u32::from(mods.op_sel))
        | VOP3P_OP_SEL_HI.put(hi)
        | VOP3P_OP_SEL_HI2.put(hi2)
}

/// Returns whether the bits of `op_sel_hi` are as assemblers encode them. In a packed instruction with only
/// two sources, assemblers also set the bit of the third source. LLVM before version 10 left the bit clear.
pub(crate) fn selects_as_assembled(row: &Row, encoding: Encoding, bits: u64, sources: Sources) -> bool {
    let is_short = encoding == Encoding::Vop3p && is_packed(row) && sources.count < 3;
    !is_short || VOP3P_OP_SEL_HI2.get(bits) != 0
}

/// Returns whether the instruction accepts `ctrl` as its DPP control word, which says from which lanes it
/// reads.
pub fn is_dpp_ctrl(target: &Target, row: &Row, ctrl: u16) -> bool {
    match row.flags.contains(Flags::DPP64) {
        // Instructions on doubles accept only `row_newbcast`.
        true => matches!(ctrl, 0x150..=0x15f),
        false => Layout::for_target(target).dpp_ctrl.iter().any(|range| range.contains(&ctrl)),
    }
}

fn offset_bits(target: &Target, row: &Row, encoding: Encoding, inst: &MachInst) -> Result<u64, Problem> {
    let offset = inst.mods.offset;
    let field = offset_field(target, row, encoding);
    let fits = match encoding {
        Encoding::Flat if row.family != Family::Flat => field.fits_signed(offset),
        // The offset is the sum of an SGPR and an immediate. The encoding of the operand already contains the
        // immediate.
        Encoding::Smem if has_offset_register(row, inst) => return Ok(0),
        _ => u32::try_from(offset).is_ok_and(|offset| field.fits(offset)),
    };
    if fits { Ok(field.put(offset as u32)) } else { Err(Problem::Offset) }
}

/// Returns the field that holds `Mods::offset`. A scalar memory access has no such field here, because the
/// encoding of its offset operand is determined elsewhere.
fn offset_field(target: &Target, row: &Row, encoding: Encoding) -> Field {
    match encoding {
        Encoding::Ds if !row.ops.is_empty() || row.flags.contains(Flags::GDS_ONLY) => DS_OFFSET,
        Encoding::Mubuf if !row.ops.is_empty() => MUBUF_OFFSET,
        // The sign bit of a FLAT offset must be clear.
        Encoding::Flat if row.family == Family::Flat => Field::new(0, target.flat_offset_bits as u8),
        Encoding::Flat => Field::new(0, target.global_offset_bits as u8),
        _ => ABSENT,
    }
}

fn has_offset_register(row: &Row, inst: &MachInst) -> bool {
    let is_offset = row.ops.last().is_some_and(|spec| spec.kind == Kind::SmemOffset);
    is_offset && matches!(inst.operands().last(), Some(Operand::Reg(_)))
}

/// Decodes the modifiers of one bit. Returns the modifiers, and a mask of the bits that can hold such
/// modifiers.
pub(crate) fn read_flags(target: &Target, row: &Row, encoding: Encoding, word: u64) -> (ModFlags, u64) {
    let (layout, allowed) = (Layout::for_target(target), allowed_flags(target, row, encoding));
    let (mut flags, mut known) = (ModFlags::empty(), 0);
    for &(field, flag) in flag_bits(layout, row, encoding) {
        if allowed.contains(flag) {
            known |= field.bits();
            flags |= if field.get(word) != 0 { flag } else { ModFlags::empty() };
        }
    }
    flags.set(ModFlags::LDS, flags.contains(ModFlags::LDS) || row.flags.contains(Flags::TO_LDS));
    (flags, known)
}

/// Decodes all modifiers of several bits. Returns a mask of the bits that can hold such modifiers.
pub(crate) fn read(
    target: &Target,
    mods: &mut Mods,
    row: &Row,
    encoding: Encoding,
    word: u64,
    sources: Sources,
) -> Result<u64, DecodeError> {
    let layout = Layout::for_target(target);
    let byte = |field: Field| field.get(word) as u8;
    let (neg, abs) = signs(row, encoding, sources);
    let known = match encoding {
        Encoding::Sdwa => read_sdwa(layout, mods, row, word, sources)?,
        Encoding::Dpp => {
            mods.neg = byte(DPP_NEG0) | byte(DPP_NEG1) << 1;
            mods.abs = byte(DPP_ABS0) | byte(DPP_ABS1) << 1;
            let ctrl = DPP_CTRL.get(word) as u16;
            if !is_dpp_ctrl(target, row, ctrl) {
                return Err(DecodeError::Reserved);
            }
            mods.lane = Lane::Dpp { ctrl, row_mask: byte(DPP_ROW_MASK), bank_mask: byte(DPP_BANK_MASK) };
            let signs = DPP_NEG0.put(bit(neg, 0))
                | DPP_NEG1.put(bit(neg, 1))
                | DPP_ABS0.put(bit(abs, 0))
                | DPP_ABS1.put(bit(abs, 1));
            signs | DPP_CTRL.bits() | DPP_ROW_MASK.bits() | DPP_BANK_MASK.bits()
        }
        Encoding::Dpp8 => {
            mods.lane = Lane::Dpp8 { lanes: DPP8_LANES.get(word) };
            mods.flags.set(ModFlags::FETCH_INACTIVE, DPP8_INACTIVE.get(word) == 2);
            DPP8_LANES.bits() | DPP8_INACTIVE.bits()
        }
        Encoding::Vop3 => {
            mods.neg = byte(VOP3_NEG);
            let mut known = VOP3_NEG.put(u32::from(neg));
            if takes_omod(row, encoding) {
                mods.omod = byte(VOP3_OMOD);
                known |= VOP3_OMOD.bits();
            }
            if !row.has_mask_out() {
                let op_sel = op_sel(row, encoding, sources);
                mods.abs = byte(VOP3_ABS);
                mods.op_sel = byte(layout.vop3_op_sel) & op_sel;
                known |= VOP3_ABS.put(u32::from(abs)) | layout.vop3_op_sel.put(u32::from(op_sel));
            }
            known
        }
        Encoding::Vop3p if row.caps.contains(Caps::MFMA) => {
            mods.abs = byte(MFMA_CBSZ);
            mods.op_sel = byte(MFMA_ABID);
            mods.neg = byte(MFMA_BLGP);
            MFMA_CBSZ.bits() | MFMA_ABID.bits() | MFMA_BLGP.bits()
        }
        Encoding::Vop3p if row.has_kind(Kind::Agpr) => 0,
        Encoding::Vop3p => {
            let all = u32::from(sources.all());
            mods.neg = byte(VOP3_NEG);
            mods.abs = byte(VOP3_ABS);
            mods.op_sel = byte(VOP3P_OP_SEL);
            let hi = byte(VOP3P_OP_SEL_HI) | byte(VOP3P_OP_SEL_HI2) << 2;
            mods.op_sel_hi = hi & sources.all();
            // An instruction without a third source may have any value in the `op_sel_hi` bit of the third
            // source.
            VOP3_NEG.put(all)
                | VOP3_ABS.put(all)
                | VOP3P_OP_SEL.put(all)
                | VOP3P_OP_SEL_HI.put(all)
                | VOP3P_OP_SEL_HI2.bits()
        }
        Encoding::Ds | Encoding::Mubuf | Encoding::Flat => {
            let field = offset_field(target, row, encoding);
            let signed = encoding == Encoding::Flat && row.family != Family::Flat;
            mods.offset = if signed { field.get_signed(word) } else { field.get(word) as i32 };
            field.bits()
        }
        _ => 0,
    };
    Ok(known)
}

fn read_sdwa(
    layout: &Layout,
    mods: &mut Mods,
    row: &Row,
    word: u64,
    sources: Sources,
) -> Result<u64, DecodeError> {
    let byte = |field: Field| field.get(word) as u8;
    let sel = |field: Field| SdwaSel::from_code(byte(field)).ok_or(DecodeError::Reserved);
    let (floats, ints) = (sources.floats, sources.all() & !sources.floats);
    let src0 = sel(SDWA_SRC0_SEL)?;
    let (mut src1, mut dst, mut unused) = (SdwaSel::Dword, SdwaSel::Dword, 0);
    let mut sext = byte(SDWA_SEXT0);
    mods.neg = byte(SDWA_NEG0);
    mods.abs = byte(SDWA_ABS0);
    let mut known = SDWA_SRC0_SEL.bits()
        | SDWA_SEXT0.put(bit(ints, 0))
        | SDWA_NEG0.put(bit(floats, 0))
        | SDWA_ABS0.put(bit(floats, 0));
    if sources.count > 1 {
        src1 = sel(SDWA_SRC1_SEL)?;
        sext |= byte(SDWA_SEXT1) << 1;
        mods.neg |= byte(SDWA_NEG1) << 1;
        mods.abs |= byte(SDWA_ABS1) << 1;
        known |= SDWA_SRC1_SEL.bits()
            | SDWA_SEXT1.put(bit(ints, 1))
            | SDWA_NEG1.put(bit(floats, 1))
            | SDWA_ABS1.put(bit(floats, 1));
    }
    if row.family != Family::Vopc {
        dst = sel(SDWA_DST_SEL)?;
        unused = byte(SDWA_DST_UNUSED);
        if unused > 2 {
            return Err(DecodeError::Reserved);
        }
        known |= SDWA_DST_SEL.bits() | SDWA_DST_UNUSED.bits();
        if takes_omod(row, Encoding::Sdwa) {
            mods.omod = byte(layout.sdwa_omod);
            known |= layout.sdwa_omod.bits();
        }
    }
    mods.lane = Lane::Sdwa { dst, unused, src0, src1, sext };
    Ok(known)
}
