//! The parser builds the syntax tree from tokens. It uses recursive descent, and operator precedence for
//! expressions.
//!
//! After a syntax error, the parser abandons the current statement or item and skips to where the next one
//! most likely starts. Nesting is limited by [`MAX_DEPTH`], so that neither the parser nor a later recursion
//! over the tree can overflow the stack.

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

/// Limit on the nesting of expressions and blocks.
const MAX_DEPTH: u16 = 200;

/// Error value of a parser function: a syntax error has been found and reported.
pub struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Working memory that is reused from file to file.
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
    // Estimates of the numbers of nodes, so that the vectors need not grow step by step.
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
    /// Elements of the lists that are being parsed, such as the arguments of a call. Lists are nested, so
    /// each function that parses a list remembers the index at which its own elements begin.
    pending_exprs: &'t mut Vec<ExprId>,
    pending_stmts: &'t mut Vec<(crate::ast::Stmt, u16)>,
    /// Whether `Name {` may begin a struct literal. In the head of an `if`, `while` or `for`, it may not,
    /// because the `{` begins the body.
    struct_allowed: bool,
    /// Whether a `#[cfg(…)]` among the attributes that were parsed last has a false condition.
    left_out: bool,
    /// Column of the first token of the item that is being parsed.
    item_column: usize,
    /// Number of diagnostics before the item that is being parsed.
    item_told: usize,
    /// Whether the file has more `{` than `}`. `None` until the parser needs this and counts.
    more_opened: Option<bool>,
    /// Whether the parser has found the start of the next item inside the body of the current item. The body
    /// then most likely lacks a `}`.
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

    /// Returns the source range of the previous token, the last one that was consumed.
    fn last_span(&self) -> Span {
        self.spans[self.at.saturating_sub(1)]
    }

    fn bump(&mut self) -> Span {
        let span = self.spans[self.at];
        // The last token is `Eof`, and no token follows it.
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

    /// Parses the closing delimiter `tok`. If it is missing, the error also points at the opening delimiter
    /// at `open`.
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

    /// Returns whether the file ends in a comment that is not closed. This has been reported, and a missing
    /// delimiter is most likely inside the comment.
    fn ends_in_comment(&self) -> bool {
        let bad = self.kinds.len().checked_sub(2).filter(|&n| self.kinds[n] == Tok::Bad);
        bad.is_some_and(|n| self.spans[n].text(self.source).starts_with("/*"))
    }

    /// Returns the `{` that most likely has no `}`, judged by the indentation: the last `{` whose matching
    /// `}` is at the start of a line and is indented less than the line of the `{`. That `}` most likely
    /// belongs to an outer brace.
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

    /// Returns the text that precedes a span on its line.
    fn before(&self, span: Span) -> &'a str {
        let text = &self.source[..span.start as usize];
        &text[text.rfind('\n').map_or(0, |at| at + 1)..]
    }

    /// Returns whether an item begins at the current token, in the middle of another item. If the new item is
    /// not indented more than the other one, a `}` is missing before it.
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

    /// Returns the text of the current token for messages.
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

    /// Returns whether the previous token is `tok`.
    fn last_is(&self, tok: Tok) -> bool {
        self.at > 0 && self.kinds[self.at - 1] == tok
    }

    /// Returns whether the current token begins a statement, because the previous token ends a statement or
    /// opens a block.
    fn begins_statement(&self) -> bool {
        self.at == 0
            || matches!(self.kinds[self.at - 1], Tok::Semi | Tok::LBrace | Tok::RBrace | Tok::RBracket)
    }

    /// Returns whether the current token is on another line than the previous token.
    fn on_new_line(&self) -> bool {
        self.source[self.last_span().end as usize..self.span().start as usize].contains('\n')
    }

    #[cold]
    fn unexpected_with(&mut self, what: &str, help: Option<String>) -> Failed {
        // The lexer has reported the bad token.
        if self.peek() != Tok::Bad {
            let diagnostic = Diagnostic::error("E0005", format!("expected {what}, found {}", self.found()));
            // The error about a missing `;` is located at the end of the statement that lacks it. The same
            // holds for any other token that is missing at the end of a line.
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

    /// Returns whether the current token is a `=` in the condition of an `if`, a `while` or an assertion.
    /// Most likely, `==` was meant.
    fn assigns_in_condition(&self) -> bool {
        // `=<` and `=!` are other typing errors.
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

    /// Consumes the current token and returns its text as a name, even if the token is a keyword.
    fn bump_name(&mut self) -> Name {
        let span = self.bump();
        let sym = self.intern(span.text(self.source));
        Name { sym, span }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            // `in` is a keyword only after `for NAME`.
            Tok::Ident | Tok::In => Ok(self.bump_name()),
            tok if tok.is_keyword() => {
                let text = self.span().text(self.source);
                self.sink.push(
                    Diagnostic::error("E0008", format!("`{text}` is a keyword and cannot be {what}"))
                        .label(self.span(), "reserved word")
                        .help("choose another name"),
                );
                // Most likely, this token was meant as the name that is missing here. The parser therefore
                // skips it.
                self.bump();
                Err(Failed)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Records that the parser skipped the tokens from index `before` up to the current one. A name that is
    /// declared there is later not reported as unknown.
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

    /// Runs `f`, which parses something one level of nesting deeper. Fails if this is too deep.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Adds an expression node to the tree. `below` is the largest height of the node's children. Fails if
    /// the tree becomes too high.
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

    /// Moves the pending expressions, from index `mark` on, to the tree's pool of expressions, and returns
    /// their range there.
    fn take_exprs(&mut self, mark: usize) -> List {
        let start = self.ast.exprs_pool.len() as u32;
        self.ast.exprs_pool.extend(self.pending_exprs.drain(mark..));
        List { start, len: self.ast.exprs_pool.len() as u32 - start }
    }

    fn height_of_list(&self, list: List) -> u16 {
        self.ast.list(list).iter().map(|&id| self.height(id)).max().unwrap_or(0)
    }
}
