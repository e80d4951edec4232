//! Loads and stores that convert between the format in which memory holds an element and the values in
//! registers. `buffer_*_format_*` takes the format from the buffer resource, and `tbuffer_*` from the
//! instruction itself.

use super::format::Format;
use super::mubuf::{Access, finish, lds_place};
use super::vmem::data_register;
use super::{Cx, Flow, Handler};
use crate::fault::{self, Trap};
use crate::op::{Op, VGPR0};
use crate::wave::ActiveLanes;
use half::f16;
use isa::{Feature, Lane, Target};

/// How the components of an element are laid out in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Each component takes one dword.
    Dwords,
    /// Each register holds two 16-bit components. If the number of components is odd, half of the last
    /// register is unused. `clears` says whether a load sets this half to zero (true) or leaves it unchanged
    /// (false).
    Packed { clears: bool },
    /// Each component takes the lower half of a register of its own.
    Unpacked,
    /// The only component takes the upper half of a register.
    High,
}

const PACKED: Layout = Layout::Packed { clears: false };
/// The layout where loads write whole registers, so that the unused half becomes zero (GCN3 ISA, "D16").
const CLEARING: Layout = Layout::Packed { clears: true };

/// Returns the handler of a typed load or store, given its name, such as `buffer_load_format_xyzw`.
pub(super) fn handler(target: &Target, name: &str) -> Option<Handler> {
    match (target.has(Feature::UNPACKED_D16), target.arch.emulation.d16_loads_clear) {
        (true, _) => unpacked(name),
        (false, true) => clearing(name),
        (false, false) => packed(name),
    }
    .or_else(|| dwords(name))
}

fn dwords(name: &str) -> Option<Handler> {
    Some(match name {
        "load_format_x" => |cx, op| load::<1>(cx, op, Layout::Dwords),
        "load_format_xy" => |cx, op| load::<2>(cx, op, Layout::Dwords),
        "load_format_xyz" => |cx, op| load::<3>(cx, op, Layout::Dwords),
        "load_format_xyzw" => |cx, op| load::<4>(cx, op, Layout::Dwords),
        "store_format_x" => |cx, op| store::<1>(cx, op, Layout::Dwords),
        "store_format_xy" => |cx, op| store::<2>(cx, op, Layout::Dwords),
        "store_format_xyz" => |cx, op| store::<3>(cx, op, Layout::Dwords),
        "store_format_xyzw" => |cx, op| store::<4>(cx, op, Layout::Dwords),
        "load_format_d16_hi_x" => |cx, op| load::<1>(cx, op, Layout::High),
        "store_format_d16_hi_x" => |cx, op| store::<1>(cx, op, Layout::High),
        _ => return None,
    })
}

fn packed(name: &str) -> Option<Handler> {
    Some(match name {
        "load_format_d16_x" => |cx, op| load::<1>(cx, op, PACKED),
        "load_format_d16_xy" => |cx, op| load::<2>(cx, op, PACKED),
        "load_format_d16_xyz" => |cx, op| load::<3>(cx, op, PACKED),
        "load_format_d16_xyzw" => |cx, op| load::<4>(cx, op, PACKED),
        "store_format_d16_x" => |cx, op| store::<1>(cx, op, PACKED),
        "store_format_d16_xy" => |cx, op| store::<2>(cx, op, PACKED),
        "store_format_d16_xyz" => |cx, op| store::<3>(cx, op, PACKED),
        "store_format_d16_xyzw" => |cx, op| store::<4>(cx, op, PACKED),
        _ => return None,
    })
}

fn clearing(name: &str) -> Option<Handler> {
    Some(match name {
        "load_format_d16_x" => |cx, op| load::<1>(cx, op, CLEARING),
        "load_format_d16_xy" => |cx, op| load::<2>(cx, op, CLEARING),
        "load_format_d16_xyz" => |cx, op| load::<3>(cx, op, CLEARING),
        "load_format_d16_xyzw" => |cx, op| load::<4>(cx, op, CLEARING),
        _ => return packed(name),
    })
}

fn unpacked(name: &str) -> Option<Handler> {
    Some(match name {
        "load_format_d16_x" => |cx, op| load::<1>(cx, op, Layout::Unpacked),
        "load_format_d16_xy" => |cx, op| load::<2>(cx, op, Layout::Unpacked),
        "load_format_d16_xyz" => |cx, op| load::<3>(cx, op, Layout::Unpacked),
        "load_format_d16_xyzw" => |cx, op| load::<4>(cx, op, Layout::Unpacked),
        "store_format_d16_x" => |cx, op| store::<1>(cx, op, Layout::Unpacked),
        "store_format_d16_xy" => |cx, op| store::<2>(cx, op, Layout::Unpacked),
        "store_format_d16_xyz" => |cx, op| store::<3>(cx, op, Layout::Unpacked),
        "store_format_d16_xyzw" => |cx, op| store::<4>(cx, op, Layout::Unpacked),
        _ => return None,
    })
}

/// The selection of components that changes nothing. In a selection, the numbers 4 to 7 stand for the four
/// components of the element, and 0 and 1 stand for the constants 0 and 1.
const IDENTITY: [u8; 4] = [4, 5, 6, 7];

