#include "k.h"
#define GROUP 64u
#define K 8u
static ulong pack(float v, uint place) {
  uint bits = __builtin_astype(v, uint);
  uint ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return (ulong)ordered << 32 | (ulong)(~place);
}
static float unpack_value(ulong key) {
  uint ordered = (uint)(key >> 32);
  uint bits = (ordered >> 31) != 0 ? ordered & 0x7fffffffu : ~ordered;
  return __builtin_astype(bits, float);
}
kernel WG(64, 1, 1) void topk8(global const float *restrict x, global float *restrict values,
                               global uint *restrict places, uint cols) {
  local ulong lists[GROUP][K];
  uint t = TX;
  uint base = WGX * cols;
  ulong top[K] = {0};
  for (uint c = t; c < cols; c += GROUP) {
    ulong key = pack(x[base + c], c);
    if (key > top[K - 1]) {
#pragma unroll
      for (uint j = 0; j < K; j++) {
        ulong larger = top[j] > key ? top[j] : key;
        key = top[j] > key ? key : top[j];
        top[j] = larger;
      }
    }
  }
#pragma unroll
  for (uint j = 0; j < K; j++) lists[t][j] = top[j];
  wg_barrier();
  for (uint d = GROUP / 2; d > 0; d >>= 1) {
    if (t < d) {
      uint i = 0, j = 0;
#pragma unroll
      for (uint o = 0; o < K; o++) {
        ulong a = lists[t][i], b = lists[t + d][j];
        if (a >= b) {
          top[o] = a;
          i += 1;
        } else {
          top[o] = b;
          j += 1;
        }
      }
#pragma unroll
      for (uint o = 0; o < K; o++) lists[t][o] = top[o];
    }
    wg_barrier();
  }
  if (t < K) {
    ulong key = lists[0][t];
    values[WGX * K + t] = unpack_value(key);
    places[WGX * K + t] = ~(uint)key;
  }
}
