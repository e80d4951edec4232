#include "k.h"
#define W 8u
typedef struct { uint w[W]; } Number;
static Number montgomery(Number a, Number b, Number m, uint inverse) {
  uint t[W + 2] = {0};
#pragma unroll
  for (uint i = 0; i < W; i++) {
    ulong carry = 0;
#pragma unroll
    for (uint j = 0; j < W; j++) {
      carry += (ulong)a.w[j] * b.w[i] + t[j];
      t[j] = (uint)carry;
      carry >>= 32;
    }
    carry += t[W];
    t[W] = (uint)carry;
    t[W + 1] = (uint)(carry >> 32);
    uint q = t[0] * inverse;
    carry = ((ulong)q * m.w[0] + t[0]) >> 32;
#pragma unroll
    for (uint j = 1; j < W; j++) {
      carry += (ulong)q * m.w[j] + t[j];
      t[j - 1] = (uint)carry;
      carry >>= 32;
    }
    carry += t[W];
    t[W - 1] = (uint)carry;
    t[W] = t[W + 1] + (uint)(carry >> 32);
  }
  uint d[W];
  uint borrow = 0;
#pragma unroll
  for (uint j = 0; j < W; j++) {
    ulong v = (ulong)t[j] - m.w[j] - borrow;
    d[j] = (uint)v;
    borrow = (uint)(v >> 32) & 1;
  }
  bool keep = t[W] < borrow;
  Number r;
#pragma unroll
  for (uint j = 0; j < W; j++) r.w[j] = keep ? t[j] : d[j];
  return r;
}
kernel WG(64, 1, 1) void modexp256(global const uint *restrict base, global const uint *restrict modulus,
                                   global const uint *restrict r2, global uint *restrict result, uint exponent,
                                   uint inverse, uint n) {
  uint i = WGX * 64 + TX;
  if (i >= n) return;
  Number m, square, x, one = {{1}};
#pragma unroll
  for (uint j = 0; j < W; j++) {
    m.w[j] = modulus[j];
    square.w[j] = r2[j];
    x.w[j] = base[j * n + i];
  }
  x = montgomery(x, square, m, inverse);
  Number y = x;
  uint bit = 31 - (uint)__builtin_clz(exponent);
  while (bit > 0) {
    bit -= 1;
    y = montgomery(y, y, m, inverse);
    if ((exponent >> bit & 1) != 0) y = montgomery(y, x, m, inverse);
  }
  y = montgomery(y, one, m, inverse);
#pragma unroll
  for (uint j = 0; j < W; j++) result[j * n + i] = y.w[j];
}
