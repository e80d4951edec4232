//! Infers the types of literals, as in Rust: after `let mut best = 0;`, the uses of `best` decide the type of
//! the literal `0`.
//!
//! A literal without a suffix starts with an open type ([`Types::open`]) if its context does not ask for a
//! type. Where two types must be the same, [`Checker::agree`] decides open types. A type that is still open
//! at the end of a function becomes `i32` or `f32`. Whether an integer literal fits in its type is known only
//! then, so this is tested at the end of the function.
//!
//! [`Types::open`]: crate::types::Types::open

use super::{Binding, Checked, Checker};
use crate::ast::{ExprId, ExprKind, Name, PatId, Sym};
use crate::builtins::Class;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::Ty;

/// What the checker collects in a function and tests at the end of the function, when the types of all
/// literals are known.
#[derive(Default)]
pub(super) struct OpenLiteral {
    /// Expressions whose types were open when they were checked.
    exprs: Vec<ExprId>,
    /// Integer literals with their values; the `bool` says whether a minus sign precedes the literal.
    integers: Vec<(ExprId, u64, bool)>,
    /// Float literals that some float type cannot hold; the `bool` says whether a minus sign precedes the
    /// literal.
    floats: Vec<(ExprId, bool)>,
    /// Patterns of a `match` on a value whose type is still open. Each pattern is stored with that type.
    patterns: Vec<(PatId, Ty)>,
    /// Postponed tests. Each has the open type that must be decided before the test can be made. An open type
    /// is the type of a literal that no use has decided yet.
    questions: Vec<(Ty, Question)>,
    /// Types of literals that a use has decided, each with the position of this use. Messages show the
    /// position.
    decisions: Vec<(Ty, Span)>,
}

/// A test of a type that is made when the type is known.
#[derive(Clone, Copy)]
pub(super) enum Question {
    /// Checks whether the type of a built-in function's argument is in the class that the function accepts.
    Class(ExprId, Class, Name),
    /// Checks whether a `bitcast` of the expression to this type keeps the number of bits.
    Bits(ExprId, Ty),
}

impl OpenLiteral {
    pub fn clear(&mut self) {
        let OpenLiteral { exprs, integers, floats, patterns, questions, decisions } = self;
        exprs.clear();
        integers.clear();
        floats.clear();
        patterns.clear();
        questions.clear();
        decisions.clear();
    }
}

impl Checker<'_, '_> {
    /// Makes two types the same by deciding the types of literals that are still open. Returns whether the
    /// types are the same afterwards. `at` is the source position that requires the types to be the same.
    pub(super) fn agree(&mut self, a: Ty, b: Ty, at: Span) -> bool {
        let types = &mut self.s.checked.types;
        let open = |ty| types.is_undecided(ty).then_some(ty);
        let was = open(a).or(open(b));
        let same = types.agree(a, b);
        if let Some(ty) = was
            && same
            && !types.is_undecided(ty)
        {
            self.s.open_literals.decisions.push((ty, at));
        }
        same
    }

    /// Checks an operand that may be an integer of any type, such as a shift count or an index. A literal
    /// without a suffix gets the type `plain`. If the operand is an `if`, a literal in one branch gets the
    /// type of the other branches, as in Rust.
    pub(super) fn any_integer(&mut self, id: ExprId, plain: Ty) -> Ty {
        let expect = if self.untyped(id).is_some() { plain } else { Ty::NONE };
        self.expr(id, expect)
    }

    pub(super) fn ask_later(&mut self, ty: Ty, question: Question) {
        self.s.open_literals.questions.push((ty, question));
    }

    pub(super) fn note_open(&mut self, id: ExprId) {
        self.s.open_literals.exprs.push(id);
    }

    /// Returns the type of an integer literal without a suffix.
    pub(super) fn open_integer(&mut self, id: ExprId, value: u64, negative: bool, expect: Ty) -> Ty {
        let ty =
            if self.s.checked.types.is_undecided(expect) { expect } else { self.s.checked.types.open(false) };
        if negative {
            self.s.checked.types.must_be_signed(ty);
        }
        self.s.open_literals.integers.push((id, value, negative));
        self.set(id, ty)
    }

    /// Records a float literal without a suffix. Its type is not decided yet, so its range is checked later.
    pub(super) fn open_float(&mut self, id: ExprId, ty: Ty, negative: bool) -> Ty {
        // `f16` is the smallest float type, so a literal that fits in it fits in every float type. Only
        // larger literals are tested again.
        if self.is_beyond(id, Scalar::F16) {
            self.s.open_literals.floats.push((id, negative));
        }
        self.set(id, ty)
    }

