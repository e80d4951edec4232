//! The wait counters as data: which operations raise which counter, and who completes in which order.
//!
//! A counter counts operations that are not complete; `s_waitcnt` lets the wave go on when it is at most n. What that
//! promises depends on order. Operations of one *class* complete in the order of their issue, or in any; between two
//! classes of one counter nothing is known. So if k younger operations of its own class were issued after an operation of
//! a class in order, the operation is complete after a wait for n exactly when n <= k; without order, when n = 0.
//!
//! | counter | GFX6-GFX8 | GFX9 | GFX10 | counts |
//! |-|-|-|-|-|
//! | `vmcnt` | 15 | 63 | 63 | vector memory; on GFX10 what returns data |
//! | `expcnt` | 7 | 7 | 7 | sources still to be read: exports, GDS, on GFX6 the data of stores |
//! | `lgkmcnt` | 15 | 15 | 63 | LDS, GDS, scalar memory, messages, flat |
//! | `vscnt` | - | - | 63 | vector memory that returns nothing |
//!
//! # Source
//! Seed 000, lines 3090-3135 (order of vector memory, LDS, flat; `vscnt`); Southern Islands ISA 4.4, Sea Islands ISA 4.4,
//! GCN3 ISA 4.4, Vega ISA 4.4 "Manually Inserted Wait States" and "Data Dependency Resolution"; RDNA ISA 4.4; that
//! stores of GFX6 raise `expcnt` and flat accesses of GFX10 are in order: as LLVM's wait insertion has it
//! (`vmemWriteNeedsExpWaitcnt`, `hasFlatLgkmVMemCountInOrder`).

use crate::effects::{Effects, Kinds};
pub use isa::Counter;
use isa::Target;
use isa::target::Generation;

/// The instruction that waits until the counter is at most that.
pub fn wait(counter: Counter, count: u8) -> String {
    match counter {
        Counter::Vs => format!("s_waitcnt_vscnt null, {count}"),
        _ => format!("s_waitcnt {}({count})", counter.name()),
    }
}

/// A class of operations on one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// Vector memory; on GFX10 loads and atomics that return.
    Vector,
    /// GFX10: stores and atomics that return nothing.
    VectorStore,
    /// Flat access that may go to either memory, on `vmcnt` (before GFX10).
    FlatVector,
    /// The same on `lgkmcnt`.
    FlatLds,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
    /// Scalar memory and what goes the same way (`s_memtime`, `s_dcache_*`).
    Scalar,
    /// `s_sendmsg`.
    Message,
    /// Sources of a GDS operation.
    GdsData,
    /// Sources of an export of a colour, or of nothing.
    ExportTarget,
    /// Sources of an export of a position.
    ExportPosition,
    /// Sources of an export of a parameter.
    ExportParameter,
    /// GFX6: data of a vector memory store.
    StoreData,
    /// What the caller of a function has under way on `vmcnt`.
    CallerVm,
    /// ... on `expcnt`.
    CallerExp,
    /// ... on `lgkmcnt`.
    CallerLgkm,
    /// ... on `vscnt`.
    CallerVs,
}

/// What is known of a class.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo {
    /// Which.
    pub class: Class,
    /// Its counter.
    pub counter: Counter,
    /// Name for people.
    pub name: &'static str,
    /// Whether its operations complete in order of issue.
    pub in_order: bool,
}

const fn info(class: Class, counter: Counter, name: &'static str, in_order: bool) -> ClassInfo {
    ClassInfo { class, counter, name, in_order }
}

/// Number of classes.
pub const CLASSES: usize = 17;

/// The classes, in the order of [`Class`].
pub static CLASS_TABLE: [ClassInfo; CLASSES] = [
    info(Class::Vector, Counter::Vm, "vector memory", true),
    info(Class::VectorStore, Counter::Vs, "vector memory store", true),
    info(Class::FlatVector, Counter::Vm, "flat", false),
    info(Class::FlatLds, Counter::Lgkm, "flat", false),
    info(Class::Lds, Counter::Lgkm, "LDS", true),
    info(Class::Gds, Counter::Lgkm, "GDS", true),
    info(Class::Scalar, Counter::Lgkm, "scalar memory", false),
    info(Class::Message, Counter::Lgkm, "message", false),
    info(Class::GdsData, Counter::Exp, "GDS data", true),
    info(Class::ExportTarget, Counter::Exp, "export", true),
    info(Class::ExportPosition, Counter::Exp, "position export", true),
    info(Class::ExportParameter, Counter::Exp, "parameter export", true),
    info(Class::StoreData, Counter::Exp, "store data", true),
    info(Class::CallerVm, Counter::Vm, "the caller's", false),
    info(Class::CallerExp, Counter::Exp, "the caller's", false),
    info(Class::CallerLgkm, Counter::Lgkm, "the caller's", false),
    info(Class::CallerVs, Counter::Vs, "the caller's", false),
];

impl Class {
    /// Its row.
    pub const fn info(self) -> &'static ClassInfo {
        &CLASS_TABLE[self as usize]
    }
}

/// Where a flat access goes; hardware knows only when it has the addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlatPath {
    /// Not known, or lanes go both ways: complete only when both counters say so.
    #[default]
    Unknown,
    /// Global or scratch memory.
    Memory,
    /// LDS.
    Lds,
}

/// The classes in which an instruction counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Complete when all of these are: its destination registers are written.
    pub done: [Option<Class>; 2],
    /// When this is, its source registers have been read.
    pub read: Option<Class>,
}

/// The classes of an instruction.
pub(crate) fn classes(target: &Target, effects: &Effects, path: FlatPath) -> Classes {
    let kinds = effects.kinds;
    let mut classes = Classes::default();
    let vector = match target.generation == Generation::Gfx10 && !effects.returns {
        true => Class::VectorStore,
        false => Class::Vector,
    };
    if kinds.contains(Kinds::FLAT_ANY) {
        classes.done = match (path, target.generation) {
            (FlatPath::Memory, _) => [Some(vector), None],
            (FlatPath::Lds, Generation::Gfx10) => [Some(Class::Lds), None],
            (FlatPath::Lds, _) => [Some(Class::FlatLds), None],
            (FlatPath::Unknown, Generation::Gfx10) => [Some(vector), Some(Class::Lds)],
            (FlatPath::Unknown, _) => [Some(Class::FlatVector), Some(Class::FlatLds)],
        };
    } else if kinds.intersects(Kinds::VMEM | Kinds::FLAT) {
        classes.done[0] = effects.counts.then_some(vector);
        if target.generation == Generation::Gfx6 && kinds.contains(Kinds::STORES) {
            classes.read = Some(Class::StoreData);
        }
    } else if kinds.contains(Kinds::DS) {
        if kinds.contains(Kinds::GDS) {
            classes.done[0] = Some(Class::Gds);
            classes.read = Some(Class::GdsData);
        } else if effects.counts {
            classes.done[0] = Some(Class::Lds);
        }
    } else if kinds.contains(Kinds::SMEM) {
        classes.done[0] = Some(Class::Scalar);
    } else if kinds.contains(Kinds::EXPORT) {
        // Targets 12 to 15 are positions, from 32 on parameters.
        classes.read = Some(match effects.export {
            12..=15 => Class::ExportPosition,
            32.. => Class::ExportParameter,
            _ => Class::ExportTarget,
        });
    } else if kinds.contains(Kinds::MESSAGE) {
        classes.done[0] = Some(Class::Message);
    }
    classes
}
