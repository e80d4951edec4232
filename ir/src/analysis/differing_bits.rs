//! Computes the bits in which a value may differ between work-items that run together: all work-items of a
//! group, or the lanes of a wave. A value without such bits is the same for all of them.
//!
//! Only values that are computed from the numbers of work-items and lanes have such bits. The lanes of a wave
//! are consecutive work-items. If each row of the group consists of whole waves, the work-item numbers in a
//! wave therefore differ only in the low bits. For example, `local_id(0) / 64` is then the same for all
//! lanes, and so is `local_id(0) < 128`.

use crate::entity::{Inst, Value};
use crate::func::Function;
use crate::op::{BinOp, CastOp, IntCc, Op, Pos, TernOp, UnOp, WaveOp};
use crate::passes::align::trailing_zeros;
use crate::types::Type;

/// A set of work-items that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneGroup {
    /// All work-items of a work-group.
    Group,
    /// The work-items of a wave with this number of lanes.
    Wave(u32),
}

/// Returns the mask of the bits in which the result of an instruction may differ between the work-items of
/// the set `together`. `of` returns the same kind of mask for a value that the instruction uses.
pub(super) fn differing(func: &Function, inst: Inst, together: LaneGroup, of: impl Fn(Value) -> u64) -> u64 {
    let data = &func.insts[inst];
    let args = func.args(inst);
    let all = |ty: Type| u64::MAX >> (64 - ty.bits().clamp(1, 64));
    let bits = match data.op {
        Op::Pos(pos) => position(func, pos, together),
        Op::Wave(WaveOp::Mbcnt) => u64::MAX,
        op if !op.is_pure() || args.iter().all(|&arg| of(arg) == 0) => 0,
        Op::Bin(op) => binary(func, op, [args[0], args[1]], &of),
        Op::Icmp(cc) => {
            let is_same = of(args[1]) == 0 && is_same_side(func, cc, of(args[0]), args[1]);
            if is_same { 0 } else { u64::MAX }
        }
        Op::Cast(CastOp::Zext | CastOp::Trunc) => of(args[0]),
        Op::Un(UnOp::Not) => of(args[0]),
        Op::Tern(TernOp::Ubfe) => match (func.const_bits(args[1]), func.const_bits(args[2])) {
            (Some(low), Some(size)) if low < 32 && size < 32 => of(args[0]) >> low & ((1 << size) - 1),
            _ => u64::MAX,
        },
        _ => u64::MAX,
    };
    bits & all(func.ty(data.first))
}

/// Returns the bits in which a position may differ.
fn position(func: &Function, pos: Pos, together: LaneGroup) -> u64 {
    let size = func.kernel.as_ref().and_then(|kernel| kernel.reqd_workgroup_size);
    let axis = match pos {
        Pos::LocalId(axis) | Pos::GlobalId(axis) => usize::from(axis),
        Pos::LaneId => return u64::MAX,
        _ => return 0,
    };
    let row = size.and_then(|size| size.first().copied());
    match together {
        _ if size.is_some_and(|size| size.get(axis) == Some(&1)) => 0,
        LaneGroup::Wave(lanes) if row.is_some_and(|row| row % lanes == 0) => {
            [u64::from(lanes) - 1, 0, 0][axis.min(2)]
        }
        _ => u64::MAX,
    }
}

fn binary(func: &Function, op: BinOp, [a, b]: [Value; 2], of: &impl Fn(Value) -> u64) -> u64 {
    let (x, y) = (of(a), of(b));
    let both = x | y;
    let k = func.const_bits(b);
    let width = func.ty(a).bits();
    // `low` is the mask of the highest bit in which the operands may differ and of all bits below it. The
    // bits above are the same for all work-items.
    let low = u64::MAX.checked_shr(both.leading_zeros()).unwrap_or(0);
    match (op, k) {
        (BinOp::And, Some(k)) => x & k,
        (BinOp::And | BinOp::Or | BinOp::Xor, _) => both,
        (BinOp::LShr, Some(k)) => x >> (k as u32 & (width - 1)),
        (BinOp::Shl, Some(k)) => x << (k as u32 & (width - 1)),
        (BinOp::URem, Some(k)) if k.is_power_of_two() => x & (k - 1),
        // If only bits below the divisor's lowest set bit may differ, the dividends of all work-items lie
        // between the same two multiples of the divisor. All work-items then get the same quotient.
        (BinOp::UDiv, Some(k)) if k.is_power_of_two() => x >> k.trailing_zeros(),
        (BinOp::UDiv, Some(k)) if low < 1 << k.trailing_zeros().min(63) => 0,
        // The addend `a` is the same for all work-items and is zero in the bits that may differ. The addition
        // therefore carries nothing out of these bits.
        (BinOp::Add, _) if x == 0 && low < 1 << trailing_zeros(func, a).min(63) => y,
        (BinOp::Add, _) if y == 0 && low < 1 << trailing_zeros(func, b).min(63) => x,
        _ => u64::MAX,
    }
}

/// Returns whether a comparison with `limit` gives the same result for all numbers that differ only in the
/// bits `differ`. This holds if `limit` is a multiple of a power of two above all these bits.
fn is_same_side(func: &Function, cc: IntCc, differ: u64, limit: Value) -> bool {
    let low = u64::MAX.checked_shr(differ.leading_zeros()).unwrap_or(0);
    let mask = u64::MAX >> (64 - func.ty(limit).bits());
    let Some(k) = func.const_bits(limit) else {
        let is_multiple = low < 1 << trailing_zeros(func, limit).min(63);
        return is_multiple && matches!(cc, IntCc::Ult | IntCc::Uge | IntCc::Slt | IntCc::Sge);
    };
    match cc {
        IntCc::Ult | IntCc::Uge | IntCc::Slt | IntCc::Sge => k & low == 0,
        IntCc::Ule | IntCc::Ugt | IntCc::Sle | IntCc::Sgt => k.wrapping_add(1) & mask & low == 0,
        IntCc::Eq | IntCc::Ne => false,
    }
}
