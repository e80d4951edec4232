//! The happens-before relation between memory operations: which operations of other waves a wave may rely on.
//!
//! The memory operations of each wave are numbered. A barrier or a release publishes the wave's operations up
//! to the last one that the wave has waited for. A wave that passes the barrier, or acquires the release,
//! knows that these operations happened before its own later operations. What a wave knows of waves of its
//! own group is kept in one [`Known`] for each wave; what it knows of other groups is kept in a [`Clock`].

use super::clock::Clock;
use super::flight::{Done, Flight};
use super::writeback::ScalarStores;

/// What a wave knows about the memory operations of another wave of its group. Each field has the number of
/// an operation: the field's statement holds for all operations up to this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Accesses to LDS are complete.
    pub(super) lds: u32,
    /// Loads to LDS, and stores from LDS, are complete.
    pub(super) transfers: u32,
    /// Accesses to memory are complete for waves of the same group, which read through the same cache.
    pub(super) memory: u32,
    /// Accesses to memory are complete, as seen from all waves.
    pub(super) far: u32,
    /// Accesses to memory are complete, and the first-level cache through which this wave reads has no older
    /// copy of the written data.
    pub(super) fresh: u32,
    /// Operations were issued before the barrier, whether complete or not. Used only to explain a finding.
    pub(super) issued: u32,
    /// Operations were issued before an atomic that released its wave's knowledge, whether complete or not.
    /// Used only to explain a finding.
    pub(super) handed: u32,
}

impl Known {
    pub(super) fn merge(&mut self, other: Known) {
        self.lds = self.lds.max(other.lds);
        self.transfers = self.transfers.max(other.transfers);
        self.memory = self.memory.max(other.memory);
        self.far = self.far.max(other.far);
        self.issued = self.issued.max(other.issued);
        self.handed = self.handed.max(other.handed);
    }
}

/// Properties of the processor's caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caches {
    /// Whether the waves of a group may read through different L0 caches, as on GFX10 in WGP mode.
    pub(super) split_group: bool,
    /// Whether there is a cache between the first-level caches and L2 that several compute units share, as
    /// GFX10's GL1.
    pub(super) middle: bool,
}

/// What a wave learns about the operations of other waves by one acquire.
#[derive(Clone, Default)]
pub(super) struct Handed {
    /// Knowledge of waves of other groups.
    pub(super) acquired: Clock,
    /// The operations of `acquired` whose data no cache used by this wave holds in an older state: see
    /// [`Order::visible`] and [`Order::middle`].
    pub(super) visible: Clock,
    pub(super) middle: Clock,
    /// Operations of waves of the same group: either empty, or one element for each wave of the group.
    pub(super) local: Vec<Known>,
}

impl Handed {
    pub(super) fn is_empty(&self) -> bool {
        self.acquired.is_empty() && self.local.is_empty()
    }

    /// Adds the knowledge of a wave of the group.
    pub(super) fn add(&mut self, theirs: &Order, caches: Caches) {
        self.acquired.merge(&theirs.acquired);
        self.middle.merge(&theirs.middle);
        if !caches.split_group {
            self.visible.merge(&theirs.visible);
        }
        self.add_local(&theirs.local);
    }

    pub(super) fn add_local(&mut self, theirs: &[Known]) {
        self.local.resize(self.local.len().max(theirs.len()), Known::default());
        self.local.iter_mut().zip(theirs).for_each(|(known, new)| known.merge(*new));
    }
}

/// An acquire whose load is in flight.
struct Pending {
    number: u32,
    /// Whether the load is from LDS.
    in_lds: bool,
    handed: Handed,
}

/// The knowledge of one wave.
pub(super) struct Order {
    /// Number of the wave in the dispatch, counted from 1.
    pub(super) wave: u32,
    pub(super) flight: Flight,
    pub(super) local: Box<[Known]>,
    /// Knowledge of waves of other groups.
    pub(super) acquired: Clock,
    /// Copy of `acquired` at the time when the vector caches were last invalidated. Loads of this wave cannot
    /// return older copies of the data that these operations wrote.
    pub(super) visible: Clock,
    /// Copies of `acquired` at the time when GL1 (`middle`) and L0 (`first`) were last invalidated.
    pub(super) middle: Clock,
    first: Clock,
    /// Whether the scalar cache certainly holds no stale data: since its last invalidation, the wave has
    /// neither stored to memory nor acquired knowledge.
    pub(super) scalar_fresh: bool,
    pending: Vec<Pending>,
    pub(super) scalar_stores: ScalarStores,
}

