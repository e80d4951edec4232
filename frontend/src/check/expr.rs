//! Expressions.

use super::item::Literal;
use super::{Binding, Checker, Res};
use crate::ast::{BinaryOp, BlockId, ExprId, ExprKind, List, Name, Sym, TypeId, UnaryOp};
use crate::builtins;
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind, swizzle};
use ir::Space;

/// One operator of a chain.
#[derive(Clone, Copy)]
pub(super) struct Link {
    id: ExprId,
    op: BinaryOp,
    left: ExprId,
    right: ExprId,
    /// Whether all in the left operand are literals.
    literal: Option<Literal>,
    /// Type of the right operand, if that was checked first.
    right_is: Ty,
    /// What literal operands are expected to be.
    expect: Ty,
}

/// Whether `left op right` is a literal that takes the type it needs.
pub(super) fn untyped_binary(
    op: BinaryOp,
    left: Option<Literal>,
    right: impl FnOnce() -> Option<Literal>,
) -> Option<Literal> {
    match op {
        _ if op.is_shift() => left,
        _ if op.is_comparison() || op.is_logic() => None,
        _ => Some(left?.max(right()?)),
    }
}

impl Checker<'_, '_> {
    /// Checks an expression. `expect` is what the surroundings would like: literals take it.
    pub(super) fn expr(&mut self, id: ExprId, expect: Ty) -> Ty {
        let expr = *self.ast.expr(id);
        let ty = match expr.kind {
            ExprKind::Error => Ty::ERROR,
            ExprKind::Int { value, suffix } => self.int_literal(id, value, suffix, expect, false),
            ExprKind::Float { suffix, .. } => match (suffix, self.out.types.lanes(expect)) {
                (Some(scalar), _) => Ty::scalar(scalar),
                (None, Some((Scalar::F64, _))) => Ty::scalar(Scalar::F64),
                _ => Ty::F32,
            },
            ExprKind::Bool(_) => Ty::BOOL,
            ExprKind::Str => {
                self.error("E0090", "strings are not supported yet", expr.span, "not supported yet");
                Ty::ERROR
            }
            ExprKind::Name(sym) => self.name(id, sym, expr.span),
            ExprKind::Unary(op, inner) => self.unary(op, inner, expr.span, expect),
            ExprKind::Binary(..) => self.binary(id, expect),
            ExprKind::Deref(inner) => self.deref(inner, expr.span),
            ExprKind::AddrOf(inner) => self.address_of(id, inner),
            ExprKind::Cast(inner, ty) => self.cast(inner, ty, expr.span),
            ExprKind::Call { callee, args, generic } => self.call(id, callee, args, generic, expect),
            ExprKind::Index(base, index) => self.index(base, index, expr.span),
            ExprKind::Field(base, field) => self.field(base, field),
            ExprKind::Array(list) => self.array(list, expr.span, expect),
            ExprKind::Repeat(value, count) => self.repeat(value, count, expect),
            ExprKind::Struct(name, inits) => self.struct_literal(name, inits, expr.span),
            ExprKind::If { arms, otherwise } => self.if_chain(arms, otherwise, expect),
            ExprKind::Match { value, arms } => self.match_expr(value, arms, expect),
            ExprKind::Block(block) => self.block(block, expect),
        };
        self.set(id, ty)
    }

    fn if_chain(&mut self, arms: List, otherwise: Option<BlockId>, expect: Ty) -> Ty {
        let mut ty = Ty::NEVER;
        for n in arms.range() {
            let arm = self.ast.if_arms[n];
            self.condition(arm.cond);
            if otherwise.is_some() {
                ty = self.arm(arm.then, ty, expect);
            } else {
                let found = self.block(arm.then, expect);
                ty = if self.if_alone(arm.then, found) && ty != Ty::ERROR { Ty::UNIT } else { Ty::ERROR };
            }
        }
        match otherwise {
            Some(block) => self.arm(block, ty, expect),
            None => ty,
        }
    }

