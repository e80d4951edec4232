// One half-sweep of red-black over-relaxation in f64; the twin of sor_redblack.k.
#include "k.h"
static uint groups_x(void) {
  // The grid's and the work-group's size in the dispatch packet.
  constant uchar *p = (constant uchar *)__builtin_amdgcn_dispatch_ptr();
  uint size = *(constant uint *)(p + 12), group = *(constant ushort *)(p + 4);
  return (size + group - 1) / group;
}
kernel WG(32,8,1) void sor_redblack(global double *restrict u, global const double *restrict f,
                                    global const double *restrict kx, global const double *restrict ky,
                                    global double *restrict residuals, int nx, int ny, int colour, double omega) {
  local double part[256];
  uint t = TY * 32 + TX;
  int y = WGY * 8 + TY + 1;
  int x = 2 * (WGX * 32 + TX) + 1 + ((y + colour) & 1);
  int pitch = nx + 2;
  double squared = 0.0;
  if (x <= nx && y <= ny) {
    int c = y * pitch + x;
    double west = kx[c], east = kx[c + 1], south = ky[c], north = ky[c + pitch];
    double flow = west * u[c - 1] + east * u[c + 1] + south * u[c - pitch] + north * u[c + pitch];
    double diagonal = west + east + south + north;
    double residual = f[c] - flow + diagonal * u[c];
    if (diagonal > 0.0) u[c] -= omega * residual / diagonal;
    squared = residual * residual;
  }
  part[t] = squared;
  wg_barrier();
  for (uint d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    wg_barrier();
  }
  if (t == 0) residuals[WGY * groups_x() + WGX] = part[0];
}
