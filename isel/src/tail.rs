//! Lowers a call at the end of a function to a jump: the called function returns in place of the calling
//! function, whose frame is not needed any more.
//!
//! The lanes of a wave end a function together. If lanes may have diverged, the function ends in one place,
//! and only a call at that place can become a jump. If lanes cannot diverge, every path through the function
//! may end in a jump ([`end_early`]).
//!
//! # Requires
//! The function's frame is not used after the jump: the function has no private variables, and the callee has
//! no arguments on the stack.

use crate::call::Callee;
use crate::lower::{Lower, Options};
use callconv::{Implicit, Place, column};
use ir::analysis::Analyses;
use ir::{Block, Function, Inst, Op};
use mir::Callee as Target;

/// A call that can become a jump.
pub(crate) struct Tail<'a> {
    pub call: Inst,
    pub to: Target,
    pub callee: &'a Callee,
}

/// Returns the call at the end of `block` if the call can become a jump. The block must do nothing after the
/// call but return exactly the call's results, and the other conditions for a tail call must hold.
pub(crate) fn tail<'a>(func: &Function, block: Block, opts: &Options<'a>) -> Option<Tail<'a>> {
    let [.., call, end] = func.blocks[block].insts()[..] else { return None };
    let (to, callee) = match func.insts[call].op {
        Op::Call(callee) => (Target::Func(callee.as_u32()), opts.callees.get(callee.as_u32() as usize)?),
        Op::CallIndirect(sig) => (Target::Pointer(sig.as_u32()), opts.pointer?),
        _ => return None,
    };
    let is_own = func.results_of(call).eq(func.args(end).iter().copied());
    let first = usize::from(matches!(to, Target::Pointer(_)));
    let args = func.args(call)[first..].iter();
    let dwords: usize = args.map(|&arg| func.ty(arg).dwords() as usize).sum();
    let ids = callee.needs.implicit_place(opts.convention, Implicit::WorkitemIds, dwords);
    let registers = column(opts.convention).argument_vgprs.len();
    let on_stack = dwords > registers || matches!(ids, Some(Place::Stack(_)));
    let may = opts.opt_level > 0 && func.kernel.is_none() && func.slots.is_empty();
    (may && is_own && !on_stack).then_some(Tail { call, to, callee })
}

/// Changes a function without divergent branches so that it may end at several places. Each path that ends
/// with a call then ends there, with a jump to the called function, instead of jumping to the function's
/// single return.
#[cold]
pub(crate) fn end_early(func: &mut Function, an: &mut Analyses, opts: &Options<'_>) {
    let parts = || func.layout.iter().any(|&block| an.uniformity.is_branch_divergent(block));
    if opts.opt_level == 0 || func.kernel.is_some() || parts() {
        return;
    }
    let is_end = |&block: &Block| match func.blocks[block].insts()[..] {
        [ret] => func.insts[ret].op == Op::Ret && func.args(ret) == func.params(block),
        _ => false,
    };
    let Some(end) = func.layout.iter().copied().find(is_end) else { return };
    let goes_there =
        |&block: &Block| func.terminator(block).is_some_and(|last| func.insts[last].op == Op::Jump(end));
    let blocks = func.layout.iter().copied().filter(goes_there);
    let ends: Vec<Inst> = blocks
        .filter(|&block| tail(func, block, opts).is_some())
        .filter_map(|block| func.terminator(block))
        .collect();
    if ends.is_empty() {
        return;
    }
    ends.into_iter().for_each(|last| func.insts[last].op = Op::Ret);
    an.cfg.compute(func);
    func.layout.retain(|&block| an.cfg.is_reachable(block));
    an.compute(func);
}

impl Lower<'_> {
    /// Returns whether `inst` is the call at the end of the current block that becomes a jump.
    pub fn is_jump(&self, inst: Inst) -> bool {
        self.tail == Some(inst)
    }
}
