//! Address operands of memory instructions. In general an address is a uniform base in SGPRs, plus a 32-bit
//! offset in a VGPR, plus an immediate in the instruction.

use crate::class::Home;
use crate::known_bits;
use crate::lower::Lower;
use crate::roles::Role;
use crate::shape::LINKED;
use ir::{BinOp, CastOp, FuncId, Global, Op, Space, Type, Value};
use isa::table::Family;
use isa::{DataAddress, Feature, MachInst, ModFlags, Offsets, Operand};
use mir::{Distance, Referent, RelocRef};

/// The address operands of an instruction that accesses device memory (GLOBAL, FLAT or buffer instruction).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub vaddr: Operand,
    /// For GLOBAL instructions, the base address in SGPRs, or `Operand::None` for `off` (no base). For buffer
    /// instructions, the descriptor.
    pub base: Operand,
    /// For buffer instructions, the scalar operand (`soffset`), which is added to the address.
    pub scalar: Operand,
    pub offset: i32,
    /// For buffer instructions: how `vaddr` is interpreted.
    pub flags: ModFlags,
}

impl Address {
    fn new(vaddr: Operand, base: Operand, offset: i32) -> Address {
        Address { vaddr, base, scalar: Operand::None, offset, flags: ModFlags::empty() }
    }
}

