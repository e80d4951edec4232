//! What the hardware lets stand together in one instruction.

use crate::func::MachFunc;
use crate::inst::MachInst;
use crate::layout::Encoding;
use crate::operand::{Operand, RegRange};
use crate::reg::{Reg, RegClass};
use crate::table::{Implicit, Role, op};
use crate::target::Target;

/// A value that a vector instruction takes over the constant bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BusValue {
    Hw(RegRange),
    Virt(crate::reg::VReg),
    Literal(u32),
}

/// Whether a vector instruction stays within the constant bus: on GFX9 it may read one SGPR (pair) or literal, any
/// number of times, and a literal only in a 32-bit encoding. Other instructions are always fine.
///
/// `func` tells the class of virtual registers; without it they count as VGPRs. Inline constants, and the status
/// bits and apertures that are read like constants, do not use the bus.
pub fn constant_bus_ok(_target: &Target, inst: &MachInst, func: Option<&MachFunc>) -> bool {
    let row = inst.op.row();
    if !row.is_valu() {
        return true;
    }
    let Some(encoding) = Encoding::of(row, inst.form) else { return false };
    let room_for_literal = encoding == Encoding::Vop32;
    let mut bus = row
        .implicit
        .contains(Implicit::READ_VCC)
        .then_some(BusValue::Hw(RegRange { first: Reg::VCC, len: 2 }));
    let sources = row.ops.iter().zip(inst.operands()).filter(|(spec, _)| spec.role != Role::Def);
    for (_, &operand) in sources {
        // M0 reaches the lane selection of `v_writelane_b32` another way.
        if inst.op == op::V_WRITELANE_B32 && operand == Operand::reg(Reg::M0) {
            continue;
        }
        if matches!(operand, Operand::Literal(_) | Operand::Reloc(_)) && !room_for_literal {
            return false;
        }
        let Some(value) = bus_value(operand, func) else { continue };
        if bus.is_some_and(|other| other != value) {
            return false;
        }
        bus = Some(value);
    }
    true
}

fn bus_value(operand: Operand, func: Option<&MachFunc>) -> Option<BusValue> {
    match operand {
        Operand::Reg(range) if range.first.0 <= Reg::EXEC.0 + 1 => Some(BusValue::Hw(range)),
        Operand::Virt(tuple) => {
            let func = func?;
            let &reg = func.regs(tuple).first()?;
            (func.vregs[reg] == RegClass::Sgpr).then_some(BusValue::Virt(reg))
        }
        Operand::Literal(value) => Some(BusValue::Literal(value)),
        Operand::Reloc(index) => Some(BusValue::Literal(index)),
        _ => None,
    }
}
