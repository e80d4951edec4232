//! Binaries of AMD's OpenCL 2.0 driver: an ELF file with a record of each kernel, and an inner object with the
//! code. [`legacy`] writes the records and the files.
//!
//! The records and the inner object have the newest form that is known, which drivers since 2580 write.
//!
//! # Source
//! `docs/old-formats.md`, and the binaries of drivers that it names. The hidden arguments are those of seed 004,
//! "Argument passing and kernel setup".

use crate::{Arg, EmitError, Kernel, Program, ValueKind};
use legacy::elf as file;
use legacy::opencl2::{self, Argument, ArgumentKind, Binary, Code, DATA, DRIVERS, Device, Metadata, Note};
use objwriter::elf::{ATOMICS, Object, Place, Relocation, STT_AMDGPU_HSA_KERNEL, Target, reloc};

/// Sections of the inner object, each with the name of the section of a code object whose contents it has, its
/// flags, and the type of its segment.
const SECTIONS: [(&str, &str, u64, u32); 3] = [
    (".data", ".hsadata_global_agent", 0x90_0003, 0x6000_0001),
    (".rodata", ".hsadata_readonly_agent", 0xa0_0003, 0x6000_0002),
    (TEXT, ".hsatext", 0xc0_0007, 0x6000_0003),
];
const TEXT: &str = ".text";
/// Symbols of these sections, to which relocations refer.
const SECTION_SYMBOLS: [&str; 3] =
    ["__hsa_section.hsadata_global_agent", "__hsa_section.hsadata_readonly_agent", "__hsa_section.hsatext"];
/// `p_flags` of the segments: read and write.
const SEGMENT_FLAGS: u32 = 6;
/// Alignment of code and data in bytes.
const CODE_ALIGN: u64 = 256;
const LEAST_ALIGN: u64 = 8;
/// `e_type`, `e_machine` and OS ABI of the inner object.
const RELOCATABLE: u16 = 1;
const AMDGPU: u16 = 224;
const OS_ABI: u8 = 64;
/// Section type of notes, and symbol type of sections.
const NOTE: u32 = 7;
const SECTION: u8 = 3;
/// Machine model of the note about HSAIL: 64-bit addresses.
const LARGE: u8 = 1;

/// Number of the constant buffer to which the records count arguments, and the unit of offsets in bytes.
const BUFFER: u32 = 1;
const BUFFER_UNIT: u32 = 16;
/// Number of the resource of pointers.
const RESOURCE: u32 = 7;
/// Numbers in `aclMemoryType`.
const MEMORY_LOCAL: u32 = 3;
const MEMORY_UAV: u32 = 4;
const MEMORY_CONSTANT: u32 = 5;
/// Numbers in `aclAccessType`.
const READ: u32 = 1;
const READ_WRITE: u32 = 3;
/// Bit of the capabilities of a kernel that requires a work-group size.
const HAS_GROUP_SIZE: u32 = 1 << 2;
/// Size of any pointer among the arguments in bytes, pointers to LDS included.
const POINTER: u32 = 8;

/// Hidden arguments: the name, and whether the argument is a pointer.
const HIDDEN: [(&str, bool); 6] = [
    ("_.global_offset_0", false),
    ("_.global_offset_1", false),
    ("_.global_offset_2", false),
    ("_.printf_buffer", true),
    ("_.vqueue_pointer", false),
    ("_.aqlwrap_pointer", false),
];

/// What the driver's file says beside the code.
pub(crate) struct Driver<'a> {
    code: u32,
    device: Device,
    kernels: Vec<opencl2::Kernel<'a>>,
}

