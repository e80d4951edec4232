//! The operations of a wave that are in flight: memory operations that a wait counter counts, and recent
//! instructions that may still cause a hazard.
//!
//! # Lattice
//! The state has a set of operations. An operation is identified by its instruction, and by whether it writes
//! or reads registers. For each of its classes, it has an age: the number of younger operations of that
//! class. The state also has the recent instructions that may be the first instruction of a hazard, each with
//! the number of wait states since it was issued. The join is the union; an element of both states gets the
//! lower of its two numbers. At the bottom, nothing is in flight.
//!
//! # Guarantees
//! Issuing an instruction allocates no memory, unless more operations are in flight than at any time before.
//!
//! # Limits
//! The scoreboard does not check the order of memory, that is, which operations must be complete at a barrier
//! or a release. A model of the memory order can ask [`Scoreboard::is_complete`].

use crate::code::Code;
use crate::counters::{self, CLASS_TABLE, CLASSES, Class, Counter, FlatPath};
use crate::effects::{Effects, Kinds, Waits};
use crate::finding::{Access, CALLER, Finding, Hope, Problem, Site};
use crate::hazards::{self, Producer, producers};
use crate::mai::MaiKind;
use crate::rdna::Events;
use crate::regset::RegSet;
use crate::transfers::Transfers;
use crate::writeback::ScalarStores;
use isa::{Reg, RegRange, Target};
use smallvec::SmallVec;

/// Identifies an operation that a wait counter counts: by its class, and by its number among the wave's
/// operations of this class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Class.
    pub class: Class,
    /// Number of the operation in its class, from 0.
    pub index: u32,
}

/// What an outstanding operation has yet to do with its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    /// The operation has not yet written its registers.
    Writes,
    /// The operation has not yet read its registers.
    Reads,
}

/// A memory operation in flight.
#[derive(Clone, Copy, Debug)]
struct Operation {
    site: Site,
    holds: Holds,
    /// Tickets of the operation: for each class that counts it, its number among the operations of this
    /// class. The operation is complete when it is complete in all these classes.
    tickets: [Option<Ticket>; 2],
    /// Whether the waits so far would complete the operation in the class of its first ticket if this class
    /// completed in the order of issue. This is also true if the operation is complete in this class.
    ordered: bool,
}

/// A memory operation that may be in flight, in the form in which [`Scoreboard::pending`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Instruction of the operation. [`CALLER`] stands for all operations that the caller of the function had
    /// in flight.
    pub site: Site,
    /// Registers that the operation has not yet written or read.
    pub registers: RegSet,
    /// Whether the operation writes the registers.
    pub writes: bool,
    /// The wait that completes the operation, as pairs of a counter and a value. The operation is complete
    /// when each of these counters is at most its value.
    pub waits: SmallVec<[(Counter, u32); 2]>,
}

/// A recent instruction that may still be the first instruction of a hazard.
#[derive(Clone, Copy, Debug)]
struct Recent {
    site: Site,
    /// The instruction before this one. It is set only if the first part of a hazard consists of two
    /// instructions.
    via: Option<Site>,
    produces: u64,
    /// Number of wait states since the beginning of the program ([`Scoreboard::clock`]) when the instruction
    /// was issued.
    clock: u32,
    /// Whether a call or return was executed after the instruction.
    across: bool,
    /// Additional wait states that have passed because instructions took longer than the manuals and LLVM
    /// assume. See [`Effects::extra`] for the two numbers.
    extra: [u8; 2],
    /// Number of wait states after which the instruction can no longer cause a hazard.
    reach: u8,
}

/// The operations of a wave that are in flight at a program point.
#[derive(Debug)]
pub struct Scoreboard {
    /// Registers that outstanding operations will write.
    written: RegSet,
    /// Registers that outstanding operations have not yet read.
    held: RegSet,
    operations: SmallVec<[Operation; 16]>,
    issued: [u32; CLASSES],
    completed: [u32; CLASSES],
    recent: SmallVec<[Recent; 24]>,
    /// Mask of all roles that the instructions in `recent` have as first instructions of hazards.
    live: u64,
    /// Number of wait states since the beginning of the program.
    clock: u32,
    events: Events,
    /// The instructions of `events` that were executed before the last call or return. They belong to another
    /// function than the current instruction.
    across: SmallVec<[Site; 4]>,
    transfers: Transfers,
    scalar_stores: ScalarStores,
    /// Tickets of the last instruction.
    last: [Option<Ticket>; 2],
    is_busy: bool,
}

