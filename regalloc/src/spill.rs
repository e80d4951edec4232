//! Spilling: the code that keeps registers elsewhere.
//!
//! Runs before registers are assigned, on virtual registers: a spilled register's definitions store, its uses reload
//! into registers of their own, and the function is allocated anew. SGPRs go to lanes of VGPRs (`v_writelane_b32`
//! ignores `exec`, so those VGPRs belong to no one else), VGPRs to scratch memory. Block parameters and their
//! arguments share a slot where their ranges allow, so that most edges need no code.

use crate::budget::Budget;
use crate::flow::Flow;
use crate::groups::Groups;
use crate::moves::{From as Source, Move, Order, Step};
use crate::remake::{AddressPart, Recipe, Recipes, places_for_addresses};
use crate::rewrite::dropped;
use crate::scan::Scan;
use crate::slots::Slots;
use crate::stream::{Op, SGPR, Streams, VGPR, class_index, edges, end_places, head_places, params};
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{
    Abi, AbiInput, ArgRange, Edge, MBlock, MachFunc, MachInst, Mods, Note, NoteId, Operand, Reg, RegClass,
    Subtarget, VReg, op,
};
use smallvec::SmallVec;

/// Not spilled.
const NONE: u32 = u32::MAX;

/// Spilled, and made again where it is needed.
const MADE: u32 = u32::MAX - 1;

/// Where a spilled register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Slot(u32),
    /// Nowhere: see [`crate::remake`].
    Made,
}

/// How scratch memory is reached. An instruction's offset goes as far as a page; the further pages have bases of their
/// own, SGPRs like any others, computed where the function begins.
#[derive(Clone, Debug)]
struct Scratch {
    rsrc: [VReg; 4],
    wave_offset: VReg,
    /// Bytes of scratch before the slots.
    private: u32,
    /// Where pages begin to be counted: 0, or behind private variables that leave no room on the first page.
    origin: u32,
    /// Bytes that an instruction's offset reaches.
    page: u32,
    /// By page; none where it has not been wanted yet, or was spilled and later accesses need another.
    bases: Vec<Option<VReg>>,
}

impl Scratch {
    /// Page of a slot, and the offset in it.
    fn place(&self, slot: u32) -> (usize, u32) {
        let at = self.private - self.origin + 4 * slot;
        ((at / self.page) as usize, at % self.page)
    }
}

/// What has been spilled so far, over all rounds of one function.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// Registers that must not be spilled (again), by number.
    fixed: Vec<bool>,
    /// Slots in use, by class.
    slots: [u32; 2],
    /// VGPRs whose lanes hold SGPRs, and how many each.
    lanes: Vec<VReg>,
    lanes_each: u32,
    scratch: Option<Scratch>,
    notes: Option<[NoteId; 3]>,
}

/// Why an inserted instruction is there: index into `State::notes`.
const SPILL: usize = 0;
const RELOAD: usize = 1;
const REMAKE: usize = 2;

/// Spills, and remembers what it has spilled.
#[derive(Default)]
pub(crate) struct Spiller {
    /// All that outlives a round.
    pub state: State,
    recipes: Recipes,
    /// Slot of each register being spilled in this round, or `MADE`.
    slot: Vec<u32>,
    slots: Slots,
    scan: Scan,
    order: Order,
    chosen: Vec<u32>,
    /// The same by register.
    is_chosen: Vec<bool>,
    /// Arguments of edges and their parameters.
    pairs: Vec<(VReg, VReg)>,
    at_entry: Vec<MachInst>,
    body: Vec<MachInst>,
    /// Beginning of body and terminator group in `body`.
    bounds: [u32; 2],
    after: Vec<MachInst>,
    temps: Vec<(VReg, VReg)>,
    /// Registers to be reloaded here, and into which.
    wanted: Vec<(VReg, VReg)>,
    moves: Vec<Move>,
    head_edge: Vec<Option<(MBlock, usize)>>,
    /// Parameters that are loaded instead of passed, by number.
    dropped: Vec<bool>,
    /// Reloads where a stay in hardware begins, in the order of blocks and places.
    reloads: Vec<Reload>,
    next_reload: usize,
    /// Before which instructions of the block at hand an address can be made, and the last such place in `body`.
    address_places: Vec<bool>,
    address_place: usize,
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
pub(crate) struct Scene<'a> {
    pub class: usize,
    pub target: &'a Subtarget,
    pub streams: &'a Streams,
    pub groups: &'a Groups,
    /// Where registers reside; nowhere but at their uses if nothing is said.
    pub budget: Option<&'a Budget>,
}

