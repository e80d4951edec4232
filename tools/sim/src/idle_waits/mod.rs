//! Determines which waits and cache invalidations of a run were needed to keep accesses to memory in order.
//! The run is recorded once. Then each wait or invalidation is removed from the record in turn, and the
//! record without it is checked.
//!
//! One recorded run is enough, because the effect of an instruction does not depend on waits in this
//! emulator: a run without a wait would have the same operations in another order. The record ([`Log`]) has
//! every access of every wave, and every wait, barrier and invalidation. A [`Change`] weakens one wait or
//! invalidation, and the happens-before relation is computed again. There is a [`Clash`] if two waves access
//! the same bytes without order and one of the accesses is a write. There is also a clash if a load may read
//! a stale cache line. If there is no clash, the changed program leaves the same contents in memory on every
//! machine that keeps the rules below, as long as waves synchronise as in this run. Programs that synchronise
//! only by barriers always synchronise as in this run. For programs with atomics, the result holds only for
//! the order in which the atomics were executed in this run.
//!
//! # Rules
//! * Operations complete as `check::counters` says: by class, in order or out of order. A flat access
//!   completes like an access to the memory that it reached.
//! * For another wave, an LDS access is ordered before what follows a barrier or atomic in which both waves
//!   take part, if the access was complete at the barrier or atomic. LDS serves the operations of a wave in
//!   order, so for an atomic in LDS it is enough that the access was issued.
//! * The same rule holds for an access to memory. Between waves of one group that share a first-level cache,
//!   it is enough that the access was issued. In WGP mode of GFX10, a group has two first-level caches.
//! * A load sees a write by a wave with another first-level cache if the loading wave invalidated its caches
//!   after it was ordered after the write.
//! * Scalar loads need completed stores and `s_dcache_inv`, even for stores of their own wave.
//! * A store of the same value as another unordered store is not a clash.
//!
//! This module is written independently of strict mode. Strict mode finds the same clashes while a program
//! runs, but keeps less of the past. Tests compare the results of both (`tools/sim/tests/deletion.rs`). Waits
//! may also be needed for registers that loads write; the static checker determines these ([`Log::needs`]).
//!
//! | file | |
//! |---|---|
//! | `record` | a watcher that writes the log |
//! | `knowledge` | vector clocks |
//! | `replay` | happens-before over a log |
//! | `waits` | all waits of a log at once, with the needs of registers |

mod knowledge;
mod record;
mod replay;
mod waits;

pub(crate) use record::Recorder;
pub use waits::Need;

use check::effects::Waits;
use record::{Event, Facts, Touch};
use std::sync::OnceLock;

/// A change to a wait or an invalidation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Weakens a wait: the wait instruction waits for these counts instead of those in the code.
    Waits(Waits),
    /// Weakens an invalidation: it does nothing, so that the caches keep their lines.
    KeepCaches,
}

/// Two instructions that access the same memory without order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// Address in the file of the instruction that ran first.
    pub first: u64,
    /// Address in the file of the instruction that ran second.
    pub second: u64,
    /// Description of the error, such as "without order".
    pub what: &'static str,
}

/// Whether a wait or an invalidation was needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No wave reached the instruction.
    NotReached,
    /// The instruction had no effect. Each time a wave reached a wait, no operation was in flight; each time
    /// a wave reached an invalidation, it had learned of no new writes since its last invalidation.
    Idle,
    /// The operations that were in flight accessed only memory for which order does not matter. No other wave
    /// accesses this memory, or all accesses are reads.
    Private,
    /// The operations in flight accessed memory for which order matters, but other waits and invalidations
    /// keep the order.
    Ordered,
    /// Without the wait or invalidation, these instructions clash.
    Needed(Clash),
    /// The two instructions clash even in the unchanged run. So nothing can be said about whether the wait or
    /// invalidation was needed.
    Unknown(Clash),
}

/// One wave of the recorded run.
#[derive(Clone, Copy, Debug)]
struct Wave {
    group: u32,
}

/// The memory operations of a run, in the order in which the emulator executed them on one thread.
pub struct Log {
    /// Facts about each instruction. The outer index is the code range, and the inner index is the dword of
    /// the instruction in this range.
    facts: Vec<Vec<Facts>>,
    /// Address in the file of each code range.
    bases: Vec<u64>,
    waves: Vec<Wave>,
    groups: usize,
    /// Whether the waves of a group may use two first-level caches, as in WGP mode.
    split: bool,
    /// Whether the compute units of a shader array share a cache behind their first-level caches (GL1).
    gl1: bool,
    events: Vec<Event>,
    touches: Vec<Touch>,
    /// For each cell (dword of memory or LDS), whether some load or atomic on the cell can acquire what
    /// another wave has released there.
    acquired: Vec<bool>,
    base: OnceLock<replay::Outcome>,
    text: waits::Text,
}

impl Log {
    /// Returns the clash in the recorded run without any change, if there is one. A clash is two accesses
    /// that are not ordered.
    pub fn clash(&self) -> Option<&Clash> {
        self.as_it_was().clash.as_ref()
    }

    fn as_it_was(&self) -> &replay::Outcome {
        self.base.get_or_init(|| replay::Replay::new(self, None).run())
    }

    /// Returns whether the instruction at a file address had no effect in the recorded run. A wait had no
    /// effect if, each time a wave reached it, no operation was in flight for which `change` removes the
    /// wait. An invalidation had no effect if, each time, the wave had learned of no new writes since its
    /// last invalidation. Returns `None` if no wave reached the instruction.
    ///
    /// The function is fast, because it does not replay the log. If it returns false, [`Log::without`] gives
    /// the exact answer.
    pub fn is_idle(&self, offset: u64, change: Change) -> Option<bool> {
        let place = self.code_position(offset)?;
        let (outcome, facts) = (self.as_it_was(), &self.facts[place.0 as usize][place.1 as usize]);
        let found = outcome.found.get(&place)?;
        let left = found.is_left(&facts.waits.unwrap_or(Waits::NONE), change);
        Some(!left && outcome.clash.is_none())
    }

    /// Replays the log with `change` applied to the instruction at a file address. The change makes the
    /// instruction weaker. Returns whether the memory operations are still in order without the instruction's
    /// full effect.
    pub fn without(&self, offset: u64, change: Change) -> Verdict {
        let Some(place) = self.code_position(offset) else { return Verdict::NotReached };
        if let Some(clash) = self.clash() {
            return Verdict::Unknown(clash.clone());
        }
        let outcome = replay::Replay::new(self, Some((place, change))).run();
        match outcome.clash {
            Some(clash) => Verdict::Needed(clash),
            None if !outcome.reached => Verdict::NotReached,
            None if !outcome.under_way => Verdict::Idle,
            None if !outcome.shared => Verdict::Private,
            None => Verdict::Ordered,
        }
    }

    fn code_position(&self, offset: u64) -> Option<(u32, u32)> {
        let inside = |(at, base): (usize, &u64)| {
            let index = usize::try_from(offset.checked_sub(*base)? / 4).ok()?;
            (index < self.facts[at].len()).then_some((at as u32, index as u32))
        };
        self.bases.iter().enumerate().find_map(inside)
    }

    fn offset(&self, (range, pc): (u32, u32)) -> u64 {
        self.bases[range as usize] + u64::from(pc) * 4
    }
}
