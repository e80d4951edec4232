//! The text form of the metadata: YAML between `.amdgpu_pal_metadata` and `.end_amdgpu_pal_metadata`.
//!
//! Numbers are hexadecimal, and a register number has the register's name next to it. The text is LLVM's,
//! byte for byte, except where LLVM's text cannot be read back: LLVM writes nested sequences without the
//! dashes of the inner sequence.

use crate::error::Error;
use crate::register;
use objwriter::Value;
use objwriter::message_pack::rank;
use objwriter::value::unsigned;
use objwriter::yaml::{self, Entry, Node};
use std::collections::HashSet;
use std::fmt::Write;

/// Directive in front of the YAML document.
pub const BEGIN: &str = ".amdgpu_pal_metadata";
/// Directive after the YAML document.
pub const END: &str = ".end_amdgpu_pal_metadata";

/// Whose spelling a text has. Both versions of LLVM read both spellings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spelling {
    /// LLVM 14: keys are never in quotes.
    Llvm14,
    /// LLVM 19: a key is in quotes if the key has characters such as parentheses.
    #[default]
    Llvm19,
}

/// Returns the tree as a YAML document, from `---` to `...`.
pub(crate) fn document(root: &Value, spelling: Spelling) -> String {
    let mut out = "---\n".to_owned();
    let mut writer = Writer { spelling, out: &mut out };
    let root = &with_register_names(root, Level::Root);
    match is_block(root) {
        true => writer.block(root, 0),
        false => {
            writer.scalar(root);
            writer.out.push('\n');
        }
    }
    out.push_str("...\n");
    out
}

/// Where a value is in the tree. Only the registers of the first pipeline have names in LLVM's text.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Pipelines,
    Pipeline,
    Registers,
    Other,
}

impl Level {
    /// Returns the level of a value in a map.
    fn below(self, key: &str) -> Level {
        match (self, key) {
            (Level::Root, "amdpal.pipelines") => Level::Pipelines,
            (Level::Pipeline, ".registers") => Level::Registers,
            _ => Level::Other,
        }
    }

    /// Returns the level of an item of a sequence.
    fn item(self, index: usize) -> Level {
        if self == Level::Pipelines && index == 0 { Level::Pipeline } else { Level::Other }
    }
}

/// Returns a copy of the tree with texts such as `0x2e12 (COMPUTE_PGM_RSRC1)` for the numbers of registers,
/// and with the keys of all maps in the order in which LLVM writes them.
fn with_register_names(value: &Value, level: Level) -> Value {
    match value {
        Value::Seq(items) => {
            let items = items.iter().enumerate();
            Value::Seq(items.map(|(n, item)| with_register_names(item, level.item(n))).collect())
        }
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| {
                let below = key.as_str().map_or(Level::Other, |key| level.below(key));
                let key = if level == Level::Registers { named(key) } else { key.clone() };
                (key, with_register_names(value, below))
            };
            sorted(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    }
}

fn sorted(mut entries: Vec<(Value, Value)>) -> Value {
    entries.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)));
    Value::Map(entries)
}

fn named(key: &Value) -> Value {
    let name = match key {
        Value::Uint(number) => u32::try_from(*number).ok().and_then(register::llvm_name),
        _ => None,
    };
    match (key, name) {
        (Value::Uint(number), Some(name)) => Value::from(format!("{number:#x} ({name})")),
        _ => key.clone(),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Seq(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        _ => false,
    }
}

struct Writer<'o> {
    spelling: Spelling,
    out: &'o mut String,
}

impl Writer<'_> {
    fn indent(&mut self, indent: usize) {
        let _ = write!(self.out, "{:indent$}", "");
    }

    /// Writes a sequence or map that is not empty. The writer is at the beginning of a line.
    fn block(&mut self, value: &Value, indent: usize) {
        self.indent(indent);
        self.rest_of_block(value, indent);
    }

    /// Writes a sequence or map that is not empty. The first line is indented already.
    fn rest_of_block(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Seq(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.indent(if n == 0 { 0 } else { indent });
                    self.out.push_str("- ");
                    match is_block(item) {
                        true => self.rest_of_block(item, indent + 2),
                        false => {
                            self.scalar(item);
                            self.out.push('\n');
                        }
                    }
                }
            }
            Value::Map(entries) => {
                for (n, (key, value)) in entries.iter().enumerate() {
                    self.indent(if n == 0 { 0 } else { indent });
                    self.entry(key, value, indent);
                }
            }
            _ => {}
        }
    }

    fn entry(&mut self, key: &Value, value: &Value, indent: usize) {
        let text = plain(key);
        self.key(key, &text);
        self.out.push(':');
        if is_block(value) {
            self.out.push('\n');
            self.block(value, indent + 2);
            return;
        }
        // LLVM aligns values at a column, and does not count the quotes of keys.
        self.indent(16usize.saturating_sub(text.len()).max(1));
        self.scalar(value);
        self.out.push('\n');
    }

    fn key(&mut self, key: &Value, text: &str) {
        let may_need_quotes = matches!(key, Value::Str(_)) || text.starts_with('-');
        match self.spelling {
            Spelling::Llvm19 if may_need_quotes => quoted(text, false, self.out),
            _ => self.out.push_str(text),
        }
    }

    fn scalar(&mut self, value: &Value) {
        match value {
            Value::Str(text) => {
                if !matches!(yaml::llvm_scalar(text), Value::Str(_)) {
                    self.out.push_str("!str ");
                }
                quoted(text, true, self.out);
            }
            value => self.out.push_str(&plain(value)),
        }
    }
}

