//! Flat, global and scratch instructions.

/// FLAT instructions, where the address determines the segment.
pub mod any {
    use crate::table::{rows, spec::*};
    rows! { FLAT, Flat;
        FLAT_LOAD_UBYTE "flat_load_ubyte" c(  NO, 0x08, 0x10, 0x10, 0x08), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE "flat_load_sbyte" c(  NO, 0x09, 0x11, 0x11, 0x09), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_USHORT "flat_load_ushort" c(  NO, 0x0a, 0x12, 0x12, 0x0a), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SSHORT "flat_load_sshort" c(  NO, 0x0b, 0x13, 0x13, 0x0b), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORD "flat_load_dword" c(  NO, 0x0c, 0x14, 0x14, 0x0c), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX2 "flat_load_dwordx2" c(  NO, 0x0d, 0x15, 0x15, 0x0d), [vdst(B64), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX3 "flat_load_dwordx3" c(  NO, 0x0f, 0x16, 0x16, 0x0f), [vdst(B96), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX4 "flat_load_dwordx4" c(  NO, 0x0e, 0x17, 0x17, 0x0e), [vdst(B128), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_STORE_BYTE "flat_store_byte" c(  NO, 0x18, 0x18, 0x18, 0x18), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_BYTE_D16_HI "flat_store_byte_d16_hi" c(  NO,   NO,   NO, 0x19, 0x19), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT "flat_store_short" c(  NO, 0x1a, 0x1a, 0x1a, 0x1a), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT_D16_HI "flat_store_short_d16_hi" c(  NO,   NO,   NO, 0x1b, 0x1b), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORD "flat_store_dword" c(  NO, 0x1c, 0x1c, 0x1c, 0x1c), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX2 "flat_store_dwordx2" c(  NO, 0x1d, 0x1d, 0x1d, 0x1d), [vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX3 "flat_store_dwordx3" c(  NO, 0x1f, 0x1e, 0x1e, 0x1f), [vaddr(), vgpr(B96)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX4 "flat_store_dwordx4" c(  NO, 0x1e, 0x1f, 0x1f, 0x1e), [vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_LOAD_UBYTE_D16 "flat_load_ubyte_d16" c(  NO,   NO,   NO, 0x20, 0x20), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_UBYTE_D16_HI "flat_load_ubyte_d16_hi" c(  NO,   NO,   NO, 0x21, 0x21), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16 "flat_load_sbyte_d16" c(  NO,   NO,   NO, 0x22, 0x22), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16_HI "flat_load_sbyte_d16_hi" c(  NO,   NO,   NO, 0x23, 0x23), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16 "flat_load_short_d16" c(  NO,   NO,   NO, 0x24, 0x24), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16_HI "flat_load_short_d16_hi" c(  NO,   NO,   NO, 0x25, 0x25), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_ATOMIC_SWAP "flat_atomic_swap" c(  NO, 0x30, 0x40, 0x40, 0x30), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP "flat_atomic_cmpswap" c(  NO, 0x31, 0x41, 0x41, 0x31), [vdst(B32), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD "flat_atomic_add" c(  NO, 0x32, 0x42, 0x42, 0x32), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB "flat_atomic_sub" c(  NO, 0x33, 0x43, 0x43, 0x33), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN "flat_atomic_smin" c(  NO, 0x35, 0x44, 0x44, 0x35), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN "flat_atomic_umin" c(  NO, 0x36, 0x45, 0x45, 0x36), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX "flat_atomic_smax" c(  NO, 0x37, 0x46, 0x46, 0x37), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX "flat_atomic_umax" c(  NO, 0x38, 0x47, 0x47, 0x38), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND "flat_atomic_and" c(  NO, 0x39, 0x48, 0x48, 0x39), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR "flat_atomic_or" c(  NO, 0x3a, 0x49, 0x49, 0x3a), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR "flat_atomic_xor" c(  NO, 0x3b, 0x4a, 0x4a, 0x3b), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC "flat_atomic_inc" c(  NO, 0x3c, 0x4b, 0x4b, 0x3c), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC "flat_atomic_dec" c(  NO, 0x3d, 0x4c, 0x4c, 0x3d), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SWAP_X2 "flat_atomic_swap_x2" c(  NO, 0x50, 0x60, 0x60, 0x50), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP_X2 "flat_atomic_cmpswap_x2" c(  NO, 0x51, 0x61, 0x61, 0x51), [vdst(B64), vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD_X2 "flat_atomic_add_x2" c(  NO, 0x52, 0x62, 0x62, 0x52), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB_X2 "flat_atomic_sub_x2" c(  NO, 0x53, 0x63, 0x63, 0x53), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN_X2 "flat_atomic_smin_x2" c(  NO, 0x55, 0x64, 0x64, 0x55), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN_X2 "flat_atomic_umin_x2" c(  NO, 0x56, 0x65, 0x65, 0x56), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX_X2 "flat_atomic_smax_x2" c(  NO, 0x57, 0x66, 0x66, 0x57), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX_X2 "flat_atomic_umax_x2" c(  NO, 0x58, 0x67, 0x67, 0x58), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND_X2 "flat_atomic_and_x2" c(  NO, 0x59, 0x68, 0x68, 0x59), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR_X2 "flat_atomic_or_x2" c(  NO, 0x5a, 0x69, 0x69, 0x5a), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR_X2 "flat_atomic_xor_x2" c(  NO, 0x5b, 0x6a, 0x6a, 0x5b), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC_X2 "flat_atomic_inc_x2" c(  NO, 0x5c, 0x6b, 0x6b, 0x5c), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC_X2 "flat_atomic_dec_x2" c(  NO, 0x5d, 0x6c, 0x6c, 0x5d), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FCMPSWAP "flat_atomic_fcmpswap" c(  NO, 0x3e,   NO,   NO, 0x3e), [vdst(B32), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMIN "flat_atomic_fmin" c(  NO, 0x3f,   NO,   NO, 0x3f), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMAX "flat_atomic_fmax" c(  NO, 0x40,   NO,   NO, 0x40), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FCMPSWAP_X2 "flat_atomic_fcmpswap_x2" c(  NO, 0x5e,   NO,   NO, 0x5e), [vdst(B64), vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMIN_X2 "flat_atomic_fmin_x2" c(  NO, 0x5f,   NO,   NO, 0x5f), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMAX_X2 "flat_atomic_fmax_x2" c(  NO, 0x60,   NO,   NO, 0x60), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD_F64 "flat_atomic_add_f64" c(  NO,   NO,   NO, 0x4f,   NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM, requires GFX90A;
        FLAT_ATOMIC_MIN_F64 "flat_atomic_min_f64" c(  NO,   NO,   NO, 0x50,   NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM, requires GFX90A;
        FLAT_ATOMIC_MAX_F64 "flat_atomic_max_f64" c(  NO,   NO,   NO, 0x51,   NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM, requires GFX90A;
    }
}

/// GLOBAL instructions: global memory.
pub mod global {
    use crate::table::{rows, spec::*};
    rows! { GLOBAL, Global;
        GLOBAL_LOAD_UBYTE "global_load_ubyte" c(  NO,   NO,   NO, 0x10, 0x08), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_SBYTE "global_load_sbyte" c(  NO,   NO,   NO, 0x11, 0x09), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_USHORT "global_load_ushort" c(  NO,   NO,   NO, 0x12, 0x0a), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_SSHORT "global_load_sshort" c(  NO,   NO,   NO, 0x13, 0x0b), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_DWORD "global_load_dword" c(  NO,   NO,   NO, 0x14, 0x0c), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_DWORDX2 "global_load_dwordx2" c(  NO,   NO,   NO, 0x15, 0x0d), [vdst(B64), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX3 "global_load_dwordx3" c(  NO,   NO,   NO, 0x16, 0x0f), [vdst(B96), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX4 "global_load_dwordx4" c(  NO,   NO,   NO, 0x17, 0x0e), [vdst(B128), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_STORE_BYTE "global_store_byte" c(  NO,   NO,   NO, 0x18, 0x18), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_BYTE_D16_HI "global_store_byte_d16_hi" c(  NO,   NO,   NO, 0x19, 0x19), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT "global_store_short" c(  NO,   NO,   NO, 0x1a, 0x1a), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT_D16_HI "global_store_short_d16_hi" c(  NO,   NO,   NO, 0x1b, 0x1b), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORD "global_store_dword" c(  NO,   NO,   NO, 0x1c, 0x1c), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX2 "global_store_dwordx2" c(  NO,   NO,   NO, 0x1d, 0x1d), [vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX3 "global_store_dwordx3" c(  NO,   NO,   NO, 0x1e, 0x1f), [vaddr(), vgpr(B96), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX4 "global_store_dwordx4" c(  NO,   NO,   NO, 0x1f, 0x1e), [vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_LOAD_UBYTE_D16 "global_load_ubyte_d16" c(  NO,   NO,   NO, 0x20, 0x20), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_UBYTE_D16_HI "global_load_ubyte_d16_hi" c(  NO,   NO,   NO, 0x21, 0x21), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16 "global_load_sbyte_d16" c(  NO,   NO,   NO, 0x22, 0x22), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16_HI "global_load_sbyte_d16_hi" c(  NO,   NO,   NO, 0x23, 0x23), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16 "global_load_short_d16" c(  NO,   NO,   NO, 0x24, 0x24), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16_HI "global_load_short_d16_hi" c(  NO,   NO,   NO, 0x25, 0x25), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_ATOMIC_SWAP "global_atomic_swap" c(  NO,   NO,   NO, 0x40, 0x30), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP "global_atomic_cmpswap" c(  NO,   NO,   NO, 0x41, 0x31), [vdst(B32), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD "global_atomic_add" c(  NO,   NO,   NO, 0x42, 0x32), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB "global_atomic_sub" c(  NO,   NO,   NO, 0x43, 0x33), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN "global_atomic_smin" c(  NO,   NO,   NO, 0x44, 0x35), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN "global_atomic_umin" c(  NO,   NO,   NO, 0x45, 0x36), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX "global_atomic_smax" c(  NO,   NO,   NO, 0x46, 0x37), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX "global_atomic_umax" c(  NO,   NO,   NO, 0x47, 0x38), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND "global_atomic_and" c(  NO,   NO,   NO, 0x48, 0x39), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR "global_atomic_or" c(  NO,   NO,   NO, 0x49, 0x3a), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR "global_atomic_xor" c(  NO,   NO,   NO, 0x4a, 0x3b), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC "global_atomic_inc" c(  NO,   NO,   NO, 0x4b, 0x3c), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC "global_atomic_dec" c(  NO,   NO,   NO, 0x4c, 0x3d), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SWAP_X2 "global_atomic_swap_x2" c(  NO,   NO,   NO, 0x60, 0x50), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP_X2 "global_atomic_cmpswap_x2" c(  NO,   NO,   NO, 0x61, 0x51), [vdst(B64), vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD_X2 "global_atomic_add_x2" c(  NO,   NO,   NO, 0x62, 0x52), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB_X2 "global_atomic_sub_x2" c(  NO,   NO,   NO, 0x63, 0x53), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN_X2 "global_atomic_smin_x2" c(  NO,   NO,   NO, 0x64, 0x55), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN_X2 "global_atomic_umin_x2" c(  NO,   NO,   NO, 0x65, 0x56), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX_X2 "global_atomic_smax_x2" c(  NO,   NO,   NO, 0x66, 0x57), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX_X2 "global_atomic_umax_x2" c(  NO,   NO,   NO, 0x67, 0x58), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND_X2 "global_atomic_and_x2" c(  NO,   NO,   NO, 0x68, 0x59), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR_X2 "global_atomic_or_x2" c(  NO,   NO,   NO, 0x69, 0x5a), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR_X2 "global_atomic_xor_x2" c(  NO,   NO,   NO, 0x6a, 0x5b), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC_X2 "global_atomic_inc_x2" c(  NO,   NO,   NO, 0x6b, 0x5c), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC_X2 "global_atomic_dec_x2" c(  NO,   NO,   NO, 0x6c, 0x5d), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FCMPSWAP "global_atomic_fcmpswap" c(  NO,   NO,   NO,   NO, 0x3e), [vdst(B32), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMIN "global_atomic_fmin" c(  NO,   NO,   NO,   NO, 0x3f), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMAX "global_atomic_fmax" c(  NO,   NO,   NO,   NO, 0x40), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FCMPSWAP_X2 "global_atomic_fcmpswap_x2" c(  NO,   NO,   NO,   NO, 0x5e), [vdst(B64), vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMIN_X2 "global_atomic_fmin_x2" c(  NO,   NO,   NO,   NO, 0x5f), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMAX_X2 "global_atomic_fmax_x2" c(  NO,   NO,   NO,   NO, 0x60), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD_F64 "global_atomic_add_f64" c(  NO,   NO,   NO, 0x4f,   NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM, requires GFX90A;
        GLOBAL_ATOMIC_MIN_F64 "global_atomic_min_f64" c(  NO,   NO,   NO, 0x50,   NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM, requires GFX90A;
        GLOBAL_ATOMIC_MAX_F64 "global_atomic_max_f64" c(  NO,   NO,   NO, 0x51,   NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM, requires GFX90A;
        GLOBAL_ATOMIC_ADD_F32 "global_atomic_add_f32" c(  NO,   NO,   NO, 0x4d,   NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM, requires ATOMIC_FADD;
        GLOBAL_ATOMIC_PK_ADD_F16 "global_atomic_pk_add_f16" c(  NO,   NO,   NO, 0x4e,   NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM, requires ATOMIC_FADD;
        GLOBAL_ATOMIC_CSUB "global_atomic_csub" c(  NO,   NO,   NO,   NO, 0x34), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM, requires GFX10_3;
        GLOBAL_LOAD_DWORD_ADDTID "global_load_dword_addtid" c(  NO,   NO,   NO,   NO, 0x16), [vdst(B32), saddr(B64)], implicit R_EXEC, flags LOAD VM NO_ADDR, requires GFX10_3;
        GLOBAL_STORE_DWORD_ADDTID "global_store_dword_addtid" c(  NO,   NO,   NO,   NO, 0x17), [vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM NO_ADDR, requires GFX10_3;
    }
}

/// SCRATCH instructions: private memory.
pub mod scratch {
    use crate::table::{rows, spec::*};
    rows! { SCRATCH, Scratch;
        SCRATCH_LOAD_UBYTE "scratch_load_ubyte" c(  NO,   NO,   NO, 0x10, 0x08), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_SBYTE "scratch_load_sbyte" c(  NO,   NO,   NO, 0x11, 0x09), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_USHORT "scratch_load_ushort" c(  NO,   NO,   NO, 0x12, 0x0a), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_SSHORT "scratch_load_sshort" c(  NO,   NO,   NO, 0x13, 0x0b), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_DWORD "scratch_load_dword" c(  NO,   NO,   NO, 0x14, 0x0c), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_DWORDX2 "scratch_load_dwordx2" c(  NO,   NO,   NO, 0x15, 0x0d), [vdst(B64), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX3 "scratch_load_dwordx3" c(  NO,   NO,   NO, 0x16, 0x0f), [vdst(B96), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX4 "scratch_load_dwordx4" c(  NO,   NO,   NO, 0x17, 0x0e), [vdst(B128), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_STORE_BYTE "scratch_store_byte" c(  NO,   NO,   NO, 0x18, 0x18), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_BYTE_D16_HI "scratch_store_byte_d16_hi" c(  NO,   NO,   NO, 0x19, 0x19), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT "scratch_store_short" c(  NO,   NO,   NO, 0x1a, 0x1a), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT_D16_HI "scratch_store_short_d16_hi" c(  NO,   NO,   NO, 0x1b, 0x1b), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORD "scratch_store_dword" c(  NO,   NO,   NO, 0x1c, 0x1c), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX2 "scratch_store_dwordx2" c(  NO,   NO,   NO, 0x1d, 0x1d), [vaddr(), vgpr(B64), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX3 "scratch_store_dwordx3" c(  NO,   NO,   NO, 0x1e, 0x1f), [vaddr(), vgpr(B96), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX4 "scratch_store_dwordx4" c(  NO,   NO,   NO, 0x1f, 0x1e), [vaddr(), vgpr(B128), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_LOAD_UBYTE_D16 "scratch_load_ubyte_d16" c(  NO,   NO,   NO, 0x20, 0x20), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_UBYTE_D16_HI "scratch_load_ubyte_d16_hi" c(  NO,   NO,   NO, 0x21, 0x21), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16 "scratch_load_sbyte_d16" c(  NO,   NO,   NO, 0x22, 0x22), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16_HI "scratch_load_sbyte_d16_hi" c(  NO,   NO,   NO, 0x23, 0x23), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16 "scratch_load_short_d16" c(  NO,   NO,   NO, 0x24, 0x24), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16_HI "scratch_load_short_d16_hi" c(  NO,   NO,   NO, 0x25, 0x25), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
    }
}

pub(crate) use any::FLAT;
pub(crate) use global::GLOBAL;
pub(crate) use scratch::SCRATCH;
