//! `.debug_frame`: for each place in the code, where its frame is and where the caller's registers are.
//!
//! The canonical frame address is what the stack pointer holds where a function begins, so a frame's bytes lie from it on. What is said of
//! a place in it depends on the dialect:
//!
//! | | [`Dialect::Standard`] | [`Dialect::Heterogeneous`] |
//! |---|---|---|
//! | the frame | an address of a lane's private memory, marked as LLVM marks it | an address of the wave's scratch memory as it lies there (seed 000, line 4270) |
//! | a VGPR that is kept in all lanes | where each lane has its dword: `DW_CFA_offset` | all lanes beside each other: `DW_CFA_offset` |
//! | a VGPR that is kept in active lanes | where each lane that was active has its dword: an expression with a mark | those; the others are in the register still |
//! | a VGPR that is lost | nowhere | nowhere, but for lanes that were not active, which are in the register still |
//! | an SGPR in it | where the lane that is looked at has it, which must have been active | the dword of the first lane that was active |
//! | an SGPR in a lane of a VGPR | a part of the register | the same |
//!
//! # Source
//! DWARF 5, 6.4 and 7.24; seed 000, lines 624 (registers), 1511 (call frames), 1349 (registers kept under a mask); LLVM's guide to the extensions
//! for numbers that the seed leaves open.

use crate::dwarf::{Contents, Dialect};
use crate::elf::Target;
use crate::leb::{signed, unsigned};
use crate::operations::*;
use crate::registers::Register;
use isa::Reg;

/// Places count in units of instructions.
pub const CODE_UNIT: u64 = 4;
/// Offsets in a frame count in units of registers.
pub const DATA_UNIT: i64 = 4;
/// The column of where a call returns to: the number of the PC.
pub const PC: u32 = 16;
/// Version of the tables, whatever the version of DWARF.
const VERSION: u8 = 4;
const ADDRESS_SIZE: u8 = 8;
/// What says that the extensions are used, of a unit's entries (`DW_AT_LLVM_augmentation`) and of its frames: the seed's has `amd` (lines 1494 and
/// 1587), LLVM's guide today `llvm`, as the operations' numbers are that guide's.
pub const AUGMENTATION: &str = "[llvm:v0.0]";

/// Holds the stack pointer: bytes of the wave (seed 000, line 4113).
const STACK_POINTER: Reg = Reg::sgpr(32);
/// `s[30:31]` hold the return address on entry (seed 000, line 4111).
const RETURN: [Reg; 2] = [Reg::sgpr(30), Reg::sgpr(31)];
/// Scratch memory of the wave as it lies in memory (seed 000, line 720).
const PRIVATE_WAVE: u8 = 6;

/// How LLVM marks an address of private memory (`dwarf::marked`).
const MARK: [u8; 3] = [lit(1), DW_OP_SWAP, DW_OP_XDEREF];

/// The number of the lowest bit of a mask, which has one: the mask is replaced by it.
const FIRST_BIT: [u8; 18] = [
    lit(0),
    DW_OP_SWAP,
    // Until the lowest bit is set.
    DW_OP_DUP,
    lit(1),
    DW_OP_AND,
    DW_OP_BRA,
    9,
    0,
    lit(1),
    DW_OP_SHR,
    DW_OP_SWAP,
    lit(1),
    DW_OP_PLUS,
    DW_OP_SWAP,
    DW_OP_SKIP,
    (-15i8) as u8,
    (-1i8) as u8,
    DW_OP_DROP,
];

/// The code goes on by so many units.
pub fn advance(out: &mut Vec<u8>, units: u64) {
    match units {
        0 => {}
        1..0x40 => out.push(DW_CFA_ADVANCE_LOC | units as u8),
        0x40..0x100 => out.extend_from_slice(&[DW_CFA_ADVANCE_LOC1, units as u8]),
        0x100..0x1_0000 => {
            out.push(DW_CFA_ADVANCE_LOC2);
            out.extend_from_slice(&(units as u16).to_le_bytes());
        }
        _ => {
            out.push(DW_CFA_ADVANCE_LOC4);
            out.extend_from_slice(&(units as u32).to_le_bytes());
        }
    }
}

/// What an entry that others refer to begins with, behind its length: it says how they are read.
pub fn header(out: &mut Vec<u8>, augmentation: &str, return_column: u32) {
    out.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, VERSION]);
    out.extend_from_slice(augmentation.as_bytes());
    // The augmentation's end; no segments.
    out.extend_from_slice(&[0, ADDRESS_SIZE, 0, CODE_UNIT as u8, DATA_UNIT as u8]);
    unsigned(out, return_column.into());
}

/// The number that DWARF has for a register in code for so many lanes.
pub fn column(reg: Reg, lanes: u32) -> Option<u32> {
    Register::named(reg, lanes).map(|register| register.0 as u32)
}

