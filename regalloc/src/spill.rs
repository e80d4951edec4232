//! Spilling: decides which registers are spilled and how. The module `access` has the code that accesses
//! spilled registers, and `rewrite` inserts stores and reloads.
//!
//! Spilling runs on virtual registers, before hardware registers are assigned. An instruction that defines a
//! spilled register is followed by a store. An instruction that uses it is preceded by a reload into a new
//! register. Then the function is allocated again.
//!
//! SGPRs are spilled to lanes of VGPRs. `v_writelane_b32` ignores `exec`, so these VGPRs are used for nothing
//! else. VGPRs are spilled to accumulation VGPRs and scratch memory. Block parameters and their arguments
//! share a slot if their ranges allow it, so that most edges need no code.

mod access;
mod rewrite;

use self::access::{Base, Scratch};
pub(crate) use self::access::{frame_access, lane_ops, stack_descriptor};
use crate::budget::Budget;
use crate::flow::Flow;
use crate::groups::Groups;
use crate::moves::{Move, Order};
use crate::rematerialise::{AddressPart, Recipe, Recipes};
use crate::scan::Scan;
use crate::slots::Slots;
use crate::stream::{Op, SGPR, Streams, edges, params};
use callconv::Convention;
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{MBlock, MachInst, NoteId, Operand, Subtarget, VReg, op};
use mir::MachFunc;
use smallvec::SmallVec;

/// Value in `Spiller::slot` of a register that is not spilled.
const NONE: u32 = u32::MAX;

/// Value in `Spiller::slot` of a spilled register that is rematerialised where it is needed, and so needs no
/// slot.
const MADE: u32 = u32::MAX - 1;

/// What has been spilled so far in a function, which may be spilled and allocated again several times (in
/// rounds).
#[derive(Clone, Default)]
pub(crate) struct State {
    /// Registers that must not be spilled (again), by number.
    fixed: Vec<bool>,
    /// Number of slots in use, by class.
    slots: [u32; 2],
    /// Number of slots that are accumulation VGPRs. Slots with higher numbers are in scratch memory.
    agprs: u32,
    /// `lanes` are the VGPRs in whose lanes spilled SGPRs are kept. `lanes_each` is the number of SGPRs that
    /// one VGPR holds.
    lanes: Vec<VReg>,
    lanes_each: u32,
    /// Row of `access::LANE_OPS` for the processor.
    lane_ops: usize,
    scratch: Option<Scratch>,
    notes: Option<[NoteId; 3]>,
    /// For debug information: the registers that have spill slots, each with its class and slot.
    spilled_registers: Vec<(VReg, usize, u32)>,
    /// For debug information: pairs of a new register and a spilled register. The instruction that would
    /// write the spilled register writes the new register instead, which is then stored.
    temps: Vec<(VReg, VReg)>,
}

/// Spills registers, and records what it has spilled.
#[derive(Default)]
pub(crate) struct Spiller {
    /// State that lasts over all rounds.
    pub state: State,
    /// Calling convention, which determines the registers for the stack.
    pub convention: Convention,
    recipes: Recipes,
    /// For each register, the number of its slot if it is being spilled now, or `MADE` if it is
    /// rematerialised.
    slot: Vec<u32>,
    slots: Slots,
    scan: Scan,
    order: Order,
    chosen: Vec<u32>,
    /// Whether each register is in `chosen`.
    is_chosen: Vec<bool>,
    /// Arguments of edges, with their parameters.
    pairs: Vec<(VReg, VReg)>,
    at_entry: Vec<MachInst>,
    body: Vec<MachInst>,
    /// Start of the body and of the terminator group in `body`.
    bounds: [u32; 2],
    after: Vec<MachInst>,
    temps: Vec<(VReg, VReg)>,
    /// The reloads that are needed before the current instruction or at the end of the current block. Each
    /// has the spilled register, and the new register that receives its value.
    wanted: Vec<(VReg, VReg)>,
    moves: Vec<Move>,
    head_edge: Vec<Option<(MBlock, usize)>>,
    /// Parameters that are loaded instead of passed, by number.
    dropped: Vec<bool>,
    /// The reloads that regalloc2's choice requires: one at the beginning of each interval in which a spilled
    /// register is in a hardware register. They are sorted by block and by place in the block.
    reloads: Vec<Reload>,
    next_reload: usize,
    /// `address_places` says for each instruction of the current block whether an address can be computed
    /// before it. This overwrites SCC, so it is impossible where SCC is live. `address_place` is the last
    /// position in `body` where it is possible.
    address_places: Vec<bool>,
    address_place: usize,
}

/// A reload of a spilled register at the beginning of an interval in which regalloc2 has it in a hardware
/// register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reload {
    block: u32,
    at: Place,
    reg: u32,
}

/// A place in a block where a reload can be inserted, in the order in which a block is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Head,
    Before(u32),
    End,
}

/// What the code that inserts stores and reloads needs to know about the function and the class.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub class: usize,
    pub target: &'a Subtarget,
    pub streams: &'a Streams,
    pub groups: &'a Groups,
    /// regalloc2's choice of the intervals in which spilled registers are in hardware registers. Without it,
    /// each use of a spilled register is a reload.
    pub budget: Option<&'a Budget>,
}

impl Scene<'_> {
    /// Returns whether a block parameter is never read. Edges pass no argument for such a parameter, because
    /// otherwise registers would be kept alive only to be passed.
    fn is_dead(&self, param: VReg) -> bool {
        self.groups.range_of(param.as_u32()).is_empty()
    }
}

