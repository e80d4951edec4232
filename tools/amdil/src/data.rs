//! The bytes of a data segment.

use crate::model::{DataSegment, DataVector};
use crate::text::Radix;
use crate::words::DataType;
use std::fmt;

/// Why a data segment has no bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataError {
    /// The segment is larger than the caller takes.
    Size(u32),
    /// The type of the vector with this index has no size.
    Type(usize),
    /// A number of the vector with this index is not of the radix, or does not fit into its type.
    Number(usize),
    /// The vector with this index does not end within the segment.
    End(usize),
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataError::Size(size) => write!(f, "the data segment has {size} bytes, which is too much"),
            DataError::Type(index) => write!(f, "the type of data vector {index} has no size"),
            DataError::Number(index) => write!(f, "a number of data vector {index} does not fit its type"),
            DataError::End(index) => write!(f, "data vector {index} does not end within the segment"),
        }
    }
}

impl std::error::Error for DataError {}

impl DataSegment {
    /// Returns the bytes of the segment, with zeros where no vector is. The radix says how integers are read;
    /// floating-point numbers, and the bytes of structures and unions, are hexadecimal.
    ///
    /// # Errors
    /// If the segment has more than `most` bytes, or a vector does not fit.
    pub fn bytes(&self, radix: Radix, most: u32) -> Result<Vec<u8>, DataError> {
        if self.size > most {
            return Err(DataError::Size(self.size));
        }
        let mut bytes = vec![0; self.size as usize];
        for (index, vector) in self.vectors.iter().enumerate() {
            let size = vector.element_size().ok_or(DataError::Type(index))?;
            let radix = match vector.ty {
                DataType::Half | DataType::Float | DataType::Double => Radix::Hexadecimal,
                DataType::Struct | DataType::Union => Radix::Hexadecimal,
                _ => radix,
            };
            let mut at = vector.offset as usize;
            for number in vector.values.numbers(radix) {
                let number = number.ok_or(DataError::Number(index))?.to_le_bytes();
                let (low, high) = number.split_at(size as usize);
                if high.iter().any(|byte| *byte != 0) {
                    return Err(DataError::Number(index));
                }
                let target = bytes.get_mut(at..at + low.len()).ok_or(DataError::End(index))?;
                target.copy_from_slice(low);
                at += low.len();
            }
        }
        Ok(bytes)
    }
}

impl DataVector {
    /// Returns the size of a number in bytes: that of the type, 1 for structures and unions, none for types
    /// that data cannot have.
    pub fn element_size(&self) -> Option<u32> {
        match self.ty {
            DataType::Struct | DataType::Union => (self.lanes == 1).then_some(1),
            ty => ty.size(),
        }
    }
}
