// One level of a breadth-first search from the top down; the twin of bfs_expand.k.
#include "k.h"
#define UNSEEN 0xffffffffu
#define THREADS 128u
#define ROOM 512u
#define RELAXED __ATOMIC_RELAXED
#define GROUP_SCOPE __OPENCL_MEMORY_SCOPE_WORK_GROUP
#define DEVICE_SCOPE __OPENCL_MEMORY_SCOPE_DEVICE
kernel WG(128,1,1) void bfs_expand(global const uint *restrict rows, global const uint *restrict columns,
                                   global const uint *restrict frontier, global atomic_uint *distances,
                                   global uint *restrict next, global atomic_uint *next_size, uint frontier_size,
                                   uint level) {
  local uint queue[ROOM];
  local atomic_uint found;
  local uint base;
  uint t = TX;
  if (t == 0) __opencl_atomic_store(&found, 0u, RELAXED, GROUP_SCOPE);
  wg_barrier();
  uint i = WGX * THREADS + t;
  if (i < frontier_size) {
    uint v = frontier[i];
    uint end = rows[v + 1];
    for (uint e = rows[v]; e < end; e++) {
      uint w = columns[e];
      // Most neighbours have been seen: a plain look saves the compare-and-swap.
      if (__opencl_atomic_load(&distances[w], RELAXED, DEVICE_SCOPE) != UNSEEN) continue;
      uint old = UNSEEN;
      if (!__opencl_atomic_compare_exchange_strong(&distances[w], &old, level + 1, RELAXED, RELAXED, DEVICE_SCOPE))
        continue;
      uint slot = __opencl_atomic_fetch_add(&found, 1u, RELAXED, GROUP_SCOPE);
      if (slot < ROOM) queue[slot] = w;
      else next[__opencl_atomic_fetch_add(next_size, 1u, RELAXED, DEVICE_SCOPE)] = w;
    }
  }
  wg_barrier();
  uint count = __opencl_atomic_load(&found, RELAXED, GROUP_SCOPE);
  count = count < ROOM ? count : ROOM;
  if (t == 0) base = __opencl_atomic_fetch_add(next_size, count, RELAXED, DEVICE_SCOPE);
  wg_barrier();
  for (uint k = t; k < count; k += THREADS) next[base + k] = queue[k];
}
