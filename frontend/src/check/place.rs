//! Checks places: expressions that stand for memory or a variable. A program can assign to a place or take
//! its address.

use super::{Checker, Res};
use crate::ast::{ExprId, ExprKind, StmtKind};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::types::{Pointer, Qualifiers, TyKind, swizzle};
use ir::Space;

/// What a place is a part of, which decides whether it can be assigned to or have its address taken.
pub(super) enum Root {
    /// A local variable.
    Local(u32),
    /// Memory that a pointer or a module variable refers to.
    Memory { space: Space, qualifiers: Qualifiers },
    /// A constant, which can only be read.
    Const,
    /// A value that has no storage, such as the result of a call.
    Value,
    /// Nothing is known, because an error has been reported.
    Unknown,
}

impl Checker<'_, '_> {
    /// Returns what an expression reads or writes in the end: the variable or the memory behind all field
    /// accesses, indices and swizzles. The expression must have been checked.
    pub(super) fn root(&self, mut id: ExprId) -> Root {
        loop {
            let expr = self.ast.expr(id);
            match expr.kind {
                ExprKind::Error => return Root::Unknown,
                ExprKind::Name(_) => {
                    return match self.s.checked.res[id.at()] {
                        Res::Local(local) => Root::Local(local),
                        Res::Const(_) => Root::Const,
                        Res::Static(index) => {
                            let space = self.s.checked.statics[index as usize].space;
                            let mut qualifiers = Qualifiers::empty();
                            qualifiers.set(Qualifiers::CONST, space == Space::Constant);
                            Root::Memory { space, qualifiers }
                        }
                        _ => Root::Unknown,
                    };
                }
                ExprKind::Deref(pointer) => return self.pointee(pointer),
                ExprKind::Index(base, _) => {
                    match self.s.checked.types.kind(self.s.checked.expr_ty[base.at()]) {
                        TyKind::Pointer(_) => return self.pointee(base),
                        _ => id = base,
                    }
                }
                ExprKind::Field(base, _) => {
                    let types = &self.s.checked.types;
                    match types.behind_pointers(self.s.checked.expr_ty[base.at()]).1 {
                        Some(Pointer { space, qualifiers, .. }) => {
                            return Root::Memory { space, qualifiers };
                        }
                        None => id = base,
                    }
                }
                _ => return Root::Value,
            }
        }
    }

    fn pointee(&self, pointer: ExprId) -> Root {
        match self.s.checked.types.as_pointer(self.s.checked.expr_ty[pointer.at()]) {
            Some(Pointer { space, qualifiers, .. }) => Root::Memory { space, qualifiers },
            None => Root::Unknown,
        }
    }

    /// Checks that a place can be written and records the write.
    pub(super) fn assignable(&mut self, id: ExprId) {
        let span = self.ast.span(id);
        match self.root(id) {
            Root::Local(local) => {
                let info = &self.s.checked.locals[local as usize];
                if !info.mutable {
                    let (declared, name) = (info.span, self.ast.name(info.name));
                    self.immutable(span, declared, name);
                    // The missing `mut` in the declaration has just been reported. The variable counts as
                    // mutable from here on, so that further assignments to it are not reported.
                    self.s.checked.locals[local as usize].mutable = true;
                }
                if !self.s.body.loops.is_empty() {
                    self.s.body.assigned.push(local);
                }
            }
            Root::Memory { qualifiers, .. } if qualifiers.contains(Qualifiers::CONST) => {
                let help =
                    "write through a pointer without `const`; `&x` is one if `x` is declared with `let mut`";
                self.error_help(
                    "E0047",
                    "this memory is read-only",
                    span,
                    "`const` or `constant` memory",
                    help,
                );
            }
            Root::Memory { .. } | Root::Unknown => {}
            Root::Const => self.error("E0047", "a constant cannot be assigned to", span, "a constant"),
            Root::Value => {
                self.error("E0048", "this cannot be assigned to", span, "not a variable or memory")
            }
        }
        self.distinct_lanes(id);
    }

    fn immutable(&mut self, span: Span, declared: Span, name: &str) {
        let is_param = self.s.checked.funcs.get(self.s.body.func as usize).is_some_and(|func| {
            self.s.checked.locals[func.locals.range()].iter().any(|param| param.span == declared)
        });
        let counts =
            |stmt: &crate::ast::Stmt| matches!(stmt.kind, StmtKind::For { var, .. } if var.span == declared);
        let of_loop = self.ast.stmts.iter().any(counts);
        let declares = !of_loop;
        let help = if of_loop {
            "the variable of a `for` does not change: count with `while`".to_string()
        } else if is_param {
            format!("declare it as `mut {name}`")
        } else {
            format!("declare it as `let mut {name}`")
        };
        self.sink.push(
            Diagnostic::error("E0047", format!("`{name}` cannot be changed"))
                .label(span, "assigned here")
                .label(
                    declared,
                    if is_param { "a parameter without `mut`" } else { "declared without `mut`" },
                )
                .help(help)
                .suggest_opt(
                    declares.then_some((Span { start: declared.start, end: declared.start }, "mut ")),
                ),
        );
    }

    /// Reports an assignment to a swizzle such as `v.xx`, which would write one vector element twice.
    fn distinct_lanes(&mut self, id: ExprId) {
        let ExprKind::Field(base, field) = self.ast.expr(id).kind else { return };
        let types = &self.s.checked.types;
        let (of, _) = types.behind_pointers(self.s.checked.expr_ty[base.at()]);
        let TyKind::Vector(_, lanes) = types.kind(of) else { return };
        let Some((picked, count)) = swizzle(self.ast.name(field.sym), lanes) else { return };
        let repeated = (1..count).any(|n| picked[..n].contains(&picked[n]));
        if repeated {
            self.error("E0048", "a lane is assigned twice", field.span, "names a lane more than once");
        }
    }

    /// Returns the type of `&place`.
    pub(super) fn address_of(&mut self, id: ExprId, inner: ExprId) -> crate::types::Ty {
        use crate::types::Ty;
        let to = self.expr(inner, Ty::NONE);
        if to == Ty::ERROR {
            return Ty::ERROR;
        }
        let span = self.ast.span(id);
        let types = &self.s.checked.types;
        let is_vector = |ty| matches!(types.kind(ty), TyKind::Vector(..));
        if let ExprKind::Field(base, field) = self.ast.expr(inner).kind
            && is_vector(types.behind_pointers(self.s.checked.expr_ty[base.at()]).0)
            && is_vector(to)
        {
            self.error("E0048", "several lanes have no common address", field.span, "a swizzle");
            return Ty::ERROR;
        }
        let (space, qualifiers) = match self.root(inner) {
            Root::Local(local) => {
                let local = &mut self.s.checked.locals[local as usize];
                local.in_memory = true;
                let mut qualifiers = Qualifiers::empty();
                qualifiers.set(Qualifiers::CONST, !local.mutable);
                (Space::Private, qualifiers)
            }
            Root::Memory { space, qualifiers } => (space, qualifiers & !Qualifiers::RESTRICT),
            Root::Unknown => return Ty::ERROR,
            Root::Const | Root::Value => {
                let diagnostic = Diagnostic::error("E0048", "this has no address")
                    .label(span, "not a variable or memory")
                    .help("constants with an address are `constant static`");
                self.sink.push(diagnostic);
                return Ty::ERROR;
            }
        };
        self.s.checked.types.pointer(Pointer { to, space, qualifiers })
    }
}
