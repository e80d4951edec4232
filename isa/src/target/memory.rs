//! Facts about caches and counters from which the compiler builds its memory model.
//!
//! The checker, the emulator and the litmus tests have facts of their own, so that an error in one of these
//! readings of the manuals is found by the others.
//!
//! # Source
//! Caches and cache bits: seed 000, lines 3040-3187; gfx90a is newer than this guide, so its facts are what
//! LLVM 19 emits (`memmodel/tests/llvm_sequences.rs`). Counters: seed 000, lines 3077-3110; Southern Islands
//! ISA 4.4 (stores increment `expcnt` until their data is read); RDNA ISA 4.4 (`vscnt`).

use crate::inst::ModFlags;
use crate::table::Opcode;

/// The memory model of a family.
#[derive(Clone, Copy, Debug)]
pub struct MemoryModel {
    /// The caches between a wave and memory.
    pub caches: CacheLevels,
    /// Instruction that invalidates the innermost cache of vector memory, which is the one of the compute
    /// unit.
    pub invalidate: Opcode,
    /// Instruction that invalidates the caches behind the innermost one. `None` if the kinds of caches
    /// ([`MemoryModel::caches`]) do not require this.
    pub invalidate_outer: Option<Opcode>,
    /// Instruction that writes back the outer cache. `None` if other agents can read data without a
    /// write-back.
    pub write_back: Option<Opcode>,
    /// Cache bits of a volatile load.
    pub volatile_load: ModFlags,
    /// Cache bits of a volatile store.
    pub volatile_store: ModFlags,
    /// Whether atomic accesses and cache operations say their scope in cache bits. Then the L2s of one agent
    /// need not be coherent either, and a cache operation concerns all caches up to its scope.
    pub scope_bits: bool,
    /// Cache bits of a nontemporal load.
    pub nontemporal_load: ModFlags,
    /// Cache bits of a nontemporal store.
    pub nontemporal_store: ModFlags,
    /// The counter of vector memory operations that return nothing.
    pub stores: StoreCounter,
    /// How FLAT instructions are counted.
    pub flat: FlatOrder,
}

/// The caches between a wave and memory, and which of them are coherent with each other. This decides which
/// instructions a memory order requires: `memmodel::sequences` has a column of its table for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CacheLevels {
    /// An L1 for each compute unit, which writes through, and an L2 that is coherent with other agents. All
    /// waves of a work-group use the same L1.
    SharedL2,
    /// An L1 for each compute unit and an L2 for each agent: other agents read a store only after the L2 was
    /// written back. A work-group can be split over compute units, and then its waves use different L1s.
    OwnL2,
    /// A GL0 for each compute unit, a GL1 for each shader array, and an L2 that is coherent with other
    /// agents. The waves of a work-group use different GL0s unless the group stays in one compute unit.
    Gl0Gl1L2,
}

impl CacheLevels {
    /// Number of values.
    pub const COUNT: usize = CacheLevels::Gl0Gl1L2 as usize + 1;
}

/// The counter of vector memory operations that return nothing: stores, and atomics without result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCounter {
    /// `vmcnt`, in order with the operations that return something. `expcnt` also counts operations that
    /// store data, until they have read the data.
    VmAndExp,
    /// `vmcnt`, in order with the operations that return something.
    Vm,
    /// `vscnt`.
    Vs,
}

/// How FLAT instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatOrder {
    /// There are no FLAT instructions.
    None,
    /// Both the counter of vector memory and that of LDS count FLAT instructions. These complete in order
    /// neither with vector memory operations nor with LDS operations, because the address decides where an
    /// access goes (LLVM's AMDGPU guide, seed 000, line 3093).
    Unordered,
    /// Both the counter of vector memory and that of LDS count FLAT instructions. These complete in order
    /// with the other operations of both counters.
    InOrder,
}
