// The local phase of a radix sort: a stable sort of 1024 pairs by four bits; the twin of radix_block_sort.k.
#include "k.h"
#define THREADS 256u
#define EACH 4u
#define TILE (THREADS * EACH)
#define RADIX 16u
// Exclusive scan over the work-group: the sum of the values of lower work-items, and the total.
static uint scan_exclusive(local uint *tmp, uint t, uint v, uint *total) {
  tmp[t] = v;
  wg_barrier();
  uint sum = v;
  for (uint d = 1; d < THREADS; d <<= 1) {
    uint other = t >= d ? tmp[t - d] : 0;
    wg_barrier();
    sum += other;
    tmp[t] = sum;
    wg_barrier();
  }
  *total = tmp[THREADS - 1];
  wg_barrier();
  return sum - v;
}
kernel WG(256,1,1) void radix_block_sort(global const uint *restrict keys_in, global const uint *restrict vals_in,
                                         global uint *restrict keys_out, global uint *restrict vals_out,
                                         global uint *restrict counts, global uint *restrict starts,
                                         uint n, uint shift, uint groups) {
  local uint skeys[TILE], svals[TILE], tmp[THREADS], begins[RADIX + 1];
  uint t = TX, base = WGX * TILE;
  uint k[EACH], v[EACH];
#pragma unroll
  for (uint i = 0; i < EACH; i++) {
    uint at = base + t * EACH + i;
    // Pairs beyond the end sort behind all others.
    k[i] = at < n ? keys_in[at] : 0xffffffffu;
    v[i] = at < n ? vals_in[at] : 0;
  }
#pragma unroll
  for (uint bit = 0; bit < 4; bit++) {
    uint zeros = 0, total;
#pragma unroll
    for (uint i = 0; i < EACH; i++) zeros += ~(k[i] >> (shift + bit)) & 1;
    uint before = scan_exclusive(tmp, t, zeros, &total);
    uint zero_at = before, one_at = total + t * EACH - before;
#pragma unroll
    for (uint i = 0; i < EACH; i++) {
      uint to;
      if (((k[i] >> (shift + bit)) & 1) == 0) to = zero_at++;
      else to = one_at++;
      skeys[to] = k[i];
      svals[to] = v[i];
    }
    wg_barrier();
#pragma unroll
    for (uint i = 0; i < EACH; i++) {
      k[i] = skeys[t * EACH + i];
      v[i] = svals[t * EACH + i];
    }
    wg_barrier();
  }
  uint here = n - base < TILE ? n - base : TILE;
  if (t <= RADIX) begins[t] = here;
  wg_barrier();
  for (uint i = t; i < here; i += THREADS) {
    uint digit = (skeys[i] >> shift) & (RADIX - 1);
    if (i == 0 || digit != ((skeys[i - 1] >> shift) & (RADIX - 1))) begins[digit] = i;
    keys_out[base + i] = skeys[i];
    vals_out[base + i] = svals[i];
  }
  wg_barrier();
  // A digit without keys begins where the next digit begins.
  if (t == 0)
    for (uint i = 0; i < RADIX; i++) {
      uint d = RADIX - 1 - i;
      begins[d] = begins[d] < begins[d + 1] ? begins[d] : begins[d + 1];
    }
  wg_barrier();
  if (t < RADIX) {
    counts[t * groups + WGX] = begins[t + 1] - begins[t];
    starts[WGX * RADIX + t] = begins[t];
  }
}
