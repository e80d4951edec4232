//! Symbolic execution of the instructions that the allocator inserted: moves, spills and reloads, and
//! recomputed values.

use super::facts::Fact;
use super::{Checker, Pending, Place, Problem, State, Value, Values};
use crate::rewrite;
use isa::{AbiInput, MachInst, Operand, PrivateAccess, Reg, RegRange, Role, op};
use mir::FuncRole;
use smallvec::SmallVec;

impl Checker<'_> {
    /// Executes an instruction that the allocator inserted.
    pub(super) fn insertion(
        &self,
        inst: &MachInst,
        state: &mut State,
        pending: &Pending,
    ) -> Result<(), Problem> {
        let range = |i: usize| match inst.ops[i] {
            Operand::Reg(range) => Ok(range),
            _ => Err(Problem::Inserted),
        };
        let lane = |i: usize| inst.ops[i].const_u32().ok_or(Problem::Inserted);
        match inst.op {
            op::S_MOV_B32 | op::S_MOV_B64 | op::V_MOV_B32 => {
                let dst = range(0)?;
                let moved: SmallVec<[Values; 2]> =
                    (0..dst.len).map(|i| self.moved_values(dst, inst.ops[1], i, state, pending)).collect();
                for (mut values, code) in moved.into_iter().zip(dst.first.0..) {
                    // The checker cannot tell whether a constant is meant as an offset from the beginning of
                    // the frame. In a kernel, the frame begins at scratch address 0, so the constant also
                    // counts as the address with this offset.
                    let base = inst.ops[1].const_u32().filter(|_| self.frame() == Some(Operand::int(0)));
                    values.extend(base.map(Value::ScratchBase));
                    state.set(Place::Reg(code), values);
                }
                Ok(())
            }
            op::V_SWAP_B32 => {
                let (a, b) = (Place::Reg(range(0)?.first.0), Place::Reg(range(1)?.first.0));
                let (in_a, in_b) = (state.get(a), state.get(b));
                state.set(a, in_b);
                state.set(b, in_a);
                Ok(())
            }
            op::V_ACCVGPR_WRITE_B32 | op::V_ACCVGPR_READ_B32 => {
                let (dst, src) = (range(0)?.first, range(1)?.first);
                let agpr = if dst.is_agpr() { dst } else { src };
                if u32::from(agpr.number()) >= self.final_.agprs {
                    return Err(Problem::Register { reg: agpr, len: 1 });
                }
                state.set(Place::Reg(dst.0), state.get(Place::Reg(src.0)));
                Ok(())
            }
            op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2 => {
                let values = state.get(Place::Reg(range(1)?.first.0));
                state.set(Place::Reg(range(0)?.first.0), Values::new());
                state.set(Place::Lane(range(0)?.first.0, lane(2)?), values);
                Ok(())
            }
            op::V_READLANE_B32 | op::V_READLANE_B32_VOP2 => {
                let values = state.get(Place::Lane(range(1)?.first.0, lane(2)?));
                state.set(Place::Reg(range(0)?.first.0), values);
                Ok(())
            }
            op::S_GETPC_B64 => {
                let dst = range(0)?.first;
                self.facts.counters.iter().for_each(|&counter| state.forget(counter));
                for half in 0..2 {
                    state.define(dst.offset(u16::from(half)), Value::Counter(half), &self.facts);
                }
                Ok(())
            }
            op::S_ADD_U32 | op::S_ADDC_U32 if matches!(inst.ops[2], Operand::Reloc(_)) => {
                self.address(inst, range(0)?.first, range(1)?.first, state, pending)
            }
            op::S_ADD_U32 => self.scratch_base(inst, range(0)?.first, range(1)?.first, state),
            op::S_LOAD_DWORD | op::S_LOAD_DWORDX2 | op::S_LOAD_DWORDX4 => {
                self.argument(inst, range(0)?, range(1)?.first, state, pending)
            }
            _ => {
                let (role, access) = PrivateAccess::of_dword(inst).ok_or(Problem::Inserted)?;
                let from = self.scratch(&access, state)?;
                self.access(inst, (role, access.data), from, state)
            }
        }
    }

    /// Executes an addition that computes the base of an access to the frame.
    fn scratch_base(&self, inst: &MachInst, dst: Reg, src: Reg, state: &mut State) -> Result<(), Problem> {
        if self.frame() != Some(inst.ops[1]) {
            let value = self.wave_offset().ok_or(Problem::Inserted)?;
            if !state.holds(src, value) {
                return Err(Problem::Missing { value, reg: src });
            }
        }
        state.forget(Value::Hardware(Reg::SCC.0));
        let bytes = inst.ops[2].const_u32().ok_or(Problem::Inserted)?;
        // The new value is the sum of the wave's scratch offset and a constant. The scratch offset never
        // changes, so other registers with the same sum remain valid.
        state.set(Place::Reg(dst.0), SmallVec::from_slice(&[Value::ScratchBase(bytes)]));
        Ok(())
    }

    /// Returns the values that dword `i` of the destination holds after a move that the allocator inserted.
    fn moved_values(
        &self,
        dst: RegRange,
        source: Operand,
        i: u8,
        state: &State,
        pending: &Pending,
    ) -> Values {
        let Operand::Reg(src) = source else {
            let part = rewrite::constant_part(source, i, dst.len);
            let same = pending.constants.iter().filter(|(constant, _)| *constant == part);
            let values = same.map(|(_, value)| *value);
            let fact = self.facts.value_of_fact(Fact::Const(part));
            return values.chain(fact.into_iter().flat_map(|fact| pending.names(fact))).collect();
        };
        let values = state.get(Place::Reg(src.first.0 + u16::from(i)));
        if !dst.first.is_vgpr() || src.first.is_vgpr() {
            return values;
        }
        let held = |from: &Value| state.undef.contains(from) || values.contains(from);
        pending.from_sgprs.iter().filter(|(_, from)| held(from)).map(|(to, _)| *to).collect()
    }

    /// Executes one of the inserted instructions that together compute the address of a module variable.
    fn address(
        &self,
        inst: &MachInst,
        dst: Reg,
        src: Reg,
        state: &mut State,
        pending: &Pending,
    ) -> Result<(), Problem> {
        let high = inst.op == op::S_ADDC_U32;
        let needed = [(src, Value::Counter(high.into())), (Reg::SCC, Value::Carry)];
        for (reg, value) in needed.into_iter().take(1 + usize::from(high)) {
            if !state.holds(reg, value) {
                return Err(Problem::Missing { value, reg });
            }
        }
        let value = self.facts.value_of_fact(Fact::Address(inst.ops[2])).ok_or(Problem::Inserted)?;
        state.forget(Value::Hardware(Reg::SCC.0));
        state.forget(Value::Carry);
        state.set(Place::Reg(dst.0), pending.names(value).collect());
        if !high {
            state.define(Reg::SCC, Value::Carry, &self.facts);
        }
        Ok(())
    }

    /// Executes an inserted scalar load, which rematerialises kernel arguments. The original code must load
    /// the same dwords from the same pointer.
    fn argument(
        &self,
        inst: &MachInst,
        dst: RegRange,
        pointer: Reg,
        state: &mut State,
        pending: &Pending,
    ) -> Result<(), Problem> {
        let Operand::Imm(field) = inst.ops[2] else { return Err(Problem::Inserted) };
        let (low, high) = (state.get(Place::Reg(pointer.0)), state.get(Place::Reg(pointer.0 + 1)));
        for i in 0..dst.len {
            let pairs = low.iter().flat_map(|&low| high.iter().map(move |&high| [low, high]));
            let facts = pairs.map(|pointer| Fact::Load(pointer, self.facts.distance(field, i)));
            let known = facts.filter_map(|fact| self.facts.value_of_fact(fact));
            let known: Values = known.flat_map(|fact| pending.names(fact)).collect();
            state.set(Place::Reg(dst.first.0 + u16::from(i)), known);
        }
        Ok(())
    }

    /// Returns the value of the register in which the hardware provides the wave's scratch offset.
    fn wave_offset(&self) -> Option<Value> {
        let slot = self.final_.abi.find(AbiInput::PrivateSegmentWaveOffset)?;
        Some(Value::Input(slot.reg.0))
    }

    /// Checks the operands of a spill to scratch memory or of a reload from it. Returns the offset in the
    /// frame to which the immediate offset is added.
    fn scratch(&self, access: &PrivateAccess, state: &State) -> Result<u32, Problem> {
        if access.vaddr != Operand::None {
            return Err(Problem::Inserted);
        }
        if self.frame().is_some() {
            return self.in_frame(access, state);
        }
        let Operand::Reg(rsrc) = access.descriptor else { return Err(Problem::Inserted) };
        let input = |what| self.final_.abi.find(what).map(|slot: isa::AbiSlot| slot.reg.0);
        let first = input(AbiInput::PrivateSegmentBuffer).ok_or(Problem::Inserted)?;
        for i in 0..u16::from(rsrc.len) {
            let (value, reg) = (Value::Input(first + i), rsrc.first.offset(i));
            if !state.holds(reg, value) {
                return Err(Problem::Missing { value, reg });
            }
        }
        let Operand::Reg(base) = access.base else { return Err(Problem::Inserted) };
        let value = self.wave_offset().ok_or(Problem::Inserted)?;
        let offset = |held: &Value| match *held {
            Value::ScratchBase(bytes) => Some(bytes / self.target.stack_scale()),
            _ => (*held == value).then_some(0),
        };
        let from = state.get(Place::Reg(base.first.0)).iter().find_map(offset);
        from.filter(|_| rsrc.len == 4).ok_or(Problem::Missing { value, reg: base.first })
    }

    /// Returns where the frame of a function begins: at the stack pointer in a callee, at 0 in a kernel.
    /// Returns `None` if the function has no stack and finds its memory by inputs.
    fn frame(&self) -> Option<Operand> {
        let pointer = Operand::reg(Reg::sgpr(callconv::column(self.convention).stack.pointer));
        let has_inputs = !self.original.has_stack() && self.target.addressing.scratch.has_descriptor();
        (!has_inputs).then(|| match self.original.role {
            FuncRole::Callee => pointer,
            FuncRole::Kernel => Operand::int(0),
        })
    }

    /// Checks a scratch access like [`Checker::scratch`], but in a function with a stack, where the scratch
    /// descriptor is always in the same registers.
    fn in_frame(&self, access: &PrivateAccess, state: &State) -> Result<u32, Problem> {
        if access.descriptor != crate::spill::stack_descriptor(self.target) {
            return Err(Problem::Inserted);
        }
        let from = match access.base {
            base if self.frame() == Some(base) => Some(0),
            Operand::Reg(base) => state.get(Place::Reg(base.first.0)).iter().find_map(|held| match *held {
                Value::ScratchBase(bytes) => Some(bytes / self.target.stack_scale()),
                _ => None,
            }),
            _ => None,
        };
        from.ok_or(Problem::Inserted)
    }

    /// Executes a spill to scratch memory or a reload from it.
    fn access(
        &self,
        inst: &MachInst,
        (role, data): (Role, Operand),
        from: u32,
        state: &mut State,
    ) -> Result<(), Problem> {
        let Operand::Reg(data) = data else { return Err(Problem::Inserted) };
        let slot = Place::Slot(from + u32::try_from(inst.mods.offset).map_err(|_| Problem::Inserted)?);
        if role == Role::Use {
            let values = state.get(Place::Reg(data.first.0));
            state.set(slot, values);
        } else {
            let values = state.get(slot);
            state.set(Place::Reg(data.first.0), values);
        }
        Ok(())
    }
}
