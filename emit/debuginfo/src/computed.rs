//! Values that no register holds any more and that debuggers compute from other values. The computation is a
//! DWARF expression, whose stack has entries of 64-bit integers.
//!
//! # Idea
//! An operation on narrower integers is done in 64 bits, and its low bits are correct. The upper bits are
//! cleared, or filled with the sign, only before an operation that depends on them. No expression divides, so
//! no value makes the evaluation fail.
//!
//! # Source
//! DWARF 5, 2.5.1.4 to 2.5.1.6.

use crate::expression::Writer;
use crate::final_code::{Computed, Location};
use mir::track::TermOp;
use objwriter::operations::*;

/// State of the bits above the width of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    Zero,
    Anything,
}

impl Writer {
    /// Appends to `out` the DWARF operations that compute a value and push it on the stack of the expression.
    /// The value is described by `terms[number]`: an operation and its operands. Returns `false`, and appends
    /// nothing, if DWARF cannot describe an operand.
    pub fn computed(self, number: u32, terms: &[Computed], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let is_written = self.term(number, terms, out).is_some();
        if !is_written {
            out.truncate(start);
        }
        is_written
    }

    fn term(self, number: u32, terms: &[Computed], out: &mut Vec<u8>) -> Option<Above> {
        let Computed { op, bits, args } = *terms.get(number as usize)?;
        let arg = |n: usize| args[n];
        let simple = |code: u8, out: &mut Vec<u8>| {
            self.value(arg(0)?, bits, terms, out)?;
            self.value(arg(1)?, bits, terms, out)?;
            out.push(code);
            Some(Above::Anything)
        };
        match op {
            TermOp::Add => simple(DW_OP_PLUS, out),
            TermOp::Sub => simple(DW_OP_MINUS, out),
            TermOp::Mul => simple(DW_OP_MUL, out),
            TermOp::And => simple(DW_OP_AND, out),
            TermOp::Or => simple(DW_OP_OR, out),
            TermOp::Xor => simple(DW_OP_XOR, out),
            // A truth value must stay 0 or 1, because all other operations on truth values rely on this.
            // Therefore only the lowest bit is flipped.
            TermOp::Not if bits == 1 => {
                self.value(arg(0)?, bits, terms, out)?;
                out.extend_from_slice(&[DW_OP_LIT0 + 1, DW_OP_XOR]);
                Some(Above::Zero)
            }
            TermOp::Not | TermOp::Neg => {
                self.value(arg(0)?, bits, terms, out)?;
                out.push(if op == TermOp::Not { DW_OP_NOT } else { DW_OP_NEG });
                Some(Above::Anything)
            }
            TermOp::Shl | TermOp::LShr | TermOp::AShr => self.shift(op, bits, [arg(0)?, arg(1)?], terms, out),
            TermOp::Low(low) => {
                let above = self.value(arg(0)?, bits, terms, out)?;
                if low > bits {
                    return Some(above);
                }
                // If the type has the same width as the value, the conversion changes nothing. In this case,
                // what is known about the upper bits of the stack entry remains valid.
                self.clear(if low < bits { Above::Anything } else { above }, low, out);
                Some(Above::Zero)
            }
            TermOp::SignedLow(low) => {
                self.value(arg(0)?, bits, terms, out)?;
                self.sign(low, out);
                Some(Above::Anything)
            }
            TermOp::AddUnsigned => {
                self.value(arg(0)?, bits, terms, out)?;
                self.clean(arg(1)?, 32, terms, out)?;
                out.push(DW_OP_PLUS);
                Some(Above::Anything)
            }
            TermOp::Select => {
                self.value(arg(1)?, 64, terms, out)?;
                self.value(arg(2)?, 64, terms, out)?;
                self.clean(arg(0)?, 1, terms, out)?;
                // Selects one of two values. The stack holds the two values and, on top, the condition. If
                // the condition is true, `DW_OP_bra` skips the swap. Then `DW_OP_drop` removes the value on
                // top, which is the one that was not selected.
                out.extend_from_slice(&[DW_OP_BRA, 1, 0, DW_OP_SWAP, DW_OP_DROP]);
                Some(Above::Anything)
            }
            _ => self.compare(op, bits, [arg(0)?, arg(1)?], terms, out),
        }
    }

