//! Floating-point helpers with the machine's rules for special values.

/// What the helpers need of a format.
pub(crate) trait Ieee: Copy + PartialOrd {
    /// Bits of the exponent field's maximum.
    const EXPONENT_MAX: i32;
    /// Exponent difference from which the quotient may overflow: only the denominator is scaled.
    const SCALE_DIFFERENCE: i32;
    /// Scale of `v_div_scale`.
    const SCALE: i32;
    /// Numerators with an exponent field up to this are scaled.
    const TINY_NUMERATOR: i32;
    /// Quotients with a smaller exponent difference underflow.
    const UNDERFLOW_DIFFERENCE: i32;
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
    fn sign_bit() -> u64;
    fn infinity() -> u64;
    fn quiet_bit() -> u64;
    fn scale(self, exponent: i32) -> Self;
    fn reciprocal(self) -> Self;
    fn quotient(self, denominator: Self) -> Self;

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
    /// The exponent field.
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
            const EXPONENT_MAX: i32 = $max;
            const SCALE_DIFFERENCE: i32 = $difference;
            const SCALE: i32 = $scale;
            const TINY_NUMERATOR: i32 = $tiny;
            const UNDERFLOW_DIFFERENCE: i32 = $under;
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
            fn scale(self, exponent: i32) -> Self {
                libm::ldexp(f64::from(self), exponent) as $ty
            }
            fn reciprocal(self) -> Self {
                1.0 / self
            }
            fn quotient(self, denominator: Self) -> Self {
                self / denominator
            }
        }
    };
}

ieee!(f32, u32, 255, 96, 64, 23, -150);
ieee!(f64, u64, 2047, 768, 128, 53, -1075);

/// Denormals become zero.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(value) } else { value }
}

/// The smaller one; a number before a NaN; -0 before +0. In IEEE mode signalling NaNs win and are quieted.
#[inline(always)]
pub(crate) fn min<T: Ieee, const IEEE: bool>(a: T, b: T) -> T {
    let smaller = if a < b || (a.zero() && b.zero() && a.negative()) { a } else { b };
    prefer_numbers::<T, IEEE>(a, b, smaller)
}

/// The larger one, by the same rules.
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

/// The middle one of three; the smallest if one is a NaN.
#[inline(always)]
pub(crate) fn median<T: Ieee, const IEEE: bool>(a: T, b: T, c: T) -> T {
    let smallest = min::<T, IEEE>(min::<T, IEEE>(a, b), c);
    if a.nan() || b.nan() || c.nan() {
        return smallest;
    }
    max::<T, IEEE>(min::<T, IEEE>(a, b), min::<T, IEEE>(max::<T, IEEE>(a, b), c))
}

