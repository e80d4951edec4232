//! Checks patterns: the variables that they declare and the values that they match.

use super::{Binding, Checker, PatRes};
use crate::ast::{Ast, ExprId, List, Name, PatId, PatKind, Pattern};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Field, Parts, Ty, TyKind};
use smallvec::SmallVec;
use std::ops::Range;

/// How to interpret names in a pattern.
#[derive(Clone)]
struct Names {
    /// Whether the pattern belongs to a `match`, and so may compare values. The name of a constant then means
    /// the constant, and does not declare a variable.
    refutable: bool,
    /// Index of the first local variable that the pattern declares.
    first: usize,
    /// For the second and later alternatives of a pattern `a | b`: the variables that the first alternative
    /// declared. The other alternatives must use the same names and declare no variables of their own.
    declared: Option<Range<usize>>,
}

/// Returns the sub-pattern that each element or field of a value must match. `parts` is the number of
/// elements or fields, and `list` has the sub-patterns as written. An entry is `None` if the pattern says
/// nothing about the element, for example because of `..`. `res` is the checker's table with the meaning of
/// each pattern.
pub fn patterns_of_parts(
    ast: &Ast,
    res: &[PatRes],
    list: List,
    parts: usize,
) -> SmallVec<[Option<PatId>; 8]> {
    let mut all: SmallVec<[Option<PatId>; 8]> = smallvec::smallvec![None; parts];
    let mut at = 0;
    for n in list.range() {
        let id = ast.patterns_pool[n];
        let (to, part) = match (ast.pattern(id).kind, res[id.at()]) {
            // Patterns after `..` belong to the last parts.
            (PatKind::Rest, _) => {
                at = (parts + n + 1).saturating_sub(list.range().end);
                continue;
            }
            (PatKind::Field { part, .. }, PatRes::Field(field)) => (field as usize, part),
            _ => {
                at += 1;
                (at - 1, id)
            }
        };
        if let Some(slot) = all.get_mut(to) {
            *slot = Some(part);
        }
    }
    all
}

impl Checker<'_, '_> {
    /// Declares the variables of a `let`.
    pub(super) fn declare_pattern(&mut self, pattern: PatId, ty: Ty) {
        let first = self.s.checked.locals.len();
        self.pattern(pattern, ty, &Names { refutable: false, first, declared: None });
    }

    /// Checks the pattern of an arm for values of type `of`.
    pub(super) fn match_pattern(&mut self, pattern: PatId, of: Ty) {
        let first = self.s.checked.locals.len();
        self.pattern(pattern, of, &Names { refutable: true, first, declared: None });
    }

    fn pattern(&mut self, id: PatId, of: Ty, names: &Names) {
        let pattern = *self.ast.pattern(id);
        match pattern.kind {
            PatKind::Any => {}
            PatKind::Rest => {
                self.error(
                    "E0058",
                    "`..` stands for parts of a value",
                    pattern.span,
                    "not in a tuple, array or struct",
                );
            }
            PatKind::Tuple(list) => {
                let parts = self.s.checked.types.parts(of);
                self.listed_parts(id, list, of, parts, names);
            }
            PatKind::Array(list) => {
                let is_array = matches!(self.s.checked.types.kind(of), TyKind::Array(..));
                let parts = self.s.checked.types.pattern_parts(of).filter(|_| is_array);
                self.listed_parts(id, list, of, parts, names);
            }
            PatKind::Struct { name, fields } => self.struct_pattern(id, name, fields, of, names),
            // `struct_pattern` checks the fields.
            PatKind::Field { .. } => {}
            PatKind::Or(list) => self.alternatives(list, of, names),
            PatKind::Name { name, value: Some(value), .. }
                if names.refutable && matches!(self.binding(name.sym), Binding::Const(_)) =>
            {
                self.bounds(id, Some(value), Some(value), of);
            }
            PatKind::Name { mutable, name, .. } => {
                let local = self.variable(name, mutable, of, names);
                self.s.checked.patterns[id.at()] = local.map_or(PatRes::Unknown, PatRes::Local);
            }
            PatKind::Value(_) | PatKind::Range { .. } if !names.refutable => {
                self.sink.push(
                    Diagnostic::error("E0058", "`let` takes any value, this asks for certain ones")
                        .label(pattern.span, "not a variable, a tuple, an array or a struct of them, or `_`")
                        .help("compare with `if` or `match`"),
                );
            }
            PatKind::Value(value) => self.bounds(id, Some(value), Some(value), of),
            PatKind::Range { first, last, .. } => self.bounds(id, first, last, of),
        }
    }