impl<'a> Driver<'a> {
    /// Describes the kernels of a program.
    pub fn new(program: &'a Program<'a>) -> Result<Driver<'a>, EmitError> {
        let drivers = DRIVERS.last().ok_or_else(|| EmitError::Container("no driver is known".into()))?;
        let unknown = || {
            let system = program.target.system().name;
            EmitError::Unsupported(format!("this processor, which no driver of `{system}` supports,"))
        };
        let (code, device) = drivers.device_of(program.target.name).ok_or_else(unknown)?;
        let generation = match device.isa.0 {
            7 => "GFX7",
            8 => "GFX8",
            _ => "GFX9",
        };
        let numbered = (0..).zip(program.kernels);
        let kernels = numbered.map(|(number, kernel)| record(kernel, number, generation));
        Ok(Driver { code, device, kernels: kernels.collect::<Result<_, EmitError>>()? })
    }

    /// Returns the driver's file with the code and the data of an object.
    pub fn file(&self, object: &Object) -> Result<Vec<u8>, String> {
        let inner = Inner::new(object)?;
        let notes = Note::write(&Note::of_driver(self.device.isa, LARGE));
        let names: Vec<String> =
            object.symbols.iter().map(|symbol| format!("&__OpenCL_{}_kernel", symbol.name)).collect();
        let atomics = atomics(object);
        let mut binary = Binary::new(file::Class::Elf64, self.code);
        if let Some(atomics) = &atomics {
            binary.sections.push(file::Section { align: 8, ..file::Section::new(ATOMICS, 0, atomics) });
        }
        binary.kernels.clone_from(&self.kernels);
        binary.options = Some(b"");
        binary.code = Code::Object(inner.object(object, &names, &notes)?);
        Ok(binary.write())
    }
}

/// The sections of the inner object that exist, with their contents.
struct Inner {
    /// For each row of [`SECTIONS`] that exists: the number of the row, the number of the section in the object,
    /// the offset in the memory image, and the contents.
    sections: Vec<(usize, u32, u64, Vec<u8>)>,
}

impl Inner {
    fn new(object: &Object) -> Result<Inner, String> {
        let (mut sections, mut address) = (Vec::new(), 0);
        for (row, (own, ..)) in SECTIONS.iter().enumerate() {
            let Some(number) = object.sections.iter().position(|section| section.name == *own) else {
                continue;
            };
            let section = &object.sections[number];
            let mut data = section.data.to_vec();
            if data.is_empty() {
                continue;
            }
            fill_distances(object, number as u32, &mut data)?;
            address = u64::next_multiple_of(address, align(*own == TEXT, section.align));
            let size = data.len() as u64;
            sections.push((row, number as u32, address, data));
            address += size;
        }
        Ok(Inner { sections })
    }

    /// Returns the inner object. `names` are the names that the symbols would have as kernels.
    fn object<'a>(
        &'a self,
        object: &Object,
        names: &'a [String],
        notes: &'a [u8],
    ) -> Result<file::Object<'a>, String> {
        let mut out = file::Object::new(file::Class::Elf64, RELOCATABLE, AMDGPU);
        out.os_abi = OS_ABI;
        for (place, (row, number, address, data)) in self.sections.iter().enumerate() {
            let (own, name, flags, segment) = SECTIONS[*row];
            let section = &object.sections[*number as usize];
            let align = align(own == TEXT, section.align);
            let kept = section.relocations.iter().filter(|relocation| is_absolute(relocation.kind));
            let relocations =
                kept.map(|relocation| self.relocation(object, relocation)).collect::<Result<_, _>>()?;
            let address = *address;
            out.add_section(file::Section {
                align,
                address,
                relocations,
                ..file::Section::new(name, flags, data)
            });
            let flags = SEGMENT_FLAGS;
            out.segments.push(file::Segment { kind: segment, flags, align, first: place, count: 1 });
            let place = file::Place::Section(place);
            out.symbols.push(file::Symbol::local(SECTION_SYMBOLS[*row], SECTION, place, 0, 0));
        }
        out.add_section(file::Section { kind: NOTE, align: 4, ..file::Section::new(".note", 0, notes) });
        for (symbol, name) in object.symbols.iter().zip(names) {
            if let (STT_AMDGPU_HSA_KERNEL, Place::Section(section, offset)) = (symbol.kind, symbol.place) {
                let place = self.place(section).ok_or("a kernel is not in the code")?;
                out.symbols.push(opencl2::kernel_symbol(name, place, offset, symbol.size));
            }
        }
        Ok(out)
    }

    /// Returns the number that a section of the object has in the inner object.
    fn place(&self, section: u32) -> Option<usize> {
        self.sections.iter().position(|(_, number, ..)| *number == section)
    }

    /// Returns a relocation by an address: it refers to the symbol of a section.
    fn relocation(&self, object: &Object, relocation: &Relocation) -> Result<file::Relocation, String> {
        let (section, offset) = place_of(object, relocation.target)?;
        let place = self.place(section).ok_or("a relocation refers to an empty section")?;
        // The first symbol is the null symbol.
        let symbol = place as u32 + 1;
        let Relocation { offset: at, kind, addend, .. } = *relocation;
        Ok(file::Relocation { offset: at, kind, symbol, addend: Some(addend + offset as i64) })
    }
}

