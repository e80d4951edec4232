//! Accesses to memory, scratch and LDS. The handlers of instructions access these memories only through the
//! functions of this module, so that a watcher (strict mode, weak mode or a debugger) sees every access.

use super::{Cx, Flow};
use crate::fault::{Access, NOWHERE, OUTSIDE, Trap};
use crate::memory::Buffer;
use crate::op::Op;
use crate::watch::{CacheOp, MemAccess, Space};
use crate::wave::{ActiveLanes, reg};
use isa::target::Feature;
use std::sync::atomic::Ordering;

/// Number that scalar accesses have in place of a lane number.
pub(crate) const SCALAR: usize = u32::MAX as usize;

/// The kind of memory that a lane accesses, and the position in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// An address in memory.
    Linear(u64),
    /// An offset in the private memory of one lane. Private memory is swizzled: dword `n` of consecutive
    /// lanes is stored at consecutive addresses.
    Private { base: u64, offset: u32 },
    /// A byte offset in LDS. On GFX6 to GFX8, M0 limits the LDS that the wave can access: a read beyond the
    /// limit returns zero, and a write has no effect.
    Lds(u32),
    /// A byte offset in LDS, for an instruction whose address contains M0. M0 then does not limit the LDS
    /// that the wave can access.
    WholeLds(u32),
}

impl Place {
    pub(crate) fn plus(self, bytes: u32) -> Place {
        match self {
            Place::Linear(address) => Place::Linear(address.wrapping_add(u64::from(bytes))),
            Place::Private { base, offset } => Place::Private { base, offset: offset.wrapping_add(bytes) },
            Place::Lds(offset) => Place::Lds(offset.wrapping_add(bytes)),
            Place::WholeLds(offset) => Place::WholeLds(offset.wrapping_add(bytes)),
        }
    }

    /// Returns the address that the message about a fault names.
    fn address(self) -> u64 {
        match self {
            Place::Linear(address) => address,
            Place::Private { offset, .. } | Place::Lds(offset) | Place::WholeLds(offset) => u64::from(offset),
        }
    }

    /// Returns whether the bytes of an access are not contiguous in the emulator's memory. This happens only
    /// in private memory, where an access may cross the end of a dword.
    fn is_split(self, bytes: u32) -> bool {
        matches!(self, Place::Private { offset, .. } if offset % 4 + bytes > 4)
    }

    fn trap(self, bytes: u32, access: Access, lane: usize) -> Trap {
        let reason = match self {
            Place::Linear(_) => NOWHERE,
            Place::Private { .. } => OUTSIDE,
            Place::Lds(_) | Place::WholeLds(_) => "outside of the group's LDS",
        };
        Trap::Memory { address: self.address(), bytes, access, reason, lane: lane as u32 }
    }

    fn misaligned(self, bytes: u32, access: Access, lane: usize) -> Trap {
        let reason = match access {
            Access::Atomic => "an atomic must be aligned to its size",
            _ => "LDS accesses of this processor must be aligned to their size",
        };
        Trap::Memory { address: self.address(), bytes, access, reason, lane: lane as u32 }
    }
}

/// Returns the address of a byte of a lane's private memory.
fn swizzle(lanes: u32, base: u64, offset: u32, lane: usize) -> u64 {
    base.wrapping_add(u64::from(offset / 4) * u64::from(lanes) * 4 + lane as u64 * 4 + u64::from(offset % 4))
}

/// Where the emulator keeps the accessed bytes. The access has been checked, so all the bytes exist.
enum ResolvedPlace<'a> {
    Memory(&'a Buffer, u64),
    Scratch { word: usize, shift: u32 },
    Lds(u32),
}

