//! Checks whether the arms of a `match` cover every value, as in Rust.
//!
//! A value is treated as a point in a space with one coordinate for each scalar of the value's type. For
//! example, a value of type `(u32, bool)` has two coordinates. A pattern without a guard matches the points
//! of one or more boxes. A box has a range of numbers for each coordinate.
//!
//! The check searches for a point outside of all boxes. It cuts the first coordinate into pieces at the ends
//! of the boxes' ranges. For each piece, it continues in the same way with the next coordinate, and only with
//! the boxes that contain the piece.

use super::pattern::patterns_of_parts;
use super::{Binding, Checker, PatRes};
use crate::ast::{ExprId, ExprKind, List, PatId, PatKind};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Field, Ty, TyKind};
use smallvec::SmallVec;

/// The range of a box along one coordinate, as its first and its last number. The sign bit of signed numbers
/// is flipped. A comparison as unsigned numbers then compares the values.
type Side = (u64, u64);
/// A box of values: its range along each coordinate, that is, for each scalar of the type.
type Shape = SmallVec<[Side; 4]>;

/// Limits that keep the check fast. A `match` that exceeds one of them is an error. `MAX_BOXES` is the
/// largest number of boxes for the patterns of one `match`; it does not apply to values with only one
/// coordinate. `MAX_WORK` is the largest number of comparisons of boxes.
const MAX_BOXES: usize = 4096;
const MAX_WORK: usize = 1 << 20;

/// Error value: the patterns of a `match` exceed [`MAX_BOXES`] or [`MAX_WORK`], so that the check gives up.
struct TooMany;

impl Checker<'_, '_> {
    /// Checks all `match`es whose check was postponed until their types were known.
    pub(super) fn cover_matches(&mut self) {
        let mut matches = std::mem::take(&mut self.s.matches);
        for id in matches.drain(..) {
            self.cover(id);
        }
        self.s.matches = matches;
    }

    #[inline(never)]
    fn cover(&mut self, id: ExprId) {
        let ExprKind::Match { value, arms } = self.ast.expr(id).kind else { return };
        let of = self.s.checked.expr_ty[value.at()];
        let arms = &self.ast.match_arms[arms.range()];
        let takes_all = |arm: &&crate::ast::MatchArm| {
            arm.guard.is_none() && self.is_known(arm.pattern) && self.takes_all(arm.pattern)
        };
        if let Some(at) = arms.iter().position(|arm| takes_all(&arm)) {
            if let Some(behind) = arms.get(at + 1) {
                self.never_reached(arms[at].pattern, behind.pattern);
            }
            return;
        }
        if of == Ty::ERROR || !arms.iter().all(|arm| self.is_known(arm.pattern)) {
            return;
        }
        let mut whole = Shape::new();
        self.push_full_box(of, &mut whole);
        let mut boxes = Vec::new();
        for arm in arms.iter().filter(|arm| arm.guard.is_none()) {
            match self.boxes(arm.pattern, of) {
                Ok(more) if boxes.len() + more.len() <= MAX_BOXES || whole.len() == 1 => boxes.extend(more),
                _ => return self.too_many(id),
            }
        }
        let mut work = MAX_WORK;
        match uncovered(&boxes, &whole, 0, &mut work) {
            Ok(None) => {}
            Ok(Some(missing)) => self.not_covered(id, value, of, &missing),
            Err(TooMany) => self.too_many(id),
        }
    }

    fn never_reached(&mut self, all: PatId, behind: PatId) {
        let all = self.ast.pattern(all);
        let help = match all.kind {
            // A pattern that is a plain name matches every value and declares a variable. In an arm that
            // hides the arms after it, the name is most likely meant to be the name of a constant, and
            // misspelt.
            PatKind::Name { name, .. } => {
                let constants = self.bound_names(|b| matches!(b, Binding::Const(_)));
                let close = self.nearest(self.ast.name(name.sym), constants.into_iter());
                Some(match close {
                        Some(found) => format!("a similar name exists: `{found}`"),
                        None => "no constant has this name, so that it is a new variable; the arm for all other values is `_ => …`".to_string(),
                    })
            }
            _ => None,
        };
        self.sink.push(
            Diagnostic::error("E0059", "no value gets to this arm")
                .label(self.ast.pattern(behind).span, "never reached")
                .label(all.span, "takes all values")
                .help_opt(help),
        );
    }

