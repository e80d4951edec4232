//! Dataflow analyses: facts that flow through the blocks of a function along edges until nothing changes.
//!
//! [`Worklist`] says which block an analysis visits next, whatever the analysis' facts are and along which
//! edges they flow. [`Heads`] also keeps the facts, for analyses whose facts flow forward: one state for the
//! beginning of each block. The analysis itself consists of three parts:
//!
//! * the *transfer* through a block, a loop over the block's instructions;
//! * the choice of the edges;
//! * the *join* of the states of two paths, which says whether the state at the beginning of the block has
//!   changed. The states must not change without end.
//!
//! ```
//! # use mir::{MachFunc, flow::Heads};
//! /// Returns, for each block, the largest number of instructions on a path to the block, up to `most`.
//! fn distances(func: &MachFunc, most: usize) -> Vec<usize> {
//!     let mut heads: Heads<usize> = Heads::default();
//!     heads.visit_all(func);
//!     while let Some((block, head)) = heads.pop() {
//!         let end = most.min(head.copied().unwrap_or(0) + func.blocks[block].insts.len());
//!         for edge in func.blocks[block].linear.iter().flatten() {
//!             heads.reach(edge.to, &end, |own, new| {
//!                 let has_changed = new > own;
//!                 *own = (*own).max(*new);
//!                 has_changed
//!             });
//!         }
//!     }
//!     func.blocks.keys().map(|block| heads.get(block).copied().unwrap_or(0)).collect()
//! }
//! # assert_eq!(distances(&MachFunc::default(), 9), []);
//! ```
//!
//! Blocks are visited in rounds, in the order in which the function has them or in reverse order. Except for
//! the back edges of loops, edges lead to later blocks. So the order is a reverse postorder, in which few
//! rounds are enough.

use crate::MachFunc;
use cranelift_entity::EntityRef;
use isa::MBlock;

/// The blocks that an analysis has yet to visit.
#[derive(Debug, Default)]
pub struct Worklist {
    /// Whether each block is on the list, in the order of visits.
    waiting: Vec<bool>,
    /// Index in `waiting` of the block that is looked at next.
    next: usize,
    /// Whether the list may have blocks before `next`.
    is_wrapped: bool,
    is_backward: bool,
}

impl Worklist {
    /// Starts an analysis whose facts flow forward. All blocks are on the list if `all` is true; otherwise
    /// none is.
    pub fn start(&mut self, func: &MachFunc, all: bool) {
        self.waiting.clear();
        self.waiting.resize(func.blocks.len(), all);
        (self.next, self.is_wrapped, self.is_backward) = (0, false, false);
    }

    /// Starts an analysis whose facts flow backward. All blocks are on the list.
    pub fn start_backward(&mut self, func: &MachFunc) {
        self.start(func, true);
        self.is_backward = true;
    }

    /// Removes the next block from the list and returns it.
    #[inline]
    pub fn pop(&mut self) -> Option<MBlock> {
        loop {
            while let Some(waiting) = self.waiting.get_mut(self.next) {
                self.next += 1;
                if std::mem::take(waiting) {
                    return Some(MBlock::new(self.place(self.next - 1)));
                }
            }
            if !std::mem::take(&mut self.is_wrapped) {
                return None;
            }
            self.next = 0;
        }
    }

    /// Adds a block to the list.
    #[inline]
    pub fn add(&mut self, block: MBlock) {
        let place = self.place(block.index());
        self.waiting[place] = true;
        self.is_wrapped |= place < self.next;
    }

    /// Removes a block from the list.
    pub fn remove(&mut self, block: MBlock) {
        let place = self.place(block.index());
        self.waiting[place] = false;
    }

    /// Returns whether no block is on the list.
    pub fn is_empty(&self) -> bool {
        !self.waiting.contains(&true)
    }

    /// Converts between the index of a block and its place in the order of visits.
    fn place(&self, index: usize) -> usize {
        if self.is_backward { self.waiting.len() - 1 - index } else { index }
    }
}

/// The states at the beginnings of blocks, in an analysis whose facts flow forward. The memory is reused.
#[derive(Debug)]
pub struct Heads<S> {
    /// The states of the blocks that the analysis has reached, in the order in which it reached them, and
    /// states of earlier analyses, whose memory is reused.
    states: Vec<S>,
    /// For each block, the 1-based index of its state; 0 if the analysis has not reached the block.
    numbers: Vec<u32>,
    /// Number of blocks that the analysis has reached.
    count: u32,
    work: Worklist,
}

impl<S> Default for Heads<S> {
    fn default() -> Heads<S> {
        Heads { states: Vec::new(), numbers: Vec::new(), count: 0, work: Worklist::default() }
    }
}

impl<S: Clone> Heads<S> {
    /// Starts an analysis that visits only the blocks that it reaches. The analysis must reach the entry
    /// block first ([`Heads::reach`]).
    pub fn visit_reached(&mut self, func: &MachFunc) {
        self.start(func, false);
    }

    /// Starts an analysis that visits every block at least once, even if no path leads to the block.
    pub fn visit_all(&mut self, func: &MachFunc) {
        self.start(func, true);
    }

    fn start(&mut self, func: &MachFunc, all: bool) {
        self.work.start(func, all);
        self.numbers.clear();
        self.numbers.resize(func.blocks.len(), 0);
        self.count = 0;
    }

    /// Removes the next block to visit from the list. Returns the block and the state at its beginning.
    #[inline]
    pub fn pop(&mut self) -> Option<(MBlock, Option<&S>)> {
        let block = self.work.pop()?;
        Some((block, self.get(block)))
    }

    /// Returns the state at the beginning of a block; `None` if the analysis has not reached the block.
    #[inline]
    pub fn get(&self, block: MBlock) -> Option<&S> {
        self.states.get((self.numbers[block.index()] as usize).wrapping_sub(1))
    }

    /// Records that control reaches `block` with a state. `join` adds the state to the state at the block's
    /// beginning, and returns whether that changed the state at the block's beginning.
    #[inline]
    pub fn reach(&mut self, block: MBlock, state: &S, join: impl FnOnce(&mut S, &S) -> bool) {
        let number = &mut self.numbers[block.index()];
        if *number == 0 {
            match self.states.get_mut(self.count as usize) {
                Some(own) => own.clone_from(state),
                None => self.states.push(state.clone()),
            }
            self.count += 1;
            *number = self.count;
        } else if !join(&mut self.states[*number as usize - 1], state) {
            return;
        }
        self.work.add(block);
    }
}
