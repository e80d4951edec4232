//! The inner ELF file of drivers since 15.11: notes, kernels and samplers.
//!
//! # Source
//! AMD's HSA runtime, `inc/amd_hsa_elf.h`, for notes, samplers, segments and types of symbols and
//! relocations.

use crate::bytes::{Bytes, Cursor, Output, Result};
use crate::elf::{Object, Place, Symbol};
use crate::fields::{Field, List, named};
use crate::kernel_code::KernelCode;

/// Type of the symbols of kernels.
pub const SYMBOL_KERNEL: u8 = 10;
/// Type of the symbols of samplers and images.
pub const SYMBOL_METADATA: u8 = 12;

/// Kinds of segments and what a loader does with them.
pub static SEGMENTS: &[(u32, &str)] = &[
    (0x6000_0000, "global program"),
    (0x6000_0001, "global agent"),
    (0x6000_0002, "readonly agent"),
    (0x6000_0003, "code agent"),
];

/// Types of relocations.
pub static RELOCATIONS: &[(u32, &str)] =
    &[(0, "NONE"), (1, "32_LOW"), (2, "32_HIGH"), (3, "64"), (4, "INIT_SAMPLER"), (5, "INIT_IMAGE")];

/// Note named `AMD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note<'a> {
    /// Type 1: version of the code object.
    Version {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
    },
    /// Type 2: what HSAIL the code was made from.
    Hsail {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
        /// 0 is the base profile, 1 the full profile.
        profile: u8,
        /// 0 is the small machine model (32 bits), 1 the large one (64 bits).
        model: u8,
        /// Default rounding mode: 0 is none, 1 towards zero, 2 to the nearest.
        rounding: u8,
        /// Bytes behind the fields.
        rest: &'a [u8],
    },
    /// Type 3: the instruction set.
    Isa {
        /// Vendor and architecture, each with the NUL at its end, if the note has the NUL.
        names: [&'a [u8]; 2],
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
        /// Stepping.
        stepping: u32,
        /// Bytes behind the names.
        rest: &'a [u8],
    },
    /// Type 4: the program that made the code.
    Producer {
        /// Name.
        name: &'a [u8],
        /// Reserved.
        reserved: u16,
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
        /// Bytes behind the name.
        rest: &'a [u8],
    },
    /// Type 5: options of the producer.
    Options {
        /// Options.
        text: &'a [u8],
        /// Bytes behind the options. Some drivers leave them uninitialised.
        rest: &'a [u8],
    },
    /// A note of another name or type, or one that is too short for its type.
    Other {
        /// Name.
        name: &'a [u8],
        /// Type.
        kind: u32,
        /// Contents.
        data: &'a [u8],
    },
}

const NAME: &[u8] = b"AMD\0";

/// Reads the notes of a section.
pub(crate) fn read_notes<'a>(bytes: Bytes<'a>) -> Result<Vec<Note<'a>>> {
    let what = "a note";
    let mut notes = Vec::new();
    let mut cursor = bytes.cursor();
    while !cursor.is_at_end() {
        let (name_size, size, kind) = (cursor.u32(what)?, cursor.u32(what)?, cursor.u32(what)?);
        let name = take_padded(&mut cursor, name_size, "the name of a note")?;
        let data = take_padded(&mut cursor, size, "the contents of a note")?;
        let decoded = if name.data == NAME { decode(kind, data)? } else { None };
        notes.push(decoded.unwrap_or(Note::Other { name: name.data, kind, data: data.data }));
    }
    Ok(notes)
}

/// Takes bytes and the padding to a multiple of 4. The padding of the last note may be missing.
fn take_padded<'a>(cursor: &mut Cursor<'a>, size: u32, what: &str) -> Result<Bytes<'a>> {
    let bytes = cursor.take(u64::from(size), what)?;
    cursor.at = cursor.at.next_multiple_of(4).min(cursor.bytes.len());
    Ok(bytes)
}

