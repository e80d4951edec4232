// Small kernels of which code objects of every version are recorded (`tests/data/recorded`): LDS and barriers, private
// memory, calls, atomics and bytes. `tests/recorded.rs` has their meaning once more.
typedef unsigned int u32;
typedef unsigned char u8;

#define GROUP __attribute__((reqd_work_group_size(128, 1, 1)))
#define ITEM __builtin_amdgcn_workitem_id_x()
#define ID (__builtin_amdgcn_workgroup_id_x() * 128 + ITEM)

static void barrier_of_group(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// out[group] = the sum of the group's part of in.
kernel GROUP void sums(global const u32 *in, global u32 *out, u32 n) {
    local u32 part[128];
    u32 item = ITEM;
    part[item] = ID < n ? in[ID] : 0;
    barrier_of_group();
    for (u32 half_size = 64; half_size > 0; half_size /= 2) {
        if (item < half_size)
            part[item] += part[item + half_size];
        barrier_of_group();
    }
    if (item == 0)
        out[__builtin_amdgcn_workgroup_id_x()] = part[0];
}

__attribute__((noinline)) static u32 mixed(u32 x) { return (x ^ x >> 15) * 0x2c1b3c6d; }

// Eight mixed digits through private memory.
kernel GROUP void digits(global const u32 *in, global u32 *out, u32 n) {
    u32 id = ID;
    if (id >= n)
        return;
    volatile u32 digit[8];
    u32 x = in[id];
    for (u32 at = 0; at < 8; at++)
        digit[at] = x >> 4 * at & 15;
    u32 sum = 0;
    for (u32 at = 0; at < 8; at++)
        sum = mixed(sum + digit[(at * 3 + x) & 7]);
    out[id] = sum;
}

// How often each low half of a byte occurs.
kernel GROUP void halves(global const u8 *in, global u32 *out, u32 n) {
    if (ID < n)
        __opencl_atomic_fetch_add((global atomic_uint *)out + (in[ID] & 15), 1u, memory_order_relaxed, memory_scope_device);
}
