//! What the hardware lets stand together in one instruction.

use crate::func::MachFunc;
use crate::inst::MachInst;
use crate::layout::Encoding;
use crate::operand::{Operand, RegRange};
use crate::reg::{Reg, RegClass};
use crate::table::{Flags, Implicit, Kind, Role, Row, op};
use crate::target::{Generation, Target};

/// A value that a vector instruction takes over the constant bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BusValue {
    Hw(RegRange),
    Virt(crate::reg::VReg),
    Literal(u32),
}

/// Values that a vector instruction may take over the constant bus: one; on GFX10 two, but for 64-bit shifts.
pub fn constant_bus_limit(target: &Target, row: &Row) -> usize {
    if target.generation == Generation::Gfx10 && !row.flags.contains(Flags::BUS1) { 2 } else { 1 }
}

/// Whether a vector instruction stays within the constant bus: it may read one SGPR (pair) or literal, on GFX10 two
/// ([`constant_bus_limit`]), any number of times. A literal needs a 32-bit encoding or, on GFX10, VOP3, and there is at
/// most one. Other instructions are always fine.
///
/// `func` tells the class of virtual registers; without it they count as VGPRs. Inline constants, and the status
/// bits and apertures that are read like constants, do not use the bus.
pub fn constant_bus_ok(target: &Target, inst: &MachInst, func: Option<&MachFunc>) -> bool {
    let row = inst.op.row();
    if !row.is_valu() {
        return true;
    }
    let Some(encoding) = Encoding::of(target, row, inst.form, inst.mods.lane) else { return false };
    let room_for_literal = encoding.has_literals(target.generation);
    let mut bus = [None; 2];
    let mut used = 0;
    let mut fits = |value: BusValue| {
        if !bus[..used].contains(&Some(value)) {
            if used == constant_bus_limit(target, row) {
                return false;
            }
            bus[used] = Some(value);
            used += 1;
        }
        true
    };
    // Whatever the wave size, LLVM counts an implied VCC as a pair.
    for (flag, first, len) in [(Implicit::READ_VCC, Reg::VCC, 2), (Implicit::READ_M0, Reg::M0, 1)] {
        if row.implicit.contains(flag) {
            fits(BusValue::Hw(RegRange { first, len }));
        }
    }
    let implied_mask = encoding != Encoding::Vop3;
    if implied_mask && row.ops.iter().any(|spec| spec.kind == Kind::Mask && spec.role == Role::Use) {
        fits(BusValue::Hw(RegRange { first: Reg::VCC, len: 2 }));
    }
    let mut literal = None;
    let sources = row.ops.iter().zip(inst.operands()).enumerate();
    for (index, (spec, &operand)) in sources.filter(|(_, (spec, _))| spec.role != Role::Def) {
        if implied_mask && spec.kind == Kind::Mask {
            continue;
        }
        // M0 reaches the lane selection of `v_writelane_b32` another way.
        let lane_write = matches!(inst.op, op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2);
        if lane_write && index == 2 && operand == Operand::reg(Reg::M0) {
            continue;
        }
        if matches!(operand, Operand::Literal(_) | Operand::Reloc(_)) {
            if !room_for_literal || literal.is_some_and(|other| other != operand) {
                return false;
            }
            literal = Some(operand);
        }
        if let Some(value) = bus_value(target, operand, func)
            && !fits(value)
        {
            return false;
        }
    }
    true
}

fn bus_value(target: &Target, operand: Operand, func: Option<&MachFunc>) -> Option<BusValue> {
    match operand {
        // `null` of GFX10.
        Operand::Reg(range) if range.first == Reg(125) && target.generation == Generation::Gfx10 => None,
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
