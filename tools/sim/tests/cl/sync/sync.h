// Ids and barriers.
#define GROUP ((int)__builtin_amdgcn_workgroup_id_x())
#define ITEM ((int)__builtin_amdgcn_workitem_id_x())
#define SIZE(x) __attribute__((reqd_work_group_size(x, 1, 1)))
#define DEVICE __OPENCL_MEMORY_SCOPE_DEVICE
#define NEAR __OPENCL_MEMORY_SCOPE_WORK_GROUP

// What the group has done is there for all of its own.
static inline __attribute__((always_inline)) void group_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// ... and for the whole device, if one of its items releases it.
static inline __attribute__((always_inline)) void device_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