impl Clone for Scoreboard {
    /// Copies each list as one block of memory. A derived `clone` would copy the elements one by one.
    fn clone(&self) -> Scoreboard {
        Scoreboard {
            operations: SmallVec::from_slice(&self.operations),
            recent: SmallVec::from_slice(&self.recent),
            across: SmallVec::from_slice(&self.across),
            events: self.events.clone(),
            transfers: self.transfers.clone(),
            scalar_stores: self.scalar_stores.clone(),
            ..*self
        }
    }
}

impl Default for Scoreboard {
    fn default() -> Self {
        Scoreboard::new()
    }
}

impl Scoreboard {
    /// Returns the state at the beginning of a kernel, in which nothing is in flight.
    pub fn new() -> Scoreboard {
        Scoreboard {
            written: RegSet::EMPTY,
            held: RegSet::EMPTY,
            operations: SmallVec::new(),
            issued: [0; CLASSES],
            completed: [0; CLASSES],
            recent: SmallVec::new(),
            live: 0,
            clock: 0,
            events: Events::default(),
            across: SmallVec::new(),
            transfers: Transfers::default(),
            scalar_stores: ScalarStores::default(),
            last: [None; 2],
            is_busy: false,
        }
    }

    /// Returns the state at the beginning of a function that unknown callers may call. An unknown caller may
    /// have operations of every class in flight.
    pub fn callee(target: &Target) -> Scoreboard {
        let mut board = Scoreboard::new();
        let mut begin = |holds, first: Class, second: Option<Class>| {
            let mut ticket = |class: Class| {
                board.issued[class as usize] = 1;
                Ticket { class, index: 0 }
            };
            let tickets = [Some(ticket(first)), second.map(&mut ticket)];
            board.operations.push(Operation { site: CALLER, holds, tickets, ordered: false });
        };
        begin(Holds::Writes, Class::CallerVm, Some(Class::CallerLgkm));
        if target.arch.checks.store_data_counts {
            begin(Holds::Reads, Class::CallerExp, None);
        }
        board.written = caller_writes();
        board.held = if target.arch.checks.store_data_counts { RegSet::VECTOR } else { RegSet::EMPTY };
        board.is_busy = true;
        board.transfers = Transfers::unknown();
        board
    }

    /// Checks an instruction, reports findings to `sink`, and updates the state for the next instruction.
    #[inline]
    pub fn issue(&mut self, code: &Code, site: Site, sink: &mut impl FnMut(Finding)) {
        self.issue_on(code, site, FlatPath::Unknown, sink);
    }

    /// Checks an instruction, reports findings to `sink`, and updates the state. `path` is the kind of memory
    /// that a flat access goes to, if it is known.
    #[inline]
    pub fn issue_on(&mut self, code: &Code, site: Site, path: FlatPath, sink: &mut impl FnMut(Finding)) {
        let effects = code.effects(site);
        self.last = [None; 2];
        if effects.states == 0 {
            // A pseudo-instruction has no effect, because the hardware does not execute it.
            return;
        }
        if effects.waits != Waits::NONE {
            self.wait(code, &effects.waits);
        }
        if self.is_busy {
            let touched = effects.reads.or(&effects.writes);
            if self.written.intersects(&touched) || self.held.intersects(&effects.writes) {
                self.conflicts(code, site, effects, sink);
            }
        }
        if effects.fears & self.live != 0 {
            self.hazards(code, site, effects, sink);
        }
        if code.has.concerns(effects, &self.events) {
            let pending = self.outstanding_of(Class::Scalar) != 0;
            let across = &self.across;
            self.events.issue(code, site, effects, pending, &mut |finding| {
                sink(Finding { is_doubtful: across.contains(&finding.first), ..finding });
            });
            self.across.retain(|old| *old != site);
        }
        if effects.classes.done[0].is_some() || effects.classes.read.is_some() {
            self.start(code, site, effects, path);
        }
        if effects.kinds.intersects(Kinds::SCALAR_STORE | Kinds::WRITE_BACK | Kinds::END) {
            self.scalar_stores.issue(site, effects.kinds, sink);
        }
        if code.has_transfers {
            self.transfers.issue(site, effects, self.last[0], sink);
        }
        if effects.extra != [0; 2] && self.live != 0 {
            for recent in &mut self.recent {
                recent.extra = [0, 1].map(|kind| recent.extra[kind].saturating_add(effects.extra[kind]));
            }
        }
        if effects.produces & code.wanted != 0 {
            self.produce(code, site, effects);
        }
        if self.live >> Producer::FpAtomic as u32 & 1 != 0
            && effects.kinds.intersects(Kinds::VALU | Kinds::WAIT)
        {
            self.recent.retain(|recent| recent.produces >> Producer::FpAtomic as u32 & 1 == 0);
            self.prune();
        }
        self.clock = self.clock.wrapping_add(u32::from(effects.states));
    }

