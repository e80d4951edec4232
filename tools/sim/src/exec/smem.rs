//! Scalar memory instructions.

use super::access::{Place, SCALAR};
use super::resource::{Addressing, Resource};
use super::{Cx, Flow, Handler};
use crate::fault::{Access, NOWHERE, Trap};
use crate::op::{NONE, Op, Src};
use crate::watch::CacheOp;
use isa::Target;

pub(super) fn handler(target: &Target, name: &str) -> Option<Handler> {
    None.or_else(|| loads(target, name))
        .or_else(|| scratch(name))
        .or_else(|| stores(name))
        .or_else(|| atomics(name))
        .or_else(|| others(name))
}

fn loads(target: &Target, name: &str) -> Option<Handler> {
    // Some families count the immediate offsets of scalar loads in dwords.
    let dwords = target.arch.addressing.scalar.unit == 4;
    Some(match (name, dwords) {
        ("s_load_dword", false) => |cx, op| load::<1>(cx, op, 1),
        ("s_load_dwordx2", false) => |cx, op| load::<1>(cx, op, 2),
        ("s_load_dwordx4", false) => |cx, op| load::<1>(cx, op, 4),
        ("s_load_dwordx8", false) => |cx, op| load::<1>(cx, op, 8),
        ("s_load_dwordx16", false) => |cx, op| load::<1>(cx, op, 16),
        ("s_buffer_load_dword", false) => |cx, op| buffer_load::<1>(cx, op, 1),
        ("s_buffer_load_dwordx2", false) => |cx, op| buffer_load::<1>(cx, op, 2),
        ("s_buffer_load_dwordx4", false) => |cx, op| buffer_load::<1>(cx, op, 4),
        ("s_buffer_load_dwordx8", false) => |cx, op| buffer_load::<1>(cx, op, 8),
        ("s_buffer_load_dwordx16", false) => |cx, op| buffer_load::<1>(cx, op, 16),
        ("s_load_dword", true) => |cx, op| load::<4>(cx, op, 1),
        ("s_load_dwordx2", true) => |cx, op| load::<4>(cx, op, 2),
        ("s_load_dwordx4", true) => |cx, op| load::<4>(cx, op, 4),
        ("s_load_dwordx8", true) => |cx, op| load::<4>(cx, op, 8),
        ("s_load_dwordx16", true) => |cx, op| load::<4>(cx, op, 16),
        ("s_buffer_load_dword", true) => |cx, op| buffer_load::<4>(cx, op, 1),
        ("s_buffer_load_dwordx2", true) => |cx, op| buffer_load::<4>(cx, op, 2),
        ("s_buffer_load_dwordx4", true) => |cx, op| buffer_load::<4>(cx, op, 4),
        ("s_buffer_load_dwordx8", true) => |cx, op| buffer_load::<4>(cx, op, 8),
        ("s_buffer_load_dwordx16", true) => |cx, op| buffer_load::<4>(cx, op, 16),
        _ => return None,
    })
}

fn scratch(name: &str) -> Option<Handler> {
    Some(match name {
        "s_scratch_load_dword" => |cx, op| scratch_load(cx, op, 1),
        "s_scratch_load_dwordx2" => |cx, op| scratch_load(cx, op, 2),
        "s_scratch_load_dwordx4" => |cx, op| scratch_load(cx, op, 4),
        "s_scratch_store_dword" => |cx, op| scratch_store(cx, op, 1),
        "s_scratch_store_dwordx2" => |cx, op| scratch_store(cx, op, 2),
        "s_scratch_store_dwordx4" => |cx, op| scratch_store(cx, op, 4),
        _ => return None,
    })
}

fn stores(name: &str) -> Option<Handler> {
    Some(match name {
        "s_store_dword" => |cx, op| store(cx, op, 1),
        "s_store_dwordx2" => |cx, op| store(cx, op, 2),
        "s_store_dwordx4" => |cx, op| store(cx, op, 4),
        "s_buffer_store_dword" => |cx, op| buffer_store(cx, op, 1),
        "s_buffer_store_dwordx2" => |cx, op| buffer_store(cx, op, 2),
        "s_buffer_store_dwordx4" => |cx, op| buffer_store(cx, op, 4),
        _ => return None,
    })
}

fn atomics(name: &str) -> Option<Handler> {
    let wide = name.ends_with("_x2");
    if name.starts_with("s_atomic_") {
        Some(if wide { |cx, op| atomic(cx, op, true) } else { |cx, op| atomic(cx, op, false) })
    } else if name.starts_with("s_buffer_atomic_") {
        Some(if wide { |cx, op| buffer_atomic(cx, op, true) } else { |cx, op| buffer_atomic(cx, op, false) })
    } else {
        None
    }
}

