#include "k.h"
#define BLOCK 128u
#define LANES 32u
typedef struct { long first, least; uint at, width; } Header;
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static long shuffle(long v, uint lane) {
  uint2 p = __builtin_astype(v, uint2);
  p.x = (uint)__builtin_amdgcn_ds_bpermute((int)(lane << 2), (int)p.x);
  p.y = (uint)__builtin_amdgcn_ds_bpermute((int)(lane << 2), (int)p.y);
  return __builtin_astype(p, long);
}
static long shuffle_up_in_part(long v, uint d) {
  return shuffle(v, lane_id() % LANES >= d ? lane_id() - d : lane_id());
}
kernel WG(128, 1, 1) void delta_unpack(global const Header *restrict headers, global const uint *restrict packed,
                                       global long *restrict out, uint n) {
  local long sums[BLOCK / LANES];
  uint t = TX;
  Header h = headers[WGX];
  long v = h.first;
  if (t > 0) {
    // difference t - 1; the block is followed by two words at least
    uint bit = (t - 1) * h.width;
    uint word = h.at + bit / 32;
    uint shift = bit % 32;
    ulong low = packed[word] | (ulong)packed[word + 1] << 32;
    ulong d = low >> shift;
    if (shift + h.width > 64) d |= (ulong)packed[word + 2] << (64 - shift);
    if (h.width < 64) d &= (1ul << h.width) - 1;
    v = (long)(d + (ulong)h.least);
  }
  uint lane = t % LANES;
  for (uint d = 1; d < LANES; d <<= 1) {
    long other = shuffle_up_in_part(v, d);
    if (lane >= d) v = (long)((ulong)v + (ulong)other);
  }
  if (lane == LANES - 1) sums[t / LANES] = v;
  wg_barrier();
  for (uint w = 0; w < t / LANES; w++) v = (long)((ulong)v + (ulong)sums[w]);
  uint i = WGX * BLOCK + t;
  if (i < n) out[i] = v;
}