fn align(is_code: bool, own: u64) -> u64 {
    own.max(if is_code { CODE_ALIGN } else { LEAST_ALIGN })
}

/// Returns whether the driver's loader knows a type of relocation. The types have the same numbers as in code
/// objects.
fn is_absolute(kind: u32) -> bool {
    matches!(kind, reloc::ABS32_LO | reloc::ABS32_HI | reloc::ABS64)
}

/// Returns the section and the offset of what a relocation refers to.
fn place_of(object: &Object, target: Target) -> Result<(u32, u64), String> {
    match target {
        Target::Nothing => Err("a relocation refers to a number".to_owned()),
        Target::Section(section) => Ok((section, 0)),
        Target::Symbol(symbol) => match object.symbols[symbol as usize].place {
            Place::Section(section, offset) => Ok((section, offset)),
            _ => Err(format!("`{}` is not defined", object.symbols[symbol as usize].name)),
        },
    }
}

/// Fills in the distances from the code to functions. The driver's loader has no relocations for distances.
fn fill_distances(object: &Object, section: u32, data: &mut [u8]) -> Result<(), String> {
    let others = |relocation: &&Relocation| !is_absolute(relocation.kind);
    for relocation in object.sections[section as usize].relocations.iter().filter(others) {
        let (to, offset) = place_of(object, relocation.target)?;
        let distance = offset as i64 + relocation.addend - relocation.offset as i64;
        let word = match relocation.kind {
            reloc::REL32_LO if to == section => distance as u32,
            reloc::REL32_HI if to == section => (distance >> 32) as u32,
            kind => return Err(format!("relocation of type {kind}, which the driver does not know")),
        };
        let at = relocation.offset as usize;
        data[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    Ok(())
}

/// Returns the list of atomic accesses for the emulator: their offsets in the code. The list is a section of the
/// outer file, where drivers keep what they do not load. `None` if the program has no list.
fn atomics(object: &Object) -> Option<Vec<u8>> {
    let list = object.sections.iter().find(|section| section.name == ATOMICS)?;
    let mut offsets: Vec<i64> = list.relocations.iter().map(|relocation| relocation.addend).collect();
    offsets.sort_unstable();
    Some(offsets.into_iter().flat_map(i64::to_le_bytes).collect())
}

/// Returns the record of a kernel.
fn record<'a>(
    kernel: &'a Kernel<'a>,
    number: u32,
    generation: &'static str,
) -> Result<opencl2::Kernel<'a>, EmitError> {
    let mut record = Metadata::new(number, generation);
    let mut offset = 0;
    let mut place = |size: u32| {
        let begin = offset;
        offset += size.next_multiple_of(BUFFER_UNIT);
        begin
    };
    for (name, is_pointer) in HIDDEN {
        let offset = place(POINTER);
        let kind = match is_pointer {
            true => pointer(offset, (1, number_of("u8")), (MEMORY_UAV, READ)),
            false => ArgumentKind::Value { elements: 1, buffer: BUFFER, offset, data: number_of("i64") },
        };
        record.arguments.push(Argument::new(name, "size_t", kind));
    }
    for (n, arg) in kernel.args.iter().enumerate() {
        let end = kernel.args.get(n + 1).map_or(u32::MAX, |next| next.offset);
        let unsupported = |what: &str| {
            EmitError::Unsupported(format!("the argument `{}` of `{}`, {what},", arg.name, kernel.func.name))
        };
        let kind = match arg.kind {
            ValueKind::ByValue => value(arg, place(arg.size)),
            ValueKind::GlobalBuffer => {
                let memory = if arg.address_space == Some("constant") { MEMORY_CONSTANT } else { MEMORY_UAV };
                let is_read = arg.is_const || memory == MEMORY_CONSTANT;
                let access = if is_read { READ } else { READ_WRITE };
                let pointee = (arg.pointee_align.unwrap_or(1), number_of(arg.value_type));
                pointer(place(POINTER), pointee, (memory, access))
            }
            ValueKind::DynamicSharedPointer => {
                if !arg.offset.is_multiple_of(POINTER) || end - arg.offset < POINTER {
                    let what =
                        "a pointer to LDS that does not have 8 bytes of its own as the driver passes it";
                    return Err(unsupported(what));
                }
                let pointee = (arg.pointee_align.unwrap_or(1), number_of(arg.value_type));
                pointer(place(POINTER), pointee, (MEMORY_LOCAL, READ_WRITE))
            }
            ValueKind::Opaque(..) => return Err(unsupported("which is no number and no pointer")),
        };
        let mut argument = Argument::new(arg.name, arg.type_name, with_qualifiers(kind, arg));
        argument.is_const = arg.is_const.into();
        record.arguments.push(argument);
    }
    let wide = |size: [u32; 3]| size.map(u64::from);
    if let Some(size) = kernel.reqd_workgroup_size {
        record.group_size = wide(size);
        record.capabilities |= HAS_GROUP_SIZE;
    }
    record.group_size_hint = kernel.workgroup_size_hint.map_or([0; 3], wide);
    record.vector_hint = kernel.vec_type_hint.unwrap_or_default();
    record.memory[SOFTWARE_PRIVATE] = kernel.func.scratch_size.into();
    Ok(opencl2::Kernel::new(&kernel.func.name, record))
}

