//! Writes `.debug_frame`, the section with call frame information. For each address in the code, it says
//! where the frame is, and where the values are that registers had in the caller.
//!
//! The canonical frame address (CFA) is the value of the stack pointer at the beginning of a function, so the
//! frame extends upwards from it. The description of locations depends on the dialect:
//!
//! * The frame. [`Dialect::Standard`]: an address in a lane's private memory, marked as LLVM marks it.
//!   [`Dialect::Heterogeneous`]: an address in the wave's swizzled scratch memory (LLVM's AMDGPU guide, seed
//!   000, line 4270).
//! * A VGPR that is saved in all lanes: `DW_CFA_offset`. Standard: the location of each lane's own dword.
//!   Heterogeneous: the dwords of all lanes, which are contiguous.
//! * A VGPR that is saved in active lanes. Standard: the location of each active lane's dword, as a marked
//!   expression. Heterogeneous: the same for lanes that were active on entry; other lanes are still in the
//!   register.
//! * A VGPR that is lost. Standard: undefined. Heterogeneous: undefined for lanes that were active on entry;
//!   other lanes are still in the register.
//! * An SGPR that is saved in the frame. Standard: the dword of the current lane, which must have been
//!   active. Heterogeneous: the dword of the first lane that was active.
//! * An SGPR that is saved in a lane of a VGPR: a part of the register, in both dialects.
//!
//! # Source
//! DWARF 5, 6.4 and 7.24; LLVM's AMDGPU guide (seed 000), lines 624 (registers), 1511 (call frames), 1349
//! (registers saved under a mask); LLVM's current AMDGPU guide for numbers that seed 000 does not give.

use crate::dwarf::{Contents, Dialect};
use crate::elf::Target;
use crate::leb::{signed, unsigned};
use crate::operations::*;
use crate::registers::Register;
use isa::Reg;

/// Code alignment factor of the frame information: advances in the code count dwords of instructions.
pub const CODE_UNIT: u64 = 4;
/// Data alignment factor of the frame information: offsets in a frame are multiples of a dword, and are
/// written as numbers of dwords.
pub const DATA_UNIT: i64 = 4;
/// Column of the return address: the DWARF number of the PC.
pub const PC: u32 = 16;
/// Version of `.debug_frame`, whatever the version of DWARF.
const VERSION: u8 = 4;
const ADDRESS_SIZE: u8 = 8;
/// Augmentation string which says that a unit (`DW_AT_LLVM_augmentation`) or the frame information uses the
/// heterogeneous extensions. Seed 000, an older AMDGPU guide of LLVM, has `amd` in this string (lines 1494
/// and 1587), and LLVM's current guide has `llvm`. kernc writes `llvm`, because it uses the operation numbers
/// of the current guide.
pub const AUGMENTATION: &str = "[llvm:v0.0]";

/// The stack pointer register (LLVM's AMDGPU guide, seed 000, line 4113). It counts bytes of the wave, that is, of
/// all lanes together, or bytes of one lane ([`Wave::scale`]).
const STACK_POINTER: Reg = Reg::sgpr(32);
/// The registers that hold the return address on entry to a function (LLVM's AMDGPU guide, seed 000, line
/// 4111).
const RETURN: [Reg; 2] = [Reg::sgpr(30), Reg::sgpr(31)];
/// Number of the DWARF address space for the scratch memory of a whole wave, in which the dwords of all lanes
/// are interleaved (LLVM's AMDGPU guide, seed 000, line 720).
const PRIVATE_WAVE: u8 = 6;

/// Operations that LLVM writes after an address to mark it as an address in private memory. Readers recognise
/// them as such a mark (`dwarf::marked`).
const MARK: [u8; 3] = [lit(1), DW_OP_SWAP, DW_OP_XDEREF];

/// DWARF operations that replace the mask on top of the stack by the number of its lowest set bit. The mask
/// must not be zero.
const FIRST_BIT: [u8; 18] = [
    lit(0),
    DW_OP_SWAP,
    // Loop that shifts the mask until its lowest bit is set.
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

/// Appends a call frame instruction that advances the code offset by `units` instruction dwords.
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

/// Appends the beginning of a common information entry (CIE), without its length field. A CIE says how the
/// frame entries that refer to it are read.
pub fn header(out: &mut Vec<u8>, augmentation: &str, return_column: u32) {
    out.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, VERSION]);
    out.extend_from_slice(augmentation.as_bytes());
    // The rest of the header consists of the terminator of the augmentation string, the size of an address,
    // the size of segment selectors (0, as there are none), and the alignment factors.
    out.extend_from_slice(&[0, ADDRESS_SIZE, 0, CODE_UNIT as u8, DATA_UNIT as u8]);
    unsigned(out, return_column.into());
}

