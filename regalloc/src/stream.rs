//! The allocator's view of a function: for each register class, a stream of only the instructions that use
//! registers of that class.
//!
//! The streams of both classes use the same numbering of program points. An instruction has four points: `p`
//! for copies before the instruction, `p + 1` for its reads, `p + 2` for its writes, and `p + 3` for copies
//! after it. The moves at the beginnings and ends of blocks have points of their own (see `mir` for their
//! position), and appear in the streams as parallel copies.

use crate::AllocError;
use crate::live::Interval;
use callconv::Convention;
use cranelift_entity::EntityRef;
use isa::table::{Flags, Implicit, Kind, Role};
use isa::{Feature, Form, MBlock, MachInst, Operand, Reg, RegClass, RegRange, Subtarget, Target, op};
use mir::{ArgRange, CallSite, Edges, MachBlock, MachFunc, TAIL_TARGET};

/// Index of the SGPR class.
pub(crate) const SGPR: usize = 0;
/// Index of the VGPR class.
pub(crate) const VGPR: usize = 1;

/// Number of program points per instruction.
pub(crate) const STEP: u32 = 4;

/// Returns the index of a class.
pub(crate) fn class_index(class: RegClass) -> usize {
    match class {
        RegClass::Sgpr => SGPR,
        RegClass::Vgpr => VGPR,
    }
}

/// Returns the edges from a block in the control-flow graph of a register class: the linear graph for SGPRs,
/// the logical graph for VGPRs.
pub(crate) fn edges(block: &MachBlock, class: usize) -> &Edges {
    if class == SGPR { &block.linear } else { &block.logical }
}

/// Returns a block's parameters of a class.
pub(crate) fn params(block: &MachBlock, class: usize) -> &[isa::VReg] {
    if class == SGPR { &block.sgpr_params } else { &block.vgpr_params }
}

/// Returns, for each class, the index of the instruction before which the moves at the beginning of a block
/// are placed.
pub(crate) fn head_places(data: &MachBlock) -> [usize; 2] {
    [0, data.prologue as usize]
}

/// Returns, for each class, the index of the instruction before which the moves at the end of a block are
/// placed.
pub(crate) fn end_places(data: &MachBlock) -> [usize; 2] {
    let (term, count) = (data.term as usize, data.insts.len());
    let end = &data.insts[term..];
    // The instructions that compute the target of a jump into a table begin with `s_getpc_b64`, and no move
    // may be between them. In a block without such a jump, `s_getpc_b64` computes an address and does not
    // matter.
    let jump = data.next_entry().and_then(|_| end.iter().rposition(|inst| inst.op == op::S_GETPC_B64));
    let branch = || end.iter().position(|inst| inst.op.row().flags.contains(Flags::BRANCH));
    [jump.or_else(branch).map_or(count, |place| term + place), term]
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// An instruction.
    Inst,
    /// A `COPY` or `UNDEF`. Its operands are independent dwords, so their registers need not be adjacent.
    Pseudo,
    /// A parallel copy. Its operands are pairs: a destination and its source.
    Move,
    /// The start of the function, which defines the function's inputs. Its operands are definitions, in the
    /// order of `ClassStream::inputs`.
    Entry,
}

/// An instruction or parallel copy that uses registers of the class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// Program point.
    pub pos: u32,
    /// Block.
    pub block: u32,
    /// Index of the instruction in its block. For a parallel copy, the index of the instruction before which
    /// it is placed.
    pub index: u32,
    /// Index of the first operand.
    pub first: u32,
    /// Number of operands.
    pub len: u32,
    /// Kind of the event.
    pub kind: EventKind,
    /// Loop depth of the block.
    pub depth: u8,
}

/// An operand of an instruction or parallel copy. Its registers are a range of `ClassStream::regs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// Index of the first register.
    pub start: u32,
    /// Number of dwords.
    pub len: u8,
    /// Required alignment of the first register.
    pub align: u8,
    /// Whether the operand is read, written, or modified in place.
    pub role: Role,
    /// Operand number in the instruction.
    pub slot: u8,
    /// Whether the operand is still needed when the instruction writes its results. No result may then be in
    /// the operand's registers.
    pub held: bool,
    /// Hardware register number that the first dword must have.
    pub pin: Option<u16>,
}

/// Two virtual registers that should get the same hardware register, because a copy or an edge moves a value
/// from one of them to the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affinity {
    pub a: u32,
    pub b: u32,
    /// Number of the affinity in program order.
    pub number: u32,
    pub depth: u8,
}

