//! Unsigned intervals of integer values, and how operations map intervals.
//!
//! The same transfer function serves two users: the flow-sensitive pass [`super::ranges`], and the
//! simplifier, which follows only a few levels of operands ([`bound`]).

use crate::entity::Value;
use crate::func::{Function, ValueDef};
use crate::op::{BinOp, CastOp, Op, Pos, TernOp, UnOp};
use crate::types::{MemTy, Type};

/// All unsigned values from `lo` to `hi`, inclusive. An interval is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Smallest value.
    pub lo: u64,
    /// Largest value.
    pub hi: u64,
}

/// Returns the largest unsigned value of a type.
pub fn type_max(ty: Type) -> u64 {
    match ty.bits() {
        64 => u64::MAX,
        bits => (1 << bits) - 1,
    }
}

impl Interval {
    /// Returns the interval of all values of the type.
    pub fn full(ty: Type) -> Self {
        Interval { lo: 0, hi: type_max(ty) }
    }

    /// Returns the interval of one value.
    pub fn point(value: u64) -> Self {
        Interval { lo: value, hi: value }
    }

    /// Returns the interval from 0 to `hi`.
    pub fn up_to(hi: u64) -> Self {
        Interval { lo: 0, hi }
    }

    /// Returns the smallest interval that contains both intervals.
    pub fn union(self, other: Self) -> Self {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Returns the intersection of the intervals. If the intersection is empty, the code is unreachable and
    /// any interval is correct; the result is then `self`.
    pub fn meet(self, other: Self) -> Self {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Interval { lo, hi } } else { self }
    }

    /// Returns whether the sign bit of the type is known to be clear.
    pub fn non_negative(self, ty: Type) -> bool {
        self.hi <= type_max(ty) >> 1
    }
}

/// Returns the interval of the single result of an operation, given the intervals of its arguments.
pub fn transfer(
    func: &Function,
    op: Op,
    args: &[Value],
    ty: Type,
    get: impl Fn(Value) -> Interval,
) -> Interval {
    let full = Interval::full(ty);
    match op {
        Op::Const(bits) => Interval::point(bits),
        Op::Un(op) => unary(op, func.ty(args[0]), full),
        Op::Bin(op) => binary(op, get(args[0]), get(args[1]), ty).unwrap_or(full),
        Op::Tern(TernOp::Ubfe) => match func.const_bits(args[2]) {
            Some(width @ 1..=31) => Interval::up_to((1 << width) - 1),
            _ => full,
        },
        Op::Select => get(args[1]).union(get(args[2])),
        Op::Cast(op) => cast(op, get(args[0]), func.ty(args[0]), ty).unwrap_or(full),
        Op::Pos(pos) => position(func, pos, full),
        Op::Load { mem, .. } => match mem.ty {
            MemTy::U8 => Interval::up_to(0xff),
            MemTy::U16 => Interval::up_to(0xffff),
            _ => full,
        },
        _ => full,
    }
}

fn unary(op: UnOp, arg: Type, full: Interval) -> Interval {
    match op {
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz => Interval::up_to(u64::from(arg.bits())),
        _ => full,
    }
}

