//! Vector additions, subtractions and multiply-adds with a carry for each lane. The carry of a lane is one
//! bit of a lane mask in VCC or in SGPRs.

use super::valu::{Scratch2, Source, Value, collect_mask, fetch, finish, mask_of, write_mask};
use super::{Cx, Flow, Handler};
use crate::op::Op;
use crate::wave::{Lanes, expand_on};

/// Returns the handler for an instruction, given its name without the suffix for the encoding. One
/// instruction has different names on different generations: `v_add_i32` (GFX6), `v_add_u32` (GFX8) and
/// `v_add_co_u32` (GFX9) are the same, and so are `v_addc_u32`, `v_addc_co_u32` and `v_add_co_ci_u32`.
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
    // The sum of three 32-bit numbers is computed by two 32-bit additions instead of one 64-bit addition. A
    // vector register of the host then holds twice as many lanes.
    let half = a.wrapping_add(b);
    let sum = half.wrapping_add(carry);
    (sum, u32::from(half < a) | u32::from(sum < half))
}

#[inline(always)]
fn difference(a: u32, b: u32, borrow: u32) -> (u32, u32) {
    let half = a.wrapping_sub(b);
    (half.wrapping_sub(borrow), u32::from(a < b) | u32::from(half < borrow))
}

/// Runs an addition or subtraction `f` with carry in all lanes. If CLAMP is set, lanes with a carry get the
/// result `limit`.
#[inline(always)]
fn carry(cx: &mut Cx<'_>, op: &Op, limit: u32, f: impl Fn(u32, u32, u32) -> (u32, u32)) -> Flow {
    let exec = cx.wave.exec();
    let carry_in = expand_on(cx.wave.arch, mask_of(cx.wave, op.src[2]));
    let clamp = if op.clamp() { u32::MAX } else { 0 };
    let Scratch2 { a, b, result } = Scratch2::from_scratch(cx.scratch);
    let a = fetch::<u32>(cx.wave, op, 0, a);
    let b = fetch::<u32>(cx.wave, op, 1, b);
    let carry_out =
        cx.wave.arch.dispatch(Sum { a, b, carry_in: &carry_in, clamp, limit, f, result: &mut result[0] });
    let flow = finish::<u32>(cx.wave, cx.scratch, op);
    write_mask(cx.wave, op.dst2, carry_out & exec);
    flow
}

/// The computation that [`carry`] makes in all lanes. It is a type that implements
/// [`EachLane`](super::valu::EachLane) and not a closure, because a closure cannot be marked
/// `#[inline(always)]`.
struct Sum<'a, F> {
    a: Source<'a>,
    b: Source<'a>,
    carry_in: &'a Lanes,
    clamp: u32,
    limit: u32,
    f: F,
    result: &'a mut Lanes,
}

impl<F: Fn(u32, u32, u32) -> (u32, u32)> pulp::WithSimd for Sum<'_, F> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> u64 {
        let (mut values, mut carries): (Lanes, Lanes) = ([0; 64], [0; 64]);
        for lane in 0..64 {
            let (value, carry) = (self.f)(self.a[0][lane], self.b[0][lane], self.carry_in[lane] & 1);
            let saturate = 0u32.wrapping_sub(carry) & self.clamp;
            values[lane] = value & !saturate | self.limit & saturate;
            carries[lane] = carry;
        }
        *self.result = values;
        collect_mask(&carries)
    }
}

/// Runs a multiply-add in all lanes. The function `f` returns the sum, whether the sum overflows, and the
/// result for an instruction with CLAMP.
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
