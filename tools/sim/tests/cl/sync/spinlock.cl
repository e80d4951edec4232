#include "sync.h"
// Every group in turn adds to all elements, under a lock.
kernel SIZE(128) void spinlock(global atomic_int *lock, global int *data, int rounds) {
  for (int round = 0; round < rounds; round++) {
    if (ITEM == 0) {
      int open = 0;
      while (!__opencl_atomic_compare_exchange_strong(lock, &open, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) {
        __builtin_amdgcn_s_sleep(1);
        open = 0;
      }
    }
    group_barrier();
    data[ITEM] = data[ITEM] * 3 + 1;
    __builtin_amdgcn_s_sleep(1); // others shall find the lock taken
    device_barrier();
    if (ITEM == 0) __opencl_atomic_store(lock, 0, __ATOMIC_RELEASE, DEVICE);
  }
}
