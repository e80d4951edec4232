//! What the allocator sees of a function: for each register class, the instructions that touch it and nothing else.
//!
//! Both streams share one numbering of program points. An instruction occupies four: `p` copies before it, `p + 1` its
//! reads, `p + 2` its writes, `p + 3` copies after it. Block-head and block-end moves have places of their own
//! (see `isa::func` for where they go), and appear as parallel copies.

use crate::AllocError;
use crate::live::Interval;
use callconv::Convention;
use cranelift_entity::EntityRef;
use isa::table::{Flags, Implicit, Kind, Role};
use isa::{
    ArgRange, CallSite, Edges, Feature, Form, MBlock, MachBlock, MachFunc, MachInst, Operand, Reg, RegClass,
    RegRange, Subtarget, TAIL_TARGET, Target, op,
};

/// The two classes, as indices.
pub(crate) const SGPR: usize = 0;
/// See [`SGPR`].
pub(crate) const VGPR: usize = 1;

/// Points per instruction.
pub(crate) const STEP: u32 = 4;

/// Index of a class.
pub(crate) fn class_index(class: RegClass) -> usize {
    match class {
        RegClass::Sgpr => SGPR,
        RegClass::Vgpr => VGPR,
    }
}

/// The graph on which a class lives.
pub(crate) fn edges(block: &MachBlock, class: usize) -> &Edges {
    if class == SGPR { &block.linear } else { &block.logical }
}

/// The parameters of a class.
pub(crate) fn params(block: &MachBlock, class: usize) -> &[isa::VReg] {
    if class == SGPR { &block.sgpr_params } else { &block.vgpr_params }
}

/// Before which instruction the moves of each class go that land at a block's head.
pub(crate) fn head_places(data: &MachBlock) -> [usize; 2] {
    [0, data.prologue as usize]
}

/// Before which instruction the moves of each class go that land at a block's end.
pub(crate) fn end_places(data: &MachBlock) -> [usize; 2] {
    let (term, count) = (data.term as usize, data.insts.len());
    let end = &data.insts[term..];
    // Where a jump into a table goes is computed in one go. Other reads of the program counter are addresses.
    let jump = data.next_entry().and_then(|_| end.iter().rposition(|inst| inst.op == op::S_GETPC_B64));
    let branch = || end.iter().position(|inst| inst.op.row().flags.contains(Flags::BRANCH));
    [jump.or_else(branch).map_or(count, |place| term + place), term]
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// An instruction.
    Inst,
    /// A `COPY` or `UNDEF`: no register groups.
    Pseudo,
    /// A parallel copy: operands are pairs of a definition and a use.
    Move,
    /// The function's inputs: operands are definitions, in the order of `ClassStream::inputs`.
    Entry,
}

/// Something that touches registers of the class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// Program point.
    pub pos: u32,
    /// Block.
    pub block: u32,
    /// Instruction, or the one before which a parallel copy goes.
    pub index: u32,
    /// First operand.
    pub first: u32,
    /// Operands.
    pub len: u32,
    /// What it is.
    pub kind: EventKind,
    /// Loop depth.
    pub depth: u8,
}

/// An operand: a slice of `ClassStream::regs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// First register.
    pub start: u32,
    /// Dwords.
    pub len: u8,
    /// Alignment of the first register.
    pub align: u8,
    /// Read, written, or modified in place.
    pub role: Role,
    /// Which operand of the instruction.
    pub slot: u8,
    /// Read, and still wanted when results are there: no result may take its place.
    pub held: bool,
    /// Number of the register in its file that the first dword must be in.
    pub pin: Option<u16>,
}

/// Two registers that had better be one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affinity {
    pub a: u32,
    pub b: u32,
    /// Which it is, in program order.
    pub number: u32,
    pub depth: u8,
}

