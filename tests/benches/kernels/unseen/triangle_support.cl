// Triangles of each edge of a graph, and their number; the twin of triangle_support.k.
#include "k.h"
#define RELAXED __ATOMIC_RELAXED
#define DEVICE_SCOPE __OPENCL_MEMORY_SCOPE_DEVICE
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
// The sum over the wave, in all lanes.
static uint wave_sum(uint v) {
  for (uint m = __builtin_amdgcn_wavefrontsize() / 2; m > 0; m >>= 1)
    v += (uint)__builtin_amdgcn_ds_bpermute((int)((lane_id() ^ m) * 4), (int)v);
  return v;
}
kernel WG(64,1,1) void triangle_support(global const uint *restrict rows, global const uint *restrict columns,
                                        global const uint *restrict sources, global atomic_uint *support,
                                        global atomic_ulong *total, uint edges) {
  uint e = WGX * 64 + TX;
  uint count = 0;
  if (e < edges) {
    uint u = sources[e], v = columns[e];
    // Common neighbours of u and v are above v: in the list of u they lie behind v.
    uint low = e + 1, low_end = rows[u + 1];
    uint high = rows[v], high_end = rows[v + 1];
    if (low_end - low > high_end - high) {
      uint a = low, b = low_end;
      low = high; low_end = high_end;
      high = a; high_end = b;
    }
    while (low < low_end && high < high_end) {
      uint w = columns[low];
      uint step = 1;
      while (high + step < high_end && columns[high + step] <= w) {
        high += step;
        step <<= 1;
      }
      while (step > 0) {
        if (high + step < high_end && columns[high + step] <= w) high += step;
        step >>= 1;
      }
      if (columns[high] == w) {
        count++;
        __opencl_atomic_fetch_add(&support[low], 1u, RELAXED, DEVICE_SCOPE);
        __opencl_atomic_fetch_add(&support[high], 1u, RELAXED, DEVICE_SCOPE);
        high++;
      }
      low++;
    }
    if (count > 0) __opencl_atomic_fetch_add(&support[e], count, RELAXED, DEVICE_SCOPE);
  }
  uint sum = wave_sum(count);
  if (lane_id() == 0 && sum > 0) __opencl_atomic_fetch_add(total, (ulong)sum, RELAXED, DEVICE_SCOPE);
}