    fn shift(
        self,
        op: TermOp,
        bits: u8,
        [value, count]: [Location; 2],
        terms: &[Computed],
        out: &mut Vec<u8>,
    ) -> Option<Above> {
        match op {
            TermOp::LShr => self.clean(value, bits, terms, out)?,
            _ => {
                self.value(value, bits, terms, out)?;
                if op == TermOp::AShr {
                    self.sign(bits, out);
                }
            }
        }
        // Shift counts are taken modulo the width.
        self.clean(count, 8, terms, out)?;
        if !matches!(count, Location::Constant(count) if count < bits.into()) {
            self.number(u64::from(bits) - 1, 8, out);
            out.push(DW_OP_AND);
        }
        out.push(match op {
            TermOp::Shl => DW_OP_SHL,
            TermOp::LShr => DW_OP_SHR,
            _ => DW_OP_SHRA,
        });
        Some(if op == TermOp::LShr { Above::Zero } else { Above::Anything })
    }

    /// Appends a comparison of two values. DWARF can only compare signed 64-bit integers. Therefore an
    /// unsigned value with fewer than 64 bits is zero-extended first, and unsigned values of 64 bits can only
    /// be compared for equality.
    fn compare(
        self,
        op: TermOp,
        bits: u8,
        args: [Location; 2],
        terms: &[Computed],
        out: &mut Vec<u8>,
    ) -> Option<Above> {
        let (code, is_signed) = match op {
            TermOp::Eq => (DW_OP_EQ, false),
            TermOp::Ne => (DW_OP_NE, false),
            TermOp::Slt => (DW_OP_LT, true),
            TermOp::Sle => (DW_OP_LE, true),
            TermOp::Sgt => (DW_OP_GT, true),
            TermOp::Sge => (DW_OP_GE, true),
            _ if bits > 32 => return None,
            TermOp::Ult => (DW_OP_LT, false),
            TermOp::Ule => (DW_OP_LE, false),
            TermOp::Ugt => (DW_OP_GT, false),
            TermOp::Uge => (DW_OP_GE, false),
            _ => return None,
        };
        for arg in args {
            if is_signed {
                self.value(arg, bits, terms, out)?;
                self.sign(bits, out);
            } else {
                self.clean(arg, bits, terms, out)?;
            }
        }
        out.push(code);
        Some(Above::Zero)
    }

    /// Appends operations that push an operand of `bits` bits, which is at location `place`, on the DWARF
    /// stack. Returns what the stack entry contains above these bits, or `None` if DWARF cannot describe the
    /// operand.
    fn value(self, place: Location, bits: u8, terms: &[Computed], out: &mut Vec<u8>) -> Option<Above> {
        let written = match place {
            Location::Constant(value) => {
                self.number(value & (u64::MAX >> (64 - bits.clamp(1, 64))), 8, out);
                true
            }
            Location::Dwords(low, Some(high)) if bits > 32 => {
                let written = self.dword(high, out);
                self.number(32, 8, out);
                out.push(DW_OP_SHL);
                let written = written && self.dword(low, out);
                out.push(DW_OP_OR);
                written
            }
            Location::Dwords(low, _) => {
                // A truth value in a register is 0 or 1.
                let is_whole = bits >= 32 || bits == 1;
                return self.dword(low, out).then_some(if is_whole { Above::Zero } else { Above::Anything });
            }
            Location::Memory(_) => false,
            Location::Mask(reg) => self.bit(reg, out),
            Location::Term(number) => return self.term(number, terms, out),
        };
        written.then_some(Above::Zero)
    }

    /// Pushes a value of `bits` bits with all bits above cleared.
    fn clean(self, place: Location, bits: u8, terms: &[Computed], out: &mut Vec<u8>) -> Option<()> {
        let above = self.value(place, bits, terms, out)?;
        self.clear(above, bits, out);
        Some(())
    }

    fn clear(self, above: Above, bits: u8, out: &mut Vec<u8>) {
        if above == Above::Anything && bits < 64 {
            self.number(u64::MAX >> (64 - bits), 8, out);
            out.push(DW_OP_AND);
        }
    }

    /// Sign-extends the value of `bits` bits on top of the stack to the whole 64-bit stack entry.
    fn sign(self, bits: u8, out: &mut Vec<u8>) {
        if bits < 64 {
            self.number(64 - u64::from(bits), 8, out);
            out.push(DW_OP_SHL);
            self.number(64 - u64::from(bits), 8, out);
            out.push(DW_OP_SHRA);
        }
    }
}
