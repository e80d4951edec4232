// y = alpha * A * x + beta * y, A sparse in SELL-32-sigma; the twin of dspmv_sell.k.
#include "k.h"
#define SLICE 32
kernel WG(128,1,1) void dspmv_sell(global const uint *restrict starts, global const uint *restrict lengths,
                                   global const uint *restrict order, global const uint *restrict columns,
                                   global const double *restrict values, global const double *restrict x,
                                   global double *restrict y, uint rows, double alpha, double beta) {
  uint row = WGX * 128 + TX;
  if (row >= rows) return;
  uint first = starts[row / SLICE] + row % SLICE;
  uint length = lengths[row];
  double even = 0.0, odd = 0.0;
  uint at = first, k = 0;
  while (k + 1 < length) {
    even += values[at] * x[columns[at]];
    odd += values[at + SLICE] * x[columns[at + SLICE]];
    at += 2 * SLICE;
    k += 2;
  }
  if (k < length) even += values[at] * x[columns[at]];
  uint to = order[row];
  y[to] = alpha * (even + odd) + beta * y[to];
}
