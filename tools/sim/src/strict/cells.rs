//! Who touched each dword last: arrays parallel to memory, made a page at a time where they are needed.
//!
//! Most loads read 16 neighbouring dwords by 16 neighbouring lanes. As long as a page has such loads only, one cell stands
//! for 16 dwords, which is a line; the first other access of the page gives each dword a cell of its own.

use crate::memory::Memory;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

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

    /// What it holds now, for another dword.
    fn copy(&self) -> Cell {
        let of = |place: &AtomicU32| AtomicU32::new(place.load(Ordering::Relaxed));
        let stamp = |stamp: &AtomicU64| AtomicU64::new(stamp.load(Ordering::Acquire));
        Cell {
            write: stamp(&self.write),
            read: stamp(&self.read),
            write_place: of(&self.write_place),
            read_place: of(&self.read_place),
            other_read: stamp(&self.other_read),
            other_read_place: of(&self.other_read_place),
            write_lane: of(&self.write_lane),
        }
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

/// The last accesses of a dword of LDS, which belongs to one group: what each access looks at.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsCell {
    pub(super) write: Stamp,
    pub(super) read: Stamp,
    /// The last read by another wave than that of `read`.
    pub(super) other_read: Stamp,
    pub(super) read_place: u32,
    pub(super) other_read_place: u32,
}

/// The last write of a dword of LDS.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsWrite {
    pub(super) place: u32,
    pub(super) lane: u32,
    /// What was written, for stores of what is there already.
    pub(super) value: u32,
}

/// What atomics have done to a dword of LDS.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsAtomics {
    /// The last write before the first atomic: an atomic of the writer hides it.
    pub(super) plain: Stamp,
    pub(super) plain_place: u32,
    /// Waves that have taken part in atomics that return: a bit for each.
    pub(super) joined: u64,
}

impl LdsCell {
    #[inline(always)]
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

/// Dwords of a page.
const PAGE: usize = 1024;

/// Dwords of a line.
pub(super) const LINE: usize = 16;

/// The cells of a page.
struct Paged {
    /// One for each line: reads of all its dwords.
    lines: Box<[Cell]>,
    /// One for each dword, from the first access on that is not a load of whole lines.
    cells: OnceLock<Box<[Cell]>>,
}

impl Paged {
    fn new() -> Paged {
        Paged { lines: (0..PAGE / LINE).map(|_| Cell::default()).collect(), cells: OnceLock::new() }
    }

    /// The cells of the dwords. Notes in `lost` whether another thread has entered a load of a line too late for them.
    fn cells(&self, lost: &AtomicBool) -> &[Cell] {
        self.cells.get().map_or_else(|| self.split(lost), Box::as_ref)
    }

    #[cold]
    fn split(&self, lost: &AtomicBool) -> &[Cell] {
        let lines: Vec<Cell> = self.lines.iter().map(Cell::copy).collect();
        let cells = self.cells.get_or_init(|| (0..PAGE).map(|dword| lines[dword / LINE].copy()).collect());
        // Either this finds a late load in its line, or the load finds the cells: see `Cells::read_lines`.
        fence(Ordering::SeqCst);
        if self.lines.iter().zip(&lines).any(|(now, before)| now.last_read() != before.last_read()) {
            lost.store(true, Ordering::Relaxed);
        }
        cells
    }
}

type Allocation = Vec<OnceLock<Paged>>;

/// The page that was used last, and the address where it begins.
#[derive(Default)]
pub(super) struct Page<'a> {
    start: u64,
    cells: &'a [Cell],
}

/// The lines of the page that was used last, and the address where it begins.
#[derive(Default)]
pub(super) struct Lines<'a> {
    start: u64,
    page: Option<&'a Paged>,
}

impl<'a> Lines<'a> {
    /// The lines of so many dwords from an address on, if they are whole lines of one page that has no other cells.
    #[inline]
    fn find(&self, address: u64, dwords: usize) -> Option<&'a [Cell]> {
        let page = self.page.filter(|page| page.cells.get().is_none())?;
        let dword = (address.wrapping_sub(self.start) / 4) as usize;
        let is_whole = dword.is_multiple_of(LINE) && address.is_multiple_of(4);
        page.lines.get(dword / LINE..dword / LINE + dwords / LINE).filter(|_| is_whole)
    }
}

/// Cells of all allocations.
pub(super) struct Cells {
    allocations: Vec<OnceLock<(u64, Allocation)>>,
    /// Whether a load may be missing because two threads were at a page at the same time.
    lost: AtomicBool,
}

