//! Which arguments and results of calls are the same in all lanes that call.
//!
//! A parameter is, if each call is known and passes a value that is; a result, if the function returns one wherever it ends. The lanes
//! of a function are those of the call, so it does not matter which of the wave's lanes that are.
//!
//! # Method
//! All are taken for uniform until some call or return shows that one is not; who depends on that is looked at again. So recursion that
//! passes on what it was given is found to. A function is looked at once for each time that it loses something.

use super::{Analyses, CallGraph, Work, callers};
use crate::entity::FuncId;
use crate::func::{Function, Linkage, Module};
use crate::op::Op;
use cranelift_entity::SecondaryMap;
use std::sync::Arc;

/// By function and number of the parameter or result, whether it is uniform: as bits; those behind the 64th are taken for divergent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniformCalls {
    params: SecondaryMap<FuncId, u64>,
    results: SecondaryMap<FuncId, u64>,
}

impl UniformCalls {
    /// Of a module, with memory for the analyses of its functions.
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

    /// Whether a parameter of a function is the same in all lanes of each call.
    pub fn is_param_uniform(&self, func: FuncId, number: usize) -> bool {
        is_set(self.params[func], number)
    }

    /// Whether each call of a function leaves the same result in all lanes.
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
        let (mut work, mut lost) = (Work::default(), Vec::new());
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

    /// Takes back what a function shows to be divergent. `lost` gets those for which that makes a difference.
    fn look_at(&mut self, id: FuncId, func: &Function, lost: &mut Vec<FuncId>) {
        self.analyses.uniformity.know(Some((Arc::clone(&self.facts), Some(id))));
        self.analyses.compute(func);
        self.analyses.uniformity.know(None);
        let Analyses { loops, uniformity, .. } = &*self.analyses;
        // Nobody else has it any more.
        let facts = Arc::make_mut(&mut self.facts);
        let ends = func
            .layout
            .iter()
            .filter(|&&block| matches!(func.terminator(block), Some(inst) if func.insts[inst].op == Op::Ret));
        // Lanes that parted may come together only where they return.
        let parts =
            ends.count() > 1 && func.layout.iter().any(|&block| uniformity.is_branch_divergent(block));
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
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

/// Bits without those of some numbers.
fn kept(bits: u64, without: impl Iterator<Item = usize>) -> u64 {
    without.filter(|&number| number < 64).fold(bits, |bits, number| bits & !(1 << number))
}
