//! Spilling: the code that keeps registers elsewhere.
//!
//! Runs before registers are assigned, on virtual registers: a spilled register's definitions store, its uses reload
//! into registers of their own, and the function is allocated anew. SGPRs go to lanes of VGPRs (`v_writelane_b32`
//! ignores `exec`, so those VGPRs belong to no one else), VGPRs to scratch memory. Block parameters and their
//! arguments share a slot where their ranges allow, so that most edges need no code.

use crate::budget::Budget;
use crate::flow::Flow;
use crate::groups::{Groups, intersects};
use crate::live::Interval;
use crate::moves::{self, From, Move, Step};
use crate::scan::Scan;
use crate::stream::{Op, SGPR, Streams, VGPR, class_index, edges, end_places, head_places, params, role};
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{
    Abi, AbiInput, Edge, MBlock, MachFunc, MachInst, Mods, Note, NoteId, Operand, Reg, RegClass, VReg, op,
};

const NONE: u32 = u32::MAX;

/// Largest offset of a buffer instruction.
const MAX_OFFSET: u32 = 4095;

/// Lanes of a VGPR.
const LANES: u32 = 64;

/// Offset of a scratch slot in an inserted load or store.
pub(crate) fn slot_offset(inst: &MachInst) -> Option<u32> {
    u32::try_from(inst.mods.offset).ok()
}

/// What has been spilled so far, over all rounds of one function.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// Registers that must not be spilled (again), by number.
    fixed: Vec<bool>,
    /// Slots in use, by class.
    slots: [u32; 2],
    /// VGPRs whose lanes hold SGPRs.
    lanes: Vec<VReg>,
    /// Descriptor and offset of scratch memory.
    scratch: Option<([VReg; 4], VReg)>,
    /// Bytes of scratch before the slots.
    private: u32,
    /// Added to slot offsets.
    offset: u32,
    notes: Option<[NoteId; 2]>,
}

/// Spills, and remembers what it has spilled.
#[derive(Default)]
pub(crate) struct Spiller {
    /// All that outlives a round.
    pub state: State,
    /// Slot of each register being spilled in this round.
    slot: Vec<u32>,
    scan: Scan,
    chosen: Vec<u32>,
    at_entry: Vec<MachInst>,
    body: Vec<MachInst>,
    after: Vec<MachInst>,
    temps: Vec<(VReg, VReg)>,
    head_edge: Vec<Option<(MBlock, usize)>>,
    /// Parameters that are loaded instead of passed.
    dropped: Vec<VReg>,
    /// Reloads where a stay in hardware begins, in the order of blocks and places.
    reloads: Vec<Reload>,
    next_reload: usize,
}

/// A reload at the beginning of a stay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reload {
    block: u32,
    at: Place,
    reg: u32,
}

/// Where in a block, in the order in which a block is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Head,
    Before(u32),
    End,
}

/// What a rewrite needs to know.
#[derive(Clone, Copy)]
struct Scene<'a> {
    class: usize,
    streams: &'a Streams,
    groups: &'a Groups,
    /// Where registers reside; nowhere but at their uses if nothing is said.
    budget: Option<&'a Budget>,
}

impl Scene<'_> {
    /// Whether nobody reads a parameter. It needs no argument then, and keeping one would keep it alive.
    fn is_dead(&self, param: VReg) -> bool {
        range_of(self.groups, param.as_u32()).is_empty()
    }
}

impl Spiller {
    /// Begins a function.
    pub fn clear(&mut self) {
        self.state = State::default();
    }

    /// Spills until no more than `room` registers of the class are live anywhere, not counting reloads: every use
    /// reloads. `false` if there is nothing left to spill.
    pub fn scan(
        &mut self,
        func: &mut MachFunc,
        streams: &Streams,
        groups: &Groups,
        class: usize,
        room: u32,
    ) -> bool {
        self.fix(func, streams, class);
        self.scan.run(streams, groups, class, &self.state.fixed, room, &mut self.chosen);
        self.mark_chosen(streams);
        self.apply(func, Scene { class, streams, groups, budget: None })
    }

