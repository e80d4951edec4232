#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
constant uint OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constant uint WEIGHT[9] = {16, 4, 4, 4, 4, 1, 1, 1, 1};
constant int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static uint sum(uint *f) {
  uint total = 0;
#pragma unroll
  for (uint q = 0; q < 9; q++) total += f[q];
  return total;
}
kernel WG(64,1,1) void lattice(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint f[9];
#pragma unroll
  for (uint q = 0; q < 9; q++) f[q] = x[q * 128 + i] >> 8;
  if ((x[i] & 7) == 0) {
#pragma unroll
    for (uint q = 0; q < 9; q++) y[q * 128 + i] = f[OPPOSITE[q]];
  } else {
    uint density = sum(f);
    int ux = 0;
#pragma unroll
    for (uint q = 0; q < 9; q++) ux += CX[q] * (int)f[q];
#pragma unroll
    for (uint q = 0; q < 9; q++) y[q * 128 + i] = f[q] - (density + (uint)(3 * CX[q] * ux)) * WEIGHT[q] / 36 + n;
  }
}