/// Where a dword of the caller's is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dword {
    /// In a scalar register.
    Register(Reg),
    /// In a lane of a VGPR.
    Lane(Reg, u8),
    /// In the frame, so many bytes behind its beginning: in the lanes that were active on entry.
    Frame(u32),
}

/// Where the caller's value of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// In the register.
    Same,
    /// Nowhere.
    Undefined,
    /// Of a scalar register.
    One(Dword),
    /// Of what has 64 bits: the low half and the high one.
    Two([Dword; 2]),
    /// Of a vector register: in the frame, so many bytes behind its beginning, with all lanes.
    Whole(u32),
    /// The same, with those that were active on entry; the others are in the register.
    Masked(u32),
    /// Of a vector register: nowhere for lanes that were active on entry; the others are in the register.
    Others,
}

/// What code is, as unwinding sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has no caller, and its frame begins where the wave's scratch memory does.
    Kernel,
    /// It is called.
    Function,
}

/// The frame base of code in its dialect: the expression of `DW_AT_frame_base`. `moved`: by how much the stack pointer has been moved since the
/// function began, in bytes of the wave.
pub fn frame_base(out: &mut Vec<u8>, dialect: Dialect, kind: Kind, lanes: u32, moved: i64) {
    match kind {
        Kind::Kernel => out.push(lit(0)),
        Kind::Function => {
            out.push(DW_OP_BREGX);
            unsigned(out, column(STACK_POINTER, lanes).unwrap_or_default().into());
            signed(out, -moved);
        }
    }
    match (dialect, kind) {
        (Dialect::Standard, Kind::Kernel) => out.extend_from_slice(&MARK),
        (Dialect::Standard, Kind::Function) => {
            out.extend_from_slice(&[lit(lanes.trailing_zeros() as u8), DW_OP_SHR]);
            out.extend_from_slice(&MARK);
        }
        (Dialect::Heterogeneous, _) => {
            out.extend_from_slice(&[lit(PRIVATE_WAVE), DW_OP_LLVM_USER, DW_OP_LLVM_FORM_ASPACE_ADDRESS]);
        }
    }
}

/// About the bytes of a kernel's entries.
const FEW: usize = 96;

/// The section under construction.
#[derive(Debug)]
pub struct FrameTable {
    contents: Contents,
    dialect: Dialect,
    /// Where entries are that others refer to.
    headers: Vec<(Kind, u32, u32)>,
    /// Of the entry at hand: where it begins, lanes, the place that its last instruction is of, and that of what is to come.
    entry: (usize, u32),
    at: [u64; 2],
    expression: Vec<u8>,
}

impl FrameTable {
    /// A table without entries, in the memory of `contents`.
    pub fn new(mut contents: Contents, dialect: Dialect) -> FrameTable {
        contents.bytes.clear();
        contents.bytes.reserve(FEW);
        contents.relocations.clear();
        FrameTable {
            contents,
            dialect,
            headers: Vec::new(),
            entry: (0, 0),
            at: [0; 2],
            expression: Vec::new(),
        }
    }

    /// Code begins: from `start` to `end` of the section `text`, for so many lanes.
    pub fn begin(&mut self, text: Target, (start, end): (u64, u64), kind: Kind, lanes: u32) {
        let found = self.headers.iter().find(|header| (header.0, header.1) == (kind, lanes));
        let header = match found {
            Some(header) => header.2,
            None => self.header(kind, lanes),
        };
        self.open(lanes);
        // The section itself, which has no number yet.
        self.contents.field(4, Target::Nothing, header.into());
        self.contents.field(ADDRESS_SIZE.into(), text, start);
        self.contents.bytes.extend_from_slice(&(end - start).to_le_bytes());
        self.at = [start; 2];
    }

    /// What is said from here on holds from that offset of the code on. Offsets ascend.
    pub fn at(&mut self, offset: u64) {
        self.at[1] = offset;
    }

    /// The stack pointer has been moved by so many bytes of the wave since the function began.
    pub fn moved(&mut self, bytes: i64) {
        self.advance();
        self.frame(Kind::Function, bytes);
    }

    /// Where the caller's value of a register is. Those that no number is for are left out.
    pub fn rule(&mut self, reg: Reg, rule: Rule) {
        if let Some(column) = column(reg, self.entry.1) {
            self.advance();
            self.write(column, rule);
        }
    }

    /// Where the return address is.
    pub fn return_address(&mut self, parts: Option<[Dword; 2]>) {
        self.advance();
        self.write(PC, parts.map_or(Rule::Undefined, Rule::Two));
    }

    /// The code that [`FrameTable::begin`] began has been described.
    pub fn end(&mut self) {
        let start = self.entry.0;
        let bytes = &mut self.contents.bytes;
        // `DW_CFA_nop`.
        bytes.resize(bytes.len().next_multiple_of(ADDRESS_SIZE.into()), 0);
        self.contents.close(start);
    }

