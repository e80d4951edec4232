//! Evaluates instructions of the scalar ALU on constants.
//!
//! # Source
//! "Scalar ALU Operations" and the opcode tables of the ISA manuals (SOP1, SOP2, SOPK, SOPC). The emulator
//! has its own implementation; a test of the emulator (`tools/sim/src/exec/scalar_tests/folding.rs`) compares
//! the two.

use isa::{Opcode, op};

/// The known results of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// The result value; `None` for a compare.
    pub value: Option<u64>,
    /// SCC, if the instruction writes SCC.
    pub scc: Option<bool>,
}

const fn plain(value: u64) -> Option<Folded> {
    Some(Folded { value: Some(value), scc: None })
}

const fn carry(value: u32, scc: bool) -> Option<Folded> {
    Some(Folded { value: Some(value as u64), scc: Some(scc) })
}

/// Returns a result that sets SCC if it is not zero.
const fn nonzero(value: u64) -> Option<Folded> {
    Some(Folded { value: Some(value), scc: Some(value != 0) })
}

const fn nonzero32(value: u32) -> Option<Folded> {
    nonzero(value as u64)
}

const fn compare(scc: bool) -> Option<Folded> {
    Some(Folded { value: None, scc: Some(scc) })
}

/// Returns the result of a scalar ALU instruction for constant inputs.
///
/// `a` and `b` are the values that the instruction reads, in the order of its operands. An operand that is
/// both read and written comes first, and the constant of SOPK comes second. A value of 32 bits is in the low
/// half. `scc` is SCC before the instruction, if known.
///
/// Returns `None` if the result does not depend on these inputs alone.
pub fn fold(opcode: Opcode, a: u64, b: u64, scc: Option<bool>) -> Option<Folded> {
    let (low, other) = (a as u32, b as u32);
    sums(opcode, low, other, scc)
        .or_else(|| selects(opcode, a, b, scc))
        .or_else(|| shifts32(opcode, low, other))
        .or_else(|| shifts64(opcode, a, b))
        .or_else(|| logic32(opcode, low, other))
        .or_else(|| logic64(opcode, a, b))
        .or_else(|| counts(opcode, a))
        .or_else(|| compares(opcode, a, b))
        .or_else(|| compares_with_constants(opcode, low, other))
}

fn signed((value, overflow): (i32, bool)) -> Option<Folded> {
    carry(value as u32, overflow)
}

fn sums(opcode: Opcode, a: u32, b: u32, scc: Option<bool>) -> Option<Folded> {
    let (x, y) = (a as i32, b as i32);
    let shifted = |by: u32| {
        let sum = (u64::from(a) << by) + u64::from(b);
        carry(sum as u32, sum >> 32 != 0)
    };
    match opcode {
        op::S_ADD_U32 => {
            let (sum, overflow) = a.overflowing_add(b);
            carry(sum, overflow)
        }
        op::S_SUB_U32 => {
            let (difference, borrow) = a.overflowing_sub(b);
            carry(difference, borrow)
        }
        op::S_ADDC_U32 => {
            let sum = u64::from(a) + u64::from(b) + u64::from(scc?);
            carry(sum as u32, sum >> 32 != 0)
        }
        op::S_SUBB_U32 => {
            let taken = u64::from(b) + u64::from(scc?);
            carry(u64::from(a).wrapping_sub(taken) as u32, taken > u64::from(a))
        }
        op::S_ADD_I32 => signed(x.overflowing_add(y)),
        op::S_SUB_I32 => signed(x.overflowing_sub(y)),
        op::S_ADDK_I32 => signed(x.overflowing_add(i32::from(b as i16))),
        op::S_MUL_I32 => plain(a.wrapping_mul(b).into()),
        op::S_MULK_I32 => plain(x.wrapping_mul(i32::from(b as i16)) as u32 as u64),
        op::S_MUL_HI_U32 => plain((u64::from(a) * u64::from(b)) >> 32),
        op::S_MUL_HI_I32 => plain(((i64::from(x) * i64::from(y)) >> 32) as u32 as u64),
        op::S_MIN_I32 => carry(x.min(y) as u32, x < y),
        op::S_MAX_I32 => carry(x.max(y) as u32, x > y),
        op::S_MIN_U32 => carry(a.min(b), a < b),
        op::S_MAX_U32 => carry(a.max(b), a > b),
        op::S_ABS_I32 => nonzero32(x.wrapping_abs() as u32),
        op::S_ABSDIFF_I32 => nonzero32(x.wrapping_sub(y).wrapping_abs() as u32),
        op::S_LSHL1_ADD_U32 => shifted(1),
        op::S_LSHL2_ADD_U32 => shifted(2),
        op::S_LSHL3_ADD_U32 => shifted(3),
        op::S_LSHL4_ADD_U32 => shifted(4),
        _ => None,
    }
}

