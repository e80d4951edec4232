// Vector instructions on f64.
#include "meaning.h"

F64(v_add_f64, a + b)
F64(v_mul_f64, a * b)
F64(v_fma_f64, fma(a, b, c))
F64(v_fmac_f64, fma(a, b, d))
static double least(double a, double b) {
    if (mode.ieee && (is_snan64(bits_of_double(a)) || is_snan64(bits_of_double(b)))) return NAN;
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    if (a == b) return signbit(a) ? a : b;
    return a < b ? a : b;
}
static double most(double a, double b) {
    if (mode.ieee && (is_snan64(bits_of_double(a)) || is_snan64(bits_of_double(b)))) return NAN;
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}
// Before GFX9 they do not look at the denormal mode.
#define CHOICE(name, x) OP(name) { if (mode.gen < 9) mode.in64 = mode.out64 = 1; DOUBLES; put_f64(o, (x)); }
CHOICE(v_min_f64, least(a, b))
CHOICE(v_max_f64, most(a, b))
F64(v_trunc_f64, trunc(a))
F64(v_ceil_f64, ceil(a))
F64(v_floor_f64, floor(a))
OP(v_rndne_f64) { DOUBLES; fesetround(FE_TONEAREST); put_f64(o, nearbyint(a)); }
OP(v_fract_f64) {
    DOUBLES;
    if (isinf(a)) { o->any = 1; return; }
    fesetround(FE_TONEAREST);
    double x = a - floor(a);
    // With other roundings only what is exact is asked for.
    o->any = mode.round64 && a < 0 && a > -1;
    put_f64(o, x > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : x);
}
OP(v_frexp_mant_f64) { DOUBLES; int e; put_f64(o, isfinite(a) ? frexp(a, &e) : a); }
OP(v_frexp_exp_i32_f64) { DOUBLES; int e = 0; o->any = mode.gen == 6 && !isfinite(a); if (isfinite(a)) frexp(a, &e); o->d[0] = e; }
OP(v_ldexp_f64) {
    DOUBLES;
    i32 by = in->b;
    put_f64(o, scalbn(a, by > 5000 ? 5000 : by < -5000 ? -5000 : by));
}

static int exponent64(double x) { return bits_of_double(x) >> 52 & 2047; }
static int tiny64(long double x) { return x != 0 && fabsl(x) < 0x1p-1022L; }
OP(v_div_scale_f64) {
    DOUBLES;
    double n = c, den = b, x = a;
    u32 vcc = 0;
    int gap = exponent64(n) - exponent64(den);
    if (n == 0 || den == 0) x = NAN;
    else if (gap >= 768) { vcc = 1; if (a == den) x = ldexp(a, 128); }
    else if (tiny64(den)) x = ldexp(a, 128);
    else if (tiny64(1.0L / den) && tiny64((long double)n / den)) { vcc = 1; if (a == den) x = ldexp(a, -128); }
    else if (tiny64(1.0L / den)) x = ldexp(a, -128);
    else if (tiny64((long double)n / den)) { vcc = 1; if (a == n) x = ldexp(a, 128); }
    else if (exponent64(n) <= 53) x = ldexp(a, 128);
    o->any = !isfinite(a) || !isfinite(b) || !isfinite(c) || (in->a != in->b && in->a != in->c[0]);
    if (n != 0 && fabsl((long double)n / den) < 0x1p-1074L) o->any = 1;
    o->mask = vcc;
    put_f64(o, x);
}
OP(v_div_fmas_f64) {
    DOUBLES;
    double x = fma(a, b, c), scaled = exponent64(c) > 1023 ? x * 0x1p128 : x * 0x1p-128;
    o->any = in->carry && (tiny64(x) || tiny64(scaled) || (x != 0 && scaled == 0) || !(fabs(x) < 0x1.fffffffffffffp1023));
    put_f64(o, in->carry ? scaled : x);
}
OP(v_div_fixup_f64) {
    DOUBLES;
    int negative = signbit(b) ^ signbit(c), gap = exponent64(c) - exponent64(b);
    double x = fabs(a);
    if (isnan(c) || isnan(b) || (b == 0 && c == 0) || (isinf(b) && isinf(c))) { put_f64(o, NAN); return; }
    if (b == 0 || isinf(c)) x = INFINITY;
    else if (isinf(b) || c == 0) x = 0;
    else o->any = gap < -1075 || gap > 1023 || exponent64(b) == 2046 || isnan(a);
    put_f64(o, negative ? -x : x);
}

