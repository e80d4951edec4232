#include "k.h"
static int clampi(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static void order(uint *a, uint *b) {
  uint low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}
kernel WG(64, 4, 1) void median3x3(global const uchar *restrict src, global uchar *restrict dst, int width, int height,
                                   int pitch) {
  int x = WGX * 64 + TX, y = WGY * 4 + TY;
  if (x >= width || y >= height) return;
  uint p[9];
#pragma unroll
  for (int r = 0; r < 3; r++) {
    int row = clampi(y + r - 1, 0, height - 1) * pitch;
#pragma unroll
    for (int c = 0; c < 3; c++) p[r * 3 + c] = src[row + clampi(x + c - 1, 0, width - 1)];
  }
  order(&p[1], &p[2]);
  order(&p[4], &p[5]);
  order(&p[7], &p[8]);
  order(&p[0], &p[1]);
  order(&p[3], &p[4]);
  order(&p[6], &p[7]);
  order(&p[1], &p[2]);
  order(&p[4], &p[5]);
  order(&p[7], &p[8]);
  order(&p[0], &p[3]);
  order(&p[5], &p[8]);
  order(&p[4], &p[7]);
  order(&p[3], &p[6]);
  order(&p[1], &p[4]);
  order(&p[2], &p[5]);
  order(&p[4], &p[7]);
  order(&p[4], &p[2]);
  order(&p[6], &p[4]);
  order(&p[4], &p[2]);
  dst[y * pitch + x] = (uchar)p[4];
}
