//! The state of strict mode that all work-groups of a dispatch share, and the shadow state with which a
//! work-group starts.

use super::barrier::Barrier;
use super::calls::{Link, Rules};
use super::cells::{Cells, LdsAtomics, LdsCell, LdsWrite, MAX_WAVES, Stamp};
use super::clock::Clock;
use super::defined::Defined;
use super::lanes::Together;
use super::late::Waiting;
use super::marks::Marks;
use super::meetings::Meetings;
use super::order::{Caches, Order};
use super::polls::LoadUse;
use super::reading::Reading;
use super::restricts::{Labels, Restricts};
use super::scramble::Scramble;
use super::touch::Touch;
use super::{Change, GroupShadow, Now, WaveShadow};
use crate::fault::Location;
use crate::functions::Functions;
use crate::launch::{Launch, POISON};
use crate::memory::Memory;
use crate::names::Names;
use crate::op::Code;
use crate::watch::Space;
use crate::wave::Wave;
use isa::{Setting, Target};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

const STRIPES: usize = 64;

/// What identifies findings about the same instructions: the rule and the code positions.
type Seen = HashSet<(String, u32, Option<u32>)>;

/// State shared by all groups of a dispatch.
pub(crate) struct Shared {
    pub(crate) keep_going: bool,
    /// How certain a finding about registers must be to count.
    pub(super) level: check::Level,
    pub(super) target: &'static Target,
    pub(super) caches: Caches,
    pub(super) cells: Cells,
    pub(super) reading: Arc<Reading>,
    pub(super) marks: Marks,
    /// How the result of each load is used (see `polls`). The outer index is the code range, the inner index
    /// the instruction. An element is computed when it is first needed.
    pub(super) load_uses: Vec<Vec<OnceLock<LoadUse>>>,
    waves_per_group: u32,
    /// Whether races are checked. They are not checked if the dispatch has too many waves for a stamp (see
    /// `cells::MAX_WAVES`).
    pub(super) races: bool,
    /// Which groups use which dwords of memory. Only present if groups run on several host threads.
    pub(super) meetings: Option<Meetings>,
    /// Whether the findings may depend on the timing of host threads. If so, the run is repeated on one
    /// thread.
    crossed: AtomicBool,
    /// What atomics have released at each memory location. The locations are spread over several maps by
    /// their addresses, so that threads seldom wait for the lock of a map.
    releases: [Mutex<HashMap<u64, Release>>; STRIPES],
    /// What each wave knows of the operations of waves of other groups. The key is the wave number. Waves
    /// that know nothing are absent.
    far: RwLock<HashMap<u32, Clock>>,
    any_far: AtomicBool,
    /// An operation number for each wave. Operations of the wave up to this number were complete for all
    /// waves when the wave passed its last barrier.
    at_barrier: Vec<AtomicU32>,
    /// An operation number for each wave. Operations of the wave up to this number were complete for waves of
    /// the same group when the wave passed its last barrier.
    seen_at_barrier: Vec<AtomicU32>,
    /// For each wave, the operations whose scalar stores have been written back: the number of the last
    /// operation that the wave had issued before its last write-back of the scalar cache.
    written_back: Vec<AtomicU32>,
    seen: Mutex<Seen>,
    /// Findings about conflicts that may turn out to be harmless.
    pub(super) waiting: Mutex<Waiting>,
    /// Results of the data-flow search in `flow`, so that no search is made twice. The key has the code
    /// positions of a load and of a store. The value says whether the stored value is computed from the
    /// loaded value.
    pub(super) flows: Mutex<HashMap<(u32, u32), bool>>,
    /// Names of allocations.
    pub(super) names: Arc<Names>,
    /// Rules of the calling convention, such as which registers calls preserve.
    pub(super) rules: Rules,
    pub(super) functions: Arc<Functions>,
    /// Registers that are overwritten at calls, to find code that wrongly relies on them.
    pub(super) scramble: Option<Arc<Scramble>>,
    pub(super) restricts: Option<Restricts>,
    /// File address of each code range.
    bases: Vec<u64>,
}

