//! Emission of instructions, and copies of operands that several instructions share.
//!
//! Where an instruction encoding does not allow an operand (see `operands.rs`), emission copies the operand
//! into an allowed register. Copies of the same source are shared within a block and placed before the first
//! user. Selection runs from the end of a block to its beginning, so that the place of a copy is known only
//! later: [`Lower::flush`] updates it, and [`Lower::finish_block`] inserts the copies.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::{Resolution, Role, Selected};
use ir::{Block, Value};
use isa::{Form, MachInst, Operand, RegClass, Tuple, VReg, op};
use rustc_hash::FxHashMap;

/// Identifies a copy of a value in other registers. Instructions that need a copy with the same key share one
/// copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A copy in VGPRs of the value in consecutive SGPRs, given by the first SGPR and their number.
    Moved(VReg, u8),
    Vgpr(u32),
    Sgpr(u32),
    Vgpr64(u64),
    Sgpr64(u64),
    /// A VGPR plus a constant.
    Plus(VReg, u32),
    /// A VGPR with the value zero, which is the upper half of a 64-bit register pair. This register is the
    /// lower half of the pair.
    Beside(VReg),
}

/// Registers of the copies that are placed before a loop, where they are made only once. The key consists of
/// the loop's preheader and what the copy holds.
type Hoisted = FxHashMap<(Block, Key), Tuple>;

/// Largest numbers of SGPRs and of VGPRs that hold copies of constants and loop-invariant values during a
/// whole loop, or during nested loops.
const HOISTED_MAX: [u32; 2] = [24, 8];

#[derive(Clone, Copy, Debug)]
struct SharedCopy {
    key: Key,
    dst: Tuple,
    src: Tuple,
    /// Where the copy is placed, counted from the end of the block: `below` instructions come after it.
    below: u32,
}

/// The shared copies of the current block.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    list: Vec<SharedCopy>,
    index: FxHashMap<Key, u32>,
    /// Indices of the shared copies that were used since the last call of [`Lower::flush`]. These copies must
    /// come before the instructions that `flush` then adds to the block.
    touched: Vec<u32>,
    /// SGPRs that the instructions since the last flush define.
    local: Vec<VReg>,
    hoisted: Hoisted,
    /// Copies for the end of a preheader, each with the preheader. Inner loops have requested them, and
    /// selection reaches the preheader only later.
    outside: Vec<(Block, SharedCopy)>,
    /// Numbers of SGPRs and VGPRs that the hoisted copies occupy.
    hoisted_count: [u32; 2],
    /// Block that defines the value held in a register.
    pub owners: FxHashMap<VReg, Block>,
}

impl Copies {
    /// Resets the copies for another function.
    pub fn reset(&mut self) {
        self.hoisted.clear();
        self.outside.clear();
        self.hoisted_count = [0; 2];
        self.owners.clear();
    }

    /// Starts another block.
    pub fn begin(&mut self) {
        self.list.clear();
        self.index.clear();
        self.touched.clear();
    }
}

