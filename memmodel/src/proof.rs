//! An independent proof, on final code, of everything that the passes of this crate guarantee.
//!
//! The passes walk forward and propagate states of a lattice. The checker works differently. For waits, it
//! starts at each operation and follows every path from there until the operation is known to be complete
//! ([`in_flight`]). For hazards, it starts at each instruction and walks backwards along every path until
//! enough wait states have passed ([`hazards`]). The passes and the checker share only the tables. The
//! checker also works on code of other compilers: see [`crate::cfg`].
//!
//! A path is a sequence of blocks of the linear graph. The search leaves a path when it has seen the path's
//! state before, so for each operation it takes time linear in the code. That is acceptable for tests; a
//! compiler need not run the checker.

mod coherence;
mod hazards;
mod in_flight;
mod transfers;

use crate::Model;
use isa::{MBlock, MachInst, Reg};
use mir::MachFunc;
use std::fmt;

pub use coherence::{barriers, coherence};
pub use hazards::hazards;
pub use in_flight::in_flight;
pub use transfers::transfers;

/// Position of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Block of the instruction.
    pub block: MBlock,
    /// Index in the block.
    pub index: usize,
}

impl Place {
    /// Returns the instruction at this position.
    pub fn inst(self, func: &MachFunc) -> &MachInst {
        &func.blocks[self.block].insts[self.index]
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.block, self.index)
    }
}

/// Kind of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The second instruction accesses a register too early, because the operation of the first instruction
    /// may still write the register. If the counter counts operations until they have read their sources, the
    /// operation may still read the register.
    InFlight {
        /// The first of the registers.
        reg: Reg,
        /// The counter that should have been waited for.
        counter: &'static str,
    },
    /// There are too few wait states between the two instructions, or the instruction that mitigates the
    /// hazard is missing.
    Hazard {
        /// Name of the rule.
        rule: &'static str,
        /// Number of wait states found.
        found: u8,
        /// Number of wait states required. 0 if the rule requires an instruction as mitigation.
        wanted: u8,
    },
    /// The second instruction comes too early. A row of the table [`crate::sequences`] requires that the
    /// operation of the first instruction is complete when the second instruction executes, but nothing
    /// waits for this operation.
    Order {
        /// Name of the row, or "barrier".
        row: &'static str,
        /// Name of the counter.
        counter: &'static str,
    },
    /// The second instruction may read stale memory: after the first instruction, its row of the table
    /// [`crate::sequences`] requires a cache invalidation before memory is read again, and none is there.
    Stale {
        /// Name of the row.
        row: &'static str,
    },
    /// A pseudo-instruction remains in the code.
    Pseudo,
}

/// A violation, with both of its instructions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Position of the first instruction.
    pub first: Place,
    /// Position of the second instruction, where the violation shows.
    pub second: Place,
    /// Kind of the violation.
    pub fault: Fault,
    /// Mnemonics of the two instructions.
    pub names: [&'static str; 2],
}

impl Violation {
    fn new(func: &MachFunc, first: Place, second: Place, fault: Fault) -> Violation {
        Violation { first, second, fault, names: [first, second].map(|place| place.inst(func).op.row().name) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { first, second, fault, names: [one, two] } = self;
        match fault {
            Fault::InFlight { reg, counter } => {
                write!(
                    f,
                    "{second}: {two} touches {reg:?}, which {one} at {first} still has in flight ({counter})"
                )
            }
            Fault::Hazard { rule, wanted: 0, .. } => {
                write!(f, "{second}: {two} comes after {one} at {first} with nothing that mends it: {rule}")
            }
            Fault::Hazard { rule, found, wanted } => {
                write!(
                    f,
                    "{second}: {two} comes {found} wait states after {one} at {first}, not {wanted}: {rule}"
                )
            }
            Fault::Order { row, counter } => {
                write!(f, "{second}: {two} ({row}) while {one} at {first} may be incomplete ({counter})")
            }
            Fault::Stale { row } => {
                write!(
                    f,
                    "{second}: {two} may see stale data: no invalidation after {one} at {first} ({row})"
                )
            }
            Fault::Pseudo => write!(f, "{first}: {one} is no instruction of the machine"),
        }
    }
}

impl std::error::Error for Violation {}

/// Checks all rules that hold for final code of any origin. If the instructions have memory attributes, also
/// checks the waits and invalidations that the table of sequences requires.
pub fn check(func: &MachFunc, model: &Model) -> Vec<Violation> {
    let mut faults = pseudos(func);
    in_flight(func, model, &mut faults);
    transfers(func, model, &mut faults);
    hazards(func, model, &mut faults);
    coherence(func, model, &mut faults);
    faults.sort();
    faults.dedup();
    faults
}

/// Returns the pseudo-instructions that remain.
fn pseudos(func: &MachFunc) -> Vec<Violation> {
    let places = places(func).filter(|place| place.inst(func).op.family() == isa::table::Family::Pseudo);
    places.map(|place| Violation::new(func, place, place, Fault::Pseudo)).collect()
}

/// Returns all positions in layout order.
fn places(func: &MachFunc) -> impl Iterator<Item = Place> {
    func.blocks
        .iter()
        .flat_map(|(block, data)| (0..data.insts.len()).map(move |index| Place { block, index }))
}