impl Lower<'_> {
    /// Strips constant offsets from a pointer of any width. Returns the remaining pointer and the sum of the
    /// offsets.
    pub fn strip_offsets(&self, mut pointer: Value, offset: i32) -> (Value, i64) {
        let mut sum = i64::from(offset);
        while let Some(inst) = self.func.def_inst(pointer) {
            let args = self.func.args(inst);
            match self.func.insts[inst].op {
                Op::PtrAdd => match self.const_bits(args[1]) {
                    Some(bits) if self.ty(pointer).bits() == 64 => sum = sum.wrapping_add(bits as i64),
                    Some(bits) => sum += i64::from(bits as u32 as i32),
                    None => break,
                },
                Op::Cast(CastOp::SpaceCast) if self.ty(args[0]).bits() == self.ty(pointer).bits() => {}
                _ => break,
            }
            pointer = args[0];
        }
        (pointer, sum)
    }

    /// Chooses the instruction for an access to `pointer + offset`: a FLAT, GLOBAL or buffer instruction.
    /// Returns it without operands. If the processor has both a FLAT and a buffer instruction, the buffer
    /// instruction is chosen if it computes the whole address itself.
    pub fn device_instruction(&mut self, role: Role, pointer: Value, offset: i32) -> MachInst {
        match self.s.roles.by_buffer(role) {
            Some(op) if self.prefers_buffer(pointer, offset) => MachInst::new(op, &[]),
            _ => self.instruction(role, &[]),
        }
    }

    /// Returns the operands for the address `pointer + offset` in the form that `inst` (GLOBAL, buffer or
    /// FLAT instruction) takes.
    pub fn device_address(&mut self, inst: &MachInst, pointer: Value, offset: i32) -> Address {
        match inst.op.row().family {
            Family::Global => self.global_address(pointer, offset),
            Family::Mubuf => self.buffer_address(pointer, offset),
            _ => self.flat_address(pointer, offset),
        }
    }

    /// Returns the address of global or constant memory for a GLOBAL instruction.
    fn global_address(&mut self, pointer: Value, offset: i32) -> Address {
        let (base, mut offset) = self.strip_offsets(pointer, offset);
        if self.home(base) == Home::Sgpr {
            return self.uniform_address(base, offset);
        }
        if let Some((uniform, index)) = self.uniform_plus_index(base, &mut offset) {
            let (rest, offset) = self.split_offset(offset);
            let mut saddr = self.sgpr(uniform);
            if rest != 0 {
                saddr = self.scalar_offset(saddr, rest);
            }
            let vaddr = self.index_vgpr(index);
            return Address::new(vaddr, saddr, offset);
        }
        let (rest, offset) = self.split_offset(offset);
        let mut vaddr = self.vgpr(base);
        if rest != 0 {
            vaddr = self.vector_offset(vaddr, rest);
        }
        Address::new(vaddr, Operand::None, offset)
    }

    /// Splits a constant offset into two parts: the first has to be added to the address by other
    /// instructions, the second fits into the instruction's offset field.
    fn split_offset(&self, offset: i64) -> (i64, i32) {
        let addressing = &self.target.addressing;
        let (carried, rest) = addressing.global.unwrap_or(addressing.buffer).split(offset);
        (rest, carried as i32)
    }

    /// Returns the operands for a uniform address: a base in SGPRs plus a constant offset. A GLOBAL
    /// instruction with a base also needs a VGPR, so this VGPR holds the part of the offset that does not fit
    /// into the instruction's offset field.
    fn uniform_address(&mut self, base: Value, offset: i64) -> Address {
        let (rest, offset) = self.split_offset(offset);
        let mut saddr = self.sgpr(base);
        let mut index = 0;
        match u32::try_from(rest) {
            Ok(rest) => index = rest,
            Err(_) => saddr = self.scalar_offset(saddr, rest),
        }
        Address::new(self.vgpr_const(index), saddr, offset)
    }

    fn scalar_offset(&mut self, base: Operand, offset: i64) -> Operand {
        let sum = self.stemp(2);
        let parts = [Operand::int(offset as i32), Operand::int((offset >> 32) as i32)];
        let halves = [self.dword(base, 0), self.dword(base, 1)];
        self.scalar_add64(sum, halves, parts);
        sum
    }

    /// Emits the sum of a 64-bit address in VGPRs and a constant.
    pub fn vector_offset(&mut self, base: Operand, offset: i64) -> Operand {
        let sum = self.vtemp(2);
        let parts = [Operand::int(offset as i32), Operand::int((offset >> 32) as i32)];
        let halves = [self.dword(base, 0), self.dword(base, 1)];
        self.add64(sum, halves, parts);
        sum
    }

    /// If `pointer` provably is the sum of a uniform pointer and a 32-bit unsigned index, returns the two.
    /// Adds constants that were part of the pointer or the index to `offset`.
    pub fn uniform_plus_index(&self, pointer: Value, offset: &mut i64) -> Option<(Value, Value)> {
        let inst = self.func.def_inst(pointer)?;
        let args = self.func.args(inst);
        let (base, mut index) = match self.func.insts[inst].op {
            Op::PtrAddZ => (args[0], args[1]),
            Op::PtrAdd if known_bits::max(self.func, args[1], 8) <= u64::from(u32::MAX) => (args[0], args[1]),
            _ => return None,
        };
        if self.home(base) != Home::Sgpr {
            return None;
        }
        // If the index is a sum with a constant, the constant moves to the instruction's immediate. This
        // requires that the sum does not wrap around at 32 bits.
        if let Some(add) = self.func.def_inst(index)
            && self.func.insts[add].op == Op::Bin(BinOp::Add)
        {
            let terms = self.func.args(add);
            if let Some(bits) = self.const_bits(terms[1])
                && self.split_offset(bits as i64).0 == 0
                && self.ty(index) == Type::I32
                && known_bits::max(self.func, terms[0], 8) + bits <= u64::from(u32::MAX)
            {
                *offset += bits as i64;
                index = terms[0];
            }
        }
        let (inner, more) = self.strip_offsets(base, 0);
        *offset += more;
        Some((inner, index))
    }

    /// Returns the low dword of an offset, in a VGPR.
    pub fn index_vgpr(&mut self, index: Value) -> Operand {
        let low = self.low_source(index);
        self.in_vgpr(low, 1)
    }

    /// Returns a whole address for a FLAT instruction.
    fn flat_address(&mut self, pointer: Value, offset: i32) -> Address {
        self.reaches_lds |= self.ty(pointer) == Type::Ptr(Space::Generic);
        let (base, offset) = self.strip_offsets(pointer, offset);
        let fits = self.flat_offsets().contains(offset);
        let base = self.vgpr(base);
        match fits {
            true => Address::new(base, Operand::None, offset as i32),
            false => Address::new(self.vector_offset(base, offset), Operand::None, 0),
        }
    }

    /// Returns the offsets that FLAT instructions can encode. The range is empty if the processor has offsets
    /// but adds them incorrectly (LLVM's `FlatSegmentOffsetBug`).
    fn flat_offsets(&self) -> Offsets {
        let has = self.target.addressing.flat.filter(|_| !self.target.has(Feature::FLAT_OFFSET_BUG));
        has.unwrap_or(Offsets::NONE)
    }

    /// Splits a 32-bit address into a value and a constant.
    pub fn narrow_parts(&self, pointer: Value, offset: i32) -> (Option<Value>, i64) {
        let mut sum = i64::from(offset);
        let mut at = pointer;
        loop {
            if let Some(bits) = self.const_bits(at) {
                return (None, sum + i64::from(bits as u32 as i32));
            }
            let Some(inst) = self.func.def_inst(at) else { break };
            let args = self.func.args(inst);
            match self.func.insts[inst].op {
                Op::PtrAdd | Op::Bin(BinOp::Add) => {}
                Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr) => {
                    at = args[0];
                    continue;
                }
                _ => break,
            }
            match (self.const_bits(args[0]), self.const_bits(args[1])) {
                (_, Some(bits)) => {
                    sum += i64::from(bits as u32 as i32);
                    at = args[0];
                }
                (Some(bits), None) => {
                    sum += i64::from(bits as u32 as i32);
                    at = args[1];
                }
                (None, None) => break,
            }
        }
        (Some(at), i64::from(sum as i32))
    }

    /// Returns the operands for the address `pointer + offset` of an LDS instruction: the address register,
    /// and the bytes that the offset field adds to it. For an instruction with one address, `unit` is 0. An
    /// instruction with two addresses (`ds_read2_b32`) counts its offsets in elements of `unit` bytes. It
    /// accesses elements up to `span` elements after the first one, whose offsets must also fit into the
    /// field.
    pub fn lds_address(&mut self, pointer: Value, offset: i32, unit: i64, span: i64) -> (Operand, i64) {
        self.reaches_lds = true;
        let (base, sum) = self.narrow_parts(pointer, offset);
        let in_range = match unit {
            0 => self.target.addressing.lds.contains(sum),
            unit => sum % unit == 0 && (0..=255 - span).contains(&(sum / unit)),
        };
        let fits = in_range && (self.target.addressing.lds_negative_base || self.never_negative(base, sum));
        let field = if fits { sum } else { 0 };
        let rest = sum - field;
        let vaddr = match base {
            None => self.vgpr_const(rest as u32),
            Some(base) if rest == 0 => self.vgpr(base),
            Some(base) => {
                let (dst, x) = (self.vtemp(1), self.source(base));
                self.emit(Role::VAddU32, &[dst, Operand::int(rest as i32), x]);
                dst
            }
        };
        (vaddr, field)
    }

    /// Returns whether `offset` may be in the offset field of an LDS instruction. Some processors check the
    /// base before they add the offset: they refuse a negative base even if the sum is a valid address. On
    /// such a processor, the base must be known not to be negative, or there must be no base, or the offset
    /// must be 0.
    fn never_negative(&self, base: Option<Value>, offset: i64) -> bool {
        offset == 0 || base.is_none_or(|base| self.max_bits(base) < 32)
    }

    /// Returns the three parts of an address in scratch memory. The first is the VGPR with an offset that is
    /// not constant, if there is one. The second is the stack pointer, if the address is that of a stack slot
    /// in a function. The third is the constant offset for the instruction's offset field.
    pub fn scratch_address(
        &mut self,
        pointer: Value,
        offset: i32,
    ) -> (Option<Operand>, Option<Operand>, i32) {
        let (base, sum) = self.narrow_parts(pointer, offset);
        if let Some(Op::SlotAddr(slot)) = base.and_then(|base| self.func.def_op(base)) {
            let sum = sum + i64::from(self.s.slots[slot.as_u32() as usize]);
            let (vaddr, field) = self.scratch_parts(None, sum);
            return (vaddr, Some(self.stack_pointer()), field);
        }
        let (vaddr, field) = self.scratch_parts(base, sum);
        (vaddr, None, field)
    }

    fn scratch_parts(&mut self, base: Option<Value>, sum: i64) -> (Option<Operand>, i32) {
        let addressing = self.target.addressing;
        let offsets = addressing.scratch_offsets();
        let fits =
            offsets.contains(sum) && (!addressing.scratch_checks_base || self.never_negative(base, sum));
        match base {
            None if fits => (None, sum as i32),
            None => {
                let (low, rest) = offsets.split(sum);
                (Some(self.vgpr_const(rest as u32)), low as i32)
            }
            Some(base) if fits => (Some(self.vgpr(base)), sum as i32),
            Some(base) => {
                let (dst, x) = (self.vtemp(1), self.source(base));
                self.emit(Role::VAddU32, &[dst, Operand::int(sum as i32), x]);
                (Some(dst), 0)
            }
        }
    }

    /// Computes the address of a module variable. A variable in device memory has a known distance from the
    /// code: the address is the program counter plus this distance, which is filled in when code is laid out.
    /// The address of an LDS variable that the linker places is a relocation.
    pub fn global_addr(&mut self, inst: ir::Inst, global: Global) {
        if self.s.shared[global.as_u32() as usize] == LINKED {
            let result = self.func.insts[inst].first;
            if self.home(result) == Home::Sgpr {
                let dst = self.sgpr_of(result);
                self.linked_address(dst, global);
            }
            return;
        }
        self.distant_address(inst, Referent::Global(global.as_u32()));
    }

    /// Writes the address of an LDS variable to `dst`. The linker places the variable, so the address is a
    /// relocation.
    pub fn linked_address(&mut self, dst: Operand, global: Global) {
        let reloc = Operand::Reloc(self.out.relocs.len() as u32);
        let to = Referent::Global(global.as_u32());
        self.out.relocs.push(RelocRef { to, part: Distance::Address, addend: 0 });
        self.emit_raw(Role::SMovB32, &[dst, reloc]);
    }

    /// Computes the address of a function.
    pub fn func_addr(&mut self, inst: ir::Inst, func: FuncId) {
        self.distant_address(inst, Referent::Func(func.as_u32()));
    }

    fn distant_address(&mut self, inst: ir::Inst, to: Referent) {
        let result = self.func.insts[inst].first;
        if self.home(result) != Home::Sgpr {
            return;
        }
        let dst = self.sgpr_of(result);
        let first = self.out.relocs.len() as u32;
        let is_data = matches!(to, Referent::Global(_));
        if is_data && self.target.system().data_address == DataAddress::Relocated {
            for (half, part) in (0..).zip([Distance::AddressLow, Distance::AddressHigh]) {
                self.out.relocs.push(RelocRef { to, part, addend: 0 });
                let to = self.dword(dst, half);
                self.emit_raw(Role::SMovB32, &[to, Operand::Reloc(first + u32::from(half))]);
            }
            return;
        }
        let pc = self.stemp(2);
        self.emit_raw(Role::SGetpcB64, &[pc]);
        for part in [Distance::Low, Distance::High] {
            self.out.relocs.push(RelocRef { to, part, addend: 0 });
        }
        let pc = [self.dword(pc, 0), self.dword(pc, 1)];
        self.scalar_add64(dst, pc, [Operand::Reloc(first), Operand::Reloc(first + 1)]);
    }
}
