//! Fast path for accesses to LDS. It handles an instruction for all lanes at once, if none of its accesses
//! can be a race. The module `whole` does the same for accesses to memory.

use super::cells::{LdsCell, LdsWrite, Stamp};
use super::flight::Flight;
use super::order::{Known, Order};
use super::touch::{Class, Memory, Touch};
use super::{GroupShadow, Watcher};
use crate::watch::Space;
use crate::wave::{ActiveLanes, Lanes, ROW, Row, rows};

/// What the current wave knows about the order of accesses to LDS: which accesses of the group's waves are
/// known to have happened before the current instruction.
pub(super) struct LdsOrder<'a> {
    wave: u32,
    first_wave: u32,
    local: &'a [Known],
    flight: &'a Flight,
    /// Whether the current instruction is a transfer: a vector memory instruction that loads to LDS or stores
    /// from LDS.
    transfers: bool,
    /// Whether the current instruction is a load to LDS.
    loads_to_lds: bool,
}

impl<'a> LdsOrder<'a> {
    pub(super) fn new(order: &'a Order, first_wave: u32, touch: Option<&Touch>) -> LdsOrder<'a> {
        let transfers = touch.is_some_and(|touch| touch.queues.transfer);
        LdsOrder {
            wave: order.wave,
            first_wave,
            local: &order.local,
            flight: &order.flight,
            transfers,
            loads_to_lds: transfers && touch.is_some_and(|touch| touch.class == Class::Memory(Memory::Load)),
        }
    }

    /// Returns whether the access `earlier` is known to have happened before the current instruction.
    #[inline(always)]
    pub(super) fn has(&self, earlier: Stamp) -> bool {
        if earlier.wave() == self.wave {
            return !(self.transfers || earlier.is_transfer()) || self.follows_own(earlier);
        }
        let mate = earlier.wave().wrapping_sub(self.first_wave) as usize;
        self.local.get(mate).is_some_and(|known| {
            let done = if earlier.is_transfer() { known.transfers } else { known.lds };
            done >= earlier.number()
        })
    }

    /// Returns whether the current access to LDS is ordered after the access `earlier` of the same wave. Only
    /// accesses by transfers (loads to LDS and stores from LDS) need this check. The LDS instructions of a
    /// wave are executed in order, so they are always ordered among each other.
    fn follows_own(&self, earlier: Stamp) -> bool {
        match earlier.is_transfer() {
            false => self.flight.lds_done() >= earlier.number(),
            true => self.loads_to_lds || self.flight.transfers_done() >= earlier.number(),
        }
    }

    /// Returns whether the access `earlier` is no obstacle to the current access. It is none if there was no
    /// such access, or if it is known to have happened before.
    #[inline(always)]
    fn allows(&self, earlier: Stamp) -> bool {
        earlier.is_none() || self.has(earlier)
    }
}

/// State for recording the reads from LDS by one instruction.
struct Reads<'a> {
    order: LdsOrder<'a>,
    /// The last write of which the check has shown that it happened before the current instruction. Dwords
    /// that the same write has stored need no further check.
    ordered: Stamp,
    stamp: Stamp,
    place: u32,
}

impl Reads<'_> {
    /// Records the read of a dword in the dword's shadow cell, if the last write to the dword is known to
    /// have happened before. Returns whether it has recorded the read. If another lane of the same
    /// instruction has already read the dword, the order is not checked again.
    #[inline(always)]
    fn enter(&mut self, cell: &mut LdsCell, is_shared: bool) -> bool {
        let (read, write) = (cell.read, cell.write);
        if read.same_operation(self.stamp) {
            cell.read = read.by_several(true);
            return true;
        }
        if write != self.ordered || write.is_sync() {
            if write.is_sync() || !self.order.allows(write) {
                return false;
            }
            self.ordered = write;
        }
        cell.set_read(self.stamp.by_several(is_shared), self.place);
        true
    }
}