impl Scene<'_> {
    /// Whether nobody reads a parameter. It needs no argument then, and keeping one would keep it alive.
    fn is_dead(&self, param: VReg) -> bool {
        self.groups.range_of(param.as_u32()).is_empty()
    }
}

impl Spiller {
    /// Begins a function.
    pub fn clear(&mut self) {
        self.state = State::default();
    }

    /// Spills until no more than `room` registers of the class are live anywhere, not counting reloads: every use
    /// reloads. `false` if there is nothing left to spill; with `only_made`, if that would take a slot.
    pub fn scan(&mut self, func: &mut MachFunc, scene: Scene, room: u32, only_made: bool) -> bool {
        self.fix(func, scene.streams, scene.class);
        self.recipes.find(func);
        let (fixed, recipes) = (&self.state.fixed, &self.recipes);
        self.scan.run(scene, fixed, recipes, room, &mut self.chosen);
        if only_made && self.chosen.iter().any(|&reg| self.recipes.get(reg).is_none()) {
            return false;
        }
        self.mark_chosen(scene);
        self.apply(func, scene)
    }

    /// The same by outlines, for a function where far too many are live. What is passed on an edge then is never reloaded
    /// for that: hundreds of such registers would be needed at once, and cannot be spilled again.
    pub fn thin(&mut self, func: &mut MachFunc, scene: Scene, room: u32) -> bool {
        self.fix(func, scene.streams, scene.class);
        self.recipes.find(func);
        self.scan.run(scene, &self.state.fixed, &self.recipes, room, &mut self.chosen);
        self.spare_edges(func, scene.class);
        self.mark_chosen(scene);
        self.apply(func, scene)
    }

    /// With an argument in a slot, the parameter goes to one too; an argument that is made again stays where it is if the
    /// parameter does.
    fn spare_edges(&mut self, func: &MachFunc, class: usize) {
        let pairs = &mut self.pairs;
        pairs.clear();
        for block in func.blocks.values() {
            for edge in edges(block, class).iter().flatten() {
                let params = params(&func.blocks[edge.to], class);
                pairs.extend(func.edge_args(edge).iter().copied().zip(params.iter().copied()));
            }
        }
        pairs.sort_unstable();
        let chosen = &mut self.is_chosen;
        chosen.clear();
        chosen.resize(func.vregs.len(), false);
        self.chosen.iter().for_each(|&reg| chosen[reg as usize] = true);
        let is_made = |reg: VReg| self.recipes.get(reg.as_u32()).is_some();
        // Empty in the end, and then what the answer goes to.
        let work = &mut self.chosen;
        while let Some(reg) = work.pop().map(VReg::from_u32) {
            if is_made(reg) {
                continue;
            }
            let first = pairs.partition_point(|&(arg, _)| arg < reg);
            for &(_, param) in pairs[first..].iter().take_while(|&&(arg, _)| arg == reg) {
                if !self.state.fixed[param.index()] && !std::mem::replace(&mut chosen[param.index()], true) {
                    work.push(param.as_u32());
                }
            }
        }
        for &(arg, param) in &*pairs {
            chosen[arg.index()] &= chosen[param.index()] || !is_made(arg);
        }
        work.extend((0..chosen.len() as u32).filter(|&reg| chosen[reg as usize]));
    }

    /// Marks what cannot be spilled; the answer is by register.
    pub fn fix(&mut self, func: &MachFunc, streams: &Streams, class: usize) -> &[bool] {
        self.state.fixed.resize(func.vregs.len(), false);
        // Scratch accesses would lose the lanes that `exec` masks.
        streams.class[class].whole.iter().for_each(|&reg| self.state.fixed[reg as usize] = true);
        // From `s_getpc_b64` on, the jump into a table counts instructions.
        for data in func.blocks.values().filter(|data| data.next_entry().is_some()) {
            let pc = data.insts.iter().rposition(|inst| inst.op == op::S_GETPC_B64);
            for operand in pc.iter().flat_map(|&at| &data.insts[at..]).flat_map(|inst| inst.operands()) {
                if let Operand::Virt(tuple) = *operand {
                    func.regs(tuple).iter().for_each(|reg| self.state.fixed[reg.index()] = true);
                }
            }
        }
        &self.state.fixed
    }

