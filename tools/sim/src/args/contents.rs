//! Parses the contents of buffers from text. The text describes generated numbers, lists numbers, or names a
//! file.

use super::layout::Layout;
use super::value::{self, Literal, check_range};
use super::{ArgError, Conversion};
use crate::buffer::{Buffer, Number, encode, parse_number};
use crate::metadata::{ArgInfo, Scalar};
use crate::npy::read_npy;
use crate::random::Random;
use std::path::Path;

/// The syntaxes in which a user can describe the contents of a buffer, as text for error messages.
const FORMS: &str = "`iota:COUNT`, `fill:COUNT:VALUE`, `random:SEED:COUNT`, `zeros:COUNT`, `[1, 2, ...]`, `@FILE.npy` or \
                     `@FILE:TYPE`";

/// What is known about the elements of a buffer.
pub(super) struct Elements {
    /// Scalar type of the elements, if the object records it.
    scalar: Option<Scalar>,
    /// Type that the pointer points to, if the object records it.
    pointee: Option<Layout>,
    /// Name of the parameter's type for error messages.
    name: String,
}

impl Elements {
    pub(super) fn for_argument(info: &ArgInfo) -> Elements {
        let pointee = Layout::for_argument(info);
        let scalar = info.element.or_else(|| pointee.as_ref()?.scalar());
        let name = match (&info.type_name, scalar) {
            (Some(name), _) => name.clone(),
            (None, Some(scalar)) => scalar.name().to_owned(),
            (None, None) => "an unknown type".to_owned(),
        };
        Elements { scalar, pointee, name }
    }

    /// Returns the type of the buffer's elements if they are structs, or `None` if the buffer holds only
    /// numbers of one type.
    fn records(&self) -> Option<&Layout> {
        self.pointee.as_ref().filter(|pointee| self.scalar.is_none() || matches!(pointee, Layout::Struct(_)))
    }

    /// Returns the type that numbers in the text have if the text gives them no type suffix.
    fn default(&self) -> Result<Scalar, String> {
        match (self.scalar, self.records()) {
            (Some(scalar), _) => Ok(scalar),
            (None, None) => Ok(Scalar::F32),
            (None, Some(_)) => Err(format!(
                "the elements are `{}`: give them as `[{{...}}, ...]`, `zeros:COUNT`, or numbers of a type with `:TYPE` behind",
                self.name
            )),
        }
    }

    /// Converts the numbers of a buffer to the type that the kernel reads. If the kernel reads structs, the
    /// buffer may also hold the raw bytes of the structs (as `u8`); these stay as they are.
    ///
    /// # Errors
    /// Fails if the numbers are of another type and the caller has not asked for a conversion.
    fn in_type(&self, buffer: Buffer, what: &str, conversion: Conversion) -> Result<Buffer, ArgError> {
        let wanted = self.scalar.unwrap_or(buffer.element);
        let is_raw = buffer.element == Scalar::U8 && self.records().is_some();
        if is_raw || wanted == buffer.element || wanted.is_integer_as_wide_as(buffer.element) {
            return Ok(buffer);
        }
        match conversion {
            Conversion::Cast => Ok(buffer.cast(wanted)),
            Conversion::Refuse => Err(ArgError::Text(format!(
                "{what} holds {} (shape {:?}), but the parameter is `{}`: {} is needed; `--cast` converts",
                buffer.element.name(),
                buffer.shape,
                self.name,
                wanted.name()
            ))),
        }
    }

