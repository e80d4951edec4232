//! Integer arithmetic on uniform values, on the scalar unit.

use crate::lower::Lower;
use crate::roles::Role;
use ir::{BinOp, Inst, Op, TernOp, UnOp, Value};
use isa::Operand;

/// Integer operations that one scalar instruction computes from the same operands. Each entry has the
/// operation, the role for 32 bits and the role for 64 bits.
const DIRECT: &[(BinOp, Option<Role>, Option<Role>)] = &[
    (BinOp::Add, Some(Role::SAddU32), None),
    (BinOp::Sub, Some(Role::SSubU32), None),
    (BinOp::Mul, Some(Role::SMulI32), None),
    (BinOp::UMulHi, Some(Role::SMulHiU32), None),
    (BinOp::SMulHi, Some(Role::SMulHiI32), None),
    (BinOp::And, Some(Role::SAndB32), Some(Role::SAndB64)),
    (BinOp::Or, Some(Role::SOrB32), Some(Role::SOrB64)),
    (BinOp::Xor, Some(Role::SXorB32), Some(Role::SXorB64)),
    (BinOp::Shl, Some(Role::SShlB32), Some(Role::SShlB64)),
    (BinOp::LShr, Some(Role::SShrB32), Some(Role::SShrB64)),
    (BinOp::AShr, Some(Role::SAshrI32), Some(Role::SAshrI64)),
    (BinOp::UMin, Some(Role::SMinU32), None),
    (BinOp::UMax, Some(Role::SMaxU32), None),
    (BinOp::SMin, Some(Role::SMinI32), None),
    (BinOp::SMax, Some(Role::SMaxI32), None),
];