impl Order {
    pub(super) fn new(wave: u32, waves: usize) -> Order {
        Order {
            wave,
            flight: Flight::default(),
            local: vec![Known::default(); waves].into(),
            acquired: Clock::default(),
            visible: Clock::default(),
            middle: Clock::default(),
            first: Clock::default(),
            scalar_fresh: true,
            pending: Vec::new(),
            scalar_stores: ScalarStores::default(),
        }
    }

    /// Returns what a barrier publishes about this wave.
    pub(super) fn published(&self, caches: Caches) -> Known {
        let far = self.flight.memory_done();
        // If one L1 cache serves all waves of the group, it handles their operations in order. An operation
        // then sees all operations that were issued before it, complete or not (AMDGPU guide, seed 000, line
        // 3052 on). GFX10 in WGP mode has two L0 caches, so there only complete operations are seen.
        let memory = if caches.split_group { far } else { self.flight.issued() };
        Known {
            lds: self.flight.lds_done(),
            transfers: self.flight.transfers_done(),
            memory,
            far,
            issued: self.flight.issued(),
            ..Known::default()
        }
    }

    /// Returns the knowledge that a release by this wave hands over to a wave of another group that acquires
    /// it. `me` is this wave's index in its group, and `first` the number of the group's first wave.
    pub(super) fn released(&self, me: usize, first: u32) -> Clock {
        let mut clock = self.acquired.clone();
        clock.learn(self.wave, self.flight.memory_done());
        for (at, known) in self.local.iter().enumerate() {
            if at != me {
                clock.learn_from_mate(first + at as u32, known.far, known.memory);
            }
        }
        clock
    }

    /// Returns what this wave has learned of other waves: operations of waves of other groups, and operations
    /// of waves of its own group. `first` is the number of the group's first wave.
    pub(super) fn learned(&self, first: u32) -> Clock {
        let mut clock = self.acquired.clone();
        for (at, known) in self.local.iter().enumerate() {
            clock.learn_from_mate(first + at as u32, known.far, known.memory);
        }
        clock
    }

    /// Returns what another wave of the group learns of this wave when it reads the value that operation
    /// `number` of this wave has written.
    pub(super) fn known_at(&self, number: u32, caches: Caches) -> Known {
        let Done { lds, memory: far, transfers } = self.flight.done_at(number);
        // The same rule as in `published` applies.
        let memory = if caches.split_group { far } else { number };
        Known { lds, transfers, memory, far, handed: number, ..Known::default() }
    }

    /// Records the knowledge `handed` that the wave gets by an acquire. It becomes valid when the wave has
    /// waited for the acquiring operation, which has this number.
    pub(super) fn acquire(&mut self, number: u32, in_lds: bool, handed: Handed) {
        self.pending.push(Pending { number, in_lds, handed });
    }

    /// Merges the knowledge of all acquires whose operations have completed into this wave's knowledge.
    /// Returns whether there was such an acquire. Must be called after each wait.
    pub(super) fn merge_completed_acquires(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let mut merged = false;
        let mut at = 0;
        while at < self.pending.len() {
            let Pending { number, in_lds, .. } = self.pending[at];
            // A FLAT instruction is counted both as an LDS access and as a memory access. If it has accessed
            // memory, it is complete when its memory access is.
            let in_flight = if in_lds { self.flight.has(number) } else { self.flight.has_in_memory(number) };
            if in_flight {
                at += 1;
                continue;
            }
            let Handed { acquired, visible, middle, local } = self.pending.swap_remove(at).handed;
            self.acquired.merge(&acquired);
            self.visible.merge(&visible);
            self.middle.merge(&middle);
            self.local.iter_mut().zip(local).for_each(|(mine, theirs)| mine.merge(theirs));
            merged = true;
        }
        self.scalar_fresh &= !merged;
        merged
    }

    /// Records that the first-level cache is invalidated.
    pub(super) fn invalidate(&mut self, caches: Caches) {
        self.first = self.acquired.clone();
        self.visible = if caches.middle { self.middle.clone() } else { self.first.clone() };
        for known in &mut self.local {
            known.fresh = known.memory;
        }
    }

    /// Records that the GL1 cache is invalidated. The AMDGPU guide invalidates L0 first and GL1 second (seed
    /// 000, line 3325); newer compilers invalidate GL1 first. Both orders are accepted.
    pub(super) fn invalidate_middle(&mut self) {
        self.middle = self.acquired.clone();
        self.visible.merge(&self.first);
    }
}
