//! Where something is, as expressions of DWARF.
//!
//! # Source
//! DWARF 5, 2.5 and 7.7; the guide's extensions (seed 000, line 755), whose numbers are those of LLVM's guide today
//! (`docs/debug-information.md`).

use crate::final_code::Where;
use crate::lanes::{Dwords, Place, Term};
use emit::Dialect;
use isa::Reg;
use objwriter::leb::{signed, unsigned};
use objwriter::registers::{Bank, Register};

const DW_OP_CONSTU: u8 = 0x10;
const DW_OP_CONSTS: u8 = 0x11;
const DW_OP_SWAP: u8 = 0x16;
const DW_OP_XDEREF: u8 = 0x18;
const DW_OP_AND: u8 = 0x1a;
const DW_OP_MUL: u8 = 0x1e;
const DW_OP_NOT: u8 = 0x20;
const DW_OP_OR: u8 = 0x21;
const DW_OP_SHL: u8 = 0x24;
const DW_OP_SHR: u8 = 0x25;
const DW_OP_LIT0: u8 = 0x30;
const DW_OP_REGX: u8 = 0x90;
const DW_OP_FBREG: u8 = 0x91;
const DW_OP_BREGX: u8 = 0x92;
const DW_OP_PIECE: u8 = 0x93;
const DW_OP_DEREF_SIZE: u8 = 0x94;
const DW_OP_CALL_FRAME_CFA: u8 = 0x9c;
const DW_OP_IMPLICIT_VALUE: u8 = 0x9e;
const DW_OP_STACK_VALUE: u8 = 0x9f;
const DW_OP_LLVM_USER: u8 = 0xe9;
const DW_OP_LLVM_FORM_ASPACE_ADDRESS: u8 = 2;
const DW_OP_LLVM_PUSH_LANE: u8 = 3;
const DW_OP_LLVM_OFFSET: u8 = 4;
const DW_OP_LLVM_OFFSET_UCONST: u8 = 5;
const DW_OP_LLVM_CALL_FRAME_ENTRY_REG: u8 = 7;
const DW_OP_LLVM_UNDEFINED: u8 = 8;
const DW_OP_LLVM_EXTEND: u8 = 0x0b;
const DW_OP_LLVM_SELECT_BIT_PIECE: u8 = 0x0c;

/// Bits of a program location.
const LOCATION_BITS: u8 = 64;

/// A memory that is not the default one: by the guide's number (seed 000, line 706), and as LLVM marks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// LDS.
    Local,
    /// A lane's part of scratch memory.
    Private,
}

impl Memory {
    const fn number(self, dialect: Dialect) -> u8 {
        match (self, dialect) {
            (Memory::Local, Dialect::Standard) => 2,
            (Memory::Local, Dialect::Heterogeneous) => 3,
            (Memory::Private, Dialect::Standard) => 1,
            (Memory::Private, Dialect::Heterogeneous) => 5,
        }
    }
}

/// Writes expressions.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// With what.
    pub dialect: Dialect,
    /// Lanes of a wavefront.
    pub lanes: u32,
}

/// The DWARF number of a register; none for those without: VCC.
pub fn number(reg: Reg, lanes: u32) -> Option<u64> {
    let bank = match reg {
        reg if reg.is_vgpr() => Bank::Vgpr,
        reg if reg.is_agpr() => Bank::Agpr,
        reg if reg.0 < 106 => Bank::Sgpr,
        _ => return None,
    };
    Register::of(bank, reg.number().into(), lanes).map(|register| register.0)
}

impl Writer {
    /// The place of a leaf of so many bytes; `false`, and nothing written, if it has none.
    pub fn place(self, place: Where, bytes: u8, is_float: bool, out: &mut Vec<u8>) -> bool {
        match place {
            Where::Constant(bits) => self.constant(bits, bytes, is_float, out),
            Where::Registers(low, None) => return self.register(low, out),
            Where::Registers(low, Some(high)) => {
                let start = out.len();
                for reg in [low, high] {
                    if !self.register(reg, out) {
                        out.truncate(start);
                        return false;
                    }
                    out.extend_from_slice(&[DW_OP_PIECE, 4]);
                }
            }
            Where::Mask(reg) => return self.bit(reg, out),
        }
        true
    }

