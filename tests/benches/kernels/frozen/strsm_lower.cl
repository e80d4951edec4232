#include "k.h"
#define NB 16u
static void load_tile(local float (*tile)[NB], global const float *l, uint row0, uint col0, uint n, uint t) {
#pragma unroll
  for (uint i = 0; i < NB * NB / 64; i++) {
    uint e = t + i * 64;
    uint r = e / NB, c = e % NB;
    tile[r][c] = row0 + r < n && col0 + c < n ? l[(row0 + r) * n + col0 + c] : 0.0f;
  }
}
kernel WG(64, 1, 1) void strsm_lower(global const float *restrict l, global float *restrict b, uint n, uint nrhs) {
  local float tile[NB][NB];
  uint t = TX;
  uint col = WGX * 64 + t;
  bool mine = col < nrhs;
  float x[NB];
  for (uint i0 = 0; i0 < n; i0 += NB) {
#pragma unroll
    for (uint i = 0; i < NB; i++) x[i] = mine && i0 + i < n ? b[(i0 + i) * nrhs + col] : 0.0f;
    for (uint j0 = 0; j0 < i0; j0 += NB) {
      wg_barrier();
      load_tile(tile, l, i0, j0, n, t);
      wg_barrier();
#pragma unroll
      for (uint k = 0; k < NB; k++) {
        float s = mine ? b[(j0 + k) * nrhs + col] : 0.0f;
#pragma unroll
        for (uint i = 0; i < NB; i++) x[i] -= tile[i][k] * s;
      }
    }
    wg_barrier();
    load_tile(tile, l, i0, i0, n, t);
    wg_barrier();
#pragma unroll
    for (uint k = 0; k < NB; k++) {
      if (i0 + k < n) x[k] *= __builtin_amdgcn_rcpf(tile[k][k]);
#pragma unroll
      for (uint i = k + 1; i < NB; i++) x[i] -= tile[i][k] * x[k];
    }
#pragma unroll
    for (uint i = 0; i < NB; i++)
      if (mine && i0 + i < n) b[(i0 + i) * nrhs + col] = x[i];
  }
}
