//! Interprocedural propagation of arguments. A parameter that is the same constant at every call is replaced
//! by the constant. A parameter that is never used is removed. A generic pointer that always comes from one
//! address space becomes a pointer to that space.
//!
//! Only functions whose calls are all known ([`CallGraph::has_known_callers`]) are changed. If a function
//! passes its own parameter on to a call, to itself or to another function, what is known about the parameter
//! is passed on too.
//!
//! # Limits
//! Results are not propagated here. Floating-point constants are compared by their bits.

use super::spaces;
use crate::analysis::{CallGraph, FunctionWorklist};
use crate::entity::{FuncId, Inst, Value};
use crate::func::{Function, Module, SrcLoc, ValueDef, Values};
use crate::op::Op;
use cranelift_entity::EntityRef;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For each function, the index of its first parameter in the lists below; the last element is the total
    /// number of parameters.
    begin: Vec<usize>,
    known: Vec<bool>,
    constants: Vec<Constant>,
    live: Vec<bool>,
    /// Pairs `(parameter of the callee, parameter of the caller)`: a call passes the caller's own parameter
    /// on as the argument for the callee's parameter.
    handed: Vec<(usize, usize)>,
    work: FunctionWorklist,
}

/// What is known about the arguments that all calls pass for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constant {
    /// No call has been seen yet.
    None,
    Bits(u64),
    Many,
}

impl Constant {
    fn join(self, other: Constant) -> Constant {
        match (self, other) {
            (Constant::None, one) | (one, Constant::None) => one,
            (a, b) if a == b => a,
            _ => Constant::Many,
        }
    }
}

/// Runs the pass over a module. Constants and unused parameters are handled at levels above 0 only.
pub fn run(
    module: &mut Module,
    graph: &CallGraph,
    level: u8,
    (s, spaces): (&mut Scratch, &mut spaces::Scratch),
) {
    if level > 0 {
        s.begin(module, graph);
        find_constants(module, graph, s);
        module.funcs.iter_mut().for_each(|(id, func)| substitute(id, func, s));
        find_live(module, s);
        if s.live.contains(&false) {
            module.funcs.iter_mut().for_each(|(id, func)| drop_dead(id, func, s));
        }
    }
    spaces::of_calls(module, graph, spaces);
}

impl Scratch {
    fn begin(&mut self, module: &Module, graph: &CallGraph) {
        let Scratch { begin, known, constants, live, handed, .. } = self;
        begin.clear();
        begin.push(0);
        known.clear();
        let mut count = 0;
        for (id, func) in module.funcs.iter() {
            known.push(graph.has_known_callers(module, id) && !func.layout.is_empty());
            count += func.own_params().len();
            begin.push(count);
        }
        constants.clear();
        constants.resize(count, Constant::None);
        live.clear();
        live.resize(count, false);
        handed.clear();
    }

    /// Returns the index of parameter `number` of a function in the lists of this pass. `None` if not all
    /// callers of the function are known, so that it cannot be changed.
    fn param_index(&self, func: FuncId, number: usize) -> Option<usize> {
        let place = self.begin[func.index()] + number;
        (self.known[func.index()] && place < self.begin[func.index() + 1]).then_some(place)
    }

    /// If `value` is a parameter of the function, returns the index of the parameter. Returns `None` for
    /// other values, or if not all calls of the function are known.
    fn place_of(&self, id: FuncId, func: &Function, value: Value) -> Option<usize> {
        match func.values[value].def {
            ValueDef::Param(block, number) if block == func.entry() => self.param_index(id, number.into()),
            _ => None,
        }
    }
}

/// Returns the direct calls in a function.
fn calls(func: &Function) -> impl Iterator<Item = (Inst, FuncId)> + '_ {
    let insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
    insts.filter_map(|&inst| match func.insts[inst].op {
        Op::Call(callee) => Some((inst, callee)),
        _ => None,
    })
}

