//! Floating-point helpers that follow the hardware's rules for special values.

use half::f16;

/// The properties of a floating-point format that the helpers need.
pub(crate) trait Ieee: Copy + PartialOrd {
    const NAME: &'static str;
    /// Maximum value of the exponent field.
    const EXPONENT_MAX: i32;
    /// If the exponent of the numerator exceeds that of the denominator by this difference or more, the
    /// quotient may overflow. Only the denominator is scaled then.
    const SCALE_DIFFERENCE: i32;
    /// Exponent of the power of two by which `v_div_scale` scales.
    const SCALE: i32;
    /// Exponent of the power of two by which `v_div_fmas` scales the quotient back.
    const BACK: i32 = Self::SCALE;
    /// Largest exponent field of a numerator that counts as tiny. A tiny numerator is scaled.
    const TINY_NUMERATOR: i32;
    /// If the exponent of the numerator minus that of the denominator is below this limit, the quotient
    /// underflows to zero.
    const UNDERFLOW_DIFFERENCE: i32;
    /// The largest number of the format that is below one.
    const BELOW_ONE: Self;
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
    fn sign_bit() -> u64;
    fn infinity() -> u64;
    fn quiet_bit() -> u64;
    /// Returns whether the reciprocal of the number would be denormal.
    fn tiny_reciprocal(self) -> bool;
    /// Returns whether the quotient would be a denormal, or so small that it may round to zero. Operands with
    /// such a quotient need scaling, so that the quotient is rounded only once. The manual names only
    /// denormals.
    fn tiny_quotient(self, denominator: Self) -> bool;

    #[inline(always)]
    fn negated(self) -> Self {
        Self::of_bits(self.bits() ^ Self::sign_bit())
    }
    #[inline(always)]
    fn magnitude(self) -> u64 {
        self.bits() & !Self::sign_bit()
    }
    #[inline(always)]
    fn negative(self) -> bool {
        self.bits() & Self::sign_bit() != 0
    }
    #[inline(always)]
    fn nan(self) -> bool {
        self.magnitude() > Self::infinity()
    }
    #[inline(always)]
    fn signalling(self) -> bool {
        self.nan() && self.bits() & Self::quiet_bit() == 0
    }
    #[inline(always)]
    fn quieted(self) -> Self {
        Self::of_bits(self.bits() | Self::quiet_bit())
    }
    #[inline(always)]
    fn infinite(self) -> bool {
        self.magnitude() == Self::infinity()
    }
    #[inline(always)]
    fn zero(self) -> bool {
        self.magnitude() == 0
    }
    /// Returns the exponent field of the number.
    #[inline(always)]
    fn exponent(self) -> i32 {
        (self.magnitude() / (Self::quiet_bit() * 2)) as i32
    }
    #[inline(always)]
    fn denormal(self) -> bool {
        self.exponent() == 0 && !self.zero()
    }
}

macro_rules! ieee {
    ($ty:ident, $bits:ident, $max:literal, $difference:literal, $scale:literal, $tiny:literal, $under:literal) => {
        impl Ieee for $ty {
            const NAME: &'static str = stringify!($ty);
            const EXPONENT_MAX: i32 = $max;
            const SCALE_DIFFERENCE: i32 = $difference;
            const SCALE: i32 = $scale;
            const TINY_NUMERATOR: i32 = $tiny;
            const UNDERFLOW_DIFFERENCE: i32 = $under;
            const BELOW_ONE: $ty = $ty::from_bits((1.0 as $ty).to_bits() - 1);
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn of_bits(bits: u64) -> Self {
                $ty::from_bits(bits as $bits)
            }
            #[inline(always)]
            fn sign_bit() -> u64 {
                1 << ($bits::BITS - 1)
            }
            #[inline(always)]
            fn infinity() -> u64 {
                u64::from($ty::INFINITY.to_bits())
            }
            #[inline(always)]
            fn quiet_bit() -> u64 {
                1 << ($ty::MANTISSA_DIGITS - 2)
            }
            fn tiny_reciprocal(self) -> bool {
                (1.0 / self).denormal()
            }
            fn tiny_quotient(self, denominator: Self) -> bool {
                let quotient = self / denominator;
                quotient == 0.0 || quotient.denormal()
            }
        }
    };
}

ieee!(f32, u32, 255, 96, 64, 23, -150);
ieee!(f64, u64, 2047, 768, 128, 53, -1075);

