//! Checks that loads from memory to LDS, and stores from LDS to memory, are ordered with LDS instructions.
//! Both access LDS, but on different paths, so an access may overtake another one unless a wait is between
//! them.

use super::in_flight::{Found, Query, Search};
use super::{Fault, Violation, places};
use crate::Model;
use crate::counters::{self, CLASSES, Counter, LdsPath, Tells};
use isa::{MachInst, ModFlags, op};
use mir::MachFunc;

/// The row of the faults.
const ROW: &str = "LDS";

/// Returns whether the second access may reach LDS before the first, although the first was issued earlier.
fn may_overtake(first: LdsPath, second: LdsPath) -> bool {
    use LdsPath::{Instruction, Load, Store};
    matches!((first, second), (Load | Store, Instruction) | (Instruction, Load | Store) | (Load, Store))
}

/// Follows each load to LDS and each store from LDS until a wait completes it. If the function has such
/// transfers, follows each LDS instruction too.
pub fn transfers(func: &MachFunc, model: &Model, faults: &mut Vec<Violation>) {
    let is_transfer = |inst: &MachInst| inst.mods.flags.contains(ModFlags::LDS);
    if !func.blocks.values().flat_map(|block| &block.insts).any(is_transfer) {
        return;
    }
    let mut search = Search::default();
    for first in places(func) {
        let inst = first.inst(func);
        let Some(path) = counters::lds_path(inst) else { continue };
        for class in counters::indices(model.classes(inst)) {
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
