//! The operations that increment each wait counter, and the order in which they complete.
//!
//! The value of a counter is the number of operations that are not complete. A wait means "continue when the
//! counter is at most n". What n guarantees depends on the order of completion. Operations of the same
//! *class* either complete in the order of their issue, or in no order. Between classes of one counter no
//! order is known.
//!
//! Consider an operation P of an in-order class, and k younger operations *of its class* that have issued
//! since. As long as P is incomplete, these k operations are incomplete too, and the counter is above k.
//! Hence
//!
//! > P is complete after a wait for n exactly when n <= k,
//!
//! where k is 0 for a class without order. [`crate::waits`] calls k the age of P. The rule needs no special
//! case for mixed classes: for the sequence LDS, SMEM, LDS, waiting for the first operation is `lgkmcnt(1)`.
//!
//! The counters themselves, their widths, and the instructions that wait are defined in [`isa::wait`]. What
//! differs between processors is in [`MemoryModel`]: the counter of stores, and the order of FLAT
//! instructions.
//!
//! # Source
//! LLVM's AMDGPU guide, seed 000, lines 3077-3110 (order of vector memory, LDS and flat operations; stores of
//! GFX10 on `vscnt`); Southern Islands ISA 4.4 (stores increment `expcnt` until their data is read); Vega
//! ISA, "Data Dependency Resolution" (SMEM may return out of order, a message is a kind of its own); RDNA ISA
//! 4.4.

use isa::table::{Family, Flags, Kind, OpSpec};
pub use isa::{Counter, Counts as Wait};
use isa::{FlatOrder, MachInst, MemoryModel, ModFlags, Opcode, Operand, RegRange, Role, StoreCounter};
use mir::{MachFunc, SPACE_PRIVATE};

/// What an operation has done when its counter is decremented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// The counter says that the operation is complete: its results are in their registers or in memory.
    Done,
    /// The operation has read its vector sources.
    SourcesRead,
    /// The counter says that the operation has read the data that it stores. Registers with addresses do not
    /// matter, because the operation reads them already when it is issued.
    DataRead,
}

/// A class of operations on one counter.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Counter of the class.
    pub counter: Counter,
    /// Name for messages.
    pub name: &'static str,
    /// Whether the operations of the class complete in the order of issue.
    pub in_order: bool,
    /// Whether fences order the operations. They do not order scalar memory instructions, which read memory
    /// that does not change while a kernel runs (LLVM's AMDGPU guide, seed 000, line 3127), and messages,
    /// which access no memory.
    pub ordered_by_fences: bool,
    /// What an operation has done when the counter is decremented.
    pub tells: Tells,
}

/// Number of classes.
pub const CLASS_COUNT: usize = 11;

const fn class(counter: Counter, name: &'static str, in_order: bool, ordered_by_fences: bool) -> Class {
    Class { counter, name, in_order, ordered_by_fences, tells: Tells::Done }
}

const fn reading(name: &'static str, in_order: bool, tells: Tells) -> Class {
    Class { counter: Counter::Exp, name, in_order, ordered_by_fences: false, tells }
}

/// The classes of all processors. [`events`] says which classes a processor uses.
pub static CLASSES: [Class; CLASS_COUNT] = [
    // Loads, stores and atomics of the buffer, global and scratch families. All of them complete in the order
    // of issue. On GFX10, this class has only those that return a result.
    class(Counter::Vm, "vector memory", true, true),
    // A flat access of GFX7 to GFX9 goes to memory or to LDS depending on its address. It therefore completes
    // neither in the order of vector memory nor in that of LDS (LLVM's AMDGPU guide, seed 000, line 3093). On
    // GFX10 it completes in both orders.
    class(Counter::Vm, "flat", false, true),
    class(Counter::Lgkm, "flat", false, true),
    class(Counter::Lgkm, "LDS", true, true),
    class(Counter::Lgkm, "GDS", true, true),
    class(Counter::Lgkm, "scalar memory", false, false),
    class(Counter::Lgkm, "message", false, false),
    // The counter `expcnt` of a GDS operation or an export. When it has been decremented, the source
    // registers may be overwritten. Exports do not complete in order, because their destinations differ in
    // speed.
    reading("GDS data", true, Tells::SourcesRead),
    reading("export", false, Tells::SourcesRead),
    reading("store data", true, Tells::DataRead),
    class(Counter::Vs, "vector memory store", true, true),
];

/// A set of classes. Bit `1 << index` stands for the class with that index in [`CLASSES`].
pub type ClassSet = u16;

