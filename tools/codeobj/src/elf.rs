//! Reads the ELF container into plain values that do not depend on byte order and word size.
//!
//! A damaged file is read as far as possible. Parts that could not be read are listed in
//! [`CodeObject::problems`]. Only a file that is not an AMD GPU code object at all causes an error.

use object::LittleEndian;
use object::elf::{self as abi, FileHeader32, FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _};
use objwriter::elf::reloc;
use std::fmt;

/// `e_machine` of every AMD GPU.
pub const EM_AMDGPU: u16 = 224;
/// Section index of symbols that are variables in LDS. The `st_value` of such a symbol is its alignment
/// (LLVM's AMDGPU guide, seed 000, line 490).
pub const SHN_AMDGPU_LDS: u16 = 0xff00;
/// Type of the kernel symbols of a code object V2.
pub const STT_AMDGPU_HSA_KERNEL: u8 = 10;

/// Reason why a file is not a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The file does not begin like an ELF file, or its header is truncated.
    NotElf,
    /// The file is an ELF file, but not a 64-bit little-endian one. The text says which kind it is.
    OtherElf(&'static str),
    /// The file is for a processor of the architecture r600, whose name is given if it is known.
    R600(Option<&'static str>),
    /// The file is for another machine, with this `e_machine`.
    OtherMachine(u16),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::NotElf => f.write_str("not an ELF file"),
            ParseError::OtherElf(what) => {
                write!(f, "{what}; AMD GPU code objects are 64-bit little-endian ELF")
            }
            ParseError::R600(name) => write!(
                f,
                "an object for {}, whose architecture is r600; kernc reads objects for GFX6 and later",
                name.unwrap_or("an unknown processor")
            ),
            ParseError::OtherMachine(machine) => {
                write!(
                    f,
                    "an ELF file for machine {machine}, not an AMD GPU code object (machine {EM_AMDGPU})"
                )
            }
        }
    }
}

impl std::error::Error for ParseError {}

/// Fields of the ELF header that carry information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_type`.
    pub file_type: u16,
    /// `e_flags`.
    pub flags: u32,
    /// `e_entry`.
    pub entry: u64,
    /// `e_phoff`.
    pub program_headers: u64,
    /// `e_shoff`.
    pub section_headers: u64,
    /// `e_phnum`.
    pub segment_count: u16,
    /// `e_shnum`.
    pub section_count: u16,
}

impl Header {
    /// Returns whether the file is input for a linker (`ET_REL`) and not loadable.
    pub fn is_relocatable(&self) -> bool {
        self.file_type == abi::ET_REL.0
    }
}

/// A section.
#[derive(Clone, Copy, Debug)]
pub struct Section<'data> {
    /// Name of the section.
    pub name: &'data str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_offset`.
    pub offset: u64,
    /// `sh_size`.
    pub size: u64,
    /// `sh_addralign`.
    pub align: u64,
    /// `sh_entsize`.
    pub entry_size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// Contents; empty if the section has no contents in the file.
    pub data: &'data [u8],
}

impl Section<'_> {
    /// Returns whether the section is part of the memory image.
    pub fn is_loaded(&self) -> bool {
        self.has(abi::SHF_ALLOC)
    }

    /// Returns whether the section contains instructions.
    pub fn is_code(&self) -> bool {
        self.has(abi::SHF_EXECINSTR)
    }

    /// Returns whether the section takes no space in the file.
    pub fn is_zeros(&self) -> bool {
        self.kind == abi::SHT_NOBITS.0
    }

    /// Returns whether the section has all bits of `flags`.
    pub fn has(&self, flags: abi::SectionFlags) -> bool {
        self.flags & flags.0 == flags.0
    }
}

/// Segment, which a loader maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`.
    pub flags: u32,
    /// `p_offset`.
    pub offset: u64,
    /// `p_vaddr`.
    pub address: u64,
    /// `p_filesz`.
    pub file_size: u64,
    /// `p_memsz`.
    pub memory_size: u64,
    /// `p_align`.
    pub align: u64,
}

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'data> {
    /// Name; empty for section symbols.
    pub name: &'data str,
    /// ELF field `st_value`. In loadable files it is the symbol's address, and in relocatable files its
    /// offset in the section.
    pub value: u64,
    /// `st_size`.
    pub size: u64,
    /// `STT_*`.
    pub kind: u8,
    /// `STB_*`.
    pub binding: u8,
    /// `STV_*`.
    pub visibility: u8,
    /// `st_shndx`.
    pub section: u16,
}

impl Symbol<'_> {
    /// Returns whether the symbol is defined elsewhere.
    pub fn is_undefined(&self) -> bool {
        self.section == 0
    }
}

