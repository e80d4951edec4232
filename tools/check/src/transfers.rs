//! Checks loads to LDS and stores from LDS. These are vector memory instructions whose data does not pass
//! through VGPRs.
//!
//! These instructions access LDS at any time until `vmcnt` no longer counts them. LDS instructions take a
//! different path through the hardware, and `lgkmcnt` counts them. So instructions of the two kinds can
//! overtake each other, unless a wait is between them.
//!
//! Code that loads one part of LDS while it uses another part is correct, and the check does not know
//! addresses. A finding is therefore certain only in one case: an instruction reads LDS, and on each path the
//! only operation that has written data to LDS is still in flight.
//!
//! # Source
//! Vega ISA, "Memory Buffer Load to LDS"; llvm: SIInsertWaitcnts (`mayWriteLDSThroughDMA`), which waits for
//! `vmcnt` before an LDS instruction that may access the loaded data, and does not wait for LDS instructions
//! before such a load.
//!
//! # Lattice
//! The state has the instructions in flight that write or read LDS, each with the number of younger
//! operations of its class. The join of these is the union, with the lower of two numbers. The state also
//! says whether another instruction may have written LDS; the join of this is a logical or.

use crate::counters::{CLASSES, Class};
use crate::effects::{Effects, Kinds, Waits};
use crate::finding::{EventRule, Finding, Level, Problem, Site};
use crate::scoreboard::Ticket;
use smallvec::SmallVec;

const SOURCE: &str = "Vega ISA, Memory Buffer Load to LDS; llvm: SIInsertWaitcnts, mayWriteLDSThroughDMA";

/// Rule about an instruction that reads LDS while the data is still on its way to LDS.
pub static IN_FLIGHT: EventRule = EventRule {
    id: "lds-transfer-in-flight",
    name: "LDS is read or written while a load to LDS, or a store from LDS, is in flight",
    mitigation: "s_waitcnt vmcnt(0), or lgkmcnt(0) between an LDS instruction and a store from LDS",
    source: SOURCE,
    level: Level::Certain,
};

/// Rule about a load to LDS for which no wait ensures that it follows earlier LDS instructions.
pub static OVERTAKES: EventRule = EventRule {
    id: "lds-transfer-overtakes",
    name: "a load to LDS overwrites what an LDS instruction in flight reads or writes",
    mitigation: "s_waitcnt lgkmcnt(0)",
    source: "Vega ISA, Data Dependency Resolution; llvm relies on LDS instructions being faster than loads from memory",
    level: Level::Manual,
};

/// Rule about an access to LDS while a load to LDS or a store from LDS is in flight. The two may concern
/// different parts of LDS.
pub static MAY_OVERLAP: EventRule = EventRule {
    id: "lds-transfer-may-overlap",
    name: "LDS is accessed while a load to LDS, or a store from LDS, is in flight that may concern another part of it",
    mitigation: "s_waitcnt vmcnt(0), if both access the same place",
    source: SOURCE,
    level: Level::Advice,
};

/// The rules of this module.
pub static RULES: [&EventRule; 3] = [&IN_FLIGHT, &OVERTAKES, &MAY_OVERLAP];

/// An operation in flight. It writes LDS, or it reads LDS and stores the data to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    site: Site,
    ticket: Ticket,
    fills: bool,
}

/// The accesses to LDS of a wave that are in flight at a program point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    operations: SmallVec<[Operation; 2]>,
    /// Whether LDS may contain data that LDS instructions can read, because the operation that has written it
    /// is complete.
    filled: bool,
    /// Whether LDS may contain data that stores from LDS can read, because the operation that has written it
    /// is complete.
    filled_for_stores: bool,
}

impl Transfers {
    /// Returns the state in which nothing is in flight and LDS may already contain data.
    pub(crate) fn unknown() -> Transfers {
        Transfers { operations: SmallVec::new(), filled: true, filled_for_stores: true }
    }