/// Returns two masks of lanes, with which each address is checked only once. The first mask has at least one
/// lane for each address that the instruction accesses. The second mask has those lanes of the first mask
/// whose address other lanes use as well: the other lanes of the same row of 16 lanes, or lanes of the
/// following rows.
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
    fn lds_order(&self) -> LdsOrder<'_> {
        let group = &self.group;
        LdsOrder::new(&group.waves[group.now.wave].order, group.first_wave, self.touch)
    }

    /// Returns whether the access `earlier` to LDS is known to have happened before the current instruction.
    pub(super) fn lds_ordered(&self, earlier: Stamp) -> bool {
        self.lds_order().has(earlier)
    }

    /// Handles a store to LDS of all lanes at once, if it cannot be a race. The arguments and the result are
    /// as for [`Watch::write_lds`](crate::watch::Watch::write_lds).
    pub(super) fn stores_lds(&mut self, addresses: &Lanes, exec: u64, offset: u32, data: &[Lanes]) -> bool {
        if self.shared.target.arch.addressing.lds_needs_m0 || !self.stores_plainly(exec) {
            return false;
        }
        let first = |lane: usize| (addresses[lane].wrapping_add(offset) / 4) as usize;
        if !self.may_store_lds(first, exec, data.len()) {
            return false;
        }
        let GroupShadow { lds, lds_bits, lds_writes, now, .. } = &mut *self.group;
        let (stamp, place) = (now.stamp, now.place);
        let mut again = false;
        for lane in ActiveLanes(exec) {
            for (dword, values) in data.iter().enumerate() {
                let word = first(lane) + dword;
                let (Some(cell), Some(bits), Some(write)) =
                    (lds.get_mut(word), lds_bits.get_mut(word), lds_writes.get_mut(word))
                else {
                    continue;
                };
                again |= cell.write == stamp;
                (cell.write, *bits) = (stamp, 0);
                *write = LdsWrite { place, lane: lane as u32, value: values[lane] };
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

    /// Returns whether the lanes of `exec` may store without a race. Two conditions must hold: all earlier
    /// accesses to the dwords are known to have happened before the store, and none of them was an atomic.
    /// `first` returns the index of the first dword that a lane stores.
    fn may_store_lds(&self, first: impl Fn(usize) -> usize, exec: u64, dwords: usize) -> bool {
        let order = self.lds_order();
        ActiveLanes(exec).all(|lane| {
            let words = first(lane)..first(lane) + dwords;
            let cells = self.group.lds.get(words.clone()).unwrap_or_default();
            // Each lane's store is ordered after the earlier stores of the wave if all lanes are active.
            // Otherwise, the lanes are compared one by one.
            let follows = |cell: &LdsCell, word: usize| {
                exec == u64::MAX
                    || self.follows_lane(cell.write, self.group.lds_writes[word].lane, lane as u32)
            };
            cells.iter().zip(words).all(|(cell, word)| {
                !cell.write.is_sync()
                    && order.allows(cell.write)
                    && order.allows(cell.read)
                    && order.allows(cell.other_read)
                    && follows(cell, word)
            })
        })
    }

    /// Handles a read from LDS of all lanes at once, if it cannot be a race and all data that it reads is
    /// defined. The arguments and the result are as for [`Watch::read_lds`](crate::watch::Watch::read_lds).
    pub(super) fn reads_whole_lds(&mut self, addresses: &Lanes, exec: u64, offsets: &[u32]) -> bool {
        if self.shared.target.arch.addressing.lds_needs_m0 {
            return false;
        }
        let (lanes, shared) = distinct(addresses, exec);
        let GroupShadow { waves, lds, lds_bits, now, first_wave, .. } = &mut *self.group;
        let order = LdsOrder::new(&waves[now.wave].order, *first_wave, self.touch);
        let mut reads = Reads { order, ordered: now.ordered, stamp: now.stamp, place: now.place };
        let all_whole = offsets.iter().all(|&offset| {
            // Neighbouring lanes often read the same dword. A lane that reads the same dword as the previous
            // one is skipped.
            let mut last = usize::MAX;
            ActiveLanes(lanes).all(|lane| {
                let word = (addresses[lane].wrapping_add(offset) / 4) as usize;
                let (Some(cell), Some(&bits)) = (lds.get_mut(word), lds_bits.get(word)) else { return false };
                let is_again = std::mem::replace(&mut last, word) == word;
                reads.enter(cell, shared >> lane & 1 != 0) && (is_again || bits == 0)
            })
        });
        now.ordered = reads.ordered;
        all_whole
    }

    /// Records the read of a dword of LDS, if the last write to the dword is known to have happened before.
    /// Returns the mask of the dword's undefined bits, or `None` if the read was not recorded.
    #[inline(always)]
    pub(super) fn read_lds_word(&mut self, word: usize) -> Option<u32> {
        let GroupShadow { waves, lds, lds_bits, now, first_wave, .. } = &mut *self.group;
        let (&bits, cell) = (lds_bits.get(word)?, lds.get_mut(word)?);
        let order = LdsOrder::new(&waves[now.wave].order, *first_wave, self.touch);
        let mut reads = Reads { order, ordered: now.ordered, stamp: now.stamp, place: now.place };
        let is_entered = reads.enter(cell, false);
        now.ordered = reads.ordered;
        is_entered.then_some(bits)
    }
}
