// The kernels of `uses.k`, for OpenCL C and HIP.
#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define KERNEL __kernel
#define DEVICE
#define FOREIGN
#define GLOBAL __global
#define CONSTANT __constant
#define LOCAL __local
#define SHARED __local
typedef half Half;
typedef float4 Float4;
#else
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define FOREIGN extern "C" __attribute__((device))
#define GLOBAL
#define CONSTANT const __attribute__((address_space(4)))
#define LOCAL __attribute__((address_space(3)))
#define SHARED static __attribute__((shared))
typedef unsigned char uchar;
typedef unsigned uint;
typedef unsigned long ulong;
typedef _Float16 Half;
typedef float Float4 __attribute__((ext_vector_type(4)));
#endif

typedef CONSTANT ulong *Hidden;

KERNEL void plain(GLOBAL int *x) { x[0] = 1; }

KERNEL void no_arguments(void) {}

KERNEL void small_argument(uchar n) {
    if (n)
        __builtin_amdgcn_s_barrier();
}

typedef struct {
    float rx;
    double ry;
} Coef;

KERNEL void arguments(GLOBAL const int *__restrict x, GLOBAL volatile int *y, CONSTANT int *z, long a, Float4 b, Coef c, Half d,
                      GLOBAL Coef *e) {
    y[0] = x[0] + z[0] + (int)a + (int)b.x + (int)c.rx + (int)d;
    e[1] = c;
}

KERNEL void ids(GLOBAL uint *x) {
    x[__builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workitem_id_y()] = __builtin_amdgcn_workgroup_id_z();
}

#ifdef __OPENCL_C_VERSION__
KERNEL __attribute__((reqd_work_group_size(8, 4, 2))) void required_size(GLOBAL int *x) { x[0] = 1; }

KERNEL __attribute__((work_group_size_hint(8, 4, 2))) __attribute__((vec_type_hint(float4))) void hints(GLOBAL int *x) {
    x[0] = 1;
}
#endif

KERNEL void grid_size(GLOBAL uint *x) { x[0] = __builtin_amdgcn_grid_size_x(); }

KERNEL void group_size(GLOBAL uint *x) { x[0] = __builtin_amdgcn_workgroup_size_x(); }

// `get_global_id` of ROCm's device library, which is not part of LLVM. HIP's ids know no offset.
KERNEL void id_in_grid(GLOBAL uint *x) {
    CONSTANT uint *packet = (CONSTANT uint *)__builtin_amdgcn_dispatch_ptr();
    uint id = __builtin_amdgcn_workgroup_id_x() * (packet[1] & 0xffff) + __builtin_amdgcn_workitem_id_x();
#ifdef __OPENCL_C_VERSION__
    id += (uint)((Hidden)__builtin_amdgcn_implicitarg_ptr())[OFFSET_SLOT];
#endif
    x[id] = 1;
}

FOREIGN void elsewhere(GLOBAL int *x);

#ifdef __OPENCL_C_VERSION__
KERNEL void dynamic_lds(GLOBAL int *x, LOCAL int *buffer) {
    buffer[__builtin_amdgcn_workitem_id_x()] = x[1];
    __builtin_amdgcn_s_barrier();
    x[0] = buffer[3];
}

KERNEL void dynamic_lds_and_call(GLOBAL int *x, LOCAL int *buffer) {
    buffer[__builtin_amdgcn_workitem_id_x()] = x[1];
    elsewhere(x);
    x[0] = buffer[3];
}
#endif

KERNEL void trapping(GLOBAL int *x) {
    if (x[0] == 3)
        __builtin_trap();
    x[1] = 1;
}

static DEVICE __attribute__((noinline)) void store(int *to) { *to = 1; }

KERNEL void generic_pointer(GLOBAL int *x) {
    SHARED int a;
    int b = 0;
    store((int *)&a);
    store(&b);
    x[0] = a + b;
}

static DEVICE __attribute__((noinline)) uint deep(uint m, uint n) {
    return m == 0 ? n + 1 : n == 0 ? deep(m - 1, 1) : deep(m - 1, deep(m, n - 1));
}

KERNEL void recursion(GLOBAL uint *x) { x[0] = deep(x[1], x[2]); }

KERNEL void call_elsewhere(GLOBAL int *x) { elsewhere(x); }
