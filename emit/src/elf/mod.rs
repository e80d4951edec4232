//! ELF: loadable (`ET_DYN`, no linker needed) and relocatable (`ET_REL`) code objects V3.
//!
//! The writer works in two phases: every index and file range is reserved in order, then everything is written in the
//! same order. Both kinds of file go through the same steps for the sections whose contents are ours ([`Parts`]).
//!
//! # Source
//! seed 000, lines 387 (sections), 472 (symbols), 507 (relocations); header values as LLVM 14's tools write them for
//! code object V3: OS ABI 64 (`ELFOSABI_AMDGPU_HSA`), ABI version 1.

mod loadable;
mod relocatable;

pub use loadable::loadable;
pub use relocatable::relocatable;

use crate::image::{Image, KERNEL_ALIGN, Section, Symbol};
use crate::{EmitError, Program};
use object::Endianness;
use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, SectionHeader, SectionIndex, Sym, Writer};

const ELFOSABI_AMDGPU_HSA: u8 = 64;
/// Version 1 says code object V3.
const ABI_VERSION_V3: u8 = 1;

fn container(error: object::write::Error) -> EmitError {
    EmitError::Container(error.to_string())
}

fn file_header(program: &Program, e_type: elf::FileType) -> FileHeader {
    FileHeader {
        os_abi: elf::OsAbi(ELFOSABI_AMDGPU_HSA),
        abi_version: ABI_VERSION_V3,
        e_type,
        e_machine: elf::EM_AMDGPU,
        e_entry: 0,
        e_flags: elf::FileFlags(program.target.elf_mach),
    }
}

/// A place of contents in file and memory.
#[derive(Clone, Copy, Default)]
struct Extent {
    offset: u64,
    address: u64,
    size: u64,
}

/// A section with contents of ours.
struct Part {
    name: &'static str,
    kind: elf::SectionType,
    flags: elf::SectionFlags,
    align: u64,
    /// Distance of addresses from file offsets (loadable files).
    shift: u64,
    name_id: Option<StringId>,
    index: SectionIndex,
    at: Extent,
}

impl Part {
    fn new(name: &'static str, flags: elf::SectionFlags, align: u64) -> Part {
        Part {
            name,
            kind: elf::SHT_PROGBITS,
            flags,
            align,
            shift: 0,
            name_id: None,
            index: SectionIndex(0),
            at: Extent::default(),
        }
    }

    fn reserve_index(&mut self, writer: &mut Writer) {
        self.name_id = Some(writer.add_section_name(self.name.as_bytes()));
        self.index = writer.reserve_section_index();
    }

    fn reserve(&mut self, writer: &mut Writer, bytes: &[u8], is_loaded: bool) {
        let offset = writer.reserve(bytes.len() as u64, self.align);
        let address = if is_loaded { offset + self.shift } else { 0 };
        self.at = Extent { offset, address, size: bytes.len() as u64 };
    }

    fn write(&self, writer: &mut Writer, bytes: &[u8]) {
        writer.write_align(self.align);
        debug_assert_eq!(writer.offset(), self.at.offset);
        writer.write(bytes);
    }

    fn write_header(&self, writer: &mut Writer) {
        if self.name_id.is_none() {
            return;
        }
        let header = SectionHeader {
            sh_name: writer.section_name_offset(self.name_id),
            sh_type: self.kind,
            sh_flags: self.flags,
            sh_addr: self.at.address,
            sh_offset: self.at.offset,
            sh_size: self.at.size,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: self.align,
            sh_entsize: 0,
        };
        writer.write_section_header(&header);
    }
}

/// Loaders map segments page by page; each kind of permission lies one page further than its file offset.
const PAGE: u64 = 0x1000;
/// Rodata holds descriptors, which the command processor wants at multiples of 64.
const RODATA_ALIGN: u64 = 64;
const DATA_ALIGN: u64 = 64;

/// The sections with contents of ours.
struct Parts {
    note: Part,
    rodata: Part,
    text: Part,
    data: Part,
}

impl Parts {
    fn new() -> Parts {
        let executable = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let writable = elf::SHF_ALLOC | elf::SHF_WRITE;
        Parts {
            note: Part { kind: elf::SHT_NOTE, ..Part::new(".note", elf::SHF_ALLOC, 4) },
            rodata: Part::new(".rodata", elf::SHF_ALLOC, RODATA_ALIGN),
            text: Part { shift: PAGE, ..Part::new(".text", executable, KERNEL_ALIGN as u64) },
            data: Part { shift: 2 * PAGE, ..Part::new(".data", writable, DATA_ALIGN) },
        }
    }

    fn of(&self, section: Section) -> &Part {
        match section {
            Section::Text => &self.text,
            Section::Rodata => &self.rodata,
            Section::Data => &self.data,
        }
    }

    /// The symbol table entry. Kernels and variables are protected: visible to the runtime, never preempted.
    fn symbol(&self, symbol: &Symbol, name: u32) -> Sym {
        let part = self.of(symbol.section);
        let kind = if symbol.is_function { elf::STT_FUNC } else { elf::STT_OBJECT };
        let visibility = if symbol.is_descriptor { elf::STV_DEFAULT } else { elf::STV_PROTECTED };
        Sym {
            section: Some(part.index.0),
            st_name: name,
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, kind),
            st_other: visibility.into(),
            st_shndx: elf::SymbolSection(0),
            st_value: part.at.address + symbol.offset,
            st_size: symbol.size,
        }
    }
}

fn writer(out: &mut Vec<u8>) -> Writer<'_> {
    Writer::new(Endianness::Little, true, out)
}

/// Reserves the symbols of `.symtab`; their names.
fn reserve_symbols<'a>(writer: &mut Writer<'a>, image: &'a Image, parts: &Parts) -> Vec<StringId> {
    writer.reserve_null_symbol_index();
    let reserve = |symbol: &'a Symbol| {
        writer.reserve_symbol_index(Some(parts.of(symbol.section).index));
        writer.add_string(symbol.name.as_bytes())
    };
    image.symbols.iter().map(reserve).collect()
}

fn write_symbols(writer: &mut Writer, image: &Image, parts: &Parts, names: &[StringId]) {
    writer.write_null_symbol();
    for (symbol, &name) in image.symbols.iter().zip(names) {
        let name = writer.string_offset(Some(name));
        writer.write_symbol(&parts.symbol(symbol, name));
    }
}

/// The tables that end both kinds of file.
fn reserve_tail(writer: &mut Writer) -> Result<(), EmitError> {
    writer.reserve_symtab();
    writer.reserve_shstrtab().map_err(container)?;
    writer.reserve_strtab().map_err(container)?;
    writer.reserve_section_headers();
    Ok(())
}

fn write_tail_headers(writer: &mut Writer) {
    writer.write_symtab_section_header(1);
    writer.write_shstrtab_section_header();
    writer.write_strtab_section_header();
}