/// The constants for `v_div_scale` have no effect for f16. The instruction `v_div_scale_f16` does not exist,
/// because quotients of halves are computed in f32.
impl Ieee for f16 {
    const NAME: &'static str = "f16";
    const EXPONENT_MAX: i32 = 31;
    const SCALE_DIFFERENCE: i32 = i32::MAX;
    const SCALE: i32 = 0;
    const TINY_NUMERATOR: i32 = -1;
    const UNDERFLOW_DIFFERENCE: i32 = i32::MIN;
    const BELOW_ONE: f16 = f16::from_bits(0x3bff);
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline(always)]
    fn of_bits(bits: u64) -> Self {
        f16::from_bits(bits as u16)
    }
    #[inline(always)]
    fn sign_bit() -> u64 {
        1 << 15
    }
    #[inline(always)]
    fn infinity() -> u64 {
        0x7c00
    }
    #[inline(always)]
    fn quiet_bit() -> u64 {
        1 << 9
    }
    fn tiny_reciprocal(self) -> bool {
        false
    }
    fn tiny_quotient(self, _: Self) -> bool {
        false
    }
}

/// Converts a half to f32 without changing the value; a NaN becomes quiet. The code has no branches, so that
/// the Rust compiler can vectorise it.
#[inline(always)]
pub(crate) fn half_to_single(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let magnitude = bits & 0x7fff;
    // The exponent biases of f16 and f32 differ by 112. Multiplying by 2^112 adjusts the exponent, also for
    // denormals.
    let number = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
    let quiet = if magnitude > 0x7c00 { 0x0040_0000 } else { 0 };
    let special = magnitude << 13 | 0x7f80_0000 | quiet;
    f32::from_bits(if magnitude < 0x7c00 { number } else { special } | (bits & 0x8000) << 16)
}

/// Converts an f32 to the nearest half; a NaN becomes quiet.
#[inline(always)]
pub(crate) fn single_to_half(value: f32) -> f16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13;
    // Adding 0.5 rounds the number to the precision of a denormal half, because the last place of 0.5 in f32
    // has the same unit as a denormal half.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let number = if magnitude < 0x3880_0000 { denormal } else { normal };
    let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    let special = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
    let half = if magnitude < 0x4780_0000 { number } else { special };
    f16::from_bits((half | (bits >> 16 & 0x8000)) as u16)
}

/// Converts an f64 to the nearest f16 with the result of a single rounding. The value goes through f32. If
/// the conversion to f32 is inexact, it rounds to odd, so that the second rounding to f16 gives the right
/// result.
#[inline(always)]
pub(crate) fn double_to_half(value: f64) -> f16 {
    let single = value as f32;
    let back = f64::from(single);
    if back == value || value.is_nan() {
        return single_to_half(single);
    }
    let bits = single.to_bits() - u32::from(back.abs() > value.abs());
    single_to_half(f32::from_bits(bits | 1))
}

/// Returns the sum of two f64, rounded to odd: if the sum is inexact, it is truncated and its lowest bit is
/// set. A later rounding to fewer bits then gives the same result as a single rounding of the exact sum.
#[inline(always)]
pub(crate) fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The rounding error of the sum. Knuth's two-sum algorithm computes it exactly. It is a NaN if the sum is
    // infinite or a NaN.
    let from_b = sum - a;
    let lost = (a - (sum - from_b)) + (b - from_b);
    let bits = sum.to_bits();
    match lost.abs() > 0.0 {
        true if (lost > 0.0) == (sum > 0.0) => f64::from_bits(bits | 1),
        true => f64::from_bits((bits - 1) | 1),
        false => sum,
    }
}

/// Returns the bits of the significand as C's function `frexp` gives it, in the range 0.5..1.0. Returns
/// zeros, infinities and NaNs unchanged.
pub(crate) fn mantissa<T: Ieee>(value: T) -> u64 {
    if value.zero() || value.infinite() || value.nan() {
        return value.bits();
    }
    let (fraction, _) = split(value);
    let half = (T::EXPONENT_MAX as u64 / 2 - 1) * (T::quiet_bit() * 2);
    value.bits() & T::sign_bit() | half | fraction
}

/// Returns the exponent as C's function `frexp` gives it, so that the number is [`mantissa`] times two to
/// this power. Returns `None` for infinities and NaNs.
pub(crate) fn exponent<T: Ieee>(value: T) -> Option<i32> {
    match value {
        _ if value.infinite() || value.nan() => None,
        _ if value.zero() => Some(0),
        _ => Some(split(value).1),
    }
}

