#include "k.h"
#define GROUP 128u
#define CHUNK 32u
#define STATES 3u  // 0: plain, 1: quoted, 2: a quote in a quoted field
#define OTHER 0u
#define QUOTE 1u
#define COMMA 2u
#define NEWLINE 3u
// next state by state and symbol
constant uint NEXT[STATES][4] = {{0, 1, 0, 0}, {1, 2, 1, 1}, {0, 1, 0, 0}};
static uint symbol(uint c) { return c == 0x22 ? QUOTE : c == 0x2c ? COMMA : c == 0x0a ? NEWLINE : OTHER; }
// a function of states: byte s has the state that follows from s
static uint apply(uint f, uint s) { return f >> (8 * s) & 0xff; }
static uint then(uint f, uint g) {
  return apply(g, apply(f, 0)) | apply(g, apply(f, 1)) << 8 | apply(g, apply(f, 2)) << 16;
}
kernel WG(128, 1, 1) void csv_states(global const uchar *restrict text, global const uchar *restrict begin_state,
                                     global uint *restrict fields, global uint *restrict records,
                                     global uint *restrict content, uint n) {
  local uint functions[GROUP];
  local uint table[STATES * 4];
  uint t = TX;
  uint id = WGX * GROUP + t;
  uint begin = id * CHUNK;
  uint end = begin + CHUNK < n ? begin + CHUNK : n;
  if (t < STATES * 4) table[t] = NEXT[t / 4][t % 4];
  wg_barrier();
  uint s0 = 0, s1 = 1, s2 = 2;
  for (uint i = begin; i < end; i++) {
    uint k = symbol(text[i]);
    s0 = table[s0 * 4 + k];
    s1 = table[s1 * 4 + k];
    s2 = table[s2 * 4 + k];
  }
  uint f = s0 | s1 << 8 | s2 << 16;
  functions[t] = f;
  wg_barrier();
  for (uint d = 1; d < GROUP; d <<= 1) {
    uint before = t >= d ? functions[t - d] : 0x020100u;
    wg_barrier();
    f = then(before, f);
    functions[t] = f;
    wg_barrier();
  }
  uint state = begin_state[WGX];
  if (t > 0) state = apply(functions[t - 1], state);
  uint field_count = 0, record_count = 0, mask = 0;
  for (uint i = begin; i < end; i++) {
    uint k = symbol(text[i]);
    uint next = table[state * 4 + k];
    if (state != 1 && k >= COMMA) {
      field_count += 1;
      if (k == NEWLINE) record_count += 1;
    } else if (k != QUOTE || state == 2) {
      mask |= 1u << (i - begin);
    }
    state = next;
  }
  if (begin < n) {
    fields[id] = field_count;
    records[id] = record_count;
    content[id] = mask;
  }
}
