//! Rules for moving memory operations: the table of single-thread optimisation constraints of LLVM's AMDGPU
//! guide (seed 000, lines 4024-4039), and one rule for each pass that moves, merges, forwards, removes or
//! copies memory operations.
//!
//! Each pass gets the answers to two questions from this module:
//!
//! - *May the pass change this access?* Each access has one [`Class`]; a [`Rule`] lists the classes that its
//!   pass may change.
//! - *May the access be moved across this operation?* [`ordering_constraint`] returns which accesses must
//!   stay on their side of an operation (before or after it). A rule says in which direction its pass moves
//!   accesses.
//!
//! Atomic operations themselves are never moved, so they stay in order with each other. This satisfies two
//! further constraints of the table: the order of sequentially consistent operations among themselves, and
//! the order of a fence and the atomic operations with which it is paired. `docs/memory-model.md` contains
//! both tables, generated from this module.
//!
//! Not handled here: whether two accesses may overlap (`passes::forward::may_alias`), and which waits a
//! memory order needs (`memmodel`).

use crate::op::{Mem, MemFlags, Op, Order};

bitflags::bitflags! {
    /// Which accesses an operation does not let across itself.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OrderingConstraint: u8 {
        /// Accesses after the operation must not be moved before it (as for acquire).
        const LATER = 1;
        /// Accesses before the operation must not be moved after it (as for release).
        const EARLIER = 2;
    }

    /// The changes that the semantics of an access permit. Each access has exactly one class.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Class: u8 {
        /// The access has no restrictions of its own; only memory ordering restricts how it moves.
        const PLAIN = 1;
        /// The access has a nontemporal hint. It is merged only with other nontemporal accesses, so that the
        /// hint stays correct.
        const NONTEMPORAL = 2;
        /// The memory of the access is never written. The access therefore has no restrictions, and memory
        /// ordering does not apply to it.
        const INVARIANT = 4;
        /// The access is executed as often as written, and in order.
        const VOLATILE = 8;
        /// The access is executed as often as written, in order, and without being split.
        const ATOMIC = 16;
        /// The classes whose accesses passes may merge and move.
        const FREE = Self::PLAIN.bits() | Self::NONTEMPORAL.bits() | Self::INVARIANT.bits();
    }
}

impl Class {
    /// Returns the class of an access.
    #[inline]
    pub const fn for_access(mem: &Mem) -> Class {
        let volatile = mem.flags.contains(MemFlags::VOLATILE);
        match Class::for_flags(!matches!(mem.order, Order::NotAtomic), volatile) {
            Some(class) => class,
            None if mem.flags.contains(MemFlags::INVARIANT) => Class::INVARIANT,
            None if mem.flags.contains(MemFlags::NONTEMPORAL) => Class::NONTEMPORAL,
            None => Class::PLAIN,
        }
    }

    /// Returns the class of an atomic or volatile access, for callers that have no [`Mem`]; `None` for other
    /// accesses.
    #[inline]
    pub const fn for_flags(atomic: bool, volatile: bool) -> Option<Class> {
        match (atomic, volatile) {
            (true, _) => Some(Class::ATOMIC),
            (false, true) => Some(Class::VOLATILE),
            (false, false) => None,
        }
    }
}

/// For each memory order: which accesses must not be moved across a load, a store, a read-modify-write
/// operation and a fence of this order (LLVM's AMDGPU guide, seed 000, lines 4024-4039). The rows are in the
/// order of [`Order`]. The last element of a row is the line in the guide.
pub const CONSTRAINTS: [(Order, [OrderingConstraint; 4], u16); 7] = {
    const NONE: OrderingConstraint = OrderingConstraint::empty();
    const LATER: OrderingConstraint = OrderingConstraint::LATER;
    const EARLIER: OrderingConstraint = OrderingConstraint::EARLIER;
    const BOTH: OrderingConstraint = OrderingConstraint::all();
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

/// Returns which accesses must not be moved across an operation. No access may be moved across barriers,
/// traps and calls. A trap is included because a debugger must find everything that was stored before it.
#[inline]
pub const fn ordering_constraint(op: &Op) -> OrderingConstraint {
    const fn constraint(order: Order, kind: usize) -> OrderingConstraint {
        CONSTRAINTS[order as usize].1[kind]
    }
    match op {
        Op::Load { mem, .. } => constraint(mem.order, 0),
        Op::Store { mem, .. } => constraint(mem.order, 1),
        Op::AtomicRmw { mem, .. } => constraint(mem.order, 2),
        Op::AtomicCas { mem, fail } => constraint(mem.order, 2).union(constraint(*fail, 2)),
        Op::Fence { order, .. } => constraint(*order, 3),
        Op::Barrier { .. } | Op::WaveBarrier | Op::Trap { .. } | Op::Call(_) | Op::CallIndirect(_) => {
            OrderingConstraint::all()
        }
        Op::Sleep | Op::Interrupt => OrderingConstraint::all(),
        _ => OrderingConstraint::empty(),
    }
}

/// Rule for a pass that changes memory accesses.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name of the pass, as used by `--dump-after`.
    pub pass: &'static str,
    /// Description of the change.
    pub does: &'static str,
    /// Classes of accesses that the pass may change.
    pub takes: Class,
    /// The directions in which the pass moves accesses. The pass does not move an access across an operation
    /// that restricts one of these directions.
    pub stopped_by: OrderingConstraint,
}

