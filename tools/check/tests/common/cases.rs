//! Hazards of two or three instructions, in assembly and as LLVM's machine code in text (MIR).

/// A case. The wait states go before the last instruction.
pub struct Case {
    /// Assembly, one instruction a line.
    pub asm: &'static str,
    /// The same as MIR; empty where LLVM does not judge (see `unjudged`).
    pub mir: &'static str,
    /// Processors by the beginnings of their names, the rule, and wait states needed; none on others.
    pub expected: &'static [(&'static str, &'static str, u32)],
}

const fn case(
    asm: &'static str,
    mir: &'static str,
    expected: &'static [(&'static str, &'static str, u32)],
) -> Case {
    Case { asm, mir, expected }
}

const ALL9: &str = "gfx6 gfx7 gfx8 gfx9";
const RDNA1: &str = "gfx101";

/// Every case.
#[rustfmt::skip]
pub static CASES: &[Case] = &[
    case("v_readfirstlane_b32 s4, v0\nbuffer_load_dword v1, off, s[0:3], s4",
        "$sgpr4 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec\n$vgpr1 = BUFFER_LOAD_DWORD_OFFSET $sgpr0_sgpr1_sgpr2_sgpr3, $sgpr4, 0, 0, 0, implicit $exec",
        &[("gfx8 gfx9", "valu-sgpr-vmem", 5)]),
    case("v_readfirstlane_b32 s1, v0\nflat_load_dword v1, v[2:3]",
        "$sgpr1 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec\n$vgpr1 = FLAT_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec, implicit $flat_scr",
        &[]),
    case("v_readfirstlane_b32 s0, v0\ns_load_dword s4, s[0:1], 0x0",
        "$sgpr0 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec\n$sgpr4 = S_LOAD_DWORD_IMM $sgpr0_sgpr1, 0, 0",
        &[("gfx6", "valu-sgpr-smem", 4), (RDNA1, "", 0)]),
    case("s_mov_b32 s0, 0\ns_buffer_load_dword s4, s[0:3], 0x0",
        "$sgpr0 = S_MOV_B32 0\n$sgpr4 = S_BUFFER_LOAD_DWORD_IMM $sgpr0_sgpr1_sgpr2_sgpr3, 0, 0",
        &[("gfx6", "salu-sgpr-buffer-smem", 4)]),
    case("v_readfirstlane_b32 s4, v0\nv_readlane_b32 s5, v1, s4",
        "$sgpr4 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec\n$sgpr5 = V_READLANE_B32 $vgpr1, $sgpr4",
        &[(ALL9, "valu-sgpr-lane", 4)]),
    case("v_readfirstlane_b32 s4, v0\nv_writelane_b32 v1, 0, s4",
        "$sgpr4 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec\n$vgpr1 = V_WRITELANE_B32 0, $sgpr4, $vgpr1",
        &[(ALL9, "valu-sgpr-lane", 4)]),
    case("v_cmp_eq_u32_e64 vcc, v0, s1\nv_div_fmas_f32 v1, v1, v2, v3",
        "$vcc = V_CMP_EQ_U32_e64 $vgpr0, $sgpr1, implicit $exec\n$vgpr1 = V_DIV_FMAS_F32_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, implicit $mode, implicit $vcc, implicit $exec",
        &[(ALL9, "valu-vcc-div-fmas", 4)]),
    case("v_cmp_eq_u32_e64 vcc, v0, s1\nv_mov_b32_e32 v1, src_vccz", "", &[(ALL9, "valu-zero-flag", 5)]),
    case("v_mov_b32_e32 v0, 0\nv_mov_b32_dpp v1, v0 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf",
        "$vgpr0 = V_MOV_B32_e32 0, implicit $exec\n$vgpr1 = V_MOV_B32_dpp $vgpr1, $vgpr0, 0, 15, 15, 0, implicit $exec",
        &[("gfx8 gfx9", "valu-vgpr-dpp", 2)]),
    case("v_mov_b32_e32 v1, 0\nv_mov_b32_dpp v1, v0 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf",
        "$vgpr1 = V_MOV_B32_e32 0, implicit $exec\n$vgpr1 = V_MOV_B32_dpp $vgpr1, $vgpr0, 0, 15, 15, 0, implicit $exec",
        &[("gfx8 gfx9", "valu-vgpr-dpp-own", 2)]),
    case("v_mov_b32_e32 v2, 0\nv_add_f32_dpp v1, v0, v2 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf", "",
        &[("gfx8 gfx9", "valu-vgpr-dpp-own", 2)]),
    case("v_cmpx_eq_u32_e32 vcc, v0, v1\nbuffer_load_dword v1, off, s[4:7], 0",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit-def $vcc, implicit $exec\n$vgpr1 = BUFFER_LOAD_DWORD_OFFSET $sgpr4_sgpr5_sgpr6_sgpr7, 0, 0, 0, 0, implicit $exec",
        &[("gfx8 gfx9", "valu-exec-vmem", 5)]),
    case("v_cmpx_eq_u32_e32 vcc, v0, v1\nv_mov_b32_dpp v1, v2 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit-def $vcc, implicit $exec\n$vgpr1 = V_MOV_B32_dpp $vgpr1, $vgpr2, 0, 15, 15, 0, implicit $exec",
        &[("gfx8 gfx9", "valu-exec-dpp", 5)]),
    case("s_mov_b32 m0, 0\ns_movrels_b32 s0, s2",
        "$m0 = S_MOV_B32 0\n$sgpr0 = S_MOVRELS_B32 $sgpr2, implicit $m0",
        &[("gfx9", "salu-m0-index", 1)]),
    case("s_mov_b32 m0, 0\nv_interp_mov_f32 v0, p0, attr0.x",
        "$m0 = S_MOV_B32 0\n$vgpr0 = V_INTERP_MOV_F32 2, 0, 0, implicit $mode, implicit $m0, implicit $exec",
        &[("gfx9", "salu-m0-index", 1)]),
    case("s_mov_b32 m0, 0\ns_sendmsg 3",
        "$m0 = S_MOV_B32 0\nS_SENDMSG 3, implicit $exec, implicit $m0",
        &[("gfx8 gfx9", "salu-m0-message", 1)]),
    case("s_mov_b32 m0, 0\nds_add_u32 v0, v1 gds",
        "$m0 = S_MOV_B32 0\nDS_ADD_U32 $vgpr0, $vgpr1, 0, -1, implicit $m0, implicit $exec",
        &[("gfx8 gfx9", "salu-m0-message", 1)]),
    case("s_mov_b32 m0, 0\nbuffer_load_dword off, s[0:3], 0 lds",
        "$m0 = S_MOV_B32 0\nBUFFER_LOAD_DWORD_LDS_OFFSET $sgpr0_sgpr1_sgpr2_sgpr3, 0, 0, 0, 0, implicit $exec, implicit $m0",
        &[("gfx9", "salu-m0-lds-dma", 1)]),
    case("s_mov_b32 m0, 0\nv_mov_b32_e32 v0, src_lds_direct",
        "$m0 = S_MOV_B32 0\n$vgpr0 = V_MOV_B32_e32 $lds_direct, implicit $exec, implicit $m0",
        &[("gfx9", "salu-m0-lds-dma", 1)]),
    case("buffer_store_dwordx4 v[0:3], off, s[0:3], 0\nv_mov_b32_e32 v2, 0",
        "BUFFER_STORE_DWORDX4_OFFSET $vgpr0_vgpr1_vgpr2_vgpr3, $sgpr0_sgpr1_sgpr2_sgpr3, 0, 0, 0, 0, implicit $exec\n$vgpr2 = V_MOV_B32_e32 0, implicit $exec",
        &[("gfx94", "wide-store-data", 2), ("gfx7 gfx8 gfx9", "wide-store-data", 1)]),
    case("buffer_store_dwordx4 v[0:3], off, s[0:3], s8\nv_mov_b32_e32 v2, 0",
        "BUFFER_STORE_DWORDX4_OFFSET $vgpr0_vgpr1_vgpr2_vgpr3, $sgpr0_sgpr1_sgpr2_sgpr3, $sgpr8, 0, 0, 0, implicit $exec\n$vgpr2 = V_MOV_B32_e32 0, implicit $exec",
        &[]),
    case("flat_store_dwordx4 v[0:1], v[2:5]\nv_mov_b32_e32 v4, 0",
        "FLAT_STORE_DWORDX4 $vgpr0_vgpr1, $vgpr2_vgpr3_vgpr4_vgpr5, 0, 0, implicit $exec, implicit $flat_scr\n$vgpr4 = V_MOV_B32_e32 0, implicit $exec",
        &[("gfx94", "wide-store-data", 2), ("gfx7 gfx8 gfx9", "wide-store-data", 1)]),
    case("flat_store_dwordx2 v[0:1], v[2:3]\nv_mov_b32_e32 v2, 0",
        "FLAT_STORE_DWORDX2 $vgpr0_vgpr1, $vgpr2_vgpr3, 0, 0, implicit $exec, implicit $flat_scr\n$vgpr2 = V_MOV_B32_e32 0, implicit $exec",
        &[]),
    case("s_setreg_b32 hwreg(HW_REG_MODE, 0, 1), s0\ns_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 1)",
        "S_SETREG_B32 $sgpr0, 1, implicit-def $mode, implicit $mode\n$sgpr1 = S_GETREG_B32 1, implicit $mode",
        &[(ALL9, "setreg-getreg", 2)]),
    case("s_setreg_b32 hwreg(HW_REG_MODE, 0, 1), s0\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 1), s1",
        "S_SETREG_B32 $sgpr0, 1, implicit-def $mode, implicit $mode\nS_SETREG_B32 $sgpr1, 1, implicit-def $mode, implicit $mode",
        &[("gfx6 gfx7", "setreg-setreg", 1), ("gfx8 gfx9", "setreg-setreg", 2)]),
    case("s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s0\nv_mov_b32_e32 v0, 0", "", &[(ALL9, "setreg-vskip", 2)]),
    case("s_setreg_b32 hwreg(HW_REG_MODE, 27, 1), s0\nv_mov_b32_e32 v0, 0",
        "S_SETREG_B32 $sgpr0, 1729, implicit-def $mode, implicit $mode\n$vgpr0 = V_MOV_B32_e32 0, implicit $exec",
        &[]),
    case("s_setvskip s0, s1\ns_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 1)", "", &[(ALL9, "setvskip-getreg", 2)]),
    case("s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 1), s0\ns_rfe_b64 s[2:3]",
        "S_SETREG_B32 $sgpr0, 3, implicit-def $mode, implicit $mode\nS_RFE_B64 $sgpr2_sgpr3",
        &[("gfx8 gfx9", "setreg-rfe", 1)]),
    // Matrix instructions.
    case("v_mov_b32_e32 v0, 0\nv_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
        "$vgpr0 = V_MOV_B32_e32 0, implicit $exec\n$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908 gfx90a", "valu-vgpr-mai", 2)]),
    case("v_mov_b32_e32 v0, 0\nv_accvgpr_write_b32 a0, v0",
        "$vgpr0 = V_MOV_B32_e32 0, implicit $exec\n$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr0, implicit $exec",
        &[("gfx908", "valu-vgpr-mai", 2)]),
    case("v_cmpx_eq_u32_e32 vcc, v0, v1\nv_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit-def $vcc, implicit $exec\n$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908 gfx90a", "valu-exec-mai", 4)]),
    case("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]\nv_mfma_f32_4x4x1f32 a[2:5], v0, v1, a[2:5]",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr2_agpr3_agpr4_agpr5 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr2_agpr3_agpr4_agpr5, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908 gfx90a", "mfma-sum-overlap", 2)]),
    case("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]\nv_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[]),
    case("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]\nv_mfma_f32_4x4x1f32 a[2:5], v0, v1, a[2:5]",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_16X16X4F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr2_agpr3_agpr4_agpr5 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr2_agpr3_agpr4_agpr5, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908", "mfma-sum-overlap", 2), ("gfx90a", "mfma-sum-overlap", 8)]),
    case("v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]\nv_mfma_f32_4x4x1f32 a[2:5], v0, v1, a[2:5]",
        "$agpr0_agpr1_agpr2_agpr3_agpr4_agpr5_agpr6_agpr7_agpr8_agpr9_agpr10_agpr11_agpr12_agpr13_agpr14_agpr15 = V_MFMA_F32_32X32X2F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3_agpr4_agpr5_agpr6_agpr7_agpr8_agpr9_agpr10_agpr11_agpr12_agpr13_agpr14_agpr15, 0, 0, 0, implicit $mode, implicit $exec\n$agpr2_agpr3_agpr4_agpr5 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr2_agpr3_agpr4_agpr5, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908", "mfma-sum-overlap", 2), ("gfx90a", "mfma-sum-overlap", 16)]),
    case("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]\nv_mfma_f32_4x4x1f32 a[4:7], a0, v1, a[4:7]",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr4_agpr5_agpr6_agpr7 = V_MFMA_F32_4X4X1F32_e64 $agpr0, $vgpr1, $agpr4_agpr5_agpr6_agpr7, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908", "mfma-factor", 4), ("gfx90a", "mfma-factor", 5)]),
    case("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]\nv_mfma_f32_4x4x1f32 a[4:7], a0, v1, a[4:7]",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_16X16X4F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr4_agpr5_agpr6_agpr7 = V_MFMA_F32_4X4X1F32_e64 $agpr0, $vgpr1, $agpr4_agpr5_agpr6_agpr7, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908", "mfma-factor", 4), ("gfx90a", "mfma-factor", 11)]),
    case("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]\nv_accvgpr_read_b32 v3, a0",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$vgpr3 = V_ACCVGPR_READ_B32_e64 $agpr0, implicit $exec",
        &[("gfx908", "mfma-acc-read", 4), ("gfx90a", "mfma-read", 5)]),
    case("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]\nv_accvgpr_read_b32 v3, a0",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_16X16X4F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$vgpr3 = V_ACCVGPR_READ_B32_e64 $agpr0, implicit $exec",
        &[("gfx908", "mfma-acc-read", 10), ("gfx90a", "mfma-read", 11)]),
    case("v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]\nv_accvgpr_read_b32 v3, a0",
        "$agpr0_agpr1_agpr2_agpr3_agpr4_agpr5_agpr6_agpr7_agpr8_agpr9_agpr10_agpr11_agpr12_agpr13_agpr14_agpr15 = V_MFMA_F32_32X32X2F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3_agpr4_agpr5_agpr6_agpr7_agpr8_agpr9_agpr10_agpr11_agpr12_agpr13_agpr14_agpr15, 0, 0, 0, implicit $mode, implicit $exec\n$vgpr3 = V_ACCVGPR_READ_B32_e64 $agpr0, implicit $exec",
        &[("gfx908", "mfma-acc-read", 18), ("gfx90a", "mfma-read", 19)]),
    case("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]\nv_accvgpr_write_b32 a0, v3",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec",
        &[("gfx908", "mfma-acc-write", 1), ("gfx90a", "mfma-write", 5)]),
    case("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]\nv_accvgpr_write_b32 a0, v3",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_16X16X4F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec",
        &[("gfx908", "mfma-acc-write", 7), ("gfx90a", "mfma-write", 11)]),
    case("v_mfma_f32_16x16x4f32 a[4:7], v0, v1, a[0:3]\nv_accvgpr_write_b32 a0, v3",
        "$agpr4_agpr5_agpr6_agpr7 = V_MFMA_F32_16X16X4F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec",
        &[("gfx908", "mfma-sum-read-acc-write", 5), ("gfx90a", "mfma-sum-read-write", 7)]),
    case("v_mfma_f32_4x4x1f32 a[4:7], v0, v1, a[0:3]\nv_accvgpr_write_b32 a0, v3",
        "$agpr4_agpr5_agpr6_agpr7 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec",
        &[("gfx90a", "mfma-sum-read-write", 1)]),
    case("v_accvgpr_write_b32 a0, v3\nv_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
        "$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec\n$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908", "acc-write-mfma-sum", 1), ("gfx90a", "valu-vgpr-mai", 2)]),
    case("v_accvgpr_write_b32 a8, v3\nv_mfma_f32_4x4x1f32 a[0:3], a8, v1, a[0:3]",
        "$agpr8 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec\n$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $agpr8, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx908", "acc-write-mfma-factor", 3), ("gfx90a", "valu-vgpr-mai", 2)]),
    case("v_accvgpr_write_b32 a0, v3\nv_accvgpr_read_b32 v4, a0",
        "$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr3, implicit $exec\n$vgpr4 = V_ACCVGPR_READ_B32_e64 $agpr0, implicit $exec",
        &[("gfx908", "acc-write-acc-read", 3)]),
    case("v_accvgpr_read_b32 v0, a0\nds_write_b32 v1, v0",
        "$vgpr0 = V_ACCVGPR_READ_B32_e64 $agpr0, implicit $exec\nDS_WRITE_B32_gfx9 $vgpr1, $vgpr0, 0, 0, implicit $exec",
        &[("gfx908", "acc-read-memory", 2)]),
    case("v_mov_b32_e32 v0, 0\nv_accvgpr_write_b32 a1, v5\nds_write_b32 v1, v0",
        "$vgpr0 = V_MOV_B32_e32 0, implicit $exec\n$agpr1 = V_ACCVGPR_WRITE_B32_e64 $vgpr5, implicit $exec\nDS_WRITE_B32_gfx9 $vgpr1, $vgpr0, 0, 0, implicit $exec",
        &[("gfx908", "valu-acc-memory", 1)]),
    // On doubles.
    case("v_mfma_f64_4x4x4f64 a[0:1], v[0:1], v[2:3], a[0:1]\nv_mfma_f64_4x4x4f64 a[0:1], v[0:1], v[2:3], a[0:1]",
        "$agpr0_agpr1 = V_MFMA_F64_4X4X4F64_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $agpr0_agpr1, 0, 0, 0, implicit $mode, implicit $exec\n$agpr0_agpr1 = V_MFMA_F64_4X4X4F64_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $agpr0_agpr1, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx90a", "dgemm-sum-same", 4)]),
    case("v_mfma_f64_16x16x4f64 a[0:7], v[0:1], v[2:3], a[0:7]\nv_mfma_f64_4x4x4f64 a[2:3], v[0:1], v[2:3], a[2:3]",
        "$agpr0_agpr1_agpr2_agpr3_agpr4_agpr5_agpr6_agpr7 = V_MFMA_F64_16X16X4F64_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $agpr0_agpr1_agpr2_agpr3_agpr4_agpr5_agpr6_agpr7, 0, 0, 0, implicit $mode, implicit $exec\n$agpr2_agpr3 = V_MFMA_F64_4X4X4F64_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx90a", "dgemm-sum-overlap", 9)]),
    case("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]\nv_mfma_f64_4x4x4f64 a[2:3], v[0:1], v[2:3], a[2:3]",
        "$agpr0_agpr1_agpr2_agpr3 = V_MFMA_F32_4X4X1F32_e64 $vgpr0, $vgpr1, $agpr0_agpr1_agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec\n$agpr2_agpr3 = V_MFMA_F64_4X4X4F64_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $agpr2_agpr3, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx90a", "mfma-dgemm-sum-overlap", 3)]),
    case("v_mfma_f64_4x4x4f64 a[0:1], v[0:1], v[2:3], a[0:1]\nv_mfma_f32_4x4x1f32 a[4:7], a0, v1, a[4:7]",
        "$agpr0_agpr1 = V_MFMA_F64_4X4X4F64_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $agpr0_agpr1, 0, 0, 0, implicit $mode, implicit $exec\n$agpr4_agpr5_agpr6_agpr7 = V_MFMA_F32_4X4X1F32_e64 $agpr0, $vgpr1, $agpr4_agpr5_agpr6_agpr7, 0, 0, 0, implicit $mode, implicit $exec",
        &[("gfx90a", "dgemm-factor", 6)]),
    case("v_mfma_f64_4x4x4f64 v[4:5], v[0:1], v[2:3], v[4:5]\nds_write_b32 v1, v4",
        "$vgpr4_vgpr5 = V_MFMA_F64_4X4X4F64_vgprcd_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $vgpr4_vgpr5, 0, 0, 0, implicit $mode, implicit $exec\nDS_WRITE_B32_gfx9 $vgpr1, $vgpr4, 0, 0, implicit $exec",
        &[("gfx90a", "dgemm-memory", 9)]),
    case("v_mfma_f64_4x4x4f64 v[4:5], v[0:1], v[2:3], v[4:5]\nv_mov_b32_e32 v9, v4",
        "$vgpr4_vgpr5 = V_MFMA_F64_4X4X4F64_vgprcd_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $vgpr4_vgpr5, 0, 0, 0, implicit $mode, implicit $exec\n$vgpr9 = V_MOV_B32_e32 $vgpr4, implicit $exec",
        &[("gfx90a", "dgemm-valu", 6)]),
    case("v_mfma_f64_4x4x4f64 v[4:5], v[0:1], v[2:3], v[4:5]\nv_mov_b32_e32 v4, 0",
        "$vgpr4_vgpr5 = V_MFMA_F64_4X4X4F64_vgprcd_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $vgpr4_vgpr5, 0, 0, 0, implicit $mode, implicit $exec\n$vgpr4 = V_MOV_B32_e32 0, implicit $exec",
        &[("gfx90a", "dgemm-write", 6)]),
    case("v_mfma_f64_4x4x4f64 v[4:5], v[0:1], v[2:3], v[4:5]\nv_fma_f64 v[6:7], v[8:9], v[8:9], v[8:9]",
        "$vgpr4_vgpr5 = V_MFMA_F64_4X4X4F64_vgprcd_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $vgpr4_vgpr5, 0, 0, 0, implicit $mode, implicit $exec\n$vgpr6_vgpr7 = V_FMA_F64_e64 0, $vgpr8_vgpr9, 0, $vgpr8_vgpr9, 0, $vgpr8_vgpr9, 0, 0, implicit $mode, implicit $exec",
        &[("gfx90a", "dgemm-fma64", 2)]),
    case("v_mov_b32_e32 v9, 0\nv_mfma_f64_4x4x4f64 v[4:5], v[0:1], v[2:3], v[4:5]\nds_write_b32 v1, v9",
        "$vgpr9 = V_MOV_B32_e32 0, implicit $exec\n$vgpr4_vgpr5 = V_MFMA_F64_4X4X4F64_vgprcd_e64 $vgpr0_vgpr1, $vgpr2_vgpr3, $vgpr4_vgpr5, 0, 0, 0, implicit $mode, implicit $exec\nDS_WRITE_B32_gfx9 $vgpr1, $vgpr9, 0, 0, implicit $exec",
        &[("gfx90a", "valu-dgemm-memory", 1)]),
    // Dot products.
    case("v_dot4_i32_i8 v0, v1, v2, v3\nv_mov_b32_e32 v5, v0",
        "$vgpr0 = V_DOT4_I32_I8 8, $vgpr1, 8, $vgpr2, 8, $vgpr3, 0, 0, 0, 0, 0, implicit $exec\n$vgpr5 = V_MOV_B32_e32 $vgpr0, implicit $exec",
        &[("gfx90a gfx94", "dot-read", 3)]),
    case("v_dot4_i32_i8 v0, v1, v2, v3\nv_dot4_i32_i8 v4, v0, v2, v3",
        "$vgpr0 = V_DOT4_I32_I8 8, $vgpr1, 8, $vgpr2, 8, $vgpr3, 0, 0, 0, 0, 0, implicit $exec\n$vgpr4 = V_DOT4_I32_I8 8, $vgpr0, 8, $vgpr2, 8, $vgpr3, 0, 0, 0, 0, 0, implicit $exec",
        &[("gfx90a gfx94", "dot-factor", 3)]),
    // LLVM takes `op_sel_hi` of a packed instruction (8) for `op_sel` of the destination in its rule
    // `part-valu`, so the first operand has none here.
    case("v_dot4_i32_i8 v0, v1, v2, v3\nv_dot4_i32_i8 v0, v1, v2, v0",
        "$vgpr0 = V_DOT4_I32_I8 0, $vgpr1, 8, $vgpr2, 8, $vgpr3, 0, 0, 0, 0, 0, implicit $exec\n$vgpr0 = V_DOT4_I32_I8 8, $vgpr1, 8, $vgpr2, 8, $vgpr0, 0, 0, 0, 0, 0, implicit $exec",
        &[]),
    case("v_dot4_i32_i8 v0, v1, v2, v3\nv_mov_b32_e32 v0, 0",
        "$vgpr0 = V_DOT4_I32_I8 8, $vgpr1, 8, $vgpr2, 8, $vgpr3, 0, 0, 0, 0, 0, implicit $exec\n$vgpr0 = V_MOV_B32_e32 0, implicit $exec",
        &[("gfx90a gfx94", "dot-write", 3)]),
    // Results of VALU instructions.
    case("v_cmp_eq_u32_e32 vcc, v0, v1\nv_cndmask_b32_e32 v2, v3, v4, vcc",
        "V_CMP_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $vcc, implicit $exec\n$vgpr2 = V_CNDMASK_B32_e32 $vgpr3, $vgpr4, implicit $vcc, implicit $exec",
        &[("gfx94", "valu-sgpr-valu", 2)]),
    case("v_readfirstlane_b32 s4, v0\nv_add_u32_e64 v2, v3, s4",
        "$sgpr4 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec\n$vgpr2 = V_ADD_U32_e64 $vgpr3, $sgpr4, 0, implicit $exec",
        &[("gfx94", "valu-sgpr-valu", 2)]),
    case("v_mov_b32_e32 v0, 0\nv_readfirstlane_b32 s4, v0",
        "$vgpr0 = V_MOV_B32_e32 0, implicit $exec\n$sgpr4 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        &[("gfx94", "valu-vgpr-readlane", 1)]),
    case("v_mov_b32_e32 v0, 0\nv_readlane_b32 s4, v0, 3",
        "$vgpr0 = V_MOV_B32_e32 0, implicit $exec\n$sgpr4 = V_READLANE_B32 $vgpr0, 3",
        &[("gfx94", "valu-vgpr-readlane", 1)]),
    case("v_cmpx_eq_u32_e32 vcc, v0, v1\nv_readfirstlane_b32 s4, v2",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit-def $vcc, implicit $exec\n$sgpr4 = V_READFIRSTLANE_B32 $vgpr2, implicit $exec",
        &[("gfx94", "valu-exec-lane", 4)]),
    case("v_cmpx_eq_u32_e32 vcc, v0, v1\nv_writelane_b32 v2, 0, 3",
        "V_CMPX_EQ_U32_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit-def $vcc, implicit $exec\n$vgpr2 = V_WRITELANE_B32 0, 3, $vgpr2",
        &[("gfx94", "valu-exec-lane", 4)]),
    case("v_rcp_f32_e32 v0, v1\nv_mov_b32_e32 v2, v0",
        "$vgpr0 = V_RCP_F32_e32 $vgpr1, implicit $mode, implicit $exec\n$vgpr2 = V_MOV_B32_e32 $vgpr0, implicit $exec",
        &[("gfx94", "trans-valu", 1)]),
    case("v_rcp_f32_e32 v0, v1\nv_rcp_f32_e32 v2, v0",
        "$vgpr0 = V_RCP_F32_e32 $vgpr1, implicit $mode, implicit $exec\n$vgpr2 = V_RCP_F32_e32 $vgpr0, implicit $mode, implicit $exec",
        &[]),
    case("v_mov_b32_sdwa v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD\nv_mov_b32_e32 v2, v0",
        "$vgpr0 = V_MOV_B32_sdwa 0, $vgpr1, 0, 5, 2, 6, implicit $exec, implicit $vgpr0(tied-def 0)\n$vgpr2 = V_MOV_B32_e32 $vgpr0, implicit $exec",
        &[("gfx94", "part-valu", 1)]),
    // GFX10.
    case("global_atomic_fmin v[0:1], v2, off\ns_denorm_mode 0",
        "GLOBAL_ATOMIC_FMIN $vgpr0_vgpr1, $vgpr2, 0, 0, implicit $exec\nS_DENORM_MODE 0, implicit-def $mode, implicit $mode",
        &[("gfx10", "fp-atomic-denorm", 3)]),
];

