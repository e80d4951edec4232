//! Operands that must be VCC: 32-bit encodings imply it where the 64-bit ones name a lane mask.
//!
//! The operand becomes VCC and a copy connects it with the virtual pair; the copy disappears when the pair gets VCC.

use isa::table::{Kind, Role};
use isa::{Form, MachBlock, MachFunc, MachInst, Operand, Reg, Target, op};

/// Where a virtual lane mask stands in a 32-bit form.
fn implied(inst: &MachInst) -> impl Iterator<Item = (usize, Role)> + '_ {
    let specs = inst.op.row().ops.iter();
    let masks = specs.zip(inst.operands()).enumerate().filter(|(_, (spec, operand))| {
        inst.form == Form::E32 && spec.kind == Kind::Mask && matches!(operand, Operand::Virt(_))
    });
    masks.map(|(i, _)| (i, inst.role(i)))
}

/// Rewrites every such operand.
pub(crate) fn run(func: &mut MachFunc, target: &Target, body: &mut Vec<MachInst>) {
    let vcc = Operand::regs(Reg::VCC, target.mask_dwords());
    for block in func.blocks.values_mut() {
        if block.insts.iter().any(|inst| inst.form == Form::E32 && implied(inst).next().is_some()) {
            rewrite(block, vcc, body);
        }
    }
}

fn rewrite(block: &mut MachBlock, vcc: Operand, body: &mut Vec<MachInst>) {
    body.clear();
    let (mut prologue, mut term) = (block.prologue, block.term);
    for (index, inst) in block.insts.iter().enumerate() {
        let mut changed = *inst;
        let mut after = None;
        if index == block.prologue as usize {
            prologue = body.len() as u32;
        }
        for (operand, role) in implied(inst) {
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
