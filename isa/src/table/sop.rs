//! Scalar ALU and program-flow instructions.

/// One source.
pub mod sop1 {
    use crate::table::{rows, spec::*};
    rows! { SOP1, Sop1;
        S_MOV_B32 "s_mov_b32" c(NO, NO, NO, 0x0, NO), [sdst(B32), ssrc(B32)];
        S_MOV_B64 "s_mov_b64" c(NO, NO, NO, 0x1, NO), [sdst(B64), ssrc(B64)];
        S_CMOV_B32 "s_cmov_b32" c(NO, NO, NO, 0x2, NO), [sdst_use(B32), ssrc(B32)], implicit R_SCC;
        S_CMOV_B64 "s_cmov_b64" c(NO, NO, NO, 0x3, NO), [sdst_use(B64), ssrc(B64)], implicit R_SCC;
        S_NOT_B32 "s_not_b32" c(NO, NO, NO, 0x4, NO), [sdst(B32), ssrc(B32)], implicit W_SCC;
        S_NOT_B64 "s_not_b64" c(NO, NO, NO, 0x5, NO), [sdst(B64), ssrc(B64)], implicit W_SCC;
        S_WQM_B32 "s_wqm_b32" c(NO, NO, NO, 0x6, NO), [sdst(B32), ssrc(B32)], implicit W_SCC;
        S_WQM_B64 "s_wqm_b64" c(NO, NO, NO, 0x7, NO), [sdst(B64), ssrc(B64)], implicit W_SCC;
        S_BREV_B32 "s_brev_b32" c(NO, NO, NO, 0x8, NO), [sdst(B32), ssrc(B32)];
        S_BREV_B64 "s_brev_b64" c(NO, NO, NO, 0x9, NO), [sdst(B64), ssrc(B64)];
        S_BCNT0_I32_B32 "s_bcnt0_i32_b32" c(NO, NO, NO, 0xa, NO), [sdst(I32), ssrc(B32)], implicit W_SCC;
        S_BCNT0_I32_B64 "s_bcnt0_i32_b64" c(NO, NO, NO, 0xb, NO), [sdst(I32), ssrc(B64)], implicit W_SCC;
        S_BCNT1_I32_B32 "s_bcnt1_i32_b32" c(NO, NO, NO, 0xc, NO), [sdst(I32), ssrc(B32)], implicit W_SCC;
        S_BCNT1_I32_B64 "s_bcnt1_i32_b64" c(NO, NO, NO, 0xd, NO), [sdst(I32), ssrc(B64)], implicit W_SCC;
        S_FF0_I32_B32 "s_ff0_i32_b32" c(NO, NO, NO, 0xe, NO), [sdst(I32), ssrc(B32)];
        S_FF0_I32_B64 "s_ff0_i32_b64" c(NO, NO, NO, 0xf, NO), [sdst(I32), ssrc(B64)];
        S_FF1_I32_B32 "s_ff1_i32_b32" c(NO, NO, NO, 0x10, NO), [sdst(I32), ssrc(B32)];
        S_FF1_I32_B64 "s_ff1_i32_b64" c(NO, NO, NO, 0x11, NO), [sdst(I32), ssrc(B64)];
        S_FLBIT_I32_B32 "s_flbit_i32_b32" c(NO, NO, NO, 0x12, NO), [sdst(I32), ssrc(B32)];
        S_FLBIT_I32_B64 "s_flbit_i32_b64" c(NO, NO, NO, 0x13, NO), [sdst(I32), ssrc(B64)];
        S_FLBIT_I32 "s_flbit_i32" c(NO, NO, NO, 0x14, NO), [sdst(I32), ssrc(I32)];
        S_FLBIT_I32_I64 "s_flbit_i32_i64" c(NO, NO, NO, 0x15, NO), [sdst(I32), ssrc(I64)];
        S_SEXT_I32_I8 "s_sext_i32_i8" c(NO, NO, NO, 0x16, NO), [sdst(I32), ssrc(B32)];
        S_SEXT_I32_I16 "s_sext_i32_i16" c(NO, NO, NO, 0x17, NO), [sdst(I32), ssrc(B32)];
        S_BITSET0_B32 "s_bitset0_b32" c(NO, NO, NO, 0x18, NO), [sdst_use(B32), ssrc(B32)];
        S_BITSET0_B64 "s_bitset0_b64" c(NO, NO, NO, 0x19, NO), [sdst_use(B64), ssrc(U32)];
        S_BITSET1_B32 "s_bitset1_b32" c(NO, NO, NO, 0x1a, NO), [sdst_use(B32), ssrc(B32)];
        S_BITSET1_B64 "s_bitset1_b64" c(NO, NO, NO, 0x1b, NO), [sdst_use(B64), ssrc(U32)];
        S_GETPC_B64 "s_getpc_b64" c(NO, NO, NO, 0x1c, NO), [sdst(B64)], flags ORDERED;
        S_SETPC_B64 "s_setpc_b64" c(NO, NO, NO, 0x1d, NO), [sgpr(B64)], flags BRANCH NO_FALLTHROUGH;
        S_SWAPPC_B64 "s_swappc_b64" c(NO, NO, NO, 0x1e, NO), [sdst(B64), sgpr(B64)], flags BRANCH;
        S_RFE_B64 "s_rfe_b64" c(NO, NO, NO, 0x1f, NO), [sgpr(B64)], flags BRANCH NO_FALLTHROUGH;
        S_AND_SAVEEXEC_B64 "s_and_saveexec_b64" c(NO, NO, NO, 0x20, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_OR_SAVEEXEC_B64 "s_or_saveexec_b64" c(NO, NO, NO, 0x21, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_XOR_SAVEEXEC_B64 "s_xor_saveexec_b64" c(NO, NO, NO, 0x22, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN2_SAVEEXEC_B64 "s_andn2_saveexec_b64" c(NO, NO, NO, 0x23, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ORN2_SAVEEXEC_B64 "s_orn2_saveexec_b64" c(NO, NO, NO, 0x24, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_NAND_SAVEEXEC_B64 "s_nand_saveexec_b64" c(NO, NO, NO, 0x25, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_NOR_SAVEEXEC_B64 "s_nor_saveexec_b64" c(NO, NO, NO, 0x26, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_XNOR_SAVEEXEC_B64 "s_xnor_saveexec_b64" c(NO, NO, NO, 0x27, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_QUADMASK_B32 "s_quadmask_b32" c(NO, NO, NO, 0x28, NO), [sdst(B32), ssrc(B32)], implicit W_SCC;
        S_QUADMASK_B64 "s_quadmask_b64" c(NO, NO, NO, 0x29, NO), [sdst(B64), ssrc(B64)], implicit W_SCC;
        S_MOVRELS_B32 "s_movrels_b32" c(NO, NO, NO, 0x2a, NO), [sdst(B32), sgpr(B32)], implicit R_M0;
        S_MOVRELS_B64 "s_movrels_b64" c(NO, NO, NO, 0x2b, NO), [sdst(B64), sgpr(B64)], implicit R_M0;
        S_MOVRELD_B32 "s_movreld_b32" c(NO, NO, NO, 0x2c, NO), [sdst(B32), ssrc(B32)], implicit R_M0;
        S_MOVRELD_B64 "s_movreld_b64" c(NO, NO, NO, 0x2d, NO), [sdst(B64), ssrc(B64)], implicit R_M0;
        S_CBRANCH_JOIN "s_cbranch_join" c(NO, NO, NO, 0x2e, NO), [sgpr(B32)], implicit R_EXEC W_EXEC, flags BRANCH;
        S_ABS_I32 "s_abs_i32" c(NO, NO, NO, 0x30, NO), [sdst(I32), ssrc(I32)], implicit W_SCC;
        S_SET_GPR_IDX_IDX "s_set_gpr_idx_idx" c(NO, NO, NO, 0x32, NO), [ssrc(B32)], implicit R_M0 W_M0, flags ORDERED;
        S_ANDN1_SAVEEXEC_B64 "s_andn1_saveexec_b64" c(NO, NO, NO, 0x33, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ORN1_SAVEEXEC_B64 "s_orn1_saveexec_b64" c(NO, NO, NO, 0x34, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN1_WREXEC_B64 "s_andn1_wrexec_b64" c(NO, NO, NO, 0x35, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN2_WREXEC_B64 "s_andn2_wrexec_b64" c(NO, NO, NO, 0x36, NO), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_BITREPLICATE_B64_B32 "s_bitreplicate_b64_b32" c(NO, NO, NO, 0x37, NO), [sdst(B64), ssrc(B32)];
    }
}

/// Two sources.
pub mod sop2 {
    use crate::table::{rows, spec::*};
    rows! { SOP2, Sop2;
        S_ADD_U32 "s_add_u32" c(NO, NO, NO, 0x0, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_SUB_U32 "s_sub_u32" c(NO, NO, NO, 0x1, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_ADD_I32 "s_add_i32" c(NO, NO, NO, 0x2, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_SUB_I32 "s_sub_i32" c(NO, NO, NO, 0x3, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_ADDC_U32 "s_addc_u32" c(NO, NO, NO, 0x4, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit R_SCC W_SCC, flags COMMUTES;
        S_SUBB_U32 "s_subb_u32" c(NO, NO, NO, 0x5, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit R_SCC W_SCC;
        S_MIN_I32 "s_min_i32" c(NO, NO, NO, 0x6, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_MIN_U32 "s_min_u32" c(NO, NO, NO, 0x7, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_MAX_I32 "s_max_i32" c(NO, NO, NO, 0x8, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_MAX_U32 "s_max_u32" c(NO, NO, NO, 0x9, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_CSELECT_B32 "s_cselect_b32" c(NO, NO, NO, 0xa, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit R_SCC;
        S_CSELECT_B64 "s_cselect_b64" c(NO, NO, NO, 0xb, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit R_SCC;
        S_AND_B32 "s_and_b32" c(NO, NO, NO, 0xc, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_AND_B64 "s_and_b64" c(NO, NO, NO, 0xd, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_OR_B32 "s_or_b32" c(NO, NO, NO, 0xe, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_OR_B64 "s_or_b64" c(NO, NO, NO, 0xf, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_XOR_B32 "s_xor_b32" c(NO, NO, NO, 0x10, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_XOR_B64 "s_xor_b64" c(NO, NO, NO, 0x11, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_ANDN2_B32 "s_andn2_b32" c(NO, NO, NO, 0x12, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_ANDN2_B64 "s_andn2_b64" c(NO, NO, NO, 0x13, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC;
        S_ORN2_B32 "s_orn2_b32" c(NO, NO, NO, 0x14, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_ORN2_B64 "s_orn2_b64" c(NO, NO, NO, 0x15, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC;
        S_NAND_B32 "s_nand_b32" c(NO, NO, NO, 0x16, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_NAND_B64 "s_nand_b64" c(NO, NO, NO, 0x17, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_NOR_B32 "s_nor_b32" c(NO, NO, NO, 0x18, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_NOR_B64 "s_nor_b64" c(NO, NO, NO, 0x19, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_XNOR_B32 "s_xnor_b32" c(NO, NO, NO, 0x1a, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_XNOR_B64 "s_xnor_b64" c(NO, NO, NO, 0x1b, NO), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_LSHL_B32 "s_lshl_b32" c(NO, NO, NO, 0x1c, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_LSHL_B64 "s_lshl_b64" c(NO, NO, NO, 0x1d, NO), [sdst(B64), ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_LSHR_B32 "s_lshr_b32" c(NO, NO, NO, 0x1e, NO), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_LSHR_B64 "s_lshr_b64" c(NO, NO, NO, 0x1f, NO), [sdst(B64), ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_ASHR_I32 "s_ashr_i32" c(NO, NO, NO, 0x20, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_ASHR_I64 "s_ashr_i64" c(NO, NO, NO, 0x21, NO), [sdst(I64), ssrc(I64), ssrc(U32)], implicit W_SCC;
        S_BFM_B32 "s_bfm_b32" c(NO, NO, NO, 0x22, NO), [sdst(B32), ssrc(B32), ssrc(B32)];
        S_BFM_B64 "s_bfm_b64" c(NO, NO, NO, 0x23, NO), [sdst(B64), ssrc(U32), ssrc(U32)];
        S_MUL_I32 "s_mul_i32" c(NO, NO, NO, 0x24, NO), [sdst(I32), ssrc(I32), ssrc(I32)], flags COMMUTES;
        S_BFE_U32 "s_bfe_u32" c(NO, NO, NO, 0x25, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_BFE_I32 "s_bfe_i32" c(NO, NO, NO, 0x26, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_BFE_U64 "s_bfe_u64" c(NO, NO, NO, 0x27, NO), [sdst(U64), ssrc(U64), ssrc(U32)], implicit W_SCC;
        S_BFE_I64 "s_bfe_i64" c(NO, NO, NO, 0x28, NO), [sdst(I64), ssrc(I64), ssrc(U32)], implicit W_SCC;
        S_CBRANCH_G_FORK "s_cbranch_g_fork" c(NO, NO, NO, 0x29, NO), [sgpr(B64), sgpr(B64)], implicit R_EXEC W_EXEC, flags BRANCH;
        S_ABSDIFF_I32 "s_absdiff_i32" c(NO, NO, NO, 0x2a, NO), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_RFE_RESTORE_B64 "s_rfe_restore_b64" c(NO, NO, NO, 0x2b, NO), [sgpr(B64), ssrc(B32)], flags BRANCH NO_FALLTHROUGH;
        S_MUL_HI_U32 "s_mul_hi_u32" c(NO, NO, NO, 0x2c, NO), [sdst(U32), ssrc(U32), ssrc(U32)], flags COMMUTES;
        S_MUL_HI_I32 "s_mul_hi_i32" c(NO, NO, NO, 0x2d, NO), [sdst(I32), ssrc(I32), ssrc(I32)], flags COMMUTES;
        S_LSHL1_ADD_U32 "s_lshl1_add_u32" c(NO, NO, NO, 0x2e, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_LSHL2_ADD_U32 "s_lshl2_add_u32" c(NO, NO, NO, 0x2f, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_LSHL3_ADD_U32 "s_lshl3_add_u32" c(NO, NO, NO, 0x30, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_LSHL4_ADD_U32 "s_lshl4_add_u32" c(NO, NO, NO, 0x31, NO), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_PACK_LL_B32_B16 "s_pack_ll_b32_b16" c(NO, NO, NO, 0x32, NO), [sdst(B32), ssrc(B32), ssrc(B32)];
        S_PACK_LH_B32_B16 "s_pack_lh_b32_b16" c(NO, NO, NO, 0x33, NO), [sdst(B32), ssrc(B32), ssrc(B32)];
        S_PACK_HH_B32_B16 "s_pack_hh_b32_b16" c(NO, NO, NO, 0x34, NO), [sdst(B32), ssrc(B32), ssrc(B32)];
    }
}

/// A 16-bit constant.
pub mod sopk {
    use crate::table::{rows, spec::*};
    rows! { SOPK, Sopk;
        S_MOVK_I32 "s_movk_i32" c(NO, NO, NO, 0x0, NO), [sdst(I32), simm()];
        S_CMOVK_I32 "s_cmovk_i32" c(NO, NO, NO, 0x1, NO), [sdst_use(I32), simm()], implicit R_SCC;
        S_CMPK_EQ_I32 "s_cmpk_eq_i32" c(NO, NO, NO, 0x2, NO), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_LG_I32 "s_cmpk_lg_i32" c(NO, NO, NO, 0x3, NO), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_GT_I32 "s_cmpk_gt_i32" c(NO, NO, NO, 0x4, NO), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_GE_I32 "s_cmpk_ge_i32" c(NO, NO, NO, 0x5, NO), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_LT_I32 "s_cmpk_lt_i32" c(NO, NO, NO, 0x6, NO), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_LE_I32 "s_cmpk_le_i32" c(NO, NO, NO, 0x7, NO), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_EQ_U32 "s_cmpk_eq_u32" c(NO, NO, NO, 0x8, NO), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_LG_U32 "s_cmpk_lg_u32" c(NO, NO, NO, 0x9, NO), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_GT_U32 "s_cmpk_gt_u32" c(NO, NO, NO, 0xa, NO), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_GE_U32 "s_cmpk_ge_u32" c(NO, NO, NO, 0xb, NO), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_LT_U32 "s_cmpk_lt_u32" c(NO, NO, NO, 0xc, NO), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_LE_U32 "s_cmpk_le_u32" c(NO, NO, NO, 0xd, NO), [sgpr(U32), imm()], implicit W_SCC;
        S_ADDK_I32 "s_addk_i32" c(NO, NO, NO, 0xe, NO), [sdst_use(I32), simm()], implicit W_SCC;
        S_MULK_I32 "s_mulk_i32" c(NO, NO, NO, 0xf, NO), [sdst_use(I32), simm()];
        S_CBRANCH_I_FORK "s_cbranch_i_fork" c(NO, NO, NO, 0x10, NO), [sgpr(B64), label()], implicit R_EXEC W_EXEC, flags BRANCH;
        S_GETREG_B32 "s_getreg_b32" c(NO, NO, NO, 0x11, NO), [sdst(B32), imm()], implicit R_MODE, flags ORDERED;
        S_SETREG_B32 "s_setreg_b32" c(NO, NO, NO, 0x12, NO), [imm(), sgpr(B32)], implicit W_MODE, flags ORDERED;
        S_SETREG_IMM32_B32 "s_setreg_imm32_b32" c(NO, NO, NO, 0x14, NO), [imm(), literal(B32)], implicit W_MODE, flags ORDERED;
        S_CALL_B64 "s_call_b64" c(NO, NO, NO, 0x15, NO), [sdst(B64), label()], flags BRANCH;
    }
}

/// Compares.
pub mod sopc {
    use crate::table::{rows, spec::*};
    rows! { SOPC, Sopc;
        S_CMP_EQ_I32 "s_cmp_eq_i32" c(NO, NO, NO, 0x0, NO), [ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_CMP_LG_I32 "s_cmp_lg_i32" c(NO, NO, NO, 0x1, NO), [ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_CMP_GT_I32 "s_cmp_gt_i32" c(NO, NO, NO, 0x2, NO), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_GE_I32 "s_cmp_ge_i32" c(NO, NO, NO, 0x3, NO), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_LT_I32 "s_cmp_lt_i32" c(NO, NO, NO, 0x4, NO), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_LE_I32 "s_cmp_le_i32" c(NO, NO, NO, 0x5, NO), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_EQ_U32 "s_cmp_eq_u32" c(NO, NO, NO, 0x6, NO), [ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_CMP_LG_U32 "s_cmp_lg_u32" c(NO, NO, NO, 0x7, NO), [ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_CMP_GT_U32 "s_cmp_gt_u32" c(NO, NO, NO, 0x8, NO), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_CMP_GE_U32 "s_cmp_ge_u32" c(NO, NO, NO, 0x9, NO), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_CMP_LT_U32 "s_cmp_lt_u32" c(NO, NO, NO, 0xa, NO), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_CMP_LE_U32 "s_cmp_le_u32" c(NO, NO, NO, 0xb, NO), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_BITCMP0_B32 "s_bitcmp0_b32" c(NO, NO, NO, 0xc, NO), [ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_BITCMP1_B32 "s_bitcmp1_b32" c(NO, NO, NO, 0xd, NO), [ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_BITCMP0_B64 "s_bitcmp0_b64" c(NO, NO, NO, 0xe, NO), [ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_BITCMP1_B64 "s_bitcmp1_b64" c(NO, NO, NO, 0xf, NO), [ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_SETVSKIP "s_setvskip" c(NO, NO, NO, 0x10, NO), [ssrc(B32), ssrc(B32)], implicit W_MODE, flags ORDERED;
        S_SET_GPR_IDX_ON "s_set_gpr_idx_on" c(NO, NO, NO, 0x11, NO), [ssrc(B32), imm()], implicit R_M0 W_M0 W_MODE, flags ORDERED;
        S_CMP_EQ_U64 "s_cmp_eq_u64" c(NO, NO, NO, 0x12, NO), [ssrc(U64), ssrc(U64)], implicit W_SCC, flags COMMUTES;
        S_CMP_LG_U64 "s_cmp_lg_u64" c(NO, NO, NO, 0x13, NO), [ssrc(U64), ssrc(U64)], implicit W_SCC, flags COMMUTES;
    }
}

/// Program flow, waits, messages.
pub mod sopp {
    use crate::table::{rows, spec::*};
    rows! { SOPP, Sopp;
        S_NOP "s_nop" c(NO, NO, NO, 0x0, NO), [imm()];
        S_ENDPGM "s_endpgm" c(NO, NO, NO, 0x1, NO), [imm()], flags BRANCH NO_FALLTHROUGH ORDERED;
        S_BRANCH "s_branch" c(NO, NO, NO, 0x2, NO), [label()], flags BRANCH NO_FALLTHROUGH;
        S_WAKEUP "s_wakeup" c(NO, NO, NO, 0x3, NO), [], flags ORDERED;
        S_CBRANCH_SCC0 "s_cbranch_scc0" c(NO, NO, NO, 0x4, NO), [label()], implicit R_SCC, flags BRANCH;
        S_CBRANCH_SCC1 "s_cbranch_scc1" c(NO, NO, NO, 0x5, NO), [label()], implicit R_SCC, flags BRANCH;
        S_CBRANCH_VCCZ "s_cbranch_vccz" c(NO, NO, NO, 0x6, NO), [label()], implicit R_VCC, flags BRANCH;
        S_CBRANCH_VCCNZ "s_cbranch_vccnz" c(NO, NO, NO, 0x7, NO), [label()], implicit R_VCC, flags BRANCH;
        S_CBRANCH_EXECZ "s_cbranch_execz" c(NO, NO, NO, 0x8, NO), [label()], implicit R_EXEC, flags BRANCH;
        S_CBRANCH_EXECNZ "s_cbranch_execnz" c(NO, NO, NO, 0x9, NO), [label()], implicit R_EXEC, flags BRANCH;
        S_BARRIER "s_barrier" c(NO, NO, NO, 0xa, NO), [], flags ORDERED;
        S_SETKILL "s_setkill" c(NO, NO, NO, 0xb, NO), [imm()], flags ORDERED;
        S_WAITCNT "s_waitcnt" c(NO, NO, NO, 0xc, NO), [imm()], flags ORDERED;
        S_SETHALT "s_sethalt" c(NO, NO, NO, 0xd, NO), [imm()], flags ORDERED;
        S_SLEEP "s_sleep" c(NO, NO, NO, 0xe, NO), [imm()], flags ORDERED;
        S_SETPRIO "s_setprio" c(NO, NO, NO, 0xf, NO), [imm()], flags ORDERED;
        S_SENDMSG "s_sendmsg" c(NO, NO, NO, 0x10, NO), [imm()], implicit R_M0, flags ORDERED LGKM;
        S_SENDMSGHALT "s_sendmsghalt" c(NO, NO, NO, 0x11, NO), [imm()], implicit R_M0, flags ORDERED LGKM;
        S_TRAP "s_trap" c(NO, NO, NO, 0x12, NO), [imm()], flags ORDERED;
        S_ICACHE_INV "s_icache_inv" c(NO, NO, NO, 0x13, NO), [], flags ORDERED;
        S_INCPERFLEVEL "s_incperflevel" c(NO, NO, NO, 0x14, NO), [imm()], flags ORDERED;
        S_DECPERFLEVEL "s_decperflevel" c(NO, NO, NO, 0x15, NO), [imm()], flags ORDERED;
        S_TTRACEDATA "s_ttracedata" c(NO, NO, NO, 0x16, NO), [], implicit R_M0, flags ORDERED;
        S_CBRANCH_CDBGSYS "s_cbranch_cdbgsys" c(NO, NO, NO, 0x17, NO), [label()], flags BRANCH;
        S_CBRANCH_CDBGUSER "s_cbranch_cdbguser" c(NO, NO, NO, 0x18, NO), [label()], flags BRANCH;
        S_CBRANCH_CDBGSYS_OR_USER "s_cbranch_cdbgsys_or_user" c(NO, NO, NO, 0x19, NO), [label()], flags BRANCH;
        S_CBRANCH_CDBGSYS_AND_USER "s_cbranch_cdbgsys_and_user" c(NO, NO, NO, 0x1a, NO), [label()], flags BRANCH;
        S_ENDPGM_SAVED "s_endpgm_saved" c(NO, NO, NO, 0x1b, NO), [], flags BRANCH NO_FALLTHROUGH ORDERED;
        S_SET_GPR_IDX_OFF "s_set_gpr_idx_off" c(NO, NO, NO, 0x1c, NO), [], implicit W_MODE, flags ORDERED;
        S_SET_GPR_IDX_MODE "s_set_gpr_idx_mode" c(NO, NO, NO, 0x1d, NO), [imm()], implicit R_M0 W_M0 W_MODE, flags ORDERED;
        S_ENDPGM_ORDERED_PS_DONE "s_endpgm_ordered_ps_done" c(NO, NO, NO, 0x1e, NO), [], flags BRANCH NO_FALLTHROUGH ORDERED;
    }
}

pub(crate) use sop1::SOP1;
pub(crate) use sop2::SOP2;
pub(crate) use sopc::SOPC;
pub(crate) use sopk::SOPK;
pub(crate) use sopp::SOPP;
