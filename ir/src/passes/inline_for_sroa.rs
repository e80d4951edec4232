//! Finds functions whose inlining frees private variables of their callers from memory. These are functions
//! that receive pointers into such variables. If inlining leaves only accesses at known offsets, the pass
//! [`super::sroa`] turns the variable into SSA values. Neither the caller nor the inlined copy then accesses
//! memory for the variable.
//!
//! # Method
//! First, functions are processed with callees before callers. Each pointer that points into a private
//! variable of the function, or that is a parameter, is followed from its origin (the variable or parameter)
//! through additions to accesses and calls. The *needs* of an origin are the values from which the access
//! offsets are computed: parameters of the function, which a call may pass as constants, or values that are
//! never known at compile time. Loop counters count as constants because loops over private arrays are
//! unrolled.
//!
//! Then functions are processed with callers before callees. A parameter frees a variable if some call passes
//! for it a pointer into a variable that can be freed from memory, or passes a parameter of the caller that
//! frees a variable.

use crate::analysis::CallGraph;
use crate::constraints::PROMOTE;
use crate::entity::{FuncId, Inst, Slot};
use crate::func::{Function, Module};
use crate::op::{CastOp, Op, Pos};
use crate::types::{Space, Type};
use cranelift_entity::EntityRef;

/// Maximum size in bytes of a variable that inlining can free from memory. The parts of larger variables
/// would not fit in registers.
const MAX_FREED: u32 = 1024;

/// The values that must be constants so that a variable can be turned into SSA values. Bit `n` stands for
/// parameter `n` of the function.
type Needs = u64;
/// The bit of [`Needs`] for a value that no call can pass as a constant. This bit also stands for parameters
/// from number 63 on.
const UNKNOWN: Needs = 1 << 63;

/// Origin of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Slot(Slot),
    Param(usize),
}

/// A pointer that a call passes.
#[derive(Clone, Copy, Debug)]
struct Passed {
    caller: FuncId,
    origin: Origin,
    callee: FuncId,
    param: usize,
}

/// The analysis and its storage.
#[derive(Debug, Default)]
pub(super) struct InlineForSroa {
    /// For each function, the index of its first parameter in the lists of all parameters of the module.
    first: Vec<usize>,
    /// For each parameter, the needs of the accesses through it.
    needs: Vec<Needs>,
    /// For each parameter, whether some call passes a pointer for it whose variable would no longer be in
    /// memory if the call were inlined.
    frees: Vec<bool>,
    /// The passed pointers, ordered by caller, callees first.
    passed: Vec<Passed>,
    /// For each value of the current function, the parameters from which it is computed, as bits. `origins`
    /// has, for each value that is a pointer, the private variable or parameter into which it points.
    made_of: Vec<Needs>,
    origins: Vec<Option<Origin>>,
    /// For each stack slot of the current function, the values that must be constants so that the offsets of
    /// all accesses to the slot are known.
    slot_needs: Vec<Needs>,
}

impl InlineForSroa {
    /// Analyses a module. `may_be_copied` returns whether calls of a function can be inlined.
    pub fn compute(&mut self, module: &Module, graph: &CallGraph, may_be_copied: impl Fn(FuncId) -> bool) {
        self.first.clear();
        self.passed.clear();
        let mut total = 0;
        for func in module.funcs.values() {
            self.first.push(total);
            total += func.own_params().len();
        }
        self.first.push(total);
        self.frees.clear();
        self.frees.resize(total, false);
        self.needs.clear();
        self.needs.resize(total, 0);
        let is_pointer = |ty: Type| matches!(ty, Type::Ptr(Space::Private | Space::Generic));
        let takes_pointer = |func: &Function| func.kernel.is_none() && func.param_types().any(is_pointer);
        if !module.funcs.values().any(takes_pointer) {
            return;
        }
        for id in module.funcs.keys().filter(|&id| !may_be_copied(id)) {
            self.needs[self.first[id.index()]..self.first[id.index() + 1]].fill(UNKNOWN);
        }
        for &id in graph.bottom_up() {
            self.function(module, id);
        }
        for at in (0..self.passed.len()).rev() {
            let Passed { caller, origin, callee, param } = self.passed[at];
            let frees = match origin {
                Origin::Slot(_) => true,
                Origin::Param(param) => self.frees[self.first[caller.index()] + param],
            };
            self.frees[self.first[callee.index()] + param] |= frees;
        }
    }

