//! Loop-invariant code motion: moves computations with the same result in every iteration out of the loop.
//!
//! The pass is one sweep in reverse postorder. Each instruction moves directly as far out as possible: to the
//! preheader of the outermost loop around it in which none of its arguments is defined. A load can move only
//! if nothing in the loop can change the memory that it reads, and if the loop always executes the load or
//! its address is known to be valid.

use super::forward::may_alias;
use super::strength::{self, Regrouped, Then};
use crate::analysis::{CallEffects, Cfg, DomTree, Escapes, Loop, LoopForest};
use crate::constraints::{HOIST, SPECULATE};
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use crate::op::{BinOp, Mem, MemFlags, Op, Pos};
use crate::types::Space;
use cranelift_entity::EntityRef;

/// Maximum number of stores in a loop. If a loop has more stores, loads are not moved out of it, except loads
/// of memory that is never written.
const MAX_STORES: usize = 64;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For each loop, its effects on memory.
    effects: Vec<Effects>,
    kept: Vec<Inst>,
    uses: Vec<u32>,
    escapes: Escapes,
}

#[derive(Debug, Default)]
struct Effects {
    stores: Vec<(Value, Mem, u8)>,
    /// Whether the loop contains an operation after which writes of other work-items may be visible. Loads
    /// must then stay in the loop.
    stops_loads: bool,
    /// Whether a call in the loop may write to memory. The callee may also write to private memory whose
    /// address it may know.
    callee_writes: bool,
}

/// Runs the pass. Returns whether it moved anything. Loops without a preheader are left unchanged.
pub fn run(
    func: &mut Function,
    (cfg, dom, loops): (&Cfg, &DomTree, &LoopForest),
    calls: &CallEffects,
    s: &mut Scratch,
) -> bool {
    let mut changed = false;
    collect_effects(func, cfg, loops, calls, s);
    s.escapes.clear();
    if !calls.is_empty() {
        s.escapes.compute(func);
    }
    count_uses(func, cfg, &mut s.uses);
    for &block in cfg.rpo() {
        if loops.innermost(block).is_none() {
            continue;
        }
        s.kept.clear();
        for n in 0..func.blocks[block].insts().len() {
            let inst = func.blocks[block].insts()[n];
            match destination(func, dom, loops, block, inst, s) {
                Some(preheader) => {
                    changed = true;
                    func.insert_at_end(preheader, inst);
                }
                None => {
                    changed |= regroup(func, dom, loops, block, inst, s);
                    s.kept.push(inst);
                }
            }
        }
        func.set_insts(block, &s.kept);
    }
    changed
}

fn count_uses(func: &Function, cfg: &Cfg, uses: &mut Vec<u32>) {
    uses.clear();
    uses.resize(func.values.len(), 0);
    for &inst in cfg.rpo().iter().flat_map(|&b| func.blocks[b].insts()) {
        for arg in func.args(inst) {
            uses[arg.index()] += 1;
        }
    }
}

/// Changes how the operands of an instruction in a loop are grouped, so that a part of the computation can
/// move out of the loop.
fn regroup(
    func: &mut Function,
    dom: &DomTree,
    loops: &LoopForest,
    block: Block,
    inst: Inst,
    s: &mut Scratch,
) -> bool {
    let Some(l) = loops.innermost(block).filter(|&l| loops.preheader(l).is_some()) else { return false };
    let Some(Regrouped { outside: (op, args), then }) = strength::regroup(func, loops, l, inst, &s.uses)
    else {
        return false;
    };
    let ty = func.ty(func.insts[inst].first);
    let loc = func.insts[inst].loc;
    let moved = func.make_inst(block, op, &args, ty, 1, loc);
    let Some(preheader) = destination(func, dom, loops, block, moved, s) else { return false };
    func.insert_at_end(preheader, moved);
    let outside = func.insts[moved].first;
    match then {
        Then::Final(op, rest) => func.replace(inst, op, &[outside, rest]),
        Then::AddProduct(factors) => {
            let product = func.make_inst(block, op, &factors, ty, 1, loc);
            s.kept.push(product);
            let product = func.insts[product].first;
            func.replace(inst, Op::Bin(BinOp::Add), &[outside, product]);
            // Gives the new values one use each, so that this sum can be regrouped as a part of the next sum.
            s.uses.resize(func.values.len(), 1);
            s.uses[args[0].index()] += 1;
        }
    }
    true
}