    /// An `if` without `else` has no value: whether that is so.
    fn if_alone(&mut self, then: BlockId, found: Ty) -> bool {
        if let (Some(tail), false) =
            (self.ast.block(then).tail, matches!(found, Ty::UNIT | Ty::NEVER | Ty::ERROR))
        {
            let name = self.type_name(found);
            self.sink.push(
                Diagnostic::error(
                    "E0040",
                    format!("an `if` without `else` cannot have a value of type `{name}`"),
                )
                .label(self.ast.span(tail), "this value")
                .help("add `else`, or end it with `;`"),
            );
            return false;
        }
        true
    }

    /// Checks an arm behind others of type `before`; returns the type of all of them.
    pub(super) fn arm(&mut self, block: BlockId, before: Ty, expect: Ty) -> Ty {
        let wanted = if before == Ty::NEVER || before == Ty::ERROR { expect } else { before };
        let found = self.block(block, wanted);
        match (before, found) {
            (Ty::NEVER, other) | (other, Ty::NEVER) => other,
            (Ty::ERROR, other) | (other, Ty::ERROR) => other,
            _ => {
                let block = self.ast.block(block);
                let span = block.tail.map_or(block.span, |tail| self.ast.span(tail));
                self.require_at(block.tail, span, found, before);
                before
            }
        }
    }

    fn int_literal(
        &mut self,
        id: ExprId,
        value: u64,
        suffix: Option<Scalar>,
        expect: Ty,
        negative: bool,
    ) -> Ty {
        let scalar = match (suffix, self.out.types.lanes(expect)) {
            (Some(scalar), _) => scalar,
            (None, Some((scalar, _))) if scalar != Scalar::Bool => scalar,
            _ => Scalar::I32,
        };
        if scalar.is_int() && !scalar.holds(value, negative) {
            let sign = if negative { "-" } else { "" };
            let diagnostic =
                Diagnostic::error("E0003", format!("`{sign}{value}` does not fit in `{}`", scalar.name()))
                    .label(self.ast.span(id), "out of range")
                    .help(range_text(scalar));
            self.sink.push(diagnostic);
        }
        Ty::scalar(scalar)
    }

    fn name(&mut self, id: ExprId, sym: Sym, span: Span) -> Ty {
        let (res, ty) = match self.binding(sym) {
            Binding::Local(local) => (Res::Local(local), self.out.locals[local as usize].ty),
            Binding::Const(index) => {
                self.force_const(index);
                (Res::Const(index), self.out.consts[index as usize].ty)
            }
            // Constants are evaluated before variables exist: nothing there may refer to one.
            Binding::Static(index) => match self.out.statics.get(index as usize) {
                Some(item) => (Res::Static(index), item.ty),
                None => {
                    let text = self.ast.name(sym);
                    self.error("E0070", format!("`{text}` is a variable"), span, "not a constant");
                    (Res::None, Ty::ERROR)
                }
            },
            binding => {
                self.unknown_name(sym, span, binding);
                (Res::None, Ty::ERROR)
            }
        };
        self.out.res[id.at()] = res;
        ty
    }

    fn unknown_name(&mut self, sym: Sym, span: Span, binding: Binding) {
        let text = self.ast.name(sym);
        let what = match binding {
            Binding::Func(_) => Some("a function; call it with `()`"),
            Binding::Struct(_) => Some("a type, not a value"),
            _ if builtins::find(text).is_some() => Some("a built-in function; call it with `()`"),
            _ => None,
        };
        if let Some(what) = what {
            return self.error("E0025", format!("`{text}` is {what}"), span, "not a value");
        }
        let values = |b: Binding| matches!(b, Binding::Local(_) | Binding::Const(_) | Binding::Static(_));
        let help = match text {
            "NULL" | "null" => Some("there is no null pointer".to_string()),
            "get_global_id" | "threadIdx" | "blockIdx" => {
                Some("positions come from `global_id(0)`, `local_id(0)` and `group_id(0)`".to_string())
            }
            _ => self.suggest(text, self.bound_names(values).into_iter()),
        };
        let diagnostic = Diagnostic::error("E0020", format!("nothing is called `{text}` here"))
            .label(span, "unknown name")
            .help_opt(help);
        self.sink.push(diagnostic);
    }

