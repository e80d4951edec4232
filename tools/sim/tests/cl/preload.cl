// Arguments that the compiler wants in SGPRs before the first instruction (`-mllvm -amdgpu-kernarg-preload-count`).
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void preloaded(global unsigned *out, unsigned a, unsigned b, unsigned long c) {
    unsigned id = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    out[id] = id * a + b + (unsigned)(c >> 32);
}
