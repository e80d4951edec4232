//! Scalar arithmetic instructions: SOP1, SOP2, SOPK and SOPC.

use super::{Cx, Flow, Handler, hwreg, jump, masks, relative};
use crate::op::Op;

/// Makes the handler of a scalar instruction with 32-bit sources and a 32-bit result. The expression gives a
/// pair: the result and the new value of SCC.
macro_rules! s32 {
    (|$a:ident, $b:ident, $scc:ident| $body:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            let ($a, $b, $scc) = (cx.wave.scalar(op.src[0]), cx.wave.scalar(op.src[1]), cx.wave.scc);
            let _ = ($b, $scc);
            let (value, scc): (u32, bool) = $body;
            cx.wave.set_scalar(op.dst, value);
            cx.wave.scc = scc;
            Flow::Next
        }
        run as Handler
    }};
}

/// Makes the handler of a scalar instruction with 64-bit sources and a 64-bit result. The expression gives a
/// pair: the result and the new value of SCC.
macro_rules! s64 {
    (|$a:ident, $b:ident, $scc:ident| $body:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            let ($a, $b, $scc) = (cx.wave.scalar64(op.src[0]), cx.wave.scalar64(op.src[1]), cx.wave.scc);
            let _ = ($b, $scc);
            let (value, scc): (u64, bool) = $body;
            cx.wave.set_pair(usize::from(op.dst), value);
            cx.wave.scc = scc;
            Flow::Next
        }
        run as Handler
    }};
}

/// Makes the handler of a scalar instruction with a 64-bit source and a 32-bit result. The expression gives a
/// pair: the result and the new value of SCC.
macro_rules! s64to32 {
    (|$a:ident, $scc:ident| $body:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            let ($a, $scc) = (cx.wave.scalar64(op.src[0]), cx.wave.scc);
            let _ = $scc;
            let (value, scc): (u32, bool) = $body;
            cx.wave.set_scalar(op.dst, value);
            cx.wave.scc = scc;
            Flow::Next
        }
        run as Handler
    }};
}

/// Makes the handler of a scalar comparison. `$read` reads a source in the type that the instruction
/// compares.
macro_rules! scmp {
    ($read:ident, |$a:ident, $b:ident| $body:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            let ($a, $b) = (cx.wave.$read(op.src[0]), cx.wave.$read(op.src[1]));
            cx.wave.scc = $body;
            Flow::Next
        }
        run as Handler
    }};
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    moves(name)
        .or_else(|| arithmetic(name))
        .or_else(|| shifts(name))
        .or_else(|| logic(name))
        .or_else(|| bits(name))
        .or_else(|| compares(name))
        .or_else(|| constants(name))
        .or_else(|| masks::handler(name))
        .or_else(|| jump::handler(name))
        .or_else(|| relative::handler(name))
        .or_else(|| hwreg::handler(name))
}

fn moves(name: &str) -> Option<Handler> {
    Some(match name {
        "s_mov_b32" => s32!(|a, _b, scc| (a, scc)),
        "s_mov_b64" => s64!(|a, _b, scc| (a, scc)),
        "s_cmov_b32" => conditional_move,
        "s_cmov_b64" => conditional_move64,
        "s_cselect_b32" => s32!(|a, b, scc| (if scc { a } else { b }, scc)),
        "s_cselect_b64" => s64!(|a, b, scc| (if scc { a } else { b }, scc)),
        _ => return None,
    })
}

