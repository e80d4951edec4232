//! Vector integer arithmetic and bits, 16 to 64 bits wide.

use super::valu::{
    Bits, Scratch2, Source, Value, collect_mask, fetch, finish, lanes, mask_of, plain, write, write_mask,
};
use super::{Cx, Flow, Handler};
use crate::op::Op;
use crate::wave::{Lanes, expand};

/// Instructions that implement CLAMP as saturation.
pub(super) fn clamps(name: &str) -> bool {
    matches!(
        name,
        "v_add_u32"
            | "v_sub_u32"
            | "v_subrev_u32"
            | "v_add_i32"
            | "v_sub_i32"
            | "v_add_u16"
            | "v_sub_u16"
            | "v_subrev_u16"
            | "v_add_i16"
            | "v_sub_i16"
    )
}

/// A handler of two sources with one meaning without and one with CLAMP.
macro_rules! saturating {
    (($a:ident, $b:ident: $T:ty) $plain:expr, $saturated:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            if op.clamp() {
                cx.map2(op, |$a: $T, $b: $T| -> $T { $saturated })
            } else {
                cx.map2(op, |$a: $T, $b: $T| -> $T { $plain })
            }
        }
        run as Handler
    }};
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    add_sub(name)
        .or_else(|| multiply(name))
        .or_else(|| min_max(name))
        .or_else(|| logic(name))
        .or_else(|| bits(name))
        .or_else(|| wide(name))
        .or_else(|| short(name))
        .or_else(|| sums(name))
}

fn add_sub(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_u32" => saturating!((a, b: u32) a.wrapping_add(b), a.saturating_add(b)),
        "v_sub_u32" => saturating!((a, b: u32) a.wrapping_sub(b), a.saturating_sub(b)),
        "v_subrev_u32" => saturating!((a, b: u32) b.wrapping_sub(a), b.saturating_sub(a)),
        "v_add_i32" => saturating!((a, b: i32) a.wrapping_add(b), a.saturating_add(b)),
        "v_sub_i32" => saturating!((a, b: i32) a.wrapping_sub(b), a.saturating_sub(b)),
        "v_add_co_u32" => |cx, op| carry(cx, op, |a, b, _| wide_sum(a, b, 0)),
        "v_sub_co_u32" => |cx, op| carry(cx, op, |a, b, _| difference(a, b, 0)),
        "v_subrev_co_u32" => |cx, op| carry(cx, op, |a, b, _| difference(b, a, 0)),
        "v_addc_co_u32" => |cx, op| carry(cx, op, wide_sum),
        "v_subb_co_u32" => |cx, op| carry(cx, op, difference),
        "v_subbrev_co_u32" => |cx, op| carry(cx, op, |a, b, carry| difference(b, a, carry)),
        "v_add3_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_add(b).wrapping_add(c)),
        "v_lshl_add_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_shl(b).wrapping_add(c)),
        "v_add_lshl_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_add(b).wrapping_shl(c)),
        "v_xad_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => (a ^ b).wrapping_add(c)),
        _ => return None,
    })
}

fn multiply(name: &str) -> Option<Handler> {
    Some(match name {
        "v_mul_lo_u32" => lanes!((a: u32, b: u32) -> u32 => a.wrapping_mul(b)),
        "v_mul_hi_u32" => lanes!((a: u32, b: u32) -> u32 => high(u64::from(a) * u64::from(b))),
        "v_mul_hi_i32" => lanes!((a: i32, b: i32) -> u32 => high((i64::from(a) * i64::from(b)) as u64)),
        "v_mul_i32_i24" => lanes!((a: u32, b: u32) -> i32 => i24(a).wrapping_mul(i24(b))),
        "v_mul_hi_i32_i24" => {
            lanes!((a: u32, b: u32) -> u32 => high((i64::from(i24(a)) * i64::from(i24(b))) as u64))
        }
        "v_mul_u32_u24" => lanes!((a: u32, b: u32) -> u32 => u24(a).wrapping_mul(u24(b))),
        "v_mul_hi_u32_u24" => {
            lanes!((a: u32, b: u32) -> u32 => high(u64::from(u24(a)) * u64::from(u24(b))))
        }
        "v_mad_i32_i24" => {
            lanes!((a: u32, b: u32, c: i32) -> i32 => i24(a).wrapping_mul(i24(b)).wrapping_add(c))
        }
        "v_mad_u32_u24" => {
            lanes!((a: u32, b: u32, c: u32) -> u32 => u24(a).wrapping_mul(u24(b)).wrapping_add(c))
        }
        "v_mad_u32_u16" => {
            lanes!((a: u16, b: u16, c: u32) -> u32 => (u32::from(a) * u32::from(b)).wrapping_add(c))
        }
        "v_mad_i32_i16" => {
            lanes!((a: i16, b: i16, c: i32) -> i32 => (i32::from(a) * i32::from(b)).wrapping_add(c))
        }
        "v_mad_u64_u32" => {
            |cx, op| multiply_add64(cx, op, |a, b, c| (u64::from(a) * u64::from(b)).overflowing_add(c))
        }
        "v_mad_i64_i32" => |cx, op| {
            multiply_add64(cx, op, |a, b, c| {
                let (sum, overflow) = (i64::from(a as i32) * i64::from(b as i32)).overflowing_add(c as i64);
                (sum as u64, overflow)
            })
        },
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
        _ => return None,
    })
}

