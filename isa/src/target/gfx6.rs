//! GFX6, Southern Islands. All other families start from this one. This file therefore lists every fact.

use super::buffers::word3;
use super::{
    Arch, ArchId, Buffers, CacheLevels, Checks, DescriptorFacts, DescriptorFields, Device, DeviceSize,
    Emulation, Fact, Feature, FlatOrder, HalfResults, Hazard, Hazards, KnownHazards, MemoryModel, Mode, NONE,
    RangeCheck, Registers, StoreCounter, Target, VectorCaches, WavePlace, like,
};
use crate::addressing::{ANY_COMPONENTS, Addressing, Apertures, DWORDS, FlatScratch, Offsets};
use crate::graphics::{image, mtbuf};
use crate::inst::ModFlags;
use crate::layout::*;
use crate::reg::Reg;
use crate::scratch::ScratchAccess;
use crate::table::{Family, op};
use crate::wait::{self, Waits};

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx6,
    layout: Fact::Known(LAYOUT),
    registers: Fact::Known(REGISTERS),
    waits: Fact::Known(Waits { instructions: &[wait::PACKED] }),
    addressing: Fact::Known(ADDRESSING),
    mode: Fact::Known(MODE),
    buffers: Fact::Known(BUFFERS),
    device: Fact::Known(DEVICE),
    emulation: Fact::Known(EMULATION),
    checks: Fact::Known(CHECKS),
    memory_model: Fact::Known(MEMORY_MODEL),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
};

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: DescriptorFields::SCRATCH_SETUP,
    counts_sgprs: true,
    // LLVM's assembler counts FLAT_SCRATCH here although GFX6 does not have it.
    sgprs_with_flat_scratch: Some(4),
    sgprs_with_xnack_mask: None,
};

pub(super) const REGISTERS: Registers = Registers {
    numbered: 104,
    specials_among_numbered: true,
    flat_scratch: None,
    xnack_mask: None,
    trap_addresses: true,
    trap: Reg(112),
    traps: 12,
    null: None,
    apertures: false,
};

pub(super) const MODE: Mode = Mode { fp16_overflow: false, gpr_idx: false, vskip: true };

pub(super) const BUFFERS: Buffers = Buffers {
    element_size_field: true,
    lane_stride_bits: false,
    range_check: RangeCheck::RecordsIfStride,
    scratch_format: word3::ELEMENT_SIZE_4 | word3::DATA_FORMAT_32 | word3::NUM_FORMAT_UINT,
    own_scratch_format: word3::ELEMENT_SIZE_4 | crate::addressing::DWORDS,
};

pub(super) const DEVICE: Device = Device {
    workgroup_processors: false,
    simd_lanes: 16,
    scalar_alu_per_simd: false,
    wave_place: WavePlace { simd: 4, unit: 8, array: 12, engine: 13, group: Some(16) },
};

pub(super) const EMULATION: Emulation = Emulation {
    device: DeviceSize { engines: 4, arrays: 1, units: 16 },
    caches: VectorCaches { line_bytes: 64, gl1: false },
    half_results: HalfResults::ClearHigh,
    d16_loads_clear: false,
    extrema_obey_denormal_mode: false,
    frexp_exp_of_special: -1,
    swizzle_rotates: false,
    gpr_alloc_sgprs: 8,
};

pub(super) const CHECKS: Checks = Checks {
    hazards: KnownHazards::VALU_SGPR_SMEM
        .union(KnownHazards::SALU_SGPR_BUFFER_SMEM)
        .union(KnownHazards::VALU_SGPR_LANE)
        .union(KnownHazards::VALU_VCC_DIV_FMAS)
        .union(KnownHazards::VALU_ZERO_FLAG)
        .union(KnownHazards::SETREG_GETREG)
        .union(KnownHazards::SETREG_SETREG_ONE)
        .union(KnownHazards::SETREG_VSKIP)
        .union(KnownHazards::SETVSKIP_GETREG)
        .union(KnownHazards::VCCZ_AFTER_SMEM)
        .union(KnownHazards::VCCZ_AFTER_HALF_WRITE),
    store_data_counts: true,
    flat_in_order: false,
    nop_states: 8,
    vector_clauses: true,
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
    scratch: ScratchAccess::Buffer,
    scratch_checks_base: true,
    // Limit of the register field COMPUTE_TMPRING_SIZE.WAVESIZE, which has 13 bits and counts units of 256
    // dwords.
    scratch_per_wave: ((1 << 13) - 1) * 1024,
    apertures: Apertures::None,
    flat_scratch: FlatScratch::None,
};