    fn not_covered(&mut self, id: ExprId, value: ExprId, of: Ty, missing: &Shape) {
        let text = self.witness(of, &mut missing.iter());
        let close = Span { start: self.ast.span(id).end - 1, end: self.ast.span(id).end };
        self.sink.push(
            Diagnostic::error("E0059", format!("`match` has no arm for `{text}`"))
                .label(self.ast.span(value), "not all values are covered")
                .label(close, "an arm is missing")
                .help("add an arm for the rest: `_ => …`"),
        );
    }

    fn too_many(&mut self, id: ExprId) {
        let span = self.ast.span(id);
        self.sink.push(
            Diagnostic::error("E0007", "the patterns are too many to tell whether they take all values")
                .label(span, "this `match`")
                .help("end it with an arm `_ => …`"),
        );
    }

    /// Returns whether the pattern matches every value of its type.
    fn takes_all(&self, id: PatId) -> bool {
        let any = |list: crate::ast::List| &self.ast.patterns_pool[list.range()];
        match self.ast.pattern(id).kind {
            PatKind::Any | PatKind::Rest => true,
            PatKind::Name { .. } => matches!(self.s.checked.patterns[id.at()], PatRes::Local(_)),
            PatKind::Value(_) | PatKind::Range { .. } => false,
            PatKind::Tuple(list) | PatKind::Array(list) | PatKind::Struct { fields: list, .. } => {
                self.s.checked.patterns[id.at()] == PatRes::Parts
                    && any(list).iter().all(|&part| self.takes_all(part))
            }
            PatKind::Field { part, .. } => self.takes_all(part),
            PatKind::Or(list) => any(list).iter().any(|&part| self.takes_all(part)),
        }
    }

    /// Returns whether the pattern was checked without errors.
    fn is_known(&self, id: PatId) -> bool {
        let kind = self.ast.pattern(id).kind;
        match kind {
            PatKind::Any | PatKind::Rest => true,
            _ if kind.parts().is_some() && self.s.checked.patterns[id.at()] != PatRes::Parts => false,
            PatKind::Field { part, .. } => self.is_known(part),
            PatKind::Tuple(list)
            | PatKind::Array(list)
            | PatKind::Struct { fields: list, .. }
            | PatKind::Or(list) => {
                self.ast.patterns_pool[list.range()].iter().all(|&part| self.is_known(part))
            }
            _ => self.s.checked.patterns[id.at()] != PatRes::Unknown,
        }
    }

    /// Appends, for each scalar of a type, the range of all its values. Together the ranges form the box that
    /// contains every value of the type.
    fn push_full_box(&self, of: Ty, out: &mut Shape) {
        match self.s.checked.types.pattern_parts(of) {
            Some(parts) => parts.iter().for_each(|&part| self.push_full_box(part, out)),
            None => out.push(match self.compared(of) {
                Some(scalar) => {
                    let (lo, hi) = scalar.limits();
                    (in_order(scalar, lo), in_order(scalar, hi))
                }
                None => (0, 0),
            }),
        }
    }

    /// Returns the scalar type if a pattern for a value of type `of` compares the value with constants.
    /// Returns `None` for tuples, structs and arrays, whose patterns have parts, and for floats.
    fn compared(&self, of: Ty) -> Option<Scalar> {
        self.s.checked.types.as_scalar(of).filter(|scalar| scalar.is_exact())
    }

