//! Decides which blocks after the exits of a divergent loop are laid out inside the loop. Lanes then execute
//! such a block in the iteration in which they leave, and not together with other lanes after the loop.

use ir::analysis::Analyses;
use ir::{Block, Function, Op, Order, Type};

/// Number of exits of a loop above which short blocks after the exits are laid out inside the loop.
const MANY_EXITS: usize = 4;
/// Largest length of a short block that is laid out inside the loop, in instructions for each exit of the
/// loop. Lanes that leave in different iterations execute the block one after the other, which costs time.
/// The limit grows with the number of exits, because the more exits the loop has, the fewer lanes use the
/// same exit.
const SHORT: usize = 3;

/// Finds the blocks after loop exits that are laid out inside the loop; [`ExitsInLoop::compute`] must run
/// first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitsInLoop {
    /// For each block: whether it defines a condition that another block uses. This block must not be laid
    /// out inside a loop, because each execution would overwrite the lane mask of the condition with that of
    /// other lanes.
    strays: Vec<bool>,
}

impl ExitsInLoop {
    /// Fills `strays` by looking for conditions that are used outside the block that defines them.
    pub fn compute(&mut self, func: &Function, an: &Analyses) {
        self.strays.clear();
        if !an.uniformity.has_divergent_loop() {
            return;
        }
        self.strays.resize(func.blocks.len(), false);
        for &block in an.cfg.rpo() {
            for &inst in func.blocks[block].insts() {
                for &arg in func.args(inst) {
                    let home = func.block_of(arg);
                    if func.ty(arg) == Type::Bool && home != block {
                        self.strays[home.as_u32() as usize] = true;
                    }
                }
            }
        }
    }

    /// Returns whether a block behind a divergent loop is nevertheless laid out inside the loop. Lanes enter
    /// such a block when they leave the loop. The result is true for two kinds of blocks: a block that only
    /// passes values on, if the loop has several exits; and a short block, if the loop has so many exits that
    /// the lane masks of all of them would not fit into the SGPRs.
    pub fn leaves_loop(&self, func: &Function, an: &Analyses, block: Block) -> bool {
        let ([pred], Op::Jump(to)) = (an.cfg.preds(block), end_op(func, block)) else { return false };
        let Some(mut l) = an.loops.innermost(*pred) else { return false };
        // If the block were inside the loop, lanes that leave the loop would be parked at `to`, the block
        // after it. But lanes cannot be parked at a loop header in this way, because the header runs in every
        // iteration of its own loop.
        if an.cfg.is_loop_header(to) || an.loops.contains(l, block) {
            return false;
        }
        let insts = func.blocks[block].insts();
        let empty = insts.len() == 1;
        let stray = self.strays.get(block.as_u32() as usize) == Some(&true);
        let movable = insts.iter().all(|&inst| is_own_business(func.insts[inst].op));
        while !an.loops.contains(l, block) {
            let exits = an.loops.exits(l).len();
            let short = movable && exits > MANY_EXITS && insts.len() <= SHORT * exits;
            if !stray && an.uniformity.is_loop_divergent(l) && (empty && exits > 1 || short) {
                return true;
            }
            let Some(parent) = an.loops.parent(l) else { return false };
            l = parent;
        }
        false
    }
}

/// Returns whether the effect of an operation in one lane does not depend on which other lanes are active. A
/// block of such operations may run several times, each time for other lanes that leave the loop.
fn is_own_business(op: Op) -> bool {
    match op {
        Op::Load { mem, .. } | Op::Store { mem, .. } => mem.order == Order::NotAtomic,
        op => op.is_pure() || matches!(op, Op::Jump(_)),
    }
}

/// Returns the operation that ends a block.
pub(crate) fn end_op(func: &Function, block: Block) -> Op {
    func.terminator(block).map_or(Op::Unreachable, |inst| func.insts[inst].op)
}
