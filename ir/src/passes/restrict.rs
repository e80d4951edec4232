//! Derives alias information for accesses from `restrict` on a kernel's parameters.
//!
//! While the kernel runs, memory that is accessed through a `restrict` parameter is not accessed through any
//! other parameter, and memory that is accessed through a `const restrict` parameter is not written.
//!
//! Which accesses go through a parameter depends on where their address comes from, not on types: a pointer
//! is followed from the parameter through additions, selections and block parameters. As calls have been
//! inlined by this point, this includes functions that received the pointer. A `restrict` parameter of such a
//! function is not used: its guarantee holds only during the call, which is too short to be useful here.

use crate::constraints::PROMISE;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, KernelInfo, ParamKind};
use crate::op::{CastOp, MemFlags, Op, Pos};
use crate::types::{Space, Type};
use cranelift_entity::EntityRef;

/// The parameter from which a pointer is derived: its number plus one. `NOWHERE` if nothing is known yet.
/// `ELSEWHERE` if the pointer is derived from several parameters or from something else.
type Origin = u16;
const NOWHERE: Origin = 0;
const ELSEWHERE: Origin = Origin::MAX;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    origin: Vec<Origin>,
    visited: Vec<bool>,
}

impl Scratch {
    /// Returns the number of the parameter from which a pointer in the most recently analysed function is
    /// derived. `None` if the pointer is not derived from exactly one `restrict` parameter.
    pub(super) fn param_of(&self, pointer: Value) -> Option<usize> {
        self.origin
            .get(pointer.index())
            .filter(|&&origin| origin != ELSEWHERE)
            .and_then(|&o| usize::from(o).checked_sub(1))
    }
}

/// Adds the alias information to loads, stores and atomic operations. Returns whether the kernel has a
/// `restrict` parameter.
pub fn run(func: &mut Function, s: &mut Scratch) -> bool {
    let Some(kernel) = func.kernel.take() else { return false };
    let found = kernel.params.iter().any(|p| p.is_restrict && p.kind == ParamKind::GlobalBuffer);
    if found {
        s.origin.clear();
        s.origin.resize(func.values.len(), NOWHERE);
        while follow(func, &kernel, s) {}
        note(func, &kernel, s);
    }
    func.kernel = Some(kernel);
    found
}

/// Finds out, in one sweep through the function, from which parameter each pointer is derived. Returns
/// whether another sweep may find more, because a pointer is passed around a loop.
fn follow(func: &Function, kernel: &KernelInfo, s: &mut Scratch) -> bool {
    s.visited.clear();
    s.visited.resize(func.blocks.len(), false);
    let mut again = false;
    for &block in &func.layout {
        s.visited[block.index()] = true;
        for &inst in func.blocks[block].insts() {
            if func.insts[inst].op.is_terminator() {
                again |= pass_on(func, inst, s);
            }
            for (n, value) in func.results_of(inst).enumerate() {
                if matches!(func.ty(value), Type::Ptr(_)) {
                    s.origin[value.index()] = result_origin(func, kernel, inst, n, s);
                }
            }
        }
    }
    again
}

/// Returns the parameter from which the pointer that is result number `n` of an instruction is derived.
fn result_origin(func: &Function, kernel: &KernelInfo, inst: Inst, n: usize, s: &Scratch) -> Origin {
    let args = func.args(inst);
    let of = |value: Value| s.origin[value.index()];
    match func.insts[inst].op {
        Op::PtrAdd | Op::PtrAddZ | Op::Cast(CastOp::SpaceCast) => of(args[0]),
        Op::Select => join(of(args[1]), of(args[2])),
        Op::Load { mem, .. } if func.def_op(args[0]) == Some(Op::Pos(Pos::KernargPtr)) => {
            let offset = i64::from(mem.offset) + i64::from(mem.ty.bytes()) * n as i64;
            let at = kernel.params.iter().position(|p| i64::from(p.offset) == offset);
            at.filter(|&n| kernel.params[n].is_restrict).map_or(ELSEWHERE, |n| n as Origin + 1)
        }
        _ => ELSEWHERE,
    }
}

/// Records for the block parameters of a branch's targets from which kernel parameters their pointers are
/// derived. Returns whether a block that was already visited is affected.
fn pass_on(func: &Function, branch: Inst, s: &mut Scratch) -> bool {
    let mut again = false;
    for which in 0..func.branch_count(branch) {
        let Some(to) = func.branch_target(branch, which) else { continue };
        for (&param, &arg) in func.params(to).iter().zip(func.branch_args(branch, which)) {
            let joined = join(s.origin[param.index()], s.origin[arg.index()]);
            if joined != s.origin[param.index()] {
                s.origin[param.index()] = joined;
                again |= s.visited[to.index()];
            }
        }
    }
    again
}

