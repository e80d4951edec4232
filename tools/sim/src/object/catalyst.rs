//! Binaries of AMD's OpenCL 2.0 driver with 64-bit addresses: an ELF file with a record of each kernel in
//! `.rodata`, and the code in `.text`. Drivers since 15.11 have an inner ELF file there, the older ones a
//! stub, a header and code for each kernel.
//!
//! This reader knows only what is needed to run kernels. It shares nothing with the package that writes such
//! files, so that each is the other's judge.
//!
//! # Source
//! * Files: CLRX's `amdbin/AmdCL2Binaries.cpp` and `utils/GPUId.cpp`, and AMD's `aclStructs.h` for the records.
//! * Arguments: seed 004, "Argument passing and kernel setup", and the code of kernels that drivers compiled.
//!   The argument segment has the hidden arguments first. A pointer has 8 bytes, also one to LDS.

use super::image::{CodeRange, Image};
use super::{CodeObject, LoadError, Symbol, kernels, link};
use crate::args::Layout;
use crate::descriptor::KERNEL_CODE_BYTES;
use crate::metadata::{ArgInfo, ArgKind, KernelMeta, Metadata, Scalar};
use codeobj::OsAbi;
use codeobj::disasm::Lines;
use codeobj::elf::STT_AMDGPU_HSA_KERNEL;
use codeobj::note::records;
use isa::{Subtarget, Target};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _};
use std::sync::Arc;

/// `e_machine` of the file, with 64-bit and with 32-bit addresses.
const MACHINE: u16 = 0xaf5b;
const MACHINE_32: u16 = 0xaf5a;

/// Prefixes and suffixes of the symbols of records, of the kernels of old drivers, and of kernels in an inner
/// file.
const RECORD: [&str; 2] = ["__OpenCL_&__OpenCL_", "_kernel_metadata"];
const OLD: [&str; 2] = ["__ISA_&__OpenCL_", "_kernel_binary"];
const KERNEL: [&str; 2] = ["&__OpenCL_", "_kernel"];

/// Processors by the device's code in `e_flags`, for the codes that mean the same in all drivers.
const DEVICES: [(u32, &str); 8] = [
    (1, "gfx700"),
    (2, "gfx700"),
    (3, "gfx703"),
    (4, "gfx703"),
    (6, "gfx704"),
    (7, "gfx701"),
    (8, "gfx802"),
    (9, "gfx802"),
];
/// Type of the note with the version of the instruction set, and processors by this version.
const NOTE_ISA: u32 = 3;
const VERSIONS: [([u32; 3], &str); 14] = [
    ([7, 0, 0], "gfx700"),
    ([7, 0, 1], "gfx701"),
    ([8, 0, 0], "gfx802"),
    ([8, 0, 1], "gfx801"),
    ([8, 0, 4], "gfx803"),
    ([8, 1, 0], "gfx810"),
    ([9, 0, 0], "gfx900"),
    ([9, 0, 1], "gfx900"),
    ([9, 0, 2], "gfx902"),
    ([9, 0, 3], "gfx902"),
    ([9, 0, 4], "gfx904"),
    ([9, 0, 5], "gfx904"),
    ([9, 0, 6], "gfx906"),
    ([9, 0, 7], "gfx906"),
];

/// Name of the section that lists atomic accesses.
const ATOMICS: &str = ".kernc.atomics";

/// Relocations that the emulator applies: both halves of an address, and the whole. The others ask for
/// descriptors of samplers and images; their fields keep what the driver wrote there.
const RELOCATIONS: std::ops::RangeInclusive<u32> = 1..=3;

/// Names of the hidden arguments in records and in the emulator.
const HIDDEN: [(&str, &str); 6] = [
    ("_.global_offset_0", "global_offset_x"),
    ("_.global_offset_1", "global_offset_y"),
    ("_.global_offset_2", "global_offset_z"),
    ("_.printf_buffer", "printf_buffer"),
    ("_.vqueue_pointer", "default_queue"),
    ("_.aqlwrap_pointer", "completion_action"),
];

/// Scalar types by their numbers in records, from 1 on. The number 1 is a single bit.
const SCALARS: [Scalar; 12] = [
    Scalar::U8,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::F16,
    Scalar::F32,
    Scalar::F64,
];

/// Size in bytes of the records' structures for a kernel since driver 16.3, and for an argument. Older
/// structures have less at their end.
const NEW_RECORD: usize = 0x110;
const ARGUMENT: usize = 88;
/// Largest alignment of an argument in bytes.
const MAX_ALIGN: u32 = 128;

/// Returns whether the bytes are a binary of the driver.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let machine =
        bytes.get(18..).and_then(|bytes| bytes.first_chunk()).map(|bytes| u16::from_le_bytes(*bytes));
    bytes.starts_with(b"\x7fELF") && matches!(machine, Some(MACHINE | MACHINE_32))
}

