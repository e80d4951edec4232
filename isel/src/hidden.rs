//! Hidden arguments that the code reads: loads from the kernarg segment, behind the kernel's own arguments.

use crate::trap::Way;
use ir::{Function, Inst, Mem, MemFlags, MemTy, Op, Order, Pos, Scope, Space, Type, Value};
use isa::{Hidden, HiddenArgs, Subtarget};

/// Writes the loads in the place of what asks for them; what the function reads.
///
/// A trap that wants the queue from there gets it as its operand.
pub(crate) fn run(func: &mut Function, target: &Subtarget) -> Hidden {
    let trap = trap_hidden(target);
    let asks = |op: Op| match op {
        Op::Pos(Pos::PrintfBuffer) => Hidden::PRINTF_BUFFER,
        Op::Pos(Pos::HostcallBuffer) => Hidden::HOSTCALL_BUFFER,
        Op::Trap { debug: false } => trap,
        _ => Hidden::empty(),
    };
    if func.insts.values().all(|data| asks(data.op).is_empty()) {
        return Hidden::empty();
    }
    let mut found = Hidden::empty();
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        for inst in std::mem::take(&mut func.blocks[block].insts) {
            let data = &func.insts[inst];
            let (op, loc, hidden) = (data.op, data.loc, asks(data.op));
            if !hidden.is_empty() {
                let kernarg =
                    func.push1(block, Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant), loc);
                let load = Op::Load { mem: place(func, target, hidden), count: 1 };
                match op {
                    Op::Trap { .. } => {
                        let queue = func.push1(block, load, &[kernarg], Type::I64, loc);
                        give(func, inst, op, queue);
                    }
                    _ => give(func, inst, load, kernarg),
                }
                found |= hidden;
            }
            func.blocks[block].insts.push(inst);
        }
    }
    found
}

/// What a trap asks for.
pub fn trap_hidden(target: &Subtarget) -> Hidden {
    if Way::of(target) == Way::HiddenQueue { Hidden::QUEUE_PTR } else { Hidden::empty() }
}

/// Makes an instruction an operation of one operand.
fn give(func: &mut Function, inst: Inst, op: Op, operand: Value) {
    let Function { insts, pool, .. } = func;
    insts[inst].op = op;
    insts[inst].args.clear(pool);
    insts[inst].args.extend([operand], pool);
}

/// Where an argument is, from the start of the kernarg segment. The segment is 16-byte aligned (seed 000, line 1830).
fn place(func: &Function, target: &Subtarget, hidden: Hidden) -> Mem {
    let own = func.kernel.as_ref().map_or(0, |kernel| kernel.kernarg_size);
    let behind = HiddenArgs::of(target.code_object).offset(hidden).unwrap_or(0);
    Mem {
        ty: MemTy::B64,
        space: Space::Constant,
        align: 8,
        flags: MemFlags::INVARIANT,
        order: Order::NotAtomic,
        scope: Scope::System,
        offset: (HiddenArgs::start(own) + behind) as i32,
        alias: 0,
    }
}
