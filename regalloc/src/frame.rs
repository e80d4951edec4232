//! Calls, returns and frames, after registers have been assigned. A function stores the registers that it
//! preserves for its caller at its beginning, and restores them where it returns. Calls are expanded to
//! instructions.
//!
//! # The frame
//! The frame begins at the value that the stack pointer has on entry. In ascending order, it contains the
//! arguments on the stack, the private variables and spill slots (which have been placed already), and the
//! preserved registers. Its size is a multiple of the stack's alignment. A caller adds the size of its frame
//! to the stack pointer for the duration of a call, so no function needs a frame pointer. A kernel's frame
//! begins at 0.
//!
//! # What is kept
//! A function preserves those callee-saved registers that it writes or that its calls clobber.
//!
//! VGPRs are saved in the active lanes, because the function writes no other lanes.
//!
//! A few SGPRs are stored to memory through a VGPR. All active lanes store the same value, so that the first
//! active lane can restore it. More SGPRs are saved in lanes of a VGPR that is not used otherwise. VGPRs
//! whose lanes hold SGPRs are written regardless of EXEC. Such a VGPR is therefore saved in all lanes,
//! whether or not the convention requires the function to preserve it.

use crate::Options;
use crate::pack::Numbers;
use crate::spill::{frame_access, lane_ops};
use crate::stream::{SGPR, VGPR};
use callconv::{Convention, RETURN_ADDRESS, column, preserved, scratch_descriptor};
use isa::table::Role;
use isa::{AbiInput, MachInst, MemId, Mods, NoteId, Opcode, Operand, Reg, RegRange, RegSet, Subtarget, op};
use mir::{
    CallSite, Callee, Distance, FuncRole, MachFunc, MemRef, Note, Referent, RelocRef, SPACE_PRIVATE,
    TAIL_TARGET,
};

/// Returns, by class, the numbers of the registers that a function must preserve for its caller.
pub(crate) fn kept(convention: Convention, target: &Subtarget) -> [Numbers; 2] {
    let mut kept = [Numbers::default(); 2];
    for reg in preserved_set(convention, target).iter() {
        kept[if reg.is_vgpr() { VGPR } else { SGPR }].insert(reg.number());
    }
    kept
}

/// Returns the set of the callee-saved registers. It includes the return address, which the function itself
/// needs when it returns. It excludes the stack pointer, which every call leaves unchanged.
fn preserved_set(convention: Convention, target: &Subtarget) -> RegSet {
    let mut set = RegSet::EMPTY;
    let lists = preserved(convention, target);
    for (base, list) in [(0, &lists.sgprs), (256, &lists.vgprs)] {
        for &(from, to) in list {
            set.insert(RegRange { first: Reg(base + from), len: (to - from + 1) as u8 });
        }
    }
    set.insert(RETURN);
    set.remove(RegRange { first: Reg(column(convention).stack.pointer), len: 1 });
    set
}

/// Registers of the return address, `s[30:31]`.
const RETURN: RegRange = RegRange { first: Reg(RETURN_ADDRESS), len: 2 };

/// Returns whether a function needs this pass, because it calls functions or can be called.
pub(crate) fn is_wanted(func: &MachFunc) -> bool {
    func.role == FuncRole::Callee || !func.calls.is_empty()
}

