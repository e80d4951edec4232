//! The table of processors. Names, alternative names and families: seed 000, line 31 (which still lists
//! hainan and oland as gfx601; they later got their own number, gfx602). `EF_AMDGPU_MACH`, granules and
//! limits are compared with the output of LLVM's assembler (`tests/processors.rs`); waves and SIMDs cannot be
//! checked in this way.

use crate::target::{CodeEnd, Feature, Generation, Target};

/// Features that all processors of a generation have.
const GFX7: Feature = Feature::MAD_MAC_F32
    .union(Feature::DS_SRC2)
    .union(Feature::INTERP)
    .union(Feature::DS_128)
    .union(Feature::FLAT);
const GFX8: Feature =
    GFX7.union(Feature::SDWA).union(Feature::DPP).union(Feature::INV_2PI).union(Feature::SCALAR_STORES);
const GFX9: Feature = GFX8
    .union(Feature::GLOBAL_INSTS)
    .union(Feature::LDS_NO_M0)
    .union(Feature::ADD_NO_CARRY)
    .union(Feature::THREE_OP_INT)
    .union(Feature::SWAP)
    .union(Feature::SCALAR_ATOMICS)
    .union(Feature::XNACK);
const GFX10: Feature = GFX9
    .union(Feature::WAVE32)
    .union(Feature::NSA)
    .union(Feature::BRANCH_63_BUG)
    .union(Feature::FLAT_OFFSET_BUG)
    .union(Feature::DL_INSTS)
    .union(Feature::FMA_MIX)
    .union(Feature::PK_FMAC_F16);
const GFX10_3: Feature = GFX10
    .difference(Feature::BRANCH_63_BUG)
    .difference(Feature::FLAT_OFFSET_BUG)
    .difference(Feature::MAD_MAC_F32)
    .difference(Feature::DS_SRC2)
    .difference(Feature::SCALAR_STORES)
    .difference(Feature::SCALAR_ATOMICS)
    .difference(Feature::XNACK)
    .union(GFX10_DOTS)
    .union(Feature::GFX10_3)
    .union(Feature::RAY_TRACING);

/// Dot products of gfx906, of the GFX10 processors that have them, and of gfx908.
const GFX906_DOTS: Feature = Feature::DOT1.union(Feature::DOT2).union(Feature::DOT7).union(Feature::DOT10);
const GFX10_DOTS: Feature = GFX906_DOTS.union(Feature::DOT5).union(Feature::DOT6);
const GFX908_DOTS: Feature = GFX10_DOTS.union(Feature::DOT3).union(Feature::DOT4);
const GFX906: Feature = GFX9
    .union(GFX906_DOTS)
    .union(Feature::FMA_MIX)
    .union(Feature::DL_INSTS)
    .union(Feature::HALF_RATE_F64)
    .union(Feature::SRAMECC);
const GFX908: Feature = GFX906
    .difference(Feature::empty())
    .union(GFX908_DOTS)
    .union(Feature::MAI)
    .union(Feature::PK_FMAC_F16)
    .union(Feature::ATOMIC_FADD);
const GFX90A: Feature =
    GFX908.difference(Feature::DS_SRC2).difference(Feature::INTERP).union(Feature::GFX90A);

