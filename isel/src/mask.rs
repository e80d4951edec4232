//! Lane masks: one bit per lane of the wave, in as many SGPRs as the wave size requires.
//!
//! Every operation on masks is a [`MaskOp`]. The opcode of a `MaskOp` depends on the wave size, and a single
//! table lists the opcodes. So no other part of selection has to know how many bits a mask has.

use crate::lower::Lower;
use crate::roles::Role;
use isa::{MachInst, Opcode, Operand, Reg, RegClass, Subtarget, Tuple, VReg, op};
use mir::MachFunc;

/// An operation on lane masks. Each is one instruction, whose operands are the destination, followed by the
/// sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskOp {
    /// Copies the mask.
    Mov,
    /// Lanes that are not in the mask, including inactive lanes.
    Not,
    /// Lanes that are in both masks.
    And,
    /// Lanes that are in the first mask and not in the second.
    AndNot,
    /// Lanes that are in either mask.
    Or,
    /// Lanes that are in the first mask or not in the second.
    OrNot,
    /// Lanes that are in exactly one of the masks.
    Xor,
    /// Lanes that are in both masks or in neither.
    Xnor,
    /// The first mask if SCC is set, else the second mask.
    Select,
    /// Saves `exec` in the destination, then makes the lanes that are not in the source inactive.
    AndSaveExec,
    /// Saves `exec` in the destination, then makes the lanes that are in the source inactive.
    AndNotSaveExec,
    /// Number of lanes in the mask.
    Count,
    /// Number of the first lane in the mask.
    FindFirst,
}

/// Opcodes for masks of 32 and of 64 lanes.
const OPCODES: [(MaskOp, [Opcode; 2]); 13] = [
    (MaskOp::Mov, [op::S_MOV_B32, op::S_MOV_B64]),
    (MaskOp::Not, [op::S_NOT_B32, op::S_NOT_B64]),
    (MaskOp::And, [op::S_AND_B32, op::S_AND_B64]),
    (MaskOp::AndNot, [op::S_ANDN2_B32, op::S_ANDN2_B64]),
    (MaskOp::Or, [op::S_OR_B32, op::S_OR_B64]),
    (MaskOp::OrNot, [op::S_ORN2_B32, op::S_ORN2_B64]),
    (MaskOp::Xor, [op::S_XOR_B32, op::S_XOR_B64]),
    (MaskOp::Xnor, [op::S_XNOR_B32, op::S_XNOR_B64]),
    (MaskOp::Select, [op::S_CSELECT_B32, op::S_CSELECT_B64]),
    (MaskOp::AndSaveExec, [op::S_AND_SAVEEXEC_B32, op::S_AND_SAVEEXEC_B64]),
    (MaskOp::AndNotSaveExec, [op::S_ANDN1_SAVEEXEC_B32, op::S_ANDN1_SAVEEXEC_B64]),
    (MaskOp::Count, [op::S_BCNT1_I32_B32, op::S_BCNT1_I32_B64]),
    (MaskOp::FindFirst, [op::S_FF1_I32_B32, op::S_FF1_I32_B64]),
];

/// Representation of lane masks on a subtarget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Masks {
    /// Number of SGPRs of a mask.
    dwords: u8,
}

impl Masks {
    /// Returns the opcodes and the number of SGPRs with which the subtarget represents lane masks.
    pub fn for_target(target: &Subtarget) -> Masks {
        Masks { dwords: target.mask_dwords() }
    }

    /// Returns the number of SGPRs of a mask.
    pub fn dwords(self) -> u8 {
        self.dwords
    }

    /// Returns the opcode of an operation.
    pub fn opcode(self, op: MaskOp) -> Opcode {
        OPCODES[op as usize].1[usize::from(self.dwords) - 1]
    }

    /// Creates an instruction on masks.
    pub fn inst(self, op: MaskOp, operands: &[Operand]) -> MachInst {
        MachInst::new(self.opcode(op), operands)
    }

    /// Returns the mask of active lanes.
    pub fn exec(self) -> Operand {
        Operand::regs(Reg::EXEC, self.dwords)
    }

    /// Returns VCC as a mask operand.
    pub fn vcc(self) -> Operand {
        Operand::regs(Reg::VCC, self.dwords)
    }

