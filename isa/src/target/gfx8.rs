//! GFX8, Volcanic Islands.

use super::buffers::word3;
use super::{
    Arch, ArchId, Buffers, Checks, DescriptorFacts, DescriptorFields, Emulation, Fact, Feature, Hazard,
    Hazards, KnownHazards, Mode, RangeCheck, Registers, Target, gfx6, gfx7, like, on_by_default,
};
use crate::addressing::{Addressing, Offsets};
use crate::graphics::{image, mtbuf};
use crate::inst::ModFlags;
use crate::layout::*;
use crate::reg::Reg;
use crate::table::Family;

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx8,
    layout: Fact::Known(LAYOUT),
    registers: Fact::Known(REGISTERS),
    addressing: Fact::Known(ADDRESSING),
    mode: Fact::Known(MODE),
    buffers: Fact::Known(BUFFERS),
    emulation: Fact::Known(EMULATION),
    checks: Fact::Known(CHECKS),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
    ..gfx7::ARCH
};

pub(super) const REGISTERS: Registers = Registers {
    numbered: 102,
    specials_among_numbered: false,
    flat_scratch: Some(Reg::FLAT_SCRATCH),
    xnack_mask: Some(Reg(104)),
    ..gfx7::REGISTERS
};

pub(super) const ADDRESSING: Addressing =
    Addressing { scalar: Offsets::unsigned(20), scalar_literal: false, ..gfx7::ADDRESSING };

pub(super) const MODE: Mode = Mode { gpr_idx: true, ..gfx6::MODE };

pub(super) const BUFFERS: Buffers = Buffers {
    lane_stride_bits: true,
    range_check: RangeCheck::RecordsIfSwizzled,
    scratch_format: word3::ELEMENT_SIZE_4 | word3::NUM_FORMAT_UINT,
    own_scratch_format: word3::ELEMENT_SIZE_4,
    ..gfx6::BUFFERS
};

pub(super) const EMULATION: Emulation =
    Emulation { d16_loads_clear: true, gpr_alloc_sgprs: 16, ..gfx7::EMULATION };

pub(super) const CHECKS: Checks = Checks {
    hazards: gfx7::CHECKS
        .hazards
        .difference(KnownHazards::SETREG_SETREG_ONE)
        .difference(KnownHazards::VCCZ_AFTER_SMEM)
        .union(KnownHazards::VALU_SGPR_VMEM)
        .union(KnownHazards::VALU_EXEC_VMEM)
        .union(KnownHazards::VALU_VGPR_DPP)
        .union(KnownHazards::VALU_EXEC_DPP)
        .union(KnownHazards::SALU_M0_MESSAGE)
        .union(KnownHazards::SETREG_SETREG_TWO)
        .union(KnownHazards::SETREG_RFE)
        .union(KnownHazards::XNACK_OWN_ADDRESS),
    nop_states: 16,
    ..gfx7::CHECKS
};

pub(super) const HAZARDS: Hazards = Hazards { vector_clauses: true, longest_nop: 15, ..gfx7::HAZARDS }
    .without(&[Hazard::SmemThenVccz])
    .with(&[
        (Hazard::ValuExecThenDpp, 5),
        (Hazard::ValuVgprThenDpp, 2),
        (Hazard::SetRegTwice, 2),
        (Hazard::TrapStatusThenRfe, 1),
        (Hazard::ReplayedClauseOverwritesSource, 1),
        (Hazard::OwnSourceThenReplayedClause, 1),
        (Hazard::ReplayedClauseThenOwnSource, 1),
        (Hazard::ReplayedLoadThenStore, 1),
    ]);

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: gfx7::DESCRIPTOR.fields.union(DescriptorFields::RESERVE_XNACK_MASK),
    counts_sgprs: true,
    sgprs_with_flat_scratch: Some(6),
    sgprs_with_xnack_mask: Some(4),
};

/// Patterns of the encodings.
pub(super) const PATTERNS: Patterns = gfx7::PATTERNS
    .with(Family::Smem, 0b11_0000, 6, Field::new(18, 8))
    .with(Family::Vop3, 0b11_0100, 6, Field::new(16, 10))
    .with(Family::Ds, 0b11_0110, 6, Field::new(17, 8));

pub(super) const GRAPHICS: Graphics = Graphics {
    export: 0b11_0001,
    interp: 0b11_0101,
    vop3: 0b11_0100,
    interp_in_vop3: Some(0x270),
    typed_opcode: (Field::new(15, 4), ABSENT),
    typed_spare: 1 << 53,
    image_spare: image::SPARE_GFX8,
    typed_flags: &[mtbuf::OFFEN, mtbuf::IDXEN, mtbuf::GLC, mtbuf::SLC],
    image_flags: &[
        image::UNORM,
        image::GLC,
        image::DA,
        image::R128,
        image::TFE,
        image::LWE,
        image::SLC,
        image::D16,
    ],
    snorm_ogl: false,
    ..gfx7::LAYOUT.graphics
};

pub(super) const LAYOUT: Layout = Layout {
    patterns: PATTERNS,
    vop1_in_vop3: 0x140,
    scalar_offsets: ScalarOffsets::Unsigned,
    writes_lane_from_lds: false,
    graphics: GRAPHICS,
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
        vop3_two_sources: 0,
    },
    ..gfx7::LAYOUT
};

pub(super) const FEATURES: Feature = gfx7::FEATURES
    .union(Feature::SDWA)
    .union(Feature::INT_CLAMP)
    .union(Feature::DPP)
    .union(Feature::INV_2PI)
    .union(Feature::SCALAR_STORES);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target {
    arch: &ARCH,
    features: FEATURES,
    addressable_sgprs: 102,
    total_sgprs: 800,
    sgpr_granule: 16,
    extra_sgprs: 6,
    ..gfx7::BASE
};

const XNACK: Feature = Feature::XNACK;
const GFX801: Feature = XNACK.union(Feature::APU).union(Feature::HALF_RATE_F64).union(Feature::UNPACKED_D16);
const GFX803: Feature = Feature::UNPACKED_D16;
const GFX810: Feature = XNACK.union(Feature::APU);

pub(super) const PROCESSORS: [Target; 5] = [
    on_by_default(like(BASE, "gfx801", (8, 0, 1), 0x28, GFX801, &["carrizo"]), XNACK),
    initialised_badly("gfx802", (8, 0, 2), 0x29, &["iceland", "tonga"]),
    like(BASE, "gfx803", (8, 0, 3), 0x2a, GFX803, &["fiji", "polaris10", "polaris11"]),
    initialised_badly("gfx805", (8, 0, 5), 0x3c, &["tongapro"]),
    on_by_default(like(BASE, "gfx810", (8, 1, 0), 0x2b, GFX810, &["stoney"]), XNACK),
];

/// Returns a GFX8 processor that has the SGPR initialisation defect. To avoid the defect, each of its waves
/// always gets 96 SGPRs.
const fn initialised_badly(
    name: &'static str,
    version: (u32, u32, u32),
    elf_mach: u32,
    alternatives: &'static [&'static str],
) -> Target {
    let features = Feature::UNPACKED_D16.union(Feature::SGPR_INIT_BUG);
    let processor = like(BASE, name, version, elf_mach, features, alternatives);
    Target { addressable_sgprs: 96, sgpr_granule: 96, ..processor }
}
