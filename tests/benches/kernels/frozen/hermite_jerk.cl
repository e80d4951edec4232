#include "k.h"
#define TILE 128u
typedef struct { float4 position, velocity; } Moving;  // position.w: mass
static float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
kernel WG(128, 1, 1) void hermite_jerk(global const Moving *restrict bodies, global float4 *restrict acceleration,
                                       global float4 *restrict jerk, float epsilon2, uint n) {
  local Moving tile[TILE];
  uint t = TX;
  uint i = WGX * TILE + t;
  Moving zero = {(float4)(0.0f), (float4)(0.0f)};
  Moving own = i < n ? bodies[i] : zero;
  float3 a = (float3)(0.0f), s = (float3)(0.0f);
  float potential = 0.0f;
  for (uint j0 = 0; j0 < n; j0 += TILE) {
    tile[t] = j0 + t < n ? bodies[j0 + t] : zero;
    wg_barrier();
    for (uint j = 0; j < TILE; j++) {
      Moving other = tile[j];
      float3 d = other.position.xyz - own.position.xyz;
      float3 u = other.velocity.xyz - own.velocity.xyz;
      float r2 = dot3(d, d) + epsilon2;
      float inv = __builtin_amdgcn_rsqf(r2);
      float inv2 = inv * inv;
      float m_inv = other.position.w * inv;
      float m_inv3 = m_inv * inv2;
      float alpha = 3.0f * dot3(d, u) * inv2;
      a += d * m_inv3;
      s += (u - d * alpha) * m_inv3;
      potential -= m_inv;
    }
    wg_barrier();
  }
  if (i < n) {
    acceleration[i] = (float4)(a, potential);
    jerk[i] = (float4)(s, 0.0f);
  }
}