impl Lower<'_> {
    /// Creates `len` registers of a class and returns them as one operand.
    pub fn temp(&mut self, class: RegClass, len: u8) -> Operand {
        let start = self.out.tuples.len() as u32;
        for _ in 0..len {
            let reg = self.out.new_vreg(class);
            self.out.tuples.push(reg);
        }
        Operand::Virt(Tuple { start, len })
    }

    /// Creates an SGPR operand.
    pub fn stemp(&mut self, len: u8) -> Operand {
        let operand = self.temp(RegClass::Sgpr, len);
        if let Operand::Virt(tuple) = operand {
            self.s.copies.local.extend_from_slice(self.out.regs(tuple));
        }
        operand
    }

    /// Creates a VGPR operand.
    pub fn vtemp(&mut self, len: u8) -> Operand {
        self.temp(RegClass::Vgpr, len)
    }

    /// Returns the register class of an operand, or `None` if the operand is not a register.
    pub fn class(&self, operand: Operand) -> Option<RegClass> {
        match operand {
            Operand::Virt(tuple) => Some(self.out.vregs[self.out.regs(tuple)[0]]),
            Operand::Reg(range) if range.first.is_vgpr() => Some(RegClass::Vgpr),
            Operand::Reg(_) => Some(RegClass::Sgpr),
            _ => None,
        }
    }

    /// Returns whether an operand is a scalar register.
    pub fn is_sgpr(&self, operand: Operand) -> bool {
        self.class(operand) == Some(RegClass::Sgpr)
    }

    /// Returns whether an operand is a vector register.
    pub fn is_vgpr(&self, operand: Operand) -> bool {
        self.class(operand) == Some(RegClass::Vgpr)
    }

    /// Returns dword `n` of an operand.
    pub fn dword(&self, operand: Operand, n: u8) -> Operand {
        operand.dword(n)
    }

    /// Returns the `len` dwords of a register operand that start at dword `n`.
    pub fn dwords(&self, operand: Operand, n: u8, len: u8) -> Operand {
        match operand {
            Operand::Virt(tuple) => Operand::Virt(Tuple { start: tuple.start + u32::from(n), len }),
            other => other,
        }
    }

    /// Returns the virtual registers of an operand.
    pub fn regs(&self, operand: Operand) -> &[VReg] {
        match operand {
            Operand::Virt(tuple) => self.out.regs(tuple),
            _ => &[],
        }
    }

    /// Concatenates register operands into one operand.
    pub fn concat(&mut self, parts: &[Operand]) -> Operand {
        let start = self.out.tuples.len();
        for &part in parts {
            if let Operand::Virt(tuple) = part {
                let range = tuple.start as usize..tuple.start as usize + usize::from(tuple.len);
                self.out.tuples.extend_from_within(range);
            }
        }
        Operand::Virt(Tuple { start: start as u32, len: (self.out.tuples.len() - start) as u8 })
    }

    /// Appends an instruction unchanged.
    pub fn push(&mut self, mut inst: MachInst) {
        inst.loc = self.loc;
        self.s.seq.push(inst);
    }

    /// Appends the instruction or expansion that implements a role. Operands that the instruction does not
    /// allow are copied to registers first.
    pub fn emit(&mut self, role: impl Selected, operands: &[Operand]) {
        match role.resolve(&self.s.roles) {
            Resolution::Opcode(op) => self.emit_inst(MachInst::new(op, operands)),
            Resolution::Expansion(expansion) => self.expand(expansion, operands),
            Resolution::Refused(reason) => self.refuse(role.words(), reason),
        }
    }

    /// Appends the instruction that implements a role. The caller guarantees that the operands are legal.
    pub fn emit_raw(&mut self, role: impl Selected, operands: &[Operand]) {
        match role.resolve(&self.s.roles) {
            Resolution::Opcode(op) => self.push(MachInst::new(op, operands)),
            _ => self.emit(role, operands),
        }
    }

    /// Returns the instruction that implements a role, so that the caller can add modifiers or attributes.
    /// Reports an error if an expansion implements the role, because an expansion cannot have modifiers.
    pub fn instruction(&mut self, role: impl Selected, operands: &[Operand]) -> MachInst {
        let op = match role.resolve(&self.s.roles) {
            Resolution::Opcode(op) => op,
            Resolution::Refused(reason) => {
                self.refuse(role.words(), reason);
                op::UNDEF
            }
            Resolution::Expansion(_) => {
                self.refuse(
                    role.words(),
                    "it takes an instruction with modifiers or attributes: not filled in yet",
                );
                op::UNDEF
            }
        };
        MachInst::new(op, operands)
    }

    #[cold]
    pub fn refuse(&mut self, role: &str, reason: &str) {
        self.unsupported(&format!("`{role}` ({reason})"));
    }

    /// Appends an instruction, which may have modifiers. Operands that the instruction does not allow are
    /// copied to registers first.
    pub fn emit_inst(&mut self, mut inst: MachInst) {
        let row = inst.op.row();
        if row.is_valu() {
            self.legalize_valu(&mut inst);
        } else if row.is_salu() {
            self.legalize_salu(&mut inst);
        }
        self.push(inst);
    }

    /// Appends the pseudo-instruction `dst = src`. A copy from a VGPR to an SGPR is not allowed; all other
    /// combinations of register classes are.
    pub fn copy(&mut self, dst: Operand, src: Operand) {
        self.push(MachInst::new(op::COPY, &[dst, src]));
    }

    /// Returns the operand in VGPRs: the operand itself, or a copy of it.
    pub fn in_vgpr(&mut self, operand: Operand, width: u8) -> Operand {
        match operand {
            Operand::Inline(_) if width == 2 => {
                // An inline constant with two dwords is always an integer here, because `source` has already
                // handled floating-point constants.
                let bits = operand.const_u32().unwrap_or(0) as i32;
                self.vgpr_const64(i64::from(bits) as u64)
            }
            Operand::Inline(_) | Operand::Literal(_) => {
                let bits = operand.const_u32().unwrap_or(0);
                self.vgpr_const(bits)
            }
            Operand::Virt(tuple) if self.is_sgpr(operand) => {
                let first = self.out.regs(tuple)[0];
                // A shared copy is placed before the instructions that are being emitted for the current IR
                // instruction. So if one of these instructions defines the register, a shared copy cannot
                // read it, and the copy is made here.
                if self.s.copies.local.contains(&first) {
                    return self.copy_here(operand, tuple.len);
                }
                self.shared(Key::Moved(first, tuple.len), RegClass::Vgpr, tuple)
            }
            Operand::Reg(range) if self.is_sgpr(operand) => self.copy_here(operand, range.len),
            other => other,
        }
    }

    fn copy_here(&mut self, from: Operand, len: u8) -> Operand {
        let dst = self.vtemp(len);
        for n in 0..len {
            let (to, part) = (self.dword(dst, n), self.dword(from, n));
            self.copy(to, part);
        }
        dst
    }

    /// Returns a VGPR that holds a constant.
    pub fn vgpr_const(&mut self, bits: u32) -> Operand {
        self.shared(Key::Vgpr(bits), RegClass::Vgpr, Tuple { start: 0, len: 1 })
    }

    /// Returns a VGPR plus a constant.
    pub fn vgpr_plus(&mut self, base: Operand, bits: u32) -> Operand {
        let Operand::Virt(src) = base else { return base };
        if self.s.roles.opcode(Role::VAddU32).is_none() {
            let dst = self.vtemp(1);
            self.emit(Role::VAddU32, &[dst, Operand::int(bits as i32), base]);
            return dst;
        }
        let first = self.out.regs(src)[0];
        self.shared(Key::Plus(first, bits), RegClass::Vgpr, src)
    }

    /// Returns a VGPR that holds 0 and forms the upper half of a pair with `low`. Other pairs do not share
    /// this VGPR.
    pub fn zero_beside(&mut self, low: Operand) -> Operand {
        let Some(&reg) = self.regs(low).first() else { return self.vgpr_const(0) };
        self.shared(Key::Beside(reg), RegClass::Vgpr, Tuple { start: 0, len: 1 })
    }

    /// Returns an SGPR that holds a constant.
    pub fn sgpr_const(&mut self, bits: u32) -> Operand {
        self.shared(Key::Sgpr(bits), RegClass::Sgpr, Tuple { start: 0, len: 1 })
    }

    /// Returns VGPRs that hold a 64-bit constant.
    pub fn vgpr_const64(&mut self, bits: u64) -> Operand {
        self.shared(Key::Vgpr64(bits), RegClass::Vgpr, Tuple { start: 0, len: 2 })
    }

    /// Returns SGPRs that hold a 64-bit constant.
    pub fn sgpr_const64(&mut self, bits: u64) -> Operand {
        self.shared(Key::Sgpr64(bits), RegClass::Sgpr, Tuple { start: 0, len: 2 })
    }

    /// Returns the preheader of the outermost loop around the current block in which the source of the copy
    /// does not change. The copy can be placed there. Returns `None` if there is no such loop.
    fn outside_loops(&self, key: Key) -> Option<Block> {
        let loops = &self.an.loops;
        let mut place = None;
        let mut around = loops.innermost(self.block);
        while let Some(l) = around {
            if let Key::Moved(reg, _) | Key::Plus(reg, _) | Key::Beside(reg) = key {
                let owner = *self.s.copies.owners.get(&reg)?;
                if loops.contains(l, owner) {
                    break;
                }
            }
            place = loops.preheader(l).or(place);
            around = loops.parent(l);
        }
        place
    }

    /// Returns a copy of `src` that is placed in the preheader of a loop, so that it is not repeated in each
    /// iteration. Returns `None` if the source changes in the loop, or if [`HOISTED_MAX`] registers hold such
    /// copies already.
    fn shared_outside(&mut self, key: Key, class: RegClass, src: Tuple) -> Option<Operand> {
        let place = self.outside_loops(key)?;
        if let Some(&dst) = self.s.copies.hoisted.get(&(place, key)) {
            return Some(Operand::Virt(dst));
        }
        let kind = usize::from(class == RegClass::Vgpr);
        if self.s.copies.hoisted_count[kind] >= HOISTED_MAX[kind] {
            return None;
        }
        let Operand::Virt(dst) = self.temp(class, src.len) else { return None };
        let copies = &mut self.s.copies;
        copies.hoisted_count[kind] += u32::from(src.len);
        copies.hoisted.insert((place, key), dst);
        copies.outside.push((place, SharedCopy { key, dst, src, below: 0 }));
        Some(Operand::Virt(dst))
    }

    /// Adds to the current block the copies that were requested for its end. The current block is the
    /// preheader of a loop, and instructions in the loop have requested the copies.
    pub fn outside_copies(&mut self) {
        let block = self.block;
        let below = self.s.rev.len() as u32;
        let copies = &mut self.s.copies;
        let list = &mut copies.list;
        copies.outside.retain(|&(place, copy)| {
            if place == block {
                list.push(SharedCopy { below, ..copy });
            }
            place != block
        });
    }

    fn shared(&mut self, key: Key, class: RegClass, src: Tuple) -> Operand {
        if self.hoist
            && let Some(outside) = self.shared_outside(key, class, src)
        {
            return outside;
        }
        let index = match self.s.copies.index.get(&key) {
            Some(&index) => index,
            None => {
                let Operand::Virt(dst) = self.temp(class, src.len) else { return Operand::None };
                let index = self.s.copies.list.len() as u32;
                self.s.copies.list.push(SharedCopy { key, dst, src, below: 0 });
                self.s.copies.index.insert(key, index);
                index
            }
        };
        self.s.copies.touched.push(index);
        Operand::Virt(self.s.copies.list[index as usize].dst)
    }

    /// Moves the pending instructions to the list of the block, which is in reverse order. The shared copies
    /// that these instructions use must come before them in the block, so their places move, too.
    pub fn flush(&mut self) {
        let s = &mut *self.s;
        s.rev.extend(s.seq.drain(..).rev());
        s.copies.local.clear();
        for index in s.copies.touched.drain(..) {
            s.copies.list[index as usize].below = s.rev.len() as u32;
        }
    }

    /// Appends the block's instructions to `insts` in program order, with the shared copies inserted. The
    /// last `group` instructions form the terminator group. Returns the index at which that group starts.
    pub fn assemble(&mut self, insts: &mut Vec<MachInst>, group: u32) -> u32 {
        let mut copies = std::mem::take(&mut self.s.copies.list);
        // The check avoids the memory that a sort allocates.
        if !copies.is_sorted_by_key(|copy| std::cmp::Reverse(copy.below)) {
            copies.sort_by_key(|copy| std::cmp::Reverse(copy.below));
        }
        let mut pending = copies.iter().peekable();
        let count = self.s.rev.len() as u32;
        insts.reserve(self.s.rev.len() + copies.len());
        let mut term = insts.len() as u32;
        for at in (0..count).rev() {
            while let Some(copy) = pending.next_if(|copy| copy.below > at) {
                self.expand_copy(copy, insts);
            }
            if at + 1 == group {
                term = insts.len() as u32;
            }
            insts.push(self.s.rev[at as usize]);
        }
        for copy in pending {
            self.expand_copy(copy, insts);
        }
        if group == 0 {
            term = insts.len() as u32;
        }
        self.s.copies.list = copies;
        term
    }

    fn expand_copy(&self, copy: &SharedCopy, insts: &mut Vec<MachInst>) {
        if let Key::Plus(_, bits) = copy.key {
            let (dst, src) = (Operand::Virt(copy.dst), Operand::Virt(copy.src));
            if let Some(add) = self.s.roles.opcode(Role::VAddU32) {
                let mut add = MachInst::new(add, &[dst, Operand::int(bits as i32), src]);
                add.form = Form::E32;
                insts.push(add);
            }
            return;
        }
        let (bits, len) = match copy.key {
            Key::Moved(..) | Key::Plus(..) => (0, 0),
            Key::Beside(_) => (0, 1),
            Key::Vgpr(bits) | Key::Sgpr(bits) => (u64::from(bits), 1),
            Key::Vgpr64(bits) | Key::Sgpr64(bits) => (bits, 2),
        };
        for n in 0..copy.dst.len {
            let dst = Operand::Virt(Tuple { start: copy.dst.start + u32::from(n), len: 1 });
            let src = if len == 0 {
                Operand::Virt(Tuple { start: copy.src.start + u32::from(n), len: 1 })
            } else {
                Operand::int((bits >> (32 * n)) as u32 as i32)
            };
            insts.push(MachInst::new(op::COPY, &[dst, src]));
        }
    }
}

