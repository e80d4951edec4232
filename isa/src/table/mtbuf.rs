//! Typed buffer instructions: the format of the data is in the instruction, not in the buffer resource.
//!
//! On processors on which 16-bit data is not packed ([`UNPACKED_D16`](crate::Feature::UNPACKED_D16)), each
//! element takes a dword.

use super::{rows, spec::*};

rows! { MTBUF, Mtbuf;
    TBUFFER_LOAD_FORMAT_X "tbuffer_load_format_x" op(0x0), [vdst(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_XY "tbuffer_load_format_xy" op(0x1), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_XYZ "tbuffer_load_format_xyz" op(0x2), [vdst(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_XYZW "tbuffer_load_format_xyzw" op(0x3), [vdst(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_STORE_FORMAT_X "tbuffer_store_format_x" op(0x4), [vgpr(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_XY "tbuffer_store_format_xy" op(0x5), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_XYZ "tbuffer_store_format_xyz" op(0x6), [vgpr(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_XYZW "tbuffer_store_format_xyzw" op(0x7), [vgpr(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_LOAD_FORMAT_D16_X "tbuffer_load_format_d16_x" since(Gfx8, 0x8), [vdst(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM;
    TBUFFER_LOAD_FORMAT_D16_XY "tbuffer_load_format_d16_xy" since(Gfx8, 0x9), [vdst(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, lacks UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZ "tbuffer_load_format_d16_xyz" since(Gfx8, 0xa), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, lacks UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZW "tbuffer_load_format_d16_xyzw" since(Gfx8, 0xb), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, lacks UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_X "tbuffer_store_format_d16_x" since(Gfx8, 0xc), [vgpr(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM;
    TBUFFER_STORE_FORMAT_D16_XY "tbuffer_store_format_d16_xy" since(Gfx8, 0xd), [vgpr(B32), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, lacks UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZ "tbuffer_store_format_d16_xyz" since(Gfx8, 0xe), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, lacks UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZW "tbuffer_store_format_d16_xyzw" since(Gfx8, 0xf), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, lacks UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XY_UNPACKED "tbuffer_load_format_d16_xy" since(Gfx8, 0x9).until(Gfx9), [vdst(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, requires UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZ_UNPACKED "tbuffer_load_format_d16_xyz" since(Gfx8, 0xa).until(Gfx9), [vdst(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, requires UNPACKED_D16;
    TBUFFER_LOAD_FORMAT_D16_XYZW_UNPACKED "tbuffer_load_format_d16_xyzw" since(Gfx8, 0xb).until(Gfx9), [vdst(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags LOAD VM, requires UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XY_UNPACKED "tbuffer_store_format_d16_xy" since(Gfx8, 0xd).until(Gfx9), [vgpr(B64), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, requires UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZ_UNPACKED "tbuffer_store_format_d16_xyz" since(Gfx8, 0xe).until(Gfx9), [vgpr(B96), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, requires UNPACKED_D16;
    TBUFFER_STORE_FORMAT_D16_XYZW_UNPACKED "tbuffer_store_format_d16_xyzw" since(Gfx8, 0xf).until(Gfx9), [vgpr(B128), vaddr(), sgpr(B128), ssrc(U32)], implicit R_EXEC, flags STORE VM, requires UNPACKED_D16;
}
