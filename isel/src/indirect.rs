//! Expands calls through function pointers that differ between lanes to a waterfall loop. In each iteration,
//! the first lane that has not called yet determines the function. All lanes with the same function pointer
//! then do the call.
//!
//! The block with the call gets an edge back to the loop header that is never taken. Without this edge, the
//! block would end a path out of the loop and so would not belong to the loop in the control-flow graph. The
//! lanes of all iterations would then execute the call together. The condition of the edge is always false:
//! it says that a lane which did the call has another function pointer than the first lane.

use crate::lower::Context;
use ir::{Block, Function, Inst, IntCc, Op, SrcLoc, Type, Value, Values, WaveOp};
use smallvec::SmallVec;

/// Expands the calls of a function through function pointers that differ between lanes. Returns whether there
/// were any.
pub(crate) fn run(func: &mut Function, ctx: &mut Context) -> bool {
    let is_indirect = |data: &ir::InstData| matches!(data.op, Op::CallIndirect(_));
    if !func.insts.values().any(is_indirect) {
        return false;
    }
    ctx.analyses.compute(func);
    let uniformity = &ctx.analyses.uniformity;
    let calls: SmallVec<[Inst; 8]> = func
        .layout
        .iter()
        .flat_map(|&block| func.blocks[block].insts())
        .copied()
        .filter(|&inst| is_indirect(&func.insts[inst]) && !uniformity.is_uniform(func.args(inst)[0]))
        .collect();
    calls.iter().for_each(|&call| by_turns(func, call));
    !calls.is_empty()
}

/// Expands one call: splits its block after the call, and inserts the waterfall loop, in which lanes take
/// turns, between the two parts.
fn by_turns(func: &mut Function, call: Inst) {
    let (block, loc) = (func.insts[call].block, func.insts[call].loc);
    let rest = split_behind(func, block, call);
    let [header, body] = [func.make_block(), func.make_block()];
    let at = func.layout.iter().position(|&known| known == rest).unwrap_or(func.layout.len());
    func.layout.insert(at, body);
    func.layout.insert(at, header);
    func.push(block, Op::Jump(header), &[], loc);

    let args = Values::from_slice(func.args(call));
    let own = args[0];
    let first = func.push1(header, Op::Wave(WaveOp::ReadFirstLane), &[own], Type::I64, loc);
    branch_if(func, (header, Op::Icmp(IntCc::Eq), [own, first]), body, (header, &[]), loc);

    let results: SmallVec<[Value; 4]> = func.results_of(call).collect();
    let types: SmallVec<[Type; 4]> = results.iter().map(|&value| func.ty(value)).collect();
    let mut own_args = args;
    own_args[0] = first;
    let op = func.insts[call].op;
    let turn = func.push_call(body, op, &own_args, &types, loc);
    // The results of the original call become parameters of the block after the loop. The loop contains a new
    // call, and passes its results to that block.
    for (n, &value) in (0..).zip(&results) {
        func.values[value].def = ir::ValueDef::Param(rest, n);
        func.blocks[rest].params.push(value, &mut func.pool);
    }
    func.insts[call].results = 0;
    let brought: SmallVec<[Value; 4]> = func.results_of(turn).collect();
    branch_if(func, (body, Op::Icmp(IntCc::Ne), [own, first]), header, (rest, &brought), loc);
}

/// Appends a comparison of `args` and a branch on its result: to the block `then` without arguments, or to
/// the block `otherwise` with the arguments `passed`.
fn branch_if(
    func: &mut Function,
    (block, compare, operands): (Block, Op, [Value; 2]),
    then: Block,
    (otherwise, passed): (Block, &[Value]),
    loc: SrcLoc,
) {
    let condition = func.push1(block, compare, &operands, Type::Bool, loc);
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&[condition]);
    args.extend_from_slice(passed);
    func.push(block, Op::Br { then, otherwise, then_args: 0 }, &args, loc);
}

/// Moves the instructions after `inst` to a new block, and removes `inst` from its block.
fn split_behind(func: &mut Function, block: Block, inst: Inst) -> Block {
    let rest = func.make_block();
    let at = func.layout.iter().position(|&known| known == block).map_or(func.layout.len(), |at| at + 1);
    func.layout.insert(at, rest);
    let insts = func.blocks[block].insts();
    let place = insts.iter().position(|&known| known == inst).unwrap_or(insts.len());
    func.split_block(block, place, rest);
    func.retain_insts(rest, |other, _| other != inst);
    rest
}
