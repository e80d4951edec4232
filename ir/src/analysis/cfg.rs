//! Predecessors, successors and a reverse postorder in which every loop is contiguous.
//!
//! One depth-first walk finds the order and, for each block, the header of the innermost loop around it (T.
//! Wei, J. Mao, W. Zou, Y. Chen, "A New Algorithm for Identifying Loops in Decompilation", SAS 2007). The
//! resulting order visits the tree of nested loops in preorder, with siblings in reverse postorder. The
//! blocks of each loop are then one slice of the order, header first. If the graph is reducible, every block
//! still comes before the targets of its forward edges.

use crate::entity::Block;
use crate::func::Function;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::sync::atomic::{AtomicU64, Ordering};

/// Position of a block that cannot be reached from the entry.
pub const UNREACHABLE: u32 = u32::MAX;

/// The number that the next computed graph gets. Each computed graph gets a new number, which a copy of the
/// graph keeps, so two graphs with equal numbers are equal. The empty graph has the number 0.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Range of its successors in `Cfg::succs`.
    succ_start: u32,
    succ_end: u32,
    /// Range of its predecessors in `Cfg::preds`.
    pred_start: u32,
    pred_end: u32,
    /// Header of the innermost loop around the block. For a loop header, the header of the next outer loop.
    around: PackedOption<Block>,
    is_header: bool,
}

/// The control-flow graph of a function. Only blocks reachable from the entry are part of it.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    nodes: Vec<Node>,
    succs: Vec<Block>,
    preds: Vec<Block>,
    rpo: Vec<Block>,
    position: SecondaryMap<Block, u32>,
    irreducible: bool,
    /// Number of blocks in the layout, reachable or not.
    laid_out: usize,
    number: u64,
    scratch: Scratch,
}

/// Storage of the walk, kept for the next one.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// The blocks on the path from the entry to the block that the walk is visiting. With each block, the
    /// number of its successors that the walk has visited.
    stack: Vec<(Block, u32)>,
    /// For each block, its depth on the current path plus one; 0 if it is not on the path.
    path: Vec<u32>,
    visited: Vec<bool>,
    post: Vec<Block>,
    first_child: Vec<PackedOption<Block>>,
    next_sibling: Vec<PackedOption<Block>>,
}

impl Cfg {
    /// Computes the graph of `func`.
    pub fn new(func: &Function) -> Self {
        let mut cfg = Cfg::default();
        cfg.compute(func);
        cfg
    }

    /// Recomputes the graph for `func`. If `func` still has the blocks and edges of the graph, as after most
    /// passes, nothing is recomputed.
    pub fn compute(&mut self, func: &Function) {
        if self.is_of(func) {
            return;
        }
        self.number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        self.laid_out = func.layout.len();
        let count = func.blocks.len();
        self.nodes.clear();
        self.nodes.resize(count, Node::default());
        self.rpo.clear();
        self.position.clear();
        self.position.resize(count);
        self.irreducible = false;
        self.succs.clear();
        if func.layout.is_empty() {
            return;
        }
        for &block in &func.layout {
            let start = self.succs.len() as u32;
            self.succs.extend(func.succs(block));
            let node = &mut self.nodes[block.index()];
            (node.succ_start, node.succ_end) = (start, self.succs.len() as u32);
        }
        self.walk(func.entry());
        self.order();
        self.collect_preds();
    }

    /// Returns whether `func` still has exactly the blocks and edges of this graph.
    fn is_of(&self, func: &Function) -> bool {
        if self.nodes.len() != func.blocks.len() || self.laid_out != func.layout.len() {
            return false;
        }
        if self.rpo.first() != func.layout.first() {
            return false;
        }
        let mut rest = self.succs.as_slice();
        let has_same_edges = |&block: &Block| {
            let Node { succ_start, succ_end, .. } = self.nodes[block.index()];
            let is_next = self.succs.len() - rest.len() == succ_start as usize;
            let Some((own, after)) = rest.split_at_checked((succ_end - succ_start) as usize) else {
                return false;
            };
            rest = after;
            is_next && func.succs(block).eq(own.iter().copied())
        };
        func.layout.iter().all(has_same_edges)
    }

    /// Walks the graph depth-first, and computes the postorder and the loop headers.
    fn walk(&mut self, entry: Block) {
        let count = self.nodes.len();
        let s = &mut self.scratch;
        s.path.clear();
        s.path.resize(count, 0);
        s.visited.clear();
        s.visited.resize(count, false);
        s.post.clear();
        s.stack.clear();
        s.stack.push((entry, 0));
        s.path[entry.index()] = 1;
        s.visited[entry.index()] = true;
        while let Some(top) = s.stack.last_mut() {
            let block = top.0;
            let Node { succ_start, succ_end, .. } = self.nodes[block.index()];
            if top.1 == succ_end - succ_start {
                s.stack.pop();
                s.post.push(block);
                s.path[block.index()] = 0;
                if let (Some(&(parent, _)), Some(header)) =
                    (s.stack.last(), self.nodes[block.index()].around.expand())
                {
                    put_in_loop(&mut self.nodes, &s.path, parent, header);
                }
                continue;
            }
            top.1 += 1;
            // The walk visits the successors of a block in reverse. The first successor then comes directly
            // after the block in the reverse postorder.
            let succ = self.succs[(succ_end - top.1) as usize];
            if !s.visited[succ.index()] {
                s.visited[succ.index()] = true;
                s.path[succ.index()] = s.stack.len() as u32 + 1;
                s.stack.push((succ, 0));
            } else if s.path[succ.index()] > 0 {
                self.nodes[succ.index()].is_header = true;
                put_in_loop(&mut self.nodes, &s.path, block, succ);
            } else {
                // The walk has left `succ` before, so the loops around `succ` are known. `block` has an edge
                // to `succ`, so it belongs to those of these loops whose headers are on the current path.
                let mut header = self.nodes[succ.index()].around.expand();
                while let Some(h) = header {
                    if s.path[h.index()] > 0 {
                        put_in_loop(&mut self.nodes, &s.path, block, h);
                        break;
                    }
                    self.irreducible = true; // edge into the middle of a finished loop
                    header = self.nodes[h.index()].around.expand();
                }
            }
        }
    }

