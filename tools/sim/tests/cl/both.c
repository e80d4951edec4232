// Functions of two words that a compiler turns into many parts of the machine: compiled for the processor as OpenCL C, a
// kernel each, and for the host as C, which says what is right.
#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define TABLE constant
typedef half f16;
// Inlined always: in functions that are called clang 19 reads the apertures of gfx700 and gfx803 from address 0xc0, having
// no argument segment there.
#define FN(name) static __attribute__((always_inline)) uint f_##name(uint a, uint b); \
  kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name(global const uint *in, global uint *out, uint n) { \
    uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); \
    if (i < n) out[i] = f_##name(in[2 * i], in[2 * i + 1]); } \
  static uint f_##name(uint a, uint b)
#else
#include <stdio.h>
#include <string.h>
#define TABLE static const
typedef unsigned uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef _Float16 f16;
static struct { const char *label; uint (*call)(uint, uint); } kernels[128];
static int count;
#define FN(name) static uint f_##name(uint a, uint b); \
  __attribute__((constructor)) static void r_##name(void) { kernels[count].label = #name; kernels[count++].call = f_##name; } \
  static uint f_##name(uint a, uint b)
#endif
typedef int vint4 __attribute__((ext_vector_type(4)));
typedef uint vuint2 __attribute__((ext_vector_type(2)));
typedef short vshort2 __attribute__((ext_vector_type(2)));
typedef uchar vuchar4 __attribute__((ext_vector_type(4)));
typedef float vfloat4 __attribute__((ext_vector_type(4)));
typedef f16 vhalf2 __attribute__((ext_vector_type(2)));

static uint float_bits(float x) { uint u; __builtin_memcpy(&u, &x, 4); return x != x ? 0x7fc00000 : u; }
static uint double_bits(double x) { ulong u; __builtin_memcpy(&u, &x, 8); return x != x ? 1 : (uint)u ^ (uint)(u >> 32); }
static uint half_bits(f16 x) { ushort u; __builtin_memcpy(&u, &x, 2); return x != x ? 0x7e00 : u; }
static ulong wide(uint a, uint b) { return (ulong)a << 32 | b; }
static uint fold(ulong x) { return (uint)x ^ (uint)(x >> 32) * 31; }
// Ordinary numbers: whether denormals are kept shall not matter.
static float plain(uint a) { return (float)(int)(a & 0xfffff) * 0.125f - 50000.0f; }
static double exactly(uint a, uint b) { return (double)(int)a * 4096.0 + (double)(b & 0xfff) / 64.0; }
static f16 small(uint a) { return (f16)((float)(int)(a & 0x3ff) / 32.0f - 12.0f); }