    /// Returns the boxes of a pattern for values of type `of`.
    fn boxes(&self, id: PatId, of: Ty) -> Result<Vec<Shape>, TooMany> {
        let pattern = self.ast.pattern(id);
        let mut out = Vec::new();
        match (pattern.kind, self.s.checked.patterns[id.at()]) {
            (PatKind::Or(list), _) => {
                for &part in &self.ast.patterns_pool[list.range()] {
                    out.extend(self.boxes(part, of)?);
                }
            }
            (kind, PatRes::Parts) if let Some(list) = kind.parts() => return self.product(list, of),
            (_, PatRes::Between(lo, hi)) => {
                let scalar = self.compared(of).unwrap_or(Scalar::U64);
                out.push(Shape::from_slice(&[(in_order(scalar, lo), in_order(scalar, hi))]));
            }
            _ => {
                let mut whole = Shape::new();
                self.push_full_box(of, &mut whole);
                out.push(whole);
            }
        }
        Ok(out)
    }

    /// Returns the boxes of a tuple, array or struct pattern. A box of the whole pattern is a combination of
    /// one box of each sub-pattern, and the result has all these combinations.
    fn product(&self, list: List, of: Ty) -> Result<Vec<Shape>, TooMany> {
        let parts = self.s.checked.types.pattern_parts(of).unwrap_or_default();
        let written = patterns_of_parts(self.ast, &self.s.checked.patterns, list, parts.len());
        let mut all = vec![Shape::new()];
        for (&of, id) in parts.iter().zip(written) {
            let Some(id) = id else {
                all.iter_mut().for_each(|shape| self.push_full_box(of, shape));
                continue;
            };
            let more = self.boxes(id, of)?;
            if all.len() * more.len() > MAX_BOXES {
                return Err(TooMany);
            }
            let joined = |shape: &Shape, side: &Shape| shape.iter().chain(side).copied().collect::<Shape>();
            all = all.iter().flat_map(|shape| more.iter().map(move |side| joined(shape, side))).collect();
        }
        Ok(all)
    }

    /// Returns the text of a pattern for type `of` that matches the uncovered ranges `sides`. The error
    /// message shows this pattern as an example of what is missing in the `match`.
    fn witness<'s>(&self, of: Ty, sides: &mut impl Iterator<Item = &'s Side>) -> String {
        if let Some(parts) = self.s.checked.types.pattern_parts(of) {
            let parts: Vec<String> = parts.iter().map(|&part| self.witness(part, sides)).collect();
            return self.witness_of_parts(of, &parts);
        }
        let (Some(&(lo, hi)), Some(scalar)) = (sides.next(), self.compared(of)) else {
            return "_".to_string();
        };
        let (min, max) = scalar.limits();
        let (min, max) = (in_order(scalar, min), in_order(scalar, max));
        let text = |value: u64| match (in_order(scalar, value), scalar) {
            _ if scalar != Scalar::Bool && value == max => format!("{}::MAX", scalar.name()),
            _ if scalar.is_signed() && value == min => format!("{}::MIN", scalar.name()),
            (bits, Scalar::Bool) => (bits != 0).to_string(),
            (bits, _) if scalar.is_signed() => (bits as i64).to_string(),
            (bits, _) => bits.to_string(),
        };
        match (lo, hi) {
            _ if (lo, hi) == (min, max) => "_".to_string(),
            _ if lo == hi => text(lo),
            _ => format!("{}..={}", text(lo), text(hi)),
        }
    }

    fn witness_of_parts(&self, of: Ty, parts: &[String]) -> String {
        let types = &self.s.checked.types;
        let TyKind::Struct(index) = types.kind(of) else { return format!("[{}]", parts.join(", ")) };
        let found = &types.structs[index as usize];
        if found.name.is_none() {
            let comma = if parts.len() == 1 { "," } else { "" };
            return format!("({}{comma})", parts.join(", "));
        }
        let field = |(field, part): (&Field, &String)| format!("{}: {part}", self.ast.name(field.name));
        let fields: Vec<String> = found.fields.iter().zip(parts).map(field).collect();
        format!("{} {{ {} }}", self.type_name(of), fields.join(", "))
    }
}

/// Maps the bits of a number of type `scalar` so that comparing the results as unsigned numbers compares the
/// values. For signed types, this flips the sign bit. The mapping is its own inverse.
fn in_order(scalar: Scalar, bits: u64) -> u64 {
    if scalar.is_signed() { bits ^ 1 << 63 } else { bits }
}

