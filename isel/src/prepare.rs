//! Brings a function into the shape that [`crate::select`] relies on.
//!
//! # Guarantees
//! * One block returns, and nothing is `unreachable`: such blocks go to the return too.
//! * A loop has one latch, which is a block of that loop alone (not of a loop inside it) and ends in a jump,
//!   and a preheader.
//! * An edge that carries arguments is not critical, nor that of an entry of a jump table.
//! * No scalar or mask leaves a divergent loop but through parameters of the exit block.
//! * Only operations that selection knows remain (see [`crate::expand`]); switches have become branches ([`crate::tables`]).

use crate::exits;
use crate::expand;
use crate::indirect;
use crate::lower::Context;
use crate::tables::lower_switches;
use ir::analysis::Loop;
use ir::{Block, Function, Inst, Op, SrcLoc, Type, Value, Values};
use smallvec::SmallVec;

/// Runs the preparation for the processor whose roles `ctx` has; its analyses describe the result.
pub fn prepare(func: &mut Function, ctx: &mut Context) {
    prepare_with(func, ctx, true);
}

/// [`prepare`], with rows of cases as jump tables or, if not, as comparisons.
pub(crate) fn prepare_with(func: &mut Function, ctx: &mut Context, tables: bool) {
    indirect::run(func, ctx);
    lower_switches(func, &mut ctx.analyses, &mut ctx.plan.rows, tables);
    unify_returns(func);
    expand::run(func, ctx.current_roles());
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
    // Closing loops gives edges behind them arguments.
    if ir::analysis::lcssa_divergent_exits(func, analyses) && split_edges(func, ctx) {
        ctx.analyses.compute(func);
    }
    ctx.prepared = func.values.len() as u32;
}

/// Makes every `ret` and `unreachable` a jump to one block with the only `ret`.
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

/// Where nothing gets to, any result will do.
fn pass_anything(func: &mut Function, end: Inst, results: &[Type]) {
    let block = func.insts[end].block;
    let loc = func.insts[end].loc;
    func.blocks[block].insts.pop();
    let values: SmallVec<[Value; 4]> =
        results.iter().map(|&ty| func.push1(block, Op::Const(0), &[], ty, loc)).collect();
    func.append(block, end);
    func.set_args(end, &values);
}

/// Gives loops their preheader and their single latch.
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

/// Sends the edges from `from` to `to` through one new block.
fn merge_edges(func: &mut Function, to: Block, from: &[Block]) {
    let between = new_block_on_the_way(func, to);
    for &pred in from {
        if let Some(branch) = func.terminator(pred) {
            func.retarget(branch, to, between);
        }
    }
}

/// A new block that has the parameters of `to` and passes them on.
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

/// Splits critical edges that carry arguments, and those of jump tables.
fn split_edges(func: &mut Function, ctx: &Context) -> bool {
    let cfg = &ctx.analyses.cfg;
    let mut changed = false;
    for &block in cfg.rpo() {
        let Some(branch) = func.terminator(block) else { continue };
        let Op::Br { then, otherwise, .. } = func.insts[branch].op else { continue };
        for (which, to) in [(0, then), (1, otherwise)] {
            // An entry of a jump table has no room for what is passed.
            if cfg.preds(to).len() < 2 && !ctx.plan.rows.goes_on(block) {
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

/// Puts a block on one edge of a branch; the arguments move to its jump.
fn split_edge(func: &mut Function, branch: Inst, which: usize, to: Block) {
    let args = Values::from_slice(func.branch_args(branch, which));
    let loc = func.insts[branch].loc;
    let between = func.make_block();
    func.layout.push(between);
    func.push(between, Op::Jump(to), &args, loc);
    func.set_branch_args(branch, which, &[]);
    func.set_target(branch, which, between);
}