fn selects(opcode: Opcode, a: u64, b: u64, scc: Option<bool>) -> Option<Folded> {
    match opcode {
        op::S_MOV_B32 | op::S_MOV_B64 => plain(a),
        op::S_MOVK_I32 => plain(a as u16 as i16 as u32 as u64),
        op::S_CSELECT_B32 | op::S_CSELECT_B64 => plain(if scc? { a } else { b }),
        op::S_CMOV_B32 | op::S_CMOV_B64 => plain(if scc? { b } else { a }),
        op::S_CMOVK_I32 => plain(if scc? { b as u16 as i16 as u32 as u64 } else { a }),
        op::S_SEXT_I32_I8 => plain(a as u8 as i8 as u32 as u64),
        op::S_SEXT_I32_I16 => plain(a as u16 as i16 as u32 as u64),
        op::S_PACK_LL_B32_B16 => plain(a & 0xffff | (b & 0xffff) << 16),
        op::S_PACK_LH_B32_B16 => plain(a & 0xffff | b & 0xffff_0000),
        op::S_PACK_HH_B32_B16 => plain(a >> 16 & 0xffff | b & 0xffff_0000),
        op::S_BITSET0_B32 => plain(a & !(1 << (b & 31))),
        op::S_BITSET1_B32 => plain(a | 1 << (b & 31)),
        op::S_BITSET0_B64 => plain(a & !(1 << (b & 63))),
        op::S_BITSET1_B64 => plain(a | 1 << (b & 63)),
        _ => None,
    }
}

/// Returns the position and the width of a bit field, as the control operand of an instruction gives them.
fn field(control: u32, bits: u32) -> (u32, u32) {
    (control & (bits - 1), (control >> 16 & 0x7f).min(bits))
}

fn shifts32(opcode: Opcode, a: u32, b: u32) -> Option<Folded> {
    let ones = |count: u32| (1u64 << count) as u32 - u32::from(count < 32);
    match opcode {
        op::S_LSHL_B32 => nonzero32(a << (b & 31)),
        op::S_LSHR_B32 => nonzero32(a >> (b & 31)),
        op::S_ASHR_I32 => nonzero32((a as i32 >> (b & 31)) as u32),
        op::S_BFM_B32 => plain(u64::from(ones(a & 31) << (b & 31))),
        op::S_BFE_U32 => {
            let (at, width) = field(b, 32);
            nonzero(u64::from(a >> at) & ((1 << width) - 1))
        }
        op::S_BFE_I32 => {
            let (at, width) = field(b, 32);
            let shifted = i64::from(a as i32 >> at);
            nonzero32(if width == 0 { 0 } else { shifted << (64 - width) >> (64 - width) } as u32)
        }
        _ => None,
    }
}

fn shifts64(opcode: Opcode, a: u64, b: u64) -> Option<Folded> {
    let by = b as u32 & 63;
    match opcode {
        op::S_LSHL_B64 => nonzero(a << by),
        op::S_LSHR_B64 => nonzero(a >> by),
        op::S_ASHR_I64 => nonzero((a as i64 >> by) as u64),
        op::S_BFM_B64 => plain(((1u64 << (a & 63)) - 1) << by),
        op::S_BFE_U64 => {
            let (at, width) = field(b as u32, 64);
            nonzero(a >> at & if width == 64 { !0 } else { (1 << width) - 1 })
        }
        op::S_BFE_I64 => {
            let (at, width) = field(b as u32, 64);
            let shifted = a as i64 >> at;
            nonzero(if width == 0 { 0 } else { shifted << (64 - width) >> (64 - width) } as u64)
        }
        _ => None,
    }
}

fn logic32(opcode: Opcode, a: u32, b: u32) -> Option<Folded> {
    nonzero32(match opcode {
        op::S_AND_B32 => a & b,
        op::S_OR_B32 => a | b,
        op::S_XOR_B32 => a ^ b,
        op::S_ANDN2_B32 => a & !b,
        op::S_ORN2_B32 => a | !b,
        op::S_NAND_B32 => !(a & b),
        op::S_NOR_B32 => !(a | b),
        op::S_XNOR_B32 => !(a ^ b),
        op::S_NOT_B32 => !a,
        _ => return None,
    })
}