fn collect_effects(func: &Function, cfg: &Cfg, loops: &LoopForest, calls: &CallEffects, s: &mut Scratch) {
    s.effects.iter_mut().for_each(|e| {
        e.stores.clear();
        (e.stops_loads, e.callee_writes) = (false, false);
    });
    s.effects.resize_with(loops.len().max(s.effects.len()), Effects::default);
    for &block in cfg.rpo() {
        for &inst in func.blocks[block].insts() {
            let op = func.insts[inst].op;
            if !op.has_side_effect() || op.is_call() && calls.effects_of_call(op).keeps_memory() {
                continue;
            }
            let mut around = loops.innermost(block);
            while let Some(l) = around {
                note_effect(func, inst, op, &mut s.effects[l.index()]);
                around = loops.parent(l);
            }
        }
    }
}

fn note_effect(func: &Function, inst: Inst, op: Op, effects: &mut Effects) {
    effects.stops_loads |= HOIST.stopped_by(&op);
    effects.callee_writes |= op.is_call();
    match op {
        Op::Store { mem, count } => effects.stores.push((func.args(inst)[0], mem, count)),
        Op::AtomicRmw { mem, .. } | Op::AtomicCas { mem, .. } => {
            effects.stores.push((func.args(inst)[0], mem, 1));
        }
        _ => {}
    }
}

/// Returns the preheader to which an instruction can move. `None` if the instruction cannot leave any loop.
fn destination(
    func: &Function,
    dom: &DomTree,
    loops: &LoopForest,
    block: Block,
    inst: Inst,
    s: &Scratch,
) -> Option<Block> {
    let op = func.insts[inst].op;
    if !op.is_pure() && !matches!(op, Op::Load { mem, .. } if HOIST.takes(&mem)) {
        return None;
    }
    let mut best = None;
    let mut around = loops.innermost(block);
    while let Some(l) = around {
        let preheader = loops.preheader(l)?;
        if func.args(inst).iter().any(|&v| loops.contains(l, func.block_of(v))) {
            break;
        }
        if let Op::Load { mem, count } = op {
            let read = (func.args(inst)[0], &mem, count);
            let safe = always_valid(func, inst, &mem) || always_runs(dom, loops, l, block);
            if !safe || changed_in(&s.effects[l.index()], read, &s.escapes) {
                break;
            }
        }
        best = Some(preheader);
        around = loops.parent(l);
    }
    best
}

fn changed_in(effects: &Effects, read: (Value, &Mem, u8), escapes: &Escapes) -> bool {
    if read.1.flags.contains(MemFlags::INVARIANT) {
        return false;
    }
    (effects.stops_loads && read.1.space != Space::Private)
        || (effects.callee_writes && !escapes.is_own(read.0))
        || effects.stores.len() > MAX_STORES
        || effects.stores.iter().any(|(ptr, mem, count)| may_alias((*ptr, mem, *count), read))
}

/// Returns whether the load reads kernel arguments. Their addresses are valid at any time.
pub(super) fn always_valid(func: &Function, inst: Inst, mem: &Mem) -> bool {
    SPECULATE.takes(mem) && matches!(func.def_op(func.args(inst)[0]), Some(Op::Pos(Pos::KernargPtr)))
}

/// Returns whether every iteration of the loop executes the block before the iteration ends or control leaves
/// the loop.
fn always_runs(dom: &DomTree, loops: &LoopForest, l: Loop, block: Block) -> bool {
    loops.header(l) == block
        || (loops.latches(l).iter().all(|&b| dom.dominates(block, b))
            && loops.exits(l).iter().all(|&(from, _)| dom.dominates(block, from)))
}
