// Segmented inclusive sum with head flags, Blelloch's scan in LDS; the twin of segmented_scan.k.
#include "k.h"
#define THREADS 256u
#define TILE (2 * THREADS)
// A gap of one word in 32 keeps the strides of the tree from meeting in one bank.
static uint slot(uint i) { return i + (i >> 5); }
kernel WG(256,1,1) void segmented_scan(global const int *restrict in, global const uchar *restrict heads,
                                       global int *restrict out, global int *restrict carry,
                                       global uint *restrict any, uint n) {
  local int sum[TILE + TILE / 32];
  local uint flag[TILE + TILE / 32];
  uint t = TX, base = WGX * TILE;
  int mine[2];
  bool head[2];
#pragma unroll
  for (uint h = 0; h < 2; h++) {
    uint i = t + h * THREADS;
    bool valid = base + i < n;
    mine[h] = valid ? in[base + i] : 0;
    head[h] = valid && heads[base + i] != 0;
    sum[slot(i)] = mine[h];
    flag[slot(i)] = head[h];
  }
  for (uint d = 1; d < TILE; d <<= 1) {
    wg_barrier();
    if (t < TILE / (2 * d)) {
      uint a = slot((2 * t + 1) * d - 1), b = slot((2 * t + 2) * d - 1);
      if (flag[b] == 0) sum[b] += sum[a];
      flag[b] |= flag[a];
    }
  }
  wg_barrier();
  if (t == 0) {
    carry[WGX] = sum[slot(TILE - 1)];
    any[WGX] = flag[slot(TILE - 1)];
    sum[slot(TILE - 1)] = 0;
    flag[slot(TILE - 1)] = 0;
  }
  // Down the tree: the left child gets what lies before the node, the right child that and the left child. The
  // left child's flag still says whether a segment begins in it.
  for (uint d = TILE / 2; d > 0; d >>= 1) {
    wg_barrier();
    if (t < TILE / (2 * d)) {
      uint a = slot((2 * t + 1) * d - 1), b = slot((2 * t + 2) * d - 1);
      int left = sum[a];
      uint left_flag = flag[a];
      int before = sum[b];
      uint before_flag = flag[b];
      sum[a] = before;
      flag[a] = before_flag;
      sum[b] = left_flag ? left : before + left;
      flag[b] = before_flag | left_flag;
    }
  }
  wg_barrier();
#pragma unroll
  for (uint h = 0; h < 2; h++) {
    uint i = t + h * THREADS;
    if (base + i < n) out[base + i] = head[h] ? mine[h] : sum[slot(i)] + mine[h];
  }
}
