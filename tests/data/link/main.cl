// A kernel whose function, table and variable stand in other objects.
extern int helper(int x, global int *variable);
extern constant int table[4];
extern global int variable;

kernel void main_kernel(global int *out, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    out[i] = helper(n + i, &variable) + table[i & 3];
}
