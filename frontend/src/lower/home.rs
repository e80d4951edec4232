//! Homes of variables: private memory that has what each variable is, for debuggers.
//!
//! Code computes with the values, as ever, and reads no home. But a register has another value as soon as its own is not needed any more, and at
//! `-O0` a debugger is to find each variable as long as it is in scope, in each lane, whatever other lanes do. So at that level each value that a
//! variable gets is stored there, too, with and without debug information: code must not depend on that.

use super::Lower;
use super::track::{MOST_LEAVES, leaves_of};
use crate::types::Ty;
use ir::{Slot, SlotData, Space, Value};

/// Where an SSA variable is in memory.
#[derive(Clone, Copy)]
pub struct Home {
    slot: Slot,
    /// Bytes from its beginning.
    offset: u32,
    ty: Ty,
}

impl Lower<'_, '_> {
    /// Gives a variable a home, if variables have some, and brings its first value there. Its leaves are the SSA variables from `first` on.
    pub(super) fn home_of(&mut self, local: u32, first: u32, value: &[Value]) -> Option<Slot> {
        let ty = self.checked.locals[local as usize].ty;
        let layout = self.checked.types.layout(ty);
        if !self.has_homes || self.dead || !(1..=MOST_LEAVES).contains(&layout.leaves) {
            return None;
        }
        let mut leaves = Vec::new();
        leaves_of(self.checked, ty, 0, &mut leaves);
        // A generic pointer that is never in memory is one of a space that is known, which some processors need.
        let is_generic = |&(_, ty): &(u32, Ty)| {
            self.checked.types.as_pointer(ty).is_some_and(|pointer| pointer.space == Space::Generic)
        };
        if leaves.len() != value.len() || leaves.iter().any(is_generic) {
            return None;
        }
        let slot = self.func.slots.push(SlotData { size: layout.size, align: layout.align.max(4) });
        for (&(offset, ty), var) in leaves.iter().zip(first..) {
            self.ssa.settle(var, Home { slot, offset, ty });
        }
        let place = self.slot_place(slot.as_u32(), ty);
        self.store(&place, value);
        Some(slot)
    }

    /// Stores the value of an SSA variable, if it has a home.
    pub(super) fn bring_home(&mut self, var: u32) {
        let Some(Home { slot, offset, ty }) = self.ssa.home(var).filter(|_| !self.dead) else { return };
        let value = self.ssa.get(var);
        let place = self.slot_place(slot.as_u32(), ty);
        self.store(&place.part(offset, ty), &[value]);
    }
}
