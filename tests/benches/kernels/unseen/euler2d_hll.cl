// One step of the two-dimensional Euler equations with limited slopes and the HLL flux; the twin of euler2d_hll.k.
#include "k.h"
#define GAMMA 1.4f
typedef struct { float rho, u, v, p; } Prim;
static int clamp_to(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static Prim load(global const float4 *cells, int x, int y, int nx, int ny, bool along_y) {
  float4 c = cells[clamp_to(y, 0, ny - 1) * nx + clamp_to(x, 0, nx - 1)];
  float inverse = __builtin_amdgcn_rcpf(c.x);
  float u = c.y * inverse, v = c.z * inverse;
  float p = (GAMMA - 1.0f) * (c.w - 0.5f * c.x * (u * u + v * v));
  Prim s = {c.x, along_y ? v : u, along_y ? u : v, p};
  return s;
}
static float minmod(float a, float b) {
  if (a * b <= 0.0f) return 0.0f;
  return __builtin_fabsf(a) < __builtin_fabsf(b) ? a : b;
}
// The state at a face of cell b: half a limited slope from its centre, up or down.
static Prim at_face(Prim a, Prim b, Prim c, float half_) {
  Prim s = {b.rho + half_ * minmod(b.rho - a.rho, c.rho - b.rho), b.u + half_ * minmod(b.u - a.u, c.u - b.u),
            b.v + half_ * minmod(b.v - a.v, c.v - b.v), b.p + half_ * minmod(b.p - a.p, c.p - b.p)};
  return s;
}
static float energy(Prim s) { return s.p * (1.0f / (GAMMA - 1.0f)) + 0.5f * s.rho * (s.u * s.u + s.v * s.v); }
static float4 flux(Prim s) {
  float mass = s.rho * s.u;
  return (float4)(mass, mass * s.u + s.p, mass * s.v, s.u * (energy(s) + s.p));
}
static float4 hll(Prim l, Prim r) {
  float cl = __builtin_amdgcn_sqrtf(GAMMA * l.p * __builtin_amdgcn_rcpf(l.rho));
  float cr = __builtin_amdgcn_sqrtf(GAMMA * r.p * __builtin_amdgcn_rcpf(r.rho));
  float slow = __builtin_fminf(l.u - cl, r.u - cr);
  float fast = __builtin_fmaxf(l.u + cl, r.u + cr);
  if (slow >= 0.0f) return flux(l);
  if (fast <= 0.0f) return flux(r);
  float4 ul = (float4)(l.rho, l.rho * l.u, l.rho * l.v, energy(l));
  float4 ur = (float4)(r.rho, r.rho * r.u, r.rho * r.v, energy(r));
  return (fast * flux(l) - slow * flux(r) + slow * fast * (ur - ul)) * __builtin_amdgcn_rcpf(fast - slow);
}
// What flows out of cell c through its two faces, from five cells in a line.
static float4 outflow(Prim a, Prim b, Prim c, Prim d, Prim e) {
  return hll(at_face(b, c, d, 0.5f), at_face(c, d, e, -0.5f)) - hll(at_face(a, b, c, 0.5f), at_face(b, c, d, -0.5f));
}
kernel WG(16,16,1) void euler2d_hll(global const float4 *restrict cells, global float4 *restrict next, int nx, int ny,
                                    float step) {
  int x = WGX * 16 + TX, y = WGY * 16 + TY;
  if (x >= nx || y >= ny) return;
  float4 fx = outflow(load(cells, x - 2, y, nx, ny, false), load(cells, x - 1, y, nx, ny, false),
                      load(cells, x, y, nx, ny, false), load(cells, x + 1, y, nx, ny, false),
                      load(cells, x + 2, y, nx, ny, false));
  float4 fy = outflow(load(cells, x, y - 2, nx, ny, true), load(cells, x, y - 1, nx, ny, true),
                      load(cells, x, y, nx, ny, true), load(cells, x, y + 1, nx, ny, true),
                      load(cells, x, y + 2, nx, ny, true));
  int at = y * nx + x;
  next[at] = cells[at] - step * (fx + fy.xzyw);
}