    /// Marks what cannot be spilled; the answer is by register.
    pub fn fix(&mut self, func: &MachFunc, streams: &Streams, class: usize) -> &[bool] {
        self.state.fixed.resize(func.vregs.len(), false);
        // Scratch accesses would lose the lanes that `exec` masks.
        streams.class[class].whole.iter().for_each(|&reg| self.state.fixed[reg as usize] = true);
        &self.state.fixed
    }

    /// Spills what does not always reside in hardware.
    pub fn reside(
        &mut self,
        func: &mut MachFunc,
        streams: &Streams,
        groups: &Groups,
        flow: &Flow,
        class: usize,
        budget: &Budget,
    ) -> bool {
        self.chosen.clear();
        // A parameter that nobody reads has no range, so it must not have a slot.
        let chosen = |reg: &u32| budget.is_spilled(*reg) && !range_of(groups, *reg).is_empty();
        self.chosen.extend((0..streams.phys_base).filter(chosen));
        self.mark_chosen(streams);
        self.find_reloads(func, streams, flow, class, budget);
        self.apply(func, Scene { class, streams, groups, budget: Some(budget) })
    }

    fn mark_chosen(&mut self, streams: &Streams) {
        self.slot.clear();
        self.slot.resize(streams.phys_base as usize, NONE);
        self.chosen.iter().for_each(|&reg| self.slot[reg as usize] = 0);
    }

    fn apply(&mut self, func: &mut MachFunc, scene: Scene) -> bool {
        let class = scene.class;
        if self.chosen.is_empty() {
            return false;
        }
        self.assign_slots(scene.streams, scene.groups, class);
        self.prepare(func, class);
        if class == VGPR && self.state.offset + 4 * self.state.slots[VGPR] > MAX_OFFSET + 1 {
            return false;
        }
        self.rewrite(func, scene);
        // Before the stores of spilled inputs.
        let entry = &mut func.blocks[MBlock::new(0)];
        let count = self.at_entry.len() as u32;
        entry.insts.splice(0..0, self.at_entry.drain(..));
        entry.prologue += if entry.prologue > 0 { count } else { 0 };
        entry.term += count;
        self.reloads.clear();
        true
    }

    /// Where stays in hardware begin without a definition: in the midst of a block, or on an edge whose source does
    /// not have the register.
    fn find_reloads(
        &mut self,
        func: &MachFunc,
        streams: &Streams,
        flow: &Flow,
        class: usize,
        budget: &Budget,
    ) {
        let stream = &streams.class[class];
        self.reloads.clear();
        self.next_reload = 0;
        for &reg in &self.chosen {
            for point in budget.arrivals(reg) {
                let block = streams.block_pos.partition_point(|&(_, end)| end <= point);
                let Some(&(start, end)) = streams.block_pos.get(block) else { continue };
                let after = stream.events.partition_point(|event| event.pos <= point);
                let at = if point >= end - 2 {
                    Place::End
                } else if point == start || after == 0 {
                    continue;
                } else {
                    let event = &stream.events[after - 1];
                    let defined = |op: &Op| op.role == Role::Def && stream.regs_of(op).contains(&reg);
                    match point - event.pos {
                        0 => Place::Before(event.index),
                        _ if stream.ops_of(event).iter().any(defined) => continue,
                        _ => Place::Before(event.index + 1),
                    }
                };
                self.reloads.push(Reload { block: block as u32, at, reg });
            }
        }
        let mut preds = vec![Vec::new(); func.blocks.len()];
        for (from, block) in func.blocks.iter() {
            edges(block, class).iter().flatten().for_each(|edge| preds[edge.to.index()].push(from));
        }
        for (block, data) in func.blocks.iter() {
            let start = streams.block_pos[block.index()].0;
            for reg in flow.live_in(block.index()) {
                let param = params(data, class).contains(&VReg::from_u32(reg));
                if reg >= streams.phys_base || param || !budget.is_spilled(reg) || !budget.resides(reg, start)
                {
                    continue;
                }
                for &pred in &preds[block.index()] {
                    if budget.resides(reg, streams.block_pos[pred.index()].1 - 1) {
                        continue;
                    }
                    let only = edges(&func.blocks[pred], class).iter().flatten().count() == 1;
                    let (at, place) = if only { (pred, Place::End) } else { (block, Place::Head) };
                    self.reloads.push(Reload { block: at.as_u32(), at: place, reg });
                }
            }
        }
        self.reloads.sort_unstable();
        self.reloads.dedup();
    }

