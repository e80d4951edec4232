//! Who touched each dword last: arrays parallel to memory, made a page at a time where they are needed.

use crate::memory::Memory;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Waves of a dispatch that can be told apart; with more, races are not looked for.
pub(super) const MAX_WAVES: u64 = 1 << WAVE_BITS;

const WAVE_BITS: u32 = 22;
const NUMBER_BITS: u32 = 27;
const LAG_BITS: u32 = 8;
const NO_RELEASE: u32 = (1 << LAG_BITS) - 1;
const TRANSFER: u64 = 1 << (64 - WAVE_BITS - 1);

/// One access, in 64 bits; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(u64);

impl Stamp {
    /// Operation `number` of `wave`, which is not 0, on the bytes of `mask`. All operations up to `done` were complete.
    pub(super) fn new(wave: u32, number: u32, done: u32, mask: u8) -> Stamp {
        let number = number & ((1 << NUMBER_BITS) - 1);
        let lag = match number.checked_sub(done + 1) {
            Some(lag) if lag < NO_RELEASE => lag,
            _ => NO_RELEASE,
        };
        let bits = u64::from(wave) << (64 - WAVE_BITS)
            | u64::from(number) << (LAG_BITS + 6)
            | u64::from(lag) << 6
            | u64::from(mask & 15) << 2;
        Stamp(bits)
    }

    /// Made by an atomic instruction, or a load or store that acts at L2.
    pub(super) fn atomic(self, yes: bool) -> Stamp {
        Stamp(self.0 | u64::from(yes))
    }

    /// Something is kept for the place in the table of releases.
    pub(super) fn sync(self, yes: bool) -> Stamp {
        Stamp(self.0 | u64::from(yes) << 1)
    }

    /// Made by a load to LDS or a store from it, which accesses LDS in the order of vector memory.
    pub(super) fn transfer(self, yes: bool) -> Stamp {
        Stamp(self.0 | if yes { TRANSFER } else { 0 })
    }

    pub(super) fn is_transfer(self) -> bool {
        self.0 & TRANSFER != 0
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn is_atomic(self) -> bool {
        self.0 & 1 != 0
    }

    /// Of a read: several lanes have read the place at once.
    pub(super) fn by_several(self, yes: bool) -> Stamp {
        self.sync(yes)
    }

    pub(super) fn is_by_several(self) -> bool {
        self.is_sync()
    }

    /// Whether both are of one operation.
    pub(super) fn same_operation(self, other: Stamp) -> bool {
        (self.0 ^ other.0) >> (LAG_BITS + 6) & !(TRANSFER >> (LAG_BITS + 6)) == 0
    }

    pub(super) fn is_sync(self) -> bool {
        self.0 & 2 != 0
    }

    pub(super) fn mask(self) -> u8 {
        (self.0 >> 2 & 15) as u8
    }

    pub(super) fn wave(self) -> u32 {
        (self.0 >> (64 - WAVE_BITS)) as u32
    }

    pub(super) fn number(self) -> u32 {
        (self.0 >> (LAG_BITS + 6)) as u32 & ((1 << NUMBER_BITS) - 1)
    }

    /// The wave's operations up to this one were complete when this was made.
    pub(super) fn released(self) -> u32 {
        match (self.0 >> 6) as u32 & NO_RELEASE {
            NO_RELEASE => 0,
            lag => self.number().saturating_sub(lag + 1),
        }
    }
}

/// A dword of memory that all groups share.
#[derive(Default)]
pub(super) struct Cell {
    write: AtomicU64,
    read: AtomicU64,
    write_place: AtomicU32,
    read_place: AtomicU32,
    /// The last read by another wave than that of `read`.
    other_read: AtomicU64,
    other_read_place: AtomicU32,
    write_lane: AtomicU32,
}

impl Cell {
    pub(super) fn last_write(&self) -> (Stamp, u32) {
        (Stamp(self.write.load(Ordering::Acquire)), self.write_place.load(Ordering::Relaxed))
    }

    pub(super) fn last_read(&self) -> (Stamp, u32) {
        (Stamp(self.read.load(Ordering::Acquire)), self.read_place.load(Ordering::Relaxed))
    }

    pub(super) fn other_read(&self) -> (Stamp, u32) {
        (Stamp(self.other_read.load(Ordering::Acquire)), self.other_read_place.load(Ordering::Relaxed))
    }

    /// The lane of the last write.
    pub(super) fn write_lane(&self) -> u32 {
        self.write_lane.load(Ordering::Relaxed)
    }

    pub(super) fn set_write(&self, stamp: Stamp, place: u32, lane: u32) {
        self.write_lane.store(lane, Ordering::Relaxed);
        self.write_place.store(place, Ordering::Relaxed);
        self.write.store(stamp.0, Ordering::Release);
    }

