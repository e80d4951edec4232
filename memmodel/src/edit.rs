//! Rewriting a block's instructions while its parts keep their borders.

use isa::{MBlock, MachFunc, MachInst};

/// Replaces the instructions of a block by what `f` writes for each of them. They are written to `scratch` first, so that
/// each block keeps its own memory.
pub(crate) fn rewrite(
    func: &mut MachFunc,
    block: MBlock,
    scratch: &mut Vec<MachInst>,
    mut f: impl FnMut(&mut MachFunc, &MachInst, &mut Vec<MachInst>),
) {
    let mut insts = std::mem::take(&mut func.blocks[block].insts);
    let (prologue, term) = (func.blocks[block].prologue as usize, func.blocks[block].term as usize);
    let out = scratch;
    out.clear();
    let (mut new_prologue, mut new_term) = (None, None);
    for (index, inst) in insts.iter().enumerate() {
        if index == prologue {
            new_prologue = Some(out.len());
        }
        if index == term {
            new_term = Some(out.len());
        }
        f(func, inst, out);
    }
    let data = &mut func.blocks[block];
    data.prologue = new_prologue.unwrap_or(out.len()) as u32;
    data.term = new_term.unwrap_or(out.len()) as u32;
    insts.clone_from(out);
    data.insts = insts;
}
