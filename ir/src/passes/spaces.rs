//! Infers the address space of generic pointers.
//!
//! Some generic pointers come only from pointers to one address space, through additions, selections and
//! block parameters. Such a pointer is given the type of a pointer to that space. Accesses through it then
//! need no FLAT instruction, no aperture check and no wait on two counters. Where a generic pointer is still
//! needed (if the pointer is stored or compared as a number), a conversion creates it at that point.
//!
//! Pointers to constant memory count as global pointers. Atomic accesses to private memory stay generic
//! because only FLAT instructions can perform them.

use crate::analysis::{CallGraph, FunctionWorklist};
use crate::entity::{Block, FuncId, Inst, Value};
use crate::func::{Function, Module, SrcLoc};
use crate::op::{CastOp, Op, Order};
use crate::types::{Space, Type};
use cranelift_entity::EntityRef;
use std::ops::Range;

/// For each function parameter, the address space of the generic pointers that calls pass for it. `None` as
/// long as no call is known. `Generic` if the pointers point to several spaces.
#[derive(Debug, Default)]
struct Passed {
    /// For each function, the index of its first parameter in `spaces`; the last element is the total number
    /// of parameters.
    begin: Vec<usize>,
    spaces: Vec<Option<Space>>,
}

impl Passed {
    fn param_spaces(&self, func: FuncId) -> &[Option<Space>] {
        self.spaces.get(self.range(func)).unwrap_or_default()
    }

    fn range(&self, func: FuncId) -> Range<usize> {
        let end = |number: usize| self.begin.get(number).copied().unwrap_or(0);
        end(func.index())..end(func.index() + 1)
    }

    fn begin(&mut self, module: &Module, graph: &CallGraph) {
        self.begin.clear();
        self.begin.push(0);
        self.spaces.clear();
        for (id, func) in module.funcs.iter() {
            let known = graph.has_known_callers(module, id) && !func.layout.is_empty();
            let first = if known { None } else { Some(Space::Generic) };
            self.spaces.extend(func.own_params().iter().map(|_| first));
            self.begin.push(self.spaces.len());
        }
    }
}

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    passed: Passed,
    work: FunctionWorklist,
    /// Whether a whole module is analysed, so that `passed` contains the address spaces of function
    /// parameters.
    is_module: bool,
    /// For each value that was a generic pointer, the address space that was found for it. `None` as long as
    /// nothing is known about the value. `Generic` if it may point to several spaces.
    spaces: Vec<Option<Space>>,
}

const GENERIC: Type = Type::Ptr(Space::Generic);

/// Gives generic pointers the type of a pointer to the space they point to. Returns whether the space of any
/// pointer was found.
pub fn run(func: &mut Function, s: &mut Scratch) -> bool {
    if func.values.values().all(|value| value.ty != GENERIC) {
        return false;
    }
    // The parameters of the function stay generic because the callers determine what they pass.
    find(func, None, s);
    take(func, s)
}

/// Does the same as [`run`] for all functions of a module. Also takes into account which pointers the calls
/// in the module pass for parameters.
pub fn of_calls(module: &mut Module, graph: &CallGraph, s: &mut Scratch) {
    s.passed.begin(module, graph);
    let mut work = std::mem::take(&mut s.work);
    work.begin(graph);
    while let Some(id) = work.pop() {
        let func = &module.funcs[id];
        if func.values.values().all(|value| value.ty != GENERIC) {
            continue;
        }
        find(func, Some(id), s);
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            let Op::Call(callee) = func.insts[inst].op else { continue };
            let range = s.passed.range(callee);
            let mut changed = false;
            for (place, &arg) in range.zip(func.args(inst)).filter(|&(_, &arg)| func.ty(arg) == GENERIC) {
                let joined = join(s.passed.spaces[place], space_of(func, arg, s));
                changed |= std::mem::replace(&mut s.passed.spaces[place], joined) != joined;
            }
            if changed {
                work.push(callee);
            }
        }
    }
    s.work = work;
    for (id, func) in module.funcs.iter_mut() {
        if func.values.values().any(|value| value.ty == GENERIC) {
            find(func, Some(id), s);
            take(func, s);
        }
    }
}

/// Finds the address spaces of a function's values. If `id` is given, the pointers that calls pass for the
/// function's parameters are known.
fn find(func: &Function, id: Option<FuncId>, s: &mut Scratch) {
    s.is_module = id.is_some();
    s.spaces.clear();
    s.spaces.resize(func.values.len(), None);
    let params = func.own_params().iter().enumerate();
    for (n, param) in params.filter(|&(_, &param)| func.ty(param) == GENERIC) {
        let passed = id.map_or(Some(Space::Generic), |id| s.passed.param_spaces(id)[n]);
        s.spaces[param.index()] = passed;
    }
    while follow(func, s) {}
}

