//! Writes `.debug_line`: the contents of `.file` and `.loc` as a table for debuggers.
//!
//! The table is a program: its instructions change the values of address, file, line and column, and add rows
//! that consist of the current values. If there is a file 0, to which version 5 of the table refers as a
//! whole, version 5 is written, with names in `.debug_line_str`. Otherwise version 4 is written.
//!
//! # Source
//! DWARF 5, 6.2 and 7.22 (line tables); DWARF 4, 6.2.4 (the older header).

use crate::assembler::Assembler;
use crate::error::{Result, error};
use crate::expr::{Reduced, Term, Value};
use objwriter::leb;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

const ADDRESS_SIZE: u8 = 8;
/// Unit of address advances in bytes: a dword, because instructions consist of dwords.
const DWORD: u64 = 4;

// A special instruction of the line program advances both the line and the address. The line advances by a
// number in `LINE_BASE..LINE_BASE + LINE_RANGE`.
const LINE_BASE: i64 = -5;
const LINE_RANGE: u64 = 14;
const OPCODE_BASE: u64 = 13;
/// Numbers of operands of the standard instructions 1 to 12.
const STANDARD_OPERANDS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
/// Number of units by which `DW_LNS_const_add_pc` advances the address, which is as many as the last special
/// instruction advances it.
const MOST_UNITS: u64 = (255 - OPCODE_BASE) / LINE_RANGE;

const DW_LNS_COPY: u8 = 1;
const DW_LNS_ADVANCE_PC: u8 = 2;
const DW_LNS_ADVANCE_LINE: u8 = 3;
const DW_LNS_SET_FILE: u8 = 4;
const DW_LNS_SET_COLUMN: u8 = 5;
const DW_LNS_NEGATE_STMT: u8 = 6;
const DW_LNS_SET_BASIC_BLOCK: u8 = 7;
const DW_LNS_CONST_ADD_PC: u8 = 8;
const DW_LNS_SET_PROLOGUE_END: u8 = 10;
const DW_LNS_SET_EPILOGUE_BEGIN: u8 = 11;
const DW_LNS_SET_ISA: u8 = 12;
const DW_LNE_END_SEQUENCE: u8 = 1;
const DW_LNE_SET_ADDRESS: u8 = 2;
const DW_LNE_SET_DISCRIMINATOR: u8 = 4;

const DW_LNCT_PATH: u64 = 1;
const DW_LNCT_DIRECTORY_INDEX: u64 = 2;
const DW_LNCT_MD5: u64 = 5;
const DW_LNCT_LLVM_SOURCE: u64 = 0x2001;
const DW_FORM_UDATA: u64 = 0x0f;
const DW_FORM_DATA16: u64 = 0x1e;
const DW_FORM_LINE_STRP: u64 = 0x1f;

/// Contents of the directives.
#[derive(Default)]
pub(crate) struct Lines {
    /// File 0.
    pub root: Option<File>,
    /// Directory of file 0.
    pub directory: Vec<u8>,
    /// Directories, numbered from 1.
    directories: Vec<Vec<u8>>,
    directory_numbers: FxHashMap<Vec<u8>, usize>,
    pub files: BTreeMap<u32, File>,
    /// Location given by the last `.loc`.
    pub location: Location,
    /// Whether that location has no row yet.
    pub is_pending: bool,
    pub rows: Vec<Row>,
}

/// Source file.
pub(crate) struct File {
    pub name: Vec<u8>,
    pub directory: usize,
    pub md5: Option<u128>,
    pub source: Option<Vec<u8>>,
    pub span: (u32, u32),
}

/// Source location and attributes of a row.
#[derive(Clone, Copy)]
pub(crate) struct Location {
    pub file: u32,
    pub line: u32,
    pub column: u16,
    pub isa: u8,
    pub discriminator: u32,
    pub is_statement: bool,
    pub basic_block: bool,
    pub prologue_end: bool,
    pub epilogue_begin: bool,
}

