//! Checks the types of operands and results, and the attributes of each operation.

use super::{Checker, Place};
use crate::entity::{Block, Inst, SigId, Value};
use crate::op::{BinOp, CastOp, IntCc, Mem, MemFlags, Op, Order, RmwOp, TernOp, UnOp, WaveOp};
use crate::types::{MemTy, Space, Type};

/// A set of types that an operand may have.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    I32,
    Int,
    /// Integers and `bool`.
    Bits,
    Float,
}

impl Class {
    fn has(self, ty: Type) -> bool {
        match self {
            Class::I32 => ty == Type::I32,
            Class::Int => ty.is_int(),
            Class::Bits => ty.is_int() || ty == Type::Bool,
            Class::Float => ty.is_float(),
        }
    }
}

fn un_class(op: UnOp) -> Class {
    match op {
        UnOp::Not => Class::Bits,
        UnOp::Neg | UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::ReverseBits => Class::Int,
        _ => Class::Float,
    }
}

/// Returns whether the result of the operation is an `i32` for every operand type. This is so for operations
/// that count bits.
fn un_counts(op: UnOp) -> bool {
    matches!(op, UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::FrexpExp)
}

fn bin_class(op: BinOp) -> Class {
    use BinOp::*;
    match op {
        And | Or | Xor => Class::Bits,
        UMul24 | SMul24 => Class::I32,
        _ if op.of_halves().is_some() => Class::I32,
        FAdd | FSub | FMul | FDiv | FRem | FMin | FMax | Ldexp => Class::Float,
        _ => Class::Int,
    }
}

fn tern_class(op: TernOp) -> Class {
    match op {
        TernOp::Fma => Class::Float,
        TernOp::Bfi => Class::Int,
        _ => Class::I32,
    }
}

fn cast_ok(op: CastOp, from: Type, to: Type) -> bool {
    let pointer = |ty| matches!(ty, Type::Ptr(_));
    match op {
        CastOp::Trunc => from == Type::I64 && to == Type::I32,
        CastOp::Zext | CastOp::Sext => match from {
            Type::Bool => to.is_int(),
            Type::I32 => to == Type::I64,
            _ => false,
        },
        CastOp::Zext8 | CastOp::Sext8 | CastOp::Zext16 | CastOp::Sext16 => {
            from == Type::I32 && to == Type::I32
        }
        CastOp::Bitcast => from.bits() == to.bits() && from != Type::Bool && !pointer(from) && !pointer(to),
        CastOp::SToF | CastOp::UToF => from.is_int() && to.is_float(),
        CastOp::FToS | CastOp::FToU => from.is_float() && to.is_int(),
        CastOp::HalfBits => from == Type::F16 && to == Type::I32,
        CastOp::BitsHalf => from == Type::I32 && to == Type::F16,
        CastOp::FExt => from.is_float() && to.is_float() && from.bits() < to.bits(),
        CastOp::FTrunc => from.is_float() && to.is_float() && from.bits() > to.bits(),
        CastOp::PtrToInt => pointer(from) && to.is_int() && from.bits() == to.bits(),
        CastOp::IntToPtr => pointer(to) && from.is_int() && from.bits() == to.bits(),
        CastOp::SpaceCast => pointer(from) && pointer(to),
    }
}

/// Returns whether a value of type `ty` can be loaded from and stored to a memory element of type `element`.
fn holds(element: MemTy, ty: Type) -> bool {
    match element {
        MemTy::B32 => ty.bits() == 32,
        MemTy::B64 => ty.bits() == 64,
        MemTy::U16 => matches!(ty, Type::I32 | Type::F16),
        _ => ty == Type::I32,
    }
}

