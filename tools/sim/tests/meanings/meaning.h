// What the instructions of the ISA manuals mean, as plain C for the host: the emulator is compared with what clang makes
// of this. Nothing here is taken from the emulator.
#pragma once
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef __int128 i128;
typedef unsigned __int128 u128;

// One lane before: sources, old destination, the bit of VCC (or SCC), its number.
typedef struct {
    u64 a, b, c[2], d[2];
    u32 carry, lane, unused[2];
} In;

// One lane after: destination, the bit of a mask (or SCC). `any`: the manual leaves this case open. `ulp`: how far an
// approximation may be off; `near`: the same as an absolute error.
typedef struct {
    u32 d[4], mask, any, ulp;
    float near;
} Out;

typedef void Meaning(const In *, Out *);
void add_meaning(const char *name, Meaning *meaning);

// What the MODE register says and which generation it is; IN and OUT: denormals are kept.
extern struct Mode {
    u32 round32, round64, in32, out32, in64, out64, ieee, dx10, clamp, overflow, gen;
} mode;

#define OP(name)                                                                       \
    static void f_##name(const In *, Out *);                                           \
    __attribute__((constructor)) static void r_##name(void) { add_meaning(#name, f_##name); } \
    static void f_##name(const In *in, Out *o)

// Sources as unsigned and signed integers of 32, 64 and 16 bits.
#define INTEGERS                                                                       \
    u32 a = in->a, b = in->b, c = in->c[0], d = in->d[0];                              \
    i32 sa = a, sb = b, sc = c, sd = d;                                                \
    u64 A = in->a, B = in->b, C = in->c[0], D = in->d[0];                              \
    i64 SA = A, SB = B, SC = C;                                                        \
    u16 ha = a, hb = b, hc = c;                                                        \
    i16 ka = a, kb = b, kc = c;                                                        \
    u32 carry = in->carry, gen = mode.gen;                                             \
    (void)a, (void)b, (void)c, (void)d, (void)sa, (void)sb, (void)sc, (void)sd, (void)A, (void)B, (void)C, (void)D; \
    (void)SA, (void)SB, (void)SC, (void)ha, (void)hb, (void)hc, (void)ka, (void)kb, (void)kc, (void)carry, (void)gen

static inline i128 saturated(i128 x, i128 low, i128 high) { return x < low ? low : x > high ? high : x; }
static inline void put64(Out *o, u64 x) { o->d[0] = x, o->d[1] = x >> 32; }
// 16-bit results of GFX8 and GFX9 clear the upper half of the register; GFX10 keeps it.
static inline void put16(const In *in, Out *o, u16 x) { o->d[0] = mode.gen >= 10 ? (in->d[0] & 0xffff0000) | x : x; }
// Instructions with op_sel keep it on GFX9 too.
static inline void put16_keep(const In *in, Out *o, u16 x) { o->d[0] = mode.gen >= 9 ? (in->d[0] & 0xffff0000) | x : x; }

// A result of 32 bits; of 64; an exact value that is cut off or, with clamp, saturated.
#define B32(name, x) OP(name) { INTEGERS; o->d[0] = (x); }
#define B64(name, x) OP(name) { INTEGERS; put64(o, (x)); }
#define B16(name, x) OP(name) { INTEGERS; put16(in, o, (x)); }
#define X_U32(name, x) OP(name) { INTEGERS; i128 v = (x); o->d[0] = mode.clamp ? saturated(v, 0, UINT32_MAX) : v; }
#define X_I32(name, x) OP(name) { INTEGERS; i128 v = (x); o->d[0] = mode.clamp ? saturated(v, INT32_MIN, INT32_MAX) : v; }
#define X_U16(name, x) OP(name) { INTEGERS; i128 v = (x); put16(in, o, mode.clamp ? saturated(v, 0, 65535) : v); }
#define X_I16(name, x) OP(name) { INTEGERS; i128 v = (x); put16(in, o, mode.clamp ? saturated(v, -32768, 32767) : v); }
#define X_U16_KEEP(name, x) OP(name) { INTEGERS; i128 v = (x); put16_keep(in, o, mode.clamp ? saturated(v, 0, 65535) : v); }
#define X_I16_KEEP(name, x) OP(name) { INTEGERS; i128 v = (x); put16_keep(in, o, mode.clamp ? saturated(v, -32768, 32767) : v); }

static inline float float_of(u32 x) { float f; memcpy(&f, &x, 4); return f; }
static inline double double_of(u64 x) { double f; memcpy(&f, &x, 8); return f; }
static inline u32 bits_of(float f) { u32 x; memcpy(&x, &f, 4); return x; }
static inline u64 bits_of_double(double f) { u64 x; memcpy(&x, &f, 8); return x; }
static inline u32 flush32(u32 x, u32 keep) { return !keep && !(x & 0x7f800000) ? x & 0x80000000 : x; }
static inline u64 flush64(u64 x, u32 keep) { return !keep && !(x & 0x7ff0000000000000) ? x & 0x8000000000000000 : x; }
static inline u32 flush16(u32 x, u32 keep) { return !keep && !(x & 0x7c00) ? x & 0x8000 : x; }
static inline float in32(u64 x) { return float_of(flush32(x, mode.in32)); }
static inline double in64(u64 x) { return double_of(flush64(x, mode.in64)); }
static inline void put_f32(Out *o, float f) { o->d[0] = flush32(bits_of(f), mode.out32); }
static inline void put_f64(Out *o, double f) { put64(o, flush64(bits_of_double(f), mode.out64)); }
static inline int is_snan32(u64 x) { return (x & 0x7fc00000) == 0x7f800000 && (x & 0x3fffff); }
static inline int is_snan64(u64 x) { return (x & 0x7ff8000000000000) == 0x7ff0000000000000 && (x & 0x7ffffffffffff); }
static inline int is_snan16(u64 x) { return (x & 0x7e00) == 0x7c00 && (x & 0x1ff); }

#define FLOATS                                                                         \
    float a = in32(in->a), b = in32(in->b), c = in32(in->c[0]), d = in32(in->d[0]);    \
    (void)a, (void)b, (void)c, (void)d;                                                \
    fesetround(rounding(mode.round32))
#define DOUBLES                                                                        \
    double a = in64(in->a), b = in64(in->b), c = in64(in->c[0]), d = in64(in->d[0]);   \
    (void)a, (void)b, (void)c, (void)d;                                                \
    fesetround(rounding(mode.round64))
#define F32(name, x) OP(name) { FLOATS; put_f32(o, (x)); }
#define F64(name, x) OP(name) { DOUBLES; put_f64(o, (x)); }

static inline int rounding(u32 code) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    return modes[code & 3];
}

// f16 is computed exactly, as an integer times a power of two, and rounded once.
u16 half_round(int negative, u128 mantissa, int exponent, u32 code);
u16 half_of(double x, u32 code);
double half_value(u32 bits);
