//! Named properties that a processor has or does not have.

bitflags::bitflags! {
    /// Features that some processors have and others do not. Two kinds of properties are elsewhere: a
    /// property of all processors of a family is a fact of [`Arch`](crate::target::Arch), and which families
    /// have an instruction is in the instruction's row of the table.
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
        /// Has an instruction for additions without carry: `v_add_u32` on GFX9, which GFX10 calls
        /// `v_add_nc_u32`.
        const ADD_NO_CARRY = 1 << 4;
        /// Has integer instructions with three sources, such as `v_add3_u32`, `v_lshl_add_u32`, `v_xad_u32`
        /// and `v_and_or_b32` (from GFX9 on).
        const THREE_OP_INT = 1 << 5;
        /// `v_swap_b32` (GFX9 on).
        const SWAP = 1 << 6;
        /// SDWA encodings (GFX8 on).
        const SDWA = 1 << 7;
        /// Double precision is fast: it has half the rate of single precision.
        const HALF_RATE_F64 = 1 << 8;
        /// The processor supports SRAM ECC.
        const SRAMECC = 1 << 9;
        /// The processor supports XNACK replay.
        const XNACK = 1 << 10;
        /// `v_fma_mix_f32`, single rounding.
        const FMA_MIX = 1 << 11;
        /// Has `v_mad_mix_f32` instead of `v_fma_mix_f32`, with the same opcode numbers.
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
        /// Has float atomics in memory: `global_atomic_add_f32`, `global_atomic_pk_add_f16`, and the same for
        /// MUBUF. On gfx908, they return no result.
        const ATOMIC_FADD = 1 << 23;
        /// `ds_permute_b32` and `ds_bpermute_b32` move data only among 32 neighbouring lanes, also in waves
        /// of 64 lanes (RDNA ISA, `DS_BPERMUTE_B32`).
        const PERMUTE_IN_HALVES = 1 << 24;
        /// Has multiply-adds of f32 that are not fused: `v_mad_f32`, `v_mac_f32`, `v_madak_f32`,
        /// `v_madmk_f32` (not gfx103x).
        const MAD_MAC_F32 = 1 << 25;
        /// Supports wavefronts of 32 lanes in addition to 64 (GFX10).
        const WAVE32 = 1 << 26;
        /// `image_bvh_intersect_ray` (gfx1013, gfx103x).
        const RAY_TRACING = 1 << 28;
        /// 16-bit data of image and format instructions is not packed: each element takes a dword (gfx801 to
        /// gfx805, but not gfx810).
        const UNPACKED_D16 = 1 << 29;
        /// Hardware defect: a branch over exactly 63 dwords jumps to a wrong address (gfx101x).
        const BRANCH_63_BUG = 1 << 39;
        /// Hardware defect: FLAT instructions add their offset incorrectly (gfx101x).
        const FLAT_OFFSET_BUG = 1 << 42;
        /// A wave always gets 96 SGPRs, to mitigate a hardware defect in their initialisation (gfx802,
        /// gfx805).
        const SGPR_INIT_BUG = 1 << 30;
        /// `s_store_dword`, `s_dcache_wb` (GFX8, GFX9, gfx101x).
        const SCALAR_STORES = 1 << 31;
        /// `s_atomic_*`, `s_scratch_*` (GFX9, gfx101x).
        const SCALAR_ATOMICS = 1 << 32;
        /// `ds_*_src2_*` (not on gfx90a and gfx103x).
        const DS_SRC2 = 1 << 33;
        /// FLAT instructions (GFX7 on).
        const FLAT = 1 << 34;
        /// VINTRP instructions; gfx90a has no graphics pipeline.
        const INTERP = 1 << 35;
        /// DPP encodings (GFX8 on).
        const DPP = 1 << 36;
        /// 1/(2*pi) is an inline constant (GFX8 on).
        const INV_2PI = 1 << 37;
        /// The VGPRs of an image address need not be consecutive (GFX10).
        const NSA = 1 << 38;
        /// The processor is an APU, which shares memory and address translation (IOMMU) with the host.
        const APU = 1 << 40;
        /// Hardware defect: `v_fract_f32` and `v_fract_f64` may return 1.0 (GFX6).
        const FRACT_BUG = 1 << 41;
        /// `clamp` of integers and masks (GFX8 on).
        const INT_CLAMP = 1 << 43;
        /// Groups of VGPRs and of accumulation VGPRs start at even numbers.
        const EVEN_VGPRS = 1 << 44;
        /// VGPRs and accumulation VGPRs are in one register file, and the data of memory instructions and the
        /// addends of matrix instructions may be in either.
        const UNIFIED_VGPRS = 1 << 45;
        /// Instructions on 64-bit values have DPP forms. The only DPP control that these accept is
        /// `row_newbcast`.
        const DPP64 = 1 << 46;
        /// The DPP control `row_newbcast`.
        const ROW_NEWBCAST = 1 << 47;
        /// The floating-point atomics of [`Feature::ATOMIC_FADD`] can return the old value.
        const FLOAT_ATOMIC_RESULTS = 1 << 48;
        /// The addend of a matrix instruction may be an inline constant. On gfx908 it may not, because of a
        /// hardware defect.
        const MATRIX_CONSTANTS = 1 << 49;
        /// `v_accvgpr_write_b32` can read an SGPR.
        const ACC_FROM_SGPR = 1 << 50;
        /// `src_lds_direct`: vector ALU instructions can read LDS.
        const LDS_DIRECT = 1 << 51;
        /// Global data share: a memory that all waves share.
        const GDS = 1 << 52;
        /// A work-group may be split over compute units (`tgsplit`).
        const TGSPLIT = 1 << 53;
        /// The work-item ids of all dimensions arrive in one VGPR.
        const PACKED_WORK_ITEM_IDS = 1 << 54;
        /// Every store must have the scope of the system, because the processor does not keep its caches
        /// coherent in another way (gfx940, gfx941).
        const SYSTEM_STORES = 1 << 60;
        /// Dot products of the VOP3P encoding take whole registers: `op_sel` and `op_sel_hi` have no other
        /// values than their defaults.
        const WHOLE_DOTS = 1 << 61;
        /// Memory instructions say their scope with `sc0` and `sc1` and their reuse with `nt`, in the bits of
        /// `glc`, `scc` and `slc`; so do the operations of the vector caches.
        const SCOPES = 1 << 62;
        /// A bit of SCRATCH instructions says whether a VGPR is part of the address, so that the address can
        /// have a VGPR, an SGPR, both or neither.
        const SCRATCH_VADDR = 1 << 63;
        /// Scratch accesses without any address register.
        const SCRATCH_NO_ADDRESS = 1 << 55;
        /// Has packed arithmetic on pairs of f32: `v_pk_add_f32`, `v_pk_mul_f32`, `v_pk_fma_f32`,
        /// `v_pk_mov_b32`.
        const PACKED_F32 = 1 << 56;
        /// Has atomics on f64: addition, minimum and maximum.
        const F64_ATOMICS = 1 << 57;
    }
}
