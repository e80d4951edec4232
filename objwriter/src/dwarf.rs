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

    /// Fills in a length of 32 bits that counts the bytes behind it.
    pub fn close(&mut self, at: usize) {
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// A line table of one source file, for code of one section.
#[derive(Debug)]
pub struct LineTable {
    contents: Contents,
    /// What addresses count from.
    text: Target,
    /// State of the reader's machine.
    offset: u64,
    line: u32,
    column: u32,
    /// Whether rows begin statements, and whether they do where a sequence begins.
    statement: bool,
    by_default: bool,
    /// Files count from 0, and before version 5 from 1, which is where readers' machines begin.
    counts_from_0: bool,
}

/// What the header of a table says that is not as [`LineTable::new`] has it.
#[derive(Clone, Copy, Debug)]
pub struct LineTableHeader<'a> {
    /// 4 or 5.
    pub version: u16,
    /// Name of the file.
    pub file: &'a str,
    /// Its text, if it goes along: in version 5 (seed 000, line 2133).
    pub source: Option<&'a str>,
    /// Rows begin statements only where it is said so.
    pub statements: bool,
}

impl LineTable {
    /// A table without rows, with a header of its own.
    pub fn with_header(mut contents: Contents, text: Target, header: &LineTableHeader<'_>) -> LineTable {
        let out = &mut contents.bytes;
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&header.version.to_le_bytes());
        if header.version >= 5 {
            out.extend_from_slice(&[ADDRESS_SIZE, 0]);
        }
        let length = out.len();
        out.extend_from_slice(&[0; 4]);
        let by_default = u8::from(!header.statements);
        out.extend_from_slice(&[
            DWORD as u8,
            1,
            by_default,
            LINE_BASE as u8,
            LINE_RANGE as u8,
            OPCODE_BASE as u8,
        ]);
        out.extend_from_slice(&STANDARD_OPERANDS);
        if header.version >= 5 {
            out.extend_from_slice(&[1, DW_LNCT_PATH, DW_FORM_STRING, 1]);
            contents.text(".");
            let columns = 2 + u8::from(header.source.is_some());
            let out = &mut contents.bytes;
            out.extend_from_slice(&[
                columns,
                DW_LNCT_PATH,
                DW_FORM_STRING,
                DW_LNCT_DIRECTORY_INDEX,
                DW_FORM_UDATA,
            ]);
            if header.source.is_some() {
                unsigned(out, DW_LNCT_LLVM_SOURCE);
                out.push(DW_FORM_STRING);
            }
            out.push(1);
            contents.text(header.file);
            contents.bytes.push(0);
            if let Some(source) = header.source {
                contents.text(source);
            }
        } else {
            // No directory but the compiler's own; one file, without time and size.
            contents.bytes.push(0);
            contents.text(header.file);
            contents.bytes.extend_from_slice(&[0, 0, 0, 0]);
        }
        contents.close(length);
        let statement = !header.statements;
        LineTable {
            contents,
            text,
            offset: 0,
            line: 1,
            column: 0,
            statement,
            by_default: statement,
            counts_from_0: header.version >= 5,
        }
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

    /// A table without rows, in the memory of `contents`. `text` is the section whose code it is about.
    pub fn new(mut contents: Contents, text: Target, file: &str) -> LineTable {
        contents.bytes.clear();
        contents.relocations.clear();
        let out = &mut contents.bytes;
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[ADDRESS_SIZE, 0]);
        let header = out.len();
        out.extend_from_slice(&[0; 4]);
        // One operation an instruction; every row begins a statement.
        out.extend_from_slice(&[DWORD as u8, 1, 1, LINE_BASE as u8, LINE_RANGE as u8, OPCODE_BASE as u8]);
        out.extend_from_slice(&STANDARD_OPERANDS);
        // The directory: that in which the compiler ran. Its name would make the bytes depend on the machine.
        out.extend_from_slice(&[1, DW_LNCT_PATH, DW_FORM_STRING, 1]);
        contents.text(".");
        let file_format = [2, DW_LNCT_PATH, DW_FORM_STRING, DW_LNCT_DIRECTORY_INDEX, DW_FORM_UDATA];
        contents.bytes.extend_from_slice(&file_format);
        contents.bytes.push(1);
        contents.text(file);
        contents.bytes.push(0);
        contents.close(header);
        LineTable {
            contents,
            text,
            offset: 0,
            line: 1,
            column: 0,
            statement: true,
            by_default: true,
            counts_from_0: true,
        }
    }

    /// Code begins at this offset of the section; rows follow in the order of addresses.
    pub fn begin(&mut self, offset: u64) {
        self.contents.bytes.extend_from_slice(&[0, 1 + ADDRESS_SIZE, DW_LNE_SET_ADDRESS]);
        self.contents.field(ADDRESS_SIZE.into(), self.text, offset);
        if self.counts_from_0 {
            self.contents.bytes.extend_from_slice(&[DW_LNS_SET_FILE, 0]);
        }
        (self.offset, self.line, self.column) = (offset, 1, 0);
        self.statement = self.by_default;
    }

    /// From this offset on, code is of this line and this column, both counted from 1; 0 is "of none".
    pub fn row(&mut self, offset: u64, line: u32, column: u32) {
        let out = &mut self.contents.bytes;
        if column != self.column {
            out.push(DW_LNS_SET_COLUMN);
            unsigned(out, column.into());
        }
        let mut lines = i64::from(line) - i64::from(self.line);
        if !(LINE_BASE..LINE_BASE + LINE_RANGE as i64).contains(&lines) {
            out.push(DW_LNS_ADVANCE_LINE);
            signed(out, lines);
            lines = 0;
        }
        let special = |dwords: u64| (lines - LINE_BASE) as u64 + LINE_RANGE * dwords + OPCODE_BASE;
        let dwords = (offset - self.offset) / DWORD;
        match u8::try_from(special(dwords)) {
            Ok(opcode) => out.push(opcode),
            Err(_) => {
                out.push(DW_LNS_ADVANCE_PC);
                unsigned(out, dwords);
                out.push(if lines == 0 { DW_LNS_COPY } else { special(0) as u8 });
            }
        }
        (self.offset, self.line, self.column) = (offset, line, column);
    }

    /// The code that [`LineTable::begin`] began ends before this offset.
    pub fn end(&mut self, offset: u64) {
        let out = &mut self.contents.bytes;
        out.push(DW_LNS_ADVANCE_PC);
        unsigned(out, (offset - self.offset) / DWORD);
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
