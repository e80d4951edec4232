//! Which waits and invalidations of a run were needed to keep memory in order: the run is recorded once, and each of them
//! is taken away from the record.
//!
//! What an instruction does does not depend on waits here, so a run without one is the recorded run with another order. The
//! record ([`Log`]) has every access of every wave, every wait, barrier and invalidation. A [`Change`] weakens one of them;
//! happens-before is worked out anew, and two accesses of different waves to the same bytes, one of them a write, without
//! order, or a load that may find a stale line, make a [`Clash`]. Without any, no machine that keeps the rules below can
//! tell the changed program from the old one by what it leaves in memory, as long as waves meet as in this run: for programs
//! that synchronise by barriers only, always; with atomics, in this order of the atomics.
//!
//! # Rules
//! * Operations complete as `check::counters` says: by class, in order or in any; a flat access of memory that it reached.
//! * An LDS access is ordered for another wave when it was complete at a barrier or atomic that both have to do with.
//!   LDS serves a wave in order: for an atomic in LDS issued is enough.
//! * So is an access to memory; of waves of one group behind one first cache it is enough that it was issued. GFX10 in WGP
//!   mode has two such caches.
//! * A load reads fresh what another first cache's wave wrote if its wave invalidated its caches after it knew of the write.
//! * Scalar loads need complete stores and `s_dcache_inv`, even of what their own wave has stored.
//! * A store of what another unordered store leaves, too, is no clash.
//!
//! It is written apart from strict mode, which finds the same clashes while a program runs but keeps less of its past: one
//! is a check of the other (`tools/sim/tests/deletion.rs`). What registers need is asked of
//! `kernc check` ([`Log::needs`]).
//!
//! | file | |
//! |---|---|
//! | `record` | a watcher that writes the log |
//! | `knowledge` | vector clocks |
//! | `replay` | happens-before over a log |
//! | `waits` | all waits of a log at once, with what registers need |

mod knowledge;
mod record;
mod replay;
mod waits;

pub(crate) use record::Recorder;
pub use waits::Need;

use check::effects::Waits;
use record::{Event, Facts, Touch};
use std::sync::OnceLock;

/// What is done to a wait or an invalidation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It waits for this instead.
    Waits(Waits),
    /// It does nothing to caches.
    KeepCaches,
}

/// Two instructions that meet in memory without order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// Address in the file of the one that ran first.
    pub first: u64,
    /// And of the other.
    pub second: u64,
    /// What is wrong with them.
    pub what: &'static str,
}

/// Whether a wait or an invalidation was needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No wave came there.
    NotReached,
    /// Nothing was under way, or known anew, whenever a wave came there.
    Idle,
    /// What was under way touches no memory that another wave touches and one of them writes.
    Private,
    /// It does, but other waits and invalidations keep the order.
    Ordered,
    /// Without it these clash.
    Needed(Clash),
    /// They clash with it, too: nothing is said.
    Unknown(Clash),
}

/// One wave of a record.
#[derive(Clone, Copy, Debug)]
struct Wave {
    group: u32,
}

/// The memory operations of a run, in the order in which an emulator with one thread came to them.
pub struct Log {
    /// By range of code and dword.
    facts: Vec<Vec<Facts>>,
    /// Address in the file of each range.
    bases: Vec<u64>,
    waves: Vec<Wave>,
    groups: usize,
    /// Waves of a group read through two first caches.
    split: bool,
    gfx10: bool,
    events: Vec<Event>,
    touches: Vec<Touch>,
    /// For each cell, whether a load may acquire what was written there.
    acquired: Vec<bool>,
    base: OnceLock<replay::Outcome>,
    text: waits::Text,
}

impl Log {
    /// What clashes in the run as it was.
    pub fn clash(&self) -> Option<&Clash> {
        self.as_it_was().clash.as_ref()
    }

    fn as_it_was(&self) -> &replay::Outcome {
        self.base.get_or_init(|| replay::Replay::new(self, None).run())
    }

    /// Whether nothing was under way, or known anew, that `change` would have left, whenever a wave came to the instruction
    /// at an address of the file; none if no wave did. Asked of the run as it was: what is not idle is not asked for more.
    pub fn is_idle(&self, offset: u64, change: Change) -> Option<bool> {
        let place = self.place(offset)?;
        let (outcome, facts) = (self.as_it_was(), &self.facts[place.0 as usize][place.1 as usize]);
        let found = outcome.found.get(&place)?;
        let left = found.is_left(&facts.waits.unwrap_or(Waits::NONE), change);
        Some(!left && outcome.clash.is_none())
    }

    /// Whether the instruction at an address of the file was needed to be more than `change` makes of it.
    pub fn without(&self, offset: u64, change: Change) -> Verdict {
        let Some(place) = self.place(offset) else { return Verdict::NotReached };
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

    fn place(&self, offset: u64) -> Option<(u32, u32)> {
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