    /// Spills what does not always reside in hardware.
    pub fn reside(&mut self, func: &mut MachFunc, scene: Scene, flow: &Flow, budget: &Budget) -> bool {
        self.recipes.find(func);
        self.chosen.clear();
        // A parameter that nobody reads has no range, so it must not have a slot.
        let chosen = |reg: &u32| budget.is_spilled(*reg) && !scene.groups.range_of(*reg).is_empty();
        self.chosen.extend((0..scene.streams.phys_base).filter(chosen));
        let scene = Scene { budget: Some(budget), ..scene };
        self.mark_chosen(scene);
        self.find_reloads(func, scene.streams, flow, scene.class, budget);
        self.apply(func, scene)
    }

    /// Says of each chosen register whether it is made again; those of them that others are made from stay.
    fn mark_chosen(&mut self, scene: Scene) {
        self.slot.clear();
        self.slot.resize(scene.streams.phys_base as usize, NONE);
        for i in 0..self.chosen.len() {
            let reg = self.chosen[i];
            match self.recipes.get(reg) {
                Some(Recipe::Address { index, part }) => self.mark_address(index, part, reg, scene),
                Some(_) => self.slot[reg as usize] = MADE,
                None => self.slot[reg as usize] = 0,
            }
        }
        for &reg in &self.chosen {
            if let (MADE, Some(Recipe::Load { pointer, .. })) =
                (self.slot[reg as usize], self.recipes.get(reg))
            {
                for half in pointer {
                    self.slot[half.index()] = NONE;
                    self.state.fixed[half.index()] = true;
                }
            }
        }
        self.chosen.retain(|&reg| self.slot[reg as usize] != NONE);
    }

    /// Where uses make it, the address and what it is made from go altogether; else each part that is spilled is made
    /// again, but for the program counter.
    fn mark_address(&mut self, index: u32, part: AddressPart, reg: u32, scene: Scene) {
        if scene.budget.is_some() {
            self.slot[reg as usize] = if part == AddressPart::Counter { 0 } else { MADE };
            return;
        }
        let address = self.recipes.addresses[index as usize];
        for part in address.counter.into_iter().chain(address.result.into_iter().flatten()) {
            if self.slot[part.index()] == NONE {
                self.slot[part.index()] = MADE;
                self.chosen.push(part.as_u32());
            }
        }
    }

