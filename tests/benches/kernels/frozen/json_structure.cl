#include "k.h"
#define BLOCKS 64u
static ulong prefix_xor(ulong m) {
  m ^= m << 1;
  m ^= m << 2;
  m ^= m << 4;
  m ^= m << 8;
  m ^= m << 16;
  m ^= m << 32;
  return m;
}
static bool is_structural(uint c) {
  switch (c) {
    case 0x7b:
    case 0x7d:
    case 0x5b:
    case 0x5d:
    case 0x3a:
    case 0x2c: return true;
    default: return false;
  }
}
kernel WG(64, 1, 1) void json_structure(global const uint *restrict text, global ulong *restrict structure,
                                        global ulong *restrict strings, global uint *restrict counts) {
  local uint parity[BLOCKS];
  local atomic_uint count;
  uint t = TX;
  uint block = WGX * BLOCKS + t;
  if (t == 0) __opencl_atomic_store(&count, 0u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  // a block begins with an escaped character if an odd number of backslashes precedes it
  bool escaped = false;
  if (t > 0) {
    uint at = block * 64, begin = WGX * BLOCKS * 64;
    global const uchar *bytes = (global const uchar *)text;
    while (at > begin && bytes[at - 1] == 0x5c) {
      escaped = !escaped;
      at -= 1;
    }
  }
  ulong quotes = 0, operators = 0;
  for (uint w = 0; w < 16; w++) {
    uint word = text[block * 16 + w];
#pragma unroll
    for (uint b = 0; b < 4; b++) {
      uint c = word >> (8 * b) & 0xff;
      ulong bit = 1ul << (4 * w + b);
      if (c == 0x22 && !escaped) quotes |= bit;
      if (is_structural(c)) operators |= bit;
      escaped = c == 0x5c && !escaped;
    }
  }
  uint sum = (uint)__builtin_popcountl(quotes) & 1;
  uint own = sum;
  parity[t] = sum;
  wg_barrier();
  for (uint d = 1; d < BLOCKS; d <<= 1) {
    uint other = t >= d ? parity[t - d] : 0;
    wg_barrier();
    sum ^= other;
    parity[t] = sum;
    wg_barrier();
  }
  ulong inside = prefix_xor(quotes);
  if ((sum ^ own) != 0) inside = ~inside;
  ulong outer = operators & ~inside;
  structure[block] = outer | quotes;
  strings[block] = inside;
  __opencl_atomic_fetch_add(&count, (uint)__builtin_popcountl(outer), __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  wg_barrier();
  if (t == 0) counts[WGX] = __opencl_atomic_load(&count, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
}
