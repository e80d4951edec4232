//! The memory model as data: the instructions that an order at a scope on an address space requires around an
//! access, with a cell for each kind of [`CacheLevels`].
//!
//! A cell is a list of words in program order:
//!
//! | word | stands for |
//! |---|---|
//! | `op`, then `glc`, `dlc` | the access, with these bits; a fence has none |
//! | `vm`, `vs`, `lgkm` | a wait until the counter is 0 |
//! | `own` | `vm` after an access with a result, `vs` after one without (the guide's `vm/vscnt`) |
//! | `wb` | write back data that other agents must be able to read (gfx90a: `buffer_wbl2`) |
//! | `out` | invalidate the outer caches (GFX10's GL1, gfx90a's L2 for lines of other agents) |
//! | `inv` | invalidate the innermost cache |
//!
//! and a word may have conditions before it:
//!
//! | mark | the word is there |
//! |---|---|
//! | `?` | where address spaces are ordered with each other ("If OpenCL, omit" in the AMDGPU guide) |
//! | `@` | where a fence orders global memory ("If OpenCL and address space is local, omit") |
//! | `~` | where the waves of a work-group do not share their first cache |
//! | `!` | at system scope |
//!
//! The mark `~` is the guide's "If CU wavefront execution mode, omit": the waves of a work-group do not share
//! their first cache on GFX10 in WGP mode and on gfx90a in `tgsplit` mode.
//!
//! A word with `?` is omitted for a `_one_as` access and for a fence that does not name LDS. A `seq_cst`
//! fence orders all address spaces, whatever spaces it names.
//!
//! # Source
//! Seed 000, lines 3144-4020, cross-checked with seed 001, lines 6134-7130, where the columns are intact. The
//! rules before the table (lines 3113-3123) are [`normalise`]. gfx90a is newer than these guides: its column
//! is what LLVM 19 emits (`tests/llvm_sequences.rs`), and equals the column of GFX10 except for the names of
//! caches and counters. `docs/memory-model.md` prints [`ROWS`] and lists the deviations from the guide.

use isa::{CacheLevels, ModFlags};
use mir::{MemRef, SPACE_GLOBAL, SPACE_SHARED, SyncOrder, SyncScope};

/// Kind of memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Load,
    Store,
    /// Read-modify-write, whether or not the old value is returned.
    Rmw,
    Fence,
}

impl Kind {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        ["load atomic", "store atomic", "atomicrmw", "fence"][self as usize]
    }
}

/// Where the operation accesses memory: the address-space column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Place {
    Global,
    Local,
    Generic,
    /// A fence has no address space of its own.
    None,
}

bitflags::bitflags! {
    /// Steps before or after the access, in the order in which they are emitted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Steps: u8 {
        /// Writes the cache back.
        const WRITE_BACK = 1;
        /// A wait for `vmcnt(0)`.
        const VM = 1 << 1;
        /// A wait for `vscnt(0)`.
        const VS = 1 << 2;
        /// A wait for `lgkmcnt(0)`.
        const LGKM = 1 << 3;
        /// Invalidates the outer caches. This step precedes the invalidation of the inner cache, as it does
        /// in the code of LLVM 19. The AMDGPU guide has the opposite order, which may leave a stale line:
        /// between the two invalidations, another wave could load the line from the outer cache into the
        /// inner cache (`docs/litmus.md`, `mp-bystander`).
        const INVALIDATE_OUTER = 1 << 4;
        /// Invalidates the innermost cache.
        const INVALIDATE = 1 << 5;
    }

    /// Conditions of a word, which is one step (such as a wait) in a cell of the table. The step is needed
    /// only if all conditions of the word hold.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct When: u8 {
        /// `?`
        const ACROSS = 1;
        /// `@`
        const GLOBAL = 1 << 1;
        /// `~`
        const SPLIT = 1 << 2;
        /// `!`
        const SYSTEM = 1 << 3;
        /// The access returns a result.
        const RETURNS = 1 << 4;
        /// The scope is the work-group or wider.
        const GROUP = 1 << 5;
        /// The scope is the agent or wider.
        const AGENT = 1 << 6;
    }
}

/// Meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum What {
    /// The access itself.
    Access,
    Glc,
    Dlc,
    /// A step, before or after the access.
    Step(Steps),
    /// A wait for the access itself.
    Own,
}

