//! Shadow cells, in which strict mode records the last accesses to each dword of memory. The race checks
//! compare each new access with the recorded accesses. Cells are grouped in pages like the memory that they
//! describe. The cells of a page are allocated at the first access to the page.
//!
//! Most loads read 16 consecutive dwords in 16 consecutive lanes. As long as all accesses to a page are such
//! loads, one cell stands for a line of 16 dwords. The first other access to the page allocates a cell for
//! each dword of the page.

use crate::memory::Memory;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

/// Limit on the number of waves in a dispatch. A [`Stamp`] cannot distinguish more waves, so races are not
/// checked in larger dispatches.
pub(super) const MAX_WAVES: u64 = 1 << WAVE_BITS;

const WAVE_BITS: u32 = 22;
const NUMBER_BITS: u32 = 27;
const LAG_BITS: u32 = 8;
const NO_RELEASE: u32 = (1 << LAG_BITS) - 1;
const TRANSFER: u64 = 1 << (64 - WAVE_BITS - 1);

/// The record of one access, encoded in 64 bits. The value 0 means that there was no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(u64);

impl Stamp {
    /// Creates a stamp, which is the record of one access, for operation `number` of `wave`. `wave` must not
    /// be 0. `mask` says which bytes of the dword the operation accesses. `done` says that all operations of
    /// the wave up to this number are complete.
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

    /// Returns the stamp (record of an access) with the flag for atomic accesses set if `yes`. An access
    /// counts as atomic if it is an atomic instruction, or a load or store that bypasses the first-level
    /// cache.
    pub(super) fn atomic(self, yes: bool) -> Stamp {
        Stamp(self.0 | u64::from(yes))
    }

    /// Returns the stamp (record of an access) with the flag `sync` set if `yes`. The flag says that atomics
    /// use the location, and that the table of released knowledge therefore has an entry for it.
    pub(super) fn sync(self, yes: bool) -> Stamp {
        Stamp(self.0 | u64::from(yes) << 1)
    }

    /// Returns the stamp (record of an access) with the flag for transfers set if `yes`. A transfer is a
    /// vector memory instruction that loads to LDS or stores from LDS. It is ordered with vector memory
    /// instructions, not with LDS instructions.
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

    /// Returns the stamp (record) of a read with a flag set if `yes`. The flag says that several lanes have
    /// read the location in one instruction.
    pub(super) fn by_several(self, yes: bool) -> Stamp {
        self.sync(yes)
    }

    pub(super) fn is_by_several(self) -> bool {
        self.is_sync()
    }

    /// Returns whether both stamps (records of accesses) are of the same operation.
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

    /// Returns the number `done` that was given to [`Stamp::new`]: the operations of the wave up to this
    /// number were complete when the stamp was made. Returns 0 if the difference between the two numbers was
    /// too large to encode.
    pub(super) fn released(self) -> u32 {
        match (self.0 >> 6) as u32 & NO_RELEASE {
            NO_RELEASE => 0,
            lag => self.number().saturating_sub(lag + 1),
        }
    }
}

/// The shadow cell of a dword of memory: the last accesses to the dword. All groups share the cell.
#[derive(Default)]
pub(super) struct Cell {
    write: AtomicU64,
    read: AtomicU64,
    write_place: AtomicU32,
    read_place: AtomicU32,
    /// The last read by another wave than the wave of `read`.
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

    /// Returns the lane that made the last write.
    pub(super) fn write_lane(&self) -> u32 {
        self.write_lane.load(Ordering::Relaxed)
    }

    pub(super) fn set_write(&self, stamp: Stamp, place: u32, lane: u32) {
        self.write_lane.store(lane, Ordering::Relaxed);
        self.write_place.store(place, Ordering::Relaxed);
        self.write.store(stamp.0, Ordering::Release);
    }

    /// Returns a copy of the cell of a line. The copy becomes the cell of one dword of the line.
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

/// The last accesses by the waves of a work-group to one dword of LDS. This structure holds only the fields
/// that every access needs; [`LdsWrite`] and [`LdsAtomics`] hold the rest.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsCell {
    pub(super) write: Stamp,
    pub(super) read: Stamp,
    /// The last read by another wave than the wave of `read`.
    pub(super) other_read: Stamp,
    pub(super) read_place: u32,
    pub(super) other_read_place: u32,
}

