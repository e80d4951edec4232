//! Second half of spilling: rebuilds each block. Adds stores after definitions of spilled registers and
//! reloads before their uses, and changes the arguments of edges.

use super::access::Home;
use super::{Base, Place, Reload, Scene, Spiller};
use crate::moves::{From as Source, Move, Step};
use crate::rematerialise::places_for_addresses;
use crate::rewrite::dropped;
use crate::stream::{SGPR, VGPR, class_index, edges, end_places, head_places, params};
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{MBlock, MachInst, Operand, VReg, op};
use mir::{ArgRange, Edge, MachFunc};
use smallvec::SmallVec;

impl Spiller {
    /// Emits the reloads that belong to a place.
    fn reload(&mut self, func: &mut MachFunc, block: MBlock, at: Place, class: usize) {
        while let Some(&Reload { block: in_block, at: place, reg }) = self.reloads.get(self.next_reload) {
            if (in_block, place) > (block.as_u32(), at) {
                break;
            }
            self.next_reload += 1;
            let vreg = VReg::from_u32(reg);
            if self.home(vreg).is_some() {
                self.wanted.push((vreg, vreg));
            }
        }
        self.load_wanted(func, class);
    }

    /// Inserts stores and reloads in all blocks.
    pub(super) fn rewrite(&mut self, func: &mut MachFunc, scene: Scene) {
        let class = scene.class;
        self.head_edge.clear();
        self.head_edge.resize(func.blocks.len(), None);
        self.dropped.clear();
        self.dropped.resize(scene.streams.phys_base as usize, false);
        for (from, block) in func.blocks.iter() {
            let edges = edges(block, class);
            if edges.iter().flatten().count() > 1 {
                for (i, edge) in edges.iter().enumerate() {
                    if let Some(edge) = edge.filter(|edge| edge.args.len > 0) {
                        self.head_edge[edge.to.index()] = Some((from, i));
                    }
                }
            }
        }
        for block in (0..func.blocks.len()).map(MBlock::new) {
            self.block(func, block, scene);
        }
        for (block, data) in func.blocks.iter_mut() {
            let params = if class == SGPR { &mut data.sgpr_params } else { &mut data.vgpr_params };
            params.retain(|&param| {
                !scene.is_dead(param) && !self.in_memory(scene, param, block) && !self.dropped[param.index()]
            });
        }
    }

    fn block(&mut self, func: &mut MachFunc, block: MBlock, scene: Scene) {
        let class = scene.class;
        let data = &func.blocks[block];
        let (mut head, end) = (head_places(data)[class], end_places(data)[class]);
        if block.index() == 0 && class == VGPR {
            head = head.max(self.behind_bases(func));
        }
        let old = std::mem::take(&mut func.blocks[block].insts);
        let (old_prologue, old_term) =
            (func.blocks[block].prologue as usize, func.blocks[block].term as usize);
        let has_addresses = class == SGPR && !self.recipes.addresses.is_empty();
        if has_addresses {
            places_for_addresses(&old, &mut self.address_places);
        }
        self.body.clear();
        for index in 0..=old.len() {
            if has_addresses && self.address_places[index] {
                self.address_place = self.body.len();
            }
            if index == old_prologue {
                self.bounds[0] = self.body.len() as u32;
            }
            if index == head {
                self.head(func, block, scene);
            }
            if index == end {
                // The reloads come before the stores of the edge's block parameters. A parameter may share
                // the slot of a register whose last use is here, and the parameter's store would overwrite
                // the register's value.
                self.reload(func, block, Place::End, class);
                self.end(func, block, scene);
            }
            if index == old_term {
                self.bounds[1] = self.body.len() as u32;
            }
            if index >= head {
                self.reload(func, block, Place::Before(index as u32), class);
            }
            if let Some(&inst) = old.get(index) {
                self.inst(func, inst, scene);
            }
        }
        let data = &mut func.blocks[block];
        data.insts = old;
        data.insts.clear();
        data.insts.extend_from_slice(&self.body);
        [data.prologue, data.term] = self.bounds;
    }

    /// Returns the position in the entry block after the instructions that compute bases of pages (offsets in
    /// scratch memory). Spilled inputs are stored there, because the stores need the bases.
    fn behind_bases(&self, func: &MachFunc) -> usize {
        let Some(scratch) = &self.state.scratch else { return 0 };
        let base = |vreg: &VReg| scratch.bases.contains(&Some(Base::Own(*vreg)));
        let insts = &func.blocks[MBlock::new(0)].insts;
        let defines = |inst: &MachInst| {
            inst.op == op::S_ADD_U32
                && matches!(inst.ops[0], Operand::Virt(dst) if func.regs(dst).iter().any(base))
        };
        // The instructions that compute bases are among the instructions that the spiller inserted at the
        // beginning of the block. All instructions there have a note with the reason why they were inserted.
        let ours = insts.iter().take_while(|inst| inst.note.index().is_some()).count();
        insts[..ours].iter().rposition(defines).map_or(0, |at| at + 1)
    }

