//! Tokens of the text form.

use super::ParseError;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A word of letters, digits, `_`, `.` and `$` that does not begin with a digit.
    Word(&'a str),
    /// Begins with a digit, or with `-` and a digit.
    Number(&'a str),
    /// `@name`, without the `@`.
    Name(&'a str),
    /// Between double quotes, escapes not yet resolved.
    Quoted(&'a str),
    /// Any other character.
    Punct(char),
    /// `->`
    Arrow,
    /// The end of the text.
    End,
}

/// Splits the text into tokens. The lexer is always one token ahead: it has already read the current token.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Byte offset after the current token.
    next: usize,
    /// Byte offset of the current token.
    pub start: usize,
    pub token: Token<'a>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Result<Self, ParseError> {
        let mut lexer = Lexer { text, next: 0, start: 0, token: Token::End };
        lexer.advance()?;
        Ok(lexer)
    }

    /// Reads the next token.
    pub fn advance(&mut self) -> Result<(), ParseError> {
        self.skip_blank();
        self.start = self.next;
        let rest = &self.text[self.start..];
        let mut chars = rest.chars();
        let Some(first) = chars.next() else {
            self.token = Token::End;
            return Ok(());
        };
        let second = chars.next();
        let (token, length) = match first {
            '@' => {
                let length = 1 + run(&rest[1..]);
                (Token::Name(&rest[1..length]), length)
            }
            '-' if second == Some('>') => (Token::Arrow, 2),
            '-' | '0'..='9' if first != '-' || second.is_some_and(|c| c.is_ascii_digit()) => {
                let length = number(rest);
                (Token::Number(&rest[..length]), length)
            }
            '"' => {
                let length = quoted(rest).ok_or_else(|| self.error("this text has no closing quote"))?;
                (Token::Quoted(&rest[1..length - 1]), length)
            }
            c if is_word(c) => {
                let length = run(rest);
                (Token::Word(&rest[..length]), length)
            }
            c => (Token::Punct(c), c.len_utf8()),
        };
        self.token = token;
        self.next = self.start + length;
        Ok(())
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.next..];
            let blank = rest.len() - rest.trim_start().len();
            self.next += blank;
            let rest = &rest[blank..];
            if !rest.starts_with(';') {
                break;
            }
            self.next += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Returns an error at the current token.
    pub fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.start, message)
    }

    /// Returns an error at a byte offset.
    pub fn error_at(&self, offset: usize, message: impl Into<String>) -> ParseError {
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        ParseError {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            message: message.into(),
        }
    }
}

/// Returns the length of the word at the beginning of the text.
fn run(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// Returns the length of the number at the beginning of the text. A sign belongs to the number if it is its
/// first character, or if it follows the `e` of a decimal exponent.
fn number(text: &str) -> usize {
    let hex = text.trim_start_matches('-').starts_with("0x");
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let exponent = !hex && matches!(previous, 'e' | 'E') && matches!(c, '-' | '+');
        if at > 0 && !is_word(c) && !exponent {
            return at;
        }
        previous = c;
    }
    text.len()
}

/// Returns the length of a quoted text, including both quotes.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return Some(at + 1),
            '\n' => return None,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}
