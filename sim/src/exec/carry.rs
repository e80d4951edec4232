//! Additions and products with a carry in lane masks: VCC or SGPRs.

use super::valu::{Scratch2, Source, Value, collect_mask, fetch, finish, mask_of, write_mask};
use super::{Cx, Flow, Handler};
use crate::op::Op;
use crate::wave::{Lanes, expand};

/// By name, without the words that generations put into it: `v_add_i32` of GFX6 is `v_add_u32` of GFX8, `v_add_co_u32` of
/// GFX9; `v_addc_u32` is `v_addc_co_u32`, `v_add_co_ci_u32`.
pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "v_add_co_u32" | "v_add_u32" | "v_add_i32" => {
            |cx, op| carry(cx, op, u32::MAX, |a, b, _| sum(a, b, 0))
        }
        "v_sub_co_u32" | "v_sub_u32" | "v_sub_i32" => {
            |cx, op| carry(cx, op, 0, |a, b, _| difference(a, b, 0))
        }
        "v_subrev_co_u32" | "v_subrev_u32" | "v_subrev_i32" => {
            |cx, op| carry(cx, op, 0, |a, b, _| difference(b, a, 0))
        }
        "v_addc_co_u32" | "v_addc_u32" | "v_add_co_ci_u32" => |cx, op| carry(cx, op, u32::MAX, sum),
        "v_subb_co_u32" | "v_subb_u32" | "v_sub_co_ci_u32" => |cx, op| carry(cx, op, 0, difference),
        "v_subbrev_co_u32" | "v_subbrev_u32" | "v_subrev_co_ci_u32" => {
            |cx, op| carry(cx, op, 0, |a, b, carry| difference(b, a, carry))
        }
        "v_mad_u64_u32" => |cx, op| {
            multiply_add(cx, op, |a, b, c| {
                let (sum, carry) = (u64::from(a) * u64::from(b)).overflowing_add(c);
                (sum, carry, if carry { u64::MAX } else { sum })
            })
        },
        "v_mad_i64_i32" => |cx, op| {
            multiply_add(cx, op, |a, b, c| {
                let product = i64::from(a as i32) * i64::from(b as i32);
                let (sum, overflow) = product.overflowing_add(c as i64);
                (sum as u64, overflow, product.saturating_add(c as i64) as u64)
            })
        },
        _ => return None,
    })
}

#[inline(always)]
fn sum(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, (sum >> 32) as u32)
}

#[inline(always)]
fn difference(a: u32, b: u32, borrow: u32) -> (u32, u32) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, (difference >> 32) as u32 & 1)
}

/// `limit` is what CLAMP makes of a result with a carry.
#[inline(always)]
fn carry(cx: &mut Cx<'_>, op: &Op, limit: u32, f: impl Fn(u32, u32, u32) -> (u32, u32)) -> Flow {
    let exec = cx.wave.exec();
    let carry_in = expand(mask_of(cx.wave, op.src[2]));
    let clamp = if op.clamp() { u32::MAX } else { 0 };
    let mut carry_out: Lanes = [0; 64];
    let Scratch2 { a, b, result } = Scratch2::of(cx.scratch);
    let a = fetch::<u32>(cx.wave, op, 0, a);
    let b = fetch::<u32>(cx.wave, op, 1, b);
    cx.arch.dispatch(|| {
        for lane in 0..64 {
            let (value, carry) = f(a[0][lane], b[0][lane], carry_in[lane] & 1);
            let saturate = 0u32.wrapping_sub(carry) & clamp;
            result[0][lane] = value & !saturate | limit & saturate;
            carry_out[lane] = carry;
        }
    });
    let flow = finish::<u32>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, collect_mask(&carry_out) & exec);
    flow
}

/// The function gives the sum, whether it overflows, and the sum that CLAMP wants.
fn multiply_add(cx: &mut Cx<'_>, op: &Op, f: fn(u32, u32, u64) -> (u64, bool, u64)) -> Flow {
    let exec = cx.wave.exec();
    let mut carry = 0u64;
    let [a, b, c, _] = &mut cx.scratch.sources;
    let a = fetch::<u32>(cx.wave, op, 0, a);
    let b = fetch::<u32>(cx.wave, op, 1, b);
    let c: Source<'_> = fetch::<u64>(cx.wave, op, 2, c);
    let result = &mut cx.scratch.result;
    for lane in 0..64 {
        let (sum, overflow, clamped) = f(a[0][lane], b[0][lane], u64::from_words(c[0][lane], c[1][lane]));
        (result[0][lane], result[1][lane]) = if op.clamp() { clamped } else { sum }.words();
        carry |= u64::from(overflow) << lane;
    }
    let flow = finish::<u64>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, carry & exec);
    flow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrows() {
        assert_eq!(difference(0, 1, 0), (u32::MAX, 1));
        assert_eq!(difference(5, 5, 1), (u32::MAX, 1));
        assert_eq!(difference(6, 5, 1), (0, 0));
        assert_eq!(difference(0, u32::MAX, 1), (0, 1));
        assert_eq!(sum(u32::MAX, u32::MAX, 1), (u32::MAX, 1));
    }
}
