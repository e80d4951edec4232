//! Evaluation of constant expressions, after they have been checked.

use super::{Checker, FragmentBits, Res};
use crate::ast::{BinaryOp, BlockId, ExprId, ExprKind, UnaryOp};
use crate::builtins::{Builtin, Lane};
use crate::diag::Diagnostic;
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind, swizzle};
use ir::half::Half;
use smallvec::SmallVec;

/// Reason why an operation on constants has no constant value.
enum Undefined {
    DivisionByZero,
    NotConstant,
}

impl Checker<'_, '_> {
    /// Returns the constant value of a checked expression, as its fragments. A fragment is one scalar of a
    /// value, such as one element of an array. Reports an error if the expression is not constant.
    pub(super) fn eval(&mut self, id: ExprId) -> Option<FragmentBits> {
        let mut fragments = FragmentBits::new();
        match self.eval_into(id, &mut fragments) {
            Ok(()) => Some(fragments),
            Err(Some(diagnostic)) => {
                self.sink.push(diagnostic);
                None
            }
            Err(None) => None,
        }
    }

    /// Appends the fragments (scalars) of the expression's value to `out`. Returns `Err(None)` if the error
    /// has already been reported.
    fn eval_into(&self, id: ExprId, out: &mut FragmentBits) -> Result<(), Option<Diagnostic>> {
        let ty = self.s.checked.expr_ty[id.at()];
        if ty == Ty::ERROR {
            return Err(None);
        }
        match self.ast.expr(id).kind {
            ExprKind::Int { value, .. } => out.push(literal_bits(self.scalar_of(ty), value)),
            ExprKind::Float { wide, narrow, .. } => out.push(match self.scalar_of(ty) {
                Scalar::F16 => Half::nearest(wide).0.into(),
                Scalar::F64 => wide.to_bits(),
                _ => u64::from(narrow.to_bits()),
            }),
            ExprKind::Bool(value) => out.push(u64::from(value)),
            ExprKind::Name(_) | ExprKind::TypeConst(..) => match self.s.checked.res[id.at()] {
                Res::Const(index) => out.extend_from_slice(&self.s.checked.consts[index as usize].value),
                // As a constant, a function has the value of its index plus one, because 0 is the null
                // pointer.
                Res::Func(func) => out.push(u64::from(func) + 1),
                _ => return Err(Some(self.not_constant(id))),
            },
            ExprKind::Unary(op, inner) => self.eval_unary(op, inner, ty, out)?,
            ExprKind::Binary(..) => self.eval_chain(id, out)?,
            ExprKind::Cast(inner, _) => {
                let from_ty = self.s.checked.expr_ty[inner.at()];
                let (from, to) = (self.scalar_of(from_ty), self.scalar_of(ty));
                let types = &self.s.checked.types;
                let start = out.len();
                if types.as_function(ty).is_some() {
                    self.eval_into(inner, out)?;
                    // A cast to a function pointer has a constant value if the operand has a function type.
                    // It also has one if the operand is 0, which gives the null pointer.
                    let is_known = types.as_function(from_ty).is_some() || out[start..] == [0];
                    return if is_known { Ok(()) } else { Err(Some(self.not_constant(id))) };
                }
                if types.lanes(ty).is_none() || types.lanes(from_ty).is_none() {
                    return Err(Some(self.not_constant(id)));
                }
                self.eval_into(inner, out)?;
                out[start..].iter_mut().for_each(|bits| *bits = cast(from, to, *bits));
            }
            ExprKind::Array(list) | ExprKind::Tuple(list) => {
                for &element in self.ast.list(list) {
                    self.eval_into(element, out)?;
                }
            }
            ExprKind::Repeat(value, _) => {
                let start = out.len();
                self.eval_into(value, out)?;
                let one = out[start..].to_vec();
                let TyKind::Array(_, len) = self.s.checked.types.kind(ty) else { return Err(None) };
                (1..len).for_each(|_| out.extend_from_slice(&one));
            }
            ExprKind::Struct(_, inits) => self.eval_struct(ty, inits, out)?,
            ExprKind::Call { args, .. } => self.eval_call(id, ty, args, out)?,
            ExprKind::Index(base, index) => self.eval_index(base, index, ty, out)?,
            ExprKind::Field(base, field) => self.eval_field(base, field, ty, out)?,
            ExprKind::If { arms, otherwise: Some(otherwise) } => {
                let mut chosen = otherwise;
                for arm in &self.ast.if_arms[arms.range()] {
                    let mut cond = FragmentBits::new();
                    self.eval_into(arm.cond, &mut cond)?;
                    if cond.first() != Some(&0) {
                        chosen = arm.then;
                        break;
                    }
                }
                self.eval_block(id, chosen, out)?;
            }
            ExprKind::Block(block) => self.eval_block(id, block, out)?,
            _ => return Err(Some(self.not_constant(id))),
        }
        Ok(())
    }

