//! Rewriting a block's instructions while its parts keep their borders.

use isa::{MBlock, MachFunc, MachInst};

/// Lists longer than this change hands instead of being copied.
const SHORT: usize = 64;

/// Replaces the instructions of a block by what `f` writes for each of them. They are written to `scratch` first; the many
/// short blocks there may be keep their own memory.
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
