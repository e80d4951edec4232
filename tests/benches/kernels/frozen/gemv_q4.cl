#include "k.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define LANES 32u
#define ROWS 4u
#define BLOCK 32u
typedef struct { half scale; uchar nibbles[16]; } Q4;
static float shuffle_xor(float v, uint m) {
  uint lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  return __builtin_astype(__builtin_amdgcn_ds_bpermute((int)((lane ^ m) << 2), __builtin_astype(v, int)), float);
}
kernel WG(32, 4, 1) void gemv_q4(global const Q4 *restrict weights, global const float *restrict x,
                                 global float *restrict y, uint rows, uint blocks) {
  uint lane = TX;
  uint row = WGX * ROWS + TY;
  uint half_ = lane % 2;
  float sum = 0.0f;
  if (row < rows) {
    for (uint b = lane / 2; b < blocks; b += LANES / 2) {
      global const Q4 *w = weights + (row * blocks + b);
      uint at = b * BLOCK + half_ * 8;
      float part = 0.0f;
#pragma unroll
      for (uint j = 0; j < 8; j++) {
        int q = w->nibbles[half_ * 8 + j];
        part += (float)((q & 15) - 8) * x[at + j];
        part += (float)((q >> 4) - 8) * x[at + j + 16];
      }
      sum += (float)w->scale * part;
    }
  }
  sum += shuffle_xor(sum, 16);
  sum += shuffle_xor(sum, 8);
  sum += shuffle_xor(sum, 4);
  sum += shuffle_xor(sum, 2);
  sum += shuffle_xor(sum, 1);
  if (lane == 0 && row < rows) y[row] = sum;
}
