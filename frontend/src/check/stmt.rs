//! Checks statements, blocks and function bodies.

use super::loops::Kind;
use super::{Binding, Body, Checker, ConstItem, FragmentBits, StaticItem};
use crate::ast::{BinaryOp, BlockId, ExprId, ExprKind, Name, PatId, PatKind, StmtId, StmtKind, TypeId};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Parts, Ty};
use ir::Space;

use super::item::MAX_SHARED;
use smol_str::format_smolstr;

/// Largest number of scalars in a value that an assignment or a call may copy.
pub const MAX_VALUE: u32 = 1024;

impl Checker<'_, '_> {
    pub(super) fn function_body(&mut self, func: u32) {
        let info = &self.s.checked.funcs[func as usize];
        let (result, kernel, name) = (info.result, info.kernel.is_some(), info.name);
        let Some(body) = info.body else { return };
        let params = info.locals;
        let mut state = Body { func, result: Some(result), kernel, ..Body::default() };
        std::mem::swap(&mut self.s.body, &mut state);
        let scope = self.s.shadowed.len();
        let first_local = self.s.checked.locals.len();
        for local in params.range() {
            let sym = self.s.checked.locals[local].name;
            self.bind(sym, Binding::Local(local as u32));
        }
        let found = self.block(body, result);
        let tail = self.ast.block(body).tail;
        match tail {
            Some(tail) if found != Ty::UNIT || result == Ty::UNIT => {
                self.require(tail, found, result);
            }
            _ if result != Ty::UNIT && found != Ty::NEVER && result != Ty::ERROR => {
                let close = self.ast.block(body).span;
                let wanted = self.type_name(result);
                let text = self.ast.name(name.sym);
                self.sink.push(
                    Diagnostic::error("E0049", format!("`{text}` must return a value of type `{wanted}`"))
                        .label(
                            Span { start: close.end - 1, end: close.end },
                            "the end is reached without a value",
                        )
                        .help("end the body with the value, without `;`, or with `return`"),
                );
            }
            _ => {}
        }
        self.close_scope(scope);
        self.default_open_literals(first_local);
        if self.s.body.shared_bytes > MAX_SHARED {
            let total = self.s.body.shared_bytes;
            let message = format!("{total} bytes of `shared` memory in all; a work-group has {MAX_SHARED}");
            self.error("E0086", message, name.span, "uses too much");
        }
        self.s.body = state;
    }

    /// Checks a block and returns its type. If control never reaches the end of the block, this is the never
    /// type `!`. Otherwise, it is the type of the last expression, or `()` if the block has no last
    /// expression.
    pub(super) fn block(&mut self, id: BlockId, expect: Ty) -> Ty {
        let block = *self.ast.block(id);
        let scope = self.s.shadowed.len();
        let mut diverges = false;
        for n in 0..block.stmts.len as usize {
            diverges |= self.stmt(Self::stmt_id(block.stmts, n));
        }
        let ty = match block.tail {
            Some(tail) => self.expr(tail, expect),
            None if diverges => Ty::NEVER,
            None => Ty::UNIT,
        };
        self.close_scope(scope);
        ty
    }

    /// Checks a statement. Returns whether control never reaches the next statement.
    fn stmt(&mut self, id: StmtId) -> bool {
        let stmt = self.ast.stmts[id.at()];
        match stmt.kind {
            StmtKind::Let { pattern, ty, init } => {
                self.let_stmt(pattern, ty, init);
                false
            }
            StmtKind::Shared { dynamic, name, ty } => {
                self.shared_stmt(id, dynamic, name, ty);
                false
            }
            StmtKind::Const { name, ty, value } => {
                let ty = self.resolve(ty);
                let value = self.constant_of_type(value, ty);
                let index = self.s.checked.consts.len() as u32;
                let ty = if value.is_some() { ty } else { Ty::ERROR };
                self.s.checked.consts.push(ConstItem {
                    name: name.sym,
                    ty,
                    value: value.unwrap_or_default(),
                });
                self.bind(name.sym, Binding::Const(index));
                false
            }
            StmtKind::Expr(value) => self.expr_stmt(value),
            StmtKind::StaticAssert { cond, message } => {
                self.static_assert(cond, message);
                false
            }
            StmtKind::Assign { op, place, value } => {
                self.assign(op, place, value);
                false
            }
            StmtKind::While { head, cond, body } => {
                self.in_loop(head, Kind::Counted, Ty::NONE, |c| {
                    c.condition(cond);
                    c.loop_body(body);
                });
                false
            }
            StmtKind::For { head, var, from, to, step, body, .. } => {
                let ty = self.range(from, to, step);
                self.in_loop(head, Kind::Counted, Ty::NONE, |c| {
                    let scope = c.s.shadowed.len();
                    c.s.checked.stmt_decl[id.at()] = c.declare(var, ty, false);
                    c.loop_body(body);
                    c.close_scope(scope);
                });
                false
            }
            StmtKind::Break { label, value } => {
                self.break_stmt(label, value, stmt.span);
                true
            }
            StmtKind::Continue(label) => {
                self.continue_stmt(label, stmt.span);
                true
            }
            StmtKind::Return(value) => {
                self.return_stmt(value, stmt.span);
                true
            }
        }
    }

