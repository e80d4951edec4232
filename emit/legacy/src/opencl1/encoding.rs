//! The inner ELF file of a kernel: a dictionary of encodings, each with CAL notes, code and data.
//!
//! # Source
//! Multi2Sim, `src/arch/southern-islands/disassembler/Binary.cc`; CLRX, `amdbin/AmdBinaries.cpp`.

use super::device::machine_name;
use super::note::{self, Note, UserData};
use crate::bytes::{Bytes, Claims, Output, Result};
use crate::elf::write::{FileHeader, Header, Names, write_program_header, write_symbol};
use crate::elf::{Class, File, PROGBITS, Place, RawSegment, STRTAB, SYMTAB, Symbol};
use crate::fields::{Field, List};

/// Inner file of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inner<'a> {
    /// `e_flags`: 1.
    pub flags: u32,
    /// Encodings.
    pub encodings: Vec<Encoding<'a>>,
}

/// A kernel for one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoding<'a> {
    /// Machine. [`machine_name`] has its name.
    pub machine: u32,
    /// Type: 4 is a compute kernel in all known files.
    pub kind: u32,
    /// Flags: 0 in all known files.
    pub flags: u32,
    /// Notes.
    pub notes: Vec<Note<'a>>,
    /// Code: section `.text`.
    pub text: &'a [u8],
    /// Constants: section `.data`. 4,736 bytes in all known files.
    pub data: &'a [u8],
    /// Symbols. The place of a symbol is the type of the note that lists what the symbol names, and the value
    /// is the index in that list.
    pub symbols: Vec<Symbol<'a>>,
}

impl<'a> Inner<'a> {
    /// Returns a file without encodings.
    pub fn new() -> Inner<'a> {
        Inner { flags: 1, encodings: Vec::new() }
    }

    /// Returns the fields of the file, without those of the encodings.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.hex("flags", self.flags);
        list.add("encodings", self.encodings.len());
        list.0
    }
}

impl Default for Inner<'_> {
    fn default() -> Self {
        Inner::new()
    }
}

impl<'a> Encoding<'a> {
    /// Returns an encoding with code and without notes and data.
    pub fn new(machine: u32, text: &'a [u8]) -> Encoding<'a> {
        let symbols = vec![Symbol::null()];
        Encoding { machine, kind: 4, flags: 0, notes: Vec::new(), text, data: &[], symbols }
    }

    /// Returns the pairs of register and value.
    pub fn program_info(&self) -> impl Iterator<Item = [u32; 2]> {
        self.notes
            .iter()
            .flat_map(|note| match note {
                Note::ProgramInfo(pairs) => pairs.as_slice(),
                _ => &[],
            })
            .copied()
    }

    /// Returns what the driver puts into scalar registers before the kernel starts.
    pub fn user_data(&self) -> Vec<UserData> {
        note::user_data(&self.program_info().collect::<Vec<_>>())
    }

    /// Returns the fields of the encoding, without those of notes, user data and symbols.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.named("machine", self.machine, machine_name(self.machine));
        list.add("type", self.kind);
        list.hex("flags", self.flags);
        list.add("notes", self.notes.len());
        list.size("code", self.text);
        list.size("data", self.data);
        list.add("symbols", self.symbols.len());
        list.0
    }
}

/// Type of the segment that holds the dictionary.
const DICTIONARY: u32 = 0x7000_0002;
const LOAD: u32 = 1;
const NOTE: u32 = 4;
/// `e_machine`, `EI_OSABI` and `EI_ABIVERSION` of the inner file.
const IDENTITY: (u16, u8, u8) = (0x7d, 100, 1);

/// Encoding while it is read: its place in the inner file and what was found of it.
struct Entry<'a> {
    encoding: Encoding<'a>,
    bytes: Bytes<'a>,
    start: u64,
    end: u64,
    has_notes: bool,
    has_load: bool,
    seen: Vec<&'a str>,
}

