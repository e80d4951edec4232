//! Turns the allocator's decisions into code. All copies are planned before the function is changed, because
//! the plan may fail: a cycle of copies may lack a free register.

use crate::copies::{Breaker, Copies, Source};
use crate::groups::{Fix, Groups};
use crate::pack::{File, Packer};
use crate::spill::Spiller;
use crate::stream::{ClassStream, Event, EventKind, SGPR, Streams, class_index, operand_class};
use crate::track;
use cranelift_entity::EntityRef;
use isa::table::{Implicit, Role};
use isa::{Feature, MBlock, MachInst, Operand, Reg, RegRange, Subtarget, op};
use mir::{MachFunc, Note};

/// An instruction to be inserted before another instruction.
#[derive(Clone, Copy)]
struct Insert {
    pos: u32,
    block: u32,
    index: u32,
    /// Number of the inserted instruction in order of insertion.
    number: u32,
    inst: MachInst,
}

/// An operand that must be in specific hardware registers, beginning with `reg`. The instruction names these
/// registers in place of those that are assigned to the operand's virtual registers.
#[derive(Clone, Copy)]
struct Override {
    block: u32,
    index: u32,
    slot: u8,
    reg: Reg,
}

/// The planned changes of both classes.
#[derive(Default)]
pub(crate) struct Plan {
    inserts: Vec<Insert>,
    overrides: Vec<Override>,
    copies: Copies,
    /// Number of inserted moves.
    pub moves: u32,
    body: Vec<MachInst>,
    track_scratch: track::Scratch,
}

/// A register class whose groups have hardware registers.
pub(crate) struct Packed<'a> {
    pub file: File,
    pub stream: &'a ClassStream,
    pub groups: &'a Groups,
    pub packer: &'a mut Packer,
}

pub(crate) fn hardware(class: usize, number: u16) -> Reg {
    if class == SGPR { Reg(number) } else { Reg::vgpr(number) }
}

impl Packed<'_> {
    /// Returns the hardware register of a virtual register.
    fn reg(&self, register: u32) -> Option<Reg> {
        self.packer.assigned[register as usize].map(|number| hardware(self.file.class, number))
    }
}

impl Plan {
    /// Discards all planned changes.
    pub fn clear(&mut self) {
        self.inserts.clear();
        self.overrides.clear();
        // Discards the copies of an earlier plan. That plan failed because no register was free to break a
        // cycle of copies.
        self.copies.clear();
        self.moves = 0;
    }

    /// Plans the copies of a class. `sgprs` has the assigned hardware registers of SGPRs, for copies from
    /// SGPRs to VGPRs. Returns false if a cycle of copies needs a free register and there is none.
    pub fn class(
        &mut self,
        func: &MachFunc,
        target: &Subtarget,
        packed: &mut Packed,
        sgprs: &[Option<u16>],
        phys_base: u32,
    ) -> bool {
        let mut fixes = packed.groups.fixes.as_slice();
        let stream = packed.stream;
        for (number, event) in stream.events.iter().enumerate() {
            let fixed = fixes.partition_point(|fix| fix.event as usize <= number);
            let (here, rest) = fixes.split_at(fixed);
            fixes = rest;
            match event.kind {
                EventKind::Entry => self.entry(packed, event),
                EventKind::Move => self.edge(packed, event),
                EventKind::Pseudo => self.copy(func, packed, event, sgprs),
                EventKind::Inst => {
                    if !here.is_empty() && !self.fixed(target, packed, event, here, phys_base) {
                        return false;
                    }
                    continue;
                }
            }
            if !self.flush(target, packed, event, (event.pos, 4), event.index, phys_base) {
                return false;
            }
        }
        true
    }

    /// Copies inputs to their assigned registers.
    fn entry(&mut self, packed: &Packed, event: &Event) {
        for (op, &(_, from)) in packed.stream.ops_of(event).iter().zip(&packed.stream.inputs) {
            if let Some(reg) = packed.reg(packed.stream.regs_of(op)[0]) {
                self.copies.push(reg, Source::Reg(from));
            }
        }
    }

