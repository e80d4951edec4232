#include "k.h"
#define GROUP 128u
#define CAPACITY 256u
#define UNSEEN (~0u)
#define RELAXED __ATOMIC_RELAXED
#define DEVICE __OPENCL_MEMORY_SCOPE_DEVICE
#define WORKGROUP __OPENCL_MEMORY_SCOPE_WORK_GROUP
kernel WG(128, 1, 1) void bfs_frontier(global const uint *restrict row, global const uint *restrict col,
                                       global const uint *restrict frontier, global uint *restrict next,
                                       global atomic_uint *next_size, global atomic_uint *level, uint depth, uint size) {
  local uint queue[CAPACITY];
  local atomic_uint queued;
  local uint first;
  uint t = TX;
  uint i = WGX * GROUP + t;
  if (t == 0) __opencl_atomic_store(&queued, 0u, RELAXED, WORKGROUP);
  wg_barrier();
  if (i < size) {
    uint v = frontier[i];
    uint end = row[v + 1];
    for (uint e = row[v]; e < end; e++) {
      uint w = col[e];
      if (__opencl_atomic_load(&level[w], RELAXED, DEVICE) == UNSEEN) {
        uint old = UNSEEN;
        if (__opencl_atomic_compare_exchange_strong(&level[w], &old, depth + 1, RELAXED, RELAXED, DEVICE)) {
          uint slot = __opencl_atomic_fetch_add(&queued, 1u, RELAXED, WORKGROUP);
          if (slot < CAPACITY)
            queue[slot] = w;
          else
            next[__opencl_atomic_fetch_add(next_size, 1u, RELAXED, DEVICE)] = w;
        }
      }
    }
  }
  wg_barrier();
  uint count = __opencl_atomic_load(&queued, RELAXED, WORKGROUP);
  count = count < CAPACITY ? count : CAPACITY;
  if (t == 0) first = __opencl_atomic_fetch_add(next_size, count, RELAXED, DEVICE);
  wg_barrier();
  for (uint k = t; k < count; k += GROUP) next[first + k] = queue[k];
}
