//! Checks expressions: names, literals, casts, fields, indices and branches.

use super::item::Literal;
use super::{Binding, Checker, Res};
use crate::ast::{BlockId, ExprId, ExprKind, List, Name, Sym, TypeId, UnaryOp};
use crate::builtins;
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Field, Parts, Struct, Ty, TyKind, swizzle};
use ir::Space;

impl Checker<'_, '_> {
    /// Checks an expression and returns its type. `expect` is the type that the context prefers. A literal
    /// without a suffix gets this type. A pointer is converted to this type if that is possible.
    pub(super) fn expr(&mut self, id: ExprId, expect: Ty) -> Ty {
        let expr = *self.ast.expr(id);
        let ty = match expr.kind {
            ExprKind::Error => Ty::ERROR,
            ExprKind::Int { value, suffix } => self.int_literal(id, value, suffix, expect, false),
            ExprKind::Float { suffix, .. } => self.float_literal(id, suffix, expect, false),
            ExprKind::Bool(_) => Ty::BOOL,
            ExprKind::Str(_) => {
                let (message, help) = ("a text is no value", "`printf` and `assert` print texts");
                self.error_help("E0096", message, expr.span, "a text", help);
                Ty::ERROR
            }
            ExprKind::Name(sym) => self.name(id, sym, expr.span),
            ExprKind::Unary(op, inner) => self.unary(op, inner, expr.span, expect),
            ExprKind::Binary(..) => self.binary(id, expect),
            ExprKind::Deref(inner) => self.deref(inner, expr.span),
            ExprKind::AddrOf(inner) => self.address_of(id, inner),
            ExprKind::Cast(inner, ty) => self.cast(inner, ty, expr.span),
            ExprKind::Call { callee, args, given } => self.call(id, callee, args, given, expect),
            ExprKind::CallValue { callee, args } => self.call_value(callee, args),
            ExprKind::TypeConst(of, name) => self.type_const(id, of, name, expr.span),
            ExprKind::Index(base, index) => self.index(base, index, expr.span),
            ExprKind::Field(base, field) => self.field(base, field),
            ExprKind::Array(list) => self.array(list, expr.span, expect),
            ExprKind::Repeat(value, count) => self.repeat(value, count, expect),
            ExprKind::Tuple(list) => self.tuple(list, expr.span, expect),
            ExprKind::Struct(name, inits) => self.struct_literal(name, inits, expr.span),
            ExprKind::If { arms, otherwise } => self.if_chain(arms, otherwise, expect),
            ExprKind::Match { value, arms } => self.match_expr(id, value, arms, expect),
            ExprKind::Block(block) => self.block(block, expect),
            ExprKind::Loop(head, body) => self.loop_expr(head, body, expect),
            ExprKind::Labelled(head, body) => self.labelled_block(head, body, expect),
        };
        let ty = self.set(id, ty);
        if expect == Ty::NONE { ty } else { self.become_expected(id, ty, expect) }
    }

