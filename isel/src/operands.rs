//! Makes operands legal while instructions are emitted, by copies that several users can share.
//!
//! `mir::legal` defines which operands are legal. This module chooses among the possible fixes so that code
//! stays small. `legalize` later fixes any remaining illegal operands.

use crate::lower::Lower;
use isa::legal::{constant_bus_limit, takes_literal};
use isa::table::{self, Family, Flags, Kind};
use isa::{Feature, Form, MachInst, Opcode, Operand, Target, op};
use smallvec::SmallVec;

/// Pairs of opcodes, such as a subtraction and a reversed subtraction. The second one computes the same as
/// the first one with swapped sources.
const REVERSED: &[(Opcode, Opcode)] = &[
    (op::V_SUB_F32, op::V_SUBREV_F32),
    (op::V_SUBREV_F32, op::V_SUB_F32),
    (op::V_SUB_F16, op::V_SUBREV_F16),
    (op::V_SUBREV_F16, op::V_SUB_F16),
    (op::V_SUB_U32, op::V_SUBREV_U32),
    (op::V_SUBREV_U32, op::V_SUB_U32),
    (op::V_SUB_NC_U32, op::V_SUBREV_NC_U32),
    (op::V_SUBREV_NC_U32, op::V_SUB_NC_U32),
];

impl Lower<'_> {
    /// Makes sure that the instruction has at most one literal.
    pub fn legalize_salu(&mut self, inst: &mut MachInst) {
        let mut literal = None;
        for n in 0..usize::from(inst.len) {
            if let Operand::Literal(bits) = inst.ops[n] {
                match literal {
                    Some(have) if have != bits => inst.ops[n] = self.sgpr_const(bits),
                    _ => literal = Some(bits),
                }
            }
        }
    }

    pub fn legalize_valu(&mut self, inst: &mut MachInst) {
        let row = inst.op.row();
        match inst.ops[1] {
            // Usually a literal that equals an inline constant becomes this inline constant. But
            // `v_cvt_f32_f16` is an exception on processors without other instructions for halves (GFX6,
            // GFX7): it is unknown which half an inline constant means there. The literal itself is not
            // possible either, because assemblers have no syntax for it. So the constant is copied to an
            // SGPR.
            Operand::Literal(bits)
                if inst.op == op::V_CVT_F32_F16
                    && !table::available(op::V_ADD_F16, self.target)
                    && half_constant(self.target, bits).is_some() =>
            {
                inst.ops[1] = self.sgpr_const(bits);
            }
            _ => inline_halves(self.target, inst),
        }
        // `bus` collects the operands that come over the constant bus. Lane masks and VCC are collected first
        // and so have priority: they cannot be moved to VGPRs, whereas the other operands can.
        let mut bus: SmallVec<[Operand; 2]> = SmallVec::new();
        let masks = row.ops.iter().zip(inst.operands()).filter(|(spec, _)| spec.kind == Kind::Mask);
        bus.extend(masks.filter(|(spec, _)| spec.role == table::Role::Use).map(|(_, &mask)| mask));
        if bus.is_empty() && row.implicit.contains(table::Implicit::READ_VCC) {
            bus.push(self.masks.vcc());
        }
        if bus.is_empty() && self.literal_form(inst) {
            return;
        }
        let limit = constant_bus_limit(self.target, row);
        let literals = takes_literal(self.target, inst);
        for (n, spec) in row.ops.iter().enumerate().filter(|(_, spec)| spec.role != table::Role::Def) {
            let operand = inst.ops[n];
            let room = bus.len() < limit;
            match (spec.kind, operand) {
                (Kind::Vgpr, _) => inst.ops[n] = self.in_vgpr(operand, spec.width),
                (Kind::Vsrc, Operand::Literal(bits)) => {
                    let other = bus.iter().any(|have| matches!(have, Operand::Literal(_)));
                    if bus.contains(&operand) {
                        continue;
                    }
                    inst.ops[n] = match room && spec.width == 1 {
                        true if literals && !other => operand,
                        true => self.sgpr_const(bits),
                        false => self.in_vgpr(operand, spec.width),
                    };
                    if room && spec.width == 1 {
                        bus.push(inst.ops[n]);
                    }
                }
                (Kind::Vsrc, _) if self.is_sgpr(operand) => {
                    if bus.iter().any(|&have| self.same(have, operand)) {
                        continue;
                    }
                    match room {
                        true => bus.push(operand),
                        false => inst.ops[n] = self.in_vgpr(operand, spec.width),
                    }
                }
                _ => {}
            }
        }
    }

    /// Changes an instruction with a literal to its 32-bit encoding, if it has one and needs no modifiers. On
    /// most processors only the 32-bit encoding can have a literal. Returns whether the change was possible.
    fn literal_form(&mut self, inst: &mut MachInst) -> bool {
        let row = inst.op.row();
        let flags = row.flags;
        let plain = inst.mods == isa::Mods::default();
        if !plain || flags.contains(Flags::NO_E32) || !matches!(row.family, Family::Vop1 | Family::Vop2) {
            return false;
        }
        let is_literal = |o: Operand| matches!(o, Operand::Literal(_) | Operand::Reloc(_));
        let count = inst.operands()[1..].iter().filter(|&&o| is_literal(o)).count();
        if count != 1 || row.ops.iter().any(|spec| spec.kind == Kind::Mask) || row.ops[1].width != 1 {
            return false;
        }
        if row.family == Family::Vop2 {
            if is_literal(inst.ops[2]) {
                let reversed = REVERSED.iter().find(|(from, _)| *from == inst.op).map(|&(_, to)| to);
                let commutes = flags.contains(Flags::COMMUTES).then_some(inst.op);
                let Some(swapped) = reversed.or(commutes) else { return false };
                inst.op = swapped;
                inst.ops.swap(1, 2);
            }
            if matches!(inst.ops[2], Operand::Inline(_)) && row.ops[2].num == table::Num::F16 {
                return false;
            }
            if !self.is_vgpr(inst.ops[2]) {
                inst.ops[2] = self.in_vgpr(inst.ops[2], 1);
            }
        }
        inst.form = Form::E32;
        true
    }

    fn same(&self, a: Operand, b: Operand) -> bool {
        a == b
            || match (a, b) {
                (Operand::Virt(a), Operand::Virt(b)) => self.out.regs(a) == self.out.regs(b),
                _ => false,
            }
    }
}

/// Replaces literals that an instruction reads as halves (`f16`) by inline constants with the same value,
/// where there are any. Assemblers do the same when they read the text of the instruction, so the listing and
/// the object agree.
fn inline_halves(target: &Target, inst: &mut MachInst) {
    let row = inst.op.row();
    if row.family == Family::Vop3p {
        return;
    }
    for (spec, operand) in row.ops.iter().zip(&mut inst.ops) {
        if let (table::Num::F16, Kind::Vsrc, Operand::Literal(bits)) = (spec.num, spec.kind, *operand)
            && let Some(code) = half_constant(target, bits)
        {
            *operand = Operand::Inline(code);
        }
    }
}

/// Returns the code of the inline constant that has these bits as a half, if the processor has one.
fn half_constant(target: &Target, bits: u32) -> Option<u16> {
    let code = isa::inline_half(u16::try_from(bits).ok()?)?;
    (code != INV_2PI || target.has(Feature::INV_2PI)).then_some(code)
}

/// 1/(2*pi) as an inline constant.
const INV_2PI: u16 = 248;
