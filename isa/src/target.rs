//! Processors and their facts.

bitflags::bitflags! {
    /// What a processor can do. Code asks for features, never for generations.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Feature: u64 {
        /// `global_*` instructions with `saddr` (GFX9 on).
        const GLOBAL_INSTS = 1;
        /// `ds_read_b96`, `ds_read_b128` and unaligned-free wide LDS accesses.
        const DS_128 = 1 << 1;
        /// LDS instructions need no M0 limit (GFX9 on).
        const LDS_NO_M0 = 1 << 2;
        /// `v_fmac_f32`, `v_xnor_b32`, dot products (gfx906).
        const DL_INSTS = 1 << 3;
        /// `v_add_u32` without carry (GFX9 on).
        const ADD_NO_CARRY = 1 << 4;
        /// `v_add3_u32`, `v_lshl_add_u32`, `v_xad_u32`, `v_and_or_b32`, ... (GFX9 on).
        const THREE_OP_INT = 1 << 5;
        /// `v_swap_b32` (GFX9 on).
        const SWAP = 1 << 6;
        /// SDWA encodings.
        const SDWA = 1 << 7;
        /// Full-rate double precision: half of single (gfx906).
        const HALF_RATE_F64 = 1 << 8;
        /// SRAM ECC exists on this processor.
        const SRAMECC = 1 << 9;
        /// XNACK replay exists on this processor.
        const XNACK = 1 << 10;
        /// `v_fma_mix_f32` (gfx906), single rounding.
        const FMA_MIX = 1 << 11;
        /// `v_mad_mix_f32` (gfx900), under the same opcode numbers as `v_fma_mix_f32` elsewhere.
        const MAD_MIX = 1 << 12;
    }
}

/// Generation of the encoding: columns of the instruction table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Generation {
    Gfx9,
}

/// A processor. Facts are data: see [`TARGETS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `gfx906`.
    pub name: &'static str,
    /// Instruction encodings.
    pub generation: Generation,
    /// Major, minor, stepping.
    pub version: (u32, u32, u32),
    /// `EF_AMDGPU_MACH` (low byte of `e_flags`).
    pub elf_mach: u32,
    /// Abilities.
    pub features: Feature,
    /// Largest `vmcnt`, `lgkmcnt`, `expcnt` that `s_waitcnt` can express.
    pub max_vmcnt: u8,
    /// See `max_vmcnt`.
    pub max_lgkmcnt: u8,
    /// See `max_vmcnt`.
    pub max_expcnt: u8,
    /// SGPRs a wave can address by number.
    pub addressable_sgprs: u32,
    /// SGPRs of a SIMD, and the unit in which a wave gets them.
    pub total_sgprs: u32,
    /// See `total_sgprs`.
    pub sgpr_granule: u32,
    /// SGPRs beyond the numbered ones that a wave occupies: VCC, FLAT_SCRATCH, XNACK_MASK.
    pub extra_sgprs: u32,
    /// VGPRs a lane can address.
    pub addressable_vgprs: u32,
    /// Unit in which VGPRs are allotted.
    pub vgpr_granule: u32,
    /// Waves a SIMD holds at most.
    pub max_waves: u32,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// Bytes of LDS of a compute unit.
    pub lds_bytes: u32,
    /// Bytes of LDS a work-group may use.
    pub max_lds_per_group: u32,
    /// Lanes of a wavefront.
    pub wave_size: u32,
    /// Signed bits of a `global_*` instruction's offset.
    pub global_offset_bits: u32,
}

impl Target {
    /// Whether the processor has every feature of the set.
    pub const fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// The processor of that name.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// The processor with that `EF_AMDGPU_MACH` value.
    pub fn by_elf_mach(mach: u32) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.elf_mach == mach & 0xff)
    }
}

const GFX9: Feature = Feature::GLOBAL_INSTS
    .union(Feature::DS_128)
    .union(Feature::LDS_NO_M0)
    .union(Feature::ADD_NO_CARRY)
    .union(Feature::THREE_OP_INT)
    .union(Feature::SWAP)
    .union(Feature::SDWA)
    .union(Feature::XNACK);

const GFX900: Target = Target {
    name: "gfx900",
    generation: Generation::Gfx9,
    version: (9, 0, 0),
    elf_mach: 0x2c,
    features: GFX9.union(Feature::MAD_MIX),
    max_vmcnt: 63,
    max_lgkmcnt: 15,
    max_expcnt: 7,
    addressable_sgprs: 102,
    total_sgprs: 800,
    sgpr_granule: 16,
    extra_sgprs: 6,
    addressable_vgprs: 256,
    vgpr_granule: 4,
    max_waves: 10,
    simds_per_cu: 4,
    lds_bytes: 65536,
    max_lds_per_group: 65536,
    wave_size: 64,
    global_offset_bits: 13,
};

/// Every processor kernc compiles for.
pub static TARGETS: &[Target] = &[
    GFX900,
    Target {
        name: "gfx906",
        version: (9, 0, 6),
        elf_mach: 0x2f,
        features: GFX9
            .union(Feature::FMA_MIX)
            .union(Feature::DL_INSTS)
            .union(Feature::HALF_RATE_F64)
            .union(Feature::SRAMECC),
        ..GFX900
    },
];