/// Returns the text of a scalar, or of an empty sequence or map, without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::Nil => "!nil ''".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Uint(0) => "0".to_owned(),
        Value::Uint(number) => format!("{number:#x}"),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => exponential(*number),
        Value::Str(text) => text.to_string(),
        Value::Bytes(bytes) => format!("!!binary # {} bytes", bytes.len()),
        Value::Seq(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

/// Returns a number in the form of C's format `%e`: six decimals and an exponent of at least two digits.
fn exponential(number: f64) -> String {
    let text = format!("{number:.6e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text.to_lowercase(),
    }
}

/// Appends a text, in quotes if LLVM's writer puts the text in quotes. `is_value` says that the text must not
/// be read back as a number or truth value.
fn quoted(text: &str, is_value: bool, out: &mut String) {
    if text.chars().any(|c| (c.is_ascii_control() && c != '\t') || !c.is_ascii()) {
        return double_quoted(text, out);
    }
    let indicators = "-?:\\,[]{}#&*!|>'\"%@`";
    let is_safe =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '^' | '.' | ',' | ' ' | '\t');
    let needs_quotes = text.is_empty()
        || text.starts_with(|c: char| c.is_ascii_whitespace() || indicators.contains(c))
        || text.ends_with(|c: char| c.is_ascii_whitespace())
        || !text.chars().all(is_safe)
        || (is_value && is_special(text));
    match needs_quotes {
        true => {
            let _ = write!(out, "'{}'", text.replace('\'', "''"));
        }
        false => out.push_str(text),
    }
}

/// Returns whether YAML reads a text as null, a truth value or a number.
fn is_special(text: &str) -> bool {
    let words = ["null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "False", "FALSE"];
    words.contains(&text) || is_numeric(text)
}

/// Returns whether YAML 1.2 reads a text as a number.
fn is_numeric(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all = |digits: &str, is: fn(&char) -> bool| !digits.is_empty() && digits.chars().all(|c| is(&c));
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return all(digits, |c| c.is_digit(8));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, char::is_ascii_hexdigit);
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |digits: &str| digits.chars().all(|c| c.is_ascii_digit());
    let has_digit = !whole.is_empty() || !fraction.is_empty();
    has_digit && is_digits(whole) && is_digits(fraction) && all(exponent, char::is_ascii_digit)
}

fn double_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\0' => write!(out, "\\0"),
            '\u{7}' => write!(out, "\\a"),
            '\u{8}' => write!(out, "\\b"),
            '\t' => write!(out, "\\t"),
            '\n' => write!(out, "\\n"),
            '\u{b}' => write!(out, "\\v"),
            '\u{c}' => write!(out, "\\f"),
            '\r' => write!(out, "\\r"),
            '\u{1b}' => write!(out, "\\e"),
            c if (c as u32) < 0x20 => write!(out, "\\x{:02X}", c as u32),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
}

/// Reads a YAML document with the rules of LLVM's assembler: texts that look like numbers are numbers, and a
/// key of `.registers` such as `0x2e12 (COMPUTE_PGM_RSRC1)` is the number.
pub(crate) fn read(text: &str) -> Result<Value, Error> {
    let root = yaml::parse(text).map_err(|(at, rule)| Error::in_text(text, at, rule))?;
    match root {
        Node::Map(_) => tree(text, &root, Level::Root),
        _ => Err(Error::in_text(text, 0, "the metadata is a map")),
    }
}

fn tree(text: &str, node: &Node, level: Level) -> Result<Value, Error> {
    match node {
        Node::Map(entries) => {
            let mut seen = HashSet::new();
            let entry = |entry: &Entry| {
                let key = match level {
                    Level::Registers => {
                        let number = register_number(&entry.key)
                            .filter(|number| seen.insert(*number))
                            .ok_or_else(|| Error::in_text(text, entry.at, REGISTER_RULE))?;
                        Value::Uint(number)
                    }
                    _ => yaml::llvm_scalar(&entry.key),
                };
                Ok((key, tree(text, &entry.value, level.below(&entry.key))?))
            };
            entries.iter().map(entry).collect::<Result<_, _>>().map(Value::Map)
        }
        Node::Seq(items) => {
            let items = items.iter().enumerate().map(|(n, item)| tree(text, item, level.item(n)));
            items.collect::<Result<_, _>>().map(Value::Seq)
        }
        node => Ok(yaml::llvm_value(node)),
    }
}

const REGISTER_RULE: &str = "a key of `.registers` is the number of a register, which may be followed by the \
    register's name in parentheses; each register occurs once";

/// Reads a key of the map of registers. LLVM skips what follows the number; here it has to be the name of the
/// register, if LLVM has a name for the number.
fn register_number(key: &str) -> Option<u64> {
    let Some((number, name)) = key.split_once(' ') else { return unsigned(key) };
    let number = unsigned(number)?;
    let name = name.trim().strip_prefix('(')?.strip_suffix(')')?;
    let known = u32::try_from(number).ok().and_then(register::llvm_name);
    known.is_none_or(|known| known.to_string() == name).then_some(number)
}
