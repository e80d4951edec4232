//! Rewrites the instructions of a block. The boundaries between the parts of the block, such as its prologue,
//! are kept.

use isa::{MBlock, MachInst};
use mir::MachFunc;

/// A rewritten list of at most this many instructions is copied to the block's own list. A longer list is
/// swapped with it.
const SHORT: usize = 64;

/// Replaces each instruction of a block by the instructions that `f` writes for it. The new list is first
/// written to `scratch`. A short list is then copied to the block's own allocation, because there may be many
/// short blocks. A long list is exchanged with the block's list.
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
    if out.len() > SHORT {
        std::mem::swap(&mut insts, out);
    } else {
        insts.clone_from(out);
    }
    data.insts = insts;
}
