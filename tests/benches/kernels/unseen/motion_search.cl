// Motion estimation by full search of +-7 pixels; the twin of motion_search.k.
#include "k.h"
#define BLOCK 16u
#define RANGE 7
#define SIDE (2u * RANGE + 1)
#define WINDOW (BLOCK + 2 * RANGE)
static int clamp_to(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static uint groups_x(void) {
  // The grid's and the work-group's size in the dispatch packet.
  constant uchar *p = (constant uchar *)__builtin_amdgcn_dispatch_ptr();
  uint size = *(constant uint *)(p + 12), group = *(constant ushort *)(p + 4);
  return (size + group - 1) / group;
}
kernel WG(64,1,1) void motion_search(global const uchar *restrict current, global const uchar *restrict reference,
                                     global int2 *restrict vectors, global uint *restrict costs, int width, int height,
                                     uint lambda) {
  local uchar block[BLOCK][BLOCK];
  local uchar window[WINDOW][WINDOW + 2];
  local uint best[64];
  uint t = TX;
  int x0 = WGX * BLOCK, y0 = WGY * BLOCK;
  for (uint i = t; i < BLOCK * BLOCK; i += 64)
    block[i / BLOCK][i % BLOCK] = current[(y0 + (int)(i / BLOCK)) * width + x0 + (int)(i % BLOCK)];
  for (uint i = t; i < WINDOW * WINDOW; i += 64) {
    int x = clamp_to(x0 - RANGE + (int)(i % WINDOW), 0, width - 1);
    int y = clamp_to(y0 - RANGE + (int)(i / WINDOW), 0, height - 1);
    window[i / WINDOW][i % WINDOW] = reference[y * width + x];
  }
  wg_barrier();
  uint mine = 0xffffffffu;
  for (uint c = t; c < SIDE * SIDE; c += 64) {
    uint dx = c % SIDE, dy = c / SIDE;
    uint cost = lambda * (uint)(__builtin_abs((int)dx - RANGE) + __builtin_abs((int)dy - RANGE));
    for (uint y = 0; y < BLOCK; y++) {
#pragma unroll
      for (uint x = 0; x < BLOCK; x++) cost += (uint)__builtin_abs((int)block[y][x] - (int)window[y + dy][x + dx]);
      // A candidate that is worse already cannot win.
      if (cost << 8 >= mine) break;
    }
    uint full = cost << 8 | c;
    mine = mine < full ? mine : full;
  }
  best[t] = mine;
  wg_barrier();
  for (uint d = 32; d > 0; d >>= 1) {
    if (t < d) best[t] = best[t] < best[t + d] ? best[t] : best[t + d];
    wg_barrier();
  }
  if (t == 0) {
    uint at = WGY * groups_x() + WGX;
    uint c = best[0] & 0xff;
    vectors[at] = (int2)((int)(c % SIDE) - RANGE, (int)(c / SIDE) - RANGE);
    costs[at] = best[0] >> 8;
  }
}
