// Vector instructions on f16, computed exactly as multiples of a power of two and rounded once.
#include "meaning.h"

static u32 in16(u64 x) { return flush16(x & 0xffff, mode.in64); }
static u32 out16(u32 x) { return flush16(x, mode.out64); }
static int is_special(u32 x) { return (x & 0x7c00) == 0x7c00; }
// As a multiple of 2^-24.
static i128 places(u32 x) { return (i128)(half_value(x) * 0x1p24); }
static u16 finish(i128 sum, int e, int zero_sign) {
    if (!sum) return zero_sign ? 0x8000 : 0;
    return half_round(sum < 0, sum < 0 ? -sum : sum, e, mode.round64);
}
// Sign of a sum that is zero, of two terms with these signs.
static int zero_sign(int x, int y) { return x == y ? x : mode.round64 == 2; }
static u16 add(u32 a, u32 b) {
    if (is_special(a) || is_special(b)) return half_of(half_value(a) + half_value(b), 0);
    return finish(places(a) + places(b), -24, zero_sign(a >> 15, b >> 15));
}
static u16 mul(u32 a, u32 b) {
    if (is_special(a) || is_special(b)) return half_of(half_value(a) * half_value(b), 0);
    return finish(places(a) * places(b), -48, (a ^ b) >> 15 & 1);
}
static u16 fused(u32 a, u32 b, u32 c) {
    if (is_special(a) || is_special(b) || is_special(c)) return half_of(half_value(a) * half_value(b) + half_value(c), 0);
    return finish(places(a) * places(b) + places(c) * ((i128)1 << 24), -48, zero_sign((a ^ b) >> 15 & 1, c >> 15));
}
// MAD and MAC round the product and know no denormals, whatever MODE says.
static u16 mad(u32 a, u32 b, u32 c) { return flush16(add(flush16(mul(flush16(a, 0), flush16(b, 0)), 0), flush16(c, 0)), 0); }
static int is_nan(u32 x) { return is_special(x) && (x & 0x3ff); }
static u16 least(u32 a, u32 b) {
    if (mode.ieee && (is_snan16(a) || is_snan16(b))) return 0x7e00;
    if (is_nan(a) || is_nan(b)) return is_nan(a) ? b : a;
    double x = half_value(a), y = half_value(b);
    if (x == y) return a >> 15 ? a : b;
    return x < y ? a : b;
}
static u16 most(u32 a, u32 b) {
    if (mode.ieee && (is_snan16(a) || is_snan16(b))) return 0x7e00;
    if (is_nan(a) || is_nan(b)) return is_nan(a) ? b : a;
    double x = half_value(a), y = half_value(b);
    if (x == y) return a >> 15 ? b : a;
    return x > y ? a : b;
}
static u16 middle(u32 a, u32 b, u32 c) {
    if (is_nan(a) || is_nan(b) || is_nan(c)) return least(least(a, b), c);
    return most(least(a, b), least(most(a, b), c));
}

