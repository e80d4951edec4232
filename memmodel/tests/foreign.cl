// Kernels that make a compiler wait in every way: loads used late, LDS behind barriers, atomics of every order, double
// division (v_div_fmas), lane selects, wide stores, loops with loads in flight across the back edge.

#define LOCAL_ID ((int)__builtin_amdgcn_workitem_id_x())
#define GLOBAL_ID ((int)(__builtin_amdgcn_workgroup_id_x() * 256) + LOCAL_ID)
#define GROUP __attribute__((reqd_work_group_size(256, 1, 1)))

#define BARRIER                                              \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");   \
    __builtin_amdgcn_s_barrier();                            \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

kernel GROUP void loads(global const float4 *a, global const float4 *b, global float4 *c, int n) {
    int i = GLOBAL_ID;
    if (i >= n) return;
    float4 x = a[i], y = b[i], z = a[i + n], w = b[i + n];
    c[i] = x * y + z * w;
    c[i + n] = x - w;
}

kernel GROUP void pipeline(global const float *a, global float *out, int n) {
    int i = GLOBAL_ID;
    float next = a[i], sum = 0;
    for (int k = 1; k < n; k++) {
        float current = next;
        next = a[i + k * 1024];
        sum = sum * 0.5f + current;
    }
    out[i] = sum + next;
}

kernel GROUP void reverse(global const int *in, global int *out) {
    local int tile[256];
    int i = LOCAL_ID;
    tile[i] = in[GLOBAL_ID];
    BARRIER;
    out[GLOBAL_ID] = tile[255 - i] + tile[i ^ 1];
}

kernel GROUP void divide(global const double *a, global double *b, float f) {
    int i = GLOBAL_ID;
    b[i] = a[i] / b[i] + 1.0f / f;
}

kernel GROUP void orders(global atomic_int *a, local atomic_int *l, global int *out) {
    int i = GLOBAL_ID;
    int sum = __opencl_atomic_load(a, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE);
    sum += __opencl_atomic_fetch_add(a + 1, sum, __ATOMIC_ACQ_REL, __OPENCL_MEMORY_SCOPE_DEVICE);
    sum += __opencl_atomic_fetch_add(l, sum, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    out[i] = sum;
    __opencl_atomic_store(a + 2, sum, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    out[i + 1] = __opencl_atomic_load(a + 3, __ATOMIC_SEQ_CST, __OPENCL_MEMORY_SCOPE_DEVICE);
}

kernel GROUP void flat(global int *g, int which) {
    local int l[64];
    l[LOCAL_ID] = which;
    BARRIER;
    int *p = which > 3 ? (int *)(l + which) : (int *)(g + which);
    g[GLOBAL_ID] = *p + g[which + 7];
    *p = which;
}
