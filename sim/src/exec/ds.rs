//! LDS instructions.

use super::access::Place;
use super::valu::plain;
use super::vmem::{data_register, high_half, low_half};
use super::{Cx, Flow, Handler};
use crate::op::{Op, VGPR0};
use crate::wave::{ActiveLanes, Lanes};

pub(super) fn handler(name: &str) -> Option<Handler> {
    reads(name).or_else(|| writes(name)).or_else(|| exchanges(name)).or_else(|| atomics(name))
}

fn reads(name: &str) -> Option<Handler> {
    Some(match name {
        "ds_read_b32" => |cx, op| read(cx, op, &[0]),
        "ds_read_b64" => |cx, op| read(cx, op, &[0, 4]),
        "ds_read_b96" => |cx, op| read(cx, op, &[0, 4, 8]),
        "ds_read_b128" => |cx, op| read(cx, op, &[0, 4, 8, 12]),
        "ds_read2_b32" => |cx, op| read2(cx, op, 4, 1),
        "ds_read2_b64" => |cx, op| read2(cx, op, 8, 1),
        "ds_read2st64_b32" => |cx, op| read2(cx, op, 4, 64),
        "ds_read2st64_b64" => |cx, op| read2(cx, op, 8, 64),
        "ds_read_u8" => |cx, op| read_part(cx, op, 1, |value, _| value),
        "ds_read_i8" => |cx, op| read_part(cx, op, 1, |value, _| value as i8 as u32),
        "ds_read_u16" => |cx, op| read_part(cx, op, 2, |value, _| value),
        "ds_read_i16" => |cx, op| read_part(cx, op, 2, |value, _| value as i16 as u32),
        "ds_read_u8_d16" => |cx, op| read_part(cx, op, 1, low_half),
        "ds_read_u8_d16_hi" => |cx, op| read_part(cx, op, 1, high_half),
        "ds_read_i8_d16" => |cx, op| read_part(cx, op, 1, |value, old| low_half(value as i8 as u32, old)),
        "ds_read_i8_d16_hi" => |cx, op| read_part(cx, op, 1, |value, old| high_half(value as i8 as u32, old)),
        "ds_read_u16_d16" => |cx, op| read_part(cx, op, 2, low_half),
        "ds_read_u16_d16_hi" => |cx, op| read_part(cx, op, 2, high_half),
        _ => return None,
    })
}

fn writes(name: &str) -> Option<Handler> {
    Some(match name {
        "ds_write_b32" => |cx, op| write(cx, op, 1),
        "ds_write_b64" => |cx, op| write(cx, op, 2),
        "ds_write_b96" => |cx, op| write(cx, op, 3),
        "ds_write_b128" => |cx, op| write(cx, op, 4),
        "ds_write2_b32" => |cx, op| write2(cx, op, 4, 1),
        "ds_write2_b64" => |cx, op| write2(cx, op, 8, 1),
        "ds_write2st64_b32" => |cx, op| write2(cx, op, 4, 64),
        "ds_write2st64_b64" => |cx, op| write2(cx, op, 8, 64),
        "ds_write_b8" => |cx, op| write_part(cx, op, 1, 0),
        "ds_write_b16" => |cx, op| write_part(cx, op, 2, 0),
        "ds_write_b8_d16_hi" => |cx, op| write_part(cx, op, 1, 16),
        "ds_write_b16_d16_hi" => |cx, op| write_part(cx, op, 2, 16),
        _ => return None,
    })
}

fn exchanges(name: &str) -> Option<Handler> {
    Some(match name {
        "ds_nop" => |_, _| Flow::Next,
        "ds_swizzle_b32" => swizzle,
        "ds_permute_b32" => permute,
        "ds_bpermute_b32" => backward_permute,
        _ => return None,
    })
}

fn atomics(name: &str) -> Option<Handler> {
    super::atomic::Atomic::of_name(name)?;
    let wide = name.ends_with("64");
    Some(if wide { |cx, op| atomic(cx, op, true) } else { |cx, op| atomic(cx, op, false) })
}

