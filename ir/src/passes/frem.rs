//! Expands floating-point remainders into a loop. `x % y` is exact, like C's `fmod`.
//!
//! # Method
//! Long division with digits of many bits. Each digit is estimated with a reciprocal, and the new remainder
//! is computed exactly with a fused multiply-add (after J.-M. Muller et al., "Handbook of Floating-Point
//! Arithmetic", 2nd ed., 2018, section 4.9.2, and K. Okhotnikov's `fmod` by blocks of bits, 2022). Let |x| =
//! mx * 2^ex and |y| = my * 2^ey, with mantissas in [0.5, 1) of p bits. The remainder is r * 2^ey, where r
//! starts as mx and each step processes k of the ex - ey bits:
//!
//! ```text
//! s = r * 2^k    q = round(s * (1 / my))    r = s - q * my    if r < 0 { r += my }
//! ```
//!
//! # Why it is exact
//! All these values are multiples of 2^-p (s because it is r shifted to the left). The estimate of the
//! quotient s / my < 2^(k+1) has an error of less than 2^(k+1) * 1.5 ulp, which is at most 3/8 for the k of
//! [`Format`]. The nearest integer q is therefore off by less than 7/8, and |s - q * my| < 1. A multiple of
//! 2^-p below 1 is representable, so the fused multiply-add does not round. At the end r is in [0, my), and
//! r * 2^ey is a multiple of the last place of x or y, including denormals.
//!
//! A divisor that is a constant power of two needs no loop because the quotient is exact.

use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc, ValueDef};
use crate::op::{BinOp, CastOp, FloatCc, IntCc, Op, TernOp, UnOp};
use crate::types::Type;

/// Properties of the two floating-point widths.
struct Format {
    ty: Type,
    /// Integer type of the same width.
    bits: Type,
    /// Bits of the quotient that each step computes.
    step: u64,
    one: u64,
    infinity: u64,
    nan: u64,
    sign: u64,
    /// Number of stored mantissa bits.
    fraction: u32,
    /// Exponent field of `1.0`.
    bias: u64,
}

const F32: Format = Format {
    ty: Type::F32,
    bits: Type::I32,
    step: 20,
    one: 0x3f80_0000,
    infinity: 0x7f80_0000,
    nan: 0x7fc0_0000,
    sign: 1 << 31,
    fraction: 23,
    bias: 127,
};

const F64: Format = Format {
    ty: Type::F64,
    bits: Type::I64,
    step: 48,
    one: 0x3ff0 << 48,
    infinity: 0x7ff0 << 48,
    nan: 0x7ff8 << 48,
    sign: 1 << 63,
    fraction: 52,
    bias: 1023,
};

/// Expands every floating-point remainder. Returns whether there was one.
pub fn run(func: &mut Function) -> bool {
    let is_rem = |func: &Function, inst: Inst| func.insts[inst].op == Op::Bin(BinOp::FRem);
    let has_rem = |b: &Block| func.blocks[*b].insts().iter().any(|&inst| is_rem(func, inst));
    if !func.layout.iter().any(has_rem) {
        return false;
    }
    func.tidy_track();
    let mut insts = Vec::new();
    for block in std::mem::take(&mut func.layout) {
        func.layout.push(block);
        let mut at = block;
        func.take_insts(block, &mut insts);
        for &inst in &insts {
            if is_rem(func, inst) && func.ty(func.insts[inst].first) == Type::F16 {
                at = by_single(func, at, inst);
            } else if is_rem(func, inst) {
                at = Writer::new(func, at, inst).expand(inst);
            } else {
                func.append(at, inst);
            }
        }
    }
    func.tidy_track();
    true
}

/// Expands a half-precision remainder with an `f32` remainder, which is also exact for halves.
fn by_single(func: &mut Function, block: Block, inst: Inst) -> Block {
    let (loc, args) = (func.insts[inst].loc, [func.args(inst)[0], func.args(inst)[1]]);
    let wide = args.map(|arg| func.push1(block, Op::Cast(CastOp::FExt), &[arg], Type::F32, loc));
    let rem = func.make_inst(block, Op::Bin(BinOp::FRem), &wide, Type::F32, 1, loc);
    let end = Writer::new(func, block, rem).expand(rem);
    let result = func.insts[rem].first;
    func.replace(inst, Op::Cast(CastOp::FTrunc), &[result]);
    func.append(end, inst);
    end
}