/// Further fields about the last write to a dword of LDS.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsWrite {
    pub(super) place: u32,
    pub(super) lane: u32,
    /// Value that the last write stored. A later store of the same value changes nothing, so it is not a
    /// race.
    pub(super) value: u32,
}

/// What is known about atomics on a dword of LDS.
#[derive(Clone, Copy, Default)]
pub(super) struct LdsAtomics {
    /// The last write before the first atomic on this dword. It needs a place of its own, because the first
    /// atomic by the same wave replaces the stamp of the write in the [`LdsCell`].
    pub(super) plain: Stamp,
    pub(super) plain_place: u32,
    /// Mask of the waves of the group that have executed an atomic on the dword that returns the old value.
    /// Their loads and stores of the dword may be atomic, too.
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

    /// Returns the last reads by two different waves.
    pub(super) fn reads(&self) -> [(Stamp, u32); 2] {
        [(self.read, self.read_place), (self.other_read, self.other_read_place)]
    }
}

/// Number of dwords whose cells form a page.
pub(super) const PAGE: usize = 1024;

/// Number of dwords in a line. One cell stands for a whole line as long as loads of whole lines are the only
/// accesses.
pub(super) const LINE: usize = 16;

/// The cells of a page.
struct Paged {
    /// One cell for each line of the page. It stands for all dwords of the line, as long as only whole lines
    /// are loaded.
    lines: Box<[Cell]>,
    /// Cells for the single dwords of the page. They are allocated by the first access that is not a load of
    /// whole lines.
    cells: OnceLock<Box<[Cell]>>,
}

impl Paged {
    fn new() -> Paged {
        Paged { lines: (0..PAGE / LINE).map(|_| Cell::default()).collect(), cells: OnceLock::new() }
    }

    /// Returns the page's cells for single dwords. The first call allocates these cells, and copies the cell
    /// of each line to the cells of its dwords. Another thread may record a load in the cell of a line after
    /// this copy. The cells of the dwords then lack the load, and `lost` is set.
    fn cells(&self, lost: &AtomicBool) -> &[Cell] {
        self.cells.get().map_or_else(|| self.split(lost), Box::as_ref)
    }

    #[cold]
    fn split(&self, lost: &AtomicBool) -> &[Cell] {
        let lines: Vec<Cell> = self.lines.iter().map(Cell::copy).collect();
        let cells = self.cells.get_or_init(|| (0..PAGE).map(|dword| lines[dword / LINE].copy()).collect());
        // This fence pairs with the fence in `Cells::read_lines`, where another thread may record a load in a
        // line at this moment. The fences ensure that either this thread sees the load, or the other thread
        // sees the new cells. In both cases, `lost` is set.
        fence(Ordering::SeqCst);
        if self.lines.iter().zip(&lines).any(|(now, before)| now.last_read() != before.last_read()) {
            lost.store(true, Ordering::Relaxed);
        }
        cells
    }
}

/// An allocation: its start address, and its pages.
type Allocation<P> = (u64, Vec<OnceLock<P>>);

/// The shadow state of all memory, in pages. `P` is the state of one page. A page is created when it is first
/// needed.
pub(super) struct Pages<P>(Vec<OnceLock<Allocation<P>>>);

impl<P> Pages<P> {
    pub(super) fn new(memory: &Memory) -> Pages<P> {
        Pages((0..memory.slots()).map(|_| OnceLock::new()).collect())
    }

    /// Returns the page that contains an address, and the start address of the page. Calls `new` to create a
    /// page that does not exist yet.
    pub(super) fn page(&self, memory: &Memory, address: u64, new: impl FnOnce() -> P) -> Option<(u64, &P)> {
        let slot = Memory::slot(address)?;
        let (base, pages) = self.0.get(slot)?.get_or_init(|| {
            let (base, bytes) =
                memory.buffer(address).map_or((0, 0), |buffer| (buffer.base(), buffer.bytes()));
            let pages = bytes.div_ceil(4 * PAGE as u64) as usize;
            (base, (0..pages).map(|_| OnceLock::new()).collect())
        });
        let page = (address.wrapping_sub(*base) / 4) as usize / PAGE;
        let found = pages.get(page)?.get_or_init(new);
        Some((base.wrapping_add((page * PAGE * 4) as u64), found))
    }
}

