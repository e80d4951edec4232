//! Values on the stack of a DWARF expression: a type and bits, with the arithmetic of DWARF 5 (section
//! 2.5.1.4).

use crate::error::Reason;
use crate::location::ImplicitPointer;
use half::f16;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::fmt;

/// Interpretation of the bits of a base type (`DW_AT_encoding`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `DW_ATE_signed`, `DW_ATE_signed_char`.
    Signed,
    /// `DW_ATE_unsigned`, `DW_ATE_unsigned_char`, `DW_ATE_UTF`.
    Unsigned,
    /// `DW_ATE_boolean`.
    Boolean,
    /// `DW_ATE_float` of 16, 32 or 64 bits.
    Float,
    /// Any other encoding. Values with this encoding can be stored, but no operation computes with them.
    Other(u8),
}

impl Kind {
    /// Returns the kind for a `DW_AT_encoding`.
    pub fn of_encoding(encoding: u8) -> Kind {
        match encoding {
            0x02 => Kind::Boolean,
            0x04 => Kind::Float,
            0x05 | 0x06 => Kind::Signed,
            0x07 | 0x08 | 0x10 => Kind::Unsigned,
            other => Kind::Other(other),
        }
    }
}

/// Base type. If it has more than one element, it is a vector (`DW_AT_LLVM_vector_size`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BaseType {
    /// Interpretation of the bits.
    pub kind: Kind,
    /// Number of bits of an element. Operations can compute with at most 128 bits.
    pub bits: u32,
    /// Number of elements.
    pub elements: u32,
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Generic type: an integer with this number of bits. The operations determine whether it is signed.
    Generic(u32),
    /// Base type.
    Base(BaseType),
}

impl Type {
    /// Returns the size in bits.
    pub fn bits(self) -> u64 {
        match self {
            Type::Generic(bits) => u64::from(bits),
            Type::Base(base) => u64::from(base.bits) * u64::from(base.elements),
        }
    }

    fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Returns the number of bits of an integer type, and whether the type is signed (`None` if the operation
    /// decides this). Returns `None` for other types and for integers of more than 128 bits, with which no
    /// operation can compute.
    fn integer(self) -> Option<(u32, Option<bool>)> {
        match self {
            Type::Generic(bits) => Some((bits, None)),
            Type::Base(BaseType { kind, bits, elements: 1 }) if (1..=128).contains(&bits) => match kind {
                Kind::Signed => Some((bits, Some(true))),
                Kind::Unsigned | Kind::Boolean => Some((bits, Some(false))),
                Kind::Float | Kind::Other(_) => None,
            },
            Type::Base(_) => None,
        }
    }

    fn float(self) -> Option<u32> {
        match self {
            Type::Base(BaseType { kind: Kind::Float, bits: bits @ (16 | 32 | 64), elements: 1 }) => {
                Some(bits)
            }
            _ => None,
        }
    }
}

/// Value on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Type of the value.
    pub ty: Type,
    /// Little-endian bytes. Bits beyond the size of the type are 0.
    pub bytes: SmallVec<[u8; 16]>,
    /// The implicit pointer if the value is one: a pointer that the optimised program does not contain any
    /// more.
    pub(crate) pointer: Option<ImplicitPointer>,
}

/// Operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    And,
    Div,
    Minus,
    Mod,
    Mul,
    Or,
    Plus,
    Shl,
    Shr,
    Shra,
    Xor,
}

fn mask(bits: u32) -> u128 {
    u128::MAX >> (128 - bits.clamp(1, 128))
}

fn extend(value: u128, bits: u32) -> i128 {
    let shift = 128 - bits.clamp(1, 128);
    (value << shift) as i128 >> shift
}

impl Value {
    /// Returns a value of a type from little-endian bytes. Missing bytes are 0.
    pub fn new(ty: Type, bytes: &[u8]) -> Value {
        let count = ty.bytes();
        let mut own = SmallVec::from_slice(&bytes[..bytes.len().min(count)]);
        own.resize(count, 0);
        let spare = (8 * count as u64 - ty.bits()) as u32;
        if let Some(last) = own.last_mut() {
            *last &= 0xff >> spare;
        }
        Value { ty, bytes: own, pointer: None }
    }

    /// Returns an integer of the generic type.
    pub fn generic(value: u64, bits: u32) -> Value {
        Value::new(Type::Generic(bits), &value.to_le_bytes())
    }

    fn from_bits(ty: Type, bits: u128) -> Value {
        Value::new(ty, &bits.to_le_bytes())
    }

