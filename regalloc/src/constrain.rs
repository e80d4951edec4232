//! Handles operands that must be VCC. Where the VOP3 encoding of an instruction names a lane mask, the 32-bit
//! encoding and some SDWA encodings have no field for it and use VCC.
//!
//! The operand becomes VCC, and a copy connects VCC with the virtual register pair. The copy disappears if
//! the pair is assigned to VCC.

use isa::legal::is_vcc;
use isa::table::Role;
use isa::{Form, MachInst, Operand, Reg, Target, op};
use mir::{MachBlock, MachFunc};

/// Returns the operands of an instruction that are virtual registers but must be VCC. Each has the operand's
/// number and its role, which says whether the operand is read or written.
fn implied<'a>(target: &'a Target, inst: &'a MachInst) -> impl Iterator<Item = (usize, Role)> + 'a {
    let virt = |i: &usize| matches!(inst.ops[*i], Operand::Virt(_));
    let masks = (0..usize::from(inst.len)).filter(virt).filter(|&i| is_vcc(target, inst, i));
    masks.map(|i| (i, inst.role(i)))
}

/// Rewrites every such operand of a function.
pub(crate) fn run(func: &mut MachFunc, target: &Target, body: &mut Vec<MachInst>) {
    for block in func.blocks.values_mut() {
        if block.insts.iter().any(|inst| inst.form != Form::Full && implied(target, inst).next().is_some()) {
            rewrite(block, target, body);
        }
    }
}

fn rewrite(block: &mut MachBlock, target: &Target, body: &mut Vec<MachInst>) {
    let vcc = Operand::regs(Reg::VCC, target.mask_dwords());
    body.clear();
    let (mut prologue, mut term) = (block.prologue, block.term);
    for (index, inst) in block.insts.iter().enumerate() {
        let mut changed = *inst;
        let mut after = None;
        if index == block.prologue as usize {
            prologue = body.len() as u32;
        }
        for (operand, role) in implied(target, inst) {
            let virt = inst.ops[operand];
            changed.ops[operand] = vcc;
            if role == Role::Def {
                after = Some(MachInst { loc: inst.loc, ..MachInst::new(op::COPY, &[virt, vcc]) });
            } else {
                body.push(MachInst { loc: inst.loc, ..MachInst::new(op::COPY, &[vcc, virt]) });
            }
        }
        if index == block.term as usize {
            term = body.len() as u32;
        }
        body.push(changed);
        body.extend(after);
    }
    if block.term as usize == block.insts.len() {
        term = body.len() as u32;
    }
    block.insts.clear();
    block.insts.extend_from_slice(body);
    (block.prologue, block.term) = (prologue, term);
}
