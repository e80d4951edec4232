//! LDS instructions that read and write a location in one atomic step.

use super::access::Place;
use super::atomic::Atomic;
use super::ds::{addresses, element_offsets};
use super::vmem::{data_register, flushed};
use super::{Cx, Flow, Handler};
use crate::fault::Trap;
use crate::op::{NONE, Op, VGPR0};
use crate::wave::{ActiveLanes, reg};

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "ds_append" => |cx, op| count(cx, op, u32::wrapping_add),
        "ds_consume" => |cx, op| count(cx, op, u32::wrapping_sub),
        "ds_wrxchg2_rtn_b32" => |cx, op| exchange2(cx, op, 1, 1),
        "ds_wrxchg2st64_rtn_b32" => |cx, op| exchange2(cx, op, 1, 64),
        "ds_wrxchg2_rtn_b64" => |cx, op| exchange2(cx, op, 2, 1),
        "ds_wrxchg2st64_rtn_b64" => |cx, op| exchange2(cx, op, 2, 64),
        "ds_write_src2_b32" => |cx, op| copy(cx, op, 1),
        "ds_write_src2_b64" => |cx, op| copy(cx, op, 2),
        _ => {
            Atomic::of_name(name)?;
            let (wide, inside) = (name.ends_with("64"), name.contains("_src2_"));
            match (inside, wide) {
                (false, false) => |cx, op| atomic(cx, op, false),
                (false, true) => |cx, op| atomic(cx, op, true),
                (true, false) => |cx, op| atomic_inside(cx, op, false),
                (true, true) => |cx, op| atomic_inside(cx, op, true),
            }
        }
    })
}

/// Returns the value that a lane has in one register, or in a pair of registers.
fn operand(cx: &Cx<'_>, at: usize, lane: usize, wide: bool) -> u64 {
    let high = if wide { u64::from(cx.wave.vgpr[at + 1][lane]) << 32 } else { 0 };
    u64::from(cx.wave.vgpr[at][lane]) | high
}

/// Writes the old value to the destination, if there is one.
fn set_old(cx: &mut Cx<'_>, op: &Op, behind: usize, lane: usize, old: u64, wide: bool) {
    if op.dst == NONE {
        return;
    }
    let dst = usize::from(op.dst - VGPR0) + behind;
    cx.wave.vgpr[dst][lane] = old as u32;
    if wide {
        cx.wave.vgpr[dst + 1][lane] = (old >> 32) as u32;
    }
}

/// Applies the atomic operation of the instruction to one location, and returns the old value. The location
/// has two dwords if `wide` is set, and one otherwise.
fn update(
    cx: &mut Cx<'_>,
    op: &Op,
    place: Place,
    lane: usize,
    (value, other): (u64, u64),
    wide: bool,
) -> Result<u64, Trap> {
    if wide {
        return cx.update64(op, place, lane, |old| op.atomic.apply64(old, value, other));
    }
    // The denormal modes in MODE apply to float additions in LDS, and not to float additions in memory.
    let (flush_in, flush_out) = match op.atomic {
        Atomic::AddFloat => cx.wave.flush32,
        _ => (false, false),
    };
    let input = |bits: u32| if flush_in { flushed(bits) } else { bits };
    let change = |old: u32| {
        let new = op.atomic.apply32(input(old), input(value as u32), other as u32);
        if flush_out { flushed(new) } else { new }
    };
    cx.update32(op, place, lane, change).map(u64::from)
}

