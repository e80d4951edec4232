// Vector instructions on integers of 16, 32 and 64 bits.
#include "meaning.h"

B32(v_mov_b32, a)
B32(v_not_b32, ~a)
B32(v_and_b32, a & b)
B32(v_or_b32, a | b)
B32(v_xor_b32, a ^ b)
B32(v_xnor_b32, ~(a ^ b))
B32(v_or3_b32, a | b | c)
B32(v_xor3_b32, a ^ b ^ c)
B32(v_and_or_b32, (a & b) | c)
B32(v_lshl_or_b32, a << (b & 31) | c)
B32(v_lshl_add_u32, (a << (b & 31)) + c)
B32(v_add_lshl_u32, (a + b) << (c & 31))
B32(v_add3_u32, a + b + c)
B32(v_xad_u32, (a ^ b) + c)
B32(v_bfi_b32, (a & b) | (~a & c))
B32(v_cndmask_b32, carry ? b : a)

B32(v_lshlrev_b32, b << (a & 31))
B32(v_lshrrev_b32, b >> (a & 31))
B32(v_ashrrev_i32, sb >> (a & 31))
B32(v_lshl_b32, a << (b & 31))
B32(v_lshr_b32, a >> (b & 31))
B32(v_ashr_i32, sa >> (b & 31))
B64(v_mov_b64, A)
B64(v_lshl_add_u64, (A << (b & 7)) + C)
B64(v_lshlrev_b64, B << (a & 63))
B64(v_lshrrev_b64, B >> (a & 63))
B64(v_ashrrev_i64, SB >> (a & 63))
B64(v_lshl_b64, A << (b & 63))
B64(v_lshr_b64, A >> (b & 63))
B64(v_ashr_i64, SA >> (b & 63))
B16(v_lshlrev_b16, hb << (a & 15))
B16(v_lshrrev_b16, hb >> (a & 15))
B16(v_ashrrev_i16, kb >> (a & 15))

// Sums. The names of carry-out and no carry are those of all generations: a mask that is written is compared where the
// row has one.
#define SUM(name, wide, out) OP(name) { INTEGERS; i128 v = (wide); o->d[0] = mode.clamp ? saturated(v, 0, UINT32_MAX) : v; o->mask = (out); }
#define ADD(name, cin) SUM(name, (i128)a + b + (cin), ((u64)a + b + (cin)) >> 32)
#define SUB(name, x, y, cin) SUM(name, (i128)x - y - (cin), (i128)x - y - (cin) < 0)
ADD(v_add_u32, 0)
ADD(v_add_co_u32, 0)
ADD(v_add_nc_u32, 0)
ADD(v_addc_co_u32, carry)
ADD(v_addc_u32, carry)
ADD(v_add_co_ci_u32, carry)
SUB(v_sub_u32, a, b, 0)
SUB(v_sub_co_u32, a, b, 0)
SUB(v_sub_nc_u32, a, b, 0)
SUB(v_subrev_u32, b, a, 0)
SUB(v_subrev_co_u32, b, a, 0)
SUB(v_subrev_nc_u32, b, a, 0)
SUB(v_subrev_i32, b, a, 0)
SUB(v_subb_co_u32, a, b, carry)
SUB(v_subb_u32, a, b, carry)
SUB(v_sub_co_ci_u32, a, b, carry)
SUB(v_subbrev_co_u32, b, a, carry)
SUB(v_subbrev_u32, b, a, carry)
SUB(v_subrev_co_ci_u32, b, a, carry)
// GFX6 and GFX7: unsigned, with carry; GFX9: signed, without.
OP(v_add_i32) { INTEGERS; i128 v = (i128)sa + sb; o->d[0] = mode.clamp ? saturated(v, INT32_MIN, INT32_MAX) : v; o->mask = ((u64)a + b) >> 32; }
OP(v_sub_i32) { INTEGERS; i128 v = (i128)sa - sb; o->d[0] = mode.clamp ? saturated(v, INT32_MIN, INT32_MAX) : v; o->mask = a < b; }
X_I32(v_add_nc_i32, (i128)sa + sb)
X_I32(v_sub_nc_i32, (i128)sa - sb)
X_U16(v_add_u16, (i128)ha + hb)
X_U16(v_sub_u16, (i128)ha - hb)
X_U16(v_subrev_u16, (i128)hb - ha)
X_U16_KEEP(v_add_nc_u16, (i128)ha + hb)
X_U16_KEEP(v_sub_nc_u16, (i128)ha - hb)
X_I16_KEEP(v_add_nc_i16, (i128)ka + kb)
X_I16_KEEP(v_sub_nc_i16, (i128)ka - kb)
X_I16_KEEP(v_add_i16, (i128)ka + kb)
X_I16_KEEP(v_sub_i16, (i128)ka - kb)

