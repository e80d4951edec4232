#include "k.h"
#define ITEMS 256u
#define RADIX_BITS 4u
#define DIGITS (1u << RADIX_BITS)
static uint exclusive_scan(local uint *s, uint v, uint t) {
  s[t] = v;
  wg_barrier();
  uint sum = v;
  for (uint d = 1; d < ITEMS; d <<= 1) {
    uint other = t >= d ? s[t - d] : 0;
    wg_barrier();
    sum += other;
    s[t] = sum;
    wg_barrier();
  }
  return sum - v;
}
kernel WG(256, 1, 1) void radix_rank(global const uint *restrict keys_in, global const uint *restrict values_in,
                                     global uint *restrict keys_out, global uint *restrict values_out,
                                     global uint *restrict counts, uint shift, uint n) {
  local uint keys[ITEMS], values[ITEMS], sums[ITEMS];
  local atomic_uint digits[DIGITS];
  uint t = TX;
  uint i = WGX * ITEMS + t;
  // the dispatch packet has the grid's size at byte 12
  constant const uint *packet = (constant const uint *)__builtin_amdgcn_dispatch_ptr();
  uint groups = packet[3] / ITEMS;
  uint key = ~0u, value = 0;
  if (t < DIGITS) __opencl_atomic_store(&digits[t], 0u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  wg_barrier();
  if (i < n) {
    key = keys_in[i];
    value = values_in[i];
    __opencl_atomic_fetch_add(&digits[(key >> shift) % DIGITS], 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  }
  for (uint b = 0; b < RADIX_BITS; b++) {
    uint zero = 1 - (key >> (shift + b) & 1);
    uint before = exclusive_scan(sums, zero, t);
    uint zeros = sums[ITEMS - 1];
    uint place = zero == 1 ? before : zeros + t - before;
    keys[place] = key;
    values[place] = value;
    wg_barrier();
    key = keys[t];
    value = values[t];
    wg_barrier();
  }
  if (i < n) {
    keys_out[i] = key;
    values_out[i] = value;
  }
  if (t < DIGITS)
    counts[t * groups + WGX] = __opencl_atomic_load(&digits[t], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
}
