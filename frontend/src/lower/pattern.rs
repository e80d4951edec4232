//! Lowers patterns: takes values apart and compares them.

use super::{Lower, Val};
use crate::ast::{ExprId, ExprKind, PatId, PatKind};
use crate::check::{PatRes, patterns_of_parts};
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{BinOp, IntCc, Op, Type, Value};
use smallvec::SmallVec;

/// Variables that a pattern binds, with their values.
pub type Bound = SmallVec<[(u32, Val); 4]>;

impl Lower<'_, '_> {
    /// Binds the variables of a pattern that matches every value.
    pub(super) fn take_apart(&mut self, pattern: PatId, ty: Ty, value: &[Value]) {
        let mut bound = Bound::new();
        self.test(pattern, ty, value, &mut bound);
        self.define_bound(bound);
    }

    pub(super) fn define_bound(&mut self, bound: Bound) {
        for (local, value) in bound {
            self.define_local(local, value);
        }
    }

    /// Emits code that tests whether a value of type `ty` matches a pattern, and returns the result of the
    /// test. Returns `None` if every value matches. Appends the variables that the pattern declares, with
    /// their values, to `bound`.
    pub(super) fn test(&mut self, id: PatId, ty: Ty, value: &[Value], bound: &mut Bound) -> Option<Value> {
        match (self.ast.pattern(id).kind, self.checked.patterns[id.at()]) {
            (kind, _) if let Some(list) = kind.parts() => self.test_parts(list, ty, value, bound),
            (PatKind::Or(list), _) => self.test_alternatives(list, ty, value, bound),
            (_, PatRes::Local(local)) => {
                bound.push((local, value.into()));
                None
            }
            (_, PatRes::Between(lo, hi)) => self.between(self.scalar_of(ty), value[0], lo, hi),
            _ => None,
        }
    }

    /// Returns the parts of a tuple, struct or array, that is, its elements or fields. Each entry has the
    /// part's type and the range of the part's fragments (scalars) in the list of all fragments of the value.
    fn parts(&self, ty: Ty) -> SmallVec<[(Ty, std::ops::Range<usize>); 4]> {
        let types = &self.checked.types;
        let mut first = 0;
        let part = |ty: Ty| {
            let start = first;
            first += types.layout(ty).fragments as usize;
            (ty, start..first)
        };
        types.pattern_parts(ty).unwrap_or_default().into_iter().map(part).collect()
    }

    fn test_parts(
        &mut self,
        list: crate::ast::List,
        ty: Ty,
        value: &[Value],
        bound: &mut Bound,
    ) -> Option<Value> {
        let parts = self.parts(ty);
        let written = patterns_of_parts(self.ast, &self.checked.patterns, list, parts.len());
        let mut all = None;
        for (id, (ty, fragments)) in written.into_iter().zip(parts) {
            let one = id.and_then(|id| self.test(id, ty, &value[fragments], bound));
            all = self.and_conditions(all, one);
        }
        all
    }

    /// Emits the test for a pattern `a | b`. Each variable gets its value from the first alternative that
    /// matches.
    fn test_alternatives(
        &mut self,
        list: crate::ast::List,
        ty: Ty,
        value: &[Value],
        bound: &mut Bound,
    ) -> Option<Value> {
        let mut tested = SmallVec::<[(Option<Value>, Bound); 4]>::new();
        for n in list.range() {
            let mut own = Bound::new();
            let cond = self.test(self.ast.patterns_pool[n], ty, value, &mut own);
            tested.push((cond, own));
            if cond.is_none() {
                break; // the other alternatives match no further value
            }
        }
        let (mut any, mut chosen) = tested.pop().unwrap_or_default();
        while let Some((cond, own)) = tested.pop() {
            let Some(cond) = cond else { continue };
            for (local, values) in &mut chosen {
                let Some((_, first)) = own.iter().find(|(other, _)| other == local) else { continue };
                for (last, &first) in values.iter_mut().zip(first) {
                    let ty = self.func.ty(first);
                    *last = self.emit(Op::Select, &[cond, first, *last], ty);
                }
            }
            any = any.map(|any| self.emit(Op::Bin(BinOp::Or), &[cond, any], Type::Bool));
        }
        bound.extend(chosen);
        any
    }

    fn and_conditions(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.emit(Op::Bin(BinOp::And), &[a, b], Type::Bool)),
            (a, b) => a.or(b),
        }
    }

    /// Emits a test whether `value` is between `lo` and `hi`, without comparisons that are always true.
    /// Returns `None` if the whole test is always true.
    fn between(&mut self, scalar: Scalar, value: Value, lo: u64, hi: u64) -> Option<Value> {
        let (min, max) = scalar.limits();
        if scalar == Scalar::Bool {
            return match (lo, hi) {
                (0, 0) => {
                    let one = self.constant(Type::Bool, 1);
                    Some(self.emit(Op::Bin(BinOp::Xor), &[value, one], Type::Bool))
                }
                _ => Some(value),
            };
        }
        if lo == hi {
            let wanted = self.int(scalar, lo);
            return Some(self.emit(Op::Icmp(IntCc::Eq), &[value, wanted], Type::Bool));
        }
        let (not_less, not_more) =
            if scalar.is_signed() { (IntCc::Sge, IntCc::Sle) } else { (IntCc::Uge, IntCc::Ule) };
        let mut side = |bound: u64, end: u64, cc: IntCc| {
            (bound != end).then(|| {
                let bound = self.int(scalar, bound);
                self.emit(Op::Icmp(cc), &[value, bound], Type::Bool)
            })
        };
        let (a, b) = (side(lo, min, not_less), side(hi, max, not_more));
        self.and_conditions(a, b)
    }

    /// Lowers an assignment to a tuple such as `(a, _, p[i]) = value`; the parts are assigned from left to
    /// right.
    pub(super) fn assign_parts(&mut self, place: ExprId, ty: Ty, value: &[Value]) {
        match self.ast.expr(place).kind {
            ExprKind::Tuple(list) => {
                for (n, (ty, fragments)) in list.range().zip(self.parts(ty)) {
                    self.assign_parts(self.ast.exprs_pool[n], ty, &value[fragments]);
                }
            }
            ExprKind::Name(sym) if self.ast.name(sym) == "_" => {}
            _ => {
                let place = self.lower_place(place);
                self.write(&place, value);
            }
        }
    }
}