    fn scalar_of(&self, ty: Ty) -> Scalar {
        self.s.checked.types.lanes(ty).map_or(Scalar::U64, |(scalar, _)| scalar)
    }

    #[cold]
    fn not_constant(&self, id: ExprId) -> Diagnostic {
        let diagnostic = Diagnostic::error("E0070", "this is not known at compile time")
            .label(self.ast.span(id), "not a constant");
        match self.s.checked.res[id.at()] {
            Res::Local(_) => {
                diagnostic.help("constants are declared with `const` or `param`, not with `let`")
            }
            _ => diagnostic,
        }
    }

    fn eval_unary(
        &self,
        op: UnaryOp,
        inner: ExprId,
        ty: Ty,
        out: &mut FragmentBits,
    ) -> Result<(), Option<Diagnostic>> {
        let scalar = self.scalar_of(ty);
        let start = out.len();
        self.eval_into(inner, out)?;
        for bits in &mut out[start..] {
            *bits = match (op, scalar) {
                (UnaryOp::Neg, _) if scalar.is_float() => *bits ^ 1 << (scalar.bits() - 1),
                (UnaryOp::Neg, _) => scalar.wrap(bits.wrapping_neg()),
                (UnaryOp::Not, Scalar::Bool) => *bits ^ 1,
                (UnaryOp::Not, _) => scalar.wrap(!*bits),
            };
        }
        Ok(())
    }

    /// Evaluates a block that consists only of its final expression.
    fn eval_block(
        &self,
        id: ExprId,
        block: BlockId,
        out: &mut FragmentBits,
    ) -> Result<(), Option<Diagnostic>> {
        let block = self.ast.block(block);
        match block.tail {
            Some(tail) if block.stmts.len == 0 => self.eval_into(tail, out),
            _ => Err(Some(self.not_constant(id))),
        }
    }

    /// Evaluates a chain of binary operators such as `a + b - c`, beginning with the first operand. A loop
    /// walks the chain, because recursion over a long chain would overflow the stack.
    fn eval_chain(&self, id: ExprId, out: &mut FragmentBits) -> Result<(), Option<Diagnostic>> {
        let (mut links, mut first) = (SmallVec::<[_; 4]>::new(), id);
        while let ExprKind::Binary(op, left, right) = self.ast.expr(first).kind {
            if self.s.checked.expr_ty[first.at()] == Ty::ERROR {
                return Err(None);
            }
            links.push((first, op, left, right));
            first = left;
        }
        let mut value = FragmentBits::new();
        self.eval_into(first, &mut value)?;
        for (id, op, left, right) in links.into_iter().rev() {
            let mut b = FragmentBits::new();
            self.eval_into(right, &mut b)?;
            value = self.eval_binary(id, op, (left, &value), (right, &b))?;
        }
        out.append(&mut value);
        Ok(())
    }

    fn eval_binary(
        &self,
        id: ExprId,
        op: BinaryOp,
        (left, a): (ExprId, &[u64]),
        (right, b): (ExprId, &[u64]),
    ) -> Result<FragmentBits, Option<Diagnostic>> {
        let left_ty = self.s.checked.expr_ty[left.at()];
        if let Some(scalars) = self.s.checked.types.scalars_of_tuple(left_ty) {
            let equal = |(&scalar, (&x, &y)): (&Scalar, (&u64, &u64))| {
                let compare = if scalar.is_float() { float_binary } else { int_binary };
                matches!(compare(BinaryOp::Eq, scalar, x, y), Ok(1))
            };
            let all = scalars.iter().zip(a.iter().zip(b)).all(equal);
            return Ok(FragmentBits::from_slice(&[u64::from(all == (op == BinaryOp::Eq))]));
        }
        let scalar = self.scalar_of(left_ty);
        let mut out = FragmentBits::new();
        if a.is_empty() || b.is_empty() {
            return Err(Some(self.not_constant(id)));
        }
        for n in 0..a.len().max(b.len()) {
            // If one operand is a scalar and the other a vector, the scalar is combined with each element of
            // the vector.
            let (x, y) = (a[n.min(a.len() - 1)], b[n.min(b.len() - 1)]);
            let value =
                if scalar.is_float() { float_binary(op, scalar, x, y) } else { int_binary(op, scalar, x, y) };
            match value {
                Ok(bits) => out.push(bits),
                Err(Undefined::DivisionByZero) => {
                    return Err(Some(
                        Diagnostic::error("E0071", "division by zero in a constant")
                            .label(self.ast.span(right), "this is zero"),
                    ));
                }
                Err(Undefined::NotConstant) => return Err(Some(self.not_constant(id))),
            }
        }
        Ok(out)
    }

