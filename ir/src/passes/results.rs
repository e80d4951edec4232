//! Moves large function results into memory: results with more dwords than the calling convention has
//! registers for. The function stores a large result in memory of its caller. The caller passes the private
//! address of this memory as an additional, last argument.
//!
//! # Requires
//! Inlining must have run, so that only the calls that remain have this cost.
//! # Guarantees
//! No function and no call signature has a result with more dwords than the limit.
//! # Limits
//! Functions that other objects can call are not handled here; the frontend puts their results into memory as
//! the calling convention prescribes.

use crate::edit::Subst;
use crate::entity::{Block, Inst, Slot, Value};
use crate::func::{Function, Module, Signature, SlotData, SrcLoc, Values};
use crate::op::{CastOp, IntCc, Mem, MemFlags, Op, Order, Scope};
use crate::types::{MemTy, Space, Type};

/// Type of the additional argument.
const ADDRESS: Type = Type::Ptr(Space::Private);

/// Moves results of more than `most` dwords into memory.
pub fn run(module: &mut Module, most: u32) {
    let is_large = |types: &[Type]| dwords(types) > most;
    if module.sigs.values().all(|sig| !is_large(&sig.results))
        && module.funcs.values().all(|func| !is_large(&func.results))
    {
        return;
    }
    let before: Vec<Signature> = module.sigs.values().cloned().collect();
    let mut signatures = Vec::with_capacity(before.len());
    for sig in before {
        let Signature { mut params, results } = sig;
        signatures.push(is_large(&results).then(|| {
            params.push(ADDRESS);
            module.signature(Signature { params, results: Vec::new() })
        }));
    }
    let new_op = |op: Op| match op {
        Op::CallIndirect(sig) => signatures[sig.as_u32() as usize].map_or(op, Op::CallIndirect),
        op => op,
    };
    for func in module.funcs.values_mut() {
        if func.insts.values().any(|inst| inst.op.is_call() && u32::from(inst.results) * 2 > most) {
            change_calls(func, most, new_op);
        }
        if is_large(&func.results) {
            store_result(func);
        }
    }
}

fn dwords(types: &[Type]) -> u32 {
    types.iter().map(|ty| ty.dwords()).sum()
}

/// Returns where each value of a result lies in the memory for the result, and the total size of this memory
/// in bytes.
fn layout(types: &[Type]) -> (Vec<Mem>, u32) {
    let mut end = 0u32;
    let places = types.iter().map(|ty| {
        let ty = match ty.dwords() {
            2 => MemTy::B64,
            _ if *ty == Type::F16 => MemTy::U16,
            _ => MemTy::B32,
        };
        let size = ty.bytes().max(4);
        let offset = end.next_multiple_of(size);
        end = offset + size;
        Mem {
            ty,
            space: Space::Private,
            align: size as u8,
            flags: MemFlags::empty(),
            order: Order::NotAtomic,
            scope: Scope::System,
            offset: offset as i32,
            alias: 0,
        }
    });
    (places.collect(), end)
}

/// Adds the address parameter to a function with a large result, and makes the function store its result at
/// this address.
fn store_result(func: &mut Function) {
    let (places, _) = layout(&std::mem::take(&mut func.results));
    let home = func.layout.first().copied().or_else(|| func.blocks.keys().next());
    let Some(home) = home else { return };
    let address = func.add_param(home, ADDRESS);
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        let Some(ret) = func.terminator(block).filter(|&ret| func.insts[ret].op == Op::Ret) else { continue };
        let values = Values::from_slice(func.args(ret));
        let loc = func.insts[ret].loc;
        for (&value, &mem) in values.iter().zip(&places) {
            let value = match func.ty(value) {
                Type::Bool => func.insert1(block, Op::Cast(CastOp::Zext), &[value], Type::I32, loc),
                _ => value,
            };
            func.insert0(block, Op::Store { mem, count: 1 }, &[address, value], loc);
        }
        func.set_args(ret, &[]);
    }
}

/// Passes the address of a stack slot to calls with large results, and loads the values of the result from
/// the slot. All calls of a function share one slot, because the loads directly follow each call.
fn change_calls(func: &mut Function, most: u32, new_op: impl Fn(Op) -> Op) {
    let (mut slot, mut taken) = (None, Vec::new());
    let mut replaced = Subst::default();
    replaced.reset(func);
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        func.take_insts(block, &mut taken);
        for &inst in &taken {
            let data = &func.insts[inst];
            let types: Vec<Type> = func.results_of(inst).map(|value| func.ty(value)).collect();
            if !data.op.is_call() || dwords(&types) <= most {
                func.append(block, inst);
                continue;
            }
            let (places, size) = layout(&types);
            let slot = *slot.get_or_insert_with(|| func.slots.push(SlotData { size: 0, align: 8 }));
            func.slots[slot].size = func.slots[slot].size.max(size);
            let address = change_call(func, (block, inst), slot, new_op(func.insts[inst].op));
            let values: Values = func.results_of(inst).collect();
            func.insts[inst].results = 0;
            let loc = func.insts[inst].loc;
            for ((old, ty), mem) in values.into_iter().zip(types).zip(places) {
                replaced.set(old, load(func, block, (address, mem), ty, loc));
            }
        }
    }
    replaced.apply(func);
    func.replace_tracked(&replaced);
}

/// Appends a call with the address as its last argument. Returns the address.
fn change_call(func: &mut Function, (block, inst): (Block, Inst), slot: Slot, op: Op) -> Value {
    let loc = func.insts[inst].loc;
    let address = func.push1(block, Op::SlotAddr(slot), &[], ADDRESS, loc);
    let mut args = Values::from_slice(func.args(inst));
    args.push(address);
    func.replace(inst, op, &args);
    func.append(block, inst);
    address
}

/// Appends the load of one value of a result.
fn load(func: &mut Function, block: Block, (address, mem): (Value, Mem), ty: Type, loc: SrcLoc) -> Value {
    let load = Op::Load { mem, count: 1 };
    if ty != Type::Bool {
        return func.push1(block, load, &[address], ty, loc);
    }
    let word = func.push1(block, load, &[address], Type::I32, loc);
    let zero = func.push1(block, Op::Const(0), &[], Type::I32, loc);
    func.push1(block, Op::Icmp(IntCc::Ne), &[word, zero], Type::Bool, loc)
}
