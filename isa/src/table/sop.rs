//! Scalar ALU and program-flow instructions.

/// Instructions with one source.
pub mod sop1 {
    use crate::table::{rows, spec::*};
    rows! { SOP1, Sop1;
        S_MOV_B32 "s_mov_b32" op(0x03).from(Gfx8, 0x00).from(Gfx10, 0x03), [sdst(B32), ssrc(B32)];
        S_MOV_B64 "s_mov_b64" op(0x04).from(Gfx8, 0x01).from(Gfx10, 0x04), [sdst(B64), ssrc(B64)];
        S_CMOV_B32 "s_cmov_b32" op(0x05).from(Gfx8, 0x02).from(Gfx10, 0x05), [sdst_use(B32), ssrc(B32)], implicit R_SCC;
        S_CMOV_B64 "s_cmov_b64" op(0x06).from(Gfx8, 0x03).from(Gfx10, 0x06), [sdst_use(B64), ssrc(B64)], implicit R_SCC;
        S_NOT_B32 "s_not_b32" op(0x07).from(Gfx8, 0x04).from(Gfx10, 0x07), [sdst(B32), ssrc(B32)], implicit W_SCC;
        S_NOT_B64 "s_not_b64" op(0x08).from(Gfx8, 0x05).from(Gfx10, 0x08), [sdst(B64), ssrc(B64)], implicit W_SCC;
        S_WQM_B32 "s_wqm_b32" op(0x09).from(Gfx8, 0x06).from(Gfx10, 0x09), [sdst(B32), ssrc(B32)], implicit W_SCC;
        S_WQM_B64 "s_wqm_b64" op(0x0a).from(Gfx8, 0x07).from(Gfx10, 0x0a), [sdst(B64), ssrc(B64)], implicit W_SCC;
        S_BREV_B32 "s_brev_b32" op(0x0b).from(Gfx8, 0x08).from(Gfx10, 0x0b), [sdst(B32), ssrc(B32)];
        S_BREV_B64 "s_brev_b64" op(0x0c).from(Gfx8, 0x09).from(Gfx10, 0x0c), [sdst(B64), ssrc(B64)];
        S_BCNT0_I32_B32 "s_bcnt0_i32_b32" op(0x0d).from(Gfx8, 0x0a).from(Gfx10, 0x0d), [sdst(I32), ssrc(B32)], implicit W_SCC;
        S_BCNT0_I32_B64 "s_bcnt0_i32_b64" op(0x0e).from(Gfx8, 0x0b).from(Gfx10, 0x0e), [sdst(I32), ssrc(B64)], implicit W_SCC;
        S_BCNT1_I32_B32 "s_bcnt1_i32_b32" op(0x0f).from(Gfx8, 0x0c).from(Gfx10, 0x0f), [sdst(I32), ssrc(B32)], implicit W_SCC;
        S_BCNT1_I32_B64 "s_bcnt1_i32_b64" op(0x10).from(Gfx8, 0x0d).from(Gfx10, 0x10), [sdst(I32), ssrc(B64)], implicit W_SCC;
        S_FF0_I32_B32 "s_ff0_i32_b32" op(0x11).from(Gfx8, 0x0e).from(Gfx10, 0x11), [sdst(I32), ssrc(B32)];
        S_FF0_I32_B64 "s_ff0_i32_b64" op(0x12).from(Gfx8, 0x0f).from(Gfx10, 0x12), [sdst(I32), ssrc(B64)];
        S_FF1_I32_B32 "s_ff1_i32_b32" op(0x13).from(Gfx8, 0x10).from(Gfx10, 0x13), [sdst(I32), ssrc(B32)];
        S_FF1_I32_B64 "s_ff1_i32_b64" op(0x14).from(Gfx8, 0x11).from(Gfx10, 0x14), [sdst(I32), ssrc(B64)];
        S_FLBIT_I32_B32 "s_flbit_i32_b32" op(0x15).from(Gfx8, 0x12).from(Gfx10, 0x15), [sdst(I32), ssrc(B32)];
        S_FLBIT_I32_B64 "s_flbit_i32_b64" op(0x16).from(Gfx8, 0x13).from(Gfx10, 0x16), [sdst(I32), ssrc(B64)];
        S_FLBIT_I32 "s_flbit_i32" op(0x17).from(Gfx8, 0x14).from(Gfx10, 0x17), [sdst(I32), ssrc(I32)];
        S_FLBIT_I32_I64 "s_flbit_i32_i64" op(0x18).from(Gfx8, 0x15).from(Gfx10, 0x18), [sdst(I32), ssrc(I64)];
        S_SEXT_I32_I8 "s_sext_i32_i8" op(0x19).from(Gfx8, 0x16).from(Gfx10, 0x19), [sdst(I32), ssrc(B32)];
        S_SEXT_I32_I16 "s_sext_i32_i16" op(0x1a).from(Gfx8, 0x17).from(Gfx10, 0x1a), [sdst(I32), ssrc(B32)];
        S_BITSET0_B32 "s_bitset0_b32" op(0x1b).from(Gfx8, 0x18).from(Gfx10, 0x1b), [sdst_use(B32), ssrc(B32)];
        S_BITSET0_B64 "s_bitset0_b64" op(0x1c).from(Gfx8, 0x19).from(Gfx10, 0x1c), [sdst_use(B64), ssrc(U32)];
        S_BITSET1_B32 "s_bitset1_b32" op(0x1d).from(Gfx8, 0x1a).from(Gfx10, 0x1d), [sdst_use(B32), ssrc(B32)];
        S_BITSET1_B64 "s_bitset1_b64" op(0x1e).from(Gfx8, 0x1b).from(Gfx10, 0x1e), [sdst_use(B64), ssrc(U32)];
        S_GETPC_B64 "s_getpc_b64" op(0x1f).from(Gfx8, 0x1c).from(Gfx10, 0x1f), [sdst(B64)], flags ORDERED;
        S_SETPC_B64 "s_setpc_b64" op(0x20).from(Gfx8, 0x1d).from(Gfx10, 0x20), [sgpr(B64)], flags BRANCH NO_FALLTHROUGH;
        S_SWAPPC_B64 "s_swappc_b64" op(0x21).from(Gfx8, 0x1e).from(Gfx10, 0x21), [sdst(B64), ssrc(B64)], flags BRANCH;
        S_RFE_B64 "s_rfe_b64" op(0x22).from(Gfx8, 0x1f).from(Gfx10, 0x22), [sgpr(B64)], flags BRANCH NO_FALLTHROUGH;
        S_AND_SAVEEXEC_B64 "s_and_saveexec_b64" op(0x24).from(Gfx8, 0x20).from(Gfx10, 0x24), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_OR_SAVEEXEC_B64 "s_or_saveexec_b64" op(0x25).from(Gfx8, 0x21).from(Gfx10, 0x25), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_XOR_SAVEEXEC_B64 "s_xor_saveexec_b64" op(0x26).from(Gfx8, 0x22).from(Gfx10, 0x26), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN2_SAVEEXEC_B64 "s_andn2_saveexec_b64" op(0x27).from(Gfx8, 0x23).from(Gfx10, 0x27), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ORN2_SAVEEXEC_B64 "s_orn2_saveexec_b64" op(0x28).from(Gfx8, 0x24).from(Gfx10, 0x28), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_NAND_SAVEEXEC_B64 "s_nand_saveexec_b64" op(0x29).from(Gfx8, 0x25).from(Gfx10, 0x29), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_NOR_SAVEEXEC_B64 "s_nor_saveexec_b64" op(0x2a).from(Gfx8, 0x26).from(Gfx10, 0x2a), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_XNOR_SAVEEXEC_B64 "s_xnor_saveexec_b64" op(0x2b).from(Gfx8, 0x27).from(Gfx10, 0x2b), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_QUADMASK_B32 "s_quadmask_b32" op(0x2c).from(Gfx8, 0x28).from(Gfx10, 0x2c), [sdst(B32), ssrc(B32)], implicit W_SCC;
        S_QUADMASK_B64 "s_quadmask_b64" op(0x2d).from(Gfx8, 0x29).from(Gfx10, 0x2d), [sdst(B64), ssrc(B64)], implicit W_SCC;
        S_MOVRELS_B32 "s_movrels_b32" op(0x2e).from(Gfx8, 0x2a).from(Gfx10, 0x2e), [sdst(B32), sgpr(B32)], implicit R_M0;
        S_MOVRELS_B64 "s_movrels_b64" op(0x2f).from(Gfx8, 0x2b).from(Gfx10, 0x2f), [sdst(B64), sgpr(B64)], implicit R_M0;
        S_MOVRELD_B32 "s_movreld_b32" op(0x30).from(Gfx8, 0x2c).from(Gfx10, 0x30), [sdst(B32), ssrc(B32)], implicit R_M0;
        S_MOVRELD_B64 "s_movreld_b64" op(0x31).from(Gfx8, 0x2d).from(Gfx10, 0x31), [sdst(B64), ssrc(B64)], implicit R_M0;
        S_CBRANCH_JOIN "s_cbranch_join" op(0x32).from(Gfx8, 0x2e).until(Gfx10), [sgpr(B32)], implicit R_EXEC W_EXEC, flags BRANCH;
        S_ABS_I32 "s_abs_i32" op(0x34).from(Gfx8, 0x30).from(Gfx10, 0x34), [sdst(I32), ssrc(I32)], implicit W_SCC;
        S_SET_GPR_IDX_IDX "s_set_gpr_idx_idx" since(Gfx8, 0x32).until(Gfx10), [ssrc(B32)], implicit R_M0 W_M0, flags ORDERED;
        S_ANDN1_SAVEEXEC_B64 "s_andn1_saveexec_b64" since(Gfx9, 0x33).from(Gfx10, 0x37), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ORN1_SAVEEXEC_B64 "s_orn1_saveexec_b64" since(Gfx9, 0x34).from(Gfx10, 0x38), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN1_WREXEC_B64 "s_andn1_wrexec_b64" since(Gfx9, 0x35).from(Gfx10, 0x39), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN2_WREXEC_B64 "s_andn2_wrexec_b64" since(Gfx9, 0x36).from(Gfx10, 0x3a), [sdst(B64), ssrc(B64)], implicit W_SCC R_EXEC W_EXEC;
        S_BITREPLICATE_B64_B32 "s_bitreplicate_b64_b32" since(Gfx9, 0x37).from(Gfx10, 0x3b), [sdst(B64), ssrc(B32)];
        S_AND_SAVEEXEC_B32 "s_and_saveexec_b32" since(Gfx10, 0x3c), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_OR_SAVEEXEC_B32 "s_or_saveexec_b32" since(Gfx10, 0x3d), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_XOR_SAVEEXEC_B32 "s_xor_saveexec_b32" since(Gfx10, 0x3e), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN2_SAVEEXEC_B32 "s_andn2_saveexec_b32" since(Gfx10, 0x3f), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_ORN2_SAVEEXEC_B32 "s_orn2_saveexec_b32" since(Gfx10, 0x40), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_NAND_SAVEEXEC_B32 "s_nand_saveexec_b32" since(Gfx10, 0x41), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_NOR_SAVEEXEC_B32 "s_nor_saveexec_b32" since(Gfx10, 0x42), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_XNOR_SAVEEXEC_B32 "s_xnor_saveexec_b32" since(Gfx10, 0x43), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN1_SAVEEXEC_B32 "s_andn1_saveexec_b32" since(Gfx10, 0x44), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_ORN1_SAVEEXEC_B32 "s_orn1_saveexec_b32" since(Gfx10, 0x45), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN1_WREXEC_B32 "s_andn1_wrexec_b32" since(Gfx10, 0x46), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_ANDN2_WREXEC_B32 "s_andn2_wrexec_b32" since(Gfx10, 0x47), [sdst(B32), ssrc(B32)], implicit W_SCC R_EXEC W_EXEC;
        S_MOVRELSD_2_B32 "s_movrelsd_2_b32" since(Gfx10, 0x49), [sdst(B32), ssrc(B32)], implicit R_M0;
    }
}