    fn eval_struct(
        &self,
        ty: Ty,
        inits: crate::ast::List,
        out: &mut FragmentBits,
    ) -> Result<(), Option<Diagnostic>> {
        let TyKind::Struct(index) = self.s.checked.types.kind(ty) else { return Err(None) };
        for field in &self.s.checked.types.structs[index as usize].fields {
            let init = self.ast.inits[inits.range()].iter().find(|init| init.name.sym == field.name);
            self.eval_into(init.ok_or(None)?.value, out)?;
        }
        Ok(())
    }

    /// Evaluates vector constructors, `min` and `max`.
    fn eval_call(
        &self,
        id: ExprId,
        ty: Ty,
        args: crate::ast::List,
        out: &mut FragmentBits,
    ) -> Result<(), Option<Diagnostic>> {
        let args = self.ast.list(args);
        let lanes = self.s.checked.types.lanes(ty);
        match (self.s.checked.res[id.at()], args, lanes) {
            (Res::Vector, &[one], Some((_, lanes))) => {
                let start = out.len();
                self.eval_into(one, out)?;
                if out.len() == start + 1 {
                    let bits = out[start];
                    out.extend((1..lanes).map(|_| bits));
                }
            }
            (Res::Vector, args, _) => {
                for &arg in args {
                    self.eval_into(arg, out)?;
                }
            }
            // The checker has turned `has(feature)` into a reference to a `bool` constant, whose value is
            // copied here. A call through a constant that holds a function also refers to a constant, but its
            // result is not constant. The test for `bool` excludes such a call.
            (Res::Const(index), ..) if self.s.checked.consts[index as usize].ty == Ty::BOOL => {
                out.extend_from_slice(&self.s.checked.consts[index as usize].value);
            }
            (
                Res::Builtin(Builtin::Lanes(lane @ (Lane::Min | Lane::Max), ..)),
                &[a, b],
                Some((scalar, 1)),
            ) => {
                let (mut x, mut y) = (FragmentBits::new(), FragmentBits::new());
                self.eval_into(a, &mut x)?;
                self.eval_into(b, &mut y)?;
                let (Some(&x), Some(&y)) = (x.first(), y.first()) else { return Err(None) };
                let compare = if scalar.is_float() { float_binary } else { int_binary };
                let less = compare(BinaryOp::Lt, scalar, x, y);
                let less = matches!(less, Ok(1));
                out.push(if less == (lane == Lane::Min) { x } else { y });
            }
            _ => return Err(Some(self.not_constant(id))),
        }
        Ok(())
    }

    fn eval_index(
        &self,
        base: ExprId,
        index: ExprId,
        ty: Ty,
        out: &mut FragmentBits,
    ) -> Result<(), Option<Diagnostic>> {
        let size = self.s.checked.types.layout(ty).fragments as usize;
        let (mut all, mut at) = (FragmentBits::new(), FragmentBits::new());
        self.eval_into(base, &mut all)?;
        self.eval_into(index, &mut at)?;
        let at = at.first().map_or(u64::MAX, |&at| at).saturating_mul(size as u64);
        match usize::try_from(at).ok().and_then(|at| all.get(at..at.checked_add(size)?)) {
            Some(part) => out.extend_from_slice(part),
            None => {
                return Err(Some(
                    Diagnostic::error("E0071", "index out of range in a constant")
                        .label(self.ast.span(index), "behind the end"),
                ));
            }
        }
        Ok(())
    }

    fn eval_field(
        &self,
        base: ExprId,
        field: crate::ast::Name,
        ty: Ty,
        out: &mut FragmentBits,
    ) -> Result<(), Option<Diagnostic>> {
        let base_ty = self.s.checked.expr_ty[base.at()];
        let mut all = FragmentBits::new();
        self.eval_into(base, &mut all)?;
        match self.s.checked.types.kind(base_ty) {
            TyKind::Struct(index) => {
                let found =
                    self.s.checked.types.field(index, field.sym, self.ast.name(field.sym)).ok_or(None)?;
                let start = found.first_fragment as usize;
                let end = start + self.s.checked.types.layout(ty).fragments as usize;
                out.extend_from_slice(all.get(start..end).ok_or(None)?);
            }
            TyKind::Vector(_, lanes) => {
                let (picked, count) = swizzle(self.ast.name(field.sym), lanes).ok_or(None)?;
                out.extend(picked[..count].iter().map(|&lane| all[lane as usize]));
            }
            _ => return Err(None),
        }
        Ok(())
    }
}

fn literal_bits(scalar: Scalar, value: u64) -> u64 {
    match scalar {
        Scalar::F16 => Half::nearest(value as f64).0.into(),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        Scalar::F64 => (value as f64).to_bits(),
        _ => scalar.wrap(value),
    }
}

