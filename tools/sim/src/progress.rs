//! The progress of a dispatch, for code of the host that runs while the dispatch runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that a dispatch updates while it runs ([`Dispatch::progress`](crate::Dispatch::progress)). A
/// dispatch in weak mode does not update them.
#[derive(Debug, Default)]
pub struct Progress {
    instructions: AtomicU64,
    groups: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Returns the number of instructions executed so far. An instruction counts once for each wave that
    /// executes it.
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// Returns the number of groups that have ended, and the total number of groups.
    pub fn groups(&self) -> (u64, u64) {
        (self.groups.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, instructions: u64, groups: u64, total: u64) {
        self.instructions.store(instructions, Ordering::Relaxed);
        self.groups.store(groups, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }
}