fn arithmetic(name: &str) -> Option<Handler> {
    Some(match name {
        "s_add_u32" => s32!(|a, b, _scc| a.overflowing_add(b)),
        "s_sub_u32" => s32!(|a, b, _scc| a.overflowing_sub(b)),
        "s_add_i32" => s32!(|a, b, _scc| signed((a as i32).overflowing_add(b as i32))),
        "s_sub_i32" => s32!(|a, b, _scc| signed((a as i32).overflowing_sub(b as i32))),
        "s_addc_u32" => s32!(|a, b, scc| {
            let sum = u64::from(a) + u64::from(b) + u64::from(scc);
            (sum as u32, sum >> 32 != 0)
        }),
        "s_subb_u32" => s32!(|a, b, scc| {
            let difference = i64::from(a) - i64::from(b) - i64::from(scc);
            (difference as u32, difference < 0)
        }),
        "s_min_i32" => s32!(|a, b, _scc| ((a as i32).min(b as i32) as u32, (a as i32) < b as i32)),
        "s_max_i32" => s32!(|a, b, _scc| ((a as i32).max(b as i32) as u32, (a as i32) > b as i32)),
        "s_min_u32" => s32!(|a, b, _scc| (a.min(b), a < b)),
        "s_max_u32" => s32!(|a, b, _scc| (a.max(b), a > b)),
        "s_mul_i32" => s32!(|a, b, scc| (a.wrapping_mul(b), scc)),
        "s_mul_hi_u32" => s32!(|a, b, scc| (high(u64::from(a) * u64::from(b)), scc)),
        "s_mul_hi_i32" => s32!(|a, b, scc| (high((i64::from(a as i32) * i64::from(b as i32)) as u64), scc)),
        "s_abs_i32" => s32!(|a, _b, _scc| nonzero((a as i32).wrapping_abs() as u32)),
        "s_absdiff_i32" => {
            s32!(|a, b, _scc| nonzero((a as i32).wrapping_sub(b as i32).wrapping_abs() as u32))
        }
        "s_lshl1_add_u32" => s32!(|a, b, _scc| shift_add(a, b, 1)),
        "s_lshl2_add_u32" => s32!(|a, b, _scc| shift_add(a, b, 2)),
        "s_lshl3_add_u32" => s32!(|a, b, _scc| shift_add(a, b, 3)),
        "s_lshl4_add_u32" => s32!(|a, b, _scc| shift_add(a, b, 4)),
        "s_sext_i32_i8" => s32!(|a, _b, scc| (a as i8 as u32, scc)),
        "s_sext_i32_i16" => s32!(|a, _b, scc| (a as i16 as u32, scc)),
        "s_pack_ll_b32_b16" => s32!(|a, b, scc| (a & 0xffff | b << 16, scc)),
        "s_pack_lh_b32_b16" => s32!(|a, b, scc| (a & 0xffff | b & 0xffff_0000, scc)),
        "s_pack_hh_b32_b16" => s32!(|a, b, scc| (a >> 16 | b & 0xffff_0000, scc)),
        _ => return None,
    })
}

fn shifts(name: &str) -> Option<Handler> {
    Some(match name {
        "s_lshl_b32" => s32!(|a, b, _scc| nonzero(a.wrapping_shl(b))),
        "s_lshr_b32" => s32!(|a, b, _scc| nonzero(a.wrapping_shr(b))),
        "s_ashr_i32" => s32!(|a, b, _scc| nonzero((a as i32).wrapping_shr(b) as u32)),
        "s_lshl_b64" => s64!(|a, b, _scc| nonzero64(a.wrapping_shl(b as u32))),
        "s_lshr_b64" => s64!(|a, b, _scc| nonzero64(a.wrapping_shr(b as u32))),
        "s_ashr_i64" => s64!(|a, b, _scc| nonzero64((a as i64).wrapping_shr(b as u32) as u64)),
        "s_bfm_b32" => s32!(|a, b, scc| (((1u32 << (a & 31)) - 1) << (b & 31), scc)),
        "s_bfm_b64" => s64!(|a, b, scc| (((1u64 << (a & 63)) - 1) << (b & 63), scc)),
        "s_bfe_u32" => s32!(|a, b, _scc| nonzero(field(u64::from(a), b, 31) as u32)),
        "s_bfe_i32" => s32!(|a, b, _scc| nonzero(signed_field(i64::from(a as i32), b, 31, 32) as u32)),
        "s_bfe_u64" => s64!(|a, b, _scc| nonzero64(field(a, b as u32, 63))),
        "s_bfe_i64" => s64!(|a, b, _scc| nonzero64(signed_field(a as i64, b as u32, 63, 64) as u64)),
        _ => return None,
    })
}

