// An interpreter of classic BPF, one packet a work-item; the twin of cbpf_filter.k.
#include "k.h"
typedef struct { ushort code; uchar jt, jf; uint k; } Instruction;
enum { LD, LDX, ST, STX, ALU, JMP, RET };
// A number of 1, 2 or 4 bytes.
static uint fetch(global const uchar *p, uint size) {
  uint v = p[0];
  for (uint i = 1; i < size; i++) v = v << 8 | p[i];
  return v;
}
static uint compute(uint op, uint a, uint b) {
  switch (op) {
  case 0x00: return a + b;
  case 0x10: return a - b;
  case 0x20: return a * b;
  case 0x30: return b == 0 ? 0 : a / b;
  case 0x40: return a | b;
  case 0x50: return a & b;
  case 0x60: return b < 32 ? a << b : 0;
  case 0x70: return b < 32 ? a >> b : 0;
  default: return (uint)-(int)a;
  }
}
static uint filter(global const Instruction *code, global const uchar *packet, uint length) {
  uint scratch[16] = {0};
  uint a = 0, x = 0, pc = 0;
  for (;;) {
    Instruction i = code[pc++];
    switch (i.code & 7) {
    case LD: {
      uint mode = i.code & 0xe0;
      switch (mode) {
      case 0x00: a = i.k; break;
      case 0x60: a = scratch[i.k & 15]; break;
      case 0x80: a = length; break;
      default: {
        uint size;
        switch (i.code & 0x18) {
        case 0x00: size = 4; break;
        case 0x08: size = 2; break;
        default: size = 1; break;
        }
        uint at = mode == 0x40 ? x + i.k : i.k;
        if (at > length || length - at < size) return 0;
        a = fetch(packet + at, size);
        break;
      }
      }
      break;
    }
    case LDX:
      switch (i.code & 0xe0) {
      case 0x00: x = i.k; break;
      case 0x60: x = scratch[i.k & 15]; break;
      case 0x80: x = length; break;
      default:
        // The length of an IP header.
        if (i.k >= length) return 0;
        x = 4 * (packet[i.k] & 15);
        break;
      }
      break;
    case ST: scratch[i.k & 15] = a; break;
    case STX: scratch[i.k & 15] = x; break;
    case ALU: a = compute(i.code & 0xf0, a, i.code & 8 ? x : i.k); break;
    case JMP: {
      uint b = i.code & 8 ? x : i.k;
      if ((i.code & 0xf0) == 0) {
        pc += i.k;
      } else {
        bool yes;
        switch (i.code & 0xf0) {
        case 0x10: yes = a == b; break;
        case 0x20: yes = a > b; break;
        case 0x30: yes = a >= b; break;
        default: yes = (a & b) != 0; break;
        }
        pc += yes ? i.jt : i.jf;
      }
      break;
    }
    case RET: return (i.code & 0x18) == 0x10 ? a : i.k;
    default:
      if ((i.code & 0xf8) == 0) x = a;
      else a = x;
      break;
    }
  }
}
kernel WG(64,1,1) void cbpf_filter(global const Instruction *restrict code, global const uchar *restrict packets,
                                   global const uint *restrict offsets, global uint *restrict kept, uint count) {
  uint i = WGX * 64 + TX;
  if (i >= count) return;
  kept[i] = filter(code, packets + offsets[i], offsets[i + 1] - offsets[i]);
}
