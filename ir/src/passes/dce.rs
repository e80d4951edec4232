//! Dead-code elimination. A mark phase starts from side effects and terminators and follows arguments,
//! including the branch arguments that feed live block parameters. One sweep then removes everything that was
//! not marked. Values of a loop that are used only to compute themselves are never marked, so they are
//! removed as well.
//!
//! The order of the blocks becomes that of the control-flow analysis, in which each loop is contiguous.

use crate::analysis::{CallEffects, Cfg};
use crate::entity::{Inst, Slot, Value};
use crate::func::{Function, ValueDef};
use crate::op::Op;
use cranelift_entity::{EntityRef, PrimaryMap};
use smallvec::{SmallVec, smallvec};

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    live_value: Vec<bool>,
    live_inst: Vec<bool>,
    work: Vec<Value>,
    args: Vec<Value>,
}

/// Removes dead instructions, block parameters and branch arguments.
pub fn run(func: &mut Function, cfg: &Cfg, calls: &CallEffects, s: &mut Scratch) {
    func.layout.clear();
    func.layout.extend_from_slice(cfg.rpo());
    s.live_value.clear();
    s.live_value.resize(func.values.len(), false);
    s.live_inst.clear();
    s.live_inst.resize(func.insts.len(), false);
    mark_roots(func, calls, s);
    while let Some(value) = s.work.pop() {
        match func.values[value].def {
            ValueDef::Result(inst, _) => mark_inst(func, inst, s),
            ValueDef::Param(block, index) => {
                for &pred in cfg.preds(block) {
                    let Some(last) = func.terminator(pred) else { continue };
                    for which in 0..func.branch_count(last) {
                        if func.branch_target(last, which) == Some(block) {
                            mark(func.branch_args(last, which)[usize::from(index)], s);
                        }
                    }
                }
            }
        }
    }
    sweep(func, s);
    drop_unused_slots(func);
}

fn mark_roots(func: &Function, calls: &CallEffects, s: &mut Scratch) {
    s.work.clear();
    for &block in &func.layout {
        for &inst in func.blocks[block].insts() {
            let op = func.insts[inst].op;
            if op.has_side_effect() && !(op.is_call() && calls.effects_of_call(op).is_removable()) {
                mark_inst(func, inst, s);
            }
        }
    }
}

fn mark_inst(func: &Function, inst: Inst, s: &mut Scratch) {
    if std::mem::replace(&mut s.live_inst[inst.index()], true) {
        return;
    }
    let args = func.args(inst);
    let own = match func.insts[inst].op {
        Op::Jump(_) => &args[..0],
        Op::Br { .. } | Op::Switch(_) => &args[..1],
        _ => args,
    };
    for &arg in own {
        mark(arg, s);
    }
}

fn mark(value: Value, s: &mut Scratch) {
    if !std::mem::replace(&mut s.live_value[value.index()], true) {
        s.work.push(value);
    }
}

fn sweep(func: &mut Function, s: &mut Scratch) {
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        if let Some(last) = func.terminator(block) {
            for which in 0..func.branch_count(last) {
                let Some(to) = func.branch_target(last, which) else { continue };
                let params = func.params(to);
                if params.iter().all(|p| s.live_value[p.index()]) {
                    continue;
                }
                s.args.clear();
                let passed = func.branch_args(last, which).iter().zip(params);
                s.args.extend(passed.filter(|(_, p)| s.live_value[p.index()]).map(|(&arg, _)| arg));
                func.set_branch_args(last, which, &s.args);
            }
        }
        func.retain_insts(block, |inst, _| s.live_inst[inst.index()]);
    }
    for at in 1..func.layout.len() {
        let block = func.layout[at];
        if func.params(block).iter().any(|p| !s.live_value[p.index()]) {
            func.retain_params(block, |_, p| s.live_value[p.index()]);
        }
    }
}

/// Removes the private variables (stack slots) whose address the function no longer uses.
fn drop_unused_slots(func: &mut Function) {
    if func.slots.is_empty() {
        return;
    }
    let mut renumbered: SmallVec<[Option<Slot>; 8]> = smallvec![None; func.slots.len()];
    let mut kept = PrimaryMap::new();
    for &block in &func.layout {
        for &inst in func.blocks[block].insts() {
            if let Op::SlotAddr(slot) = &mut func.insts[inst].op {
                let data = func.slots[*slot];
                *slot = *renumbered[slot.index()].get_or_insert_with(|| kept.push(data));
            }
        }
    }
    func.slots = kept;
    if let Some(track) = &mut func.track {
        let new = |slot: Slot| renumbered.get(slot.index()).copied().flatten();
        track.variables.iter_mut().for_each(|variable| variable.home = variable.home.and_then(new));
    }
}