/// The view of one class.
#[derive(Default)]
pub(crate) struct ClassStream {
    /// Events in program order.
    pub events: Vec<Event>,
    /// Operands of the events.
    pub ops: Vec<Op>,
    /// The registers of all operands. A number below `phys_base` is a virtual register. `phys_base + n` is
    /// half `n` of VCC.
    pub regs: Vec<u32>,
    /// First event of each block, plus one entry for the end.
    pub block_events: Vec<u32>,
    /// Copies between registers of the class.
    pub affinities: Vec<Affinity>,
    /// Virtual registers that should be assigned to VCC. Of a pair, only the first register is listed.
    pub want_vcc: Vec<u32>,
    /// Pairs of the result and the addend of a `v_fma_f32`. If both are in the same hardware register, the
    /// instruction has a shorter encoding.
    pub addends: Vec<(u32, u32)>,
    /// Hardware registers that instructions name. The allocator assigns no virtual register to them anywhere
    /// in the function.
    pub blocked: Vec<Reg>,
    /// Virtual VGPRs whose lanes are written regardless of `exec`. Each of them has a hardware register that
    /// no other virtual register shares.
    pub whole: Vec<u32>,
    /// Inputs of the function: the virtual register, and the hardware register in which the value arrives.
    pub inputs: Vec<(u32, Reg)>,
    /// Calls: program point and index of the call site.
    pub calls: Vec<(u32, u32)>,
    /// Hardware registers that calls clobber, in program order. Each has the interval of program points in
    /// which the call clobbers it.
    pub lost: Vec<(u16, Interval)>,
}

impl ClassStream {
    fn clear(&mut self) {
        let ClassStream {
            events,
            ops,
            regs,
            block_events,
            affinities,
            want_vcc,
            addends,
            blocked,
            whole,
            inputs,
            calls,
            lost,
        } = self;
        events.clear();
        ops.clear();
        regs.clear();
        block_events.clear();
        affinities.clear();
        want_vcc.clear();
        addends.clear();
        blocked.clear();
        whole.clear();
        inputs.clear();
        calls.clear();
        lost.clear();
    }

    /// Returns whether any operand must be in a specific register.
    pub fn has_pins(&self) -> bool {
        self.ops.iter().any(|op| op.pin.is_some())
    }

    /// Returns the number of hardware registers that the call at `pos` clobbers, counting only registers with
    /// numbers below `limit`.
    pub fn lost_at(&self, pos: u32, limit: u32) -> u32 {
        let first = self.lost.partition_point(|&(_, (from, _))| from < pos + 2);
        let here = self.lost[first..].iter().take_while(|&&(_, (from, _))| from == pos + 2);
        here.filter(|&&(reg, _)| u32::from(reg) < limit).count() as u32
    }

    /// Returns the events of a block.
    pub fn events_of(&self, block: usize) -> std::ops::Range<usize> {
        self.block_events[block] as usize..self.block_events[block + 1] as usize
    }

    /// Returns the operands of an event.
    pub fn ops_of(&self, event: &Event) -> &[Op] {
        &self.ops[event.first as usize..][..event.len as usize]
    }

    /// Returns the registers of an operand.
    pub fn regs_of(&self, op: &Op) -> &[u32] {
        &self.regs[op.start as usize..][..usize::from(op.len)]
    }

    fn push_affinity(&mut self, a: u32, b: u32, depth: u8) {
        let number = self.affinities.len() as u32;
        self.affinities.push(Affinity { a, b, number, depth });
    }

    fn push_op(&mut self, regs: impl IntoIterator<Item = u32>, role: Role, align: u8, slot: u8) {
        let start = self.regs.len() as u32;
        self.regs.extend(regs);
        let len = (self.regs.len() as u32 - start) as u8;
        self.ops.push(Op { start, len, align, role, slot, held: false, pin: None });
    }

    fn close_event(&mut self, mut event: Event, keep: bool) {
        event.len = self.ops.len() as u32 - event.first;
        if event.len > 0 || keep {
            self.events.push(event);
        }
    }
}

/// The views of both classes.
#[derive(Default)]
pub(crate) struct Streams {
    /// By class.
    pub class: [ClassStream; 2],
    /// See [`even_vgprs`].
    pub even_vgprs: bool,
    /// For each block, its first program point and the point after its last one.
    pub block_pos: Vec<(u32, u32)>,
    /// Calling convention, which determines in which registers the operands of a call must be.
    pub convention: Convention,
    /// Number of virtual registers. The numbers `phys_base` and `phys_base + 1` stand for `vcc_lo` and
    /// `vcc_hi`.
    pub phys_base: u32,
    preds: [Vec<u32>; 2],
    head_args: [Vec<ArgRange>; 2],
}

