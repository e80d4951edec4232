// A row, scaled and summed. scale.co: clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx906 -x cl -cl-std=CL2.0 -O1 -g -nogpulib
//   -fdebug-compilation-dir=.
__attribute__((noinline)) static float scaled(float x, float by) {
    float result = x * by;
    return result + 1;
}

kernel void scale(global float *row, float by, int n) {
    local float tile[64];
    int i = __builtin_amdgcn_workitem_id_x();
    float sum = 0;
    for (int j = 0; j < n; ++j)
        sum += scaled(row[j], by);
    tile[i & 63] = sum;
    row[n + i] = tile[(i + 1) & 63];
}
