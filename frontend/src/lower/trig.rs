//! Sine, cosine, tangent and power of `f32`.
//!
//! An angle is reduced to [-pi/4, pi/4] and a count of quarter turns in double precision, where that is exact enough
//! for every `f32`: below 2^30 by subtracting a multiple of pi/2 in two parts (Cody and Waite), above by multiplying
//! with the bits of 2/pi that matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983). The
//! functions of what remains are Taylor series, short as it is small.

use super::{Lower, Val};
use crate::types::Ty;
use ir::{BinOp, CastOp, FloatCc, IntCc, Op, TernOp, Type, UnOp, Value};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, FRAC_PI_2, LN_2};

/// pi/2 is this and [`FRAC_PI_2`].
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;
/// The first 192 bits of 2/pi behind the point.
const TWO_OVER_PI: [u32; 6] = [0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041];
/// From here on angles are reduced the long way.
const LARGE: f64 = (1u64 << 30) as f64;

/// Which function of an angle.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Angle {
    Sin,
    Cos,
    Tan,
}

impl Lower<'_, '_> {
    pub(super) fn of_angle(&mut self, function: Angle, x: Value) -> Value {
        let (ty, one) = (Type::F32, self.constant(Type::I32, 1));
        let (rest, quarters) = self.reduced(x);
        let square = self.emit(Op::Bin(BinOp::FMul), &[rest, rest], ty);
        let (sin, cos) = (self.sin_series(rest, square), self.cos_series(square));
        // cos x = sin(x + a quarter turn).
        let quarters = if function == Angle::Cos { self.bin(BinOp::Add, quarters, one) } else { quarters };
        let odd = self.bin(BinOp::And, quarters, one);
        let zero = self.constant(Type::I32, 0);
        let odd = self.emit(Op::Icmp(IntCc::Ne), &[odd, zero], Type::Bool);
        let top = self.emit(Op::Select, &[odd, cos, sin], ty);
        if function == Angle::Tan {
            let bottom = self.emit(Op::Select, &[odd, sin, cos], ty);
            let quotient = self.emit(Op::Bin(BinOp::FDiv), &[top, bottom], ty);
            let negative = self.emit(Op::Un(UnOp::FNeg), &[quotient], ty);
            let result = self.emit(Op::Select, &[odd, negative, quotient], ty);
            return self.or_tiny(x, result);
        }
        // The sign changes with bit 1 of the quarters.
        let two = self.constant(Type::I32, 2);
        let half = self.bin(BinOp::And, quarters, two);
        let half = self.emit(Op::Icmp(IntCc::Ne), &[half, zero], Type::Bool);
        let negative = self.emit(Op::Un(UnOp::FNeg), &[top], ty);
        let result = self.emit(Op::Select, &[half, negative, top], ty);
        if function == Angle::Sin { self.or_tiny(x, result) } else { result }
    }

    /// `x` itself where the function is that close to it: keeps the sign of zero.
    fn or_tiny(&mut self, x: Value, result: Value) -> Value {
        let (size, limit) = (self.emit(Op::Un(UnOp::FAbs), &[x], Type::F32), self.f32(2f32.powi(-13)));
        let tiny = self.emit(Op::Fcmp(FloatCc::Olt), &[size, limit], Type::Bool);
        self.emit(Op::Select, &[tiny, x, result], Type::F32)
    }

    /// The rest in [-pi/4, pi/4] as `f32` (NaN for what is not finite), and the number of quarter turns modulo 4.
    fn reduced(&mut self, x: Value) -> (Value, Value) {
        let size = self.emit(Op::Un(UnOp::FAbs), &[x], Type::F32);
        let limit = self.float(Type::F32, LARGE);
        let large = self.emit(Op::Fcmp(FloatCc::Oge), &[size, limit], Type::Bool);
        let parts = self.branch(
            large,
            Ty::UNIT,
            |lower| lower.reduced_large(x, size),
            |lower| lower.reduced_small(x),
        );
        let rest = self.emit(Op::Cast(CastOp::FTrunc), &[parts[0]], Type::F32);
        (rest, parts[1])
    }

    /// With n = round(x * 2/pi) < 2^30, x - n * pi/2: the first product and difference are exact, as their bits lie
    /// within 53 of each other.
    fn reduced_small(&mut self, x: Value) -> Val {
        let ty = Type::F64;
        let x = self.emit(Op::Cast(CastOp::FExt), &[x], ty);
        let per_quarter = self.float(ty, FRAC_2_PI);
        let turns = self.emit(Op::Bin(BinOp::FMul), &[x, per_quarter], ty);
        let count = self.emit(Op::Un(UnOp::FRound), &[turns], ty);
        let (high, low) = (self.float(ty, -FRAC_PI_2), self.float(ty, -FRAC_PI_2_LOW));
        let rest = self.emit(Op::Tern(TernOp::Fma), &[count, high, x], ty);
        let rest = self.emit(Op::Tern(TernOp::Fma), &[count, low, rest], ty);
        let quarters = self.emit(Op::Cast(CastOp::FToS), &[count], Type::I32);
        Val::from_slice(&[rest, quarters])
    }

