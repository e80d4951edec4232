//! The memory model as data: what an order at a scope on an address space costs around the access.
//!
//! Source: seed 000, lines 3144-4020 (GFX6-GFX9 half), cross-checked with seed 001, lines 6134-7130, where the columns are
//! intact. The rules before the table (lines 3113-3123) are [`normalise`]. `docs/memory-model.md` prints [`ROWS`].

use isa::func::{SPACE_GLOBAL, SPACE_SHARED};
use isa::target::Generation;
use isa::{MemRef, SyncOrder, SyncScope};

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Load,
    Store,
    /// Read-modify-write, with or without the old value returned.
    Rmw,
    Fence,
}

impl Kind {
    /// The table's word.
    pub const fn name(self) -> &'static str {
        ["load atomic", "store atomic", "atomicrmw", "fence"][self as usize]
    }
}

/// Where it is done: the table's address space column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Place {
    Global,
    Local,
    Generic,
    /// A fence has no place of its own.
    None,
}

bitflags::bitflags! {
    /// Steps of a sequence before or after the access, in this order.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Steps: u8 {
        /// `s_waitcnt vmcnt(0)`.
        const VM = 1;
        /// `s_waitcnt lgkmcnt(0)`.
        const LGKM = 1 << 1;
        /// The same, but only where address spaces are ordered with each other: the table's "If OpenCL, omit". It goes
        /// for a `_one_as` access and for a fence that does not name LDS.
        const LGKM_ACROSS = 1 << 2;
        /// `buffer_wbinvl1_vol`.
        const INVALIDATE = 1 << 3;
    }
}

/// A code sequence: the access with its cache bits, and what stands around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Steps before the access (the whole sequence of a fence).
    pub before: Steps,
    /// Whether the access is `glc=1`. Never of a read-modify-write: there the bit asks for the old value.
    pub glc: bool,
    /// Steps after the access.
    pub after: Steps,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What the notes of inserted instructions say.
    pub name: &'static str,
    /// What is done.
    pub kind: Kind,
    /// The order.
    pub order: SyncOrder,
    /// The scopes of the row.
    pub scopes: &'static [SyncScope],
    /// The address spaces of the row.
    pub places: &'static [Place],
    /// The sequence of GFX6-GFX9.
    pub gfx6_9: Sequence,
    /// The line of seed 000 where the row begins.
    pub line: u32,
}

impl Row {
    /// The sequence of a generation. GFX10's column is not here yet, as nothing is compiled for it; the older ones
    /// share theirs.
    pub const fn sequence(&self, generation: Generation) -> Sequence {
        match generation {
            Generation::Gfx6 | Generation::Gfx7 | Generation::Gfx8 | Generation::Gfx9 => self.gfx6_9,
            Generation::Gfx10 => self.gfx6_9,
        }
    }
}

impl Row {
    const fn releases(&self) -> bool {
        !matches!(self.kind, Kind::Load)
            && matches!(self.order, SyncOrder::Release | SyncOrder::AcqRel | SyncOrder::SeqCst)
    }

    /// Whether it releases to the work-group, and no further.
    pub fn releases_to_group(&self) -> bool {
        self.releases() && self.scopes == GROUP
    }

    /// Whether it releases to the agent or the system.
    pub fn releases_beyond_the_group(&self) -> bool {
        self.releases() && self.scopes == WIDE
    }
}

const WAVE: &[SyncScope] = &[SyncScope::SingleThread, SyncScope::Wavefront];
const GROUP: &[SyncScope] = &[SyncScope::Workgroup];
const UP_TO_GROUP: &[SyncScope] = &[SyncScope::SingleThread, SyncScope::Wavefront, SyncScope::Workgroup];
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

/// Nothing around the access.
const PLAIN: Sequence = seq(Steps::empty(), Steps::empty());
const NO_STEP: Steps = Steps::empty();
const ACROSS: Steps = Steps::LGKM_ACROSS;
const LGKM: Steps = Steps::LGKM;
const VM_ACROSS: Steps = Steps::VM.union(Steps::LGKM_ACROSS);
const VM_LGKM: Steps = Steps::VM.union(Steps::LGKM);
const VM_INV: Steps = Steps::VM.union(Steps::INVALIDATE);
const VM_ACROSS_INV: Steps = VM_ACROSS.union(Steps::INVALIDATE);
const VM_LGKM_INV: Steps = VM_LGKM.union(Steps::INVALIDATE);

