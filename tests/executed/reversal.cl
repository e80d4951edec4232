#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
constant uchar REVERSED[8] = {0, 4, 2, 6, 1, 5, 3, 7};
static void butterfly(uint *a, uint *b, uint w) {
  uint t = *b * w;
  *b = *a - t;
  *a = *a + t;
}
kernel WG(64,1,1) void reversal(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint v[8];
#pragma unroll
  for (uint k = 0; k < 8; k++) v[REVERSED[k]] = x[i * 8 + k];
  if (n == 3) v[0] = 1;
#pragma unroll
  for (uint k = 0; k < 4; k++) butterfly(&v[2 * k], &v[2 * k + 1], 1);
#pragma unroll
  for (uint k = 0; k < 2; k++) {
    butterfly(&v[4 * k], &v[4 * k + 2], 1);
    butterfly(&v[4 * k + 1], &v[4 * k + 3], 0x5a82);
  }
  butterfly(&v[0], &v[4], 1);
  butterfly(&v[1], &v[5], 0x2d41);
  butterfly(&v[2], &v[6], 0x5a82);
  butterfly(&v[3], &v[7], 0x7642);
#pragma unroll
  for (uint k = 0; k < 8; k++) y[i * 8 + k] = v[k];
}
