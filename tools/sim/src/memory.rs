//! Emulated memory. It consists of separate allocations in a 64-bit address space, and host threads share it
//! without locks.
//!
//! Every access is an atomic operation of the host on 32-bit words. Loads have acquire order, and stores have
//! release order. If waits and cache operations order the accesses of a program on a GPU, the accesses are
//! therefore also ordered in the emulator, on any host.
//!
//! Each allocation has 8 GiB of address space to itself, and starts one page below a multiple of 4 GiB.
//! Address arithmetic that loses a carry therefore causes a fault, and does not reach a neighbouring
//! allocation.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Number of bits of an address that give the position within a slot. A slot is the address range that
/// belongs to one allocation. The higher bits of the address are the number of the slot.
pub(crate) const SLOT_SHIFT: u32 = 33;
const SLOT_START: u64 = 0xffff_f000;
/// Offset at which an allocation that a kernel has made begins in its slot (address range). The offset makes
/// the address of the allocation a multiple of 2 MiB.
const HEAP_START: u64 = 1 << 32;
const MAX_SLOTS: usize = 1 << 13;
/// Maximum size of an allocation in bytes, so that the allocation ends within its slot (address range).
pub(crate) const MAX_BYTES: u64 = 1 << 32;
const STRIPES: usize = 64;
/// Maximum number of allocations that kernels make with `malloc`. The next constant is the maximum size in
/// bytes of all of them together.
const MAX_HEAP_SLOTS: usize = 1 << 10;
const MAX_HEAP_BYTES: u64 = 1 << 28;

/// One allocation.
pub(crate) struct Buffer {
    base: u64,
    bytes: u64,
    words: Vec<AtomicU32>,
}

impl Buffer {
    fn new(base: u64, bytes: u64) -> Buffer {
        let words = bytes.div_ceil(4) as usize;
        Buffer { base, bytes, words: (0..words).map(|_| AtomicU32::new(0)).collect() }
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the allocation as a slice of words. The caller must check that its accesses are in bounds and
    /// aligned.
    pub(crate) fn words(&self) -> &[AtomicU32] {
        &self.words
    }

    pub(crate) fn load_word(&self, word: usize) -> u32 {
        self.words.get(word).map_or(0, |cell| cell.load(Ordering::Acquire))
    }

    /// Loads 1 to 4 bytes at any offset, zero-extended.
    pub(crate) fn load(&self, offset: u64, bytes: u32) -> u32 {
        let (word, shift) = ((offset / 4) as usize, (offset % 4) as u32 * 8);
        let low = self.load_word(word);
        let value = if shift + bytes * 8 <= 32 {
            low >> shift
        } else {
            let pair = u64::from(low) | u64::from(self.load_word(word + 1)) << 32;
            (pair >> shift) as u32
        };
        if bytes == 4 { value } else { value & ((1 << (bytes * 8)) - 1) }
    }

    /// Stores the low 1 to 4 bytes of `value` at any offset.
    pub(crate) fn store(&self, offset: u64, bytes: u32, value: u32) {
        let (word, shift) = ((offset / 4) as usize, (offset % 4) as u32 * 8);
        let mask = (u64::MAX >> (64 - bytes * 8)) << shift;
        let value = u64::from(value) << shift & mask;
        self.merge(word, mask as u32, value as u32);
        if mask >> 32 != 0 {
            self.merge(word + 1, (mask >> 32) as u32, (value >> 32) as u32);
        }
    }

    fn merge(&self, word: usize, mask: u32, value: u32) {
        let Some(cell) = self.words.get(word) else { return };
        if mask == u32::MAX {
            cell.store(value, Ordering::Release);
        } else {
            // Only the bytes in `mask` must change. The change must be a single atomic step, because another
            // thread may write the other bytes of the word at the same time.
            let _ = cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some(old & !mask | value));
        }
    }

    fn copy_in(&self, offset: u64, data: &[u8]) {
        let mut at = offset;
        for chunk in data.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.store(at, chunk.len() as u32, u32::from_le_bytes(bytes));
            at += chunk.len() as u64;
        }
    }

    fn copy_out(&self, offset: u64, data: &mut [u8]) {
        let mut at = offset;
        for chunk in data.chunks_mut(4) {
            let bytes = self.load(at, chunk.len() as u32).to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
            at += chunk.len() as u64;
        }
    }
}

