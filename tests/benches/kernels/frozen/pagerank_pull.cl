#include "k.h"
#define GROUP 256u
#define LANES 8u
#define VERTICES (GROUP / LANES)
static float shuffle_xor(float v, uint m) {
  uint lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  return __builtin_astype(__builtin_amdgcn_ds_bpermute((int)((lane ^ m) << 2), __builtin_astype(v, int)), float);
}
kernel WG(256, 1, 1) void pagerank_pull(global const uint *restrict row, global const uint *restrict source,
                                        global const float *restrict rank, global const float *restrict inverse_degree,
                                        global float *restrict new_rank, global float *restrict change, float base,
                                        float damping, uint n) {
  local float changes[VERTICES];
  uint t = TX;
  uint lane = t % LANES;
  uint v = (WGX * GROUP + t) / LANES;
  float sum = 0.0f;
  if (v < n) {
    uint end = row[v + 1];
    uint e = row[v] + lane;
    while (e < end) {
      uint u = source[e];
      sum += rank[u] * inverse_degree[u];
      e += LANES;
    }
  }
  sum += shuffle_xor(sum, 4);
  sum += shuffle_xor(sum, 2);
  sum += shuffle_xor(sum, 1);
  if (lane == 0) {
    float delta = 0.0f;
    if (v < n) {
      float r = base + damping * sum;
      delta = __builtin_fabsf(r - rank[v]);
      new_rank[v] = r;
    }
    changes[t / LANES] = delta;
  }
  wg_barrier();
  for (uint d = VERTICES / 2; d > 0; d >>= 1) {
    if (t < d) changes[t] += changes[t + d];
    wg_barrier();
  }
  if (t == 0) change[WGX] = changes[0];
}
