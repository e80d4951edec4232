// The kernels of `hostcall.k`. LLVM 19 looks for reads of the argument, which are in ROCm's device library and here in the kernel; LLVM 14
// looks for calls of HIP's `printf`.
#ifdef __OPENCL_C_VERSION__
#define KERNEL __kernel
#define GLOBAL __global
#define CONSTANT __constant
#else
#define KERNEL extern "C" __attribute__((global))
#define GLOBAL
#define CONSTANT const __attribute__((address_space(4)))
extern "C" __attribute__((device)) int printf(const char *, ...);
#endif

KERNEL void calls_host(GLOBAL unsigned *x) {
#if __clang_major__ < 15
    printf("%u\n", x[0]);
#else
    CONSTANT unsigned long *hidden = (CONSTANT unsigned long *)__builtin_amdgcn_implicitarg_ptr();
    *(GLOBAL unsigned long *)hidden[HOSTCALL_SLOT] = x[0];
#endif
}

KERNEL void beside(GLOBAL unsigned *x) { x[0] = 1; }
