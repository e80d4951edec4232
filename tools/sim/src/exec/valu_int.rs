//! Vector integer arithmetic and bit operations, on values of 16 to 64 bits.

use super::valu::{Bits, Done, EachLane, Shaped, Source, clamped, finish, lanes, mask_of};
use super::{Cx, Flow, Handler};
use crate::op::Op;
use crate::wave::{Lanes, expand_on};

pub(super) fn handler(name: &str) -> Option<Handler> {
    add_sub(name)
        .or_else(|| multiply(name))
        .or_else(|| min_max(name))
        .or_else(|| logic(name))
        .or_else(|| bits(name))
        .or_else(|| wide(name))
        .or_else(|| short(name))
}

fn add_sub(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_u32" | "v_add_nc_u32" => clamped!((a: u32, b: u32) -> u32 => i64::from(a) + i64::from(b)),
        "v_sub_u32" | "v_sub_nc_u32" => clamped!((a: u32, b: u32) -> u32 => i64::from(a) - i64::from(b)),
        "v_subrev_u32" | "v_subrev_nc_u32" => {
            clamped!((a: u32, b: u32) -> u32 => i64::from(b) - i64::from(a))
        }
        "v_add_i32" | "v_add_nc_i32" => clamped!((a: i32, b: i32) -> i32 => i64::from(a) + i64::from(b)),
        "v_sub_i32" | "v_sub_nc_i32" => clamped!((a: i32, b: i32) -> i32 => i64::from(a) - i64::from(b)),
        "v_add3_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_add(b).wrapping_add(c)),
        "v_lshl_add_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_shl(b).wrapping_add(c)),
        "v_add_lshl_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_add(b).wrapping_shl(c)),
        "v_xad_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => (a ^ b).wrapping_add(c)),
        _ => return None,
    })
}

fn multiply(name: &str) -> Option<Handler> {
    Some(match name {
        "v_mul_lo_u32" | "v_mul_lo_i32" => lanes!((a: u32, b: u32) -> u32 => a.wrapping_mul(b)),
        "v_mul_hi_u32" => lanes!((a: u32, b: u32) -> u32 => high(u64::from(a) * u64::from(b))),
        "v_mul_hi_i32" => lanes!((a: i32, b: i32) -> u32 => high((i64::from(a) * i64::from(b)) as u64)),
        "v_mul_i32_i24" => clamped!((a: u32, b: u32) -> i32 => i64::from(i24(a)) * i64::from(i24(b))),
        "v_mul_hi_i32_i24" => {
            lanes!((a: u32, b: u32) -> u32 => high((i64::from(i24(a)) * i64::from(i24(b))) as u64))
        }
        "v_mul_u32_u24" => clamped!((a: u32, b: u32) -> u32 => i64::from(u24(a)) * i64::from(u24(b))),
        "v_mul_hi_u32_u24" => {
            lanes!((a: u32, b: u32) -> u32 => high(u64::from(u24(a)) * u64::from(u24(b))))
        }
        "v_mad_i32_i24" => {
            clamped!((a: u32, b: u32, c: i32) -> i32 => i64::from(i24(a)) * i64::from(i24(b)) + i64::from(c))
        }
        "v_mad_u32_u24" => {
            clamped!((a: u32, b: u32, c: u32) -> u32 => i64::from(u24(a)) * i64::from(u24(b)) + i64::from(c))
        }
        "v_mad_u32_u16" => {
            clamped!((a: u16, b: u16, c: u32) -> u32 => i64::from(a) * i64::from(b) + i64::from(c))
        }
        "v_mad_i32_i16" => {
            clamped!((a: i16, b: i16, c: i32) -> i32 => i64::from(a) * i64::from(b) + i64::from(c))
        }
        _ => return None,
    })
}

fn min_max(name: &str) -> Option<Handler> {
    Some(match name {
        "v_min_i32" => lanes!((a: i32, b: i32) -> i32 => a.min(b)),
        "v_max_i32" => lanes!((a: i32, b: i32) -> i32 => a.max(b)),
        "v_min_u32" => lanes!((a: u32, b: u32) -> u32 => a.min(b)),
        "v_max_u32" => lanes!((a: u32, b: u32) -> u32 => a.max(b)),
        "v_min3_i32" => lanes!((a: i32, b: i32, c: i32) -> i32 => a.min(b).min(c)),
        "v_max3_i32" => lanes!((a: i32, b: i32, c: i32) -> i32 => a.max(b).max(c)),
        "v_min3_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.min(b).min(c)),
        "v_max3_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.max(b).max(c)),
        "v_med3_i32" => lanes!((a: i32, b: i32, c: i32) -> i32 => a.max(b).min(a.min(b).max(c))),
        "v_med3_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.max(b).min(a.min(b).max(c))),
        "v_min_i16" => lanes!((a: i16, b: i16) -> i16 => a.min(b)),
        "v_max_i16" => lanes!((a: i16, b: i16) -> i16 => a.max(b)),
        "v_min_u16" => lanes!((a: u16, b: u16) -> u16 => a.min(b)),
        "v_max_u16" => lanes!((a: u16, b: u16) -> u16 => a.max(b)),
        "v_min3_i16" => lanes!((a: i16, b: i16, c: i16) -> i16 => a.min(b).min(c)),
        "v_max3_i16" => lanes!((a: i16, b: i16, c: i16) -> i16 => a.max(b).max(c)),
        "v_med3_i16" => lanes!((a: i16, b: i16, c: i16) -> i16 => a.max(b).min(a.min(b).max(c))),
        "v_min3_u16" => lanes!((a: u16, b: u16, c: u16) -> u16 => a.min(b).min(c)),
        "v_max3_u16" => lanes!((a: u16, b: u16, c: u16) -> u16 => a.max(b).max(c)),
        "v_med3_u16" => lanes!((a: u16, b: u16, c: u16) -> u16 => a.max(b).min(a.min(b).max(c))),
        _ => return None,
    })
}

