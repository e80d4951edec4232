//! Numbers and names of the registers of a pipeline.
//!
//! A register number is the byte address of the register divided by four: `COMPUTE_PGM_RSRC1` has the address
//! 0xb848 and the number 0x2e12.
//!
//! # Source
//! The first table has the names that LLVM prints next to the numbers (`AMDGPUPALMetadata.cpp` of LLVM 19;
//! LLVM 14 prints the same ones). The second table has further registers of shaders and dispatches from the
//! register header of AMD's PAL (`gfx9_plus_merged_offset.h`).

use std::fmt;

/// First number, count, and name. If there are several registers, the index follows the name.
type Row = (u32, u32, &'static str);

/// Registers that LLVM prints with their names.
#[rustfmt::skip]
static NAMED_BY_LLVM: [Row; 104] = [
    (0x2c06, 1, "SPI_SHADER_PGM_CHKSUM_PS"),
    (0x2c07, 1, "SPI_SHADER_PGM_RSRC3_PS"),
    (0x2c0a, 1, "SPI_SHADER_PGM_RSRC1_PS"),
    (0x2c0b, 1, "SPI_SHADER_PGM_RSRC2_PS"),
    (0x2c0c, 32, "SPI_SHADER_USER_DATA_PS_"),
    (0x2c32, 4, "SPI_SHADER_USER_ACCUM_PS_"),
    (0x2c45, 1, "SPI_SHADER_PGM_CHKSUM_VS"),
    (0x2c46, 1, "SPI_SHADER_PGM_RSRC3_VS"),
    (0x2c4a, 1, "SPI_SHADER_PGM_RSRC1_VS"),
    (0x2c4b, 1, "SPI_SHADER_PGM_RSRC2_VS"),
    (0x2c4c, 32, "SPI_SHADER_USER_DATA_VS_"),
    (0x2c72, 4, "SPI_SHADER_USER_ACCUM_VS_"),
    (0x2c80, 1, "SPI_SHADER_PGM_CHKSUM_GS"),
    (0x2c81, 1, "SPI_SHADER_PGM_RSRC4_GS"),
    (0x2c87, 1, "SPI_SHADER_PGM_RSRC3_GS"),
    (0x2c88, 1, "SPI_SHADER_PGM_LO_GS"),
    (0x2c8a, 1, "SPI_SHADER_PGM_RSRC1_GS"),
    (0x2c8b, 1, "SPI_SHADER_PGM_RSRC2_GS"),
    (0x2c8c, 32, "SPI_SHADER_USER_DATA_GS_"),
    (0x2cb2, 4, "SPI_SHADER_USER_ACCUM_ESGS_"),
    (0x2cc7, 1, "SPI_SHADER_PGM_RSRC3_ES"),
    (0x2cca, 1, "SPI_SHADER_PGM_RSRC1_ES"),
    (0x2ccb, 1, "SPI_SHADER_PGM_RSRC2_ES"),
    (0x2ccc, 32, "SPI_SHADER_USER_DATA_ES_"),
    (0x2d00, 1, "SPI_SHADER_PGM_CHKSUM_HS"),
    (0x2d07, 1, "SPI_SHADER_PGM_RSRC3_HS"),
    (0x2d0a, 1, "SPI_SHADER_PGM_RSRC1_HS"),
    (0x2d0b, 1, "SPI_SHADER_PGM_RSRC2_HS"),
    (0x2d0c, 32, "SPI_SHADER_USER_DATA_HS_"),
    (0x2d32, 4, "SPI_SHADER_USER_ACCUM_LSHS_"),
    (0x2d47, 1, "SPI_SHADER_PGM_RSRC3_LS"),
    (0x2d4a, 1, "SPI_SHADER_PGM_RSRC1_LS"),
    (0x2d4b, 1, "SPI_SHADER_PGM_RSRC2_LS"),
    (0x2d4c, 16, "SPI_SHADER_USER_DATA_LS_"),
    (0x2e00, 1, "COMPUTE_DISPATCH_INITIATOR"),
    (0x2e07, 1, "COMPUTE_NUM_THREAD_X"),
    (0x2e08, 1, "COMPUTE_NUM_THREAD_Y"),
    (0x2e09, 1, "COMPUTE_NUM_THREAD_Z"),
    (0x2e12, 1, "COMPUTE_PGM_RSRC1"),
    (0x2e13, 1, "COMPUTE_PGM_RSRC2"),
    (0x2e18, 1, "COMPUTE_TMPRING_SIZE"),
    (0x2e24, 4, "COMPUTE_USER_ACCUM_"),
    (0x2e28, 1, "COMPUTE_PGM_RSRC3"),
    (0x2e2a, 1, "COMPUTE_SHADER_CHKSUM"),
    (0x2e40, 16, "COMPUTE_USER_DATA_"),
    (0xa08f, 1, "CB_SHADER_MASK"),
    (0xa191, 32, "SPI_PS_INPUT_CNTL_"),
    (0xa1b1, 1, "SPI_VS_OUT_CONFIG"),
    (0xa1b3, 1, "SPI_PS_INPUT_ENA"),
    (0xa1b4, 1, "SPI_PS_INPUT_ADDR"),
    (0xa1b5, 1, "SPI_INTERP_CONTROL_0"),
    (0xa1b6, 1, "SPI_PS_IN_CONTROL"),
    (0xa1b8, 1, "SPI_BARYC_CNTL"),
    (0xa1ba, 1, "SPI_TMPRING_SIZE"),
    (0xa1c2, 1, "SPI_SHADER_IDX_FORMAT"),
    (0xa1c3, 1, "SPI_SHADER_POS_FORMAT"),
    (0xa1c4, 1, "SPI_SHADER_Z_FORMAT"),
    (0xa1c5, 1, "SPI_SHADER_COL_FORMAT"),
    (0xa1ff, 1, "GE_MAX_OUTPUT_PER_SUBGROUP"),
    (0xa203, 1, "DB_SHADER_CONTROL"),
    (0xa204, 1, "PA_CL_CLIP_CNTL"),
    (0xa206, 1, "PA_CL_VTE_CNTL"),
    (0xa207, 1, "PA_CL_VS_OUT_CNTL"),
    (0xa210, 1, "PA_STEREO_CNTL"),
    (0xa286, 1, "VGT_HOS_MAX_TESS_LEVEL"),
    (0xa287, 1, "VGT_HOS_MIN_TESS_LEVEL"),
    (0xa290, 1, "VGT_GS_MODE"),
    (0xa291, 1, "VGT_GS_ONCHIP_CNTL"),
    (0xa293, 1, "PA_SC_MODE_CNTL_1"),
    (0xa297, 1, "VGT_GS_PER_VS"),
    (0xa298, 1, "VGT_GSVS_RING_OFFSET_1"),
    (0xa299, 1, "VGT_GSVS_RING_OFFSET_2"),
    (0xa29a, 1, "VGT_GSVS_RING_OFFSET_3"),
    (0xa29b, 1, "VGT_GS_OUT_PRIM_TYPE"),
    (0xa2a1, 1, "VGT_PRIMITIVEID_EN"),
    (0xa2a5, 1, "VGT_GS_MAX_PRIMS_PER_SUBGROUP"),
    (0xa2aa, 1, "IA_MULTI_VGT_PARAM"),
    (0xa2ab, 1, "VGT_ESGS_RING_ITEMSIZE"),
    (0xa2ac, 1, "VGT_GSVS_RING_ITEMSIZE"),
    (0xa2ad, 1, "VGT_REUSE_OFF"),
    (0xa2b5, 1, "VGT_STRMOUT_VTX_STRIDE_0"),
    (0xa2b9, 1, "VGT_STRMOUT_VTX_STRIDE_1"),
    (0xa2bd, 1, "VGT_STRMOUT_VTX_STRIDE_2"),
    (0xa2c1, 1, "VGT_STRMOUT_VTX_STRIDE_3"),
    (0xa2ce, 1, "VGT_GS_MAX_VERT_OUT"),
    (0xa2d3, 1, "GE_NGG_SUBGRP_CNTL"),
    (0xa2d5, 1, "VGT_SHADER_STAGES_EN"),
    (0xa2d6, 1, "VGT_LS_HS_CONFIG"),
    (0xa2d7, 1, "VGT_GS_VERT_ITEMSIZE"),
    (0xa2d8, 1, "VGT_GS_VERT_ITEMSIZE_1"),
    (0xa2d9, 1, "VGT_GS_VERT_ITEMSIZE_2"),
    (0xa2da, 1, "VGT_GS_VERT_ITEMSIZE_3"),
    (0xa2db, 1, "VGT_TF_PARAM"),
    (0xa2e4, 1, "VGT_GS_INSTANCE_CNT"),
    (0xa2e5, 1, "VGT_STRMOUT_CONFIG"),
    (0xa2e6, 1, "VGT_STRMOUT_BUFFER_CONFIG"),
    (0xa2f8, 1, "PA_SC_AA_CONFIG"),
    (0xa2f9, 1, "PA_SU_VTX_CNTL"),
    (0xa310, 1, "PA_SC_SHADER_CONTROL"),
    (0xa313, 1, "PA_SC_CONSERVATIVE_RASTERIZATION_CNTL"),
    (0xa316, 1, "VGT_VERTEX_REUSE_BLOCK_CNTL"),
    (0xc258, 1, "IA_MULTI_VGT_PARAM_PIPED"),
    (0xc25f, 1, "GE_STEREO_CNTL"),
    (0xc262, 1, "GE_USER_VGPR_EN"),
];

/// Registers that LLVM prints as numbers.
#[rustfmt::skip]
static OTHERS: [Row; 64] = [
    (0x2c01, 1, "SPI_SHADER_PGM_RSRC4_PS"),
    (0x2c08, 1, "SPI_SHADER_PGM_LO_PS"),
    (0x2c09, 1, "SPI_SHADER_PGM_HI_PS"),
    (0x2c30, 1, "SPI_SHADER_REQ_CTRL_PS"),
    (0x2c41, 1, "SPI_SHADER_PGM_RSRC4_VS"),
    (0x2c47, 1, "SPI_SHADER_LATE_ALLOC_VS"),
    (0x2c48, 1, "SPI_SHADER_PGM_LO_VS"),
    (0x2c49, 1, "SPI_SHADER_PGM_HI_VS"),
    (0x2c70, 1, "SPI_SHADER_REQ_CTRL_VS"),
    (0x2c7b, 1, "SPI_SHADER_PGM_RSRC2_GS_VS"),
    (0x2c82, 1, "SPI_SHADER_USER_DATA_ADDR_LO_GS"),
    (0x2c83, 1, "SPI_SHADER_USER_DATA_ADDR_HI_GS"),
    (0x2c84, 1, "SPI_SHADER_PGM_LO_ES_GS"),
    (0x2c85, 1, "SPI_SHADER_PGM_HI_ES_GS"),
    (0x2c89, 1, "SPI_SHADER_PGM_HI_GS"),
    (0x2cb0, 1, "SPI_SHADER_REQ_CTRL_ESGS"),
    (0x2cc8, 1, "SPI_SHADER_PGM_LO_ES"),
    (0x2cc9, 1, "SPI_SHADER_PGM_HI_ES"),
    (0x2d01, 1, "SPI_SHADER_PGM_RSRC4_HS"),
    (0x2d02, 1, "SPI_SHADER_USER_DATA_ADDR_LO_HS"),
    (0x2d03, 1, "SPI_SHADER_USER_DATA_ADDR_HI_HS"),
    (0x2d04, 1, "SPI_SHADER_PGM_LO_LS_HS"),
    (0x2d05, 1, "SPI_SHADER_PGM_HI_LS_HS"),
    (0x2d08, 1, "SPI_SHADER_PGM_LO_HS"),
    (0x2d09, 1, "SPI_SHADER_PGM_HI_HS"),
    (0x2d30, 1, "SPI_SHADER_REQ_CTRL_LSHS"),
    (0x2d48, 1, "SPI_SHADER_PGM_LO_LS"),
    (0x2d49, 1, "SPI_SHADER_PGM_HI_LS"),
    (0x2e01, 1, "COMPUTE_DIM_X"),
    (0x2e02, 1, "COMPUTE_DIM_Y"),
    (0x2e03, 1, "COMPUTE_DIM_Z"),
    (0x2e04, 1, "COMPUTE_START_X"),
    (0x2e05, 1, "COMPUTE_START_Y"),
    (0x2e06, 1, "COMPUTE_START_Z"),
    (0x2e0a, 1, "COMPUTE_PIPELINESTAT_ENABLE"),
    (0x2e0b, 1, "COMPUTE_PERFCOUNT_ENABLE"),
    (0x2e0c, 1, "COMPUTE_PGM_LO"),
    (0x2e0d, 1, "COMPUTE_PGM_HI"),
    (0x2e0e, 1, "COMPUTE_DISPATCH_PKT_ADDR_LO"),
    (0x2e0f, 1, "COMPUTE_DISPATCH_PKT_ADDR_HI"),
    (0x2e10, 1, "COMPUTE_DISPATCH_SCRATCH_BASE_LO"),
    (0x2e11, 1, "COMPUTE_DISPATCH_SCRATCH_BASE_HI"),
    (0x2e14, 1, "COMPUTE_VMID"),
    (0x2e15, 1, "COMPUTE_RESOURCE_LIMITS"),
    (0x2e16, 1, "COMPUTE_STATIC_THREAD_MGMT_SE0"),
    (0x2e17, 1, "COMPUTE_STATIC_THREAD_MGMT_SE1"),
    (0x2e19, 1, "COMPUTE_STATIC_THREAD_MGMT_SE2"),
    (0x2e1a, 1, "COMPUTE_STATIC_THREAD_MGMT_SE3"),
    (0x2e1b, 1, "COMPUTE_RESTART_X"),
    (0x2e1c, 1, "COMPUTE_RESTART_Y"),
    (0x2e1d, 1, "COMPUTE_RESTART_Z"),
    (0x2e1e, 1, "COMPUTE_THREAD_TRACE_ENABLE"),
    (0x2e1f, 1, "COMPUTE_MISC_RESERVED"),
    (0x2e20, 1, "COMPUTE_DISPATCH_ID"),
    (0x2e21, 1, "COMPUTE_THREADGROUP_ID"),
    (0x2e22, 1, "COMPUTE_REQ_CTRL"),
    (0x2e29, 1, "COMPUTE_DDID_INDEX"),
    (0x2e2b, 1, "COMPUTE_RELAUNCH"),
    (0x2e2c, 1, "COMPUTE_WAVE_RESTORE_ADDR_LO"),
    (0x2e2d, 1, "COMPUTE_WAVE_RESTORE_ADDR_HI"),
    (0x2e2e, 1, "COMPUTE_RELAUNCH2"),
    (0x2e7d, 1, "COMPUTE_DISPATCH_TUNNEL"),
    (0x2e7e, 1, "COMPUTE_DISPATCH_END"),
    (0x2e7f, 1, "COMPUTE_NOWHERE"),
];

/// Name of a register, such as `COMPUTE_USER_DATA_3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    base: &'static str,
    index: Option<u32>,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}{index}", self.base),
            None => f.write_str(self.base),
        }
    }
}

