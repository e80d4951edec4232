//! NumPy's `.npy` files.

use crate::buffer::Buffer;
use crate::metadata::Scalar;
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr, WriterBuilder};
use std::fmt;

/// Longest header: those of plain arrays have 118 bytes.
const MAX_HEADER: usize = 4096;
/// Deepest nesting of brackets in a header: the parser below recurses.
const MAX_NESTING: usize = 8;
/// Most elements.
const MAX_ELEMENTS: u64 = 1 << 32;

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

const TYPES: [(Scalar, char, TypeChar); 11] = [
    (Scalar::I8, 'i', TypeChar::Int),
    (Scalar::U8, 'u', TypeChar::Uint),
    (Scalar::I16, 'i', TypeChar::Int),
    (Scalar::U16, 'u', TypeChar::Uint),
    (Scalar::F16, 'f', TypeChar::Float),
    (Scalar::I32, 'i', TypeChar::Int),
    (Scalar::U32, 'u', TypeChar::Uint),
    (Scalar::F32, 'f', TypeChar::Float),
    (Scalar::I64, 'i', TypeChar::Int),
    (Scalar::U64, 'u', TypeChar::Uint),
    (Scalar::F64, 'f', TypeChar::Float),
];

/// Reads an array of numbers.
pub fn read_npy(file: &[u8]) -> Result<Buffer, NpyError> {
    check_header(file)?;
    let mut rest = file;
    let header = NpyHeader::from_reader(&mut rest).map_err(|error| NpyError(error.to_string()))?;
    let DType::Plain(ty) = header.dtype() else { return error("its elements are not plain numbers") };
    let known = TYPES
        .iter()
        .find(|(scalar, _, kind)| *kind == ty.type_char() && scalar.bytes() as u64 == ty.size_field());
    let element = match known {
        Some((scalar, ..)) => *scalar,
        None if ty.type_char() == TypeChar::Bool => Scalar::U8,
        None => return error(format!("elements of type {ty}")),
    };
    if header.order() == Order::Fortran && header.shape().iter().filter(|&&extent| extent > 1).count() > 1 {
        return error("Fortran order");
    }
    let count = header.shape().iter().try_fold(1u64, |product, extent| product.checked_mul(*extent));
    let bytes = count.and_then(|count| usize::try_from(count.checked_mul(element.bytes() as u64)?).ok());
    let Some(data) = bytes.and_then(|bytes| rest.get(..bytes)) else {
        return error(format!("shape {:?}, but {} bytes of data", header.shape(), rest.len()));
    };
    let mut bytes = data.to_vec();
    if ty.endianness() == Endianness::Big {
        bytes.chunks_exact_mut(element.bytes()).for_each(|value| value.reverse());
    }
    Ok(Buffer { element, shape: header.shape().to_vec(), bytes })
}

/// Refuses headers that would make the parser recurse or multiply without bound.
fn check_header(file: &[u8]) -> Result<(), NpyError> {
    let (start, size) = match file {
        [b'\x93', b'N', b'U', b'M', b'P', b'Y', 1, _, a, b, ..] => {
            (10, usize::from(u16::from_le_bytes([*a, *b])))
        }
        [b'\x93', b'N', b'U', b'M', b'P', b'Y', _, _, a, b, c, d, ..] => {
            (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize)
        }
        _ => return error("no magic number"),
    };
    if size > MAX_HEADER {
        return error(format!("a header of {size} bytes"));
    }
    let Some(text) = file.get(start..start + size) else { return error("the header is cut off") };
    let (mut depth, mut product, mut number) = (0usize, 1u64, 0u64);
    for &byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if byte.is_ascii_digit() {
            number = number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        } else {
            product = product.saturating_mul(number.max(1));
            number = 0;
        }
        // The element's size is one of the numbers.
        if depth > MAX_NESTING || product.saturating_mul(number.max(1)) > MAX_ELEMENTS * 8 {
            return error("too many elements");
        }
    }
    Ok(())
}

/// The file of an array.
pub fn write_npy(buffer: &Buffer) -> Result<Vec<u8>, NpyError> {
    let code = TYPES.iter().find(|(scalar, ..)| *scalar == buffer.element).map_or('u', |(_, code, _)| *code);
    let order = if buffer.element.bytes() == 1 { '|' } else { '<' };
    let ty: Result<TypeStr, _> = format!("{order}{code}{}", buffer.element.bytes()).parse();
    let ty = ty.map_err(|_| NpyError("unknown element type".into()))?;
    let mut file = Vec::new();
    write_header(&mut file, &buffer.shape, ty).map_err(|error| NpyError(error.to_string()))?;
    file.extend_from_slice(&buffer.bytes);
    Ok(file)
}

/// The header alone: the data is already laid out as the file wants it.
fn write_header(file: &mut Vec<u8>, shape: &[u64], ty: TypeStr) -> std::io::Result<()> {
    // An array of no elements has the header of that shape once its first extent is put in.
    let mut whole = Vec::new();
    let count: u64 = shape.iter().product();
    let options = npyz::WriteOptions::<Raw>::new().dtype(DType::Plain(ty)).shape(shape);
    let mut writer = options.writer(&mut whole).begin_nd()?;
    for _ in 0..count {
        writer.push(&Raw)?;
    }
    writer.finish()?;
    *file = whole;
    Ok(())
}

/// An element that writes nothing.
struct Raw;

impl npyz::Serialize for Raw {
    type TypeWriter = RawWriter;
    fn writer(_: &DType) -> Result<RawWriter, npyz::DTypeError> {
        Ok(RawWriter)
    }
}

/// Writes nothing.
struct RawWriter;

impl npyz::TypeWrite for RawWriter {
    type Value = Raw;
    fn write_one<W: std::io::Write>(&self, _: W, _: &Raw) -> std::io::Result<()>
    where
        Self: Sized,
    {
        Ok(())
    }
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
            assert_eq!(read_npy(&write_npy(&buffer).unwrap()), Ok(buffer));
        }
    }

    /// A file as NumPy 1.26 writes it: `np.array([1.5, -2.0], dtype='>f4')`.
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
