//! Computes the happens-before relation over a recorded run (a log), with one wait or invalidation changed.

use super::knowledge::{Knowledge, Marks, Way};
use super::record::{Event, Facts, Manner, Touch, What};
use super::{Change, Clash, Log};
use crate::watch::CacheOp;
use check::Class;
use check::counters::{CLASS_TABLE, CLASSES};
use check::effects::Waits;
use std::collections::HashMap;

/// A memory operation of a wave that may be incomplete.
#[derive(Clone, Copy)]
struct Pending {
    number: u32,
    class: Class,
    /// By what kind of synchronisation other waves learn that the operation is complete. `None` if no other
    /// wave makes an access that must be ordered with this operation.
    way: Option<Way>,
}

/// A load or atomic in flight. When it completes, its wave learns what other waves have released at the
/// location.
struct Acquire {
    number: u32,
    known: Knowledge,
}

#[derive(Default)]
struct Actor {
    issued: u32,
    pending: Vec<Pending>,
    known: Knowledge,
    /// What the wave knew about other waves when it last invalidated the first-level cache. The next two
    /// fields are the same for the second cache of GFX10 (GL1) and for the scalar cache.
    near: Knowledge,
    middle: Knowledge,
    scalar: Knowledge,
    acquires: Vec<Acquire>,
    at_barrier: bool,
    ended: bool,
}

/// The last access of one wave to a cell (dword), among its accesses of one manner, such as reads.
struct Entry {
    wave: u32,
    manner: Manner,
    scalar: bool,
    lds: bool,
    mask: u8,
    value: Option<u32>,
    number: u32,
    place: (u32, u32),
}

#[derive(Default)]
struct Cell {
    entries: Vec<Entry>,
    /// What the waves that wrote to this cell knew about other waves when they wrote. A wave that acquires
    /// the cell gets this knowledge.
    published: Knowledge,
}

/// The state of waves when they reached a certain wait or invalidation, summed up over all times when a wave
/// reached it.
#[derive(Default)]
pub(super) struct Found {
    /// For each class of wait counters, the maximum number of operations that were in flight.
    most: [usize; CLASSES],
    /// Whether the invalidation had an effect at least once. An invalidation has no effect if the wave has
    /// learned nothing about other waves since its previous invalidation.
    anew: bool,
}

impl Found {
    /// Returns whether the weakened instruction does less than the original one. A weakened wait does less if
    /// it leaves an operation in flight that the original wait completes. A removed invalidation does less if
    /// the original invalidation had an effect.
    pub(super) fn is_left(&self, waits: &Waits, change: Change) -> bool {
        let Change::Waits(weaker) = change else { return self.anew };
        CLASS_TABLE.iter().any(|info| {
            let completed = |waits: &Waits| match waits.0[info.counter as usize] {
                Waits::ANY => 0,
                0 => self.most[info.class as usize],
                most if info.in_order => self.most[info.class as usize].saturating_sub(most.into()),
                _ => 0,
            };
            completed(waits) > completed(&weaker)
        })
    }
}

/// The result of a replay.
#[derive(Default)]
pub(super) struct Outcome {
    /// The state that waves had at each wait or invalidation. The key is the code position.
    pub(super) found: HashMap<(u32, u32), Found>,
    pub(super) clash: Option<Clash>,
    /// Whether a wave reached the instruction that is changed.
    pub(super) reached: bool,
    /// Whether the instruction that the change weakens did less than the original one. It did less if an
    /// operation stayed in flight that the original wait completes, or if the original invalidation would
    /// have had an effect.
    pub(super) under_way: bool,
    /// Whether the weakened instruction left an operation in flight that accesses memory which another wave
    /// accesses as well.
    pub(super) shared: bool,
}

pub(super) struct Replay<'a> {
    log: &'a Log,
    change: Option<((u32, u32), Change)>,
    actors: Vec<Actor>,
    /// Numbers of the waves of each group.
    members: Vec<Vec<usize>>,
    cells: Vec<Cell>,
    outcome: Outcome,
}

/// Returns whether a wait completes the operation with index `at` in `pending`.
fn completes(pending: &[Pending], at: usize, waits: &Waits) -> bool {
    let info = pending[at].class.info();
    let most = waits.0[info.counter as usize];
    if most == Waits::ANY || most == 0 || !info.in_order {
        return most == 0;
    }
    let number = pending[at].number;
    let younger =
        pending.iter().filter(|other| other.class == pending[at].class && other.number > number).count();
    younger >= usize::from(most)
}

