// Stable merge of two sorted arrays by merge path; the twin of merge_path.k.
#include "k.h"
#define THREADS 128u
#define EACH 7u
#define TILE (THREADS * EACH)
static uint least(uint a, uint b) { return a < b ? a : b; }
// How many elements of `a` are among the first `diagonal` elements of the merge.
static uint split_global(global const int *a, uint na, global const int *b, uint nb, uint diagonal) {
  uint low = diagonal > nb ? diagonal - nb : 0;
  uint high = least(diagonal, na);
  while (low < high) {
    uint mid = (low + high) >> 1;
    if (a[mid] <= b[diagonal - 1 - mid]) low = mid + 1;
    else high = mid;
  }
  return low;
}
static uint split_shared(local const int *a, uint na, local const int *b, uint nb, uint diagonal) {
  uint low = diagonal > nb ? diagonal - nb : 0;
  uint high = least(diagonal, na);
  while (low < high) {
    uint mid = (low + high) >> 1;
    if (a[mid] <= b[diagonal - 1 - mid]) low = mid + 1;
    else high = mid;
  }
  return low;
}
kernel WG(128,1,1) void merge_path(global const int *restrict a, global const int *restrict b,
                                   global int *restrict merged, global uint *restrict source, uint na, uint nb) {
  local uint cut[2];
  local int keys[TILE];
  local uint from[TILE];
  uint t = TX;
  uint first = WGX * TILE;
  uint last = least(first + TILE, na + nb);
  if (t < 2) cut[t] = split_global(a, na, b, nb, t == 0 ? first : last);
  wg_barrier();
  uint a0 = cut[0], b0 = first - a0;
  uint count_a = cut[1] - a0;
  uint count = last - first;
  uint count_b = count - count_a;
  for (uint i = t; i < count; i += THREADS) keys[i] = i < count_a ? a[a0 + i] : b[b0 + i - count_a];
  wg_barrier();
  uint diagonal = least(t * EACH, count);
  uint ia = split_shared(keys, count_a, keys + count_a, count_b, diagonal);
  uint ib = diagonal - ia;
  int key_a = keys[least(ia, TILE - 1)];
  int key_b = keys[least(count_a + ib, TILE - 1)];
  int k[EACH];
  uint s[EACH];
#pragma unroll
  for (uint i = 0; i < EACH; i++) {
    if (ib >= count_b || (ia < count_a && key_a <= key_b)) {
      k[i] = key_a;
      s[i] = a0 + ia;
      ia++;
      key_a = keys[least(ia, TILE - 1)];
    } else {
      k[i] = key_b;
      s[i] = na + b0 + ib;
      ib++;
      key_b = keys[least(count_a + ib, TILE - 1)];
    }
  }
  wg_barrier();
#pragma unroll
  for (uint i = 0; i < EACH; i++) {
    keys[t * EACH + i] = k[i];
    from[t * EACH + i] = s[i];
  }
  wg_barrier();
  for (uint i = t; i < count; i += THREADS) {
    merged[first + i] = keys[i];
    source[first + i] = from[i];
  }
}
