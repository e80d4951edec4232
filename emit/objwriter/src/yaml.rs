//! Parser for the subset of YAML in which metadata is written: block and flow sequences and mappings, plain
//! and quoted scalars, and literal blocks. Anchors, tags except `!str`, and several documents in one text are
//! not supported.
//!
//! The assembler uses the parser for the directives `.amdgpu_metadata` and `.amdgpu_pal_metadata`, and the
//! inspector uses the parser for the notes of code object V2.

use crate::value::{Value, unsigned};
use std::collections::HashSet;

/// A node of the YAML document. Scalars have no types here: the code that reads the tree decides whether a
/// scalar is a number or a string.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Number, word or string, without quotes.
    Scalar(String),
    /// Scalar with the tag `!str`, which is a string even if it looks like a number.
    Text(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// Mapping, in the order of the text.
    Map(Vec<Entry>),
    /// Missing value after a key.
    Empty,
}

/// Key of a mapping, without quotes, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Byte offset of the key in the text.
    pub at: usize,
    /// Value of the key.
    pub value: Node,
}

impl Node {
    /// Returns the value of a key in a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Returns the entries of a mapping; none for other nodes.
    pub fn entries(&self) -> &[Entry] {
        match self {
            Node::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match self {
            Node::Scalar(text) | Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items of a sequence; none for other nodes.
    pub fn items(&self) -> &[Node] {
        match self {
            Node::Seq(items) => items,
            _ => &[],
        }
    }
}

/// Error: byte offset in the text, and message.
pub type Mistake = (usize, &'static str);

/// Maximum nesting depth. Metadata has five levels.
const MAX_DEPTH: u32 = 50;

#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
    at: usize,
}

struct Parser<'t> {
    source: &'t str,
    lines: Vec<Line<'t>>,
    next: usize,
}

/// Keys of V2 metadata whose values are always strings, even if a value looks like a number (LLVM's AMDGPU
/// guide, seed 000, line 2193).
const TEXTS: [&str; 12] = [
    "Name",
    "SymbolName",
    "Language",
    "VecTypeHint",
    "RuntimeHandle",
    "TypeName",
    "ValueKind",
    "ValueType",
    "AddrSpaceQual",
    "AccQual",
    "ActualAccQual",
    "Printf",
];

/// Returns the metadata of code object V2 as a tree with the keys of later versions. Returns `None` if the
/// text cannot be read.
pub fn v2_metadata(text: &str) -> Option<Value> {
    Some(typed(&parse(text).ok()?, false))
}

fn typed(node: &Node, is_text: bool) -> Value {
    match node {
        Node::Empty => Value::Nil,
        Node::Text(text) => Value::from(text.clone()),
        Node::Seq(items) => Value::Seq(items.iter().map(|item| typed(item, is_text)).collect()),
        Node::Map(entries) => {
            let entry = |Entry { key, value, .. }: &Entry| {
                (Value::from(key.clone()), typed(value, TEXTS.contains(&key.as_str())))
            };
            Value::Map(entries.iter().map(entry).collect())
        }
        Node::Scalar(text) => match (text.as_str(), text.parse()) {
            ("true", _) if !is_text => Value::Bool(true),
            ("false", _) if !is_text => Value::Bool(false),
            (_, Ok(number)) if !is_text => Value::Uint(number),
            _ => Value::from(text.clone()),
        },
    }
}

/// Returns the value of a node as LLVM reads it. LLVM reads a scalar in quotes in the same way as one
/// without.
pub fn llvm_value(node: &Node) -> Value {
    match node {
        // LLVM reads a key without a value as an empty sequence.
        Node::Empty => Value::Seq(Vec::new()),
        Node::Scalar(text) => llvm_scalar(text),
        Node::Text(text) => Value::from(text.clone()),
        Node::Seq(items) => Value::Seq(items.iter().map(llvm_value).collect()),
        Node::Map(entries) => Value::Map(
            entries.iter().map(|entry| (llvm_scalar(&entry.key), llvm_value(&entry.value))).collect(),
        ),
    }
}

/// Returns the value of a scalar without a tag, as LLVM reads the scalar. A key of a mapping is such a
/// scalar, too: a key that looks like a number is a number.
pub fn llvm_scalar(text: &str) -> Value {
    if let Some(value) = unsigned(text) {
        return Value::Uint(value);
    }
    if let Some(value) =
        text.strip_prefix('-').and_then(unsigned).and_then(|value| 0i64.checked_sub_unsigned(value))
    {
        return u64::try_from(value).map_or(Value::Int(value), Value::Uint);
    }
    match text {
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        "" => Value::Nil,
        // LLVM also reads such texts as floats, although it loses the number when it writes the metadata.
        _ => float(text).map_or_else(|| Value::from(text.to_owned()), Value::Float),
    }
}

/// Reads a number with a point or an exponent, as `strtod` of C does. Hexadecimal numbers must have an
/// exponent.
fn float(text: &str) -> Option<f64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
    let (whole, exponent) = digits.split_once(['p', 'P'])?;
    let whole = u64::from_str_radix(whole, 16).ok()? as f64;
    Some(sign * whole * 2f64.powi(exponent.parse().ok()?))
}

/// Reads a document.
///
/// # Errors
/// Returns the first error.
pub fn parse(source: &str) -> Result<Node, Mistake> {
    let mut lines = Vec::new();
    let mut at = 0;
    for raw in source.split_inclusive('\n') {
        let body = raw.trim_end();
        let indent = body.len() - body.trim_start_matches(' ').len();
        let text = without_comment(&body[indent..]).trim_end();
        if text.starts_with('\t') {
            return Err((at, "a tab in the indentation of metadata"));
        }
        if text == "..." && indent == 0 {
            break;
        }
        let is_start = indent == 0 && text == "---";
        if !text.is_empty() && !is_start {
            lines.push(Line { indent, text, at: at + indent });
        }
        at += raw.len();
    }
    let mut parser = Parser { source, lines, next: 0 };
    let Some(first) = parser.peek() else { return Ok(Node::Empty) };
    let node = parser.node(first.indent, 0)?;
    match parser.peek() {
        Some(line) => Err((line.at, "this line belongs to nothing before it")),
        None => Ok(node),
    }
}

/// Removes a comment from a line. A comment begins with a `#` that follows a blank and is not between quotes.
fn without_comment(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut quote = 0;
    for (n, &byte) in bytes.iter().enumerate() {
        match byte {
            b'#' if quote == 0 && (n == 0 || bytes[n - 1].is_ascii_whitespace()) => return &text[..n],
            b'\'' | b'"' if quote == 0 && (n == 0 || !bytes[n - 1].is_ascii_alphanumeric()) => quote = byte,
            _ if quote != 0 && byte == quote && (quote == b'\'' || bytes[n - 1] != b'\\') => quote = 0,
            _ => {}
        }
    }
    text
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<Line<'t>> {
        self.lines.get(self.next).copied()
    }

