//! Value types and address spaces.
//!
//! The IR is scalar: the frontend splits vectors, arrays and structs into their elements. 8- and 16-bit
//! integers exist only in memory ([`MemTy`]); in registers they are `i32` values, which the operation that
//! computes them must sign- or zero-extend.

use std::fmt;

/// Address spaces, with the numbers of LLVM's AMDGPU guide (seed 000, line 260).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    /// Flat: may be global, shared or private; 64 bits.
    Generic = 0,
    /// Device memory; 64 bits.
    Global = 1,
    /// GDS; 32 bits.
    Region = 2,
    /// LDS, separate for each work-group; 32 bits.
    Shared = 3,
    /// Device memory that is not written while the kernel runs; 64 bits.
    Constant = 4,
    /// Scratch, separate for each work-item; 32 bits.
    Private = 5,
}

impl Space {
    /// Returns the width of a pointer into this space, in bits.
    pub const fn pointer_bits(self) -> u32 {
        match self {
            Space::Generic | Space::Global | Space::Constant => 64,
            Space::Region | Space::Shared | Space::Private => 32,
        }
    }

    /// Returns the name that the kernel language and the IR's text form use.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Region => "region",
            Space::Shared => "shared",
            Space::Constant => "constant",
            Space::Private => "private",
        }
    }
}

/// Type of an SSA value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// One bit; a lane mask if it is divergent.
    Bool,
    /// 32-bit integer; the operations determine whether it is signed.
    I32,
    /// 64-bit integer.
    I64,
    /// IEEE binary16, in the low half of a register; the high half is undefined.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// A pointer into an address space.
    Ptr(Space),
}

impl Type {
    /// Returns the width in bits; `Bool` counts as 1.
    pub const fn bits(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::F16 => 16,
            Type::I32 | Type::F32 => 32,
            Type::I64 | Type::F64 => 64,
            Type::Ptr(space) => space.pointer_bits(),
        }
    }

    /// Returns the number of 32-bit registers that a value of this type takes. For `Bool` it returns 1,
    /// although the value is a lane mask or the scalar condition code (SCC).
    pub const fn dwords(self) -> u32 {
        if self.bits() == 64 { 2 } else { 1 }
    }

    /// Returns whether the type is `F16`, `F32` or `F64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    /// Returns whether the type is `I32` or `I64`.
    pub const fn is_int(self) -> bool {
        matches!(self, Type::I32 | Type::I64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::I32 => f.write_str("i32"),
            Type::I64 => f.write_str("i64"),
            Type::F16 => f.write_str("f16"),
            Type::F32 => f.write_str("f32"),
            Type::F64 => f.write_str("f64"),
            Type::Ptr(space) => write!(f, "ptr.{}", space.name()),
        }
    }
}

/// Format of one element in memory, and how a load or store converts it to or from a register value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemTy {
    /// 8 bits, zero-extended to `i32` by a load, truncated by a store.
    U8,
    /// 8 bits, sign-extended to `i32` by a load, truncated by a store.
    S8,
    /// 16 bits, zero-extended by a load, truncated by a store; also used for `f16` values.
    U16,
    /// 16 bits, sign-extended by a load, truncated by a store.
    S16,
    /// 32 bits, for any 32-bit value type.
    B32,
    /// 64 bits, for any 64-bit value type.
    B64,
}

impl MemTy {
    /// Returns the size in memory, in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            MemTy::U8 | MemTy::S8 => 1,
            MemTy::U16 | MemTy::S16 => 2,
            MemTy::B32 => 4,
            MemTy::B64 => 8,
        }
    }

    /// Returns the name that the IR's text form uses.
    pub const fn name(self) -> &'static str {
        match self {
            MemTy::U8 => "u8",
            MemTy::S8 => "s8",
            MemTy::U16 => "u16",
            MemTy::S16 => "s16",
            MemTy::B32 => "b32",
            MemTy::B64 => "b64",
        }
    }
}
