//! Homes of variables. A home is a place in private memory to which the code also stores each value of a
//! variable, so that debuggers find the variable there.
//!
//! The generated code computes with the values in registers and never reads a home. A register is reused as
//! soon as its value is no longer needed, but at `-O0` a debugger must find each variable for as long as it
//! is in scope, in each lane, whatever other lanes do. At that level, each value that a variable gets is
//! therefore also stored in the variable's home. This happens with and without debug information, because
//! debug information must not change the code.

use super::Lower;
use super::track::{MOST_FRAGMENTS, fragments_of};
use crate::types::Ty;
use ir::{Slot, SlotData, Space, Value};

/// The home of an SSA variable: the place in private memory to which its values are also stored.
#[derive(Clone, Copy)]
pub struct Home {
    slot: Slot,
    /// Offset in bytes from the start of the slot.
    offset: u32,
    ty: Ty,
}

impl Lower<'_, '_> {
    /// Allocates a home for a variable, if variables have homes, and stores the variable's first value there.
    /// The SSA variables from number `first` on hold the fragments (scalars) of the variable.
    pub(super) fn home_of(&mut self, local: u32, first: u32, value: &[Value]) -> Option<Slot> {
        let ty = self.checked.locals[local as usize].ty;
        let layout = self.checked.types.layout(ty);
        if !self.has_homes || self.dead || !(1..=MOST_FRAGMENTS).contains(&layout.fragments) {
            return None;
        }
        let mut fragments = Vec::new();
        fragments_of(self.checked, ty, 0, &mut fragments);
        // Some processors need to know the address space of a generic pointer at compile time. The compiler
        // can trace the pointer only if it is never stored, so generic pointers get no home.
        let is_generic = |&(_, ty): &(u32, Ty)| {
            self.checked.types.as_pointer(ty).is_some_and(|pointer| pointer.space == Space::Generic)
        };
        if fragments.len() != value.len() || fragments.iter().any(is_generic) {
            return None;
        }
        let slot = self.func.slots.push(SlotData { size: layout.size, align: layout.align.max(4) });
        for (&(offset, ty), var) in fragments.iter().zip(first..) {
            self.ssa.set_home(var, Home { slot, offset, ty });
        }
        let place = self.slot_place(slot.as_u32(), ty);
        self.store(&place, value);
        Some(slot)
    }

    /// Stores the current value of an SSA variable to the variable's home in private memory, if it has one.
    pub(super) fn bring_home(&mut self, var: u32) {
        let Some(Home { slot, offset, ty }) = self.ssa.home(var).filter(|_| !self.dead) else { return };
        let value = self.ssa.get(var);
        let place = self.slot_place(slot.as_u32(), ty);
        self.store(&place.part(offset, ty), &[value]);
    }
}
