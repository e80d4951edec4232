//! Typed contents of buffers on the host. They are generated from a description, read from and written to
//! `.npy` files, and printed.

use crate::metadata::Scalar;
use half::f16;
use std::fmt;

/// Maximum size of a buffer in bytes.
const MAX_BYTES: u64 = 1 << 32;

/// Contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Type of the elements.
    pub element: Scalar,
    /// Number of elements of the array in each dimension, beginning with the slowest dimension. A buffer that
    /// does not come from a file has only one dimension.
    pub shape: Vec<u64>,
    /// The elements as little-endian bytes.
    pub bytes: Vec<u8>,
}

/// The value of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A value of an integer type.
    Int(i128),
    /// A value of a float type.
    Float(f64),
}

impl Buffer {
    /// Generates a buffer of `count` elements. The function `make` returns the element for an index.
    ///
    /// # Errors
    /// The buffer would be larger than 4 GiB.
    pub fn generate(
        element: Scalar,
        count: u64,
        mut make: impl FnMut(u64) -> Number,
    ) -> Result<Buffer, String> {
        let bytes = count.checked_mul(element.bytes() as u64).filter(|&bytes| bytes <= MAX_BYTES);
        let bytes =
            bytes.ok_or_else(|| format!("{count} elements of {} are more than 4 GiB", element.name()))?;
        let mut buffer = Buffer { element, shape: vec![count], bytes: Vec::with_capacity(bytes as usize) };
        for index in 0..count {
            encode(element, make(index), &mut buffer.bytes);
        }
        Ok(buffer)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.bytes()
    }

    /// Returns whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the elements as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.bytes.chunks_exact(self.element.bytes()).map(|bytes| decode(self.element, bytes))
    }
}

impl fmt::Display for Buffer {
    /// Writes all elements as text, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, number) in self.numbers().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&number.text(self.element))?;
        }
        Ok(())
    }
}

impl Number {
    /// Returns the number as text, in its type. A float gets the shortest text that parses to the same value.
    pub fn text(self, element: Scalar) -> String {
        match (self, element) {
            (Number::Int(value), _) => value.to_string(),
            (Number::Float(value), Scalar::F64) => format!("{value:?}"),
            (Number::Float(value), _) => format!("{:?}", value as f32),
        }
    }
}

/// Converts a number to the type `element`, and appends its bytes to `out`. Integers wrap, and floats are
/// rounded. Conversions between integers and floats saturate.
pub(crate) fn encode(element: Scalar, number: Number, out: &mut Vec<u8>) {
    let float = match number {
        Number::Int(value) => value as f64,
        Number::Float(value) => value,
    };
    let int = match number {
        Number::Int(value) => value,
        Number::Float(value) => value as i128,
    };
    match element {
        Scalar::F16 => out.extend(f16::from_f64(float).to_le_bytes()),
        Scalar::F32 => out.extend((float as f32).to_le_bytes()),
        Scalar::F64 => out.extend(float.to_le_bytes()),
        int_type => out.extend_from_slice(&int.to_le_bytes()[..int_type.bytes()]),
    }
}

pub(crate) fn decode(element: Scalar, bytes: &[u8]) -> Number {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let unsigned = u128::from_le_bytes(wide);
    let spare = 128 - 8 * bytes.len() as u32;
    match element {
        Scalar::F16 => Number::Float(f16::from_bits(unsigned as u16).into()),
        Scalar::F32 => Number::Float(f32::from_bits(unsigned as u32).into()),
        Scalar::F64 => Number::Float(f64::from_bits(unsigned as u64)),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Number::Int(unsigned as i128),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            Number::Int((unsigned << spare) as i128 >> spare)
        }
    }
}

/// Parses a number. It may be decimal, start with `0x` or `0b`, be a float, or be one of the words `true`,
/// `false`, `inf` and `nan`. Underscores may separate digits.
pub(crate) fn parse_number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.as_str()),
    };
    let radix = |prefix: &str, radix: u32| {
        let digits = digits
            .strip_prefix(prefix)
            .filter(|digits| digits.starts_with(|c: char| c.is_ascii_hexdigit()))?;
        i128::from_str_radix(digits, radix).ok()
    };
    let int = match digits {
        "true" => Some(1),
        "false" => Some(0),
        _ if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| digits.parse().ok())
        }
        _ => None,
    };
    let int = int.map(|value| Number::Int(if negative { -value } else { value }));
    int.or_else(|| plain.parse().ok().map(Number::Float))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_text() {
        assert_eq!(parse_number("0x10"), Some(Number::Int(16)));
        assert_eq!(parse_number("-1_000"), Some(Number::Int(-1000)));
        assert_eq!(parse_number("1e3"), Some(Number::Float(1000.0)));
        assert_eq!(parse_number("-0.5"), Some(Number::Float(-0.5)));
        assert_eq!(parse_number("true"), Some(Number::Int(1)));
        assert_eq!(parse_number("one"), None);
        assert_eq!(parse_number(""), None);
    }

    #[test]
    fn elements_survive() {
        for element in [Scalar::I8, Scalar::U16, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64] {
            let number = match element {
                Scalar::F16 | Scalar::F32 | Scalar::F64 => Number::Float(-1.5),
                Scalar::U16 => Number::Int(65535),
                _ => Number::Int(-7),
            };
            let buffer = Buffer::generate(element, 2, |_| number).unwrap();
            assert!(buffer.numbers().all(|got| got == number), "{element:?}");
        }
    }

    #[test]
    fn printed() {
        let floats = Buffer::generate(Scalar::F32, 2, |at| Number::Float(at as f64 + 0.1)).unwrap();
        assert_eq!(floats.to_string(), "0.1, 1.1");
        let ints = Buffer::generate(Scalar::I8, 3, |at| Number::Int(at as i128 - 1)).unwrap();
        assert_eq!(ints.to_string(), "-1, 0, 1");
    }
}
