#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
kernel WG(64,1,1) void block_cipher(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint key[16];
  uint a = x[2 * i], b = x[2 * i + 1];
  if (n > 10) a ^= n;
#pragma unroll
  for (uint r = 0; r < 16; r++) key[r] = r * 0x9e3779b9u + x[r & 3];
  if (n > 20) b += a;
#pragma unroll
  for (uint r = 0; r < 16; r++) {
    a += ((b << 4) ^ (b >> 5)) + b ^ key[r];
    b += ((a << 4) ^ (a >> 5)) + a ^ key[15 - r];
  }
  y[2 * i] = a;
  y[2 * i + 1] = b;
}