    /// Creates registers for a mask.
    pub fn registers(self, out: &mut MachFunc) -> LaneMask {
        let first = out.new_vreg(RegClass::Sgpr);
        for _ in 1..self.dwords {
            out.new_vreg(RegClass::Sgpr);
        }
        LaneMask { first, dwords: self.dwords }
    }
}

/// The virtual registers that hold a lane mask. They have consecutive numbers, so that the first number is
/// enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneMask {
    first: VReg,
    dwords: u8,
}

impl LaneMask {
    /// Returns the registers in order.
    pub fn regs(self) -> impl Iterator<Item = VReg> {
        (0..u32::from(self.dwords)).map(move |n| VReg::from_u32(self.first.as_u32() + n))
    }

    /// Returns the mask as an operand.
    pub fn operand(self, out: &mut MachFunc) -> Operand {
        let start = out.tuples.len() as u32;
        out.tuples.extend(self.regs());
        Operand::Virt(Tuple { start, len: self.dwords })
    }
}

/// The mask of no lanes, and the mask of all lanes.
pub(crate) const NO_LANES: Operand = Operand::int(0);
pub(crate) const ALL_LANES: Operand = Operand::int(-1);

impl Lower<'_> {
    /// Creates a new mask operand.
    pub fn mask_temp(&mut self) -> Operand {
        self.stemp(self.masks.dwords())
    }

    /// Emits an operation on masks.
    pub fn emit_mask(&mut self, op: MaskOp, operands: &[Operand]) {
        self.emit(self.masks.opcode(op), operands);
    }

    /// Returns registers that hold the mask of all lanes or of no lanes.
    pub fn constant_mask(&mut self, all: bool) -> Operand {
        let bits = if all { !0 } else { 0 };
        match self.masks.dwords() {
            1 => self.sgpr_const(bits as u32),
            _ => self.sgpr_const64(bits),
        }
    }

    /// Sets SCC to whether an active lane is in the mask.
    pub fn test_mask(&mut self, mask: Operand) {
        let live = self.mask_temp();
        self.emit_mask(MaskOp::And, &[live, mask, self.masks.exec()]);
    }

    /// Sets the 64-bit value `dst` to the active lanes that are in `mask`. In a wave of 32 lanes, the upper
    /// 32 bits are 0.
    pub fn ballot(&mut self, dst: Operand, mask: Operand) {
        let len = self.masks.dwords();
        let live = self.dwords(dst, 0, len);
        self.emit_mask(MaskOp::And, &[live, mask, self.masks.exec()]);
        for n in len..2 {
            let rest = self.dword(dst, n);
            self.copy(rest, NO_LANES);
        }
    }

    /// Sets `dst` to the number of lanes in the 64-bit `mask` that have a lower number than the current lane.
    pub fn lanes_before(&mut self, dst: Operand, mask: [Operand; 2]) {
        if self.masks.dwords() == 1 {
            return self.emit(Role::VMaskCountLow, &[dst, mask[0], NO_LANES]);
        }
        let low = self.vtemp(1);
        self.emit(Role::VMaskCountLow, &[low, mask[0], NO_LANES]);
        self.emit(Role::VMaskCountHigh, &[dst, mask[1], low]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_stands_in_its_row_and_exists_where_waves_have_that_size() {
        for (n, (op, _)) in OPCODES.iter().enumerate() {
            assert_eq!(*op as usize, n, "{op:?}");
        }
        let subtargets = [("gfx900", 64), ("gfx906", 64), ("gfx1010", 32), ("gfx1010", 64), ("gfx1030", 32)];
        for (name, lanes) in subtargets {
            let target = Subtarget::by_name(name).and_then(|t| t.with_wave_size(lanes)).expect(name);
            let masks = Masks::for_target(&target);
            assert_eq!(u32::from(masks.dwords()) * 32, lanes);
            for (op, _) in OPCODES {
                let opcode = masks.opcode(op);
                assert!(opcode.row().code(&target).is_some(), "{name} lacks {}", opcode.row().name);
                // Sources are as wide as a mask, and so are destinations that are masks.
                let widths: Vec<u8> = opcode.row().ops.iter().map(|spec| spec.width).collect();
                assert!(widths[1..].iter().all(|&w| w == masks.dwords()), "{op:?}: {widths:?}");
                if !matches!(op, MaskOp::Count | MaskOp::FindFirst) {
                    assert_eq!(widths[0], masks.dwords(), "{op:?}");
                }
            }
        }
    }
}
