//! Constant buffer 1: the arguments of a kernel.
//!
//! An argument takes whole vectors of 16 bytes. [`elements`] says what is at which byte of an argument,
//! [`lay_out`] gives each argument its place as a compiler does, and [`pack`] writes values to the places
//! that a description states.

use crate::model::{ArgumentKind, Block, Place};
use crate::words::{DataType, Flag};
use std::fmt;

/// Size of a vector of a constant buffer in bytes.
pub const VECTOR: u32 = 16;

/// First byte of arguments in constant buffer 0 (seed 003, line 219).
pub const FIRST_IN_BUFFER_0: u32 = 96;

/// Most bytes of a constant buffer: 4096 vectors.
pub const MOST_BYTES: u32 = 65_536;

/// What an element of an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meaning {
    /// The component of a value with this index.
    Component(u32),
    /// A structure, a union or another value without components.
    Whole,
    /// Offset of what a pointer points to, in its memory.
    PointerOffset,
    /// Width of an image, as an integer.
    Width,
    /// Height of an image, as an integer.
    Height,
    /// Depth of an image, 1 for planes, as an integer.
    Depth,
    /// Type of the data of an image.
    DataType,
    /// Offset of an image (R7xx).
    ImageOffset,
    /// Order of the channels of an image.
    ChannelOrder,
    /// 1.0 divided by the width.
    InverseWidth,
    /// 1.0 divided by the height.
    InverseHeight,
    /// 1.0 divided by the depth.
    InverseDepth,
    /// Bytes of a row (R7xx).
    RowPitch,
    /// Bytes of a plane (R7xx).
    SlicePitch,
    /// Nothing: the runtime binds the resource, and the kernel reads no constant.
    Reserved,
}

/// An element of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Offset from the start of the argument in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What the element is.
    pub meaning: Meaning,
}

/// How pointers and images are laid out, which depends on the device and the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Abi {
    /// Pointers have 64 bits ([`Flag::Abi64`]).
    pub wide: bool,
    /// Images have the elements of R7xx.
    pub r700: bool,
}

impl Abi {
    /// Returns how a block's arguments are laid out; a block without a device is not one of R7xx.
    pub fn of(block: &Block) -> Abi {
        let device = block.records.iter().find_map(|record| match record {
            crate::Record::Device(name) => crate::generation(name.as_str()),
            _ => None,
        });
        Abi { wide: block.has(Flag::Abi64), r700: device == Some(crate::Generation::R700) }
    }
}

/// Returns the elements of an argument, in the order of their offsets.
///
/// Components of 32 and 64 bits follow each other. Of components of 8 and 16 bits, four follow each other,
/// and the next four begin at the next vector (seed 003, lines 243 and 247). A boolean takes 32 bits (line
/// 223).
pub fn elements(kind: &ArgumentKind, abi: Abi) -> Vec<Element> {
    let element = |offset, size, meaning| Element { offset, size, meaning };
    match *kind {
        ArgumentKind::Value { ty, count } => match ty.size() {
            Some(size) if (1..=16).contains(&count) => (0..count)
                .map(|index| {
                    let offset = if size < 4 { index / 4 * VECTOR + index % 4 * size } else { index * size };
                    element(offset, size, Meaning::Component(index))
                })
                .collect(),
            Some(size) => vec![element(0, size.saturating_mul(count), Meaning::Whole)],
            None if matches!(ty, DataType::Struct | DataType::Union) => {
                vec![element(0, count, Meaning::Whole)]
            }
            None => vec![element(0, VECTOR, Meaning::Whole)],
        },
        ArgumentKind::Pointer(_) => {
            vec![element(0, if abi.wide { 8 } else { 4 }, Meaning::PointerOffset)]
        }
        ArgumentKind::Image { .. } => {
            let meanings = if abi.r700 { IMAGE_R700 } else { IMAGE };
            meanings.iter().zip(0..).map(|(meaning, index)| element(index * 4, 4, *meaning)).collect()
        }
        ArgumentKind::Counter { .. } | ArgumentKind::Semaphore { .. } => {
            vec![element(0, VECTOR, Meaning::Reserved)]
        }
    }
}

/// Elements of an image on R7xx (seed 003, line 255).
const IMAGE_R700: [Meaning; 8] = [
    Meaning::Width,
    Meaning::Height,
    Meaning::Depth,
    Meaning::ImageOffset,
    Meaning::DataType,
    Meaning::ChannelOrder,
    Meaning::RowPitch,
    Meaning::SlicePitch,
];