/// Returns the alignment of the first register of a tuple. A pair of SGPRs begins at an even number, and a
/// wider tuple of SGPRs at a multiple of four. A tuple of VGPRs begins at an even number if the processor
/// requires it (`even_vgprs`).
pub(crate) fn tuple_align(class: usize, len: u8, even_vgprs: bool) -> u8 {
    match (class, len) {
        (_, 0 | 1) => 1,
        (SGPR, 2) => 2,
        (SGPR, _) => 4,
        _ => 1 + u8::from(even_vgprs),
    }
}

/// Returns whether tuples of VGPRs must begin at even numbers.
pub(crate) fn even_vgprs(target: &Target) -> bool {
    target.has(Feature::EVEN_VGPRS)
}

impl Streams {
    /// Builds the streams of a function.
    pub fn build(&mut self, func: &MachFunc, target: &Subtarget) -> Result<(), AllocError> {
        self.even_vgprs = even_vgprs(target);
        self.class.iter_mut().for_each(ClassStream::clear);
        self.block_pos.clear();
        self.phys_base = func.vregs.len() as u32;
        for class in [SGPR, VGPR] {
            self.plan_edges(func, class)?;
        }
        if func.has_stack() {
            self.reserve_stack(target);
        }
        for &(vreg, reg) in &func.inputs {
            self.class[class_index(func.vregs[vreg])].inputs.push((vreg.index() as u32, reg));
        }
        let mut pos = 0;
        for block in func.blocks.keys() {
            let start = pos;
            for stream in &mut self.class {
                stream.block_events.push(stream.events.len() as u32);
            }
            pos = self.block(func, target, block, pos);
            self.block_pos.push((start, pos));
        }
        for stream in &mut self.class {
            stream.block_events.push(stream.events.len() as u32);
        }
        Ok(())
    }

    /// Reserves the registers of the scratch descriptor, if there is one, and the stack pointer, with which a
    /// function accesses the stack.
    fn reserve_stack(&mut self, target: &Subtarget) {
        let stack = callconv::column(self.convention).stack;
        let descriptor = callconv::scratch_descriptor(target);
        let descriptor =
            descriptor.iter().flat_map(|range| (0..range.len).map(|n| range.first.offset(n.into())));
        self.class[SGPR].blocked.extend(descriptor.chain([Reg::sgpr(stack.pointer)]));
    }

    /// Records a call: its operands must be in specific hardware registers, and it clobbers other hardware
    /// registers.
    fn call(&mut self, call: &CallSite, (which, is_tail): (u32, bool), (pos, opened): (u32, &[Event; 2])) {
        let hardware = self.phys_base;
        for (stream, event) in self.class.iter_mut().zip(opened) {
            let ClassStream { ops, regs, .. } = stream;
            for op in ops[event.first as usize..].iter_mut().filter(|op| regs[op.start as usize] < hardware) {
                let address = is_tail.then_some(&TAIL_TARGET.first);
                op.pin = call.pins.get(usize::from(op.slot)).or(address).map(|first| first.number());
            }
            stream.calls.push((pos, which));
        }
        // The registers in which a result arrives count as written, and not as clobbered.
        let written = [SGPR, VGPR].map(|class| {
            let ops = &self.class[class].ops[opened[class].first as usize..];
            let result =
                ops.iter().find(|op| op.role == Role::Def).and_then(|op| Some((op.pin?, u16::from(op.len))));
            result.map_or(0..0, |(first, len)| first..first + len)
        });
        let when = (pos + 2, pos + 3);
        for reg in call.clobbers.iter() {
            let class = usize::from(reg.is_vgpr());
            match reg.0 {
                106 | 107 => self.vcc(reg, Role::Def),
                _ if reg.is_agpr()
                    || reg.0 > 107 && class == SGPR
                    || written[class].contains(&reg.number()) => {}
                _ => self.class[class].lost.push((reg.number(), when)),
            }
        }
    }

    /// Decides for each edge whether its copies are placed at the beginning of the target block or at the end
    /// of the source block.
    fn plan_edges(&mut self, func: &MachFunc, class: usize) -> Result<(), AllocError> {
        let (preds, head) = (&mut self.preds[class], &mut self.head_args[class]);
        preds.clear();
        preds.resize(func.blocks.len(), 0);
        head.clear();
        head.resize(func.blocks.len(), ArgRange::default());
        for block in func.blocks.values() {
            for edge in edges(block, class).iter().flatten() {
                preds[edge.to.index()] += 1;
            }
        }
        for (from, block) in func.blocks.iter() {
            let several = edges(block, class).iter().flatten().count() > 1;
            for edge in edges(block, class).iter().flatten() {
                if edge.args.len as usize != params(&func.blocks[edge.to], class).len() {
                    return Err(AllocError::Arguments { from, to: edge.to });
                }
                if edge.args.len == 0 || !several {
                    continue;
                }
                if preds[edge.to.index()] > 1 {
                    return Err(AllocError::CriticalEdge { from, to: edge.to });
                }
                head[edge.to.index()] = edge.args;
            }
        }
        Ok(())
    }