    fn head(&mut self, func: &mut MachFunc, block: MBlock, scene: Scene) {
        let class = scene.class;
        if block.index() == 0 {
            for i in 0..func.inputs.len() {
                let (vreg, _) = func.inputs[i];
                if class_index(func.vregs[vreg]) == class
                    && let Some(store) = self.store(func, class, vreg, vreg)
                {
                    self.body.push(store);
                    self.state.fixed[vreg.index()] = true;
                }
            }
        }
        if let Some((from, i)) = self.head_edge[block.index()] {
            self.edge(func, from, i, scene, true);
        }
        // With regalloc2's choice, a spilled block parameter may arrive in a register although its value is
        // needed in its slot later. It is stored to the slot here.
        if scene.budget.is_some() {
            for i in 0..params(&func.blocks[block], class).len() {
                let param = params(&func.blocks[block], class)[i];
                if !self.in_memory(scene, param, block)
                    && let Some(store) = self.store(func, class, param, param)
                {
                    self.body.push(store);
                }
            }
        }
        self.reload(func, block, Place::Head, class);
    }

    fn end(&mut self, func: &mut MachFunc, block: MBlock, scene: Scene) {
        let edges = edges(&func.blocks[block], scene.class);
        if edges.iter().flatten().count() == 1
            && let Some(i) = edges.iter().position(Option::is_some)
        {
            self.edge(func, block, i, scene, false);
        }
    }

    /// Rewrites the arguments of an edge whose argument or block parameter is in memory.
    ///
    /// An edge is a parallel copy, which reads only old values, so reloads into registers come before stores.
    /// With `at_head`, this code is at the beginning of the target block, after the copies that the allocator
    /// makes there. A parameter whose argument is in memory then becomes an ordinary register, which is
    /// loaded there.
    fn edge(&mut self, func: &mut MachFunc, from: MBlock, i: usize, scene: Scene, at_head: bool) {
        let class = scene.class;
        let Some(Edge { to, args }) = edges(&func.blocks[from], class)[i] else { return };
        let kept = func.args.len() as u32;
        for n in 0..args.len {
            let param = params(&func.blocks[to], class)[n as usize];
            let arg = func.args[(args.start + n) as usize];
            if scene.is_dead(param) {
                continue;
            }
            let target = self.home(param).filter(|_| self.in_memory(scene, param, to));
            let source = self.home(arg).filter(|_| !at_end(scene, arg, from));
            match (target, source) {
                (Some(Home::Slot(to)), source) => {
                    let from = match source {
                        None => Source::Reg(arg),
                        Some(Home::Slot(slot)) => Source::Slot(slot),
                        Some(Home::Made) => Source::Made(arg),
                    };
                    if self.home(arg) != target {
                        self.moves.push(Move { to, from });
                    }
                }
                (_, None) => func.args.push(arg),
                (_, Some(_)) => {
                    let temp = if at_head { param } else { self.new_vreg(func, class) };
                    self.wanted.push((arg, temp));
                    if at_head { self.dropped[param.index()] = true } else { func.args.push(temp) }
                }
            }
        }
        self.load_wanted(func, class);
        self.move_slots(func, class);
        let kept = ArgRange { start: kept, len: func.args.len() as u32 - kept };
        let block = &mut func.blocks[from];
        let edges = if class == SGPR { &mut block.linear } else { &mut block.logical };
        edges[i] = Some(Edge { to, args: kept });
    }

    fn move_slots(&mut self, func: &mut MachFunc, class: usize) {
        if self.moves.is_empty() {
            return;
        }
        let (mut moves, mut order) = (std::mem::take(&mut self.moves), std::mem::take(&mut self.order));
        order.find(&moves, self.state.slots[class]);
        for &step in &order.steps {
            let (Step::Do(n) | Step::Save(n)) = step;
            let value = match moves[n].from {
                Source::Reg(value) => value,
                Source::Slot(slot) => {
                    let temp = self.new_vreg(func, class);
                    let load = self.access(func, class, slot, temp, true);
                    self.body.push(load);
                    temp
                }
                Source::Made(of) => {
                    let temp = self.new_vreg(func, class);
                    self.wanted.push((of, temp));
                    self.load_wanted(func, class);
                    temp
                }
            };
            match step {
                Step::Save(_) => moves[n].from = Source::Reg(value),
                Step::Do(_) => {
                    let store = self.access(func, class, moves[n].to, value, false);
                    self.body.push(store);
                }
            }
        }
        moves.clear();
        (self.moves, self.order) = (moves, order);
    }

