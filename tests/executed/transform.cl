#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
static void line(int *v, uint step) {
  int a = v[0] + v[3 * step], b = v[step] + v[2 * step];
  int c = v[step] - v[2 * step], d = v[0] - v[3 * step];
  v[0] = a + b;
  v[step] = (d << 1) + c;
  v[2 * step] = a - b;
  v[3 * step] = d - (c << 1);
}
kernel WG(64,1,1) void transform(global const int *restrict x, global int *restrict y, uint n) {
  uint i = I;
  int v[16];
#pragma unroll
  for (uint k = 0; k < 16; k++) v[k] = x[i * 16 + k] >> 20;
#pragma unroll
  for (uint k = 0; k < 4; k++) line(&v[4 * k], 1);
#pragma unroll
  for (uint k = 0; k < 4; k++) line(&v[k], 4);
#pragma unroll
  for (uint k = 0; k < 16; k++) y[i * 16 + k] = v[k];
}
