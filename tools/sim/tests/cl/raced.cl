// A barrier is missing between the store to LDS and the load of what another wave stores there.
kernel __attribute__((reqd_work_group_size(128, 1, 1))) void raced(global unsigned *out) {
    local unsigned shared[128];
    unsigned item = __builtin_amdgcn_workitem_id_x();
    shared[item] = item;
    out[item] =
        shared[127 - item];
}