impl Default for Location {
    fn default() -> Location {
        Location {
            file: 1,
            line: 0,
            column: 0,
            isa: 0,
            discriminator: 0,
            is_statement: true,
            basic_block: false,
            prologue_end: false,
            epilogue_begin: false,
        }
    }
}

/// Row: from this position on, code has this location.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub place: Value,
    pub location: Location,
}

/// Strings of `.debug_line_str`, without duplicates.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    offsets: FxHashMap<Vec<u8>, u64>,
}

impl Texts {
    fn add(&mut self, text: &[u8]) -> u64 {
        if let Some(&offset) = self.offsets.get(text) {
            return offset;
        }
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
        self.offsets.insert(text.to_vec(), offset);
        offset
    }
}

impl Lines {
    /// Returns the number of a directory in the table, and adds the directory if needed. Number 0 is the
    /// directory of file 0.
    pub fn directory_number(&mut self, directory: &[u8]) -> usize {
        if directory.is_empty() {
            return 0;
        }
        if let Some(&number) = self.directory_numbers.get(directory) {
            return number;
        }
        self.directories.push(directory.to_vec());
        self.directory_numbers.insert(directory.to_vec(), self.directories.len());
        self.directories.len()
    }

    /// Returns whether `.loc` may use that file number.
    pub fn has_file(&self, number: u32) -> bool {
        if number == 0 { self.root.is_some() } else { self.files.contains_key(&number) }
    }
}

impl Assembler {
    /// Writes the table, if there are any files.
    pub(crate) fn write_lines(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if lines.root.is_none() && lines.files.is_empty() {
            return;
        }
        let missing = (1..).zip(&lines.files).find(|(expected, (number, _))| expected != *number);
        if let Some((number, (_, file))) = missing {
            let span = file.span.0 as usize..file.span.1 as usize;
            self.report_placed(
                error(span, format!("no `.file` has the number {number}")).label("after this one"),
            );
            return;
        }
        if let Err(mistake) = self.write_line_table(&lines) {
            self.report_placed(mistake);
        }
    }

    fn write_line_table(&mut self, lines: &Lines) -> Result<()> {
        let (kind, flags, _) = crate::section::defaults(".debug_line");
        let section = self.section_named(".debug_line", kind, flags);
        let mut texts = Texts::default();
        self.inside(section, |assembler| {
            let start = assembler.here().1;
            assembler.emit(&[0; 4], &(0..0))?;
            match &lines.root {
                None => assembler.write_header_4(lines)?,
                Some(root) => assembler.write_header_5(lines, root, &mut texts)?,
            }
            for (section, rows) in assembler.rows_by_section(&lines.rows) {
                assembler.write_sequence(section, &rows)?;
            }
            assembler.fill_in_length(start);
            Ok(())
        })?;
        if lines.root.is_none() {
            return Ok(());
        }
        let section = self.line_texts();
        self.inside(section, |assembler| assembler.emit(&texts.bytes, &(0..0)))
    }

    /// Returns the section `.debug_line_str`.
    fn line_texts(&mut self) -> u32 {
        let (kind, flags, entry_size) = crate::section::defaults(".debug_line_str");
        let section = self.section_named(".debug_line_str", kind, flags);
        self.sections[section as usize].entry_size = entry_size;
        section
    }

    fn write_header_4(&mut self, lines: &Lines) -> Result<()> {
        self.emit(&[4, 0], &(0..0))?;
        let start = self.here().1;
        let mut out = vec![0; 4];
        parameters(&mut out);
        for directory in &lines.directories {
            out.extend_from_slice(directory);
            out.push(0);
        }
        out.push(0);
        for file in lines.files.values() {
            out.extend_from_slice(&file.name);
            out.push(0);
            leb::unsigned(&mut out, file.directory as u64);
            // Time and size of the file are not given.
            out.extend_from_slice(&[0, 0]);
        }
        out.push(0);
        self.emit(&out, &(0..0))?;
        self.fill_in_length(start);
        Ok(())
    }