impl Rule {
    /// Returns whether the pass may change the access.
    #[inline]
    pub const fn takes(&self, mem: &Mem) -> bool {
        self.takes.contains(Class::for_access(mem))
    }

    /// Returns whether the pass must not move an access across the operation. This concerns accesses that
    /// other work-items may write or see. Ordering does not affect private memory, which has only one reader,
    /// and invariant accesses, whose memory has no writer.
    #[inline]
    pub const fn stopped_by(&self, op: &Op) -> bool {
        self.stopped_by.intersects(ordering_constraint(op))
    }
}

const fn rule(pass: &'static str, does: &'static str, takes: Class, stopped_by: OrderingConstraint) -> Rule {
    Rule { pass, does, takes, stopped_by }
}

/// The rule for marking loads of memory that is never written.
pub const PROMISE: Rule = rule(
    "restrict",
    "a load through `const restrict` becomes invariant",
    Class::FREE,
    OrderingConstraint::empty(),
);
/// The rule for store-to-load and load-to-load forwarding: a load is replaced by the value that an earlier
/// access stored or loaded.
pub const FORWARD: Rule =
    rule("gvn", "a load takes the value of an earlier access", Class::FREE, OrderingConstraint::LATER);
/// The rule for merging equal loads, whatever instructions are between them.
pub const EQUAL: Rule =
    rule("gvn", "equal loads become one, whatever is between", Class::INVARIANT, OrderingConstraint::empty());
/// The rule for removing loads that nobody uses.
pub const UNUSED: Rule =
    rule("dce", "a load that nobody uses is removed", Class::FREE, OrderingConstraint::empty());
/// The rule for turning private variables into SSA values.
pub const PROMOTE: Rule =
    rule("sroa", "private variables become values", Class::FREE, OrderingConstraint::empty());
/// The rule for executing a load on a path on which it was not executed before.
pub const SPECULATE: Rule = rule(
    "ifconvert",
    "a load of an argument is done on both ways",
    Class::INVARIANT,
    OrderingConstraint::empty(),
);
/// The rule for copying the loads in the test of a loop.
pub const COPY: Rule =
    rule("rotate", "the loads of a loop's test are copied", Class::FREE, OrderingConstraint::empty());
/// The rule for moving loads out of loops.
pub const HOIST: Rule =
    rule("licm", "a load moves up, out of a loop", Class::FREE, OrderingConstraint::LATER);
/// The rule for moving loads up to the first load of a group of adjacent loads.
pub const MERGE_LOADS: Rule =
    rule("merge_mem", "a load moves up, to its neighbour", Class::FREE, OrderingConstraint::LATER);
/// The rule for moving stores down to the last store of a group of adjacent stores.
pub const MERGE_STORES: Rule =
    rule("merge_mem", "a store moves down, to its neighbour", Class::FREE, OrderingConstraint::EARLIER);
/// The rule for merging equal blocks into one block.
pub const SHARE: Rule =
    rule("tails", "blocks that do the same become one", Class::FREE, OrderingConstraint::empty());
/// The rule for loading through the scalar cache.
pub const SCALAR: Rule = rule(
    "isel",
    "a uniform load of what nobody writes goes through the scalar cache",
    Class::FREE,
    OrderingConstraint::empty(),
);
/// The rule for merging two loads of LDS into one instruction.
pub const PAIR: Rule =
    rule("isel", "two loads of LDS become one, at the first", Class::FREE, OrderingConstraint::LATER);
/// The rule for moving loads up in the schedule.
pub const SCHEDULE: Rule = rule("schedule", "a load moves up", Class::FREE, OrderingConstraint::all());

/// All rules, in the order of the passes.
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
