//! Flat, global and scratch instructions.

/// Any segment, told by the address.
pub mod any {
    use crate::table::{rows, spec::*};
    rows! { FLAT, Flat;
        FLAT_LOAD_UBYTE "flat_load_ubyte" g9(0x10), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE "flat_load_sbyte" g9(0x11), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_USHORT "flat_load_ushort" g9(0x12), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SSHORT "flat_load_sshort" g9(0x13), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORD "flat_load_dword" g9(0x14), [vdst(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX2 "flat_load_dwordx2" g9(0x15), [vdst(B64), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX3 "flat_load_dwordx3" g9(0x16), [vdst(B96), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_DWORDX4 "flat_load_dwordx4" g9(0x17), [vdst(B128), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_STORE_BYTE "flat_store_byte" g9(0x18), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_BYTE_D16_HI "flat_store_byte_d16_hi" g9(0x19), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT "flat_store_short" g9(0x1a), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_SHORT_D16_HI "flat_store_short_d16_hi" g9(0x1b), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORD "flat_store_dword" g9(0x1c), [vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX2 "flat_store_dwordx2" g9(0x1d), [vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX3 "flat_store_dwordx3" g9(0x1e), [vaddr(), vgpr(B96)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_STORE_DWORDX4 "flat_store_dwordx4" g9(0x1f), [vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM LGKM;
        FLAT_LOAD_UBYTE_D16 "flat_load_ubyte_d16" g9(0x20), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_UBYTE_D16_HI "flat_load_ubyte_d16_hi" g9(0x21), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16 "flat_load_sbyte_d16" g9(0x22), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SBYTE_D16_HI "flat_load_sbyte_d16_hi" g9(0x23), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16 "flat_load_short_d16" g9(0x24), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_LOAD_SHORT_D16_HI "flat_load_short_d16_hi" g9(0x25), [vdst_use(B32), vaddr()], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM LGKM;
        FLAT_ATOMIC_SWAP "flat_atomic_swap" g9(0x40), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP "flat_atomic_cmpswap" g9(0x41), [vdst(B32), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD "flat_atomic_add" g9(0x42), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB "flat_atomic_sub" g9(0x43), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN "flat_atomic_smin" g9(0x44), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN "flat_atomic_umin" g9(0x45), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX "flat_atomic_smax" g9(0x46), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX "flat_atomic_umax" g9(0x47), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND "flat_atomic_and" g9(0x48), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR "flat_atomic_or" g9(0x49), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR "flat_atomic_xor" g9(0x4a), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC "flat_atomic_inc" g9(0x4b), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC "flat_atomic_dec" g9(0x4c), [vdst(B32), vaddr(), vgpr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SWAP_X2 "flat_atomic_swap_x2" g9(0x60), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_CMPSWAP_X2 "flat_atomic_cmpswap_x2" g9(0x61), [vdst(B64), vaddr(), vgpr(B128)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_ADD_X2 "flat_atomic_add_x2" g9(0x62), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SUB_X2 "flat_atomic_sub_x2" g9(0x63), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMIN_X2 "flat_atomic_smin_x2" g9(0x64), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMIN_X2 "flat_atomic_umin_x2" g9(0x65), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_SMAX_X2 "flat_atomic_smax_x2" g9(0x66), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_UMAX_X2 "flat_atomic_umax_x2" g9(0x67), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_AND_X2 "flat_atomic_and_x2" g9(0x68), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_OR_X2 "flat_atomic_or_x2" g9(0x69), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_XOR_X2 "flat_atomic_xor_x2" g9(0x6a), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_INC_X2 "flat_atomic_inc_x2" g9(0x6b), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
        FLAT_ATOMIC_DEC_X2 "flat_atomic_dec_x2" g9(0x6c), [vdst(B64), vaddr(), vgpr(B64)], implicit R_EXEC R_FLAT_SCRATCH, flags ATOMIC VM LGKM;
    }
}

/// Global memory.
pub mod global {
    use crate::table::{rows, spec::*};
    rows! { GLOBAL, Global;
        GLOBAL_LOAD_UBYTE "global_load_ubyte" g9(0x10), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE "global_load_sbyte" g9(0x11), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_USHORT "global_load_ushort" g9(0x12), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SSHORT "global_load_sshort" g9(0x13), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORD "global_load_dword" g9(0x14), [vdst(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX2 "global_load_dwordx2" g9(0x15), [vdst(B64), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX3 "global_load_dwordx3" g9(0x16), [vdst(B96), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_DWORDX4 "global_load_dwordx4" g9(0x17), [vdst(B128), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_STORE_BYTE "global_store_byte" g9(0x18), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_BYTE_D16_HI "global_store_byte_d16_hi" g9(0x19), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT "global_store_short" g9(0x1a), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_SHORT_D16_HI "global_store_short_d16_hi" g9(0x1b), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORD "global_store_dword" g9(0x1c), [vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX2 "global_store_dwordx2" g9(0x1d), [vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX3 "global_store_dwordx3" g9(0x1e), [vaddr(), vgpr(B96), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_STORE_DWORDX4 "global_store_dwordx4" g9(0x1f), [vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags STORE VM;
        GLOBAL_LOAD_UBYTE_D16 "global_load_ubyte_d16" g9(0x20), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_UBYTE_D16_HI "global_load_ubyte_d16_hi" g9(0x21), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16 "global_load_sbyte_d16" g9(0x22), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SBYTE_D16_HI "global_load_sbyte_d16_hi" g9(0x23), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16 "global_load_short_d16" g9(0x24), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_LOAD_SHORT_D16_HI "global_load_short_d16_hi" g9(0x25), [vdst_use(B32), vaddr(), saddr(B64)], implicit R_EXEC, flags LOAD VM;
        GLOBAL_ATOMIC_SWAP "global_atomic_swap" g9(0x40), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP "global_atomic_cmpswap" g9(0x41), [vdst(B32), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD "global_atomic_add" g9(0x42), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB "global_atomic_sub" g9(0x43), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN "global_atomic_smin" g9(0x44), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN "global_atomic_umin" g9(0x45), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX "global_atomic_smax" g9(0x46), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX "global_atomic_umax" g9(0x47), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND "global_atomic_and" g9(0x48), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR "global_atomic_or" g9(0x49), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR "global_atomic_xor" g9(0x4a), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC "global_atomic_inc" g9(0x4b), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC "global_atomic_dec" g9(0x4c), [vdst(B32), vaddr(), vgpr(B32), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SWAP_X2 "global_atomic_swap_x2" g9(0x60), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_CMPSWAP_X2 "global_atomic_cmpswap_x2" g9(0x61), [vdst(B64), vaddr(), vgpr(B128), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_ADD_X2 "global_atomic_add_x2" g9(0x62), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SUB_X2 "global_atomic_sub_x2" g9(0x63), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMIN_X2 "global_atomic_smin_x2" g9(0x64), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMIN_X2 "global_atomic_umin_x2" g9(0x65), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_SMAX_X2 "global_atomic_smax_x2" g9(0x66), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_UMAX_X2 "global_atomic_umax_x2" g9(0x67), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_AND_X2 "global_atomic_and_x2" g9(0x68), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_OR_X2 "global_atomic_or_x2" g9(0x69), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_XOR_X2 "global_atomic_xor_x2" g9(0x6a), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_INC_X2 "global_atomic_inc_x2" g9(0x6b), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
        GLOBAL_ATOMIC_DEC_X2 "global_atomic_dec_x2" g9(0x6c), [vdst(B64), vaddr(), vgpr(B64), saddr(B64)], implicit R_EXEC, flags ATOMIC VM;
    }
}

/// Private memory.
pub mod scratch {
    use crate::table::{rows, spec::*};
    rows! { SCRATCH, Scratch;
        SCRATCH_LOAD_UBYTE "scratch_load_ubyte" g9(0x10), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE "scratch_load_sbyte" g9(0x11), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_USHORT "scratch_load_ushort" g9(0x12), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SSHORT "scratch_load_sshort" g9(0x13), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORD "scratch_load_dword" g9(0x14), [vdst(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX2 "scratch_load_dwordx2" g9(0x15), [vdst(B64), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX3 "scratch_load_dwordx3" g9(0x16), [vdst(B96), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_DWORDX4 "scratch_load_dwordx4" g9(0x17), [vdst(B128), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_STORE_BYTE "scratch_store_byte" g9(0x18), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_BYTE_D16_HI "scratch_store_byte_d16_hi" g9(0x19), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT "scratch_store_short" g9(0x1a), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_SHORT_D16_HI "scratch_store_short_d16_hi" g9(0x1b), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORD "scratch_store_dword" g9(0x1c), [vaddr(), vgpr(B32), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX2 "scratch_store_dwordx2" g9(0x1d), [vaddr(), vgpr(B64), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX3 "scratch_store_dwordx3" g9(0x1e), [vaddr(), vgpr(B96), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_STORE_DWORDX4 "scratch_store_dwordx4" g9(0x1f), [vaddr(), vgpr(B128), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags STORE VM;
        SCRATCH_LOAD_UBYTE_D16 "scratch_load_ubyte_d16" g9(0x20), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_UBYTE_D16_HI "scratch_load_ubyte_d16_hi" g9(0x21), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16 "scratch_load_sbyte_d16" g9(0x22), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SBYTE_D16_HI "scratch_load_sbyte_d16_hi" g9(0x23), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16 "scratch_load_short_d16" g9(0x24), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
        SCRATCH_LOAD_SHORT_D16_HI "scratch_load_short_d16_hi" g9(0x25), [vdst_use(B32), vaddr(), saddr(B32)], implicit R_EXEC R_FLAT_SCRATCH, flags LOAD VM;
    }
}

pub(crate) use any::FLAT;
pub(crate) use global::GLOBAL;
pub(crate) use scratch::SCRATCH;