/// GFX6 has no instruction that invalidates only volatile lines, so the whole cache is invalidated instead.
pub(super) const MEMORY_MODEL: MemoryModel = MemoryModel {
    caches: CacheLevels::SharedL2,
    invalidate: op::BUFFER_WBINVL1,
    invalidate_outer: None,
    write_back: None,
    volatile_load: ModFlags::GLC,
    volatile_store: ModFlags::empty(),
    scope_bits: false,
    nontemporal_load: ModFlags::GLC.union(ModFlags::SLC),
    nontemporal_store: ModFlags::GLC.union(ModFlags::SLC),
    stores: StoreCounter::VmAndExp,
    flat: FlatOrder::None,
};

pub(super) const HAZARDS: Hazards = Hazards { longest_nop: 7, ..Hazards::NONE }.with(&[
    (Hazard::ValuSgprThenVmem, 5),
    (Hazard::ValuSgprThenSmem, 4),
    (Hazard::SaluSgprThenBufferSmem, 4),
    (Hazard::ValuSgprThenLaneSelect, 4),
    (Hazard::ValuVccThenDivFmas, 4),
    (Hazard::ValuMaskThenZeroFlag, 5),
    (Hazard::SaluM0ThenReader, 1),
    (Hazard::SetRegThenGetReg, 2),
    (Hazard::SetRegTwice, 1),
    (Hazard::SetVskipThenGetReg, 2),
    (Hazard::VskipThenVector, 2),
    (Hazard::HalfOfVccThenVccz, 1),
    (Hazard::SmemThenVccz, 1),
]);

/// Patterns of the encodings.
pub(super) const PATTERNS: Patterns = Patterns::COMMON
    .with(Family::Smem, 0b1_1000, 5, Field::new(22, 5))
    .with(Family::Vop3, 0b11_0100, 6, Field::new(17, 9))
    .with(Family::Ds, 0b11_0110, 6, Field::new(18, 8))
    .with(Family::Mubuf, 0b11_1000, 6, Field::new(18, 7));

pub(super) const GRAPHICS: Graphics = Graphics {
    export: 0b11_1110,
    interp: 0b11_0010,
    vop3: 0b11_0101,
    interp_in_vop3: None,
    typed_opcode: (Field::new(16, 3), ABSENT),
    typed_spare: 0,
    image_spare: image::SPARE,
    typed_flags: &[mtbuf::OFFEN, mtbuf::IDXEN, mtbuf::GLC, mtbuf::SLC, mtbuf::ADDR64],
    image_flags: &[image::UNORM, image::GLC, image::DA, image::R128, image::TFE, image::LWE, image::SLC],
    image_dims: false,
    unified_formats: false,
    snorm_ogl: true,
    more_export_targets: false,
};

pub(super) const LAYOUT: Layout = Layout {
    patterns: PATTERNS,
    vop1_in_vop3: 0x180,
    scalar_offsets: ScalarOffsets::Dwords,
    vop3_literals: false,
    constant_bus: 1,
    dpp8: false,
    no_base: SADDR_OFF,
    flat_base: 0,
    writes_lane_from_lds: true,
    pk_fmac_has_suffix: false,
    omits_masks_together: false,
    graphics: GRAPHICS,
    vop3_clamp: [flag(11, ModFlags::CLAMP)],
    vop3_op_sel: ABSENT,
    sdwa_omod: ABSENT,
    sdwa_scalars: false,
    dpp_ctrl: &[],
    smem: &[],
    dpp: &[],
    ds: &[flag(17, ModFlags::GDS)],
    mubuf: &[
        flag(14, GLC),
        flag(54, SLC),
        OFFEN,
        IDXEN,
        flag(15, ModFlags::ADDR64),
        flag(16, LDS),
        flag(55, TFE),
    ],
    flat: &[flag(16, GLC), flag(17, SLC)],
    spare: Spare {
        smem: 0,
        ds: 0,
        mubuf: 0,
        mubuf_bare: 0,
        flat: 0,
        sdwa: 0,
        sdwa_compare: 0,
        dpp: 0,
        vop3_two_sources: VOP3_SRC2.bits(),
    },
};

const FEATURES: Feature = Feature::MAD_MAC_F32
    .union(Feature::DS_SRC2)
    .union(Feature::INTERP)
    .union(Feature::LDS_DIRECT)
    .union(Feature::GDS)
    .union(Feature::FRACT_BUG);

/// Properties of the family that single processors may change.
pub(super) const BASE: Target = Target {
    name: "",
    alternatives: &[],
    number: 0,
    arch: &ARCH,
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