/// Returns a note by its type. `None` if the contents are too short for the type.
fn decode<'a>(kind: u32, data: Bytes<'a>) -> Result<Option<Note<'a>>> {
    let least = [u64::MAX, 8, 11, 16, 12, 2].get(kind as usize).copied().unwrap_or(u64::MAX);
    if data.len() < least {
        return Ok(None);
    }
    let what = "a note";
    let mut cursor = data.cursor();
    let bytes = &mut cursor;
    // A size may count the NUL that is missing at the end of the note.
    let take = |bytes: &mut Cursor<'a>, size: u16| {
        let left = bytes.bytes.len() - bytes.at;
        bytes.take(u64::from(size).min(left), what).map(|bytes| bytes.data)
    };
    Ok(Some(match kind {
        1 if data.len() == 8 => Note::Version { major: bytes.u32(what)?, minor: bytes.u32(what)? },
        2 => Note::Hsail {
            major: bytes.u32(what)?,
            minor: bytes.u32(what)?,
            profile: bytes.u8(what)?,
            model: bytes.u8(what)?,
            rounding: bytes.u8(what)?,
            rest: bytes.rest().data,
        },
        3 => {
            let sizes = [bytes.u16(what)?, bytes.u16(what)?];
            if u64::from(sizes[0]) + u64::from(sizes[1]) > data.len() - 16 + 1 {
                return Ok(None);
            }
            let (major, minor, stepping) = (bytes.u32(what)?, bytes.u32(what)?, bytes.u32(what)?);
            let names = [take(bytes, sizes[0])?, take(bytes, sizes[1])?];
            Note::Isa { names, major, minor, stepping, rest: bytes.rest().data }
        }
        4 => {
            let (size, reserved) = (bytes.u16(what)?, bytes.u16(what)?);
            if u64::from(size) > data.len() - 12 {
                return Ok(None);
            }
            let (major, minor) = (bytes.u32(what)?, bytes.u32(what)?);
            let name = take(bytes, size)?;
            Note::Producer { name, reserved, major, minor, rest: bytes.rest().data }
        }
        5 => {
            let size = bytes.u16(what)?;
            if u64::from(size) > data.len() - 2 {
                return Ok(None);
            }
            Note::Options { text: take(bytes, size)?, rest: bytes.rest().data }
        }
        _ => return Ok(None),
    }))
}

