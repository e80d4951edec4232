//! Shows the progress of a check on a terminal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A line on a terminal that shows the progress of a check. If standard error is not a terminal, nothing is
/// printed.
pub(super) struct Progress {
    is_terminal: bool,
    begun: Instant,
    /// When the line is printed next, in milliseconds since the start of the check.
    next: AtomicU64,
}

impl Progress {
    /// Milliseconds before the first line and between two lines.
    const PAUSE: u64 = 500;

    /// Returns the progress of a check that begins at this moment.
    pub(super) fn new() -> Progress {
        use std::io::IsTerminal;
        let is_terminal = std::io::stderr().is_terminal();
        Progress { is_terminal, begun: Instant::now(), next: AtomicU64::new(Progress::PAUSE) }
    }

    /// Prints that `done` of `all` kernels and functions are checked. `object` is the name of the code
    /// object; it may be empty.
    pub(super) fn print(&self, object: &str, done: usize, all: usize) {
        if !self.is_terminal {
            return;
        }
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let next = self.next.load(Ordering::Relaxed);
        let set = |next| {
            self.next.compare_exchange(next, now + Progress::PAUSE, Ordering::Relaxed, Ordering::Relaxed)
        };
        if now >= next && set(next).is_ok() {
            eprint!("\r\x1b[K{object}{done} of {all} kernels and functions checked");
        }
    }

    /// Erases the line.
    pub(super) fn clear(&self) {
        if self.next.load(Ordering::Relaxed) > Progress::PAUSE {
            eprint!("\r\x1b[K");
        }
    }
}
