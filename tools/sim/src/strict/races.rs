//! Finds data races between waves, and reads that may get stale data from a cache.
//!
//! A write is recorded in the shadow cells before memory changes. A read is checked after it was executed. If
//! groups run on several host threads, this module is certain to find only the races within a group. The
//! module `meetings` then finds the dwords that several groups use, so that the run can be repeated on one
//! thread.

use super::access::{SCALAR, lane_of};
use super::cells::{LdsAtomics, LdsWrite, Stamp};
use super::clock::Clock;
use super::defined::Origin;
use super::findings::{Elsewhere, Finding, split_place};
use super::late::Excuse;
use super::order::Handed;
use super::rules::PASSED_ON;
use super::{FaultClass, Watcher};
use crate::exec::Cx;
use crate::fault::Access;
use crate::memory::Memory;
use crate::watch::{MemAccess, Space};
use check::Level;
use isa::{ModFlags, op, table};

/// Returns the addresses of the dwords that an access touches, each with the mask of the accessed bytes.
fn dwords(access: &MemAccess) -> impl Iterator<Item = (u64, u8)> {
    let (first, shift) = (access.address & !3, access.address % 4);
    let mask = ((1u32 << access.bytes) - 1) << shift;
    (0..3u64)
        .map(move |at| (first + 4 * at, (mask >> (4 * at) & 15) as u8))
        .take_while(|&(_, mask)| mask != 0)
}

/// The kind of conflict between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conflict {
    /// The current access reads data that the other wave wrote.
    ReadAfterWrite,
    WriteAfterWrite,
    WriteAfterRead,
}

