// Decoding of a canonical Huffman code by a table in LDS; the twin of huffman_decode.k.
#include "k.h"
#define BITS 11u
#define TABLE (1u << BITS)
kernel WG(64,1,1) void huffman_decode(global const uint *restrict stream, global const uint *restrict first_bits,
                                      global const ushort *restrict table, global uint *restrict symbols, uint chunks,
                                      uint words) {
  local ushort lut[TABLE];
  uint t = TX;
  for (uint i = t; i < TABLE; i += 64) lut[i] = table[i];
  wg_barrier();
  uint chunk = WGX * 64 + t;
  if (chunk >= chunks) return;
  uint bit = first_bits[chunk];
  uint at = bit / 32;
  ulong buffer = ((ulong)stream[at] << 32 | stream[at + 1]) << (bit % 32);
  uint left = 64 - bit % 32;
  at += 2;
  for (uint w = 0; w < words; w++) {
    uint out = 0;
#pragma unroll
    for (uint k = 0; k < 4; k++) {
      if (left < 32) {
        buffer |= (ulong)stream[at] << (32 - left);
        left += 32;
        at++;
      }
      uint entry = lut[(uint)(buffer >> (64 - BITS))];
      uint length = entry >> 8;
      out |= (entry & 0xff) << (8 * k);
      buffer <<= length;
      left -= length;
    }
    symbols[chunk * words + w] = out;
  }
}