    /// Checks and converts the numbers of a file for the kernel.
    fn accept(&self, buffer: Buffer, path: &str, conversion: Conversion) -> Result<Buffer, ArgError> {
        let buffer = self.in_type(buffer, path, conversion)?;
        let room = self.pointee.as_ref().map_or(1, Layout::size).max(1);
        if !(buffer.bytes.len() as u64).is_multiple_of(room) {
            return Err(ArgError::Text(format!(
                "{path} has shape {:?} of {}, {} bytes: no multiple of the {room} bytes of an element of `{}`",
                buffer.shape,
                buffer.element.name(),
                buffer.bytes.len(),
                self.name
            )));
        }
        if let (Some(Layout::Vector(_, 3)), Some(3)) = (&self.pointee, buffer.shape.last()) {
            return Err(ArgError::Text(format!(
                "{path} has rows of 3, but each element of `{}` takes the room of 4: make its shape (..., 4)",
                self.name
            )));
        }
        Ok(buffer)
    }
}

/// Parses the contents of a buffer.
pub(super) fn parse(text: &str, elements: &Elements, conversion: Conversion) -> Result<Buffer, ArgError> {
    if let Some(file) = text.strip_prefix('@') {
        return parse_file(file, elements, conversion);
    }
    let is_list = text.trim_start().starts_with('[');
    let buffer = if is_list { parse_list(text, elements)? } else { generate(text, elements)? };
    elements.in_type(buffer, &format!("`{text}`"), conversion)
}

/// Reads the contents of `FILE.npy`, or the raw numbers in `FILE` for the text `FILE:TYPE`.
fn parse_file(file: &str, elements: &Elements, conversion: Conversion) -> Result<Buffer, ArgError> {
    let typed = file.rsplit_once(':').and_then(|(path, name)| Some((path, Scalar::by_name(name)?)));
    let path = typed.map_or(file, |(path, _)| path);
    let bytes = read(path)?;
    let buffer = match typed {
        Some((_, scalar)) => raw(bytes, scalar, path)?,
        None if bytes.starts_with(b"\x93NUMPY")
            || Path::new(path).extension().is_some_and(|it| it == "npy") =>
        {
            read_npy(&bytes).map_err(|error| ArgError::File(format!("{path}: {error}")))?
        }
        None => {
            let why = format!("{path}: no .npy file; with `@{path}:f32` it is read as raw numbers of a type");
            return Err(ArgError::File(why));
        }
    };
    elements.accept(buffer, path, conversion)
}

pub(super) fn read(path: &str) -> Result<Vec<u8>, ArgError> {
    std::fs::read(path).map_err(|error| ArgError::File(format!("cannot read {path}: {error}")))
}

fn raw(bytes: Vec<u8>, element: Scalar, path: &str) -> Result<Buffer, ArgError> {
    if !bytes.len().is_multiple_of(element.bytes()) {
        let (length, name) = (bytes.len(), element.name());
        return Err(ArgError::File(format!("{path}: {length} bytes are no whole number of {name}")));
    }
    let shape = vec![(bytes.len() / element.bytes()) as u64];
    Ok(Buffer { element, shape, bytes })
}

/// Parses a list such as `[1, 2, 3]`. The elements have the type that the text gives, or else the type of the
/// parameter.
fn parse_list(text: &str, elements: &Elements) -> Result<Buffer, String> {
    let typed = text.rsplit_once("]:").and_then(|(list, name)| Some((list, Scalar::by_name(name)?)));
    let list = typed.map_or(text, |(list, _)| &text[..=list.len()]);
    let Literal::List(values) = Literal::parse(list)? else {
        return Err(format!("expected {FORMS} for a buffer, found `{text}`"));
    };
    let layout = match (typed, elements.records()) {
        (Some((_, scalar)), _) => Layout::Scalar(scalar),
        (None, Some(records)) => records.clone(),
        (None, None) => Layout::Scalar(elements.default()?),
    };
    let mut bytes = Vec::new();
    for (at, value) in values.iter().enumerate() {
        value::write(value, &layout, &format!("[{at}]"), &mut bytes)?;
    }
    let element = layout.scalar().unwrap_or(Scalar::U8);
    Ok(Buffer { element, shape: vec![(bytes.len() / element.bytes()) as u64], bytes })
}