/// Returns the DWARF number of a register in code for waves of `lanes` lanes, or `None` if it has no number.
/// A frame table has one column for each numbered register.
pub fn column(reg: Reg, lanes: u32) -> Option<u32> {
    Register::named(reg, lanes).map(|register| register.0 as u32)
}

/// Location of a dword of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dword {
    /// In a scalar register.
    Register(Reg),
    /// In a lane of a VGPR.
    Lane(Reg, u8),
    /// The dword was stored in the frame at this offset in bytes. The store wrote only the lanes that were
    /// active on entry to the function.
    Frame(u32),
}

/// Location of the caller's value of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Still in the register.
    Same,
    /// Lost.
    Undefined,
    /// A scalar register's value, in this dword.
    One(Dword),
    /// A 64-bit value, in these dwords: low half, high half.
    Two([Dword; 2]),
    /// The value of a vector register is in the frame at this offset in bytes, for all lanes.
    Whole(u32),
    /// The value of a vector register is in the frame at this offset in bytes, for the lanes that were active
    /// on entry. For other lanes, the value is still in the register.
    Masked(u32),
    /// A vector register's value is lost for lanes that were active on entry. The values of other lanes are
    /// still in the register.
    Others,
}

/// Kind of code, with respect to unwinding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Kernel: it has no caller, and its frame begins at the start of the wave's scratch memory.
    Kernel,
    /// Function with a caller.
    Function,
}

/// Facts about the waves that execute a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wave {
    /// Number of lanes.
    pub lanes: u32,
    /// How much the stack pointer counts for each byte of a lane: the number of lanes, or 1.
    pub scale: u32,
}

/// Appends the expression for the address of the frame (`DW_AT_frame_base`). `moved` is the distance by which
/// the stack pointer has moved since the function began, in the units of the stack pointer.
pub fn frame_base(out: &mut Vec<u8>, dialect: Dialect, kind: Kind, wave: Wave, moved: i64) {
    match kind {
        Kind::Kernel => out.push(lit(0)),
        Kind::Function => {
            out.push(DW_OP_BREGX);
            unsigned(out, column(STACK_POINTER, wave.lanes).unwrap_or_default().into());
            signed(out, -moved);
        }
    }
    match (dialect, kind) {
        (Dialect::Standard, Kind::Kernel) => out.extend_from_slice(&MARK),
        (Dialect::Standard, Kind::Function) => {
            shift(out, DW_OP_SHR, wave.scale);
            out.extend_from_slice(&MARK);
        }
        (Dialect::Heterogeneous, _) => {
            if kind == Kind::Function {
                shift(out, DW_OP_SHL, wave.lanes / wave.scale);
            }
            out.extend_from_slice(&[lit(PRIVATE_WAVE), DW_OP_LLVM_USER, DW_OP_LLVM_FORM_ASPACE_ADDRESS]);
        }
    }
}

/// Appends a shift that multiplies or divides by a power of two.
fn shift(out: &mut Vec<u8>, operation: u8, factor: u32) {
    if factor > 1 {
        out.extend_from_slice(&[lit(factor.trailing_zeros() as u8), operation]);
    }
}

/// Approximate size in bytes of the entries of a kernel.
const FEW: usize = 96;

/// `.debug_frame` under construction.
#[derive(Debug)]
pub struct FrameTable {
    contents: Contents,
    dialect: Dialect,
    /// The common information entries (CIEs) written so far. Each has the kind of code for which it is, the
    /// its waves, and its offset in the section.
    headers: Vec<(Kind, Wave, u32)>,
    /// `entry` has the offset of the frame entry that is being written, and its waves.
    /// `at` has two offsets in the code: how far the instructions of the entry have advanced, and from where
    /// the next rules hold.
    entry: (usize, Wave),
    at: [u64; 2],
    expression: Vec<u8>,
}

impl FrameTable {
    /// Returns a frame table without entries. Reuses the memory of `contents`.
    pub fn new(mut contents: Contents, dialect: Dialect) -> FrameTable {
        contents.bytes.clear();
        contents.bytes.reserve(FEW);
        contents.relocations.clear();
        FrameTable {
            contents,
            dialect,
            headers: Vec::new(),
            entry: (0, Wave { lanes: 0, scale: 0 }),
            at: [0; 2],
            expression: Vec::new(),
        }
    }

