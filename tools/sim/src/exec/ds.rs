//! LDS instructions that load from or store to LDS. The module `ds_atomic` has the atomics.

use super::access::Place;
use super::valu::plain;
use super::vmem::{Part, data_register};
use super::{Cx, Flow, Handler, ds_atomic, ds_lanes};
use crate::fault::Access;
use crate::op::{Op, VGPR0};
use crate::wave::{ActiveLanes, Lanes, ROW, Row, reg, rows};
use isa::Target;

pub(super) fn handler(target: &Target, name: &str) -> Option<Handler> {
    None.or_else(|| reads(name))
        .or_else(|| writes(name))
        .or_else(|| ds_lanes::handler(target, name))
        .or_else(|| ds_atomic::handler(name))
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
        "ds_read_u8" => |cx, op| read_part(cx, op, Part::U8),
        "ds_read_i8" => |cx, op| read_part(cx, op, Part::I8),
        "ds_read_u16" => |cx, op| read_part(cx, op, Part::U16),
        "ds_read_i16" => |cx, op| read_part(cx, op, Part::I16),
        "ds_read_u8_d16" => |cx, op| read_part(cx, op, Part::U8_LOW),
        "ds_read_u8_d16_hi" => |cx, op| read_part(cx, op, Part::U8_HIGH),
        "ds_read_i8_d16" => |cx, op| read_part(cx, op, Part::I8_LOW),
        "ds_read_i8_d16_hi" => |cx, op| read_part(cx, op, Part::I8_HIGH),
        "ds_read_u16_d16" => |cx, op| read_part(cx, op, Part::B16_LOW),
        "ds_read_u16_d16_hi" => |cx, op| read_part(cx, op, Part::B16_HIGH),
        "ds_read_addtid_b32" => |cx, op| {
            let addresses = addresses_by_lane(cx);
            read_dwords(cx, op, &addresses, [op.offset as u32].into_iter(), 4)
        },
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
        "ds_write_addtid_b32" => |cx, op| {
            let addresses = addresses_by_lane(cx);
            write_dwords(cx, op, &addresses, op.offset as u32, data_register(op.src[0]), 1)
        },
        _ => return None,
    })
}

/// Returns the value of the address register in each lane.
#[inline(always)]
pub(super) fn addresses(cx: &mut Cx<'_>, op: &Op) -> Lanes {
    *plain(cx.wave, op.src[0], 1, &mut cx.scratch.sources[0]).0
}

/// Returns the LDS addresses of the lanes for an instruction without an address operand. The address of a
/// lane is M0 plus four times the lane number (Vega ISA: DS_READ_ADDTID_B32).
fn addresses_by_lane(cx: &Cx<'_>) -> Lanes {
    let base = cx.wave.sgpr[reg::M0] & 0xffff;
    std::array::from_fn(|lane| base + lane as u32 * 4)
}

/// Reads dwords from LDS for each active lane: one at each of the offsets from the lane's address.
#[inline(always)]
fn read(cx: &mut Cx<'_>, op: &Op, offsets: &[u32]) -> Flow {
    let base = op.offset as u32;
    let addresses = addresses(cx, op);
    let bytes = offsets.len() as u32 * 4;
    read_dwords(cx, op, &addresses, offsets.iter().map(|offset| base + offset), bytes)
}

fn read2(cx: &mut Cx<'_>, op: &Op, size: u32, stride: u32) -> Flow {
    let [first, second] = element_offsets(op, size * stride);
    let addresses = addresses(cx, op);
    if size == 4 {
        read_dwords(cx, op, &addresses, [first, second].into_iter(), 4)
    } else {
        read_dwords(cx, op, &addresses, [first, first + 4, second, second + 4].into_iter(), 8)
    }
}

/// Returns the two offsets of an instruction in bytes. The encoding has them in units of elements, whose size
/// in bytes is `unit`.
pub(super) fn element_offsets(op: &Op, unit: u32) -> [u32; 2] {
    let offsets = op.offset as u32;
    [(offsets & 255) * unit, (offsets >> 8 & 255) * unit]
}