    /// Returns the tickets of the last instruction's memory operation. The operation is complete when all
    /// these tickets are complete.
    pub fn last_tickets(&self) -> [Option<Ticket>; 2] {
        self.last
    }

    /// Returns whether an operation is known to be complete. The answer is not valid after a join with
    /// another state.
    pub fn is_complete(&self, ticket: Ticket) -> bool {
        ticket.index < self.completed[ticket.class as usize]
    }

    /// Returns the number of operations of a class that were issued.
    pub fn issued(&self, class: Class) -> u32 {
        self.issued[class as usize]
    }

    /// Returns the number of operations of a class that are known to be complete. They are the oldest
    /// operations of the class.
    pub fn completed(&self, class: Class) -> u32 {
        self.completed[class as usize]
    }

    /// Returns the number of operations of a class that may be in flight.
    pub fn outstanding_of(&self, class: Class) -> u32 {
        self.issued[class as usize].wrapping_sub(self.completed[class as usize])
    }

    /// Returns the number of operations that a counter may still count.
    pub fn outstanding(&self, counter: Counter) -> u32 {
        let classes = CLASS_TABLE.iter().filter(|info| info.counter == counter);
        classes.map(|info| self.outstanding_of(info.class)).sum()
    }

    /// Returns the operations that may be in flight and that still have to write or read their registers.
    pub fn pending(&self, code: &Code) -> impl Iterator<Item = Pending> {
        self.operations.iter().map(|operation| {
            let tickets = operation.tickets.iter().flatten();
            let wait = |ticket: &Ticket| {
                let info = ticket.class.info();
                (info.counter, if info.in_order { self.age(*ticket) } else { 0 })
            };
            Pending {
                site: operation.site,
                registers: registers(code, operation),
                writes: operation.holds == Holds::Writes,
                waits: tickets.map(wait).collect(),
            }
        })
    }

    /// Returns the instructions whose memory operations are in flight, each with the registers that its
    /// operation has not yet written or read.
    pub(crate) fn under_way(&self, code: &Code) -> impl Iterator<Item = (Site, RegSet)> {
        self.operations.iter().map(|operation| (operation.site, registers(code, operation)))
    }

    /// Returns the number of operations and recent instructions in the state, as a measure of its size.
    pub(crate) fn len(&self) -> usize {
        self.operations.len() + self.recent.len()
    }

    /// Updates the state for a call of an unknown function. The checker assumes that such a function, before
    /// it returns, waits for all operations except stores of GFX10, which `vscnt` counts.
    pub fn after_call(&mut self, code: &Code) {
        let mut waits = Waits::ALL;
        waits.0[Counter::Vs as usize] = Waits::ANY;
        self.wait(code, &waits);
        self.recent.clear();
        self.live = 0;
        self.events = Events::default();
        self.across.clear();
        self.transfers = Transfers::unknown();
    }

    /// Updates the state for a call or return. From here on, the instructions before it belong to another
    /// function than those after it.
    pub fn cross(&mut self) {
        self.recent.iter_mut().for_each(|recent| recent.across = true);
        self.across = self.events.sites();
    }

    /// Returns the state after a call. `self` is the state in which the function returns, and `before` is the
    /// state at the call. `own` returns whether an instruction may have been executed during the call. The
    /// result leaves out the operations that other callers of the function had in flight.
    pub(crate) fn returned(
        &self,
        before: &Scoreboard,
        own: impl Fn(Site) -> bool,
        code: &Code,
    ) -> Scoreboard {
        let had = |site: Site, holds: Holds| {
            before.operations.iter().any(|operation| (operation.site, operation.holds) == (site, holds))
        };
        let passes_all = self.operations.iter().any(|operation| operation.site == CALLER);
        let mut left = self.clone();
        left.operations.retain(|operation| {
            let Operation { site, holds, .. } = *operation;
            had(site, holds) || site != CALLER && own(site)
        });
        left.recent
            .retain(|recent| own(recent.site) || before.recent.iter().any(|other| other.site == recent.site));
        left.events.retain(|site| own(site) || before.events.has(site));
        left.transfers.retain(|site| own(site) || before.transfers.has(site));
        if passes_all {
            // The function has not waited for the operations of its caller, so they may still be in flight.
            left.join_operations(before);
        }
        left.rebuild(code);
        left.prune();
        left
    }

