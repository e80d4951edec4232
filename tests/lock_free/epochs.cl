// Records that readers use without a lock: the writer publishes the other of two records, and fills the old one again when
// all readers have seen the new epoch.
// twin 1: a record is published without a release
// twin 2: the writer does not wait for the readers
//@ grid 256
//@ buffer epoch 1
//@ buffer at 3
//@ buffer record 4
//@ buffer bad 1
//@ expect bad = 0
#define LOAD(p, order) __opencl_atomic_load(p, __ATOMIC_##order, __OPENCL_MEMORY_SCOPE_DEVICE)
#define STORE(p, value, order) __opencl_atomic_store(p, value, __ATOMIC_##order, __OPENCL_MEMORY_SCOPE_DEVICE)
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void t(global atomic_uint *epoch, global atomic_uint *at, global uint *record, global atomic_uint *bad) {
  if (__builtin_amdgcn_workitem_id_x()) return;
  uint me = __builtin_amdgcn_workgroup_id_x();
  if (me == 0) {
    for (uint n = 1; n < 7; n++) {
      // Readers are in epoch n - 1 at least: none uses the record of n - 2 any more.
      for (uint reader = 0; reader < 3; reader++)
        while (LOAD(&at[reader], ACQUIRE) + 1 < n); // broken 2: ;
      record[2 * (n % 2)] = n;
      record[2 * (n % 2) + 1] = 3 * n;
      STORE(epoch, n, RELEASE); // broken 1: STORE(epoch, n, RELAXED);
    }
  } else {
    for (uint n = 0; n < 6;) {
      n = LOAD(epoch, ACQUIRE);
      if (n && record[2 * (n % 2)] * 3 != record[2 * (n % 2) + 1])
        __opencl_atomic_fetch_add(bad, 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
      STORE(&at[me - 1], n, RELEASE);
    }
  }
}
