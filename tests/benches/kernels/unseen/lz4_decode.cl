// Decompression of LZ4 blocks, one work-group a block; the twin of lz4_decode.k.
#include "k.h"
#define THREADS 64u
#define ROOM 4096u
typedef struct { uint at, length; } Cursor;
// Adds the bytes that continue a length of 15.
static Cursor extend(global const uchar *source, Cursor c, uint end) {
  if (c.length == 15)
    while (c.at < end) {
      uchar b = source[c.at++];
      c.length += b;
      if (b != 255) break;
    }
  return c;
}
kernel WG(64,1,1) void lz4_decode(global const uchar *restrict source, global const uint *restrict starts,
                                  global uchar *restrict output, global uint *restrict sizes,
                                  global uint *restrict status, uint stride) {
  local uchar window[ROOM];
  uint t = TX, g = WGX;
  uint end = starts[g + 1];
  uint at = starts[g];
  uint size = 0;
  bool damaged = false;
  while (at < end) {
    uint token = source[at];
    Cursor literals = extend(source, (Cursor){at + 1, token >> 4}, end);
    if (literals.length > end - literals.at || size + literals.length > ROOM) {
      damaged = true;
      break;
    }
    for (uint i = t; i < literals.length; i += THREADS) window[size + i] = source[literals.at + i];
    size += literals.length;
    at = literals.at + literals.length;
    if (at >= end) break;
    uint offset = source[at] | (uint)source[at + 1] << 8;
    Cursor rest = extend(source, (Cursor){at + 2, token & 15}, end);
    uint length = rest.length + 4;
    if (offset == 0 || offset > size || size + length > ROOM) {
      damaged = true;
      break;
    }
    wg_barrier();
    // A match may overlap what it writes: then its bytes repeat.
    if (offset >= length) {
      for (uint i = t; i < length; i += THREADS) window[size + i] = window[size - offset + i];
    } else {
      for (uint i = t; i < length; i += THREADS) window[size + i] = window[size - offset + i % offset];
    }
    size += length;
    at = rest.at;
  }
  wg_barrier();
  for (uint i = t; i < size; i += THREADS) output[g * stride + i] = window[i];
  if (t == 0) {
    sizes[g] = size;
    status[g] = damaged;
  }
}
