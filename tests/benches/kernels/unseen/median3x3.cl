// 3 x 3 median of an 8-bit image, four pixels a work-item; the twin of median3x3.k.
#include "k.h"
static uchar4 least(uchar4 a, uchar4 b) { return a < b ? a : b; }
static uchar4 most(uchar4 a, uchar4 b) { return a > b ? a : b; }
static uchar4 median_of_three(uchar4 a, uchar4 b, uchar4 c) { return most(least(a, b), least(most(a, b), c)); }
typedef struct { uchar4 left, mid, right; } Window;
static Window window(global const uchar *row, uint x, uint width) {
  uchar4 mid = *(global const uchar4 *)(row + x);
  uchar before = row[x == 0 ? 0 : x - 1];
  uchar after = row[x + 4 < width - 1 ? x + 4 : width - 1];
  Window w = {(uchar4)(before, mid.xyz), mid, (uchar4)(mid.yzw, after)};
  return w;
}
typedef struct { uchar4 low, mid, high; } Sorted;
static Sorted sort(uchar4 a, uchar4 b, uchar4 c) {
  uchar4 ab_low = least(a, b), ab_high = most(a, b);
  uchar4 rest = least(ab_high, c);
  Sorted s = {least(ab_low, rest), most(ab_low, rest), most(ab_high, c)};
  return s;
}
kernel WG(16,16,1) void median3x3(global const uchar *restrict in, global uchar *restrict out, uint width, uint height,
                                  uint pitch) {
  uint x = 4 * (WGX * 16 + TX), y = WGY * 16 + TY;
  if (x >= width || y >= height) return;
  Window up = window(in + (y == 0 ? 0 : y - 1) * pitch, x, width);
  Window here = window(in + y * pitch, x, width);
  Window down = window(in + (y + 1 < height - 1 ? y + 1 : height - 1) * pitch, x, width);
  Sorted l = sort(up.left, here.left, down.left);
  Sorted m = sort(up.mid, here.mid, down.mid);
  Sorted r = sort(up.right, here.right, down.right);
  uchar4 low = most(most(l.low, m.low), r.low);
  uchar4 high = least(least(l.high, m.high), r.high);
  *(global uchar4 *)(out + y * pitch + x) = median_of_three(low, median_of_three(l.mid, m.mid, r.mid), high);
}