    fn node(&mut self, indent: usize, depth: u32) -> Result<Node, Mistake> {
        let Some(line) = self.peek() else { return Ok(Node::Empty) };
        if depth > MAX_DEPTH {
            return Err((line.at, "metadata is nested too deeply"));
        }
        if is_item(line.text) {
            return self.sequence(indent, depth);
        }
        if key_end(line.text).is_some() {
            return self.mapping(indent, depth);
        }
        self.next += 1;
        self.value(line.text, line.at, indent, depth)
    }

    fn sequence(&mut self, indent: usize, depth: u32) -> Result<Node, Mistake> {
        let mut items = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent == indent && is_item(line.text)) {
            let rest = line.text[1..].trim_start();
            if rest.is_empty() {
                self.next += 1;
                items.push(self.nested(indent, false, depth)?);
                continue;
            }
            // What follows the dash on the line is the beginning of a node. Its indentation is the column in
            // which it begins.
            let skipped = line.text.len() - rest.len();
            let inner = Line { indent: indent + skipped, text: rest, at: line.at + skipped };
            self.lines[self.next] = inner;
            items.push(self.node(inner.indent, depth + 1)?);
        }
        Ok(Node::Seq(items))
    }

    fn mapping(&mut self, indent: usize, depth: u32) -> Result<Node, Mistake> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        while let Some(line) = self.peek().filter(|line| line.indent == indent && !is_item(line.text)) {
            let end = key_end(line.text).ok_or((line.at, "expected `key: value`"))?;
            let Node::Scalar(key) = scalar(line.text[..end].trim_end()) else {
                return Err((line.at, "a key is a scalar"));
            };
            if !keys.insert(key.clone()) {
                return Err((line.at, "the key is there already"));
            }
            let rest = line.text[end + 1..].trim_start();
            let at = line.at + line.text.len() - rest.len();
            self.next += 1;
            let value = match rest.as_bytes().first() {
                None => self.nested(indent, true, depth)?,
                Some(b'|' | b'>') if rest.len() <= 2 => self.block(rest, line.at, indent)?,
                Some(_) => self.value(rest, at, indent, depth)?,
            };
            entries.push(Entry { key, at: line.at, value });
        }
        Ok(Node::Map(entries))
    }

    /// Reads the node on the following lines. A sequence may have the same indentation as its key.
    fn nested(&mut self, indent: usize, of_key: bool, depth: u32) -> Result<Node, Mistake> {
        match self.peek() {
            Some(line) if line.indent > indent => self.node(line.indent, depth + 1),
            Some(line) if of_key && line.indent == indent && is_item(line.text) => {
                self.sequence(indent, depth + 1)
            }
            _ => Ok(Node::Empty),
        }
    }

    /// Reads a value that begins on the line of its key. The value continues on the following lines with more
    /// indentation. If it is in brackets, it continues up to the line with the closing bracket.
    fn value(&mut self, text: &'t str, at: usize, indent: usize, depth: u32) -> Result<Node, Mistake> {
        let mut flow = Flow { text: text.to_owned(), lines: vec![(0, at)], pos: 0 };
        let is_flow = matches!(text.as_bytes().first(), Some(b'[' | b'{'));
        let mut open = open_brackets(text);
        while let Some(line) =
            self.peek().filter(|line| if is_flow { open > 0 } else { line.indent > indent })
        {
            flow.text.push(' ');
            flow.lines.push((flow.text.len(), line.at));
            flow.text.push_str(line.text);
            open += open_brackets(line.text);
            self.next += 1;
        }
        if !is_flow {
            return Ok(scalar(&flow.text));
        }
        let node = flow.node(depth)?;
        flow.blank();
        match flow.pos == flow.text.len() {
            true => Ok(node),
            false => Err(flow.mistake("text after the closing bracket")),
        }
    }

    /// Reads a literal (`|`) or folded (`>`) block. The block is read from the source text, because blank
    /// lines and `#` are significant in it.
    fn block(&mut self, style: &str, at: usize, indent: usize) -> Result<Node, Mistake> {
        let start = self.source[at..].find('\n').map_or(self.source.len(), |n| at + n + 1);
        let mut text = String::new();
        let mut column = None;
        let mut pos = start;
        for raw in self.source[start..].split_inclusive('\n') {
            let body = raw.trim_end();
            let own = body.len() - body.trim_start_matches(' ').len();
            if !body.is_empty() && own <= indent {
                break;
            }
            let column = *column.get_or_insert(own);
            let separator = if style.starts_with('|') { '\n' } else { ' ' };
            text.push_str(body.get(column.min(own)..).unwrap_or_default());
            text.push(separator);
            pos += raw.len();
        }
        while self.peek().is_some_and(|line| line.at < pos) {
            self.next += 1;
        }
        let kept = text.trim_end_matches(['\n', ' ']).len();
        text.truncate(kept);
        if !style.ends_with('-') {
            text.push('\n');
        }
        Ok(Node::Scalar(text))
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Returns the position of the colon after a key.
fn key_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = match bytes.first()? {
        b'[' | b'{' => return None,
        quote @ (b'\'' | b'"') => 1 + text[1..].find(char::from(*quote))? + 1,
        _ => 0,
    };
    let colon = |n: &usize| bytes[*n] == b':' && (*n + 1 == bytes.len() || bytes[*n + 1] == b' ');
    (first..bytes.len()).find(colon)
}

