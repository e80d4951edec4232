//! Fast path for accesses to memory. It handles an instruction for all lanes at once, if none of its accesses
//! can be a race. Two conditions ensure this: all lanes access aligned dwords, and all earlier accesses to
//! these dwords by other waves are known to have happened before. The module `races` checks all other
//! accesses lane by lane.

use super::Watcher;
use super::cells::{Cell, Lines, Page, Stamp};
use super::meetings::Use;
use crate::fault::Access;
use crate::memory::Memory;
use crate::watch::{MemAccess, Space};
use crate::wave::{ActiveLanes, Lanes, ROW};
use isa::ModFlags;

/// A load that the fast path has permitted for all lanes. It is recorded in the shadow cells after the
/// instruction has run.
pub(super) struct Load {
    addresses: [u64; 64],
    exec: u64,
    dwords: u32,
    flags: ModFlags,
}

impl Load {
    /// No load.
    pub(super) const NONE: Load = Load { addresses: [0; 64], exec: 0, dwords: 0, flags: ModFlags::empty() };
}

/// Returns whether the lanes of a row of 16 lanes load memory without gaps: each lane loads `dwords` dwords,
/// and begins where the previous lane ends. `addresses` has the addresses of the lanes.
fn are_in_step(addresses: &[u64], dwords: u32) -> bool {
    let step = 4 * u64::from(dwords);
    let expected = |lane: usize| addresses[0].wrapping_add(step * lane as u64);
    addresses[..ROW].iter().enumerate().fold(0, |apart, (lane, &at)| apart | at ^ expected(lane)) == 0
}

impl Watcher<'_> {
    /// Returns whether the current store can take the fast path. Its data must be defined, and its lanes must
    /// have been active at every barrier (see `barrier`).
    pub(super) fn stores_plainly(&self, exec: u64) -> bool {
        let now = &self.group.now;
        now.data_defined && self.group.waves[now.wave].barrier.has_seen(exec)
    }

    /// Handles a load from memory of all lanes at once, if possible. The arguments and the result are as for
    /// [`Watch::read_memory`](crate::watch::Watch::read_memory).
    pub(super) fn loads(&mut self, addresses: &[u64; 64], exec: u64, dwords: u32, flags: ModFlags) -> bool {
        if exec == 0 || flags.contains(ModFlags::GLC) {
            return false;
        }
        let now = &mut self.group.now;
        now.first_read.get_or_insert(addresses[exec.trailing_zeros() as usize]);
        now.load = Load { addresses: *addresses, exec, dwords, flags };
        true
    }

    /// Records a load in the shadow cells after the fast path has permitted it and the instruction has run.
    pub(super) fn enter_loads(&mut self, memory: &Memory) {
        let exec = std::mem::take(&mut self.group.now.load.exec);
        if exec == 0 || !self.shared.races {
            return;
        }
        let (shared, now) = (self.shared, &self.group.now);
        let Load { addresses, dwords, flags, .. } = &now.load;
        let several_threads = shared.uses_several_threads();
        if several_threads {
            self.meet_lanes(memory, addresses, exec, *dwords, Use::Read);
        }
        let mut lines = Lines::default();
        let mut left = 0;
        for row in 0..64 / ROW {
            let lanes = ((1u64 << ROW) - 1) << (row * ROW);
            let first = addresses[row * ROW];
            let in_step = exec & lanes == lanes && are_in_step(&addresses[row * ROW..], *dwords);
            let (run, stamp) = ((first, ROW * *dwords as usize), (now.stamp, now.place));
            if !in_step || !shared.cells.read_lines(&mut lines, memory, run, stamp, several_threads) {
                left |= exec & lanes;
            }
        }
        if left != 0 {
            let (addresses, dwords, flags) = (*addresses, *dwords, *flags);
            self.enter_lanes(memory, &Load { addresses, exec: left, dwords, flags });
        }
    }

    /// Records the loads of the single lanes in the shadow cells, one lane after the other.
    fn enter_lanes(&mut self, memory: &Memory, load: &Load) {
        let Load { addresses, exec, dwords, flags } = *load;
        let (stamp, place) = (self.group.now.stamp, self.group.now.place);
        let mut page = Page::default();
        let (mut last, mut previous) = (None, None::<&Cell>);
        for lane in ActiveLanes(exec) {
            // If neighbouring lanes read the same dword, only the read of the first of these lanes is
            // recorded.
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
                } else if !cell.last_read().0.is_by_several() {
                    cell.set_read(stamp.by_several(true), place);
                }
                previous = Some(cell);
            }
        }
    }

    /// Handles a store to memory of all lanes at once, if it cannot be a race. The arguments and the result
    /// are as for [`Watch::write_memory`](crate::watch::Watch::write_memory).
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
        if shared.uses_several_threads() {
            self.meet_lanes(memory, addresses, exec, data.len() as u32, Use::Write);
        }
        let (stamp, place) = (self.group.now.stamp, self.group.now.place);
        let mut again = false;
        for lane in ActiveLanes(exec) {
            for dword in 0..data.len() as u64 {
                let address = addresses[lane].wrapping_add(4 * dword);
                let Some(cell) = shared.cells.on(&mut page, memory, address) else { continue };
                again |= cell.last_write().0 == stamp;
                cell.set_write(stamp, place, lane as u32);
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

    /// Returns whether a store to a dword cannot be a race. It cannot if all accesses to the dword by other
    /// waves are known to have happened before, and if none of them was an atomic. `write` is the last write
    /// to the dword.
    fn is_free(&self, cell: &Cell, write: Stamp) -> bool {
        let before = |stamp: Stamp| stamp.is_none() || self.ordered(stamp);
        !write.is_sync() && before(write) && before(cell.last_read().0) && before(cell.other_read().0)
    }
}
