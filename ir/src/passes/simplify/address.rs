//! Simplifies addresses: constants are moved towards the end of the address computation, and from there into
//! the offset that the memory access contains.

use super::super::align::trailing_zeros;
use super::super::interval::bound;
use super::super::rewrite::Rewriter;
use crate::entity::{Inst, Value};
use crate::op::{BinOp, CastOp, Op};
use crate::semantics::eval_bin;
use crate::types::Type;

fn is_ptr_add(r: &Rewriter<'_>, value: Value) -> Option<(Value, Value)> {
    let def = r.def(value)?;
    (def.op == Op::PtrAdd).then_some((def.args[0], def.args[1]))
}

/// Simplifies `p + x` for an `x` of the pointer's width.
pub(super) fn ptr_add(r: &mut Rewriter<'_>, p: Value, x: Value, ty: Type) -> Option<Value> {
    let add_k = |r: &mut Rewriter<'_>, p: Value, k: u64| {
        let k = r.konst(if ty.bits() == 64 { Type::I64 } else { Type::I32 }, k);
        r.emit(Op::PtrAdd, &[p, k], ty)
    };
    if let Some(k) = r.k(x) {
        if k == 0 {
            return Some(p);
        }
        let (q, y) = is_ptr_add(r, p)?;
        let inner = r.k(y)?;
        return Some(add_k(r, q, inner.wrapping_add(k)));
    }
    // (q + k) + x = (q + x) + k
    if let Some((q, y)) = is_ptr_add(r, p)
        && let Some(k) = r.k(y)
    {
        let sum = r.emit(Op::PtrAdd, &[q, x], ty);
        return Some(add_k(r, sum, k));
    }
    // p + (y + k) = (p + y) + k
    if let Some((y, k)) = r.is_bin_k(x, BinOp::Add) {
        let sum = r.emit(Op::PtrAdd, &[p, y], ty);
        return Some(add_k(r, sum, k));
    }
    if ty.bits() == 64
        && let Some((rest, k)) = scaled_sum(r, x)
    {
        let sum = r.emit(Op::PtrAdd, &[p, rest], ty);
        return Some(add_k(r, sum, k));
    }
    if let Some(y) = r.is_cast(x, CastOp::Zext)
        && r.func.ty(y) == Type::I32
        && ty.bits() == 64
    {
        return Some(r.emit(Op::PtrAddZ, &[p, y], ty));
    }
    None
}

/// Splits an offset of the form `zext(y + k) * n` into `zext(y) * n` and `k * n`. The sum `y + k` must not
/// wrap.
fn scaled_sum(r: &mut Rewriter<'_>, x: Value) -> Option<(Value, u64)> {
    let (op, (wide, n)) =
        [BinOp::Shl, BinOp::Mul].into_iter().find_map(|op| Some((op, r.is_bin_k(x, op)?)))?;
    let (y, k) = r.is_bin_k(r.is_cast(wide, CastOp::Zext)?, BinOp::Add)?;
    if !sum_fits(r, y, k) {
        return None;
    }
    let y = r.cast(CastOp::Zext, y, Type::I64);
    let n_value = r.konst(if op == BinOp::Shl { Type::I32 } else { Type::I64 }, n);
    let rest = r.bin(op, y, n_value);
    Some((rest, eval_bin(op, Type::I64, k, n)))
}

/// Simplifies `p + zext(x)`.
pub(super) fn ptr_add_z(r: &mut Rewriter<'_>, p: Value, x: Value, ty: Type) -> Option<Value> {
    if let Some(k) = r.k(x) {
        let k = r.konst(Type::I64, k);
        return Some(r.emit(Op::PtrAdd, &[p, k], ty));
    }
    if let Some((rest, k)) = r.is_bin_k(x, BinOp::Add)
        && sum_fits(r, rest, k)
    {
        let sum = r.emit(Op::PtrAddZ, &[p, rest], ty);
        let k = r.konst(Type::I64, k);
        return Some(r.emit(Op::PtrAdd, &[sum, k], ty));
    }
    let (q, y) = is_ptr_add(r, p)?;
    r.k(y)?;
    let sum = r.emit(Op::PtrAddZ, &[q, x], ty);
    Some(r.emit(Op::PtrAdd, &[sum, y], ty))
}

/// Returns whether the 32-bit sum of a value and a constant cannot wrap. It cannot if the value is small, or
/// if the constant has bits only where the low bits of the value are zero.
fn sum_fits(r: &Rewriter<'_>, x: Value, k: u64) -> bool {
    let zeros = trailing_zeros(r.func, x).min(31);
    k < 1 << zeros || k + bound(r.func, x, 4).hi <= u64::from(u32::MAX)
}

/// Simplifies the address of a memory access: constants that are added to the address move into the offset
/// that the access contains, as far as they fit.
pub(in super::super) fn address(r: &mut Rewriter<'_>, inst: Inst) {
    loop {
        let ptr = r.func.args(inst)[0];
        let Some((base, x)) = is_ptr_add(r, ptr) else { return };
        let Some(k) = r.k(x) else { return };
        let op = r.func.insts[inst].op;
        let Some(mem) = op.mem() else { return };
        let k = if r.func.ty(x) == Type::I32 { i64::from(k as i32) } else { k as i64 };
        let Some(offset) = k.checked_add(i64::from(mem.offset)).filter(|&at| r.limits.fits(mem.space, at))
        else {
            return;
        };
        let mut mem = *mem;
        mem.offset = offset as i32;
        r.func.insts[inst].op = match op {
            Op::Load { count, .. } => Op::Load { mem, count },
            Op::Store { count, .. } => Op::Store { mem, count },
            Op::AtomicRmw { op, .. } => Op::AtomicRmw { op, mem },
            Op::AtomicCas { fail, .. } => Op::AtomicCas { mem, fail },
            other => other,
        };
        r.func.args_mut(inst)[0] = base;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Limits;
    use crate::types::Space;

    #[test]
    fn limits_follow_the_space() {
        let limits = Limits::default();
        assert!(limits.fits(Space::Global, 4095) && !limits.fits(Space::Global, 4096));
        assert!(limits.fits(Space::Global, -4096) && !limits.fits(Space::Global, -4097));
        assert!(limits.fits(Space::Shared, 65535) && !limits.fits(Space::Shared, -1));
    }
}