    /// The section, which has this number.
    pub fn finish(mut self, own: u32) -> Contents {
        for relocation in self.contents.relocations.iter_mut() {
            if relocation.target == Target::Nothing {
                relocation.target = Target::Section(own);
            }
        }
        self.contents
    }

    fn open(&mut self, lanes: u32) {
        self.entry = (self.contents.bytes.len(), lanes);
        self.contents.bytes.extend_from_slice(&[0; 4]);
    }

    /// What all code of a kind has in common. The default rule is "same value" (seed 000, line 1645).
    fn header(&mut self, kind: Kind, lanes: u32) -> u32 {
        self.open(lanes);
        let at = self.entry.0 as u32;
        self.headers.push((kind, lanes, at));
        let augmentation = if self.dialect == Dialect::Standard { "" } else { AUGMENTATION };
        header(&mut self.contents.bytes, augmentation, PC);
        self.frame(kind, 0);
        match kind {
            // The outermost frame (seed 000, line 1855).
            Kind::Kernel => self.write(PC, Rule::Undefined),
            Kind::Function => {
                self.write(PC, Rule::Two(RETURN.map(Dword::Register)));
                if self.dialect == Dialect::Heterogeneous {
                    // The frame's address is what the caller's stack pointer holds.
                    self.plain(DW_CFA_VAL_OFFSET, column(STACK_POINTER, lanes).unwrap_or_default());
                    self.contents.bytes.push(0);
                }
                // The call has written them: nobody knows what the caller had there.
                for reg in RETURN {
                    self.write(column(reg, lanes).unwrap_or_default(), Rule::Undefined);
                }
            }
        }
        self.end();
        at
    }

    fn advance(&mut self) {
        let [from, to] = self.at;
        advance(&mut self.contents.bytes, (to - from) / CODE_UNIT);
        self.at[0] = to;
    }

    /// Where the frame is.
    fn frame(&mut self, kind: Kind, moved: i64) {
        let (lanes, pointer) = (self.entry.1, column(STACK_POINTER, self.entry.1).unwrap_or_default());
        if (self.dialect, kind) == (Dialect::Heterogeneous, Kind::Function) {
            self.plain(DW_CFA_LLVM_DEF_ASPACE_CFA_SF, pointer);
            signed(&mut self.contents.bytes, -moved / DATA_UNIT);
            return self.contents.bytes.push(PRIVATE_WAVE);
        }
        frame_base(&mut self.expression, self.dialect, kind, lanes, moved);
        self.close_expression(&[DW_CFA_DEF_CFA_EXPRESSION]);
        // The caller's stack pointer, from which the frame's address is made.
        match (kind, moved) {
            (Kind::Kernel, _) => {}
            (Kind::Function, 0) => self.plain(DW_CFA_SAME_VALUE, pointer),
            (Kind::Function, _) => {
                self.expression.push(DW_OP_BREGX);
                unsigned(&mut self.expression, pointer.into());
                signed(&mut self.expression, -moved);
                self.close_expression_of(DW_CFA_VAL_EXPRESSION, pointer);
            }
        }
    }

    /// Writes an instruction that ends with the expression.
    fn close_expression(&mut self, begin: &[u8]) {
        let out = &mut self.contents.bytes;
        out.extend_from_slice(begin);
        unsigned(out, self.expression.len() as u64);
        out.extend_from_slice(&self.expression);
        self.expression.clear();
    }

    /// The same of one that is about a column.
    fn close_expression_of(&mut self, instruction: u8, column: u32) {
        self.contents.bytes.push(instruction);
        unsigned(&mut self.contents.bytes, column.into());
        self.close_expression(&[]);
    }

    fn plain(&mut self, instruction: u8, column: u32) {
        self.contents.bytes.push(instruction);
        unsigned(&mut self.contents.bytes, column.into());
    }

