//! Scalar types of the language.

use ir::{MemTy, Type};

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    /// `bf16`, whose bits are the upper half of an `f32`, both in memory and in registers. A `bf16` can be
    /// stored and converted, but there is no arithmetic on it.
    Bf16,
    F32,
    F64,
}

use Scalar::*;

/// The scalar types. Each row has the type, its name in the language, its number of bytes in memory, its type
/// in the IR, and the type with which loads and stores access it.
const TABLE: [(Scalar, &str, u32, Type, MemTy); 13] = [
    (Bool, "bool", 1, Type::Bool, MemTy::U8),
    (I8, "i8", 1, Type::I32, MemTy::S8),
    (I16, "i16", 2, Type::I32, MemTy::S16),
    (I32, "i32", 4, Type::I32, MemTy::B32),
    (I64, "i64", 8, Type::I64, MemTy::B64),
    (U8, "u8", 1, Type::I32, MemTy::U8),
    (U16, "u16", 2, Type::I32, MemTy::U16),
    (U32, "u32", 4, Type::I32, MemTy::B32),
    (U64, "u64", 8, Type::I64, MemTy::B64),
    (F16, "f16", 2, Type::F16, MemTy::U16),
    (Bf16, "bf16", 2, Type::I32, MemTy::U16),
    (F32, "f32", 4, Type::F32, MemTy::B32),
    (F64, "f64", 8, Type::F64, MemTy::B64),
];

impl Scalar {
    /// All scalar types, in the order of the enum.
    pub const ALL: [Scalar; 13] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, Bf16, F32, F64];

    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns the number of bytes in memory, which is also the alignment.
    pub fn bytes(self) -> u32 {
        TABLE[self as usize].2
    }

    /// Returns the number of bits of the type (1 for `bool`).
    pub fn bits(self) -> u32 {
        if self == Bool { 1 } else { self.bytes() * 8 }
    }

    /// Returns the type that holds the scalar in the IR.
    pub fn ir(self) -> Type {
        TABLE[self as usize].3
    }

    /// Returns the type with which loads and stores access the scalar in memory.
    pub fn mem(self) -> MemTy {
        TABLE[self as usize].4
    }

    pub fn from_name(name: &str) -> Option<Scalar> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    pub fn is_int(self) -> bool {
        !matches!(self, Bool | F16 | Bf16 | F32 | F64)
    }

    /// Returns whether there is arithmetic on the type.
    pub fn is_number(self) -> bool {
        self.is_int() || self.is_float()
    }

    /// Returns whether each value of the type has exactly one bit pattern, which is false for floats. Only
    /// such types can be matched and have bitwise operators.
    pub fn is_exact(self) -> bool {
        self.is_int() || self == Bool
    }

    pub fn is_float(self) -> bool {
        matches!(self, F16 | F32 | F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// Returns whether the type is an 8- or 16-bit integer. In a register, such a number is an `i32` that is
    /// always kept sign- or zero-extended.
    pub fn is_small(self) -> bool {
        matches!(self, I8 | I16 | U8 | U16)
    }

    /// Returns whether `as` converts vectors of this scalar type to vectors of `to`. No type converts to
    /// `bool`. `bf16` converts only from and to `f32`.
    pub fn converts_to(self, to: Scalar) -> bool {
        let halves = |a: Scalar, b: Scalar| a != Bf16 || b == F32;
        to != Bool && (self == to || halves(self, to) && halves(to, self))
    }

    /// Returns whether the integer type can represent `value`, or `-value` if `negative` is set.
    pub fn holds(self, value: u64, negative: bool) -> bool {
        let bits = self.bits();
        if !self.is_signed() {
            return (!negative || value == 0) && (bits == 64 || value >> bits == 0);
        }
        let limit = 1u64 << (bits - 1);
        if negative { value <= limit } else { value < limit }
    }

    /// Returns the smallest and the largest number of the integer type. Both are extended to 64 bits, as
    /// [`Scalar::wrap`] does it.
    pub fn limits(self) -> (u64, u64) {
        let max = match self {
            Scalar::Bool => 1,
            _ => u64::MAX >> (64 - self.bits() + u32::from(self.is_signed())),
        };
        (if self.is_signed() { !max } else { 0 }, max)
    }

    /// Truncates `bits` to the width of the type, and sign- or zero-extends the result to 64 bits as the type
    /// demands.
    pub fn wrap(self, bits: u64) -> u64 {
        let unused = 64 - self.bits().min(64);
        if self.is_signed() {
            (((bits << unused) as i64) >> unused) as u64
        } else {
            (bits << unused) >> unused
        }
    }
}

/// Splits `f32x4` into its scalar type and lane count.
pub fn vector_name(name: &str) -> Option<(Scalar, u8)> {
    let (scalar, lanes) = name.split_once('x')?;
    let lanes = match lanes {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    Some((Scalar::from_name(scalar)?, lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_enum_order() {
        for (n, scalar) in Scalar::ALL.into_iter().enumerate() {
            assert_eq!(scalar as usize, n);
            assert_eq!(TABLE[n].0, scalar);
        }
    }

    #[test]
    fn ranges() {
        assert!(I8.holds(127, false) && !I8.holds(128, false) && I8.holds(128, true) && !I8.holds(129, true));
        assert!(U8.holds(255, false) && !U8.holds(256, false) && !U8.holds(1, true));
        assert!(U64.holds(u64::MAX, false) && !I64.holds(1 << 63, false) && I64.holds(1 << 63, true));
        assert_eq!(I8.wrap(0xff), u64::MAX);
        assert_eq!(U16.wrap(0x1_2345), 0x2345);
    }
}
