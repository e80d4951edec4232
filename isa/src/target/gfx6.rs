//! GFX6, Southern Islands. All other families start from this one, so that this file lists every fact.

use super::{Arch, ArchId, Fact, Feature, Generation, NONE, Registers, Target, like};
use crate::addressing::{ANY_COMPONENTS, Addressing, Apertures, DWORDS, FlatScratch, Offsets};
use crate::reg::Reg;
use crate::wait::{self, Waits};

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx6,
    registers: Fact::Known(REGISTERS),
    waits: Fact::Known(Waits { instructions: &[wait::PACKED] }),
    addressing: Fact::Known(ADDRESSING),
};

pub(super) const REGISTERS: Registers = Registers {
    numbered: 104,
    flat_scratch: None,
    xnack_mask: None,
    trap_addresses: true,
    trap: Reg(112),
    traps: 12,
    null: None,
    apertures: false,
};

pub(super) const ADDRESSING: Addressing = Addressing {
    global: None,
    flat: None,
    buffer: Offsets::unsigned(12),
    descriptor: DWORDS | ANY_COMPONENTS,
    shared_descriptor: DWORDS | ANY_COMPONENTS,
    three_dwords: false,
    unaligned: false,
    scalar: Offsets::dwords(8),
    scalar_literal: false,
    lds: Offsets::unsigned(16),
    lds_negative_base: false,
    lds_needs_m0: true,
    scratch_checks_base: true,
    // Limit of the register field COMPUTE_TMPRING_SIZE.WAVESIZE, which has 13 bits and counts units of 256
    // dwords.
    scratch_per_wave: ((1 << 13) - 1) * 1024,
    apertures: Apertures::None,
    flat_scratch: FlatScratch::None,
};

const FEATURES: Feature =
    Feature::MAD_MAC_F32.union(Feature::DS_SRC2).union(Feature::INTERP).union(Feature::FRACT_BUG);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target {
    name: "",
    alternatives: &[],
    number: 0,
    arch: &ARCH,
    generation: Generation::Gfx6,
    version: (6, 0, 0),
    elf_mach: 0,
    features: FEATURES,
    on_by_default: NONE,
    max_vmcnt: 15,
    max_lgkmcnt: 15,
    max_expcnt: 7,
    max_vscnt: 0,
    addressable_sgprs: 104,
    total_sgprs: 512,
    sgpr_granule: 8,
    sgpr_encoding_granule: 8,
    // LLVM's assembler counts FLAT_SCRATCH here although GFX6 does not have it.
    extra_sgprs: 4,
    addressable_vgprs: 256,
    total_vgprs: 256,
    vgpr_granule: 4,
    vgpr_encoding_granule: 4,
    max_waves: 10,
    simds_per_cu: 4,
    lds_bytes: 65536,
    lds_granule: 256,
    max_lds_per_group: 32768,
    wave_size: 64,
    global_offset_bits: 0,
    flat_offset_bits: 0,
    code_end: None,
};

pub(super) const PROCESSORS: [Target; 3] = [
    like(BASE, "gfx600", (6, 0, 0), 0x20, Feature::HALF_RATE_F64, &["tahiti"]),
    like(BASE, "gfx601", (6, 0, 1), 0x21, NONE, &["pitcairn", "verde"]),
    like(BASE, "gfx602", (6, 0, 2), 0x3a, NONE, &["hainan", "oland"]),
];
