//! Compares buffers. Counts the elements that differ by more than a tolerance, and lists the largest
//! differences.

use crate::buffer::{Buffer, Number};
use std::fmt;

/// Maximum number of differences that are listed.
const KEPT: usize = 10;

/// Allowed difference from an expected number: `absolute + relative * |expected|`, as in NumPy's `allclose`.
/// The default is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Allowed difference relative to the expected number.
    pub relative: f64,
    /// Allowed absolute difference.
    pub absolute: f64,
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.relative, self.absolute) {
            (0.0, 0.0) => f.write_str("no tolerance"),
            (relative, absolute) => write!(f, "rtol {relative:?}, atol {absolute:?}"),
        }
    }
}

impl Tolerance {
    fn allows(&self, error: f64, expected: Number) -> bool {
        error == 0.0 || error.is_finite() && error <= self.absolute + self.relative * float(expected).abs()
    }
}

/// Returns the distance between two numbers. It is 0 for two NaNs and for zeros of both signs. An infinity is
/// infinitely far from all other numbers.
fn distance(found: Number, expected: Number) -> f64 {
    if let (Number::Int(found), Number::Int(expected)) = (found, expected) {
        return found.abs_diff(expected) as f64;
    }
    let (found, expected) = (float(found), float(expected));
    match found - expected {
        _ if found == expected || found.is_nan() && expected.is_nan() => 0.0,
        error if error.is_nan() => f64::INFINITY,
        error => error.abs(),
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Int(value) => value as f64,
        Number::Float(value) => value,
    }
}

/// An element that differs from its expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Index of the element.
    pub index: usize,
    /// Expected value.
    pub expected: Number,
    /// Actual value.
    pub found: Number,
    /// Distance between the two values. It is infinite if one of them is a NaN or an infinity.
    pub error: f64,
}

/// The differences between two buffers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// Number of elements that differ.
    pub count: usize,
    /// Total number of elements.
    pub total: usize,
    /// The largest differences, in descending order.
    pub worst: Vec<Difference>,
}

/// Compares two buffers element by element. If one buffer is longer, its additional elements count as
/// different.
pub fn differences(found: &Buffer, expected: &Buffer, tolerance: Tolerance) -> Differences {
    let mut all = Differences { total: found.len().max(expected.len()), ..Differences::default() };
    all.count = found.len().abs_diff(expected.len());
    for (index, (found, expected)) in found.numbers().zip(expected.numbers()).enumerate() {
        let error = distance(found, expected);
        if tolerance.allows(error, expected) {
            continue;
        }
        all.count += 1;
        let at = all.worst.partition_point(|other| other.error >= error);
        if at < KEPT {
            all.worst.truncate(KEPT - 1);
            all.worst.insert(at, Difference { index, expected, found, error });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    fn floats(values: &[f64]) -> Buffer {
        let count = values.len() as u64;
        Buffer::generate(Scalar::F64, count, |at| Number::Float(values[at as usize])).unwrap()
    }

    #[test]
    fn tolerances_are_numpys() {
        let found = floats(&[100.0, 0.0, 5.0, f64::NAN, f64::INFINITY]);
        let expected = floats(&[101.0, 1e-3, 5.0, f64::NAN, f64::INFINITY]);
        let count =
            |relative, absolute| differences(&found, &expected, Tolerance { relative, absolute }).count;
        assert_eq!(count(0.0, 0.0), 2);
        assert_eq!(count(0.01, 0.0), 1, "1 is not more than 0.01 * 101");
        assert_eq!(count(0.0, 1e-3), 1);
        assert_eq!(count(0.01, 1e-3), 0);
        assert_eq!(count(0.0098, 1e-3), 1);
    }

    #[test]
    fn the_worst_come_first() {
        let expected = floats(&[0.0; 40]);
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        values[7] = f64::NAN;
        let all = differences(&floats(&values), &expected, Tolerance::default());
        assert_eq!((all.count, all.total), (39, 40));
        let places: Vec<usize> = all.worst.iter().map(|one| one.index).collect();
        assert_eq!(places, [7, 39, 38, 37, 36, 35, 34, 33, 32, 31]);
        assert_eq!(all.worst[0].error, f64::INFINITY);
        let short = differences(&floats(&[0.0; 3]), &expected, Tolerance::default());
        assert_eq!((short.count, short.total, short.worst.len()), (37, 40, 0));
    }

    #[test]
    fn integers_are_exact() {
        let ints = |value: i128| Buffer::generate(Scalar::U64, 1, |_| Number::Int(value)).unwrap();
        let (big, next) = (ints(1 << 62), ints((1 << 62) + 1));
        assert_eq!(differences(&big, &big, Tolerance::default()).count, 0);
        assert_eq!(differences(&big, &next, Tolerance::default()).count, 1);
    }
}