/// What atomics on a memory location have released: the knowledge of which operations of other waves are
/// complete. A wave that acquires the location learns this.
#[derive(Default)]
struct Release {
    clock: Clock,
    /// For each wave that has released at the location, the number of its last releasing operation.
    last: Clock,
    /// Waves that have executed an atomic on the location that returns the old value. The clock serves as a
    /// set here: each wave in it has the number 1.
    joined: Clock,
    /// Whether a `glc` load, which bypasses the first-level cache, has read the location.
    watched: bool,
    /// The last instruction that changed the location's value. The shadow cell cannot tell this, because it
    /// also records atomics that leave the value unchanged.
    changed: Option<Change>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The properties of a dispatch that strict mode needs.
pub(crate) struct Shape {
    pub(crate) target: &'static Target,
    /// Whether memory instructions may be replayed after a page fault (XNACK). All dispatches of a module use
    /// the same setting.
    pub(crate) xnack: Setting,
    /// The module's decoded code, if an earlier dispatch of the module has decoded it.
    pub(crate) reading: Arc<OnceLock<Arc<Reading>>>,
    pub(crate) groups: u64,
    pub(crate) waves_per_group: u32,
    /// Whether the waves of one group may read through different first-level caches, as on GFX10 in WGP mode.
    pub(crate) split_group: bool,
    pub(crate) keep_going: bool,
    pub(crate) level: check::Level,
    pub(crate) rules: Rules,
    pub(crate) functions: Arc<Functions>,
    pub(crate) scramble: Option<Arc<Scramble>>,
    /// Pointer arguments that must be checked because they share an allocation and one of them is marked
    /// `restrict`.
    pub(crate) restricts: Option<Restricts>,
}

impl Shared {
    /// Records that the findings may depend on the timing of host threads.
    #[cold]
    pub(crate) fn cross(&self) {
        self.crossed.store(true, Ordering::Relaxed);
    }

    /// Prepares strict mode for a run on several host threads.
    pub(crate) fn use_several_threads(&mut self, memory: &Memory) {
        self.meetings = Some(Meetings::new(memory));
    }

    /// Returns whether groups run on several host threads.
    pub(crate) fn uses_several_threads(&self) -> bool {
        self.meetings.is_some()
    }

    /// Returns whether the findings may depend on the timing of host threads. The run must then be repeated
    /// on one thread.
    pub(crate) fn depends_on_timing(&self) -> bool {
        self.crossed.load(Ordering::Relaxed) || self.cells.may_have_lost()
    }

    pub(crate) fn new(
        memory: &Memory,
        code: &[Code],
        marks: Marks,
        names: Arc<Names>,
        shape: Shape,
    ) -> Shared {
        let waves = u128::from(shape.groups) * u128::from(shape.waves_per_group) + 1;
        let races = waves < u128::from(MAX_WAVES);
        let read = || Arc::new(Reading::new(shape.target, shape.xnack, code));
        let reading = Arc::clone(shape.reading.get_or_init(read));
        let per_wave = || (0..if races { waves as usize } else { 0 }).map(|_| AtomicU32::new(0)).collect();
        Shared {
            keep_going: shape.keep_going,
            level: shape.level,
            target: shape.target,
            caches: Caches { split_group: shape.split_group, middle: shape.target.arch.emulation.caches.gl1 },
            cells: Cells::new(memory),
            reading,
            marks,
            load_uses: code.iter().map(|code| code.words.iter().map(|_| OnceLock::new()).collect()).collect(),
            waiting: Mutex::default(),
            flows: Mutex::default(),
            waves_per_group: shape.waves_per_group,
            races,
            meetings: None,
            crossed: AtomicBool::new(false),
            releases: std::array::from_fn(|_| Mutex::default()),
            far: RwLock::default(),
            any_far: AtomicBool::new(false),
            at_barrier: per_wave(),
            seen_at_barrier: per_wave(),
            written_back: per_wave(),
            seen: Mutex::default(),
            names,
            rules: shape.rules,
            functions: shape.functions,
            scramble: shape.scramble,
            restricts: shape.restricts,
            bases: code.iter().map(|code| code.file_base).collect(),
        }
    }

