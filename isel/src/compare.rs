//! Comparisons, conditions and selection.

use crate::class::Home;
use crate::control::Scc;
use crate::half;
use crate::lower::Lower;
use crate::mask::{ALL_LANES, MaskOp, NO_LANES};
use crate::roles::Role;
use ir::{BinOp, FloatCc, Inst, IntCc, Op, Type, UnOp, Value};
use isa::Operand;

/// Roles of an integer comparison.
struct IntRow {
    cc: IntCc,
    scalar: Role,
    /// Roles for 32 and for 64 bits.
    vector: [Role; 2],
}

const fn int_row(cc: IntCc, scalar: Role, narrow: Role, wide: Role) -> IntRow {
    IntRow { cc, scalar, vector: [narrow, wide] }
}

const INT: &[IntRow] = &[
    int_row(IntCc::Eq, Role::SCmpEqU32, Role::VCmpEqU32, Role::VCmpEqU64),
    int_row(IntCc::Ne, Role::SCmpLgU32, Role::VCmpNeU32, Role::VCmpNeU64),
    int_row(IntCc::Ult, Role::SCmpLtU32, Role::VCmpLtU32, Role::VCmpLtU64),
    int_row(IntCc::Ule, Role::SCmpLeU32, Role::VCmpLeU32, Role::VCmpLeU64),
    int_row(IntCc::Ugt, Role::SCmpGtU32, Role::VCmpGtU32, Role::VCmpGtU64),
    int_row(IntCc::Uge, Role::SCmpGeU32, Role::VCmpGeU32, Role::VCmpGeU64),
    int_row(IntCc::Slt, Role::SCmpLtI32, Role::VCmpLtI32, Role::VCmpLtI64),
    int_row(IntCc::Sle, Role::SCmpLeI32, Role::VCmpLeI32, Role::VCmpLeI64),
    int_row(IntCc::Sgt, Role::SCmpGtI32, Role::VCmpGtI32, Role::VCmpGtI64),
    int_row(IntCc::Sge, Role::SCmpGeI32, Role::VCmpGeI32, Role::VCmpGeI64),
];

/// Roles that compare the low halves of registers.
const LOW_HALF: &[(IntCc, Role)] = &[(IntCc::Eq, Role::VCmpEqU16), (IntCc::Ne, Role::VCmpNeU16)];

/// Roles of float comparisons, for f32 and f64. Names with an `N` after `VCmp`, such as `VCmpNeqF32`, are
/// negated comparisons, which are true if an operand is NaN.
const FLOAT: &[(FloatCc, [Role; 2])] = &[
    (FloatCc::Oeq, [Role::VCmpEqF32, Role::VCmpEqF64]),
    (FloatCc::One, [Role::VCmpLgF32, Role::VCmpLgF64]),
    (FloatCc::Olt, [Role::VCmpLtF32, Role::VCmpLtF64]),
    (FloatCc::Ole, [Role::VCmpLeF32, Role::VCmpLeF64]),
    (FloatCc::Ogt, [Role::VCmpGtF32, Role::VCmpGtF64]),
    (FloatCc::Oge, [Role::VCmpGeF32, Role::VCmpGeF64]),
    (FloatCc::Ord, [Role::VCmpOF32, Role::VCmpOF64]),
    (FloatCc::Ueq, [Role::VCmpNlgF32, Role::VCmpNlgF64]),
    (FloatCc::Une, [Role::VCmpNeqF32, Role::VCmpNeqF64]),
    (FloatCc::Ult, [Role::VCmpNgeF32, Role::VCmpNgeF64]),
    (FloatCc::Ule, [Role::VCmpNgtF32, Role::VCmpNgtF64]),
    (FloatCc::Ugt, [Role::VCmpNleF32, Role::VCmpNleF64]),
    (FloatCc::Uge, [Role::VCmpNltF32, Role::VCmpNltF64]),
    (FloatCc::Uno, [Role::VCmpUF32, Role::VCmpUF64]),
];