    fn write(&mut self, column: u32, rule: Rule) {
        match (rule, self.dialect) {
            (Rule::Same, _) => self.plain(DW_CFA_SAME_VALUE, column),
            (Rule::Undefined, _) | (Rule::Others, Dialect::Standard) => self.plain(DW_CFA_UNDEFINED, column),
            (Rule::One(Dword::Register(other)), _) => {
                self.plain(DW_CFA_REGISTER, column);
                let other = self::column(other, self.entry.1).unwrap_or_default();
                unsigned(&mut self.contents.bytes, other.into());
            }
            (Rule::One(Dword::Frame(at)) | Rule::Whole(at), Dialect::Standard) => self.offset(column, at),
            (Rule::Masked(at), Dialect::Standard) => {
                self.expression.push(DW_OP_PLUS_UCONST);
                unsigned(&mut self.expression, at.into());
                self.expression.extend_from_slice(&MARK);
                self.close_expression_of(DW_CFA_EXPRESSION, column);
            }
            (Rule::Whole(at), _) => self.offset(column, at * self.entry.1),
            (Rule::Masked(at), _) => {
                self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET_UCONST]);
                unsigned(&mut self.expression, (at * self.entry.1).into());
                self.masked(column);
            }
            (Rule::Others, _) => {
                self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_UNDEFINED]);
                self.masked(column);
            }
            (Rule::Two([Dword::Frame(low), Dword::Frame(high)]), Dialect::Standard) if high == low + 4 => {
                self.offset(column, low);
            }
            (Rule::Two([Dword::Register(low), Dword::Register(high)]), Dialect::Standard) if column == PC => {
                self.sum([low, high]);
            }
            (Rule::One(dword), _) => {
                self.part(dword, true);
                self.close_expression_of(DW_CFA_EXPRESSION, column);
            }
            (Rule::Two([low, high]), _) => {
                self.part(low, true);
                self.part(high, false);
                self.close_expression_of(DW_CFA_EXPRESSION, column);
            }
        }
    }

    fn offset(&mut self, column: u32, bytes: u32) {
        let out = &mut self.contents.bytes;
        if column < 64 {
            out.push(DW_CFA_OFFSET | column as u8);
        } else {
            out.push(DW_CFA_OFFSET_EXTENDED);
            unsigned(out, column.into());
        }
        unsigned(out, u64::from(bytes) / DATA_UNIT as u64);
    }

    /// A value of 64 bits in two registers, as readers compute it that know of no registers beside each other.
    fn sum(&mut self, [low, high]: [Reg; 2]) {
        let lanes = self.entry.1;
        let register = |out: &mut Vec<u8>, reg| {
            out.push(DW_OP_BREGX);
            unsigned(out, column(reg, lanes).unwrap_or_default().into());
            out.push(0);
        };
        register(&mut self.expression, high);
        self.expression.extend_from_slice(&[DW_OP_CONST1U, 32, DW_OP_SHL]);
        register(&mut self.expression, low);
        self.expression.extend_from_slice(&[DW_OP_CONST4U, 0xff, 0xff, 0xff, 0xff, DW_OP_AND, DW_OP_OR]);
        self.close_expression_of(DW_CFA_VAL_EXPRESSION, PC);
    }

    /// A dword of what an expression puts together. The frame stands below, on top if this is the first one.
    fn part(&mut self, dword: Dword, is_first: bool) {
        let lanes = self.entry.1;
        match dword {
            Dword::Register(reg) => {
                self.register(reg);
                self.expression.extend_from_slice(&[DW_OP_PIECE, 4]);
            }
            Dword::Lane(reg, lane) => {
                self.register(reg);
                self.expression.extend_from_slice(&[DW_OP_BIT_PIECE, 32]);
                unsigned(&mut self.expression, u64::from(lane) * 32);
            }
            Dword::Frame(at) => {
                self.expression.push(if is_first { DW_OP_DUP } else { DW_OP_OVER });
                self.mask();
                // There is one in a mask of a wave that runs; what is damaged must not keep a reader for ever.
                self.expression.extend_from_slice(&[
                    lit(1),
                    DW_OP_CONST1U,
                    lanes as u8 - 1,
                    DW_OP_SHL,
                    DW_OP_OR,
                ]);
                self.expression.extend_from_slice(&FIRST_BIT);
                self.expression.extend_from_slice(&[lit(2), DW_OP_SHL, DW_OP_PLUS_UCONST]);
                unsigned(&mut self.expression, (at * lanes).into());
                self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET, DW_OP_PIECE, 4]);
            }
        }
    }

    fn register(&mut self, reg: Reg) {
        self.expression.push(DW_OP_REGX);
        unsigned(&mut self.expression, column(reg, self.entry.1).unwrap_or_default().into());
    }

    /// The mask of the lanes that were active on entry.
    fn mask(&mut self) {
        let lanes = self.entry.1;
        self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_CALL_FRAME_ENTRY_REG]);
        unsigned(&mut self.expression, column(Reg::EXEC, lanes).unwrap_or_default().into());
        self.expression.extend_from_slice(&[DW_OP_DEREF_SIZE, (lanes / 8) as u8]);
    }

    /// A vector register of which lanes that were active on entry are at what is on the stack; the others are in it still (seed 000, line 1349).
    fn masked(&mut self, column: u32) {
        let lanes = self.entry.1;
        self.expression.push(DW_OP_REGX);
        unsigned(&mut self.expression, column.into());
        self.expression.push(DW_OP_SWAP);
        self.mask();
        self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_SELECT_BIT_PIECE, 32, lanes as u8]);
        self.close_expression_of(DW_CFA_EXPRESSION, column);
    }
}
