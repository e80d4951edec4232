//! Buffer instructions: accesses through a resource descriptor of four SGPRs. Scratch is reached this way, too.

use super::access::Place;
use super::valu::plain;
use super::vmem::{data_register, high_half, low_half};
use super::{Cx, Flow, Handler};
use crate::op::{Op, Src, VGPR0};
use crate::watch::CacheOp;
use crate::wave::{ActiveLanes, Wave};
use isa::ModFlags;

/// A buffer resource (Vega ISA, "Buffer Resource Descriptor").
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) base: u64,
    stride: u64,
    records: u64,
    swizzle: bool,
    index_stride: u64,
    add_lane: bool,
}

impl Resource {
    /// Bytes of an element of a swizzled buffer: fixed on GFX9.
    const ELEMENT: u64 = 4;

    /// Bits of the second and fourth dwords.
    pub(crate) const SWIZZLE_ENABLE: u32 = 1 << 31;
    pub(crate) const ADD_TID_ENABLE: u32 = 1 << 23;
    pub(crate) const INDEX_STRIDE_64: u32 = 3 << 21;
    pub(crate) const INDEX_STRIDE_32: u32 = 2 << 21;

    pub(crate) fn read(wave: &Wave, src: Src) -> Resource {
        let Src::S(first) = src else { return Resource::parse([0; 4]) };
        Resource::parse(std::array::from_fn(|at| wave.sgpr[(usize::from(first) + at) & 255]))
    }

    fn parse(words: [u32; 4]) -> Resource {
        let add_lane = words[3] & Self::ADD_TID_ENABLE != 0;
        let mut stride = u64::from(words[1] >> 16 & 0x3fff);
        if add_lane {
            // The data format's field then holds the stride's upper bits.
            stride |= u64::from(words[3] >> 15 & 15) << 14;
        }
        Resource {
            base: u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32,
            stride,
            records: u64::from(words[2]),
            swizzle: words[1] & Self::SWIZZLE_ENABLE != 0,
            index_stride: 8 << (words[3] >> 21 & 3),
            add_lane,
        }
    }

    /// Size in bytes of a buffer that is not swizzled.
    pub(crate) fn bytes(&self) -> u64 {
        if self.stride == 0 { self.records } else { self.records * self.stride }
    }

    /// Where an access goes; `None` if it is out of range, where loads give zero and stores do nothing.
    fn place(&self, index: u64, offset: u64, scalar_offset: u64, lane: usize, bytes: u64) -> Option<u64> {
        let index = index + if self.add_lane { lane as u64 } else { 0 };
        let in_range = match (self.stride, self.swizzle) {
            (0, false) => scalar_offset + offset + bytes <= self.records,
            (0, true) => true,
            _ => index < self.records && (!self.swizzle || offset < self.stride),
        };
        let linear = if self.swizzle {
            let (outer, inner) = (index / self.index_stride, index % self.index_stride);
            let element = offset / Self::ELEMENT * Self::ELEMENT;
            (outer * self.stride + element) * self.index_stride
                + inner * Self::ELEMENT
                + offset % Self::ELEMENT
        } else {
            index * self.stride + offset
        };
        in_range.then_some(self.base.wrapping_add(scalar_offset).wrapping_add(linear))
    }
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name.strip_prefix("buffer_")? {
        "load_dword" => |cx, op| load(cx, op, 1),
        "load_dwordx2" => |cx, op| load(cx, op, 2),
        "load_dwordx3" => |cx, op| load(cx, op, 3),
        "load_dwordx4" => |cx, op| load(cx, op, 4),
        "load_ubyte" => |cx, op| load_part(cx, op, 1, |value, _| value),
        "load_sbyte" => |cx, op| load_part(cx, op, 1, |value, _| value as i8 as u32),
        "load_ushort" => |cx, op| load_part(cx, op, 2, |value, _| value),
        "load_sshort" => |cx, op| load_part(cx, op, 2, |value, _| value as i16 as u32),
        "load_ubyte_d16" => |cx, op| load_part(cx, op, 1, low_half),
        "load_sbyte_d16" => |cx, op| load_part(cx, op, 1, |value, old| low_half(value as i8 as u32, old)),
        "load_short_d16" => |cx, op| load_part(cx, op, 2, low_half),
        "load_ubyte_d16_hi" => |cx, op| load_part(cx, op, 1, high_half),
        "load_sbyte_d16_hi" => |cx, op| load_part(cx, op, 1, |value, old| high_half(value as i8 as u32, old)),
        "load_short_d16_hi" => |cx, op| load_part(cx, op, 2, high_half),
        "store_dword" => |cx, op| store(cx, op, 1),
        "store_dwordx2" => |cx, op| store(cx, op, 2),
        "store_dwordx3" => |cx, op| store(cx, op, 3),
        "store_dwordx4" => |cx, op| store(cx, op, 4),
        "store_byte" => |cx, op| store_part(cx, op, 1, 0),
        "store_byte_d16_hi" => |cx, op| store_part(cx, op, 1, 16),
        "store_short" => |cx, op| store_part(cx, op, 2, 0),
        "store_short_d16_hi" => |cx, op| store_part(cx, op, 2, 16),
        "wbinvl1" | "wbinvl1_sc" => |cx, _| cx.cache(CacheOp::InvalidateL1 { volatile: false }),
        "wbinvl1_vol" => |cx, _| cx.cache(CacheOp::InvalidateL1 { volatile: true }),
        "gl0_inv" => |cx, _| cx.cache(CacheOp::InvalidateGl0),
        "gl1_inv" => |cx, _| cx.cache(CacheOp::InvalidateGl1),
        "wbl2" => |cx, _| cx.cache(CacheOp::WriteBackL2),
        "invl2" => |cx, _| cx.cache(CacheOp::InvalidateL2),
        atomic if atomic.starts_with("atomic_") && atomic.ends_with("_x2") => {
            |cx, op| atomic_access(cx, op, true)
        }
        atomic if atomic.starts_with("atomic_") => |cx, op| atomic_access(cx, op, false),
        _ => return None,
    })
}