/// Two instructions that something particular has to stand between, and that.
pub struct Event {
    /// Assembly.
    pub asm: &'static str,
    /// The same as MIR.
    pub mir: &'static str,
    /// Processors by the beginnings of their names.
    pub on: &'static str,
    /// The rule.
    pub id: &'static str,
    /// What mends it, before the last instruction.
    pub mitigation: &'static str,
    /// What LLVM inserts.
    pub inserted: &'static str,
}

/// Every one that LLVM's hazard recognizer knows.
#[rustfmt::skip]
pub static EVENTS: &[Event] = &[
    Event { asm: "global_load_dword v1, v0, s[0:1]\ns_mov_b32 s0, 0",
        mir: "$vgpr1 = GLOBAL_LOAD_DWORD_SADDR $sgpr0_sgpr1, $vgpr0, 0, 0, implicit $exec\n$sgpr0 = S_MOV_B32 0",
        on: RDNA1, id: "vmem-scalar-write", mitigation: "s_waitcnt_depctr 0xffe3", inserted: "S_WAITCNT_DEPCTR" },
    Event { asm: "s_load_dword s4, s[0:1], 0x0\nv_readfirstlane_b32 s0, v0",
        mir: "$sgpr4 = S_LOAD_DWORD_IMM $sgpr0_sgpr1, 0, 0\n$sgpr0 = V_READFIRSTLANE_B32 $vgpr0, implicit $exec",
        on: RDNA1, id: "smem-vector-write", mitigation: "s_mov_b32 null, 0", inserted: "$sgpr_null = S_MOV_B32" },
    Event { asm: "s_mov_b64 s[0:1], exec\nv_cmpx_eq_u32_e32 v0, v1",
        mir: "$sgpr0_sgpr1 = S_MOV_B64 $exec\nV_CMPX_EQ_U32_nosdst_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit $exec",
        on: RDNA1, id: "vcmpx-exec-war", mitigation: "s_waitcnt_depctr 0xfffe", inserted: "S_WAITCNT_DEPCTR" },
    Event { asm: "v_cmpx_eq_u32_e32 v0, v1\nv_permlane16_b32 v1, v1, s1, s2",
        mir: "V_CMPX_EQ_U32_nosdst_e32 $vgpr0, $vgpr1, implicit-def $exec, implicit $exec\n$vgpr1 = V_PERMLANE16_B32_e64 0, $vgpr1, 0, $sgpr1, 0, $sgpr2, $vgpr1, 0, implicit $exec",
        on: RDNA1, id: "vcmpx-permlane", mitigation: "v_mov_b32_e32 v1, v1", inserted: "$vgpr1 = V_MOV_B32_e32" },
    Event { asm: "ds_write_b32 v0, v1\ns_branch .Lnext\n.Lnext:\nglobal_load_dword v2, v[4:5], off",
        mir: "DS_WRITE_B32_gfx9 $vgpr0, $vgpr1, 0, 0, implicit $exec\nS_BRANCH %bb.1\n#\n$vgpr2 = GLOBAL_LOAD_DWORD $vgpr4_vgpr5, 0, 0, implicit $exec",
        on: RDNA1, id: "lds-branch-vmem-war", mitigation: "s_waitcnt_vscnt null, 0x0", inserted: "S_WAITCNT_VSCNT" },
];

