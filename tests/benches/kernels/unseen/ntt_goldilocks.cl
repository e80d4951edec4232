// Number-theoretic transform over 2^64 - 2^32 + 1, 512 points a work-group; the twin of ntt_goldilocks.k.
#include "k.h"
#define LOG_SIZE 9u
#define SIZE (1u << LOG_SIZE)
#define P 0xffffffff00000001ul
#define EPSILON 0xfffffffful
static ulong add_mod(ulong a, ulong b) {
  ulong s = a + b;
  return s < a || s >= P ? s - P : s;
}
static ulong sub_mod(ulong a, ulong b) { return a >= b ? a - b : a - b + P; }
static ulong mul_mod(ulong a, ulong b) {
  ulong a0 = a & EPSILON, a1 = a >> 32, b0 = b & EPSILON, b1 = b >> 32;
  ulong p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
  ulong mid = p10 + (p00 >> 32) + (p01 & EPSILON);
  ulong high = a1 * b1 + (mid >> 32) + (p01 >> 32);
  ulong low = mid << 32 | (p00 & EPSILON);
  // 2^96 is -1 and 2^64 is 2^32 - 1 modulo P.
  ulong r = low - (high >> 32);
  if (r > low) r -= EPSILON;
  ulong add = (high & EPSILON) * EPSILON;
  r += add;
  if (r < add) r += EPSILON;
  return r >= P ? r - P : r;
}
kernel WG(256,1,1) void ntt_goldilocks(global const ulong *restrict in, global ulong *restrict out,
                                       global const ulong *restrict roots, ulong scale) {
  local ulong x[SIZE];
  uint t = TX, base = WGX * SIZE;
#pragma unroll
  for (uint h = 0; h < 2; h++) {
    uint i = t + h * (SIZE / 2);
    x[__builtin_bitreverse32(i) >> (32 - LOG_SIZE)] = in[base + i];
  }
  for (uint stage = 0; stage < LOG_SIZE; stage++) {
    wg_barrier();
    uint half_ = 1u << stage;
    uint k = t & (half_ - 1);
    uint low = (t >> stage << (stage + 1)) + k;
    ulong w = roots[k << (LOG_SIZE - 1 - stage)];
    ulong a = x[low];
    ulong b = mul_mod(x[low + half_], w);
    x[low] = add_mod(a, b);
    x[low + half_] = sub_mod(a, b);
  }
  wg_barrier();
#pragma unroll
  for (uint h = 0; h < 2; h++) {
    uint i = t + h * (SIZE / 2);
    out[base + i] = mul_mod(x[i], scale);
  }
}
