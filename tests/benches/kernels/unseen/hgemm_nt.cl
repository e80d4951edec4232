// C = alpha * A * B^T + beta * C in half with sums in float; the twin of hgemm_nt.k.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#include "k.h"
#define TILE 32
#define DEPTH 16
#define PITCH (TILE + 2)
kernel WG(8,8,1) void hgemm_nt(global const half *restrict A, global const half *restrict B, global half *restrict C,
                               uint M, uint N, uint K, float alpha, float beta) {
  local half As[DEPTH][PITCH], Bs[DEPTH][PITCH];
  uint tx = TX, ty = TY, t = ty * 8 + tx;
  uint row0 = WGY * TILE, col0 = WGX * TILE;
  // Each work-item brings eight adjacent halves of each tile.
  uint lr = t >> 1, lk = (t & 1) * 8;
  global const half8 *a8 = (global const half8 *)A;
  global const half8 *b8 = (global const half8 *)B;
  float acc[4][4] = {{0.0f}};
  for (uint k0 = 0; k0 < K; k0 += DEPTH) {
    half8 av = 0, bv = 0;
    if (row0 + lr < M) av = a8[((row0 + lr) * K + k0 + lk) >> 3];
    if (col0 + lr < N) bv = b8[((col0 + lr) * K + k0 + lk) >> 3];
#pragma unroll
    for (uint e = 0; e < 8; e++) {
      As[lk + e][lr] = av[e];
      Bs[lk + e][lr] = bv[e];
    }
    wg_barrier();
#pragma unroll
    for (uint k = 0; k < DEPTH; k++) {
      float a[4], b[4];
#pragma unroll
      for (uint i = 0; i < 4; i++) {
        a[i] = (float)As[k][ty * 4 + i];
        b[i] = (float)Bs[k][tx * 4 + i];
      }
#pragma unroll
      for (uint i = 0; i < 4; i++)
#pragma unroll
        for (uint j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
    }
    wg_barrier();
  }
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    uint r = row0 + ty * 4 + i;
    if (r < M) {
#pragma unroll
      for (uint j = 0; j < 4; j++) {
        uint c = col0 + tx * 4 + j;
        if (c < N) {
          float old = (float)C[r * N + c];
          C[r * N + c] = (half)(alpha * acc[i][j] + beta * old);
        }
      }
    }
  }
}