/// Returns how many numbers follow `kind`, which is the first word of a text such as `fill:COUNT:VALUE`. For
/// `fill` there are two numbers: the count and the value. Returns `None` if the word is not the name of a
/// kind of generated contents.
pub(super) fn numbers_of(kind: &str) -> Option<usize> {
    match kind {
        "iota" | "zeros" => Some(1),
        "fill" | "random" => Some(2),
        _ => None,
    }
}

fn generate(text: &str, elements: &Elements) -> Result<Buffer, String> {
    let mut parts = text.split(':');
    let kind = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    let wanted = numbers_of(kind).ok_or_else(|| format!("expected {FORMS} for a buffer, found `{text}`"))?;
    let element = match (parts.len().checked_sub(wanted), elements.records()) {
        (Some(0), Some(records)) if kind == "zeros" => return zeros(parse_count(parts[0])?, records),
        (Some(0), _) => elements.default()?,
        (Some(1), _) => {
            Scalar::by_name(parts[wanted]).ok_or_else(|| format!("`{}` is not a type", parts[wanted]))?
        }
        _ => return Err(format!("`{kind}` takes {wanted} number(s) and perhaps a type, found `{text}`")),
    };
    match kind {
        "iota" => Buffer::generate(element, parse_count(parts[0])?, |at| Number::Int(at.into())),
        "zeros" => Buffer::generate(element, parse_count(parts[0])?, |_| Number::Int(0)),
        "fill" => {
            let value = parse_number(parts[1]).ok_or_else(|| format!("`{}` is not a number", parts[1]))?;
            check_range(value, element, parts[1])?;
            Buffer::generate(element, parse_count(parts[0])?, |_| value)
        }
        _ => {
            let (seed, count) = (parse_count(parts[0])?, parse_count(parts[1])?);
            let mut generator = Random::new(seed);
            Buffer::generate(element, count, |_| random(element, &mut generator))
        }
    }
}

/// Returns a buffer of `count` structs of zeros.
fn zeros(count: u64, records: &Layout) -> Result<Buffer, String> {
    let element = records.scalar().unwrap_or(Scalar::U8);
    let numbers = records.size() / element.bytes() as u64;
    Buffer::generate(element, count.saturating_mul(numbers), |_| Number::Int(0))
}

pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    match parse_number(text) {
        Some(Number::Int(value)) if value >= 0 => u64::try_from(value).ok(),
        _ => None,
    }
    .ok_or_else(|| format!("`{text}` is not a count"))
}

/// Returns a random number of a type: an integer with all its bits, or a float from 0 up to but not including 1.
fn random(element: Scalar, generator: &mut Random) -> Number {
    let bits = generator.next();
    match element {
        // Uses only as many random bits as the significand of the float type has, so that the result is
        // exact. Rounding can therefore never give 1.
        Scalar::F16 => Number::Float((bits >> 53) as f64 / (1u64 << 11) as f64),
        Scalar::F32 => Number::Float((bits >> 40) as f64 / (1u64 << 24) as f64),
        Scalar::F64 => Number::Float((bits >> 11) as f64 / (1u64 << 53) as f64),
        _ => Number::Int(bits.into()),
    }
}

impl Buffer {
    /// Returns a copy of the buffer whose numbers have another type. Integers wrap, and floats are rounded.
    /// Conversions between integers and floats saturate.
    pub fn cast(&self, element: Scalar) -> Buffer {
        let mut bytes = Vec::with_capacity(self.numbers().count() * element.bytes());
        self.numbers().for_each(|number| encode(element, number, &mut bytes));
        Buffer { element, shape: self.shape.clone(), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_floats_stay_below_one() {
        let mut generator = Random::new(7);
        for _ in 0..10_000 {
            let Number::Float(value) = random(Scalar::F32, &mut generator) else { panic!("not a float") };
            assert!((0.0..1.0).contains(&value) && f64::from(value as f32) == value);
        }
    }
}
