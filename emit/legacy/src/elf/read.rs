//! Reads ELF files.

use super::*;
use crate::bytes::{Bytes, Claims, Error, Result};

/// ELF file as it is in the bytes, with all tables.
pub(crate) struct File<'a> {
    pub bytes: Bytes<'a>,
    pub class: Class,
    pub os_abi: u8,
    pub abi_version: u8,
    pub kind: u16,
    pub machine: u16,
    pub flags: u32,
    /// All sections. The first is the null section.
    pub sections: Vec<RawSection<'a>>,
    pub segments: Vec<RawSegment>,
    /// Bytes of the headers and of the tables of headers.
    pub tables: Vec<Bytes<'a>>,
}

pub(crate) struct RawSection<'a> {
    pub name: &'a str,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    /// Offset from the start of the ELF file.
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entry_size: u64,
    pub data: Bytes<'a>,
}

pub(crate) struct RawSegment {
    pub kind: u32,
    pub flags: u32,
    /// Offset from the start of the ELF file.
    pub offset: u64,
    pub address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

pub(crate) struct RawSymbol<'a> {
    pub name: &'a str,
    pub info: u8,
    pub other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

/// Header of a table of headers.
struct Table {
    offset: u64,
    entry_size: u16,
    count: u16,
}

impl Table {
    /// Returns the table's entries. `size` is the size that an entry must have.
    fn entries<'a>(&self, file: Bytes<'a>, size: u64, what: &str) -> Result<Bytes<'a>> {
        if self.count == 0 {
            return file.part(0, 0, what);
        }
        if u64::from(self.entry_size) != size {
            let actual = self.entry_size;
            return Err(file.error(self.offset, format!("an entry of {what} has {actual} bytes, not {size}")));
        }
        file.part(self.offset, u64::from(self.count) * size, what)
    }
}

impl<'a> File<'a> {
    pub fn parse(bytes: Bytes<'a>) -> Result<File<'a>> {
        let ident = bytes.part(0, 16, "the identification of an ELF file")?;
        if ident.data[..4] != *b"\x7fELF" {
            return Err(ident.error(0, "an ELF file starts with the bytes 7f 45 4c 46"));
        }
        let class = match ident.data[4] {
            1 => Class::Elf32,
            2 => Class::Elf64,
            other => return Err(ident.error(4, format!("the class of an ELF file is 1 or 2, not {other}"))),
        };
        if ident.data[5] != 1 {
            return Err(ident.error(5, "the file is not little-endian"));
        }
        if ident.data[6] != 1 {
            return Err(ident.error(6, "the version of an ELF file is 1"));
        }
        let wide = class.is_wide();
        let mut cursor = bytes.cursor();
        cursor.at = 16;
        let header = "the ELF header";
        let kind = cursor.u16(header)?;
        let machine = cursor.u16(header)?;
        cursor.u32(header)?;
        cursor.word(wide, header)?;
        let segments_at = cursor.word(wide, header)?;
        let sections_at = cursor.word(wide, header)?;
        let flags = cursor.u32(header)?;
        cursor.u16(header)?;
        let mut table = |offset| -> Result<Table> {
            Ok(Table { offset, entry_size: cursor.u16(header)?, count: cursor.u16(header)? })
        };
        let segments = table(segments_at)?;
        let sections = table(sections_at)?;
        let names_index = cursor.u16(header)?;
        let segments = segments.entries(bytes, if wide { 56 } else { 32 }, "the table of program headers")?;
        let sections = sections.entries(bytes, if wide { 64 } else { 40 }, "the table of section headers")?;
        let mut file = File {
            bytes,
            class,
            os_abi: ident.data[7],
            abi_version: ident.data[8],
            kind,
            machine,
            flags,
            sections: Vec::new(),
            segments: Vec::new(),
            tables: vec![bytes.part(0, cursor.at, header)?, segments, sections],
        };
        file.read_segments(segments)?;
        file.read_sections(sections, names_index)?;
        Ok(file)
    }

    fn read_segments(&mut self, table: Bytes<'a>) -> Result<()> {
        let what = "a program header";
        let mut cursor = table.cursor();
        while !cursor.is_at_end() {
            let kind = cursor.u32(what)?;
            let segment = if self.class.is_wide() {
                let flags = cursor.u32(what)?;
                let (offset, address) = (cursor.u64(what)?, cursor.u64(what)?);
                cursor.u64(what)?;
                let (file_size, memory_size) = (cursor.u64(what)?, cursor.u64(what)?);
                RawSegment { kind, flags, offset, address, file_size, memory_size, align: cursor.u64(what)? }
            } else {
                let mut word = || cursor.u32(what).map(u64::from);
                let (offset, address) = (word()?, word()?);
                word()?;
                let (file_size, memory_size, flags) = (word()?, word()?, word()? as u32);
                RawSegment { kind, flags, offset, address, file_size, memory_size, align: word()? }
            };
            self.bytes.part(segment.offset, segment.file_size, "a segment")?;
            self.segments.push(segment);
        }
        Ok(())
    }

    fn read_sections(&mut self, table: Bytes<'a>, names_index: u16) -> Result<()> {
        let wide = self.class.is_wide();
        let mut names = Vec::new();
        let mut cursor = table.cursor();
        let what = "a section header";
        while !cursor.is_at_end() {
            names.push((cursor.bytes.base + cursor.at, cursor.u32(what)?));
            let kind = cursor.u32(what)?;
            let (flags, address) = (cursor.word(wide, what)?, cursor.word(wide, what)?);
            let (offset, size) = (cursor.word(wide, what)?, cursor.word(wide, what)?);
            let (link, info) = (cursor.u32(what)?, cursor.u32(what)?);
            let (align, entry_size) = (cursor.word(wide, what)?, cursor.word(wide, what)?);
            let data = match kind {
                0 | NOBITS => Bytes { data: &[], base: self.bytes.base },
                _ => self.bytes.part(offset, size, "a section")?,
            };
            let name = "";
            self.sections.push(RawSection {
                name,
                kind,
                flags,
                address,
                offset,
                size,
                link,
                info,
                align,
                entry_size,
                data,
            });
        }
        if self.sections.is_empty() {
            return Ok(());
        }
        let strings = self.sections.get(usize::from(names_index)).map(|section| section.data);
        let strings = strings.ok_or_else(|| {
            self.bytes.error(0, format!("the section of section names has number {names_index}"))
        })?;
        for (section, (place, offset)) in self.sections.iter_mut().zip(names).skip(1) {
            section.name =
                strings.name(u64::from(offset), "the name of a section").map_err(|error| Error {
                    offset: place,
                    rule: format!("the section's name at {offset:#x} is bad: {}", error.rule).into(),
                })?;
        }
        Ok(())
    }

    /// Returns the symbols of a section that is a symbol table.
    pub fn symbols(&self, table: usize) -> Result<Vec<RawSymbol<'a>>> {
        let section = &self.sections[table];
        let wide = self.class.is_wide();
        let size = if wide { 24 } else { 16 };
        if !section.data.len().is_multiple_of(size) {
            return Err(section
                .data
                .error(0, format!("a symbol has {size} bytes, and the table not a multiple")));
        }
        let strings = self.sections.get(section.link as usize).map(|section| section.data);
        let strings =
            strings.ok_or_else(|| section.data.error(0, "the symbol table has no section of names"))?;
        let what = "a symbol";
        let mut cursor = section.data.cursor();
        let mut symbols = Vec::with_capacity((section.data.len() / size) as usize);
        while !cursor.is_at_end() {
            let place = cursor.at;
            let name = u64::from(cursor.u32(what)?);
            let (mut value, mut size) = (0, 0);
            if !wide {
                (value, size) = (u64::from(cursor.u32(what)?), u64::from(cursor.u32(what)?));
            }
            let (info, other, index) = (cursor.u8(what)?, cursor.u8(what)?, cursor.u16(what)?);
            if wide {
                (value, size) = (cursor.u64(what)?, cursor.u64(what)?);
            }
            let name = strings.name(name, "the name of a symbol").map_err(|error| {
                section.data.error(place, format!("the symbol's name at {name:#x} is bad: {}", error.rule))
            })?;
            symbols.push(RawSymbol { name, info, other, section: index, value, size });
        }
        Ok(symbols)
    }

