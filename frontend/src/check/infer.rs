//! The types of literals, as in Rust: `let mut best = 0;` is what its uses ask for.
//!
//! A literal without a suffix that nothing asks for a type begins with an open one ([`Types::open`]). Where two types must be
//! the same, [`Checker::agree`] decides open ones; what is open at the end of a function becomes `i32` or `f32`.
//! Only then is known whether an integer fits.
//!
//! [`Types::open`]: crate::types::Types::open

use super::{Checked, Checker};
use crate::ast::{ExprId, Name, PatId};
use crate::builtins::Class;
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::Ty;

/// What is looked at again when all types are known.
#[derive(Default)]
pub(super) struct Unsettled {
    /// Expressions with open types.
    exprs: Vec<ExprId>,
    /// Integers, and whether there is a minus in front.
    integers: Vec<(ExprId, u64, bool)>,
    /// Patterns of a `match` of an open type, and that type.
    patterns: Vec<(PatId, Ty)>,
    /// What is asked of open types.
    questions: Vec<(Ty, Question)>,
    /// Where open types were decided, and which: for messages.
    decisions: Vec<(Ty, Span)>,
}

/// What is asked of a type when it is known.
#[derive(Clone, Copy)]
pub(super) enum Question {
    /// Whether an argument of a built-in function is of the class that it takes.
    Class(ExprId, Class, Name),
    /// Whether a `bitcast` of it to another type keeps the number of bits.
    Bits(ExprId, Ty),
}

impl Unsettled {
    pub fn clear(&mut self) {
        let Unsettled { exprs, integers, patterns, questions, decisions } = self;
        exprs.clear();
        integers.clear();
        patterns.clear();
        questions.clear();
        decisions.clear();
    }
}

impl Checker<'_, '_> {
    /// Makes two types the same, as far as literals decide. `at` is where they meet. Whether they are the same.
    pub(super) fn agree(&mut self, a: Ty, b: Ty, at: Span) -> bool {
        let types = &mut self.s.checked.types;
        let open = |ty| types.is_undecided(ty).then_some(ty);
        let was = open(a).or(open(b));
        let same = types.agree(a, b);
        if let Some(ty) = was
            && same
            && !types.is_undecided(ty)
        {
            self.s.unsettled.decisions.push((ty, at));
        }
        same
    }

    /// An integer of any type: the count of a shift, an index. A literal is a `plain` one; where it is in a branch or the like, what
    /// else is there decides, as in Rust.
    pub(super) fn any_integer(&mut self, id: ExprId, plain: Ty) -> Ty {
        let expect = if self.untyped(id).is_some() { plain } else { Ty::NONE };
        self.expr(id, expect)
    }

    pub(super) fn ask_later(&mut self, ty: Ty, question: Question) {
        self.s.unsettled.questions.push((ty, question));
    }

    pub(super) fn note_open(&mut self, id: ExprId) {
        self.s.unsettled.exprs.push(id);
    }

    /// The type of an integer without a suffix.
    pub(super) fn open_integer(&mut self, id: ExprId, value: u64, negative: bool, expect: Ty) -> Ty {
        let ty =
            if self.s.checked.types.is_undecided(expect) { expect } else { self.s.checked.types.open(false) };
        if negative {
            self.s.checked.types.must_be_signed(ty);
        }
        self.s.unsettled.integers.push((id, value, negative));
        self.set(id, ty)
    }

    pub(super) fn note_open_pattern(&mut self, at: PatId, of: Ty) {
        if self.s.checked.types.is_undecided(of) {
            self.s.unsettled.patterns.push((at, of));
        }
    }

    /// Why one of two types that do not agree is what it is, if it began with a literal.
    pub(super) fn why(&self, types: [Ty; 2]) -> Option<(Span, String)> {
        let Checked { types: known, expr_ty, .. } = &self.s.checked;
        types.into_iter().find_map(|ty| {
            let same = |open: Ty| known.is_same_literal(open, ty);
            if let Some(&(_, at)) = self.s.unsettled.decisions.iter().find(|(open, _)| same(*open)) {
                return Some((at, format!("taken for `{}` here", self.type_name(ty))));
            }
            let literal = self.s.unsettled.integers.iter().find(|(id, ..)| same(expr_ty[id.at()]))?;
            let what = if literal.2 { "a negative integer" } else { "an integer" };
            Some((self.ast.span(literal.0), format!("{what} by this literal")))
        })
    }

