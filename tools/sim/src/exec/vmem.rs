//! Vector memory instructions that do not use a buffer resource: FLAT, GLOBAL and SCRATCH.

use super::access::{Common, Place};
use super::atomic::Atomic;
use super::mubuf::lds_place;
use super::valu::{Source, plain};
use super::{Cx, Flow, Handler};
use crate::fault::Trap;
use crate::op::{NONE, Op, Src, VGPR0};
use crate::wave::{ActiveLanes, PRIVATE_APERTURE, SCRATCH_BASE, SHARED_APERTURE};
use isa::{FlatScratch, ModFlags};
use std::sync::atomic::{AtomicU32, Ordering};

/// Segments of memory instructions. The segment says what kind of address an instruction uses.
pub(crate) const FLAT: u8 = 0;
pub(crate) const GLOBAL: u8 = 1;
pub(crate) const SCRATCH: u8 = 2;

/// A load of at most one dword. `bytes` is the number of loaded bytes, and `place` combines the loaded bytes
/// with the old value of the register.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) bytes: u32,
    pub(crate) place: fn(u32, u32) -> u32,
}

impl Part {
    pub(crate) const U8: Part = Part { bytes: 1, place: |value, _| value };
    pub(crate) const I8: Part = Part { bytes: 1, place: |value, _| value as i8 as u32 };
    pub(crate) const U16: Part = Part { bytes: 2, place: |value, _| value };
    pub(crate) const I16: Part = Part { bytes: 2, place: |value, _| value as i16 as u32 };
    pub(crate) const B32: Part = Part { bytes: 4, place: |value, _| value };
    pub(crate) const U8_LOW: Part = Part { bytes: 1, place: low_half };
    pub(crate) const U8_HIGH: Part = Part { bytes: 1, place: high_half };
    pub(crate) const I8_LOW: Part = Part { bytes: 1, place: |value, old| low_half(value as i8 as u32, old) };
    pub(crate) const I8_HIGH: Part =
        Part { bytes: 1, place: |value, old| high_half(value as i8 as u32, old) };
    pub(crate) const B16_LOW: Part = Part { bytes: 2, place: low_half };
    pub(crate) const B16_HIGH: Part = Part { bytes: 2, place: high_half };
}

fn low_half(value: u32, old: u32) -> u32 {
    value & 0xffff | old & 0xffff_0000
}

fn high_half(value: u32, old: u32) -> u32 {
    value << 16 | old & 0xffff
}

pub(super) fn handler(name: &str, flags: ModFlags) -> Option<Handler> {
    let (segment, rest) = name.split_once('_')?;
    match segment {
        "flat" => segment_handler::<FLAT>(rest, flags),
        "global" => segment_handler::<GLOBAL>(rest, flags),
        "scratch" => segment_handler::<SCRATCH>(rest, flags),
        _ => None,
    }
}

fn segment_handler<const SEGMENT: u8>(name: &str, flags: ModFlags) -> Option<Handler> {
    if flags.contains(ModFlags::LDS) || name.starts_with("load_lds_") {
        return load_to_lds::<SEGMENT>(name);
    }
    Some(match name {
        "load_dword" => load::<SEGMENT, 1>,
        "load_dwordx2" => load::<SEGMENT, 2>,
        "load_dwordx3" => load::<SEGMENT, 3>,
        "load_dwordx4" => load::<SEGMENT, 4>,
        "load_ubyte" => |cx, op| load_part::<SEGMENT>(cx, op, Part::U8),
        "load_sbyte" => |cx, op| load_part::<SEGMENT>(cx, op, Part::I8),
        "load_ushort" => |cx, op| load_part::<SEGMENT>(cx, op, Part::U16),
        "load_sshort" => |cx, op| load_part::<SEGMENT>(cx, op, Part::I16),
        "load_ubyte_d16" => |cx, op| load_part::<SEGMENT>(cx, op, Part::U8_LOW),
        "load_sbyte_d16" => |cx, op| load_part::<SEGMENT>(cx, op, Part::I8_LOW),
        "load_short_d16" => |cx, op| load_part::<SEGMENT>(cx, op, Part::B16_LOW),
        "load_ubyte_d16_hi" => |cx, op| load_part::<SEGMENT>(cx, op, Part::U8_HIGH),
        "load_sbyte_d16_hi" => |cx, op| load_part::<SEGMENT>(cx, op, Part::I8_HIGH),
        "load_short_d16_hi" => |cx, op| load_part::<SEGMENT>(cx, op, Part::B16_HIGH),
        "store_dword" => store::<SEGMENT, 1>,
        "store_dwordx2" => store::<SEGMENT, 2>,
        "store_dwordx3" => store::<SEGMENT, 3>,
        "store_dwordx4" => store::<SEGMENT, 4>,
        "store_byte" => |cx, op| store_part::<SEGMENT>(cx, op, 1, 0),
        "store_byte_d16_hi" => |cx, op| store_part::<SEGMENT>(cx, op, 1, 16),
        "store_short" => |cx, op| store_part::<SEGMENT>(cx, op, 2, 0),
        "store_short_d16_hi" => |cx, op| store_part::<SEGMENT>(cx, op, 2, 16),
        "load_dword_addtid" => load_by_lane,
        "store_dword_addtid" => store_by_lane,
        _ if name.starts_with("atomic_") && (name.ends_with("_x2") || name.ends_with("_f64")) => {
            atomic64::<SEGMENT>
        }
        _ if name.starts_with("atomic_") => atomic32::<SEGMENT>,
        _ => return None,
    })
}

