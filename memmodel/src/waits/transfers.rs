//! Loads to LDS and stores from LDS that may be in flight. They access LDS at some time before their counter has counted
//! them, and LDS instructions go another way: nothing but a wait orders the two.
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
    /// What it is, for the notes.
    pub(super) op: Opcode,
}

/// The youngest load to LDS and the youngest store from LDS: each kind is of one class, which is in order.
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

    /// Enters an operation of a path.
    pub(super) fn issue(&mut self, path: LdsPath, transfer: Transfer) {
        match path {
            LdsPath::Load => self.load = Some(transfer),
            LdsPath::Store => self.store = Some(transfer),
            LdsPath::Instruction => {}
        }
    }

    /// All that may be in flight.
    pub(super) fn all(self) -> impl Iterator<Item = Transfer> {
        self.load.into_iter().chain(self.store)
    }

    /// What an access by a path has to wait for. Transfers are in order among one another, but a store reads LDS at its
    /// issue, when an earlier load has not arrived.
    pub(super) fn before(self, path: LdsPath) -> impl Iterator<Item = Transfer> {
        let load = self.load.filter(|_| path != LdsPath::Load);
        let store = self.store.filter(|_| path == LdsPath::Instruction);
        load.into_iter().chain(store)
    }

    /// Takes away what is complete.
    pub(super) fn retain(&mut self, is_in_flight: impl Fn(Transfer) -> bool) {
        self.load = self.load.filter(|transfer| is_in_flight(*transfer));
        self.store = self.store.filter(|transfer| is_in_flight(*transfer));
    }

    /// Says anew when each was issued.
    pub(super) fn rebase(&mut self, issued: impl Fn(Transfer) -> u32) {
        for transfer in [&mut self.load, &mut self.store].into_iter().flatten() {
            transfer.issued = issued(*transfer);
        }
    }

    /// Joins what comes along another edge, in terms of the clocks of this one; `is_younger` compares two operations of
    /// one kind. Returns whether anything was added.
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
