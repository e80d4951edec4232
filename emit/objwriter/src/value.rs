//! Metadata as a tree of values, written as MessagePack or YAML.

use std::borrow::Cow;
use std::fmt::Write;

/// Node of the metadata tree. Maps keep the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// Boolean.
    Bool(bool),
    /// Unsigned integer.
    Uint(u64),
    /// Negative integer.
    Int(i64),
    /// Floating point number.
    Float(f64),
    /// String.
    Str(Cow<'static, str>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Sequence.
    Seq(Vec<Value>),
    /// Map.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// Appends the value as MessagePack in the form that LLVM writes: each value has the shortest encoding,
    /// and the keys of maps are sorted.
    pub fn write_message_pack(&self, out: &mut Vec<u8>) {
        crate::message_pack::write(self, out);
    }

    /// Returns whether the YAML that the assembler reads and writes can represent the value. This is not the
    /// case if the value contains nil, bytes or a floating-point number, or if a key would be read back with
    /// another type or value.
    pub fn is_plain(&self) -> bool {
        match self {
            Value::Bool(_) | Value::Uint(_) | Value::Int(_) | Value::Str(_) => true,
            Value::Nil | Value::Float(_) | Value::Bytes(_) => false,
            Value::Seq(items) => items.iter().all(Value::is_plain),
            Value::Map(entries) => {
                let is_key = |key: &Value| match key {
                    Value::Str(text) => !needs_tag(text),
                    key => matches!(key, Value::Bool(_) | Value::Uint(_) | Value::Int(_)),
                };
                entries.iter().all(|(key, value)| is_key(key) && value.is_plain())
            }
        }
    }

    /// Returns the string, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the entry of a map with that key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => {
                entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Returns the items of a sequence; none for other values.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::Seq(items) => items,
            _ => &[],
        }
    }

    /// Appends a YAML document, with each line indented by `indent` spaces.
    pub fn write_yaml(&self, indent: usize, out: &mut String) {
        let _ = writeln!(out, "{:indent$}---", "");
        if !matches!(self, Value::Seq(_) | Value::Map(_)) || self.is_empty() {
            let _ = write!(out, "{:indent$}", "");
            self.write_scalar(out);
            out.push('\n');
        } else {
            let _ = write!(out, "{:indent$}", "");
            self.write_block(indent, out);
        }
        let _ = writeln!(out, "{:indent$}...", "");
    }

    fn is_empty(&self) -> bool {
        match self {
            Value::Seq(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    fn is_block(&self) -> bool {
        matches!(self, Value::Seq(_) | Value::Map(_)) && !self.is_empty()
    }

    /// Writes a sequence or map as an indented block. The caller has already indented the first line.
    fn write_block(&self, indent: usize, out: &mut String) {
        match self {
            Value::Seq(items) => {
                for (n, item) in items.iter().enumerate() {
                    let pad = if n == 0 { 0 } else { indent };
                    let _ = write!(out, "{:pad$}- ", "");
                    item.write_after(indent + 2, out);
                }
            }
            Value::Map(entries) => {
                for (n, (key, value)) in entries.iter().enumerate() {
                    let pad = if n == 0 { 0 } else { indent };
                    let _ = write!(out, "{:pad$}", "");
                    let start = out.len();
                    key.write_scalar(out);
                    out.push(':');
                    if value.is_block() {
                        let _ = write!(out, "\n{:1$}", "", indent + 2);
                        value.write_block(indent + 2, out);
                    } else {
                        // LLVM's tools align values at this column.
                        let pad = 17usize.saturating_sub(out.len() - start).max(1);
                        let _ = write!(out, "{:pad$}", "");
                        value.write_scalar(out);
                        out.push('\n');
                    }
                }
            }
            _ => {}
        }
    }

    fn write_after(&self, indent: usize, out: &mut String) {
        if self.is_block() {
            self.write_block(indent, out);
        } else {
            self.write_scalar(out);
            out.push('\n');
        }
    }

    pub(crate) fn write_scalar(&self, out: &mut String) {
        let _ = match self {
            Value::Nil => write!(out, "null"),
            Value::Bool(value) => write!(out, "{value}"),
            Value::Uint(value) => write!(out, "{value}"),
            Value::Int(value) => write!(out, "{value}"),
            Value::Float(value) => write!(out, "{value:?}"),
            Value::Str(text) => {
                write_string(text, out);
                Ok(())
            }
            Value::Bytes(bytes) => write!(out, "!!binary # {} bytes", bytes.len()),
            // Only two kinds of sequences get here: empty sequences, and sequences that are keys of a map.
            // Other sequences are written as blocks elsewhere.
            Value::Seq(_) => write!(out, "[]"),
            Value::Map(_) => write!(out, "{{}}"),
        };
    }
}

/// Writes a string, in quotes if YAML would otherwise read it back as something else. LLVM's reader
/// interprets even quoted text as a number or boolean (`n` is a boolean), so such strings also get the tag
/// `!str`.
fn write_string(text: &str, out: &mut String) {
    if needs_tag(text) {
        out.push_str("!str ");
    }
    write_text(text, out);
}

/// Returns whether LLVM's YAML reader could read a string as a value of another type.
fn needs_tag(text: &str) -> bool {
    const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "~"];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_number_like = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    let is_decimal =
        text.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    text.is_empty() || is_word || is_number_like || is_decimal
}

fn write_text(text: &str, out: &mut String) {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.'))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ' ' | '-'))
        && !text.ends_with(' ');
    if plain {
        out.push_str(text);
    } else if text.chars().any(char::is_control) {
        out.push('"');
        for c in text.chars() {
            let _ = match c {
                '"' | '\\' => write!(out, "\\{c}"),
                '\n' => write!(out, "\\n"),
                '\t' => write!(out, "\\t"),
                '\r' => write!(out, "\\r"),
                c if (c as u32) < 0x100 && c.is_control() => write!(out, "\\x{:02X}", c as u32),
                c => write!(out, "{c}"),
            };
        }
        out.push('"');
    } else {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
    }
}

/// Reads an unsigned number as LLVM's YAML reader does: decimal, `0x`, `0b`, `0o`, or octal after a leading
/// zero. Returns `None` if the text is not such a number.
pub fn unsigned(text: &str) -> Option<u64> {
    let (digits, base) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', b'o', ..] => (&text[2..], 8),
        [b'0', b'0'..=b'9', ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, base).ok()
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Value {
        Value::Str(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Str(Cow::Owned(text))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Uint(number.into())
    }
}
