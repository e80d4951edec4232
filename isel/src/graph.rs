//! The linear or the logical control-flow graph of a machine function, with the predecessors, reverse
//! postorder and dominators of its blocks.

use ir::analysis::dominance::Tree;
use isa::{MBlock, RegClass};
use mir::{Edges, MachBlock, MachFunc};

/// The graph on which the registers of one class are live.
pub(crate) struct Graph {
    /// Position of each block in reverse postorder; `None` for a block that is not reachable.
    position: Vec<Option<u32>>,
    dominators: Tree,
    /// Index in `preds` of each block's first predecessor.
    starts: Vec<u32>,
    preds: Vec<MBlock>,
}

/// Returns the edges of a block in the graph on which registers of `class` are live: linear edges for SGPRs,
/// logical edges for VGPRs.
pub(crate) fn edges(block: &MachBlock, class: RegClass) -> &Edges {
    match class {
        RegClass::Sgpr => &block.linear,
        RegClass::Vgpr => &block.logical,
    }
}

impl Graph {
    /// Creates the graph of a register class.
    pub fn new(func: &MachFunc, class: RegClass) -> Graph {
        let succs = |block: MBlock| edges(&func.blocks[block], class).iter().flatten().map(|edge| edge.to);
        let order = reverse_postorder(func, class);
        let count = func.blocks.len();
        let mut position = vec![None; count];
        let mut starts = vec![0; count + 1];
        for (n, &block) in (0..).zip(&order) {
            position[block.as_u32() as usize] = Some(n);
            succs(block).for_each(|to| starts[to.as_u32() as usize + 1] += 1);
        }
        for n in 1..=count {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let mut preds = vec![MBlock::from_u32(0); starts[count] as usize];
        for block in func.blocks.keys().filter(|block| position[block.as_u32() as usize].is_some()) {
            for to in succs(block) {
                let place = &mut next[to.as_u32() as usize];
                preds[*place as usize] = block;
                *place += 1;
            }
        }
        let mut graph = Graph { position, dominators: Tree::default(), starts, preds };
        let mut dominators = Tree::default();
        dominators.compute(order.len(), |n| {
            graph.preds(order[n as usize]).iter().filter_map(|&pred| graph.position(pred))
        });
        graph.dominators = dominators;
        graph
    }

    /// Returns the position of a block in reverse postorder, or `None` if the block is not reachable.
    pub fn position(&self, block: MBlock) -> Option<u32> {
        self.position[block.as_u32() as usize]
    }

    /// Returns the reachable predecessors of a block, ordered by number.
    pub fn preds(&self, block: MBlock) -> &[MBlock] {
        let n = block.as_u32() as usize;
        &self.preds[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    /// Returns whether every path to `b` passes through `a`.
    pub fn dominates(&self, a: MBlock, b: MBlock) -> bool {
        match (self.position(a), self.position(b)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(a), Some(b)) => self.dominators.contains(a, b),
        }
    }
}

fn reverse_postorder(func: &MachFunc, class: RegClass) -> Vec<MBlock> {
    let mut seen = vec![false; func.blocks.len()];
    let mut order = Vec::with_capacity(func.blocks.len());
    let mut stack: Vec<(MBlock, usize)> = Vec::new();
    if let Some(entry) = func.blocks.keys().next() {
        stack.push((entry, 0));
        seen[0] = true;
    }
    while let Some(top) = stack.last_mut() {
        let (block, n) = *top;
        top.1 += 1;
        if n == 2 {
            order.push(block);
            stack.pop();
        } else if let Some(edge) = edges(&func.blocks[block], class)[n]
            && !std::mem::replace(&mut seen[edge.to.as_u32() as usize], true)
        {
            stack.push((edge.to, 0));
        }
    }
    order.reverse();
    order
}
