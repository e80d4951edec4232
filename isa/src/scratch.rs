//! Accesses to private memory, which processors access in two ways: by MUBUF instructions with a descriptor of
//! the wave's memory, or by SCRATCH instructions.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000), line 2902 ("Private Segment Buffer", "Flat Scratch"), and the code of LLVM 19
//! for gfx942.

use crate::inst::{MachInst, ModFlags};
use crate::operand::Operand;
use crate::table::{Family, Kind, OpSpec, Opcode, Role, op};

/// The instructions with which compiled code accesses private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchAccess {
    /// MUBUF instructions. They need the descriptor of the wave's memory in four SGPRs. The scalar offset of
    /// an address, and with it the stack pointer, counts the bytes of all lanes of the wave.
    Buffer,
    /// SCRATCH instructions. The hardware knows where the wave's memory is, so there is no descriptor. The
    /// scalar offset of an address, and with it the stack pointer, counts the bytes of one lane.
    Scratch,
}

impl ScratchAccess {
    /// Returns the instruction that loads or stores a dword.
    pub const fn dword(self, is_load: bool) -> Opcode {
        match (self, is_load) {
            (ScratchAccess::Buffer, true) => op::BUFFER_LOAD_DWORD,
            (ScratchAccess::Buffer, false) => op::BUFFER_STORE_DWORD,
            (ScratchAccess::Scratch, true) => op::SCRATCH_LOAD_DWORD,
            (ScratchAccess::Scratch, false) => op::SCRATCH_STORE_DWORD,
        }
    }

    /// Returns whether accesses need the descriptor of the wave's memory.
    pub const fn has_descriptor(self) -> bool {
        matches!(self, ScratchAccess::Buffer)
    }
}

/// The operands of a load or store of private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivateAccess {
    /// The VGPRs that are loaded or stored.
    pub data: Operand,
    /// The VGPR with the part of the address that differs between lanes, or `Operand::None`.
    pub vaddr: Operand,
    /// The descriptor of the wave's memory, or `Operand::None` for a SCRATCH instruction.
    pub descriptor: Operand,
    /// The part of the address that all lanes share: an SGPR or 0.
    pub base: Operand,
}

impl PrivateAccess {
    /// Returns the MUBUF or SCRATCH instruction with these operands. The caller sets the immediate offset.
    pub fn instruction(&self, opcode: Opcode) -> MachInst {
        let zero = Operand::int(0);
        let operand = |spec: &OpSpec| match spec.kind {
            Kind::Vaddr => self.vaddr,
            Kind::Sgpr => self.descriptor,
            Kind::Ssrc => self.base,
            Kind::Saddr if self.base == zero => Operand::None,
            Kind::Saddr => self.base,
            _ => self.data,
        };
        let mut operands = [Operand::None; 4];
        let specs = opcode.row().ops;
        operands.iter_mut().zip(specs).for_each(|(to, spec)| *to = operand(spec));
        let mut inst = MachInst::new(opcode, &operands[..specs.len().min(4)]);
        if opcode.row().family == Family::Mubuf && self.vaddr != Operand::None {
            inst.mods.flags = ModFlags::OFFEN;
        }
        inst
    }

    /// Reads an instruction that loads or stores a dword of private memory. Returns the operands, and whether
    /// the data is written ([`Role::Def`], a load) or read. Returns `None` for any other instruction.
    pub fn of_dword(inst: &MachInst) -> Option<(Role, PrivateAccess)> {
        let [first, second, third, fourth, ..] = inst.ops;
        let base = if third == Operand::None { Operand::int(0) } else { third };
        let scratch = |data, vaddr| PrivateAccess { data, vaddr, descriptor: Operand::None, base };
        let buffer = PrivateAccess { data: first, vaddr: second, descriptor: third, base: fourth };
        match inst.op {
            op::BUFFER_LOAD_DWORD => Some((Role::Def, buffer)),
            op::BUFFER_STORE_DWORD => Some((Role::Use, buffer)),
            op::SCRATCH_LOAD_DWORD => Some((Role::Def, scratch(first, second))),
            op::SCRATCH_STORE_DWORD => Some((Role::Use, scratch(second, first))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reg::Reg;

    #[test]
    fn operands_survive_both_forms() {
        let (data, address) = (Operand::reg(Reg::vgpr(1)), Operand::reg(Reg::vgpr(2)));
        let bases = [Operand::int(0), Operand::reg(Reg::sgpr(32))];
        for (access, descriptor) in
            [(ScratchAccess::Buffer, Operand::regs(Reg::sgpr(0), 4)), (ScratchAccess::Scratch, Operand::None)]
        {
            for (base, vaddr) in bases.into_iter().flat_map(|base| [(base, address), (base, Operand::None)]) {
                let operands = PrivateAccess { data, vaddr, descriptor, base };
                for (is_load, role) in [(true, Role::Def), (false, Role::Use)] {
                    let inst = operands.instruction(access.dword(is_load));
                    assert_eq!(PrivateAccess::of_dword(&inst), Some((role, operands)));
                }
            }
        }
    }
}
