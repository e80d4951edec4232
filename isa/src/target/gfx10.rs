//! GFX10, RDNA 1 (gfx101x).

use super::{Arch, ArchId, CodeEnd, Fact, Feature, Generation, NONE, Registers, Target, gfx9, like};
use crate::addressing::{Addressing, FlatScratch, Offsets};
use crate::reg::Reg;
use crate::wait::{self, Waits};

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx10,
    registers: Fact::Known(REGISTERS),
    waits: Fact::Known(Waits { instructions: &wait::WITH_COUNTER_ALONE }),
    addressing: Fact::Known(ADDRESSING),
    ..gfx9::ARCH
};

pub(super) const REGISTERS: Registers = Registers {
    numbered: 106,
    flat_scratch: None,
    xnack_mask: None,
    null: Some(Reg(125)),
    ..gfx9::REGISTERS
};

pub(super) const ADDRESSING: Addressing = Addressing {
    global: Some(Offsets::signed(12)),
    flat: Some(Offsets::unsigned(11)),
    flat_scratch: FlatScratch::HardwareRegisters,
    ..gfx9::ADDRESSING
};

pub(super) const FEATURES: Feature = gfx9::FEATURES
    .union(Feature::WAVE32)
    .union(Feature::NSA)
    .union(Feature::BRANCH_63_BUG)
    .union(Feature::FLAT_OFFSET_BUG)
    .union(Feature::DL_INSTS)
    .union(Feature::FMA_MIX)
    .union(Feature::PK_FMAC_F16);

/// Properties of the family that single processors may change. A compute unit has two of the four SIMDs of a
/// work-group processor.
pub(super) const BASE: Target = Target {
    arch: &ARCH,
    generation: Generation::Gfx10,
    features: FEATURES,
    max_lgkmcnt: 63,
    max_vscnt: 63,
    addressable_sgprs: 106,
    total_sgprs: 128 * 20,
    sgpr_granule: 128,
    extra_sgprs: 2,
    total_vgprs: 1024,
    vgpr_granule: 8,
    vgpr_encoding_granule: 8,
    max_waves: 20,
    simds_per_cu: 2,
    wave_size: 32,
    global_offset_bits: 12,
    flat_offset_bits: 11,
    // Padding of three cache lines, because `s_inst_prefetch` can request that the processor prefetches up to
    // three lines.
    code_end: Some(CodeEnd { word: 0xbf9f_0000, bytes: 3 * CodeEnd::LINE }),
    ..gfx9::BASE
};

pub(super) const DOTS: Feature = gfx9::GFX906_DOTS.union(Feature::DOT5).union(Feature::DOT6);
const GFX1013: Feature = Feature::RAY_TRACING.union(Feature::APU);

pub(super) const PROCESSORS: [Target; 4] = [
    like(BASE, "gfx1010", (10, 1, 0), 0x33, NONE, &[]),
    like(BASE, "gfx1011", (10, 1, 1), 0x34, DOTS, &[]),
    like(BASE, "gfx1012", (10, 1, 2), 0x35, DOTS, &[]),
    like(BASE, "gfx1013", (10, 1, 3), 0x42, GFX1013, &[]),
];
