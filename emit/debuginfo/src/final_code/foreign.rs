//! Finds *foreign* blocks: blocks that are executed while the lanes of another block are active.
//!
//! If nothing in a block depends on EXEC, the compiler does not set EXEC for the block. For example, the
//! program counter may go from the `then` block of a branch on to an `else` block of this kind. EXEC then
//! still contains the lanes of the `then` block, which are not at the source position of the `else` block.
//! Therefore no statement begins in a foreign block.

use isa::{MBlock, Reg, RegRange, Subtarget};
use mir::{Edges, MachBlock, MachFunc};

/// Sets `foreign[b]` for each block `b` that is executed while the lanes of another block are active.
pub(super) fn find(func: &MachFunc, target: &Subtarget, foreign: &mut Vec<bool>) {
    foreign.clear();
    foreign.resize(func.blocks.len(), false);
    let mut work = Vec::new();
    let add = |to: MBlock, foreign: &mut Vec<bool>, work: &mut Vec<MBlock>| {
        let is_foreign = &mut foreign[to.as_u32() as usize];
        if !*is_foreign && !sets_exec(&func.blocks[to], target) {
            *is_foreign = true;
            work.push(to);
        }
    };
    for (block, data) in func.blocks.iter() {
        if data.is_foreign {
            add(block, foreign, &mut work);
        }
        for to in targets(&data.linear).filter(|&to| targets(&data.logical).all(|own| own != to)) {
            add(to, foreign, &mut work);
        }
    }
    if work.is_empty() {
        return;
    }
    // A block is also foreign if all its predecessors are foreign. If at least one predecessor is not
    // foreign, lanes that belong to the block may arrive from there, so the block is not foreign.
    let mut others = vec![0u32; func.blocks.len()];
    let ways = func.blocks.values().flat_map(|data| targets(&data.logical));
    ways.for_each(|to| others[to.as_u32() as usize] += 1);
    while let Some(block) = work.pop() {
        for to in targets(&func.blocks[block].logical) {
            let others = &mut others[to.as_u32() as usize];
            *others -= 1;
            if *others == 0 {
                add(to, foreign, &mut work);
            }
        }
    }
}

fn targets(edges: &Edges) -> impl Iterator<Item = MBlock> {
    edges.iter().flatten().map(|edge| edge.to)
}

fn sets_exec(block: &MachBlock, target: &Subtarget) -> bool {
    let exec = RegRange { first: Reg::EXEC, len: 2 };
    block.insts[..block.prologue as usize].iter().any(|inst| inst.writes(target, exec))
}
