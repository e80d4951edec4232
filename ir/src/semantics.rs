//! The arithmetic of the IR as pure functions on bits.
//!
//! Both the interpreter and constant folding call these functions, so their results cannot differ. Values are
//! passed and returned zero-extended to 64 bits (as in [`Op::Const`](crate::Op::Const)). The functions are
//! total: for a type that the verifier would reject they return 0.
//!
//! Where the kernel language leaves the result open, the functions follow the hardware:
//! - Denormals are kept for every floating-point type, and rounding is to nearest even: the floating-point
//!   mode that our kernel descriptors request.
//! - An operation that creates a NaN returns the positive quiet NaN without payload; an operation with a NaN
//!   operand returns its first NaN operand, quieted. Programs should not depend on this.
//! - `FMin` and `FMax` order -0 below +0 and prefer a number to a quiet NaN.
//! - Unsigned division by zero gives all ones and the remainder is the dividend; signed division by zero
//!   gives -1, and the remainder is the dividend. `MIN / -1` wraps. (Compiled code may behave differently.)
//! - The `Native*` operations are computed in double precision and rounded once. Hardware has an error of
//!   about one ulp for these operations, so results must be compared with a tolerance.

use crate::half::Half;
use crate::op::{BinOp, CastOp, FloatCc, IntCc, Op, RmwOp, TernOp, UnOp};
use crate::types::{Space, Type};

/// Returns a mask with bits `0..bits` set.
const fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns the mask of the bits that a value of type `ty` may have set.
pub const fn mask(ty: Type) -> u64 {
    low_mask(ty.bits())
}

/// Returns the value as a signed number of the type's width. A `bool` that is true gives -1, and one that is
/// false gives 0.
pub const fn signed(ty: Type, bits: u64) -> i64 {
    let unused = 64 - ty.bits();
    ((bits << unused) as i64) >> unused
}

/// Operations on `f16`, `f32` and `f64` that the floating-point operations of the IR are composed of.
trait Real: Copy + PartialOrd {
    const BITS: u32;
    const MANTISSA: u32;
    const ONE_BELOW_ONE: Self;
    fn from_u64_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn wide(self) -> f64;
    /// Converts a number of double precision to this type, rounding to nearest.
    fn narrow(x: f64) -> Self;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_even(self) -> Self;
    fn scale(self, n: i32) -> Self;

    fn sign_bit() -> u64 {
        1 << (Self::BITS - 1)
    }
    fn quiet_bit() -> u64 {
        1 << (Self::MANTISSA - 1)
    }
    fn exponent_mask() -> u64 {
        low_mask(Self::BITS - 1) & !low_mask(Self::MANTISSA)
    }
    fn default_nan() -> u64 {
        Self::exponent_mask() | Self::quiet_bit()
    }
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
    fn is_signaling(self) -> bool {
        self.is_nan() && self.bits() & Self::quiet_bit() == 0
    }
    fn quieted(self) -> u64 {
        self.bits() | Self::quiet_bit()
    }
    fn is_zero(self) -> bool {
        self.bits() & !Self::sign_bit() == 0
    }
}

macro_rules! real {
    ($ty:ident, $uint:ident, $mantissa:expr, $rem:path, $scale:path) => {
        impl Real for $ty {
            const BITS: u32 = $uint::BITS;
            const MANTISSA: u32 = $mantissa;
            const ONE_BELOW_ONE: Self = 1.0 - $ty::EPSILON / 2.0;
            fn from_u64_bits(bits: u64) -> Self {
                $ty::from_bits(bits as $uint)
            }
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
            fn narrow(x: f64) -> Self {
                x as $ty
            }
            fn add(self, b: Self) -> Self {
                self + b
            }
            fn sub(self, b: Self) -> Self {
                self - b
            }
            fn mul(self, b: Self) -> Self {
                self * b
            }
            fn div(self, b: Self) -> Self {
                self / b
            }
            fn rem(self, b: Self) -> Self {
                $rem(self, b)
            }
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            fn floor(self) -> Self {
                self.floor()
            }
            fn ceil(self) -> Self {
                self.ceil()
            }
            fn trunc(self) -> Self {
                self.trunc()
            }
            fn round_even(self) -> Self {
                self.round_ties_even()
            }
            fn scale(self, n: i32) -> Self {
                $scale(self, n)
            }
        }
    };
}

