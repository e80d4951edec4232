// Quantised GEMM of a fully connected layer; the twin of qgemm_i8.k.
#include "k.h"
#define TILE 32u
#define DEPTH 8u
#if defined(__gfx803__)
static int dot4(int a, int b, int c) {
  char4 x = __builtin_astype(a, char4), y = __builtin_astype(b, char4);
  return c + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
#else
static int dot4(int a, int b, int c) { return __builtin_amdgcn_sdot4(a, b, c, false); }
#endif
static char requantise(int sum, int multiplier, int shift, int zero) {
  int high = (int)(((long)sum * multiplier + (1l << 30)) >> 31);
  int v = ((high + (1 << (shift - 1))) >> shift) + zero;
  return (char)(v < -128 ? -128 : v > 127 ? 127 : v);
}
kernel WG(16,16,1) void qgemm_i8(global const int *restrict A, global const int *restrict B,
                                 global const int *restrict bias, global const int *restrict multipliers,
                                 global const int *restrict shifts, global char *restrict C, uint M, uint N, uint words,
                                 int zero) {
  local int As[TILE][DEPTH + 1], Bs[TILE][DEPTH + 1];
  uint tx = TX, ty = TY, t = ty * 16 + tx;
  uint row0 = WGY * TILE, col0 = WGX * TILE;
  uint lr = t / DEPTH, lk = t % DEPTH;
  int acc[2][2] = {{0}};
  for (uint k0 = 0; k0 < words; k0 += DEPTH) {
    uint k = k0 + lk;
    As[lr][lk] = row0 + lr < M && k < words ? A[(row0 + lr) * words + k] : 0;
    Bs[lr][lk] = col0 + lr < N && k < words ? B[(col0 + lr) * words + k] : 0;
    wg_barrier();
#pragma unroll
    for (uint k = 0; k < DEPTH; k++) {
      int a[2] = {As[ty][k], As[ty + 16][k]};
      int b[2] = {Bs[tx][k], Bs[tx + 16][k]};
#pragma unroll
      for (uint i = 0; i < 2; i++)
#pragma unroll
        for (uint j = 0; j < 2; j++) acc[i][j] = dot4(a[i], b[j], acc[i][j]);
    }
    wg_barrier();
  }
#pragma unroll
  for (uint j = 0; j < 2; j++) {
    uint c = col0 + tx + 16 * j;
    if (c < N) {
#pragma unroll
      for (uint i = 0; i < 2; i++) {
        uint r = row0 + ty + 16 * i;
        if (r < M) C[r * N + c] = requantise(acc[i][j] + bias[c], multipliers[c], shifts[c], zero);
      }
    }
  }
}
