//! Finds barriers that only some lanes of a wave reach.
//!
//! The hardware counts waves, not lanes, at a barrier. A wave passes the barrier even if some of its lanes
//! are inactive there, but the barrier then orders nothing for the inactive lanes. This is no error for a
//! lane that has ended. If an inactive lane later stores something or reaches another barrier, it has not
//! ended, and the barrier is reported.

use super::findings::Elsewhere;
use super::{FaultClass, Watcher};
use crate::watch::{MemAccess, Space};

/// What the check of barriers knows about a wave.
pub(super) struct Barrier {
    /// Lanes that were active when the wave began.
    began: u64,
    /// Lanes that were inactive at a barrier.
    missed: u64,
    /// Code position of the last barrier at which lanes were inactive.
    place: u32,
}

impl Barrier {
    pub(super) fn new(began: u64) -> Barrier {
        Barrier { began, missed: 0, place: 0 }
    }

    /// Returns whether all lanes of the mask `lanes` were active at every barrier that the wave has passed so
    /// far.
    pub(super) fn has_seen(&self, lanes: u64) -> bool {
        self.missed & lanes == 0
    }
}

impl Watcher<'_> {
    /// Called when the wave reaches a barrier with the active lanes `exec`.
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

    /// Reports an earlier barrier if the lane that now stores was inactive there.
    #[inline]
    pub(super) fn check_barrier(&mut self, access: &MemAccess) {
        let missed = self.group.waves[self.group.now.wave].barrier.missed;
        // A store to scratch does not prove that its lane is still running, so it is not reported. Code that
        // saves registers in scratch activates all lanes of the wave, also those that have ended.
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
