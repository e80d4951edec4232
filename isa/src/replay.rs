//! Memory instructions that may be executed again: with XNACK replay on, an access that finds no page is repeated when there is
//! one, and with it all of its clause.
//!
//! # Source
//! "Instructions in scalar memory clauses must not overwrite the sources of any of the instructions in the clause" (GCN3 and
//! Vega ISA, "SMEM clauses"). LLVM's `checkSoftClauseHazards` keeps clauses of vector memory so too, and since version 19 scalar
//! loads of several dwords have an early clobber (`S_LOAD_DWORDX2_IMM_ec`) unless they are known to be aligned to their size:
//! of others a part may be there when the rest finds no page. A vector load that is alone may overwrite its address, as a lane
//! gets all of its dwords or none. Here no load does: the one register more that a few kernels take is cheaper than what breaks
//! the clause behind it.

use crate::inst::MachInst;
use crate::operand::{Operand, RegRange};
use crate::subtarget::Subtarget;
use crate::table::{Family, Flags, Role};

impl Subtarget {
    /// Whether an instruction may be executed again when it has already returned something: the allocator keeps what it returns
    /// apart from what it reads. What is modified in place cannot be.
    pub fn holds_sources(&self, inst: &MachInst) -> bool {
        let row = inst.op.row();
        self.xnack.may_be_on()
            && row.flags.intersects(Flags::LOAD.union(Flags::ATOMIC))
            && (row.family == Family::Smem || row.is_vmem())
    }
}

impl MachInst {
    /// Whether a part of it may have been done when it is executed again: a scalar load of several dwords.
    pub fn is_replayed_in_parts(&self) -> bool {
        let row = self.op.row();
        row.family == Family::Smem
            && row.flags.contains(Flags::LOAD)
            && matches!(self.operands().first(), Some(Operand::Reg(range)) if range.len > 1)
    }

    /// The registers of a source that the instruction overwrites, if it does; not those it modifies in place.
    pub fn overwritten_source(&self) -> Option<RegRange> {
        let registers = |role: Role| {
            self.operands().iter().enumerate().filter_map(move |(n, operand)| match operand {
                Operand::Reg(range) if self.role(n) == role => Some(*range),
                _ => None,
            })
        };
        registers(Role::Use).find(|source| registers(Role::Def).any(|result| result.overlaps(*source)))
    }
}