    /// Reloads that belong to a place.
    fn reload(&mut self, func: &mut MachFunc, block: MBlock, at: Place, class: usize) {
        while let Some(&Reload { block: in_block, at: place, reg }) = self.reloads.get(self.next_reload) {
            if (in_block, place) > (block.as_u32(), at) {
                break;
            }
            self.next_reload += 1;
            let vreg = VReg::from_u32(reg);
            if let Some(slot) = self.slot_of(vreg) {
                let load = self.access(func, class, slot, vreg, true);
                self.body.push(load);
            }
        }
    }

    /// Gives each chosen register a slot; registers that an edge connects share one if their ranges are disjoint.
    fn assign_slots(&mut self, streams: &Streams, groups: &Groups, class: usize) {
        let mut ranges: Vec<Vec<Interval>> = Vec::new();
        let mut web = vec![NONE; streams.phys_base as usize];
        for &reg in &self.chosen {
            web[reg as usize] = ranges.len() as u32;
            ranges.push(range_of(groups, reg).to_vec());
        }
        for affinity in &streams.class[class].affinities {
            let (a, b) = (affinity.a as usize, affinity.b as usize);
            if self.slot[a] == NONE || self.slot[b] == NONE || web[a] == web[b] {
                continue;
            }
            let (to, from) = (web[a], web[b]);
            if intersects(&ranges[to as usize], &ranges[from as usize]) {
                continue;
            }
            let moved = std::mem::take(&mut ranges[from as usize]);
            ranges[to as usize].extend(moved);
            ranges[to as usize].sort_unstable();
            self.chosen.iter().for_each(|&reg| {
                if web[reg as usize] == from {
                    web[reg as usize] = to;
                }
            });
        }
        // Slots of this round are shared by webs whose ranges are disjoint.
        let first = self.state.slots[class];
        let mut in_slot: Vec<Vec<Interval>> = Vec::new();
        let mut slot_of = vec![NONE; ranges.len()];
        for &reg in &self.chosen {
            let web = web[reg as usize] as usize;
            if slot_of[web] == NONE {
                let free = in_slot.iter().position(|slot| !intersects(slot, &ranges[web]));
                let slot = free.unwrap_or(in_slot.len());
                in_slot.resize_with(in_slot.len().max(slot + 1), Vec::new);
                in_slot[slot].extend_from_slice(&ranges[web]);
                in_slot[slot].sort_unstable();
                slot_of[web] = first + slot as u32;
            }
            self.slot[reg as usize] = slot_of[web];
        }
        self.state.slots[class] = first + in_slot.len() as u32;
    }

    /// A register that is never spilled.
    fn new_vreg(&mut self, func: &mut MachFunc, class: usize) -> VReg {
        let vreg = func.new_vreg(if class == SGPR { RegClass::Sgpr } else { RegClass::Vgpr });
        self.state.fixed.resize(vreg.index() + 1, false);
        self.state.fixed[vreg.index()] = true;
        vreg
    }

    /// Provides what stores and reloads of the class need.
    fn prepare(&mut self, func: &mut MachFunc, class: usize) {
        if self.state.notes.is_none() {
            self.state.notes = Some([func.note(Note::Alloc("spill")), func.note(Note::Alloc("reload"))]);
        }
        if class == SGPR {
            func.spilled.sgprs = self.state.slots[SGPR];
            while (self.state.lanes.len() as u32) * LANES < self.state.slots[SGPR] {
                let lanes = self.new_vreg(func, VGPR);
                self.state.lanes.push(lanes);
            }
            return;
        }
        func.spilled.vgprs = self.state.slots[VGPR];
        if self.state.scratch.is_none() {
            self.state.private = func.scratch_size.next_multiple_of(4);
            let (rsrc, wave_offset) = self.scratch_inputs(func);
            // Slots are reached by a 12-bit offset; behind large private arrays they get a base of their own.
            let far = self.state.private > MAX_OFFSET / 4;
            self.state.offset = if far { 0 } else { self.state.private };
            let base = if far { self.far_base(func, wave_offset) } else { wave_offset };
            self.state.scratch = Some((rsrc, base));
        }
        func.scratch_size = self.state.private + 4 * self.state.slots[VGPR];
    }

