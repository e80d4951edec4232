//! Source lines from DWARF line tables, as comments.

use crate::elf::{CodeObject, Section};
use gimli::{EndianSlice, LittleEndian};
use std::borrow::Cow;
use std::fmt::{self, Write};

/// Source location, as a line table gives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePlace {
    /// Name of the file.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 if the table does not give it.
    pub column: u32,
}

/// Formats the location as `saxpy.k:7`.
impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Code address, and the source line that begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    address: u64,
    /// Index in [`Lines::files`].
    file: u32,
    /// Line; 0 for none.
    line: u32,
    column: u32,
    is_statement: bool,
    /// Whether the code ends here.
    is_end: bool,
    /// Whether the prologue of a function ends here. The prologue is the code that moves the function's
    /// parameters to their places.
    is_prologue_end: bool,
}

/// Line tables of a file.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    files: Vec<String>,
    /// The texts of source files that the line table contains, each with the number of the file.
    texts: Vec<(u32, String)>,
    rows: Vec<Row>,
}

/// Largest number of rows of line tables that are read. There is a limit because a damaged table can claim
/// any number.
const ROWS: usize = 1 << 22;

impl Lines {
    /// Reads the line tables, as far as they can be read.
    pub fn read(object: &CodeObject<'_>) -> Lines {
        let mut lines = Lines::default();
        let line = relocated(object, ".debug_line", section_base);
        if line.is_empty() {
            return lines;
        }
        let strings = [".debug_str", ".debug_line_str"].map(|name| relocated(object, name, section_base));
        let slice = |bytes| EndianSlice::new(bytes, LittleEndian);
        let line = gimli::DebugLine::from(slice(&line));
        let texts = Texts { str: slice(&strings[0]), line_str: slice(&strings[1]) };
        let mut offset = 0;
        // `.debug_line` contains line programs one after the other. The header of a program gives its length,
        // from which the beginning of the next program follows.
        while let Ok(program) = line.program(gimli::DebugLineOffset(offset), 8, None, None) {
            let header = program.header();
            let step = header.unit_length() + if header.format() == gimli::Format::Dwarf64 { 12 } else { 4 };
            offset += step;
            if lines.program(program, &texts).is_none() || lines.rows.len() >= ROWS {
                break;
            }
        }
        lines.rows.sort_by_key(|row| row.address);
        lines
    }