real!(f32, u32, 23, libm::fmodf, libm::scalbnf);
real!(f64, u64, 52, libm::fmod, libm::scalbn);

/// Implements `Real` for `Half`: each operation is computed in `f64` and rounded, see [`crate::half`].
macro_rules! half {
    ($($name:ident($($arg:ident),*) = $value:expr;)*) => {
        impl Real for Half {
            const BITS: u32 = 16;
            const MANTISSA: u32 = 10;
            const ONE_BELOW_ONE: Self = Half(0x3bff);
            fn from_u64_bits(bits: u64) -> Self {
                Half(bits as u16)
            }
            fn bits(self) -> u64 {
                u64::from(self.0)
            }
            fn wide(self) -> f64 {
                self.wide()
            }
            fn narrow(x: f64) -> Self {
                Half::nearest(x)
            }
            fn scale(self, n: i32) -> Self {
                Half::nearest(libm::scalbn(self.wide(), n))
            }
            $(fn $name(self $(, $arg: Self)*) -> Self {
                let operation = $value;
                Half::nearest(operation(self.wide() $(, $arg.wide())*))
            })*
        }
    };
}

half! {
    add(b) = |x: f64, y: f64| x + y;
    sub(b) = |x: f64, y: f64| x - y;
    mul(b) = |x: f64, y: f64| x * y;
    div(b) = |x: f64, y: f64| x / y;
    rem(b) = libm::fmod;
    fma(b, c) = f64::mul_add;
    sqrt() = f64::sqrt;
    floor() = f64::floor;
    ceil() = f64::ceil;
    trunc() = f64::trunc;
    round_even() = f64::round_ties_even;
}

/// Returns the result bits of a floating-point operation, after applying the rule for NaN in the description
/// of this module.
fn finish<F: Real>(result: F, args: &[F]) -> u64 {
    if !result.is_nan() {
        return result.bits();
    }
    args.iter().find(|x| x.is_nan()).map_or(F::default_nan(), |x| x.quieted())
}

/// Returns the result bits of an operation. `arg_ty` is the type of its first argument, `ty` the type of its
/// result, and `k(n)` the bits of argument `n`. Returns `None` if the result does not depend on the arguments
/// alone.
pub fn evaluate(op: Op, arg_ty: Type, ty: Type, k: impl Fn(usize) -> Option<u64>) -> Option<u64> {
    match op {
        // The results of approximations differ between processors, so they cannot be computed here.
        Op::Un(
            UnOp::NativeRcp
            | UnOp::NativeRsq
            | UnOp::NativeSqrt
            | UnOp::NativeExp2
            | UnOp::NativeLog2
            | UnOp::NativeSin
            | UnOp::NativeCos,
        ) => None,
        Op::Un(op) => Some(eval_un(op, arg_ty, k(0)?)),
        Op::Bin(op) => Some(eval_bin(op, arg_ty, k(0)?, k(1)?)),
        Op::Tern(op) => Some(eval_tern(op, ty, k(0)?, k(1)?, k(2)?)),
        Op::Icmp(cc) => Some(eval_icmp(cc, arg_ty, k(0)?, k(1)?).into()),
        Op::Fcmp(cc) => Some(eval_fcmp(cc, arg_ty, k(0)?, k(1)?).into()),
        Op::Cast(op) => eval_cast(op, arg_ty, ty, k(0)?),
        _ => None,
    }
}

/// Evaluates a one-operand operation. `ty` is the operand's type; the result has the same type, except for
/// `Popcount`, `Clz`, `Ctz` and `FrexpExp`, which return an `i32`.
pub fn eval_un(op: UnOp, ty: Type, a: u64) -> u64 {
    match ty {
        Type::F16 => un_float::<Half>(op, a),
        Type::F32 => un_float::<f32>(op, a),
        Type::F64 => un_float::<f64>(op, a),
        _ => un_int(op, ty, a),
    }
}

