#include "k.h"
#define TILE 32u
#define STEP 16u
kernel WG(16, 16, 1) void dgemm_ragged(global const double *restrict a, global const double *restrict b,
                                       global double *restrict c, double alpha, double beta, uint m, uint n, uint k) {
  local double at[STEP][TILE + 1];
  local double bt[STEP][TILE];
  uint tx = TX, ty = TY;
  uint t = ty * 16 + tx;
  uint row0 = WGY * TILE, col0 = WGX * TILE;
  double acc[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  for (uint k0 = 0; k0 < k; k0 += STEP) {
#pragma unroll
    for (uint i = 0; i < 2; i++) {
      uint e = t + i * 256;
      uint ar = e / STEP, ak = e % STEP;
      at[ak][ar] = row0 + ar < m && k0 + ak < k ? a[(row0 + ar) * k + k0 + ak] : 0.0;
      uint bk = e / TILE, bc = e % TILE;
      bt[bk][bc] = k0 + bk < k && col0 + bc < n ? b[(k0 + bk) * n + col0 + bc] : 0.0;
    }
    wg_barrier();
#pragma unroll
    for (uint p = 0; p < STEP; p++) {
      double a0 = at[p][ty], a1 = at[p][ty + 16];
      double b0 = bt[p][tx], b1 = bt[p][tx + 16];
      acc[0][0] += a0 * b0;
      acc[0][1] += a0 * b1;
      acc[1][0] += a1 * b0;
      acc[1][1] += a1 * b1;
    }
    wg_barrier();
  }
#pragma unroll
  for (uint i = 0; i < 2; i++) {
#pragma unroll
    for (uint j = 0; j < 2; j++) {
      uint r = row0 + ty + i * 16, s = col0 + tx + j * 16;
      if (r < m && s < n) c[r * n + s] = alpha * acc[i][j] + beta * c[r * n + s];
    }
  }
}
