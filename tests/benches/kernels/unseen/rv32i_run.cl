// An emulator of RISC-V, one hart for each work-item; the twin of rv32i_run.k.
#include "k.h"
#define MAX_WORDS 64u
static uint sign_extend(uint v, uint bits) { return (uint)((int)(v << (32 - bits)) >> (32 - bits)); }
static uint alu(uint op, uint a, uint b, bool alternate) {
  switch (op) {
  case 0: return alternate ? a - b : a + b;
  case 1: return a << (b & 31);
  case 2: return (int)a < (int)b;
  case 3: return a < b;
  case 4: return a ^ b;
  case 5: return alternate ? (uint)((int)a >> (b & 31)) : a >> (b & 31);
  case 6: return a | b;
  default: return a & b;
  }
}
static uint multiply(uint op, uint a, uint b) {
  switch (op) {
  case 0: return a * b;
  case 5: return b == 0 ? 0xffffffffu : a / b;
  case 7: return b == 0 ? a : a % b;
  default: return 0;
  }
}
static bool taken(uint op, uint a, uint b) {
  switch (op) {
  case 0: return a == b;
  case 1: return a != b;
  case 4: return (int)a < (int)b;
  case 5: return (int)a >= (int)b;
  case 6: return a < b;
  default: return a >= b;
  }
}
kernel WG(64,1,1) void rv32i_run(global const uint *restrict program, global uint *restrict memory,
                                 global const uint *restrict inputs, global uint *restrict results,
                                 global uint *restrict retired, uint harts, uint limit) {
  uint i = WGX * 64 + TX;
  if (i >= harts) return;
  uint x[32] = {0};
  x[10] = inputs[i];
  uint pc = 0, steps = 0;
  while (steps < limit) {
    uint inst = program[pc / 4];
    uint rd = (inst >> 7) & 31;
    uint f3 = (inst >> 12) & 7;
    uint a = x[(inst >> 15) & 31];
    uint b = x[(inst >> 20) & 31];
    uint imm_i = sign_extend(inst >> 20, 12);
    uint next = pc + 4;
    uint value = 0;
    bool writes = true;
    steps++;
    switch (inst & 0x7f) {
    // LUI, AUIPC
    case 0x37: value = inst & 0xfffff000u; break;
    case 0x17: value = pc + (inst & 0xfffff000u); break;
    // JAL, JALR
    case 0x6f: {
      uint imm = (inst >> 31) << 20 | (inst & 0xff000) | ((inst >> 20) & 1) << 11 | ((inst >> 21) & 0x3ff) << 1;
      value = next;
      next = pc + sign_extend(imm, 21);
      break;
    }
    case 0x67:
      value = next;
      next = (a + imm_i) & ~1u;
      break;
    // Branches
    case 0x63: {
      uint imm = (inst >> 31) << 12 | ((inst >> 7) & 1) << 11 | ((inst >> 25) & 0x3f) << 5 | ((inst >> 8) & 15) << 1;
      if (taken(f3, a, b)) next = pc + sign_extend(imm, 13);
      writes = false;
      break;
    }
    // Loads
    case 0x03: {
      uint at = a + imm_i;
      uint word = memory[(at / 4 % MAX_WORDS) * harts + i] >> (8 * (at & 3));
      switch (f3) {
      case 0: value = sign_extend(word & 0xff, 8); break;
      case 1: value = sign_extend(word & 0xffff, 16); break;
      case 4: value = word & 0xff; break;
      case 5: value = word & 0xffff; break;
      default: value = word; break;
      }
      break;
    }
    // Stores
    case 0x23: {
      uint at = a + sign_extend((inst >> 25) << 5 | rd, 12);
      global uint *cell = &memory[(at / 4 % MAX_WORDS) * harts + i];
      uint shift = 8 * (at & 3);
      uint mask;
      switch (f3) {
      case 0: mask = 0xff; break;
      case 1: mask = 0xffff; break;
      default: mask = 0xffffffffu; break;
      }
      *cell = (*cell & ~(mask << shift)) | (b & mask) << shift;
      writes = false;
      break;
    }
    // Operations with an immediate, and with two registers
    case 0x13: value = alu(f3, a, imm_i, f3 == 5 && inst >> 30 != 0); break;
    case 0x33: value = inst >> 25 == 1 ? multiply(f3, a, b) : alu(f3, a, b, inst >> 30 != 0); break;
    default: goto end;
    }
    if (writes && rd != 0) x[rd] = value;
    pc = next;
  }
end:
  results[i] = x[10];
  retired[i] = steps;
}
