#include "k.h"
#define R 3
#define TILE 16u
#define WIDE (TILE + 6)
kernel WG(16, 16, 1) void bilateral_depth(global const ushort *restrict depth, global float *restrict filtered, int width,
                                          int height, float space_factor, float range_factor) {
  local float tile[WIDE][WIDE];
  int tx = TX, ty = TY;
  int x0 = (int)(WGX * TILE) - R, y0 = (int)(WGY * TILE) - R;
  for (uint e = (uint)TY * TILE + (uint)TX; e < WIDE * WIDE; e += TILE * TILE) {
    uint r = e / WIDE, c = e % WIDE;
    int x = x0 + (int)c, y = y0 + (int)r;
    bool inside = x >= 0 && y >= 0 && x < width && y < height;
    tile[r][c] = inside ? (float)depth[y * width + x] : 0.0f;
  }
  wg_barrier();
  int x = x0 + R + tx, y = y0 + R + ty;
  if (x >= width || y >= height) return;
  float here = tile[ty + R][tx + R];
  float result = 0.0f;
  if (here != 0.0f) {
    float sum = 0.0f, weights = 0.0f;
#pragma unroll
    for (int dy = -R; dy <= R; dy++) {
#pragma unroll
      for (int dx = -R; dx <= R; dx++) {
        float v = tile[ty + R + dy][tx + R + dx];
        float difference = v - here;
        float exponent = (float)(dx * dx + dy * dy) * space_factor + difference * difference * range_factor;
        float w = v != 0.0f ? __builtin_amdgcn_exp2f(exponent) : 0.0f;
        sum += w * v;
        weights += w;
      }
    }
    result = sum * __builtin_amdgcn_rcpf(weights);
  }
  filtered[y * width + x] = result;
}