fn join(a: Origin, b: Origin) -> Origin {
    match (a, b) {
        (NOWHERE, x) | (x, NOWHERE) => x,
        (x, y) if x == y => x,
        _ => ELSEWHERE,
    }
}

/// Gives the accesses through each `restrict` parameter an alias class of their own. Marks loads through
/// `const restrict` parameters as loads of memory that is never written.
fn note(func: &mut Function, kernel: &KernelInfo, s: &Scratch) {
    let insts = |b: &Block| func.blocks[*b].insts().iter();
    let classes = func.layout.iter().flat_map(insts).filter_map(|&i| func.insts[i].op.mem()).map(|m| m.alias);
    let last = classes.max().unwrap_or(0);
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        for n in 0..func.blocks[block].insts().len() {
            let inst = func.blocks[block].insts()[n];
            let Some(&pointer) = func.args(inst).first() else { continue };
            let origin = s.origin[pointer.index()];
            let is_load = matches!(func.insts[inst].op, Op::Load { .. });
            let Some(mem) = func.insts[inst].op.mem_mut() else { continue };
            let Some(param) = usize::from(origin).checked_sub(1).and_then(|n| kernel.params.get(n)) else {
                continue;
            };
            // If there are more parameters than alias classes, the rest get class 0, which may alias
            // everything.
            mem.alias = last.checked_add(origin).unwrap_or(0);
            if param.is_const && is_load && PROMISE.takes(mem) && mem.space == Space::Global {
                mem.flags |= MemFlags::INVARIANT;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::parse;
    use super::*;

    /// Returns the flags and alias classes of the accesses to global memory, in order: `i2` is an invariant
    /// access of class 2.
    fn accesses(body: &str) -> Vec<String> {
        let param = |name: &str, at: u32, word: &str| {
            format!(
                "param \"{name}\" \"p\" u32 x 1 buffer global at {at} size 8 align 8 pointee_align 4 {word}\n"
            )
        };
        let params = param("a", 0, "const restrict") + &param("b", 8, "restrict") + &param("c", 16, "const");
        let text = format!(
            "kernel @k {{ {params} kernarg_size 24\nb0:\n v0 = kernarg_ptr.ptr.constant\n v1 = const.i64 4\n \
             v2 = local_id.i32 0\n v3 = icmp.eq v2, v2\n \
             v4, v5, v6 = load.ptr.global b64 constant [v0] align 8 invariant\n {body} }}"
        );
        let mut module = parse(&text);
        let func = module.funcs.values_mut().next().unwrap();
        run(func, &mut Scratch::default());
        let insts = func.layout.iter().flat_map(|&b| func.blocks[b].insts().iter());
        let mems = insts.filter_map(|&i| func.insts[i].op.mem()).filter(|m| m.space == Space::Global);
        let text = |m: &crate::op::Mem| {
            format!("{}{}", if m.flags.contains(MemFlags::INVARIANT) { "i" } else { "" }, m.alias)
        };
        mems.map(text).collect()
    }

    #[test]
    fn addresses_are_followed() {
        let body = "v10 = ptr_add.ptr.global v4, v1\n v11 = load.i32 b32 global [v10] align 4\n \
                    v12 = ptr_add.ptr.global v5, v1\n v13 = load.i32 b32 global [v12] align 4\n \
                    store b32 global [v12], v13 align 4\n v14 = load.i32 b32 global [v6] align 4\n \
                    v15 = load.i32 b32 global [v4] align 4 volatile\n ret";
        assert_eq!(accesses(body), ["i1", "2", "2", "0", "1"]);
    }

    #[test]
    fn several_origins_are_none() {
        let body = "v10 = select.ptr.global v3, v4, v6\n v11 = load.i32 b32 global [v10] align 4\n \
                    v12 = select.ptr.global v3, v4, v4\n v13 = load.i32 b32 global [v12] align 4\n ret";
        assert_eq!(accesses(body), ["0", "i1"]);
    }

    #[test]
    fn pointers_go_around_loops() {
        let body = "jump b1(v4, v4)\nb1(v10: ptr.global, v11: ptr.global):\n \
                    v12 = load.i32 b32 global [v10] align 4\n v13 = load.i32 b32 global [v11] align 4\n \
                    v14 = ptr_add.ptr.global v10, v1\n br v3, b1(v14, v6), b2\nb2:\n ret";
        assert_eq!(accesses(body), ["i1", "0"]);
    }
}