FN(half_polynomial) { f16 x = small(a), y = small(b), s = x * y; s = s + x; f16 t = s * y; t = t - x; return half_bits(t); }
FN(half_division) { f16 x = small(a), y = small(b | 1); f16 q = x / y; return half_bits(q); }
FN(half_compare) { f16 x = small(a), y = small(b); return (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y ? 16 : 32); }
FN(half_conversions) { f16 x = (f16)plain(a); f16 y = (f16)(int)(b & 0x7ff); return half_bits(x) ^ half_bits(y) << 16 ^ (uint)(int)small(a); }
FN(half_vectors) { vhalf2 x = {small(a), small(b)}, y = {small(b >> 7), small(a >> 9)}; vhalf2 s = x * y; s = s + y; return half_bits(s.x) | half_bits(s.y) << 16; }
FN(half_negated) { f16 x = -small(a), y = small(b); f16 s = x - y; return half_bits(s < 0 ? -s : s); }
FN(double_polynomial) { double x = exactly(a, b), y = exactly(b, a); double s = x * y; s = s + x; return double_bits(s * 0.5 - y); }
FN(double_quotient) { return double_bits(exactly(a, b) / (exactly(b, a) + 0.375)); }
FN(double_root) { double x = exactly(a, b); return double_bits(__builtin_sqrt(x < 0 ? -x : x)); }
FN(double_rounding) { double x = (double)(int)a / 1024.0; return double_bits(__builtin_floor(x)) ^ double_bits(__builtin_ceil(x)) * 3 ^ double_bits(__builtin_trunc(x)) * 5 ^ double_bits(__builtin_rint(x)) * 7; }
FN(double_to_long) { double x = exactly(a, b) * 1024.0; return fold((ulong)(long)x); }
FN(double_to_ulong) { double x = exactly(a >> 1, b) * 256.0; return fold((ulong)x); }
FN(long_to_double) { return double_bits((double)(long)wide(a, b)) ^ double_bits((double)wide(a, b)) * 3; }
FN(long_to_float) { return float_bits((float)(long)wide(a, b)) ^ float_bits((float)wide(b, a)) * 3; }
FN(double_compare) { double x = exactly(a, b), y = exactly(b, a); return (x < y) | (x <= y) << 1 | (x == y) << 2 | (x >= y) << 3; }
FN(double_fused) { return double_bits(__builtin_fma(exactly(a, b), exactly(b, a), -exactly(a ^ b, a))); }
FN(float_quotient) { return float_bits(plain(a) / (plain(b) + 0.0625f)); }
FN(float_root) { float x = plain(a); return float_bits(__builtin_sqrtf(x < 0 ? -x : x)); }
FN(float_fused) { return float_bits(__builtin_fmaf(plain(a), plain(b), plain(a ^ b))); }
FN(float_rounding) { float x = plain(a) + 0.375f; return float_bits(__builtin_floorf(x)) ^ float_bits(__builtin_ceilf(x)) * 3 ^ float_bits(__builtin_truncf(x)) * 5 ^ float_bits(__builtin_rintf(x)) * 7; }
FN(float_to_int) { float x = plain(a) * 16.0f; return (uint)(int)x ^ (uint)(x < 0 ? -x : x) * 3; }
FN(float_vectors) { vfloat4 x = {plain(a), plain(b), plain(a >> 3), plain(b >> 3)}, y = x.wzyx * 0.5f; y = y + x; return float_bits(y.x) ^ float_bits(y.y) * 3 ^ float_bits(y.z) * 5 ^ float_bits(y.w) * 7; }
FN(float_extremes) { float x = plain(a), y = plain(b); return float_bits(__builtin_fminf(x, y)) ^ float_bits(__builtin_fmaxf(x, y)) * 3 ^ float_bits(__builtin_fabsf(x - y)); }
FN(long_quotient) { long x = (long)wide(a, b), y = (long)(int)b | 1; return y == -1 ? 7 : fold(x / y) ^ fold(x % y) * 3; }
FN(ulong_quotient) { ulong x = wide(a, b), y = wide(a & 0xff, b) | 1; return fold(x / y) ^ fold(x % y) * 3; }
FN(long_product) { ulong x = wide(a, b), y = wide(b, a); return fold(x * y) ^ fold((ulong)((long)(int)a * (int)b)); }
FN(high_product) { ulong x = wide(a, b), y = wide(b, a), xl = (uint)x, xh = x >> 32, yl = (uint)y, yh = y >> 32, m = xl * yh + (xl * yl >> 32), n = xh * yl + (uint)m; return fold(xh * yh + (m >> 32) + (n >> 32)); }
FN(long_shifts) { ulong x = wide(a, b); uint s = a & 63; return fold(x << s) ^ fold(x >> s) * 3 ^ fold((ulong)((long)x >> s)) * 5; }
FN(rotations) { uint s = b & 31; return (a << s | a >> (-s & 31)) ^ (b >> 7 | b << 25); }
FN(reversal) { return __builtin_bitreverse32(a) ^ __builtin_bswap32(b) ^ fold(__builtin_bitreverse64(wide(a, b))) ^ fold(__builtin_bswap64(wide(b, a))); }
FN(population) { return __builtin_popcount(a) ^ __builtin_popcountl(wide(a, b)) << 8 ^ __builtin_clz(a | 1) << 16 ^ __builtin_ctz(b | 0x80000000) << 24; }
FN(leading_zeros) { return __builtin_clzl(wide(a, b) | 1) ^ __builtin_ctzl(wide(b, a) | 1ul << 63) << 8 ^ __builtin_clz((a >> 16) | 1) << 16; }
FN(byte_distance) { uint s = 0; for (int k = 0; k < 32; k += 8) { int d = (int)(a >> k & 255) - (int)(b >> k & 255); s += d < 0 ? -d : d; } return s; }
FN(byte_product) { int s = 0; for (int k = 0; k < 32; k += 8) s += (int)(signed char)(a >> k) * (int)(signed char)(b >> k); return s; }
FN(short_product) { return (uint)((int)(short)a * (short)b + (int)(short)(a >> 16) * (short)(b >> 16)); }
FN(short_vectors) { vshort2 x = {(short)a, (short)(a >> 16)}, y = {(short)b, (short)(b >> 16)}; vshort2 z = x * y + (x >> (short)3) - (y << (short)2); return (ushort)z.x | (uint)(ushort)z.y << 16; }
FN(short_constants) { vshort2 x = {(short)a, (short)(a >> 16)}, y = {(short)b, (short)(b >> 16)}; x = x + (vshort2){0, 0x3f80}; y = y - (vshort2){0x3f80, 0}; vshort2 z = x * (vshort2){0, 0x4000} + (y << (vshort2){3, 3}) + (vshort2){-16, -1}; return (ushort)z.x | (uint)(ushort)z.y << 16; }
FN(middle_of_three) { int x = a, y = b, z = a ^ b << 3; int low = x < y ? x : y, high = x < y ? y : x; return z < low ? low : z > high ? high : z; }
FN(byte_vectors) { vuchar4 x = {(uchar)a, (uchar)(a >> 8), (uchar)(a >> 16), (uchar)(a >> 24)}, y = {(uchar)b, (uchar)(b >> 9), (uchar)(b >> 18), (uchar)(b >> 23)}; vuchar4 z = x * y + x.wzyx; return z.x | z.y << 8 | z.z << 16 | (uint)z.w << 24; }
FN(int_vectors) { vint4 x = {(int)a, (int)b, (int)(a ^ b), (int)(a & b)}, y = x.yzwx * 3 - x; vint4 c = x < y; y = (c & y) | (~c & x); return y.x ^ y.y * 3 ^ y.z * 5 ^ y.w * 7; }
FN(indexed_array) { uint t[24]; for (uint k = 0; k < 24; k++) t[(k * 5 + a % 24) % 24] = b * k + a; uint s = 0; for (uint k = 0; k < 24; k++) s = s * 31 + t[(s + k) % 24]; return s; }
FN(matrix) { int x[3][3], y[3][3]; uint s = 0; for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) { x[r][c] = (int)(a >> (r * 3 + c)) & 15; y[r][c] = (int)(b >> (c * 3 + r)) & 15; } for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) { int v = 0; for (int k = 0; k < 3; k++) v += x[r][k] * y[k][c]; s = s * 17 + (uint)v; } return s; }
struct pair { uint x; ulong y; uchar z[5]; };
static __attribute__((noinline)) struct pair turned(struct pair p, uint by) { struct pair q = p; q.x = (uint)p.y + by; q.y = p.x * 3ul; q.z[by % 5] ^= (uchar)by; return q; }
FN(structs) { struct pair p = {a, wide(b, a), {1, 2, 3, 4, 5}}; for (uint k = 0; k < 4; k++) p = turned(p, b + k); uint s = p.x ^ fold(p.y); for (int k = 0; k < 5; k++) s = s * 257 + p.z[k]; return s; }
static __attribute__((noinline)) uint divisor(uint a, uint b) { return b == 0 ? a : divisor(b, a % b); }
FN(recursion) { return divisor(a & 0xffff, b & 0xffff); }
static __attribute__((noinline)) uint odd(uint n);
static __attribute__((noinline)) uint even(uint n) { return n == 0 ? 1 : odd(n - 1) * 3; }
static __attribute__((noinline)) uint odd(uint n) { return n == 0 ? 2 : even(n - 1) + 5; }
FN(mutual_recursion) { return even(a & 7) ^ odd(b & 7); }
static __attribute__((noinline)) uint tree(uint depth, uint seed) { return depth == 0 ? seed : tree(depth - 1, seed * 3 + 1) ^ tree(depth - 1, seed + 7); }
FN(tree_recursion) { return tree(a & 3, b); }
FN(dense_switch) { uint s = b; switch (a % 11) { case 0: s += 1; case 1: s *= 3; break; case 2: s ^= a; break; case 3: s -= 9; case 4: s = ~s; break; case 5: return s; case 6: s <<= 2; break; case 7: s >>= 3; break; case 8: s += a * b; break; case 9: s |= 5; break; default: s = 0; } return s ^ 0x55; }
FN(sparse_switch) { switch (a & 0xff0) { case 0x10: return b; case 0x120: return b * 3; case 0x560: return ~b; case 0x7f0: return b << 1; case 0xab0: return b ^ a; case 0xff0: return 1; } return a; }
FN(breaks) { uint s = 0; for (uint i = 0; i < (a & 15); i++) { if ((b >> i & 3) == 3) continue; for (uint k = 0; k < 8; k++) { if ((s ^ k) % 7 == 5) break; s += i * k + 1; } if (s > 100) break; } return s; }
FN(collatz) { uint n = (a & 0xfff) + 1, steps = 0; while (n != 1 && steps < 60) { n = n & 1 ? 3 * n + 1 : n / 2; steps++; } return steps ^ n << 8; }
FN(state_machine) { uint s = 0, k = 0; start: if (k >= 16) goto end; switch ((a >> k & 1) | (s & 1) << 1) { case 0: s += 1; k += 1; goto start; case 1: s ^= b; k += 2; goto start; case 2: s = s * 5 + k; k += 3; goto start; } s -= 7; k += 1; goto start; end: return s; }
FN(sorting) { uint t[12]; for (uint k = 0; k < 12; k++) t[k] = (a * (k + 1)) ^ (b >> k); for (int i = 1; i < 12; i++) { uint v = t[i]; int k = i - 1; while (k >= 0 && t[k] > v) { t[k + 1] = t[k]; k--; } t[k + 1] = v; } uint s = 0; for (int k = 0; k < 12; k++) s = s * 131 + t[k]; return s; }
FN(checksum) { uint c = ~a; for (int k = 0; k < 32; k++) c = c >> 1 ^ (0xedb88320 & -((c ^ b >> k) & 1)); return ~c; }
FN(hash) { uint h = 0x811c9dc5; for (int k = 0; k < 4; k++) { h = (h ^ (a >> 8 * k & 255)) * 0x01000193; h = (h ^ (b >> 8 * k & 255)) * 0x01000193; } return h; }
TABLE uint constants[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
FN(tables) { uint s = a; for (int k = 0; k < 8; k++) s = s * 33 + constants[(b >> 4 * k) & 15]; return s; }
FN(bit_fields) { uint low = (a & 31) + b & 31; int middle = ((int)(a << 16) >> 21) - (int)(b >> 3); uint high = (a >> 16 ^ b) & 0xffff; return low | ((uint)middle & 0x7ff) << 5 | high << 16; }
FN(narrowing) { return (uint)(int)(signed char)a ^ (uint)(int)(short)b << 3 ^ (uint)(uchar)(a >> 5) ^ (uint)(ushort)(b * 7); }
FN(carries) { ulong x[2] = {wide(a, b), wide(b, a)}, y[2] = {wide(~b, a), wide(a, 7)}; ulong low = x[0] + y[0], c = low < x[0], high = x[1] + y[1] + c; ulong l2 = low - x[1], borrow = low < x[1]; return fold(low) ^ fold(high) * 3 ^ fold(l2 - borrow); }
FN(fixed_point) { long p = (long)(int)a * (int)b; return (uint)(p >> 16) ^ (uint)((p + 0x8000) >> 17); }
FN(text) { uchar s[16]; uint n = 0; for (uint v = a; v; v /= 10) s[n++] = '0' + v % 10; uint h = n; for (uint k = 0; k < n; k++) h = h * 31 + s[n - 1 - k]; return h; }
FN(random_walk) { uint s = a | 1, p = b; for (int k = 0; k < 20; k++) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; p += (s & 1) ? s : -s; if ((p & 15) == 9) p >>= 1; } return p; }
FN(pointers) { uint x = a, y = b, t[4] = {a, b, a + b, a - b}; uint *p = a & 1 ? &x : &t[b & 3], *q = b & 1 ? &y : &t[a >> 1 & 3]; *p += 5; *q ^= *p; return x ^ y * 3 ^ t[0] ^ t[1] * 5 ^ t[2] * 7 ^ t[3] * 11; }
FN(selections) { uint r = a > b ? (a & 4 ? a - b : a + b) : (b & 8 ? b * 3 : ~a); return (r & 1 && a > 77) || (b < 1000 && !(r & 2)) ? r : r ^ 0xff; }
FN(two_words) { vuint2 x = {a, b}; for (int k = 0; k < 6; k++) { x = x.yx * 5u + (vuint2){7, 11}; x ^= x >> 3u; } return x.x ^ x.y * 3; }

#ifndef __OPENCL_C_VERSION__
// Words on standard input, two an item; for each kernel its name on a line and its results.
int main(int argc, char **argv) {
    static uint in[2 * 65536], out[65536];
    FILE *from = fopen(argv[1], "rb"), *to = fopen(argv[2], "wb");
    int n = (int)(fread(in, 8, 65536, from));
    for (int k = 0; k < count; k++) {
        fprintf(to, "%s\n", kernels[k].label);
        for (int i = 0; i < n; i++) out[i] = kernels[k].call(in[2 * i], in[2 * i + 1]);
        fwrite(out, 4, n, to);
    }
    return fclose(to);
}
#endif