fn others(name: &str) -> Option<Handler> {
    Some(match name {
        "s_memtime" | "s_memrealtime" => |cx, op| {
            // The clock must advance between two instructions that read it. It must not advance by more than
            // the number of executed instructions: when the wave runs again, the clock is set from this
            // number, and would otherwise go back.
            cx.clock += 4;
            let clock = cx.clock;
            cx.wave.set_pair(usize::from(op.dst), clock);
            Flow::Next
        },
        "s_get_waveid_in_workgroup" => |cx, op| {
            let number = cx.wave.id;
            cx.wave.set_scalar(op.dst, number);
            Flow::Next
        },
        // These instructions only prefetch address translations. A program cannot observe this, so they do
        // nothing here.
        "s_atc_probe" | "s_atc_probe_buffer" => |_, _| Flow::Next,
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

/// Returns the byte offset in source `at` of an instruction. The source is an immediate in units of `UNIT`
/// bytes, or the sum of a register and an immediate.
fn offset<const UNIT: u64>(cx: &Cx<'_>, op: &Op, at: usize) -> u64 {
    match op.src[at] {
        // On GFX7, the offset may be a 32-bit literal that counts dwords. It is unsigned, so the offset is
        // never negative.
        Src::K(value) if UNIT == 4 => u64::from(value as u32) * UNIT,
        Src::K(value) => value,
        register => u64::from(cx.wave.scalar(register)).wrapping_add(op.offset as i64 as u64),
    }
}

/// Returns the address of a scalar access: the base address in a pair of SGPRs plus the offset. The hardware
/// ignores the low two bits (Vega ISA, "Scalar Memory Operations").
fn address<const UNIT: u64>(cx: &Cx<'_>, op: &Op, base: usize) -> u64 {
    cx.wave.scalar64(op.src[base]).wrapping_add(offset::<UNIT>(cx, op, base + 1)) & !3
}

/// Checks that all bytes of a scalar access exist. The check comes before the access is split into dwords, so
/// that the error message names the whole access.
fn check(cx: &Cx<'_>, address: u64, bytes: u32, access: Access) -> Result<(), Trap> {
    let reason = NOWHERE;
    match cx.memory.find(address, bytes.into()) {
        Some(_) => Ok(()),
        None => Err(Trap::Memory { address, bytes, access, reason, lane: u32::MAX }),
    }
}

/// Ends a scalar memory instruction. Stops the wave if `result` is an error.
fn done(cx: &mut Cx<'_>, result: Result<(), Trap>) -> Flow {
    match result {
        Ok(()) => Flow::Next,
        Err(trap) => cx.fail(trap),
    }
}

fn read_dwords(cx: &mut Cx<'_>, op: &Op, address: u64, dwords: u32) -> Result<(), Trap> {
    for dword in 0..dwords {
        let value = cx.read(op, Place::Linear(address.wrapping_add(u64::from(dword) * 4)), 4, SCALAR)?;
        cx.wave.sgpr[(usize::from(op.dst) + dword as usize) & 255] = value;
    }
    Ok(())
}

fn write_dwords(cx: &mut Cx<'_>, op: &Op, address: u64, dwords: u32) -> Result<(), Trap> {
    for dword in 0..dwords {
        let value = data(cx, op.src[0], dword);
        cx.write(op, Place::Linear(address.wrapping_add(u64::from(dword) * 4)), 4, value, SCALAR)?;
    }
    Ok(())
}

/// Returns one dword of the data operand of a store or atomic.
fn data(cx: &Cx<'_>, src: Src, dword: u32) -> u32 {
    match src {
        Src::S(first) => cx.wave.sgpr[(usize::from(first) + dword as usize) & 255],
        _ => 0,
    }
}

fn load<const UNIT: u64>(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = address::<UNIT>(cx, op, 0);
    let result =
        check(cx, address, dwords * 4, Access::Read).and_then(|()| read_dwords(cx, op, address, dwords));
    done(cx, result)
}

fn store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = address::<1>(cx, op, 1);
    let result =
        check(cx, address, dwords * 4, Access::Write).and_then(|()| write_dwords(cx, op, address, dwords));
    done(cx, result)
}

/// Returns the address of a scalar access to a wave's scratch memory, in which the dwords of the lanes are
/// interleaved. An offset in a register counts units of 64 bytes (Vega ISA, "Scalar Memory Operations").
fn scratch_address(cx: &Cx<'_>, op: &Op, base: usize) -> u64 {
    let offset = match op.src[base + 1] {
        Src::K(value) => value,
        register => (u64::from(cx.wave.scalar(register)) * 64).wrapping_add(op.offset as i64 as u64),
    };
    cx.wave.scalar64(op.src[base]).wrapping_add(offset) & !3
}

fn scratch_load(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = scratch_address(cx, op, 0);
    let result = read_dwords(cx, op, address, dwords);
    done(cx, result)
}

fn scratch_store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let address = scratch_address(cx, op, 1);
    let result = write_dwords(cx, op, address, dwords);
    done(cx, result)
}

/// Returns the buffer resource that a scalar buffer access uses, and the offset of the access in the buffer.
fn buffer<const UNIT: u64>(cx: &Cx<'_>, op: &Op, base: usize) -> (Resource, u64) {
    let resource = Resource::read(cx.wave, op.src[base], Addressing::default());
    (resource, offset::<UNIT>(cx, op, base + 1) & !3)
}

/// Returns the address of an access of `bytes` bytes in a buffer. Returns `None` if the access is beyond the
/// end of the buffer, where reads return zero and writes have no effect.
fn in_buffer(resource: &Resource, offset: u64, bytes: u64) -> Option<u64> {
    let end = offset.checked_add(bytes)?;
    (end <= resource.bytes()).then(|| resource.base + offset)
}

fn buffer_load<const UNIT: u64>(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let (resource, offset) = buffer::<UNIT>(cx, op, 0);
    for dword in 0..dwords {
        let value = match in_buffer(&resource, offset.wrapping_add(u64::from(dword) * 4), 4) {
            Some(address) => cx.read(op, Place::Linear(address), 4, SCALAR),
            None => Ok(0),
        };
        match value {
            Ok(value) => cx.wave.sgpr[(usize::from(op.dst) + dword as usize) & 255] = value,
            Err(trap) => return cx.fail(trap),
        }
    }
    Flow::Next
}

fn buffer_store(cx: &mut Cx<'_>, op: &Op, dwords: u32) -> Flow {
    let (resource, offset) = buffer::<1>(cx, op, 1);
    for dword in 0..dwords {
        let at = offset.wrapping_add(u64::from(dword) * 4);
        let Some(address) = in_buffer(&resource, at, 4) else { continue };
        let value = data(cx, op.src[0], dword);
        if let Err(trap) = cx.write(op, Place::Linear(address), 4, value, SCALAR) {
            return cx.fail(trap);
        }
    }
    Flow::Next
}

fn atomic(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    let address = address::<1>(cx, op, 0);
    let result = update(cx, op, address, wide);
    done(cx, result)
}

fn buffer_atomic(cx: &mut Cx<'_>, op: &Op, wide: bool) -> Flow {
    let (resource, offset) = buffer::<1>(cx, op, 0);
    let result = match in_buffer(&resource, offset, if wide { 8 } else { 4 }) {
        Some(address) => update(cx, op, address, wide),
        None => {
            set_old(cx, op, 0, wide);
            Ok(())
        }
    };
    done(cx, result)
}

/// Runs a scalar atomic. The data operand holds the new value; for a compare-and-swap, the comparison value
/// follows. The data operand comes after base and offset in the list of sources, because it is tied to the
/// destination.
fn update(cx: &mut Cx<'_>, op: &Op, address: u64, wide: bool) -> Result<(), Trap> {
    let place = Place::Linear(address);
    let word = |cx: &Cx<'_>, at: u32| data(cx, op.src[2], at);
    let old = if wide {
        let pair = |cx: &Cx<'_>, at| u64::from(word(cx, at)) | u64::from(word(cx, at + 1)) << 32;
        let (value, other) = (pair(cx, 0), pair(cx, 2));
        cx.update64(op, place, SCALAR, |old| op.atomic.apply64(old, value, other))?
    } else {
        let (value, other) = (word(cx, 0), word(cx, 1));
        cx.update32(op, place, SCALAR, |old| op.atomic.apply32(old, value, other))?.into()
    };
    set_old(cx, op, old, wide);
    Ok(())
}

/// Writes the old value over the data operand, if GLC is set.
fn set_old(cx: &mut Cx<'_>, op: &Op, old: u64, wide: bool) {
    match (op.dst, wide) {
        (NONE, _) => {}
        (dst, true) => cx.wave.set_pair(usize::from(dst), old),
        (dst, false) => cx.wave.set_scalar(dst, old as u32),
    }
}

/// Runs `s_dcache_discard`, which tells the scalar cache that the program no longer needs one or two lines.
/// The cache need not write these lines back to memory.
fn discard(cx: &mut Cx<'_>, op: &Op, bytes: u32) -> Flow {
    let address = cx.wave.scalar64(op.src[0]).wrapping_add(offset::<1>(cx, op, 1));
    cx.cache(CacheOp::DiscardScalar { address, bytes })
}
