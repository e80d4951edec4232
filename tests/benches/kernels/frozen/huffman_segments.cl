#include "k.h"
#define MAX_BITS 11u
#define SEGMENT 64u
kernel WG(128, 1, 1) void huffman_segments(global const uint *restrict bits, global const ushort *restrict table,
                                           global const uint *restrict segment_at, global uint *restrict symbols, uint n) {
  local ushort lut[1 << MAX_BITS];
  for (uint e = TX; e < 1u << MAX_BITS; e += 128) lut[e] = table[e];
  wg_barrier();
  uint segment = WGX * 128 + TX;
  uint first = segment * SEGMENT;
  if (first >= n) return;
  uint start = segment_at[segment];
  uint word = start / 32;
  ulong buffer = (ulong)bits[word] << 32 | bits[word + 1];
  word += 2;
  buffer <<= start % 32;
  uint have = 64 - start % 32;
  for (uint q = 0; q < SEGMENT / 4; q++) {
    if (first + 4 * q >= n) break;
    uint four = 0;
#pragma unroll
    for (uint k = 0; k < 4; k++) {
      uint entry = lut[buffer >> (64 - MAX_BITS)];
      uint length = entry >> 8;
      four |= (entry & 0xff) << (8 * k);
      buffer <<= length;
      have -= length;
      if (have <= 32) {
        buffer |= (ulong)bits[word] << (32 - have);
        word += 1;
        have += 32;
      }
    }
    symbols[first / 4 + q] = four;
  }
}
