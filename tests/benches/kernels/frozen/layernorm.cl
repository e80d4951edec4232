#include "k.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define GROUP 256u
#define MAX_WAVES (GROUP / 32)
#define PAIRS 4u
#define WAVE __builtin_amdgcn_wavefrontsize()
#define WIDEN(v) __builtin_convertvector(v, float2)
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static float shuffle_xor(float v, uint m) {
  return __builtin_astype(__builtin_amdgcn_ds_bpermute((int)((lane_id() ^ m) << 2), __builtin_astype(v, int)), float);
}
static float group_sum(float v, local float *sums) {
  for (uint d = WAVE / 2; d > 0; d >>= 1) v += shuffle_xor(v, d);
  wg_barrier();
  if (lane_id() == 0) sums[TX / WAVE] = v;
  wg_barrier();
  float total = 0.0f;
  for (uint w = 0; w < GROUP / WAVE; w++) total += sums[w];
  return total;
}
kernel WG(256, 1, 1) void layernorm(global const half2 *restrict x, global const half2 *restrict residual,
                                    global const half2 *restrict gain, global const half2 *restrict bias,
                                    global half2 *restrict out, uint pairs, float inverse_size, float epsilon) {
  local float sums[MAX_WAVES];
  uint t = TX;
  uint base = WGX * pairs;
  float2 v[PAIRS];
  float sum = 0.0f;
#pragma unroll
  for (uint k = 0; k < PAIRS; k++) {
    uint c = t + k * GROUP;
    v[k] = (float2)(0.0f);
    if (c < pairs) v[k] = WIDEN(x[base + c]) + WIDEN(residual[base + c]);
    sum += v[k].x + v[k].y;
  }
  float mean = group_sum(sum, sums) * inverse_size;
  float squares = 0.0f;
#pragma unroll
  for (uint k = 0; k < PAIRS; k++) {
    if (t + k * GROUP < pairs) {
      v[k] -= mean;
      squares += v[k].x * v[k].x + v[k].y * v[k].y;
    }
  }
  float variance = group_sum(squares, sums) * inverse_size;
  float scale = __builtin_amdgcn_rsqf(variance + epsilon);
#pragma unroll
  for (uint k = 0; k < PAIRS; k++) {
    uint c = t + k * GROUP;
    if (c < pairs) out[base + c] = __builtin_convertvector(v[k] * scale * WIDEN(gain[c]) + WIDEN(bias[c]), half2);
  }
}
