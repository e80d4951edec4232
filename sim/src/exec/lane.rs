//! Vector instructions that look across lanes or at single ones.

use super::valu::{plain, write};
use super::{Cx, Flow, Handler};
use crate::op::{Op, Src, VGPR0};
use crate::wave::reg;

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "v_readfirstlane_b32" => |cx, op| {
            let lane = cx.wave.first_lane();
            read_lane(cx, op, lane)
        },
        "v_readlane_b32" => |cx, op| {
            let lane = cx.wave.scalar(op.src[1]) as usize & (cx.wave.lanes as usize - 1);
            read_lane(cx, op, lane)
        },
        "v_writelane_b32" => write_lane,
        "v_mbcnt_lo_u32_b32" => |cx, op| count_below(cx, op, 0),
        "v_mbcnt_hi_u32_b32" => |cx, op| count_below(cx, op, 32),
        "v_movrels_b32" => |cx, op| relative_move(cx, op, true, false),
        "v_movreld_b32" => |cx, op| relative_move(cx, op, false, true),
        "v_movrelsd_b32" => |cx, op| relative_move(cx, op, true, true),
        _ => return None,
    })
}

fn read_lane(cx: &mut Cx<'_>, op: &Op, lane: usize) -> Flow {
    let value = match op.src[0] {
        Src::V(at) => cx.wave.vgpr[usize::from(at)][lane],
        scalar => cx.wave.scalar(scalar),
    };
    cx.wave.set_scalar(op.dst, value);
    Flow::Next
}

/// Writes one lane, whether active or not.
fn write_lane(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (value, lane) =
        (cx.wave.scalar(op.src[0]), cx.wave.scalar(op.src[1]) as usize & (cx.wave.lanes as usize - 1));
    cx.wave.vgpr[usize::from(op.dst - VGPR0)][lane] = value;
    Flow::Next
}

/// Adds the number of set bits below the lane in the mask's half that starts at `base`.
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

/// A move between registers whose numbers M0 is added to.
fn relative_move(cx: &mut Cx<'_>, op: &Op, source: bool, destination: bool) -> Flow {
    let m0 = cx.wave.sgpr[reg::M0] as u16;
    let exec = cx.wave.exec();
    let value = match op.src[0] {
        Src::V(at) => {
            let at = usize::from(at.wrapping_add(if source { m0 } else { 0 }));
            // Beyond the allocated registers the hardware reads v0.
            cx.wave.vgpr.get(at).or(cx.wave.vgpr.first()).copied().unwrap_or([0; 64])
        }
        scalar => [cx.wave.scalar(scalar); 64],
    };
    write(cx.wave, op.dst.wrapping_add(if destination { m0 } else { 0 }), &value, exec);
    Flow::Next
}