/// A word with its conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Meaning of the word.
    pub what: What,
    /// Conditions under which the word applies.
    pub when: When,
}

/// Largest number of words in a cell.
const MAX_WORDS: usize = 11;

/// A cell of the table.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    words: [Word; MAX_WORDS],
    len: usize,
}

/// The steps of a cell that apply in a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Steps before the access; for a fence, all steps.
    pub before: Steps,
    /// Cache bits `glc` and `dlc` of the access. They are never set for a read-modify-write, where `glc` has
    /// another meaning: the instruction returns the old value.
    pub bits: ModFlags,
    /// Steps after the access.
    pub after: Steps,
    /// Cache bits of the cache operations: their scope, where cache bits say it.
    pub scope: ModFlags,
}

const WORDS: [(&str, What); 10] = [
    ("op", What::Access),
    ("glc", What::Glc),
    ("dlc", What::Dlc),
    ("vm", What::Step(Steps::VM)),
    ("vs", What::Step(Steps::VS)),
    ("lgkm", What::Step(Steps::LGKM)),
    ("own", What::Own),
    ("wb", What::Step(Steps::WRITE_BACK)),
    ("out", What::Step(Steps::INVALIDATE_OUTER)),
    ("inv", What::Step(Steps::INVALIDATE)),
];

impl Sequence {
    /// Parses a cell of the table of sequences at compile time. A word that is not known is a compilation
    /// error.
    const fn parse(text: &str) -> Sequence {
        let bytes = text.as_bytes();
        let mut sequence =
            Sequence { words: [Word { what: What::Access, when: When::empty() }; MAX_WORDS], len: 0 };
        let mut at = 0;
        while at < bytes.len() {
            let mut when = When::empty();
            loop {
                when = when.union(match bytes[at] {
                    b'?' => When::ACROSS,
                    b'@' => When::GLOBAL,
                    b'~' => When::SPLIT,
                    b'!' => When::SYSTEM,
                    _ => break,
                });
                at += 1;
            }
            let start = at;
            while at < bytes.len() && bytes[at] != b' ' {
                at += 1;
            }
            sequence.words[sequence.len] = Word { what: word(bytes, start, at), when };
            sequence.len += 1;
            at += 1;
        }
        sequence
    }

    /// Returns the words.
    pub fn words(&self) -> &[Word] {
        &self.words[..self.len]
    }

    /// Returns the steps that apply in a case.
    pub fn resolve(&self, case: When) -> Around {
        let mut around = Around::default();
        let mut past = false;
        for word in self.words().iter().filter(|word| case.contains(word.when)) {
            let side = if past { &mut around.after } else { &mut around.before };
            match word.what {
                What::Access => past = true,
                What::Glc => around.bits |= ModFlags::GLC,
                What::Dlc => around.bits |= ModFlags::DLC,
                What::Step(step) => *side |= step,
                What::Own if case.contains(When::RETURNS) => *side |= Steps::VM,
                What::Own => *side |= Steps::VS,
            }
        }
        around
    }
}

/// Returns the word at the given bytes of a cell.
const fn word(text: &[u8], start: usize, end: usize) -> What {
    let mut row = 0;
    while row < WORDS.len() {
        let name = WORDS[row].0.as_bytes();
        let mut at = 0;
        while at < name.len() && start + at < end && name[at] == text[start + at] {
            at += 1;
        }
        if at == name.len() && start + at == end {
            return WORDS[row].1;
        }
        row += 1;
    }
    panic!("no word of a sequence")
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name of the row, used in the notes of inserted instructions.
    pub name: &'static str,
    /// Kind of operation.
    pub kind: Kind,
    /// Memory order.
    pub order: SyncOrder,
    /// Scopes to which the row applies.
    pub scopes: &'static [SyncScope],
    /// Address spaces to which the row applies.
    pub places: &'static [Place],
    /// Cells, indexed by [`CacheLevels`].
    pub cells: [Sequence; CacheLevels::COUNT],
    /// Line of seed 000 at which the row begins.
    pub line: u32,
}

impl Row {
    const fn releases(&self) -> bool {
        !matches!(self.kind, Kind::Load)
            && matches!(self.order, SyncOrder::Release | SyncOrder::AcqRel | SyncOrder::SeqCst)
    }