fn find_constants(module: &Module, graph: &CallGraph, s: &mut Scratch) {
    let mut work = std::mem::take(&mut s.work);
    work.begin(graph);
    while let Some(id) = work.pop() {
        let func = &module.funcs[id];
        for (inst, callee) in calls(func) {
            let mut changed = false;
            for (n, &arg) in func.args(inst).iter().enumerate() {
                let Some(place) = s.param_index(callee, n) else { break };
                let passed = match (func.const_bits(arg), s.place_of(id, func, arg)) {
                    (Some(bits), _) => Constant::Bits(bits),
                    (None, Some(own)) => s.constants[own],
                    (None, None) => Constant::Many,
                };
                let joined = s.constants[place].join(passed);
                changed |= std::mem::replace(&mut s.constants[place], joined) != joined;
            }
            if changed {
                work.push(callee);
            }
        }
    }
    s.work = work;
}

/// Replaces parameters by their constants.
fn substitute(id: FuncId, func: &mut Function, s: &Scratch) {
    if !s.known[id.index()] {
        return;
    }
    let entry = func.entry();
    let params = Values::from_slice(func.params(entry));
    let (mut new, mut fixed) = (Values::new(), Vec::new());
    for (n, &param) in params.iter().enumerate() {
        let constant = s.constants[s.begin[id.index()] + n];
        if let Constant::Bits(bits) = constant {
            let inst = func.make_inst(entry, Op::Const(bits), &[], func.ty(param), 1, SrcLoc::default());
            fixed.push(inst);
            new.push(func.insts[inst].first);
        } else {
            new.push(param);
        }
    }
    if fixed.is_empty() {
        return;
    }
    let to = |value: Value| params.iter().position(|&param| param == value).map_or(value, |n| new[n]);
    for at in 0..func.layout.len() {
        for n in 0..func.blocks[func.layout[at]].insts().len() {
            let inst = func.blocks[func.layout[at]].insts()[n];
            func.args_mut(inst).iter_mut().for_each(|arg| *arg = to(*arg));
        }
    }
    if let Some(track) = &mut func.track {
        track.notes.change_all(|what| what.map(to));
    }
    func.prepend(entry, fixed.into_iter());
}

/// Marks the parameters that are used. If a function only passes a parameter on to another function, the
/// parameter is used if that function uses its own parameter.
fn find_live(module: &Module, s: &mut Scratch) {
    for (id, func) in module.funcs.iter().filter(|(_, func)| !func.layout.is_empty()) {
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            for (n, &arg) in func.args(inst).iter().enumerate() {
                let Some(from) = s.place_of(id, func, arg) else { continue };
                let to = match func.insts[inst].op {
                    Op::Call(callee) => s.param_index(callee, n),
                    _ => None,
                };
                match to {
                    Some(to) => s.handed.push((to, from)),
                    None => s.live[from] = true,
                }
            }
        }
    }
    s.handed.sort_unstable();
    let mut work: Vec<usize> = (0..s.live.len()).filter(|&place| s.live[place]).collect();
    while let Some(to) = work.pop() {
        let first = s.handed.partition_point(|&(other, _)| other < to);
        for &(_, from) in s.handed[first..].iter().take_while(|&&(other, _)| other == to) {
            if !std::mem::replace(&mut s.live[from], true) {
                work.push(from);
            }
        }
    }
}

/// Removes unused parameters and the corresponding arguments of calls.
fn drop_dead(id: FuncId, func: &mut Function, s: &Scratch) {
    if func.layout.is_empty() {
        return;
    }
    let is_live = |func: FuncId, n: usize| s.param_index(func, n).is_none_or(|place| s.live[place]);
    let calls: Vec<(Inst, FuncId)> = calls(func).collect();
    for (inst, callee) in calls {
        let args = func.args(inst).iter().enumerate();
        let kept: Values = args.filter(|&(n, _)| is_live(callee, n)).map(|(_, &arg)| arg).collect();
        if kept.len() < func.args(inst).len() {
            func.set_args(inst, &kept);
        }
    }
    func.retain_params(func.entry(), |n, _| is_live(id, n));
}
