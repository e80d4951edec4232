// Printing. The compiler calls `__printf_alloc` of ROCm's device library, which is not part of LLVM; this is one.

#ifndef PRINTF_SLOT
#error "PRINTF_SLOT: 3 up to code object V4, 9 from V5 on"
#endif

__global char *__printf_alloc(uint bytes) {
    __constant ulong *hidden = (__constant ulong *)__builtin_amdgcn_implicitarg_ptr();
    __global uint *buffer = (__global uint *)hidden[PRINTF_SLOT];
    uint size = buffer[1], used = buffer[0];
    do {
        if (used + bytes > size)
            return 0;
    } while (!__opencl_atomic_compare_exchange_strong((__global atomic_uint *)buffer, &used, used + bytes,
                                                      memory_order_relaxed, memory_order_relaxed,
                                                      memory_scope_device));
    return (__global char *)buffer + 8 + used;
}

__kernel void talk(__global const int *in, __global const float *f, __constant char *text) {
    uint id = __builtin_amdgcn_workitem_id_x();
    if (id == 1)
        printf("item %u: %d %05d %x %c: %s%%\n", id, in[0], in[1], in[2], 'A', "known");
    if (id == 1) {
        printf("%f %.2e %g %5.1f|\n", f[0], f[1], 0.1, f[2]);
        printf("%v4hld %v2hlf %ld %hhu\n", (int4)(1, -2, 3, in[0]), (float2)(0.5f, f[0]), (long)in[0] << 40, (uchar)in[2]);
        printf("no arguments\n");
    }
}

__kernel void all(void) {
    uint id = __builtin_amdgcn_workitem_id_x();
    printf("%u,", id);
}