    /// Checks the sub-patterns of a tuple or array pattern from left to right.
    fn listed_parts(&mut self, id: PatId, list: List, of: Ty, parts: Option<Parts>, names: &Names) {
        let ast = self.ast;
        let pattern = ast.pattern(id);
        let written = &ast.patterns_pool[list.range()];
        let is_rest = |id: &&PatId| matches!(ast.pattern(**id).kind, PatKind::Rest);
        let rests = written.iter().filter(is_rest).count();
        let named = written.len() - rests;
        if let Some(second) = written.iter().filter(is_rest).nth(1) {
            self.error("E0058", "`..` stands once in a pattern", ast.pattern(*second).span, "second one");
        } else if of != Ty::ERROR {
            let fits = |parts: &Parts| parts.len() == named || (rests == 1 && named < parts.len());
            match &parts {
                Some(parts) if fits(parts) => self.s.checked.patterns[id.at()] = PatRes::Parts,
                Some(parts) => self.wrong_parts(of, pattern.span, parts.len(), named),
                None => self.no_such_parts(of, pattern),
            }
        }
        let parts = parts.unwrap_or_default();
        let skipped = parts.len().saturating_sub(named);
        let mut at = 0;
        for &id in written {
            if is_rest(&&id) {
                at += skipped;
                continue;
            }
            // A pattern with the wrong number of parts has been reported. The names in it are declared with
            // the error type, so that their uses are not reported as well.
            let of = if rests <= 1 { parts.get(at).copied().unwrap_or(Ty::ERROR) } else { Ty::ERROR };
            self.pattern(id, of, names);
            at += 1;
        }
    }

    /// Checks `S { a, b: p, .. }`.
    fn struct_pattern(&mut self, id: PatId, name: Name, list: List, of: Ty, names: &Names) {
        let ast = self.ast;
        let ty = self.resolve_struct(name);
        let fits = ty != Ty::ERROR && (of == Ty::ERROR || self.require_at(None, name.span, ty, of));
        let fields = match self.s.checked.types.kind(ty) {
            TyKind::Struct(index) => self.s.checked.types.structs[index as usize].fields.clone(),
            _ => Vec::new(),
        };
        let (mut named, mut rest) = (vec![false; fields.len()], false);
        for &one in &ast.patterns_pool[list.range()] {
            let PatKind::Field { name, part } = ast.pattern(one).kind else {
                rest = true;
                continue;
            };
            let at = fields.iter().position(|field| field.name == name.sym);
            self.pattern(part, at.map_or(Ty::ERROR, |at| fields[at].ty), names);
            match at {
                Some(at) if named[at] => {
                    let text = ast.name(name.sym);
                    self.error("E0051", format!("field `{text}` is named twice"), name.span, "again");
                }
                Some(at) => {
                    named[at] = true;
                    self.s.checked.patterns[one.at()] = PatRes::Field(at as u32);
                }
                None if ty != Ty::ERROR => {
                    self.no_field(ty, &fields, name);
                    rest = true; // the misspelt field is most likely the one that would be reported as missing
                }
                None => {}
            }
        }
        let open = |(field, _): (&Field, _)| ast.name(field.name);
        let missing: Vec<&str> =
            fields.iter().zip(&named).filter(|(_, named)| !**named && !rest).map(open).collect();
        if !missing.is_empty() {
            self.sink.push(
                Diagnostic::error("E0051", format!("the pattern does not name: {}", missing.join(", ")))
                    .label(ast.pattern(id).span, "a field is missing")
                    .help("`..` at the end stands for fields that are not named"),
            );
        } else if fits {
            self.s.checked.patterns[id.at()] = PatRes::Parts;
        }
    }

    #[cold]
    fn wrong_parts(&mut self, of: Ty, span: Span, has: usize, named: usize) {
        let name = self.type_name(of);
        let plural = if has == 1 { "" } else { "s" };
        self.sink.push(
            Diagnostic::error("E0058", format!("`{name}` has {has} part{plural}, the pattern {named}"))
                .label(span, format!("{named} of {has}"))
                .help("`..` stands for parts that are not named: `(a, ..)`"),
        );
    }

    #[cold]
    fn no_such_parts(&mut self, of: Ty, pattern: &Pattern) {
        let name = self.type_name(of);
        let what = if let PatKind::Array(_) = pattern.kind { "an array" } else { "a tuple" };
        let message = format!("expected `{name}`, found {what}");
        self.error("E0040", message, pattern.span, format!("a pattern of {what}"));
    }

    /// Checks a pattern `a | b`. Each alternative must match values of type `of` and declare the same
    /// variables as the first alternative.
    fn alternatives(&mut self, list: List, of: Ty, names: &Names) {
        let ast = self.ast;
        let mut names = names.clone();
        let outer = self.s.checked.locals.len();
        for (n, &id) in ast.patterns_pool[list.range()].iter().enumerate() {
            let before = self.sink.count();
            self.pattern(id, of, &names);
            if n == 0 && names.declared.is_none() {
                names.declared = Some(outer..self.s.checked.locals.len());
            }
            // An alternative without errors is tested for the names of all variables. An error may hide a
            // name, so an alternative with errors is not tested.
            if n > 0
                && self.sink.count() == before
                && let Some(declared) = &names.declared
            {
                self.names_all(id, declared.clone());
            }
        }
    }

