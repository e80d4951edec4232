// Product of 1024-bit numbers by teams of 32 lanes; the twin of bigmul_team.k.
#include "k.h"
#define TEAM 32u
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static uint shuffle_from(uint v, uint lane) { return (uint)__builtin_amdgcn_ds_bpermute((int)(lane * 4), (int)v); }
#if __AMDGCN_WAVEFRONT_SIZE == 64
#define BALLOT(c) __builtin_amdgcn_ballot_w64(c)
#else
#define BALLOT(c) ((ulong)__builtin_amdgcn_ballot_w32(c))
#endif
kernel WG(64,1,1) void bigmul_team(global const uint *restrict a, global const uint *restrict b,
                                   global uint *restrict out, uint count) {
  uint lane = lane_id();
  uint limb = lane & (TEAM - 1);
  uint team = lane - limb;
  uint number = (WGX * 64 + TX) / TEAM;
  // A team without a number computes the last product again and does not write it.
  uint i = number < count - 1 ? number : count - 1;
  ulong mine = a[i * TEAM + limb];
  uint other = b[i * TEAM + limb];
  ulong sum = 0;
  uint low = 0;
  for (uint j = 0; j < TEAM; j++) {
    ulong digit = shuffle_from(other, team + j);
    sum += mine * digit;
    uint done = (uint)sum;
    uint first = shuffle_from(done, team);
    if (limb == j) low = first;
    uint above = shuffle_from(done, team + (limb + 1) % TEAM);
    sum = (sum >> 32) + (limb == TEAM - 1 ? 0 : (ulong)above);
  }
  // The upper half: each sum has at most one bit above its word.
  uint from = shuffle_from((uint)(sum >> 32), team + (limb + TEAM - 1) % TEAM);
  uint word = (uint)sum;
  uint high = word + (limb == 0 ? 0 : from);
  uint generate = (uint)(BALLOT(high < word) >> team);
  uint propagate = (uint)(BALLOT(high == 0xffffffffu) >> team);
  // Adding the generated carries to the propagating lanes lets each carry run to where it stops.
  uint carries = generate << 1;
  uint ripple = (carries + propagate) ^ propagate;
  high += (ripple >> limb) & 1;
  if (number < count) {
    out[i * 2 * TEAM + limb] = low;
    out[i * 2 * TEAM + TEAM + limb] = high;
  }
}
