//! Checks calls of functions and of vector constructors, and recognises calls of built-in functions.

use super::{Binding, Checker, ConstItem, FragmentBits, Res};
use crate::ast::{ExprId, ExprKind, List, Name};
use crate::builtins;
use crate::cfg::{Question, evaluate_question};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::{Scalar, vector_name};
use crate::types::{FnType, Ty, TyKind};

impl Checker<'_, '_> {
    pub(super) fn call(&mut self, id: ExprId, callee: Name, args: List, given: List, expect: Ty) -> Ty {
        let text = self.ast.name(callee.sym);
        if let Binding::Generic(item) = self.binding(callee.sym) {
            return self.call_generic(id, item, callee, args, given, expect);
        }
        if given.len > 0 && text != "bitcast" {
            self.error("E0025", format!("`{text}` takes no type"), callee.span, "with `::<…>`");
        }
        match self.binding(callee.sym) {
            Binding::Func(func) => return self.call_function(id, func, callee, args),
            Binding::None => {}
            Binding::Local(_) | Binding::Static(_) | Binding::Const(_)
                if let Some((res, ty)) = self.called_variable(callee) =>
            {
                self.s.checked.res[id.at()] = res;
                return self.call_pointer(ty, callee.span, args);
            }
            other => {
                self.check_all(args);
                let ty = match other {
                    Binding::Local(local) => self.s.checked.locals[local as usize].ty,
                    Binding::Const(index) => self.s.checked.consts[index as usize].ty,
                    _ => Ty::NONE,
                };
                if ty == Ty::ERROR {
                    return Ty::ERROR;
                }
                let help = match other {
                    Binding::Struct(_) => format!(
                        "a struct is made with the names of its fields: `{text} {{ field: value, … }}`"
                    ),
                    _ => format!("elements are in brackets: `{text}[i]`; a product is `{text} * (…)`"),
                };
                let message = format!("`{text}` is not a function");
                self.error_help("E0025", message, callee.span, "cannot be called", help);
                return Ty::ERROR;
            }
        }
        if text == "has" {
            return self.has_feature(id, callee, args);
        }
        if let Some((scalar, lanes)) = vector_name(text) {
            self.s.checked.res[id.at()] = Res::Vector;
            return self.vector(callee, scalar, lanes, args);
        }
        match builtins::find(text) {
            Some(builtin) => {
                self.s.checked.res[id.at()] = Res::Builtin(builtin);
                self.builtin(id, builtin, callee, args, given, expect)
            }
            None => {
                self.check_all(args);
                self.unknown_function(callee);
                Ty::ERROR
            }
        }
    }

    /// Checks `has(feature)` and turns it into a `bool` constant, because the target processor is known.
    fn has_feature(&mut self, id: ExprId, callee: Name, args: List) -> Ty {
        let &[arg] = self.ast.list(args) else {
            self.check_all(args);
            self.wrong_count(callee, args.len as usize, (1, 1), None);
            return Ty::ERROR;
        };
        let span = self.ast.span(arg);
        let Some(name) = crate::argument_words::word(self.ast, arg) else {
            self.error("E0094", "`has` asks for a feature by its name", span, "not a name");
            return Ty::ERROR;
        };
        match evaluate_question(self.options.processor, Question::Feature, name, span) {
            Ok(has) => {
                self.s.checked.res[id.at()] = Res::Const(self.s.checked.consts.len() as u32);
                let value = FragmentBits::from_slice(&[u64::from(has)]);
                self.s.checked.consts.push(ConstItem { name: callee.sym, ty: Ty::BOOL, value });
                Ty::BOOL
            }
            Err(diagnostic) => {
                self.sink.push(diagnostic);
                Ty::ERROR
            }
        }
    }

    /// Checks the arguments of a call that has an error of its own, so that mistakes in the arguments are
    /// reported nevertheless. No types are expected of the arguments.
    pub(super) fn check_all(&mut self, args: List) {
        for n in args.range() {
            self.expr(self.ast.exprs_pool[n], Ty::NONE);
        }
    }

    #[cold]
    fn unknown_function(&mut self, callee: Name) {
        let text = self.ast.name(callee.sym);
        let funcs = self.bound_names(|b| matches!(b, Binding::Func(_) | Binding::Generic(_)));
        let close = self.nearest(text, funcs.into_iter().chain(builtins::names()));
        let diagnostic = Diagnostic::error("E0022", format!("there is no function `{text}`"))
            .label(callee.span, "unknown function")
            .similar(callee.span, close);
        self.sink.push(diagnostic);
    }

    fn call_function(&mut self, id: ExprId, func: u32, callee: Name, args: List) -> Ty {
        self.s.checked.res[id.at()] = Res::Func(func);
        let text = self.ast.name(callee.sym);
        let Some(info) = self.s.checked.funcs.get(func as usize) else {
            // Constants and array lengths are evaluated before the checker has read any function signature,
            // so they cannot contain calls.
            self.error(
                "E0070",
                format!("`{text}` is not evaluated at compile time"),
                callee.span,
                "a function call",
            );
            return Ty::ERROR;
        };
        let (result, is_kernel, declared) = (info.result, info.kernel.is_some(), info.name.span);
        let params = info.locals.range();
        if is_kernel {
            self.check_all(args);
            let diagnostic = Diagnostic::error("E0025", format!("`{text}` is a kernel and cannot be called"))
                .label(callee.span, "a kernel")
                .help("move what both need into a `fn`");
            self.sink.push(diagnostic);
            return Ty::ERROR;
        }
        if params.len() != args.len as usize {
            self.check_all(args);
            self.wrong_count(callee, args.len as usize, (params.len(), params.len()), Some(declared));
            return result;
        }
        for (n, local) in params.enumerate() {
            let wanted = self.s.checked.locals[local].ty;
            let arg = self.ast.exprs_pool[args.start as usize + n];
            let found = self.expr(arg, wanted);
            self.require(arg, found, wanted);
        }
        if result == Ty::UNIT && self.lacks_result(func) { Ty::ERROR } else { result }
    }