/// The operands of a buffer access.
struct Access {
    resource: Resource,
    scalar_offset: u64,
    exec: u64,
    index: crate::wave::Lanes,
    offset: crate::wave::Lanes,
    immediate: u32,
}

impl Access {
    /// `first` is the position of the address among the sources.
    fn new(cx: &mut Cx<'_>, op: &Op, first: usize) -> Access {
        let (with_index, with_offset) =
            (op.flags.contains(ModFlags::IDXEN), op.flags.contains(ModFlags::OFFEN));
        let (mut index, mut offset) = ([0; 64], [0; 64]);
        if with_index || with_offset {
            let temp = &mut cx.scratch.sources[0];
            let words = if with_index && with_offset { 2 } else { 1 };
            let address = plain(cx.wave, op.src[first], words, temp);
            if with_index {
                index = *address[0];
            }
            if with_offset {
                offset = *address[words - 1];
            }
        }
        Access {
            resource: Resource::read(cx.wave, op.src[first + 1]),
            scalar_offset: cx.wave.scalar(op.src[first + 2]).into(),
            exec: cx.wave.exec(),
            index,
            offset,
            immediate: op.offset as u32,
        }
    }

    fn place(&self, lane: usize, dword: u32, bytes: u64) -> Option<Place> {
        // The sum has 32 bits. A negative VGPR with a larger immediate is in range: clang folds the immediate into
        // accesses whose VGPR may be negative on GFX9, and on GFX8, which checked the VGPR by itself, does not.
        let offset = self.offset[lane].wrapping_add(self.immediate).wrapping_add(dword * 4);
        self.resource
            .place(self.index[lane].into(), offset.into(), self.scalar_offset, lane, bytes)
            .map(Place::Linear)
    }
}

fn load(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let access = Access::new(cx, op, 0);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for dword in 0..dwords {
        for lane in ActiveLanes(access.exec) {
            let value = match access.place(lane, dword, 4) {
                Some(place) => cx.read(op, place, 4, lane),
                None => Ok(0),
            };
            match value {
                Ok(value) => cx.wave.vgpr[dst + dword as usize][lane] = value,
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    Flow::Next
}

fn load_part(cx: &mut Cx<'_>, op: &Op, bytes: u32, extend: fn(u32, u32) -> u32) -> Flow {
    let access = Access::new(cx, op, 0);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(access.exec) {
        let value = match access.place(lane, 0, bytes.into()) {
            Some(place) => cx.read(op, place, bytes, lane),
            None => Ok(0),
        };
        match value {
            Ok(value) => {
                let place = &mut cx.wave.vgpr[dst][lane];
                *place = extend(value, *place);
            }
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

fn store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let access = Access::new(cx, op, 1);
    let data = data_register(op.src[0]);
    for lane in ActiveLanes(access.exec) {
        for dword in 0..dwords {
            let value = cx.wave.vgpr[data + dword as usize][lane];
            let Some(place) = access.place(lane, dword, 4) else { continue };
            if let Err(trap) = cx.write(op, place, 4, value, lane) {
                return cx.fail(trap);
            }
        }
    }
    Flow::Next
}

fn store_part(cx: &mut Cx<'_>, op: &Op, bytes: u32, shift: u32) -> Flow {
    let access = Access::new(cx, op, 1);
    let data = data_register(op.src[0]);
    for lane in ActiveLanes(access.exec) {
        let value = cx.wave.vgpr[data][lane] >> shift;
        let Some(place) = access.place(lane, 0, bytes.into()) else { continue };
        if let Err(trap) = cx.write(op, place, bytes, value, lane) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// The data is source and, with GLC, destination.
fn atomic_access(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    // The data operand is tied: its uses come after address, resource and offset.
    let access = Access::new(cx, op, 0);
    let data = data_register(op.src[3]);
    for lane in ActiveLanes(access.exec) {
        let Some(place) = access.place(lane, 0, if wide { 8 } else { 4 }) else { continue };
        let done = if wide { cx.rmw64(op, place, lane, data) } else { cx.rmw32(op, place, lane, data) };
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}
