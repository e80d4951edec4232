//! Rules for the operands of one instruction and for their combination.

use crate::addressing::Offsets;
use crate::inst::{Form, MachInst};
use crate::layout::{Encoding, Layout};
use crate::operand::{Operand, RegRange};
use crate::reg::{Reg, RegClass};
use crate::slots::{Slot, Slots};
use crate::special::is_status;
use crate::subtarget::Subtarget;
use crate::table::{Caps, Family, Flags, Implicit, Kind, OpSpec, Role, Row, op};
use crate::target::Target;
use crate::view::FuncView;

/// Returns whether an operand can only be VCC. This is so for a lane mask for which the instruction's
/// encoding has no field, so that the mask is always VCC.
pub fn is_vcc(target: &Target, inst: &MachInst, index: usize) -> bool {
    let row = inst.op.row();
    if inst.form == Form::Full || row.ops.get(index).is_none_or(|spec| spec.kind != Kind::Mask) {
        return false;
    }
    Encoding::for_row(target, row, inst.form, inst.mods.lane)
        .is_some_and(|encoding| Slots::new(target, row, encoding).nth(row, index) == Some(Slot::Vcc))
}

/// Returns a description of an instruction's operands for error messages. Returns `None` if the instruction
/// has no operands.
pub fn usage(row: &Row) -> Option<String> {
    let operands: Vec<String> = row.ops.iter().map(describe).collect();
    (!operands.is_empty()).then(|| format!("the operands of `{}`: {}", row.name, operands.join("; ")))
}

fn describe(spec: &OpSpec) -> String {
    let dwords = match spec.width {
        0 | 1 => String::new(),
        width => format!(" ({width} dwords)"),
    };
    let what = match spec.kind {
        Kind::Sgpr => "an SGPR",
        Kind::Ssrc => "an SGPR or a constant",
        Kind::Vgpr => "a VGPR",
        Kind::Vsrc => "a VGPR, an SGPR or a constant",
        Kind::Mask => return "a lane mask".to_owned(),
        Kind::Imm | Kind::ExportTarget | Kind::Attribute | Kind::Parameter => return "a number".to_owned(),
        Kind::Label => return "a block".to_owned(),
        Kind::Lit => "a literal",
        Kind::SmemOffset => return "an offset".to_owned(),
        Kind::Vaddr => return "the VGPRs of an address or `off`".to_owned(),
        Kind::Saddr => return "the SGPRs of a base or `off`".to_owned(),
        Kind::Agpr | Kind::Avgpr | Kind::Acc => "an accumulation VGPR",
        Kind::Channel => "a VGPR or `off`",
        Kind::Texels | Kind::ImageAddress(_) => return "VGPRs".to_owned(),
    };
    format!("{what}{dwords}")
}

/// Returns the range of the offsets that an instruction can have in `Mods::offset`. Returns `None` if the
/// instruction has no such offset.
pub fn offsets(target: &Subtarget, row: &Row) -> Option<Offsets> {
    let addressing = &target.addressing;
    match row.family {
        Family::Ds if row.flags.contains(Flags::OFFSET2) => None,
        Family::Ds => Some(addressing.lds),
        Family::Mubuf => Some(addressing.buffer),
        Family::Flat => addressing.flat,
        Family::Global | Family::Scratch => addressing.global,
        _ => None,
    }
}

/// Returns whether the instruction in its current form has room for a literal.
pub fn takes_literal(target: &Target, inst: &MachInst) -> bool {
    Encoding::for_row(target, inst.op.row(), inst.form, inst.mods.lane)
        .is_some_and(|encoding| encoding.has_literals(Layout::for_target(target)))
}

/// A value that a vector instruction takes over the constant bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BusValue {
    Hw(RegRange),
    Virt(crate::reg::VReg),
    /// A literal, and whether its operand has 64 bits. The same number in a 32-bit and in a 64-bit operand
    /// counts as two values.
    Literal(u32, bool),
}