    /// Begins the frame entry of a function or kernel, whose code is at offsets `start` to `end` of section
    /// `text`, and `wave` are the waves that execute it.
    pub fn begin(&mut self, text: Target, (start, end): (u64, u64), kind: Kind, wave: Wave) {
        let found = self.headers.iter().find(|header| (header.0, header.1) == (kind, wave));
        let header = match found {
            Some(header) => header.2,
            None => self.header(kind, wave),
        };
        self.open(wave);
        // The entry refers to its common information entry by an offset in this section. The relocation needs
        // the section's number, which `finish` fills in.
        self.contents.field(4, Target::Nothing, header.into());
        self.contents.field(ADDRESS_SIZE.into(), text, start);
        self.contents.bytes.extend_from_slice(&(end - start).to_le_bytes());
        self.at = [start; 2];
    }

    /// Sets the code offset from which the rules that are added next hold. Offsets must ascend.
    pub fn set_offset(&mut self, offset: u64) {
        self.at[1] = offset;
    }

    /// Records that the stack pointer has moved by `distance` since the function began, in the units of the
    /// stack pointer.
    pub fn stack_pointer_moved(&mut self, distance: i64) {
        self.advance();
        self.frame(Kind::Function, distance);
    }

    /// Adds a rule that says where the caller's value of a register is. Registers without a DWARF number are
    /// ignored.
    pub fn rule(&mut self, reg: Reg, rule: Rule) {
        if let Some(column) = column(reg, self.lanes()) {
            self.advance();
            self.write(column, rule);
        }
    }

    /// Adds a rule for the return address.
    pub fn return_address(&mut self, parts: Option<[Dword; 2]>) {
        self.advance();
        self.write(PC, parts.map_or(Rule::Undefined, Rule::Two));
    }

    /// Ends the entry that [`FrameTable::begin`] began.
    pub fn end(&mut self) {
        let start = self.entry.0;
        let bytes = &mut self.contents.bytes;
        // The padding consists of `DW_CFA_nop`.
        bytes.resize(bytes.len().next_multiple_of(ADDRESS_SIZE.into()), 0);
        self.contents.close(start);
    }

    /// Returns the contents of `.debug_frame`. `own` is the number of this section in the object, because
    /// relocations refer to it.
    pub fn finish(mut self, own: u32) -> Contents {
        for relocation in self.contents.relocations.iter_mut() {
            if relocation.target == Target::Nothing {
                relocation.target = Target::Section(own);
            }
        }
        self.contents
    }

    fn open(&mut self, wave: Wave) {
        self.entry = (self.contents.bytes.len(), wave);
        self.contents.bytes.extend_from_slice(&[0; 4]);
    }

