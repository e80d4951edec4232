//! Parses `match`.

use super::stmt::Parsed1;
use super::{Parsed, Parser};
use crate::ast::{Block, BlockId, ExprId, ExprKind, List, MatchArm, Stmt};
use crate::lexer::Tok;

impl Parser<'_, '_> {
    pub(super) fn match_expr(&mut self) -> Parsed<ExprId> {
        let start = self.bump();
        let value = self.head_expr()?;
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mut below = self.height(value);
        // The arms of a `match` must be consecutive in the tree's list of arms. But an arm can contain other
        // `match`es, which add their own arms to this list. The arms are therefore collected separately
        // first.
        let mut arms: Vec<MatchArm> = Vec::new();
        while self.peek() != Tok::RBrace {
            let pattern = self.with_structs(|p| p.pattern())?;
            below = below.max(self.ast.pattern(pattern).height);
            let guard = if self.eat(Tok::If) { Some(self.with_structs(|p| p.expr())?) } else { None };
            below = below.max(guard.map_or(0, |guard| self.height(guard)));
            self.expect(Tok::FatArrow, "`=>`")?;
            let body = self.arm()?;
            below = below.max(self.ast.block(body).height);
            arms.push(MatchArm { pattern, guard, body });
        }
        let span = start.to(self.close(Tok::RBrace, "`}`", open)?);
        let list = List { start: self.ast.match_arms.len() as u32, len: arms.len() as u32 };
        self.ast.match_arms.extend(arms);
        self.make(ExprKind::Match { value, arms: list }, span, below)
    }

    /// Parses the body of an arm. The body is a block, which may have a comma after it. Otherwise, it is an
    /// expression, an assignment, `break`, `continue` or `return`, which must have a comma after it except in
    /// the last arm.
    fn arm(&mut self) -> Parsed<BlockId> {
        if self.peek() == Tok::LBrace {
            let block = self.nested(|p| p.block())?;
            self.eat(Tok::Comma);
            return Ok(block);
        }
        let start = self.span();
        let arm = self.with_structs(|p| p.short_arm())?;
        let span = start.to(self.last_span());
        if self.peek() != Tok::RBrace && !self.eat(Tok::Comma) {
            let help = "arms without braces end with a comma: `0 => 1,`".to_string();
            return Err(self.unexpected_with("`,`", Some(help)));
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
