//! CAL notes: what the shader compiler says of a kernel.
//!
//! # Source
//! Multi2Sim, `src/arch/southern-islands/disassembler/Binary.cc`, for types and names; CLRX,
//! `CLRX/amdbin/AmdBinaries.h` and `doc/ClrxAsmAmd.md`, for the entries.

use crate::bytes::{Bytes, Output, Result};
use crate::fields::{Field, List, named};
use crate::registers::{USER_ELEMENTS, program_info_name, register_fields};

/// CAL note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note<'a> {
    /// Type 1, ATI_PROGINFO: pairs of register and value.
    ProgramInfo(Vec<[u32; 2]>),
    /// Type 2, ATI_INPUTS: resources that are read-only images.
    Inputs(Vec<u32>),
    /// Type 3, ATI_OUTPUTS.
    Outputs(Vec<u32>),
    /// Type 4, ATI_CONDOUT.
    ConditionalOutput(Vec<u32>),
    /// Type 5, ATI_FLOAT32CONSTS: parts of the floating-point constants in `.data`, offset and size.
    FloatConstants(Vec<[u32; 2]>),
    /// Type 6, ATI_INT32CONSTS: parts of the integer constants in `.data`, offset and size.
    IntConstants(Vec<[u32; 2]>),
    /// Type 7, ATI_BOOL32CONSTS: parts of the Boolean constants in `.data`, offset and size.
    BoolConstants(Vec<[u32; 2]>),
    /// Type 8, ATI_EARLYEXIT.
    EarlyExit(Vec<u32>),
    /// Type 9, ATI_GLOBAL_BUFFERS.
    GlobalBuffers(Vec<u32>),
    /// Type 10, ATI_CONSTANT_BUFFERS: number and size in units of 16 bytes of each buffer.
    ConstantBuffers(Vec<[u32; 2]>),
    /// Type 11, ATI_INPUT_SAMPLERS: number of the input and of the sampler.
    InputSamplers(Vec<[u32; 2]>),
    /// Type 12, ATI_PERSISTENT_BUFFERS.
    PersistentBuffers(Vec<u32>),
    /// Type 13, ATI_SCRATCH_BUFFERS: size of scratch memory of a lane in words.
    ScratchBuffers(Vec<u32>),
    /// Type 14, ATI_SUB_CONSTANT_BUFFERS.
    SubConstantBuffers(Vec<u32>),
    /// Type 15, ATI_UAV_MAILBOX_SIZE.
    UavMailboxSize(Vec<u32>),
    /// Type 16, ATI_UAV: number, two words without known meaning, and type of each UAV.
    Uavs(Vec<[u32; 4]>),
    /// Type 17, ATI_UAV_OP_MASK: a bit for each UAV that is used.
    UavOperations(Vec<u32>),
    /// A type that is not known.
    Other(u32, &'a [u8]),
}

/// Types of notes and their names.
pub static NOTES: &[(u32, &str)] = &[
    (1, "ATI_PROGINFO"),
    (2, "ATI_INPUTS"),
    (3, "ATI_OUTPUTS"),
    (4, "ATI_CONDOUT"),
    (5, "ATI_FLOAT32CONSTS"),
    (6, "ATI_INT32CONSTS"),
    (7, "ATI_BOOL32CONSTS"),
    (8, "ATI_EARLYEXIT"),
    (9, "ATI_GLOBAL_BUFFERS"),
    (10, "ATI_CONSTANT_BUFFERS"),
    (11, "ATI_INPUT_SAMPLERS"),
    (12, "ATI_PERSISTENT_BUFFERS"),
    (13, "ATI_SCRATCH_BUFFERS"),
    (14, "ATI_SUB_CONSTANT_BUFFERS"),
    (15, "ATI_UAV_MAILBOX_SIZE"),
    (16, "ATI_UAV"),
    (17, "ATI_UAV_OP_MASK"),
];