/// Place of the size of private memory in the record's list of sizes.
const SOFTWARE_PRIVATE: usize = 3;

/// Returns the number of a type of data.
fn number_of(name: &str) -> u32 {
    DATA.iter().find(|row| row.1 == name).map_or(0, |row| row.0)
}

fn value(arg: &Arg, offset: u32) -> ArgumentKind {
    let bits: String = arg.value_type.chars().filter(char::is_ascii_digit).collect();
    // A structure counts bytes.
    let unit = bits.parse::<u32>().map_or(1, |bits| bits.div_ceil(8).max(1));
    ArgumentKind::Value { elements: arg.size / unit, buffer: BUFFER, offset, data: number_of(arg.value_type) }
}

fn pointer(offset: u32, (align, data): (u32, u32), (memory, access): (u32, u32)) -> ArgumentKind {
    ArgumentKind::Pointer {
        elements: 1,
        buffer: BUFFER,
        offset,
        resource: RESOURCE,
        align,
        data,
        memory,
        access,
        is_volatile: 0,
        is_restrict: 0,
        is_pipe: 0,
    }
}

fn with_qualifiers(mut kind: ArgumentKind, arg: &Arg) -> ArgumentKind {
    if let ArgumentKind::Pointer { is_volatile, is_restrict, .. } = &mut kind {
        (*is_volatile, *is_restrict) = (arg.is_volatile.into(), arg.is_restrict.into());
    }
    kind
}
