// Charge deposition of particles with triangular-shaped clouds; the twin of tsc_deposit.k.
#include "k.h"
#ifndef LOG
#define LOG 4
#endif
#define SIDE (1 << LOG)
// Weights of the cell before, at and after the nearest cell, for the distance d from its centre.
static void weights(float d, float *w) {
  w[0] = 0.5f * (0.5f - d) * (0.5f - d);
  w[1] = 0.75f - d * d;
  w[2] = 0.5f * (0.5f + d) * (0.5f + d);
}
kernel WG(128,1,1) void tsc_deposit(global const float *restrict px, global const float *restrict py,
                                    global const float *restrict pz, global const float *restrict charge,
                                    global atomic_int *mesh, uint particles, float unit) {
  uint i = WGX * 128 + TX;
  if (i >= particles) return;
  float x = px[i], y = py[i], z = pz[i];
  float nx = __builtin_rintf(x), ny = __builtin_rintf(y), nz = __builtin_rintf(z);
  float wx[3], wy[3], wz[3];
  weights(x - nx, wx);
  weights(y - ny, wy);
  weights(z - nz, wz);
  float q = charge[i] * unit;
  int cx = (int)nx - 1, cy = (int)ny - 1, cz = (int)nz - 1;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    int slab = ((cz + c) & (SIDE - 1)) << (2 * LOG);
    float qz = q * wz[c];
#pragma unroll
    for (int b = 0; b < 3; b++) {
      int row = slab | ((cy + b) & (SIDE - 1)) << LOG;
      float qyz = qz * wy[b];
#pragma unroll
      for (int a = 0; a < 3; a++) {
        int cell = row | ((cx + a) & (SIDE - 1));
        __opencl_atomic_fetch_add(&mesh[cell], (int)__builtin_rintf(qyz * wx[a]), __ATOMIC_RELAXED,
                                  __OPENCL_MEMORY_SCOPE_DEVICE);
      }
    }
  }
}
