//! Typed buffer instructions: the format of the data is in the instruction, not in the buffer resource.
//!
//! On processors on which 16-bit data is not packed ([`UNPACKED_D16`](crate::Feature::UNPACKED_D16)), each
//! element takes a dword.

use super::{rows, spec::*};

rows! { MTBUF, Mtbuf;
    TBUFFER_LOAD_FORMAT_X "tbuffer_load_format_x" c(0x0, 0x0, 0x0, 0x0, 0x0), [vdst(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_XY "tbuffer_load_format_xy" c(0x1, 0x1, 0x1, 0x1, 0x1), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_XYZ "tbuffer_load_format_xyz" c(0x2, 0x2, 0x2, 0x2, 0x2), [vdst(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_XYZW "tbuffer_load_format_xyzw" c(0x3, 0x3, 0x3, 0x3, 0x3), [vdst(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_STORE_FORMAT_X "tbuffer_store_format_x" c(0x4, 0x4, 0x4, 0x4, 0x4), [vgpr(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_XY "tbuffer_store_format_xy" c(0x5, 0x5, 0x5, 0x5, 0x5), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_XYZ "tbuffer_store_format_xyz" c(0x6, 0x6, 0x6, 0x6, 0x6), [vgpr(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_XYZW "tbuffer_store_format_xyzw" c(0x7, 0x7, 0x7, 0x7, 0x7), [vgpr(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_LOAD_FORMAT_D16_X "tbuffer_load_format_d16_x" c(NO, NO, 0x8, 0x8, 0x8), [vdst(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_D16_XY "tbuffer_load_format_d16_xy" c(NO, NO, 0x9, 0x9, 0x9), [vdst(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, lacks UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZ "tbuffer_load_format_d16_xyz" c(NO, NO, 0xa, 0xa, 0xa), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, lacks UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZW "tbuffer_load_format_d16_xyzw" c(NO, NO, 0xb, 0xb, 0xb), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, lacks UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_X "tbuffer_store_format_d16_x" c(NO, NO, 0xc, 0xc, 0xc), [vgpr(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_D16_XY "tbuffer_store_format_d16_xy" c(NO, NO, 0xd, 0xd, 0xd), [vgpr(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, lacks UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZ "tbuffer_store_format_d16_xyz" c(NO, NO, 0xe, 0xe, 0xe), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, lacks UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZW "tbuffer_store_format_d16_xyzw" c(NO, NO, 0xf, 0xf, 0xf), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, lacks UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XY_UNPACKED "tbuffer_load_format_d16_xy" c(NO, NO, 0x9, NO, NO), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, requires UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZ_UNPACKED "tbuffer_load_format_d16_xyz" c(NO, NO, 0xa, NO, NO), [vdst(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, requires UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZW_UNPACKED "tbuffer_load_format_d16_xyzw" c(NO, NO, 0xb, NO, NO), [vdst(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, requires UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XY_UNPACKED "tbuffer_store_format_d16_xy" c(NO, NO, 0xd, NO, NO), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, requires UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZ_UNPACKED "tbuffer_store_format_d16_xyz" c(NO, NO, 0xe, NO, NO), [vgpr(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, requires UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZW_UNPACKED "tbuffer_store_format_d16_xyzw" c(NO, NO, 0xf, NO, NO), [vgpr(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, requires UNPACKED_D16;
}
