//! Types of values and their layout in memory. A type is written as text, such as `Coef { rx: f32, rows:
//! [f32x3; 2] }`, and laid out as in C.
//!
//! Code objects that kernc has compiled record the type of each parameter in this form, including the fields
//! of structs. For code objects of other compilers, the user of kernc can give the types in the same syntax.

use crate::buffer::decode;
use crate::metadata::{ArgInfo, Scalar};
use std::fmt;

/// Maximum nesting depth of a type. The limit protects the stack of the parser, because an object may contain
/// any text.
const MAX_NESTING: u32 = 32;
/// Maximum size of a type in bytes.
const MAX_BYTES: u64 = 1 << 31;

/// A type and its layout in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A number.
    Scalar(Scalar),
    /// A pointer, whose address has this many bytes.
    Pointer(u32),
    /// A vector of numbers; three numbers are padded to four.
    Vector(Scalar, u32),
    /// An array of values.
    Array(Box<Layout>, u32),
    /// A struct, with its fields in order.
    Struct(Vec<Field>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Byte offset of the field.
    pub offset: u64,
    /// Layout of the field.
    pub layout: Layout,
}

impl Layout {
    /// Parses the text of a type. It is a scalar (`f32`, `unsigned int`), a vector (`f32x4`, `float4`), an
    /// array `[TYPE; COUNT]`, a pointer, or a struct `NAME { FIELD: TYPE, ... }`, in which the name is
    /// optional.
    pub fn parse(text: &str) -> Option<Layout> {
        let mut rest = text;
        let layout = parse(&mut rest, MAX_NESTING)?;
        (rest.trim_start().is_empty() && layout.size() <= MAX_BYTES).then_some(layout)
    }

    /// Returns the type that a pointer type points to, in kernc's syntax (`*const global f32`) or in OpenCL's
    /// (`float4*`).
    pub fn of_pointee(text: &str) -> Option<Layout> {
        let text = text.trim();
        let pointee = text.strip_prefix('*').or_else(|| text.strip_suffix('*'))?;
        Layout::parse(without_qualifiers(pointee).0)
    }

