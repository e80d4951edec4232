#include "k.h"
typedef struct { ulong v0, v1, v2, v3; } State;
static ulong rotl(ulong v, uint n) { return v << n | v >> (64 - n); }
static State sip_round(State s) {
  s.v0 += s.v1;
  s.v1 = rotl(s.v1, 13) ^ s.v0;
  s.v0 = rotl(s.v0, 32);
  s.v2 += s.v3;
  s.v3 = rotl(s.v3, 16) ^ s.v2;
  s.v0 += s.v3;
  s.v3 = rotl(s.v3, 21) ^ s.v0;
  s.v2 += s.v1;
  s.v1 = rotl(s.v1, 17) ^ s.v2;
  s.v2 = rotl(s.v2, 32);
  return s;
}
static State absorb(State s, ulong m) {
  s.v3 ^= m;
  s = sip_round(sip_round(s));
  s.v0 ^= m;
  return s;
}
kernel WG(128, 1, 1) void siphash24(global const uchar *restrict text, global const uint *restrict offsets,
                                    global ulong *restrict hashes, ulong k0, ulong k1, uint n) {
  uint i = WGX * 128 + TX;
  if (i >= n) return;
  uint begin = offsets[i], end = offsets[i + 1];
  uint length = end - begin;
  State s = {k0 ^ 0x736f6d6570736575ul, k1 ^ 0x646f72616e646f6dul, k0 ^ 0x6c7967656e657261ul, k1 ^ 0x7465646279746573ul};
  uint at = begin;
  while (at + 8 <= end) {
    ulong m = 0;
#pragma unroll
    for (uint b = 0; b < 8; b++) m |= (ulong)text[at + b] << (8 * b);
    s = absorb(s, m);
    at += 8;
  }
  ulong last = (ulong)length << 56;
  for (uint b = 0; b < (length & 7); b++) last |= (ulong)text[at + b] << (8 * b);
  s = absorb(s, last);
  s.v2 ^= 0xff;
#pragma unroll
  for (uint r = 0; r < 4; r++) s = sip_round(s);
  hashes[i] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
