// NV12 to RGBA, 2 x 2 pixels a work-item; the twin of nv12_to_rgba.k.
#include "k.h"
static uchar clamp_byte(int v) { return (uchar)(v < 0 ? 0 : v > 255 ? 255 : v); }
static uchar4 pixel(uchar luma, int red, int green, int blue) {
  int c = 298 * ((int)luma - 16) + 128;
  return (uchar4)(clamp_byte((c + red) >> 8), clamp_byte((c + green) >> 8), clamp_byte((c + blue) >> 8), 255);
}
kernel WG(16,16,1) void nv12_to_rgba(global const uchar *restrict luma, global const uchar *restrict chroma,
                                     global uchar4 *restrict rgba, uint width, uint height, uint luma_pitch,
                                     uint chroma_pitch, uint rgba_pitch) {
  uint x = 2 * (WGX * 16 + TX), y = 2 * (WGY * 16 + TY);
  if (x >= width || y >= height) return;
  global const uchar *uv = chroma + (y / 2 * chroma_pitch + x);
  int u = (int)uv[0] - 128, v = (int)uv[1] - 128;
  int red = 409 * v;
  int green = -100 * u - 208 * v;
  int blue = 516 * u;
#pragma unroll
  for (uint row = 0; row < 2; row++) {
    uint from = (y + row) * luma_pitch + x;
    uint to = (y + row) * rgba_pitch + x;
    rgba[to] = pixel(luma[from], red, green, blue);
    rgba[to + 1] = pixel(luma[from + 1], red, green, blue);
  }
}