    /// Copies arguments to block parameters.
    fn edge(&mut self, packed: &Packed, event: &Event) {
        for pair in packed.stream.ops_of(event).chunks_exact(2) {
            let [dst, src] = [&pair[0], &pair[1]].map(|op| packed.reg(packed.stream.regs_of(op)[0]));
            if let (Some(dst), Some(src)) = (dst, src) {
                self.copies.push(dst, Source::Reg(src));
            }
        }
    }

    /// Adds a `COPY` to registers of this class.
    fn copy(&mut self, func: &MachFunc, packed: &Packed, event: &Event, sgprs: &[Option<u16>]) {
        let inst = &func.blocks[MBlock::new(event.block as usize)].insts[event.index as usize];
        if inst.op != op::COPY || operand_class(func, inst.ops[0]) != Some(packed.file.class) {
            return;
        }
        let reg_of = |operand: Operand, i: u8| match operand {
            Operand::Reg(range) => Some(range.first.offset(u16::from(i))),
            Operand::Virt(tuple) => {
                let vreg = func.regs(tuple)[usize::from(i)];
                if class_index(func.vregs[vreg]) == packed.file.class {
                    packed.reg(vreg.index() as u32)
                } else {
                    sgprs.get(vreg.index()).copied().flatten().map(Reg)
                }
            }
            _ => None,
        };
        let len = match inst.ops[0] {
            Operand::Reg(range) => range.len,
            Operand::Virt(tuple) => tuple.len,
            _ => 0,
        };
        for i in 0..len {
            let source = match inst.ops[1] {
                constant if constant.is_const() => Some(Source::Const(constant_part(constant, i, len))),
                operand => reg_of(operand, i).map(Source::Reg),
            };
            if let (Some(dst), Some(source)) = (reg_of(inst.ops[0], i), source) {
                self.copies.push(dst, source);
            }
        }
    }

    /// Adds copies before or after an instruction. Its operands need them if they got new registers (see
    /// `groups::Fix`).
    fn fixed(
        &mut self,
        target: &Subtarget,
        packed: &mut Packed,
        event: &Event,
        fixes: &[Fix],
        phys_base: u32,
    ) -> bool {
        let stream = packed.stream;
        for after in [false, true] {
            for fix in fixes {
                let op = &stream.ops[fix.op as usize];
                if op.role == if after { Role::Use } else { Role::Def } {
                    continue;
                }
                let old = &stream.regs[fix.old as usize..][..usize::from(op.len)];
                for (&own, &old) in stream.regs_of(op).iter().zip(old) {
                    if let (Some(own), Some(old)) = (packed.reg(own), packed.reg(old)) {
                        let (dst, src) = if after { (old, own) } else { (own, old) };
                        self.copies.push(dst, Source::Reg(src));
                    }
                }
            }
            let at = u32::from(after);
            // The program points of the copies end before the call. A register that the call clobbers then
            // counts as free, and can break a cycle of copies.
            let points = (event.pos + 3 * at, 2 + 2 * at);
            if !self.flush(target, packed, event, points, event.index + at, phys_base) {
                return false;
            }
        }
        for fix in fixes {
            let op = &stream.ops[fix.op as usize];
            if let Some(reg) = packed.reg(stream.regs_of(op)[0]) {
                let (block, index) = (event.block, event.index);
                self.overrides.push(Override { block, index, slot: op.slot, reg });
            }
        }
        true
    }

