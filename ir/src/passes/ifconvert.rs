//! If-conversion: replaces branches around a few cheap instructions by selections.
//!
//! Three shapes are converted. All consist of blocks that can be reached only through the branch. In a
//! diamond and in a triangle, values are selected where the edges meet. Two tests with a common target (`a &&
//! b`) become one branch. A divergent branch needs several scalar instructions to save, change and restore
//! the set of active lanes, so executing a few vector instructions for all lanes is cheaper.

use super::licm::always_valid;
use crate::analysis::Cfg;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc, Values};
use crate::op::{BinOp, Op, TernOp, UnOp};
use crate::track::{Fragment, What};
use crate::types::Type;
use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;

/// Maximum cost of the instructions that are executed although the branch would have skipped them.
const MAX_COST: u32 = 6;
/// Maximum number of values that are selected where the edges meet.
const MAX_SELECTS: usize = 4;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    preds: Vec<u32>,
    /// Whether the debug facts have been tidied in this run.
    is_tidy: bool,
}

/// Runs the pass; `cfg` is stale afterwards if the result is true.
pub fn run(func: &mut Function, cfg: &Cfg, s: &mut Scratch) -> bool {
    s.preds.clear();
    s.preds.resize(func.blocks.len(), 0);
    for &block in cfg.rpo() {
        s.preds[block.index()] = cfg.preds(block).len() as u32;
    }
    s.is_tidy = false;
    let mut changed = false;
    // Inner branches come first, because converting an inner branch may make the outer branch cheap enough.
    for &block in cfg.rpo().iter().rev() {
        while convert(func, cfg, block, s) {
            changed = true;
        }
    }
    if changed {
        // Absorbed blocks have no edges to them any more.
        let entry = func.entry();
        func.layout.retain(|&b| b == entry || s.preds[b.index()] > 0);
    }
    changed
}

/// A successor of a branch whose instructions could be executed unconditionally.
#[derive(Clone, Copy)]
struct Side {
    block: Block,
    last: Inst,
}

fn convert(func: &mut Function, cfg: &Cfg, block: Block, s: &mut Scratch) -> bool {
    let Some(branch) = func.terminator(block) else { return false };
    let Op::Br { then, otherwise, .. } = func.insts[branch].op else { return false };
    if then == otherwise {
        return false;
    }
    let sides = [side(func, cfg, then, s), side(func, cfg, otherwise, s)];
    if let [Some(a), Some(b)] = sides
        && let (Op::Jump(x), Op::Jump(y)) = (func.insts[a.last].op, func.insts[b.last].op)
        && x == y
        && x != block
    {
        return meet(func, block, branch, x, sides, s);
    }
    for which in 0..2 {
        let Some(inner) = sides[which] else { continue };
        let other = if which == 0 { otherwise } else { then };
        let op = func.insts[inner.last].op;
        match op {
            Op::Jump(to) if to == other && to != block => {
                let mut only = [None, None];
                only[which] = Some(inner);
                if meet(func, block, branch, to, only, s) {
                    return true;
                }
            }
            Op::Br { .. } if fold_tests(func, block, branch, which, inner, other, s) => return true,
            _ => {}
        }
    }
    false
}

/// Returns `block` as a candidate for unconditional execution, if it has exactly one incoming edge and
/// contains only cheap instructions without side effects.
fn side(func: &Function, cfg: &Cfg, block: Block, s: &Scratch) -> Option<Side> {
    if s.preds[block.index()] != 1 || !func.params(block).is_empty() || cfg.is_loop_header(block) {
        return None;
    }
    let last = func.terminator(block)?;
    let mut cost = 0;
    for &inst in func.blocks[block].insts() {
        if inst != last {
            cost += price(func, inst)?;
        }
    }
    (cost <= MAX_COST).then_some(Side { block, last })
}

