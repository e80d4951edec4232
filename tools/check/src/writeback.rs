//! Finds scalar stores whose data is not written back from the scalar cache before the wave ends.
//!
//! # Source
//! GCN3 ISA and Vega ISA, "Scalar Memory Writes": a wave that has stored must execute `S_DCACHE_WB` before it
//! ends.
//!
//! # Lattice
//! The state has, for each path, one scalar store since the last write-back. The join is the union.

use crate::effects::Kinds;
use crate::finding::{EventRule, Finding, Level, Problem, Site};
use smallvec::SmallVec;

/// Rule about a scalar store whose data stays in the scalar cache.
pub static NOT_WRITTEN_BACK: EventRule = EventRule {
    id: "scalar-store-not-written-back",
    name: "what a scalar store has written stays in the scalar cache",
    mitigation: "s_dcache_wb after the last scalar store",
    source: "GCN3 ISA, Vega ISA: Scalar Memory Writes",
    level: Level::Certain,
};

/// The scalar stores of a wave whose data may still be in the scalar cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarStores(SmallVec<[Site; 1]>);

impl ScalarStores {
    /// Updates the state for a scalar store, a write-back, or the end of the wave. Passes findings to `sink`.
    pub(crate) fn issue(&mut self, site: Site, kinds: Kinds, sink: &mut impl FnMut(Finding)) {
        if kinds.contains(Kinds::WRITE_BACK) {
            self.0.clear();
        } else if kinds.contains(Kinds::SCALAR_STORE) {
            self.0 = SmallVec::from_buf([site]);
        } else if kinds.contains(Kinds::END) {
            for &first in &self.0 {
                let problem = Problem::Event { rule: &NOT_WRITTEN_BACK };
                sink(Finding { first, second: site, registers: None, problem, is_doubtful: false });
            }
        }
    }

    /// Joins the state of another path into this state. Returns whether this state has changed.
    pub(crate) fn join(&mut self, other: &ScalarStores) -> bool {
        let before = self.0.len();
        for &site in &other.0 {
            if !self.0.contains(&site) {
                self.0.push(site);
            }
        }
        self.0.len() != before
    }
}
