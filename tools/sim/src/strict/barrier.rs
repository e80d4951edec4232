//! Barriers in divergent control flow.
//!
//! The hardware counts waves: a barrier that some lanes of a wave do not come to passes, and orders nothing for them. Lanes
//! may be missing because they have ended. What shows that they have not is that they store something afterwards, or come
//! to a barrier of their own.

use super::findings::Elsewhere;
use super::{FaultClass, Watcher};
use crate::watch::{MemAccess, Space};

/// What a wave's barriers were like.
pub(super) struct Barrier {
    /// Lanes that the wave began with.
    began: u64,
    /// Those of them that were missing at a barrier.
    missed: u64,
    /// The last one at which some were.
    place: u32,
}

impl Barrier {
    pub(super) fn new(began: u64) -> Barrier {
        Barrier { began, missed: 0, place: 0 }
    }

    /// Whether none of these lanes was missing at a barrier.
    pub(super) fn has_seen(&self, lanes: u64) -> bool {
        self.missed & lanes == 0
    }
}

impl Watcher<'_> {
    /// The wave comes to a barrier.
    pub(super) fn arrive(&mut self, exec: u64) {
        let place = self.group.now.place;
        let barrier = &mut self.wave().barrier;
        let late = barrier.missed & exec;
        if late != 0 {
            self.divergent_barrier(late.trailing_zeros(), "comes to a barrier of its own");
            return;
        }
        let missing = barrier.began & !exec;
        if missing != 0 {
            (barrier.missed, barrier.place) = (barrier.missed | missing, place);
        }
    }

    /// A lane stores something.
    #[inline]
    pub(super) fn check_barrier(&mut self, access: &MemAccess) {
        let missed = self.group.waves[self.group.now.wave].barrier.missed;
        // Registers are saved to scratch with all lanes on.
        if missed != 0 && access.lane < 64 && missed >> access.lane & 1 != 0 && access.space != Space::Scratch
        {
            self.divergent_barrier(access.lane, "goes on behind it");
        }
    }

    #[cold]
    fn divergent_barrier(&mut self, lane: u32, label: &str) {
        let me = self.group.first_wave + self.group.now.wave as u32;
        let barrier = &mut self.wave().barrier;
        barrier.missed = 0;
        let place = barrier.place;
        let message = "a barrier is reached by some work-items of a wave and not by others".to_owned();
        let mut finding = self.finding(FaultClass::Race, "divergent-barrier", message);
        finding.label = label.to_owned();
        finding.lane = Some(lane);
        let label = "was not reached by this work-item".to_owned();
        finding.other = Some(Elsewhere { place, wave: me, label });
        finding
            .notes
            .push("the barrier counts waves: it passes, and orders nothing for those who are missing".into());
        finding.fix = Some("a barrier where all work-items come by: behind the branch, not in it".into());
        self.report(finding);
    }
}
