//! Writes locations of variables as DWARF expressions.
//!
//! # Source
//! DWARF 5, 2.5 and 7.7; the heterogeneous extensions of LLVM's AMDGPU guide (seed 000, line 755), with the
//! operation numbers of LLVM's current AMDGPU guide (see `docs/debug-information.md`).

use crate::calls::Passed;
use crate::final_code::{Computed, Location};
use crate::lanes::{Dwords, Place, Term};
use crate::sections::Version;
use emit::Dialect;
use isa::Reg;
use mir::track::Cell;
use objwriter::leb::{signed, unsigned};
use objwriter::operations::*;
use objwriter::registers::{Bank, Register};

/// Number of the DWARF address space for a lane's private memory (LLVM's AMDGPU guide, seed 000, line 706).
const PRIVATE_LANE: u8 = 5;

/// Number of bits of a program location (a program counter).
const LOCATION_BITS: u8 = 64;

/// A GPU memory that expressions must name, because it is not global memory. The heterogeneous dialect names
/// it by the address space of the AMDGPU guide (seed 000, line 706), and the standard dialect by LLVM's
/// address class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// LDS.
    Local,
    /// Scratch memory of a lane.
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

/// Writer of expressions for one function.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Dialect of DWARF.
    pub dialect: Dialect,
    /// Version of DWARF.
    pub version: Version,
    /// Number of lanes in a wavefront.
    pub lanes: u32,
    /// Whether other functions call this function, so that it has a frame on the stack. Otherwise it is a
    /// kernel, whose private memory begins at offset 0.
    pub is_called: bool,
}

/// Returns the DWARF number of a register, or `None` for a register without such a number, for example VCC.
/// `lanes` is the number of lanes of a wave: a vector register has one number in waves of 32 lanes and
/// another number in waves of 64 lanes.
pub fn number(reg: Reg, lanes: u32) -> Option<u64> {
    Register::named(reg, lanes).map(|register| register.0)
}

impl Writer {
    /// Appends the location of a fragment (scalar part of a variable) to `out`. `bytes` is the size of the
    /// fragment. `is_part` says whether the variable has other fragments too, so that this location is one
    /// piece of a composite location description. Returns `false`, and appends nothing, if DWARF cannot
    /// describe the location.
    pub fn fragment_location(
        self,
        place: Location,
        (bytes, is_float, is_part): (u8, bool, bool),
        terms: &[Computed],
        out: &mut Vec<u8>,
    ) -> bool {
        match place {
            Location::Constant(bits) => self.constant(bits, bytes, is_float, out),
            Location::Dwords(low, Some(high)) if bytes > 4 => {
                let start = out.len();
                for cell in [low, high] {
                    if !self.cell(cell, true, out) {
                        out.truncate(start);
                        return false;
                    }
                    self.piece(4, out);
                }
            }
            // If the value has two dwords but the fragment has at most one, the fragment is the value's low
            // dword.
            Location::Dwords(low, _) => return self.cell(low, is_part, out),
            // A location in memory always describes a whole variable. The caller writes such a location
            // itself, so it does not come here.
            Location::Memory(_) => return false,
            Location::Mask(reg) => {
                let is_written = self.bit(reg, out);
                out.extend(is_written.then_some(DW_OP_STACK_VALUE));
                return is_written;
            }
            Location::Term(number) => {
                let is_written = self.computed(number, terms, out);
                out.extend(is_written.then_some(DW_OP_STACK_VALUE));
                return is_written;
            }
        }
        true
    }

    /// Returns whether [`Self::fragment_location`] writes several pieces (`DW_OP_piece`) for a fragment of
    /// `bytes` bytes at location `place`, so that its result is already a composite location description.
    pub const fn is_composite(place: Location, bytes: u8) -> bool {
        matches!(place, Location::Dwords(_, Some(_)) if bytes > 4)
    }

    /// Appends `DW_OP_piece`: the location written so far describes the next `bytes` bytes of the variable.
    pub fn piece(self, bytes: u32, out: &mut Vec<u8>) {
        out.push(DW_OP_PIECE);
        unsigned(out, bytes.into());
    }

    /// Appends operations that push the value of the dword in a cell, which is a register or spill slot.
    /// Returns `false` if DWARF cannot describe the cell.
    pub(crate) fn dword(self, cell: Cell, out: &mut Vec<u8>) -> bool {
        match (cell, self.dialect) {
            (Cell::Private(_), Dialect::Standard) => {
                self.cell(cell, true, out);
                // The location of the dword ends with `DW_OP_stack_value`. This operation is removed, because
                // here the value stays on the stack as an operand.
                out.pop();
            }
            (Cell::Reg(reg), dialect) if reg.is_scalar() || dialect == Dialect::Standard => {
                let Some(register) = number(reg, self.lanes) else { return false };
                out.push(DW_OP_BREGX);
                unsigned(out, register);
                out.push(0);
            }
            (Cell::Entered(reg), _) => return self.entry_value(reg, out),
            (_, Dialect::Standard) => return false,
            _ => {
                if !self.cell(cell, true, out) {
                    return false;
                }
                out.extend_from_slice(&[DW_OP_DEREF_SIZE, 4]);
            }
        }
        true
    }

