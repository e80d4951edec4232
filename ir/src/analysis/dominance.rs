//! Dominator and post-dominator trees.
//!
//! K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm" (2001), over positions
//! in an order instead of blocks. Where a node is met that hangs deep, jumps spare the climb. The graph library's version keeps hash maps, which on the small
//! functions that kernels are costs more than all of the rest of this module.

use super::cfg::{Cfg, UNREACHABLE};
use crate::entity::Block;
use cranelift_entity::{EntityRef, SecondaryMap};

/// The dominator tree of any graph, by the numbers of its nodes. They are numbered so that every one but the root (0)
/// comes after at least one predecessor.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    idom: Vec<u32>,
    /// Scratch: a node further up, and the depth.
    jump: Vec<(u32, u32)>,
    /// Preorder number and the last one of the subtree: `a` dominates `b` iff `pre[a] <= pre[b] <= last[a]`.
    pre: Vec<u32>,
    last: Vec<u32>,
    /// Scratch: first preorder number still free below a node.
    free: Vec<u32>,
}

impl Tree {
    /// Computes the tree of `count` nodes; `preds(n)` yields the predecessors of node `n`.
    pub fn compute<I: Iterator<Item = u32>>(&mut self, count: usize, preds: impl Fn(u32) -> I) {
        self.idom.clear();
        self.idom.resize(count, 0);
        if count == 0 {
            return;
        }
        self.jump.clear();
        self.jump.resize(count, (0, 0));
        for node in 1..count as u32 {
            let done = preds(node).filter(|&pred| pred < node);
            let best = done.reduce(|best, pred| self.meet(best, pred)).unwrap_or(0);
            self.hang(node, best);
        }
        self.number(count);
        // Edges back change nothing where they lead to what dominates them.
        let goes_back = |node| preds(node).any(|pred| pred > node && !self.contains(node, pred));
        if (1..count as u32).any(goes_back) {
            self.settle(count, preds);
            self.number(count);
        }
    }

    /// Sweeps over a graph that is not reducible until nothing changes.
    fn settle<I: Iterator<Item = u32>>(&mut self, count: usize, preds: impl Fn(u32) -> I) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for node in 1..count as u32 {
                let best = preds(node).reduce(|best, pred| self.climb(best, pred)).unwrap_or(0);
                changed |= std::mem::replace(&mut self.idom[node as usize], best) != best;
            }
        }
    }

    /// Puts a node below a finished one. Its jump leads over as many as two jumps of the parent that are equally long
    /// together, or to the parent: from any node, a few jumps lead to any other above it (E. W. Myers, "An
    /// applicative random-access stack", 1983).
    fn hang(&mut self, node: u32, parent: u32) {
        let (far, depth) = self.jump[parent as usize];
        let (farther, far_depth) = self.jump[far as usize];
        let equal = depth - far_depth == far_depth - self.jump[farther as usize].1;
        self.idom[node as usize] = parent;
        self.jump[node as usize] = (if equal { farther } else { parent }, depth + 1);
    }

    /// The closest node above both, of those that hang in the tree.
    fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if a < b {
                std::mem::swap(&mut a, &mut b);
            }
            // What is above both is not above a jump that ends below `b`.
            let far = self.jump[a as usize].0;
            a = if far >= b { far } else { self.idom[a as usize] };
        }
        a
    }

    /// The same in a tree that still changes.
    fn climb(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            while a > b {
                a = self.idom[a as usize];
            }
            while b > a {
                b = self.idom[b as usize];
            }
        }
        a
    }

    /// Preorder numbers without building child lists: subtree sizes bottom-up, then places top-down.
    /// A parent's number is smaller than its children's, so both are one sweep.
    fn number(&mut self, count: usize) {
        let size = &mut self.last;
        size.clear();
        size.resize(count, 1);
        for node in (1..count).rev() {
            size[self.idom[node] as usize] += size[node];
        }
        self.pre.clear();
        self.pre.resize(count, 0);
        self.free.clear();
        self.free.resize(count, 1);
        size[0] -= 1;
        for (node, &width) in size.iter().enumerate().skip(1) {
            let parent = self.idom[node] as usize;
            let place = self.free[parent];
            self.free[parent] += width;
            self.free[node] = place + 1;
            self.pre[node] = place;
        }
        for (size, place) in size.iter_mut().zip(&self.pre).skip(1) {
            *size += place - 1;
        }
    }

    /// Whether every path from the root to `b` passes `a`; true for `a == b`.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.pre[a] <= self.pre[b] && self.pre[b] <= self.last[a]
    }
}

/// Which blocks every path from the entry passes.
#[derive(Clone, Debug, Default)]
pub struct DomTree {
    /// [`Cfg::number`] of the graph.
    graph: u64,
    tree: Tree,
    order: Vec<Block>,
    position: SecondaryMap<Block, u32>,
}

