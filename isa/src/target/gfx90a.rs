//! gfx90a, CDNA 2.

use super::{
    Arch, ArchId, CacheLevels, Checks, CodeEnd, DescriptorFacts, DescriptorFields, Fact, Feature, Hazard,
    Hazards, KnownHazards, MemoryModel, Target, gfx7, gfx9, like, on_by_default,
};
use crate::graphics::{image, mtbuf};
use crate::inst::ModFlags;
use crate::layout::*;
use crate::table::op;

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx90a,
    layout: Fact::Known(LAYOUT),
    memory_model: Fact::Known(MEMORY_MODEL),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
    checks: Fact::Known(CHECKS),
    ..gfx9::ARCH
};

pub(super) const CHECKS: Checks = Checks {
    hazards: gfx9::CHECKS
        .hazards
        .difference(KnownHazards::MATRIX_OWN_FILE)
        .union(KnownHazards::MATRIX_UNIFIED_FILE)
        .union(KnownHazards::DOT_RESULT),
    ..gfx9::CHECKS
};

pub(super) const MEMORY_MODEL: MemoryModel = MemoryModel {
    caches: CacheLevels::OwnL2,
    invalidate_outer: Some(op::BUFFER_INVL2),
    write_back: Some(op::BUFFER_WBL2),
    ..gfx7::MEMORY_MODEL
};

/// The hardware of gfx90a itself prevents the hazards of moves from and to accumulation registers, so these
/// hazards are removed.
pub(super) const HAZARDS: Hazards = gfx9::HAZARDS
    .without(&[
        Hazard::ValuVgprThenAccWrite,
        Hazard::ValuExecThenAccWrite,
        Hazard::AccWriteThenAccRead,
        Hazard::AccReadThenMemory,
        Hazard::AccMoveThenMemory,
    ])
    .with(&[(Hazard::DotThenVgpr, 3)]);

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: gfx9::DESCRIPTOR
        .fields
        .union(DescriptorFields::KERNARG_PRELOAD)
        .union(DescriptorFields::ACCUM_OFFSET)
        .union(DescriptorFields::TG_SPLIT),
    ..gfx9::DESCRIPTOR
};

pub(super) const GRAPHICS: Graphics = Graphics {
    typed_flags: &[mtbuf::OFFEN, mtbuf::IDXEN, mtbuf::GLC, mtbuf::SLC, mtbuf::SCC],
    image_flags: &[
        image::UNORM,
        image::GLC,
        image::DA,
        image::A16_GFX9,
        image::LWE,
        image::SLC,
        image::D16,
        image::SCC,
    ],
    ..gfx9::GRAPHICS
};

/// Memory instructions have no bits for `tfe` and `nv`. The bits at these positions say that data is in
/// accumulation registers.
pub(super) const LAYOUT: Layout = Layout {
    graphics: GRAPHICS,
    dpp_ctrl: &DPP_CTRL_GFX90A,
    mubuf: &[flag(14, GLC), flag(17, SLC), OFFEN, IDXEN, flag(16, LDS), flag(15, ModFlags::SCC)],
    flat: &[flag(16, GLC), flag(17, SLC), flag(13, LDS), flag(25, ModFlags::SCC)],
    spare: Spare { mubuf: 3 << 53 | 1 << 25, flat: 1 << 55, ..gfx9::LAYOUT.spare },
    ..gfx9::LAYOUT
};

pub(super) const FEATURES: Feature = gfx9::GFX908
    .difference(Feature::DS_SRC2)
    .difference(Feature::INTERP)
    .difference(Feature::LDS_DIRECT)
    .difference(Feature::GDS)
    .union(Feature::EVEN_VGPRS)
    .union(Feature::UNIFIED_VGPRS)
    .union(Feature::DPP64)
    .union(Feature::ROW_NEWBCAST)
    .union(Feature::FLOAT_ATOMIC_RESULTS)
    .union(Feature::MATRIX_CONSTANTS)
    .union(Feature::ACC_FROM_SGPR)
    .union(Feature::TGSPLIT)
    .union(Feature::PACKED_WORK_ITEM_IDS)
    .union(Feature::PACKED_F32)
    .union(Feature::F64_ATOMICS);

/// Properties of the family that single processors may change. Accumulation registers are in the same
/// register file as VGPRs, and this file is twice as large as that of GFX9.
pub(super) const BASE: Target = Target {
    arch: &ARCH,
    features: FEATURES,
    addressable_vgprs: 512,
    total_vgprs: 512,
    vgpr_granule: 8,
    vgpr_encoding_granule: 8,
    max_waves: 8,
    code_end: Some(CodeEnd { word: 0xbf80_0000, bytes: 16 * CodeEnd::LINE }),
    ..gfx9::BASE
};

pub(super) const PROCESSORS: [Target; 1] =
    [on_by_default(like(BASE, "gfx90a", (9, 0, 10), 0x3f, Feature::empty(), &[]), Feature::SRAMECC)];