fn logic(name: &str) -> Option<Handler> {
    Some(match name {
        "s_and_b32" => s32!(|a, b, _scc| nonzero(a & b)),
        "s_or_b32" => s32!(|a, b, _scc| nonzero(a | b)),
        "s_xor_b32" => s32!(|a, b, _scc| nonzero(a ^ b)),
        "s_andn2_b32" => s32!(|a, b, _scc| nonzero(a & !b)),
        "s_orn2_b32" => s32!(|a, b, _scc| nonzero(a | !b)),
        "s_nand_b32" => s32!(|a, b, _scc| nonzero(!(a & b))),
        "s_nor_b32" => s32!(|a, b, _scc| nonzero(!(a | b))),
        "s_xnor_b32" => s32!(|a, b, _scc| nonzero(!(a ^ b))),
        "s_not_b32" => s32!(|a, _b, _scc| nonzero(!a)),
        "s_and_b64" => s64!(|a, b, _scc| nonzero64(a & b)),
        "s_or_b64" => s64!(|a, b, _scc| nonzero64(a | b)),
        "s_xor_b64" => s64!(|a, b, _scc| nonzero64(a ^ b)),
        "s_andn2_b64" => s64!(|a, b, _scc| nonzero64(a & !b)),
        "s_orn2_b64" => s64!(|a, b, _scc| nonzero64(a | !b)),
        "s_nand_b64" => s64!(|a, b, _scc| nonzero64(!(a & b))),
        "s_nor_b64" => s64!(|a, b, _scc| nonzero64(!(a | b))),
        "s_xnor_b64" => s64!(|a, b, _scc| nonzero64(!(a ^ b))),
        "s_not_b64" => s64!(|a, _b, _scc| nonzero64(!a)),
        _ => return None,
    })
}

fn bits(name: &str) -> Option<Handler> {
    Some(match name {
        "s_brev_b32" => s32!(|a, _b, scc| (a.reverse_bits(), scc)),
        "s_brev_b64" => s64!(|a, _b, scc| (a.reverse_bits(), scc)),
        "s_bcnt0_i32_b32" => s32!(|a, _b, _scc| nonzero(a.count_zeros())),
        "s_bcnt1_i32_b32" => s32!(|a, _b, _scc| nonzero(a.count_ones())),
        "s_bcnt0_i32_b64" => s64to32!(|a, _scc| nonzero(a.count_zeros())),
        "s_bcnt1_i32_b64" => s64to32!(|a, _scc| nonzero(a.count_ones())),
        "s_ff0_i32_b32" => s32!(|a, _b, scc| (first(a == !0, a.trailing_ones()), scc)),
        "s_ff1_i32_b32" => s32!(|a, _b, scc| (first(a == 0, a.trailing_zeros()), scc)),
        "s_ff0_i32_b64" => s64to32!(|a, scc| (first(a == !0, a.trailing_ones()), scc)),
        "s_ff1_i32_b64" => s64to32!(|a, scc| (first(a == 0, a.trailing_zeros()), scc)),
        "s_flbit_i32_b32" => s32!(|a, _b, scc| (first(a == 0, a.leading_zeros()), scc)),
        "s_flbit_i32_b64" => s64to32!(|a, scc| (first(a == 0, a.leading_zeros()), scc)),
        "s_flbit_i32" => s32!(|a, _b, scc| {
            let changes = a ^ (a as i32 >> 31) as u32;
            (first(changes == 0, changes.leading_zeros()), scc)
        }),
        "s_flbit_i32_i64" => s64to32!(|a, scc| {
            let changes = a ^ (a as i64 >> 63) as u64;
            (first(changes == 0, changes.leading_zeros()), scc)
        }),
        // The tied destination is the second source.
        "s_bitset0_b32" => s32!(|a, b, scc| (b & !(1 << (a & 31)), scc)),
        "s_bitset1_b32" => s32!(|a, b, scc| (b | 1 << (a & 31), scc)),
        "s_bitset0_b64" => s64!(|a, b, scc| (b & !(1 << (a & 63)), scc)),
        "s_bitset1_b64" => s64!(|a, b, scc| (b | 1 << (a & 63), scc)),
        "s_quadmask_b32" => s32!(|a, _b, _scc| nonzero(quads(u64::from(a)) as u32)),
        "s_quadmask_b64" => s64!(|a, _b, _scc| nonzero64(quads(a))),
        "s_wqm_b32" => s32!(|a, _b, _scc| nonzero(whole_quads(u64::from(a)) as u32)),
        "s_wqm_b64" => s64!(|a, _b, _scc| nonzero64(whole_quads(a))),
        "s_bitreplicate_b64_b32" => {
            s64!(|a, _b, scc| { ((0..32).fold(0, |bits, at| bits | ((a >> at & 1) * 3) << (2 * at)), scc) })
        }
        _ => return None,
    })
}