    fn write_header_5(&mut self, lines: &Lines, root: &File, texts: &mut Texts) -> Result<()> {
        self.emit(&[5, 0, ADDRESS_SIZE, 0], &(0..0))?;
        let start = self.here().1;
        let mut out = vec![0; 4];
        parameters(&mut out);
        entry_format(&mut out, &[(DW_LNCT_PATH, DW_FORM_LINE_STRP)]);
        leb::unsigned(&mut out, lines.directories.len() as u64 + 1);
        self.emit(&out, &(0..0))?;
        // If the directory of the compiler is not given, `.` is written, because a real name would make the
        // bytes depend on the machine.
        let first: &[u8] = if lines.directory.is_empty() { b"." } else { &lines.directory };
        self.write_text(texts, first)?;
        for directory in &lines.directories {
            self.write_text(texts, directory)?;
        }
        let files = || std::iter::once(root).chain(lines.files.values());
        let has_md5 = files().all(|file| file.md5.is_some());
        let has_source = files().any(|file| file.source.is_some());
        let mut format = vec![(DW_LNCT_PATH, DW_FORM_LINE_STRP), (DW_LNCT_DIRECTORY_INDEX, DW_FORM_UDATA)];
        format.extend(has_md5.then_some((DW_LNCT_MD5, DW_FORM_DATA16)));
        format.extend(has_source.then_some((DW_LNCT_LLVM_SOURCE, DW_FORM_LINE_STRP)));
        out.clear();
        entry_format(&mut out, &format);
        leb::unsigned(&mut out, lines.files.len() as u64 + 1);
        self.emit(&out, &(0..0))?;
        for file in files() {
            self.write_text(texts, &file.name)?;
            out.clear();
            leb::unsigned(&mut out, file.directory as u64);
            out.extend(file.md5.filter(|_| has_md5).map(u128::to_be_bytes).into_iter().flatten());
            self.emit(&out, &(0..0))?;
            if has_source {
                self.write_text(texts, file.source.as_deref().unwrap_or_default())?;
            }
        }
        self.fill_in_length(start);
        Ok(())
    }

    /// Writes a reference to a string of `.debug_line_str`.
    fn write_text(&mut self, texts: &mut Texts, text: &[u8]) -> Result<()> {
        let section = self.line_texts();
        let base = self.sections[section as usize].size();
        let place = self.place_node(section, base + texts.add(text));
        self.emit_value(place, 4, 0..0)
    }

