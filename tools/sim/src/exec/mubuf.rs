//! Buffer instructions, which access memory or scratch through a buffer resource in four SGPRs.

use super::access::Place;
use super::resource::{ADDRESSES, Addressing, Resource};
use super::valu::plain;
use super::vmem::{Part, data_register};
use super::{Cx, Flow, Handler, typed};
use crate::fault::{self, Trap};
use crate::op::{NONE, Op, Src, VGPR0};
use crate::watch::{CacheOp, OutOfRange};
use crate::wave::{ActiveLanes, Lanes};
use isa::{ModFlags, Target};
use std::sync::MutexGuard;

pub(super) fn handler(target: &Target, name: &str, flags: ModFlags) -> Option<Handler> {
    let name = name.strip_prefix("buffer_")?;
    if name == "store_lds_dword" {
        return Some(store_from_lds);
    }
    if flags.contains(ModFlags::LDS) {
        return load_to_lds(name);
    }
    None.or_else(|| caches(name, flags))
        .or_else(|| loads(name))
        .or_else(|| stores(name))
        .or_else(|| typed::handler(target, name))
        .or_else(|| atomics(name))
}

fn caches(name: &str, flags: ModFlags) -> Option<Handler> {
    Some(match name {
        "wbinvl1" | "wbinvl1_sc" => |cx, _| cx.cache(CacheOp::InvalidateL1 { volatile: false }),
        "wbinvl1_vol" => |cx, _| cx.cache(CacheOp::InvalidateL1 { volatile: true }),
        "gl0_inv" => |cx, _| cx.cache(CacheOp::InvalidateGl0),
        "gl1_inv" => |cx, _| cx.cache(CacheOp::InvalidateGl1),
        "wbl2" => |cx, _| cx.cache(CacheOp::WriteBackL2),
        "inv" if !flags.contains(ModFlags::SCC) => {
            |cx, _| cx.cache(CacheOp::InvalidateL1 { volatile: false })
        }
        "inv" => |cx, _| {
            cx.cache(CacheOp::InvalidateL1 { volatile: false });
            cx.cache(CacheOp::InvalidateL2)
        },
        "invl2" => |cx, _| cx.cache(CacheOp::InvalidateL2),
        _ => return None,
    })
}

fn loads(name: &str) -> Option<Handler> {
    Some(match name.strip_prefix("load_")? {
        "dword" => |cx, op| load(cx, op, 1),
        "dwordx2" => |cx, op| load(cx, op, 2),
        "dwordx3" => |cx, op| load(cx, op, 3),
        "dwordx4" => |cx, op| load(cx, op, 4),
        "ubyte" => |cx, op| load_part(cx, op, Part::U8),
        "sbyte" => |cx, op| load_part(cx, op, Part::I8),
        "ushort" => |cx, op| load_part(cx, op, Part::U16),
        "sshort" => |cx, op| load_part(cx, op, Part::I16),
        "ubyte_d16" => |cx, op| load_part(cx, op, Part::U8_LOW),
        "sbyte_d16" => |cx, op| load_part(cx, op, Part::I8_LOW),
        "short_d16" => |cx, op| load_part(cx, op, Part::B16_LOW),
        "ubyte_d16_hi" => |cx, op| load_part(cx, op, Part::U8_HIGH),
        "sbyte_d16_hi" => |cx, op| load_part(cx, op, Part::I8_HIGH),
        "short_d16_hi" => |cx, op| load_part(cx, op, Part::B16_HIGH),
        _ => return None,
    })
}

fn stores(name: &str) -> Option<Handler> {
    Some(match name.strip_prefix("store_")? {
        "dword" => |cx, op| store(cx, op, 1),
        "dwordx2" => |cx, op| store(cx, op, 2),
        "dwordx3" => |cx, op| store(cx, op, 3),
        "dwordx4" => |cx, op| store(cx, op, 4),
        "byte" => |cx, op| store_part(cx, op, 1, 0),
        "byte_d16_hi" => |cx, op| store_part(cx, op, 1, 16),
        "short" => |cx, op| store_part(cx, op, 2, 0),
        "short_d16_hi" => |cx, op| store_part(cx, op, 2, 16),
        _ => return None,
    })
}

