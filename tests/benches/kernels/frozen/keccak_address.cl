#include "k.h"
constant ulong ROUND[24] = {
    0x0000000000000001ul, 0x0000000000008082ul, 0x800000000000808aul, 0x8000000080008000ul,
    0x000000000000808bul, 0x0000000080000001ul, 0x8000000080008081ul, 0x8000000000008009ul,
    0x000000000000008aul, 0x0000000000000088ul, 0x0000000080008009ul, 0x000000008000000aul,
    0x000000008000808bul, 0x800000000000008bul, 0x8000000000008089ul, 0x8000000000008003ul,
    0x8000000000008002ul, 0x8000000000000080ul, 0x000000000000800aul, 0x800000008000000aul,
    0x8000000080008081ul, 0x8000000000008080ul, 0x0000000080000001ul, 0x8000000080008008ul,
};
constant uint ROTATION[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
constant uint LANE[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
static ulong rotl(ulong v, uint n) { return v << n | v >> (64 - n); }
kernel WG(64, 1, 1) void keccak_address(global const ulong *restrict keys, global uint *restrict addresses, uint n) {
  uint id = WGX * 64 + TX;
  if (id >= n) return;
  ulong a[25], c[5];
#pragma unroll
  for (uint i = 0; i < 25; i++) a[i] = 0;
#pragma unroll
  for (uint i = 0; i < 8; i++) a[i] = keys[id * 8 + i];
  a[8] = 1;
  a[16] = 0x8000000000000000ul;
  for (uint round = 0; round < 24; round++) {
#pragma unroll
    for (uint x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (uint x = 0; x < 5; x++) {
      ulong d = c[(x + 4) % 5] ^ rotl(c[(x + 1) % 5], 1);
#pragma unroll
      for (uint y = 0; y < 5; y++) a[x + 5 * y] ^= d;
    }
    ulong moved = a[1];
#pragma unroll
    for (uint i = 0; i < 24; i++) {
      ulong next = a[LANE[i]];
      a[LANE[i]] = rotl(moved, ROTATION[i]);
      moved = next;
    }
#pragma unroll
    for (uint y = 0; y < 5; y++) {
#pragma unroll
      for (uint x = 0; x < 5; x++) c[x] = a[x + 5 * y];
#pragma unroll
      for (uint x = 0; x < 5; x++) a[x + 5 * y] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    a[0] ^= ROUND[round];
  }
  addresses[id * 5] = (uint)(a[1] >> 32);
  addresses[id * 5 + 1] = (uint)a[2];
  addresses[id * 5 + 2] = (uint)(a[2] >> 32);
  addresses[id * 5 + 3] = (uint)a[3];
  addresses[id * 5 + 4] = (uint)(a[3] >> 32);
}
