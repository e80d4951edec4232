//! The happens-before relation: the operations of other waves that a wave may rely on.
//!
//! Every memory operation of a wave has a number. A barrier or a release publishes the wave's operations up
//! to the last one that the wave has waited for. A wave that has passed the barrier, or has acquired the
//! release, knows these operations. Within a group this knowledge is kept per wave ([`Known`]), between
//! groups in a [`Clock`].

use super::clock::Clock;
use super::flight::{Done, Flight};
use super::writeback::ScalarStores;

/// Knowledge of another wave of the group: for each property, the number of the last operation up to which it
/// holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Accesses to LDS are complete.
    pub(super) lds: u32,
    /// Loads to LDS, and stores from LDS, are complete.
    pub(super) transfers: u32,
    /// Accesses to memory are complete, as seen from the same group.
    pub(super) memory: u32,
    /// Accesses to memory are complete, as seen from all waves.
    pub(super) far: u32,
    /// Accesses to memory are complete, and the cache that this wave reads through has no stale copy of the
    /// written data.
    pub(super) fresh: u32,
    /// Operations were issued before the barrier, whether the wave waited for them or not. Used only for
    /// messages.
    pub(super) issued: u32,
    /// Operations were issued before an atomic that has handed its wave's knowledge on. Used only for
    /// messages.
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
    /// Whether waves of a group read through different L0 caches (GFX10 in WGP mode).
    pub(super) split_group: bool,
    /// Whether several compute units share a cache between their first-level caches and L2 (GFX10's GL1).
    pub(super) middle: bool,
}

/// The knowledge that a wave gets from other waves by an acquire.
#[derive(Clone, Default)]
pub(super) struct Handed {
    /// Knowledge of waves of other groups.
    pub(super) acquired: Clock,
    /// The parts of `acquired` for which the caches that both waves use hold no stale data: see
    /// [`Order::visible`] and [`Order::middle`].
    pub(super) visible: Clock,
    pub(super) middle: Clock,
    /// Knowledge of waves of the same group: empty, or one element per wave.
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
    /// The part of `acquired` that the wave had when the vector caches were last invalidated. The wave reads
    /// no stale copy of the data of these operations.
    pub(super) visible: Clock,
    /// The part of `acquired` that the wave had when GL1 was last invalidated (`middle`), and when L0 was
    /// (`first`).
    pub(super) middle: Clock,
    first: Clock,
    /// Whether the scalar cache holds no stale data, because the wave has neither stored nor acquired
    /// anything since the last invalidation.
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
        // One L1 cache serves the whole group, in order: an operation sees all operations that were issued
        // before it (seed 000, line 3052 on). GFX10 in WGP mode has two L0 caches.
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

    /// Returns the knowledge that a wave gets by acquiring a release made at this point. `me` is this wave's
    /// place in the group, and `first` the number of the group's first wave.
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

    /// Returns the knowledge of waves of other groups, and of complete accesses to memory by waves of the
    /// same group, which begins with wave `first`.
    pub(super) fn learned(&self, first: u32) -> Clock {
        let mut clock = self.acquired.clone();
        for (at, known) in self.local.iter().enumerate() {
            clock.learn_from_mate(first + at as u32, known.far, known.memory);
        }
        clock
    }

    /// Returns the knowledge that other waves of the group get when they see the value written by operation
    /// `number`.
    pub(super) fn known_at(&self, number: u32, caches: Caches) -> Known {
        let Done { lds, memory: far, transfers } = self.flight.done_at(number);
        // The same rule as in `published` applies.
        let memory = if caches.split_group { far } else { number };
        Known { lds, transfers, memory, far, handed: number, ..Known::default() }
    }

    /// Adds knowledge that the wave acquires when operation `number` is complete.
    pub(super) fn acquire(&mut self, number: u32, in_lds: bool, handed: Handed) {
        self.pending.push(Pending { number, in_lds, handed });
    }

    /// Takes in the knowledge of the acquires whose loads have completed. Returns whether there were any.
    /// Called after a wait.
    pub(super) fn settle(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let mut settled = false;
        let mut at = 0;
        while at < self.pending.len() {
            let Pending { number, in_lds, .. } = self.pending[at];
            // FLAT instructions also count as LDS accesses. A FLAT load that went to memory is complete when
            // its memory access is.
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
            settled = true;
        }
        self.scalar_fresh &= !settled;
        settled
    }

    /// Records that the first-level cache is invalidated.
    pub(super) fn invalidate(&mut self, caches: Caches) {
        self.first = self.acquired.clone();
        self.visible = if caches.middle { self.middle.clone() } else { self.first.clone() };
        for known in &mut self.local {
            known.fresh = known.memory;
        }
    }

    /// Records that GL1 is invalidated. The guide invalidates GL1 after L0 (seed 000, line 3325), newer
    /// compilers before L0; both orders are accepted.
    pub(super) fn invalidate_middle(&mut self) {
        self.middle = self.acquired.clone();
        self.visible.merge(&self.first);
    }
}