    /// Reports the operations that are in flight when a function returns and have not written their registers
    /// yet. They are errors, because the caller may use these registers at once.
    pub fn at_return(&self, code: &Code, site: Site, sink: &mut impl FnMut(Finding)) {
        for operation in self.operations.iter().filter(|operation| operation.holds == Holds::Writes) {
            if let Some(finding) = self.in_flight(code, site, operation, Access::Returns, None) {
                sink(finding);
            }
        }
    }

    fn age(&self, ticket: Ticket) -> u32 {
        self.issued[ticket.class as usize].wrapping_sub(ticket.index).wrapping_sub(1)
    }

    /// Updates the state for a wait instruction. After it, each counter is at most its value in `waits`.
    fn wait(&mut self, code: &Code, waits: &Waits) {
        for info in &CLASS_TABLE {
            let count = u32::from(waits.0[info.counter as usize]);
            let class = info.class as usize;
            if waits.0[info.counter as usize] != Waits::ANY
                && (count == 0 || info.in_order)
                && self.issued[class].wrapping_sub(self.completed[class]) > count
            {
                self.completed[class] = self.issued[class].wrapping_sub(count);
            }
        }
        self.transfers.wait(waits, &self.issued);
        if !self.is_busy {
            return;
        }
        let issued = self.issued;
        let before = self.operations.len();
        self.operations.retain(|operation| {
            for (number, slot) in operation.tickets.iter_mut().enumerate() {
                let Some(ticket) = *slot else { continue };
                let info = ticket.class.info();
                let count = waits.0[info.counter as usize];
                let age = issued[ticket.class as usize].wrapping_sub(ticket.index).wrapping_sub(1);
                if count != Waits::ANY && age >= u32::from(count) {
                    operation.ordered |= number == 0;
                    if count == 0 || info.in_order {
                        *slot = None;
                    }
                }
            }
            operation.tickets.iter().any(Option::is_some)
        });
        if self.operations.len() != before {
            self.rebuild(code);
        }
    }

    fn rebuild(&mut self, code: &Code) {
        (self.written, self.held) = (RegSet::EMPTY, RegSet::EMPTY);
        for operation in &self.operations {
            let set = registers(code, operation);
            match operation.holds {
                Holds::Writes => self.written.add(&set),
                Holds::Reads => self.held.add(&set),
            }
        }
        self.is_busy = !self.operations.is_empty();
    }

    /// Reports each outstanding operation whose registers the instruction accesses too early. Removes the
    /// reported operations from the state.
    #[cold]
    fn conflicts(&mut self, code: &Code, site: Site, effects: &Effects, sink: &mut impl FnMut(Finding)) {
        let mut kept = SmallVec::<[Operation; 16]>::new();
        for operation in &self.operations {
            let set = registers(code, operation);
            // A load that writes one half of a register preserves the other half when its result arrives. If
            // both operations complete in order, the first operation has written the register by then. So
            // only the registers that the second operation reads when it is issued count as read.
            let in_order = in_order(operation, effects);
            let reads = if in_order { &effects.reads_at_issue } else { &effects.reads };
            let (access, common) = match operation.holds {
                Holds::Reads => (Access::Overwrites, set.and(&effects.writes)),
                Holds::Writes if set.intersects(reads) => (Access::Reads, set.and(reads)),
                Holds::Writes if in_order => (Access::Writes, RegSet::EMPTY),
                Holds::Writes => (Access::Writes, set.and(&effects.writes)),
            };
            match common.is_empty() {
                true => kept.push(*operation),
                false => {
                    if let Some(finding) = self.in_flight(code, site, operation, access, Some(&common)) {
                        sink(finding);
                    }
                }
            }
        }
        self.operations = kept;
        self.rebuild(code);
    }

