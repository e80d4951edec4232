//! Expands mathematical functions to a few operations around the hardware's approximate instructions.
//!
//! The hardware's `exp2` and `log2` have an error of at most 1 ulp, but they flush denormals to zero. The
//! code therefore scales a denormal argument or result into the normal range. `exp` and `log` multiply by a
//! constant, log2(e) or ln(2). The constant is stored as a sum of two numbers, because the rounding error of
//! a single product would grow with the result.

use super::{Lower, Val};
use crate::builtins::Math;
use crate::library;
use ir::{BinOp, CastOp, FloatCc, Op, TernOp, Type, UnOp, Value};
use smol_str::{SmolStr, format_smolstr};

/// log2(e) as a sum of two `f32`: the `f32` nearest to it, and the `f32` nearest to the remainder. `LN_2` has
/// ln(2) in the same form.
const LOG2_E: (f64, f64) = split(std::f64::consts::LOG2_E);
const LN_2: (f64, f64) = split(std::f64::consts::LN_2);

const fn split(value: f64) -> (f64, f64) {
    let high = value as f32;
    (high as f64, (value - high as f64) as f32 as f64)
}

/// Smallest normal `f32`.
const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

impl Lower<'_, '_> {
    pub(super) fn math(&mut self, math: Math, ty: Type, x: &[Value]) -> Value {
        let in_half = matches!(math, Math::Rcp | Math::Copysign | Math::Mix | Math::Step);
        if ty == Type::F16 && !in_half {
            return self.by_single(x, |lower, x| lower.math(math, Type::F32, x));
        }
        match math {
            Math::Exp if ty == Type::F64 => self.library("exp", ty, x),
            Math::Exp2 if ty == Type::F64 => self.library("exp2", ty, x),
            Math::Log if ty == Type::F64 => self.library("log", ty, x),
            Math::Log2 if ty == Type::F64 => self.library("log2", ty, x),
            Math::Rcp => {
                let one = self.float(ty, 1.0);
                self.emit(Op::Bin(BinOp::FDiv), &[one, x[0]], ty)
            }
            Math::Rsqrt => {
                let root = self.emit(Op::Un(UnOp::FSqrt), x, ty);
                let one = self.float(ty, 1.0);
                self.emit(Op::Bin(BinOp::FDiv), &[one, root], ty)
            }
            Math::Exp2 => self.exp2(x[0]),
            Math::Exp => self.exp(x[0]),
            Math::Log2 => {
                let (log, scaled) = self.scaled_log2(x[0]);
                let (zero, shift) = (self.float(ty, 0.0), self.float(ty, 32.0));
                let shift = self.emit(Op::Select, &[scaled, shift, zero], ty);
                self.emit(Op::Bin(BinOp::FSub), &[log, shift], ty)
            }
            Math::Log => self.log(x[0]),
            Math::Copysign => self.copysign(ty, x),
            Math::Mix => {
                let difference = self.emit(Op::Bin(BinOp::FSub), &[x[1], x[0]], ty);
                self.emit(Op::Tern(TernOp::Fma), &[x[2], difference, x[0]], ty)
            }
            Math::Step => {
                let below = self.emit(Op::Fcmp(FloatCc::Olt), &[x[1], x[0]], Type::Bool);
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                self.emit(Op::Select, &[below, zero, one], ty)
            }
        }
    }

    /// Computes a function of `f16` values: converts them to `f32`, computes the function with `f`, and
    /// rounds the result to `f16`.
    pub(super) fn by_single(&mut self, x: &[Value], f: impl FnOnce(&mut Self, &[Value]) -> Value) -> Value {
        let x: Val = x.iter().map(|&x| self.widened(x, Type::F32)).collect();
        let result = f(self, &x);
        self.emit(Op::Cast(CastOp::FTrunc), &[result], Type::F16)
    }

