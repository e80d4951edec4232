#include "k.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define LANES 64u
#define ROWS 4u
kernel WG(64, 4, 1) void gemv_f16(global const half4 *restrict a, global const half4 *restrict x, global float *restrict y,
                                  float alpha, float beta, uint m, uint k4) {
  local float part[ROWS][LANES];
  uint t = TX, w = TY;
  uint row = WGX * ROWS + w;
  float4 acc = (float4)(0.0f);
  if (row < m) {
    for (uint c = t; c < k4; c += LANES)
      acc += __builtin_convertvector(a[row * k4 + c], float4) * __builtin_convertvector(x[c], float4);
  }
  part[w][t] = acc.x + acc.y + acc.z + acc.w;
  wg_barrier();
  for (uint d = LANES / 2; d > 0; d >>= 1) {
    if (t < d) part[w][t] += part[w][t + d];
    wg_barrier();
  }
  if (t == 0 && row < m) y[row] = alpha * part[w][0] + beta * y[row];
}