    fn block(&mut self, func: &MachFunc, target: &Subtarget, block: MBlock, start: u32) -> u32 {
        let data = &func.blocks[block];
        let (head, end) = (head_places(data), end_places(data));
        let mut pos = start;
        if block.index() == 0 {
            // The VGPR inputs come before the SGPR inputs, so that they are copied first. A spilled SGPR
            // input is written to a lane of a VGPR, and another input may arrive in this VGPR.
            self.entry(block, VGPR, pos);
            pos += STEP;
            self.entry(block, SGPR, pos);
        }
        self.head(func, block, SGPR, pos, 0);
        for index in 0..=data.insts.len() {
            if index == head[VGPR] {
                pos += STEP;
                self.head(func, block, VGPR, pos, index);
            }
            for class in [VGPR, SGPR] {
                if index == end[class] {
                    pos += STEP;
                    self.end(func, block, class, pos, index);
                }
            }
            if let Some(inst) = data.insts.get(index) {
                pos += STEP;
                self.inst((func, target), (pos, block, index), inst);
            }
        }
        pos + STEP
    }

    fn entry(&mut self, block: MBlock, class: usize, pos: u32) {
        let stream = &mut self.class[class];
        let event = new_event(stream, pos, block, 0, EventKind::Entry, 0);
        for i in 0..stream.inputs.len() {
            let vreg = stream.inputs[i].0;
            stream.push_op([vreg], Role::Def, 1, 0);
        }
        stream.close_event(event, false);
    }

    fn head(&mut self, func: &MachFunc, block: MBlock, class: usize, pos: u32, index: usize) {
        let args = self.head_args[class][block.index()];
        if args.len > 0 {
            self.moves(func, block, class, (block, args), pos, index);
        }
    }

    fn end(&mut self, func: &MachFunc, block: MBlock, class: usize, pos: u32, index: usize) {
        let mut successors = edges(&func.blocks[block], class).iter().flatten();
        if let (Some(edge), None) = (successors.next(), successors.next())
            && edge.args.len > 0
        {
            self.moves(func, block, class, (edge.to, edge.args), pos, index);
        }
    }

    fn moves(
        &mut self,
        func: &MachFunc,
        block: MBlock,
        class: usize,
        (to, args): (MBlock, ArgRange),
        pos: u32,
        index: usize,
    ) {
        let depth = func.blocks[block].depth;
        let stream = &mut self.class[class];
        let event = new_event(stream, pos, block, index, EventKind::Move, depth);
        let args = &func.args[args.start as usize..][..args.len as usize];
        for (param, arg) in params(&func.blocks[to], class).iter().zip(args) {
            let (a, b) = (param.index() as u32, arg.index() as u32);
            stream.push_op([a], Role::Def, 1, 0);
            stream.push_op([b], Role::Use, 1, 0);
            stream.push_affinity(a, b, depth);
        }
        stream.close_event(event, false);
    }

