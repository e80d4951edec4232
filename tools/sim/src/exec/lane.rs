//! Vector instructions that move data between lanes or access single lanes, and vector instructions that
//! access registers selected by M0.

use super::valu::{plain, write};
use super::{Cx, Flow, Handler};
use crate::op::{AGPR0, Op, Src, VGPR0};
use crate::wave::{Lanes, reg};

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "v_readfirstlane_b32" => |cx, op| {
            let lane = cx.wave.first_lane();
            read_lane(cx, op, lane)
        },
        "v_readlane_b32" => |cx, op| {
            let lane = lane_number(cx, op);
            read_lane(cx, op, lane)
        },
        "v_writelane_b32" => write_lane,
        "v_mbcnt_lo_u32_b32" => |cx, op| count_below(cx, op, 0),
        "v_mbcnt_hi_u32_b32" => |cx, op| count_below(cx, op, 32),
        "v_permlane16_b32" => |cx, op| permute(cx, op, 0),
        "v_permlanex16_b32" => |cx, op| permute(cx, op, 16),
        "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => |cx, op| {
            let value = *plain(cx.wave, op.src[0], 1, &mut cx.scratch.sources[0]).0;
            let exec = cx.wave.exec();
            write(cx.wave, op.dst, &value, exec);
            Flow::Next
        },
        "v_swap_b32" => |cx, op| swap(cx, op, 0, 0),
        "v_swaprel_b32" => |cx, op| {
            let (source, destination) = two_offsets(cx);
            swap(cx, op, destination, source)
        },
        "v_movrels_b32" => |cx, op| {
            let m0 = cx.wave.sgpr[reg::M0] as u16;
            relative_move(cx, op, m0, 0)
        },
        "v_movreld_b32" => |cx, op| {
            let m0 = cx.wave.sgpr[reg::M0] as u16;
            relative_move(cx, op, 0, m0)
        },
        "v_movrelsd_b32" => |cx, op| {
            let m0 = cx.wave.sgpr[reg::M0] as u16;
            relative_move(cx, op, m0, m0)
        },
        "v_movrelsd_2_b32" => |cx, op| {
            let (source, destination) = two_offsets(cx);
            relative_move(cx, op, source, destination)
        },
        _ => return None,
    })
}

/// Returns the operand that is `count` dwords after `src`, for an operand of several dwords. A constant has
/// two dwords: an even `count` gives the lower half, and an odd one the upper half.
pub(super) fn following(src: Src, count: u16) -> Src {
    match src {
        Src::V(at) => Src::V(at + count),
        Src::S(code) => Src::S(code.wrapping_add(count as u8)),
        Src::K(value) => Src::K(value >> (32 * u32::from(count & 1))),
        other => other,
    }
}

fn lane_number(cx: &Cx<'_>, op: &Op) -> usize {
    cx.wave.scalar(op.src[1]) as usize & (cx.wave.lanes as usize - 1)
}

fn read_lane(cx: &mut Cx<'_>, op: &Op, lane: usize) -> Flow {
    let value = match op.src[0] {
        Src::V(at) => cx.wave.vgpr[usize::from(at)][lane],
        scalar => cx.wave.scalar(scalar),
    };
    cx.wave.set_scalar(op.dst, value);
    Flow::Next
}

/// Runs `v_writelane_b32`, which writes a single lane, even if this lane is inactive.
fn write_lane(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (value, lane) = (cx.wave.scalar(op.src[0]), lane_number(cx, op));
    if let Some(lanes) = cx.wave.vgpr.get_mut(usize::from(op.dst.wrapping_sub(VGPR0))) {
        lanes[lane] = value;
    }
    Flow::Next
}

