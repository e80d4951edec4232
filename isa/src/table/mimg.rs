//! Image instructions.
//!
//! On GFX10, bit 7 of the opcode is separate from the other bits. The components of an address are listed in
//! the order of the registers: a number of dwords for offset, bias and reference value, followed by
//! derivatives, coordinates and level of detail.

use super::{AddressParts, Num, rows, spec::*};

const PLACE: AddressParts = AddressParts::PLACE;
const LEVEL: AddressParts = AddressParts::LEVEL;
const PLACE_LEVEL: AddressParts = PLACE.union(LEVEL);
const SLOPES_PLACE: AddressParts = AddressParts::SLOPES.union(PLACE);
const SLOPES_PLACE_LEVEL: AddressParts = SLOPES_PLACE.union(LEVEL);
const HALF_SLOPES_PLACE: AddressParts = AddressParts::HALF_SLOPES.union(PLACE);
const HALF_SLOPES_PLACE_LEVEL: AddressParts = HALF_SLOPES_PLACE.union(LEVEL);
const SAMPLES: AddressParts = AddressParts::SAMPLES.union(PLACE);
const RAY: AddressParts = AddressParts::RAY;

rows! { MIMG, Mimg;
    // Loads and stores of whole texels; `_mip` has a level of detail; `_pck` does not convert the format.
    IMAGE_LOAD "image_load" c(0x0, 0x0, 0x0, 0x0, 0x0), [texels_out(Num::Raw), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_MIP "image_load_mip" c(0x1, 0x1, 0x1, 0x1, 0x1), [texels_out(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_PCK "image_load_pck" c(0x2, 0x2, 0x2, 0x2, 0x2), [texels_out(Num::B32), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_PCK_SGN "image_load_pck_sgn" c(0x3, 0x3, 0x3, 0x3, 0x3), [texels_out(Num::B32), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_MIP_PCK "image_load_mip_pck" c(0x4, 0x4, 0x4, 0x4, 0x4), [texels_out(Num::B32), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_MIP_PCK_SGN "image_load_mip_pck_sgn" c(0x5, 0x5, 0x5, 0x5, 0x5), [texels_out(Num::B32), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_MSAA_LOAD "image_msaa_load" c(NO, NO, NO, NO, 0x80), [texels_out(Num::Raw), image_address(0, SAMPLES), sgpr(B256)], implicit R_EXEC, flags LOAD VM, requires RAY_TRACING;
    IMAGE_STORE "image_store" c(0x8, 0x8, 0x8, 0x8, 0x8), [texels_in(Num::Raw), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_STORE_MIP "image_store_mip" c(0x9, 0x9, 0x9, 0x9, 0x9), [texels_in(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_STORE_PCK "image_store_pck" c(0xa, 0xa, 0xa, 0xa, 0xa), [texels_in(Num::B32), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_STORE_MIP_PCK "image_store_mip_pck" c(0xb, 0xb, 0xb, 0xb, 0xb), [texels_in(Num::B32), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_GET_RESINFO "image_get_resinfo" c(0xe, 0xe, 0xe, 0xe, 0xe), [texels_out(Num::B32), image_address(0, LEVEL), sgpr(B256)], implicit R_EXEC, flags VM;
    // Atomic operations.
    IMAGE_ATOMIC_SWAP "image_atomic_swap" c(0xf, 0xf, 0x10, 0x10, 0xf), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_CMPSWAP "image_atomic_cmpswap" c(0x10, 0x10, 0x11, 0x11, 0x10), [texels_old(2), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_ADD "image_atomic_add" c(0x11, 0x11, 0x12, 0x12, 0x11), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_SUB "image_atomic_sub" c(0x12, 0x12, 0x13, 0x13, 0x12), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_RSUB "image_atomic_rsub" c(0x13, 0x13, NO, NO, NO), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_SMIN "image_atomic_smin" c(0x14, 0x14, 0x14, 0x14, 0x14), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_UMIN "image_atomic_umin" c(0x15, 0x15, 0x15, 0x15, 0x15), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_SMAX "image_atomic_smax" c(0x16, 0x16, 0x16, 0x16, 0x16), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_UMAX "image_atomic_umax" c(0x17, 0x17, 0x17, 0x17, 0x17), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_AND "image_atomic_and" c(0x18, 0x18, 0x18, 0x18, 0x18), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_OR "image_atomic_or" c(0x19, 0x19, 0x19, 0x19, 0x19), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_XOR "image_atomic_xor" c(0x1a, 0x1a, 0x1a, 0x1a, 0x1a), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_INC "image_atomic_inc" c(0x1b, 0x1b, 0x1b, 0x1b, 0x1b), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_DEC "image_atomic_dec" c(0x1c, 0x1c, 0x1c, 0x1c, 0x1c), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_FCMPSWAP "image_atomic_fcmpswap" c(0x1d, 0x1d, NO, NO, 0x1d), [texels_old(2), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_FMIN "image_atomic_fmin" c(0x1e, 0x1e, NO, NO, 0x1e), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_FMAX "image_atomic_fmax" c(0x1f, 0x1f, NO, NO, 0x1f), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    // Sampling instructions.
    IMAGE_SAMPLE "image_sample" c(0x20, 0x20, 0x20, 0x20, 0x20), [texels_out(Num::Raw), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CL "image_sample_cl" c(0x21, 0x21, 0x21, 0x21, 0x21), [texels_out(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_D "image_sample_d" c(0x22, 0x22, 0x22, 0x22, 0x22), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_D_CL "image_sample_d_cl" c(0x23, 0x23, 0x23, 0x23, 0x23), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_L "image_sample_l" c(0x24, 0x24, 0x24, 0x24, 0x24), [texels_out(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_B "image_sample_b" c(0x25, 0x25, 0x25, 0x25, 0x25), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_B_CL "image_sample_b_cl" c(0x26, 0x26, 0x26, 0x26, 0x26), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_LZ "image_sample_lz" c(0x27, 0x27, 0x27, 0x27, 0x27), [texels_out(Num::Raw), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C "image_sample_c" c(0x28, 0x28, 0x28, 0x28, 0x28), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_CL "image_sample_c_cl" c(0x29, 0x29, 0x29, 0x29, 0x29), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_D "image_sample_c_d" c(0x2a, 0x2a, 0x2a, 0x2a, 0x2a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_D_CL "image_sample_c_d_cl" c(0x2b, 0x2b, 0x2b, 0x2b, 0x2b), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_L "image_sample_c_l" c(0x2c, 0x2c, 0x2c, 0x2c, 0x2c), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_B "image_sample_c_b" c(0x2d, 0x2d, 0x2d, 0x2d, 0x2d), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_B_CL "image_sample_c_b_cl" c(0x2e, 0x2e, 0x2e, 0x2e, 0x2e), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_LZ "image_sample_c_lz" c(0x2f, 0x2f, 0x2f, 0x2f, 0x2f), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_O "image_sample_o" c(0x30, 0x30, 0x30, 0x30, 0x30), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_CL_O "image_sample_cl_o" c(0x31, 0x31, 0x31, 0x31, 0x31), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_D_O "image_sample_d_o" c(0x32, 0x32, 0x32, 0x32, 0x32), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_D_CL_O "image_sample_d_cl_o" c(0x33, 0x33, 0x33, 0x33, 0x33), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_L_O "image_sample_l_o" c(0x34, 0x34, 0x34, 0x34, 0x34), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_B_O "image_sample_b_o" c(0x35, 0x35, 0x35, 0x35, 0x35), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_B_CL_O "image_sample_b_cl_o" c(0x36, 0x36, 0x36, 0x36, 0x36), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_LZ_O "image_sample_lz_o" c(0x37, 0x37, 0x37, 0x37, 0x37), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_O "image_sample_c_o" c(0x38, 0x38, 0x38, 0x38, 0x38), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_CL_O "image_sample_c_cl_o" c(0x39, 0x39, 0x39, 0x39, 0x39), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_D_O "image_sample_c_d_o" c(0x3a, 0x3a, 0x3a, 0x3a, 0x3a), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_D_CL_O "image_sample_c_d_cl_o" c(0x3b, 0x3b, 0x3b, 0x3b, 0x3b), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_L_O "image_sample_c_l_o" c(0x3c, 0x3c, 0x3c, 0x3c, 0x3c), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_B_O "image_sample_c_b_o" c(0x3d, 0x3d, 0x3d, 0x3d, 0x3d), [texels_out(Num::Raw), image_address(3, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_B_CL_O "image_sample_c_b_cl_o" c(0x3e, 0x3e, 0x3e, 0x3e, 0x3e), [texels_out(Num::Raw), image_address(3, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_LZ_O "image_sample_c_lz_o" c(0x3f, 0x3f, 0x3f, 0x3f, 0x3f), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_CD "image_sample_cd" c(0x68, 0x68, 0x68, 0x68, 0x68), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_CD_O "image_sample_cd_o" c(0x6c, 0x6c, 0x6c, 0x6c, 0x6c), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_CD_CL "image_sample_cd_cl" c(0x69, 0x69, 0x69, 0x69, 0x69), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_CD_CL_O "image_sample_cd_cl_o" c(0x6d, 0x6d, 0x6d, 0x6d, 0x6d), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_CD "image_sample_c_cd" c(0x6a, 0x6a, 0x6a, 0x6a, 0x6a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_CD_O "image_sample_c_cd_o" c(0x6e, 0x6e, 0x6e, 0x6e, 0x6e), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_CD_CL "image_sample_c_cd_cl" c(0x6b, 0x6b, 0x6b, 0x6b, 0x6b), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_SAMPLE_C_CD_CL_O "image_sample_c_cd_cl_o" c(0x6f, 0x6f, 0x6f, 0x6f, 0x6f), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    // Sampling with 16-bit derivatives.
    IMAGE_SAMPLE_D_G16 "image_sample_d_g16" c(NO, NO, NO, NO, 0xa2), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_O_G16 "image_sample_d_o_g16" c(NO, NO, NO, NO, 0xb2), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_CL_G16 "image_sample_d_cl_g16" c(NO, NO, NO, NO, 0xa3), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_CL_O_G16 "image_sample_d_cl_o_g16" c(NO, NO, NO, NO, 0xb3), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_G16 "image_sample_c_d_g16" c(NO, NO, NO, NO, 0xaa), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_O_G16 "image_sample_c_d_o_g16" c(NO, NO, NO, NO, 0xba), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_CL_G16 "image_sample_c_d_cl_g16" c(NO, NO, NO, NO, 0xab), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_CL_O_G16 "image_sample_c_d_cl_o_g16" c(NO, NO, NO, NO, 0xbb), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_G16 "image_sample_cd_g16" c(NO, NO, NO, NO, 0xe8), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_O_G16 "image_sample_cd_o_g16" c(NO, NO, NO, NO, 0xec), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_CL_G16 "image_sample_cd_cl_g16" c(NO, NO, NO, NO, 0xe9), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_CL_O_G16 "image_sample_cd_cl_o_g16" c(NO, NO, NO, NO, 0xed), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_G16 "image_sample_c_cd_g16" c(NO, NO, NO, NO, 0xea), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_O_G16 "image_sample_c_cd_o_g16" c(NO, NO, NO, NO, 0xee), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_CL_G16 "image_sample_c_cd_cl_g16" c(NO, NO, NO, NO, 0xeb), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_CL_O_G16 "image_sample_c_cd_cl_o_g16" c(NO, NO, NO, NO, 0xef), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    // Gathers one component of the four texels around a position.
    IMAGE_GATHER4H "image_gather4h" c(NO, NO, NO, 0x42, 0x61), [gathered(), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4 "image_gather4" c(0x40, 0x40, 0x40, 0x40, 0x40), [gathered(), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_CL "image_gather4_cl" c(0x41, 0x41, 0x41, 0x41, 0x41), [gathered(), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_L "image_gather4_l" c(0x44, 0x44, 0x44, 0x44, 0x44), [gathered(), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_B "image_gather4_b" c(0x45, 0x45, 0x45, 0x45, 0x45), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_B_CL "image_gather4_b_cl" c(0x46, 0x46, 0x46, 0x46, 0x46), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_LZ "image_gather4_lz" c(0x47, 0x47, 0x47, 0x47, 0x47), [gathered(), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C "image_gather4_c" c(0x48, 0x48, 0x48, 0x48, 0x48), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_CL "image_gather4_c_cl" c(0x49, 0x49, 0x49, 0x49, 0x49), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_L "image_gather4_c_l" c(0x4c, 0x4c, 0x4c, 0x4c, 0x4c), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_B "image_gather4_c_b" c(0x4d, 0x4d, 0x4d, 0x4d, 0x4d), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_B_CL "image_gather4_c_b_cl" c(0x4e, 0x4e, 0x4e, 0x4e, 0x4e), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_LZ "image_gather4_c_lz" c(0x4f, 0x4f, 0x4f, 0x4f, 0x4f), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_O "image_gather4_o" c(0x50, 0x50, 0x50, 0x50, 0x50), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_CL_O "image_gather4_cl_o" c(0x51, 0x51, 0x51, 0x51, 0x51), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_L_O "image_gather4_l_o" c(0x54, 0x54, 0x54, 0x54, 0x54), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_B_O "image_gather4_b_o" c(0x55, 0x55, 0x55, 0x55, 0x55), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_B_CL_O "image_gather4_b_cl_o" c(0x56, 0x56, 0x56, 0x56, 0x56), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_LZ_O "image_gather4_lz_o" c(0x57, 0x57, 0x57, 0x57, 0x57), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_O "image_gather4_c_o" c(0x58, 0x58, 0x58, 0x58, 0x58), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_CL_O "image_gather4_c_cl_o" c(0x59, 0x59, 0x59, 0x59, 0x59), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_L_O "image_gather4_c_l_o" c(0x5c, 0x5c, 0x5c, 0x5c, 0x5c), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_B_O "image_gather4_c_b_o" c(0x5d, 0x5d, 0x5d, 0x5d, 0x5d), [gathered(), image_address(3, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_B_CL_O "image_gather4_c_b_cl_o" c(0x5e, 0x5e, 0x5e, 0x5e, 0x5e), [gathered(), image_address(3, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GATHER4_C_LZ_O "image_gather4_c_lz_o" c(0x5f, 0x5f, 0x5f, 0x5f, 0x5f), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM, lacks GFX90A;
    IMAGE_GET_LOD "image_get_lod" c(0x60, 0x60, 0x60, 0x60, 0x60), [texels_out(Num::B32), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags VM, lacks GFX90A;
    // Intersects a ray with a tree of boxes and triangles; address: node (one dword or two), length, origin,
    // direction, inverse direction.
    IMAGE_BVH_INTERSECT_RAY "image_bvh_intersect_ray" c(NO, NO, NO, NO, 0xe6), [hits(), image_address(11, RAY), sgpr(B128)], implicit R_EXEC, flags LOAD VM, requires RAY_TRACING;
    IMAGE_BVH64_INTERSECT_RAY "image_bvh64_intersect_ray" c(NO, NO, NO, NO, 0xe7), [hits(), image_address(12, RAY), sgpr(B128)], implicit R_EXEC, flags LOAD VM, requires RAY_TRACING;
}