    fn in_flight(
        &self,
        code: &Code,
        second: Site,
        operation: &Operation,
        access: Access,
        common: Option<&RegSet>,
    ) -> Option<Finding> {
        let mut tickets = operation.tickets.iter().flatten();
        let ticket = *tickets.next()?;
        let info = ticket.class.info();
        // The largest count of a counter is left out, because a wait for it waits for nothing.
        let most = u32::from(info.counter.max(code.target()).saturating_sub(1));
        let age = self.age(ticket);
        let count = if info.in_order { age.min(most) as u8 } else { 0 };
        Some(Finding {
            first: operation.site,
            second,
            registers: common.and_then(RegSet::first_group),
            problem: Problem::InFlight {
                class: ticket.class,
                also: tickets.next().map(|ticket| ticket.class),
                access,
                outstanding: self.outstanding(info.counter),
                count,
                hope: match operation.tickets {
                    // The code has waited for `lgkmcnt`, so only `vmcnt` still counts this flat access. If
                    // flat accesses complete in order, the access is the oldest operation that `vmcnt`
                    // counts.
                    [Some(Ticket { class: Class::FlatVector, .. }), None] if age > most => Hope::Limit,
                    _ if age > most && info.in_order => Hope::Limit,
                    [Some(Ticket { class: Class::FlatVector, .. }), _] if operation.ordered => {
                        Hope::FlatOrder
                    }
                    [None, Some(_)] => Hope::OtherCounter,
                    _ => Hope::None,
                },
            },
            is_doubtful: false,
        })
    }

    /// Adds the memory operation of an instruction to the state.
    fn start(&mut self, code: &Code, site: Site, effects: &Effects, path: FlatPath) {
        let classes = match effects.kinds.contains(Kinds::FLAT_ANY) && path != FlatPath::Unknown {
            true => counters::classes(code.target(), effects, path),
            false => effects.classes,
        };
        let mut tickets = [None; 2];
        for (slot, class) in tickets.iter_mut().zip(classes.done) {
            *slot = class.map(|class| self.ticket(class));
        }
        // On GFX10 a flat instruction increments two counters, even if it is known to access only one kind of
        // memory. Both counters complete in order. The instruction therefore takes a ticket in the class of
        // the other counter as well. This increases the age of the older operations there by one.
        let others = effects.classes.done.into_iter().flatten();
        for class in others.filter(|class| class.info().in_order && !classes.done.contains(&Some(*class))) {
            self.ticket(class);
        }
        self.last = tickets;
        let brought = effects.brought();
        if tickets[0].is_some() && !brought.is_empty() {
            self.begin(Operation { site, holds: Holds::Writes, tickets, ordered: false });
            self.written.add(&brought);
        }
        if let Some(class) = classes.read {
            let ticket = self.ticket(class);
            let held = effects.read_after_issue();
            if !held.is_empty() {
                let tickets = [Some(ticket), None];
                self.begin(Operation { site, holds: Holds::Reads, tickets, ordered: false });
                self.held.add(&held);
            }
            self.full(code);
        }
    }

    fn ticket(&mut self, class: Class) -> Ticket {
        let index = self.issued[class as usize];
        self.issued[class as usize] += 1;
        Ticket { class, index }
    }

    fn begin(&mut self, new: Operation) {
        let same = |old: &&mut Operation| (old.site, old.holds) == (new.site, new.holds);
        match self.operations.iter_mut().find(same) {
            // The state has only one operation for each instruction. If the instruction is executed again,
            // the younger operation replaces the older one, because it completes last.
            Some(old) => *old = new,
            None => self.operations.push(new),
        }
        self.is_busy = true;
    }

    /// Removes the operations that must be complete because `expcnt` is at its maximum: the hardware stalls
    /// the next operation until the first ones are complete.
    fn full(&mut self, code: &Code) {
        let max = u32::from(code.target().max_expcnt);
        let issued = self.issued;
        let before = self.operations.len();
        self.operations.retain(|operation| {
            !operation.tickets.iter().flatten().any(|ticket| {
                let age = issued[ticket.class as usize].wrapping_sub(ticket.index).wrapping_sub(1);
                ticket.class.info().counter == Counter::Exp && ticket.class.info().in_order && age >= max
            })
        });
        if self.operations.len() != before {
            self.rebuild(code);
        }
    }

    /// Returns the number of wait states between a recent instruction and the instruction that is issued
    /// next.
    fn states_since(&self, recent: &Recent) -> u32 {
        self.clock.wrapping_sub(recent.clock).wrapping_sub(1)
    }

