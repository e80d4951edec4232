#include "k.h"
#define N 8u
#define PACKED (N * (N + 1) / 2)
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j))
kernel WG(64, 1, 1) void cholesky_batched(global float *restrict a, global float *restrict b, uint batch) {
  uint id = WGX * 64 + TX;
  if (id >= batch) return;
  float l[PACKED], x[N], inv[N];
#pragma unroll
  for (uint e = 0; e < PACKED; e++) l[e] = a[e * batch + id];
#pragma unroll
  for (uint i = 0; i < N; i++) x[i] = b[i * batch + id];
#pragma unroll
  for (uint j = 0; j < N; j++) {
    float d = l[AT(j, j)];
#pragma unroll
    for (uint k = 0; k < j; k++) d -= l[AT(j, k)] * l[AT(j, k)];
    inv[j] = __builtin_amdgcn_rsqf(d);
    l[AT(j, j)] = d * inv[j];
#pragma unroll
    for (uint i = j + 1; i < N; i++) {
      float s = l[AT(i, j)];
#pragma unroll
      for (uint k = 0; k < j; k++) s -= l[AT(i, k)] * l[AT(j, k)];
      l[AT(i, j)] = s * inv[j];
    }
  }
#pragma unroll
  for (uint i = 0; i < N; i++) {
#pragma unroll
    for (uint k = 0; k < i; k++) x[i] -= l[AT(i, k)] * x[k];
    x[i] *= inv[i];
  }
#pragma unroll
  for (uint r = 0; r < N; r++) {
    uint i = N - 1 - r;
#pragma unroll
    for (uint k = i + 1; k < N; k++) x[i] -= l[AT(k, i)] * x[k];
    x[i] *= inv[i];
  }
#pragma unroll
  for (uint e = 0; e < PACKED; e++) a[e * batch + id] = l[e];
#pragma unroll
  for (uint i = 0; i < N; i++) b[i * batch + id] = x[i];
}
