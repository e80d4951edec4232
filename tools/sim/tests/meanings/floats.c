// Vector instructions on f32.
#include "meaning.h"

F32(v_add_f32, a + b)
F32(v_sub_f32, a - b)
F32(v_subrev_f32, b - a)
F32(v_mul_f32, a * b)
F32(v_fma_f32, fmaf(a, b, c))
F32(v_fmac_f32, fmaf(a, b, d))
F32(v_fmamk_f32, fmaf(a, b, c))
F32(v_fmaak_f32, fmaf(a, b, c))
// Legacy rules: zero times anything is zero.
static float legacy(float a, float b) { return a == 0 || b == 0 ? 0 : a * b; }
F32(v_mul_legacy_f32, legacy(a, b))
F32(v_fma_legacy_f32, a == 0 || b == 0 ? 0 + c : fmaf(a, b, c))
F32(v_fmac_legacy_f32, a == 0 || b == 0 ? 0 + d : fmaf(a, b, d))
// MAD and MAC round the product and know no denormals, whatever MODE says.
static float keep_none(float x) { return float_of(flush32(bits_of(x), 0)); }
static float mad(float a, float b, float c) { return keep_none(keep_none(keep_none(a) * keep_none(b)) + keep_none(c)); }
static float mad_legacy(float a, float b, float c) { return keep_none(keep_none(legacy(keep_none(a), keep_none(b))) + keep_none(c)); }
F32(v_mad_f32, mad(a, b, c))
F32(v_mac_f32, mad(a, b, d))
F32(v_madmk_f32, mad(a, b, c))
F32(v_madak_f32, mad(a, b, c))
F32(v_mad_legacy_f32, mad_legacy(a, b, c))
F32(v_mac_legacy_f32, mad_legacy(a, b, d))
OP(v_mullit_f32) {
    FLOATS;
    int low = b == -0x1.fffffep127f || b == -INFINITY || isnan(b) || !(c > 0);
    put_f32(o, low ? -0x1.fffffep127f : legacy(a, b));
}

// In IEEE mode a signalling NaN becomes quiet; otherwise the number wins. -0 is less than +0.
static float least(float a, float b) {
    if (mode.ieee && (is_snan32(bits_of(a)) || is_snan32(bits_of(b)))) return NAN;
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    if (a == b) return signbit(a) ? a : b;
    return a < b ? a : b;
}
static float most(float a, float b) {
    if (mode.ieee && (is_snan32(bits_of(a)) || is_snan32(bits_of(b)))) return NAN;
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}
static float middle(float a, float b, float c) {
    if (isnan(a) || isnan(b) || isnan(c)) return least(least(a, b), c);
    return most(least(a, b), least(most(a, b), c));
}
// Before GFX9 they do not look at the denormal mode.
#define CHOICE(name, x)                                                                \
    OP(name) {                                                                         \
        if (mode.gen < 9) mode.in32 = mode.out32 = 1;                                  \
        FLOATS;                                                                        \
        put_f32(o, (x));                                                               \
    }
CHOICE(v_min_f32, least(a, b))
CHOICE(v_max_f32, most(a, b))
CHOICE(v_min3_f32, least(least(a, b), c))
CHOICE(v_max3_f32, most(most(a, b), c))
CHOICE(v_med3_f32, middle(a, b, c))
CHOICE(v_min_legacy_f32, a < b ? a : b)
CHOICE(v_max_legacy_f32, a >= b ? a : b)

F32(v_trunc_f32, truncf(a))
F32(v_ceil_f32, ceilf(a))
F32(v_floor_f32, floorf(a))
OP(v_rndne_f32) { FLOATS; fesetround(FE_TONEAREST); put_f32(o, nearbyintf(a)); }
OP(v_fract_f32) {
    FLOATS;
    if (isinf(a)) { o->any = 1; return; }
    fesetround(FE_TONEAREST);
    float x = a - floorf(a);
    if (mode.round32) o->any = (double)a - floor(a) != x;
    put_f32(o, x > 0x1.fffffep-1f ? 0x1.fffffep-1f : x);
}
OP(v_frexp_mant_f32) { FLOATS; int e; put_f32(o, isinf(a) || isnan(a) ? a : frexpf(a, &e)); }
// GFX6 gives something else for infinities and NaN: its manual and compilers that work around it disagree on what.
OP(v_frexp_exp_i32_f32) { FLOATS; int e = 0; o->any = mode.gen == 6 && !isfinite(a); if (isfinite(a)) frexpf(a, &e); o->d[0] = e; }
OP(v_ldexp_f32) {
    FLOATS;
    i32 by = in->b;
    // In double precision nothing is lost before the one rounding.
    put_f32(o, (float)ldexp((double)a, by > 600 ? 600 : by < -600 ? -600 : by));
}

