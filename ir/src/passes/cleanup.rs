//! Control-flow cleanup. Blocks that only jump are bypassed. If a block has only one successor, and is the
//! only predecessor of this successor, the two are merged. Branches whose two edges are the same become
//! jumps. Unreachable blocks are removed. A branch to a block that begins with `unreachable` becomes an
//! assumption about the branch condition.

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
    /// Number of edges into each block.
    preds: Vec<u32>,
    /// Number of uses of each value.
    uses: Vec<u32>,
    args: Vec<Value>,
    stack: Vec<Block>,
    merged: Vec<bool>,
    /// Debug facts of a block that is being bypassed.
    whats: Vec<What>,
    /// Whether the debug facts have been tidied in this run.
    is_tidy: bool,
}

/// Runs the cleanup. `cfg` must be up to date; it is stale afterwards if the result is true.
pub fn run(func: &mut Function, cfg: &Cfg, s: &mut Scratch) -> bool {
    s.subst.reset(func);
    s.is_tidy = false;
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
        for &inst in func.blocks[block].insts() {
            for arg in func.args(inst) {
                s.uses[arg.index()] += 1;
            }
        }
    }
}

/// Redirects the edges of `block` past successors that only jump.
fn bypass(func: &mut Function, cfg: &Cfg, block: Block, s: &mut Scratch) -> bool {
    let Some(last) = func.terminator(block) else { return false };
    let mut changed = false;
    for which in 0..func.branch_count(last) {
        // Later blocks have already been processed, so it suffices to skip one block.
        if let Some((empty, to)) = skippable(func, cfg, s, block, last, which)
            && !is_merged(func, cfg, &s.preds, (block, last), empty)
        {
            if func.track.is_some() {
                if !std::mem::replace(&mut s.is_tidy, true) {
                    func.tidy_track();
                }
                let ways = [empty, to].map(|block| s.preds[block.index()]);
                track_bypass(func, (last, which), (empty, to), ways, &mut s.whats);
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

/// Maximum number of consecutive blocks that are examined to find out whether a block will be merged into the
/// block before it.
const LONGEST_MERGED: u32 = 4;

/// Returns whether `to`, whose only predecessor ends in the jump `last`, will be merged into its predecessor.
/// Its debug records then move along with its code. But if the predecessor only jumps, it will be bypassed,
/// unless it is itself merged with the block before it.
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
        if func.blocks[block].insts().len() > 1 {
            return true;
        }
        let [before] = *cfg.preds(block) else { return false };
        let Some(jump) = func.terminator(before) else { return false };
        (next, block, last) = (block, before, jump);
    }
    false
}

/// Keeps the debug facts of a block that is bypassed. The facts are placed before the jump of the predecessor
/// if that ends in a jump; otherwise at the beginning of `to`, if `to` is reached from the bypassed block
/// only. If `to` has other predecessors as well, the variables become lost there. Parameters of the bypassed
/// block are replaced by the arguments that this edge passes. `ways` has the number of edges into `empty` and
/// into `to`.
#[cold]
fn track_bypass(
    func: &mut Function,
    (last, which): (Inst, usize),
    (empty, to): (Block, Block),
    ways: [u32; 2],
    whats: &mut Vec<What>,
) {
    let Some(only) = func.terminator(empty) else { return };
    let is_jump = matches!(func.insts[last].op, Op::Jump(_));
    let before = match func.blocks[to].insts().first() {
        _ if is_jump => last,
        Some(&first) => first,
        None => return,
    };
    let Some(track) = &func.track else { return };
    whats.clear();
    whats.extend(track.notes.before(only));
    let passed = |value| {
        let is_param = param_of(func, empty, value).is_some();
        let is_known = match track.has(func, value) {
            true => ways[0] == 1 || is_jump || !is_param,
            // A value that is no longer in the code might be computed from the parameters of the bypassed
            // block.
            false => ways[0] == 1 && !is_param,
        };
        is_known.then(|| through(func, last, which, empty, value))
    };
    whats.iter_mut().for_each(|what| *what = what.filter_map(passed));
    if !is_jump && ways[1] > 1 {
        whats.retain_mut(|what| {
            let fragment = what.fragment();
            fragment.into_iter().for_each(|fragment| *what = What::Lost(fragment));
            fragment.is_some()
        });
    }
    let Some(track) = &mut func.track else { return };
    match is_jump {
        true => track.notes.add(before, whats.drain(..)),
        false => track.notes.add_first(before, whats.drain(..)),
    }
}

/// Handles a branch to a block that begins with `unreachable`: replaces the branch by a jump to the other
/// target and an assumption that the condition leads there.
fn promised(func: &mut Function, block: Block, last: Inst, s: &mut Scratch) -> bool {
    let Op::Br { then, otherwise, .. } = func.insts[last].op else { return false };
    let is_dead = |to: Block| {
        let first = func.blocks[to].insts().first();
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
    if which == 1 {
        holds = func.insert1(block, Op::Un(UnOp::Not), &[holds], Type::Bool, loc);
    }
    func.insert0(block, Op::Assume, &[holds], loc);
    func.replace(last, Op::Jump(to), &s.args);
    s.preds[dead.index()] -= 1;
    true
}

/// If successor `which` of a branch is an empty block that can be bypassed, returns this block and the target
/// of its jump.
///
/// Three conditions must hold. The parameters of the empty block must be used only in its jump. It must not
/// separate the entry of a loop (as a preheader or as the header of an empty loop), because loop passes need
/// the separate block. And the branch must not get two edges to the same block with different arguments.
fn skippable(
    func: &Function,
    cfg: &Cfg,
    s: &Scratch,
    block: Block,
    last: Inst,
    which: usize,
) -> Option<(Block, Block)> {
    let empty = func.branch_target(last, which)?;
    let [only] = func.blocks[empty].insts()[..] else { return None };
    let Op::Jump(to) = func.insts[only].op else { return None };
    if to == empty || empty == block || cfg.is_loop_header(empty) {
        return None;
    }
    let enters_loop = cfg.is_loop_header(to) && !cfg.is_back_edge(empty, to);
    if enters_loop && func.branch_count(last) > 1 {
        return None;
    }
    // Bypassing a block with several predecessors would give the loop several latches.
    if cfg.is_back_edge(empty, to) && cfg.preds(empty).len() > 1 {
        return None;
    }
    // If a parameter is used outside the jump, the block must stay.
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

/// If `value` is a parameter of the block `empty`, returns the argument that edge `which` of `last` passes
/// for it. Otherwise returns `value` itself.
fn through(func: &Function, last: Inst, which: usize, empty: Block, value: Value) -> Value {
    param_of(func, empty, value).map_or(value, |index| func.branch_args(last, which)[index])
}

/// Returns the index of `value` among the parameters of the block, if it is one of them.
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

/// Merges blocks: if a block ends in a jump and the target has no other predecessor, the target's code is
/// appended to the block.
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
    func.splice_block(next, block);
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
