//! What the operands of an instruction refer to.

use crate::operand::{MBlock, Tuple};
use crate::reg::{RegClass, VReg};
use std::fmt;

/// The function that contains an instruction, as the printer and the rules of operands see the function: the
/// operands contain only numbers of virtual registers, blocks and references.
pub trait FuncView {
    /// Returns the registers of a tuple.
    fn regs(&self, tuple: Tuple) -> &[VReg];

    /// Returns the class of a virtual register.
    fn class(&self, reg: VReg) -> RegClass;

    /// Appends the label of a block in assembly text, such as `.Lsaxpy_bb3`.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write_label(&self, block: MBlock, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Appends the reference with a number ([`Operand::Reloc`](crate::Operand::Reloc)) in assembly text, such
    /// as `global7@rel32@lo+4`.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write_reference(&self, index: u32, out: &mut dyn fmt::Write) -> fmt::Result;
}