    /// Groups rows by the section of their code, with their offsets in it. Sections are in the order of their
    /// first rows.
    fn rows_by_section(&self, rows: &[Row]) -> Vec<(u32, Vec<(u64, Row)>)> {
        let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
        let mut groups: Vec<(u32, Vec<(u64, Row)>)> = Vec::new();
        for row in rows {
            let Ok(Reduced { plus: Some(Term::Place(section, offset)), .. }) = self.reduce(row.place) else {
                continue;
            };
            let group = *numbers.entry(section).or_insert_with(|| {
                groups.push((section, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push((offset, *row));
        }
        groups
    }

    /// Writes the rows of a section.
    fn write_sequence(&mut self, section: u32, rows: &[(u64, Row)]) -> Result<()> {
        let mut before = Location { line: 1, ..Location::default() };
        let mut out = Vec::new();
        let mut address = None;
        for (offset, row) in rows {
            changes(&mut out, &before, &row.location);
            if address.is_none() {
                out.extend_from_slice(&[0, 1 + ADDRESS_SIZE, DW_LNE_SET_ADDRESS]);
                self.emit(&out, &(0..0))?;
                out.clear();
                self.emit_value(row.place, ADDRESS_SIZE, 0..0)?;
            }
            let bytes = offset.wrapping_sub(address.unwrap_or(*offset));
            advance(&mut out, i64::from(row.location.line) - i64::from(before.line), bytes / DWORD);
            address = Some(*offset);
            before = Location { discriminator: 0, ..row.location };
        }
        let whole = &self.sections[section as usize];
        let end = whole.first_end.unwrap_or(whole.size());
        match end.wrapping_sub(address.unwrap_or(end)) / DWORD {
            0 => {}
            MOST_UNITS => out.push(DW_LNS_CONST_ADD_PC),
            units => with_operand(&mut out, DW_LNS_ADVANCE_PC, units),
        }
        out.extend_from_slice(&[0, 1, DW_LNE_END_SEQUENCE]);
        self.emit(&out, &(0..0))
    }

    /// Fills in a four-byte length field at `at`, which counts the bytes after it.
    pub(crate) fn fill_in_length(&mut self, at: u64) {
        let length = (self.here().1 - at).saturating_sub(4) as u32;
        let at = at as usize;
        if let Some(field) = self.current().data.get_mut(at..at + 4) {
            field.copy_from_slice(&length.to_le_bytes());
        }
    }
}

/// Writes the part of the header that says how instructions are encoded: the unit of addresses, one operation
/// for each instruction, that rows are statements, and the ranges of special instructions.
fn parameters(out: &mut Vec<u8>) {
    out.extend_from_slice(&[DWORD as u8, 1, 1, LINE_BASE as u8, LINE_RANGE as u8, OPCODE_BASE as u8]);
    out.extend_from_slice(&STANDARD_OPERANDS);
}

fn entry_format(out: &mut Vec<u8>, format: &[(u64, u64)]) {
    out.push(format.len() as u8);
    for (content, form) in format {
        leb::unsigned(out, *content);
        leb::unsigned(out, *form);
    }
}

fn with_operand(out: &mut Vec<u8>, code: u8, operand: u64) {
    out.push(code);
    leb::unsigned(out, operand);
}

/// Writes instructions of the line program that change the values which differ between the locations `before`
/// and `now`, except line and address.
fn changes(out: &mut Vec<u8>, before: &Location, now: &Location) {
    if now.file != before.file {
        with_operand(out, DW_LNS_SET_FILE, now.file.into());
    }
    if now.column != before.column {
        with_operand(out, DW_LNS_SET_COLUMN, now.column.into());
    }
    if now.discriminator != before.discriminator {
        let mut operand = Vec::new();
        leb::unsigned(&mut operand, now.discriminator.into());
        out.extend_from_slice(&[0, 1 + operand.len() as u8, DW_LNE_SET_DISCRIMINATOR]);
        out.extend_from_slice(&operand);
    }
    if now.isa != before.isa {
        with_operand(out, DW_LNS_SET_ISA, now.isa.into());
    }
    let marks = [
        (now.is_statement != before.is_statement, DW_LNS_NEGATE_STMT),
        (now.basic_block, DW_LNS_SET_BASIC_BLOCK),
        (now.prologue_end, DW_LNS_SET_PROLOGUE_END),
        (now.epilogue_begin, DW_LNS_SET_EPILOGUE_BEGIN),
    ];
    out.extend(marks.iter().filter(|mark| mark.0).map(|mark| mark.1));
}

/// Writes instructions of the line program that advance the line by `lines` and the address by `units`, and
/// then add a row.
fn advance(out: &mut Vec<u8>, mut lines: i64, units: u64) {
    let is_far = !(LINE_BASE..LINE_BASE + LINE_RANGE as i64).contains(&lines);
    if is_far {
        out.push(DW_LNS_ADVANCE_LINE);
        leb::signed(out, lines);
        lines = 0;
    }
    if lines == 0 && units == 0 {
        out.push(DW_LNS_COPY);
        return;
    }
    let special = |units: u64| {
        let code = OPCODE_BASE + (lines - LINE_BASE) as u64 + units.checked_mul(LINE_RANGE)?;
        u8::try_from(code).ok()
    };
    if let Some(code) = special(units) {
        out.push(code);
    } else if let Some(code) = units.checked_sub(MOST_UNITS).and_then(special) {
        out.extend_from_slice(&[DW_LNS_CONST_ADD_PC, code]);
    } else {
        with_operand(out, DW_LNS_ADVANCE_PC, units);
        out.push(if is_far { DW_LNS_COPY } else { special(0).unwrap_or(DW_LNS_COPY) });
    }
}
