//! Floating-point arithmetic. Negations and absolute values become source modifiers of the operations that
//! use them.

use crate::half;
use crate::lower::Lower;
use crate::roles::{Resolution, Role};
use ir::{BinOp, CastOp, Inst, Op, TernOp, Type, UnOp, Value};
use isa::Operand;

/// A float operand with its source modifiers (negation and absolute value). If both are set, the absolute
/// value is negated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatSource {
    pub operand: Operand,
    pub neg: bool,
    pub abs: bool,
}

impl FloatSource {
    /// Creates a source without modifiers.
    pub const fn plain(operand: Operand) -> Self {
        FloatSource { operand, neg: false, abs: false }
    }

    /// Creates a negated source.
    pub const fn negated(operand: Operand) -> Self {
        FloatSource { operand, neg: true, abs: false }
    }
}

const UNARY: &[(UnOp, Role, Option<Role>)] = &[
    (UnOp::FFloor, Role::VFloorF32, Some(Role::VFloorF64)),
    (UnOp::FCeil, Role::VCeilF32, Some(Role::VCeilF64)),
    (UnOp::FTrunc, Role::VTruncF32, Some(Role::VTruncF64)),
    (UnOp::FRound, Role::VRndneF32, Some(Role::VRndneF64)),
    (UnOp::FFract, Role::VFractF32, Some(Role::VFractF64)),
    (UnOp::NativeRcp, Role::VRcpF32, Some(Role::VRcpF64)),
    (UnOp::NativeRsq, Role::VRsqF32, Some(Role::VRsqF64)),
    (UnOp::NativeSqrt, Role::VSqrtF32, Some(Role::VSqrtF64)),
    (UnOp::NativeExp2, Role::VExpF32, None),
    (UnOp::NativeLog2, Role::VLogF32, None),
    (UnOp::NativeSin, Role::VSinF32, None),
    (UnOp::NativeCos, Role::VCosF32, None),
    (UnOp::FrexpExp, Role::VFrexpExpI32F32, Some(Role::VFrexpExpI32F64)),
    (UnOp::FrexpMant, Role::VFrexpMantF32, Some(Role::VFrexpMantF64)),
];

const BINARY: &[(BinOp, Role, Role)] = &[
    (BinOp::FAdd, Role::VAddF32, Role::VAddF64),
    (BinOp::FSub, Role::VSubF32, Role::VAddF64),
    (BinOp::FMul, Role::VMulF32, Role::VMulF64),
    (BinOp::FMin, Role::VMinF32, Role::VMinF64),
    (BinOp::FMax, Role::VMaxF32, Role::VMaxF64),
];

