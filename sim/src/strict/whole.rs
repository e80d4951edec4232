//! Accesses of all lanes of a wave at once, where nothing about them can be wrong: aligned dwords whose earlier accesses by
//! others are known to have happened before. What is not so simple is announced lane by lane, and looked at in `races`.

use super::Watcher;
use super::cells::{Cell, Page, Stamp};
use crate::fault::Access;
use crate::memory::Memory;
use crate::watch::{MemAccess, Space};
use crate::wave::{ActiveLanes, Lanes, ROW, Row, rows};
use isa::{Generation, ModFlags};

/// A load of memory that has been let through, to be entered when it is done.
pub(super) struct Load {
    addresses: [u64; 64],
    exec: u64,
    dwords: u32,
    flags: ModFlags,
}

impl Load {
    /// None yet.
    pub(super) const NONE: Load = Load { addresses: [0; 64], exec: 0, dwords: 0, flags: ModFlags::empty() };
}

/// Lanes that have all the addresses between them, and those of them whose address others have as well: the others of the row,
/// or the rows that follow and have the same addresses.
fn distinct(addresses: &Lanes, exec: u64) -> (u64, u64) {
    if exec != u64::MAX {
        return (exec, 0);
    }
    let (mut lanes, mut shared, mut last) = (0, 0, 0);
    for (row, kind) in rows(addresses).into_iter().enumerate() {
        let here = match kind {
            Row::Again => {
                shared |= last;
                continue;
            }
            Row::One => 1 << (row * ROW),
            Row::Each => ((1 << ROW) - 1) << (row * ROW),
        };
        if kind == Row::One {
            shared |= here;
        }
        (lanes, last) = (lanes | here, here);
    }
    (lanes, shared)
}