/// Symbol table.
#[derive(Clone, Debug)]
pub struct SymbolTable<'data> {
    /// Name of the section: `.symtab` or `.dynsym`.
    pub name: &'data str,
    /// Index of the section.
    pub section: usize,
    /// Symbols. The first is the null symbol.
    pub symbols: Vec<Symbol<'data>>,
}

/// Relocation record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// ELF field `r_offset`. In loadable files it is an address, and in relocatable files an offset in the
    /// section to which the relocation applies.
    pub offset: u64,
    /// `R_AMDGPU_*`.
    pub kind: u32,
    /// Index in the symbol table.
    pub symbol: u32,
    /// `r_addend`; 0 for tables without addends.
    pub addend: i64,
}

/// Section of relocations.
#[derive(Clone, Debug)]
pub struct RelocationTable<'data> {
    /// Name of the section, such as `.rela.text`.
    pub name: &'data str,
    /// Index of the section to which the relocations apply. In loadable files the index is 0, because the
    /// relocations contain addresses.
    pub target: usize,
    /// Index of the section of its symbol table.
    pub symbols: usize,
    /// Records in file order.
    pub records: Vec<Relocation>,
}

/// Code object, read from an ELF file.
#[derive(Clone, Debug)]
pub struct CodeObject<'data> {
    /// ELF header.
    pub header: Header,
    /// Sections by index. The first is the null section.
    pub sections: Vec<Section<'data>>,
    /// Segments.
    pub segments: Vec<Segment>,
    /// Symbol tables.
    pub symbol_tables: Vec<SymbolTable<'data>>,
    /// Relocations.
    pub relocation_tables: Vec<RelocationTable<'data>>,
    /// Size of the file in bytes.
    pub file_size: usize,
    /// Messages about parts that could not be read.
    pub problems: Vec<String>,
}

/// Returns the addend of a relocation without an addend of its own: the contents of the field that the
/// relocation fills in. Returns 0 if the field is outside of the section.
fn stored_addend(record: &Relocation, fields: &[u8]) -> i64 {
    let field = usize::try_from(record.offset).ok().and_then(|at| fields.get(at..));
    let Some(field) = field else { return 0 };
    match record.kind {
        reloc::ABS64 | reloc::REL64 | reloc::RELATIVE64 => {
            field.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
        }
        reloc::REL16 => field.first_chunk().map_or(0, |bytes| i16::from_le_bytes(*bytes).into()),
        _ => field.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes).into()),
    }
}

const LE: LittleEndian = LittleEndian;
type RawSection = SectionHeader64<LittleEndian>;

