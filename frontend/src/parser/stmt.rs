//! Parses statements and blocks.

use super::{Failed, Parsed, Parser};
use crate::ast::{BinaryOp, Block, BlockId, ExprId, ExprKind, List, Name, PatId, Stmt, StmtKind};
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok};
use smallvec::SmallVec;

/// Returns the operator of an assignment token: `Some(None)` for `=`, `Some(Some(op))` for a token such as
/// `+=`. Returns `None` for any other token.
fn assign_op(tok: Tok) -> Option<Option<BinaryOp>> {
    Some(match tok {
        Tok::Eq => None,
        Tok::PlusEq => Some(BinaryOp::Add),
        Tok::MinusEq => Some(BinaryOp::Sub),
        Tok::StarEq => Some(BinaryOp::Mul),
        Tok::SlashEq => Some(BinaryOp::Div),
        Tok::PercentEq => Some(BinaryOp::Rem),
        Tok::AmpEq => Some(BinaryOp::And),
        Tok::PipeEq => Some(BinaryOp::Or),
        Tok::CaretEq => Some(BinaryOp::Xor),
        Tok::ShlEq => Some(BinaryOp::Shl),
        Tok::ShrEq => Some(BinaryOp::Shr),
        _ => return None,
    })
}

/// The parameters that have a pattern instead of a name. Each has the pattern, and the name that the parser
/// gave to the parameter.
pub(super) type TakenApart = SmallVec<[(PatId, Name); 2]>;

/// What was parsed: a statement, or the value of the enclosing block.
pub(super) enum Parsed1 {
    Stmt(StmtKind, u16),
    /// The last expression of the enclosing block, without a `;` after it. It is the value of the block.
    Tail(ExprId),
}

impl Parser<'_, '_> {
    pub(super) fn block(&mut self) -> Parsed<BlockId> {
        self.nested(|p| {
            let struct_allowed = std::mem::replace(&mut p.struct_allowed, true);
            let block = p.block_inner(&TakenApart::new());
            p.struct_allowed = struct_allowed;
            block
        })
    }

    /// Parses the body of a function. For each parameter with a pattern (in `taken_apart`), the body begins
    /// with a `let` that matches the parameter with the pattern.
    pub(super) fn body(&mut self, taken_apart: &TakenApart) -> Parsed<BlockId> {
        self.nested(|p| p.block_inner(taken_apart))
    }

