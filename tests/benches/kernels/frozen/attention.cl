#include "k.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define DIM 32u
#define TILE 32u
#define QUERIES 64u
#define WIDEN(v) __builtin_convertvector(v, float4)
kernel WG(64, 1, 1) void attention(global const half4 *restrict query, global const half4 *restrict key,
                                   global const half4 *restrict value, global float4 *restrict out, uint length,
                                   float scale) {
  local float4 keys[TILE][DIM / 4];
  local float4 values[TILE][DIM / 4];
  uint t = TX;
  uint i = WGX * QUERIES + t;
  uint head = WGY * length;
  float4 q[DIM / 4], acc[DIM / 4];
#pragma unroll
  for (uint c = 0; c < DIM / 4; c++) {
    q[c] = i < length ? WIDEN(query[(head + i) * (DIM / 4) + c]) * scale : (float4)(0.0f);
    acc[c] = (float4)(0.0f);
  }
  float highest = -__builtin_inff();
  float sum = 0.0f;
  uint last = (WGX + 1) * QUERIES;
  last = last < length ? last : length;
  for (uint j0 = 0; j0 < last; j0 += TILE) {
    wg_barrier();
#pragma unroll
    for (uint k = 0; k < TILE * (DIM / 4) / QUERIES; k++) {
      uint e = t + k * QUERIES;
      uint r = e / (DIM / 4), c = e % (DIM / 4);
      bool there = j0 + r < length;
      uint at = (head + j0 + r) * (DIM / 4) + c;
      keys[r][c] = there ? WIDEN(key[at]) : (float4)(0.0f);
      values[r][c] = there ? WIDEN(value[at]) : (float4)(0.0f);
    }
    wg_barrier();
    for (uint j = 0; j < TILE; j++) {
      if (j0 + j <= i) {
        float4 s = (float4)(0.0f);
#pragma unroll
        for (uint c = 0; c < DIM / 4; c++) s += q[c] * keys[j][c];
        float score = s.x + s.y + s.z + s.w;
        float higher = __builtin_fmaxf(highest, score);
        float shrink = __builtin_amdgcn_exp2f(highest - higher);
        float p = __builtin_amdgcn_exp2f(score - higher);
        sum = sum * shrink + p;
#pragma unroll
        for (uint c = 0; c < DIM / 4; c++) acc[c] = acc[c] * shrink + values[j][c] * p;
        highest = higher;
      }
    }
  }
  if (i < length) {
    float inv = __builtin_amdgcn_rcpf(sum);
#pragma unroll
    for (uint c = 0; c < DIM / 4; c++) out[(head + i) * (DIM / 4) + c] = acc[c] * inv;
  }
}
