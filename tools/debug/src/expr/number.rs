//! Arithmetic on typed numbers with the rules of C: operands are converted to a common type, and integers
//! have widths and signs.
//!
//! Unsigned integers wrap around. Computations that C leaves undefined are errors: signed results that do not
//! fit, divisors of 0, and shifts by the width of the type or more.
//!
//! If only the type of an operand is known, only the type of the result is computed. This allows expressions
//! to be checked before a wave stops.

use super::parse::Binary;
use super::{Language, Problem};
use half::f16;

/// Interpretation of the bits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub kind: Kind,
    /// Size in bytes: 1, 2, 4 or 8; a float has at least 2.
    pub bytes: u8,
}

impl Scalar {
    pub(crate) const INT: Scalar = Scalar { kind: Kind::Signed, bytes: 4 };
    pub(crate) const BOOL: Scalar = Scalar { kind: Kind::Bool, bytes: 1 };
    pub(crate) const DOUBLE: Scalar = Scalar { kind: Kind::Float, bytes: 8 };

    /// Returns the number type of this kind and with this size in bytes. `None` if there is no such type.
    pub(crate) fn with_size(kind: Kind, bytes: usize) -> Option<Scalar> {
        let is_there = match kind {
            Kind::Float => matches!(bytes, 2 | 4 | 8),
            _ => matches!(bytes, 1 | 2 | 4 | 8),
        };
        is_there.then_some(Scalar { kind, bytes: bytes as u8 })
    }

    pub(crate) fn bits(self) -> u32 {
        8 * u32::from(self.bytes)
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind == Kind::Float
    }

    /// Returns the name of the type in a language.
    pub(crate) fn name(self, language: Language) -> String {
        let bits = self.bits();
        match (language, self.kind) {
            (_, Kind::Bool) => "bool".to_owned(),
            (Language::Kernc, Kind::Signed) => format!("i{bits}"),
            (Language::Kernc, Kind::Unsigned) => format!("u{bits}"),
            (Language::Kernc, Kind::Float) => format!("f{bits}"),
            (Language::C, Kind::Float) => match bits {
                16 => "half".to_owned(),
                32 => "float".to_owned(),
                _ => "double".to_owned(),
            },
            (Language::C, kind) => {
                let sign = if kind == Kind::Unsigned { "unsigned " } else { "" };
                let name = match bits {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    _ => "long",
                };
                format!("{sign}{name}")
            }
        }
    }

    /// Reads a number of the type from little-endian bytes.
    pub(crate) fn read(self, bytes: &[u8]) -> Number {
        let mut all = [0; 8];
        let count = bytes.len().min(usize::from(self.bytes)).min(8);
        all[..count].copy_from_slice(&bytes[..count]);
        let bits = u64::from_le_bytes(all);
        match (self.kind, self.bytes) {
            (Kind::Bool, _) => Number::Int(i128::from(bits != 0)),
            (Kind::Float, 2) => Number::Float(f16::from_bits(bits as u16).to_f64()),
            (Kind::Float, 4) => Number::Float(f32::from_bits(bits as u32).into()),
            (Kind::Float, _) => Number::Float(f64::from_bits(bits)),
            _ => Number::Int(self.wrapped(i128::from(bits))),
        }
    }

    /// Returns the little-endian bytes of a number of the type.
    pub(crate) fn write(self, number: Number) -> Vec<u8> {
        let bits = match (self.convert(number), self.bytes) {
            (Number::Int(value), _) => value as u64,
            (Number::Float(value), 2) => f16::from_f64(value).to_bits().into(),
            (Number::Float(value), 4) => (value as f32).to_bits().into(),
            (Number::Float(value), _) => value.to_bits(),
        };
        bits.to_le_bytes()[..usize::from(self.bytes)].to_vec()
    }

    /// Truncates an integer to the width of the type, with sign extension for a signed type.
    fn wrapped(self, value: i128) -> i128 {
        let spare = 128 - self.bits();
        match self.kind {
            Kind::Signed => value << spare >> spare,
            _ => ((value as u128) << spare >> spare) as i128,
        }
    }

    /// Converts a number to the type. Integers wrap around. Floats that are out of range become the least or
    /// greatest integer, and NaN becomes 0.
    pub(crate) fn convert(self, number: Number) -> Number {
        match (number, self.kind) {
            (Number::Int(value), Kind::Bool) => Number::Int(i128::from(value != 0)),
            (Number::Float(value), Kind::Bool) => Number::Int(i128::from(value != 0.0)),
            (Number::Int(value), Kind::Float) => self.rounded(value as f64, value),
            (Number::Float(value), Kind::Float) => self.narrowed(value),
            (Number::Int(value), _) => Number::Int(self.wrapped(value)),
            (Number::Float(value), _) => {
                let (least, most) = self.range();
                Number::Int((value as i128).clamp(least, most))
            }
        }
    }