fn binary(op: BinOp, a: Interval, b: Interval, ty: Type) -> Option<Interval> {
    if !ty.is_int() {
        return None;
    }
    let max = type_max(ty);
    let fits = |lo: Option<u64>, hi: Option<u64>| Some(Interval { lo: lo?, hi: hi.filter(|&hi| hi <= max)? });
    // Returns the range of a shift count, which is taken modulo the width. Returns `None` if the count may be
    // as large as the width.
    let shift = |iv: Interval| (iv.hi < u64::from(ty.bits())).then_some((iv.lo as u32, iv.hi as u32));
    match op {
        BinOp::Add => fits(a.lo.checked_add(b.lo), a.hi.checked_add(b.hi)),
        BinOp::Sub => fits(a.lo.checked_sub(b.hi), a.hi.checked_sub(b.lo)),
        BinOp::Mul => fits(a.lo.checked_mul(b.lo), a.hi.checked_mul(b.hi)),
        BinOp::UMul24 if a.hi < 1 << 24 && b.hi < 1 << 24 => binary(BinOp::Mul, a, b, ty),
        BinOp::UMulHi if ty == Type::I32 => {
            Some(Interval { lo: (a.lo * b.lo) >> 32, hi: (a.hi * b.hi) >> 32 })
        }
        BinOp::UDiv if b.lo > 0 => Some(Interval { lo: a.lo / b.hi, hi: a.hi / b.lo }),
        BinOp::SDiv if b.lo > 0 && a.non_negative(ty) && b.non_negative(ty) => binary(BinOp::UDiv, a, b, ty),
        BinOp::URem if b.lo > 0 => Some(if a.hi < b.lo { a } else { Interval::up_to(a.hi.min(b.hi - 1)) }),
        BinOp::SRem if b.lo > 0 && a.non_negative(ty) && b.non_negative(ty) => binary(BinOp::URem, a, b, ty),
        BinOp::And => Some(Interval::up_to(a.hi.min(b.hi))),
        BinOp::Or => Some(Interval { lo: a.lo.max(b.lo), hi: all_ones(a.hi | b.hi) }),
        BinOp::Xor => Some(Interval::up_to(all_ones(a.hi | b.hi))),
        BinOp::Shl => {
            let (lo, hi) = shift(b)?;
            let top = a.hi.checked_mul(1u64.checked_shl(hi)?)?;
            fits(Some(a.lo << lo), Some(top))
        }
        BinOp::LShr => shift(b).map(|(lo, hi)| Interval { lo: a.lo >> hi, hi: a.hi >> lo }),
        BinOp::AShr if a.non_negative(ty) => {
            shift(b).map(|(lo, hi)| Interval { lo: a.lo >> hi, hi: a.hi >> lo })
        }
        BinOp::UMin => Some(Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) }),
        BinOp::UMax => Some(Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) }),
        BinOp::SMin if a.non_negative(ty) && b.non_negative(ty) => binary(BinOp::UMin, a, b, ty),
        BinOp::SMax if a.non_negative(ty) && b.non_negative(ty) => binary(BinOp::UMax, a, b, ty),
        _ => None,
    }
}

fn cast(op: CastOp, a: Interval, from: Type, to: Type) -> Option<Interval> {
    match op {
        CastOp::Zext => Some(a),
        CastOp::Sext if from == Type::I32 && a.non_negative(from) => Some(a),
        CastOp::Trunc if a.hi <= type_max(to) => Some(a),
        CastOp::Zext8 => Some(if a.hi <= 0xff { a } else { Interval::up_to(0xff) }),
        CastOp::HalfBits => Some(Interval::up_to(0xffff)),
        CastOp::Zext16 => Some(if a.hi <= 0xffff { a } else { Interval::up_to(0xffff) }),
        CastOp::Sext8 if a.hi <= 0x7f => Some(a),
        CastOp::Sext16 if a.hi <= 0x7fff => Some(a),
        CastOp::Bitcast if from.is_int() && to.is_int() => Some(a),
        _ => None,
    }
}

fn position(func: &Function, pos: Pos, full: Interval) -> Interval {
    let kernel = func.kernel.as_ref();
    let reqd = |d: u8| kernel.and_then(|k| k.reqd_workgroup_size).map(|size| size[usize::from(d)].max(1));
    let most = u64::from(kernel.map_or(1024, |k| k.max_flat_workgroup_size()).max(1));
    match pos {
        Pos::LocalId(d) => Interval::up_to(reqd(d).map_or(most, u64::from) - 1),
        Pos::LocalSize(d) => reqd(d).map_or(Interval { lo: 1, hi: most }, |n| Interval::point(n.into())),
        // The number of work-items in a grid has 32 bits, so no group begins beyond that number.
        Pos::GroupId(d) => Interval::up_to(u64::from(u32::MAX / reqd(d).unwrap_or(1))),
        Pos::LaneId => Interval::up_to(63),
        Pos::WaveSize => Interval { lo: 32, hi: 64 },
        _ => full,
    }
}

/// Returns the smallest `2^n - 1` that is not less than `value`.
pub(super) fn all_ones(value: u64) -> u64 {
    u64::MAX.checked_shr(value.leading_zeros()).unwrap_or(0)
}

/// Returns the interval of a value, derived from the operations that compute it, at most `depth` levels up.
pub fn bound(func: &Function, value: Value, depth: u32) -> Interval {
    let ty = func.ty(value);
    match func.values[value].def {
        ValueDef::Result(inst, _)
            if depth > 0 || matches!(func.insts[inst].op, Op::Const(_) | Op::Pos(_)) =>
        {
            transfer(func, func.insts[inst].op, func.args(inst), ty, |arg| {
                bound(func, arg, depth.saturating_sub(1))
            })
        }
        _ => Interval::full(ty),
    }
}
