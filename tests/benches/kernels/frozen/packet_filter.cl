#include "k.h"
typedef struct { ushort code; uchar jt, jf; uint k; } Instruction;
enum {
  LD_W_ABS = 0x20,
  LD_H_ABS = 0x28,
  LD_B_ABS = 0x30,
  LD_W_IND = 0x40,
  LD_H_IND = 0x48,
  LD_B_IND = 0x50,
  LD_IMM = 0x00,
  LD_MEM = 0x60,
  LD_LEN = 0x80,
  LDX_IMM = 0x01,
  LDX_MEM = 0x61,
  LDX_MSH = 0xb1,
  ST = 0x02,
  STX = 0x03,
  ALU = 4,
  JMP = 5,
  RET_K = 0x06,
  RET_A = 0x16,
  TAX = 0x07,
  TXA = 0x87,
  FROM_X = 8,
};
#define NO_LOAD 0u
static uint alu(ushort op, uint a, uint b) {
  switch (op & 0xf0) {
    case 0x00: return a + b;
    case 0x10: return a - b;
    case 0x20: return a * b;
    case 0x40: return a | b;
    case 0x50: return a & b;
    case 0x60: return a << (b & 31);
    case 0x70: return a >> (b & 31);
    case 0x80: return 0 - a;
    default: return a ^ b;
  }
}
kernel WG(64, 1, 1) void packet_filter(global const Instruction *restrict program, global const uchar *restrict packets,
                                       global const uint *restrict offsets, global uint *restrict keep, uint n) {
  uint id = WGX * 64 + TX;
  if (id >= n) return;
  uint begin = offsets[id];
  uint length = offsets[id + 1] - begin;
  uint memory[16] = {0};
  uint a = 0, x = 0, pc = 0, result;
  for (;;) {
    Instruction i = program[pc];
    pc += 1;
    uint operand = (i.code & FROM_X) != 0 ? x : i.k;
    uint size = NO_LOAD;
    uint at = i.k;
    bool done = false;
    switch (i.code) {
      case LD_W_ABS: size = 4; break;
      case LD_H_ABS: size = 2; break;
      case LD_B_ABS:
      case LDX_MSH: size = 1; break;
      case LD_W_IND:
        size = 4;
        at += x;
        break;
      case LD_H_IND:
        size = 2;
        at += x;
        break;
      case LD_B_IND:
        size = 1;
        at += x;
        break;
      case LD_IMM: a = i.k; break;
      case LD_MEM: a = memory[i.k & 15]; break;
      case LD_LEN: a = length; break;
      case LDX_IMM: x = i.k; break;
      case LDX_MEM: x = memory[i.k & 15]; break;
      case ST: memory[i.k & 15] = a; break;
      case STX: memory[i.k & 15] = x; break;
      case RET_K:
        result = i.k;
        done = true;
        break;
      case RET_A:
        result = a;
        done = true;
        break;
      case TAX: x = a; break;
      case TXA: a = x; break;
      default:
        if ((i.code & 7) == ALU) {
          a = alu(i.code, a, operand);
        } else if ((i.code & 0xf0) == 0) {
          pc += i.k;
        } else {
          bool holds;
          switch (i.code & 0xf0) {
            case 0x10: holds = a == operand; break;
            case 0x20: holds = a > operand; break;
            case 0x30: holds = a >= operand; break;
            default: holds = (a & operand) != 0; break;
          }
          pc += holds ? i.jt : i.jf;
        }
    }
    if (done) break;
    if (size != NO_LOAD) {
      if (at >= length || length - at < size) {
        result = 0;
        break;
      }
      uint v = 0;
      for (uint b = 0; b < size; b++) v = v << 8 | packets[begin + at + b];
      if (i.code == LDX_MSH)
        x = (v & 15) << 2;
      else
        a = v;
    }
  }
  keep[id] = result;
}