impl ResolvedPlace<'_> {
    /// Returns the kind of memory and the address, as a watcher sees them.
    fn address(&self) -> (Space, u64) {
        match self {
            ResolvedPlace::Memory(buffer, offset) => (Space::Global, buffer.base() + offset),
            ResolvedPlace::Scratch { word, shift } => {
                (Space::Scratch, *word as u64 * 4 + u64::from(shift / 8))
            }
            ResolvedPlace::Lds(offset) => (Space::Lds, u64::from(*offset)),
        }
    }

    /// Returns the description of the access for a watcher.
    fn access(&self, op: &Op, bytes: u32, kind: Access, lane: usize) -> MemAccess {
        let (space, address) = self.address();
        MemAccess { space, address, bytes, lane: lane as u32, kind, flags: op.flags, scalar: lane == SCALAR }
    }
}

/// What the accesses of all lanes have in common. An instruction for whose accesses this structure exists
/// takes a fast path.
#[derive(Clone, Copy)]
pub(crate) struct Common<'a> {
    /// The allocation that contains all accesses.
    pub(crate) buffer: &'a Buffer,
    /// Whether all lanes are active and access memory without gaps: the access of each lane begins where the
    /// access of the previous lane ends. Handlers then copy the data of all lanes at once.
    pub(crate) in_step: bool,
}

/// Returns a mask of the low `bytes` bytes of a value.
fn byte_mask(bytes: u32) -> u64 {
    (1 << (bytes * 8)) - 1
}

