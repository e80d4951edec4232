// A spin lock: four turns for each group.
// twin 1: the lock is taken without an acquire
// twin 2: the lock is let go without a release
//@ grid 512
//@ buffer lock 1
//@ buffer data 2
//@ expect data = 32 528
#define ITEM __builtin_amdgcn_workitem_id_x()
#define TAKE(order) __opencl_atomic_exchange(lock, 1, __ATOMIC_##order, __OPENCL_MEMORY_SCOPE_DEVICE)
#define LET_GO(order) __opencl_atomic_store(lock, 0, __ATOMIC_##order, __OPENCL_MEMORY_SCOPE_DEVICE)
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void t(global atomic_uint *lock, global uint *data) {
  if (ITEM) return;
  for (uint n = 0; n < 4; n++) {
    while (TAKE(ACQUIRE)); // broken 1: while (TAKE(RELAXED));
    data[0] += 1;
    data[1] += data[0];
    LET_GO(RELEASE); // broken 2: LET_GO(RELAXED);
  }
}