fn atomics(name: &str) -> Option<Handler> {
    let operation = name.strip_prefix("atomic_")?;
    Some(match operation.ends_with("_x2") || operation.ends_with("_f64") {
        true => |cx, op| atomic(cx, op, true),
        false => |cx, op| atomic(cx, op, false),
    })
}

fn load_to_lds(name: &str) -> Option<Handler> {
    Some(match name.strip_prefix("load_")? {
        "dword" => |cx, op| to_lds(cx, op, Part::B32),
        "ubyte" => |cx, op| to_lds(cx, op, Part::U8),
        "sbyte" => |cx, op| to_lds(cx, op, Part::I8),
        "ushort" => |cx, op| to_lds(cx, op, Part::U16),
        "sshort" => |cx, op| to_lds(cx, op, Part::I16),
        "format_x" => typed::to_lds,
        _ => return None,
    })
}

/// The operands of a buffer access, from which the addresses are computed.
pub(super) struct Access {
    pub(super) resource: Resource,
    /// Number of the first SGPR of the buffer resource.
    first: u8,
    indexed: bool,
    scalar_offset: u64,
    pub(super) exec: u64,
    index: Lanes,
    offset: Lanes,
    /// Upper halves of the lanes' 64-bit addresses, if VGPRs hold 64-bit addresses (ADDR64). The field
    /// `offset` then holds the lower halves.
    high: Option<Lanes>,
    immediate: u32,
}

impl Access {
    /// Reads the operands from which the addresses are computed. `first` is the index of the address operand
    /// among the instruction's sources.
    pub(super) fn new(cx: &mut Cx<'_>, op: &Op, first: usize) -> Access {
        Access::from_op(cx, op, op.src[first], op.src[first + 1], op.src[first + 2])
    }

    fn from_op(cx: &mut Cx<'_>, op: &Op, address: Src, resource: Src, scalar_offset: Src) -> Access {
        let how = Addressing {
            indexed: op.flags.contains(ModFlags::IDXEN),
            long: op.flags.contains(ModFlags::ADDR64),
        };
        let offset = op.flags.contains(ModFlags::OFFEN);
        let mut access = Access {
            resource: Resource::read(cx.wave, resource, how),
            first: if let Src::S(first) = resource { first } else { 0 },
            indexed: how.indexed,
            scalar_offset: cx.wave.scalar(scalar_offset).into(),
            exec: cx.wave.exec(),
            index: [0; 64],
            offset: [0; 64],
            high: None,
            immediate: op.offset as u32,
        };
        let words = if how.long || how.indexed && offset { 2 } else { 1 };
        if how.long || how.indexed || offset {
            let temp = &mut cx.scratch.sources[0];
            let registers = plain(cx.wave, address, words, temp);
            if how.long {
                (access.offset, access.high) = (registers[0], Some(registers[1]));
            }
            if how.indexed {
                access.index = registers[0];
            }
            if offset {
                access.offset = registers[words - 1];
            }
        }
        access
    }

    /// Returns the position in memory of a part of a lane's access. The part has `bytes` bytes and starts
    /// `after` bytes after the start of the access. Returns `None` if the part is out of range.
    pub(super) fn place_of_part(&self, lane: usize, after: u32, bytes: u64) -> Option<Place> {
        let (index, offset) = (u64::from(self.index[lane]), self.offset[lane]);
        let place = match &self.high {
            // The value of the VGPR and the immediate are added modulo 2^32. A negative value in the VGPR is
            // therefore in range if the immediate is large enough. On GFX9, clang relies on this: it moves
            // constants into the immediate even if the value of the VGPR may be negative. On GFX8, the
            // hardware checks the value of the VGPR alone, and clang does not move constants.
            None => {
                let offset = offset.wrapping_add(self.immediate).wrapping_add(after);
                self.resource.address(index, offset.into(), self.scalar_offset, lane, bytes)?
            }
            Some(high) => {
                let address = u64::from(offset) | u64::from(high[lane]) << 32;
                let immediate = u64::from(self.immediate) + u64::from(after);
                let place = self.resource.address(0, immediate, self.scalar_offset, lane, bytes)?;
                place.wrapping_add(address) & ADDRESSES
            }
        };
        Some(Place::Linear(place))
    }

