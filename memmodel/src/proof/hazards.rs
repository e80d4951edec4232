//! Checks that the two instructions of every hazard rule are far enough apart, or that a mitigation is
//! between them.

use super::{Fault, Place, Violation, places};
use crate::Model;
use crate::rules::{self, Breaks, Mitigation, Rule};
use isa::table::Flags;
use isa::{Counter, MBlock, MachInst, RegRange};
use mir::MachFunc;

/// Checks every instruction that is the second instruction of a rule, by walking backwards from it.
pub fn hazards(func: &MachFunc, model: &Model, faults: &mut Vec<Violation>) {
    let mut preds = vec![Vec::new(); func.blocks.len()];
    for (block, data) in func.blocks.iter() {
        for edge in data.linear.iter().flatten() {
            // A jump-table entry consists of a branch only. Control also goes from an entry to the next one,
            // but then without executing this branch.
            let goes_by = data.insts.len() == 1 && data.next_entry() == Some(edge.to);
            let end = if goes_by { 0 } else { data.insts.len() };
            preds[edge.to.as_u32() as usize].push((block, end));
        }
    }
    let mut seen = Vec::new();
    for place in places(func) {
        for rule in model.rules() {
            let mut ranges = Vec::new();
            rules::consumed(model.subtarget(), place.inst(func), rule.second, |range| ranges.push(range));
            if ranges.is_empty() {
                continue;
            }
            let query = Query { func, model, preds: &preds, rule, ranges: &ranges, second: place };
            match rule.mitigation {
                // The search leaves a path when enough wait states have passed. Because blocks may be empty,
                // this does not end every path, so the search also leaves a path that has as many blocks as
                // the function.
                Mitigation::States => {
                    query.search_backwards(place.block, place.index, 0, func.blocks.len(), faults)
                }
                Mitigation::Instruction { breaks, .. } => query.report_unmitigated(breaks, &mut seen, faults),
            }
        }
    }
}

struct Query<'a> {
    func: &'a MachFunc,
    model: &'a Model,
    /// The predecessors of each block, each with a number of instructions: how many instructions of the
    /// predecessor a path executes on its way to the block.
    preds: &'a [Vec<(MBlock, usize)>],
    rule: &'a Rule,
    ranges: &'a [RegRange],
    second: Place,
}

/// What a backward path has passed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Met {
    /// Whether the path has passed a branch.
    branch: bool,
    /// Whether the path has passed a write of all of VCC.
    vcc: bool,
}

impl Query<'_> {
    /// Checks the instructions of a block in front of index `end`, and the blocks before it. There are
    /// `states` wait states between `end` and the second instruction of the rule.
    fn search_backwards(
        &self,
        block: MBlock,
        end: usize,
        mut states: u8,
        fuel: usize,
        faults: &mut Vec<Violation>,
    ) {
        let subtarget = self.model.subtarget();
        for index in (0..end).rev() {
            if states >= self.rule.states {
                return;
            }
            let inst = &self.func.blocks[block].insts[index];
            // The search ends at a call. Hazards between functions need not be found here, because a function
            // that passes control to another one, by a call or return, makes sure that no hazard is left.
            if inst.is_call() {
                return;
            }
            let mut hit = false;
            rules::produced(subtarget, inst, true, |producer, range| {
                let same = self.ranges.iter().any(|wanted| wanted.overlaps(range));
                hit |= producer == self.rule.first && same;
            });
            if hit {
                self.fault(Place { block, index }, states, self.rule.states, faults);
            }
            states += rules::states(subtarget, inst);
        }
        if states < self.rule.states && fuel > 0 {
            for &(pred, end) in &self.preds[block.as_u32() as usize] {
                self.search_backwards(pred, end, states, fuel - 1, faults);
            }
        }
    }

    /// Searches every backward path for the first instruction of the rule, up to a mitigation. Reports each
    /// first instruction that it finds.
    fn report_unmitigated(&self, breaks: Breaks, seen: &mut Vec<[bool; 4]>, faults: &mut Vec<Violation>) {
        if breaks == Breaks::ClauseEnds && self.mitigates(breaks, self.second.inst(self.func)) {
            return;
        }
        seen.clear();
        seen.resize(self.func.blocks.len(), [false; 4]);
        let mut todo = vec![(self.second.block, self.second.index, Met::default())];
        while let Some((block, end, met)) = todo.pop() {
            let Some(met) = self.block(breaks, block, end, met, faults) else { continue };
            for &(pred, end) in &self.preds[block.as_u32() as usize] {
                let state = usize::from(met.branch) | usize::from(met.vcc) << 1;
                if !std::mem::replace(&mut seen[pred.as_u32() as usize][state], true) {
                    todo.push((pred, end, met));
                }
            }
        }
    }

    /// Checks one block of a backward path. Returns `None` if the path ends in this block.
    fn block(
        &self,
        breaks: Breaks,
        block: MBlock,
        end: usize,
        mut met: Met,
        faults: &mut Vec<Violation>,
    ) -> Option<Met> {
        let subtarget = self.model.subtarget();
        for (index, inst) in self.func.blocks[block].insts[..end].iter().enumerate().rev() {
            // A clause contains only instructions of one kind. An instruction of another kind than the second
            // instruction ends the clause, so instructions before it are not in the same clause.
            if breaks == Breaks::ClauseEnds && self.mitigates(breaks, inst) {
                return None;
            }
            if inst.is_call() {
                return None;
            }
            let mut hit = false;
            if met.branch || !self.rule.needs_branch() {
                rules::marked(&self.model.rules, subtarget, inst, self.rule.first, |range| {
                    hit |= self.ranges.iter().any(|wanted| wanted.overlaps(range));
                });
            }
            if hit {
                self.fault(Place { block, index }, 0, 0, faults);
                return None;
            }
            let waits = subtarget.waited(inst).is_some_and(|wait| wait.count(Counter::Lgkm) == 0);
            match breaks {
                // A write of VCC mitigates the hazard for good only if no scalar memory operation is in
                // flight.
                Breaks::VccWrittenInPeace if met.vcc && waits => return None,
                Breaks::VccWrittenInPeace => met.vcc |= self.mitigates(breaks, inst),
                _ if self.mitigates(breaks, inst) => return None,
                _ => {}
            }
            met.branch |= inst.op.row().flags.contains(Flags::BRANCH);
        }
        Some(met)
    }

    fn mitigates(&self, breaks: Breaks, inst: &MachInst) -> bool {
        let rules = &self.model.rules;
        let clause = rules.clause(self.second.inst(self.func));
        rules::breaks(rules, self.model.subtarget(), inst, breaks, false, clause)
    }

    fn fault(&self, first: Place, found: u8, wanted: u8, faults: &mut Vec<Violation>) {
        let fault = Fault::Hazard { rule: self.rule.name, found, wanted };
        faults.push(Violation::new(self.func, first, self.second, fault));
    }
}
