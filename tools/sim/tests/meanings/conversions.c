// Conversions.
#include "meaning.h"

// Cut off towards zero, saturated; NaN gives 0.
static i128 whole(double x, i128 low, i128 high) {
    if (isnan(x)) return 0;
    if (x <= (double)low) return low;
    if (x >= (double)high) return high;
    return (i128)x;
}
OP(v_cvt_i32_f32) { FLOATS; o->d[0] = whole(a, INT32_MIN, INT32_MAX); }
OP(v_cvt_u32_f32) { FLOATS; o->d[0] = whole(a, 0, UINT32_MAX); }
OP(v_cvt_i32_f64) { DOUBLES; o->d[0] = whole(a, INT32_MIN, INT32_MAX); }
OP(v_cvt_u32_f64) { DOUBLES; o->d[0] = whole(a, 0, UINT32_MAX); }
// Which integer a NaN gives the manuals do not say.
OP(v_cvt_rpi_i32_f32) { FLOATS; o->any = isnan(a); fesetround(FE_TONEAREST); o->d[0] = whole(floor((double)a + 0.5), INT32_MIN, INT32_MAX); }
OP(v_cvt_flr_i32_f32) { FLOATS; o->any = isnan(a); o->d[0] = whole(floor((double)a), INT32_MIN, INT32_MAX); }
OP(v_cvt_f32_i32) { FLOATS; put_f32(o, (float)(i32)in->a); }
OP(v_cvt_f32_u32) { FLOATS; put_f32(o, (float)(u32)in->a); }
OP(v_cvt_f64_i32) { put_f64(o, (i32)in->a); }
OP(v_cvt_f64_u32) { put_f64(o, (u32)in->a); }
OP(v_cvt_f32_ubyte0) { put_f32(o, in->a & 255); }
OP(v_cvt_f32_ubyte1) { put_f32(o, in->a >> 8 & 255); }
OP(v_cvt_f32_ubyte2) { put_f32(o, in->a >> 16 & 255); }
OP(v_cvt_f32_ubyte3) { put_f32(o, in->a >> 24 & 255); }
OP(v_cvt_off_f32_i4) { i32 x = in->a & 15; put_f32(o, (x >= 8 ? x - 16 : x) / 16.0f); }
OP(v_cvt_f64_f32) { FLOATS; put_f64(o, a); }
// Rounded as its result is.
OP(v_cvt_f32_f64) { DOUBLES; fesetround(rounding(mode.round32)); put_f32(o, (float)a); }

static u32 in16(u64 x) { return flush16(x & 0xffff, mode.in64); }
static u32 out16(u32 x) { return flush16(x, mode.out64); }
OP(v_cvt_f16_f32) { FLOATS; fesetround(FE_TONEAREST); put16(in, o, out16(half_of(a, mode.round64))); }
OP(v_cvt_f32_f16) { put_f32(o, half_value(in16(in->a))); }
OP(v_cvt_f16_u16) { put16(in, o, half_of((u16)in->a, mode.round64)); }
OP(v_cvt_f16_i16) { put16(in, o, half_of((i16)in->a, mode.round64)); }
OP(v_cvt_u16_f16) { put16(in, o, whole(half_value(in16(in->a)), 0, 65535)); }
OP(v_cvt_i16_f16) { put16(in, o, whole(half_value(in16(in->a)), -32768, 32767)); }
OP(v_cvt_pkrtz_f16_f32) { FLOATS; fesetround(FE_TONEAREST); o->d[0] = out16(half_of(a, 3)) | out16(half_of(b, 3)) << 16; }

// Normalised integers, rounded to the nearest even.
static u32 norm(double x, double scale, int is_signed) {
    fesetround(FE_TONEAREST);
    if (isnan(x)) return 0;
    double low = is_signed ? -1 : 0;
    return (u16)(i32)nearbyint((x < low ? low : x > 1 ? 1 : x) * scale);
}
OP(v_cvt_pknorm_i16_f32) { FLOATS; o->d[0] = norm(a, 32767, 1) | norm(b, 32767, 1) << 16; }
OP(v_cvt_pknorm_u16_f32) { FLOATS; o->d[0] = norm(a, 65535, 0) | norm(b, 65535, 0) << 16; }
OP(v_cvt_pknorm_i16_f16) { o->d[0] = norm(half_value(in16(in->a)), 32767, 1) | norm(half_value(in16(in->b)), 32767, 1) << 16; }
OP(v_cvt_pknorm_u16_f16) { o->d[0] = norm(half_value(in16(in->a)), 65535, 0) | norm(half_value(in16(in->b)), 65535, 0) << 16; }
OP(v_cvt_norm_i16_f16) { put16(in, o, norm(half_value(in16(in->a)), 32767, 1)); }
OP(v_cvt_norm_u16_f16) { put16(in, o, norm(half_value(in16(in->a)), 65535, 0)); }
// Into byte `to` of `rest`.
static u32 byte_into(float x, u32 to, u32 rest) {
    fesetround(rounding(mode.round32));
    u32 v = isnan(x) || x <= 0 ? 0 : x >= 255 ? 255 : (u32)nearbyintf(x);
    u32 shift = 8 * (to & 3);
    return (rest & ~(255u << shift)) | v << shift;
}
OP(v_cvt_pk_u8_f32) { FLOATS; o->d[0] = byte_into(a, in->b, in->c[0]); }
OP(v_cvt_pkaccum_u8_f32) { FLOATS; o->d[0] = byte_into(a, in->b, in->d[0]); }