    fn relocations(&self, section: &RawSection, symbols: usize) -> Result<Vec<Relocation>> {
        let wide = self.class.is_wide();
        let has_addend = section.kind == RELA;
        let size = if wide { 16 } else { 8 } + if has_addend { if wide { 8 } else { 4 } } else { 0 };
        if !section.data.len().is_multiple_of(size) {
            let rule = format!("a relocation has {size} bytes, and the table not a multiple");
            return Err(section.data.error(0, rule));
        }
        let what = "a relocation";
        let mut cursor = section.data.cursor();
        let mut relocations = Vec::with_capacity((section.data.len() / size) as usize);
        while !cursor.is_at_end() {
            let place = cursor.at;
            let offset = cursor.word(wide, what)?;
            let info = cursor.word(wide, what)?;
            let (symbol, kind) = if wide {
                ((info >> 32) as u32, info as u32)
            } else {
                ((info >> 8) as u32, info as u32 & 0xff)
            };
            let addend = match (has_addend, wide) {
                (false, _) => None,
                (true, true) => Some(cursor.u64(what)? as i64),
                (true, false) => Some(i64::from(cursor.u32(what)? as i32)),
            };
            if symbol as usize >= symbols.max(1) {
                let rule = format!("the relocation names symbol {symbol} of {symbols}");
                return Err(section.data.error(place, rule));
            }
            relocations.push(Relocation { offset, kind, symbol, addend });
        }
        Ok(relocations)
    }

    /// Adds to `claims` what the reader of an ELF file understands.
    pub fn claim(&self, claims: &mut Claims) {
        self.tables.iter().for_each(|table| claims.add(*table));
        self.sections.iter().for_each(|section| claims.add(section.data));
    }
}

