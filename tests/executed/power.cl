#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
static void product(uint *c, uint *a, uint *b) {
#pragma unroll
  for (uint row = 0; row < 3; row++) {
#pragma unroll
    for (uint col = 0; col < 3; col++)
      c[row * 3 + col] = a[row * 3] * b[col] + a[row * 3 + 1] * b[3 + col] + a[row * 3 + 2] * b[6 + col];
  }
}
kernel WG(64,1,1) void power(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint a[9], r[9], t[9];
#pragma unroll
  for (uint k = 0; k < 9; k++) {
    a[k] = x[i * 9 + k];
    r[k] = k % 4 == 0 ? 1 : 0;
  }
  uint e = n;
  if (e > 1000) e = 1000;
  while (e != 0) {
    product(t, r, a);
#pragma unroll
    for (uint k = 0; k < 9; k++) r[k] = e & 1 ? t[k] : r[k];
    product(t, a, a);
#pragma unroll
    for (uint k = 0; k < 9; k++) a[k] = t[k];
    e >>= 1;
  }
#pragma unroll
  for (uint k = 0; k < 9; k++) y[i * 9 + k] = r[k];
}