impl Lower<'_> {
    /// Lowers an integer comparison.
    pub fn icmp(&mut self, inst: Inst, cc: IntCc) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let (a, b) = (args[0], args[1]);
        if self.is_bool(a) {
            return self.bool_equality(result, cc, a, b);
        }
        if self.home(result) == Home::Scc {
            self.scalar_compare(cc, a, b);
            self.keep_scc(result);
            return;
        }
        let wide = usize::from(self.ty(a).bits() == 64);
        if self.compare_low_half(result, cc, a, b) {
            return;
        }
        let Some(row) = INT.iter().find(|row| row.cc == cc) else { return };
        let (mask, x, y) = (self.mask_of(result), self.source(a), self.source(b));
        self.emit(row.vector[wide], &[mask, x, y]);
    }

    /// Lowers the comparison of `x & 0xffff` with a constant to a 16-bit comparison of `x`, which ignores the
    /// upper bits of `x`. Returns whether that was possible.
    fn compare_low_half(&mut self, result: Value, cc: IntCc, a: Value, b: Value) -> bool {
        let Some((_, role)) = LOW_HALF.iter().find(|(have, _)| *have == cc) else { return false };
        let fits = self.const_bits(b).is_some_and(|bits| bits <= 0xffff);
        let Some(inst) = self.foldable(a).filter(|_| fits && self.ty(a).bits() == 32) else { return false };
        let args = self.func.args(inst);
        let masked = self.func.insts[inst].op == Op::Bin(BinOp::And) && self.home(a) == Home::Vgpr;
        if !masked || self.const_bits(args[1]) != Some(0xffff) {
            return false;
        }
        let (mask, x, y) = (self.mask_of(result), self.source(args[0]), self.source(b));
        self.emit(*role, &[mask, x, y]);
        true
    }

    /// Lowers a comparison of two `bool` values: equal mask bits.
    fn bool_equality(&mut self, result: Value, cc: IntCc, a: Value, b: Value) {
        let equal = cc == IntCc::Eq;
        if self.home(result) == Home::Scc {
            let (x, y) = (self.sgpr(a), self.sgpr(b));
            self.emit(if equal { Role::SCmpEqU32 } else { Role::SCmpLgU32 }, &[x, y]);
            self.keep_scc(result);
            return;
        }
        let (dst, x, y) = (self.mask_of(result), self.mask(a), self.mask(b));
        self.emit_mask(if equal { MaskOp::Xnor } else { MaskOp::Xor }, &[dst, x, y]);
    }

    fn scalar_compare(&mut self, cc: IntCc, a: Value, b: Value) {
        let (x, y) = (self.scalar(a), self.scalar(b));
        let op = match (self.ty(a).bits(), cc) {
            (64, IntCc::Eq) => Role::SCmpEqU64,
            (64, _) => Role::SCmpLgU64,
            _ => INT.iter().find(|row| row.cc == cc).map_or(Role::SCmpEqU32, |row| row.scalar),
        };
        self.emit(op, &[x, y]);
    }

    /// Copies SCC to the requested forms of a condition.
    fn keep_scc(&mut self, value: Value) {
        if self.wants_sgpr(value) {
            let bit = self.sgpr_of(value);
            self.emit(Role::SCselectB32, &[bit, Operand::int(1), Operand::int(0)]);
        }
        if self.wants_mask(value) {
            let mask = self.mask_of(value);
            self.emit_mask(MaskOp::Select, &[mask, ALL_LANES, NO_LANES]);
        }
    }

    /// Puts a uniform condition into SCC.
    pub fn scc(&mut self, value: Value) -> Scc {
        if self.home(value) == Home::Mask {
            let mask = self.mask(value);
            self.test_mask(mask);
            return Scc { negated: false };
        }
        if let Some(bits) = self.const_bits(value) {
            self.emit(Role::SCmpLgU32, &[Operand::int(i32::from(bits != 0)), Operand::int(0)]);
            return Scc { negated: false };
        }
        if let Some(inst) = self.func.def_inst(value) {
            let data = &self.func.insts[inst];
            let args = self.func.args(inst);
            match data.op {
                Op::Un(UnOp::Not) => {
                    let inner = self.scc(args[0]);
                    return Scc { negated: !inner.negated };
                }
                // Repeating the comparison is as cheap as testing its result.
                Op::Icmp(cc) if data.block == self.block && !self.is_bool(args[0]) => {
                    self.scalar_compare(cc, args[0], args[1]);
                    return Scc { negated: false };
                }
                Op::Bin(bin @ (BinOp::And | BinOp::Or | BinOp::Xor)) if self.foldable(value).is_some() => {
                    let (a, b, t) = (self.scalar(args[0]), self.scalar(args[1]), self.stemp(1));
                    self.emit(bit_op(bin), &[t, a, b]);
                    return Scc { negated: false };
                }
                _ => {}
            }
        }
        let bit = self.sgpr_of(value);
        self.emit(Role::SCmpLgU32, &[bit, Operand::int(0)]);
        Scc { negated: false }
    }

    /// Lowers a float comparison.
    pub fn fcmp(&mut self, inst: Inst, cc: FloatCc) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let row = FLOAT.iter().find(|(have, _)| *have == cc);
        let role = match self.ty(args[0]) {
            Type::F16 => half::role(Op::Fcmp(cc)),
            Type::F32 => row.map(|row| row.1[0]),
            _ => row.map(|row| row.1[1]),
        };
        let Some(role) = role else { return };
        let (x, y) = (self.float_source(args[0]), self.float_source(args[1]));
        let mask = self.mask_of(result);
        let mut cmp = self.instruction(role, &[mask, x.operand, y.operand]);
        cmp.mods.neg = u8::from(x.neg) | u8::from(y.neg) << 1;
        cmp.mods.abs = u8::from(x.abs) | u8::from(y.abs) << 1;
        self.emit_inst(cmp);
    }

    /// Lowers a logical operation on `bool`.
    pub fn bool_op(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        if self.home(result) == Home::Scc {
            self.scalar_bool(inst, op, result);
        } else {
            self.mask_bool(inst, op, result);
        }
    }

    fn scalar_bool(&mut self, inst: Inst, op: Op, result: Value) {
        let args = self.func.args(inst);
        let a = self.scalar_bit(args[0]);
        let dst = if self.wants_sgpr(result) { self.sgpr_of(result) } else { self.stemp(1) };
        match op {
            Op::Un(_) => self.emit(Role::SXorB32, &[dst, a, Operand::int(1)]),
            Op::Bin(bin) => {
                let b = self.scalar_bit(args[1]);
                self.emit(bit_op(bin), &[dst, a, b]);
            }
            _ => {
                let (b, c) = (self.scalar_bit(args[1]), self.scalar_bit(args[2]));
                self.emit(Role::SCmpLgU32, &[a, Operand::int(0)]);
                self.emit(Role::SCselectB32, &[dst, b, c]);
                self.emit(Role::SCmpLgU32, &[dst, Operand::int(0)]);
            }
        }
        if self.wants_mask(result) {
            let mask = self.mask_of(result);
            self.emit_mask(MaskOp::Select, &[mask, ALL_LANES, NO_LANES]);
        }
    }

    fn scalar_bit(&mut self, value: Value) -> Operand {
        match self.const_bits(value) {
            Some(bits) => Operand::int(i32::from(bits != 0)),
            None => self.sgpr_of(value),
        }
    }

    fn mask_bool(&mut self, inst: Inst, op: Op, result: Value) {
        let args = self.func.args(inst);
        let dst = self.mask_of(result);
        match op {
            Op::Un(_) => {
                let a = self.mask(args[0]);
                self.emit_mask(MaskOp::Not, &[dst, a]);
            }
            Op::Bin(bin) => {
                let (a, b) = (args[0], args[1]);
                for (x, y) in [(a, b), (b, a)] {
                    if let (Some(inner), BinOp::And | BinOp::Or) = (self.folded_not(y), bin) {
                        let (x, y) = (self.mask(x), self.mask(inner));
                        let op = if bin == BinOp::And { MaskOp::AndNot } else { MaskOp::OrNot };
                        return self.emit_mask(op, &[dst, x, y]);
                    }
                }
                let (x, y) = (self.mask(a), self.mask(b));
                let op = match bin {
                    BinOp::And => MaskOp::And,
                    BinOp::Or => MaskOp::Or,
                    _ => MaskOp::Xor,
                };
                self.emit_mask(op, &[dst, x, y]);
            }
            _ => {
                let (c, a, b) = (self.mask(args[0]), self.mask(args[1]), self.mask(args[2]));
                let (yes, no) = (self.mask_temp(), self.mask_temp());
                self.emit_mask(MaskOp::And, &[yes, a, c]);
                self.emit_mask(MaskOp::AndNot, &[no, b, c]);
                self.emit_mask(MaskOp::Or, &[dst, yes, no]);
            }
        }
    }

    /// If a `not` defines `value` and the current instruction is its only user, returns the operand of the
    /// `not`. The current instruction then does the work of the `not`, which is not emitted.
    fn folded_not(&self, value: Value) -> Option<Value> {
        let inst = self.foldable(value)?;
        (self.func.insts[inst].op == Op::Un(UnOp::Not)).then(|| self.func.args(inst)[0])
    }

    /// Lowers `cond ? a : b`.
    pub fn select(&mut self, inst: Inst) {
        let result = self.func.insts[inst].first;
        if self.is_bool(result) {
            return self.bool_op(inst, Op::Select);
        }
        let args = self.func.args(inst);
        let (cond, a, b) = (args[0], args[1], args[2]);
        if self.home(result) == Home::Sgpr {
            let (x, y, dst) = (self.scalar(a), self.scalar(b), self.sgpr_of(result));
            let scc = self.scc(cond);
            let (x, y) = if scc.negated { (y, x) } else { (x, y) };
            let op = if self.ty(result).bits() == 64 { Role::SCselectB64 } else { Role::SCselectB32 };
            return self.emit(op, &[dst, x, y]);
        }
        if self.shifted_in(result, [cond, a, b]) {
            return;
        }
        let mask = match self.mask(cond) {
            constant @ Operand::Inline(_) => self.constant_mask(constant == ALL_LANES),
            mask => mask,
        };
        if self.ty(result).bits() == 64 {
            let (x, y) = (self.halves(a), self.halves(b));
            let dst = self.vgpr_of(result);
            for n in 0..2 {
                let to = self.dword(dst, n as u8);
                self.emit(Role::VCndmaskB32, &[to, y[n], x[n], mask]);
            }
            return;
        }
        let (x, y, dst) = (self.source(a), self.source(b), self.vgpr_of(result));
        self.emit(Role::VCndmaskB32, &[dst, y, x, mask]);
    }
}

/// Returns the role of a scalar bitwise operation.
fn bit_op(bin: BinOp) -> Role {
    match bin {
        BinOp::And => Role::SAndB32,
        BinOp::Or => Role::SOrB32,
        _ => Role::SXorB32,
    }
}
