//! GFX7, Sea Islands.

use super::{
    Arch, ArchId, Checks, DescriptorFacts, DescriptorFields, Emulation, Fact, Feature, FlatOrder, Hazard,
    Hazards, KnownHazards, MemoryModel, NONE, Registers, StoreCounter, Target, gfx6, like,
};
use crate::addressing::{Addressing, Apertures, COHERENT, DWORDS, FlatScratch, NONCOHERENT, Offsets};
use crate::layout::*;
use crate::reg::Reg;
use crate::table::op;

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx7,
    layout: Fact::Known(LAYOUT),
    registers: Fact::Known(REGISTERS),
    addressing: Fact::Known(ADDRESSING),
    emulation: Fact::Known(EMULATION),
    checks: Fact::Known(CHECKS),
    memory_model: Fact::Known(MEMORY_MODEL),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
    ..gfx6::ARCH
};

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: gfx6::DESCRIPTOR.fields.union(DescriptorFields::RESERVE_FLAT_SCRATCH),
    ..gfx6::DESCRIPTOR
};

pub(super) const REGISTERS: Registers = Registers { flat_scratch: Some(Reg(104)), ..gfx6::REGISTERS };

pub(super) const ADDRESSING: Addressing = Addressing {
    flat: Some(Offsets::NONE),
    descriptor: DWORDS | NONCOHERENT,
    shared_descriptor: DWORDS | Addressing::TRANSLATED | COHERENT,
    three_dwords: true,
    unaligned: true,
    scalar_literal: true,
    lds_negative_base: true,
    apertures: Apertures::Queue,
    flat_scratch: FlatScratch::SizeAndOffset,
    ..gfx6::ADDRESSING
};

pub(super) const EMULATION: Emulation = Emulation { frexp_exp_of_special: 0, ..gfx6::EMULATION };

pub(super) const CHECKS: Checks = Checks {
    hazards: gfx6::CHECKS
        .hazards
        .difference(KnownHazards::VALU_SGPR_SMEM)
        .difference(KnownHazards::SALU_SGPR_BUFFER_SMEM)
        .union(KnownHazards::WIDE_STORE_DATA),
    store_data_counts: false,
    ..gfx6::CHECKS
};

pub(super) const MEMORY_MODEL: MemoryModel = MemoryModel {
    invalidate: op::BUFFER_WBINVL1_VOL,
    stores: StoreCounter::Vm,
    flat: FlatOrder::Unordered,
    ..gfx6::MEMORY_MODEL
};

pub(super) const HAZARDS: Hazards = gfx6::HAZARDS
    .without(&[Hazard::ValuSgprThenSmem, Hazard::SaluSgprThenBufferSmem])
    .with(&[(Hazard::WideStoreThenValu, 1)]);

/// Patterns of the encodings.
pub(super) const PATTERNS: Patterns = gfx6::PATTERNS.with_flat();

pub(super) const LAYOUT: Layout =
    Layout { patterns: PATTERNS, scalar_offsets: ScalarOffsets::DwordsOrLiteral, ..gfx6::LAYOUT };

pub(super) const FEATURES: Feature = Feature::MAD_MAC_F32
    .union(Feature::DS_SRC2)
    .union(Feature::INTERP)
    .union(Feature::LDS_DIRECT)
    .union(Feature::GDS)
    .union(Feature::DS_128)
    .union(Feature::FLAT);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target =
    Target { arch: &ARCH, features: FEATURES, lds_granule: 512, max_lds_per_group: 65536, ..gfx6::BASE };

pub(super) const PROCESSORS: [Target; 6] = [
    like(BASE, "gfx700", (7, 0, 0), 0x22, Feature::APU, &["kaveri"]),
    like(BASE, "gfx701", (7, 0, 1), 0x23, Feature::HALF_RATE_F64, &["hawaii"]),
    like(BASE, "gfx702", (7, 0, 2), 0x24, NONE, &[]),
    like(BASE, "gfx703", (7, 0, 3), 0x25, Feature::APU, &["kabini", "mullins"]),
    like(BASE, "gfx704", (7, 0, 4), 0x26, NONE, &["bonaire"]),
    like(BASE, "gfx705", (7, 0, 5), 0x3b, Feature::APU, &[]),
];
