//! One of the two graphs over the blocks of a machine function: predecessors, order, dominators.

use ir::analysis::dominance::Tree;
use isa::{Edges, MBlock, MachBlock, MachFunc, RegClass};

/// The graph on which registers of one class live.
pub(crate) struct Graph {
    /// Place of each block in reverse postorder; `None` where no path leads to.
    position: Vec<Option<u32>>,
    dominators: Tree,
    /// Where the predecessors of each block begin in `preds`.
    starts: Vec<u32>,
    preds: Vec<MBlock>,
}

/// The edges that registers of a class live on.
pub(crate) fn edges(block: &MachBlock, class: RegClass) -> &Edges {
    match class {
        RegClass::Sgpr => &block.linear,
        RegClass::Vgpr => &block.logical,
    }
}

impl Graph {
    /// The graph of a class.
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

    /// Place of a block in reverse postorder.
    pub fn position(&self, block: MBlock) -> Option<u32> {
        self.position[block.as_u32() as usize]
    }

    /// Predecessors that are reached themselves, in the order of their numbers.
    pub fn preds(&self, block: MBlock) -> &[MBlock] {
        let n = block.as_u32() as usize;
        &self.preds[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    /// Whether every path to `b` passes `a`.
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