fn logic(name: &str) -> Option<Handler> {
    Some(match name {
        "v_mov_b32" => lanes!((a: u32) -> u32 => a),
        "v_nop" | "v_clrexcp" => |_, _| Flow::Next,
        "v_not_b32" => lanes!((a: u32) -> u32 => !a),
        "v_and_b32" => lanes!((a: u32, b: u32) -> u32 => a & b),
        "v_or_b32" => lanes!((a: u32, b: u32) -> u32 => a | b),
        "v_xor_b32" => lanes!((a: u32, b: u32) -> u32 => a ^ b),
        "v_xnor_b32" => lanes!((a: u32, b: u32) -> u32 => !(a ^ b)),
        "v_and_or_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a & b | c),
        "v_or3_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a | b | c),
        "v_bfi_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a & b | !a & c),
        "v_lshl_or_b32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.wrapping_shl(b) | c),
        "v_lshlrev_b32" => lanes!((a: u32, b: u32) -> u32 => b.wrapping_shl(a)),
        "v_lshrrev_b32" => lanes!((a: u32, b: u32) -> u32 => b.wrapping_shr(a)),
        "v_ashrrev_i32" => lanes!((a: u32, b: i32) -> i32 => b.wrapping_shr(a)),
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
            // Width 0 gives 0; a shift by 32 would not.
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
        "v_swap_b32" => swap,
        _ => return None,
    })
}

fn wide(name: &str) -> Option<Handler> {
    Some(match name {
        "v_lshlrev_b64" => lanes!((a: u32, b: u64) -> u64 => b.wrapping_shl(a)),
        "v_lshrrev_b64" => lanes!((a: u32, b: u64) -> u64 => b.wrapping_shr(a)),
        "v_ashrrev_i64" => lanes!((a: u32, b: i64) -> i64 => b.wrapping_shr(a)),
        _ => return None,
    })
}

fn short(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_u16" => saturating!((a, b: u16) a.wrapping_add(b), a.saturating_add(b)),
        "v_sub_u16" => saturating!((a, b: u16) a.wrapping_sub(b), a.saturating_sub(b)),
        "v_subrev_u16" => saturating!((a, b: u16) b.wrapping_sub(a), b.saturating_sub(a)),
        "v_add_i16" => saturating!((a, b: i16) a.wrapping_add(b), a.saturating_add(b)),
        "v_sub_i16" => saturating!((a, b: i16) a.wrapping_sub(b), a.saturating_sub(b)),
        "v_mul_lo_u16" => lanes!((a: u16, b: u16) -> u16 => a.wrapping_mul(b)),
        "v_lshlrev_b16" => lanes!((a: u16, b: u16) -> u16 => b.wrapping_shl(u32::from(a))),
        "v_lshrrev_b16" => lanes!((a: u16, b: u16) -> u16 => b.wrapping_shr(u32::from(a))),
        "v_ashrrev_i16" => lanes!((a: u16, b: i16) -> i16 => b.wrapping_shr(u32::from(a))),
        "v_mad_legacy_u16" | "v_mad_legacy_i16" => {
            lanes!((a: u16, b: u16, c: u16) -> u16 => a.wrapping_mul(b).wrapping_add(c))
        }
        _ => return None,
    })
}

/// Sums of absolute differences.
fn sums(name: &str) -> Option<Handler> {
    Some(match name {
        "v_sad_u32" => lanes!((a: u32, b: u32, c: u32) -> u32 => a.abs_diff(b).wrapping_add(c)),
        "v_sad_u16" => lanes!((a: u32, b: u32, c: u32) -> u32 => {
            ((a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16)).wrapping_add(c)
        }),
        "v_sad_u8" => lanes!((a: u32, b: u32, c: u32) -> u32 => sad8(a, b, false).wrapping_add(c)),
        "v_sad_hi_u8" => lanes!((a: u32, b: u32, c: u32) -> u32 => (sad8(a, b, false) << 16).wrapping_add(c)),
        "v_msad_u8" => lanes!((a: u32, b: u32, c: u32) -> u32 => sad8(a, b, true).wrapping_add(c)),
        "v_lerp_u8" => lanes!((a: u32, b: u32, c: u32) -> u32 => {
            let byte = |at: u32| ((a >> at & 255) + (b >> at & 255) + (c >> at & 1)) >> 1 << at;
            byte(0) | byte(8) | byte(16) | byte(24)
        }),
        _ => return None,
    })
}