    /// |x| = m * 2^(e-30) with a 32-bit m whose low 8 bits are 0, so that bits of 2/pi which give it a multiple of 4
    /// quarters can be left out: of |x| * 2/pi = m * 2^(e-30) * 0.b1b2… the bits from b(e-31) on, 96 of them, remain.
    fn reduced_large(&mut self, x: Value, size: Value) -> Val {
        let word = Type::I32;
        let bits = self.emit(Op::Cast(CastOp::Bitcast), &[size], word);
        let constant = |lower: &mut Self, bits: u32| lower.constant(word, bits.into());
        let (c23, c8, top, c129) =
            (constant(self, 23), constant(self, 8), constant(self, 1 << 31), constant(self, 129));
        let m = self.bin(BinOp::Shl, bits, c8);
        let m = self.bin(BinOp::Or, m, top);
        // The bits start at e = exponent field - 128; of words, at (e - 1) / 32, shifted by (e - 1) % 32 + 1.
        let exponent = self.bin(BinOp::LShr, bits, c23);
        let start = self.bin(BinOp::Sub, exponent, c129);
        let (c5, c31) = (constant(self, 5), constant(self, 31));
        let first = self.bin(BinOp::LShr, start, c5);
        let count = self.bin(BinOp::And, start, c31);
        let count = self.bin(BinOp::Sub, c31, count);
        let words: Vec<Value> = (0..4).map(|n| self.word_of_two_over_pi(first, n)).collect();
        let window = |lower: &mut Self, n: usize| {
            lower.emit(Op::Tern(TernOp::Fshr), &[words[n], words[n + 1], count], word)
        };
        let (high, middle, low) = (window(self, 0), window(self, 1), window(self, 2));
        // The product in units of 2^-62 quarters, modulo 4.
        let wide = Type::I64;
        let high = self.bin(BinOp::Mul, m, high);
        let low = self.bin(BinOp::UMulHi, m, low);
        let [high, low, middle, m] =
            [high, low, middle, m].map(|part| self.emit(Op::Cast(CastOp::Zext), &[part], wide));
        let product = self.bin(BinOp::Mul, m, middle);
        let (c2, c32, c62) = (self.constant(word, 2), self.constant(word, 32), self.constant(word, 62));
        let high = self.bin(BinOp::Shl, high, c32);
        let product = self.bin(BinOp::Add, product, low);
        let product = self.bin(BinOp::Add, product, high);
        // To the nearest quarter: the fraction is a signed number.
        let half = self.constant(wide, 1 << 61);
        let rounded = self.bin(BinOp::Add, product, half);
        let quarters = self.bin(BinOp::LShr, rounded, c62);
        let quarters = self.emit(Op::Cast(CastOp::Trunc), &[quarters], word);
        let fraction = self.bin(BinOp::Shl, product, c2);
        let fraction = self.emit(Op::Cast(CastOp::SToF), &[fraction], Type::F64);
        let unit = self.float(Type::F64, FRAC_PI_2 * 2f64.powi(-64));
        let rest = self.emit(Op::Bin(BinOp::FMul), &[fraction, unit], Type::F64);
        self.signed_rest(x, size, rest, quarters)
    }

    /// The parts of |x| as those of x; of infinity and NaN there are none.
    fn signed_rest(&mut self, x: Value, size: Value, rest: Value, quarters: Value) -> Val {
        let (zero, infinity) = (self.f32(0.0), self.f32(f32::INFINITY));
        let below = self.emit(Op::Fcmp(FloatCc::Olt), &[x, zero], Type::Bool);
        let negative = self.emit(Op::Un(UnOp::FNeg), &[rest], Type::F64);
        let rest = self.emit(Op::Select, &[below, negative, rest], Type::F64);
        let opposite = self.emit(Op::Un(UnOp::Neg), &[quarters], Type::I32);
        let quarters = self.emit(Op::Select, &[below, opposite, quarters], Type::I32);
        let finite = self.emit(Op::Fcmp(FloatCc::Olt), &[size, infinity], Type::Bool);
        let nan = self.float(Type::F64, f64::NAN);
        Val::from_slice(&[self.emit(Op::Select, &[finite, rest, nan], Type::F64), quarters])
    }

