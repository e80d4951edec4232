//! Integer arithmetic of uniform values on the scalar unit.

use crate::lower::Lower;
use ir::{BinOp, Inst, Op, TernOp, UnOp, Value};
use isa::{Opcode, Operand, op};

/// 32- and 64-bit operations that are one instruction with the operands as they are.
const DIRECT: &[(BinOp, Option<Opcode>, Option<Opcode>)] = &[
    (BinOp::Add, Some(op::S_ADD_U32), None),
    (BinOp::Sub, Some(op::S_SUB_U32), None),
    (BinOp::Mul, Some(op::S_MUL_I32), None),
    (BinOp::UMulHi, Some(op::S_MUL_HI_U32), None),
    (BinOp::SMulHi, Some(op::S_MUL_HI_I32), None),
    (BinOp::And, Some(op::S_AND_B32), Some(op::S_AND_B64)),
    (BinOp::Or, Some(op::S_OR_B32), Some(op::S_OR_B64)),
    (BinOp::Xor, Some(op::S_XOR_B32), Some(op::S_XOR_B64)),
    (BinOp::Shl, Some(op::S_LSHL_B32), Some(op::S_LSHL_B64)),
    (BinOp::LShr, Some(op::S_LSHR_B32), Some(op::S_LSHR_B64)),
    (BinOp::AShr, Some(op::S_ASHR_I32), Some(op::S_ASHR_I64)),
    (BinOp::UMin, Some(op::S_MIN_U32), None),
    (BinOp::UMax, Some(op::S_MAX_U32), None),
    (BinOp::SMin, Some(op::S_MIN_I32), None),
    (BinOp::SMax, Some(op::S_MAX_I32), None),
];

