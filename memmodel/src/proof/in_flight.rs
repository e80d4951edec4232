//! Checks that no instruction accesses a register that the operation of an earlier instruction may still
//! write.

use super::{Fault, Place, Violation, places};
use crate::Model;
use crate::calls::ControlTransfer;
use crate::counters::{self, CLASSES, Counter, Tells};
use crate::effects;
use isa::{MBlock, MachInst, RegRange};
use mir::MachFunc;

/// Follows every memory operation along all paths, once for each counter that the operation increments.
pub fn in_flight(func: &MachFunc, model: &Model, faults: &mut Vec<Violation>) {
    let mut search = Search::default();
    for place in places(func) {
        let inst = place.inst(func);
        for class in counters::indices(model.classes(inst)) {
            let mut ranges = Vec::new();
            counters::registers_in_use(inst, &CLASSES[class], |range| ranges.push(range));
            if !ranges.is_empty() {
                let query = Query { func, model, class, first: place };
                search.follow(&query, |place, inst| touch(&query, &ranges, place, inst), faults);
            }
        }
    }
}

/// An operation that is followed.
pub(super) struct Query<'a> {
    pub(super) func: &'a MachFunc,
    pub(super) model: &'a Model,
    /// The counter class as which the operation is followed.
    pub(super) class: usize,
    /// Position at which the operation issues.
    pub(super) first: Place,
}

/// The search along all paths.
#[derive(Default)]
pub(super) struct Search {
    /// For each block, the smallest number of younger operations with which a path has reached the head of
    /// the block. Another path that arrives with more younger operations can find nothing new, so it is not
    /// followed.
    seen: Vec<Option<u8>>,
    todo: Vec<(MBlock, u8)>,
}

/// Result of a visitor.
pub(super) enum Found {
    /// Nothing; the search continues.
    Nothing,
    /// The path need not be followed any further.
    Stop,
    /// A violation; the search continues after it.
    Fault(Violation),
}

impl Search {
    /// Visits every instruction that may issue while the operation is incomplete.
    pub(super) fn follow(
        &mut self,
        query: &Query<'_>,
        mut visit: impl FnMut(Place, &MachInst) -> Found,
        faults: &mut Vec<Violation>,
    ) {
        self.seen.clear();
        self.seen.resize(query.func.blocks.len(), None);
        self.todo.clear();
        let Place { block, index } = query.first;
        self.path(query, block, index + 1, 0, &mut visit, faults);
        while let Some((block, younger)) = self.todo.pop() {
            self.path(query, block, 0, younger, &mut visit, faults);
        }
    }

    /// Visits every instruction that can follow the operation, even after the waits that complete it. A path
    /// ends only where the visitor ends it.
    pub(super) fn follow_through_waits(
        &mut self,
        query: &Query<'_>,
        mut visit: impl FnMut(Place, &MachInst) -> Found,
    ) {
        let blocks = &query.func.blocks;
        self.seen.clear();
        self.seen.resize(blocks.len(), None);
        self.todo.clear();
        let mut next = Some((query.first.block, query.first.index + 1));
        while let Some((block, from)) = next {
            let data = &blocks[block];
            let mut visited = data.insts.iter().enumerate().skip(from);
            let stopped =
                visited.any(|(index, inst)| matches!(visit(Place { block, index }, inst), Found::Stop));
            for edge in data.linear.iter().flatten().filter(|_| !stopped) {
                if self.seen[edge.to.as_u32() as usize].replace(0).is_none() {
                    self.todo.push((edge.to, 0));
                }
            }
            next = self.todo.pop().map(|(block, _)| (block, 0));
        }
    }

    /// Visits the instructions of a block from an index on. `younger` says how many operations of the same
    /// class have been issued after the operation that is followed.
    fn path(
        &mut self,
        query: &Query<'_>,
        block: MBlock,
        from: usize,
        mut younger: u8,
        visit: &mut impl FnMut(Place, &MachInst) -> Found,
        faults: &mut Vec<Violation>,
    ) {
        let class = &CLASSES[query.class];
        let data = &query.func.blocks[block];
        for (index, inst) in data.insts.iter().enumerate().skip(from) {
            // As long as the operation is incomplete, the younger operations of its class, of which there are
            // `younger`, are incomplete too. A wait for at most `younger` outstanding operations therefore
            // completes the operation.
            let wait = query.model.subtarget().waited(inst);
            if wait.is_some_and(|wait| wait.count(class.counter) <= younger) {
                return;
            }
            // The called function waits for the operation.
            if inst.is_call() && class.counter != Counter::Vs {
                return;
            }
            match visit(Place { block, index }, inst) {
                Found::Nothing => {}
                Found::Stop => return,
                Found::Fault(fault) => faults.push(fault),
            }
            if class.in_order && query.model.classes(inst) & 1 << query.class != 0 {
                // A counter cannot exceed its maximum. Counting further would only make the requirement
                // easier to satisfy.
                younger = (younger + 1).min(class.counter.max(query.model.subtarget()));
            }
        }
        for edge in data.linear.iter().flatten() {
            let seen = &mut self.seen[edge.to.as_u32() as usize];
            if seen.is_none_or(|least| younger < least) {
                *seen = Some(younger);
                self.todo.push((edge.to, younger));
            }
        }
    }
}

/// Returns a violation if an instruction accesses a register that the operation may still write or read.
fn touch(query: &Query<'_>, ranges: &[RegRange], place: Place, inst: &MachInst) -> Found {
    let class = &CLASSES[query.class];
    let first = query.first.inst(query.func).op;
    // Vector memory operations write their registers in the order of issue (LLVM's AMDGPU guide, seed 000,
    // line 3093). So a later operation of this kind may write the same register without a wait.
    let in_order = counters::writes_in_order(first, 1 << query.class)
        && counters::writes_in_order(inst.op, query.model.classes(inst));
    let mut hit = None;
    if class.counter != Counter::Vs
        && ControlTransfer::from_inst(query.func.role, inst) == Some(ControlTransfer::Return)
    {
        hit = ranges.first().map(|range| range.first);
    }
    effects::all(query.model.subtarget(), inst, |access| {
        let dangerous = if class.tells == Tells::Done { access.read || !in_order } else { access.write };
        let common = ranges.iter().find(|range| range.overlaps(access.range));
        if let (true, Some(range)) = (dangerous, common) {
            hit = hit.or(Some(effects::first_common(*range, access.range)));
        }
    });
    match hit {
        Some(reg) => {
            let fault = Fault::InFlight { reg, counter: class.counter.name() };
            Found::Fault(Violation::new(query.func, query.first, place, fault))
        }
        None => Found::Nothing,
    }
}