fn logic(name: &str) -> Option<Handler> {
    Some(match name {
        "v_mov_b32" => lanes!((a: u32) -> u32 => a),
        "v_nop" | "v_clrexcp" | "v_pipeflush" | "v_nop_e64" | "v_clrexcp_e64" | "v_pipeflush_e64" => {
            |_, _| Flow::Next
        }
        "v_not_b32" => lanes!((a: u32) -> u32 => !a),
        "v_and_b32" => lanes!((a: u32, b: u32) -> u32 => a & b),
        "v_or_b32" => lanes!((a: u32, b: u32) -> u32 => a | b),
        "v_xor_b32" => lanes!((a: u32, b: u32) -> u32 => a ^ b),
        "v_xnor_b32" => lanes!((a: u32, b: u32) -> u32 => !(a ^ b)),
        "v_xor3_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a ^ b ^ c),
        "v_and_or_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a & b | c),
        "v_or3_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a | b | c),
        "v_bfi_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a & b | !a & c),
        "v_lshl_or_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_shl(b) | c),
        "v_lshlrev_b32" => lanes!((a: u32, b: u32) -> u32 => b.wrapping_shl(a)),
        "v_lshrrev_b32" => lanes!((a: u32, b: u32) -> u32 => b.wrapping_shr(a)),
        "v_ashrrev_i32" => lanes!((a: u32, b: i32) -> i32 => b.wrapping_shr(a)),
        "v_lshl_b32" => lanes!((a: u32, b: u32) -> u32 => a.wrapping_shl(b)),
        "v_lshr_b32" => lanes!((a: u32, b: u32) -> u32 => a.wrapping_shr(b)),
        "v_ashr_i32" => lanes!((a: i32, b: u32) -> i32 => a.wrapping_shr(b)),
        "v_cndmask_b32" => select,
        _ => return None,
    })
}

fn bits(name: &str) -> Option<Handler> {
    Some(match name {
        "v_bfe_u32" => {
            lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_shr(b) & ((1u32 << (c & 31)) - 1))
        }
        "v_bfe_i32" => lanes!((a: i32, b: u32, c: u32) -> i32 => {
            let spare = 32 - (c & 31);
            // A field of width 0 has the value 0. The shifts below would not give 0, because Rust reduces a
            // shift by 32 bits to a shift by 0.
            if spare == 32 { 0 } else { a.wrapping_shr(b).wrapping_shl(spare).wrapping_shr(spare) }
        }),
        "v_bfm_b32" => lanes!((a: u32, b: u32) -> u32 => ((1u32 << (a & 31)) - 1) << (b & 31)),
        "v_bfrev_b32" => lanes!((a: u32) -> u32 => a.reverse_bits()),
        "v_bcnt_u32_b32" => lanes!((a: u32, b: u32) -> u32 => a.count_ones().wrapping_add(b)),
        "v_ffbh_u32" => lanes!((a: u32) -> u32 => if a == 0 { u32::MAX } else { a.leading_zeros() }),
        "v_ffbl_b32" => lanes!((a: u32) -> u32 => if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        "v_ffbh_i32" => lanes!((a: i32) -> u32 => {
            let changes = (a ^ a >> 31) as u32;
            if changes == 0 { u32::MAX } else { changes.leading_zeros() }
        }),
        "v_alignbit_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => {
            ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
        }),
        "v_alignbyte_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => {
            ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
        }),
        "v_perm_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => permute_bytes(a, b, c)),
        "v_screen_partition_4se_b32" => {
            lanes!((a: u32) -> u32 => u32::from(SCREEN_PARTITION[a as usize & 255]))
        }
        _ => return None,
    })
}

fn wide(name: &str) -> Option<Handler> {
    Some(match name {
        "v_mov_b64" => lanes!((a: u64) -> u64 => a),
        // The shift has three bits (CDNA 3 ISA).
        "v_lshl_add_u64" => lanes!((a: u64, b: u32, c: u64) -> u64 => (a << (b & 7)).wrapping_add(c)),
        "v_lshlrev_b64" => lanes!((a: u32, b: u64) -> u64 => b.wrapping_shl(a)),
        "v_lshrrev_b64" => lanes!((a: u32, b: u64) -> u64 => b.wrapping_shr(a)),
        "v_lshl_b64" => lanes!((a: u64, b: u32) -> u64 => a.wrapping_shl(b)),
        "v_lshr_b64" => lanes!((a: u64, b: u32) -> u64 => a.wrapping_shr(b)),
        "v_ashr_i64" => lanes!((a: i64, b: u32) -> i64 => a.wrapping_shr(b)),
        "v_ashrrev_i64" => lanes!((a: u32, b: i64) -> i64 => b.wrapping_shr(a)),
        _ => return None,
    })
}