#define HALVES u32 a = in16(in->a), b = in16(in->b), c = in16(in->c[0]), d = in16(in->d[0]); (void)a, (void)b, (void)c, (void)d
#define F16(name, x) OP(name) { HALVES; put16(in, o, out16(x)); }
#define F16_KEEP(name, x) OP(name) { HALVES; put16_keep(in, o, out16(x)); }
F16(v_add_f16, add(a, b))
F16(v_sub_f16, add(a, b ^ 0x8000))
F16(v_subrev_f16, add(b, a ^ 0x8000))
F16(v_mul_f16, mul(a, b))
F16_KEEP(v_mac_f16, mad(a, b, d))
F16_KEEP(v_madmk_f16, mad(a, b, c))
F16_KEEP(v_madak_f16, mad(a, b, c))
F16(v_mad_legacy_f16, mad(a, b, c))
F16_KEEP(v_mad_f16, mad(a, b, c))
F16(v_fmac_f16, fused(a, b, d))
F16(v_fmamk_f16, fused(a, b, c))
F16(v_fmaak_f16, fused(a, b, c))
F16(v_fma_legacy_f16, fused(a, b, c))
F16_KEEP(v_fma_f16, fused(a, b, c))
// Before GFX9 they do not look at the denormal mode.
#define CHOICE(name, x) OP(name) { if (mode.gen < 9) mode.in64 = mode.out64 = 1; HALVES; put16(in, o, out16(x)); }
CHOICE(v_min_f16, least(a, b))
CHOICE(v_max_f16, most(a, b))
F16_KEEP(v_min3_f16, least(least(a, b), c))
F16_KEEP(v_max3_f16, most(most(a, b), c))
F16_KEEP(v_med3_f16, middle(a, b, c))
#define ROUND(name, x) OP(name) { HALVES; double v = half_value(a); put16(in, o, is_special(a) ? (is_nan(a) ? 0x7e00 : a) : half_of(x, 0)); }
ROUND(v_trunc_f16, trunc(v))
ROUND(v_ceil_f16, ceil(v))
ROUND(v_floor_f16, floor(v))
ROUND(v_rndne_f16, nearbyint(v))
OP(v_fract_f16) {
    HALVES;
    double v = half_value(a), x = v - floor(v);
    o->any = isinf(v) || (mode.round64 && v < 0 && v > -1);
    u32 bits = half_of(x, 0);
    put16(in, o, out16(x >= 0 && bits > 0x3bff && !is_special(bits) ? 0x3bff : bits));
}
OP(v_frexp_mant_f16) { HALVES; int e; put16(in, o, is_special(a) ? a : half_of(frexp(half_value(a), &e), 0)); }
OP(v_frexp_exp_i16_f16) { HALVES; int e = 0; if (!is_special(a)) frexp(half_value(a), &e); put16(in, o, e); }
OP(v_ldexp_f16) {
    HALVES;
    i16 by = in->b;
    put16(in, o, out16(half_of(ldexp(half_value(a), by > 200 ? 200 : by < -200 ? -200 : by), mode.round64)));
}
#define FIXUP(name, put)                                                               \
    OP(name) {                                                                         \
        HALVES;                                                                        \
        double x = fabs(half_value(a)), y = half_value(b), z = half_value(c);          \
        int negative = (b ^ c) >> 15 & 1;                                              \
        o->any = isnan(x);                                                             \
        if (isnan(y) || isnan(z) || (y == 0 && z == 0) || (isinf(y) && isinf(z))) { put(in, o, 0x7e00); return; } \
        if (y == 0 || isinf(z)) x = INFINITY;                                          \
        else if (isinf(y) || z == 0) x = 0;                                            \
        put(in, o, out16(half_of(negative ? -x : x, 0)));                              \
    }
FIXUP(v_div_fixup_f16, put16_keep)
FIXUP(v_div_fixup_legacy_f16, put16)

#define NEAR(name, x)                                                                  \
    OP(name) {                                                                         \
        HALVES;                                                                        \
        double v = half_value(a), r = (x);                                             \
        o->ulp = 1;                                                                    \
        o->any = mode.round64 && fabs(r) > 65000;                                      \
        put16(in, o, out16(half_of(r, 0)));                                            \
    }
NEAR(v_rcp_f16, 1 / v)
NEAR(v_sqrt_f16, sqrt(v))
NEAR(v_rsq_f16, 1 / sqrt(v))
NEAR(v_exp_f16, exp2(v))
NEAR(v_log_f16, log2(v))
#define TURNS(name, function) OP(name) { HALVES; double v = half_value(a), turn = v - rint(v); o->any = fabs(v) > 256; o->near = 0x1p-10f; put16(in, o, out16(half_of(function(turn * 0x1.921fb54442d18p2), 0))); }
TURNS(v_sin_f16, sin)
TURNS(v_cos_f16, cos)

#define PACKED(name, x)                                                                \
    OP(name) {                                                                         \
        u32 all = 0;                                                                   \
        for (int at = 0; at < 32; at += 16) {                                          \
            u32 a = in16(in->a >> at), b = in16(in->b >> at), c = in16(in->c[0] >> at), d = in16(in->d[0] >> at); \
            (void)c, (void)d;                                                          \
            all |= out16(x) << at;                                                     \
        }                                                                              \
        o->d[0] = all;                                                                 \
    }
PACKED(v_pk_add_f16, add(a, b))
PACKED(v_pk_mul_f16, mul(a, b))
PACKED(v_pk_fma_f16, fused(a, b, c))
PACKED(v_pk_fmac_f16, fused(a, b, d))
PACKED(v_pk_min_f16, least(a, b))
PACKED(v_pk_max_f16, most(a, b))
OP(v_pack_b32_f16) { o->d[0] = in16(in->a) | in16(in->b) << 16; }