impl<'data> CodeObject<'data> {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is not an ELF file, or is an ELF file of another kind or machine.
    pub fn parse(bytes: &'data [u8]) -> Result<CodeObject<'data>, ParseError> {
        let raw = header_of(bytes)?;
        let mut object = CodeObject {
            header: Header {
                os_abi: raw.e_ident.os_abi.0,
                abi_version: raw.e_ident.abi_version,
                file_type: raw.e_type(LE).0,
                flags: raw.e_flags(LE).0,
                entry: raw.e_entry(LE),
                program_headers: raw.e_phoff(LE),
                section_headers: raw.e_shoff(LE),
                segment_count: raw.e_phnum(LE),
                section_count: raw.e_shnum(LE),
            },
            sections: Vec::new(),
            segments: Vec::new(),
            symbol_tables: Vec::new(),
            relocation_tables: Vec::new(),
            file_size: bytes.len(),
            problems: Vec::new(),
        };
        let headers = raw.section_headers(LE, bytes).unwrap_or_else(|error| {
            object.problems.push(format!("section headers: {error}"));
            &[]
        });
        object.read_sections(raw, headers, bytes);
        object.read_segments(raw, bytes);
        // Limit for the number of bytes of all tables, so that a damaged file does not produce huge tables.
        // Tables of a valid file do not overlap, so together they are not larger than the file.
        let mut budget = bytes.len() as u64;
        object.read_symbols(headers, bytes, &mut budget);
        object.read_relocations(headers, bytes, &mut budget);
        Ok(object)
    }

    /// Returns the size that the whole file would have, if the file is truncated. Returns `None` if no header
    /// refers to bytes after the end of the file.
    pub fn whole_size(&self) -> Option<u64> {
        let Header { program_headers, section_headers, segment_count, section_count, .. } = self.header;
        let tables = [
            (section_headers, u64::from(section_count) * 64),
            (program_headers, u64::from(segment_count) * 56),
        ];
        let sections = self.sections.iter().filter(|section| section.kind != abi::SHT_NOBITS.0);
        let sections = sections.map(|section| (section.offset, section.size));
        let segments = self.segments.iter().map(|segment| (segment.offset, segment.file_size));
        let ends = tables.into_iter().chain(sections).chain(segments);
        let end = ends.map(|(start, size)| start.saturating_add(size)).max()?;
        (end > self.file_size as u64).then_some(end)
    }

    /// Returns whether a table of `size` bytes may be read. `budget` is the number of bytes that the tables
    /// of the file may still have together; the size of the table is subtracted from it.
    fn afford(&mut self, index: usize, size: u64, budget: &mut u64) -> bool {
        let left = budget.checked_sub(size);
        if left.is_none() {
            self.problems.push(format!("section {index} {}: overlaps others", self.sections[index].name));
        }
        *budget = left.unwrap_or(*budget);
        left.is_some()
    }

    fn read_sections(
        &mut self,
        raw: &FileHeader64<LittleEndian>,
        headers: &'data [RawSection],
        bytes: &'data [u8],
    ) {
        let strings = raw.section_strings(LE, bytes, headers).unwrap_or_else(|error| {
            self.problems.push(format!("section names: {error}"));
            object::StringTable::default()
        });
        for (index, header) in headers.iter().enumerate() {
            let name = match header.name(LE, strings) {
                Ok(name) => std::str::from_utf8(name).unwrap_or_default(),
                Err(_) => "",
            };
            let data = header.data(LE, bytes).unwrap_or_else(|_| {
                self.problems.push(format!("section {index} {name}: its bytes lie outside of the file"));
                &[]
            });
            self.sections.push(Section {
                name,
                kind: header.sh_type(LE).0,
                flags: header.sh_flags(LE).0,
                address: header.sh_addr(LE),
                offset: header.sh_offset(LE),
                size: header.sh_size(LE),
                align: header.sh_addralign(LE),
                entry_size: header.sh_entsize(LE),
                link: header.sh_link(LE),
                info: header.sh_info(LE),
                data,
            });
        }
    }

    fn read_segments(&mut self, raw: &FileHeader64<LittleEndian>, bytes: &'data [u8]) {
        match raw.program_headers(LE, bytes) {
            Ok(headers) => self.segments.extend(headers.iter().map(|header| Segment {
                kind: header.p_type(LE).0,
                flags: header.p_flags(LE).0,
                offset: header.p_offset(LE),
                address: header.p_vaddr(LE),
                file_size: header.p_filesz(LE),
                memory_size: header.p_memsz(LE),
                align: header.p_align(LE),
            })),
            Err(error) => self.problems.push(format!("program headers: {error}")),
        }
    }

    fn read_symbols(&mut self, headers: &'data [RawSection], bytes: &'data [u8], budget: &mut u64) {
        for (index, header) in headers.iter().enumerate() {
            let is_table = matches!(header.sh_type(LE), abi::SHT_SYMTAB | abi::SHT_DYNSYM);
            if !is_table || !self.afford(index, header.sh_size(LE), budget) {
                continue;
            }
            let name = self.sections[index].name;
            let symbols = match header.data_as_array::<abi::Sym64<LittleEndian>, _>(LE, bytes) {
                Ok(symbols) => symbols,
                Err(error) => {
                    self.problems.push(format!("symbol table {name}: {error}"));
                    continue;
                }
            };
            let strings =
                headers.get(header.sh_link(LE) as usize).and_then(|strings| strings.strings(LE, bytes).ok());
            let strings = strings.flatten().unwrap_or_default();
            let mut damaged = 0;
            let read = symbols.iter().map(|symbol| {
                let name = symbol.name(LE, strings).ok().and_then(|name| std::str::from_utf8(name).ok());
                damaged += usize::from(name.is_none());
                Symbol {
                    name: name.unwrap_or_default(),
                    value: symbol.st_value(LE),
                    size: symbol.st_size(LE),
                    kind: symbol.st_type().0,
                    binding: symbol.st_bind().0,
                    visibility: symbol.st_visibility().0,
                    section: symbol.st_shndx(LE).0,
                }
            });
            let symbols = read.collect();
            if damaged > 0 {
                self.problems.push(format!("symbol table {name}: {damaged} names cannot be read"));
            }
            self.symbol_tables.push(SymbolTable { name, section: index, symbols });
        }
    }

    fn read_relocations(&mut self, headers: &'data [RawSection], bytes: &'data [u8], budget: &mut u64) {
        for (index, header) in headers.iter().enumerate() {
            let is_table = matches!(header.sh_type(LE), abi::SHT_RELA | abi::SHT_REL);
            if !is_table || !self.afford(index, header.sh_size(LE), budget) {
                continue;
            }
            let read = match header.sh_type(LE) {
                abi::SHT_RELA => header.rela(LE, bytes).map(|found| {
                    found.map_or_else(Vec::new, |(records, _)| {
                        records
                            .iter()
                            .map(|record| Relocation {
                                offset: record.r_offset.get(LE),
                                kind: record.r_type(LE, false).0,
                                symbol: record.r_sym(LE, false),
                                addend: record.r_addend.get(LE),
                            })
                            .collect()
                    })
                }),
                _ => header.rel(LE, bytes).map(|found| {
                    found.map_or_else(Vec::new, |(records, _)| {
                        records
                            .iter()
                            .map(|record| Relocation {
                                offset: record.r_offset.get(LE),
                                kind: record.r_type(LE).0,
                                symbol: record.r_sym(LE),
                                addend: 0,
                            })
                            .collect()
                    })
                }),
            };
            let read = read.map(|mut records: Vec<Relocation>| {
                if header.sh_type(LE) == abi::SHT_REL {
                    let fields = self.sections.get(header.sh_info(LE) as usize).map_or(&[][..], |it| it.data);
                    records.iter_mut().for_each(|record| record.addend = stored_addend(record, fields));
                }
                records
            });
            let name = self.sections[index].name;
            match read {
                Ok(records) => self.relocation_tables.push(RelocationTable {
                    name,
                    target: header.sh_info(LE) as usize,
                    symbols: header.sh_link(LE) as usize,
                    records,
                }),
                Err(error) => self.problems.push(format!("relocations {name}: {error}")),
            }
        }
    }

    /// Returns the symbols of section number `section`, if this section is a symbol table.
    pub fn symbols_of(&self, section: usize) -> &[Symbol<'data>] {
        self.symbol_tables.iter().find(|table| table.section == section).map_or(&[], |table| &table.symbols)
    }

    /// Returns the most complete symbol table: `.symtab`, or `.dynsym` in a stripped file.
    pub fn symbols(&self) -> &[Symbol<'data>] {
        let by_name = |name| self.symbol_tables.iter().find(|table| table.name == name);
        by_name(".symtab").or(self.symbol_tables.first()).map_or(&[], |table| &table.symbols)
    }

    /// Returns the first section with that name.
    pub fn section(&self, name: &str) -> Option<&Section<'data>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns `size` bytes of section number `index`. `value` says where they begin: by their address in
    /// loadable files, and by their offset in the section in relocatable files.
    pub fn bytes_at(&self, index: usize, value: u64, size: u64) -> Option<&'data [u8]> {
        let section = self.sections.get(index)?;
        let base = if self.header.is_relocatable() { 0 } else { section.address };
        let start = usize::try_from(value.checked_sub(base)?).ok()?;
        section.data.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }
}

