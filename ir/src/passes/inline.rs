//! Inlining of every call, callees first, after which only kernels are left in the module.
//!
//! Recursion has no place in it (the frontend rejects it); a call that is part of a cycle is left alone.

use crate::analysis::CallGraph;
use crate::entity::{Block, FuncId, Inst, Slot, Value};
use crate::func::{Function, Module};
use crate::op::Op;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

/// Instructions a function may grow to: calls beyond that stay, and code generation reports them.
const MAX_INSTS: usize = 1 << 18;

/// Inlines all calls and drops the functions that are then no kernel's business.
pub fn run(module: &mut Module) {
    if module.funcs.values().all(|f| f.kernel.is_some()) {
        return;
    }
    let graph = CallGraph::new(module);
    for &id in graph.bottom_up() {
        if !graph.is_recursive(id) {
            inline_calls(module, id, &graph);
        }
    }
    drop_uncalled(module);
}

fn inline_calls(module: &mut Module, id: FuncId, graph: &CallGraph) {
    let callee_of = |func: &Function, inst: Inst| match func.insts[inst].op {
        Op::Call(callee) if !graph.is_recursive(callee) => Some(callee),
        _ => None,
    };
    let has_call = |func: &Function| {
        func.layout.iter().any(|&b| func.blocks[b].insts.iter().any(|&i| callee_of(func, i).is_some()))
    };
    if !module.funcs.get(id).is_some_and(has_call) {
        return;
    }
    // The caller is taken out so that callees can be read meanwhile.
    let mut func = std::mem::replace(&mut module.funcs[id], Function::new(""));
    for block in std::mem::take(&mut func.layout) {
        func.layout.push(block);
        let mut at = block;
        for inst in std::mem::take(&mut func.blocks[block].insts) {
            match callee_of(&func, inst).filter(|_| func.insts.len() < MAX_INSTS) {
                Some(callee) => at = replace_call(&mut func, &module.funcs[callee], at, inst),
                None => func.append(at, inst),
            }
        }
    }
    module.funcs[id] = func;
}

/// Ends `block` with the callee's blocks in place of the call, and returns the block that goes on behind it.
fn replace_call(func: &mut Function, callee: &Function, block: Block, call: Inst) -> Block {
    let rest = func.make_block();
    // The call's results become the parameters of what follows.
    for (index, value) in func.results_of(call).enumerate() {
        func.values[value].def = crate::func::ValueDef::Param(rest, index as u16);
        func.blocks[rest].params.push(value, &mut func.pool);
    }
    func.insts[call].results = 0;
    let args = func.args(call).to_vec();
    let loc = func.insts[call].loc;
    let entry = copy_body(func, callee, rest);
    func.push(block, Op::Jump(entry), &args, loc);
    func.layout.push(rest);
    rest
}

/// Copies the callee's blocks into `func`, returns going to `rest`; the result is the copy of the entry.
fn copy_body(func: &mut Function, callee: &Function, rest: Block) -> Block {
    let mut blocks: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
    let mut values: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut slots: SecondaryMap<Slot, Option<Slot>> = SecondaryMap::new();
    for (slot, data) in callee.slots.iter() {
        slots[slot] = Some(func.slots.push(*data));
    }
    for &old in &callee.layout {
        let new = func.make_block();
        blocks[old] = Some(new);
        func.layout.push(new);
        func.unroll[new] = callee.unroll[old];
        for &param in callee.params(old) {
            values[param] = Some(func.add_param(new, callee.ty(param)));
        }
    }
    let block_of = |b: Block| blocks[b].unwrap_or(rest);
    let mut copied = Vec::new();
    for &old in &callee.layout {
        for &inst in &callee.blocks[old].insts {
            let data = &callee.insts[inst];
            let op = match data.op {
                Op::Jump(to) => Op::Jump(block_of(to)),
                Op::Br { then, otherwise, then_args } => {
                    Op::Br { then: block_of(then), otherwise: block_of(otherwise), then_args }
                }
                Op::Switch(switch) => {
                    let mut data = callee.switches[switch].clone();
                    data.edges.iter_mut().for_each(|edge| edge.to = block_of(edge.to));
                    Op::Switch(func.switches.push(data))
                }
                Op::Ret => Op::Jump(rest),
                Op::SlotAddr(slot) => Op::SlotAddr(slots[slot].unwrap_or(slot)),
                op => op,
            };
            let ty = if data.results > 0 { callee.ty(data.first) } else { crate::types::Type::Bool };
            let new = func.push_n(block_of(old), op, &[], ty, data.results, data.loc);
            for (from, to) in callee.results_of(inst).zip(func.results_of(new)) {
                values[from] = Some(to);
            }
            copied.push((inst, new));
        }
    }
    // Arguments last: a block may come before the one that defines what it uses.
    let mut args = Vec::new();
    for (old, new) in copied {
        args.clear();
        args.extend(callee.args(old).iter().filter_map(|&v| values[v]));
        func.set_args(new, &args);
    }
    block_of(callee.entry())
}

/// Keeps kernels, and functions that some call left alone still needs.
fn drop_uncalled(module: &mut Module) {
    let mut needed = vec![false; module.funcs.len()];
    let mut work: Vec<FuncId> =
        module.funcs.iter().filter(|(_, f)| f.kernel.is_some()).map(|(id, _)| id).collect();
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut needed[id.index()], true) {
            continue;
        }
        let func = &module.funcs[id];
        for &inst in func.layout.iter().flat_map(|&b| &func.blocks[b].insts) {
            if let Op::Call(callee) = func.insts[inst].op {
                work.push(callee);
            }
        }
    }
    let mut kept = PrimaryMap::new();
    let mut renumbered = vec![FuncId::new(0); needed.len()];
    for (id, func) in std::mem::take(&mut module.funcs) {
        if needed[id.index()] {
            renumbered[id.index()] = kept.push(func);
        }
    }
    module.funcs = kept;
    for func in module.funcs.values_mut() {
        for data in func.insts.values_mut() {
            if let Op::Call(callee) = &mut data.op {
                *callee = renumbered[callee.index()];
            }
        }
    }
}
