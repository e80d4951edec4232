#include "sync/sync.h"
// Waves of one group that hand data on by atomics at its scope, which look like plain accesses. `data` and `flags` are zero at first, `out` is what
// the test looks at.
#define GROUP_SCOPE NEAR
#define LOAD(p, order) __opencl_atomic_load(p, __ATOMIC_##order, GROUP_SCOPE)
#define STORE(p, v, order) __opencl_atomic_store(p, v, __ATOMIC_##order, GROUP_SCOPE)
#define ADD(p, v, order) __opencl_atomic_fetch_add(p, v, __ATOMIC_##order, GROUP_SCOPE)
typedef global atomic_uint *flags_t;

kernel SIZE(128) void store_flag(flags_t flags, global uint *data, global uint *out) {
  if (ITEM == 0) {
    data[0] = 7;
    STORE(&flags[0], 1, RELEASE);
  }
  if (ITEM == 64) {
    while (LOAD(&flags[0], ACQUIRE) == 0);
    out[0] = data[0];
  }
}

kernel SIZE(256) void last_wave(flags_t flags, global uint *data, global uint *out) {
  data[ITEM] = ITEM + 1;
  if (ITEM % 64 == 0 && ADD(&flags[0], 1, ACQ_REL) == 3)
    out[0] = data[0] + data[64] + data[128] + data[192];
}

kernel SIZE(256) void in_turn(flags_t flags, global uint *data, global uint *out) {
  uint wave = ITEM / 64;
  if (ITEM % 64 != 0) return;
  while (LOAD(&flags[0], ACQUIRE) != wave);
  data[0] += wave + 1;
  out[0] = data[0];
  STORE(&flags[0], wave + 1, RELEASE);
}

// What is handed on is in LDS, and the flag in global memory.
kernel SIZE(128) void lds_by_flag(flags_t flags, global uint *data, global uint *out) {
  local uint values[64];
  if (ITEM < 64) values[ITEM] = ITEM;
  if (ITEM == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    STORE(&flags[0], 1, RELEASE);
  }
  if (ITEM == 64) {
    while (LOAD(&flags[0], ACQUIRE) == 0);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[0] = values[5];
  }
}

kernel SIZE(128) void polled_by_add(flags_t flags, global uint *data, global uint *out) {
  local atomic_uint flag;
  local uint value;
  if (ITEM == 0) __opencl_atomic_init(&flag, 0);
  group_barrier();
  if (ITEM == 0) {
    value = 9;
    STORE(&flag, 1, RELEASE);
  }
  if (ITEM == 64) {
    while (ADD(&flag, 0, ACQ_REL) == 0);
    out[0] = value;
  }
}

// A first look saves most of the atomics.
kernel SIZE(256) void best(flags_t flags, global uint *data, global uint *out) {
  local atomic_uint best;
  if (ITEM == 0) __opencl_atomic_init(&best, 0);
  group_barrier();
  uint value = ITEM * 37 % 251;
  if (value > LOAD(&best, RELAXED)) __opencl_atomic_fetch_max(&best, value, __ATOMIC_RELAXED, GROUP_SCOPE);
  group_barrier();
  if (ITEM == 0) out[0] = LOAD(&best, RELAXED);
}

kernel SIZE(256) void best_in_memory(flags_t flags, global uint *data, global atomic_uint *out) {
  uint value = ITEM * 37 % 251;
  if (value > LOAD(&out[0], RELAXED)) __opencl_atomic_fetch_max(&out[0], value, __ATOMIC_RELAXED, GROUP_SCOPE);
}

kernel SIZE(256) void search(flags_t flags, global uint *data, global uint *out) {
  local atomic_uint found;
  if (ITEM == 0) __opencl_atomic_init(&found, 0);
  group_barrier();
  for (uint n = 0; n < 50; n++) {
    if (LOAD(&found, RELAXED) != 0) break;
    if (ITEM * 50 + n == 777) {
      __opencl_atomic_fetch_or(&found, 1, __ATOMIC_RELAXED, GROUP_SCOPE);
      out[0] = ITEM * 50 + n;
    }
  }
}

// Their faulty twins: a barrier is missing behind the atomics.

kernel SIZE(128) void histogram(flags_t flags, global uint *data, global uint *out) {
  local atomic_uint bins[128];
  __opencl_atomic_init(&bins[ITEM], 0);
  group_barrier();
  ADD(&bins[ITEM * 7 % 128], 1, RELAXED);
  out[ITEM] = LOAD(&bins[ITEM], RELAXED);
}

kernel SIZE(128) void scaled(flags_t flags, global uint *data, global uint *out) {
  local atomic_uint best;
  if (ITEM == 0) __opencl_atomic_init(&best, 0);
  group_barrier();
  if (ITEM >= 64) __opencl_atomic_fetch_max(&best, ITEM, __ATOMIC_RELAXED, GROUP_SCOPE);
  if (ITEM < 64) out[ITEM] = ITEM * 100 / LOAD(&best, RELAXED);
}

kernel SIZE(128) void not_waited_for(flags_t flags, global uint *data, global uint *out) {
  if (ITEM == 0) data[0] = 7;
  if (ITEM == 64) out[0] = data[0];
}