fn load_to_lds<const SEGMENT: u8>(name: &str) -> Option<Handler> {
    Some(match name.strip_prefix("load_lds_").or_else(|| name.strip_prefix("load_"))? {
        "dword" => |cx, op| to_lds::<SEGMENT>(cx, op, Part::B32),
        "ubyte" => |cx, op| to_lds::<SEGMENT>(cx, op, Part::U8),
        "sbyte" => |cx, op| to_lds::<SEGMENT>(cx, op, Part::I8),
        "ushort" => |cx, op| to_lds::<SEGMENT>(cx, op, Part::U16),
        "sshort" => |cx, op| to_lds::<SEGMENT>(cx, op, Part::I16),
        _ => return None,
    })
}

impl Cx<'_> {
    /// Returns the address at which the wave's private memory begins, which the register FLAT_SCRATCH gives
    /// (LLVM's AMDGPU guide, seed 000, lines 2999-3052).
    fn private_base(&self) -> u64 {
        let register = self.wave.flat_scratch();
        match self.target.arch.addressing.flat_scratch {
            // The upper half of FLAT_SCRATCH is the offset of the wave's scratch from the beginning of all
            // scratch memory, in units of 256 bytes. The lower half is the size of the scratch memory of each
            // lane.
            FlatScratch::SizeAndOffset => SCRATCH_BASE + (register >> 32 << 8),
            _ => register,
        }
    }

    /// Returns the kind of memory that a lane accesses, and the position in this memory. `address` is the sum
    /// of the address registers and the offset.
    #[inline(always)]
    fn place_of_address<const SEGMENT: u8>(&self, address: u64) -> Place {
        let private = || Place::Private { base: self.private_base(), offset: address as u32 };
        match SEGMENT {
            GLOBAL => Place::Linear(address),
            SCRATCH => private(),
            _ => match (address >> 32) as u32 {
                SHARED_APERTURE => Place::Lds(address as u32),
                PRIVATE_APERTURE => private(),
                _ => Place::Linear(address),
            },
        }
    }
}

/// Returns the address of each lane, which is the sum of the lane's address registers and the offset.
#[inline(always)]
fn addresses<const SEGMENT: u8>(cx: &mut Cx<'_>, op: &Op, vaddr: Src, saddr: Src) -> [u64; 64] {
    let (wave, temp) = (&*cx.wave, &mut cx.scratch.sources[0]);
    let offset = i64::from(op.offset) as u64;
    // Only SCRATCH and GLOBAL instructions have a scalar address. In a FLAT instruction, the source at this
    // position may be another operand. For example, a load of 16 bits has its destination register here,
    // because one half of this register keeps its value.
    if SEGMENT == SCRATCH || SEGMENT == GLOBAL && saddr != Src::None {
        let base = if SEGMENT == SCRATCH { wave.scalar(saddr).into() } else { wave.scalar64(saddr) };
        let base = base.wrapping_add(offset);
        let offsets = plain(wave, vaddr, 1, temp).0;
        wave.arch.dispatch(|| offsets.map(|offset| base.wrapping_add(u64::from(offset))))
    } else {
        let source: Source<'_> = plain(wave, vaddr, 2, temp);
        wave.arch.dispatch(|| {
            let (low, high) = (&source[0], &source[1]);
            let mut addresses = [0; 64];
            for lane in 0..64 {
                let address = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                addresses[lane] = address.wrapping_add(offset);
            }
            addresses
        })
    }
}