/// Memory instructions of which clauses are made that XNACK may replay: a letter for each, assembly, MIR.
/// Each letter of a word is an instruction, so that clauses are words.
pub type Letters = &'static [(char, &'static str, &'static str)];

/// Scalar memory. `a` and `d` read what `b` and `o` write; `o` overwrites its own address.
#[rustfmt::skip]
pub static SCALAR_CLAUSES: Letters = &[
    ('a', "s_load_dword s4, s[0:1], 0x0", "$sgpr4 = S_LOAD_DWORD_IMM $sgpr0_sgpr1, 0, 0"),
    ('b', "s_load_dword s0, s[2:3], 0x0", "$sgpr0 = S_LOAD_DWORD_IMM $sgpr2_sgpr3, 0, 0"),
    ('d', "s_load_dword s5, s[0:1], 0x0", "$sgpr5 = S_LOAD_DWORD_IMM $sgpr0_sgpr1, 0, 0"),
    ('o', "s_load_dword s0, s[0:1], 0x0", "$sgpr0 = S_LOAD_DWORD_IMM $sgpr0_sgpr1, 0, 0"),
    ('i', "s_dcache_inv", "S_DCACHE_INV"),
];

/// Vector memory. `b` and `o` write what most read, `o` its own address; `w` overwrites the data of `s` and
/// of the atomics.
#[rustfmt::skip]
pub static VECTOR_CLAUSES: Letters = &[
    ('a', "flat_load_dword v8, v[4:5]", "$vgpr8 = FLAT_LOAD_DWORD $vgpr4_vgpr5, 0, 0, implicit $exec, implicit $flat_scr"),
    ('b', "flat_load_dword v4, v[2:3]", "$vgpr4 = FLAT_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec, implicit $flat_scr"),
    ('o', "flat_load_dword v4, v[4:5]", "$vgpr4 = FLAT_LOAD_DWORD $vgpr4_vgpr5, 0, 0, implicit $exec, implicit $flat_scr"),
    ('w', "flat_load_dword v6, v[2:3]", "$vgpr6 = FLAT_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec, implicit $flat_scr"),
    ('s', "flat_store_dword v[2:3], v6", "FLAT_STORE_DWORD $vgpr2_vgpr3, $vgpr6, 0, 0, implicit $exec, implicit $flat_scr"),
    ('r', "flat_atomic_add v10, v[4:5], v6 glc", "$vgpr10 = FLAT_ATOMIC_ADD_RTN $vgpr4_vgpr5, $vgpr6, 0, 1, implicit $exec, implicit $flat_scr"),
    ('n', "flat_atomic_add v[4:5], v6", "FLAT_ATOMIC_ADD $vgpr4_vgpr5, $vgpr6, 0, 0, implicit $exec, implicit $flat_scr"),
];

/// Whether a processor is one of those with such a beginning.
pub fn is_on(processor: &str, on: &str) -> bool {
    on.split_whitespace().any(|beginning| processor.starts_with(beginning))
}
