//! The rows of the memory model hold around every access that carries one, and LDS is quiet at barriers.
//!
//! Fences are gone from final code, so only what stands around atomic accesses can be proved; the litmus tests and the
//! strict emulator see to fences.

use super::in_flight::{Found, Query, Search};
use super::{Fault, Place, Violation, places};
use crate::coherence::kind;
use crate::counters::{self, CLASSES, Class, Counter};
use crate::sequences::{self, Kind, Steps};
use isa::{MachFunc, MachInst, Subtarget, op};

/// Steps that a place asks for, resolved.
struct Around {
    row: &'static str,
    before: Steps,
    after: Steps,
}

/// The row of the access at a place.
fn around(func: &MachFunc, target: &Subtarget, single_wave: bool, inst: &MachInst) -> Option<Around> {
    let mem = &func.mems[inst.mem.index()?];
    let kind = kind(inst).filter(|kind| *kind != Kind::Fence)?;
    let (row, ordered) = sequences::lookup(kind, mem, single_wave)?;
    let sequence = row.sequence(target.generation);
    let [before, after] = [sequence.before, sequence.after].map(|steps| ordered.resolve(steps));
    Some(Around { row: row.name, before, after })
}

/// Whether steps contain a wait on the counter.
fn waits(steps: Steps, counter: Counter) -> bool {
    match counter {
        Counter::Vm => steps.contains(Steps::VM),
        Counter::Lgkm => steps.contains(Steps::LGKM),
        Counter::Exp => false,
    }
}

/// The classes of a place that fences order.
fn fenced(func: &MachFunc, place: Place) -> impl Iterator<Item = (usize, &'static Class)> {
    let inst = place.inst(func);
    let ordered = counters::ordered(func, inst);
    counters::each(counters::classes(inst))
        .map(|class| (class, &CLASSES[class]))
        .filter(move |(_, class)| ordered && class.ordered_by_fences)
}

/// Checks the sequences around atomic accesses. `single_wave`: as in [`crate::Options`].
pub fn coherence(func: &MachFunc, target: &Subtarget, single_wave: bool, faults: &mut Vec<Violation>) {
    let rows: Vec<Option<Around>> =
        places(func).map(|place| around(func, target, single_wave, place.inst(func))).collect();
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
        for (class, Class { counter, .. }) in fenced(func, first) {
            let own = row(first).filter(|own| waits(own.after, *counter));
            let query = Query { func, target, class, first };
            let visit = |second: Place, inst: &MachInst| {
                let order = |row| Fault::Order { row, counter: counter.name() };
                let fault = match (row(second), own) {
                    (Some(other), _) if waits(other.before, *counter) => order(other.row),
                    (_, Some(own)) if counters::classes(inst) & !counters::SCALAR != 0 => order(own.row),
                    _ => return Found::Nothing,
                };
                Found::Fault(Violation::new(func, first, second, fault))
            };
            search.follow(&query, visit, faults);
        }
        if let Some(own) = row(first).filter(|own| own.after.contains(Steps::INVALIDATE)) {
            stale(func, target, first, own.row, &mut search, faults);
        }
    }
}

/// After the access the cache is invalidated before memory is read again.
fn stale(
    func: &MachFunc,
    target: &Subtarget,
    first: Place,
    row: &'static str,
    search: &mut Search,
    faults: &mut Vec<Violation>,
) {
    let query = Query { func, target, class: 0, first };
    let mut found = Vec::new();
    search.follow_through_waits(&query, |second, inst| {
        if inst.op == op::BUFFER_WBINVL1_VOL {
            return Found::Stop;
        }
        let reads = matches!(kind(inst), Some(Kind::Load | Kind::Rmw));
        if reads && counters::classes(inst) & (counters::VECTOR | counters::FLAT) != 0 {
            found.push(Violation::new(func, first, second, Fault::Stale { row }));
            return Found::Stop;
        }
        Found::Nothing
    });
    faults.append(&mut found);
}

/// No LDS operation is incomplete at an `s_barrier`: what `barrier()` promises, and every compiler keeps. Not part of
/// [`super::check`], because `barrier_only()` promises less.
pub fn barriers(func: &MachFunc, target: &Subtarget, faults: &mut Vec<Violation>) {
    let mut search = Search::default();
    for first in places(func) {
        for (class, Class { counter, .. }) in fenced(func, first) {
            if *counter != Counter::Lgkm {
                continue;
            }
            let query = Query { func, target, class, first };
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
