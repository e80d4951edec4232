//! Tokens to syntax tree: recursive descent, operator precedence for expressions.
//!
//! A syntax error ends the statement or item it is in; the parser then skips to where the next one is
//! likely to start. Nesting is bounded by [`MAX_DEPTH`], so that neither this nor any later recursion
//! over the tree can run out of stack.

mod cfg;
pub(crate) mod constants;
mod expr;
mod generic;
mod item;
mod loops;
mod matching;
mod pattern;
mod stmt;
mod symbols;
mod ty;

use crate::ast::{Ast, Block, BlockId, Expr, ExprId, ExprKind, List, Name, Sym, TypeId, TypeKind, TypeNode};
use crate::cfg::Processor;
use crate::diag::{Diagnostic, Sink};
use crate::lexer::{Span, Tok, Tokens};
use symbols::Symbols;

/// Deepest nesting of expressions and blocks.
const MAX_DEPTH: u16 = 200;

/// A syntax error that was reported.
pub struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Memory that is reused from file to file.
#[derive(Default)]
pub struct Scratch {
    symbols: Symbols,
    pending_exprs: Vec<ExprId>,
    pending_stmts: Vec<(crate::ast::Stmt, u16)>,
}

/// Parses all items of a program into an empty tree.
pub fn parse<'a>(
    source: &'a str,
    tokens: &Tokens,
    ast: Ast<'a>,
    processor: Option<&dyn Processor>,
    s: &mut Scratch,
    sink: &mut Sink,
) -> Ast<'a> {
    s.symbols.clear();
    s.pending_exprs.clear();
    s.pending_stmts.clear();
    let Scratch { symbols, pending_exprs, pending_stmts } = s;
    let mut parser = Parser {
        source,
        processor,
        kinds: &tokens.kinds,
        spans: &tokens.spans,
        at: 0,
        depth: 0,
        symbols,
        ast,
        pending_exprs,
        pending_stmts,
        struct_allowed: true,
        left_out: false,
        item_column: 0,
        item_told: 0,
        more_opened: None,
        item_begun: false,
        sink,
    };
    // Rough sizes spare the first few reallocations.
    parser.ast.exprs.reserve(tokens.kinds.len() / 2);
    let mut start = 0;
    for &end in &tokens.ends {
        (parser.kinds, parser.spans, parser.at) = (&tokens.kinds[start..=end], &tokens.spans[start..=end], 0);
        parser.more_opened = None;
        parser.items();
        start = end + 1;
    }
    parser.ast
}

