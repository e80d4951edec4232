//! What not all work-items of a group, or not all lanes of a wave, come to: instructions behind a branch on which they part.
//!
//! Unlike [`Uniformity`](super::Uniformity), which calls divergent whatever may be, this tells only what surely is: conditions
//! computed from the numbers of work-items and lanes alone. What comes from memory, or over different paths, is not told.
//!
//! # Method
//! One sweep over the order, and a second one for what comes around loops, finds the values; the blocks between a branch on such a value
//! and its post-dominator are parted. Regions of branches inside each other are walked once each, up to a budget in
//! proportion to the function.

use super::cfg::Cfg;
use super::dominance::PostDomTree;
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use crate::op::{Op, Pos, WaveOp};
use cranelift_entity::SecondaryMap;

/// Memory of the search, and what it found.
#[derive(Clone, Debug, Default)]
pub struct Parting {
    cfg: Cfg,
    postdom: PostDomTree,
    own: SecondaryMap<Value, bool>,
    /// The branch on which those part that come to a block.
    parted: SecondaryMap<Block, Option<Inst>>,
    stack: Vec<Block>,
    found: Vec<(Inst, Inst)>,
}

impl Parting {
    /// Instructions that `meets` picks and that not all come to, each with the branch on which they part.
    pub fn find(&mut self, func: &Function, meets: impl Fn(Op) -> bool) -> &[(Inst, Inst)] {
        self.found.clear();
        let blocks = || func.layout.iter().copied();
        let met = |block: Block| {
            func.blocks[block].insts.iter().copied().filter(|&inst| meets(func.insts[inst].op))
        };
        if func.kernel.is_none() || !blocks().any(|block| met(block).next().is_some()) {
            return &self.found;
        }
        self.compute(func);
        for block in blocks() {
            if let Some(branch) = self.parted[block] {
                self.found.extend(met(block).map(|inst| (inst, branch)));
            }
        }
        &self.found
    }

    /// Finds out what work-items part on.
    pub(super) fn compute(&mut self, func: &Function) {
        self.cfg.compute(func);
        self.postdom.compute(&self.cfg);
        self.values(func);
        self.regions(func);
    }

    /// The function's graph.
    pub(super) fn cfg(&self) -> &Cfg {
        &self.cfg
    }

    /// The branch on which those part that come to a block.
    pub(super) fn branch_of(&self, block: Block) -> Option<Inst> {
        self.parted[block]
    }

    /// Whether every work-item executes a block that is not behind a branch at all.
    pub(super) fn comes_to_all(&self, entry: Block, block: Block) -> bool {
        block == entry || self.parted[block].is_none() && self.postdom.post_dominates(block, entry)
    }

    /// Values that are a work-item's own.
    fn values(&mut self, func: &Function) {
        self.own.clear();
        for _ in 0..2 {
            for n in 0..self.cfg.rpo().len() {
                for &inst in &func.blocks[self.cfg.rpo()[n]].insts {
                    self.value(func, inst);
                }
            }
        }
    }

    fn value(&mut self, func: &Function, inst: Inst) {
        let data = &func.insts[inst];
        let inherits = || func.args(inst).iter().any(|&arg| self.own[arg]);
        let own = match data.op {
            Op::Pos(Pos::LocalId(d) | Pos::GlobalId(d)) => {
                let size = func.kernel.as_ref().and_then(|kernel| kernel.reqd_workgroup_size);
                size.is_none_or(|size| size.get(usize::from(d)) != Some(&1))
            }
            Op::Pos(Pos::LaneId) | Op::Wave(WaveOp::Mbcnt) => true,
            Op::Jump(_) | Op::Br { .. } | Op::Switch(_) => {
                for (which, to) in func.succs(data.block).enumerate() {
                    for (&param, &arg) in func.params(to).iter().zip(func.branch_args(inst, which)) {
                        self.own[param] |= self.own[arg];
                    }
                }
                return;
            }
            op => op.is_pure() && inherits(),
        };
        if own {
            for value in func.results_of(inst) {
                self.own[value] = true;
            }
        }
    }

    /// Blocks between a branch on such a value and where its ways meet again.
    fn regions(&mut self, func: &Function) {
        self.parted.clear();
        let mut budget = 16 * self.cfg.rpo().len();
        for n in 0..self.cfg.rpo().len() {
            let block = self.cfg.rpo()[n];
            let Some(branch) = func.terminator(block) else { continue };
            let parts = matches!(func.insts[branch].op, Op::Br { .. } | Op::Switch(_));
            if !parts || !func.args(branch).first().is_some_and(|&cond| self.own[cond]) {
                continue;
            }
            let end = self.postdom.ipdom(block);
            self.stack.extend(self.cfg.succs(block));
            while let Some(next) = self.stack.pop() {
                let inside = Some(next) != end && self.parted[next] != Some(branch);
                if inside && budget > 0 {
                    budget -= 1;
                    self.parted[next] = Some(branch);
                    self.stack.extend(self.cfg.succs(next));
                }
            }
        }
    }
}
