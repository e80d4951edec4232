//! LDS is not accessed by one way while an access by the other way may be incomplete.

use super::in_flight::{Found, Query, Search};
use super::{Fault, Violation, places};
use crate::Model;
use crate::counters::{self, CLASSES, Counter, LdsPath, Tells};
use isa::{MachFunc, MachInst, ModFlags, op};

/// The row of the faults.
const ROW: &str = "LDS";

/// Whether the second access may find LDS as it was before the first, though that was issued before.
fn may_overtake(first: LdsPath, second: LdsPath) -> bool {
    use LdsPath::{Instruction, Load, Store};
    matches!((first, second), (Load | Store, Instruction) | (Instruction, Load | Store) | (Load, Store))
}

/// Follows loads to LDS, stores from LDS, and LDS instructions where there are such.
pub fn transfers(func: &MachFunc, model: &Model, faults: &mut Vec<Violation>) {
    let is_transfer = |inst: &MachInst| inst.mods.flags.contains(ModFlags::LDS);
    if !func.blocks.values().flat_map(|block| &block.insts).any(is_transfer) {
        return;
    }
    let mut search = Search::default();
    for first in places(func) {
        let inst = first.inst(func);
        let Some(path) = counters::lds_path(inst) else { continue };
        for class in counters::each(model.classes(inst)) {
            let counter = CLASSES[class].counter;
            let by_lds = counter == Counter::Lgkm;
            if CLASSES[class].tells != Tells::Done || by_lds != (path == LdsPath::Instruction) {
                continue;
            }
            let visit = |second, inst: &MachInst| {
                let at_barrier = inst.op == op::S_BARRIER && path != LdsPath::Instruction;
                let overtakes = counters::lds_path(inst).is_some_and(|other| may_overtake(path, other));
                if !at_barrier && !overtakes {
                    return Found::Nothing;
                }
                let fault = Fault::Order { row: ROW, counter: counter.name() };
                Found::Fault(Violation::new(func, first, second, fault))
            };
            search.follow(&Query { func, model, class, first }, visit, faults);
        }
    }
}