struct Parser<'a, 't> {
    source: &'a str,
    processor: Option<&'t dyn Processor>,
    kinds: &'t [Tok],
    spans: &'t [Span],
    at: usize,
    depth: u16,
    symbols: &'t mut Symbols,
    ast: Ast<'a>,
    /// Lists under construction; they nest, so each user remembers where its own part starts.
    pending_exprs: &'t mut Vec<ExprId>,
    pending_stmts: &'t mut Vec<(crate::ast::Stmt, u16)>,
    /// Whether `Name {` may be a struct literal here (not in the head of `if`, `while`, `for`).
    struct_allowed: bool,
    /// Whether a condition among the attributes that were read last does not hold.
    left_out: bool,
    /// Where the line of the item begins that is being read.
    item_column: usize,
    /// How many mistakes were told before it.
    item_told: usize,
    /// Whether the file has more `{` than `}`; counted when that matters.
    more_opened: Option<bool>,
    /// Whether the next item was found inside of the body of this one.
    item_begun: bool,
    sink: &'t mut Sink,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Tok {
        self.kinds[self.at]
    }

    fn peek_at(&self, ahead: usize) -> Tok {
        self.kinds[(self.at + ahead).min(self.kinds.len() - 1)]
    }

    fn span(&self) -> Span {
        self.spans[self.at]
    }

    /// Span of the token before this one.
    fn last_span(&self) -> Span {
        self.spans[self.at.saturating_sub(1)]
    }

    fn bump(&mut self) -> Span {
        let span = self.spans[self.at];
        // The last token is `Eof`; there is nothing behind it.
        if self.at + 1 < self.kinds.len() {
            self.at += 1;
        }
        span
    }

    fn eat(&mut self, tok: Tok) -> bool {
        let found = self.peek() == tok;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, tok: Tok, what: &str) -> Parsed<Span> {
        if self.peek() == tok { Ok(self.bump()) } else { Err(self.unexpected(what)) }
    }

    /// A closing delimiter; the message points at the opening one too.
    fn close(&mut self, tok: Tok, what: &str, open: Span) -> Parsed<Span> {
        if self.peek() == tok {
            return Ok(self.bump());
        }
        if self.peek() == Tok::Eof {
            if self.ends_in_comment() {
                return Err(Failed);
            }
            let open = self.unclosed().unwrap_or(open);
            self.sink.push(
                Diagnostic::error("E0006", format!("{what} is missing"))
                    .label(open, "this is never closed")
                    .label(self.span(), "the file ends here"),
            );
            return Err(Failed);
        }
        Err(self.unexpected(what))
    }

    /// Whether the file ends in a comment that is never closed, which was reported: what is missing is in there.
    fn ends_in_comment(&self) -> bool {
        let bad = self.kinds.len().checked_sub(2).filter(|&n| self.kinds[n] == Tok::Bad);
        bad.is_some_and(|n| self.spans[n].text(self.source).starts_with("/*"))
    }

    /// The last `{` whose `}` is at the beginning of a line and further left than the line of the `{`: most likely that `}`
    /// belongs to another one.
    fn unclosed(&self) -> Option<Span> {
        let indent = |span: Span| {
            let text = self.before(span);
            text.len() - text.trim_start().len()
        };
        let (mut open, mut found) = (Vec::new(), None);
        for (&kind, &span) in self.kinds.iter().zip(self.spans) {
            match kind {
                Tok::LBrace => open.push(span),
                Tok::RBrace => {
                    let start = open.pop()?;
                    let before = self.before(span);
                    if before.trim().is_empty() && before.len() < indent(start) {
                        found = Some(start);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// What is in front of something on its line.
    fn before(&self, span: Span) -> &'a str {
        let text = &self.source[..span.start as usize];
        &text[text.rfind('\n').map_or(0, |at| at + 1)..]
    }

    /// Whether an item begins here though the one being read has not ended: a `}` is missing, and this stands no further to
    /// the right than that item does.
    fn item_begins(&mut self) -> bool {
        let mut at = self.at;
        while self.kinds[at] == Tok::Hash {
            let Some(end) = self.kinds[at..].iter().position(|&tok| tok == Tok::RBracket) else {
                return false;
            };
            at = (at + end + 1).min(self.kinds.len() - 1);
        }
        if !matches!(self.kinds[at], Tok::Kernel | Tok::Fn | Tok::Struct) {
            return false;
        }
        let before = self.before(self.span());
        if !before.trim().is_empty() || before.len() > self.item_column {
            return false;
        }
        *self.more_opened.get_or_insert_with(|| {
            let count = |wanted: Tok| self.kinds.iter().filter(|&&tok| tok == wanted).count();
            count(Tok::LBrace) > count(Tok::RBrace)
        })
    }

    /// Text of the current token, for messages.
    #[cold]
    fn found(&self) -> String {
        match self.peek() {
            Tok::Eof => "the end of the file".to_string(),
            tok if tok.is_keyword() => format!("the keyword `{}`", self.span().text(self.source)),
            _ => format!("`{}`", self.span().text(self.source)),
        }
    }

    #[cold]
    fn unexpected(&mut self, what: &str) -> Failed {
        let help = match what {
            "`{`" if self.peek() == Tok::RBrace || self.last_is(Tok::RBrace) => {
                Some("a condition comes first: `if c { … }`, `while c { … }`")
            }
            "`{`" => Some("blocks stand in braces: `{ … }`"),
            "an expression" if self.last_is(Tok::LBrace) => None,
            _ => None,
        };
        self.unexpected_with(what, help.map(str::to_owned))
    }

    /// Whether the token before this one is `tok`.
    fn last_is(&self, tok: Tok) -> bool {
        self.at > 0 && self.kinds[self.at - 1] == tok
    }

    /// Whether what is before this token ends, or something begins.
    fn begins_statement(&self) -> bool {
        self.at == 0
            || matches!(self.kinds[self.at - 1], Tok::Semi | Tok::LBrace | Tok::RBrace | Tok::RBracket)
    }

    /// Whether a line ends in front of this token.
    fn on_new_line(&self) -> bool {
        self.source[self.last_span().end as usize..self.span().start as usize].contains('\n')
    }

    #[cold]
    fn unexpected_with(&mut self, what: &str, help: Option<String>) -> Failed {
        // A bad token was reported by the lexer.
        if self.peek() != Tok::Bad {
            let diagnostic = Diagnostic::error("E0005", format!("expected {what}, found {}", self.found()));
            // A missing `;` is best shown behind what it should end, as is what is missing at the end of a line.
            let end = self.last_span().end;
            let behind = Span { start: end.saturating_sub(1), end };
            let diagnostic = if what == "`;`" {
                let diagnostic = diagnostic.label(behind, "`;` is missing after this");
                if self.on_new_line() {
                    diagnostic.suggest(Span { start: end, end }, ";")
                } else {
                    diagnostic
                }
            } else if self.at > 0 && self.on_new_line() && (what == "`{`" || !self.begins_statement()) {
                diagnostic.label(behind, format!("expected {what} after this"))
            } else {
                diagnostic.label(self.span(), format!("expected {what}"))
            };
            let diagnostic = match self.assigns_in_condition() {
                true => diagnostic.help(crate::habits::ASSIGNS).suggest(self.span(), "=="),
                false => diagnostic.help_opt(help),
            };
            self.sink.push(diagnostic);
        }
        Failed
    }

    /// Whether this token is a `=` in the condition of an `if`, a `while` or an assertion.
    fn assigns_in_condition(&self) -> bool {
        // `=<` and `=!` are other slips.
        let is_other = matches!(self.peek_at(1), Tok::Lt | Tok::Gt | Tok::Bang | Tok::Eq | Tok::EqEq);
        if self.peek() != Tok::Eq || is_other {
            return false;
        }
        let ends = |tok: &Tok| matches!(tok, Tok::Semi | Tok::LBrace | Tok::RBrace | Tok::Let);
        let start = self.kinds[..self.at].iter().rposition(ends).map_or(0, |end| end + 1);
        match self.kinds[start] {
            Tok::If | Tok::While => true,
            Tok::Else => self.kinds[start + 1] == Tok::If,
            _ => self.spans[start].text(self.source) == "assert",
        }
    }

    fn intern(&mut self, text: &'a str) -> Sym {
        self.symbols.intern(text, &mut self.ast.names)
    }

    /// The current token as a name, whatever it is.
    fn bump_name(&mut self) -> Name {
        let span = self.bump();
        let sym = self.intern(span.text(self.source));
        Name { sym, span }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            // `in` means something only behind `for NAME`.
            Tok::Ident | Tok::In => Ok(self.bump_name()),
            tok if tok.is_keyword() => {
                let text = self.span().text(self.source);
                self.sink.push(
                    Diagnostic::error("E0008", format!("`{text}` is a keyword and cannot be {what}"))
                        .label(self.span(), "reserved word")
                        .help("choose another name"),
                );
                // What follows is most likely what would follow a name.
                self.bump();
                Err(Failed)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Notes that tokens from number `before` on were skipped: names that they declare are not told to be unknown.
    fn skipped_since(&mut self, before: usize) {
        let span = self.spans[before].to(self.last_span());
        self.ast.skipped.push(span);
    }

    fn too_deep(&mut self) -> Failed {
        self.sink.push(
            Diagnostic::error("E0007", format!("more than {MAX_DEPTH} levels of nesting"))
                .label(self.span(), "too deep here")
                .help("give parts of it names with `let`"),
        );
        Failed
    }

    /// Runs `f` one level deeper.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// A new expression over children of at most height `below`.
    fn make(&mut self, kind: ExprKind, span: Span, below: u16) -> Parsed<ExprId> {
        if below >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.ast.exprs.push(Expr { kind, span, height: below + 1 });
        Ok(ExprId(self.ast.exprs.len() as u32 - 1))
    }

    fn height(&self, id: ExprId) -> u16 {
        self.ast.expr(id).height
    }

    fn make_type(&mut self, kind: TypeKind, span: Span) -> TypeId {
        self.ast.types.push(TypeNode { kind, span });
        TypeId(self.ast.types.len() as u32 - 1)
    }

    fn make_block(&mut self, block: Block) -> BlockId {
        self.ast.blocks.push(block);
        BlockId(self.ast.blocks.len() as u32 - 1)
    }

    /// Moves the pending expressions from `mark` on into the pool.
    fn take_exprs(&mut self, mark: usize) -> List {
        let start = self.ast.exprs_pool.len() as u32;
        self.ast.exprs_pool.extend(self.pending_exprs.drain(mark..));
        List { start, len: self.ast.exprs_pool.len() as u32 - start }
    }

    fn height_of_list(&self, list: List) -> u16 {
        self.ast.list(list).iter().map(|&id| self.height(id)).max().unwrap_or(0)
    }
}
