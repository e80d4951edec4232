//! DWARF line tables, which map instructions to source lines.
//!
//! [`LineTable`] writes `.debug_line`. Readers find the table through a unit in `.debug_info`. If a program
//! has no other debug information, [`unit`] writes this unit, which contains nothing else. File names are
//! stored in the table itself, so no string section is needed.
//!
//! Every compilation writes a line table, so this module writes the bytes directly instead of using a
//! library. Reading is left to gimli.
//!
//! # Source
//! DWARF Debugging Information Format, version 5: 6.2 (line tables), 7.5 (units), 7.22 (numbers).

use crate::elf::{Relocation, Target, reloc};
use crate::leb::{signed, unsigned};

/// Dialect of debug information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Only operations of standard DWARF. The address class of an address in GPU memory (which memory it is
    /// in) is expressed by the sequence of operations that LLVM writes.
    #[default]
    Standard,
    /// DWARF with the extensions for heterogeneous debugging of LLVM's AMDGPU guide (seed 000, line 554):
    /// locations in any memory, and vector registers with all their lanes.
    Heterogeneous,
}

/// Contents of `.debug_abbrev` for the entry that [`unit`] writes, which is the only kind of entry.
pub const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 0, // DW_TAG_compile_unit, without children
    0x25, 0x08, // DW_AT_producer: DW_FORM_string
    0x03, 0x08, // DW_AT_name: DW_FORM_string
    0x10, 0x17, // DW_AT_stmt_list: DW_FORM_sec_offset
    0x11, 0x01, // DW_AT_low_pc: DW_FORM_addr
    0x12, 0x07, // DW_AT_high_pc: DW_FORM_data8
    0, 0, 0,
];

const VERSION: u16 = 5;
const ADDRESS_SIZE: u8 = 8;
/// Unit of address advances in bytes (`minimum_instruction_length`): a dword, because instructions consist of
/// dwords.
const DWORD: u64 = 4;

// Smallest line advance of a special opcode. A special opcode is one byte that advances both the address and
// the line; the line advance is in `LINE_BASE..LINE_BASE + LINE_RANGE`.
const LINE_BASE: i64 = -5;
const LINE_RANGE: u64 = 14;
const OPCODE_BASE: u64 = 13;
/// Numbers of operands of the standard opcodes 1 to 12.
const STANDARD_OPERANDS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

const DW_LNS_COPY: u8 = 1;
const DW_LNS_ADVANCE_PC: u8 = 2;
const DW_LNS_ADVANCE_LINE: u8 = 3;
const DW_LNS_SET_FILE: u8 = 4;
const DW_LNS_SET_COLUMN: u8 = 5;
const DW_LNS_NEGATE_STMT: u8 = 6;
const DW_LNS_SET_PROLOGUE_END: u8 = 10;
const DW_LNE_END_SEQUENCE: u8 = 1;
const DW_LNE_SET_ADDRESS: u8 = 2;

const DW_LNCT_PATH: u8 = 1;
const DW_LNCT_DIRECTORY_INDEX: u8 = 2;
const DW_LNCT_LLVM_SOURCE: u64 = 0x2001;
const DW_FORM_STRING: u8 = 0x08;
const DW_FORM_UDATA: u8 = 0x0f;
const DW_UT_COMPILE: u8 = 1;

/// Section under construction.
#[derive(Debug, Default)]
pub struct Contents {
    /// Bytes of the section.
    pub bytes: Vec<u8>,
    /// Relocations of the fields that depend on addresses.
    pub relocations: Vec<Relocation>,
}

impl Contents {
    /// Returns a section without contents, which has memory reserved for `bytes` bytes and `relocations`
    /// relocations.
    pub fn with_capacity(bytes: usize, relocations: usize) -> Contents {
        Contents { bytes: Vec::with_capacity(bytes), relocations: Vec::with_capacity(relocations) }
    }

    /// Appends a field of `size` bytes that a relocation fills in with a distance or an address.
    pub fn field(&mut self, size: usize, target: Target, addend: u64) {
        let kind = if size == 8 { reloc::ABS64 } else { reloc::ABS32 };
        let offset = self.bytes.len() as u64;
        self.relocations.push(Relocation { offset, target, kind, addend: addend as i64 });
        self.bytes.resize(self.bytes.len() + size, 0);
    }

    /// Appends a zero-terminated string. If the text contains a zero byte, only the part before it is
    /// written.
    fn text(&mut self, text: &str) {
        self.bytes.extend(text.bytes().take_while(|&byte| byte != 0));
        self.bytes.push(0);
    }