    /// Returns whether inlining the function frees private variables of some caller from memory.
    pub fn frees_variables(&self, id: FuncId) -> bool {
        self.frees[self.first[id.index()]..self.first[id.index() + 1]].contains(&true)
    }

    fn function(&mut self, module: &Module, id: FuncId) {
        let func = &module.funcs[id];
        self.made_of.clear();
        self.made_of.resize(func.values.len(), 0);
        self.origins.clear();
        self.origins.resize(func.values.len(), None);
        self.slot_needs.clear();
        let kept = |size: u32| if size > MAX_FREED { UNKNOWN } else { 0 };
        self.slot_needs.extend(func.slots.values().map(|slot| kept(slot.size)));
        if func.kernel.is_none() {
            for (n, &param) in func.own_params().iter().enumerate() {
                self.made_of[param.index()] = 1 << n.min(63);
                if matches!(func.ty(param), Type::Ptr(_)) {
                    self.origins[param.index()] = Some(Origin::Param(n));
                }
            }
        }
        let first = self.passed.len();
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            self.visit(module, id, inst);
        }
        // Drops the passed pointers whose variable must stay in memory even if the call is inlined.
        let InlineForSroa { passed, slot_needs, needs, first: params, .. } = self;
        let mut end = first;
        for at in first..passed.len() {
            let needs = match passed[at].origin {
                Origin::Slot(slot) => slot_needs[slot.index()],
                Origin::Param(param) => needs[params[id.index()] + param],
            };
            if needs & UNKNOWN == 0 {
                passed[end] = passed[at];
                end += 1;
            }
        }
        passed.truncate(end);
    }

    fn visit(&mut self, module: &Module, id: FuncId, inst: Inst) {
        let func = &module.funcs[id];
        let args = func.args(inst);
        let made_of = args.iter().fold(0, |all, arg| all | self.made_of[arg.index()]);
        let origin = args.first().and_then(|arg| self.origins[arg.index()]);
        let mut result = (made_of, None);
        match func.insts[inst].op {
            Op::SlotAddr(slot) => result.1 = Some(Origin::Slot(slot)),
            Op::PtrAdd | Op::PtrAddZ => {
                result.1 = origin;
                self.need(id, origin, self.made_of[args[1].index()]);
                self.keep_rest(id, func, inst, 1);
            }
            Op::Cast(CastOp::SpaceCast) => result.1 = origin,
            Op::Load { mem, .. } | Op::Store { mem, .. } => {
                if !PROMOTE.takes(&mem) {
                    self.need(id, origin, UNKNOWN);
                }
                if !matches!(mem.space, Space::Private | Space::Constant) {
                    result.0 = UNKNOWN;
                }
                self.keep_rest(id, func, inst, 1);
            }
            Op::Call(callee) => self.call(module, id, callee, inst),
            Op::Jump(_) | Op::Br { .. } | Op::Switch(_) => {
                self.keep_rest(id, func, inst, 0);
                self.pass_on(func, inst);
            }
            op => {
                let is_known = op.is_pure() && !matches!(op, Op::Pos(pos) if pos != Pos::WaveSize);
                result.0 |= if is_known { 0 } else { UNKNOWN };
                self.keep_rest(id, func, inst, 0);
            }
        }
        for value in func.results_of(inst) {
            (self.made_of[value.index()], self.origins[value.index()]) = result;
        }
    }

    /// Records for an origin of pointers (a private variable or a parameter) that the values `needs` must be
    /// constants. Otherwise the offsets of the accesses through these pointers are not known.
    fn need(&mut self, id: FuncId, origin: Option<Origin>, needs: Needs) {
        match origin {
            Some(Origin::Slot(slot)) => self.slot_needs[slot.index()] |= needs,
            Some(Origin::Param(param)) => self.needs[self.first[id.index()] + param] |= needs,
            None => {}
        }
    }

    /// Keeps variables in memory: those to which the arguments of a call from index `first` on point. The
    /// accesses through these arguments cannot be followed.
    fn keep_rest(&mut self, id: FuncId, func: &Function, inst: Inst, first: usize) {
        for arg in func.args(inst).iter().skip(first) {
            self.need(id, self.origins[arg.index()], UNKNOWN);
        }
    }

    /// Records that each block parameter is computed from the same values as the branch arguments that are
    /// passed for it. Values that come around a back edge are not considered.
    fn pass_on(&mut self, func: &Function, inst: Inst) {
        for (which, to) in func.succs(func.insts[inst].block).enumerate() {
            for (&param, &arg) in func.params(to).iter().zip(func.branch_args(inst, which)) {
                self.made_of[param.index()] |= self.made_of[arg.index()];
            }
        }
    }

    /// Handles a call that passes pointers. If a parameter of the callee must be a constant, the argument
    /// that the call passes for it must be one. The values from which this argument is computed are therefore
    /// needs of the passed pointers, too.
    fn call(&mut self, module: &Module, caller: FuncId, callee: FuncId, inst: Inst) {
        let args = module.funcs[caller].args(inst);
        for (param, &arg) in args.iter().enumerate() {
            let Some(origin) = self.origins[arg.index()] else { continue };
            let inside = self.needs[self.first[callee.index()] + param];
            let params = args.iter().enumerate().take(63).filter(|(n, _)| inside & 1 << n != 0);
            let needs = params.fold(inside & UNKNOWN, |all, (_, arg)| all | self.made_of[arg.index()]);
            self.need(caller, Some(origin), needs);
            self.passed.push(Passed { caller, origin, callee, param });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::parse;

    /// Returns whether inlining `@f`, the first function of a text, frees variables.
    fn frees(text: &str) -> bool {
        let module = parse(text);
        let mut freed = InlineForSroa::default();
        freed
            .compute(&module, &CallGraph::new(&module), |id| module.funcs[id].inline != crate::Inline::Never);
        freed.frees_variables(FuncId::new(0))
    }

    /// Returns a function that loads from `v0` plus an offset computed by `body`, and a caller that has an
    /// array and executes `rest`.
    fn around(body: &str, rest: &str) -> String {
        format!(
            "func @f -> i32 {{\nb0(v0: ptr.private, v1: i32):\n{body}\n    v8 = ptr_add.ptr.private v0, v7\n    \
             v9 = load.i32 b32 private [v8] align 4\n    ret v9\n}}\n\
             export func @g -> i32 {{\n    slot0 size 64 align 4\nb0(v0: i32):\n    v1 = slot_addr.ptr.private slot0\n    \
             v2 = const.i32 8\n    v3 = lane_id.i32\n{rest}\n}}\n"
        )
    }

    #[test]
    fn offsets_have_to_be_known() {
        let call = "v4: i32 = call @f(v1, v2)\n    ret v4";
        assert!(frees(&around("v7 = const.i32 4", call)));
        assert!(frees(&around("v7 = add.i32 v1, v1", call)), "a call may pass a constant");
        assert!(!frees(&around("v7 = lane_id.i32", call)));
        let varies = "v4: i32 = call @f(v1, v3)\n    ret v4";
        assert!(!frees(&around("v7 = add.i32 v1, v1", varies)), "the call passes the number of the lane");
        assert!(frees(&around("v7 = const.i32 4", varies)), "nobody looks at what varies");
    }

    #[test]
    fn other_uses_keep_variables_in_memory() {
        let with = |rest: &str| {
            around("v7 = const.i32 4", &format!("v4: i32 = call @f(v1, v2)\n{rest}\n    ret v4"))
        };
        assert!(frees(&with("store b32 private [v1], v2 align 4")));
        assert!(!frees(&with("v5 = ptr_add.ptr.private v1, v3\n store b32 private [v5], v2 align 4")));
        assert!(!frees(&with("store b32 private [v1], v1 align 4")), "its address is stored");
        assert!(!frees(&with("store b32 private [v1], v2 align 4 volatile")));
    }
}
