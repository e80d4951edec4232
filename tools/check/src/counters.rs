//! The wait counters as data. The tables say which operations increment which counter, and which operations
//! complete in order.
//!
//! A counter counts operations that are not complete. `s_waitcnt` with a count n lets the wave continue when
//! the counter is at most n. Which operations are then complete depends on their *class*. The operations of
//! one class complete either in the order of their issue or in any order. Between two classes of one counter,
//! no order is known. Consider an operation after which k operations of its class were issued. If the class
//! is in order, the operation is known to be complete after a wait for n if n <= k. If the class has no
//! order, it is known to be complete only if n = 0.
//!
//! | counter | GFX6-GFX8 | GFX9 | GFX10 | counts |
//! |-|-|-|-|-|
//! | `vmcnt` | 15 | 63 | 63 | vector memory; on GFX10 operations that return data |
//! | `expcnt` | 7 | 7 | 7 | sources still to be read: exports, GDS, on GFX6 the data of stores |
//! | `lgkmcnt` | 15 | 15 | 63 | LDS, GDS, scalar memory, messages, flat |
//! | `vscnt` | - | - | 63 | vector memory operations that return nothing |
//!
//! # Source
//! LLVM's AMDGPU guide, seed 000, lines 3090-3135 (order of vector memory, LDS, flat; `vscnt`); Southern
//! Islands ISA 4.4, Sea Islands ISA 4.4, GCN3 ISA 4.4, Vega ISA 4.4 "Manually Inserted Wait States" and "Data
//! Dependency Resolution"; RDNA ISA 4.4. Two facts come from LLVM's wait insertion: that stores of GFX6
//! increment `expcnt` (`vmemWriteNeedsExpWaitcnt`), and that flat accesses of GFX10 are in order
//! (`hasFlatLgkmVMemCountInOrder`).

use crate::effects::{Effects, Kinds};
pub use isa::Counter;
use isa::Target;

/// Returns the instruction that waits until the counter is at most `count`.
pub fn wait(counter: Counter, count: u8) -> String {
    match counter {
        Counter::Vs => format!("s_waitcnt_vscnt null, {count}"),
        _ => format!("s_waitcnt {}({count})", counter.name()),
    }
}

/// A class of operations that one wait counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// Vector memory operations. On GFX10, these are only loads and atomics that return data.
    Vector,
    /// Stores, and atomics without a result, on GFX10.
    VectorStore,
    /// A flat access before GFX10, as `vmcnt` counts it. Because the access may go to memory or to LDS,
    /// `lgkmcnt` counts it as well, in the class [`Class::FlatLds`].
    FlatVector,
    /// A flat access before GFX10, as `lgkmcnt` counts it. Because the access may go to memory or to LDS,
    /// `vmcnt` counts it as well, in the class [`Class::FlatVector`].
    FlatLds,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
    /// Scalar memory operations, and instructions that use the same hardware path (`s_memtime`,
    /// `s_dcache_*`).
    Scalar,
    /// Messages, which `s_sendmsg` sends.
    Message,
    /// GDS operations that have not read their sources.
    GdsData,
    /// Exports of a colour or null exports, until they have read their sources.
    ExportTarget,
    /// Exports of a position that have not read their sources.
    ExportPosition,
    /// Exports of a parameter that have not read their sources.
    ExportParameter,
    /// Vector memory stores on GFX6 that have not read their data.
    StoreData,
    /// All operations that the caller of a function may have in flight and that `vmcnt` counts.
    CallerVm,
    /// All operations that the caller of a function may have in flight and that `expcnt` counts.
    CallerExp,
    /// All operations that the caller of a function may have in flight and that `lgkmcnt` counts.
    CallerLgkm,
    /// All operations that the caller of a function may have in flight and that `vscnt` counts.
    CallerVs,
}

/// Facts about a class of operations.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo {
    /// The class.
    pub class: Class,
    /// Counter that counts operations of the class.
    pub counter: Counter,
    /// Name of the class for messages.
    pub name: &'static str,
    /// Whether operations of the class complete in order of issue.
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
    /// Returns the facts about the class.
    pub const fn info(self) -> &'static ClassInfo {
        &CLASS_TABLE[self as usize]
    }
}

/// The kind of memory to which a flat access goes: device memory or LDS. The hardware decides this from the
/// addresses of the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlatPath {
    /// The kind of memory is not known, or it differs between lanes. The operation is then complete only
    /// after waits for both counters that count it.
    #[default]
    Unknown,
    /// The access goes to global or scratch memory.
    Memory,
    /// LDS.
    Lds,
}

/// The classes to which an instruction's operations belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Classes that decide when the operation has written its destination registers. It has written them when
    /// it is complete in all these classes.
    pub done: [Option<Class>; 2],
    /// Class that decides when the operation has read its source registers. It has read them when it is
    /// complete in this class.
    pub read: Option<Class>,
}

/// Returns the classes of wait counters to which an instruction's operations belong.
pub(crate) fn classes(target: &Target, effects: &Effects, path: FlatPath) -> Classes {
    let kinds = effects.kinds;
    let mut classes = Classes::default();
    let vector = match target.max_vscnt > 0 && !effects.returns {
        true => Class::VectorStore,
        false => Class::Vector,
    };
    if kinds.contains(Kinds::FLAT_ANY) {
        classes.done = match (path, target.arch.checks.flat_in_order) {
            (FlatPath::Memory, _) => [Some(vector), None],
            (FlatPath::Lds, true) => [Some(Class::Lds), None],
            (FlatPath::Lds, false) => [Some(Class::FlatLds), None],
            (FlatPath::Unknown, true) => [Some(vector), Some(Class::Lds)],
            (FlatPath::Unknown, false) => [Some(Class::FlatVector), Some(Class::FlatLds)],
        };
    } else if kinds.intersects(Kinds::VMEM | Kinds::FLAT) {
        classes.done[0] = effects.counts.then_some(vector);
        if target.arch.checks.store_data_counts && kinds.contains(Kinds::STORES) {
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
        // Export targets 12 to 15 are positions. Targets from 32 on are parameters.
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