impl Watcher<'_> {
    fn me(&self) -> u32 {
        self.group.first_wave + self.group.now.wave as u32
    }

    /// Returns the stamp of the current instruction's access to the bytes in `mask`. A stamp is what a shadow
    /// cell (see `cells`) records about an access.
    fn stamp(&self, mask: u8) -> Stamp {
        let order = &self.group.waves[self.group.now.wave].order;
        let transfer = self.touch.is_some_and(|touch| touch.queues.transfer);
        Stamp::new(order.wave, self.group.now.number, order.flight.memory_done(), mask).transfer(transfer)
    }

    /// Returns whether the operation with stamp `earlier` is known to have happened before the current
    /// instruction.
    pub(super) fn ordered(&self, earlier: Stamp) -> bool {
        let order = &self.group.waves[self.group.now.wave].order;
        let wave = earlier.wave();
        if wave == order.wave || order.acquired.get(wave) >= earlier.number() {
            return true;
        }
        let mate = self.shared.in_group(self.group.first_wave, wave);
        mate.and_then(|mate| order.local.get(mate)).is_some_and(|known| known.memory >= earlier.number())
    }

    /// Returns whether the current wave's loads see the data that operation `earlier` wrote. They do if no
    /// cache through which the wave reads can hold an older copy.
    fn visible(&self, earlier: Stamp) -> bool {
        let order = &self.group.waves[self.group.now.wave].order;
        match self.shared.in_group(self.group.first_wave, earlier.wave()) {
            Some(mate) if self.shared.caches.split_group => {
                order.local.get(mate).is_some_and(|known| known.fresh >= earlier.number())
                    || order.visible.get(earlier.wave()) >= earlier.number()
            }
            Some(_) => true,
            None => order.visible.get(earlier.wave()) >= earlier.number(),
        }
    }

    /// Returns whether the load at code position `place` acquires what another wave of the same group has
    /// released with the loaded data. It does if it is marked as atomic or is used like an atomic load (see
    /// `polls`). `of_atomics` says whether atomics access the same dword.
    fn loads_atomically(&self, place: u32, of_atomics: bool) -> bool {
        let looks = || self.shared.load_use(place);
        self.shared.marks.has(place)
            || looks().polls
            || of_atomics && !self.shared.marks.is_complete() && looks().decides
    }

    /// Returns whether `write` is an atomic on which a waiting loop depends: its result decides when a loop
    /// ends that waits for another wave. `place` is the code position of `write`.
    fn polled(&self, write: Stamp, place: u32) -> bool {
        write.is_sync() && write.is_atomic() && self.shared.load_use(place).polls
    }

    /// Returns whether the wave that made the access `stamp` belongs to the same group as this wave.
    fn is_mate(&self, stamp: Stamp) -> bool {
        self.shared.in_group(self.group.first_wave, stamp.wave()).is_some()
    }

    /// Returns whether this wave has executed an atomic at this address that returns the old value. If it
    /// has, its loads and stores at the address may be atomic, too.
    fn takes_part(&self, address: u64) -> bool {
        self.shared.has_joined(address, self.me())
    }

    pub(super) fn global_write(&mut self, memory: &Memory, access: &MemAccess, value: u32) {
        if !self.shared.races {
            return;
        }
        if access.lane == SCALAR {
            return self.scalar_write(memory, access);
        }
        let shared = self.shared;
        self.note_lane(access, value);
        let mut checked = false;
        // Whether memory already holds the value that the store writes. The store then has no effect on other
        // waves, so it is not a race.
        let is_same = || {
            let found = memory.find(access.address, access.bytes.into());
            found
                .is_some_and(|(buffer, offset)| buffer.load(offset, access.bytes) == low(value, access.bytes))
        };
        for (address, mask) in dwords(access) {
            let Some(cell) = shared.cells.at(memory, address) else { continue };
            let (write, write_place) = cell.last_write();
            let reads = [cell.last_read(), cell.other_read()];
            let earlier = cell.write_lane();
            if write.mask() & mask != 0 && !self.follows_lane(write, earlier, access.lane) && !is_same() {
                self.report_sides(access, write, write_place, earlier);
            }
            let conflicts =
                |stamp: Stamp| !stamp.is_none() && stamp.mask() & mask != 0 && !self.ordered(stamp);
            let sync = write.is_sync();
            let mut found = None;
            if conflicts(write) {
                // Whether both stores are atomic, so that they do not conflict. A store that releases a lock
                // counts as atomic. The second store is taken for such a store if its wave has taken the lock
                // with an atomic.
                let both =
                    self.wrote_atomically(write, write_place) && self.stores_atomically(access, address);
                let awaited = self.is_mate(write) && self.polled(write, write_place);
                if !both && !awaited {
                    found = Some((Conflict::WriteAfterWrite, write, write_place));
                }
            }
            let plain = reads.into_iter().find(|&(read, place)| {
                let atomic = || read.is_atomic() || self.is_mate(read) && self.loads_atomically(place, sync);
                conflicts(read) && !atomic()
            });
            found = found.or(plain.map(|(read, place)| (Conflict::WriteAfterRead, read, place)));
            if let (Some((conflict, stamp, place)), false) = (found, checked) {
                checked = true;
                if !is_same() {
                    let excuse = (conflict == Conflict::WriteAfterWrite).then_some(Excuse::Watched);
                    self.report_conflict(access, conflict, stamp, place, excuse);
                }
            }
            if sync {
                let order = &self.group.waves[self.group.now.wave].order;
                let clock = order.released(self.group.now.wave, self.group.first_wave);
                shared.release(address, &clock, order.wave, self.group.now.number);
                self.change(Space::Global, address);
            }
            let stamp = self.stamp(mask).sync(sync).atomic(access.flags.contains(ModFlags::GLC));
            cell.set_write(stamp, self.group.now.place, access.lane);
        }
        self.group.waves[self.group.now.wave].order.scalar_fresh = false;
    }

    /// Records that the atomic which has just run has changed memory, if it has.
    pub(super) fn note_change(&mut self, cx: &Cx<'_>) {
        let Some((space, address, _)) = cx.wave.changed.filter(|_| cx.wave.changes != self.group.now.changes)
        else {
            return;
        };
        self.change(space, address);
    }

    /// Records which instruction and wave changed a location that atomics use, so that a report of a deadlock
    /// can name the change.
    fn change(&mut self, space: Space, address: u64) {
        let change = (self.group.now.place, self.me());
        match space {
            Space::Lds => drop(self.group.lds_changes.insert(address & !3, change)),
            _ => self.shared.change(address, change),
        }
    }

    fn wrote_atomically(&self, write: Stamp, place: u32) -> bool {
        write.is_atomic() || write.is_sync() || self.shared.marks.has(place)
    }

    /// Returns whether the current store is certainly or probably atomic. It is probably atomic if this wave
    /// has also executed an atomic on the location.
    fn stores_atomically(&self, access: &MemAccess, address: u64) -> bool {
        access.flags.contains(ModFlags::GLC)
            || self.shared.marks.has(self.group.now.place)
            || self.takes_part(address)
    }

    /// Records a scalar store in the shadow cells. Its data stays in the scalar cache until the cache is
    /// written back, so other waves do not see the data yet.
    fn scalar_write(&mut self, memory: &Memory, access: &MemAccess) {
        for (address, mask) in dwords(access) {
            if let Some(cell) = self.shared.cells.at(memory, address) {
                let stamp = self.stamp(mask);
                let (wave, number, place) = (stamp.wave(), stamp.number(), self.group.now.place);
                cell.set_write(Stamp::new(wave, number, number, mask), place, SCALAR);
                self.wave().order.scalar_stores.issue(number, place);
            }
        }
    }

    /// Records that an atomic releases at a location: adds what this wave knows to what is released there.
    pub(super) fn global_atomic(&mut self, memory: &Memory, access: &MemAccess) {
        if !self.shared.races {
            return;
        }
        let shared = self.shared;
        for (address, mask) in dwords(access) {
            let Some(cell) = shared.cells.at(memory, address) else { continue };
            let ((write, _), (read, place)) = (cell.last_write(), cell.last_read());
            let mate = shared.in_group(self.group.first_wave, read.wave()).is_some();
            let plain = !read.is_none() && read.mask() & mask != 0 && !read.is_atomic();
            if plain && !mate && !self.ordered(read) && !shared.has_joined(address, read.wave()) {
                let excuse = Some(Excuse::Joined(read.wave()));
                self.report_conflict(access, Conflict::WriteAfterRead, read, place, excuse);
            }
            if !write.is_none() && !write.is_sync() && write.wave() != self.me() {
                // The last write to the location was a plain store by another wave. The next atomic on the
                // location acquires what this other wave knew when it stored, so this knowledge is added to
                // what is released there.
                let mut clock = Clock::default();
                clock.learn(write.wave(), write.released());
                shared.learned_by(write.wave(), &mut clock);
                shared.release(address, &clock, write.wave(), write.number());
            }
            let order = &self.group.waves[self.group.now.wave].order;
            let clock = order.released(self.group.now.wave, self.group.first_wave);
            shared.release(address, &clock, order.wave, self.group.now.number);
            if self.touch.is_some_and(|touch| touch.returns) {
                shared.join(address, self.me());
            }
            // The lanes of one atomic instruction are ordered with each other. The record therefore names no
            // lane.
            cell.set_write(self.stamp(mask).sync(true).atomic(true), self.group.now.place, SCALAR);
        }
    }

    /// Checks the reads of the instruction that has just run.
    pub(super) fn order_reads(&mut self, memory: &Memory) {
        let mut reads = std::mem::take(&mut self.group.now.reads);
        for access in reads.drain(..) {
            match access.space {
                Space::Lds => self.lds_read(&access),
                _ if self.shared.races => self.global_read(memory, &access),
                _ => {}
            }
        }
        self.group.now.reads = reads;
        self.enter_loads(memory);
    }

    pub(super) fn global_read(&mut self, memory: &Memory, access: &MemAccess) {
        let shared = self.shared;
        let atomic = access.kind == Access::Atomic;
        let glc = atomic || access.flags.contains(ModFlags::GLC);
        for (address, mask) in dwords(access) {
            let Some(cell) = shared.cells.at(memory, address) else { continue };
            if glc && !atomic && access.lane != SCALAR {
                shared.watch(address);
            }
            let (write, place) = cell.last_write();
            if mask == 15 && !glc && write.is_none() {
                let stamp = self.group.now.stamp;
                let several = self.reads_by_several(access, cell.last_read().0, stamp);
                cell.set_read(stamp.by_several(several), self.group.now.place);
                continue;
            }
            if !write.is_none() && write.mask() & mask != 0 {
                if !self.is_written_back(write, place, access.lane == SCALAR) {
                    self.report_unwritten(access, write, place);
                } else if access.lane == SCALAR {
                    self.scalar_read(access, write, place);
                } else if atomic {
                    self.acquire(address, write);
                } else if write.wave() != self.me() {
                    self.read_of_other(access, address, write, place, glc);
                } else if write.is_sync() && (glc || self.shared.marks.has(self.group.now.place)) {
                    // The last write to the location was an atomic of this wave itself. Other waves may have
                    // released at the location before, and this load acquires what they have released.
                    self.acquire(address, write);
                }
            }
            if !atomic {
                let stamp = self.stamp(mask).atomic(glc);
                let several = self.reads_by_several(access, cell.last_read().0, stamp);
                cell.set_read(stamp.by_several(several), self.group.now.place);
            }
        }
    }

    /// Returns whether several lanes of the current load read the same location. `last` is the stamp of the
    /// last read of the location. `stamp` is the stamp of the current load.
    fn reads_by_several(&self, access: &MemAccess, last: Stamp, stamp: Stamp) -> bool {
        last.same_operation(stamp) || access.lane == SCALAR && self.group.now.exec.count_ones() > 1
    }

    fn read_of_other(&mut self, access: &MemAccess, address: u64, write: Stamp, place: u32, glc: bool) {
        let (mate, here) = (self.is_mate(write), self.group.now.place);
        let takes_part = || mate && write.is_sync() && self.takes_part(address);
        if glc || mate && self.shared.marks.has(here) || takes_part() {
            self.acquire(address, write);
        } else if !self.ordered(write) {
            if mate && self.loads_atomically(here, write.is_sync()) {
                return self.acquire(address, write);
            }
            let excuse = write.is_sync().then(|| Excuse::Joined(self.me()));
            self.report_conflict(access, Conflict::ReadAfterWrite, write, place, excuse);
        } else if !self.visible(write) {
            self.report_stale(access, write, place);
        }
    }

    /// Acquires what was released at an address. Also acquires what the wave that wrote the location last
    /// knows: which operations of other waves are complete. The current wave may rely on this knowledge as
    /// soon as the current load is complete.
    fn acquire(&mut self, address: u64, write: Stamp) {
        let (mut clock, mut last) = (Clock::default(), Clock::default());
        if write.is_sync() {
            (clock, last) = self.shared.released(address);
        }
        if write.wave() != self.me() && !write.is_none() {
            clock.learn(write.wave(), write.released());
            self.shared.learned_by(write.wave(), &mut clock);
            last.learn(write.wave(), write.number());
        }
        let mut handed = Handed { acquired: clock, ..Handed::default() };
        let first = self.group.first_wave;
        for &(wave, number) in last.range(first, self.group.waves.len() as u32) {
            self.hand_over((wave - first) as usize, number, None, &mut handed);
        }
        if !handed.is_empty() {
            let number = self.group.now.number;
            self.wave().order.acquire(number, false, handed);
        }
    }

    /// Adds to `handed` what the current wave learns about `mate`, a wave of the same group, by reading what
    /// operation `number` of this wave has written. If `in_lds` is an operation number, all LDS accesses of
    /// `mate` up to this operation are known to be complete as well.
    fn hand_over(&self, mate: usize, number: u32, in_lds: Option<u32>, handed: &mut Handed) {
        if mate == self.group.now.wave {
            return;
        }
        let theirs = &self.group.waves[mate].order;
        handed.add(theirs, self.shared.caches);
        let mut known = theirs.known_at(number, self.shared.caches);
        known.lds = in_lds.unwrap_or(known.lds);
        handed.local[mate].merge(known);
    }

    /// Checks a scalar load against the last write to its address. Scalar loads read through the scalar
    /// cache, which vector stores do not update.
    fn scalar_read(&mut self, access: &MemAccess, write: Stamp, place: u32) {
        let ordered = self.ordered(write);
        let own = write.wave() == self.me();
        let order = &self.group.waves[self.group.now.wave].order;
        let complete = !own || order.flight.memory_done() >= write.number();
        if own && write.released() == 0 && write.number() != 0 && !self.is_vector_store(place) {
            return;
        }
        // This scalar load may be the first load of a compare-and-swap loop. Such a load may read an old
        // value, so the finding is dropped if the wave later executes an atomic on the location.
        let excuse = write.is_sync().then(|| Excuse::Joined(self.me()));
        if !ordered || !complete {
            return self.report_conflict(access, Conflict::ReadAfterWrite, write, place, excuse);
        }
        if !order.scalar_fresh {
            let message = format!("a scalar load reads {} after a vector store", self.address_text(access));
            let mut finding = self.finding(FaultClass::Race, "stale-scalar-cache", message);
            finding.label = "may be served from the scalar cache, which is not coherent".into();
            finding.other = Some(self.elsewhere(write, place, "wrote it"));
            finding.fix = Some("`s_dcache_inv` between the two, after a wait for the store".into());
            self.report_unless(excuse, access, finding);
        }
    }

    fn is_vector_store(&self, place: u32) -> bool {
        let (range, pc) = split_place(place);
        !self.shared.touch(range, pc).reads.as_slice().is_empty()
    }

    pub(super) fn elsewhere(&self, stamp: Stamp, place: u32, label: &str) -> Elsewhere {
        Elsewhere { place, wave: stamp.wave(), label: label.to_owned() }
    }

    pub(super) fn address_text(&self, access: &MemAccess) -> String {
        match access.space {
            Space::Lds => format!("LDS address {:#x}", access.address),
            _ => match self.shared.names.describe(access.address, access.bytes) {
                Some(element) => element,
                None => format!("address {:#x}", access.address),
            },
        }
    }

    #[cold]
    fn report_conflict(
        &mut self,
        access: &MemAccess,
        conflict: Conflict,
        earlier: Stamp,
        place: u32,
        excuse: Option<Excuse>,
    ) {
        if earlier.wave() == self.me() {
            return self.report_transfer(access, conflict == Conflict::ReadAfterWrite, earlier, place);
        }
        let passed_on = access.space != Space::Lds && self.is_passed_on(earlier);
        if passed_on && Level::Manual < self.shared.level {
            return;
        }
        let (rule, verb, before) = match conflict {
            Conflict::ReadAfterWrite => ("race-read-after-write", "reads it", "wrote it"),
            Conflict::WriteAfterWrite => ("race-write-after-write", "writes it", "wrote another value"),
            Conflict::WriteAfterRead => ("race-write-after-read", "writes it", "read it"),
        };
        let place_name = if access.space == Space::Lds { "LDS" } else { "global memory" };
        let message = format!(
            "two waves access {} in {place_name} without order",
            self.address_text(access).replace("LDS ", "")
        );
        let mut finding = self.finding(FaultClass::Race, rule, message);
        finding.label = verb.into();
        finding.lane = lane_of(access);
        finding.other = Some(self.elsewhere(earlier, place, before));
        match passed_on {
            true => self.explain_passing_on(&mut finding, earlier),
            false => self.explain_order(&mut finding, access.space, earlier),
        }
        self.report_unless(excuse, access, finding);
    }

    /// Reports a finding at once if `excuse` is `None`. Otherwise keeps it until the end of the dispatch, and
    /// drops it if the event `excuse` happens.
    pub(super) fn report_unless(&mut self, excuse: Option<Excuse>, access: &MemAccess, finding: Finding) {
        match excuse {
            Some(excuse) => {
                let is_lds = access.space == Space::Lds;
                self.group.lds_waits |= is_lds;
                let address = access.address | if is_lds { LDS_PLACES } else { 0 };
                self.shared.wait_for(excuse, address, finding, self.group.first_wave);
            }
            None => self.report(finding),
        }
    }

    /// Returns whether this wave knows of the access `earlier` only through a third wave. The third wave is
    /// in the same group as the wave that made the access; it has learned of the access and passed its
    /// knowledge on.
    fn is_passed_on(&self, earlier: Stamp) -> bool {
        let order = &self.group.waves[self.group.now.wave].order;
        !self.is_mate(earlier) && order.acquired.passed_on(earlier.wave()) >= earlier.number()
    }

    /// Adds a note that explains a finding about an access that was passed on too early. Another wave of the
    /// access's group had learned of the access and told this wave of it, but the access was still in flight.
    fn explain_passing_on(&self, finding: &mut Finding, earlier: Stamp) {
        let (_, wave) = self.shared.group_and_place(earlier.wave() - 1);
        finding.rule = PASSED_ON.into();
        finding.level = Level::Manual;
        finding.notes.extend([
            format!(
                "wave {wave} told its group, by LDS or a barrier, while the first access was in flight; another wave of the group \
                 told the rest of the device"
            ),
            "a wait of that other wave counts its own operations alone, so the first access may still be in flight".into(),
        ]);
        let wait = self.wait_for_memory();
        finding.fix = Some(format!(
            "{wait} in wave {wave}, after the first access and before wave {wave} tells its group"
        ));
    }

    /// Returns, for the fix that a report proposes, the text of the wait instructions that wait for all
    /// vector memory operations.
    fn wait_for_memory(&self) -> &'static str {
        match self.shared.target.max_vscnt {
            0 => "`s_waitcnt vmcnt(0)`",
            _ => "`s_waitcnt vmcnt(0)` and `s_waitcnt_vscnt null, 0x0`",
        }
    }

    /// Adds notes to a finding that explain why the two accesses are not ordered, and a fix that would order
    /// them.
    fn explain_order(&self, finding: &mut Finding, space: Space, earlier: Stamp) {
        let order = &self.group.waves[self.group.now.wave].order;
        let mate = self.shared.in_group(self.group.first_wave, earlier.wave());
        let known = mate.and_then(|mate| order.local.get(mate));
        let wait = match space {
            Space::Lds if earlier.is_transfer() => "`s_waitcnt vmcnt(0)`",
            Space::Lds => "`s_waitcnt lgkmcnt(0)`",
            _ => self.wait_for_memory(),
        };
        let handed_too_early = |finding: &mut Finding| {
            let why =
                "an atomic has ordered the waves, but the first access was still in flight at the release";
            finding.notes.push(why.into());
            finding.fix = Some(format!("{wait} in the first wave, before its store or atomic that releases"));
        };
        match known {
            Some(known) if known.issued >= earlier.number() => {
                finding.notes.push(
                    "there is a barrier between the two, but the first was still in flight when its wave arrived there"
                        .into(),
                );
                finding.fix = Some(format!("{wait} before the `s_barrier`"));
            }
            Some(known) if known.handed >= earlier.number() => handed_too_early(finding),
            Some(_) => {
                finding.notes.push("both waves are of one group, and no barrier is between the two".into());
                finding.fix = Some("`s_barrier` between the two, with a wait before it".into());
            }
            None if order.acquired.get(earlier.wave()) != 0 => handed_too_early(finding),
            None => {
                finding.notes.push("the waves are of different groups, and nothing has ordered them".into());
                finding.fix = Some("a release by the first and an acquire by the second wave".into());
            }
        }
        finding.notes.push(format!("in flight here: {}", order.flight.state()));
    }

    #[cold]
    fn report_stale(&mut self, access: &MemAccess, write: Stamp, place: u32) {
        let order = &self.group.waves[self.group.now.wave].order;
        let at_barrier = self.shared.at_barrier(write);
        let target = self.shared.target;
        let has_gl1 = target.arch.emulation.caches.gl1;
        let (cache, fix) = match table::available(op::BUFFER_WBINVL1_VOL, target) {
            _ if has_gl1 && at_barrier => ("L0", "`buffer_gl0_inv` after the barrier"),
            _ if has_gl1 && self.is_mate(write) => ("L0", "`buffer_gl0_inv` after the load that acquires"),
            _ if has_gl1 => {
                ("L0 or L1", "`buffer_gl1_inv` and `buffer_gl0_inv` after the load that acquires")
            }
            true => ("L1", "`buffer_wbinvl1_vol` after the load that acquires"),
            false => ("L1", "`buffer_wbinvl1` after the load that acquires"),
        };
        let message = format!(
            "a load of {} may find a stale copy in the {cache} cache: no invalidation since the write became known",
            self.address_text(access)
        );
        let mut finding = self.finding(FaultClass::Race, "stale-vector-cache", message);
        finding.label = "may read the older value".into();
        finding.lane = lane_of(access);
        finding.other = Some(self.elsewhere(write, place, "wrote it"));
        finding.notes.push(format!("in flight here: {}", order.flight.state()));
        finding.fix = Some(format!("{fix}, and a wait for that load before it"));
        self.report(finding);
    }
}