/// Elements of an image on R8xx (seed 003, line 255), and on later devices (ROCclr,
/// `device/gpu/gpukernel.hpp`, `ImageConstants`).
const IMAGE: [Meaning; 8] = [
    Meaning::Width,
    Meaning::Height,
    Meaning::Depth,
    Meaning::DataType,
    Meaning::InverseWidth,
    Meaning::InverseHeight,
    Meaning::InverseDepth,
    Meaning::ChannelOrder,
];

/// Returns the bytes that an argument takes: its elements, rounded up to whole vectors, at least one.
///
/// Vectors of three elements take the room of three (one vector of 16 bytes for three of 32 bits, two for
/// three of 64 bits), as the document says "for each 128 bits that they require".
pub fn size(kind: &ArgumentKind) -> u64 {
    // Neither the width of pointers nor the elements of images change the count of vectors.
    let end =
        elements(kind, Abi::default()).into_iter().map(|last| u64::from(last.offset) + u64::from(last.size));
    end.max().unwrap_or(0).max(1).next_multiple_of(VECTOR.into())
}

/// Returns the places of arguments in a constant buffer, one after the other, and the bytes of the buffer.
/// Arguments begin at byte 96 of constant buffer 0, and at byte 0 of any other.
///
/// Drivers with metadata of version 3.1 give a vector of three 64-bit elements one vector of 16 bytes only;
/// with `short_triples`, so does this function.
///
/// # Errors
/// The index of the first argument that does not end within the buffer.
pub fn lay_out(buffer: u32, kinds: &[ArgumentKind], short_triples: bool) -> Result<(Vec<Place>, u32), usize> {
    let mut at = if buffer == 0 { FIRST_IN_BUFFER_0 } else { 0 };
    let mut places = Vec::with_capacity(kinds.len());
    for (index, kind) in kinds.iter().enumerate() {
        let triple = matches!(kind, ArgumentKind::Value { ty, count: 3 } if ty.size() == Some(8));
        let size = if triple && short_triples { u64::from(VECTOR) } else { size(kind) };
        places.push(Place { buffer, offset: at });
        let end = u64::from(at) + size;
        if end > u64::from(MOST_BYTES) {
            return Err(index);
        }
        at = end as u32;
    }
    Ok((places, at))
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArgumentValue {
    /// The bytes of a value as OpenCL lays them out: components one after the other. Of a boolean, one byte a
    /// component; of three components, three or four. A sampler has the four bytes of its state.
    Bytes(Vec<u8>),
    /// Offset of what a pointer points to.
    Pointer(u64),
    /// An image.
    Image(Image),
    /// Counters and semaphores have no constant.
    Bound,
}

/// What a kernel can know about an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels, 1 for lines.
    pub height: u32,
    /// Depth in pixels, 1 for planes.
    pub depth: u32,
    /// Number of OpenCL for the type of the channels.
    pub data_type: u32,
    /// Number of OpenCL for the order of the channels.
    pub channel_order: u32,
    /// Offset of the data (R7xx).
    pub offset: u32,
    /// Bytes of a row (R7xx).
    pub row_pitch: u32,
    /// Bytes of a plane (R7xx).
    pub slice_pitch: u32,
}

/// Why values cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackError {
    /// There are not as many values as arguments.
    Count {
        /// Count of arguments.
        arguments: usize,
        /// Count of values.
        values: usize,
    },
    /// The value of the argument with this index is not of the argument's kind.
    Kind(usize),
    /// The value of an argument has another size.
    Size {
        /// Index of the argument.
        argument: usize,
        /// Size of the argument in bytes.
        expected: usize,
        /// Size of the value in bytes.
        found: usize,
    },
    /// The offset of the pointer with this index has more than 32 bits, and the kernel has pointers of 32
    /// bits.
    Wide(usize),
    /// The argument with this index does not end within its constant buffer.
    End(usize),
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackError::Count { arguments, values } => {
                write!(f, "the kernel has {arguments} arguments, and there are {values} values")
            }
            PackError::Kind(argument) => {
                write!(f, "the value of argument {argument} is not of the argument's kind")
            }
            PackError::Size { argument, expected, found } => {
                write!(f, "argument {argument} has {expected} bytes, and its value has {found}")
            }
            PackError::Wide(argument) => {
                write!(f, "the offset of pointer {argument} has more than 32 bits")
            }
            PackError::End(argument) => {
                write!(f, "argument {argument} does not end within the {MOST_BYTES} bytes of its buffer")
            }
        }
    }
}

