// SHA3-256 of many messages of one length; the twin of sha3_256.k.
#include "k.h"
#define RATE_WORDS 17u
constant ulong ROUND[24] = {
  0x0000000000000001ul, 0x0000000000008082ul, 0x800000000000808aul, 0x8000000080008000ul, 0x000000000000808bul,
  0x0000000080000001ul, 0x8000000080008081ul, 0x8000000000008009ul, 0x000000000000008aul, 0x0000000000000088ul,
  0x0000000080008009ul, 0x000000008000000aul, 0x000000008000808bul, 0x800000000000008bul, 0x8000000000008089ul,
  0x8000000000008003ul, 0x8000000000008002ul, 0x8000000000000080ul, 0x000000000000800aul, 0x800000008000000aul,
  0x8000000080008081ul, 0x8000000000008080ul, 0x0000000080000001ul, 0x8000000080008008ul,
};
// The lanes in the order in which pi moves them, and the rotations of rho for this order.
constant uint PI_LANE[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
constant uint RHO[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
static ulong rotl(ulong x, uint n) { return x << n | x >> (64 - n); }
static void keccak_f(ulong *s) {
  for (uint r = 0; r < 24; r++) {
    ulong c[5];
#pragma unroll
    for (uint x = 0; x < 5; x++) c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
#pragma unroll
    for (uint x = 0; x < 5; x++) {
      ulong d = c[(x + 4) % 5] ^ rotl(c[(x + 1) % 5], 1);
#pragma unroll
      for (uint y = 0; y < 5; y++) s[x + 5 * y] ^= d;
    }
    ulong moving = s[1];
#pragma unroll
    for (uint i = 0; i < 24; i++) {
      ulong next = s[PI_LANE[i]];
      s[PI_LANE[i]] = rotl(moving, RHO[i]);
      moving = next;
    }
#pragma unroll
    for (uint y = 0; y < 5; y++) {
#pragma unroll
      for (uint x = 0; x < 5; x++) c[x] = s[5 * y + x];
#pragma unroll
      for (uint x = 0; x < 5; x++) s[5 * y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    s[0] ^= ROUND[r];
  }
}
kernel WG(64,1,1) void sha3_256(global const ulong *restrict messages, global ulong *restrict digests, uint count,
                                uint bytes) {
  uint i = WGX * 64 + TX;
  if (i >= count) return;
  uint words = bytes / 8;
  ulong state[25] = {0};
  uint at = i * words, left = words;
  while (left >= RATE_WORDS) {
#pragma unroll
    for (uint j = 0; j < RATE_WORDS; j++) state[j] ^= messages[at + j];
    keccak_f(state);
    at += RATE_WORDS;
    left -= RATE_WORDS;
  }
#pragma unroll
  for (uint j = 0; j < RATE_WORDS; j++) {
    if (j < left) state[j] ^= messages[at + j];
    else if (j == left) state[j] ^= 0x06;
  }
  state[RATE_WORDS - 1] ^= 1ul << 63;
  keccak_f(state);
#pragma unroll
  for (uint j = 0; j < 4; j++) digests[i * 4 + j] = state[j];
}
