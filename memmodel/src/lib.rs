//! Memory coherence, waits, hazards and a proof of them.
//!
//! Three passes run over a [`MachFunc`] with hardware registers, in this order,
//!
//! 1. [`coherence`] turns orders and scopes into cache bits, cache invalidations and *wait points*;
//! 2. [`waits`] turns wait points and data flow into as few waits as it can;
//! 3. [`hazards`] puts `s_nop`, or what else mends it, where the hardware does not interlock.
//!
//! and then [`clauses`], which says which loads belong together.
//!
//! [`proof`] proves the result over the final code, ours or anybody's: it shares the tables ([`sequences`],
//! [`counters`], [`rules`]) with the passes and none of their logic. [`mod@cfg`] makes a function of decoded code for it.
//!
//! # A new processor
//! The tables have a column a generation: [`counters::EVENTS`], [`sequences::COLUMNS`] with a cell of each of
//! [`sequences::ROWS`], [`rules::RULES`]. [`Model::of`] gathers them for a subtarget, and names the one that lacks its column.
//!
//! Every inserted instruction carries an [`isa::Note`] that says what it is there for.
//!
//! # Not here
//! Scheduling; deciding orders and scopes (the language and instruction selection do); encoding.

mod calls;
pub mod cfg;
pub mod clauses;
pub mod coherence;
pub mod counters;
mod edit;
pub mod effects;
pub mod hazards;
mod model;
pub mod proof;
pub mod rules;
pub mod sequences;
pub mod waits;

use isa::MachFunc;
pub use model::{Missing, Model};

/// What the passes may be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Wait for everything after every memory operation: the first step of a bisection.
    pub blunt: bool,
    /// Who waits for what where functions are called.
    pub convention: callconv::Convention,
}

/// Scratch memory of the passes, to be reused from function to function.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) waits: waits::Scratch,
    pub(crate) hazards: hazards::Scratch,
    pub(crate) clauses: Vec<clauses::Clause>,
    pub(crate) insts: Vec<isa::MachInst>,
}

/// What was inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// `s_waitcnt` and its like.
    pub waits: u32,
    /// Cache invalidations.
    pub invalidates: u32,
    /// `s_nop`.
    pub nops: u32,
    /// Other instructions that mend hazards.
    pub mends: u32,
    /// `s_clause`.
    pub clauses: u32,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        let Stats { waits, invalidates, nops, mends, clauses } = other;
        self.waits += waits;
        self.invalidates += invalidates;
        self.nops += nops;
        self.mends += mends;
        self.clauses += clauses;
    }
}

/// Runs the passes.
pub fn run(func: &mut MachFunc, model: &Model, opts: &Options, ctx: &mut Context) -> Stats {
    let mut stats = coherence::run(func, model, opts, ctx);
    stats += waits::run(func, model, opts, ctx);
    stats += hazards::run(func, model, opts, ctx);
    stats += clauses::run(func, model, ctx);
    stats
}
