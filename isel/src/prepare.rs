//! Brings a function into the shape that [`crate::select`] requires.
//!
//! # Guarantees
//! * Only one block returns. No block ends in `unreachable`; instead, such blocks jump to the block that
//!   returns.
//! * A loop has a preheader and a single latch. The latch ends in a jump and belongs to that loop directly,
//!   not to an inner loop.
//! * An edge that carries arguments is not critical, and does not come from an entry of a jump table.
//! * Scalars and masks leave a divergent loop only through parameters of the exit block.
//! * Only operations that selection supports remain (see [`crate::expand`]); switches have become branches
//!   ([`crate::tables`]).

use crate::exits;
use crate::expand;
use crate::indirect;
use crate::lower::Context;
use crate::tables::lower_switches;
use ir::analysis::Loop;
use ir::{Block, Function, Inst, Op, SrcLoc, Type, Value, Values};
use isa::Subtarget;
use smallvec::SmallVec;

/// Prepares a function for a processor, whose roles `ctx` holds. Afterwards the analyses in `ctx` describe
/// the prepared function.
pub fn prepare(func: &mut Function, target: &Subtarget, ctx: &mut Context) {
    prepare_with(func, target, ctx, true);
}

/// Prepares a function like [`prepare`]. Dense ranges of cases become jump tables if `tables` is set, and
/// comparisons otherwise.
pub(crate) fn prepare_with(func: &mut Function, target: &Subtarget, ctx: &mut Context, tables: bool) {
    indirect::run(func, ctx);
    lower_switches(func, &mut ctx.analyses, &mut ctx.plan.rows, tables);
    unify_returns(func);
    expand::run(func, ctx.current_roles(), target.system().sizes);
    ctx.analyses.compute_control(func);
    if shape_loops(func, ctx) {
        ctx.analyses.compute_control(func);
    }
    if split_edges(func, ctx) {
        ctx.analyses.compute_control(func);
    }
    let analyses = &mut ctx.analyses;
    analyses.uniformity.compute(func, &analyses.cfg, &analyses.dom, &analyses.loops);
    if exits::run(func, analyses) && split_edges(func, ctx) {
        ctx.analyses.compute(func);
    }
    let analyses = &mut ctx.analyses;
    // Closing loops adds arguments to the exit edges.
    if ir::analysis::lcssa_divergent_exits(func, analyses) && split_edges(func, ctx) {
        ctx.analyses.compute(func);
    }
    ctx.prepared = func.values.len() as u32;
}

/// Changes every `ret` and `unreachable` to a jump to one block that has the only `ret`.
fn unify_returns(func: &mut Function) {
    let ends: SmallVec<[Inst; 16]> = func
        .layout
        .iter()
        .filter_map(|&block| func.terminator(block))
        .filter(|&inst| matches!(func.insts[inst].op, Op::Ret | Op::Unreachable))
        .collect();
    let [first, ..] = ends[..] else { return };
    if ends.len() == 1 && func.insts[first].op == Op::Ret {
        return;
    }
    join_ends(func, &ends, func.insts[first].loc);
}

#[inline(never)]
fn join_ends(func: &mut Function, ends: &[Inst], loc: SrcLoc) {
    let returns = ends.iter().copied().find(|&inst| func.insts[inst].op == Op::Ret);
    let results: SmallVec<[Type; 4]> =
        returns.map(|inst| func.args(inst).iter().map(|&value| func.ty(value)).collect()).unwrap_or_default();
    let end = func.add_block();
    let params: SmallVec<[Value; 4]> = results.iter().map(|&ty| func.add_param(end, ty)).collect();
    for &inst in ends {
        if func.insts[inst].op == Op::Unreachable {
            pass_anything(func, inst, &results);
        }
        func.insts[inst].op = Op::Jump(end);
    }
    func.push(end, Op::Ret, &params, loc);
}

