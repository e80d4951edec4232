// Packed instructions, dot products.
#include "meaning.h"

#define UNPACK                                                                         \
    u32 al = (u16)in->a, ah = (u16)(in->a >> 16), bl = (u16)in->b, bh = (u16)(in->b >> 16); \
    u32 cl = (u16)in->c[0], ch = (u16)(in->c[0] >> 16);                                \
    (void)cl, (void)ch

#define PACKED(name, type, low, high, x)                                               \
    static u32 one_##name(type a, type b, type c) { i128 v = (x); (void)c; return (u16)(mode.clamp ? saturated(v, low, high) : v); } \
    OP(name) { UNPACK; o->d[0] = one_##name(al, bl, cl) | one_##name(ah, bh, ch) << 16; }
#define PK_U16(name, x) PACKED(name, u16, 0, 65535, x)
#define PK_I16(name, x) PACKED(name, i16, -32768, 32767, x)
PK_U16(v_pk_add_u16, (i128)a + b)
PK_I16(v_pk_add_i16, (i128)a + b)
PK_U16(v_pk_sub_u16, (i128)a - b)
PK_I16(v_pk_sub_i16, (i128)a - b)
// Whether clamp saturates what is cut off without it the manuals do not say.
OP(v_pk_mul_lo_u16) { UNPACK; o->any = mode.clamp && (al * bl > 65535 || ah * bh > 65535); o->d[0] = (u16)(al * bl) | ah * bh << 16; }
PK_U16(v_pk_mad_u16, (i128)a * b + c)
PK_I16(v_pk_mad_i16, (i128)a * b + c)
PK_U16(v_pk_lshlrev_b16, (u16)(b << (a & 15)))
PK_U16(v_pk_lshrrev_b16, b >> (a & 15))
PK_I16(v_pk_ashrrev_i16, b >> (a & 15))
PK_U16(v_pk_min_u16, a < b ? a : b)
PK_U16(v_pk_max_u16, a > b ? a : b)
PK_I16(v_pk_min_i16, a < b ? a : b)
PK_I16(v_pk_max_i16, a > b ? a : b)

static i128 field(u32 x, int at, int width, int is_signed) {
    u32 v = x >> at * width & ((1u << width) - 1);
    return is_signed && v >> (width - 1) ? (i128)v - ((i128)1 << width) : (i128)v;
}
static i128 dot(u32 x, u32 y, int width, int is_signed) {
    i128 sum = 0;
    for (int at = 0; at < 32 / width; at++) sum += field(x, at, width, is_signed) * field(y, at, width, is_signed);
    return sum;
}
X_I32(v_dot2_i32_i16, dot(a, b, 16, 1) + sc)
X_U32(v_dot2_u32_u16, dot(a, b, 16, 0) + c)
X_I32(v_dot4_i32_i8, dot(a, b, 8, 1) + sc)
X_U32(v_dot4_u32_u8, dot(a, b, 8, 0) + c)
X_I32(v_dot8_i32_i4, dot(a, b, 4, 1) + sc)
X_U32(v_dot8_u32_u4, dot(a, b, 4, 0) + c)
X_I32(v_dot2c_i32_i16, dot(a, b, 16, 1) + sd)
X_I32(v_dot4c_i32_i8, dot(a, b, 8, 1) + sd)
X_I32(v_dot8c_i32_i4, dot(a, b, 4, 1) + sd)

// Each half of the result takes the half of its own source that op_sel names: the low one here.
OP(v_pk_mov_b32) { o->d[0] = in->a; o->d[1] = in->b; }
#define PK_F32(name, x)                                                                \
    OP(name) {                                                                         \
        fesetround(rounding(mode.round32));                                            \
        for (int at = 0; at < 2; at++) {                                               \
            float a = in32(in->a >> 32 * at), b = in32(in->b >> 32 * at), c = in32(in->c[0] >> 32 * at); \
            (void)c;                                                                   \
            o->d[at] = flush32(bits_of(x), mode.out32);                                \
        }                                                                              \
    }
PK_F32(v_pk_fma_f32, fmaf(a, b, c))
PK_F32(v_pk_mul_f32, a * b)
PK_F32(v_pk_add_f32, a + b)