    fn program<'a>(
        &mut self,
        program: gimli::IncompleteLineProgram<EndianSlice<'a, LittleEndian>>,
        texts: &Texts<'a>,
    ) -> Option<()> {
        let first = self.files.len() as u32;
        let header = program.header();
        // Version 5 counts files from 0, older versions from 1.
        if header.version() < 5 {
            self.files.push("?".to_owned());
        }
        for file in header.file_names() {
            if let Some(text) =
                file.source().and_then(|source| texts.text(source)).filter(|text| !text.is_empty())
            {
                self.texts.push((self.files.len() as u32, text.to_owned()));
            }
            self.files.push(texts.text(file.path_name()).unwrap_or("?").to_owned());
        }
        let mut rows = program.rows();
        while let Ok(Some((_, row))) = rows.next_row() {
            let line = if row.end_sequence() { 0 } else { row.line().map_or(0, |line| line.get() as u32) };
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
            };
            let file = first.saturating_add(u32::try_from(row.file_index()).unwrap_or(u32::MAX));
            let is_end = row.end_sequence();
            let is_statement = row.is_stmt() || is_end;
            let (address, is_prologue_end) = (row.address(), row.prologue_end());
            self.rows.push(Row { address, file, line, column, is_statement, is_end, is_prologue_end });
            if self.rows.len() >= ROWS {
                return None;
            }
        }
        Some(())
    }

    /// Returns the source location of the instruction at `place`, which is an offset in a section of a
    /// relocatable file, or an address in a linked file.
    pub fn source_at(
        &self,
        index: usize,
        section: &Section<'_>,
        relocatable: bool,
        place: u64,
    ) -> Option<SourcePlace> {
        let base = if relocatable { section_base(index) } else { section.address };
        let address = place.checked_sub(section.address)?.checked_add(base)?;
        let row = self.rows[..self.rows.partition_point(|row| row.address <= address)].last()?;
        self.row_place(row).filter(|_| row.address >= base)
    }

    /// Returns the source location of the instruction at an address of a linked file.
    pub fn of_address(&self, address: u64) -> Option<SourcePlace> {
        let end = self.rows.partition_point(|row| row.address <= address);
        self.row_place(self.rows.get(end.checked_sub(1)?)?)
    }

    /// Returns whether a line table covers an address of a linked file, even if the table gives no line for
    /// it.
    pub fn covers(&self, address: u64) -> bool {
        let end = self.rows.partition_point(|row| row.address <= address);
        self.rows[..end].last().is_some_and(|row| !row.is_end)
    }

    /// Returns the text of a source file, if the table embeds it (`-gembed-source`, LLVM's extension of DWARF
    /// 5 line tables).
    pub fn text(&self, file: &str) -> Option<&str> {
        let is_it = |number: u32| self.files.get(number as usize).is_some_and(|name| name == file);
        self.texts.iter().find(|(number, _)| is_it(*number)).map(|(_, text)| text.as_str())
    }

    /// Returns every source location that has code, in the order of addresses. A location may appear several
    /// times.
    pub fn all(&self) -> impl Iterator<Item = SourcePlace> {
        self.rows.iter().filter_map(|row| self.row_place(row))
    }

    /// Returns the addresses at which lines begin, in ascending order, with their source locations. The
    /// location is `None` where the table gives none or the code ends.
    pub fn rows(&self) -> impl Iterator<Item = (u64, Option<SourcePlace>)> {
        self.rows.iter().map(|row| (row.address, self.row_place(row)))
    }

    /// Returns the rows at which a debugger stops when it steps: those of [`Lines::rows`] that begin a
    /// statement. Code without a line in the middle of a statement belongs to that statement.
    pub fn statements(&self) -> impl Iterator<Item = (u64, Option<SourcePlace>)> {
        let mut last = None;
        let steps = self.rows.iter().enumerate().filter(move |(at, row)| {
            if row.is_statement {
                last = Some((row.file, row.line));
                return true;
            }
            let goes_on =
                |next: &Row| !next.is_statement && next.line != 0 && last == Some((next.file, next.line));
            row.line == 0 && !self.rows.get(at + 1).is_some_and(goes_on)
        });
        steps.map(|(_, row)| (row.address, self.row_place(row)))
    }

    /// Returns the addresses at which prologues of functions end, in ascending order.
    pub fn prologue_ends(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().filter(|row| row.is_prologue_end).map(|row| row.address)
    }

    /// Returns the addresses at which statements begin, with their source locations. If several rows have the
    /// same address, the last row is used.
    pub fn rows_of_statements(&self) -> impl Iterator<Item = (u64, SourcePlace)> {
        let steps = self.rows.iter().filter(|row| row.is_statement && row.line != 0);
        steps.filter_map(|row| Some((row.address, self.row_place(row)?)))
    }

    fn row_place(&self, &Row { file, line, column, .. }: &Row) -> Option<SourcePlace> {
        let file = self.files.get(file as usize).map_or("?", String::as_str);
        (line != 0).then(|| SourcePlace { file: file.to_owned(), line, column })
    }

    /// Returns a cursor over the rows of one section.
    pub(crate) fn cursor(&self, index: usize, section: &Section<'_>, relocatable: bool) -> Cursor<'_> {
        // All sections of a relocatable file begin at address 0. To tell their rows apart, `relocated` has
        // added a different base address for each section.
        let base = if relocatable { section_base(index) } else { section.address };
        let rest = &self.rows[self.rows.partition_point(|row| row.address < base)..];
        let shift = base.wrapping_sub(section.address);
        Cursor { files: &self.files, rest, shift, last: (u32::MAX, u32::MAX) }
    }
}

struct Texts<'a> {
    str: EndianSlice<'a, LittleEndian>,
    line_str: EndianSlice<'a, LittleEndian>,
}