    /// Reports the variables that the first alternative declares (the local variables `declared`) and that
    /// alternative `id` does not name.
    fn names_all(&mut self, id: PatId, declared: Range<usize>) {
        for local in declared {
            let name = self.s.checked.locals[local].name;
            if !self.names(id, name) {
                let (text, at) = (self.ast.name(name), self.s.checked.locals[local].span);
                self.sink.push(
                    Diagnostic::error("E0058", format!("`{text}` is not in all alternatives"))
                        .label(self.ast.pattern(id).span, format!("no `{text}` here"))
                        .label(at, "named here"),
                );
            }
        }
    }

    fn names(&self, id: PatId, wanted: crate::ast::Sym) -> bool {
        match self.ast.pattern(id).kind {
            PatKind::Name { name, .. } => name.sym == wanted,
            kind if let Some(list) = kind.parts() => {
                self.ast.patterns_pool[list.range()].iter().any(|&part| self.names(part, wanted))
            }
            PatKind::Field { part, .. } => self.names(part, wanted),
            // The other alternatives are checked separately.
            PatKind::Or(list) => {
                self.ast.patterns_pool[list.range()].first().is_some_and(|&first| self.names(first, wanted))
            }
            _ => false,
        }
    }

    fn variable(&mut self, name: Name, mutable: bool, of: Ty, names: &Names) -> Option<u32> {
        let text = self.ast.name(name.sym);
        let find = |c: &Self, mut range: Range<usize>| {
            range.find(|&local| c.s.checked.locals[local].name == name.sym)
        };
        if let Some(declared) = &names.declared {
            let Some(local) = find(self, declared.clone()) else {
                self.sink.push(
                    Diagnostic::error("E0058", format!("`{text}` is not in all alternatives"))
                        .label(name.span, "not in the first one")
                        .help("constants are declared with `const`; a pattern takes other names for new variables"),
                );
                self.declare(name, Ty::ERROR, false);
                return None;
            };
            let wanted = self.s.checked.locals[local].ty;
            self.require_at(None, name.span, of, wanted);
            return Some(local as u32);
        }
        if find(self, names.first..self.s.checked.locals.len()).is_some() {
            self.error("E0024", format!("`{text}` stands twice in a pattern"), name.span, "again");
            return None;
        }
        Some(self.declare(name, of, mutable))
    }

    /// Checks and evaluates the constants `first` and `last` between which the values of pattern `id` lie.
    /// The compared values have the type `of`.
    fn bounds(&mut self, id: PatId, first: Option<ExprId>, last: Option<ExprId>, of: Ty) {
        let span = self.ast.pattern(id).span;
        if of != Ty::ERROR && self.s.checked.types.as_scalar(of).is_none_or(|scalar| !scalar.is_exact()) {
            let name = self.type_name(of);
            let message = format!("a value of type `{name}` is not compared with constants");
            return self.error("E0040", message, span, "only integers and `bool` are");
        }
        let mut fine = of != Ty::ERROR;
        for value in [first, last.filter(|&last| Some(last) != first)].into_iter().flatten() {
            fine &= self.constant_of_type(value, of).is_some();
        }
        let is_range = matches!(self.ast.pattern(id).kind, PatKind::Range { .. });
        if is_range && self.s.checked.types.as_scalar(of) == Some(Scalar::Bool) {
            self.sink.push(
                Diagnostic::error("E0041", "ranges are not of `bool`")
                    .label(span, "a range of `bool`")
                    .help("there are `true` and `false`"),
            );
            return;
        }
        if fine {
            if self.s.checked.types.is_undecided(of) {
                self.note_open_pattern(id, of);
            }
            self.pattern_bounds(id, of);
        }
    }

    /// Computes the first and the last value that a pattern matches. The type of the compared value may not
    /// be decided yet. If so, this is computed again at the end of the checked function, when the type is
    /// known.
    pub(super) fn pattern_bounds(&mut self, id: PatId, of: Ty) {
        let Some(scalar) = self.s.checked.types.as_scalar(of) else { return };
        let pattern = *self.ast.pattern(id);
        let (first, last, inclusive) = match pattern.kind {
            PatKind::Value(value) | PatKind::Name { value: Some(value), .. } => {
                (Some(value), Some(value), true)
            }
            PatKind::Range { first, last, inclusive } => (first, last, inclusive),
            _ => return,
        };
        let (min, max) = scalar.limits();
        let value = |c: &mut Self, id: Option<ExprId>, open: u64| match id {
            Some(id) => c.eval(id).and_then(|fragments| fragments.first().copied()),
            None => Some(open),
        };
        let (Some(lo), Some(hi)) = (value(self, first, min), value(self, last, max)) else { return };
        let less = |a: u64, b: u64| if scalar.is_signed() { (a as i64) < (b as i64) } else { a < b };
        let exclusive = last.is_some() && !inclusive;
        if less(hi, lo) || (exclusive && hi == lo) {
            // The pattern can match no value: the ends of the range are in the wrong order, or they are equal
            // and the range does not include its last value.
            self.sink.push(
                Diagnostic::error("E0058", "the range is empty")
                    .label(pattern.span, "no value is in it")
                    .help("the smaller number comes first"),
            );
            return;
        }
        let hi = if exclusive { hi.wrapping_sub(1) } else { hi };
        self.s.checked.patterns[id.at()] = PatRes::Between(lo, hi);
    }
}