    /// Returns whether the row of the table is for a release whose scope is the work-group.
    pub fn releases_to_group(&self) -> bool {
        self.releases() && self.scopes == GROUP
    }

    /// Returns whether the row of the table is for a release whose scope is the agent or the system.
    pub fn releases_beyond_the_group(&self) -> bool {
        self.releases() && self.scopes == WIDE
    }
}

const WAVE: &[SyncScope] = &[SyncScope::SingleThread, SyncScope::Wavefront];
const GROUP: &[SyncScope] = &[SyncScope::Workgroup];
const WIDE: &[SyncScope] = &[SyncScope::Agent, SyncScope::System];
const ANY_SCOPE: &[SyncScope] = &[
    SyncScope::SingleThread,
    SyncScope::Wavefront,
    SyncScope::Workgroup,
    SyncScope::Agent,
    SyncScope::System,
];

const GLOBAL: &[Place] = &[Place::Global];
const LOCAL: &[Place] = &[Place::Local];
const GENERIC: &[Place] = &[Place::Generic];
const MEMORY: &[Place] = &[Place::Global, Place::Generic];
const ANYWHERE: &[Place] = &[Place::Global, Place::Local, Place::Generic];
const NOWHERE: &[Place] = &[Place::None];

macro_rules! table {
    ($($kind:ident $order:ident $scopes:ident $places:ident, $name:literal, $shared_l2:literal, $own_l2:literal, $gl0_gl1_l2:literal, $line:literal;)*) => {
        /// The table of memory-model sequences. The AMDGPU guide defines some rows as "same as" another row;
        /// here they are written out. A `seq_cst` row keeps the steps that OpenCL may omit, as the guide
        /// requires.
        pub static ROWS: &[Row] = &[$(Row {
            name: $name,
            kind: Kind::$kind,
            order: SyncOrder::$order,
            scopes: $scopes,
            places: $places,
            cells: [Sequence::parse($shared_l2), Sequence::parse($own_l2), Sequence::parse($gl0_gl1_l2)],
            line: $line,
        }),*];
    };
}