const fn seq(before: Steps, after: Steps) -> Sequence {
    Sequence { before, glc: false, after }
}

const fn glc(before: Steps, after: Steps) -> Sequence {
    Sequence { before, glc: true, after }
}

macro_rules! table {
    ($($kind:ident $order:ident $scopes:ident $places:ident, $name:literal, $gfx6_9:expr, $line:literal;)*) => {
        /// The table. Rows that the source words as "same as" are written out; a `seq_cst` row keeps the steps that
        /// OpenCL may omit, as the source asks.
        pub static ROWS: &[Row] = &[$(Row {
            name: $name,
            kind: Kind::$kind,
            order: SyncOrder::$order,
            scopes: $scopes,
            places: $places,
            gfx6_9: $gfx6_9,
            line: $line,
        }),*];
    };
}

table! {
    Load Relaxed UP_TO_GROUP MEMORY, "load atomic monotonic workgroup global", PLAIN, 3192;
    Load Relaxed ANY_SCOPE LOCAL, "load atomic monotonic local", PLAIN, 3206;
    Load Relaxed WIDE MEMORY, "load atomic monotonic agent global", glc(NO_STEP, NO_STEP), 3213;
    Store Relaxed ANY_SCOPE ANYWHERE, "store atomic monotonic", PLAIN, 3220;
    Rmw Relaxed ANY_SCOPE ANYWHERE, "atomicrmw monotonic", PLAIN, 3237;

    Load Acquire WAVE ANYWHERE, "load atomic acquire wavefront", PLAIN, 3255;
    Load Acquire GROUP GLOBAL, "load atomic acquire workgroup global", PLAIN, 3263;
    Load Acquire GROUP LOCAL, "load atomic acquire workgroup local", seq(NO_STEP, ACROSS), 3275;
    Load Acquire GROUP GENERIC, "load atomic acquire workgroup generic", seq(NO_STEP, ACROSS), 3292;
    Load Acquire WIDE GLOBAL, "load atomic acquire agent global", glc(NO_STEP, VM_INV), 3310;
    Load Acquire WIDE GENERIC, "load atomic acquire agent generic", glc(NO_STEP, VM_ACROSS_INV), 3328;
    Rmw Acquire WAVE ANYWHERE, "atomicrmw acquire wavefront", PLAIN, 3348;
    Rmw Acquire GROUP GLOBAL, "atomicrmw acquire workgroup global", PLAIN, 3356;
    Rmw Acquire GROUP LOCAL, "atomicrmw acquire workgroup local", seq(NO_STEP, ACROSS), 3368;
    Rmw Acquire GROUP GENERIC, "atomicrmw acquire workgroup generic", seq(NO_STEP, ACROSS), 3384;
    Rmw Acquire WIDE GLOBAL, "atomicrmw acquire agent global", seq(NO_STEP, VM_INV), 3402;
    Rmw Acquire WIDE GENERIC, "atomicrmw acquire agent generic", seq(NO_STEP, VM_ACROSS_INV), 3421;
    Fence Acquire WAVE NOWHERE, "fence acquire wavefront", PLAIN, 3442;
    Fence Acquire GROUP NOWHERE, "fence acquire workgroup", seq(ACROSS, NO_STEP), 3446;
    Fence Acquire WIDE NOWHERE, "fence acquire agent", seq(VM_ACROSS_INV, NO_STEP), 3469;

    Store Release WAVE ANYWHERE, "store atomic release wavefront", PLAIN, 3498;
    Store Release GROUP GLOBAL, "store atomic release workgroup global", seq(ACROSS, NO_STEP), 3506;
    Store Release GROUP LOCAL, "store atomic release workgroup local", PLAIN, 3525;
    Store Release GROUP GENERIC, "store atomic release workgroup generic", seq(ACROSS, NO_STEP), 3538;
    Store Release WIDE MEMORY, "store atomic release agent", seq(VM_ACROSS, NO_STEP), 3557;
    Rmw Release WAVE ANYWHERE, "atomicrmw release wavefront", PLAIN, 3579;
    Rmw Release GROUP GLOBAL, "atomicrmw release workgroup global", seq(ACROSS, NO_STEP), 3587;
    Rmw Release GROUP LOCAL, "atomicrmw release workgroup local", PLAIN, 3605;
    Rmw Release GROUP GENERIC, "atomicrmw release workgroup generic", seq(ACROSS, NO_STEP), 3618;
    Rmw Release WIDE MEMORY, "atomicrmw release agent", seq(VM_ACROSS, NO_STEP), 3637;
    Fence Release WAVE NOWHERE, "fence release wavefront", PLAIN, 3660;
    Fence Release GROUP NOWHERE, "fence release workgroup", seq(ACROSS, NO_STEP), 3664;
    Fence Release WIDE NOWHERE, "fence release agent", seq(VM_ACROSS, NO_STEP), 3684;

    Rmw AcqRel WAVE ANYWHERE, "atomicrmw acq_rel wavefront", PLAIN, 3708;
    Rmw AcqRel GROUP GLOBAL, "atomicrmw acq_rel workgroup global", seq(ACROSS, NO_STEP), 3716;
    Rmw AcqRel GROUP LOCAL, "atomicrmw acq_rel workgroup local", seq(NO_STEP, ACROSS), 3744;
    Rmw AcqRel GROUP GENERIC, "atomicrmw acq_rel workgroup generic", seq(ACROSS, ACROSS), 3769;
    Rmw AcqRel WIDE GLOBAL, "atomicrmw acq_rel agent global", seq(VM_ACROSS, VM_INV), 3800;
    Rmw AcqRel WIDE GENERIC, "atomicrmw acq_rel agent generic", seq(VM_ACROSS, VM_ACROSS_INV), 3834;
    Fence AcqRel WAVE NOWHERE, "fence acq_rel wavefront", PLAIN, 3870;
    Fence AcqRel GROUP NOWHERE, "fence acq_rel workgroup", seq(ACROSS, NO_STEP), 3874;
    Fence AcqRel WIDE NOWHERE, "fence acq_rel agent", seq(VM_ACROSS_INV, NO_STEP), 3903;

    Load SeqCst WAVE ANYWHERE, "load atomic seq_cst wavefront", PLAIN, 3934;
    Load SeqCst GROUP GLOBAL, "load atomic seq_cst workgroup global", seq(LGKM, NO_STEP), 3941;
    Load SeqCst GROUP GENERIC, "load atomic seq_cst workgroup generic", seq(LGKM, LGKM), 3941;
    Load SeqCst GROUP LOCAL, "load atomic seq_cst workgroup local", seq(NO_STEP, LGKM), 3957;
    Load SeqCst WIDE GLOBAL, "load atomic seq_cst agent global", glc(VM_LGKM, VM_INV), 3968;
    Load SeqCst WIDE GENERIC, "load atomic seq_cst agent generic", glc(VM_LGKM, VM_LGKM_INV), 3968;
    Store SeqCst WAVE ANYWHERE, "store atomic seq_cst wavefront", PLAIN, 3986;
    Store SeqCst GROUP MEMORY, "store atomic seq_cst workgroup global", seq(LGKM, NO_STEP), 3986;
    Store SeqCst GROUP LOCAL, "store atomic seq_cst workgroup local", PLAIN, 3986;
    Store SeqCst WIDE MEMORY, "store atomic seq_cst agent", seq(VM_LGKM, NO_STEP), 3994;
    Rmw SeqCst WAVE ANYWHERE, "atomicrmw seq_cst wavefront", PLAIN, 4000;
    Rmw SeqCst GROUP GLOBAL, "atomicrmw seq_cst workgroup global", seq(LGKM, NO_STEP), 4000;
    Rmw SeqCst GROUP LOCAL, "atomicrmw seq_cst workgroup local", seq(NO_STEP, LGKM), 4000;
    Rmw SeqCst GROUP GENERIC, "atomicrmw seq_cst workgroup generic", seq(LGKM, LGKM), 4000;
    Rmw SeqCst WIDE GLOBAL, "atomicrmw seq_cst agent global", seq(VM_LGKM, VM_INV), 4008;
    Rmw SeqCst WIDE GENERIC, "atomicrmw seq_cst agent generic", seq(VM_LGKM, VM_LGKM_INV), 4008;
    Fence SeqCst WAVE NOWHERE, "fence seq_cst wavefront", PLAIN, 4014;
    Fence SeqCst GROUP NOWHERE, "fence seq_cst workgroup", seq(ACROSS, NO_STEP), 4014;
    Fence SeqCst WIDE NOWHERE, "fence seq_cst agent", seq(VM_ACROSS_INV, NO_STEP), 4014;
}