impl Checker<'_> {
    /// Performs all checks of one instruction.
    pub(super) fn operation(&mut self, inst: Inst) {
        let func = self.func;
        let data = &func.insts[inst];
        let args = func.args(inst);
        let ty = |n: usize| func.ty(args[n]);
        let Some((operands, results)) = self.arity(inst) else { return };
        if !self.count(inst, operands, results) {
            return;
        }
        let result = if results > 0 { func.ty(data.first) } else { Type::Bool };
        let ok = match data.op {
            Op::Const(bits) => bits & !crate::semantics::mask(result) == 0,
            Op::Un(op) => {
                let expected = if un_counts(op) { Type::I32 } else { ty(0) };
                un_class(op).has(ty(0)) && result == expected
            }
            Op::Bin(op) => {
                let second = match op {
                    BinOp::Shl | BinOp::LShr | BinOp::AShr => ty(1) == ty(0) || ty(1) == Type::I32,
                    BinOp::Ldexp => ty(1) == Type::I32,
                    _ => ty(1) == ty(0),
                };
                bin_class(op).has(ty(0)) && second && result == ty(0)
            }
            Op::Tern(op) => tern_class(op).has(result) && (0..3).all(|n| ty(n) == result),
            Op::Icmp(cc) => {
                let allowed = match ty(0) {
                    Type::Bool => matches!(cc, IntCc::Eq | IntCc::Ne),
                    Type::Ptr(_) => !matches!(cc, IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge),
                    other => other.is_int(),
                };
                allowed && ty(0) == ty(1) && result == Type::Bool
            }
            Op::Fcmp(_) => ty(0).is_float() && ty(0) == ty(1) && result == Type::Bool,
            Op::Select => ty(0) == Type::Bool && ty(1) == result && ty(2) == result,
            Op::Cast(op) => cast_ok(op, ty(0), result),
            Op::Pos(pos) => result == pos.ty() && pos.mnemonic().1.is_none_or(|d| d < 3),
            Op::SlotAddr(slot) => result == Type::Ptr(Space::Private) && func.slots.is_valid(slot),
            Op::GlobalAddr(global) => match self.module.map(|m| m.globals.get(global)) {
                None => matches!(result, Type::Ptr(_)),
                Some(found) => found.is_some_and(|data| result == Type::Ptr(data.space)),
            },
            Op::FuncAddr(func) => {
                let found = self.module.map(|m| m.funcs.get(func));
                let ok = found.is_none_or(|found| found.is_some_and(|func| func.kernel.is_none()));
                self.check(ok, Place::Inst(inst), "the function does not exist, or is a kernel");
                result == Type::I64
            }
            Op::PtrAdd => {
                matches!(result, Type::Ptr(_))
                    && ty(0) == result
                    && ty(1).is_int()
                    && ty(1).bits() == result.bits()
            }
            Op::PtrAddZ => {
                matches!(result, Type::Ptr(_)) && ty(0) == result && result.bits() == 64 && ty(1) == Type::I32
            }
            Op::Wave(op) => match op {
                WaveOp::Ballot => ty(0) == Type::Bool && result == Type::I64,
                WaveOp::ReadFirstLane => result.bits() == 32 && ty(0) == result,
                WaveOp::ReadLane | WaveOp::Shuffle | WaveOp::Permute => {
                    result.bits() == 32 && ty(0) == result && ty(1) == Type::I32
                }
                WaveOp::Mbcnt => ty(0) == Type::I64 && result == Type::I32,
            },
            Op::Assume | Op::Br { .. } => ty(0) == Type::Bool,
            Op::Interrupt => ty(0) == Type::I32,
            Op::Switch(_) => Class::Bits.has(ty(0)),
            _ => true,
        };
        self.check(ok, Place::Inst(inst), "the types do not fit the operation");
        self.attributes(inst, args);
    }

    /// Returns the number of operands and the number of results, if the operation fixes them. If the number
    /// of operands is `usize::MAX`, another function checks the operands.
    fn arity(&mut self, inst: Inst) -> Option<(usize, usize)> {
        let data = &self.func.insts[inst];
        Some(match data.op {
            Op::Const(_) | Op::Pos(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) => (0, 1),
            Op::Un(_) | Op::Cast(_) => (1, 1),
            Op::Bin(_) | Op::Icmp(_) | Op::Fcmp(_) | Op::PtrAdd | Op::PtrAddZ => (2, 1),
            Op::Tern(_) | Op::Select => (3, 1),
            Op::Wave(WaveOp::ReadLane | WaveOp::Shuffle | WaveOp::Permute) => (2, 1),
            Op::Wave(_) => (1, 1),
            Op::Load { count, .. } => (1, usize::from(count)),
            Op::Store { count, .. } => (1 + usize::from(count), 0),
            Op::AtomicRmw { .. } => (2, 1),
            Op::AtomicCas { .. } => (3, 1),
            Op::Fence { .. } | Op::Barrier { .. } | Op::WaveBarrier | Op::Trap { .. } | Op::Unreachable => {
                (0, 0)
            }
            Op::Sleep => (0, 0),
            Op::Assume | Op::Interrupt => (1, 0),
            Op::Jump(_) | Op::Br { .. } | Op::Switch(_) | Op::Ret => (usize::MAX, 0),
            Op::Call(callee) => {
                if let Some(callee) = self.callee(inst, callee) {
                    self.call(inst, callee);
                }
                return None;
            }
            Op::CallIndirect(sig) => {
                self.call_indirect(inst, sig);
                return None;
            }
        })
    }

    fn count(&mut self, inst: Inst, operands: usize, results: usize) -> bool {
        let found = self.func.args(inst).len();
        let place = Place::Inst(inst);
        if operands != usize::MAX && found != operands {
            self.error(place, format!("expected {operands} operands, found {found}"));
            return false;
        }
        let found = usize::from(self.func.insts[inst].results);
        if found != results {
            self.error(place, format!("expected {results} results, found {found}"));
        }
        found == results
    }

    fn call(&mut self, inst: Inst, callee: &crate::func::Function) {
        let func = self.func;
        let place = Place::Inst(inst);
        self.check(callee.kernel.is_none(), place, "a kernel cannot be called");
        let args = func.args(inst).iter().map(|&a| func.ty(a));
        self.check(args.eq(callee.param_types()), place, "the arguments do not fit the callee's parameters");
        let results = func.results_of(inst).map(|v| func.ty(v));
        self.check(results.eq(callee.results.iter().copied()), place, "the results do not fit the callee's");
    }

    /// Checks a call through an address. Without a module, the signature is not known.
    fn call_indirect(&mut self, inst: Inst, sig: SigId) {
        let Some(module) = self.module else { return };
        let (func, place) = (self.func, Place::Inst(inst));
        let Some(sig) = module.sigs.get(sig) else {
            return self.error(place, "the signature does not exist");
        };
        let mut args = func.args(inst).iter().map(|&a| func.ty(a));
        self.check(args.next() == Some(Type::I64), place, "the address of a function is an i64");
        self.check(args.eq(sig.params.iter().copied()), place, "the arguments do not fit the signature");
        let results = func.results_of(inst).map(|v| func.ty(v));
        self.check(results.eq(sig.results.iter().copied()), place, "the results do not fit the signature");
    }

    /// Checks the properties of an operation that are not types: alignment, memory order, dimensions and so
    /// on.
    fn attributes(&mut self, inst: Inst, args: &[Value]) {
        let func = self.func;
        let place = Place::Inst(inst);
        match func.insts[inst].op {
            Op::Jump(_) | Op::Br { .. } | Op::Switch(_) => {
                for which in 0..func.branch_count(inst) {
                    if let Some(to) = func.branch_target(inst, which) {
                        self.edge(inst, to, func.branch_args(inst, which));
                    }
                }
            }
            Op::Ret => {
                let types = args.iter().map(|&a| func.ty(a));
                let ok = types.eq(func.results.iter().copied());
                self.check(ok, place, "the values do not fit the function's results");
            }
            Op::Load { mem, count } => {
                let results = func.results_of(inst).all(|v| holds(mem.ty, func.ty(v)));
                let same = func.results_of(inst).all(|v| func.ty(v) == func.ty(func.insts[inst].first));
                self.check(count > 0 && results && same, place, "the element does not fit the results");
                self.check(
                    !matches!(mem.order, Order::Release | Order::AcqRel),
                    place,
                    "a load is not a release",
                );
                self.access(inst, &mem, mem.order != Order::NotAtomic, usize::from(count));
            }
            Op::Store { mem, count } => {
                let fits = args[1..].iter().all(|&v| holds(mem.ty, func.ty(v)));
                self.check(count > 0 && fits, place, "the element does not fit the values");
                self.check(
                    !matches!(mem.order, Order::Acquire | Order::AcqRel),
                    place,
                    "a store is not an acquire",
                );
                self.access(inst, &mem, mem.order != Order::NotAtomic, usize::from(count));
            }
            Op::AtomicRmw { op, mem } => {
                let ty = func.ty(args[1]);
                let ok = holds(mem.ty, ty) && func.ty(func.insts[inst].first) == ty;
                let fits = match op {
                    RmwOp::Xchg => true,
                    RmwOp::PkFAdd => ty == Type::I32,
                    _ => ty.is_int() != op.is_float(),
                };
                self.check(ok && fits, place, "the types do not fit the operation");
                self.access(inst, &mem, true, 1);
            }
            Op::AtomicCas { mem, fail } => {
                let ty = func.ty(args[1]);
                let ok = holds(mem.ty, ty) && func.ty(args[2]) == ty && func.ty(func.insts[inst].first) == ty;
                self.check(ok, place, "the types do not fit the operation");
                let fail_ok = matches!(fail, Order::Relaxed | Order::Acquire | Order::SeqCst);
                self.check(fail_ok, place, "a failed exchange only loads: relaxed, acquire or seq_cst");
                self.access(inst, &mem, true, 1);
            }
            Op::Fence { order, .. } => {
                self.check(order >= Order::Acquire, place, "a fence is at least an acquire or a release");
            }
            _ => {}
        }
    }

    fn edge(&mut self, inst: Inst, to: Block, args: &[Value]) {
        let func = self.func;
        let params = func.params(to).iter().map(|&p| func.ty(p));
        if !args.iter().map(|&a| func.ty(a)).eq(params) {
            self.error(Place::Inst(inst), format!("the arguments do not fit the parameters of {to}"));
        }
    }

    fn access(&mut self, inst: Inst, mem: &Mem, atomic: bool, count: usize) {
        let func = self.func;
        let place = Place::Inst(inst);
        let pointer = func.ty(func.args(inst)[0]);
        self.check(
            pointer == Type::Ptr(mem.space),
            place,
            "the pointer is not of the access's address space",
        );
        let aligned = mem.align.is_power_of_two() && mem.align <= 16;
        self.check(aligned, place, "the alignment is not a power of two up to 16");
        let reads_only = matches!(func.insts[inst].op, Op::Load { .. });
        let invariant = mem.flags.contains(MemFlags::INVARIANT);
        self.check(reads_only || !invariant, place, "invariant memory is not written");
        if atomic {
            let ok = mem.order != Order::NotAtomic
                && count == 1
                && matches!(mem.ty, MemTy::B32 | MemTy::B64)
                && u32::from(mem.align) >= mem.ty.bytes();
            self.check(ok, place, "an atomic is one aligned element of 32 or 64 bits, with an order");
        }
    }
}
