#include "k.h"
constant ulong K[80] = {
    0x428a2f98d728ae22ul, 0x7137449123ef65cdul, 0xb5c0fbcfec4d3b2ful, 0xe9b5dba58189dbbcul,
    0x3956c25bf348b538ul, 0x59f111f1b605d019ul, 0x923f82a4af194f9bul, 0xab1c5ed5da6d8118ul,
    0xd807aa98a3030242ul, 0x12835b0145706fbeul, 0x243185be4ee4b28cul, 0x550c7dc3d5ffb4e2ul,
    0x72be5d74f27b896ful, 0x80deb1fe3b1696b1ul, 0x9bdc06a725c71235ul, 0xc19bf174cf692694ul,
    0xe49b69c19ef14ad2ul, 0xefbe4786384f25e3ul, 0x0fc19dc68b8cd5b5ul, 0x240ca1cc77ac9c65ul,
    0x2de92c6f592b0275ul, 0x4a7484aa6ea6e483ul, 0x5cb0a9dcbd41fbd4ul, 0x76f988da831153b5ul,
    0x983e5152ee66dfabul, 0xa831c66d2db43210ul, 0xb00327c898fb213ful, 0xbf597fc7beef0ee4ul,
    0xc6e00bf33da88fc2ul, 0xd5a79147930aa725ul, 0x06ca6351e003826ful, 0x142929670a0e6e70ul,
    0x27b70a8546d22ffcul, 0x2e1b21385c26c926ul, 0x4d2c6dfc5ac42aedul, 0x53380d139d95b3dful,
    0x650a73548baf63deul, 0x766a0abb3c77b2a8ul, 0x81c2c92e47edaee6ul, 0x92722c851482353bul,
    0xa2bfe8a14cf10364ul, 0xa81a664bbc423001ul, 0xc24b8b70d0f89791ul, 0xc76c51a30654be30ul,
    0xd192e819d6ef5218ul, 0xd69906245565a910ul, 0xf40e35855771202aul, 0x106aa07032bbd1b8ul,
    0x19a4c116b8d2d0c8ul, 0x1e376c085141ab53ul, 0x2748774cdf8eeb99ul, 0x34b0bcb5e19b48a8ul,
    0x391c0cb3c5c95a63ul, 0x4ed8aa4ae3418acbul, 0x5b9cca4f7763e373ul, 0x682e6ff3d6b2b8a3ul,
    0x748f82ee5defb2fcul, 0x78a5636f43172f60ul, 0x84c87814a1f0ab72ul, 0x8cc702081a6439ecul,
    0x90befffa23631e28ul, 0xa4506cebde82bde9ul, 0xbef9a3f7b2c67915ul, 0xc67178f2e372532bul,
    0xca273eceea26619cul, 0xd186b8c721c0c207ul, 0xeada7dd6cde0eb1eul, 0xf57d4f7fee6ed178ul,
    0x06f067aa72176fbaul, 0x0a637dc5a2c898a6ul, 0x113f9804bef90daeul, 0x1b710b35131c471bul,
    0x28db77f523047d84ul, 0x32caab7b40c72493ul, 0x3c9ebe0a15c9bebcul, 0x431d67c49c100d4cul,
    0x4cc5d4becb3e42b6ul, 0x597f299cfc657e2aul, 0x5fcb6fab3ad6faecul, 0x6c44198c4a475817ul,
};
constant ulong H[8] = {
    0x6a09e667f3bcc908ul, 0xbb67ae8584caa73bul, 0x3c6ef372fe94f82bul, 0xa54ff53a5f1d36f1ul,
    0x510e527fade682d1ul, 0x9b05688c2b3e6c1ful, 0x1f83d9abfb41bd6bul, 0x5be0cd19137e2179ul,
};
#define ROTR(x, n) (((x) >> (n)) | ((x) << (64 - (n))))
static uint swap32(uint v) { return (((v << 8) | (v >> 24)) & 0x00ff00ffu) | (((v >> 8) | (v << 24)) & 0xff00ff00u); }
static ulong swap64(ulong v) { return (ulong)swap32((uint)v) << 32 | swap32((uint)(v >> 32)); }
static ulong big_sigma0(ulong x) { return ROTR(x, 28) ^ ROTR(x, 34) ^ ROTR(x, 39); }
static ulong big_sigma1(ulong x) { return ROTR(x, 14) ^ ROTR(x, 18) ^ ROTR(x, 41); }
static ulong small_sigma0(ulong x) { return ROTR(x, 1) ^ ROTR(x, 8) ^ (x >> 7); }
static ulong small_sigma1(ulong x) { return ROTR(x, 19) ^ ROTR(x, 61) ^ (x >> 6); }
kernel WG(64, 1, 1) void sha512(global const ulong *restrict records, global ulong *restrict digests, uint n) {
  uint i = WGX * 64 + TX;
  if (i >= n) return;
  ulong w[16];
#pragma unroll
  for (uint j = 0; j < 8; j++) w[j] = swap64(records[i * 8 + j]);
  w[8] = 0x8000000000000000ul;
#pragma unroll
  for (uint j = 9; j < 15; j++) w[j] = 0;
  w[15] = 512;
  ulong s[8];
#pragma unroll
  for (uint j = 0; j < 8; j++) s[j] = H[j];
  for (uint r0 = 0; r0 < 80; r0 += 16) {
#pragma unroll
    for (uint r = 0; r < 16; r++) {
      if (r0 > 0) w[r] += small_sigma0(w[(r + 1) & 15]) + small_sigma1(w[(r + 14) & 15]) + w[(r + 9) & 15];
      ulong choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
      ulong t1 = s[7] + big_sigma1(s[4]) + choose + K[r0 + r] + w[r];
      ulong majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      ulong t2 = big_sigma0(s[0]) + majority;
      s[7] = s[6];
      s[6] = s[5];
      s[5] = s[4];
      s[4] = s[3] + t1;
      s[3] = s[2];
      s[2] = s[1];
      s[1] = s[0];
      s[0] = t1 + t2;
    }
  }
#pragma unroll
  for (uint j = 0; j < 8; j++) digests[i * 8 + j] = swap64(s[j] + H[j]);
}
