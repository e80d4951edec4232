//! ELF files of both classes, as these drivers write them.
//!
//! [`Object`] holds what has contents: sections, symbols, segments and relocations. The tables of names and
//! the section headers follow from the contents, so [`Object::write`] makes them anew.
//!
//! The crate `object` does not serve here: its errors have no offsets, and the inner files of OpenCL 1.x have
//! one symbol table for each encoding.

mod read;
pub(crate) mod write;

use crate::fields::{Field, List};
pub(crate) use read::{File, RawSegment};

/// Class of an ELF file: the size of its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// 32 bits.
    Elf32,
    /// 64 bits.
    Elf64,
}

impl Class {
    pub(crate) fn is_wide(self) -> bool {
        self == Class::Elf64
    }

    /// Returns the size of an address in bits.
    pub fn bits(self) -> u32 {
        if self.is_wide() { 64 } else { 32 }
    }
}

pub(crate) const PROGBITS: u32 = 1;
pub(crate) const SYMTAB: u32 = 2;
pub(crate) const STRTAB: u32 = 3;
pub(crate) const RELA: u32 = 4;
pub(crate) const NOBITS: u32 = 8;
pub(crate) const REL: u32 = 9;

/// First section index that means something else than a section.
pub(crate) const FIRST_SPECIAL_SECTION: u16 = 0xff00;

/// ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object<'a> {
    /// Size of addresses.
    pub class: Class,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_type`: 1 is relocatable, 2 is executable.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
    /// `e_flags`.
    pub flags: u32,
    /// Sections with contents, in the order of the file.
    pub sections: Vec<Section<'a>>,
    /// Entries of the symbol table, in its order. Some drivers' tables have no null symbol at the start.
    pub symbols: Vec<Symbol<'a>>,
    /// Program headers.
    pub segments: Vec<Segment>,
}

/// Offset in the file that was read.
///
/// All origins are equal: two files with the same contents at other offsets are the same file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin(pub u64);

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

/// Section with contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Name.
    pub name: &'a str,
    /// `sh_type`: 1 is contents (PROGBITS), 7 a note, 8 zeros that are not in the file (NOBITS).
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Address.
    pub address: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Size of an entry in bytes, or 0.
    pub entry_size: u64,
    /// Size in bytes.
    pub size: u64,
    /// Contents. Empty for `NOBITS`.
    pub data: &'a [u8],
    /// Where the contents were read. 0 if the section is for a file to be written.
    pub origin: Origin,
    /// Relocations of the section.
    pub relocations: Vec<Relocation>,
}

impl<'a> Section<'a> {
    /// Returns a section of contents (PROGBITS) with alignment 1.
    pub fn new(name: &'a str, flags: u64, data: &'a [u8]) -> Section<'a> {
        Section {
            name,
            kind: PROGBITS,
            flags,
            address: 0,
            align: 1,
            entry_size: 0,
            size: data.len() as u64,
            data,
            origin: Origin::default(),
            relocations: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> crate::bytes::Bytes<'a> {
        crate::bytes::Bytes { data: self.data, base: self.origin.0 }
    }

    /// Returns the fields of the section.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        list.add("type", self.kind);
        list.hex("flags", self.flags);
        list.hex("address", self.address);
        list.add("alignment", self.align);
        list.add("entry size", self.entry_size);
        list.add("size", self.size);
        list.add("relocations", self.relocations.len());
        list.0
    }
}

/// Where a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: the symbol is not defined.
    Undefined,
    /// In this element of [`Object::sections`].
    Section(usize),
    /// A number that names no section of the file, as it is there.
    Other(u16),
}

/// Symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Name.
    pub name: &'a str,
    /// Where the symbol is.
    pub place: Place,
    /// Offset in the section.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
    /// Type: 1 is an object, 2 a function, 3 a section, 10 an HSA kernel, 12 a sampler.
    pub kind: u8,
    /// Binding: 0 is local, 1 is global.
    pub binding: u8,
    /// `st_other`.
    pub other: u8,
}

impl<'a> Symbol<'a> {
    /// Returns a local symbol.
    pub fn local(name: &'a str, kind: u8, place: Place, value: u64, size: u64) -> Symbol<'a> {
        Symbol { name, place, value, size, kind, binding: 0, other: 0 }
    }

    /// Returns the null symbol, which is the first of a table.
    pub fn null() -> Symbol<'a> {
        Symbol::local("", 0, Place::Undefined, 0, 0)
    }

    pub(crate) fn is_null(&self) -> bool {
        *self == Symbol::null()
    }

    /// Returns the fields of the symbol.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        list.add(
            "section",
            match self.place {
                Place::Undefined => "undefined".to_owned(),
                Place::Section(index) => format!("{index}"),
                Place::Other(number) => format!("number {number}"),
            },
        );
        list.hex("value", self.value);
        list.add("size", self.size);
        list.add("type", self.kind);
        list.add("binding", self.binding);
        list.hex("other", self.other);
        list.0
    }
}

/// Relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset in the section.
    pub offset: u64,
    /// Type: 1 is the low word of an address, 2 the high word.
    pub kind: u32,
    /// Index of the symbol.
    pub symbol: u32,
    /// Addend. `None` if the relocation is of the kind whose addend is in the section.
    pub addend: Option<i64>,
}

impl Relocation {
    /// Returns the fields of the relocation.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.hex("offset", self.offset);
        list.add("type", self.kind);
        list.add("symbol", self.symbol);
        list.add("addend", self.addend.map_or("in place".to_owned(), |addend| addend.to_string()));
        list.0
    }
}

/// Program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`: 1 is execute, 2 is write, 4 is read.
    pub flags: u32,
    /// Alignment in bytes.
    pub align: u64,
    /// First element of [`Object::sections`] in the segment.
    pub first: usize,
    /// Number of sections in the segment.
    pub count: usize,
}

impl Segment {
    /// Returns the fields of the segment.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.hex("type", self.kind);
        list.hex("flags", self.flags);
        list.add("alignment", self.align);
        list.add("first section", self.first);
        list.add("sections", self.count);
        list.0
    }
}

impl<'a> Object<'a> {
    /// Returns a file without contents, whose symbol table has only the null symbol.
    pub fn new(class: Class, kind: u16, machine: u16) -> Object<'a> {
        Object {
            class,
            os_abi: 0,
            abi_version: 0,
            kind,
            machine,
            flags: 0,
            sections: Vec::new(),
            symbols: vec![Symbol::null()],
            segments: Vec::new(),
        }
    }

    /// Adds a section and returns its index.
    pub fn add_section(&mut self, section: Section<'a>) -> usize {
        self.sections.push(section);
        self.sections.len() - 1
    }

    /// Returns the first section with that name.
    pub fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns the fields of the file's header.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("class", format!("ELF{}", self.class.bits()));
        list.add("OS ABI", self.os_abi);
        list.add("ABI version", self.abi_version);
        list.add("type", self.kind);
        list.hex("machine", self.machine);
        list.hex("flags", self.flags);
        list.add("sections", self.sections.len());
        list.add("symbols", self.symbols.len());
        list.add("segments", self.segments.len());
        list.0
    }
}