fn un_int(op: UnOp, ty: Type, a: u64) -> u64 {
    let bits = ty.bits();
    match op {
        UnOp::Not => !a & mask(ty),
        UnOp::Neg => a.wrapping_neg() & mask(ty),
        UnOp::Popcount => u64::from(a.count_ones()),
        UnOp::Clz => u64::from(a.leading_zeros() - (64 - bits)),
        UnOp::Ctz => u64::from(a.trailing_zeros().min(bits)),
        UnOp::ReverseBits => a.reverse_bits() >> (64 - bits),
        _ => 0,
    }
}

fn un_float<F: Real>(op: UnOp, bits: u64) -> u64 {
    let a = F::from_u64_bits(bits);
    let wide = a.wide();
    let result = match op {
        UnOp::FNeg => return bits ^ F::sign_bit(),
        UnOp::FAbs => return bits & !F::sign_bit(),
        UnOp::FrexpExp => return frexp(a).1,
        UnOp::FrexpMant => return frexp(a).0,
        UnOp::FSqrt | UnOp::NativeSqrt => a.sqrt(),
        UnOp::FFloor => a.floor(),
        UnOp::FCeil => a.ceil(),
        UnOp::FTrunc => a.trunc(),
        UnOp::FRound => a.round_even(),
        UnOp::FFract => {
            // The result is never 1.0, even if a tiny negative argument would round to it.
            let fract = a.sub(a.floor());
            if fract > F::ONE_BELOW_ONE { F::ONE_BELOW_ONE } else { fract }
        }
        UnOp::NativeRcp => F::narrow(1.0 / wide),
        UnOp::NativeRsq => F::narrow(1.0 / wide.sqrt()),
        UnOp::NativeExp2 => F::narrow(libm::exp2(wide)),
        UnOp::NativeLog2 => F::narrow(libm::log2(wide)),
        // For arguments outside of its domain, the hardware instruction returns sin 0 or cos 1.
        UnOp::NativeSin if wide.abs() > 256.0 => F::narrow(0.0),
        UnOp::NativeCos if wide.abs() > 256.0 => F::narrow(1.0),
        UnOp::NativeSin => F::narrow(libm::sin(turns(wide))),
        UnOp::NativeCos => F::narrow(libm::cos(turns(wide))),
        _ => return 0,
    };
    finish(result, &[a])
}

/// Converts an angle from revolutions to radians. Whole revolutions are removed first.
fn turns(x: f64) -> f64 {
    (x - x.round()) * std::f64::consts::TAU
}

/// Returns the mantissa in [0.5, 1) and the exponent as `i32`. The exponent is 0 for zero, infinity and NaN.
fn frexp<F: Real>(a: F) -> (u64, u64) {
    if a.is_nan() {
        return (a.quieted(), 0);
    }
    if a.is_zero() || a.bits() & F::exponent_mask() == F::exponent_mask() {
        return (a.bits(), 0);
    }
    let bias = (F::exponent_mask() >> F::MANTISSA) as i32 / 2;
    // Denormals are first scaled to normal numbers.
    let denormal = a.bits() & F::exponent_mask() == 0;
    let up = if denormal { F::MANTISSA as i32 + 1 } else { 0 };
    let scaled = a.scale(up).bits();
    let exponent = ((scaled & F::exponent_mask()) >> F::MANTISSA) as i32 - bias + 1 - up;
    let half = ((bias - 1) as u64) << F::MANTISSA;
    ((scaled & !F::exponent_mask()) | half, u64::from(exponent as u32))
}

/// Returns a 32-bit word of two halves. `half(n)` computes the half that begins at bit `n` of the word (0 or
/// 16).
fn halves(half: impl Fn(u32) -> u64) -> u64 {
    half(0) & 0xffff | (half(16) & 0xffff) << 16
}

/// Evaluates a two-operand operation. `ty` is the type of the first operand; the count of a shift and the
/// exponent of `Ldexp` may have another type.
pub fn eval_bin(op: BinOp, ty: Type, a: u64, b: u64) -> u64 {
    if let Some((op, ty)) = op.of_halves() {
        return halves(|at| {
            let extended = |word: u64| match op {
                BinOp::AShr | BinOp::SMin | BinOp::SMax => (word >> at) as u16 as i16 as u32 as u64,
                _ => word >> at & 0xffff,
            };
            let count = matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr);
            eval_bin(op, ty, extended(a), extended(b) & if count { 15 } else { u64::MAX })
        });
    }
    match ty {
        Type::F16 => bin_float::<Half>(op, a, b),
        Type::F32 => bin_float::<f32>(op, a, b),
        Type::F64 => bin_float::<f64>(op, a, b),
        _ => bin_int(op, ty, a, b),
    }
}

