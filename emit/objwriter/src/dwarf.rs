//! DWARF 5: which line of the source each instruction is of.
//!
//! [`LineTable`] writes `.debug_line`; readers find it through the one unit of `.debug_info` that [`unit`] writes, which
//! says nothing else yet. File names stand in the tables themselves, so no section of strings is needed.
//!
//! The compiler writes a table in every compilation, so this writes bytes as it goes; reading is gimli's.
//!
//! # Source
//! DWARF Debugging Information Format, version 5: 6.2 (line tables), 7.5 (units), 7.22 (numbers).

use crate::elf::{Relocation, Target, reloc};
use crate::leb::{signed, unsigned};

/// In what debug information is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The standard's operations only. The memory that a place is in is marked as LLVM does it.
    #[default]
    Standard,
    /// With the guide's extensions (seed 000, line 554): places in any memory, vector registers with all their lanes.
    Heterogeneous,
}

/// `.debug_abbrev` of [`unit`]: one kind of entry.
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
/// Instructions are made of dwords; addresses advance by so many bytes.
const DWORD: u64 = 4;

// Special opcodes advance line and address at once: the line by `LINE_BASE..LINE_BASE + LINE_RANGE`.
const LINE_BASE: i64 = -5;
const LINE_RANGE: u64 = 14;
const OPCODE_BASE: u64 = 13;
/// Operands of the standard opcodes 1 to 12.
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

/// A section under construction.
#[derive(Debug, Default)]
pub struct Contents {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What in it depends on addresses.
    pub relocations: Vec<Relocation>,
}

impl Contents {
    /// Empty, with room for so many bytes and relocations.
    pub fn with_capacity(bytes: usize, relocations: usize) -> Contents {
        Contents { bytes: Vec::with_capacity(bytes), relocations: Vec::with_capacity(relocations) }
    }

    /// A field of a distance or an address that the relocation fills in.
    pub fn field(&mut self, size: usize, target: Target, addend: u64) {
        let kind = if size == 8 { reloc::ABS64 } else { reloc::ABS32 };
        let offset = self.bytes.len() as u64;
        self.relocations.push(Relocation { offset, target, kind, addend: addend as i64 });
        self.bytes.resize(self.bytes.len() + size, 0);
    }

    /// A text that ends with a zero; one that has zeros ends there.
    fn text(&mut self, text: &str) {
        self.bytes.extend(text.bytes().take_while(|&byte| byte != 0));
        self.bytes.push(0);
    }

    /// Files of a line table, all relative to the directory in which the compiler ran: its name would make the bytes depend on the machine.
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

    /// The same before version 5: there is no directory but the compiler's own; files are without time and size.
    fn files_4<'a>(&mut self, files: impl Iterator<Item = SourceFile<'a>>) {
        self.bytes.push(0);
        for file in files {
            self.text(file.name);
            self.bytes.extend_from_slice(&[0, 0, 0]);
        }
        self.bytes.push(0);
    }

    /// Fills in a length of 32 bits that counts the bytes behind it.
    pub fn close(&mut self, at: usize) {
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// What the header of a line table says.
#[derive(Clone, Copy, Debug)]
pub struct LineTableHeader {
    /// 4 or 5.
    pub version: u16,
    /// Rows begin statements only where it is said so.
    pub statements: bool,
    /// The texts of the files go along: in version 5 (seed 000, line 2133).
    pub sources: bool,
}

/// Of version 5, in which each row begins a statement.
impl Default for LineTableHeader {
    fn default() -> Self {
        LineTableHeader { version: VERSION, statements: false, sources: false }
    }
}

/// A file of the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceFile<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text, if that goes along.
    pub text: &'a str,
}

/// From an offset of the section on, code is of a place in the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// The offset.
    pub offset: u64,
    /// Number of the file among those that [`LineTable::new`] was given, from 0.
    pub file: u32,
    /// From 1; 0 is of no line.
    pub line: u32,
    /// From 1; 0 is of none.
    pub column: u32,
}

/// A line table for code of one section.
#[derive(Debug)]
pub struct LineTable {
    contents: Contents,
    /// What addresses count from.
    text: Target,
    /// State of the reader's machine.
    state: Row,
    /// Whether rows begin statements, and whether they do where a sequence begins.
    statement: bool,
    by_default: bool,
    /// What files count from: 0, and before version 5 from 1, which is where readers' machines begin.
    first_file: u32,
}

/// The file that readers' machines begin with, in the table's numbers.
const INITIAL_FILE: u32 = 1;

impl LineTable {
    /// A table without rows, in the memory of `contents`. `text` is the section whose code it is about.
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
        // One operation an instruction.
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

    /// Whether the rows that follow begin statements.
    pub fn statement(&mut self, begins: bool) {
        if std::mem::replace(&mut self.statement, begins) != begins {
            self.contents.bytes.push(DW_LNS_NEGATE_STMT);
        }
    }

    /// With the next row what comes before the function's first statement ends.
    pub fn prologue_end(&mut self) {
        self.contents.bytes.push(DW_LNS_SET_PROLOGUE_END);
    }

    /// Code begins at this offset of the section; rows follow in the order of addresses.
    pub fn begin(&mut self, offset: u64) {
        self.contents.bytes.extend_from_slice(&[0, 1 + ADDRESS_SIZE, DW_LNE_SET_ADDRESS]);
        self.contents.field(ADDRESS_SIZE.into(), self.text, offset);
        // Where files count from 0, the first row sets its file.
        let file = INITIAL_FILE.wrapping_sub(self.first_file);
        self.state = Row { offset, file, line: 1, column: 0 };
        self.statement = self.by_default;
    }

    /// Code is of another place from here on.
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

    /// The code that [`LineTable::begin`] began ends before this offset.
    pub fn end(&mut self, offset: u64) {
        let out = &mut self.contents.bytes;
        out.push(DW_LNS_ADVANCE_PC);
        unsigned(out, (offset - self.state.offset) / DWORD);
        out.extend_from_slice(&[0, 1, DW_LNE_END_SEQUENCE]);
    }

    /// The section.
    pub fn finish(mut self) -> Contents {
        self.contents.close(0);
        self.contents
    }
}

/// What [`unit`] says.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Who made it.
    pub producer: &'a str,
    /// Name of the source file.
    pub file: &'a str,
    /// The section of the code, where the code begins in it, and its bytes.
    pub text: (Target, u64, u64),
    /// `.debug_abbrev`, which is [`ABBREVIATIONS`].
    pub abbreviations: Target,
    /// `.debug_line`.
    pub lines: Target,
}

/// `.debug_info`: one unit, in the memory of `contents`.
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
