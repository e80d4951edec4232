// Cholesky factorisation of a batch of small f64 matrices; the twin of dpotrf_batched.k.
#include "k.h"
#define MAX 32
#define SIDE 16
kernel WG(SIDE,SIDE,1) void dpotrf_batched(global double *restrict A, global int *restrict info, uint n, uint lda) {
  local double a[MAX][MAX + 1];
  local int failed;
  uint tx = TX, ty = TY;
  uint base = WGX * lda * n;
  if (tx == 0 && ty == 0) failed = 0;
  // a[j][i] is row i of column j.
  for (uint j = ty; j < n; j += SIDE)
    for (uint i = tx; i < n; i += SIDE)
      if (i >= j) a[j][i] = A[base + j * lda + i];
  wg_barrier();
  for (uint k = 0; k < n; k++) {
    double pivot = a[k][k];
    if (!(pivot > 0.0)) {
      if (tx == 0 && ty == 0) failed = (int)k + 1;
      break;
    }
    double root = __builtin_sqrt(pivot);
    double inverse = 1.0 / root;
    wg_barrier();
    if (ty == 0)
      for (uint i = k + tx; i < n; i += SIDE) a[k][i] = i == k ? root : a[k][i] * inverse;
    wg_barrier();
    for (uint j = k + 1 + ty; j < n; j += SIDE) {
      double ajk = a[k][j];
      for (uint i = k + 1 + tx; i < n; i += SIDE)
        if (i >= j) a[j][i] -= a[k][i] * ajk;
    }
    wg_barrier();
  }
  wg_barrier();
  for (uint j = ty; j < n; j += SIDE)
    for (uint i = tx; i < n; i += SIDE)
      if (i >= j) A[base + j * lda + i] = a[j][i];
  if (tx == 0 && ty == 0) info[WGX] = failed;
}
