//! Upper bounds of unsigned values.

use crate::class::reqd;
use crate::lower::Lower;
use ir::{BinOp, CastOp, Function, MemTy, Op, Pos, TernOp, UnOp, Value};

/// How far the walk goes up.
const DEPTH: u32 = 6;

impl Lower<'_> {
    /// Number of low bits that may be set.
    pub fn max_bits(&self, value: Value) -> u32 {
        64 - max(self.func, value, DEPTH).leading_zeros()
    }
}

/// The largest value that `value` may have as an unsigned number.
pub(crate) fn max(func: &Function, value: Value, depth: u32) -> u64 {
    let all = match func.ty(value).bits() {
        64 => u64::MAX,
        1 => 1,
        _ => u64::from(u32::MAX),
    };
    let Some(inst) = func.def_inst(value) else { return all };
    if depth == 0 {
        return all;
    }
    let args = func.args(inst);
    let arg = |n: usize| max(func, args[n], depth - 1);
    let bound = match func.insts[inst].op {
        Op::Const(bits) => bits & all,
        Op::Pos(pos) => position(func, pos),
        Op::Bin(bin) => binary(func, bin, args[1], arg(0), arg(1), all),
        Op::Select => arg(1).max(arg(2)),
        Op::Cast(CastOp::Zext) => arg(0),
        Op::Cast(CastOp::Zext8) => arg(0).min(0xff),
        Op::Cast(CastOp::Zext16) => arg(0).min(0xffff),
        Op::Cast(CastOp::Trunc) => {
            let wide = arg(0);
            if wide > all { all } else { wide }
        }
        Op::Un(UnOp::Popcount | UnOp::Clz | UnOp::Ctz) => u64::from(func.ty(args[0]).bits()),
        Op::Tern(TernOp::Ubfe) => match func.const_bits(args[2]) {
            Some(width) if width < 32 => (1 << width) - 1,
            _ => all,
        },
        Op::Load { mem, .. } => match mem.ty {
            MemTy::U8 => 0xff,
            MemTy::U16 => 0xffff,
            _ => all,
        },
        _ => all,
    };
    bound.min(all)
}

/// Low bits of `value` that are known to be 0.
pub(crate) fn low_zeros(func: &Function, value: Value, depth: u32) -> u32 {
    let Some(inst) = func.def_inst(value).filter(|_| depth > 0) else { return 0 };
    let args = func.args(inst);
    let arg = |n: usize| low_zeros(func, args[n], depth - 1);
    match func.insts[inst].op {
        Op::Const(bits) => bits.trailing_zeros(),
        Op::Bin(BinOp::Shl) => match func.const_bits(args[1]) {
            Some(bits) => arg(0) + (bits as u32 & (func.ty(value).bits() - 1)),
            None => 0,
        },
        Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor) => arg(0).min(arg(1)),
        Op::Bin(BinOp::And) => arg(0).max(arg(1)),
        Op::Bin(BinOp::Mul) => arg(0) + arg(1),
        Op::Cast(CastOp::Zext | CastOp::Trunc) => arg(0),
        Op::Select => arg(1).min(arg(2)),
        _ => 0,
    }
}

fn position(func: &Function, pos: Pos) -> u64 {
    let group = func.kernel.as_ref().map_or(1024, |k| u64::from(k.max_flat_workgroup_size()));
    match pos {
        Pos::LocalId(d) => match reqd(func) {
            Some(size) => u64::from(size[usize::from(d).min(2)].saturating_sub(1)),
            None => group - 1,
        },
        Pos::LocalSize(d) => reqd(func).map_or(group, |size| u64::from(size[usize::from(d).min(2)])),
        Pos::LaneId => 63,
        Pos::WaveSize => 64,
        _ => u64::MAX,
    }
}

fn binary(func: &Function, bin: BinOp, second: Value, a: u64, b: u64, all: u64) -> u64 {
    let count = || func.const_bits(second).map(|bits| bits & u64::from(all.count_ones() - 1));
    // What may exceed the type wraps to anything.
    let wrap = |exact: Option<u64>| exact.filter(|&v| v <= all).unwrap_or(all);
    match bin {
        BinOp::And => a.min(b),
        BinOp::Or | BinOp::Xor => {
            (a | b).checked_next_power_of_two().map_or(all, |p| if p == a | b { 2 * p - 1 } else { p - 1 })
        }
        BinOp::Add => wrap(a.checked_add(b)),
        BinOp::Mul | BinOp::UMul24 => wrap(a.checked_mul(b)),
        BinOp::Shl => match count() {
            Some(n) => wrap((a as u128 * (1u128 << n)).try_into().ok()),
            None => all,
        },
        BinOp::LShr => count().map_or(a, |n| a >> n),
        BinOp::UMin => a.min(b),
        BinOp::UMax => a.max(b),
        BinOp::UDiv => a,
        BinOp::URem => a.min(b.saturating_sub(1)),
        _ => all,
    }
}
