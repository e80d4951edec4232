//! Parses loops and labelled blocks.

use super::stmt::Parsed1;
use super::{Failed, Parsed, Parser};
use crate::ast::{ExprId, ExprKind, List, LoopHead, LoopId, Name, StmtKind};
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok};
use ir::UnrollHint;

impl Parser<'_, '_> {
    /// Parses a loop or labelled block as a statement. `attrs` are the attributes that precede it.
    pub(super) fn loop_stmt(&mut self, attrs: List) -> Parsed<Parsed1> {
        let start = self.span();
        let attributed = attrs.len > 0;
        let unroll = self.unrolling(attrs);
        let label = self.label()?;
        match self.peek() {
            Tok::While => {
                let head = self.loop_head(label, unroll);
                self.bump();
                let cond = self.head_expr()?;
                let body = self.block()?;
                let height = self.height(cond).max(self.ast.block(body).height);
                Ok(Parsed1::Stmt(StmtKind::While { head, cond, body }, height))
            }
            Tok::For => {
                let head = self.loop_head(label, unroll);
                self.for_stmt(head)
            }
            Tok::LBrace if attributed => Err(self.unexpected("a loop (`for`, `while` or `loop`)")),
            Tok::Loop | Tok::LBrace => {
                let value = self.nested(|p| p.labelled(start, label, unroll))?;
                Ok(self.block_like(value))
            }
            _ => Err(self.unexpected("a loop (`for`, `while` or `loop`)")),
        }
    }

    /// Parses a `loop` or labelled block as a value.
    pub(super) fn loop_expr(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        let label = self.label()?;
        if let Tok::While | Tok::For = self.peek() {
            let help = "only `loop` and blocks have a value, which `break` gives them".to_string();
            return Err(self.unexpected_with("`loop` or `{`", Some(help)));
        }
        self.labelled(start, label, UnrollHint::None)
    }

    /// Parses `loop { … }` or `{ … }` after the label.
    fn labelled(&mut self, start: Span, label: Option<Name>, unroll: UnrollHint) -> Parsed<ExprId> {
        let head = self.loop_head(label, unroll);
        let is_loop = self.eat(Tok::Loop);
        let body = self.block()?;
        let kind = if is_loop { ExprKind::Loop(head, body) } else { ExprKind::Labelled(head, body) };
        let below = self.ast.block(body).height;
        self.make(kind, start.to(self.last_span()), below)
    }

    fn label(&mut self) -> Parsed<Option<Name>> {
        if self.peek() != Tok::Label {
            return Ok(None);
        }
        let name = self.bump_name();
        self.expect(Tok::Colon, "`:` behind the label")?;
        Ok(Some(name))
    }

    fn loop_head(&mut self, label: Option<Name>, unroll: UnrollHint) -> LoopId {
        self.ast.loops.push(LoopHead { label, unroll });
        LoopId(self.ast.loops.len() as u32 - 1)
    }

    /// Returns the unrolling that the attribute `#[unroll]`, `#[unroll(n)]` or `#[no_unroll]` of a loop asks
    /// for. Reports any other attribute.
    fn unrolling(&mut self, attrs: List) -> UnrollHint {
        let mut hint = UnrollHint::None;
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
        hint
    }

    fn for_stmt(&mut self, head: LoopId) -> Parsed<Parsed1> {
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
        let range = self.range();
        self.struct_allowed = outer;
        let (from, to, inclusive, step) = range?;
        let body = self.block()?;
        let mut height = self.height(from).max(self.height(to)).max(self.ast.block(body).height);
        if let Some(step) = step {
            height = height.max(self.height(step));
        }
        Ok(Parsed1::Stmt(StmtKind::For { head, var, from, to, inclusive, step, body }, height))
    }

    /// Reports a loop head in the style of C, `for (…; …; …)`, and skips it, so that it causes no other
    /// errors.
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

    /// Parses `a..b`, `a..=b` or `(a..b).step(s)`.
    fn range(&mut self) -> Parsed<(ExprId, ExprId, bool, Option<ExprId>)> {
        let from = if self.peek() == Tok::LParen && self.peek_at(1) != Tok::RParen {
            let open = self.bump();
            let first = self.with_structs(|p| p.expr())?;
            if matches!(self.peek(), Tok::DotDot | Tok::DotDotEq) {
                return self.stepped_range(open, first);
            }
            let first = self.parenthesized(open, first)?;
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

    /// Parses the rest of `(a..b).step(s)` from the dots on.
    fn stepped_range(&mut self, open: Span, from: ExprId) -> Parsed<(ExprId, ExprId, bool, Option<ExprId>)> {
        let inclusive = self.peek() == Tok::DotDotEq;
        self.bump();
        let to = self.with_structs(|p| p.expr())?;
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
}
