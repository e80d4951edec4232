//! Metadata as a tree of values: read from MessagePack, written as MessagePack, YAML or JSON.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::fmt::{self, Write};

/// A node of the metadata tree. Maps keep the order of the file.
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
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Sequence.
    Seq(Vec<Value>),
    /// Map.
    Map(Vec<(Value, Value)>),
}

/// How deep maps and sequences may be nested.
const DEPTH: usize = 64;

impl Value {
    /// Reads MessagePack. Zero bytes may follow: they pad a note.
    pub fn from_message_pack(bytes: &[u8]) -> Result<Value, String> {
        let mut rest = bytes;
        let mut reader = rmp_serde::Deserializer::new(&mut rest);
        reader.set_max_depth(DEPTH);
        let value = Value::deserialize(&mut reader).map_err(|error| error.to_string())?;
        match rest.iter().all(|&byte| byte == 0) {
            true => Ok(value),
            false => Err(format!("{} bytes follow the value", rest.len())),
        }
    }

    /// Writes MessagePack in the shortest form, with maps in the order of their keys, as LLVM writes it.
    pub fn to_message_pack(&self) -> Option<Vec<u8>> {
        rmp_serde::to_vec(&self.sorted()).ok()
    }

    fn sorted(&self) -> Value {
        match self {
            Value::Seq(items) => Value::Seq(items.iter().map(Value::sorted).collect()),
            Value::Map(entries) => {
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| (key.clone(), value.sorted())).collect();
                entries.sort_by(|(a, _), (b, _)| a.as_str().cmp(&b.as_str()));
                Value::Map(entries)
            }
            scalar => scalar.clone(),
        }
    }

    /// Whether the YAML of the assembler can say it: no bytes, numbers with a point, or keys other than strings.
    pub fn is_plain(&self) -> bool {
        match self {
            Value::Bool(_) | Value::Uint(_) | Value::Int(_) | Value::Str(_) => true,
            Value::Nil | Value::Float(_) | Value::Bytes(_) => false,
            Value::Seq(items) => items.iter().all(Value::is_plain),
            Value::Map(entries) => {
                entries.iter().all(|(key, value)| matches!(key, Value::Str(_)) && value.is_plain())
            }
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of a map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => {
                entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The items of a sequence.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::Seq(items) => items,
            _ => &[],
        }
    }

    /// Appends a YAML document, each line after `indent` spaces.
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

    /// A block whose first line is already indented.
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
                        // The column where LLVM's tools put values.
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

    fn write_scalar(&self, out: &mut String) {
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
            // As a key; as a value only the empty ones come here.
            Value::Seq(_) => write!(out, "[]"),
            Value::Map(_) => write!(out, "{{}}"),
        };
    }
}

/// Strings stand plain where YAML reads them as themselves, else in quotes. LLVM's reader looks for numbers and booleans
/// in quotes too (`n` is a boolean), so those carry the tag that says string.
fn write_string(text: &str, out: &mut String) {
    const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "~"];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_number_like = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    let is_decimal =
        text.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if text.is_empty() || is_word || is_number_like || is_decimal {
        out.push_str("!str ");
    }
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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Nil => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Uint(value) => serializer.serialize_u64(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Str(value) => serializer.serialize_str(value),
            Value::Bytes(value) => serializer.serialize_bytes(value),
            Value::Seq(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    match key {
                        Value::Str(key) => map.serialize_entry(key, value)?,
                        // JSON has no other keys than strings.
                        key => {
                            let mut text = String::new();
                            key.write_scalar(&mut text);
                            map.serialize_entry(&text, value)?;
                        }
                    }
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Uint(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::Int(value), Value::Uint))
    }

    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::Float(f64::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Str(value.to_owned()))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(value.to_owned()))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Reader)
    }

    // The lengths that a damaged file claims are not trusted: vectors grow as items come.
    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}
