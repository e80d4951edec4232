// The kernels of `printf.k`. `__printf_alloc` is part of ROCm's device library; LLVM looks at what the function reads.
__global char *__printf_alloc(uint bytes) {
    __constant ulong *hidden = (__constant ulong *)__builtin_amdgcn_implicitarg_ptr();
    return (__global char *)hidden[PRINTF_SLOT] + bytes;
}

__kernel void prints(__global uint *x) { printf("%u\n", x[0]); }

__kernel void beside(__global uint *x) { x[0] = 1; }

__kernel void traps_beside(__global uint *x) {
    if (x[0] == 3)
        __builtin_trap();
    x[0] = 1;
}

void elsewhere(__global int *x);

__kernel void calls_beside(__global int *x) { elsewhere(x); }
