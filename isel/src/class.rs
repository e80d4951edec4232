//! Decides for each value in which kind of register selection keeps it, called the *home* of the value:
//! SGPRs, VGPRs, a lane mask in SGPRs, or the scalar condition bit (SCC).
//!
//! A uniform value is held in SGPRs if the scalar unit can compute it and at least one of its operands is in
//! SGPRs already. Uniform values that the scalar unit cannot compute (float arithmetic, results of vector
//! loads) stay in VGPRs. They are copied to SGPRs (`v_readfirstlane_b32`) only where a scalar operand is
//! requested.

use crate::plan::Plan;
use crate::shape::{is_shared_address, scalar_load};
use cranelift_entity::SecondaryMap;
use ir::analysis::{Analyses, Uniformity};
use ir::{BinOp, CastOp, Function, Inst, IntCc, Module, Op, Pos, TernOp, Type, UnOp, Value, WaveOp};

/// The kind of register in which selection keeps a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Home {
    /// Vector registers: one value per lane.
    #[default]
    Vgpr,
    /// A constant, which is materialised where it is needed.
    Const,
    /// Scalar registers.
    Sgpr,
    /// A `bool` that is kept as a lane mask. The bits of lanes that are inactive at its definition have no
    /// meaning.
    Mask,
    /// A uniform `bool` that the scalar unit computes. Where it is used, it is in SCC. Elsewhere it may be
    /// held in an SGPR, as 0 or 1.
    Scc,
}

/// Fills `homes` for every reachable value.
pub(crate) fn classify(
    module: &Module,
    func: &Function,
    an: &Analyses,
    plan: &Plan,
    homes: &mut SecondaryMap<Value, Home>,
) {
    homes.clear();
    homes.resize(func.values.len());
    let mut classes = Classes { module, func, uniformity: &an.uniformity, homes };
    for &block in an.cfg.rpo() {
        let parked = plan.nodes[plan.position_of(block) as usize].parked;
        for &param in func.params(block) {
            classes.param(param, parked);
        }
        for &inst in func.blocks[block].insts() {
            classes.inst(inst);
        }
    }
}

struct Classes<'a> {
    module: &'a Module,
    func: &'a Function,
    uniformity: &'a Uniformity,
    homes: &'a mut SecondaryMap<Value, Home>,
}

