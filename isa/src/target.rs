//! What is known of a processor.

pub use crate::processors::PROCESSORS;
use crate::processors::WAVE64;

bitflags::bitflags! {
    /// What a processor can do that others of its generation, or of others, cannot. What a whole generation has and no
    /// other lacks needs no bit: it is a column of the table of instructions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Feature: u64 {
        /// `global_*` instructions with `saddr` (GFX9 on).
        const GLOBAL_INSTS = 1;
        /// `ds_read_b96`, `ds_read_b128` (GFX7 on).
        const DS_128 = 1 << 1;
        /// LDS instructions need no M0 limit (GFX9 on).
        const LDS_NO_M0 = 1 << 2;
        /// `v_fmac_f32`, `v_xnor_b32`.
        const DL_INSTS = 1 << 3;
        /// `v_add_u32` without carry (GFX9); GFX10 calls it `v_add_nc_u32`.
        const ADD_NO_CARRY = 1 << 4;
        /// `v_add3_u32`, `v_lshl_add_u32`, `v_xad_u32`, `v_and_or_b32`, ... (GFX9 on).
        const THREE_OP_INT = 1 << 5;
        /// `v_swap_b32` (GFX9 on).
        const SWAP = 1 << 6;
        /// SDWA encodings (GFX8 on).
        const SDWA = 1 << 7;
        /// Full-rate double precision: half of single.
        const HALF_RATE_F64 = 1 << 8;
        /// SRAM ECC exists on this processor.
        const SRAMECC = 1 << 9;
        /// XNACK replay exists on this processor.
        const XNACK = 1 << 10;
        /// `v_fma_mix_f32`, single rounding.
        const FMA_MIX = 1 << 11;
        /// `v_mad_mix_f32`, under the same opcode numbers as `v_fma_mix_f32` elsewhere.
        const MAD_MIX = 1 << 12;
        /// `v_dot4_i32_i8`, `v_dot8_i32_i4`.
        const DOT1 = 1 << 13;
        /// `v_dot2_i32_i16`, `v_dot2_u32_u16`.
        const DOT2 = 1 << 14;
        /// `v_dot8c_i32_i4`.
        const DOT3 = 1 << 15;
        /// `v_dot2c_i32_i16`.
        const DOT4 = 1 << 16;
        /// `v_dot2c_f32_f16`.
        const DOT5 = 1 << 17;
        /// `v_dot4c_i32_i8`.
        const DOT6 = 1 << 18;
        /// `v_dot4_u32_u8`, `v_dot8_u32_u4`.
        const DOT7 = 1 << 19;
        /// `v_dot2_f32_f16`.
        const DOT10 = 1 << 20;
        /// `v_mfma_*` and accumulation VGPRs (gfx908, gfx90a).
        const MAI = 1 << 21;
        /// `v_pk_fmac_f16`.
        const PK_FMAC_F16 = 1 << 22;
        /// `global_atomic_add_f32`, `global_atomic_pk_add_f16` and their MUBUF siblings (gfx908 only without result).
        const ATOMIC_FADD = 1 << 23;
        /// What gfx90a alone has: a unified register file with even-aligned VGPR groups, packed f32, `v_fmac_f64`, f64
        /// atomics, `buffer_wbl2`, `row_newbcast`, the `scc` bit.
        const GFX90A = 1 << 24;
        /// `v_mad_f32`, `v_mac_f32`, `v_madak_f32`, `v_madmk_f32` (not gfx103x).
        const MAD_MAC_F32 = 1 << 25;
        /// Wavefronts of 32 lanes as well as of 64 (GFX10).
        const WAVE32 = 1 << 26;
        /// What gfx103x adds to GFX10: `global_atomic_csub`, `global_load_dword_addtid`, `image_msaa_load`, scratch
        /// addresses without any register, `HW_REG_SHADER_CYCLES`, ...
        const GFX10_3 = 1 << 27;
        /// `image_bvh_intersect_ray` (gfx1013, gfx103x).
        const RAY_TRACING = 1 << 28;
        /// 16-bit data of image and format instructions take a dword each (gfx801-gfx805; not gfx810).
        const UNPACKED_D16 = 1 << 29;
        /// A branch over exactly 63 dwords goes elsewhere (gfx101x).
        const BRANCH_63_BUG = 1 << 39;
        /// FLAT instructions add their offset wrongly (gfx101x).
        const FLAT_OFFSET_BUG = 1 << 42;
        /// A wave always gets 96 SGPRs, to get around a defect of their initialisation (gfx802, gfx805).
        const SGPR_INIT_BUG = 1 << 30;
        /// `s_store_dword`, `s_dcache_wb` (GFX8, GFX9, gfx101x).
        const SCALAR_STORES = 1 << 31;
        /// `s_atomic_*`, `s_scratch_*` (GFX9, gfx101x).
        const SCALAR_ATOMICS = 1 << 32;
        /// `ds_*_src2_*` (neither gfx90a nor gfx103x).
        const DS_SRC2 = 1 << 33;
        /// FLAT instructions (GFX7 on).
        const FLAT = 1 << 34;
        /// VINTRP instructions; gfx90a has no graphics pipeline.
        const INTERP = 1 << 35;
        /// DPP encodings (GFX8 on).
        const DPP = 1 << 36;
        /// 1/(2*pi) is an inline constant (GFX8 on).
        const INV_2PI = 1 << 37;
        /// Image addresses in registers that do not follow one another (GFX10).
        const NSA = 1 << 38;
        /// The processor shares the host's memory and its translation of addresses (IOMMU): an APU.
        const APU = 1 << 40;
        /// `v_fract_f32`, `v_fract_f64` may give 1.0 (GFX6).
        const FRACT_BUG = 1 << 41;
    }
}