// Faces of a cube.
#define CUBE(name, onz, ony, onx)                                                      \
    OP(name) {                                                                         \
        FLOATS;                                                                        \
        float x = a, y = b, z = c, ax = fabsf(x), ay = fabsf(y), az = fabsf(z);        \
        if (isnan(x) || isnan(y) || isnan(z) || (mode.round32 && fmaxf(ax, fmaxf(ay, az)) > 0x1p126f)) o->any = 1;                              \
        put_f32(o, az >= ax && az >= ay ? (onz) : ay >= ax ? (ony) : (onx));           \
    }
CUBE(v_cubeid_f32, z < 0 ? 5 : 4, y < 0 ? 3 : 2, x < 0 ? 1 : 0)
CUBE(v_cubema_f32, 2 * z, 2 * y, 2 * x)
CUBE(v_cubesc_f32, z < 0 ? -x : x, x, x < 0 ? z : -z)
CUBE(v_cubetc_f32, -y, y < 0 ? -z : z, -y)

// Division: scaling, its undoing, and the special cases.
static int exponent32(float x) { return bits_of(x) >> 23 & 255; }
static int tiny32(double x) { return x != 0 && fabs(x) < 0x1p-126; }
// Where both 1/d and n/d are denormals the manuals multiply d by 2^64, which overflows and which v_div_fmas could not undo:
// it has to be 2^-64.
OP(v_div_scale_f32) {
    FLOATS;
    float n = c, den = b, x = a;
    u32 vcc = 0;
    int gap = exponent32(n) - exponent32(den);
    if (n == 0 || den == 0) x = NAN;
    else if (gap >= 96) { vcc = 1; if (a == den) x = ldexpf(a, 64); }
    else if (tiny32(den)) x = ldexpf(a, 64);
    else if (tiny32(1.0 / den) && tiny32((double)n / den)) { vcc = 1; if (a == den) x = ldexpf(a, -64); }
    else if (tiny32(1.0 / den)) x = ldexpf(a, -64);
    else if (tiny32((double)n / den)) { vcc = 1; if (a == n) x = ldexpf(a, 64); }
    else if (exponent32(n) <= 23) x = ldexpf(a, 64);
    // Only these calls mean anything; the results of NaN and infinity are mended afterwards.
    o->any = !isfinite(a) || !isfinite(b) || !isfinite(c) || (bits_of(a) != bits_of(b) && bits_of(a) != bits_of(c));
    // Whether a quotient that is lost altogether counts as a denormal.
    if (n != 0 && fabs((double)n / den) < 0x1p-149) o->any = 1;
    o->mask = vcc;
    put_f32(o, x);
}
// The first manuals say 2^32; what undoes v_div_scale is what the later ones say. A result that is a denormal is rounded once
// there, and twice here.
OP(v_div_fmas_f32) {
    FLOATS;
    float x = fmaf(a, b, c), scaled = exponent32(c) > 127 ? x * 0x1p64f : x * 0x1p-64f;
    o->any = in->carry && (tiny32(x) || tiny32(scaled) || (x != 0 && scaled == 0) || !(fabsf(x) < 0x1.fffffep127f));
    put_f32(o, in->carry ? scaled : x);
}
OP(v_div_fixup_f32) {
    FLOATS;
    int negative = signbit(b) ^ signbit(c), gap = exponent32(c) - exponent32(b);
    float x = fabsf(a);
    if (isnan(c) || isnan(b) || (b == 0 && c == 0) || (isinf(b) && isinf(c))) { put_f32(o, NAN); return; }
    if (b == 0 || isinf(c)) x = INFINITY;
    else if (isinf(b) || c == 0) x = 0;
    else o->any = gap < -150 || gap > 127 || exponent32(b) == 254 || isnan(a);
    put_f32(o, negative ? -x : x);
}

// Approximations: rounded from double precision, with a bound. Denormals are not asked for.
#define NEAR(name, ulps, x)                                                            \
    OP(name) {                                                                         \
        FLOATS;                                                                        \
        fesetround(FE_TONEAREST);                                                      \
        double v = (x);                                                                \
        o->ulp = ulps;                                                                 \
        o->any = tiny32(a) || tiny32(v) || (mode.round32 && fabs(v) > 0x1p127);         \
        put_f32(o, v);                                                                 \
    }
