//! GFX8, Volcanic Islands.

use super::{Arch, ArchId, Fact, Feature, Generation, Registers, Target, gfx7, like, on_by_default};
use crate::addressing::{Addressing, Offsets};
use crate::reg::Reg;

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx8,
    registers: Fact::Known(REGISTERS),
    addressing: Fact::Known(ADDRESSING),
    ..gfx7::ARCH
};

pub(super) const REGISTERS: Registers = Registers {
    numbered: 102,
    flat_scratch: Some(Reg::FLAT_SCRATCH),
    xnack_mask: Some(Reg(104)),
    ..gfx7::REGISTERS
};

pub(super) const ADDRESSING: Addressing =
    Addressing { scalar: Offsets::unsigned(20), scalar_literal: false, ..gfx7::ADDRESSING };

pub(super) const FEATURES: Feature = gfx7::FEATURES
    .union(Feature::SDWA)
    .union(Feature::INT_CLAMP)
    .union(Feature::DPP)
    .union(Feature::INV_2PI)
    .union(Feature::SCALAR_STORES);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target {
    arch: &ARCH,
    generation: Generation::Gfx8,
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

/// Returns a GFX8 processor with the defect in the initialisation of SGPRs: each of its waves always gets 96
/// SGPRs.
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