impl Lower<'_> {
    /// Lowers arithmetic whose result is held in SGPRs.
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

    /// Emits the 64-bit addition `dst = a + b`.
    pub fn scalar_add64(&mut self, dst: Operand, a: [Operand; 2], b: [Operand; 2]) {
        let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
        self.emit(Role::SAddU32, &[lo, a[0], b[0]]);
        self.emit(Role::SAddcU32, &[hi, a[1], b[1]]);
    }

    fn scalar_un(&mut self, result: Value, un: UnOp, arg: Value) {
        let wide = self.ty(arg).bits() == 64;
        let dst = self.sgpr_of(result);
        match un {
            UnOp::Not => {
                let a = self.scalar(arg);
                self.emit(if wide { Role::SNotB64 } else { Role::SNotB32 }, &[dst, a]);
            }
            UnOp::Neg if wide => {
                let a = self.scalar_halves(arg);
                let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
                self.emit(Role::SSubU32, &[lo, Operand::int(0), a[0]]);
                self.emit(Role::SSubbU32, &[hi, Operand::int(0), a[1]]);
            }
            UnOp::Neg => {
                let a = self.scalar(arg);
                self.emit(Role::SSubU32, &[dst, Operand::int(0), a]);
            }
            UnOp::ReverseBits => {
                let a = self.scalar(arg);
                self.emit(if wide { Role::SBrevB64 } else { Role::SBrevB32 }, &[dst, a]);
            }
            UnOp::Popcount => {
                let a = self.scalar(arg);
                let count = if wide { Role::SBcnt1I32B64 } else { Role::SBcnt1I32B32 };
                self.scalar_count(dst, count, a, wide, None);
            }
            // The instruction returns -1 if the operand is zero. Read as an unsigned number, this exceeds the
            // width, so the minimum with the width gives the right result.
            UnOp::Clz => {
                let a = self.scalar(arg);
                let count = if wide { Role::SFlbitI32B64 } else { Role::SFlbitI32B32 };
                self.scalar_count(dst, count, a, wide, Some(if wide { 64 } else { 32 }));
            }
            UnOp::Ctz => {
                let a = self.scalar(arg);
                let count = if wide { Role::SFf1I32B64 } else { Role::SFf1I32B32 };
                self.scalar_count(dst, count, a, wide, Some(if wide { 64 } else { 32 }));
            }
            _ => self.unsupported("a scalar operation"),
        }
    }

    /// Emits a bit count by the role `count`. The count is limited to `limit`, if given, and extended to the
    /// width of the operand.
    fn scalar_count(&mut self, dst: Operand, count: Role, a: Operand, wide: bool, limit: Option<i32>) {
        let low = self.dword(dst, 0);
        match limit {
            Some(limit) => {
                let raw = self.stemp(1);
                self.emit(count, &[raw, a]);
                self.emit(Role::SMinU32, &[low, raw, Operand::int(limit)]);
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
                    BinOp::Add => [Role::SAddU32, Role::SAddcU32],
                    _ => [Role::SSubU32, Role::SSubbU32],
                };
                self.emit(ops[0], &[lo, x[0], y[0]]);
                self.emit(ops[1], &[hi, x[1], y[1]]);
            }
            BinOp::Mul => self.scalar_mul64(dst, a, b),
            BinOp::UMul24 | BinOp::SMul24 => {
                let (x, y) = (self.scalar(a), self.scalar(b));
                let (s, t) = (self.stemp(1), self.stemp(1));
                // Bit offset 0, width 24.
                let field = Operand::int(24 << 16);
                let op = if bin == BinOp::UMul24 { Role::SBfeU32 } else { Role::SBfeI32 };
                self.emit(op, &[s, x, field]);
                self.emit(op, &[t, y, field]);
                self.emit(Role::SMulI32, &[dst, s, t]);
            }
            _ => self.unsupported("a scalar operation"),
        }
    }

    /// Returns a shift count: one dword, which the instruction reduces modulo the width.
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
        self.emit(Role::SMulHiU32, &[high, x[0], y[0]]);
        for (p, q) in [(x[0], y[1]), (x[1], y[0])] {
            if p == zero || q == zero {
                continue;
            }
            let (t, sum) = (self.stemp(1), self.stemp(1));
            self.emit(Role::SMulI32, &[t, p, q]);
            self.emit(Role::SAddU32, &[sum, high, t]);
            high = sum;
        }
        self.emit(Role::SMulI32, &[lo, x[0], y[0]]);
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
                        self.emit(Role::SAndB32, &[t, c, Operand::int(31)]);
                        t
                    }
                };
                let (pair, shifted) = (self.stemp(2), self.stemp(2));
                let (lo, hi) = (self.dword(pair, 0), self.dword(pair, 1));
                self.copy(lo, y);
                self.copy(hi, x);
                self.emit(Role::SShrB64, &[shifted, pair, count]);
                let low = self.dword(shifted, 0);
                self.copy(dst, low);
            }
            TernOp::Bfi => {
                let z = self.scalar(c);
                let (s, t) = (self.stemp(1), self.stemp(1));
                self.emit(Role::SAndB32, &[s, x, y]);
                self.emit(Role::SAndn2B32, &[t, z, x]);
                self.emit(Role::SOrB32, &[dst, s, t]);
            }
            TernOp::Ubfe | TernOp::Sbfe => {
                let field = self.bit_field(b, c);
                let op = if tern == TernOp::Ubfe { Role::SBfeU32 } else { Role::SBfeI32 };
                self.emit(op, &[dst, x, field]);
            }
            _ => self.unsupported("a scalar operation"),
        }
    }

    /// Returns the operand of `s_bfe`, which contains both offset (bits 4:0) and width (bits 22:16) of the
    /// bit field.
    fn bit_field(&mut self, offset: Value, width: Value) -> Operand {
        if let (Some(offset), Some(width)) = (self.const_u32(offset), self.const_u32(width)) {
            return Operand::int((offset & 31 | (width & 31) << 16) as i32);
        }
        let (o, w) = (self.scalar(offset), self.scalar(width));
        let [a, b, c, d] = [(); 4].map(|()| self.stemp(1));
        self.emit(Role::SAndB32, &[a, w, Operand::int(31)]);
        self.emit(Role::SShlB32, &[b, a, Operand::int(16)]);
        self.emit(Role::SAndB32, &[c, o, Operand::int(31)]);
        self.emit(Role::SOrB32, &[d, b, c]);
        d
    }
}