impl<'a> Note<'a> {
    /// Returns the notes of a driver's code for a version of the instruction set.
    pub fn of_driver(isa: (u32, u32, u32), model: u8) -> Vec<Note<'a>> {
        vec![
            Note::Version { major: 1, minor: 0 },
            Note::Hsail { major: 1, minor: 0, profile: 1, model, rounding: 1, rest: &[0] },
            Note::Isa {
                names: [b"AMD\0", b"AMDGPU"],
                major: isa.0,
                minor: isa.1,
                stepping: isa.2,
                rest: &[],
            },
            Note::Producer {
                name: b"AMD HSA Runtime Finalizer",
                reserved: 0,
                major: 1,
                minor: 0,
                rest: &[0; 4],
            },
            Note::Options { text: b"-hsa_call_convention=0", rest: &[0; 2] },
        ]
    }

    /// Writes notes as the contents of a section.
    pub fn write(notes: &[Note]) -> Vec<u8> {
        let mut section = Output::default();
        for note in notes {
            let (name, kind, data) = note.encode();
            section.u32(name.len() as u32);
            section.u32(data.len() as u32);
            section.u32(kind);
            section.bytes(name);
            section.align(4);
            section.bytes(&data);
            section.align(4);
        }
        section.data
    }

    fn encode(&self) -> (&'a [u8], u32, Vec<u8>) {
        let mut data = Output::default();
        let kind = match *self {
            Note::Version { major, minor } => {
                data.u32(major);
                data.u32(minor);
                1
            }
            Note::Hsail { major, minor, profile, model, rounding, rest } => {
                data.u32(major);
                data.u32(minor);
                data.bytes(&[profile, model, rounding]);
                data.bytes(rest);
                2
            }
            Note::Isa { names, major, minor, stepping, rest } => {
                // The driver counts the NUL of the architecture, and does not write the NUL.
                let missing = u16::from(rest.is_empty() && !names[1].ends_with(&[0]));
                data.u16(names[0].len() as u16);
                data.u16(names[1].len() as u16 + missing);
                [major, minor, stepping].into_iter().for_each(|word| data.u32(word));
                names.into_iter().chain([rest]).for_each(|bytes| data.bytes(bytes));
                3
            }
            Note::Producer { name, reserved, major, minor, rest } => {
                data.u16(name.len() as u16);
                data.u16(reserved);
                data.u32(major);
                data.u32(minor);
                data.bytes(name);
                data.bytes(rest);
                4
            }
            Note::Options { text, rest } => {
                data.u16(text.len() as u16);
                data.bytes(text);
                data.bytes(rest);
                5
            }
            Note::Other { name, kind, data: bytes } => return (name, kind, bytes.to_vec()),
        };
        (NAME, kind, data.data)
    }

    /// Returns the fields of the note.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        match *self {
            Note::Version { major, minor } => list.add("code object version", format!("{major}.{minor}")),
            Note::Hsail { major, minor, profile, model, rounding, .. } => {
                list.add("HSAIL version", format!("{major}.{minor}"));
                list.named("profile", profile.into(), named(&[(0, "base"), (1, "full")], profile));
                list.named("machine model", model.into(), named(&[(0, "small"), (1, "large")], model));
                let roundings = [(0, "none"), (1, "zero"), (2, "near")];
                list.named("default rounding", rounding.into(), named(&roundings, rounding));
            }
            Note::Isa { names: [vendor, architecture], major, minor, stepping, rest } => {
                list.text("vendor", without_nul(vendor));
                list.text("architecture", without_nul(architecture));
                list.add("instruction set", format!("{major}.{minor}.{stepping}"));
                list.add("unused bytes", crate::kernel_code::hexadecimal(rest));
            }
            Note::Producer { name, reserved, major, minor, rest } => {
                list.text("producer", without_nul(name));
                list.add("producer version", format!("{major}.{minor}"));
                list.add("reserved", reserved);
                list.add("unused bytes", crate::kernel_code::hexadecimal(rest));
            }
            Note::Options { text, rest } => {
                list.text("producer options", without_nul(text));
                list.add("unused bytes", crate::kernel_code::hexadecimal(rest));
            }
            Note::Other { name, kind, data } => {
                list.text("note name", without_nul(name));
                list.add("note type", kind);
                list.add("contents", crate::kernel_code::hexadecimal(data));
            }
        }
        list.0
    }
}

fn without_nul(text: &[u8]) -> &[u8] {
    text.strip_suffix(&[0]).unwrap_or(text)
}

/// Kernel in the inner file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeKernel<'a> {
    /// Name without `&__OpenCL_` and `_kernel`.
    pub name: &'a str,
    /// Offset of the header in `.hsatext`.
    pub offset: u64,
    /// Header.
    pub header: KernelCode<'a>,
    /// Bytes from the first instruction on.
    pub code: &'a [u8],
}

impl CodeKernel<'_> {
    /// Returns the fields of the kernel, without those of the header.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        list.hex("offset", self.offset);
        list.size("code", self.code);
        list.0
    }
}

/// Returns the kernels of the inner file.
pub(crate) fn kernels<'a>(object: &Object<'a>) -> Result<Vec<CodeKernel<'a>>> {
    let mut kernels = Vec::new();
    for symbol in object.symbols.iter().filter(|symbol| symbol.kind == SYMBOL_KERNEL) {
        let Place::Section(section) = symbol.place else { continue };
        let bytes = object.sections[section].bytes();
        let what = "the kernel of a symbol";
        let kernel = bytes.part(symbol.value, symbol.size, what)?;
        let header = KernelCode::read(kernel)?;
        let code = code_of(kernel, header)?;
        let name = symbol.name.strip_prefix("&__OpenCL_").unwrap_or(symbol.name);
        let name = name.strip_suffix("_kernel").unwrap_or(name);
        kernels.push(CodeKernel { name, offset: symbol.value, header, code });
    }
    Ok(kernels)
}

