#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
#define ROTL(x,n) (((x) << (n)) | ((x) >> (32 - (n))))
constant uint TO[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
constant uint BY[24] = {1, 3, 6, 10, 15, 21, 28, 4, 13, 23, 2, 14, 27, 9, 24, 8, 25, 11, 30, 18, 7, 29, 20, 12};
kernel WG(64,1,1) void sponge(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint s[25];
#pragma unroll
  for (uint k = 0; k < 25; k++) s[k] = x[i * 25 + k];
#pragma nounroll
  for (uint round = 0; round < n; round++) {
    uint c[5];
#pragma unroll
    for (uint k = 0; k < 5; k++) c[k] = s[k] ^ s[k + 5] ^ s[k + 10] ^ s[k + 15] ^ s[k + 20];
#pragma unroll
    for (uint k = 0; k < 25; k++) s[k] ^= c[(k + 4) % 5] ^ ROTL(c[(k + 1) % 5], 1);
    uint t = s[1];
#pragma unroll
    for (uint k = 0; k < 24; k++) {
      uint j = TO[k], next = s[j];
      s[j] = ROTL(t, BY[k]);
      t = next;
    }
#pragma unroll
    for (uint row = 0; row < 5; row++) {
#pragma unroll
      for (uint k = 0; k < 5; k++) c[k] = s[row * 5 + k];
#pragma unroll
      for (uint k = 0; k < 5; k++) s[row * 5 + k] = c[k] ^ (~c[(k + 1) % 5] & c[(k + 2) % 5]);
    }
    s[0] ^= round * 0x8001;
  }
#pragma unroll
  for (uint k = 0; k < 8; k++) y[i * 8 + k] = s[k];
}
