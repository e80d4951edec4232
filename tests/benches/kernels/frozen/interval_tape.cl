#include "k.h"
typedef struct { uchar op, out, a, b; float value; } Step;
#define REGISTERS 16
enum { X, Y, CONSTANT, ADD, SUB, MUL, MIN, MAX, NEG, SQUARE, SQRT, ABS };
static float minf(float a, float b) { return __builtin_fminf(a, b); }
static float maxf(float a, float b) { return __builtin_fmaxf(a, b); }
static float2 multiply(float2 a, float2 b) {
  float p = a.x * b.x, q = a.x * b.y, r = a.y * b.x, s = a.y * b.y;
  return (float2)(minf(minf(p, q), minf(r, s)), maxf(maxf(p, q), maxf(r, s)));
}
static float2 absolute(float2 a) {
  float low = __builtin_fabsf(a.x), high = __builtin_fabsf(a.y);
  return (float2)(a.x <= 0.0f && a.y >= 0.0f ? 0.0f : minf(low, high), maxf(low, high));
}
kernel WG(8, 8, 1) void interval_tape(global const Step *restrict tape, global uchar *restrict class,
                                      global float2 *restrict bounds, uint steps, uint tiles, float low, float size) {
  uint tx = WGX * 8 + TX, ty = WGY * 8 + TY;
  if (tx >= tiles || ty >= tiles) return;
  float x0 = low + (float)tx * size, y0 = low + (float)ty * size;
  float2 r[REGISTERS] = {0};
  for (uint i = 0; i < steps; i++) {
    Step s = tape[i];
    float2 a = r[s.a], b = r[s.b], v;
    switch (s.op) {
      case X: v = (float2)(x0, x0 + size); break;
      case Y: v = (float2)(y0, y0 + size); break;
      case CONSTANT: v = (float2)(s.value); break;
      case ADD: v = a + b; break;
      case SUB: v = a - b.yx; break;
      case MUL: v = multiply(a, b); break;
      case MIN: v = (float2)(minf(a.x, b.x), minf(a.y, b.y)); break;
      case MAX: v = (float2)(maxf(a.x, b.x), maxf(a.y, b.y)); break;
      case NEG: v = (float2)(-a.y, -a.x); break;
      case SQUARE: {
        float2 m = absolute(a);
        v = m * m;
        break;
      }
      case SQRT:
        v = (float2)(__builtin_amdgcn_sqrtf(maxf(a.x, 0.0f)), __builtin_amdgcn_sqrtf(maxf(a.y, 0.0f)));
        break;
      default: v = absolute(a); break;
    }
    r[s.out] = v;
  }
  float2 result = r[tape[steps - 1].out];
  uint at = ty * tiles + tx;
  class[at] = result.x > 0.0f ? 0 : result.y < 0.0f ? 1 : 2;
  bounds[at] = result;
}
