//! Folds instructions that prepare an operand into the users of the operand, if the users can do the
//! preparation themselves.
//!
//! A byte or half of a register becomes an operand of an SDWA instruction or of a special conversion
//! (`parts.rs`); the value of another lane becomes an operand of a DPP instruction (`lanes.rs`). A
//! preparation with several users is folded only if all users can include it. Otherwise the preparation would
//! remain, and the users would only become longer. This module does not know which instructions are possible:
//! it builds the combined instruction, and `isa` checks whether the processor can encode it.
//!
//! # Requires
//! SSA form; legal instructions.
//! # Guarantees
//! SSA form; legal instructions; no block has more instructions than before.

mod lanes;
mod parts;

use crate::lower::{Context, Options};
use cranelift_entity::SecondaryMap;
use isa::table::{Kind, OpSpec, Role};
use isa::{Lane, MBlock, MachInst, Operand, Subtarget, VReg, constant_bus_ok};
use lanes::Moved;
use mir::{MachBlock, MachFunc, legal};
use parts::Part;
use smallvec::SmallVec;

/// A preparation that a user may include.
#[derive(Clone, Copy, Debug)]
enum Preparation {
    Part(Part),
    Moved(Moved),
}

impl Preparation {
    /// Returns what `inst` does, if it only prepares an operand for other instructions: it extracts a part of
    /// a register, or it moves a value between lanes. Returns `None` for all other instructions.
    fn from_inst(func: &MachFunc, inst: &MachInst) -> Option<Preparation> {
        match Moved::made_by(inst) {
            Some(moved) => Some(Preparation::Moved(moved)),
            None => Part::made_by(func, inst).map(Preparation::Part),
        }
    }
}

/// An instruction that prepares an operand, such as the extraction of a byte. The pass removes it if all
/// users of its result can do the preparation themselves.
#[derive(Clone, Copy, Debug)]
struct Prepared {
    does: Preparation,
    block: MBlock,
    /// Whether no user has refused so far.
    goes: bool,
}

/// The operands of an instruction that preparations compute. Each entry has the operand number and the index
/// of the preparation in [`Combiner::prepared`].
type Uses = SmallVec<[(usize, u32); 2]>;

/// Reusable memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Combiner {
    prepared: Vec<Prepared>,
    /// For each register that a preparation (instruction that prepares an operand) defines, the index of the
    /// preparation plus one. For all other registers, 0.
    of: SecondaryMap<VReg, u32>,
}

/// Folds instructions that prepare an operand into its users, in all blocks of a function, from optimisation
/// level 2 on.
pub fn combine(func: &mut MachFunc, target: &Subtarget, opts: &Options, ctx: &mut Context) {
    let combiner = &mut ctx.combiner;
    if opts.opt_level < 2 || !combiner.find(func) {
        return;
    }
    combiner.ask_users(func, target);
    if combiner.prepared.iter().any(|prepared| prepared.goes) {
        combiner.rewrite(func, target);
    }
}

impl Combiner {
    /// Fills the list of preparations, which are instructions that prepare an operand and might be folded
    /// into its users. Returns whether the function has any.
    fn find(&mut self, func: &MachFunc) -> bool {
        self.prepared.clear();
        self.of.clear();
        for (block, data) in func.blocks.iter() {
            for (n, inst) in data.insts.iter().enumerate() {
                let Some(does) = Preparation::from_inst(func, inst) else { continue };
                let Some(reg) = single(func, inst.ops[0]) else { continue };
                if matches!(does, Preparation::Moved(_)) && !is_body(data, n) {
                    continue;
                }
                self.prepared.push(Prepared { does, block, goes: true });
                self.of[reg] = self.prepared.len() as u32;
            }
        }
        !self.prepared.is_empty()
    }

    /// Marks the preparations that some user refuses to include.
    fn ask_users(&mut self, func: &MachFunc, target: &Subtarget) {
        for (block, data) in func.blocks.iter() {
            for (n, inst) in data.insts.iter().enumerate() {
                let uses = self.uses(func, inst);
                if !uses.is_empty() && !self.accepts(func, target, (block, n, inst), &uses) {
                    uses.iter().for_each(|&(_, number)| self.prepared[number as usize].goes = false);
                }
            }
        }
        for &arg in &func.args {
            if let Some(number) = self.number(arg) {
                self.prepared[number as usize].goes = false;
            }
        }
    }