// Products.
static i64 s24(u32 x) { return (i32)(x << 8) >> 8; }
static u64 u24(u32 x) { return x & 0xffffff; }
B32(v_mul_lo_u32, a * b)
B32(v_mul_lo_i32, a * b)
B32(v_mul_hi_u32, (u64)a * b >> 32)
B32(v_mul_hi_i32, (i64)sa * sb >> 32)
X_I32(v_mul_i32_i24, s24(a) * s24(b))
X_U32(v_mul_u32_u24, u24(a) * u24(b))
B32(v_mul_hi_i32_i24, s24(a) * s24(b) >> 32)
B32(v_mul_hi_u32_u24, u24(a) * u24(b) >> 32)
X_I32(v_mad_i32_i24, (i128)s24(a) * s24(b) + sc)
X_U32(v_mad_u32_u24, (i128)u24(a) * u24(b) + c)
X_U32(v_mad_u32_u16, (i128)ha * hb + c)
X_I32(v_mad_i32_i16, (i128)ka * kb + sc)
B16(v_mul_lo_u16, (u32)ha * hb)
X_U16_KEEP(v_mad_u16, (i128)ha * hb + hc)
X_I16_KEEP(v_mad_i16, (i128)ka * kb + kc)
X_U16(v_mad_legacy_u16, (i128)ha * hb + hc)
X_I16(v_mad_legacy_i16, (i128)ka * kb + kc)
OP(v_mad_u64_u32) { INTEGERS; u128 v = (u128)((u64)a * b) + C; put64(o, mode.clamp && v >> 64 ? UINT64_MAX : v); o->mask = v >> 64; }
OP(v_mad_i64_i32) {
    INTEGERS;
    i128 v = (i128)((i64)sa * sb) + SC;
    put64(o, mode.clamp ? saturated(v, INT64_MIN, INT64_MAX) : v);
    o->mask = v != (i64)v;
}

// Least, greatest, middle.
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
#define MIDDLE(x, y, z) MOST(LEAST(x, y), LEAST(MOST(x, y), z))
B32(v_min_i32, LEAST(sa, sb))
B32(v_max_i32, MOST(sa, sb))
B32(v_min_u32, LEAST(a, b))
B32(v_max_u32, MOST(a, b))
B32(v_min3_i32, LEAST(LEAST(sa, sb), sc))
B32(v_max3_i32, MOST(MOST(sa, sb), sc))
B32(v_med3_i32, MIDDLE(sa, sb, sc))
B32(v_min3_u32, LEAST(LEAST(a, b), c))
B32(v_max3_u32, MOST(MOST(a, b), c))
B32(v_med3_u32, MIDDLE(a, b, c))
B16(v_min_i16, LEAST(ka, kb))
B16(v_max_i16, MOST(ka, kb))
B16(v_min_u16, LEAST(ha, hb))
B16(v_max_u16, MOST(ha, hb))
X_I16_KEEP(v_min3_i16, LEAST(LEAST(ka, kb), kc))
X_I16_KEEP(v_max3_i16, MOST(MOST(ka, kb), kc))
X_I16_KEEP(v_med3_i16, MIDDLE(ka, kb, kc))
X_U16_KEEP(v_min3_u16, LEAST(LEAST(ha, hb), hc))
X_U16_KEEP(v_max3_u16, MOST(MOST(ha, hb), hc))
X_U16_KEEP(v_med3_u16, MIDDLE(ha, hb, hc))