    /// Computes the order: the preorder of the loop nesting tree.
    fn order(&mut self) {
        let s = &mut self.scratch;
        let count = self.nodes.len();
        s.first_child.clear();
        s.first_child.resize(count, None.into());
        s.next_sibling.clear();
        s.next_sibling.resize(count, None.into());
        let mut root: PackedOption<Block> = None.into();
        for &block in &s.post {
            let head = match self.nodes[block.index()].around.expand() {
                Some(header) => &mut s.first_child[header.index()],
                None => &mut root,
            };
            s.next_sibling[block.index()] = *head;
            *head = block.into();
        }
        s.stack.clear();
        let mut next = root.expand();
        while let Some(block) = next {
            self.position[block] = self.rpo.len() as u32;
            self.rpo.push(block);
            next = s.first_child[block.index()].expand();
            if next.is_some() {
                s.stack.push((block, 0));
                continue;
            }
            next = s.next_sibling[block.index()].expand();
            while next.is_none() {
                let Some((parent, _)) = s.stack.pop() else { break };
                next = s.next_sibling[parent.index()].expand();
            }
        }
    }

    fn collect_preds(&mut self) {
        for n in 0..self.nodes.len() {
            if !self.scratch.visited[n] {
                self.position[Block::new(n)] = UNREACHABLE;
            }
        }
        for &block in &self.rpo {
            let Node { succ_start, succ_end, .. } = self.nodes[block.index()];
            for succ in &self.succs[succ_start as usize..succ_end as usize] {
                self.nodes[succ.index()].pred_end += 1;
            }
        }
        let mut total = 0;
        for node in &mut self.nodes {
            let count = node.pred_end;
            node.pred_start = total;
            node.pred_end = total;
            total += count;
        }
        self.preds.clear();
        self.preds.resize(total as usize, Block::new(0));
        for &block in &self.rpo {
            let Node { succ_start, succ_end, .. } = self.nodes[block.index()];
            for succ in &self.succs[succ_start as usize..succ_end as usize] {
                let node = &mut self.nodes[succ.index()];
                self.preds[node.pred_end as usize] = block;
                node.pred_end += 1;
            }
        }
    }

    /// Returns the reachable blocks, in an order in which every block precedes its successors, except for
    /// back edges to loop headers.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// Returns the index of a block in [`Cfg::rpo`], or [`UNREACHABLE`] if the block cannot be reached from
    /// the entry.
    pub fn position(&self, block: Block) -> u32 {
        self.position[block]
    }

    /// Returns whether the block is reachable from the entry.
    pub fn is_reachable(&self, block: Block) -> bool {
        block.index() < self.nodes.len() && self.position[block] != UNREACHABLE
    }

    /// Returns the predecessors in the order of [`Cfg::rpo`]. A block with several edges to this block occurs
    /// once for each edge.
    pub fn preds(&self, block: Block) -> &[Block] {
        let node = &self.nodes[block.index()];
        &self.preds[node.pred_start as usize..node.pred_end as usize]
    }

    /// Returns the successors in branch order.
    pub fn succs(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let Node { succ_start, succ_end, .. } = self.nodes[block.index()];
        self.succs[succ_start as usize..succ_end as usize].iter().copied()
    }

    /// Returns the header of the innermost loop around the block; for a loop header, the header of the next
    /// outer loop.
    pub fn loop_around(&self, block: Block) -> Option<Block> {
        self.nodes[block.index()].around.expand()
    }

    /// Returns whether the block is the target of a back edge.
    pub fn is_loop_header(&self, block: Block) -> bool {
        self.nodes[block.index()].is_header
    }

    /// Returns whether the edge is a back edge to a loop header.
    pub fn is_back_edge(&self, from: Block, to: Block) -> bool {
        self.position[to] <= self.position[from]
    }

    /// Returns whether some loop has a second entry. The frontend creates no loops with two entries, and
    /// passes must not create one.
    pub fn is_irreducible(&self) -> bool {
        self.irreducible
    }

    /// Returns the number that identifies the graph. Results derived from a graph are valid for every graph
    /// with the same number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of blocks that the function had when the graph was computed. Unreachable blocks are
    /// counted too.
    pub fn block_count(&self) -> usize {
        self.nodes.len()
    }
}

/// Records that `block` is in the loop with the header `header`, which is on the current path. `block` and
/// `header` each have a chain of loop headers: those of the loops around them, from the innermost loop
/// outwards. The two chains are merged to one chain in the same order.
fn put_in_loop(nodes: &mut [Node], path: &[u32], block: Block, header: Block) {
    if block == header {
        return;
    }
    let (mut inner, mut outer) = (block, header);
    while let Some(around) = nodes[inner.index()].around.expand() {
        if around == outer {
            return;
        }
        if path[around.index()] < path[outer.index()] {
            nodes[inner.index()].around = outer.into();
            inner = outer;
            outer = around;
        } else {
            inner = around;
        }
    }
    nodes[inner.index()].around = outer.into();
}
