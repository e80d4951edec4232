//! Derives the alignment that addresses are known to have from how they are computed.

use crate::entity::Value;
use crate::func::{Function, Module};
use crate::op::{BinOp, CastOp, Op, TernOp};
use crate::types::Space;
use cranelift_entity::EntityRef;

/// Maximum number of levels of operands that are examined.
const DEPTH: u32 = 8;
/// Alignment of the widest access, as the exponent of a power of two (16 bytes). No access benefits from a
/// larger alignment.
const MOST: u32 = 4;

/// For each global variable of the module, its alignment in bytes. The vector is indexed by the variable.
#[derive(Debug, Default)]
pub struct Alignments {
    globals: Vec<u32>,
}

impl Alignments {
    /// Records the alignment of every global variable. First raises the alignment of arrays in work-group
    /// memory (LDS) to that of the widest access. This costs a few bytes of LDS and makes it possible to read
    /// rows with wide accesses.
    pub fn prepare(&mut self, module: &mut Module) {
        self.globals.clear();
        for global in module.globals.values_mut() {
            if global.space == Space::Shared && (global.size >= 16 || global.dynamic) {
                global.align = global.align.max(16);
            }
            self.globals.push(global.align);
        }
    }

    /// Returns the alignment in bytes that `ptr + offset` is known to have, derived from the computation of
    /// `ptr`. Returns 1 if nothing is known.
    pub fn of_address(&self, func: &Function, ptr: Value, offset: i32) -> u8 {
        let offset = if offset == 0 { MOST } else { offset.trailing_zeros() };
        1 << zeros(func, &self.globals, ptr, DEPTH).min(offset).min(MOST)
    }
}

/// Returns the number of low bits of an integer that are known to be zero.
pub fn trailing_zeros(func: &Function, value: Value) -> u32 {
    zeros(func, &[], value, DEPTH)
}

/// Returns the number of low bits of an integer or pointer that are known to be zero. `globals` has the
/// alignments of the global variables.
fn zeros(func: &Function, globals: &[u32], value: Value, depth: u32) -> u32 {
    let Some(inst) = func.def_inst(value).filter(|_| depth > 0) else { return 0 };
    let args = func.args(inst);
    let arg = |n: usize| zeros(func, globals, args[n], depth - 1);
    match func.insts[inst].op {
        Op::Const(0) => 64,
        Op::Const(bits) => bits.trailing_zeros(),
        Op::GlobalAddr(global) => globals.get(global.index()).map_or(0, |align| align.trailing_zeros()),
        Op::SlotAddr(slot) => func.slots[slot].align.trailing_zeros(),
        Op::PtrAdd | Op::PtrAddZ => arg(0).min(arg(1)),
        Op::Select => arg(1).min(arg(2)),
        Op::Cast(CastOp::Zext | CastOp::Sext | CastOp::Trunc) => arg(0),
        Op::Tern(TernOp::Bfi) => arg(1).min(arg(2)),
        Op::Bin(op) => match op {
            BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor => arg(0).min(arg(1)),
            BinOp::And => arg(0).max(arg(1)),
            BinOp::Mul => arg(0).saturating_add(arg(1)),
            BinOp::Shl => {
                let modulo = func.ty(value).bits() - 1;
                func.const_bits(args[1]).map_or(0, |n| arg(0).saturating_add(n as u32 & modulo))
            }
            _ => 0,
        },
        _ => 0,
    }
}
