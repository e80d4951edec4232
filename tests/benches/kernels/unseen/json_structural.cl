// The first stage of a JSON parser on bit masks; the twin of json_structural.k.
#include "k.h"
#define THREADS 64u
// Characters after an odd number of backslashes; `carry` is 1 if the first character is one of these.
static uint find_escaped(uint backslashes, uint carry) {
  uint even = 0x55555555u;
  uint bs = backslashes & ~carry;
  uint follows = bs << 1 | carry;
  uint odd_starts = bs & ~even & ~follows;
  uint sums = odd_starts + bs;
  return (even ^ sums << 1) & follows;
}
static uint prefix_xor(uint m) {
  m ^= m << 1;
  m ^= m << 2;
  m ^= m << 4;
  m ^= m << 8;
  return m ^ m << 16;
}
static bool is_structural(uint c) {
  switch (c) {
  case 0x2c: case 0x3a: case 0x5b: case 0x5d: case 0x7b: case 0x7d: return true;
  default: return false;
  }
}
kernel WG(64,1,1) void json_structural(global const uchar *restrict text, global const uint *restrict in_string,
                                       global uint *restrict structural, global uint *restrict strings, uint words) {
  local uint parity[THREADS];
  uint t = TX, i = WGX * THREADS + t;
  uint quotes = 0, backslashes = 0, marks = 0, carry = 0;
  if (i < words) {
    global const uint *four = (global const uint *)text;
#pragma unroll
    for (uint w = 0; w < 8; w++) {
      uint v = four[i * 8 + w];
#pragma unroll
      for (uint b = 0; b < 4; b++) {
        uint c = (v >> (8 * b)) & 0xff;
        uint bit = 1u << (4 * w + b);
        if (c == 0x22) quotes |= bit;
        if (c == 0x5c) backslashes |= bit;
        if (is_structural(c)) marks |= bit;
      }
    }
    uint before = i * 32;
    while (before > 0 && text[before - 1] == 0x5c) {
      before--;
      carry ^= 1;
    }
  }
  quotes &= ~find_escaped(backslashes, carry);
  uint mine = __builtin_popcount(quotes) & 1;
  uint sum = mine;
  parity[t] = sum;
  wg_barrier();
  for (uint d = 1; d < THREADS; d <<= 1) {
    uint below = t >= d ? parity[t - d] : 0;
    wg_barrier();
    sum ^= below;
    parity[t] = sum;
    wg_barrier();
  }
  uint open = sum ^ mine ^ in_string[WGX];
  uint inside = prefix_xor(quotes) ^ (0 - open);
  if (i < words) {
    structural[i] = marks & ~inside;
    strings[i] = inside;
  }
}