    pub(super) fn note_open_pattern(&mut self, at: PatId, of: Ty) {
        if self.s.checked.types.is_undecided(of) {
            self.s.open_literals.patterns.push((at, of));
        }
    }

    /// Explains why two types differ, if one of them comes from a literal. Returns a position and the text of
    /// a label for the diagnostic. The position is that of the use that decided the literal's type, or of the
    /// literal.
    pub(super) fn why(&self, types: [Ty; 2]) -> Option<(Span, String)> {
        let Checked { types: known, expr_ty, .. } = &self.s.checked;
        types.into_iter().find_map(|ty| {
            let same = |open: Ty| known.is_same_literal(open, ty);
            if let Some(&(_, at)) = self.s.open_literals.decisions.iter().find(|(open, _)| same(*open)) {
                return Some((at, format!("taken for `{}` here", self.type_name(ty))));
            }
            let literal = self.s.open_literals.integers.iter().find(|(id, ..)| same(expr_ty[id.at()]))?;
            let what = if literal.2 { "a negative integer" } else { "an integer" };
            Some((self.ast.span(literal.0), format!("{what} by this literal")))
        })
    }

    /// Returns a help text if an integer literal is combined with a float: the literal needs a decimal point.
    pub(super) fn point_help(&self, a: Ty, b: Ty) -> Option<String> {
        let types = &self.s.checked.types;
        let is_float = |ty| types.lanes(ty).is_some_and(|(scalar, _)| scalar.is_float());
        let is_integer = |ty| types.is_undecided(ty) && !is_float(ty);
        ((is_integer(a) && is_float(b)) || (is_integer(b) && is_float(a)))
            .then(|| "a literal with a point is a float: `0.0`".to_string())
    }

    /// Returns a help text if two values have different types because one is a variable that a literal
    /// initialises, and the type of the other one is a generic parameter. The variable needs a type
    /// annotation.
    pub(super) fn generic_help(&self, a: Ty, b: Ty) -> Option<String> {
        let known = &self.s.checked.types;
        let (literal, other) = if known.is_undecided(a) { (a, b) } else { (b, a) };
        let stands_for = |name: Sym| matches!(self.binding(name), Binding::Type(ty) if ty == other);
        let generic = self.s.shadowed.iter().map(|&(name, _)| name).find(|&name| stands_for(name))?;
        if !known.is_undecided(literal) {
            return None;
        }
        let generic = self.ast.name(generic);
        let mut locals = self.s.checked.locals.iter().rev();
        let Some(local) = locals.find(|local| known.is_same_literal(local.ty, literal)) else {
            return Some(format!("declare what holds the literal with its type: one with `{generic}` in it"));
        };
        let literals = &self.s.open_literals.integers;
        let written =
            literals.iter().find(|one| known.is_same_literal(self.s.checked.expr_ty[one.0.at()], literal));
        let value = written.map_or("…".to_owned(), |&(_, value, negative)| {
            format!("{}{value}", if negative { "-" } else { "" })
        });
        let (word, name) = (if local.mutable { "let mut" } else { "let" }, self.ast.name(local.name));
        Some(format!("give it the type that it is to have: `{word} {name}: {} = {value};`", generic))
    }

    /// Turns those of the two types that are still open into the error type. An error was reported for their
    /// literals, and further errors would only repeat it.
    pub(super) fn spoil(&mut self, types: [Ty; 2]) {
        types.into_iter().for_each(|ty| self.s.checked.types.spoil(ty));
    }

