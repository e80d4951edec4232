//! `match` on integers: written out as `if`s over a variable that holds the value.

use super::{Failed, Parsed, Parser};
use crate::ast::{BinaryOp, Block, BlockId, ExprId, ExprKind, List, Name, Stmt, StmtKind};
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok};

/// Binding power of `|` between patterns.
const ALTERNATIVES: u8 = 4;

impl<'a> Parser<'a, '_> {
    pub(super) fn match_expr(&mut self) -> Parsed<ExprId> {
        let start = self.bump();
        let value = self.head_expr()?;
        let open = self.expect(Tok::LBrace, "`{`")?;
        // No source can spell this name, and the innermost one is the one that is seen.
        let name = Name { sym: self.intern("match value"), span: self.ast.span(value) };
        let mut arms: Vec<(ExprId, BlockId)> = Vec::new();
        let default = loop {
            if self.peek() == Tok::RBrace {
                return Err(self.no_default(open.to(self.span())));
            }
            let default = self.peek() == Tok::Ident && self.span().text(self.source) == "_";
            let pattern = if default { None } else { Some(self.patterns(name)?) };
            if default {
                self.bump();
            }
            self.expect(Tok::FatArrow, "`=>`")?;
            let body = self.arm()?;
            match pattern {
                Some(pattern) => arms.push((pattern, body)),
                None => break body,
            }
        };
        let span = start.to(self.close(Tok::RBrace, "`}`, as `_` is the last arm", open)?);
        let below = self.ast.block(default).height;
        let mut chain = self.make(ExprKind::Block(default), span, below)?;
        for (cond, then) in arms.into_iter().rev() {
            let below = self.height(cond).max(self.ast.block(then).height).max(self.height(chain));
            chain = self.make(ExprKind::If { cond, then, otherwise: Some(chain) }, span, below)?;
        }
        let kind = StmtKind::Let { mutable: false, name, ty: None, init: Some(value) };
        let stmts = List { start: self.ast.stmts.len() as u32, len: 1 };
        self.ast.stmts.push(Stmt { kind, span: name.span });
        let height = self.height(value).max(self.height(chain)) + 1;
        let block = self.make_block(Block { stmts, tail: Some(chain), span, height });
        self.make(ExprKind::Block(block), span, height)
    }

    fn no_default(&mut self, span: Span) -> Failed {
        let error = Diagnostic::error("E0005", "`match` has no arm for all other values")
            .label(span, "`_ => …` is missing")
            .help("end it with an arm `_ => { … }`");
        self.sink.push(error);
        Failed
    }

    /// `a | b..=c`, as a condition on the variable.
    fn patterns(&mut self, name: Name) -> Parsed<ExprId> {
        let mut all = self.pattern(name)?;
        while self.eat(Tok::Pipe) {
            let next = self.pattern(name)?;
            all = self.joined(BinaryOp::OrOr, all, next)?;
        }
        Ok(all)
    }

    fn pattern(&mut self, name: Name) -> Parsed<ExprId> {
        let first = self.pattern_value()?;
        let variable = self.make(ExprKind::Name(name.sym), name.span, 0)?;
        if !self.eat(Tok::DotDotEq) {
            return self.joined(BinaryOp::Eq, variable, first);
        }
        let last = self.pattern_value()?;
        let again = self.make(ExprKind::Name(name.sym), name.span, 0)?;
        let low = self.joined(BinaryOp::Ge, variable, first)?;
        let high = self.joined(BinaryOp::Le, again, last)?;
        self.joined(BinaryOp::AndAnd, low, high)
    }

    fn pattern_value(&mut self) -> Parsed<ExprId> {
        let first = self.unary()?;
        self.binary_from(first, ALTERNATIVES)
    }

    fn joined(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Parsed<ExprId> {
        // The variable stands elsewhere; the code belongs to the pattern.
        let span = self.ast.span(right);
        let below = self.height(left).max(self.height(right));
        self.make(ExprKind::Binary(op, left, right), span, below)
    }

    /// A block, with or without a comma, or an expression and a comma unless it is the last.
    fn arm(&mut self) -> Parsed<BlockId> {
        if self.peek() == Tok::LBrace {
            let block = self.nested(|p| p.block())?;
            self.eat(Tok::Comma);
            return Ok(block);
        }
        let value = self.with_structs(|p| p.expr())?;
        if self.peek() != Tok::RBrace {
            self.expect(Tok::Comma, "`,`")?;
        }
        let stmts = List { start: self.ast.stmts.len() as u32, len: 0 };
        let (span, height) = (self.ast.span(value), self.height(value) + 1);
        Ok(self.make_block(Block { stmts, tail: Some(value), span, height }))
    }
}