    /// The same where other threads may do so at once. Gives what was there.
    pub(super) fn exchange_write(&self, stamp: Stamp, place: u32, lane: u32) -> Stamp {
        self.write_lane.store(lane, Ordering::Relaxed);
        self.write_place.store(place, Ordering::Relaxed);
        Stamp(self.write.swap(stamp.0, Ordering::SeqCst))
    }

    pub(super) fn set_read(&self, stamp: Stamp, place: u32) {
        let (last, last_place) = self.last_read();
        if last.wave() != stamp.wave() && !last.is_none() {
            self.other_read_place.store(last_place, Ordering::Relaxed);
            self.other_read.store(last.0, Ordering::Release);
        }
        self.read_place.store(place, Ordering::Relaxed);
        self.read.store(stamp.0, Ordering::Release);
    }
}

/// A dword of LDS, which belongs to one group.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsCell {
    pub(super) write: Stamp,
    pub(super) read: Stamp,
    pub(super) write_place: u32,
    pub(super) read_place: u32,
    /// The last read by another wave than that of `read`.
    pub(super) other_read: Stamp,
    pub(super) other_read_place: u32,
    /// The lane of the last write.
    pub(super) write_lane: u32,
    /// The last write that was no atomic, before the place was one of atomics: an atomic of the writer hides it.
    pub(super) plain: Stamp,
    pub(super) plain_place: u32,
    /// What was written last, for stores of what is there already.
    pub(super) value: u32,
    /// Waves that have taken part in atomics that return: a bit for each.
    pub(super) joined: u64,
}

impl LdsCell {
    pub(super) fn set_read(&mut self, stamp: Stamp, place: u32) {
        if self.read.wave() != stamp.wave() && !self.read.is_none() {
            (self.other_read, self.other_read_place) = (self.read, self.read_place);
        }
        (self.read, self.read_place) = (stamp, place);
    }

    /// The last reads of two waves.
    pub(super) fn reads(&self) -> [(Stamp, u32); 2] {
        [(self.read, self.read_place), (self.other_read, self.other_read_place)]
    }
}

const PAGE: usize = 1024;

type Allocation = Vec<OnceLock<Box<[Cell]>>>;

/// The page that was used last, and the address where it begins.
#[derive(Default)]
pub(super) struct Page<'a> {
    start: u64,
    cells: &'a [Cell],
}

/// Cells of all allocations.
pub(super) struct Cells {
    allocations: Vec<OnceLock<(u64, Allocation)>>,
}

impl Cells {
    pub(super) fn new(memory: &Memory) -> Cells {
        Cells { allocations: (0..memory.slots()).map(|_| OnceLock::new()).collect() }
    }

    /// The cell of the dword at an address inside of an allocation.
    #[inline]
    pub(super) fn at(&self, memory: &Memory, address: u64) -> Option<&Cell> {
        let page = self.page(memory, address)?;
        page.cells.get((address.wrapping_sub(page.start) / 4) as usize)
    }

    /// The same, where the page may be the one that was used last.
    #[inline]
    pub(super) fn on<'a>(&'a self, page: &mut Page<'a>, memory: &Memory, address: u64) -> Option<&'a Cell> {
        if let Some(cell) = page.cells.get((address.wrapping_sub(page.start) / 4) as usize) {
            return Some(cell);
        }
        *page = self.page(memory, address)?;
        page.cells.get((address.wrapping_sub(page.start) / 4) as usize)
    }

    fn page(&self, memory: &Memory, address: u64) -> Option<Page<'_>> {
        let slot = memory.slot(address)?;
        let (base, pages) = self.allocations.get(slot)?.get_or_init(|| {
            let (base, bytes) =
                memory.buffer(address).map_or((0, 0), |buffer| (buffer.base(), buffer.bytes()));
            let pages = bytes.div_ceil(4 * PAGE as u64) as usize;
            (base, (0..pages).map(|_| OnceLock::new()).collect())
        });
        let page = (address.wrapping_sub(*base) / 4) as usize / PAGE;
        let cells = pages.get(page)?.get_or_init(|| (0..PAGE).map(|_| Cell::default()).collect());
        Some(Page { start: base.wrapping_add((page * PAGE * 4) as u64), cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_round_trip() {
        let stamp = Stamp::new(0x2f_fff1, 1000, 990, 0b0110);
        assert_eq!((stamp.wave(), stamp.number(), stamp.mask()), (0x2f_fff1, 1000, 6));
        assert_eq!(stamp.released(), 990);
        assert!(!stamp.is_atomic() && !stamp.is_sync() && !stamp.is_none());
        let both = stamp.atomic(true).sync(true);
        assert!(both.is_atomic() && both.is_sync() && both.number() == 1000);
        assert_eq!(Stamp::new(1, 1000, 0, 15).released(), 0);
        assert_eq!(Stamp::new(1, 1, 0, 15).released(), 0);
        assert_eq!(Stamp::new(1, 7, 7, 15).released(), 0);
    }
}
