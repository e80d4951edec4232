//! gfx90a, CDNA 2.

use super::{Arch, ArchId, CodeEnd, Feature, Target, gfx9, like, on_by_default};

pub(super) const ARCH: Arch = Arch { id: ArchId::Gfx90a, ..gfx9::ARCH };

pub(super) const FEATURES: Feature =
    gfx9::GFX908.difference(Feature::DS_SRC2).difference(Feature::INTERP).union(Feature::GFX90A);

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
