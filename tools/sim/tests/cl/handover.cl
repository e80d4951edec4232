#include "sync/sync.h"
// Waves that hand data on without locks or barriers: the twins of `tests/data/run/handover_*.k`. `shared` is what they hand on, `flags` is how,
// `out` what the test looks at. All are zero at first.
typedef global atomic_uint *flags_t;
#define LOAD(p, order) __opencl_atomic_load(p, __ATOMIC_##order, DEVICE)
#define STORE(p, v, order) __opencl_atomic_store(p, v, __ATOMIC_##order, DEVICE)
#define CAS(p, old, new, order) __opencl_atomic_compare_exchange_strong(p, old, new, __ATOMIC_##order, __ATOMIC_RELAXED, DEVICE)

kernel SIZE(64) void ticket_lock(flags_t flags, global uint *data, global uint *out) {
  if (ITEM) return;
  uint ticket = __opencl_atomic_fetch_add(&flags[0], 1, __ATOMIC_RELAXED, DEVICE);
  while (LOAD(&flags[1], ACQUIRE) != ticket);
  data[0] += 1;
  out[0] = data[0];
  STORE(&flags[1], ticket + 1, RELEASE);
}

kernel SIZE(64) void token(flags_t flags, global uint *data, global uint *out) {
  if (ITEM) return;
  while (LOAD(&flags[0], ACQUIRE) != GROUP);
  data[0] += 1;
  out[0] = data[0];
  STORE(&flags[0], GROUP + 1, RELEASE);
}

kernel SIZE(64) void slot_queue(flags_t flags, global uint *slot, global uint *out) {
  if (ITEM || GROUP > 1) return;
  for (uint n = 0; n < 8; n++) {
    if (GROUP == 0) {
      while (LOAD(&flags[n % 2], ACQUIRE) != 0);
      slot[n % 2] = n + 1;
      STORE(&flags[n % 2], 1, RELEASE);
    } else {
      while (LOAD(&flags[n % 2], ACQUIRE) == 0);
      out[0] = slot[n % 2];
      STORE(&flags[n % 2], 0, RELEASE);
    }
  }
}

kernel SIZE(64) void peterson(flags_t flags, global uint *data, global uint *out) {
  if (ITEM || GROUP > 1) return;
  uint me = GROUP, other = 1 - me;
  for (int n = 0; n < 4; n++) {
    STORE(&flags[me], 1, SEQ_CST);
    STORE(&flags[2], other, SEQ_CST);
    while (LOAD(&flags[other], SEQ_CST) == 1 && LOAD(&flags[2], SEQ_CST) == other);
    data[0] += 1;
    out[0] = data[0];
    STORE(&flags[me], 0, SEQ_CST);
  }
}

kernel SIZE(64) void treiber(flags_t head, global uint *node, global uint *out) {
  if (ITEM) return;
  // Next in the even places, values in the odd ones; nodes are counted from 1.
  uint mine = 1 + GROUP, old = LOAD(head, RELAXED);
  node[2 * mine + 1] = mine;
  do node[2 * mine] = old; while (!CAS(head, &old, mine, RELEASE));
  old = LOAD(head, ACQUIRE);
  while (!CAS(head, &old, node[2 * old], ACQUIRE)) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  __opencl_atomic_fetch_add((flags_t)out, node[2 * old + 1], __ATOMIC_RELAXED, DEVICE);
}

kernel SIZE(64) void lookback(flags_t state, global uint *data, global uint *out) {
  if (ITEM) return;
  uint me = GROUP, before = 0;
  data[2 * me] = me + 1;
  STORE(&state[me], 1, RELEASE);
  for (uint at = me; at > 0;) {
    uint seen = LOAD(&state[at - 1], ACQUIRE);
    if (seen == 2) { before += data[2 * at - 1]; break; }
    if (seen == 1) before += data[2 * --at];
  }
  data[2 * me + 1] = before + me + 1;
  STORE(&state[me], 2, RELEASE);
  if (me == 7) out[0] = data[2 * me + 1];
}