    fn let_stmt(&mut self, pattern: PatId, ty: Option<TypeId>, init: Option<ExprId>) {
        let declared = ty.map(|ty| self.resolve(ty));
        let found = init.map(|init| self.expr(init, declared.unwrap_or(Ty::NONE)));
        let ty = match (declared, found, init) {
            (Some(declared), Some(found), Some(init)) => {
                self.require(init, found, declared);
                declared
            }
            (Some(declared), ..) => declared,
            (None, Some(found), Some(init)) => {
                if found == Ty::UNIT || found == Ty::NEVER {
                    self.error("E0040", "this has no value", self.ast.span(init), "nothing to store");
                    Ty::ERROR
                } else {
                    found
                }
            }
            _ => {
                let span = self.ast.pattern(pattern).span;
                let text = self.text_of(pattern);
                self.sink.push(
                    Diagnostic::error("E0050", format!("the type of `{text}` is not known"))
                        .label(span, "neither type nor value")
                        .help(format!("write `let mut {text}: T;` or give it a value")),
                );
                Ty::ERROR
            }
        };
        if let Some(init) = init {
            self.by_value(ty, self.ast.span(init));
        }
        let mutable = matches!(self.ast.pattern(pattern).kind, PatKind::Name { mutable: true, .. });
        if init.is_none() && !mutable && declared.is_some_and(|ty| ty != Ty::ERROR) {
            let text = self.text_of(pattern);
            self.sink.push(
                Diagnostic::error("E0047", format!("`{text}` has no value and can never get one"))
                    .label(self.ast.pattern(pattern).span, "declared without `mut` and without a value")
                    .help(match self.ast.pattern(pattern).kind {
                        PatKind::Name { .. } => format!("declare it as `let mut {text}`"),
                        _ => "give it a value".to_string(),
                    }),
            );
        }
        self.declare_pattern(pattern, ty);
    }

    /// Returns the text for a pattern in messages.
    fn text_of(&self, pattern: PatId) -> &str {
        match self.ast.pattern(pattern).kind {
            PatKind::Name { name, .. } => self.ast.name(name.sym),
            PatKind::Tuple(_) => "(…)",
            PatKind::Array(_) => "[…]",
            PatKind::Struct { name, .. } => self.ast.name(name.sym),
            _ => "_",
        }
    }

    /// Reports a type whose values are too large to be copied.
    pub(super) fn by_value(&mut self, ty: Ty, span: Span) {
        if self.s.checked.types.layout(ty).fragments > MAX_VALUE {
            let name = self.type_name(ty);
            self.sink.push(
                Diagnostic::error("E0090", format!("copying a value of type `{name}` is not supported yet"))
                    .label(span, format!("more than {MAX_VALUE} scalars"))
                    .help("declare the variable without a value and fill it in a loop"),
            );
        }
    }

