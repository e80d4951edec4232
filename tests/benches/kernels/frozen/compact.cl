#include "k.h"
#define GROUP 256u
#define ROUNDS 4u
#define MAX_WAVES (GROUP / 32)
static ulong ballot(bool b) {
#if __AMDGCN_WAVEFRONT_SIZE == 32
  return __builtin_amdgcn_ballot_w32(b);
#else
  return __builtin_amdgcn_ballot_w64(b);
#endif
}
static uint mbcnt(ulong mask) {
  return __builtin_amdgcn_mbcnt_hi((uint)(mask >> 32), __builtin_amdgcn_mbcnt_lo((uint)mask, 0u));
}
kernel WG(256, 1, 1) void compact(global const float *restrict input, global float *restrict output,
                                  global uint *restrict kept, float low, float high, uint n) {
  local uint sums[ROUNDS][MAX_WAVES];
  uint t = TX;
  uint base = WGX * (GROUP * ROUNDS);
  uint wave = t / __builtin_amdgcn_wavefrontsize();
  uint waves = GROUP / __builtin_amdgcn_wavefrontsize();
  uint done = 0;
#pragma unroll
  for (uint r = 0; r < ROUNDS; r++) {
    uint i = base + r * GROUP + t;
    float v = i < n ? input[i] : __builtin_nanf("");
    bool keep = v >= low && v < high;
    ulong mask = ballot(keep);
    if (mbcnt(~0ul) == 0) sums[r][wave] = (uint)__builtin_popcountl(mask);
    wg_barrier();
    uint before = 0, total = 0;
    for (uint w = 0; w < waves; w++) {
      uint s = sums[r][w];
      if (w < wave) before += s;
      total += s;
    }
    if (keep) output[base + done + before + mbcnt(mask)] = v;
    done += total;
  }
  if (t == 0) kept[WGX] = done;
}
