//! The happens-before relation between memory operations, which says on which operations of other waves a
//! wave may rely.
//!
//! The memory operations of each wave are numbered. A barrier or a release publishes the wave's operations up
//! to the last one that the wave has waited for. A wave that passes the barrier, or acquires what was
//! released, knows that these operations happened before its own later operations. What a wave knows about
//! another wave of its own group is in a [`Known`]. What it knows about waves of other groups is in a
//! [`Clock`].

use super::clock::Clock;
use super::flight::{Done, Flight};
use super::writeback::ScalarStores;

/// What a wave knows about the memory operations of another wave of its group. Each field is an operation
/// number, and makes a statement about all operations up to this number. The comment of the field is this
/// statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Accesses to LDS are complete, except those of loads to LDS and stores from LDS.
    pub(super) lds: u32,
    /// Accesses to LDS by loads to LDS and stores from LDS are complete.
    pub(super) transfers: u32,
    /// Accesses to memory are complete as seen from waves of the same group, which read through the same
    /// cache.
    pub(super) memory: u32,
    /// Accesses to memory are complete, as seen from all waves.
    pub(super) far: u32,
    /// Accesses to memory are complete, and the first-level cache through which this wave reads has no older
    /// copy of the written data.
    pub(super) fresh: u32,
    /// Operations were issued before the barrier, complete or not. This field is used only to explain a
    /// finding.
    pub(super) issued: u32,
    /// Operations were issued before an atomic that released the wave's knowledge, complete or not. This
    /// field is used only to explain a finding.
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

/// What a wave can see depends on these properties of the processor's caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caches {
    /// Whether the waves of a group may read through different L0 caches, as on GFX10 in WGP mode.
    pub(super) split_group: bool,
    /// Whether several compute units share a cache between their first-level caches and L2, such as GL1 of
    /// GFX10.
    pub(super) middle: bool,
}

/// What a wave learns about the operations of other waves by one acquire.
#[derive(Clone, Default)]
pub(super) struct Handed {
    /// Which operations of waves of other groups are complete.
    pub(super) acquired: Clock,
    /// The operations in `acquired` whose data this wave certainly sees, because no cache of this wave holds
    /// older data. See [`Order::visible`], and for the next field [`Order::middle`].
    pub(super) visible: Clock,
    pub(super) middle: Clock,
    /// What is known about the operations of waves of the same group. The list is empty, or has one element
    /// for each wave of the group.
    pub(super) local: Vec<Known>,
}

impl Handed {
    pub(super) fn is_empty(&self) -> bool {
        self.acquired.is_empty() && self.local.is_empty()
    }

    /// Adds everything that another wave of the same group knows about other waves.
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

/// An acquire whose load or atomic is in flight.
struct Pending {
    number: u32,
    /// Whether the load is from LDS.
    in_lds: bool,
    handed: Handed,
}

/// What one wave knows about the operations of other waves.
pub(super) struct Order {
    /// Number of the wave in the dispatch, counted from 1.
    pub(super) wave: u32,
    pub(super) flight: Flight,
    pub(super) local: Box<[Known]>,
    /// Which operations of waves of other groups this wave knows to be complete.
    pub(super) acquired: Clock,
    /// The operations in `acquired` whose data this wave certainly sees, because no vector cache through
    /// which its loads read can hold older data. An invalidation of the vector caches makes this field equal
    /// to `acquired`.
    pub(super) visible: Clock,
    /// The value that `acquired` had when GL1 was last invalidated. The next field, `first`, is the same for
    /// L0.
    pub(super) middle: Clock,
    first: Clock,
    /// Whether the scalar cache certainly holds no stale data. It holds none if the wave has neither stored
    /// to memory nor acquired knowledge since the cache was last invalidated.
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

    /// Returns which operations of this wave the other waves of the group may rely on after a barrier.
    pub(super) fn published(&self, caches: Caches) -> Known {
        let far = self.flight.memory_done();
        // If all waves of the group use one first-level cache, the cache handles their operations in order.
        // An operation then sees the effects of all operations that were issued before it, complete or not
        // (LLVM's AMDGPU guide, seed 000, line 3052 on). In WGP mode of GFX10, a group has two L0 caches, so
        // only complete operations are seen.
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

    /// Returns what a release by this wave tells an acquiring wave of another group: which operations are
    /// complete. `me` is this wave's index in its group, and `first` is the number of the group's first wave.
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

    /// Returns which operations this wave knows to be complete, both of waves of other groups and of waves of
    /// its own group. `first` is the number of the group's first wave.
    pub(super) fn learned(&self, first: u32) -> Clock {
        let mut clock = self.acquired.clone();
        for (at, known) in self.local.iter().enumerate() {
            clock.learn_from_mate(first + at as u32, known.far, known.memory);
        }
        clock
    }

    /// Returns what another wave of the group learns about this wave's operations by reading a value that
    /// operation `number` of this wave has written.
    pub(super) fn known_at(&self, number: u32, caches: Caches) -> Known {
        let Done { lds, memory: far, transfers } = self.flight.done_at(number);
        // One first-level cache handles the operations of a group in order, so they need not be complete. The
        // function `published` explains this.
        let memory = if caches.split_group { far } else { number };
        Known { lds, transfers, memory, far, handed: number, ..Known::default() }
    }

    /// Records what the wave learns by an acquire. `number` is the number of the load or atomic that
    /// acquires, and `handed` is the knowledge. The knowledge becomes valid only when the wave has waited for
    /// the load or atomic.
    pub(super) fn acquire(&mut self, number: u32, in_lds: bool, handed: Handed) {
        self.pending.push(Pending { number, in_lds, handed });
    }

    /// Makes the knowledge from acquires valid: adds it to what this wave knows, for each acquire whose load
    /// or atomic is complete. Returns whether there was such an acquire. Must be called after each wait.
    pub(super) fn merge_completed_acquires(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let mut merged = false;
        let mut at = 0;
        while at < self.pending.len() {
            let Pending { number, in_lds, .. } = self.pending[at];
            // A FLAT instruction is counted by two wait counters, because it may access LDS or memory. If it
            // has accessed memory, only the counter for memory shows whether it is complete.
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

    /// Records an invalidation of the GL1 cache. The sequences in LLVM's AMDGPU guide invalidate L0 first and
    /// GL1 second (seed 000, line 3325), and newer compilers invalidate GL1 first. Both orders are accepted.
    pub(super) fn invalidate_middle(&mut self) {
        self.middle = self.acquired.clone();
        self.visible.merge(&self.first);
    }
}
