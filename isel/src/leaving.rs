//! Blocks behind an exit of a divergent loop whose place is where the loop is left.

use ir::analysis::Analyses;
use ir::{Block, Function, Op, Order, Type};

/// Exits of a loop beyond which what is behind them, if it is short, is done where the loop is left.
const MANY_EXITS: usize = 4;
/// What is short: so many instructions an exit. Lanes that leave in different iterations do it one after the other, but
/// the more exits there are, the fewer lanes meet behind each.
const SHORT: usize = 3;

/// Finds the blocks; [`Leaving::compute`] comes first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving {
    /// By block: a condition defined there is used in another block. Where such a block repeats, the lane mask of the
    /// condition would be overwritten with that of the lanes that come next.
    strays: Vec<bool>,
}

impl Leaving {
    /// Looks at all conditions of the function.
    pub fn compute(&mut self, func: &Function, an: &Analyses) {
        self.strays.clear();
        if !an.uniformity.has_divergent_loop() {
            return;
        }
        self.strays.resize(func.blocks.len(), false);
        for &block in an.cfg.rpo() {
            for &inst in &func.blocks[block].insts {
                for &arg in func.args(inst) {
                    let home = func.block_of(arg);
                    if func.ty(arg) == Type::Bool && home != block {
                        self.strays[home.as_u32() as usize] = true;
                    }
                }
            }
        }
    }

    /// Whether the block is on an edge by which some lanes leave a loop in which others stay, or which they leave by
    /// another edge, and its place is there: it does nothing but pass values on, or the loop has so many exits that a
    /// mask for each would not do.
    pub fn leaves_loop(&self, func: &Function, an: &Analyses, block: Block) -> bool {
        let ([pred], Op::Jump(to)) = (an.cfg.preds(block), end_op(func, block)) else { return false };
        let Some(mut l) = an.loops.innermost(*pred) else { return false };
        // Lanes do not wait at headers, which run in every iteration.
        if an.cfg.is_loop_header(to) || an.loops.contains(l, block) {
            return false;
        }
        let insts = &func.blocks[block].insts;
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

/// Whether it does not matter to the operation which other lanes take part.
fn is_own_business(op: Op) -> bool {
    match op {
        Op::Load { mem, .. } | Op::Store { mem, .. } => mem.order == Order::NotAtomic,
        op => op.is_pure() || matches!(op, Op::Jump(_)),
    }
}

/// The operation that ends a block.
pub(crate) fn end_op(func: &Function, block: Block) -> Op {
    func.terminator(block).map_or(Op::Unreachable, |inst| func.insts[inst].op)
}
