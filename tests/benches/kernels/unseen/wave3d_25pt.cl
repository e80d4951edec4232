// One time step of the acoustic wave equation with a 25-point stencil; the twin of wave3d_25pt.k.
#include "k.h"
#define R 4u
#define BX 16
#define BY 16
constant float C[5] = {-2.847222222f, 1.6f, -0.2f, 0.025396825f, -0.001785714f};
static uint least(uint a, uint b) { return a < b ? a : b; }
kernel WG(BX,BY,1) void wave3d_25pt(global float *restrict next, global const float *restrict now,
                                    global const float *restrict vel, uint nx, uint ny, uint nz) {
  local float plane[BY + 2 * R][BX + 2 * R];
  uint tx = TX, ty = TY;
  uint x = WGX * BX + tx, y = WGY * BY + ty;
  bool inside = x < nx && y < ny;
  uint pitch = nx + 2 * R;
  uint slab = pitch * (ny + 2 * R);
  // Work-items beyond the grid repeat its last column or row.
  uint cx = least(x, nx - 1) + R, cy = least(y, ny - 1) + R;
  uint at = cy * pitch + cx;
  float behind[4], front[4];
#pragma unroll
  for (uint i = 0; i < R; i++) {
    behind[R - 1 - i] = now[at + i * slab];
    front[i] = now[at + (R + 1 + i) * slab];
  }
  float current = now[at + R * slab];
  at += R * slab;
  for (uint z = 0; z < nz; z++) {
    wg_barrier();
    if (ty < R) {
      uint up = least(WGY * BY + ty, ny + R - 1);
      uint down = least(WGY * BY + ty + BY + R, ny + 2 * R - 1);
      plane[ty][tx + R] = now[at + up * pitch - cy * pitch];
      plane[ty + BY + R][tx + R] = now[at + down * pitch - cy * pitch];
    }
    if (tx < R) {
      uint left = least(WGX * BX + tx, nx + R - 1);
      uint right = least(WGX * BX + tx + BX + R, nx + 2 * R - 1);
      plane[ty + R][tx] = now[at + left - cx];
      plane[ty + R][tx + BX + R] = now[at + right - cx];
    }
    // In a block at the edge, the halo lies where no cell is inside.
    plane[ty + R][tx + R] = inside ? current
        : now[at - cy * pitch - cx + least(y + R, ny + 2 * R - 1) * pitch + least(x + R, nx + 2 * R - 1)];
    wg_barrier();
    if (inside) {
      float lap = 3.0f * C[0] * current;
#pragma unroll
      for (uint r = 1; r <= R; r++)
        lap += C[r] * (front[r - 1] + behind[r - 1] + plane[ty + R - r][tx + R] + plane[ty + R + r][tx + R] +
                       plane[ty + R][tx + R - r] + plane[ty + R][tx + R + r]);
      next[at] = 2.0f * current - next[at] + vel[at] * lap;
    }
    at += slab;
#pragma unroll
    for (uint i = 0; i < R - 1; i++) behind[R - 1 - i] = behind[R - 2 - i];
    behind[0] = current;
    current = front[0];
#pragma unroll
    for (uint i = 0; i < R - 1; i++) front[i] = front[i + 1];
    if (z + 1 < nz) front[R - 1] = now[at + R * slab];
  }
}
