//! Writes the descriptor of scratch memory at the beginning of a kernel, on systems whose runtime does not
//! provide the descriptor ([`isa::ScratchSetUp::Symbols`]).
//!
//! During allocation, the descriptor is an input like those of the hardware. So the code that this pass
//! inserts comes first in the kernel.

use isa::abi::AbiInput;
use isa::{MachInst, Operand, Subtarget, op};
use mir::{Distance, FuncRole, MachFunc, Note, Referent, RelocRef};

/// Bit `ADD_TID_ENABLE` of a buffer descriptor's fourth dword: the number of the lane takes part in the
/// address.
const ADD_LANE: u32 = 1 << 23;
/// Lowest bit of the field `INDEX_STRIDE`. The stride is the number of lanes, which the field holds as the
/// base-2 logarithm of an eighth.
const INDEX_STRIDE: u32 = 21;

/// Inserts the set-up, if the kernel accesses scratch memory.
pub(crate) fn run(func: &mut MachFunc, target: &Subtarget) {
    if func.role != FuncRole::Kernel || !func.abi.makes_buffer {
        return;
    }
    let Some(slot) = func.abi.find(AbiInput::PrivateSegmentBuffer) else { return };
    let note = func.note(Note::Alloc("scratch descriptor"));
    let stride = (target.wave_size / 8).trailing_zeros() << INDEX_STRIDE;
    let format = target.arch.buffers.own_scratch_format | ADD_LANE | stride;
    let symbol = |func: &mut MachFunc, dword| {
        func.relocs.push(RelocRef { to: Referent::Scratch(dword), part: Distance::Address, addend: 0 });
        Operand::Reloc(func.relocs.len() as u32 - 1)
    };
    let values = [symbol(func, 0), symbol(func, 1), Operand::int(-1), Operand::int(format as i32)];
    let Some(entry) = func.blocks.values_mut().next() else { return };
    let moves = (0..).zip(values).map(|(n, value)| {
        let to = Operand::reg(slot.reg.offset(n));
        MachInst { note, ..MachInst::new(op::S_MOV_B32, &[to, value]) }
    });
    entry.insts.splice(0..0, moves);
    entry.term += 4;
    if entry.prologue > 0 {
        entry.prologue += 4;
    }
}