/// Classes of user data: what the driver puts into scalar registers before the kernel starts.
///
/// # Source
/// CLRX, `doc/AmdAbi.md` and `amdasm/AsmAmdFormat.cpp`.
pub static DATA_CLASSES: &[(u32, &str)] = &[
    (0x00, "IMM_RESOURCE"),
    (0x01, "IMM_SAMPLER"),
    (0x02, "IMM_CONST_BUFFER"),
    (0x03, "IMM_VERTEX_BUFFER"),
    (0x04, "IMM_UAV"),
    (0x05, "IMM_ALU_FLOAT_CONST"),
    (0x06, "IMM_ALU_BOOL32_CONST"),
    (0x07, "IMM_GDS_COUNTER_RANGE"),
    (0x08, "IMM_GDS_MEMORY_RANGE"),
    (0x09, "IMM_GWS_BASE"),
    (0x0a, "IMM_WORK_ITEM_RANGE"),
    (0x0b, "IMM_WORK_GROUP_RANGE"),
    (0x0c, "IMM_DISPATCH_ID"),
    (0x0d, "IMM_SCRATCH_BUFFER"),
    (0x0e, "IMM_HEAP_BUFFER"),
    (0x0f, "IMM_KERNEL_ARG"),
    (0x10, "SUB_PTR_FETCH_SHADER"),
    (0x11, "PTR_RESOURCE_TABLE"),
    (0x12, "PTR_INTERNAL_RESOURCE_TABLE"),
    (0x13, "PTR_SAMPLER_TABLE"),
    (0x14, "PTR_CONST_BUFFER_TABLE"),
    (0x15, "PTR_VERTEX_BUFFER_TABLE"),
    (0x16, "PTR_SO_BUFFER_TABLE"),
    (0x17, "PTR_UAV_TABLE"),
    (0x18, "PTR_INTERNAL_GLOBAL_TABLE"),
    (0x19, "PTR_EXTENDED_USER_DATA"),
    (0x1a, "PTR_INDIRECT_RESOURCE"),
    (0x1b, "PTR_INDIRECT_INTERNAL_RESOURCE"),
    (0x1c, "PTR_INDIRECT_UAV"),
    (0x1d, "IMM_CONTEXT_BASE"),
    (0x1e, "IMM_LDS_ESGS_SIZE"),
    (0x1f, "IMM_GLOBAL_OFFSET"),
    (0x20, "IMM_GENERIC_USER_DATA"),
];

/// Element of the user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserData {
    /// What the registers hold: [`DATA_CLASSES`] has the names.
    pub class: u32,
    /// Slot of the programming interface: the number of the UAV, constant buffer, sampler or image.
    pub slot: u32,
    /// First scalar register.
    pub first: u32,
    /// Number of scalar registers.
    pub count: u32,
}

impl UserData {
    /// Returns the fields of the element.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.named("class", self.class, named(DATA_CLASSES, self.class));
        list.add("slot", self.slot);
        list.add("first register", format!("s{}", self.first));
        list.add("registers", self.count);
        list.0
    }
}

const NAME: &[u8] = b"ATI CAL\0";

/// Returns the entries of a note, which have `SIZE` words.
fn entries<const SIZE: usize>(data: Bytes, words: Vec<u32>) -> Result<Vec<[u32; SIZE]>> {
    let (entries, rest) = words.as_chunks::<SIZE>();
    if !rest.is_empty() {
        let size = data.len();
        let rule = format!("the note has {size} bytes, which is not a multiple of its entries' {}", 4 * SIZE);
        return Err(data.error(0, rule));
    }
    Ok(entries.to_vec())
}

impl<'a> Note<'a> {
    fn decode(kind: u32, data: Bytes<'a>) -> Result<Note<'a>> {
        if named(NOTES, kind).is_none() {
            return Ok(Note::Other(kind, data.data));
        }
        let words = data.words("a CAL note")?;
        Ok(match kind {
            1 => Note::ProgramInfo(entries(data, words)?),
            2 => Note::Inputs(words),
            3 => Note::Outputs(words),
            4 => Note::ConditionalOutput(words),
            5 => Note::FloatConstants(entries(data, words)?),
            6 => Note::IntConstants(entries(data, words)?),
            7 => Note::BoolConstants(entries(data, words)?),
            8 => Note::EarlyExit(words),
            9 => Note::GlobalBuffers(words),
            10 => Note::ConstantBuffers(entries(data, words)?),
            11 => Note::InputSamplers(entries(data, words)?),
            12 => Note::PersistentBuffers(words),
            13 => Note::ScratchBuffers(words),
            14 => Note::SubConstantBuffers(words),
            15 => Note::UavMailboxSize(words),
            16 => Note::Uavs(entries(data, words)?),
            _ => Note::UavOperations(words),
        })
    }

    /// Returns the type of the note.
    pub fn kind(&self) -> u32 {
        match self {
            Note::ProgramInfo(_) => 1,
            Note::Inputs(_) => 2,
            Note::Outputs(_) => 3,
            Note::ConditionalOutput(_) => 4,
            Note::FloatConstants(_) => 5,
            Note::IntConstants(_) => 6,
            Note::BoolConstants(_) => 7,
            Note::EarlyExit(_) => 8,
            Note::GlobalBuffers(_) => 9,
            Note::ConstantBuffers(_) => 10,
            Note::InputSamplers(_) => 11,
            Note::PersistentBuffers(_) => 12,
            Note::ScratchBuffers(_) => 13,
            Note::SubConstantBuffers(_) => 14,
            Note::UavMailboxSize(_) => 15,
            Note::Uavs(_) => 16,
            Note::UavOperations(_) => 17,
            Note::Other(kind, _) => *kind,
        }
    }

    fn words(&self) -> &[u32] {
        match self {
            Note::ProgramInfo(entries)
            | Note::FloatConstants(entries)
            | Note::IntConstants(entries)
            | Note::BoolConstants(entries)
            | Note::ConstantBuffers(entries)
            | Note::InputSamplers(entries) => entries.as_flattened(),
            Note::Uavs(entries) => entries.as_flattened(),
            Note::Inputs(words)
            | Note::Outputs(words)
            | Note::ConditionalOutput(words)
            | Note::EarlyExit(words)
            | Note::GlobalBuffers(words)
            | Note::PersistentBuffers(words)
            | Note::ScratchBuffers(words)
            | Note::SubConstantBuffers(words)
            | Note::UavMailboxSize(words)
            | Note::UavOperations(words) => words,
            Note::Other(..) => &[],
        }
    }

    /// Returns the fields of the note, each with the name of the note in front.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        let name = named(NOTES, self.kind()).unwrap_or("unknown note");
        match self {
            Note::Other(kind, data) => {
                list.add(format!("note of type {kind}"), crate::kernel_code::hexadecimal(data));
            }
            _ if self.words().is_empty() => list.add(name, "empty"),
            Note::ProgramInfo(pairs) => {
                for &[number, value] in pairs {
                    program_info_fields(&mut list, number, value);
                }
            }
            Note::FloatConstants(entries) | Note::IntConstants(entries) | Note::BoolConstants(entries) => {
                for [offset, size] in entries {
                    list.add(name, format!("offset {offset}, size {size}"));
                }
            }
            Note::ConstantBuffers(entries) => {
                for [number, size] in entries {
                    list.add(name, format!("buffer {number}, size {size}"));
                }
            }
            Note::InputSamplers(entries) => {
                for [input, sampler] in entries {
                    list.add(name, format!("input {input}, sampler {sampler}"));
                }
            }
            Note::Uavs(entries) => {
                for [number, first, second, kind] in entries {
                    list.add(name, format!("UAV {number}, {first}, {second}, type {kind}"));
                }
            }
            _ => self.words().iter().for_each(|&word| list.hex(name, word)),
        }
        list.0
    }
}