/// Returns the cost of executing an instruction needlessly; `None` if the instruction must not be executed
/// needlessly.
fn price(func: &Function, inst: Inst) -> Option<u32> {
    let data = &func.insts[inst];
    let wide = data.results > 0 && func.ty(data.first).bits() == 64;
    let simple = match data.op {
        Op::Const(_) | Op::Pos(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) => {
            return data.op.is_pure().then_some(0);
        }
        Op::Load { mem, .. } if always_valid(func, inst, &mem) => return Some(1),
        Op::Un(op) => !matches!(
            op,
            UnOp::FSqrt
                | UnOp::NativeRcp
                | UnOp::NativeRsq
                | UnOp::NativeSqrt
                | UnOp::NativeExp2
                | UnOp::NativeLog2
                | UnOp::NativeSin
                | UnOp::NativeCos
        ),
        Op::Bin(op) => match op {
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem | BinOp::FDiv | BinOp::FRem => return None,
            BinOp::Mul | BinOp::UMulHi | BinOp::SMulHi if wide => return None,
            BinOp::Mul | BinOp::UMulHi | BinOp::SMulHi => return Some(3),
            _ => true,
        },
        Op::Tern(TernOp::Fma) if wide => return Some(3),
        op => op.is_pure(),
    };
    simple.then_some(if wide { 2 } else { 1 })
}

/// Moves the instructions of a side, except its terminator, to the end of `block`, before its branch.
fn absorb(func: &mut Function, block: Block, side: Side, s: &mut Scratch) {
    s.preds[side.block.index()] = 0;
    func.splice_body(side.block, block);
}

/// Keeps the debug facts about variables in the absorbed sides. A fact holds after the branch if both paths
/// agree; otherwise the variable is lost.
fn track_absorbed(func: &mut Function, branch: Inst, sides: [Option<Block>; 2], s: &mut Scratch) {
    if func.track.is_none() {
        return;
    }
    if !std::mem::replace(&mut s.is_tidy, true) {
        func.tidy_track();
    }
    let ends = sides.map(|side| side.map_or_else(FxHashMap::default, |side| last_facts(func, side)));
    let is_same = |a: &What, b: &What| match (a, b) {
        (&What::Value(_, a), &What::Value(_, b)) => {
            a == b || func.const_bits(a).is_some() && func.const_bits(a) == func.const_bits(b)
        }
        _ => a == b,
    };
    let mut added: Vec<What> = Vec::new();
    for (own, other) in [(0, 1), (1, 0)] {
        for (fragment, &what) in &ends[own] {
            match ends[other].get(fragment) {
                Some(same) if is_same(same, &what) => added.extend((own == 0).then_some(what)),
                _ => added.push(What::Lost(Fragment { variable: fragment.0, index: fragment.1 })),
            }
        }
    }
    added.sort_unstable_by_key(|what| what.fragment().map(|fragment| (fragment.variable, fragment.index)));
    if let Some(track) = &mut func.track {
        track.notes.add(branch, added);
    }
}

/// Returns the last fact about each fragment in a block.
fn last_facts(func: &Function, block: Block) -> FxHashMap<(u32, u32), What> {
    let insts =
        func.track.iter().flat_map(|track| func.blocks[block].insts().iter().map(move |&inst| (track, inst)));
    let told = insts.flat_map(|(track, inst)| track.notes.before(inst)).filter_map(|what| {
        let fragment = what.fragment()?;
        Some(((fragment.variable, fragment.index), what))
    });
    told.collect()
}