fn bin_int(op: BinOp, ty: Type, a: u64, b: u64) -> u64 {
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    let bits = ty.bits();
    let count = (b as u32) & (bits - 1);
    let result = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UMulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        BinOp::SMulHi => ((i128::from(sa) * i128::from(sb)) >> bits) as u64,
        BinOp::UDiv => a.checked_div(b).unwrap_or(u64::MAX),
        BinOp::URem => a.checked_rem(b).unwrap_or(a),
        BinOp::SDiv if sb == 0 => u64::MAX,
        BinOp::SDiv => sa.wrapping_div(sb) as u64,
        BinOp::SRem if sb == 0 => a,
        BinOp::SRem => sa.wrapping_rem(sb) as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << count,
        BinOp::LShr => a >> count,
        BinOp::AShr => (sa >> count) as u64,
        BinOp::UMin => a.min(b),
        BinOp::UMax => a.max(b),
        BinOp::SMin => sa.min(sb) as u64,
        BinOp::SMax => sa.max(sb) as u64,
        BinOp::UMul24 => (a & 0xff_ffff) * (b & 0xff_ffff),
        BinOp::SMul24 => (((a as i64) << 40 >> 40) * ((b as i64) << 40 >> 40)) as u64,
        _ => 0,
    };
    result & mask(ty)
}

fn bin_float<F: Real>(op: BinOp, a: u64, b: u64) -> u64 {
    let (x, y) = (F::from_u64_bits(a), F::from_u64_bits(b));
    let result = match op {
        BinOp::FAdd => x.add(y),
        BinOp::FSub => x.sub(y),
        BinOp::FMul => x.mul(y),
        BinOp::FDiv => x.div(y),
        BinOp::FRem => x.rem(y),
        BinOp::FMin => return min_max(x, y, true),
        BinOp::FMax => return min_max(x, y, false),
        BinOp::Ldexp => return finish(x.scale(b as u32 as i32), &[x]),
        _ => return 0,
    };
    finish(result, &[x, y])
}

/// Returns the minimum or maximum as IEEE 754-2008 defines minNum and maxNum, and as `v_min_f32` and
/// `v_max_f32` compute it in IEEE mode.
fn min_max<F: Real>(x: F, y: F, min: bool) -> u64 {
    if x.is_signaling() || y.is_nan() && !y.is_signaling() && x.is_nan() {
        return x.quieted();
    }
    if y.is_signaling() {
        return y.quieted();
    }
    if x.is_nan() {
        return y.bits();
    }
    if y.is_nan() {
        return x.bits();
    }
    let x_is_less = if x.is_zero() && y.is_zero() { x.bits() > y.bits() } else { x < y };
    if x_is_less == min { x.bits() } else { y.bits() }
}

/// Evaluates a three-operand operation; `ty` is the type of all operands and of the result.
pub fn eval_tern(op: TernOp, ty: Type, a: u64, b: u64, c: u64) -> u64 {
    let (offset, width) = (b as u32 & 31, c as u32 & 31);
    match (op, ty) {
        (TernOp::Fma, Type::F16) => fma::<Half>(a, b, c),
        (TernOp::Fma, Type::F32) => fma::<f32>(a, b, c),
        (TernOp::Fma, Type::F64) => fma::<f64>(a, b, c),
        (TernOp::Fma, _) => 0,
        (TernOp::PkFma, _) => halves(|at| fma::<Half>(a >> at, b >> at, c >> at)),
        (TernOp::Perm, _) => (0..4).fold(0, |word, n| word | permuted(a << 32 | b, c >> (8 * n)) << (8 * n)),
        (TernOp::Fshr, _) => (((a << 32) | (b & 0xffff_ffff)) >> (c & 31)) & 0xffff_ffff,
        (TernOp::Bfi, _) => ((a & b) | (!a & c)) & mask(ty),
        (TernOp::Ubfe, _) => (a >> offset) & low_mask(width),
        (TernOp::Sbfe, _) if width == 0 => 0,
        (TernOp::Sbfe, _) => {
            let top = (offset + width).min(32);
            let field = ((a as u32) << (32 - top)) as i32;
            u64::from((field >> (32 - top + offset)) as u32)
        }
        _ => op.of_parts().map_or(0, |(bits, signed)| sum_of_products(bits, signed, a, b, c)),
    }
}