/// Returns the format of the elements that an instruction accesses, and the selection of their components.
/// Both come from the instruction or from the buffer resource.
fn format(cx: &Cx<'_>, op: &Op, access: &Access) -> Result<(Format, [u8; 4]), Trap> {
    let found = match (op.lane, cx.target.arch.layout.has_unified_formats()) {
        (Lane::Format(code), true) => Format::unified(code).map(|format| (format, IDENTITY)),
        (Lane::Format(code), false) => {
            Format::split(code & 15, code >> 4, cx.target).map(|format| (format, IDENTITY))
        }
        _ => access.resource.format(cx.target),
    };
    found.ok_or(Trap::Unsupported)
}

/// Loads the element of a lane, and returns the components that the instruction selects. The element is
/// either completely in range or completely out of range.
fn components(
    cx: &mut Cx<'_>,
    op: &Op,
    access: &Access,
    (format, select): (Format, [u8; 4]),
    lane: usize,
) -> Result<[u32; 4], Trap> {
    let bytes = format.bytes();
    let mut all = [0; 4];
    if !format.is_invalid() && access.checked_place(cx, lane, 0, bytes, fault::Access::Read)?.is_some() {
        let mut element = 0;
        for after in (0..bytes).step_by(4) {
            let size = (bytes - after).min(4);
            if let Some(place) = access.place_of_part(lane, after, size.into()) {
                element |= u128::from(cx.read(op, place, size, lane)?) << (8 * after);
            }
        }
        all = format.unpack(element);
    }
    Ok(select.map(|from| match from {
        1 => format.one(),
        4..=7 => all[usize::from(from - 4)],
        _ => 0,
    }))
}

/// Converts the 32-bit value of a component to 16 bits.
fn narrow(format: Format, value: u32) -> u32 {
    match format.is_integer() {
        true => value & 0xffff,
        false => f16::from_f32(f32::from_bits(value)).to_bits().into(),
    }
}

fn widen(format: Format, value: u32) -> u32 {
    match format.is_integer() {
        true => value & 0xffff,
        false => f16::from_bits(value as u16).to_f32().to_bits(),
    }
}

fn load<const COUNT: usize>(cx: &mut Cx<'_>, op: &Op, layout: Layout) -> Flow {
    let access = Access::new(cx, op, 0);
    let format = match format(cx, op, &access) {
        Ok(format) => format,
        Err(trap) => return cx.fail(trap),
    };
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(access.exec) {
        let values = match components(cx, op, &access, format, lane) {
            Ok(values) => values,
            Err(trap) => return cx.fail(trap),
        };
        for (at, &value) in values[..COUNT].iter().enumerate() {
            let half = || narrow(format.0, value);
            let (register, value, kept) = match layout {
                Layout::Dwords => (at, value, 0),
                Layout::Unpacked => (at, half(), 0),
                Layout::High => (at, half() << 16, 0xffff),
                Layout::Packed { clears } if at % 2 == 0 => {
                    (at / 2, half(), if clears { 0 } else { !0xffff })
                }
                Layout::Packed { .. } => (at / 2, half() << 16, 0xffff),
            };
            let place = &mut cx.wave.vgpr[dst + register][lane];
            *place = *place & kept | value;
        }
    }
    finish(cx, op, access.exec)
}

fn store<const COUNT: usize>(cx: &mut Cx<'_>, op: &Op, layout: Layout) -> Flow {
    let access = Access::new(cx, op, 1);
    let (format, select) = match format(cx, op, &access) {
        Ok(format) => format,
        Err(trap) => return cx.fail(trap),
    };
    let bytes = format.bytes();
    let data = data_register(op.src[0]);
    for lane in ActiveLanes(access.exec) {
        let place = match access.checked_place(cx, lane, 0, bytes, fault::Access::Write) {
            Ok(place) => place,
            Err(trap) => return cx.fail(trap),
        };
        if format.is_invalid() || place.is_none() {
            continue;
        }
        let mut values = [0; 4];
        for (at, &to) in select[..COUNT].iter().enumerate() {
            let value = match layout {
                Layout::Dwords => cx.wave.vgpr[data + at][lane],
                Layout::Unpacked => widen(format, cx.wave.vgpr[data + at][lane]),
                Layout::High => widen(format, cx.wave.vgpr[data][lane] >> 16),
                Layout::Packed { .. } => widen(format, cx.wave.vgpr[data + at / 2][lane] >> (16 * (at % 2))),
            };
            if let 4..=7 = to {
                values[usize::from(to - 4)] = value;
            }
        }
        let element = format.pack(values);
        for after in (0..bytes).step_by(4) {
            let size = (bytes - after).min(4);
            let Some(place) = access.place_of_part(lane, after, size.into()) else { continue };
            if let Err(trap) = cx.write(op, place, size, (element >> (8 * after)) as u32, lane) {
                return cx.fail(trap);
            }
        }
    }
    Flow::Next
}

/// Runs `buffer_load_format_x` with `lds`, which loads to LDS.
pub(super) fn to_lds(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let access = Access::new(cx, op, 0);
    let format = match format(cx, op, &access) {
        Ok(format) => format,
        Err(trap) => return cx.fail(trap),
    };
    for lane in ActiveLanes(access.exec) {
        let place = lds_place(cx, op, lane);
        let done = components(cx, op, &access, format, lane)
            .and_then(|values| cx.write(op, place, 4, values[0], lane));
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}
