//! Conversions.

use super::super::interval::bound;
use super::super::rewrite::{Def, Rewriter};
use super::int::{extract, shift};
use crate::entity::Value;
use crate::op::{BinOp, CastOp, Op, TernOp};
use crate::types::Type;

pub(super) fn cast(r: &mut Rewriter<'_>, op: CastOp, a: Value, ty: Type) -> Option<Value> {
    let from = r.func.ty(a);
    match op {
        CastOp::Trunc => trunc(r, a, ty),
        CastOp::Zext => {
            let x = r.is_cast(a, CastOp::Zext)?; // bool -> i32 -> i64
            Some(r.cast(CastOp::Zext, x, ty))
        }
        CastOp::Sext => {
            if from == Type::I32 && bound(r.func, a, 4).non_negative(from) {
                return Some(r.cast(CastOp::Zext, a, ty));
            }
            let x = r.is_cast(a, CastOp::Sext)?;
            Some(r.cast(CastOp::Sext, x, ty))
        }
        // A zero extension is rewritten as a mask, because the rules for `&` can then apply.
        CastOp::Zext8 => Some(r.bin_k(BinOp::And, a, 0xff)),
        CastOp::Zext16 => Some(r.bin_k(BinOp::And, a, 0xffff)),
        CastOp::Sext8 => sign_extend(r, op, a, 8),
        CastOp::Sext16 => sign_extend(r, op, a, 16),
        CastOp::Bitcast => bitcast(r, a, from, ty),
        CastOp::HalfBits => Some(r.bin_k(BinOp::And, r.is_cast(a, CastOp::BitsHalf)?, 0xffff)),
        CastOp::BitsHalf => bits_half(r, a),
        CastOp::FTrunc => {
            let x = r.is_cast(a, CastOp::FExt)?;
            match r.func.ty(x) {
                same if same == ty => Some(x),
                wider if wider.bits() > ty.bits() => Some(r.cast(op, x, ty)),
                _ => Some(r.cast(CastOp::FExt, x, ty)),
            }
        }
        CastOp::SToF if from.is_int() && bound(r.func, a, 4).non_negative(from) => {
            Some(r.cast(CastOp::UToF, a, ty))
        }
        CastOp::PtrToInt => r.is_cast(a, CastOp::IntToPtr).filter(|&x| r.func.ty(x) == ty),
        CastOp::IntToPtr => r.is_cast(a, CastOp::PtrToInt).filter(|&x| r.func.ty(x) == ty),
        CastOp::SpaceCast if from == ty => Some(a),
        CastOp::SpaceCast => {
            // A conversion to another address space and back gives the original pointer.
            r.is_cast(a, CastOp::SpaceCast).filter(|&x| r.func.ty(x) == ty)
        }
        _ => None,
    }
}

/// Simplifies the conversion of an integer's low 16 bits to a half, for which the other bits of the integer
/// are irrelevant.
fn bits_half(r: &mut Rewriter<'_>, a: Value) -> Option<Value> {
    let Def { op, args: [x, y, _] } = r.def(a)?;
    match op {
        Op::Cast(CastOp::HalfBits) => Some(x),
        Op::Bin(BinOp::And) if r.k(y)?.trailing_ones() >= 16 => Some(r.cast(CastOp::BitsHalf, x, Type::F16)),
        Op::Cast(CastOp::Sext16) => Some(r.cast(CastOp::BitsHalf, x, Type::F16)),
        _ => None,
    }
}

/// Simplifies a truncation of a 64-bit value to its low half. Arithmetic whose low half depends only on the
/// low halves of its operands is done in 32 bits.
fn trunc(r: &mut Rewriter<'_>, a: Value, ty: Type) -> Option<Value> {
    let Def { op, args: [x, y, _] } = r.def(a)?;
    match op {
        Op::Cast(cast @ (CastOp::Zext | CastOp::Sext)) => {
            Some(if r.func.ty(x) == ty { x } else { r.cast(cast, x, ty) })
        }
        Op::Bin(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor)) => {
            let cheap = |v| {
                r.k(v).is_some()
                    || r.is_cast(v, CastOp::Zext).is_some()
                    || r.is_cast(v, CastOp::Sext).is_some()
            };
            if !r.single_use(a) || !(cheap(x) || cheap(y)) {
                return None;
            }
            let x = r.cast(CastOp::Trunc, x, ty);
            let y = r.cast(CastOp::Trunc, y, ty);
            Some(r.bin(op, x, y))
        }
        Op::Bin(BinOp::Shl) => {
            let n = r.k(y)? & 63;
            if !r.single_use(a) {
                return None;
            }
            let low = r.cast(CastOp::Trunc, x, ty);
            Some(if n >= 32 { r.konst(ty, 0) } else { shift(r, BinOp::Shl, low, n as u32) })
        }
        Op::Un(op @ (crate::op::UnOp::Neg | crate::op::UnOp::Not)) if r.single_use(a) => {
            let low = r.cast(CastOp::Trunc, x, ty);
            Some(r.un(op, low))
        }
        _ => None,
    }
}

fn sign_extend(r: &mut Rewriter<'_>, op: CastOp, a: Value, size: u32) -> Option<Value> {
    if bound(r.func, a, 3).hi < 1 << (size - 1) {
        return Some(a);
    }
    let Def { op: inner, args: [x, y, _] } = r.def(a)?;
    match inner {
        // Only the low bits of the operand matter.
        Op::Bin(BinOp::And) if r.k(y)?.trailing_ones() >= size => Some(r.cast(op, x, Type::I32)),
        Op::Bin(BinOp::LShr | BinOp::AShr) if r.single_use(a) => {
            let n = r.k(y)?;
            (n + u64::from(size) <= 32).then(|| extract(r, TernOp::Sbfe, x, n as u32, size))
        }
        Op::Cast(CastOp::Sext8) => Some(a),
        Op::Cast(CastOp::Sext16) if size == 16 => Some(a),
        Op::Cast(CastOp::Sext16) => Some(r.cast(op, x, Type::I32)),
        _ => None,
    }
}

fn bitcast(r: &mut Rewriter<'_>, a: Value, from: Type, ty: Type) -> Option<Value> {
    if from == ty {
        return Some(a);
    }
    let x = r.is_cast(a, CastOp::Bitcast)?;
    Some(r.cast(CastOp::Bitcast, x, ty))
}
