// Fitness of the programs of genetic programming; the twin of gp_fitness.k.
#include "k.h"
#define SAMPLES 128u
#define DEPTH 12
static float evaluate(global const uint *tokens, uint length, global const float *constants, global const float *inputs,
                      uint stride) {
  float stack[DEPTH];
  uint top = 0;
  for (uint i = 0; i < length; i++) {
    uint token = tokens[i];
    uint index = token >> 8;
    uint op = token & 0xff;
    switch (op) {
    case 0: stack[top++] = constants[index]; break;
    case 1: stack[top++] = inputs[index * stride]; break;
    // Operations with one operand
    case 2: stack[top - 1] = -stack[top - 1]; break;
    case 3: stack[top - 1] = __builtin_amdgcn_sqrtf(__builtin_fabsf(stack[top - 1])); break;
    case 4: stack[top - 1] = __builtin_floorf(stack[top - 1]); break;
    // Operations with two operands
    default: {
      float b = stack[top - 1], a = stack[top - 2], r;
      top--;
      switch (op) {
      case 5: r = a + b; break;
      case 6: r = a - b; break;
      case 7: r = a * b; break;
      case 8: r = __builtin_fabsf(b) < 1e-3f ? 1.0f : a * __builtin_amdgcn_rcpf(b); break;
      case 9: r = __builtin_fminf(a, b); break;
      case 10: r = __builtin_fmaxf(a, b); break;
      default: r = a < b ? 1.0f : 0.0f; break;
      }
      stack[top - 1] = r;
    }
    }
  }
  return stack[0];
}
kernel WG(128,1,1) void gp_fitness(global const uint *restrict tokens, global const uint *restrict starts,
                                   global const float *restrict constants, global const float *restrict inputs,
                                   global const float *restrict targets, global float *restrict outputs,
                                   global float *restrict errors, uint samples) {
  local float part[SAMPLES];
  uint t = TX, g = WGX;
  global const uint *code = tokens + starts[g];
  uint length = starts[g + 1] - starts[g];
  float error = 0.0f;
  for (uint s = t; s < samples; s += SAMPLES) {
    float v = evaluate(code, length, constants, inputs + s, samples);
    outputs[g * samples + s] = v;
    float d = v - targets[s];
    error += d * d;
  }
  part[t] = error;
  wg_barrier();
  for (uint d = SAMPLES / 2; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    wg_barrier();
  }
  if (t == 0) errors[g] = part[0];
}
