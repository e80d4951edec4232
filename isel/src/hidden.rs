//! Hidden arguments that a function reads: they follow the kernel's explicit arguments in the kernarg
//! segment.

use crate::trap::TrapWay;
use ir::{Function, Inst, InstData, Mem, MemFlags, MemTy, Module, Op, Order, Pos, Scope, Space, Type, Value};
use isa::{Hidden, Subtarget};

/// A hidden argument that an operation reads.
struct Read {
    hidden: Hidden,
    /// Offset in bytes from the start of the hidden arguments.
    offset: u32,
    ty: MemTy,
}

/// Replaces operations that read hidden arguments by loads from the kernarg segment. Returns which hidden
/// arguments the function reads. If a trap needs the address of the queue, which is then a hidden argument,
/// the loaded address becomes the trap's operand.
pub(crate) fn run(func: &mut Function, target: &Subtarget) -> Hidden {
    let trap = trap_hidden(target);
    let read = |op: Op| {
        let args = target.hidden_args();
        let (hidden, kind, ty) = match op {
            Op::Pos(Pos::PrintfBuffer) => (Hidden::PRINTF_BUFFER, "hidden_printf_buffer", MemTy::B64),
            Op::Pos(Pos::HostcallBuffer) => (Hidden::HOSTCALL_BUFFER, "hidden_hostcall_buffer", MemTy::B64),
            Op::Pos(Pos::GlobalOffset(d)) => {
                (Hidden::GLOBAL_OFFSET, GLOBAL_OFFSETS[usize::from(d).min(2)], MemTy::B32)
            }
            Op::Trap { debug: false } if !trap.is_empty() => (trap, "hidden_queue_ptr", MemTy::B64),
            _ => return None,
        };
        // Where the system has no such argument, the operation stays, and selection refuses it.
        let offset = args.offset(kind)?;
        Some(Read { hidden, offset, ty })
    };
    skip_to_arguments(func, target);
    if target.hidden_args().offset(GLOBAL_OFFSETS[0]).is_none() {
        without_global_offset(func);
    }
    let is_pointer = |op: Op| op == Op::Pos(Pos::ImplicitArgPtr);
    if func.insts.values().all(|data| read(data.op).is_none() && !is_pointer(data.op)) {
        return Hidden::empty();
    }
    let (mut found, mut insts) = (Hidden::empty(), Vec::new());
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        func.take_insts(block, &mut insts);
        for &inst in &insts {
            let data = &func.insts[inst];
            let (op, loc) = (data.op, data.loc);
            if let Some(read) = read(op) {
                let base = func.push1(block, Op::Pos(base(func)), &[], Type::Ptr(Space::Constant), loc);
                let load = Op::Load { mem: argument_mem(func, target, &read), count: 1 };
                match op {
                    Op::Trap { .. } => {
                        let queue = func.push1(block, load, &[base], Type::I64, loc);
                        give(func, inst, op, &[queue]);
                    }
                    _ => give(func, inst, load, &[base]),
                }
                found |= read.hidden;
            } else if is_pointer(op) {
                // The program may read any hidden argument through the pointer.
                found |= Hidden::FOREIGN;
                if func.kernel.is_some() {
                    let start = start(func, target).into();
                    let base =
                        func.push1(block, Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant), loc);
                    let start = func.push1(block, Op::Const(start), &[], Type::I64, loc);
                    give(func, inst, Op::PtrAdd, &[base, start]);
                }
            }
            func.append(block, inst);
        }
    }
    found
}

/// Makes each `KernargPtr` the address of the first explicit argument, on systems where other words precede
/// the arguments in the kernarg segment.
fn skip_to_arguments(func: &mut Function, target: &Subtarget) {
    let begin = target.system().arguments_begin;
    let is_pointer = |data: &InstData| data.op == Op::Pos(Pos::KernargPtr);
    if begin == 0 || func.kernel.is_none() || !func.insts.values().any(is_pointer) {
        return;
    }
    let mut insts = Vec::new();
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        func.take_insts(block, &mut insts);
        for &inst in &insts {
            if is_pointer(&func.insts[inst]) {
                let loc = func.insts[inst].loc;
                let segment =
                    func.push1(block, Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant), loc);
                let words = func.push1(block, Op::Const(begin.into()), &[], Type::I64, loc);
                let Function { insts, pool, .. } = func;
                insts[inst].op = Op::PtrAdd;
                insts[inst].args.extend([segment, words], pool);
            }
            func.append(block, inst);
        }
    }
}

/// Makes each global offset zero, on systems whose runtime passes no global offset.
fn without_global_offset(func: &mut Function) {
    for data in func.insts.values_mut() {
        if matches!(data.op, Op::Pos(Pos::GlobalOffset(_))) {
            data.op = Op::Const(0);
        }
    }
}

const GLOBAL_OFFSETS: [&str; 3] =
    ["hidden_global_offset_x", "hidden_global_offset_y", "hidden_global_offset_z"];

/// Returns whether the function uses an LDS variable of dynamic size. Its size is chosen by the host when it
/// dispatches the kernel.
pub(crate) fn names_dynamic_lds(module: &Module, func: &Function) -> bool {
    let is_dynamic = |data: &InstData| match data.op {
        Op::GlobalAddr(global) => module.globals[global].dynamic,
        _ => false,
    };
    module.globals.values().any(|global| global.dynamic) && func.insts.values().any(is_dynamic)
}

/// Returns the hidden arguments that a trap reads.
fn trap_hidden(target: &Subtarget) -> Hidden {
    if TrapWay::for_subtarget(target) == TrapWay::HiddenQueue { Hidden::QUEUE_PTR } else { Hidden::empty() }
}

/// Changes an instruction into another operation.
fn give(func: &mut Function, inst: Inst, op: Op, operands: &[Value]) {
    let Function { insts, pool, .. } = func;
    insts[inst].op = op;
    insts[inst].args.clear(pool);
    insts[inst].args.extend(operands.iter().copied(), pool);
}

/// Returns the pointer through which a function reads hidden arguments: a kernel has the address of its
/// arguments, other functions receive the address of the hidden ones.
fn base(func: &Function) -> Pos {
    if func.kernel.is_some() { Pos::KernargPtr } else { Pos::ImplicitArgPtr }
}

/// Returns the offset in bytes of the first hidden argument from [`base`].
fn start(func: &Function, target: &Subtarget) -> u32 {
    let Some(kernel) = &func.kernel else { return 0 };
    target.hidden_begin(kernel.kernarg_size)
}

/// Returns the memory access that loads a hidden argument: offset from [`base`], and alignment. The kernarg
/// segment is 16-byte aligned (LLVM's AMDGPU guide, seed 000, line 1830).
fn argument_mem(func: &Function, target: &Subtarget, read: &Read) -> Mem {
    Mem {
        ty: read.ty,
        space: Space::Constant,
        align: read.ty.bytes() as u8,
        flags: MemFlags::INVARIANT,
        order: Order::NotAtomic,
        scope: Scope::System,
        offset: (start(func, target) + read.offset) as i32,
        alias: 0,
    }
}