fn short(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_u16" | "v_add_nc_u16" => clamped!((a: u16, b: u16) -> u16 => i64::from(a) + i64::from(b)),
        "v_sub_u16" | "v_sub_nc_u16" => clamped!((a: u16, b: u16) -> u16 => i64::from(a) - i64::from(b)),
        "v_subrev_u16" => clamped!((a: u16, b: u16) -> u16 => i64::from(b) - i64::from(a)),
        "v_add_i16" | "v_add_nc_i16" => clamped!((a: i16, b: i16) -> i16 => i64::from(a) + i64::from(b)),
        "v_sub_i16" | "v_sub_nc_i16" => clamped!((a: i16, b: i16) -> i16 => i64::from(a) - i64::from(b)),
        "v_mul_lo_u16" => lanes!((a: u16, b: u16) -> u16 => a.wrapping_mul(b)),
        "v_lshlrev_b16" => lanes!((a: u16, b: u16) -> u16 => b.wrapping_shl(u32::from(a))),
        "v_lshrrev_b16" => lanes!((a: u16, b: u16) -> u16 => b.wrapping_shr(u32::from(a))),
        "v_ashrrev_i16" => lanes!((a: u16, b: i16) -> i16 => b.wrapping_shr(u32::from(a))),
        "v_mad_u16" | "v_mad_legacy_u16" => {
            clamped!((a: u16, b: u16, c: u16) -> u16 => i64::from(a) * i64::from(b) + i64::from(c))
        }
        "v_mad_i16" | "v_mad_legacy_i16" => {
            clamped!((a: i16, b: i16, c: i16) -> i16 => i64::from(a) * i64::from(b) + i64::from(c))
        }
        _ => return None,
    })
}

/// The result of `v_screen_partition_4se_b32` for each value of the source byte. Each digit of the literal is
/// one entry of the table (Vega ISA, VOP1).
static SCREEN_PARTITION: [u8; 256] = {
    let digits = b"\
        137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff\
        ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7\
        bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5\
        9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let digit = digits[at];
        table[at] = if digit <= b'9' { digit - b'0' } else { digit - b'a' + 10 };
        at += 1;
    }
    table
};

/// Returns the upper half of a product.
#[inline(always)]
fn high(product: u64) -> u32 {
    (product >> 32) as u32
}

#[inline(always)]
fn i24(value: u32) -> i32 {
    (value << 8) as i32 >> 8
}

#[inline(always)]
fn u24(value: u32) -> u32 {
    value & 0xff_ffff
}

/// Returns a dword in which each byte is chosen by the same byte of `selector`. The values 0 to 7 choose one
/// of the eight bytes of `a` and `b`, where byte 0 is the lowest byte of `b`. The values 8 to 11 choose the
/// sign of a 16-bit part of `a` and `b`, extended to a byte. The value 12 gives zero, and higher values give
/// 0xff.
#[inline(always)]
fn permute_bytes(a: u32, b: u32, selector: u32) -> u32 {
    let both = u64::from(a) << 32 | u64::from(b);
    (0..4).fold(0, |value, at| {
        let byte = match selector >> (8 * at) & 255 {
            select @ 0..=7 => (both >> (8 * select)) as u32 & 255,
            select @ 8..=11 => 255 * ((both >> (16 * (select - 8) + 15)) as u32 & 1),
            12 => 0,
            _ => 255,
        };
        value | byte << (8 * at)
    })
}

/// Selects between two sources in each lane. The result is the second source if the lane's bit in the mask is
/// set, and the first source otherwise.
fn select(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let mask = expand_on(cx.wave.arch, mask_of(cx.wave, op.src[2]));
    match cx.lanewise(op, [&Bits::SHAPE; 2], Select(mask)) {
        Done::Landed => Flow::Next,
        _ => finish::<Bits>(cx.wave, cx.scratch, op),
    }
}

struct Select(Lanes);

impl EachLane<2> for Select {
    type Result = Bits;

    #[inline(always)]
    fn lane(&self, [a, b]: &[Source<'_>; 2], lane: usize) -> (Bits, bool) {
        (Bits(b[0][lane] & self.0[lane] | a[0][lane] & !self.0[lane]), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_permuted() {
        assert_eq!(permute_bytes(0x7766_5544, 0x3322_1100, 0x0706_0100), 0x7766_1100);
        assert_eq!(permute_bytes(0x8000_0000, 0x0000_8000, 0x0d0c_0b08), 0xff00_ffff);
        assert_eq!(permute_bytes(0x8000_0000, 0x0000_8000, 0x0a09_0a09), 0);
    }
}
