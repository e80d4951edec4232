//! Interpolation of vertex attributes.
//!
//! The first three instructions have an encoding of their own. From GFX8 on, they also have a VOP3 encoding,
//! whose opcode is their own opcode plus a constant (see `graphics::interp`). The other instructions work on
//! half-precision values and have only the VOP3 encoding; their numbers are VOP3 opcodes.

use super::{rows, spec::*};

rows! { VINTRP, Vintrp;
    V_INTERP_P1_F32 "v_interp_p1_f32" op(0x0), [vdst(F32), vgpr(F32), attribute()], implicit R_EXEC R_MODE R_M0, caps CLAMP OMOD, requires INTERP;
    V_INTERP_P2_F32 "v_interp_p2_f32" op(0x1), [vdst_use(F32), vgpr(F32), attribute()], implicit R_EXEC R_MODE R_M0, caps CLAMP OMOD, requires INTERP;
    V_INTERP_MOV_F32 "v_interp_mov_f32" op(0x2), [vdst(F32), parameter(), attribute()], implicit R_EXEC R_MODE R_M0, caps CLAMP OMOD, requires INTERP;
    V_INTERP_P1LL_F16 "v_interp_p1ll_f16" since(Gfx8, 0x274).from(Gfx10, 0x342), [vdst(F32), vgpr(F32), attribute()], implicit R_EXEC R_MODE R_M0, flags NO_E32, caps CLAMP OMOD, requires INTERP;
    V_INTERP_P1LV_F16 "v_interp_p1lv_f16" since(Gfx8, 0x275).from(Gfx10, 0x343), [vdst(F32), vgpr(F32), attribute(), vgpr(F16)], implicit R_EXEC R_MODE R_M0, flags NO_E32, caps CLAMP OMOD, requires INTERP;
    V_INTERP_P2_LEGACY_F16 "v_interp_p2_legacy_f16" since(Gfx9, 0x276).until(Gfx10), [vdst(F16), vgpr(F32), attribute(), vgpr(F32)], implicit R_EXEC R_MODE R_M0, flags NO_E32, caps CLAMP, requires INTERP;
    V_INTERP_P2_F16 "v_interp_p2_f16" since(Gfx8, 0x276).from(Gfx9, 0x277).from(Gfx10, 0x35a), [vdst(F16), vgpr(F32), attribute(), vgpr(F32)], implicit R_EXEC R_MODE R_M0, flags NO_E32, caps CLAMP, requires INTERP;
}
