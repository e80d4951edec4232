//! The fields of one record, read from left to right.

use crate::rules::Rule;
use crate::text::{Line, Name};
use crate::words::{Access, DataType, Dimension, Flag, MemorySpace, PointerMemory};

/// Why a field cannot be read.
pub(crate) struct Failure {
    /// Offset in the line.
    pub at: usize,
    /// The broken rule.
    pub rule: Rule,
    /// The error, as a sentence for the user.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

/// A word that can be in a field: how it is found, and all spellings.
pub(crate) trait Word: Sized + Copy + 'static {
    /// All words of the field.
    const WORDS: &'static [Self];
    /// What the field has, for messages.
    const WHAT: &'static str;
    /// Returns the spelling.
    fn spelling(self) -> &'static str;
}

macro_rules! word {
    ($($name:ident $what:literal)*) => {
        $(impl Word for $name {
            const WORDS: &'static [Self] = $name::ALL;
            const WHAT: &'static str = $what;
            fn spelling(self) -> &'static str {
                self.text()
            }
        })*
    };
}
word! {
    DataType "a type of data"
    MemorySpace "an address space"
    Flag "an address space or a fact after `;memory:`"
    PointerMemory "a kind of memory"
    Access "an access"
    Dimension "dimensions of an image"
}

/// The fields of a record that are not read yet.
pub(crate) struct Fields<'a> {
    /// The fields with their colons, without the name of the record; none once all are read.
    rest: Option<&'a str>,
    /// Offset of `rest` in the line.
    at: usize,
}

impl<'a> Fields<'a> {
    /// Creates the fields in the text after the colon behind a record's name, none if there is no colon.
    pub fn new(rest: Option<&'a str>, at: usize) -> Fields<'a> {
        Fields { rest, at }
    }

    /// Returns the offset of the next field in the line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the count of fields that are left.
    pub fn left(&self) -> usize {
        self.rest.map_or(0, |rest| rest.bytes().filter(|byte| *byte == b':').count() + 1)
    }

    /// Returns the next field and does not go on.
    pub fn peek(&self) -> Option<&'a str> {
        self.rest.and_then(|rest| rest.split(':').next())
    }

    /// Goes to the field after the next.
    pub fn skip(&mut self) {
        let length = self.peek().map_or(0, str::len);
        self.rest = self.rest.and_then(|rest| rest.get(length + 1..));
        self.at += length + 1;
    }

    /// Returns a failure at an offset of the line.
    pub fn failure(&self, at: usize, rule: Rule, message: impl Into<String>) -> Failure {
        Failure { at, rule, message: message.into(), hint: None }
    }

    /// Returns the next field with its offset, and goes on.
    fn next(&mut self) -> Result<(&'a str, usize), Failure> {
        let at = self.at;
        match self.peek() {
            Some(field) => {
                self.skip();
                Ok((field, at))
            }
            None => Err(self.failure(at, Rule::FieldCount, "a field is missing")),
        }
    }

    /// Reads a decimal number of 32 bits.
    pub fn number(&mut self) -> Result<u32, Failure> {
        let (field, at) = self.next()?;
        number(field).map_err(|rule| {
            let message = match rule {
                Rule::NumberRange => format!("`{}` has more than 32 bits", shown(field)),
                _ => format!("`{}` is not a decimal number", shown(field)),
            };
            self.failure(at, rule, message)
        })
    }

    /// Reads 1 or 0.
    pub fn switch(&mut self) -> Result<bool, Failure> {
        match self.next()? {
            ("0", _) => Ok(false),
            ("1", _) => Ok(true),
            (field, at) => {
                Err(self.failure(at, Rule::Switch, format!("`{}` is neither 0 nor 1", shown(field))))
            }
        }
    }

    /// Reads a name.
    pub fn name(&mut self) -> Result<Name, Failure> {
        let (field, at) = self.next()?;
        name(field, at)
    }

    /// Reads a type of data.
    pub fn data_type(&mut self) -> Result<DataType, Failure> {
        self.word(Rule::DataTypeName)
    }

    /// Reads one of the words of a field.
    pub fn word<W: Word>(&mut self, rule: Rule) -> Result<W, Failure> {
        let (field, at) = self.next()?;
        if let Some(word) = W::WORDS.iter().find(|word| word.spelling() == field) {
            return Ok(*word);
        }
        let words: Vec<_> = W::WORDS.iter().map(|word| word.spelling()).collect();
        let hint = format!("known are {}", words.join(", "));
        let message = format!("`{}` is not {}", shown(field), W::WHAT);
        Err(Failure { at, rule, message, hint: Some(hint) })
    }

    /// Reads all that is left, with its colons.
    pub fn rest(&mut self) -> Result<Line, Failure> {
        let at = self.at;
        let rest = self.rest.take().unwrap_or_default();
        self.at += rest.len();
        Line::new(rest)
            .ok_or_else(|| self.failure(at, Rule::ControlCharacter, "the text has a control character"))
    }
}

/// Returns the number that a field has, or the broken rule.
pub(crate) fn number(field: &str) -> Result<u32, Rule> {
    let digits = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (field.len() > 1 && field.starts_with('0')) {
        return Err(Rule::Number);
    }
    field.parse().map_err(|_| Rule::NumberRange)
}

/// Returns the name that a field has.
pub(crate) fn name(field: &str, at: usize) -> Result<Name, Failure> {
    Name::new(field).ok_or_else(|| {
        let (rule, message) = if field.is_empty() {
            (Rule::EmptyField, "the name is empty".to_owned())
        } else {
            (Rule::NameCharacters, format!("`{}` cannot be a name", shown(field)))
        };
        Failure { at, rule, message, hint: None }
    })
}

/// Returns the start of a field, so that no message is long.
pub(crate) fn shown(field: &str) -> &str {
    let end = field.char_indices().nth(40).map_or(field.len(), |(at, _)| at);
    &field[..end]
}