/// Properties shared by the processors of a generation; each row adds its own properties.
const GFX6_BASE: Target = Target {
    name: "",
    alternatives: &[],
    number: 0,
    generation: Generation::Gfx6,
    version: (6, 0, 0),
    elf_mach: 0,
    features: Feature::MAD_MAC_F32.union(Feature::DS_SRC2).union(Feature::INTERP).union(Feature::FRACT_BUG),
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
const GFX7_BASE: Target = Target {
    generation: Generation::Gfx7,
    features: GFX7,
    lds_granule: 512,
    max_lds_per_group: 65536,
    ..GFX6_BASE
};
const GFX8_BASE: Target = Target {
    generation: Generation::Gfx8,
    features: GFX8,
    addressable_sgprs: 102,
    total_sgprs: 800,
    sgpr_granule: 16,
    extra_sgprs: 6,
    ..GFX7_BASE
};
const GFX9_BASE: Target = Target {
    generation: Generation::Gfx9,
    features: GFX9,
    max_vmcnt: 63,
    global_offset_bits: 13,
    flat_offset_bits: 12,
    ..GFX8_BASE
};
/// Number of SIMDs of a compute unit: two of the four SIMDs of a work-group processor.
const GFX10_BASE: Target = Target {
    generation: Generation::Gfx10,
    features: GFX10,
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
    ..GFX9_BASE
};
const GFX10_3_BASE: Target =
    Target { features: GFX10_3, total_sgprs: 128 * 16, vgpr_granule: 16, max_waves: 16, ..GFX10_BASE };

/// Returns a processor like `base` with its own properties.
const fn like(
    base: Target,
    name: &'static str,
    version: (u32, u32, u32),
    elf_mach: u32,
    features: Feature,
    alternatives: &'static [&'static str],
) -> Target {
    Target { name, version, elf_mach, alternatives, features: base.features.union(features), ..base }
}

const NONE: Feature = Feature::empty();
const FAST_F64: Feature = Feature::HALF_RATE_F64;
const XNACK: Feature = Feature::XNACK;
const APU: Feature = Feature::APU;
const GFX801: Feature = FAST_F64.union(XNACK).union(Feature::UNPACKED_D16).union(APU);
const GFX810: Feature = XNACK.union(APU);
const GFX902: Feature = Feature::MAD_MIX.union(APU);
const COUNT: usize = 33;

/// Name, version, `EF_AMDGPU_MACH`, features in addition to those of the base, alternative names.
const ROWS: [Target; COUNT] = [
    like(GFX6_BASE, "gfx600", (6, 0, 0), 0x20, FAST_F64, &["tahiti"]),
    like(GFX6_BASE, "gfx601", (6, 0, 1), 0x21, NONE, &["pitcairn", "verde"]),
    like(GFX6_BASE, "gfx602", (6, 0, 2), 0x3a, NONE, &["hainan", "oland"]),
    like(GFX7_BASE, "gfx700", (7, 0, 0), 0x22, APU, &["kaveri"]),
    like(GFX7_BASE, "gfx701", (7, 0, 1), 0x23, FAST_F64, &["hawaii"]),
    like(GFX7_BASE, "gfx702", (7, 0, 2), 0x24, NONE, &[]),
    like(GFX7_BASE, "gfx703", (7, 0, 3), 0x25, APU, &["kabini", "mullins"]),
    like(GFX7_BASE, "gfx704", (7, 0, 4), 0x26, NONE, &["bonaire"]),
    like(GFX7_BASE, "gfx705", (7, 0, 5), 0x3b, APU, &[]),
    on_by_default(like(GFX8_BASE, "gfx801", (8, 0, 1), 0x28, GFX801, &["carrizo"]), XNACK),
    initialised_badly("gfx802", (8, 0, 2), 0x29, &["iceland", "tonga"]),
    like(GFX8_BASE, "gfx803", (8, 0, 3), 0x2a, Feature::UNPACKED_D16, &["fiji", "polaris10", "polaris11"]),
    initialised_badly("gfx805", (8, 0, 5), 0x3c, &["tongapro"]),
    on_by_default(like(GFX8_BASE, "gfx810", (8, 1, 0), 0x2b, GFX810, &["stoney"]), XNACK),
    like(GFX9_BASE, "gfx900", (9, 0, 0), 0x2c, Feature::MAD_MIX, &[]),
    on_by_default(like(GFX9_BASE, "gfx902", (9, 0, 2), 0x2d, GFX902, &[]), XNACK),
    like(GFX9_BASE, "gfx904", (9, 0, 4), 0x2e, Feature::FMA_MIX, &[]),
    like(GFX9_BASE, "gfx906", (9, 0, 6), 0x2f, GFX906, &[]),
    on_by_default(like(GFX9_BASE, "gfx908", (9, 0, 8), 0x30, GFX908, &[]), Feature::SRAMECC),
    on_by_default(like(GFX9_BASE, "gfx909", (9, 0, 9), 0x31, GFX902, &[]), XNACK),
    Target {
        // On gfx90a, accumulation registers are in the same register file as VGPRs, and this file is twice as
        // large.
        features: GFX90A,
        addressable_vgprs: 512,
        total_vgprs: 512,
        vgpr_granule: 8,
        vgpr_encoding_granule: 8,
        max_waves: 8,
        on_by_default: Feature::SRAMECC,
        code_end: Some(CodeEnd { word: 0xbf80_0000, bytes: 16 * CodeEnd::LINE }),
        ..like(GFX9_BASE, "gfx90a", (9, 0, 10), 0x3f, GFX90A, &[])
    },
    on_by_default(like(GFX9_BASE, "gfx90c", (9, 0, 12), 0x32, GFX902, &[]), XNACK),
    like(GFX10_BASE, "gfx1010", (10, 1, 0), 0x33, NONE, &[]),
    like(GFX10_BASE, "gfx1011", (10, 1, 1), 0x34, GFX10_DOTS, &[]),
    like(GFX10_BASE, "gfx1012", (10, 1, 2), 0x35, GFX10_DOTS, &[]),
    like(GFX10_BASE, "gfx1013", (10, 1, 3), 0x42, Feature::RAY_TRACING.union(APU), &[]),
    like(GFX10_3_BASE, "gfx1030", (10, 3, 0), 0x36, NONE, &[]),
    like(GFX10_3_BASE, "gfx1031", (10, 3, 1), 0x37, NONE, &[]),
    like(GFX10_3_BASE, "gfx1032", (10, 3, 2), 0x38, NONE, &[]),
    like(GFX10_3_BASE, "gfx1033", (10, 3, 3), 0x39, APU, &[]),
    like(GFX10_3_BASE, "gfx1034", (10, 3, 4), 0x3e, NONE, &[]),
    like(GFX10_3_BASE, "gfx1035", (10, 3, 5), 0x3d, APU, &[]),
    like(GFX10_3_BASE, "gfx1036", (10, 3, 6), 0x45, APU, &[]),
];

