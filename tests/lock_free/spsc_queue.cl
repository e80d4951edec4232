// A queue between one producer and one consumer: a ring of four places and two ends.
// twin 1: the producer moves its end before the place is filled
// twin 2: the consumer moves its end before the place is read
//@ grid 128
//@ buffer ends 2
//@ buffer ring 4
//@ buffer out 12
//@ expect out = 7 8 9 10 11 12 13 14 15 16 17 18
#define LOAD(at) __opencl_atomic_load(&ends[at], __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE)
#define STORE(at, value) __opencl_atomic_store(&ends[at], value, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE)
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void t(global atomic_uint *ends, global uint *ring, global uint *out) {
  if (__builtin_amdgcn_workitem_id_x()) return;
  if (__builtin_amdgcn_workgroup_id_x() == 0) {
    for (uint n = 0; n < 12; n++) {
      while (n - LOAD(1) == 4);
      ring[n % 4] = 7 + n; // broken 1: STORE(0, n + 1);
      STORE(0, n + 1); // broken 1: ring[n % 4] = 7 + n;
    }
  } else {
    for (uint n = 0; n < 12; n++) {
      while (LOAD(0) <= n);
      out[n] = ring[n % 4]; // broken 2: STORE(1, n + 1);
      STORE(1, n + 1); // broken 2: out[n] = ring[n % 4];
    }
  }
}