/// Splits a nonzero number into its fraction bits and its exponent, as C's `frexp` defines the exponent.
fn split<T: Ieee>(value: T) -> (u64, i32) {
    let hidden = T::quiet_bit() * 2;
    let fraction = value.magnitude() & (hidden - 1);
    let bias = T::EXPONENT_MAX / 2 - 1;
    if value.exponent() != 0 {
        return (fraction, value.exponent() - bias);
    }
    let shift = fraction.leading_zeros() - hidden.leading_zeros();
    (fraction << shift & (hidden - 1), 1 - shift as i32 - bias)
}

/// Returns the element of `of` for the coordinate of a direction that has the largest magnitude. `of` has one
/// element for each of the coordinates x, y and z. If magnitudes are equal, z is preferred to y, and y to x.
#[inline(always)]
fn cube_axis<T>(x: f32, y: f32, z: f32, of: [T; 3]) -> T {
    let [of_x, of_y, of_z] = of;
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        of_z
    } else if y.abs() >= x.abs() {
        of_y
    } else {
        of_x
    }
}

/// Returns the number of the face of a cube map to which a direction points: 0 for +x, 1 for -x, 2 for +y,
/// and so on (Vega ISA, V_CUBEID_F32).
#[inline(always)]
pub(crate) fn cube_face(x: f32, y: f32, z: f32) -> f32 {
    let side = |value: f32| if value < 0.0 { 1.0 } else { 0.0 };
    cube_axis(x, y, z, [side(x), 2.0 + side(y), 4.0 + side(z)])
}

/// Returns twice the coordinate with the largest magnitude, which is the major axis of the direction
/// (V_CUBEMA_F32).
#[inline(always)]
pub(crate) fn cube_major(x: f32, y: f32, z: f32) -> f32 {
    2.0 * cube_axis(x, y, z, [x, y, z])
}

#[inline(always)]
pub(crate) fn cube_s(x: f32, y: f32, z: f32) -> f32 {
    cube_axis(x, y, z, [if x < 0.0 { z } else { -z }, x, if z < 0.0 { -x } else { x }])
}

#[inline(always)]
pub(crate) fn cube_t(x: f32, y: f32, z: f32) -> f32 {
    cube_axis(x, y, z, [-y, if y < 0.0 { -z } else { z }, -y])
}

/// Returns the smaller of two values. A number is preferred to a NaN, and -0 to +0. In IEEE mode, a
/// signalling NaN operand is returned as a quiet NaN.
#[inline(always)]
pub(crate) fn min<T: Ieee, const IEEE: bool>(a: T, b: T) -> T {
    let smaller = if a < b || (a.zero() && b.zero() && a.negative()) { a } else { b };
    prefer_numbers::<T, IEEE>(a, b, smaller)
}

/// Returns the larger value, by the same rules as [`min`], except that +0 is preferred to -0.
#[inline(always)]
pub(crate) fn max<T: Ieee, const IEEE: bool>(a: T, b: T) -> T {
    let larger = if a > b || (a.zero() && b.zero() && b.negative()) { a } else { b };
    prefer_numbers::<T, IEEE>(a, b, larger)
}

#[inline(always)]
fn prefer_numbers<T: Ieee, const IEEE: bool>(a: T, b: T, chosen: T) -> T {
    let value = if a.nan() {
        b
    } else if b.nan() {
        a
    } else {
        chosen
    };
    if IEEE && a.signalling() {
        a.quieted()
    } else if IEEE && b.signalling() {
        b.quieted()
    } else {
        value
    }
}

/// Returns the middle one of three values. If one of the values is a NaN, returns the smallest value.
#[inline(always)]
pub(crate) fn median<T: Ieee, const IEEE: bool>(a: T, b: T, c: T) -> T {
    let smallest = min::<T, IEEE>(min::<T, IEEE>(a, b), c);
    if a.nan() || b.nan() || c.nan() {
        return smallest;
    }
    max::<T, IEEE>(min::<T, IEEE>(a, b), min::<T, IEEE>(max::<T, IEEE>(a, b), c))
}

/// Returns the sine of an angle that is given in turns. Beyond 256 turns, the hardware returns zero.
pub(crate) fn sin_turns(turns: f64) -> f64 {
    periodic(turns, libm::sin, 0.0)
}