    /// Calls a function of the mathematical library. If the library has the function only for `f64`, the
    /// operands are widened to `f64` and the result is rounded.
    pub(super) fn library(&mut self, name: &str, ty: Type, x: &[Value]) -> Value {
        if ty == Type::F16 && name != "nextafter" {
            return self.by_single(x, |lower, x| lower.library(name, Type::F32, x));
        }
        let suffix = match ty {
            Type::F16 => "f16",
            Type::F32 => "f32",
            _ => "f64",
        };
        let name_of = |suffix| format_smolstr!("{name}_{suffix}");
        if library::has(&name_of(suffix)) {
            return self.call_library(name_of(suffix), &[ty], x)[0];
        }
        let wide: Val = x.iter().map(|&x| self.widened(x, Type::F64)).collect();
        let result = self.call_library(name_of("f64"), &[Type::F64], &wide)[0];
        self.emit(Op::Cast(CastOp::FTrunc), &[result], ty)
    }

    /// Widens a narrower float to type `to`.
    pub(super) fn widened(&mut self, x: Value, to: Type) -> Value {
        let from = self.func.ty(x);
        match from.is_float() && from.bits() < to.bits() {
            true => self.emit(Op::Cast(CastOp::FExt), &[x], to),
            false => x,
        }
    }

    pub(super) fn call_library(&mut self, name: SmolStr, results: &[Type], x: &[Value]) -> Val {
        let known = self.library.iter().position(|other| *other == name);
        let number = known.unwrap_or(self.library.len());
        if known.is_none() {
            self.library.push(name);
        }
        self.call_of((self.checked.funcs.len() + number) as u32, x, results)
    }

    /// Emits 2^x. For x below -126 the result is denormal, and the hardware's instruction would return 0. For
    /// such x, the code computes 2^(x+64) * 2^-64 instead.
    fn exp2(&mut self, x: Value) -> Value {
        let ty = Type::F32;
        let limit = self.float(ty, -126.0);
        let tiny = self.emit(Op::Fcmp(FloatCc::Olt), &[x, limit], Type::Bool);
        let (zero, shift) = (self.float(ty, 0.0), self.float(ty, 64.0));
        let shift = self.emit(Op::Select, &[tiny, shift, zero], ty);
        let argument = self.emit(Op::Bin(BinOp::FAdd), &[x, shift], ty);
        let power = self.emit(Op::Un(UnOp::NativeExp2), &[argument], ty);
        let (one, scale) = (self.float(ty, 1.0), self.float(ty, 2f64.powi(-64)));
        let scale = self.emit(Op::Select, &[tiny, scale, one], ty);
        self.emit(Op::Bin(BinOp::FMul), &[power, scale], ty)
    }

    /// Emits e^x as 2^(x log2 e). The exponent is split into two parts. The hardware computes `exp2` of its
    /// fraction, and `ldexp` adds its integer part to the exponent of the result.
    fn exp(&mut self, x: Value) -> Value {
        let ty = Type::F32;
        let (high, low) = (self.float(ty, LOG2_E.0), self.float(ty, LOG2_E.1));
        let product = self.emit(Op::Bin(BinOp::FMul), &[x, high], ty);
        let negative = self.emit(Op::Un(UnOp::FNeg), &[product], ty);
        let rest = self.emit(Op::Tern(TernOp::Fma), &[x, high, negative], ty);
        let rest = self.emit(Op::Tern(TernOp::Fma), &[x, low, rest], ty);
        let whole = self.emit(Op::Un(UnOp::FRound), &[product], ty);
        let part = self.emit(Op::Bin(BinOp::FSub), &[product, whole], ty);
        let part = self.emit(Op::Bin(BinOp::FAdd), &[part, rest], ty);
        let power = self.emit(Op::Un(UnOp::NativeExp2), &[part], ty);
        let count = self.emit(Op::Cast(CastOp::FToS), &[whole], Type::I32);
        let result = self.emit(Op::Bin(BinOp::Ldexp), &[power, count], ty);
        // Outside of these bounds the result is 0 or infinite. The code selects these results explicitly,
        // because for an infinite argument the fraction of the exponent above would be NaN.
        let (bottom, top) = (self.float(ty, -104.0), self.float(ty, 89.0));
        let (zero, infinity) = (self.float(ty, 0.0), self.float(ty, f64::INFINITY));
        let below = self.emit(Op::Fcmp(FloatCc::Olt), &[x, bottom], Type::Bool);
        let above = self.emit(Op::Fcmp(FloatCc::Ogt), &[x, top], Type::Bool);
        let result = self.emit(Op::Select, &[below, zero, result], ty);
        self.emit(Op::Select, &[above, infinity, result], ty)
    }

