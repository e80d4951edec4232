// A barrier for all groups, passed twice: each group reads what its neighbour has written before.
// twin 1: groups arrive without a release
// twin 2: the second barrier waits for all groups but one
//@ grid 512
//@ buffer arrived 2
//@ buffer data 8
//@ buffer other 8
//@ buffer out 8
//@ expect out = 3 4 5 6 7 8 1 2
#define ARRIVE(at, order) __opencl_atomic_fetch_add(&arrived[at], 1, __ATOMIC_##order, __OPENCL_MEMORY_SCOPE_DEVICE)
#define CAME(at) __opencl_atomic_load(&arrived[at], __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE)
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void t(global atomic_uint *arrived, global uint *data, global uint *other, global uint *out) {
  if (__builtin_amdgcn_workitem_id_x()) return;
  uint me = __builtin_amdgcn_workgroup_id_x();
  data[me] = me + 1;
  ARRIVE(0, RELEASE); // broken 1: ARRIVE(0, RELAXED);
  while (CAME(0) != 8);
  other[me] = data[(me + 1) % 8];
  ARRIVE(1, RELEASE);
  while (CAME(1) != 8); // broken 2: while (CAME(1) < 7);
  out[me] = other[(me + 1) % 8];
}