/// Returns the cosine of an angle that is given in turns. Beyond 256 turns, the hardware returns one.
pub(crate) fn cos_turns(turns: f64) -> f64 {
    periodic(turns, libm::cos, 1.0)
}

fn periodic(turns: f64, f: fn(f64) -> f64, outside: f64) -> f64 {
    if turns.abs() > 256.0 && turns.is_finite() {
        return outside;
    }
    f((turns - turns.trunc()) * std::f64::consts::TAU)
}

/// Implements `v_div_scale`, which scales an operand of a division by a power of two. The division uses
/// Newton iterations; with scaled operands, these neither overflow nor lose denormals. `value` is the operand
/// to scale, and is either the denominator or the numerator.
///
/// Returns the exponent of the power of two, or `None` if the result is a NaN. Also returns whether
/// `v_div_fmas` has to scale the quotient back.
pub(crate) fn div_scale<T: Ieee>(value: T, denominator: T, numerator: T) -> (Option<i32>, bool) {
    let is_denominator = value.bits() == denominator.bits();
    let is_numerator = value.bits() == numerator.bits();
    let scaled_if = |condition: bool| Some(if condition { T::SCALE } else { 0 });
    if numerator.zero() || denominator.zero() {
        return (None, false);
    }
    let tiny_reciprocal = denominator.tiny_reciprocal();
    let tiny_quotient = numerator.tiny_quotient(denominator);
    if numerator.exponent() - denominator.exponent() >= T::SCALE_DIFFERENCE {
        (scaled_if(is_denominator), true)
    } else if denominator.denormal() {
        (Some(T::SCALE), false)
    } else if tiny_reciprocal && tiny_quotient {
        // According to the manual, the denominator is multiplied by two to the power of +SCALE in this case,
        // but this would make it infinite. So the power here is -SCALE. The flag tells `v_div_fmas` to scale
        // the quotient back.
        (Some(if is_denominator { -T::SCALE } else { 0 }), true)
    } else if tiny_reciprocal {
        (Some(-T::SCALE), false)
    } else if tiny_quotient {
        (scaled_if(is_numerator), true)
    } else if numerator.exponent() <= T::TINY_NUMERATOR {
        (Some(T::SCALE), false)
    } else {
        (Some(0), false)
    }
}