/// Appends instructions to a block.
struct Writer<'a> {
    func: &'a mut Function,
    block: Block,
    loc: SrcLoc,
    f: Format,
}

impl<'a> Writer<'a> {
    fn new(func: &'a mut Function, block: Block, inst: Inst) -> Self {
        let loc = func.insts[inst].loc;
        let f = if func.ty(func.insts[inst].first) == Type::F32 { F32 } else { F64 };
        Writer { func, block, loc, f }
    }

    fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.push1(self.block, op, args, ty, self.loc)
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(Op::Bin(op), &[a, b], ty)
    }

    fn un(&mut self, op: UnOp, a: Value) -> Value {
        self.op(Op::Un(op), &[a], self.f.ty)
    }

    fn float(&mut self, bits: u64) -> Value {
        self.op(Op::Const(bits), &[], self.f.ty)
    }

    fn compare(&mut self, cc: FloatCc, a: Value, b: Value) -> Value {
        self.op(Op::Fcmp(cc), &[a, b], Type::Bool)
    }

    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.op(Op::Select, &[cond, a, b], self.f.ty)
    }

    /// Emits `s - q * y`, rounded once.
    fn less(&mut self, s: Value, q: Value, y: Value) -> Value {
        let minus = self.un(UnOp::FNeg, q);
        self.op(Op::Tern(TernOp::Fma), &[minus, y, s], self.f.ty)
    }

    /// Expands `inst` and returns the block in which the code after `inst` continues. The result is still the
    /// same value.
    fn expand(mut self, inst: Inst) -> Block {
        let [x, y] = [self.func.args(inst)[0], self.func.args(inst)[1]];
        if let Some(exponent) = self.power_of_two(y) {
            self.by_power_of_two(inst, x, y, exponent);
            return self.block;
        }
        let [setup, body, done, rest] = [(); 4].map(|()| self.func.add_block());
        let (ax, ay) = (self.un(UnOp::FAbs, x), self.un(UnOp::FAbs, y));
        let early = self.without_division(x, y, ax, ay);
        let divides = self.divides(ax, ay);
        let branch = Op::Br { then: setup, otherwise: rest, then_args: 0 };
        self.func.push(self.block, branch, &[divides, early], self.loc);

        self.block = setup;
        let (mx, my) = (self.un(UnOp::FrexpMant, ax), self.un(UnOp::FrexpMant, ay));
        let [ex, ey] = [ax, ay].map(|v| self.op(Op::Un(UnOp::FrexpExp), &[v], Type::I32));
        let distance = self.bin(BinOp::Sub, ex, ey);
        let inverse = self.reciprocal(my);
        self.func.push(setup, Op::Jump(body), &[mx, distance], self.loc);

        self.block = body;
        let r = self.step(body, done, my, inverse);

        self.block = done;
        let size = self.bin(BinOp::Ldexp, r, ey);
        let bits = self.with_sign_of(size, x);
        let result = self.op(Op::Cast(CastOp::Bitcast), &[bits], self.f.ty);
        self.func.push(done, Op::Jump(rest), &[result], self.loc);

        let value = self.func.insts[inst].first;
        self.func.values[value].def = ValueDef::Param(rest, 0);
        self.func.blocks[rest].params.push(value, &mut self.func.pool);
        self.func.insts[inst].results = 0;
        self.func.discard(inst);
        rest
    }

    /// Emits the loop body, which computes one digit per iteration. Returns the remainder, which is used in
    /// block `done`.
    fn step(&mut self, body: Block, done: Block, my: Value, inverse: Value) -> Value {
        let r = self.func.add_param(body, self.f.ty);
        let left = self.func.add_param(body, Type::I32);
        let most = self.op(Op::Const(self.f.step), &[], Type::I32);
        let k = self.bin(BinOp::SMin, left, most);
        let s = self.bin(BinOp::Ldexp, r, k);
        let q = self.bin(BinOp::FMul, s, inverse);
        let q = self.un(UnOp::FRound, q);
        let near = self.less(s, q, my);
        let above = self.bin(BinOp::FAdd, near, my);
        let zero = self.float(0);
        let below = self.compare(FloatCc::Olt, near, zero);
        let next = self.select(below, above, near);
        let left = self.bin(BinOp::Sub, left, k);
        let none = self.op(Op::Const(0), &[], Type::I32);
        let more = self.op(Op::Icmp(IntCc::Sgt), &[left, none], Type::Bool);
        let branch = Op::Br { then: body, otherwise: done, then_args: 2 };
        self.func.push(body, branch, &[more, next, left], self.loc);
        next
    }

    /// Emits the test whether a division is needed: |x| >= |y|, x is finite, y is not 0, and neither is NaN.
    fn divides(&mut self, ax: Value, ay: Value) -> Value {
        let (zero, infinity) = (self.float(0), self.float(self.f.infinity));
        let reaches = self.compare(FloatCc::Oge, ax, ay);
        let finite = self.compare(FloatCc::Olt, ax, infinity);
        let divisor = self.compare(FloatCc::Ogt, ay, zero);
        let both = self.bin(BinOp::And, reaches, finite);
        self.bin(BinOp::And, both, divisor)
    }

    /// Emits the result for the case that no division is needed: x if |x| < |y|, otherwise NaN.
    fn without_division(&mut self, x: Value, y: Value, ax: Value, ay: Value) -> Value {
        let sum = self.bin(BinOp::FAdd, x, y);
        let unordered = self.compare(FloatCc::Uno, x, y);
        let nan = self.float(self.f.nan);
        let nan = self.select(unordered, sum, nan);
        let smaller = self.compare(FloatCc::Olt, ax, ay);
        self.select(smaller, x, nan)
    }

    /// Emits 1 / m with an error of at most one unit in the last place. `v_rcp_f64` is not accurate enough.
    fn reciprocal(&mut self, m: Value) -> Value {
        if self.f.ty == Type::F32 {
            return self.un(UnOp::NativeRcp, m);
        }
        let one = self.float(self.f.one);
        self.bin(BinOp::FDiv, one, m)
    }

    /// Emits the bits of a non-negative number with the sign of `x`.
    fn with_sign_of(&mut self, size: Value, x: Value) -> Value {
        let [size, x] = [size, x].map(|v| self.op(Op::Cast(CastOp::Bitcast), &[v], self.f.bits));
        let sign = self.op(Op::Const(self.f.sign), &[], self.f.bits);
        let sign = self.bin(BinOp::And, x, sign);
        self.bin(BinOp::Or, size, sign)
    }

    /// Returns n if `y` is a constant ±2^n and |y| >= 1.
    fn power_of_two(&self, y: Value) -> Option<u64> {
        let bits = self.func.const_bits(y)? & !self.f.sign;
        let exponent = bits >> self.f.fraction;
        let is_power = exponent << self.f.fraction == bits && bits < self.f.infinity;
        exponent.checked_sub(self.f.bias).filter(|_| is_power)
    }

    /// Emits `x - trunc(x / 2^n) * 2^n`. The quotient is exact unless it is so small that it truncates to
    /// zero anyway.
    fn by_power_of_two(&mut self, inst: Inst, x: Value, y: Value, exponent: u64) {
        let scale = self.op(Op::Const(u64::from((exponent as u32).wrapping_neg())), &[], Type::I32);
        let quotient = self.bin(BinOp::Ldexp, x, scale);
        let q = self.un(UnOp::FTrunc, quotient);
        let size = self.un(UnOp::FAbs, y);
        let r = self.less(x, q, size);
        let size = self.un(UnOp::FAbs, r);
        let bits = self.with_sign_of(size, x);
        self.func.replace(inst, Op::Cast(CastOp::Bitcast), &[bits]);
        self.func.append(self.block, inst);
    }
}