    /// Appends the file table of a DWARF 5 line table. All files are relative to the compiler's working
    /// directory, which is written as `.` so that the bytes do not depend on the machine.
    fn files_5<'a>(&mut self, header: LineTableHeader, files: impl ExactSizeIterator<Item = SourceFile<'a>>) {
        self.bytes.extend_from_slice(&[1, DW_LNCT_PATH, DW_FORM_STRING, 1]);
        self.text(".");
        let columns = 2 + u8::from(header.sources);
        self.bytes.extend_from_slice(&[columns, DW_LNCT_PATH, DW_FORM_STRING]);
        self.bytes.extend_from_slice(&[DW_LNCT_DIRECTORY_INDEX, DW_FORM_UDATA]);
        if header.sources {
            unsigned(&mut self.bytes, DW_LNCT_LLVM_SOURCE);
            self.bytes.push(DW_FORM_STRING);
        }
        unsigned(&mut self.bytes, files.len() as u64);
        for file in files {
            self.text(file.name);
            self.bytes.push(0);
            if header.sources {
                self.text(file.text);
            }
        }
    }

    /// Appends the file table of a line table before DWARF 5. It has no directories except the compiler's
    /// working directory, and the times and sizes of files are left out.
    fn files_4<'a>(&mut self, files: impl Iterator<Item = SourceFile<'a>>) {
        self.bytes.push(0);
        for file in files {
            self.text(file.name);
            self.bytes.extend_from_slice(&[0, 0, 0]);
        }
        self.bytes.push(0);
    }

    /// Fills in the 32-bit length field at offset `at`. The length is the number of bytes after the field.
    pub fn close(&mut self, at: usize) {
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// Header of a line table.
#[derive(Clone, Copy, Debug)]
pub struct LineTableHeader {
    /// Version of DWARF: 4 or 5.
    pub version: u16,
    /// Whether statements begin only at rows that are marked as the beginning of a statement. Otherwise a
    /// statement begins at every row.
    pub statements: bool,
    /// Whether the table contains the texts of the source files, which requires DWARF 5 (LLVM's AMDGPU guide,
    /// seed 000, line 2133).
    pub sources: bool,
}

/// The default: DWARF 5, and a statement begins at every row.
impl Default for LineTableHeader {
    fn default() -> Self {
        LineTableHeader { version: VERSION, statements: false, sources: false }
    }
}

/// File of the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceFile<'a> {
    /// Name of the file.
    pub name: &'a str,
    /// Text of the file, if it is embedded.
    pub text: &'a str,
}

/// A row of the line table: the source location of the code from an offset in the code section to the offset
/// of the next row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// Offset in the section.
    pub offset: u64,
    /// Number of the file in the list given to [`LineTable::new`], counted from 0.
    pub file: u32,
    /// Line, counted from 1; 0 for no line.
    pub line: u32,
    /// Column, counted from 1; 0 for no column.
    pub column: u32,
}

/// Line table for the code of one section.
#[derive(Debug)]
pub struct LineTable {
    contents: Contents,
    /// Section relative to which addresses count.
    text: Target,
    /// State of the reader's line number machine.
    state: Row,
    /// Whether the rows that are added next begin statements (`statement`), and the value that readers assume
    /// for this at the start of a sequence (`by_default`).
    statement: bool,
    by_default: bool,
    /// Number that DWARF gives the first file: 0 in version 5, and 1 before version 5.
    first_file: u32,
}

/// Number of the file that a reader assumes at the beginning of a sequence (DWARF 5, 6.2.2).
const INITIAL_FILE: u32 = 1;