    /// Gives a default type to all literals whose type is still open at the end of a function. The function's
    /// local variables start at index `first_local`.
    pub(super) fn default_open_literals(&mut self, first_local: usize) {
        let mut open = std::mem::take(&mut self.s.open_literals);
        if self.sink.count() > 0 {
            // The function has an error, perhaps in the expression that would have decided the type of a
            // literal. If a literal's type is still undecided, the literal's range is therefore not tested.
            let types = &self.s.checked.types;
            let expr_ty = &self.s.checked.expr_ty;
            open.integers.retain(|(id, ..)| !types.is_undecided(expr_ty[id.at()]));
            open.floats.retain(|(id, _)| !types.is_undecided(expr_ty[id.at()]));
        }
        for local in first_local..self.s.checked.locals.len() {
            let span = self.s.checked.locals[local].span;
            self.s.checked.locals[local].ty = self.resolve_open_type(self.s.checked.locals[local].ty, span);
        }
        for &id in &open.exprs {
            self.s.checked.expr_ty[id.at()] =
                self.resolve_open_type(self.s.checked.expr_ty[id.at()], self.ast.span(id));
        }
        for &(id, value, negative) in &open.integers {
            if let Some(scalar) = self.s.checked.types.as_scalar(self.s.checked.expr_ty[id.at()]) {
                self.in_range(id, value, negative, scalar);
            }
        }
        for &(id, negative) in &open.floats {
            if let Some(scalar) = self.s.checked.types.as_scalar(self.s.checked.expr_ty[id.at()]) {
                self.float_in_range(id, negative, scalar);
            }
        }
        for &(at, of) in &open.patterns {
            self.pattern_bounds(at, of);
        }
        let mut told = None;
        for &(ty, question) in &open.questions {
            match question {
                // The arguments of one call most likely have the same type, so one report for each call is
                // enough.
                Question::Class(_, _, callee) if told == Some(callee.span) => {}
                Question::Class(arg, class, callee) => {
                    let fits = self.in_class(ty, arg, class, callee) != Ty::ERROR;
                    told = (!fits).then_some(callee.span);
                }
                Question::Bits(arg, to) => self.same_bits(arg, ty, to),
            }
        }
        open.clear();
        self.s.open_literals = open;
        self.cover_matches();
        self.make_instances();
    }

    fn resolve_open_type(&mut self, ty: Ty, span: Span) -> Ty {
        self.s.checked.types.without_open_types(ty).unwrap_or_else(|_| {
            self.error("E0072", "the array has 2 GiB or more", span, "too many elements");
            Ty::ERROR
        })
    }

    /// Reports an integer literal whose type is too small for it. Among the float types, only `f16` is too
    /// small for some integers.
    pub(super) fn in_range(&mut self, id: ExprId, value: u64, negative: bool, scalar: Scalar) {
        if scalar == Scalar::F16 {
            return self.float_in_range(id, negative, scalar);
        }
        if scalar.is_int() && !scalar.holds(value, negative) {
            let sign = if negative { "-" } else { "" };
            self.out_of_range(id, &format!("{sign}{value}"), scalar, range_text(scalar));
        }
    }

    /// Reports a literal that would round to infinity.
    pub(super) fn float_in_range(&mut self, id: ExprId, negative: bool, scalar: Scalar) {
        if !self.is_beyond(id, scalar) {
            return;
        }
        let max = if scalar == Scalar::F16 { "65504" } else { "3.4028235e38" };
        let (sign, infinity) = if negative { ("-", "NEG_INFINITY") } else { ("", "INFINITY") };
        let name = scalar.name();
        let help = format!("`{name}` goes from -{max} to {max}; what is beyond is `{name}::{infinity}`");
        let text = match self.ast.expr(id).kind {
            ExprKind::Float { wide, .. } => format!("{sign}{wide:?}"),
            ExprKind::Int { value, .. } => format!("{sign}{value}"),
            _ => return,
        };
        self.out_of_range(id, &text, scalar, help);
    }

    /// Returns whether a float literal is so large that it rounds to infinity in the type `scalar`. A literal
    /// that is infinite even as `f64` does not count: the parser has reported it, or it comes from a constant
    /// such as `f32::INFINITY`.
    fn is_beyond(&self, id: ExprId, scalar: Scalar) -> bool {
        /// The midpoint between the largest `f16` (65504) and the next value that `f16` would have with a
        /// larger exponent (65536). A tie rounds to the even significand, which gives infinity here.
        const BEYOND_F16: f64 = 65520.0;
        match (self.ast.expr(id).kind, scalar) {
            (ExprKind::Float { wide, .. }, of) if of == Scalar::F64 || wide.is_infinite() => false,
            (ExprKind::Float { wide, .. }, Scalar::F16) => wide >= BEYOND_F16,
            (ExprKind::Float { narrow, .. }, _) => narrow.is_infinite(),
            (ExprKind::Int { value, .. }, Scalar::F16) => value as f64 >= BEYOND_F16,
            _ => false,
        }
    }

    fn out_of_range(&mut self, id: ExprId, text: &str, scalar: Scalar, help: String) {
        let message = format!("`{text}` does not fit in `{}`", scalar.name());
        self.error_help("E0003", message, self.ast.span(id), "out of range", help);
    }
}

#[cold]
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