/// Adds the frame and expands the calls of a function whose registers are assigned and that [needs this
/// pass](is_wanted).
#[inline(never)]
pub(crate) fn run(
    func: &mut MachFunc,
    target: &Subtarget,
    options: &Options,
    lanes: &[Reg],
    body: &mut Vec<MachInst>,
) {
    let is_callee = func.role == FuncRole::Callee;
    let written = written(func, target);
    let frame = Frame::new(func, target, options, &written, lanes);
    if func.has_stack() {
        func.scratch_size = frame.size;
    }
    if is_callee {
        let mut clobbers = written;
        frame.scalars.iter().chain(&frame.vectors).chain(&frame.whole).for_each(|&(reg, _)| {
            clobbers.remove(RegRange { first: reg, len: 1 });
        });
        let stack = [column(options.convention).stack.pointer, Reg::EXEC.0, Reg::EXEC.0 + 1];
        stack.into_iter().for_each(|code| clobbers.remove(RegRange { first: Reg(code), len: 1 }));
        scratch_descriptor(target).into_iter().for_each(|range| clobbers.remove(range));
        frame.lanes.iter().for_each(|&first| count(func, RegRange { first, len: 1 }));
        frame.temps().for_each(|range| clobbers.insert(range));
        func.clobbers = clobbers;
        frame.temps().for_each(|range| count(func, range));
    }
    let note = func.note(Note::Alloc("frame"));
    let writer = Writer { frame: &frame, note, target, options };
    for index in 0..func.blocks.len() {
        let block = isa::MBlock::from_u32(index as u32);
        let is_entry = index == 0;
        let has_work =
            |inst: &MachInst| matches!(inst.op, op::CALL | op::TAIL_CALL | op::RETURN | op::STACK_END);
        if is_entry || func.blocks[block].insts.iter().any(has_work) {
            writer.block(func, block, is_entry, body);
        }
    }
}

/// Raises the numbers of SGPRs and VGPRs that the function declares, so that they include the registers in
/// `range`.
fn count(func: &mut MachFunc, range: RegRange) {
    let end = u32::from(range.first.number()) + u32::from(range.len);
    let most = if range.first.is_vgpr() { &mut func.vgprs } else { &mut func.sgprs };
    *most = end.max(*most);
}

/// Returns all registers that the function and the functions it calls may write.
fn written(func: &MachFunc, target: &Subtarget) -> RegSet {
    let mut set = RegSet::EMPTY;
    for inst in func.blocks.values().flat_map(|block| &block.insts) {
        inst.for_each_hw_reg(target, |role, range| {
            if role != Role::Use {
                set.insert(range);
            }
        });
        if let Some(CallSite { clobbers, .. }) = func.call_of(inst) {
            set.union(clobbers);
        }
    }
    set
}

/// Layout of a frame.
struct Frame {
    /// Size in bytes per lane.
    size: u32,
    /// SGPRs that are saved at the function's entry, each with the place where it is saved. This is a lane of
    /// the VGPR `lanes` if `lanes` is set, otherwise an offset in the frame.
    scalars: Vec<(Reg, u32)>,
    lanes: Option<Reg>,
    /// VGPRs that are saved in the active lanes only, with their offsets in the frame.
    vectors: Vec<(Reg, u32)>,
    /// VGPRs that are saved in all lanes, with their offsets in the frame. Their lanes hold SGPRs.
    whole: Vec<(Reg, u32)>,
    /// Free registers at the entry and at the return.
    free: [Free; 2],
}

/// Temporary registers at the function's entry or end: they hold no value that is needed.
struct Free {
    /// For moving SGPRs to and from memory.
    vgprs: [Reg; 2],
    /// For an offset that the instruction cannot hold.
    offset: Reg,
    /// For saving EXEC.
    exec: Reg,
}

