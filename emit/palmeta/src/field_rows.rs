//! The rows of the fields of registers. Each group has the numbers of registers with the same fields.

use crate::fields::{Field, Generations};

const fn f(name: &'static str, at: u32, width: u32, on: u8) -> Field {
    Field { name, at, width, on: Generations(on) }
}

/// All generations.
const ALL: u8 = 0b11_1111;
const GFX6: u8 = 0b00_0001;
const GFX9: u8 = 0b00_1000;
const GFX103: u8 = 0b10_0000;
/// GFX6 to GFX8.
const TO8: u8 = 0b00_0111;
/// GFX7 and GFX8.
const FROM7_TO8: u8 = 0b00_0110;
const FROM7: u8 = 0b11_1110;
const FROM7_TO9: u8 = 0b00_1110;
const FROM8: u8 = 0b11_1100;
const FROM9: u8 = 0b11_1000;
const FROM10: u8 = 0b11_0000;

type Group = (&'static [u32], &'static [Field]);

/// Numbers of registers, and their fields from the lowest bit on. A register with fields in several groups
/// has the fields of the first group in front.
#[rustfmt::skip]
pub(crate) static GROUPS: [Group; 60] = [
    // PGM_RSRC1 of every stage.
    (&[0x2c0a, 0x2c4a, 0x2c8a, 0x2cca, 0x2d0a, 0x2d4a, 0x2e12], &[
        f("VGPRS", 0, 6, ALL), f("SGPRS", 6, 4, ALL), f("PRIORITY", 10, 2, ALL), f("FLOAT_MODE", 12, 8, ALL),
        f("PRIV", 20, 1, ALL), f("DX10_CLAMP", 21, 1, ALL), f("DEBUG_MODE", 22, 1, ALL),
        f("IEEE_MODE", 23, 1, ALL),
    ]),
    // COMPUTE_PGM_RSRC1.
    (&[0x2e12], &[
        f("BULKY", 24, 1, FROM7), f("CDBG_USER", 25, 1, FROM7), f("FP16_OVFL", 26, 1, FROM9),
        f("WGP_MODE", 29, 1, FROM10), f("MEM_ORDERED", 30, 1, FROM10), f("FWD_PROGRESS", 31, 1, FROM10),
    ]),
    // SPI_SHADER_PGM_RSRC1_PS.
    (&[0x2c0a], &[
        f("CU_GROUP_DISABLE", 24, 1, ALL), f("CACHE_CTL", 25, 3, FROM7_TO8), f("MEM_ORDERED", 25, 1, FROM10),
        f("FWD_PROGRESS", 26, 1, FROM10), f("LOAD_PROVOKING_VTX", 27, 1, GFX103),
        f("CDBG_USER", 28, 1, FROM7), f("FP16_OVFL", 29, 1, FROM9),
    ]),
    // SPI_SHADER_PGM_RSRC1_VS.
    (&[0x2c4a], &[
        f("VGPR_COMP_CNT", 24, 2, ALL), f("CU_GROUP_ENABLE", 26, 1, ALL), f("CACHE_CTL", 27, 3, FROM7_TO8),
        f("MEM_ORDERED", 27, 1, FROM10), f("FWD_PROGRESS", 28, 1, FROM10), f("CDBG_USER", 30, 1, FROM7),
        f("FP16_OVFL", 31, 1, FROM9),
    ]),
    // SPI_SHADER_PGM_RSRC1_GS.
    (&[0x2c8a], &[
        f("CU_GROUP_ENABLE", 24, 1, ALL), f("CACHE_CTL", 25, 3, FROM7_TO8), f("MEM_ORDERED", 25, 1, FROM10),
        f("FWD_PROGRESS", 26, 1, FROM10), f("WGP_MODE", 27, 1, FROM10), f("CDBG_USER", 28, 1, FROM7),
        f("GS_VGPR_COMP_CNT", 29, 2, FROM9), f("FP16_OVFL", 31, 1, FROM9),
    ]),
    // SPI_SHADER_PGM_RSRC1_ES. GFX9 has no ES stage; PAL's header has the register for GFX10.
    (&[0x2cca], &[
        f("VGPR_COMP_CNT", 24, 2, ALL ^ GFX9), f("CU_GROUP_ENABLE", 26, 1, ALL ^ GFX9),
        f("CACHE_CTL", 27, 3, FROM7_TO8), f("CDBG_USER", 30, 1, FROM7 ^ GFX9), f("FP16_OVFL", 31, 1, FROM10),
    ]),
    // SPI_SHADER_PGM_RSRC1_HS.
    (&[0x2d0a], &[
        f("CACHE_CTL", 24, 3, FROM7_TO8), f("MEM_ORDERED", 24, 1, FROM10), f("FWD_PROGRESS", 25, 1, FROM10),
        f("WGP_MODE", 26, 1, FROM10), f("CDBG_USER", 27, 1, FROM7), f("LS_VGPR_COMP_CNT", 28, 2, FROM9),
        f("FP16_OVFL", 30, 1, FROM9),
    ]),
    // SPI_SHADER_PGM_RSRC1_LS. GFX9 has no LS stage; PAL's header has the register for GFX10.
    (&[0x2d4a], &[
        f("VGPR_COMP_CNT", 24, 2, ALL ^ GFX9), f("CACHE_CTL", 26, 3, FROM7_TO8),
        f("CDBG_USER", 29, 1, FROM7 ^ GFX9), f("FP16_OVFL", 30, 1, FROM10),
    ]),
    // PGM_RSRC2 of every stage.
    (&[0x2c0b, 0x2c4b, 0x2c8b, 0x2ccb, 0x2d0b, 0x2d4b, 0x2e13], &[
        f("SCRATCH_EN", 0, 1, ALL), f("USER_SGPR", 1, 5, ALL), f("TRAP_PRESENT", 6, 1, ALL),
    ]),
    // COMPUTE_PGM_RSRC2.
    (&[0x2e13], &[
        f("TGID_X_EN", 7, 1, ALL), f("TGID_Y_EN", 8, 1, ALL), f("TGID_Z_EN", 9, 1, ALL),
        f("TG_SIZE_EN", 10, 1, ALL), f("TIDIG_COMP_CNT", 11, 2, ALL), f("EXCP_EN_MSB", 13, 2, FROM7),
        f("LDS_SIZE", 15, 9, ALL), f("EXCP_EN", 24, 7, ALL), f("SKIP_USGPR0", 31, 1, GFX9),
    ]),
    // SPI_SHADER_PGM_RSRC2_PS.
    (&[0x2c0b], &[
        f("WAVE_CNT_EN", 7, 1, ALL), f("EXTRA_LDS_SIZE", 8, 8, ALL), f("EXCP_EN", 16, 7, GFX6),
        f("EXCP_EN", 16, 9, FROM7), f("LOAD_COLLISION_WAVEID", 25, 1, FROM9),
        f("LOAD_INTRAWAVE_COLLISION", 26, 1, FROM9), f("SKIP_USGPR0", 27, 1, GFX9),
        f("USER_SGPR_MSB", 28, 1, GFX9), f("USER_SGPR_MSB", 27, 1, FROM10), f("SHARED_VGPR_CNT", 28, 4, FROM10),
    ]),
    // SPI_SHADER_PGM_RSRC2_VS.
    (&[0x2c4b], &[
        f("OC_LDS_EN", 7, 1, ALL), f("SO_BASE0_EN", 8, 1, ALL), f("SO_BASE1_EN", 9, 1, ALL),
        f("SO_BASE2_EN", 10, 1, ALL), f("SO_BASE3_EN", 11, 1, ALL), f("SO_EN", 12, 1, ALL),
        f("EXCP_EN", 13, 7, GFX6), f("EXCP_EN", 13, 9, FROM7), f("PC_BASE_EN", 22, 1, FROM9),
        f("DISPATCH_DRAW_EN", 24, 1, FROM8), f("SKIP_USGPR0", 27, 1, GFX9), f("USER_SGPR_MSB", 28, 1, GFX9),
        f("USER_SGPR_MSB", 27, 1, FROM10), f("SHARED_VGPR_CNT", 28, 4, FROM10),
    ]),
    // SPI_SHADER_PGM_RSRC2_GS.
    (&[0x2c8b], &[
        f("EXCP_EN", 7, 7, GFX6), f("EXCP_EN", 7, 9, FROM7), f("ES_VGPR_COMP_CNT", 16, 2, FROM9),
        f("OC_LDS_EN", 18, 1, FROM9), f("LDS_SIZE", 19, 8, FROM9), f("SKIP_USGPR0", 27, 1, GFX9),
        f("USER_SGPR_MSB", 28, 1, GFX9), f("USER_SGPR_MSB", 27, 1, FROM10), f("SHARED_VGPR_CNT", 28, 4, FROM10),
    ]),
    // SPI_SHADER_PGM_RSRC2_ES.
    (&[0x2ccb], &[
        f("OC_LDS_EN", 7, 1, ALL ^ GFX9), f("EXCP_EN", 8, 7, GFX6), f("EXCP_EN", 8, 9, FROM7 ^ GFX9),
        f("LDS_SIZE", 20, 9, FROM7 ^ GFX9),
    ]),
    // SPI_SHADER_PGM_RSRC2_HS.
    (&[0x2d0b], &[
        f("OC_LDS_EN", 7, 1, ALL ^ GFX9), f("TG_SIZE_EN", 8, 1, ALL ^ GFX9), f("EXCP_EN", 9, 7, GFX6),
        f("EXCP_EN", 9, 9, FROM7 ^ GFX9), f("EXCP_EN", 7, 9, GFX9), f("LDS_SIZE", 16, 9, GFX9),
        f("LDS_SIZE", 18, 9, FROM10), f("SKIP_USGPR0", 27, 1, GFX9), f("USER_SGPR_MSB", 28, 1, GFX9),
        f("USER_SGPR_MSB", 27, 1, FROM10), f("SHARED_VGPR_CNT", 28, 4, FROM10),
    ]),
    // SPI_SHADER_PGM_RSRC2_LS.
    (&[0x2d4b], &[
        f("LDS_SIZE", 7, 9, ALL ^ GFX9), f("EXCP_EN", 16, 7, GFX6), f("EXCP_EN", 16, 9, FROM7 ^ GFX9),
    ]),
    // COMPUTE_PGM_RSRC3.
    (&[0x2e28], &[f("SHARED_VGPR_CNT", 0, 4, FROM10)]),
    // SPI_SHADER_PGM_RSRC3_PS and _VS.
    (&[0x2c07, 0x2c46], &[
        f("CU_EN", 0, 16, FROM7), f("WAVE_LIMIT", 16, 6, FROM7), f("LOCK_LOW_THRESHOLD", 22, 4, FROM7),
    ]),
    // SPI_SHADER_PGM_RSRC3_VS.
    (&[0x2c46], &[f("SIMD_DISABLE", 26, 4, GFX9)]),
    // SPI_SHADER_PGM_RSRC3_GS.
    (&[0x2c87], &[
        f("CU_EN", 0, 16, FROM7), f("WAVE_LIMIT", 16, 6, FROM7), f("LOCK_LOW_THRESHOLD", 22, 4, FROM7),
        f("SIMD_DISABLE", 26, 4, GFX9), f("GROUP_FIFO_DEPTH", 26, 6, FROM8 ^ GFX9),
    ]),
    // SPI_SHADER_PGM_RSRC3_ES and _LS.
    (&[0x2cc7, 0x2d47], &[
        f("CU_EN", 0, 16, FROM7 ^ GFX9), f("WAVE_LIMIT", 16, 6, FROM7 ^ GFX9),
        f("LOCK_LOW_THRESHOLD", 22, 4, FROM7 ^ GFX9), f("GROUP_FIFO_DEPTH", 26, 6, FROM8 ^ GFX9),
    ]),
    // SPI_SHADER_PGM_RSRC3_HS.
    (&[0x2d07], &[
        f("WAVE_LIMIT", 0, 6, FROM7), f("LOCK_LOW_THRESHOLD", 6, 4, FROM7), f("SIMD_DISABLE", 10, 4, GFX9),
        f("GROUP_FIFO_DEPTH", 10, 6, FROM8 ^ GFX9), f("CU_EN", 16, 16, FROM9),
    ]),
    // SPI_SHADER_PGM_RSRC4_PS, _VS and _HS.
    (&[0x2c01, 0x2c41, 0x2d01], &[f("CU_EN", 0, 16, FROM10)]),
    (&[0x2d01], &[f("GROUP_FIFO_DEPTH", 0, 7, GFX9)]),
    // SPI_SHADER_PGM_RSRC4_GS.
    (&[0x2c81], &[
        f("GROUP_FIFO_DEPTH", 0, 7, GFX9), f("SPI_SHADER_LATE_ALLOC_GS", 7, 7, GFX9), f("CU_EN", 0, 16, FROM10),
        f("SPI_SHADER_LATE_ALLOC_GS", 16, 7, FROM10),
    ]),
    // COMPUTE_DISPATCH_INITIATOR.
    (&[0x2e00], &[
        f("COMPUTE_SHADER_EN", 0, 1, ALL), f("PARTIAL_TG_EN", 1, 1, ALL), f("FORCE_START_AT_000", 2, 1, ALL),
        f("ORDERED_APPEND_ENBL", 3, 1, ALL), f("ORDERED_APPEND_MODE", 4, 1, FROM7),
        f("USE_THREAD_DIMENSIONS", 5, 1, FROM7), f("ORDER_MODE", 6, 1, FROM7),
        f("DISPATCH_CACHE_CNTL", 7, 3, FROM7_TO8), f("SCALAR_L1_INV_VOL", 10, 1, FROM7),
        f("VECTOR_L1_INV_VOL", 11, 1, FROM7), f("DATA_ATC", 12, 1, FROM7_TO8), f("RESERVED", 12, 1, FROM9),
        f("TUNNEL_ENABLE", 13, 1, FROM10), f("RESTORE", 14, 1, FROM7), f("CS_W32_EN", 15, 1, FROM10),
    ]),
    // COMPUTE_NUM_THREAD_X, _Y and _Z.
    (&[0x2e07, 0x2e08, 0x2e09], &[f("NUM_THREAD_FULL", 0, 16, ALL), f("NUM_THREAD_PARTIAL", 16, 16, ALL)]),
    // COMPUTE_TMPRING_SIZE and SPI_TMPRING_SIZE.
    (&[0x2e18, 0xa1ba], &[f("WAVES", 0, 12, ALL), f("WAVESIZE", 12, 13, ALL)]),
    // COMPUTE_RESOURCE_LIMITS.
    (&[0x2e15], &[
        f("WAVES_PER_SH", 0, 6, GFX6), f("WAVES_PER_SH", 0, 10, FROM7_TO9), f("TG_PER_CU", 12, 4, TO8 | GFX9),
        f("LOCK_THRESHOLD", 16, 6, TO8 | GFX9), f("SIMD_DEST_CNTL", 22, 1, TO8 | GFX9),
        f("FORCE_SIMD_DIST", 23, 1, FROM7_TO9), f("CU_GROUP_COUNT", 24, 3, FROM7_TO9),
        f("SIMD_DISABLE", 27, 4, GFX9),
    ]),
    // SPI_PS_INPUT_ENA and SPI_PS_INPUT_ADDR.
    (&[0xa1b3, 0xa1b4], &[
        f("PERSP_SAMPLE_ENA", 0, 1, ALL), f("PERSP_CENTER_ENA", 1, 1, ALL), f("PERSP_CENTROID_ENA", 2, 1, ALL),
        f("PERSP_PULL_MODEL_ENA", 3, 1, ALL), f("LINEAR_SAMPLE_ENA", 4, 1, ALL),
        f("LINEAR_CENTER_ENA", 5, 1, ALL), f("LINEAR_CENTROID_ENA", 6, 1, ALL),
        f("LINE_STIPPLE_TEX_ENA", 7, 1, ALL), f("POS_X_FLOAT_ENA", 8, 1, ALL), f("POS_Y_FLOAT_ENA", 9, 1, ALL),
        f("POS_Z_FLOAT_ENA", 10, 1, ALL), f("POS_W_FLOAT_ENA", 11, 1, ALL), f("FRONT_FACE_ENA", 12, 1, ALL),
        f("ANCILLARY_ENA", 13, 1, ALL), f("SAMPLE_COVERAGE_ENA", 14, 1, ALL), f("POS_FIXED_PT_ENA", 15, 1, ALL),
    ]),
    // SPI_PS_IN_CONTROL.
    (&[0xa1b6], &[
        f("NUM_INTERP", 0, 6, ALL), f("PARAM_GEN", 6, 1, ALL), f("FOG_ADDR", 7, 7, GFX6),
        f("OFFCHIP_PARAM_EN", 7, 1, FROM10), f("LATE_PC_DEALLOC", 8, 1, FROM10),
        f("NUM_PRIM_INTERP", 9, 5, GFX103), f("BC_OPTIMIZE_DISABLE", 14, 1, ALL),
        f("PASS_FOG_THROUGH_PS", 15, 1, GFX6), f("PS_W32_EN", 15, 1, FROM10),
    ]),
    // SPI_SHADER_Z_FORMAT, SPI_SHADER_IDX_FORMAT.
    (&[0xa1c4], &[f("Z_EXPORT_FORMAT", 0, 4, ALL)]),
    (&[0xa1c2], &[f("IDX0_EXPORT_FORMAT", 0, 4, FROM10)]),
    // SPI_SHADER_COL_FORMAT.
    (&[0xa1c5], &[
        f("COL0_EXPORT_FORMAT", 0, 4, ALL), f("COL1_EXPORT_FORMAT", 4, 4, ALL), f("COL2_EXPORT_FORMAT", 8, 4, ALL),
        f("COL3_EXPORT_FORMAT", 12, 4, ALL), f("COL4_EXPORT_FORMAT", 16, 4, ALL),
        f("COL5_EXPORT_FORMAT", 20, 4, ALL), f("COL6_EXPORT_FORMAT", 24, 4, ALL),
        f("COL7_EXPORT_FORMAT", 28, 4, ALL),
    ]),
    // SPI_SHADER_POS_FORMAT.
    (&[0xa1c3], &[
        f("POS0_EXPORT_FORMAT", 0, 4, ALL), f("POS1_EXPORT_FORMAT", 4, 4, ALL), f("POS2_EXPORT_FORMAT", 8, 4, ALL),
        f("POS3_EXPORT_FORMAT", 12, 4, ALL), f("POS4_EXPORT_FORMAT", 16, 4, FROM10),
    ]),
    // SPI_VS_OUT_CONFIG.
    (&[0xa1b1], &[
        f("VS_EXPORT_COUNT", 1, 5, FROM10), f("VS_HALF_PACK", 6, 1, FROM10), f("NO_PC_EXPORT", 7, 1, FROM10),
        f("PRIM_EXPORT_COUNT", 8, 5, GFX103),
    ]),
    // SPI_BARYC_CNTL.
    (&[0xa1b8], &[
        f("PERSP_CENTER_CNTL", 0, 1, ALL), f("PERSP_CENTROID_CNTL", 4, 1, ALL),
        f("LINEAR_CENTER_CNTL", 8, 1, ALL), f("LINEAR_CENTROID_CNTL", 12, 1, ALL),
        f("POS_FLOAT_LOCATION", 16, 2, ALL), f("POS_FLOAT_ULC", 20, 1, ALL),
        f("FRONT_FACE_ALL_BITS", 24, 1, ALL),
    ]),
    // SPI_INTERP_CONTROL_0.
    (&[0xa1b5], &[
        f("FLAT_SHADE_ENA", 0, 1, FROM10), f("PNT_SPRITE_ENA", 1, 1, FROM10), f("PNT_SPRITE_OVRD_X", 2, 3, FROM10),
        f("PNT_SPRITE_OVRD_Y", 5, 3, FROM10), f("PNT_SPRITE_OVRD_Z", 8, 3, FROM10),
        f("PNT_SPRITE_OVRD_W", 11, 3, FROM10), f("PNT_SPRITE_TOP_1", 14, 1, FROM10),
    ]),
    // SPI_PS_INPUT_CNTL_0 to _31.
    (&[
        0xa191, 0xa192, 0xa193, 0xa194, 0xa195, 0xa196, 0xa197, 0xa198, 0xa199, 0xa19a, 0xa19b, 0xa19c, 0xa19d,
        0xa19e, 0xa19f, 0xa1a0, 0xa1a1, 0xa1a2, 0xa1a3, 0xa1a4, 0xa1a5, 0xa1a6, 0xa1a7, 0xa1a8, 0xa1a9, 0xa1aa,
        0xa1ab, 0xa1ac, 0xa1ad, 0xa1ae, 0xa1af, 0xa1b0,
    ], &[
        f("OFFSET", 0, 6, FROM10), f("DEFAULT_VAL", 8, 2, FROM10), f("FLAT_SHADE", 10, 1, FROM10),
        f("ROTATE_PC_PTR", 11, 1, GFX103), f("CYL_WRAP", 13, 4, FROM10), f("PT_SPRITE_TEX", 17, 1, FROM10),
        f("DUP", 18, 1, FROM10), f("FP16_INTERP_MODE", 19, 1, FROM10), f("USE_DEFAULT_ATTR1", 20, 1, FROM10),
        f("DEFAULT_VAL_ATTR1", 21, 2, FROM10), f("PT_SPRITE_TEX_ATTR1", 23, 1, FROM10),
        f("ATTR0_VALID", 24, 1, FROM10), f("ATTR1_VALID", 25, 1, FROM10),
    ]),
    // CB_SHADER_MASK.
    (&[0xa08f], &[
        f("OUTPUT0_ENABLE", 0, 4, ALL), f("OUTPUT1_ENABLE", 4, 4, ALL), f("OUTPUT2_ENABLE", 8, 4, ALL),
        f("OUTPUT3_ENABLE", 12, 4, ALL), f("OUTPUT4_ENABLE", 16, 4, ALL), f("OUTPUT5_ENABLE", 20, 4, ALL),
        f("OUTPUT6_ENABLE", 24, 4, ALL), f("OUTPUT7_ENABLE", 28, 4, ALL),
    ]),
    // DB_SHADER_CONTROL.
    (&[0xa203], &[
        f("Z_EXPORT_ENABLE", 0, 1, ALL), f("STENCIL_TEST_VAL_EXPORT_ENABLE", 1, 1, ALL),
        f("STENCIL_OP_VAL_EXPORT_ENABLE", 2, 1, ALL), f("Z_ORDER", 4, 2, ALL), f("KILL_ENABLE", 6, 1, ALL),
        f("COVERAGE_TO_MASK_ENABLE", 7, 1, ALL), f("MASK_EXPORT_ENABLE", 8, 1, ALL),
        f("EXEC_ON_HIER_FAIL", 9, 1, ALL), f("EXEC_ON_NOOP", 10, 1, ALL),
        f("ALPHA_TO_MASK_DISABLE", 11, 1, ALL), f("DEPTH_BEFORE_SHADER", 12, 1, ALL),
        f("CONSERVATIVE_Z_EXPORT", 13, 2, FROM7), f("DUAL_QUAD_DISABLE", 15, 1, FROM9),
        f("PRIMITIVE_ORDERED_PIXEL_SHADER", 16, 1, FROM10), f("EXEC_IF_OVERLAPPED", 17, 1, FROM10),
        f("POPS_OVERLAP_NUM_SAMPLES", 20, 3, FROM10), f("PRE_SHADER_DEPTH_COVERAGE_ENABLE", 23, 1, FROM10),
    ]),
    // PA_CL_CLIP_CNTL.
    (&[0xa204], &[
        f("UCP_ENA_0", 0, 1, ALL), f("UCP_ENA_1", 1, 1, ALL), f("UCP_ENA_2", 2, 1, ALL),
        f("UCP_ENA_3", 3, 1, ALL), f("UCP_ENA_4", 4, 1, ALL), f("UCP_ENA_5", 5, 1, ALL),
        f("PS_UCP_Y_SCALE_NEG", 13, 1, ALL), f("PS_UCP_MODE", 14, 2, ALL), f("CLIP_DISABLE", 16, 1, ALL),
        f("UCP_CULL_ONLY_ENA", 17, 1, ALL), f("BOUNDARY_EDGE_FLAG_ENA", 18, 1, ALL),
        f("DX_CLIP_SPACE_DEF", 19, 1, ALL), f("DIS_CLIP_ERR_DETECT", 20, 1, ALL),
        f("VTX_KILL_OR", 21, 1, ALL), f("DX_RASTERIZATION_KILL", 22, 1, ALL),
        f("DX_LINEAR_ATTR_CLIP_ENA", 24, 1, ALL), f("VTE_VPORT_PROVOKE_DISABLE", 25, 1, ALL),
        f("ZCLIP_NEAR_DISABLE", 26, 1, ALL), f("ZCLIP_FAR_DISABLE", 27, 1, ALL),
        f("ZCLIP_PROG_NEAR_ENA", 28, 1, FROM10),
    ]),
    // PA_CL_VTE_CNTL.
    (&[0xa206], &[
        f("VPORT_X_SCALE_ENA", 0, 1, ALL), f("VPORT_X_OFFSET_ENA", 1, 1, ALL),
        f("VPORT_Y_SCALE_ENA", 2, 1, ALL), f("VPORT_Y_OFFSET_ENA", 3, 1, ALL),
        f("VPORT_Z_SCALE_ENA", 4, 1, ALL), f("VPORT_Z_OFFSET_ENA", 5, 1, ALL), f("VTX_XY_FMT", 8, 1, ALL),
        f("VTX_Z_FMT", 9, 1, ALL), f("VTX_W0_FMT", 10, 1, ALL), f("PERFCOUNTER_REF", 11, 1, FROM10),
    ]),
    // PA_CL_VS_OUT_CNTL.
    (&[0xa207], &[
        f("CLIP_DIST_ENA", 0, 8, FROM10), f("CULL_DIST_ENA", 8, 8, FROM10), f("USE_VTX_POINT_SIZE", 16, 1, FROM10),
        f("USE_VTX_EDGE_FLAG", 17, 1, FROM10), f("USE_VTX_RENDER_TARGET_INDX", 18, 1, FROM10),
        f("USE_VTX_VIEWPORT_INDX", 19, 1, FROM10), f("USE_VTX_KILL_FLAG", 20, 1, FROM10),
        f("VS_OUT_MISC_VEC_ENA", 21, 1, FROM10), f("VS_OUT_CCDIST0_VEC_ENA", 22, 1, FROM10),
        f("VS_OUT_CCDIST1_VEC_ENA", 23, 1, FROM10), f("VS_OUT_MISC_SIDE_BUS_ENA", 24, 1, FROM10),
        f("USE_VTX_GS_CUT_FLAG", 25, 1, FROM10), f("USE_VTX_LINE_WIDTH", 27, 1, FROM10),
        f("USE_VTX_VRS_RATE", 28, 1, GFX103), f("BYPASS_VTX_RATE_COMBINER", 29, 1, GFX103),
        f("BYPASS_PRIM_RATE_COMBINER", 30, 1, GFX103),
    ]),
    // VGT_SHADER_STAGES_EN.
    (&[0xa2d5], &[
        f("LS_EN", 0, 2, FROM10), f("HS_EN", 2, 1, FROM10), f("ES_EN", 3, 2, FROM10), f("GS_EN", 5, 1, FROM10),
        f("VS_EN", 6, 2, FROM10), f("DYNAMIC_HS", 8, 1, FROM10), f("DISPATCH_DRAW_EN", 9, 1, FROM10),
        f("DIS_DEALLOC_ACCUM_0", 10, 1, FROM10), f("DIS_DEALLOC_ACCUM_1", 11, 1, FROM10),
        f("VS_WAVE_ID_EN", 12, 1, FROM10), f("PRIMGEN_EN", 13, 1, FROM10), f("ORDERED_ID_MODE", 14, 1, FROM10),
        f("MAX_PRIMGRP_IN_WAVE", 15, 4, FROM10), f("GS_FAST_LAUNCH", 19, 2, FROM10), f("HS_W32_EN", 21, 1, FROM10),
        f("GS_W32_EN", 22, 1, FROM10), f("VS_W32_EN", 23, 1, FROM10), f("NGG_WAVE_ID_EN", 24, 1, FROM10),
        f("PRIMGEN_PASSTHRU_EN", 25, 1, FROM10), f("PRIMGEN_PASSTHRU_NO_MSG", 26, 1, FROM10),
    ]),
    // VGT_GS_MODE.
    (&[0xa290], &[
        f("MODE", 0, 3, FROM10), f("CUT_MODE", 4, 2, FROM10), f("GS_C_PACK_EN", 11, 1, FROM10),
        f("ES_PASSTHRU", 13, 1, FROM10), f("COMPUTE_MODE", 14, 1, FROM10), f("FAST_COMPUTE_MODE", 15, 1, FROM10),
        f("ELEMENT_INFO_EN", 16, 1, FROM10), f("PARTIAL_THD_AT_EOI", 17, 1, FROM10),
        f("SUPPRESS_CUTS", 18, 1, FROM10), f("ES_WRITE_OPTIMIZE", 19, 1, FROM10),
        f("GS_WRITE_OPTIMIZE", 20, 1, FROM10), f("ONCHIP", 21, 2, FROM10),
    ]),
    // VGT_GS_ONCHIP_CNTL.
    (&[0xa291], &[
        f("ES_VERTS_PER_SUBGRP", 0, 11, FROM10), f("GS_PRIMS_PER_SUBGRP", 11, 11, FROM10),
        f("GS_INST_PRIMS_IN_SUBGRP", 22, 10, FROM10),
    ]),
    // VGT_GS_OUT_PRIM_TYPE.
    (&[0xa29b], &[
        f("OUTPRIM_TYPE", 0, 6, FROM10), f("OUTPRIM_TYPE_1", 8, 6, FROM10), f("OUTPRIM_TYPE_2", 16, 6, FROM10),
        f("OUTPRIM_TYPE_3", 22, 6, FROM10), f("UNIQUE_TYPE_PER_STREAM", 31, 1, FROM10),
    ]),
    // VGT_PRIMITIVEID_EN, VGT_REUSE_OFF.
    (&[0xa2a1], &[
        f("PRIMITIVEID_EN", 0, 1, FROM10), f("DISABLE_RESET_ON_EOI", 1, 1, FROM10),
        f("NGG_DISABLE_PROVOK_REUSE", 2, 1, FROM10),
    ]),
    (&[0xa2ad], &[f("REUSE_OFF", 0, 1, FROM10)]),
    // IA_MULTI_VGT_PARAM.
    (&[0xa2aa], &[
        f("PRIMGROUP_SIZE", 0, 16, FROM10), f("PARTIAL_VS_WAVE_ON", 16, 1, FROM10), f("SWITCH_ON_EOP", 17, 1, FROM10),
        f("PARTIAL_ES_WAVE_ON", 18, 1, FROM10), f("SWITCH_ON_EOI", 19, 1, FROM10),
        f("WD_SWITCH_ON_EOP", 20, 1, FROM10),
    ]),
    // VGT_GS_MAX_VERT_OUT, GE_NGG_SUBGRP_CNTL.
    (&[0xa2ce], &[f("MAX_VERT_OUT", 0, 11, FROM10)]),
    (&[0xa2d3], &[f("PRIM_AMP_FACTOR", 0, 9, FROM10), f("THDS_PER_SUBGRP", 9, 9, FROM10)]),
    // VGT_LS_HS_CONFIG.
    (&[0xa2d6], &[
        f("NUM_PATCHES", 0, 8, FROM10), f("HS_NUM_INPUT_CP", 8, 6, FROM10), f("HS_NUM_OUTPUT_CP", 14, 6, FROM10),
    ]),
    // VGT_TF_PARAM.
    (&[0xa2db], &[
        f("TYPE", 0, 2, FROM10), f("PARTITIONING", 2, 3, FROM10), f("TOPOLOGY", 5, 3, FROM10),
        f("RESERVED_REDUC_AXIS", 8, 1, FROM10), f("DEPRECATED", 9, 1, FROM10),
        f("NUM_DS_WAVES_PER_SIMD", 10, 4, FROM10), f("DISABLE_DONUTS", 14, 1, FROM10),
        f("RDREQ_POLICY", 15, 2, FROM10), f("DISTRIBUTION_MODE", 17, 2, FROM10), f("DETECT_ONE", 19, 1, FROM10),
        f("DETECT_ZERO", 20, 1, FROM10), f("MTYPE", 23, 3, FROM10),
    ]),
    // VGT_GS_INSTANCE_CNT.
    (&[0xa2e4], &[
        f("ENABLE", 0, 1, FROM10), f("CNT", 2, 7, FROM10), f("EN_MAX_VERT_OUT_PER_GS_INSTANCE", 31, 1, FROM10),
    ]),
    // VGT_STRMOUT_CONFIG, VGT_STRMOUT_BUFFER_CONFIG.
    (&[0xa2e5], &[
        f("STREAMOUT_0_EN", 0, 1, FROM10), f("STREAMOUT_1_EN", 1, 1, FROM10), f("STREAMOUT_2_EN", 2, 1, FROM10),
        f("STREAMOUT_3_EN", 3, 1, FROM10), f("RAST_STREAM", 4, 3, FROM10), f("EN_PRIMS_NEEDED_CNT", 7, 1, FROM10),
        f("RAST_STREAM_MASK", 8, 4, FROM10), f("USE_RAST_STREAM_MASK", 31, 1, FROM10),
    ]),
    (&[0xa2e6], &[
        f("STREAM_0_BUFFER_EN", 0, 4, FROM10), f("STREAM_1_BUFFER_EN", 4, 4, FROM10),
        f("STREAM_2_BUFFER_EN", 8, 4, FROM10), f("STREAM_3_BUFFER_EN", 12, 4, FROM10),
    ]),
    // PA_SU_VTX_CNTL, PA_SC_SHADER_CONTROL.
    (&[0xa2f9], &[f("PIX_CENTER", 0, 1, FROM10), f("ROUND_MODE", 1, 2, FROM10), f("QUANT_MODE", 3, 3, FROM10)]),
    (&[0xa310], &[
        f("REALIGN_DQUADS_AFTER_N_WAVES", 0, 2, FROM10), f("LOAD_COLLISION_WAVEID", 2, 1, FROM10),
        f("LOAD_INTRAWAVE_COLLISION", 3, 1, FROM10), f("WAVE_BREAK_REGION_SIZE", 5, 2, FROM10),
    ]),
];
