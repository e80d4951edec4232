//! Scalar memory.

use super::access::{Place, SCALAR};
use super::{Cx, Flow, Handler, mubuf::Resource};
use crate::fault::{Access, Trap};
use crate::op::{Op, Src};
use crate::watch::CacheOp;

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
        "s_dcache_inv" => |cx, _| cx.cache(CacheOp::InvalidateScalar { volatile: false }),
        "s_dcache_inv_vol" => |cx, _| cx.cache(CacheOp::InvalidateScalar { volatile: true }),
        "s_gl1_inv" => |cx, _| cx.cache(CacheOp::InvalidateGl1),
        "s_dcache_discard" => |cx, op| discard(cx, op, 64),
        "s_dcache_discard_x2" => |cx, op| discard(cx, op, 128),
        "s_dcache_wb" => |cx, _| cx.cache(CacheOp::WriteBackScalar { volatile: false }),
        "s_dcache_wb_vol" => |cx, _| cx.cache(CacheOp::WriteBackScalar { volatile: true }),
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
    if let Err(trap) = check(cx, address, dwords * 4, Access::Read) {
        return cx.fail(trap);
    }
    for dword in 0..dwords {
        let at = address + u64::from(dword) * 4;
        match cx.read(op, Place::Linear(at), 4, SCALAR) {
            Ok(value) => cx.wave.sgpr[(usize::from(op.dst) + dword as usize) & 255] = value,
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

/// A fault names the whole access.
fn check(cx: &Cx<'_>, address: u64, bytes: u32, access: Access) -> Result<(), Trap> {
    let reason = "no allocation holds all of it";
    match cx.memory.find(address, bytes.into()) {
        Some(_) => Ok(()),
        None => Err(Trap::Memory { address, bytes, access, reason, lane: u32::MAX }),
    }
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
            value = match cx.read(op, Place::Linear(address), 4, SCALAR) {
                Ok(value) => value,
                Err(trap) => return cx.fail(trap),
            };
        }
        cx.wave.sgpr[(usize::from(op.dst) + dword as usize) & 255] = value;
    }
    Flow::Next
}

/// The cache line of an address, and the next, need not be written back.
fn discard(cx: &mut Cx<'_>, op: &Op, bytes: u32) -> Flow {
    let address = cx.wave.scalar64(op.src[0]).wrapping_add(offset(cx, op, 1));
    cx.cache(CacheOp::DiscardScalar { address, bytes })
}

fn store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = cx.wave.scalar64(op.src[1]).wrapping_add(offset(cx, op, 2)) & !3;
    let Src::S(first) = op.src[0] else { return cx.fail(Trap::Unsupported) };
    if let Err(trap) = check(cx, address, dwords * 4, Access::Write) {
        return cx.fail(trap);
    }
    for dword in 0..dwords {
        let value = cx.wave.sgpr[(usize::from(first) + dword as usize) & 255];
        let at = address + u64::from(dword) * 4;
        if let Err(trap) = cx.write(op, Place::Linear(at), 4, value, SCALAR) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}
