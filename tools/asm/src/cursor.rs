//! Reads the source text byte by byte.
//!
//! A cursor never allocates: it returns slices of the text. Comments (`;` and `//` to the end of the line,
//! `/* */`) are treated as blanks.

use crate::error::{Error, Result, error};

/// Position in a text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'s> {
    pub text: &'s str,
    pub pos: usize,
    /// Position at which an unclosed comment begins.
    pub unclosed: Option<usize>,
}

/// Returns whether a name may begin with the byte.
#[inline]
pub(crate) const fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'$') || byte >= 0x80
}

/// Returns whether a name may contain the byte after its first byte. A digit, for example, may not be first.
#[inline]
pub(crate) const fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'?') || byte >= 0x80
}

/// This program is compiled for small size, and the Rust compiler then inlines little. Therefore functions
/// that are called for every byte have an attribute for inlining.
impl<'s> Cursor<'s> {
    pub fn new(text: &'s str) -> Cursor<'s> {
        Cursor { text, pos: 0, unclosed: None }
    }

    /// Returns the current byte; 0 at the end of the text.
    #[inline(always)]
    pub fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    /// Returns the byte `n` bytes further.
    #[inline(always)]
    pub fn peek_at(&self, n: usize) -> u8 {
        self.text.as_bytes().get(self.pos + n).copied().unwrap_or(0)
    }

    #[inline(always)]
    pub fn is_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// Skips blanks and `/* */` comments, but not ends of lines.
    #[inline]
    pub fn blank(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'/' if self.peek_at(1) == b'*' => self.block_comment(),
                _ => return,
            }
        }
    }

    #[cold]
    fn block_comment(&mut self) {
        let rest = &self.text.as_bytes()[self.pos + 2..];
        let end = rest.windows(2).position(|pair| pair == b"*/");
        if end.is_none() {
            self.unclosed = Some(self.pos);
        }
        self.pos = end.map_or(self.text.len(), |end| self.pos + 2 + end + 2);
    }

    /// Returns whether the statement ends at the cursor. The caller must have skipped blanks before.
    #[inline(always)]
    pub fn at_end(&self) -> bool {
        match self.peek() {
            b'\n' | b';' => true,
            b'/' => self.peek_at(1) == b'/',
            0 => self.is_end(),
            _ => false,
        }
    }

    /// Skips to the start of the next line.
    #[inline]
    pub fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.pos.min(self.text.len())..];
        self.pos = match rest.iter().position(|&byte| byte == b'\n') {
            Some(at) => self.pos + at + 1,
            None => self.text.len(),
        };
    }

    /// Checks that the statement ends here, after blanks.
    pub fn expect_end(&mut self) -> Result<()> {
        self.blank();
        if self.at_end() {
            return Ok(());
        }
        Err(error(self.span_here(), "unexpected text after the statement")
            .label("expected the end of the line"))
    }

    /// Returns the rest of the statement, without comment and trailing blanks.
    pub fn rest(&mut self) -> &'s str {
        self.blank();
        let start = self.pos;
        let mut quoted = false;
        while !self.is_end() {
            match self.peek() {
                b'"' => quoted = !quoted,
                b'\\' if quoted => self.pos += 1,
                b'\n' => break,
                _ if !quoted && self.at_end() => break,
                _ => {}
            }
            self.pos += 1;
        }
        self.pos = self.pos.min(self.text.len());
        while !self.text.is_char_boundary(self.pos) {
            self.pos -= 1;
        }
        self.text[start.min(self.pos)..self.pos].trim_end()
    }

    /// Skips blanks, and then the byte `byte` if it comes next. Returns whether it came next.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        self.blank();
        let here = self.peek() == byte && !self.is_end();
        self.pos += usize::from(here);
        here
    }

    /// Skips a comma and the word `word`, if both come next. Returns whether they did.
    pub fn eat_option(&mut self, word: &str) -> bool {
        let start = self.pos;
        let here = self.eat(b',') && {
            self.blank();
            self.name() == Some(word)
        };
        if !here {
            self.pos = start;
        }
        here
    }

    /// Skips the byte, which must be here.
    pub fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) {
            return Ok(());
        }
        let what = char::from(byte);
        Err(error(self.span_here(), format!("expected `{what}`")).label(format!("expected `{what}` here")))
    }

    /// Reads a name, if one begins here.
    #[inline]
    pub fn name(&mut self) -> Option<&'s str> {
        if !begins_name(self.peek()) {
            return None;
        }
        let bytes = self.text.as_bytes();
        let start = self.pos;
        let mut end = start + 1;
        while end < bytes.len() && continues_name(bytes[end]) {
            end += 1;
        }
        self.pos = end;
        // The name ends between two characters: all bytes from 0x80 on belong to names, so no character of
        // several bytes is cut.
        self.text.get(start..end)
    }

    /// Reads a name or a quoted name, for directives.
    pub fn expect_name(&mut self, what: &str) -> Result<Name<'s>> {
        self.blank();
        if self.peek() == b'"' {
            return self.string().map(|text| match String::from_utf8(text) {
                Ok(text) => Name::Quoted(text),
                Err(bytes) => Name::Quoted(String::from_utf8_lossy(bytes.as_bytes()).into_owned()),
            });
        }
        let start = self.pos;
        match self.name() {
            Some(name) => Ok(Name::Plain(name)),
            None => {
                Err(error(self.span_from(start), format!("expected {what}")).label("expected a name here"))
            }
        }
    }

    /// Reads a string in quotes and replaces its escapes.
    pub fn string(&mut self) -> Result<Vec<u8>> {
        self.blank();
        let start = self.pos;
        if self.peek() != b'"' {
            return Err(error(self.span_here(), "expected a string").label("expected `\"`"));
        }
        self.pos += 1;
        let mut out = Vec::new();
        loop {
            let byte = self.peek();
            match byte {
                b'"' => {
                    self.pos += 1;
                    return Ok(out);
                }
                b'\\' => {
                    self.pos += 1;
                    out.push(self.escape()?);
                }
                b'\n' => break,
                0 if self.is_end() => break,
                _ => {
                    self.pos += 1;
                    out.push(byte);
                }
            }
        }
        Err(error(start..self.pos, "the string has no end").label("begins here"))
    }

    /// Reads the rest of an escape after the backslash.
    pub fn escape(&mut self) -> Result<u8> {
        let start = self.pos.saturating_sub(1);
        let byte = self.peek();
        self.pos += 1;
        Ok(match byte {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'"' | b'\\' | b'\'' => byte,
            b'x' | b'X' => {
                let mut value = 0u32;
                while let Some(digit) = char::from(self.peek()).to_digit(16) {
                    value = value << 4 & 0xff | digit;
                    self.pos += 1;
                }
                value as u8
            }
            b'0'..=b'7' => {
                let mut value = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit) = char::from(self.peek()).to_digit(8) else { break };
                    value = value * 8 + digit;
                    self.pos += 1;
                }
                if value > 255 {
                    return Err(error(start..self.pos, "an octal escape is at most `\\377`"));
                }
                value as u8
            }
            _ => {
                self.pos = self.pos.min(self.text.len());
                return Err(error(start..self.pos, "unknown escape in a string"));
            }
        })
    }

    /// Reads letters and digits.
    pub fn rest_of_word(&mut self) -> &'s str {
        let start = self.pos;
        while self.peek().is_ascii_alphanumeric() {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }

    /// Returns the span from `start` to the cursor. If the span would be empty, it gets a length of one byte.
    pub fn span_from(&self, start: usize) -> std::ops::Range<usize> {
        start..self.pos.max(start + 1)
    }

    /// Returns the span of the current word, for error messages.
    pub fn span_here(&self) -> std::ops::Range<usize> {
        let mut copy = *self;
        copy.blank();
        let start = copy.pos;
        if copy.name().is_none() && !copy.at_end() {
            while copy.peek().is_ascii_alphanumeric() {
                copy.pos += 1;
            }
        }
        start..copy.pos.max(start + 1)
    }

    /// Returns an error about the current word.
    pub fn unexpected(&self, expected: &str) -> Error {
        let message = match self.at_end() {
            true => format!("expected {expected}, found the end of the line"),
            false => format!("expected {expected}"),
        };
        error(self.span_here(), message).label(format!("expected {expected}"))
    }
}

/// Name as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Name<'s> {
    Plain(&'s str),
    Quoted(String),
}

impl std::ops::Deref for Name<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Name::Plain(text) => text,
            Name::Quoted(text) => text,
        }
    }
}
