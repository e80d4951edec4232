//! Folds extractions of bytes and halves of registers into the instructions that use the parts.
//!
//! # Source
//! GCN3 and Vega ISA, "Sub-Dword Addressing (SDWA)"; `V_CVT_F32_UBYTE0` to 3, which all processors have.

use super::is_plain;
use isa::table::{Family, Role};
use isa::{Form, Lane, MachInst, Mods, Opcode, Operand, RegClass, SdwaSel, op};
use mir::MachFunc;

/// A byte or half of a VGPR, extended to a dword.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    source: Operand,
    sel: SdwaSel,
    signed: bool,
}

/// Conversions of an unsigned byte to float. They select the byte themselves, so that it need not be
/// extracted first.
const OF_BYTE: [(SdwaSel, Opcode); 4] = [
    (SdwaSel::Byte0, op::V_CVT_F32_UBYTE0),
    (SdwaSel::Byte1, op::V_CVT_F32_UBYTE1),
    (SdwaSel::Byte2, op::V_CVT_F32_UBYTE2),
    (SdwaSel::Byte3, op::V_CVT_F32_UBYTE3),
];

impl Part {
    /// Returns the part of a register (a byte or a half) that `inst` extracts. Returns `None` if `inst` does
    /// anything else.
    pub fn made_by(func: &MachFunc, inst: &MachInst) -> Option<Part> {
        let [_, a, b, c, ..] = inst.ops;
        let (source, offset, width, signed) = match inst.op {
            op::V_AND_B32 => match (a.const_u32(), b.const_u32()) {
                (Some(mask), _) => (b, 0, bits_of(mask)?, false),
                (_, Some(mask)) => (a, 0, bits_of(mask)?, false),
                _ => return None,
            },
            op::V_LSHRREV_B32 | op::V_ASHRREV_I32 => {
                let count = a.const_u32()?;
                (b, count, 32_u32.checked_sub(count)?, inst.op == op::V_ASHRREV_I32)
            }
            op::V_BFE_U32 | op::V_BFE_I32 => (a, b.const_u32()?, c.const_u32()?, inst.op == op::V_BFE_I32),
            _ => return None,
        };
        let sel = SdwaSel::of_field(offset, width).filter(|_| inst.mods == Mods::default())?;
        let Operand::Virt(tuple) = source else { return None };
        let is_vgpr = func.regs(tuple).first().is_some_and(|&reg| func.vregs[reg] == RegClass::Vgpr);
        is_vgpr.then_some(Part { source, sel, signed })
    }
}

/// Returns the number of bits that a mask keeps, if the mask keeps exactly a byte or a half.
fn bits_of(mask: u32) -> Option<u32> {
    matches!(mask, 0xff | 0xffff).then(|| mask.trailing_ones())
}

/// Builds the SDWA instruction that does the same as `inst`, but reads the parts of registers directly. Each
/// entry of `parts` has the number of an operand and the part of the register that it reads. The caller
/// checks whether the processor can encode the instruction.
pub(super) fn take_in(inst: &MachInst, parts: &[(usize, Part)]) -> Option<MachInst> {
    let row = inst.op.row();
    let mut changed = *inst;
    if inst.op == op::V_CVT_F32_U32
        && let [(operand, part)] = *parts
        && let Some(&(_, of_byte)) = OF_BYTE.iter().find(|(sel, _)| *sel == part.sel && !part.signed)
    {
        changed.op = of_byte;
        changed.ops[operand] = part.source;
        return Some(changed);
    }
    // The manuals allow only registers as operands of SDWA instructions; assemblers also accept inline
    // constants from GFX9 on.
    let constant = inst.operands().iter().any(|operand| operand.is_const());
    if constant || !is_plain(inst) || !matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc) {
        return None;
    }
    let (mut sels, mut sext) = ([SdwaSel::Dword; 2], 0);
    for &(operand, part) in parts {
        let source = row.ops.get(..operand)?.iter().filter(|spec| spec.role == Role::Use).count();
        *sels.get_mut(source)? = part.sel;
        sext |= u8::from(part.signed) << source;
        changed.ops[operand] = part.source;
    }
    let [src0, src1] = sels;
    changed.form = Form::Sdwa;
    changed.mods.lane = Lane::Sdwa { dst: SdwaSel::Dword, unused: 0, src0, src1, sext };
    Some(changed)
}