    fn block_inner(&mut self, taken_apart: &TakenApart) -> Parsed<BlockId> {
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mark = self.pending_stmts.len();
        for &(pattern, Name { sym, span }) in taken_apart {
            let init = self.make(ExprKind::Name(sym), span, 0)?;
            let height = self.height(init);
            let kind = StmtKind::Let { pattern, ty: None, init: Some(init) };
            self.pending_stmts.push((Stmt { kind, span }, height));
        }
        let mut tail = None;
        // End of the previous statement, if it had a syntax error.
        let mut failed: Option<u32> = None;
        loop {
            match self.peek() {
                Tok::RBrace => break,
                Tok::Eof => {
                    self.close(Tok::RBrace, "`}`", open)?;
                }
                Tok::Hash | Tok::Kernel | Tok::Fn | Tok::Struct if self.item_begins() => {
                    return Err(self.unclosed_before_item(open));
                }
                Tok::Semi => {
                    self.bump();
                    continue;
                }
                _ => {}
            }
            let (start, told) = (self.span(), self.sink.count());
            let (before, exprs, stmts, depth) =
                (self.at, self.pending_exprs.len(), self.pending_stmts.len(), self.depth);
            let stmt = self.stmt_with_attrs();
            let last_failed = failed.take();
            match stmt {
                _ if self.item_begun => return Err(Failed),
                Ok(Some(Parsed1::Stmt(kind, height))) => {
                    let span = start.to(self.last_span());
                    self.pending_stmts.push((Stmt { kind, span }, height));
                }
                Ok(Some(Parsed1::Tail(value))) => {
                    tail = Some(value);
                    break;
                }
                Ok(None) => self.pending_stmts.truncate(stmts),
                Err(Failed) => {
                    self.pending_exprs.truncate(exprs);
                    self.pending_stmts.truncate(stmts);
                    self.depth = depth;
                    self.struct_allowed = true;
                    self.skip_statement(before);
                    self.skipped_since(before);
                    // After a syntax error in the head of a `match`, the arms are parsed as statements and
                    // cause further errors. These errors are dropped.
                    let is_arm = self.kinds[before..self.at].contains(&Tok::FatArrow);
                    let same_line = |end: u32| self.source.get(end as usize..start.start as usize);
                    let is_rest = last_failed.and_then(same_line).is_some_and(|text| !text.contains('\n'));
                    if is_rest || is_arm && told > self.item_told && self.kinds[before] != Tok::Match {
                        self.sink.truncate(told);
                    }
                    failed = Some(self.last_span().end);
                }
            }
        }
        let end = self.close(Tok::RBrace, "`}`", open)?;
        let start = self.ast.stmts.len() as u32;
        let mut height = tail.map_or(0, |id| self.height(id));
        for (stmt, below) in self.pending_stmts.drain(mark..) {
            height = height.max(below);
            self.ast.stmts.push(stmt);
        }
        let stmts = List { start, len: self.ast.stmts.len() as u32 - start };
        Ok(self.make_block(Block { stmts, tail, span: open.to(end), height: height + 1 }))
    }

    /// Reports that the next item begins before the block has ended.
    fn unclosed_before_item(&mut self, open: Span) -> Failed {
        self.item_begun = true;
        let open = self.unclosed().unwrap_or(open);
        self.sink.push(
            Diagnostic::error("E0006", "`}` is missing")
                .label(open, "this is never closed")
                .label(self.span(), "the next item begins here"),
        );
        Failed
    }

