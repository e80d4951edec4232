//! What not all work-items of a group, or not all lanes of a wave, come to: instructions behind a branch on which they part.
//!
//! Unlike [`Uniformity`](super::Uniformity), which calls divergent whatever may be, this tells only what surely is: conditions
//! computed from the numbers of work-items and lanes alone ([`own_bits`](super::own_bits)). What comes from memory, or over
//! different paths, is not told. Nor is a branch that came with the instruction: both are what one operation of the source
//! became, which all come to that come to the operation.
//!
//! # Method
//! One sweep over the order, and a second one for what comes around loops, finds the values; the blocks between a branch on such a value
//! and its post-dominator are parted. Regions of branches inside each other are walked once each, up to a budget in
//! proportion to the function.

use super::cfg::Cfg;
use super::dominance::PostDomTree;
use super::own_bits::{Together, differing};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::Op;
use cranelift_entity::SecondaryMap;

/// Memory of the search, and what it found.
#[derive(Clone, Debug, Default)]
pub struct Parting {
    cfg: Cfg,
    postdom: PostDomTree,
    /// By value: bits in which those differ that run together.
    own: SecondaryMap<Value, u64>,
    /// Places in the source of the instructions that are looked for.
    places: Vec<SrcLoc>,
    /// The branch on which those part that come to a block.
    parted: SecondaryMap<Block, Option<Inst>>,
    stack: Vec<Block>,
    found: Vec<(Inst, Inst)>,
}

impl Parting {
    /// Instructions that `meets` picks and that not all of those come to that run together, each with the branch on which
    /// they part.
    pub fn find(
        &mut self,
        func: &Function,
        together: Together,
        meets: impl Fn(Op) -> bool,
    ) -> &[(Inst, Inst)] {
        self.found.clear();
        let blocks = || func.layout.iter().copied();
        let met = |block: Block| {
            func.blocks[block].insts.iter().copied().filter(|&inst| meets(func.insts[inst].op))
        };
        self.places.clear();
        self.places.extend(blocks().flat_map(met).map(|inst| func.place(inst)));
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

    /// Finds out what the work-items of a group part on.
    pub(super) fn compute(&mut self, func: &Function) {
        self.places.clear();
        self.part(func, Together::Group);
    }

    fn part(&mut self, func: &Function, together: Together) {
        self.cfg.compute(func);
        self.postdom.compute(&self.cfg);
        self.values(func, together);
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
    fn values(&mut self, func: &Function, together: Together) {
        self.own.clear();
        for _ in 0..2 {
            for n in 0..self.cfg.rpo().len() {
                for &inst in &func.blocks[self.cfg.rpo()[n]].insts {
                    self.value(func, inst, together);
                }
            }
        }
    }

    fn value(&mut self, func: &Function, inst: Inst, together: Together) {
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

    /// Blocks between a branch on such a value and where its ways meet again.
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
            if self.places.binary_search(&func.place(branch)).is_ok() {
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
