#include "k.h"
#define LANES 64u
#define WINDOW 4096u
kernel WG(64, 1, 1) void lz4_blocks(global const uchar *restrict packed, global const uint *restrict packed_at,
                                    global uchar *restrict plain, global const uint *restrict plain_at) {
  local uchar window[WINDOW];
  uint t = TX;
  uint block = WGX;
  uint at = packed_at[block];
  uint end = packed_at[block + 1];
  uint done = 0;
  while (at < end) {
    uint token = packed[at];
    at += 1;
    uint literals = token >> 4;
    if (literals == 15) {
      for (;;) {
        uint more = packed[at];
        at += 1;
        literals += more;
        if (more != 255) break;
      }
    }
    for (uint i = t; i < literals; i += LANES) window[done + i] = packed[at + i];
    at += literals;
    done += literals;
    if (at >= end) break;
    uint distance = packed[at] | (uint)packed[at + 1] << 8;
    at += 2;
    uint length = (token & 15) + 4;
    if (length == 19) {
      for (;;) {
        uint more = packed[at];
        at += 1;
        length += more;
        if (more != 255) break;
      }
    }
    wg_barrier();
    // a match may overlap its own copy: then it repeats the last `distance` bytes
    uint from = done - distance;
    for (uint i = t; i < length; i += LANES) window[done + i] = window[from + (distance < length ? i % distance : i)];
    done += length;
    wg_barrier();
  }
  wg_barrier();
  uint out = plain_at[block];
  for (uint i = t; i < done; i += LANES) plain[out + i] = window[i];
}
