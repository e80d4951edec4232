//! Finds arguments and results of calls that are the same in all lanes that execute the call.
//!
//! A parameter is uniform if all calls of its function are known and each of them passes a uniform value. A
//! result is uniform if the function returns a uniform value at every return. The active lanes of a function
//! are the lanes that called it, so it does not matter which lanes of the wave they are.
//!
//! # Method
//! At first, all parameters and results are assumed to be uniform. When a call or return shows that one of
//! them is not, the functions that depend on it are analysed again. Because of the optimistic start, a
//! parameter that recursive calls only pass on unchanged is found to be uniform. A function is analysed again
//! each time that one of these assumptions about it is dropped.

use super::{Analyses, CallGraph, FunctionWorklist, callers};
use crate::entity::FuncId;
use crate::func::{Function, Linkage, Module};
use crate::op::Op;
use cranelift_entity::SecondaryMap;
use std::sync::Arc;

/// For each function, one bit for each parameter and one for each result that says whether it is uniform.
/// Parameters and results from number 64 on have no bit and count as divergent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniformCalls {
    params: SecondaryMap<FuncId, u64>,
    results: SecondaryMap<FuncId, u64>,
}

impl UniformCalls {
    /// Computes for a module which parameters and results are uniform. `analyses` holds the analyses of one
    /// function at a time; its memory is reused.
    pub fn new(module: &Module, graph: &CallGraph, analyses: &mut Analyses) -> Arc<Self> {
        let mut facts = UniformCalls::default();
        for (id, func) in module.funcs.iter() {
            facts.params[id] = if graph.has_known_callers(module, id) { u64::MAX } else { 0 };
            facts.results[id] = if func.linkage == Linkage::Extern { 0 } else { u64::MAX };
        }
        let mut search = Search { module, callers: callers(module), facts: Arc::new(facts), analyses };
        search.run(graph);
        search.facts
    }

    /// Returns whether a parameter of a function is the same in all lanes of each call.
    pub fn is_param_uniform(&self, func: FuncId, number: usize) -> bool {
        is_set(self.params[func], number)
    }

    /// Returns whether each call of a function returns the same result in all lanes.
    pub fn is_result_uniform(&self, func: FuncId, number: usize) -> bool {
        is_set(self.results[func], number)
    }
}

fn is_set(bits: u64, number: usize) -> bool {
    number < 64 && bits >> number & 1 != 0
}

struct Search<'a> {
    module: &'a Module,
    callers: SecondaryMap<FuncId, Vec<FuncId>>,
    facts: Arc<UniformCalls>,
    analyses: &'a mut Analyses,
}

impl Search<'_> {
    fn run(&mut self, graph: &CallGraph) {
        let (mut work, mut lost) = (FunctionWorklist::default(), Vec::new());
        work.begin(graph);
        while let Some(id) = work.pop() {
            let func = &self.module.funcs[id];
            if func.layout.is_empty() {
                continue;
            }
            self.look_at(id, func, &mut lost);
            lost.drain(..).for_each(|other| work.push(other));
        }
    }

    /// Analyses a function. If it passes a divergent value to a parameter of another function, or returns
    /// one, the assumption that this parameter or result is uniform is dropped. Appends to `lost` the
    /// functions for which an assumption was dropped.
    fn look_at(&mut self, id: FuncId, func: &Function, lost: &mut Vec<FuncId>) {
        self.analyses.uniformity.know(Some((Arc::clone(&self.facts), Some(id))));
        self.analyses.compute(func);
        self.analyses.uniformity.know(None);
        let Analyses { loops, uniformity, .. } = &*self.analyses;
        // No other reference exists any more, so this does not copy.
        let facts = Arc::make_mut(&mut self.facts);
        let ends = func
            .layout
            .iter()
            .filter(|&&block| matches!(func.terminator(block), Some(inst) if func.insts[inst].op == Op::Ret));
        // With several returns and a divergent branch, lanes may return different results, because lanes that
        // took different directions at the branch may meet again only in the caller.
        let parts =
            ends.count() > 1 && func.layout.iter().any(|&block| uniformity.is_branch_divergent(block));
        for &block in &func.layout {
            for &inst in func.blocks[block].insts() {
                let differs =
                    |(n, &arg)| uniformity.is_divergent_at_use(func, loops, arg, block).then_some(n);
                let args = || func.args(inst).iter().enumerate();
                match func.insts[inst].op {
                    Op::Call(callee) => {
                        let kept = kept(facts.params[callee], args().filter_map(differs));
                        if std::mem::replace(&mut facts.params[callee], kept) != kept {
                            lost.push(callee);
                        }
                    }
                    Op::Ret => {
                        let all = args().map(|(n, _)| n).filter(|_| parts);
                        let kept = kept(facts.results[id], args().filter_map(differs).chain(all));
                        if std::mem::replace(&mut facts.results[id], kept) != kept {
                            lost.extend_from_slice(&self.callers[id]);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Returns the bits without the given bit numbers.
fn kept(bits: u64, without: impl Iterator<Item = usize>) -> u64 {
    without.filter(|&number| number < 64).fold(bits, |bits, number| bits & !(1 << number))
}