/// Returns a box of values in `whole` that none of `boxes` contains, if there is one. The function looks only
/// at the coordinates from `at` on, and the returned box has only these. Callers have already fixed the
/// earlier coordinates to ranges that all of `boxes` contain.
fn uncovered(boxes: &[Shape], whole: &[Side], at: usize, work: &mut usize) -> Result<Option<Shape>, TooMany> {
    *work = work.checked_sub(boxes.len() + 1).ok_or(TooMany)?;
    let Some(&(min, max)) = whole.get(at) else { return Ok(None) };
    if at + 1 == whole.len() {
        let mut sides: Vec<Side> = boxes.iter().map(|shape| shape[at]).collect();
        return Ok(gap(&mut sides, (min, max)).map(|side| Shape::from_slice(&[side])));
    }
    let behind = |hi: u64| u128::from(hi) + 1;
    let mut cuts: Vec<u128> = vec![u128::from(min), behind(max)];
    cuts.extend(boxes.iter().flat_map(|shape| [u128::from(shape[at].0), behind(shape[at].1)]));
    cuts.sort_unstable();
    cuts.dedup();
    for piece in cuts.windows(2) {
        let side = (piece[0] as u64, (piece[1] - 1) as u64);
        *work = work.checked_sub(boxes.len()).ok_or(TooMany)?;
        let holds = |shape: &&Shape| shape[at].0 <= side.0 && side.1 <= shape[at].1;
        let inside: Vec<Shape> = boxes.iter().filter(holds).cloned().collect();
        if let Some(rest) = uncovered(&inside, whole, at + 1, work)? {
            return Ok(Some([side].into_iter().chain(rest).collect()));
        }
    }
    Ok(None)
}

/// Returns the first range of numbers from `min` to `max` that none of the ranges in `sides` contains.
fn gap(sides: &mut [Side], (min, max): Side) -> Option<Side> {
    sides.sort_unstable();
    let mut next = min;
    for &(lo, hi) in sides.iter() {
        if lo > next {
            return Some((next, lo - 1));
        }
        if hi >= next {
            if hi >= max {
                return None;
            }
            next = hi + 1;
        }
    }
    Some((next, max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(boxes: &[&[Side]], whole: &[Side]) -> Option<Vec<Side>> {
        let boxes: Vec<Shape> = boxes.iter().map(|sides| Shape::from_slice(sides)).collect();
        let mut work = MAX_WORK;
        let found = uncovered(&boxes, whole, 0, &mut work);
        found.unwrap_or_else(|TooMany| panic!("small")).map(|shape| shape.to_vec())
    }

    #[test]
    fn lines() {
        let all = (0, 255);
        assert_eq!(missing(&[], &[all]), Some(vec![all]));
        assert_eq!(missing(&[&[(128, 255)], &[(0, 127)]], &[all]), None);
        assert_eq!(missing(&[&[(0, 3)], &[(2, 9)], &[(12, 255)]], &[all]), Some(vec![(10, 11)]));
        assert_eq!(missing(&[&[(1, u64::MAX)]], &[(0, u64::MAX)]), Some(vec![(0, 0)]));
        assert_eq!(missing(&[&[(0, 0)], &[(1, u64::MAX)]], &[(0, u64::MAX)]), None);
    }

    #[test]
    fn planes() {
        let bit = (0, 1);
        assert_eq!(missing(&[&[(0, 0), bit], &[bit, (1, 1)]], &[bit, bit]), Some(vec![(1, 1), (0, 0)]));
        assert_eq!(missing(&[&[(0, 0), bit], &[(1, 1), (0, 0)], &[bit, (1, 1)]], &[bit, bit]), None);
        let word = (0, u64::MAX);
        assert_eq!(
            missing(&[&[(0, 9), word], &[(10, u64::MAX), (1, u64::MAX)]], &[word, word]),
            Some(vec![(10, u64::MAX), (0, 0)])
        );
    }
}
