#include "k.h"
#define GROUP 256u
#define MAX_WAVES (GROUP / 32)
typedef struct { uint head; int sum; } Segment;
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static uint shuffle_up(uint v, uint d) {
  uint lane = lane_id();
  uint from = lane >= d ? lane - d : lane;
  return (uint)__builtin_amdgcn_ds_bpermute((int)(from << 2), (int)v);
}
static Segment combine(Segment a, Segment b) {
  Segment r = {a.head | b.head, b.head != 0 ? b.sum : a.sum + b.sum};
  return r;
}
static Segment scan_wave(Segment v) {
  uint lane = lane_id();
  for (uint d = 1; d < __builtin_amdgcn_wavefrontsize(); d <<= 1) {
    Segment other = {shuffle_up(v.head, d), (int)shuffle_up((uint)v.sum, d)};
    if (lane >= d) v = combine(other, v);
  }
  return v;
}
kernel WG(256, 1, 1) void segscan(global const int4 *restrict input, global const uchar4 *restrict heads,
                                  global int4 *restrict output, global Segment *restrict carry, uint n4) {
  local Segment totals[MAX_WAVES];
  uint t = TX;
  uint i = WGX * GROUP + t;
  int4 v = (int4)(0);
  uchar4 h = (uchar4)(0);
  if (i < n4) {
    v = input[i];
    h = heads[i];
  }
  Segment own = {0, 0};
#pragma unroll
  for (uint k = 0; k < 4; k++) {
    Segment one = {h[k], v[k]};
    own = combine(own, one);
  }
  Segment scanned = scan_wave(own);
  uint wave = t / __builtin_amdgcn_wavefrontsize();
  if (lane_id() == __builtin_amdgcn_wavefrontsize() - 1) totals[wave] = scanned;
  wg_barrier();
  Segment before = {0, 0};
  for (uint w = 0; w < wave; w++) before = combine(before, totals[w]);
  Segment left = {shuffle_up(scanned.head, 1), (int)shuffle_up((uint)scanned.sum, 1)};
  Segment run = lane_id() == 0 ? before : combine(before, left);
#pragma unroll
  for (uint k = 0; k < 4; k++) {
    Segment one = {h[k], v[k]};
    run = combine(run, one);
    v[k] = run.sum;
  }
  if (i < n4) output[i] = v;
  if (t == GROUP - 1) carry[WGX] = run;
}
