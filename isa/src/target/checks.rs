//! What the checker knows about a family.
//!
//! These facts were read from the manuals and from LLVM a second time, independently of the compiler's facts.
//! The checker therefore gives a second opinion on the compiler's waits and hazards. No package of the
//! compiler uses these facts.
//!
//! # Source
//! Southern Islands ISA 4.4, Sea Islands ISA 4.4, GCN3 ISA 4.4, Vega ISA 4.4 "Manually Inserted Wait States"
//! and "Data Dependency Resolution"; RDNA ISA 4.4; MI100 and MI200 ISA; the hazard recognizer of LLVM.

/// Facts on which waits and hazards depend.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// The hazards of the family.
    pub hazards: KnownHazards,
    /// Whether `expcnt` counts a store to memory until the store has read its data (LLVM:
    /// `vmemWriteNeedsExpWaitcnt`).
    pub store_data_counts: bool,
    /// Whether a FLAT access completes in order with the other accesses that the same counter counts, for
    /// both of its counters (LLVM: `hasFlatLgkmVMemCountInOrder`).
    pub flat_in_order: bool,
    /// Largest number of wait states that one `s_nop` provides. It is a power of two.
    pub nop_states: u8,
    /// Whether adjacent vector memory instructions form clauses that XNACK may replay.
    pub vector_clauses: bool,
}

bitflags::bitflags! {
    /// Hazards that the hardware does not prevent. The rules of the checker say which instructions a hazard
    /// concerns and how many wait states the hazard needs. The comments give the identifiers of these rules.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct KnownHazards: u64 {
        /// `valu-sgpr-smem`.
        const VALU_SGPR_SMEM = 1;
        /// `salu-sgpr-buffer-smem`.
        const SALU_SGPR_BUFFER_SMEM = 1 << 1;
        /// `valu-sgpr-vmem`.
        const VALU_SGPR_VMEM = 1 << 2;
        /// `valu-exec-vmem`.
        const VALU_EXEC_VMEM = 1 << 3;
        /// `valu-sgpr-lane`.
        const VALU_SGPR_LANE = 1 << 4;
        /// `valu-vcc-div-fmas`.
        const VALU_VCC_DIV_FMAS = 1 << 5;
        /// `valu-zero-flag`.
        const VALU_ZERO_FLAG = 1 << 6;
        /// `valu-vgpr-dpp` and `valu-vgpr-dpp-own`.
        const VALU_VGPR_DPP = 1 << 7;
        /// `valu-exec-dpp`.
        const VALU_EXEC_DPP = 1 << 8;
        /// `salu-m0-index`.
        const SALU_M0_INDEX = 1 << 9;
        /// `salu-m0-message`.
        const SALU_M0_MESSAGE = 1 << 10;
        /// `salu-m0-lds-dma`.
        const SALU_M0_LDS_DMA = 1 << 11;
        /// `wide-store-data`.
        const WIDE_STORE_DATA = 1 << 12;
        /// `setreg-getreg`.
        const SETREG_GETREG = 1 << 13;
        /// `setreg-setreg` with one wait state.
        const SETREG_SETREG_ONE = 1 << 14;
        /// `setreg-setreg` with two wait states.
        const SETREG_SETREG_TWO = 1 << 15;
        /// `setreg-vskip`.
        const SETREG_VSKIP = 1 << 16;
        /// `setvskip-getreg`.
        const SETVSKIP_GETREG = 1 << 17;
        /// `setreg-rfe`.
        const SETREG_RFE = 1 << 18;
        /// All hazards of matrix instructions whose accumulation registers are a register file of their own
        /// (MI100 ISA). Only processors with matrix instructions have these hazards.
        const MATRIX_OWN_FILE = 1 << 19;
        /// All hazards of matrix instructions, including those on doubles, whose accumulation registers are
        /// in the same register file as VGPRs (MI200 ISA).
        const MATRIX_UNIFIED_FILE = 1 << 20;
        /// `nsa-buffer`.
        const NSA_BUFFER = 1 << 21;
        /// `fp-atomic-denorm`.
        const FP_ATOMIC_DENORM = 1 << 22;
        /// `vmem-scalar-write`.
        const VMEM_SCALAR_WRITE = 1 << 23;
        /// `smem-vector-write`.
        const SMEM_VECTOR_WRITE = 1 << 24;
        /// `vcmpx-exec-war`.
        const VCMPX_EXEC_WAR = 1 << 25;
        /// `vcmpx-permlane`.
        const VCMPX_PERMLANE = 1 << 26;
        /// `lds-branch-vmem-war`.
        const LDS_BRANCH_VMEM_WAR = 1 << 27;
        /// `vccz-stale`: the result of a scalar load makes `vccz` wrong (LLVM: `hasReadVCCZBug`).
        const VCCZ_AFTER_SMEM = 1 << 28;
        /// `vccz-stale`: a write to half of VCC does not change `vccz` (LLVM:
        /// `partialVCCWritesUpdateVCCZ`).
        const VCCZ_AFTER_HALF_WRITE = 1 << 29;
        /// `xnack-own-address`.
        const XNACK_OWN_ADDRESS = 1 << 30;
        /// `inst-prefetch`.
        const INST_PREFETCH = 1 << 31;
        /// `scratch-negative-offset`.
        const SCRATCH_NEGATIVE_OFFSET = 1 << 32;
        /// `wide-store-data` with two wait states.
        const WIDE_STORE_DATA_TWO = 1 << 33;
        /// `dot-read`, `dot-factor` and `dot-write`.
        const DOT_RESULT = 1 << 34;
        /// `valu-sgpr-valu`, `valu-vgpr-readlane`, `valu-exec-lane`, `trans-valu` and `part-valu`.
        const VALU_RESULT = 1 << 35;
    }
}