/// Returns the byte that the low byte of `selector` selects.
fn permuted(bytes: u64, selector: u64) -> u64 {
    match selector & 0xff {
        n @ 0..=7 => bytes >> (8 * n) & 0xff,
        n @ 8..=11 => 0xff * (bytes >> (16 * (n - 8) + 15) & 1),
        12 => 0,
        _ => 0xff,
    }
}

fn sum_of_products(bits: u32, is_signed: bool, a: u64, b: u64, c: u64) -> u64 {
    let part = |word: u64, at: u32| {
        let unused = 32 - bits;
        let top = (word as u32) << (unused - at);
        if is_signed { (top as i32) >> unused } else { (top >> unused) as i32 }
    };
    let products = (0..32 / bits).map(|n| part(a, n * bits).wrapping_mul(part(b, n * bits)));
    u64::from(products.fold(c as i32, i32::wrapping_add) as u32)
}

fn fma<F: Real>(a: u64, b: u64, c: u64) -> u64 {
    let (x, y, z) = (F::from_u64_bits(a), F::from_u64_bits(b), F::from_u64_bits(c));
    finish(x.fma(y, z), &[x, y, z])
}

/// Evaluates a comparison of integer, pointer or bool operands of type `ty`.
pub fn eval_icmp(cc: IntCc, ty: Type, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    match cc {
        IntCc::Eq => a == b,
        IntCc::Ne => a != b,
        IntCc::Ult => a < b,
        IntCc::Ule => a <= b,
        IntCc::Ugt => a > b,
        IntCc::Uge => a >= b,
        IntCc::Slt => sa < sb,
        IntCc::Sle => sa <= sb,
        IntCc::Sgt => sa > sb,
        IntCc::Sge => sa >= sb,
    }
}

/// Evaluates a floating-point comparison of operands of type `ty`.
pub fn eval_fcmp(cc: FloatCc, ty: Type, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match ty {
        Type::F16 => Half::from_u64_bits(a).partial_cmp(&Half::from_u64_bits(b)),
        Type::F32 => f32::from_u64_bits(a).partial_cmp(&f32::from_u64_bits(b)),
        _ => f64::from_u64_bits(a).partial_cmp(&f64::from_u64_bits(b)),
    };
    match cc {
        FloatCc::Oeq => order == Some(Equal),
        FloatCc::One => matches!(order, Some(Less | Greater)),
        FloatCc::Olt => order == Some(Less),
        FloatCc::Ole => matches!(order, Some(Less | Equal)),
        FloatCc::Ogt => order == Some(Greater),
        FloatCc::Oge => matches!(order, Some(Greater | Equal)),
        FloatCc::Ord => order.is_some(),
        FloatCc::Ueq => matches!(order, None | Some(Equal)),
        FloatCc::Une => order != Some(Equal),
        FloatCc::Ult => matches!(order, None | Some(Less)),
        FloatCc::Ule => matches!(order, None | Some(Less | Equal)),
        FloatCc::Ugt => matches!(order, None | Some(Greater)),
        FloatCc::Uge => matches!(order, None | Some(Greater | Equal)),
        FloatCc::Uno => order.is_none(),
    }
}

