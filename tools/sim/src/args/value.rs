//! Parses values from text and lays them out in memory as their type says. A value is a number, a list such
//! as `[1, 2]`, or a struct such as `{rx: 1.0, ry: 2.0}`.

use super::layout::{Field, Layout};
use crate::buffer::{Number, decode, encode, parse_number};
use crate::metadata::Scalar;

/// Maximum nesting depth of brackets.
const MAX_NESTING: u32 = 32;

/// The parsed text of a value, before it is converted to a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal<'a> {
    Number(&'a str),
    List(Vec<Literal<'a>>),
    Struct(Vec<(&'a str, Literal<'a>)>),
}

impl<'a> Literal<'a> {
    /// Parses a whole text as a value. A text such as `1, 2, 3` is a list.
    pub(super) fn parse(text: &'a str) -> Result<Literal<'a>, String> {
        let mut rest = text.trim();
        let first = element(&mut rest, MAX_NESTING)?;
        if rest.is_empty() {
            return Ok(first);
        }
        let mut list = vec![first];
        while let Some(more) = rest.strip_prefix(',') {
            rest = more;
            list.push(element(&mut rest, MAX_NESTING)?);
        }
        if rest.is_empty() {
            Ok(Literal::List(list))
        } else {
            Err(format!("`{rest}` is too much in `{text}`"))
        }
    }

    /// Returns how many elements of a vector parameter this value sets. `room` is the number of elements for
    /// which the parameter has memory. A list of 3 elements sets a vector of 3 elements also if `room` is 4,
    /// because such a vector takes the memory of 4.
    pub(super) fn lanes(&self, room: usize) -> u32 {
        match self {
            Literal::List(list) if room == 4 && list.len() == 3 => 3,
            _ => room as u32,
        }
    }

    /// Returns a description for error messages.
    fn describe(&self) -> String {
        match self {
            Literal::Number(text) => format!("`{text}`"),
            Literal::List(list) => format!("a list of {}", list.len()),
            Literal::Struct(_) => "a struct".to_owned(),
        }
    }
}

/// Parses an element at the front of a text, and removes it from the text.
fn element<'a>(rest: &mut &'a str, depth: u32) -> Result<Literal<'a>, String> {
    let depth = depth.checked_sub(1).ok_or("too many brackets")?;
    *rest = rest.trim_start();
    let value = if let Some(inner) = rest.strip_prefix('[') {
        *rest = inner;
        let mut list = Vec::new();
        separated(rest, ']', |rest| {
            list.push(element(rest, depth)?);
            Ok(())
        })?;
        Literal::List(list)
    } else if let Some(inner) = rest.strip_prefix('{') {
        *rest = inner;
        fields(rest, depth)?
    } else {
        let end = rest.find([',', ']', '}', ':', '=', '{', '[']).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        *rest = behind;
        Literal::Number(number.trim())
    };
    *rest = rest.trim_start();
    Ok(value)
}

/// Parses the fields of a struct up to the closing brace: pairs `name: value`, or values without names.
fn fields<'a>(rest: &mut &'a str, depth: u32) -> Result<Literal<'a>, String> {
    let (mut named, mut list) = (Vec::new(), Vec::new());
    separated(rest, '}', |rest| {
        let first = element(rest, depth)?;
        match (rest.strip_prefix([':', '=']), first) {
            (Some(behind), Literal::Number(name)) => {
                *rest = behind;
                named.push((name, element(rest, depth)?));
            }
            (_, value) => list.push(value),
        }
        Ok(())
    })?;
    match (named.is_empty(), list.is_empty()) {
        (false, false) => Err("some values in braces have a field's name, some have none".to_owned()),
        (true, false) => Ok(Literal::List(list)),
        _ => Ok(Literal::Struct(named)),
    }
}

/// Parses elements separated by commas, with an optional trailing comma, up to a closing bracket.
fn separated<'a>(
    rest: &mut &'a str,
    close: char,
    mut one: impl FnMut(&mut &'a str) -> Result<(), String>,
) -> Result<(), String> {
    loop {
        *rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix(close) {
            *rest = behind;
            return Ok(());
        }
        if rest.is_empty() {
            return Err(format!("`{close}` is missing"));
        }
        one(rest)?;
        if let Some(behind) = rest.strip_prefix(',') {
            *rest = behind;
        } else if !rest.is_empty() && !rest.starts_with(close) {
            return Err(format!("`{close}` is missing before `{rest}`"));
        }
    }
}

