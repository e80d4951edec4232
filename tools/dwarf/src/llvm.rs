//! Expressions to which LLVM gives another meaning than the DWARF standard.
//!
//! LLVM 19 has no operation for address spaces. After the location of a variable outside global memory it
//! writes the mark `DW_OP_lit<n>; DW_OP_swap; DW_OP_xderef`, where n is 1 for private memory and 2 for local
//! memory. Debuggers that know this mark take n as the address space of the location. According to the
//! standard, the operations of the mark would read the memory at the location instead.
//! `tools/dwarf/tests/clang.rs` shows clang's output.

use crate::names::AddressSpace;
use crate::op::{Encoding, Op, Opcode, Ops};

/// Returns an expression without LLVM's mark for an address space at its end, and that address space. `None`
/// if the expression has no such mark.
pub fn marked(expression: &[u8], encoding: Encoding) -> Option<(&[u8], AddressSpace)> {
    // Most expressions have no mark, which their last byte shows.
    let ends = [Opcode::XDEREF, Opcode::STACK_VALUE].map(|end| end.0 as u8);
    expression.last().filter(|last| ends.contains(last))?;
    let ops: Vec<Op<'_>> = Ops::new(expression, encoding).collect::<Result<_, _>>().ok()?;
    // For a constant address, LLVM writes `DW_OP_stack_value` after the mark. This operation must be removed
    // first.
    let ops = match ops.as_slice() {
        [rest @ .., last] if last.opcode == Opcode::STACK_VALUE => rest,
        all => all,
    };
    let [rest @ .., space, swap, xderef] = ops else { return None };
    let is_mark = !rest.is_empty() && swap.opcode == Opcode::SWAP && xderef.opcode == Opcode::XDEREF;
    let number = match space.opcode.run() {
        Some((Opcode::LIT0, number)) => u64::from(number),
        _ if space.opcode == Opcode::CONSTU => space.unsigned(0),
        _ => return None,
    };
    let space = match number {
        1 => AddressSpace::PRIVATE_LANE,
        2 => AddressSpace::LOCAL,
        _ => return None,
    };
    is_mark.then(|| (&expression[..rest.last().map_or(0, |op| op.end)], space))
}