/// Runs an atomic instruction on LDS, one lane after another. The hardware does not define the order of the
/// lanes. If a DS instruction has a comparison value or a mask, this is its first data operand, and the new
/// value is its second one.
fn atomic(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    let addresses = addresses(cx, op);
    let (first, second) = (data_register(op.src[1]), data_register(op.src[2]));
    let (value, other) = if op.atomic.has_compare() { (second, first) } else { (first, first) };
    for lane in ActiveLanes(cx.wave.exec()) {
        let place = Place::Lds(addresses[lane].wrapping_add(op.offset as u32));
        let operands = (operand(cx, value, lane, wide), operand(cx, other, lane, wide));
        match update(cx, op, place, lane, operands, wide) {
            Ok(old) => set_old(cx, op, 0, lane, old, wide),
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

/// Runs an instruction that performs two exchanges for each lane. The offset field has two bytes: the lower
/// byte is the offset of the first exchange, and the upper byte that of the second.
fn exchange2(cx: &mut Cx<'_>, op: &Op, dwords: usize, stride: u32) -> Flow {
    let offsets = element_offsets(op, dwords as u32 * 4 * stride);
    let data = [data_register(op.src[1]), data_register(op.src[2])];
    let addresses = addresses(cx, op);
    let wide = dwords == 2;
    for lane in ActiveLanes(cx.wave.exec()) {
        // Both data operands are read before the destination is written, because the destination may overlap
        // these operands.
        let values = data.map(|at| operand(cx, at, lane, wide));
        for (at, (offset, value)) in offsets.into_iter().zip(values).enumerate() {
            let place = Place::Lds(addresses[lane].wrapping_add(offset));
            let old = if wide {
                cx.update64(op, place, lane, |_| value)
            } else {
                cx.update32(op, place, lane, |_| value as u32).map(u64::from)
            };
            match old {
                Ok(old) => set_old(cx, op, at * dwords, lane, old, wide),
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    Flow::Next
}

/// Returns the two locations that a `ds_*_src2_*` instruction accesses: the location that it updates, and the
/// location from which it reads its operand. The offset field or the upper bits of the address give the
/// distance between the two, in dwords (Vega ISA: DS_ADD_SRC2_U32).
fn both_places(op: &Op, address: u32) -> [Place; 2] {
    let (low, high) = (op.offset as u32 & 255, op.offset as u32 >> 8 & 255);
    let (base, distance) = if high & 0x80 != 0 {
        (address & 0x1_ffff, (address as i32 >> 17) as u32)
    } else {
        // The distance is a signed number of 15 bits.
        (address, (((high << 8 | low) << 17) as i32 >> 17) as u32)
    };
    [Place::Lds(base), Place::Lds(base.wrapping_add(distance.wrapping_mul(4)))]
}

/// Reads one dword of LDS, or two.
fn read(cx: &mut Cx<'_>, op: &Op, place: Place, lane: usize, wide: bool) -> Result<u64, Trap> {
    let low = cx.read(op, place, 4, lane)?;
    let high = if wide { cx.read(op, place.plus(4), 4, lane)? } else { 0 };
    Ok(u64::from(low) | u64::from(high) << 32)
}

/// Performs an atomic whose operand is in LDS.
fn atomic_inside(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    let addresses = addresses(cx, op);
    for lane in ActiveLanes(cx.wave.exec()) {
        let [to, from] = both_places(op, addresses[lane]);
        let done =
            read(cx, op, from, lane, wide).and_then(|value| update(cx, op, to, lane, (value, value), wide));
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// Copies dwords within LDS.
fn copy(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let addresses = addresses(cx, op);
    for lane in ActiveLanes(cx.wave.exec()) {
        let [to, from] = both_places(op, addresses[lane]);
        for dword in 0..dwords {
            let value = cx.read(op, from.plus(dword * 4), 4, lane);
            let done = value.and_then(|value| cx.write(op, to.plus(dword * 4), 4, value, lane));
            if let Err(trap) = done {
                return cx.fail(trap);
            }
        }
    }
    Flow::Next
}

/// Runs `ds_append` or `ds_consume`. `ds_append` adds the number of active lanes to the dword at the address
/// in M0, and `ds_consume` subtracts it. This happens once for the whole wave, and all active lanes get the
/// old value.
fn count(cx: &mut Cx<'_>, op: &Op, change: fn(u32, u32) -> u32) -> Flow {
    let exec = cx.wave.exec();
    if exec == 0 {
        return Flow::Next;
    }
    let base = cx.wave.sgpr[reg::M0] & 0xffff;
    let place = Place::WholeLds(base.wrapping_add(op.offset as u32));
    let lanes = exec.count_ones();
    match cx.update32(op, place, exec.trailing_zeros() as usize, |old| change(old, lanes)) {
        Ok(old) => {
            ActiveLanes(exec).for_each(|lane| set_old(cx, op, 0, lane, old.into(), false));
            Flow::Next
        }
        Err(trap) => cx.fail(trap),
    }
}