impl LineTable {
    /// Returns a table without rows, reusing the memory of `contents`. `text` is the section of the code.
    pub fn new<'a>(
        mut contents: Contents,
        text: Target,
        header: LineTableHeader,
        files: impl ExactSizeIterator<Item = SourceFile<'a>>,
    ) -> LineTable {
        contents.bytes.clear();
        contents.relocations.clear();
        let out = &mut contents.bytes;
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&header.version.to_le_bytes());
        if header.version >= 5 {
            out.extend_from_slice(&[ADDRESS_SIZE, 0]);
        }
        let length = out.len();
        out.extend_from_slice(&[0; 4]);
        // Field `maximum_operations_per_instruction`: 1, because the processor is not a VLIW machine.
        out.extend_from_slice(&[DWORD as u8, 1, u8::from(!header.statements)]);
        out.extend_from_slice(&[LINE_BASE as u8, LINE_RANGE as u8, OPCODE_BASE as u8]);
        out.extend_from_slice(&STANDARD_OPERANDS);
        if header.version >= 5 {
            contents.files_5(header, files);
        } else {
            contents.files_4(files);
        }
        contents.close(length);
        let statement = !header.statements;
        let first_file = u32::from(header.version < 5);
        LineTable { contents, text, state: Row::default(), statement, by_default: statement, first_file }
    }

    /// Sets whether the following rows begin statements.
    pub fn statement(&mut self, begins: bool) {
        if std::mem::replace(&mut self.statement, begins) != begins {
            self.contents.bytes.push(DW_LNS_NEGATE_STMT);
        }
    }

    /// Marks the next row as the end of the function's prologue.
    pub fn prologue_end(&mut self) {
        self.contents.bytes.push(DW_LNS_SET_PROLOGUE_END);
    }

    /// Begins a sequence of rows for the code from `offset` of the code section. The rows must be added in
    /// the order of their addresses.
    pub fn begin(&mut self, offset: u64) {
        self.contents.bytes.extend_from_slice(&[0, 1 + ADDRESS_SIZE, DW_LNE_SET_ADDRESS]);
        self.contents.field(ADDRESS_SIZE.into(), self.text, offset);
        // At the beginning of a sequence, readers assume that the file has number 1 in the line table.
        // `Row::file` counts from 0. If the line table counts from 0, too, the assumed file is 1; if the
        // table counts from 1, it is file 0.
        let file = INITIAL_FILE.wrapping_sub(self.first_file);
        self.state = Row { offset, file, line: 1, column: 0 };
        self.statement = self.by_default;
    }

    /// Adds a row.
    pub fn row(&mut self, row: Row) {
        let out = &mut self.contents.bytes;
        if row.file != self.state.file {
            out.push(DW_LNS_SET_FILE);
            unsigned(out, (row.file + self.first_file).into());
        }
        if row.column != self.state.column {
            out.push(DW_LNS_SET_COLUMN);
            unsigned(out, row.column.into());
        }
        let mut lines = i64::from(row.line) - i64::from(self.state.line);
        if !(LINE_BASE..LINE_BASE + LINE_RANGE as i64).contains(&lines) {
            out.push(DW_LNS_ADVANCE_LINE);
            signed(out, lines);
            lines = 0;
        }
        let special = |dwords: u64| (lines - LINE_BASE) as u64 + LINE_RANGE * dwords + OPCODE_BASE;
        let dwords = (row.offset - self.state.offset) / DWORD;
        match u8::try_from(special(dwords)) {
            Ok(opcode) => out.push(opcode),
            Err(_) => {
                out.push(DW_LNS_ADVANCE_PC);
                unsigned(out, dwords);
                out.push(if lines == 0 { DW_LNS_COPY } else { special(0) as u8 });
            }
        }
        self.state = row;
    }

    /// Ends the sequence of rows that [`LineTable::begin`] began. `offset` is the offset of the first byte
    /// after the code.
    pub fn end(&mut self, offset: u64) {
        let out = &mut self.contents.bytes;
        out.push(DW_LNS_ADVANCE_PC);
        unsigned(out, (offset - self.state.offset) / DWORD);
        out.extend_from_slice(&[0, 1, DW_LNE_END_SEQUENCE]);
    }

    /// Returns the contents of the section.
    pub fn finish(mut self) -> Contents {
        self.contents.close(0);
        self.contents
    }
}

/// Data of the unit that [`unit`] writes.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Name of the compiler.
    pub producer: &'a str,
    /// Name of the source file.
    pub file: &'a str,
    /// Code that the unit covers: its section, its offset in that section, and its size in bytes.
    pub text: (Target, u64, u64),
    /// The section `.debug_abbrev`, which contains [`ABBREVIATIONS`].
    pub abbreviations: Target,
    /// The section `.debug_line`.
    pub lines: Target,
}

/// Returns the contents of `.debug_info`, which is one unit, reusing the memory of `contents`.
pub fn unit(mut contents: Contents, unit: &Unit) -> Contents {
    contents.bytes.clear();
    contents.relocations.clear();
    contents.bytes.extend_from_slice(&[0; 4]);
    contents.bytes.extend_from_slice(&VERSION.to_le_bytes());
    contents.bytes.extend_from_slice(&[DW_UT_COMPILE, ADDRESS_SIZE]);
    contents.field(4, unit.abbreviations, 0);
    contents.bytes.push(1);
    contents.text(unit.producer);
    contents.text(unit.file);
    contents.field(4, unit.lines, 0);
    let (text, offset, size) = unit.text;
    contents.field(ADDRESS_SIZE.into(), text, offset);
    contents.bytes.extend_from_slice(&size.to_le_bytes());
    contents.close(0);
    contents
}
