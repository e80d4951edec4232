//! Where something is, as expressions of DWARF.
//!
//! # Source
//! DWARF 5, 2.5 and 7.7; the guide's extensions (seed 000, line 755), whose numbers are those of LLVM's guide today
//! (`docs/debug-information.md`).

use crate::calls::Passed;
use crate::final_code::Where;
use crate::sections::Version;
use emit::Dialect;
use isa::Reg;
use objwriter::leb::{signed, unsigned};
use objwriter::operations::*;
use objwriter::registers::Register;

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
    /// In which version.
    pub version: Version,
    /// Lanes of a wavefront.
    pub lanes: u32,
}

/// The DWARF number of a register; none for those without: VCC.
pub fn number(reg: Reg, lanes: u32) -> Option<u64> {
    Register::named(reg, lanes).map(|register| register.0)
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
            Where::Entered(low, None) => return self.entered(low, out),
            Where::Entered(low, Some(high)) => {
                let start = out.len();
                for reg in [low, high] {
                    if !self.entered(reg, out) {
                        out.truncate(start);
                        return false;
                    }
                    out.extend_from_slice(&[DW_OP_PIECE, 4]);
                }
            }
        }
        true
    }

    /// Whether the place of a leaf is one with pieces already.
    pub const fn is_composite(place: Where) -> bool {
        matches!(place, Where::Registers(_, Some(_)) | Where::Entered(_, Some(_)))
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
        if self.dialect == Dialect::Heterogeneous && !reg.is_sgpr() {
            // The lane's dword of all that the register has (seed 000, line 1915).
            out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, lit(4), DW_OP_MUL]);
            out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET]);
        }
        true
    }

    /// What a register held when the function was entered, as a value that is nowhere.
    fn entered(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        if !self.entry_value(reg, out) {
            return false;
        }
        out.push(DW_OP_STACK_VALUE);
        true
    }

    /// Pushes what a register held when the function was entered.
    fn entry_value(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        let mut inner = Vec::new();
        if !self.register(reg, &mut inner) {
            return false;
        }
        if self.dialect == Dialect::Heterogeneous && !reg.is_sgpr() {
            // The lane's dword is a part of a register, which `entry_value` does not take (seed 000, line 861): its value is taken.
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

    /// The register of an argument, as entries of call sites name it: the register alone, by which readers find it.
    pub fn parameter(self, reg: Reg, out: &mut Vec<u8>) -> bool {
        let Some(register) = number(reg, self.lanes) else { return false };
        out.push(DW_OP_REGX);
        unsigned(out, register);
        true
    }

    /// What is passed in an argument's register: a value of the caller's.
    pub fn passed(self, passed: Passed, out: &mut Vec<u8>) -> bool {
        match passed {
            Passed::Constant(bits) => self.number(bits.into(), 8, out),
            Passed::Entered(reg) => return self.entry_value(reg, out),
            Passed::Kept(reg) if self.dialect == Dialect::Heterogeneous && !reg.is_sgpr() => {
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
        out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, DW_OP_SHR, lit(1), DW_OP_AND]);
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
        out.push(lit(memory.number(self.dialect)));
        match self.dialect {
            Dialect::Standard => out.extend_from_slice(&[DW_OP_SWAP, DW_OP_XDEREF]),
            Dialect::Heterogeneous => {
                out.extend_from_slice(&[DW_OP_LLVM_USER, DW_OP_LLVM_FORM_ASPACE_ADDRESS]);
            }
        }
    }
}
