// Kernels that put packets into their own queue, as HSA's headers describe it, and kernels that trap.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long u64;

typedef struct {
    u16 header, setup, group_x, group_y, group_z, reserved0;
    u32 grid_x, grid_y, grid_z, private_bytes, lds_bytes;
    u64 object;
    __global void *kernarg;
    u64 reserved2, completion;
} packet;

typedef struct {
    long kind;
    __global u64 *doorbell;
} signal;

typedef struct {
    u32 type, features;
    __global packet *ring;
    __global signal *doorbell;
    u32 size, reserved1;
    u64 id;
    u64 reserved[2];
    u64 write_index;
    u64 others[8];
    u64 read_index;
} queue;

static __global queue *own_queue(void) {
#if V5
    return *(__global queue *__constant *)((__constant char *)__builtin_amdgcn_implicitarg_ptr() + 200);
#else
    return (__global queue *)(u64)__builtin_amdgcn_queue_ptr();
#endif
}

#define HIDDEN_WORDS (V5 ? 32 : 0)

// One work-item of a kernel.
static void enqueue(u64 object, __global void *kernarg, u64 completion) {
    __global queue *own = own_queue();
    u64 index = __opencl_atomic_fetch_add((__global atomic_ulong *)&own->write_index, 1, memory_order_relaxed,
                                          memory_scope_all_svm_devices);
    __global packet *at = own->ring + (index & (own->size - 1));
    at->group_x = at->group_y = at->group_z = 1;
    at->reserved0 = 0;
    at->grid_x = at->grid_y = at->grid_z = 1;
    at->private_bytes = 0;
    at->lds_bytes = 0;
    at->object = object;
    at->kernarg = kernarg;
    at->reserved2 = 0;
    at->completion = completion;
    // Kernel dispatch, barrier, system fences; one dimension.
    u32 first = 2 | 1 << 8 | 2 << 9 | 2 << 11 | 1 << 16;
    __opencl_atomic_store((__global atomic_uint *)at, first, memory_order_release, memory_scope_all_svm_devices);
    __opencl_atomic_store((__global atomic_ulong *)own->doorbell->doorbell, index, memory_order_release,
                          memory_scope_all_svm_devices);
}

__kernel void add(__global u32 *out, u32 value) {
    out[0] = out[0] * 10 + value;
}

typedef struct {
    __global u32 *out;
    u32 value;
} add_args;

// `pool`: 512 bytes for the arguments of each packet.
__kernel void parent(__global u32 *out, __global char *pool, u64 object, u64 completion, u32 count) {
    if (__builtin_amdgcn_workitem_id_x() != 0)
        return;
    for (u32 n = 0; n < count; n++) {
        __global add_args *args = (__global add_args *)(pool + 512 * n);
        args->out = out;
        args->value = n + 1;
        enqueue(object, args, completion);
    }
    out[0] = 7;
}

// Each packet adds the next one.
__kernel void chain(__global u32 *out, __global char *pool, u64 object, u64 completion, u32 left) {
    out[left] = left + 1;
    if (left == 0)
        return;
    __global char *args = pool + 512 * left;
    *(__global u64 *)args = (u64)out;
    *(__global u64 *)(args + 8) = (u64)pool;
    *(__global u64 *)(args + 16) = object;
    *(__global u64 *)(args + 24) = completion;
    *(__global u32 *)(args + 32) = left - 1;
    // The hidden arguments of the next one are this one's.
    __constant u64 *hidden = (__constant u64 *)__builtin_amdgcn_implicitarg_ptr();
    for (u32 n = 0; n < HIDDEN_WORDS; n++)
        ((__global u64 *)(args + 40))[n] = hidden[n];
    enqueue(object, args, completion);
}

// Rings for a packet that it does not fill in.
__kernel void forgets(void) {
    __global queue *own = own_queue();
    *own->doorbell->doorbell = own->write_index++;
}

__kernel void gives_up(__global u32 *out, u32 limit) {
    u32 id = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    __builtin_debugtrap();
    if (id >= limit)
        __builtin_trap();
    out[id] = id;
}
