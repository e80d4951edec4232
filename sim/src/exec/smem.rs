//! Scalar memory.

use super::{Cx, Flow, Handler, mubuf::Resource};
use crate::fault::{Access, Trap};
use crate::op::{Op, Src};

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "s_load_dword" => |cx, op| load(cx, op, 1),
        "s_load_dwordx2" => |cx, op| load(cx, op, 2),
        "s_load_dwordx4" => |cx, op| load(cx, op, 4),
        "s_load_dwordx8" => |cx, op| load(cx, op, 8),
        "s_load_dwordx16" => |cx, op| load(cx, op, 16),
        "s_buffer_load_dword" => |cx, op| buffer_load(cx, op, 1),
        "s_buffer_load_dwordx2" => |cx, op| buffer_load(cx, op, 2),
        "s_buffer_load_dwordx4" => |cx, op| buffer_load(cx, op, 4),
        "s_buffer_load_dwordx8" => |cx, op| buffer_load(cx, op, 8),
        "s_buffer_load_dwordx16" => |cx, op| buffer_load(cx, op, 16),
        "s_store_dword" => |cx, op| store(cx, op, 1),
        "s_store_dwordx2" => |cx, op| store(cx, op, 2),
        "s_store_dwordx4" => |cx, op| store(cx, op, 4),
        "s_memtime" | "s_memrealtime" => |cx, op| {
            let clock = cx.clock;
            cx.wave.set_pair(usize::from(op.dst), clock);
            Flow::Next
        },
        // One copy of memory: no cache can be stale.
        "s_dcache_inv" | "s_dcache_wb" | "s_dcache_inv_vol" | "s_dcache_wb_vol" => |_, _| Flow::Next,
        _ => return None,
    })
}

/// Offset from source `at`: an immediate, or a register and an immediate.
fn offset(cx: &Cx<'_>, op: &Op, at: usize) -> u64 {
    match op.src[at] {
        Src::K(value) => value,
        register => u64::from(cx.wave.scalar(register)).wrapping_add(op.offset as i64 as u64),
    }
}

fn read(cx: &mut Cx<'_>, op: &Op, address: u64, dwords: u32) -> Flow {
    // The low two bits are ignored (Vega ISA, "Scalar Memory Operations").
    let address = address & !3;
    let Some((buffer, at)) = cx.memory.find(address, u64::from(dwords) * 4) else {
        return cx.fail(Trap::Memory {
            address,
            bytes: dwords * 4,
            access: Access::Read,
            reason: "no allocation holds all of it",
            lane: u32::MAX,
        });
    };
    for dword in 0..dwords as usize {
        cx.wave.sgpr[(usize::from(op.dst) + dword) & 255] = buffer.load(at + dword as u64 * 4, 4);
    }
    Flow::Next
}

fn load(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = cx.wave.scalar64(op.src[0]).wrapping_add(offset(cx, op, 1));
    read(cx, op, address, dwords)
}

fn buffer_load(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let resource = Resource::read(cx.wave, op.src[0]);
    let offset = offset(cx, op, 1) & !3;
    // Beyond the end a buffer reads as zero.
    for dword in 0..u64::from(dwords) {
        let at = offset.wrapping_add(dword * 4);
        let mut value = 0;
        if at.checked_add(4).is_some_and(|end| end <= resource.bytes()) {
            let address = resource.base + at;
            let Some((buffer, at)) = cx.memory.find(address, 4) else {
                let reason = "the buffer resource is larger than its allocation";
                return cx.fail(Trap::Memory {
                    address,
                    bytes: 4,
                    access: Access::Read,
                    reason,
                    lane: u32::MAX,
                });
            };
            value = buffer.load(at, 4);
        }
        cx.wave.sgpr[(usize::from(op.dst) + dword as usize) & 255] = value;
    }
    Flow::Next
}

fn store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = cx.wave.scalar64(op.src[1]).wrapping_add(offset(cx, op, 2)) & !3;
    let Src::S(first) = op.src[0] else { return cx.fail(Trap::Unsupported) };
    let Some((buffer, at)) = cx.memory.find(address, u64::from(dwords) * 4) else {
        let reason = "no allocation holds all of it";
        return cx.fail(Trap::Memory {
            address,
            bytes: dwords * 4,
            access: Access::Write,
            reason,
            lane: u32::MAX,
        });
    };
    for dword in 0..dwords as usize {
        buffer.store(at + dword as u64 * 4, 4, cx.wave.sgpr[(usize::from(first) + dword) & 255]);
    }
    Flow::Next
}