    /// Returns the variable or constant that the called name refers to, with its type. Returns `None` if its
    /// type is not a function type.
    fn called_variable(&mut self, callee: Name) -> Option<(Res, Ty)> {
        let (res, ty) = match self.binding(callee.sym) {
            Binding::Const(index) => {
                self.force_const(index);
                (Res::Const(index), self.s.checked.consts[index as usize].ty)
            }
            Binding::Local(local) => (Res::Local(local), self.s.checked.locals[local as usize].ty),
            Binding::Static(index) => (Res::Static(index), self.s.checked.statics.get(index as usize)?.ty),
            _ => return None,
        };
        self.s.checked.types.as_function(ty).map(|_| (res, ty))
    }

    /// Checks a call of an expression: `(s.f)(x)`, `table[i](x)`.
    pub(super) fn call_value(&mut self, callee: ExprId, args: List) -> Ty {
        let ty = self.expr(callee, Ty::NONE);
        let span = self.ast.span(callee);
        if self.s.checked.types.as_function(ty).is_some() {
            return self.call_pointer(ty, span, args);
        }
        self.check_all(args);
        if ty != Ty::ERROR {
            let name = self.type_name(ty);
            self.error(
                "E0025",
                format!("a value of type `{name}` is not a function"),
                span,
                "cannot be called",
            );
        }
        Ty::ERROR
    }

    /// Checks a call through a value of a function type.
    fn call_pointer(&mut self, ty: Ty, span: Span, args: List) -> Ty {
        let Some(FnType { params, result }) = self.s.checked.types.as_function(ty).cloned() else {
            return Ty::ERROR;
        };
        if params.len() != args.len as usize {
            self.check_all(args);
            let (count, found) = (params.len(), args.len);
            let plural = if count == 1 { "" } else { "s" };
            let name = self.type_name(ty);
            let message = format!("`{name}` takes {count} argument{plural}, found {found}");
            self.error("E0042", message, span, format!("expected {count} argument{plural}"));
            return result;
        }
        for (&wanted, n) in params.iter().zip(args.range()) {
            let arg = self.ast.exprs_pool[n];
            let found = self.expr(arg, wanted);
            self.require(arg, found, wanted);
        }
        result
    }

    /// Returns whether a function declares no result, but its body ends in an expression that certainly has a
    /// value. This mistake is reported at the end of the body. Errors at the calls of the function would only
    /// repeat it.
    fn lacks_result(&self, func: u32) -> bool {
        let body = self.s.checked.funcs[func as usize].body;
        let tail = body.and_then(|body| self.ast.block(body).tail);
        tail.is_some_and(|tail| {
            matches!(
                self.ast.expr(tail).kind,
                ExprKind::Int { .. }
                    | ExprKind::Float { .. }
                    | ExprKind::Bool(_)
                    | ExprKind::Name(_)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Cast(..)
                    | ExprKind::Index(..)
                    | ExprKind::Field(..)
            )
        })
    }

    /// Reports a wrong number of arguments.
    #[cold]
    pub(super) fn wrong_count(
        &mut self,
        callee: Name,
        found: usize,
        wanted: (usize, usize),
        declared: Option<Span>,
    ) {
        let text = self.ast.name(callee.sym);
        let count = match wanted {
            (min, max) if min == max => format!("{min} argument{}", if min == 1 { "" } else { "s" }),
            (min, max) if max == min + 1 => format!("{min} or {max} arguments"),
            (min, _) => format!("{min} arguments or more"),
        };
        let mut diagnostic = Diagnostic::error("E0042", format!("`{text}` takes {count}, found {found}"))
            .label(callee.span, format!("expected {count}"));
        if let Some(declared) = declared {
            diagnostic = diagnostic.label(declared, "declared here");
        } else if wanted.0 == wanted.1 {
            let arguments = ["a", "b", "c", "d", "e", "f"].get(..wanted.0).unwrap_or_default().join(", ");
            diagnostic = diagnostic.help(format!("write `{text}({arguments})`"));
        }
        self.sink.push(diagnostic);
    }

    /// Checks a vector constructor such as `f32x4(…)`. The arguments are either one scalar for all elements,
    /// or scalars and vectors whose elements, in order, become the elements of the result.
    fn vector(&mut self, callee: Name, scalar: Scalar, lanes: u8, args: List) -> Ty {
        let ty = self.s.checked.types.vector(scalar, lanes);
        let wanted = Ty::scalar(scalar);
        let mut filled = 0u32;
        for n in args.range() {
            let arg = self.ast.exprs_pool[n];
            let found = self.expr(arg, wanted);
            match self.s.checked.types.kind(found) {
                TyKind::Error => return ty,
                TyKind::Vector(of, count) if of == scalar => filled += u32::from(count),
                _ => {
                    if !self.require(arg, found, wanted) {
                        return ty;
                    }
                    filled += 1;
                }
            }
        }
        if filled != u32::from(lanes) && !(args.len == 1 && filled == 1) {
            let name = self.type_name(ty);
            let diagnostic =
                Diagnostic::error("E0055", format!("`{name}` has {lanes} lanes, found {filled}"))
                    .label(callee.span, format!("{lanes} lanes to fill"))
                    .help(format!("give {lanes} scalars, parts that add up to them, or one for all"));
            self.sink.push(diagnostic);
        }
        ty
    }
}