impl Spiller {
    /// Begins a function in which `agprs` accumulation VGPRs may hold spilled registers.
    pub fn clear(&mut self, agprs: u32, convention: Convention) {
        self.convention = convention;
        self.state = State { agprs, ..State::default() };
    }

    /// Spills registers that linear scan chooses, until at most `room` registers of the class are live
    /// anywhere. Registers that reloads need are not counted. Each use of a spilled register is a reload.
    /// Across a call, only hardware registers that the call does not clobber can hold values, so at most as
    /// many registers stay live as there are among the first `across` ones. Returns false if nothing is left
    /// to spill. With `only_made`, also returns false if a spilled register would need a slot.
    pub fn scan(
        &mut self,
        func: &mut MachFunc,
        scene: Scene,
        (room, across): (u32, u32),
        only_made: bool,
    ) -> bool {
        self.fix(func, scene.streams, scene.class);
        self.recipes.find(func, scene.target);
        let (fixed, recipes) = (&self.state.fixed, &self.recipes);
        self.scan.run(scene, fixed, recipes, (room, across), &mut self.chosen);
        if only_made && self.chosen.iter().any(|&reg| self.recipes.get(reg).is_none()) {
            return false;
        }
        self.mark_chosen(scene);
        self.apply(func, scene)
    }

    /// Spills as [`Spiller::scan`] does, but for a function with far too high register pressure, whose live
    /// ranges are outlines (without holes). Also prevents that arguments of an edge are reloaded only for the
    /// edge. Hundreds of these reloads could be needed at the same time, and their registers cannot be
    /// spilled again.
    pub fn thin(&mut self, func: &mut MachFunc, scene: Scene, room: u32) -> bool {
        self.fix(func, scene.streams, scene.class);
        self.recipes.find(func, scene.target);
        self.scan.run(scene, &self.state.fixed, &self.recipes, (room, u32::MAX), &mut self.chosen);
        self.spare_edges(func, scene.class);
        self.mark_chosen(scene);
        self.apply(func, scene)
    }

    /// Changes the choice of spilled registers so that few edges need reloads. If an argument is spilled to a
    /// slot, the block parameter is spilled, too, unless it must stay in a register. An argument that would
    /// be rematerialised is not spilled if the parameter is not.
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
        // The list of chosen registers also serves as the worklist of this loop. The loop empties it, and it
        // is filled with the new choice afterwards.
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

    /// Marks the registers that cannot be spilled, and returns the marks, indexed by register.
    pub fn fix(&mut self, func: &MachFunc, streams: &Streams, class: usize) -> &[bool] {
        self.state.fixed.resize(func.vregs.len(), false);
        // Registers that are written in all lanes, whatever `exec` is, cannot be spilled: a store to scratch
        // memory would lose the lanes that are inactive.
        streams.class[class].whole.iter().for_each(|&reg| self.state.fixed[reg as usize] = true);
        // The jump into a jump table relies on the number of instructions after `s_getpc_b64`, so there must
        // be no reloads between them.
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

    /// Spills the registers that regalloc2 does not keep in hardware registers all the time (`budget`).
    pub fn reside(&mut self, func: &mut MachFunc, scene: Scene, flow: &Flow, budget: &Budget) -> bool {
        self.recipes.find(func, scene.target);
        self.chosen.clear();
        // A parameter that is never read has no live range, so it must not get a slot.
        let chosen = |reg: &u32| budget.is_spilled(*reg) && !scene.groups.range_of(*reg).is_empty();
        self.chosen.extend((0..scene.streams.phys_base).filter(chosen));
        let scene = Scene { budget: Some(budget), ..scene };
        self.mark_chosen(scene);
        self.find_reloads(func, scene.streams, flow, scene.class, budget);
        self.apply(func, scene)
    }

    /// Decides for each chosen register whether it is rematerialised or gets a slot. Pointers from which
    /// other registers are loaded again must stay available, so they are not spilled.
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

    /// Records in `slot` how the value of `reg` is recovered, a spilled register that holds a part of an
    /// address. Linear scan spills all parts of the address together, with the program counter, and they are
    /// rematerialised together. regalloc2 may spill a single part. This part is then rematerialised alone,
    /// except for a program counter, which gets a slot.
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
        if func.track.is_some() {
            let told = kept.iter().map(|&reg| (VReg::from_u32(reg), class, self.slot[reg as usize]));
            self.state.spilled_registers.extend(told);
        }
        self.prepare(func, scene, !kept.is_empty());
        self.rewrite(func, scene);
        if let Some(scratch) = self.state.scratch.as_mut().filter(|_| class == SGPR) {
            let spilled = |base: &VReg| self.slot.get(base.index()).is_some_and(|&slot| slot != NONE);
            scratch
                .bases
                .iter_mut()
                .filter(|base| matches!(base, Some(Base::Own(base)) if spilled(base)))
                .for_each(|base| *base = None);
        }
        // The instructions that compute the bases of pages (offsets in scratch memory) go to the beginning of
        // the function, before the stores of spilled inputs, which use them.
        let entry = &mut func.blocks[MBlock::new(0)];
        let count = self.at_entry.len() as u32;
        entry.insts.splice(0..0, self.at_entry.drain(..));
        entry.prologue += if entry.prologue > 0 { count } else { 0 };
        entry.term += count;
        self.bases_first(func);
        self.reloads.clear();
        true
    }

    /// Finds the places where a spilled register must be reloaded. From such a place on, regalloc2 has it in
    /// a hardware register, but no instruction writes it there. The place can be in the middle of a block. It
    /// can also be on an edge, if the register is not in a hardware register at the end of the block from
    /// which the edge comes.
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
}
