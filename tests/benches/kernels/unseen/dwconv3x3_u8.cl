// Depthwise 3 x 3 convolution of a quantised network; the twin of dwconv3x3_u8.k.
#include "k.h"
static int4 nearest(float4 v) {
  return (int4)((int)__builtin_rintf(v.x), (int)__builtin_rintf(v.y), (int)__builtin_rintf(v.z), (int)__builtin_rintf(v.w));
}
static int4 clamp_to(int4 v, int low, int high) {
  v = v < low ? (int4)low : v;
  return v > high ? (int4)high : v;
}
kernel WG(16,8,1) void dwconv3x3_u8(global const uchar4 *restrict input, global const char4 *restrict weights,
                                    global const int4 *restrict bias, global const float4 *restrict scale,
                                    global uchar4 *restrict output, int height, int width, int quads, int out_height,
                                    int out_width, int in_zero, int out_zero) {
  int c = WGX * 16 + TX, ox = WGY * 8 + TY, oy = __builtin_amdgcn_workgroup_id_z();
  if (c >= quads || ox >= out_width || oy >= out_height) return;
  int4 acc = bias[c];
#pragma unroll
  for (int ky = 0; ky < 3; ky++) {
    int y = 2 * oy + ky - 1;
    if (y >= 0 && y < height) {
#pragma unroll
      for (int kx = 0; kx < 3; kx++) {
        int x = 2 * ox + kx - 1;
        if (x >= 0 && x < width) {
          int4 v = __builtin_convertvector(input[(y * width + x) * quads + c], int4) - in_zero;
          acc += v * __builtin_convertvector(weights[(ky * 3 + kx) * quads + c], int4);
        }
      }
    }
  }
  int4 real = nearest(__builtin_convertvector(acc, float4) * scale[c]) + out_zero;
  output[(oy * out_width + ox) * quads + c] = __builtin_convertvector(clamp_to(real, 0, 255), uchar4);
}
