#include "sync.h"
// Each group waits for the one behind it and passes on what it found there. The first groups come first and wait long.
kernel SIZE(64) void chain(global int *data, global atomic_int *flags, int groups) {
  int before = 0;
  if (GROUP < groups - 1) {
    while (__opencl_atomic_load(&flags[GROUP + 1], __ATOMIC_ACQUIRE, DEVICE) == 0) __builtin_amdgcn_s_sleep(1);
    before = data[(GROUP + 1) * 64 + ITEM];
  }
  data[GROUP * 64 + ITEM] = before + ITEM + 1;
  device_barrier();
  if (ITEM == 0) __opencl_atomic_store(&flags[GROUP], 1, __ATOMIC_RELEASE, DEVICE);
}
