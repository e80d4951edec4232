#include "k.h"
#define WORDS 32u
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static ulong ballot(bool b) {
#if __AMDGCN_WAVEFRONT_SIZE == 32
  return __builtin_amdgcn_ballot_w32(b);
#else
  return __builtin_amdgcn_ballot_w64(b);
#endif
}
// the bits of this number's work-items in the wave
static uint mine(ulong mask) { return (uint)(mask >> (lane_id() & 32)); }
// bit j says whether word j receives a carry; bit 32 is the carry out
static ulong ripple(uint makes, uint passes) { return (((ulong)makes << 1) + passes) ^ (ulong)passes; }
kernel WG(256, 1, 1) void addmod1024(global const uint *restrict a, global const uint *restrict b,
                                     global const uint *restrict m, global uint *restrict out, uint n) {
  uint i = WGX * 256 + TX;
  if (i / WORDS >= n) return;
  uint word = i % WORDS;
  uint x = a[i], p = m[word];
  uint sum = x + b[i];
  ulong carries = ripple(mine(ballot(sum < x)), mine(ballot(sum == ~0u)));
  sum += (uint)(carries >> word) & 1;
  uint rest = sum - p;
  ulong borrows = ripple(mine(ballot(sum < p)), mine(ballot(sum == p)));
  rest -= (uint)(borrows >> word) & 1;
  bool over = carries >> 32 != 0, below = borrows >> 32 != 0;
  out[i] = over || !below ? rest : sum;
}