/// The memory of a device, with all its allocations.
pub(crate) struct Memory {
    slots: Vec<Option<Buffer>>,
    /// Allocations that running kernels have made. Their slot numbers begin at `MAX_SLOTS`.
    heap: Vec<OnceLock<Buffer>>,
    /// Indices in `heap` of the allocations that kernels have freed. The memory of these allocations is
    /// released later, when no kernel is running.
    freed: Mutex<Vec<usize>>,
    /// Locks for 64-bit atomics; the address selects one of them. Memory consists of 32-bit words, so without
    /// a lock two words cannot be changed in one atomic step.
    stripes: [Mutex<()>; STRIPES],
}

impl Memory {
    pub(crate) fn new() -> Memory {
        Memory {
            slots: vec![None],
            heap: (0..MAX_HEAP_SLOTS).map(|_| OnceLock::new()).collect(),
            freed: Mutex::default(),
            stripes: std::array::from_fn(|_| Mutex::new(())),
        }
    }

    /// Allocates zeroed memory whose address is a multiple of 4096. Returns the address, or `None` if there
    /// is no room.
    pub(crate) fn alloc(&mut self, bytes: u64) -> Option<u64> {
        if bytes > MAX_BYTES {
            return None;
        }
        let free = self.slots.iter().skip(1).position(Option::is_none).map(|slot| slot + 1);
        let slot = free.unwrap_or(self.slots.len());
        if slot >= MAX_SLOTS {
            return None;
        }
        let base = ((slot as u64) << SLOT_SHIFT) + SLOT_START;
        let buffer = Some(Buffer::new(base, bytes));
        match self.slots.get_mut(slot) {
            Some(place) => *place = buffer,
            None => self.slots.push(buffer),
        }
        Some(base)
    }

    /// Frees the allocation that starts at `base`. Returns false if no allocation starts there.
    pub(crate) fn free(&mut self, base: u64) -> bool {
        let slot = ((base.wrapping_sub(SLOT_START)) >> SLOT_SHIFT) as usize;
        match self.slots.get_mut(slot) {
            Some(place) if place.as_ref().is_some_and(|buffer| buffer.base == base) => {
                *place = None;
                true
            }
            _ => false,
        }
    }

    /// Allocates zeroed memory for a running kernel. Returns `None` if the kernels have reached the limit for
    /// such allocations.
    pub(crate) fn heap_alloc(&self, bytes: u64) -> Option<u64> {
        let taken = self.heap.iter().filter_map(OnceLock::get).map(Buffer::bytes).sum::<u64>();
        if bytes > MAX_HEAP_BYTES - taken {
            return None;
        }
        let place = self.heap.iter().position(|place| place.get().is_none())?;
        // The base must be a multiple of 2 MiB. ROCm's device library clears the low 21 bits of an address to
        // find the memory block (slab) that contains it.
        let base = (((MAX_SLOTS + place) as u64) << SLOT_SHIFT) + HEAP_START;
        self.heap[place].set(Buffer::new(base, bytes)).ok()?;
        Some(base)
    }

    /// Marks an allocation made by a kernel as freed. Its memory is released later, when no kernel runs.
    /// Returns whether `base` is such an allocation.
    pub(crate) fn heap_free(&self, base: u64) -> bool {
        let place = Memory::slot(base).and_then(|slot| slot.checked_sub(MAX_SLOTS));
        let known =
            |place: &usize| self.heap_buffer(MAX_SLOTS + place).is_some_and(|buffer| buffer.base == base);
        let place = place.filter(known);
        self.freed.lock().unwrap_or_else(PoisonError::into_inner).extend(place);
        place.is_some()
    }

