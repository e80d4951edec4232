//! IEEE binary16 (half precision) arithmetic, computed with `f64`.
//!
//! The sum and the product of two halves are exact in `f64`. Quotients, square roots and sums of three terms
//! are not exact in `f64`, but rounding them again to a half gives the same result as rounding once. The
//! reason is that `f64` has 53 bits where 2 * 11 + 2 would suffice: S. A. Figueroa, "When is double rounding
//! innocuous?", 1995.

use std::cmp::Ordering;

/// A half, stored as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half(pub u16);

/// Bits of an infinity; also the mask of the exponent.
const INFINITY: u16 = 0x7c00;
/// Least exponent of a normal number.
const MIN_EXPONENT: i32 = -14;
/// Least number that rounds to infinity.
const OVERFLOW: f64 = 65520.0;

impl Half {
    /// Returns the nearest half, with ties to even. A NaN keeps its sign and the high bits of its payload,
    /// and becomes quiet.
    pub fn nearest(x: f64) -> Half {
        let bits = x.to_bits();
        let sign = (bits >> 63 << 15) as u16;
        if x.is_nan() {
            return Half(sign | INFINITY | 0x200 | (bits >> 42) as u16 & 0x3ff);
        }
        let size = x.abs();
        if size >= OVERFLOW {
            return Half(sign | INFINITY);
        }
        // Expresses the magnitude in units of the last place of the half. This is exact because the factor is
        // a power of two. If rounding gives 2^10 units or more, the addition below carries into the exponent
        // field.
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(MIN_EXPONENT);
        let units = (size * power(10 - exponent)).round_ties_even() as u16;
        Half(sign | (((exponent - MIN_EXPONENT) as u16) << 10).wrapping_add(units))
    }

    /// Returns the number as an `f64`.
    pub fn wide(self) -> f64 {
        let sign = u64::from(self.0 >> 15) << 63;
        let (exponent, mantissa) = (i32::from(self.0 >> 10 & 0x1f), self.0 & 0x3ff);
        let size = match exponent {
            0x1f => f64::from_bits(0x7ff << 52 | u64::from(mantissa) << 42),
            0 => f64::from(mantissa) * power(MIN_EXPONENT - 10),
            _ => f64::from(mantissa | 0x400) * power(exponent - 25),
        };
        f64::from_bits(size.to_bits() | sign)
    }
}

/// Returns 2^n, which must be a normal number.
fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

impl PartialOrd for Half {
    fn partial_cmp(&self, other: &Half) -> Option<Ordering> {
        self.wide().partial_cmp(&other.wide())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that every half rounds to itself, a number between two halves to the nearer half, and the
    /// midpoint to the even half.
    #[test]
    fn rounding() {
        for bits in 0..INFINITY {
            let (here, next) = (Half(bits), Half(bits + 1));
            assert_eq!(Half::nearest(here.wide()), here);
            assert_eq!(Half::nearest(-here.wide()), Half(bits | 0x8000));
            let above = if next.0 == INFINITY { 65536.0 } else { next.wide() };
            let middle = (here.wide() + above) / 2.0;
            let even = if bits & 1 == 0 { here } else { next };
            assert_eq!(Half::nearest(middle), even, "{bits:#x}");
            assert_eq!(Half::nearest(middle.next_down()), here, "{bits:#x}");
            assert_eq!(Half::nearest(middle.next_up()), next, "{bits:#x}");
        }
    }

    #[test]
    fn specials() {
        assert_eq!(Half(0x3c00).wide(), 1.0);
        assert_eq!(Half(0x7bff).wide(), 65504.0);
        assert_eq!(Half(1).wide(), 2f64.powi(-24));
        assert_eq!(Half(0xfc00).wide(), f64::NEG_INFINITY);
        assert_eq!(Half::nearest(f64::MAX), Half(INFINITY));
        assert_eq!(Half::nearest(Half(0xfd01).wide()), Half(0xff01));
        assert!(Half(0x7c01).wide().is_nan());
    }
}