/// Vector memory.
pub const VECTOR: ClassSet = 1;
/// Flat operations before GFX10, on both counters.
pub const FLAT: ClassSet = 1 << 1 | 1 << 2;
/// LDS.
pub const LDS: ClassSet = 1 << 3;
/// GDS operations, on both counters.
pub const GDS: ClassSet = 1 << 4 | GDS_DATA;
/// Sources of GDS operations.
pub const GDS_DATA: ClassSet = 1 << 7;
/// Scalar memory.
pub const SCALAR: ClassSet = 1 << 5;
/// `s_sendmsg`.
pub const MESSAGE: ClassSet = 1 << 6;
/// Exports.
pub const EXPORT: ClassSet = 1 << 8;
/// Data of vector memory stores on GFX6.
pub const STORE_DATA: ClassSet = 1 << 9;
/// Vector memory operations of GFX10 that return nothing.
pub const VECTOR_STORE: ClassSet = 1 << 10;

/// A kind of operation. Two kinds are distinguished if the counters of some processor treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// Vector memory operation that only loads.
    Load,
    /// Vector memory operation that returns nothing: a store, or an atomic that does not return the old
    /// value.
    Store,
    /// Atomic operation that returns the old value.
    Exchange,
    /// Like [`Event::Load`], with a flat address.
    FlatLoad,
    /// Like [`Event::Store`], with a flat address.
    FlatStore,
    /// Like [`Event::Exchange`], with a flat address.
    FlatExchange,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
    /// Global wave sync, which increments only `expcnt`.
    WaveSync,
    /// Scalar memory, and other operations that use the same path.
    Scalar,
    /// `s_sendmsg`.
    Message,
    /// An export.
    Export,
}

const EVENT_COUNT: usize = Event::Export as usize + 1;
/// The classes of each [`Event`] on a processor. The set of an event is empty if the processor has no such
/// instruction.
pub type Events = [ClassSet; EVENT_COUNT];

/// Returns the counter classes of each event (kind of operation), in the order of [`Event`].
pub const fn events(facts: &MemoryModel) -> Events {
    let (store, exchange) = match facts.stores {
        StoreCounter::VmAndExp => (VECTOR | STORE_DATA, VECTOR | STORE_DATA),
        StoreCounter::Vm => (VECTOR, VECTOR),
        StoreCounter::Vs => (VECTOR_STORE, VECTOR),
    };
    let [flat_load, flat_store, flat_exchange] = match facts.flat {
        FlatOrder::None => [0; 3],
        FlatOrder::Unordered => [FLAT; 3],
        FlatOrder::InOrder => [VECTOR | LDS, store | LDS, exchange | LDS],
    };
    [
        VECTOR,
        store,
        exchange,
        flat_load,
        flat_store,
        flat_exchange,
        LDS,
        GDS,
        GDS_DATA,
        SCALAR,
        MESSAGE,
        EXPORT,
    ]
}

/// Returns the event (kind of operation) of an instruction, or `None` if the instruction is not a memory
/// operation.
#[inline]
pub fn event(inst: &MachInst) -> Option<Event> {
    let row = inst.op.row();
    if !row.flags.intersects(Flags::VM.union(Flags::LGKM).union(Flags::EXP)) {
        return None;
    }
    Some(match row.family {
        Family::Flat => [Event::FlatLoad, Event::FlatStore, Event::FlatExchange][manner(inst)],
        Family::Mubuf | Family::Mtbuf | Family::Mimg | Family::Global | Family::Scratch => {
            [Event::Load, Event::Store, Event::Exchange][manner(inst)]
        }
        Family::Ds if !row.flags.contains(Flags::LGKM) => Event::WaveSync,
        Family::Ds if inst.mods.flags.contains(ModFlags::GDS) || row.flags.contains(Flags::GDS_ONLY) => {
            Event::Gds
        }
        Family::Ds => Event::Lds,
        Family::Smem => Event::Scalar,
        Family::Exp => Event::Export,
        _ => Event::Message,
    })
}

/// How an instruction accesses LDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LdsPath {
    /// A vector memory load that writes to LDS instead of registers.
    Load,
    /// A vector memory store whose data comes from LDS.
    Store,
    /// An LDS instruction, or a flat instruction, which may access LDS in the same way.
    Instruction,
}