impl Cells {
    pub(super) fn new(memory: &Memory) -> Cells {
        let allocations = (0..memory.slots()).map(|_| OnceLock::new()).collect();
        Cells { allocations, lost: AtomicBool::new(false) }
    }

    /// Whether a load may be missing because two threads were at a page at the same time.
    pub(super) fn may_have_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// The cell of the dword at an address inside of an allocation.
    #[inline]
    pub(super) fn at(&self, memory: &Memory, address: u64) -> Option<&Cell> {
        self.on(&mut Page::default(), memory, address)
    }

    /// The same, where the page may be the one that was used last.
    #[inline]
    pub(super) fn on<'a>(&'a self, page: &mut Page<'a>, memory: &Memory, address: u64) -> Option<&'a Cell> {
        if let Some(cell) = page.cells.get((address.wrapping_sub(page.start) / 4) as usize) {
            return Some(cell);
        }
        let (start, paged) = self.page(memory, address)?;
        *page = Page { start, cells: paged.cells(&self.lost) };
        page.cells.get((address.wrapping_sub(page.start) / 4) as usize)
    }

    /// Enters a load of so many dwords from an address on, each of which one lane reads. False, and nothing is entered, where
    /// the dwords are not whole lines of one page, or the page has a cell for each dword.
    pub(super) fn read_lines<'a>(
        &'a self,
        lines: &mut Lines<'a>,
        memory: &Memory,
        (address, dwords): (u64, usize),
        (stamp, place): (Stamp, u32),
        several_threads: bool,
    ) -> bool {
        if address.wrapping_sub(lines.start) >= 4 * PAGE as u64 || lines.page.is_none() {
            let Some((start, page)) = self.page(memory, address) else { return false };
            *lines = Lines { start, page: Some(page) };
        }
        let Some(found) = lines.find(address, dwords) else { return false };
        for line in found {
            let last = line.last_read().0;
            if !last.same_operation(stamp) {
                line.set_read(stamp, place);
            } else if !last.is_by_several() {
                line.set_read(stamp.by_several(true), place);
            }
        }
        if several_threads {
            // As in `Paged::split`.
            fence(Ordering::SeqCst);
            if lines.page.is_some_and(|page| page.cells.get().is_some()) {
                self.lost.store(true, Ordering::Relaxed);
            }
        }
        true
    }

    /// The page of an address, and where it begins.
    fn page(&self, memory: &Memory, address: u64) -> Option<(u64, &Paged)> {
        let slot = memory.slot(address)?;
        let (base, pages) = self.allocations.get(slot)?.get_or_init(|| {
            let (base, bytes) =
                memory.buffer(address).map_or((0, 0), |buffer| (buffer.base(), buffer.bytes()));
            let pages = bytes.div_ceil(4 * PAGE as u64) as usize;
            (base, (0..pages).map(|_| OnceLock::new()).collect())
        });
        let page = (address.wrapping_sub(*base) / 4) as usize / PAGE;
        let cells = pages.get(page)?.get_or_init(Paged::new);
        Some((base.wrapping_add((page * PAGE * 4) as u64), cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_begin_as_their_lines() {
        let mut memory = Memory::new();
        let base = memory.alloc(4 * 2 * PAGE as u64).unwrap();
        let (cells, mut lines) = (Cells::new(&memory), Lines::default());
        let stamp = |wave: u32| Stamp::new(wave, 7, 0, 15);
        let mut read = |address: u64, dwords, wave| {
            cells.read_lines(&mut lines, &memory, (address, dwords), (stamp(wave), wave), false)
        };
        let line = 4 * LINE as u64;
        assert!(read(base + line, LINE, 1) && read(base + line, 2 * LINE, 2) && read(base + line, LINE, 2));
        // No whole lines, or no lines of one page.
        assert!(!read(base + 4, LINE, 3) && !read(base + 2, LINE, 3));
        assert!(!read(base + 4 * PAGE as u64 - line, 2 * LINE, 3));
        let of = |dword: u64| {
            let cell = cells.at(&memory, base + 4 * dword).unwrap();
            let ((read, place), (other, other_place)) = (cell.last_read(), cell.other_read());
            (read.wave(), place, read.is_by_several(), other.wave(), other_place)
        };
        assert_eq!([of(15), of(16), of(31), of(32)].map(|read| read.0), [0, 2, 2, 2]);
        assert_eq!((of(16), of(32)), ((2, 2, true, 1, 1), (2, 2, false, 0, 0)));
        // The page has cells now, the next page has none yet.
        assert!(!read(base + line, LINE, 3) && read(base + 4 * PAGE as u64, LINE, 3));
        assert!(!cells.may_have_lost());
    }

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