fn compares(name: &str) -> Option<Handler> {
    Some(match name {
        "s_cmp_eq_i32" | "s_cmp_eq_u32" => scmp!(scalar, |a, b| a == b),
        "s_cmp_lg_i32" | "s_cmp_lg_u32" => scmp!(scalar, |a, b| a != b),
        "s_cmp_gt_i32" => scmp!(scalar, |a, b| a as i32 > b as i32),
        "s_cmp_ge_i32" => scmp!(scalar, |a, b| a as i32 >= b as i32),
        "s_cmp_lt_i32" => scmp!(scalar, |a, b| (a as i32) < b as i32),
        "s_cmp_le_i32" => scmp!(scalar, |a, b| a as i32 <= b as i32),
        "s_cmp_gt_u32" => scmp!(scalar, |a, b| a > b),
        "s_cmp_ge_u32" => scmp!(scalar, |a, b| a >= b),
        "s_cmp_lt_u32" => scmp!(scalar, |a, b| a < b),
        "s_cmp_le_u32" => scmp!(scalar, |a, b| a <= b),
        "s_cmp_eq_u64" => scmp!(scalar64, |a, b| a == b),
        "s_cmp_lg_u64" => scmp!(scalar64, |a, b| a != b),
        "s_bitcmp0_b32" => scmp!(scalar, |a, b| a >> (b & 31) & 1 == 0),
        "s_bitcmp1_b32" => scmp!(scalar, |a, b| a >> (b & 31) & 1 != 0),
        "s_bitcmp0_b64" => scmp!(scalar64, |a, b| a >> (b & 63) & 1 == 0),
        "s_bitcmp1_b64" => scmp!(scalar64, |a, b| a >> (b & 63) & 1 != 0),
        _ => return None,
    })
}