impl<'a> Texts<'a> {
    fn text(&self, value: gimli::AttributeValue<EndianSlice<'a, LittleEndian>>) -> Option<&'a str> {
        let at = |section: EndianSlice<'a, LittleEndian>, offset: usize| {
            let rest = section.slice().get(offset..)?;
            rest.split(|byte| *byte == 0).next()
        };
        let bytes = match value {
            gimli::AttributeValue::String(text) => text.slice(),
            gimli::AttributeValue::DebugStrRef(offset) => at(self.str, offset.0)?,
            gimli::AttributeValue::DebugLineStrRef(offset) => at(self.line_str, offset.0)?,
            _ => return None,
        };
        std::str::from_utf8(bytes).ok()
    }
}

/// Position in the rows while instructions are printed.
pub(crate) struct Cursor<'a> {
    files: &'a [String],
    rest: &'a [Row],
    shift: u64,
    last: (u32, u32),
}

impl Cursor<'_> {
    /// Writes comments before the instruction at `place`, if its source line differs from that of the
    /// previous instruction: the source line, and the text that `beside` returns for it.
    pub(crate) fn comment(&mut self, place: u64, beside: Option<super::Beside<'_>>, out: &mut String) {
        let Some(first) = self.rest.first() else { return };
        let address = place.wrapping_add(self.shift);
        if first.address > address {
            return;
        }
        let count = self.rest.iter().take_while(|row| row.address <= address).count();
        let row = self.rest[count - 1];
        self.rest = &self.rest[count..];
        if row.line != 0 && (row.file, row.line) != self.last {
            self.last = (row.file, row.line);
            let file = self.files.get(row.file as usize).map_or("?", String::as_str);
            let short = file.rsplit('/').next().unwrap_or(file);
            let _ = writeln!(out, "\t; {}:{}", short.escape_debug(), row.line);
            let place_of = || SourcePlace { file: file.to_owned(), line: row.line, column: row.column };
            let more = beside.map(|beside| beside(place, &place_of())).unwrap_or_default();
            for line in more.lines() {
                let _ = writeln!(out, "\t; {line}");
            }
        }
    }
}

/// Returns the base address that is used for a section of a relocatable file. All sections of such a file
/// begin at 0, so each section gets a different base address.
fn section_base(index: usize) -> u64 {
    (index as u64) << 40
}

/// Returns the contents of a debug section, or nothing if there is no such section. In a relocatable file,
/// applies the relocations of the debug section, as if each section of code were loaded at the address that
/// `base` returns for it.
pub fn relocated<'data>(
    object: &CodeObject<'data>,
    name: &str,
    base: impl Fn(usize) -> u64,
) -> Cow<'data, [u8]> {
    let Some(index) = object.sections.iter().position(|section| section.name == name) else {
        return Cow::Borrowed(&[]);
    };
    let data = object.sections[index].data;
    if !object.header.is_relocatable() {
        return Cow::Borrowed(data);
    }
    let mut bytes = data.to_vec();
    for table in object.relocation_tables.iter().filter(|table| table.target == index) {
        let symbols = object.symbols_of(table.symbols);
        for record in &table.records {
            let symbol = symbols.get(record.symbol as usize);
            let (Some(symbol), Some(size)) = (symbol, absolute_size(record.kind)) else { continue };
            let section = usize::from(symbol.section);
            let is_code = object.sections.get(section).is_some_and(|section| section.is_code());
            let base = if is_code { base(section) } else { 0 };
            let value = base.wrapping_add(symbol.value).wrapping_add_signed(record.addend).to_le_bytes();
            let start = usize::try_from(record.offset).ok();
            let field = start.and_then(|start| bytes.get_mut(start..start.checked_add(size)?));
            if let Some(field) = field {
                field.copy_from_slice(&value[..size]);
            }
        }
    }
    Cow::Owned(bytes)
}

/// Returns the size in bytes of the field that a relocation in a debug section changes. Returns `None` for
/// types of relocations that do not store an address; debug sections do not have such relocations.
fn absolute_size(kind: u32) -> Option<usize> {
    match kind {
        // R_AMDGPU_ABS32_LO, R_AMDGPU_ABS32.
        1 | 6 => Some(4),
        // R_AMDGPU_ABS64.
        3 => Some(8),
        _ => None,
    }
}
