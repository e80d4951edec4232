#include "k.h"
#define TOO_SHORT 1
#define TOO_LONG 2
#define OVERLONG_3 4
#define TOO_LARGE 8
#define SURROGATE 16
#define OVERLONG_2 32
#define OVERLONG_4 64  // and too large with a second byte from 0x80 to 0x8f
#define TWO_CONTINUATIONS 128
#define CARRY (TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS)
#define LARGE (CARRY | TOO_LARGE | OVERLONG_4)
#define SECOND (TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS)
#define WORKGROUP __OPENCL_MEMORY_SCOPE_WORK_GROUP
constant uchar FIRST_HIGH[16] = {
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
    TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
    TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | OVERLONG_4};
constant uchar FIRST_LOW[16] = {
    CARRY | OVERLONG_2 | OVERLONG_3 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY,
    CARRY | TOO_LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE | SURROGATE, LARGE, LARGE};
constant uchar SECOND_HIGH[16] = {
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    SECOND | OVERLONG_3 | OVERLONG_4, SECOND | OVERLONG_3 | TOO_LARGE, SECOND | SURROGATE | TOO_LARGE,
    SECOND | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT};
static uint problem(uint before, uint now) {
  // `before` has the three bytes in front of `now` in its upper three bytes, the nearest one highest
  uint p1 = before >> 24, p2 = before >> 16 & 0xff, p3 = before >> 8 & 0xff;
  uchar special = FIRST_HIGH[p1 >> 4] & FIRST_LOW[p1 & 15] & SECOND_HIGH[now >> 4];
  bool continues = p2 >= 0xe0 || p3 >= 0xf0;
  return (uint)special ^ (continues ? 0x80u : 0u);
}
kernel WG(128, 1, 1) void utf8_records(global const uint *restrict text, global uchar *restrict valid, uint records) {
  local atomic_uint wrong[8];
  uint t = TX;
  uint i = WGX * 128 + t;
  uint part = t % 16;
  if (t < 8) __opencl_atomic_store(&wrong[t], 0u, __ATOMIC_RELAXED, WORKGROUP);
  wg_barrier();
  if (i / 16 < records) {
    uint before = part > 0 ? text[i * 4 - 1] : 0;
    uint problems = 0;
#pragma unroll
    for (uint w = 0; w < 4; w++) {
      uint word = text[i * 4 + w];
#pragma unroll
      for (uint b = 0; b < 4; b++) {
        uint now = word >> (8 * b) & 0xff;
        problems |= problem(before, now);
        before = before >> 8 | now << 24;
      }
    }
    if (problems != 0) __opencl_atomic_fetch_or(&wrong[t / 16], problems, __ATOMIC_RELAXED, WORKGROUP);
  }
  wg_barrier();
  if (i / 16 < records && part == 0)
    valid[i / 16] = __opencl_atomic_load(&wrong[t / 16], __ATOMIC_RELAXED, WORKGROUP) == 0 ? 1 : 0;
}
