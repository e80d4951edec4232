#include "../cl/k.h"
#define I ((uint)(WGX * 64 + TX))
#define ROTL(x,n) (((x) << (n)) | ((x) >> (32 - (n))))
constant uchar TURN[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
constant uint ADDED[8] = {0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501};
static uint choose(uint kind, uint b, uint c, uint d) {
  switch (kind) {
  case 0: return (b & c) | (~b & d);
  case 1: return (d & b) | (~d & c);
  case 2: return b ^ c ^ d;
  default: return c ^ (b | ~d);
  }
}
static void step(uint *s, uint at, uint word) {
  uint kind = at / 8;
  uint f = choose(kind, s[1], s[2], s[3]) + s[0] + word + ADDED[at % 8];
  uint next = s[1] + ROTL(f, TURN[kind * 4 + at % 4]);
  s[0] = s[3];
  s[3] = s[2];
  s[2] = s[1];
  s[1] = next;
}
kernel WG(64,1,1) void digest(global const uint *restrict x, global uint *restrict y, uint n) {
  uint i = I;
  uint s[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  uint m[8];
#pragma unroll
  for (uint k = 0; k < 8; k++) m[k] = x[i * 8 + k];
  if (n > 9) s[0] = n;
#pragma unroll
  for (uint at = 0; at < 32; at++) step(s, at, m[(at * 5 + at / 8) % 8]);
#pragma unroll
  for (uint k = 0; k < 4; k++) y[i * 4 + k] = s[k];
}
