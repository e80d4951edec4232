#include "k.h"
#define BITS 13
#define PASS1_BITS 2
#define FIX_0_298631336 2446
#define FIX_0_390180644 3196
#define FIX_0_541196100 4433
#define FIX_0_765366865 6270
#define FIX_0_899976223 7373
#define FIX_1_175875602 9633
#define FIX_1_501321110 12299
#define FIX_1_847759065 15137
#define FIX_1_961570560 16069
#define FIX_2_053119869 16819
#define FIX_2_562915447 20995
#define FIX_3_072711026 25172
static void idct1d(int *v, uint shift) {
  int e = (v[2] + v[6]) * FIX_0_541196100;
  int e2 = e - v[6] * FIX_1_847759065;
  int e3 = e + v[2] * FIX_0_765366865;
  int e0 = (v[0] + v[4]) << BITS;
  int e1 = (v[0] - v[4]) << BITS;
  int even[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
  int z5 = (v[7] + v[3] + v[5] + v[1]) * FIX_1_175875602;
  int z1 = -(v[7] + v[1]) * FIX_0_899976223;
  int z2 = -(v[5] + v[3]) * FIX_2_562915447;
  int z3 = z5 - (v[7] + v[3]) * FIX_1_961570560;
  int z4 = z5 - (v[5] + v[1]) * FIX_0_390180644;
  int odd[4] = {v[1] * FIX_1_501321110 + z1 + z4, v[3] * FIX_3_072711026 + z2 + z3, v[5] * FIX_2_053119869 + z2 + z4,
                v[7] * FIX_0_298631336 + z1 + z3};
  int half_ = 1 << (shift - 1);
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    v[i] = (even[i] + odd[i] + half_) >> shift;
    v[7 - i] = (even[i] - odd[i] + half_) >> shift;
  }
}
kernel WG(8, 8, 1) void idct8x8(global const short *restrict coefficients, global const ushort *restrict quant,
                                global uchar *restrict pixels, uint blocks, uint blocks_per_row) {
  local int rows[8][8][9];
  uint t = TX, b = TY;
  uint block = WGX * 8 + b;
  int v[8];
#pragma unroll
  for (uint i = 0; i < 8; i++)
    v[i] = block < blocks ? (int)coefficients[block * 64 + i * 8 + t] * (int)quant[i * 8 + t] : 0;
  idct1d(v, BITS - PASS1_BITS);
#pragma unroll
  for (uint i = 0; i < 8; i++) rows[b][i][t] = v[i];
  wg_barrier();
#pragma unroll
  for (uint i = 0; i < 8; i++) v[i] = rows[b][t][i];
  idct1d(v, BITS + PASS1_BITS + 3);
  if (block < blocks) {
    uint pitch = blocks_per_row * 8;
    uint at = (block / blocks_per_row * 8 + t) * pitch + block % blocks_per_row * 8;
#pragma unroll
    for (uint i = 0; i < 8; i++) {
      int p = v[i] + 128;
      pixels[at + i] = (uchar)(p < 0 ? 0 : p > 255 ? 255 : p);
    }
  }
}