fn find(rows: &[Row], number: u32) -> Option<Name> {
    let before = rows.partition_point(|&(first, ..)| first <= number);
    let &(first, count, base) = rows.get(before.checked_sub(1)?)?;
    let index = number - first;
    (index < count).then_some(Name { base, index: (count > 1).then_some(index) })
}

/// Returns the name that LLVM prints next to a register number.
pub fn llvm_name(number: u32) -> Option<Name> {
    find(&NAMED_BY_LLVM, number)
}

/// Returns the name of a register.
pub fn name(number: u32) -> Option<Name> {
    llvm_name(number).or_else(|| find(&OTHERS, number))
}

/// Returns the number of the register with a name.
pub fn number(name: &str) -> Option<u32> {
    NAMED_BY_LLVM.iter().chain(&OTHERS).find_map(|&(first, count, base)| {
        if count == 1 {
            return (base == name).then_some(first);
        }
        let digits = name.strip_prefix(base)?;
        let index = digits.parse().ok().filter(|&index: &u32| index < count)?;
        (index.to_string() == digits).then_some(first + index)
    })
}

/// Returns the number and name of every register, in the order of the numbers.
pub fn all() -> impl Iterator<Item = (u32, Name)> {
    let mut rows: Vec<Row> = NAMED_BY_LLVM.iter().chain(&OTHERS).copied().collect();
    rows.sort_unstable_by_key(|row| row.0);
    rows.into_iter().flat_map(|(first, count, base)| {
        (0..count).map(move |n| (first + n, Name { base, index: (count > 1).then_some(n) }))
    })
}
