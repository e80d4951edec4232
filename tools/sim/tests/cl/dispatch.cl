// What a kernel is told about its dispatch: hidden arguments, packet, queue, ids.
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long u64;

__kernel void told(__global u64 *out) {
    __constant char *hidden = (__constant char *)__builtin_amdgcn_implicitarg_ptr();
    __constant char *packet = (__constant char *)__builtin_amdgcn_dispatch_ptr();
    // From V5 on clang gives the builtin no register where the processor has registers for the apertures.
    __constant char *queue = V5 ? *(__constant char *__constant *)(hidden + 200) : (__constant char *)__builtin_amdgcn_queue_ptr();
    u32 gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(), gz = __builtin_amdgcn_workgroup_id_z();
    u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
    u16 wx = *(__constant u16 *)(packet + 4), wy = *(__constant u16 *)(packet + 6), wz = *(__constant u16 *)(packet + 8);
    u32 sx = *(__constant u32 *)(packet + 12), sy = *(__constant u32 *)(packet + 16);
    u32 id = gx * wx + x + sx * (gy * wy + y + sy * (gz * wz + z));
    out[16 + id] = (u64)gx | (u64)gy << 8 | (u64)gz << 16 | (u64)x << 24 | (u64)y << 32 | (u64)z << 40;
    if (id != 0)
        return;
    int offsets = V5 ? 40 : 0;
    for (int n = 0; n < 3; n++)
        out[n] = *(__constant u64 *)(hidden + offsets + 8 * n);
    if (V5) {
        out[3] = *(__constant u32 *)(hidden + 0) | (u64) * (__constant u32 *)(hidden + 4) << 32;
        out[4] = *(__constant u64 *)(hidden + 12);
        out[5] = *(__constant u64 *)(hidden + 20) & 0xffffffff;
        out[6] = *(__constant u16 *)(hidden + 64);
    }
    out[7] = *(__constant u64 *)(packet + 56);
    out[8] = *(__constant u32 *)(queue + 64) | (u64) * (__constant u32 *)(queue + 68) << 32;
    out[9] = *(__constant u64 *)(queue + 128);
    // The packet is in the slot of the queue's ring that its number stands for.
    __constant char *ring = *(__constant char *__constant *)(queue + 8);
    u32 slots = *(__constant u32 *)(queue + 24);
    out[10] = ring + 64 * (out[9] & (slots - 1)) == packet;
    out[11] = *(__constant u16 *)(packet + 2);
}