    fn unary(&mut self, op: UnaryOp, inner: ExprId, span: Span, expect: Ty) -> Ty {
        // A minus belongs to the literal behind it: `-128i8` is in range, `128i8` is not.
        if let (UnaryOp::Neg, ExprKind::Int { value, suffix }) = (op, self.ast.expr(inner).kind) {
            let ty = self.int_literal(inner, value, suffix, expect, true);
            return self.set(inner, ty);
        }
        let ty = self.expr(inner, expect);
        let fine = match (op, self.out.types.lanes(ty)) {
            _ if ty == Ty::ERROR => true,
            (UnaryOp::Neg, Some((scalar, _))) => scalar.is_float() || scalar.is_signed(),
            (UnaryOp::Not, Some((scalar, _))) => !scalar.is_float(),
            _ => false,
        };
        if fine {
            return ty;
        }
        let (text, help) = match op {
            UnaryOp::Neg => ("-", Some("write `0 - x` to wrap around")),
            UnaryOp::Not => ("!", None),
        };
        let name = self.type_name(ty);
        let unsigned = self.out.types.lanes(ty).is_some_and(|(scalar, _)| scalar.is_int());
        let diagnostic = Diagnostic::error("E0041", format!("`{text}` does not apply to `{name}`"))
            .label(span, format!("operand is `{name}`"))
            .help_opt(help.filter(|_| unsigned).map(str::to_string));
        self.sink.push(diagnostic);
        Ty::ERROR
    }

    /// Checks two operands that should agree; a literal takes the type of the other one.
    pub(super) fn pair(&mut self, left: ExprId, right: ExprId, expect: Ty) -> (Ty, Ty) {
        match (self.untyped(left), self.untyped(right)) {
            (Some(_), None) => {
                let b = self.expr(right, expect);
                (self.expr(left, b), b)
            }
            (Some(a), Some(b)) => {
                let float = a.max(b) == Literal::Float;
                let expect = if float && expect == Ty::NONE { Ty::F32 } else { expect };
                (self.expr(left, expect), self.expr(right, expect))
            }
            (None, _) => {
                let a = self.expr(left, expect);
                (a, self.expr(right, a))
            }
        }
    }

    /// A chain of operators, `a + b * c - d`: down to the first operand, telling each what is expected of it, then up.
    fn binary(&mut self, id: ExprId, expect: Ty) -> Ty {
        let mark = self.chain.len();
        let mut first = id;
        while let ExprKind::Binary(op, left, right) = self.ast.expr(first).kind {
            self.chain.push(Link { id: first, op, left, right, literal: None, right_is: Ty::NONE, expect });
            first = left;
        }
        let end = self.chain.len();
        let mut literal = self.untyped(first);
        for n in (mark..end).rev() {
            let Link { op, right, .. } = self.chain[n];
            self.chain[n].literal = literal;
            literal = untyped_binary(op, literal, || self.untyped(right));
        }
        let mut expect = expect;
        for n in mark..end {
            expect = self.expected_of_left(n, expect);
        }
        let mut ty = self.expr(first, expect);
        while self.chain.len() > mark {
            if let Some(link) = self.chain.pop() {
                ty = self.apply_link(link, ty);
                self.set(link.id, ty);
            }
        }
        ty
    }

    /// What the left operand of a link is expected to be; as in [`Checker::pair`], a literal takes the type of the right one.
    fn expected_of_left(&mut self, n: usize, expect: Ty) -> Ty {
        let Link { op, right, literal, .. } = self.chain[n];
        if op.is_logic() {
            return Ty::BOOL;
        }
        if op.is_shift() {
            return expect;
        }
        let expect = if op.is_comparison() { Ty::NONE } else { expect };
        let expect = match (literal, self.untyped(right)) {
            (Some(_), None) => {
                let found = self.expr(right, expect);
                self.chain[n].right_is = found;
                found
            }
            (Some(a), Some(b)) if a.max(b) == Literal::Float && expect == Ty::NONE => Ty::F32,
            _ => expect,
        };
        self.chain[n].expect = expect;
        expect
    }

    /// The type of a link whose left operand has the type `a`.
    fn apply_link(&mut self, link: Link, a: Ty) -> Ty {
        let Link { id, op, left, right, literal, right_is, expect } = link;
        if op.is_logic() {
            self.is_condition(left, a);
            self.condition(right);
            return Ty::BOOL;
        }
        let b = match (right_is, literal) {
            _ if op.is_shift() => self.operand_after(op, a, right),
            (Ty::NONE, None) => self.expr(right, a),
            (Ty::NONE, Some(_)) => self.expr(right, expect),
            (found, _) => found,
        };
        self.binary_type(op, a, b, (left, right), self.ast.span(id))
    }