/// Reads the inner file, and claims in `claims` what the records of the file use.
pub(crate) fn read<'a>(bytes: Bytes<'a>, claims: &mut Claims) -> Result<Inner<'a>> {
    let file = File::parse(bytes)?;
    if (file.class, file.machine, file.os_abi, file.abi_version)
        != (Class::Elf32, IDENTITY.0, IDENTITY.1, IDENTITY.2)
    {
        let rule = "the inner file of a kernel is ELF32 for machine 0x7d with OS ABI 100 and version 1";
        return Err(bytes.error(0, rule));
    }
    file.tables.iter().for_each(|table| claims.add(*table));
    let mut entries = dictionary(&file, claims)?;
    for segment in &file.segments {
        if segment.kind == DICTIONARY {
            continue;
        }
        let part = bytes.part(segment.offset, segment.file_size, "a segment")?;
        let entry = find(&mut entries, segment.offset, segment.file_size)
            .ok_or_else(|| part.error(0, "the segment is in no encoding of the dictionary"))?;
        let seen = match segment.kind {
            NOTE => &mut entry.has_notes,
            LOAD => &mut entry.has_load,
            kind => return Err(part.error(0, format!("an encoding has no segment of type {kind:#x}"))),
        };
        if std::mem::replace(seen, true) {
            return Err(part.error(0, "the encoding has two segments of the same type"));
        }
        if segment.kind == NOTE {
            claims.add(part);
            entry.encoding.notes = note::read(part)?;
        }
    }
    read_sections(&file, &mut entries, claims)?;
    for entry in &entries {
        if !entry.has_notes || !entry.has_load {
            return Err(entry.bytes.error(0, "the encoding has no segment of notes, or none of code"));
        }
    }
    entries.sort_by_key(|entry| entry.start);
    Ok(Inner { flags: file.flags, encodings: entries.into_iter().map(|entry| entry.encoding).collect() })
}

/// Reads the dictionary. The entries are sorted by their place, and do not overlap.
fn dictionary<'a>(file: &File<'a>, claims: &mut Claims) -> Result<Vec<Entry<'a>>> {
    let mut dictionaries = file.segments.iter().filter(|segment| segment.kind == DICTIONARY);
    let (Some(segment), None) = (dictionaries.next(), dictionaries.next()) else {
        return Err(file.bytes.error(0, "the inner file of a kernel has one dictionary of encodings"));
    };
    let what = "the dictionary of encodings";
    let table = file.bytes.part(segment.offset, segment.file_size, what)?;
    claims.add(table);
    let words = table.words(what)?;
    let (rows, rest) = words.as_chunks::<5>();
    if !rest.is_empty() {
        return Err(table.error(0, format!("{what} is not a multiple of 20 bytes")));
    }
    let mut entries = Vec::with_capacity(rows.len());
    for (index, &[machine, kind, offset, size, flags]) in rows.iter().enumerate() {
        let (start, size) = (u64::from(offset), u64::from(size));
        let bytes = file.bytes.part(start, size, "an encoding").map_err(|error| {
            table.error(20 * index as u64, format!("the entry of the dictionary is bad: {}", error.rule))
        })?;
        let encoding = Encoding { kind, flags, symbols: Vec::new(), ..Encoding::new(machine, &[]) };
        let end = start + size;
        entries.push(Entry {
            encoding,
            bytes,
            start,
            end,
            has_notes: false,
            has_load: false,
            seen: Vec::new(),
        });
    }
    entries.sort_by_key(|entry| entry.start);
    for pair in entries.windows(2) {
        if pair[1].start < pair[0].end {
            return Err(pair[1].bytes.error(0, "two encodings overlap"));
        }
    }
    Ok(entries)
}

/// Returns the entry that holds a range of the inner file.
fn find<'e, 'a>(entries: &'e mut [Entry<'a>], offset: u64, size: u64) -> Option<&'e mut Entry<'a>> {
    let index = entries.partition_point(|entry| entry.start <= offset).checked_sub(1)?;
    let entry = &mut entries[index];
    (offset + size <= entry.end).then_some(entry)
}

/// Reads the sections `.text`, `.data`, `.symtab` and `.strtab` of each encoding.
fn read_sections<'a>(file: &File<'a>, entries: &mut [Entry<'a>], claims: &mut Claims) -> Result<()> {
    for (index, section) in file.sections.iter().enumerate().skip(1) {
        let Some(entry) = find(entries, section.offset, section.size).filter(|_| section.kind != 0) else {
            if section.name != ".shstrtab" {
                return Err(section.data.error(0, format!("section `{}` is in no encoding", section.name)));
            }
            claims.add(section.data);
            continue;
        };
        let data = section.data;
        if entry.seen.contains(&section.name) {
            return Err(data.error(0, format!("an encoding has one section `{}`", section.name)));
        }
        match (section.name, section.kind) {
            (".text", PROGBITS) => entry.encoding.text = data.data,
            (".data", PROGBITS) => entry.encoding.data = data.data,
            (".symtab", SYMTAB) => entry.encoding.symbols = read_symbols(file, index)?,
            (".strtab", STRTAB) => {}
            (name, kind) => {
                return Err(data.error(0, format!("an encoding has no section `{name}` of type {kind}")));
            }
        }
        entry.seen.push(section.name);
        claims.add(data);
    }
    Ok(())
}