/// `2^exponent`, for exponents of normal numbers.
#[inline(always)]
pub(crate) fn two_to_the(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Sine of an angle in turns; zero outside of the hardware's range of 256 turns.
pub(crate) fn sin_turns(turns: f64) -> f64 {
    periodic(turns, libm::sin, 0.0)
}

/// Cosine of an angle in turns; one outside of the hardware's range.
pub(crate) fn cos_turns(turns: f64) -> f64 {
    periodic(turns, libm::cos, 1.0)
}

fn periodic(turns: f64, f: fn(f64) -> f64, outside: f64) -> f64 {
    if turns.abs() > 256.0 && turns.is_finite() {
        return outside;
    }
    f((turns - turns.trunc()) * std::f64::consts::TAU)
}

/// `v_div_scale`: `value` is the denominator or the numerator; scaled so that the Newton iterations of a division
/// neither overflow nor lose denormals. The flag says whether the quotient has to be scaled back by `v_div_fmas`.
pub(crate) fn div_scale<T: Ieee>(value: T, denominator: T, numerator: T) -> (T, bool) {
    let is_denominator = value.bits() == denominator.bits();
    let is_numerator = value.bits() == numerator.bits();
    let scaled_if = |condition: bool| if condition { value.scale(T::SCALE) } else { value };
    if numerator.zero() || denominator.zero() {
        return (T::of_bits(T::infinity() | T::quiet_bit()), false);
    }
    let tiny_reciprocal = denominator.reciprocal().denormal();
    let tiny_quotient = numerator.quotient(denominator).denormal();
    if numerator.exponent() - denominator.exponent() >= T::SCALE_DIFFERENCE {
        (scaled_if(is_denominator), true)
    } else if denominator.denormal() {
        (value.scale(T::SCALE), false)
    } else if tiny_reciprocal && tiny_quotient {
        // The manual says +SCALE, which would make the denominator infinite; the flag scales the quotient down.
        (if is_denominator { value.scale(-T::SCALE) } else { value }, true)
    } else if tiny_reciprocal {
        (value.scale(-T::SCALE), false)
    } else if tiny_quotient {
        (scaled_if(is_numerator), true)
    } else if numerator.exponent() <= T::TINY_NUMERATOR {
        (value.scale(T::SCALE), false)
    } else {
        (value, false)
    }
}

/// `v_div_fmas` in f32: the last step of the division, scaled back where `v_div_scale` says so: up if the quotient
/// is large (the denominator was scaled), down if it is small (the numerator was).
#[inline(always)]
pub(crate) fn div_fmas32(a: f32, b: f32, c: f32, flag: bool) -> f32 {
    if !flag {
        return a.mul_add(b, c);
    }
    // One rounding to f32: the product is exact in double precision.
    let value = f64::from(a) * f64::from(b) + f64::from(c);
    (value * two_to_the(if c.exponent() > 127 { 64 } else { -64 })) as f32
}

/// The same in f64.
#[inline(always)]
pub(crate) fn div_fmas64(a: f64, b: f64, c: f64, flag: bool) -> f64 {
    let value = a.mul_add(b, c);
    match flag {
        false => value,
        true if c.exponent() > 1023 => value * two_to_the(128),
        true => scaled_down64(value, a, b, c),
    }
}

/// `(a * b + c) * 2^-128` with one rounding, given the rounded sum. If that one lies half-way between two denormals, what
/// its rounding cut off decides.
fn scaled_down64(sum: f64, a: f64, b: f64, c: f64) -> f64 {
    let scaled = sum * two_to_the(-128);
    let half = two_to_the(128 - 1075);
    if (sum - scaled * two_to_the(128)).abs() != half {
        return scaled;
    }
    // Two-product and two-sum (Dekker; Knuth): a * b + c = first + low + error.
    let product = a * b;
    let error = a.mul_add(b, -product);
    let first = product + c;
    let part = first - product;
    let low = (product - (first - part)) + (c - part);
    let rest = ((first - sum) + low) + error;
    if rest == 0.0 { scaled } else { (sum + half.copysign(rest)) * two_to_the(-128) }
}

/// `v_div_fixup`: the quotient, unless the operands are special.
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
        // A quotient that overflowed has become a NaN in the iterations.
        T::infinity()
    } else {
        quotient.magnitude()
    };
    T::of_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// The instruction sequence of a division, as compilers emit it, gives the correctly rounded quotient.
    fn divide(n: f32, d: f32) -> f32 {
        let (scaled_d, _) = div_scale(d, d, n);
        let (scaled_n, flag) = div_scale(n, d, n);
        let rcp = (1.0 / f64::from(scaled_d)) as f32;
        let error = (-scaled_d).mul_add(rcp, 1.0);
        let rcp = error.mul_add(rcp, rcp);
        let q = scaled_n * rcp;
        let q = (-scaled_d).mul_add(q, scaled_n).mul_add(rcp, q);
        let rest = (-scaled_d).mul_add(q, scaled_n);
        div_fixup(div_fmas32(rest, rcp, q, flag), d, n)
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
