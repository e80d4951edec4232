//! Read-modify-write operations of atomic instructions, for LDS, flat, buffer and scalar instructions.

use half::{bf16, f16};

/// What an atomic instruction does with the value at its memory location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Atomic {
    #[default]
    Swap,
    CompareSwap,
    CompareSwapFloat,
    Add,
    Sub,
    ReverseSub,
    MinSigned,
    MinUnsigned,
    MaxSigned,
    MaxUnsigned,
    And,
    Or,
    Xor,
    MaskOr,
    Inc,
    Dec,
    AddFloat,
    MinFloat,
    MaxFloat,
    /// Adds two packed f16 values.
    AddPacked,
    /// Adds two packed bf16 values.
    AddPackedBf16,
    /// Subtracts the operand from the value. A result below zero becomes zero.
    SubClamped,
    /// Subtracts one operand from the value. If the difference would be negative, adds the other operand to
    /// the value instead. This is the operation of `ds_wrap_rtn_b32`.
    Wrap,
    /// Stores the new value only if its highest bit is set, and clears this bit in memory. Otherwise keeps
    /// the old value. The two dwords of a 64-bit value are treated separately.
    SwapMarked,
}

impl Atomic {
    /// Returns the operation of an atomic instruction, given the instruction's name, such as
    /// `global_atomic_add_x2` or `ds_add_rtn_u32`. Returns `None` if the instruction is not an atomic.
    pub(crate) fn of_name(name: &str) -> Option<Atomic> {
        let stem = match name.split_once("_atomic_") {
            Some((_, rest)) => rest.strip_suffix("_x2").unwrap_or(rest),
            None => name.strip_prefix("ds_")?,
        };
        Some(match stem.replace("_rtn", "").replace("_src2", "").as_str() {
            "swap" | "wrxchg_b32" | "wrxchg_b64" => Atomic::Swap,
            "cmpswap" | "cmpst_b32" | "cmpst_b64" => Atomic::CompareSwap,
            "cmpst_f32" | "cmpst_f64" => Atomic::CompareSwapFloat,
            "add" | "add_u32" | "add_u64" => Atomic::Add,
            "sub" | "sub_u32" | "sub_u64" => Atomic::Sub,
            "rsub_u32" | "rsub_u64" => Atomic::ReverseSub,
            "smin" | "min_i32" | "min_i64" => Atomic::MinSigned,
            "umin" | "min_u32" | "min_u64" => Atomic::MinUnsigned,
            "smax" | "max_i32" | "max_i64" => Atomic::MaxSigned,
            "umax" | "max_u32" | "max_u64" => Atomic::MaxUnsigned,
            "and" | "and_b32" | "and_b64" => Atomic::And,
            "or" | "or_b32" | "or_b64" => Atomic::Or,
            "xor" | "xor_b32" | "xor_b64" => Atomic::Xor,
            "mskor_b32" | "mskor_b64" => Atomic::MaskOr,
            "inc" | "inc_u32" | "inc_u64" => Atomic::Inc,
            "dec" | "dec_u32" | "dec_u64" => Atomic::Dec,
            "fcmpswap" => Atomic::CompareSwapFloat,
            "add_f32" | "add_f64" => Atomic::AddFloat,
            "fmin" | "min_f32" | "min_f64" => Atomic::MinFloat,
            "fmax" | "max_f32" | "max_f64" => Atomic::MaxFloat,
            "pk_add_f16" => Atomic::AddPacked,
            "pk_add_bf16" => Atomic::AddPackedBf16,
            "csub" => Atomic::SubClamped,
            "wrap_b32" => Atomic::Wrap,
            "condxchg32_b64" => Atomic::SwapMarked,
            _ => return None,
        })
    }

    /// Returns whether the operation has a second operand, such as a comparison value.
    pub(crate) fn has_compare(self) -> bool {
        matches!(self, Atomic::CompareSwap | Atomic::CompareSwapFloat | Atomic::MaskOr | Atomic::Wrap)
    }

