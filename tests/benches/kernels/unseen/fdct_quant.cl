// Forward DCT, quantisation and zigzag order of 8 x 8 blocks; the twin of fdct_quant.k.
#include "k.h"
#define C1 0.490392640f
#define C2 0.461939766f
#define C3 0.415734806f
#define C4 0.353553391f
#define C5 0.277785117f
#define C6 0.191341716f
#define C7 0.097545161f
constant uchar ZIGZAG[64] = {
  0, 1, 5, 6, 14, 15, 27, 28, 2, 4, 7, 13, 16, 26, 29, 42, 3, 8, 12, 17, 25, 30, 41, 43, 9, 11, 18, 24, 31, 40, 44, 53,
  10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57,
  58, 62, 63,
};
static void dct8(const float *x, float *y) {
  float s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
  float d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
  float e0 = s0 + s3, e1 = s1 + s2, e2 = s0 - s3, e3 = s1 - s2;
  y[0] = C4 * (e0 + e1);
  y[1] = C1 * d0 + C3 * d1 + C5 * d2 + C7 * d3;
  y[2] = C2 * e2 + C6 * e3;
  y[3] = C3 * d0 - C7 * d1 - C1 * d2 - C5 * d3;
  y[4] = C4 * (e0 - e1);
  y[5] = C5 * d0 - C1 * d1 + C7 * d2 + C3 * d3;
  y[6] = C6 * e2 - C2 * e3;
  y[7] = C7 * d0 - C5 * d1 + C3 * d2 - C1 * d3;
}
kernel WG(64,1,1) void fdct_quant(global const uchar *restrict image, global const float *restrict scale,
                                  global short *restrict coefficients, uint width) {
  local float tile[8][8][9];
  uint t = TX, b = t / 8, line = t % 8;
  uint blocks = width / 8;
  uint column = WGX * 8 + b;
  bool inside = column < blocks;
  if (inside) {
    global const uchar *from = image + ((WGY * 8 + line) * width + column * 8);
    float row[8], out[8];
#pragma unroll
    for (uint i = 0; i < 8; i++) row[i] = (float)from[i] - 128.0f;
    dct8(row, out);
#pragma unroll
    for (uint i = 0; i < 8; i++) tile[b][line][i] = out[i];
  }
  wg_barrier();
  if (inside) {
    float down[8], out[8];
#pragma unroll
    for (uint i = 0; i < 8; i++) down[i] = tile[b][i][line];
    dct8(down, out);
    global short *to = coefficients + (WGY * blocks + column) * 64;
#pragma unroll
    for (uint i = 0; i < 8; i++)
      to[ZIGZAG[i * 8 + line]] = (short)__builtin_rintf(out[i] * scale[i * 8 + line]);
  }
}