    fn hazards(&mut self, code: &Code, site: Site, effects: &Effects, sink: &mut impl FnMut(Finding)) {
        let mut has_old = false;
        for recent in &self.recent {
            let states = self.states_since(recent);
            has_old |= states >= u32::from(recent.reach);
            if recent.produces & effects.fears == 0 || states >= u32::from(recent.reach) {
                continue;
            }
            let first = code.effects(recent.site);
            let via = recent.via.map(|via| code.effects(via));
            let rules =
                producers(recent.produces & effects.fears).flat_map(|producer| code.rules_after(producer));
            for &rule in rules {
                if states >= u32::from(rule.states)
                    || !effects.is_consumer(rule.second)
                    || !rule.when.holds(first, effects)
                {
                    continue;
                }
                let common =
                    hazards::produced(rule.first, first, via).and(&hazards::consumed(rule.second, effects));
                if common.is_empty() {
                    continue;
                }
                let registers = common.first_group().filter(|range| range.first.0 != 225);
                let problem = Problem::Hazard { rule, found: states as u8 };
                let extra = recent.extra[usize::from(effects.mai.is_matrix())];
                let is_matrix = first.mai.is_matrix() || effects.mai.is_matrix();
                let in_time = is_matrix && states + u32::from(extra) >= u32::from(rule.states);
                let is_doubtful = recent.across || in_time;
                sink(Finding { first: recent.site, second: site, registers, problem, is_doubtful });
            }
        }
        if has_old {
            self.prune();
        }
    }

    /// Removes the recent instructions that cannot cause a hazard any more, because enough wait states have
    /// passed.
    fn prune(&mut self) {
        let clock = self.clock;
        let is_near =
            |recent: &Recent| clock.wrapping_sub(recent.clock).wrapping_sub(1) < u32::from(recent.reach);
        self.recent.retain(|recent| is_near(recent));
        self.live = self.recent.iter().fold(0, |live, recent| live | recent.produces);
    }

    fn produce(&mut self, code: &Code, site: Site, effects: &Effects) {
        if self.recent.len() >= 20 {
            self.prune();
        }
        let pair = match effects.mai.kind {
            MaiKind::AccRead | MaiKind::AccWrite => Some(Producer::AccAfterValu),
            MaiKind::Dgemm => Some(Producer::DgemmAfterValu),
            _ => None,
        };
        if let Some(pair) = pair.filter(|pair| code.wanted >> *pair as u32 & 1 != 0) {
            self.produce_pairs(code, site, pair);
        }
        let produces = effects.produces & code.wanted;
        self.push(Recent {
            site,
            via: None,
            produces,
            clock: self.clock,
            across: false,
            extra: [0; 2],
            reach: code.reach(produces),
        });
    }

    #[inline]
    fn push(&mut self, new: Recent) {
        self.live |= new.produces;
        match self.recent.iter_mut().find(|old| (old.site, old.via) == (new.site, new.via)) {
            Some(old) => *old = new,
            None => self.recent.push(new),
        }
    }

    /// Adds the roles that an instruction has only because of the VALU instruction directly before it. Both
    /// together are the first part of a hazard.
    fn produce_pairs(&mut self, code: &Code, site: Site, pair: Producer) {
        let clock = self.clock;
        let vectors: SmallVec<[Site; 4]> = (self.recent.iter())
            .filter(|recent| clock.wrapping_sub(recent.clock) == 1 && recent.via.is_none())
            .map(|recent| recent.site)
            .filter(|&site| {
                let first = code.effects(site);
                let acc = matches!(first.mai.kind, MaiKind::AccRead | MaiKind::AccWrite);
                first.is(Producer::ValuVector) && !acc
            })
            .collect();
        for via in vectors {
            let produces = 1 << pair as u32;
            self.push(Recent {
                site,
                via: Some(via),
                produces,
                clock,
                across: false,
                extra: [0; 2],
                reach: code.reach(produces),
            });
        }
    }

