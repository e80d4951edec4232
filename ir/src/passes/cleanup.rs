//! Control-flow cleanup: blocks that only jump are bypassed, blocks joined by the only edge between
//! them are merged, branches whose two ways are the same become jumps, and what cannot be reached goes. A branch to where
//! control is promised not to get is a promise about its condition.

use crate::analysis::Cfg;
use crate::edit::Subst;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::{Op, UnOp};
use crate::track::What;
use crate::types::Type;
use cranelift_entity::EntityRef;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    subst: Subst,
    /// Edges into each block.
    preds: Vec<u32>,
    /// Uses of each value.
    uses: Vec<u32>,
    args: Vec<Value>,
    stack: Vec<Block>,
    merged: Vec<bool>,
    /// What debuggers are told in a block that is bypassed.
    whats: Vec<What>,
    /// It was settled in this run.
    is_settled: bool,
}

/// Runs the cleanup. `cfg` must be up to date; it is stale afterwards if the result is true.
pub fn run(func: &mut Function, cfg: &Cfg, s: &mut Scratch) -> bool {
    s.subst.reset(func);
    s.is_settled = false;
    let mut changed = func.layout.len() != cfg.rpo().len();
    func.layout.retain(|&b| cfg.is_reachable(b));
    count(func, s);
    for &block in cfg.rpo().iter().rev() {
        changed |= bypass(func, cfg, block, s);
    }
    changed |= merge(func, cfg, s);
    s.subst.apply(func);
    func.replace_tracked(&s.subst);
    if changed {
        drop_unreachable(func, s);
    }
    changed
}

fn count(func: &Function, s: &mut Scratch) {
    s.preds.clear();
    s.preds.resize(func.blocks.len(), 0);
    s.uses.clear();
    s.uses.resize(func.values.len(), 0);
    for &block in &func.layout {
        for succ in func.succs(block) {
            s.preds[succ.index()] += 1;
        }
        for &inst in &func.blocks[block].insts {
            for arg in func.args(inst) {
                s.uses[arg.index()] += 1;
            }
        }
    }
}

/// Makes the branches of `block` skip successors that do nothing but jump on.
fn bypass(func: &mut Function, cfg: &Cfg, block: Block, s: &mut Scratch) -> bool {
    let Some(last) = func.terminator(block) else { return false };
    let mut changed = false;
    for which in 0..func.branch_count(last) {
        // Later blocks were done first, so one step is as far as it goes.
        if let Some((empty, to)) = skippable(func, cfg, s, block, last, which)
            && !is_merged(func, cfg, &s.preds, (block, last), empty)
        {
            if func.track.is_some() {
                // No instruction has moved in this pass yet: blocks are merged behind it.
                if !std::mem::replace(&mut s.is_settled, true) {
                    func.settle();
                }
                let ways = [empty, to].map(|block| s.preds[block.index()]);
                track_bypass(func, (block, last, which), (empty, to), ways, &mut s.whats);
            }
            forward_args(func, last, which, empty, s);
            func.set_target(last, which, to);
            s.preds[empty.index()] -= 1;
            s.preds[to.index()] += u32::from(s.preds[empty.index()] > 0);
            changed = true;
        }
    }
    if promised(func, block, last, s) {
        return true;
    }
    if let Op::Br { then, otherwise, .. } = func.insts[last].op
        && then == otherwise
        && func.branch_args(last, 0) == func.branch_args(last, 1)
    {
        s.args.clear();
        s.args.extend_from_slice(func.branch_args(last, 0));
        func.replace(last, Op::Jump(then), &s.args);
        s.preds[then.index()] -= 1;
        changed = true;
    }
    changed
}

/// Most blocks in a row that are looked at to find out whether they are merged.
const LONGEST_MERGED: u32 = 4;

