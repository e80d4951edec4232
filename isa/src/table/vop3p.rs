//! Packed and mixed-precision vector instructions. Two 16-bit halves at once, mixed precision, dot products.

use super::{rows, spec::*};

rows! { VOP3P, Vop3p;
    V_PK_MAD_I16 "v_pk_mad_i16" c(NO, NO, NO, 0x0, NO), [vdst(B32), src(I16), src(I16), src(I16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_MUL_LO_U16 "v_pk_mul_lo_u16" c(NO, NO, NO, 0x1, NO), [vdst(B32), src(U16), src(U16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_ADD_I16 "v_pk_add_i16" c(NO, NO, NO, 0x2, NO), [vdst(B32), src(I16), src(I16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_SUB_I16 "v_pk_sub_i16" c(NO, NO, NO, 0x3, NO), [vdst(B32), src(I16), src(I16)], implicit VALU, caps CLAMP;
    V_PK_LSHLREV_B16 "v_pk_lshlrev_b16" c(NO, NO, NO, 0x4, NO), [vdst(B32), src(B16), src(B16)], implicit VALU, caps CLAMP;
    V_PK_LSHRREV_B16 "v_pk_lshrrev_b16" c(NO, NO, NO, 0x5, NO), [vdst(B32), src(B16), src(B16)], implicit VALU, caps CLAMP;
    V_PK_ASHRREV_I16 "v_pk_ashrrev_i16" c(NO, NO, NO, 0x6, NO), [vdst(B32), src(I16), src(I16)], implicit VALU, caps CLAMP;
    V_PK_MAX_I16 "v_pk_max_i16" c(NO, NO, NO, 0x7, NO), [vdst(B32), src(I16), src(I16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_MIN_I16 "v_pk_min_i16" c(NO, NO, NO, 0x8, NO), [vdst(B32), src(I16), src(I16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_MAD_U16 "v_pk_mad_u16" c(NO, NO, NO, 0x9, NO), [vdst(B32), src(U16), src(U16), src(U16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_ADD_U16 "v_pk_add_u16" c(NO, NO, NO, 0xa, NO), [vdst(B32), src(U16), src(U16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_SUB_U16 "v_pk_sub_u16" c(NO, NO, NO, 0xb, NO), [vdst(B32), src(U16), src(U16)], implicit VALU, caps CLAMP;
    V_PK_MAX_U16 "v_pk_max_u16" c(NO, NO, NO, 0xc, NO), [vdst(B32), src(U16), src(U16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_MIN_U16 "v_pk_min_u16" c(NO, NO, NO, 0xd, NO), [vdst(B32), src(U16), src(U16)], implicit VALU, flags COMMUTES, caps CLAMP;
    V_PK_FMA_F16 "v_pk_fma_f16" c(NO, NO, NO, 0xe, NO), [vdst(B32), src(F16), src(F16), src(F16)], implicit FVALU, flags COMMUTES, caps CLAMP;
    V_PK_ADD_F16 "v_pk_add_f16" c(NO, NO, NO, 0xf, NO), [vdst(B32), src(F16), src(F16)], implicit FVALU, flags COMMUTES, caps CLAMP;
    V_PK_MUL_F16 "v_pk_mul_f16" c(NO, NO, NO, 0x10, NO), [vdst(B32), src(F16), src(F16)], implicit FVALU, flags COMMUTES, caps CLAMP;
    V_PK_MIN_F16 "v_pk_min_f16" c(NO, NO, NO, 0x11, NO), [vdst(B32), src(F16), src(F16)], implicit FVALU, flags COMMUTES, caps CLAMP;
    V_PK_MAX_F16 "v_pk_max_f16" c(NO, NO, NO, 0x12, NO), [vdst(B32), src(F16), src(F16)], implicit FVALU, flags COMMUTES, caps CLAMP;
    V_MAD_MIX_F32 "v_mad_mix_f32" c(NO, NO, NO, 0x20, NO), [vdst(F32), src(F32), src(F32), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP MIX, requires MAD_MIX;
    V_FMA_MIX_F32 "v_fma_mix_f32" c(NO, NO, NO, 0x20, NO), [vdst(F32), src(F32), src(F32), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP MIX, requires FMA_MIX;
    V_MAD_MIXLO_F16 "v_mad_mixlo_f16" c(NO, NO, NO, 0x21, NO), [vdst_use(F16), src(F32), src(F32), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP MIX, requires MAD_MIX;
    V_FMA_MIXLO_F16 "v_fma_mixlo_f16" c(NO, NO, NO, 0x21, NO), [vdst_use(F16), src(F32), src(F32), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP MIX, requires FMA_MIX;
    V_MAD_MIXHI_F16 "v_mad_mixhi_f16" c(NO, NO, NO, 0x22, NO), [vdst_use(F16), src(F32), src(F32), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP MIX, requires MAD_MIX;
    V_FMA_MIXHI_F16 "v_fma_mixhi_f16" c(NO, NO, NO, 0x22, NO), [vdst_use(F16), src(F32), src(F32), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP MIX, requires FMA_MIX;
    V_DOT2_F32_F16 "v_dot2_f32_f16" c(NO, NO, NO, 0x23, NO), [vdst(F32), src(F16), src(F16), src(F32)], implicit FVALU, flags COMMUTES, caps CLAMP, requires DOT10;
    V_DOT2_I32_I16 "v_dot2_i32_i16" c(NO, NO, NO, 0x26, NO), [vdst(I32), src(B32), src(B32), src(I32)], implicit VALU, flags COMMUTES, caps CLAMP, requires DOT2;
    V_DOT2_U32_U16 "v_dot2_u32_u16" c(NO, NO, NO, 0x27, NO), [vdst(U32), src(B32), src(B32), src(U32)], implicit VALU, flags COMMUTES, caps CLAMP, requires DOT2;
    V_DOT4_I32_I8 "v_dot4_i32_i8" c(NO, NO, NO, 0x28, NO), [vdst(I32), src(B32), src(B32), src(I32)], implicit VALU, flags COMMUTES, caps CLAMP, requires DOT1;
    V_DOT4_U32_U8 "v_dot4_u32_u8" c(NO, NO, NO, 0x29, NO), [vdst(U32), src(B32), src(B32), src(U32)], implicit VALU, flags COMMUTES, caps CLAMP, requires DOT7;
    V_DOT8_I32_I4 "v_dot8_i32_i4" c(NO, NO, NO, 0x2a, NO), [vdst(I32), src(B32), src(B32), src(I32)], implicit VALU, flags COMMUTES, caps CLAMP, requires DOT1;
    V_DOT8_U32_U4 "v_dot8_u32_u4" c(NO, NO, NO, 0x2b, NO), [vdst(U32), src(B32), src(B32), src(U32)], implicit VALU, flags COMMUTES, caps CLAMP, requires DOT7;
}