/// Evaluates a conversion from type `from` to type `to`. Returns `None` if the result does not depend on the
/// bits alone. An example is a cast between generic and work-group or private memory, which depends on where
/// these memories are mapped.
pub fn eval_cast(op: CastOp, from: Type, to: Type, a: u64) -> Option<u64> {
    let value = match op {
        CastOp::Trunc | CastOp::Zext | CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr => a,
        CastOp::HalfBits | CastOp::BitsHalf => a & 0xffff,
        CastOp::Sext => signed(from, a) as u64,
        CastOp::Zext8 => a & 0xff,
        CastOp::Sext8 => a as u8 as i8 as u64,
        CastOp::Zext16 => a & 0xffff,
        CastOp::Sext16 => a as u16 as i16 as u64,
        CastOp::SToF => {
            let x = signed(from, a);
            int_to_float(to, x as f32, x as f64)
        }
        CastOp::UToF => int_to_float(to, a as f32, a as f64),
        CastOp::FToS | CastOp::FToU => {
            let x = wide_of(from, a);
            match (op, to) {
                (CastOp::FToS, Type::I32) => x as i32 as u64,
                (CastOp::FToS, _) => x as i64 as u64,
                (_, Type::I32) => u64::from(x as u32),
                (_, _) => x as u64,
            }
        }
        CastOp::FExt | CastOp::FTrunc => float_to_float(from, to, a),
        CastOp::SpaceCast => match (from, to) {
            (Type::Ptr(from), Type::Ptr(to)) if is_device(from) && is_device(to) => a,
            _ => return None,
        },
    };
    Some(value & mask(to))
}

/// Returns a floating-point value as an `f64`.
fn wide_of(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F16 => Half::from_u64_bits(bits).wide(),
        Type::F32 => f32::from_u64_bits(bits).wide(),
        _ => f64::from_u64_bits(bits),
    }
}

/// Returns the floating-point number of type `to` nearest to an integer, given the integer rounded to `f32`
/// and to `f64`. A half is rounded from the `f64`, which is exact wherever the half is finite.
fn int_to_float(to: Type, narrow: f32, wide: f64) -> u64 {
    match to {
        Type::F16 => Half::nearest(wide).bits(),
        Type::F32 => narrow.bits(),
        _ => wide.bits(),
    }
}

/// Converts between floating-point types, rounding once. A NaN keeps its sign and the high bits of its
/// payload, and becomes quiet.
fn float_to_float(from: Type, to: Type, bits: u64) -> u64 {
    let x = wide_of(from, bits);
    if !Real::is_nan(x) {
        return match to {
            Type::F16 => Half::nearest(x).bits(),
            Type::F32 => (x as f32).bits(),
            _ => x.bits(),
        };
    }
    let (sign, mantissa) = match from {
        Type::F16 => (bits >> 15, bits << 42),
        Type::F32 => (bits >> 31, bits << 29),
        _ => (bits >> 63, bits),
    };
    let mantissa = mantissa & low_mask(52);
    match to {
        Type::F16 => sign << 15 | Half::default_nan() | mantissa >> 42,
        Type::F32 => sign << 31 | f32::default_nan() | mantissa >> 29,
        _ => sign << 63 | f64::default_nan() | mantissa,
    }
}

/// Returns whether a pointer into the space is a plain 64-bit device address.
fn is_device(space: Space) -> bool {
    matches!(space, Space::Generic | Space::Global | Space::Constant)
}

/// Returns what an atomic operation of type `ty` writes to memory in place of `old`.
pub fn eval_rmw(op: RmwOp, ty: Type, old: u64, value: u64) -> u64 {
    let bin = match op {
        RmwOp::Xchg => return value,
        RmwOp::Inc => return if old >= value { 0 } else { old + 1 },
        RmwOp::Dec => return if old == 0 || old > value { value } else { old - 1 },
        RmwOp::Add => BinOp::Add,
        RmwOp::Sub => BinOp::Sub,
        RmwOp::SMin => BinOp::SMin,
        RmwOp::UMin => BinOp::UMin,
        RmwOp::SMax => BinOp::SMax,
        RmwOp::UMax => BinOp::UMax,
        RmwOp::And => BinOp::And,
        RmwOp::Or => BinOp::Or,
        RmwOp::Xor => BinOp::Xor,
        RmwOp::FAdd => return eval_bin(BinOp::FAdd, ty, old, value),
        RmwOp::FMin => return eval_bin(BinOp::FMin, ty, old, value),
        RmwOp::FMax => return eval_bin(BinOp::FMax, ty, old, value),
        RmwOp::PkFAdd => return eval_bin(BinOp::PkFAdd, ty, old, value),
    };
    bin_int(bin, ty, old, value)
}

#[cfg(test)]
mod tests;