// Columns of a row: kind of operation, order, scopes, address spaces, name; the sequences for
// `CacheLevels::SharedL2` (GFX6 to GFX9), `OwnL2` (gfx90a) and `Gl0Gl1L2` (GFX10); the line of the AMDGPU
// guide (seed 000).
#[rustfmt::skip]
table! {
    Load Relaxed WAVE MEMORY, "load atomic monotonic wavefront global", "op", "op", "op", 3192;
    Load Relaxed GROUP MEMORY, "load atomic monotonic workgroup global", "op", "op ~glc", "op ~glc", 3199;
    Load Relaxed ANY_SCOPE LOCAL, "load atomic monotonic local", "op", "op", "op", 3206;
    Load Relaxed WIDE MEMORY, "load atomic monotonic agent global", "op glc", "op glc", "op glc dlc", 3213;
    Store Relaxed ANY_SCOPE ANYWHERE, "store atomic monotonic", "op", "op", "op", 3220;
    Rmw Relaxed ANY_SCOPE ANYWHERE, "atomicrmw monotonic", "op", "op", "op", 3237;

    Load Acquire WAVE ANYWHERE, "load atomic acquire wavefront", "op", "op", "op", 3255;
    Load Acquire GROUP GLOBAL, "load atomic acquire workgroup global", "op", "op ~glc ~vm ~inv", "op ~glc ~vm ~inv", 3263;
    Load Acquire GROUP LOCAL, "load atomic acquire workgroup local", "op ?lgkm", "op ?lgkm", "op ?lgkm ~?vm ~?inv", 3275;
    Load Acquire GROUP GENERIC, "load atomic acquire workgroup generic", "op ?lgkm", "op ~glc ?lgkm ~vm ~inv", "op ~glc ?lgkm ~vm ~inv", 3292;
    Load Acquire WIDE GLOBAL, "load atomic acquire agent global", "op glc vm inv", "op glc vm !out inv", "op glc dlc vm out inv", 3310;
    Load Acquire WIDE GENERIC, "load atomic acquire agent generic", "op glc vm ?lgkm inv", "op glc vm ?lgkm !out inv", "op glc dlc vm ?lgkm out inv", 3328;
    Rmw Acquire WAVE ANYWHERE, "atomicrmw acquire wavefront", "op", "op", "op", 3348;
    Rmw Acquire GROUP GLOBAL, "atomicrmw acquire workgroup global", "op", "op ~vm ~inv", "op ~own ~inv", 3356;
    Rmw Acquire GROUP LOCAL, "atomicrmw acquire workgroup local", "op ?lgkm", "op ?lgkm", "op ?lgkm ~?vm ~?inv", 3368;
    Rmw Acquire GROUP GENERIC, "atomicrmw acquire workgroup generic", "op ?lgkm", "op ?lgkm ~vm ~inv", "op ?lgkm ~own ~inv", 3384;
    Rmw Acquire WIDE GLOBAL, "atomicrmw acquire agent global", "op vm inv", "op vm !out inv", "op own out inv", 3402;
    Rmw Acquire WIDE GENERIC, "atomicrmw acquire agent generic", "op vm ?lgkm inv", "op vm ?lgkm !out inv", "op own ?lgkm out inv", 3421;
    Fence Acquire WAVE NOWHERE, "fence acquire wavefront", "", "", "", 3442;
    Fence Acquire GROUP NOWHERE, "fence acquire workgroup", "?lgkm", "?lgkm ~@vm ~inv", "?lgkm ~@vm ~@vs ~inv", 3446;
    Fence Acquire WIDE NOWHERE, "fence acquire agent", "vm ?lgkm inv", "vm ?lgkm !out inv", "vm vs ?lgkm out inv", 3469;

    Store Release WAVE ANYWHERE, "store atomic release wavefront", "op", "op", "op", 3498;
    Store Release GROUP GLOBAL, "store atomic release workgroup global", "?lgkm op", "?lgkm ~vm op", "?lgkm ~vm ~vs op", 3506;
    Store Release GROUP LOCAL, "store atomic release workgroup local", "op", "op", "~?vm ~?vs op", 3525;
    Store Release GROUP GENERIC, "store atomic release workgroup generic", "?lgkm op", "?lgkm ~vm op", "?lgkm ~vm ~vs op", 3538;
    Store Release WIDE MEMORY, "store atomic release agent", "vm ?lgkm op", "!wb vm ?lgkm op", "vm vs ?lgkm op", 3557;
    Rmw Release WAVE ANYWHERE, "atomicrmw release wavefront", "op", "op", "op", 3579;
    Rmw Release GROUP GLOBAL, "atomicrmw release workgroup global", "?lgkm op", "?lgkm ~vm op", "?lgkm ~vm ~vs op", 3587;
    Rmw Release GROUP LOCAL, "atomicrmw release workgroup local", "op", "op", "~?vm ~?vs op", 3605;
    Rmw Release GROUP GENERIC, "atomicrmw release workgroup generic", "?lgkm op", "?lgkm ~vm op", "?lgkm ~vm ~vs op", 3618;
    Rmw Release WIDE MEMORY, "atomicrmw release agent", "vm ?lgkm op", "!wb vm ?lgkm op", "vm vs ?lgkm op", 3637;
    Fence Release WAVE NOWHERE, "fence release wavefront", "", "", "", 3660;
    Fence Release GROUP NOWHERE, "fence release workgroup", "?lgkm", "?lgkm ~@vm", "?lgkm ~@vm ~@vs", 3664;
    Fence Release WIDE NOWHERE, "fence release agent", "vm ?lgkm", "!wb vm ?lgkm", "vm vs ?lgkm", 3684;

    Rmw AcqRel WAVE ANYWHERE, "atomicrmw acq_rel wavefront", "op", "op", "op", 3708;
    Rmw AcqRel GROUP GLOBAL, "atomicrmw acq_rel workgroup global", "?lgkm op", "?lgkm ~vm op ~vm ~inv", "?lgkm ~vm ~vs op ~own ~inv", 3716;
    Rmw AcqRel GROUP LOCAL, "atomicrmw acq_rel workgroup local", "op ?lgkm", "op ?lgkm", "~?vm ~?vs op ?lgkm ~?inv", 3744;
    Rmw AcqRel GROUP GENERIC, "atomicrmw acq_rel workgroup generic", "?lgkm op ?lgkm", "?lgkm ~vm op ?lgkm ~vm ~inv", "?lgkm ~vm ~vs op ?lgkm ~own ~inv", 3769;
    Rmw AcqRel WIDE GLOBAL, "atomicrmw acq_rel agent global", "vm ?lgkm op vm inv", "!wb vm ?lgkm op vm !out inv", "vm vs ?lgkm op own out inv", 3800;
    Rmw AcqRel WIDE GENERIC, "atomicrmw acq_rel agent generic", "vm ?lgkm op vm ?lgkm inv", "!wb vm ?lgkm op vm ?lgkm !out inv", "vm vs ?lgkm op own ?lgkm out inv", 3834;
    Fence AcqRel WAVE NOWHERE, "fence acq_rel wavefront", "", "", "", 3870;
    Fence AcqRel GROUP NOWHERE, "fence acq_rel workgroup", "?lgkm", "?lgkm ~@vm ~inv", "?lgkm ~@vm ~@vs ~inv", 3874;
    Fence AcqRel WIDE NOWHERE, "fence acq_rel agent", "vm ?lgkm inv", "!wb vm ?lgkm !out inv", "vm vs ?lgkm out inv", 3903;

    Load SeqCst WAVE ANYWHERE, "load atomic seq_cst wavefront", "op", "op", "op", 3934;
    Load SeqCst GROUP GLOBAL, "load atomic seq_cst workgroup global", "lgkm op", "lgkm ~vm op ~glc ~vm ~inv", "lgkm ~vm ~vs op ~glc ~vm ~inv", 3941;
    Load SeqCst GROUP GENERIC, "load atomic seq_cst workgroup generic", "lgkm op lgkm", "lgkm ~vm op ~glc lgkm ~vm ~inv", "lgkm ~vm ~vs op ~glc lgkm ~vm ~inv", 3941;
    Load SeqCst GROUP LOCAL, "load atomic seq_cst workgroup local", "op lgkm", "op lgkm", "~vm ~vs op lgkm ~inv", 3957;
    Load SeqCst WIDE GLOBAL, "load atomic seq_cst agent global", "vm lgkm op glc vm inv", "vm lgkm op glc vm !out inv", "vm vs lgkm op glc dlc vm out inv", 3968;
    Load SeqCst WIDE GENERIC, "load atomic seq_cst agent generic", "vm lgkm op glc vm lgkm inv", "vm lgkm op glc vm lgkm !out inv", "vm vs lgkm op glc dlc vm lgkm out inv", 3968;
    Store SeqCst WAVE ANYWHERE, "store atomic seq_cst wavefront", "op", "op", "op", 3986;
    Store SeqCst GROUP MEMORY, "store atomic seq_cst workgroup global", "lgkm op", "lgkm ~vm op", "lgkm ~vm ~vs op", 3986;
    Store SeqCst GROUP LOCAL, "store atomic seq_cst workgroup local", "op", "op", "~vm ~vs op", 3986;
    Store SeqCst WIDE MEMORY, "store atomic seq_cst agent", "vm lgkm op", "!wb vm lgkm op", "vm vs lgkm op", 3994;
    Rmw SeqCst WAVE ANYWHERE, "atomicrmw seq_cst wavefront", "op", "op", "op", 4000;
    Rmw SeqCst GROUP GLOBAL, "atomicrmw seq_cst workgroup global", "lgkm op", "lgkm ~vm op ~vm ~inv", "lgkm ~vm ~vs op ~own ~inv", 4000;
    Rmw SeqCst GROUP LOCAL, "atomicrmw seq_cst workgroup local", "op lgkm", "op lgkm", "~vm ~vs op lgkm ~inv", 4000;
    Rmw SeqCst GROUP GENERIC, "atomicrmw seq_cst workgroup generic", "lgkm op lgkm", "lgkm ~vm op lgkm ~vm ~inv", "lgkm ~vm ~vs op lgkm ~own ~inv", 4000;
    Rmw SeqCst WIDE GLOBAL, "atomicrmw seq_cst agent global", "vm lgkm op vm inv", "!wb vm lgkm op vm !out inv", "vm vs lgkm op own out inv", 4008;
    Rmw SeqCst WIDE GENERIC, "atomicrmw seq_cst agent generic", "vm lgkm op vm lgkm inv", "!wb vm lgkm op vm lgkm !out inv", "vm vs lgkm op own lgkm out inv", 4008;
    Fence SeqCst WAVE NOWHERE, "fence seq_cst wavefront", "", "", "", 4014;
    Fence SeqCst GROUP NOWHERE, "fence seq_cst workgroup", "?lgkm", "?lgkm ~@vm ~inv", "?lgkm ~@vm ~@vs ~inv", 4014;
    Fence SeqCst WIDE NOWHERE, "fence seq_cst agent", "vm ?lgkm inv", "!wb vm ?lgkm !out inv", "vm vs ?lgkm out inv", 4014;
}