    /// Converts an integer to a float with a single rounding.
    fn rounded(self, double: f64, value: i128) -> Number {
        match self.bytes {
            4 => Number::Float((value as f32).into()),
            _ => self.narrowed(double),
        }
    }

    fn narrowed(self, value: f64) -> Number {
        Number::Float(match self.bytes {
            2 => f16::from_f64(value).to_f64(),
            4 => (value as f32).into(),
            _ => value,
        })
    }

    /// Returns the least and the greatest integer of the type.
    pub(crate) fn range(self) -> (i128, i128) {
        let bits = self.bits();
        match self.kind {
            Kind::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Kind::Bool => (0, 1),
            _ => (0, (1 << bits) - 1),
        }
    }
}

/// A number: an integer of at most 64 bits, or a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn is_zero(self) -> bool {
        match self {
            Number::Int(value) => value == 0,
            Number::Float(value) => value == 0.0,
        }
    }

    fn float(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    fn int(self) -> i128 {
        match self {
            Number::Int(value) => value,
            Number::Float(value) => value as i128,
        }
    }
}

/// A number with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Operand {
    pub scalar: Scalar,
    /// Value; `None` if only the type is known.
    pub number: Option<Number>,
    /// Whether the operand was written as a literal without a suffix. In kernc, such an operand takes the
    /// type of the other operand.
    pub is_literal: bool,
}

impl Operand {
    pub(crate) fn new(scalar: Scalar, number: Option<Number>) -> Operand {
        Operand { scalar, number: number.map(|number| scalar.convert(number)), is_literal: false }
    }

    /// Converts the operand to another type.
    pub(crate) fn to(self, scalar: Scalar) -> Operand {
        Operand::new(scalar, self.number)
    }

    /// Returns whether the number counts as true in a condition, that is, whether it is not 0. `None` if only
    /// the type is known.
    pub(crate) fn truth(self) -> Option<bool> {
        self.number.map(|number| !number.is_zero())
    }

    fn of_truth(truth: Option<bool>, language: Language) -> Operand {
        let scalar = match language {
            Language::Kernc => Scalar::BOOL,
            Language::C => Scalar::INT,
        };
        Operand::new(scalar, truth.map(|truth| Number::Int(truth.into())))
    }
}

/// Applies C's integer promotion: integers narrower than `int` and truth values become `int`.
fn promoted(scalar: Scalar) -> Scalar {
    if scalar.is_float() || scalar.bytes >= 4 { scalar } else { Scalar::INT }
}

/// Returns the type to which both operands are converted (C's usual arithmetic conversions). In kernc, a
/// float literal takes the type of the other operand if that operand is a float.
fn common(left: Operand, right: Operand, language: Language) -> Scalar {
    let (a, b) = (promoted(left.scalar), promoted(right.scalar));
    match (a.is_float(), b.is_float()) {
        (true, true) if language == Language::Kernc && left.is_literal != right.is_literal => {
            if left.is_literal { b } else { a }
        }
        (true, true) => {
            if a.bytes >= b.bytes {
                a
            } else {
                b
            }
        }
        (true, false) => a,
        (false, true) => b,
        (false, false) => match a.bytes.cmp(&b.bytes) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal if a.kind == Kind::Unsigned => a,
            std::cmp::Ordering::Equal => b,
        },
    }
}

/// Applies an operator to two numbers.
///
/// # Errors
/// The operator is not defined for these types, or the result does not fit the type.
pub(crate) fn binary(
    op: Binary,
    left: Operand,
    right: Operand,
    language: Language,
) -> Result<Operand, Problem> {
    if let Binary::Shl | Binary::Shr = op {
        return shift(op, left, right, language);
    }
    let scalar = common(left, right, language);
    let (a, b) = (left.to(scalar).number, right.to(scalar).number);
    let both = a.zip(b);
    if let Some(holds) = op.comparison() {
        let compared = both.map(|(a, b)| match (a, b) {
            (Number::Int(a), Number::Int(b)) => holds(Some(a.cmp(&b))),
            (a, b) => holds(a.float().partial_cmp(&b.float())),
        });
        return Ok(Operand::of_truth(compared, language));
    }
    if scalar.is_float() {
        if matches!(op, Binary::And | Binary::Or | Binary::Xor) {
            return Err(format!("`{}` takes integers, and not {}", op.sign(), scalar.name(language)));
        }
        let number = both.map(|(a, b)| Number::Float(of_floats(op, a.float(), b.float())));
        return Ok(Operand::new(scalar, number));
    }
    let number = both.map(|(a, b)| of_integers(op, a.int(), b.int())).transpose()?;
    fits(scalar, number, language)
}