    /// Does the same as [`Access::place_of_part`], and notifies the watcher if the part of the access is out
    /// of range.
    pub(super) fn checked_place(
        &self,
        cx: &mut Cx<'_>,
        lane: usize,
        after: u32,
        bytes: u32,
        kind: fault::Access,
    ) -> Result<Option<Place>, Trap> {
        let place = self.place_of_part(lane, after, bytes.into());
        if let (None, Some(watch)) = (place, &mut cx.watch) {
            let access = OutOfRange {
                lane: lane as u32,
                kind,
                bytes,
                offset: self.offset[lane].wrapping_add(self.immediate).wrapping_add(after),
                index: self.indexed.then_some(self.index[lane]),
                scalar_offset: self.scalar_offset,
                first: self.first,
                words: self.resource.words(),
                swizzles: self.resource.swizzles(),
            };
            watch.out_of_range(cx.memory, &access)?;
        }
        Ok(place)
    }

    /// Reads up to 4 bytes of a lane's access. Returns 0 if the bytes are out of range.
    fn read(&self, cx: &mut Cx<'_>, op: &Op, lane: usize, after: u32, bytes: u32) -> Result<u32, Trap> {
        match self.checked_place(cx, lane, after, bytes, fault::Access::Read)? {
            Some(place) => cx.read(op, place, bytes, lane),
            None => Ok(0),
        }
    }

    /// Writes up to 4 bytes for a lane, if they are in range.
    fn write(
        &self,
        cx: &mut Cx<'_>,
        op: &Op,
        lane: usize,
        after: u32,
        bytes: u32,
        value: u32,
    ) -> Result<(), Trap> {
        match self.checked_place(cx, lane, after, bytes, fault::Access::Write)? {
            Some(place) => cx.write(op, place, bytes, value, lane),
            None => Ok(()),
        }
    }
}

/// Ends a load. If the instruction has the modifier TFE, writes 0 to the register after the loaded data. The
/// 0 tells the program that all pages of the load were present.
pub(super) fn finish(cx: &mut Cx<'_>, op: &Op, exec: u64) -> Flow {
    if op.flags.contains(ModFlags::TFE) {
        let status = usize::from(op.dst.wrapping_sub(VGPR0)) + usize::from(op.widest) - 1;
        ActiveLanes(exec).for_each(|lane| cx.wave.vgpr[status][lane] = 0);
    }
    Flow::Next
}

/// Takes the lock that makes 64-bit atomics atomic in the emulator. A 64-bit access takes it too, if the code
/// contains 64-bit atomics, so that no atomic can change one half of the data during the access. Returns
/// `None` for an access that needs no lock.
fn lock64<'a>(cx: &Cx<'a>, place: Option<Place>, dwords: u32) -> Option<MutexGuard<'a, ()>> {
    match place {
        Some(Place::Linear(address)) if cx.locked64 && dwords == 2 => Some(cx.memory.lock64(address)),
        _ => None,
    }
}

