//! Writes ELF files.

use super::*;
use crate::bytes::Output;

/// Table of names.
#[derive(Debug)]
pub(crate) struct Names(pub Vec<u8>);

impl Names {
    pub fn new() -> Names {
        Names(vec![0])
    }

    /// Adds a name and returns its offset.
    pub fn add(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let offset = self.0.len() as u32;
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(0);
        offset
    }
}

/// Section header.
#[derive(Clone, Copy, Default)]
pub(crate) struct Header {
    pub name: u32,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entry_size: u64,
}

impl Header {
    pub fn write(&self, output: &mut Output, class: Class) {
        let wide = class.is_wide();
        output.u32(self.name);
        output.u32(self.kind);
        for word in [self.flags, self.address, self.offset, self.size] {
            output.word(wide, word);
        }
        output.u32(self.link);
        output.u32(self.info);
        output.word(wide, self.align);
        output.word(wide, self.entry_size);
    }
}

/// What an ELF header has beside the constants of the class.
pub(crate) struct FileHeader {
    pub class: Class,
    pub os_abi: u8,
    pub abi_version: u8,
    pub kind: u16,
    pub machine: u16,
    pub flags: u32,
    pub segments: u16,
    pub sections_at: u64,
    pub sections: u16,
    pub names_index: u16,
}

impl FileHeader {
    pub fn size(class: Class) -> usize {
        if class.is_wide() { 64 } else { 52 }
    }

    /// Writes the header. The program headers follow it.
    pub fn write(&self, output: &mut Output) {
        let wide = self.class.is_wide();
        output.bytes(b"\x7fELF");
        output.bytes(&[if wide { 2 } else { 1 }, 1, 1, self.os_abi, self.abi_version]);
        output.bytes(&[0; 7]);
        output.u16(self.kind);
        output.u16(self.machine);
        output.u32(1);
        output.word(wide, 0);
        output.word(wide, if self.segments == 0 { 0 } else { FileHeader::size(self.class) as u64 });
        output.word(wide, self.sections_at);
        output.u32(self.flags);
        output.u16(FileHeader::size(self.class) as u16);
        output.u16(if self.segments == 0 { 0 } else { program_header_size(self.class) as u16 });
        output.u16(self.segments);
        output.u16(section_header_size(self.class) as u16);
        output.u16(self.sections);
        output.u16(self.names_index);
    }
}

pub(crate) fn program_header_size(class: Class) -> usize {
    if class.is_wide() { 56 } else { 32 }
}

pub(crate) fn section_header_size(class: Class) -> usize {
    if class.is_wide() { 64 } else { 40 }
}

pub(crate) fn write_program_header(output: &mut Output, class: Class, segment: &super::read::RawSegment) {
    output.u32(segment.kind);
    if class.is_wide() {
        output.u32(segment.flags);
    }
    for word in [segment.offset, segment.address, 0, segment.file_size, segment.memory_size] {
        output.word(class.is_wide(), word);
    }
    if !class.is_wide() {
        output.u32(segment.flags);
    }
    output.word(class.is_wide(), segment.align);
}

/// Writes a symbol.
pub(crate) fn write_symbol(output: &mut Output, class: Class, name: u32, index: u16, symbol: &Symbol) {
    output.u32(name);
    let info = symbol.binding << 4 | symbol.kind & 15;
    if class.is_wide() {
        output.bytes(&[info, symbol.other]);
        output.u16(index);
        output.u64(symbol.value);
        output.u64(symbol.size);
    } else {
        output.u32(symbol.value as u32);
        output.u32(symbol.size as u32);
        output.bytes(&[info, symbol.other]);
        output.u16(index);
    }
}

/// Number of sections before the contents: the null section, names of sections, names of symbols, symbols.
const TABLES: usize = 4;

