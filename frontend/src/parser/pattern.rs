//! Parses the patterns of `let` and `match`.

use super::{Parsed, Parser};
use crate::ast::{ExprId, ExprKind, List, PatId, PatKind, Pattern};
use crate::lexer::{Span, Tok};
use smallvec::SmallVec;

/// Binding power of `|` between patterns.
const ALTERNATIVES: u8 = 4;

/// The sub-patterns of one pattern. Patterns nest, so the parser collects them here before it adds them to
/// the tree.
type Parts = SmallVec<[PatId; 4]>;

impl Parser<'_, '_> {
    /// Parses `name`, `mut name`, `_`, or a tuple, an array or a struct of these.
    pub(super) fn let_pattern(&mut self) -> Parsed<PatId> {
        if self.takes_apart() { self.pattern() } else { self.variable_pattern() }
    }

    /// Returns whether a tuple, array or struct pattern begins at the current token.
    pub(super) fn takes_apart(&self) -> bool {
        matches!(self.peek(), Tok::LParen | Tok::LBracket) || self.is_struct_pattern()
    }

    fn is_struct_pattern(&self) -> bool {
        self.peek() == Tok::Ident && self.peek_at(1) == Tok::LBrace
    }

    /// Parses `a | b`.
    pub(super) fn pattern(&mut self) -> Parsed<PatId> {
        let start = self.span();
        self.eat(Tok::Pipe);
        let first = self.nested(|p| p.one_pattern())?;
        if self.peek() != Tok::Pipe {
            return Ok(first);
        }
        let mut parts = Parts::from_slice(&[first]);
        while self.eat(Tok::Pipe) {
            parts.push(self.nested(|p| p.one_pattern())?);
        }
        let height = self.height_of_patterns(&parts) + 1;
        let list = self.take_patterns(parts);
        Ok(self.make_pattern(PatKind::Or(list), start, height))
    }

    fn one_pattern(&mut self) -> Parsed<PatId> {
        let start = self.span();
        match self.peek() {
            Tok::LParen => self.tuple_pattern(),
            Tok::LBracket => self.array_pattern(),
            _ if self.is_struct_pattern() => self.struct_pattern(),
            Tok::Mut => self.variable_pattern(),
            Tok::Ident if start.text(self.source) == "_" => self.variable_pattern(),
            Tok::DotDot | Tok::DotDotEq => {
                let inclusive = self.bump().text(self.source) == "..=";
                if !inclusive && matches!(self.peek(), Tok::Comma | Tok::RParen | Tok::RBracket) {
                    return Ok(self.make_pattern(PatKind::Rest, start, 0));
                }
                let last = self.pattern_value()?;
                let height = self.height(last);
                Ok(self.make_pattern(
                    PatKind::Range { first: None, last: Some(last), inclusive },
                    start,
                    height,
                ))
            }
            _ => self.value_pattern(),
        }
    }

    /// Parses `_`, `name` or `mut name`.
    fn variable_pattern(&mut self) -> Parsed<PatId> {
        let start = self.span();
        let mutable = self.eat(Tok::Mut);
        let name = self.name("a variable's name")?;
        let kind = match self.ast.name(name.sym) {
            "_" if !mutable => PatKind::Any,
            _ => PatKind::Name { mutable, name, value: None },
        };
        Ok(self.make_pattern(kind, start, 0))
    }

    /// Parses a pattern that begins with a value: a constant, a range whose first value is a constant, or a
    /// name.
    fn value_pattern(&mut self) -> Parsed<PatId> {
        let start = self.span();
        let first = self.pattern_value()?;
        let mut height = self.height(first);
        let kind = match self.peek() {
            Tok::DotDot | Tok::DotDotEq => {
                let inclusive = self.bump().text(self.source) == "..=";
                let open = matches!(
                    self.peek(),
                    Tok::FatArrow
                        | Tok::Comma
                        | Tok::RParen
                        | Tok::RBracket
                        | Tok::RBrace
                        | Tok::Pipe
                        | Tok::If
                        | Tok::Eq
                );
                let last = if open && !inclusive { None } else { Some(self.pattern_value()?) };
                height = height.max(last.map_or(0, |last| self.height(last)));
                PatKind::Range { first: Some(first), last, inclusive }
            }
            _ => match self.ast.expr(first).kind {
                ExprKind::Name(sym) => {
                    let name = crate::ast::Name { sym, span: self.ast.span(first) };
                    PatKind::Name { mutable: false, name, value: Some(first) }
                }
                _ => PatKind::Value(first),
            },
        };
        Ok(self.make_pattern(kind, start, height))
    }