/// Bit that marks the address of an LDS location in a table that also has addresses of memory. The LDS
/// addresses of different groups cannot be confused, because each entry of the table also has the number of a
/// wave, and a wave belongs to one group.
const LDS_PLACES: u64 = 1 << 63;

/// Race checks for LDS. They are simpler than those for memory, because LDS belongs to one work-group and has
/// no caches.
impl Watcher<'_> {
    /// Returns whether this wave has executed an atomic on this dword of LDS that returns the old value. If
    /// it has, its loads and stores of the dword may be atomic, too.
    fn takes_part_lds(&self, word: usize) -> bool {
        let atomics = self.group.lds_atomics.get(word);
        atomics.is_some_and(|atomics| atomics.joined >> (self.group.now.wave & 63) & 1 != 0)
    }

    pub(super) fn lds_write(&mut self, access: &MemAccess, value: u32) {
        self.note_lane(access, value);
        for (address, mask) in dwords(access) {
            let word = (address / 4) as usize;
            let (Some(&cell), Some(&last)) = (self.group.lds.get(word), self.group.lds_writes.get(word))
            else {
                continue;
            };
            let conflicts =
                |stamp: Stamp| !stamp.is_none() && stamp.mask() & mask != 0 && !self.lds_ordered(stamp);
            let sync = cell.write.is_sync();
            let placed =
                if address == access.address & !3 { value << (access.address % 4 * 8) } else { value };
            let bytes = (0..4)
                .fold(0, |bits, byte| bits | if mask >> byte & 1 != 0 { 0xff << (8 * byte) } else { 0 });
            let same = cell.write.mask() & mask == mask && (last.value ^ placed) & bytes == 0;
            let places = (last.place, self.group.now.place);
            let marked = |place| self.shared.marks.has(place);
            let lets_go = sync && self.takes_part_lds(word)
                || (sync || marked(places.0)) && marked(places.1)
                || self.polled(cell.write, places.0);
            let found = if conflicts(cell.write) && (!same || cell.write.is_atomic()) && !lets_go {
                Some((Conflict::WriteAfterWrite, cell.write, places.0))
            } else {
                let plain =
                    |&(read, place): &(Stamp, u32)| conflicts(read) && !self.loads_atomically(place, sync);
                let read = cell.reads().into_iter().find(plain).filter(|_| !same);
                read.map(|(read, place)| (Conflict::WriteAfterRead, read, place))
            };
            let is_apart = !same && cell.write.mask() & mask != 0;
            if is_apart && !self.follows_lane(cell.write, last.lane, access.lane) {
                self.report_sides(access, cell.write, last.place, last.lane);
            }
            if let (Some((conflict, stamp, place)), false) = (found, sync && self.takes_part_lds(word)) {
                self.report_conflict(access, conflict, stamp, place, None);
            }
            if sync {
                self.release_lds(word);
                self.change(Space::Lds, address);
            }
            let (stamp, place) = (self.stamp(mask).sync(sync), self.group.now.place);
            self.group.lds[word].write = stamp;
            let value = last.value & !bytes | placed & bytes;
            self.group.lds_writes[word] = LdsWrite { place, lane: access.lane, value };
        }
    }

    fn release_lds(&mut self, word: usize) {
        let me = self.group.now.wave;
        let order = &self.group.waves[me].order;
        let mut known = order.published(self.shared.caches);
        // LDS executes the operations of a wave in order. When the release in LDS is complete, all LDS
        // operations that this wave has issued before are therefore complete as well.
        known.lds = known.issued;
        (known.handed, known.issued) = (known.issued, 0);
        let handed = self.group.lds_releases[word].get_or_insert_default();
        handed.add(order, self.shared.caches);
        handed.local[me].merge(known);
    }

    /// Prepares an atomic on a dword of LDS whose last write was a plain store. Adds the knowledge of the
    /// wave that stored to what is released at the dword, so that the atomic acquires it.
    fn publish_store_lds(&mut self, word: usize, write: Stamp) {
        if let Some(mate) = self.shared.in_group(self.group.first_wave, write.wave())
            && !write.is_sync()
        {
            let mut handed = self.group.lds_releases[word].take().unwrap_or_default();
            self.hand_over(mate, write.number(), Some(write.number()), &mut handed);
            self.group.lds_releases[word] = Some(handed);
        }
    }

    pub(super) fn lds_atomic(&mut self, access: &MemAccess) {
        for (address, mask) in dwords(access) {
            let word = (address / 4) as usize;
            let Some(&cell) = self.group.lds.get(word) else { continue };
            let (last, mut atomics) = (self.group.lds_writes[word], self.group.lds_atomics[word]);
            if !cell.write.is_sync() {
                (atomics.plain, atomics.plain_place) = (cell.write, last.place);
            }
            let LdsAtomics { plain, plain_place, .. } = atomics;
            let conflicts =
                |stamp: Stamp| !stamp.is_none() && stamp.mask() & mask != 0 && !self.lds_ordered(stamp);
            let awaits =
                || self.shared.marks.has(plain_place) || self.shared.load_use(self.group.now.place).polls;
            if conflicts(plain) && !awaits() {
                self.report_conflict(access, Conflict::WriteAfterWrite, plain, plain_place, None);
            } else if conflicts(cell.read)
                && !self.has_joined_lds(&atomics, cell.read)
                && !self.loads_atomically(cell.read_place, true)
            {
                let excuse = Some(Excuse::Joined(cell.read.wave()));
                self.report_conflict(access, Conflict::WriteAfterRead, cell.read, cell.read_place, excuse);
            }
            self.publish_store_lds(word, cell.write);
            self.release_lds(word);
            let (stamp, place) = (self.stamp(mask).sync(true).atomic(true), self.group.now.place);
            self.group.lds[word].write = stamp;
            self.group.lds_writes[word] = LdsWrite { place, lane: SCALAR, ..last };
            let returns = self.touch.is_some_and(|touch| touch.returns);
            atomics.joined |= u64::from(returns) << (self.group.now.wave & 63);
            self.group.lds_atomics[word] = atomics;
            if returns && self.group.lds_waits {
                self.shared.join(LDS_PLACES | address, self.me());
            }
        }
    }

    /// Returns whether the wave of access `stamp` has executed an atomic on this dword of LDS that returns
    /// the old value. If it has, its loads and stores of the dword may be atomic, too.
    fn has_joined_lds(&self, atomics: &LdsAtomics, stamp: Stamp) -> bool {
        let mate = self.shared.in_group(self.group.first_wave, stamp.wave());
        mate.is_some_and(|mate| atomics.joined >> (mate & 63) & 1 != 0)
    }

    /// Fast path for a read from LDS. Records the read of an aligned dword, if the last write to the dword is
    /// known to have happened before. Returns whether it has recorded the read. If it has not, it has changed
    /// nothing.
    #[inline]
    pub(super) fn read_whole_lds(&mut self, access: &MemAccess) -> bool {
        let aligned = access.space == Space::Lds && access.bytes == 4 && access.address.is_multiple_of(4);
        if !aligned || access.lane == SCALAR || self.shared.target.arch.addressing.lds_needs_m0 {
            return false;
        }
        let Some(bits) = self.read_lds_word((access.address / 4) as usize) else { return false };
        let now = &mut self.group.now;
        let cursor = &mut now.cursor[access.lane as usize & 63];
        if bits != 0 {
            now.loaded.push((access.lane as u8, *cursor, 4, bits, Origin::Load(now.place)));
        }
        *cursor += 4;
        true
    }

    fn lds_read(&mut self, access: &MemAccess) {
        let atomic = access.kind == Access::Atomic;
        for (address, mask) in dwords(access) {
            let word = (address / 4) as usize;
            let Some(&cell) = self.group.lds.get(word) else { continue };
            let write = cell.write;
            let here = self.group.now.place;
            if atomic || write.is_sync() && (self.takes_part_lds(word) || self.shared.marks.has(here)) {
                self.acquire_lds(word);
            } else if !write.is_none() && write.mask() & mask != 0 && !self.lds_ordered(write) {
                match self.loads_atomically(here, write.is_sync()) {
                    true if write.is_sync() => self.acquire_lds(word),
                    true => self.acquire_store_lds(write),
                    false => {
                        let excuse = write.is_sync().then(|| Excuse::Joined(self.me()));
                        let conflict = Conflict::ReadAfterWrite;
                        let place = self.group.lds_writes[word].place;
                        self.report_conflict(access, conflict, write, place, excuse);
                    }
                }
            }
            if !atomic {
                let (stamp, place) = (self.stamp(mask), self.group.now.place);
                let several = cell.read.same_operation(stamp);
                self.group.lds[word].set_read(stamp.by_several(several), place);
            }
        }
    }

    fn acquire_lds(&mut self, word: usize) {
        let number = self.group.now.number;
        if let Some(handed) = self.group.lds_releases.get(word).cloned().flatten() {
            self.wave().order.acquire(number, true, *handed);
        }
    }

    /// Acquires what another wave of the group knew when it stored to LDS, for a load that waits for this
    /// store. As LDS executes the operations of a wave in order, all earlier LDS operations of the storing
    /// wave are also complete.
    fn acquire_store_lds(&mut self, write: Stamp) {
        let Some(mate) = self.shared.in_group(self.group.first_wave, write.wave()) else { return };
        let mut handed = Handed::default();
        self.hand_over(mate, write.number(), Some(write.number()), &mut handed);
        let number = self.group.now.number;
        self.wave().order.acquire(number, true, handed);
    }

    /// Tells each wave of the group what the other waves know about complete operations, as a barrier does.
    /// Called when all waves that have not ended have reached the barrier.
    pub(crate) fn pass_barrier(&mut self) {
        let caches = self.shared.caches;
        let published: Vec<_> = self.group.waves.iter().map(|wave| wave.order.published(caches)).collect();
        let (mut acquired, mut visible, mut middle) = (Clock::default(), Clock::default(), Clock::default());
        for wave in &self.group.waves {
            acquired.merge(&wave.order.acquired);
            visible.merge(&wave.order.visible);
            middle.merge(&wave.order.middle);
        }
        for (me, wave) in self.group.waves.iter_mut().enumerate() {
            let order = &mut wave.order;
            for (at, known) in published.iter().enumerate().filter(|&(at, _)| at != me) {
                order.local[at].merge(*known);
            }
            order.scalar_fresh = false;
            self.shared.publish_barrier(order.wave, published[me].far, published[me].memory);
            if acquired.is_empty() {
                continue;
            }
            order.acquired = acquired.clone();
            order.middle = middle.clone();
            if !caches.split_group {
                order.visible = visible.clone();
            }
            self.shared.publish_far(order.wave, acquired.clone());
        }
    }
}

fn low(value: u32, bytes: u32) -> u32 {
    if bytes >= 4 { value } else { value & ((1 << (bytes * 8)) - 1) }
}