    /// Emits log2(x) for a number that may be denormal. Returns two values. The second one says whether x is
    /// denormal. The first one is log2(x), or log2(x * 2^32) if x is denormal.
    fn scaled_log2(&mut self, x: Value) -> (Value, Value) {
        let ty = Type::F32;
        let limit = self.float(ty, MIN_NORMAL);
        let tiny = self.emit(Op::Fcmp(FloatCc::Olt), &[x, limit], Type::Bool);
        let (one, scale) = (self.float(ty, 1.0), self.float(ty, 2f64.powi(32)));
        let scale = self.emit(Op::Select, &[tiny, scale, one], ty);
        let argument = self.emit(Op::Bin(BinOp::FMul), &[x, scale], ty);
        (self.emit(Op::Un(UnOp::NativeLog2), &[argument], ty), tiny)
    }

    /// Emits ln x as log2 x * ln 2. The rounding error of the product is computed, too, and added to it.
    fn log(&mut self, x: Value) -> Value {
        let ty = Type::F32;
        let (log, scaled) = self.scaled_log2(x);
        let (high, low) = (self.float(ty, LN_2.0), self.float(ty, LN_2.1));
        let product = self.emit(Op::Bin(BinOp::FMul), &[log, high], ty);
        let negative = self.emit(Op::Un(UnOp::FNeg), &[product], ty);
        let error = self.emit(Op::Tern(TernOp::Fma), &[log, high, negative], ty);
        let error = self.emit(Op::Tern(TernOp::Fma), &[log, low, error], ty);
        let sum = self.emit(Op::Bin(BinOp::FAdd), &[product, error], ty);
        // The error term of an infinite logarithm is NaN.
        let size = self.emit(Op::Un(UnOp::FAbs), &[log], ty);
        let infinity = self.float(ty, f64::INFINITY);
        let finite = self.emit(Op::Fcmp(FloatCc::Olt), &[size, infinity], Type::Bool);
        let result = self.emit(Op::Select, &[finite, sum, log], ty);
        let zero = self.float(ty, 0.0);
        let shift = self.float(ty, 32.0 * std::f64::consts::LN_2);
        let shift = self.emit(Op::Select, &[scaled, shift, zero], ty);
        self.emit(Op::Bin(BinOp::FSub), &[result, shift], ty)
    }

    /// Emits the absolute value of the first operand with the sign of the second.
    pub(super) fn copysign(&mut self, ty: Type, x: &[Value]) -> Value {
        let int = if ty == Type::F64 { Type::I64 } else { Type::I32 };
        let sign = 1u64 << (ty.bits() - 1);
        let [size, other] = [x[0], x[1]].map(|x| self.rebit(x, int));
        let bits = if int == Type::I32 {
            let mask = self.constant(int, sign - 1);
            self.emit(Op::Tern(TernOp::Bfi), &[mask, size, other], int)
        } else {
            let (mask, keep) = (self.constant(int, sign), self.constant(int, sign - 1));
            let sign = self.emit(Op::Bin(BinOp::And), &[other, mask], int);
            let size = self.emit(Op::Bin(BinOp::And), &[size, keep], int);
            self.emit(Op::Bin(BinOp::Or), &[size, sign], int)
        };
        self.rebit(bits, ty)
    }
}