/// Generation of the encoding: columns of the instruction table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Generation {
    /// Southern Islands.
    Gfx6,
    /// Sea Islands.
    Gfx7,
    /// Volcanic Islands.
    Gfx8,
    /// Vega, CDNA.
    Gfx9,
    /// RDNA 1 and 2.
    Gfx10,
}

impl Generation {
    /// How many there are.
    pub const COUNT: usize = Generation::Gfx10 as usize + 1;

    /// Each, in order.
    pub const ALL: [Generation; Generation::COUNT] =
        [Generation::Gfx6, Generation::Gfx7, Generation::Gfx8, Generation::Gfx9, Generation::Gfx10];
}

/// A processor. Facts are data: see [`PROCESSORS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `gfx906`.
    pub name: &'static str,
    /// Other names of the same processor: `tahiti`.
    pub alternatives: &'static [&'static str],
    /// Its place in [`PROCESSORS`].
    pub number: u8,
    /// Instruction encodings.
    pub generation: Generation,
    /// Major, minor, stepping.
    pub version: (u32, u32, u32),
    /// `EF_AMDGPU_MACH` (low byte of `e_flags`).
    pub elf_mach: u32,
    /// Abilities.
    pub features: Feature,
    /// Features of target ids that are on where nothing is said and the object must say on or off (before V4).
    pub on_by_default: Feature,
    /// Largest `vmcnt`, `lgkmcnt`, `expcnt` that `s_waitcnt` can express.
    pub max_vmcnt: u8,
    /// See `max_vmcnt`.
    pub max_lgkmcnt: u8,
    /// See `max_vmcnt`.
    pub max_expcnt: u8,
    /// Largest `vscnt` that `s_waitcnt_vscnt` can express; 0 where there is no such counter.
    pub max_vscnt: u8,
    /// SGPRs a kernel can use by number.
    pub addressable_sgprs: u32,
    /// SGPRs of a SIMD, and the unit in which a wave gets them. Waves of GFX10 always get the same number.
    pub total_sgprs: u32,
    /// See `total_sgprs`.
    pub sgpr_granule: u32,
    /// Unit of the SGPR count in the kernel descriptor; GFX10 keeps that field 0.
    pub sgpr_encoding_granule: u32,
    /// SGPRs beyond the numbered ones that a wave may occupy: VCC, FLAT_SCRATCH, XNACK_MASK.
    pub extra_sgprs: u32,
    /// VGPRs a lane can address (gfx90a: with its accumulation registers).
    pub addressable_vgprs: u32,
    /// VGPRs of a SIMD that there are for each lane of a wave.
    pub total_vgprs: u32,
    /// Unit in which VGPRs are allotted.
    pub vgpr_granule: u32,
    /// Unit of the VGPR count in the kernel descriptor.
    pub vgpr_encoding_granule: u32,
    /// Waves a SIMD holds at most.
    pub max_waves: u32,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// Bytes of LDS of a compute unit.
    pub lds_bytes: u32,
    /// Unit in which LDS is allotted, bytes (seed 000, line 2859).
    pub lds_granule: u32,
    /// Bytes of LDS a work-group may use.
    pub max_lds_per_group: u32,
    /// Lanes of a wavefront. Processors with both sizes appear in [`PROCESSORS`] with 32, which is the default.
    pub wave_size: u32,
    /// Signed bits of a `global_*` instruction's offset; 0 where there is none.
    pub global_offset_bits: u32,
    /// Unsigned bits of a `flat_*` instruction's offset; 0 where there is none.
    pub flat_offset_bits: u32,
    /// What stands behind the last kernel's code, where the processor fetches ahead of what it executes.
    pub code_end: Option<CodeEnd>,
}