impl<'a> Replay<'a> {
    pub(super) fn new(log: &'a Log, change: Option<((u32, u32), Change)>) -> Replay<'a> {
        let mut members = vec![Vec::new(); log.groups];
        for (number, wave) in log.waves.iter().enumerate() {
            members[wave.group as usize].push(number);
        }
        Replay {
            log,
            change,
            actors: log.waves.iter().map(|_| Actor::default()).collect(),
            members,
            cells: log.acquired.iter().map(|_| Cell::default()).collect(),
            outcome: Outcome::default(),
        }
    }

    pub(super) fn run(mut self) -> Outcome {
        for (at, event) in self.log.events.iter().enumerate() {
            let changed = self.change.filter(|(place, _)| *place == event.place).map(|(_, change)| change);
            self.outcome.reached |= changed.is_some();
            let facts = &self.log.facts[event.place.0 as usize][event.place.1 as usize];
            match event.what {
                What::Wait => {
                    self.note(event);
                    self.wait(event.wave as usize, facts.waits.unwrap_or(Waits::NONE), changed);
                }
                What::Barrier => {
                    self.actors[event.wave as usize].at_barrier = true;
                    self.open_barrier(event.wave);
                }
                What::End => {
                    self.actors[event.wave as usize].ended = true;
                    self.open_barrier(event.wave);
                }
                What::Cache(operation) => {
                    let anew = self.cache(event.wave as usize, operation, changed);
                    self.outcome.found.entry(event.place).or_default().anew |= anew;
                }
                What::Memory => self.memory(at, event, facts),
            }
            if self.outcome.clash.is_some() {
                break;
            }
        }
        self.outcome
    }

    /// Records how many operations of each class are in flight at a wait.
    fn note(&mut self, event: &Event) {
        let mut counts = [0; CLASSES];
        for pending in &self.actors[event.wave as usize].pending {
            counts[pending.class as usize] += 1;
        }
        let found = self.outcome.found.entry(event.place).or_default();
        found.most.iter_mut().zip(counts).for_each(|(most, count)| *most = count.max(*most));
    }

    fn wait(&mut self, wave: usize, waits: Waits, changed: Option<Change>) {
        let actor = &mut self.actors[wave];
        let pending = &actor.pending;
        let now = match changed {
            Some(Change::Waits(weaker)) => {
                for at in 0..pending.len() {
                    if completes(pending, at, &waits) && !completes(pending, at, &weaker) {
                        self.outcome.under_way = true;
                        self.outcome.shared |= pending[at].way.is_some();
                    }
                }
                weaker
            }
            _ => waits,
        };
        let left: Vec<Pending> =
            (0..pending.len()).filter(|&at| !completes(pending, at, &now)).map(|at| pending[at]).collect();
        actor.pending = left;
        let (pending, known) = (&actor.pending, &mut actor.known);
        actor.acquires.retain(|acquire| {
            let in_flight = pending.iter().any(|pending| pending.number == acquire.number);
            if !in_flight {
                known.merge(&acquire.known);
            }
            in_flight
        });
    }

    /// Returns the marks of a wave, which are an operation number for each [`Way`] of synchronisation. Waves
    /// that synchronise in this way may rely on the wave's operations up to this number to be complete.
    fn marks(&self, wave: usize) -> Marks {
        let actor = &self.actors[wave];
        let done = |way: Way| {
            let open = actor.pending.iter().filter(|pending| pending.way == Some(way));
            open.map(|pending| pending.number - 1).min().unwrap_or(actor.issued)
        };
        [done(Way::Lds), actor.issued, done(Way::Far), done(Way::Scalar)]
    }

    /// Lets the waves of a group continue after the barrier, if all waves of the group have arrived or ended.
    /// A wave without any event in the log so far has not arrived.
    fn open_barrier(&mut self, wave: u32) {
        let members = &self.members[self.log.waves[wave as usize].group as usize];
        let waits = |actor: &Actor| actor.at_barrier || actor.ended;
        if !members.iter().all(|&member| waits(&self.actors[member])) {
            return;
        }
        let here: Vec<usize> =
            members.iter().copied().filter(|&member| self.actors[member].at_barrier).collect();
        let (mut known, mut near, mut middle) = Default::default();
        for &member in &here {
            let marks = self.marks(member);
            let actor = &self.actors[member];
            merge(&mut known, &actor.known);
            known.learn(member as u32, marks);
            merge(&mut near, &actor.near);
            merge(&mut middle, &actor.middle);
        }
        for member in here {
            let split = self.log.split;
            let actor = &mut self.actors[member];
            actor.at_barrier = false;
            actor.known.clone_from(&known);
            actor.middle.clone_from(&middle);
            if !split {
                actor.near.clone_from(&near);
            }
        }
    }

    /// Replays a cache invalidation. Returns whether the invalidation had an effect: it has none if the wave
    /// has learned nothing about other waves since its last invalidation.
    fn cache(&mut self, wave: usize, operation: CacheOp, changed: Option<Change>) -> bool {
        let marks = self.marks(wave);
        let actor = &mut self.actors[wave];
        let mut now = actor.known.clone();
        let old = match operation {
            CacheOp::InvalidateL1 { .. } | CacheOp::InvalidateGl0 => &mut actor.near,
            CacheOp::InvalidateGl1 => &mut actor.middle,
            CacheOp::InvalidateScalar { .. } => {
                now.learn(wave as u32, marks);
                &mut actor.scalar
            }
            _ => return false,
        };
        let anew = *old != now;
        match changed {
            Some(Change::KeepCaches) => self.outcome.under_way |= anew,
            _ => *old = now,
        }
        anew
    }

    fn memory(&mut self, at: usize, event: &Event, facts: &Facts) {
        let wave = event.wave as usize;
        let (first, last) = self.log.range(at);
        let touches = &self.log.touches[first..last];
        let actor = &mut self.actors[wave];
        actor.issued += 1;
        let number = actor.issued;
        let way = |lds: bool| {
            let touch = touches.iter().find(|touch| touch.lds == lds)?;
            Some(match (touch.lds, touch.scalar) {
                (true, _) => Way::Lds,
                (_, true) => Way::Scalar,
                _ => Way::Far,
            })
        };
        match facts.classes {
            // A flat access has two classes of wait counters, one for memory and one for LDS. Here it counts
            // only in the classes of the kinds of memory that it has accessed.
            [Some(memory), Some(lds)] => {
                if event.memory {
                    // A flat access to memory completes in order with other vector memory operations. It
                    // therefore gets their class here, although it has a class of its own (`FlatVector`)
                    // elsewhere.
                    let class = if memory == Class::FlatVector { Class::Vector } else { memory };
                    actor.pending.push(Pending { number, class, way: way(false) });
                }
                if event.lds {
                    actor.pending.push(Pending { number, class: lds, way: way(true) });
                }
            }
            [Some(class), None] => {
                actor.pending.push(Pending { number, class, way: way(false).or_else(|| way(true)) });
            }
            _ => {}
        }
        for touch in touches {
            self.touch(wave, number, event.place, touch);
        }
    }

    fn touch(&mut self, wave: usize, number: u32, place: (u32, u32), touch: &Touch) {
        let cell = &self.cells[touch.cell as usize];
        let clash =
            cell.entries.iter().find_map(|entry| self.clash(wave, touch, entry).map(|what| (what, entry)));
        if let Some((what, entry)) = clash {
            let (first, second) = (self.log.offset(entry.place), self.log.offset(place));
            self.outcome.clash = Some(Clash { first, second, what });
            return;
        }
        if touch.manner.acquires() && !cell.published.is_empty() {
            let known = cell.published.clone();
            self.actors[wave].acquires.push(Acquire { number, known });
        }
        if touch.manner.writes() && self.log.acquired[touch.cell as usize] {
            let mut marks = self.marks(wave);
            if touch.lds {
                // LDS executes the operations of a wave in order, so the wave's earlier LDS operations are
                // complete when this one is.
                marks[Way::Lds as usize] = number;
            }
            let published = &mut self.cells[touch.cell as usize].published;
            published.merge(&self.actors[wave].known);
            published.learn(wave as u32, marks);
        }
        let entries = &mut self.cells[touch.cell as usize].entries;
        let same = |entry: &&mut Entry| {
            (entry.wave, entry.manner, entry.scalar) == (wave as u32, touch.manner, touch.scalar)
        };
        match entries.iter_mut().find(same) {
            Some(entry) => {
                let agree = entry.mask == touch.mask && entry.value == touch.value;
                entry.value = entry.value.filter(|_| agree);
                entry.mask |= touch.mask;
                (entry.number, entry.place) = (number, place);
            }
            None => entries.push(Entry {
                wave: wave as u32,
                manner: touch.manner,
                scalar: touch.scalar,
                lds: touch.lds,
                mask: touch.mask,
                value: touch.value,
                number,
                place,
            }),
        }
    }

    /// Returns what is wrong if two accesses clash, and `None` if they do not. `touch` is the later access,
    /// and `entry` the earlier one.
    fn clash(&self, wave: usize, touch: &Touch, entry: &Entry) -> Option<&'static str> {
        let mask = touch.mask & entry.mask;
        if mask == 0 || !(touch.manner.writes() || entry.manner.writes()) {
            return None;
        }
        if entry.wave == wave as u32 && !(touch.scalar || entry.scalar) {
            return None;
        }
        if !self.ordered(wave, touch, entry) {
            let agree = touch.manner == Manner::Write
                && entry.manner == Manner::Write
                && Touch::agrees(mask, touch.value, entry.value);
            let fine = agree || self.synchronises(wave, touch, entry);
            return (!fine).then_some("without order");
        }
        if touch.manner == Manner::Read && !self.fresh(wave, touch, entry) {
            return Some("may be stale");
        }
        if touch.manner == Manner::SyncRead && !self.fresh_beyond(wave, touch, entry) {
            return Some("may be stale");
        }
        None
    }

