//! The wait counters as data: which operations raise which counter, and who returns in which order.
//!
//! A counter counts operations that are not complete. `s_waitcnt` says "go on when the counter is at most n". What n
//! promises depends on order. Operations of one *class* complete in the order of their issue or they do not; between
//! classes of one counter nothing is known. So for an operation P of an in-order class, with k younger ones *of its
//! class* issued since: as long as P is incomplete, so are those k, and the counter is above k. Hence
//!
//! > P is complete after a wait for n exactly when n <= k,
//!
//! where k is 0 for a class without order. [`crate::waits`] calls k the age of P. The rule needs no special case for
//! mixed classes: LDS, SMEM, LDS with the first wanted is `lgkmcnt(1)`.
//!
//! Source: seed 000, lines 3090-3110 (order of vector memory, LDS and flat); Vega ISA, "Data Dependency Resolution"
//! (SMEM may return out of order, a message is its own kind).

use isa::table::{Family, Flags};
use isa::{MachFunc, MachInst, ModFlags, Subtarget, WaitCount, func::SPACE_PRIVATE};

/// A counter of `s_waitcnt`, in the order in which the fields are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Counter {
    Vm = 0,
    Exp = 1,
    Lgkm = 2,
}

impl Counter {
    /// All of them.
    pub const ALL: [Counter; 3] = [Counter::Vm, Counter::Exp, Counter::Lgkm];

    /// The assembler's name.
    pub const fn name(self) -> &'static str {
        ["vmcnt", "expcnt", "lgkmcnt"][self as usize]
    }

    /// Its bit in the operand of a `WAIT_POINT`.
    pub const fn wait_point_bit(self) -> i32 {
        [1, 4, 2][self as usize]
    }

    /// Largest count the field expresses.
    pub fn max(self, target: &Subtarget) -> u8 {
        [target.max_vmcnt, target.max_expcnt, target.max_lgkmcnt][self as usize]
    }
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
    /// Whether the counter says when the operation has *read* its sources, not written its destination.
    pub reads_sources: bool,
}

/// Number of classes.
pub const CLASS_COUNT: usize = 8;

const fn class(counter: Counter, name: &'static str, in_order: bool, ordered_by_fences: bool) -> Class {
    Class { counter, name, in_order, ordered_by_fences, reads_sources: false }
}

/// The classes of GFX6-GFX9. A generation with other counters is another table of this shape.
pub static CLASSES: [Class; CLASS_COUNT] = [
    // Loads, stores and atomics of the buffer, global and scratch kinds share one order.
    class(Counter::Vm, "vector memory", true, true),
    // A flat access goes to memory or to LDS by its address, so it is in neither order (seed 000, line 3093).
    class(Counter::Vm, "flat", false, true),
    class(Counter::Lgkm, "flat", false, true),
    class(Counter::Lgkm, "LDS", true, true),
    class(Counter::Lgkm, "GDS", true, true),
    class(Counter::Lgkm, "scalar memory", false, false),
    class(Counter::Lgkm, "message", false, false),
    // The source registers of a GDS operation or an export are free when expcnt says so.
    Class {
        counter: Counter::Exp,
        name: "GDS data",
        in_order: true,
        ordered_by_fences: false,
        reads_sources: true,
    },
];

/// A set of classes: bit `1 << index` of [`CLASSES`].
pub type ClassSet = u8;

/// Vector memory.
pub const VECTOR: ClassSet = 1;
/// Flat, on both counters.
pub const FLAT: ClassSet = 1 << 1 | 1 << 2;
/// LDS.
pub const LDS: ClassSet = 1 << 3;
/// GDS, on both counters.
pub const GDS: ClassSet = 1 << 4 | 1 << 7;
/// Scalar memory.
pub const SCALAR: ClassSet = 1 << 5;
/// `s_sendmsg`.
pub const MESSAGE: ClassSet = 1 << 6;

/// The classes in which the instruction counts; empty for all that is no memory operation.
#[inline]
pub fn classes(inst: &MachInst) -> ClassSet {
    let row = inst.op.row();
    if !row.flags.intersects(Flags::VM.union(Flags::LGKM).union(Flags::EXP)) {
        return 0;
    }
    match row.family {
        Family::Flat => FLAT,
        Family::Mubuf | Family::Global | Family::Scratch => VECTOR,
        // GWS operations raise expcnt alone.
        Family::Ds if !row.flags.contains(Flags::LGKM) => GDS & !(1 << 4),
        Family::Ds if inst.mods.flags.contains(ModFlags::GDS) || row.flags.contains(Flags::GDS_ONLY) => GDS,
        Family::Ds => LDS,
        Family::Smem => SCALAR,
        _ => MESSAGE,
    }
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

/// Counts to wait for; `Wait::ANY` in a field is no demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(pub [u8; 3]);

impl Wait {
    /// A field without demand.
    pub const ANY: u8 = u8::MAX;
    /// No demand.
    pub const NONE: Wait = Wait([Wait::ANY; 3]);

    /// Whether it demands nothing.
    #[inline]
    pub fn is_none(self) -> bool {
        self == Wait::NONE
    }

    /// Lowers one field. Returns whether it changed.
    #[inline]
    pub fn demand(&mut self, counter: Counter, count: u8) -> bool {
        let field = &mut self.0[counter as usize];
        let lower = count < *field;
        if lower {
            *field = count;
        }
        lower
    }

    /// The demand on a counter.
    #[inline]
    pub fn count(self, counter: Counter) -> u8 {
        self.0[counter as usize]
    }

    /// The immediate of `s_waitcnt`.
    pub fn pack(self, target: &Subtarget) -> i32 {
        let Wait([vm, exp, lgkm]) = self;
        i32::from(target.waitcnt(vm, exp, lgkm))
    }

    /// The demands of an immediate.
    pub fn unpack(imm: i32, target: &Subtarget) -> Wait {
        let WaitCount { vm, exp, lgkm } = target.unpack_waitcnt(imm as u16);
        let counts = [vm, exp, lgkm];
        Wait(Counter::ALL.map(|counter| {
            let count = counts[counter as usize];
            if count >= counter.max(target) { Wait::ANY } else { count }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_are_those_of_the_assembler() {
        // Judge: llvm-mc-19 -mcpu=gfx906 -show-encoding on the text in the comment.
        let target = Subtarget::by_name("gfx906").unwrap();
        let any = Wait::ANY;
        for (wait, imm) in [
            (Wait([0, any, any]), 0x0f70), // s_waitcnt vmcnt(0)
            (Wait([any, any, 0]), 0xc07f), // s_waitcnt lgkmcnt(0)
            (Wait([any, 0, any]), 0xcf0f), // s_waitcnt expcnt(0)
            (Wait([17, any, 3]), 0x4371),  // s_waitcnt vmcnt(17) lgkmcnt(3)
            (Wait([0, 0, 0]), 0x0000),     // s_waitcnt 0
        ] {
            assert_eq!(wait.pack(&target), imm, "{wait:?}");
            assert_eq!(Wait::unpack(imm, &target), wait);
        }
    }
}
