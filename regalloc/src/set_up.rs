//! Writes at the beginning of a kernel those inputs that the system's runtime does not provide: the
//! descriptor of scratch memory ([`isa::ScratchSetUp`]), and under AMDPAL the address of the arguments.
//!
//! During allocation, these values are inputs like those of the hardware. So the code that this pass inserts
//! comes first in the kernel.

use callconv::scratch_descriptor;
use isa::abi::{AbiInput, PAL};
use isa::{AbiSlot, MachInst, Opcode, Operand, Reg, RegRange, ScratchSetUp, Subtarget, op};
use mir::{Distance, FuncRole, MachFunc, Note, Referent, RelocRef};

/// Bit `ADD_TID_ENABLE` of a buffer descriptor's fourth dword: the number of the lane takes part in the
/// address.
const ADD_LANE: u32 = 1 << 23;
/// Lowest bit of the field `INDEX_STRIDE`. The stride is the number of lanes, which the field holds as the
/// base-2 logarithm of an eighth.
const INDEX_STRIDE: u32 = 21;

/// Inserts the code for the inputs that the kernel uses.
pub(crate) fn run(func: &mut MachFunc, target: &Subtarget) {
    if func.role != FuncRole::Kernel || !func.abi.makes_buffer {
        return;
    }
    let mut set_up = SetUp { insts: Vec::new() };
    if let Some(slot) = func.abi.find(AbiInput::KernargPtr).filter(|_| func.abi.pal) {
        set_up.table(slot, PAL.spill_table);
    }
    if let Some(slot) = func.abi.find(AbiInput::PrivateSegmentBuffer) {
        match target.system().scratch {
            ScratchSetUp::UserSgprs => {}
            ScratchSetUp::Symbols => set_up.buffer_of_symbols(func, target, slot),
            ScratchSetUp::Table => set_up.buffer_of_table(func, target, slot),
        }
    }
    let SetUp { mut insts } = set_up;
    if insts.is_empty() {
        return;
    }
    let note = func.note(Note::Alloc("inputs"));
    insts.iter_mut().for_each(|inst| inst.note = note);
    let count = insts.len();
    let Some(entry) = func.blocks.values_mut().next() else { return };
    entry.insts.splice(0..0, insts);
    entry.term += count as u32;
    if entry.prologue > 0 {
        entry.prologue += count as u32;
    }
}

/// The code that makes the inputs.
struct SetUp {
    insts: Vec<MachInst>,
}

impl SetUp {
    fn push(&mut self, op: Opcode, operands: &[Operand]) {
        self.insts.push(MachInst::new(op, operands));
    }

    /// Computes the address of a table in the first two registers of `slot`. An SGPR has the low half, and the
    /// program counter has the high half.
    fn table(&mut self, slot: AbiSlot, low: u16) {
        self.push(op::S_GETPC_B64, &[Operand::regs(slot.reg, 2)]);
        self.push(op::S_MOV_B32, &[Operand::reg(slot.reg), Operand::reg(Reg::sgpr(low))]);
    }

    /// Loads the descriptor of scratch memory from AMDPAL's global internal table.
    fn buffer_of_table(&mut self, func: &MachFunc, target: &Subtarget, slot: AbiSlot) {
        self.table(slot, PAL.global_table);
        let of_stack = scratch_descriptor(target).filter(|_| func.has_stack());
        let to = of_stack.unwrap_or(RegRange { first: slot.reg, len: slot.len });
        let field = target.addressing.scalar_field(PAL.scratch_descriptor);
        let field = Operand::Imm(field.expect("a small offset has an encoding"));
        self.push(op::S_LOAD_DWORDX4, &[Operand::Reg(to), Operand::regs(slot.reg, 2), field]);
        if target.wave_size == 32 {
            // The descriptor in the table is for waves of 64 lanes.
            let format = Operand::reg(to.first.offset(3));
            self.push(op::S_BITSET0_B32, &[format, Operand::int(INDEX_STRIDE as i32)]);
        }
    }

    /// Writes the descriptor of scratch memory, whose first two dwords are symbols.
    fn buffer_of_symbols(&mut self, func: &mut MachFunc, target: &Subtarget, slot: AbiSlot) {
        let stride = (target.wave_size / 8).trailing_zeros() << INDEX_STRIDE;
        let format = target.arch.buffers.own_scratch_format | ADD_LANE | stride;
        let symbol = |func: &mut MachFunc, dword| {
            func.relocs.push(RelocRef { to: Referent::Scratch(dword), part: Distance::Address, addend: 0 });
            Operand::Reloc(func.relocs.len() as u32 - 1)
        };
        let values = [symbol(func, 0), symbol(func, 1), Operand::int(-1), Operand::int(format as i32)];
        for (n, value) in (0..).zip(values) {
            self.push(op::S_MOV_B32, &[Operand::reg(slot.reg.offset(n)), value]);
        }
    }
}