impl DomTree {
    /// The tree of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        let mut tree = DomTree::default();
        tree.compute(cfg);
        tree
    }

    /// Makes it the tree of a graph.
    pub fn compute(&mut self, cfg: &Cfg) {
        if std::mem::replace(&mut self.graph, cfg.number()) == cfg.number() {
            return;
        }
        copy_order(cfg.rpo(), cfg.block_count(), &mut self.order, &mut self.position);
        let order = &self.order;
        self.tree.compute(order.len(), |n| cfg.preds(order[n as usize]).iter().map(|&b| cfg.position(b)));
    }

    /// The closest block, other than the block itself, that dominates it.
    pub fn idom(&self, block: Block) -> Option<Block> {
        match self.position[block] {
            0 | UNREACHABLE => None,
            n => Some(self.order[self.tree.idom[n as usize] as usize]),
        }
    }

    /// Whether every path from the entry to `b` passes `a`; true for `a == b`. Unreachable blocks
    /// dominate only themselves.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (pa, pb) = (self.position[a], self.position[b]);
        if pa == UNREACHABLE || pb == UNREACHABLE { a == b } else { self.tree.contains(pa, pb) }
    }

    /// Preorder number in the tree: sort by it to visit parents before children.
    pub fn preorder(&self, block: Block) -> u32 {
        match self.position[block] {
            UNREACHABLE => UNREACHABLE,
            n => self.tree.pre[n as usize],
        }
    }
}

/// Which blocks every path to the end passes.
///
/// All returns lead to one virtual end. From a region that never ends (an infinite loop), the block
/// latest in the order is taken to lead there too, so that every reachable block has a place.
#[derive(Clone, Debug, Default)]
pub struct PostDomTree {
    /// [`Cfg::number`] of the graph.
    graph: u64,
    tree: Tree,
    /// Reverse-graph order; entry 0 stands for the virtual end.
    order: Vec<Block>,
    position: SecondaryMap<Block, u32>,
    /// Blocks that lead to the virtual end.
    ends: Vec<bool>,
    stack: Vec<(Block, u32)>,
}

impl PostDomTree {
    /// The tree of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        let mut tree = PostDomTree::default();
        tree.compute(cfg);
        tree
    }

    /// Makes it the tree of a graph.
    pub fn compute(&mut self, cfg: &Cfg) {
        if std::mem::replace(&mut self.graph, cfg.number()) == cfg.number() {
            return;
        }
        let count = cfg.block_count();
        self.ends.clear();
        self.ends.resize(count, false);
        self.position.clear();
        self.position.resize(count);
        self.order.clear();
        // `position` is 0 for unseen blocks during the walk; the virtual end has number 0 afterwards.
        for &block in cfg.rpo().iter().rev() {
            if cfg.succs(block).next().is_none() {
                self.walk(cfg, block);
            }
        }
        for &block in cfg.rpo().iter().rev() {
            if self.position[block] == 0 {
                self.walk(cfg, block);
            }
        }
        self.order.push(Block::new(0));
        self.order.reverse();
        for n in 0..count {
            self.position[Block::new(n)] = UNREACHABLE;
        }
        for (n, &block) in self.order.iter().enumerate().skip(1) {
            self.position[block] = n as u32;
        }
        let PostDomTree { tree, order, position, ends, .. } = self;
        tree.compute(order.len(), |n| {
            let block = order[n as usize];
            let end = ends[block.index()].then_some(0);
            cfg.succs(block).map(|s| position[s]).chain(end)
        });
    }

    /// Postorder of the reverse graph from one end.
    fn walk(&mut self, cfg: &Cfg, end: Block) {
        self.ends[end.index()] = true;
        self.position[end] = 1;
        self.stack.push((end, 0));
        while let Some(top) = self.stack.last_mut() {
            let (block, n) = *top;
            top.1 += 1;
            match cfg.preds(block).get(n as usize) {
                Some(&pred) if self.position[pred] == 0 => {
                    self.position[pred] = 1;
                    self.stack.push((pred, 0));
                }
                Some(_) => {}
                None => {
                    self.stack.pop();
                    self.order.push(block);
                }
            }
        }
    }

    /// The closest block, other than the block itself, that every path from it to the end passes;
    /// `None` if that is the end itself.
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        match self.position[block] {
            UNREACHABLE => None,
            n => match self.tree.idom[n as usize] {
                0 => None,
                p => Some(self.order[p as usize]),
            },
        }
    }

    /// Whether every path from `b` to the end passes `a`; true for `a == b`.
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        let (pa, pb) = (self.position[a], self.position[b]);
        if pa == UNREACHABLE || pb == UNREACHABLE { a == b } else { self.tree.contains(pa, pb) }
    }
}

fn copy_order(from: &[Block], count: usize, order: &mut Vec<Block>, position: &mut SecondaryMap<Block, u32>) {
    order.clear();
    order.extend_from_slice(from);
    position.clear();
    position.resize(count);
    for n in 0..count {
        position[Block::new(n)] = UNREACHABLE;
    }
    for (n, &block) in order.iter().enumerate() {
        position[block] = n as u32;
    }
}
