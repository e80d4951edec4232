//! GFX10.3, RDNA 2 (gfx103x).

use super::{Arch, ArchId, Checks, Fact, Feature, Hazard, Hazards, KnownHazards, NONE, Target, gfx10, like};

pub(super) const ARCH: Arch =
    Arch { id: ArchId::Gfx10_3, checks: Fact::Known(CHECKS), hazards: Fact::Known(HAZARDS), ..gfx10::ARCH };

/// RDNA 2 does not have the defects of RDNA 1.
pub(super) const CHECKS: Checks = Checks {
    hazards: KnownHazards::XNACK_OWN_ADDRESS.union(KnownHazards::FP_ATOMIC_DENORM),
    ..gfx10::CHECKS
};

/// Nothing is replayed, because there is no XNACK.
pub(super) const HAZARDS: Hazards = gfx10::HAZARDS.without(&[
    Hazard::ReplayedClauseOverwritesSource,
    Hazard::OwnSourceThenReplayedClause,
    Hazard::ReplayedClauseThenOwnSource,
    Hazard::ReplayedLoadThenStore,
    Hazard::ScatteredImageThenOddBuffer,
    Hazard::MemorySgprOverwritten,
    Hazard::SmemSgprOverwritten,
    Hazard::ExecOverwritten,
    Hazard::CmpxThenPermlane,
    Hazard::LdsBranchVmem,
    Hazard::VmemBranchLds,
]);

pub(super) const FEATURES: Feature = gfx10::FEATURES
    .difference(Feature::BRANCH_63_BUG)
    .difference(Feature::FLAT_OFFSET_BUG)
    .difference(Feature::MAD_MAC_F32)
    .difference(Feature::DS_SRC2)
    .difference(Feature::SCALAR_STORES)
    .difference(Feature::SCALAR_ATOMICS)
    .difference(Feature::XNACK)
    .union(gfx10::DOTS)
    .union(Feature::RAY_TRACING)
    .union(Feature::SCRATCH_NO_ADDRESS);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target {
    arch: &ARCH,
    features: FEATURES,
    total_sgprs: 128 * 16,
    vgpr_granule: 16,
    max_waves: 16,
    ..gfx10::BASE
};

pub(super) const PROCESSORS: [Target; 7] = [
    like(BASE, "gfx1030", (10, 3, 0), 0x36, NONE, &[]),
    like(BASE, "gfx1031", (10, 3, 1), 0x37, NONE, &[]),
    like(BASE, "gfx1032", (10, 3, 2), 0x38, NONE, &[]),
    like(BASE, "gfx1033", (10, 3, 3), 0x39, Feature::APU, &[]),
    like(BASE, "gfx1034", (10, 3, 4), 0x3e, NONE, &[]),
    like(BASE, "gfx1035", (10, 3, 5), 0x3d, Feature::APU, &[]),
    like(BASE, "gfx1036", (10, 3, 6), 0x45, Feature::APU, &[]),
];