    /// Word `first + n - 1` of 2/pi, where `first` is 0 to 3; 0 in front of the point.
    fn word_of_two_over_pi(&mut self, first: Value, n: usize) -> Value {
        let word = |at: usize| at.checked_sub(1).map_or(0, |at| TWO_OVER_PI[at]);
        let mut value = self.constant(Type::I32, word(n + 3).into());
        for at in (0..3).rev() {
            let number = self.constant(Type::I32, at as u64);
            let is = self.emit(Op::Icmp(IntCc::Eq), &[first, number], Type::Bool);
            let this = self.constant(Type::I32, word(n + at).into());
            value = self.emit(Op::Select, &[is, this, value], Type::I32);
        }
        value
    }

    /// x + x^3 * (-1/3! + x^2/5! - …): the term left out is below 2^-28 of the sum.
    fn sin_series(&mut self, x: Value, square: Value) -> Value {
        let terms = [362_880.0, -5040.0, 120.0, -6.0].map(|n| 1.0 / n);
        let sum = self.polynomial(Type::F32, square, &terms);
        let cube = self.emit(Op::Bin(BinOp::FMul), &[square, x], Type::F32);
        self.emit(Op::Tern(TernOp::Fma), &[cube, sum, x], Type::F32)
    }

    /// 1 - x^2/2! + …: the term left out is below 2^-32.
    fn cos_series(&mut self, square: Value) -> Value {
        let terms = [-3_628_800.0, 40_320.0, -720.0, 24.0, -2.0, 1.0].map(|n| 1.0 / n);
        self.polynomial(Type::F32, square, &terms)
    }

    /// Horner's scheme, highest coefficient first.
    fn polynomial(&mut self, ty: Type, x: Value, terms: &[f64]) -> Value {
        let mut sum = self.float(ty, terms[0]);
        for &term in &terms[1..] {
            let term = self.float(ty, term);
            sum = self.emit(Op::Tern(TernOp::Fma), &[sum, x, term], ty);
        }
        sum
    }

    /// `x^y` = 2^(y log2 |x|), with the logarithm and its product in double precision, and what is special as in C.
    pub(super) fn pow(&mut self, x: Value, y: Value) -> Value {
        let (ty, wide) = (Type::F32, Type::F64);
        let (zero, one) = (self.f32(0.0), self.f32(1.0));
        let size = self.emit(Op::Un(UnOp::FAbs), &[x], ty);
        let log = self.log2_wide(size);
        let y_wide = self.emit(Op::Cast(CastOp::FExt), &[y], wide);
        let exponent = self.emit(Op::Bin(BinOp::FMul), &[y_wide, log], wide);
        // (-1)^inf is 1, as is 1^NaN below.
        let is_unit = self.emit(Op::Fcmp(FloatCc::Oeq), &[size, one], Type::Bool);
        let is_number = self.emit(Op::Fcmp(FloatCc::Ord), &[y, y], Type::Bool);
        let is_unit = self.emit(Op::Bin(BinOp::And), &[is_unit, is_number], Type::Bool);
        let nothing = self.float(wide, 0.0);
        let exponent = self.emit(Op::Select, &[is_unit, nothing, exponent], wide);
        let result = self.exp2_wide(exponent);
        let result = self.power_sign(x, y, size, result);
        let flat = self.emit(Op::Fcmp(FloatCc::Oeq), &[y, zero], Type::Bool);
        let unit = self.emit(Op::Fcmp(FloatCc::Oeq), &[x, one], Type::Bool);
        let is_one = self.emit(Op::Bin(BinOp::Or), &[flat, unit], Type::Bool);
        self.emit(Op::Select, &[is_one, one, result], ty)
    }

