//! Homes of spilled registers, and the code that stores a register to its home, loads it from there, or
//! rematerialises it. The home of a spilled register is where its value is kept: a lane of a VGPR, an
//! accumulation VGPR, or a slot in scratch memory. A value that can be rematerialised (has a recipe) needs no
//! home.

use super::{MADE, NONE, Scene, Spiller};
use crate::rematerialise::{AddressPart, Recipe};
use crate::stream::{SGPR, VGPR};
use cranelift_entity::EntityRef;
use isa::{
    Abi, AbiInput, MBlock, MachInst, Mods, NoteId, Opcode, Operand, PrivateAccess, Reg, RegClass,
    ScratchAccess, Subtarget, VReg, op,
};
use mir::track::{Cell, Slot, spill_point};
use mir::{FuncRole, MachFunc, Note};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Opcodes of the instructions that read and write a lane of a VGPR. GFX6 and GFX7 encode these instructions
/// as VOP2.
const LANE_OPS: [[Opcode; 2]; 2] =
    [[op::V_READLANE_B32, op::V_WRITELANE_B32], [op::V_READLANE_B32_VOP2, op::V_WRITELANE_B32_VOP2]];

/// Home of a spilled register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Slot(u32),
    /// The value is kept nowhere, because it is rematerialised; see [`crate::rematerialise`].
    Made,
}

/// How spill slots in scratch memory are accessed. The offset field of an instruction reaches a limited
/// number of bytes, which are called a page. Each further page has its own base, an ordinary SGPR that is
/// computed at the beginning of the function.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    by: ScratchAccess,
    start: Start,
    /// Bytes of scratch memory before the slots.
    private: u32,
    /// Scratch offset at which the first page begins. (A page is the memory that the offset field of an
    /// instruction reaches.) This is 0, or the end of the private variables if these occupy more than a
    /// quarter of a page.
    origin: u32,
    /// Number of bytes that an instruction's offset reaches.
    page: u32,
    /// For each page (the scratch memory that the offset field of an instruction reaches), the register that
    /// holds the beginning of the page. `None` if no register holds it: the page has not been used yet, or
    /// the register was spilled, so that later accesses need a new one.
    pub bases: Vec<Option<Base>>,
}

/// Where the wave's part of scratch memory, or the function's frame in it, begins, and the descriptor of the
/// memory.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// The descriptor and the offset of the wave's part are inputs of a kernel.
    Inputs([VReg; 4], VReg),
    /// The first operand says where the frame begins: at the value of a register, or at 0. The second is the
    /// descriptor, in the registers that hold it in all functions with a stack, or `Operand::None` if the
    /// processor needs no descriptor.
    Frame(Operand, Operand),
}

/// The base of a page of scratch memory: an offset that an instruction adds to its own constant offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// In a virtual register of its own.
    Own(VReg),
    /// An operand that exists for other reasons, such as the stack pointer.
    Given(Operand),
}

impl Scratch {
    /// Returns the number of the page of scratch memory that contains a slot, and the slot's offset in the
    /// page.
    fn page_and_offset(&self, slot: u32) -> (usize, u32) {
        let at = self.private - self.origin + 4 * slot;
        ((at / self.page) as usize, at % self.page)
    }
}

/// Indices into `State::notes`, which has the reasons for inserted instructions.
const SPILL: usize = 0;
const RELOAD: usize = 1;
const REMAKE: usize = 2;

/// Returns the instruction that stores or loads a dword in the frame of a function with a stack.
pub(crate) fn frame_access(target: &Subtarget, data: Operand, base: Operand, is_load: bool) -> MachInst {
    let descriptor = stack_descriptor(target);
    let access = PrivateAccess { data, vaddr: Operand::None, descriptor, base };
    access.instruction(target.addressing.scratch.dword(is_load))
}

/// Returns the registers of the scratch descriptor in functions with a stack, or `Operand::None` if the processor
/// needs no descriptor.
pub(crate) fn stack_descriptor(target: &Subtarget) -> Operand {
    callconv::scratch_descriptor(target).map_or(Operand::None, Operand::Reg)
}