/// The upper half of a product.
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

#[inline(always)]
fn sad8(a: u32, b: u32, masked: bool) -> u32 {
    (0..4).fold(0, |sum, byte| {
        let (a, b) = (a >> (8 * byte) & 255, b >> (8 * byte) & 255);
        if masked && b == 0 { sum } else { sum + a.abs_diff(b) }
    })
}

/// Bytes of `{a, b}` by selector: 0-7 a byte, 8-11 the sign of a 16-bit part, 12 zero, above all ones.
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

#[inline(always)]
fn wide_sum(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, (sum >> 32) as u32)
}

#[inline(always)]
fn difference(a: u32, b: u32, borrow: u32) -> (u32, u32) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, (difference >> 32) as u32 & 1)
}

/// Addition or subtraction with a carry from and to lane masks.
#[inline(always)]
fn carry(cx: &mut Cx<'_>, op: &Op, f: impl Fn(u32, u32, u32) -> (u32, u32)) -> Flow {
    let exec = cx.wave.exec();
    let carry_in = expand(mask_of(cx.wave, op.src[2]));
    let mut carry_out: Lanes = [0; 64];
    let Scratch2 { a, b, result } = Scratch2::of(cx.scratch);
    let a = fetch::<u32>(cx.wave, op, 0, a);
    let b = fetch::<u32>(cx.wave, op, 1, b);
    cx.arch.dispatch(|| {
        for lane in 0..64 {
            (result[0][lane], carry_out[lane]) = f(a[0][lane], b[0][lane], carry_in[lane] & 1);
        }
    });
    let flow = finish::<u32>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, collect_mask(&carry_out) & exec);
    flow
}

fn multiply_add64(cx: &mut Cx<'_>, op: &Op, f: fn(u32, u32, u64) -> (u64, bool)) -> Flow {
    let exec = cx.wave.exec();
    let mut carry = 0u64;
    let [a, b, c, _] = &mut cx.scratch.sources;
    let a = plain(cx.wave, op.src[0], 1, a);
    let b = plain(cx.wave, op.src[1], 1, b);
    let c: Source<'_> = plain(cx.wave, op.src[2], 2, c);
    let result = &mut cx.scratch.result;
    for lane in 0..64 {
        let (value, overflow) = f(a[0][lane], b[0][lane], u64::from_words(c[0][lane], c[1][lane]));
        (result[0][lane], result[1][lane]) = value.words();
        carry |= u64::from(overflow) << lane;
    }
    let flow = finish::<u64>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, carry & exec);
    flow
}

/// The second source where the mask is set.
fn select(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let mask = expand(mask_of(cx.wave, op.src[2]));
    let Scratch2 { a, b, result } = Scratch2::of(cx.scratch);
    let a = fetch::<Bits>(cx.wave, op, 0, a);
    let b = fetch::<Bits>(cx.wave, op, 1, b);
    for lane in 0..64 {
        result[0][lane] = b[0][lane] & mask[lane] | a[0][lane] & !mask[lane];
    }
    finish::<Bits>(cx.wave, cx.scratch, op)
}

/// Exchanges two VGPRs: both are destinations.
fn swap(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let [a, b, ..] = &mut cx.scratch.sources;
    let first = *plain(cx.wave, op.src[0], 1, a)[0];
    let second = *plain(cx.wave, op.src[1], 1, b)[0];
    write(cx.wave, op.dst, &second, exec);
    write(cx.wave, op.dst2, &first, exec);
    Flow::Next
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

    #[test]
    fn borrows() {
        assert_eq!(difference(0, 1, 0), (u32::MAX, 1));
        assert_eq!(difference(5, 5, 1), (u32::MAX, 1));
        assert_eq!(difference(6, 5, 1), (0, 0));
        assert_eq!(difference(0, u32::MAX, 1), (0, 1));
        assert_eq!(wide_sum(u32::MAX, u32::MAX, 1), (u32::MAX, 1));
    }

    #[test]
    fn absolute_differences() {
        assert_eq!(sad8(0x01ff_0010, 0x0400_0000, false), 3 + 255 + 16);
        assert_eq!(sad8(0x01ff_0010, 0x0400_0000, true), 3);
    }
}