impl<'a> Cx<'a> {
    fn resolve(&self, place: Place, bytes: u32, lane: usize) -> Option<ResolvedPlace<'a>> {
        let address = match place {
            Place::Linear(address) => address,
            Place::Private { base, offset } => swizzle(self.wave.lanes, base, offset, lane),
            Place::Lds(offset) | Place::WholeLds(offset) => {
                return (offset.checked_add(bytes)? <= self.lds_bytes).then_some(ResolvedPlace::Lds(offset));
            }
        };
        if let Some((word, shift)) = self.scratch_word(address, bytes) {
            return Some(ResolvedPlace::Scratch { word, shift });
        }
        let (buffer, offset) = self.memory.find(address, bytes.into())?;
        Some(ResolvedPlace::Memory(buffer, offset))
    }

    /// Returns the index of the scratch dword at an address, and the number of the first accessed bit in this
    /// dword. Returns `None` if the address is not in this wave's scratch. Only atomics access 8 bytes. Such
    /// an access must begin at a dword, and the function returns the first of its two dwords.
    fn scratch_word(&self, address: u64, bytes: u32) -> Option<(usize, u32)> {
        let offset = address.wrapping_sub(self.wave.scratch_base);
        let word = usize::try_from(offset / 4).ok()?;
        (word < self.wave.scratch.len() && offset % 4 + u64::from(bytes.min(4)) <= 4)
            .then_some((word, offset as u32 % 4 * 8))
    }

    /// Returns the end of LDS for this wave according to M0.
    fn lds_limit(&self) -> u32 {
        if self.target.has(Feature::LDS_NO_M0) { u32::MAX } else { self.wave.sgpr[reg::M0] }
    }

    /// Returns whether M0 forbids an access to LDS because it is beyond the limit in M0. Notifies the watcher
    /// in this case.
    fn is_limited(
        &mut self,
        op: &Op,
        place: Place,
        bytes: u32,
        kind: Access,
        lane: usize,
    ) -> Result<bool, Trap> {
        let Place::Lds(offset) = place else { return Ok(false) };
        if u64::from(offset) + u64::from(bytes) <= u64::from(self.lds_limit())
            || self.target.has(Feature::LDS_NO_M0)
        {
            return Ok(false);
        }
        if let Some(watch) = &mut self.watch {
            watch.limited(&ResolvedPlace::Lds(offset).access(op, bytes, kind, lane))?;
        }
        Ok(true)
    }

    /// Checks that an access to LDS is aligned as the processor requires. Before GFX9, an access must be
    /// aligned to its own size.
    pub(crate) fn check_lds_alignment(
        &self,
        address: u32,
        bytes: u32,
        kind: Access,
        lane: usize,
    ) -> Result<(), Trap> {
        if self.target.has(Feature::LDS_NO_M0) || address.is_multiple_of(bytes.next_power_of_two()) {
            return Ok(());
        }
        Err(Place::Lds(address).misaligned(bytes, kind, lane))
    }

    /// Reads up to 4 bytes in one lane.
    #[inline]
    pub(crate) fn read(&mut self, op: &Op, place: Place, bytes: u32, lane: usize) -> Result<u32, Trap> {
        if let (Place::Lds(offset) | Place::WholeLds(offset), 4) = (place, bytes)
            && offset.is_multiple_of(4)
            && self.target.has(Feature::LDS_NO_M0)
            && offset.checked_add(4).is_some_and(|end| end <= self.lds_bytes)
            && let Some(&value) = self.lds.get((offset / 4) as usize)
        {
            return self.see(op, ResolvedPlace::Lds(offset), lane).map(|seen| seen.unwrap_or(value));
        }
        self.read_anything(op, place, bytes, lane)
    }

    /// Notifies the watcher that an instruction reads a dword. In weak mode, the watcher may answer with an
    /// older value, which the instruction must read instead of the value in memory. Returns this value, or
    /// `None` if the instruction must read memory.
    #[inline]
    fn see(&mut self, op: &Op, resolved: ResolvedPlace<'_>, lane: usize) -> Result<Option<u32>, Trap> {
        match &mut self.watch {
            Some(watch) => watch.read(self.memory, &resolved.access(op, 4, Access::Read, lane)),
            None => Ok(None),
        }
    }

    fn read_anything(&mut self, op: &Op, place: Place, bytes: u32, lane: usize) -> Result<u32, Trap> {
        if place.is_split(bytes) {
            return (0..bytes).try_fold(0, |value, byte| {
                Ok(value | self.read(op, place.plus(byte), 1, lane)? << (8 * byte))
            });
        }
        if self.is_limited(op, place, bytes, Access::Read, lane)? {
            return Ok(0);
        }
        let resolved =
            self.resolve(place, bytes, lane).ok_or_else(|| place.trap(bytes, Access::Read, lane))?;
        if let Some(watch) = &mut self.watch {
            let seen = watch.read(self.memory, &resolved.access(op, bytes, Access::Read, lane))?;
            if let Some(value) = seen {
                return Ok(value);
            }
        }
        Ok(self.load(resolved, bytes))
    }

    fn load(&self, resolved: ResolvedPlace<'_>, bytes: u32) -> u32 {
        match resolved {
            ResolvedPlace::Memory(buffer, offset) => buffer.load(offset, bytes),
            ResolvedPlace::Scratch { word, shift } => {
                (u64::from(self.wave.scratch[word] >> shift) & byte_mask(bytes)) as u32
            }
            ResolvedPlace::Lds(offset) => {
                let word = (offset / 4) as usize;
                let low = self.lds.get(word).copied().unwrap_or(0);
                let high = self.lds.get(word + 1).copied().unwrap_or(0);
                let value = (u64::from(low) | u64::from(high) << 32) >> (offset % 4 * 8);
                (value & byte_mask(bytes)) as u32
            }
        }
    }

    /// Writes the low bytes of a value in one lane.
    pub(crate) fn write(
        &mut self,
        op: &Op,
        place: Place,
        bytes: u32,
        value: u32,
        lane: usize,
    ) -> Result<(), Trap> {
        if place.is_split(bytes) {
            return (0..bytes)
                .try_for_each(|byte| self.write(op, place.plus(byte), 1, value >> (8 * byte), lane));
        }
        if self.is_limited(op, place, bytes, Access::Write, lane)? {
            return Ok(());
        }
        let resolved =
            self.resolve(place, bytes, lane).ok_or_else(|| place.trap(bytes, Access::Write, lane))?;
        if let Some(watch) = &mut self.watch {
            let access = resolved.access(op, bytes, Access::Write, lane);
            if watch.write(self.memory, &access, value)? {
                return Ok(());
            }
        }
        self.store(resolved, bytes, value);
        Ok(())
    }

    fn store(&mut self, resolved: ResolvedPlace<'_>, bytes: u32, value: u32) {
        match resolved {
            ResolvedPlace::Memory(buffer, offset) => buffer.store(offset, bytes, value),
            ResolvedPlace::Scratch { word, shift } => {
                let mask = (byte_mask(bytes) as u32) << shift;
                let word = &mut self.wave.scratch[word];
                *word = *word & !mask | value << shift & mask;
            }
            ResolvedPlace::Lds(offset) => {
                let (word, shift) = ((offset / 4) as usize, offset % 4 * 8);
                let mask = byte_mask(bytes) << shift;
                let value = u64::from(value) << shift & mask;
                for half in 0..2 {
                    let (mask, value) = ((mask >> (32 * half)) as u32, (value >> (32 * half)) as u32);
                    if let Some(cell) = self.lds.get_mut(word + half).filter(|_| mask != 0) {
                        *cell = *cell & !mask | value;
                    }
                }
            }
        }
    }

    /// Notifies the watcher of an atomic of 4 or 8 bytes. Returns where the location of the atomic is in the
    /// emulator's memory.
    fn resolve_atomic(
        &mut self,
        op: &Op,
        place: Place,
        bytes: u32,
        lane: usize,
    ) -> Result<ResolvedPlace<'a>, Trap> {
        if !place.address().is_multiple_of(u64::from(bytes)) {
            return Err(place.misaligned(bytes, Access::Atomic, lane));
        }
        let resolved =
            self.resolve(place, bytes, lane).ok_or_else(|| place.trap(bytes, Access::Atomic, lane))?;
        if let Some(watch) = &mut self.watch {
            watch.atomic(self.memory, &resolved.access(op, bytes, Access::Atomic, lane))?;
        }
        Ok(resolved)
    }

    /// Changes a dword atomically, and returns the old value.
    pub(crate) fn update32(
        &mut self,
        op: &Op,
        place: Place,
        lane: usize,
        change: impl Fn(u32) -> u32,
    ) -> Result<u32, Trap> {
        if self.is_limited(op, place, 4, Access::Atomic, lane)? {
            return Ok(0);
        }
        let resolved = self.resolve_atomic(op, place, 4, lane)?;
        let at = resolved.address();
        let old = if let ResolvedPlace::Memory(buffer, offset) = resolved {
            let cell = &buffer.words()[(offset / 4) as usize];
            let old = cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some(change(old)));
            old.unwrap_or(0)
        } else {
            let old = self.read_quietly(place, lane)?;
            self.write_quietly(place, change(old), lane)?;
            old
        };
        self.note_change(at, lane, change(old) != old);
        Ok(old)
    }

    /// Records the lane and the address of an atomic, if the atomic has changed the value in memory. The
    /// report of a deadlock uses this record.
    fn note_change(&mut self, (space, address): (Space, u64), lane: usize, changed: bool) {
        if changed {
            self.wave.changed = Some((space, address, lane as u32));
            self.wave.changes = self.wave.changes.wrapping_add(1);
        }
    }

    /// Changes two dwords atomically, and returns the old value.
    pub(crate) fn update64(
        &mut self,
        op: &Op,
        place: Place,
        lane: usize,
        change: impl Fn(u64) -> u64,
    ) -> Result<u64, Trap> {
        if self.is_limited(op, place, 8, Access::Atomic, lane)? {
            return Ok(0);
        }
        let resolved = self.resolve_atomic(op, place, 8, lane)?;
        let at = resolved.address();
        let old = if let ResolvedPlace::Memory(buffer, offset) = resolved {
            self.memory.update64(buffer, offset, &change)
        } else {
            let halves = [self.read_quietly(place, lane)?, self.read_quietly(place.plus(4), lane)?];
            let old = u64::from(halves[0]) | u64::from(halves[1]) << 32;
            let new = change(old);
            self.write_quietly(place, new as u32, lane)?;
            self.write_quietly(place.plus(4), (new >> 32) as u32, lane)?;
            old
        };
        self.note_change(at, lane, change(old) != old);
        Ok(old)
    }

    /// Reads a dword for an atomic without notifying the watcher, because the watcher was already notified of
    /// the atomic itself.
    fn read_quietly(&self, place: Place, lane: usize) -> Result<u32, Trap> {
        let resolved = self.resolve(place, 4, lane).ok_or_else(|| place.trap(4, Access::Atomic, lane))?;
        Ok(self.load(resolved, 4))
    }

    fn write_quietly(&mut self, place: Place, value: u32, lane: usize) -> Result<(), Trap> {
        let resolved = self.resolve(place, 4, lane).ok_or_else(|| place.trap(4, Access::Atomic, lane))?;
        self.store(resolved, 4, value);
        Ok(())
    }

    /// Runs an instruction that invalidates or writes back a cache. Only the watcher has a model of caches.
    /// Without a watcher there is no stale data, and the instruction does nothing.
    pub(crate) fn cache(&mut self, operation: CacheOp) -> Flow {
        let memory = self.memory;
        match self.watch.as_mut().map_or(Ok(()), |watch| watch.cache(memory, operation)) {
            Ok(()) => Flow::Next,
            Err(trap) => self.fail(trap),
        }
    }

    /// Returns the allocation in which all active lanes access `DWORDS` aligned dwords each. The caller can
    /// then use a fast path. Returns `None` if an access is not aligned, or if the accesses are not all in
    /// one allocation.
    #[inline(always)]
    pub(crate) fn common_buffer<const DWORDS: usize>(
        &self,
        addresses: &[u64; 64],
        exec: u64,
    ) -> Option<Common<'a>> {
        let bytes = DWORDS as u64 * 4;
        let buffer = self.memory.buffer(addresses[exec.trailing_zeros() as usize & 63])?;
        let (base, last) = (buffer.base(), buffer.bytes().checked_sub(bytes)?);
        let is_bad = |address: u64| {
            let offset = address.wrapping_sub(base);
            offset > last || offset % 4 != 0
        };
        let (bad, in_step) = match exec {
            u64::MAX => self.wave.arch.dispatch(|| {
                let (mut bad, mut apart) = (0, 0);
                for lane in 0..64 {
                    bad |= u64::from(is_bad(addresses[lane]));
                    apart |= addresses[lane] ^ addresses[0].wrapping_add(lane as u64 * bytes);
                }
                (bad != 0, apart == 0)
            }),
            _ => (ActiveLanes(exec).any(|lane| is_bad(addresses[lane])), false),
        };
        (!bad).then_some(Common { buffer, in_step })
    }

    /// Returns whether the accesses of all active lanes are in LDS and aligned, so that the caller can use a
    /// fast path. `end` is the number of bytes from a lane's address to the end of its access. `align` is the
    /// alignment in bytes that GFX6 to GFX8 require; from GFX9 on, alignment to a dword is enough.
    #[inline(always)]
    pub(crate) fn all_in_lds(&self, addresses: &[u32; 64], exec: u64, end: u32, align: u32) -> bool {
        let bytes = self.lds_bytes.min(self.lds_limit());
        let Some(last) = bytes.checked_sub(end) else { return false };
        let low_bits = if self.target.has(Feature::LDS_NO_M0) { 3 } else { align - 1 };
        let is_bad = |address: u32| address > last || address & low_bits != 0;
        match exec {
            u64::MAX => self
                .wave
                .arch
                .dispatch(|| addresses.iter().fold(0, |bad, &address| bad | u32::from(is_bad(address))) == 0),
            _ => !ActiveLanes(exec).any(|lane| is_bad(addresses[lane])),
        }
    }

    /// Returns whether reads of dwords in LDS may take the fast path, which does not notify the watcher of
    /// each read. This is allowed if there is no watcher, or if the watcher accepts all reads of the
    /// instruction together.
    #[inline(always)]
    pub(crate) fn reads_lds_at_once(
        &mut self,
        addresses: &[u32; 64],
        exec: u64,
        offsets: impl Iterator<Item = u32>,
    ) -> bool {
        match &mut self.watch {
            None => true,
            Some(watch) => {
                let mut list = [0; 4];
                let count = list.iter_mut().zip(offsets).map(|(place, offset)| *place = offset).count();
                watch.read_lds(addresses, exec, &list[..count])
            }
        }
    }
}