    /// Returns the type of a kernel argument, if the code object records it. If the argument is a pointer,
    /// returns the type of the data that it points to.
    pub fn for_argument(info: &ArgInfo) -> Option<Layout> {
        let text = info.type_name.as_deref()?;
        Layout::of_pointee(text)
            .or_else(|| Layout::parse(text).filter(|it| it.size() == u64::from(info.size)))
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Layout::Scalar(scalar) => scalar.bytes() as u64,
            Layout::Pointer(bytes) => u64::from(*bytes),
            Layout::Vector(scalar, lanes) => scalar.bytes() as u64 * u64::from(lanes.next_power_of_two()),
            Layout::Array(element, count) => element.size().saturating_mul(u64::from(*count)),
            Layout::Struct(fields) => {
                let end = fields.last().map_or(0, |last| last.offset.saturating_add(last.layout.size()));
                end.checked_next_multiple_of(self.align()).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns the alignment in bytes.
    pub fn align(&self) -> u64 {
        match self {
            Layout::Array(element, _) => element.align(),
            Layout::Struct(fields) => fields.iter().map(|field| field.layout.align()).max().unwrap_or(1),
            other => other.size().max(1),
        }
    }

    /// Returns `bytes` as the text of a value of this type, in the syntax in which a user writes arguments.
    /// If there are too few bytes, the missing bytes count as zeros.
    pub fn text(&self, bytes: &[u8]) -> String {
        let number = |scalar: Scalar, at: usize| {
            let mut value = [0; 8];
            let found = bytes.get(at * scalar.bytes()..).unwrap_or(&[]);
            let count = found.len().min(scalar.bytes());
            value[..count].copy_from_slice(&found[..count]);
            decode(scalar, &value[..scalar.bytes()]).text(scalar)
        };
        let of = |layout: &Layout, at: u64| {
            layout.text(usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or(&[]))
        };
        match self {
            Layout::Scalar(scalar) => number(*scalar, 0),
            Layout::Pointer(size) => number(if *size == 4 { Scalar::U32 } else { Scalar::U64 }, 0),
            Layout::Vector(scalar, lanes) => listed((0..*lanes).map(|lane| number(*scalar, lane as usize))),
            Layout::Array(element, count) => {
                // If there are too few bytes, the text ends with the last array element for which there are
                // bytes.
                let there = (bytes.len() as u64).div_ceil(element.size().max(1));
                let count = u64::from(*count).min(there);
                listed((0..count).map(|at| of(element, at * element.size())))
            }
            Layout::Struct(fields) => {
                let fields =
                    fields.iter().map(|field| format!("{}: {}", field.name, of(&field.layout, field.offset)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns a struct with the given fields, laid out in sequence as in C.
    pub(super) fn of_fields(fields: impl IntoIterator<Item = (String, Layout)>) -> Layout {
        let mut end = 0u64;
        let place = |(name, layout): (String, Layout)| {
            let offset = end.checked_next_multiple_of(layout.align()).unwrap_or(u64::MAX);
            end = offset.saturating_add(layout.size());
            Field { name, offset, layout }
        };
        Layout::Struct(fields.into_iter().map(place).collect())
    }

    /// Returns the scalar type of which the whole type consists: all its scalars have this type, and there is
    /// no padding. Returns `None` if there is no such scalar type.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Layout::Scalar(scalar) => Some(*scalar),
            Layout::Pointer(bytes) => (*bytes == 8).then_some(Scalar::U64),
            Layout::Vector(scalar, lanes) => lanes.is_power_of_two().then_some(*scalar),
            Layout::Array(element, _) => element.scalar(),
            Layout::Struct(fields) => {
                let first = fields.first()?.layout.scalar()?;
                let same = fields.iter().all(|field| field.layout.scalar() == Some(first));
                let bytes: u64 = fields.iter().map(|field| field.layout.size()).sum();
                (same && bytes == self.size()).then_some(first)
            }
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layout::Scalar(scalar) => f.write_str(scalar.name()),
            Layout::Pointer(_) => f.write_str("pointer"),
            Layout::Vector(scalar, lanes) => write!(f, "{}x{lanes}", scalar.name()),
            Layout::Array(element, count) => write!(f, "[{element}; {count}]"),
            Layout::Struct(fields) => {
                for (at, field) in fields.iter().enumerate() {
                    write!(f, "{} {}: {}", if at == 0 { "{" } else { "," }, field.name, field.layout)?;
                }
                f.write_str(if fields.is_empty() { "{}" } else { " }" })
            }
        }
    }
}

fn listed(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(", "))
}

/// Parses a type at the front of a text, and removes it from the text.
fn parse(rest: &mut &str, depth: u32) -> Option<Layout> {
    let depth = depth.checked_sub(1)?;
    *rest = rest.trim_start();
    if let Some(pointer) = rest.strip_prefix('*') {
        let (pointee, bytes) = without_qualifiers(pointer);
        *rest = pointee;
        // The type behind the pointer may be unknown. It is skipped then, because it does not change the
        // layout of the pointer.
        if parse(rest, depth).is_none() {
            *rest = pointee;
            skip(rest)?;
        }
        return Some(Layout::Pointer(bytes));
    }
    if eat(rest, "[") {
        let element = parse(rest, depth)?;
        eat(rest, ";").then_some(())?;
        let count = word(rest)?.parse().ok()?;
        return eat(rest, "]").then(|| Layout::Array(Box::new(element), count));
    }
    let name = words(rest);
    if eat(rest, "{") {
        return parse_fields(rest, depth);
    }
    let number = named(&name);
    if number.is_some() && eat(rest, "*") {
        return Some(Layout::Pointer(8));
    }
    number
}

/// Removes a type that kernc does not know from the front of a text. The type is a name, or any text in
/// brackets.
fn skip(rest: &mut &str) -> Option<()> {
    *rest = rest.trim_start();
    if !rest.starts_with(['[', '(']) {
        return word(rest).map(|_| ());
    }
    let mut open = 0u32;
    let end = rest.find(|c| {
        open = open + u32::from(matches!(c, '[' | '(')) - u32::from(matches!(c, ']' | ')'));
        open == 0
    })?;
    *rest = &rest[end + 1..];
    Some(())
}

fn parse_fields(rest: &mut &str, depth: u32) -> Option<Layout> {
    let mut fields = Vec::new();
    while !eat(rest, "}") {
        let name = word(rest)?.to_owned();
        eat(rest, ":").then_some(())?;
        fields.push((name, parse(rest, depth)?));
        if !eat(rest, ",") {
            eat(rest, "}").then_some(())?;
            break;
        }
    }
    Some(Layout::of_fields(fields))
}

/// Returns the scalar or vector type with this name.
fn named(name: &str) -> Option<Layout> {
    if let Some(scalar) = Scalar::by_name(name) {
        return Some(Layout::Scalar(scalar));
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = name[stem.len()..].parse().ok().filter(|lanes| matches!(lanes, 2 | 3 | 4 | 8 | 16))?;
    Some(Layout::Vector(Scalar::by_name(stem.strip_suffix('x').unwrap_or(stem))?, lanes))
}

/// Removes words such as `const` and address spaces such as `shared` from the front of a pointer type's text.
/// Returns the rest of the text, and the size of the pointer in bytes, which depends on its address space.
fn without_qualifiers(text: &str) -> (&str, u32) {
    let (mut rest, mut bytes) = (text, 8);
    loop {
        let before = rest;
        match word(&mut rest) {
            Some("shared" | "private" | "local") => bytes = 4,
            Some("const" | "global" | "constant" | "restrict" | "volatile") => {}
            _ => return (before, bytes),
        }
    }
}

/// Removes `text` from the front of `rest`. Returns whether `rest` began with it.
fn eat(rest: &mut &str, text: &str) -> bool {
    let found = rest.trim_start().strip_prefix(text);
    *rest = found.unwrap_or(rest);
    found.is_some()
}

/// Removes a word from the front of `rest`, and returns it.
fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    *rest = &text[end..];
    (end > 0).then(|| &text[..end])
}

/// Removes all words from the front of `rest` and returns them, so that a type name may consist of several
/// words, such as `unsigned int`. The word `struct` is left out.
fn words(rest: &mut &str) -> String {
    let mut name = String::new();
    while let Some(word) = word(rest) {
        if word != "struct" {
            name.push_str(if name.is_empty() { "" } else { " " });
            name.push_str(word);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Option<(u64, u64)> {
        Layout::parse(text).map(|layout| (layout.size(), layout.align()))
    }

    /// Checks sizes and alignments against `clang`'s layout of the same structs.
    #[test]
    fn sizes_are_those_of_c() {
        assert_eq!(shape("f32"), Some((4, 4)));
        assert_eq!(shape("unsigned char"), Some((1, 1)));
        assert_eq!(shape("f16x3"), Some((8, 8)));
        assert_eq!(shape("float4"), Some((16, 16)));
        assert_eq!(shape("Coef { rx: f32, ry: f32 }"), Some((8, 4)));
        assert_eq!(shape("{ tag: u8, at: f64, flag: bool, }"), Some((24, 8)));
        assert_eq!(shape("{ tag: u8, v: f32x3, rows: [P { x: u16, y: u8 }; 3] }"), Some((48, 16)));
        assert_eq!(shape("{ p: *const global f32, s: *shared Node, n: u32 }"), Some((16, 8)));
        assert_eq!(
            shape("{ p: *const global [Node; 2], q: *shared ([Node; 3], u32), n: u32 }"),
            Some((16, 8))
        );
        assert_eq!(shape("{}"), Some((0, 1)));
    }

    #[test]
    fn fields_have_offsets() {
        let Some(Layout::Struct(fields)) = Layout::parse("{ a: u8, b: [u16; 3], c: S { x: f64 }, d: i8 }")
        else {
            panic!("no struct")
        };
        let found: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
        assert_eq!(found, [("a", 0), ("b", 2), ("c", 8), ("d", 16)]);
    }

    #[test]
    fn bytes_as_text() {
        let layout = Layout::parse("{ a: u8, b: [i16; 2], c: f32x3, d: S { e: f16 } }").unwrap();
        let bytes: Vec<u8> = [
            vec![9, 0, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [1.5f32, -2.0, 0.1, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect(),
            vec![0, 0x3c],
        ]
        .concat();
        assert_eq!(layout.text(&bytes), "{a: 9, b: [-1, 2], c: [1.5, -2.0, 0.1], d: {e: 1.0}}");
        assert_eq!(layout.text(&[7]), "{a: 7, b: [], c: [0.0, 0.0, 0.0], d: {e: 0.0}}");
    }

    #[test]
    fn what_is_no_type() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "Coef",
            "struct S",
            "{ p: *[Node; 2 }",
            "{ p: *[Node)(]",
            "f32x5",
            "f32 f32",
            "{ a }",
            "{ a: f32",
            "[f32]",
            "[f32; x]",
            "*",
            &deep,
        ] {
            assert_eq!(Layout::parse(text), None, "{text}");
        }
        assert_eq!(Layout::parse("[[f64; 4294967295]; 4294967295]"), None);
    }

    #[test]
    fn pointees() {
        let scalar = |text| Layout::of_pointee(text).and_then(|layout| layout.scalar());
        assert_eq!(scalar("*const restrict global f32x4"), Some(Scalar::F32));
        assert_eq!(scalar("*global f32x3"), None);
        assert_eq!(scalar("unsigned int*"), Some(Scalar::U32));
        assert_eq!(scalar("*global P { x: f32, y: [f32; 3] }"), Some(Scalar::F32));
        assert_eq!(scalar("*global P { x: f32, n: u32 }"), None);
        assert_eq!(Layout::of_pointee("f32"), None);
    }
}
