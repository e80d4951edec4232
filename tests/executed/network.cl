#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
constant uchar LOW[19] = {0, 2, 4, 6, 0, 1, 4, 5, 1, 5, 0, 1, 2, 3, 2, 3, 1, 3, 5};
constant uchar HIGH[19] = {1, 3, 5, 7, 2, 3, 6, 7, 2, 6, 4, 5, 6, 7, 4, 5, 2, 4, 6};
static void order(uint *v, uint a, uint b) {
  uint lo = v[a] < v[b] ? v[a] : v[b], hi = v[a] < v[b] ? v[b] : v[a];
  v[a] = lo;
  v[b] = hi;
}
kernel WG(64,1,1) void network(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint v[8];
#pragma unroll
  for (uint k = 0; k < 8; k++) v[k] = x[i * 8 + k];
  if (n < 5) v[7] = 0;
#pragma unroll
  for (uint k = 0; k < 19; k++) order(v, LOW[k], HIGH[k]);
#pragma unroll
  for (uint k = 0; k < 8; k++) y[i * 8 + k] = v[k];
}