    fn shared_stmt(&mut self, id: StmtId, dynamic: bool, name: Name, ty: TypeId) {
        let ty = self.variable_type(name, ty, Space::Shared, dynamic);
        let text = self.ast.name(name.sym);
        if !dynamic {
            let size = self.s.checked.types.layout(ty).size;
            // The total size of the body's `shared` variables is tested later. A variable that alone exceeds
            // the limit has been reported already, so it does not count towards the total.
            let counts = u64::from(size) <= MAX_SHARED;
            self.s.body.shared_bytes += if counts { u64::from(size.next_multiple_of(16)) } else { 0 };
        }
        let func = self.s.checked.funcs[self.s.body.func as usize].name.sym;
        let owner = self.ast.name(func);
        let name_of = if self.s.static_names.insert((func, name.sym)) {
            format_smolstr!("{owner}.{text}")
        } else {
            format_smolstr!("{owner}.{text}.{}", self.s.checked.statics.len())
        };
        let index = self.s.checked.statics.len() as u32;
        self.s.checked.statics.push(StaticItem {
            name: name_of,
            span: name.span,
            space: Space::Shared,
            ty,
            dynamic,
            external: false,
            init: FragmentBits::new(),
        });
        self.s.checked.stmt_decl[id.at()] = index;
        self.bind(name.sym, Binding::Static(index));
    }

    /// Checks an expression statement.
    fn expr_stmt(&mut self, value: ExprId) -> bool {
        let ty = self.expr(value, Ty::NONE);
        let kind = self.ast.expr(value).kind;
        match kind {
            _ if ty == Ty::UNIT || ty == Ty::ERROR || ty == Ty::NEVER => {}
            ExprKind::Call { .. } => {}
            ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::Block(_)
            | ExprKind::Loop(..)
            | ExprKind::Labelled(..) => {
                let name = self.type_name(ty);
                self.sink.push(
                    Diagnostic::error("E0056", format!("the value, of type `{name}`, is not used"))
                        .label(self.ast.span(value), "this has a value")
                        .help("end the blocks with `;`, or use the value"),
                );
            }
            _ => {
                let help = match kind {
                    ExprKind::Binary(BinaryOp::Eq, ..) => "`=` assigns, `==` compares",
                    _ => "leave out the `;` if it is the value of the block; assign it if it is used later",
                };
                self.sink.push(
                    Diagnostic::error("E0056", "this statement does nothing")
                        .label(self.ast.span(value), "the value is not used")
                        .help(help),
                );
            }
        }
        ty == Ty::NEVER
    }

    fn assign(&mut self, op: Option<BinaryOp>, place: ExprId, value: ExprId) {
        if op.is_none() && self.ast.is_parts(place) {
            let wanted = self.places(place);
            let found = self.expr(value, wanted);
            self.require(value, found, wanted);
            return self.by_value(found, self.ast.span(value));
        }
        let ty = self.expr(place, Ty::NONE);
        if ty == Ty::ERROR {
            self.expr(value, Ty::NONE);
            return;
        }
        self.assignable(place);
        match op {
            None => {
                let found = self.expr(value, ty);
                self.require(value, found, ty);
                self.by_value(ty, self.ast.span(value));
            }
            Some(op) => {
                let right = self.operand_after(op, ty, value);
                let span = self.ast.span(place).to(self.ast.span(value));
                let result = self.binary_type(op, ty, right, (place, value), span);
                self.require(place, result, ty);
            }
        }
    }

    /// Checks the left-hand side of an assignment, which may be a tuple of assignable expressions, and
    /// returns its type. `_` discards the value and has the type `Ty::NONE`.
    fn places(&mut self, id: ExprId) -> Ty {
        let ty = match self.ast.expr(id).kind {
            ExprKind::Tuple(list) => {
                let mut parts = Parts::new();
                for &part in self.ast.list(list) {
                    parts.push(self.places(part));
                }
                if parts.contains(&Ty::ERROR) {
                    return self.set(id, Ty::ERROR);
                }
                self.s.checked.types.tuple(&parts).unwrap_or(Ty::ERROR)
            }
            ExprKind::Name(sym) if self.ast.name(sym) == "_" => Ty::NONE,
            _ => {
                let ty = self.expr(id, Ty::NONE);
                if ty != Ty::ERROR {
                    self.assignable(id);
                }
                return ty;
            }
        };
        self.set(id, ty)
    }

    pub(super) fn condition(&mut self, cond: ExprId) {
        let found = self.expr(cond, Ty::BOOL);
        self.is_condition(cond, found);
    }