    fn apply(&mut self, func: &mut MachFunc, scene: Scene) -> bool {
        let class = scene.class;
        if self.chosen.is_empty() {
            return false;
        }
        let (chosen, slot) = (self.chosen.iter().copied(), &mut self.slot);
        let kept: SmallVec<[u32; 64]> = chosen.filter(|&reg| slot[reg as usize] != MADE).collect();
        self.state.slots[class] = self.slots.assign(
            &kept,
            &scene.streams.class[class].affinities,
            scene.groups,
            self.state.slots[class],
            slot,
        );
        self.prepare(func, scene, !kept.is_empty());
        self.rewrite(func, scene);
        if let Some(scratch) = self.state.scratch.as_mut().filter(|_| class == SGPR) {
            let spilled = |base: &VReg| self.slot.get(base.index()).is_some_and(|&slot| slot != NONE);
            scratch
                .bases
                .iter_mut()
                .filter(|base| base.as_ref().is_some_and(spilled))
                .for_each(|base| *base = None);
        }
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
        for (block, data) in func.blocks.iter() {
            let start = streams.block_pos[block.index()].0;
            for reg in flow.live_in(block.index()) {
                let param = params(data, class).contains(&VReg::from_u32(reg));
                if reg >= streams.phys_base || param || !budget.is_spilled(reg) || !budget.resides(reg, start)
                {
                    continue;
                }
                for pred in flow.preds(block.index()) {
                    let pred = MBlock::from_u32(pred);
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
            if self.home(vreg).is_some() {
                self.wanted.push((vreg, vreg));
            }
        }
        self.load_wanted(func, class);
    }

    /// A register that is never spilled.
    fn new_vreg(&mut self, func: &mut MachFunc, class: usize) -> VReg {
        let vreg = func.new_vreg(if class == SGPR { RegClass::Sgpr } else { RegClass::Vgpr });
        self.state.fixed.resize(vreg.index() + 1, false);
        self.state.fixed[vreg.index()] = true;
        vreg
    }

    /// Provides what stores and reloads of the class need.
    fn prepare(&mut self, func: &mut MachFunc, scene: Scene, slots: bool) {
        if self.state.notes.is_none() {
            let notes = ["spill", "reload", "remake"].map(|text| func.note(Note::Alloc(text)));
            self.state.notes = Some(notes);
        }
        if !slots {
            return;
        }
        let count = self.state.slots[scene.class];
        if scene.class == SGPR {
            func.spilled.sgprs = count;
            self.state.lanes_each = scene.target.wave_size;
            while (self.state.lanes.len() as u32) * self.state.lanes_each < count {
                let lanes = self.new_vreg(func, VGPR);
                self.state.lanes.push(lanes);
            }
            return;
        }
        func.spilled.vgprs = count;
        let mut scratch = match self.state.scratch.take() {
            Some(scratch) => scratch,
            None => self.scratch_inputs(func, scene.target),
        };
        func.scratch_size = scratch.private + 4 * count;
        let (last, _) = scratch.place(count.saturating_sub(1));
        scratch.bases.resize(scratch.bases.len().max(last + 1), None);
        for page in 0..=last {
            if scratch.bases[page].is_none() {
                scratch.bases[page] = Some(self.page_base(func, &scratch, page, scene.target));
            }
        }
        self.state.scratch = Some(scratch);
    }

    /// The SGPR with the offset of a page. Nothing needs SCC at the function's entry.
    fn page_base(&mut self, func: &mut MachFunc, scratch: &Scratch, page: usize, target: &Subtarget) -> VReg {
        let distance = scratch.origin + page as u32 * scratch.page;
        if distance == 0 {
            return scratch.wave_offset;
        }
        let base = func.new_vreg(RegClass::Sgpr);
        let (dst, src) = (func.tuple(&[base]), func.tuple(&[scratch.wave_offset]));
        // An SGPR offset is not swizzled: it counts the bytes of all lanes.
        let bytes = Operand::int((distance * target.wave_size) as i32);
        self.at_entry.push(self.noted(MachInst::new(op::S_ADD_U32, &[dst, src, bytes]), SPILL));
        base
    }

    /// The scratch descriptor and the wave's offset, as inputs.
    fn scratch_inputs(&mut self, func: &mut MachFunc, target: &Subtarget) -> Scratch {
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
        let wave_offset = input(func, AbiInput::PrivateSegmentWaveOffset, 0);
        let page = (target.addressing.buffer.max as u32 + 1) & !3;
        let private = func.scratch_size.next_multiple_of(4);
        let origin = if private > page / 4 { private } else { 0 };
        Scratch { rsrc, wave_offset, private, origin, page, bases: Vec::new() }
    }

    fn home(&self, vreg: VReg) -> Option<Home> {
        match *self.slot.get(vreg.index())? {
            NONE => None,
            MADE => Some(Home::Made),
            slot => Some(Home::Slot(slot)),
        }
    }

    fn noted(&self, inst: MachInst, why: usize) -> MachInst {
        MachInst { note: self.state.notes.map_or(NoteId::NONE, |notes| notes[why]), ..inst }
    }

    /// `slot = vreg`, or `vreg = slot`.
    fn access(&self, func: &mut MachFunc, class: usize, slot: u32, vreg: VReg, load: bool) -> MachInst {
        let data = func.tuple(&[vreg]);
        let inst = if class == SGPR {
            let each = self.state.lanes_each;
            let lanes = func.tuple(&[self.state.lanes[(slot / each) as usize]]);
            let lane = Operand::int((slot % each) as i32);
            if load {
                MachInst::new(op::V_READLANE_B32, &[data, lanes, lane])
            } else {
                MachInst::new(op::V_WRITELANE_B32, &[lanes, data, lane])
            }
        } else {
            let Some(scratch) = &self.state.scratch else { return MachInst::new(op::UNDEF, &[]) };
            let (page, offset) = scratch.place(slot);
            let Some(base) = scratch.bases[page] else { return MachInst::new(op::UNDEF, &[]) };
            let (rsrc, base) = (func.tuple(&scratch.rsrc), func.tuple(&[base]));
            let opcode = if load { op::BUFFER_LOAD_DWORD } else { op::BUFFER_STORE_DWORD };
            MachInst {
                mods: Mods { offset: offset as i32, ..Mods::default() },
                ..MachInst::new(opcode, &[data, Operand::None, rsrc, base])
            }
        };
        self.noted(inst, if load { RELOAD } else { SPILL })
    }

    /// Keeps a value in the home of a register, if it has to be kept.
    fn store(&self, func: &mut MachFunc, class: usize, of: VReg, value: VReg) -> Option<MachInst> {
        match self.home(of)? {
            Home::Slot(slot) => Some(self.access(func, class, slot, value, false)),
            Home::Made => None,
        }
    }

    /// Reloads what is wanted, in as few instructions as recipes allow.
    fn load_wanted(&mut self, func: &mut MachFunc, class: usize) {
        let wanted = std::mem::take(&mut self.wanted);
        let mut rest = wanted.as_slice();
        while let Some((&(of, into), others)) = rest.split_first() {
            rest = match self.home(of) {
                Some(Home::Made) => &rest[self.remake(func, rest)..],
                Some(Home::Slot(slot)) => {
                    let load = self.access(func, class, slot, into, true);
                    self.body.push(load);
                    others
                }
                None => others,
            };
        }
        self.wanted = wanted;
        self.wanted.clear();
    }

    /// Makes the first of the registers again, and those after it that come with it; says how many.
    fn remake(&mut self, func: &mut MachFunc, wanted: &[(VReg, VReg)]) -> usize {
        let (of, into) = wanted[0];
        match self.recipes.get(of.as_u32()) {
            Some(Recipe::Const(constant)) => {
                let dst = func.tuple(&[into]);
                self.body.push(self.noted(MachInst::new(op::COPY, &[dst, constant]), REMAKE));
                1
            }
            Some(Recipe::Load { pointer, offset, mem }) => {
                let next = |n: usize| Recipe::Load { pointer, offset: offset + 4 * n as i32, mem };
                let same = |n: &usize| {
                    wanted.get(*n).is_some_and(|(of, _)| self.recipes.get(of.as_u32()) == Some(next(*n)))
                };
                let (opcode, count) = match (1..4).take_while(same).count() {
                    3 if offset % 8 == 0 => (op::S_LOAD_DWORDX4, 4),
                    1.. if offset % 8 == 0 => (op::S_LOAD_DWORDX2, 2),
                    _ => (op::S_LOAD_DWORD, 1),
                };
                let regs: SmallVec<[VReg; 4]> = wanted[..count].iter().map(|&(_, into)| into).collect();
                let (dst, pointer) = (func.tuple(&regs), func.tuple(&pointer));
                let load = MachInst::new(opcode, &[dst, pointer, Operand::Imm(offset)]);
                self.body.push(self.noted(MachInst { mem, ..load }, REMAKE));
                count
            }
            Some(Recipe::Address { index, part }) => self.remake_address(func, wanted, index, part),
            _ => 1,
        }
    }

    /// The whole sequence, where SCC is free: at this place or a little before it.
    fn remake_address(
        &mut self,
        func: &mut MachFunc,
        wanted: &[(VReg, VReg)],
        index: u32,
        part: AddressPart,
    ) -> usize {
        let other = |(of, _): &(VReg, VReg)| {
            let high = Recipe::Address { index, part: AddressPart::High };
            part == AddressPart::Low && self.recipes.get(of.as_u32()) == Some(high)
        };
        let both = wanted.get(1).is_some_and(other);
        let [low, high] = match (part, wanted) {
            (_, [(_, low), (_, high), ..]) if both => [*low, *high],
            (AddressPart::Low, [(_, low), ..]) => [*low, self.new_vreg(func, SGPR)],
            (_, [(_, high), ..]) => [self.new_vreg(func, SGPR), *high],
            _ => return 1,
        };
        let counter = [self.new_vreg(func, SGPR), self.new_vreg(func, SGPR)];
        let distance = self.recipes.addresses[index as usize].distance;
        let [pc, pc_low, pc_high] = [&counter[..], &counter[..1], &counter[1..]].map(|regs| func.tuple(regs));
        let [low, high] = [low, high].map(|reg| func.tuple(&[reg]));
        let sequence = [
            MachInst::new(op::S_GETPC_B64, &[pc]),
            MachInst::new(op::S_ADD_U32, &[low, pc_low, distance[0]]),
            MachInst::new(op::S_ADDC_U32, &[high, pc_high, distance[1]]),
        ]
        .map(|inst| self.noted(inst, REMAKE));
        let at = self.address_place;
        self.body.splice(at..at, sequence);
        self.bounds.iter_mut().filter(|bound| **bound as usize > at).for_each(|bound| *bound += 3);
        self.address_place += 3;
        1 + usize::from(both)
    }

    /// Puts stores and reloads in place.
    fn rewrite(&mut self, func: &mut MachFunc, scene: Scene) {
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
                // Before the edge stores parameters: one may have the slot of a register that ends here.
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

    /// Place in the entry block behind what earlier rounds compute there: stores of inputs need it.
    fn behind_bases(&self, func: &MachFunc) -> usize {
        let Some(scratch) = &self.state.scratch else { return 0 };
        let base = |vreg: &VReg| scratch.bases.contains(&Some(*vreg));
        let insts = &func.blocks[MBlock::new(0)].insts;
        let defines = |inst: &MachInst| {
            inst.op == op::S_ADD_U32
                && matches!(inst.ops[0], Operand::Virt(dst) if func.regs(dst).iter().any(base))
        };
        // They are at its very beginning, among other code of this pass.
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
        // Parameters that are in a register here, but not everywhere.
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

    /// Passes arguments of an edge, where the argument, the parameter or both are in memory. Reloads into registers
    /// come first, because the edge is a parallel copy. At the head of the target what the allocator copies has been
    /// copied already: a parameter with an argument in memory becomes an ordinary register there.
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

    /// An instruction with its reloads before and its stores after it.
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

    /// Whether an instruction writes only what is made where it is needed.
    fn only_makes(&self, func: &MachFunc, inst: &MachInst) -> bool {
        let mut results = inst.operands().iter().enumerate().filter(|(i, _)| inst.role(*i) != Role::Use);
        let made = |operand: &Operand| match *operand {
            Operand::Virt(tuple) => func.regs(tuple).iter().all(|&reg| self.home(reg) == Some(Home::Made)),
            _ => false,
        };
        results.clone().next().is_some() && results.all(|(_, operand)| made(operand))
    }

    /// An undefined value needs no store.
    fn undefined(&mut self, func: &mut MachFunc, mut inst: MachInst) {
        let Operand::Virt(tuple) = inst.ops[0] else { return };
        let regs = func.regs(tuple).iter().copied();
        let kept: SmallVec<[VReg; 16]> = regs.filter(|&reg| self.home(reg).is_none()).collect();
        if !kept.is_empty() {
            inst.ops[0] = func.tuple(&kept);
            self.body.push(inst);
        }
    }

    /// Results go to their slots too.
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

    /// Whether a parameter arrives in its slot.
    fn in_memory(&self, scene: Scene, param: VReg, block: MBlock) -> bool {
        let start = scene.streams.block_pos[block.index()].0;
        self.home(param).is_some() && scene.budget.is_none_or(|budget| !budget.resides(param.as_u32(), start))
    }

    /// The register that stands for a spilled one at this instruction.
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
        }
        temp
    }
}

/// Whether a register is in hardware where a block ends.
fn at_end(scene: Scene, reg: VReg, block: MBlock) -> bool {
    let end = scene.streams.block_pos[block.index()].1;
    scene.budget.is_some_and(|budget| budget.resides(reg.as_u32(), end - 1))
}