/// Adds a pair of ATI_PROGINFO. Numbers of hardware registers count words.
fn program_info_fields(list: &mut List, number: u32, value: u32) {
    match number.checked_mul(4).filter(|&address| crate::register_name(address).is_some()) {
        Some(address) => list.0.extend(register_fields(address, value)),
        None => match program_info_name(number) {
            Some(name) => list.hex(name, value),
            None => list.hex(format!("register {number:#x}"), value),
        },
    }
}

/// Returns the user data that the pairs of ATI_PROGINFO describe.
///
/// The count comes first. Pairs beyond the count are there in old drivers, and mean nothing.
pub(crate) fn user_data(pairs: &[[u32; 2]]) -> Vec<UserData> {
    let (first, most) = USER_ELEMENTS;
    let count = pairs.iter().find(|pair| pair[0] == first - 1).map_or(0, |pair| pair[1].min(most));
    let mut words = vec![[0; 4]; count as usize];
    for &[number, value] in pairs {
        let index = number.wrapping_sub(first);
        if index < 4 * count {
            words[index as usize / 4][index as usize % 4] = value;
        }
    }
    words.into_iter().map(|[class, slot, first, count]| UserData { class, slot, first, count }).collect()
}

/// Returns the pairs of ATI_PROGINFO that describe user data.
pub fn user_data_pairs(elements: &[UserData]) -> Vec<[u32; 2]> {
    let (first, _) = USER_ELEMENTS;
    let mut pairs = vec![[first - 1, elements.len() as u32]];
    for (index, element) in elements.iter().enumerate() {
        let words = [element.class, element.slot, element.first, element.count];
        let start = first + 4 * index as u32;
        pairs.extend((start..).zip(words).map(|(number, value)| [number, value]));
    }
    pairs
}

/// Reads the notes of a segment.
pub(crate) fn read(segment: Bytes) -> Result<Vec<Note>> {
    let what = "a CAL note";
    let mut notes = Vec::new();
    let mut cursor = segment.cursor();
    while !cursor.is_at_end() {
        let place = cursor.at;
        let (name_size, size, kind) = (cursor.u32(what)?, cursor.u32(what)?, cursor.u32(what)?);
        if name_size != 8 {
            return Err(segment.error(place, format!("the name of {what} has 8 bytes, not {name_size}")));
        }
        let name = cursor.take(8, what)?;
        if name.data != NAME {
            return Err(name.error(0, "the name of a CAL note is `ATI CAL`"));
        }
        notes.push(Note::decode(kind, cursor.take(u64::from(size), "the contents of a CAL note")?)?);
    }
    Ok(notes)
}

/// Writes notes as the contents of a segment.
pub(crate) fn write(notes: &[Note]) -> Vec<u8> {
    let mut segment = Output::default();
    for note in notes {
        let other: &[u8] = if let Note::Other(_, data) = note { data } else { &[] };
        let words = note.words();
        segment.u32(8);
        segment.u32((4 * words.len() + other.len()) as u32);
        segment.u32(note.kind());
        segment.bytes(NAME);
        words.iter().for_each(|&word| segment.u32(word));
        segment.bytes(other);
    }
    segment.data
}