    /// Recovers from an error in a statement: skips tokens past the next `;` or up to the `}` that ends the
    /// block. Stops earlier at a keyword that begins a line and starts a statement.
    fn skip_statement(&mut self, before: usize) {
        let mut depth = 0usize;
        // The failed statement may have opened braces. All that is inside them is skipped, too.
        for tok in &self.kinds[before..self.at] {
            match tok {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if self.at == before {
            if matches!(self.peek(), Tok::LBrace) {
                depth += 1;
            }
            if !matches!(self.peek(), Tok::Eof) {
                self.bump();
            }
        }
        loop {
            match self.peek() {
                Tok::Eof => return,
                Tok::Kernel | Tok::Struct => return,
                Tok::Semi if self.in_brackets() => {}
                Tok::Hash | Tok::Fn if self.item_begins() => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth == 0 => return,
                Tok::RBrace => {
                    depth -= 1;
                    let of_do = self.peek_at(1) == Tok::While && self.spans[before].text(self.source) == "do";
                    if depth == 0 && !matches!(self.peek_at(1), Tok::Else | Tok::Eq) && !of_do {
                        self.bump();
                        return;
                    }
                    if of_do {
                        self.bump();
                    }
                }
                Tok::Semi if depth == 0 => {
                    self.bump();
                    // An `else` stands here only if the parser has skipped the `if` before it. That error has
                    // been reported, so the `else` is not.
                    if self.peek() != Tok::Else {
                        return;
                    }
                }
                Tok::Let | Tok::While | Tok::Loop | Tok::For | Tok::Return if depth == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Returns whether the current `;` belongs to an array type `[T; N]`, and so does not end a statement.
    fn in_brackets(&self) -> bool {
        let mut open = 0usize;
        for tok in &self.kinds[self.at + 1..] {
            match tok {
                Tok::LBracket => open += 1,
                Tok::RBracket if open == 0 => return true,
                Tok::RBracket => open -= 1,
                Tok::Semi if open > 0 => {}
                Tok::Semi | Tok::LBrace | Tok::RBrace | Tok::Eof => return false,
                _ => {}
            }
        }
        false
    }

    fn stmt(&mut self) -> Parsed<Parsed1> {
        match self.peek() {
            Tok::Let => self.let_stmt(),
            Tok::Shared => self.shared_stmt(),
            Tok::Const => self.const_stmt(),
            Tok::While | Tok::Loop | Tok::For | Tok::Label => self.loop_stmt(List::default()),
            Tok::Break | Tok::Continue | Tok::Return => {
                let (kind, height) = self.leave()?;
                if self.peek() != Tok::RBrace {
                    self.expect(Tok::Semi, "`;`")?;
                }
                Ok(Parsed1::Stmt(kind, height))
            }
            Tok::Ident if self.at_static_assert() => {
                let (cond, message) = self.static_assert()?;
                Ok(Parsed1::Stmt(StmtKind::StaticAssert { cond, message }, self.height(cond)))
            }
            _ => self.expr_stmt(),
        }
    }

    /// Parses a statement with its attributes. Returns `None` if a `#[cfg(…)]` condition excludes it from the
    /// program.
    fn stmt_with_attrs(&mut self) -> Parsed<Option<Parsed1>> {
        if self.peek() != Tok::Hash {
            return self.stmt().map(Some);
        }
        let (start, quiet) = (self.span(), self.ast.quiet.len());
        let attrs = self.attrs()?;
        let left_out = std::mem::take(&mut self.left_out);
        let is_loop = matches!(self.peek(), Tok::While | Tok::Loop | Tok::For | Tok::Label);
        let stmt = match self.peek() {
            _ if is_loop || attrs.len > 0 => self.loop_stmt(attrs)?,
            // The attributes have no statement to apply to.
            Tok::RBrace => return Err(self.unexpected("a statement")),
            _ => self.stmt()?,
        };
        self.end_quiet(start, quiet, left_out);
        Ok((!left_out).then_some(stmt))
    }

    /// Parses `break`, `continue` or `return` with its label and value. Returns the statement and the height
    /// of its expression tree. Does not consume the token that ends the statement.
    pub(super) fn leave(&mut self) -> Parsed<(StmtKind, u16)> {
        let word = self.peek();
        self.bump();
        // In `break 'a: { … }`, the `break` has no label. The label belongs to its value, which is a labelled
        // block.
        let labelled = word != Tok::Return && self.peek() == Tok::Label && self.peek_at(1) != Tok::Colon;
        let label = labelled.then(|| self.bump_name());
        if word == Tok::Continue {
            return Ok((StmtKind::Continue(label), 0));
        }
        let ends = matches!(self.peek(), Tok::Semi | Tok::Comma | Tok::RBrace);
        let value = if ends { None } else { Some(self.expr()?) };
        let height = value.map_or(0, |id| self.height(id));
        let kind =
            if word == Tok::Break { StmtKind::Break { label, value } } else { StmtKind::Return(value) };
        Ok((kind, height))
    }

    /// Parses the rest of an assignment, from the assignment operator on. `place` is the left-hand side.
    /// Returns the statement and the height of its expression tree, or `None` if there is no assignment
    /// operator. Does not consume the token that ends the statement.
    pub(super) fn assignment(&mut self, place: ExprId) -> Parsed<Option<(StmtKind, u16)>> {
        let Some(op) = assign_op(self.peek()) else { return Ok(None) };
        self.bump();
        let value = self.expr()?;
        let height = self.height(place).max(self.height(value));
        Ok(Some((StmtKind::Assign { op, place, value }, height)))
    }

    fn let_stmt(&mut self) -> Parsed<Parsed1> {
        self.bump();
        let pattern = self.let_pattern()?;
        let ty = if self.eat(Tok::Colon) { Some(self.ty()?) } else { None };
        let init = if self.eat(Tok::Eq) { Some(self.expr()?) } else { None };
        self.expect(Tok::Semi, "`;`")?;
        let height = init.map_or(0, |id| self.height(id));
        Ok(Parsed1::Stmt(StmtKind::Let { pattern, ty, init }, height))
    }

    fn shared_stmt(&mut self) -> Parsed<Parsed1> {
        self.bump();
        let dynamic = self.eat(Tok::Dyn);
        let name = self.name("a variable's name")?;
        self.expect(Tok::Colon, "`:` and a type")?;
        let ty = self.ty()?;
        if self.peek() == Tok::Eq {
            self.sink.push(
                Diagnostic::error("E0085", "`shared` variables cannot have an initial value")
                    .label(self.span(), "initial value")
                    .help("store to it and call `barrier()`"),
            );
            return Err(Failed);
        }
        self.expect(Tok::Semi, "`;`")?;
        Ok(Parsed1::Stmt(StmtKind::Shared { dynamic, name, ty }, 0))
    }

    fn const_stmt(&mut self) -> Parsed<Parsed1> {
        self.bump();
        let name = self.name("a constant's name")?;
        self.expect(Tok::Colon, "`:` and a type")?;
        let ty = self.ty()?;
        self.expect(Tok::Eq, "`=` and a value")?;
        let value = self.expr()?;
        self.expect(Tok::Semi, "`;`")?;
        Ok(Parsed1::Stmt(StmtKind::Const { name, ty, value }, self.height(value)))
    }

    /// Parses the head of a statement, which is an expression that a block follows, such as the condition of
    /// an `if`. In a head, `Name {` does not begin a struct literal.
    pub(super) fn head_expr(&mut self) -> Parsed<ExprId> {
        let outer = std::mem::replace(&mut self.struct_allowed, false);
        let result = self.expr();
        self.struct_allowed = outer;
        result
    }

    /// Turns an expression that ends in a block, such as an `if`, into a statement. If the enclosing block
    /// ends here, the expression becomes the value of that block instead.
    pub(super) fn block_like(&mut self, value: ExprId) -> Parsed1 {
        if self.peek() == Tok::RBrace {
            return Parsed1::Tail(value);
        }
        self.eat(Tok::Semi);
        Parsed1::Stmt(StmtKind::Expr(value), self.height(value))
    }

    fn expr_stmt(&mut self) -> Parsed<Parsed1> {
        // An `if`, `match` or block is a statement without `;`, so an operator after it does not continue the
        // expression.
        if matches!(self.peek(), Tok::If | Tok::Match | Tok::LBrace) {
            let value = self.nested(|p| p.primary())?;
            return Ok(self.block_like(value));
        }
        let value = self.expr()?;
        let height = self.height(value);
        if let Some((kind, height)) = self.assignment(value)? {
            // The last assignment of a block needs no `;`.
            if self.peek() != Tok::RBrace {
                self.expect(Tok::Semi, "`;`")?;
            }
            return Ok(Parsed1::Stmt(kind, height));
        }
        match self.peek() {
            Tok::RBrace => Ok(Parsed1::Tail(value)),
            Tok::Semi => {
                self.bump();
                Ok(Parsed1::Stmt(StmtKind::Expr(value), height))
            }
            Tok::PlusPlus | Tok::MinusMinus => {
                let help = "write `i += 1;` or `i -= 1;`".to_string();
                Err(self.unexpected_with("`;`", Some(help)))
            }
            Tok::Ident if matches!(self.ast.expr(value).kind, ExprKind::Name(_)) => {
                let help = "variables are declared with `let`: `let mut x: f32 = 1.0;`".to_string();
                Err(self.unexpected_with("an operator or `;`", Some(help)))
            }
            _ => Err(self.unexpected("`;`")),
        }
    }
}