fn read_symbols<'a>(file: &File<'a>, table: usize) -> Result<Vec<Symbol<'a>>> {
    let symbols = file.symbols(table)?.into_iter().map(|symbol| Symbol {
        name: symbol.name,
        place: if symbol.section == 0 { Place::Undefined } else { Place::Other(symbol.section) },
        value: symbol.value,
        size: symbol.size,
        kind: symbol.info & 15,
        binding: symbol.info >> 4,
        other: symbol.other,
    });
    Ok(symbols.collect())
}

/// Parts of an encoding as they are written.
struct Parts {
    notes: Vec<u8>,
    /// `.text`, `.data`, `.symtab`, `.strtab`.
    sections: [Vec<u8>; 4],
}

impl Parts {
    fn new(encoding: &Encoding) -> Parts {
        let (mut names, mut symbols) = (Names::new(), Output::default());
        for symbol in &encoding.symbols {
            let index = if let Place::Other(index) = symbol.place { index } else { 0 };
            write_symbol(&mut symbols, Class::Elf32, names.add(symbol.name), index, symbol);
        }
        let sections = [encoding.text.to_vec(), encoding.data.to_vec(), symbols.data, names.0];
        Parts { notes: note::write(&encoding.notes), sections }
    }

    fn load_size(&self) -> usize {
        self.sections.iter().map(Vec::len).sum()
    }
}

/// Number of sections before the first encoding's.
const TABLES: usize = 2;

impl Inner<'_> {
    /// Writes the file: header, program headers, dictionary, names of sections, section headers, encodings.
    ///
    /// # Panics
    /// If the number of encodings has more than 16 bits.
    pub fn write(&self) -> Vec<u8> {
        let parts: Vec<Parts> = self.encodings.iter().map(Parts::new).collect();
        let mut names = Names::new();
        let table_name = names.add(".shstrtab");
        let section_names = [".text", ".data", ".symtab", ".strtab"].map(|name| names.add(name));
        let segments = 1 + 2 * parts.len();
        let dictionary_at = 52 + 32 * segments;
        let names_at = dictionary_at + 20 * parts.len();
        let headers_at = (names_at + names.0.len()).next_multiple_of(4);
        let section_count = TABLES + 4 * parts.len();
        let mut at = headers_at + 40 * section_count;
        let (mut dictionary, mut programs) = (Output::default(), Output::default());
        let mut headers = vec![Header::default(); TABLES];
        headers[1] = Header {
            name: table_name,
            kind: STRTAB,
            offset: names_at as u64,
            size: names.0.len() as u64,
            ..Header::default()
        };
        let program = |output: &mut Output, kind: u32, offset: usize, size: usize, memory: usize| {
            let (offset, file_size, memory_size) = (offset as u64, size as u64, memory as u64);
            let segment = RawSegment { kind, flags: 0, offset, address: 0, file_size, memory_size, align: 0 };
            write_program_header(output, Class::Elf32, &segment);
        };
        program(&mut programs, DICTIONARY, dictionary_at, 20 * parts.len(), 0);
        for (encoding, part) in self.encodings.iter().zip(&parts) {
            let size = part.notes.len() + part.load_size();
            for word in [encoding.machine, encoding.kind, at as u32, size as u32, encoding.flags] {
                dictionary.u32(word);
            }
            program(&mut programs, NOTE, at, part.notes.len(), 0);
            at += part.notes.len();
            program(&mut programs, LOAD, at, part.load_size(), part.load_size());
            let first = headers.len() as u32;
            for ((data, name), kind) in
                part.sections.iter().zip(section_names).zip([PROGBITS, PROGBITS, SYMTAB, STRTAB])
            {
                let mut header =
                    Header { name, kind, offset: at as u64, size: data.len() as u64, ..Header::default() };
                if kind == SYMTAB {
                    (header.link, header.info, header.entry_size) = (first + 3, 1, 16);
                }
                headers.push(header);
                at += data.len();
            }
        }
        let mut output = Output::default();
        FileHeader {
            class: Class::Elf32,
            os_abi: IDENTITY.1,
            abi_version: IDENTITY.2,
            kind: 2,
            machine: IDENTITY.0,
            flags: self.flags,
            segments: u16::try_from(segments).expect("the number of segments has 16 bits"),
            sections_at: headers_at as u64,
            sections: u16::try_from(section_count).expect("the number of sections has 16 bits"),
            names_index: 1,
        }
        .write(&mut output);
        output.bytes(&programs.data);
        output.bytes(&dictionary.data);
        output.bytes(&names.0);
        output.data.resize(headers_at, 0);
        headers.iter().for_each(|header| header.write(&mut output, Class::Elf32));
        for part in &parts {
            output.bytes(&part.notes);
            part.sections.iter().for_each(|data| output.bytes(data));
        }
        output.data
    }
}
