//! Checks `printf` and `assert`.

use super::Checker;
use crate::ast::{ExprId, ExprKind, UnaryOp};
use crate::diag::Diagnostic;
use crate::format::{Conversion, Format, Kind, Literal, Mistake};
use crate::lexer::Span;
use crate::types::Ty;

impl Checker<'_, '_> {
    /// Checks `printf("format", …)`.
    pub(super) fn printf(&mut self, args: &[ExprId]) -> Ty {
        let Some(literal) = self.text(args[0], "the format of `printf` is a text in quotes") else {
            self.arguments(&args[1..]);
            return Ty::UNIT;
        };
        match Format::parse(&literal) {
            Ok(format) => self.printed(&format, &literal, args),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|mistake| self.mistake(mistake));
                self.arguments(&args[1..]);
            }
        }
        Ty::UNIT
    }

    /// Checks `assert(cond, "message")`.
    pub(super) fn assert(&mut self, args: &[ExprId]) -> Ty {
        self.condition(args[0]);
        if let Some(&message) = args.get(1) {
            self.text(message, "the message of `assert` is a text in quotes");
        }
        Ty::UNIT
    }

    /// Returns the string literal that the argument `arg` must be. If it is not a string literal, reports an
    /// error with the message `otherwise`.
    fn text(&mut self, arg: ExprId, otherwise: &str) -> Option<Literal> {
        let expr = *self.ast.expr(arg);
        let ExprKind::Str(written) = expr.kind else {
            let found = self.expr(arg, Ty::NONE);
            if found != Ty::ERROR {
                let label = format!("this is `{}`", self.type_name(found));
                self.error("E0096", otherwise, expr.span, label);
            }
            return None;
        };
        match Literal::read(self.ast.name(written), expr.span.start) {
            Ok(literal) => Some(literal),
            Err(mistake) => {
                self.mistake(mistake);
                None
            }
        }
    }

    fn mistake(&mut self, Mistake { span, message, label, help }: Mistake) {
        self.sink.push(Diagnostic::error("E0096", message).label(span, label).help_opt(help));
    }

    /// Checks the arguments of a `printf` whose format has an error, so that mistakes in the arguments are
    /// reported nevertheless. String literals among the arguments need no check.
    fn arguments(&mut self, args: &[ExprId]) {
        for &arg in args {
            if !matches!(self.ast.expr(arg).kind, ExprKind::Str(_)) {
                self.expr(arg, Ty::NONE);
            }
        }
    }

    fn printed(&mut self, format: &Format, literal: &Literal, args: &[ExprId]) {
        let mut given = args[1..].iter();
        let mut lacking = None;
        for conversion in format.conversions() {
            let span = literal.span(&conversion.range);
            match given.next() {
                Some(&arg) => self.print(conversion, span, arg),
                None => lacking = lacking.or(Some(span)),
            }
        }
        let extra = given.as_slice();
        self.arguments(extra);
        let (asked, given) = (format.conversions().count(), args.len() - 1);
        let counts = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let message = format!(
            "the format has {}, but {} given",
            counts(asked, "conversion"),
            match given {
                1 => "1 argument is".to_owned(),
                n => format!("{n} arguments are"),
            }
        );
        if let Some(span) = lacking {
            self.error("E0097", message, span, "no argument for this one");
        } else if let Some(&first) = extra.first() {
            self.error("E0097", message, self.ast.span(first), "nothing prints this one");
        }
    }

    /// Checks that a conversion of the format, such as `%d`, can print the argument. `span` is the
    /// conversion's position in the source.
    fn print(&mut self, conversion: &Conversion, span: Span, arg: ExprId) {
        let is_text = matches!(self.ast.expr(arg).kind, ExprKind::Str(_));
        if is_text && conversion.kind() == Kind::Text {
            self.text(arg, "");
            return;
        }
        if is_text {
            let diagnostic = Diagnostic::error("E0097", "a text is printed by `%s`")
                .label(self.ast.span(arg), "a text")
                .label(span, "prints something else");
            return self.sink.push(diagnostic);
        }
        let is_negative = matches!(self.ast.expr(arg).kind, ExprKind::Unary(UnaryOp::Neg, _));
        let usual = conversion.usual(is_negative).filter(|_| conversion.lanes == 0).map(Ty::scalar);
        let found = self.expr(arg, usual.unwrap_or(Ty::NONE));
        if let Some(usual) = usual
            && self.s.checked.types.is_undecided(found)
        {
            self.agree(found, usual, self.ast.span(arg));
        }
        let types = &self.s.checked.types;
        let number = types.lanes(found);
        let fits = match number {
            _ if found == Ty::ERROR => return,
            Some((scalar, lanes)) => conversion.takes(scalar, lanes),
            None => conversion.kind() == Kind::Pointer && types.as_pointer(found).is_some(),
        };
        if !fits {
            self.not_printed(conversion, span, arg, found);
        }
    }

    fn not_printed(&mut self, conversion: &Conversion, span: Span, arg: ExprId, found: Ty) {
        let types = &self.s.checked.types;
        let right = match types.lanes(found) {
            Some((scalar, lanes)) => conversion.made_for(scalar, lanes),
            None => types.as_pointer(found).map(|_| "%p".to_owned()),
        };
        let help = match (&right, conversion.kind()) {
            (_, Kind::Text) => "only a text in quotes is printed by `%s`".to_owned(),
            (Some(right), _) => format!("`{right}` prints it"),
            (None, _) if found == Ty::BOOL => "print it as a number: `%u` of `b as u32`".to_owned(),
            (None, _) => "numbers, vectors of numbers and pointers can be printed".to_owned(),
        };
        let (written, name) = (conversion.written(), self.type_name(found));
        let mut diagnostic = Diagnostic::error("E0097", format!("`{written}` does not print `{name}`"))
            .label(self.ast.span(arg), format!("this is `{name}`"))
            .label(span, "printed here")
            .help(help);
        if let Some(right) = right.filter(|_| conversion.kind() != Kind::Text) {
            diagnostic = diagnostic.suggest(span, right);
        }
        self.sink.push(diagnostic);
    }
}