impl Frame {
    fn new(func: &MachFunc, target: &Subtarget, options: &Options, written: &RegSet, lanes: &[Reg]) -> Frame {
        let align = column(options.convention).stack.align;
        let mut size = func.scratch_size.next_multiple_of(4);
        let mut place = |reg: Reg| {
            size += 4;
            (reg, size - 4)
        };
        let (mut scalars, mut vectors, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_lanes = None;
        let busy = busy(func);
        let free = busy.map(|busy| Free::new(&busy, lanes, options.convention, target));
        if func.role == FuncRole::Callee {
            let preserved = preserved_set(options.convention, target);
            let mut written = *written;
            let is_kept = |reg: &Reg| !lanes.contains(reg) && preserved.contains(*reg);
            let count = written.iter().filter(is_kept).filter(|reg| !reg.is_vgpr()).count();
            in_lanes = lanes_for(func, target, options, &written, count);
            if in_lanes.is_none() && count > 0 {
                // If no other VGPR was free, the temporary VGPRs are callee-saved ones. The function must
                // save these before it writes them.
                free.iter()
                    .flat_map(|free| free.vgprs)
                    .for_each(|first| written.insert(RegRange { first, len: 1 }));
            }
            for reg in written.iter().filter(is_kept) {
                match in_lanes {
                    _ if reg.is_vgpr() => vectors.push(place(reg)),
                    Some(_) => scalars.push((reg, scalars.len() as u32)),
                    None => scalars.push(place(reg)),
                }
            }
            whole.extend(lanes.iter().copied().chain(in_lanes).map(&mut place));
        }
        Frame { size: size.next_multiple_of(align), scalars, lanes: in_lanes, vectors, whole, free }
    }

    /// Returns the temporary registers that the code for saving and restoring writes.
    fn temps(&self) -> impl Iterator<Item = RegRange> {
        let vgprs = if self.lanes.is_some() { 0 } else { self.scalars.len().min(2) };
        let far = self.size > FIELD_MIN;
        let whole = !self.whole.is_empty();
        self.free.iter().flat_map(move |free| {
            let vgprs = free.vgprs[..vgprs].iter().map(|&first| RegRange { first, len: 1 });
            let offset = far.then_some(RegRange { first: free.offset, len: 1 });
            let exec = whole.then_some(RegRange { first: free.exec, len: 2 });
            vgprs.chain(offset).chain(exec)
        })
    }
}

/// Returns two sets of registers that must not be used as temporaries. At the function's entry, these are the
/// registers with arguments. At its end, they are the registers with results or with the arguments of a tail
/// call.
fn busy(func: &MachFunc) -> [RegSet; 2] {
    let ends = |inst: &&MachInst| matches!(inst.op, op::RETURN | op::TAIL_CALL);
    let mut busy = [RegSet::EMPTY; 2];
    func.inputs.iter().for_each(|&(_, reg)| busy[0].insert(RegRange { first: reg, len: 1 }));
    for inst in func.blocks.values().flat_map(|block| &block.insts).filter(ends) {
        let ranges = inst.operands().iter().filter_map(|operand| match *operand {
            Operand::Reg(range) => Some(range),
            _ => None,
        });
        ranges.for_each(|range| busy[1].insert(range));
        if inst.op == op::TAIL_CALL {
            busy[1].insert(TAIL_TARGET);
        }
    }
    busy
}

/// Largest number of SGPRs that are saved in memory one by one. Saving and restoring an SGPR in memory takes
/// four instructions, and in a lane of a VGPR two. But the VGPR itself takes six instructions once, so for a
/// few SGPRs memory is cheaper.
const FEW: usize = 3;

/// Returns a VGPR in whose lanes `count` SGPRs can be saved. Neither this function nor a called function uses
/// this VGPR. Returns `None` if there is no such VGPR, or if saving the SGPRs in memory is cheaper.
fn lanes_for(
    func: &MachFunc,
    target: &Subtarget,
    options: &Options,
    written: &RegSet,
    count: usize,
) -> Option<Reg> {
    if count <= FEW || count > target.wave_size as usize {
        return None;
    }
    let preserved = preserved_set(options.convention, target);
    let most = options.budget_vgprs.unwrap_or(u32::MAX).min(target.allocatable_vgprs()) as u16;
    let is_input = |reg: Reg| func.inputs.iter().any(|&(_, input)| input == reg);
    let alone = func.calls.is_empty();
    let is_free =
        |reg: &Reg| !written.contains(*reg) && !is_input(*reg) && (alone || preserved.contains(*reg));
    (0..most).map(Reg::vgpr).find(is_free)
}

/// Largest offset that an access to private memory can have on every processor, in bytes.
const FIELD_MIN: u32 = 4095;

impl Free {
    /// Finds temporary registers for the entry or the end of the function. They must hold no value that is
    /// needed there, and need not be preserved. If arguments or results occupy all VGPRs that need not be
    /// preserved, callee-saved VGPRs are used instead.
    fn new(busy: &RegSet, lanes: &[Reg], convention: Convention, target: &Subtarget) -> Free {
        let preserved = preserved_set(convention, target);
        let is_free = |reg: &Reg| !busy.contains(*reg) && !preserved.contains(*reg) && !lanes.contains(reg);
        let holds_nothing =
            |reg: &Reg| !busy.contains(*reg) && preserved.contains(*reg) && !lanes.contains(reg);
        let all = || (0..=255).map(Reg::vgpr);
        let mut vgprs = all().filter(is_free).chain(all().filter(holds_nothing));
        let vgprs = [0; 2].map(|_| vgprs.next().unwrap_or(Reg::vgpr(0)));
        let first = scratch_descriptor(target).map_or(0, |range| range.first.0 + u16::from(range.len));
        let pair = |reg: &Reg| reg.0.is_multiple_of(2) && is_free(reg) && is_free(&reg.offset(1));
        let exec = (first..RETURN_ADDRESS).map(Reg).find(pair).unwrap_or(Reg(first));
        let is_other = |reg: &Reg| is_free(reg) && !(exec.0..exec.0 + 2).contains(&reg.0);
        let offset = (first..RETURN_ADDRESS).map(Reg).find(is_other).unwrap_or(Reg(first));
        Free { vgprs, offset, exec }
    }
}

/// Returns an operand that refers to a relocation: the low or high part of the distance from the program
/// counter to a function.
fn reloc(func: &mut MachFunc, callee: u32, part: Distance) -> Operand {
    func.relocs.push(RelocRef { to: Referent::Func(callee), part, addend: 0 });
    Operand::Reloc(func.relocs.len() as u32 - 1)
}

/// Writes the code for calls, returns and the frame.
struct Writer<'a> {
    frame: &'a Frame,
    note: NoteId,
    target: &'a Subtarget,
    options: &'a Options,
}

