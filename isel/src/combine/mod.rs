//! Takes what prepares an operand into the instructions that use it, where they can do it on the way.
//!
//! A byte or half of a register is an operand of SDWA, or of an instruction of its own (`parts.rs`); the value of another lane,
//! of DPP (`lanes.rs`). What is prepared for several users goes only if all of them take it over: else it would be there as
//! before, and the users be longer. Whether an instruction can is not known here: it is tried, and `isa` says whether the
//! processor encodes it.
//!
//! # Requires
//! SSA form; legal instructions.
//! # Guarantees
//! SSA form; legal instructions, none more than before, in any block.

mod lanes;
mod parts;

use crate::lower::{Context, Options};
use cranelift_entity::SecondaryMap;
use isa::table::{Kind, OpSpec, Role};
use isa::{Lane, MBlock, MachBlock, MachFunc, MachInst, Operand, Subtarget, VReg, constant_bus_ok, legal};
use lanes::Moved;
use parts::Part;
use smallvec::SmallVec;

/// What a user may do on the way.
#[derive(Clone, Copy, Debug)]
enum Does {
    Part(Part),
    Moved(Moved),
}

impl Does {
    /// What an instruction does, if that is all.
    fn of(func: &MachFunc, inst: &MachInst) -> Option<Does> {
        match Moved::made_by(inst) {
            Some(moved) => Some(Does::Moved(moved)),
            None => Part::made_by(func, inst).map(Does::Part),
        }
    }
}

/// A register that goes if all its users take over what its definition does.
#[derive(Clone, Copy, Debug)]
struct Prepared {
    does: Does,
    block: MBlock,
    /// No user refused so far.
    goes: bool,
}

/// What an instruction uses of that: operand, number in [`Combiner::prepared`].
type Uses = SmallVec<[(usize, u32); 2]>;

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Combiner {
    prepared: Vec<Prepared>,
    /// By register one more than the number of what defines it.
    of: SecondaryMap<VReg, u32>,
}

/// Combines instructions of a function, from level 2 on.
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
    /// Lists what may be taken over. Says whether there is anything.
    fn find(&mut self, func: &MachFunc) -> bool {
        self.prepared.clear();
        self.of.clear();
        for (block, data) in func.blocks.iter() {
            for (n, inst) in data.insts.iter().enumerate() {
                let Some(does) = Does::of(func, inst) else { continue };
                let Some(reg) = single(func, inst.ops[0]) else { continue };
                if matches!(does, Does::Moved(_)) && !is_body(data, n) {
                    continue;
                }
                self.prepared.push(Prepared { does, block, goes: true });
                self.of[reg] = self.prepared.len() as u32;
            }
        }
        !self.prepared.is_empty()
    }

    /// Finds out which users refuse.
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

    /// Whether an instruction takes over what it uses. What is prepared in two steps loses the last.
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
                // In a deeper loop nothing would be saved.
                Does::Part(_) => func.blocks[from].depth >= func.blocks[block].depth,
                // The same lanes are active.
                Does::Moved(_) => from == block && is_body(&func.blocks[block], n),
            }
        };
        uses.iter().all(near)
            && Does::of(func, inst).is_none()
            && self.combined(func, target, inst, uses).is_some()
    }

    /// The instruction that does what is prepared for it, too: parts of all operands, or one from another lane.
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
            && let Does::Moved(moved) = does(number)
        {
            lanes::take_in(inst, operand, moved)
        } else {
            let part = |&(operand, number): &(usize, u32)| match does(number) {
                Does::Part(part) => Some((operand, part)),
                Does::Moved(_) => None,
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

    /// What an instruction uses and still goes.
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

    /// Replaces the users, and leaves out what they took over.
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

/// Whether an instruction is in the part of its block in which the same lanes are active.
fn is_body(block: &MachBlock, n: usize) -> bool {
    (block.prologue as usize..block.term as usize).contains(&n)
}

/// Whether an instruction has no lane controls yet, and needs no mask, which would have to be brought to VCC.
fn is_plain(inst: &MachInst) -> bool {
    let reads_mask = |spec: &OpSpec| spec.kind == Kind::Mask && spec.role == Role::Use;
    inst.mods.lane == Lane::None && !inst.op.row().ops.iter().any(reads_mask)
}

/// The register of an operand of one dword.
pub(crate) fn single(func: &MachFunc, operand: Operand) -> Option<VReg> {
    match operand {
        Operand::Virt(tuple) if tuple.len == 1 => func.regs(tuple).first().copied(),
        _ => None,
    }
}