/// Returns the opcodes of the instructions with which a processor reads and writes a lane of a VGPR.
pub(crate) fn lane_ops(target: &Subtarget) -> [Opcode; 2] {
    let has = |ops: &&[Opcode; 2]| ops[0].row().code(target).is_some();
    *LANE_OPS.iter().find(has).unwrap_or(&LANE_OPS[0])
}

impl Spiller {
    /// Creates a register that is never spilled.
    pub(super) fn new_vreg(&mut self, func: &mut MachFunc, class: usize) -> VReg {
        let vreg = func.new_vreg(if class == SGPR { RegClass::Sgpr } else { RegClass::Vgpr });
        self.state.fixed.resize(vreg.index() + 1, false);
        self.state.fixed[vreg.index()] = true;
        vreg
    }

    /// Prepares the stores and reloads of a class: creates the reasons of inserted instructions, the VGPRs
    /// for spilled SGPRs, and the scratch memory.
    pub(super) fn prepare(&mut self, func: &mut MachFunc, scene: Scene, slots: bool) {
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
            let has = |ops: &[Opcode; 2]| ops[0].row().code(scene.target).is_some();
            self.state.lane_ops = LANE_OPS.iter().position(has).unwrap_or(0);
            while (self.state.lanes.len() as u32) * self.state.lanes_each < count {
                let lanes = self.new_vreg(func, VGPR);
                self.state.lanes.push(lanes);
            }
            return;
        }
        func.spilled.vgprs = count;
        let Some(count) = count.checked_sub(self.state.agprs).filter(|&count| count > 0) else { return };
        let mut scratch = match self.state.scratch.take() {
            Some(scratch) => scratch,
            None => self.scratch_inputs(func, scene.target),
        };
        func.scratch_size = scratch.private + 4 * count;
        let (last, _) = scratch.page_and_offset(count - 1);
        scratch.bases.resize(scratch.bases.len().max(last + 1), None);
        for page in 0..=last {
            if scratch.bases[page].is_none() {
                scratch.bases[page] = Some(self.page_base(func, &scratch, page, scene.target));
            }
        }
        self.state.scratch = Some(scratch);
    }

    /// Returns the base of a page of scratch memory. If code must compute the base, the code goes to the
    /// entry of the function, where SCC is not live.
    fn page_base(&mut self, func: &mut MachFunc, scratch: &Scratch, page: usize, target: &Subtarget) -> Base {
        let distance = scratch.origin + page as u32 * scratch.page;
        // In a buffer instruction, the hardware does not swizzle (distribute over the lanes) an offset in an
        // SGPR. This offset therefore counts the bytes of all lanes.
        let bytes = Operand::int((distance * target.stack_scale()) as i32);
        let start = match scratch.start {
            Start::Inputs(_, offset) if distance == 0 => return Base::Own(offset),
            Start::Frame(start, _) if distance == 0 => return Base::Given(start),
            Start::Inputs(_, offset) => func.tuple(&[offset]),
            Start::Frame(start, _) => start,
        };
        let base = func.new_vreg(RegClass::Sgpr);
        let dst = func.tuple(&[base]);
        let inst = match start.is_const() {
            true => MachInst::new(op::S_MOV_B32, &[dst, bytes]),
            false => MachInst::new(op::S_ADD_U32, &[dst, start, bytes]),
        };
        self.at_entry.push(self.noted(inst, SPILL));
        Base::Own(base)
    }

    /// Moves the instructions that compute bases of pages (offsets in scratch memory) to the front of the
    /// entry block. Inputs that are spilled later are stored in that block, and the stores need the bases.
    pub(super) fn bases_first(&self, func: &mut MachFunc) {
        let Some(scratch) = &self.state.scratch else { return };
        let MachFunc { blocks, tuples, .. } = func;
        let is_base = |inst: &MachInst| match inst.ops[0] {
            Operand::Virt(dst) if matches!(inst.op, op::S_MOV_B32 | op::S_ADD_U32) => {
                let made = tuples[dst.start as usize];
                scratch.bases.iter().flatten().any(|base| matches!(base, Base::Own(base) if *base == made))
            }
            _ => false,
        };
        let insts = &mut blocks[MBlock::new(0)].insts;
        let mut front = 0;
        for at in 0..insts.len() {
            if is_base(&insts[at]) {
                insts[front..=at].rotate_right(1);
                front += 1;
            }
        }
    }

    /// Returns how the function accesses scratch memory. If the function has no stack but needs the
    /// descriptor, the descriptor and the wave's offset become inputs of the function.
    fn scratch_inputs(&mut self, func: &mut MachFunc, target: &Subtarget) -> Scratch {
        let page = (target.addressing.scratch_offsets().max as u32 + 1) & !3;
        let private = func.scratch_size.next_multiple_of(4);
        let origin = if private > page / 4 { private } else { 0 };
        let has_inputs = !func.has_stack() && target.addressing.scratch.has_descriptor();
        let start = if has_inputs { self.start_in_inputs(func) } else { self.start_of_frame(func, target) };
        let by = target.addressing.scratch;
        Scratch { by, start, private, origin, page, bases: Vec::new() }
    }

    fn start_of_frame(&self, func: &MachFunc, target: &Subtarget) -> Start {
        let pointer = Reg::sgpr(callconv::column(self.convention).stack.pointer);
        let begin = match func.role {
            FuncRole::Callee => Operand::reg(pointer),
            FuncRole::Kernel => Operand::int(0),
        };
        Start::Frame(begin, stack_descriptor(target))
    }

    fn start_in_inputs(&mut self, func: &mut MachFunc) -> Start {
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
        Start::Inputs(rsrc, wave_offset)
    }

    /// Returns the hardware VGPRs whose lanes hold spilled SGPRs. `assigned` has the hardware register of
    /// each virtual register.
    pub fn lanes(&self, assigned: &[Option<u16>]) -> Vec<Reg> {
        let place = |vreg: &VReg| assigned.get(vreg.index()).copied().flatten();
        self.state.lanes.iter().filter_map(place).map(Reg::vgpr).collect()
    }

    pub(super) fn home(&self, vreg: VReg) -> Option<Home> {
        match *self.slot.get(vreg.index())? {
            NONE => None,
            MADE => Some(Home::Made),
            slot => Some(Home::Slot(slot)),
        }
    }

    fn noted(&self, inst: MachInst, why: usize) -> MachInst {
        MachInst { note: self.state.notes.map_or(NoteId::NONE, |notes| notes[why]), ..inst }
    }

    /// Returns an instruction that stores the register `vreg` to a slot or loads it from the slot.
    pub(super) fn access(
        &self,
        func: &mut MachFunc,
        class: usize,
        slot: u32,
        vreg: VReg,
        load: bool,
    ) -> MachInst {
        let data = func.tuple(&[vreg]);
        let inst = if class == SGPR {
            let each = self.state.lanes_each;
            let lanes = func.tuple(&[self.state.lanes[(slot / each) as usize]]);
            let lane = Operand::int((slot % each) as i32);
            let [read, write] = LANE_OPS[self.state.lane_ops];
            if load {
                MachInst::new(read, &[data, lanes, lane])
            } else {
                MachInst::new(write, &[lanes, data, lane])
            }
        } else if slot < self.state.agprs {
            let agpr = Operand::reg(Reg::agpr(slot as u16));
            match load {
                true => MachInst::new(op::V_ACCVGPR_READ_B32, &[data, agpr]),
                false => MachInst::new(op::V_ACCVGPR_WRITE_B32, &[agpr, data]),
            }
        } else {
            let Some(scratch) = &self.state.scratch else { return MachInst::new(op::UNDEF, &[]) };
            let (page, offset) = scratch.page_and_offset(slot - self.state.agprs);
            let Some(base) = scratch.bases[page] else { return MachInst::new(op::UNDEF, &[]) };
            let descriptor = match scratch.start {
                Start::Inputs(descriptor, _) => func.tuple(&descriptor),
                Start::Frame(_, descriptor) => descriptor,
            };
            let base = match base {
                Base::Own(base) => func.tuple(&[base]),
                Base::Given(base) => base,
            };
            let operands = PrivateAccess { data, vaddr: Operand::None, descriptor, base };
            let inst = operands.instruction(scratch.by.dword(load));
            MachInst { mods: Mods { offset: offset as i32, ..Mods::default() }, ..inst }
        };
        let loc = if func.track.is_some() { spill_point(class == VGPR, slot) } else { 0 };
        self.noted(MachInst { loc, ..inst }, if load { RELOAD } else { SPILL })
    }

    /// Returns where the values of spilled registers are kept, for debug information. `assigned` has the
    /// hardware register of each virtual register.
    pub(crate) fn kept(&self, assigned: &[Option<u16>]) -> FxHashMap<VReg, Slot> {
        let told = self.state.spilled_registers.iter();
        told.filter_map(|&(of, class, slot)| Some((of, self.slot(class, slot, assigned)?))).collect()
    }

    fn slot(&self, class: usize, slot: u32, assigned: &[Option<u16>]) -> Option<Slot> {
        let cell = if class == SGPR {
            let lanes = self.state.lanes.get((slot / self.state.lanes_each) as usize)?;
            let number = assigned.get(lanes.index()).copied().flatten()?;
            Cell::Lane(Reg::vgpr(number), (slot % self.state.lanes_each) as u8)
        } else if slot < self.state.agprs {
            Cell::Reg(Reg::agpr(slot as u16))
        } else {
            Cell::Private(self.state.scratch.as_ref()?.private + 4 * (slot - self.state.agprs))
        };
        Some(Slot { point: spill_point(class == VGPR, slot), cell, enters: false })
    }

    /// Returns, for each spilled register, the register that replaces it in the instruction that writes it.
    /// Debug information needs this table.
    pub(crate) fn written_as(&self) -> FxHashMap<VReg, VReg> {
        self.state.temps.iter().map(|&(temp, spilled)| (spilled, temp)).collect()
    }

    /// Returns an instruction that stores `value` where the value of the spilled register `of` is kept.
    /// Returns `None` if the register is not spilled, or if its value is rematerialised.
    pub(super) fn store(&self, func: &mut MachFunc, class: usize, of: VReg, value: VReg) -> Option<MachInst> {
        match self.home(of)? {
            Home::Slot(slot) => Some(self.access(func, class, slot, value, false)),
            Home::Made => None,
        }
    }

    /// Emits the requested reloads, with as few instructions as possible: one instruction may rematerialise
    /// several registers.
    pub(super) fn load_wanted(&mut self, func: &mut MachFunc, class: usize) {
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

    /// Rematerialises the first requested register, and those registers after it that the same instruction
    /// can provide. Returns the number of these registers.
    fn remake(&mut self, func: &mut MachFunc, wanted: &[(VReg, VReg)]) -> usize {
        let (of, into) = wanted[0];
        match self.recipes.get(of.as_u32()) {
            Some(Recipe::Const(constant)) => {
                let dst = func.tuple(&[into]);
                self.body.push(self.noted(MachInst::new(op::COPY, &[dst, constant]), REMAKE));
                1
            }
            Some(Recipe::Load { pointer, bytes, mem }) => {
                let next = |n: usize| Recipe::Load { pointer, bytes: bytes + 4 * n as i32, mem };
                let same = |n: &usize| {
                    wanted.get(*n).is_some_and(|(of, _)| self.recipes.get(of.as_u32()) == Some(next(*n)))
                };
                let (opcode, count) = match (1..4).take_while(same).count() {
                    3 if bytes % 8 == 0 => (op::S_LOAD_DWORDX4, 4),
                    1.. if bytes % 8 == 0 => (op::S_LOAD_DWORDX2, 2),
                    _ => (op::S_LOAD_DWORD, 1),
                };
                let regs: SmallVec<[VReg; 4]> = wanted[..count].iter().map(|&(_, into)| into).collect();
                let (dst, pointer) = (func.tuple(&regs), func.tuple(&pointer));
                let load = MachInst::new(opcode, &[dst, pointer, self.recipes.load_offset(bytes)]);
                self.body.push(self.noted(MachInst { mem, ..load }, REMAKE));
                count
            }
            Some(Recipe::Address { index, part }) => self.remake_address(func, wanted, index, part),
            _ => 1,
        }
    }

    /// Emits all instructions that compute an address. They go to the last place before the current
    /// instruction where SCC is not live.
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
}
