//! Lowers arithmetic on scalars: constants, operators, conversions.

use super::{Lower, Val};
use crate::ast::{BinaryOp, ExprId, ExprKind, UnaryOp};
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind};
use ir::half::Half;
use ir::{BinOp, CastOp, FloatCc, IntCc, Op, SrcLoc, TernOp, Type, UnOp, Value};
use smallvec::SmallVec;

impl Lower<'_, '_> {
    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = match ty.bits() {
            64 => bits,
            width => bits & ((1 << width) - 1),
        };
        self.emit(Op::Const(bits), &[], ty)
    }

    /// Returns an integer constant of a scalar type.
    pub(super) fn int(&mut self, scalar: Scalar, bits: u64) -> Value {
        self.constant(scalar.ir(), scalar.wrap(bits))
    }

    pub(super) fn f32(&mut self, value: f32) -> Value {
        self.constant(Type::F32, u64::from(value.to_bits()))
    }

    /// Returns a float constant of type `ty`.
    pub(super) fn float(&mut self, ty: Type, value: f64) -> Value {
        let bits = match ty {
            Type::F16 => Half::nearest(value).0.into(),
            Type::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        };
        self.constant(ty, bits)
    }

    /// Returns zero, or a pointer with the address zero.
    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty {
            Type::Ptr(space) => {
                let width = if space.pointer_bits() == 32 { Type::I32 } else { Type::I64 };
                let zero = self.constant(width, 0);
                self.emit(Op::Cast(CastOp::IntToPtr), &[zero], ty)
            }
            ty => self.constant(ty, 0),
        }
    }

    /// Returns the scalar of a scalar or vector type.
    pub(super) fn scalar_of(&self, ty: Ty) -> Scalar {
        self.checked.types.lanes(ty).map_or(Scalar::U64, |(scalar, _)| scalar)
    }

    /// Emits an integer operation. If both operands are constants, emits the result as a constant instead.
    /// Constant indices and similar expressions are then known to be constant.
    pub(super) fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        if let Some(y) = self.func.const_bits(b) {
            if y == 0 && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Shl | BinOp::Or | BinOp::Xor) {
                return a;
            }
            if y == 1 && op == BinOp::Mul {
                return a;
            }
            if let Some(x) = self.func.const_bits(a)
                && ty.is_int()
            {
                let folded = match op {
                    BinOp::Add => Some(x.wrapping_add(y)),
                    BinOp::Sub => Some(x.wrapping_sub(y)),
                    BinOp::Mul => Some(x.wrapping_mul(y)),
                    BinOp::Shl => Some(x << (y & u64::from(ty.bits() - 1))),
                    BinOp::And => Some(x & y),
                    BinOp::Or => Some(x | y),
                    _ => None,
                };
                if let Some(bits) = folded {
                    return self.constant(ty, bits);
                }
            }
        }
        self.emit(Op::Bin(op), &[a, b], ty)
    }

    /// Sign- or zero-extends an 8- or 16-bit integer to 32 bits, after an operation that may have changed the
    /// bits above the integer. Registers hold such integers always extended.
    pub(super) fn normalise(&mut self, scalar: Scalar, value: Value) -> Value {
        let op = match scalar {
            Scalar::I8 => CastOp::Sext8,
            Scalar::U8 => CastOp::Zext8,
            Scalar::I16 => CastOp::Sext16,
            Scalar::U16 | Scalar::Bf16 => CastOp::Zext16,
            _ => return value,
        };
        match self.func.const_bits(value) {
            Some(bits) => self.int(scalar, bits),
            None => self.emit(Op::Cast(op), &[value], Type::I32),
        }
    }

    /// Truncates an integer of any width to 32 bits.
    pub(super) fn word_of(&mut self, value: Value) -> Value {
        match (self.func.ty(value), self.func.const_bits(value)) {
            (Type::I64, Some(bits)) => self.constant(Type::I32, bits),
            (Type::I64, None) => self.emit(Op::Cast(CastOp::Trunc), &[value], Type::I32),
            _ => value,
        }
    }

    /// Converts an integer to the width of `ty`: truncates it or extends it with zeros.
    pub(super) fn in_width(&mut self, value: Value, ty: Type) -> Value {
        match (self.func.ty(value), ty) {
            (Type::I32, Type::I64) => match self.func.const_bits(value) {
                Some(bits) => self.constant(Type::I64, bits),
                None => self.emit(Op::Cast(CastOp::Zext), &[value], Type::I64),
            },
            (Type::I64, Type::I32) => self.word_of(value),
            _ => value,
        }
    }

    pub(super) fn unary(&mut self, op: UnaryOp, inner: ExprId, ty: Ty) -> Val {
        let scalar = self.scalar_of(ty);
        let ir_ty = scalar.ir();
        let mut values = self.expr(inner);
        for value in &mut values {
            let un = match op {
                UnaryOp::Neg if scalar.is_float() => UnOp::FNeg,
                UnaryOp::Neg => UnOp::Neg,
                UnaryOp::Not => UnOp::Not,
            };
            *value = match (un, self.func.const_bits(*value)) {
                (UnOp::Neg, Some(bits)) => self.int(scalar, bits.wrapping_neg()),
                (UnOp::Not, Some(bits)) if scalar != Scalar::Bool => self.int(scalar, !bits),
                (UnOp::FNeg, Some(bits)) => {
                    let sign = 1 << (ir_ty.bits() - 1);
                    self.constant(ir_ty, bits ^ sign)
                }
                _ => {
                    let result = self.emit(Op::Un(un), &[*value], ir_ty);
                    self.normalise(scalar, result)
                }
            };
        }
        values
    }

    /// Lowers a chain of operators, beginning with the first operand: `a + b * c - d` is `a`, then `+ b * c`,
    /// then `- d`.
    pub(super) fn binary(&mut self, id: ExprId) -> Val {
        let mut links: SmallVec<[(ExprId, BinaryOp, ExprId, ExprId); 4]> = SmallVec::new();
        let mut first = id;
        while let ExprKind::Binary(op, left, right) = self.ast.expr(first).kind {
            links.push((first, op, left, right));
            first = left;
        }
        let outer = self.loc;
        let mut value = self.expr(first);
        // Set while a product waits to be fused with the addition or subtraction that follows. `value` is
        // then the first factor of the product, and `factor` is the second factor.
        let mut factor: Option<Val> = None;
        for n in (0..links.len()).rev() {
            let (link, op, left, right) = links[n];
            self.loc = SrcLoc(self.ast.span(link).start + 1);
            if op == BinaryOp::Mul && n > 0 && self.contracts(links[n - 1].1, links[n - 1].2) {
                factor = Some(self.expr(right));
                continue;
            }
            let ty = self.ty_of(link);
            value = match factor.take() {
                Some(factor) => {
                    let c = self.expr(right);
                    self.fused(op, (value, factor), c, true, ty)
                }
                None => self.operate(op, left, value, right, ty),
            };
        }
        self.loc = outer;
        value
    }

    /// Returns whether an addition or subtraction `op` of a product may become a fused multiply-add, which
    /// rounds only once. `left` is the left operand of `op`, whose type is that of the operation.
    fn contracts(&self, op: BinaryOp, left: ExprId) -> bool {
        let is_float =
            self.checked.types.lanes(self.ty_of(left)).is_some_and(|(scalar, _)| scalar.is_float());
        self.fp_contract && is_float && matches!(op, BinaryOp::Add | BinaryOp::Sub)
    }

    /// Lowers `left op right` when `left` has been computed.
    fn operate(&mut self, op: BinaryOp, left: ExprId, a: Val, right: ExprId, ty: Ty) -> Val {
        let one = |a: &Val, lower: &mut Self| a.first().copied().unwrap_or_else(|| lower.zero(Type::I32));
        if op.is_logic() {
            let a = one(&a, self);
            return Val::from_slice(&[self.logic(op == BinaryOp::AndAnd, a, right)]);
        }
        let left_ty = self.ty_of(left);
        if let TyKind::Pointer(_) = self.checked.types.kind(left_ty) {
            let a = one(&a, self);
            return self.pointer_binary(op, left, a, right, left_ty);
        }
        if self.checked.types.as_function(left_ty).is_some() {
            let (a, b) = (one(&a, self), self.scalar_expr(right));
            return Val::from_slice(&[self.emit(Op::Icmp(int_cc(op, false)), &[a, b], Type::Bool)]);
        }
        if self.contracts(op, left)
            && let Some((x, y)) = self.product(right)
        {
            let (x, y) = (self.expr(x), self.expr(y));
            return self.fused(op, (x, y), a, false, ty);
        }
        let b = self.expr(right);
        match self.checked.types.scalars_of_tuple(left_ty) {
            Some(scalars) => Val::from_slice(&[self.tuple_equality(op == BinaryOp::Eq, &scalars, &a, &b)]),
            None => self.lanewise(op, self.scalar_of(left_ty), &a, &b),
        }
    }

    /// Emits a comparison of two tuples by `==` (with `equal`) or `!=`. For `==`, the result is whether all
    /// scalars are equal. For `!=`, it is whether at least one pair of scalars differs.
    fn tuple_equality(&mut self, equal: bool, scalars: &[Scalar], a: &Val, b: &Val) -> Value {
        let (op, join) = if equal { (BinaryOp::Eq, BinOp::And) } else { (BinaryOp::Ne, BinOp::Or) };
        let mut all = None;
        for (&scalar, (&x, &y)) in scalars.iter().zip(a.iter().zip(b)) {
            let one = self.compare(op, scalar, x, y);
            all = Some(match all {
                Some(all) => self.emit(Op::Bin(join), &[all, one], Type::Bool),
                None => one,
            });
        }
        all.unwrap_or_else(|| self.constant(Type::Bool, u64::from(equal)))
    }

    /// Lowers `place op= value`.
    pub(super) fn assign_op(&mut self, op: BinaryOp, place: ExprId, value: ExprId) {
        let ty = self.ty_of(place);
        let target = self.lower_place(place);
        if self.checked.types.as_pointer(ty).is_some() {
            let old = self.read(&target);
            let new = self.pointer_step(op, old[0], value, ty);
            return self.write(&target, &[new]);
        }
        let scalar = self.scalar_of(ty);
        let contract = self.fp_contract && scalar.is_float() && matches!(op, BinaryOp::Add | BinaryOp::Sub);
        let result = match self.product(value).filter(|_| contract) {
            Some((a, b)) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let old = self.read(&target);
                self.fused(op, (a, b), old, false, ty)
            }
            None => {
                let right = self.expr(value);
                let old = self.read(&target);
                self.lanewise(op, scalar, &old, &right)
            }
        };
        self.write(&target, &result);
    }

    /// Returns the factors if the expression is a product.
    fn product(&self, id: ExprId) -> Option<(ExprId, ExprId)> {
        match self.ast.expr(id).kind {
            ExprKind::Binary(BinaryOp::Mul, a, b) => Some((a, b)),
            _ => None,
        }
    }

    /// Emits a fused multiply-add, which rounds once: `a*b + c` or `a*b - c` with `product_first`, otherwise
    /// `c + a*b` or `c - a*b`. `factors` are `a` and `b`.
    fn fused(&mut self, op: BinaryOp, factors: (Val, Val), c: Val, product_first: bool, ty: Ty) -> Val {
        let (scalar, lanes) = self.checked.types.lanes(ty).unwrap_or((Scalar::F32, 1));
        let ty = scalar.ir();
        (0..usize::from(lanes))
            .map(|n| {
                let (mut a, b, mut c) = (lane(&factors.0, n), lane(&factors.1, n), lane(&c, n));
                if op == BinaryOp::Sub {
                    let negated = if product_first { &mut c } else { &mut a };
                    *negated = self.emit(Op::Un(UnOp::FNeg), &[*negated], ty);
                }
                self.emit(Op::Tern(TernOp::Fma), &[a, b, c], ty)
            })
            .collect()
    }

    /// Emits an operator for each vector element. A scalar operand is combined with every element of the
    /// other operand.
    fn lanewise(&mut self, op: BinaryOp, scalar: Scalar, a: &[Value], b: &[Value]) -> Val {
        (0..a.len().max(b.len())).map(|n| self.scalar_binary(op, scalar, lane(a, n), lane(b, n))).collect()
    }

    pub(super) fn scalar_binary(&mut self, op: BinaryOp, scalar: Scalar, a: Value, b: Value) -> Value {
        if op.is_comparison() {
            return self.compare(op, scalar, a, b);
        }
        let ty = scalar.ir();
        if scalar.is_float() {
            let bin = match op {
                BinaryOp::Add => BinOp::FAdd,
                BinaryOp::Sub => BinOp::FSub,
                BinaryOp::Mul => BinOp::FMul,
                BinaryOp::Div if self.fast_math && ty == Type::F32 => {
                    let reciprocal = self.emit(Op::Un(UnOp::NativeRcp), &[b], ty);
                    return self.emit(Op::Bin(BinOp::FMul), &[a, reciprocal], ty);
                }
                BinaryOp::Div => BinOp::FDiv,
                _ => BinOp::FRem,
            };
            return self.emit(Op::Bin(bin), &[a, b], ty);
        }
        let signed = scalar.is_signed();
        let mut b = b;
        if op.is_shift() {
            b = self.in_width(b, ty);
            if scalar.is_small() {
                let mask = self.constant(ty, u64::from(scalar.bits() - 1));
                b = self.bin(BinOp::And, b, mask);
            }
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            self.check_divisor(b);
        }
        let bin = match op {
            BinaryOp::Add => BinOp::Add,
            BinaryOp::Sub => BinOp::Sub,
            BinaryOp::Mul => BinOp::Mul,
            BinaryOp::Div if signed => BinOp::SDiv,
            BinaryOp::Div => BinOp::UDiv,
            BinaryOp::Rem if signed => BinOp::SRem,
            BinaryOp::Rem => BinOp::URem,
            BinaryOp::And => BinOp::And,
            BinaryOp::Or => BinOp::Or,
            BinaryOp::Xor => BinOp::Xor,
            BinaryOp::Shl => BinOp::Shl,
            _ if signed => BinOp::AShr,
            _ => BinOp::LShr,
        };
        let result = self.bin(bin, a, b);
        // 8- and 16-bit integers are kept sign- or zero-extended to 32 bits. With extended operands, these
        // operations give an extended result, so only the other operations need another extension.
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shr | BinaryOp::Rem => result,
            _ => self.normalise(scalar, result),
        }
    }

    fn compare(&mut self, op: BinaryOp, scalar: Scalar, a: Value, b: Value) -> Value {
        if scalar == Scalar::Bool {
            let differs = self.emit(Op::Bin(BinOp::Xor), &[a, b], Type::Bool);
            return match op {
                BinaryOp::Ne => differs,
                _ => self.emit(Op::Un(UnOp::Not), &[differs], Type::Bool),
            };
        }
        let op = if scalar.is_float() {
            Op::Fcmp(match op {
                BinaryOp::Eq => FloatCc::Oeq,
                BinaryOp::Ne => FloatCc::Une,
                BinaryOp::Lt => FloatCc::Olt,
                BinaryOp::Le => FloatCc::Ole,
                BinaryOp::Gt => FloatCc::Ogt,
                _ => FloatCc::Oge,
            })
        } else {
            Op::Icmp(int_cc(op, scalar.is_signed()))
        };
        self.emit(op, &[a, b], Type::Bool)
    }

    fn pointer_binary(&mut self, op: BinaryOp, left: ExprId, a: Value, right: ExprId, ty: Ty) -> Val {
        if !op.is_comparison() {
            let value = match op {
                // `p + i` is lowered as the address of `p[i]`. In this way, the result keeps what is known
                // about a pointer parameter, such as `#[small_buffers]`.
                BinaryOp::Add => {
                    let place = self.pointee_at(a, left);
                    let to = place.ty;
                    let place = self.offset_by(place, right, to);
                    self.address(&place)
                }
                _ => self.pointer_step(op, a, right, ty),
            };
            return Val::from_slice(&[value]);
        }
        let b = self.scalar_expr(right);
        let width = match self.checked.types.as_pointer(ty) {
            Some(pointer) if pointer.space.pointer_bits() == 32 => Type::I32,
            _ => Type::I64,
        };
        let a = self.emit(Op::Cast(CastOp::PtrToInt), &[a], width);
        let b = self.emit(Op::Cast(CastOp::PtrToInt), &[b], width);
        Val::from_slice(&[self.emit(Op::Icmp(int_cc(op, false)), &[a, b], Type::Bool)])
    }

    /// Emits `p ± i` for a pointer value.
    fn pointer_step(&mut self, op: BinaryOp, pointer: Value, index: ExprId, ty: Ty) -> Value {
        let scalar = self.scalar_of(self.ty_of(index));
        let index = self.scalar_expr(index);
        let Some(target) = self.checked.types.as_pointer(ty) else { return pointer };
        let width = if target.space.pointer_bits() == 32 { Type::I32 } else { Type::I64 };
        let mut offset = self.extend(index, scalar, width);
        let size = self.checked.types.layout(target.to).size;
        let size = self.constant(width, u64::from(size));
        offset = self.bin(BinOp::Mul, offset, size);
        if op == BinaryOp::Sub {
            offset = self.emit(Op::Un(UnOp::Neg), &[offset], width);
        }
        self.emit(Op::PtrAdd, &[pointer, offset], Type::Ptr(target.space))
    }

    /// Converts an integer to the width of `ty`: truncates it, or sign- or zero-extends it as its type
    /// demands.
    fn extend(&mut self, value: Value, scalar: Scalar, ty: Type) -> Value {
        match (self.func.ty(value), ty) {
            (Type::I32, Type::I64) if scalar.is_signed() => match self.func.const_bits(value) {
                Some(bits) => self.constant(ty, bits as u32 as i32 as u64),
                None => self.emit(Op::Cast(CastOp::Sext), &[value], ty),
            },
            _ => self.in_width(value, ty),
        }
    }

    /// Lowers `as` for a complete value.
    pub(super) fn cast(&mut self, inner: ExprId, to: Ty) -> Val {
        let from = self.ty_of(inner);
        let types = &self.checked.types;
        match (types.kind(from), types.kind(to)) {
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                let value = self.scalar_expr(inner);
                if a.space == b.space {
                    return Val::from_slice(&[value]);
                }
                Val::from_slice(&[self.emit(Op::Cast(CastOp::SpaceCast), &[value], Type::Ptr(b.space))])
            }
            (TyKind::Function(_), _) | (_, TyKind::Function(_)) => {
                Val::from_slice(&[self.scalar_expr(inner)])
            }
            (TyKind::Pointer(_), TyKind::Scalar(scalar)) => {
                let value = self.scalar_expr(inner);
                Val::from_slice(&[self.emit(Op::Cast(CastOp::PtrToInt), &[value], scalar.ir())])
            }
            (TyKind::Scalar(_), TyKind::Pointer(pointer)) => {
                let value = self.scalar_expr(inner);
                let ty = Type::Ptr(pointer.space);
                Val::from_slice(&[self.emit(Op::Cast(CastOp::IntToPtr), &[value], ty)])
            }
            _ => {
                let (a, b) = (self.scalar_of(from), self.scalar_of(to));
                let mut values = self.expr(inner);
                for value in &mut values {
                    *value = self.scalar_cast(a, b, *value);
                }
                values
            }
        }
    }

    fn scalar_cast(&mut self, from: Scalar, to: Scalar, value: Value) -> Value {
        if from == to {
            return value;
        }
        match (from, to) {
            (Scalar::Bf16, _) => {
                let sixteen = self.constant(Type::I32, 16);
                let bits = self.bin(BinOp::Shl, value, sixteen);
                self.rebit(bits, Type::F32)
            }
            (_, Scalar::Bf16) => self.brain(value),
            (_, _) if from.is_float() && to.is_float() => {
                let op = if from.bits() < to.bits() { CastOp::FExt } else { CastOp::FTrunc };
                self.emit(Op::Cast(op), &[value], to.ir())
            }
            (_, _) if from.is_float() => self.float_to_int(to, value),
            (Scalar::Bool, _) if to.is_float() => {
                let word = self.emit(Op::Cast(CastOp::Zext), &[value], Type::I32);
                self.emit(Op::Cast(CastOp::UToF), &[word], to.ir())
            }
            (_, _) if to.is_float() => {
                let op = if from.is_signed() { CastOp::SToF } else { CastOp::UToF };
                self.emit(Op::Cast(op), &[value], to.ir())
            }
            (Scalar::Bool, _) => self.emit(Op::Cast(CastOp::Zext), &[value], to.ir()),
            _ => {
                let value = self.extend(value, from, to.ir());
                // If the new type contains every value of the old type, no operation is needed, because the
                // extended form of a number in a register is the same in both types.
                let contained = from.bits() < to.bits() && (from.is_signed() <= to.is_signed());
                if contained { value } else { self.normalise(to, value) }
            }
        }
    }

    /// Rounds an `f32` to `bf16` (its upper half), to nearest with ties to even. A NaN stays a NaN.
    fn brain(&mut self, value: Value) -> Value {
        let bits = self.rebit(value, Type::I32);
        let [sixteen, one, most, quiet] = [16, 1, 0x7fff, 0x40].map(|k| self.constant(Type::I32, k));
        let cut = self.bin(BinOp::LShr, bits, sixteen);
        let odd = self.bin(BinOp::And, cut, one);
        let up = self.bin(BinOp::Add, odd, most);
        let sum = self.bin(BinOp::Add, bits, up);
        let rounded = self.bin(BinOp::LShr, sum, sixteen);
        let nan = self.bin(BinOp::Or, cut, quiet);
        let is_nan = self.emit(Op::Fcmp(FloatCc::Uno), &[value, value], Type::Bool);
        self.emit(Op::Select, &[is_nan, nan, rounded], Type::I32)
    }

    /// Converts a float to an integer: saturates at the bounds of the type, and NaN gives 0.
    fn float_to_int(&mut self, to: Scalar, value: Value) -> Value {
        let op = if to.is_signed() { CastOp::FToS } else { CastOp::FToU };
        let result = self.emit(Op::Cast(op), &[value], to.ir());
        if !to.is_small() {
            return result;
        }
        if !to.is_signed() {
            let max = self.constant(Type::I32, (1 << to.bits()) - 1);
            return self.emit(Op::Bin(BinOp::UMin), &[result, max], Type::I32);
        }
        let max = self.int(to, (1 << (to.bits() - 1)) - 1);
        let min = self.int(to, 1 << (to.bits() - 1));
        let result = self.emit(Op::Bin(BinOp::SMin), &[result, max], Type::I32);
        self.emit(Op::Bin(BinOp::SMax), &[result, min], Type::I32)
    }
}

/// Returns element `n` of a vector. A single scalar stands for a vector with this scalar as every element.
pub fn lane(values: &[Value], n: usize) -> Value {
    if values.len() == 1 { values[0] } else { values[n] }
}

fn int_cc(op: BinaryOp, signed: bool) -> IntCc {
    match (op, signed) {
        (BinaryOp::Eq, _) => IntCc::Eq,
        (BinaryOp::Ne, _) => IntCc::Ne,
        (BinaryOp::Lt, true) => IntCc::Slt,
        (BinaryOp::Le, true) => IntCc::Sle,
        (BinaryOp::Gt, true) => IntCc::Sgt,
        (_, true) => IntCc::Sge,
        (BinaryOp::Lt, false) => IntCc::Ult,
        (BinaryOp::Le, false) => IntCc::Ule,
        (BinaryOp::Gt, false) => IntCc::Ugt,
        (_, false) => IntCc::Uge,
    }
}
