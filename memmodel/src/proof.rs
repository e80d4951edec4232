//! An independent proof over final code: what the passes of this crate guarantee, found by other means.
//!
//! The passes go forward over a lattice. The checker starts at each operation and follows every path from it until the
//! operation is known to be complete ([`in_flight`]), or at each instruction and goes back along every path until enough
//! wait states lie between ([`hazards`]). Only the tables are shared. It works on foreign code as well: see
//! [`crate::cfg`].
//!
//! A path is a sequence of blocks of the linear graph. It is left when its state was seen before, so the search is
//! linear in the code for each operation; tests can afford it, a compiler need not.

mod coherence;
mod hazards;
mod in_flight;
mod transfers;

use crate::Model;
use isa::{MBlock, MachFunc, MachInst, Reg};
use std::fmt;

pub use coherence::{barriers, coherence};
pub use hazards::hazards;
pub use in_flight::in_flight;
pub use transfers::transfers;

/// An instruction's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Block.
    pub block: MBlock,
    /// Index in the block.
    pub index: usize,
}

impl Place {
    /// The instruction there.
    pub fn inst(self, func: &MachFunc) -> &MachInst {
        &func.blocks[self.block].insts[self.index]
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.block, self.index)
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The register is touched while the first instruction may still write it (or read it, where a counter counts that).
    InFlight {
        /// The first of the registers.
        reg: Reg,
        /// The counter that was to be waited for.
        counter: &'static str,
    },
    /// Too few wait states between the two; where an instruction mends it, none of those.
    Hazard {
        /// The rule.
        rule: &'static str,
        /// How many there are.
        found: u8,
        /// How many there should be.
        wanted: u8,
    },
    /// The first instruction may be incomplete where the second, by a row of the memory model, needs it complete.
    Order {
        /// The row, or "barrier".
        row: &'static str,
        /// The counter.
        counter: &'static str,
    },
    /// The second reads memory after the first without the invalidation that the row of the first asks for.
    Stale {
        /// The row.
        row: &'static str,
    },
    /// A pseudo instruction is left.
    Pseudo,
}

/// A fault with both its places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Where it begins.
    pub first: Place,
    /// Where it shows.
    pub second: Place,
    /// What it is.
    pub fault: Fault,
    /// Mnemonics of the two.
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

/// Everything that holds for final code of any origin; with memory attributes on the instructions, the memory model's
/// rows too.
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

/// No pseudo instruction is left.
fn pseudos(func: &MachFunc) -> Vec<Violation> {
    let places = places(func).filter(|place| place.inst(func).op.family() == isa::table::Family::Pseudo);
    places.map(|place| Violation::new(func, place, place, Fault::Pseudo)).collect()
}

/// All places in layout order.
fn places(func: &MachFunc) -> impl Iterator<Item = Place> {
    func.blocks
        .iter()
        .flat_map(|(block, data)| (0..data.insts.len()).map(move |index| Place { block, index }))
}