impl Object<'_> {
    /// Writes the file: header, program headers, tables of names and symbols, contents, relocations, section
    /// headers.
    ///
    /// # Panics
    /// If a section index of the file does not fit in 16 bits.
    pub fn write(&self) -> Vec<u8> {
        let wide = self.class.is_wide();
        let mut section_names = Names::new();
        let mut headers = vec![Header::default(); TABLES];
        let table_names = [".shstrtab", ".strtab", ".symtab"].map(|name| section_names.add(name));
        for section in &self.sections {
            headers.push(Header {
                name: section_names.add(section.name),
                kind: section.kind,
                flags: section.flags,
                address: section.address,
                size: if section.kind == NOBITS { section.size } else { section.data.len() as u64 },
                align: section.align,
                entry_size: section.entry_size,
                ..Header::default()
            });
        }
        let mut relocated = Vec::new();
        for (index, section) in
            self.sections.iter().enumerate().filter(|(_, section)| !section.relocations.is_empty())
        {
            let has_addend = section.relocations[0].addend.is_some();
            let prefix = if has_addend { ".rela" } else { ".rel" };
            let entry_size =
                if wide { 16 } else { 8 } + if has_addend { if wide { 8 } else { 4 } } else { 0 };
            headers.push(Header {
                name: section_names.add(&format!("{prefix}{}", section.name)),
                kind: if has_addend { RELA } else { REL },
                size: entry_size * section.relocations.len() as u64,
                link: 3,
                info: (TABLES + index) as u32,
                align: 8,
                entry_size,
                ..Header::default()
            });
            relocated.push(section);
        }
        let (symbol_names, symbols) = self.symbol_table();
        let strings = |name, data: &[u8]| Header {
            name,
            kind: STRTAB,
            flags: 0x20,
            size: data.len() as u64,
            align: 1,
            ..Header::default()
        };
        headers[1] = strings(table_names[0], &section_names.0);
        headers[2] = strings(table_names[1], &symbol_names);
        let locals = self.symbols.iter().position(|symbol| symbol.binding != 0).unwrap_or(self.symbols.len());
        headers[3] = Header {
            name: table_names[2],
            kind: SYMTAB,
            size: symbols.len() as u64,
            link: 2,
            info: locals as u32,
            align: 8,
            entry_size: if wide { 24 } else { 16 },
            ..Header::default()
        };
        let relocations: Vec<Vec<u8>> =
            relocated.iter().map(|section| relocation_table(section, wide)).collect();
        let mut contents: Vec<&[u8]> = vec![&[], &section_names.0, &symbol_names, &symbols];
        contents.extend(self.sections.iter().map(|section| section.data));
        contents.extend(relocations.iter().map(Vec::as_slice));
        self.assemble(&mut headers, &contents)
    }

    fn symbol_table(&self) -> (Vec<u8>, Vec<u8>) {
        let mut names = Names::new();
        let mut table = Output::default();
        for symbol in &self.symbols {
            let index = match symbol.place {
                Place::Undefined => 0,
                Place::Section(index) => u16::try_from(index + TABLES).expect("a section index has 16 bits"),
                Place::Other(number) => number,
            };
            write_symbol(&mut table, self.class, names.add(symbol.name), index, symbol);
        }
        (names.0, table.data)
    }

    /// Lays out the contents and writes the file.
    fn assemble(&self, headers: &mut [Header], contents: &[&[u8]]) -> Vec<u8> {
        let mut at = FileHeader::size(self.class) + self.segments.len() * program_header_size(self.class);
        for (header, data) in headers.iter_mut().zip(contents).skip(1) {
            at = at.next_multiple_of(header.align.clamp(1, 4096) as usize);
            header.offset = at as u64;
            at += data.len();
        }
        let sections_at = at.next_multiple_of(8);
        let mut output = Output::default();
        FileHeader {
            class: self.class,
            os_abi: self.os_abi,
            abi_version: self.abi_version,
            kind: self.kind,
            machine: self.machine,
            flags: self.flags,
            segments: u16::try_from(self.segments.len()).expect("the number of segments has 16 bits"),
            sections_at: sections_at as u64,
            sections: u16::try_from(headers.len()).expect("the number of sections has 16 bits"),
            names_index: 1,
        }
        .write(&mut output);
        for segment in &self.segments {
            let inside = &headers[TABLES + segment.first..TABLES + segment.first + segment.count];
            write_program_header(&mut output, self.class, &program_header(segment, inside));
        }
        for (header, data) in headers.iter().zip(contents).skip(1) {
            output.data.resize(header.offset as usize, 0);
            output.bytes(data);
        }
        output.data.resize(sections_at, 0);
        for header in headers {
            header.write(&mut output, self.class);
        }
        output.data
    }
}

/// Returns the program header of a segment from the headers of its sections.
fn program_header(segment: &Segment, inside: &[Header]) -> super::read::RawSegment {
    let offset = inside.first().map_or(0, |header| header.offset);
    let address = inside.first().map_or(0, |header| header.address);
    let ends = |in_file: bool| {
        let of_file = |header: &&Header| !in_file || header.kind != NOBITS;
        let base = if in_file { offset } else { address };
        let start = |header: &Header| if in_file { header.offset } else { header.address };
        inside.iter().filter(of_file).map(|header| (start(header) + header.size).saturating_sub(base)).max()
    };
    super::read::RawSegment {
        kind: segment.kind,
        flags: segment.flags,
        offset,
        address,
        file_size: ends(true).unwrap_or(0),
        memory_size: ends(false).unwrap_or(0),
        align: segment.align,
    }
}

fn relocation_table(section: &Section, wide: bool) -> Vec<u8> {
    let mut table = Output::default();
    for relocation in &section.relocations {
        table.word(wide, relocation.offset);
        if wide {
            table.u64(u64::from(relocation.symbol) << 32 | u64::from(relocation.kind));
        } else {
            table.u32(relocation.symbol << 8 | relocation.kind & 0xff);
        }
        if let Some(addend) = relocation.addend {
            table.word(wide, addend as u64);
        }
    }
    table.data
}
