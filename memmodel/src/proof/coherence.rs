//! Checks that the code around every access with memory attributes does what the table of sequences
//! ([`crate::sequences`]) requires, and that LDS operations are complete at barriers.
//!
//! Final code contains no fences any more, so only the sequences around atomic accesses can be proved. The
//! litmus tests and the emulator's strict mode check fences.

use super::in_flight::{Found, Query, Search};
use super::{Fault, Place, Violation, places};
use crate::Model;
use crate::coherence::kind;
use crate::counters::{self, CLASSES, Class, Counter};
use crate::sequences::{self, Around, Kind, Steps};
use isa::{MachInst, Opcode, op};
use mir::MachFunc;

/// Requirements of a row at an instruction.
struct Requirements {
    row: &'static str,
    around: Around,
}

/// Returns the requirements of the row of an access.
fn requirements(func: &MachFunc, model: &Model, inst: &MachInst) -> Option<Requirements> {
    let mem = &func.mems[inst.mem.index()?];
    let kind = kind(inst).filter(|kind| *kind != Kind::Fence)?;
    let (row, case) = sequences::lookup(kind, mem)?;
    Some(Requirements { row: row.name, around: model.around(row, case, inst) })
}

/// Returns whether the steps contain a wait on the counter.
fn waits(steps: Steps, counter: Counter) -> bool {
    match counter {
        Counter::Vm => steps.contains(Steps::VM),
        Counter::Vs => steps.contains(Steps::VS),
        Counter::Lgkm => steps.contains(Steps::LGKM),
        Counter::Exp => false,
    }
}

/// Returns the counter classes of an instruction that are ordered by fences, with their indices.
fn fenced(func: &MachFunc, model: &Model, place: Place) -> impl Iterator<Item = (usize, &'static Class)> {
    let inst = place.inst(func);
    let ordered = counters::ordered(func, inst);
    counters::indices(model.classes(inst))
        .map(|class| (class, &CLASSES[class]))
        .filter(move |(_, class)| ordered && class.ordered_by_fences)
}

/// Checks the sequences around atomic accesses.
pub fn coherence(func: &MachFunc, model: &Model, faults: &mut Vec<Violation>) {
    let rows: Vec<Option<Requirements>> =
        places(func).map(|place| requirements(func, model, place.inst(func))).collect();
    if rows.iter().all(Option::is_none) {
        return;
    }
    let starts: Vec<usize> = func
        .blocks
        .values()
        .scan(0, |next, data| Some(std::mem::replace(next, *next + data.insts.len())))
        .collect();
    let row = |place: Place| rows[starts[place.block.as_u32() as usize] + place.index].as_ref();
    let mut search = Search::default();
    for first in places(func) {
        for (class, Class { counter, .. }) in fenced(func, model, first) {
            let own = row(first).filter(|own| waits(own.around.after, *counter));
            let query = Query { func, model, class, first };
            let visit = |second: Place, inst: &MachInst| {
                let order = |row| Fault::Order { row, counter: counter.name() };
                let fault = match (row(second), own) {
                    (Some(other), _) if waits(other.around.before, *counter) => order(other.row),
                    (_, Some(own)) if model.classes(inst) & !counters::SCALAR != 0 => order(own.row),
                    _ => return Found::Nothing,
                };
                Found::Fault(Violation::new(func, first, second, fault))
            };
            search.follow(&query, visit, faults);
        }
        let Some(own) = row(first) else { continue };
        let facts = model.facts();
        for (step, op) in
            [(Steps::INVALIDATE, Some(facts.invalidate)), (Steps::INVALIDATE_OUTER, facts.invalidate_outer)]
        {
            if let (true, Some(op)) = (own.around.after.contains(step), op) {
                stale(&Query { func, model, class: 0, first }, op, own.row, &mut search, faults);
            }
        }
    }
}

/// Checks that a cache invalidation follows the access before memory is read again.
fn stale(
    query: &Query<'_>,
    invalidation: Opcode,
    row: &'static str,
    search: &mut Search,
    faults: &mut Vec<Violation>,
) {
    let mut found = Vec::new();
    search.follow_through_waits(query, |second, inst| {
        if inst.op == invalidation {
            return Found::Stop;
        }
        let reads = matches!(kind(inst), Some(Kind::Load | Kind::Rmw));
        if reads && inst.op.row().is_vmem() {
            found.push(Violation::new(query.func, query.first, second, Fault::Stale { row }));
            return Found::Stop;
        }
        Found::Nothing
    });
    faults.append(&mut found);
}

/// Checks that no LDS operation is incomplete at an `s_barrier`. `barrier()` promises this, and every
/// compiler ensures it. This check is not part of [`super::check`], because `barrier_only()` promises less.
pub fn barriers(func: &MachFunc, model: &Model, faults: &mut Vec<Violation>) {
    let mut search = Search::default();
    for first in places(func) {
        for (class, Class { counter, .. }) in fenced(func, model, first) {
            if *counter != Counter::Lgkm {
                continue;
            }
            let query = Query { func, model, class, first };
            let visit = |second: Place, inst: &MachInst| {
                if inst.op != op::S_BARRIER {
                    return Found::Nothing;
                }
                let fault = Fault::Order { row: "barrier", counter: counter.name() };
                Found::Fault(Violation::new(func, first, second, fault))
            };
            search.follow(&query, visit, faults);
        }
    }
}
