//! Flat, global and scratch instructions.

/// FLAT instructions, where the address determines the segment.
pub mod any {
    use crate::table::{rows, spec::*};
    rows! { FLAT, Flat;
        FLAT_LOAD_UBYTE "flat_load_ubyte" since(Gfx7, 0x08).from(Gfx8, 0x10).from(Gfx10, 0x08), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE "flat_load_sbyte" since(Gfx7, 0x09).from(Gfx8, 0x11).from(Gfx10, 0x09), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_USHORT "flat_load_ushort" since(Gfx7, 0x0a).from(Gfx8, 0x12).from(Gfx10, 0x0a), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SSHORT "flat_load_sshort" since(Gfx7, 0x0b).from(Gfx8, 0x13).from(Gfx10, 0x0b), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORD "flat_load_dword" since(Gfx7, 0x0c).from(Gfx8, 0x14).from(Gfx10, 0x0c), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX2 "flat_load_dwordx2" since(Gfx7, 0x0d).from(Gfx8, 0x15).from(Gfx10, 0x0d), [vdst(B64), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX3 "flat_load_dwordx3" since(Gfx7, 0x0f).from(Gfx8, 0x16).from(Gfx10, 0x0f), [vdst(B96), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX4 "flat_load_dwordx4" since(Gfx7, 0x0e).from(Gfx8, 0x17).from(Gfx10, 0x0e), [vdst(B128), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_STORE_BYTE "flat_store_byte" since(Gfx7, 0x18), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_BYTE_D16_HI "flat_store_byte_d16_hi" since(Gfx9, 0x19), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT "flat_store_short" since(Gfx7, 0x1a), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT_D16_HI "flat_store_short_d16_hi" since(Gfx9, 0x1b), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORD "flat_store_dword" since(Gfx7, 0x1c), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX2 "flat_store_dwordx2" since(Gfx7, 0x1d), [vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX3 "flat_store_dwordx3" since(Gfx7, 0x1f).from(Gfx8, 0x1e).from(Gfx10, 0x1f), [vaddr(), vgpr(B96)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX4 "flat_store_dwordx4" since(Gfx7, 0x1e).from(Gfx8, 0x1f).from(Gfx10, 0x1e), [vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_LOAD_UBYTE_D16 "flat_load_ubyte_d16" since(Gfx9, 0x20), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_UBYTE_D16_HI "flat_load_ubyte_d16_hi" since(Gfx9, 0x21), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16 "flat_load_sbyte_d16" since(Gfx9, 0x22), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16_HI "flat_load_sbyte_d16_hi" since(Gfx9, 0x23), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16 "flat_load_short_d16" since(Gfx9, 0x24), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16_HI "flat_load_short_d16_hi" since(Gfx9, 0x25), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_ATOMIC_SWAP "flat_atomic_swap" since(Gfx7, 0x30).from(Gfx8, 0x40).from(Gfx10, 0x30), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP "flat_atomic_cmpswap" since(Gfx7, 0x31).from(Gfx8, 0x41).from(Gfx10, 0x31), [vdst(B32), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD "flat_atomic_add" since(Gfx7, 0x32).from(Gfx8, 0x42).from(Gfx10, 0x32), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB "flat_atomic_sub" since(Gfx7, 0x33).from(Gfx8, 0x43).from(Gfx10, 0x33), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN "flat_atomic_smin" since(Gfx7, 0x35).from(Gfx8, 0x44).from(Gfx10, 0x35), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN "flat_atomic_umin" since(Gfx7, 0x36).from(Gfx8, 0x45).from(Gfx10, 0x36), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX "flat_atomic_smax" since(Gfx7, 0x37).from(Gfx8, 0x46).from(Gfx10, 0x37), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX "flat_atomic_umax" since(Gfx7, 0x38).from(Gfx8, 0x47).from(Gfx10, 0x38), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND "flat_atomic_and" since(Gfx7, 0x39).from(Gfx8, 0x48).from(Gfx10, 0x39), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR "flat_atomic_or" since(Gfx7, 0x3a).from(Gfx8, 0x49).from(Gfx10, 0x3a), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR "flat_atomic_xor" since(Gfx7, 0x3b).from(Gfx8, 0x4a).from(Gfx10, 0x3b), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC "flat_atomic_inc" since(Gfx7, 0x3c).from(Gfx8, 0x4b).from(Gfx10, 0x3c), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC "flat_atomic_dec" since(Gfx7, 0x3d).from(Gfx8, 0x4c).from(Gfx10, 0x3d), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SWAP_X2 "flat_atomic_swap_x2" since(Gfx7, 0x50).from(Gfx8, 0x60).from(Gfx10, 0x50), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP_X2 "flat_atomic_cmpswap_x2" since(Gfx7, 0x51).from(Gfx8, 0x61).from(Gfx10, 0x51), [vdst(B64), vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD_X2 "flat_atomic_add_x2" since(Gfx7, 0x52).from(Gfx8, 0x62).from(Gfx10, 0x52), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB_X2 "flat_atomic_sub_x2" since(Gfx7, 0x53).from(Gfx8, 0x63).from(Gfx10, 0x53), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN_X2 "flat_atomic_smin_x2" since(Gfx7, 0x55).from(Gfx8, 0x64).from(Gfx10, 0x55), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN_X2 "flat_atomic_umin_x2" since(Gfx7, 0x56).from(Gfx8, 0x65).from(Gfx10, 0x56), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX_X2 "flat_atomic_smax_x2" since(Gfx7, 0x57).from(Gfx8, 0x66).from(Gfx10, 0x57), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX_X2 "flat_atomic_umax_x2" since(Gfx7, 0x58).from(Gfx8, 0x67).from(Gfx10, 0x58), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND_X2 "flat_atomic_and_x2" since(Gfx7, 0x59).from(Gfx8, 0x68).from(Gfx10, 0x59), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR_X2 "flat_atomic_or_x2" since(Gfx7, 0x5a).from(Gfx8, 0x69).from(Gfx10, 0x5a), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR_X2 "flat_atomic_xor_x2" since(Gfx7, 0x5b).from(Gfx8, 0x6a).from(Gfx10, 0x5b), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC_X2 "flat_atomic_inc_x2" since(Gfx7, 0x5c).from(Gfx8, 0x6b).from(Gfx10, 0x5c), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC_X2 "flat_atomic_dec_x2" since(Gfx7, 0x5d).from(Gfx8, 0x6c).from(Gfx10, 0x5d), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FCMPSWAP "flat_atomic_fcmpswap" since(Gfx7, 0x3e).until(Gfx8).from(Gfx10, 0x3e), [vdst(B32), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMIN "flat_atomic_fmin" since(Gfx7, 0x3f).until(Gfx8).from(Gfx10, 0x3f), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMAX "flat_atomic_fmax" since(Gfx7, 0x40).until(Gfx8).from(Gfx10, 0x40), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FCMPSWAP_X2 "flat_atomic_fcmpswap_x2" since(Gfx7, 0x5e).until(Gfx8).from(Gfx10, 0x5e), [vdst(B64), vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMIN_X2 "flat_atomic_fmin_x2" since(Gfx7, 0x5f).until(Gfx8).from(Gfx10, 0x5f), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_FMAX_X2 "flat_atomic_fmax_x2" since(Gfx7, 0x60).until(Gfx8).from(Gfx10, 0x60), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD_F64 "flat_atomic_add_f64" since(Gfx90a, 0x4f), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM NO_SCOPE;
        FLAT_ATOMIC_MIN_F64 "flat_atomic_min_f64" since(Gfx90a, 0x50), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM NO_SCOPE;
        FLAT_ATOMIC_MAX_F64 "flat_atomic_max_f64" since(Gfx90a, 0x51), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM NO_SCOPE;
    }
}

/// GLOBAL instructions: global memory.
pub mod global {
    use crate::table::{rows, spec::*};
    rows! { GLOBAL, Global;
        GLOBAL_LOAD_UBYTE "global_load_ubyte" since(Gfx9, 0x10).from(Gfx10, 0x08), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_SBYTE "global_load_sbyte" since(Gfx9, 0x11).from(Gfx10, 0x09), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_USHORT "global_load_ushort" since(Gfx9, 0x12).from(Gfx10, 0x0a), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_SSHORT "global_load_sshort" since(Gfx9, 0x13).from(Gfx10, 0x0b), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_DWORD "global_load_dword" since(Gfx9, 0x14).from(Gfx10, 0x0c), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM CAN_LDS;
        GLOBAL_LOAD_DWORDX2 "global_load_dwordx2" since(Gfx9, 0x15).from(Gfx10, 0x0d), [vdst(B64), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX3 "global_load_dwordx3" since(Gfx9, 0x16).from(Gfx10, 0x0f), [vdst(B96), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX4 "global_load_dwordx4" since(Gfx9, 0x17).from(Gfx10, 0x0e), [vdst(B128), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_STORE_BYTE "global_store_byte" since(Gfx9, 0x18), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_BYTE_D16_HI "global_store_byte_d16_hi" since(Gfx9, 0x19), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT "global_store_short" since(Gfx9, 0x1a), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT_D16_HI "global_store_short_d16_hi" since(Gfx9, 0x1b), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORD "global_store_dword" since(Gfx9, 0x1c), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX2 "global_store_dwordx2" since(Gfx9, 0x1d), [vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX3 "global_store_dwordx3" since(Gfx9, 0x1e).from(Gfx10, 0x1f), [vaddr(), vgpr(B96), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX4 "global_store_dwordx4" since(Gfx9, 0x1f).from(Gfx10, 0x1e), [vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_LOAD_UBYTE_D16 "global_load_ubyte_d16" since(Gfx9, 0x20), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_UBYTE_D16_HI "global_load_ubyte_d16_hi" since(Gfx9, 0x21), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16 "global_load_sbyte_d16" since(Gfx9, 0x22), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16_HI "global_load_sbyte_d16_hi" since(Gfx9, 0x23), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16 "global_load_short_d16" since(Gfx9, 0x24), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16_HI "global_load_short_d16_hi" since(Gfx9, 0x25), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_ATOMIC_SWAP "global_atomic_swap" since(Gfx9, 0x40).from(Gfx10, 0x30), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP "global_atomic_cmpswap" since(Gfx9, 0x41).from(Gfx10, 0x31), [vdst(B32), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD "global_atomic_add" since(Gfx9, 0x42).from(Gfx10, 0x32), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB "global_atomic_sub" since(Gfx9, 0x43).from(Gfx10, 0x33), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN "global_atomic_smin" since(Gfx9, 0x44).from(Gfx10, 0x35), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN "global_atomic_umin" since(Gfx9, 0x45).from(Gfx10, 0x36), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX "global_atomic_smax" since(Gfx9, 0x46).from(Gfx10, 0x37), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX "global_atomic_umax" since(Gfx9, 0x47).from(Gfx10, 0x38), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND "global_atomic_and" since(Gfx9, 0x48).from(Gfx10, 0x39), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR "global_atomic_or" since(Gfx9, 0x49).from(Gfx10, 0x3a), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR "global_atomic_xor" since(Gfx9, 0x4a).from(Gfx10, 0x3b), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC "global_atomic_inc" since(Gfx9, 0x4b).from(Gfx10, 0x3c), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC "global_atomic_dec" since(Gfx9, 0x4c).from(Gfx10, 0x3d), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SWAP_X2 "global_atomic_swap_x2" since(Gfx9, 0x60).from(Gfx10, 0x50), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP_X2 "global_atomic_cmpswap_x2" since(Gfx9, 0x61).from(Gfx10, 0x51), [vdst(B64), vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD_X2 "global_atomic_add_x2" since(Gfx9, 0x62).from(Gfx10, 0x52), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB_X2 "global_atomic_sub_x2" since(Gfx9, 0x63).from(Gfx10, 0x53), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN_X2 "global_atomic_smin_x2" since(Gfx9, 0x64).from(Gfx10, 0x55), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN_X2 "global_atomic_umin_x2" since(Gfx9, 0x65).from(Gfx10, 0x56), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX_X2 "global_atomic_smax_x2" since(Gfx9, 0x66).from(Gfx10, 0x57), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX_X2 "global_atomic_umax_x2" since(Gfx9, 0x67).from(Gfx10, 0x58), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND_X2 "global_atomic_and_x2" since(Gfx9, 0x68).from(Gfx10, 0x59), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR_X2 "global_atomic_or_x2" since(Gfx9, 0x69).from(Gfx10, 0x5a), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR_X2 "global_atomic_xor_x2" since(Gfx9, 0x6a).from(Gfx10, 0x5b), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC_X2 "global_atomic_inc_x2" since(Gfx9, 0x6b).from(Gfx10, 0x5c), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC_X2 "global_atomic_dec_x2" since(Gfx9, 0x6c).from(Gfx10, 0x5d), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FCMPSWAP "global_atomic_fcmpswap" since(Gfx10, 0x3e), [vdst(B32), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMIN "global_atomic_fmin" since(Gfx10, 0x3f), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMAX "global_atomic_fmax" since(Gfx10, 0x40), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FCMPSWAP_X2 "global_atomic_fcmpswap_x2" since(Gfx10, 0x5e), [vdst(B64), vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMIN_X2 "global_atomic_fmin_x2" since(Gfx10, 0x5f), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_FMAX_X2 "global_atomic_fmax_x2" since(Gfx10, 0x60), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD_F64 "global_atomic_add_f64" since(Gfx90a, 0x4f), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM NO_SCOPE;
        GLOBAL_ATOMIC_MIN_F64 "global_atomic_min_f64" since(Gfx90a, 0x50), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM NO_SCOPE;
        GLOBAL_ATOMIC_MAX_F64 "global_atomic_max_f64" since(Gfx90a, 0x51), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM NO_SCOPE;
        GLOBAL_ATOMIC_ADD_F32 "global_atomic_add_f32" since(Gfx9, 0x4d).until(Gfx10), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM NO_SCOPE, requires ATOMIC_FADD;
        GLOBAL_ATOMIC_PK_ADD_F16 "global_atomic_pk_add_f16" since(Gfx9, 0x4e).until(Gfx10), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM NO_SCOPE, requires ATOMIC_FADD;
        GLOBAL_ATOMIC_CSUB "global_atomic_csub" since(Gfx10_3, 0x34), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_LOAD_DWORD_ADDTID "global_load_dword_addtid" since(Gfx10_3, 0x16), [vdst(B32), saddr(B64)], implicit R_EXEC, flags LOAD VM NO_ADDR;
        GLOBAL_STORE_DWORD_ADDTID "global_store_dword_addtid" since(Gfx10_3, 0x17), [vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM NO_ADDR;
    }
}

/// SCRATCH instructions: private memory.
pub mod scratch {
    use crate::table::{rows, spec::*};
    rows! { SCRATCH, Scratch;
        SCRATCH_LOAD_UBYTE "scratch_load_ubyte" since(Gfx9, 0x10).from(Gfx10, 0x08), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_SBYTE "scratch_load_sbyte" since(Gfx9, 0x11).from(Gfx10, 0x09), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_USHORT "scratch_load_ushort" since(Gfx9, 0x12).from(Gfx10, 0x0a), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_SSHORT "scratch_load_sshort" since(Gfx9, 0x13).from(Gfx10, 0x0b), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_DWORD "scratch_load_dword" since(Gfx9, 0x14).from(Gfx10, 0x0c), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM CAN_LDS;
        SCRATCH_LOAD_DWORDX2 "scratch_load_dwordx2" since(Gfx9, 0x15).from(Gfx10, 0x0d), [vdst(B64), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX3 "scratch_load_dwordx3" since(Gfx9, 0x16).from(Gfx10, 0x0f), [vdst(B96), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX4 "scratch_load_dwordx4" since(Gfx9, 0x17).from(Gfx10, 0x0e), [vdst(B128), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_STORE_BYTE "scratch_store_byte" since(Gfx9, 0x18), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_BYTE_D16_HI "scratch_store_byte_d16_hi" since(Gfx9, 0x19), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT "scratch_store_short" since(Gfx9, 0x1a), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT_D16_HI "scratch_store_short_d16_hi" since(Gfx9, 0x1b), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORD "scratch_store_dword" since(Gfx9, 0x1c), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX2 "scratch_store_dwordx2" since(Gfx9, 0x1d), [vaddr(), vgpr(B64), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX3 "scratch_store_dwordx3" since(Gfx9, 0x1e).from(Gfx10, 0x1f), [vaddr(), vgpr(B96), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX4 "scratch_store_dwordx4" since(Gfx9, 0x1f).from(Gfx10, 0x1e), [vaddr(), vgpr(B128), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_LOAD_UBYTE_D16 "scratch_load_ubyte_d16" since(Gfx9, 0x20), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_UBYTE_D16_HI "scratch_load_ubyte_d16_hi" since(Gfx9, 0x21), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16 "scratch_load_sbyte_d16" since(Gfx9, 0x22), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16_HI "scratch_load_sbyte_d16_hi" since(Gfx9, 0x23), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16 "scratch_load_short_d16" since(Gfx9, 0x24), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16_HI "scratch_load_short_d16_hi" since(Gfx9, 0x25), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
    }
}

pub(crate) use any::FLAT;
pub(crate) use global::GLOBAL;
pub(crate) use scratch::SCRATCH;