impl std::error::Error for PackError {}

/// A filled constant buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Number of the buffer.
    pub number: u32,
    /// The bytes, whole vectors.
    pub bytes: Vec<u8>,
}

/// Returns the constant buffers with the arguments of a kernel at the places that its description states, in
/// the order of the buffers' numbers.
///
/// # Errors
/// If a value does not fit its argument.
pub fn pack(block: &Block, values: &[ArgumentValue]) -> Result<Vec<Buffer>, PackError> {
    let arguments: Vec<_> = block.arguments().collect();
    if arguments.len() != values.len() {
        return Err(PackError::Count { arguments: arguments.len(), values: values.len() });
    }
    let abi = Abi::of(block);
    let mut buffers: Vec<Buffer> = Vec::new();
    for (index, (argument, value)) in arguments.iter().zip(values).enumerate() {
        let end = u64::from(argument.place.offset) + size(&argument.kind);
        if end > u64::from(MOST_BYTES) {
            return Err(PackError::End(index));
        }
        let number = argument.place.buffer;
        let at = match buffers.binary_search_by_key(&number, |buffer| buffer.number) {
            Ok(at) => at,
            Err(at) => {
                buffers.insert(at, Buffer { number, bytes: Vec::new() });
                at
            }
        };
        let bytes = &mut buffers[at].bytes;
        let end = (end as usize).next_multiple_of(VECTOR as usize);
        bytes.resize(bytes.len().max(end), 0);
        let target = &mut bytes[argument.place.offset as usize..];
        place_value(index, &argument.kind, abi, value, target)?;
    }
    Ok(buffers)
}

/// Writes a value to the bytes of its argument.
fn place_value(
    index: usize,
    kind: &ArgumentKind,
    abi: Abi,
    value: &ArgumentValue,
    target: &mut [u8],
) -> Result<(), PackError> {
    let elements = elements(kind, abi);
    let mut put = |element: &Element, bytes: &[u8]| {
        let start = element.offset as usize;
        target[start..start + bytes.len()].copy_from_slice(bytes);
    };
    match (kind, value) {
        (ArgumentKind::Value { ty, count }, ArgumentValue::Bytes(bytes)) => {
            let boolean = *ty == DataType::I1;
            let width = |element: &Element| if boolean { 1 } else { element.size as usize };
            let expected: usize = elements.iter().map(width).sum();
            let padded = if *count == 3 && ty.size().is_some() { expected / 3 * 4 } else { expected };
            if bytes.len() != expected && bytes.len() != padded {
                return Err(PackError::Size { argument: index, expected, found: bytes.len() });
            }
            let mut at = 0;
            for element in &elements {
                let end = at + width(element);
                if boolean {
                    put(element, &u32::from(bytes[at] & 1).to_le_bytes());
                } else {
                    put(element, &bytes[at..end]);
                }
                at = end;
            }
        }
        (ArgumentKind::Pointer(_), ArgumentValue::Pointer(offset)) => {
            for element in &elements {
                if element.size == 4 && *offset > u64::from(u32::MAX) {
                    return Err(PackError::Wide(index));
                }
                put(element, &offset.to_le_bytes()[..element.size as usize]);
            }
        }
        (ArgumentKind::Image { .. }, ArgumentValue::Image(image)) => {
            for element in &elements {
                put(element, &image.constant(element.meaning).to_le_bytes());
            }
        }
        (ArgumentKind::Counter { .. } | ArgumentKind::Semaphore { .. }, ArgumentValue::Bound) => {}
        _ => return Err(PackError::Kind(index)),
    }
    Ok(())
}

impl Image {
    /// Returns the constant of an image with the given meaning, 0 for what is not of an image.
    pub fn constant(&self, meaning: Meaning) -> u32 {
        match meaning {
            Meaning::Width => self.width,
            Meaning::Height => self.height,
            Meaning::Depth => self.depth,
            Meaning::DataType => self.data_type,
            Meaning::ImageOffset => self.offset,
            Meaning::ChannelOrder => self.channel_order,
            Meaning::InverseWidth => (1.0 / self.width as f32).to_bits(),
            Meaning::InverseHeight => (1.0 / self.height as f32).to_bits(),
            Meaning::InverseDepth => (1.0 / self.depth as f32).to_bits(),
            Meaning::RowPitch => self.row_pitch,
            Meaning::SlicePitch => self.slice_pitch,
            Meaning::Component(_) | Meaning::Whole | Meaning::PointerOffset | Meaning::Reserved => 0,
        }
    }
}