/// Cache bits of plain accesses by hint: (kind, volatile or nontemporal, glc, slc). Seed 000, lines 3147-3187.
pub static HINTS: [(Kind, &str, bool, bool); 3] = [
    (Kind::Load, "volatile", true, false),
    (Kind::Load, "nontemporal", true, true),
    (Kind::Store, "nontemporal", true, true),
];

/// The row of an access or fence, and the steps of it that apply. `None`: the access is not atomic, or private.
///
/// `wave_group`: the work-group is one wavefront, so its scope is the wavefront's.
pub fn lookup(kind: Kind, mem: &MemRef, wave_group: bool) -> Option<(&'static Row, Ordered)> {
    let place = match kind {
        Kind::Fence => Place::None,
        _ => place(mem)?,
    };
    let order = normalise(kind, strongest(mem.order, mem.fail))?;
    let spaces = if mem.spaces == 0 { SPACE_GLOBAL | SPACE_SHARED } else { mem.spaces };
    // A scope wider than the work-group means nothing for LDS (seed 000, line 3115).
    let local_only = place == Place::Local || place == Place::None && spaces & SPACE_GLOBAL == 0;
    let mut scope = if local_only { mem.scope.min(SyncScope::Workgroup) } else { mem.scope };
    if wave_group && scope == SyncScope::Workgroup {
        scope = SyncScope::Wavefront;
    }
    let row = ROWS.iter().find(|row| {
        row.kind == kind && row.order == order && row.scopes.contains(&scope) && row.places.contains(&place)
    })?;
    let across = match kind {
        Kind::Fence => spaces & SPACE_SHARED != 0 || order == SyncOrder::SeqCst,
        _ => !mem.one_as,
    };
    Some((row, Ordered { across, global: !local_only || across && place == Place::Local }))
}

