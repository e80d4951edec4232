//! What passes may do with memory operations, and past which others: the table of single-thread optimisation
//! constraints (seed 000, lines 4024-4039), and a row for each pass that moves, merges, forwards, removes or copies one.
//!
//! Two questions, and no pass has an answer of its own:
//!
//! - *May this access be touched?* Each has one [`Class`]; a [`Rule`] names the classes that its pass takes.
//! - *May it pass this operation?* [`stays`] says of an operation which of the others stay on their side of it; a rule
//!   says which way its pass moves accesses.
//!
//! Atomics themselves stay where they are, in order with each other: what the table says of sequentially consistent
//! operations among themselves, and of the atomics that a fence is paired with, holds for that reason. `docs/memory-model.md`
//! has both tables, printed from here.
//!
//! Not here: whether two accesses may overlap (`passes::forward::may_alias`); which waits an order costs (`memmodel`).

use crate::op::{Mem, MemFlags, Op, Order};

bitflags::bitflags! {
    /// Which accesses an operation keeps on their side of it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Stays: u8 {
        /// None behind it may be moved before it (acquire).
        const LATER = 1;
        /// None before it may be moved behind it (release).
        const EARLIER = 2;
    }

    /// What an access asks of the compiler; each is one of these.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Class: u8 {
        /// Nothing.
        const PLAIN = 1;
        /// That it keeps its hint: merged with its like only.
        const NONTEMPORAL = 2;
        /// Nothing, and nobody writes what it reads: no order concerns it.
        const INVARIANT = 4;
        /// To be done as often as written, and in order.
        const VOLATILE = 8;
        /// To be done as often as written, in order, and whole.
        const ATOMIC = 16;
        /// What the order of accesses leaves free.
        const FREE = Self::PLAIN.bits() | Self::NONTEMPORAL.bits() | Self::INVARIANT.bits();
    }
}

impl Class {
    /// The class of an access.
    #[inline]
    pub const fn of(mem: &Mem) -> Class {
        let volatile = mem.flags.contains(MemFlags::VOLATILE);
        match Class::held(!matches!(mem.order, Order::NotAtomic), volatile) {
            Some(class) => class,
            None if mem.flags.contains(MemFlags::INVARIANT) => Class::INVARIANT,
            None if mem.flags.contains(MemFlags::NONTEMPORAL) => Class::NONTEMPORAL,
            None => Class::PLAIN,
        }
    }

    /// The class of an access that is atomic or volatile; for who has no [`Mem`] of it.
    #[inline]
    pub const fn held(atomic: bool, volatile: bool) -> Option<Class> {
        match (atomic, volatile) {
            (true, _) => Some(Class::ATOMIC),
            (false, true) => Some(Class::VOLATILE),
            (false, false) => None,
        }
    }
}

/// What each order keeps in place (seed 000, lines 4024-4039): of a load, a store, a read-modify-write, a fence.
/// Rows are in the order of [`Order`].
pub const CONSTRAINTS: [(Order, [Stays; 4], u16); 7] = {
    const NONE: Stays = Stays::empty();
    const LATER: Stays = Stays::LATER;
    const EARLIER: Stays = Stays::EARLIER;
    const BOTH: Stays = Stays::all();
    [
        (Order::NotAtomic, [NONE, NONE, NONE, NONE], 4027),
        (Order::Unordered, [NONE, NONE, NONE, NONE], 4027),
        (Order::Relaxed, [NONE, NONE, NONE, NONE], 4028),
        (Order::Acquire, [LATER, NONE, LATER, LATER], 4029),
        (Order::Release, [NONE, EARLIER, EARLIER, EARLIER], 4032),
        (Order::AcqRel, [LATER, EARLIER, BOTH, BOTH], 4035),
        (Order::SeqCst, [LATER, EARLIER, BOTH, BOTH], 4036),
    ]
};

