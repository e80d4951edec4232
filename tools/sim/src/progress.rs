//! How far a dispatch is, for whoever waits for it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that a running dispatch keeps up to date ([`Dispatch::progress`](crate::Dispatch::progress)); in weak mode it does not.
#[derive(Debug, Default)]
pub struct Progress {
    instructions: AtomicU64,
    groups: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Wave instructions so far.
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// Groups that have ended, and groups in all.
    pub fn groups(&self) -> (u64, u64) {
        (self.groups.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, instructions: u64, groups: u64, total: u64) {
        self.instructions.store(instructions, Ordering::Relaxed);
        self.groups.store(groups, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }
}