    fn same_group(&self, wave: usize, other: u32) -> bool {
        self.log.waves[wave].group == self.log.waves[other as usize].group
    }

    /// Returns whether the access `touch` is ordered after the earlier access `entry`, because the wave knows
    /// that the earlier access is complete.
    fn ordered(&self, wave: usize, touch: &Touch, entry: &Entry) -> bool {
        let way = match (entry.lds, entry.scalar) {
            (true, _) => Way::Lds,
            (_, true) => Way::Scalar,
            _ => Way::Far,
        };
        if entry.wave == wave as u32 {
            return self.marks(wave)[way as usize] >= entry.number || touch.scalar && entry.scalar;
        }
        let known = &self.actors[wave].known;
        let near = way == Way::Far && !touch.scalar && !self.log.split && self.same_group(wave, entry.wave);
        known.get(entry.wave, way) >= entry.number || near && known.get(entry.wave, Way::Near) >= entry.number
    }

    /// Returns whether two accesses without order belong to the synchronisation between the waves, such as
    /// two atomics. Such accesses do not clash.
    fn synchronises(&self, wave: usize, touch: &Touch, entry: &Entry) -> bool {
        let joined = |wave: u32| {
            let entries = &self.cells[touch.cell as usize].entries;
            entries.iter().any(|entry| entry.wave == wave && entry.manner == Manner::Exchange)
        };
        match (touch.manner, entry.manner) {
            (Manner::SyncRead, _) | (_, Manner::SyncRead) => true,
            // A plain store after an atomic may be the store that releases a lock. It needs no order if its
            // wave has taken the lock with an atomic.
            (Manner::Write, other) if other.is_atomic() => joined(wave as u32),
            (other, Manner::Write) if other.is_atomic() => joined(entry.wave),
            (one, two) => one.is_atomic() && two.is_atomic(),
        }
    }