// Seeds of Newton's method: good to 2^-23.
#define NEAR(name, x) OP(name) { DOUBLES; fesetround(FE_TONEAREST); double v = (x); o->ulp = 1 << 29; o->any = tiny64(a) || tiny64(v) || (mode.round64 && fabs(v) > 0x1p1023); put_f64(o, v); }
static double finite_or(double x, double y) { return isinf(x) ? copysign(y, x) : x; }
NEAR(v_rcp_f64, 1 / a)
NEAR(v_sqrt_f64, sqrt(a))
NEAR(v_rsq_f64, 1 / sqrt(a))
NEAR(v_rcp_clamp_f64, finite_or(1 / a, 0x1.fffffffffffffp1023))
NEAR(v_rsq_clamp_f64, finite_or(1 / sqrt(a), 0x1.fffffffffffffp1023))

// The bits of 2/pi by Machin's formula: pi = 16 atan(1/5) - 4 atan(1/239), in 1280 + 64 binary places.
enum { LIMBS = 44 };
typedef struct { u32 limb[LIMBS]; } Big; // limb[0] is the integer, the others are places
static u32 big_div(Big *x, u32 by) {
    u64 rest = 0;
    for (int at = 0; at < LIMBS; at++) { u64 v = rest << 32 | x->limb[at]; x->limb[at] = v / by; rest = v % by; }
    return rest;
}
static int big_is_zero(const Big *x) { for (int at = 0; at < LIMBS; at++) if (x->limb[at]) return 0; return 1; }
static void big_add(Big *x, const Big *y) { u64 up = 0; for (int at = LIMBS - 1; at >= 0; at--) { up += (u64)x->limb[at] + y->limb[at]; x->limb[at] = up; up >>= 32; } }
static void big_sub(Big *x, const Big *y) { i64 up = 0; for (int at = LIMBS - 1; at >= 0; at--) { up += (i64)x->limb[at] - y->limb[at]; x->limb[at] = up; up >>= 32; } }
static int big_less(const Big *x, const Big *y) { for (int at = 0; at < LIMBS; at++) if (x->limb[at] != y->limb[at]) return x->limb[at] < y->limb[at]; return 0; }
static Big arctangent(u32 factor, u32 of) {
    Big power = {{factor}}, sum;
    big_div(&power, of);
    sum = power;
    for (u32 k = 3, minus = 1; !big_is_zero(&power); k += 2, minus = !minus) {
        big_div(&power, of * of);
        Big term = power;
        big_div(&term, k);
        if (minus) big_sub(&sum, &term); else big_add(&sum, &term);
    }
    return sum;
}
static u8 two_over_pi[1300]; // bit k has the weight 2^-(k+1)
static void find_two_over_pi(void) {
    static int done;
    if (done) return;
    done = 1;
    Big pi = arctangent(16, 5), less = arctangent(4, 239), rest = {{2}};
    big_sub(&pi, &less);
    for (int at = 0; at < 1300; at++) {
        big_add(&rest, &rest);
        two_over_pi[at] = !big_less(&rest, &pi);
        if (two_over_pi[at]) big_sub(&rest, &pi);
    }
}
OP(v_trig_preop_f64) {
    find_two_over_pi();
    int e = in->a >> 52 & 2047, shift = (in->b & 31) * 53;
    if (e > 1077) shift += e - 1077;
    // 1201 binary places are stored; behind them are zeros.
    u64 bits = 0;
    for (int at = 0; at < 53; at++) bits = bits << 1 | (shift + at < 1201 ? two_over_pi[shift + at] : 0);
    int scale = -53 - shift + (e >= 1968 ? 128 : 0);
    fesetround(FE_TONEAREST);
    // The manuals look at the exponent only; LLVM folds a NaN to itself.
    o->any = isnan(double_of(in->a));
    put_f64(o, ldexp((double)bits, scale));
}