/// Instructions with two sources.
pub mod sop2 {
    use crate::table::{rows, spec::*};
    rows! { SOP2, Sop2;
        S_ADD_U32 "s_add_u32" op(0x00), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_SUB_U32 "s_sub_u32" op(0x01), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_ADD_I32 "s_add_i32" op(0x02), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_SUB_I32 "s_sub_i32" op(0x03), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_ADDC_U32 "s_addc_u32" op(0x04), [sdst(U32), ssrc(U32), ssrc(U32)], implicit R_SCC W_SCC, flags COMMUTES;
        S_SUBB_U32 "s_subb_u32" op(0x05), [sdst(U32), ssrc(U32), ssrc(U32)], implicit R_SCC W_SCC;
        S_MIN_I32 "s_min_i32" op(0x06), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_MIN_U32 "s_min_u32" op(0x07), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_MAX_I32 "s_max_i32" op(0x08), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_MAX_U32 "s_max_u32" op(0x09), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_CSELECT_B32 "s_cselect_b32" op(0x0a), [sdst(B32), ssrc(B32), ssrc(B32)], implicit R_SCC;
        S_CSELECT_B64 "s_cselect_b64" op(0x0b), [sdst(B64), ssrc(B64), ssrc(B64)], implicit R_SCC;
        S_AND_B32 "s_and_b32" op(0x0e).from(Gfx8, 0x0c).from(Gfx10, 0x0e), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_AND_B64 "s_and_b64" op(0x0f).from(Gfx8, 0x0d).from(Gfx10, 0x0f), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_OR_B32 "s_or_b32" op(0x10).from(Gfx8, 0x0e).from(Gfx10, 0x10), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_OR_B64 "s_or_b64" op(0x11).from(Gfx8, 0x0f).from(Gfx10, 0x11), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_XOR_B32 "s_xor_b32" op(0x12).from(Gfx8, 0x10).from(Gfx10, 0x12), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_XOR_B64 "s_xor_b64" op(0x13).from(Gfx8, 0x11).from(Gfx10, 0x13), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_ANDN2_B32 "s_andn2_b32" op(0x14).from(Gfx8, 0x12).from(Gfx10, 0x14), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_ANDN2_B64 "s_andn2_b64" op(0x15).from(Gfx8, 0x13).from(Gfx10, 0x15), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC;
        S_ORN2_B32 "s_orn2_b32" op(0x16).from(Gfx8, 0x14).from(Gfx10, 0x16), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_ORN2_B64 "s_orn2_b64" op(0x17).from(Gfx8, 0x15).from(Gfx10, 0x17), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC;
        S_NAND_B32 "s_nand_b32" op(0x18).from(Gfx8, 0x16).from(Gfx10, 0x18), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_NAND_B64 "s_nand_b64" op(0x19).from(Gfx8, 0x17).from(Gfx10, 0x19), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_NOR_B32 "s_nor_b32" op(0x1a).from(Gfx8, 0x18).from(Gfx10, 0x1a), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_NOR_B64 "s_nor_b64" op(0x1b).from(Gfx8, 0x19).from(Gfx10, 0x1b), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_XNOR_B32 "s_xnor_b32" op(0x1c).from(Gfx8, 0x1a).from(Gfx10, 0x1c), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC, flags COMMUTES;
        S_XNOR_B64 "s_xnor_b64" op(0x1d).from(Gfx8, 0x1b).from(Gfx10, 0x1d), [sdst(B64), ssrc(B64), ssrc(B64)], implicit W_SCC, flags COMMUTES;
        S_LSHL_B32 "s_lshl_b32" op(0x1e).from(Gfx8, 0x1c).from(Gfx10, 0x1e), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_LSHL_B64 "s_lshl_b64" op(0x1f).from(Gfx8, 0x1d).from(Gfx10, 0x1f), [sdst(B64), ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_LSHR_B32 "s_lshr_b32" op(0x20).from(Gfx8, 0x1e).from(Gfx10, 0x20), [sdst(B32), ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_LSHR_B64 "s_lshr_b64" op(0x21).from(Gfx8, 0x1f).from(Gfx10, 0x21), [sdst(B64), ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_ASHR_I32 "s_ashr_i32" op(0x22).from(Gfx8, 0x20).from(Gfx10, 0x22), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_ASHR_I64 "s_ashr_i64" op(0x23).from(Gfx8, 0x21).from(Gfx10, 0x23), [sdst(I64), ssrc(I64), ssrc(U32)], implicit W_SCC;
        S_BFM_B32 "s_bfm_b32" op(0x24).from(Gfx8, 0x22).from(Gfx10, 0x24), [sdst(B32), ssrc(B32), ssrc(B32)];
        S_BFM_B64 "s_bfm_b64" op(0x25).from(Gfx8, 0x23).from(Gfx10, 0x25), [sdst(B64), ssrc(U32), ssrc(U32)];
        S_MUL_I32 "s_mul_i32" op(0x26).from(Gfx8, 0x24).from(Gfx10, 0x26), [sdst(I32), ssrc(I32), ssrc(I32)], flags COMMUTES;
        S_BFE_U32 "s_bfe_u32" op(0x27).from(Gfx8, 0x25).from(Gfx10, 0x27), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_BFE_I32 "s_bfe_i32" op(0x28).from(Gfx8, 0x26).from(Gfx10, 0x28), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_BFE_U64 "s_bfe_u64" op(0x29).from(Gfx8, 0x27).from(Gfx10, 0x29), [sdst(U64), ssrc(U64), ssrc(U32)], implicit W_SCC;
        S_BFE_I64 "s_bfe_i64" op(0x2a).from(Gfx8, 0x28).from(Gfx10, 0x2a), [sdst(I64), ssrc(I64), ssrc(U32)], implicit W_SCC;
        S_CBRANCH_G_FORK "s_cbranch_g_fork" op(0x2b).from(Gfx8, 0x29).until(Gfx10), [ssrc(B64), ssrc(B64)], implicit R_EXEC W_EXEC, flags BRANCH;
        S_ABSDIFF_I32 "s_absdiff_i32" op(0x2c).from(Gfx8, 0x2a).from(Gfx10, 0x2c), [sdst(I32), ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_RFE_RESTORE_B64 "s_rfe_restore_b64" since(Gfx8, 0x2b).until(Gfx10), [ssrc(B64), ssrc(B32)], flags BRANCH NO_FALLTHROUGH;
        S_MUL_HI_U32 "s_mul_hi_u32" since(Gfx9, 0x2c).from(Gfx10, 0x35), [sdst(U32), ssrc(U32), ssrc(U32)], flags COMMUTES;
        S_MUL_HI_I32 "s_mul_hi_i32" since(Gfx9, 0x2d).from(Gfx10, 0x36), [sdst(I32), ssrc(I32), ssrc(I32)], flags COMMUTES;
        S_LSHL1_ADD_U32 "s_lshl1_add_u32" since(Gfx9, 0x2e), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_LSHL2_ADD_U32 "s_lshl2_add_u32" since(Gfx9, 0x2f), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_LSHL3_ADD_U32 "s_lshl3_add_u32" since(Gfx9, 0x30), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_LSHL4_ADD_U32 "s_lshl4_add_u32" since(Gfx9, 0x31), [sdst(U32), ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_PACK_LL_B32_B16 "s_pack_ll_b32_b16" since(Gfx9, 0x32), [sdst(B32), ssrc(B32), ssrc(B32)];
        S_PACK_LH_B32_B16 "s_pack_lh_b32_b16" since(Gfx9, 0x33), [sdst(B32), ssrc(B32), ssrc(B32)];
        S_PACK_HH_B32_B16 "s_pack_hh_b32_b16" since(Gfx9, 0x34), [sdst(B32), ssrc(B32), ssrc(B32)];
    }
}

/// Instructions with a 16-bit constant.
pub mod sopk {
    use crate::table::{rows, spec::*};
    rows! { SOPK, Sopk;
        S_MOVK_I32 "s_movk_i32" op(0x00), [sdst(I32), simm()];
        S_CMOVK_I32 "s_cmovk_i32" op(0x02).from(Gfx8, 0x01).from(Gfx10, 0x02), [sdst_use(I32), simm()], implicit R_SCC;
        S_CMPK_EQ_I32 "s_cmpk_eq_i32" op(0x03).from(Gfx8, 0x02).from(Gfx10, 0x03), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_LG_I32 "s_cmpk_lg_i32" op(0x04).from(Gfx8, 0x03).from(Gfx10, 0x04), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_GT_I32 "s_cmpk_gt_i32" op(0x05).from(Gfx8, 0x04).from(Gfx10, 0x05), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_GE_I32 "s_cmpk_ge_i32" op(0x06).from(Gfx8, 0x05).from(Gfx10, 0x06), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_LT_I32 "s_cmpk_lt_i32" op(0x07).from(Gfx8, 0x06).from(Gfx10, 0x07), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_LE_I32 "s_cmpk_le_i32" op(0x08).from(Gfx8, 0x07).from(Gfx10, 0x08), [sgpr(I32), simm()], implicit W_SCC;
        S_CMPK_EQ_U32 "s_cmpk_eq_u32" op(0x09).from(Gfx8, 0x08).from(Gfx10, 0x09), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_LG_U32 "s_cmpk_lg_u32" op(0x0a).from(Gfx8, 0x09).from(Gfx10, 0x0a), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_GT_U32 "s_cmpk_gt_u32" op(0x0b).from(Gfx8, 0x0a).from(Gfx10, 0x0b), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_GE_U32 "s_cmpk_ge_u32" op(0x0c).from(Gfx8, 0x0b).from(Gfx10, 0x0c), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_LT_U32 "s_cmpk_lt_u32" op(0x0d).from(Gfx8, 0x0c).from(Gfx10, 0x0d), [sgpr(U32), imm()], implicit W_SCC;
        S_CMPK_LE_U32 "s_cmpk_le_u32" op(0x0e).from(Gfx8, 0x0d).from(Gfx10, 0x0e), [sgpr(U32), imm()], implicit W_SCC;
        S_ADDK_I32 "s_addk_i32" op(0x0f).from(Gfx8, 0x0e).from(Gfx10, 0x0f), [sdst_use(I32), simm()], implicit W_SCC;
        S_MULK_I32 "s_mulk_i32" op(0x10).from(Gfx8, 0x0f).from(Gfx10, 0x10), [sdst_use(I32), simm()];
        S_CBRANCH_I_FORK "s_cbranch_i_fork" op(0x11).from(Gfx8, 0x10).until(Gfx10), [sgpr(B64), label()], implicit R_EXEC W_EXEC, flags BRANCH;
        S_GETREG_B32 "s_getreg_b32" op(0x12).from(Gfx8, 0x11).from(Gfx10, 0x12), [sdst(B32), imm()], implicit R_MODE, flags ORDERED;
        S_SETREG_B32 "s_setreg_b32" op(0x13).from(Gfx8, 0x12).from(Gfx10, 0x13), [imm(), sgpr(B32)], implicit W_MODE, flags ORDERED;
        S_SETREG_IMM32_B32 "s_setreg_imm32_b32" op(0x15).from(Gfx8, 0x14).from(Gfx10, 0x15), [imm(), literal(B32)], implicit W_MODE, flags ORDERED;
        S_CALL_B64 "s_call_b64" since(Gfx9, 0x15).from(Gfx10, 0x16), [sdst(B64), label()], flags BRANCH;
        S_VERSION "s_version" since(Gfx10, 0x01), [imm()], flags ORDERED;
        S_WAITCNT_VSCNT "s_waitcnt_vscnt" since(Gfx10, 0x17), [sgpr(B32), imm()], flags ORDERED;
        S_WAITCNT_VMCNT "s_waitcnt_vmcnt" since(Gfx10, 0x18), [sgpr(B32), imm()], flags ORDERED;
        S_WAITCNT_EXPCNT "s_waitcnt_expcnt" since(Gfx10, 0x19), [sgpr(B32), imm()], flags ORDERED;
        S_WAITCNT_LGKMCNT "s_waitcnt_lgkmcnt" since(Gfx10, 0x1a), [sgpr(B32), imm()], flags ORDERED;
        S_SUBVECTOR_LOOP_BEGIN "s_subvector_loop_begin" since(Gfx10, 0x1b), [sdst(B32), label()], implicit R_EXEC W_EXEC, flags BRANCH;
        S_SUBVECTOR_LOOP_END "s_subvector_loop_end" since(Gfx10, 0x1c), [sdst_use(B32), label()], implicit R_EXEC W_EXEC, flags BRANCH;
    }
}

/// Comparisons.
pub mod sopc {
    use crate::table::{rows, spec::*};
    rows! { SOPC, Sopc;
        S_CMP_EQ_I32 "s_cmp_eq_i32" op(0x00), [ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_CMP_LG_I32 "s_cmp_lg_i32" op(0x01), [ssrc(I32), ssrc(I32)], implicit W_SCC, flags COMMUTES;
        S_CMP_GT_I32 "s_cmp_gt_i32" op(0x02), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_GE_I32 "s_cmp_ge_i32" op(0x03), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_LT_I32 "s_cmp_lt_i32" op(0x04), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_LE_I32 "s_cmp_le_i32" op(0x05), [ssrc(I32), ssrc(I32)], implicit W_SCC;
        S_CMP_EQ_U32 "s_cmp_eq_u32" op(0x06), [ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_CMP_LG_U32 "s_cmp_lg_u32" op(0x07), [ssrc(U32), ssrc(U32)], implicit W_SCC, flags COMMUTES;
        S_CMP_GT_U32 "s_cmp_gt_u32" op(0x08), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_CMP_GE_U32 "s_cmp_ge_u32" op(0x09), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_CMP_LT_U32 "s_cmp_lt_u32" op(0x0a), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_CMP_LE_U32 "s_cmp_le_u32" op(0x0b), [ssrc(U32), ssrc(U32)], implicit W_SCC;
        S_BITCMP0_B32 "s_bitcmp0_b32" op(0x0c), [ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_BITCMP1_B32 "s_bitcmp1_b32" op(0x0d), [ssrc(B32), ssrc(B32)], implicit W_SCC;
        S_BITCMP0_B64 "s_bitcmp0_b64" op(0x0e), [ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_BITCMP1_B64 "s_bitcmp1_b64" op(0x0f), [ssrc(B64), ssrc(U32)], implicit W_SCC;
        S_SETVSKIP "s_setvskip" op(0x10).until(Gfx10), [ssrc(B32), ssrc(B32)], implicit W_MODE, flags ORDERED;
        S_SET_GPR_IDX_ON "s_set_gpr_idx_on" since(Gfx8, 0x11).until(Gfx10), [ssrc(B32), imm()], implicit R_M0 W_M0 W_MODE, flags ORDERED;
        S_CMP_EQ_U64 "s_cmp_eq_u64" since(Gfx8, 0x12), [ssrc(U64), ssrc(U64)], implicit W_SCC, flags COMMUTES;
        S_CMP_LG_U64 "s_cmp_lg_u64" since(Gfx8, 0x13), [ssrc(U64), ssrc(U64)], implicit W_SCC, flags COMMUTES;
    }
}

/// Program flow, waits and messages.
pub mod sopp {
    use crate::table::{rows, spec::*};
    rows! { SOPP, Sopp;
        S_NOP "s_nop" op(0x00), [imm()];
        S_ENDPGM "s_endpgm" op(0x01), [imm()], flags BRANCH NO_FALLTHROUGH ORDERED;
        S_BRANCH "s_branch" op(0x02), [label()], flags BRANCH NO_FALLTHROUGH;
        S_WAKEUP "s_wakeup" since(Gfx8, 0x03), [], flags ORDERED;
        S_CBRANCH_SCC0 "s_cbranch_scc0" op(0x04), [label()], implicit R_SCC, flags BRANCH;
        S_CBRANCH_SCC1 "s_cbranch_scc1" op(0x05), [label()], implicit R_SCC, flags BRANCH;
        S_CBRANCH_VCCZ "s_cbranch_vccz" op(0x06), [label()], implicit R_VCC, flags BRANCH;
        S_CBRANCH_VCCNZ "s_cbranch_vccnz" op(0x07), [label()], implicit R_VCC, flags BRANCH;
        S_CBRANCH_EXECZ "s_cbranch_execz" op(0x08), [label()], implicit R_EXEC, flags BRANCH;
        S_CBRANCH_EXECNZ "s_cbranch_execnz" op(0x09), [label()], implicit R_EXEC, flags BRANCH;
        S_BARRIER "s_barrier" op(0x0a), [], flags ORDERED;
        S_SETKILL "s_setkill" op(0x0b), [imm()], flags ORDERED;
        S_WAITCNT "s_waitcnt" op(0x0c), [imm()], flags ORDERED;
        S_SETHALT "s_sethalt" op(0x0d), [imm()], flags ORDERED;
        S_SLEEP "s_sleep" op(0x0e), [imm()], flags ORDERED;
        S_SETPRIO "s_setprio" op(0x0f), [imm()], flags ORDERED;
        S_SENDMSG "s_sendmsg" op(0x10), [imm()], implicit R_M0, flags ORDERED LGKM;
        S_SENDMSGHALT "s_sendmsghalt" op(0x11), [imm()], implicit R_M0, flags ORDERED LGKM;
        S_TRAP "s_trap" op(0x12), [imm()], flags ORDERED;
        S_ICACHE_INV "s_icache_inv" op(0x13), [], flags ORDERED;
        S_INCPERFLEVEL "s_incperflevel" op(0x14), [imm()], flags ORDERED;
        S_DECPERFLEVEL "s_decperflevel" op(0x15), [imm()], flags ORDERED;
        S_TTRACEDATA "s_ttracedata" op(0x16), [], implicit R_M0, flags ORDERED;
        S_CBRANCH_CDBGSYS "s_cbranch_cdbgsys" op(0x17), [label()], flags BRANCH;
        S_CBRANCH_CDBGUSER "s_cbranch_cdbguser" op(0x18), [label()], flags BRANCH;
        S_CBRANCH_CDBGSYS_OR_USER "s_cbranch_cdbgsys_or_user" op(0x19), [label()], flags BRANCH;
        S_CBRANCH_CDBGSYS_AND_USER "s_cbranch_cdbgsys_and_user" op(0x1a), [label()], flags BRANCH;
        S_ENDPGM_SAVED "s_endpgm_saved" since(Gfx8, 0x1b), [], flags BRANCH NO_FALLTHROUGH ORDERED;
        S_SET_GPR_IDX_OFF "s_set_gpr_idx_off" since(Gfx8, 0x1c).until(Gfx10), [], implicit W_MODE, flags ORDERED;
        S_SET_GPR_IDX_MODE "s_set_gpr_idx_mode" since(Gfx8, 0x1d).until(Gfx10), [imm()], implicit R_M0 W_M0 W_MODE, flags ORDERED;
        S_ENDPGM_ORDERED_PS_DONE "s_endpgm_ordered_ps_done" since(Gfx9, 0x1e), [], flags BRANCH NO_FALLTHROUGH ORDERED;
        S_CODE_END "s_code_end" since(Gfx10, 0x1f), [], flags ORDERED;
        S_INST_PREFETCH "s_inst_prefetch" since(Gfx10, 0x20), [imm()], flags ORDERED;
        S_CLAUSE "s_clause" since(Gfx10, 0x21), [imm()], flags ORDERED;
        S_WAIT_IDLE "s_wait_idle" since(Gfx10, 0x22), [], flags ORDERED;
        S_WAITCNT_DEPCTR "s_waitcnt_depctr" since(Gfx10, 0x23), [imm()], flags ORDERED;
        S_ROUND_MODE "s_round_mode" since(Gfx10, 0x24), [imm()], implicit W_MODE, flags ORDERED;
        S_DENORM_MODE "s_denorm_mode" since(Gfx10, 0x25), [imm()], implicit W_MODE, flags ORDERED;
        S_TTRACEDATA_IMM "s_ttracedata_imm" since(Gfx10, 0x28), [imm()], flags ORDERED;
    }
}

pub(crate) use sop1::SOP1;
pub(crate) use sop2::SOP2;
pub(crate) use sopc::SOPC;
pub(crate) use sopk::SOPK;
pub(crate) use sopp::SOPP;