/// Calls `f` for each active lane with the lane's dwords in memory. The caller has checked that all these
/// dwords are in the allocation.
#[inline(always)]
fn for_each_element<const DWORDS: usize>(
    common: Common<'_>,
    addresses: &[u64; 64],
    exec: u64,
    mut f: impl FnMut(usize, &[AtomicU32; DWORDS]),
) {
    let (words, base) = (common.buffer.words(), common.buffer.base());
    let first = (addresses[0].wrapping_sub(base) / 4) as usize;
    if common.in_step
        && let Some(words) = words.get(first..first + 64 * DWORDS)
    {
        let elements = words.as_chunks::<DWORDS>().0;
        elements.iter().enumerate().take(64).for_each(|(lane, element)| f(lane, element));
        return;
    }
    for lane in ActiveLanes(exec) {
        let word = (addresses[lane].wrapping_sub(base) / 4) as usize;
        if let Some(element) = words.get(word..).and_then(|words| words.first_chunk()) {
            f(lane, element);
        }
    }
}

fn load<const SEGMENT: u8, const DWORDS: usize>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[1]);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    let memory = cx.memory;
    let locked = cx.locked64 && DWORDS == 2;
    let simple = match SEGMENT == SCRATCH || locked {
        true => None,
        false => cx.common_buffer::<DWORDS>(&addresses, exec),
    };
    let simple = simple.filter(|_| {
        let watch = cx.watch.as_mut();
        watch.is_none_or(|watch| watch.read_memory(&addresses, exec, DWORDS as u32, op.flags))
    });
    if let Some(common) = simple {
        let Some(registers) = cx.wave.vgpr[dst..].first_chunk_mut::<DWORDS>() else { return Flow::Next };
        for_each_element::<DWORDS>(common, &addresses, exec, |lane, words| {
            for (register, word) in registers.iter_mut().zip(words) {
                register[lane] = word.load(Ordering::Acquire);
            }
        });
        return Flow::Next;
    }
    for lane in ActiveLanes(exec) {
        let place = cx.place_of_address::<SEGMENT>(addresses[lane]);
        let _guard = locked.then(|| memory.lock64(addresses[lane]));
        for dword in 0..DWORDS {
            match cx.read(op, place.plus(dword as u32 * 4), 4, lane) {
                Ok(value) => cx.wave.vgpr[dst + dword][lane] = value,
                Err(trap) => return cx.fail(trap),
            }
        }
    }
    Flow::Next
}

