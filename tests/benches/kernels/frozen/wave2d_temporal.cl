#include "k.h"
#define TILE 16u
#define WIDE (TILE + 4)
#define MIDDLE (TILE + 2)
static bool inside(int x, int y, uint nx, uint ny) { return x >= 0 && y >= 0 && x < (int)nx && y < (int)ny; }
kernel WG(16, 16, 1) void wave2d_temporal(global const float *restrict before, global const float *restrict now,
                                          global const float *restrict speed, global float *restrict first,
                                          global float *restrict second, uint nx, uint ny) {
  local float p[WIDE][WIDE];
  local float q[MIDDLE][MIDDLE];
  uint tx = TX, ty = TY;
  uint t = ty * TILE + tx;
  int x0 = (int)(WGX * TILE), y0 = (int)(WGY * TILE);
  for (uint e = t; e < WIDE * WIDE; e += TILE * TILE) {
    uint r = e / WIDE, c = e % WIDE;
    int x = x0 + (int)c - 2, y = y0 + (int)r - 2;
    p[r][c] = inside(x, y, nx, ny) ? now[(uint)y * nx + (uint)x] : 0.0f;
  }
  wg_barrier();
  for (uint e = t; e < MIDDLE * MIDDLE; e += TILE * TILE) {
    uint r = e / MIDDLE, c = e % MIDDLE;
    int x = x0 + (int)c - 1, y = y0 + (int)r - 1;
    float v = 0.0f;
    if (inside(x, y, nx, ny)) {
      uint i = (uint)y * nx + (uint)x;
      float here = p[r + 1][c + 1];
      float lap = p[r + 1][c] + p[r + 1][c + 2] + p[r][c + 1] + p[r + 2][c + 1] - 4.0f * here;
      v = 2.0f * here - before[i] + speed[i] * lap;
    }
    q[r][c] = v;
  }
  wg_barrier();
  uint x = WGX * TILE + tx, y = WGY * TILE + ty;
  if (x < nx && y < ny) {
    uint i = y * nx + x;
    float here = q[ty + 1][tx + 1];
    float lap = q[ty + 1][tx] + q[ty + 1][tx + 2] + q[ty][tx + 1] + q[ty + 2][tx + 1] - 4.0f * here;
    first[i] = here;
    second[i] = 2.0f * here - p[ty + 2][tx + 2] + speed[i] * lap;
  }
}