    /// Checks the right operand of `op` when the left one has the type `left`.
    pub(super) fn operand_after(&mut self, op: BinaryOp, left: Ty, right: ExprId) -> Ty {
        let pointer = self.out.types.as_pointer(left).is_some();
        let expect = match (op.is_shift(), pointer) {
            (true, _) => Ty::U32,
            (false, true) => Ty::I32,
            (false, false) => left,
        };
        self.expr(right, expect)
    }

    /// Type of `a op b`.
    pub(super) fn binary_type(
        &mut self,
        op: BinaryOp,
        a: Ty,
        b: Ty,
        operands: (ExprId, ExprId),
        span: Span,
    ) -> Ty {
        if a == Ty::ERROR || b == Ty::ERROR {
            return Ty::ERROR;
        }
        if let Some(ty) = self.pointer_binary(op, a, b) {
            return ty;
        }
        let (Some((x, n)), Some((y, m))) = (self.out.types.lanes(a), self.out.types.lanes(b)) else {
            return self.bad_operands(op, a, b, span);
        };
        if op.is_shift() {
            let fits = x.is_int() && y.is_int() && (m == 1 || m == n);
            return if fits { a } else { self.bad_operands(op, a, b, span) };
        }
        if x != y || (n != m && n != 1 && m != 1) {
            return self.mismatch(op, a, b, operands);
        }
        let known = match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !x.is_float(),
            BinaryOp::Eq | BinaryOp::Ne => true,
            _ => x != Scalar::Bool,
        };
        if !known {
            return self.bad_operands(op, a, b, span);
        }
        let shape = if n >= m { a } else { b };
        if op.is_comparison() { self.out.types.with_scalar(shape, Scalar::Bool) } else { shape }
    }

    /// `p + i`, `p - i`, comparison of pointers.
    fn pointer_binary(&mut self, op: BinaryOp, a: Ty, b: Ty) -> Option<Ty> {
        let left = self.out.types.as_pointer(a)?;
        match (op, self.out.types.kind(b)) {
            (BinaryOp::Add | BinaryOp::Sub, TyKind::Scalar(scalar)) if scalar.is_int() => Some(a),
            (_, TyKind::Pointer(right)) if op.is_comparison() => {
                (left.to == right.to && left.space == right.space).then_some(Ty::BOOL)
            }
            _ => None,
        }
    }

    fn bad_operands(&mut self, op: BinaryOp, a: Ty, b: Ty, span: Span) -> Ty {
        let (left, right) = (self.type_name(a), self.type_name(b));
        let help = match (op, a) {
            (BinaryOp::And, Ty::BOOL) | (BinaryOp::Or, Ty::BOOL) => None,
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Ty::BOOL) => {
                Some("convert it first: `b as u32`".to_string())
            }
            _ => None,
        };
        let diagnostic =
            Diagnostic::error("E0041", format!("`{}` does not apply to `{left}` and `{right}`", op.text()))
                .label(span, format!("`{left}` {} `{right}`", op.text()))
                .help_opt(help);
        self.sink.push(diagnostic);
        Ty::ERROR
    }

    fn mismatch(&mut self, op: BinaryOp, a: Ty, b: Ty, operands: (ExprId, ExprId)) -> Ty {
        let (left, right) = (self.type_name(a), self.type_name(b));
        // A literal names its own kind, so the suggestion is to change the literal.
        let help = match (self.untyped(operands.0), self.untyped(operands.1)) {
            (None, None) => self.conversion_help(b, a),
            _ => Some("an integer type does not take a literal with a point".to_string()),
        };
        let diagnostic =
            Diagnostic::error("E0040", format!("the operands of `{}` have different types", op.text()))
                .label(self.ast.span(operands.1), format!("this is `{right}`"))
                .label(self.ast.span(operands.0), format!("this is `{left}`"))
                .help_opt(help);
        self.sink.push(diagnostic);
        Ty::ERROR
    }

    fn deref(&mut self, inner: ExprId, span: Span) -> Ty {
        let ty = self.expr(inner, Ty::NONE);
        match self.out.types.kind(ty) {
            TyKind::Error => Ty::ERROR,
            TyKind::Pointer(pointer) => pointer.to,
            _ => {
                let name = self.type_name(ty);
                self.error("E0045", format!("`*` needs a pointer, this is `{name}`"), span, "not a pointer");
                Ty::ERROR
            }
        }
    }

    fn cast(&mut self, inner: ExprId, ty: TypeId, span: Span) -> Ty {
        let to = self.resolve(ty);
        // A literal can be born with the type it is cast to, if it fits.
        let literal = match (self.untyped(inner), self.out.types.as_scalar(to)) {
            (Some(Literal::Int), Some(scalar)) if self.fits_literal(inner, scalar) => to,
            (Some(Literal::Float), Some(Scalar::F64)) => to,
            _ => Ty::NONE,
        };
        let from = self.expr(inner, literal);
        if from == Ty::ERROR || to == Ty::ERROR {
            return to;
        }
        let types = &self.out.types;
        let fine = match (types.kind(from), types.kind(to)) {
            (TyKind::Scalar(a), TyKind::Scalar(b)) => b != Scalar::Bool || a == Scalar::Bool,
            (TyKind::Vector(_, n), TyKind::Vector(b, m)) => n == m && b != Scalar::Bool,
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                a.space == b.space
                    || matches!(
                        (a.space, b.space),
                        (Space::Global, Space::Constant) | (Space::Constant, Space::Global)
                    )
            }
            (TyKind::Pointer(p), TyKind::Scalar(scalar)) | (TyKind::Scalar(scalar), TyKind::Pointer(p)) => {
                scalar.is_int() && scalar.bits() == p.space.pointer_bits()
            }
            _ => from == to,
        };
        if !fine {
            let (from_name, to_name) = (self.type_name(from), self.type_name(to));
            let help = match (self.out.types.kind(from), self.out.types.kind(to)) {
                (_, TyKind::Scalar(Scalar::Bool)) => Some("compare with zero: `x != 0`".to_string()),
                (TyKind::Scalar(_), TyKind::Vector(..)) => {
                    Some(format!("`{to_name}(x)` repeats x in all lanes"))
                }
                (TyKind::Pointer(p), _) | (_, TyKind::Pointer(p)) => Some(format!(
                    "pointers to `{}` memory have {} bits",
                    p.space.name(),
                    p.space.pointer_bits()
                )),
                _ => None,
            };
            let diagnostic =
                Diagnostic::error("E0043", format!("`{from_name}` does not convert to `{to_name}`"))
                    .label(span, "no such conversion")
                    .help_opt(help);
            self.sink.push(diagnostic);
        }
        to
    }

    /// A plain literal in the range of `scalar`.
    fn fits_literal(&self, id: ExprId, scalar: Scalar) -> bool {
        match self.ast.expr(id).kind {
            ExprKind::Int { value, .. } => {
                scalar.is_float() || (scalar.is_int() && scalar.holds(value, false))
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => match self.ast.expr(inner).kind {
                ExprKind::Int { value, .. } => {
                    scalar.is_float() || (scalar.is_int() && scalar.holds(value, true))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn index(&mut self, base: ExprId, index: ExprId, span: Span) -> Ty {
        let base_ty = self.expr(base, Ty::NONE);
        let index_ty = self.expr(index, if self.untyped(index).is_some() { Ty::I32 } else { Ty::NONE });
        let element = match self.out.types.kind(base_ty) {
            TyKind::Error => Ty::ERROR,
            TyKind::Pointer(pointer) => pointer.to,
            TyKind::Array(element, len) => {
                self.check_bounds(index, len);
                element
            }
            TyKind::Vector(scalar, lanes) => {
                self.check_bounds(index, u32::from(lanes));
                Ty::scalar(scalar)
            }
            _ => {
                let name = self.type_name(base_ty);
                self.error(
                    "E0044",
                    format!("a value of type `{name}` cannot be indexed"),
                    span,
                    "not a pointer, array or vector",
                );
                return Ty::ERROR;
            }
        };
        if index_ty != Ty::ERROR && !self.out.types.as_scalar(index_ty).is_some_and(Scalar::is_int) {
            let name = self.type_name(index_ty);
            let is_float = self.out.types.as_scalar(index_ty).is_some_and(Scalar::is_float);
            let diagnostic = Diagnostic::error("E0044", format!("an index is an integer, this is `{name}`"))
                .label(self.ast.span(index), format!("this is `{name}`"))
                .help_opt(is_float.then(|| "convert it: `x[i as u32]`".to_string()));
            self.sink.push(diagnostic);
        }
        element
    }

    /// A literal index behind the end is a mistake for certain.
    fn check_bounds(&mut self, index: ExprId, len: u32) {
        let value = match self.ast.expr(index).kind {
            ExprKind::Int { value, .. } => Some(value),
            _ => match self.out.res[index.at()] {
                Res::Const(n) => self.out.consts[n as usize].value.first().copied(),
                _ => None,
            },
        };
        // A length of 0 stands for memory sized by the dispatch.
        if len > 0
            && let Some(value) = value
            && value >= u64::from(len)
        {
            let message = format!("index {} is out of range", value as i64);
            self.error("E0044", message, self.ast.span(index), format!("the length is {len}"));
        }
    }

    fn field(&mut self, base: ExprId, field: Name) -> Ty {
        let base_ty = self.expr(base, Ty::NONE);
        let text = self.ast.name(field.sym);
        match self.out.types.kind(base_ty) {
            TyKind::Error => Ty::ERROR,
            TyKind::Struct(index) => {
                let fields = &self.out.types.structs[index as usize].fields;
                if let Some(found) = fields.iter().find(|f| f.name == field.sym) {
                    return found.ty;
                }
                let help = self.suggest(text, fields.iter().map(|f| self.ast.name(f.name)));
                let message = format!("`{}` has no field `{text}`", self.type_name(base_ty));
                self.sink.push(
                    Diagnostic::error("E0023", message).label(field.span, "unknown field").help_opt(help),
                );
                Ty::ERROR
            }
            TyKind::Vector(scalar, lanes) => match swizzle(text, lanes) {
                Some((_, 1)) => Ty::scalar(scalar),
                Some((_, count)) => self.out.types.vector(scalar, count as u8),
                None => {
                    let message = format!("`{}` has no lanes `{text}`", self.type_name(base_ty));
                    let diagnostic = Diagnostic::error("E0023", message)
                        .label(field.span, "unknown lanes")
                        .help(format!("lanes are {}", lane_text(lanes)));
                    self.sink.push(diagnostic);
                    Ty::ERROR
                }
            },
            TyKind::Pointer(pointer) => {
                let message = format!("a pointer has no field `{text}`");
                let to = self.type_name(pointer.to);
                let diagnostic = Diagnostic::error("E0023", message)
                    .label(field.span, "on a pointer")
                    .help(format!("reach the `{to}` with `(*p).{text}` or `p[i].{text}`"));
                self.sink.push(diagnostic);
                Ty::ERROR
            }
            _ => {
                let message = format!("`{}` has no fields", self.type_name(base_ty));
                self.error("E0023", message, field.span, "no such field");
                Ty::ERROR
            }
        }
    }

    fn array(&mut self, list: List, span: Span, expect: Ty) -> Ty {
        let mut element = match self.out.types.kind(expect) {
            TyKind::Array(element, _) => element,
            _ => Ty::NONE,
        };
        for n in list.range() {
            let id = self.ast.exprs_pool[n];
            let found = self.expr(id, element);
            if element == Ty::NONE {
                element = found;
            } else {
                self.require(id, found, element);
            }
        }
        if element == Ty::NONE {
            self.error("E0050", "an empty array has no element type", span, "at least one element is needed");
            return Ty::ERROR;
        }
        if element == Ty::ERROR || element == Ty::UNIT {
            return Ty::ERROR;
        }
        self.out.types.array(element, list.len).unwrap_or(Ty::ERROR)
    }

    fn repeat(&mut self, value: ExprId, count: ExprId, expect: Ty) -> Ty {
        let element = match self.out.types.kind(expect) {
            TyKind::Array(element, _) => element,
            _ => Ty::NONE,
        };
        let found = self.expr(value, element);
        let count_ty = self.expr(count, Ty::U32);
        if found == Ty::ERROR || found == Ty::UNIT || count_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        if !self.out.types.as_scalar(count_ty).is_some_and(Scalar::is_int) {
            self.require(count, count_ty, Ty::U32);
            return Ty::ERROR;
        }
        let Some(len) = self.eval(count).and_then(|leaves| leaves.first().copied()) else { return Ty::ERROR };
        let array =
            u32::try_from(len).ok().filter(|&len| len > 0).map(|len| self.out.types.array(found, len));
        match array {
            Some(Ok(ty)) => ty,
            _ => {
                let message = format!("an array cannot have {} elements", len as i64);
                self.error("E0072", message, self.ast.span(count), "length");
                Ty::ERROR
            }
        }
    }

    fn struct_literal(&mut self, name: Name, inits: List, span: Span) -> Ty {
        let ty = self.resolve_struct(name);
        let TyKind::Struct(index) = self.out.types.kind(ty) else {
            for n in inits.range() {
                self.expr(self.ast.inits[n].value, Ty::NONE);
            }
            return Ty::ERROR;
        };
        let fields = self.out.types.structs[index as usize].fields.clone();
        for n in inits.range() {
            let init = self.ast.inits[n];
            let text = self.ast.name(init.name.sym);
            let twice =
                self.ast.inits[inits.start as usize..n].iter().any(|other| other.name.sym == init.name.sym);
            match fields.iter().find(|f| f.name == init.name.sym) {
                Some(field) => {
                    let found = self.expr(init.value, field.ty);
                    self.require(init.value, found, field.ty);
                }
                None => {
                    self.expr(init.value, Ty::NONE);
                    let help = self.suggest(text, fields.iter().map(|f| self.ast.name(f.name)));
                    let message = format!("`{}` has no field `{text}`", self.type_name(ty));
                    self.sink.push(
                        Diagnostic::error("E0023", message)
                            .label(init.name.span, "unknown field")
                            .help_opt(help),
                    );
                }
            }
            if twice {
                self.error("E0051", format!("field `{text}` is given twice"), init.name.span, "again");
            }
        }
        let given = &self.ast.inits[inits.range()];
        let missing: Vec<&str> = fields
            .iter()
            .filter(|f| !given.iter().any(|init| init.name.sym == f.name))
            .map(|f| self.ast.name(f.name))
            .collect();
        if !missing.is_empty() {
            let message = format!("missing in `{}`: {}", self.type_name(ty), missing.join(", "));
            self.error("E0051", message, span, "all fields must be given");
        }
        ty
    }

    fn resolve_struct(&mut self, name: Name) -> Ty {
        let text = self.ast.name(name.sym);
        if let Binding::Struct(item) = self.binding(name.sym) {
            self.structure(item as usize);
            return self.struct_ty[item as usize];
        }
        let known = self.bound_names(|b| matches!(b, Binding::Struct(_)));
        let help = self.suggest(text, known.into_iter());
        let diagnostic = Diagnostic::error("E0021", format!("there is no struct `{text}`"))
            .label(name.span, "unknown type")
            .help_opt(help);
        self.sink.push(diagnostic);
        Ty::ERROR
    }
}

fn range_text(scalar: Scalar) -> String {
    let bits = scalar.bits();
    match (scalar.is_signed(), bits) {
        (true, _) => {
            let max = (1u64 << (bits - 1)) - 1;
            format!("`{}` goes from -{} to {max}", scalar.name(), max + 1)
        }
        (false, _) => format!("`{}` goes from 0 to {}", scalar.name(), u64::MAX >> (64 - bits)),
    }
}

fn lane_text(lanes: u8) -> &'static str {
    match lanes {
        2 => "`x`, `y`, `lo`, `hi`, and combinations like `yx`",
        3 => "`x`, `y`, `z`, and combinations like `zyx`",
        4 => "`x`, `y`, `z`, `w`, `lo`, `hi`, and combinations like `wzyx`",
        8 => "`s0` to `s7`, `lo`, `hi`, `even`, `odd`",
        _ => "`s0` to `sf`, `lo`, `hi`, `even`, `odd`",
    }
}
