//! A position in a line of text, with functions that read what follows.
//!
//! The lexer of `ir::parse` cannot serve here. In machine IR, it depends on the position how the text is
//! split into words (`s[0:1]`, `offset:8`, `-0.5`), and line breaks are significant. Also, neither of the
//! crates `ir` and `mir` depends on the other.

use std::fmt;

/// Position and reason of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A line that is being read. Blanks before tokens are skipped; a `;` ends the line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: u32,
    text: &'a str,
    at: usize,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of a line; lines are counted from 1.
    pub fn new(line: u32, text: &'a str) -> Cursor<'a> {
        Cursor { line, text, at: 0 }
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    /// Returns an error at the next token.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        let mut here = *self;
        here.rest();
        let column = here.text[..here.at].chars().count() as u32 + 1;
        Err(ParseError { line: self.line, column, message: message.into() })
    }

    /// Returns whether nothing except a comment is left.
    pub fn at_end(&mut self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with(';')
    }

    /// Returns an error if anything is left.
    pub fn end(&mut self) -> Result<()> {
        if self.at_end() { Ok(()) } else { self.error("this was not expected here") }
    }

    /// Returns the next character.
    pub fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips a text if it comes next. Returns whether it did.
    pub fn accept(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Skips a text; returns an error if it does not come next.
    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) { Ok(()) } else { self.error(format!("expected `{text}`")) }
    }

    /// Returns the next word without moving past it, or an empty text if the line continues with something
    /// else.
    pub fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    }

    /// Skips a word if it comes next. Returns whether it did.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Reads any word; `what` describes the expected word for error messages.
    pub fn word(&mut self, what: &str) -> Result<&'a str> {
        let word = self.peek_word();
        if word.is_empty() {
            return self.error(format!("expected {what}"));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Reads an integer that fits in `T`, decimal or hexadecimal.
    pub fn number<T: TryFrom<i64>>(&mut self) -> Result<T> {
        let before = *self;
        let negative = self.accept("-");
        let digits = self.peek_word();
        let value = match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        };
        let value = value.map(|value: i64| if negative { -value } else { value });
        match value.and_then(|value| T::try_from(value).ok()) {
            Some(value) => {
                self.at += digits.len();
                Ok(value)
            }
            None => before.error("expected a number that fits here"),
        }
    }

    /// Reads a text between double quotes, with the escapes of Rust's `{:?}`.
    pub fn quoted(&mut self) -> Result<String> {
        let before = *self;
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(out);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, c @ ('\\' | '"' | '\''))) => out.push(c),
                    _ => return before.error("unknown escape in this text"),
                },
                c => out.push(c),
            }
        }
        before.error("this text has no closing quote")
    }

    /// Reads a list `(A, B)`, whose elements `item` reads. Returns an empty list if there is no `(`.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if !self.accept("(") {
            return Ok(items);
        }
        while !self.accept(")") {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}