/// Appends the bytes of a value in the layout of its type. `path` names the value in error messages.
pub(super) fn write(
    value: &Literal<'_>,
    layout: &Layout,
    path: &str,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let start = out.len();
    match (layout, value) {
        (Layout::Scalar(scalar), Literal::Number(text)) => write_number(text, *scalar, path, out)?,
        (Layout::Pointer(bytes), Literal::Number(text)) => {
            let scalar = if *bytes == 4 { Scalar::U32 } else { Scalar::U64 };
            write_number(text, scalar, path, out)?;
        }
        (Layout::Vector(scalar, lanes), Literal::List(list)) if list.len() == *lanes as usize => {
            for (at, lane) in list.iter().enumerate() {
                write(lane, &Layout::Scalar(*scalar), &format!("{path}[{at}]"), out)?;
            }
        }
        (Layout::Array(element, count), Literal::List(list)) if list.len() == *count as usize => {
            for (at, value) in list.iter().enumerate() {
                write(value, element, &format!("{path}[{at}]"), out)?;
            }
        }
        (Layout::Struct(fields), Literal::Struct(given)) => write_fields(given, fields, path, out)?,
        (Layout::Struct(fields), Literal::List(list)) if list.len() == fields.len() => {
            for (field, value) in fields.iter().zip(list) {
                out.resize(start + field.offset as usize, 0);
                write(value, &field.layout, &format!("{path}.{}", field.name), out)?;
            }
        }
        (wanted, found) => {
            return Err(format!("{}expected {}, found {}", prefix(path), form(wanted), found.describe()));
        }
    }
    out.resize(start + layout.size() as usize, 0);
    Ok(())
}

