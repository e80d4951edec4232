//! Replaces operations that no instruction computes by several operations of the IR: integer division and
//! remainder, high 64 bits of products, and conversions between 64-bit integers and floats. Global ids and
//! group counts are replaced, too, because they need a multiplication or division. Because the expansion is
//! in the IR, uniformity analysis and selection see the individual steps.

use crate::class::reqd;
use crate::half;
use crate::roles::{Role, Roles};
use ir::{BinOp, Block, CastOp, Function, Inst, IntCc, Op, Pos, SrcLoc, TernOp, Type, UnOp, Value};
use isa::LaunchSizes;

/// Expands every such operation of the function. `sizes` says where the sizes of the launch are.
pub(crate) fn run(func: &mut Function, roles: &Roles, sizes: LaunchSizes) {
    let mut old = Vec::new();
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        if !func.blocks[block].insts().iter().any(|&inst| needs(func, inst, roles, sizes)) {
            continue;
        }
        func.take_insts(block, &mut old);
        for &inst in &old {
            if needs(func, inst, roles, sizes) {
                let loc = func.insts[inst].loc;
                Expander { func, block, loc }.expand(inst);
            } else {
                func.append(block, inst);
            }
        }
    }
}

fn needs(func: &Function, inst: Inst, roles: &Roles, sizes: LaunchSizes) -> bool {
    let are_counted = sizes == LaunchSizes::GroupCounts && reqd(func).is_some();
    let data = &func.insts[inst];
    let wide = |n: usize| func.args(inst).get(n).is_some_and(|&arg| func.ty(arg) == Type::I64);
    match data.op {
        Op::Bin(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) => true,
        Op::Bin(BinOp::UMulHi | BinOp::SMulHi) => wide(0),
        Op::Cast(CastOp::SToF | CastOp::UToF) if wide(0) => true,
        Op::Cast(CastOp::FToS | CastOp::FToU) if func.ty(data.first) == Type::I64 => true,
        Op::Pos(Pos::NumGroups(_)) => !are_counted,
        Op::Pos(Pos::GlobalSize(_)) => are_counted,
        Op::Pos(Pos::GlobalId(_)) => reqd(func).is_none(),
        Op::Tern(TernOp::Perm) => roles.opcode(Role::VPermB32).is_none(),
        Op::Tern(op) if let Some(role) = half::parts(op) => roles.opcode(role).is_none(),
        _ => half::needs(func, inst, roles),
    }
}

pub(crate) struct Expander<'a> {
    pub func: &'a mut Function,
    block: Block,
    loc: SrcLoc,
}

/// 2^32, used as an f64 and as an f32.
const TWO_32: f64 = 4_294_967_296.0;

