// UTF-8 to UTF-32, 512 bytes a work-group; the twin of utf8_decode.k.
#include "k.h"
#define THREADS 128u
#define TILE (4 * THREADS)
static bool continues(uchar b) { return (b & 0xc0) == 0x80; }
typedef struct { uint code; bool valid; } Char;
static Char make(uint code, bool valid) {
  Char c = {code, valid};
  return c;
}
static Char decode(uchar b0, uchar b1, uchar b2, uchar b3, uchar after) {
  Char bad = make(0xfffd, false);
  if (b0 < 0x80) return make(b0, !continues(b1));
  if (b0 < 0xc2 || b0 > 0xf4 || !continues(b1)) return bad;
  if (b0 < 0xe0) return make((uint)(b0 & 0x1f) << 6 | (b1 & 0x3f), !continues(b2));
  if (!continues(b2)) return bad;
  if (b0 < 0xf0) {
    uint code = (uint)(b0 & 0xf) << 12 | (uint)(b1 & 0x3f) << 6 | (b2 & 0x3f);
    if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) return bad;
    return make(code, !continues(b3));
  }
  uint code = (uint)(b0 & 7) << 18 | (uint)(b1 & 0x3f) << 12 | (uint)(b2 & 0x3f) << 6 | (b3 & 0x3f);
  if (!continues(b3) || code < 0x10000 || code > 0x10ffff) return bad;
  return make(code, !continues(after));
}
kernel WG(128,1,1) void utf8_decode(global const uchar *restrict text, global const uint *restrict starts,
                                    global uint *restrict chars, global atomic_uint *first_error, uint bytes) {
  local uchar tile[TILE + 4];
  local uint sums[THREADS];
  uint t = TX, base = WGX * TILE;
  for (uint i = t; i < TILE + 4; i += THREADS) tile[i] = base + i < bytes ? text[base + i] : 0;
  wg_barrier();
  uint count = 0;
#pragma unroll
  for (uint k = 0; k < 4; k++)
    if (base + 4 * t + k < bytes && !continues(tile[4 * t + k])) count++;
  uint sum = count;
  sums[t] = sum;
  wg_barrier();
  for (uint d = 1; d < THREADS; d <<= 1) {
    uint below = t >= d ? sums[t - d] : 0;
    wg_barrier();
    sum += below;
    sums[t] = sum;
    wg_barrier();
  }
  uint to = starts[WGX] + sum - count;
  uint error = 0xffffffffu;
  for (uint k = 0; k < 4; k++) {
    uint at = 4 * t + k;
    if (base + at < bytes) {
      if (!continues(tile[at])) {
        Char c = decode(tile[at], tile[at + 1], tile[at + 2], tile[at + 3], tile[at + 4]);
        chars[to++] = c.code;
        if (!c.valid) error = error < base + at ? error : base + at;
      } else if (base + at == 0) {
        error = 0;
      }
    }
  }
  if (error != 0xffffffffu)
    __opencl_atomic_fetch_min(first_error, error, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
