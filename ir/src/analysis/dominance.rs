//! Dominator and post-dominator trees.
//!
//! Implements K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm" (2001). Nodes are
//! numbered by their positions in an order of the blocks. The algorithm often climbs from two nodes to their
//! closest common ancestor. Jump pointers, which skip several levels of the tree, shorten this climb for deep
//! nodes.
//!
//! The implementation of the crate petgraph is not used because it keeps hash maps. For the small functions
//! of kernels, hash maps cost more than everything else in this module.

use super::cfg::{Cfg, UNREACHABLE};
use crate::entity::Block;
use cranelift_entity::{EntityRef, SecondaryMap};

/// The dominator tree of an arbitrary graph, with numbered nodes. Node 0 is the root; every other node must
/// have at least one predecessor with a smaller number.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    idom: Vec<u32>,
    /// For each node, its jump pointer and its depth. A jump pointer leads to an ancestor, often several
    /// levels up, so that climbing the tree takes few steps. Used only during the computation.
    jump: Vec<(u32, u32)>,
    /// Preorder number of each node, and the last preorder number in its subtree: `a` dominates `b` iff
    /// `pre[a] <= pre[b] <= last[a]`.
    pre: Vec<u32>,
    last: Vec<u32>,
    /// For each node, the next preorder number to assign in its subtree. Used only while preorder numbers are
    /// assigned.
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
        // So far the tree ignores back edges. A back edge changes the tree only if its target does not
        // dominate its source, that is, if the graph is irreducible. Such a graph is swept until nothing
        // changes.
        let goes_back = |node| preds(node).any(|pred| pred > node && !self.contains(node, pred));
        if (1..count as u32).any(goes_back) {
            self.run_to_fixpoint(count, preds);
            self.number(count);
        }
    }

    /// Sweeps over an irreducible graph until nothing changes.
    fn run_to_fixpoint<I: Iterator<Item = u32>>(&mut self, count: usize, preds: impl Fn(u32) -> I) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for node in 1..count as u32 {
                let best = preds(node).reduce(|best, pred| self.climb(best, pred)).unwrap_or(0);
                changed |= std::mem::replace(&mut self.idom[node as usize], best) != best;
            }
        }
    }

    /// Inserts a node below its parent, whose jump pointer is known, and sets the node's jump pointer. If the
    /// last two jumps from the parent have the same length, the node's jump pointer covers both. Otherwise it
    /// leads to the parent. A few jumps then lead from any node to any ancestor (E. W. Myers, "An applicative
    /// random-access stack", 1983).
    fn hang(&mut self, node: u32, parent: u32) {
        let (far, depth) = self.jump[parent as usize];
        let (farther, far_depth) = self.jump[far as usize];
        let equal = depth - far_depth == far_depth - self.jump[farther as usize].1;
        self.idom[node as usize] = parent;
        self.jump[node as usize] = (if equal { farther } else { parent }, depth + 1);
    }

    /// Returns the closest common ancestor of two nodes in the tree.
    fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if a < b {
                std::mem::swap(&mut a, &mut b);
            }
            // A jump must not go past the common ancestor. Ancestors have smaller numbers than their
            // descendants, so the common ancestor is at most `b`. A jump to a node that is not less than `b`
            // is therefore safe.
            let far = self.jump[a as usize].0;
            a = if far >= b { far } else { self.idom[a as usize] };
        }
        a
    }

    /// Returns the closest common ancestor without jump pointers, which are invalid while the tree is still
    /// changing.
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

    /// Computes preorder numbers without lists of children. A first sweep computes the sizes of subtrees,
    /// from the leaves to the root. A second sweep computes positions, from the root to the leaves. One sweep
    /// suffices for each because a parent has a smaller number than its children.
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

    /// Returns whether every path from the root to `b` passes through `a`; true for `a == b`.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.pre[a] <= self.pre[b] && self.pre[b] <= self.last[a]
    }
}

/// The dominator tree: for each block, the blocks through which every path from the entry passes.
#[derive(Clone, Debug, Default)]
pub struct DomTree {
    /// [`Cfg::number`] of the graph from which the tree was computed.
    graph: u64,
    tree: Tree,
    order: Vec<Block>,
    position: SecondaryMap<Block, u32>,
}

impl DomTree {
    /// Computes the tree of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        let mut tree = DomTree::default();
        tree.compute(cfg);
        tree
    }

    /// Recomputes the tree for a graph, unless it is already the tree of this graph.
    pub fn compute(&mut self, cfg: &Cfg) {
        if std::mem::replace(&mut self.graph, cfg.number()) == cfg.number() {
            return;
        }
        copy_order(cfg.rpo(), cfg.block_count(), &mut self.order, &mut self.position);
        let order = &self.order;
        self.tree.compute(order.len(), |n| cfg.preds(order[n as usize]).iter().map(|&b| cfg.position(b)));
    }

    /// Returns the immediate dominator: the closest block, other than the block itself, that dominates it.
    pub fn idom(&self, block: Block) -> Option<Block> {
        match self.position[block] {
            0 | UNREACHABLE => None,
            n => Some(self.order[self.tree.idom[n as usize] as usize]),
        }
    }

    /// Returns whether every path from the entry to `b` passes through `a`; true for `a == b`. Unreachable
    /// blocks dominate only themselves.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (pa, pb) = (self.position[a], self.position[b]);
        if pa == UNREACHABLE || pb == UNREACHABLE { a == b } else { self.tree.contains(pa, pb) }
    }

    /// Returns the preorder number in the tree. Sorting by it visits parents before children.
    pub fn preorder(&self, block: Block) -> u32 {
        match self.position[block] {
            UNREACHABLE => UNREACHABLE,
            n => self.tree.pre[n as usize],
        }
    }
}

/// The post-dominator tree: for each block, the blocks through which every path to the end passes.
///
/// All returns lead to one virtual end. Every reachable block must be in the tree, even one from which no
/// path leads to a return, because of an infinite loop. In such a region, the block that comes last in the
/// order is treated as if it also led to the virtual end.
#[derive(Clone, Debug, Default)]
pub struct PostDomTree {
    /// [`Cfg::number`] of the graph from which the tree was computed.
    graph: u64,
    tree: Tree,
    /// Blocks in reverse postorder of the reverse graph, whose edges lead backwards. Entry 0 stands for the
    /// virtual end.
    order: Vec<Block>,
    position: SecondaryMap<Block, u32>,
    /// For each block, whether it leads to the virtual end.
    ends: Vec<bool>,
    stack: Vec<(Block, u32)>,
}

impl PostDomTree {
    /// Computes the tree of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        let mut tree = PostDomTree::default();
        tree.compute(cfg);
        tree
    }

    /// Recomputes the tree for a graph, unless it is already the tree of this graph.
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
        // `position` is 0 for a block that the walk has not visited yet. After the walk, 0 is the number of
        // the virtual end.
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

    /// Walks the reverse graph from a block at which paths end, and appends the blocks in postorder.
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

    /// Returns the immediate post-dominator: the closest block, other than the block itself, through which
    /// every path from it to the end passes. `None` if that is the virtual end.
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        match self.position[block] {
            UNREACHABLE => None,
            n => match self.tree.idom[n as usize] {
                0 => None,
                p => Some(self.order[p as usize]),
            },
        }
    }

    /// Returns whether every path from `b` to the end passes through `a`; true for `a == b`.
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
