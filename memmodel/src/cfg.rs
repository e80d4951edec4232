//! Builds a function from decoded code for [`crate::proof`]: only its blocks and the linear graph (the
//! control-flow graph of the program counter).

use crate::rules;
use isa::table::Flags;
use isa::{MBlock, MachInst, Operand, op};
use mir::{ArgRange, Edge, MachBlock, MachFunc};

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    /// Byte address.
    pub address: u64,
    /// Size in bytes.
    pub size: u32,
    /// The decoded instruction. A branch target is an `Operand::Imm` with the distance in dwords from the end
    /// of the instruction.
    pub inst: MachInst,
}

/// Splits code into blocks at branch targets and after branches. Instructions must be in ascending order of
/// address, without gaps. The operands of branches become blocks. A branch to an address outside of the code
/// gets no edge.
pub fn build(code: &[Decoded]) -> MachFunc {
    let starts = block_starts(code);
    let block_at =
        |address: u64| starts.binary_search(&address).ok().map(|index| MBlock::from_u32(index as u32));
    let mut func = MachFunc::default();
    for _ in &starts {
        func.blocks.push(MachBlock::default());
    }
    let mut block = MBlock::from_u32(0);
    for (index, decoded) in code.iter().enumerate() {
        if let Some(next) = block_at(decoded.address) {
            block = next;
        }
        let mut inst = decoded.inst;
        let target = target(decoded).and_then(block_at);
        if let Some(to) = target
            && let Some(label) = inst.operands_mut().last_mut()
        {
            *label = Operand::Block(to);
        }
        func.blocks[block].insts.push(inst);
        let end = decoded.address + u64::from(decoded.size);
        let last = code.get(index + 1).is_none_or(|next| block_at(next.address).is_some());
        if last {
            let falls = !inst.op.row().flags.contains(Flags::NO_FALLTHROUGH);
            let next = if falls { block_at(end) } else { None };
            let edge = |to| Edge { to, args: ArgRange::default() };
            func.blocks[block].linear = [target.map(edge), next.map(edge)];
            func.blocks[block].term = func.blocks[block].insts.len() as u32;
        }
    }
    func
}

/// Returns the address to which an instruction branches.
fn target(decoded: &Decoded) -> Option<u64> {
    match rules::label(&decoded.inst)? {
        Operand::Imm(dwords) => {
            // A decoder may not have sign-extended the 16-bit field.
            let dwords = i64::from(dwords as i16);
            Some((decoded.address + u64::from(decoded.size)).wrapping_add_signed(4 * dwords))
        }
        _ => None,
    }
}

/// Returns the addresses at which blocks begin, in ascending order.
fn block_starts(code: &[Decoded]) -> Vec<u64> {
    let mut starts: Vec<u64> = code.first().map(|first| first.address).into_iter().collect();
    for decoded in code {
        starts.extend(target(decoded));
        let flags = decoded.inst.op.row().flags;
        if flags.contains(Flags::BRANCH) || decoded.inst.op == op::S_ENDPGM {
            starts.push(decoded.address + u64::from(decoded.size));
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| code.binary_search_by_key(start, |decoded| decoded.address).is_ok());
    starts
}