    /// Turns the collected copies, which are one parallel copy, into a sequence of moves, and adds the moves
    /// to the plan. The copy occupies `points` program points from `pos` on.
    fn flush(
        &mut self,
        target: &Subtarget,
        packed: &mut Packed,
        event: &Event,
        (pos, points): (u32, u32),
        index: u32,
        phys_base: u32,
    ) -> bool {
        if self.copies.is_empty() {
            return true;
        }
        let class = packed.file.class;
        let breaker = if !self.copies.has_cycle() {
            Breaker::None
        } else if class != SGPR && target.has(Feature::SWAP) {
            Breaker::Swap
        } else {
            let (stream, groups) = (packed.stream, packed.groups);
            let free = packed.packer.free_at(packed.file, stream, groups, phys_base, (pos, pos + points));
            let Some(number) = free else { return false };
            if class != SGPR || number < Reg::VCC.0 {
                packed.packer.peak = packed.packer.peak.max(u32::from(number) + 1);
            }
            Breaker::Temp(hardware(class, number))
        };
        let (inserts, moves) = (&mut self.inserts, &mut self.moves);
        self.copies.resolve(class, breaker, &mut |inst| {
            *moves += 1;
            inserts.push(Insert { pos, block: event.block, index, number: inserts.len() as u32, inst });
        });
        true
    }

    /// Gives the moves that replace a `COPY` the location of the `COPY` (`loc`). This is its source location,
    /// or with debug information the number of its point.
    #[cold]
    fn name_copies(&mut self, func: &MachFunc) {
        for insert in &mut self.inserts {
            let block = &func.blocks[MBlock::new(insert.block as usize)];
            if let Some(copy) = block.insts.get(insert.index as usize).filter(|inst| inst.op == op::COPY) {
                insert.inst.loc = copy.loc;
            }
        }
    }

    /// Rewrites the function.
    pub fn commit(
        &mut self,
        func: &mut MachFunc,
        assigned: [&[Option<u16>]; 2],
        streams: &Streams,
        keep_dropped: bool,
        spiller: &Spiller,
    ) {
        self.inserts.sort_unstable_by_key(|insert| (insert.block, insert.index, insert.pos, insert.number));
        self.overrides.sort_unstable_by_key(|fix| (fix.block, fix.index, fix.slot));
        let note = if self.inserts.is_empty() { isa::NoteId::NONE } else { func.note(Note::Alloc("copy")) };
        for insert in &mut self.inserts {
            insert.inst.note = note;
        }
        if let Some(mut track) = func.track.take() {
            track::fill(func, assigned, spiller, (&mut track, &mut self.track_scratch));
            func.track = Some(track);
            self.name_copies(func);
        }
        let MachFunc { blocks, vregs, tuples, uses_vcc, .. } = func;
        let (mut inserts, mut overrides) = (self.inserts.as_slice(), self.overrides.as_slice());
        for (block, data) in blocks.iter_mut() {
            let number = block.index() as u32;
            let mut pseudos = false;
            for (index, inst) in data.insts.iter_mut().enumerate() {
                pseudos |= inst.op == op::COPY || inst.op == op::UNDEF;
                for operand in inst.operands_mut() {
                    if let Operand::Virt(tuple) = *operand {
                        let regs = &tuples[tuple.start as usize..][..usize::from(tuple.len)];
                        *operand = tuple_registers(regs, vregs, assigned, streams);
                    }
                }
                while let Some((fix, rest)) = overrides.split_first() {
                    if (fix.block, fix.index) != (number, index as u32) {
                        break;
                    }
                    if let Operand::Reg(range) = &mut inst.ops[usize::from(fix.slot)] {
                        range.first = fix.reg;
                    }
                    overrides = rest;
                }
            }
            let here = inserts.partition_point(|insert| insert.block <= number);
            let (these, rest) = inserts.split_at(here);
            inserts = rest;
            if pseudos || !these.is_empty() {
                splice(data, these, keep_dropped, &mut self.body);
            }
            *uses_vcc |= data.insts.iter().any(mentions_vcc);
        }
    }
}

/// Returns a placeholder for an instruction whose results are all rematerialised where they are needed. The
/// checker needs it to follow the original code.
pub(crate) fn dropped() -> MachInst {
    MachInst::new(op::UNDEF, &[])
}

