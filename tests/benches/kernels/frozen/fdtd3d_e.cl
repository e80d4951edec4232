#include "k.h"
typedef struct { float decay, drive; } Material;
kernel WG(32, 4, 1) void fdtd3d_e(global float *restrict ex, global float *restrict ey, global float *restrict ez,
                                  global const float *restrict hx, global const float *restrict hy,
                                  global const float *restrict hz, global const uchar *restrict kind,
                                  global const Material *restrict materials, uint nx, uint ny, uint nz) {
  uint x = WGX * 32 + TX, y = WGY * 4 + TY, z = __builtin_amdgcn_workgroup_id_z();
  if (x >= nx || y >= ny || z >= nz) return;
  uint area = nx * ny;
  uint i = z * area + y * nx + x;
  Material m = materials[kind[i]];
  bool inner_x = x > 0 && x < nx - 1;
  bool inner_y = y > 0 && y < ny - 1;
  bool inner_z = z > 0 && z < nz - 1;
  float a = hx[i], b = hy[i], c = hz[i];
  if (inner_y && inner_z) ex[i] = m.decay * ex[i] + m.drive * ((c - hz[i - nx]) - (b - hy[i - area]));
  if (inner_x && inner_z) ey[i] = m.decay * ey[i] + m.drive * ((a - hx[i - area]) - (c - hz[i - 1]));
  if (inner_x && inner_y) ez[i] = m.decay * ez[i] + m.drive * ((b - hy[i - 1]) - (a - hx[i - nx]));
}