    /// Returns whether a load certainly sees the data of an earlier write. It does if no cache through which
    /// the load reads can hold an older copy.
    fn fresh(&self, wave: usize, touch: &Touch, entry: &Entry) -> bool {
        let actor = &self.actors[wave];
        let after = |known: &Knowledge| known.get(entry.wave, Way::Far) >= entry.number;
        if touch.lds {
            return true;
        }
        if touch.scalar {
            return entry.scalar || after(&actor.scalar);
        }
        match (self.log.gl1, self.same_group(wave, entry.wave)) {
            (_, true) => !self.log.split || after(&actor.near),
            (false, false) => after(&actor.near),
            (true, false) => after(&actor.near) && (touch.dlc || after(&actor.middle)),
        }
    }

    /// Returns whether a load that bypasses the first-level cache certainly sees the data of an earlier
    /// write. On GFX10, such a load may still read an old copy from the second cache (GL1).
    fn fresh_beyond(&self, wave: usize, touch: &Touch, entry: &Entry) -> bool {
        let middle = &self.actors[wave].middle;
        touch.lds
            || touch.dlc
            || !self.log.gl1
            || self.same_group(wave, entry.wave)
            || middle.get(entry.wave, Way::Far) >= entry.number
    }
}

fn merge(into: &mut Knowledge, from: &Knowledge) {
    into.merge(from);
}