/// One class's view.
#[derive(Default)]
pub(crate) struct ClassStream {
    /// Events in program order.
    pub events: Vec<Event>,
    /// Operands of the events.
    pub ops: Vec<Op>,
    /// Registers of the operands: virtual register numbers, or `phys_base + n` for the two halves of VCC.
    pub regs: Vec<u32>,
    /// First event of each block, and one more at the end.
    pub block_events: Vec<u32>,
    /// Copies.
    pub affinities: Vec<Affinity>,
    /// Registers that would like to be VCC: first of a pair.
    pub want_vcc: Vec<u32>,
    /// Results of `v_fma_f32` with their addends: in one register, they make a shorter instruction.
    pub addends: Vec<(u32, u32)>,
    /// Registers used by number: not available anywhere.
    pub blocked: Vec<Reg>,
    /// Written whatever `exec` says: never shared with another register.
    pub whole: Vec<u32>,
    /// Inputs: register and where it starts.
    pub inputs: Vec<(u32, Reg)>,
    /// Calls: program point and which.
    pub calls: Vec<(u32, u32)>,
    /// Registers that a call destroys, by number in the file, and when, in program order.
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

    /// Whether an operand has a place of its own somewhere.
    pub fn has_pins(&self) -> bool {
        self.ops.iter().any(|op| op.pin.is_some())
    }

    /// How many of the first `limit` registers a call destroys.
    pub fn lost_at(&self, pos: u32, limit: u32) -> u32 {
        let first = self.lost.partition_point(|&(_, (from, _))| from < pos + 2);
        let here = self.lost[first..].iter().take_while(|&&(_, (from, _))| from == pos + 2);
        here.filter(|&&(reg, _)| u32::from(reg) < limit).count() as u32
    }

    /// The events of a block.
    pub fn events_of(&self, block: usize) -> std::ops::Range<usize> {
        self.block_events[block] as usize..self.block_events[block + 1] as usize
    }

    /// The operands of an event.
    pub fn ops_of(&self, event: &Event) -> &[Op] {
        &self.ops[event.first as usize..][..event.len as usize]
    }

    /// The registers of an operand.
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

/// Both views of a function.
#[derive(Default)]
pub(crate) struct Streams {
    /// By class.
    pub class: [ClassStream; 2],
    /// See [`even_vgprs`].
    pub even_vgprs: bool,
    /// First and last-but-one point of each block.
    pub block_pos: Vec<(u32, u32)>,
    /// Where calls have their operands.
    pub convention: Convention,
    /// Number of virtual registers; the two above stand for `vcc_lo` and `vcc_hi`.
    pub phys_base: u32,
    preds: [Vec<u32>; 2],
    head_args: [Vec<ArgRange>; 2],
}

/// Alignment of a group of registers: pairs of SGPRs even, wider ones by four; those of VGPRs even if the processor wants it.
pub(crate) fn tuple_align(class: usize, len: u8, even_vgprs: bool) -> u8 {
    match (class, len) {
        (_, 0 | 1) => 1,
        (SGPR, 2) => 2,
        (SGPR, _) => 4,
        _ => 1 + u8::from(even_vgprs),
    }
}

/// Whether groups of VGPRs begin at even numbers (gfx90a).
pub(crate) fn even_vgprs(target: &Target) -> bool {
    target.has(Feature::GFX90A)
}

impl Streams {
    /// Reads a function.
    pub fn build(&mut self, func: &MachFunc, target: &Subtarget) -> Result<(), AllocError> {
        self.even_vgprs = even_vgprs(target);
        self.class.iter_mut().for_each(ClassStream::clear);
        self.block_pos.clear();
        self.phys_base = func.vregs.len() as u32;
        for class in [SGPR, VGPR] {
            self.plan_edges(func, class)?;
        }
        if func.has_stack() {
            self.reserve_stack();
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

    /// What a function with a stack has it by belongs to nobody.
    fn reserve_stack(&mut self) {
        let stack = callconv::column(self.convention).stack;
        let numbers = callconv::SCRATCH_BUFFER.chain([stack.pointer]);
        self.class[SGPR].blocked.extend(numbers.map(Reg::sgpr));
    }

    /// A call takes operands at places of their own, and destroys registers.
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
        // What a result comes in is not lost, but written.
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

    /// Finds out where the copies of each edge go.
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
            // VGPRs first, before anything can write a lane of the registers that inputs arrive in.
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
                // Read with all of VCC.
                Operand::Reg(range) if range.first == Reg::VCCZ => names_vccz = true,
                Operand::Reg(range) => self.hardware(target, range, role),
                _ => {}
            }
        }
        // Of the registers beside the operands, VCC is the one that is allocated.
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

    /// A register named by number.
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

    /// A half of VCC named, which has a number behind those of virtual registers.
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

/// The class of a register operand.
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
