//! `match` on integers and `bool`.

use super::stmt::Parsed1;
use super::{Failed, Parsed, Parser};
use crate::ast::{Block, BlockId, ExprId, ExprKind, List, MatchArm, Pattern, Stmt};
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok};

/// Binding power of `|` between patterns.
const ALTERNATIVES: u8 = 4;

impl Parser<'_, '_> {
    pub(super) fn match_expr(&mut self) -> Parsed<ExprId> {
        let start = self.bump();
        let value = self.head_expr()?;
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mut below = self.height(value);
        // Arms nest, so these are gathered aside first.
        let mut arms: Vec<MatchArm> = Vec::new();
        loop {
            if self.peek() == Tok::RBrace {
                return Err(self.no_default(open.to(self.span())));
            }
            let is_default = self.peek() == Tok::Ident && self.span().text(self.source) == "_";
            let patterns = if is_default { self.default_pattern() } else { self.patterns()? };
            for n in patterns.range() {
                let Pattern { first, last } = self.ast.patterns[n];
                below = below.max(self.height(first)).max(last.map_or(0, |last| self.height(last)));
            }
            self.expect(Tok::FatArrow, "`=>`")?;
            let body = self.arm()?;
            below = below.max(self.ast.block(body).height);
            arms.push(MatchArm { patterns, body });
            if is_default {
                break;
            }
        }
        let span = start.to(self.close(Tok::RBrace, "`}`, as `_` is the last arm", open)?);
        let list = List { start: self.ast.match_arms.len() as u32, len: arms.len() as u32 };
        self.ast.match_arms.extend(arms);
        self.make(ExprKind::Match { value, arms: list }, span, below)
    }

    fn no_default(&mut self, span: Span) -> Failed {
        let error = Diagnostic::error("E0005", "`match` has no arm for all other values")
            .label(span, "`_ => …` is missing")
            .help("end it with an arm `_ => { … }`");
        self.sink.push(error);
        Failed
    }

    /// `_`: no patterns.
    fn default_pattern(&mut self) -> List {
        self.bump();
        List { start: self.ast.patterns.len() as u32, len: 0 }
    }

    /// `a | b..=c`.
    fn patterns(&mut self) -> Parsed<List> {
        let mark = self.pending_patterns.len();
        loop {
            let first = self.pattern_value()?;
            let last = if self.eat(Tok::DotDotEq) { Some(self.pattern_value()?) } else { None };
            self.pending_patterns.push(Pattern { first, last });
            if !self.eat(Tok::Pipe) {
                break;
            }
        }
        let start = self.ast.patterns.len() as u32;
        self.ast.patterns.extend(self.pending_patterns.drain(mark..));
        Ok(List { start, len: self.ast.patterns.len() as u32 - start })
    }

    fn pattern_value(&mut self) -> Parsed<ExprId> {
        let first = self.unary()?;
        self.binary_from(first, ALTERNATIVES)
    }

    /// A block, with or without a comma; or an expression, an assignment, `break`, `continue`, `return`, and a comma unless
    /// it is the last.
    fn arm(&mut self) -> Parsed<BlockId> {
        if self.peek() == Tok::LBrace {
            let block = self.nested(|p| p.block())?;
            self.eat(Tok::Comma);
            return Ok(block);
        }
        let start = self.span();
        let arm = self.with_structs(|p| p.short_arm())?;
        let span = start.to(self.last_span());
        if self.peek() != Tok::RBrace {
            self.expect(Tok::Comma, "`,`")?;
        }
        let first = self.ast.stmts.len() as u32;
        let (tail, height) = match arm {
            Parsed1::Tail(value) => (Some(value), self.height(value)),
            Parsed1::Stmt(kind, height) => {
                self.ast.stmts.push(Stmt { kind, span });
                (None, height)
            }
        };
        let stmts = List { start: first, len: self.ast.stmts.len() as u32 - first };
        Ok(self.make_block(Block { stmts, tail, span, height: height + 1 }))
    }

    fn short_arm(&mut self) -> Parsed<Parsed1> {
        if matches!(self.peek(), Tok::Break | Tok::Continue | Tok::Return) {
            let (kind, height) = self.leave()?;
            return Ok(Parsed1::Stmt(kind, height));
        }
        let value = self.expr()?;
        Ok(match self.assignment(value)? {
            Some((kind, height)) => Parsed1::Stmt(kind, height),
            None => Parsed1::Tail(value),
        })
    }
}
