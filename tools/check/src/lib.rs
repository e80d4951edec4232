//! What hardware does not check: waits and hazards of AMD GPU machine code, GFX6 to GFX10.
//!
//! * [`counters`], [`hazards`], [`rdna`], [`single`], [`clauses`]: the facts, as tables.
//! * [`rules`]: all that may be found, by name.
//! * [`Code`]: a program's instructions with what each does, worked out once.
//! * [`reasons`], [`pressure`]: what a reader of the code wants to know of it: whom a wait serves, and how many registers are
//!   alive where.
//! * [`Scoreboard`]: what a wave has under way. It goes from instruction to instruction, in an emulator that runs the
//!   program or over the paths of one that is only read.
//!
//! The compiler's own passes for waits and hazards (`memmodel`) are not used here: what checks them is written from the
//! manuals anew.

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
pub mod single;
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
