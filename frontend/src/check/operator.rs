//! Checks operators and their operands.

use super::Checker;
use super::item::Literal;
use crate::ast::{BinaryOp, ExprId, ExprKind, UnaryOp};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind};
use ir::Space;

/// One operator of a chain of binary operators such as `a + b - c`.
#[derive(Clone, Copy)]
pub(super) struct Link {
    id: ExprId,
    op: BinaryOp,
    left: ExprId,
    right: ExprId,
    /// Whether the left operand is an integer or a float literal, if it consists only of literals.
    literal: Option<Literal>,
    /// Type of the right operand if it has been checked, else `Ty::NONE`.
    right_is: Ty,
    /// Type that the context expects of the result, and so of literal operands.
    expect: Ty,
}

/// Returns the kind of literal, integer or float, that `left op right` is treated as. An operation on
/// literals without a suffix has no type of its own, like the literals. Returns `None` if the operation has a
/// type. `left` and `right` are the kinds of the operands.
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
    pub(super) fn unary(&mut self, op: UnaryOp, inner: ExprId, span: Span, expect: Ty) -> Ty {
        // A minus sign is treated as part of the literal that follows: `-128i8` is in range although `128i8`
        // is not.
        if let (UnaryOp::Neg, ExprKind::Int { value, suffix }) = (op, self.ast.expr(inner).kind) {
            let ty = self.int_literal(inner, value, suffix, expect, true);
            return self.set(inner, ty);
        }
        if let (UnaryOp::Neg, ExprKind::Float { suffix, .. }) = (op, self.ast.expr(inner).kind) {
            let ty = self.float_literal(inner, suffix, expect, true);
            return self.set(inner, ty);
        }
        let ty = self.expr(inner, expect);
        let lanes = self.s.checked.types.lanes(ty);
        let fine = ty == Ty::ERROR || lanes.is_some_and(|(scalar, _)| op.takes(scalar));
        if fine {
            if op == UnaryOp::Neg {
                self.s.checked.types.must_be_signed(ty);
            }
            return ty;
        }
        let (text, help) = match op {
            UnaryOp::Neg => ("-", Some("write `-(x as i32)`, or `0 - x` to wrap around")),
            UnaryOp::Not => ("!", None),
        };
        let name = self.type_name(ty);
        let unsigned = self.s.checked.types.lanes(ty).is_some_and(|(scalar, _)| scalar.is_int());
        let null = self.null_help(ty, "==").filter(|_| op == UnaryOp::Not);
        let diagnostic = Diagnostic::error("E0041", format!("`{text}` does not apply to `{name}`"))
            .label(span, format!("operand is `{name}`"))
            .help_opt(null.or_else(|| help.filter(|_| unsigned).map(str::to_string)));
        self.sink.push(diagnostic);
        Ty::ERROR
    }

    /// Checks two operands that should have the same type, and returns their types. If one operand is a
    /// literal, the other operand decides its type.
    pub(super) fn pair(&mut self, left: ExprId, right: ExprId, expect: Ty) -> (Ty, Ty) {
        match (self.untyped(left), self.untyped(right)) {
            (Some(_), None) => {
                let b = self.expr(right, expect);
                (self.expr(left, b), b)
            }
            (Some(a), Some(b)) => {
                let float = a.max(b) == Literal::Float;
                let expect =
                    if float && expect == Ty::NONE { self.s.checked.types.open(true) } else { expect };
                (self.expr(left, expect), self.expr(right, expect))
            }
            (None, _) => {
                let a = self.expr(left, expect);
                (a, self.expr(right, a))
            }
        }
    }

    /// Checks a chain of operators such as `a + b * c - d`. First goes down to the leftmost operand, and
    /// computes on the way which type each left operand should have. Then goes back up and computes the type
    /// of each operation. Loops do this instead of recursion, because a chain can be long.
    pub(super) fn binary(&mut self, id: ExprId, expect: Ty) -> Ty {
        let mark = self.s.chain.len();
        let mut first = id;
        while let ExprKind::Binary(op, left, right) = self.ast.expr(first).kind {
            self.s.chain.push(Link { id: first, op, left, right, literal: None, right_is: Ty::NONE, expect });
            first = left;
        }
        // If a generic pointer is expected, the result of `p + n` is converted to it, and not the operand
        // `p`. The operand therefore gets no expected type. Pointers that are compared are not converted
        // either.
        let expect = if self.s.checked.types.as_pointer(expect).is_some() { Ty::NONE } else { expect };
        let end = self.s.chain.len();
        let mut literal = self.untyped(first);
        for n in (mark..end).rev() {
            let Link { op, right, .. } = self.s.chain[n];
            self.s.chain[n].literal = literal;
            literal = untyped_binary(op, literal, || self.untyped(right));
        }
        let mut expect = expect;
        for n in mark..end {
            expect = self.expected_of_left(n, expect);
        }
        let mut ty = self.expr(first, expect);
        while self.s.chain.len() > mark {
            if let Some(link) = self.s.chain.pop() {
                ty = self.apply_link(link, ty);
                self.set(link.id, ty);
            }
        }
        ty
    }

    /// Returns the type that the left operand of operator `n` of the chain should have. As in
    /// [`Checker::pair`], a literal gets the type of the right operand, which is checked here for this
    /// purpose.
    fn expected_of_left(&mut self, n: usize, expect: Ty) -> Ty {
        let Link { op, right, literal, .. } = self.s.chain[n];
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
                self.s.chain[n].right_is = found;
                found
            }
            (Some(a), Some(b)) if a.max(b) == Literal::Float && expect == Ty::NONE => {
                self.s.checked.types.open(true)
            }
            _ => expect,
        };
        self.s.chain[n].expect = expect;
        expect
    }

    /// Checks `link`, one operator of a chain, and returns the type of its result. `a` is the type of the
    /// left operand.
    fn apply_link(&mut self, link: Link, a: Ty) -> Ty {
        let Link { id, op, left, right, literal, right_is, expect } = link;
        if op.is_logic() {
            let before = self.sink.count();
            self.is_operand_of(op, left, a);
            let b = self.expr(right, Ty::BOOL);
            // If an operand has an error, no further error is reported.
            if self.sink.count() == before {
                self.is_operand_of(op, right, b);
            }
            return if self.sink.count() > before { Ty::ERROR } else { Ty::BOOL };
        }
        let b = match (right_is, literal) {
            _ if op.is_shift() => self.operand_after(op, a, right),
            (Ty::NONE, None) => self.expr(right, self.expected_of_right(a)),
            (Ty::NONE, Some(_)) => self.expr(right, expect),
            (found, _) => found,
        };
        self.binary_type(op, a, b, (left, right), self.ast.span(id))
    }

    /// Returns the type that the right operand should have if the left operand has the type `left`. After a
    /// pointer, this is `Ty::NONE` (no expectation), because pointers are compared without a conversion.
    fn expected_of_right(&self, left: Ty) -> Ty {
        if self.s.checked.types.as_pointer(left).is_some() { Ty::NONE } else { left }
    }

    /// Reports an operand of `&&` or `||` that is not a `bool`.
    fn is_operand_of(&mut self, op: BinaryOp, id: ExprId, found: Ty) {
        if !self.s.checked.types.as_scalar(found).is_some_and(Scalar::is_int) {
            return self.is_condition(id, found);
        }
        let (name, text) = (self.type_name(found), op.text());
        self.error_help(
            "E0046",
            format!("`{text}` joins conditions of type `bool`, this is `{name}`"),
            self.ast.span(id),
            format!("this is `{name}`"),
            format!("compare with zero: `x != 0`; the bits of integers are joined by `{}`", &text[1..]),
        );
    }

    /// Returns the help text that shows how to test a pointer for null.
    pub(super) fn null_help(&self, ty: Ty, op: &str) -> Option<String> {
        let bits = self.s.checked.types.as_pointer(ty)?.space.pointer_bits();
        let null = if bits == 64 { "0" } else { "0xffffffff" };
        Some(format!("a null pointer has the address {null}: `p as u{bits} {op} {null}`"))
    }

    /// Returns a help text for an operator that cannot be applied to these operands, one of which is a
    /// pointer.
    fn pointer_help(&self, op: BinaryOp, a: Ty, b: Ty) -> Option<String> {
        let types = &self.s.checked.types;
        let is_int = |ty| types.as_scalar(ty).is_some_and(Scalar::is_int);
        match (types.as_pointer(a), types.as_pointer(b)) {
            (Some(_), None) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && is_int(b) => {
                self.null_help(a, op.text())
            }
            (None, Some(_)) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && is_int(a) => {
                self.null_help(b, op.text())
            }
            (None, Some(_)) if op == BinaryOp::Add && is_int(a) => {
                Some("the pointer comes first: `p + i`".to_string())
            }
            (Some(p), Some(q))
                if op.is_comparison() && p.to == q.to && [p.space, q.space].contains(&Space::Generic) =>
            {
                let name = types.name(p.to, &self.ast.names);
                Some(format!("compare pointers of one kind: `p {} q as *{name}`", op.text()))
            }
            (Some(p), Some(q)) if op.is_comparison() && p.space.pointer_bits() == q.space.pointer_bits() => {
                let bits = p.space.pointer_bits();
                Some(format!("compare the addresses: `p as u{bits} {} q as u{bits}`", op.text()))
            }
            (Some(_), Some(_)) if op.is_comparison() => {
                Some("only pointers to one kind of memory are compared".to_string())
            }
            (Some(p), Some(q)) if op == BinaryOp::Sub && p.to == q.to && p.space == q.space => {
                let (bits, size) = (p.space.pointer_bits(), types.layout(p.to).size);
                Some(format!(
                    "how far one is from the other, in elements: `(p as u{bits} - q as u{bits}) / {size}`"
                ))
            }
            (Some(_), _) | (_, Some(_)) => Some(
                "pointers are moved, `p + i` and `p - i`, and compared; `*p` is what is there".to_string(),
            ),
            _ => None,
        }
    }

    /// Checks the right operand of `op` and returns its type. The left operand has the type `left`.
    pub(super) fn operand_after(&mut self, op: BinaryOp, left: Ty, right: ExprId) -> Ty {
        match (op.is_shift(), self.s.checked.types.as_pointer(left)) {
            (true, _) if self.ast.is_number(right) => self.expr(right, Ty::U32),
            (true, _) => self.expr(right, Ty::NONE),
            (false, Some(_)) => self.any_integer(right, Ty::I32),
            (false, None) => self.expr(right, left),
        }
    }

    /// Returns the type of `a op b`.
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
        if let Some(ty) = self.pointer_binary(op, a, b, span) {
            return ty;
        }
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne)
            && self.s.checked.types.as_function(a).is_some()
            && a == b
        {
            return Ty::BOOL;
        }
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne)
            && self.s.checked.types.scalars_of_tuple(a).is_some()
            && self.s.checked.types.scalars_of_tuple(b).is_some()
        {
            let same = self.s.checked.types.fits(b, a) || self.agree(a, b, span);
            return if same { Ty::BOOL } else { self.mismatch(op, a, b, operands) };
        }
        if !op.is_shift() {
            let (x, y) = (self.lane_type(a), self.lane_type(b));
            self.agree(x, y, span);
        }
        let (Some((x, n)), Some((y, m))) = (self.s.checked.types.lanes(a), self.s.checked.types.lanes(b))
        else {
            return self.bad_operands(op, a, b, span);
        };
        if op.is_shift() {
            let fits = op.takes(x) && y.is_int() && (m == 1 || m == n);
            return if fits { a } else { self.bad_operands(op, a, b, span) };
        }
        if x != y || (n != m && n != 1 && m != 1) {
            return self.mismatch(op, a, b, operands);
        }
        if !op.takes(x) {
            return self.bad_operands(op, a, b, span);
        }
        let shape = if n >= m { a } else { b };
        if op.is_comparison() { self.s.checked.types.with_scalar(shape, Scalar::Bool) } else { shape }
    }

    fn is_float(&self, ty: Ty) -> bool {
        self.s.checked.types.lanes(ty).is_some_and(|(scalar, _)| scalar.is_float())
    }

    /// Returns the element type of a vector type; returns any other type unchanged.
    pub(super) fn lane_type(&self, ty: Ty) -> Ty {
        match self.s.checked.types.kind(ty) {
            TyKind::Vector(scalar, _) => Ty::scalar(scalar),
            _ => ty,
        }
    }

    /// Returns the type of an operation on pointers: `p + i`, `p - i` or a comparison of two pointers.
    /// Returns `None` if the types of the operands do not allow one of these.
    fn pointer_binary(&mut self, op: BinaryOp, a: Ty, b: Ty, span: Span) -> Option<Ty> {
        let left = self.s.checked.types.as_pointer(a)?;
        match (op, self.s.checked.types.kind(b)) {
            (BinaryOp::Add | BinaryOp::Sub, TyKind::Scalar(scalar)) if scalar.is_int() => Some(a),
            (_, TyKind::Pointer(right)) if op.is_comparison() => {
                (self.agree(left.to, right.to, span) && left.space == right.space).then_some(Ty::BOOL)
            }
            _ => None,
        }
    }

    #[cold]
    fn bad_operands(&mut self, op: BinaryOp, a: Ty, b: Ty, span: Span) -> Ty {
        let (left, right) = (self.type_name(a), self.type_name(b));
        let is_stored = |ty| self.s.checked.types.lanes(ty).is_some_and(|(scalar, _)| scalar == Scalar::Bf16);
        let help = match (op, a) {
            _ if let Some(help) = self.pointer_help(op, a, b) => Some(help),
            _ if let Some(help) = self.no_result_help(a).or_else(|| self.no_result_help(b)) => Some(help),
            _ if is_stored(a) || is_stored(b) => Some("compute in `f32`: `x as f32`".to_string()),
            (BinaryOp::And, Ty::BOOL) | (BinaryOp::Or, Ty::BOOL) => None,
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Ty::BOOL) => {
                Some("convert it first: `b as u32`".to_string())
            }
            _ if op.is_shift() => Some("a shift is one of integers, by integers".to_string()),
            (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, _) if self.is_float(a) => {
                Some("the bits of a float are `bitcast::<u32>(x)`".to_string())
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

    #[cold]
    fn mismatch(&mut self, op: BinaryOp, a: Ty, b: Ty, operands: (ExprId, ExprId)) -> Ty {
        let (left, right) = (self.type_name(a), self.type_name(b));
        let arithmetic = !op.is_comparison() && !op.is_logic();
        let number = if a == Ty::BOOL { &right } else { &left };
        let help = match (self.untyped(operands.0), self.untyped(operands.1)) {
            _ if arithmetic && (a == Ty::BOOL) != (b == Ty::BOOL) => {
                Some(format!("convert the `bool`: `c as {number}`"))
            }
            _ if (a == Ty::BOOL) != (b == Ty::BOOL) => {
                Some("compare the number with zero: `x != 0`".to_string())
            }
            (None, None) => self
                .generic_help(a, b)
                .or_else(|| self.point_help(a, b))
                .or_else(|| self.conversion_help(b, a)),
            // One operand consists of literals only, such as `1 + 2.0`, and a decimal point in it makes the
            // whole operand a float. The help therefore suggests to leave out the point.
            _ if self.is_float(a) != self.is_float(b) => {
                let float = if self.is_float(a) { &left } else { &right };
                Some(format!("convert the integer, `x as {float}`, or write the literal without a point"))
            }
            _ => self.conversion_help(b, a),
        };
        let diagnostic =
            Diagnostic::error("E0040", format!("the operands of `{}` have different types", op.text()))
                .label(self.ast.span(operands.1), format!("this is `{right}`"))
                .label(self.ast.span(operands.0), format!("this is `{left}`"))
                .label_opt(
                    self.why([a, b]).filter(|&(at, _)| {
                        at != self.ast.span(operands.0) && at != self.ast.span(operands.1)
                    }),
                )
                .help_opt(help);
        self.sink.push(diagnostic);
        self.spoil([a, b]);
        Ty::ERROR
    }
}