    /// An SGPR with the offset of the wave's spill slots. Nothing needs SCC at the function's entry.
    fn far_base(&mut self, func: &mut MachFunc, wave_offset: VReg) -> VReg {
        let base = self.new_vreg(func, SGPR);
        let (dst, src) = (func.tuple(&[base]), func.tuple(&[wave_offset]));
        // An SGPR offset is not swizzled: it counts the bytes of all lanes.
        let distance = Operand::int((self.state.private * LANES) as i32);
        let mut add = MachInst::new(op::S_ADD_U32, &[dst, src, distance]);
        add.note = self.state.notes.map_or(NoteId::NONE, |notes| notes[0]);
        self.at_entry.push(add);
        base
    }

    /// The scratch descriptor and the wave's offset, as inputs.
    fn scratch_inputs(&mut self, func: &mut MachFunc) -> ([VReg; 4], VReg) {
        func.set_abi(Abi { private_segment_buffer: true, private_segment_wave_offset: true, ..func.abi });
        let mut input = |func: &mut MachFunc, what: AbiInput, i: u16| {
            let reg = func.abi.find(what).map_or(Reg(0), |slot| slot.reg.offset(i));
            let known = func.inputs.iter().find(|(_, at)| *at == reg).map(|&(vreg, _)| vreg);
            let vreg = known.unwrap_or_else(|| {
                let vreg = self.new_vreg(func, SGPR);
                func.inputs.push((vreg, reg));
                vreg
            });
            self.state.fixed[vreg.index()] = true;
            vreg
        };
        let rsrc = [0, 1, 2, 3].map(|i| input(func, AbiInput::PrivateSegmentBuffer, i));
        (rsrc, input(func, AbiInput::PrivateSegmentWaveOffset, 0))
    }

    fn slot_of(&self, vreg: VReg) -> Option<u32> {
        self.slot.get(vreg.index()).copied().filter(|&slot| slot != NONE)
    }

    /// `slot = vreg`, or `vreg = slot`.
    fn access(&self, func: &mut MachFunc, class: usize, slot: u32, vreg: VReg, load: bool) -> MachInst {
        let data = func.tuple(&[vreg]);
        let mut inst = if class == SGPR {
            let lanes = func.tuple(&[self.state.lanes[(slot / LANES) as usize]]);
            let lane = Operand::int((slot % LANES) as i32);
            if load {
                MachInst::new(op::V_READLANE_B32, &[data, lanes, lane])
            } else {
                MachInst::new(op::V_WRITELANE_B32, &[lanes, data, lane])
            }
        } else {
            let Some((rsrc, base)) = self.state.scratch else { return MachInst::new(op::UNDEF, &[]) };
            let (rsrc, base) = (func.tuple(&rsrc), func.tuple(&[base]));
            let opcode = if load { op::BUFFER_LOAD_DWORD } else { op::BUFFER_STORE_DWORD };
            let offset = (self.state.offset + 4 * slot) as i32;
            MachInst {
                mods: Mods { offset, ..Mods::default() },
                ..MachInst::new(opcode, &[data, Operand::None, rsrc, base])
            }
        };
        inst.note = self.state.notes.map_or(NoteId::NONE, |notes| notes[usize::from(load)]);
        inst
    }

