//! Enough wait states lie between the two instructions of every rule.

use super::{Fault, Place, Violation, places};
use crate::rules::{self, Rule};
use isa::{MBlock, MachFunc, RegRange, Subtarget};

/// Goes back from every instruction that is the second of a rule.
pub fn hazards(func: &MachFunc, target: &Subtarget, faults: &mut Vec<Violation>) {
    let mut preds = vec![Vec::new(); func.blocks.len()];
    for (block, data) in func.blocks.iter() {
        for edge in data.linear.iter().flatten() {
            preds[edge.to.as_u32() as usize].push(block);
        }
    }
    for place in places(func) {
        for rule in rules::rules(target.generation) {
            let mut ranges = Vec::new();
            rules::consumed(target, place.inst(func), rule.consumer, |range| ranges.push(range));
            if !ranges.is_empty() {
                let query = Query { target, func, preds: &preds, rule, ranges: &ranges, second: place };
                // Blocks may be empty, so a path is also left when it has seen every block once.
                query.back(place.block, place.index, 0, func.blocks.len(), faults);
            }
        }
    }
}

struct Query<'a> {
    target: &'a Subtarget,
    func: &'a MachFunc,
    preds: &'a [Vec<MBlock>],
    rule: &'static Rule,
    ranges: &'a [RegRange],
    second: Place,
}

impl Query<'_> {
    /// Looks at the instructions of a block before `end`, `states` wait states before the second instruction.
    fn back(&self, block: MBlock, end: usize, mut states: u8, fuel: usize, faults: &mut Vec<Violation>) {
        for index in (0..end).rev() {
            if states >= self.rule.states {
                return;
            }
            let inst = &self.func.blocks[block].insts[index];
            let mut hit = false;
            rules::produced(self.target, inst, true, |producer, range| {
                let same = self.ranges.iter().any(|wanted| wanted.overlaps(range));
                hit |= producer == self.rule.producer && same;
            });
            if hit {
                let fault = Fault::Hazard { rule: self.rule.name, found: states, wanted: self.rule.states };
                faults.push(Violation::new(self.func, Place { block, index }, self.second, fault));
            }
            states += rules::states(inst);
        }
        if states < self.rule.states && fuel > 0 {
            for &pred in &self.preds[block.as_u32() as usize] {
                self.back(pred, self.func.blocks[pred].insts.len(), states, fuel - 1, faults);
            }
        }
    }
}