    /// Checks an instruction and updates the state. `ticket` identifies the memory operation of the
    /// instruction. Passes findings to `sink`.
    pub(crate) fn issue(
        &mut self,
        site: Site,
        effects: &Effects,
        ticket: Option<Ticket>,
        sink: &mut impl FnMut(Finding),
    ) {
        let kinds = effects.kinds;
        let stores = kinds.contains(Kinds::STORES);
        let is_transfer = kinds.contains(Kinds::TRANSFER);
        let is_lds = kinds.contains(Kinds::DS) && !kinds.contains(Kinds::GDS);
        if kinds.contains(Kinds::FLAT_ANY) && stores {
            (self.filled, self.filled_for_stores) = (true, true);
        }
        let Some(ticket) = ticket.filter(|_| is_transfer || is_lds) else { return };
        let reads = if is_transfer { stores } else { kinds.contains(Kinds::READS_LDS) };
        let found = if is_transfer { self.filled_for_stores } else { self.filled };
        for old in &self.operations {
            // Loads to LDS and stores from LDS are in order with each other, so they are not reported. There
            // is one exception: a store may read LDS before the data of an earlier load has arrived there.
            let by_lds = old.ticket.class == Class::Lds;
            let apart = if is_transfer { reads && old.fills || by_lds && !reads } else { !by_lds };
            if !apart {
                continue;
            }
            let rule = if reads && old.fills && !found { &IN_FLIGHT } else { &MAY_OVERLAP };
            let problem = Problem::Event { rule };
            sink(Finding { first: old.site, second: site, registers: None, problem, is_doubtful: false });
        }
        let fills = if is_transfer { !stores } else { stores };
        self.filled |= is_lds && stores;
        self.begin(Operation { site, ticket, fills });
    }

    fn begin(&mut self, new: Operation) {
        match self.operations.iter_mut().find(|old| old.site == new.site) {
            Some(old) => *old = new,
            None => self.operations.push(new),
        }
    }

    /// Removes the operations that a wait completes. `issued` says how many operations of each class were
    /// issued so far.
    pub(crate) fn wait(&mut self, waits: &Waits, issued: &[u32; CLASSES]) {
        let Transfers { operations, filled, filled_for_stores } = self;
        operations.retain(|operation| {
            let info = operation.ticket.class.info();
            let count = waits.0[info.counter as usize];
            let done = count != Waits::ANY
                && (count == 0 || info.in_order && age(operation.ticket, issued) >= u32::from(count));
            *filled |= done && operation.fills;
            *filled_for_stores |= done && operation.fills;
            !done
        });
    }

    /// Joins the state of another path into this state. Returns whether this state has changed.
    pub(crate) fn join(
        &mut self,
        other: &Transfers,
        issued: &[u32; CLASSES],
        theirs: &[u32; CLASSES],
    ) -> bool {
        let Transfers { operations, filled, filled_for_stores } = other;
        let mut changed = *filled && !self.filled || *filled_for_stores && !self.filled_for_stores;
        self.filled |= filled;
        self.filled_for_stores |= filled_for_stores;
        for new in operations {
            let class = new.ticket.class;
            let younger = age(new.ticket, theirs);
            let ticket =
                Ticket { class, index: issued[class as usize].wrapping_sub(1).wrapping_sub(younger) };
            match self.operations.iter_mut().find(|old| old.site == new.site) {
                Some(old) if age(old.ticket, issued) <= younger => {}
                Some(old) => (old.ticket, changed) = (ticket, true),
                None => {
                    self.operations.push(Operation { ticket, ..*new });
                    changed = true;
                }
            }
        }
        changed
    }

    /// Removes the operations of all instructions for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: impl Fn(Site) -> bool) {
        self.operations.retain(|operation| keep(operation.site));
    }

    /// Returns whether an operation of the given instruction is in flight.
    pub(crate) fn has(&self, site: Site) -> bool {
        self.operations.iter().any(|operation| operation.site == site)
    }
}

/// Returns the age of an operation, which is the number of younger operations of its class.
fn age(ticket: Ticket, issued: &[u32; CLASSES]) -> u32 {
    issued[ticket.class as usize].wrapping_sub(ticket.index).wrapping_sub(1)
}
