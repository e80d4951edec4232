#include "k.h"
#define BX 32u
#define BY 8u
kernel WG(32, 8, 1) void heat3d(global const float *restrict input, global float *restrict output, uint nx, uint ny,
                                uint nz, float c) {
  local float plane[BY + 2][BX + 2];
  uint tx = TX, ty = TY;
  uint x = WGX * BX + tx, y = WGY * BY + ty;
  uint area = nx * ny;
  bool inside = x < nx && y < ny;
  bool interior = x > 0 && x + 1 < nx && y > 0 && y + 1 < ny;
  uint at = y * nx + x;
  float below = 0.0f, here = 0.0f;
  if (inside) {
    below = input[at];
    here = input[at + area];
  }
  for (uint z = 1; z < nz - 1; z++) {
    at += area;
    float above = inside ? input[at + area] : 0.0f;
    wg_barrier();
    plane[ty + 1][tx + 1] = here;
    if (interior) {
      if (tx == 0) plane[ty + 1][0] = input[at - 1];
      if (tx == BX - 1) plane[ty + 1][BX + 1] = input[at + 1];
      if (ty == 0) plane[0][tx + 1] = input[at - nx];
      if (ty == BY - 1) plane[BY + 1][tx + 1] = input[at + nx];
    }
    wg_barrier();
    if (interior) {
      float sum = plane[ty + 1][tx] + plane[ty + 1][tx + 2] + plane[ty][tx + 1] + plane[ty + 2][tx + 1] + below + above;
      output[at] = here + c * (sum - 6.0f * here);
    }
    below = here;
    here = above;
  }
}
