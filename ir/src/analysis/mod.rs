//! Analyses of a function for passes and code generation.
//!
//! Every analysis is a value with a method `compute(&mut self, …)`. It reuses its memory, works in flat
//! arrays that entities index, and never changes the function.
//!
//! An analysis describes the function from which it was computed. A change of the control flow makes [`Cfg`]
//! and the analyses derived from it stale. A change of instructions makes [`Uniformity`] stale. Recomputing
//! an analysis that is not stale is cheap: [`Cfg`] only compares the edges, and the analyses derived from it
//! only compare the number of the graph.
//!
//! [`Analyses`] computes all of them, in the order in which they depend on each other.

pub mod callgraph;
pub mod cfg;
mod differing_bits;
pub mod dominance;
pub mod effects;
pub mod escape;
pub mod lcssa;
pub mod loops;
pub mod missing_barriers;
pub mod partial_execution;
pub mod uniform_calls;
pub mod uniformity;
pub mod worklist;

pub use callgraph::{CallGraph, Targets, Use, callers, reaching};
pub use cfg::Cfg;
pub use differing_bits::LaneGroup;
pub use dominance::{DomTree, PostDomTree};
pub use effects::{CallEffects, Effects};
pub use escape::Escapes;
pub use lcssa::lcssa_divergent_exits;
pub use loops::{Loop, LoopForest};
pub use missing_barriers::MissingBarriers;
pub use partial_execution::PartialExecution;
pub use uniform_calls::UniformCalls;
pub use uniformity::Uniformity;
pub use worklist::FunctionWorklist;

use crate::func::Function;

/// All analyses of one function.
#[derive(Clone, Debug, Default)]
pub struct Analyses {
    /// Predecessors, successors and block order.
    pub cfg: Cfg,
    /// Dominators.
    pub dom: DomTree,
    /// Post-dominators.
    pub postdom: PostDomTree,
    /// Natural loops.
    pub loops: LoopForest,
    /// Values that are the same in all lanes of a wave.
    pub uniformity: Uniformity,
}

impl Analyses {
    /// Computes the analyses that depend only on the control flow.
    pub fn compute_control(&mut self, func: &Function) {
        self.cfg.compute(func);
        self.dom.compute(&self.cfg);
        self.postdom.compute(&self.cfg);
        self.loops.compute(&self.cfg);
    }

    /// Computes all analyses.
    pub fn compute(&mut self, func: &Function) {
        self.compute_control(func);
        self.uniformity.compute(func, &self.cfg, &self.dom, &self.loops);
    }
}
