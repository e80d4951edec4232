// Modular exponentiation of 256-bit numbers by Montgomery multiplication; the twin of mont_pow256.k.
#include "k.h"
#define LIMBS 8u
typedef struct { uint w[8]; } Big;
typedef struct { Big m; uint inverse; } Field;
static Big mont_mul(Big a, Big b, Field f) {
  uint t[LIMBS + 1] = {0};
#pragma unroll
  for (uint i = 0; i < LIMBS; i++) {
    ulong carry = 0;
#pragma unroll
    for (uint j = 0; j < LIMBS; j++) {
      ulong s = (ulong)a.w[j] * b.w[i] + t[j] + carry;
      t[j] = (uint)s;
      carry = s >> 32;
    }
    ulong top = (ulong)t[LIMBS] + carry;
    uint q = t[0] * f.inverse;
    ulong first = (ulong)q * f.m.w[0] + t[0];
    carry = first >> 32;
#pragma unroll
    for (uint j = 1; j < LIMBS; j++) {
      ulong s = (ulong)q * f.m.w[j] + t[j] + carry;
      t[j - 1] = (uint)s;
      carry = s >> 32;
    }
    ulong last = top + carry;
    t[LIMBS - 1] = (uint)last;
    t[LIMBS] = (uint)(last >> 32);
  }
  // t < 2 m: subtract m unless that is negative.
  Big r;
  ulong borrow = 0;
#pragma unroll
  for (uint j = 0; j < LIMBS; j++) {
    ulong d = (ulong)t[j] - f.m.w[j] - borrow;
    r.w[j] = (uint)d;
    borrow = d >> 63;
  }
  bool keep = t[LIMBS] < borrow;
#pragma unroll
  for (uint j = 0; j < LIMBS; j++) r.w[j] = keep ? t[j] : r.w[j];
  return r;
}
kernel WG(64,1,1) void mont_pow256(global const Big *restrict in, global Big *restrict out,
                                   global const Field *restrict modulus, global const Big *restrict square_of_r,
                                   uint exponent, uint count) {
  uint i = WGX * 64 + TX;
  if (i >= count) return;
  Field f = modulus[0];
  Big base = mont_mul(in[i], square_of_r[0], f);
  Big power = base;
  uint bit = 31 - __builtin_clz(exponent);
  while (bit > 0) {
    bit--;
    power = mont_mul(power, power, f);
    if ((exponent >> bit) & 1) power = mont_mul(power, base, f);
  }
  Big one;
#pragma unroll
  for (uint j = 0; j < LIMBS; j++) one.w[j] = j == 0 ? 1 : 0;
  out[i] = mont_mul(power, one, f);
}