/// Converts a diamond or a triangle: both edges of the branch lead to `to`, through the given sides or
/// directly.
fn meet(
    func: &mut Function,
    block: Block,
    branch: Inst,
    to: Block,
    sides: [Option<Side>; 2],
    s: &mut Scratch,
) -> bool {
    let args = |which: usize, side: Option<Side>| match side {
        Some(side) => Values::from_slice(func.branch_args(side.last, 0)),
        None => Values::from_slice(func.branch_args(branch, which)),
    };
    let (yes, no) = (args(0, sides[0]), args(1, sides[1]));
    let selects = yes.iter().zip(&no).filter(|(a, b)| a != b).count();
    if selects > MAX_SELECTS {
        return false;
    }
    let (cond, loc) = (func.args(branch)[0], func.insts[branch].loc);
    track_absorbed(func, branch, sides.map(|side| side.map(|side| side.block)), s);
    for side in sides.into_iter().flatten() {
        absorb(func, block, side, s);
    }
    let merged = select_each(func, block, cond, &yes, &no, loc);
    func.replace(branch, Op::Jump(to), &merged);
    s.preds[to.index()] -= 1;
    true
}

fn select_each(
    func: &mut Function,
    block: Block,
    cond: Value,
    yes: &[Value],
    no: &[Value],
    loc: SrcLoc,
) -> Values {
    let pairs = yes.iter().zip(no);
    pairs
        .map(|(&a, &b)| {
            if a == b {
                return a;
            }
            let ty = func.ty(a);
            func.insert1(block, Op::Select, &[cond, a, b], ty, loc)
        })
        .collect()
}

/// Folds two tests with a common target into one branch: successor `which` of `block` is `inner`, and both
/// blocks branch to `other`.
fn fold_tests(
    func: &mut Function,
    block: Block,
    branch: Inst,
    which: usize,
    inner: Side,
    other: Block,
    s: &mut Scratch,
) -> bool {
    let Some(shared) = (0..2).find(|&w| func.branch_target(inner.last, w) == Some(other)) else {
        return false;
    };
    let Some(onward) = func.branch_target(inner.last, 1 - shared) else { return false };
    if onward == other {
        return false;
    }
    let direct = Values::from_slice(func.branch_args(branch, 1 - which));
    let through = Values::from_slice(func.branch_args(inner.last, shared));
    if direct.iter().zip(&through).filter(|(a, b)| a != b).count() > MAX_SELECTS {
        return false;
    }
    let onward_args = Values::from_slice(func.branch_args(inner.last, 1 - shared));
    let (first, second) = (func.args(branch)[0], func.args(inner.last)[0]);
    let loc = func.insts[branch].loc;
    track_absorbed(func, branch, [Some(inner.block), None], s);
    // The debug records of the second test's block move to the block where execution continues if both tests
    // pass, because the folded code no longer executes the second block separately.
    if s.preds[onward.index()] == 1
        && let (Some(track), Some(&first)) = (&mut func.track, func.blocks[onward].insts().first())
    {
        track.hand_to(func.blocks[inner.block].insts(), first);
    }
    absorb(func, block, inner, s);
    let (yes, no) = if which == 0 { (&through, &direct) } else { (&direct, &through) };
    let to_other = select_each(func, block, first, yes, no, loc);
    // The combined branch goes to `onward` if both tests lead there: the first test takes edge `which`, and
    // the second test does not take its edge to the shared target.
    let mut holds = second;
    // With `&`, `onward` is the first successor of the combined branch; this is the case if the first test
    // leads to `inner` if it is true. With `|`, `onward` is the second successor.
    if (which == 0) == (shared == 0) {
        holds = func.insert1(block, Op::Un(UnOp::Not), &[holds], Type::Bool, loc);
    }
    let op = if which == 0 { BinOp::And } else { BinOp::Or };
    let both = func.insert1(block, Op::Bin(op), &[first, holds], Type::Bool, loc);
    let (then, otherwise) = if which == 0 { (onward, other) } else { (other, onward) };
    let (then_args, rest) = if which == 0 { (&onward_args, &to_other) } else { (&to_other, &onward_args) };
    let mut args = Values::from_slice(&[both]);
    args.extend_from_slice(then_args);
    args.extend_from_slice(rest);
    func.replace(branch, Op::Br { then, otherwise, then_args: then_args.len() as u16 }, &args);
    s.preds[other.index()] -= 1;
    true
}
