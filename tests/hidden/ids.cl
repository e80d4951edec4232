// Each work-item writes its three ids, as `get_global_id` of ROCm's device library, which is not part of LLVM, finds them.
#define ID(d, n, size)                                                                                                 \
    (__builtin_amdgcn_workgroup_id_##d() * size + __builtin_amdgcn_workitem_id_##d() +                                 \
     ((__constant ulong *)__builtin_amdgcn_implicitarg_ptr())[OFFSET_SLOT + n])

__kernel void ids(__global uint *out) {
    uint x = __builtin_amdgcn_workgroup_id_x() * 4 + __builtin_amdgcn_workitem_id_x();
    uint y = __builtin_amdgcn_workgroup_id_y() * 2 + __builtin_amdgcn_workitem_id_y();
    uint z = __builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workitem_id_z();
    __global uint *to = out + (x + 10 * (y + 6 * z)) * 3;
    to[0] = ID(x, 0, 4);
    to[1] = ID(y, 1, 2);
    to[2] = ID(z, 2, 2);
}
