//! The loop forest of a function, as found by [`Cfg`].

use super::cfg::Cfg;
use crate::entity::Block;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use std::ops::Range;

/// A loop. Outer loops have smaller numbers than the loops they contain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

#[derive(Clone, Debug)]
struct LoopData {
    header: Block,
    parent: PackedOption<Loop>,
    preheader: PackedOption<Block>,
    depth: u32,
    /// The blocks of the loop, as a range of positions in `Cfg::rpo`.
    blocks: Range<u32>,
    latches: Range<u32>,
    exits: Range<u32>,
}

/// All loops of a function and their nesting.
#[derive(Clone, Debug, Default)]
pub struct LoopForest {
    /// [`Cfg::number`] of the graph from which the loops were computed.
    graph: u64,
    loops: PrimaryMap<Loop, LoopData>,
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
    order: Vec<Block>,
    latches: Vec<Block>,
    exits: Vec<(Block, Block)>,
    /// Scratch: each edge together with each loop that it leaves.
    leaving: Vec<(Loop, (Block, Block))>,
}

impl LoopForest {
    /// Computes the loops of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        let mut forest = LoopForest::default();
        forest.compute(cfg);
        forest
    }

    /// Recomputes the loops for a graph, unless they already are the loops of this graph.
    pub fn compute(&mut self, cfg: &Cfg) {
        if std::mem::replace(&mut self.graph, cfg.number()) == cfg.number() {
            return;
        }
        self.loops.clear();
        self.innermost.clear();
        self.innermost.resize(cfg.block_count());
        self.order.clear();
        self.order.extend_from_slice(cfg.rpo());
        self.latches.clear();
        self.exits.clear();
        for (at, &block) in cfg.rpo().iter().enumerate() {
            let around = cfg.loop_around(block).and_then(|header| self.innermost[header].expand());
            self.innermost[block] = around.into();
            if cfg.is_loop_header(block) {
                let depth = around.map_or(1, |l| self.loops[l].depth + 1);
                let at = at as u32;
                let new = self.loops.push(LoopData {
                    header: block,
                    parent: around.into(),
                    preheader: None.into(),
                    depth,
                    blocks: at..at,
                    latches: 0..0,
                    exits: 0..0,
                });
                self.innermost[block] = new.into();
            }
            if let Some(l) = self.innermost[block].expand() {
                self.loops[l].blocks.end = at as u32 + 1;
            }
        }
        for l in self.loops.keys().rev() {
            let LoopData { parent, ref blocks, .. } = self.loops[l];
            let end = blocks.end;
            if let Some(parent) = parent.expand() {
                let outer = &mut self.loops[parent].blocks.end;
                *outer = end.max(*outer);
            }
        }
        for l in self.loops.keys() {
            self.entries(cfg, l);
        }
        self.find_exits(cfg);
    }

    /// Finds the latches and the preheader of one loop.
    fn entries(&mut self, cfg: &Cfg, l: Loop) {
        let header = self.loops[l].header;
        let first_latch = self.latches.len() as u32;
        let mut outside = None;
        let mut entries = 0;
        for &pred in cfg.preds(header) {
            if self.contains(l, pred) {
                self.latches.push(pred);
            } else {
                outside = Some(pred);
                entries += 1;
            }
        }
        let preheader = outside.filter(|&p| entries == 1 && cfg.succs(p).count() == 1);
        let data = &mut self.loops[l];
        data.preheader = preheader.into();
        data.latches = first_latch..self.latches.len() as u32;
    }

    /// Finds the edges that leave each loop, in the order of their source blocks.
    fn find_exits(&mut self, cfg: &Cfg) {
        self.leaving.clear();
        for &block in &self.order {
            for succ in cfg.succs(block) {
                let mut around = self.innermost(block);
                while let Some(l) = around.filter(|&l| !self.contains(l, succ)) {
                    self.leaving.push((l, (block, succ)));
                    around = self.parent(l);
                }
            }
        }
        self.leaving.iter().for_each(|&(l, _)| self.loops[l].exits.end += 1);
        let mut total = 0;
        for data in self.loops.values_mut() {
            let count = data.exits.end;
            data.exits = total..total;
            total += count;
        }
        self.exits.resize(total as usize, (Block::new(0), Block::new(0)));
        for &(l, edge) in &self.leaving {
            let end = &mut self.loops[l].exits.end;
            self.exits[*end as usize] = edge;
            *end += 1;
        }
    }

    /// Returns the loops, outer loops before inner loops, in the order of their headers.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = Loop> + use<> {
        self.loops.keys()
    }

    /// Returns whether there are no loops.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Returns the number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Returns the innermost loop that contains the block. A header is contained in its own loop.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// Returns the number of loops that contain the block.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |l| self.loops[l].depth)
    }

    /// Returns the nesting depth of the loop: 1 for an outermost loop.
    pub fn loop_depth(&self, l: Loop) -> u32 {
        self.loops[l].depth
    }

    /// Returns the header of the loop: the block with which all iterations begin.
    pub fn header(&self, l: Loop) -> Block {
        self.loops[l].header
    }

    /// Returns the innermost loop that contains this loop.
    pub fn parent(&self, l: Loop) -> Option<Loop> {
        self.loops[l].parent.expand()
    }

    /// Returns the blocks of the loop and of the loops in it, header first, in the order of [`Cfg::rpo`].
    pub fn blocks(&self, l: Loop) -> &[Block] {
        let range = &self.loops[l].blocks;
        &self.order[range.start as usize..range.end as usize]
    }

    /// Returns the preheader: the only predecessor of the header outside the loop, if the header is its only
    /// successor.
    pub fn preheader(&self, l: Loop) -> Option<Block> {
        self.loops[l].preheader.expand()
    }

    /// Returns the blocks that have a back edge to the header.
    pub fn latches(&self, l: Loop) -> &[Block] {
        let range = &self.loops[l].latches;
        &self.latches[range.start as usize..range.end as usize]
    }

    /// Returns the edges that leave the loop, each as its source block in the loop and its target block
    /// outside.
    pub fn exits(&self, l: Loop) -> &[(Block, Block)] {
        let range = &self.loops[l].exits;
        &self.exits[range.start as usize..range.end as usize]
    }

    /// Returns whether the block is in the loop or in a loop inside it.
    pub fn contains(&self, l: Loop, block: Block) -> bool {
        // The blocks of a loop, including the loops in it, are one slice of the order.
        let inner = self.innermost(block);
        inner.is_some_and(|inner| self.loops[l].blocks.contains(&self.loops[inner].blocks.start))
    }
}