impl Expander<'_> {
    pub fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.push1(self.block, op, args, ty, self.loc)
    }

    pub fn int(&mut self, value: i64, ty: Type) -> Value {
        let bits = if ty.bits() == 64 { value as u64 } else { u64::from(value as u32) };
        self.op(Op::Const(bits), &[], ty)
    }

    pub fn float(&mut self, value: f64, ty: Type) -> Value {
        let bits = if ty == Type::F64 { value.to_bits() } else { u64::from((value as f32).to_bits()) };
        self.op(Op::Const(bits), &[], ty)
    }

    pub fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(Op::Bin(op), &[a, b], ty)
    }

    pub fn un(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(Op::Un(op), &[a], ty)
    }

    pub fn cast(&mut self, op: CastOp, a: Value, ty: Type) -> Value {
        self.op(Op::Cast(op), &[a], ty)
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(Op::Tern(TernOp::Fma), &[a, b, c], ty)
    }

    fn compare(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.op(Op::Icmp(cc), &[a, b], Type::Bool)
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(Op::Select, &[cond, a, b], ty)
    }

    fn low(&mut self, a: Value) -> Value {
        self.cast(CastOp::Trunc, a, Type::I32)
    }

    fn high(&mut self, a: Value) -> Value {
        let count = self.int(32, Type::I64);
        let shifted = self.bin(BinOp::LShr, a, count);
        self.low(shifted)
    }

    fn join(&mut self, low: Value, high: Value) -> Value {
        let (low, high) = (self.cast(CastOp::Zext, low, Type::I64), self.cast(CastOp::Zext, high, Type::I64));
        let count = self.int(32, Type::I64);
        let shifted = self.bin(BinOp::Shl, high, count);
        self.bin(BinOp::Or, low, shifted)
    }

    /// Replaces the instruction by its expansion. The instruction itself becomes the last step of the
    /// expansion, so that it keeps its result value.
    fn expand(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let (op, ty) = (data.op, self.func.ty(data.first));
        let args = self.func.args(inst).to_vec();
        let half = ty == Type::F16 || args.first().is_some_and(|&arg| self.func.ty(arg) == Type::F16);
        let (op, args) = if half { self.half(op, &args, ty) } else { self.last_step(op, args, ty) };
        self.func.insts[inst].op = op;
        self.func.insts[inst].args.clear(&mut self.func.pool);
        self.func.insts[inst].args.extend(args, &mut self.func.pool);
        self.func.append(self.block, inst);
    }

    /// Emits all steps of an operation's expansion but the last. Returns the last step as an operation with
    /// its operands, which the caller emits.
    pub fn last_step(&mut self, op: Op, args: Vec<Value>, ty: Type) -> (Op, Vec<Value>) {
        let wide = |n: usize| args.get(n).is_some_and(|&arg| self.func.ty(arg) == Type::I64);
        match op {
            Op::Pos(Pos::NumGroups(d)) => self.num_groups(d),
            Op::Pos(Pos::GlobalSize(d)) => self.global_size(d),
            Op::Pos(Pos::GlobalId(d)) => self.global_id(d),
            Op::Bin(bin @ (BinOp::UMulHi | BinOp::SMulHi)) => self.mul_high(bin, args[0], args[1]),
            Op::Bin(bin @ (BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)) => {
                self.divide(bin, args[0], args[1])
            }
            Op::Cast(cast @ (CastOp::SToF | CastOp::UToF)) if wide(0) => {
                self.wide_to_float(cast, args[0], ty)
            }
            Op::Cast(cast @ (CastOp::FToS | CastOp::FToU)) if ty == Type::I64 => {
                self.float_to_wide(cast, args[0])
            }
            Op::Tern(TernOp::Perm) => self.permute([args[0], args[1], args[2]]),
            Op::Tern(tern) if let Some((bits, signed)) = tern.of_parts() => {
                self.sum_of_products(bits, signed, [args[0], args[1], args[2]])
            }
            _ => (op, args),
        }
    }

    /// Expands `global_size` where only the numbers of work-groups are in memory.
    fn global_size(&mut self, d: u8) -> (Op, Vec<Value>) {
        let groups = self.op(Op::Pos(Pos::NumGroups(d)), &[], Type::I32);
        let size = self.op(Op::Pos(Pos::LocalSize(d)), &[], Type::I32);
        (Op::Bin(BinOp::Mul), vec![groups, size])
    }

    fn sum_of_products(&mut self, bits: u32, signed: bool, [a, b, c]: [Value; 3]) -> (Op, Vec<Value>) {
        let op = Op::Tern(if signed { TernOp::Sbfe } else { TernOp::Ubfe });
        let width = self.int(bits.into(), Type::I32);
        let (mut sum, mut product) = (c, None);
        for at in (0..32).step_by(bits as usize) {
            if let Some(product) = product {
                sum = self.bin(BinOp::Add, sum, product);
            }
            let at = self.int(at, Type::I32);
            let [x, y] = [a, b].map(|word| self.op(op, &[word, at, width], Type::I32));
            product = Some(self.bin(BinOp::Mul, x, y));
        }
        (Op::Bin(BinOp::Add), vec![sum, product.unwrap_or(c)])
    }

    /// Expands a byte permutation byte by byte.
    fn permute(&mut self, [a, b, c]: [Value; 3]) -> (Op, Vec<Value>) {
        let mut parts = [c; 4];
        for (n, part) in (0..).zip(&mut parts) {
            let by = self.int(8 * n, Type::I32);
            let byte = match self.func.const_bits(c) {
                Some(bits) => self.known_byte(a, b, bits >> (8 * n) & 0xff),
                None => self.chosen_byte(a, b, c, 8 * n),
            };
            *part = self.bin(BinOp::Shl, byte, by);
        }
        let low = self.bin(BinOp::Or, parts[0], parts[1]);
        let high = self.bin(BinOp::Or, parts[2], parts[3]);
        (Op::Bin(BinOp::Or), vec![low, high])
    }

    /// Returns the byte that a constant selector chooses.
    fn known_byte(&mut self, a: Value, b: Value, selector: u64) -> Value {
        let (op, word, at, width) = match selector {
            0..=7 => (TernOp::Ubfe, if selector < 4 { b } else { a }, selector % 4 * 8, 8),
            8..=11 => (TernOp::Sbfe, if selector < 10 { b } else { a }, (selector % 2) * 16 + 15, 1),
            _ => return self.int(if selector == 12 { 0 } else { 0xff }, Type::I32),
        };
        let [at, width] = [at, width].map(|n| self.int(n as i64, Type::I32));
        let field = self.op(Op::Tern(op), &[word, at, width], Type::I32);
        let mask = self.int(0xff, Type::I32);
        self.bin(BinOp::And, field, mask)
    }

    /// Computes one byte of a byte permutation (`v_perm_b32`) whose selectors are not constant. The selector
    /// of 8 bits that begins at bit `at` of `c` chooses what the result is: a byte of `a` or `b`, the sign of
    /// a 16-bit half in all bits, 0 or 0xff.
    fn chosen_byte(&mut self, a: Value, b: Value, c: Value, at: i64) -> Value {
        let [at, width, three, one] = [at, 8, 3, 1].map(|n| self.int(n, Type::I32));
        let selector = self.op(Op::Tern(TernOp::Ubfe), &[c, at, width], Type::I32);
        let from = |e: &mut Self, limit: i64| {
            let limit = e.int(limit, Type::I32);
            let below = e.compare(IntCc::Ult, selector, limit);
            e.select(below, b, a)
        };
        // Selectors 0 to 3 choose a byte of `b`, and 4 to 7 a byte of `a`. The bit offset of the byte is the
        // selector times 8, which the extraction takes modulo 32.
        let word = from(self, 4);
        let count = self.bin(BinOp::Shl, selector, three);
        let byte = self.op(Op::Tern(TernOp::Ubfe), &[word, count, width], Type::I32);
        // Selectors 8 to 11 choose the sign of a 16-bit half.
        let word = from(self, 10);
        let sixteen_times = self.int(4, Type::I32);
        let place = self.bin(BinOp::Shl, selector, sixteen_times);
        let fifteen = self.int(15, Type::I32);
        let place = self.bin(BinOp::Or, place, fifteen);
        let sign = self.op(Op::Tern(TernOp::Sbfe), &[word, place, one], Type::I32);
        let [ones, zero, eight, twelve] = [0xff, 0, 8, 12].map(|n| self.int(n, Type::I32));
        let sign = self.bin(BinOp::And, sign, ones);
        let is_zero = self.compare(IntCc::Eq, selector, twelve);
        let known = self.select(is_zero, zero, ones);
        let is_sign = self.compare(IntCc::Ult, selector, twelve);
        let other = self.select(is_sign, sign, known);
        let is_byte = self.compare(IntCc::Ult, selector, eight);
        self.select(is_byte, byte, other)
    }

    fn position(&mut self, pos: Pos) -> Value {
        self.op(Op::Pos(pos), &[], Type::I32)
    }

    fn num_groups(&mut self, d: u8) -> (Op, Vec<Value>) {
        let (grid, size) = (self.position(Pos::GlobalSize(d)), self.position(Pos::LocalSize(d)));
        let one = self.int(1, Type::I32);
        let less = self.bin(BinOp::Sub, grid, one);
        let quotient = match reqd(self.func).map(|s| s[usize::from(d).min(2)]) {
            Some(n) if n.is_power_of_two() => {
                let count = self.int(i64::from(n.trailing_zeros()), Type::I32);
                self.bin(BinOp::LShr, less, count)
            }
            _ => self.udiv32(less, size).0,
        };
        (Op::Bin(BinOp::Add), vec![quotient, one])
    }

    fn global_id(&mut self, d: u8) -> (Op, Vec<Value>) {
        let (group, size) = (self.position(Pos::GroupId(d)), self.position(Pos::LocalSize(d)));
        let local = self.position(Pos::LocalId(d));
        let base = self.bin(BinOp::Mul, group, size);
        (Op::Bin(BinOp::Add), vec![base, local])
    }

    /// Computes the high 64 bits of a product from four 32-bit products.
    fn mul_high(&mut self, bin: BinOp, a: Value, b: Value) -> (Op, Vec<Value>) {
        let high = self.umul_high64(a, b);
        let zero = self.int(0, Type::I64);
        if bin == BinOp::UMulHi {
            return (Op::Bin(BinOp::Add), vec![high, zero]);
        }
        // The factors are multiplied as unsigned numbers. This makes a negative factor 2^64 too large, so the
        // high half of the product is too large by the other factor. The other factor is therefore
        // subtracted.
        let sixty_three = self.int(63, Type::I64);
        let (sa, sb) = (self.bin(BinOp::AShr, a, sixty_three), self.bin(BinOp::AShr, b, sixty_three));
        let (x, y) = (self.bin(BinOp::And, sa, b), self.bin(BinOp::And, sb, a));
        let less = self.bin(BinOp::Sub, high, x);
        (Op::Bin(BinOp::Sub), vec![less, y])
    }

    fn umul_high64(&mut self, a: Value, b: Value) -> Value {
        let mut part = [a; 4];
        for (n, &value) in [a, b].iter().enumerate() {
            let (low, high) = (self.low(value), self.high(value));
            part[2 * n] = self.cast(CastOp::Zext, low, Type::I64);
            part[2 * n + 1] = self.cast(CastOp::Zext, high, Type::I64);
        }
        let [a0, a1, b0, b1] = part;
        let count = self.int(32, Type::I64);
        let p00 = self.bin(BinOp::Mul, a0, b0);
        let p01 = self.bin(BinOp::Mul, a0, b1);
        let p10 = self.bin(BinOp::Mul, a1, b0);
        let p11 = self.bin(BinOp::Mul, a1, b1);
        // Neither sum can overflow 64 bits.
        let carry = self.bin(BinOp::LShr, p00, count);
        let middle = self.bin(BinOp::Add, p10, carry);
        let (low, high) = (self.low(middle), self.bin(BinOp::LShr, middle, count));
        let low = self.cast(CastOp::Zext, low, Type::I64);
        let cross = self.bin(BinOp::Add, p01, low);
        let cross = self.bin(BinOp::LShr, cross, count);
        let sum = self.bin(BinOp::Add, p11, high);
        self.bin(BinOp::Add, sum, cross)
    }

    fn divide(&mut self, bin: BinOp, a: Value, b: Value) -> (Op, Vec<Value>) {
        let ty = self.func.ty(a);
        let signed = matches!(bin, BinOp::SDiv | BinOp::SRem);
        let remainder = matches!(bin, BinOp::URem | BinOp::SRem);
        let (mut x, mut y) = (a, b);
        let mut sign = None;
        if signed {
            let top = self.int(i64::from(ty.bits()) - 1, ty);
            let (sa, sb) = (self.bin(BinOp::AShr, a, top), self.bin(BinOp::AShr, b, top));
            x = self.magnitude(a, sa);
            y = self.magnitude(b, sb);
            sign = Some(if remainder { sa } else { self.bin(BinOp::Xor, sa, sb) });
        }
        let (quotient, rest) = if ty == Type::I64 { self.udiv64(x, y) } else { self.udiv32(x, y) };
        let result = if remainder { rest } else { quotient };
        match sign {
            // (r ^ s) - s is -r for s = -1, and r for s = 0.
            Some(sign) => {
                let flipped = self.bin(BinOp::Xor, result, sign);
                (Op::Bin(BinOp::Sub), vec![flipped, sign])
            }
            None => {
                let zero = self.int(0, ty);
                (Op::Bin(BinOp::Add), vec![result, zero])
            }
        }
    }

    fn magnitude(&mut self, a: Value, sign: Value) -> Value {
        let sum = self.bin(BinOp::Add, a, sign);
        self.bin(BinOp::Xor, sum, sign)
    }

    /// Computes quotient and remainder of 32-bit unsigned numbers. The reciprocal of the divisor comes from
    /// the float unit. It is scaled slightly too low, so that it never exceeds 2^32 / y. One Newton step
    /// refines it. The quotient is then at most 2 too small, which the last steps correct.
    fn udiv32(&mut self, x: Value, y: Value) -> (Value, Value) {
        let float = self.cast(CastOp::UToF, y, Type::F32);
        let reciprocal = self.un(UnOp::NativeRcp, float);
        let scale = self.op(Op::Const(0x4f7f_fffe), &[], Type::F32); // 2^32 - 512
        let scaled = self.bin(BinOp::FMul, reciprocal, scale);
        let z0 = self.cast(CastOp::FToU, scaled, Type::I32);
        let minus = self.un(UnOp::Neg, y);
        let error = self.bin(BinOp::Mul, minus, z0);
        let correction = self.bin(BinOp::UMulHi, z0, error);
        let z = self.bin(BinOp::Add, z0, correction);
        let quotient = self.bin(BinOp::UMulHi, x, z);
        let product = self.bin(BinOp::Mul, quotient, y);
        let rest = self.bin(BinOp::Sub, x, product);
        let (q, r) = self.correct(quotient, rest, y);
        self.correct(q, r, y)
    }

    /// Corrects a quotient that is too small: if the remainder is not less than the divisor, adds one to the
    /// quotient and subtracts the divisor from the remainder.
    fn correct(&mut self, quotient: Value, rest: Value, y: Value) -> (Value, Value) {
        let ty = self.func.ty(y);
        let one = self.int(1, ty);
        let (more, less) = (self.bin(BinOp::Add, quotient, one), self.bin(BinOp::Sub, rest, y));
        let over = self.compare(IntCc::Uge, rest, y);
        (self.select(over, more, quotient), self.select(over, less, rest))
    }

    /// Computes quotient and remainder of 64-bit unsigned numbers like [`Expander::udiv32`], with two Newton
    /// steps.
    fn udiv64(&mut self, x: Value, y: Value) -> (Value, Value) {
        let (y0, y1) = (self.low(y), self.high(y));
        let (f0, f1) = (self.cast(CastOp::UToF, y0, Type::F32), self.cast(CastOp::UToF, y1, Type::F32));
        let up = self.float(TWO_32, Type::F32);
        let float = self.fma(f1, up, f0);
        let reciprocal = self.un(UnOp::NativeRcp, float);
        let scale = self.op(Op::Const(0x5f7f_fffc), &[], Type::F32); // 2^64 less a little
        let scaled = self.bin(BinOp::FMul, reciprocal, scale);
        let down = self.float(1.0 / TWO_32, Type::F32);
        let top = self.bin(BinOp::FMul, scaled, down);
        let top = self.un(UnOp::FTrunc, top);
        let minus_up = self.float(-TWO_32, Type::F32);
        let bottom = self.fma(top, minus_up, scaled);
        let (z0, z1) = (self.cast(CastOp::FToU, bottom, Type::I32), self.cast(CastOp::FToU, top, Type::I32));
        let mut z = self.join(z0, z1);
        let minus = self.un(UnOp::Neg, y);
        for _ in 0..2 {
            let error = self.bin(BinOp::Mul, minus, z);
            let correction = self.umul_high64(z, error);
            z = self.bin(BinOp::Add, z, correction);
        }
        let quotient = self.umul_high64(x, z);
        let product = self.bin(BinOp::Mul, quotient, y);
        let rest = self.bin(BinOp::Sub, x, product);
        let (q, r) = self.correct(quotient, rest, y);
        self.correct(q, r, y)
    }

    /// Converts a 64-bit integer to a float with correct rounding. For f64, both halves of the integer are
    /// converted, which is exact, and only their sum is rounded. For f32, the integer is first shortened to
    /// 32 significant bits. If a bit that is cut off was set, the last remaining bit is set, so that the
    /// conversion rounds correctly.
    fn wide_to_float(&mut self, cast: CastOp, a: Value, ty: Type) -> (Op, Vec<Value>) {
        let signed = cast == CastOp::SToF;
        let count32 = self.int(32, Type::I32);
        if ty == Type::F64 {
            let (low, high) = (self.low(a), self.high(a));
            let high = self.cast(cast, high, Type::F64);
            let high = self.op(Op::Bin(BinOp::Ldexp), &[high, count32], Type::F64);
            let low = self.cast(CastOp::UToF, low, Type::F64);
            return (Op::Bin(BinOp::FAdd), vec![high, low]);
        }
        let sixty_three = self.int(63, Type::I64);
        let sign = self.bin(BinOp::AShr, a, sixty_three);
        let x = if signed { self.magnitude(a, sign) } else { a };
        let high = self.high(x);
        let zeros = self.un(UnOp::Clz, high);
        let count = self.cast(CastOp::Zext, zeros, Type::I64);
        let normal = self.bin(BinOp::Shl, x, count);
        let (rest, top) = (self.low(normal), self.high(normal));
        let one = self.int(1, Type::I32);
        let sticky = self.bin(BinOp::UMin, rest, one);
        let bits = self.bin(BinOp::Or, top, sticky);
        let float = self.cast(CastOp::UToF, bits, Type::F32);
        let exponent = self.bin(BinOp::Sub, count32, zeros);
        if !signed {
            return (Op::Bin(BinOp::Ldexp), vec![float, exponent]);
        }
        let magnitude = self.op(Op::Bin(BinOp::Ldexp), &[float, exponent], Type::F32);
        let minus = self.un(UnOp::FNeg, magnitude);
        let zero = self.int(0, Type::I64);
        let negative = self.compare(IntCc::Slt, a, zero);
        (Op::Select, vec![negative, minus, magnitude])
    }

    /// Converts a float to a 64-bit integer with saturation. The float is truncated and extended to f64,
    /// which represents every f32 exactly, and then split into two halves that convert separately. If the
    /// number is out of range, the conversion of the high half saturates, and the low half is set to the low
    /// half of the bound.
    fn float_to_wide(&mut self, cast: CastOp, a: Value) -> (Op, Vec<Value>) {
        let signed = cast == CastOp::FToS;
        let wide = if self.func.ty(a) == Type::F64 { a } else { self.cast(CastOp::FExt, a, Type::F64) };
        let whole = self.un(UnOp::FTrunc, wide);
        let down = self.float(1.0 / TWO_32, Type::F64);
        let scaled = self.bin(BinOp::FMul, whole, down);
        let top = self.un(UnOp::FFloor, scaled);
        let minus_up = self.float(-TWO_32, Type::F64);
        let bottom = self.fma(top, minus_up, whole);
        let high = self.cast(cast, top, Type::I32);
        let low = self.cast(CastOp::FToU, bottom, Type::I32);
        let limit = self.float(if signed { TWO_32 * TWO_32 / 2.0 } else { TWO_32 * TWO_32 }, Type::F64);
        let over = self.op(Op::Fcmp(ir::FloatCc::Oge), &[whole, limit], Type::Bool);
        let least = self.float(if signed { -(TWO_32 * TWO_32 / 2.0) } else { 0.0 }, Type::F64);
        let under = self.op(Op::Fcmp(ir::FloatCc::Olt), &[whole, least], Type::Bool);
        let (ones, zero) = (self.int(-1, Type::I32), self.int(0, Type::I32));
        let low = self.select(over, ones, low);
        let low = self.select(under, zero, low);
        let value = self.join(low, high);
        let zero = self.int(0, Type::I64);
        (Op::Bin(BinOp::Or), vec![value, zero])
    }
}
