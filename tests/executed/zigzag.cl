#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
constant uchar PLACE[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
constant uint DIVISOR[16] = {16, 11, 10, 16, 12, 12, 14, 19, 14, 13, 16, 24, 14, 17, 22, 29};
kernel WG(64,1,1) void zigzag(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint block[16];
#pragma unroll
  for (uint k = 0; k < 16; k++) block[k] = x[i * 16 + k];
  if (n > 7) block[0] += n;
  uint last = 0;
#pragma unroll
  for (uint k = 0; k < 16; k++) {
    uint value = block[PLACE[k]] / DIVISOR[PLACE[k]];
    y[i * 16 + k] = value - last;
    last = value;
  }
}