/// Returns how many different values a vector instruction may use over the constant bus. This is one. On
/// GFX10 it is two, except for 64-bit shifts.
pub fn constant_bus_limit(target: &Target, row: &Row) -> usize {
    if row.flags.contains(Flags::BUS1) { 1 } else { Layout::for_target(target).constant_bus }
}

/// Returns whether a vector instruction respects the limit of the constant bus. Returns true for all other
/// instructions.
///
/// The values on the bus are SGPRs or SGPR pairs, literals, status bits and apertures. An instruction may use
/// one such value, or two on GFX10 ([`constant_bus_limit`]), in any number of operands. Inline constants do
/// not use the bus. A literal also needs an encoding with room for it (32-bit encodings; on GFX10 also VOP3),
/// and there may be only one.
///
/// `func` knows which virtual registers are SGPRs. Without `func`, virtual registers are treated as VGPRs.
pub fn constant_bus_ok(target: &Target, inst: &MachInst, func: Option<&dyn FuncView>) -> bool {
    let row = inst.op.row();
    if !row.is_valu() {
        return true;
    }
    // Fast path for most instructions. If all operands are VGPRs and inline constants, the instruction does
    // not use the constant bus.
    let by_wire = |operand: &Operand| match operand {
        Operand::Reg(range) => range.first.is_vgpr(),
        Operand::Inline(_) => true,
        _ => false,
    };
    if inst.operands().iter().all(by_wire) {
        return true;
    }
    let Some(encoding) = Encoding::for_row(target, row, inst.form, inst.mods.lane) else { return false };
    let room_for_literal = encoding.has_literals(Layout::for_target(target));
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
    // If the encoding implies VCC as an operand, VCC is a value on the constant bus. LLVM counts it as a
    // register pair for every wave size, even where a mask has only one dword.
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
        // `v_writelane_b32` does not use the constant bus for M0 if M0 is the operand that selects the lane.
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
        if let Some(value) = bus_value(target, operand, spec, func)
            && !fits(value)
        {
            return false;
        }
    }
    true
}

/// Returns whether the addend of a matrix instruction overlaps its result without being in exactly the same
/// registers. This is not allowed if the result has more than four registers.
pub fn sum_overlaps(row: &Row, inst: &MachInst) -> bool {
    match (inst.ops[0], inst.ops[3]) {
        (Operand::Reg(to), Operand::Reg(sum)) if row.caps.contains(Caps::MFMA) && to.len > 4 => {
            let end = |range: RegRange| range.first.0 + u16::from(range.len);
            to.first != sum.first && to.first.0 < end(sum) && sum.first.0 < end(to)
        }
        _ => false,
    }
}

/// Returns whether an operand of a vector instruction is a value that uses the constant bus. `func` has the
/// same meaning as for [`constant_bus_ok`].
pub fn uses_constant_bus(
    target: &Target,
    operand: Operand,
    spec: &OpSpec,
    func: Option<&dyn FuncView>,
) -> bool {
    bus_value(target, operand, spec, func).is_some()
}

fn bus_value(
    target: &Target,
    operand: Operand,
    spec: &OpSpec,
    func: Option<&dyn FuncView>,
) -> Option<BusValue> {
    match operand {
        Operand::Reg(range) if target.arch.registers.null == Some(range.first) => None,
        Operand::Reg(range) if range.first.0 <= Reg::EXEC.0 + 1 || is_status(range.first.0) => {
            Some(BusValue::Hw(range))
        }
        Operand::Virt(tuple) => {
            let func = func?;
            let &reg = func.regs(tuple).first()?;
            (func.class(reg) == RegClass::Sgpr).then_some(BusValue::Virt(reg))
        }
        Operand::Literal(value) => Some(BusValue::Literal(value, spec.num.is_wide())),
        Operand::Reloc(index) => Some(BusValue::Literal(index, spec.num.is_wide())),
        _ => None,
    }
}