    /// Whether the place of a leaf is one with pieces already.
    pub const fn is_composite(place: Where) -> bool {
        matches!(place, Where::Registers(_, Some(_)))
    }

    /// So many bytes of a variable are what was written last.
    pub fn piece(self, bytes: u32, out: &mut Vec<u8>) {
        out.push(DW_OP_PIECE);
        unsigned(out, bytes.into());
    }

    fn constant(self, bits: u64, bytes: u8, is_float: bool, out: &mut Vec<u8>) {
        if is_float {
            out.extend_from_slice(&[DW_OP_IMPLICIT_VALUE, bytes]);
            out.extend_from_slice(&bits.to_le_bytes()[..usize::from(bytes.min(8))]);
            return;
        }
        self.number(bits, bytes, out);
        out.push(DW_OP_STACK_VALUE);
    }

    /// Pushes a number of so many bytes.
    fn number(self, bits: u64, bytes: u8, out: &mut Vec<u8>) {
        let shift = 64 - 8 * u32::from(bytes.clamp(1, 8));
        let value = (bits << shift) as i64 >> shift;
        match value {
            0..32 => out.push(DW_OP_LIT0 + value as u8),
            32.. => {
                out.push(DW_OP_CONSTU);
                unsigned(out, value as u64);
            }
            _ => {
                out.push(DW_OP_CONSTS);
                signed(out, value);
            }
        }
    }

