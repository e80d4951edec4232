//! The loops of a function, as [`Cfg`] found them.

use super::cfg::Cfg;
use crate::entity::Block;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use std::ops::Range;

/// A loop: outer loops have smaller numbers than the loops in them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

#[derive(Clone, Debug)]
struct LoopData {
    header: Block,
    parent: PackedOption<Loop>,
    preheader: PackedOption<Block>,
    depth: u32,
    /// The blocks, as positions in `Cfg::rpo`.
    blocks: Range<u32>,
    latches: Range<u32>,
    exits: Range<u32>,
}

/// All loops of a function and how they nest.
#[derive(Clone, Debug, Default)]
pub struct LoopForest {
    loops: PrimaryMap<Loop, LoopData>,
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
    order: Vec<Block>,
    latches: Vec<Block>,
    exits: Vec<(Block, Block)>,
}

impl LoopForest {
    /// The loops of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        let mut forest = LoopForest::default();
        forest.compute(cfg);
        forest
    }

    /// Recomputes the loops.
    pub fn compute(&mut self, cfg: &Cfg) {
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
            let mut up = self.innermost[block].expand();
            while let Some(l) = up {
                self.loops[l].blocks.end = at as u32 + 1;
                up = self.loops[l].parent.expand();
            }
        }
        for l in self.loops.keys() {
            self.edges(cfg, l);
        }
    }

    /// Latches, exits and preheader of one loop.
    fn edges(&mut self, cfg: &Cfg, l: Loop) {
        let LoopData { header, ref blocks, .. } = self.loops[l];
        let blocks = blocks.clone();
        let inside = |block: Block| blocks.contains(&cfg.position(block));
        let first_latch = self.latches.len() as u32;
        let mut outside = None;
        let mut entries = 0;
        for &pred in cfg.preds(header) {
            if inside(pred) {
                self.latches.push(pred);
            } else {
                outside = Some(pred);
                entries += 1;
            }
        }
        let preheader = outside.filter(|&p| entries == 1 && cfg.succs(p).count() == 1);
        let first_exit = self.exits.len() as u32;
        for at in blocks.clone() {
            let block = self.order[at as usize];
            for succ in cfg.succs(block).filter(|&s| !inside(s)) {
                self.exits.push((block, succ));
            }
        }
        let data = &mut self.loops[l];
        data.preheader = preheader.into();
        data.latches = first_latch..self.latches.len() as u32;
        data.exits = first_exit..self.exits.len() as u32;
    }

    /// Loops, outer before inner, in the order of their headers.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = Loop> + use<> {
        self.loops.keys()
    }

    /// Whether there are no loops.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// The innermost loop that holds the block (a header is in its own loop).
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// Number of loops around the block.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |l| self.loops[l].depth)
    }

    /// Number of loops around and including this one: 1 for an outermost loop.
    pub fn loop_depth(&self, l: Loop) -> u32 {
        self.loops[l].depth
    }

    /// The block all iterations begin with.
    pub fn header(&self, l: Loop) -> Block {
        self.loops[l].header
    }

    /// The loop around this one.
    pub fn parent(&self, l: Loop) -> Option<Loop> {
        self.loops[l].parent.expand()
    }

    /// Blocks of the loop and the loops in it, header first, in the order of [`Cfg::rpo`].
    pub fn blocks(&self, l: Loop) -> &[Block] {
        let range = &self.loops[l].blocks;
        &self.order[range.start as usize..range.end as usize]
    }

    /// The only predecessor of the header outside the loop, if it does nothing but jump there at its end.
    pub fn preheader(&self, l: Loop) -> Option<Block> {
        self.loops[l].preheader.expand()
    }

    /// Blocks that branch back to the header.
    pub fn latches(&self, l: Loop) -> &[Block] {
        let range = &self.loops[l].latches;
        &self.latches[range.start as usize..range.end as usize]
    }

    /// Edges that leave the loop: from a block in it to one outside.
    pub fn exits(&self, l: Loop) -> &[(Block, Block)] {
        let range = &self.loops[l].exits;
        &self.exits[range.start as usize..range.end as usize]
    }

    /// Whether the block is in the loop or one inside it.
    pub fn contains(&self, l: Loop, block: Block) -> bool {
        let mut up = self.innermost[block].expand();
        let depth = self.loops[l].depth;
        while let Some(inner) = up {
            if inner == l {
                return true;
            }
            if self.loops[inner].depth <= depth {
                return false;
            }
            up = self.loops[inner].parent.expand();
        }
        false
    }
}