    /// Writes the common information entry for a kind of code. Returns the offset of the entry. A register
    /// without a rule has the same value as in the caller (LLVM's AMDGPU guide, seed 000, line 1645).
    fn header(&mut self, kind: Kind, wave: Wave) -> u32 {
        self.open(wave);
        let (at, lanes) = (self.entry.0 as u32, wave.lanes);
        self.headers.push((kind, wave, at));
        let augmentation = if self.dialect == Dialect::Standard { "" } else { AUGMENTATION };
        header(&mut self.contents.bytes, augmentation, PC);
        self.frame(kind, 0);
        match kind {
            // A kernel is the outermost frame (seed 000, line 1855).
            Kind::Kernel => self.write(PC, Rule::Undefined),
            Kind::Function => {
                self.write(PC, Rule::Two(RETURN.map(Dword::Register)));
                if self.has_plain_frame(kind) {
                    // The caller's stack pointer equals the address of the frame.
                    self.plain(DW_CFA_VAL_OFFSET, column(STACK_POINTER, lanes).unwrap_or_default());
                    self.contents.bytes.push(0);
                }
                // The call has overwritten the registers of the return address, so the caller's values of
                // these registers are lost.
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

    /// Returns whether the location of the frame needs no expression, because the stack pointer is an address in
    /// the wave's memory.
    fn has_plain_frame(&self, kind: Kind) -> bool {
        let Wave { lanes, scale } = self.entry.1;
        (self.dialect, kind) == (Dialect::Heterogeneous, Kind::Function) && scale == lanes
    }

    /// Writes the rule for the location of the frame.
    fn frame(&mut self, kind: Kind, moved: i64) {
        let wave = self.entry.1;
        let pointer = column(STACK_POINTER, wave.lanes).unwrap_or_default();
        if self.has_plain_frame(kind) {
            self.plain(DW_CFA_LLVM_DEF_ASPACE_CFA_SF, pointer);
            signed(&mut self.contents.bytes, -moved / DATA_UNIT);
            return self.contents.bytes.push(PRIVATE_WAVE);
        }
        frame_base(&mut self.expression, self.dialect, kind, wave, moved);
        self.close_expression(&[DW_CFA_DEF_CFA_EXPRESSION]);
        // The canonical frame address is the caller's stack pointer. It follows from the current stack
        // pointer and the distance that it has moved.
        match (kind, moved) {
            (Kind::Kernel, _) => {}
            (Kind::Function, 0) => self.plain(DW_CFA_SAME_VALUE, pointer),
            (Kind::Function, _) => {
                self.expression.push(DW_OP_BREGX);
                unsigned(&mut self.expression, pointer.into());
                signed(&mut self.expression, -moved);
                match self.dialect {
                    Dialect::Standard => self.close_expression_of(DW_CFA_VAL_EXPRESSION, pointer),
                    // The extensions require that a value is as large as the register (seed 000, line 1543).
                    // So the rule is the location of the value's low half.
                    Dialect::Heterogeneous => {
                        self.expression.extend_from_slice(&[DW_OP_STACK_VALUE, DW_OP_PIECE, 4]);
                        self.close_expression_of(DW_CFA_EXPRESSION, pointer);
                    }
                }
            }
        }
    }

    /// Writes an instruction whose last operand is the expression.
    fn close_expression(&mut self, begin: &[u8]) {
        let out = &mut self.contents.bytes;
        out.extend_from_slice(begin);
        unsigned(out, self.expression.len() as u64);
        out.extend_from_slice(&self.expression);
        self.expression.clear();
    }

    /// Writes a call frame instruction for the column of a register. Its last operand is the expression that
    /// has been collected in `expression`.
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
                let other = self::column(other, self.lanes()).unwrap_or_default();
                unsigned(&mut self.contents.bytes, other.into());
            }
            (Rule::One(Dword::Frame(at)) | Rule::Whole(at), Dialect::Standard) => self.offset(column, at),
            (Rule::Masked(at), Dialect::Standard) => {
                self.expression.push(DW_OP_PLUS_UCONST);
                unsigned(&mut self.expression, at.into());
                self.expression.extend_from_slice(&MARK);
                self.close_expression_of(DW_CFA_EXPRESSION, column);
            }
            (Rule::Whole(at), _) => self.offset(column, at * self.lanes()),
            (Rule::Masked(at), _) => {
                self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET_UCONST]);
                let bytes = at * self.lanes();
                unsigned(&mut self.expression, bytes.into());
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

    /// Appends operations that compute a 64-bit value from the registers of its halves. A location
    /// description with two parts is avoided, because readers of the standard dialect may not know it.
    fn sum(&mut self, [low, high]: [Reg; 2]) {
        let lanes = self.lanes();
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

    /// Appends one dword to a location description that consists of several parts. The address of the frame
    /// must be on the DWARF stack: on top for the first dword, and right below the parts written so far for
    /// later dwords.
    fn part(&mut self, dword: Dword, is_first: bool) {
        let lanes = self.lanes();
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
                // The mask of a running wave is never zero, but in damaged data it may be. Searching a zero
                // mask for its first bit, a debugger would loop for ever. To prevent this, the bit of the
                // last lane is set, too.
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

    fn lanes(&self) -> u32 {
        self.entry.1.lanes
    }

    fn register(&mut self, reg: Reg) {
        self.expression.push(DW_OP_REGX);
        let number = column(reg, self.lanes()).unwrap_or_default();
        unsigned(&mut self.expression, number.into());
    }

    /// Pushes the mask of the lanes that were active on entry.
    fn mask(&mut self) {
        let lanes = self.lanes();
        self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_CALL_FRAME_ENTRY_REG]);
        unsigned(&mut self.expression, column(Reg::EXEC, lanes).unwrap_or_default().into());
        self.expression.extend_from_slice(&[DW_OP_DEREF_SIZE, (lanes / 8) as u8]);
    }

    /// Writes the rule for a vector register that has been saved only in the lanes that were active on entry.
    /// The location of the saved value is on the stack; the other lanes are still in the register (LLVM's
    /// AMDGPU guide, seed 000, line 1349).
    fn masked(&mut self, column: u32) {
        let lanes = self.lanes();
        self.expression.push(DW_OP_REGX);
        unsigned(&mut self.expression, column.into());
        self.expression.push(DW_OP_SWAP);
        self.mask();
        self.expression.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_SELECT_BIT_PIECE, 32, lanes as u8]);
        self.close_expression_of(DW_CFA_EXPRESSION, column);
    }
}