    /// What helps if a literal without a point met a float.
    pub(super) fn point_help(&self, a: Ty, b: Ty) -> Option<String> {
        let types = &self.s.checked.types;
        let is_float = |ty| types.lanes(ty).is_some_and(|(scalar, _)| scalar.is_float());
        let is_integer = |ty| types.is_undecided(ty) && !is_float(ty);
        ((is_integer(a) && is_float(b)) || (is_integer(b) && is_float(a)))
            .then(|| "a literal with a point is a float: `0.0`".to_string())
    }

    /// Leaves no type open from local variable number `first_local` on.
    pub(super) fn settle(&mut self, first_local: usize) {
        let mut unsettled = std::mem::take(&mut self.s.unsettled);
        if self.sink.count() > 0 {
            // What would have decided may be what is wrong.
            let types = &self.s.checked.types;
            let expr_ty = &self.s.checked.expr_ty;
            unsettled.integers.retain(|(id, ..)| !types.is_undecided(expr_ty[id.at()]));
        }
        for local in first_local..self.s.checked.locals.len() {
            let span = self.s.checked.locals[local].span;
            self.s.checked.locals[local].ty = self.settled(self.s.checked.locals[local].ty, span);
        }
        for &id in &unsettled.exprs {
            self.s.checked.expr_ty[id.at()] =
                self.settled(self.s.checked.expr_ty[id.at()], self.ast.span(id));
        }
        for &(id, value, negative) in &unsettled.integers {
            if let Some(scalar) = self.s.checked.types.as_scalar(self.s.checked.expr_ty[id.at()]) {
                self.in_range(id, value, negative, scalar);
            }
        }
        for &(at, of) in &unsettled.patterns {
            self.pattern_bounds(at, of);
        }
        let mut told = None;
        for &(ty, question) in &unsettled.questions {
            match question {
                // Several arguments of one call are most likely of one type.
                Question::Class(_, _, callee) if told == Some(callee.span) => {}
                Question::Class(arg, class, callee) => {
                    let fits = self.in_class(ty, arg, class, callee) != Ty::ERROR;
                    told = (!fits).then_some(callee.span);
                }
                Question::Bits(arg, to) => self.same_bits(arg, ty, to),
            }
        }
        unsettled.clear();
        self.s.unsettled = unsettled;
        self.cover_matches();
        self.make_instances();
    }

    fn settled(&mut self, ty: Ty, span: Span) -> Ty {
        self.s.checked.types.settled(ty).unwrap_or_else(|_| {
            self.error("E0072", "the array has 2 GiB or more", span, "too many elements");
            Ty::ERROR
        })
    }

    /// Reports a literal that its type cannot hold.
    pub(super) fn in_range(&mut self, id: ExprId, value: u64, negative: bool, scalar: Scalar) {
        if scalar.is_int() && !scalar.holds(value, negative) {
            let sign = if negative { "-" } else { "" };
            let diagnostic =
                Diagnostic::error("E0003", format!("`{sign}{value}` does not fit in `{}`", scalar.name()))
                    .label(self.ast.span(id), "out of range")
                    .help(range_text(scalar));
            self.sink.push(diagnostic);
        }
    }
}

fn range_text(scalar: Scalar) -> String {
    let bits = scalar.bits();
    match (scalar.is_signed(), bits) {
        (true, _) => {
            let max = (1u64 << (bits - 1)) - 1;
            format!("`{}` goes from -{} to {max}", scalar.name(), max + 1)
        }
        (false, _) => format!("`{}` goes from 0 to {}", scalar.name(), u64::MAX >> (64 - bits)),
    }
}