    /// Reports a condition that is not a `bool`.
    pub(super) fn is_condition(&mut self, cond: ExprId, found: Ty) {
        if self.s.checked.types.fits(found, Ty::BOOL) {
            return;
        }
        let name = self.type_name(found);
        let numeric = self.s.checked.types.as_scalar(found).is_some();
        self.sink.push(
            Diagnostic::error("E0046", format!("a condition is a `bool`, this is `{name}`"))
                .label(self.ast.span(cond), format!("this is `{name}`"))
                .help_opt(match self.s.checked.types.kind(found) {
                    _ if numeric && matches!(self.ast.expr(cond).kind, ExprKind::Int { .. }) => {
                        Some("write `true`; an endless loop is `loop { … }`".to_string())
                    }
                    _ if numeric => Some("compare with zero: `x != 0`, or `x == 0` for `!x`".to_string()),
                    crate::types::TyKind::Vector(Scalar::Bool, _) => {
                        Some("each lane has a `bool` of its own: join them, `c.x && c.y`".to_string())
                    }
                    crate::types::TyKind::Pointer(_) => self.null_help(found, "!="),
                    _ => None,
                }),
        );
    }

    pub(super) fn loop_body(&mut self, body: BlockId) {
        let ty = self.block(body, Ty::UNIT);
        if let Some(tail) = self.ast.block(body).tail {
            self.require(tail, ty, Ty::UNIT);
        }
    }

    /// Checks the bounds and the step of a `for` loop's range, and returns the type of the loop counter.
    fn range(&mut self, from: ExprId, to: ExprId, step: Option<ExprId>) -> Ty {
        let (a, b) = self.pair(from, to, Ty::NONE);
        if a == Ty::ERROR || b == Ty::ERROR {
            return Ty::ERROR;
        }
        if !self.s.checked.types.as_scalar(a).is_some_and(Scalar::is_int) {
            let name = self.type_name(a);
            self.error_help(
                "E0040",
                format!("a loop counts in integers, not in `{name}`"),
                self.ast.span(from),
                "start",
                "convert the ends: `0..x as u32`",
            );
            return Ty::ERROR;
        }
        if !self.require(to, b, a) {
            return Ty::ERROR;
        }
        if let Some(step) = step {
            let found = self.expr(step, a);
            if self.require(step, found, a) && self.is_bad_step(step, a) {
                self.sink.push(
                    Diagnostic::error("E0071", "the step of a loop is positive")
                        .label(self.ast.span(step), "not positive")
                        .help("count down with `while`"),
                );
            }
        }
        a
    }

    /// Returns whether the step of a `for` loop is a constant that is not positive.
    fn is_bad_step(&mut self, step: ExprId, ty: Ty) -> bool {
        let scalar = self.s.checked.types.as_scalar(ty).unwrap_or(Scalar::I32);
        let value = match self.ast.expr(step).kind {
            ExprKind::Int { value, .. } => Some(value),
            ExprKind::Unary(..) => self.untyped(step).and_then(|_| self.eval(step)?.first().copied()),
            _ => match self.s.checked.res[step.at()] {
                super::Res::Const(index) => self.s.checked.consts[index as usize].value.first().copied(),
                _ => None,
            },
        };
        value.is_some_and(|bits| bits == 0 || (scalar.is_signed() && (bits as i64) < 0))
    }

    fn return_stmt(&mut self, value: Option<ExprId>, span: Span) {
        let result = self.s.body.result.unwrap_or(Ty::UNIT);
        match value {
            Some(value) => {
                let found = self.expr(value, result);
                if result == Ty::UNIT && found != Ty::UNIT && found != Ty::ERROR {
                    let what = if self.s.body.kernel { "a kernel" } else { "this function" };
                    let help = if self.s.body.kernel {
                        "write `return;`; results are stored through pointers"
                    } else {
                        "write `return;`; a function with a result says so: `-> T`"
                    };
                    let message = format!("{what} returns nothing");
                    self.error_help("E0049", message, self.ast.span(value), "a value", help);
                } else {
                    self.require(value, found, result);
                }
            }
            None if result != Ty::UNIT && result != Ty::ERROR => {
                let wanted = self.type_name(result);
                self.error(
                    "E0049",
                    format!("`return` needs a value of type `{wanted}`"),
                    span,
                    "without a value",
                );
            }
            None => {}
        }
    }
}