    fn pattern_value(&mut self) -> Parsed<ExprId> {
        let first = self.unary()?;
        self.binary_from(first, ALTERNATIVES)
    }

    /// Parses `(a, b)`, `(a,)`, `()`, or a pattern in parentheses.
    fn tuple_pattern(&mut self) -> Parsed<PatId> {
        let open = self.bump();
        let (parts, comma) = self.parts_until(Tok::RParen)?;
        self.close(Tok::RParen, "`)` or `,`", open)?;
        if let (&[one], false) = (parts.as_slice(), comma)
            && !matches!(self.ast.pattern(one).kind, PatKind::Rest)
        {
            return Ok(one);
        }
        let height = self.height_of_patterns(&parts) + 1;
        let list = self.take_patterns(parts);
        Ok(self.make_pattern(PatKind::Tuple(list), open, height))
    }

    /// Parses patterns, separated by commas, up to the closing delimiter `close`. Also returns whether a
    /// comma follows the last pattern.
    fn parts_until(&mut self, close: Tok) -> Parsed<(Parts, bool)> {
        let (mut parts, mut comma) = (Parts::new(), false);
        while self.peek() != close {
            parts.push(self.pattern()?);
            comma = self.eat(Tok::Comma);
            if !comma {
                break;
            }
        }
        Ok((parts, comma))
    }

    /// Parses `[a, b, ..]`.
    fn array_pattern(&mut self) -> Parsed<PatId> {
        let open = self.bump();
        let (parts, _) = self.parts_until(Tok::RBracket)?;
        self.close(Tok::RBracket, "`]` or `,`", open)?;
        let height = self.height_of_patterns(&parts) + 1;
        let list = self.take_patterns(parts);
        Ok(self.make_pattern(PatKind::Array(list), open, height))
    }

    /// Parses `S { a, mut b, c: pattern, .. }`.
    fn struct_pattern(&mut self) -> Parsed<PatId> {
        let start = self.span();
        let name = self.name("a struct's name")?;
        let open = self.bump();
        let mut parts = Parts::new();
        while self.peek() != Tok::RBrace {
            let at = self.span();
            if self.eat(Tok::DotDot) {
                parts.push(self.make_pattern(PatKind::Rest, at, 0));
                if self.peek() == Tok::Comma {
                    let help = "`..` stands at the end of a struct's pattern".to_string();
                    return Err(self.unexpected_with("`}`", Some(help)));
                }
                break;
            }
            parts.push(self.field_pattern()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RBrace, "`}` or `,`", open)?;
        let height = self.height_of_patterns(&parts) + 1;
        let fields = self.take_patterns(parts);
        Ok(self.make_pattern(PatKind::Struct { name, fields }, start, height))
    }

    /// Parses `a`, `mut a` or `a: pattern`.
    fn field_pattern(&mut self) -> Parsed<PatId> {
        let start = self.span();
        let mutable = self.eat(Tok::Mut);
        let name = self.name("a field's name")?;
        let part = if !mutable && self.eat(Tok::Colon) {
            self.pattern()?
        } else {
            self.make_pattern(PatKind::Name { mutable, name, value: None }, start, 0)
        };
        let height = self.ast.pattern(part).height + 1;
        Ok(self.make_pattern(PatKind::Field { name, part }, start, height))
    }

    fn make_pattern(&mut self, kind: PatKind, start: Span, height: u16) -> PatId {
        let span = start.to(self.last_span());
        self.ast.patterns.push(Pattern { kind, span, height });
        PatId(self.ast.patterns.len() as u32 - 1)
    }

    fn height_of_patterns(&self, parts: &[PatId]) -> u16 {
        parts.iter().map(|&part| self.ast.pattern(part).height).max().unwrap_or(0)
    }

    fn take_patterns(&mut self, parts: Parts) -> List {
        let start = self.ast.patterns_pool.len() as u32;
        self.ast.patterns_pool.extend(parts);
        List { start, len: self.ast.patterns_pool.len() as u32 - start }
    }
}