/// Reads dwords that are parts of elements of `element` bytes.
#[inline(always)]
fn read_dwords(
    cx: &mut Cx<'_>,
    op: &Op,
    addresses: &Lanes,
    offsets: impl Iterator<Item = u32> + Clone,
    element: u32,
) -> Flow {
    let exec = cx.wave.exec();
    let align = element.next_power_of_two();
    let end = offsets.clone().max().unwrap_or(0) + 4;
    let dwords = element as usize / 4;
    let start = offsets.clone().next().unwrap_or(0);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    if start.is_multiple_of(align)
        && end.is_multiple_of(4)
        && cx.all_in_lds(addresses, exec, end, align)
        && cx.reads_lds_at_once(addresses, exec, offsets.clone())
    {
        for (at, offset) in offsets.step_by(dwords).enumerate() {
            let registers = &mut cx.wave.vgpr[dst + at * dwords..dst + (at + 1) * dwords];
            let Some(lds) = cx.lds.get((offset / 4) as usize..) else { continue };
            match dwords {
                1 => gather::<1>(lds, addresses, exec, registers),
                2 => gather::<2>(lds, addresses, exec, registers),
                3 => gather::<3>(lds, addresses, exec, registers),
                _ => gather::<4>(lds, addresses, exec, registers),
            }
        }
        return Flow::Next;
    }
    for lane in ActiveLanes(exec) {
        let first = addresses[lane].wrapping_add(start);
        if let Err(trap) = cx.check_lds_alignment(first, element, Access::Read, lane) {
            return cx.fail(trap);
        }
        for (dword, offset) in offsets.clone().enumerate() {
            match cx.read(op, Place::Lds(addresses[lane].wrapping_add(offset)), 4, lane) {
                Ok(value) => cx.wave.vgpr[dst + dword][lane] = value,
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    Flow::Next
}

/// Reads `N` consecutive dwords from LDS for each active lane. The caller has checked that all dwords are in
/// LDS.
#[inline(never)]
fn gather<const N: usize>(lds: &[u32], addresses: &Lanes, exec: u64, registers: &mut [Lanes]) {
    let Some(registers) = registers.first_chunk_mut::<N>() else { return };
    let element = |address: u32| {
        let word = (address / 4) as usize;
        lds.get(word..).and_then(|lds| lds.first_chunk::<N>()).copied().unwrap_or([0; N])
    };
    if exec != !0 {
        for lane in ActiveLanes(exec) {
            let values = element(addresses[lane]);
            (0..N).for_each(|dword| registers[dword][lane] = values[dword]);
        }
        return;
    }
    for (row, (kind, addresses)) in
        rows(addresses).into_iter().zip(addresses.as_chunks::<ROW>().0).enumerate()
    {
        let start = row * ROW;
        match kind {
            Row::Again => registers.iter_mut().for_each(|lanes| lanes.copy_within(start - ROW..start, start)),
            Row::One => {
                let values = element(addresses[0]);
                (0..N).for_each(|dword| registers[dword][start..start + ROW].fill(values[dword]));
            }
            Row::Each => {
                for (lane, &address) in addresses.iter().enumerate() {
                    let values = element(address);
                    (0..N).for_each(|dword| registers[dword][start + lane] = values[dword]);
                }
            }
        }
    }
}

fn read_part(cx: &mut Cx<'_>, op: &Op, part: Part) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses(cx, op);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(exec) {
        let address = addresses[lane].wrapping_add(op.offset as u32);
        let value = cx
            .check_lds_alignment(address, part.bytes, Access::Read, lane)
            .and_then(|()| cx.read(op, Place::Lds(address), part.bytes, lane));
        match value {
            Ok(value) => {
                let place = &mut cx.wave.vgpr[dst][lane];
                *place = (part.place)(value, *place);
            }
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

/// Writes one element of a lane to LDS. The VGPRs from `data` on hold the element, with one dword in each.
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
    let bytes = dwords as u32 * 4;
    let align = bytes.next_power_of_two();
    let simple = offset.is_multiple_of(align)
        && cx.all_in_lds(addresses, exec, offset + bytes, align)
        && cx
            .watch
            .as_mut()
            .is_none_or(|watch| watch.write_lds(addresses, exec, offset, &cx.wave.vgpr[data..data + dwords]));
    for lane in ActiveLanes(exec) {
        let address = addresses[lane].wrapping_add(offset);
        if simple {
            for dword in 0..dwords {
                cx.lds[(address / 4) as usize + dword] = cx.wave.vgpr[data + dword][lane];
            }
            continue;
        }
        if let Err(trap) = cx.check_lds_alignment(address, bytes, Access::Write, lane) {
            return cx.fail(trap);
        }
        for dword in 0..dwords {
            let value = cx.wave.vgpr[data + dword][lane];
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
        let done = cx
            .check_lds_alignment(address, bytes, Access::Write, lane)
            .and_then(|()| cx.write(op, Place::Lds(address), bytes, value, lane));
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}