    /// Returns the file address of a code position.
    pub(super) fn address(&self, place: u32) -> u64 {
        let (range, pc) = super::findings::split_place(place);
        self.bases.get(range as usize).map_or(0, |base| base + u64::from(pc) * 4)
    }

    #[inline]
    pub(super) fn touch(&self, range: u32, pc: u32) -> &Touch {
        self.reading.touch(range, pc)
    }

    /// Returns the number of the first wave of a group. The waves of a dispatch are numbered from 1.
    pub(super) fn first_wave(&self, group: u64) -> u32 {
        group.wrapping_mul(self.waves_per_group.into()) as u32 + 1
    }

    /// Returns the index of `wave` in the group whose first wave is `first`, or `None` if the wave is not in
    /// this group.
    pub(super) fn in_group(&self, first: u32, wave: u32) -> Option<usize> {
        let at = wave.wrapping_sub(first);
        (at < self.waves_per_group).then_some(at as usize)
    }

    /// Returns the number of the first wave of the group that contains a wave.
    fn group_of(&self, wave: u32) -> u32 {
        (wave - 1) / self.waves_per_group * self.waves_per_group + 1
    }

    /// Returns the number of the group that contains a wave, and the index of the wave in the group.
    pub(crate) fn group_and_place(&self, wave: u32) -> (u64, u32) {
        (u64::from(wave / self.waves_per_group), wave % self.waves_per_group)
    }

    /// Records that operation `number` of `wave` releases at an address. Adds `clock`, which is what the wave
    /// knows, to what is released there. Waves that acquire the location learn it.
    pub(super) fn release(&self, address: u64, clock: &Clock, wave: u32, number: u32) {
        let mut releases = lock(&self.releases[(address / 4) as usize % STRIPES]);
        let release = releases.entry(address & !3).or_default();
        release.clock.merge(clock);
        if self.waves_per_group > 1 {
            release.last.learn(wave, number);
        }
    }

    /// Returns what was released at an address, and the number of each wave's last releasing operation there.
    pub(super) fn released(&self, address: u64) -> (Clock, Clock) {
        lock(&self.releases[(address / 4) as usize % STRIPES])
            .get(&(address & !3))
            .map(|release| (release.clock.clone(), release.last.clone()))
            .unwrap_or_default()
    }

    /// Records that a wave has executed an atomic on a location that returns the old value.
    pub(super) fn join(&self, address: u64, wave: u32) {
        let mut releases = lock(&self.releases[(address / 4) as usize % STRIPES]);
        releases.entry(address & !3).or_default().joined.learn(wave, 1);
    }

    /// Records the instruction and the wave that have changed the value of a location that atomics use.
    pub(super) fn change(&self, address: u64, change: Change) {
        let mut releases = lock(&self.releases[(address / 4) as usize % STRIPES]);
        releases.entry(address & !3).or_default().changed = Some(change);
    }

    fn last_change(&self, address: u64) -> Option<Change> {
        lock(&self.releases[(address / 4) as usize % STRIPES]).get(&(address & !3))?.changed
    }

    pub(super) fn has_joined(&self, address: u64, wave: u32) -> bool {
        let releases = lock(&self.releases[(address / 4) as usize % STRIPES]);
        releases.get(&(address & !3)).is_some_and(|release| release.joined.get(wave) != 0)
    }

    /// Records that a `glc` load, which bypasses the first-level cache, has read a location.
    pub(super) fn watch(&self, address: u64) {
        let mut releases = lock(&self.releases[(address / 4) as usize % STRIPES]);
        releases.entry(address & !3).or_default().watched = true;
    }