    /// Converts a pointer expression of type `found` to the pointer type `expect` if that is possible, and
    /// returns the resulting type. The conversion may add qualifiers, such as `const`, or make the pointer
    /// generic. If the expression is an `if` or `match`, each arm is converted separately, so that all arms
    /// have the same type.
    fn become_expected(&mut self, id: ExprId, found: Ty, expect: Ty) -> Ty {
        let types = &mut self.s.checked.types;
        if types.as_pointer(expect).is_none() || types.as_pointer(found).is_none() {
            return found;
        }
        if types.fits(found, expect) {
            return expect;
        }
        if types.converts(found, expect) {
            self.s.checked.made_generic.insert(id);
            return expect;
        }
        found
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

    /// Checks the body of an `if` without `else`, which must not have a value. Returns whether it has none,
    /// and reports an error otherwise.
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

    /// Checks a later arm of an `if` or `match`, whose earlier arms have the type `before`. Returns the
    /// common type of all these arms.
    pub(super) fn arm(&mut self, block: BlockId, before: Ty, expect: Ty) -> Ty {
        let found = self.block(block, Self::wanted_of(before, expect));
        let block = self.ast.block(block);
        let span = block.tail.map_or(block.span, |tail| self.ast.span(tail));
        self.same(block.tail, span, found, before)
    }

    /// Returns the type that the next arm of an `if` or `match` should have. This is usually `before`, the
    /// type of the earlier arms. If the earlier arms have an error, or control never reaches their end, it is
    /// `expect`, the type that the context expects.
    pub(super) fn wanted_of(before: Ty, expect: Ty) -> Ty {
        if before == Ty::NEVER || before == Ty::ERROR { expect } else { before }
    }

    /// Returns the common type of the arms of an `if` or `match`: `before` is the type of the earlier arms,
    /// `found` that of the next arm. Reports an error if the types differ.
    pub(super) fn same(&mut self, id: Option<ExprId>, span: Span, found: Ty, before: Ty) -> Ty {
        match (before, found) {
            (Ty::NEVER, other) | (other, Ty::NEVER) => other,
            (Ty::ERROR, other) | (other, Ty::ERROR) => other,
            _ if self.require_at(id, span, found, before) => before,
            _ => Ty::ERROR,
        }
    }

    pub(super) fn int_literal(
        &mut self,
        id: ExprId,
        value: u64,
        suffix: Option<Scalar>,
        expect: Ty,
        negative: bool,
    ) -> Ty {
        let scalar = match (suffix, self.s.checked.types.lanes(expect)) {
            (Some(scalar), _) => scalar,
            (None, Some((scalar, _)))
                if scalar != Scalar::Bool && !self.s.checked.types.is_undecided(expect) =>
            {
                scalar
            }
            _ => return self.open_integer(id, value, negative, expect),
        };
        self.in_range(id, value, negative, scalar);
        Ty::scalar(scalar)
    }

    pub(super) fn float_literal(
        &mut self,
        id: ExprId,
        suffix: Option<Scalar>,
        expect: Ty,
        negative: bool,
    ) -> Ty {
        let types = &mut self.s.checked.types;
        let scalar = match (suffix, types.lanes(expect)) {
            (Some(scalar), _) => scalar,
            (None, Some((scalar, _))) if scalar.is_float() && !types.is_undecided(expect) => scalar,
            (None, wanted) => {
                let is_float = wanted.is_some_and(|(scalar, _)| scalar.is_float());
                let ty = if is_float { expect } else { types.open(true) };
                return self.open_float(id, ty, negative);
            }
        };
        self.float_in_range(id, negative, scalar);
        Ty::scalar(scalar)
    }

    fn name(&mut self, id: ExprId, sym: Sym, span: Span) -> Ty {
        let (res, ty) = match self.binding(sym) {
            Binding::Local(local) => (Res::Local(local), self.s.checked.locals[local as usize].ty),
            Binding::Const(index) => {
                self.force_const(index);
                (Res::Const(index), self.s.checked.consts[index as usize].ty)
            }
            // Constants are evaluated before the checker has the list of module variables. A variable that is
            // not in the list is therefore used in a constant, which is an error.
            Binding::Static(index) => match self.s.checked.statics.get(index as usize) {
                Some(item) => (Res::Static(index), item.ty),
                None => {
                    let text = self.ast.name(sym);
                    self.error("E0070", format!("`{text}` is a variable"), span, "not a constant");
                    (Res::None, Ty::ERROR)
                }
            },
            Binding::Func(func) if let Some(ty) = self.function_value(func) => (Res::Func(func), ty),
            binding => {
                self.unknown_name(sym, span, binding);
                (Res::None, Ty::ERROR)
            }
        };
        self.s.checked.res[id.at()] = res;
        ty
    }

    #[cold]
    fn unknown_name(&mut self, sym: Sym, span: Span, binding: Binding) {
        let text = self.ast.name(sym);
        let what = match binding {
            Binding::Func(_) => Some("a kernel, which is started from outside alone"),
            Binding::Generic(_) => Some("a generic function, which has no address; call it with `()`"),
            Binding::Struct(_) | Binding::Type(_) => Some("a type, not a value"),
            _ if builtins::find(text).is_some() => Some("a built-in function; call it with `()`"),
            _ => None,
        };
        if let Some(what) = what {
            let help = matches!(binding, Binding::Generic(_)).then(|| {
                format!("types and constants for its parameters stand behind `::`: `{text}::<…>(…)`")
            });
            let diagnostic =
                Diagnostic::error("E0025", format!("`{text}` is {what}")).label(span, "not a value");
            return self.sink.push(diagnostic.help_opt(help));
        }
        let values = |b: Binding| matches!(b, Binding::Local(_) | Binding::Const(_) | Binding::Static(_));
        // A variable of exactly this name may have existed in a scope that has ended. The message then names
        // this variable instead of a variable with a similar name.
        let first = self.s.checked.funcs.get(self.s.body.func as usize).map_or(0, |func| func.locals.start);
        let gone = self.s.checked.locals.iter().skip(first as usize).find(|local| local.name == sym);
        let close = self.nearest(text, self.bound_names(values).into_iter()).filter(|_| gone.is_none());
        let diagnostic = Diagnostic::error("E0020", format!("nothing is called `{text}` here"))
            .label(span, "unknown name")
            .label_opt(gone.map(|local| (local.span, "known only in this block or loop".to_string())))
            .help_opt(gone.map(|_| format!("declare it in front of the block: `let mut {text} = …;`")))
            .similar(span, close);
        self.sink.push(diagnostic);
    }

    fn deref(&mut self, inner: ExprId, span: Span) -> Ty {
        let ty = self.expr(inner, Ty::NONE);
        match self.s.checked.types.kind(ty) {
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
        // The operand of a cast may be a literal without a suffix. It then takes the type that it is cast to,
        // if its value fits in that type.
        let literal = match (self.untyped(inner), self.s.checked.types.as_scalar(to)) {
            (Some(Literal::Int), Some(scalar)) if self.fits_literal(inner, scalar) => to,
            (Some(Literal::Float), Some(Scalar::F16 | Scalar::F64)) => to,
            _ => Ty::NONE,
        };
        let from = self.expr(inner, literal);
        if from == Ty::ERROR || to == Ty::ERROR {
            return to;
        }
        let types = &self.s.checked.types;
        let fine = match (types.kind(from), types.kind(to)) {
            (TyKind::Scalar(a), TyKind::Scalar(b)) => a == b || a.converts_to(b),
            (TyKind::Vector(a, n), TyKind::Vector(b, m)) => n == m && a.converts_to(b),
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                let among = |spaces: [Space; 2]| spaces.contains(&a.space) && spaces.contains(&b.space);
                let generic = a.space == Space::Generic || b.space == Space::Generic;
                a.space == b.space || generic || among([Space::Global, Space::Constant])
            }
            (TyKind::Pointer(p), TyKind::Scalar(scalar)) | (TyKind::Scalar(scalar), TyKind::Pointer(p)) => {
                scalar.is_int() && scalar.bits() == p.space.pointer_bits()
            }
            (TyKind::Function(_), TyKind::Scalar(scalar)) | (TyKind::Scalar(scalar), TyKind::Function(_)) => {
                scalar.is_int() && scalar.bits() == 64
            }
            _ => from == to,
        };
        if !fine {
            let (from_name, to_name) = (self.type_name(from), self.type_name(to));
            let help = match (self.s.checked.types.kind(from), self.s.checked.types.kind(to)) {
                (TyKind::Scalar(Scalar::Bf16) | TyKind::Vector(Scalar::Bf16, _), _)
                | (_, TyKind::Scalar(Scalar::Bf16) | TyKind::Vector(Scalar::Bf16, _)) => {
                    Some("`bf16` converts to and from `f32`: go by way of it".to_string())
                }
                (_, TyKind::Scalar(Scalar::Bool)) => Some("compare with zero: `x != 0`".to_string()),
                (TyKind::Scalar(_), TyKind::Vector(..)) => {
                    Some(format!("`{to_name}(x)` repeats x in all lanes"))
                }
                (TyKind::Function(_), TyKind::Function(_)) => {
                    Some("a function is called as what it is; go by way of `u64` if you must".to_string())
                }
                (TyKind::Function(_), _) | (_, TyKind::Function(_)) => {
                    Some("addresses of functions have 64 bits".to_string())
                }
                (TyKind::Pointer(p), _) | (_, TyKind::Pointer(p)) if p.space == Space::Generic => {
                    Some("generic pointers have 64 bits".to_string())
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

    /// Returns whether the expression is a literal (not a computation) whose value is in the range of
    /// `scalar`.
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
        let index_ty = self.any_integer(index, Ty::I32);
        let element = match self.s.checked.types.kind(base_ty) {
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
                let tuple = self.s.checked.types.parts(base_ty).is_some();
                let help = if tuple {
                    "parts of a tuple are `t.0`, `t.1`, …"
                } else {
                    "take a pointer: `p: *global T`"
                };
                self.error_help(
                    "E0044",
                    format!("a value of type `{name}` cannot be indexed"),
                    span,
                    "not a pointer, array or vector",
                    help,
                );
                return Ty::ERROR;
            }
        };
        if index_ty != Ty::ERROR && !self.s.checked.types.as_scalar(index_ty).is_some_and(Scalar::is_int) {
            let name = self.type_name(index_ty);
            let is_float = self.s.checked.types.as_scalar(index_ty).is_some_and(Scalar::is_float);
            let diagnostic = Diagnostic::error("E0044", format!("an index is an integer, this is `{name}`"))
                .label(self.ast.span(index), format!("this is `{name}`"))
                .help_opt(is_float.then(|| "convert it: `x[i as u32]`".to_string()));
            self.sink.push(diagnostic);
        }
        element
    }

    /// Reports a constant index into an array of `len` elements that is below 0 or not less than `len`.
    fn check_bounds(&mut self, index: ExprId, len: u32) {
        let value = self.constant_value(index);
        // A length of 0 means `shared dyn` memory, whose size is known only when the kernel is dispatched.
        if len > 0
            && let Some(value) = value
            && value >= u64::from(len)
        {
            let message = format!("index {} is out of range", value as i64);
            self.error("E0044", message, self.ast.span(index), format!("the length is {len}"));
        }
    }

    /// Returns the value of an integer literal or of a named constant, also with a minus sign before it.
    /// Returns `None` for any other expression.
    pub(super) fn constant_value(&self, id: ExprId) -> Option<u64> {
        match (self.ast.expr(id).kind, self.s.checked.res[id.at()]) {
            (ExprKind::Int { value, .. }, _) => Some(value),
            (ExprKind::Unary(UnaryOp::Neg, inner), _) => self.constant_value(inner).map(u64::wrapping_neg),
            (_, Res::Const(n)) => self.s.checked.consts[n as usize].value.first().copied(),
            _ => None,
        }
    }

    fn field(&mut self, base: ExprId, field: Name) -> Ty {
        let base_ty = self.expr(base, Ty::NONE);
        let (base_ty, pointer) = self.s.checked.types.behind_pointers(base_ty);
        let text = self.ast.name(field.sym);
        match self.s.checked.types.kind(base_ty) {
            TyKind::Error => Ty::ERROR,
            TyKind::Struct(index) => {
                if let Some(found) = self.s.checked.types.field(index, field.sym, text) {
                    return found.ty;
                }
                let Struct { name, fields, .. } = &self.s.checked.types.structs[index as usize];
                let help = match name {
                    Some(_) => {
                        let names: Vec<&str> = fields.iter().map(|f| self.ast.name(f.name)).collect();
                        Some(match self.nearest(text, names.iter().copied()) {
                            Some(found) => format!("a similar name exists: `{found}`"),
                            None => format!("its fields are `{}`", names.join("`, `")),
                        })
                    }
                    None if fields.len() == 1 => Some("its only field is `0`".to_string()),
                    None => Some(format!("its fields are `0` to `{}`", fields.len() - 1)),
                };
                let message = format!("`{}` has no field `{text}`", self.type_name(base_ty));
                self.sink.push(
                    Diagnostic::error("E0023", message).label(field.span, "unknown field").help_opt(help),
                );
                Ty::ERROR
            }
            TyKind::Vector(scalar, lanes) => match swizzle(text, lanes) {
                Some((_, 1)) => Ty::scalar(scalar),
                Some((_, count)) => self.s.checked.types.vector(scalar, count as u8),
                None => {
                    let message = format!("`{}` has no lanes `{text}`", self.type_name(base_ty));
                    let diagnostic = Diagnostic::error("E0023", message)
                        .label(field.span, "unknown lanes")
                        .help(format!("lanes are {}", lane_text(lanes)));
                    self.sink.push(diagnostic);
                    Ty::ERROR
                }
            },
            _ => {
                let message = format!("`{}` has no fields", self.type_name(base_ty));
                let diagnostic = Diagnostic::error("E0023", message).label(field.span, "no such field");
                let array = matches!(self.s.checked.types.kind(base_ty), TyKind::Array(..));
                let help = match pointer {
                    Some(_) if array => Some("elements of the array are `(*p)[0]`, `(*p)[1]`, …"),
                    Some(_) => Some("elements behind a pointer are `p[i]`"),
                    None => array.then_some("elements of an array are `t[0]`, `t[1]`, …"),
                };
                self.sink.push(diagnostic.help_opt(help.map(str::to_owned)));
                Ty::ERROR
            }
        }
    }

    fn array(&mut self, list: List, span: Span, expect: Ty) -> Ty {
        let mut element = match self.s.checked.types.kind(expect) {
            TyKind::Array(element, _) => element,
            _ => Ty::NONE,
        };
        for n in list.range() {
            let id = self.ast.exprs_pool[n];
            let found = self.expr(id, element);
            if matches!(found, Ty::UNIT | Ty::NEVER) {
                self.error("E0040", "this has no value", self.ast.span(id), "nothing to store");
                element = Ty::ERROR;
            } else if element == Ty::NONE {
                element = found;
            } else {
                self.require(id, found, element);
            }
        }
        if element == Ty::NONE {
            self.error("E0050", "an empty array has no element type", span, "at least one element is needed");
            return Ty::ERROR;
        }
        if element == Ty::ERROR {
            return Ty::ERROR;
        }
        self.s.checked.types.array(element, list.len).unwrap_or(Ty::ERROR)
    }

    fn tuple(&mut self, list: List, span: Span, expect: Ty) -> Ty {
        let wanted = self.s.checked.types.parts(expect).filter(|parts| parts.len() == list.len as usize);
        let mut parts = Parts::new();
        for (n, &id) in self.ast.list(list).iter().enumerate() {
            let wanted = wanted.as_ref().map_or(Ty::NONE, |parts| parts[n]);
            let found = self.expr(id, wanted);
            if found == Ty::UNIT {
                self.error("E0040", "this has no value", self.ast.span(id), "nothing to store");
            }
            parts.push(found);
        }
        if parts.iter().any(|&part| matches!(part, Ty::ERROR | Ty::UNIT)) {
            return Ty::ERROR;
        }
        if parts.contains(&Ty::NEVER) {
            return Ty::NEVER;
        }
        self.s.checked.types.tuple(&parts).unwrap_or_else(|_| {
            self.error("E0072", "the tuple has 2 GiB or more", span, "too large");
            Ty::ERROR
        })
    }

    fn repeat(&mut self, value: ExprId, count: ExprId, expect: Ty) -> Ty {
        let element = match self.s.checked.types.kind(expect) {
            TyKind::Array(element, _) => element,
            _ => Ty::NONE,
        };
        let found = self.expr(value, element);
        let count_ty = self.any_integer(count, Ty::U32);
        if matches!(found, Ty::UNIT | Ty::NEVER) {
            self.error("E0040", "this has no value", self.ast.span(value), "nothing to store");
            return Ty::ERROR;
        }
        if found == Ty::ERROR || count_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        if !self.s.checked.types.as_scalar(count_ty).is_some_and(Scalar::is_int) {
            self.require(count, count_ty, Ty::U32);
            return Ty::ERROR;
        }
        let Some(len) = self.eval(count).and_then(|fragments| fragments.first().copied()) else {
            return Ty::ERROR;
        };
        let array =
            u32::try_from(len).ok().filter(|&len| len > 0).map(|len| self.s.checked.types.array(found, len));
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
        let TyKind::Struct(index) = self.s.checked.types.kind(ty) else {
            for n in inits.range() {
                self.expr(self.ast.inits[n].value, Ty::NONE);
            }
            return Ty::ERROR;
        };
        let fields = self.s.checked.types.structs[index as usize].fields.clone();
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
                    self.no_field(ty, &fields, init.name);
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

    #[cold]
    pub(super) fn no_field(&mut self, ty: Ty, fields: &[Field], name: Name) {
        let text = self.ast.name(name.sym);
        let close = self.nearest(text, fields.iter().map(|f| self.ast.name(f.name)));
        let message = format!("`{}` has no field `{text}`", self.type_name(ty));
        self.sink.push(
            Diagnostic::error("E0023", message).label(name.span, "unknown field").similar(name.span, close),
        );
    }

    pub(super) fn resolve_struct(&mut self, name: Name) -> Ty {
        let text = self.ast.name(name.sym);
        if let Binding::Struct(item) = self.binding(name.sym) {
            return self.laid_out(item as usize);
        }
        let known = self.bound_names(|b| matches!(b, Binding::Struct(_)));
        let close = self.nearest(text, known.into_iter());
        let diagnostic = Diagnostic::error("E0021", format!("there is no struct `{text}`"))
            .label(name.span, "unknown type")
            .similar(name.span, close);
        self.sink.push(diagnostic);
        Ty::ERROR
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