impl Writer<'_> {
    fn block(&self, func: &mut MachFunc, block: isa::MBlock, is_entry: bool, body: &mut Vec<MachInst>) {
        let mem = func.mem_ref(MemRef { spaces: SPACE_PRIVATE, ..MemRef::default() });
        let mut data = std::mem::take(&mut func.blocks[block]);
        body.clear();
        match func.role {
            FuncRole::Callee if is_entry => self.keep(mem, body),
            FuncRole::Kernel if is_entry => self.find_stack(func, body),
            _ => {}
        }
        let (mut prologue, mut term) = (data.prologue, data.term);
        for (n, inst) in (0..).zip(&data.insts) {
            if n == data.prologue && n > 0 {
                prologue = body.len() as u32;
            }
            if n == data.term {
                term = body.len() as u32;
            }
            let begin = body.len();
            match inst.op {
                op::CALL => self.call(func, inst, body),
                op::RETURN => {
                    self.bring_back(mem, body);
                    // The callee-saved registers are restored here, so the terminator group begins after
                    // these instructions.
                    term = body.len() as u32;
                    body.push(self.inst(op::S_SETPC_B64, &[Operand::Reg(RETURN)]));
                }
                op::TAIL_CALL => {
                    self.bring_back(mem, body);
                    self.jump(func, inst, body);
                    term = body.len() as u32 - 1;
                }
                op::STACK_END => body.push(self.stack_end(func.role, inst.ops[0])),
                _ => body.push(*inst),
            }
            body[begin..].iter_mut().for_each(|new| new.loc = inst.loc);
        }
        if data.term as usize == data.insts.len() {
            term = body.len() as u32;
        }
        data.insts.clear();
        data.insts.extend_from_slice(body);
        (data.prologue, data.term) = (prologue, term);
        func.blocks[block] = data;
    }

    fn inst(&self, op: Opcode, operands: &[Operand]) -> MachInst {
        MachInst { note: self.note, ..MachInst::new(op, operands) }
    }

    fn pointer(&self) -> Operand {
        Operand::reg(Reg::sgpr(column(self.options.convention).stack.pointer))
    }

    /// Returns an operand for an amount of scratch memory in the units of the stack pointer.
    fn bytes(&self, bytes: u32) -> Operand {
        Operand::int((bytes * self.target.stack_scale()) as i32)
    }

    /// Adds the wave's scratch offset to the scratch descriptor at the beginning of a kernel. The hardware
    /// provides a descriptor for the scratch memory of the whole queue, but functions and the kernel's own
    /// frame need one for the wave's part.
    fn find_stack(&self, func: &MachFunc, body: &mut Vec<MachInst>) {
        let offset = func.abi.find(AbiInput::PrivateSegmentWaveOffset).filter(|_| func.has_stack());
        let (Some(offset), Some(descriptor)) = (offset, scratch_descriptor(self.target)) else { return };
        let [low, high] = [0, 1].map(|n| Operand::reg(descriptor.first.offset(n)));
        body.push(self.inst(op::S_ADD_U32, &[low, low, Operand::reg(offset.reg)]));
        body.push(self.inst(op::S_ADDC_U32, &[high, high, Operand::int(0)]));
    }

    fn stack_end(&self, role: FuncRole, to: Operand) -> MachInst {
        let bytes = self.bytes(self.frame.size);
        match role {
            FuncRole::Kernel => self.inst(op::S_MOV_B32, &[to, bytes]),
            FuncRole::Callee => self.inst(op::S_ADD_U32, &[to, self.pointer(), bytes]),
        }
    }

    fn call(&self, func: &mut MachFunc, inst: &MachInst, body: &mut Vec<MachInst>) {
        let moves = func.role == FuncRole::Callee && self.frame.size > 0;
        let (pointer, bytes) = (self.pointer(), self.bytes(self.frame.size));
        if moves {
            body.push(self.inst(op::S_ADD_U32, &[pointer, pointer, bytes]));
        }
        let to = Operand::Reg(RETURN);
        match func.call_of(inst).map(|call| (call.callee, call.local)) {
            Some((Callee::Func(callee), local)) => self.call_function(func, (callee, local), body),
            _ => body.push(MachInst::new(op::S_SWAPPC_B64, &[to, inst.ops[mir::CALL_PINS]])),
        }
        if moves {
            body.push(self.inst(op::S_SUB_U32, &[pointer, pointer, bytes]));
        }
    }

    /// Emits a tail call: a jump to a function that will return to the caller of this function.
    fn jump(&self, func: &mut MachFunc, inst: &MachInst, body: &mut Vec<MachInst>) {
        let to = Operand::Reg(TAIL_TARGET);
        if let Some(Callee::Func(callee)) = func.call_of(inst).map(|call| call.callee) {
            self.function_address(func, callee, TAIL_TARGET, body);
        }
        body.push(self.inst(op::S_SETPC_B64, &[to]));
    }

    /// Computes the address of a function from its distance.
    fn function_address(&self, func: &mut MachFunc, callee: u32, to: RegRange, body: &mut Vec<MachInst>) {
        let [low, high] = [0, 1].map(|n| Operand::reg(to.first.offset(n)));
        let distances = [Distance::Low, Distance::High].map(|part| reloc(func, callee, part));
        body.extend([
            MachInst::new(op::S_GETPC_B64, &[Operand::Reg(to)]),
            MachInst::new(op::S_ADD_U32, &[low, low, distances[0]]),
            MachInst::new(op::S_ADDC_U32, &[high, high, distances[1]]),
        ]);
    }

    /// Emits a call of a function. If the callee is near enough and the processor has `s_call_b64`, this is
    /// one instruction with the distance to the callee. Otherwise, the callee's address is first computed in
    /// the registers that the call overwrites with the return address.
    fn call_function(&self, func: &mut MachFunc, (callee, local): (u32, bool), body: &mut Vec<MachInst>) {
        let to = Operand::Reg(RETURN);
        let has_call = op::S_CALL_B64.row().code(self.target).is_some();
        if self.options.near && local && has_call {
            let distance = reloc(func, callee, Distance::Words);
            return body.push(MachInst::new(op::S_CALL_B64, &[to, distance]));
        }
        self.function_address(func, callee, RETURN, body);
        body.push(MachInst::new(op::S_SWAPPC_B64, &[to, to]));
    }

    /// Stores the preserved registers.
    fn keep(&self, mem: MemId, body: &mut Vec<MachInst>) {
        let free = &self.frame.free[0];
        self.in_all_lanes(free, body, |body| {
            self.frame.whole.iter().for_each(|&(reg, at)| self.access(free, reg, at, false, mem, body));
        });
        self.frame.vectors.iter().for_each(|&(reg, at)| self.access(free, reg, at, false, mem, body));
        if let Some(lanes) = self.frame.lanes {
            let [_, write] = lane_ops(self.target);
            body.extend(self.frame.scalars.iter().map(|&(reg, lane)| {
                self.inst(write, &[Operand::reg(lanes), Operand::reg(reg), Operand::int(lane as i32)])
            }));
            return;
        }
        for (n, &(reg, at)) in self.frame.scalars.iter().enumerate() {
            let by = free.vgprs[n % 2];
            body.push(self.inst(op::V_MOV_B32, &[Operand::reg(by), Operand::reg(reg)]));
            self.access(free, by, at, false, mem, body);
        }
    }

    /// Restores the preserved registers.
    fn bring_back(&self, mem: MemId, body: &mut Vec<MachInst>) {
        let free = &self.frame.free[1];
        if let Some(lanes) = self.frame.lanes {
            let [read, _] = lane_ops(self.target);
            body.extend(self.frame.scalars.iter().map(|&(reg, lane)| {
                self.inst(read, &[Operand::reg(reg), Operand::reg(lanes), Operand::int(lane as i32)])
            }));
        }
        let by_memory = if self.frame.lanes.is_some() { &[] } else { &*self.frame.scalars };
        for pair in by_memory.chunks(2) {
            for (&(_, at), &by) in pair.iter().zip(&free.vgprs) {
                self.access(free, by, at, true, mem, body);
            }
            for (&(reg, _), &by) in pair.iter().zip(&free.vgprs) {
                let mut read = self.inst(op::V_READFIRSTLANE_B32, &[Operand::reg(reg), Operand::reg(by)]);
                read.form = isa::Form::E32;
                body.push(read);
            }
        }
        self.frame.vectors.iter().for_each(|&(reg, at)| self.access(free, reg, at, true, mem, body));
        self.in_all_lanes(free, body, |body| {
            self.frame.whole.iter().for_each(|&(reg, at)| self.access(free, reg, at, true, mem, body));
        });
    }

    fn in_all_lanes(&self, free: &Free, body: &mut Vec<MachInst>, write: impl FnOnce(&mut Vec<MachInst>)) {
        if self.frame.whole.is_empty() {
            return;
        }
        let dwords = self.target.mask_dwords();
        let (save, exec) = (Operand::regs(free.exec, dwords), Operand::regs(Reg::EXEC, dwords));
        let [all, back] = match dwords {
            1 => [op::S_OR_SAVEEXEC_B32, op::S_MOV_B32],
            _ => [op::S_OR_SAVEEXEC_B64, op::S_MOV_B64],
        };
        body.push(self.inst(all, &[save, Operand::int(-1)]));
        write(body);
        body.push(self.inst(back, &[exec, save]));
    }

    fn access(&self, free: &Free, reg: Reg, at: u32, load: bool, mem: MemId, body: &mut Vec<MachInst>) {
        let (mut base, mut offset) = (self.pointer(), at);
        if i64::from(at) > self.target.addressing.scratch_offsets().max {
            base = Operand::reg(free.offset);
            body.push(self.inst(op::S_ADD_U32, &[base, self.pointer(), self.bytes(at)]));
            offset = 0;
        }
        let inst = frame_access(self.target, Operand::reg(reg), base, load);
        let mods = Mods { offset: offset as i32, ..Mods::default() };
        body.push(MachInst { mods, mem, note: self.note, ..inst });
    }
}
