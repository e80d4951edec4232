// Matrix by vector with weights of 4 bits; the twin of q4_gemv.k.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#include "k.h"
typedef struct { half scale; uchar nibbles[16]; } WeightBlock;
typedef struct { half scale; char values[32]; } InputBlock;
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static float shuffle_xor(float v, uint m) {
  int bits = __builtin_amdgcn_ds_bpermute((int)((lane_id() ^ m) * 4), __builtin_astype(v, int));
  return __builtin_astype(bits, float);
}
static float block_dot(global const WeightBlock *w, global const InputBlock *x) {
  int sum = 0;
#pragma unroll
  for (uint j = 0; j < 16; j++) {
    uchar both = w->nibbles[j];
    sum += ((int)(both & 15) - 8) * (int)x->values[j];
    sum += ((int)(both >> 4) - 8) * (int)x->values[j + 16];
  }
  return (float)w->scale * (float)x->scale * (float)sum;
}
kernel WG(64,1,1) void q4_gemv(global const WeightBlock *restrict weights, global const InputBlock *restrict input,
                               global float *restrict output, uint rows, uint blocks) {
  uint row = (WGX * 64 + TX) / 32, lane = TX % 32;
  float sum = 0.0f;
  if (row < rows)
    for (uint b = lane; b < blocks; b += 32) sum += block_dot(weights + (row * blocks + b), input + b);
  for (uint m = 16; m > 0; m >>= 1) sum += shuffle_xor(sum, m);
  if (row < rows && lane == 0) output[row] = sum;
}