/// The page that was used last, with its start address, as a cache that makes the next lookup faster.
#[derive(Default)]
pub(super) struct Page<'a> {
    start: u64,
    cells: &'a [Cell],
}

/// The page that the last load of whole lines used, with its start address, as a cache that makes the next
/// lookup faster.
#[derive(Default)]
pub(super) struct Lines<'a> {
    start: u64,
    page: Option<&'a Paged>,
}

impl<'a> Lines<'a> {
    /// Returns the cells of the lines that cover `dwords` dwords from `address` on. Returns `None` if the
    /// dwords are not whole lines of the cached page, or if the page has a cell for each dword.
    #[inline]
    fn find(&self, address: u64, dwords: usize) -> Option<&'a [Cell]> {
        let page = self.page.filter(|page| page.cells.get().is_none())?;
        let dword = (address.wrapping_sub(self.start) / 4) as usize;
        let is_whole = dword.is_multiple_of(LINE) && address.is_multiple_of(4);
        page.lines.get(dword / LINE..dword / LINE + dwords / LINE).filter(|_| is_whole)
    }
}

/// The shadow cells of all allocations.
pub(super) struct Cells {
    pages: Pages<Paged>,
    /// Whether the record of a load may be missing. This happens if one thread records a load in a page while
    /// another thread allocates the page's cells.
    lost: AtomicBool,
}

impl Cells {
    pub(super) fn new(memory: &Memory) -> Cells {
        Cells { pages: Pages::new(memory), lost: AtomicBool::new(false) }
    }

    /// Returns whether the record of a load may be missing, because two threads used a page at the same time.
    /// A race may then have been overlooked.
    pub(super) fn may_have_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Returns the shadow cell of the dword at an address, or `None` if the address is in no allocation.
    #[inline]
    pub(super) fn at(&self, memory: &Memory, address: u64) -> Option<&Cell> {
        self.on(&mut Page::default(), memory, address)
    }

    /// Returns the shadow cell of the dword at an address, or `None` if the address is in no allocation.
    /// `page` caches the page that was used last, to make the next lookup faster.
    #[inline]
    pub(super) fn on<'a>(&'a self, page: &mut Page<'a>, memory: &Memory, address: u64) -> Option<&'a Cell> {
        if let Some(cell) = page.cells.get((address.wrapping_sub(page.start) / 4) as usize) {
            return Some(cell);
        }
        let (start, paged) = self.pages.page(memory, address, Paged::new)?;
        *page = Page { start, cells: paged.cells(&self.lost) };
        page.cells.get((address.wrapping_sub(page.start) / 4) as usize)
    }

    /// Records a load of `dwords` consecutive dwords in the cells of their lines. Each dword is read by one
    /// lane. Returns false, and records nothing, if the dwords are not whole lines of one page, or if the
    /// page has a cell for each dword.
    pub(super) fn read_lines<'a>(
        &'a self,
        lines: &mut Lines<'a>,
        memory: &Memory,
        (address, dwords): (u64, usize),
        (stamp, place): (Stamp, u32),
        several_threads: bool,
    ) -> bool {
        if address.wrapping_sub(lines.start) >= 4 * PAGE as u64 || lines.page.is_none() {
            let Some((start, page)) = self.pages.page(memory, address, Paged::new) else { return false };
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
            // This fence pairs with the one in `Paged::split`.
            fence(Ordering::SeqCst);
            if lines.page.is_some_and(|page| page.cells.get().is_some()) {
                self.lost.store(true, Ordering::Relaxed);
            }
        }
        true
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
        // These are not whole lines, or not lines of one page.
        assert!(!read(base + 4, LINE, 3) && !read(base + 2, LINE, 3));
        assert!(!read(base + 4 * PAGE as u64 - line, 2 * LINE, 3));
        let of = |dword: u64| {
            let cell = cells.at(&memory, base + 4 * dword).unwrap();
            let ((read, place), (other, other_place)) = (cell.last_read(), cell.other_read());
            (read.wave(), place, read.is_by_several(), other.wave(), other_place)
        };
        assert_eq!([of(15), of(16), of(31), of(32)].map(|read| read.0), [0, 2, 2, 2]);
        assert_eq!((of(16), of(32)), ((2, 2, true, 1, 1), (2, 2, false, 0, 0)));
        // The page has cells for dwords at this point, the next page has none.
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
