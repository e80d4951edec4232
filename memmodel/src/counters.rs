//! Which operations raise which wait counter, and who completes in which order: the columns to fill for a generation.
//!
//! A counter counts operations that are not complete. A wait says "go on when the counter is at most n". What n
//! promises depends on order. Operations of one *class* complete in the order of their issue or they do not; between
//! classes of one counter nothing is known. So for an operation P of an in-order class, with k younger ones *of its
//! class* issued since: as long as P is incomplete, so are those k, and the counter is above k. Hence
//!
//! > P is complete after a wait for n exactly when n <= k,
//!
//! where k is 0 for a class without order. [`crate::waits`] calls k the age of P. The rule needs no special case for
//! mixed classes: LDS, SMEM, LDS with the first wanted is `lgkmcnt(1)`.
//!
//! The counters themselves, their widths and the instructions that wait are facts of [`isa::wait`].
//!
//! # Source
//! Seed 000, lines 3077-3110 (order of vector memory, LDS and flat; stores of GFX10 on `vscnt`); Southern Islands ISA
//! 4.4 (stores raise `expcnt` until their data is read); Vega ISA, "Data Dependency Resolution" (SMEM may return out of
//! order, a message is its own kind); RDNA ISA 4.4.

use crate::Missing;
use isa::table::{Family, Flags, Kind, OpSpec};
use isa::target::Generation;
pub use isa::{Counter, Counts as Wait};
use isa::{MachFunc, MachInst, ModFlags, Opcode, Operand, RegRange, Role, Target, func::SPACE_PRIVATE};

/// What a counter says of an operation when it has counted it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// It is complete: its results are in their registers, or in memory.
    Done,
    /// It has read its vector sources.
    SourcesRead,
    /// It has read the data that it stores; addresses are read at issue.
    DataRead,
}

/// A class of operations on one counter.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its counter.
    pub counter: Counter,
    /// Name for people.
    pub name: &'static str,
    /// Whether its operations complete in order of issue.
    pub in_order: bool,
    /// Whether fences order it: SMEM reads memory that does not change while a kernel runs (seed 000, line 3127), and a
    /// message touches none.
    pub ordered_by_fences: bool,
    /// What the count says.
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

/// The classes of every generation; [`EVENTS`] says which of them a generation uses.
pub static CLASSES: [Class; CLASS_COUNT] = [
    // Loads, stores and atomics of the buffer, global and scratch kinds share one order; on GFX10 those that return
    // something.
    class(Counter::Vm, "vector memory", true, true),
    // A flat access of GFX7 to GFX9 goes to memory or to LDS by its address, so it is in neither order (seed 000, line
    // 3093). On GFX10 it is in both.
    class(Counter::Vm, "flat", false, true),
    class(Counter::Lgkm, "flat", false, true),
    class(Counter::Lgkm, "LDS", true, true),
    class(Counter::Lgkm, "GDS", true, true),
    class(Counter::Lgkm, "scalar memory", false, false),
    class(Counter::Lgkm, "message", false, false),
    // The source registers of a GDS operation or an export are free when expcnt says so. Exports go to places that
    // differ in their pace.
    reading("GDS data", true, Tells::SourcesRead),
    reading("export", false, Tells::SourcesRead),
    reading("store data", true, Tells::DataRead),
    class(Counter::Vs, "vector memory store", true, true),
];

/// A set of classes: bit `1 << index` of [`CLASSES`].
pub type ClassSet = u16;

/// Vector memory.
pub const VECTOR: ClassSet = 1;
/// Flat before GFX10, on both counters.
pub const FLAT: ClassSet = 1 << 1 | 1 << 2;
/// LDS.
pub const LDS: ClassSet = 1 << 3;
/// GDS, on both counters.
pub const GDS: ClassSet = 1 << 4 | GDS_DATA;
/// Sources of GDS.
pub const GDS_DATA: ClassSet = 1 << 7;
/// Scalar memory.
pub const SCALAR: ClassSet = 1 << 5;
/// `s_sendmsg`.
pub const MESSAGE: ClassSet = 1 << 6;
/// Exports.
pub const EXPORT: ClassSet = 1 << 8;
/// GFX6: data of vector memory stores.
pub const STORE_DATA: ClassSet = 1 << 9;
/// GFX10: vector memory that returns nothing.
pub const VECTOR_STORE: ClassSet = 1 << 10;