/// Returns whether an instruction is such a placeholder.
pub(crate) fn is_dropped(inst: &MachInst) -> bool {
    inst.op == op::UNDEF && inst.len == 0
}

/// Removes the placeholders.
pub(crate) fn remove_dropped(func: &mut MachFunc) {
    for data in func.blocks.values_mut() {
        for bound in [&mut data.prologue, &mut data.term] {
            let before = data.insts[..*bound as usize].iter();
            *bound -= before.filter(|inst| is_dropped(inst)).count() as u32;
        }
        data.insts.retain(|inst| !is_dropped(inst));
    }
}

/// Returns the hardware registers of a tuple.
fn tuple_registers(
    regs: &[isa::VReg],
    vregs: &cranelift_entity::PrimaryMap<isa::VReg, isa::RegClass>,
    assigned: [&[Option<u16>]; 2],
    streams: &Streams,
) -> Operand {
    let Some(&first) = regs.first() else { return Operand::None };
    debug_assert!((first.index() as u32) < streams.phys_base);
    let class = class_index(vregs[first]);
    // A virtual register in an unreachable block, or of a pseudo-instruction whose result is not used, has no
    // hardware register. It does not matter which register the operand then names.
    let number = assigned[class][first.index()].unwrap_or(0);
    Operand::regs(hardware(class, number), regs.len() as u8)
}

/// Rebuilds the instruction list of a block: inserts the planned copies and removes pseudo-instructions.
fn splice(data: &mut mir::MachBlock, inserts: &[Insert], keep_dropped: bool, body: &mut Vec<MachInst>) {
    body.clear();
    let (mut prologue, mut term) = (data.prologue, data.term);
    let mut rest = inserts;
    for index in 0..=data.insts.len() as u32 {
        if index == data.prologue {
            prologue = body.len() as u32;
        }
        let here = rest.partition_point(|insert| insert.index <= index);
        body.extend(rest[..here].iter().map(|insert| insert.inst));
        rest = &rest[here..];
        if index == data.term {
            term = body.len() as u32;
        }
        if let Some(inst) = data.insts.get(index as usize)
            && ((inst.op != op::COPY && inst.op != op::UNDEF) || (keep_dropped && is_dropped(inst)))
        {
            body.push(*inst);
        }
    }
    data.insts.clear();
    data.insts.extend_from_slice(body);
    (data.prologue, data.term) = (prologue, term);
}

fn mentions_vcc(inst: &MachInst) -> bool {
    let vcc = RegRange { first: Reg::VCC, len: 2 };
    let in_vcc = |operand: &Operand| matches!(operand, Operand::Reg(range) if range.overlaps(vcc));
    inst.operands().iter().any(in_vcc) || inst.implicit().intersects(Implicit::READ_VCC | Implicit::WRITE_VCC)
}

/// Returns dword `i` of a constant that is written to `len` dwords. Two dwords hold a 64-bit number: an
/// integer constant is sign-extended, and an inline float is a double.
pub(crate) fn constant_part(constant: Operand, i: u8, len: u8) -> Operand {
    if len < 2 {
        return constant;
    }
    let high: u32 = match constant {
        Operand::Inline(code @ 193..=208) => {
            return Operand::int(if i == 0 { 192 - i32::from(code) } else { -1 });
        }
        Operand::Inline(code) => match code {
            240 => 0x3fe0_0000,
            241 => 0xbfe0_0000,
            242 => 0x3ff0_0000,
            243 => 0xbff0_0000,
            244 => 0x4000_0000,
            245 => 0xc000_0000,
            246 => 0x4010_0000,
            247 => 0xc010_0000,
            248 => return Operand::Literal(if i == 0 { 0x6dc9_c882 } else { 0x3fc4_5f30 }),
            _ => return if i == 0 { constant } else { Operand::int(0) },
        },
        Operand::Literal(bits) => return if i == 0 { constant } else { Operand::int((bits as i32) >> 31) },
        other => return other,
    };
    if i == 0 { Operand::int(0) } else { Operand::int(high as i32) }
}
