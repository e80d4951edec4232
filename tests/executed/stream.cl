#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
#define ROTL(x,n) (((x) << (n)) | ((x) >> (32 - (n))))
static void quarter(uint *s, uint a, uint b, uint c, uint d) {
  s[a] += s[b]; s[d] = ROTL(s[d] ^ s[a], 16);
  s[c] += s[d]; s[b] = ROTL(s[b] ^ s[c], 12);
  s[a] += s[b]; s[d] = ROTL(s[d] ^ s[a], 8);
  s[c] += s[d]; s[b] = ROTL(s[b] ^ s[c], 7);
}
kernel WG(64,1,1) void stream(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint s[16];
#pragma unroll
  for (uint k = 0; k < 16; k++) s[k] = x[k];
  s[12] = i;
  if (n > 3) s[13] += n;
  for (uint round = 0; round < 10; round++) {
    quarter(s, 0, 4, 8, 12);
    quarter(s, 1, 5, 9, 13);
    quarter(s, 2, 6, 10, 14);
    quarter(s, 3, 7, 11, 15);
    quarter(s, 0, 5, 10, 15);
    quarter(s, 1, 6, 11, 12);
    quarter(s, 2, 7, 8, 13);
    quarter(s, 3, 4, 9, 14);
  }
#pragma unroll
  for (uint k = 0; k < 16; k++) y[i * 16 + k] = s[k] ^ x[16 + k];
}
