//! Simplifies floating-point arithmetic. All rules are exact for every input.

use super::super::rewrite::Rewriter;
use crate::entity::Value;
use crate::half::Half;
use crate::op::{BinOp, UnOp};
use crate::types::Type;

pub(super) fn binary(r: &mut Rewriter<'_>, op: BinOp, a: Value, b: Value, ty: Type) -> Option<Value> {
    if let Some(k) = r.k(b) {
        return with_constant(r, op, a, k, ty);
    }
    match op {
        BinOp::FAdd => {
            for (x, y) in [(a, b), (b, a)] {
                if let Some(z) = r.is_un(y, UnOp::FNeg) {
                    return Some(r.bin(BinOp::FSub, x, z));
                }
            }
            None
        }
        BinOp::FSub => {
            let z = r.is_un(b, UnOp::FNeg)?;
            Some(r.bin(BinOp::FAdd, a, z))
        }
        BinOp::FMul | BinOp::FDiv => {
            let (x, y) = (r.is_un(a, UnOp::FNeg)?, r.is_un(b, UnOp::FNeg)?);
            Some(r.bin(op, x, y))
        }
        BinOp::FMin | BinOp::FMax => (a == b).then_some(a),
        _ => None,
    }
}

fn with_constant(r: &mut Rewriter<'_>, op: BinOp, a: Value, k: u64, ty: Type) -> Option<Value> {
    let k = Constant::new(k, ty)?;
    match op {
        // x + -0 and x - +0 equal x, even for x = -0.
        BinOp::FAdd if k.is_zero && k.negative => Some(a),
        BinOp::FSub if k.is_zero && !k.negative => Some(a),
        BinOp::FMul | BinOp::FDiv if k.is_one && !k.negative => Some(a),
        BinOp::FMul | BinOp::FDiv if k.is_one => Some(r.un(UnOp::FNeg, a)),
        // The reciprocal of a power of two is exact.
        BinOp::FDiv => {
            let reciprocal = k.exact_reciprocal?;
            Some(r.bin_k(BinOp::FMul, a, reciprocal))
        }
        BinOp::Ldexp => None,
        _ => None,
    }
}

struct Constant {
    is_zero: bool,
    is_one: bool,
    negative: bool,
    /// Bits of `1 / k`, if `1 / k` is exact and normal.
    exact_reciprocal: Option<u64>,
}

impl Constant {
    fn new(bits: u64, ty: Type) -> Option<Self> {
        let of = |value: f64, power_of_two: bool, reciprocal: u64, normal: bool| Constant {
            is_zero: value == 0.0,
            is_one: value.abs() == 1.0,
            negative: value.is_sign_negative(),
            exact_reciprocal: (power_of_two && normal).then_some(reciprocal),
        };
        match ty {
            Type::F16 => {
                let x = Half(bits as u16).wide();
                let (power, reciprocal) = (bits & 0x3ff == 0, Half::nearest(x.recip()).0);
                let normal = |bits: u64| !matches!(bits & 0x7c00, 0 | 0x7c00);
                Some(of(x, power && normal(bits), reciprocal.into(), normal(reciprocal.into())))
            }
            Type::F32 => {
                let x = f32::from_bits(bits as u32);
                let power = bits & 0x7f_ffff == 0 && x.is_normal();
                Some(of(x.into(), power, x.recip().to_bits().into(), x.recip().is_normal()))
            }
            Type::F64 => {
                let x = f64::from_bits(bits);
                let power = bits & 0xf_ffff_ffff_ffff == 0 && x.is_normal();
                Some(of(x, power, x.recip().to_bits(), x.recip().is_normal()))
            }
            _ => None,
        }
    }
}
