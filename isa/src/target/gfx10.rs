//! GFX10, RDNA 1 (gfx101x).

use super::buffers::word3;
use super::{
    Arch, ArchId, Buffers, CacheLevels, Checks, CodeEnd, DescriptorFacts, DescriptorFields, Device,
    DeviceSize, Emulation, Fact, Feature, FlatOrder, HalfResults, Hazard, Hazards, KnownHazards, MemoryModel,
    Mode, NONE, RangeCheck, Registers, StoreCounter, Target, VectorCaches, WavePlace, gfx9, like,
};
use crate::addressing::{Addressing, FlatScratch, Offsets};
use crate::graphics::{image, mtbuf};
use crate::inst::ModFlags;
use crate::layout::*;
use crate::reg::Reg;
use crate::table::{Family, op};
use crate::wait::{self, Waits};

pub(super) const ARCH: Arch = Arch {
    id: ArchId::Gfx10,
    layout: Fact::Known(LAYOUT),
    registers: Fact::Known(REGISTERS),
    waits: Fact::Known(Waits { instructions: &wait::WITH_COUNTER_ALONE }),
    addressing: Fact::Known(ADDRESSING),
    mode: Fact::Known(MODE),
    buffers: Fact::Known(BUFFERS),
    device: Fact::Known(DEVICE),
    emulation: Fact::Known(EMULATION),
    checks: Fact::Known(CHECKS),
    memory_model: Fact::Known(MEMORY_MODEL),
    hazards: Fact::Known(HAZARDS),
    descriptor: Fact::Known(DESCRIPTOR),
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

pub(super) const MODE: Mode = Mode { gpr_idx: false, vskip: false, ..gfx9::MODE };

pub(super) const BUFFERS: Buffers = Buffers {
    lane_stride_bits: false,
    range_check: RangeCheck::Selected,
    scratch_format: word3::FORMAT_32_UINT | word3::RESOURCE_LEVEL | word3::OOB_ONLY_EMPTY,
    own_scratch_format: word3::FORMAT_32_FLOAT | word3::RESOURCE_LEVEL | word3::OOB_RAW,
    ..gfx9::BUFFERS
};

pub(super) const DEVICE: Device = Device {
    workgroup_processors: true,
    simd_lanes: 32,
    scalar_alu_per_simd: true,
    wave_place: WavePlace { simd: 8, unit: 10, array: 16, engine: 18, group: None },
};

pub(super) const EMULATION: Emulation = Emulation {
    device: DeviceSize { engines: 2, arrays: 2, units: 5 },
    caches: VectorCaches { line_bytes: 128, gl1: true },
    half_results: HalfResults::KeepHigh,
    ..gfx9::EMULATION
};

pub(super) const CHECKS: Checks = Checks {
    hazards: KnownHazards::XNACK_OWN_ADDRESS
        .union(KnownHazards::FP_ATOMIC_DENORM)
        .union(KnownHazards::NSA_BUFFER)
        .union(KnownHazards::VMEM_SCALAR_WRITE)
        .union(KnownHazards::SMEM_VECTOR_WRITE)
        .union(KnownHazards::VCMPX_EXEC_WAR)
        .union(KnownHazards::VCMPX_PERMLANE)
        .union(KnownHazards::LDS_BRANCH_VMEM_WAR)
        .union(KnownHazards::INST_PREFETCH)
        .union(KnownHazards::SCRATCH_NEGATIVE_OFFSET),
    flat_in_order: true,
    vector_clauses: false,
    ..gfx9::CHECKS
};

pub(super) const MEMORY_MODEL: MemoryModel = MemoryModel {
    caches: CacheLevels::Gl0Gl1L2,
    invalidate: op::BUFFER_GL0_INV,
    invalidate_outer: Some(op::BUFFER_GL1_INV),
    write_back: None,
    volatile_load: ModFlags::GLC.union(ModFlags::DLC),
    volatile_store: ModFlags::empty(),
    scope_bits: false,
    nontemporal_load: ModFlags::SLC,
    nontemporal_store: ModFlags::SLC,
    stores: StoreCounter::Vs,
    flat: FlatOrder::InOrder,
};

/// GFX10 does not have the hazards of GFX9, except those of clauses that may be replayed.
pub(super) const HAZARDS: Hazards = Hazards::NONE.with(&[
    (Hazard::ReplayedClauseOverwritesSource, 1),
    (Hazard::OwnSourceThenReplayedClause, 1),
    (Hazard::ReplayedClauseThenOwnSource, 1),
    (Hazard::ReplayedLoadThenStore, 1),
    (Hazard::ScatteredImageThenOddBuffer, 1),
    (Hazard::FloatAtomicThenDenormMode, 3),
    (Hazard::MemorySgprOverwritten, 1),
    (Hazard::SmemSgprOverwritten, 1),
    (Hazard::ExecOverwritten, 1),
    (Hazard::CmpxThenPermlane, 1),
    (Hazard::LdsBranchVmem, 1),
    (Hazard::VmemBranchLds, 1),
]);

pub(super) const DESCRIPTOR: DescriptorFacts = DescriptorFacts {
    fields: gfx9::DESCRIPTOR
        .fields
        .union(DescriptorFields::WAVEFRONT_SIZE32)
        .union(DescriptorFields::WGP_MODE)
        .union(DescriptorFields::MEM_ORDERED)
        .union(DescriptorFields::FORWARD_PROGRESS)
        .union(DescriptorFields::SHARED_VGPRS),
    counts_sgprs: false,
    sgprs_with_flat_scratch: None,
    sgprs_with_xnack_mask: None,
};

/// Patterns of the encodings.
pub(super) const PATTERNS: Patterns = gfx9::PATTERNS
    .with(Family::Smem, 0b11_1101, 6, Field::new(18, 8))
    .with(Family::Vop3, 0b11_0101, 6, Field::new(16, 10))
    .with(Family::Vop3p, 0b11_0011, 6, Field::new(16, 7))
    .with(Family::Ds, 0b11_0110, 6, Field::new(18, 8))
    .with(Family::Mubuf, 0b11_1000, 6, Field::new(18, 8));

pub(super) const GRAPHICS: Graphics = Graphics {
    typed_opcode: (Field::new(16, 3), Field::new(53, 1)),
    typed_flags: &[mtbuf::OFFEN, mtbuf::IDXEN, mtbuf::GLC, mtbuf::SLC, mtbuf::DLC],
    image_flags: &[
        image::UNORM,
        image::GLC,
        image::R128,
        image::TFE,
        image::LWE,
        image::SLC,
        image::D16,
        image::A16,
        image::DLC,
    ],
    export: 0b11_1110,
    interp: 0b11_0010,
    vop3: 0b11_0101,
    interp_in_vop3: Some(0x200),
    typed_spare: 0,
    image_spare: image::SPARE,
    image_dims: true,
    unified_formats: true,
    more_export_targets: true,
    ..gfx9::GRAPHICS
};

pub(super) const LAYOUT: Layout = Layout {
    patterns: PATTERNS,
    vop1_in_vop3: 0x180,
    scalar_offsets: ScalarOffsets::Sum,
    vop3_literals: true,
    constant_bus: 2,
    dpp8: true,
    no_base: NULL,
    flat_base: NULL,
    writes_lane_from_lds: true,
    pk_fmac_has_suffix: false,
    omits_masks_together: true,
    graphics: GRAPHICS,
    vop3_clamp: [flag(15, ModFlags::CLAMP)],
    vop3_op_sel: Field::new(11, 4),
    sdwa_omod: SDWA_OMOD,
    sdwa_scalars: true,
    dpp_ctrl: &DPP_CTRL_GFX10,
    smem: &[flag(16, GLC), flag(14, DLC)],
    dpp: &[BOUND_CTRL, flag(50, ModFlags::FETCH_INACTIVE)],
    ds: &[flag(17, ModFlags::GDS)],
    mubuf: &[flag(14, GLC), flag(54, SLC), flag(15, DLC), OFFEN, IDXEN, flag(16, LDS), flag(55, TFE)],
    flat: &[flag(16, GLC), flag(17, SLC), flag(12, DLC), flag(13, LDS)],
    spare: Spare {
        smem: 0xf << 53 | 1 << 17 | 1 << 15 | 1 << 13,
        ds: 1 << 16,
        mubuf: 1 << 53 | 1 << 25 | 1 << 17,
        mubuf_bare: MUBUF_BARE,
        flat: 1 << 25,
        sdwa: 1 << 62 | 1 << 54,
        sdwa_compare: 0,
        dpp: 1 << 49,
        vop3_two_sources: 0,
    },
};

pub(super) const FEATURES: Feature = gfx9::FEATURES
    .union(Feature::WAVE32)
    .union(Feature::PERMUTE_IN_HALVES)
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
    // Padding of three cache lines, because code can use `s_inst_prefetch` to make the processor prefetch up
    // to three lines.
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
