// Decoding of 64-bit integers in blocks of packed differences; the twin of delta_unpack.k.
#include "k.h"
#define THREADS 128u
kernel WG(128,1,1) void delta_unpack(global const uint *restrict words, global const uint *restrict starts,
                                     global const long *restrict firsts, global const uint *restrict counts,
                                     global long *restrict values, uint stride) {
  local long sums[THREADS];
  uint t = TX, page = WGX;
  uint count = counts[page];
  uint at = starts[page];
  long base = firsts[page];
  global long *out = values + page * stride;
  if (t == 0) out[0] = base;
  for (uint begin = 0; begin < count; begin += THREADS) {
    long minimum = (long)((ulong)words[at + 1] << 32 | words[at]);
    uint widths = words[at + 2];
    uint mini = t / 32;
    uint word = at + 3;
    for (uint m = 0; m < 4; m++)
      if (m < mini) word += (widths >> (8 * m)) & 0xff;
    uint width = (widths >> (8 * mini)) & 0xff;
    ulong packed = 0;
    if (width > 0) {
      uint bit = (t % 32) * width;
      word += bit / 32;
      packed = words[word];
      if (bit % 32 + width > 32) packed |= (ulong)words[word + 1] << 32;
      packed = (packed >> (bit % 32)) & ((1ul << width) - 1);
    }
    long sum = begin + t < count ? minimum + (long)packed : 0;
    sums[t] = sum;
    wg_barrier();
    for (uint d = 1; d < THREADS; d <<= 1) {
      long below = t >= d ? sums[t - d] : 0;
      wg_barrier();
      sum += below;
      sums[t] = sum;
      wg_barrier();
    }
    if (begin + t < count) out[1 + begin + t] = base + sum;
    base += sums[THREADS - 1];
    wg_barrier();
    at += 3 + (widths & 0xff) + ((widths >> 8) & 0xff) + ((widths >> 16) & 0xff) + (widths >> 24);
  }
}