    /// Joins the state of another path to the same program point into this state. Returns whether this state
    /// has changed.
    pub fn join(&mut self, other: &Scoreboard, code: &Code) -> bool {
        // An instruction belongs to the current function if it does on at least one of the two paths.
        let (ours, theirs) = (self.events.sites(), other.events.sites());
        let near =
            |sites: &[Site], across: &[Site], site: &Site| sites.contains(site) && !across.contains(site);
        let mut across: SmallVec<[Site; 4]> = self.across.iter().chain(&other.across).copied().collect();
        across.retain(|site| !near(&ours, &self.across, site) && !near(&theirs, &other.across, site));
        across.sort();
        across.dedup();
        let mut changed = self.across != across && self.across.iter().any(|site| !across.contains(site));
        self.across = across;
        changed |= self.events.join(&other.events);
        changed |= self.scalar_stores.join(&other.scalar_stores);
        changed |= self.transfers.join(&other.transfers, &self.issued, &other.issued);
        changed |= self.join_operations(other);
        changed |= self.join_recent(other);
        if changed {
            self.rebuild(code);
            self.prune();
        }
        changed
    }

    fn join_operations(&mut self, other: &Scoreboard) -> bool {
        let mut changed = false;
        for theirs in &other.operations {
            let ages = theirs.tickets.map(|ticket| ticket.map(|ticket| (ticket.class, other.age(ticket))));
            let same = |ours: &Operation| (ours.site, ours.holds) == (theirs.site, theirs.holds);
            let place = match self.operations.iter().position(same) {
                Some(place) => place,
                None => {
                    changed = true;
                    let none = Operation { tickets: [None; 2], ..*theirs };
                    self.operations.push(none);
                    self.operations.len() - 1
                }
            };
            let ours = &mut self.operations[place];
            changed |= ours.ordered && !theirs.ordered;
            ours.ordered &= theirs.ordered;
            for (slot, age) in ages.into_iter().enumerate() {
                let Some((class, age)) = age else { continue };
                let ours = self.operations[place].tickets[slot];
                if ours.is_none_or(|ours| ours.class == class && self.age(ours) > age) {
                    let index = self.issued[class as usize].wrapping_sub(1).wrapping_sub(age);
                    self.operations[place].tickets[slot] = Some(Ticket { class, index });
                    changed = true;
                }
            }
        }
        for class in 0..CLASSES {
            let ours = self.issued[class].wrapping_sub(self.completed[class]);
            let theirs = other.issued[class].wrapping_sub(other.completed[class]).min(64);
            if theirs > ours {
                self.completed[class] = self.issued[class].wrapping_sub(theirs);
                changed = true;
            }
        }
        changed
    }

    fn join_recent(&mut self, other: &Scoreboard) -> bool {
        let mut changed = false;
        let near = other.recent.iter().filter(|recent| other.states_since(recent) < u32::from(recent.reach));
        for theirs in near {
            let clock = self.clock.wrapping_sub(1).wrapping_sub(other.states_since(theirs));
            let same = |ours: &&mut Recent| (ours.site, ours.via) == (theirs.site, theirs.via);
            match self.recent.iter_mut().find(same) {
                Some(ours) => {
                    let is_nearer = self.clock.wrapping_sub(ours.clock) > self.clock.wrapping_sub(clock);
                    let extra = [0, 1].map(|kind| ours.extra[kind].min(theirs.extra[kind]));
                    changed |= is_nearer || ours.across && !theirs.across || extra != ours.extra;
                    ours.across &= theirs.across;
                    ours.extra = extra;
                    if is_nearer {
                        ours.clock = clock;
                    }
                }
                None => {
                    self.recent.push(Recent { clock, ..*theirs });
                    changed = true;
                }
            }
        }
        changed
    }
}

/// Returns the registers that operations of an unknown caller may write. These are all registers except EXEC,
/// because no memory instruction writes EXEC.
fn caller_writes() -> RegSet {
    RegSet::VECTOR.or(&RegSet::SCALAR).without(&RegSet::from_range(RegRange { first: Reg::EXEC, len: 2 }))
}

/// Returns the registers that an operation still has to write or read.
fn registers(code: &Code, operation: &Operation) -> RegSet {
    match (operation.site, operation.holds) {
        (CALLER, Holds::Writes) => caller_writes(),
        (CALLER, Holds::Reads) => RegSet::VECTOR,
        (site, Holds::Writes) => code.effects(site).brought(),
        (site, Holds::Reads) => code.effects(site).read_after_issue(),
    }
}

/// Returns whether the results of two operations arrive in order. If they do, both operations may write the
/// same register without a wait between them.
fn in_order(first: &Operation, second: &Effects) -> bool {
    let [Some(ticket), None] = first.tickets else { return false };
    second.classes.done == [Some(ticket.class), None] && ticket.class.info().in_order
}
