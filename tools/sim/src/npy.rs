//! Reads and writes NumPy's `.npy` files.
//!
//! # Source
//! NumPy's documentation, "A simple file format for NumPy arrays": magic number, version, length of the
//! header, the header as a Python dictionary literal, the elements.

use crate::buffer::Buffer;
use crate::metadata::Scalar;
use std::fmt;

/// Maximum length of a header that is accepted. The headers of plain arrays have 118 bytes.
const MAX_HEADER: usize = 4096;
/// Maximum number of elements of an array that is accepted.
const MAX_ELEMENTS: u64 = 1 << 32;
const MAGIC: &[u8] = b"\x93NUMPY";
/// Alignment of the array's data. The header is padded to it.
const ALIGN: usize = 64;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyError(String);

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a usable .npy file: {}", self.0)
    }
}

impl std::error::Error for NpyError {}

fn error<T>(why: impl Into<String>) -> Result<T, NpyError> {
    Err(NpyError(why.into()))
}

/// Element types with the names that they have in the field `descr` of the header, after the letter for the
/// byte order. If a type has several names, this module writes the first one.
const TYPES: [(Scalar, &str); 13] = [
    (Scalar::I8, "i1"),
    (Scalar::U8, "u1"),
    (Scalar::U8, "b1"),
    (Scalar::U8, "?"),
    (Scalar::I16, "i2"),
    (Scalar::U16, "u2"),
    (Scalar::F16, "f2"),
    (Scalar::I32, "i4"),
    (Scalar::U32, "u4"),
    (Scalar::F32, "f4"),
    (Scalar::I64, "i8"),
    (Scalar::U64, "u8"),
    (Scalar::F64, "f8"),
];

/// The contents of the header of a file.
#[derive(Default)]
struct Header {
    descr: String,
    is_fortran: bool,
    shape: Vec<u64>,
}

/// Reads an array of numbers.
///
/// # Errors
/// The file is not in the format `.npy`, or has elements or an order that the emulator does not support.
pub fn read_npy(file: &[u8]) -> Result<Buffer, NpyError> {
    let (text, data) = split(file)?;
    let Header { descr, is_fortran, shape } = Literal(text).header()?;
    let ty = descr.trim_start_matches(['<', '>', '|', '=']);
    let Some((element, _)) = TYPES.into_iter().find(|(_, name)| *name == ty) else {
        return error(format!("elements of type {descr}"));
    };
    if is_fortran && shape.iter().filter(|&&extent| extent > 1).count() > 1 {
        return error("Fortran order");
    }
    let count = shape.iter().try_fold(1u64, |product, extent| product.checked_mul(*extent));
    let Some(count) = count.filter(|count| *count <= MAX_ELEMENTS) else { return error("too many elements") };
    let bytes = usize::try_from(count * element.bytes() as u64).ok();
    let Some(data) = bytes.and_then(|bytes| data.get(..bytes)) else {
        return error(format!("shape {shape:?}, but {} bytes of data", data.len()));
    };
    let mut bytes = data.to_vec();
    if descr.starts_with('>') {
        bytes.chunks_exact_mut(element.bytes()).for_each(|value| value.reverse());
    }
    Ok(Buffer { element, shape, bytes })
}

/// Returns the header's text, and the data after the header.
fn split(file: &[u8]) -> Result<(&str, &[u8]), NpyError> {
    let Some([version, _, rest @ ..]) = file.strip_prefix(MAGIC) else { return error("no magic number") };
    let (size, rest) = match (version, rest) {
        (1, [a, b, rest @ ..]) => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        (2.., [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return error("the header is cut off"),
    };
    if size > MAX_HEADER {
        return error(format!("a header of {size} bytes"));
    }
    let Some((text, data)) = rest.split_at_checked(size) else { return error("the header is cut off") };
    std::str::from_utf8(text).map_or_else(|_| error("the header is no text"), |text| Ok((text, data)))
}

/// The part of a header that is not parsed yet.
struct Literal<'t>(&'t str);

impl<'t> Literal<'t> {
    /// Parses the dictionary that a header contains.
    fn header(mut self) -> Result<Header, NpyError> {
        let mut header = Header::default();
        self.expect('{')?;
        while !self.take('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" => header.descr = self.string()?.to_owned(),
                "fortran_order" => header.is_fortran = self.boolean()?,
                "shape" => header.shape = self.tuple()?,
                _ => return error(format!("the header has a key `{key}`")),
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(header)
    }

    fn take(&mut self, sign: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, sign: char) -> Result<(), NpyError> {
        if self.take(sign) { Ok(()) } else { error(format!("the header lacks a `{sign}`")) }
    }

    fn string(&mut self) -> Result<&'t str, NpyError> {
        let quote = if self.take('"') { '"' } else { '\'' };
        let open = quote == '"' || self.take(quote);
        let Some((text, rest)) = self.0.split_once(quote).filter(|_| open) else {
            return error("its elements are not plain numbers");
        };
        self.0 = rest;
        Ok(text)
    }

    fn word(&mut self) -> &'t str {
        let text = self.0.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        word
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            word => error(format!("`{word}` is neither True nor False")),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        let mut numbers = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            // Python 2 writes an L after long integers.
            let word = self.word();
            let Ok(number) = word.trim_end_matches('L').parse() else {
                return error(format!("`{word}` is no extent"));
            };
            numbers.push(number);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }
}

/// Returns the bytes of a `.npy` file with the array.
pub fn write_npy(buffer: &Buffer) -> Vec<u8> {
    let name = TYPES.iter().find(|(scalar, _)| *scalar == buffer.element).map_or("u1", |(_, name)| *name);
    let order = if buffer.element.bytes() == 1 { '|' } else { '<' };
    let shape: String = buffer.shape.iter().map(|extent| format!("{extent}, ")).collect();
    // A Python tuple with one element has a trailing comma.
    let shape = if buffer.shape.len() > 1 { shape.trim_end_matches(", ") } else { shape.trim_end() };
    let mut text = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({shape}), }}");
    let preamble = MAGIC.len() + 4;
    let end = (preamble + text.len() + 1).next_multiple_of(ALIGN) - 1 - preamble;
    text.extend(std::iter::repeat_n(' ', end - text.len()));
    text.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend_from_slice(&buffer.bytes);
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Number;

    #[test]
    fn round_trip() {
        for (element, ..) in TYPES {
            let mut buffer = Buffer::generate(element, 6, |at| Number::Int(at as i128 * 3)).unwrap();
            buffer.shape = vec![2, 3];
            assert_eq!(read_npy(&write_npy(&buffer)), Ok(buffer));
        }
    }

    /// A file as NumPy 1.26 writes it for `np.array([1.5, -2.0], dtype='>f4')`.
    #[test]
    fn numpy_file() {
        let mut file =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }".to_vec();
        file.resize(127, b' ');
        file.push(b'\n');
        file.extend([0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0]);
        assert_eq!(read_npy(&file).unwrap().to_string(), "1.5, -2.0");
        assert!(read_npy(&file[..file.len() - 1]).is_err());
    }

    #[test]
    fn absurd_headers() {
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
            &"[".repeat(4000),
        ] {
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((text.len() as u16).to_le_bytes());
            file.extend(text.as_bytes());
            assert!(read_npy(&file).is_err());
        }
    }
}
