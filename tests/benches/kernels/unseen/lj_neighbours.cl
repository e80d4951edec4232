// Lennard-Jones forces from neighbour lists; the twin of lj_neighbours.k.
#include "k.h"
#define TYPES 4u
typedef struct { float lj1, lj2, cut2, shift; } Pair;
static float3 nearest(float3 v) { return (float3)(__builtin_rintf(v.x), __builtin_rintf(v.y), __builtin_rintf(v.z)); }
kernel WG(64,1,1) void lj_neighbours(global const float4 *restrict positions, global const uint *restrict lists,
                                     global const uint *restrict counts, global const Pair *restrict pairs,
                                     global float4 *restrict forces, float box, uint atoms, uint pitch) {
  local Pair table[TYPES * TYPES];
  uint t = TX;
  if (t < TYPES * TYPES) table[t] = pairs[t];
  wg_barrier();
  uint i = WGX * 64 + t;
  if (i >= atoms) return;
  float inverse = __builtin_amdgcn_rcpf(box);
  float4 here = positions[i];
  uint kind = __builtin_astype(here.w, uint) * TYPES;
  float3 force = 0.0f;
  float energy = 0.0f;
  uint count = counts[i];
  for (uint k = 0; k < count; k++) {
    float4 there = positions[lists[k * pitch + i]];
    float3 d = here.xyz - there.xyz;
    d -= box * nearest(d * inverse);
    float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
    Pair p = table[kind + __builtin_astype(there.w, uint)];
    if (r2 < p.cut2) {
      float r2i = __builtin_amdgcn_rcpf(r2);
      float r6i = r2i * r2i * r2i;
      force += d * (r2i * r6i * (p.lj1 * r6i - p.lj2));
      energy += r6i * (p.lj1 * r6i * (1.0f / 12.0f) - p.lj2 * (1.0f / 6.0f)) - p.shift;
    }
  }
  forces[i] = (float4)(force, 0.5f * energy);
}