/// Returns whether a section is a table that [`Object::write`] makes anew.
fn is_table(file: &File, index: usize, name_tables: &[usize]) -> bool {
    let section = &file.sections[index];
    index == 0 || matches!(section.kind, 0 | SYMTAB | REL | RELA) || name_tables.contains(&index)
}

impl<'a> Object<'a> {
    pub(crate) fn from_file(file: &File<'a>) -> Result<Object<'a>> {
        let mut tables = (1..file.sections.len()).filter(|&index| file.sections[index].kind == SYMTAB);
        let table = tables.next();
        if let Some(second) = tables.next() {
            return Err(file.sections[second].data.error(0, "the file has a second symbol table"));
        }
        let raw_symbols = table.map(|table| file.symbols(table)).transpose()?.unwrap_or_default();
        let mut name_tables: Vec<usize> =
            table.map(|table| file.sections[table].link as usize).into_iter().collect();
        // The table of section names is the one that holds its own name.
        name_tables.extend((1..file.sections.len()).filter(|&index| {
            file.sections[index].kind == STRTAB && file.sections[index].name == ".shstrtab"
        }));
        // Position of each section in `sections`.
        let mut places = vec![None; file.sections.len()];
        let mut sections = Vec::new();
        for (index, section) in file.sections.iter().enumerate() {
            if !is_table(file, index, &name_tables) {
                places[index] = Some(sections.len());
                sections.push(Section {
                    name: section.name,
                    kind: section.kind,
                    flags: section.flags,
                    address: section.address,
                    align: section.align,
                    entry_size: section.entry_size,
                    size: section.size,
                    data: section.data.data,
                    origin: Origin(section.data.base),
                    relocations: Vec::new(),
                });
            }
        }
        attach_relocations(file, raw_symbols.len(), &places, &mut sections)?;
        let mut symbols = Vec::with_capacity(raw_symbols.len());
        for symbol in &raw_symbols {
            let place = match symbol.section {
                0 => Place::Undefined,
                index if index < FIRST_SPECIAL_SECTION && usize::from(index) < places.len() => {
                    Place::Section(places[usize::from(index)].ok_or_else(|| {
                        let table = table.map_or(file.bytes, |table| file.sections[table].data);
                        table.error(0, format!("symbol `{}` is in a section without contents", symbol.name))
                    })?)
                }
                index => Place::Other(index),
            };
            symbols.push(Symbol {
                name: symbol.name,
                place,
                value: symbol.value,
                size: symbol.size,
                kind: symbol.info & 15,
                binding: symbol.info >> 4,
                other: symbol.other,
            });
        }
        let segments = segments(file, &places)?;
        Ok(Object {
            class: file.class,
            os_abi: file.os_abi,
            abi_version: file.abi_version,
            kind: file.kind,
            machine: file.machine,
            flags: file.flags,
            sections,
            symbols,
            segments,
        })
    }
}

/// Reads the tables of relocations into the sections that they are for.
fn attach_relocations(
    file: &File,
    symbols: usize,
    places: &[Option<usize>],
    sections: &mut [Section],
) -> Result<()> {
    for section in file.sections.iter().filter(|section| matches!(section.kind, REL | RELA)) {
        let relocations = file.relocations(section, symbols)?;
        let target = places.get(section.info as usize).copied().flatten();
        let target = target.map(|place: usize| &mut sections[place]).ok_or_else(|| {
            section.data.error(0, format!("relocations are for section {} without contents", section.info))
        })?;
        if !target.relocations.is_empty() {
            return Err(section.data.error(0, "the section has a second table of relocations"));
        }
        target.relocations = relocations;
    }
    Ok(())
}

/// Finds the sections of each segment.
///
/// A section without bytes in the file belongs to the segment by its address, as a loader sees the segment.
fn segments(file: &File, places: &[Option<usize>]) -> Result<Vec<Segment>> {
    // The tables of segments and sections may be long, and their product longer.
    const MOST: usize = 1 << 22;
    if file.segments.len().saturating_mul(file.sections.len()) > MOST {
        return Err(file.bytes.error(0, "the file has too many segments and sections"));
    }
    let mut segments = Vec::new();
    for segment in &file.segments {
        let is_inside = |section: &RawSection| {
            let (at, size) = match section.kind {
                // Zeros follow the bytes of the segment that are in the file.
                NOBITS if section.offset < segment.offset + segment.file_size => return false,
                NOBITS if segment.memory_size == segment.file_size => return false,
                NOBITS => (section.address.checked_sub(segment.address), segment.memory_size),
                _ => (section.offset.checked_sub(segment.offset), segment.file_size),
            };
            at.and_then(|at| at.checked_add(section.size)).is_some_and(|end| end <= size)
        };
        let mut inside = (0..places.len()).filter_map(|index| {
            places[index].filter(|_| file.sections[index].size > 0 && is_inside(&file.sections[index]))
        });
        let first = inside.next();
        let count = first.map_or(0, |first| {
            1 + inside.enumerate().take_while(|&(distance, place)| place == first + distance + 1).count()
        });
        let (kind, flags, align) = (segment.kind, segment.flags, segment.align);
        segments.push(Segment { kind, flags, align, first: first.unwrap_or(0), count });
    }
    Ok(segments)
}