/// A kind of operation, as the counters of some generation tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// Vector memory that only brings something.
    Load,
    /// Vector memory that returns nothing: stores, atomics without the old value.
    Store,
    /// An atomic that returns the old value.
    Exchange,
    /// The same by a flat address.
    FlatLoad,
    /// As [`Event::Store`].
    FlatStore,
    /// As [`Event::Exchange`].
    FlatExchange,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
    /// Global wave sync, which raises `expcnt` alone.
    WaveSync,
    /// Scalar memory and what goes the same way.
    Scalar,
    /// `s_sendmsg`.
    Message,
    /// An export.
    Export,
}

const EVENT_COUNT: usize = Event::Export as usize + 1;
/// Classes of the events of a generation, by [`Event`].
pub type Events = [ClassSet; EVENT_COUNT];

/// No such instruction there.
const NO: ClassSet = 0;
const BOTH: ClassSet = VECTOR | STORE_DATA;
const FLAT10: ClassSet = VECTOR | LDS;
const FLAT10S: ClassSet = VECTOR_STORE | LDS;

/// The column of a generation: what each event counts as.
#[rustfmt::skip]
pub static EVENTS: [Option<Events>; Generation::COUNT] = [
    //   Load    Store         Exchange FlatLoad FlatStore FlatExchange Lds  Gds  WaveSync  Scalar  Message  Export
    Some([VECTOR, BOTH,         BOTH,    NO,      NO,       NO,          LDS, GDS, GDS_DATA, SCALAR, MESSAGE, EXPORT]),
    Some([VECTOR, VECTOR,       VECTOR,  FLAT,    FLAT,     FLAT,        LDS, GDS, GDS_DATA, SCALAR, MESSAGE, EXPORT]),
    Some([VECTOR, VECTOR,       VECTOR,  FLAT,    FLAT,     FLAT,        LDS, GDS, GDS_DATA, SCALAR, MESSAGE, EXPORT]),
    Some([VECTOR, VECTOR,       VECTOR,  FLAT,    FLAT,     FLAT,        LDS, GDS, GDS_DATA, SCALAR, MESSAGE, EXPORT]),
    Some([VECTOR, VECTOR_STORE, VECTOR,  FLAT10,  FLAT10S,  FLAT10,      LDS, GDS, GDS_DATA, SCALAR, MESSAGE, EXPORT]),
];

/// The column of a processor.
pub(crate) fn events(target: &Target) -> Result<Events, Missing> {
    EVENTS[target.generation as usize].ok_or(Missing::of(target, "wait counters"))
}

/// What an instruction is to the counters; `None` for all that is no memory operation.
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
    /// A vector memory load that writes LDS in place of registers.
    Load,
    /// A vector memory store of what is in LDS.
    Store,
    /// An LDS instruction, or a flat one, which may be one.
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

/// 0 load, 1 store and whatever returns nothing, 2 exchange.
fn manner(inst: &MachInst) -> usize {
    let flags = inst.op.row().flags;
    match flags.contains(Flags::ATOMIC) {
        true if inst.mods.flags.contains(ModFlags::GLC) => 2,
        true => 1,
        false => usize::from(flags.contains(Flags::STORE)),
    }
}

/// Calls `f` with the registers that are not free before the class of an instruction says so.
pub fn held(inst: &MachInst, class: &Class, mut f: impl FnMut(RegRange)) {
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

/// Whether an operation of those classes writes its registers in the order of all vector memory: image instructions have a
/// path of their own.
pub fn writes_in_order(op: Opcode, classes: ClassSet) -> bool {
    classes & !STORE_DATA == VECTOR && op.family() != Family::Mimg
}

/// The indices in a set.
#[inline]
pub fn each(mut set: ClassSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        index
    })
}

/// Whether fences order the operation: they do not order what nobody else can see.
pub fn ordered(func: &MachFunc, inst: &MachInst) -> bool {
    let private = match inst.mem.index() {
        Some(mem) => func.mems[mem].spaces == SPACE_PRIVATE,
        None => inst.op.row().family == Family::Scratch,
    };
    !private
}

/// Bit of a counter in the operand of a `WAIT_POINT`.
pub const fn wait_point_bit(counter: Counter) -> i32 {
    [1, 4, 2, 8][counter as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::{Operand, op};

    fn imm(target: &Target, wait: Wait) -> Operand {
        target.wait_instructions()[0].inst(target, wait).unwrap().ops[0]
    }

    #[test]
    fn immediates_are_those_of_the_assembler() {
        // Judge: llvm-mc-19 -mcpu=gfx906 -show-encoding on the text in the comment.
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

    /// Every class is used by some generation, and nothing counts on a counter that the processor has not.
    #[test]
    fn columns_fit_the_processors() {
        let mut used = 0;
        for target in &isa::PROCESSORS {
            for set in events(target).unwrap() {
                used |= set;
                for class in each(set) {
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
