#include "k.h"
#define TILE 16u
#define WORKGROUP __OPENCL_MEMORY_SCOPE_WORK_GROUP
static uint find(local atomic_uint *parent, uint start) {
  uint a = start;
  for (;;) {
    uint p = __opencl_atomic_load(&parent[a], __ATOMIC_RELAXED, WORKGROUP);
    if (p == a) return a;
    a = p;
  }
}
static void unite(local atomic_uint *parent, uint first, uint second) {
  uint a = find(parent, first), b = find(parent, second);
  while (a != b) {
    if (a < b) {
      uint c = a;
      a = b;
      b = c;
    }
    uint old = __opencl_atomic_fetch_min(&parent[a], b, __ATOMIC_RELAXED, WORKGROUP);
    a = old == a ? b : old;
  }
}
kernel WG(16, 16, 1) void ccl_tile(global const uchar *restrict image, global uint *restrict labels, uint width,
                                   uint height) {
  local uchar value[TILE][TILE];
  local atomic_uint parent[TILE * TILE];
  uint tx = TX, ty = TY;
  uint t = ty * TILE + tx;
  uint x = WGX * TILE + tx, y = WGY * TILE + ty;
  bool inside = x < width && y < height;
  uchar own = inside ? image[y * width + x] : 0;
  value[ty][tx] = own;
  __opencl_atomic_store(&parent[t], t, __ATOMIC_RELAXED, WORKGROUP);
  wg_barrier();
  if (inside) {
    if (tx > 0 && value[ty][tx - 1] == own) unite(parent, t, t - 1);
    if (ty > 0 && value[ty - 1][tx] == own) unite(parent, t, t - TILE);
  }
  wg_barrier();
  if (inside) {
    uint root = find(parent, t);
    labels[y * width + x] = (y - ty + root / TILE) * width + (x - tx) + root % TILE;
  }
}