/// Which spaces an access orders with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// LDS with the rest, so that [`Steps::LGKM_ACROSS`] applies.
    pub across: bool,
    /// Global memory.
    pub global: bool,
}

impl Ordered {
    /// The steps without their conditions.
    pub fn resolve(self, steps: Steps) -> Steps {
        let wanted = steps.contains(Steps::LGKM) || self.across && steps.contains(Steps::LGKM_ACROSS);
        let mut plain = steps.difference(Steps::LGKM_ACROSS | Steps::LGKM);
        plain.set(Steps::LGKM, wanted);
        plain
    }
}

/// The table's place of an access; `None` for private memory, whose accesses are never atomic (seed 000, line 3109).
fn place(mem: &MemRef) -> Option<Place> {
    Some(match (mem.spaces & SPACE_GLOBAL != 0, mem.spaces & SPACE_SHARED != 0) {
        (true, true) => Place::Generic,
        (true, false) => Place::Global,
        (false, true) => Place::Local,
        (false, false) => return None,
    })
}

/// The order that does the work of both (a compare-and-swap has one for each outcome).
fn strongest(a: SyncOrder, b: SyncOrder) -> SyncOrder {
    use SyncOrder::{AcqRel, Acquire, Release};
    match (a, b) {
        (Acquire, Release) | (Release, Acquire) => AcqRel,
        _ => a.max(b),
    }
}

/// An order as the table has it for the kind: seed 000, lines 3119-3123, and "unordered" as the rows 3188-3190 say.
/// A load atomic with release and a store atomic with acquire are non-atomic there; we keep them monotonic.
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
