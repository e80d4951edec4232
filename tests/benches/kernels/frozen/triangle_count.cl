#include "k.h"
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel WG(256, 1, 1) void triangle_count(global const uint *restrict row, global const uint *restrict col,
                                         global const uint *restrict from, global uint *restrict per_edge,
                                         global atomic_ulong *total, uint edges) {
  local atomic_uint sum;
  uint t = TX;
  uint e = WGX * 256 + t;
  if (t == 0) __opencl_atomic_store(&sum, 0u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  wg_barrier();
  if (e < edges) {
    uint u = from[e], v = col[e];
    uint i = row[u], j = row[v];
    uint i_end = row[u + 1], j_end = row[v + 1];
    uint count = 0;
    while (i < i_end && j < j_end) {
      uint a = col[i], b = col[j];
      if (a == b) {
        count += 1;
        i += 1;
        j += 1;
      } else if (a < b) {
        i += 1;
      } else {
        j += 1;
      }
    }
    per_edge[e] = count;
    if (count > 0) __opencl_atomic_fetch_add(&sum, count, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  }
  wg_barrier();
  if (t == 0)
    __opencl_atomic_fetch_add(total, (ulong)__opencl_atomic_load(&sum, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP),
                              __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