    fn cell(self, cell: Cell, is_part: bool, out: &mut Vec<u8>) -> bool {
        match cell {
            Cell::Reg(reg) => return self.register(reg, out),
            Cell::Lane(reg, lane) => {
                // In the standard dialect, the number of a vector register stands for the dword of the
                // current lane. So the dword of another lane cannot be described.
                let Some(register) =
                    number(reg, self.lanes).filter(|_| self.dialect == Dialect::Heterogeneous)
                else {
                    return false;
                };
                out.push(DW_OP_REGX);
                unsigned(out, register);
                out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET_UCONST]);
                unsigned(out, 4 * u64::from(lane));
            }
            Cell::Private(offset) if is_part && self.dialect == Dialect::Standard => {
                // In the standard dialect, an address space applies to a whole expression, so a location in
                // private memory cannot be one piece of it. Instead, the fragment is described by the value
                // that is read from there.
                self.private(offset, out);
                out.extend_from_slice(&[lit(PRIVATE_LANE), DW_OP_SWAP, DW_OP_XDEREF_SIZE, 4]);
                out.push(DW_OP_STACK_VALUE);
            }
            Cell::Private(offset) => self.in_private(offset, out),
            Cell::Entered(reg) => {
                let is_written = self.entry_value(reg, out);
                out.extend(is_written.then_some(DW_OP_STACK_VALUE));
                return is_written;
            }
        }
        true
    }

    fn constant(self, bits: u64, bytes: u8, is_float: bool, out: &mut Vec<u8>) {
        // `DW_OP_implicit_value` gives the bytes of a constant of any type. It is used for floating-point
        // constants, which cannot be pushed on the DWARF stack. Other constants are pushed.
        if is_float && bits != 0 {
            out.extend_from_slice(&[DW_OP_IMPLICIT_VALUE, bytes]);
            out.extend_from_slice(&bits.to_le_bytes()[..usize::from(bytes.min(8))]);
            return;
        }
        self.number(bits, bytes, out);
        out.push(DW_OP_STACK_VALUE);
    }

    /// Pushes a number of `bytes` bytes, sign-extended.
    pub(crate) fn number(self, bits: u64, bytes: u8, out: &mut Vec<u8>) {
        let shift = 64 - 8 * u32::from(bytes.clamp(1, 8));
        let value = (bits << shift) as i64 >> shift;
        match value {
            0..32 => out.push(lit(value as u8)),
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
        if self.dialect == Dialect::Heterogeneous && !reg.is_scalar() {
            // Selects the current lane's dword of the vector register: its offset is the lane number times 4
            // bytes (LLVM's AMDGPU guide, seed 000, line 1915).
            out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, lit(4), DW_OP_MUL]);
            out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET]);
        }
        true
    }

    /// Appends operations that push the value which a register had on entry to the function. Returns `false`
    /// if the register has no DWARF number.
    fn entry_value(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        let mut inner = Vec::new();
        if !self.register(reg, &mut inner) {
            return false;
        }
        if self.dialect == Dialect::Heterogeneous && !reg.is_scalar() {
            // `DW_OP_entry_value` does not accept a part of a register as its operand (LLVM's AMDGPU guide,
            // seed 000, line 861). So the operand is an expression that reads the current lane's four bytes
            // from the register.
            inner.extend_from_slice(&[DW_OP_DEREF_SIZE, 4]);
        }
        out.push(match self.version {
            Version::V5 => DW_OP_ENTRY_VALUE,
            Version::V4 => DW_OP_GNU_ENTRY_VALUE,
        });
        unsigned(out, inner.len() as u64);
        out.extend_from_slice(&inner);
        true
    }

    /// Writes an argument register as the location of a call site parameter. Debuggers recognise only a plain
    /// register as such a location, so no lane is selected. Returns `false` if the register has no DWARF
    /// number.
    pub fn parameter(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        let Some(register) = number(reg, self.lanes) else { return false };
        out.push(DW_OP_REGX);
        unsigned(out, register);
        true
    }

    /// Appends operations that push the value which the caller passes in an argument register. Returns
    /// `false` if DWARF cannot describe the value.
    pub fn passed_value(self, passed: Passed, out: &mut Vec<u8>) -> bool {
        match passed {
            Passed::Constant(bits) => self.number(bits.into(), 8, out),
            Passed::Entered(reg) => return self.entry_value(reg, out),
            Passed::Kept(reg) if self.dialect == Dialect::Heterogeneous && !reg.is_scalar() => {
                if !self.register(reg, out) {
                    return false;
                }
                out.extend_from_slice(&[DW_OP_DEREF_SIZE, 4]);
            }
            Passed::Kept(reg) => {
                let Some(register) = number(reg, self.lanes) else { return false };
                out.push(DW_OP_BREGX);
                unsigned(out, register);
                out.push(0);
            }
        }
        true
    }

    /// Appends operations that push the current lane's bit of the lane mask in `reg`. Returns `false` in the
    /// standard dialect, which has no operation for the number of the current lane.
    pub(crate) fn bit(self, reg: Reg, out: &mut Vec<u8>) -> bool {
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
        out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, DW_OP_SHR, lit(1), DW_OP_AND]);
        true
    }

    /// Writes an address in a memory as a location.
    pub fn address(self, memory: Memory, address: u32, out: &mut Vec<u8>) {
        self.number(address.into(), 8, out);
        self.mark(memory, out);
    }

    /// Writes the location of the data at byte `offset` of the function's private memory.
    pub fn in_private(self, offset: u32, out: &mut Vec<u8>) {
        self.private(offset, out);
        // In the heterogeneous dialect, the frame base of a function is already a location in private memory,
        // so it is not converted. The frame base of a kernel is converted.
        if !(self.is_called && self.dialect == Dialect::Heterogeneous) {
            self.mark(Memory::Private, out);
        }
    }

    fn private(self, offset: u32, out: &mut Vec<u8>) {
        if self.is_called {
            out.push(DW_OP_FBREG);
            signed(out, offset.into());
        } else {
            self.number(offset.into(), 8, out);
        }
    }

    /// Writes the frame base of a function, which is the stack pointer of its caller.
    pub fn frame_base(self, out: &mut Vec<u8>) {
        out.push(DW_OP_CALL_FRAME_CFA);
    }

    /// Appends operations that convert the number on top of the stack to an address in `memory`, as the
    /// dialect prescribes.
    fn mark(self, memory: Memory, out: &mut Vec<u8>) {
        out.push(lit(memory.number(self.dialect)));
        match self.dialect {
            Dialect::Standard => out.extend_from_slice(&[DW_OP_SWAP, DW_OP_XDEREF]),
            Dialect::Heterogeneous => {
                out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_FORM_ASPACE_ADDRESS]);
            }
        }
    }

    /// Pushes a location in which no lane has a program counter.
    pub fn nowhere(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_UNDEFINED]);
        self.for_each_lane(DW_OP_LLVM_EXTEND, out);
    }

    /// Sets the location of each active lane to the program counter. The DWARF stack holds one composite
    /// location with the locations of all lanes; the locations of inactive lanes in it stay the same. `saved`
    /// is the register that holds the mask of active lanes, where the code has temporarily set all bits of
    /// EXEC. If `saved` is `None`, EXEC is the mask.
    pub fn at_program_counter(self, saved: Option<Reg>, out: &mut Vec<u8>) {
        self.only_register(Bank::Pc, DW_OP_REGX, out);
        self.for_each_lane(DW_OP_LLVM_EXTEND, out);
        self.active(saved, out);
        self.for_each_lane(DW_OP_LLVM_SELECT_BIT_PIECE, out);
    }

    /// Sets the location of each lane in the mask `lanes` to a new location. The DWARF stack holds the
    /// locations of all lanes and, on top, the new location. If `lanes` is `None`, the location is set for
    /// all lanes that were active on entry to the function.
    pub fn at_location(self, lanes: Option<&Dwords>, out: &mut Vec<u8>) {
        out.push(DW_OP_STACK_VALUE);
        self.for_each_lane(DW_OP_LLVM_EXTEND, out);
        match lanes {
            Some(dwords) => self.mask(dwords, out),
            None => {
                out.push(DW_OP_LLVM_USER);
                self.only_register(Bank::Exec, DW_OP_LLVM_CALL_FRAME_ENTRY_REG, out);
                out.extend_from_slice(&[DW_OP_DEREF_SIZE, (self.lanes / 8) as u8]);
            }
        }
        self.for_each_lane(DW_OP_LLVM_SELECT_BIT_PIECE, out);
    }

    /// Appends operations that push the mask of active lanes. Usually this mask is EXEC. Where the code has
    /// temporarily set all bits of EXEC, `saved` is the register that holds the mask instead.
    pub fn active(self, saved: Option<Reg>, out: &mut Vec<u8>) {
        match saved {
            Some(reg) => self.mask(&[0, 1].map(|n| vec![Term::All(Place::Scalar(reg.offset(n)))]), out),
            None => {
                self.only_register(Bank::Exec, DW_OP_BREGX, out);
                out.push(0);
            }
        }
    }

    fn for_each_lane(self, operation: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&[DW_OP_LLVM_USER, operation, LOCATION_BITS, self.lanes as u8]);
    }

    /// Writes an operation on the only register of a bank.
    fn only_register(self, bank: Bank, operation: u8, out: &mut Vec<u8>) {
        out.push(operation);
        unsigned(out, Register::in_bank(bank, 0, self.lanes).map_or(0, |register| register.0));
    }

    /// Pushes a lane mask.
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

    /// Pushes one dword of a lane mask: the union of the terms.
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
            self.dword(place.cell(), out);
            if let Some((other, operations)) = other {
                self.dword(other.cell(), out);
                out.extend_from_slice(operations);
            }
            if n > 0 {
                out.push(DW_OP_OR);
            }
        }
    }
}
