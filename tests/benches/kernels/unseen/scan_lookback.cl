// Exclusive prefix sum in a single pass with decoupled look-back; the twin of scan_lookback.k.
#include "k.h"
#define THREADS 256u
#define TILE (THREADS * 4)
#define SUM_READY (1ul << 32)
#define PREFIX_READY (2ul << 32)
#define WAVE ((uint)__builtin_amdgcn_wavefrontsize())
static uint lane_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
// Inclusive sum over the lanes of a wave.
static uint wave_inclusive(uint v, uint lane) {
  for (uint d = 1; d < WAVE; d <<= 1) {
    uint below = __builtin_amdgcn_ds_bpermute((int)((lane - d) * 4), (int)v);
    if (lane >= d) v += below;
  }
  return v;
}
kernel WG(256,1,1) void scan_lookback(global const uint *restrict in, global uint *restrict out,
                                      global atomic_ulong *status, global atomic_uint *ticket, uint n) {
  local uint waves[8];
  local uint tile, before;
  uint t = TX, lane = lane_id();
  if (t == 0) tile = __opencl_atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
  wg_barrier();
  uint here = tile;
  uint base = here * TILE + t * 4;
  uint4 v = 0;
  if (base + 3 < n) {
    v = *(global const uint4 *)(in + base);
  } else {
#pragma unroll
    for (uint i = 0; i < 4; i++)
      if (base + i < n) v[i] = in[base + i];
  }
  uint mine = v.x + v.y + v.z + v.w;
  uint inclusive = wave_inclusive(mine, lane);
  if (lane == WAVE - 1) waves[t / WAVE] = inclusive;
  wg_barrier();
  uint below = 0, total = 0;
  for (uint w = 0; w < THREADS / WAVE; w++) {
    if (w < t / WAVE) below += waves[w];
    total += waves[w];
  }
  if (t == 0) {
    uint prefix = 0;
    if (here == 0) {
      __opencl_atomic_store(&status[0], PREFIX_READY | total, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    } else {
      __opencl_atomic_store(&status[here], SUM_READY | total, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
      uint look = here - 1;
      for (;;) {
        ulong s = __opencl_atomic_load(&status[look], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
        if (s >= SUM_READY) {
          prefix += (uint)s;
          if (s >= PREFIX_READY) break;
          look--;
        }
      }
      __opencl_atomic_store(&status[here], PREFIX_READY | (prefix + total), __ATOMIC_RELAXED,
                            __OPENCL_MEMORY_SCOPE_DEVICE);
    }
    before = prefix;
  }
  wg_barrier();
  uint sum = before + below + inclusive - mine;
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    if (base + i < n) out[base + i] = sum;
    sum += v[i];
  }
}
