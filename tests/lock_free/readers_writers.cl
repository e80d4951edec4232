// A lock for many readers or one writer: the highest bit is the writer's, the others count readers.
// twin 1: a reader leaves without a release
// twin 2: a writer does not wait until the readers have left
//@ grid 384
//@ buffer lock 1
//@ buffer data 2
//@ buffer bad 1
//@ expect data = 8 24
//@ expect bad = 0
#define WRITER 0x80000000u
#define DEVICE __OPENCL_MEMORY_SCOPE_DEVICE
#define ADD(n, order) __opencl_atomic_fetch_add(lock, n, __ATOMIC_##order, DEVICE)
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void t(global atomic_uint *lock, global uint *data, global uint *bad) {
  if (__builtin_amdgcn_workitem_id_x()) return;
  uint me = __builtin_amdgcn_workgroup_id_x();
  for (uint n = 0; n < 4; n++) {
    if (me < 2) {
      while (__opencl_atomic_fetch_or(lock, WRITER, __ATOMIC_ACQUIRE, DEVICE) & WRITER);
      while (__opencl_atomic_load(lock, __ATOMIC_ACQUIRE, DEVICE) != WRITER); // broken 2: ;
      data[0] += 1;
      data[1] += 3;
      __opencl_atomic_fetch_and(lock, ~WRITER, __ATOMIC_RELEASE, DEVICE);
    } else {
      while (ADD(1, ACQUIRE) & WRITER) {
        ADD(-1, RELAXED);
        while (__opencl_atomic_load(lock, __ATOMIC_RELAXED, DEVICE) & WRITER);
      }
      uint one = data[0], three = data[1];
      ADD(-1, RELEASE); // broken 1: ADD(-1, RELAXED);
      if (3 * one != three) bad[0] = 1;
    }
  }
}
