//! Finds instructions that only some work-items of a group, or only some lanes of a wave, execute. The reason
//! is a branch before the instruction that sends the work-items in different directions.
//!
//! [`Uniformity`](super::Uniformity) treats as divergent whatever may be divergent. In contrast, this
//! analysis reports only what is certain: branches on conditions that are computed only from the numbers of
//! work-items and lanes ([`own_bits`](super::own_bits)). Branches on conditions that come from memory are not
//! reported. A branch with the same source location as the instruction is not reported either, because both
//! implement one operation of the source, and all work-items that reach the operation execute it.
//!
//! # Method
//! One sweep over the block order finds the values that differ between work-items. A second sweep finds
//! values that are passed around loops. The blocks between a branch on such a value and its post-dominator
//! are marked as parted (only some of the work-items execute them). Nested regions are walked once each, up
//! to a budget proportional to the size of the function.

use super::cfg::Cfg;
use super::differing_bits::{LaneGroup, differing};
use super::dominance::PostDomTree;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::Op;
use cranelift_entity::SecondaryMap;

/// Reusable memory of the search, and its results.
#[derive(Clone, Debug, Default)]
pub struct PartialExecution {
    cfg: Cfg,
    postdom: PostDomTree,
    /// For each value, the mask of the bits in which the value differs between work-items that run together.
    own: SecondaryMap<Value, u64>,
    /// Source locations of the instructions for which the caller searches, sorted.
    places: Vec<SrcLoc>,
    /// For each block that not all work-items execute, the branch at which the work-items take different
    /// directions.
    parted: SecondaryMap<Block, Option<Inst>>,
    stack: Vec<Block>,
    found: Vec<(Inst, Inst)>,
}

impl PartialExecution {
    /// Returns the instructions that only some of the work-items execute, among those for which `meets`
    /// returns true. Each comes with the branch at which the work-items take different directions.
    pub fn find(
        &mut self,
        func: &Function,
        together: LaneGroup,
        meets: impl Fn(Op) -> bool,
    ) -> &[(Inst, Inst)] {
        self.found.clear();
        let blocks = || func.layout.iter().copied();
        let met = |block: Block| {
            func.blocks[block].insts().iter().copied().filter(|&inst| meets(func.insts[inst].op))
        };
        self.places.clear();
        self.places.extend(blocks().flat_map(met).map(|inst| func.own_location(inst)));
        if func.kernel.is_none() || self.places.is_empty() {
            return &self.found;
        }
        self.places.retain(|&place| place != SrcLoc::default());
        self.places.sort_unstable();
        self.part(func, together);
        for block in blocks() {
            if let Some(branch) = self.parted[block] {
                self.found.extend(met(block).map(|inst| (inst, branch)));
            }
        }
        &self.found
    }

    /// Computes which blocks only a part of the work-items of a group executes.
    pub(super) fn compute(&mut self, func: &Function) {
        self.places.clear();
        self.part(func, LaneGroup::Group);
    }

    fn part(&mut self, func: &Function, together: LaneGroup) {
        self.cfg.compute(func);
        self.postdom.compute(&self.cfg);
        self.values(func, together);
        self.regions(func);
    }

    /// Returns the control-flow graph of the function.
    pub(super) fn cfg(&self) -> &Cfg {
        &self.cfg
    }

    /// Returns the branch because of which only a part of the work-items reaches a block. `None` if no such
    /// branch is known.
    pub(super) fn branch_of(&self, block: Block) -> Option<Inst> {
        self.parted[block]
    }

    /// Returns whether every work-item executes the block.
    pub(super) fn comes_to_all(&self, entry: Block, block: Block) -> bool {
        block == entry || self.parted[block].is_none() && self.postdom.post_dominates(block, entry)
    }

    /// Computes the values that differ between work-items.
    fn values(&mut self, func: &Function, together: LaneGroup) {
        self.own.clear();
        for _ in 0..2 {
            for n in 0..self.cfg.rpo().len() {
                for &inst in func.blocks[self.cfg.rpo()[n]].insts() {
                    self.value(func, inst, together);
                }
            }
        }
    }

    fn value(&mut self, func: &Function, inst: Inst, together: LaneGroup) {
        let data = &func.insts[inst];
        if matches!(data.op, Op::Jump(_) | Op::Br { .. } | Op::Switch(_)) {
            for (which, to) in func.succs(data.block).enumerate() {
                for (&param, &arg) in func.params(to).iter().zip(func.branch_args(inst, which)) {
                    self.own[param] |= self.own[arg];
                }
            }
        } else if data.results == 1 {
            let bits = differing(func, inst, together, |value| self.own[value]);
            if bits != 0 {
                self.own[data.first] |= bits;
            }
        }
    }

    /// Marks the blocks that only some work-items may reach. These are the blocks between a branch on a value
    /// that differs between work-items and the block where all paths from the branch meet again.
    fn regions(&mut self, func: &Function) {
        self.parted.clear();
        let mut budget = 16 * self.cfg.rpo().len();
        for n in 0..self.cfg.rpo().len() {
            let block = self.cfg.rpo()[n];
            let Some(branch) = func.terminator(block) else { continue };
            let parts = matches!(func.insts[branch].op, Op::Br { .. } | Op::Switch(_));
            if !parts || func.args(branch).first().is_none_or(|&cond| self.own[cond] == 0) {
                continue;
            }
            if self.places.binary_search(&func.own_location(branch)).is_ok() {
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