impl Lower<'_> {
    /// Returns a float value as an operand. Operations that only negate the value or take its absolute value
    /// become source modifiers of the operand.
    pub fn float_source(&mut self, mut value: Value) -> FloatSource {
        let (mut neg, mut abs) = (false, false);
        while let Some(inst) = self.func.def_inst(value) {
            match self.func.insts[inst].op {
                Op::Un(UnOp::FNeg) => neg ^= !abs,
                Op::Un(UnOp::FAbs) => abs = true,
                // The instruction does not read the bits above the half.
                Op::Cast(CastOp::BitsHalf) => {}
                _ => break,
            }
            value = self.func.args(inst)[0];
        }
        FloatSource { operand: self.source(value), neg, abs }
    }

    /// Emits an instruction on float operands.
    pub fn emit_float(&mut self, op: Role, dst: Operand, sources: &[FloatSource]) {
        if let Resolution::Expansion(expansion) = self.s.roles.get(op)
            && let [source] = sources
        {
            return self.expand_float(expansion, dst, *source);
        }
        let mut inst = self.instruction(op, &[dst]);
        for (n, source) in sources.iter().enumerate() {
            inst.ops[n + 1] = source.operand;
            inst.mods.neg |= u8::from(source.neg) << n;
            inst.mods.abs |= u8::from(source.abs) << n;
        }
        inst.len = 1 + sources.len() as u8;
        self.emit_inst(inst);
    }

    /// Lowers arithmetic with a float operand or result.
    pub fn float_op(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        match op {
            Op::Un(un) => self.float_un(result, un, args[0]),
            Op::Bin(BinOp::FDiv) => self.float_div(result, args[0], args[1]),
            Op::Bin(BinOp::Ldexp) => {
                let (x, n, dst) = (self.float_source(args[0]), self.source(args[1]), self.vgpr_of(result));
                let double = self.ty(result) == Type::F64;
                let op = if double { Role::VLdexpF64 } else { Role::VLdexpF32 };
                self.emit_float(op, dst, &[x, FloatSource::plain(n)]);
            }
            Op::Bin(bin) => self.float_bin(result, bin, args[0], args[1]),
            Op::Tern(TernOp::Fma) => {
                let sources = [args[0], args[1], args[2]].map(|arg| self.float_source(arg));
                let role = match self.ty(result) {
                    Type::F16 => Role::VFmaF16,
                    Type::F32 => Role::VFmaF32,
                    _ => Role::VFmaF64,
                };
                let dst = self.vgpr_of(result);
                self.emit_float(role, dst, &sources);
            }
            _ => self.unsupported("a float operation"),
        }
    }

    fn float_bin(&mut self, result: Value, bin: BinOp, a: Value, b: Value) {
        let row = BINARY.iter().find(|(have, ..)| *have == bin);
        let role = match self.ty(result) {
            Type::F16 => half::role(Op::Bin(bin)),
            Type::F32 => row.map(|row| row.1),
            _ => row.map(|row| row.2),
        };
        let Some(role) = role else { return self.unsupported("a float operation") };
        let (x, mut y) = (self.float_source(a), self.float_source(b));
        // There is no `v_sub_f64`, so the second operand is negated.
        y.neg ^= bin == BinOp::FSub && role == Role::VAddF64;
        let dst = self.vgpr_of(result);
        self.emit_float(role, dst, &[x, y]);
    }

    fn float_un(&mut self, result: Value, un: UnOp, arg: Value) {
        let double = self.ty(arg) == Type::F64;
        match un {
            UnOp::FNeg | UnOp::FAbs => return self.sign_bit(result, un, arg),
            UnOp::FSqrt => return if double { self.sqrt64(result, arg) } else { self.sqrt32(result, arg) },
            _ => {}
        }
        let row = UNARY.iter().find(|(have, ..)| *have == un);
        let op = match self.ty(arg) {
            Type::F16 => half::role(Op::Un(un)),
            _ => row.and_then(|&(_, single, wide)| if double { wide } else { Some(single) }),
        };
        let Some(op) = op else { return self.unsupported("a float operation") };
        let (x, dst) = (self.float_source(arg), self.vgpr_of(result));
        self.emit_float(op, dst, &[x]);
    }

    /// Emits a negation or absolute value as an integer operation on the sign bit. This code is needed only
    /// if a user of the value cannot apply the operation itself by a source modifier.
    fn sign_bit(&mut self, result: Value, un: UnOp, arg: Value) {
        let (dst, ty) = (self.vgpr_of(result), self.ty(arg));
        let (op, bits) = match un {
            UnOp::FNeg if ty == Type::F16 => (Role::VXorB32, 0x8000),
            UnOp::FNeg => (Role::VXorB32, i32::MIN),
            _ if ty == Type::F16 => (Role::VAndB32, 0x7fff),
            _ => (Role::VAndB32, i32::MAX),
        };
        if ty == Type::F64 {
            let x = self.halves(arg);
            let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
            self.copy(lo, x[0]);
            self.emit(op, &[hi, Operand::int(bits), x[1]]);
        } else {
            let x = self.source(arg);
            self.emit(op, &[dst, Operand::int(bits), x]);
        }
    }
}