/// Implements `v_div_fixup`, the last step of a division: corrects the quotient for special operands such as
/// zeros and infinities.
pub(crate) fn div_fixup<T: Ieee>(quotient: T, denominator: T, numerator: T) -> T {
    let sign = (denominator.bits() ^ numerator.bits()) & T::sign_bit();
    let difference = numerator.exponent() - denominator.exponent();
    let magnitude = if numerator.nan() {
        return numerator.quieted();
    } else if denominator.nan() {
        return denominator.quieted();
    } else if denominator.zero() && numerator.zero() || denominator.infinite() && numerator.infinite() {
        return T::of_bits(T::sign_bit() | T::infinity() | T::quiet_bit());
    } else if denominator.zero() || numerator.infinite() {
        T::infinity()
    } else if denominator.infinite() || numerator.zero() || difference < T::UNDERFLOW_DIFFERENCE {
        0
    } else if denominator.exponent() == T::EXPONENT_MAX || quotient.nan() {
        // The quotient overflows. The Newton iterations give a NaN in this case, but the right result is
        // infinity.
        T::infinity()
    } else {
        quotient.magnitude()
    };
    T::of_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::{self, Round};

    #[test]
    fn halves_and_singles() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let wide = half_to_single(half);
            assert_eq!(
                f64::from(wide).to_bits() & !(1 << 51),
                half.to_f64().to_bits() & !(1 << 51),
                "{bits:#x}"
            );
            // Values between this half and the next: the tie, and values next to the tie.
            for step in [0u32, 0xfff, 0x1000, 0x1001, 0x1fff] {
                let value = f32::from_bits(wide.to_bits() + step);
                let (got, expected) = (single_to_half(value), f16::from_f32(value));
                assert!(got.to_bits() == expected.to_bits() || got.is_nan() && value.is_nan(), "{value:e}");
            }
        }
        assert_eq!(single_to_half(1e-40), f16::from_bits(0));
        assert_eq!(single_to_half(-3e-8).to_bits(), f16::from_f32(-3e-8).to_bits());
    }

    #[test]
    fn mantissas() {
        for value in [1.0f64, -0.75, 1e300, 5e-324, -3e-310, 0.0, 123.456] {
            let (fraction, power) = libm::frexp(value);
            assert_eq!(f64::from_bits(mantissa(value)), fraction);
            assert_eq!(exponent(value), Some(power));
        }
        assert_eq!(exponent(f32::INFINITY), None);
        assert_eq!(f32::from_bits(mantissa(1e-45f32) as u32), 0.5);
        assert_eq!(exponent(f16::from_bits(1)), Some(-23));
    }

    #[test]
    fn faces_of_a_cube() {
        assert_eq!([cube_face(1.0, 0.5, 0.2), cube_face(-1.0, 0.5, 0.2)], [0.0, 1.0]);
        assert_eq!([cube_face(0.0, 2.0, 1.0), cube_face(0.0, -2.0, 1.0)], [2.0, 3.0]);
        assert_eq!([cube_face(1.0, 1.0, 1.0), cube_face(1.0, 1.0, -1.0)], [4.0, 5.0]);
        assert_eq!(
            [cube_s(-3.0, 1.0, 2.0), cube_t(-3.0, 1.0, 2.0), cube_major(-3.0, 1.0, 2.0)],
            [2.0, -1.0, -6.0]
        );
    }

    const SIGNALLING: f32 = f32::from_bits(0x7f80_0001);

    #[test]
    fn extrema_of_special_values() {
        assert_eq!(min::<f32, false>(0.0, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(min::<f32, false>(-0.0, 0.0).to_bits(), 0x8000_0000);
        assert_eq!(max::<f32, false>(-0.0, 0.0).to_bits(), 0);
        assert_eq!(max::<f32, false>(0.0, -0.0).to_bits(), 0);
        assert_eq!(min::<f32, false>(f32::NAN, 1.0), 1.0);
        assert_eq!(max::<f32, false>(1.0, f32::NAN), 1.0);
        assert_eq!(min::<f32, true>(SIGNALLING, 1.0).to_bits(), 0x7fc0_0001);
        assert_eq!(min::<f32, false>(SIGNALLING, 1.0), 1.0);
        assert_eq!(median::<f32, true>(3.0, 1.0, 2.0), 2.0);
        assert_eq!(median::<f32, true>(3.0, f32::NAN, 2.0), 2.0);
    }

    #[test]
    fn fixup_of_special_values() {
        assert!(div_fixup(1.0f32, 0.0, 0.0).is_nan());
        assert_eq!(div_fixup(1.0f32, -0.0, 2.0), f32::NEG_INFINITY);
        assert_eq!(div_fixup(1.0f64, f64::INFINITY, -2.0).to_bits(), 1 << 63);
        assert_eq!(div_fixup(-3.0f64, 2.0, 6.0), 3.0);
    }

    /// Divides by the instruction sequence that compilers emit; the result is the correctly rounded quotient.
    fn divide(n: f32, d: f32) -> f32 {
        let scaled = |value: f32| match div_scale(value, d, n) {
            (Some(power), flag) => (libm::ldexp(f64::from(value), power) as f32, flag),
            (None, flag) => (f32::NAN, flag),
        };
        let (scaled_d, _) = scaled(d);
        let (scaled_n, flag) = scaled(n);
        let rcp = (1.0 / f64::from(scaled_d)) as f32;
        let error = (-scaled_d).mul_add(rcp, 1.0);
        let rcp = error.mul_add(rcp, rcp);
        let q = scaled_n * rcp;
        let q = (-scaled_d).mul_add(q, scaled_n).mul_add(rcp, q);
        let rest = (-scaled_d).mul_add(q, scaled_n);
        let power = match flag {
            false => 0,
            true if q.exponent() > 127 => 64,
            true => -64,
        };
        let bits = |value: f32| u64::from(value.to_bits());
        let scaled = soft::fma_scaled::<soft::Single>(Round::NEAREST, bits(rest), bits(rcp), bits(q), power);
        div_fixup(f32::from_bits(scaled as u32), d, n)
    }

    #[test]
    fn division_sequence() {
        let values = [
            1.0,
            3.0,
            -7.5,
            1e-38,
            3e38,
            1e-44,
            1.17e-38,
            0.1,
            65535.0,
            1e20,
            2e-20,
            0.0,
            -0.0,
            f32::INFINITY,
        ];
        for n in values {
            for d in values {
                let (got, expected) = (divide(n, d), n / d);
                let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                assert!(same, "{n} / {d}: {got} is not {expected}");
            }
        }
    }
}