    fn register(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        let Some(register) = number(reg, self.lanes) else { return false };
        out.push(DW_OP_REGX);
        unsigned(out, register);
        if self.dialect == Dialect::Heterogeneous && !reg.is_sgpr() {
            // The lane's dword of all that the register has (seed 000, line 1915).
            out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, DW_OP_LIT0 + 4, DW_OP_MUL]);
            out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET]);
        }
        true
    }

    /// The bit that a mask has for the lane; only the extensions know which lane that is.
    fn bit(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        if self.dialect == Dialect::Standard {
            return false;
        }
        let Some(low) = number(reg, self.lanes) else { return false };
        let push = |register: u64, out: &mut Vec<u8>| {
            out.push(DW_OP_BREGX);
            unsigned(out, register);
            out.push(0);
        };
        push(low, out);
        if self.lanes == 64 {
            let Some(high) = number(reg.offset(1), self.lanes) else { return false };
            push(high, out);
            out.extend_from_slice(&[DW_OP_CONSTU, 32, DW_OP_SHL, DW_OP_OR]);
        }
        out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, DW_OP_SHR, DW_OP_LIT0 + 1, DW_OP_AND]);
        out.push(DW_OP_STACK_VALUE);
        true
    }

    /// An address in a memory.
    pub fn address(self, memory: Memory, address: u32, out: &mut Vec<u8>) {
        self.number(address.into(), 8, out);
        self.mark(memory, out);
    }

    /// An address so many bytes behind the frame base.
    pub fn in_frame(self, offset: u32, out: &mut Vec<u8>) {
        out.push(DW_OP_FBREG);
        signed(out, offset.into());
        if self.dialect == Dialect::Standard {
            self.mark(Memory::Private, out);
        }
    }

    /// Where the frame of a function is: where its caller's stack pointer was.
    pub fn frame_base(self, out: &mut Vec<u8>) {
        out.push(DW_OP_CALL_FRAME_CFA);
    }

    /// What is on the stack is an address in a memory.
    fn mark(self, memory: Memory, out: &mut Vec<u8>) {
        out.push(DW_OP_LIT0 + memory.number(self.dialect));
        match self.dialect {
            Dialect::Standard => out.extend_from_slice(&[DW_OP_SWAP, DW_OP_XDEREF]),
            Dialect::Heterogeneous => {
                out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_FORM_ASPACE_ADDRESS]);
            }
        }
    }

    /// All lanes are nowhere.
    pub fn nowhere(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_UNDEFINED]);
        self.for_each_lane(DW_OP_LLVM_EXTEND, out);
    }

    /// Of those lanes of what is on the stack that are active: that they are at the program counter. `saved`: where those are, if EXEC has all.
    pub fn at_program_counter(self, saved: Option<Reg>, out: &mut Vec<u8>) {
        self.only(Bank::Pc, DW_OP_REGX, out);
        self.for_each_lane(DW_OP_LLVM_EXTEND, out);
        self.active(saved, out);
        self.for_each_lane(DW_OP_LLVM_SELECT_BIT_PIECE, out);
    }

    /// Of some lanes of what is below it on the stack: that they are at the location on the stack. No terms: all that were active on entry.
    pub fn at_location(self, lanes: Option<&Dwords>, out: &mut Vec<u8>) {
        out.push(DW_OP_STACK_VALUE);
        self.for_each_lane(DW_OP_LLVM_EXTEND, out);
        match lanes {
            Some(dwords) => self.mask(dwords, out),
            None => {
                out.push(DW_OP_LLVM_USER);
                self.only(Bank::Exec, DW_OP_LLVM_CALL_FRAME_ENTRY_REG, out);
                out.extend_from_slice(&[DW_OP_DEREF_SIZE, (self.lanes / 8) as u8]);
            }
        }
        self.for_each_lane(DW_OP_LLVM_SELECT_BIT_PIECE, out);
    }

    /// Pushes the lanes that are active.
    pub fn active(self, saved: Option<Reg>, out: &mut Vec<u8>) {
        match saved {
            Some(reg) => self.mask(&[0, 1].map(|n| vec![Term::All(Place::Scalar(reg.offset(n)))]), out),
            None => {
                self.only(Bank::Exec, DW_OP_BREGX, out);
                out.push(0);
            }
        }
    }

    fn for_each_lane(self, operation: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&[DW_OP_LLVM_USER, operation, LOCATION_BITS, self.lanes as u8]);
    }

    /// An operation on the one register of a bank.
    fn only(self, bank: Bank, operation: u8, out: &mut Vec<u8>) {
        out.push(operation);
        unsigned(out, Register::of(bank, 0, self.lanes).map_or(0, |register| register.0));
    }

    /// Pushes a mask.
    fn mask(self, dwords: &Dwords, out: &mut Vec<u8>) {
        let [low, high] = dwords;
        if self.lanes == 32 || high.is_empty() {
            return self.terms(low, out);
        }
        self.terms(high, out);
        out.extend_from_slice(&[DW_OP_CONSTU, 32, DW_OP_SHL]);
        if !low.is_empty() {
            self.terms(low, out);
            out.push(DW_OP_OR);
        }
    }

    /// Pushes a dword of a mask.
    fn terms(self, terms: &[Term], out: &mut Vec<u8>) {
        if terms.is_empty() {
            out.push(DW_OP_LIT0);
        }
        for (n, &term) in terms.iter().enumerate() {
            let (place, other) = match term {
                Term::All(place) => (place, None),
                Term::Both(place, other) => (place, Some((other, &[DW_OP_AND][..]))),
                Term::Without(place, other) => (place, Some((other, &[DW_OP_NOT, DW_OP_AND][..]))),
            };
            self.dword(place, out);
            if let Some((other, operations)) = other {
                self.dword(other, out);
                out.extend_from_slice(operations);
            }
            if n > 0 {
                out.push(DW_OP_OR);
            }
        }
    }

    /// Pushes a scalar register, or a lane of a vector register.
    fn dword(self, place: Place, out: &mut Vec<u8>) {
        let (reg, lane) = match place {
            Place::Scalar(reg) => (reg, None),
            Place::Lane(reg, lane) => (reg, Some(lane)),
        };
        out.push(if lane.is_some() { DW_OP_REGX } else { DW_OP_BREGX });
        unsigned(out, number(reg, self.lanes).unwrap_or(0));
        match lane {
            None => out.push(0),
            Some(lane) => {
                out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET_UCONST]);
                unsigned(out, 4 * u64::from(lane));
                out.extend_from_slice(&[DW_OP_DEREF_SIZE, 4]);
            }
        }
    }
}
