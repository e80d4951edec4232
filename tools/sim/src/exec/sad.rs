//! Vector instructions on bytes: sums of absolute differences (one sum or four sums at once), averages, and
//! clamping.

use super::valu::{clamped, fetch, lanes, plain, write};
use super::{Cx, Flow, Handler, dpp};
use crate::op::Op;

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "v_sad_u32" => clamped!((a: u32, b: u32, c: u32) -> u32 => i64::from(a.abs_diff(b)) + i64::from(c)),
        "v_sad_u16" => clamped!((a: u32, b: u32, c: u32) -> u32 => {
            i64::from((a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16)) + i64::from(c)
        }),
        "v_sad_u8" => {
            clamped!((a: u32, b: u32, c: u32) -> u32 => i64::from(sad8(a, b, false)) + i64::from(c))
        }
        "v_sad_hi_u8" => {
            clamped!((a: u32, b: u32, c: u32) -> u32 => i64::from(sad8(a, b, false) << 16) + i64::from(c))
        }
        "v_msad_u8" => {
            clamped!((a: u32, b: u32, c: u32) -> u32 => i64::from(sad8(a, b, true)) + i64::from(c))
        }
        "v_qsad_pk_u16_u8" => |cx, op| cx.map3(op, quad(op.clamp(), false)),
        "v_mqsad_pk_u16_u8" => |cx, op| cx.map3(op, quad(op.clamp(), true)),
        "v_mqsad_u32_u8" => quad_words,
        "v_lerp_u8" => lanes!((a: u32, b: u32, c: u32) -> u32 => {
            let byte = |at: u32| ((a >> at & 255) + (b >> at & 255) + (c >> at & 1)) >> 1 << at;
            byte(0) | byte(8) | byte(16) | byte(24)
        }),
        _ => return None,
    })
}

/// Returns the sum of the absolute differences between the bytes of `a` and the bytes of `reference`. If
/// `masked` is set, a byte does not count if its reference byte is zero.
#[inline(always)]
fn sad8(a: u32, reference: u32, masked: bool) -> u32 {
    (0..4).fold(0, |sum, byte| {
        let (a, b) = (a >> (8 * byte) & 255, reference >> (8 * byte) & 255);
        if masked && b == 0 { sum } else { sum + a.abs_diff(b) }
    })
}

/// Returns a function that computes four 16-bit sums of absolute differences. Each sum is for four
/// neighbouring bytes of the first source; these start at byte 0, 1, 2 or 3.
fn quad(clamp: bool, masked: bool) -> impl Fn(u64, u32, u64) -> u64 {
    move |a, reference, c| {
        (0..4).fold(0, |all, at| {
            let sum = (c >> (16 * at) & 0xffff) as u32 + sad8((a >> (8 * at)) as u32, reference, masked);
            let sum = if clamp { sum.min(0xffff) } else { sum & 0xffff };
            all | u64::from(sum) << (16 * at)
        })
    }
}

/// Computes four sums of 32 bits in four registers.
fn quad_words(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let [a, b, ..] = &mut cx.scratch.sources;
    let a = fetch::<u64>(cx.wave, op, 0, a);
    let b = fetch::<u32>(cx.wave, op, 1, b);
    let mut sums = [[0; 64]; 4];
    for (at, sums) in sums.iter_mut().enumerate() {
        let mut temp = [[0; 64]; 2];
        let old = plain(cx.wave, super::lane::following(op.src[2], at as u16), 1, &mut temp)[0];
        for (lane, sum) in sums.iter_mut().enumerate() {
            let bytes = (u64::from(a[0][lane]) | u64::from(a[1][lane]) << 32) >> (8 * at);
            let difference = sad8(bytes as u32, b[0][lane], true);
            *sum = match op.clamp() {
                true => old[lane].saturating_add(difference),
                false => old[lane].wrapping_add(difference),
            };
        }
    }
    let mask = dpp::write_mask(op, cx.wave.exec());
    for (at, sums) in sums.iter().enumerate() {
        write(cx.wave, op.dst + at as u16, sums, mask);
    }
    Flow::Next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_differences() {
        assert_eq!(sad8(0x01ff_0010, 0x0400_0000, false), 3 + 255 + 16);
        assert_eq!(sad8(0x01ff_0010, 0x0400_0000, true), 3);
    }

    #[test]
    fn four_at_once() {
        // Bytes 1 2 3 4 5 6 7 8 against 1 2 3 4: the sums are 0, 4, 8, 12.
        let bytes = 0x0807_0605_0403_0201;
        assert_eq!(quad(false, false)(bytes, 0x0403_0201, 0xffff_0002_0001_0000), 0x000b_000a_0005_0000);
        assert_eq!(quad(true, false)(bytes, 0x0403_0201, 0xffff_0002_0001_0000), 0xffff_000a_0005_0000);
        // Only the lowest byte of the reference is not zero.
        assert_eq!(quad(false, true)(bytes, 0x0000_0001, 0), 0x0003_0002_0001_0000);
    }
}