// Fields, counts, bytes.
static u32 ones(u32 n) { return n >= 32 ? ~0u : (1u << n) - 1; }
B32(v_bfe_u32, (a >> (b & 31)) & ones(c & 31))
OP(v_bfe_i32) {
    INTEGERS;
    u32 width = c & 31, field = (a >> (b & 31)) & ones(width);
    // Beyond bit 31 there are copies of the sign.
    if ((b & 31) + width > 32) field = sa >> (b & 31);
    else if (width && field >> (width - 1)) field |= ~ones(width);
    o->d[0] = field;
}
B32(v_bfm_b32, ones(a & 31) << (b & 31))
B32(v_bfrev_b32, __builtin_bitreverse32(a))
B32(v_bcnt_u32_b32, __builtin_popcount(a) + b)
B32(v_mbcnt_lo_u32_b32, __builtin_popcount(a & ones(in->lane)) + b)
B32(v_mbcnt_hi_u32_b32, __builtin_popcount(a & (in->lane < 32 ? 0 : ones(in->lane - 32))) + b)
B32(v_ffbh_u32, a ? __builtin_clz(a) : ~0)
B32(v_ffbl_b32, a ? __builtin_ctz(a) : ~0)
B32(v_ffbh_i32, a == 0 || a == ~0u ? ~0 : __builtin_clrsb(sa) + 1)
B32(v_alignbit_b32, ((u64)a << 32 | b) >> (c & 31))
B32(v_alignbyte_b32, ((u64)a << 32 | b) >> 8 * (c & 3))
static u32 byte(u32 x, int at) { return x >> 8 * at & 255; }
static u32 away(u32 x, u32 y) { return x > y ? x - y : y - x; }
static u32 sad(u32 x, u32 y) { return away(byte(x, 0), byte(y, 0)) + away(byte(x, 1), byte(y, 1)) + away(byte(x, 2), byte(y, 2)) + away(byte(x, 3), byte(y, 3)); }
static u32 msad(u32 x, u32 y) {
    u32 sum = 0;
    for (int at = 0; at < 4; at++) sum += byte(y, at) ? away(byte(x, at), byte(y, at)) : 0;
    return sum;
}
X_U32(v_sad_u8, (i128)sad(a, b) + c)
X_U32(v_sad_hi_u8, ((i128)sad(a, b) << 16) + c)
X_U32(v_sad_u16, (i128)away(a & 65535, b & 65535) + away(a >> 16, b >> 16) + c)
X_U32(v_sad_u32, (i128)away(a, b) + c)
X_U32(v_msad_u8, (i128)msad(a, b) + c)
#define QUADS(name, sum) OP(name) {                                                    \
    INTEGERS;                                                                          \
    u64 all = 0;                                                                       \
    for (int at = 0; at < 4; at++) {                                                   \
        i128 v = (i128)sum(A >> 8 * at, b) + (u16)(C >> 16 * at);                      \
        all |= (u64)(u16)(mode.clamp ? saturated(v, 0, 65535) : v) << 16 * at;         \
    }                                                                                  \
    put64(o, all);                                                                     \
}
QUADS(v_qsad_pk_u16_u8, sad)
QUADS(v_mqsad_pk_u16_u8, msad)
OP(v_mqsad_u32_u8) {
    INTEGERS;
    u32 add[4];
    memcpy(add, in->c, 16);
    for (int at = 0; at < 4; at++) {
        i128 v = (i128)msad(A >> 8 * at, b) + add[at];
        o->d[at] = mode.clamp ? saturated(v, 0, UINT32_MAX) : v;
    }
}
OP(v_lerp_u8) {
    INTEGERS;
    u32 all = 0;
    for (int at = 0; at < 4; at++) all |= (byte(a, at) + byte(b, at) + (byte(c, at) & 1)) >> 1 << 8 * at;
    o->d[0] = all;
}
OP(v_perm_b32) {
    INTEGERS;
    u64 both = (u64)a << 32 | b;
    u32 all = 0;
    for (int at = 0; at < 4; at++) {
        u32 select = byte(c, at), value;
        if (select >= 13) value = 255;
        else if (select == 12) value = 0;
        else if (select >= 8) value = both >> (16 * (select - 8) + 15) & 1 ? 255 : 0;
        else value = both >> 8 * select & 255;
        all |= value << 8 * at;
    }
    o->d[0] = all;
}
B32(v_sat_pk_u8_i16, saturated(ka, 0, 255) | saturated((i16)(a >> 16), 0, 255) << 8)
B32(v_cvt_pk_u16_u32, LEAST(a, 65535u) | LEAST(b, 65535u) << 16)
B32(v_cvt_pk_i16_i32, (u16)saturated(sa, -32768, 32767) | (u32)(u16)saturated(sb, -32768, 32767) << 16)