    /// Frees the allocations that kernels have marked as freed.
    pub(crate) fn sweep_heap(&mut self) {
        for place in self.freed.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            self.heap[place].take();
        }
    }

    #[cold]
    fn heap_buffer(&self, slot: usize) -> Option<&Buffer> {
        self.heap.get(slot.checked_sub(MAX_SLOTS)?)?.get()
    }

    /// Returns the highest number of a used slot, plus one. Slots of allocations that kernels have made do
    /// not count.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of the slot that contains an address, or `None` if the address is beyond all slots.
    pub(crate) fn slot(address: u64) -> Option<usize> {
        usize::try_from(address.wrapping_sub(SLOT_START) >> SLOT_SHIFT).ok()
    }

    /// Returns the allocation whose slot (address range) contains an address. The address may be beyond the
    /// end of the allocation.
    pub(crate) fn buffer(&self, address: u64) -> Option<&Buffer> {
        let slot = Memory::slot(address)?;
        match self.slots.get(slot) {
            Some(place) => place.as_ref(),
            None => self.heap_buffer(slot),
        }
    }

    /// Returns the allocation that contains the `bytes` bytes at `address`, and the offset of the bytes in
    /// this allocation.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<(&Buffer, u64)> {
        let buffer = self.buffer(address)?;
        let offset = address.wrapping_sub(buffer.base);
        let end = offset.checked_add(bytes)?;
        (end <= buffer.bytes).then_some((buffer, offset))
    }

    pub(crate) fn write(&self, address: u64, data: &[u8]) -> bool {
        let found = self.find(address, data.len() as u64);
        found.map(|(buffer, offset)| buffer.copy_in(offset, data)).is_some()
    }

    pub(crate) fn read(&self, address: u64, data: &mut [u8]) -> bool {
        let found = self.find(address, data.len() as u64);
        found.map(|(buffer, offset)| buffer.copy_out(offset, data)).is_some()
    }

    /// Replaces the 64-bit value at an 8-byte aligned offset by the result of `change`. Returns the old
    /// value.
    pub(crate) fn update64(&self, buffer: &Buffer, offset: u64, change: impl FnOnce(u64) -> u64) -> u64 {
        let _guard = self.lock64(buffer.base + offset);
        let word = (offset / 4) as usize;
        let old = u64::from(buffer.load_word(word)) | u64::from(buffer.load_word(word + 1)) << 32;
        let new = change(old);
        buffer.merge(word, u32::MAX, new as u32);
        buffer.merge(word + 1, u32::MAX, (new >> 32) as u32);
        old
    }

    /// Takes the lock that makes 64-bit accesses to this address atomic.
    pub(crate) fn lock64(&self, address: u64) -> std::sync::MutexGuard<'_, ()> {
        let stripe = (address / 8) as usize % STRIPES;
        // A poisoned lock can be used: the lock guards no data, so a panic in another thread cannot have left
        // data inconsistent.
        self.stripes[stripe].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A copy of the contents of memory.
pub(crate) struct Saved(Vec<Option<Vec<u32>>>);

impl Saved {
    pub(crate) fn from_memory(memory: &Memory) -> Saved {
        let words = |buffer: &Buffer| buffer.words.iter().map(|cell| cell.load(Ordering::Acquire)).collect();
        Saved(memory.slots.iter().map(|slot| slot.as_ref().map(words)).collect())
    }

    /// Writes the saved contents back to memory. The allocations must be the same as when the contents were
    /// saved; they are, because a dispatch makes none.
    pub(crate) fn restore(&self, memory: &Memory) {
        for (saved, slot) in self.0.iter().zip(&memory.slots) {
            let (Some(saved), Some(buffer)) = (saved, slot) else { continue };
            saved.iter().zip(&buffer.words).for_each(|(word, cell)| cell.store(*word, Ordering::Release));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_at_any_offset() {
        let mut memory = Memory::new();
        let at = memory.alloc(11).unwrap();
        assert!(memory.write(at + 1, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
        let mut back = [0; 11];
        assert!(memory.read(at, &mut back));
        assert_eq!(back, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(!memory.write(at + 8, &[0; 4]));
        assert!(!memory.read(at - 1, &mut [0]));
    }

    #[test]
    fn unaligned_words() {
        let mut memory = Memory::new();
        let at = memory.alloc(8).unwrap();
        let (buffer, _) = memory.find(at, 8).unwrap();
        buffer.store(3, 4, 0x1234_5678);
        assert_eq!(buffer.load(3, 4), 0x1234_5678);
        assert_eq!(buffer.load(4, 2), 0x3456);
        assert_eq!(buffer.load(0, 4), 0x7800_0000);
    }

    #[test]
    fn kernels_have_memory_of_their_own() {
        let mut memory = Memory::new();
        let first = memory.heap_alloc(8).unwrap();
        let second = memory.heap_alloc(4).unwrap();
        assert!(memory.write(first, &[1; 8]) && !memory.write(second, &[1; 8]));
        assert!(memory.heap_free(first) && !memory.heap_free(first + 4) && !memory.heap_free(7));
        memory.sweep_heap();
        assert!(memory.find(first, 1).is_none() && memory.find(second, 4).is_some());
        assert_eq!(memory.heap_alloc(1), Some(first));
        assert_eq!(memory.heap_alloc(MAX_HEAP_BYTES), None);
    }

    #[test]
    fn freed_slots_are_used_again() {
        let mut memory = Memory::new();
        let first = memory.alloc(4).unwrap();
        memory.alloc(4).unwrap();
        assert!(memory.free(first) && !memory.free(first));
        assert_eq!(memory.alloc(4), Some(first));
        assert_eq!(memory.alloc(MAX_BYTES + 1), None);
    }
}
