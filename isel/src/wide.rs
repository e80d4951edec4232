//! 64-bit integer arithmetic on the vector unit, which works on the two 32-bit halves of a value. If users
//! request only the low half of a result, only the low half is computed.

use crate::lower::Lower;
use crate::roles::Role;
use ir::{BinOp, CastOp, Inst, Op, Type, UnOp, Value};
use isa::Operand;

/// The sum `base + (zext or sext)(index) * scale`, which one instruction (`v_mad_u64_u32` or `v_mad_i64_i32`)
/// computes.
struct Scaled {
    index: Value,
    scale: u32,
    signed: bool,
}

impl Lower<'_> {
    /// Lowers arithmetic on 64 bits, or from 64 to 32 bits.
    pub fn wide_op(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        let low_only = !self.wants_vgpr(result) && !self.wants_sgpr(result) && self.wants_low(result);
        match op {
            Op::Un(un) => self.wide_un(result, un, args[0]),
            Op::Bin(bin) if low_only => self.low_bin(result, bin, args[0], args[1]),
            Op::PtrAdd if low_only => self.low_bin(result, BinOp::Add, args[0], args[1]),
            Op::Bin(bin) => self.wide_bin(result, bin, args[0], args[1]),
            Op::PtrAdd => self.wide_bin(result, BinOp::Add, args[0], args[1]),
            Op::PtrAddZ => {
                let (dst, p, off) = (self.vgpr_of(result), self.halves(args[0]), self.source(args[1]));
                self.add64(dst, p, [off, Operand::int(0)]);
            }
            _ => self.unsupported("a 64-bit vector operation"),
        }
    }

    /// Emits `dst = a + b`.
    pub fn add64(&mut self, dst: Operand, a: [Operand; 2], b: [Operand; 2]) {
        let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
        let (carry, last) = (self.mask_temp(), self.mask_temp());
        self.emit(Role::VAddCarryOut, &[lo, carry, a[0], b[0]]);
        self.emit(Role::VAddCarryInOut, &[hi, last, a[1], b[1], carry]);
    }

    fn sub64(&mut self, dst: Operand, a: [Operand; 2], b: [Operand; 2]) {
        let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
        let (carry, last) = (self.mask_temp(), self.mask_temp());
        self.emit(Role::VSubCarryOut, &[lo, carry, a[0], b[0]]);
        self.emit(Role::VSubCarryInOut, &[hi, last, a[1], b[1], carry]);
    }

    fn wide_un(&mut self, result: Value, un: UnOp, arg: Value) {
        let whole = self.ty(result).bits() == 64;
        let a = self.halves(arg);
        let dst = self.vgpr_of(result);
        let lo = self.dword(dst, 0);
        match un {
            UnOp::Not => {
                let hi = self.dword(dst, 1);
                self.emit(Role::VNotB32, &[lo, a[0]]);
                self.emit(Role::VNotB32, &[hi, a[1]]);
                return;
            }
            UnOp::Neg => return self.sub64(dst, [Operand::int(0); 2], a),
            UnOp::ReverseBits => {
                let hi = self.dword(dst, 1);
                self.emit(Role::VBfrevB32, &[lo, a[1]]);
                self.emit(Role::VBfrevB32, &[hi, a[0]]);
                return;
            }
            UnOp::Popcount => {
                let t = self.vtemp(1);
                self.emit(Role::VBcntU32B32, &[t, a[0], Operand::int(0)]);
                self.emit(Role::VBcntU32B32, &[lo, a[1], t]);
            }
            UnOp::Clz => self.find64(lo, Role::VFfbhU32, a[1], a[0]),
            UnOp::Ctz => self.find64(lo, Role::VFfblB32, a[0], a[1]),
            _ => return self.unsupported("a 64-bit vector operation"),
        }
        if whole {
            let hi = self.dword(dst, 1);
            self.copy(hi, Operand::int(0));
        }
    }

    /// Emits a search for the first set bit of a 64-bit value. `near` is the half that is searched first. If
    /// `near` is zero, the result is 32 plus the position in `far`. The instruction `find` returns -1 if its
    /// operand is zero.
    fn find64(&mut self, dst: Operand, find: Role, near: Operand, far: Operand) {
        let [a, b, c, d] = [(); 4].map(|()| self.vtemp(1));
        self.emit(find, &[a, far]);
        self.emit(Role::VMinU32, &[b, a, Operand::int(32)]);
        self.emit(Role::VAddU32, &[c, b, Operand::int(32)]);
        self.emit(find, &[d, near]);
        self.emit(Role::VMinU32, &[dst, d, c]);
    }

    /// Emits a 64-bit operation of which users request only the low half of the result.
    fn low_bin(&mut self, result: Value, bin: BinOp, a: Value, b: Value) {
        let narrow = match bin {
            BinOp::Add => Role::VAddU32,
            BinOp::Sub => Role::VSubU32,
            BinOp::Mul => Role::VMulLoU32,
            BinOp::And => Role::VAndB32,
            BinOp::Or => Role::VOrB32,
            BinOp::Xor => Role::VXorB32,
            BinOp::Shl if self.const_bits(b).is_some_and(|n| n & 63 < 32) => Role::VShlB32,
            _ => {
                self.wide_bin(result, bin, a, b);
                return;
            }
        };
        let dst = self.low_of(result);
        let x = self.low_source(a);
        if bin == BinOp::Shl {
            let count = self.shift_count(b);
            return self.emit(narrow, &[dst, count, x]);
        }
        let y = self.low_source(b);
        self.emit(narrow, &[dst, x, y]);
    }

    fn wide_bin(&mut self, result: Value, bin: BinOp, a: Value, b: Value) {
        let dst = self.vgpr_of(result);
        match bin {
            BinOp::Add => {
                if self.scaled_add(dst, a, b) || self.scaled_add(dst, b, a) {
                    return;
                }
                let (x, y) = (self.halves(a), self.halves(b));
                self.add64(dst, x, y);
            }
            BinOp::Sub => {
                let (x, y) = (self.halves(a), self.halves(b));
                self.sub64(dst, x, y);
            }
            BinOp::Mul => self.mul64(dst, a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => self.bitwise64(dst, bin, a, b),
            BinOp::Shl | BinOp::LShr | BinOp::AShr => self.shift64(dst, bin, a, b),
            BinOp::UMin => self.choose64(dst, Role::VCmpLtU64, a, b),
            BinOp::UMax => self.choose64(dst, Role::VCmpGtU64, a, b),
            BinOp::SMin => self.choose64(dst, Role::VCmpLtI64, a, b),
            BinOp::SMax => self.choose64(dst, Role::VCmpGtI64, a, b),
            _ => self.unsupported("a 64-bit vector operation"),
        }
    }

    fn choose64(&mut self, dst: Operand, compare: Role, a: Value, b: Value) {
        let (x, y, mask) = (self.source(a), self.source(b), self.mask_temp());
        self.emit(compare, &[mask, x, y]);
        let (p, q) = (self.halves(a), self.halves(b));
        for n in 0..2 {
            let to = self.dword(dst, n as u8);
            self.emit(Role::VCndmaskB32, &[to, q[n], p[n], mask]);
        }
    }

    /// Emits the sum `base + offset` as a single multiply-add. This is possible if `offset` is a 32-bit index
    /// times a constant. Returns whether it was.
    fn scaled_add(&mut self, dst: Operand, base: Value, offset: Value) -> bool {
        let Some(scaled) = self.scaled(offset) else { return false };
        let (index, base) = (self.source(scaled.index), self.source(base));
        let scale = Operand::int(scaled.scale as i32);
        let op = if scaled.signed { Role::VMadI64I32 } else { Role::VMadU64U32 };
        let carry = self.mask_temp();
        self.emit(op, &[dst, carry, index, scale, base]);
        true
    }

    /// If `offset` is the product of a 32-bit index and a constant, returns the index and the constant.
    fn scaled(&self, offset: Value) -> Option<Scaled> {
        let inst = self.func.def_inst(offset)?;
        let args = self.func.args(inst);
        match self.func.insts[inst].op {
            Op::Cast(_) => self.extended(offset, 1),
            Op::Bin(BinOp::Shl) => {
                let count = self.const_bits(args[1])? & 63;
                if count < 31 { self.extended(args[0], 1 << count) } else { None }
            }
            Op::Bin(BinOp::Mul) => {
                let scale = self.const_bits(args[1])?;
                if scale < 1 << 31 { self.extended(args[0], scale as u32) } else { None }
            }
            _ => None,
        }
    }

    fn extended(&self, value: Value, scale: u32) -> Option<Scaled> {
        let inst = self.func.def_inst(value)?;
        let index = *self.func.args(inst).first()?;
        let signed = match self.func.insts[inst].op {
            Op::Cast(CastOp::Zext) => false,
            Op::Cast(CastOp::Sext) => true,
            _ => return None,
        };
        (self.ty(index) == Type::I32).then_some(Scaled { index, scale, signed })
    }

    fn mul64(&mut self, dst: Operand, a: Value, b: Value) {
        let (x, y) = (self.halves(a), self.halves(b));
        let zero = Operand::int(0);
        let carry = self.mask_temp();
        if x[1] == zero && y[1] == zero {
            return self.emit(Role::VMadU64U32, &[dst, carry, x[0], y[0], zero]);
        }
        let product = self.vtemp(2);
        self.emit(Role::VMadU64U32, &[product, carry, x[0], y[0], zero]);
        let mut high = self.dword(product, 1);
        for (p, q) in [(x[0], y[1]), (x[1], y[0])] {
            if p == zero || q == zero {
                continue;
            }
            let (t, sum) = (self.vtemp(1), self.vtemp(1));
            self.emit(Role::VMulLoU32, &[t, p, q]);
            self.emit(Role::VAddU32, &[sum, high, t]);
            high = sum;
        }
        let (lo, hi, low) = (self.dword(dst, 0), self.dword(dst, 1), self.dword(product, 0));
        self.copy(lo, low);
        self.copy(hi, high);
    }

    fn bitwise64(&mut self, dst: Operand, bin: BinOp, a: Value, b: Value) {
        let op = match bin {
            BinOp::And => Role::VAndB32,
            BinOp::Or => Role::VOrB32,
            _ => Role::VXorB32,
        };
        let (x, y) = (self.halves(a), self.halves(b));
        for n in 0..2 {
            let to = self.dword(dst, n as u8);
            let (p, q) = (x[n], y[n]);
            let zero = Operand::int(0);
            let ones = Operand::int(-1);
            if bin == BinOp::And && (p == zero || q == zero) {
                self.copy(to, zero);
            } else if bin == BinOp::And && q == ones || bin != BinOp::And && q == zero {
                self.copy(to, p);
            } else if bin == BinOp::And && p == ones || bin != BinOp::And && p == zero {
                self.copy(to, q);
            } else {
                self.emit(op, &[to, p, q]);
            }
        }
    }

    fn shift64(&mut self, dst: Operand, bin: BinOp, a: Value, count: Value) {
        let (lo, hi) = (self.dword(dst, 0), self.dword(dst, 1));
        if let Some(n) = self.const_bits(count).map(|n| (n & 63) as i32)
            && n >= 32
        {
            let x = self.halves(a);
            let n = Operand::int(n - 32);
            return match bin {
                BinOp::Shl => {
                    self.emit(Role::VShlB32, &[hi, n, x[0]]);
                    self.copy(lo, Operand::int(0));
                }
                BinOp::LShr => {
                    self.emit(Role::VShrB32, &[lo, n, x[1]]);
                    self.copy(hi, Operand::int(0));
                }
                _ => {
                    self.emit(Role::VAshrI32, &[lo, n, x[1]]);
                    self.emit(Role::VAshrI32, &[hi, Operand::int(31), x[1]]);
                }
            };
        }
        let op = match bin {
            BinOp::Shl => Role::VShlB64,
            BinOp::LShr => Role::VShrB64,
            _ => Role::VAshrI64,
        };
        let (x, n) = (self.source(a), self.shift_count(count));
        self.emit(op, &[dst, n, x]);
    }
}
