//! GFX9: Vega, and gfx908. Later CDNA processors have their own families.

use super::buffers::word3;
use super::{
    Arch, ArchId, Buffers, Checks, DescriptorFacts, DescriptorFields, Emulation, Fact, Feature, HalfResults,
    Hazard, Hazards, KnownHazards, Mode, RangeCheck, Registers, Target, gfx8, like, on_by_default,
};
use crate::addressing::{Addressing, Apertures, FlatScratch, Offsets};
use crate::graphics::image;
use crate::inst::ModFlags;
use crate::layout::*;
use crate::reg::Reg;
use crate::table::Family;

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx9,
    layout: Fact::Known(LAYOUT),
    registers: Fact::Known(REGISTERS),
    addressing: Fact::Known(ADDRESSING),
    mode: Fact::Known(MODE),
    buffers: Fact::Known(BUFFERS),
    emulation: Fact::Known(EMULATION),
    checks: Fact::Known(CHECKS),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
    ..gfx8::ARCH
};

pub(super) const REGISTERS: Registers =
    Registers { trap_addresses: false, trap: Reg(108), traps: 16, apertures: true, ..gfx8::REGISTERS };

/// GFX9 scalar loads can encode negative offsets, but this range leaves them out: an access fails if its base
/// is 0 and the sum of its offsets is negative.
pub(super) const ADDRESSING: Addressing = Addressing {
    global: Some(Offsets::signed(13)),
    flat: Some(Offsets::unsigned(12)),
    lds_needs_m0: false,
    scratch_checks_base: false,
    apertures: Apertures::Registers,
    flat_scratch: FlatScratch::Address,
    ..gfx8::ADDRESSING
};

pub(super) const MODE: Mode = Mode { fp16_overflow: true, ..gfx8::MODE };

pub(super) const BUFFERS: Buffers = Buffers {
    element_size_field: false,
    range_check: RangeCheck::RecordsIfIndexed,
    scratch_format: word3::NUM_FORMAT_UINT,
    own_scratch_format: 0,
    ..gfx8::BUFFERS
};

pub(super) const EMULATION: Emulation = Emulation {
    half_results: HalfResults::KeepHighIfSelectable,
    d16_loads_clear: false,
    extrema_obey_denormal_mode: true,
    swizzle_rotates: true,
    ..gfx8::EMULATION
};

pub(super) const CHECKS: Checks = Checks {
    hazards: gfx8::CHECKS
        .hazards
        .union(KnownHazards::SALU_M0_INDEX)
        .union(KnownHazards::SALU_M0_LDS_DMA)
        .union(KnownHazards::MATRIX_OWN_FILE),
    ..gfx8::CHECKS
};
/// The hazards of moves from and to accumulation VGPRs concern only gfx908, because the other processors do
/// not have these instructions.
pub(super) const HAZARDS: Hazards = gfx8::HAZARDS.with(&[
    (Hazard::ValuVgprThenAccWrite, 2),
    (Hazard::ValuExecThenAccWrite, 4),
    (Hazard::AccWriteThenAccRead, 3),
    (Hazard::AccReadThenMemory, 2),
    (Hazard::AccMoveThenMemory, 1),
]);

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: gfx8::DESCRIPTOR.fields.union(DescriptorFields::FP16_OVERFLOW),
    ..gfx8::DESCRIPTOR
};

/// Patterns of the encodings.
pub(super) const PATTERNS: Patterns = gfx8::PATTERNS.with(Family::Vop3p, 0b1_1010_0111, 9, Field::new(16, 7));

pub(super) const GRAPHICS: Graphics = Graphics {
    image_flags: &[
        image::UNORM,
        image::GLC,
        image::DA,
        image::A16_GFX9,
        image::TFE,
        image::LWE,
        image::SLC,
        image::D16,
    ],
    ..gfx8::GRAPHICS
};

pub(super) const LAYOUT: Layout = Layout {
    patterns: PATTERNS,
    scalar_offsets: ScalarOffsets::Signed,
    pk_fmac_has_suffix: true,
    graphics: GRAPHICS,
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
        vop3_two_sources: 0,
    },
    ..gfx8::LAYOUT
};

pub(super) const FEATURES: Feature = gfx8::FEATURES
    .union(Feature::GLOBAL_INSTS)
    .union(Feature::LDS_NO_M0)
    .union(Feature::ADD_NO_CARRY)
    .union(Feature::THREE_OP_INT)
    .union(Feature::SWAP)
    .union(Feature::SCALAR_ATOMICS)
    .union(Feature::XNACK);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target {
    arch: &ARCH,
    features: FEATURES,
    max_vmcnt: 63,
    global_offset_bits: 13,
    flat_offset_bits: 12,
    ..gfx8::BASE
};

const XNACK: Feature = Feature::XNACK;
const GFX902: Feature = Feature::MAD_MIX.union(Feature::APU);

/// Dot products of gfx906, of the GFX10 processors that have them, and of gfx908.
pub(super) const GFX906_DOTS: Feature =
    Feature::DOT1.union(Feature::DOT2).union(Feature::DOT7).union(Feature::DOT10);
const GFX908_DOTS: Feature =
    GFX906_DOTS.union(Feature::DOT3).union(Feature::DOT4).union(Feature::DOT5).union(Feature::DOT6);
const GFX906: Feature = FEATURES
    .union(GFX906_DOTS)
    .union(Feature::FMA_MIX)
    .union(Feature::DL_INSTS)
    .union(Feature::HALF_RATE_F64)
    .union(Feature::SRAMECC);
pub(super) const GFX908: Feature =
    GFX906.union(GFX908_DOTS).union(Feature::MAI).union(Feature::PK_FMAC_F16).union(Feature::ATOMIC_FADD);

pub(super) const PROCESSORS: [Target; 7] = [
    like(BASE, "gfx900", (9, 0, 0), 0x2c, Feature::MAD_MIX, &[]),
    on_by_default(like(BASE, "gfx902", (9, 0, 2), 0x2d, GFX902, &[]), XNACK),
    like(BASE, "gfx904", (9, 0, 4), 0x2e, Feature::FMA_MIX, &[]),
    like(BASE, "gfx906", (9, 0, 6), 0x2f, GFX906, &[]),
    on_by_default(like(BASE, "gfx908", (9, 0, 8), 0x30, GFX908, &[]), Feature::SRAMECC),
    on_by_default(like(BASE, "gfx909", (9, 0, 9), 0x31, GFX902, &[]), XNACK),
    on_by_default(like(BASE, "gfx90c", (9, 0, 12), 0x32, GFX902, &[]), XNACK),
];
