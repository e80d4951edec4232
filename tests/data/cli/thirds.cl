// One line is reached by item 2 only, one by none. `__printf_alloc` comes from no LLVM: see tools/sim/tests/cl/printf.cl.
// thirds.co: clang-19 -x cl -target amdgcn-amd-amdhsa -mcpu=gfx906 -mcode-object-version=5 -nogpulib -cl-std=CL2.0
//   -Xclang -finclude-default-header -O1 -gline-tables-only -fdebug-compilation-dir=. -c; ld.lld-19 -shared
__global char *__printf_alloc(uint bytes) {
    __constant ulong *hidden = (__constant ulong *)__builtin_amdgcn_implicitarg_ptr();
    __global uint *buffer = (__global uint *)hidden[9];
    uint used = __opencl_atomic_fetch_add((__global atomic_uint *)buffer, bytes, memory_order_relaxed,
                                          memory_scope_device);
    return used + bytes > buffer[1] ? 0 : (__global char *)buffer + 8 + used;
}

__kernel void thirds(__global int *out, __global const int *in, int n) {
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    if (i >= n)
        return;
    out[i] = in[i] / 3;
    if (i == 2)
        printf("item %d has %d\n", i, in[i]);
    if (in[i] > 1000)
        printf("too large: %d\n", in[i]);
}
