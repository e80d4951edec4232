//! gfx940, gfx941 and gfx942, CDNA 3.
//!
//! # Source
//! Instructions, encodings and descriptors are those of LLVM 19's assembler. The memory model is the section
//! "Memory Model GFX942" of LLVM 19's AMDGPU guide. The hazards are those of the CDNA 3 ISA, "Manually
//! Inserted Wait States", with LLVM 19's numbers. The matrix instructions and the conversions of 8-bit floats
//! have no rows yet.

use super::{
    Arch, ArchId, Checks, DescriptorFacts, DescriptorFields, Fact, Feature, Hazard, Hazards, KnownHazards,
    MemoryModel, Target, gfx9, gfx90a, like, on_by_default,
};
use crate::addressing::{Addressing, FlatScratch};
use crate::inst::ModFlags;
use crate::layout::*;
use crate::scratch::ScratchAccess;
use crate::table::op;

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx940,
    layout: Fact::Known(LAYOUT),
    addressing: Fact::Known(ADDRESSING),
    memory_model: Fact::Known(MEMORY_MODEL),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
    checks: Fact::Known(CHECKS),
    ..gfx90a::ARCH
};

/// The bits of `glc`, `slc` and `scc` are those of `sc0`, `nt` and `sc1`. FLAT instructions that load to LDS
/// have opcodes of their own, and in SCRATCH instructions the bit of `lds` says whether the address has a
/// VGPR.
pub(super) const LAYOUT: Layout =
    Layout { flat: &[flag(16, GLC), flag(17, SLC), flag(25, ModFlags::SCC)], ..gfx90a::LAYOUT };

/// In SCRATCH instructions, the sum of the registers of an address must not be negative, although the offset may
/// be.
pub(super) const ADDRESSING: Addressing = Addressing {
    scratch: ScratchAccess::Scratch,
    scratch_checks_base: true,
    flat_scratch: FlatScratch::Architected,
    ..gfx9::ADDRESSING
};

/// `buffer_inv` invalidates, and `buffer_wbl2` writes back, all caches up to the scope in `sc0` and `sc1`.
pub(super) const MEMORY_MODEL: MemoryModel = MemoryModel {
    invalidate: op::BUFFER_INV,
    invalidate_outer: None,
    scope_bits: true,
    volatile_load: SYSTEM,
    volatile_store: SYSTEM,
    nontemporal_load: ModFlags::SLC,
    nontemporal_store: ModFlags::SLC,
    ..gfx90a::MEMORY_MODEL
};

/// `sc0` and `sc1`: the scope is the system.
const SYSTEM: ModFlags = ModFlags::GLC.union(ModFlags::SCC);

pub(super) const CHECKS: Checks = Checks {
    hazards: gfx90a::CHECKS
        .hazards
        .difference(KnownHazards::MATRIX_UNIFIED_FILE)
        .difference(KnownHazards::WIDE_STORE_DATA)
        .union(KnownHazards::WIDE_STORE_DATA_TWO)
        .union(KnownHazards::VALU_RESULT),
    ..gfx90a::CHECKS
};

pub(super) const HAZARDS: Hazards = gfx90a::HAZARDS.with(&[
    (Hazard::WideStoreThenValu, 2),
    (Hazard::ValuSgprThenValu, 2),
    (Hazard::ValuVgprThenReadLane, 1),
    (Hazard::ValuExecThenLaneAccess, 4),
    (Hazard::TranscendentalThenValu, 1),
    (Hazard::PartOfVgprThenValu, 1),
]);

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: gfx90a::DESCRIPTOR
        .fields
        .difference(DescriptorFields::SCRATCH_SETUP)
        .difference(DescriptorFields::RESERVE_FLAT_SCRATCH)
        .union(DescriptorFields::PRIVATE_SEGMENT),
    ..gfx90a::DESCRIPTOR
};

/// There are no `v_mad_f32` and `v_mac_f32`.
pub(super) const FEATURES: Feature = gfx90a::FEATURES
    .difference(Feature::MAD_MAC_F32)
    .union(Feature::WHOLE_DOTS)
    .union(Feature::SCOPES)
    .union(Feature::SCRATCH_VADDR)
    .union(Feature::SCRATCH_NO_ADDRESS);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target { arch: &ARCH, features: FEATURES, ..gfx90a::BASE };

pub(super) const PROCESSORS: [Target; 3] = [
    on_by_default(like(BASE, "gfx940", (9, 4, 0), 0x40, Feature::SYSTEM_STORES, &[]), Feature::SRAMECC),
    on_by_default(like(BASE, "gfx941", (9, 4, 1), 0x4b, Feature::SYSTEM_STORES, &[]), Feature::SRAMECC),
    on_by_default(like(BASE, "gfx942", (9, 4, 2), 0x4c, Feature::empty(), &[]), Feature::SRAMECC),
];
