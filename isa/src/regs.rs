//! Which registers an instruction reads and writes.

use crate::inst::{Lane, MachInst, ModFlags};
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::table::{Family, Flags, Implicit, Role, op};

/// Registers beside the operands: bit, register, dwords, whether written.
const IMPLICIT: [(Implicit, Reg, u8, Role); 9] = [
    (Implicit::READ_SCC, Reg::SCC, 1, Role::Use),
    (Implicit::READ_VCC, Reg::VCC, 2, Role::Use),
    (Implicit::READ_EXEC, Reg::EXEC, 2, Role::Use),
    (Implicit::READ_M0, Reg::M0, 1, Role::Use),
    (Implicit::READ_FLAT_SCRATCH, Reg::FLAT_SCRATCH, 2, Role::Use),
    (Implicit::WRITE_SCC, Reg::SCC, 1, Role::Def),
    (Implicit::WRITE_VCC, Reg::VCC, 2, Role::Def),
    (Implicit::WRITE_EXEC, Reg::EXEC, 2, Role::Def),
    (Implicit::WRITE_M0, Reg::M0, 1, Role::Def),
];

impl MachInst {
    /// How the operand of that index is accessed: the row's role, refined by form and modifiers.
    ///
    /// * An atomic without `glc` does not return a value: its data is only read.
    /// * A destination of which a part keeps its old value is read too: `op_sel` on the destination, SDWA's
    ///   `UNUSED_PRESERVE`, DPP lanes that are masked or have no source.
    pub fn role(&self, index: usize) -> Role {
        let row = self.op.row();
        let Some(spec) = row.ops.get(index) else {
            // Operands of pseudos: destination first.
            return if index == 0 && matches!(self.op, op::COPY | op::UNDEF) { Role::Def } else { Role::Use };
        };
        let returns = !row.flags.contains(Flags::ATOMIC) || self.mods.flags.contains(ModFlags::GLC);
        match spec.role {
            Role::DefUse if !returns && matches!(row.family, Family::Mubuf | Family::Smem) => Role::Use,
            Role::Def if index == 0 && row.is_valu() && self.keeps_part() => Role::DefUse,
            role => role,
        }
    }

    fn keeps_part(&self) -> bool {
        match self.mods.lane {
            Lane::None | Lane::Format(_) | Lane::Image { .. } => self.mods.op_sel & 8 != 0,
            Lane::Sdwa { unused, .. } => unused == 2,
            // Every lane is written.
            Lane::Dpp8 { .. } => false,
            Lane::Dpp { row_mask, bank_mask, .. } => {
                row_mask & bank_mask != 15 || !self.mods.flags.contains(ModFlags::BOUND_CTRL)
            }
        }
    }

    /// Calls `f` for each explicit register operand, hardware or virtual.
    pub fn for_each_reg(&self, mut f: impl FnMut(Role, Operand)) {
        for (index, &operand) in self.operands().iter().enumerate() {
            match operand {
                Operand::Reg(_) | Operand::Virt(_) => f(self.role(index), operand),
                Operand::Scattered(scattered) => {
                    let registers = scattered.numbers().iter().map(|&number| Reg::vgpr(number.into()));
                    registers.for_each(|reg| f(Role::Use, Operand::reg(reg)));
                }
                _ => {}
            }
        }
    }

    /// Calls `f` for each group of hardware registers, implicit ones (SCC, VCC, EXEC, M0, FLAT_SCRATCH) included.
    pub fn for_each_hw_reg(&self, mut f: impl FnMut(Role, RegRange)) {
        self.for_each_reg(|role, operand| {
            if let Operand::Reg(range) = operand {
                f(role, range);
            }
        });
        let implicit = self.implicit();
        for &(_, first, len, role) in IMPLICIT.iter().filter(|row| implicit.contains(row.0)) {
            f(role, RegRange { first, len });
        }
    }

    /// Implicit registers: the row's, and M0 for a load to LDS.
    pub fn implicit(&self) -> Implicit {
        let row = self.op.row();
        match self.mods.flags.contains(ModFlags::LDS) {
            true => row.implicit | Implicit::READ_M0,
            false => row.implicit,
        }
    }

    /// Whether it reads any of the registers.
    pub fn reads(&self, range: RegRange) -> bool {
        self.touches(range, Role::Def)
    }

    /// Whether it writes any of the registers.
    pub fn writes(&self, range: RegRange) -> bool {
        self.touches(range, Role::Use)
    }

    fn touches(&self, range: RegRange, except: Role) -> bool {
        let mut found = false;
        self.for_each_hw_reg(|role, other| found |= role != except && range.overlaps(other));
        found
    }
}

impl RegRange {
    /// Whether the groups share a register.
    pub const fn overlaps(self, other: RegRange) -> bool {
        self.first.0 < other.first.0 + other.len as u16 && other.first.0 < self.first.0 + self.len as u16
    }
}
