// Conway's Game of Life on bits, T generations a pass; the twin of life_bits.k.
#include "k.h"
#define T 6u
#define TW 8u
#define TH 32u
#define W (TW + 2)
#define H (TH + 2 * T)
typedef struct { uint sum, carry; } Sum;
static Sum full_adder(uint a, uint b, uint c) {
  uint x = a ^ b;
  Sum s = {x ^ c, (a & b) | (x & c)};
  return s;
}
// The three cells of a row around each bit, as ones and twos.
static Sum row_of_three(uint left, uint mid, uint right) {
  return full_adder(mid << 1 | left >> 31, mid, mid >> 1 | right << 31);
}
static Sum row_of_two(uint left, uint mid, uint right) {
  uint l = mid << 1 | left >> 31, r = mid >> 1 | right << 31;
  Sum s = {l ^ r, l & r};
  return s;
}
static uint next_word(Sum up, Sum here, Sum down, uint alive) {
  Sum ones = full_adder(up.sum, here.sum, down.sum);
  Sum twos = full_adder(up.carry, here.carry, down.carry);
  uint two = twos.sum ^ ones.carry;
  uint four = twos.carry | (twos.sum & ones.carry);
  return (ones.sum | alive) & two & ~four;
}
kernel WG(TW,TH,1) void life_bits(global const uint *restrict in, global uint *restrict out, uint words, uint rows) {
  local uint board[2][H][W];
  uint t = TY * TW + TX;
  uint left = WGX * TW + words - 1;
  uint top = WGY * TH + rows - T;
  for (uint c = t; c < W * H; c += TW * TH) {
    uint x = (left + c % W) % words;
    uint y = (top + c / W) % rows;
    board[0][c / W][c % W] = in[y * words + x];
  }
  wg_barrier();
  uint from = 0;
  for (uint g = 1; g <= T; g++) {
    // The halo loses a row above and below in each generation.
    for (uint c = t + g * W; c < W * (H - g); c += TW * TH) {
      uint x = c % W, y = c / W;
      uint xl = x == 0 ? 0 : x - 1;
      uint xr = x + 1 < W - 1 ? x + 1 : W - 1;
      local const uint *up = board[from][y - 1];
      local const uint *mid = board[from][y];
      local const uint *down = board[from][y + 1];
      board[1 - from][y][x] = next_word(row_of_three(up[xl], up[x], up[xr]), row_of_two(mid[xl], mid[x], mid[xr]),
                                        row_of_three(down[xl], down[x], down[xr]), mid[x]);
    }
    wg_barrier();
    from = 1 - from;
  }
  uint x = WGX * TW + TX, y = WGY * TH + TY;
  if (x < words && y < rows) out[y * words + x] = board[from][TY + T][TX + 1];
}
