// ChaCha20 encryption, one block of 64 bytes a work-item; the twin of chacha20_xor.k.
#include "k.h"
static void quarter_rounds(uint4 *pa, uint4 *pb, uint4 *pc, uint4 *pd) {
  uint4 a = *pa, b = *pb, c = *pc, d = *pd;
  a += b; d ^= a; d = d << 16 | d >> 16;
  c += d; b ^= c; b = b << 12 | b >> 20;
  a += b; d ^= a; d = d << 8 | d >> 24;
  c += d; b ^= c; b = b << 7 | b >> 25;
  *pa = a; *pb = b; *pc = c; *pd = d;
}
kernel WG(64,1,1) void chacha20_xor(global const uint4 *restrict key, global const uchar *restrict in,
                                    global uchar *restrict out, uint bytes, uint counter) {
  uint block = WGX * 64 + TX;
  uint base = block * 64;
  if (base >= bytes) return;
  uint4 nonce = key[2];
  uint4 row0 = (uint4)(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u);
  uint4 row1 = key[0], row2 = key[1];
  uint4 row3 = (uint4)(counter + block, nonce.xyz);
  uint4 a = row0, b = row1, c = row2, d = row3;
  for (uint r = 0; r < 10; r++) {
    quarter_rounds(&a, &b, &c, &d);
    b = b.yzwx; c = c.zwxy; d = d.wxyz;
    quarter_rounds(&a, &b, &c, &d);
    b = b.wxyz; c = c.zwxy; d = d.yzwx;
  }
  uint4 stream[4] = {a + row0, b + row1, c + row2, d + row3};
  if (base + 64 <= bytes) {
    global const uint4 *from = (global const uint4 *)(in + base);
    global uint4 *to = (global uint4 *)(out + base);
#pragma unroll
    for (uint i = 0; i < 4; i++) to[i] = from[i] ^ stream[i];
  } else {
    for (uint i = 0; i < bytes - base; i++) {
      uint word = stream[i / 16][i / 4 % 4];
      out[base + i] = in[base + i] ^ (uchar)(word >> (i % 4 * 8));
    }
  }
}
