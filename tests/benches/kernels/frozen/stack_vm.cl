#include "k.h"
enum {
  HALT = 0,
  PUSH = 1,   // i8: push a constant
  INPUT = 2,  // push the work-item's input
  DUP = 3,
  DROP = 4,
  SWAP = 5,
  OVER = 6,
  ADD = 7,
  SUB = 8,
  MUL = 9,
  AND = 10,
  XOR = 11,
  SHR = 12,
  LESS = 13,
  EQUAL = 14,
  JUMP = 15,  // u16: go to an address
  JZ = 16,    // u16: go there if the popped number is 0
  CALL = 17,  // u16
  RET = 18,
  LOAD = 19,   // u8: push a local
  STORE = 20,  // u8: pop to a local
};
#define DEPTH 16
#define CALLS 8
#define LOCALS 4
kernel WG(64, 1, 1) void stack_vm(global const uchar *restrict code, global const int *restrict input,
                                  global int *restrict output, global uint *restrict steps, uint fuel, uint n) {
  uint id = WGX * 64 + TX;
  if (id >= n) return;
  int stack[DEPTH];
  uint calls[CALLS];
  int locals[LOCALS] = {0};
  uint sp = 0, rp = 0, pc = 0, step = 0;
  stack[0] = 0;
  while (step < fuel) {
    uchar op = code[pc];
    pc += 1;
    step += 1;
    switch (op) {
      case PUSH:
        stack[sp] = (char)code[pc];
        sp += 1;
        pc += 1;
        continue;
      case INPUT:
        stack[sp] = input[id];
        sp += 1;
        continue;
      case DUP:
        stack[sp] = stack[sp - 1];
        sp += 1;
        continue;
      case DROP: sp -= 1; continue;
      case SWAP: {
        int a = stack[sp - 1];
        stack[sp - 1] = stack[sp - 2];
        stack[sp - 2] = a;
        continue;
      }
      case OVER:
        stack[sp] = stack[sp - 2];
        sp += 1;
        continue;
      case ADD:
      case SUB:
      case MUL:
      case AND:
      case XOR:
      case SHR:
      case LESS:
      case EQUAL: {
        sp -= 1;
        int a = stack[sp - 1], b = stack[sp], r;
        switch (op) {
          case ADD: r = (int)((uint)a + (uint)b); break;
          case SUB: r = (int)((uint)a - (uint)b); break;
          case MUL: r = (int)((uint)a * (uint)b); break;
          case AND: r = a & b; break;
          case XOR: r = a ^ b; break;
          case SHR: r = (int)((uint)a >> (b & 31)); break;
          case LESS: r = a < b ? 1 : 0; break;
          default: r = a == b ? 1 : 0; break;
        }
        stack[sp - 1] = r;
        continue;
      }
      case JUMP: pc = code[pc] | (uint)code[pc + 1] << 8; continue;
      case JZ:
        sp -= 1;
        pc = stack[sp] == 0 ? code[pc] | (uint)code[pc + 1] << 8 : pc + 2;
        continue;
      case CALL:
        calls[rp] = pc + 2;
        rp += 1;
        pc = code[pc] | (uint)code[pc + 1] << 8;
        continue;
      case RET:
        rp -= 1;
        pc = calls[rp];
        continue;
      case LOAD:
        stack[sp] = locals[code[pc]];
        sp += 1;
        pc += 1;
        continue;
      case STORE:
        sp -= 1;
        locals[code[pc]] = stack[sp];
        pc += 1;
        continue;
      default: break;
    }
    break;
  }
  output[id] = sp > 0 ? stack[sp - 1] : 0;
  steps[id] = step;
}