/// Lets an `unreachable` pass zeros as the function's results when it becomes a jump to the return. It is
/// never executed, so any values will do.
fn pass_anything(func: &mut Function, end: Inst, results: &[Type]) {
    let block = func.insts[end].block;
    let loc = func.insts[end].loc;
    let values: SmallVec<[Value; 4]> =
        results.iter().map(|&ty| func.insert1(block, Op::Const(0), &[], ty, loc)).collect();
    func.set_args(end, &values);
}

/// Gives loops a preheader and a single latch. Returns whether anything was changed.
fn shape_loops(func: &mut Function, ctx: &Context) -> bool {
    let loops = &ctx.analyses.loops;
    let mut changed = false;
    for l in loops.loops() {
        let header = loops.header(l);
        if loops.preheader(l).is_none() {
            let outside: SmallVec<[Block; 8]> =
                preds_of(ctx, header).filter(|&p| !loops.contains(l, p)).collect();
            if header != func.entry() || !outside.is_empty() {
                merge_edges(func, header, &outside);
                changed = true;
            }
        }
        if !has_plain_latch(func, ctx, l) {
            merge_edges(func, header, loops.latches(l));
            changed = true;
        }
    }
    changed
}

fn preds_of<'a>(ctx: &'a Context, block: Block) -> impl Iterator<Item = Block> + 'a {
    ctx.analyses.cfg.preds(block).iter().copied()
}

fn has_plain_latch(func: &Function, ctx: &Context, l: Loop) -> bool {
    let loops = &ctx.analyses.loops;
    match *loops.latches(l) {
        [latch] => loops.innermost(latch) == Some(l) && func.succs(latch).count() == 1,
        _ => false,
    }
}

/// Redirects the edges from the blocks `from` to the block `to` through one new block.
fn merge_edges(func: &mut Function, to: Block, from: &[Block]) {
    let between = new_block_on_the_way(func, to);
    for &pred in from {
        if let Some(branch) = func.terminator(pred) {
            func.retarget(branch, to, between);
        }
    }
}

/// Creates a block in front of the block `to`. It has the same parameters as `to`, and jumps to `to` with
/// these parameters as arguments.
fn new_block_on_the_way(func: &mut Function, to: Block) -> Block {
    let between = func.make_block();
    func.layout.push(between);
    let count = func.params(to).len();
    let mut params = Values::new();
    for n in 0..count {
        let ty = func.ty(func.params(to)[n]);
        params.push(func.add_param(between, ty));
    }
    func.push(between, Op::Jump(to), &params, SrcLoc::default());
    between
}

/// Splits critical edges that carry arguments, and edges of jump-table entries that carry arguments. Returns
/// whether anything was changed.
fn split_edges(func: &mut Function, ctx: &Context) -> bool {
    let cfg = &ctx.analyses.cfg;
    let mut changed = false;
    for &block in cfg.rpo() {
        let Some(branch) = func.terminator(block) else { continue };
        let Op::Br { then, otherwise, .. } = func.insts[branch].op else { continue };
        for (which, to) in [(0, then), (1, otherwise)] {
            // Two kinds of edges are split: edges whose target has several predecessors, and edges that start
            // at an entry of a jump table. An entry consists of a single branch, so the moves for the
            // arguments need a block of their own.
            if cfg.preds(to).len() < 2 && !ctx.plan.rows.needs_next_entry(block) {
                continue;
            }
            if !func.branch_args(branch, which).is_empty() {
                split_edge(func, branch, which, to);
                changed = true;
            }
        }
    }
    changed
}

/// Inserts a new block on edge number `which` of `branch`. The jump at the end of the new block passes the
/// arguments that the edge passed.
fn split_edge(func: &mut Function, branch: Inst, which: usize, to: Block) {
    let args = Values::from_slice(func.branch_args(branch, which));
    let loc = func.insts[branch].loc;
    let between = func.make_block();
    func.layout.push(between);
    func.push(between, Op::Jump(to), &args, loc);
    func.set_branch_args(branch, which, &[]);
    func.set_target(branch, which, between);
}