    /// Returns the new value of a 32-bit location that holds `old`. `value` is the data operand. `other` is
    /// the comparison value of a compare-and-swap, or the mask of `MaskOr`.
    pub(crate) fn apply32(self, old: u32, value: u32, other: u32) -> u32 {
        let float = |value: u32| f64::from(f32::from_bits(value));
        match self {
            Atomic::MinSigned => (old as i32).min(value as i32) as u32,
            Atomic::MaxSigned => (old as i32).max(value as i32) as u32,
            Atomic::AddFloat => (f32::from_bits(old) + f32::from_bits(value)).to_bits(),
            Atomic::AddPacked => {
                let half = |shift: u32| {
                    let part = |bits: u32| f16::from_bits((bits >> shift) as u16);
                    u32::from((part(old) + part(value)).to_bits()) << shift
                };
                half(0) | half(16)
            }
            Atomic::AddPackedBf16 => {
                let half = |shift: u32| {
                    let part = |bits: u32| bf16::from_bits((bits >> shift) as u16);
                    u32::from((part(old) + part(value)).to_bits()) << shift
                };
                half(0) | half(16)
            }
            Atomic::MinFloat => {
                if float(value) < float(old) {
                    value
                } else {
                    old
                }
            }
            Atomic::MaxFloat => {
                if float(value) > float(old) {
                    value
                } else {
                    old
                }
            }
            Atomic::CompareSwapFloat => {
                if float(old) == float(other) {
                    value
                } else {
                    old
                }
            }
            _ => self.integer(old.into(), value.into(), other.into()) as u32,
        }
    }

    /// Returns the new value of a 64-bit location that holds `old`. `value` is the data operand. `other` is
    /// the comparison value of a compare-and-swap, or the mask of `MaskOr`.
    pub(crate) fn apply64(self, old: u64, value: u64, other: u64) -> u64 {
        let float = f64::from_bits;
        match self {
            Atomic::MinSigned => (old as i64).min(value as i64) as u64,
            Atomic::MaxSigned => (old as i64).max(value as i64) as u64,
            Atomic::AddFloat => (float(old) + float(value)).to_bits(),
            Atomic::MinFloat => {
                if float(value) < float(old) {
                    value
                } else {
                    old
                }
            }
            Atomic::MaxFloat => {
                if float(value) > float(old) {
                    value
                } else {
                    old
                }
            }
            Atomic::CompareSwapFloat => {
                if float(old) == float(other) {
                    value
                } else {
                    old
                }
            }
            _ => self.integer(old, value, other),
        }
    }

    /// Returns the new value of a location, for operations whose 32-bit and 64-bit forms work alike. For a
    /// 32-bit operation, the caller zero-extends the operands and truncates the result.
    fn integer(self, old: u64, value: u64, other: u64) -> u64 {
        match self {
            Atomic::CompareSwap => {
                if old == other {
                    value
                } else {
                    old
                }
            }
            Atomic::Add => old.wrapping_add(value),
            Atomic::Sub => old.wrapping_sub(value),
            Atomic::ReverseSub => value.wrapping_sub(old),
            Atomic::MinUnsigned => old.min(value),
            Atomic::MaxUnsigned => old.max(value),
            Atomic::And => old & value,
            Atomic::Or => old | value,
            Atomic::Xor => old ^ value,
            // The first operand clears bits, the second sets bits.
            Atomic::MaskOr => old & !other | value,
            Atomic::Inc => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            Atomic::Dec => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
            Atomic::SubClamped => old.saturating_sub(value),
            // `ds_wrap_rtn_b32` subtracts its first operand, or adds its second operand. The first operand is
            // in the parameter `other`, because in the instruction it stands where a compare-and-swap has its
            // comparison value.
            Atomic::Wrap => {
                if old >= other {
                    old - other
                } else {
                    old.wrapping_add(value)
                }
            }
            Atomic::SwapMarked => {
                let half = |shift: u32| {
                    let new = (value >> shift) as u32;
                    let kept = (old >> shift) as u32;
                    u64::from(if new >> 31 != 0 { new & 0x7fff_ffff } else { kept }) << shift
                };
                half(0) | half(32)
            }
            _ => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Atomic::of_name("global_atomic_umax_x2"), Some(Atomic::MaxUnsigned));
        assert_eq!(Atomic::of_name("ds_add_rtn_u32"), Some(Atomic::Add));
        assert_eq!(Atomic::of_name("ds_cmpst_rtn_b64"), Some(Atomic::CompareSwap));
        assert_eq!(Atomic::of_name("buffer_atomic_dec"), Some(Atomic::Dec));
        assert_eq!(Atomic::of_name("ds_read_b32"), None);
    }

    #[test]
    fn wrapping_counters() {
        assert_eq!(Atomic::Inc.apply32(5, 5, 0), 0);
        assert_eq!(Atomic::Inc.apply32(4, 5, 0), 5);
        assert_eq!(Atomic::Dec.apply32(0, 5, 0), 5);
        assert_eq!(Atomic::Dec.apply32(6, 5, 0), 5);
        assert_eq!(Atomic::Dec.apply32(3, 5, 0), 2);
        assert_eq!(Atomic::MinSigned.apply32(u32::MAX, 1, 0), u32::MAX);
        assert_eq!(Atomic::MinUnsigned.apply32(u32::MAX, 1, 0), 1);
        assert_eq!(Atomic::Sub.apply32(0, 1, 0), u32::MAX);
    }
}