/// What an operation keeps on its side. Barriers, traps and calls keep everything: what was stored before a trap is there
/// for whoever looks into why.
#[inline]
pub const fn stays(op: &Op) -> Stays {
    const fn of(order: Order, kind: usize) -> Stays {
        CONSTRAINTS[order as usize].1[kind]
    }
    match op {
        Op::Load { mem, .. } => of(mem.order, 0),
        Op::Store { mem, .. } => of(mem.order, 1),
        Op::AtomicRmw { mem, .. } => of(mem.order, 2),
        Op::AtomicCas { mem, fail } => of(mem.order, 2).union(of(*fail, 2)),
        Op::Fence { order, .. } => of(*order, 3),
        Op::Barrier { .. } | Op::WaveBarrier | Op::Trap { .. } | Op::Call(_) | Op::CallIndirect(_) => {
            Stays::all()
        }
        Op::Sleep | Op::Interrupt => Stays::all(),
        _ => Stays::empty(),
    }
}

/// What a pass does with accesses.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The pass, as `--dump-after` calls it.
    pub pass: &'static str,
    /// What it does.
    pub does: &'static str,
    /// The accesses it does that with.
    pub takes: Class,
    /// Operations that keep any of these are not passed.
    pub stopped_by: Stays,
}

impl Rule {
    /// Whether the pass may touch the access.
    #[inline]
    pub const fn takes(&self, mem: &Mem) -> bool {
        self.takes.contains(Class::of(mem))
    }

    /// Whether accesses that others may write or see stay on their side of the operation. Private memory has one reader,
    /// what is invariant no writer: no order concerns either.
    #[inline]
    pub const fn stopped_by(&self, op: &Op) -> bool {
        self.stopped_by.intersects(stays(op))
    }
}

const fn rule(pass: &'static str, does: &'static str, takes: Class, stopped_by: Stays) -> Rule {
    Rule { pass, does, takes, stopped_by }
}

/// Promises that nobody writes what is read.
pub const PROMISE: Rule =
    rule("restrict", "a load through `const restrict` becomes invariant", Class::FREE, Stays::empty());
/// Gives a load what an earlier access has shown.
pub const FORWARD: Rule =
    rule("gvn", "a load takes the value of an earlier access", Class::FREE, Stays::LATER);
/// Merges equal loads wherever they are.
pub const EQUAL: Rule =
    rule("gvn", "equal loads become one, whatever is between", Class::INVARIANT, Stays::empty());
/// Removes what nobody uses.
pub const UNUSED: Rule = rule("dce", "a load that nobody uses is removed", Class::FREE, Stays::empty());
/// Makes values of private variables.
pub const PROMOTE: Rule = rule("sroa", "private variables become values", Class::FREE, Stays::empty());
/// Executes a load that would not have been.
pub const SPECULATE: Rule =
    rule("ifconvert", "a load of an argument is done on both ways", Class::INVARIANT, Stays::empty());
/// Copies the test of a loop.
pub const COPY: Rule = rule("rotate", "the loads of a loop's test are copied", Class::FREE, Stays::empty());
/// Moves loads out of loops.
pub const HOIST: Rule = rule("licm", "a load moves up, out of a loop", Class::FREE, Stays::LATER);
/// Moves loads up to the first of their neighbours.
pub const MERGE_LOADS: Rule =
    rule("merge_mem", "a load moves up, to its neighbour", Class::FREE, Stays::LATER);
/// Moves stores down to the last of their neighbours.
pub const MERGE_STORES: Rule =
    rule("merge_mem", "a store moves down, to its neighbour", Class::FREE, Stays::EARLIER);
/// Makes one block of several.
pub const SHARE: Rule = rule("tails", "blocks that do the same become one", Class::FREE, Stays::empty());
/// Reads through the scalar cache.
pub const SCALAR: Rule = rule(
    "isel",
    "a uniform load of what nobody writes goes through the scalar cache",
    Class::FREE,
    Stays::empty(),
);
/// Reads two places of LDS at once.
pub const PAIR: Rule = rule("isel", "two loads of LDS become one, at the first", Class::FREE, Stays::LATER);
/// Brings loads forward.
pub const SCHEDULE: Rule = rule("schedule", "a load moves up", Class::FREE, Stays::all());

/// All of them, in the order of the passes.
pub const RULES: [Rule; 14] = [
    PROMISE,
    FORWARD,
    EQUAL,
    UNUSED,
    PROMOTE,
    SPECULATE,
    COPY,
    HOIST,
    MERGE_LOADS,
    MERGE_STORES,
    SHARE,
    SCALAR,
    PAIR,
    SCHEDULE,
];
