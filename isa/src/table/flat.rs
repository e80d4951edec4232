//! Flat, global and scratch instructions.

/// Any segment, told by the address.
pub mod any {
    use crate::table::{rows, spec::*};
    rows! { FLAT, Flat;
        FLAT_LOAD_UBYTE "flat_load_ubyte" c(NO, NO, NO, 0x10, NO), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE "flat_load_sbyte" c(NO, NO, NO, 0x11, NO), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_USHORT "flat_load_ushort" c(NO, NO, NO, 0x12, NO), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SSHORT "flat_load_sshort" c(NO, NO, NO, 0x13, NO), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORD "flat_load_dword" c(NO, NO, NO, 0x14, NO), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX2 "flat_load_dwordx2" c(NO, NO, NO, 0x15, NO), [vdst(B64), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX3 "flat_load_dwordx3" c(NO, NO, NO, 0x16, NO), [vdst(B96), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX4 "flat_load_dwordx4" c(NO, NO, NO, 0x17, NO), [vdst(B128), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_STORE_BYTE "flat_store_byte" c(NO, NO, NO, 0x18, NO), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_BYTE_D16_HI "flat_store_byte_d16_hi" c(NO, NO, NO, 0x19, NO), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT "flat_store_short" c(NO, NO, NO, 0x1a, NO), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT_D16_HI "flat_store_short_d16_hi" c(NO, NO, NO, 0x1b, NO), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORD "flat_store_dword" c(NO, NO, NO, 0x1c, NO), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX2 "flat_store_dwordx2" c(NO, NO, NO, 0x1d, NO), [vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX3 "flat_store_dwordx3" c(NO, NO, NO, 0x1e, NO), [vaddr(), vgpr(B96)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX4 "flat_store_dwordx4" c(NO, NO, NO, 0x1f, NO), [vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_LOAD_UBYTE_D16 "flat_load_ubyte_d16" c(NO, NO, NO, 0x20, NO), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_UBYTE_D16_HI "flat_load_ubyte_d16_hi" c(NO, NO, NO, 0x21, NO), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16 "flat_load_sbyte_d16" c(NO, NO, NO, 0x22, NO), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16_HI "flat_load_sbyte_d16_hi" c(NO, NO, NO, 0x23, NO), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16 "flat_load_short_d16" c(NO, NO, NO, 0x24, NO), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16_HI "flat_load_short_d16_hi" c(NO, NO, NO, 0x25, NO), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_ATOMIC_SWAP "flat_atomic_swap" c(NO, NO, NO, 0x40, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP "flat_atomic_cmpswap" c(NO, NO, NO, 0x41, NO), [vdst(B32), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD "flat_atomic_add" c(NO, NO, NO, 0x42, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB "flat_atomic_sub" c(NO, NO, NO, 0x43, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN "flat_atomic_smin" c(NO, NO, NO, 0x44, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN "flat_atomic_umin" c(NO, NO, NO, 0x45, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX "flat_atomic_smax" c(NO, NO, NO, 0x46, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX "flat_atomic_umax" c(NO, NO, NO, 0x47, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND "flat_atomic_and" c(NO, NO, NO, 0x48, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR "flat_atomic_or" c(NO, NO, NO, 0x49, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR "flat_atomic_xor" c(NO, NO, NO, 0x4a, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC "flat_atomic_inc" c(NO, NO, NO, 0x4b, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC "flat_atomic_dec" c(NO, NO, NO, 0x4c, NO), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SWAP_X2 "flat_atomic_swap_x2" c(NO, NO, NO, 0x60, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP_X2 "flat_atomic_cmpswap_x2" c(NO, NO, NO, 0x61, NO), [vdst(B64), vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD_X2 "flat_atomic_add_x2" c(NO, NO, NO, 0x62, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB_X2 "flat_atomic_sub_x2" c(NO, NO, NO, 0x63, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN_X2 "flat_atomic_smin_x2" c(NO, NO, NO, 0x64, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN_X2 "flat_atomic_umin_x2" c(NO, NO, NO, 0x65, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX_X2 "flat_atomic_smax_x2" c(NO, NO, NO, 0x66, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX_X2 "flat_atomic_umax_x2" c(NO, NO, NO, 0x67, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND_X2 "flat_atomic_and_x2" c(NO, NO, NO, 0x68, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR_X2 "flat_atomic_or_x2" c(NO, NO, NO, 0x69, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR_X2 "flat_atomic_xor_x2" c(NO, NO, NO, 0x6a, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC_X2 "flat_atomic_inc_x2" c(NO, NO, NO, 0x6b, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC_X2 "flat_atomic_dec_x2" c(NO, NO, NO, 0x6c, NO), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
    }
}

/// Global memory.
pub mod global {
    use crate::table::{rows, spec::*};
    rows! { GLOBAL, Global;
        GLOBAL_LOAD_UBYTE "global_load_ubyte" c(NO, NO, NO, 0x10, NO), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE "global_load_sbyte" c(NO, NO, NO, 0x11, NO), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_USHORT "global_load_ushort" c(NO, NO, NO, 0x12, NO), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SSHORT "global_load_sshort" c(NO, NO, NO, 0x13, NO), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORD "global_load_dword" c(NO, NO, NO, 0x14, NO), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX2 "global_load_dwordx2" c(NO, NO, NO, 0x15, NO), [vdst(B64), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX3 "global_load_dwordx3" c(NO, NO, NO, 0x16, NO), [vdst(B96), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX4 "global_load_dwordx4" c(NO, NO, NO, 0x17, NO), [vdst(B128), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_STORE_BYTE "global_store_byte" c(NO, NO, NO, 0x18, NO), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_BYTE_D16_HI "global_store_byte_d16_hi" c(NO, NO, NO, 0x19, NO), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT "global_store_short" c(NO, NO, NO, 0x1a, NO), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT_D16_HI "global_store_short_d16_hi" c(NO, NO, NO, 0x1b, NO), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORD "global_store_dword" c(NO, NO, NO, 0x1c, NO), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX2 "global_store_dwordx2" c(NO, NO, NO, 0x1d, NO), [vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX3 "global_store_dwordx3" c(NO, NO, NO, 0x1e, NO), [vaddr(), vgpr(B96), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX4 "global_store_dwordx4" c(NO, NO, NO, 0x1f, NO), [vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_LOAD_UBYTE_D16 "global_load_ubyte_d16" c(NO, NO, NO, 0x20, NO), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_UBYTE_D16_HI "global_load_ubyte_d16_hi" c(NO, NO, NO, 0x21, NO), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16 "global_load_sbyte_d16" c(NO, NO, NO, 0x22, NO), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16_HI "global_load_sbyte_d16_hi" c(NO, NO, NO, 0x23, NO), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16 "global_load_short_d16" c(NO, NO, NO, 0x24, NO), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16_HI "global_load_short_d16_hi" c(NO, NO, NO, 0x25, NO), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_ATOMIC_SWAP "global_atomic_swap" c(NO, NO, NO, 0x40, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP "global_atomic_cmpswap" c(NO, NO, NO, 0x41, NO), [vdst(B32), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD "global_atomic_add" c(NO, NO, NO, 0x42, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB "global_atomic_sub" c(NO, NO, NO, 0x43, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN "global_atomic_smin" c(NO, NO, NO, 0x44, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN "global_atomic_umin" c(NO, NO, NO, 0x45, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX "global_atomic_smax" c(NO, NO, NO, 0x46, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX "global_atomic_umax" c(NO, NO, NO, 0x47, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND "global_atomic_and" c(NO, NO, NO, 0x48, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR "global_atomic_or" c(NO, NO, NO, 0x49, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR "global_atomic_xor" c(NO, NO, NO, 0x4a, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC "global_atomic_inc" c(NO, NO, NO, 0x4b, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC "global_atomic_dec" c(NO, NO, NO, 0x4c, NO), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SWAP_X2 "global_atomic_swap_x2" c(NO, NO, NO, 0x60, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP_X2 "global_atomic_cmpswap_x2" c(NO, NO, NO, 0x61, NO), [vdst(B64), vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD_X2 "global_atomic_add_x2" c(NO, NO, NO, 0x62, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB_X2 "global_atomic_sub_x2" c(NO, NO, NO, 0x63, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN_X2 "global_atomic_smin_x2" c(NO, NO, NO, 0x64, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN_X2 "global_atomic_umin_x2" c(NO, NO, NO, 0x65, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX_X2 "global_atomic_smax_x2" c(NO, NO, NO, 0x66, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX_X2 "global_atomic_umax_x2" c(NO, NO, NO, 0x67, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND_X2 "global_atomic_and_x2" c(NO, NO, NO, 0x68, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR_X2 "global_atomic_or_x2" c(NO, NO, NO, 0x69, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR_X2 "global_atomic_xor_x2" c(NO, NO, NO, 0x6a, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC_X2 "global_atomic_inc_x2" c(NO, NO, NO, 0x6b, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC_X2 "global_atomic_dec_x2" c(NO, NO, NO, 0x6c, NO), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
    }
}

/// Private memory.
pub mod scratch {
    use crate::table::{rows, spec::*};
    rows! { SCRATCH, Scratch;
        SCRATCH_LOAD_UBYTE "scratch_load_ubyte" c(NO, NO, NO, 0x10, NO), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE "scratch_load_sbyte" c(NO, NO, NO, 0x11, NO), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_USHORT "scratch_load_ushort" c(NO, NO, NO, 0x12, NO), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SSHORT "scratch_load_sshort" c(NO, NO, NO, 0x13, NO), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORD "scratch_load_dword" c(NO, NO, NO, 0x14, NO), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX2 "scratch_load_dwordx2" c(NO, NO, NO, 0x15, NO), [vdst(B64), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX3 "scratch_load_dwordx3" c(NO, NO, NO, 0x16, NO), [vdst(B96), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX4 "scratch_load_dwordx4" c(NO, NO, NO, 0x17, NO), [vdst(B128), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_STORE_BYTE "scratch_store_byte" c(NO, NO, NO, 0x18, NO), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_BYTE_D16_HI "scratch_store_byte_d16_hi" c(NO, NO, NO, 0x19, NO), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT "scratch_store_short" c(NO, NO, NO, 0x1a, NO), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT_D16_HI "scratch_store_short_d16_hi" c(NO, NO, NO, 0x1b, NO), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORD "scratch_store_dword" c(NO, NO, NO, 0x1c, NO), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX2 "scratch_store_dwordx2" c(NO, NO, NO, 0x1d, NO), [vaddr(), vgpr(B64), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX3 "scratch_store_dwordx3" c(NO, NO, NO, 0x1e, NO), [vaddr(), vgpr(B96), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX4 "scratch_store_dwordx4" c(NO, NO, NO, 0x1f, NO), [vaddr(), vgpr(B128), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_LOAD_UBYTE_D16 "scratch_load_ubyte_d16" c(NO, NO, NO, 0x20, NO), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_UBYTE_D16_HI "scratch_load_ubyte_d16_hi" c(NO, NO, NO, 0x21, NO), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16 "scratch_load_sbyte_d16" c(NO, NO, NO, 0x22, NO), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16_HI "scratch_load_sbyte_d16_hi" c(NO, NO, NO, 0x23, NO), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16 "scratch_load_short_d16" c(NO, NO, NO, 0x24, NO), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16_HI "scratch_load_short_d16_hi" c(NO, NO, NO, 0x25, NO), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
    }
}

pub(crate) use any::FLAT;
pub(crate) use global::GLOBAL;
pub(crate) use scratch::SCRATCH;
