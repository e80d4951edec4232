//! Memory coherence, waits, hazards, and a proof that they are correct.
//!
//! Three passes run over a [`MachFunc`] with hardware registers, in this order:
//!
//! 1. [`coherence`] turns memory orders and scopes into cache bits, cache invalidations and *wait points*
//!    (pseudo-instructions at which certain counters must be zero);
//! 2. [`waits`] turns wait points and data flow into as few waits as possible;
//! 3. [`hazards`] inserts `s_nop` or another mitigation where the hardware does not interlock.
//!
//! Finally, [`clauses`] marks loads that are issued together.
//!
//! [`proof`] proves the result on the final code, which may come from any compiler. The proof shares the
//! tables ([`sequences`], [`counters`], [`rules`]) with the passes, but none of their logic. [`mod@cfg`]
//! builds the function for the proof from decoded code.
//!
//! # A new processor
//! What differs between processors is in two facts of the family, [`isa::MemoryModel`] and [`isa::Hazards`].
//! [`Model::for_subtarget`] returns an error if one of them is open. Caches of a new kind need a cell in each
//! of [`sequences::ROWS`], and a new hazard needs a row in [`rules::RULES`].
//!
//! Every inserted instruction has an [`mir::Note`] that states its purpose.
//!
//! # Not here
//! This crate does not schedule instructions, choose memory orders and scopes (the language and instruction
//! selection do that), or encode instructions.

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

use mir::MachFunc;
pub use model::Model;

/// Options of the passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether to wait for every memory operation right after it. This is the first step when the cause of an
    /// error is found by bisection.
    pub blunt: bool,
    /// Calling convention, which defines which side of a call waits for what.
    pub convention: callconv::Convention,
}

/// Scratch memory of the passes, reused from one function to the next.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) waits: waits::Scratch,
    pub(crate) hazards: hazards::Scratch,
    pub(crate) clauses: Vec<clauses::Clause>,
    pub(crate) insts: Vec<isa::MachInst>,
}

/// Numbers of inserted instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// `s_waitcnt` and similar instructions.
    pub waits: u32,
    /// Cache invalidations.
    pub invalidates: u32,
    /// `s_nop`.
    pub nops: u32,
    /// Other instructions that mitigate hazards.
    pub mitigations: u32,
    /// `s_clause`.
    pub clauses: u32,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        let Stats { waits, invalidates, nops, mitigations: mends, clauses } = other;
        self.waits += waits;
        self.invalidates += invalidates;
        self.nops += nops;
        self.mitigations += mends;
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
