//! Pieces of text that are known to fit into their place, so that what is written reads back the same.

use std::fmt;

/// Tells whether a character would end a line or be invisible in a line.
fn breaks_line(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// A name: not empty, without a colon, a semicolon or a control character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// Returns the name, or none if a character cannot be in a field.
    pub fn new(text: impl Into<String>) -> Option<Name> {
        let text = text.into();
        let fits = !text.is_empty() && !text.contains(|c: char| c == ':' || c == ';' || c.is_control());
        fits.then_some(Name(text))
    }

    /// Returns the text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A rest of a line or a whole line: without an end of line and without control characters but the tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(String);

impl Line {
    /// Returns the line, or none if a character cannot be in a line.
    pub fn new(text: impl Into<String>) -> Option<Line> {
        let text = text.into();
        (!text.contains(breaks_line)).then_some(Line(text))
    }

    /// Returns the text of the line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A format string of `printf` as the text has it, that is, with escape sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format(String);

impl Format {
    /// Returns the format with the given escaped text, or none if a character cannot be in a line.
    pub fn escaped(text: impl Into<String>) -> Option<Format> {
        let text = text.into();
        (!text.contains(breaks_line)).then_some(Format(text))
    }

    /// Returns the format that stands for the given string, or none if the string has a control character for
    /// which there is no escape sequence.
    pub fn new(string: &str) -> Option<Format> {
        let mut text = String::with_capacity(string.len());
        for c in string.chars() {
            match ESCAPES.iter().find(|(_, meaning)| *meaning == c) {
                Some((letter, _)) => text.extend(['\\', *letter]),
                None => text.push(c),
            }
        }
        Format::escaped(text)
    }

    /// Returns the escaped text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the string that the escaped text stands for.
    pub fn string(&self) -> String {
        unescaped(&self.0).map(|(_, c)| c).collect()
    }

    /// Returns the length of the string in bytes; an escape sequence counts as one (seed 003, line 456).
    pub fn length(&self) -> usize {
        unescaped(&self.0).map(|(_, c)| c.len_utf8()).sum()
    }
}

/// Escape sequences of format strings: the letter after the backslash, and the character.
///
/// The document shows `\n`. The letters are those that the driver reads (ROCclr,
/// `device/gpu/gpuprogram.cpp`).
const ESCAPES: [(char, char); 6] =
    [('n', '\n'), ('r', '\r'), ('a', '\x07'), ('b', '\x08'), ('f', '\x0c'), ('v', '\x0b')];

/// Returns the characters that an escaped text stands for, each with the offset after its spelling.
pub(crate) fn unescaped(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (at, c) = chars.next()?;
        if c == '\\'
            && let Some(&(next, letter)) = chars.peek()
            && let Some((_, meaning)) = ESCAPES.iter().find(|(known, _)| *known == letter)
        {
            chars.next();
            return Some((next + 1, *meaning));
        }
        Some((at + c.len_utf8(), c))
    })
}

/// Numbers of a data vector as the text has them: digits, with colons between the numbers.
///
/// The document says that floating-point numbers are hexadecimal, and its examples have decimal integers
/// (seed 003, lines 175 and 194). The compilers of later drivers write all numbers as hexadecimal (AMDIL
/// backend of LLVM, `AMDILModuleInfo.cpp`). As the text does not say which, the digits are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Values(String);

impl Values {
    /// Returns the numbers in the given text, or none if a number is empty, has another character than a
    /// hexadecimal digit, or has more than 16 digits.
    pub fn parse(text: impl Into<String>) -> Option<Values> {
        let text = text.into();
        let fits = |digits: &str| {
            (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        (text.is_empty() || text.split(':').all(fits)).then_some(Values(text))
    }

    /// Returns the given numbers in hexadecimal digits.
    pub fn hexadecimal(numbers: impl IntoIterator<Item = u64>) -> Values {
        let digits: Vec<_> = numbers.into_iter().map(|number| format!("{number:x}")).collect();
        Values(digits.join(":"))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the count of numbers.
    pub fn len(&self) -> usize {
        if self.0.is_empty() { 0 } else { self.0.bytes().filter(|byte| *byte == b':').count() + 1 }
    }

    /// Tells whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the digits of each number.
    pub fn digits(&self) -> impl Iterator<Item = &str> {
        self.0.split(':').filter(|digits| !digits.is_empty())
    }

    /// Returns the numbers, read with the given radix; none for digits that are not of the radix.
    pub fn numbers(&self, radix: Radix) -> impl Iterator<Item = Option<u64>> {
        let radix = match radix {
            Radix::Decimal => 10,
            Radix::Hexadecimal => 16,
        };
        self.digits().map(move |digits| u64::from_str_radix(digits, radix).ok())
    }
}

/// How the digits of a data vector are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Radix {
    /// Decimal: the integers in the examples of the document.
    Decimal,
    /// Hexadecimal: floating-point numbers, and all numbers that drivers of metadata version 3 read.
    Hexadecimal,
}

macro_rules! shown {
    ($($name:ident)*) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        })*
    };
}
shown!(Name Line Format Values);