/// Whether a block is merged with the one that it jumps to, which no other leads to: what debuggers are told there comes with it. One that only
/// jumps is itself bypassed, if it is not merged with the one before.
fn is_merged(
    func: &Function,
    cfg: &Cfg,
    preds: &[u32],
    (mut block, mut last): (Block, Inst),
    to: Block,
) -> bool {
    let mut next = to;
    for _ in 0..LONGEST_MERGED {
        if preds[next.index()] != 1 || func.branch_count(last) != 1 {
            return false;
        }
        if func.blocks[block].insts.len() > 1 {
            return true;
        }
        let [before] = *cfg.preds(block) else { return false };
        let Some(jump) = func.terminator(before) else { return false };
        (next, block, last) = (block, before, jump);
    }
    false
}

/// What a debugger is told in a block that is bypassed holds in front of the jump there, or where only that block leads; elsewhere variables are
/// lost where ways meet, unless they are known there. The block's parameters are what this way passes. `ways`: how many lead to both blocks.
#[cold]
fn track_bypass(
    func: &mut Function,
    (block, last, which): (Block, Inst, usize),
    (empty, to): (Block, Block),
    ways: [u32; 2],
    whats: &mut Vec<What>,
) {
    let Some(only) = func.terminator(empty) else { return };
    let is_jump = matches!(func.insts[last].op, Op::Jump(_));
    let (place, before) = match func.blocks[to].insts.first() {
        _ if is_jump => (block, last),
        Some(&first) => (to, first),
        None => return,
    };
    let Some(track) = &func.track else { return };
    whats.clear();
    track.in_front_of(only, whats);
    let passed = |value| {
        let is_param = param_of(func, empty, value).is_some();
        let is_known = match track.has(func, value) {
            true => ways[0] == 1 || is_jump || !is_param,
            // What would be computed may be so of the parameters.
            false => ways[0] == 1 && !is_param,
        };
        is_known.then(|| through(func, last, which, empty, value))
    };
    whats.iter_mut().for_each(|what| *what = what.filter_map(passed));
    if !is_jump && ways[1] > 1 {
        whats.retain_mut(|what| {
            let leaf = what.leaf();
            leaf.into_iter().for_each(|leaf| *what = What::Lost(leaf));
            leaf.is_some()
        });
    }
    let Some(track) = &mut func.track else { return };
    match is_jump {
        true => track.add(place, before, whats),
        false => track.begin_with(place, before, whats),
    }
}

/// Makes a branch to a block that is `unreachable` a jump the other way.
fn promised(func: &mut Function, block: Block, last: Inst, s: &mut Scratch) -> bool {
    let Op::Br { then, otherwise, .. } = func.insts[last].op else { return false };
    let is_dead = |to: Block| {
        let first = func.blocks[to].insts.first();
        first.is_some_and(|&first| func.insts[first].op == Op::Unreachable)
    };
    let (dead, which, to) = match (is_dead(then), is_dead(otherwise)) {
        (true, _) => (then, 1, otherwise),
        (_, true) => (otherwise, 0, then),
        _ => return false,
    };
    let (mut holds, loc) = (func.args(last)[0], func.insts[last].loc);
    s.args.clear();
    s.args.extend_from_slice(func.branch_args(last, which));
    func.blocks[block].insts.pop();
    if which == 1 {
        holds = func.push1(block, Op::Un(UnOp::Not), &[holds], Type::Bool, loc);
    }
    func.push(block, Op::Assume, &[holds], loc);
    func.blocks[block].insts.push(last);
    func.replace(last, Op::Jump(to), &s.args);
    s.preds[dead.index()] -= 1;
    true
}

