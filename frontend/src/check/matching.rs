//! `match`: what is compared, what with, and the types of the arms.

use super::Checker;
use crate::ast::{ExprId, List, Pattern};
use crate::diag::Diagnostic;
use crate::scalar::Scalar;
use crate::types::Ty;

impl Checker<'_, '_> {
    pub(super) fn match_expr(&mut self, value: ExprId, arms: List, expect: Ty) -> Ty {
        let of = self.expr(value, Ty::NONE);
        let of = self.matched_type(value, of);
        let mut ty = Ty::NEVER;
        for n in arms.range() {
            let arm = self.ast.match_arms[n];
            for at in arm.patterns.range() {
                self.note_open_pattern(at, of);
                self.pattern(at, of);
            }
            ty = self.arm(arm.body, ty, expect);
        }
        ty
    }

    /// The type of what a `match` looks at, if it is one that can be.
    fn matched_type(&mut self, value: ExprId, found: Ty) -> Ty {
        let fine = self.s.checked.types.as_scalar(found).is_some_and(|scalar| !scalar.is_float());
        if fine || found == Ty::ERROR {
            return found;
        }
        let name = self.type_name(found);
        self.error(
            "E0040",
            format!("`match` compares an integer or `bool`, not `{name}`"),
            self.ast.span(value),
            format!("this is `{name}`"),
        );
        Ty::ERROR
    }

    /// Evaluates pattern number `at` for a value of type `of`.
    fn pattern(&mut self, at: usize, of: Ty) {
        let Pattern { first, last } = self.ast.patterns[at];
        let lo = self.pattern_value(first, of);
        let hi = match last {
            Some(last) => self.pattern_value(last, of),
            None => lo,
        };
        if let (Some(last), Some(Scalar::Bool)) = (last, self.s.checked.types.as_scalar(of)) {
            self.sink.push(
                Diagnostic::error("E0041", "`..=` does not apply to `bool`")
                    .label(self.ast.span(first).to(self.ast.span(last)), "a range of `bool`")
                    .help("there are `true` and `false`"),
            );
        }
        if let (Some(lo), Some(hi)) = (lo, hi) {
            self.s.checked.patterns[at] = (lo, hi);
        }
    }

    /// The bounds of a pattern again, when the type is known that was not when it was checked.
    pub(super) fn pattern_bounds(&mut self, at: usize, of: Ty) {
        let Pattern { first, last } = self.ast.patterns[at];
        let value = |checker: &mut Self, id| checker.eval(id).and_then(|leaves| leaves.first().copied());
        if of != Ty::ERROR
            && let Some(lo) = value(self, first)
            && let Some(hi) = last.map_or(Some(lo), |last| value(self, last))
        {
            self.s.checked.patterns[at] = (lo, hi);
        }
    }

    fn pattern_value(&mut self, value: ExprId, of: Ty) -> Option<u64> {
        self.constant_of_type(value, of)?.first().copied()
    }
}
