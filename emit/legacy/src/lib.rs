//! Binaries of AMD's drivers beside ROCm: OpenCL 1.x and 2.0 of Catalyst, and clover of Mesa.
//!
//! [`read`] turns the bytes of a file into a typed model, and the `write` function of each model turns the
//! model into bytes. `docs/old-formats.md` describes the formats.
//!
//! - [`opencl1`]: Catalyst up to OpenCL 1.2. One inner ELF file for each kernel, with CAL notes.
//! - [`opencl2`]: OpenCL 2.0 up to GPU-PRO. One inner ELF file for all kernels, or stubs.
//! - [`gallium`]: containers of clover.
//! - [`elf`]: the ELF files in all of these.
//!
//! Each type of the models has a function `fields`, which lists its parts as names and values for an
//! inspector.
//!
//! Files are hostile: a reader returns an error with the offset and the rule that is broken. Its time and its
//! memory are bounded by the size of the file: contents are borrowed, and records that would be copied must
//! not overlap.

mod bytes;
pub mod elf;
mod fields;
pub mod gallium;
mod kernel_code;
pub mod opencl1;
pub mod opencl2;
mod outer;
mod registers;

pub use bytes::{Error, MAX_NAME, Result, Unclaimed};
pub use fields::Field;
pub use kernel_code::KernelCode;
pub use outer::Extra;
pub use registers::{program_info_name, register_fields, register_name};

use bytes::Bytes;
use elf::Class;

/// Binary of one of the formats.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Binary<'a> {
    /// OpenCL 1.x.
    OpenCl1(opencl1::Binary<'a>),
    /// OpenCL 2.0.
    OpenCl2(opencl2::Binary<'a>),
    /// Container of clover.
    Gallium(gallium::Container<'a>),
}

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenCL 1.x.
    OpenCl1,
    /// OpenCL 2.0.
    OpenCl2,
    /// Container of clover. The container has no signature, so this is a guess.
    Gallium,
}

/// Binary that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Read<'a> {
    /// The binary.
    pub binary: Binary<'a>,
    /// Bytes of the file that belong to no record. Bytes between records that are zero are not listed.
    pub unclaimed: Vec<Unclaimed>,
}

/// Returns the format of a file by its first bytes. `None` if the file is of no format of this package.
pub fn format(data: &[u8]) -> Option<Format> {
    if data.starts_with(b"\x7fELF") {
        let class = match data.get(4)? {
            1 => Class::Elf32,
            2 => Class::Elf64,
            _ => return None,
        };
        let machine = u16::from_le_bytes(*data.get(18..)?.first_chunk()?);
        let os_abi = data[7];
        return match machine {
            _ if opencl2::is_machine(class, machine) => Some(Format::OpenCl2),
            _ if opencl1::is_machine(machine) && os_abi == 0 => Some(Format::OpenCl1),
            _ => None,
        };
    }
    // The number of kernels and the length of the first name.
    let word = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let (kernels, length) = (word(0)?, word(4)?);
    let name = data.get(8..)?.get(..length as usize)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    (kernels > 0 && !name.is_empty() && name.iter().all(is_name)).then_some(Format::Gallium)
}

/// Reads a binary of any of the formats.
///
/// # Errors
/// If the file is of none of the formats, or breaks a rule of its format.
pub fn read(data: &[u8]) -> Result<Read<'_>> {
    let bytes = Bytes::new(data);
    match format(data) {
        Some(Format::OpenCl1) => opencl1::read(bytes).map(|read| Read::new(Binary::OpenCl1(read.0), read.1)),
        Some(Format::OpenCl2) => opencl2::read(bytes).map(|read| Read::new(Binary::OpenCl2(read.0), read.1)),
        Some(Format::Gallium) => gallium::read(bytes).map(|read| Read::new(Binary::Gallium(read.0), read.1)),
        None => Err(bytes.error(0, "the file is neither a binary of AMD's OpenCL drivers nor of clover")),
    }
}

impl<'a> Read<'a> {
    fn new(binary: Binary<'a>, unclaimed: Vec<Unclaimed>) -> Read<'a> {
        Read { binary, unclaimed }
    }
}

impl Binary<'_> {
    /// Writes the binary.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Binary::OpenCl1(binary) => binary.write(),
            Binary::OpenCl2(binary) => binary.write(),
            Binary::Gallium(container) => container.write(),
        }
    }
}
