#include "k.h"
constant int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant uint OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constant float WEIGHT[9] = {4.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f, 1.0f / 9.0f,
                            1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f};
static int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }
static float equilibrium(float w, float rho, float cu, float uu) {
  return w * rho * (1.0f + 3.0f * cu + 4.5f * cu * cu - 1.5f * uu);
}
kernel WG(64, 1, 1) void lbm_d2q9(global const float *restrict src, global float *restrict dst,
                                  global const uchar *restrict solid, int width, int height, float omega) {
  int x = WGX * 64 + TX;
  int y = WGY;
  if (x >= width) return;
  int cells = width * height;
  int here = y * width + x;
  float f[9];
#pragma unroll
  for (int q = 0; q < 9; q++) {
    int sx = wrap(x - CX[q], width), sy = wrap(y - CY[q], height);
    f[q] = src[q * cells + sy * width + sx];
  }
  if (solid[here] != 0) {
#pragma unroll
    for (int q = 0; q < 9; q++) dst[q * cells + here] = f[OPPOSITE[q]];
    return;
  }
  float rho = 0.0f, ux = 0.0f, uy = 0.0f;
#pragma unroll
  for (int q = 0; q < 9; q++) {
    rho += f[q];
    ux += (float)CX[q] * f[q];
    uy += (float)CY[q] * f[q];
  }
  float inv = __builtin_amdgcn_rcpf(rho);
  ux *= inv;
  uy *= inv;
  float uu = ux * ux + uy * uy;
#pragma unroll
  for (int q = 0; q < 9; q++) {
    float cu = (float)CX[q] * ux + (float)CY[q] * uy;
    dst[q * cells + here] = f[q] + omega * (equilibrium(WEIGHT[q], rho, cu, uu) - f[q]);
  }
}