impl Lower<'_> {
    /// Arithmetic whose result lives in SGPRs.
    pub fn scalar_op(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        match op {
            Op::Un(un) => self.scalar_un(result, un, args[0]),
            Op::Bin(bin) => self.scalar_bin(result, bin, args[0], args[1]),
            Op::Tern(tern) => self.scalar_tern(result, tern, [args[0], args[1], args[2]]),
            Op::PtrAdd => self.scalar_bin(result, BinOp::Add, args[0], args[1]),
            Op::PtrAddZ => {
                let (p, off) = (self.scalar_halves(args[0]), self.scalar(args[1]));
                let dst = self.sgpr_of(result);
                self.scalar_add64(dst, p, [off, Operand::int(0)]);
            }
            _ => self.unsupported("a scalar operation"),
        }
    }

    /// `dst = a + b` on 64 bits.
    pub fn scalar_add64(&mut self, dst: Operand, a: [Operand; 2], b: [Operand; 2]) {
        let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
        self.emit(op::S_ADD_U32, &[lo, a[0], b[0]]);
        self.emit(op::S_ADDC_U32, &[hi, a[1], b[1]]);
    }

    fn scalar_un(&mut self, result: Value, un: UnOp, arg: Value) {
        let wide = self.ty(arg).bits() == 64;
        let dst = self.sgpr_of(result);
        match un {
            UnOp::Not => {
                let a = self.scalar(arg);
                self.emit(if wide { op::S_NOT_B64 } else { op::S_NOT_B32 }, &[dst, a]);
            }
            UnOp::Neg if wide => {
                let a = self.scalar_halves(arg);
                let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
                self.emit(op::S_SUB_U32, &[lo, Operand::int(0), a[0]]);
                self.emit(op::S_SUBB_U32, &[hi, Operand::int(0), a[1]]);
            }
            UnOp::Neg => {
                let a = self.scalar(arg);
                self.emit(op::S_SUB_U32, &[dst, Operand::int(0), a]);
            }
            UnOp::ReverseBits => {
                let a = self.scalar(arg);
                self.emit(if wide { op::S_BREV_B64 } else { op::S_BREV_B32 }, &[dst, a]);
            }
            UnOp::Popcount => {
                let a = self.scalar(arg);
                let count = if wide { op::S_BCNT1_I32_B64 } else { op::S_BCNT1_I32_B32 };
                self.scalar_count(dst, count, a, wide, None);
            }
            // -1 for a zero operand; as an unsigned number that is above the width.
            UnOp::Clz => {
                let a = self.scalar(arg);
                let count = if wide { op::S_FLBIT_I32_B64 } else { op::S_FLBIT_I32_B32 };
                self.scalar_count(dst, count, a, wide, Some(if wide { 64 } else { 32 }));
            }
            UnOp::Ctz => {
                let a = self.scalar(arg);
                let count = if wide { op::S_FF1_I32_B64 } else { op::S_FF1_I32_B32 };
                self.scalar_count(dst, count, a, wide, Some(if wide { 64 } else { 32 }));
            }
            _ => self.unsupported("a scalar operation"),
        }
    }

    /// A count, limited to `limit`; the result has the operand's width.
    fn scalar_count(&mut self, dst: Operand, count: Opcode, a: Operand, wide: bool, limit: Option<i32>) {
        let low = self.dword(dst, 0);
        match limit {
            Some(limit) => {
                let raw = self.stemp(1);
                self.emit(count, &[raw, a]);
                self.emit(op::S_MIN_U32, &[low, raw, Operand::int(limit)]);
            }
            None => self.emit(count, &[low, a]),
        }
        if wide && self.regs(dst).len() == 2 {
            let high = self.dword(dst, 1);
            self.copy(high, Operand::int(0));
        }
    }

    fn scalar_bin(&mut self, result: Value, bin: BinOp, a: Value, b: Value) {
        let wide = self.ty(result).bits() == 64;
        let row = DIRECT.iter().find(|(have, ..)| *have == bin);
        let direct = row.and_then(|&(_, narrow, double)| if wide { double } else { narrow });
        let dst = self.sgpr_of(result);
        if let Some(op) = direct {
            let x = self.scalar(a);
            let y = if matches!(bin, BinOp::Shl | BinOp::LShr | BinOp::AShr) {
                self.scalar_shift(b)
            } else {
                self.scalar(b)
            };
            return self.emit(op, &[dst, x, y]);
        }
        match bin {
            BinOp::Add | BinOp::Sub => {
                let (x, y) = (self.scalar_halves(a), self.scalar_halves(b));
                let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
                let ops = match bin {
                    BinOp::Add => [op::S_ADD_U32, op::S_ADDC_U32],
                    _ => [op::S_SUB_U32, op::S_SUBB_U32],
                };
                self.emit(ops[0], &[lo, x[0], y[0]]);
                self.emit(ops[1], &[hi, x[1], y[1]]);
            }
            BinOp::Mul => self.scalar_mul64(dst, a, b),
            BinOp::UMul24 | BinOp::SMul24 => {
                let (x, y) = (self.scalar(a), self.scalar(b));
                let (s, t) = (self.stemp(1), self.stemp(1));
                // Offset 0, width 24.
                let field = Operand::int(24 << 16);
                let op = if bin == BinOp::UMul24 { op::S_BFE_U32 } else { op::S_BFE_I32 };
                self.emit(op, &[s, x, field]);
                self.emit(op, &[t, y, field]);
                self.emit(op::S_MUL_I32, &[dst, s, t]);
            }
            _ => self.unsupported("a scalar operation"),
        }
    }

    /// A shift count: one dword, modulo the width by nature.
    pub fn scalar_shift(&mut self, count: Value) -> Operand {
        match self.const_bits(count) {
            Some(bits) => Operand::int((bits & 63) as i32),
            None => {
                let whole = self.sgpr_of(count);
                self.dword(whole, 0)
            }
        }
    }

    fn scalar_mul64(&mut self, dst: Operand, a: Value, b: Value) {
        let (x, y) = (self.scalar_halves(a), self.scalar_halves(b));
        let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
        let zero = Operand::int(0);
        let mut high = self.stemp(1);
        self.emit(op::S_MUL_HI_U32, &[high, x[0], y[0]]);
        for (p, q) in [(x[0], y[1]), (x[1], y[0])] {
            if p == zero || q == zero {
                continue;
            }
            let (t, sum) = (self.stemp(1), self.stemp(1));
            self.emit(op::S_MUL_I32, &[t, p, q]);
            self.emit(op::S_ADD_U32, &[sum, high, t]);
            high = sum;
        }
        self.emit(op::S_MUL_I32, &[lo, x[0], y[0]]);
        self.copy(hi, high);
    }

    fn scalar_tern(&mut self, result: Value, tern: TernOp, [a, b, c]: [Value; 3]) {
        let dst = self.sgpr_of(result);
        let (x, y) = (self.scalar(a), self.scalar(b));
        match tern {
            TernOp::Fshr => {
                let count = match self.const_bits(c) {
                    Some(bits) => Operand::int((bits & 31) as i32),
                    None => {
                        let (c, t) = (self.scalar(c), self.stemp(1));
                        self.emit(op::S_AND_B32, &[t, c, Operand::int(31)]);
                        t
                    }
                };
                let (pair, shifted) = (self.stemp(2), self.stemp(2));
                let (lo, hi) = (self.dword(pair, 0), self.dword(pair, 1));
                self.copy(lo, y);
                self.copy(hi, x);
                self.emit(op::S_LSHR_B64, &[shifted, pair, count]);
                let low = self.dword(shifted, 0);
                self.copy(dst, low);
            }
            TernOp::Bfi => {
                let z = self.scalar(c);
                let (s, t) = (self.stemp(1), self.stemp(1));
                self.emit(op::S_AND_B32, &[s, x, y]);
                self.emit(op::S_ANDN2_B32, &[t, z, x]);
                self.emit(op::S_OR_B32, &[dst, s, t]);
            }
            TernOp::Ubfe | TernOp::Sbfe => {
                let field = self.bit_field(b, c);
                let op = if tern == TernOp::Ubfe { op::S_BFE_U32 } else { op::S_BFE_I32 };
                self.emit(op, &[dst, x, field]);
            }
            TernOp::Fma => self.unsupported("a scalar operation"),
        }
    }

    /// Offset and width as `s_bfe` wants them: bits 4:0 and 22:16.
    fn bit_field(&mut self, offset: Value, width: Value) -> Operand {
        if let (Some(offset), Some(width)) = (self.const_u32(offset), self.const_u32(width)) {
            return Operand::int((offset & 31 | (width & 31) << 16) as i32);
        }
        let (o, w) = (self.scalar(offset), self.scalar(width));
        let [a, b, c, d] = [(); 4].map(|()| self.stemp(1));
        self.emit(op::S_AND_B32, &[a, w, Operand::int(31)]);
        self.emit(op::S_LSHL_B32, &[b, a, Operand::int(16)]);
        self.emit(op::S_AND_B32, &[c, o, Operand::int(31)]);
        self.emit(op::S_OR_B32, &[d, b, c]);
        d
    }
}
