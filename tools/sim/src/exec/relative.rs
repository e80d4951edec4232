//! Scalar moves that add M0 to their register numbers, and the scalar instructions that control VGPR
//! indexing.
//!
//! If the sum is beyond the wave's registers, the hardware reads s0 instead and ignores writes (Vega ISA,
//! "Out-of-Range behavior"). No program uses such a register on purpose, so the emulator stops the wave with
//! an error.

use super::{Cx, Flow, Handler};
use crate::fault::Trap;
use crate::op::{Op, SINK, Src};
use crate::wave::{mode, reg};

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "s_movrels_b32" => |cx, op| from_relative(cx, op, 1),
        "s_movrels_b64" => |cx, op| from_relative(cx, op, 2),
        "s_movreld_b32" => |cx, op| to_relative(cx, op, 1),
        "s_movreld_b64" => |cx, op| to_relative(cx, op, 2),
        "s_movrelsd_2_b32" => between_relatives,
        "s_set_gpr_idx_on" => |cx, op| {
            let (index, enable) = (cx.wave.scalar(op.src[0]) & 0xff, op.imm(1) as u32 & 15);
            cx.wave.sgpr[reg::M0] = cx.wave.sgpr[reg::M0] & !0xf0ff | index | enable << 12;
            let on = cx.wave.mode() | mode::GPR_IDX_EN;
            cx.wave.set_mode(on);
            Flow::Next
        },
        "s_set_gpr_idx_idx" => |cx, op| {
            let index = cx.wave.scalar(op.src[0]) & 0xff;
            cx.wave.sgpr[reg::M0] = cx.wave.sgpr[reg::M0] & !0xff | index;
            Flow::Next
        },
        "s_set_gpr_idx_mode" => |cx, op| {
            let enable = op.imm(0) as u32 & 15;
            cx.wave.sgpr[reg::M0] = cx.wave.sgpr[reg::M0] & !0xf000 | enable << 12;
            Flow::Next
        },
        "s_set_gpr_idx_off" => |cx, _| {
            let off = cx.wave.mode() & !mode::GPR_IDX_EN;
            cx.wave.set_mode(off);
            Flow::Next
        },
        _ => return None,
    })
}

/// Returns the index of the SGPR that is `index` registers after `base`, for an operand of `dwords`
/// registers. Fails if the wave does not have all registers of the operand.
fn indexed_sgpr(cx: &Cx<'_>, base: u16, index: u32, dwords: u32) -> Result<usize, Trap> {
    let code = u32::from(base).wrapping_add(index);
    match base {
        SINK.. => Ok(usize::from(SINK)),
        // M0 can select only SGPRs that have numbers.
        _ if base >= cx.target.numbered_sgprs() && index == 0 => Ok(usize::from(base)),
        _ if base >= cx.target.numbered_sgprs() || code > u32::from(cx.wave.sgprs) - dwords => {
            Err(Trap::Register(code.min(255) as u16))
        }
        _ if dwords == 2 && code % 2 != 0 => Err(Trap::Refused("M0 makes the register pair an odd one")),
        _ => Ok(code as usize),
    }
}

fn source(cx: &Cx<'_>, op: &Op, index: u32, dwords: u32) -> Result<u64, Trap> {
    match op.src[0] {
        Src::S(base) => Ok(cx.wave.pair(indexed_sgpr(cx, base.into(), index, dwords)?)),
        other => Ok(cx.wave.scalar64(other)),
    }
}

fn set(cx: &mut Cx<'_>, at: usize, value: u64, dwords: u32) {
    match dwords {
        1 => cx.wave.sgpr[at & 255] = value as u32,
        _ => cx.wave.set_pair(at, value),
    }
}

fn from_relative(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    match source(cx, op, cx.wave.sgpr[reg::M0], dwords) {
        Ok(value) => set(cx, op.dst.into(), value, dwords),
        Err(trap) => return cx.fail(trap),
    }
    Flow::Next
}

fn to_relative(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let value = if dwords == 1 { cx.wave.scalar(op.src[0]).into() } else { cx.wave.scalar64(op.src[0]) };
    match indexed_sgpr(cx, op.dst, cx.wave.sgpr[reg::M0], dwords) {
        Ok(at) => set(cx, at, value, dwords),
        Err(trap) => return cx.fail(trap),
    }
    Flow::Next
}

/// Copies a scalar register whose number is relative to M0. One ten-bit field of M0 is added to the number of
/// the source register, and another field to the number of the destination register (RDNA ISA,
/// "S_MOVRELSD_2_B32").
fn between_relatives(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let m0 = cx.wave.sgpr[reg::M0];
    let moved = source(cx, op, m0 & 0x3ff, 1).and_then(|value| {
        let at = indexed_sgpr(cx, op.dst, m0 >> 16 & 0x3ff, 1)?;
        Ok((at, value))
    });
    match moved {
        Ok((at, value)) => set(cx, at, value, 1),
        Err(trap) => return cx.fail(trap),
    }
    Flow::Next
}
