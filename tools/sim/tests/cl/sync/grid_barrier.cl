#include "sync.h"
// All groups meet between two steps, and each reads what others have written. What it reads first lies beside that, so
// that caches have old lines.
kernel SIZE(128) void grid_barrier(global int *one, global int *two, global atomic_int *count, int groups) {
  int items = groups * 128, me = GROUP * 128 + ITEM, other = (me + 128) % items;
  int old = one[2 * other + 1];
  one[2 * me] = me + 1;
  for (int step = 1; step <= 2; step++) {
    device_barrier();
    if (ITEM == 0) {
      __opencl_atomic_fetch_add(count, 1, __ATOMIC_RELEASE, DEVICE);
      while (__opencl_atomic_load(count, __ATOMIC_ACQUIRE, DEVICE) < groups * step) __builtin_amdgcn_s_sleep(1);
    }
    group_barrier();
    if (step == 1) two[me] = old + one[2 * other] * 2;
    else one[2 * me] += two[(me + 256) % items];
  }
}
