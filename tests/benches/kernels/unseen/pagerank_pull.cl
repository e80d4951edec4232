// One iteration of PageRank in pull form, eight lanes a vertex; the twin of pagerank_pull.k.
#include "k.h"
#define THREADS 256u
#define LANES 8u
#define VERTICES (THREADS / LANES)
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static float shuffle_xor(float v, uint m) {
  int bits = __builtin_amdgcn_ds_bpermute((int)((lane_id() ^ m) * 4), __builtin_astype(v, int));
  return __builtin_astype(bits, float);
}
kernel WG(256,1,1) void pagerank_pull(global const uint *restrict rows, global const uint *restrict columns,
                                      global const uint *restrict out_degrees, global const float *restrict contributions,
                                      global float *restrict ranks, global float *restrict next_contributions,
                                      global float *restrict changes, uint vertices, float damping) {
  local float part[VERTICES];
  uint t = TX, lane = t % LANES;
  uint v = (WGX * THREADS + t) / LANES;
  float sum = 0.0f;
  if (v < vertices) {
    uint end = rows[v + 1];
    for (uint e = rows[v] + lane; e < end; e += LANES) sum += contributions[columns[e]];
  }
  sum += shuffle_xor(sum, 4);
  sum += shuffle_xor(sum, 2);
  sum += shuffle_xor(sum, 1);
  if (lane == 0) {
    float change = 0.0f;
    if (v < vertices) {
      float rank = (1.0f - damping) * __builtin_amdgcn_rcpf((float)vertices) + damping * sum;
      change = __builtin_fabsf(rank - ranks[v]);
      ranks[v] = rank;
      uint degree = out_degrees[v];
      next_contributions[v] = degree > 0 ? rank * __builtin_amdgcn_rcpf((float)degree) : 0.0f;
    }
    part[t / LANES] = change;
  }
  wg_barrier();
  for (uint d = VERTICES / 2; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    wg_barrier();
  }
  if (t == 0) changes[WGX] = part[0];
}
