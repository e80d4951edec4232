//! Statements and blocks.

use super::{Failed, Parsed, Parser};
use crate::ast::{BinaryOp, Block, BlockId, ExprId, ExprKind, List, Name, Stmt, StmtKind};
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok};
use ir::UnrollHint;

/// Assignment operators; `None` inside is plain `=`.
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

/// What a statement turned out to be.
pub(super) enum Parsed1 {
    Stmt(StmtKind, u16),
    /// The value of the enclosing block.
    Tail(ExprId),
}

impl Parser<'_, '_> {
    pub(super) fn block(&mut self) -> Parsed<BlockId> {
        self.nested(|p| {
            let struct_allowed = std::mem::replace(&mut p.struct_allowed, true);
            let block = p.block_inner();
            p.struct_allowed = struct_allowed;
            block
        })
    }

    fn block_inner(&mut self) -> Parsed<BlockId> {
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mark = self.pending_stmts.len();
        let mut tail = None;
        loop {
            match self.peek() {
                Tok::RBrace => break,
                Tok::Eof => {
                    self.close(Tok::RBrace, "`}`", open)?;
                }
                Tok::Semi => {
                    self.bump();
                    continue;
                }
                _ => {}
            }
            let start = self.span();
            let (before, exprs, stmts, depth) =
                (self.at, self.pending_exprs.len(), self.pending_stmts.len(), self.depth);
            let patterns = self.pending_patterns.len();
            match self.stmt() {
                Ok(Parsed1::Stmt(kind, height)) => {
                    let span = start.to(self.last_span());
                    self.pending_stmts.push((Stmt { kind, span }, height));
                }
                Ok(Parsed1::Tail(value)) => {
                    tail = Some(value);
                    break;
                }
                Err(Failed) => {
                    self.pending_exprs.truncate(exprs);
                    self.pending_stmts.truncate(stmts);
                    self.pending_patterns.truncate(patterns);
                    self.depth = depth;
                    self.struct_allowed = true;
                    self.skip_statement(before);
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

    /// After an error: behind the next `;` or in front of the `}` that ends the block, but no further
    /// than the next statement keyword at the start of a line would be.
    fn skip_statement(&mut self, before: usize) {
        let mut depth = 0usize;
        // What the failed statement opened itself is part of what is skipped.
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
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth == 0 => return,
                Tok::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        return;
                    }
                }
                Tok::Semi if depth == 0 => {
                    self.bump();
                    return;
                }
                Tok::Let | Tok::While | Tok::Loop | Tok::For | Tok::Return if depth == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn stmt(&mut self) -> Parsed<Parsed1> {
        match self.peek() {
            Tok::Let => self.let_stmt(),
            Tok::Shared => self.shared_stmt(),
            Tok::Const => self.const_stmt(),
            Tok::While | Tok::Loop | Tok::For | Tok::Hash | Tok::Label => self.loop_stmt(),
            Tok::Break | Tok::Continue | Tok::Return => {
                let (kind, height) = self.leave()?;
                self.expect(Tok::Semi, "`;`")?;
                Ok(Parsed1::Stmt(kind, height))
            }
            _ => self.expr_stmt(),
        }
    }

    /// `break`, `continue` or `return` with what belongs to it, and its height; what ends it is not taken.
    pub(super) fn leave(&mut self) -> Parsed<(StmtKind, u16)> {
        let word = self.peek();
        self.bump();
        if word == Tok::Return {
            let ends = matches!(self.peek(), Tok::Semi | Tok::Comma | Tok::RBrace);
            let value = if ends { None } else { Some(self.expr()?) };
            return Ok((StmtKind::Return(value), value.map_or(0, |id| self.height(id))));
        }
        let label = if self.peek() == Tok::Label { Some(self.bump_name()) } else { None };
        Ok((if word == Tok::Break { StmtKind::Break(label) } else { StmtKind::Continue(label) }, 0))
    }

    /// The rest of an assignment to `place`, if one follows, and its height; what ends it is not taken.
    pub(super) fn assignment(&mut self, place: ExprId) -> Parsed<Option<(StmtKind, u16)>> {
        let Some(op) = assign_op(self.peek()) else { return Ok(None) };
        self.bump();
        let value = self.expr()?;
        let height = self.height(place).max(self.height(value));
        Ok(Some((StmtKind::Assign { op, place, value }, height)))
    }

    fn let_stmt(&mut self) -> Parsed<Parsed1> {
        self.bump();
        let mutable = self.eat(Tok::Mut);
        let name = self.name("a variable's name")?;
        let ty = if self.eat(Tok::Colon) { Some(self.ty()?) } else { None };
        let init = if self.eat(Tok::Eq) { Some(self.expr()?) } else { None };
        self.expect(Tok::Semi, "`;`")?;
        let height = init.map_or(0, |id| self.height(id));
        Ok(Parsed1::Stmt(StmtKind::Let { mutable, name, ty, init }, height))
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

    fn loop_stmt(&mut self) -> Parsed<Parsed1> {
        let unroll = self.loop_attrs()?;
        let label = if self.peek() == Tok::Label {
            let name = self.bump_name();
            self.expect(Tok::Colon, "`:` behind the label")?;
            Some(name)
        } else {
            None
        };
        match self.peek() {
            Tok::While => {
                self.bump();
                let cond = self.head_expr()?;
                let body = self.block()?;
                let height = self.height(cond).max(self.ast.block(body).height);
                Ok(Parsed1::Stmt(StmtKind::While { label, cond, body, unroll }, height))
            }
            Tok::Loop => {
                self.bump();
                let body = self.block()?;
                Ok(Parsed1::Stmt(StmtKind::Loop { label, body, unroll }, self.ast.block(body).height))
            }
            Tok::For => self.for_stmt(label, unroll),
            _ => Err(self.unexpected("a loop (`for`, `while` or `loop`)")),
        }
    }

    /// `#[unroll]`, `#[unroll(n)]`, `#[no_unroll]`.
    fn loop_attrs(&mut self) -> Parsed<UnrollHint> {
        let mut hint = UnrollHint::None;
        let attrs = self.attrs()?;
        for attr in &self.ast.attrs[attrs.range()] {
            let name = self.ast.name(attr.name.sym);
            let args = self.ast.list(attr.args);
            let count = args.first().map(|&id| self.ast.expr(id).kind);
            hint = match (name, args.len(), count) {
                ("unroll", 0, _) => UnrollHint::Full,
                ("unroll", 1, Some(ExprKind::Int { value: value @ 1..=1024, .. })) => {
                    UnrollHint::By(value as u16)
                }
                ("no_unroll", 0, _) => UnrollHint::Never,
                ("unroll" | "no_unroll", ..) => {
                    self.sink.push(
                        Diagnostic::error("E0080", format!("wrong arguments of `{name}`"))
                            .label(attr.span, "expected a literal from 1 to 1024")
                            .help("write `#[unroll]`, `#[unroll(4)]` or `#[no_unroll]`"),
                    );
                    hint
                }
                _ => {
                    self.sink.push(
                        Diagnostic::error("E0027", format!("unknown loop attribute `{name}`"))
                            .label(attr.name.span, "not a loop attribute")
                            .help("loops take `#[unroll]`, `#[unroll(4)]` and `#[no_unroll]`"),
                    );
                    hint
                }
            };
        }
        Ok(hint)
    }

    fn for_stmt(&mut self, label: Option<Name>, unroll: UnrollHint) -> Parsed<Parsed1> {
        self.bump();
        if self.peek() == Tok::LParen {
            return Err(self.c_style_for());
        }
        let var = self.name("the loop variable")?;
        if self.peek() != Tok::In {
            let help = "loops look like `for i in 0..n { … }`".to_string();
            return Err(self.unexpected_with("`in`", Some(help)));
        }
        self.bump();
        let outer = std::mem::replace(&mut self.struct_allowed, false);
        let head = self.range();
        self.struct_allowed = outer;
        let (from, to, inclusive, step) = head?;
        let body = self.block()?;
        let mut height = self.height(from).max(self.height(to)).max(self.ast.block(body).height);
        if let Some(step) = step {
            height = height.max(self.height(step));
        }
        Ok(Parsed1::Stmt(StmtKind::For { label, var, from, to, inclusive, step, body, unroll }, height))
    }

    /// `for (…; …; …)`: one message, and the head is skipped.
    fn c_style_for(&mut self) -> Failed {
        let help = "loops look like `for i in 0..n { … }`, without parentheses".to_string();
        let failed = self.unexpected_with("the loop variable", Some(help));
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::LParen => depth += 1,
                Tok::RParen => depth -= 1,
                Tok::LBrace | Tok::RBrace | Tok::Eof => return failed,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return failed;
            }
        }
    }

    /// `a..b`, `a..=b`, `(a..b).step(s)`.
    fn range(&mut self) -> Parsed<(ExprId, ExprId, bool, Option<ExprId>)> {
        let from = if self.peek() == Tok::LParen {
            let open = self.bump();
            let first = self.expr()?;
            if matches!(self.peek(), Tok::DotDot | Tok::DotDotEq) {
                return self.stepped_range(open, first);
            }
            self.close(Tok::RParen, "`)`", open)?;
            let first = self.postfix(first)?;
            self.binary_from(first, 0)?
        } else {
            self.expr()?
        };
        let inclusive = match self.peek() {
            Tok::DotDot => false,
            Tok::DotDotEq => true,
            _ => {
                let help = "a loop runs over a range: `0..n`".to_string();
                return Err(self.unexpected_with("`..`", Some(help)));
            }
        };
        self.bump();
        let to = self.expr()?;
        Ok((from, to, inclusive, None))
    }

    /// The rest of `(a..b).step(s)`, from the dots on.
    fn stepped_range(&mut self, open: Span, from: ExprId) -> Parsed<(ExprId, ExprId, bool, Option<ExprId>)> {
        let inclusive = self.peek() == Tok::DotDotEq;
        self.bump();
        let to = self.expr()?;
        self.close(Tok::RParen, "`)`", open)?;
        if !self.eat(Tok::Dot) {
            return Ok((from, to, inclusive, None));
        }
        let method = self.name("`step`")?;
        if self.ast.name(method.sym) != "step" {
            let name = self.ast.name(method.sym);
            self.sink.push(
                Diagnostic::error("E0022", format!("ranges have no method `{name}`"))
                    .label(method.span, "unknown method")
                    .help("`(a..b).step(s)` counts in steps of `s`"),
            );
            return Err(Failed);
        }
        let open = self.expect(Tok::LParen, "`(`")?;
        let step = self.expr()?;
        self.close(Tok::RParen, "`)`", open)?;
        Ok((from, to, inclusive, Some(step)))
    }

    /// An expression in front of a block: `Name {` is no struct literal there.
    pub(super) fn head_expr(&mut self) -> Parsed<ExprId> {
        let outer = std::mem::replace(&mut self.struct_allowed, false);
        let result = self.expr();
        self.struct_allowed = outer;
        result
    }

    fn expr_stmt(&mut self) -> Parsed<Parsed1> {
        // `if`, `match` and blocks end a statement without `;`, and do not start a larger expression.
        let block_like = matches!(self.peek(), Tok::If | Tok::Match | Tok::LBrace);
        let value = if block_like { self.nested(|p| p.primary())? } else { self.expr()? };
        let height = self.height(value);
        if block_like {
            return Ok(match self.peek() {
                Tok::RBrace => Parsed1::Tail(value),
                _ => {
                    self.eat(Tok::Semi);
                    Parsed1::Stmt(StmtKind::Expr(value), height)
                }
            });
        }
        if let Some((kind, height)) = self.assignment(value)? {
            self.expect(Tok::Semi, "`;`")?;
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