/// Reads a binary. `target` is the processor to assume if the file does not name one.
pub(super) fn load(bytes: &[u8], target: Option<&'static Target>) -> Result<CodeObject, LoadError> {
    if bytes.get(18..20) == Some(&MACHINE_32.to_le_bytes()) {
        return Err(LoadError::Runtime("AMD's OpenCL 2.0 driver with 32-bit addresses".to_owned()));
    }
    let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(|error| LoadError::Elf(error.to_string()))?;
    let contents = |name: &str| file.section_by_name(name).and_then(|section| section.data().ok());
    let (text, rodata) = (contents(".text").unwrap_or_default(), contents(".rodata").unwrap_or_default());
    let flags = file.elf_header().e_flags.get(LittleEndian).0;
    let inner = codeobj::CodeObject::parse(text).ok();
    let device = DEVICES.iter().find(|row| row.0 == flags).map(|row| row.1);
    let name = device.or_else(|| processor(inner.as_ref()?));
    let target = name.and_then(Target::by_name).or(target).ok_or(LoadError::Processor(flags))?;
    let subtarget = Subtarget::new(target);
    subtarget.needs(&super::FACTS).map_err(LoadError::UnknownFact)?;

    let mut image = match inner {
        Some(mut inner) => {
            inner
                .relocation_tables
                .iter_mut()
                .for_each(|table| table.records.retain(|record| RELOCATIONS.contains(&record.kind)));
            link::link(&inner, target)?
        }
        None => Image::default(),
    };
    let (mut metadata, mut budget) = (Metadata::default(), bytes.len());
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        let part = |bytes: &'_ [u8]| -> Option<std::ops::Range<usize>> {
            let start = usize::try_from(symbol.address()).ok()?;
            let end = start.checked_add(usize::try_from(symbol.size()).ok()?)?;
            (end <= bytes.len()).then_some(start..end)
        };
        let outside = || LoadError::Elf(format!("the symbol {name} is not within its section"));
        if let Some(kernel) = between(name, RECORD) {
            let range = part(rodata).ok_or_else(outside)?;
            // Records that share their bytes could be far larger together than the file.
            budget = budget.checked_sub(range.len()).ok_or_else(|| bad(kernel, "records overlap"))?;
            metadata.kernels.push(record(kernel, &rodata[range])?);
        } else if let Some(kernel) = between(name, OLD) {
            let range = part(text).ok_or_else(outside)?;
            budget = budget.checked_sub(range.len()).ok_or_else(|| bad(kernel, "kernels overlap"))?;
            add_old_kernel(kernel, &text[range], &mut image)?;
        }
    }
    let kernels = kernels::find(&metadata, target, &image)?;
    // kernc lists the offsets of atomic accesses in the code, which is the only code of the image.
    let start = image.code.first().map_or(0, |range| range.start);
    let atomics = contents(ATOMICS).map(|list| {
        let offsets =
            list.chunks_exact(8).map(|bytes| bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)));
        let mut addresses: Vec<u64> = offsets.map(|offset| start.wrapping_add(offset)).collect();
        addresses.sort_unstable();
        addresses
    });
    Ok(CodeObject {
        subtarget,
        system: OsAbi::Hsa,
        version: None,
        metadata_version: Vec::new(),
        kernels,
        printf: Vec::new(),
        lines: Arc::new(Lines::default()),
        atomics: atomics.map(Arc::from),
        image,
    })
}

fn bad(kernel: &str, why: &str) -> LoadError {
    LoadError::Metadata(format!("the record of {kernel}: {why}"))
}

fn between<'a>(name: &'a str, [prefix, suffix]: [&str; 2]) -> Option<&'a str> {
    name.strip_prefix(prefix)?.strip_suffix(suffix)
}

/// Returns the processor that the inner file's note names.
fn processor(inner: &codeobj::CodeObject<'_>) -> Option<&'static str> {
    let section = inner.sections.iter().find(|section| section.name == ".note")?;
    let (notes, _) = records(0, section.data);
    let note = notes.iter().find(|note| note.owner == "AMD" && note.kind == NOTE_ISA)?;
    let word = |at: usize| Some(u32::from_le_bytes(*note.desc.get(at..)?.first_chunk()?));
    let version = [word(4)?, word(8)?, word(12)?];
    VERSIONS.iter().find(|row| row.0 == version).map(|row| row.1)
}

/// Adds the header and the code of a kernel of a driver before 15.11. A stub precedes them, whose first word is
/// its size.
fn add_old_kernel(name: &str, bytes: &[u8], image: &mut Image) -> Result<(), LoadError> {
    const ALIGN: usize = 256;
    let stub = bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size)) as usize;
    let code = bytes.get(stub..).filter(|code| code.len() > KERNEL_CODE_BYTES);
    let code = code.ok_or_else(|| LoadError::Descriptor(format!("{name}: no header behind the stub")))?;
    let start = image.bytes.len().max(1).next_multiple_of(ALIGN);
    image.bytes.resize(start, 0);
    image.bytes.extend_from_slice(code);
    let (address, size) = (start as u64, code.len() as u64);
    image.code.push(CodeRange { start: address, end: address + size });
    let name = KERNEL.join(name);
    image.symbols.push(Symbol { name, address, size, kind: STT_AMDGPU_HSA_KERNEL });
    Ok(())
}