fn write_fields(
    given: &[(&str, Literal<'_>)],
    fields: &[Field],
    path: &str,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let start = out.len();
    let known = || fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
    for (at, (name, _)) in given.iter().enumerate() {
        if fields.iter().all(|field| field.name != *name) {
            return Err(format!("{}there is no field `{name}`; there are: {}", prefix(path), known()));
        }
        if given[..at].iter().any(|(before, _)| before == name) {
            return Err(format!("{}field `{name}` is given twice", prefix(path)));
        }
    }
    for field in fields {
        let value = given.iter().find(|(name, _)| *name == field.name);
        let (_, value) = value.ok_or_else(|| format!("{}field `{}` is missing", prefix(path), field.name))?;
        out.resize(start + field.offset as usize, 0);
        write(value, &field.layout, &format!("{path}.{}", field.name), out)?;
    }
    Ok(())
}

/// Returns the prefix of an error message about one part of a value. The prefix names the part by its `path`;
/// it is empty for the whole value.
fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{}`: ", path.trim_start_matches('.')) }
}

/// Returns a description of the syntax that a value of this type has, for error messages.
fn form(layout: &Layout) -> String {
    match layout {
        Layout::Scalar(scalar) => format!("one number of type {}", scalar.name()),
        Layout::Pointer(_) => "an address".to_owned(),
        Layout::Vector(scalar, lanes) => format!("{lanes} values of type {}", scalar.name()),
        Layout::Array(element, count) => format!("`[...]` with {count} values of type {element}"),
        Layout::Struct(_) => format!("a value of `{layout}`"),
    }
}

fn write_number(text: &str, scalar: Scalar, path: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = |why: String| format!("{}{why}", prefix(path));
    let (number, suffix) = number(text).ok_or_else(|| wrong(format!("`{text}` is not a number")))?;
    if let Some(suffix) = suffix.filter(|suffix| *suffix != scalar) {
        return Err(wrong(format!("{text} is of type {}, but the type is {}", suffix.name(), scalar.name())));
    }
    check_range(number, scalar, text).map_err(wrong)?;
    encode(scalar, number, out);
    Ok(())
}

/// Parses a number with an optional type suffix, such as `2.0f32` or `7u64`.
fn number(text: &str) -> Option<(Number, Option<Scalar>)> {
    if let Some(number) = parse_number(text) {
        return Some((number, None));
    }
    let at = text.rfind(['f', 'i', 'u'])?;
    let suffix = Scalar::by_name(&text[at..])?;
    Some((parse_number(text[..at].trim_end_matches('_'))?, Some(suffix)))
}

/// Checks that a type can represent a number. An integer must be in the range of the type, and a float must
/// not become infinite. A number in hexadecimal or binary digits gives the bits of the value. It may
/// therefore be larger than the largest number of a signed type, and then stands for a negative number.
pub(super) fn check_range(number: Number, element: Scalar, text: &str) -> Result<(), String> {
    let does_not_fit = || Err(format!("{text} does not fit {}", element.name()));
    match (number, element.limits()) {
        (Number::Int(value), Some(_))
            if (0..1 << (8 * element.bytes())).contains(&value) && is_bits(text) =>
        {
            Ok(())
        }
        (Number::Int(value), Some((least, most))) if !(least..=most).contains(&value) => does_not_fit(),
        (Number::Float(_), Some(_)) => {
            Err(format!("{text} is not an integer, but the type is {}", element.name()))
        }
        (number, None) if becomes_infinite(number, element, text) => does_not_fit(),
        _ => Ok(()),
    }
}

fn is_bits(text: &str) -> bool {
    ["0x", "0b"].iter().any(|base| text.starts_with(base))
}

/// Returns whether the digits in `text` give a finite number that rounds to infinity in a float type.
fn becomes_infinite(number: Number, element: Scalar, text: &str) -> bool {
    let mut bytes = Vec::new();
    encode(element, number, &mut bytes);
    let is_infinite = matches!(decode(element, &bytes), Number::Float(value) if value.is_infinite());
    is_infinite && text.contains(|c: char| c.is_ascii_digit())
}

/// Returns the type of a value whose numbers all have type suffixes, such as `{1.0f32, 3u32}`. The numbers
/// are laid out in sequence, as in C.
pub(super) fn own_layout(value: &Literal<'_>) -> Option<Layout> {
    match value {
        Literal::Number(text) => number(text)?.1.map(Layout::Scalar),
        Literal::List(list) => {
            let fields =
                list.iter().enumerate().map(|(at, value)| Some((at.to_string(), own_layout(value)?)));
            Some(Layout::of_fields(fields.collect::<Option<Vec<_>>>()?))
        }
        Literal::Struct(given) => {
            let fields = given.iter().map(|(name, value)| Some(((*name).to_owned(), own_layout(value)?)));
            Some(Layout::of_fields(fields.collect::<Option<Vec<_>>>()?))
        }
    }
}

/// Guesses the type of a single number whose type is not given. The guess uses the size of the parameter and
/// the form of the number's text.
pub(super) fn guess(value: &Literal<'_>, bytes: u32) -> Option<Layout> {
    let Literal::Number(text) = value else { return None };
    let number = parse_number(text)?;
    // A number that is too large for the signed type of the parameter's size is taken as unsigned.
    let candidates: &[Scalar] = match (bytes, number) {
        (1, Number::Int(_)) => &[Scalar::I8, Scalar::U8],
        (2, Number::Int(_)) => &[Scalar::I16, Scalar::U16],
        (4, Number::Int(_)) => &[Scalar::I32, Scalar::U32],
        (2, Number::Float(_)) => &[Scalar::F16],
        (4, Number::Float(_)) => &[Scalar::F32],
        _ => return None,
    };
    let fits = |scalar: &&Scalar| check_range(number, **scalar, text).is_ok();
    candidates.iter().find(fits).or(candidates.first()).map(|&scalar| Layout::Scalar(scalar))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str, layout: &str) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        write(&Literal::parse(text)?, &Layout::parse(layout).unwrap(), "", &mut out)?;
        Ok(out)
    }

    #[test]
    fn structs() {
        let layout = "{ tag: u8, v: u16x3, rows: [P { x: i16, y: u8 }; 2] }";
        let wanted = [7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 0xff, 0xff, 5, 0, 0xfe, 0xff, 6, 0];
        for text in [
            "{tag: 7, v: [1, 2, 3], rows: [{x: -1, y: 5}, {y: 6, x: -2}]}",
            "{ rows = [{-1, 5}, [-2, 6,]], v: {1, 2, 3}, tag: 0x7u8, }",
            "7, [1, 2, 3], [[-1, 5], [-2, 6]]",
        ] {
            assert_eq!(bytes(text, layout), Ok(wanted.to_vec()), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let layout = "{ rx: f32, rows: [P { x: u8 }; 2] }";
        for (text, why) in [
            ("{rx: 1.0}", "field `rows` is missing"),
            ("{rx: 1.0, ry: 2.0}", "there is no field `ry`; there are: rx, rows"),
            ("{rx: 1.0, rx: 2.0}", "field `rx` is given twice"),
            (
                "{rx: 1.0, rows: [{x: 1}]}",
                "`rows`: expected `[...]` with 2 values of type { x: u8 }, found a list of 1",
            ),
            ("{rx: 1.0, rows: [{x: 1}, {x: 300}]}", "`rows[1].x`: 300 does not fit u8"),
            ("{rx: 1.0f64, rows: [{1}, {2}]}", "`rx`: 1.0f64 is of type f64, but the type is f32"),
            ("{rx: one, rows: [{1}, {2}]}", "`rx`: `one` is not a number"),
            ("{1.0, rows: [{1}, {2}]}", "some values in braces have a field's name, some have none"),
            ("{rx: 1.0", "`}` is missing"),
            ("{rx: 1.0]", "`}` is missing before `]`"),
            ("5", "expected a value of `{ rx: f32, rows: [{ x: u8 }; 2] }`, found `5`"),
            ("{rx: 1.0} 5", "`5` is too much in `{rx: 1.0} 5`"),
        ] {
            assert_eq!(bytes(text, layout), Err(why.to_owned()), "{text}");
        }
        assert_eq!(bytes(&"[".repeat(100_000), "f32"), Err("too many brackets".to_owned()));
    }

    #[test]
    fn types_behind_numbers() {
        let layout = |text| own_layout(&Literal::parse(text).unwrap()).map(|layout| layout.to_string());
        assert_eq!(layout("{1.0f32, 0x1f32u64, -3i8}"), Some("{ 0: f32, 1: u64, 2: i8 }".to_owned()));
        assert_eq!(
            layout("{a: 1_000u32, b: [1u8, 2u8]}"),
            Some("{ a: u32, b: { 0: u8, 1: u8 } }".to_owned())
        );
        assert_eq!(layout("{1.0f32, 2}"), None);
        assert_eq!(layout("0x1f32"), None);
    }
}