/// Returns the code of a kernel by the entry in its header.
pub(crate) fn code_of<'a>(kernel: Bytes<'a>, header: KernelCode) -> Result<&'a [u8]> {
    let entry = u64::try_from(header.entry()).ok().filter(|&entry| entry <= kernel.len());
    let entry = entry.ok_or_else(|| {
        kernel.error(16, format!("the entry {:#x} is not within the kernel's bytes", header.entry()))
    })?;
    Ok(&kernel.data[entry as usize..])
}

/// Sampler that a program defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampler {
    /// Size of the descriptor in bytes: 8.
    pub size: u16,
    /// Kind of the descriptor: 1 is a sampler.
    pub kind: u16,
    /// Coordinates: 0 is not normalized, 1 is normalized.
    pub coordinates: u8,
    /// Filter: 0 is nearest, 1 is linear.
    pub filter: u8,
    /// Addressing: 0 is undefined, 1 clamp to edge, 2 clamp to border, 3 repeat, 4 mirrored repeat.
    pub addressing: u8,
    /// Reserved.
    pub reserved: u8,
}

impl Sampler {
    /// Returns a sampler.
    pub fn new(coordinates: u8, filter: u8, addressing: u8) -> Sampler {
        Sampler { size: 8, kind: 1, coordinates, filter, addressing, reserved: 0 }
    }

    /// Writes samplers as the contents of `.hsaimage_samplerinit`.
    pub fn write(samplers: &[Sampler]) -> Vec<u8> {
        let mut section = Output::default();
        for sampler in samplers {
            section.u16(sampler.size);
            section.u16(sampler.kind);
            section.bytes(&[sampler.coordinates, sampler.filter, sampler.addressing, sampler.reserved]);
        }
        section.data
    }

    /// Returns the fields of the sampler.
    pub fn fields(&self) -> Vec<Field> {
        let coordinates = [(0, "not normalized"), (1, "normalized")];
        let addressing = [
            (0, "undefined"),
            (1, "clamp to edge"),
            (2, "clamp to border"),
            (3, "repeat"),
            (4, "mirrored repeat"),
        ];
        let mut list = List::default();
        list.add("size", self.size);
        list.add("kind", self.kind);
        list.named("coordinates", self.coordinates.into(), named(&coordinates, self.coordinates));
        list.named("filter", self.filter.into(), named(&[(0, "nearest"), (1, "linear")], self.filter));
        list.named("addressing", self.addressing.into(), named(&addressing, self.addressing));
        list.add("reserved", self.reserved);
        list.0
    }
}

/// Reads the samplers of `.hsaimage_samplerinit`.
pub(crate) fn read_samplers(bytes: Bytes) -> Result<Vec<Sampler>> {
    if !bytes.len().is_multiple_of(8) {
        return Err(bytes.error(0, "the section of samplers is not a multiple of 8 bytes"));
    }
    let what = "a sampler";
    let mut cursor = bytes.cursor();
    let mut samplers = Vec::new();
    while !cursor.is_at_end() {
        samplers.push(Sampler {
            size: cursor.u16(what)?,
            kind: cursor.u16(what)?,
            coordinates: cursor.u8(what)?,
            filter: cursor.u8(what)?,
            addressing: cursor.u8(what)?,
            reserved: cursor.u8(what)?,
        });
    }
    Ok(samplers)
}

/// Returns the symbol of a kernel at an offset of `.hsatext`.
pub fn kernel_symbol<'a>(name: &'a str, section: usize, offset: u64, size: u64) -> Symbol<'a> {
    let place = Place::Section(section);
    Symbol { binding: 1, ..Symbol::local(name, SYMBOL_KERNEL, place, offset, size) }
}
