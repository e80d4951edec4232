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
    // Loads and stores of whole texels. `_mip` instructions have a level of detail in the address. `_pck`
    // instructions do not convert the format.
    IMAGE_LOAD "image_load" op(0x0).until(Gfx940), [texels_out(Num::Raw), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_MIP "image_load_mip" op(0x1).until(Gfx940), [texels_out(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_PCK "image_load_pck" op(0x2).until(Gfx940), [texels_out(Num::B32), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_PCK_SGN "image_load_pck_sgn" op(0x3).until(Gfx940), [texels_out(Num::B32), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_MIP_PCK "image_load_mip_pck" op(0x4).until(Gfx940), [texels_out(Num::B32), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_LOAD_MIP_PCK_SGN "image_load_mip_pck_sgn" op(0x5).until(Gfx940), [texels_out(Num::B32), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags LOAD VM;
    IMAGE_MSAA_LOAD "image_msaa_load" since(Gfx10, 0x80), [texels_out(Num::Raw), image_address(0, SAMPLES), sgpr(B256)], implicit R_EXEC, flags LOAD VM, requires RAY_TRACING;
    IMAGE_STORE "image_store" op(0x8).until(Gfx940), [texels_in(Num::Raw), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_STORE_MIP "image_store_mip" op(0x9).until(Gfx940), [texels_in(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_STORE_PCK "image_store_pck" op(0xa).until(Gfx940), [texels_in(Num::B32), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_STORE_MIP_PCK "image_store_mip_pck" op(0xb).until(Gfx940), [texels_in(Num::B32), image_address(0, PLACE_LEVEL), sgpr(B256)], implicit R_EXEC, flags STORE VM;
    IMAGE_GET_RESINFO "image_get_resinfo" op(0xe).until(Gfx940), [texels_out(Num::B32), image_address(0, LEVEL), sgpr(B256)], implicit R_EXEC, flags VM;
    // Atomic operations.
    IMAGE_ATOMIC_SWAP "image_atomic_swap" op(0xf).from(Gfx8, 0x10).from(Gfx10, 0xf).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_CMPSWAP "image_atomic_cmpswap" op(0x10).from(Gfx8, 0x11).from(Gfx10, 0x10).until(Gfx940), [texels_old(2), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_ADD "image_atomic_add" op(0x11).from(Gfx8, 0x12).from(Gfx10, 0x11).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_SUB "image_atomic_sub" op(0x12).from(Gfx8, 0x13).from(Gfx10, 0x12).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_RSUB "image_atomic_rsub" op(0x13).until(Gfx8), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_SMIN "image_atomic_smin" op(0x14).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_UMIN "image_atomic_umin" op(0x15).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_SMAX "image_atomic_smax" op(0x16).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_UMAX "image_atomic_umax" op(0x17).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_AND "image_atomic_and" op(0x18).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_OR "image_atomic_or" op(0x19).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_XOR "image_atomic_xor" op(0x1a).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_INC "image_atomic_inc" op(0x1b).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_DEC "image_atomic_dec" op(0x1c).until(Gfx940), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_FCMPSWAP "image_atomic_fcmpswap" op(0x1d).until(Gfx8).from(Gfx10, 0x1d), [texels_old(2), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_FMIN "image_atomic_fmin" op(0x1e).until(Gfx8).from(Gfx10, 0x1e), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    IMAGE_ATOMIC_FMAX "image_atomic_fmax" op(0x1f).until(Gfx8).from(Gfx10, 0x1f), [texels_old(1), image_address(0, PLACE), sgpr(B256)], implicit R_EXEC, flags ATOMIC VM;
    // Sampling instructions.
    IMAGE_SAMPLE "image_sample" op(0x20).until(Gfx940), [texels_out(Num::Raw), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CL "image_sample_cl" op(0x21).until(Gfx90a), [texels_out(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D "image_sample_d" op(0x22).until(Gfx90a), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_CL "image_sample_d_cl" op(0x23).until(Gfx90a), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_L "image_sample_l" op(0x24).until(Gfx90a), [texels_out(Num::Raw), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_B "image_sample_b" op(0x25).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_B_CL "image_sample_b_cl" op(0x26).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_LZ "image_sample_lz" op(0x27).until(Gfx90a), [texels_out(Num::Raw), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C "image_sample_c" op(0x28).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CL "image_sample_c_cl" op(0x29).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D "image_sample_c_d" op(0x2a).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_CL "image_sample_c_d_cl" op(0x2b).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_L "image_sample_c_l" op(0x2c).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_B "image_sample_c_b" op(0x2d).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_B_CL "image_sample_c_b_cl" op(0x2e).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_LZ "image_sample_c_lz" op(0x2f).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_O "image_sample_o" op(0x30).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CL_O "image_sample_cl_o" op(0x31).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_O "image_sample_d_o" op(0x32).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_CL_O "image_sample_d_cl_o" op(0x33).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_L_O "image_sample_l_o" op(0x34).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_B_O "image_sample_b_o" op(0x35).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_B_CL_O "image_sample_b_cl_o" op(0x36).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_LZ_O "image_sample_lz_o" op(0x37).until(Gfx90a), [texels_out(Num::Raw), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_O "image_sample_c_o" op(0x38).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CL_O "image_sample_c_cl_o" op(0x39).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_O "image_sample_c_d_o" op(0x3a).until(Gfx90a), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_CL_O "image_sample_c_d_cl_o" op(0x3b).until(Gfx90a), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_L_O "image_sample_c_l_o" op(0x3c).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_B_O "image_sample_c_b_o" op(0x3d).until(Gfx90a), [texels_out(Num::Raw), image_address(3, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_B_CL_O "image_sample_c_b_cl_o" op(0x3e).until(Gfx90a), [texels_out(Num::Raw), image_address(3, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_LZ_O "image_sample_c_lz_o" op(0x3f).until(Gfx90a), [texels_out(Num::Raw), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD "image_sample_cd" op(0x68).until(Gfx90a), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_O "image_sample_cd_o" op(0x6c).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_CL "image_sample_cd_cl" op(0x69).until(Gfx90a), [texels_out(Num::Raw), image_address(0, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_CL_O "image_sample_cd_cl_o" op(0x6d).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD "image_sample_c_cd" op(0x6a).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_O "image_sample_c_cd_o" op(0x6e).until(Gfx90a), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_CL "image_sample_c_cd_cl" op(0x6b).until(Gfx90a), [texels_out(Num::Raw), image_address(1, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_CL_O "image_sample_c_cd_cl_o" op(0x6f).until(Gfx90a), [texels_out(Num::Raw), image_address(2, SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    // Sampling with 16-bit derivatives.
    IMAGE_SAMPLE_D_G16 "image_sample_d_g16" since(Gfx10, 0xa2), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_O_G16 "image_sample_d_o_g16" since(Gfx10, 0xb2), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_CL_G16 "image_sample_d_cl_g16" since(Gfx10, 0xa3), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_D_CL_O_G16 "image_sample_d_cl_o_g16" since(Gfx10, 0xb3), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_G16 "image_sample_c_d_g16" since(Gfx10, 0xaa), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_O_G16 "image_sample_c_d_o_g16" since(Gfx10, 0xba), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_CL_G16 "image_sample_c_d_cl_g16" since(Gfx10, 0xab), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_D_CL_O_G16 "image_sample_c_d_cl_o_g16" since(Gfx10, 0xbb), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_G16 "image_sample_cd_g16" since(Gfx10, 0xe8), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_O_G16 "image_sample_cd_o_g16" since(Gfx10, 0xec), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_CL_G16 "image_sample_cd_cl_g16" since(Gfx10, 0xe9), [texels_out(Num::Raw), image_address(0, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_CD_CL_O_G16 "image_sample_cd_cl_o_g16" since(Gfx10, 0xed), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_G16 "image_sample_c_cd_g16" since(Gfx10, 0xea), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_O_G16 "image_sample_c_cd_o_g16" since(Gfx10, 0xee), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_CL_G16 "image_sample_c_cd_cl_g16" since(Gfx10, 0xeb), [texels_out(Num::Raw), image_address(1, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_SAMPLE_C_CD_CL_O_G16 "image_sample_c_cd_cl_o_g16" since(Gfx10, 0xef), [texels_out(Num::Raw), image_address(2, HALF_SLOPES_PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    // Gathers one component of the four texels around a position.
    IMAGE_GATHER4H "image_gather4h" since(Gfx9, 0x42).until(Gfx90a).from(Gfx10, 0x61), [gathered(), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4 "image_gather4" op(0x40).until(Gfx90a), [gathered(), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_CL "image_gather4_cl" op(0x41).until(Gfx90a), [gathered(), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_L "image_gather4_l" op(0x44).until(Gfx90a), [gathered(), image_address(0, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_B "image_gather4_b" op(0x45).until(Gfx90a), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_B_CL "image_gather4_b_cl" op(0x46).until(Gfx90a), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_LZ "image_gather4_lz" op(0x47).until(Gfx90a), [gathered(), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C "image_gather4_c" op(0x48).until(Gfx90a), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_CL "image_gather4_c_cl" op(0x49).until(Gfx90a), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_L "image_gather4_c_l" op(0x4c).until(Gfx90a), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_B "image_gather4_c_b" op(0x4d).until(Gfx90a), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_B_CL "image_gather4_c_b_cl" op(0x4e).until(Gfx90a), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_LZ "image_gather4_c_lz" op(0x4f).until(Gfx90a), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_O "image_gather4_o" op(0x50).until(Gfx90a), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_CL_O "image_gather4_cl_o" op(0x51).until(Gfx90a), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_L_O "image_gather4_l_o" op(0x54).until(Gfx90a), [gathered(), image_address(1, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_B_O "image_gather4_b_o" op(0x55).until(Gfx90a), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_B_CL_O "image_gather4_b_cl_o" op(0x56).until(Gfx90a), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_LZ_O "image_gather4_lz_o" op(0x57).until(Gfx90a), [gathered(), image_address(1, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_O "image_gather4_c_o" op(0x58).until(Gfx90a), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_CL_O "image_gather4_c_cl_o" op(0x59).until(Gfx90a), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_L_O "image_gather4_c_l_o" op(0x5c).until(Gfx90a), [gathered(), image_address(2, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_B_O "image_gather4_c_b_o" op(0x5d).until(Gfx90a), [gathered(), image_address(3, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_B_CL_O "image_gather4_c_b_cl_o" op(0x5e).until(Gfx90a), [gathered(), image_address(3, PLACE_LEVEL), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GATHER4_C_LZ_O "image_gather4_c_lz_o" op(0x5f).until(Gfx90a), [gathered(), image_address(2, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags LOAD VM;
    IMAGE_GET_LOD "image_get_lod" op(0x60).until(Gfx90a), [texels_out(Num::B32), image_address(0, PLACE), sgpr(B256), sgpr(B128)], implicit R_EXEC, flags VM;
    // Intersects a ray with a tree of boxes and triangles. The address consists of the node (one dword or
    // two), the length of the ray, its origin, its direction, and the inverse of the direction.
    IMAGE_BVH_INTERSECT_RAY "image_bvh_intersect_ray" since(Gfx10, 0xe6), [hits(), image_address(11, RAY), sgpr(B128)], implicit R_EXEC, flags LOAD VM, requires RAY_TRACING;
    IMAGE_BVH64_INTERSECT_RAY "image_bvh64_intersect_ray" since(Gfx10, 0xe7), [hits(), image_address(12, RAY), sgpr(B128)], implicit R_EXEC, flags LOAD VM, requires RAY_TRACING;
}