    /// Returns whether an instruction can do all preparations of its operands itself. `uses` has these
    /// operands. If the instruction is itself a preparation, the result is false: of a chain of two
    /// preparations, only the second is folded into its users.
    fn accepts(
        &self,
        func: &MachFunc,
        target: &Subtarget,
        (block, n, inst): (MBlock, usize, &MachInst),
        uses: &Uses,
    ) -> bool {
        let near = |&(_, number): &(usize, u32)| {
            let Prepared { does, block: from, .. } = self.prepared[number as usize];
            match does {
                // Folding into a deeper loop would save nothing.
                Preparation::Part(_) => func.blocks[from].depth >= func.blocks[block].depth,
                // The same lanes must be active.
                Preparation::Moved(_) => from == block && is_body(&func.blocks[block], n),
            }
        };
        uses.iter().all(near)
            && Preparation::from_inst(func, inst).is_none()
            && self.combined(func, target, inst, uses).is_some()
    }

    /// Builds the instruction that does the same as `inst` together with the preparations of its operands. In
    /// an SDWA instruction, any number of operands can be parts of registers. In a DPP instruction, one
    /// operand can come from another lane. Returns `None` if neither fits.
    fn combined(
        &self,
        func: &MachFunc,
        target: &Subtarget,
        inst: &MachInst,
        uses: &Uses,
    ) -> Option<MachInst> {
        if uses.iter().any(|&(operand, _)| single(func, inst.ops[operand]).is_none()) {
            return None;
        }
        let does = |number: u32| self.prepared[number as usize].does;
        let combined = if let [(operand, number)] = **uses
            && let Preparation::Moved(moved) = does(number)
        {
            lanes::take_in(inst, operand, moved)
        } else {
            let part = |&(operand, number): &(usize, u32)| match does(number) {
                Preparation::Part(part) => Some((operand, part)),
                Preparation::Moved(_) => None,
            };
            let parts: Option<SmallVec<[_; 2]>> = uses.iter().map(part).collect();
            parts::take_in(inst, &parts?)
        };
        combined.filter(|inst| {
            legal::unencodable(target, inst, func).is_none() && constant_bus_ok(target, inst, Some(func))
        })
    }

    fn number(&self, reg: VReg) -> Option<u32> {
        self.of[reg].checked_sub(1)
    }

    /// Returns the operands of an instruction that are results of a preparation which may still be removed. A
    /// preparation stays if one of its users cannot include it.
    fn uses(&self, func: &MachFunc, inst: &MachInst) -> Uses {
        let mut uses = Uses::new();
        for (n, &operand) in inst.operands().iter().enumerate() {
            let Operand::Virt(tuple) = operand else { continue };
            let numbers = func.regs(tuple).iter().filter_map(|&reg| self.number(reg));
            let going = numbers.filter(|&number| self.prepared[number as usize].goes);
            if inst.role(n) != Role::Def {
                uses.extend(going.map(|number| (n, number)));
            }
        }
        uses
    }

    /// Replaces the users of each removable preparation by instructions that do the preparation themselves,
    /// and removes the preparation.
    fn rewrite(&self, func: &mut MachFunc, target: &Subtarget) {
        let mut insts = Vec::new();
        for block in func.blocks.keys() {
            std::mem::swap(&mut insts, &mut func.blocks[block].insts);
            let data = &func.blocks[block];
            let (mut prologue, mut term) = (data.prologue, data.term);
            let mut kept = 0;
            for n in 0..insts.len() {
                let inst = insts[n];
                let defined = single(func, inst.ops[0]).filter(|_| inst.role(0) == Role::Def);
                let number = defined.and_then(|reg| self.number(reg));
                if number.is_some_and(|number| self.prepared[number as usize].goes) {
                    prologue -= u32::from(n < func.blocks[block].prologue as usize);
                    term -= u32::from(n < func.blocks[block].term as usize);
                    continue;
                }
                let uses = self.uses(func, &inst);
                let combined = (!uses.is_empty()).then(|| self.combined(func, target, &inst, &uses));
                insts[kept] = combined.flatten().unwrap_or(inst);
                kept += 1;
            }
            insts.truncate(kept);
            let data = &mut func.blocks[block];
            std::mem::swap(&mut insts, &mut data.insts);
            (data.prologue, data.term) = (prologue, term);
        }
    }
}

/// Returns whether instruction number `n` is in the body of its block, that is, between the code that sets
/// `exec` on entry and the terminators. In the body the set of active lanes does not change.
fn is_body(block: &MachBlock, n: usize) -> bool {
    (block.prologue as usize..block.term as usize).contains(&n)
}

/// Returns whether an instruction may become a DPP or SDWA instruction. It must not be one already, and it
/// must not read a lane mask, because the mask would have to be moved to VCC.
fn is_plain(inst: &MachInst) -> bool {
    let reads_mask = |spec: &OpSpec| spec.kind == Kind::Mask && spec.role == Role::Use;
    inst.mods.lane == Lane::None && !inst.op.row().ops.iter().any(reads_mask)
}

/// Returns the register of a one-dword operand.
pub(crate) fn single(func: &MachFunc, operand: Operand) -> Option<VReg> {
    match operand {
        Operand::Virt(tuple) if tuple.len == 1 => func.regs(tuple).first().copied(),
        _ => None,
    }
}