/// Runs a load of two dwords for each lane. Both dwords of a lane are loaded in one step, because a 64-bit
/// atomic of another thread may change them.
fn load_pairs(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let access = Access::new(cx, op, 0);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(access.exec) {
        let _guard = lock64(cx, access.place_of_part(lane, 0, 4), 2);
        for dword in 0..2 {
            match access.read(cx, op, lane, dword * 4, 4) {
                Ok(value) => cx.wave.vgpr[dst + dword as usize][lane] = value,
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    finish(cx, op, access.exec)
}

fn load(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    if cx.locked64 && dwords == 2 {
        return load_pairs(cx, op);
    }
    let access = Access::new(cx, op, 0);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for dword in 0..dwords {
        for lane in ActiveLanes(access.exec) {
            match access.read(cx, op, lane, dword * 4, 4) {
                Ok(value) => cx.wave.vgpr[dst + dword as usize][lane] = value,
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    finish(cx, op, access.exec)
}

fn load_part(cx: &mut Cx<'_>, op: &Op, part: Part) -> Flow {
    let access = Access::new(cx, op, 0);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(access.exec) {
        match access.read(cx, op, lane, 0, part.bytes) {
            Ok(value) => {
                let place = &mut cx.wave.vgpr[dst][lane];
                *place = (part.place)(value, *place);
            }
            Err(trap) => return cx.fail(trap),
        }
    }
    finish(cx, op, access.exec)
}

fn store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let access = Access::new(cx, op, 1);
    let data = data_register(op.src[0]);
    for lane in ActiveLanes(access.exec) {
        let _guard = lock64(cx, access.place_of_part(lane, 0, 4), dwords);
        for dword in 0..dwords {
            let value = cx.wave.vgpr[data + dword as usize][lane];
            if let Err(trap) = access.write(cx, op, lane, dword * 4, 4, value) {
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
        if let Err(trap) = access.write(cx, op, lane, 0, bytes, value) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// Runs an atomic. If the instruction has the modifier GLC, writes the old value of the location to the
/// registers of the data operand.
fn atomic(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    // In the list of sources, the address comes first (source 0). The data operand comes after address,
    // resource and offset, because it is tied to the destination.
    let access = Access::new(cx, op, 0);
    let data = data_register(op.src[3]);
    for lane in ActiveLanes(access.exec) {
        let bytes = if wide { 8 } else { 4 };
        let place = match access.checked_place(cx, lane, 0, bytes, fault::Access::Atomic) {
            Ok(place) => place,
            Err(trap) => return cx.fail(trap),
        };
        let Some(place) = place else {
            if op.dst != NONE {
                let dst = usize::from(op.dst - VGPR0);
                (0..=usize::from(wide)).for_each(|half| cx.wave.vgpr[dst + half][lane] = 0);
            }
            continue;
        };
        let done = if wide { cx.rmw64(op, place, lane, data) } else { cx.rmw32(op, place, lane, data) };
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// Returns the LDS location to which a lane's dword goes in a load from memory to LDS. Its address is the sum
/// of M0, the instruction's offset, and four times the lane number (Vega ISA, "Memory Buffer Load to LDS").
pub(super) fn lds_place(cx: &Cx<'_>, op: &Op, lane: usize) -> Place {
    let base = cx.wave.sgpr[crate::wave::reg::M0] & 0xffff;
    Place::WholeLds(base.wrapping_add(op.offset as u32).wrapping_add(lane as u32 * 4))
}

fn to_lds(cx: &mut Cx<'_>, op: &Op, part: Part) -> Flow {
    let access = Access::new(cx, op, 0);
    for lane in ActiveLanes(access.exec) {
        let value = access.read(cx, op, lane, 0, part.bytes);
        let place = lds_place(cx, op, lane);
        let done = value.and_then(|value| cx.write(op, place, 4, (part.place)(value, 0), lane));
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

fn store_from_lds(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let access = Access::from_op(cx, op, Src::None, op.src[0], op.src[1]);
    for lane in ActiveLanes(access.exec) {
        let done = access.checked_place(cx, lane, 0, 4, fault::Access::Write).and_then(|place| {
            let Some(place) = place else { return Ok(()) };
            let value = cx.read(op, lds_place(cx, op, lane), 4, lane)?;
            cx.write(op, place, 4, value, lane)
        });
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}