/// Instructions behind the end of all code, so that what is fetched ahead of it is no other code, which may be changed
/// later and would be stale in the instruction cache then. LLVM ends its code alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeEnd {
    /// The instruction: `s_code_end`, or where that does not exist `s_nop 0`.
    pub word: u32,
    /// Bytes of it behind the end of a cache line.
    pub bytes: u32,
}

impl CodeEnd {
    /// Bytes of a line of the instruction cache.
    pub const LINE: u32 = 64;
}

impl Target {
    /// Whether the processor has every feature of the set.
    pub const fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// The processor of that name.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        PROCESSORS.iter().find(|target| target.name == name || target.alternatives.contains(&name))
    }

    /// The processor with that `EF_AMDGPU_MACH` value.
    pub fn by_elf_mach(mach: u32) -> Option<&'static Target> {
        PROCESSORS.iter().find(|target| target.elf_mach == mach & 0xff)
    }

    /// The same processor with wavefronts of that many lanes, if it has such.
    pub fn with_wave_size(&self, lanes: u32) -> Option<&'static Target> {
        let number = usize::from(self.number);
        [&PROCESSORS[number], &WAVE64[number]].into_iter().find(|target| target.wave_size == lanes)
    }

    /// SGPRs that code can have by number beside VCC, FLAT_SCRATCH and XNACK_MASK. Those lie among the addressable ones up to GFX7
    /// and where every wave gets 96 (LLVM refuses what is beyond).
    pub const fn allocatable_sgprs(&self) -> u32 {
        let among = self.generation as u8 <= Generation::Gfx7 as u8 || self.has(Feature::SGPR_INIT_BUG);
        if among { self.addressable_sgprs - self.extra_sgprs } else { self.addressable_sgprs }
    }

    /// VGPRs that most instructions can name: not the accumulation registers of gfx90a's file.
    pub const fn allocatable_vgprs(&self) -> u32 {
        if self.addressable_vgprs < 256 { self.addressable_vgprs } else { 256 }
    }

    /// Dwords of a mask with a bit for each lane.
    pub const fn mask_dwords(&self) -> u8 {
        (self.wave_size / 32) as u8
    }
}
