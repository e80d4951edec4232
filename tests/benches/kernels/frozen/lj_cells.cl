#include "k.h"
static int wrap(int c, int n) { return c < 0 ? c + n : c >= n ? c - n : c; }
static int mini(int a, int b) { return a < b ? a : b; }
kernel WG(64, 1, 1) void lj_cells(global const float4 *restrict position, global const uint *restrict cell_start,
                                  global float4 *restrict force, int side, float box_length, float cutoff2, uint n) {
  uint i = WGX * 64 + TX;
  if (i >= n) return;
  float3 p = position[i].xyz;
  float scale = (float)side * __builtin_amdgcn_rcpf(box_length);
  int cx = mini((int)(p.x * scale), side - 1);
  int cy = mini((int)(p.y * scale), side - 1);
  int cz = mini((int)(p.z * scale), side - 1);
  float half_ = 0.5f * box_length;
  float3 f = (float3)(0.0f);
  float energy = 0.0f;
  for (int dz = -1; dz <= 1; dz++) {
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        int cell = (wrap(cz + dz, side) * side + wrap(cy + dy, side)) * side + wrap(cx + dx, side);
        uint end = cell_start[cell + 1];
        for (uint j = cell_start[cell]; j < end; j++) {
          float3 d = p - position[j].xyz;
          d.x -= d.x > half_ ? box_length : d.x < -half_ ? -box_length : 0.0f;
          d.y -= d.y > half_ ? box_length : d.y < -half_ ? -box_length : 0.0f;
          d.z -= d.z > half_ ? box_length : d.z < -half_ ? -box_length : 0.0f;
          float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
          if (r2 < cutoff2 && j != i) {
            float inv2 = __builtin_amdgcn_rcpf(r2);
            float inv6 = inv2 * inv2 * inv2;
            f += d * (24.0f * inv2 * inv6 * (2.0f * inv6 - 1.0f));
            energy += 2.0f * inv6 * (inv6 - 1.0f);
          }
        }
      }
    }
  }
  force[i] = (float4)(f, energy);
}