    fn inst(&mut self, (func, target): (&MachFunc, &Subtarget), at: (u32, MBlock, usize), inst: &MachInst) {
        let (pos, block, index) = at;
        let depth = func.blocks[block].depth;
        let row = inst.op.row();
        let pseudo = inst.op == op::COPY || inst.op == op::UNDEF;
        let kind = if pseudo { EventKind::Pseudo } else { EventKind::Inst };
        let opened = [SGPR, VGPR].map(|class| new_event(&self.class[class], pos, block, index, kind, depth));
        let mut names_vccz = false;
        for (i, operand) in inst.operands().iter().enumerate() {
            let spec = row.ops.get(i);
            let role = inst.role(i);
            match *operand {
                Operand::Virt(tuple) => {
                    let regs = func.regs(tuple);
                    let Some(&first) = regs.first() else { continue };
                    let class = class_index(func.vregs[first]);
                    let align = if pseudo { 1 } else { tuple_align(class, tuple.len, self.even_vgprs) };
                    let stream = &mut self.class[class];
                    let ids = regs.iter().map(|reg| reg.index() as u32);
                    if class == VGPR && role != Role::Use && row.flags.contains(Flags::NO_EXEC) {
                        stream.whole.extend(ids.clone());
                    }
                    if spec.is_some_and(|spec| spec.kind == Kind::Mask) && inst.form != Form::Sdwa {
                        stream.want_vcc.push(first.index() as u32);
                    }
                    stream.push_op(ids, role, align, i as u8);
                }
                // VCCZ is read together with all of VCC.
                Operand::Reg(range) if range.first == Reg::VCCZ => names_vccz = true,
                Operand::Reg(range) => self.hardware(target, range, role),
                _ => {}
            }
        }
        // Of the implicit registers, only VCC can be allocated.
        if names_vccz || row.implicit.intersects(Implicit::READ_VCC | Implicit::WRITE_VCC) {
            inst.for_each_implicit(target, |role, range| self.hardware(target, range, role));
        }
        if inst.op == op::COPY {
            self.copy(func, inst, depth);
        } else if inst.op == op::V_FMA_F32
            && let (Operand::Virt(dst), Operand::Virt(addend)) = (inst.ops[0], inst.ops[3])
        {
            let [dst, addend] = [dst, addend].map(|tuple| func.regs(tuple)[0].index() as u32);
            self.class[VGPR].addends.push((dst, addend));
        }
        if let Some(call) = func.call_of(inst) {
            let is_tail = inst.op == op::TAIL_CALL;
            self.call(call, (inst.mods.offset as u32, is_tail), (pos, &opened));
        } else if inst.op == op::RETURN {
            let first = *callconv::column(self.convention).result_vgprs.start();
            self.class[VGPR].ops[opened[VGPR].first as usize..]
                .iter_mut()
                .for_each(|op| op.pin = Some(first));
        }
        if target.holds_sources(inst) {
            for (stream, event) in self.class.iter_mut().zip(&opened) {
                stream.ops[event.first as usize..].iter_mut().for_each(|op| op.held = op.role == Role::Use);
            }
        }
        for (class, event) in opened.into_iter().enumerate() {
            let copies = inst.op == op::COPY && operand_class(func, inst.ops[0]) == Some(class);
            self.class[class].close_event(event, copies);
        }
    }

    /// Records a hardware register that an instruction names.
    fn hardware(&mut self, target: &Target, range: RegRange, role: Role) {
        for reg in (0..u16::from(range.len)).map(|n| range.first.offset(n)) {
            match reg.0 {
                106 | 107 => self.vcc(reg, role),
                _ if target.is_sgpr(reg) => self.class[SGPR].blocked.push(reg),
                256..512 => self.class[VGPR].blocked.push(reg),
                _ => {}
            }
        }
    }

    /// Records an operand that names a half of VCC. The halves have the two numbers after those of the
    /// virtual registers.
    fn vcc(&mut self, half: Reg, role: Role) {
        let id = self.phys_base + u32::from(half.0 - Reg::VCC.0);
        self.class[SGPR].push_op([id], role, 1, 0);
    }

    fn copy(&mut self, func: &MachFunc, inst: &MachInst, depth: u8) {
        let (dst, src) = match (inst.ops[0], inst.ops[1]) {
            (Operand::Virt(dst), Operand::Virt(src)) => (dst, src),
            (Operand::Virt(mask), Operand::Reg(vcc)) | (Operand::Reg(vcc), Operand::Virt(mask))
                if vcc.first == Reg::VCC =>
            {
                self.class[SGPR].want_vcc.push(func.regs(mask)[0].index() as u32);
                return;
            }
            _ => return,
        };
        for (&dst, &src) in func.regs(dst).iter().zip(func.regs(src)) {
            let class = func.vregs[dst];
            if class == func.vregs[src] {
                let (a, b) = (dst.index() as u32, src.index() as u32);
                self.class[class_index(class)].push_affinity(a, b, depth);
            }
        }
    }
}

/// Returns the class of a register operand.
pub(crate) fn operand_class(func: &MachFunc, operand: Operand) -> Option<usize> {
    match operand {
        Operand::Virt(tuple) => func.regs(tuple).first().map(|&reg| class_index(func.vregs[reg])),
        Operand::Reg(range) => Some(if range.first.is_vgpr() { VGPR } else { SGPR }),
        _ => None,
    }
}

fn new_event(
    stream: &ClassStream,
    pos: u32,
    block: MBlock,
    index: usize,
    kind: EventKind,
    depth: u8,
) -> Event {
    let (block, index, first) = (block.index() as u32, index as u32, stream.ops.len() as u32);
    Event { pos, block, index, first, len: 0, kind, depth }
}
