// XXH32 of strings of any length; the twin of xxh32_strings.k.
#include "k.h"
#define P1 0x9e3779b1u
#define P2 0x85ebca77u
#define P3 0xc2b2ae3du
#define P4 0x27d4eb2fu
#define P5 0x165667b1u
static uint rotl(uint x, uint n) { return x << n | x >> (32 - n); }
static uint word(global const uchar *p) {
  return (uint)p[0] | (uint)p[1] << 8 | (uint)p[2] << 16 | (uint)p[3] << 24;
}
static uint round_of(uint acc, uint lane) { return rotl(acc + lane * P2, 13) * P1; }
kernel WG(128,1,1) void xxh32_strings(global const uchar *restrict bytes, global const uint *restrict offsets,
                                      global uint *restrict hashes, uint count, uint seed) {
  uint i = WGX * 128 + TX;
  if (i >= count) return;
  uint length = offsets[i + 1] - offsets[i];
  global const uchar *p = bytes + offsets[i];
  uint left = length;
  uint h = seed + P5;
  if (length >= 16) {
    uint v1 = seed + P1 + P2, v2 = seed + P2, v3 = seed, v4 = seed - P1;
    while (left >= 16) {
      v1 = round_of(v1, word(p));
      v2 = round_of(v2, word(p + 4));
      v3 = round_of(v3, word(p + 8));
      v4 = round_of(v4, word(p + 12));
      p += 16;
      left -= 16;
    }
    h = rotl(v1, 1) + rotl(v2, 7) + rotl(v3, 12) + rotl(v4, 18);
  }
  h += length;
  while (left >= 4) {
    h = rotl(h + word(p) * P3, 17) * P4;
    p += 4;
    left -= 4;
  }
  while (left > 0) {
    h = rotl(h + *p * P5, 11) * P1;
    p++;
    left--;
  }
  h ^= h >> 15;
  h *= P2;
  h ^= h >> 13;
  h *= P3;
  h ^= h >> 16;
  hashes[i] = h;
}
