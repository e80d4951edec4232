//! Checks `match` expressions: the type of the value that is compared with the patterns, and the types of the
//! arms.

use super::Checker;
use crate::ast::{ExprId, List};
use crate::scalar::Scalar;
use crate::types::Ty;

impl Checker<'_, '_> {
    pub(super) fn match_expr(&mut self, id: ExprId, value: ExprId, arms: List, expect: Ty) -> Ty {
        let of = self.expr(value, Ty::NONE);
        let of = self.matched_type(value, of);
        let mut ty = Ty::NEVER;
        for n in arms.range() {
            let arm = self.ast.match_arms[n];
            let scope = self.s.shadowed.len();
            self.match_pattern(arm.pattern, of);
            if let Some(guard) = arm.guard {
                self.condition(guard);
            }
            ty = self.arm(arm.body, ty, expect);
            self.close_scope(scope);
        }
        self.s.matches.push(id);
        ty
    }

    /// Returns the type of the matched value if `match` accepts values of this type; otherwise reports an
    /// error.
    fn matched_type(&mut self, value: ExprId, found: Ty) -> Ty {
        let types = &self.s.checked.types;
        let fine = types.as_scalar(found).is_some_and(Scalar::is_exact);
        if fine || found == Ty::ERROR || types.pattern_parts(found).is_some() {
            return found;
        }
        let name = self.type_name(found);
        self.error_help(
            "E0040",
            format!(
                "`match` compares integers, `bool`, and tuples, arrays and structs of them, not `{name}`"
            ),
            self.ast.span(value),
            format!("this is `{name}`"),
            "compare with `if`",
        );
        Ty::ERROR
    }
}