/// Returns a scalar without its quotes.
fn scalar(text: &str) -> Node {
    let tagged = ["!str ", "!!str "].iter().find_map(|tag| text.strip_prefix(tag));
    if let Some(text) = tagged {
        return match scalar(text.trim_start()) {
            Node::Scalar(text) => Node::Text(text),
            other => other,
        };
    }
    let inside = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    if let Some(text) = inside('\'').filter(|_| text.len() > 1) {
        return Node::Scalar(text.replace("''", "'"));
    }
    match inside('"').filter(|_| text.len() > 1) {
        Some(text) => Node::Scalar(unescape(text)),
        None => Node::Scalar(text.to_owned()),
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('e') => out.push('\u{1b}'),
            Some(kind @ ('x' | 'u' | 'U')) => {
                let digits = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let code: String = chars.by_ref().take(digits).collect();
                out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

/// Returns the number of brackets that a line opens minus the number that it closes, outside of quotes.
fn open_brackets(text: &str) -> i32 {
    let (mut open, mut quote, mut before) = (0, 0, b' ');
    for byte in text.bytes() {
        match byte {
            _ if quote != 0 => quote = if byte == quote && before != b'\\' { 0 } else { quote },
            b'\'' | b'"' if matches!(before, b' ' | b',' | b':' | b'[' | b'{') => quote = byte,
            b'[' | b'{' => open += 1,
            b']' | b'}' => open -= 1,
            _ => {}
        }
        before = byte;
    }
    open
}

/// The text of a node in brackets (YAML's flow style). If it has several lines, they are joined by blanks.
struct Flow {
    text: String,
    /// For each line, its position in this text and in the source.
    lines: Vec<(usize, usize)>,
    pos: usize,
}

impl Flow {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn blank(&mut self) {
        while self.peek() == b' ' {
            self.pos += 1;
        }
    }

    /// Converts a position in the joined text of a flow node to the position in the source.
    fn source_position(&self, pos: usize) -> usize {
        let line = self.lines.iter().rev().find(|line| line.0 <= pos).copied().unwrap_or_default();
        line.1 + (pos - line.0)
    }

    fn mistake(&self, message: &'static str) -> Mistake {
        (self.source_position(self.pos.min(self.text.len().saturating_sub(1))), message)
    }

    fn node(&mut self, depth: u32) -> Result<Node, Mistake> {
        if depth > MAX_DEPTH {
            return Err(self.mistake("metadata is nested too deeply"));
        }
        self.blank();
        match self.peek() {
            b'[' => self.sequence(depth),
            b'{' => self.mapping(depth),
            b'-' if self.is_dash() => self.dashes(depth),
            _ => self.scalar(),
        }
    }

    /// Returns whether an item of a block sequence (a dash) begins here. YAML does not allow this inside
    /// brackets, but LLVM's reader does.
    fn is_dash(&self) -> bool {
        self.text.get(self.pos..).is_some_and(|rest| rest.starts_with("- "))
    }

    fn dashes(&mut self, depth: u32) -> Result<Node, Mistake> {
        let mut items = Vec::new();
        while self.is_dash() {
            self.pos += 1;
            items.push(self.node(depth + 1)?);
            self.blank();
        }
        Ok(Node::Seq(items))
    }

    fn sequence(&mut self, depth: u32) -> Result<Node, Mistake> {
        let mut items = Vec::new();
        self.pos += 1;
        loop {
            self.blank();
            if self.peek() == b']' {
                self.pos += 1;
                return Ok(Node::Seq(items));
            }
            items.push(self.node(depth + 1)?);
            self.blank();
            match self.peek() {
                b',' => self.pos += 1,
                b']' => {}
                _ => return Err(self.mistake("expected `,` or the closing bracket")),
            }
        }
    }

    fn mapping(&mut self, depth: u32) -> Result<Node, Mistake> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        self.pos += 1;
        loop {
            self.blank();
            match self.peek() {
                // LLVM's reader does not require a comma before a key, so commas are skipped.
                b',' => {
                    self.pos += 1;
                    continue;
                }
                b'}' => {
                    self.pos += 1;
                    return Ok(Node::Map(entries));
                }
                _ => {}
            }
            let at = self.source_position(self.pos);
            let Node::Scalar(key) = self.scalar()? else { return Err((at, "a key is a scalar")) };
            if !keys.insert(key.clone()) {
                return Err((at, "the key is there already"));
            }
            self.blank();
            if self.peek() != b':' {
                return Err(self.mistake("expected `:` after a key"));
            }
            self.pos += 1;
            self.blank();
            let value = if matches!(self.peek(), b',' | b'}') { Node::Empty } else { self.node(depth + 1)? };
            entries.push(Entry { key, at, value });
        }
    }

    fn scalar(&mut self) -> Result<Node, Mistake> {
        let start = self.pos;
        let quote = self.peek();
        if matches!(quote, b'\'' | b'"') {
            self.pos += 1;
            loop {
                match self.peek() {
                    0 if self.pos >= self.text.len() => {
                        return Err((self.source_position(start), "a string has no end"));
                    }
                    b'\\' if quote == b'"' => self.pos += 2,
                    byte if byte == quote && self.text.as_bytes().get(self.pos + 1) == Some(&quote) => {
                        self.pos += 2
                    }
                    byte if byte == quote => break,
                    _ => self.pos += 1,
                }
            }
            self.pos += 1;
        } else {
            while !matches!(self.peek(), b',' | b']' | b'}' | b'[' | b'{') && self.pos < self.text.len() {
                let ends = self.peek() == b':'
                    && matches!(self.text.as_bytes().get(self.pos + 1), Some(b' ') | None);
                if ends {
                    break;
                }
                self.pos += 1;
            }
            if self.pos == start {
                return Err(self.mistake("expected a value"));
            }
        }
        match self.text.get(start..self.pos) {
            Some(text) => Ok(scalar(text.trim())),
            None => Err(self.mistake("expected a value")),
        }
    }
}
