//! Happens-before: what a wave may rely on.
//!
//! Every memory operation of a wave has a number. A barrier or a release publishes a wave's operations up to the last one
//! that the wave has waited for; who has passed the barrier, or acquired the release, knows them. Within a group that is
//! kept wave by wave ([`Known`]), between groups in a [`Clock`].

use super::clock::Clock;
use super::flight::{Done, Flight};
use super::writeback::ScalarStores;

/// What is known of another wave of the group: its operations up to these numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Accesses of LDS are done.
    pub(super) lds: u32,
    /// Loads to LDS and stores from it are done.
    pub(super) transfers: u32,
    /// Accesses of memory are done, as far as the group can tell.
    pub(super) memory: u32,
    /// Accesses of memory are done for everybody.
    pub(super) far: u32,
    /// Accesses of memory are done and no stale copy of what they wrote is left in the cache this wave reads through.
    pub(super) fresh: u32,
    /// Issued before the barrier, whether waited for or not: for messages.
    pub(super) issued: u32,
    /// The same of what was issued before an atomic that has handed it on.
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

/// How the processor keeps caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caches {
    /// Waves of a group read through different L0 caches (GFX10 in WGP mode).
    pub(super) split_group: bool,
    /// There is a cache for several compute units between the first one and L2 (GFX10's GL1).
    pub(super) middle: bool,
}

/// What one wave gets to know from others by an acquire.
#[derive(Clone, Default)]
pub(super) struct Handed {
    /// Of waves of other groups.
    pub(super) acquired: Clock,
    /// That part of it of which the caches that both waves use hold nothing stale: [`Order::visible`], [`Order::middle`].
    pub(super) visible: Clock,
    pub(super) middle: Clock,
    /// Of waves of the group; empty, or one for each.
    pub(super) local: Vec<Known>,
}

impl Handed {
    pub(super) fn is_empty(&self) -> bool {
        self.acquired.is_empty() && self.local.is_empty()
    }

    /// Adds what a wave of the group knows.
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
    /// The load is one of LDS.
    in_lds: bool,
    handed: Handed,
}

/// What one wave knows.
pub(super) struct Order {
    /// Its number in the dispatch, from 1 on.
    pub(super) wave: u32,
    pub(super) flight: Flight,
    pub(super) local: Box<[Known]>,
    /// Of waves of other groups.
    pub(super) acquired: Clock,
    /// That part of `acquired` after which the vector caches were invalidated.
    pub(super) visible: Clock,
    /// That part of `acquired` after which GL1 was, and after which L0 was.
    pub(super) middle: Clock,
    first: Clock,
    /// The scalar cache holds nothing that was written since.
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

    /// What a barrier tells the others of this wave.
    pub(super) fn published(&self, caches: Caches) -> Known {
        let far = self.flight.memory_done();
        // One L1 serves the whole group, in order: what was issued before is seen by what is issued after (seed 000,
        // line 3052 on). GFX10 in WGP mode has two.
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

    /// What everybody may know who acquires a release that happens now; `me` is this wave's place in the group and
    /// `first` the number of the group's first wave.
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

    /// Returns what this wave knows of waves of other groups and of complete accesses of memory by waves of its own group,
    /// which begins with wave `first`.
    pub(super) fn learned(&self, first: u32) -> Clock {
        let mut clock = self.acquired.clone();
        for (at, known) in self.local.iter().enumerate() {
            clock.learn_from_mate(first + at as u32, known.far, known.memory);
        }
        clock
    }

    /// What the others of the group may know who see what operation `number` has written.
    pub(super) fn known_at(&self, number: u32, caches: Caches) -> Known {
        let Done { lds, memory: far, transfers } = self.flight.done_at(number);
        // As in `published`.
        let memory = if caches.split_group { far } else { number };
        Known { lds, transfers, memory, far, handed: number, ..Known::default() }
    }

    /// Learns when the operation is complete.
    pub(super) fn acquire(&mut self, number: u32, in_lds: bool, handed: Handed) {
        self.pending.push(Pending { number, in_lds, handed });
    }

    /// After a wait: takes in what complete loads have acquired. Whether there was anything.
    pub(super) fn settle(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let mut settled = false;
        let mut at = 0;
        while at < self.pending.len() {
            let Pending { number, in_lds, .. } = self.pending[at];
            // FLAT instructions count as LDS accesses, too; those that went to memory are complete without that.
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

    /// The first cache is invalidated.
    pub(super) fn invalidate(&mut self, caches: Caches) {
        self.first = self.acquired.clone();
        self.visible = if caches.middle { self.middle.clone() } else { self.first.clone() };
        for known in &mut self.local {
            known.fresh = known.memory;
        }
    }

    /// GL1 is invalidated. The guide does it after L0 (seed 000, line 3325), newer compilers before: either order will do.
    pub(super) fn invalidate_middle(&mut self) {
        self.middle = self.acquired.clone();
        self.visible.merge(&self.first);
    }
}