    /// Returns the bits of a scalar. Bits beyond its size are 0.
    fn raw(&self) -> u128 {
        let mut all = [0; 16];
        let count = self.bytes.len().min(16);
        all[..count].copy_from_slice(&self.bytes[..count]);
        u128::from_le_bytes(all)
    }

    fn plain(&self) -> Result<&Value, Reason> {
        if self.pointer.is_some() { Err(Reason::ImplicitPointer) } else { Ok(self) }
    }

    /// Returns the value as an unsigned integer. Used for addresses, address spaces and masks.
    ///
    /// # Errors
    /// The value is no integer, or an implicit pointer.
    pub fn unsigned(&self) -> Result<u128, Reason> {
        self.plain()?.ty.integer().map(|_| self.raw()).ok_or(Reason::NoInteger)
    }

    /// Returns the value as a signed integer; a generic value is taken as signed. Used for displacements.
    ///
    /// # Errors
    /// The value is no integer, does not fit, or is an implicit pointer.
    pub fn signed(&self) -> Result<i128, Reason> {
        match self.plain()?.ty.integer().ok_or(Reason::NoInteger)? {
            (_, Some(false)) => i128::try_from(self.raw()).map_err(|_| Reason::NoInteger),
            (bits, _) => Ok(extend(self.raw(), bits)),
        }
    }

    /// Returns the value of a float.
    pub fn float(&self) -> Option<f64> {
        let raw = self.raw();
        Some(match self.ty.float()? {
            16 => f16::from_bits(raw as u16).to_f64(),
            32 => f64::from(f32::from_bits(raw as u32)),
            _ => f64::from_bits(raw as u64),
        })
    }

    fn from_float(ty: Type, value: f64) -> Option<Value> {
        let raw = match ty.float()? {
            16 => u128::from(f16::from_f64(value).to_bits()),
            32 => u128::from((value as f32).to_bits()),
            _ => u128::from(value.to_bits()),
        };
        Some(Value::from_bits(ty, raw))
    }

    /// Performs `DW_OP_abs`. A generic value is taken as signed.
    pub(crate) fn abs(&self) -> Result<Value, Reason> {
        match self.plain()?.float() {
            Some(value) => Value::from_float(self.ty, value.abs()).ok_or(Reason::Type),
            None if self.ty.integer().is_some_and(|(_, signed)| signed == Some(false)) => Ok(self.clone()),
            None => Ok(Value::from_bits(self.ty, self.signed()?.unsigned_abs())),
        }
    }

    /// Performs `DW_OP_neg`.
    pub(crate) fn neg(&self) -> Result<Value, Reason> {
        match self.plain()?.float() {
            Some(value) => Value::from_float(self.ty, -value).ok_or(Reason::Type),
            None => Ok(Value::from_bits(self.ty, self.unsigned()?.wrapping_neg())),
        }
    }

    /// Performs `DW_OP_not`.
    pub(crate) fn not(&self) -> Result<Value, Reason> {
        Ok(Value::from_bits(self.ty, !self.unsigned()?))
    }

    /// Performs an operation. `self` is the operand that is lower on the stack.
    pub(crate) fn binary(&self, op: Binary, other: &Value) -> Result<Value, Reason> {
        let (left, right) = (self.plain()?, other.plain()?);
        let is_shift = matches!(op, Binary::Shl | Binary::Shr | Binary::Shra);
        if !is_shift && left.ty != right.ty {
            return Err(Reason::Types);
        }
        match (left.float(), right.float()) {
            (Some(a), Some(b)) => left.of_floats(op, a, b),
            _ => left.of_integers(op, right),
        }
    }

    fn of_floats(&self, op: Binary, a: f64, b: f64) -> Result<Value, Reason> {
        // Narrow floats are computed in double precision, and the result is then rounded to the narrow type.
        // In spite of the two roundings, sums, products and quotients are correct, because a double has more
        // than twice as many digits.
        let value = match op {
            Binary::Plus => a + b,
            Binary::Minus => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            _ => return Err(Reason::Type),
        };
        Value::from_float(self.ty, value).ok_or(Reason::Type)
    }