/// Returns the row of the table for an access or fence, and the conditions of words that hold for it. Returns
/// `None` if the access is not atomic or accesses private memory.
pub fn lookup(kind: Kind, mem: &MemRef) -> Option<(&'static Row, When)> {
    let place = match kind {
        Kind::Fence => Place::None,
        _ => table_space(mem)?,
    };
    let order = normalise(kind, strongest(mem.order, mem.fail))?;
    // A sequentially consistent fence orders all address spaces, whatever spaces it names (AMDGPU guide: seed
    // 000, line 4014).
    let is_of_all = mem.spaces == 0 || kind == Kind::Fence && order == SyncOrder::SeqCst;
    let spaces = if is_of_all { SPACE_GLOBAL | SPACE_SHARED } else { mem.spaces };
    // A scope wider than the work-group has no meaning for LDS (seed 000, line 3115).
    let local_only = place == Place::Local || place == Place::None && spaces & SPACE_GLOBAL == 0;
    let scope = if local_only { mem.scope.min(SyncScope::Workgroup) } else { mem.scope };
    let row = ROWS.iter().find(|row| {
        row.kind == kind && row.order == order && row.scopes.contains(&scope) && row.places.contains(&place)
    })?;
    let across = match kind {
        Kind::Fence => spaces & SPACE_SHARED != 0,
        _ => !mem.one_as,
    };
    let mut case = When::empty();
    case.set(When::ACROSS, across);
    case.set(When::GLOBAL, !local_only || across && place == Place::Local);
    case.set(When::GROUP, scope >= SyncScope::Workgroup);
    case.set(When::AGENT, scope >= SyncScope::Agent);
    case.set(When::SYSTEM, scope == SyncScope::System);
    Some((row, case))
}

