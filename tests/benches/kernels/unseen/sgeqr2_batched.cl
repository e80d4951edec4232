// Householder QR factorisation of a batch of tall f32 matrices; the twin of sgeqr2_batched.k.
#include "k.h"
#define ROWS 64
#define COLS 16
typedef struct { float beta, tau, scale; } Reflector;
// The reflector that maps (alpha, x) to (beta, 0), where `squares` is the sum of the squares of x.
static Reflector reflector(float alpha, float squares) {
  Reflector h;
  if (squares == 0.0f) {
    h.beta = alpha; h.tau = 0.0f; h.scale = 0.0f;
    return h;
  }
  float norm = __builtin_amdgcn_sqrtf(alpha * alpha + squares);
  float beta = alpha >= 0.0f ? -norm : norm;
  h.beta = beta;
  h.tau = (beta - alpha) * __builtin_amdgcn_rcpf(beta);
  h.scale = __builtin_amdgcn_rcpf(alpha - beta);
  return h;
}
kernel WG(ROWS,1,1) void sgeqr2_batched(global float *restrict A, global float *restrict tau, uint m, uint n) {
  local float a[COLS][ROWS + 1];
  local float part[ROWS];
  local float w[COLS];
  uint t = TX;
  uint base = WGX * m * n;
  for (uint j = 0; j < n; j++)
    if (t < m) a[j][t] = A[base + j * m + t];
  for (uint k = 0; k < n; k++) {
    float x = t > k && t < m ? a[k][t] : 0.0f;
    part[t] = x * x;
    wg_barrier();
    for (uint d = ROWS / 2; d > 0; d >>= 1) {
      if (t < d) part[t] += part[t + d];
      wg_barrier();
    }
    Reflector h = reflector(a[k][k], part[0]);
    float v = t == k ? 1.0f : x * h.scale;
    wg_barrier();
    part[t] = v;
    wg_barrier();
    // w = tau * v^T A for the columns to the right, one work-item for each column.
    if (t > k && t < n) {
      float sum = 0.0f;
      for (uint i = k; i < m; i++) sum += part[i] * a[t][i];
      w[t] = h.tau * sum;
    }
    wg_barrier();
    if (t >= k && t < m) {
      for (uint j = k + 1; j < n; j++) a[j][t] -= v * w[j];
      a[k][t] = t == k ? h.beta : v;
    }
    if (t == k) tau[WGX * n + k] = h.tau;
    wg_barrier();
  }
  for (uint j = 0; j < n; j++)
    if (t < m) A[base + j * m + t] = a[j][t];
}