    /// Emits an instruction, with the reloads before it and the stores after it that its spilled operands
    /// need.
    fn inst(&mut self, func: &mut MachFunc, mut inst: MachInst, scene: Scene) {
        let class = scene.class;
        let spilled = |operand: &Operand| match *operand {
            Operand::Virt(tuple) => func.regs(tuple).iter().any(|&reg| self.home(reg).is_some()),
            _ => false,
        };
        if !inst.operands().iter().any(spilled) {
            self.body.push(inst);
            return;
        }
        if scene.budget.is_some() {
            self.body.push(inst);
            self.store_results(func, &inst, class);
            return;
        }
        if self.only_makes(func, &inst) {
            if inst.op != op::COPY {
                self.body.push(dropped());
            }
            return;
        }
        if inst.op == op::UNDEF {
            self.undefined(func, inst);
            return;
        }
        self.temps.clear();
        for i in 0..usize::from(inst.len) {
            let Operand::Virt(tuple) = inst.ops[i] else { continue };
            if !func.regs(tuple).iter().any(|&reg| self.home(reg).is_some()) {
                continue;
            }
            let role = inst.role(i);
            let mut regs = SmallVec::<[VReg; 16]>::from_slice(func.regs(tuple));
            for reg in &mut regs {
                if self.home(*reg).is_some() {
                    *reg = self.temp(func, class, *reg, role);
                }
            }
            inst.ops[i] = func.tuple(&regs);
        }
        self.load_wanted(func, class);
        self.body.push(inst);
        self.body.append(&mut self.after);
    }

    /// Returns whether an instruction can be removed, because all registers that it writes are spilled and
    /// are rematerialised where they are needed.
    fn only_makes(&self, func: &MachFunc, inst: &MachInst) -> bool {
        let mut results = inst.operands().iter().enumerate().filter(|(i, _)| inst.role(*i) != Role::Use);
        let made = |operand: &Operand| match *operand {
            Operand::Virt(tuple) => func.regs(tuple).iter().all(|&reg| self.home(reg) == Some(Home::Made)),
            _ => false,
        };
        results.clone().next().is_some() && results.all(|(_, operand)| made(operand))
    }

    /// Handles `UNDEF`: an undefined value needs no store.
    fn undefined(&mut self, func: &mut MachFunc, mut inst: MachInst) {
        let Operand::Virt(tuple) = inst.ops[0] else { return };
        let regs = func.regs(tuple).iter().copied();
        let kept: SmallVec<[VReg; 16]> = regs.filter(|&reg| self.home(reg).is_none()).collect();
        if !kept.is_empty() {
            inst.ops[0] = func.tuple(&kept);
            self.body.push(inst);
        }
    }

    /// Adds stores of an instruction's results that are spilled but stay in their registers, too.
    fn store_results(&mut self, func: &mut MachFunc, inst: &MachInst, class: usize) {
        for i in 0..usize::from(inst.len) {
            let Operand::Virt(tuple) = inst.ops[i] else { continue };
            if inst.role(i) == Role::Use || inst.op == op::UNDEF {
                continue;
            }
            for at in tuple.start..tuple.start + u32::from(tuple.len) {
                let vreg = func.tuples[at as usize];
                if let Some(store) = self.store(func, class, vreg, vreg) {
                    self.body.push(store);
                }
            }
        }
    }

    /// Returns whether a parameter arrives in its slot.
    fn in_memory(&self, scene: Scene, param: VReg, block: MBlock) -> bool {
        let start = scene.streams.block_pos[block.index()].0;
        self.home(param).is_some() && scene.budget.is_none_or(|budget| !budget.resides(param.as_u32(), start))
    }

    /// Returns the new register that takes the place of a spilled register in the current instruction.
    fn temp(&mut self, func: &mut MachFunc, class: usize, reg: VReg, role: Role) -> VReg {
        let known = self.temps.iter().find(|(spilled, _)| *spilled == reg && role != Role::Def);
        if let (Some(&(_, temp)), Role::Use) = (known, role) {
            return temp;
        }
        let temp = self.new_vreg(func, class);
        if role != Role::Def {
            self.wanted.push((reg, temp));
            self.temps.push((reg, temp));
        }
        if role != Role::Use
            && let Some(store) = self.store(func, class, reg, temp)
        {
            self.after.push(store);
            if func.track.is_some() {
                self.state.temps.push((temp, reg));
            }
        }
        temp
    }
}

/// Returns whether a spilled register is in a hardware register at the end of a block.
fn at_end(scene: Scene, reg: VReg, block: MBlock) -> bool {
    let end = scene.streams.block_pos[block.index()].1;
    scene.budget.is_some_and(|budget| budget.resides(reg.as_u32(), end - 1))
}