/// Access to values as operands.
impl Lower<'_> {
    /// Returns the bits of a value if instructions can have the value as an immediate operand: if it is a
    /// constant, or the address of a stack slot in a kernel, which is known too.
    pub fn const_bits(&self, value: Value) -> Option<u64> {
        use crate::class::reqd;
        use ir::{Op, Pos};
        match self.func.def_op(value)? {
            Op::Const(bits) => Some(bits),
            Op::SlotAddr(slot) if !self.has_frame() => Some(u64::from(self.s.slots[slot.as_u32() as usize])),
            Op::GlobalAddr(g) if self.home(value) == Home::Const => {
                Some(u64::from(self.s.shared[g.as_u32() as usize]))
            }
            Op::Pos(Pos::WaveSize) => Some(u64::from(self.target.wave_size)),
            Op::Pos(Pos::LocalSize(d)) => reqd(self.func).map(|s| u64::from(s[usize::from(d).min(2)])),
            Op::Pos(Pos::LocalId(_)) if self.home(value) == Home::Const => Some(0),
            _ => None,
        }
    }

    /// Returns the value as a 32-bit constant, if it is a constant.
    pub fn const_u32(&self, value: Value) -> Option<u32> {
        self.const_bits(value).map(|bits| bits as u32)
    }

    /// Returns an operand for a constant of the value's type.
    fn constant(&mut self, value: Value, bits: u64) -> Operand {
        match self.ty(value) {
            ty if ty.bits() == 64 => {
                let inline = match ty {
                    ir::Type::F64 => Operand::f64(bits).filter(|o| matches!(o, Operand::Inline(_))),
                    _ => Operand::int64(bits as i64),
                };
                inline.unwrap_or_else(|| self.sgpr_const64(bits))
            }
            _ => Operand::int(bits as u32 as i32),
        }
    }

    /// Returns the value as an operand, without a copy to another register class: a constant, or the
    /// registers in which selection keeps the value.
    pub fn source(&mut self, value: Value) -> Operand {
        if let Some(bits) = self.const_bits(value) {
            return self.constant(value, bits);
        }
        match self.home(value) {
            Home::Sgpr => self.sgpr_of(value),
            Home::Scc => self.sgpr_of(value),
            _ => self.vgpr(value),
        }
    }

    /// Returns the value as an operand of a scalar instruction: a constant or SGPRs.
    pub fn scalar(&mut self, value: Value) -> Operand {
        match self.const_bits(value) {
            Some(bits) => self.constant(value, bits),
            None => self.sgpr_of(value),
        }
    }

    /// Returns the value in SGPRs, even if the value is a constant.
    pub fn sgpr(&mut self, value: Value) -> Operand {
        match self.const_bits(value) {
            Some(bits) if self.ty(value).bits() == 64 => self.sgpr_const64(bits),
            Some(bits) => self.sgpr_const(bits as u32),
            None => self.sgpr_of(value),
        }
    }

    /// Returns the value in VGPRs; a `bool` is 0 or 1.
    pub fn vgpr(&mut self, value: Value) -> Operand {
        if let Some(bits) = self.const_bits(value) {
            return match self.ty(value).bits() {
                64 => self.vgpr_const64(bits),
                _ => self.vgpr_const(bits as u32),
            };
        }
        match self.home(value) {
            Home::Sgpr | Home::Scc => {
                let from = self.sgpr_of(value);
                self.in_vgpr(from, self.ty(value).dwords() as u8)
            }
            Home::Mask if !self.is_param(value) => {
                let mask = self.mask(value);
                let dst = self.vtemp(1);
                self.emit(Role::VCndmaskB32, &[dst, Operand::int(0), Operand::int(1), mask]);
                dst
            }
            _ => self.vgpr_of(value),
        }
    }

    /// Returns whether the value is a block parameter.
    pub fn is_param(&self, value: Value) -> bool {
        self.func.def_inst(value).is_none()
    }

    /// Returns a `bool` as a lane mask.
    pub fn mask(&mut self, value: Value) -> Operand {
        match self.const_bits(value) {
            Some(0) => Operand::int(0),
            Some(_) => Operand::int(-1),
            None => self.mask_of(value),
        }
    }

    /// Returns the low and the high half of a 64-bit value as separate operands; each operand is a constant,
    /// an SGPR or a VGPR.
    pub fn halves(&mut self, value: Value) -> [Operand; 2] {
        if let Some(bits) = self.const_bits(value) {
            return [Operand::int(bits as u32 as i32), Operand::int((bits >> 32) as u32 as i32)];
        }
        if let Some(inst) = self.func.def_inst(value)
            && self.func.insts[inst].op == ir::Op::Cast(ir::CastOp::Zext)
            && self.ty(self.func.args(inst)[0]) == ir::Type::I32
        {
            return [self.source(self.func.args(inst)[0]), Operand::int(0)];
        }
        let whole = self.source(value);
        [self.dword(whole, 0), self.dword(whole, 1)]
    }

    /// Returns the halves of a 64-bit value for scalar operands.
    pub fn scalar_halves(&mut self, value: Value) -> [Operand; 2] {
        if let Some(bits) = self.const_bits(value) {
            return [Operand::int(bits as u32 as i32), Operand::int((bits >> 32) as u32 as i32)];
        }
        let whole = self.sgpr_of(value);
        [self.dword(whole, 0), self.dword(whole, 1)]
    }

    /// Emits copies of a result to other kinds of registers. Users may have requested it in SGPRs, in VGPRs,
    /// as a lane mask or only its low half.
    pub fn convert_result(&mut self, value: Value) {
        match self.home(value) {
            Home::Vgpr => {
                if self.wants_low(value) && self.wants_vgpr(value) {
                    let (low, whole) = (self.low_of(value), self.vgpr_of(value));
                    let from = self.dword(whole, 0);
                    self.copy(low, from);
                }
                if self.wants_sgpr(value) {
                    let (to, from) = (self.sgpr_of(value), self.vgpr_of(value));
                    for n in 0..self.ty(value).dwords() as u8 {
                        let ops = [self.dword(to, n), self.dword(from, n)];
                        self.read_first_lane(ops[0], ops[1]);
                    }
                }
            }
            Home::Mask if self.wants_sgpr(value) => {
                let mask = self.mask_of(value);
                self.test_mask(mask);
                let to = self.sgpr_of(value);
                self.emit(Role::SCselectB32, &[to, Operand::int(1), Operand::int(0)]);
            }
            Home::Sgpr => self.finish_descriptor(value),
            _ => {}
        }
    }

    /// Emits `v_readfirstlane_b32`.
    pub fn read_first_lane(&mut self, to: Operand, from: Operand) {
        let mut inst = self.instruction(Role::VReadfirstlaneB32, &[to, from]);
        inst.form = Form::E32;
        self.push(inst);
    }
}
