// A Treiber stack: each group pushes two nodes and pops two. A node is pushed once, so that there is no ABA.
// twin 1: a node is pushed without a release
// twin 2: a node is popped without an acquire
//@ grid 512
//@ buffer head 1
//@ buffer next 17
//@ buffer value 17
//@ buffer sum 2
//@ expect sum = 16 248
#define LOAD(order) __opencl_atomic_load(head, __ATOMIC_##order, __OPENCL_MEMORY_SCOPE_DEVICE)
#define CAS(old, new, order, else_order) __opencl_atomic_compare_exchange_strong(head, old, new, __ATOMIC_##order, __ATOMIC_##else_order, __OPENCL_MEMORY_SCOPE_DEVICE)
#define ADD(at, n) __opencl_atomic_fetch_add(&sum[at], n, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void t(global atomic_uint *head, global uint *next, global uint *value, global atomic_uint *sum) {
  if (__builtin_amdgcn_workitem_id_x()) return;
  for (uint n = 0; n < 2; n++) {
    uint node = 1 + 2 * __builtin_amdgcn_workgroup_id_x() + n;
    value[node] = 7 + node;
    uint old = LOAD(RELAXED);
    do next[node] = old;
    while (!CAS(&old, node, RELEASE, RELAXED)); // broken 1: while (!CAS(&old, node, RELAXED, RELAXED));
  }
  for (uint n = 0; n < 2; n++) {
    uint old = LOAD(ACQUIRE); // broken 2: uint old = LOAD(RELAXED);
    while (!CAS(&old, next[old], ACQUIRE, ACQUIRE)); // broken 2: while (!CAS(&old, next[old], RELAXED, RELAXED));
    ADD(0, 1);
    ADD(1, value[old]);
  }
}
