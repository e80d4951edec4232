//! Finds private variables that only the function's own accesses can reach.
//!
//! The address of one of these variables is used only in address additions and accesses. It is not stored,
//! passed, returned, selected, compared or cast. Called functions therefore cannot access the variable.

use crate::entity::{Slot, Value};
use crate::func::Function;
use crate::op::Op;
use cranelift_entity::EntityRef;

/// The result of the analysis: for each pointer, the variable into which it points, and the variables whose
/// address escapes.
#[derive(Clone, Debug, Default)]
pub struct Escapes {
    /// For each value that is an address in a variable, that variable.
    slots: Vec<Option<Slot>>,
    escaped: Vec<bool>,
}

impl Escapes {
    /// Forgets the results for the last function.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.escaped.clear();
    }

    /// Analyses a function.
    pub fn compute(&mut self, func: &Function) {
        self.clear();
        if func.slots.is_empty() {
            return;
        }
        let Escapes { slots, escaped } = self;
        slots.resize(func.values.len(), None);
        escaped.resize(func.slots.len(), false);
        // Several sweeps may be necessary, because a block may come before the block that defines one of the
        // values that it uses.
        while follow(func, slots) {}
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            let op = func.insts[inst].op;
            let goes_no_further = match op {
                Op::PtrAdd | Op::Load { .. } => func.args(inst).len(),
                Op::Store { .. } | Op::AtomicRmw { .. } | Op::AtomicCas { .. } => 1,
                _ => 0,
            };
            for arg in &func.args(inst)[goes_no_further..] {
                if let Some(slot) = slots[arg.index()] {
                    escaped[slot.index()] = true;
                }
            }
        }
    }

    /// Returns whether a pointer points into a variable that only the function itself can access.
    pub fn is_own(&self, pointer: Value) -> bool {
        let slot = self.slots.get(pointer.index()).copied().flatten();
        slot.is_some_and(|slot| !self.escaped[slot.index()])
    }
}

/// Finds out into which variables the results of address additions point, from what is known about their
/// operands, in one sweep. Returns whether anything changed, because another sweep may then find more.
fn follow(func: &Function, slots: &mut [Option<Slot>]) -> bool {
    let mut changed = false;
    for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
        let found = match func.insts[inst].op {
            Op::SlotAddr(slot) => Some(slot),
            Op::PtrAdd => slots[func.args(inst)[0].index()],
            _ => continue,
        };
        let known = &mut slots[func.insts[inst].first.index()];
        changed |= *known != found;
        *known = found;
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_function;

    #[test]
    fn what_is_stored_or_passed_is_known_elsewhere() {
        let func = parse_function(
            "func @f -> ptr.private {
    slot0 size 8 align 8
    slot1 size 8 align 8
    slot2 size 8 align 8
    slot3 size 8 align 8
b0:
    v0 = slot_addr.ptr.private slot0
    v1 = slot_addr.ptr.private slot1
    v2 = slot_addr.ptr.private slot2
    v3 = slot_addr.ptr.private slot3
    v4 = const.i32 4
    v5 = ptr_add.ptr.private v0, v4
    v6 = load.i32 b32 private [v5] align 4
    store b32 private [v0], v6 align 4
    store b32 private [v0 + 4], v1 align 4
    v7 = ptr_add.ptr.private v2, v4
    call fn0(v7)
    ret v3
}",
        )
        .unwrap();
        let mut escapes = Escapes::default();
        escapes.compute(&func);
        let own = |n: u32| escapes.is_own(Value::from_u32(n));
        assert_eq!([0, 5, 1, 2, 7, 3, 4].map(own), [true, true, false, false, false, false, false]);
    }
}