/// Computes with 64-bit floats, for operands of any float type. The caller rounds the result to the operands'
/// type. For sums, products and quotients of narrower floats, rounding twice gives the same result as
/// rounding once, because a double has more than twice the digits. Remainders are exact.
fn of_floats(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        _ => a % b,
    }
}

/// Computes with integers of at most 64 bits. Sums and differences do not overflow 128 bits, and the low bits
/// of a product are right even if the product wraps.
fn of_integers(op: Binary, a: i128, b: i128) -> Result<i128, Problem> {
    if b == 0 && matches!(op, Binary::Div | Binary::Rem) {
        return Err("division by zero".to_owned());
    }
    Ok(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div => a / b,
        Binary::Rem => a % b,
        Binary::And => a & b,
        Binary::Or => a | b,
        _ => a ^ b,
    })
}

/// Converts the result of a computation to its type. An unsigned result wraps around. A signed result that
/// does not fit is an error.
fn fits(scalar: Scalar, number: Option<i128>, language: Language) -> Result<Operand, Problem> {
    let (least, most) = scalar.range();
    match number {
        Some(value) if scalar.kind == Kind::Signed && !(least..=most).contains(&value) => {
            Err(format!("the result, {value}, does not fit {}", scalar.name(language)))
        }
        number => Ok(Operand::new(scalar, number.map(Number::Int))),
    }
}

/// Shifts an integer; the result has the promoted type of the left operand.
fn shift(op: Binary, left: Operand, right: Operand, language: Language) -> Result<Operand, Problem> {
    let scalar = promoted(left.scalar);
    if scalar.is_float() || right.scalar.is_float() {
        return Err(format!("`{}` takes integers", op.sign()));
    }
    let (Some(value), Some(count)) = (left.to(scalar).number, right.number) else {
        return Ok(Operand::new(scalar, None));
    };
    let (value, count) = (value.int(), count.int());
    if !(0..i128::from(scalar.bits())).contains(&count) {
        return Err(format!("{} has no shift by {count}", scalar.name(language)));
    }
    // As in C and kernc, bits that are shifted out are lost.
    let shifted = if op == Binary::Shl { value << count } else { value >> count };
    Ok(Operand::new(scalar, Some(Number::Int(scalar.wrapped(shifted)))))
}

/// Returns the negated number.
pub(crate) fn negative(operand: Operand, language: Language) -> Result<Operand, Problem> {
    let scalar = promoted(operand.scalar);
    let negated = match operand.to(scalar).number {
        Some(Number::Float(value)) => Operand::new(scalar, Some(Number::Float(-value))),
        Some(Number::Int(value)) => fits(scalar, Some(-value), language)?,
        None => Operand::new(scalar, None),
    };
    Ok(Operand { is_literal: operand.is_literal, ..negated })
}

/// Returns the integer with each bit inverted.
pub(crate) fn complement(operand: Operand, language: Language) -> Result<Operand, Problem> {
    let scalar = promoted(operand.scalar);
    if scalar.is_float() {
        return Err(format!("`~` takes an integer, and not {}", scalar.name(language)));
    }
    let number = operand.to(scalar).number.map(|number| Number::Int(!number.int()));
    Ok(Operand::new(scalar, number))
}

/// Applies the operator `!`, which tests whether a number is 0. In kernc, `!` of an integer is the bitwise
/// complement.
pub(crate) fn not(operand: Operand, language: Language) -> Result<Operand, Problem> {
    match (language, operand.scalar.kind) {
        (Language::Kernc, Kind::Signed | Kind::Unsigned) => complement(operand, language),
        _ => Ok(Operand::of_truth(operand.truth().map(|truth| !truth), language)),
    }
}

/// Returns a number as text.
pub(crate) fn text(scalar: Scalar, number: Number) -> String {
    match (number, scalar.bytes) {
        (Number::Int(value), _) if scalar.kind == Kind::Bool => (value != 0).to_string(),
        (Number::Int(value), _) => value.to_string(),
        // The shortest text that reads back as the same `f32`.
        (Number::Float(value), 4) => format!("{:?}", value as f32),
        (Number::Float(value), _) => format!("{value:?}"),
    }
}