/// Returns the table's address space of an access; `None` for private memory, whose accesses are never atomic
/// (seed 000, line 3109).
fn table_space(mem: &MemRef) -> Option<Place> {
    Some(match (mem.spaces & SPACE_GLOBAL != 0, mem.spaces & SPACE_SHARED != 0) {
        (true, true) => Place::Generic,
        (true, false) => Place::Global,
        (false, true) => Place::Local,
        (false, false) => return None,
    })
}

/// Returns the order that satisfies both orders. A compare-and-swap has one order for each outcome.
fn strongest(a: SyncOrder, b: SyncOrder) -> SyncOrder {
    use SyncOrder::{AcqRel, Acquire, Release};
    match (a, b) {
        (Acquire, Release) | (Release, Acquire) => AcqRel,
        _ => a.max(b),
    }
}

/// Returns the order under which the table lists an operation of that kind, according to the AMDGPU guide
/// (seed 000, lines 3119-3123, and lines 3188-3190 for "unordered"). There is one difference. In the guide,
/// an atomic load with release order and an atomic store with acquire order are not atomic; here they are
/// atomic with relaxed order.
pub fn normalise(kind: Kind, order: SyncOrder) -> Option<SyncOrder> {
    use SyncOrder::{AcqRel, Acquire, NotAtomic, Relaxed, Release, SeqCst, Unordered};
    Some(match (kind, order) {
        (_, NotAtomic) => return None,
        (Kind::Load | Kind::Store, Unordered) => return None,
        (Kind::Fence, Unordered | Relaxed) => return None,
        (Kind::Rmw, Unordered) => Relaxed,
        (Kind::Load, Release) => Relaxed,
        (Kind::Load, AcqRel) => Acquire,
        (Kind::Store, Acquire) => Relaxed,
        (Kind::Store, AcqRel) => Release,
        (_, Relaxed | Acquire | Release | AcqRel | SeqCst) => order,
    })
}