impl Watcher<'_> {
    /// Whether the data and the lanes of the store at work are beyond doubt.
    fn stores_plainly(&self, exec: u64) -> bool {
        let now = &self.group.now;
        now.data_defined && self.group.waves[now.wave].barrier.has_seen(exec)
    }

    /// Loads of memory: see [`Watch::read_memory`](crate::watch::Watch::read_memory).
    pub(super) fn loads(&mut self, addresses: &[u64; 64], exec: u64, dwords: u32, flags: ModFlags) -> bool {
        if exec == 0 || flags.contains(ModFlags::GLC) {
            return false;
        }
        let now = &mut self.group.now;
        now.first_read.get_or_insert(addresses[exec.trailing_zeros() as usize]);
        now.load = Load { addresses: *addresses, exec, dwords, flags };
        true
    }

    /// Enters the load that was let through.
    pub(super) fn enter_loads(&mut self, memory: &Memory) {
        let Load { addresses, exec, dwords, flags } = std::mem::replace(&mut self.group.now.load, Load::NONE);
        if exec == 0 || !self.shared.races {
            return;
        }
        let (stamp, place) = (self.group.now.stamp, self.group.now.place);
        let mut page = Page::default();
        let (mut last, mut previous) = (None, None::<&Cell>);
        for lane in ActiveLanes(exec) {
            // Lanes next to each other that read the same dword.
            if dwords == 1 && last.replace(addresses[lane]) == Some(addresses[lane]) {
                if let Some(cell) = previous.take() {
                    cell.set_read(cell.last_read().0.by_several(true), place);
                }
                continue;
            }
            for dword in 0..dwords {
                let address = addresses[lane].wrapping_add(u64::from(4 * dword));
                let Some(cell) = self.shared.cells.on(&mut page, memory, address) else { continue };
                if !cell.last_write().0.is_none() {
                    let (space, kind, lane) = (Space::Global, Access::Read, lane as u32);
                    let access = MemAccess { space, address, bytes: 4, lane, kind, flags, scalar: false };
                    self.global_read(memory, &access);
                } else if !cell.last_read().0.same_operation(stamp) {
                    cell.set_read(stamp, place);
                    if self.shared.several_threads && !cell.last_write().0.is_none() {
                        self.shared.cross();
                    }
                } else if !cell.last_read().0.is_by_several() {
                    cell.set_read(stamp.by_several(true), place);
                }
                previous = Some(cell);
            }
        }
    }

    /// Stores to memory: see [`Watch::write_memory`](crate::watch::Watch::write_memory).
    pub(super) fn stores(
        &mut self,
        memory: &Memory,
        addresses: &[u64; 64],
        exec: u64,
        data: &[Lanes],
        flags: ModFlags,
    ) -> bool {
        if exec == 0 || flags.contains(ModFlags::GLC) || !self.stores_plainly(exec) {
            return false;
        }
        if !self.shared.races {
            return true;
        }
        let shared = self.shared;
        let mut page = Page::default();
        for lane in ActiveLanes(exec) {
            for dword in 0..data.len() as u64 {
                let address = addresses[lane].wrapping_add(4 * dword);
                let Some(cell) = shared.cells.on(&mut page, memory, address) else { continue };
                let write = cell.last_write().0;
                if !self.is_free(cell, write) || !self.follows_lane(write, cell.write_lane(), lane as u32) {
                    return false;
                }
            }
        }
        let (stamp, place) = (self.group.now.stamp, self.group.now.place);
        let mut again = false;
        for lane in ActiveLanes(exec) {
            for dword in 0..data.len() as u64 {
                let address = addresses[lane].wrapping_add(4 * dword);
                let Some(cell) = shared.cells.on(&mut page, memory, address) else { continue };
                again |= cell.last_write().0 == stamp;
                if !shared.several_threads {
                    cell.set_write(stamp, place, lane as u32);
                } else if !self.is_free(cell, cell.exchange_write(stamp, place, lane as u32)) {
                    shared.cross();
                }
            }
        }
        if again {
            for (dword, values) in data.iter().enumerate() {
                let address = |lane: usize| addresses[lane].wrapping_add(4 * dword as u64);
                self.note_lanes(Space::Global, address, exec, values);
            }
        }
        self.group.waves[self.group.now.wave].order.scalar_fresh = false;
        true
    }

    /// Whether all that others have done with a dword is known to have happened before, and no atomic was among it. `write`: the
    /// last that has written it.
    fn is_free(&self, cell: &Cell, write: Stamp) -> bool {
        let before = |stamp: Stamp| stamp.is_none() || self.ordered(stamp);
        !write.is_sync() && before(write) && before(cell.last_read().0) && before(cell.other_read().0)
    }

    /// Stores to LDS: see [`Watch::write_lds`](crate::watch::Watch::write_lds).
    pub(super) fn stores_lds(&mut self, addresses: &Lanes, exec: u64, offset: u32, data: &[Lanes]) -> bool {
        if self.shared.target.generation < Generation::Gfx9 || !self.stores_plainly(exec) {
            return false;
        }
        let first = |lane: usize| (addresses[lane].wrapping_add(offset) / 4) as usize;
        let free = |stamp: Stamp| stamp.is_none() || self.lds_ordered(stamp);
        let all_free = ActiveLanes(exec).all(|lane| {
            let cells = self.group.lds.get(first(lane)..first(lane) + data.len()).unwrap_or_default();
            let lane = lane as u32;
            cells.iter().all(|cell| {
                !cell.write.is_sync()
                    && free(cell.write)
                    && free(cell.read)
                    && free(cell.other_read)
                    && self.follows_lane(cell.write, cell.write_lane, lane)
            })
        });
        if !all_free {
            return false;
        }
        let (stamp, place) = (self.group.now.stamp, self.group.now.place);
        let mut again = false;
        for lane in ActiveLanes(exec) {
            for (dword, values) in data.iter().enumerate() {
                let word = first(lane) + dword;
                let (Some(cell), Some(bits)) =
                    (self.group.lds.get_mut(word), self.group.lds_bits.get_mut(word))
                else {
                    continue;
                };
                again |= cell.write == stamp;
                (cell.write, cell.write_place, cell.write_lane) = (stamp, place, lane as u32);
                (cell.plain, cell.plain_place) = (stamp, place);
                (cell.value, *bits) = (values[lane], 0);
            }
        }
        if again {
            for (dword, values) in data.iter().enumerate() {
                let address =
                    |lane: usize| u64::from(addresses[lane].wrapping_add(offset)) + 4 * dword as u64;
                self.note_lanes(Space::Lds, address, exec, values);
            }
        }
        true
    }

    /// Reads of LDS, if all that is read is defined: see [`Watch::read_lds`](crate::watch::Watch::read_lds).
    pub(super) fn reads_whole_lds(&mut self, addresses: &Lanes, exec: u64, offsets: &[u32]) -> bool {
        if self.shared.target.generation < Generation::Gfx9 {
            return false;
        }
        let (lanes, shared) = distinct(addresses, exec);
        let word = |lane: usize, offset: u32| (addresses[lane].wrapping_add(offset) / 4) as usize;
        let all_whole = offsets.iter().all(|&offset| {
            // Lanes that read one dword are often neighbours.
            let mut last = usize::MAX;
            ActiveLanes(lanes).all(|lane| {
                let word = word(lane, offset);
                if std::mem::replace(&mut last, word) == word {
                    self.share_lds_word(word);
                    return true;
                }
                self.read_lds_word(word) == Some(0)
            })
        });
        if all_whole {
            let each = offsets.iter().flat_map(|&offset| ActiveLanes(shared).map(move |lane| (lane, offset)));
            each.for_each(|(lane, offset)| self.share_lds_word(word(lane, offset)));
        }
        all_whole
    }

    /// Notes that several lanes of the load at work read a dword of LDS.
    fn share_lds_word(&mut self, word: usize) {
        if let Some(cell) = self.group.lds.get_mut(word)
            && cell.read.same_operation(self.group.now.stamp)
        {
            cell.read = cell.read.by_several(true);
        }
    }
}