/// Returns a processor on which features of target ids are on unless specified (seed 000, line 31; gfx90a and
/// gfx90c are newer and are treated like related processors).
const fn on_by_default(processor: Target, features: Feature) -> Target {
    Target { on_by_default: features, ..processor }
}

/// Returns a GFX8 processor with the defect in the initialisation of SGPRs: each of its waves always gets 96
/// SGPRs.
const fn initialised_badly(
    name: &'static str,
    version: (u32, u32, u32),
    elf_mach: u32,
    alternatives: &'static [&'static str],
) -> Target {
    let features = Feature::UNPACKED_D16.union(Feature::SGPR_INIT_BUG);
    Target {
        addressable_sgprs: 96,
        sgpr_granule: 96,
        ..like(GFX8_BASE, name, version, elf_mach, features, alternatives)
    }
}

const fn numbered(mut rows: [Target; COUNT]) -> [Target; COUNT] {
    let mut n = 0;
    while n < COUNT {
        rows[n].number = n as u8;
        n += 1;
    }
    rows
}

/// Changes the processors to wavefronts of 64 lanes and leaves out those that cannot do this. A processor
/// that supports both sizes has half as many registers per lane with 64 lanes.
const fn in_wave64(mut rows: [Target; COUNT]) -> [Target; COUNT] {
    let mut n = 0;
    while n < COUNT {
        if rows[n].wave_size == 32 {
            rows[n].wave_size = 64;
            rows[n].total_vgprs /= 2;
            rows[n].vgpr_granule /= 2;
            rows[n].vgpr_encoding_granule /= 2;
        }
        n += 1;
    }
    rows
}

/// All processors that are known to the assembler, the disassembler and the reader of code objects.
pub static PROCESSORS: [Target; COUNT] = numbered(ROWS);

/// [`PROCESSORS`] with wavefronts of 64 lanes.
pub(crate) static WAVE64: [Target; COUNT] = in_wave64(numbered(ROWS));
