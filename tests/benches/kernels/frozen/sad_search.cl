#include "k.h"
#define BLOCK 8u
#define RANGE 16u
#define WINDOW (BLOCK + RANGE - 1)
typedef struct { short dx, dy; uint sad; } Motion;
static int clampi(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
kernel WG(16, 16, 1) void sad_search(global const uchar *restrict current, global const uchar *restrict reference,
                                     global Motion *restrict motion, int width, int height) {
  local uchar block[BLOCK][BLOCK];
  local uchar window[WINDOW][WINDOW + 1];
  local atomic_uint best;
  uint tx = TX, ty = TY;
  uint t = ty * RANGE + tx;
  int x0 = (int)(WGX * BLOCK), y0 = (int)(WGY * BLOCK);
  // the dispatch packet has the grid's size at byte 12
  uint groups_x = ((constant const uint *)__builtin_amdgcn_dispatch_ptr())[3] / RANGE;
  if (t < BLOCK * BLOCK) {
    int x = x0 + (int)(t % BLOCK), y = y0 + (int)(t / BLOCK);
    block[t / BLOCK][t % BLOCK] = current[y * width + x];
  }
  for (uint e = t; e < WINDOW * WINDOW; e += RANGE * RANGE) {
    uint r = e / WINDOW, c = e % WINDOW;
    int x = clampi(x0 + (int)c - 8, 0, width - 1), y = clampi(y0 + (int)r - 8, 0, height - 1);
    window[r][c] = reference[y * width + x];
  }
  if (t == 0) __opencl_atomic_store(&best, ~0u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  wg_barrier();
  uint sum = 0;
#pragma unroll
  for (uint r = 0; r < BLOCK; r++) {
#pragma unroll
    for (uint c = 0; c < BLOCK; c++) sum += (uint)__builtin_abs((int)block[r][c] - (int)window[ty + r][tx + c]);
  }
  uint code = sum << 8 | t;
  __opencl_atomic_fetch_min(&best, code, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  wg_barrier();
  if (t == 0) {
    uint winner = __opencl_atomic_load(&best, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    Motion m = {(short)((winner & 15) - 8), (short)((winner >> 4 & 15) - 8), winner >> 8};
    motion[(uint)WGY * groups_x + (uint)WGX] = m;
  }
}