/// Reads the record of a kernel.
fn record(name: &str, bytes: &[u8]) -> Result<KernelMeta, LoadError> {
    let short = || bad(name, "it is cut off");
    let word = |at: usize| -> Result<usize, LoadError> {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).ok_or_else(short)?;
        usize::try_from(u64::from_le_bytes(*bytes)).map_err(|_| short())
    };
    let structure = word(0)?;
    let mut lengths = vec![word(96)?, word(104)?];
    if structure >= NEW_RECORD {
        lengths.push(word(256)?);
    }
    // Each text has a NUL at its end.
    let after = lengths.iter().try_fold(structure, |at, length| at.checked_add(*length)?.checked_add(1));
    let (begin, count) = (after.ok_or_else(short)?, word(160)?);
    let table = count.checked_add(1).and_then(|count| count.checked_mul(ARGUMENT)).ok_or_else(short)?;
    let mut names = begin.checked_add(table).ok_or_else(short)?;
    let mut text = |length: usize| -> Result<String, LoadError> {
        let end = names.checked_add(length).ok_or_else(short)?;
        let text = bytes.get(names..end).ok_or_else(short)?;
        names = end + 1;
        Ok(String::from_utf8_lossy(text).into_owned())
    };
    let (mut args, mut end) = (Vec::new(), 0u32);
    for n in 0..count {
        let at = begin + n * ARGUMENT;
        let structure = bytes.get(at..at + ARGUMENT).ok_or_else(short)?;
        let (name_length, type_length) = (word(at + 8)?, word(at + 16)?);
        let (own, type_name) = (text(name_length)?, text(type_length)?);
        let arg =
            argument(structure, own, type_name, end).ok_or_else(|| bad(name, "an argument is too large"))?;
        end = arg.offset.saturating_add(arg.size);
        args.push(arg);
    }
    let group = [word(56)?, word(64)?, word(72)?].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    Ok(KernelMeta {
        name: name.to_owned(),
        symbol: KERNEL.join(name),
        args,
        reqd_group: Some(group).filter(|group| *group != [0; 3]),
        ..KernelMeta::default()
    })
}

/// Returns the argument that a structure describes. The argument begins where the previous one ends (`end`),
/// rounded up to its own alignment. `None` if the numbers are too large.
fn argument(structure: &[u8], name: String, type_name: String, end: u32) -> Option<ArgInfo> {
    const UNION: usize = 40;
    const LOCAL: u32 = 3;
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|n| structure[at + n]));
    let scalar = |number: u32| SCALARS.get(number.checked_sub(1)? as usize).copied();
    let hidden = HIDDEN.iter().find(|row| row.0 == name);
    let (elements, kind) = (word(UNION), word(76));
    let (size, align, kind, element) = match kind {
        4 => {
            let element = scalar(word(UNION + 12));
            // A vector of three takes the room of four. Some drivers count three elements, others four.
            let elements = if element.is_some() { elements.checked_next_power_of_two()? } else { elements };
            let size = elements.checked_mul(element.map_or(1, |scalar| scalar.bytes() as u32))?;
            // The record does not state how a structure is aligned. Its size is a multiple of the alignment.
            let natural = 1 << size.trailing_zeros().min(if element.is_some() { 7 } else { 4 });
            let layout = Layout::parse(&type_name).filter(|layout| layout.size() == u64::from(size));
            let align = layout.map_or(natural, |layout| layout.align() as u32);
            (size, align, ArgKind::ByValue, element)
        }
        5 => {
            let is_local = word(UNION + 24) == LOCAL;
            let kind = if is_local { ArgKind::DynamicShared } else { ArgKind::GlobalBuffer };
            (8, 8, kind, scalar(word(UNION + 20)))
        }
        1 => (8, 8, ArgKind::Other("sampler".to_owned()), None),
        2 => (8, 8, ArgKind::Other("image".to_owned()), None),
        7 => (8, 8, ArgKind::Other("queue".to_owned()), None),
        _ => (8, 8, ArgKind::Other("unknown".to_owned()), None),
    };
    let space = match word(UNION + 24) {
        _ if word(76) != 5 => None,
        LOCAL => Some("local"),
        5 => Some("constant"),
        _ => Some("global"),
    };
    Some(ArgInfo {
        offset: end.checked_next_multiple_of(align.clamp(1, MAX_ALIGN))?,
        size,
        kind: hidden.map_or(kind, |row| ArgKind::Hidden(row.1.to_owned())),
        address_space: space.map(str::to_owned),
        element: Scalar::of_type_name(&type_name).or(element),
        is_const: structure[80] != 0,
        is_restrict: word(76) == 5 && structure[UNION + 33] != 0,
        pointee_align: if word(76) == 5 { word(UNION + 16).clamp(1, MAX_ALIGN) } else { 1 },
        name: Some(name),
        type_name: Some(type_name),
    })
}