/// Returns how an instruction accesses LDS, if it may.
pub fn lds_path(inst: &MachInst) -> Option<LdsPath> {
    let event = event(inst)?;
    match event {
        Event::Load if inst.mods.flags.contains(ModFlags::LDS) => Some(LdsPath::Load),
        Event::Store if inst.mods.flags.contains(ModFlags::LDS) => Some(LdsPath::Store),
        Event::Lds | Event::FlatLoad | Event::FlatStore | Event::FlatExchange => Some(LdsPath::Instruction),
        _ => None,
    }
}

/// Returns which of the three events (kinds of operations) of an instruction family an operation is: 0 for a
/// load, 1 for a store or another operation that returns nothing, and 2 for an atomic that returns the old
/// value.
fn manner(inst: &MachInst) -> usize {
    let flags = inst.op.row().flags;
    match flags.contains(Flags::ATOMIC) {
        true if inst.mods.flags.contains(ModFlags::GLC) => 2,
        true => 1,
        false => usize::from(flags.contains(Flags::STORE)),
    }
}

/// Calls `f` with each register that an operation still writes or reads after issue. No other instruction may
/// access such a register before the counter of `class` says that the operation is complete.
pub fn registers_in_use(inst: &MachInst, class: &Class, mut f: impl FnMut(RegRange)) {
    let specs = inst.op.row().ops;
    for (index, &operand) in inst.operands().iter().enumerate() {
        let Operand::Reg(range) = operand else { continue };
        let role = inst.role(index);
        let is_source = role != Role::Def && range.first.0 >= 256;
        let is_address = |spec: &OpSpec| matches!(spec.kind, Kind::Vaddr | Kind::ImageAddress(_));
        let held = match class.tells {
            Tells::Done => role != Role::Use,
            Tells::SourcesRead => is_source,
            Tells::DataRead => is_source && !specs.get(index).is_some_and(is_address),
        };
        if held {
            f(range);
        }
    }
}

/// Returns whether an operation of these classes writes its registers in the common order of vector memory
/// operations. Image instructions do not, because they have a data path of their own.
pub fn writes_in_order(op: Opcode, classes: ClassSet) -> bool {
    classes & !STORE_DATA == VECTOR && op.family() != Family::Mimg
}

/// Returns the indices in a set.
#[inline]
pub fn indices(mut set: ClassSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        index
    })
}

/// Returns whether fences order the memory access of an instruction. They do not order accesses to private
/// memory, which no other work-item can see.
pub fn ordered(func: &MachFunc, inst: &MachInst) -> bool {
    let private = match inst.mem.index() {
        Some(mem) => func.mems[mem].spaces == SPACE_PRIVATE,
        None => inst.op.row().family == Family::Scratch,
    };
    !private
}

/// Returns the bit that stands for a counter in the operand of a `WAIT_POINT`.
pub const fn wait_point_bit(counter: Counter) -> i32 {
    [1, 4, 2, 8][counter as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::{Operand, Target, op};

    fn imm(target: &Target, wait: Wait) -> Operand {
        target.wait_instructions()[0].inst(target, wait).unwrap().ops[0]
    }

    #[test]
    fn immediates_are_those_of_the_assembler() {
        // Expected values are from llvm-mc-19 -mcpu=gfx906 -show-encoding for the text in each comment.
        let target = Target::by_name("gfx906").unwrap();
        let any = Wait::ANY;
        for (wait, mask) in [
            (Wait([0, any, any, any]), 0x0f70), // s_waitcnt vmcnt(0)
            (Wait([any, any, 0, any]), 0xc07f), // s_waitcnt lgkmcnt(0)
            (Wait([any, 0, any, any]), 0xcf0f), // s_waitcnt expcnt(0)
            (Wait([17, any, 3, any]), 0x4371),  // s_waitcnt vmcnt(17) lgkmcnt(3)
            (Wait([0, 0, 0, any]), 0x0000),     // s_waitcnt 0
        ] {
            assert_eq!(imm(target, wait), Operand::Imm(mask), "{wait:?}");
            let inst = MachInst::new(op::S_WAITCNT, &[Operand::Imm(mask)]);
            assert_eq!(target.waited(&inst), Some(wait));
        }
    }

    /// Every class must be used by some processor, and no class may use a counter that the processor does
    /// not have.
    #[test]
    fn columns_fit_the_processors() {
        let mut used = 0;
        for target in &isa::PROCESSORS {
            for set in events(&target.arch.memory_model) {
                used |= set;
                for class in indices(set) {
                    assert!(
                        CLASSES[class].counter.max(target) > 0,
                        "{}: {}",
                        target.name,
                        CLASSES[class].name
                    );
                }
            }
        }
        assert_eq!(used, (1 << CLASS_COUNT) - 1);
    }
}