    pub(super) fn is_watched(&self, address: u64) -> bool {
        let releases = lock(&self.releases[(address / 4) as usize % STRIPES]);
        releases.get(&(address & !3)).is_some_and(|release| release.watched)
    }

    /// Returns reports of the findings that were kept until the end of the dispatch and did not turn out to
    /// be harmless (see `late`).
    pub(crate) fn late_reports(&self, launch: &Launch<'_>) -> Vec<super::Report> {
        let report = |(first, finding): (u32, super::Finding)| finding.report(first, self.locate(launch));
        self.late_findings().into_iter().map(report).collect()
    }

    /// Returns a function that creates the [`Location`] for a report. Its arguments are a code range, the
    /// index of an instruction, a wave of the dispatch, a lane, and a call chain.
    pub(super) fn locate<'a>(
        &'a self,
        launch: &'a Launch<'_>,
    ) -> impl Fn(u32, u32, u32, Option<u32>, &[Link]) -> Location + 'a {
        move |range, pc, wave, lane, chain| {
            let (group, wave) = self.group_and_place(wave);
            let at = launch.location(range, pc, launch.group_id(group), wave, lane);
            launch.with_calls(at, chain)
        }
    }

    /// Records what a wave knows about the operations of other groups. Waves that later acquire from this
    /// wave get this knowledge, too.
    pub(super) fn publish_far(&self, wave: u32, clock: Clock) {
        if clock.is_empty() {
            return;
        }
        self.far.write().unwrap_or_else(PoisonError::into_inner).insert(wave, clock);
        self.any_far.store(true, Ordering::Release);
    }

    /// Records which operations of a wave are complete when the wave passes a barrier. Operations up to
    /// `done` are complete for all waves, and operations up to `seen` are complete for waves of the same
    /// group.
    pub(super) fn publish_barrier(&self, wave: u32, done: u32, seen: u32) {
        for (places, number) in [(&self.at_barrier, done), (&self.seen_at_barrier, seen)] {
            if let Some(place) = places.get(wave as usize) {
                place.store(number, Ordering::Release);
            }
        }
    }

    /// Records that the scalar stores of a wave up to operation `issued` have been written back from the
    /// scalar cache.
    pub(super) fn publish_written_back(&self, wave: u32, issued: u32) {
        if let Some(place) = self.written_back.get(wave as usize) {
            place.store(issued, Ordering::Release);
        }
    }

    /// Returns whether the wave that executed a scalar store has written the stored data back from the scalar
    /// cache.
    pub(super) fn is_written_back(&self, stamp: Stamp) -> bool {
        let issued = self.written_back.get(stamp.wave() as usize);
        issued.is_some_and(|issued| issued.load(Ordering::Acquire) >= stamp.number())
    }

    /// Returns whether the operation that `stamp` records was already complete when its wave last passed a
    /// barrier.
    pub(super) fn at_barrier(&self, stamp: Stamp) -> bool {
        let done = self.at_barrier.get(stamp.wave() as usize);
        done.is_some_and(|done| done.load(Ordering::Acquire) >= stamp.number())
    }

    /// Adds to `clock` what a wave knows about the operations of other waves. When the wave releases, it
    /// passes on this knowledge together with its own operations.
    pub(super) fn learned_by(&self, wave: u32, clock: &mut Clock) {
        let first = self.group_of(wave);
        for mate in first..first + self.waves_per_group {
            let [done, seen] = [&self.at_barrier, &self.seen_at_barrier]
                .map(|places| places.get(mate as usize).map_or(0, |number| number.load(Ordering::Acquire)));
            if mate != wave {
                clock.learn_from_mate(mate, done, seen);
            }
        }
        if self.any_far.load(Ordering::Acquire) {
            let far = self.far.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(theirs) = far.get(&wave) {
                clock.merge(theirs);
            }
        }
    }

    /// Returns whether a finding with this rule and these code positions is new. If it is, records it, so
    /// that it is reported only once.
    pub(super) fn is_new(&self, rule: &str, place: u32, other: Option<u32>) -> bool {
        lock(&self.seen).insert((rule.to_owned(), place, other))
    }
}

