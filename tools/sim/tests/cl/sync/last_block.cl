#include "sync.h"
// Sums of groups; the group that comes last adds them up.
kernel SIZE(128) void last_block(global const int *in, global int *sums, global atomic_int *count, global int *out, int groups) {
  local int partial[128];
  local int last;
  partial[ITEM] = in[GROUP * 128 + ITEM];
  group_barrier();
  for (int distance = 64; distance > 0; distance >>= 1) {
    if (ITEM < distance) partial[ITEM] += partial[ITEM + distance];
    group_barrier();
  }
  if (ITEM == 0) {
    sums[GROUP] = partial[0];
    last = __opencl_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, DEVICE) == groups - 1;
  }
  group_barrier();
  if (last && ITEM == 0) {
    int sum = 0;
    for (int group = 0; group < groups; group++) sum += sums[group];
    *out = sum;
  }
}
