#include "k.h"
#define SLICE 64u
kernel WG(128, 1, 1) void spmv_sell(global const uint *restrict start, global const uint *restrict col,
                                    global const double *restrict val, global const uint *restrict perm,
                                    global const double *restrict x, global double *restrict y, uint n) {
  uint row = WGX * 128 + TX;
  if (row >= n) return;
  uint slice = row / SLICE, lane = row % SLICE;
  uint end = start[slice + 1];
  double sum = 0.0;
  uint at = start[slice];
  while (at < end) {
    sum += val[at + lane] * x[col[at + lane]];
    at += SLICE;
  }
  y[perm[row]] = sum;
}
