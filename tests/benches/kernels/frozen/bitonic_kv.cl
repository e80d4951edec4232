#include "k.h"
#define BLOCK 512u
typedef struct { uint key, value; } Pair;
kernel WG(256, 1, 1) void bitonic_kv(global Pair *restrict pairs, uint n) {
  local Pair s[BLOCK];
  uint t = TX;
  uint base = WGX * BLOCK;
#pragma unroll
  for (uint h = 0; h < 2; h++) {
    uint e = t + h * (BLOCK / 2);
    Pair last = {~0u, 0};
    s[e] = base + e < n ? pairs[base + e] : last;
  }
  for (uint size = 2; size <= BLOCK; size *= 2) {
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      wg_barrier();
      uint i = 2 * t - (t & (stride - 1));
      uint j = i + stride;
      Pair a = s[i], b = s[j];
      bool ascending = (i & size) == 0;
      if ((a.key > b.key) == ascending) {
        s[i] = b;
        s[j] = a;
      }
    }
  }
  wg_barrier();
#pragma unroll
  for (uint h = 0; h < 2; h++) {
    uint e = t + h * (BLOCK / 2);
    if (base + e < n) pairs[base + e] = s[e];
  }
}
