//! The lexer splits the source text into tokens.
//!
//! Every token keeps its byte range; comments and white space are dropped. An unknown character becomes a
//! token of a separate kind, so that the parser sees one stream and reports errors in source order.

use crate::diag::{Diagnostic, Sink};
use logos::Logos;

/// Byte range in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Returns the source range from the start of `self` to the end of `other`. `other` must not begin before
    /// `self`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    /// Returns the text that the span covers.
    pub fn text(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }
}

/// Kind of a token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum Tok {
    #[token("kernel")]
    Kernel,
    #[token("fn")]
    Fn,
    #[token("extern")]
    Extern,
    #[token("struct")]
    Struct,
    #[token("const")]
    Const,
    #[token("param")]
    Param,
    #[token("global")]
    Global,
    #[token("shared")]
    Shared,
    #[token("constant")]
    Constant,
    #[token("private")]
    Private,
    #[token("static")]
    Static,
    #[token("use")]
    Use,
    #[token("let")]
    Let,
    #[token("mut")]
    Mut,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("match")]
    Match,
    #[token("while")]
    While,
    #[token("loop")]
    Loop,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("return")]
    Return,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("as")]
    As,
    #[token("volatile")]
    Volatile,
    #[token("restrict")]
    Restrict,
    #[token("dyn")]
    Dyn,

    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Ident,
    #[regex(r"'[A-Za-z_][A-Za-z0-9_]*")]
    Label,
    #[regex(r"[0-9][0-9a-zA-Z_]*")]
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9a-zA-Z_]*")]
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[eE][+-][0-9][0-9a-zA-Z_]*")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Str,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token("::")]
    ColonColon,
    #[token("->")]
    Arrow,
    #[token("=>")]
    FatArrow,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("..=")]
    DotDotEq,
    #[token("#")]
    Hash,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    Amp,
    #[token("|")]
    Pipe,
    #[token("^")]
    Caret,
    #[token("!")]
    Bang,
    #[token("~")]
    Tilde,
    #[token("?")]
    Question,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("==")]
    EqEq,
    #[token("!=")]
    Ne,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("=")]
    Eq,
    #[token("+=")]
    PlusEq,
    #[token("-=")]
    MinusEq,
    #[token("*=")]
    StarEq,
    #[token("/=")]
    SlashEq,
    #[token("%=")]
    PercentEq,
    #[token("&=")]
    AmpEq,
    #[token("|=")]
    PipeEq,
    #[token("^=")]
    CaretEq,
    #[token("<<=")]
    ShlEq,
    #[token(">>=")]
    ShrEq,
    #[token("++")]
    PlusPlus,
    #[token("--")]
    MinusMinus,
    /// A comment `/* ... */`, which [`lex`] drops. A comment that is not closed extends to the end of the
    /// source.
    #[token("/*", block_comment)]
    BlockComment,

    /// Text that forms no token. The lexer has reported it.
    Bad,
    /// End of the source.
    Eof,
}

/// Skips to the matching `*/`. Block comments may be nested.
fn block_comment(lexer: &mut logos::Lexer<'_, Tok>) -> bool {
    let rest = lexer.remainder().as_bytes();
    let (mut at, mut depth) = (0, 1u32);
    while at < rest.len() {
        match (rest[at], rest.get(at + 1)) {
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    lexer.bump(at);
                    return true;
                }
            }
            (b'/', Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    lexer.bump(rest.len());
    false
}

impl Tok {
    /// Returns whether the token is a keyword, which cannot be used as a name.
    pub fn is_keyword(self) -> bool {
        (self as u8) < (Tok::Ident as u8)
    }
}

/// The tokens of a program, which may consist of several files. The tokens of each file end with `Eof`.
#[derive(Default)]
pub struct Tokens {
    pub kinds: Vec<Tok>,
    pub spans: Vec<Span>,
    /// Index of the `Eof` token of each file.
    pub ends: Vec<usize>,
}

impl Tokens {
    /// Returns the index of the token at a byte of the source. If the byte is between two tokens, this is the
    /// token before it.
    pub fn at(&self, byte: usize) -> usize {
        self.spans.partition_point(|span| span.start as usize <= byte).saturating_sub(1)
    }

    /// Returns the text of a token; empty for an index past the last token.
    pub fn text<'s>(&self, token: usize, source: &'s str) -> &'s str {
        self.spans.get(token).map_or("", |span| span.text(source))
    }
}

/// Splits `source` into tokens and reports the characters that do not form tokens.
pub fn lex(source: &str, tokens: &mut Tokens, sink: &mut Sink) {
    tokens.kinds.clear();
    tokens.spans.clear();
    tokens.ends.clear();
    lex_file(source, 0, tokens, sink);
}

/// Returns the text of a file without the byte order mark that editors may put in front of it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Appends the tokens of the last file of a program to `tokens`. The file's contents begin at byte `base` of
/// `source`.
pub fn lex_file(source: &str, base: usize, tokens: &mut Tokens, sink: &mut Sink) {
    let base = base + source[base..].len() - without_mark(&source[base..]).len();
    let text = &source[base..];
    // Reserves memory for one token in three bytes. Programs have about one token in four bytes, so the
    // vectors rarely have to grow.
    tokens.kinds.reserve(text.len() / 3 + 8);
    tokens.spans.reserve(text.len() / 3 + 8);
    let mut lexer = Tok::lexer(text);
    let mut bad_until = None;
    while let Some(result) = lexer.next() {
        let range = lexer.span();
        let span = Span { start: (base + range.start) as u32, end: (base + range.end) as u32 };
        match result {
            Ok(Tok::BlockComment) => {}
            Ok(kind) => {
                tokens.kinds.push(kind);
                tokens.spans.push(span);
            }
            Err(()) => {
                // Several unknown characters on one line are reported only once, because they most likely
                // belong together. They may be a quotation, for example, or a comment whose start is missing.
                if bad_until != Some(span.start) {
                    let between = bad_until.and_then(|end| source.get(end as usize..span.start as usize));
                    let is_known = span.text(source).starts_with(['"', '/']);
                    if is_known || between.is_none_or(|text| text.contains('\n')) {
                        report_bad(span, source, sink);
                    }
                    tokens.kinds.push(Tok::Bad);
                    tokens.spans.push(span);
                }
                bad_until = Some(span.end);
            }
        }
    }
    tokens.ends.push(tokens.kinds.len());
    tokens.kinds.push(Tok::Eof);
    let end = source.len() as u32;
    tokens.spans.push(Span { start: end, end });
}

#[cold]
fn report_bad(span: Span, source: &str, sink: &mut Sink) {
    let text = span.text(source);
    let diagnostic = if text.starts_with("/*") {
        let open = Span { start: span.start, end: span.start + 2 };
        Diagnostic::error("E0004", "comment is never closed").label(open, "opened here").help("add `*/`")
    } else if text.starts_with('"') {
        Diagnostic::error("E0004", "string is never closed")
            .label(span, "starts here")
            .help("add `\"` on the same line")
    } else {
        let diagnostic = Diagnostic::error("E0001", format!("unknown character `{}`", text.escape_debug()))
            .label(span, "not part of the language");
        let ascii = "outside of comments only ASCII has a meaning; names are of letters, digits and `_`";
        diagnostic.help_opt((!text.is_ascii()).then(|| ascii.to_owned()))
    };
    sink.push(diagnostic);
}
