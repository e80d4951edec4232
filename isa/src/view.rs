//! What the numbers in the operands of an instruction refer to.

use crate::operand::{MBlock, Tuple};
use crate::reg::{RegClass, VReg};
use std::fmt;

/// The function that contains an instruction, as far as the printer and the rules of operands need it. An
/// instruction has only numbers of virtual registers, blocks and references; this trait says what they stand
/// for.
pub trait FuncView {
    /// Returns the virtual registers of a tuple (operand with several registers).
    fn regs(&self, tuple: Tuple) -> &[VReg];

    /// Returns the register class of a virtual register.
    fn class(&self, reg: VReg) -> RegClass;

    /// Appends the label that a block has in assembly text, such as `.Lsaxpy_bb3`.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write_label(&self, block: MBlock, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Appends the assembly text of the reference with the number `index`
    /// ([`Operand::Reloc`](crate::Operand::Reloc)), such as `global7@rel32@lo+4`.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write_reference(&self, index: u32, out: &mut dyn fmt::Write) -> fmt::Result;
}
