#include "sync.h"
// Waves of one group: items of the first half fill slots in LDS, those of the second half wait for the count of them. (With a constant 0
// the compiler would load the count, and nothing would tell that from a load without order.)
kernel SIZE(128) void queue(global const int *in, global int *out, int none) {
  local int slots[64];
  local atomic_int filled;
  if (ITEM == 0) __opencl_atomic_store(&filled, 0, __ATOMIC_RELAXED, NEAR);
  group_barrier();
  if (ITEM < 64) {
    slots[ITEM] = in[GROUP * 64 + ITEM] * 2;
    __opencl_atomic_fetch_add(&filled, 1, __ATOMIC_RELEASE, NEAR);
  } else {
    while (__opencl_atomic_fetch_add(&filled, none, __ATOMIC_ACQUIRE, NEAR) < 64) __builtin_amdgcn_s_sleep(1);
    out[GROUP * 64 + ITEM - 64] = slots[127 - ITEM];
  }
}