/// Returns the error for a 32-bit ELF file. LLVM writes such files for the architecture r600.
fn of_32_bits(bytes: &[u8]) -> ParseError {
    match FileHeader32::<LittleEndian>::parse(bytes) {
        Ok(header) if header.e_machine(LE).0 == EM_AMDGPU => {
            let number = (header.e_flags(LE).0 & 0xff) as usize;
            ParseError::R600(number.checked_sub(1).and_then(|at| crate::identity::R600.get(at)).copied())
        }
        _ => ParseError::OtherElf("a 32-bit ELF file"),
    }
}

/// Returns the ELF header of a file. Returns an error if the file is not a 64-bit little-endian ELF file for
/// AMD GPUs.
fn header_of(bytes: &[u8]) -> Result<&FileHeader64<LittleEndian>, ParseError> {
    if !bytes.starts_with(&abi::ELFMAG) {
        return Err(ParseError::NotElf);
    }
    match (bytes.get(4), bytes.get(5)) {
        (Some(2), Some(1)) => {}
        (Some(1), Some(1)) => return Err(of_32_bits(bytes)),
        (Some(1), _) => return Err(ParseError::OtherElf("a 32-bit ELF file")),
        (Some(2), Some(2)) => return Err(ParseError::OtherElf("a big-endian ELF file")),
        (Some(_), Some(_)) => return Err(ParseError::OtherElf("an ELF file of an unknown class")),
        _ => return Err(ParseError::NotElf),
    }
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(|_| ParseError::NotElf)?;
    match header.e_machine(LE).0 {
        EM_AMDGPU => Ok(header),
        other => Err(ParseError::OtherMachine(other)),
    }
}