static double finite_or(double x, double y) { return isinf(x) ? copysign(y, x) : x; }
NEAR(v_rcp_f32, 1, 1.0 / a)
NEAR(v_rcp_iflag_f32, 1, 1.0 / a)
NEAR(v_rcp_legacy_f32, 1, a == 0 ? copysign(0.0, a) : 1.0 / a)
NEAR(v_rcp_clamp_f32, 1, finite_or(1.0 / a, 0x1.fffffep127))
NEAR(v_sqrt_f32, 1, sqrt(a))
NEAR(v_rsq_f32, 1, 1.0 / sqrt(a))
NEAR(v_rsq_legacy_f32, 1, a == 0 ? 0.0 : 1.0 / sqrt(a))
NEAR(v_rsq_clamp_f32, 1, finite_or(1.0 / sqrt(a), 0x1.fffffep127))
NEAR(v_exp_f32, 1, exp2(a))
NEAR(v_exp_legacy_f32, 1, exp2(a))
NEAR(v_log_f32, 1, log2(a))
NEAR(v_log_legacy_f32, 1, log2(a))
NEAR(v_log_clamp_f32, 1, a == 0 ? -0x1.fffffep127 : log2(a))
#define TURNS(name, function)                                                          \
    OP(name) {                                                                         \
        FLOATS;                                                                        \
        fesetround(FE_TONEAREST);                                                      \
        double turn = a - rint(a);                                                     \
        o->any = fabsf(a) > 256 || tiny32(a);                                          \
        o->near = 0x1p-20f;                                                            \
        put_f32(o, function(turn * 0x1.921fb54442d18p2));                              \
    }
TURNS(v_sin_f32, sin)
TURNS(v_cos_f32, cos)

// Mixed precision with plain f32 sources. The manuals do not say whether the f16 result is rounded twice.
static void mix_low(const In *in, Out *o, float x) { fesetround(FE_TONEAREST); o->ulp = 1; o->d[0] = (in->d[0] & 0xffff0000) | flush16(half_of(x, mode.round64), mode.out64); }
static void mix_high(const In *in, Out *o, float x) { fesetround(FE_TONEAREST); o->ulp = 1; o->d[0] = (in->d[0] & 0xffff) | flush16(half_of(x, mode.round64), mode.out64) << 16; }
F32(v_mad_mix_f32, mad(a, b, c))
F32(v_fma_mix_f32, fmaf(a, b, c))
OP(v_mad_mixlo_f16) { FLOATS; mix_low(in, o, mad(a, b, c)); }
OP(v_fma_mixlo_f16) { FLOATS; mix_low(in, o, fmaf(a, b, c)); }
OP(v_mad_mixhi_f16) { FLOATS; mix_high(in, o, mad(a, b, c)); }
OP(v_fma_mixhi_f16) { FLOATS; mix_high(in, o, fmaf(a, b, c)); }

// The sum is exact here; an ulp of the largest partial sum is allowed.
// `raw` has the bits of `c` before denormals are flushed.
static void dot2(const In *in, Out *o, float c, u32 raw) {
    double x = half_value(flush16(in->a, mode.in64)) * half_value(flush16(in->b, mode.in64));
    double y = half_value(flush16(in->a >> 16, mode.in64)) * half_value(flush16(in->b >> 16, mode.in64));
    double largest = fmax(fmax(fabs(x), fabs(y)), fabs((double)c));
    largest = fmax(largest, fmax(fmax(fabs(x + y), fabs(x + c)), fmax(fabs(y + c), fabs(x + y + c))));
    o->near = isfinite(largest) ? largest * 0x1p-23 : 0;
    // The manuals do not say whether the instruction flushes denormals.
    int is_any = (raw & 0x7fffffff) != 0 && (raw & 0x7f800000) == 0;
    int tiny = 0;
    for (int at = 0; at < 32; at += 16) tiny |= !flush16(in->a >> at & 0x7fff, 0) || !flush16(in->b >> at & 0x7fff, 0);
    o->any = is_any || (tiny && !mode.in64) || largest > 0x1p126;
    put_f32(o, x + y + c);
}
OP(v_dot2_f32_f16) { FLOATS; dot2(in, o, c, (u32)in->c[0]); }
OP(v_dot2c_f32_f16) { FLOATS; dot2(in, o, d, (u32)in->d[0]); }