fn load_part<const SEGMENT: u8>(cx: &mut Cx<'_>, op: &Op, part: Part) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[1]);
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(exec) {
        match cx.read(op, cx.place_of_address::<SEGMENT>(addresses[lane]), part.bytes, lane) {
            Ok(value) => {
                let place = &mut cx.wave.vgpr[dst][lane];
                *place = (part.place)(value, *place);
            }
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

/// Returns the first VGPR of a data operand.
pub(crate) fn data_register(src: Src) -> usize {
    match src {
        Src::V(at) => usize::from(at),
        _ => 0,
    }
}

fn store<const SEGMENT: u8, const DWORDS: usize>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[2]);
    let data = data_register(op.src[1]);
    let memory = cx.memory;
    let locked = cx.locked64 && DWORDS == 2;
    let simple = match SEGMENT == SCRATCH || locked {
        true => None,
        false => cx.common_buffer::<DWORDS>(&addresses, exec),
    };
    let simple = simple.filter(|_| {
        let (watch, registers) = (cx.watch.as_mut(), &cx.wave.vgpr[data..data + DWORDS]);
        watch.is_none_or(|watch| watch.write_memory(memory, &addresses, exec, registers, op.flags))
    });
    if let Some(common) = simple {
        let Some(registers) = cx.wave.vgpr[data..].first_chunk::<DWORDS>() else { return Flow::Next };
        // The lanes store one after another. If several lanes store to the same location, the value of the
        // lane with the highest number remains.
        for_each_element::<DWORDS>(common, &addresses, exec, |lane, words| {
            for (register, word) in registers.iter().zip(words) {
                word.store(register[lane], Ordering::Release);
            }
        });
        return Flow::Next;
    }
    for lane in ActiveLanes(exec) {
        let place = cx.place_of_address::<SEGMENT>(addresses[lane]);
        let _guard = locked.then(|| memory.lock64(addresses[lane]));
        for dword in 0..DWORDS {
            let value = cx.wave.vgpr[data + dword][lane];
            if let Err(trap) = cx.write(op, place.plus(dword as u32 * 4), 4, value, lane) {
                return cx.fail(trap);
            }
        }
    }
    Flow::Next
}

fn store_part<const SEGMENT: u8>(cx: &mut Cx<'_>, op: &Op, bytes: u32, shift: u32) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[2]);
    let data = data_register(op.src[1]);
    for lane in ActiveLanes(exec) {
        let value = cx.wave.vgpr[data][lane] >> shift;
        if let Err(trap) = cx.write(op, cx.place_of_address::<SEGMENT>(addresses[lane]), bytes, value, lane) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// Runs a load from memory to LDS. M0 and the lane number give the address in LDS.
fn to_lds<const SEGMENT: u8>(cx: &mut Cx<'_>, op: &Op, part: Part) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[1]);
    for lane in ActiveLanes(exec) {
        let value = cx.read(op, cx.place_of_address::<SEGMENT>(addresses[lane]), part.bytes, lane);
        let place = lds_place(cx, op, lane);
        let done = value.and_then(|value| cx.write(op, place, 4, (part.place)(value, 0), lane));
        if let Err(trap) = done {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

/// Returns the address of a lane's dword for `global_*_addtid`, in which consecutive lanes access consecutive
/// dwords (RDNA 2 ISA, "Flat Memory Instructions").
fn place_by_lane(cx: &Cx<'_>, op: &Op, base: Src, lane: usize) -> Place {
    let offset = i64::from(op.offset) as u64;
    Place::Linear(cx.wave.scalar64(base).wrapping_add(offset).wrapping_add(lane as u64 * 4))
}

fn load_by_lane(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let dst = usize::from(op.dst.wrapping_sub(VGPR0));
    for lane in ActiveLanes(cx.wave.exec()) {
        match cx.read(op, place_by_lane(cx, op, op.src[0], lane), 4, lane) {
            Ok(value) => cx.wave.vgpr[dst][lane] = value,
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

fn store_by_lane(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let data = data_register(op.src[0]);
    for lane in ActiveLanes(cx.wave.exec()) {
        let value = cx.wave.vgpr[data][lane];
        if let Err(trap) = cx.write(op, place_by_lane(cx, op, op.src[1], lane), 4, value, lane) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

fn atomic32<const SEGMENT: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[2]);
    for lane in ActiveLanes(exec) {
        let place = cx.place_of_address::<SEGMENT>(addresses[lane]);
        if let Err(trap) = cx.rmw32(op, place, lane, data_register(op.src[1])) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

fn atomic64<const SEGMENT: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let addresses = addresses::<SEGMENT>(cx, op, op.src[0], op.src[2]);
    for lane in ActiveLanes(exec) {
        let place = cx.place_of_address::<SEGMENT>(addresses[lane]);
        if let Err(trap) = cx.rmw64(op, place, lane, data_register(op.src[1])) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

impl Cx<'_> {
    /// Performs a 32-bit atomic in one lane. The VGPRs from `data` on hold the data operand; for a
    /// compare-and-swap, the comparison value follows. If the instruction has a destination, writes the old
    /// value to it.
    pub(crate) fn rmw32(&mut self, op: &Op, place: Place, lane: usize, data: usize) -> Result<(), Trap> {
        let value = self.wave.vgpr[data][lane];
        let other = if op.atomic.has_compare() { self.wave.vgpr[data + 1][lane] } else { 0 };
        // Atomic additions of f32 in memory always flush denormals, whatever MODE says (LLVM,
        // "amdgpu.ignore.denormal.mode"). Additions in LDS follow MODE.
        let flush = op.atomic == Atomic::AddFloat && !matches!(place, Place::Lds(_));
        let old = self.update32(op, place, lane, |old| match flush {
            true => flushed(op.atomic.apply32(flushed(old), flushed(value), other)),
            false => op.atomic.apply32(old, value, other),
        })?;
        if op.dst != NONE {
            self.wave.vgpr[usize::from(op.dst - VGPR0)][lane] = old;
        }
        Ok(())
    }

    /// Performs a 64-bit atomic in one lane. The operands are the same as for a 32-bit atomic, but each takes
    /// two VGPRs.
    pub(crate) fn rmw64(&mut self, op: &Op, place: Place, lane: usize, data: usize) -> Result<(), Trap> {
        let pair = |wave: &crate::wave::Wave, at: usize| {
            u64::from(wave.vgpr[at][lane]) | u64::from(wave.vgpr[at + 1][lane]) << 32
        };
        let value = pair(self.wave, data);
        let other = if op.atomic.has_compare() { pair(self.wave, data + 2) } else { 0 };
        let old = self.update64(op, place, lane, |old| op.atomic.apply64(old, value, other))?;
        if op.dst != NONE {
            let dst = usize::from(op.dst - VGPR0);
            self.wave.vgpr[dst][lane] = old as u32;
            self.wave.vgpr[dst + 1][lane] = (old >> 32) as u32;
        }
        Ok(())
    }
}

/// Replaces an f32 denormal by a zero of the same sign.
pub(crate) fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}