kernel SIZE(64) void publication(flags_t current, global uint *record, global uint *out) {
  if (ITEM) return;
  if (GROUP == 0) {
    for (uint n = 1; n < 8; n++) {
      record[2 * n] = n;
      record[2 * n + 1] = n * n;
      STORE(current, n, RELEASE);
    }
  } else {
    uint seen = 0, sum = 0;
    while (seen != 7) {
      seen = LOAD(current, ACQUIRE);
      if (record[2 * seen] * record[2 * seen] != record[2 * seen + 1]) return;
    }
    __opencl_atomic_fetch_add((flags_t)out, 1, __ATOMIC_RELAXED, DEVICE);
  }
}

kernel SIZE(64) void cas_loop(flags_t unused, global float *sum, global uint *out) {
  // As old compilers have a float `atomicAdd`: a plain load first.
  global uint *bits = (global uint *)sum;
  uint seen = bits[0], old;
  do {
    old = seen;
    seen = old;
    __opencl_atomic_compare_exchange_strong((flags_t)bits, &seen, as_uint(as_float(old) + 1.0f), __ATOMIC_RELAXED, __ATOMIC_RELAXED, DEVICE);
  } while (seen != old);
  __opencl_atomic_fetch_add((flags_t)out, 1, __ATOMIC_RELAXED, DEVICE);
}

kernel SIZE(128) void lds_flag(flags_t unused, global uint *data, global uint *out) {
  local atomic_uint filled;
  local uint slots[64];
  if (ITEM == 0) __opencl_atomic_store(&filled, 0, __ATOMIC_RELAXED, NEAR);
  group_barrier();
  if (ITEM < 64) {
    slots[ITEM] = ITEM;
    __opencl_atomic_fetch_add(&filled, 1, __ATOMIC_RELEASE, NEAR);
  } else {
    while (__opencl_atomic_load(&filled, __ATOMIC_ACQUIRE, NEAR) != 64);
    if (slots[127 - ITEM] == 127 - ITEM) __opencl_atomic_fetch_add((flags_t)out, 1, __ATOMIC_RELAXED, DEVICE);
  }
}

kernel SIZE(64) void stealing(flags_t ends, global uint *deque, global uint *out) {
  if (ITEM) return;
  if (GROUP == 0) {
    for (uint n = 0; n < 16; n++) {
      deque[n] = n + 1;
      STORE(&ends[1], n + 1, RELEASE);
    }
    for (;;) {
      int bottom = LOAD(&ends[1], RELAXED) - 1;
      STORE(&ends[1], bottom, SEQ_CST);
      uint top = LOAD(&ends[0], SEQ_CST);
      if ((int)top > bottom) { STORE(&ends[1], bottom + 1, RELAXED); break; }
      uint task = deque[bottom];
      if (top == bottom) {
        if (!CAS(&ends[0], &top, top + 1, SEQ_CST)) task = 0;
        STORE(&ends[1], bottom + 1, RELAXED);
        __opencl_atomic_fetch_add((flags_t)out, task, __ATOMIC_RELAXED, DEVICE);
        break;
      }
      __opencl_atomic_fetch_add((flags_t)out, task, __ATOMIC_RELAXED, DEVICE);
    }
    STORE(&ends[2], 1, RELEASE);
  } else {
    while (!LOAD(&ends[2], ACQUIRE)) {
      uint top = LOAD(&ends[0], SEQ_CST), bottom = LOAD(&ends[1], SEQ_CST);
      if ((int)top >= (int)bottom) continue;
      uint task = deque[top];
      if (CAS(&ends[0], &top, top + 1, SEQ_CST)) __opencl_atomic_fetch_add((flags_t)out, task, __ATOMIC_RELAXED, DEVICE);
    }
  }
}
