#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
static void sort2(uint *a, uint *b) {
  uint lo = *a < *b ? *a : *b, hi = *a < *b ? *b : *a;
  *a = lo;
  *b = hi;
}
kernel WG(64,1,1) void median(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  if (i >= n) return;
  uint p[9];
#pragma unroll
  for (uint k = 0; k < 9; k++) p[k] = x[i * 9 + k];
  sort2(&p[1], &p[2]); sort2(&p[4], &p[5]); sort2(&p[7], &p[8]);
  sort2(&p[0], &p[1]); sort2(&p[3], &p[4]); sort2(&p[6], &p[7]);
  sort2(&p[1], &p[2]); sort2(&p[4], &p[5]); sort2(&p[7], &p[8]);
  sort2(&p[0], &p[3]); sort2(&p[5], &p[8]); sort2(&p[4], &p[7]);
  sort2(&p[3], &p[6]); sort2(&p[1], &p[4]); sort2(&p[2], &p[5]);
  sort2(&p[4], &p[7]); sort2(&p[4], &p[2]); sort2(&p[6], &p[4]);
  sort2(&p[4], &p[2]);
  y[i] = p[4];
}