/// Gives generic pointers the types of the address spaces that were found. Returns whether any pointer
/// changed its type.
fn take(func: &mut Function, s: &Scratch) -> bool {
    let known = |(value, space): (usize, &Option<Space>)| {
        func.ty(Value::new(value)) == GENERIC && space.is_some_and(|space| space != Space::Generic)
    };
    let found = s.spaces.iter().enumerate().any(known);
    if found {
        retype(func, s);
        rewrite(func, s);
    }
    found
}

/// Propagates address spaces through the function once. Returns whether anything changed.
fn follow(func: &Function, s: &mut Scratch) -> bool {
    let mut again = false;
    for &block in &func.layout {
        for &inst in func.blocks[block].insts() {
            if func.insts[inst].op.is_terminator() {
                again |= pass_on(func, inst, s);
            }
            for value in func.results_of(inst) {
                if func.ty(value) == GENERIC {
                    let space = result_space(func, inst, s);
                    again |= std::mem::replace(&mut s.spaces[value.index()], space) != space;
                }
            }
        }
    }
    again
}

/// Returns the space of the generic pointer that an instruction computes.
fn result_space(func: &Function, inst: Inst, s: &Scratch) -> Option<Space> {
    let args = func.args(inst);
    match func.insts[inst].op {
        Op::PtrAdd | Op::PtrAddZ | Op::Cast(CastOp::SpaceCast) => space_of(func, args[0], s),
        Op::Select => join(space_of(func, args[1], s), space_of(func, args[2], s)),
        // A null pointer is a null pointer in every space.
        Op::Cast(CastOp::IntToPtr) if func.const_bits(args[0]) == Some(0) => None,
        _ => Some(Space::Generic),
    }
}

fn space_of(func: &Function, pointer: Value, s: &Scratch) -> Option<Space> {
    match func.ty(pointer) {
        GENERIC => s.spaces[pointer.index()],
        Type::Ptr(Space::Constant) => Some(Space::Global),
        Type::Ptr(space) => Some(space),
        _ => Some(Space::Generic),
    }
}

/// Passes the address spaces of branch arguments on to the block parameters of the targets. Returns whether
/// anything changed.
fn pass_on(func: &Function, branch: Inst, s: &mut Scratch) -> bool {
    let mut again = false;
    for which in 0..func.branch_count(branch) {
        let Some(to) = func.branch_target(branch, which) else { continue };
        for (&param, &arg) in func.params(to).iter().zip(func.branch_args(branch, which)) {
            let known = s.spaces[param.index()];
            if func.ty(param) == GENERIC && join(known, space_of(func, arg, s)) != known {
                s.spaces[param.index()] = join(known, space_of(func, arg, s));
                again = true;
            }
        }
    }
    again
}

fn join(a: Option<Space>, b: Option<Space>) -> Option<Space> {
    match (a, b) {
        (None, x) | (x, None) => x,
        (x, y) if x == y => x,
        _ => Some(Space::Generic),
    }
}

/// Changes the types of the values whose space is known.
fn retype(func: &mut Function, s: &Scratch) {
    for (index, space) in s.spaces.iter().enumerate() {
        let value = &mut func.values[Value::new(index)];
        if let (GENERIC, Some(space)) = (value.ty, *space) {
            value.ty = Type::Ptr(space);
        }
    }
}

/// Adapts instructions to the new pointer types of their operands and results.
fn rewrite(func: &mut Function, s: &Scratch) {
    let mut insts = Vec::new();
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        func.take_insts(block, &mut insts);
        for &inst in &insts {
            fit(func, block, inst, s);
            func.append(block, inst);
        }
    }
}

fn fit(func: &mut Function, block: Block, inst: Inst, s: &Scratch) {
    let op = func.insts[inst].op;
    match op {
        Op::Cast(CastOp::SpaceCast) => return,
        Op::PtrAdd | Op::PtrAddZ => return fit_sum(func, block, inst),
        Op::Icmp(_) => return fit_comparison(func, block, inst),
        _ => {}
    }
    for n in 0..func.args(inst).len() {
        let arg = func.args(inst)[n];
        let Type::Ptr(from) = func.ty(arg) else { continue };
        let to = match op.mem() {
            Some(mem) if n == 0 && mem.space != Space::Generic => mem.space,
            Some(_) if n == 0 && accessible(op, from) => from,
            _ if !was_generic(arg, s) && from != Space::Generic => {
                space_at_use(func, inst, n).unwrap_or(from)
            }
            _ => space_at_use(func, inst, n).or_else(|| passed_to(op, n, s)).unwrap_or(Space::Generic),
        };
        let fitting = cast(func, block, arg, to, func.insts[inst].loc);
        func.args_mut(inst)[n] = fitting;
        if let (0, Some(mem)) = (n, func.insts[inst].op.mem_mut()) {
            mem.space = to;
        }
    }
}