    fn of_integers(&self, op: Binary, right: &Value) -> Result<Value, Reason> {
        let (bits, signed) = self.ty.integer().ok_or(Reason::Type)?;
        let (a, b) = (self.unsigned()?, right.unsigned()?);
        let zero = b & mask(bits) == 0 && !matches!(op, Binary::Shl | Binary::Shr | Binary::Shra);
        if zero && matches!(op, Binary::Div | Binary::Mod) {
            return Err(Reason::Division);
        }
        // Shifting by more than the number of bits gives zeros, or copies of the sign bit. A shift count of a
        // signed type must not be negative.
        let count = || match right.ty.integer() {
            Some((_, Some(true))) if right.signed()? < 0 => Err(Reason::Type),
            _ => Ok(u32::try_from(b).unwrap_or(u32::MAX).min(bits)),
        };
        let value = match op {
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Plus => a.wrapping_add(b),
            Binary::Minus => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            // For values of the generic type, quotients are signed, but remainders are unsigned.
            Binary::Div if signed == Some(false) => a / b,
            Binary::Div => extend(a, bits).wrapping_div(extend(b, bits)) as u128,
            Binary::Mod if signed == Some(true) => extend(a, bits).wrapping_rem(extend(b, bits)) as u128,
            Binary::Mod => a % b,
            Binary::Shl => a.checked_shl(count()?).unwrap_or(0),
            Binary::Shr => a.checked_shr(count()?).unwrap_or(0),
            Binary::Shra => (extend(a, bits) >> count()?.min(127)) as u128,
        };
        Ok(Value::from_bits(self.ty, value & mask(bits)))
    }

    /// Compares two values of the same type. Values of the generic type are taken as signed. Returns `None`
    /// if the values have no order (NaN).
    pub(crate) fn compare(&self, other: &Value) -> Result<Option<Ordering>, Reason> {
        let (left, right) = (self.plain()?, other.plain()?);
        if left.ty != right.ty {
            return Err(Reason::Types);
        }
        if let (Some(a), Some(b)) = (left.float(), right.float()) {
            return Ok(a.partial_cmp(&b));
        }
        let (bits, signed) = left.ty.integer().ok_or(Reason::Type)?;
        let (a, b) = (left.raw(), right.raw());
        Ok(Some(match signed {
            Some(false) => a.cmp(&b),
            _ => extend(a, bits).cmp(&extend(b, bits)),
        }))
    }

    /// Returns whether a branch on this value is taken.
    pub(crate) fn is_true(&self) -> Result<bool, Reason> {
        Ok(self.unsigned()? != 0)
    }

    /// Performs `DW_OP_convert`: returns the nearest value of the type.
    pub(crate) fn convert(&self, ty: Type) -> Result<Value, Reason> {
        let from = self.plain()?;
        match (from.float(), ty.float(), ty.integer()) {
            (Some(value), Some(_), _) => Value::from_float(ty, value).ok_or(Reason::Type),
            // Values that are too large saturate, as in Rust.
            (Some(value), None, Some((bits, Some(false)))) => {
                Ok(Value::from_bits(ty, (value as u128).min(mask(bits))))
            }
            (Some(value), None, Some((bits, Some(true)))) => {
                let most = (mask(bits) >> 1) as i128;
                Ok(Value::from_bits(ty, (value as i128).clamp(-most - 1, most) as u128))
            }
            (Some(value), None, Some((_, None))) => Ok(Value::from_bits(ty, value as i128 as u128)),
            (None, Some(_), _) => {
                let is_negative = from.signed().is_ok_and(|value| value < 0);
                let value = if is_negative { from.signed()? as f64 } else { from.unsigned()? as f64 };
                Value::from_float(ty, value).ok_or(Reason::Type)
            }
            (None, None, Some(_)) => {
                let value = match from.ty.integer().ok_or(Reason::Type)? {
                    (bits, Some(true)) => extend(from.raw(), bits) as u128,
                    _ => from.raw(),
                };
                Ok(Value::from_bits(ty, value))
            }
            _ => Err(Reason::Type),
        }
    }

    /// Performs `DW_OP_reinterpret`: returns a value with the same bits.
    pub(crate) fn reinterpret(&self, ty: Type) -> Result<Value, Reason> {
        if self.plain()?.ty.bits() != ty.bits() {
            return Err(Reason::Size);
        }
        Ok(Value { ty, ..self.clone() })
    }
}

/// Formats the value as `-3`, `0x10` (generic), `1.5`, or as bytes if it is neither an integer nor a float.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pointer) = &self.pointer {
            return write!(f, "{pointer}");
        }
        if let Some(value) = self.float() {
            return write!(f, "{value:?}");
        }
        match self.ty.integer() {
            Some((_, None)) => write!(f, "{:#x}", self.raw()),
            Some((bits, Some(true))) => write!(f, "{}", extend(self.raw(), bits)),
            Some(_) => write!(f, "{}", self.raw()),
            None => {
                for (n, byte) in self.bytes.iter().enumerate() {
                    write!(f, "{}{byte:02x}", if n > 0 { " " } else { "" })?;
                }
                Ok(())
            }
        }
    }
}