fn logic64(opcode: Opcode, a: u64, b: u64) -> Option<Folded> {
    nonzero(match opcode {
        op::S_AND_B64 => a & b,
        op::S_OR_B64 => a | b,
        op::S_XOR_B64 => a ^ b,
        op::S_ANDN2_B64 => a & !b,
        op::S_ORN2_B64 => a | !b,
        op::S_NAND_B64 => !(a & b),
        op::S_NOR_B64 => !(a | b),
        op::S_XNOR_B64 => !(a ^ b),
        op::S_NOT_B64 => !a,
        _ => return None,
    })
}

fn counts(opcode: Opcode, a: u64) -> Option<Folded> {
    let low = a as u32;
    // Returns the bit position, or -1 if no bit is found.
    let first = |none: bool, at: u32| plain(if none { u32::MAX } else { at }.into());
    let signs = low ^ (low as i32 >> 31) as u32;
    let signs64 = a ^ (a as i64 >> 63) as u64;
    match opcode {
        op::S_BREV_B32 => plain(low.reverse_bits().into()),
        op::S_BREV_B64 => plain(a.reverse_bits()),
        op::S_BCNT0_I32_B32 => nonzero32(low.count_zeros()),
        op::S_BCNT1_I32_B32 => nonzero32(low.count_ones()),
        op::S_BCNT0_I32_B64 => nonzero32(a.count_zeros()),
        op::S_BCNT1_I32_B64 => nonzero32(a.count_ones()),
        op::S_FF0_I32_B32 => first(low == !0, low.trailing_ones()),
        op::S_FF1_I32_B32 => first(low == 0, low.trailing_zeros()),
        op::S_FF0_I32_B64 => first(a == !0, a.trailing_ones()),
        op::S_FF1_I32_B64 => first(a == 0, a.trailing_zeros()),
        op::S_FLBIT_I32_B32 => first(low == 0, low.leading_zeros()),
        op::S_FLBIT_I32_B64 => first(a == 0, a.leading_zeros()),
        op::S_FLBIT_I32 => first(signs == 0, signs.leading_zeros()),
        op::S_FLBIT_I32_I64 => first(signs64 == 0, signs64.leading_zeros()),
        _ => None,
    }
}

fn compares(opcode: Opcode, a: u64, b: u64) -> Option<Folded> {
    let (low, other) = (a as u32, b as u32);
    let (x, y) = (low as i32, other as i32);
    compare(match opcode {
        op::S_CMP_EQ_I32 | op::S_CMP_EQ_U32 => low == other,
        op::S_CMP_LG_I32 | op::S_CMP_LG_U32 => low != other,
        op::S_CMP_GT_I32 => x > y,
        op::S_CMP_GE_I32 => x >= y,
        op::S_CMP_LT_I32 => x < y,
        op::S_CMP_LE_I32 => x <= y,
        op::S_CMP_GT_U32 => low > other,
        op::S_CMP_GE_U32 => low >= other,
        op::S_CMP_LT_U32 => low < other,
        op::S_CMP_LE_U32 => low <= other,
        op::S_CMP_EQ_U64 => a == b,
        op::S_CMP_LG_U64 => a != b,
        op::S_BITCMP0_B32 => low >> (b & 31) & 1 == 0,
        op::S_BITCMP1_B32 => low >> (b & 31) & 1 == 1,
        op::S_BITCMP0_B64 => a >> (b & 63) & 1 == 0,
        op::S_BITCMP1_B64 => a >> (b & 63) & 1 == 1,
        _ => return None,
    })
}

fn compares_with_constants(opcode: Opcode, a: u32, constant: u32) -> Option<Folded> {
    let (x, y) = (a as i32, i32::from(constant as i16));
    let unsigned = constant & 0xffff;
    compare(match opcode {
        op::S_CMPK_EQ_I32 => x == y,
        op::S_CMPK_LG_I32 => x != y,
        op::S_CMPK_GT_I32 => x > y,
        op::S_CMPK_GE_I32 => x >= y,
        op::S_CMPK_LT_I32 => x < y,
        op::S_CMPK_LE_I32 => x <= y,
        op::S_CMPK_EQ_U32 => a == unsigned,
        op::S_CMPK_LG_U32 => a != unsigned,
        op::S_CMPK_GT_U32 => a > unsigned,
        op::S_CMPK_GE_U32 => a >= unsigned,
        op::S_CMPK_LT_U32 => a < unsigned,
        op::S_CMPK_LE_U32 => a <= unsigned,
        _ => return None,
    })
}