impl GroupShadow {
    /// Creates the shadow state of a work-group whose waves are about to start.
    pub(crate) fn new(shared: &Shared, group: u64, waves: &[Wave], lds_dwords: usize) -> GroupShadow {
        let first_wave = shared.first_wave(group);
        let count = waves.len();
        GroupShadow {
            waves: waves
                .iter()
                .map(|wave| WaveShadow {
                    defined: initial(wave),
                    order: Order::new(first_wave + wave.id, count),
                    board: check::Scoreboard::new(),
                    scratch: vec![u32::MAX; wave.scratch.len()],
                    flat_scratch: false,
                    barrier: Barrier::new(wave.exec()),
                    calls: Default::default(),
                    together: Together::new(wave.exec()),
                    labels: shared.restricts.as_ref().map(|_| Labels::default()),
                    lost_scratch: Default::default(),
                })
                .collect(),
            lds: vec![LdsCell::default(); lds_dwords],
            lds_writes: vec![LdsWrite::default(); lds_dwords],
            lds_atomics: vec![LdsAtomics::default(); lds_dwords],
            lds_bits: vec![u32::MAX; lds_dwords],
            lds_releases: vec![None; lds_dwords],
            lds_changes: HashMap::new(),
            lds_waits: false,
            first_wave,
            now: Now {
                wave: 0,
                place: 0,
                number: 0,
                m0: 0,
                stamp: Stamp::default(),
                ordered: Stamp::default(),
                changes: 0,
                first_read: None,
                cursor: [0; 64],
                data_defined: true,
                loaded: Vec::new(),
                reads: Vec::new(),
                stored: Vec::new(),
                exec: 0,
                through: 0,
                load: super::whole::Load::NONE,
                hazards: Vec::new(),
                reported: false,
                stops: false,
            },
            findings: Vec::new(),
        }
    }

    /// Returns the code position of the instruction that last changed the dword at an address, and the wave
    /// that executed it.
    pub(crate) fn last_change(
        &self,
        shared: &Shared,
        memory: &Memory,
        space: Space,
        address: u64,
    ) -> Option<Change> {
        let ((stamp, place), change) = match space {
            Space::Lds => {
                let word = (address / 4) as usize;
                let written = (self.lds.get(word)?.write, self.lds_writes.get(word)?.place);
                (written, self.lds_changes.get(&(address & !3)).copied())
            }
            _ => (shared.cells.at(memory, address)?.last_write(), shared.last_change(address)),
        };
        let written = (!stamp.is_none()).then(|| (place, stamp.wave()));
        if stamp.is_sync() { change.or(written) } else { written }
    }

    /// Returns the findings since the last call as reports, and removes them.
    pub(crate) fn take_reports(&mut self, launch: &Launch<'_>, shared: &Shared) -> Vec<super::Report> {
        let first = self.first_wave;
        let findings = std::mem::take(&mut self.findings);
        let locate = shared.locate(launch);
        findings.into_iter().map(|finding| finding.report(first, &locate)).collect()
    }
}

/// Returns which registers of a wave are defined when the wave starts. These are the registers that the
/// dispatch has set up. All others hold [`POISON`], a fixed pattern.
fn initial(wave: &Wave) -> Defined {
    let mut defined = Defined::new(wave.vgpr.len());
    for (register, values) in wave.vgpr.iter().enumerate() {
        for (lane, &value) in values.iter().enumerate() {
            if value != POISON {
                defined.define_vector(register, 1 << lane);
            }
        }
    }
    for (code, &value) in wave.sgpr.iter().take(128).enumerate() {
        if value != POISON {
            defined.define_scalars(1 << code);
        }
    }
    defined
}