    /// log2 of a number that is not negative: of m * 2^e with m in [sqrt(1/2), sqrt(2)) it is e + 2 artanh(s) / ln 2
    /// with s = (m - 1) / (m + 1), |s| < 0.172.
    fn log2_wide(&mut self, x: Value) -> Value {
        let (ty, wide) = (Type::F32, Type::F64);
        let (mantissa, exponent) = (
            self.emit(Op::Un(UnOp::FrexpMant), &[x], ty),
            self.emit(Op::Un(UnOp::FrexpExp), &[x], Type::I32),
        );
        let limit = self.float(ty, FRAC_1_SQRT_2);
        let small = self.emit(Op::Fcmp(FloatCc::Olt), &[mantissa, limit], Type::Bool);
        let (c0, c1) = (self.constant(Type::I32, 0), self.constant(Type::I32, 1));
        let shift = self.emit(Op::Select, &[small, c1, c0], Type::I32);
        let mantissa = self.emit(Op::Bin(BinOp::Ldexp), &[mantissa, shift], ty);
        let exponent = self.bin(BinOp::Sub, exponent, shift);
        let m = self.emit(Op::Cast(CastOp::FExt), &[mantissa], wide);
        let one = self.float(wide, 1.0);
        let below = self.emit(Op::Bin(BinOp::FSub), &[m, one], wide);
        let above = self.emit(Op::Bin(BinOp::FAdd), &[m, one], wide);
        let s = self.emit(Op::Bin(BinOp::FDiv), &[below, above], wide);
        let square = self.emit(Op::Bin(BinOp::FMul), &[s, s], wide);
        let terms = [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].map(|n| 2.0 / LN_2 / n);
        let series = self.polynomial(wide, square, &terms);
        let whole = self.emit(Op::Cast(CastOp::SToF), &[exponent], wide);
        let log = self.emit(Op::Tern(TernOp::Fma), &[s, series, whole], wide);
        // frexp takes zero and infinity for themselves.
        let (zero, infinity) = (self.f32(0.0), self.f32(f32::INFINITY));
        let (least, most) = (self.float(wide, f64::NEG_INFINITY), self.float(wide, f64::INFINITY));
        let is_zero = self.emit(Op::Fcmp(FloatCc::Oeq), &[x, zero], Type::Bool);
        let is_infinite = self.emit(Op::Fcmp(FloatCc::Oeq), &[x, infinity], Type::Bool);
        let log = self.emit(Op::Select, &[is_zero, least, log], wide);
        self.emit(Op::Select, &[is_infinite, most, log], wide)
    }

    /// 2^x as `f32`.
    fn exp2_wide(&mut self, x: Value) -> Value {
        let (ty, wide) = (Type::F32, Type::F64);
        let (least, most) = (self.float(wide, -300.0), self.float(wide, 300.0));
        let bounded = self.emit(Op::Bin(BinOp::FMax), &[x, least], wide);
        let bounded = self.emit(Op::Bin(BinOp::FMin), &[bounded, most], wide);
        let whole = self.emit(Op::Un(UnOp::FRound), &[bounded], wide);
        let part = self.emit(Op::Bin(BinOp::FSub), &[bounded, whole], wide);
        let part = self.emit(Op::Cast(CastOp::FTrunc), &[part], ty);
        let power = self.emit(Op::Un(UnOp::NativeExp2), &[part], ty);
        let count = self.emit(Op::Cast(CastOp::FToS), &[whole], Type::I32);
        let result = self.emit(Op::Bin(BinOp::Ldexp), &[power, count], ty);
        let is_number = self.emit(Op::Fcmp(FloatCc::Ord), &[x, x], Type::Bool);
        let nan = self.f32(f32::NAN);
        self.emit(Op::Select, &[is_number, result, nan], ty)
    }

    /// Odd powers keep the sign of `x`; a negative number has only whole powers.
    fn power_sign(&mut self, x: Value, y: Value, size: Value, result: Value) -> Value {
        let ty = Type::F32;
        let is_whole = self.is_whole(y);
        let half = self.f32(0.5);
        let half = self.emit(Op::Bin(BinOp::FMul), &[y, half], ty);
        let is_even = self.is_whole(half);
        let odd = self.emit(Op::Un(UnOp::Not), &[is_even], Type::Bool);
        let odd = self.emit(Op::Bin(BinOp::And), &[odd, is_whole], Type::Bool);
        let signed = self.copysign(ty, &[result, x]);
        let result = self.emit(Op::Select, &[odd, signed, result], ty);
        let (zero, infinity, nan) = (self.f32(0.0), self.f32(f32::INFINITY), self.f32(f32::NAN));
        let below = self.emit(Op::Fcmp(FloatCc::Olt), &[x, zero], Type::Bool);
        let finite = self.emit(Op::Fcmp(FloatCc::Olt), &[size, infinity], Type::Bool);
        let broken = self.emit(Op::Un(UnOp::Not), &[is_whole], Type::Bool);
        let wrong = self.emit(Op::Bin(BinOp::And), &[below, finite], Type::Bool);
        let wrong = self.emit(Op::Bin(BinOp::And), &[wrong, broken], Type::Bool);
        self.emit(Op::Select, &[wrong, nan, result], ty)
    }

    fn is_whole(&mut self, x: Value) -> Value {
        let whole = self.emit(Op::Un(UnOp::FTrunc), &[x], Type::F32);
        self.emit(Op::Fcmp(FloatCc::Oeq), &[whole, x], Type::Bool)
    }
}
