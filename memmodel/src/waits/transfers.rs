//! Loads from memory to LDS, and stores from LDS to memory, that may be in flight. They access LDS at some
//! time before their counter is decremented, and LDS instructions use another path to LDS. Only a wait
//! therefore puts a transfer and an LDS instruction in order.
//!
//! # Source
//! Vega ISA, "Memory Buffer Load to LDS".

use crate::counters::LdsPath;
use isa::Opcode;

/// An operation that may not be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    /// Index in [`crate::counters::CLASSES`].
    pub(super) class: usize,
    /// The clock of its class when it was issued.
    pub(super) issued: u32,
    /// Opcode of the transfer, for the notes of waits.
    pub(super) op: Opcode,
}

/// The youngest load to LDS and the youngest store from LDS. All loads to LDS are of one in-order class, and
/// so are all stores from LDS. A wait for the youngest therefore completes all of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Transfers {
    load: Option<Transfer>,
    store: Option<Transfer>,
}

impl Transfers {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.load.is_none() && self.store.is_none()
    }

    /// Records a transfer that is issued on the given path.
    pub(super) fn issue(&mut self, path: LdsPath, transfer: Transfer) {
        match path {
            LdsPath::Load => self.load = Some(transfer),
            LdsPath::Store => self.store = Some(transfer),
            LdsPath::Instruction => {}
        }
    }

    /// Returns all transfers that may be in flight.
    pub(super) fn all(self) -> impl Iterator<Item = Transfer> {
        self.load.into_iter().chain(self.store)
    }

    /// Returns the transfers (loads to LDS and stores from LDS) for which an access to LDS on the given path
    /// has to wait. Two transfers usually need no wait between them, because they complete in order. The
    /// exception is a store after a load: the store reads LDS when it is issued, which may be before the load
    /// has written LDS.
    pub(super) fn before(self, path: LdsPath) -> impl Iterator<Item = Transfer> {
        let load = self.load.filter(|_| path != LdsPath::Load);
        let store = self.store.filter(|_| path == LdsPath::Instruction);
        load.into_iter().chain(store)
    }

    /// Removes the transfers that are complete.
    pub(super) fn retain(&mut self, is_in_flight: impl Fn(Transfer) -> bool) {
        self.load = self.load.filter(|transfer| is_in_flight(*transfer));
        self.store = self.store.filter(|transfer| is_in_flight(*transfer));
    }

    /// Replaces the clock at which each transfer was issued.
    pub(super) fn rebase(&mut self, issued: impl Fn(Transfer) -> u32) {
        for transfer in [&mut self.load, &mut self.store].into_iter().flatten() {
            transfer.issued = issued(*transfer);
        }
    }

    /// Joins the transfers on another path through the code into these. For each kind of transfer, the
    /// younger one remains. Returns whether this has changed anything. `is_younger` returns whether its first
    /// argument was issued after its second. For this comparison, the caller has converted the numbers in
    /// `issued`, so that both states count alike.
    pub(super) fn join(&mut self, other: Transfers, is_younger: impl Fn(Transfer, Transfer) -> bool) -> bool {
        let mut changed = false;
        for (own, new) in [(&mut self.load, other.load), (&mut self.store, other.store)] {
            if let Some(new) = new
                && own.is_none_or(|own| is_younger(new, own))
            {
                *own = Some(new);
                changed = true;
            }
        }
        changed
    }
}