    /// Puts stores and reloads in place.
    fn rewrite(&mut self, func: &mut MachFunc, scene: Scene) {
        let class = scene.class;
        self.head_edge.clear();
        self.dropped.clear();
        self.head_edge.resize(func.blocks.len(), None);
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
                !scene.is_dead(param)
                    && !self.in_memory(scene, param, block)
                    && !self.dropped.contains(&param)
            });
        }
    }

    fn block(&mut self, func: &mut MachFunc, block: MBlock, scene: Scene) {
        let class = scene.class;
        let data = &func.blocks[block];
        let (head, end) = (head_places(data)[class], end_places(data)[class]);
        let old = std::mem::take(&mut func.blocks[block].insts);
        let (old_prologue, old_term) =
            (func.blocks[block].prologue as usize, func.blocks[block].term as usize);
        let (mut prologue, mut term) = (0, 0);
        self.body.clear();
        for index in 0..=old.len() {
            if index == old_prologue {
                prologue = self.body.len() as u32;
            }
            if index == head {
                self.head(func, block, scene);
            }
            if index == end {
                // Before the edge stores parameters: one may have the slot of a register that ends here.
                self.reload(func, block, Place::End, class);
                self.end(func, block, scene);
            }
            if index == old_term {
                term = self.body.len() as u32;
            }
            if index >= head {
                self.reload(func, block, Place::Before(index as u32), class);
            }
            if let Some(&inst) = old.get(index) {
                self.inst(func, inst, scene);
            }
        }
        let body = std::mem::replace(&mut self.body, old);
        let data = &mut func.blocks[block];
        data.insts = body;
        (data.prologue, data.term) = (prologue, term);
    }

    fn head(&mut self, func: &mut MachFunc, block: MBlock, scene: Scene) {
        let class = scene.class;
        if block.index() == 0 {
            for i in 0..func.inputs.len() {
                let (vreg, _) = func.inputs[i];
                if class_index(func.vregs[vreg]) == class
                    && let Some(slot) = self.slot_of(vreg)
                {
                    let store = self.access(func, class, slot, vreg, false);
                    self.body.push(store);
                    self.state.fixed[vreg.index()] = true;
                }
            }
        }
        if let Some((from, i)) = self.head_edge[block.index()] {
            self.edge(func, from, i, scene, true);
        }
        // Parameters that are in a register here, but not everywhere.
        if scene.budget.is_some() {
            for i in 0..params(&func.blocks[block], class).len() {
                let param = params(&func.blocks[block], class)[i];
                if let Some(slot) = self.slot_of(param)
                    && !self.in_memory(scene, param, block)
                {
                    let store = self.access(func, class, slot, param, false);
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

    /// Passes arguments of an edge, where the argument, the parameter or both are in memory. Reloads into registers
    /// come first, because the edge is a parallel copy. At the head of the target what the allocator copies has been
    /// copied already: a parameter with an argument in memory becomes an ordinary register there.
    fn edge(&mut self, func: &mut MachFunc, from: MBlock, i: usize, scene: Scene, at_head: bool) {
        let class = scene.class;
        let Some(Edge { to, args }) = edges(&func.blocks[from], class)[i] else { return };
        let args = func.args[args.start as usize..][..args.len as usize].to_vec();
        let params = params(&func.blocks[to], class).to_vec();
        let mut kept = Vec::with_capacity(args.len());
        let mut moves = Vec::new();
        for (&param, &arg) in params.iter().zip(&args) {
            if scene.is_dead(param) {
                continue;
            }
            let target = self.slot_of(param).filter(|_| self.in_memory(scene, param, to));
            let source = self.slot_of(arg).filter(|_| !at_end(scene, arg, from));
            match (target, source) {
                (Some(_), _) if target == self.slot_of(arg) => {}
                (Some(to), Some(slot)) => moves.push(Move { to, from: From::Slot(slot) }),
                (Some(to), None) => moves.push(Move { to, from: From::Reg(arg) }),
                (None, None) => kept.push(arg),
                (None, Some(slot)) => {
                    let temp = if at_head { param } else { self.new_vreg(func, class) };
                    let load = self.access(func, class, slot, temp, true);
                    self.body.push(load);
                    if at_head { self.dropped.push(param) } else { kept.push(temp) }
                }
            }
        }
        self.move_slots(func, class, &mut moves);
        let kept = func.arg_range(&kept);
        let block = &mut func.blocks[from];
        let edges = if class == SGPR { &mut block.linear } else { &mut block.logical };
        edges[i] = Some(Edge { to, args: kept });
    }

    fn move_slots(&mut self, func: &mut MachFunc, class: usize, moves: &mut [Move]) {
        for step in moves::order(moves, self.state.slots[class]) {
            let (Step::Do(n) | Step::Save(n)) = step;
            let value = match moves[n].from {
                From::Reg(value) => value,
                From::Slot(slot) => {
                    let temp = self.new_vreg(func, class);
                    let load = self.access(func, class, slot, temp, true);
                    self.body.push(load);
                    temp
                }
            };
            match step {
                Step::Save(_) => moves[n].from = From::Reg(value),
                Step::Do(_) => {
                    let store = self.access(func, class, moves[n].to, value, false);
                    self.body.push(store);
                }
            }
        }
    }

    /// An instruction with its reloads before and its stores after it.
    fn inst(&mut self, func: &mut MachFunc, mut inst: MachInst, scene: Scene) {
        let class = scene.class;
        let spilled = |func: &MachFunc, operand: &Operand| match *operand {
            Operand::Virt(tuple) => func.regs(tuple).iter().any(|&reg| self.slot_of(reg).is_some()),
            _ => false,
        };
        if !inst.operands().iter().any(|operand| spilled(func, operand)) {
            self.body.push(inst);
            return;
        }
        if scene.budget.is_some() {
            self.body.push(inst);
            self.store_results(func, &inst, class);
            return;
        }
        if inst.op == op::UNDEF {
            // An undefined value needs no store.
            if let Operand::Virt(tuple) = inst.ops[0] {
                let regs: Vec<VReg> = func.regs(tuple).to_vec();
                let kept: Vec<VReg> = regs.into_iter().filter(|&reg| self.slot_of(reg).is_none()).collect();
                if !kept.is_empty() {
                    inst.ops[0] = func.tuple(&kept);
                    self.body.push(inst);
                }
            }
            return;
        }
        self.temps.clear();
        self.after.clear();
        for i in 0..usize::from(inst.len) {
            let Operand::Virt(tuple) = inst.ops[i] else { continue };
            if !spilled_tuple(self, func, tuple) {
                continue;
            }
            let role = role(&inst, i);
            let mut regs = func.regs(tuple).to_vec();
            for reg in &mut regs {
                if let Some(slot) = self.slot_of(*reg) {
                    *reg = self.temp(func, class, *reg, slot, role);
                }
            }
            inst.ops[i] = func.tuple(&regs);
        }
        self.body.push(inst);
        self.body.append(&mut self.after);
    }

    /// Results go to their slots too.
    fn store_results(&mut self, func: &mut MachFunc, inst: &MachInst, class: usize) {
        for i in 0..usize::from(inst.len) {
            let Operand::Virt(tuple) = inst.ops[i] else { continue };
            if role(inst, i) == Role::Use || inst.op == op::UNDEF {
                continue;
            }
            for at in tuple.start..tuple.start + u32::from(tuple.len) {
                let vreg = func.tuples[at as usize];
                if let Some(slot) = self.slot_of(vreg) {
                    let store = self.access(func, class, slot, vreg, false);
                    self.body.push(store);
                }
            }
        }
    }

    /// Whether a parameter arrives in its slot.
    fn in_memory(&self, scene: Scene, param: VReg, block: MBlock) -> bool {
        let start = scene.streams.block_pos[block.index()].0;
        self.slot_of(param).is_some()
            && scene.budget.is_none_or(|budget| !budget.resides(param.as_u32(), start))
    }

    /// The register that stands for a spilled one at this instruction.
    fn temp(&mut self, func: &mut MachFunc, class: usize, reg: VReg, slot: u32, role: Role) -> VReg {
        let known = self.temps.iter().find(|(spilled, _)| *spilled == reg && role != Role::Def);
        if let (Some(&(_, temp)), Role::Use) = (known, role) {
            return temp;
        }
        let temp = self.new_vreg(func, class);
        if role != Role::Def {
            let load = self.access(func, class, slot, temp, true);
            self.body.push(load);
            self.temps.push((reg, temp));
        }
        if role != Role::Use {
            let store = self.access(func, class, slot, temp, false);
            self.after.push(store);
        }
        temp
    }
}

/// Whether a register is in hardware where a block ends.
fn at_end(scene: Scene, reg: VReg, block: MBlock) -> bool {
    let end = scene.streams.block_pos[block.index()].1;
    scene.budget.is_some_and(|budget| budget.resides(reg.as_u32(), end - 1))
}

fn spilled_tuple(spiller: &Spiller, func: &MachFunc, tuple: isa::Tuple) -> bool {
    func.regs(tuple).iter().any(|&reg| spiller.slot_of(reg).is_some())
}

pub(crate) fn range_of(groups: &Groups, reg: u32) -> &[Interval] {
    let (start, len) = groups.range[reg as usize];
    &groups.intervals[start as usize..][..len as usize]
}
