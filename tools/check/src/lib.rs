//! Checks machine code of AMD GPUs (GFX6 to GFX10) without running it, for rules that the hardware does not
//! enforce: waits and hazards.
//!
//! * [`counters`], [`hazards`], [`rdna`], [`illegal_insts`], [`clauses`]: the facts about processors, as
//!   tables.
//! * [`rules`]: the rules of all possible findings, by name.
//! * [`Code`]: the instructions of a program with their effects, computed once.
//! * [`reasons`], [`pressure`]: information for readers of the code: which instruction needs a wait, and how
//!   many registers are live at each instruction.
//! * [`Scoreboard`]: the operations of a wave that are in flight. Two users update it instruction by
//!   instruction: the emulator, while it runs a program, and the solver, along all paths of a program.
//!
//! The checker does not use the compiler's own passes for waits and hazards (`memmodel`). It was written
//! independently from the manuals, so that it can judge these passes.

mod by_address;
pub mod clauses;
pub mod code;
mod conditions;
pub mod counters;
pub mod effects;
pub mod finding;
pub mod fold;
mod functions;
pub mod hazards;
pub mod illegal_insts;
mod mai;
mod nodes;
pub mod object;
pub mod pressure;
pub mod program;
mod ranges;
pub mod rdna;
mod reader;
pub mod reasons;
pub mod regset;
pub mod report;
pub mod rules;
pub mod scoreboard;
pub mod solve;
mod table;
mod targets;
pub mod transfers;
mod units;
pub mod writeback;

pub use code::Code;
pub use counters::{Class, Counter, FlatPath};
pub use effects::{Effects, Kinds};
pub use finding::{Access, CALLER, EventRule, Finding, Hope, Level, Problem, Site};
pub use regset::RegSet;
pub use scoreboard::{Pending, Scoreboard, Ticket};
