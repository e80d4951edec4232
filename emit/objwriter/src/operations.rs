//! Numbers of DWARF expression operations and of call frame instructions, for all code that writes DWARF. The
//! crate `dwarf`, which reads them, has a table of its own with names and operands.
//!
//! # Source
//! DWARF 5, table 7.9 (operations) and 7.29 (instructions). The numbers of the heterogeneous extensions are
//! those of LLVM's current AMDGPU guide (`docs/debug-information.md`).

#![allow(missing_docs)]

pub const DW_OP_ADDR: u8 = 0x03;
pub const DW_OP_CONST1U: u8 = 0x08;
pub const DW_OP_CONST4U: u8 = 0x0c;
pub const DW_OP_CONSTU: u8 = 0x10;
pub const DW_OP_CONSTS: u8 = 0x11;
pub const DW_OP_DUP: u8 = 0x12;
pub const DW_OP_DROP: u8 = 0x13;
pub const DW_OP_OVER: u8 = 0x14;
pub const DW_OP_SWAP: u8 = 0x16;
pub const DW_OP_XDEREF: u8 = 0x18;
pub const DW_OP_AND: u8 = 0x1a;
pub const DW_OP_MINUS: u8 = 0x1c;
pub const DW_OP_MUL: u8 = 0x1e;
pub const DW_OP_NEG: u8 = 0x1f;
pub const DW_OP_NOT: u8 = 0x20;
pub const DW_OP_OR: u8 = 0x21;
pub const DW_OP_PLUS: u8 = 0x22;
pub const DW_OP_PLUS_UCONST: u8 = 0x23;
pub const DW_OP_SHL: u8 = 0x24;
pub const DW_OP_SHR: u8 = 0x25;
pub const DW_OP_SHRA: u8 = 0x26;
pub const DW_OP_XOR: u8 = 0x27;
pub const DW_OP_BRA: u8 = 0x28;
pub const DW_OP_EQ: u8 = 0x29;
pub const DW_OP_GE: u8 = 0x2a;
pub const DW_OP_GT: u8 = 0x2b;
pub const DW_OP_LE: u8 = 0x2c;
pub const DW_OP_LT: u8 = 0x2d;
pub const DW_OP_NE: u8 = 0x2e;
pub const DW_OP_SKIP: u8 = 0x2f;
pub const DW_OP_LIT0: u8 = 0x30;
pub const DW_OP_REGX: u8 = 0x90;
pub const DW_OP_FBREG: u8 = 0x91;
pub const DW_OP_BREGX: u8 = 0x92;
pub const DW_OP_PIECE: u8 = 0x93;
pub const DW_OP_DEREF_SIZE: u8 = 0x94;
pub const DW_OP_XDEREF_SIZE: u8 = 0x95;
pub const DW_OP_CALL4: u8 = 0x99;
pub const DW_OP_CALL_FRAME_CFA: u8 = 0x9c;
pub const DW_OP_BIT_PIECE: u8 = 0x9d;
pub const DW_OP_IMPLICIT_VALUE: u8 = 0x9e;
pub const DW_OP_STACK_VALUE: u8 = 0x9f;
pub const DW_OP_ADDRX: u8 = 0xa1;
pub const DW_OP_ENTRY_VALUE: u8 = 0xa3;
pub const DW_OP_GNU_ENTRY_VALUE: u8 = 0xf3;

/// First byte of every operation of the heterogeneous extensions. The number of the operation follows in the
/// second byte.
pub const DW_OP_LLVM_USER: u8 = 0xe9;
pub const DW_OP_LLVM_FORM_ASPACE_ADDRESS: u8 = 2;
pub const DW_OP_LLVM_PUSH_LANE: u8 = 3;
pub const DW_OP_LLVM_OFFSET: u8 = 4;
pub const DW_OP_LLVM_OFFSET_UCONST: u8 = 5;
pub const DW_OP_LLVM_CALL_FRAME_ENTRY_REG: u8 = 7;
pub const DW_OP_LLVM_UNDEFINED: u8 = 8;
pub const DW_OP_LLVM_EXTEND: u8 = 11;
pub const DW_OP_LLVM_SELECT_BIT_PIECE: u8 = 12;

// Call frame instructions with an operand in their low six bits: `DW_CFA_ADVANCE_LOC` advances the code
// offset by this number of units. The next two instructions apply to the register with this number.
pub const DW_CFA_ADVANCE_LOC: u8 = 0x40;
pub const DW_CFA_OFFSET: u8 = 0x80;
pub const DW_CFA_RESTORE: u8 = 0xc0;
pub const DW_CFA_ADVANCE_LOC1: u8 = 0x02;
pub const DW_CFA_ADVANCE_LOC2: u8 = 0x03;
pub const DW_CFA_ADVANCE_LOC4: u8 = 0x04;
pub const DW_CFA_OFFSET_EXTENDED: u8 = 0x05;
pub const DW_CFA_RESTORE_EXTENDED: u8 = 0x06;
pub const DW_CFA_UNDEFINED: u8 = 0x07;
pub const DW_CFA_SAME_VALUE: u8 = 0x08;
pub const DW_CFA_REGISTER: u8 = 0x09;
pub const DW_CFA_REMEMBER_STATE: u8 = 0x0a;
pub const DW_CFA_RESTORE_STATE: u8 = 0x0b;
pub const DW_CFA_DEF_CFA: u8 = 0x0c;
pub const DW_CFA_DEF_CFA_REGISTER: u8 = 0x0d;
pub const DW_CFA_DEF_CFA_OFFSET: u8 = 0x0e;
pub const DW_CFA_DEF_CFA_EXPRESSION: u8 = 0x0f;
pub const DW_CFA_EXPRESSION: u8 = 0x10;
pub const DW_CFA_OFFSET_EXTENDED_SF: u8 = 0x11;
pub const DW_CFA_VAL_OFFSET: u8 = 0x14;
pub const DW_CFA_VAL_EXPRESSION: u8 = 0x16;
pub const DW_CFA_GNU_WINDOW_SAVE: u8 = 0x2d;
pub const DW_CFA_LLVM_DEF_ASPACE_CFA: u8 = 0x30;
pub const DW_CFA_LLVM_DEF_ASPACE_CFA_SF: u8 = 0x31;

/// Returns the number of `DW_OP_lit<n>`.
pub const fn lit(number: u8) -> u8 {
    DW_OP_LIT0 + number
}
