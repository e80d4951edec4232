//! Float arithmetic. Negation and absolute value are modifiers of the operations that use them.

use crate::lower::Lower;
use ir::{BinOp, Inst, Op, TernOp, Type, UnOp, Value};
use isa::{MachInst, Opcode, Operand, op};

/// A float operand with its modifiers: `neg` applies to `abs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatSource {
    pub operand: Operand,
    pub neg: bool,
    pub abs: bool,
}

impl FloatSource {
    /// As it is.
    pub const fn plain(operand: Operand) -> Self {
        FloatSource { operand, neg: false, abs: false }
    }

    /// Negated.
    pub const fn negated(operand: Operand) -> Self {
        FloatSource { operand, neg: true, abs: false }
    }
}

const UNARY: &[(UnOp, Opcode, Option<Opcode>)] = &[
    (UnOp::FFloor, op::V_FLOOR_F32, Some(op::V_FLOOR_F64)),
    (UnOp::FCeil, op::V_CEIL_F32, Some(op::V_CEIL_F64)),
    (UnOp::FTrunc, op::V_TRUNC_F32, Some(op::V_TRUNC_F64)),
    (UnOp::FRound, op::V_RNDNE_F32, Some(op::V_RNDNE_F64)),
    (UnOp::FFract, op::V_FRACT_F32, Some(op::V_FRACT_F64)),
    (UnOp::NativeRcp, op::V_RCP_F32, Some(op::V_RCP_F64)),
    (UnOp::NativeRsq, op::V_RSQ_F32, Some(op::V_RSQ_F64)),
    (UnOp::NativeSqrt, op::V_SQRT_F32, Some(op::V_SQRT_F64)),
    (UnOp::NativeExp2, op::V_EXP_F32, None),
    (UnOp::NativeLog2, op::V_LOG_F32, None),
    (UnOp::NativeSin, op::V_SIN_F32, None),
    (UnOp::NativeCos, op::V_COS_F32, None),
    (UnOp::FrexpExp, op::V_FREXP_EXP_I32_F32, Some(op::V_FREXP_EXP_I32_F64)),
    (UnOp::FrexpMant, op::V_FREXP_MANT_F32, Some(op::V_FREXP_MANT_F64)),
];

const BINARY: &[(BinOp, Opcode, Opcode)] = &[
    (BinOp::FAdd, op::V_ADD_F32, op::V_ADD_F64),
    (BinOp::FSub, op::V_SUB_F32, op::V_ADD_F64),
    (BinOp::FMul, op::V_MUL_F32, op::V_MUL_F64),
    (BinOp::FMin, op::V_MIN_F32, op::V_MIN_F64),
    (BinOp::FMax, op::V_MAX_F32, op::V_MAX_F64),
];

impl Lower<'_> {
    /// A float operand, its negations and absolute values taken as modifiers.
    pub fn float_source(&mut self, mut value: Value) -> FloatSource {
        let (mut neg, mut abs) = (false, false);
        while let Some(inst) = self.func.def_inst(value) {
            match self.func.insts[inst].op {
                Op::Un(UnOp::FNeg) => neg ^= !abs,
                Op::Un(UnOp::FAbs) => abs = true,
                _ => break,
            }
            value = self.func.args(inst)[0];
        }
        FloatSource { operand: self.source(value), neg, abs }
    }

    /// An instruction on float operands.
    pub fn emit_float(&mut self, op: Opcode, dst: Operand, sources: &[FloatSource]) {
        let mut inst = MachInst::new(op, &[dst]);
        for (n, source) in sources.iter().enumerate() {
            inst.ops[n + 1] = source.operand;
            inst.mods.neg |= u8::from(source.neg) << n;
            inst.mods.abs |= u8::from(source.abs) << n;
        }
        inst.len = 1 + sources.len() as u8;
        self.emit_inst(inst);
    }

    /// Arithmetic with a float operand or result.
    pub fn float_op(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        match op {
            Op::Un(un) => self.float_un(result, un, args[0]),
            Op::Bin(BinOp::FDiv) => self.float_div(result, args[0], args[1]),
            Op::Bin(BinOp::Ldexp) => {
                let (x, n, dst) = (self.float_source(args[0]), self.source(args[1]), self.vgpr_of(result));
                let double = self.ty(result) == Type::F64;
                let op = if double { op::V_LDEXP_F64 } else { op::V_LDEXP_F32 };
                self.emit_float(op, dst, &[x, FloatSource::plain(n)]);
            }
            Op::Bin(bin) => self.float_bin(result, bin, args[0], args[1]),
            Op::Tern(TernOp::Fma) => {
                let sources = [args[0], args[1], args[2]].map(|arg| self.float_source(arg));
                let double = self.ty(result) == Type::F64;
                let dst = self.vgpr_of(result);
                self.emit_float(if double { op::V_FMA_F64 } else { op::V_FMA_F32 }, dst, &sources);
            }
            _ => self.unsupported("a float operation"),
        }
    }

    fn float_bin(&mut self, result: Value, bin: BinOp, a: Value, b: Value) {
        let Some(&(_, single, double)) = BINARY.iter().find(|(have, ..)| *have == bin) else {
            return self.unsupported("a float operation");
        };
        let is_double = self.ty(result) == Type::F64;
        let (x, mut y) = (self.float_source(a), self.float_source(b));
        // There is no `v_sub_f64`.
        y.neg ^= bin == BinOp::FSub && is_double;
        let dst = self.vgpr_of(result);
        self.emit_float(if is_double { double } else { single }, dst, &[x, y]);
    }

    fn float_un(&mut self, result: Value, un: UnOp, arg: Value) {
        let double = self.ty(arg) == Type::F64;
        match un {
            UnOp::FNeg | UnOp::FAbs => return self.sign_bit(result, un, arg, double),
            UnOp::FSqrt => return if double { self.sqrt64(result, arg) } else { self.sqrt32(result, arg) },
            _ => {}
        }
        let row = UNARY.iter().find(|(have, ..)| *have == un);
        let op = row.and_then(|&(_, single, wide)| if double { wide } else { Some(single) });
        let Some(op) = op else { return self.unsupported("a float operation") };
        let (x, dst) = (self.float_source(arg), self.vgpr_of(result));
        self.emit_float(op, dst, &[x]);
    }

    /// Negation or absolute value that no user could take in.
    fn sign_bit(&mut self, result: Value, un: UnOp, arg: Value, double: bool) {
        let dst = self.vgpr_of(result);
        let (op, bits) = match un {
            UnOp::FNeg => (op::V_XOR_B32, i32::MIN),
            _ => (op::V_AND_B32, i32::MAX),
        };
        if double {
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