fn constants(name: &str) -> Option<Handler> {
    Some(match name {
        "s_movk_i32" => s32!(|a, _b, scc| (a as i16 as u32, scc)),
        "s_cmovk_i32" => s32!(|a, b, scc| (if scc { a as i16 as u32 } else { b }, scc)),
        "s_addk_i32" => s32!(|a, b, _scc| signed((b as i32).overflowing_add(i32::from(a as i16)))),
        "s_mulk_i32" => s32!(|a, b, scc| (b.wrapping_mul(a as i16 as u32), scc)),
        // The wait instructions wait for counters that are always zero in the emulator. `s_version` does
        // nothing on hardware, either.
        "s_waitcnt_vscnt" | "s_waitcnt_vmcnt" | "s_waitcnt_expcnt" | "s_waitcnt_lgkmcnt" | "s_version" => {
            |_, _| Flow::Next
        }
        "s_cmpk_eq_i32" => scmp!(scalar, |a, k| a as i32 == i32::from(k as i16)),
        "s_cmpk_lg_i32" => scmp!(scalar, |a, k| a as i32 != i32::from(k as i16)),
        "s_cmpk_gt_i32" => scmp!(scalar, |a, k| a as i32 > i32::from(k as i16)),
        "s_cmpk_ge_i32" => scmp!(scalar, |a, k| a as i32 >= i32::from(k as i16)),
        "s_cmpk_lt_i32" => scmp!(scalar, |a, k| (a as i32) < i32::from(k as i16)),
        "s_cmpk_le_i32" => scmp!(scalar, |a, k| a as i32 <= i32::from(k as i16)),
        "s_cmpk_eq_u32" => scmp!(scalar, |a, k| a == k & 0xffff),
        "s_cmpk_lg_u32" => scmp!(scalar, |a, k| a != k & 0xffff),
        "s_cmpk_gt_u32" => scmp!(scalar, |a, k| a > k & 0xffff),
        "s_cmpk_ge_u32" => scmp!(scalar, |a, k| a >= k & 0xffff),
        "s_cmpk_lt_u32" => scmp!(scalar, |a, k| a < k & 0xffff),
        "s_cmpk_le_u32" => scmp!(scalar, |a, k| a <= k & 0xffff),
        _ => return None,
    })
}

/// Returns the upper half of a 64-bit product.
fn high(product: u64) -> u32 {
    (product >> 32) as u32
}

fn signed((value, overflow): (i32, bool)) -> (u32, bool) {
    (value as u32, overflow)
}

fn nonzero(value: u32) -> (u32, bool) {
    (value, value != 0)
}

fn nonzero64(value: u64) -> (u64, bool) {
    (value, value != 0)
}

fn shift_add(a: u32, b: u32, shift: u32) -> (u32, bool) {
    let sum = (u64::from(a) << shift) + u64::from(b);
    (sum as u32, sum >> 32 != 0)
}

/// Returns a bit position, or -1 if no bit is found.
fn first(none: bool, position: u32) -> u32 {
    if none { u32::MAX } else { position }
}

/// Returns a bit field of `value`. The control operand holds the offset of the field (from bit 0 on) and its
/// width (from bit 16 on).
fn field(value: u64, control: u32, offset_mask: u32) -> u64 {
    let (offset, width) = (control & offset_mask, control >> 16 & 0x7f);
    let shifted = value >> offset;
    if width >= 64 { shifted } else { shifted & ((1 << width) - 1) }
}

fn signed_field(value: i64, control: u32, offset_mask: u32, size: u32) -> i64 {
    let (offset, width) = (control & offset_mask, (control >> 16 & 0x7f).min(size));
    let shifted = value >> offset;
    if width == 0 { 0 } else { shifted << (64 - width) >> (64 - width) }
}

/// Returns a mask with one bit for each group of four bits of `mask`. The bit is set if any bit of its group
/// is set.
fn quads(mask: u64) -> u64 {
    (0..16).fold(0, |bits, quad| bits | u64::from(mask >> (4 * quad) & 15 != 0) << quad)
}

/// Returns `mask` with whole groups of four bits: if any of the four bits of a group is set, all four are
/// set.
fn whole_quads(mask: u64) -> u64 {
    (0..16).fold(0, |bits, quad| if mask >> (4 * quad) & 15 != 0 { bits | 15 << (4 * quad) } else { bits })
}

fn conditional_move(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if cx.wave.scc {
        let value = cx.wave.scalar(op.src[0]);
        cx.wave.set_scalar(op.dst, value);
    }
    Flow::Next
}

fn conditional_move64(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if cx.wave.scc {
        let value = cx.wave.scalar64(op.src[0]);
        cx.wave.set_pair(usize::from(op.dst), value);
    }
    Flow::Next
}
