#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
#define ROTR(x,n) (((x) >> (n)) | ((x) << (32 - (n))))
constant uchar ORDER[5][16] = {
  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
  {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
  {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
  {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
  {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
};
static void blend(uint *v, uint a, uint b, uint c, uint d, uint p, uint q) {
  v[a] = v[a] + v[b] + p;
  v[d] = ROTR(v[d] ^ v[a], 16);
  v[c] = v[c] + v[d];
  v[b] = ROTR(v[b] ^ v[c], 12);
  v[a] = v[a] + v[b] + q;
  v[d] = ROTR(v[d] ^ v[a], 8);
  v[c] = v[c] + v[d];
  v[b] = ROTR(v[b] ^ v[c], 7);
}
kernel WG(64,1,1) void mix(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint m[16], v[16];
#pragma unroll
  for (uint k = 0; k < 16; k++) {
    m[k] = x[i * 16 + k];
    v[k] = k * 0x9e3779b9u;
  }
  if (n > 100) v[12] ^= n;
#pragma unroll
  for (uint r = 0; r < 5; r++) {
    blend(v, 0, 4, 8, 12, m[ORDER[r][0]], m[ORDER[r][1]]);
    blend(v, 1, 5, 9, 13, m[ORDER[r][2]], m[ORDER[r][3]]);
    blend(v, 2, 6, 10, 14, m[ORDER[r][4]], m[ORDER[r][5]]);
    blend(v, 3, 7, 11, 15, m[ORDER[r][6]], m[ORDER[r][7]]);
    blend(v, 0, 5, 10, 15, m[ORDER[r][8]], m[ORDER[r][9]]);
    blend(v, 1, 6, 11, 12, m[ORDER[r][10]], m[ORDER[r][11]]);
    blend(v, 2, 7, 8, 13, m[ORDER[r][12]], m[ORDER[r][13]]);
    blend(v, 3, 4, 9, 14, m[ORDER[r][14]], m[ORDER[r][15]]);
  }
#pragma unroll
  for (uint k = 0; k < 8; k++) y[i * 8 + k] = v[k] ^ v[k + 8];
}