/// Runs `v_mbcnt`. Counts, for each lane, the set bits of a mask that belong to lanes with lower numbers, and
/// adds the second source. The mask has 32 bits, for the lanes from `base` on.
fn count_below(cx: &mut Cx<'_>, op: &Op, base: u32) -> Flow {
    let exec = cx.wave.exec();
    let [a, b, ..] = &mut cx.scratch.sources;
    let mask = plain(cx.wave, op.src[0], 1, a)[0];
    let add = plain(cx.wave, op.src[1], 1, b)[0];
    let mut result = [0; 64];
    for (lane, value) in result.iter_mut().enumerate() {
        let below = (lane as u32).saturating_sub(base).min(32);
        let bits = mask[lane] & ((1u64 << below) - 1) as u32;
        *value = bits.count_ones().wrapping_add(add[lane]);
    }
    write(cx.wave, op.dst, &result, exec);
    Flow::Next
}

/// Lets each lane read any lane of its own row of 16 lanes (`other` is 0), or of the neighbouring row
/// (`other` is 16). Two scalar sources say which: they hold, for each of the 16 lanes of a row, the four-bit
/// number of the lane to read (RDNA ISA, V_PERMLANE16_B32). `op_sel` holds the modifiers `fi` and
/// `bound_ctrl`.
fn permute(cx: &mut Cx<'_>, op: &Op, other: usize) -> Flow {
    let exec = cx.wave.exec();
    let select = u64::from(cx.wave.scalar(op.src[1])) | u64::from(cx.wave.scalar(op.src[2])) << 32;
    let source = *plain(cx.wave, op.src[0], 1, &mut cx.scratch.sources[0]).0;
    let (inactive, zero_fill) = (op.op_sel & 1 != 0, op.op_sel & 2 != 0);
    let (mut result, mut mask): (Lanes, u64) = ([0; 64], 0);
    for (lane, value) in result.iter_mut().enumerate() {
        let from = (lane & !15 ^ other) | (select >> (4 * (lane & 15))) as usize & 15;
        let readable = inactive || exec >> from & 1 != 0;
        if readable {
            *value = source[from];
        }
        mask |= u64::from(readable || zero_fill) << lane;
    }
    write(cx.wave, op.dst, &result, mask & exec);
    Flow::Next
}

/// Returns the two register offsets in M0: one for the source, one for the destination. Each half of M0 holds
/// one offset of ten bits.
fn two_offsets(cx: &Cx<'_>) -> (u16, u16) {
    let m0 = cx.wave.sgpr[reg::M0];
    ((m0 & 0x3ff) as u16, (m0 >> 16 & 0x3ff) as u16)
}

/// Returns the index of the VGPR that is `offset` registers after VGPR `number`. If the wave does not have
/// this register, the hardware uses v0 instead.
fn relative(cx: &Cx<'_>, number: u16, offset: u16) -> u16 {
    let at = number.wrapping_add(offset);
    if number >= AGPR0 - VGPR0 || at < cx.wave.vgprs { at } else { 0 }
}

/// Exchanges the values of two VGPRs in the active lanes.
fn swap(cx: &mut Cx<'_>, op: &Op, first: u16, second: u16) -> Flow {
    let exec = cx.wave.exec();
    let first = relative(cx, op.dst.wrapping_sub(VGPR0), first);
    let second = relative(cx, op.dst2.wrapping_sub(VGPR0), second);
    let value = |at: u16| cx.wave.vgpr.get(usize::from(at)).copied().unwrap_or([0; 64]);
    let (a, b) = (value(first), value(second));
    write(cx.wave, VGPR0 + first, &b, exec);
    write(cx.wave, VGPR0 + second, &a, exec);
    Flow::Next
}

/// Copies a VGPR. The numbers in the instruction are relative: `source` is added to the number of the source
/// register, and `destination` to the number of the destination register.
fn relative_move(cx: &mut Cx<'_>, op: &Op, source: u16, destination: u16) -> Flow {
    let moved = match op.src[0] {
        Src::V(at) => Src::V(relative(cx, at, source)),
        other => other,
    };
    let to = VGPR0 + relative(cx, op.dst.wrapping_sub(VGPR0), destination);
    let mut change = op.clone();
    (change.src[0], change.dst) = (moved, to);
    cx.map1(&change, |value: u32| value)
}
