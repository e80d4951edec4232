//! Parses expressions by operator precedence.

use super::{Failed, Parsed, Parser};
use crate::ast::{BinaryOp, ExprId, ExprKind, FieldInit, IfArm, List, Name, UnaryOp};
use crate::diag::Diagnostic;
use crate::habits;
use crate::lexer::{Span, Tok};
use crate::scalar::Scalar;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Binding power of the comparison operators, as in `binary_op`. A comparison cannot be an operand of another
/// comparison.
const COMPARISON: u8 = 3;

/// Returns the operator of a token and its binding power, as in Rust.
fn binary_op(tok: Tok) -> Option<(BinaryOp, u8)> {
    Some(match tok {
        Tok::OrOr => (BinaryOp::OrOr, 1),
        Tok::AndAnd => (BinaryOp::AndAnd, 2),
        Tok::EqEq => (BinaryOp::Eq, COMPARISON),
        Tok::Ne => (BinaryOp::Ne, COMPARISON),
        Tok::Lt => (BinaryOp::Lt, COMPARISON),
        Tok::Le => (BinaryOp::Le, COMPARISON),
        Tok::Gt => (BinaryOp::Gt, COMPARISON),
        Tok::Ge => (BinaryOp::Ge, COMPARISON),
        Tok::Pipe => (BinaryOp::Or, 4),
        Tok::Caret => (BinaryOp::Xor, 5),
        Tok::Amp => (BinaryOp::And, 6),
        Tok::Shl => (BinaryOp::Shl, 7),
        Tok::Shr => (BinaryOp::Shr, 7),
        Tok::Plus => (BinaryOp::Add, 8),
        Tok::Minus => (BinaryOp::Sub, 8),
        Tok::Star => (BinaryOp::Mul, 9),
        Tok::Slash => (BinaryOp::Div, 9),
        Tok::Percent => (BinaryOp::Rem, 9),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    pub(super) fn expr(&mut self) -> Parsed<ExprId> {
        self.nested(|p| {
            let first = p.unary()?;
            p.binary_from(first, 0)
        })
    }

    /// Parses the rest of an expression whose first operand is `left`: the operators that bind at least as
    /// strongly as `min`, with their operands. Stops at the first operator that binds less strongly.
    pub(super) fn binary_from(&mut self, mut left: ExprId, min: u8) -> Parsed<ExprId> {
        loop {
            if self.peek() == Tok::As {
                left = self.cast(left)?;
                continue;
            }
            let Some((op, power)) = binary_op(self.peek()) else { break };
            if power <= min {
                break;
            }
            let op_span = self.bump();
            let right = self.nested(|p| {
                let first = p.unary()?;
                p.binary_from(first, power)
            })?;
            let span = self.ast.span(left).to(self.ast.span(right));
            // A chain of operators such as `a + b + c` counts as one level of nesting, because all code walks
            // it with a loop and not by recursion.
            let is_chain = matches!(self.ast.expr(left).kind, ExprKind::Binary(..));
            let below = (self.height(left) - u16::from(is_chain)).max(self.height(right));
            left = self.make(ExprKind::Binary(op, left, right), span, below)?;
            if power == COMPARISON && binary_op(self.peek()).is_some_and(|(_, next)| next == COMPARISON) {
                return Err(self.chained_comparison(op_span, left));
            }
        }
        match self.peek() {
            Tok::Question => Err(self.unexpected_with(
                "an operator or `;`",
                Some("there is no `?:`; write `if c { a } else { b }`".into()),
            )),
            _ => Ok(left),
        }
    }

    /// Reports a comparison of a comparison, `a < b < c`. If the text looks like a generic call without `::`,
    /// such as `f<3>(x)`, reports this instead.
    fn chained_comparison(&mut self, first: Span, left: ExprId) -> Failed {
        let called =
            self.peek() == Tok::Gt && self.peek_at(1) == Tok::LParen && first.text(self.source) == "<";
        let callee = match self.ast.expr(left).kind {
            ExprKind::Binary(BinaryOp::Lt, callee, _) if called => self.ast.span(callee).text(self.source),
            _ => "",
        };
        let diagnostic = Diagnostic::error("E0005", "comparisons do not chain")
            .label(self.span(), "second comparison")
            .label(first, "first comparison");
        let diagnostic = if self.declares(Tok::Fn, callee) || callee == "bitcast" {
            let given = Span { start: first.end, end: self.span().start }.text(self.source);
            diagnostic
                .help(format!("types and constants of a call stand behind `::`: `{callee}::<{given}>(…)`"))
                .suggest(Span { start: first.start, end: first.start }, "::")
        } else {
            diagnostic.help("write `a < b && b < c`, or use parentheses")
        };
        self.sink.push(diagnostic);
        Failed
    }

    /// Returns whether the file declares `name` with the keyword `word`, such as `fn`.
    fn declares(&self, word: Tok, name: &str) -> bool {
        self.declared(word, name).is_some()
    }

    /// Returns the token at which the file declares `name` with the keyword `word`, such as `fn`. The result
    /// is the index of the name's token.
    fn declared(&self, word: Tok, name: &str) -> Option<usize> {
        // The list of errors is full, so the diagnostic will be dropped. The search is not worth its time,
        // because it may visit a hundred thousand tokens.
        if self.sink.is_full() {
            return None;
        }
        let is_it = |n: &usize| self.kinds[n - 1] == word && self.spans[*n].text(self.source) == name;
        (1..self.kinds.len()).find(is_it)
    }

    fn cast(&mut self, value: ExprId) -> Parsed<ExprId> {
        self.bump();
        let ty = self.ty()?;
        let span = self.ast.span(value).to(self.last_span());
        let below = self.height(value);
        self.make(ExprKind::Cast(value, ty), span, below)
    }

    pub(super) fn unary(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        let tok = self.peek();
        match tok {
            Tok::Minus | Tok::Bang | Tok::Star | Tok::Amp | Tok::AndAnd => {}
            Tok::Tilde => {
                let help = "the complement of an integer is `!x`".to_string();
                return Err(self.unexpected_with("an expression", Some(help)));
            }
            Tok::PlusPlus | Tok::MinusMinus => {
                let help = "write `i += 1;` or `i -= 1;`".to_string();
                return Err(self.unexpected_with("an expression", Some(help)));
            }
            _ => {
                let value = self.primary()?;
                return self.postfix(value);
            }
        }
        self.bump();
        if tok == Tok::Amp {
            self.eat(Tok::Mut);
        }
        let operand = self.nested(|p| p.unary())?;
        let span = start.to(self.ast.span(operand));
        let kind = match tok {
            Tok::Minus => ExprKind::Unary(UnaryOp::Neg, operand),
            Tok::Bang => ExprKind::Unary(UnaryOp::Not, operand),
            Tok::Star => ExprKind::Deref(operand),
            _ => ExprKind::AddrOf(operand),
        };
        let below = self.height(operand);
        self.make(kind, span, below)
    }

    /// Parses the indexing and field access that follow a value.
    pub(super) fn postfix(&mut self, mut value: ExprId) -> Parsed<ExprId> {
        loop {
            let start = self.ast.span(value);
            let below = self.height(value);
            value = match self.peek() {
                Tok::LBracket => {
                    let open = self.bump();
                    let index = self.with_structs(|p| p.expr())?;
                    let end = self.close(Tok::RBracket, "`]`", open)?;
                    let below = below.max(self.height(index));
                    self.make(ExprKind::Index(value, index), start.to(end), below)?
                }
                Tok::Dot => {
                    self.bump();
                    if self.peek() == Tok::Number {
                        value = self.tuple_fields(value)?;
                        continue;
                    }
                    if self.peek() != Tok::Ident {
                        let help = "a float literal needs a digit behind the point: `1.0`".to_string();
                        return Err(self.unexpected_with("a field's name", Some(help)));
                    }
                    let field = self.bump_name();
                    if self.peek() == Tok::LParen {
                        return Err(self.no_method(start, field));
                    }
                    self.make(ExprKind::Field(value, field), start.to(field.span), below)?
                }
                Tok::LParen if self.is_called(value) => {
                    let args = self.arguments()?;
                    let below = below.max(self.height_of_list(args));
                    let span = start.to(self.last_span());
                    self.make(ExprKind::CallValue { callee: value, args }, span, below)?
                }
                Tok::Arrow => {
                    let help = "write `p.field`, also where `p` is a pointer".to_string();
                    return Err(self.unexpected_with("`.`", Some(help)));
                }
                _ => return Ok(value),
            };
        }
    }

    /// Returns whether a `(` after the expression `value` begins the arguments of a call through a function's
    /// address. This is so if the value of the expression may be the address of a function, and if the `(` is
    /// on the same line.
    fn is_called(&self, value: ExprId) -> bool {
        let may_be = match self.ast.expr(value).kind {
            ExprKind::Index(..)
            | ExprKind::Field(..)
            | ExprKind::Call { .. }
            | ExprKind::CallValue { .. } => true,
            // A call by name, such as `f(x)`, is parsed elsewhere. A name in parentheses, as in `(f)(x)`, is
            // an address.
            ExprKind::Name(_) | ExprKind::Deref(_) | ExprKind::Cast(..) => self.last_is(Tok::RParen),
            _ => false,
        };
        may_be && !self.on_new_line()
    }

    /// Parses the number after the dot in an access to a field of a tuple. The lexer reads the `0.1` of
    /// `t.0.1` as one token, but this text names two fields.
    fn tuple_fields(&mut self, mut value: ExprId) -> Parsed<ExprId> {
        let span = self.span();
        let fields = span.text(self.source);
        let is_number =
            |text: &str| text.bytes().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        if !fields.split('.').all(is_number) {
            return Err(self.unexpected("a field's name or number"));
        }
        self.bump();
        let mut at = span.start;
        for text in fields.split('.') {
            let end = at + text.len() as u32;
            let field = Name { sym: self.intern(text), span: Span { start: at, end } };
            let below = self.height(value);
            value = self.make(ExprKind::Field(value, field), self.ast.span(value).to(field.span), below)?;
            at = end + 1;
        }
        Ok(value)
    }

    /// Reports a method call such as `x.sqrt()`, because the language has no methods. `of` is the source
    /// range of `x`.
    #[cold]
    fn no_method(&mut self, of: Span, name: Name) -> Failed {
        let (start, value) = (of.start, of.text(self.source));
        let written = self.ast.name(name.sym);
        let diagnostic =
            Diagnostic::error("E0005", "values have no methods").label(name.span, "called like one");
        if self.is_field_of_functions(written) {
            let help = format!("what a field points to is called in parentheses: `({value}.{written})(…)`");
            self.sink.push(diagnostic.help(help));
            return Failed;
        }
        let own = self.declares(Tok::Fn, written).then(|| habits::Hint::Name(written.to_owned()));
        let diagnostic = match own.or_else(|| habits::called(written)) {
            Some(habits::Hint::Name(text)) => match self.behind_arguments() {
                Some(end) => {
                    let (open, close) = (self.span(), self.spans[end - 1]);
                    let arguments = Span { start: open.end, end: close.start }.text(self.source);
                    let comma = if arguments.trim().is_empty() { "" } else { ", " };
                    let call = format!("{text}({value}{comma}{arguments})");
                    let diagnostic = diagnostic.help(format!("write `{call}`"));
                    diagnostic.suggest(Span { start, end: close.end }, call)
                }
                None => diagnostic.help(format!("write `{text}({value})`")),
            },
            Some(habits::Hint::Hint(hint)) => diagnostic.help(hint),
            None => diagnostic.help(habits::no_function(written)),
        };
        self.sink.push(diagnostic);
        Failed
    }

    /// Returns whether a call such as `x.name(…)` may be a call through a field: whether a struct of the file
    /// has a field with this name and a function type.
    fn is_field_of_functions(&self, name: &str) -> bool {
        let is_it = |n: usize| {
            self.kinds[n..].starts_with(&[Tok::Ident, Tok::Colon, Tok::Fn])
                && self.spans[n].text(self.source) == name
        };
        !self.sink.is_full() && (0..self.kinds.len()).any(is_it)
    }

    /// Reports `S::new(…)`.
    #[cold]
    fn no_path(&mut self, of: Name, name: Name) -> Failed {
        let (type_text, written) = (self.ast.name(of.sym), self.ast.name(name.sym));
        let help = if self.declares(Tok::Fn, written) {
            format!("functions stand alone: write `{written}(…)`")
        } else if let Some(fields) = self.fields_of(type_text) {
            format!("a struct is made with the names of its fields: `{type_text} {{ {fields} }}`")
        } else {
            habits::called_of(type_text, written)
        };
        let diagnostic = Diagnostic::error("E0005", format!("`{type_text}` has no functions of its own"))
            .label(of.span.to(name.span), "called like one")
            .help(help);
        self.sink.push(diagnostic);
        Failed
    }

    /// Returns the text `a: …, b: …` with the field names of the struct `name`, for a suggestion. Returns
    /// `None` if the file does not declare the struct.
    fn fields_of(&self, name: &str) -> Option<String> {
        let body = self.declared(Tok::Struct, name)? + 2;
        let end = self.kinds[body.min(self.kinds.len())..].iter().position(|&tok| tok == Tok::RBrace)? + body;
        let is_field = |n: &usize| self.kinds[*n] == Tok::Ident && self.kinds[n + 1] == Tok::Colon;
        let fields = (body..end).filter(is_field).map(|n| format!("{}: …", self.spans[n].text(self.source)));
        Some(fields.collect::<Vec<_>>().join(", ")).filter(|fields| !fields.is_empty())
    }

    /// Returns the index of the token after a call's arguments. The current token is the `(` before the
    /// arguments.
    fn behind_arguments(&self) -> Option<usize> {
        let mut depth = 0usize;
        for (n, kind) in self.kinds.iter().enumerate().skip(self.at) {
            match kind {
                Tok::LParen => depth += 1,
                Tok::RParen => depth -= 1,
                Tok::Semi | Tok::Eof => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(n + 1);
            }
        }
        None
    }

    /// Reports a cast in the style of C, `(int) x`. `inner` is the expression that was in the parentheses.
    /// Returns `None` if it is not the name of a type or if no value follows.
    fn cast_of_c(&mut self, inner: ExprId) -> Option<Failed> {
        let ExprKind::Name(sym) = self.ast.expr(inner).kind else { return None };
        let name = self.ast.name(sym);
        if !matches!(self.peek(), Tok::Ident | Tok::Number | Tok::LParen) {
            return None;
        }
        let here = match Scalar::from_name(name) {
            Some(scalar) => scalar.name().to_owned(),
            None => match habits::type_name(name)? {
                habits::Hint::Name(here) => here,
                habits::Hint::Hint(_) => return None,
            },
        };
        self.sink.push(
            Diagnostic::error("E0005", "a conversion is written behind the value")
                .label(self.ast.span(inner), "a type")
                .help(format!("write `x as {here}`")),
        );
        Some(Failed)
    }

    /// Runs `f` with struct literals allowed. In the head of an `if`, a `{` after a name begins the body and
    /// not a struct literal. Inside parentheses or brackets this is not possible, so struct literals are
    /// allowed there.
    pub(super) fn with_structs<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.struct_allowed, true);
        let result = f(self);
        self.struct_allowed = outer;
        result
    }

    pub(super) fn primary(&mut self) -> Parsed<ExprId> {
        let span = self.span();
        match self.peek() {
            Tok::Number => self.number(),
            Tok::True | Tok::False => {
                let value = self.peek() == Tok::True;
                self.bump();
                self.make(ExprKind::Bool(value), span, 0)
            }
            Tok::Str => {
                let text = self.intern(span.text(self.source));
                self.bump();
                self.make(ExprKind::Str(text), span, 0)
            }
            Tok::Ident | Tok::In => self.named(),
            // Keywords such as `global` and `volatile` are also words in the arguments of `fence` and `load`.
            // The parser turns them into names, and the checker reports them where they are not allowed.
            Tok::Global | Tok::Shared | Tok::Constant | Tok::Private | Tok::Volatile => {
                let name = self.bump_name();
                self.make(ExprKind::Name(name.sym), span, 0)
            }
            Tok::LParen => {
                self.bump();
                if self.peek() == Tok::RParen {
                    return self.tuple(span, None);
                }
                let value = self.with_structs(|p| p.expr())?;
                self.parenthesized(span, value)
            }
            Tok::LBracket => self.array(),
            Tok::If => self.if_expr(),
            Tok::Match => self.match_expr(),
            Tok::Loop | Tok::Label | Tok::While | Tok::For => self.loop_expr(),
            Tok::LBrace if self.last_is(Tok::Eq) && self.peek_at(2) == Tok::Comma => {
                let help = "arrays stand in brackets: `[a, b, c]`".to_string();
                Err(self.unexpected_with("a value", Some(help)))
            }
            Tok::LBrace => {
                let block = self.block()?;
                let span = self.ast.block(block).span;
                let below = self.ast.block(block).height;
                self.make(ExprKind::Block(block), span, below)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn if_expr(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        // The arms of an `if` must be consecutive in the tree's list of arms. But an arm can contain other
        // `if`s, which add their own arms to this list. The arms are therefore collected separately first.
        let mut arms: SmallVec<[IfArm; 4]> = SmallVec::new();
        let (mut otherwise, mut below) = (None, 0);
        let end = loop {
            let span = self.bump();
            let cond = self.head_expr()?;
            let then = self.block()?;
            below = below.max(self.height(cond)).max(self.ast.block(then).height);
            arms.push(IfArm { span, cond, then });
            if !self.eat(Tok::Else) {
                break self.ast.block(then).span;
            }
            match self.peek() {
                Tok::If => {}
                Tok::LBrace => {
                    let block = self.block()?;
                    below = below.max(self.ast.block(block).height);
                    otherwise = Some(block);
                    break self.ast.block(block).span;
                }
                _ => return Err(self.unexpected("`{` or `if`")),
            }
        };
        let list = List { start: self.ast.if_arms.len() as u32, len: arms.len() as u32 };
        self.ast.if_arms.extend(arms);
        self.make(ExprKind::If { arms: list, otherwise }, start.to(end), below)
    }

    /// Parses a name, a call or a struct literal.
    fn named(&mut self) -> Parsed<ExprId> {
        let name = self.bump_name();
        let mut given = List::default();
        if self.peek() == Tok::ColonColon {
            self.bump();
            if let (Tok::Ident, Some(scalar)) = (self.peek(), Scalar::from_name(self.ast.name(name.sym))) {
                return self.constant_of(scalar, name);
            }
            if self.peek() == Tok::Ident {
                let constant = self.bump_name();
                if self.peek() == Tok::LParen {
                    return Err(self.no_path(name, constant));
                }
                return self.make(ExprKind::TypeConst(name, constant.sym), name.span.to(constant.span), 0);
            }
            given = self.generic_args()?;
            if self.peek() != Tok::LParen {
                return Err(self.unexpected("`(`"));
            }
        }
        match self.peek() {
            Tok::LParen => {
                let args = self.arguments()?;
                let span = name.span.to(self.last_span());
                let below = self.height_of_list(args);
                self.make(ExprKind::Call { callee: name, args, given }, span, below)
            }
            Tok::LBrace if self.struct_allowed && self.looks_like_struct() => self.struct_literal(name),
            _ => self.make(ExprKind::Name(name.sym), name.span, 0),
        }
    }

    /// Returns whether the current `{`, which follows a name, most likely begins a struct literal: it is
    /// followed by `}` or by a name with `:`, `,` or `}`.
    fn looks_like_struct(&self) -> bool {
        match self.peek_at(1) {
            Tok::RBrace => true,
            Tok::Ident => matches!(self.peek_at(2), Tok::Colon | Tok::Comma | Tok::RBrace),
            _ => false,
        }
    }

    fn struct_literal(&mut self, name: Name) -> Parsed<ExprId> {
        let open = self.bump();
        // The fields of a literal must be consecutive in the tree's list of fields. But a field can contain
        // other struct literals, which add their own fields to this list. The fields are therefore collected
        // separately first.
        let mut fields: Vec<FieldInit> = Vec::new();
        let mut below = 0;
        while self.peek() != Tok::RBrace {
            let field = self.name("a field's name")?;
            // `a` alone means `a: a`.
            let value = if matches!(self.peek(), Tok::Comma | Tok::RBrace) {
                self.make(ExprKind::Name(field.sym), field.span, 0)?
            } else {
                self.expect(Tok::Colon, "`:`")?;
                self.with_structs(|p| p.expr())?
            };
            below = below.max(self.height(value));
            fields.push(FieldInit { name: field, value });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        let end = self.close(Tok::RBrace, "`}`", open)?;
        let list = List { start: self.ast.inits.len() as u32, len: fields.len() as u32 };
        self.ast.inits.extend(fields);
        self.make(ExprKind::Struct(name, list), name.span.to(end), below)
    }

    /// Parses `(a, b, …)`.
    pub(super) fn arguments(&mut self) -> Parsed<List> {
        let open = self.expect(Tok::LParen, "`(`")?;
        let mark = self.pending_exprs.len();
        while self.peek() != Tok::RParen {
            let value = self.with_structs(|p| p.expr())?;
            // Hints such as `volatile | nontemporal` in `load(p, volatile | nontemporal)` need no code here:
            // their `|` is parsed like the ordinary operator.
            self.pending_exprs.push(value);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, "`)` or `,`", open)?;
        Ok(self.take_exprs(mark))
    }

    /// Parses the rest of `(a)` or `(a, b)` after `a`.
    pub(super) fn parenthesized(&mut self, open: Span, value: ExprId) -> Parsed<ExprId> {
        if self.peek() == Tok::Comma {
            return self.tuple(open, Some(value));
        }
        self.close(Tok::RParen, "`)`", open)?;
        match self.cast_of_c(value) {
            Some(failed) => Err(failed),
            None => Ok(value),
        }
    }

    /// Parses the rest of `(a, b)` after its first part.
    fn tuple(&mut self, open: Span, first: Option<ExprId>) -> Parsed<ExprId> {
        let mark = self.pending_exprs.len();
        self.pending_exprs.extend(first);
        while self.eat(Tok::Comma) && self.peek() != Tok::RParen {
            let value = self.with_structs(|p| p.expr())?;
            self.pending_exprs.push(value);
        }
        let end = self.close(Tok::RParen, "`)` or `,`", open)?;
        let list = self.take_exprs(mark);
        let below = self.height_of_list(list);
        self.make(ExprKind::Tuple(list), open.to(end), below)
    }

    /// Parses `[a, b]` or `[v; n]`.
    fn array(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        let mark = self.pending_exprs.len();
        while self.peek() != Tok::RBracket {
            let value = self.with_structs(|p| p.expr())?;
            if self.peek() == Tok::Semi && self.pending_exprs.len() == mark {
                self.bump();
                let count = self.with_structs(|p| p.expr())?;
                let end = self.close(Tok::RBracket, "`]`", open)?;
                let below = self.height(value).max(self.height(count));
                return self.make(ExprKind::Repeat(value, count), open.to(end), below);
            }
            self.pending_exprs.push(value);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        let end = self.close(Tok::RBracket, "`]` or `,`", open)?;
        let list = self.take_exprs(mark);
        let below = self.height_of_list(list);
        self.make(ExprKind::Array(list), open.to(end), below)
    }

    fn number(&mut self) -> Parsed<ExprId> {
        let span = self.bump();
        let kind = match parse_number(span.text(self.source)) {
            Ok(kind) => kind,
            Err(problem) => {
                self.report_number(span, problem);
                ExprKind::Error
            }
        };
        self.make(kind, span, 0)
    }

    #[cold]
    fn report_number(&mut self, span: Span, problem: NumberError) {
        let text = span.text(self.source);
        let diagnostic = match problem {
            NumberError::Digits => Diagnostic::error("E0002", format!("`{text}` is not a number"))
                .label(span, "digits expected")
                .help("numbers look like `10`, `0xff`, `0b101`, `1.5` and, with an exponent, `1e-3`"),
            NumberError::Suffix(at) => {
                let suffix = Span { start: span.start + at as u32, end: span.end };
                self.sink.push(self.bad_suffix(span, suffix));
                return;
            }
            NumberError::Octal => Diagnostic::error("E0002", format!("`{text}` begins with a 0"))
                .label(span, "decimal or octal?")
                .help(match text[1..].trim_start_matches(['0', '_']) {
                    "" => "write one 0".to_owned(),
                    rest if is_float_text(rest) => "write it without the 0 in front".to_owned(),
                    rest => format!("octal numbers are written `0o{rest}`, decimal ones without the 0"),
                }),
            NumberError::Large => Diagnostic::error("E0003", format!("`{text}` does not fit in 64 bits"))
                .label(span, "too large"),
            NumberError::Infinite => Diagnostic::error("E0003", format!("`{text}` does not fit in `f64`"))
                .label(span, "out of range")
                .help("`f64` goes from -1.7976931348623157e308 to 1.7976931348623157e308; what is beyond is `f64::INFINITY`"),
        };
        self.sink.push(diagnostic);
    }

    #[cold]
    fn bad_suffix(&self, span: Span, suffix: Span) -> Diagnostic {
        let (number, text) = (span.text(self.source), suffix.text(self.source));
        let digits = &number[..number.len() - text.len()];
        let based = number.get(1..2).is_some_and(|c| matches!(c, "x" | "X" | "b" | "B" | "o" | "O"));
        if based && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && habits::suffix(text).is_none() {
            return Diagnostic::error("E0002", format!("`{number}` is not a number"))
                .label(suffix, "no digit of this base")
                .help("digits are 0 to 9 and a to f behind `0x`, 0 and 1 behind `0b`, 0 to 7 behind `0o`");
        }
        let diagnostic = Diagnostic::error("E0002", format!("unknown suffix `{text}` of a number"))
            .label(suffix, "not a scalar type");
        match habits::suffix(text) {
            Some(here) => diagnostic.help(format!("write `{digits}{here}`")).suggest(suffix, here),
            None => diagnostic.help(
                "suffixes are the scalar types: `10u64`, `7u32`, `1.5f64`; plain numbers take the type they need",
            ),
        }
    }
}

enum NumberError {
    /// No digits where digits are required.
    Digits,
    /// An unknown suffix at this offset.
    Suffix(usize),
    /// The integer has more than 64 bits.
    Large,
    /// A float that is too large for every type.
    Infinite,
    /// A decimal number that begins with a zero, which would be octal in C. It is an error, because its
    /// meaning is not clear.
    Octal,
}

/// Parses the text of a number token.
fn parse_number(text: &str) -> Result<ExprKind, NumberError> {
    let radix = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'b' | b'B', ..] => 2,
        [b'0', b'o' | b'O', ..] => 8,
        _ => 10,
    };
    // A zero followed by other digits is an octal number in C.
    if radix == 10
        && text.starts_with('0')
        && text.bytes().skip(1).find(|&c| c != b'_').is_some_and(|c| c.is_ascii_digit())
    {
        return Err(NumberError::Octal);
    }
    if radix == 10 && is_float_text(text) {
        return parse_float(text);
    }
    let start = if radix == 10 { 0 } else { 2 };
    let (mut value, mut digits, mut end) = (0u64, 0, text.len());
    for (at, c) in text.char_indices().skip(start) {
        if c == '_' {
            continue;
        }
        let Some(digit) = c.to_digit(radix) else {
            end = at;
            break;
        };
        digits += 1;
        value = value
            .checked_mul(u64::from(radix))
            .and_then(|value| value.checked_add(u64::from(digit)))
            .ok_or(NumberError::Large)?;
    }
    if digits == 0 {
        return Err(NumberError::Digits);
    }
    let suffix = suffix(text, end)?;
    if suffix.is_some_and(Scalar::is_float) {
        return if radix == 10 { parse_float(text) } else { Err(NumberError::Suffix(end)) };
    }
    Ok(ExprKind::Int { value, suffix })
}

fn suffix(text: &str, at: usize) -> Result<Option<Scalar>, NumberError> {
    match &text[at..] {
        "" => Ok(None),
        suffix => match Scalar::from_name(suffix) {
            None | Some(Scalar::Bool) => Err(NumberError::Suffix(at)),
            found => Ok(found),
        },
    }
}

/// Returns whether the text of a decimal number is that of a float: it has a point or an exponent.
fn is_float_text(text: &str) -> bool {
    text.contains('.') || text.bytes().find(u8::is_ascii_alphabetic).is_some_and(|c| c | 0x20 == b'e')
}

fn parse_float(text: &str) -> Result<ExprKind, NumberError> {
    // The digits end at the first letter other than `e`. The suffix begins there.
    let end = text.bytes().position(|c| c.is_ascii_alphabetic() && c | 0x20 != b'e').unwrap_or(text.len());
    let suffix = suffix(text, end)?;
    if suffix.is_some_and(Scalar::is_int) {
        return Err(NumberError::Suffix(end));
    }
    let mut digits = Cow::Borrowed(&text[..end]);
    if digits.contains('_') {
        digits = digits.replace('_', "").into();
    }
    let wide = digits.parse::<f64>().map_err(|_| NumberError::Digits)?;
    if wide.is_infinite() {
        return Err(NumberError::Infinite);
    }
    let narrow = digits.parse::<f32>().map_err(|_| NumberError::Digits)?;
    Ok(ExprKind::Float { wide, narrow, suffix })
}