fn int_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Result<u64, Undefined> {
    let signed = scalar.is_signed();
    let count = b & u64::from(scalar.bits() - 1);
    if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b == 0 {
        return Err(Undefined::DivisionByZero);
    }
    let less = if signed { (a as i64) < (b as i64) } else { a < b };
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if signed => (a as i64).wrapping_div(b as i64) as u64,
        BinaryOp::Div => a / b,
        BinaryOp::Rem if signed => (a as i64).wrapping_rem(b as i64) as u64,
        BinaryOp::Rem => a % b,
        BinaryOp::And | BinaryOp::AndAnd => a & b,
        BinaryOp::Or | BinaryOp::OrOr => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << count,
        BinaryOp::Shr if signed => ((a as i64) >> count) as u64,
        BinaryOp::Shr => a >> count,
        BinaryOp::Eq => return Ok(u64::from(a == b)),
        BinaryOp::Ne => return Ok(u64::from(a != b)),
        BinaryOp::Lt => return Ok(u64::from(less)),
        BinaryOp::Ge => return Ok(u64::from(!less)),
        BinaryOp::Gt => return Ok(u64::from(!less && a != b)),
        BinaryOp::Le => return Ok(u64::from(less || a == b)),
    };
    Ok(if scalar == Scalar::Bool { value & 1 } else { scalar.wrap(value) })
}

fn float_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Result<u64, Undefined> {
    // Each operation computes in the type of its operands, so that the result is rounded only once. For
    // `f16`, see below.
    macro_rules! compute {
        ($from_bits:expr, $to_bits:expr) => {{
            let (x, y) = ($from_bits(a), $from_bits(b));
            let value = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                BinaryOp::Rem => x % y,
                BinaryOp::Eq => return Ok(u64::from(x == y)),
                BinaryOp::Ne => return Ok(u64::from(x != y)),
                BinaryOp::Lt => return Ok(u64::from(x < y)),
                BinaryOp::Le => return Ok(u64::from(x <= y)),
                BinaryOp::Gt => return Ok(u64::from(x > y)),
                BinaryOp::Ge => return Ok(u64::from(x >= y)),
                _ => return Err(Undefined::NotConstant),
            };
            Ok($to_bits(value))
        }};
    }
    match scalar {
        // An operation on `f16` values is computed in `f64` and then rounded to `f16`. The second rounding
        // does no harm, because the `f64` is either exact or has enough bits (see `ir::half`).
        Scalar::F16 => compute!(|bits| Half(bits as u16).wide(), |value| u64::from(Half::nearest(value).0)),
        Scalar::F32 => compute!(|bits| f32::from_bits(bits as u32), |value: f32| u64::from(value.to_bits())),
        _ => compute!(f64::from_bits, f64::to_bits),
    }
}

/// Converts `bits` from one scalar type to another with the rules of the `as` operator: integers wrap, floats
/// saturate.
fn cast(from: Scalar, to: Scalar, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    let float = match from {
        Scalar::F16 => Some(Half(bits as u16).wide()),
        Scalar::Bf16 => return bits << 16,
        Scalar::F32 if to == Scalar::Bf16 => return brain(bits as u32).into(),
        Scalar::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        Scalar::F64 => Some(f64::from_bits(bits)),
        _ => None,
    };
    let Some(value) = float else {
        let signed = from.is_signed();
        return match to {
            Scalar::F16 if signed => Half::nearest(bits as i64 as f64).0.into(),
            Scalar::F16 => Half::nearest(bits as f64).0.into(),
            Scalar::F32 if signed => u64::from((bits as i64 as f32).to_bits()),
            Scalar::F32 => u64::from((bits as f32).to_bits()),
            Scalar::F64 if signed => (bits as i64 as f64).to_bits(),
            Scalar::F64 => (bits as f64).to_bits(),
            _ => to.wrap(bits),
        };
    };
    match to {
        Scalar::F16 => Half::nearest(value).0.into(),
        Scalar::Bf16 => brain((value as f32).to_bits()).into(),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        Scalar::F64 => value.to_bits(),
        Scalar::I8 => value as i8 as u64,
        Scalar::I16 => value as i16 as u64,
        Scalar::I32 => value as i32 as u64,
        Scalar::I64 => value as i64 as u64,
        Scalar::U8 => u64::from(value as u8),
        Scalar::U16 => u64::from(value as u16),
        Scalar::U32 => u64::from(value as u32),
        Scalar::U64 | Scalar::Bool => value as u64,
    }
}

/// Rounds an `f32` to `bf16` (its upper half), to nearest with ties to even. A NaN stays a NaN.
fn brain(bits: u32) -> u16 {
    if f32::from_bits(bits).is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((u64::from(bits) + 0x7fff + u64::from(bits >> 16 & 1)) >> 16) as u16
}