impl Classes<'_> {
    /// Decides in which kind of register a block parameter is kept. SGPRs are possible only if the value is
    /// uniform and no lanes are parked at the block, that is, wait there inactive until the program counter
    /// arrives. If lanes may be parked at the block, its parameters are kept in VGPRs or lane masks.
    fn param(&mut self, param: Value, parked: bool) {
        let scalar = !parked && self.uniformity.is_uniform(param);
        self.homes[param] = match self.func.ty(param) {
            Type::Bool if scalar => Home::Scc,
            Type::Bool => Home::Mask,
            ty if scalar && !ty.is_float() => Home::Sgpr,
            _ => Home::Vgpr,
        };
    }

    fn inst(&mut self, inst: Inst) {
        let op = self.func.insts[inst].op;
        // The results of a call can have different types.
        for value in self.func.results_of(inst) {
            self.homes[value] = self.result(inst, op, value);
        }
    }

    fn result(&self, inst: Inst, op: Op, value: Value) -> Home {
        let (uniform, ty) = (self.uniformity.is_uniform(value), self.func.ty(value));
        if is_constant(self.module, self.func, op) {
            return Home::Const;
        }
        if ty == Type::Bool {
            return if uniform && self.scalar_bool(inst, op) { Home::Scc } else { Home::Mask };
        }
        if uniform && self.scalar(inst, op) { Home::Sgpr } else { Home::Vgpr }
    }

    /// Returns whether the scalar unit computes the condition.
    fn scalar_bool(&self, inst: Inst, op: Op) -> bool {
        let args = self.func.args(inst);
        match op {
            Op::Icmp(cc) => {
                let wide = self.func.ty(args[0]).bits() == 64;
                (!wide || matches!(cc, IntCc::Eq | IntCc::Ne)) && self.any_scalar(args)
            }
            Op::Un(UnOp::Not) | Op::Bin(_) | Op::Select => {
                args.iter().all(|&arg| matches!(self.homes[arg], Home::Scc | Home::Const))
            }
            _ => false,
        }
    }

    /// Returns whether the scalar unit computes the operation.
    fn scalar(&self, inst: Inst, op: Op) -> bool {
        let args = self.func.args(inst);
        match op {
            Op::Un(UnOp::Not | UnOp::Neg | UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::ReverseBits) => {
                self.any_scalar(args)
            }
            Op::Bin(op) => scalar_bin(op, self.func.ty(args[0])) && self.any_scalar(args),
            Op::Tern(op) => scalar_tern(op) && self.any_scalar(args),
            Op::Select => self.any_scalar(&args[1..]),
            Op::Cast(op) => scalar_cast(op) && (self.homes[args[0]] == Home::Scc || self.any_scalar(args)),
            Op::Pos(pos) => !matches!(pos, Pos::LocalId(_) | Pos::LaneId),
            Op::PtrAdd | Op::PtrAddZ => self.any_scalar(args),
            Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) => true,
            Op::Load { mem, .. } => scalar_load(&mem) && self.homes[args[0]] == Home::Sgpr,
            Op::Wave(op) => matches!(op, WaveOp::Ballot | WaveOp::ReadFirstLane | WaveOp::ReadLane),
            _ => false,
        }
    }

    /// Returns whether the scalar unit should compute an operation with these operands. It should if at least
    /// one operand is in SGPRs, or if all operands are constants or conditions in SCC, so that none is in
    /// VGPRs or a lane mask.
    fn any_scalar(&self, args: &[Value]) -> bool {
        let vector = |&arg: &Value| matches!(self.homes[arg], Home::Vgpr | Home::Mask);
        args.iter().any(|&arg| self.homes[arg] == Home::Sgpr) || !args.iter().any(vector)
    }
}

fn scalar_bin(op: BinOp, ty: Type) -> bool {
    match op {
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::Shl
        | BinOp::LShr
        | BinOp::AShr => true,
        BinOp::UMulHi
        | BinOp::SMulHi
        | BinOp::UMin
        | BinOp::UMax
        | BinOp::SMin
        | BinOp::SMax
        | BinOp::UMul24
        | BinOp::SMul24 => ty.bits() == 32,
        _ => false,
    }
}

fn scalar_tern(op: TernOp) -> bool {
    matches!(op, TernOp::Fshr | TernOp::Bfi | TernOp::Ubfe | TernOp::Sbfe)
}

fn scalar_cast(op: CastOp) -> bool {
    !matches!(op, CastOp::SToF | CastOp::UToF | CastOp::FToS | CastOp::FToU | CastOp::FExt | CastOp::FTrunc)
}

/// Returns whether the result of an operation can be an immediate of instructions because its value is known.
/// The address of a kernel's stack slot and that of an LDS variable are examples.
pub(crate) fn is_constant(module: &Module, func: &Function, op: Op) -> bool {
    match op {
        Op::Const(_) => true,
        // In a function, the frame's address depends on the caller.
        Op::SlotAddr(_) => func.kernel.is_some(),
        Op::GlobalAddr(global) => is_shared_address(module, global),
        Op::Pos(Pos::WaveSize) => true,
        Op::Pos(Pos::LocalSize(_)) => reqd(func).is_some(),
        Op::Pos(Pos::LocalId(d)) => reqd(func).is_some_and(|size| size.get(usize::from(d)) == Some(&1)),
        _ => false,
    }
}

/// Returns the work-group size that the `#[workgroup_size]` attribute of the kernel fixes, if it has the
/// attribute.
pub(crate) fn reqd(func: &Function) -> Option<[u32; 3]> {
    func.kernel.as_ref().and_then(|kernel| kernel.reqd_workgroup_size)
}