fn was_generic(value: Value, s: &Scratch) -> bool {
    s.spaces.get(value.index()).is_some_and(Option::is_some)
}

/// Returns the address space of the pointer that the callee takes for parameter `n`. The argument may still
/// be a generic pointer.
fn passed_to(op: Op, n: usize, s: &Scratch) -> Option<Space> {
    let Op::Call(callee) = op else { return None };
    if !s.is_module {
        return None;
    }
    s.passed.param_spaces(callee).get(n).copied().flatten()
}

/// Returns whether the access can go to the given address space directly, without a generic address.
fn accessible(op: Op, space: Space) -> bool {
    let atomic = op.mem().is_some_and(|mem| mem.order != Order::NotAtomic);
    !(atomic && space == Space::Private)
}

/// Returns the address space to which the pointer operand `n` must be converted: that of the result or block
/// parameter into which it flows. Returns `None` for all other uses of a pointer as a value, which still need
/// a generic pointer.
fn space_at_use(func: &Function, inst: Inst, n: usize) -> Option<Space> {
    let space = |value: Value| match func.ty(value) {
        Type::Ptr(space) => Some(space),
        _ => None,
    };
    if func.insts[inst].op == Op::Select {
        return space(func.insts[inst].first);
    }
    for which in 0..func.branch_count(inst) {
        let range = func.branch_arg_range(inst, which);
        if range.contains(&n)
            && let Some(to) = func.branch_target(inst, which)
        {
            return space(func.params(to)[n - range.start]);
        }
    }
    None
}

/// Narrows the 64-bit offset of a pointer addition to 32 bits if the pointer has become 32 bits wide.
fn fit_sum(func: &mut Function, block: Block, inst: Inst) {
    let (Type::Ptr(space), &[_, distance]) = (func.ty(func.insts[inst].first), func.args(inst)) else {
        return;
    };
    if space.pointer_bits() == 64 {
        return;
    }
    func.insts[inst].op = Op::PtrAdd;
    if func.ty(distance) == Type::I64 {
        let loc = func.insts[inst].loc;
        let low = func.push1(block, Op::Cast(CastOp::Trunc), &[distance], Type::I32, loc);
        func.args_mut(inst)[1] = low;
    }
}

/// Turns the comparison of two generic pointers into a comparison of 32-bit numbers, if both have become
/// pointers to the same 32-bit address space.
fn fit_comparison(func: &mut Function, block: Block, inst: Inst) {
    let (loc, &[a, b]) = (func.insts[inst].loc, func.args(inst)) else { return };
    if let (Some((a, space)), Some((b, other))) = (narrow(func, a), narrow(func, b))
        && space == other
    {
        let number = |func: &mut Function, pointer| {
            func.push1(block, Op::Cast(CastOp::PtrToInt), &[pointer], Type::I32, loc)
        };
        let numbers = [number(func, a), number(func, b)];
        func.set_args(inst, &numbers);
    }
}

/// If a number was computed from a 32-bit pointer, by a conversion to a generic pointer and then to a 64-bit
/// number, returns the 32-bit pointer. Returns `None` for any other number.
fn narrow(func: &Function, number: Value) -> Option<(Value, Space)> {
    let of = |value: Value, op: CastOp| {
        let inst = func.def_inst(value).filter(|&inst| func.insts[inst].op == Op::Cast(op))?;
        func.args(inst).first().copied()
    };
    let pointer = of(of(number, CastOp::PtrToInt)?, CastOp::SpaceCast)?;
    match func.ty(pointer) {
        Type::Ptr(space) if space.pointer_bits() == 32 => Some((pointer, space)),
        _ => None,
    }
}

fn cast(func: &mut Function, block: Block, pointer: Value, to: Space, loc: SrcLoc) -> Value {
    if func.ty(pointer) == Type::Ptr(to) {
        return pointer;
    }
    func.push1(block, Op::Cast(CastOp::SpaceCast), &[pointer], Type::Ptr(to), loc)
}