/// The empty block successor `which` is, and where it jumps to, if it can be skipped: its parameters
/// must be used in its jump alone, it must not be what keeps a loop's entry apart (a preheader, or the
/// header of an empty loop), and a branch must not get two edges to one block with different arguments.
fn skippable(
    func: &Function,
    cfg: &Cfg,
    s: &Scratch,
    block: Block,
    last: Inst,
    which: usize,
) -> Option<(Block, Block)> {
    let empty = func.branch_target(last, which)?;
    let [only] = func.blocks[empty].insts[..] else { return None };
    let Op::Jump(to) = func.insts[only].op else { return None };
    if to == empty || empty == block || cfg.is_loop_header(empty) {
        return None;
    }
    let enters_loop = cfg.is_loop_header(to) && !cfg.is_back_edge(empty, to);
    if enters_loop && func.branch_count(last) > 1 {
        return None;
    }
    // Several ways back to the header would be several latches: keep the block that joins them.
    if cfg.is_back_edge(empty, to) && cfg.preds(empty).len() > 1 {
        return None;
    }
    // Parameters used elsewhere need the block to exist.
    let uses: u32 = func.params(empty).iter().map(|p| s.uses[p.index()]).sum();
    let in_jump = func.branch_args(only, 0).iter().filter(|&&v| param_of(func, empty, v).is_some()).count();
    if uses > in_jump as u32 {
        return None;
    }
    for other in (0..func.branch_count(last)).filter(|&n| n != which) {
        if func.branch_target(last, other) == Some(to) {
            let passed = func.branch_args(only, 0).iter().map(|&v| through(func, last, which, empty, v));
            if !passed.eq(func.branch_args(last, other).iter().copied()) {
                return None;
            }
        }
    }
    Some((empty, to))
}

/// What `value`, passed on by the jump of `empty`, is when `empty` is reached by this edge.
fn through(func: &Function, last: Inst, which: usize, empty: Block, value: Value) -> Value {
    param_of(func, empty, value).map_or(value, |index| func.branch_args(last, which)[index])
}

/// The number of a parameter of the block.
fn param_of(func: &Function, block: Block, value: Value) -> Option<usize> {
    match func.values[value].def {
        ValueDef::Param(home, index) if home == block => Some(usize::from(index)),
        _ => None,
    }
}

fn forward_args(func: &mut Function, last: Inst, which: usize, empty: Block, s: &mut Scratch) {
    let Some(jump) = func.terminator(empty) else { return };
    s.args.clear();
    s.args.extend(func.branch_args(jump, 0).iter().map(|&v| through(func, last, which, empty, v)));
    func.set_branch_args(last, which, &s.args);
}

/// Appends to each block the blocks that only it leads to.
fn merge(func: &mut Function, cfg: &Cfg, s: &mut Scratch) -> bool {
    s.merged.clear();
    s.merged.resize(func.blocks.len(), false);
    let entry = func.entry();
    let mut changed = false;
    for &block in cfg.rpo() {
        let bypassed = block != entry && s.preds[block.index()] == 0;
        if s.merged[block.index()] || bypassed {
            continue;
        }
        while let Some(last) = func.terminator(block)
            && let Op::Jump(next) = func.insts[last].op
            && s.preds[next.index()] == 1
            && next != block
            && next != entry
        {
            absorb(func, block, last, next, s);
            s.merged[next.index()] = true;
            changed = true;
        }
    }
    if changed {
        func.layout.retain(|b| !s.merged[b.index()]);
    }
    changed
}

fn absorb(func: &mut Function, block: Block, jump: Inst, next: Block, s: &mut Scratch) {
    for n in 0..func.params(next).len() {
        s.subst.set(func.params(next)[n], func.branch_args(jump, 0)[n]);
    }
    func.blocks[next].params.clear(&mut func.pool);
    func.blocks[block].insts.pop();
    if let Some(track) = &mut func.track {
        track.merged(next, block);
    }
    let mut moved = std::mem::take(&mut func.blocks[next].insts);
    for &inst in &moved {
        func.insts[inst].block = block;
    }
    func.blocks[block].insts.append(&mut moved);
    // Empty, but with its memory.
    func.blocks[next].insts = moved;
}

fn drop_unreachable(func: &mut Function, s: &mut Scratch) {
    s.merged.clear();
    s.merged.resize(func.blocks.len(), false);
    s.stack.clear();
    s.stack.push(func.entry());
    s.merged[func.entry().index()] = true;
    while let Some(block) = s.stack.pop() {
        for succ in func.succs(block) {
            if !std::mem::replace(&mut s.merged[succ.index()], true) {
                s.stack.push(succ);
            }
        }
    }
    func.layout.retain(|b| s.merged[b.index()]);
}