/// The address register of each lane.
#[inline(always)]
fn addresses(cx: &mut Cx<'_>, op: &Op) -> Lanes {
    *plain(cx.wave, op.src[0], 1, &mut cx.scratch.sources[0])[0]
}

/// Reads a dword at each of the offsets.
#[inline(always)]
fn read(cx: &mut Cx<'_>, op: &Op, offsets: &[u32]) -> Flow {
    let base = op.offset as u32;
    read_dwords(cx, op, offsets.iter().map(|offset| base + offset))
}

fn read2(cx: &mut Cx<'_>, op: &Op, size: u32, stride: u32) -> Flow {
    let [first, second] = element_offsets(op, size * stride);
    if size == 4 {
        read_dwords(cx, op, [first, second].into_iter())
    } else {
        read_dwords(cx, op, [first, first + 4, second, second + 4].into_iter())
    }
}

/// The two offsets of an instruction, in bytes.
fn element_offsets(op: &Op, unit: u32) -> [u32; 2] {
    let offsets = op.offset as u32;
    [(offsets & 255) * unit, (offsets >> 8 & 255) * unit]
}

#[inline(always)]
fn read_dwords(cx: &mut Cx<'_>, op: &Op, offsets: impl Iterator<Item = u32> + Clone) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses(cx, op);
    let end = offsets.clone().max().unwrap_or(0) + 4;
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    if cx.all_in_lds(&addresses, exec, end) && end.is_multiple_of(4) {
        for (dword, offset) in offsets.enumerate() {
            let lds = &cx.lds[(offset / 4) as usize..];
            let lanes = &mut cx.wave.vgpr[dst + dword];
            if exec == !0 {
                for lane in 0..64 {
                    lanes[lane] = lds[(addresses[lane] / 4) as usize];
                }
            } else {
                for lane in ActiveLanes(exec) {
                    lanes[lane] = lds[(addresses[lane] / 4) as usize];
                }
            }
        }
        return Flow::Next;
    }
    for lane in ActiveLanes(exec) {
        for (dword, offset) in offsets.clone().enumerate() {
            match cx.read(op, Place::Lds(addresses[lane].wrapping_add(offset)), 4, lane) {
                Ok(value) => cx.wave.vgpr[dst + dword][lane] = value,
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    Flow::Next
}

fn read_part(cx: &mut Cx<'_>, op: &Op, bytes: u32, extend: fn(u32, u32) -> u32) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses(cx, op);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(exec) {
        let address = addresses[lane].wrapping_add(op.offset as u32);
        let value = match cx.read(op, Place::Lds(address), bytes, lane) {
            Ok(value) => value,
            Err(trap) => return cx.fail(trap),
        };
        let place = &mut cx.wave.vgpr[dst][lane];
        *place = extend(value, *place);
    }
    Flow::Next
}

/// Writes dwords of registers from `data` on to an offset.
#[inline(always)]
fn write_dwords(
    cx: &mut Cx<'_>,
    op: &Op,
    addresses: &Lanes,
    offset: u32,
    data: usize,
    dwords: usize,
) -> Flow {
    let exec = cx.wave.exec();
    let simple = cx.all_in_lds(addresses, exec, offset + dwords as u32 * 4) && offset.is_multiple_of(4);
    for lane in ActiveLanes(exec) {
        let address = addresses[lane].wrapping_add(offset);
        for dword in 0..dwords {
            let value = cx.wave.vgpr[data + dword][lane];
            if simple {
                cx.lds[(address / 4) as usize + dword] = value;
                continue;
            }
            if let Err(trap) = cx.write(op, Place::Lds(address).plus(dword as u32 * 4), 4, value, lane) {
                return cx.fail(trap);
            }
        }
    }
    Flow::Next
}

fn write(cx: &mut Cx<'_>, op: &Op, dwords: usize) -> Flow {
    let addresses = addresses(cx, op);
    write_dwords(cx, op, &addresses, op.offset as u32, data_register(op.src[1]), dwords)
}

fn write2(cx: &mut Cx<'_>, op: &Op, size: u32, stride: u32) -> Flow {
    let [first, second] = element_offsets(op, size * stride);
    let addresses = addresses(cx, op);
    let dwords = size as usize / 4;
    match write_dwords(cx, op, &addresses, first, data_register(op.src[1]), dwords) {
        Flow::Next => write_dwords(cx, op, &addresses, second, data_register(op.src[2]), dwords),
        other => other,
    }
}

fn write_part(cx: &mut Cx<'_>, op: &Op, bytes: u32, shift: u32) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses(cx, op);
    let data = data_register(op.src[1]);
    for lane in ActiveLanes(exec) {
        let address = addresses[lane].wrapping_add(op.offset as u32);
        let value = cx.wave.vgpr[data][lane] >> shift;
        if let Err(trap) = cx.write(op, Place::Lds(address), bytes, value, lane) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// Lanes act one after another, as an atomic's order among them is not defined. With a comparand, DS instructions
/// have it (or the mask) first and the new value second.
fn atomic(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses(cx, op);
    let (first, second) = (data_register(op.src[1]), data_register(op.src[2]));
    let swapped = op.atomic.has_compare();
    let (value, other) = if swapped { (second, first) } else { (first, first) };
    for lane in ActiveLanes(exec) {
        let place = Place::Lds(addresses[lane].wrapping_add(op.offset as u32));
        let operand = |at: usize| {
            let high = if wide { u64::from(cx.wave.vgpr[at + 1][lane]) << 32 } else { 0 };
            u64::from(cx.wave.vgpr[at][lane]) | high
        };
        let (value, other) = (operand(value), operand(other));
        let old = if wide {
            cx.update64(op, place, lane, |old| op.atomic.apply64(old, value, other))
        } else {
            let change = |old| op.atomic.apply32(old, value as u32, other as u32);
            cx.update32(op, place, lane, change).map(u64::from)
        };
        match old {
            Ok(_) if op.dst == crate::op::NONE => {}
            Ok(old) => {
                let dst = usize::from(op.dst - VGPR0);
                cx.wave.vgpr[dst][lane] = old as u32;
                if wide {
                    cx.wave.vgpr[dst + 1][lane] = (old >> 32) as u32;
                }
            }
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

/// Lane exchange by a pattern in the offset (Vega ISA: DS_SWIZZLE_B32).
fn swizzle(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let data = addresses(cx, op);
    let control = op.offset as usize;
    let mut result = [0; 64];
    for (lane, value) in result.iter_mut().enumerate() {
        let from = if control & 0x8000 != 0 {
            lane & !3 | control >> (2 * (lane & 3)) & 3
        } else {
            let (and, or, xor) = (control & 31, control >> 5 & 31, control >> 10 & 31);
            lane & 32 | (lane & and | or) ^ xor
        };
        // Inactive lanes give zero.
        *value = if exec >> from & 1 != 0 { data[from] } else { 0 };
    }
    super::valu::write(cx.wave, op.dst, &result, exec);
    Flow::Next
}

/// Each lane sends its data to the lane its address names.
fn permute(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let targets = addresses(cx, op);
    let data = *plain(cx.wave, op.src[1], 1, &mut cx.scratch.sources[0])[0];
    let mut result = [0; 64];
    for lane in ActiveLanes(exec) {
        let to = targets[lane].wrapping_add(op.offset as u32) / 4 % 64;
        result[to as usize] = data[lane];
    }
    super::valu::write(cx.wave, op.dst, &result, exec);
    Flow::Next
}

/// Each lane fetches from the lane its address names; inactive lanes give zero.
fn backward_permute(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let sources = addresses(cx, op);
    let data = *plain(cx.wave, op.src[1], 1, &mut cx.scratch.sources[0])[0];
    let mut result = [0; 64];
    for lane in ActiveLanes(exec) {
        let from = sources[lane].wrapping_add(op.offset as u32) / 4 % 64;
        result[lane] = if exec >> from & 1 != 0 { data[from as usize] } else { 0 };
    }
    super::valu::write(cx.wave, op.dst, &result, exec);
    Flow::Next
}
