#include "k.h"
#define WORDS 8u
typedef struct { ulong low; uint high; } Sum;
static Sum add_product(Sum s, uint a, uint b) {
  ulong p = (ulong)a * b;
  ulong low = s.low + p;
  Sum r = {low, s.high + (low < p ? 1 : 0)};
  return r;
}
kernel WG(64, 1, 1) void bigmul256(global const uint *restrict x, global const uint *restrict y, global uint *restrict z,
                                   uint n) {
  uint i = WGX * 64 + TX;
  if (i >= n) return;
  uint a[WORDS], b[WORDS];
#pragma unroll
  for (uint j = 0; j < WORDS; j++) {
    a[j] = x[j * n + i];
    b[j] = y[j * n + i];
  }
  Sum s = {0, 0};
#pragma unroll
  for (uint c = 0; c < 2 * WORDS - 1; c++) {
#pragma unroll
    for (uint j = 0; j < WORDS; j++)
      if (j <= c && c - j < WORDS) s = add_product(s, a[j], b[c - j]);
    z[c * n + i] = (uint)s.low;
    Sum shifted = {s.low >> 32 | (ulong)s.high << 32, 0};
    s = shifted;
  }
  z[(2 * WORDS - 1) * n + i] = (uint)s.low;
}
