//! Facts about memory instructions that may be executed again. On processors with XNACK, an access that
//! encounters a missing page is repeated when the page is present. The whole clause of the access is repeated
//! with it.
//!
//! # Source
//! "Instructions in scalar memory clauses must not overwrite the sources of any of the instructions in the
//! clause" (GCN3 and Vega ISA, "SMEM clauses"). LLVM's `checkSoftClauseHazards` enforces the same for clauses
//! of vector memory instructions. Since version 19, LLVM's scalar loads of several dwords have an early
//! clobber (`S_LOAD_DWORDX2_IMM_ec`) unless they are known to be aligned to their size, because other loads
//! may return a part before the rest encounters a missing page. A vector load that is not in a clause may
//! overwrite its address, because a lane receives either all dwords or none. In `kernc`, no load overwrites
//! its address: the additional register that a few kernels need costs less than breaking the following
//! clause.

use crate::inst::MachInst;
use crate::operand::{Operand, RegRange};
use crate::subtarget::Subtarget;
use crate::table::{Family, Flags, Role};

impl Subtarget {
    /// Returns whether the allocator must put the results of an instruction into other registers than its
    /// sources. This is so if the instruction may be executed again after it has already returned a part of
    /// its result. An operand that is modified in place is an exception.
    pub fn holds_sources(&self, inst: &MachInst) -> bool {
        let row = inst.op.row();
        self.xnack.may_be_on()
            && row.flags.intersects(Flags::LOAD.union(Flags::ATOMIC))
            && (row.family == Family::Smem || row.is_vmem())
    }
}

impl MachInst {
    /// Returns whether a repeated execution of the instruction may find a part of its work done already. This
    /// is so for a scalar load of several dwords, which may return some dwords before it encounters a missing
    /// page.
    pub fn is_replayed_in_parts(&self) -> bool {
        let row = self.op.row();
        row.family == Family::Smem
            && row.flags.contains(Flags::LOAD)
            && matches!(self.operands().first(), Some(Operand::Reg(range)) if range.len > 1)
    }

    /// Returns the registers of a source that are also registers of a destination. Returns `None` if there
    /// are none. Operands that are modified in place are ignored.
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
